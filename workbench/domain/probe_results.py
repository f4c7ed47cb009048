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
"""number of answers of a probe

Of a model with no more than one readable answer in ten, 20 answers show fewer than a quarter
readable in 96 of 100 probes. Of one with half of its answers readable, they do so in fewer than 1
of 100.
"""
LEAST_READABLE = 0.25
"""share of readable answers below which a run that nobody watches stops after its probe

Prompts need two thirds, so of such a run hardly a figure would come.
"""
ENOUGH = 2 / 3
"""share of readable answers that a prompt needs

Below it the probe looks at other families of templates, too.
"""

READABLE, UNREADABLE, REFUSAL = "", "unreadable", "refusal"
CUT_OFF, EMPTY, FAILED = "cut off in thought", "empty", "failed"
BY_WORDS = " (by words)"
"ending of the label of an answer in free text, which no rule of its template reads"
REFUSED = f"{REFUSAL}{BY_WORDS}"
NO_STANCE = "no rule reads it"
"description of a readable answer in free text that has no label by words"


@dataclass(frozen=True, slots=True)
class ProbedAnswer:
    """One answer, with its prompt and its reading."""

    statement: str
    variant: str
    template: str
    order: str
    "order of the labels: `printed` or `swapped`"
    text: str
    "the model's text, with its thought, or the computed probabilities in words"
    label: str
    "label, or an empty string without one"
    fault: str
    """why nothing can be read: `unreadable`, `refusal`, `cut off in thought`, `empty`, `failed`

    It is empty if the answer can be read.
    """
    reason: str = ""
    "reason of a failure"

    @property
    def read_as(self) -> str:
        """The label of the answer, or why it has none."""
        return self.fault or self.label or NO_STANCE


@dataclass(frozen=True, slots=True)
class FamilyReadability:
    """The number of readable answers to another family of templates."""

    family: str
    readable: int
    answers: int


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The answers of a probe."""

    family: str
    "family of templates"
    seed: int
    answers: tuple[ProbedAnswer, ...]
    by_rule: bool = True
    """whether a rule reads the answers

    If not, they are free text, of which it is only known that something was said.
    """
    exact: bool = False
    "whether probabilities were computed and nothing was drawn"
    others: tuple[FamilyReadability, ...] = ()
    "other families of templates, if too few answers were readable"

    @property
    def readable(self) -> int:
        return sum(not answer.fault for answer in self.answers)

    @property
    def share(self) -> float:
        """The share of readable answers, or 0 without answers."""
        return self.readable / len(self.answers) if self.answers else 0.0

    @property
    def faults(self) -> dict[str, int]:
        """The number of answers for each reason why they cannot be read.

        The most frequent reason comes first.
        """
        return dict(Counter(answer.fault for answer in self.answers if answer.fault).most_common())

    @property
    def all_failed(self) -> bool:
        return bool(self.answers) and all(answer.fault == FAILED for answer in self.answers)

    def describe(self) -> str:
        """Return the share of readable answers, and the reasons of the others.

        The other families' shares follow.

        Examples
        --------
        >>> one = ProbedAnswer("s-1", "original", "personal-1", "printed", "Hm.", "", UNREADABLE)
        >>> result = ProbeResult("chat", 7, (one, one), others=(FamilyReadability("user", 17, 20),))
        >>> result.describe()  # doctest: +NORMALIZE_WHITESPACE
        'Probe: 0 of 2 answers are readable (0 %) with templates of family chat (2 unreadable);
        user: 17 of 20 (85 %)'
        """
        n_all = len(self.answers)
        unit = "prompt" if self.exact else "answer"
        verb = "say something" if not self.by_rule and not self.exact else "are readable"
        share = percent(self.readable, n_all)
        by_words = sum(answer.label == REFUSED for answer in self.answers)
        kinds = self.faults | ({REFUSED: by_words} if by_words else {})
        faults = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        sentence = (
            f"Probe: {self.readable} of {plural(n_all, unit)} {verb} ({share}) with templates of "
            f"family {self.family}"
        )
        sentence += f" ({faults})" if faults else ""
        return "; ".join(
            [
                sentence,
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
            tuple(ProbedAnswer(**values) for values in value["answers"]),
            value["by_rule"],
            value["exact"],
            tuple(FamilyReadability(**values) for values in value["others"]),
        )


@dataclass(frozen=True, slots=True)
class ProbeWish:
    """A job's probe, and who decides after it."""

    asks: bool = False
    """whether a person is asked to decide, whatever came

    If not, the share of readable answers decides.
    """
    least: float = LEAST_READABLE
    "share of readable answers below which the job stops if nobody is asked"
    result: ProbeResult | None = None
    "None if the probe has not been asked yet"

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
    """Return a share as text: `15 %`."""
    return f"{100 * part / whole:.0f} %" if whole else "–"


FIRST = 100
"""number of answers after which a job pauses if not one can be read

If answers were independent, a model that is readable in one of twenty would have none in 100 with a
chance of 0.6 %.
"""
PROMPTS = 10
"number of prompts that they must belong to, since answers to one prompt are alike"
REPEATED = 8
"""number of repeated answers after which a served model is asked an open prompt

They equal an earlier one of their prompt, while none differs. See `inference.served.behaviour`.
"""
SHOWN = 3
"number of distinct answers that are shown as examples"
LONGEST = 80
"most characters of an example"


