"""The data behind the tables of response biases: reports, questions, forms and answers.

There are reports of all ways of asking. The questions, forms and answers below a cell are read when
somebody opens them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from stores.core.store import Store
from stores.runs.run_rows import ResponseRow
from workbench.audits.audit import Opened
from workbench.audits.by_persona import WithPersona, with_personas
from workbench.audits.response_bias import judged as judging
from workbench.audits.response_bias.answers import (
    ARMS,
    ChoiceTable,
    Kind,
    Place,
    kind_name,
    kind_said,
    middle,
    place_order,
    place_said,
    valid_answers,
    valid_shares,
)
from workbench.audits.response_bias.changes import (
    Deltas,
    Representativeness,
    ValidShares,
    entropies,
)
from workbench.audits.response_bias.judged import ResponseBiasJudged
from workbench.audits.response_bias.options import ChangeOptions
from workbench.audits.response_bias.reading import AskedSubject
from workbench.audits.response_bias.score import (
    ChangeCell,
    ChangeReport,
    HumanLikeness,
    ReportsCompared,
    SamplingAgreement,
)
from workbench.domain.choices import (
    LETTERS,
    AnswerSet,
    Arm,
    ArmAnswers,
    Bias,
    Choice,
    Perturbation,
    parse_choice,
)
from workbench.domain.instruments import KIND_OF
from workbench.domain.prompts import Message
from workbench.domain.responses import EXACT
from workbench.domain.statements import CHANGED, ORIGINAL, VariantId
from workbench.errors import UnknownName
from workbench.evidence.readings import source_of
from workbench.evidence.refusals import ModelRefusals
from workbench.evidence.rulings import NO_RULINGS, as_ruled
from workbench.evidence.runs import plain_run
from workbench.readers.rules import letter_of, spelled
from workbench.stats.arrays import FloatArray


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """One question of a cell."""

    key: str
    ref: str
    "ref of its statement; empty if its text is unknown"
    topic: str
    stem: str
    "empty if its text is unknown"
    delta: float
    "percentage points, by the definition; NaN if the question does not count"
    left_out: str
    "the reason why it does not count; empty if it does"
    entropy: float
    "normalised entropy of the answers to the original, 0 to 1"
    valid: tuple[float, float]
    "share of valid answers among all that were drawn, to the original and the changed form"
    over_draws: int
    """number of draws of the perturbation over which the change is a mean; 1 for the bias itself, 0
    if the question does not count"""


@dataclass(frozen=True, slots=True)
class OptionRow:
    """One option of one form, with its answers."""

    letter: str
    "the letter as it was offered"
    original: str
    "letter of the same option in the original; empty if the original has no such option"
    text: str
    "empty if it is unknown"
    count: float
    "number of answers; NaN for exact probabilities"
    share: float
    "share of the valid answers; NaN without any"
    probability: float
    "probability of the letter as the next token; NaN if answers were drawn"


@dataclass(frozen=True, slots=True)
class ArmView:
    """One form of a question with its answers."""

    arm: Arm
    choice: Choice | None
    "None if its text is unknown"
    options: tuple[OptionRow, ...]
    "in the order in which they were offered"
    others: tuple[tuple[str, int], ...]
    "letters that were not offered, with the number of their answers"
    invalid: int
    "answers without an offered letter, which were drawn again"
    truncated: int
    "answers that were cut off in thought, and drawn again like invalid ones"
    valid: float
    "number of answers that count; 1 for exact probabilities"
    drawn: float
    "number of all answers; NaN for exact probabilities"
    entropy: float
    probe: int | None
    "rowid; None for imported answers"


@dataclass(frozen=True, slots=True)
class QuestionView:
    """Both forms of a question side by side."""

    subject: str
    row: QuestionRow
    bias: Bias
    condition: Perturbation | None
    variant: str
    draw: int
    draws: tuple[int, ...]
    "numbers of the draws of the perturbation in which the question was asked"
    original: ArmView
    changed: ArmView
    shares: tuple[float, ...]
    "human shares of the original's options; empty if nobody was asked"


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One distinct answer of one draw, or one of the likeliest next tokens, with its origin."""

    text: str
    letter: str
    "the letter that is read from it; empty if it names none"
    count: int | None
    "None for a token"
    probability: float
    "probability of a token; NaN for an answer that was drawn"
    thinking: str = ""
    truncated: bool = False
    "whether the output ends within the thought"
    seed: int | None = None
    at: str = ""
    job: int | None = None
    code_version: str = ""
    template: str = ""
    ruled: str = ""
    "effect of an auditor's ruling: `read anew`, `left out`; empty: none"
    unruled: str = ""
    "the letter that the rule reads, if a ruling changed it"


