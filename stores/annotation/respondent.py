"""One person answering a survey, restricted to what they may see and write.

The connection is restricted (`stores.core.permissions`): it cannot read labels, or answers of
models and other people. The respondent sees only a text, not the statement and wording that it
belongs to.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from statistics import median

from stores.annotation.person_session import PersonSession, open_session
from stores.annotation.person_steps import IDLE_MS
from stores.core.base import decode_text, execute_named, now_after
from stores.core.permissions import Permissions
from stores.core.store import Store
from workbench.domain.instruments import SurveyAnswer
from workbench.domain.statements import Relation, VariantId, VariantKind
from workbench.errors import UnknownName

Answers = tuple[SurveyAnswer, ...]
Relations = dict[tuple[str, VariantId], Relation]


class WordingState(StrEnum):
    """The state of a wording in a session."""

    OPEN = "open"
    PUT_OFF = "put_off"
    "skipped once, so that it is shown again after all others"
    DECLINED = "declined"
    "skipped twice, so that it stays without an answer"
    ANSWERED = "answered"
    GONE = "gone"
    "not answered, and its statement no longer has this wording"


@dataclass(frozen=True, slots=True)
class ShownWording:
    """A question as the respondent sees it: a text."""

    position: int
    text: str
    language: str
    taken_back: bool | None = None
    "the answer that undo withdrew"


@dataclass(frozen=True, slots=True)
class SurveyProgress:
    """This person's progress in the session."""

    done: int
    "number of wordings with an answer"
    left: int
    declined: int
    gone: int
    "number of wordings that were removed from the instrument before they were answered"
    steps: int
    "number of steps that can be undone"
    median_s: float | None
    "median seconds per answer, without breaks, or None before two answers"

    @property
    def total(self) -> int:
        return self.done + self.left + self.declined

    @property
    def per_hour(self) -> float | None:
        """The number of answers per hour, or None before two answers."""
        return 3600 / self.median_s if self.median_s else None


@dataclass(slots=True)
class _Item:
    """One wording of the session, with its answers."""

    wording: int
    now: int | None
    "the instrument's current wording, or None if it no longer has one"
    held: bool
    "whether it has an answer, given here or imported from a file"
    steps: list[tuple[int, bool | None]] = field(default_factory=list)
    """(increasing number of the event, answer or None for a skip) of each step that undo can
    withdraw, the newest last"""

    @property
    def state(self) -> WordingState:
        skips = sum(agreed is None for _, agreed in self.steps)
        if self.held:
            return WordingState.ANSWERED
        if skips > 1:
            return WordingState.DECLINED
        if self.now is None:
            return WordingState.GONE
        return WordingState.PUT_OFF if skips else WordingState.OPEN

    def take(self, when: int, agrees: int | None, skipped: int) -> None:
        """Apply an event.

        An answer replaces an earlier one, and a withdrawal removes the newest step.
        """
        if agrees is None and not skipped:
            self.steps = self.steps[:-1]
        elif agrees is not None and self.steps and self.steps[-1][1] is not None:
            self.steps[-1] = (when, bool(agrees))
        else:
            self.steps.append((when, None if agrees is None else bool(agrees)))


