"""From a cell of response biases down to its questions, and to the answers to both forms of one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stores.core.store import Store
from workbench.audits.response_bias.deltas import Deltas
from workbench.audits.response_bias.judged import Place, ResponseBiasJudged, Subject
from workbench.audits.response_bias.questions import ArmShown, OptionShown, QuestionRow, QuestionShown
from workbench.audits.response_bias.table import ARMS, Table, middle, valid_answers, valid_shares
from workbench.audits.response_bias.uncertainty import entropies
from workbench.domain.choice_statements import KIND_OF
from workbench.domain.choice_texts import parse_choice
from workbench.domain.choices import LETTERS, AnswerSet, ArmAnswers, Bias, Choice
from workbench.domain.statements import CHANGED, ORIGINAL, VariantId
from workbench.errors import UnknownName
from workbench.stats.arrays import FloatArray

NOT_ASKED = "not asked in both forms"


@dataclass(frozen=True, slots=True, eq=False)
class _Measured:
    """A table with what is computed for all of its questions at once."""

    table: Table
    entropies: FloatArray
    "(K, 2)"
    valid: FloatArray
    "(K, 2) share of valid answers among all that were drawn"

    @classmethod
    def of(cls, table: Table) -> _Measured:
        return cls(table, entropies(table), valid_shares(table))


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """A question in a table."""

    measured: _Measured
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
    store: Store, judged: ResponseBiasJudged, name: str, place: Place, key: str, draw: int | None = None
) -> QuestionShown:
    """Return one question with the answers to both of its forms. Raises UnknownName for one that is not there.

    `draw`: of the perturbation; None: the first in which it was asked.
    """
    subject, found = _cell(judged, name, place)
    tables = [t for t in _tables(subject, found, place) if key in t.keys]
    if not tables:
        raise UnknownName(f"{subject.name} was not asked {key!r} under {' '.join(filter(None, map(str, place)))}")
    at = next((t for t in tables if draw in (None, t.draw)), None)
    if at is None:
        there = ", ".join(str(t.draw) for t in tables)
        raise UnknownName(f"{key!r} has no draw {draw}. Available: {there}")
    here = _Found(_Measured.of(at), at.keys.index(key))
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
    """Return the draws of a perturbation in which a question was asked; (1,) of the bias itself, () where it was not.

    Raises UnknownName for a subject or cell that is not there.
    """
    subject, found = _cell(judged, name, place)
    return tuple(t.draw for t in _tables(subject, found, place) if key in t.keys)


def _cell(judged: ResponseBiasJudged, name: str, place: Place) -> tuple[Subject, Deltas]:
    full = judged.name(name)
    return judged.subjects[full], judged.reports[full].cell(*place).deltas


def _tables(subject: Subject, found: Deltas, place: Place) -> list[Table]:
    """Return the tables behind a cell, by draw: opinion floating under a perturbation may have those of odd/even."""
    _, condition, variant = place
    asked = (found.source, condition, variant)
    those = [t for t in subject.tables if (t.bias, t.condition, t.variant) == asked]
    return sorted(those, key=lambda table: table.draw)


def _tabled(subject: Subject, found: Deltas, place: Place) -> dict[str, _Found]:
    """Return each question of a cell in the first table that has it."""
    measured = [_Measured.of(table) for table in reversed(_tables(subject, found, place))]
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


def _arm(store: Store, judged: ResponseBiasJudged, subject: Subject, at: _Found, arm: int) -> ArmShown:
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
            original=LETTERS[origin] if origin < int(table.offered[at.row, 0]) and _same_options(table, arm) else "",
            text=choice.options[place] if choice is not None and place < len(choice.options) else "",
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
    """Return whether the options of a form are those of the original: others ask for yes or no, or the opposite."""
    return arm == 0 or table.condition is not None or table.bias not in (Bias.ACQUIESCENCE, Bias.ALLOW_FORBID)


def _answers(subject: Subject, table: Table, key: str, arm: int) -> ArmAnswers | None:
    found: AnswerSet | None = subject.sets.get((table.bias, table.condition, table.variant, table.draw))
    pair = next((one for one in found.pairs if one.key == key), None) if found is not None else None
    return None if pair is None else (pair.original, pair.changed)[arm]


def _others(answers: ArmAnswers | None, table: Table, row: int, arm: int) -> tuple[tuple[str, int], ...]:
    """Return letters that were answered and not offered. A form without its middle option may have answers by the
    letters of the original.
    """
    if answers is None:
        return ()
    offered = LETTERS[: answers.offered]
    if arm == 1 and bool(table.named_as_original[row]) and answers.recorded == answers.offered:
        kept = {LETTERS[_origin(table, row, arm, place)] for place in range(answers.offered)}
        offered = "".join(sorted(kept)) if any(letter not in offered for letter in answers.counts) else offered
    return tuple((letter, n) for letter, n in sorted(answers.counts.items()) if letter and letter not in offered)


def _variant(table: Table, arm: int) -> str:
    if arm == 0:
        return str(ORIGINAL)
    return str(CHANGED if table.condition is None else VariantId(KIND_OF[table.condition], table.draw))


def _text(store: Store, judged: ResponseBiasJudged, subject: Subject, ref: str, variant: str) -> Choice | None:
    """Return the question as it was asked: of imported answers as the instrument has it now."""
    texts = _texts(store, judged, subject)
    found = parse_choice(texts[ref, variant]) if (ref, variant) in texts else None
    return found if isinstance(found, Choice) else None


def _texts(store: Store, judged: ResponseBiasJudged, subject: Subject) -> Mapping[tuple[str, str], str]:
    run, language = subject.run, judged.instrument.language
    statements = judged.instrument.statements if run is None else store.runs.instrument(run).statements
    wanted = language if run is None else run.language
    return {(s.ref, str(w.variant)): w.text for s in statements for w in s.wordings if w.language == wanted}


__all__ = [
    "NOT_ASKED",
    "ArmShown",
    "OptionShown",
    "QuestionRow",
    "QuestionShown",
    "draws_of",
    "question",
    "questions",
]
