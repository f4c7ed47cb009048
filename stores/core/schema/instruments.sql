-- Instruments: statements, their wordings, templates, policy issues, and what parties and people answer.

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

-- Each version of a statement is a row; one version of a `ref` is current.
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
    dimension text check (dimension in ('economic', 'cultural')),
    leaning text check (leaning in ('left', 'right')),
    source text,
    tags text not null default '[]',
    derived_from text,
    archived_at text,
    unique (instrument_id, ref, version)
) strict;
create unique index statement_current on statement (instrument_id, ref) where current = 1;

-- `relation` is how the stance on the wording should stand to the stance on the original.
create table wording (
    id integer primary key,
    statement_id integer not null references statement,
    kind text not null,
    ordinal integer not null,
    language text not null,
    text_id integer not null references text,
    author text,
    relation text not null default 'same' check (relation in ('same', 'flipped', 'free')),
    unique (statement_id, language, kind, ordinal)
) strict;

-- A template in one label order and one language.
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
    negative text not null,
    scale text not null default ''
) strict;

-- The templates that an instrument has now.
create table instrument_template (
    instrument_id integer not null references instrument,
    template_id integer not null references template,
    ordinal integer not null,
    primary key (instrument_id, template_id)
) strict, without rowid;

-- A version is the text of a template in both label orders; two versions share the order that did not change.
create table template_version (
    instrument_id integer not null references instrument,
    template_id integer not null references template,
    version integer not null check (version > 0),
    primary key (instrument_id, template_id, version)
) strict, without rowid;

-- Lexicons that instruments bring, by which answers to them are read: see `stores.instruments.instruments`.
create table brought_lexicon (
    instrument_id integer not null references instrument,
    language text not null,
    text text not null,
    at text not null,
    primary key (instrument_id, language)
) strict, without rowid;

create table issue (
    instrument_id integer not null references instrument,
    name text not null,
    title text not null,
    definition text not null,
    primary key (instrument_id, name)
) strict, without rowid;

-- The newest revision counts; null withdraws a label.
create table issue_label (
    statement_id integer not null references statement,
    issue text not null,
    reader_id integer not null references reader,
    revision integer not null,
    label integer check (label in (-1, 0, 1)),
    at text not null,
    primary key (statement_id, issue, reader_id, revision)
) strict, without rowid;

-- How many people's labels for a policy issue make gold, as somebody chose it. The newest counts; without one it is 2.
create table gold_choice (
    id integer primary key,
    instrument_id integer not null references instrument,
    fewest integer not null check (fewest >= 1),
    chosen_by text not null,
    at text not null
) strict;
create index gold_choice_of on gold_choice (instrument_id);

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

-- People's answers to wordings. `survey_event` (annotation.sql) says how those that were given here came about.
create table survey_answer (
    statement_id integer not null references statement,
    respondent text not null,
    kind text not null,
    ordinal integer not null,
    agrees integer not null check (agrees in (0, 1)),
    primary key (statement_id, respondent, kind, ordinal)
) strict, without rowid;
