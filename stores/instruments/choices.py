"""Rows of multiple-choice questions and of answers that came with them ↔ values."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from operator import itemgetter

from stores.core.base import Aggregate, instrument_id_of, named, now, table
from stores.instruments.versions import read_statements
from workbench.domain.choices import (
    AnsweredPair,
    AnswerSet,
    Arm,
    ArmAnswers,
    Bias,
    ChoiceItem,
    Perturbation,
)
from workbench.domain.instruments import Instrument
from workbench.domain.statements import Statement
from workbench.errors import ConflictError

SetName = tuple[str, str, str, str, int]
"(model, bias, variant, condition, draw): the name of an answer set in its instrument"


def read_items(connection: sqlite3.Connection, instrument_id: int) -> dict[str, ChoiceItem]:
    """Return the multiple-choice data of current statements by ref, in the order of the
    statements.
    """
    rows = connection.execute(_ITEMS, {"instrument": instrument_id})
    return {
        ref: ChoiceItem(
            *(ref, key, Bias(bias), variant, None if middle is None else bool(middle)),
            *(tuple(json.loads(shares)), tuple(json.loads(warnings))),
        )
        for ref, key, bias, variant, middle, shares, warnings in rows
    }


def write_items(
    connection: sqlite3.Connection, instrument_id: int, items: Iterable[ChoiceItem]
) -> None:
    """Write the multiple-choice data of statements, replacing earlier data."""
    table(connection, "choice").upsert_all(
        asdict(item)
        | {
            "instrument_id": instrument_id,
            "shares": json.dumps(item.shares),
            "warnings": json.dumps(item.warnings),
        }
        for item in items
    )


def set_name(answers: AnswerSet) -> SetName:
    """Return the name of an answer set in its instrument."""
    return (
        answers.model,
        answers.bias.value,
        answers.variant,
        answers.condition or "",
        answers.draw,
    )


def read_answer_sets(connection: sqlite3.Connection, instrument_id: int) -> dict[int, AnswerSet]:
    """Return answer sets by rowid, in the order of import; their questions in the order of the
    source.
    """
    rows = named(connection, _COUNTS, {"instrument": instrument_id})
    return {
        rowid: _answer_set(list(counted)) for rowid, counted in groupby(rows, key=itemgetter("id"))
    }


def _answer_set(rows: Sequence[sqlite3.Row]) -> AnswerSet:
    """Return the set of these counts; the rows have the changed form of each question before the
    original.
    """
    row = rows[0]
    pairs = zip(rows[1::2], rows[::2], strict=True)
    return AnswerSet(
        row["model"],
        Bias(row["bias"]),
        Perturbation(row["condition"]) if row["condition"] else None,
        tuple(AnsweredPair(one["key"], _answers(one), _answers(changed)) for one, changed in pairs),
        draw=row["draw"],
        mapped_back=bool(row["mapped_back"]),
        variant=row["variant"],
        warnings=tuple(json.loads(row["warnings"])),
    )


def _answers(row: sqlite3.Row) -> ArmAnswers:
    return ArmAnswers(json.loads(row["counts"]), row["recorded"], row["offered"], row["invalid"])


def insert_answer_set(
    connection: sqlite3.Connection, instrument_id: int, answers: AnswerSet
) -> None:
    """Insert a new answer set."""
    named = dict(
        zip(("model", "bias", "variant", "condition", "draw"), set_name(answers), strict=True)
    )
    about = {
        "mapped_back": answers.mapped_back,
        "warnings": json.dumps(answers.warnings),
        "at": now(),
    }
    rowid = table(connection, "answer_set").add({"instrument_id": instrument_id, **named, **about})
    connection.executemany(
        "insert into answer_count (answer_set_id, ordinal, key, arm, counts, recorded, offered, "
        "invalid) "
        "values (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                rowid,
                ordinal,
                pair.key,
                arm.value,
                json.dumps(dict(one.counts)),
                one.recorded,
                one.offered,
                one.invalid,
            )
            for ordinal, pair in enumerate(answers.pairs)
            for arm, one in ((Arm.ORIGINAL, pair.original), (Arm.CHANGED, pair.changed))
        ),
    )


def write_about(connection: sqlite3.Connection, rowid: int, answers: AnswerSet) -> None:
    """Write a file's data about a set except its answers: the options that its questions offered,
    and warnings.
    """
    connection.execute(
        "update answer_set set warnings = ? where id = ?", (json.dumps(answers.warnings), rowid)
    )
    connection.executemany(
        "update answer_count set offered = ? where answer_set_id = ? and key = ? and arm = ?",
        (
            (one.offered, rowid, pair.key, arm.value)
            for pair in answers.pairs
            for arm, one in ((Arm.ORIGINAL, pair.original), (Arm.CHANGED, pair.changed))
        ),
    )


_ITEMS = """
    select c.ref, c.key, c.bias, c.variant, c.middle_removed, c.shares, c.warnings
    from choice c join statement s on s.instrument_id = c.instrument_id and s.ref = c.ref
        and s.current = 1
    where c.instrument_id = :instrument order by s.ordinal, s.version, s.id