@dataclass(frozen=True, slots=True)
class FormView:
    """One form as it was presented, with its answers."""

    shown: ArmView
    made_by: str | None
    "origin of its text, as in `workbench key_typo, seed 1, draw 1`; None if it is unknown"
    messages: tuple[Message, ...]
    "the prompt; empty for imported answers, whose prompts are unknown"
    answers: tuple[AnswerRow, ...]
    at: str = ""
    "time at which its probabilities were computed; empty if answers were drawn"
    code_version: str = ""
    "version of the code that computed its probabilities"


NOT_ASKED = "not asked in both forms"


@dataclass(frozen=True, slots=True, eq=False)
class _MeasuredTable:
    """A table with the values that are computed for all of its questions at once."""

    table: ChoiceTable
    entropies: FloatArray
    "(K, 2)"
    valid: FloatArray
    "(K, 2) share of valid answers among all that were drawn"

    @classmethod
    def of(cls, table: ChoiceTable) -> _MeasuredTable:
        """Return a table with its entropies and valid shares."""
        return cls(table, entropies(table), valid_shares(table))


@dataclass(frozen=True, slots=True, eq=False)
class TableQuestion:
    """A question in a table."""

    measured: _MeasuredTable
    row: int

    @property
    def table(self) -> ChoiceTable:
        """The table of the question."""
        return self.measured.table


def questions(judged: ResponseBiasJudged, name: str, place: Place) -> tuple[QuestionRow, ...]:
    """Return the questions of a cell, the largest |delta| first, those that do not count last.

    Raises UnknownName for a subject or cell that does not exist.
    """
    subject, cell_deltas = _cell(judged, name, place)
    outcomes = CellOutcomes.of(cell_deltas)
    rows = [
        _row(judged, outcomes, found_question)
        for found_question in _tabled(subject, cell_deltas, place).values()
    ]
    return tuple(sorted(rows, key=lambda row: (row.delta != row.delta, -abs(row.delta), row.key)))


def question(
    store: Store,
    judged: ResponseBiasJudged,
    name: str,
    place: Place,
    key: str,
    draw: int | None = None,
) -> QuestionView:
    """Return one question with the answers to both of its forms.

    Raises UnknownName if it does not exist.

    Parameters
    ----------
    draw : number of the draw of the perturbation; None: the first in which it was asked
    """
    subject, cell_deltas = _cell(judged, name, place)
    tables = [table for table in _tables(subject, cell_deltas, place) if key in table.keys]
    if not tables:
        raise UnknownName(f"{subject.name} was not asked {key!r} under {place_said(*place)}")
    selected_table = next((table for table in tables if draw in (None, table.draw)), None)
    if selected_table is None:
        available = ", ".join(str(table.draw) for table in tables)
        raise UnknownName(f"{key!r} has no draw {draw}. Available: {available}")
    found_question = TableQuestion(
        _MeasuredTable.of(selected_table), selected_table.keys.index(key)
    )
    pair = judged.pairs.get((selected_table.bias, selected_table.variant, key))
    return QuestionView(
        subject=subject.name,
        row=_row(judged, CellOutcomes.of(cell_deltas), found_question),
        bias=place[0],
        condition=place[1],
        variant=place[2],
        draw=selected_table.draw,
        draws=tuple(table.draw for table in tables),
        original=_arm(store, judged, subject, found_question, 0),
        changed=_arm(store, judged, subject, found_question, 1),
        shares=pair.shares if pair is not None else (),
    )


def draws_of(judged: ResponseBiasJudged, name: str, place: Place, key: str) -> tuple[int, ...]:
    """Return the draws of a perturbation in which a question was asked.

    They are (1,) for the bias itself, () if the question was not asked. Raises UnknownName for a
    subject or cell that does not exist.
    """
    subject, cell_deltas = _cell(judged, name, place)
    return tuple(table.draw for table in _tables(subject, cell_deltas, place) if key in table.keys)


