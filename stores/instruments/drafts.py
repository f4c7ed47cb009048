"""Rows of drafts ↔ values: a draft with its origin and the decision about it."""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from stores.core.base import (
    Aggregate,
    decode_text,
    execute_named,
    instrument_id_of,
    now,
    now_after,
    table,
    text_ids,
)
from stores.instruments.statements import Changed, Statements, save_in, undo_in
from stores.instruments.templates import TEMPLATE_COLUMNS, as_template, template_id
from stores.jobs.job_rows import write_progress
from workbench.domain.keys import text_key
from workbench.domain.names import person_name
from workbench.domain.prompts import Template
from workbench.domain.responses import ModelCard, Sampling
from workbench.domain.statements import Statement, VariantKind
from workbench.errors import ConflictError, UnknownName, UsageError

STATES = ("pending", "accepted", "edited", "rejected", "unusable")
ACCEPTED = ("accepted", "edited")


@dataclass(frozen=True, slots=True)
class RecordedDecision:
    """A person's decision about a draft."""

    decision: str
    "accepted, edited, rejected, or `reopened`, which withdraws the previous one"
    text: str | None
    "the accepted wording, or None for a rejection"
    person: str
    note: str
    at: str
    batch: bytes | None = None
    "the batch of the change of the statement, for undoing it"


@dataclass(frozen=True, slots=True)
class Made:
    """The origin of a model's draft."""

    model: str
    revision: str
    backend: str
    dtype: str
    sampling: Sampling
    job: int
    code_version: str
    host: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft with its origin and decision."""

    id: int
    instrument: str
    ref: str
    kind: VariantKind
    language: str
    basis: str
    line: str
    drafter: str
    label: str
    seed: int | None
    fault: str
    at: str
    state: str
    "one of `STATES`"
    made: Made | None
    "None for a rule"
    decision: RecordedDecision | None
    "the newest decision, or None if there is none"


def as_draft(row: sqlite3.Row) -> Draft:
    """Return the draft of a row of `DRAFTS`."""
    return Draft(
        id=row["id"],
        instrument=row["instrument"],
        ref=row["ref"],
        kind=VariantKind(row["kind"]),
        language=row["language"],
        basis=decode_text(row["basis"]),
        line=decode_text(row["line"]),
        drafter=row["drafter"],
        label=row["template"],
        seed=row["seed"],
        fault=row["fault"],
        at=row["at"],
        state=row["state"],
        made=None if row["model"] is None else _draft_source(row),
        decision=None if row["decision"] is None else _decision(row),
    )


def _draft_source(row: sqlite3.Row) -> Made:
    parameters = (row["temperature"], row["top_p"], row["top_k"], row["max_new_tokens"])
    sampling = Sampling(
        *parameters, server=row["server"], extra=row["extra"], thinking=row["thinking"]
    )
    model_values = (row["model"], row["revision"], row["backend"], row["dtype"])
    return Made(*model_values, sampling, row["job_id"], row["code_version"], row["host"])


def _decision(row: sqlite3.Row) -> RecordedDecision:
    text = None if row["text"] is None else decode_text(row["text"])
    return RecordedDecision(
        row["decision"], text, row["person"], row["note"], row["decided_at"], row["batch"]
    )


DRAFTS = """
    select d.id, i.name as instrument, s.ref, d.kind, d.language, d.drafter, d.template, d.seed,
        d.fault, d.at,
        case
            when c.decision in ('accepted', 'edited')
                and not exists (select 1 from edit u where u.undoes = c.batch) then c.decision
            when c.decision = 'rejected' then c.decision
            when d.fault <> '' then 'unusable'
            else 'pending'
        end as state,
        b.body as basis, x.body as line,
        m.name as model,
        iif(m.snapshot <> '', 'snapshot ' || m.snapshot, substr(m.revision, 1, 8)) as revision,
        m.backend, m.dtype, g.temperature, g.top_p, g.top_k, g.max_new_tokens, g.server, g.extra,
            g.thinking,
        a.job_id, a.code_version, a.host,
        c.decision, c.person, c.note, c.at as decided_at, c.batch, t.body as text
    from draft d
    join statement s on s.id = d.statement_id
    join instrument i on i.id = s.instrument_id
    join text b on b.id = d.basis_id
    join text x on x.id = d.text_id
    left join model m on m.id = d.model_id
    left join sampling g on g.id = d.sampling_id
    left join attempt a on a.id = d.attempt_id
    left join draft_decision c on c.uid = (
        select e.uid from draft_decision e where e.draft_id = d.id order by e.at desc, e.uid desc
            limit 1
    )
    left join text t on t.id = c.text_id
