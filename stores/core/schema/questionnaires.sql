-- Questionnaires, multiple-choice questions, and answers that came with them.

-- A question belongs to a ref of an instrument, because people answered it in their own language: its text, topic and
-- order are those of the statement.
create table question (
    id integer primary key,
    instrument_id integer not null references instrument,
    ref text not null,
    unique (instrument_id, ref)
) strict;

-- Roles and scales are revisions; the newest counts.
create table question_revision (
    question_id integer not null references question,
    revision integer not null,
    role text check (role in ('context', 'target')),
    form text not null check (form in ('question', 'statement')),
    scale text not null,
    leaning text check (leaning in ('liberal', 'conservative')),
    person text not null,
    at text not null,
    primary key (question_id, revision)
) strict, without rowid;

create table scale_revision (
    instrument_id integer not null references instrument,
    name text not null,
    revision integer not null,
    options text not null,
    person text not null,
    at text not null,
    primary key (instrument_id, name, revision)
) strict, without rowid;

create table respondent (
    id integer primary key,
    instrument_id integer not null references instrument,
    name text not null,
    at text not null,
    unique (instrument_id, name)
) strict;

-- `value` is the answer as it was given; a question without an answer has no row.
create table answer (
    respondent_id integer not null references respondent,
    question_id integer not null references question,
    value text not null,
    primary key (respondent_id, question_id)
) strict, without rowid;

-- A multiple-choice question; its forms are wordings of the statement, under any version. `shares` is JSON: the human
-- shares of the options of the original. `warnings`, here and below, is a JSON list of sentences about the file, which
-- are shown with every result.
create table choice (
    instrument_id integer not null references instrument,
    ref text not null,
    key text not null,
    bias text not null,
    variant text not null,
    middle_removed integer check (middle_removed in (0, 1)),
    shares text not null,
    warnings text not null default '[]',
    primary key (instrument_id, ref)
) strict, without rowid;

-- One model's answers to the questions of one bias under one condition (empty: the bias itself). The questions have the
-- keys that they have in the survey, and need no statement here.
create table answer_set (
    id integer primary key,
    instrument_id integer not null references instrument,
    model text not null,
    bias text not null,
    variant text not null,
    condition text not null,
    draw integer not null,
    mapped_back integer not null check (mapped_back in (0, 1)),
    at text not null,
    warnings text not null default '[]',
    unique (instrument_id, model, bias, variant, condition, draw)
) strict;

-- `ordinal` keeps the order of the questions, on which a published definition depends. `counts` is JSON,
-- {letter: times}.
create table answer_count (
    answer_set_id integer not null references answer_set,
    ordinal integer not null,
    key text not null,
    arm text not null check (arm in ('original', 'changed')),
    counts text not null,
    recorded integer not null,
    offered integer not null,
    invalid integer not null,
    primary key (answer_set_id, key, arm)
) strict, without rowid;