@dataclass(slots=True)
class FirstAnswers:
    """Looks at the answers of an attempt until one of them can be read."""

    exact: bool = False
    "whether prompts are looked at, of which probabilities were computed"
    at_once: bool = False
    """whether all is asked at once even so

    Batches take a day, and a cluster loads the model each time.
    """
    answers: int = 0
    examples: list[str] = field(default_factory=list)
    readable: bool = False
    "whether one could be read, after which nothing more is looked at"
    refused: int = 0
    truncated: int = 0
    differ: bool = False
    "whether answers to one prompt differ, or it is known that they are drawn"
    undrawn: str = ""
    "why answers are not drawn, as found from the model's answers to an open prompt"
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
        """Take in the new answers.

        prompts, texts : of the answers that came now

        answers, silent, refused, truncated : numbers of all answers so far, of those that cannot be
        read, and of the refusals and the answers cut off in thought among these
        """
        if self.readable:
            return
        self.answers, self.refused, self.truncated = answers, refused, truncated
        self.readable = silent < answers
        self._prompts.update(prompts)
        for text in texts:
            if len(self.examples) < SHOWN and (example := _short(text)) not in self.examples:
                self.examples.append(example)

    def drew(self, prompt: Hashable, answers: Iterable[tuple[str, int]]) -> None:
        """Take in distinct answers to a prompt with their counts.

        It stops when two answers to one prompt differ.
        """
        for text, count in answers:
            if self.differ:
                return
            self.differ = self._said.setdefault(prompt, text) != text
            self._counts[prompt] += count

    @property
    def alike(self) -> bool:
        """Whether answers repeat so often and never differ that they may not be drawn.

        It is then worth asking whether they are drawn at all.
        """
        n_repeated = sum(self._counts.values()) - len(self._counts)
        return (
            not (self.differ or self.undrawn) and len(self._counts) > 1 and n_repeated >= REPEATED
        )

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
        """Whether there are enough answers and none can be read, or they are not drawn."""
        return bool(self.undrawn) or (
            not self.readable and self.answers >= FIRST and len(self._prompts) >= PROMPTS
        )

    def describe(self) -> str:
        """Return the reason to stop, with examples."""
        if self.undrawn:
            return (
                f"The first {sum(self._counts.values()):,} answers are equal within their "
                f"{len(self._counts)} prompts, and {self.undrawn}"
            )
        unit = "prompts" if self.exact else f"answers (to {plural(len(self._prompts), 'prompt')})"
        kinds = {"refuse": self.refused, "are cut off in thought": self.truncated}
        kinds_text = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items() if count)
        examples_text = "; ".join(f'"{text}"' for text in self.examples)
        parts = [
            f"Not one of the first {self.answers:,} {unit} can be read",
            f" ({kinds_text})" if kinds_text else "",
            f". Among them: {examples_text}" if examples_text else "",
        ]
        return "".join(parts)


def _short(text: str) -> str:
    line = " ".join(text.split()) or "(empty)"
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


MOST_REASONS = 3
"number of kinds of reasons that are listed, the most frequent first"
LONGEST_REASON = 400
"most characters of a reason that are kept"
SAID_SHORT = 240
"most characters of a reason in a sentence about a whole job"

_VARYING = re.compile(r"(?<!\w)'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\d[\d,.]*")
"the prompts and numbers of a reason, without which reasons of one kind are the same text"
_LASTING = re.compile(
    r"model's window|maximum context length|has no token|without a token|answered with "
    r"4(00|13|22)\b"
)
"marks of reasons that hold for a prompt and a model whenever it is asked"


def lasting(reason: str) -> bool:
    """Return whether asking the same again would fail again.

    It would if the prompt does not fit, or the model lacks a token.
    """
    return bool(_LASTING.search(reason))


@dataclass(slots=True)
class Reasons:
    """The failures of an attempt, by kind of reason."""

    _counts: dict[str, int] = field(default_factory=dict)
    _first: dict[str, str] = field(default_factory=dict)
    lasting: int = 0
    "number of the failures that would fail again"

    def add(self, reason: str, count: int) -> None:
        """Count failures that have one reason."""
        kind = _VARYING.sub("…", reason)
        self._first.setdefault(kind, _cut(reason or "no reason is known", LONGEST_REASON))
        self._counts[kind] = self._counts.get(kind, 0) + count
        self.lasting += count if lasting(reason) else 0

    def most_frequent(self) -> list[tuple[str, int]]:
        """Return the first reason of each of the most frequent kinds.

        Each comes with the number of failures of its kind.
        """
        kinds = sorted(self._counts, key=lambda kind: -self._counts[kind])[:MOST_REASONS]
        return [(self._first[kind], self._counts[kind]) for kind in kinds]

    def describe(self) -> str:
        """Return the most frequent reason, shortened, with its number if there are others."""
        most_frequent = self.most_frequent()
        if not most_frequent:
            return ""
        reason, count = most_frequent[0]
        n_others = sum(self._counts.values()) - count
        shortened = _cut(reason.rstrip("."), SAID_SHORT)
        return (
            f"{count:,} because {shortened}; {n_others:,} for other reasons"
            if n_others
            else shortened
        )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
