"""The queries on one run. `run_rows.run_values` binds their values; `{readers}`: those whose readings count."""

from __future__ import annotations

from stores.instruments.templates import PROBES, TEMPLATE_COLUMNS
from stores.runs.thoughts import ANSWER_ID, HELD

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
    from statement s join statement c on c.instrument_id = s.instrument_id and c.ref = s.ref and c.current = 1
    where s.id in (select value from json_each(:scope)) and s.current = 0 order by s.ordinal
"""

CELLS = f"select s.ref, w.kind, w.ordinal, t.name, t.inverted, p.id, w.relation {_SCOPE} order by s.ordinal"

PLACED = f"""
    select p.id, s.ref, s.version, w.kind, w.ordinal, q.key
    from instrument i
    join statement s on s.id in (select value from json_each(:scope))
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and {PROBES}
    join prompt q on q.id = p.prompt_id
    where i.name = :instrument and (
        s.ref in (select value from json_each(:refs)) or lower(hex(q.key)) in (select value from json_each(:prompts))
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
    left join unit u on u.text_id = r.text_id and u.template_id = p.template_id and u.wording_id is null
    left join reading g on g.unit_id = u.id and g.reader_id in ({readers})
    where p.id in (select value from json_each(:probes))
    group by p.id, r.text_id, g.label
"""

ASKED = f"""
    select a.probe, a.system, a.user, x.body
    from (select p.id as probe, t.system, t.user, w.text_id {_SCOPE}) a join text x on x.id = a.text_id
"""

COUNTS = f"""
    with answered as (
        select p.id as probe, p.template_id, r.text_id, r.count
        from instrument i
        join statement s on s.id in (select value from json_each(:scope))
        join wording w on w.statement_id = s.id and w.language = :language
        join probe p on p.wording_id = w.id and {PROBES}
        join draw d on d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint)
        join given_answer r on r.draw_id = d.id
        where i.name = :instrument
    )
    select a.probe, g.label, g.label is null and coalesce(g.reason, '') = 'refusal' as refused, sum(a.count)
    from answered a
    left join unit u on u.text_id = a.text_id and u.template_id = a.template_id and u.wording_id is null
    left join reading g on g.unit_id = u.id and g.reader_id in ({{readers}})
    group by a.probe, g.label, refused
"""

PRINTED = f"""
    select d.prompt_id, d.fingerprint, coalesce(r.text_id, 0), coalesce(sum(r.count), count(distinct d.id))
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
    select p.id, max(sum(d.n - d.failed), iif(:fingerprint is null, coalesce(max(n.n), sum(d.n)), sum(d.n)))
    from instrument i
    join statement s on s.id in (select value from json_each(:scope))
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and {PROBES}
    join draw d on d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint)
    left join planned n on n.prompt_id = p.prompt_id and n.model_id = :model and n.sampling_id = :sampling
    where i.name = :instrument
    group by p.id
"""

KEPT_OF_PLAN = f"""
    with used as materialized (
        select distinct p.prompt_id
        from instrument i
        join statement s on s.id in (select value from json_each(:scope))
        join wording w on w.statement_id = s.id and w.language = :language
        join probe p on p.wording_id = w.id and {PROBES}
        where i.name = :instrument
    ),
    kept as materialized (
        select u.prompt_id, n.n as planned, sum(d.n - d.failed) as came, sum(d.n) as asked
        from used u
        left join draw d on d.prompt_id = u.prompt_id and d.model_id = :model and d.sampling_id = :sampling
            and (:fingerprint is null or d.fingerprint = :fingerprint)
        left join planned n on n.model_id = :model and n.sampling_id = :sampling and n.prompt_id = u.prompt_id
        group by u.prompt_id
    )
    select coalesce(sum(coalesce(planned, asked)), 0),
        coalesce(sum(min(coalesce(came, 0), coalesce(planned, asked))), 0)
    from kept where planned is not null or asked is not null
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
    select distinct {TEMPLATE_COLUMNS}, t.id {_SCOPE}
    and exists (
        select 1 from draw d where d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint)
    )
    order by t.id
"""

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
    select x.body as output, r.count, g.label, g.reason, g.start, g.stop, e.name as reader, d.seed, d.at,
        a.code_version, a.job_id, t.name as template, t.inverted, d.fingerprint
    from probe p
    join template t on t.id = p.template_id
    join draw d on d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint)
    join attempt a on a.id = d.attempt_id
    join response r on r.draw_id = d.id
    {HELD}
    join text x on x.id = r.text_id
    left join unit u on u.text_id = {ANSWER_ID} and u.template_id = p.template_id and u.wording_id is null
    left join reading g on g.unit_id = u.id and g.reader_id in ({{readers}})
    left join reader e on e.id = g.reader_id
    where p.id = :probe
    order by r.count desc, r.text_id, d.id limit :limit offset :offset
"""
