-- Views for people who read a store with SQL; `workbench help data` shows how.
--
-- A text with half a surrogate pair is shown as its bytes. Each text is a query of its own, which runs only where its
-- column is asked for.

-- One row for each distinct answer of each draw, with how often it was given (`count`).
--
-- An answer whose prompt stands in several cells of a design, as where an edit left a wording untouched, has a row in
-- each: `statement_current` = 1 keeps those of statements as they are now. `response` is null where the output ends
-- within its thought; `thinking` is what stands before the answer, with its marks. `factors` is JSON: what an audit
-- varies besides wording, template and order.
create view v_answers as
select
    i.name as instrument, s.ref as statement, s.version as statement_version, s.current as statement_current, s.country,
    s.topic, w.language, cast(w.kind || iif(w.ordinal, '-' || w.ordinal, '') as text) as variant,
    cast((
        select iif(typeof(x.body) = 'text', x.body, 'not Unicode, as bytes: ' || hex(x.body))
        from text x where x.id = w.text_id
    ) as text) as wording,
    p.audit, t.family as template_family, t.name as template,
    cast((
        select max(v.version) from template_version v where v.instrument_id = i.id and v.template_id = t.id
    ) as integer) as template_version,
    cast(iif(t.inverted, 'swapped', 'printed') as text) as label_order, p.axes as factors,
    m.name as model, m.revision, m.snapshot, m.backend, m.dtype, m.chat_format, g.mode as sampling, g.temperature,
    g.top_p, g.top_k, g.max_new_tokens, g.stop, g.server as left_to_server, g.extra as extra_fields,
    g.thinking as thinking_budget,
    cast(coalesce((
        select group_concat(
            iif(q.chat, json_extract(j.value, '$[0]') || ': ', '') || json_extract(j.value, '$[1]'), char(10, 10)
        )
        from json_each((
            select iif(typeof(x.body) = 'text', x.body, '[["context", "not Unicode"]]')
            from text x where x.id = q.context_id
        )) j
    ) || char(10, 10), '') || (
        select group_concat(
            iif(q.chat, json_extract(j.value, '$[0]') || ': ', '') || json_extract(j.value, '$[1]'), char(10, 10)
        )
        from json_each(q.messages) j
    ) as text) as prompt,
    cast((
        select iif(typeof(x.body) = 'text', x.body, 'not Unicode, as bytes: ' || hex(x.body))
        from text x where x.id = iif(h.text_id is null, r.text_id, h.answer_id)
    ) as text) as response,
    cast((
        select iif(h.text_id is null, null, iif(substr(o.body, -length(a.body)) = a.body,
            substr(o.body, 1, length(o.body) - length(a.body)), o.body))
        from text o left join text a on a.id = iif(h.text_id is null, r.text_id, h.answer_id) where o.id = r.text_id
    ) as text) as thinking,
    r.count, d.seed, d.fingerprint, d.at as time,
    cast((select e.job_id from attempt e where e.id = d.attempt_id) as integer) as job,
    p.prompt_id, d.id as draw_id, r.text_id as output_id
from instrument i
join statement s on s.instrument_id = i.id
join wording w on w.statement_id = s.id
join probe p on p.wording_id = w.id
join template t on t.id = p.template_id
join draw d on d.prompt_id = p.prompt_id
join model m on m.id = d.model_id
join sampling g on g.id = d.sampling_id
join response r on r.draw_id = d.id
left join thought h on h.text_id = r.text_id
join prompt q on q.id = p.prompt_id;

