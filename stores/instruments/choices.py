"""Rows of multiple-choice questions and of answers that came with them ↔ values."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from operator import itemgetter

from stores.core.base import Aggregate, execute_named, instrument_id_of, now, table
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
    """Return the multiple-choice data of current statements by ref, in statement order."""
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
    """Return answer sets by rowid, in the order of import.

    Their questions are in the order of the source.
    """
    rows = execute_named(connection, _COUNTS, {"instrument": instrument_id})
    return {
        rowid: _answer_set(list(set_rows))
        for rowid, set_rows in groupby(rows, key=itemgetter("id"))
    }


def _answer_set(rows: Sequence[sqlite3.Row]) -> AnswerSet:
    """Return the answer set of these rows.

    They have the changed form of each question before the original.
    """
    row = rows[0]
    pairs = zip(rows[1::2], rows[::2], strict=True)
    return AnswerSet(
        row["model"],
        Bias(row["bias"]),
        Perturbation(row["condition"]) if row["condition"] else None,
        tuple(
            AnsweredPair(original["key"], _answers(original), _answers(changed))
            for original, changed in pairs
        ),
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
    name_values = dict(
        zip(("model", "bias", "variant", "condition", "draw"), set_name(answers), strict=True)
    )
    values = {
        "mapped_back": answers.mapped_back,
        "warnings": json.dumps(answers.warnings),
        "at": now(),
    }
    rowid = table(connection, "answer_set").add(
        {"instrument_id": instrument_id, **name_values, **values}
    )
    connection.executemany(
        "insert into answer_count (answer_set_id, ordinal, key, arm, counts, recorded, offered, "
        "invalid) values (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                rowid,
                ordinal,
                pair.key,
                arm.value,
                json.dumps(dict(arm_answers.counts)),
                arm_answers.recorded,
                arm_answers.offered,
                arm_answers.invalid,
            )
            for ordinal, pair in enumerate(answers.pairs)
            for arm, arm_answers in ((Arm.ORIGINAL, pair.original), (Arm.CHANGED, pair.changed))
        ),
    )


def write_about(connection: sqlite3.Connection, rowid: int, answers: AnswerSet) -> None:
    """Write a file's data about a set except its answers.

    They are the numbers of options that its questions offered, and the warnings.
    """
    connection.execute(
        "update answer_set set warnings = ? where id = ?", (json.dumps(answers.warnings), rowid)
    )
    connection.executemany(
        "update answer_count set offered = ? where answer_set_id = ? and key = ? and arm = ?",
        (
            (arm_answers.offered, rowid, pair.key, arm.value)
            for pair in answers.pairs
            for arm, arm_answers in ((Arm.ORIGINAL, pair.original), (Arm.CHANGED, pair.changed))
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
"the largest number of differences in a message"

Group = tuple[Bias, str]
"bias and its variant"


@dataclass(frozen=True, slots=True)
class AddedChoices:
    """The changes of an import of multiple-choice questions and answers."""

    questions: int
    "number of questions of the file"
    changed: int
    "number of questions whose key, bias, middle option or shares changed"
    answer_sets: int
    "number of new sets of answers: one per model, bias and condition"
    known: int
    "number of sets that were stored already"
    models: tuple[str, ...]
    "models of the file, in its order"
    answers: int = 0
    "number of answers in the new sets"
    without_text: int = 0
    """number of questions, counted once per bias, with answers in the file but without a
    statement here"""


def write_choices(
    connection: sqlite3.Connection,
    instrument_id: int,
    items: Sequence[ChoiceItem],
    answers: Sequence[AnswerSet],
    statements: Mapping[str, int],
    *,
    part: bool = False,
) -> AddedChoices:
    """Merge a file's questions and answers with the stored ones. Call inside a transaction.

    `statements` maps a ref in the file to the rowid of the statement here, which may have been
    renamed. With `part`, data of a question that the file lacks are kept. Raises ConflictError if a
    set is stored with other answers.
    """
    changed = put_items(connection, instrument_id, items, statements, part=part)
    new = put_answers(connection, instrument_id, answers)
    return AddedChoices(
        questions=len(items),
        changed=changed,
        answer_sets=len(new),
        known=len(answers) - len(new),
        models=tuple(dict.fromkeys(answer_set.model for answer_set in answers)),
        answers=sum(
            sum(arm_answers.counts.values())
            for answer_set in new
            for pair in answer_set.pairs
            for _, arm_answers in _forms(pair)
        ),
        without_text=_without_text(connection, instrument_id, answers),
    )


def with_stored_statements(
    connection: sqlite3.Connection, instrument_id: int, instrument: Instrument
) -> tuple[Statement, ...]:
    """Return the statements of a part, completed by stored statements of other biases and forms.

    Questions of a bias keep the position of that bias. Those of a new bias come last.
    """
    values = {"instrument": instrument_id}
    stored = read_statements(
        connection, "s.instrument_id = :instrument and s.current = 1", values, {}
    )
    items = read_items(connection, instrument_id)
    groups: dict[Group | None, list[Statement]] = {}
    group_of = {item.ref: (item.bias, item.variant) for item in instrument.choices}
    stored_by_ref = {statement.ref: statement for statement in stored.values()}
    for statement in instrument.statements:
        completed = _with_other_forms(statement, stored_by_ref.get(statement.ref))
        groups.setdefault(group_of.get(statement.ref), []).append(completed)
    refs, part_groups = {statement.ref for statement in instrument.statements}, set(groups) - {None}
    statements: list[Statement] = []
    for statement in stored.values():
        item = items.get(statement.ref)
        group = (item.bias, item.variant) if item else None
        if group in part_groups:
            statements += groups.pop(group, [])
        elif statement.ref not in refs:
            statements.append(statement)
    return (*statements, *(statement for group in groups.values() for statement in group))


def _with_other_forms(statement: Statement, stored: Statement | None) -> Statement:
    """Return a statement, completed by stored wordings that the part lacks."""
    given_keys = {(wording.variant, wording.language) for wording in statement.wordings}
    other_wordings = [
        wording
        for wording in (stored.wordings if stored else ())
        if (wording.variant, wording.language) not in given_keys
    ]
    return (
        replace(statement, wordings=(*statement.wordings, *other_wordings))
        if other_wordings
        else statement
    )


def joined_notes(
    connection: sqlite3.Connection,
    instrument_id: int,
    before: Sequence[str],
    instrument: Instrument,
) -> tuple[str, ...]:
    """Return the notes of an instrument after a part was imported.

    They are only those of the part if it covers all stored data, else both.
    """
    stored_names = {
        set_name(answer_set) for answer_set in read_answer_sets(connection, instrument_id).values()
    }
    if instrument.statements and stored_names <= {
        set_name(answer_set) for answer_set in instrument.answer_sets
    }:
        return instrument.notes
    return tuple(dict.fromkeys((*before, *instrument.notes)))


def _without_text(
    connection: sqlite3.Connection, instrument_id: int, answers: Sequence[AnswerSet]
) -> int:
    stored_keys = {
        (item.bias, item.variant, item.key)
        for item in read_items(connection, instrument_id).values()
    }
    return len(
        {
            (answer_set.bias, answer_set.variant, pair.key)
            for answer_set in answers
            for pair in answer_set.pairs
        }
        - stored_keys
    )


def put_items(
    connection: sqlite3.Connection,
    instrument_id: int,
    items: Sequence[ChoiceItem],
    statements: Mapping[str, int],
    *,
    part: bool = False,
) -> int:
    """Mark statements as questions. Returns the number of those whose stored data changed."""
    stored = read_items(connection, instrument_id)
    refs = dict(
        connection.execute(
            "select id, ref from statement where instrument_id = ?", (instrument_id,)
        )
    )
    file_items = [
        replace(item, ref=refs[statements[item.ref]]) for item in items if item.ref in statements
    ]
    if part:
        file_items = [_with_stored_values(item, stored.get(item.ref)) for item in file_items]
    write_items(
        connection, instrument_id, [item for item in file_items if stored.get(item.ref) != item]
    )
    return sum(item.ref in stored and stored[item.ref] != item for item in file_items)


def _with_stored_values(item: ChoiceItem, stored: ChoiceItem | None) -> ChoiceItem:
    if stored is None:
        return item
    middle = stored.middle_removed if item.middle_removed is None else item.middle_removed
    return replace(item, middle_removed=middle, shares=item.shares or stored.shares)


def put_answers(
    connection: sqlite3.Connection, instrument_id: int, answers: Sequence[AnswerSet]
) -> tuple[AnswerSet, ...]:
    """Add the new sets and return them.

    Sets that are stored with the same answers change nothing.

    The numbers of offered options and the warnings are taken from the latest file. Raises
    ConflictError if a set is stored with other answers.
    """
    stored_by_name = {
        set_name(answer_set): (rowid, answer_set)
        for rowid, answer_set in read_answer_sets(connection, instrument_id).items()
    }
    faults, new = [], []
    for file_set in answers:
        rowid, stored_set = stored_by_name.get(set_name(file_set), (0, None))
        if stored_set is None:
            new.append(file_set)
            stored_by_name[set_name(file_set)] = (0, file_set)
        elif differences := list(_differences(stored_set, file_set)):
            faults.append(_answer_set_line(file_set, differences))
        elif rowid and stored_set != file_set:
            write_about(connection, rowid, file_set)
    if faults:
        raise ConflictError(
            f"these answers are here, and otherwise: {'; '.join(faults)}. Nothing was imported; "
            "import the file as an instrument of another name"
        )
    for answer_set in new:
        insert_answer_set(connection, instrument_id, answer_set)
    return tuple(new)


def _differences(stored: AnswerSet, imported: AnswerSet) -> Iterator[str]:
    """Yield the differences of two sets of the same name, by question."""
    stored_pairs = {pair.key: pair for pair in stored.pairs}
    imported_pairs = {pair.key: pair for pair in imported.pairs}
    for key in dict.fromkeys((*stored_pairs, *imported_pairs)):
        if key not in stored_pairs:
            yield f"{key!r}: nothing here"
            continue
        if key not in imported_pairs:
            yield f"{key!r}: nothing in the file"
            continue
        forms = zip(_forms(stored_pairs[key]), _forms(imported_pairs[key]), strict=True)
        for (arm, answers), (_, file_answers) in forms:
            if replace(answers, offered=file_answers.offered) != file_answers:
                yield (
                    f"{key!r} ({arm}): {_counted(answers)} here, {_counted(file_answers)} in the "
                    "file"
                )
    if stored.mapped_back != imported.mapped_back:
        yield "one of them names the letters back to the original order, the other one does not"
    elif stored_pairs.keys() == imported_pairs.keys() and (
        tuple(stored_pairs) != tuple(imported_pairs)
    ):
        yield "the same questions in another order"


def _forms(pair: AnsweredPair) -> Iterable[tuple[Arm, ArmAnswers]]:
    return ((Arm.ORIGINAL, pair.original), (Arm.CHANGED, pair.changed))


def _counted(answers: ArmAnswers) -> str:
    text = (
        ", ".join(f"{letter or 'none'} {count}" for letter, count in sorted(answers.counts.items()))
        or "no answer"
    )
    invalid_text = f", {answers.invalid} invalid" if answers.invalid else ""
    return f"{text}{invalid_text} of {answers.recorded} options"


def _answer_set_line(answers: AnswerSet, changes: Sequence[str]) -> str:
    bias = f"{answers.bias}-{answers.variant}" if answers.variant else answers.bias.value
    draw = f" draw {answers.draw}" if answers.draw != 1 else ""
    remainder = f", and {len(changes) - SHOWN:,} more" if len(changes) > SHOWN else ""
    return (
        f"{answers.model}, {bias}, {answers.condition or 'bias'}{draw}: "
        f"{', '.join(changes[:SHOWN])}{remainder}"
    )


class Choices(Aggregate):
    """The methods on multiple-choice questions."""

    def items(self, instrument: str) -> dict[str, ChoiceItem]:
        """Return the current statements that are questions, by ref, in order."""
        return read_items(self.connection, instrument_id_of(self.connection, instrument))

    def answer_sets(self, instrument: str) -> tuple[AnswerSet, ...]:
        """Return the imported answers, in the order of import.

        Questions are in the order of their file.
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
        """Return the names of the instruments with imported answers, in their order."""
        rows = self.connection.execute(
            "select name from instrument i where exists (select 1 from answer_set a where "
            "a.instrument_id = i.id) order by i.id"
        )
        return tuple(row[0] for row in rows)
