-- What auditors decide, and the samples that check them.

-- Rulings are events: see `stores.annotation.rulings`. A null verdict takes back the ruling that it `undoes`.
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
create index ruling_of on ruling (subject_key);

-- Random control samples of answers, as they were drawn: see `stores.annotation.rulings`.
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
) strict, without rowid;

-- Who looks at what in an auditor's queue now: see `stores.annotation.reviews`.
create table review_lease (
    run_key blob not null,
    item text not null,
    auditor text not null,
    until text not null,
    primary key (run_key, item)
) strict, without rowid;
