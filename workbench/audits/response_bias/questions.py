"""What the tables of response biases are made of: the reports of all ways of asking, and the
questions, forms and answers below a cell, which are read when somebody looks at them.
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
    Kind,
    Place,
    Table,
    kind_name,
    kind_said,
    middle,
    place_order,
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
from workbench.audits.response_bias.reading import Subject
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
from workbench.evidence.refusals import Refusals
from workbench.evidence.rulings import NO_RULINGS, as_ruled
from workbench.evidence.runs import plain_run
from workbench.readers.rules import letter_of, spelled
from workbench.stats.arrays import FloatArray


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
    over_draws: int
    """draws of the perturbation that the change is a mean over; 1 of the bias itself, 0 where the
    question takes no part"""


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
    truncated: int
    "answers that were cut off in thought, and drawn again like invalid ones"
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
    draws: tuple[int, ...]
    "numbers of the draws of the perturbation in which the question was asked"
    original: ArmShown
    changed: ArmShown
    shares: tuple[float, ...]
    "human shares of the original's options; empty where nobody was asked"


@dataclass(frozen=True, slots=True)
class AnswerShown:
    """One distinct answer of one draw, or one of the likeliest next tokens, with where it comes
    from.
    """

    text: str
    letter: str
    "that is read from it; empty where it names none"
    count: int | None
    "None for a token"
    probability: float
    "of a token; NaN for an answer that was drawn"
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
    "of a ruled answer, the letter that the rule reads"


@dataclass(frozen=True, slots=True)
class FormShown:
    """One form as it was put, and what came of it."""

    shown: ArmShown
    made_by: str | None
    "how its text came about: `workbench key_typo, seed 1, draw 1`; None where that is not known"
    messages: tuple[Message, ...]
    "the prompt; empty where the answers were imported, because nobody says how they were asked"
    answers: tuple[AnswerShown, ...]
    at: str = ""
    "when its probabilities were computed; empty where answers were drawn"
    code_version: str = ""
    "that computed its probabilities"


NOT_ASKED = "not asked in both forms"


@dataclass(frozen=True, slots=True, eq=False)
class _MeasuredTable:
    """A table with what is computed for all of its questions at once."""

    table: Table
    entropies: FloatArray
    "(K, 2)"
    valid: FloatArray
    "(K, 2) share of valid answers among all that were drawn"

    @classmethod
    def of(cls, table: Table) -> _MeasuredTable:
        return cls(table, entropies(table), valid_shares(table))


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """A question in a table."""

    measured: _MeasuredTable
    row: int

    @property
    def table(self) -> Table:
        return self.measured.table


def questions(judged: ResponseBiasJudged, name: str, place: Place) -> tuple[QuestionRow, ...]:
    """Return the questions of a cell, the largest |delta| first, those that take no part last.

    Raises UnknownName for a subject or cell that is not there.
    """
    subject, found = _cell(judged, name, place)
    said = _Said.of(found)
    rows = [_row(judged, said, at) for at in _tabled(subject, found, place).values()]
    return tuple(sorted(rows, key=lambda row: (row.delta != row.delta, -abs(row.delta), row.key)))


def question(
    store: Store,
    judged: ResponseBiasJudged,
    name: str,
    place: Place,
    key: str,
    draw: int | None = None,
) -> QuestionShown:
    """Return one question with the answers to both of its forms. Raises UnknownName for one that is
    not there.

    `draw`: of the perturbation; None: the first in which it was asked.
    """
    subject, found = _cell(judged, name, place)
    tables = [t for t in _tables(subject, found, place) if key in t.keys]
    if not tables:
        raise UnknownName(
            f"{subject.name} was not asked {key!r} under {' '.join(filter(None, map(str, place)))}"
        )
    at = next((t for t in tables if draw in (None, t.draw)), None)
    if at is None:
        there = ", ".join(str(t.draw) for t in tables)
        raise UnknownName(f"{key!r} has no draw {draw}. Available: {there}")
    here = _Found(_MeasuredTable.of(at), at.keys.index(key))
    pair = judged.pairs.get((at.bias, at.variant, key))
    return QuestionShown(
        subject=subject.name,
        row=_row(judged, _Said.of(found), here),
        bias=place[0],
        condition=place[1],
        variant=place[2],
        draw=at.draw,
        draws=tuple(t.draw for t in tables),
        original=_arm(store, judged, subject, here, 0),
        changed=_arm(store, judged, subject, here, 1),
        shares=pair.shares if pair is not None else (),
    )


def draws_of(judged: ResponseBiasJudged, name: str, place: Place, key: str) -> tuple[int, ...]:
    """Return the draws of a perturbation in which a question was asked; (1,) of the bias itself, ()
    where it was not.

    Raises UnknownName for a subject or cell that is not there.
    """
    subject, found = _cell(judged, name, place)
    return tuple(t.draw for t in _tables(subject, found, place) if key in t.keys)


def _cell(judged: ResponseBiasJudged, name: str, place: Place) -> tuple[Subject, Deltas]:
    full = judged.name(name)
    return judged.subjects[full], judged.reports[full].cell(*place).deltas


def _tables(subject: Subject, found: Deltas, place: Place) -> list[Table]:
    """Return the tables behind a cell, by draw: opinion floating under a perturbation may have
    those of odd/even.
    """
    _, condition, variant = place
    asked = (found.source, condition, variant)
    those = [t for t in subject.tables if (t.bias, t.condition, t.variant) == asked]
    return sorted(those, key=lambda table: table.draw)


def _tabled(subject: Subject, found: Deltas, place: Place) -> dict[str, _Found]:
    """Return each question of a cell in the first table that has it."""
    measured = [_MeasuredTable.of(table) for table in reversed(_tables(subject, found, place))]
    return {key: _Found(one, row) for one in measured for row, key in enumerate(one.table.keys)}


@dataclass(frozen=True, slots=True)
class _Said:
    """What a cell says of its questions, by key."""

    values: Mapping[str, float]
    "of those that take part"
    draws: Mapping[str, int]
    reasons: Mapping[str, str]
    "of the others"

    @classmethod
    def of(cls, found: Deltas) -> _Said:
        values = dict(zip(found.keys, map(float, found.values), strict=True))
        draws = dict(zip(found.keys, map(int, found.draws), strict=True))
        return cls(values, draws, {one.key: one.reason for one in found.left_out})


def _row(judged: ResponseBiasJudged, said: _Said, at: _Found) -> QuestionRow:
    key = at.table.keys[at.row]
    pair = judged.pairs.get((at.table.bias, at.table.variant, key))
    shares = at.measured.valid[at.row]
    return QuestionRow(
        key=key,
        ref=judged.refs.get((at.table.bias, at.table.variant, key), "") if pair is not None else "",
        topic=(pair.topic or "") if pair is not None else "",
        stem=pair.original.stem if pair is not None else "",
        delta=said.values.get(key, float("nan")) + 0.0,
        left_out="" if key in said.values else said.reasons.get(key, NOT_ASKED),
        entropy=float(at.measured.entropies[at.row, 0]),
        valid=(float(shares[0]), float(shares[1])),
        over_draws=said.draws.get(key, 0),
    )


def _arm(
    store: Store, judged: ResponseBiasJudged, subject: Subject, at: _Found, arm: int
) -> ArmShown:
    table, key = at.table, at.table.keys[at.row]
    offered = int(table.offered[at.row, arm])
    variant = _variant(table, arm)
    ref = judged.refs.get((table.bias, table.variant, key), "")
    probe = subject.probes.get((ref, variant))
    choice = _text(store, judged, subject, ref, variant)
    masses = subject.masses.get(probe, {}) if probe is not None else {}
    counts = valid_answers(table)[at.row, arm]
    valid = float(counts.sum())
    origins = [_origin(table, at.row, arm, place) for place in range(offered)]
    options = tuple(
        OptionShown(
            letter=LETTERS[place],
            original=LETTERS[origin]
            if origin < int(table.offered[at.row, 0]) and _same_options(table, arm)
            else "",
            text=choice.options[place]
            if choice is not None and place < len(choice.options)
            else "",
            count=float(counts[origin]) if subject.way != "exact" else float("nan"),
            share=float(counts[origin]) / valid if valid > 0 else float("nan"),
            probability=masses.get(LETTERS[place], 0.0) if subject.way == "exact" else float("nan"),
        )
        for place, origin in enumerate(origins)
    )
    answers = _answers(subject, table, key, arm)
    return ArmShown(
        arm=ARMS[arm],
        choice=choice,
        options=options,
        others=_others(answers, table, at.row, arm),
        invalid=answers.invalid + answers.counts.get("", 0) if answers is not None else 0,
        valid=valid,
        truncated=answers.truncated if answers is not None else 0,
        drawn=float(sum(answers.counts.values()) + answers.invalid + answers.truncated)
        if answers is not None
        else float("nan"),
        entropy=float(at.measured.entropies[at.row, arm]),
        probe=probe,
    )


def _origin(table: Table, row: int, arm: int, place: int) -> int:
    """Return the place in the original of an option that is offered at some place of a form."""
    if arm == 0 or table.condition is not None:
        return place
    options, left = (int(n) for n in table.offered[row])
    if table.bias is Bias.RESPONSE_ORDER:
        return options - 1 - place
    if table.bias is Bias.ODD_EVEN and options % 2 == 1 and left == options - 1:
        return place + (place >= int(middle(table.offered[row, 0])))
    return place


def _same_options(table: Table, arm: int) -> bool:
    """Return whether the options of a form are those of the original: others ask for yes or no, or
    the opposite.
    """
    return (
        arm == 0
        or table.condition is not None
        or table.bias not in (Bias.ACQUIESCENCE, Bias.ALLOW_FORBID)
    )


def _answers(subject: Subject, table: Table, key: str, arm: int) -> ArmAnswers | None:
    found: AnswerSet | None = subject.sets.get(
        (table.bias, table.condition, table.variant, table.draw)
    )
    pair = next((one for one in found.pairs if one.key == key), None) if found is not None else None
    return None if pair is None else (pair.original, pair.changed)[arm]


def _others(
    answers: ArmAnswers | None, table: Table, row: int, arm: int
) -> tuple[tuple[str, int], ...]:
    """Return letters that were answered and not offered. A form without its middle option may have
    answers by the letters of the original.
    """
    if answers is None:
        return ()
    offered = LETTERS[: answers.offered]
    if arm == 1 and bool(table.named_as_original[row]) and answers.recorded == answers.offered:
        kept = {LETTERS[_origin(table, row, arm, place)] for place in range(answers.offered)}
        offered = (
            "".join(sorted(kept))
            if any(letter not in offered for letter in answers.counts)
            else offered
        )
    return tuple(
        (letter, n)
        for letter, n in sorted(answers.counts.items())
        if letter and letter not in offered
    )


def _variant(table: Table, arm: int) -> str:
    if arm == 0:
        return str(ORIGINAL)
    return str(
        CHANGED if table.condition is None else VariantId(KIND_OF[table.condition], table.draw)
    )


def _text(
    store: Store, judged: ResponseBiasJudged, subject: Subject, ref: str, variant: str
) -> Choice | None:
    """Return the question as it was asked: of imported answers as the instrument has it now."""
    texts = _texts(store, judged, subject)
    found = parse_choice(texts[ref, variant]) if (ref, variant) in texts else None
    return found if isinstance(found, Choice) else None


def _texts(
    store: Store, judged: ResponseBiasJudged, subject: Subject
) -> Mapping[tuple[str, str], str]:
    run, language = subject.run, judged.instrument.language
    statements = (
        judged.instrument.statements if run is None else store.runs.instrument(run).statements
    )
    wanted = language if run is None else run.language
    return {
        (s.ref, str(w.variant)): w.text
        for s in statements
        for w in s.wordings
        if w.language == wanted
    }


@dataclass(frozen=True, eq=False)
class Changes:
    """The reports of all ways of asking, or of some."""

    judged: ResponseBiasJudged
    opened: Opened
    only: tuple[str, ...] = ()
    "names of reports; empty: all"

    def of(self, *names: str) -> Changes:
        """Return the changes of some reports alone. Raises UnknownName for one that is not
        there.
        """
        if unknown := [name for name in names if name not in self.judged.subjects]:
            there = ", ".join(self.judged.subjects)
            raise UnknownName(
                f"there is no model {', '.join(map(repr, unknown))}. Available: {there}"
            )
        return replace(self, only=names)

    @property
    def instrument(self) -> str:
        return self.judged.instrument.name

    @property
    def options(self) -> ChangeOptions:
        return self.judged.options

    @property
    def subjects(self) -> Mapping[str, Subject]:
        return self._mine(self.judged.subjects)

    @property
    def reports(self) -> Mapping[str, ChangeReport]:
        return self._mine(self.judged.reports)

    @property
    def validity(self) -> Mapping[str, ValidShares]:
        return self._mine(self.judged.validity)

    @property
    def people(self) -> Mapping[str, Representativeness]:
        return self._mine(self.judged.people)

    @property
    def refusals(self) -> Sequence[Refusals]:
        return list(self.judged.refusals.values())

    @property
    def notes(self) -> Sequence[str]:
        ruled = tuple(self.judged.rulings.sentences())
        return [note for note in self.judged.notes if note not in ruled]

    @cached_property
    def every_kind(self) -> tuple[Kind, ...]:
        """The biases that somebody was asked, in the order of a report."""
        found = {cell.place for report in self.judged.reports.values() for cell in report.cells}
        return tuple(
            dict.fromkeys((bias, variant) for bias, _, variant in sorted(found, key=place_order))
        )

    @property
    def words(self) -> Mapping[str, str]:
        """What is painted for the name of a bias."""
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
        """Reports with a persona whose baseline is among the reports."""
        runs = {name: one.run for name, one in self.judged.subjects.items() if one.run}
        return with_personas(runs, lambda name: self.judged.subjects[name].template)

    def likeness(self, name: str) -> tuple[HumanLikeness, ...]:
        return self.reports[name].likeness

    def questions(self, name: str, place: Place) -> Sequence[QuestionRow]:
        return questions(self.judged, name, place)

    def question(self, name: str, place: Place, key: str, draw: int | None = None) -> QuestionShown:
        with self.opened() as store:
            return question(store, self.judged, name, place, key, draw)

    def forms(self, found: QuestionShown) -> Sequence[FormShown]:
        with self.opened() as store:
            return [
                _form(store, self.judged, found, arm) for arm in (found.original, found.changed)
            ]

    def compared(self, first: str, second: str) -> ReportsCompared:
        return judging.compared(self.judged, first, second)

    def sampling(self, first: str, second: str) -> Mapping[Place, SamplingAgreement]:
        return judging.sampling_agreements(self.judged, first, second)

    def _mine(self, every: Mapping[str, Any]) -> dict[str, Any]:
        return {name: one for name, one in every.items() if not self.only or name in self.only}


def about_subject(store: Store, subject: Subject) -> dict[str, Any]:
    """Return how a subject was asked, for programs: of samples with the seeds of the jobs that
    asked.
    """
    run = subject.run
    found: dict[str, Any] = {
        "model": subject.model,
        "way": subject.way,
        "template": subject.template or None,
    }
    if run is None:
        return found | {"run": None}
    names = ("seed", "samples", "tries")
    plain = plain_run(run)
    return found | {
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
    store: Store, judged: ResponseBiasJudged, found: QuestionShown, arm: ArmShown
) -> FormShown:
    """Return one form with its prompt, and with every answer as it was drawn or the likeliest next
    tokens.
    """
    subject, made_by = judged.subjects[found.subject], _made_by(judged, found, arm)
    run, probe = subject.run, arm.probe
    if run is None or probe is None:
        return FormShown(arm, made_by, (), ())
    messages = store.runs.prompt(probe).messages
    if subject.way != "exact":
        rulings = (
            source_of(store, [run], judged.which.readings).rulings(run)
            if judged.rulings.counted
            else NO_RULINGS
        )
        drawn = (
            replace(row, label=letter_of(row.text)) for row in store.runs.responses(run, probe, ())
        )
        answers = tuple(_drawn(as_ruled(row, probe, rulings)) for row in drawn)
        return FormShown(arm, made_by, messages, answers)
    scored = store.scores.of_probe(run, probe)
    if scored is None:
        return FormShown(arm, made_by, messages, ())
    origin = {name: getattr(scored, name) for name in ("at", "job", "code_version", "template")}
    tokens = scored.table.tokens if scored.table is not None else ()
    likely = tuple(
        AnswerShown(text, spelled(text), None, math.exp(log), **origin) for text, log in tokens
    )
    return FormShown(arm, made_by, messages, likely, scored.at, scored.code_version)


def _drawn(row: ResponseRow) -> AnswerShown:
    names = ("thinking", "truncated", "seed", "at", "job", "code_version", "template", "ruled")
    origin = {name: getattr(row, name) for name in names}
    return AnswerShown(
        row.text, row.label or "", row.count, math.nan, unruled=row.unruled or "", **origin
    )


def _made_by(judged: ResponseBiasJudged, found: QuestionShown, arm: ArmShown) -> str | None:
    """Return how a form's text came about, `workbench key_typo, seed 1, draw 1`; None where that is
    not known, or the instrument has another text now.
    """
    variant = ORIGINAL if arm.arm is Arm.ORIGINAL else CHANGED
    if found.condition is not None and arm.arm is Arm.CHANGED:
        variant = VariantId(KIND_OF[found.condition], found.draw)
    statement = next(
        (one for one in judged.instrument.statements if one.ref == found.row.ref), None
    )
    wording = (
        statement.wording(variant, judged.instrument.language) if statement is not None else None
    )
    same = (
        wording is not None and arm.choice is not None and parse_choice(wording.text) == arm.choice
    )
    return wording.author if wording is not None and same else None