class SurveyRespondent(PersonSession):
    """One person in one survey session."""

    def __init__(self, store: Store, survey: int):
        super().__init__(store)
        row = execute_named(
            store.connection,
            "select v.respondent, v.language, v.instrument_id, i.name from survey v "
            "join instrument i on i.id = v.instrument_id where v.id = ?",
            (survey,),
        ).fetchone()
        if row is None:
            raise UnknownName(f"there is no survey session {survey} in this store")
        self.survey = survey
        self.name: str = row["respondent"]
        self.language: str = row["language"]
        self.instrument: str = row["name"]
        self._instrument_id = int(row["instrument_id"])
        for trigger in _OWN_ONLY:
            self.connection.execute(trigger.format(survey=int(survey)))
        self.restrict(_permissions(int(survey)))

    @classmethod
    def open(cls, path: Path | str, survey: int) -> SurveyRespondent:
        """Open a store for one session. Raises UnknownName for a missing session."""
        return open_session(path, lambda store: cls(store, survey))

    def next(self) -> ShownWording | None:
        """Return the next question, or None if there is none.

        Open ones come in the planned order, then skipped ones. If a statement was changed since the
        plan, its current wording is asked, or none if it no longer has this wording.
        """
        with self._store.write() as connection:
            items = self._items()
            position = _first(items)
            return (
                None if position is None else self._question(connection, position, items[position])
            )

    def answer(self, position: int, agrees: bool, elapsed_ms: int | None = None) -> None:
        """Commit an answer. A new answer replaces the previous one, which stays on record."""
        with self._store.write() as connection:
            wording = self._wording(position)
            self._append(connection, position, agrees, skipped=False, elapsed_ms=elapsed_ms)
            connection.execute(_KEEP, {"wording": wording, "me": self.name, "agrees": agrees})

    def skip(self, position: int, elapsed_ms: int | None = None) -> None:
        """Move a wording behind all others. If it is skipped again, it stays unanswered."""
        with self._store.write() as connection:
            self._wording(position)
            self._append(connection, position, None, skipped=True, elapsed_ms=elapsed_ms)

    def undo(self) -> ShownWording | None:
        """Withdraw the newest answer or skip of the session and return its question.

        Its age does not matter. Returns None if there is nothing to undo. Withdrawn answers stay on
        record.
        """
        with self._store.write() as connection:
            items = self._items()
            last_steps = [
                (item.steps[-1][0], position) for position, item in items.items() if item.steps
            ]
            if not last_steps:
                return None
            position = max(last_steps)[1]
            item = items[position]
            withdrawn = item.steps[-1][1]
            self._append(connection, position, None, skipped=False, elapsed_ms=None)
            if withdrawn is not None:
                connection.execute(_WITHDRAW, {"wording": item.wording, "me": self.name})
            return replace(self._question(connection, position, item), taken_back=withdrawn)

    def progress(self) -> SurveyProgress:
        """Return this person's progress."""
        items = self._items().values()
        counts = Counter(item.state for item in items)
        times_ms = [row[0] for row in self.connection.execute(_TIMES, {"idle": IDLE_MS})]
        return SurveyProgress(
            done=counts[WordingState.ANSWERED],
            left=counts[WordingState.OPEN] + counts[WordingState.PUT_OFF],
            declined=counts[WordingState.DECLINED],
            gone=counts[WordingState.GONE],
            steps=sum(len(item.steps) for item in items),
            median_s=median(times_ms) / 1000 if len(times_ms) > 1 else None,
        )

    def answers(self) -> tuple[Answers, Relations]:
        """Return this person's own answers to current statements.

        The relation of each wording is returned, too.
        """
        answers, relations = [], {}
        for ref, kind, ordinal, agrees, relation in self.connection.execute(_OWN, self._values()):
            variant = VariantId(VariantKind(kind), ordinal)
            answers.append(SurveyAnswer(self.name, ref, variant, bool(agrees)))
            if relation is not None:
                relations[ref, variant] = Relation(relation)
        return tuple(answers), relations

    def _values(self) -> dict[str, object]:
        return {"instrument": self._instrument_id, "language": self.language, "me": self.name}

    def _items(self) -> dict[int, _Item]:
        """Return the wordings of the session by position."""
        items_by_position = {
            position: _Item(wording, current_wording, bool(has_answer))
            for position, wording, current_wording, has_answer in self.connection.execute(_ITEMS)
        }
        events = self.connection.execute(
            "select position, agrees, skipped from my_event order by at, uid"
        )
        for number, (position, agrees, skipped) in enumerate(events):
            items_by_position[position].take(number, agrees, skipped)
        return items_by_position

    def _wording(self, position: int) -> int:
        row = self.connection.execute(
            "select wording_id from my_item where position = ?", (position,)
        ).fetchone()
        if row is None:
            raise UnknownName(f"the session of {self.name} has no question {position}")
        return int(row[0])

    def _question(self, connection: sqlite3.Connection, position: int, item: _Item) -> ShownWording:
        """Return the text of a question in its current wording.

        If that no longer exists, the planned wording is used.
        """
        if item.now is not None and item.now != item.wording:
            connection.execute(
                "update survey_item set wording_id = ? where survey_id = ? and position = ?",
                (item.now, self.survey, position),
            )
        language, body = connection.execute(
            "select w.language, x.body from wording w join text x on x.id = w.text_id where w.id "
            "= ?",
            (item.wording if item.now is None else item.now,),
        ).fetchone()
        return ShownWording(position, decode_text(body), language)

    def _append(
        self,
        connection: sqlite3.Connection,
        position: int,
        agrees: bool | None,
        *,
        skipped: bool,
        elapsed_ms: int | None,
    ) -> None:
        """Append an event. Later events have later times, even if the clock goes back."""
        last_time = self.connection.execute("select max(at) from my_event").fetchone()[0]
        connection.execute(
            "insert into survey_event (uid, survey_id, position, agrees, skipped, elapsed_ms, at) "
            "values (?, ?, ?, ?, ?, ?, ?)",
            (
                secrets.token_bytes(16),
                self.survey,
                position,
                agrees,
                skipped,
                elapsed_ms,
                now_after(last_time),
            ),
        )


