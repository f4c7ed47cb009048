"""Labels of items, disagreements and adjudications of people, and the classifiers trained on them.

This module reads the labels of all people. An annotator's screen never uses it: see
`stores.annotation.annotator`. A classifier reads each text once per statement, however frequent the
text is.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

from stores.annotation.annotation_items import (
    CONTEXT,
    CURRENT_LABELS,
    Context,
    as_context,
    first_wording,
    save_codebook,
    unit_of,
    version_of,
)
from stores.annotation.people import reader_id
from stores.annotation.person_steps import UndoableChange, add_change, newest_change
from stores.core.base import Aggregate, decode_text, now, now_after, table
from stores.core.values import checked_confidence
from stores.jobs.job_rows import write_progress
from stores.runs.run_rows import LIVE
from workbench.domain.annotations import Codebook, DisagreementReason, ItemLabels, Purpose
from workbench.domain.keys import content_key
from workbench.domain.names import person_name
from workbench.domain.readings import ReaderCard, ReaderKind
from workbench.errors import UnknownName, UsageError

_Decided = tuple[str | None, str, str, bytes | None]
"(label, reason, note, basis) of a decision, or with a label of None of its withdrawal"
_NOTHING: _Decided = (None, "", "", None)


@dataclass(frozen=True, slots=True)
class GivenLabel:
    """One person's current label of an item."""

    annotator: str
    label: str
    at: str
    "in UTC, or an empty string if nobody knows"
    elapsed_ms: int | None
    flagged: bool
    note: str
    version: int = 1
    "of the codebook under which it was given: see `stores.annotation.annotation_items`"


@dataclass(frozen=True, slots=True)
class AdjudicatorDecision:
    """An adjudicator's decision."""

    auditor: str
    label: str
    reason: str
    note: str
    at: str
    "in UTC, or an empty string if nobody knows"
    current: bool
    """whether it is based on the item's current labels. Otherwise new labels came, and the item
    is open again."""


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """An item with all its labels and its decision."""

    context: Context
    labels: tuple[GivenLabel, ...]
    decision: AdjudicatorDecision | None
    stratum: str
    issues: tuple[str, ...] = ()
    "policy issues that the statement bears on"

    @property
    def disagrees(self) -> bool:
        return len({given_label.label for given_label in self.labels}) > 1

    @property
    def open(self) -> bool:
        """Whether the item needs a decision.

        It does if people disagree and there is no decision on exactly these labels. A decision on
        other labels needs a new one unless all current labels agree with it.
        """
        if self.decision is not None:
            return not self.decision.current and {
                given_label.label for given_label in self.labels
            } != {self.decision.label}
        return self.disagrees

    @property
    def gold(self) -> str | None:
        """The gold label, or None while people disagree.

        It is a current decision, or the label that all people gave.
        """
        if self.open or not (self.labels or self.decision):
            return None
        if self.decision is not None:
            return self.decision.label
        return self.labels[0].label

    @property
    def gold_by_one(self) -> bool:
        """Whether the gold label is that of one person, without a decision."""
        return self.gold is not None and self.decision is None and len(self.labels) == 1


