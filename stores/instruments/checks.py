"""Embeddings and entailments of texts, and waivers of findings.

Results are stored by text and model: a wording that is changed and changed back is not computed
again, and instruments share results of the same wording. A waiver is never deleted. Withdrawing it
adds a row.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import TYPE_CHECKING

from stores.core.base import Aggregate, now_after, table, text_ids
from stores.jobs.job_rows import write_progress
from stores.runs.models import model_id
from workbench.domain.findings import Entailment, LintFinding
from workbench.domain.keys import text_key
from workbench.domain.names import person_name
from workbench.domain.responses import ModelCard
from workbench.errors import UnknownName, UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ENCODER, NLI = "sentence-transformers", "entailment"
"backends of the models that check wordings"
LONGEST_REASON = 500
"in characters"

Pair = tuple[str, str]
"(premise, hypothesis)"


@dataclass(frozen=True, slots=True)
class CheckModel:
    """A model with results for an instrument's texts."""

    id: int
    name: str
    revision: str
    texts: int
    "number of the instrument's wordings with results"


@dataclass(frozen=True, slots=True)
class Waiver:
    """A person's waiver of a finding or, without a reason, the withdrawal of one."""

    code: str
    subject: str
    fingerprint: bytes
    reason: str | None
    person: str
    at: str


class Checks(Aggregate):
    """The methods on checks."""

    def begin(self, card: ModelCard) -> int:
        """Return the rowid of a model, inserting a new one."""
        with self.store.write() as connection:
            return model_id(connection, card)

    def newest(self, name: str, backend: str, revision: str | None = None) -> int | None:
        """Return the newest model of that name.

        If a revision is known before loading, the model has that revision.
        """
        row = self.connection.execute(
            "select id from model where name = :name and backend = :backend "
            "and (:revision is null or revision = :revision) order by id desc limit 1",
            {"name": name, "backend": backend, "revision": revision},
        ).fetchone()
        return None if row is None else int(row[0])

    def models(self, instrument: str, backend: str) -> tuple[CheckModel, ...]:
        """Return the models with results for an instrument's current wordings.

        Those with most results come first, then the newest.
        """
        rows = self.connection.execute(
            _MODELS[backend], {"instrument": instrument, "backend": backend}
        )
        return tuple(CheckModel(*row) for row in rows)

    def embedded(self, model: int, texts: Iterable[str]) -> frozenset[str]:
        """Return the subset of these texts that a model has embedded."""
        return frozenset(text for text, _ in self._vectors(model, texts, "null"))

    def embeddings(
        self, model: int, texts: Iterable[str]
    ) -> tuple[tuple[str, ...], NDArray[np.float32]]:
        """Return the texts that a model has embedded, and their vectors (texts, dimensions)."""
        import numpy as np

        vectors = list(self._vectors(model, texts, "e.vector"))
        rows = np.frombuffer(b"".join(vector for _, vector in vectors), dtype="<f4")
        return tuple(text for text, _ in vectors), rows.reshape(
            len(vectors), -1 if vectors else 0
        ).astype(np.float32)

    def add_embeddings(
        self,
        model: int,
        vectors: Sequence[tuple[str, NDArray[np.float32]]],
        *,
        job: tuple[int, int, str] | None = None,
    ) -> None:
        """Write vectors of length 1 in one transaction, with the job's progress.

        The progress is `job` = (id, done, progress).
        """
        with self.store.write() as connection:
            ids = text_ids(connection, (text for text, _ in vectors))
            connection.executemany(
                "insert into embedding (model_id, text_id, vector) values (?, ?, ?) on conflict "
                "do nothing",
                [(model, ids[text], vector.astype("<f4").tobytes()) for text, vector in vectors],
            )
            if job is not None:
                write_progress(connection, job)

    def entailments(self, model: int, pairs: Iterable[Pair]) -> dict[Pair, Entailment]:
        """Return a model's results for these pairs."""
        pair_by_keys = {
            (text_key(premise), text_key(hypothesis)): (premise, hypothesis)
            for premise, hypothesis in pairs
        }
        results: dict[Pair, Entailment] = {}
        for chunk in _chunks(sorted({premise for premise, _ in pair_by_keys})):
            rows = self.connection.execute(
                "select p.key, h.key, e.entailment, e.neutral, e.contradiction from entailment e "
                "join text p on p.id = e.premise_id join text h on h.id = e.hypothesis_id "
                f"where e.model_id = ? and p.key in ({','.join('?' * len(chunk))})",
                (model, *chunk),
            )
            for premise, hypothesis, *probabilities in rows:
                if (premise, hypothesis) in pair_by_keys:
                    results[pair_by_keys[premise, hypothesis]] = Entailment(*probabilities)
        return results

    def add_entailments(
        self,
        model: int,
        results: Mapping[Pair, Entailment],
        *,
        job: tuple[int, int, str] | None = None,
    ) -> None:
        """Write a model's results for pairs in one transaction. `job` is as in `add_embeddings`."""
        with self.store.write() as connection:
            ids = text_ids(connection, (text for pair in results for text in pair))
            connection.executemany(
                "insert into entailment (model_id, premise_id, hypothesis_id, entailment, "
                "neutral, contradiction) values (?, ?, ?, ?, ?, ?) on conflict do nothing",
                [
                    (
                        model,
                        ids[premise],
                        ids[hypothesis],
                        entailment.entailment,
                        entailment.neutral,
                        entailment.contradiction,
                    )
                    for (premise, hypothesis), entailment in results.items()
                ],
            )
            if job is not None:
                write_progress(connection, job)

    def waive(self, instrument: str, finding: LintFinding, *, reason: str, person: str) -> Waiver:
        """Waive a finding, with a reason.

        Raises UsageError without a reason, and UnknownName for an unknown instrument.
        """
        return self._add(instrument, finding, _reason(reason), person_name(person))

    def unwaive(self, instrument: str, finding: LintFinding, *, person: str) -> Waiver:
        """Withdraw a waiver. Raises UsageError if there is none."""
        if finding.fingerprint not in self.waivers(instrument):
            raise UsageError(
                f"{finding.code} of {finding.subject} is not waived; there is nothing to take back"
            )
        return self._add(instrument, finding, None, person_name(person))

    def waivers(self, instrument: str) -> dict[bytes, Waiver]:
        """Return the current waivers by the finding's fingerprint."""
        newest = {waiver.fingerprint: waiver for waiver in self.waiver_history(instrument)}
        return {
            fingerprint: waiver
            for fingerprint, waiver in newest.items()
            if waiver.reason is not None
        }

    def waiver_history(self, instrument: str) -> tuple[Waiver, ...]:
        """Return all waivers and withdrawals, the oldest first."""
        rows = self.connection.execute(
            "select v.code, v.subject, v.fingerprint, v.reason, v.person, v.at from waiver v "
            "join instrument i on i.id = v.instrument_id where i.name = ? order by v.at, v.uid",
            (instrument,),
        )
        return tuple(Waiver(*row) for row in rows)

    def _add(
        self, instrument: str, finding: LintFinding, reason: str | None, person: str
    ) -> Waiver:
        with self.store.write() as connection:
            row = connection.execute(
                "select id from instrument where name = ?", (instrument,)
            ).fetchone()
            if row is None:
                raise UnknownName(f"no instrument is named {instrument!r} in this store")
            last_time = connection.execute(
                "select max(at) from waiver where instrument_id = ? and fingerprint = ?",
                (row[0], finding.fingerprint),
            ).fetchone()[0]
            waiver = Waiver(
                finding.code,
                finding.subject,
                finding.fingerprint,
                reason,
                person,
                now_after(last_time),
            )
            table(connection, "waiver").insert(
                {"uid": secrets.token_bytes(16), "instrument_id": row[0], **asdict(waiver)}
            )
        return waiver

    def _vectors(
        self, model: int, texts: Iterable[str], column: str
    ) -> Iterator[tuple[str, bytes]]:
        """Yield (text, column) of the texts that a model has embedded, in the given order."""
        keys = {text_key(text): text for text in texts}
        vectors: dict[bytes, bytes] = {}
        for chunk in _chunks(keys):
            vectors |= self.connection.execute(
                f"select t.key, {column} from text t join embedding e on e.text_id = t.id and "
                f"e.model_id = ? where t.key in ({','.join('?' * len(chunk))})",
                (model, *chunk),
            ).fetchall()
        for key, text in keys.items():
            if key in vectors:
                yield text, vectors[key]


