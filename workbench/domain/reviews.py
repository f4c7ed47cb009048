"""The order of an auditor's queue: each reason adds declared points to a statement of a run.

The order is a rule that anybody can check: an item's score is the sum of the points of the reasons
that apply to it. A reason gives its points once, and more for each further test, prompt or answer
that it is about, up to a most. Items of one score stand in the order of the number of these tests,
prompts and answers, and then in the instrument's. A random control sample of the answers is drawn
once, with a seed, and is the same until it is worked through.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat

from workbench.domain.readings import ReaderCard

ALL_ANSWERS = "all"
"the one stratum of a run that has no verdicts"
PASSED, NOT_PASSED = "passed", "not passed"


READERS_DISAGREE = "readers_disagree"
OTHER_LANGUAGE = "other_language"
UNREAD_SHARE = 0.2
"""least share of unread answers to one prompt that is a reason

It counts in audits without verdicts on statements.
"""


@dataclass(frozen=True, slots=True)
class ReviewReason:
    """A reason why an auditor should look at a statement, with the points that it gives."""

    key: str
    title: str
    meaning: str
    weight: int
    "points of the first test, prompt or answer that it is about"
    each: int = 0
    "points of every further one"
    most: int = 0
    "most points, or 0 for `weight`"
    unit: str = ""
    "unit of the count: `test`"

    def points(self, size: int) -> int:
        """Return the points for a number of tests, prompts or answers."""
        return min(self.most or self.weight, self.weight + self.each * (size - 1))

    @property
    def formula(self) -> str:
        """The formula of the points: `30, and 1 for each further answer, at most 60`."""
        return (
            f"{self.weight}, and {self.each} for each further {self.unit}, at most {self.most}"
            if self.each
            else str(self.weight)
        )


REASONS: Mapping[str, ReviewReason] = {
    reason.key: reason
    for reason in (
        ReviewReason(
            "look_again",
            "look again",
            "an auditor asked for another look, and nobody has decided since",
            1000,
        ),
        ReviewReason(
            "disputed",
            "auditors contradict",
            "rulings contradict each other, so none of them counts",
            500,
        ),
        ReviewReason(
            "flagged",
            "flagged",
            "an annotator flagged an answer or the statement, also where labels agree",
            60,
        ),
        ReviewReason(
            "verdict",
            "verdict at stake",
            "one answer more or less on a side turns the statement's verdict",
            40,
        ),
        ReviewReason("noted", "noted", "an annotator wrote a note", 35),
        ReviewReason(
            "one_wording",
            "one wording only",
            "the statement fails, and every failing test is about one wording; "
            "a test with too few answers fails nothing",
            30,
            3,
            60,
            "failing test",
        ),
        ReviewReason(
            READERS_DISAGREE,
            "readers disagree",
            "rules, a classifier or people read one answer differently; a person's decision takes "
            "the place of the labels that it settles",
            30,
            1,
            60,
            "answer",
        ),
        ReviewReason(
            "tests",
            "tests at stake",
            "one answer more or less on a side turns the test under a template",
            15,
            5,
            50,
            "test",
        ),
        ReviewReason(
            "near",
            "near the threshold",
            "one answer more or less on a side changes what a prompt settles",
            10,
            2,
            30,
            "prompt",
        ),
        ReviewReason(
            "insufficient",
            "too few",
            "too few readable answers to say whether the statement passes",
            10,
            2,
            30,
            "template",
        ),
        ReviewReason(
            "unreadable",
            "unreadable",
            "a fifth or more of the answers to a prompt have no reading, in audits without "
            "verdicts on statements",
            10,
            2,
            30,
            "prompt",
        ),
        ReviewReason(
            OTHER_LANGUAGE,
            "other language",
            "an answer is in another language than its prompt",
            10,
            1,
            30,
            "answer",
        ),
        ReviewReason("outdated", "outdated", "the statement was changed since it was asked", 10),
        ReviewReason(
            "finding",
            "lint or check",
            "a check finds an error or a warning in a wording, and nobody waived it",
            5,
            2,
            15,
            "finding",
        ),
    )
}
"""reasons by key

