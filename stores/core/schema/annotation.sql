-- Labels by rules, people and classifiers; queues; surveys.

-- What is read: a text beside a template (by rules, which read a text once per template, not once per sample), or beside
-- a wording (by people and classifiers). Nothing makes units beside both, those of `unit_context`, any more.
create table unit (
    id integer primary key,
    text_id integer not null references text,
    template_id integer references template,
    wording_id integer references wording
) strict;
create unique index unit_rule on unit (text_id, template_id) where wording_id is null;
create unique index unit_context on unit (text_id, template_id, wording_id) where wording_id is not null;
create unique index unit_stance on unit (text_id, wording_id) where template_id is null and wording_id is not null;

-- People's labels have a `uid`, by which stores merge, and a codebook. The newest by (at, uid) counts; a null label
-- withdraws. An adjudication keeps in `basis` which labels it decided on, and is open again when others have come.
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
    codebook_id integer references codebook,
    uid blob,
    basis blob,
    primary key (unit_id, reader_id, revision)
) strict, without rowid;
create unique index reading_uid on reading (uid) where uid is not null;
create index reading_of_people on reading (reader_id, at) where uid is not null;

create table codebook (
    id integer primary key,
    key blob not null unique,
    name text not null,
    body text not null,
    created_at text not null
) strict;

-- Which version of a codebook counts from when on, who chose it and why: see `stores.annotation.annotation_items`.
create table codebook_edit (
    uid blob primary key,
    codebook_id integer not null references codebook,
    person text not null,
    note text not null,
    at text not null
) strict, without rowid;

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

-- An attention item is needed by nobody (`needed` 0) and shown to everybody. `done` counts the people who labelled the
-- item, so that the next item is one index lookup. `inclusion` is the probability with which a test set took the item
-- and `answers` how many identical answers it stands for; both are null where the draw claims nothing about answers
-- (training sets, imported sets).
create table queue_item (
    queue_id integer not null references queue,
    unit_id integer not null references unit,
    ordinal integer not null,
    stratum text not null,
    needed integer not null,
    attention text,
    done integer not null default 0,
    priority real not null default 0,
    inclusion real check (inclusion > 0 and inclusion <= 1),
    answers integer check (answers > 0),
    primary key (queue_id, unit_id)
) strict, without rowid;
create index queue_open on queue_item (queue_id, (done > 0) desc, priority desc, ordinal) where done < needed;

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
) strict;

create table survey (
    id integer primary key,
    uid blob not null unique,
    instrument_id integer not null references instrument,
    respondent text not null,
    language text not null,
    seed integer not null,
    created_at text not null
) strict;

create table survey_item (
    survey_id integer not null references survey,
    position integer not null,
    wording_id integer not null references wording,
    primary key (survey_id, position)
) strict, without rowid;

-- How `survey_answer` came about.
create table survey_event (
    uid blob primary key,
    survey_id integer not null references survey,
    position integer not null,
    agrees integer check (agrees in (0, 1)),
    skipped integer not null default 0 check (skipped in (0, 1)),
    elapsed_ms integer,
    at text not null
) strict, without rowid;
create index survey_event_of on survey_event (survey_id, position, at);

-- What is said of the people who annotate and answer, as events; null takes back: see `stores.annotation.people`.
create table person_field (
    uid blob primary key,
    person text not null,
    field text not null,
    value text,
    said_by text not null,
    at text not null
) strict, without rowid;
