"""Schema 19 and later: plain texts, views for people, rulings, who the people are."""

from __future__ import annotations

from stores.core.migrations.packed import unpacked
from stores.core.migrations.steps import migrations, run
from stores.core.sqlite import Database


@migrations()
def m019_plain_texts(db: Database) -> None:
    """Texts are not compressed any more: see `stores.core.texts`.

    SQLite passes the rows on one by one, so no store is too large. Like every migration it is one transaction: where it
    is interrupted the store stays as it was, and the next program that opens it begins anew.
    """
    db.conn.create_function("unpacked", 2, unpacked, deterministic=True)
    run(
        db,
        """
        create table text_19 (
            id integer primary key,
            key blob not null,
            body any not null check (typeof(body) in ('text', 'blob'))
        ) strict;
        insert into text_19 select id, key, unpacked(body, packed) from text order by id;
        drop table text;
        alter table text_19 rename to text;
        create unique index text_key on text (key)
        """,
    )
    db.conn.create_function("unpacked", 2, None)


@migrations()
def m020_views(db: Database) -> None:
    """Views for people who read a store with SQL; below is what they hold. The README shows how."""
    db.execute("create index probe_wording on probe (wording_id)")
    db.create_view("v_answers", ANSWERS)
    db.create_view("v_readings", READINGS)
    db.create_view("v_stances", STANCES)


def _plain(text_id: str) -> str:
    """Return SQL for a text as a column of text; one with half a surrogate pair is shown as bytes.

    It is a query of its own, which runs only where the column is asked for.
    """
    shown = "iif(typeof(x.body) = 'text', x.body, 'not Unicode, as bytes: ' || hex(x.body))"
    return f"cast((select {shown} from text x where x.id = {text_id}) as text)"


def _turns(messages: str) -> str:
    """Return SQL for messages, [[role, content], …], as text."""
    turn = "iif(q.chat, json_extract(j.value, '$[0]') || ': ', '') || json_extract(j.value, '$[1]')"
    return f"(select group_concat({turn}, char(10, 10)) from json_each({messages}) j)"


_CONTEXT = """(
    select iif(typeof(x.body) = 'text', x.body, '[["context", "not Unicode"]]') from text x where x.id = q.context_id
)"""
_PROMPT = f"cast(coalesce({_turns(_CONTEXT)} || char(10, 10), '') || {_turns('q.messages')} as text)"

_CELL = f"""
    i.name as instrument, s.ref as statement, s.version as statement_version, s.current as statement_current, s.country,
    s.topic, w.language, cast(w.kind || iif(w.ordinal, '-' || w.ordinal, '') as text) as variant,
    {_plain("w.text_id")} as wording, p.audit, t.family as template_family, t.name as template,
    cast((
        select max(v.version) from template_version v where v.instrument_id = i.id and v.template_id = t.id
    ) as integer) as template_version,
    cast(iif(t.inverted, 'swapped', 'printed') as text) as label_order, p.axes as factors
"""
"a cell of a design: alias i, s, w, p, t"
_MODEL = """
    m.name as model, m.revision, m.snapshot, m.backend, m.dtype, m.chat_format, g.mode as sampling, g.temperature,
    g.top_p, g.top_k, g.max_new_tokens, g.stop
"""
_MODEL_27 = f"""{_MODEL.rstrip()}, g.server as left_to_server, g.extra as extra_fields, g.thinking as thinking_budget
"""
"since schema 27"
_DRAWN = """
    from instrument i
    join statement s on s.instrument_id = i.id
    join wording w on w.statement_id = s.id
    join probe p on p.wording_id = w.id
    join template t on t.id = p.template_id
    join draw d on d.prompt_id = p.prompt_id
    join model m on m.id = d.model_id
    join sampling g on g.id = d.sampling_id
"""
_FROM = f"{_DRAWN} join response r on r.draw_id = d.id left join thought h on h.text_id = r.text_id"
_ANSWER = "iif(h.text_id is null, r.text_id, h.answer_id)"
_BEFORE = f"""
    select iif(h.text_id is null, null, iif(substr(o.body, -length(a.body)) = a.body,
        substr(o.body, 1, length(o.body) - length(a.body)), o.body))
    from text o left join text a on a.id = {_ANSWER} where o.id = r.text_id
"""

ANSWERS = f"""
    select {_CELL}, {_MODEL},
        {_PROMPT} as prompt, {_plain(_ANSWER)} as response, cast(({_BEFORE}) as text) as thinking, r.count,
        d.seed, d.fingerprint, d.at as time, cast((select e.job_id from attempt e where e.id = d.attempt_id) as integer)
        as job, p.prompt_id, d.id as draw_id, r.text_id as output_id
    {_FROM} join prompt q on q.id = p.prompt_id
"""
"""One row for each distinct answer of each draw, with how often it was given (`count`).

An answer whose prompt stands in several cells of a design, as where an edit left a wording untouched, has a row in
each: `statement_current` = 1 keeps those of statements as they are now. `response` is null where the output ends within
its thought; `thinking` is what stands before the answer, with its marks. `factors` is JSON: what an audit varies
besides wording, template and order.
"""

