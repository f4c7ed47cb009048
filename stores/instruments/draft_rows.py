"""Rows of drafts ↔ values: a draft with its origin and the decision about it."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from stores.core.texts import restored
from workbench.domain.responses import Sampling
from workbench.domain.statements import VariantKind

STATES = ("pending", "accepted", "edited", "rejected", "unusable")
ACCEPTED = ("accepted", "edited")


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's decision about a draft."""

    decision: str
    "accepted, edited, rejected; `reopened` withdraws the previous one"
    text: str | None
    "the accepted wording; None for a rejection"
    person: str
    note: str
    at: str
    batch: bytes | None = None
    "the change of the statement, for undoing it"


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
    decision: Decision | None
    "the newest; None if there is none"


def as_draft(row: sqlite3.Row) -> Draft:
    """Return the draft of a row of `DRAFTS`."""
    return Draft(
        id=row["id"],
        instrument=row["instrument"],
        ref=row["ref"],
        kind=VariantKind(row["kind"]),
        language=row["language"],
        basis=restored(row["basis"]),
        line=restored(row["line"]),
        drafter=row["drafter"],
        label=row["template"],
        seed=row["seed"],
        fault=row["fault"],
        at=row["at"],
        state=row["state"],
        made=None if row["model"] is None else _made(row),
        decision=None if row["decision"] is None else _decision(row),
    )


def _made(row: sqlite3.Row) -> Made:
    drawn = (row["temperature"], row["top_p"], row["top_k"], row["max_new_tokens"])
    sampling = Sampling(*drawn, server=row["server"], extra=row["extra"], thinking=row["thinking"])
    how = (row["model"], row["revision"], row["backend"], row["dtype"])
    return Made(*how, sampling, row["job_id"], row["code_version"], row["host"])


def _decision(row: sqlite3.Row) -> Decision:
    text = None if row["text"] is None else restored(row["text"])
    return Decision(row["decision"], text, row["person"], row["note"], row["decided_at"], row["batch"])


DRAFTS = """
    select d.id, i.name as instrument, s.ref, d.kind, d.language, d.drafter, d.template, d.seed, d.fault, d.at,
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
        m.backend, m.dtype, g.temperature, g.top_p, g.top_k, g.max_new_tokens, g.server, g.extra, g.thinking,
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
        select e.uid from draft_decision e where e.draft_id = d.id order by e.at desc, e.uid desc limit 1
    )
    left join text t on t.id = c.text_id
"""
