-- How statements are made: edits, drafts, checks.

-- A statement as JSON before and after each change. A change of several statements is one batch; undoing it is another.
create table edit (
    id integer primary key,
    uid blob not null unique,
    batch blob not null,
    instrument_id integer not null references instrument,
    ref text not null,
    person text not null,
    act text not null,
    before text,
    after text,
    undoes blob,
    at text not null
) strict;
create index edit_of on edit (instrument_id, ref);
create index edit_batch on edit (batch);
create index edit_undone on edit (undoes) where undoes is not null;

-- What a model or a rule proposed.
create table draft (
    id integer primary key,
    uid blob not null unique,
    statement_id integer not null references statement,
    kind text not null,
    language text not null,
    basis_id integer not null references text,
    text_id integer not null references text,
    drafter text not null,
    template text not null,
    model_id integer references model,
    sampling_id integer references sampling,
    attempt_id integer references attempt,
    seed integer,
    fault text not null default '',
    at text not null
) strict;
create index draft_of on draft (statement_id, kind);

-- Rows are only added; the newest counts.
create table draft_decision (
    uid blob primary key,
    draft_id integer not null references draft,
    decision text not null check (decision in ('accepted', 'edited', 'rejected', 'reopened')),
    text_id integer references text,
    batch blob,
    person text not null,
    note text not null,
    at text not null
) strict, without rowid;
create index draft_decision_of on draft_decision (draft_id, at);

-- Embeddings and entailments belong to texts, so a text that returns is not computed again.
create table embedding (
    model_id integer not null references model,
    text_id integer not null references text,
    vector blob not null,
    primary key (model_id, text_id)
) strict, without rowid;

create table entailment (
    model_id integer not null references model,
    premise_id integer not null references text,
    hypothesis_id integer not null references text,
    entailment real not null,
    neutral real not null,
    contradiction real not null,
    primary key (model_id, premise_id, hypothesis_id)
) strict, without rowid;

-- A waiver holds for exactly the texts that it was given on (`fingerprint`).
create table waiver (
    uid blob primary key,
    instrument_id integer not null references instrument,
    code text not null,
    subject text not null,
    fingerprint blob not null,
    reason text,
    person text not null,
    at text not null
) strict, without rowid;
create index waiver_of on waiver (instrument_id, fingerprint, at);