def _chunks(keys: Iterable[bytes]) -> Iterator[tuple[bytes, ...]]:
    """Yield keys in chunks, because SQLite limits the variables of a statement."""
    remaining = iter(keys)
    while chunk := tuple(islice(remaining, 500)):
        yield chunk


def _reason(text: str) -> str:
    """Return a normalised reason. Raises UsageError if it is invalid."""
    reason = " ".join(text.split())
    if not reason:
        raise UsageError("a waiver needs a reason; say why the finding may stand")
    if len(reason) > LONGEST_REASON:
        raise UsageError(
            f"the reason has {len(reason):,} characters; give at most {LONGEST_REASON}"
        )
    if not reason.isprintable():
        raise UsageError(
            "the reason holds a character that does not show; give a reason without it"
        )
    return reason


_WORDINGS = """
    select m.id, m.name, m.revision, count(distinct w.text_id)
    from instrument i
    join statement s on s.instrument_id = i.id and s.current = 1
    join wording w on w.statement_id = s.id
    join {table} e on e.{column} = w.text_id
    join model m on m.id = e.model_id and m.backend = :backend
    where i.name = :instrument group by m.id order by count(distinct w.text_id) desc, m.id desc
"""
_MODELS = {
    ENCODER: _WORDINGS.format(table="embedding", column="text_id"),
    NLI: _WORDINGS.format(table="entailment", column="hypothesis_id"),
}
