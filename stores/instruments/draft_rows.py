"""Rows of drafts ↔ values: a draft with where it comes from and what was decided about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stores.instruments.texts import restored
from workbench.domain.responses import Sampling
from workbench.domain.statements import VariantKind

STATES = ("pending", "accepted", "edited", "rejected", "unusable")
ACCEPTED = ("accepted", "edited")


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person decided about a draft."""

    decision: str
    "accepted, edited, rejected; `reopened` takes the one before back"
    text: str | None
    "the wording that entered the instrument; None for a rejection"
    person: str
    note: str
    at: str
    batch: bytes | None = None
    "the change of the statement, by which it is undone"


@dataclass(frozen=True, slots=True)
class Made:
    """How a model's draft came about."""

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
    """A draft with where it comes from and what was decided."""

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
    "the newest; None where nobody decided"


def as_draft(row: Sequence[object]) -> Draft:
    """Return the draft of a row of `DRAFTS`."""
    values = iter(row)
    (draft_id, instrument, ref, kind, language, drafter, label, seed, fault, at, state) = (
        next(values) for _ in range(11)
    )
    basis, line = (_text(next(values), next(values)) for _ in range(2))
    made = _made([next(values) for _ in range(11)])
    return Draft(
        id=int(str(draft_id)),
        instrument=str(instrument),
        ref=str(ref),
        kind=VariantKind(str(kind)),
        language=str(language),
        basis=basis or "",
        line=line or "",
        drafter=str(drafter),
        label=str(label),
        seed=None if seed is None else int(str(seed)),
        fault=str(fault),
        at=str(at),
        state=str(state),
        made=made,
        decision=_decision(list(values)),
    )


def _made(row: Sequence[object]) -> Made | None:
    model, revision, backend, dtype, temperature, top_p, top_k, tokens, job, code_version, host = row
    if model is None:
        return None
    sampling = Sampling(
        float(str(temperature)), float(str(top_p)), None if top_k is None else int(str(top_k)), int(str(tokens))
    )
    return Made(
        str(model), str(revision), str(backend), str(dtype), sampling, int(str(job)), str(code_version), str(host)
    )


def _decision(row: Sequence[object]) -> Decision | None:
    decision, person, note, at, batch, body, packed = row
    if decision is None:
        return None
    change = batch if isinstance(batch, bytes) else None
    return Decision(str(decision), _text(body, packed), str(person), str(note), str(at), change)


def _text(body: object, packed: object) -> str | None:
    if body is None and packed is None:
        return None
    return restored(None if body is None else str(body), packed if isinstance(packed, bytes) else None)


DRAFTS = """
    select d.id, i.name as instrument, s.ref, d.kind, d.language, d.drafter, d.template, d.seed, d.fault, d.at,
        case
            when c.decision in ('accepted', 'edited')
                and not exists (select 1 from edit u where u.undoes = c.batch) then c.decision
            when c.decision = 'rejected' then c.decision
            when d.fault <> '' then 'unusable'
            else 'pending'
        end as state,
        b.body as basis, b.packed as basis_packed, x.body as line, x.packed as line_packed,
        m.name as model,
        iif(m.snapshot <> '', 'snapshot ' || m.snapshot, substr(m.revision, 1, 8)) as revision,
        m.backend, m.dtype, g.temperature, g.top_p, g.top_k, g.max_new_tokens,
        a.job_id, a.code_version, a.host,
        c.decision, c.person, c.note, c.at as decided_at, c.batch, t.body as text, t.packed as text_packed
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