"""

_COUNTS = """
    select a.id, a.model, a.bias, a.variant, a.condition, a.draw, a.mapped_back, a.warnings,
        n.key, n.counts, n.recorded, n.offered, n.invalid
    from answer_set a join answer_count n on n.answer_set_id = a.id
    where a.instrument_id = :instrument order by a.id, n.ordinal, n.arm
"""  # 'changed' before 'original'


SHOWN = 12
"most differences in a message"

Group = tuple[Bias, str]
"bias and its variant"


@dataclass(frozen=True, slots=True)
class AddedChoices:
    """The changes of an import of multiple-choice questions and answers."""

    questions: int
    "of the file"
    changed: int
    "questions whose key, bias, middle option or shares changed"
    answer_sets: int
    "new sets of answers: one per model, bias and condition"
    known: int
    "sets stored already"
    models: tuple[str, ...]
    "models of the file, in its order"
    answers: int = 0
    "number of answers in the new sets"
    without_text: int = 0
    "questions, counted once per bias, with answers in the file but without a statement here"


def put_choices(
    connection: sqlite3.Connection,
    instrument_id: int,
    items: Sequence[ChoiceItem],
    answers: Sequence[AnswerSet],
    statements: Mapping[str, int],
    *,
    part: bool = False,
) -> AddedChoices:
    """Merge a file's questions and answers with the stored ones. Call inside a transaction.

    `statements`: ref in the file -> rowid of the statement here, which may have been renamed.
    `part`: data of a question that the file lacks are kept. Raises ConflictError if a set is stored
    with other answers.
    """
    changed = put_items(connection, instrument_id, items, statements, part=part)
    new = put_answers(connection, instrument_id, answers)
    return AddedChoices(
        questions=len(items),
        changed=changed,
        answer_sets=len(new),
        known=len(answers) - len(new),
        models=tuple(dict.fromkeys(one.model for one in answers)),
        answers=sum(
            sum(form.counts.values())
            for one in new
            for pair in one.pairs
            for _, form in _forms(pair)
        ),
        without_text=_without_text(connection, instrument_id, answers),
    )


def beside_the_rest(
    connection: sqlite3.Connection, instrument_id: int, instrument: Instrument
) -> tuple[Statement, ...]:
    """Return the statements of a part, completed by stored statements of other biases and forms.

    Questions of a bias keep the position of that bias, those of a new bias come last.
    """
    values = {"instrument": instrument_id}
    here = read_statements(
        connection, "s.instrument_id = :instrument and s.current = 1", values, {}
    )
    items = read_items(connection, instrument_id)
    groups: dict[Group | None, list[Statement]] = {}
    group_of = {item.ref: (item.bias, item.variant) for item in instrument.choices}
    known = {statement.ref: statement for statement in here.values()}
    for statement in instrument.statements:
        whole = _with_other_forms(statement, known.get(statement.ref))
        groups.setdefault(group_of.get(statement.ref), []).append(whole)
    refs, spoken_of = {statement.ref for statement in instrument.statements}, set(groups) - {None}
    found: list[Statement] = []
    for statement in here.values():
        item = items.get(statement.ref)
        group = (item.bias, item.variant) if item else None
        if group in spoken_of:
            found += groups.pop(group, [])
        elif statement.ref not in refs:
            found.append(statement)
    return (*found, *(statement for group in groups.values() for statement in group))


def _with_other_forms(statement: Statement, here: Statement | None) -> Statement:
    """Return a statement, completed by stored wordings that the part lacks."""
    given = {(w.variant, w.language) for w in statement.wordings}
    others = [w for w in (here.wordings if here else ()) if (w.variant, w.language) not in given]
    return replace(statement, wordings=(*statement.wordings, *others)) if others else statement


def joined_notes(
    connection: sqlite3.Connection,
    instrument_id: int,
    before: Sequence[str],
    instrument: Instrument,
) -> tuple[str, ...]:
    """Return the notes after a part was imported: only those of the part if it covers all stored
    data, else both.
    """
    here = {set_name(one) for one in read_answer_sets(connection, instrument_id).values()}
    if instrument.statements and here <= {set_name(one) for one in instrument.answer_sets}:
        return instrument.notes
    return tuple(dict.fromkeys((*before, *instrument.notes)))


def _without_text(
    connection: sqlite3.Connection, instrument_id: int, answers: Sequence[AnswerSet]
) -> int:
    known = {
        (item.bias, item.variant, item.key)
        for item in read_items(connection, instrument_id).values()
    }
    return len({(one.bias, one.variant, pair.key) for one in answers for pair in one.pairs} - known)


def put_items(
    connection: sqlite3.Connection,
    instrument_id: int,
    items: Sequence[ChoiceItem],
    statements: Mapping[str, int],
    *,
    part: bool = False,
) -> int:
    """Mark statements as questions, and return for how many the stored data changed."""
    here = read_items(connection, instrument_id)
    refs = dict(
        connection.execute(
            "select id, ref from statement where instrument_id = ?", (instrument_id,)
        )
    )
    theirs = [
        replace(item, ref=refs[statements[item.ref]]) for item in items if item.ref in statements
    ]
    if part:
        theirs = [_with_known(item, here.get(item.ref)) for item in theirs]
    write_items(connection, instrument_id, [item for item in theirs if here.get(item.ref) != item])
    return sum(item.ref in here and here[item.ref] != item for item in theirs)


def _with_known(item: ChoiceItem, here: ChoiceItem | None) -> ChoiceItem:
    if here is None:
        return item
    middle = here.middle_removed if item.middle_removed is None else item.middle_removed
    return replace(item, middle_removed=middle, shares=item.shares or here.shares)


def put_answers(
    connection: sqlite3.Connection, instrument_id: int, answers: Sequence[AnswerSet]
) -> tuple[AnswerSet, ...]:
    """Add the new sets and return them; sets that are stored with the same answers change nothing.

    The numbers of offered options and the warnings are taken from the latest file. Raises
    ConflictError if a set is stored with other answers.
    """
    here = {
        set_name(one): (rowid, one)
        for rowid, one in read_answer_sets(connection, instrument_id).items()
    }
    faults, new = [], []
    for theirs in answers:
        rowid, ours = here.get(set_name(theirs), (0, None))
        if ours is None:
            new.append(theirs)
            here[set_name(theirs)] = (0, theirs)
        elif found := list(_differences(ours, theirs)):
            faults.append(_said(theirs, found))
        elif rowid and ours != theirs:
            write_about(connection, rowid, theirs)
    if faults:
        raise ConflictError(
            f"these answers are here, and otherwise: {'; '.join(faults)}. Nothing was imported; "
            "import the file as an "
            "instrument of another name"
        )
    for answer_set in new:
        insert_answer_set(connection, instrument_id, answer_set)
    return tuple(new)


def _differences(ours: AnswerSet, theirs: AnswerSet) -> Iterator[str]:
    """Yield the differences of two sets of the same name, by question."""
    here, there = ({pair.key: pair for pair in one.pairs} for one in (ours, theirs))
    for key in dict.fromkeys((*here, *there)):
        if key not in here or key not in there:
            yield f"{key!r}: {'nothing here' if key not in here else 'nothing in the file'}"
            continue
        for (arm, one), (_, other) in zip(_forms(here[key]), _forms(there[key]), strict=True):
            if replace(one, offered=other.offered) != other:
                yield f"{key!r} ({arm}): {_counted(one)} here, {_counted(other)} in the file"
    if ours.mapped_back != theirs.mapped_back:
        yield "one of them names the letters back to the original order, the other one does not"
    elif here.keys() == there.keys() and tuple(here) != tuple(there):
        yield "the same questions in another order"


def _forms(pair: AnsweredPair) -> Iterable[tuple[Arm, ArmAnswers]]:
    return ((Arm.ORIGINAL, pair.original), (Arm.CHANGED, pair.changed))


def _counted(answers: ArmAnswers) -> str:
    said = (
        ", ".join(f"{letter or 'none'} {n}" for letter, n in sorted(answers.counts.items()))
        or "no answer"
    )
    more = f", {answers.invalid} invalid" if answers.invalid else ""
    return f"{said}{more} of {answers.recorded} options"


def _said(answers: AnswerSet, found: Sequence[str]) -> str:
    bias = f"{answers.bias}-{answers.variant}" if answers.variant else answers.bias.value
    draw = f" draw {answers.draw}" if answers.draw != 1 else ""
    more = f", and {len(found) - SHOWN:,} more" if len(found) > SHOWN else ""
    return (
        f"{answers.model}, {bias}, {answers.condition or 'bias'}{draw}: "
        f"{', '.join(found[:SHOWN])}{more}"
    )


class Choices(Aggregate):
    """The methods on multiple-choice questions."""

    def items(self, instrument: str) -> dict[str, ChoiceItem]:
        """Return the current statements that are questions, by ref, in order; empty if there are
        none.
        """
        return read_items(self.connection, instrument_id_of(self.connection, instrument))

    def answer_sets(self, instrument: str) -> tuple[AnswerSet, ...]:
        """Return the imported answers, in the order of import; questions in the order of their
        file.
        """
        return tuple(
            read_answer_sets(
                self.connection, instrument_id_of(self.connection, instrument)
            ).values()
        )

    def models(self, instrument: str) -> tuple[str, ...]:
        """Return the models whose answers were imported, in the order of import."""
        rows = self.connection.execute(
            "select model from answer_set where instrument_id = ? group by model order by min(id)",
            (instrument_id_of(self.connection, instrument),),
        )
        return tuple(row[0] for row in rows)

    def instruments_with_answers(self) -> tuple[str, ...]:
        """Return the names of instruments with imported answers, in the order of the
        instruments.
        """
        rows = self.connection.execute(
            "select name from instrument i where exists (select 1 from answer_set a where "
            "a.instrument_id = i.id) "
            "order by i.id"
        )
        return tuple(row[0] for row in rows)
