"""Records to cells and sentences; pure.

Text from data is hostile until it went through `visible`: a terminal obeys escape sequences,
Textual reads `[…]` in plain strings as markup, and direction marks reorder what stands beside them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TypeVar

from rich.text import Text

from workbench.figures.visible import visible as visible

BETWEEN = " · "
EMPTY = "(empty answer)"
"stands where a model said nothing"

FASTEST_PACE = 9_999
"""labels an hour that a person can give; a faster pace comes from a script, or from a clock that
was set"""

JOB_MARKS = {
    "queued": "◌",
    "running": "▸",
    "paused": "‖",
    "done": "✓",
    "cancelled": "■",
    "failed": "✗",
    "lost": "?",
}


def in_lines(parts: Sequence[str], width: int, most: int = 3) -> str:
    """Return parts with ` · ` between them, broken between parts: a name and its value stay
    together. Where this takes more than `most` lines, they are broken anywhere.

    Examples
    --------
    >>> in_lines(["8 statements", "T 0.4, top-p 0.85", "label-words"], 32)
    '8 statements · T 0.4, top-p 0.85\\nlabel-words'
    """
    lines: list[str] = []
    for part in parts:
        if lines and len(lines[-1]) + len(BETWEEN) + len(part) <= width:
            lines[-1] += f"{BETWEEN}{part}"
        else:
            lines.append(part)
    return "\n".join(lines) if len(lines) <= most else BETWEEN.join(parts)


def literal(text: str, limit: int | None = None, style: str = "") -> Text:
    """Return text for a table cell, as it stands: no markup, no control sequence; cut to `limit`
    columns with ….
    """
    shown = visible(text if limit is None else text[: limit + 1])
    cell = Text(shown, style=style, no_wrap=True, overflow="ellipsis", end="")
    if limit is not None:
        cell.truncate(limit, overflow="ellipsis")
    return cell


def human_duration(seconds: float | None) -> str:
    """Return `45 s`, `12 min`, `3 h 05 min`, `2 d 4 h`; "" for None."""
    if seconds is None or math.isnan(seconds):
        return ""
    whole = round(seconds)
    if whole < 90:
        return f"{whole} s"
    minutes = round(whole / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes:02} min"
    return f"{hours // 24} d {hours % 24} h"


def pace(per_hour: float | None) -> str:
    """Return `412 an hour`; "" where there is no pace, or one that no person can keep."""
    return (
        f"{per_hour:,.0f} an hour" if per_hour is not None and 0 < per_hour <= FASTEST_PACE else ""
    )


def percent(part: float, whole: float = 1.0, digits: int = 0) -> str:
    """Return `41 %`; `–` where there is no whole. Less than all is never `100 %`, more than none
    never `0 %`.
    """
    if not whole or math.isnan(part):
        return "–"
    share = 100 * part / whole
    shown = f"{share:.{digits}f}"
    step = 10**-digits
    if float(shown) == 100 and part < whole:
        shown = f"{100 - step:.{digits}f}"
    elif float(shown) == 0 and part > 0:
        return f"<{step:.{digits}f} %"
    return f"{shown} %"


def bar(done: float, total: float, width: int = 5) -> str:
    """Return `▰▰▱▱▱`; full only when all is done."""
    filled = int(width * min(1.0, done / total)) if total else 0
    return "▰" * filled + "▱" * (width - filled)


def job_mark(state: str, *, stopping: bool = False, pausing: bool = False) -> str:
    """Return `▸ running`, `✓ done`, …"""
    if state == "running" and (stopping or pausing):
        return "▸ stopping" if stopping else "▸ pausing"
    return f"{JOB_MARKS.get(state, '?')} {state}"


def issue_sign(issue: str, label: int) -> str:
    """Return `+ environment` for an issue that agreeing supports, `− environment` for one that it
    opposes.
    """
    return f"{'+' if label > 0 else '−'} {visible(issue).replace('_', ' ')}"


def issue_in_words(issue: str, label: int) -> str:
    """Return what agreeing means for an issue, in words."""
    name = visible(issue).replace("_", " ")
    if label == 0:
        return f"0 not related to {name}"
    return f"+ agreeing supports {name}" if label > 0 else f"− agreeing opposes {name}"


def stance_in_words(stance: int | None) -> str:
    """Return a party's stance with its mark."""
    return {1: "+ agrees", -1: "− disagrees", 0: "0 neutral", None: "· no opinion"}[stance]


MOST_WORDS = 400
"longer texts are compared as a whole: the matching takes time with the product of the lengths"


@dataclass(frozen=True, slots=True)
class Part:
    """Neighbouring words that stand in both texts, or in this one alone."""

    text: str
    changed: bool


def word_diff(before: str, after: str) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Return the parts of both texts. Joined, each side's parts are its text again, blanks
    included.
    """
    old, new = _words(before), _words(after)
    if max(len(old), len(new)) > MOST_WORDS:
        same = before == after
        return (Part(before, not same),), (Part(after, not same),)
    left: list[Part] = []
    right: list[Part] = []
    matcher = SequenceMatcher(
        None, [w.strip() for w in old], [w.strip() for w in new], autojunk=False
    )
    for kind, i, j, k, m in matcher.get_opcodes():
        if j > i:
            left.append(Part("".join(old[i:j]), kind != "equal"))
        if m > k:
            right.append(Part("".join(new[k:m]), kind != "equal"))
    return tuple(left), tuple(right)


def _words(text: str) -> list[str]:
    """Split into words, each with the blanks that follow it; punctuation marks are words of their
    own.
    """
    return re.findall(r"[\w'’-]+\s*|[^\w\s]\s*|\s+", text)


T = TypeVar("T")


def following(values: Sequence[T], at: object, step: int = 1) -> T:
    """Return the value that follows one, around the ends; the first where it is not there.

    Examples
    --------
    >>> following("abc", "c"), following("abc", "a", -1), following("abc", "x")
    ('a', 'c', 'a')
    """
    return values[(values.index(at) + step) % len(values)] if at in values else values[0]


def beside(values: Sequence[T], at: object, step: int) -> T:
    """Return the value beside one; at an end the one itself, the first where it is not there.

    Examples
    --------
    >>> beside("abc", "b", 1), beside("abc", "c", 1)
    ('c', 'c')
    """
    return (
        values[max(0, min(values.index(at) + step, len(values) - 1))] if at in values else values[0]
    )


def row_key(*parts: str) -> str:
    """Return one key of several names, whatever they contain."""
    return json.dumps(parts)


def row_parts(key: str) -> Sequence[str]:
    """Return the names behind a key."""
    return tuple(map(str, json.loads(key)))