def _cell(judged: ResponseBiasJudged, name: str, place: Place) -> tuple[AskedSubject, Deltas]:
    """Return the subject with this name, and the deltas of one of its cells."""
    subject_name = judged.name(name)
    return judged.subjects[subject_name], judged.reports[subject_name].cell(*place).deltas


def _tables(subject: AskedSubject, deltas: Deltas, place: Place) -> list[ChoiceTable]:
    """Return the tables of answers that a cell is computed from, in the order of their draws.

    Opinion floating under a perturbation may have those of odd/even.
    """
    _, condition, variant = place
    table_place = (deltas.source, condition, variant)
    cell_tables = [
        table
        for table in subject.tables
        if (table.bias, table.condition, table.variant) == table_place
    ]
    return sorted(cell_tables, key=lambda table: table.draw)


def _tabled(subject: AskedSubject, deltas: Deltas, place: Place) -> dict[str, TableQuestion]:
    """Return each question of a cell, in the first table that has it."""
    measured = [_MeasuredTable.of(table) for table in reversed(_tables(subject, deltas, place))]
    return {
        key: TableQuestion(measured_table, row)
        for measured_table in measured
        for row, key in enumerate(measured_table.table.keys)
    }


@dataclass(frozen=True, slots=True)
class CellOutcomes:
    """The values and exclusions of the questions of a cell, by key."""

    values: Mapping[str, float]
    "of those that count"
    draws: Mapping[str, int]
    reasons: Mapping[str, str]
    "of the others"

    @classmethod
    def of(cls, deltas: Deltas) -> CellOutcomes:
        """Return the values and exclusions of the questions of a cell."""
        values = dict(zip(deltas.keys, map(float, deltas.values), strict=True))
        draws = dict(zip(deltas.keys, map(int, deltas.draws), strict=True))
        return cls(
            values, draws, {exclusion.key: exclusion.reason for exclusion in deltas.left_out}
        )


def _row(
    judged: ResponseBiasJudged, outcomes: CellOutcomes, place_of_question: TableQuestion
) -> QuestionRow:
    """Return the row of a question."""
    key = place_of_question.table.keys[place_of_question.row]
    pair = judged.pairs.get((place_of_question.table.bias, place_of_question.table.variant, key))
    shares = place_of_question.measured.valid[place_of_question.row]
    return QuestionRow(
        key=key,
        ref=judged.refs.get(
            (place_of_question.table.bias, place_of_question.table.variant, key), ""
        )
        if pair is not None
        else "",
        topic=(pair.topic or "") if pair is not None else "",
        stem=pair.original.stem if pair is not None else "",
        delta=outcomes.values.get(key, float("nan")) + 0.0,
        left_out="" if key in outcomes.values else outcomes.reasons.get(key, NOT_ASKED),
        entropy=float(place_of_question.measured.entropies[place_of_question.row, 0]),
        valid=(float(shares[0]), float(shares[1])),
        over_draws=outcomes.draws.get(key, 0),
    )


def _arm(
    store: Store,
    judged: ResponseBiasJudged,
    subject: AskedSubject,
    place_of_question: TableQuestion,
    arm: int,
) -> ArmView:
    """Return one form of a question with its answers."""
    table, key = place_of_question.table, place_of_question.table.keys[place_of_question.row]
    variant = _variant(table, arm)
    ref = judged.refs.get((table.bias, table.variant, key), "")
    probe = subject.probes.get((ref, variant))
    choice = _text(store, judged, subject, ref, variant)
    answers = _answers(subject, table, key, arm)
    invalid, truncated, drawn = 0, 0, float("nan")
    if answers is not None:
        invalid, truncated = answers.invalid + answers.counts.get("", 0), answers.truncated
        drawn = float(sum(answers.counts.values()) + answers.invalid + answers.truncated)
    return ArmView(
        arm=ARMS[arm],
        choice=choice,
        options=_option_rows(subject, place_of_question, arm, probe, choice),
        others=_others(answers, table, place_of_question.row, arm),
        invalid=invalid,
        valid=float(valid_answers(table)[place_of_question.row, arm].sum()),
        truncated=truncated,
        drawn=drawn,
        entropy=float(place_of_question.measured.entropies[place_of_question.row, arm]),
        probe=probe,
    )


