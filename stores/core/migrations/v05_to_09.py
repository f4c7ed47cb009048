"""Schemas 5 to 9: building instruments, steering jobs, probabilities, questionnaires, multiple choice."""

from __future__ import annotations

from stores.core.migrations.steps import migrations, run
from stores.core.sqlite import Database


@migrations()
def m005_workshop(db: Database) -> None:
    """What building an instrument needs: relations, tags, edits, drafts, checks, issue labels by people, surveys.

    A wording's `relation` is what is expected of it. `edit` keeps a statement as JSON before and after each change; a
    change of several statements is one batch, and undoing it is one more. A draft is what a model or a rule proposed;
    its decisions are append-only, and the newest counts. An embedding and an entailment belong to texts, so a text that
    returns is not computed again. A waiver holds for the very texts it was given on (`fingerprint`). `issue_label` is
    made anew because a label may be withdrawn (null). `survey_event` says how `survey_answer` came about.
    """
    run(db, _WORKSHOP)


_WORKSHOP = """
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
        """


@migrations()
def m006_steering(db: Database) -> None:
    """What steering a job needs.

    A job is paused where `paused_at` is set: while it is 'running', its worker holds the model and waits; while it is
    'cancelled', no worker has it. Jobs in one `lane` take turns; `hurried` is a person's word that this one need not.
    `concurrency` bounds calls, or rows of a batch, at once. `only_failed` confines the next attempt to what failed;
    `failures` names what failed where the answers themselves do not (JSON).
    """
    run(
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
    run(
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
    run(
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
    run(
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