The order is reasons that people ask for, then verdicts at stake, then answers.
"""
BY_AUDITORS = frozenset({"look_again", "disputed"})
"""reasons that consist in rulings of other auditors

In a blind review a person only learns that another opinion is wanted.
"""
ANOTHER_OPINION = "another opinion wanted"


@dataclass(frozen=True, slots=True)
class Signal:
    """A reason to review a statement."""

    reason: str
    words: str
    "the finding, for people: `negation alone, under personal-1`"
    variants: tuple[str, ...] = ()
    "the wordings that it is about, or empty for the statement as a whole"
    answers: tuple[tuple[bytes, bytes], ...] = ()
    "keys of prompt and text of the answers that it is about, if it is about some alone"
    prompts: tuple[tuple[str, str, bool], ...] = ()
    "(wording, template, swapped) of the prompts that it is about, if it is about some alone"
    prompt_words: tuple[str, ...] = ()
    "the finding for each of these prompts, if they differ: `disagree 26/30`"
    size: int = 1
    "number of the tests, prompts or answers that it is about, as its reason counts them"

    @property
    def points(self) -> int:
        return REASONS[self.reason].points(self.size)


@dataclass(frozen=True, slots=True)
class RunSignals:
    """The verdicts and signals of a run's statements, for an auditor's queue."""

    statements: tuple[str, ...]
    "refs, in the instrument's order"
    passed: frozenset[str] | None
    "refs of those that pass every test, or None if the audit has no verdicts"
    signals: Mapping[str, Sequence[Signal]] = field(default_factory=dict)

    def stratum(self, ref: str) -> str:
        """Return the stratum from which answers to a statement are drawn."""
        if self.passed is None:
            return ALL_ANSWERS
        return PASSED if ref in self.passed else NOT_PASSED


@dataclass(frozen=True, slots=True)
class RankedStatement:
    """A statement in the queue."""

    ref: str
    signals: tuple[Signal, ...]
    "one for each reason, the heaviest first"

    @property
    def score(self) -> int:
        return sum(signal.points for signal in self.signals)

    @property
    def size(self) -> int:
        """The number of tests, prompts and answers that the reasons are about."""
        return sum(signal.size for signal in self.signals)

    @property
    def variants(self) -> tuple[str, ...]:
        """The wordings that the reasons are about.

        There are none if a reason is about the whole statement.
        """
        if any(not signal.variants for signal in self.signals):
            return ()
        return tuple(
            dict.fromkeys(variant for signal in self.signals for variant in signal.variants)
        )

    @property
    def answers(self) -> frozenset[tuple[bytes, bytes]]:
        """The answers that the reasons are about, if one is about some alone."""
        return frozenset(answer for signal in self.signals for answer in signal.answers)

    @property
    def prompts(self) -> frozenset[tuple[str, str, bool]]:
        """The prompts that the reasons are about, if one is about some alone."""
        return frozenset(prompt for signal in self.signals for prompt in signal.prompts)

    def about(self, answer: tuple[bytes, bytes], prompt: tuple[str, str, bool]) -> tuple[str, ...]:
        """Return the findings of the reasons that are about an answer or its prompt.

        An answer is named by the keys of its prompt and text. Reasons by auditors are left out.
        """
        return tuple(
            dict(zip(signal.prompts, signal.prompt_words, strict=False)).get(prompt, "")
            or REASONS[signal.reason].title
            for signal in sorted(self.signals, key=lambda signal: not signal.prompts)
            if signal.reason not in BY_AUDITORS
            and (answer in signal.answers or prompt in signal.prompts)
        )

    def why(self, *, blind: bool = False) -> str:
        """Return a sentence on the item's points.

        `blind` hides other auditors' rulings.
        """
        return f"{' + '.join(self.parts(blind=blind))} = {self.score}"

    def brief(self, *, blind: bool = False) -> str:
        """Return the reasons in a few words, the weightiest first.

        An example is `one wording only, near the threshold`.
        """
        by_points = sorted(self.signals, key=lambda signal: -signal.points)
        titles = (
            ANOTHER_OPINION
            if blind and signal.reason in BY_AUDITORS
            else REASONS[signal.reason].title
            for signal in by_points
        )
        return ", ".join(dict.fromkeys(titles))

    def parts(self, *, blind: bool = False) -> list[str]:
        """Return each reason with its weight and its finding."""
        return [_part(signal, blind=blind) for signal in self.signals]


def _part(signal: Signal, *, blind: bool) -> str:
    reason = REASONS[signal.reason]
    if blind and signal.reason in BY_AUDITORS:
        return f"{ANOTHER_OPINION} {signal.points}"
    return f"{reason.title} {signal.points} ({signal.words})"


def ranked(
    statements: Sequence[str], signals: Iterable[tuple[str, Signal]]
) -> tuple[RankedStatement, ...]:
    """Return the statements that a reason applies to, the highest score first.

    Parameters
    ----------
    statements : refs in the instrument's order, to which signals about others do not belong
    signals : (ref, signal), of which those of one reason are put together
    """
    signals_by_ref: dict[str, dict[str, list[Signal]]] = {}
    for ref, signal in signals:
        signals_by_ref.setdefault(ref, {}).setdefault(signal.reason, []).append(signal)
    items = [
        RankedStatement(
            ref,
            tuple(
                _together(signals_by_ref[ref][key]) for key in REASONS if key in signals_by_ref[ref]
            ),
        )
        for ref in statements
        if ref in signals_by_ref
    ]
    return tuple(sorted(items, key=lambda item: (-item.score, -item.size)))


def _together(signals: Sequence[Signal]) -> Signal:
    if len(signals) == 1:
        return signals[0]
    variants = (
        ()
        if any(not signal.variants for signal in signals)
        else tuple(variant for signal in signals for variant in signal.variants)
    )
    words = "; ".join(dict.fromkeys(signal.words for signal in signals))
    answers = dict.fromkeys(answer for signal in signals for answer in signal.answers)
    prompts = {
        prompt: words_of_prompt
        for signal in signals
        for prompt, words_of_prompt in zip(
            signal.prompts, signal.prompt_words or repeat(""), strict=False
        )
    }
    return Signal(
        signals[0].reason,
        words,
        tuple(dict.fromkeys(variants)),
        tuple(answers),
        tuple(prompts),
        tuple(prompts.values()),
        sum(signal.size for signal in signals),
    )


@dataclass(frozen=True, slots=True)
class ControlItem:
    """A distinct answer to a prompt, drawn once or several times."""

    ref: str
    stratum: str
    prompt: bytes
    text: bytes
    "content keys, which with that of the prompt name an answer in every store"
    label: str | None
    "the reading at the draw, or None if it was unreadable"
    answers: int
    "number of times that it was given"
    places: tuple[int, ...]
    """positions of its drawn answers in the random order of all drawn answers

    It has several if it was drawn several times.
    """
    words: str = ""
    "its text, cut, with the wording and the template that it answers, as the store has them now"


@dataclass(frozen=True, slots=True)
class DrawnStratum:
    """A stratum at the draw."""

    size: int
    "number of answers in all, N"
    drawn: int
    """number of the drawn answers, n

    The probability of inclusion is n / N.
    """

    @property
    def inclusion(self) -> float:
        return self.drawn / self.size


@dataclass(frozen=True, slots=True)
class ControlSample:
    """A draw."""

    uid: bytes
    run: Mapping[str, str]
    "names of the run in every store"
    reader: ReaderCard
    "reader whose readings are controlled"
    seed: int
    strata: Mapping[str, DrawnStratum]
    drawn_by: str
    "an empty string if it is not known"
    at: str
    items: tuple[ControlItem, ...]
    "items in the order in which they are looked at"