class Labels(Aggregate):
    """The methods on people's labels."""

    def judged(
        self,
        codebook: str,
        *,
        queue: str | None = None,
        purpose: Purpose | None = None,
        unit: int | None = None,
        only_disputed: bool = False,
    ) -> tuple[JudgedItem, ...]:
        """Return the labelled items of a codebook, in the order of their queues.

        Attention items are left out.
        """
        values = {
            "codebook": codebook,
            "queue": queue,
            "purpose": purpose.value if purpose else None,
            "unit": unit,
        }
        strata = dict(self.connection.execute(_LABELLED_UNITS, values).fetchall())
        labels_by_unit = self._given(values)
        decisions = self._decisions(codebook)
        units = [
            unit_id
            for unit_id in strata
            if not only_disputed
            or len({given_label.label for given_label in labels_by_unit[unit_id]}) > 1
            or unit_id in decisions
        ]
        contexts = self._contexts(units)
        issues = self._issues(units)
        return tuple(
            JudgedItem(
                contexts[unit_id],
                tuple(labels_by_unit[unit_id]),
                _decision(decisions.get(unit_id), labels_by_unit[unit_id]),
                strata[unit_id],
                tuple(issues[unit_id]),
            )
            for unit_id in units
        )

    def decide(
        self,
        unit: int,
        codebook: Codebook,
        label: str,
        reason: DisagreementReason,
        note: str,
        auditor: str,
        seen: Iterable[GivenLabel] | None = None,
    ) -> None:
        """Commit an adjudication of the item's current labels.

        Earlier adjudications stay on record.

        `seen` are the labels that the adjudicator saw. None skips this check.

        Raises UnknownName for a label outside the codebook, and UsageError if the item has no
        labels or if its labels differ from those seen.
        """
        if label not in codebook.labels:
            raise UnknownName(
                f"found the label {label!r}; the codebook {codebook.name} has: "
                f"{', '.join(codebook.labels)}"
            )
        name = person_name(auditor)
        with self.store.write() as connection:
            current_labels = self._given(
                {"codebook": codebook.name, "queue": None, "purpose": None, "unit": unit}
            )[unit]
            if not current_labels:
                raise UsageError(f"item {unit} has no labels to decide between")
            if seen is not None and basis(seen) != basis(current_labels):
                raise UsageError(
                    f"other labels of item {unit} came meanwhile; nothing was decided, look again"
                )
            self._append(
                connection, unit, codebook, name, (label, reason.value, note, basis(current_labels))
            )

    def undo_decision(
        self, queue: str, codebook: Codebook, auditor: str
    ) -> tuple[int, str, str, str] | None:
        """Withdraw a person's newest decision in a queue that was not withdrawn.

        The previous decision is in force again. All of it stays on record. Returns the unit and the
        label, reason and note that were withdrawn, or None if there is no decision.
        """
        name = person_name(auditor)
        with self.store.write() as connection:
            decision_by_unit: dict[int, _Decided] = {}
            steps: list[UndoableChange[int, _Decided]] = []
            for unit, adjudicator, *values in connection.execute(
                _DECIDED, {"queue": queue, "codebook": codebook.name}
            ):
                change = UndoableChange(
                    unit, before=decision_by_unit.get(unit, _NOTHING), after=tuple(values)
                )
                decision_by_unit[unit] = change.after
                if adjudicator == name:
                    add_change(steps, change, newest_change(steps, unit))
            # Nobody has decided otherwise since.
            steps = [step for step in steps if decision_by_unit[step.unit] == step.after]
            if not steps:
                return None
            undone = steps[-1]
            self._append(connection, undone.unit, codebook, name, undone.before)
            label, reason, note, _ = undone.after
            return undone.unit, str(label), str(reason), str(note or "")

    def _append(
        self,
        connection: sqlite3.Connection,
        unit: int,
        codebook: Codebook,
        auditor: str,
        decided: _Decided,
    ) -> None:
        """Append a revision of a person's decision on an item. Without a label it is withdrawn."""
        reader = reader_id(connection, ReaderKind.ADJUDICATION, auditor, "")
        label, reason, note, decision_basis = decided
        revision = connection.execute(
            "select coalesce(max(revision), 0) + 1 from reading where unit_id = ? and reader_id "
            "= ?",
            (unit, reader),
        ).fetchone()[0]
        codebook_id = save_codebook(connection, codebook)
        row = {
            "unit_id": unit,
            "reader_id": reader,
            "revision": revision,
            "label": label,
            "reason": reason,
        }
        row |= {
            "note": note,
            "at": self._after(unit),
            "codebook_id": codebook_id,
            "basis": decision_basis,
        }
        table(connection, "reading").insert({"uid": secrets.token_bytes(16), **row})

    def attention(self, queue: str) -> tuple[tuple[str, int, int], ...]:
        """Return (annotator, correct, answered) over the items of a queue with a known label."""
        rows = self.connection.execute(_ATTENTION, {"queue": queue})
        return tuple(
            (name, int(n_correct), int(n_answered)) for name, n_correct, n_answered in rows
        )

    def totals(self) -> tuple[int, int, int]:
        """Return the numbers of items with one label, with several, and in need of adjudication."""
        counts = self.connection.execute(_TOTALS).fetchone()
        n_disputed = 0
        for (codebook,) in self.connection.execute("select distinct name from codebook").fetchall():
            n_disputed += sum(item.open for item in self.judged(codebook, only_disputed=True))
        return int(counts[0]), int(counts[1]), n_disputed

    def _given(self, values: Mapping[str, object]) -> defaultdict[int, list[GivenLabel]]:
        labels_by_unit: defaultdict[int, list[GivenLabel]] = defaultdict(list)
        rows = self.connection.execute(
            _GIVEN, {"codebook": values["codebook"], "unit": values["unit"]}
        )
        for unit, name, label, labelled_at, elapsed_ms, flagged, note, version in rows:
            labels_by_unit[unit].append(
                GivenLabel(name, label, labelled_at, elapsed_ms, bool(flagged), note or "", version)
            )
        return labels_by_unit

    def _decisions(self, codebook: str) -> dict[int, tuple[str, str, str, str, str, bytes]]:
        rows = self.connection.execute(_DECISIONS, {"codebook": codebook})
        return {
            unit: (name, label, reason, note or "", decided_at, decision_basis)
            for unit, name, label, reason, note, decided_at, decision_basis in rows
        }

    def _issues(self, units: Sequence[int]) -> defaultdict[int, list[str]]:
        issues_by_unit: defaultdict[int, list[str]] = defaultdict(list)
        for unit, issue in self.connection.execute(_ISSUES, (json.dumps(list(units)),)):
            issues_by_unit[unit].append(issue)
        return issues_by_unit

    def _contexts(self, units: Sequence[int]) -> dict[int, Context]:
        rows = self.connection.execute(
            f"{CONTEXT} where u.id in (select value from json_each(?))", (json.dumps(list(units)),)
        )
        return {context.unit: context for context in map(as_context, rows)}

    def _after(self, unit: int) -> str:
        last = self.connection.execute(
            "select max(r.at) from reading r join reader h on h.id = r.reader_id and h.kind = "
            "'adjudication' where r.unit_id = ?",
            (unit,),
        ).fetchone()[0]
        return now_after(last)


