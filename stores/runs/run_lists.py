"""Lists of runs and personas, and the queries on one run.

The text of a persona is its identity, so its name may change: the latest name counts. If two have
the same name, because the text was edited, the beginning of the key distinguishes them.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace

from stores.core.base import execute_named, table
from stores.instruments import templates as template_versions
from stores.instruments.templates import PROBES, TEMPLATE_COLUMNS
from stores.runs.models import model_ids_of_name
from stores.runs.readings import ANSWER_ID, HELD
from stores.runs.run_rows import LIVE, Run, way_values
from workbench.domain.prompts import AXIS, Message, Persona, PersonaKind
from workbench.domain.responses import Sampling

SHOWN = 6
"the number of characters of a key that are displayed"


def add_personas(connection: sqlite3.Connection, personas: Iterable[Persona]) -> None:
    """Write personas. An existing one gets the new name and kind. Call inside a transaction."""
    for persona in personas:
        turns = json.dumps(
            [[turn.role, turn.content] for turn in persona.turns], ensure_ascii=False
        )
        row = {
            "key": persona.key,
            "name": persona.name,
            "kind": persona.kind.value,
            "language": persona.language,
            "turns": turns,
        }
        table(connection, "persona").upsert(row)


def read_personas(connection: sqlite3.Connection) -> dict[str, Persona]:
    """Return the personas of a store by their keys (hexadecimal)."""
    rows = connection.execute(
        "select key, name, kind, language, turns from persona order by name, key"
    )
    return {
        bytes(key).hex(): Persona(
            name, PersonaKind(kind), tuple(Message(*turn) for turn in json.loads(turns)), language
        )
        for key, name, kind, language, turns in rows
    }


def named_axes(connection: sqlite3.Connection, axes: str) -> dict[str, str]:
    """Return the axes of a probe, given as JSON, with the persona's name instead of its key."""
    axis_values: dict[str, str] = json.loads(axes)
    if AXIS in axis_values:
        axis_values[AXIS] = persona_names(connection).get(axis_values[AXIS], axis_values[AXIS])
    return axis_values