_READ = f"""
    select {_CELL}, {_MODEL}, {_plain("r.text_id")} as response, r.count, e.kind as reader_kind, e.name as reader,
        e.version as reader_version, b.label, b.reason, b.confidence, b.note, b.at as time,
        cast(not exists (
            select 1 from reading n
            where n.unit_id = b.unit_id and n.reader_id = b.reader_id and n.codebook_id is b.codebook_id
                and (n.at, coalesce(n.uid, x''), n.revision) > (b.at, coalesce(b.uid, x''), b.revision)
        ) as integer) as newest, p.prompt_id, d.id as draw_id, r.output_id
    {_DRAWN} join given_answer r on r.draw_id = d.id
"""
_FIRST = """(
    select min(f.id) from statement v join wording f on f.statement_id = v.id
    where v.instrument_id = s.instrument_id and v.ref = s.ref and f.language = w.language and f.kind = w.kind
        and f.ordinal = w.ordinal and f.text_id = w.text_id
)"""

READINGS = f"""
    {_READ}
    join unit u on u.text_id = r.text_id and u.template_id = p.template_id and u.wording_id is null
    join reading b on b.unit_id = u.id
    join reader e on e.id = b.reader_id
    union all
    {_READ}
    join unit u on u.text_id = r.text_id and u.wording_id = {_FIRST} and u.template_id is null
    join reading b on b.unit_id = u.id
    join reader e on e.id = b.reader_id
"""
"""One row for each answer and each time somebody read it: rules beside the template, people and classifiers beside the
wording. A reader who changed a label has several rows, of which one is the `newest`; `label` is null where the answer
is unreadable or a label was taken back.
"""


def _counted(condition: str, name: str) -> str:
    return f"cast(sum(iif({condition}, r.count, 0)) as integer) as {name}"


_CUT_OFF = "h.text_id is not null and h.answer_id is null"
_COUNTS = ", ".join(
    (
        _counted("1", "answers"),
        *(_counted(f"b.label = '{label}'", label) for label in ("agree", "disagree", "neutral", "unrelated")),
        _counted("b.unit_id is not null and b.label is null and b.reason <> 'refusal'", "unreadable"),
        _counted("b.label is null and b.reason = 'refusal'", "refused"),
        _counted(_CUT_OFF, "cut_off"),
        _counted(f"b.unit_id is null and not ({_CUT_OFF})", "unread"),
    )
)

STANCES = f"""
    select {_CELL}, {_MODEL}, e.kind as reader_kind, e.name as reader, e.version as reader_version, {_COUNTS},
        cast(sum(iif(b.label = 'agree', 1.0 * r.count, 0))
            / nullif(sum(iif(b.label in ('agree', 'disagree'), r.count, 0)), 0) as real) as agree_share
    {_FROM}
    left join unit u on u.text_id = {_ANSWER} and u.template_id = p.template_id and u.wording_id is null
    left join reading b on b.unit_id = u.id
    left join reader e on e.id = b.reader_id
    group by i.name, s.ref, p.audit, t.name, m.name, p.id, d.model_id, d.sampling_id, b.reader_id
"""
"""One row for each cell of a design, model, sampling and rule: how its answers were read.

Answers that no rule has read, or that were cut off in thought, stand in a row without a reader. What a verdict makes of
this depends on options (which rule, the least number of readable answers, the band), so verdicts are no view:
`workbench verdicts --csv` writes them.
"""


@migrations()
def m021_rulings(db: Database) -> None:
    """Auditors' rulings, as events: see `stores.annotation.rulings`. A null verdict takes back the ruling `undoes`."""
    run(
        db,
        """
        create table ruling (
            uid blob primary key,
            kind text not null check (kind in ('statement', 'wording', 'prompt', 'answer', 'reading')),
            subject_key blob not null,
            subject text not null,
            verdict text,
            label text,
            reason text not null,
            auditor text not null,
            at text not null,
            undoes blob,
            check ((verdict is null) = (undoes is not null))
        ) strict, without rowid;
        create index ruling_of on ruling (subject_key)
        """,
    )


@migrations()
def m022_people(db: Database) -> None:
    """What is said of who annotates and answers, as events: see `stores.annotation.described`. Null takes back."""
    run(
        db,
        """
        create table person_field (
            uid blob primary key,
            person text not null,
            field text not null,
            value text,
            said_by text not null,
            at text not null
        ) strict, without rowid
        """,
    )


@migrations()
def m023_control_samples(db: Database) -> None:
    """Random control samples of answers, as they were drawn: see `stores.annotation.control_samples`."""
    run(
        db,
        """
        create table control_sample (
            uid blob primary key,
            run_key blob not null,
            run text not null,
            reader_kind text not null,
            reader text not null,
            reader_version text not null,
            seed integer not null,
            strata text not null,
            drawn_by text not null,
            at text not null
        ) strict, without rowid;
        create index control_sample_of on control_sample (run_key);
        create table control_item (
            sample blob not null references control_sample,
            ordinal integer not null,
            ref text not null,
            stratum text not null,
            prompt blob not null,
            text blob not null,
            label text,
            answers integer not null,
            places text not null,
            primary key (sample, ordinal)
        ) strict, without rowid
        """,
    )


