"""Auditors' rulings: events that are kept permanently. The rulings in force are computed per auditor and subject.

Subjects are identified by content, not by rowids, so rulings can be moved between stores unchanged. Annotators cannot
read them: an annotator's connection sees only what `stores.core.permissions` lists.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Iterable

from stores.core.base import Aggregate, named, now_after
from workbench.domain.names import person_name
from workbench.domain.rulings import Ruled, Ruling, Subject, Verdict
from workbench.errors import ConflictError, UsageError

LONGEST_REASON = 2000
"characters"


class Rulings(Aggregate):
    """The methods on rulings. Each one that writes is one transaction."""

    def rule(
        self, subject: Subject, verdict: Verdict, *, auditor: str, reason: str, label: str | None = None
    ) -> Ruling:
        """Append a ruling, which supersedes the same auditor's earlier ruling on the subject. `label`: see `Ruling`."""
        if label is not None and verdict is not Verdict.MISREAD:
            raise UsageError(f"a right reading belongs to {Verdict.MISREAD}, not to {verdict}")
        return self._append(subject, verdict, label, _reason(reason), person_name(auditor, "auditor"))

    def undo(self, ruling: Ruling, *, auditor: str, reason: str = "") -> Ruling:
        """Withdraw a ruling in force; its auditor's previous ruling on the subject is in force again.

        Raises ConflictError if it is no longer in force, UsageError if it is another auditor's and no reason is given.
        """
        auditor = person_name(auditor, "auditor")
        if auditor != ruling.auditor and not reason.strip():
            raise UsageError(
                f"this is {ruling.auditor}'s ruling {ruling.verdict}; taking it back needs a reason; say why"
            )
        return self._append(ruling.subject, None, None, " ".join(reason.split()), auditor, ruling.uid)

    def _append(
        self,
        subject: Subject,
        verdict: Verdict | None,
        label: str | None,
        reason: str,
        auditor: str,
        undoes: bytes | None = None,
    ) -> Ruling:
        with self.store.write() as connection:
            events = _events(connection, "where subject_key = ?", (subject.key,))
            if undoes is not None and undoes not in {ruling.uid for ruling in _standing(events)}:
                raise ConflictError("this ruling was taken back or superseded meanwhile; look at the newest")
            at = now_after(max((event.at for event in events), default=None))
            ruling = Ruling(secrets.token_bytes(16), subject, verdict, label, reason, auditor, at, undoes)
            _insert(connection, [ruling])
        return ruling

    def events(self, subject: Subject | None = None) -> tuple[Ruling, ...]:
        """Return all events, or those about a subject, the oldest first."""
        where, values = ("where subject_key = ?", (subject.key,)) if subject else ("", ())
        return _events(self.connection, where, values)

    def count(self) -> int:
        """Return how many events there are."""
        return int(self.connection.execute("select count(*) from ruling").fetchone()[0])

    def standing(self, kind: Ruled | None = None) -> dict[bytes, tuple[Ruling, ...]]:
        """Return the rulings in force, one per auditor, by the keys of their subjects, the oldest first."""
        found: dict[bytes, tuple[Ruling, ...]] = {}
        where, values = ("where kind = ?", (kind.value,)) if kind else ("", ())
        for ruling in _standing(_events(self.connection, where, values)):
            key = ruling.subject.key
            found[key] = (*found.get(key, ()), ruling)
        return found

    def newest(self, auditor: str) -> Ruling | None:
        """Return the newest ruling in force of an auditor; None without one."""
        mine = _standing(_events(self.connection, "where auditor = ?", (auditor,)))
        return mine[-1] if mine else None

    def merge(self, events: Iterable[Ruling]) -> int:
        """Add events of another store or a file, with their own times; return how many were new."""
        with self.store.write() as connection:
            return _insert(connection, events)


def _standing(events: Iterable[Ruling]) -> tuple[Ruling, ...]:
    """Return the newest ruling of each auditor and subject that was not withdrawn, from events in order."""
    events = tuple(events)
    undone = {event.undoes for event in events}
    newest = {(e.subject.key, e.auditor): e for e in events if e.verdict is not None and e.uid not in undone}
    return tuple(sorted(newest.values(), key=lambda ruling: (ruling.at, ruling.uid)))


def _events(connection: sqlite3.Connection, where: str, values: tuple[object, ...]) -> tuple[Ruling, ...]:
    return tuple(map(_ruling, named(connection, f"select * from ruling {where} order by at, uid", values)))


def _ruling(row: sqlite3.Row) -> Ruling:
    subject = Subject(Ruled(row["kind"]), json.loads(row["subject"]))
    verdict = None if row["verdict"] is None else Verdict(row["verdict"])
    return Ruling(row["uid"], subject, verdict, row["label"], row["reason"], row["auditor"], row["at"], row["undoes"])


def _insert(connection: sqlite3.Connection, rulings: Iterable[Ruling]) -> int:
    return connection.executemany(
        "insert into ruling (uid, kind, subject_key, subject, verdict, label, reason, auditor, at, undoes) "
        "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (uid) do nothing",
        (
            (
                ruling.uid, ruling.subject.kind.value, ruling.subject.key,
                json.dumps(dict(ruling.subject.named), sort_keys=True, ensure_ascii=False),
                ruling.verdict.value if ruling.verdict else None,
                ruling.label, ruling.reason, ruling.auditor, ruling.at, ruling.undoes,
            )
            for ruling in rulings
        ),
    ).rowcount  # fmt: skip


def _reason(text: str) -> str:
    """Return a normalised reason. Raises UsageError if it is invalid."""
    reason = " ".join(text.split())
    if not reason:
        raise UsageError("a ruling needs a reason; say why")
    if len(reason) > LONGEST_REASON:
        raise UsageError(f"the reason has {len(reason):,} characters; give at most {LONGEST_REASON:,}")
    if not reason.isprintable():
        raise UsageError("the reason holds a character that does not show; give a reason without it")
    return reason
