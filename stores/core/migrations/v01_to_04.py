"""Schemas 1 to 4: instruments, prompts, answers, labels by people."""

from __future__ import annotations

from stores.core.migrations.steps import migrations, run
from stores.core.sqlite import Database


@migrations()
def m001_instruments(db: Database) -> None:
    """Texts, instruments, statements, people's answers."""
    run(db, _INSTRUMENTS)


_INSTRUMENTS = """
        create table text (
            id integer primary key,
            key blob not null unique,
            body text,
            packed blob,
            check ((body is null) <> (packed is null))
        ) strict;
        create table instrument (
            id integer primary key,
            name text not null unique,
            title text not null,
            version text not null,
            language text not null,
            source text not null,
            citation text not null,
            licence text not null,
            issues text not null,
            notes text not null,
            imported_at text not null
        ) strict;
        create table statement (
            id integer primary key,
            instrument_id integer not null references instrument,
            ref text not null,
            version integer not null,
            current integer not null check (current in (0, 1)),
            ordinal integer not null,
            country text,
            topic text,
            created_at text not null,
            unique (instrument_id, ref, version)
        ) strict;
        create unique index statement_current on statement (instrument_id, ref) where current = 1;
        create table wording (
            id integer primary key,
            statement_id integer not null references statement,
            kind text not null,
            ordinal integer not null,
            language text not null,
            text_id integer not null references text,
            author text,
            unique (statement_id, language, kind, ordinal)
        ) strict;
        create table reader (
            id integer primary key,
            kind text not null check (kind in ('rule', 'classifier', 'person', 'adjudication', 'import')),
            name text not null,
            version text not null,
            created_at text not null,
            unique (kind, name, version)
        ) strict;
        create table issue_label (
            statement_id integer not null references statement,
            issue text not null,
            reader_id integer not null references reader,
            revision integer not null,
            label integer not null check (label in (-1, 0, 1)),
            at text not null,
            primary key (statement_id, issue, reader_id, revision)
        ) strict, without rowid;
        create table party (
            id integer primary key,
            instrument_id integer not null references instrument,
            country text not null,
            name text not null,
            position real,
            unique (instrument_id, country, name)
        ) strict;
        create table party_answer (
            party_id integer not null references party,
            statement_id integer not null references statement,
            answer text not null,
            stance integer check (stance in (-1, 0, 1)),
            primary key (party_id, statement_id)
        ) strict, without rowid;
        create table survey_answer (
            statement_id integer not null references statement,
            respondent text not null,
            kind text not null,
            ordinal integer not null,
            agrees integer not null check (agrees in (0, 1)),
            primary key (statement_id, respondent, kind, ordinal)
        ) strict, without rowid
        """


@migrations()
def m002_prompts(db: Database) -> None:
    """Templates, prompts and the probes that lead to them."""
    run(
        db,
        """
        create table template (
            id integer primary key,
            key blob not null unique,
            audit text not null,
            name text not null,
            inverted integer not null check (inverted in (0, 1)),
            family text not null,
            address text not null,
            language text not null,
            chat integer not null check (chat in (0, 1)),
            system text,
            user text not null,
            positive text not null,
            negative text not null
        ) strict;
        create table instrument_template (
            instrument_id integer not null references instrument,
            template_id integer not null references template,
            ordinal integer not null,
            primary key (instrument_id, template_id)
        ) strict, without rowid;
        create table prompt (
            id integer primary key,
            key blob not null unique,
            chat integer not null check (chat in (0, 1)),
            messages text not null
        ) strict;
        create table probe (
            id integer primary key,
            audit text not null,
            wording_id integer not null references wording,
            template_id integer not null references template,
            axes text not null,
            prompt_id integer not null references prompt,
            unique (audit, wording_id, template_id, axes)
        ) strict;
        create index probe_prompt on probe (prompt_id)
        """,
    )


@migrations()
def m003_responses(db: Database) -> None:
    """Jobs, the worker's attempts at them, what was drawn from which model, and what was read in it."""
    run(db, _RESPONSES)


