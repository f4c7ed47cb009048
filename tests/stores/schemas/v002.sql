pragma application_id = 1464549937;
pragma user_version = 2;
BEGIN TRANSACTION;
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "_sqlite_migrations" VALUES(1,'workbench','m001_instruments','2026-11-22 14:14:12.198299+00:00');
INSERT INTO "_sqlite_migrations" VALUES(2,'workbench','m002_prompts','2026-11-22 14:14:12.216733+00:00');
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
CREATE TABLE statement (
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
INSERT INTO "statement" VALUES(1,1,'a-1',1,0,1,'vd','law','2026-01-01T00:00:00.000Z');
INSERT INTO "statement" VALUES(2,1,'a-1',2,1,1,'vd','law','2026-01-01T00:00:00.000Z');
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
        ) strict;
INSERT INTO "template" VALUES(1,X'11','reliability','personal-1',0,'chat','personal','en',1,'Answer.','{statement}','agree','disagree');
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
COMMIT;
