"""What a probe of a run found: some twenty answers that are looked at before hours are spent on the rest.

The answers of a probe count in no figure. They are kept with their job, and the run asks everything that it would have
asked without a probe, with the same seeds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from workbench.domain.counting import plural

PROBED = 20
"""Answers of a probe. Of a model with no more than one readable answer in ten, 20 answers show fewer than a quarter
readable in 96 of 100 probes; of one with half of its answers readable, in fewer than 1 of 100."""
LEAST_READABLE = 0.25
"""Share of readable answers below which a run that nobody watches stops after its probe. Prompts need two thirds, so of
such a run hardly a figure would come."""
ENOUGH = 2 / 3
"share of readable answers that a prompt needs: below it the probe looks at other families of templates, too"

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
    "why nothing can be read: `unreadable`, `refusal`, `cut off in thought`, `empty`, `failed`; empty: it can"
    reason: str = ""
    "of a failed one: why it failed"

    @property
    def read_as(self) -> str:
        """What stands beside the answer: its label, or why it has none."""
        return self.fault or self.label or NO_STANCE


@dataclass(frozen=True, slots=True)
class FamilyShare:
    """How many answers to another family of templates were readable."""

    family: str
    readable: int
    answers: int


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What came of a probe."""

    family: str
    "of templates"
    seed: int
    answers: tuple[ProbedAnswer, ...]
    by_rule: bool = True
    "whether a rule reads the answers; False: free text, of which it is only known that something was said"
    exact: bool = False
    "whether probabilities were computed and nothing was drawn"
    others: tuple[FamilyShare, ...] = ()
    "other families of templates, where too few answers were readable"

    @property
    def readable(self) -> int:
        return sum(not one.fault for one in self.answers)

    @property
    def share(self) -> float:
        """Share of readable answers; 0 without any answers."""
        return self.readable / len(self.answers) if self.answers else 0.0

    @property
    def faults(self) -> dict[str, int]:
        """Why answers cannot be read -> how many, the most frequent first."""
        return dict(Counter(one.fault for one in self.answers if one.fault).most_common())

    @property
    def all_failed(self) -> bool:
        return bool(self.answers) and all(one.fault == FAILED for one in self.answers)

    def describe(self) -> str:
        """Say how many answers were readable, why the others were not, and how other families of templates fared.

        Examples
        --------
        >>> one = ProbedAnswer("s-1", "original", "personal-1", "printed", "Hm.", "", UNREADABLE)
        >>> ProbeResult("chat", 7, (one, one), others=(FamilyShare("user", 17, 20),)).describe()
        'Probe: 0 of 2 answers are readable (0 %) with templates of family chat (2 unreadable); user: 17 of 20 (85 %)'
        """
        n = len(self.answers)
        what = "prompt" if self.exact else "answer"
        does = "say something" if not self.by_rule and not self.exact else "are readable"
        share = percent(self.readable, n)
        by_words = sum(one.label == REFUSED for one in self.answers)
        kinds = self.faults | ({REFUSED: by_words} if by_words else {})
        faults = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        told = f"Probe: {self.readable} of {plural(n, what)} {does} ({share}) with templates of family {self.family}"
        told += f" ({faults})" if faults else ""
        return "; ".join(
            [
                told,
                *(f"{o.family}: {o.readable} of {o.answers} ({percent(o.readable, o.answers)})" for o in self.others),
            ]
        )

    def as_json(self) -> dict[str, Any]:
        """Return plain values, as a job keeps them and programs read them."""
        return asdict(self) | {"readable": self.readable, "share": round(self.share, 4)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ProbeResult:
        """Read what `as_json` wrote."""
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
    "whether a person is asked whether to go on, whatever came; else the share of readable answers decides"
    least: float = LEAST_READABLE
    "share of readable answers below which the job stops where nobody is asked"
    result: ProbeResult | None = None
    "None: the probe has not been asked yet"

    def as_json(self) -> dict[str, Any]:
        return {"asks": self.asks, "least": self.least, "result": self.result.as_json() if self.result else None}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ProbeWish:
        result = value["result"]
        return cls(value["asks"], value["least"], ProbeResult.from_json(result) if result else None)


def percent(part: int, whole: int) -> str:
    """Return `15 %`."""
    return f"{100 * part / whole:.0f} %" if whole else "–"