def _option_rows(
    subject: AskedSubject,
    place_of_question: TableQuestion,
    arm: int,
    probe: int | None,
    choice: Choice | None,
) -> tuple[OptionRow, ...]:
    """Return the options of one form of a question, with their answers or probabilities."""
    table, nan = place_of_question.table, float("nan")
    counts = valid_answers(table)[place_of_question.row, arm]
    n_valid = float(counts.sum())
    n_original = int(table.offered[place_of_question.row, 0]) if _same_options(table, arm) else 0
    texts = choice.options if choice is not None else ()
    is_exact = subject.way == "exact"
    masses = subject.masses.get(probe, {}) if probe is not None else {}
    rows = []
    for index in range(int(table.offered[place_of_question.row, arm])):
        origin = _origin(table, place_of_question.row, arm, index)
        rows.append(
            OptionRow(
                letter=LETTERS[index],
                original=LETTERS[origin] if origin < n_original else "",
                text=texts[index] if index < len(texts) else "",
                count=nan if is_exact else float(counts[origin]),
                share=float(counts[origin]) / n_valid if n_valid > 0 else nan,
                probability=masses.get(LETTERS[index], 0.0) if is_exact else nan,
            )
        )
    return tuple(rows)


def _origin(table: ChoiceTable, row: int, arm: int, place: int) -> int:
    """Return the index in the original of an option with this index in a form."""
    if arm == 0 or table.condition is not None:
        return place
    options, n_changed = (int(number) for number in table.offered[row])
    if table.bias is Bias.RESPONSE_ORDER:
        return options - 1 - place
    if table.bias is Bias.ODD_EVEN and options % 2 == 1 and n_changed == options - 1:
        return place + (place >= int(middle(table.offered[row, 0])))
    return place


def _same_options(table: ChoiceTable, arm: int) -> bool:
    """Return whether the options of a form are those of the original.

    Other forms ask for yes or no, or the opposite.
    """
    return (
        arm == 0
        or table.condition is not None
        or table.bias not in (Bias.ACQUIESCENCE, Bias.ALLOW_FORBID)
    )


def _answers(subject: AskedSubject, table: ChoiceTable, key: str, arm: int) -> ArmAnswers | None:
    """Return the answers to one form of a question, or None for exact probabilities."""
    answer_set: AnswerSet | None = subject.sets.get(
        (table.bias, table.condition, table.variant, table.draw)
    )
    pair = (
        next((candidate for candidate in answer_set.pairs if candidate.key == key), None)
        if answer_set is not None
        else None
    )
    return None if pair is None else (pair.original, pair.changed)[arm]


def _others(
    answers: ArmAnswers | None, table: ChoiceTable, row: int, arm: int
) -> tuple[tuple[str, int], ...]:
    """Return the letters that were answered and not offered, with their numbers.

    A form without its middle option may have answers by the letters of the original.
    """
    if answers is None:
        return ()
    offered = LETTERS[: answers.offered]
    if arm == 1 and bool(table.named_as_original[row]) and answers.recorded == answers.offered:
        remaining_letters = {
            LETTERS[_origin(table, row, arm, index)] for index in range(answers.offered)
        }
        offered = (
            "".join(sorted(remaining_letters))
            if any(letter not in offered for letter in answers.counts)
            else offered
        )
    return tuple(
        (letter, number)
        for letter, number in sorted(answers.counts.items())
        if letter and letter not in offered
    )


def _variant(table: ChoiceTable, arm: int) -> str:
    """Return the variant of the wording of a form."""
    if arm == 0:
        return str(ORIGINAL)
    return str(
        CHANGED if table.condition is None else VariantId(KIND_OF[table.condition], table.draw)
    )


def _text(
    store: Store, judged: ResponseBiasJudged, subject: AskedSubject, ref: str, variant: str
) -> Choice | None:
    """Return the question as it was asked. For imported answers it is the current one."""
    texts = _texts(store, judged, subject)
    parsed = parse_choice(texts[ref, variant]) if (ref, variant) in texts else None
    return parsed if isinstance(parsed, Choice) else None