def _first(items: Mapping[int, _Item]) -> int | None:
    """Return the position of the next question, or None if there is none.

    Open ones come in order, then skipped ones, the earliest skipped first.
    """
    open_positions = [
        position for position, item in items.items() if item.state is WordingState.OPEN
    ]
    skipped = [
        (item.steps[-1][0], position)
        for position, item in items.items()
        if item.state is WordingState.PUT_OFF
    ]
    if open_positions:
        return min(open_positions)
    return min(skipped)[1] if skipped else None


def _permissions(survey: int) -> Permissions:
    """Return a respondent's permissions for texts, the own session and the own answers."""
    me = f"(select respondent from main.survey where id = {survey})"
    return Permissions(
        views={
            "my_item": "select position, wording_id from main.survey_item where survey_id = "
            f"{survey}",
            "my_event": "select uid, position, agrees, skipped, elapsed_ms, at from "
            "main.survey_event "
            f"where survey_id = {survey}",
            "my_answer": "select statement_id, kind, ordinal, agrees from main.survey_answer "
            f"where respondent = {me}",
        },
        readable={
            "text": None,
            "wording": None,
            "statement": None,
            "instrument": frozenset({"id"}),
            "survey": frozenset({"id", "respondent"}),
            "survey_item": frozenset({"survey_id", "position"}),
            # who answered which wording, but not how: needed to find and withdraw one's own answer
            "survey_answer": frozenset({"statement_id", "respondent", "kind", "ordinal"}),
        },
        inserted=frozenset({"survey_event", "survey_answer"}),
        updated={"survey_item": frozenset({"wording_id"})},
        deleted=frozenset({"survey_answer"}),
        refused={
            "survey_event": f"new.survey_id is not {survey}",
            "survey_answer": f"new.respondent is not {me}",
        },
    )


_OWN_ONLY = (
    "create temp trigger own_answers before delete on main.survey_answer "
    "when old.respondent <> (select respondent from main.survey where id = {survey}) "
    "begin select raise(abort, 'not authorized: only one''s own may be withdrawn'); end",
    "create temp trigger own_items before update on main.survey_item when old.survey_id <> "
    "{survey} "
    "begin select raise(abort, 'not authorized: only one''s own session may be changed'); end",
)

_VERSIONS = """
    select o.statement_id, o.kind, o.ordinal
    from wording w
    join statement s on s.id = w.statement_id
    join statement v on v.instrument_id = s.instrument_id and v.ref = s.ref
    join wording o on o.statement_id = v.id and o.language = w.language and o.kind = w.kind
        and o.ordinal = w.ordinal and o.text_id = w.text_id
    where w.id = :wording
"""
"every version of a statement with the same wording"

_KEEP = f"""
    insert or replace into survey_answer (statement_id, respondent, kind, ordinal, agrees)
    select statement_id, :me, kind, ordinal, :agrees from ({_VERSIONS})
"""

_WITHDRAW = f"""
    delete from survey_answer
    where respondent = :me and (statement_id, kind, ordinal) in ({_VERSIONS})
"""

_NOW = """
    select c.id from statement s
    join statement v on v.instrument_id = s.instrument_id and v.ref = s.ref and v.current = 1
    join wording c on c.statement_id = v.id and c.language = w.language and c.kind = w.kind
        and c.ordinal = w.ordinal
    where s.id = w.statement_id
"""

_ITEMS = f"""
    select i.position, i.wording_id, ({_NOW}) as now, exists (
        select 1 from wording o join my_answer a
            on a.statement_id = o.statement_id and a.kind = o.kind and a.ordinal = o.ordinal
        where o.id in (i.wording_id, ({_NOW}))
    )
    from my_item i join wording w on w.id = i.wording_id order by i.position
"""

_TIMES = "select elapsed_ms from my_event where agrees is not null and elapsed_ms <= :idle"

_OWN = """
    select s.ref, a.kind, a.ordinal, a.agrees, w.relation
    from my_answer a join statement s on s.id = a.statement_id and s.current = 1
    left join wording w on w.statement_id = s.id and w.kind = a.kind and w.ordinal = a.ordinal
        and w.language = :language
    where s.instrument_id = :instrument order by s.ordinal, a.kind, a.ordinal
"""
