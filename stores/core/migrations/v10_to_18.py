"""Schemas 10 to 18: plans, inclusion, thoughts, identity, versions of templates and models."""

from __future__ import annotations

import sqlite3
from collections import defaultdict

from stores.core.migrations.packed import as_packed, unpacked
from stores.core.migrations.steps import migrations, run
from stores.core.sqlite import Database
from stores.core.texts import restored
from workbench.domain.keys import text_key
from workbench.domain.thinking import split

AT_ONCE = 2000
"texts that are looked through at once"


@migrations()
def m010_plans(db: Database) -> None:
    """How many answers were planned for each prompt: the minimum of readable ones is a share of them.

    A plan is the largest one that was begun. For answers from before there were plans it is what the jobs that drew
    them asked for; where no job says that, it is what was drawn, failed answers included.
    """
    run(
        db,
        """
        create table planned (
            model_id integer not null references model,
            sampling_id integer not null references sampling,
            prompt_id integer not null references prompt,
            n integer not null check (n > 0),
            primary key (model_id, sampling_id, prompt_id)
        ) strict, without rowid;
        insert into planned
        select d.model_id, d.sampling_id, d.prompt_id,
            coalesce(max(json_extract(j.spec, '$.samples')), max(sum(d.n - d.failed), max(d.n)))
        from draw d
        join sampling g on g.id = d.sampling_id and g.mode = 'sample'
        join attempt a on a.id = d.attempt_id
        join job j on j.id = a.job_id
        group by d.model_id, d.sampling_id, d.prompt_id
        having max(d.n) > 0
        """,
    )


@migrations()
def m011_inclusion(db: Database) -> None:
    """With which probability a draw took each item of a test set, and how many identical answers the item stood for.

    Both are null where the draw made no claim about answers: in training sets, and in sets that were drawn before these
    columns, or imported.
    """
    run(
        db,
        """
        alter table queue_item add column inclusion real check (inclusion > 0 and inclusion <= 1);
        alter table queue_item add column answers integer check (answers > 0)
        """,
    )


@migrations()
def m012_thoughts(db: Database) -> None:
    """What models thought before they answered, and how the turns of a chat were encoded.

    A response is the output as it was written. `thought` has a row for each text that holds a thought: `answer_id` is
    the text after it, null where the output ends within the thought. The view `given_answer` is what is read: the
    answers of draws, without those that were cut off in thought. Responses from before are left as they were written;
    the thoughts in them are found here. `model.encoding` says how turns were put into the chat format, as far as known.
    """
    run(
        db,
        """
        alter table model add column encoding text not null default 'unknown';
        create table thought (
            text_id integer primary key references text,
            answer_id integer references text
        ) strict;
        create view given_answer as
            select r.draw_id, coalesce(t.answer_id, r.text_id) as text_id, r.count, r.text_id as output_id
            from response r left join thought t on t.text_id = r.text_id
            where t.text_id is null or t.answer_id is not null
        """,
    )
    _find_thoughts(db.conn)


def _find_thoughts(connection: sqlite3.Connection) -> None:
    """Note the thoughts in all texts, some at a time: they may be more than memory holds."""
    (last,) = connection.execute("select coalesce(max(id), 0) from text").fetchone()
    for first in range(0, last + 1, AT_ONCE):
        rows = connection.execute(
            "select id, body, packed from text where id > ? and id <= ?", (first, min(last, first + AT_ONCE))
        ).fetchall()
        for rowid, body, packed in rows:
            text = restored(unpacked(body, packed))
            output = split(text)
            if output.answer != text:
                answer = None if output.answer is None else _text_id(connection, output.answer)
                connection.execute("insert into thought values (?, ?) on conflict do nothing", (rowid, answer))


