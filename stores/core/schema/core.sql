-- The file itself, texts, and who reads them.

-- One row. `uid` is drawn once, when the file is made, and tells one store from another.
create table identity (uid blob not null) strict;

-- Every text once, under its content key. A body is a blob where UTF-8 cannot hold the text: see `stores.core.base`.
create table text (
    id integer primary key,
    key blob not null,
    body any not null check (typeof(body) in ('text', 'blob'))
) strict;
create unique index text_key on text (key);

-- Whoever gives labels: a rule of a version, a classifier, a person.
create table reader (
    id integer primary key,
    kind text not null check (kind in ('rule', 'classifier', 'person', 'adjudication', 'import')),
    name text not null,
    version text not null,
    created_at text not null,
    unique (kind, name, version)
) strict;
