"""Models' answers to one version of a statement, or with certain words, whatever was asked."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass

from stores.core.base import instrument_id_of, named
from stores.core.texts import restored
from stores.runs.run_rows import version as version_of
from workbench.domain.thinking import split


@dataclass(frozen=True, slots=True)
class VersionAnswer:
    """One distinct answer in one draw, with its origin."""

    text: str
    "the answer; empty if the output ends within a thought"
    count: int
    variant: str
    language: str
    wording: str
    audit: str
    template: str
    inverted: int
    "1: the labels were in the swapped order"
    model: str
    version: str
    "version of the model, as text"
    temperature: float
    seed: int
    at: str
    code_version: str
    job: int
    probe: int
    "rowid of what was asked"
    thinking: str = ""
    truncated: bool = False
    "whether the output ends within the thought, so that there is no answer"
    instrument: str = ""
    ref: str = ""


def answers_to(
    connection: sqlite3.Connection, instrument: str, ref: str, version: int, *, offset: int = 0, limit: int = 200
) -> tuple[VersionAnswer, ...]:
    """Return a page of the answers to prompts with this version's texts. Raises UnknownName."""
    values = {
        "instrument": instrument_id_of(connection, instrument),
        "ref": ref,
        "version": version,
        "offset": offset,
        "limit": limit,
    }
    return tuple(_answer(row) for row in named(connection, _TO_VERSION, values))


def answers_with(
    connection: sqlite3.Connection, words: str, *, offset: int = 0, limit: int = 200
) -> tuple[VersionAnswer, ...]:
    """Return a page of the answers of the store that may contain these words, the newest first, each once.

    SQLite ignores case only in ASCII: any other character matches all, and `workbench.domain.names` decides. The texts
    are read through each time, so that no write is slower for an index: 200,000 answers of 1,000
    characters take 0.4 to 1.1 seconds a page.
    """
    likes = [f"%{''.join(_literal(sign) for sign in word)}%" for word in words.split()]
    values = {"likes": json.dumps(likes), "offset": offset, "limit": limit}
    return tuple(_answer(row) for row in named(connection, _WITH_WORDS, values))


def _literal(sign: str) -> str:
    return "_" if not sign.isascii() else f"\\{sign}" if sign in "%_\\" else sign


def _answer(row: sqlite3.Row) -> VersionAnswer:
    output = split(restored(row["output"]))
    return VersionAnswer(
        text=output.answer or "",
        count=row["count"],
        variant=f"{row['kind']}-{row['ordinal']}" if row["ordinal"] else row["kind"],
        language=row["language"],
        wording=restored(row["wording"]),
        audit=row["audit"],
        template=row["template"],
        inverted=row["inverted"],
        model=row["model"],
        version=version_of(row["backend"], row["revision"], row["snapshot"], row["fingerprint"] or None),
        temperature=row["temperature"],
        seed=row["seed"],
        at=row["at"],
        code_version=row["code_version"],
        job=row["job_id"],
        probe=row["probe"],
        thinking=output.thinking,
        truncated=output.answer is None,
        instrument=row["instrument"],
        ref=row["ref"],
    )


_SQL = """
    with edited as (
        select v.instrument_id, v.template_id, min(v.version) as version
        from template_version v join template t on t.id = v.template_id
        where exists (
            select 1 from template_version e join template u on u.id = e.template_id
            where e.instrument_id = v.instrument_id and e.version <> v.version
                and (u.audit, u.family, u.name, u.language) = (t.audit, t.family, t.name, t.language)
        )
        group by v.instrument_id, v.template_id
    ){before}
    select x.body as output, r.count, w.kind, w.ordinal, w.language, y.body as wording, p.audit,
        t.name || coalesce(' version ' || v.version, '') as template, t.inverted,
        m.name as model, m.backend, m.revision, m.snapshot, d.fingerprint, g.temperature, d.seed, d.at,
        a.code_version, a.job_id, p.id as probe, i.name as instrument, s.ref
    from {sources}
    join instrument i on i.id = s.instrument_id
    join text y on y.id = w.text_id
    join template t on t.id = p.template_id
    left join edited v on v.template_id = t.id and v.instrument_id = i.id
    join model m on m.id = d.model_id
    join sampling g on g.id = d.sampling_id
    join attempt a on a.id = d.attempt_id
    join text x on x.id = r.{output}
    {where} limit :limit offset :offset
"""

_TO_VERSION = _SQL.format(
    before="",
    sources="""statement s
    join wording w on w.statement_id = s.id
    join probe p on p.wording_id = w.id
    join draw d on d.prompt_id = p.prompt_id
    join response r on r.draw_id = d.id""",
    output="text_id",
    where="""where s.instrument_id = :instrument and s.ref = :ref and s.version = :version
    order by m.name, w.id, t.id, d.id, r.count desc, r.text_id""",
)

_WITH_WORDS = _SQL.format(
    before=""", hit as materialized (
        select o.id from text o
        where not exists (select 1 from json_each(:likes) l where o.body not like l.value escape '\\')
    )""",
    sources="""given_answer r
    join draw d on d.id = r.draw_id
    join probe p on p.id = (select max(q.id) from probe q where q.prompt_id = d.prompt_id)
    join wording w on w.id = p.wording_id
    join statement s on s.id = w.statement_id""",
    output="output_id",
    where="where r.text_id in (select id from hit) order by d.id desc, r.text_id",
)
"a prompt that several versions of a statement share counts once"