def persona_names(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the displayed name of each persona by key (hexadecimal).

    It is `nurse`, or `nurse [3f2a91]` if two personas are called so.
    """
    rows = [
        (bytes(key).hex(), name)
        for key, name in connection.execute("select key, name from persona order by key")
    ]
    n_by_name = Counter(name for _, name in rows)
    return {key: f"{name} [{key[:SHOWN]}]" if n_by_name[name] > 1 else name for key, name in rows}


_COLUMNS = (
    *(
        "audit",
        "instrument",
        "language",
        "family",
        "model",
        "revision",
        "backend",
        "dtype",
        "encoding",
        "snapshot",
    ),
    *(
        "occasion",
        "model_id",
        "sampling_id",
        "prompts",
        "answered",
        "responses",
        "failed",
        "samples",
        "last",
        "persona",
    ),
)
"columns of `_RUNS` besides those of the sampling"


def find_runs(
    connection: sqlite3.Connection,
    audit: str | None,
    instrument: str | None,
    model: str | None,
    versions: Mapping[str, int],
    *,
    personas: bool,
) -> tuple[Run, ...]:
    """Return the runs that match, as `Runs.list` does."""
    names = persona_names(connection)
    persona_sql = OF_PROBE if names else "''"  # reading the JSON of 130,000 probes takes time
    model_ids = None if model is None else json.dumps(sorted(model_ids_of_name(connection, model)))
    values = {"audit": audit, "instrument": instrument, "models": model_ids}
    runs = [
        _as_run(row, names)
        for row in execute_named(connection, _RUNS.format(persona=persona_sql), values)
    ]
    families: dict[tuple[object, ...], list[str]] = defaultdict(list)
    languages: dict[tuple[object, ...], dict[str, None]] = defaultdict(dict)
    personas_by_answerer: dict[tuple[object, ...], dict[str, None]] = defaultdict(dict)
    for run in runs:
        if run.persona:
            personas_by_answerer[run.answerer].pop(run.persona_name, None)
            personas_by_answerer[run.answerer][run.persona_name] = None
        families[run.design_key].append(run.family)
        languages[run.language_independent_key].pop(run.language, None)
        languages[run.language_independent_key][run.language] = None
    edited_families = template_versions.several(connection)
    matching_runs = []
    for stored_run in runs:
        if stored_run.persona and not personas:
            continue
        run = replace(
            stored_run,
            families=tuple(families[stored_run.design_key]),
            languages=tuple(languages[stored_run.language_independent_key]),
            personas=tuple(personas_by_answerer[stored_run.answerer]),
        )
        if (run.instrument, run.audit, run.family) in edited_families:
            run = _with_versions(connection, run, versions)
        if run.prompts:
            matching_runs.append(run)
    return tuple(matching_runs)


def _with_versions(connection: sqlite3.Connection, run: Run, wanted: Mapping[str, int]) -> Run:
    """Return a run with the versions of its templates that count, and the counts for these."""
    values = way_values(run)
    asked_templates = template_versions.asked(connection, values, wanted)
    values |= template_versions.bound(connection, values, asked_templates)
    return recounted(connection, replace(run, versions=asked_templates), values)


def recounted(connection: sqlite3.Connection, run: Run, values: Mapping[str, object]) -> Run:
    """Return a run with the counts for these bound values."""
    prompts, answered, responses, failed, samples, last = connection.execute(
        _RECOUNTED, values
    ).fetchone()
    return replace(
        run,
        prompts=prompts,
        answered=answered or 0,
        responses=responses or 0,
        failed=failed or 0,
        samples=samples or 0,
        last=last or run.last,
    )


def _as_run(row: sqlite3.Row, names: Mapping[str, str]) -> Run:
    sampling = Sampling(*(row[sampling_field.name] for sampling_field in fields(Sampling)))
    name = names.get(row["persona"], "")
    return Run(sampling=sampling, persona_name=name, **{name: row[name] for name in _COLUMNS})


OF_PROBE = "coalesce(p.axes ->> '$.persona', '')"
"SQL for the key of the persona of a probe `p`, or an empty string if it has none"


_RUNS = f"""
    with placed as materialized (
        select w.id, i.id as instrument, w.language
        from wording w
        join statement s on s.id = w.statement_id
        join instrument i on i.id = s.instrument_id
        where {LIVE} and (:instrument is null or i.name = :instrument)
    ),
    asked as (
        select d.model_id, d.sampling_id, d.prompt_id, sum(d.n - d.failed) as n, sum(d.failed)
            as failed,
            max(d.at) as last, max(d.id) as newest
        from draw d group by d.model_id, d.sampling_id, d.prompt_id
    ),
    used as (
        select distinct p.prompt_id, p.audit, w.instrument, w.language, t.family, {{persona}}
            as persona
        from probe p join placed w on w.id = p.wording_id join template t on t.id = p.template_id
        where :audit is null or p.audit = :audit
    ),
    run as (
        select u.audit, u.instrument, u.language, u.family, u.persona, a.model_id, a.sampling_id,
            count(*) as prompts,
            sum(a.n > 0) as answered, sum(a.n) as responses, sum(a.failed) as failed, max(a.n)
                as samples,
            max(a.last) as last, max(a.newest) as newest
        from asked a cross join used u on u.prompt_id = a.prompt_id
        group by u.audit, u.instrument, u.language, u.family, u.persona, a.model_id, a.sampling_id
    )
    select r.audit, i.name as instrument, r.language, r.family, m.name as model, m.revision,
        m.backend, m.dtype, g.temperature, g.top_p, g.top_k, g.max_new_tokens, g.stop, g.mode,
        g.server, g.extra, g.thinking, m.id as model_id,
        g.id as sampling_id, r.prompts, r.answered, r.responses, r.failed, r.samples, r.last,
            m.encoding, m.snapshot,
        m.occasion, r.persona
    from run r
    join instrument i on i.id = r.instrument
    join model m on m.id = r.model_id
    join sampling g on g.id = r.sampling_id
    where :models is null or m.id in (select value from json_each(:models))
    order by r.last, r.newest, r.audit, i.name, r.language, m.id, g.id, r.prompts, r.family,
        r.persona
"""  # names are joined after counting, not to every prompt: three times as fast for 130,000 prompts

_RECOUNTED = f"""
    with used as (
        select distinct p.prompt_id
        from instrument i
        join statement s on s.instrument_id = i.id
        join wording w on w.statement_id = s.id and w.language = :language
        join probe p on p.wording_id = w.id and {PROBES}
        where i.name = :instrument and {LIVE}
    ),
    asked as (
        select sum(d.n - d.failed) as n, sum(d.failed) as failed, max(d.at) as last
        from used u join draw d on d.prompt_id = u.prompt_id
        where d.model_id = :model and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint) group by d.prompt_id
    )
    select count(*), sum(n > 0), sum(n), sum(failed), max(n), max(last) from asked
"""


_SCOPE = f"""
    from instrument i
    join statement s on s.id in (select value from json_each(:scope))
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and {PROBES}
    join template t on t.id = p.template_id
    where i.name = :instrument
"""

OUTDATED = """
    select s.ref, s.version, c.version
    from statement s join statement c on c.instrument_id = s.instrument_id and c.ref = s.ref
        and c.current = 1
    where s.id in (select value from json_each(:scope)) and s.current = 0 order by s.ordinal