def basis(labels: Iterable[GivenLabel]) -> bytes:
    """Return a key of a set of labels, independent of order and time.

    It identifies the basis of a decision.
    """
    return content_key(sorted([given_label.annotator, given_label.label] for given_label in labels))


def anonymous(judged: JudgedItem) -> tuple[tuple[str, GivenLabel], ...]:
    """Return an item's labels under letters.

    Their order differs between items, so that A is not always one person.
    """

    def scattered(given_label: GivenLabel) -> bytes:
        return blake2b(
            f"{judged.context.unit}:{given_label.annotator}".encode(), digest_size=8
        ).digest()

    shuffled_labels = sorted(judged.labels, key=scattered)
    return tuple(
        (chr(ord("A") + index), given_label) for index, given_label in enumerate(shuffled_labels)
    )


def item_labels(judged: Iterable[JudgedItem]) -> tuple[ItemLabels, ...]:
    """Return items in the form for coefficients of agreement.

    An item belongs to the day of its latest label or, if all were labelled on one day, to the hour.
    """
    judged = tuple(judged)
    times = [max((given_label.at for given_label in item.labels), default="") for item in judged]
    kind, length = ("day", 10) if len({time[:10] for time in times if time}) > 1 else ("hour", 13)
    return tuple(
        ItemLabels(
            item=item.context.unit,
            labels={given_label.annotator: given_label.label for given_label in item.labels},
            groups=tuple(
                (kind, value)
                for kind, value in (
                    ("dimension", item.context.dimension),
                    ("leaning", item.context.leaning),
                    ("statement", item.context.ref),
                    ("variant", item.context.variant),
                    ("stratum", item.stratum),
                )
                if value
            )
            + tuple(("issue", issue) for issue in item.issues)
            + (((kind, time[:length]),) if time else ()),
        )
        for item, time in zip(judged, times, strict=True)
    )


