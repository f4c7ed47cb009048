pragma application_id = 1464549937;
pragma user_version = 4;
BEGIN TRANSACTION;
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "_sqlite_migrations" VALUES(1,'workbench','m001_instruments','2026-11-22 14:14:12.326555+00:00');
INSERT INTO "_sqlite_migrations" VALUES(2,'workbench','m002_prompts','2026-11-22 14:14:12.327886+00:00');
INSERT INTO "_sqlite_migrations" VALUES(3,'workbench','m003_responses','2026-11-22 14:14:12.329916+00:00');
INSERT INTO "_sqlite_migrations" VALUES(4,'workbench','m004_annotation','2026-11-22 14:14:12.371117+00:00');
CREATE TABLE assignment (
            queue_id integer not null references queue,
            unit_id integer not null references unit,
            reader_id integer not null references reader,
            state text not null check (state in ('leased', 'done', 'skipped')),
            lease_until text,
            at text not null,
            primary key (queue_id, unit_id, reader_id)
        ) strict, without rowid;
INSERT INTO "assignment" VALUES(1,2,2,'done',NULL,'2026-01-01T00:00:00.000Z');
CREATE TABLE attempt (
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
INSERT INTO "attempt" VALUES(1,X'61',1,'here',7,'0.1','2026-01-01T00:00:00.000Z','2026-01-01T00:00:00.000Z','done');
CREATE TABLE classifier (
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
        ;
INSERT INTO "classifier" VALUES(1,X'75','tuned',1,1,1,'folder','{}','{}','{}','2026-01-01T00:00:00.000Z');
CREATE TABLE codebook (
            id integer primary key,
            key blob not null unique,
            name text not null,
            body text not null,
            created_at text not null
        ) strict;
INSERT INTO "codebook" VALUES(1,X'71','stance','{"name": "stance"}','2026-01-01T00:00:00.000Z');
CREATE TABLE draw (
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
INSERT INTO "draw" VALUES(1,1,1,1,1,5,3,1,'timed out','2026-01-01T00:00:00.000Z');
CREATE TABLE instrument (
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
INSERT INTO "instrument" VALUES(1,'small','A small instrument','1','en','s','c','l','["law"]','["a note"]','2026-01-01T00:00:00.000Z');
CREATE TABLE instrument_template (
            instrument_id integer not null references instrument,
            template_id integer not null references template,
            ordinal integer not null,
            primary key (instrument_id, template_id)
        ) strict, without rowid;
INSERT INTO "instrument_template" VALUES(1,1,0);
CREATE TABLE issue_label (
            statement_id integer not null references statement,
            issue text not null,
            reader_id integer not null references reader,
            revision integer not null,
            label integer not null check (label in (-1, 0, 1)),
            at text not null,
            primary key (statement_id, issue, reader_id, revision)
        ) strict, without rowid;
INSERT INTO "issue_label" VALUES(2,'law',2,1,1,'2026-01-01T00:00:00.000Z');
CREATE TABLE job (
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
INSERT INTO "job" VALUES(1,X'51','sample','{"audit": "reliability", "instrument": "small", "model": "m", "samples": 3}','done',0,'2026-01-01T00:00:00.000Z','2026-01-01T00:00:00.000Z','2026-01-01T00:00:00.000Z',3,3,'{}','said');
CREATE TABLE model (
            id integer primary key,
            key blob not null unique,
            name text not null,
            revision text not null,
            backend text not null,
            dtype text not null,
            chat_format text not null,
            first_seen text not null
        ) strict;
INSERT INTO "model" VALUES(1,X'31','m','r1','scripted','float32','none','2026-01-01T00:00:00.000Z');
CREATE TABLE party (
            id integer primary key,
            instrument_id integer not null references instrument,
            country text not null,
            name text not null,
            position real,
            unique (instrument_id, country, name)
        ) strict;
INSERT INTO "party" VALUES(1,1,'vd','Larks',2.5);
CREATE TABLE party_answer (
            party_id integer not null references party,
            statement_id integer not null references statement,
            answer text not null,
            stance integer check (stance in (-1, 0, 1)),
            primary key (party_id, statement_id)
        ) strict, without rowid;
INSERT INTO "party_answer" VALUES(1,2,'rather agree',1);
CREATE TABLE probe (
            id integer primary key,
            audit text not null,
            wording_id integer not null references wording,
            template_id integer not null references template,
            axes text not null,
            prompt_id integer not null references prompt,
            unique (audit, wording_id, template_id, axes)
        ) strict;
INSERT INTO "probe" VALUES(1,'reliability',1,1,'{}',1);
CREATE TABLE prompt (
            id integer primary key,
            key blob not null unique,
            chat integer not null check (chat in (0, 1)),
            messages text not null
        ) strict;
INSERT INTO "prompt" VALUES(1,X'21',1,'[["user", "Taxes should fall."]]');
CREATE TABLE queue (
            id integer primary key,
            uid blob not null unique,
            name text not null unique,
            codebook_id integer not null references codebook,
            purpose text not null check (purpose in ('training', 'test', 'check')),
            spec text not null,
            lease_s integer not null check (lease_s > 0),
            created_at text not null
        ) strict;
INSERT INTO "queue" VALUES(1,X'73','first',1,'test','{"seed": 1}',600,'2026-01-01T00:00:00.000Z');
CREATE TABLE queue_item (
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
INSERT INTO "queue_item" VALUES(1,2,1,'s',2,NULL,1,0.0);
CREATE TABLE reader (
            id integer primary key,
            kind text not null check (kind in ('rule', 'classifier', 'person', 'adjudication', 'import')),
            name text not null,
            version text not null,
            created_at text not null,
            unique (kind, name, version)
        ) strict;
INSERT INTO "reader" VALUES(1,'rule','label-words','v1','2026-01-01T00:00:00.000Z');
INSERT INTO "reader" VALUES(2,'person','ana','','2026-01-01T00:00:00.000Z');
CREATE TABLE reading (
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
            at text not null, codebook_id integer references codebook, uid blob, basis blob,
            primary key (unit_id, reader_id, revision)
        ) strict, without rowid
        ;
INSERT INTO "reading" VALUES(1,1,1,'agree','says so',2,7,NULL,NULL,NULL,'2026-01-01T00:00:00.000Z',NULL,NULL,NULL);
INSERT INTO "reading" VALUES(2,2,1,'agree','',NULL,NULL,NULL,NULL,NULL,'2026-01-01T00:00:00.000Z',1,X'72',NULL);
CREATE TABLE remark (
            uid blob primary key,
            unit_id integer not null references unit,
            reader_id integer not null references reader,
            flagged integer not null check (flagged in (0, 1)),
            note text not null,
            at text not null
        ) strict, without rowid;
INSERT INTO "remark" VALUES(X'74',2,2,1,'odd','2026-01-01T00:00:00.000Z');
CREATE TABLE response (
            draw_id integer not null references draw,
            text_id integer not null references text,
            count integer not null check (count > 0),
            primary key (draw_id, text_id)
        ) strict, without rowid;
INSERT INTO "response" VALUES(1,3,1);
INSERT INTO "response" VALUES(1,4,1);
CREATE TABLE sampling (
            id integer primary key,
            key blob not null unique,
            temperature real not null,
            top_p real not null,
            top_k integer,
            max_new_tokens integer not null
        ) strict;
INSERT INTO "sampling" VALUES(1,X'41',1.0,0.85,NULL,20);
CREATE TABLE statement (
            id integer primary key,
            instrument_id integer not null references instrument,
            ref text not null,
            version integer not null,
            current integer not null check (current in (0, 1)),
            ordinal integer not null,
            country text,
            topic text,
            created_at text not null, dimension text check (dimension in ('economic', 'cultural')), leaning text check (leaning in ('left', 'right')), source text,
            unique (instrument_id, ref, version)
        ) strict;
INSERT INTO "statement" VALUES(1,1,'a-1',1,0,1,'vd','law','2026-01-01T00:00:00.000Z',NULL,NULL,NULL);
INSERT INTO "statement" VALUES(2,1,'a-1',2,1,1,'vd','law','2026-01-01T00:00:00.000Z','economic','right','own');
CREATE TABLE survey_answer (
            statement_id integer not null references statement,
            respondent text not null,
            kind text not null,
            ordinal integer not null,
            agrees integer not null check (agrees in (0, 1)),
            primary key (statement_id, respondent, kind, ordinal)
        ) strict, without rowid
        ;
INSERT INTO "survey_answer" VALUES(2,'1','original',0,1);
CREATE TABLE template (
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
        , scale text not null default '') strict;
INSERT INTO "template" VALUES(1,X'11','reliability','personal-1',0,'chat','personal','en',1,'Answer.','{statement}','agree','disagree','');
CREATE TABLE text (
            id integer primary key,
            key blob not null unique,
            body text,
            packed blob,
            check ((body is null) <> (packed is null))
        ) strict;
INSERT INTO "text" VALUES(1,X'01','Taxes should fall.',NULL);
INSERT INTO "text" VALUES(2,X'02','Taxes should not fall.',NULL);
INSERT INTO "text" VALUES(3,X'03','I agree.',NULL);
INSERT INTO "text" VALUES(4,X'04','<think>Well.</think> I disagree.',NULL);
CREATE TABLE unit (
            id integer primary key,
            text_id integer not null references text,
            template_id integer references template,
            wording_id integer references wording
        ) strict;
INSERT INTO "unit" VALUES(1,3,1,NULL);
INSERT INTO "unit" VALUES(2,3,NULL,1);
CREATE TABLE wording (
            id integer primary key,
            statement_id integer not null references statement,
            kind text not null,
            ordinal integer not null,
            language text not null,
            text_id integer not null references text,
            author text,
            unique (statement_id, language, kind, ordinal)
        ) strict;
INSERT INTO "wording" VALUES(1,2,'original',0,'en',1,'ana');
INSERT INTO "wording" VALUES(2,2,'negation',0,'en',2,NULL);
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
CREATE UNIQUE INDEX statement_current on statement (instrument_id, ref) where current = 1;
CREATE INDEX probe_prompt on probe (prompt_id)
        ;
CREATE INDEX draw_asked on draw (model_id, sampling_id, prompt_id, n);
CREATE UNIQUE INDEX unit_rule on unit (text_id, template_id) where wording_id is null;
CREATE UNIQUE INDEX unit_context on unit (text_id, template_id, wording_id) where wording_id is not null;
CREATE UNIQUE INDEX reading_uid on reading (uid) where uid is not null;
CREATE INDEX reading_of_people on reading (reader_id, at) where uid is not null;
CREATE UNIQUE INDEX unit_stance on unit (text_id, wording_id)
            where template_id is null and wording_id is not null;
CREATE INDEX queue_open on queue_item (queue_id, (done > 0) desc, priority desc, ordinal)
            where done < needed;
CREATE INDEX assignment_of on assignment (reader_id, queue_id, state, at);
CREATE INDEX remark_of on remark (unit_id, reader_id, at);
COMMIT;
