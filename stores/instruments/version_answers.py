"""What models answered to one version of a statement: the way down from a version to the texts that point at it."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any

from stores.core.base import instrument_id_of
from stores.core.texts import restored
from stores.runs.run_rows import version as version_of
from workbench.domain.thinking import split


@dataclass(frozen=True, slots=True)
class VersionAnswer:
    """One distinct answer in one draw, and where it comes from."""

    text: str
    "the answer; empty where the output ends within a thought"
    count: int
    variant: str
    language: str
    wording: str
    audit: str
    template: str
    inverted: int
    "1: the labels stood in the swapped order"
    model: str
    version: str
    "of the model, in words"
    temperature: float
    seed: int
    at: str
    code_version: str
    job: int
    thinking: str = ""
    truncated: bool = False
    "whether the output ends within the thought, so that there is no answer"


def answers_to(
    connection: sqlite3.Connection, instrument: str, ref: str, version: int, *, offset: int = 0, limit: int = 200
) -> tuple[VersionAnswer, ...]:
    """Return a page of the answers to prompts that put this version's words. Raises UnknownName for the instrument."""
    values = {
        "instrument": instrument_id_of(connection, instrument),
        "ref": ref,
        "version": version,
        "offset": offset,
        "limit": limit,
    }
    return tuple(_answer(row) for row in connection.execute(_SQL, values))


def _answer(row: tuple[Any, ...]) -> VersionAnswer:
    body, count, kind, ordinal, language, asked, *rest = row
    audit, template, inverted, model, backend, revision, snapshot, fingerprint, *rest = rest
    output = split(restored(body))
    variant, wording = f"{kind}-{ordinal}" if ordinal else kind, restored(asked)
    version = version_of(backend, revision, snapshot, fingerprint or None)
    named = (audit, template, inverted, model, version)
    columns = (
        output.answer or "",
        count,
        variant,
        language,
        wording,
        *named,
        *rest,
        output.thinking,
        output.answer is None,
    )
    return VersionAnswer(*columns)


_SQL = """
    with edited as (
        select v.template_id, min(v.version) as version
        from template_version v join template t on t.id = v.template_id
        where v.instrument_id = :instrument and exists (
            select 1 from template_version e join template u on u.id = e.template_id
            where e.instrument_id = :instrument and e.version <> v.version
                and (u.audit, u.family, u.name, u.language) = (t.audit, t.family, t.name, t.language)
        )
        group by v.template_id
    )
    select x.body, r.count, w.kind, w.ordinal, w.language, y.body, p.audit,
        t.name || coalesce(' version ' || v.version, ''), t.inverted,
        m.name, m.backend, m.revision, m.snapshot, d.fingerprint, g.temperature, d.seed, d.at, a.code_version, a.job_id
    from statement s
    join wording w on w.statement_id = s.id
    join text y on y.id = w.text_id
    join probe p on p.wording_id = w.id
    join template t on t.id = p.template_id
    left join edited v on v.template_id = t.id
    join draw d on d.prompt_id = p.prompt_id
    join model m on m.id = d.model_id
    join sampling g on g.id = d.sampling_id
    join attempt a on a.id = d.attempt_id
    join response r on r.draw_id = d.id
    join text x on x.id = r.text_id
    where s.instrument_id = :instrument and s.ref = :ref and s.version = :version
    order by m.name, w.id, t.id, d.id, r.count desc, r.text_id limit :limit offset :offset
"""