def _decision(
    row: tuple[str, str, str, str, str, bytes] | None, labels: Sequence[GivenLabel]
) -> AdjudicatorDecision | None:
    if row is None:
        return None
    auditor, label, reason, note, decided_at, decision_basis = row
    return AdjudicatorDecision(
        auditor, label, reason, note, decided_at, current=decision_basis == basis(labels)
    )


_LABELLED_UNITS = """
    select i.unit_id, min(i.stratum)
    from queue_item i
    join queue q on q.id = i.queue_id
    join codebook c on c.id = q.codebook_id and c.name = :codebook
    where i.attention is null and (:queue is null or q.name = :queue) and (:purpose is null
        or q.purpose = :purpose)
        and (:unit is null or i.unit_id = :unit) and i.done > 0
    group by i.unit_id order by min(q.id), min(i.ordinal)
"""

_GIVEN = f"""
    select g.unit_id, g.annotator, g.label, iif(g.dated, g.at, ''), g.elapsed_ms,
        (select m.flagged from remark m where m.unit_id = g.unit_id and m.reader_id = g.reader_id
            order by m.at desc, m.uid desc limit 1),
        (select m.note from remark m where m.unit_id = g.unit_id and m.reader_id = g.reader_id
            order by m.at desc, m.uid desc limit 1),
        v.number
    from ({CURRENT_LABELS.format(where="and c.name = :codebook and (:unit is null or r.unit_id = :unit)")}) g
    join (select id, row_number() over (order by id) as number from codebook
        where name = :codebook) v
        on v.id = g.codebook_id
    order by g.unit_id, g.annotator
"""  # noqa: E501

_DECISIONS = """
    select unit_id, name, label, reason, note, at, basis from (
        select r.unit_id, h.name, r.label, r.reason, r.note, iif(r.dated, r.at, '') as at, r.basis,
            row_number() over (partition by r.unit_id order by r.at desc, r.uid desc) as place
        from reading r
        join reader h on h.id = r.reader_id and h.kind = 'adjudication'
        join codebook c on c.id = r.codebook_id and c.name = :codebook
        where r.uid is not null
    ) where place = 1 and label is not null
"""

_DECIDED = """
    select r.unit_id, h.name, r.label, r.reason, coalesce(r.note, ''), r.basis
    from reading r
    join reader h on h.id = r.reader_id and h.kind = 'adjudication'
    join codebook c on c.id = r.codebook_id and c.name = :codebook
    where r.uid is not null and r.unit_id in (
        select i.unit_id from queue_item i join queue q on q.id = i.queue_id where q.name = :queue
    ) order by r.at, r.uid
"""

_ISSUES = """
    select distinct u.id, l.issue
    from unit u
    join wording w on w.id = u.wording_id
    join issue_label l on l.statement_id = w.statement_id and l.label <> 0 and l.revision = (
        select max(n.revision) from issue_label n
        where n.statement_id = l.statement_id and n.issue = l.issue and n.reader_id = l.reader_id
    )
    where u.id in (select value from json_each(?)) order by u.id, l.issue
"""

_ATTENTION = f"""
    select g.annotator, sum(g.label = i.attention), count(*)
    from queue q
    join codebook c on c.id = q.codebook_id
    join queue_item i on i.queue_id = q.id and i.attention is not null
    join ({CURRENT_LABELS.format(where="")}) g on g.unit_id = i.unit_id and g.codebook = c.name
    where q.name = :queue group by g.annotator order by g.annotator
"""

