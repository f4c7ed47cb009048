"""Why prompts failed, counted: people read a handful of reasons, not one for each prompt."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MOST_REASONS = 3
"kinds of reasons that are told, the most frequent first"
LONGEST_REASON = 400
"characters of a reason that are kept"
SAID_SHORT = 240
"characters of a reason in a sentence about all of a job"

_VARYING = re.compile(r"(?<!\w)'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\d[\d,.]*")
"the prompts and numbers of a reason: without them, reasons of one kind are the same text"
_LASTING = re.compile(r"model's window|maximum context length|has no token|without a token|answered with 4(00|13|22)\b")
"in reasons that hold for a prompt and a model whenever it is asked"


def lasting(reason: str) -> bool:
    """Return whether asking the same again would fail again: the prompt does not fit, or the model lacks a token."""
    return bool(_LASTING.search(reason))


@dataclass(slots=True)
class Reasons:
    """What failed in an attempt, by kind of reason."""

    _counts: dict[str, int] = field(default_factory=dict)
    _first: dict[str, str] = field(default_factory=dict)
    lasting: int = 0
    "of those that failed, how many would fail again"

    def add(self, reason: str, count: int) -> None:
        """Count failures that have one reason."""
        kind = _VARYING.sub("…", reason)
        self._first.setdefault(kind, _cut(reason or "no reason is known", LONGEST_REASON))
        self._counts[kind] = self._counts.get(kind, 0) + count
        self.lasting += count if lasting(reason) else 0

    def most_frequent(self) -> list[tuple[str, int]]:
        """Return the first reason of each of the most frequent kinds, with how many failed for that kind of reason."""
        kinds = sorted(self._counts, key=lambda kind: -self._counts[kind])[:MOST_REASONS]
        return [(self._first[kind], self._counts[kind]) for kind in kinds]

    def describe(self) -> str:
        """Say why most failed, shortened: the reason, or `12 because …; 3 for other reasons`."""
        told = self.most_frequent()
        if not told:
            return ""
        reason, count = told[0]
        others = sum(self._counts.values()) - count
        short = _cut(reason.rstrip("."), SAID_SHORT)
        return f"{count:,} because {short}; {others:,} for other reasons" if others else short


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