"""


ACT = "accepted draft"


@dataclass(frozen=True, slots=True)
class NewDraft:
    """One line of one answer, ready to be written."""

    ref: str
    kind: VariantKind
    language: str
    basis: str
    "the text that the drafter saw"
    line: str
    "exactly as it was proposed"
    drafter: str
    "the name of a model or of a rule"
    label: str
    "the call of a prompt, or the rule"
    seed: int | None = None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class DrafterRows:
    """The rowids of a drafter."""

    model: int
    sampling: int
    attempt: int


class Drafts(Aggregate):
    """The methods on drafts."""

    def add(
        self,
        instrument: str,
        drafts: Sequence[NewDraft],
        source: DrafterRows | None = None,
        *,
        job: tuple[int, int, str] | None = None,
    ) -> None:
        """Write drafts in one transaction, with the job's progress `job` = (id, done, progress).

        Raises UnknownName for an unknown statement. A statement archived in the meantime keeps its
        drafts. Raises AttemptEnded, having written nothing, if the attempt of the source has ended.
        """
        with self.store.write(source.attempt if source else None) as connection:
            texts = text_ids(
                connection, (text for draft in drafts for text in (draft.basis, draft.line))
            )
            statements = {
                ref: _newest(connection, instrument, ref) for ref in {draft.ref for draft in drafts}
            }
            drafted_at = now()
            origin = (
                (source.model, source.sampling, source.attempt) if source else (None, None, None)
            )
            connection.executemany(
                "insert into draft (uid, statement_id, kind, language, basis_id, text_id, "
                "drafter, template, model_id, sampling_id, attempt_id, seed, fault, at) values "
                "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        secrets.token_bytes(16),
                        statements[draft.ref],
                        draft.kind.value,
                        draft.language,
                        texts[draft.basis],
                        texts[draft.line],
                        draft.drafter,
                        draft.label,
                        *origin,
                        draft.seed,
                        draft.fault,
                        drafted_at,
                    )
                    for draft in drafts
                ],
            )
            write_progress(connection, job)

    def keep_prompts(self, templates: Iterable[Template]) -> None:
        """Write the prompts of a job, so that a draft's label leads to its prompt."""
        with self.store.write() as connection:
            for template in templates:
                template_id(connection, template)

    def prompt(self, key: bytes) -> Template | None:
        """Return the prompt with a key, or None if the store lacks it."""
        row = self.connection.execute(
            f"select {TEMPLATE_COLUMNS} from template t where t.key = ?", (key,)
        ).fetchone()
        return as_template(row) if row else None

    def asked(
        self,
        instrument: str,
        model: str,
        sampling: Sampling,
        card: ModelCard | None,
        job: int | None = None,
    ) -> frozenset[tuple[str, str, str, str, int]]:
        """Return the calls made so far, as (ref, kind, language, label, seed).

        If `card` is None, they are those of the newest model of that name, which a plan can know
        before the model is loaded. Calls of `job` count for any snapshot of a served model.
        """
        rows = self.connection.execute(
            "select distinct s.ref, d.kind, d.language, d.template, d.seed from draft d join "
            "statement s on s.id = d.statement_id join instrument i on i.id = s.instrument_id "
            "join sampling g on g.id = d.sampling_id where i.name = :instrument and g.key = "
            ":sampling and (d.model_id = (select m.id from model m where m.name = :model and "
            "(:card is null or m.key = :card) order by m.id desc limit 1) or d.attempt_id in "
            "(select a.id from attempt a where a.job_id = :job))",
            {
                "instrument": instrument,
                "sampling": sampling.key,
                "model": model,
                "card": card.key if card else None,
                "job": job,
            },
        )
        return frozenset(tuple(row) for row in rows)

    def earlier(
        self, instrument: str, ref: str, kind: VariantKind, language: str, basis: str
    ) -> tuple[str, ...]:
        """Return the lines without a fault that were drafted from the same text.

        The decisions on them do not matter.
        """
        rows = self.connection.execute(
            "select x.body from draft d join statement s on s.id = d.statement_id join instrument "
            "i on i.id = s.instrument_id join text b on b.id = d.basis_id join text x on x.id = "
            "d.text_id where i.name = ? and s.ref = ? and d.kind = ? and d.language = ? and "
            "d.fault = '' and b.key = ? order by d.id",
            (instrument, ref, kind.value, language, text_key(basis)),
        )
        return tuple(decode_text(*row) for row in rows)

    def list(
        self,
        instrument: str,
        *,
        state: str | None = None,
        kinds: Sequence[VariantKind] = (),
        refs: Sequence[str] = (),
        language: str | None = None,
        seeds: Sequence[int] = (),
    ) -> tuple[Draft, ...]:
        """Return drafts by statement and kind, without those of archived statements.

        With `seeds`, only the drafts of these calls are returned.
        """
        rows = execute_named(
            self.connection,
            _LIST,
            {
                "instrument": instrument,
                "language": language,
                "kinds": _json(kind.value for kind in kinds),
                "refs": _json(refs),
                "seeds": _json(seeds),
            },
        )
        drafts = (as_draft(row) for row in rows)
        return tuple(draft for draft in drafts if state is None or draft.state == state)

    def get(self, draft_id: int) -> Draft:
        """Return one draft. Raises UnknownName if there is none of this id."""
        row = execute_named(self.connection, f"{DRAFTS} where d.id = ?", (draft_id,)).fetchone()
        if row is None:
            raise UnknownName(
                f"there is no draft {draft_id} in this store; list them with: workbench draft "
                "STORE --list"
            )
        return as_draft(row)

    def counts(self, instrument: str) -> Mapping[str, int]:
        """Return the number of drafts in each state."""
        rows = self.connection.execute(
            f"select state, count(*) from ({_LIST}) group by state", _everything(instrument)
        )
        count_by_state = dict(rows.fetchall())
        return {state: count_by_state.get(state, 0) for state in STATES}

    def of_job(self, job_id: int) -> Mapping[str, int]:
        """Return the number of lines of a job with each fault. An empty string means no fault."""
        rows = self.connection.execute(
            "select d.fault, count(*) from draft d join attempt a on a.id = d.attempt_id where "
            "a.job_id = ? group by d.fault order by 2 desc",
            (job_id,),
        )
        return dict(rows.fetchall())

    def leave_out(self, draft_ids: Iterable[int], fault: str) -> None:
        """Mark drafts without a decision as unusable."""
        with self.store.write() as connection:
            connection.executemany(
                "update draft set fault = ? where id = ? and fault = '' "
                "and not exists (select 1 from draft_decision c where c.draft_id = draft.id)",
                [(fault, draft_id) for draft_id in draft_ids],
            )

    def accept(
        self,
        draft_id: int,
        text: str,
        *,
        person: str,
        place: Callable[[Statement], Statement],
        edited: bool = False,
        note: str = "",
    ) -> Changed:
        """Add a wording to the instrument, and store who decided, in one transaction.

        `text` is the wording, and `place` returns the statement with it. If `place` raises, nothing
        is written. Raises ConflictError if another decision was made in the meantime.
        """
        with self.store.write() as connection:
            draft = self._open(draft_id)
            updated = place(Statements(self.store).get(draft.instrument, draft.ref))
            instrument_id = instrument_id_of(connection, draft.instrument)
            change = save_in(connection, instrument_id, [updated], person=person, act=ACT)
            batch = change.batch if change.refs else None
            _decide(
                connection, draft, "edited" if edited else "accepted", person, note, text, batch
            )
            return change

    def reject(self, draft_id: int, *, person: str, note: str = "") -> None:
        """Reject a draft. Raises ConflictError if another decision was made in the meantime."""
        with self.store.write() as connection:
            _decide(connection, self._open(draft_id), "rejected", person, note, None, None)

    def reopen(self, draft_id: int, *, person: str) -> Draft:
        """Withdraw the person's own newest decision on a draft.

        An accepted wording is removed from the instrument.

        Raises ConflictError if the decision is another person's, or the statement was changed
        since.
        """
        person = person_name(person)
        with self.store.write() as connection:
            draft = self.get(draft_id)
            if draft.state not in (*ACCEPTED, "rejected") or draft.decision is None:
                raise ConflictError(
                    f"draft {draft_id} of {draft.ref} is {draft.state}; there is nothing to undo"
                )
            if draft.decision.person != person:
                raise ConflictError(
                    f"draft {draft_id} of {draft.ref} was {draft.decision.decision} by "
                    f"{draft.decision.person}; only one's own decisions can be undone"
                )
            if draft.decision.batch is not None:
                undo_in(
                    connection,
                    instrument_id_of(connection, draft.instrument),
                    draft.decision.batch,
                    person=person,
                )
            _decide(connection, draft, "reopened", person, "", None, None)
        return self.get(draft_id)

    def newest_of(self, instrument: str, person: str) -> int | None:
        """Return the draft of a person's newest decision that is still in force.

        Returns None if there is none.
        """
        decided_drafts = [
            draft
            for draft in self.list(instrument)
            if draft.decision
            and draft.decision.person == person_name(person)
            and draft.state in (*ACCEPTED, "rejected")
        ]
        newest = max(
            decided_drafts,
            key=lambda draft: draft.decision.at if draft.decision else "",
            default=None,
        )
        return newest.id if newest else None

    def people(self, instrument: str) -> tuple[str, ...]:
        """Return the people who decided on drafts."""
        rows = self.connection.execute(
            "select distinct c.person from draft_decision c join draft d on d.id = c.draft_id "
            "join statement s on s.id = d.statement_id join instrument i on i.id = s.instrument_id "
            "where i.name = ? order by 1",
            (instrument,),
        )
        return tuple(row[0] for row in rows)

    def _open(self, draft_id: int) -> Draft:
        """Return a draft without a decision. Raises ConflictError if it has one."""
        draft = self.get(draft_id)
        if draft.state in (*ACCEPTED, "rejected"):
            assert draft.decision is not None
            raise ConflictError(
                f"draft {draft_id} of {draft.ref} was {draft.decision.decision} by "
                f"{draft.decision.person} meanwhile; nothing was written"
            )
        return draft


