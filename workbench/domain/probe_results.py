"""The result of a probe: some twenty answers that are inspected before a long run goes on.

The answers of a probe count in no figure. They are kept with their job, and the run asks everything
that it would have asked without a probe, with the same seeds.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from workbench.domain.names import plural

PROBED = 20
"""Answers of a probe. Of a model with no more than one readable answer in ten, 20 answers show
fewer than a quarter readable in 96 of 100 probes; of one with half of its answers readable, in
fewer than 1 of 100.
"""
LEAST_READABLE = 0.25
"""Share of readable answers below which a run that nobody watches stops after its probe. Prompts
need two thirds, so of such a run hardly a figure would come.
"""
ENOUGH = 2 / 3
"""share of readable answers that a prompt needs: below it the probe looks at other families of
templates, too"""

READABLE, UNREADABLE, REFUSAL = "", "unreadable", "refusal"
CUT_OFF, EMPTY, FAILED = "cut off in thought", "empty", "failed"
BY_WORDS = " (by words)"
"stands behind the label of an answer in free text, which no rule of its template reads"
REFUSED = f"{REFUSAL}{BY_WORDS}"
NO_STANCE = "no rule reads it"
"what is said of a readable answer in free text that has no label by words"


@dataclass(frozen=True, slots=True)
class ProbedAnswer:
    """One answer, with what was asked and how it is read."""

    statement: str
    variant: str
    template: str
    order: str
    "of the labels: `printed` or `swapped`"
    text: str
    "what the model wrote, its thought included; where probabilities were computed, these in words"
    label: str
    "empty: it has none"
    fault: str
    """why nothing can be read: `unreadable`, `refusal`, `cut off in thought`, `empty`, `failed`;
    empty: it can"""
    reason: str = ""
    "of a failed one: why it failed"

    @property
    def read_as(self) -> str:
        """The label of the answer, or why it has none."""
        return self.fault or self.label or NO_STANCE


@dataclass(frozen=True, slots=True)
class FamilyShare:
    """The number of readable answers to another family of templates."""

    family: str
    readable: int
    answers: int


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The answers of a probe."""

    family: str
    "of templates"
    seed: int
    answers: tuple[ProbedAnswer, ...]
    by_rule: bool = True
    """whether a rule reads the answers; False: free text, of which it is only known that something
    was said"""
    exact: bool = False
    "whether probabilities were computed and nothing was drawn"
    others: tuple[FamilyShare, ...] = ()
    "other families of templates, where too few answers were readable"

    @property
    def readable(self) -> int:
        return sum(not one.fault for one in self.answers)

    @property
    def share(self) -> float:
        """The share of readable answers, or 0 without answers."""
        return self.readable / len(self.answers) if self.answers else 0.0

    @property
    def faults(self) -> dict[str, int]:
        """Why answers cannot be read -> how many, the most frequent first."""
        return dict(Counter(one.fault for one in self.answers if one.fault).most_common())

    @property
    def all_failed(self) -> bool:
        return bool(self.answers) and all(one.fault == FAILED for one in self.answers)

    def describe(self) -> str:
        """Return the share of readable answers, the reasons of the others, and the other families'
        shares.

        Examples
        --------
        >>> one = ProbedAnswer("s-1", "original", "personal-1", "printed", "Hm.", "", UNREADABLE)
        >>> result = ProbeResult("chat", 7, (one, one), others=(FamilyShare("user", 17, 20),))
        >>> result.describe()  # doctest: +NORMALIZE_WHITESPACE
        'Probe: 0 of 2 answers are readable (0 %) with templates of family chat (2 unreadable);
        user: 17 of 20 (85 %)'
        """
        n = len(self.answers)
        what = "prompt" if self.exact else "answer"
        does = "say something" if not self.by_rule and not self.exact else "are readable"
        share = percent(self.readable, n)
        by_words = sum(one.label == REFUSED for one in self.answers)
        kinds = self.faults | ({REFUSED: by_words} if by_words else {})
        faults = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        told = (
            f"Probe: {self.readable} of {plural(n, what)} {does} ({share}) with templates of "
            f"family {self.family}"
        )
        told += f" ({faults})" if faults else ""
        return "; ".join(
            [
                told,
                *(
                    f"{o.family}: {o.readable} of {o.answers} ({percent(o.readable, o.answers)})"
                    for o in self.others
                ),
            ]
        )

    def as_json(self) -> dict[str, Any]:
        """Return plain values, as a job keeps them and programs read them."""
        return asdict(self) | {"readable": self.readable, "share": round(self.share, 4)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ProbeResult:
        """Return the result that `as_json` wrote."""
        return cls(
            value["family"],
            value["seed"],
            tuple(ProbedAnswer(**one) for one in value["answers"]),
            value["by_rule"],
            value["exact"],
            tuple(FamilyShare(**one) for one in value["others"]),
        )


@dataclass(frozen=True, slots=True)
class ProbeWish:
    """A job's probe, and who decides after it."""

    asks: bool = False
    """whether a person is asked whether to go on, whatever came; else the share of readable answers
    decides"""
    least: float = LEAST_READABLE
    "share of readable answers below which the job stops where nobody is asked"
    result: ProbeResult | None = None
    "None: the probe has not been asked yet"

    def as_json(self) -> dict[str, Any]:
        return {
            "asks": self.asks,
            "least": self.least,
            "result": self.result.as_json() if self.result else None,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ProbeWish:
        result = value["result"]
        return cls(value["asks"], value["least"], ProbeResult.from_json(result) if result else None)


def percent(part: int, whole: int) -> str:
    """Return `15 %`."""
    return f"{100 * part / whole:.0f} %" if whole else "–"


FIRST = 100
"""Answers that must have come before a job pauses because not one can be read. Were answers
independent, a model that is readable in one of twenty would have none in 100 with a chance of 0.6
%.
"""
PROMPTS = 10
"prompts that they must belong to: answers to one prompt are alike"
REPEATED = 8
"""Answers equal to an earlier one of their prompt, while none differs, after which a served model
is asked an open prompt: see `inference.served.behaviour`.
"""
SHOWN = 3
"distinct answers that are shown as examples"
LONGEST = 80
"characters of an example"


@dataclass(slots=True)
class FirstAnswers:
    """Looks at the answers of an attempt until one of them can be read."""

    exact: bool = False
    "whether prompts are looked at, of which probabilities were computed"
    at_once: bool = False
    """whether all is asked at once even so: in batches that take a day, or of a cluster that loads
    the model each time"""
    answers: int = 0
    examples: list[str] = field(default_factory=list)
    readable: bool = False
    "one could be read: nothing more is looked at"
    refused: int = 0
    truncated: int = 0
    differ: bool = False
    "whether answers to one prompt differ, or it is known that they are drawn"
    undrawn: str = ""
    "why answers are not drawn, as the model was found to answer an open prompt"
    _prompts: set[Hashable] = field(default_factory=set)
    _said: dict[Hashable, str] = field(default_factory=dict)
    "an answer to each prompt, as long as no other differs from it"
    _counts: Counter[Hashable] = field(default_factory=Counter)

    def look(
        self,
        prompts: Iterable[Hashable],
        texts: Iterable[str],
        answers: int,
        silent: int,
        refused: int,
        truncated: int,
    ) -> None:
        """Take in what came.

        prompts, texts : of the answers that came now
        answers, silent, refused, truncated : of all that came so far: how many, how many of them
            cannot be read, and of these the refusals and those that were cut off in thought
        """
        if self.readable:
            return
        self.answers, self.refused, self.truncated = answers, refused, truncated
        self.readable = silent < answers
        self._prompts.update(prompts)
        for text in texts:
            if len(self.examples) < SHOWN and (short := _short(text)) not in self.examples:
                self.examples.append(short)

    def drew(self, prompt: Hashable, answers: Iterable[tuple[str, int]]) -> None:
        """Take in distinct answers to a prompt with their counts, until two of one prompt
        differ.
        """
        for text, count in answers:
            if self.differ:
                return
            self.differ = self._said.setdefault(prompt, text) != text
            self._counts[prompt] += count

    @property
    def alike(self) -> bool:
        """Whether answers repeat so often and never differ that it is worth asking whether they are
        drawn at all.
        """
        repeated = sum(self._counts.values()) - len(self._counts)
        return not (self.differ or self.undrawn) and len(self._counts) > 1 and repeated >= REPEATED

    @property
    def decided(self) -> bool:
        """Whether nothing more is looked at."""
        return self.readable or self.hopeless

    @property
    def lacking(self) -> tuple[int, int]:
        """The numbers of answers and of prompts that are missing until there are enough."""
        return max(0, FIRST - self.answers), max(0, PROMPTS - len(self._prompts))

    @property
    def hopeless(self) -> bool:
        """Whether there are enough and none can be read, or they are not drawn."""
        return bool(self.undrawn) or (
            not self.readable and self.answers >= FIRST and len(self._prompts) >= PROMPTS
        )

    def describe(self) -> str:
        """Return the reason to stop, with examples."""
        if self.undrawn:
            return (
                f"The first {sum(self._counts.values()):,} answers are equal within their "
                f"{len(self._counts)} prompts, "
                f"and {self.undrawn}"
            )
        what = "prompts" if self.exact else f"answers (to {plural(len(self._prompts), 'prompt')})"
        kinds = {"refuse": self.refused, "are cut off in thought": self.truncated}
        told = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items() if count)
        shown = "; ".join(f'"{text}"' for text in self.examples)
        parts = [
            f"Not one of the first {self.answers:,} {what} can be read",
            f" ({told})" if told else "",
            f". Among them: {shown}" if shown else "",
        ]
        return "".join(parts)


def _short(text: str) -> str:
    flat = " ".join(text.split()) or "(empty)"
    return flat if len(flat) <= LONGEST else f"{flat[: LONGEST - 1]}…"


MOST_REASONS = 3
"kinds of reasons that are told, the most frequent first"
LONGEST_REASON = 400
"characters of a reason that are kept"
SAID_SHORT = 240
"characters of a reason in a sentence about all of a job"

_VARYING = re.compile(r"(?<!\w)'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\d[\d,.]*")
"the prompts and numbers of a reason: without them, reasons of one kind are the same text"
_LASTING = re.compile(
    r"model's window|maximum context length|has no token|without a token|answered with "
    r"4(00|13|22)\b"
)
"in reasons that hold for a prompt and a model whenever it is asked"


def lasting(reason: str) -> bool:
    """Return whether asking the same again would fail again: the prompt does not fit, or the model
    lacks a token.
    """
    return bool(_LASTING.search(reason))


@dataclass(slots=True)
class Reasons:
    """The failures of an attempt, by kind of reason."""

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
        """Return the first reason of each of the most frequent kinds, with how many failed for that
        kind of reason.
        """
        kinds = sorted(self._counts, key=lambda kind: -self._counts[kind])[:MOST_REASONS]
        return [(self._first[kind], self._counts[kind]) for kind in kinds]

    def describe(self) -> str:
        """Return the most frequent reason, shortened, with its number if there are others."""
        told = self.most_frequent()
        if not told:
            return ""
        reason, count = told[0]
        others = sum(self._counts.values()) - count
        short = _cut(reason.rstrip("."), SAID_SHORT)
        return f"{count:,} because {short}; {others:,} for other reasons" if others else short


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
