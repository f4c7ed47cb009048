"""Words that are looked for in a text, each as it is written: no sign means anything else."""

from __future__ import annotations


def places(text: str, words: str) -> list[tuple[int, int]]:
    """Return where any of these words stands in a text, upper and lower case alike; nothing unless all of them do."""
    within = text.lower()
    if len(within) != len(text):  # İ becomes two characters
        within = text
    found: list[tuple[int, int]] = []
    for word in words.lower().split():
        at = within.find(word)
        if at < 0:
            return []
        while at >= 0:
            found.append((at, at + len(word)))
            at = within.find(word, at + len(word))
    return sorted(found)
