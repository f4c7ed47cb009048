"""The schema, as migrations that are only ever appended to.

Identity: what is the same everywhere has a 16-byte content key (`workbench.domain.keys`), so two stores merge by
`insert or ignore`; rowids are private to one file. Samples of one prompt are exchangeable, so a draw keeps the
multiset of its answers: thirty equal answers are one row. A rule reads a text once per template, not once per sample.
At ten million responses `response` costs about 15 bytes a row, `draw` about 60 bytes a prompt.
"""

from __future__ import annotations

from collections import defaultdict

from stores.core.sqlite import Database, Migrations
from stores.runs.thoughts import find_thoughts

APPLICATION_ID = 0x574B4231
"marks a file as a workbench store ('WKB1')"

migrations = Migrations("workbench")


def _run(db: Database, script: str) -> None:
    """Execute statements one by one: `executescript` would commit the migration's transaction."""
    for statement in script.split(";"):
        if statement.strip():
            db.execute(statement)


@migrations()
def m001_instruments(db: Database) -> None:
    """Texts, instruments, statements, people's answers."""
    _run(
        db,
        """
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
        """,
    )


@migrations()
def m002_prompts(db: Database) -> None:
    """Templates, prompts and the probes that lead to them."""
    _run(
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
    _run(
        db,
        """
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
        """,
    )


@migrations()
def m004_annotation(db: Database) -> None:
    """What the bias score needs: sides of statements, labels by people, adjudications, classifiers.

    People's labels are readings with a `uid`, by which stores merge, and a codebook. The newest by (at, uid) counts;
    a null label withdraws. An adjudication keeps in `basis` which labels it decided on, and is open again when others
    have come. An attention item is needed by nobody (`needed` 0) and shown to everybody. `queue_item.done` counts the
    people who labelled the item, so that the next item is one index lookup.
    """
    _run(
        db,
        """
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
        """,
    )


@migrations()
def m005_workshop(db: Database) -> None:
    """What building an instrument needs: relations, tags, edits, drafts, checks, issue labels by people, surveys.

    A wording's `relation` is what is expected of it. `edit` keeps a statement as JSON before and after each change; a
    change of several statements is one batch, and undoing it is one more. A draft is what a model or a rule proposed;
    its decisions are append-only, and the newest counts. An embedding and an entailment belong to texts, so a text that
    returns is not computed again. A waiver holds for the very texts it was given on (`fingerprint`). `issue_label` is
    made anew because a label may be withdrawn (null). `survey_event` says how `survey_answer` came about.
    """
    _run(
        db,
        """
        alter table statement add column tags text not null default '[]';
        alter table statement add column derived_from text;
        alter table statement add column archived_at text;
        alter table wording add column relation text not null default 'same'
            check (relation in ('same', 'flipped', 'free'));
        update wording set relation = 'flipped' where kind in ('negation', 'opposite', 'political_opposite');
        create table issue (
            instrument_id integer not null references instrument,
            name text not null,
            title text not null,
            definition text not null,
            primary key (instrument_id, name)
        ) strict, without rowid;
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
        create table issue_label_5 (
            statement_id integer not null references statement,
            issue text not null,
            reader_id integer not null references reader,
            revision integer not null,
            label integer check (label in (-1, 0, 1)),
            at text not null,
            primary key (statement_id, issue, reader_id, revision)
        ) strict, without rowid;
        insert into issue_label_5 select statement_id, issue, reader_id, revision, label, at from issue_label;
        drop table issue_label;
        alter table issue_label_5 rename to issue_label;
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
        create index draw_of on draw (prompt_id)
        """,
    )


@migrations()
def m006_steering(db: Database) -> None:
    """What steering a job needs.

    A job is paused where `paused_at` is set: while it is 'running', its worker holds the model and waits; while it is
    'cancelled', no worker has it. Jobs in one `lane` take turns; `hurried` is a person's word that this one need not.
    `concurrency` bounds calls, or rows of a batch, at once. `only_failed` confines the next attempt to what failed;
    `failures` names what failed where the answers themselves do not (JSON).
    """
    _run(
        db,
        """
        alter table job add column pause_requested integer not null default 0 check (pause_requested in (0, 1));
        alter table job add column paused_at text;
        alter table job add column lane text not null default '';
        alter table job add column hurried integer not null default 0 check (hurried in (0, 1));
        alter table job add column concurrency integer check (concurrency > 0);
        alter table job add column only_failed integer not null default 0 check (only_failed in (0, 1));
        alter table job add column failures text not null default '[]'
        """,
    )


@migrations()
def m007_scores(db: Database) -> None:
    """Probabilities that are computed instead of sampled, and answers that are ended early.

    `score` holds the log-probability (nats) of one text as the whole continuation of a prompt, `next_tokens` the
    likeliest next tokens as JSON [[text, log-probability], …] with the probability of all others. A sampling with
    another `stop` or `mode` is another sampling. `draw.decided` counts answers that were ended because their stance
    was settled.
    """
    _run(
        db,
        """
        alter table sampling add column stop text not null default '';
        alter table sampling add column mode text not null default 'sample' check (mode in ('sample', 'exact'));
        alter table draw add column decided integer not null default 0 check (decided between 0 and n);
        create table score (
            prompt_id integer not null references prompt,
            model_id integer not null references model,
            text_id integer not null references text,
            log_probability real not null,
            attempt_id integer references attempt,
            at text not null,
            primary key (model_id, prompt_id, text_id)
        ) strict, without rowid;
        create table next_tokens (
            prompt_id integer not null references prompt,
            model_id integer not null references model,
            tokens text not null,
            rest real not null,
            attempt_id integer references attempt,
            at text not null,
            primary key (model_id, prompt_id)
        ) strict, without rowid
        """,
    )


@migrations()
def m008_questionnaires(db: Database) -> None:
    """What Questionnaire Modeling needs: roles of questions, scales, people's answers, long prompts.

    A question belongs to a ref of an instrument, because people answered it in words of their own language: its text,
    topic and order are those of the statement. Roles and scales are revisions, the newest counts. An answer is kept as
    it was given (`value`); none is no row. `prompt.context_id` is the text of the first messages (JSON, as `messages`),
    stored once for all prompts that begin so. `next_tokens.words` is JSON {word: probability of all tokens of the
    vocabulary that spell it, whatever their case}; null where the backend does not say.
    """
    _run(
        db,
        """
        alter table prompt add column context_id integer references text;
        alter table next_tokens add column words text;
        create table question (
            id integer primary key,
            instrument_id integer not null references instrument,
            ref text not null,
            unique (instrument_id, ref)
        ) strict;
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
        create table answer (
            respondent_id integer not null references respondent,
            question_id integer not null references question,
            value text not null,
            primary key (respondent_id, question_id)
        ) strict, without rowid
        """,
    )


@migrations()
def m009_choices(db: Database) -> None:
    """What response biases need: which statements are multiple-choice questions, and answers that came with them.

    A question belongs to a ref of an instrument: its forms are wordings of the statement, under any version. `shares`
    is JSON, human shares of the options of the original. An answer set is one model's answers to the questions of one
    bias under one condition (empty: the bias itself); its questions are named by their keys in the survey, and may have
    no statement here. `ordinal` keeps their order, on which a published definition depends; `counts` is JSON {letter:
    times}.
    """
    _run(
        db,
        """
        create table choice (
            instrument_id integer not null references instrument,
            ref text not null,
            key text not null,
            bias text not null,
            variant text not null,
            middle_removed integer check (middle_removed in (0, 1)),
            shares text not null,
            primary key (instrument_id, ref)
        ) strict, without rowid;
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
            unique (instrument_id, model, bias, variant, condition, draw)
        ) strict;
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
        ) strict, without rowid
        """,
    )


@migrations()
def m010_plans(db: Database) -> None:
    """How many answers were planned for each prompt: the minimum of readable ones is a share of them.

    A plan is the largest one that was begun. For answers from before there were plans it is what the jobs that drew
    them asked for; where no job says that, it is what was drawn, failed answers included.
    """
    _run(
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
    _run(
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
    _run(
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
    find_thoughts(db.conn)


@migrations()
def m013_choice_warnings(db: Database) -> None:
    """Warnings of files of multiple-choice questions and answers: JSON lists of sentences, shown with every result."""
    _run(
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
    _run(
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
    _run(
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
    _run(db, "alter table score add column version text not null default '1'")
