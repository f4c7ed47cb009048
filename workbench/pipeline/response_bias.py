"""Stored and imported answers to multiple-choice questions ─judge→ response biases of every model.

A *subject* is one way in which one model was asked: by samples, by exact probabilities, under another template, or
answers that somebody else published. Subjects are never pooled; each has a report of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from stores.runs import Run
from stores.store import Store
from workbench.audits.response_bias_compare import Comparison
from workbench.audits.response_bias_figures import Options, Report
from workbench.audits.response_bias_people import Representativeness
from workbench.audits.response_bias_table import Table
from workbench.audits.response_bias_uncertainty import ValidShares
from workbench.domain.choices import AnswerSet, Arm, Bias, Choice, ChoiceItem, ChoicePair, Perturbation
from workbench.domain.instruments import Instrument

AUDIT = "response_bias"

Way = Literal["samples", "exact", "imported"]
Place = tuple[Bias, Perturbation | None, str]
"bias, condition (None: the bias itself) and variant: what names a cell of a report"


@dataclass(frozen=True, slots=True)
class ResponseBiasChoice:
    """What is looked at, and how."""

    instrument: str = ""
    "empty: the only one with answers"
    models: tuple[str, ...] = ()
    "names of models or of subjects; empty: all"
    options: Options = field(default_factory=Options)


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """One way in which one model was asked."""

    name: str
    "unique: the model's, with as much more as tells several subjects of it apart: `smollm2 · exact`"
    model: str
    way: Way
    template: str
    "empty for imported answers: nobody says how they were asked"
    run: Run | None
    "None for imported answers"
    tables: tuple[Table, ...]
    "one for each bias, condition and draw"
    sets: Mapping[tuple[Bias, Perturbation | None, str, int], AnswerSet]
    "(bias, condition, variant, draw) -> the answers by the letters that were offered; of exact subjects none"
    probes: Mapping[tuple[str, str], int]
    "(ref, variant of the wording) -> rowid of the probe; empty for imported answers"
    short: tuple[str, ...] = ()
    "prompts, as `ref variant`, with fewer valid answers than were wanted, after all tries"
    wanted: int = 0
    "valid answers that were asked for of each prompt; 0 where that has no meaning"


@dataclass(frozen=True, slots=True, eq=False)
class ResponseBiasJudged:
    """The reports of all subjects, and what they rest on."""

    choice: ResponseBiasChoice
    instrument: Instrument
    pairs: Mapping[tuple[Bias, str, str], ChoicePair]
    "(bias, variant, key) -> the question with its forms; without those whose texts are not known"
    items: Mapping[str, ChoiceItem]
    subjects: Mapping[str, Subject]
    reports: Mapping[str, Report]
    validity: Mapping[str, ValidShares]
    "by subject: how often answers were offered letters"
    people: Mapping[str, Representativeness]
    "by subject, where human shares are known of at least one question"
    notes: tuple[str, ...]
    "what a reader of the figures should know, in sentences"

    def name(self, model: str) -> str:
        """Return the subject that a name means: its own, or a model's that has one.

        Raises UnknownName, AmbiguousRun.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """One question of a cell."""

    key: str
    ref: str
    "of its statement; empty where its text is not known"
    topic: str
    stem: str
    "empty where its text is not known"
    delta: float
    "percentage points, by the definition; NaN where the question takes no part"
    left_out: str
    "why it takes no part; empty where it does"
    entropy: float
    "normalised, of the answers to the original, 0 to 1"
    valid: tuple[float, float]
    "share of valid answers among all that were drawn, to the original and the changed form"


@dataclass(frozen=True, slots=True)
class OptionShown:
    """One option of one form."""

    letter: str
    "as it was offered"
    original: str
    "letter of the same option in the original; empty where the original has none such"
    text: str
    "empty where it is not known"
    count: float
    "answers; NaN for exact probabilities"
    share: float
    "of the valid answers; NaN where there is none"
    probability: float
    "of the letter as the next token; NaN where answers were drawn"


@dataclass(frozen=True, slots=True)
class ArmShown:
    """One form of a question with its answers."""

    arm: Arm
    choice: Choice | None
    "None where its text is not known"
    options: tuple[OptionShown, ...]
    "in the order in which they were offered"
    others: tuple[tuple[str, int], ...]
    "letters that were not offered, with how often they were answered"
    invalid: int
    "answers without an offered letter, which were drawn again"
    valid: float
    "answers that count; 1 for exact probabilities"
    drawn: float
    "all answers; NaN for exact probabilities"
    entropy: float
    probe: int | None
    "rowid; None for imported answers"


@dataclass(frozen=True, slots=True)
class QuestionShown:
    """Both forms of a question side by side."""

    subject: str
    row: QuestionRow
    bias: Bias
    condition: Perturbation | None
    variant: str
    draw: int
    draws: int
    "how many draws of the perturbation were asked"
    original: ArmShown
    changed: ArmShown
    shares: tuple[float, ...]
    "human shares of the original's options; empty where nobody was asked"


def response_bias(store: Store, choice: ResponseBiasChoice | None = None) -> ResponseBiasJudged:
    """Return the response biases of the chosen subjects.

    Raises UnknownName for a model or instrument without answers, UsageError where several instruments have some and
    none is named.
    """
    raise NotImplementedError


def instruments_with_answers(store: Store) -> tuple[str, ...]:
    """Return the instruments of which models answered multiple-choice questions, here or elsewhere."""
    raise NotImplementedError


def questions(judged: ResponseBiasJudged, name: str, place: Place) -> tuple[QuestionRow, ...]:
    """Return the questions of a cell, the largest |delta| first, those that take no part last."""
    raise NotImplementedError


def question(
    store: Store, judged: ResponseBiasJudged, name: str, place: Place, key: str, draw: int = 1
) -> QuestionShown:
    """Return one question with the answers to both of its forms. Raises UnknownName for one that is not there."""
    raise NotImplementedError


def compared(judged: ResponseBiasJudged, first: str, second: str) -> Comparison:
    """Return how two subjects compare, bias by bias, paired over questions."""
    raise NotImplementedError