@migrations()
def m024_review_leases(db: Database) -> None:
    """Who looks at what in an auditor's queue now: see `stores.annotation.review_leases`."""
    run(
        db,
        """
        create table review_lease (
            run_key blob not null,
            item text not null,
            auditor text not null,
            until text not null,
            primary key (run_key, item)
        ) strict, without rowid
        """,
    )


@migrations()
def m025_gold_choices(db: Database) -> None:
    """How many people's labels for a policy issue make gold, as somebody chose it; the newest counts, 2 without one."""
    run(
        db,
        """
        create table gold_choice (
            id integer primary key,
            instrument_id integer not null references instrument,
            fewest integer not null check (fewest >= 1),
            chosen_by text not null,
            at text not null
        ) strict;
        create index gold_choice_of on gold_choice (instrument_id)
        """,
    )


@migrations()
def m026_probes(db: Database) -> None:
    """Jobs that look at some answers first, wait for a person's decision, or are hidden: see `stores.jobs.jobs`.

    `question` says what a job waits for a person to decide, `patient` that a person let it go on although nothing could
    be read.
    """
    run(
        db,
        """
        alter table job add column probe text;
        alter table job add column question text not null default '';
        alter table job add column patient integer not null default 0 check (patient in (0, 1));
        alter table job add column hidden integer not null default 0 check (hidden in (0, 1))
        """,
    )


@migrations()
def m027_dialects(db: Database) -> None:
    """What a sampling leaves to an endpoint, adds to its requests, and lets it think: see `Sampling`.

    Views show it too, so that a query does not pool what differs.
    """
    run(
        db,
        """
        drop view v_answers;
        drop view v_readings;
        drop view v_stances;
        alter table sampling add column server text not null default '';
        alter table sampling add column extra text not null default '';
        alter table sampling add column thinking text not null default ''
        """,
    )
    for name, view in (("v_answers", ANSWERS), ("v_readings", READINGS), ("v_stances", STANCES)):
        db.create_view(name, view.replace(_MODEL, _MODEL_27))


@migrations()
def m028_frozen_plans(db: Database) -> None:
    """What was to be asked and how it was to be judged, noted before, and which jobs follow it: `stores.jobs.plans`."""
    run(
        db,
        """
        create table frozen_plan (
            hash text primary key,
            text text not null,
            at text not null
        ) strict;
        alter table job add column plan text references frozen_plan
        """,
    )


@migrations()
def m029_batches(db: Database) -> None:
    """Batches of requests that jobs send to endpoints, and which jobs send their requests so: `stores.jobs.batches`."""
    run(
        db,
        """
        alter table job add column batched integer not null default 0 check (batched in (0, 1));
        create table server_batch (
            token text primary key,
            job_id integer not null references job,
            endpoint text not null,
            requests text not null,
            round integer not null,
            file text not null default '',
            batch text not null default '',
            state text not null default '',
            completed integer not null default 0,
            failed integer not null default 0,
            created_at text not null,
            looked_at text,
            closed_at text
        ) strict;
        create index server_batch_of on server_batch (job_id)
        """,
    )


@migrations()
def m030_personas(db: Database) -> None:
    """What stands before prompts, by the key that probes have on their axis `persona`: see `stores.runs.personas`.

    turns : JSON, [[role, text], …]
    """
    run(
        db,
        """
        create table persona (
            key blob primary key,
            name text not null,
            kind text not null check (kind in ('persona', 'system', 'conversation')),
            language text not null default '',
            turns text not null
        ) strict, without rowid
        """,
    )


@migrations()
def m031_brought_lexicons(db: Database) -> None:
    """Lexicons that instruments bring, by which answers to them are read: see `stores.instruments.lexicon_rows`."""
    run(
        db,
        """
        create table brought_lexicon (
            instrument_id integer not null references instrument,
            language text not null,
            text text not null,
            at text not null,
            primary key (instrument_id, language)
        ) strict, without rowid
        """,
    )


@migrations()
def m032_settled(db: Database) -> None:
    """Which answers of a seed a draw asked for, and which prompts are asked only until their verdict is settled, by
    which rule: see `stores.runs.settlements`.
    """
    run(
        db,
        """
        alter table draw add column first integer not null default 0;
        alter table draw add column asked integer;
        create table verdict_rule (
            id integer primary key,
            samples integer not null check (samples > 0),
            minimum integer not null,
            rule text not null,
            low real not null,
            high real not null,
            reader text not null,
            reader_version text not null,
            unique (samples, minimum, rule, low, high, reader, reader_version)
        ) strict;
        alter table planned add column rule_id integer references verdict_rule;
        alter table planned add column settled_at integer
        """,
    )


@migrations()
def m033_codebook_edits(db: Database) -> None:
    """Which version of a codebook counts from when on, who chose it and why: see `stores.annotation.codebooks`."""
    run(
        db,
        """
        create table codebook_edit (
            uid blob primary key,
            codebook_id integer not null references codebook,
            person text not null,
            note text not null,
            at text not null
        ) strict, without rowid
        """,
    )