def _text_id(connection: sqlite3.Connection, text: str) -> int:
    connection.execute(
        "insert into text (key, body, packed) values (?, ?, ?) on conflict (key) do nothing",
        (text_key(text), *as_packed(text)),
    )
    return int(connection.execute("select id from text where key = ?", (text_key(text),)).fetchone()[0])


@migrations()
def m013_choice_warnings(db: Database) -> None:
    """Warnings of files of multiple-choice questions and answers: JSON lists of sentences, shown with every result."""
    run(
        db,
        """
        alter table choice add column warnings text not null default '[]';
        alter table answer_set add column warnings text not null default '[]'
        """,
    )


@migrations()
def m014_identity(db: Database) -> None:
    """What tells one store file from another, and a worker that lives from one that is gone.

    `identity.uid` is drawn once, when the file is made. A worker counts its heartbeats in `job.beats`: somebody on
    another machine sees whether the count moves, and compares no clocks. `attempt.place` tells machines and containers
    of the same name apart.
    """
    run(
        db,
        """
        create table identity (uid blob not null) strict;
        insert into identity (uid) values (randomblob(16));
        alter table job add column beats integer not null default 0;
        alter table attempt add column place text not null default ''
        """,
    )


@migrations()
def m015_template_versions(db: Database) -> None:
    """Versions of templates, as statements have them.

    A version is a template's text in both label orders and one language; two versions share the order that did not
    change. What was imported or asked before is numbered in the order in which it came: of each label order the first
    text makes the first version, and so on.
    """
    run(
        db,
        """
        create table template_version (
            instrument_id integer not null references instrument,
            template_id integer not null references template,
            version integer not null check (version > 0),
            primary key (instrument_id, template_id, version)
        ) strict, without rowid
        """,
    )
    chains: dict[tuple[object, ...], dict[str, dict[int, list[int]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    current: dict[tuple[object, ...], dict[str, dict[int, int]]] = defaultdict(lambda: defaultdict(dict))
    for instrument, rowid, audit, family, name, language, inverted, now in db.execute(_OLD_TEMPLATES):
        chains[instrument, audit, family, name][language][inverted].append(rowid)
        if now:
            current[instrument, audit, family, name][language][inverted] = rowid
    for chain, languages in chains.items():
        versions = [
            {order: rowids[min(place, len(rowids) - 1)] for order, rowids in orders.items()}
            for orders in languages.values()
            for place in range(max(map(len, orders.values())))
        ]
        versions.sort(key=lambda version: max(version.values()))
        for now in current[chain].values():
            if not any(now.items() <= version.items() for version in versions):
                versions.append(now)
        for number, version in enumerate(versions, start=1):
            for rowid in version.values():
                db.execute("insert into template_version values (?, ?, ?)", (chain[0], rowid, number))


_OLD_TEMPLATES = """
    select u.instrument_id, t.id, t.audit, t.family, t.name, t.language, t.inverted, max(u.now)
    from (
        select instrument_id, template_id, 1 as now from instrument_template
        union all
        select distinct s.instrument_id, p.template_id, 0
        from probe p join wording w on w.id = p.wording_id join statement s on s.id = w.statement_id
    ) u join template t on t.id = u.template_id
    group by u.instrument_id, t.id order by u.instrument_id, t.id
"""


@migrations()
def m016_origin(db: Database) -> None:
    """Who created a job: a mark that only their installation can make, and empty for jobs from before."""
    db.execute("alter table job add column mark text not null default ''")


@migrations()
def m017_snapshots(db: Database) -> None:
    """Which model an endpoint reported (part of a model's identity) and the fingerprint of the replies (of a draw).

    Both are empty where the endpoint reported none, and for what was answered before they were kept.
    """
    db.execute("alter table model add column snapshot text not null default ''")
    db.execute("alter table draw add column fingerprint text not null default ''")


@migrations()
def m018_spellings(db: Database) -> None:
    """By which version of the spellings of labels a probability was computed: the first had no end of the word."""
    run(db, "alter table score add column version text not null default '1'")
