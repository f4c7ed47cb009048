"""How two wordings of a statement differ, word by word; pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

MOST_WORDS = 400
"longer texts are compared as a whole: the matching takes time with the product of the lengths"


@dataclass(frozen=True, slots=True)
class Part:
    """Neighbouring words that stand in both texts, or in this one alone."""

    text: str
    changed: bool


def word_diff(before: str, after: str) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Return the parts of both texts. Joined, each side's parts are its text again, blanks included."""
    old, new = _words(before), _words(after)
    if max(len(old), len(new)) > MOST_WORDS:
        same = before == after
        return (Part(before, not same),), (Part(after, not same),)
    left: list[Part] = []
    right: list[Part] = []
    matcher = SequenceMatcher(None, [w.strip() for w in old], [w.strip() for w in new], autojunk=False)
    for kind, i, j, k, m in matcher.get_opcodes():
        if j > i:
            left.append(Part("".join(old[i:j]), kind != "equal"))
        if m > k:
            right.append(Part("".join(new[k:m]), kind != "equal"))
    return tuple(left), tuple(right)


def _words(text: str) -> list[str]:
    """Split into words, each with the blanks that follow it; punctuation marks are words of their own."""
    return re.findall(r"[\w'’-]+\s*|[^\w\s]\s*|\s+", text)
