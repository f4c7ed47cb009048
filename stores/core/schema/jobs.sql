-- Jobs, the workers' attempts at them, and what they wait for.

-- A job is paused where `paused_at` is set: while it is 'running', its worker holds the model and waits; while it is
-- 'cancelled', no worker has it. Jobs in one `lane` take turns; `hurried` says that a person let this one go first.
-- `concurrency` bounds calls, or rows of a batch, at once. `only_failed` confines the next attempt to what failed;
-- `failures` (JSON) names what failed where the answers themselves do not. A worker counts its heartbeats in `beats`:
-- another machine sees whether the count moves, and compares no clocks. `mark` is one that only the installation that
-- created the job can make. `probe` is a look at some answers first, `question` what a person has to decide before the
-- job goes on, and `patient` says that a person let it go on although nothing could be read: see `stores.jobs.jobs`.
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
    message text not null default '',
    pause_requested integer not null default 0 check (pause_requested in (0, 1)),
    paused_at text,
    lane text not null default '',
    hurried integer not null default 0 check (hurried in (0, 1)),
    concurrency integer check (concurrency > 0),
    only_failed integer not null default 0 check (only_failed in (0, 1)),
    failures text not null default '[]',
    beats integer not null default 0,
    mark text not null default '',
    probe text,
    question text not null default '',
    patient integer not null default 0 check (patient in (0, 1)),
    hidden integer not null default 0 check (hidden in (0, 1)),
    plan text references frozen_plan,
    batched integer not null default 0 check (batched in (0, 1))
) strict;

-- `place` tells machines and containers of the same name apart.
create table attempt (
    id integer primary key,
    uid blob not null unique,
    job_id integer not null references job,
    host text not null,
    pid integer not null,
    code_version text not null,
    started_at text not null,
    ended_at text,
    outcome text,
    place text not null default ''
) strict;

-- What was to be asked and how it was to be judged, written down before: see `stores.jobs.job_rows`.
create table frozen_plan (
    hash text primary key,
    text text not null,
    at text not null
) strict;

-- Batches of requests that jobs send to endpoints: see `stores.jobs.job_rows`.
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
create index server_batch_of on server_batch (job_id);