def _decide(
    connection: sqlite3.Connection,
    draft: Draft,
    decision: str,
    person: str,
    note: str,
    text: str | None,
    batch: bytes | None,
) -> None:
    if "\x00" in note:
        raise UsageError("the note holds a NUL character; give a note without it")
    text_id = None if text is None else text_ids(connection, [text])[text]
    last_time = draft.decision.at if draft.decision else None
    row = {
        "uid": secrets.token_bytes(16),
        "draft_id": draft.id,
        "decision": decision,
        "text_id": text_id,
    }
    row |= {"batch": batch, "person": person_name(person), "note": note, "at": now_after(last_time)}
    table(connection, "draft_decision").insert(row)


def _newest(connection: sqlite3.Connection, instrument: str, ref: str) -> int:
    """Return the rowid of a statement's current version, or of its newest if it was archived."""
    row = connection.execute(
        "select s.id from statement s join instrument i on i.id = s.instrument_id where i.name = "
        "? and s.ref = ? order by s.current desc, s.version desc limit 1",
        (instrument, ref),
    ).fetchone()
    if row is None:
        raise UnknownName(f"{instrument} has no statement {ref!r}")
    return int(row[0])


def _json(values: Iterable[object]) -> str | None:
    items = list(values)
    return json.dumps(items) if items else None


def _everything(instrument: str) -> dict[str, object]:
    return {"instrument": instrument, "language": None, "kinds": None, "refs": None, "seeds": None}


_LIST = f"""
    {DRAFTS}
    join statement n on n.instrument_id = s.instrument_id and n.ref = s.ref and n.current = 1
    where i.name = :instrument and (:language is null or d.language = :language)
        and (:kinds is null or d.kind in (select value from json_each(:kinds)))
        and (:refs is null or s.ref in (select value from json_each(:refs)))
        and (:seeds is null or d.seed in (select value from json_each(:seeds)))
    order by n.ordinal, s.ref, d.language, instr('{",".join(VariantKind)}', d.kind), d.id
"""