-- One row for each answer and each time somebody read it: rules beside the template, people and classifiers beside the
-- wording. A reader who changed a label has several rows, of which one is the `newest`; `label` is null where an answer
-- is unreadable or a label was taken back. The second half differs from the first only in the join of `unit`: what
-- people and classifiers read stands at the first version of a wording that had this text.
create view v_readings as
select
    i.name as instrument, s.ref as statement, s.version as statement_version, s.current as statement_current, s.country,
    s.topic, w.language, cast(w.kind || iif(w.ordinal, '-' || w.ordinal, '') as text) as variant,
    cast((
        select iif(typeof(x.body) = 'text', x.body, 'not Unicode, as bytes: ' || hex(x.body))
        from text x where x.id = w.text_id
    ) as text) as wording,
    p.audit, t.family as template_family, t.name as template,
    cast((
        select max(v.version) from template_version v where v.instrument_id = i.id and v.template_id = t.id
    ) as integer) as template_version,
    cast(iif(t.inverted, 'swapped', 'printed') as text) as label_order, p.axes as factors,
    m.name as model, m.revision, m.snapshot, m.backend, m.dtype, m.chat_format, g.mode as sampling, g.temperature,
    g.top_p, g.top_k, g.max_new_tokens, g.stop, g.server as left_to_server, g.extra as extra_fields,
    g.thinking as thinking_budget,
    cast((
        select iif(typeof(x.body) = 'text', x.body, 'not Unicode, as bytes: ' || hex(x.body))
        from text x where x.id = r.text_id
    ) as text) as response,
    r.count, e.kind as reader_kind, e.name as reader, e.version as reader_version, b.label, b.reason, b.confidence,
    b.note, b.at as time,
    cast(not exists (
        select 1 from reading n
        where n.unit_id = b.unit_id and n.reader_id = b.reader_id and n.codebook_id is b.codebook_id
            and (n.at, coalesce(n.uid, x''), n.revision) > (b.at, coalesce(b.uid, x''), b.revision)
    ) as integer) as newest,
    p.prompt_id, d.id as draw_id, r.output_id
from instrument i
join statement s on s.instrument_id = i.id
join wording w on w.statement_id = s.id
join probe p on p.wording_id = w.id
join template t on t.id = p.template_id
join draw d on d.prompt_id = p.prompt_id
join model m on m.id = d.model_id
join sampling g on g.id = d.sampling_id
join given_answer r on r.draw_id = d.id
join unit u on u.text_id = r.text_id and u.template_id = p.template_id and u.wording_id is null
join reading b on b.unit_id = u.id
join reader e on e.id = b.reader_id
union all
select
    i.name as instrument, s.ref as statement, s.version as statement_version, s.current as statement_current, s.country,
    s.topic, w.language, cast(w.kind || iif(w.ordinal, '-' || w.ordinal, '') as text) as variant,
    cast((
        select iif(typeof(x.body) = 'text', x.body, 'not Unicode, as bytes: ' || hex(x.body))
        from text x where x.id = w.text_id
    ) as text) as wording,
    p.audit, t.family as template_family, t.name as template,
    cast((
        select max(v.version) from template_version v where v.instrument_id = i.id and v.template_id = t.id
    ) as integer) as template_version,
    cast(iif(t.inverted, 'swapped', 'printed') as text) as label_order, p.axes as factors,
    m.name as model, m.revision, m.snapshot, m.backend, m.dtype, m.chat_format, g.mode as sampling, g.temperature,
    g.top_p, g.top_k, g.max_new_tokens, g.stop, g.server as left_to_server, g.extra as extra_fields,
    g.thinking as thinking_budget,
    cast((
        select iif(typeof(x.body) = 'text', x.body, 'not Unicode, as bytes: ' || hex(x.body))
        from text x where x.id = r.text_id
    ) as text) as response,
    r.count, e.kind as reader_kind, e.name as reader, e.version as reader_version, b.label, b.reason, b.confidence,
    b.note, b.at as time,
    cast(not exists (
        select 1 from reading n
        where n.unit_id = b.unit_id and n.reader_id = b.reader_id and n.codebook_id is b.codebook_id
            and (n.at, coalesce(n.uid, x''), n.revision) > (b.at, coalesce(b.uid, x''), b.revision)
    ) as integer) as newest,
    p.prompt_id, d.id as draw_id, r.output_id
