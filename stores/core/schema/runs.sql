-- What is asked of which model, and what came back.

-- `messages` is JSON, [[role, content], …]. `context_id` is the text of the first messages, stored once for all prompts
-- that begin with them.
create table prompt (
    id integer primary key,
    key blob not null unique,
    chat integer not null check (chat in (0, 1)),
    messages text not null,
    context_id integer references text
) strict;

-- A cell of a design, and the prompt that it leads to. `axes` is JSON: what varies besides wording and template.
create table probe (
    id integer primary key,
    audit text not null,
    wording_id integer not null references wording,
    template_id integer not null references template,
    axes text not null,
    prompt_id integer not null references prompt,
    unique (audit, wording_id, template_id, axes)
) strict;
create index probe_prompt on probe (prompt_id);
create index probe_wording on probe (wording_id);

-- What stands before prompts, by the key that probes have on their axis `persona`: see `stores.runs.run_lists`.
-- `turns` is JSON, [[role, text], …].
create table persona (
    key blob primary key,
    name text not null,
    kind text not null check (kind in ('persona', 'system', 'conversation')),
    language text not null default '',
    turns text not null
) strict, without rowid;

-- `encoding` says how turns were put into the chat format, as far as known. `snapshot` is the model that an endpoint
-- reported, empty where it reported none.
create table model (
    id integer primary key,
    key blob not null unique,
    name text not null,
    revision text not null,
    backend text not null,
    dtype text not null,
    chat_format text not null,
    first_seen text not null,
    encoding text not null default 'unknown',
    snapshot text not null default ''
) strict;

-- `server`, `extra` and `thinking` are what is left to an endpoint, what is added to its requests, and how long it may
-- think: see `Sampling`.
create table sampling (
    id integer primary key,
    key blob not null unique,
    temperature real not null,
    top_p real not null,
    top_k integer,
    max_new_tokens integer not null,
    stop text not null default '',
    mode text not null default 'sample' check (mode in ('sample', 'exact')),
    server text not null default '',
    extra text not null default '',
    thinking text not null default ''
) strict;

-- Samples of one prompt are exchangeable, so a draw keeps the multiset of its answers. `decided` counts answers that
-- were ended because their stance was settled. `fingerprint` is that of an endpoint's replies. `first` and `asked` say
-- which answers of the seed the draw asked for: see `stores.runs.models`.
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
    at text not null,
    decided integer not null default 0 check (decided between 0 and n),
    fingerprint text not null default '',
    first integer not null default 0,
    asked integer
) strict;
create index draw_asked on draw (model_id, sampling_id, prompt_id, n);
create index draw_of on draw (prompt_id);

-- An output as the model wrote it.
create table response (
    draw_id integer not null references draw,
    text_id integer not null references text,
    count integer not null check (count > 0),
    primary key (draw_id, text_id)
) strict, without rowid;

-- A row for each text that holds a thought. `answer_id` is the text after it, null where the output ends within it.
create table thought (
    text_id integer primary key references text,
    answer_id integer references text
) strict;

-- What is read: the answers of draws, without those that were cut off in thought.
create view given_answer as
    select r.draw_id, coalesce(t.answer_id, r.text_id) as text_id, r.count, r.text_id as output_id
    from response r left join thought t on t.text_id = r.text_id
    where t.text_id is null or t.answer_id is not null;

-- How many answers were planned for each prompt, by the largest plan that was begun: the minimum of readable answers is
-- a share of them. `rule_id` is the rule of a prompt that is asked only until its verdict is settled.
create table planned (
    model_id integer not null references model,
    sampling_id integer not null references sampling,
    prompt_id integer not null references prompt,
    n integer not null check (n > 0),
    rule_id integer references verdict_rule,
    settled_at integer,
    primary key (model_id, sampling_id, prompt_id)
) strict, without rowid;

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

-- The log-probability (nats) of one text as the whole continuation of a prompt. `version` is that of the spellings of
-- labels: the first had no end of the word.
create table score (
    prompt_id integer not null references prompt,
    model_id integer not null references model,
    text_id integer not null references text,
    log_probability real not null,
    attempt_id integer references attempt,
    at text not null,
    version text not null default '1',
    primary key (model_id, prompt_id, text_id)
) strict, without rowid;

-- `tokens` is JSON, [[text, log-probability], …] of the likeliest next tokens; `rest` is the probability of all others.
-- `words` is JSON, {word: probability of all tokens of the vocabulary that spell it, in any case}, null where the
-- backend does not say.
create table next_tokens (
    prompt_id integer not null references prompt,
    model_id integer not null references model,
    tokens text not null,
    rest real not null,
    attempt_id integer references attempt,
    at text not null,
    words text,
    primary key (model_id, prompt_id)
) strict, without rowid;