"""

CELLS = (
    f"select s.ref, w.kind, w.ordinal, t.name, t.inverted, p.id, w.relation {_SCOPE} order "
    "by s.ordinal"
)

PLACED = f"""
    select p.id, s.ref, s.version, w.kind, w.ordinal, q.key
    from instrument i
    join statement s on s.id in (select value from json_each(:scope))
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and {PROBES}
    join prompt q on q.id = p.prompt_id
    where i.name = :instrument and (
        s.ref in (select value from json_each(:refs)) or lower(hex(q.key)) in (select value
            from json_each(:prompts))
    )
"""

GAVE = """
    select 1
    from prompt q
    join draw d on d.prompt_id = q.id and d.model_id = :model and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint)
    join given_answer r on r.draw_id = d.id
    join text x on x.id = r.text_id and x.key = :text
    where q.key = :prompt
    limit 1
"""

BY_TEXT = """
    select p.id, x.key, g.label, sum(r.count)
    from probe p
    join draw d on d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint)
    join given_answer r on r.draw_id = d.id
    join text x on x.id = r.text_id and lower(hex(x.key)) in (select value from json_each(:texts))
    left join unit u on u.text_id = r.text_id and u.template_id = p.template_id
        and u.wording_id is null
    left join reading g on g.unit_id = u.id and g.reader_id in ({readers})
    where p.id in (select value from json_each(:probes))
    group by p.id, r.text_id, g.label
"""

WORDINGS = """
    select s.ref, w.kind, w.ordinal, x.body
    from statement s
    join wording w on w.statement_id = s.id and w.language = :language
    join text x on x.id = w.text_id
    where s.id in (select value from json_each(:scope))
"""

PRINTED = f"""
    select d.prompt_id, d.fingerprint, coalesce(r.text_id, 0), coalesce(sum(r.count),
        count(distinct d.id))
    from draw d left join response r on r.draw_id = d.id
    where d.model_id = :model and d.sampling_id = :sampling and d.n > d.failed
        and (:fingerprint is null or d.fingerprint = :fingerprint) and d.prompt_id in (
            select p.prompt_id
            from instrument i
            join statement s on s.id in (select value from json_each(:scope))
            join wording w on w.statement_id = s.id and w.language = :language
            join probe p on p.wording_id = w.id and {PROBES}
            where i.name = :instrument
        )
    group by d.prompt_id, d.fingerprint, r.text_id
"""

PLANNED = f"""
    select p.id, p.prompt_id, coalesce(max(n.n), -1), coalesce(sum(d.n - d.failed), 0),
        coalesce(sum(d.n), -1)
    from instrument i
    join statement s on s.id in (select value from json_each(:scope))
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and {PROBES}
    left join draw d on d.prompt_id = p.prompt_id and d.model_id = :model
        and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint)
    left join planned n on n.prompt_id = p.prompt_id and n.model_id = :model
        and n.sampling_id = :sampling
    where i.name = :instrument
    group by p.id
"""

FAILURES = f"""
    select p.id, s.ref, sum(d.n - d.failed), max(d.reason)
    from instrument i
    join statement s on s.id in (select value from json_each(:scope))
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and {PROBES}
    join draw d on d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint)
    where i.name = :instrument
    group by p.id order by s.ordinal
"""

TEMPLATES = f"""
    select {TEMPLATE_COLUMNS}, t.id
    from template t
    where t.id in (select value from json_each(:templates)) and exists (
        select 1
        from instrument i
        join statement s on s.id in (select value from json_each(:scope))
        join wording w on w.statement_id = s.id and w.language = :language
        join probe p on p.wording_id = w.id and p.template_id = t.id and {PROBES}
        join draw d on d.prompt_id = p.prompt_id and d.model_id = :model
            and d.sampling_id = :sampling
            and (:fingerprint is null or d.fingerprint = :fingerprint)
        where i.name = :instrument
    )
    order by t.id
"""

FORMS = (
    "select name, inverted, system, user from template where id in (select value from "
    "json_each(:templates))"
)

TRUNCATED = f"""
    select p.id, sum(r.count)
    from instrument i
    join statement s on s.id in (select value from json_each(:scope))
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and {PROBES}
    join draw d on d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint)
    join response r on r.draw_id = d.id
    join thought h on h.text_id = r.text_id and h.answer_id is null
    where i.name = :instrument
    group by p.id
"""

RESPONSES = f"""
    select x.body as output, r.count, g.label, g.reason, g.start, g.stop, e.name
        as reader, d.seed, d.at,
        a.code_version, a.job_id, t.name as template, t.inverted, d.fingerprint
    from probe p
    join template t on t.id = p.template_id
    join draw d on d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint)
    join attempt a on a.id = d.attempt_id
    join response r on r.draw_id = d.id
    {HELD}
    join text x on x.id = r.text_id
    left join unit u on u.text_id = {ANSWER_ID} and u.template_id = p.template_id
        and u.wording_id is null
    left join reading g on g.unit_id = u.id and g.reader_id in ({{readers}})
    left join reader e on e.id = g.reader_id
    where p.id = :probe
    order by r.count desc, r.text_id, d.id limit :limit offset :offset
"""