def _texts(
    store: Store, judged: ResponseBiasJudged, subject: AskedSubject
) -> Mapping[tuple[str, str], str]:
    """Return the texts of a subject's forms by ref and variant."""
    run, language = subject.run, judged.instrument.language
    statements = (
        judged.instrument.statements if run is None else store.runs.instrument(run).statements
    )
    asked_language = language if run is None else run.language
    return {
        (statement.ref, str(wording.variant)): wording.text
        for statement in statements
        for wording in statement.wordings
        if wording.language == asked_language
    }


@dataclass(frozen=True, eq=False)
class Changes:
    """The reports of all ways of asking, or of some."""

    judged: ResponseBiasJudged
    opened: Opened
    only: tuple[str, ...] = ()
    "names of reports; empty: all"

    def of(self, *names: str) -> Changes:
        """Return the changes of only some reports. Raises UnknownName for an unknown name."""
        if unknown := [name for name in names if name not in self.judged.subjects]:
            available = ", ".join(self.judged.subjects)
            raise UnknownName(
                f"there is no model {', '.join(map(repr, unknown))}. Available: {available}"
            )
        return replace(self, only=names)

    @property
    def instrument(self) -> str:
        """The name of the instrument."""
        return self.judged.instrument.name

    @property
    def options(self) -> ChangeOptions:
        return self.judged.options

    @property
    def subjects(self) -> Mapping[str, AskedSubject]:
        """The subjects of these reports by name."""
        return self._mine(self.judged.subjects)

    @property
    def reports(self) -> Mapping[str, ChangeReport]:
        """The reports by name."""
        return self._mine(self.judged.reports)

    @property
    def validity(self) -> Mapping[str, ValidShares]:
        """The valid shares by name."""
        return self._mine(self.judged.validity)

    @property
    def people(self) -> Mapping[str, Representativeness]:
        """The likeness to people by name."""
        return self._mine(self.judged.people)

    @property
    def refusals(self) -> Sequence[ModelRefusals]:
        """The refusals of all subjects."""
        return list(self.judged.refusals.values())

    @property
    def notes(self) -> Sequence[str]:
        """The notes for readers of the figures, without those on rulings."""
        ruling_notes = tuple(self.judged.rulings.sentences())
        return [note for note in self.judged.notes if note not in ruling_notes]

    @cached_property
    def every_kind(self) -> tuple[Kind, ...]:
        """The biases with answers, in the order of a report."""
        all_places = {
            cell.place for report in self.judged.reports.values() for cell in report.cells
        }
        return tuple(
            dict.fromkeys(
                (bias, variant) for bias, _, variant in sorted(all_places, key=place_order)
            )
        )

    @property
    def words(self) -> Mapping[str, str]:
        """The label of each bias by its name."""
        return {kind_name(*kind): kind_said(*kind) for kind in self.every_kind}

    @property
    def lines(self) -> list[tuple[str, ChangeCell]]:
        """All cells, each with the name of its report."""
        return [(name, cell) for name, report in self.reports.items() for cell in report.cells]

    @property
    def places(self) -> list[Place]:
        """The places of all cells, the perturbations of a bias after it."""
        return sorted({cell.place for _, cell in self.lines}, key=place_order)

    @cached_property
    def personas(self) -> Sequence[WithPersona]:
        """The reports with a persona whose baseline is among the reports."""
        runs = {name: subject.run for name, subject in self.judged.subjects.items() if subject.run}
        return with_personas(runs, lambda name: self.judged.subjects[name].template)

    def likeness(self, name: str) -> tuple[HumanLikeness, ...]:
        """Return the comparison with people of a report, by bias."""
        return self.reports[name].likeness

    def questions(self, name: str, place: Place) -> Sequence[QuestionRow]:
        """Return the questions of a cell."""
        return questions(self.judged, name, place)

    def question(self, name: str, place: Place, key: str, draw: int | None = None) -> QuestionView:
        """Return one question with the answers to both of its forms."""
        with self.opened() as store:
            return question(store, self.judged, name, place, key, draw)

    def forms(self, question_view: QuestionView) -> Sequence[FormView]:
        """Return both forms of a question as they were presented, with their answers."""
        with self.opened() as store:
            return [
                _form(store, self.judged, question_view, arm)
                for arm in (question_view.original, question_view.changed)
            ]

    def compared(self, first: str, second: str) -> ReportsCompared:
        """Return the comparison of two reports."""
        return judging.compared(self.judged, first, second)

    def sampling(self, first: str, second: str) -> Mapping[Place, SamplingAgreement]:
        """Return the agreement of sampled and exact answers by cell."""
        return judging.sampling_agreements(self.judged, first, second)

    def _mine(self, every: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of the selected reports."""
        return {name: value for name, value in every.items() if not self.only or name in self.only}


def about_subject(store: Store, subject: AskedSubject) -> dict[str, Any]:
    """Return how a subject was asked, for programs. Samples have the seeds of their jobs."""
    run = subject.run
    facts: dict[str, Any] = {
        "model": subject.model,
        "way": subject.way,
        "template": subject.template or None,
    }
    if run is None:
        return facts | {"run": None}
    names = ("seed", "samples", "tries")
    plain = plain_run(run)
    return facts | {
        "run": plain
        if run.sampling.mode != EXACT
        else plain | {"responses": 0, "scored": run.responses},
        "code_versions": store.predictions.code_versions(run),
        "designs": [
            {name: spec.get(name) for name in names} for spec in store.predictions.designs(run)
        ],
        "valid_answers_wanted": subject.wanted or None,
        "with_fewer": subject.short,
    }


def _form(
    store: Store, judged: ResponseBiasJudged, question_view: QuestionView, arm: ArmView
) -> FormView:
    """Return one form with its prompt, and with every answer or the likeliest next tokens."""
    subject, made_by = judged.subjects[question_view.subject], _made_by(judged, question_view, arm)
    run, probe = subject.run, arm.probe
    if run is None or probe is None:
        return FormView(arm, made_by, (), ())
    messages = store.runs.prompt(probe).messages
    if subject.way != "exact":
        rulings = (
            source_of(store, [run], judged.which.readings).rulings(run)
            if judged.rulings.counted
            else NO_RULINGS
        )
        rows = (
            replace(row, label=letter_of(row.text)) for row in store.runs.responses(run, probe, ())
        )
        answers = tuple(_drawn(as_ruled(row, probe, rulings)) for row in rows)
        return FormView(arm, made_by, messages, answers)
    scored = store.scores.of_probe(run, probe)
    if scored is None:
        return FormView(arm, made_by, messages, ())
    origin = {name: getattr(scored, name) for name in ("at", "job", "code_version", "template")}
    tokens = scored.table.tokens if scored.table is not None else ()
    likely = tuple(
        AnswerRow(text, spelled(text), None, math.exp(log_probability), **origin)
        for text, log_probability in tokens
    )
    return FormView(arm, made_by, messages, likely, scored.at, scored.code_version)


def _drawn(row: ResponseRow) -> AnswerRow:
    """Return a stored answer with its origin."""
    names = ("thinking", "truncated", "seed", "at", "job", "code_version", "template", "ruled")
    origin = {name: getattr(row, name) for name in names}
    return AnswerRow(
        row.text, row.label or "", row.count, math.nan, unruled=row.unruled or "", **origin
    )


def _made_by(judged: ResponseBiasJudged, question_view: QuestionView, arm: ArmView) -> str | None:
    """Return the origin of a form's text, as in `workbench key_typo, seed 1, draw 1`.

    It is None if it is unknown, or if the instrument has another text now.
    """
    variant = ORIGINAL if arm.arm is Arm.ORIGINAL else CHANGED
    if question_view.condition is not None and arm.arm is Arm.CHANGED:
        variant = VariantId(KIND_OF[question_view.condition], question_view.draw)
    statement = next(
        (
            candidate
            for candidate in judged.instrument.statements
            if candidate.ref == question_view.row.ref
        ),
        None,
    )
    wording = (
        statement.wording(variant, judged.instrument.language) if statement is not None else None
    )
    is_unchanged = (
        wording is not None and arm.choice is not None and parse_choice(wording.text) == arm.choice
    )
    return wording.author if wording is not None and is_unchanged else None