from instrument i
join statement s on s.instrument_id = i.id
join wording w on w.statement_id = s.id
join probe p on p.wording_id = w.id
join template t on t.id = p.template_id
join draw d on d.prompt_id = p.prompt_id
join model m on m.id = d.model_id
join sampling g on g.id = d.sampling_id
join given_answer r on r.draw_id = d.id
join unit u on u.text_id = r.text_id and u.wording_id = (
    select min(f.id) from statement v join wording f on f.statement_id = v.id
    where v.instrument_id = s.instrument_id and v.ref = s.ref and f.language = w.language and f.kind = w.kind
        and f.ordinal = w.ordinal and f.text_id = w.text_id
) and u.template_id is null
join reading b on b.unit_id = u.id
join reader e on e.id = b.reader_id;

-- One row for each cell of a design, model, sampling and rule: how its answers were read.
--
-- Answers that no rule has read, or that were cut off in thought, stand in a row without a reader. What a verdict makes
-- of this depends on options (which rule, the least number of readable answers, the band), so verdicts are no view:
-- `workbench show --csv` writes them.
create view v_stances as
select
    i.name as instrument, s.ref as statement, s.version as statement_version, s.current as statement_current, s.country,
    s.topic, w.language, cast(w.kind || iif(w.ordinal, '-' || w.ordinal, '') as text) as variant,
    cast((
        select iif(typeof(x.body) = 'text', x.body, 'not Unicode, as bytes: ' || hex(x.body))
        from text x where x.id = w.text_id
    ) as text) as wording,
    p.audit, t.family as template_family, t.name as template,
    cast((
        select max(v.version) from template_version v where v.instrument_id = i.id and v.template_id = t.id
    ) as integer) as template_version,
    cast(iif(t.inverted, 'swapped', 'printed') as text) as label_order, p.axes as factors,
    m.name as model, m.revision, m.snapshot, m.backend, m.dtype, m.chat_format, g.mode as sampling, g.temperature,
    g.top_p, g.top_k, g.max_new_tokens, g.stop, g.server as left_to_server, g.extra as extra_fields,
    g.thinking as thinking_budget, e.kind as reader_kind, e.name as reader, e.version as reader_version,
    cast(sum(iif(1, r.count, 0)) as integer) as answers,
    cast(sum(iif(b.label = 'agree', r.count, 0)) as integer) as agree,
    cast(sum(iif(b.label = 'disagree', r.count, 0)) as integer) as disagree,
    cast(sum(iif(b.label = 'neutral', r.count, 0)) as integer) as neutral,
    cast(sum(iif(b.label = 'unrelated', r.count, 0)) as integer) as unrelated,
    cast(sum(iif(
        b.unit_id is not null and b.label is null and b.reason <> 'refusal', r.count, 0
    )) as integer) as unreadable,
    cast(sum(iif(b.label is null and b.reason = 'refusal', r.count, 0)) as integer) as refused,
    cast(sum(iif(h.text_id is not null and h.answer_id is null, r.count, 0)) as integer) as cut_off,
    cast(sum(iif(
        b.unit_id is null and not (h.text_id is not null and h.answer_id is null), r.count, 0
    )) as integer) as unread,
    cast(sum(iif(b.label = 'agree', 1.0 * r.count, 0))
        / nullif(sum(iif(b.label in ('agree', 'disagree'), r.count, 0)), 0) as real) as agree_share
from instrument i
join statement s on s.instrument_id = i.id
join wording w on w.statement_id = s.id
join probe p on p.wording_id = w.id
join template t on t.id = p.template_id
join draw d on d.prompt_id = p.prompt_id
join model m on m.id = d.model_id
join sampling g on g.id = d.sampling_id
join response r on r.draw_id = d.id
left join thought h on h.text_id = r.text_id
left join unit u on u.text_id = iif(h.text_id is null, r.text_id, h.answer_id) and u.template_id = p.template_id
    and u.wording_id is null
left join reading b on b.unit_id = u.id
left join reader e on e.id = b.reader_id
group by i.name, s.ref, p.audit, t.name, m.name, p.id, d.model_id, d.sampling_id, b.reader_id;