_TOTALS = f"""
    select coalesce(sum(n = 1), 0), coalesce(sum(n > 1), 0) from (
        select count(*) as n from ({CURRENT_LABELS.format(where="")}) g
        where not exists (select 1 from queue_item a where a.unit_id = g.unit_id
            and a.attention is not null)
        group by g.unit_id, g.codebook
    )
"""


@dataclass(frozen=True, slots=True)
class Classifier:
    """A trained classifier in the store."""

    name: str
    reader: int
    "rowid of the classifier's reader"
    version: str
    codebook: str
    folder: str
    "folder of the weights, relative to the store's folder if inside it"
    config: Mapping[str, Any]
    data: Mapping[str, Any]
    "training and test data: hash, sizes, label counts, queues"
    evaluation: Mapping[str, Any]
    "the test items with their true and predicted labels, from which figures are computed"
    created_at: str
    job: int | None


@dataclass(frozen=True, slots=True)
class Pending:
    """A response to a statement that a classifier has not read."""

    text_id: int
    wording_id: int
    text: str
    statement: str


@dataclass(frozen=True, slots=True)
class PredictedLabel:
    """A classifier's reading of a pending response."""

    text_id: int
    wording_id: int
    label: str
    confidence: float


class ReadTwice(NamedTuple):
    """The number of texts of one statement with the same pair of labels by two classifiers.

    A label is None if its confidence is below the threshold.
    """

    statement: int
    "rowid of the statement"
    first: str | None
    second: str | None
    texts: int
    "number of different texts"


class Classifiers(Aggregate):
    """The methods on classifiers."""

    def add(
        self,
        name: str,
        card: ReaderCard,
        codebook: str,
        folder: str,
        config: Mapping[str, Any],
        data: Mapping[str, Any],
        evaluation: Mapping[str, Any],
        job: int | None = None,
    ) -> None:
        """Register a classifier in one transaction. Raises UsageError if the name is taken."""
        with self.store.write() as connection:
            if connection.execute("select 1 from classifier where name = ?", (name,)).fetchone():
                raise UsageError(f"a classifier is named {name!r} already; choose another name")
            table(connection, "classifier").insert(
                {
                    "uid": secrets.token_bytes(16),
                    "name": name,
                    "reader_id": reader_id(connection, card.kind, card.name, card.version),
                    "codebook_id": version_of(connection, codebook),
                    "job_id": job,
                    "folder": folder,
                    "config": json.dumps(dict(config)),
                    "data": json.dumps(dict(data)),
                    "evaluation": json.dumps(dict(evaluation)),
                    "created_at": now(),
                }
            )

    def list(self) -> tuple[Classifier, ...]:
        """Return the classifiers, from oldest to newest."""
        return tuple(
            _classifier(row) for row in self.connection.execute(f"{_CLASSIFIERS} order by c.id")
        )

    def get(self, name: str | None = None) -> Classifier:
        """Return a classifier, by default the newest. Raises UnknownName if there is none."""
        stored = self.list()
        for classifier in reversed(stored):
            if name in (None, classifier.name):
                return classifier
        if not stored:
            raise UnknownName("no classifier yet; train one with: workbench train STORE")
        raise UnknownName(
            f"no classifier is named {name!r}; known: {', '.join(entry.name for entry in stored)}"
        )

    def read_alike(
        self, first: Classifier, second: Classifier, threshold: float
    ) -> tuple[ReadTwice, ...]:
        """Return the numbers of texts with each pair of labels by two classifiers, by statement."""
        values = {"one": first.reader, "other": second.reader, "threshold": threshold}
        return tuple(ReadTwice(*row) for row in self.connection.execute(_READ_ALIKE, values))

    def pending(
        self, reader: int, audit: str, instrument: str | None, models: Sequence[str], limit: int
    ) -> tuple[Pending, ...]:
        """Return up to `limit` free-text responses that a reader has not read.

        Each comes once per statement.
        """
        rows = self.connection.execute(
            _PENDING, _scope(audit, instrument, models) | {"reader": reader, "limit": limit}
        )
        return tuple(
            Pending(text_id, wording_id, decode_text(body), decode_text(statement))
            for text_id, wording_id, body, statement in rows
        )

    def count_pending(
        self, reader: int, audit: str, instrument: str | None, models: Sequence[str]
    ) -> tuple[int, int]:
        """Return the number of responses to read and the number of unread ones."""
        values = _scope(audit, instrument, models)
        n_responses = self.connection.execute(
            f"select count(*) from ({_READABLE})", values
        ).fetchone()[0]
        n_unread = self.connection.execute(
            f"select count(*) from ({_READABLE}) p where {_NOT_READ}", values | {"reader": reader}
        ).fetchone()[0]
        return int(n_responses), int(n_unread)

    def predict(
        self,
        classifier: Classifier,
        predictions: Iterable[PredictedLabel],
        *,
        job: tuple[int, int, str] | None = None,
    ) -> None:
        """Write readings in one transaction, with the job's progress `job` = (id, done, progress).

        Existing readings of the classifier are kept.
        """
        read_at = now()
        with self.store.write() as connection:
            for item in predictions:
                connection.execute(
                    "insert into reading (unit_id, reader_id, revision, label, reason, "
                    "confidence, at) values (?, ?, 1, ?, '', ?, ?) on conflict do nothing",
                    (
                        unit_of(connection, item.text_id, item.wording_id),
                        classifier.reader,
                        item.label,
                        checked_confidence(item.confidence),
                        read_at,
                    ),
                )
            write_progress(connection, job)


