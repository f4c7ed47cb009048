"""Trained classifiers and their readings of responses: one reading per text and statement, however frequent."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stores.annotation.annotation_items import first_wording, unit_of
from stores.annotation.codebooks import version_of
from stores.annotation.people import reader_id
from stores.core.base import Aggregate, now
from stores.core.sqlite import table
from stores.core.texts import restored
from stores.jobs.job_rows import write_progress
from stores.runs.run_versions import LIVE
from workbench.domain.readings import ReaderCard
from workbench.errors import UnknownName, UsageError


@dataclass(frozen=True, slots=True)
class Classifier:
    """A trained classifier in the store."""

    name: str
    reader: int
    "rowid of its reader"
    version: str
    codebook: str
    folder: str
    "folder of its weights, relative to the store's folder if inside it"
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
class Predicted:
    """A classifier's reading of a pending response."""

    text_id: int
    wording_id: int
    label: str
    confidence: float


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
        return tuple(_classifier(row) for row in self.connection.execute(f"{_CLASSIFIERS} order by c.id"))

    def get(self, name: str | None = None) -> Classifier:
        """Return a classifier, by default the newest. Raises UnknownName."""
        found = self.list()
        for classifier in reversed(found):
            if name in (None, classifier.name):
                return classifier
        if not found:
            raise UnknownName("no classifier yet; train one with: workbench train STORE")
        raise UnknownName(f"no classifier is named {name!r}; known: {', '.join(one.name for one in found)}")

    def pending(
        self, reader: int, audit: str, instrument: str | None, models: Sequence[str], limit: int
    ) -> tuple[Pending, ...]:
        """Return up to `limit` free-text responses that a reader has not read, each once per statement."""
        rows = self.connection.execute(_PENDING, _scope(audit, instrument, models) | {"reader": reader, "limit": limit})
        return tuple(
            Pending(text, wording, restored(body), restored(statement)) for text, wording, body, statement in rows
        )

    def count_pending(self, reader: int, audit: str, instrument: str | None, models: Sequence[str]) -> tuple[int, int]:
        """Return (all responses to read, unread ones)."""
        values = _scope(audit, instrument, models)
        everything = self.connection.execute(f"select count(*) from ({_READABLE})", values).fetchone()[0]
        left = self.connection.execute(
            f"select count(*) from ({_READABLE}) p where {_NOT_READ}", values | {"reader": reader}
        ).fetchone()[0]
        return int(everything), int(left)

    def predict(
        self, classifier: Classifier, found: Iterable[Predicted], *, job: tuple[int, int, str] | None = None
    ) -> None:
        """Write readings in one transaction, with the job's progress `job` = (id, done, progress). Existing readings of
        the classifier are kept.
        """
        at = now()
        with self.store.write() as connection:
            for item in found:
                connection.execute(
                    "insert into reading (unit_id, reader_id, revision, label, reason, confidence, at) "
                    "values (?, ?, 1, ?, '', ?, ?) on conflict do nothing",
                    (
                        unit_of(connection, item.text_id, item.wording_id),
                        classifier.reader,
                        item.label,
                        item.confidence,
                        at,
                    ),
                )
            write_progress(connection, job)


def _scope(audit: str, instrument: str | None, models: Sequence[str]) -> dict[str, object]:
    return {"audit": audit, "instrument": instrument, "models": json.dumps(list(models)) if models else None}


def _classifier(row: tuple[Any, ...]) -> Classifier:
    name, reader, version, codebook, folder, config, data, evaluation, created_at, job = row
    return Classifier(
        name, reader, version, codebook, folder, json.loads(config), json.loads(data), json.loads(evaluation),
        created_at, job,
    )  # fmt: skip


_CLASSIFIERS = """
    select c.name, c.reader_id, r.version, b.name, c.folder, c.config, c.data, c.evaluation, c.created_at, c.job_id
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

_PENDING = f"""
    select p.text_id, p.wording_id, x.body, y.body
    from ({_READABLE}) p
    join text x on x.id = p.text_id
    join wording w on w.id = p.wording_id
    join text y on y.id = w.text_id
    where {_NOT_READ}
    order by p.text_id, p.wording_id limit :limit
"""
