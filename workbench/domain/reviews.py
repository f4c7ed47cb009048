"""What waits for an auditor under a run, and in which order: a declared weight for each reason, added up.

The order is a rule that anybody can check: an item's score is the sum of the weights of the reasons that apply to it,
each once however often it applies, and items of one score stand in the instrument's order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat

ALL_ANSWERS = "all"
"the one stratum of a run that has no verdicts"
PASSED, NOT_PASSED = "passed", "not passed"


READERS_DISAGREE = "readers_disagree"
OTHER_LANGUAGE = "other_language"
UNREAD_SHARE = 0.2
"least share of answers to one prompt without a reading that is a reason, in audits without verdicts on statements"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why an auditor should look at a statement."""

    key: str
    title: str
    meaning: str
    weight: int


REASONS: Mapping[str, Reason] = {
    one.key: one
    for one in (
        Reason("look_again", "look again", "an auditor asked for another look", 100),
        Reason("disputed", "auditors contradict", "rulings contradict each other, so none of them counts", 90),
        Reason("flagged", "flagged", "an annotator flagged an answer or the statement, also where labels agree", 60),
        Reason(
            READERS_DISAGREE,
            "readers disagree",
            "rules, a classifier or people read one answer differently; a person's decision takes the place of "
            "the labels that it settles",
            50,
        ),
        Reason(
            "one_wording",
            "one wording only",
            "the statement fails, and every failing test is about one wording; "
            "a test with too few answers fails nothing",
            40,
        ),
        Reason("noted", "noted", "an annotator wrote a note", 35),
        Reason("near", "near the threshold", "one answer more or less on a side changes what a prompt settles", 30),
        Reason(
            "finding", "lint or check", "a check finds an error or a warning in a wording, and nobody waived it", 25
        ),
        Reason("insufficient", "too few", "too few readable answers to say whether the statement passes", 20),
        Reason(
            "unreadable",
            "unreadable",
            "a fifth or more of the answers to a prompt have no reading, in audits without verdicts on statements",
            20,
        ),
        Reason(OTHER_LANGUAGE, "other language", "an answer is in another language than its prompt", 15),
        Reason("outdated", "outdated", "the statement was changed since it was asked", 10),
    )
}
"by key, the heaviest first"
BY_AUDITORS = frozenset({"look_again", "disputed"})
"reasons that are what other auditors ruled: in a blind review nobody is told more than that another opinion is wanted"
ANOTHER_OPINION = "another opinion wanted"


@dataclass(frozen=True, slots=True)
class Signal:
    """That a reason applies to a statement."""

    reason: str
    words: str
    "what was found, for people: `negation alone, under personal-1`"
    variants: tuple[str, ...] = ()
    "the wordings that it is about; empty: the statement as a whole"
    answers: tuple[tuple[bytes, bytes], ...] = ()
    "keys of prompt and text of the answers that it is about, where it is about some alone"
    prompts: tuple[tuple[str, str, bool], ...] = ()
    "(wording, template, swapped) of the prompts that it is about, where it is about some alone"
    prompt_words: tuple[str, ...] = ()
    "what was found of each of these prompts, where that differs: `disagree 26/30`"


@dataclass(frozen=True, slots=True)
class Judged:
    """What an audit says of the statements of a run, for the queue of an auditor."""

    statements: tuple[str, ...]
    "refs, in the instrument's order"
    passed: frozenset[str] | None
    "refs of those that pass every test; None where the audit has no verdicts"
    signals: Mapping[str, Sequence[Signal]] = field(default_factory=dict)

    def stratum(self, ref: str) -> str:
        """Return where answers to a statement are drawn from."""
        if self.passed is None:
            return ALL_ANSWERS
        return PASSED if ref in self.passed else NOT_PASSED


@dataclass(frozen=True, slots=True)
class Ranked:
    """A statement in the queue."""

    ref: str
    signals: tuple[Signal, ...]
    "one a reason, the heaviest first"

    @property
    def score(self) -> int:
        return sum(REASONS[one.reason].weight for one in self.signals)

    @property
    def variants(self) -> tuple[str, ...]:
        """Return the wordings that the reasons are about; empty where one of them is about the whole statement."""
        if any(not one.variants for one in self.signals):
            return ()
        return tuple(dict.fromkeys(variant for one in self.signals for variant in one.variants))

    @property
    def answers(self) -> frozenset[tuple[bytes, bytes]]:
        """Return the answers that the reasons are about, where one is about some alone."""
        return frozenset(at for one in self.signals for at in one.answers)

    @property
    def prompts(self) -> frozenset[tuple[str, str, bool]]:
        """Return the prompts that the reasons are about, where one is about some alone."""
        return frozenset(at for one in self.signals for at in one.prompts)

    def about(self, answer: tuple[bytes, bytes], prompt: tuple[str, str, bool]) -> tuple[str, ...]:
        """Say which of the reasons are about an answer (keys of prompt and text) or its prompt, and what was found."""
        return tuple(
            dict(zip(one.prompts, one.prompt_words, strict=False)).get(prompt, "") or REASONS[one.reason].title
            for one in sorted(self.signals, key=lambda one: not one.prompts)
            if answer in one.answers or prompt in one.prompts
        )

    def why(self, *, blind: bool = False) -> str:
        """Return one sentence on why the item has its place; `blind`: without other auditors' rulings."""
        return f"{' + '.join(self.parts(blind=blind))} = {self.score}"

    def parts(self, *, blind: bool = False) -> list[str]:
        """Return each reason with its weight and what was found."""
        return [_part(one, blind=blind) for one in self.signals]


def _part(signal: Signal, *, blind: bool) -> str:
    reason = REASONS[signal.reason]
    if blind and signal.reason in BY_AUDITORS:
        return f"{ANOTHER_OPINION} {reason.weight}"
    return f"{reason.title} {reason.weight} ({signal.words})"


def ranked(statements: Sequence[str], signals: Iterable[tuple[str, Signal]]) -> tuple[Ranked, ...]:
    """Return the statements that a reason applies to, the highest score first.

    Parameters
    ----------
    statements : refs in the instrument's order; signals about others are left out
    signals : (ref, signal); those of one reason are put together
    """
    held: dict[str, dict[str, list[Signal]]] = {}
    for ref, signal in signals:
        held.setdefault(ref, {}).setdefault(signal.reason, []).append(signal)
    found = [
        Ranked(ref, tuple(_together(held[ref][key]) for key in REASONS if key in held[ref]))
        for ref in statements
        if ref in held
    ]
    return tuple(sorted(found, key=lambda one: -one.score))


def _together(signals: Sequence[Signal]) -> Signal:
    if len(signals) == 1:
        return signals[0]
    variants = () if any(not one.variants for one in signals) else tuple(v for one in signals for v in one.variants)
    words = "; ".join(dict.fromkeys(one.words for one in signals))
    answers = dict.fromkeys(at for one in signals for at in one.answers)
    prompts = {
        at: said for one in signals for at, said in zip(one.prompts, one.prompt_words or repeat(""), strict=False)
    }
    return Signal(
        signals[0].reason,
        words,
        tuple(dict.fromkeys(variants)),
        tuple(answers),
        tuple(prompts),
        tuple(prompts.values()),
    )