_RESPONSES = """
        create table model (
            id integer primary key,
            key blob not null unique,
            name text not null,
            revision text not null,
            backend text not null,
            dtype text not null,
            chat_format text not null,
            first_seen text not null
        ) strict;
        create table sampling (
            id integer primary key,
            key blob not null unique,
            temperature real not null,
            top_p real not null,
            top_k integer,
            max_new_tokens integer not null
        ) strict;
        create table job (
            id integer primary key,
            uid blob not null unique,
            kind text not null,
            spec text not null,
            state text not null check (state in ('queued', 'running', 'done', 'cancelled', 'failed')),
            stop_requested integer not null default 0,
            created_at text not null,
            finished_at text,
            heartbeat text,
            done integer not null default 0,
            total integer not null default 0,
            progress text not null default '{}',
            message text not null default ''
        ) strict;
        create table attempt (
            id integer primary key,
            uid blob not null unique,
            job_id integer not null references job,
            host text not null,
            pid integer not null,
            code_version text not null,
            started_at text not null,
            ended_at text,
            outcome text
        ) strict;
        create table draw (
            id integer primary key,
            prompt_id integer not null references prompt,
            model_id integer not null references model,
            sampling_id integer not null references sampling,
            attempt_id integer not null references attempt,
            seed integer not null,
            n integer not null,
            failed integer not null,
            reason text not null,
            at text not null
        ) strict;
        create index draw_asked on draw (model_id, sampling_id, prompt_id, n);
        create table response (
            draw_id integer not null references draw,
            text_id integer not null references text,
            count integer not null check (count > 0),
            primary key (draw_id, text_id)
        ) strict, without rowid;
        create table unit (
            id integer primary key,
            text_id integer not null references text,
            template_id integer references template,
            wording_id integer references wording
        ) strict;
        create unique index unit_rule on unit (text_id, template_id) where wording_id is null;
        create unique index unit_context on unit (text_id, template_id, wording_id) where wording_id is not null;
        create table reading (
            unit_id integer not null references unit,
            reader_id integer not null references reader,
            revision integer not null,
            label text,
            reason text not null,
            start integer,
            stop integer,
            confidence real,
            note text,
            elapsed_ms integer,
            at text not null,
            primary key (unit_id, reader_id, revision)
        ) strict, without rowid
        """


@migrations()
def m004_annotation(db: Database) -> None:
    """What the bias score needs: sides of statements, labels by people, adjudications, classifiers.

    People's labels are readings with a `uid`, by which stores merge, and a codebook. The newest by (at, uid) counts;
    a null label withdraws. An adjudication keeps in `basis` which labels it decided on, and is open again when others
    have come. An attention item is needed by nobody (`needed` 0) and shown to everybody. `queue_item.done` counts the
    people who labelled the item, so that the next item is one index lookup.
    """
    run(db, _ANNOTATION)


_ANNOTATION = """
        alter table statement add column dimension text check (dimension in ('economic', 'cultural'));
        alter table statement add column leaning text check (leaning in ('left', 'right'));
        alter table statement add column source text;
        alter table template add column scale text not null default '';
        create table codebook (
            id integer primary key,
            key blob not null unique,
            name text not null,
            body text not null,
            created_at text not null
        ) strict;
        alter table reading add column codebook_id integer references codebook;
        alter table reading add column uid blob;
        alter table reading add column basis blob;
        create unique index reading_uid on reading (uid) where uid is not null;
        create index reading_of_people on reading (reader_id, at) where uid is not null;
        create unique index unit_stance on unit (text_id, wording_id)
            where template_id is null and wording_id is not null;
        create table queue (
            id integer primary key,
            uid blob not null unique,
            name text not null unique,
            codebook_id integer not null references codebook,
            purpose text not null check (purpose in ('training', 'test', 'check')),
            spec text not null,
            lease_s integer not null check (lease_s > 0),
            created_at text not null
        ) strict;
        create table queue_item (
            queue_id integer not null references queue,
            unit_id integer not null references unit,
            ordinal integer not null,
            stratum text not null,
            needed integer not null,
            attention text,
            done integer not null default 0,
            priority real not null default 0,
            primary key (queue_id, unit_id)
        ) strict, without rowid;
        create index queue_open on queue_item (queue_id, (done > 0) desc, priority desc, ordinal)
            where done < needed;
        create table assignment (
            queue_id integer not null references queue,
            unit_id integer not null references unit,
            reader_id integer not null references reader,
            state text not null check (state in ('leased', 'done', 'skipped')),
            lease_until text,
            at text not null,
            primary key (queue_id, unit_id, reader_id)
        ) strict, without rowid;
        create index assignment_of on assignment (reader_id, queue_id, state, at);
        create table remark (
            uid blob primary key,
            unit_id integer not null references unit,
            reader_id integer not null references reader,
            flagged integer not null check (flagged in (0, 1)),
            note text not null,
            at text not null
        ) strict, without rowid;
        create index remark_of on remark (unit_id, reader_id, at);
        create table classifier (
            id integer primary key,
            uid blob not null unique,
            name text not null unique,
            reader_id integer not null references reader,
            codebook_id integer not null references codebook,
            job_id integer references job,
            folder text not null,
            config text not null,
            data text not null,
            evaluation text not null,
            created_at text not null
        ) strict
        """