def _scope(audit: str, instrument: str | None, models: Sequence[str]) -> dict[str, object]:
    return {
        "audit": audit,
        "instrument": instrument,
        "models": json.dumps(list(models)) if models else None,
    }


def _classifier(row: tuple[Any, ...]) -> Classifier:
    name, reader, version, codebook, folder, config, data, evaluation, created_at, job = row
    return Classifier(
        name,
        reader,
        version,
        codebook,
        folder,
        json.loads(config),
        json.loads(data),
        json.loads(evaluation),
        created_at,
        job,
    )


_CLASSIFIERS = """
    select c.name, c.reader_id, r.version, b.name, c.folder, c.config, c.data, c.evaluation,
        c.created_at, c.job_id
    from classifier c join reader r on r.id = c.reader_id join codebook b on b.id = c.codebook_id
"""

_READABLE = f"""
    select distinct r.text_id, {first_wording("w", "s")} as wording_id
    from model m cross join sampling g cross join probe p
    join template t on t.id = p.template_id and t.scale <> ''
    join wording w on w.id = p.wording_id
    join statement s on s.id = w.statement_id and {LIVE}
    join instrument i on i.id = s.instrument_id and (:instrument is null or i.name = :instrument)
    join draw d on d.model_id = m.id and d.sampling_id = g.id and d.prompt_id = p.prompt_id
    join given_answer r on r.draw_id = d.id
    where p.audit = :audit and (:models is null or m.name in (select value from json_each(:models)))
"""
"`likert` answers are included: the rule reads some of them, the classifier the others"

_NOT_READ = """
    not exists (
        select 1 from unit u join reading g on g.unit_id = u.id and g.reader_id = :reader
        where u.text_id = p.text_id and u.wording_id = p.wording_id and u.template_id is null
    )
"""

_READ_ALIKE = """
    select w.statement_id, iif(a.confidence >= :threshold, a.label, null) as first,
        iif(b.confidence >= :threshold, b.label, null) as second, count(*)
    from reading a
    join reading b on b.unit_id = a.unit_id and b.reader_id = :other
    join unit u on u.id = a.unit_id
    join wording w on w.id = u.wording_id
    where a.reader_id = :one
    group by 1, 2, 3 order by 1, 2, 3
"""

_PENDING = f"""
    select p.text_id, p.wording_id, x.body, y.body
    from ({_READABLE}) p
    join text x on x.id = p.text_id
    join wording w on w.id = p.wording_id
    join text y on y.id = w.text_id
    where {_NOT_READ}
    order by p.text_id, p.wording_id limit :limit
"""
