pragma application_id = 1464549937;
pragma user_version = 36;
BEGIN TRANSACTION;
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "_sqlite_migrations" VALUES(1,'workbench','m001_instruments','2026-11-24 13:44:43.801527+00:00');
INSERT INTO "_sqlite_migrations" VALUES(2,'workbench','m002_prompts','2026-11-24 13:44:43.802340+00:00');
INSERT INTO "_sqlite_migrations" VALUES(3,'workbench','m003_responses','2026-11-24 13:44:43.803210+00:00');
INSERT INTO "_sqlite_migrations" VALUES(4,'workbench','m004_annotation','2026-11-24 13:44:43.809855+00:00');
INSERT INTO "_sqlite_migrations" VALUES(5,'workbench','m005_workshop','2026-11-24 13:44:43.818047+00:00');
INSERT INTO "_sqlite_migrations" VALUES(6,'workbench','m006_steering','2026-11-24 13:44:43.821304+00:00');
INSERT INTO "_sqlite_migrations" VALUES(7,'workbench','m007_scores','2026-11-24 13:44:43.822949+00:00');
INSERT INTO "_sqlite_migrations" VALUES(8,'workbench','m008_questionnaires','2026-11-24 13:44:43.828538+00:00');
INSERT INTO "_sqlite_migrations" VALUES(9,'workbench','m009_choices','2026-11-24 13:44:43.829266+00:00');
INSERT INTO "_sqlite_migrations" VALUES(10,'workbench','m010_plans','2026-11-24 13:44:43.829899+00:00');
INSERT INTO "_sqlite_migrations" VALUES(11,'workbench','m011_inclusion','2026-11-24 13:44:43.831307+00:00');
INSERT INTO "_sqlite_migrations" VALUES(12,'workbench','m012_thoughts','2026-11-24 13:44:43.837257+00:00');
INSERT INTO "_sqlite_migrations" VALUES(13,'workbench','m013_choice_warnings','2026-11-24 13:44:43.838638+00:00');
INSERT INTO "_sqlite_migrations" VALUES(14,'workbench','m014_identity','2026-11-24 13:44:43.840059+00:00');
INSERT INTO "_sqlite_migrations" VALUES(15,'workbench','m015_template_versions','2026-11-24 13:44:43.840787+00:00');
INSERT INTO "_sqlite_migrations" VALUES(16,'workbench','m016_origin','2026-11-24 13:44:43.841704+00:00');
INSERT INTO "_sqlite_migrations" VALUES(17,'workbench','m017_snapshots','2026-11-24 13:44:43.843106+00:00');
INSERT INTO "_sqlite_migrations" VALUES(18,'workbench','m018_spellings','2026-11-24 13:44:43.844102+00:00');
INSERT INTO "_sqlite_migrations" VALUES(19,'workbench','m019_plain_texts','2026-11-24 13:44:43.850544+00:00');
INSERT INTO "_sqlite_migrations" VALUES(20,'workbench','m020_views','2026-11-24 13:44:43.851965+00:00');
INSERT INTO "_sqlite_migrations" VALUES(21,'workbench','m021_rulings','2026-11-24 13:44:43.856645+00:00');
INSERT INTO "_sqlite_migrations" VALUES(22,'workbench','m022_people','2026-11-24 13:44:43.857233+00:00');
INSERT INTO "_sqlite_migrations" VALUES(23,'workbench','m023_control_samples','2026-11-24 13:44:43.857877+00:00');
INSERT INTO "_sqlite_migrations" VALUES(24,'workbench','m024_review_leases','2026-11-24 13:44:43.858449+00:00');
INSERT INTO "_sqlite_migrations" VALUES(25,'workbench','m025_gold_choices','2026-11-24 13:44:43.859032+00:00');
INSERT INTO "_sqlite_migrations" VALUES(26,'workbench','m026_probes','2026-11-24 13:44:43.863420+00:00');
INSERT INTO "_sqlite_migrations" VALUES(27,'workbench','m027_dialects','2026-11-24 13:44:43.870628+00:00');
INSERT INTO "_sqlite_migrations" VALUES(28,'workbench','m028_frozen_plans','2026-11-24 13:44:43.872254+00:00');
INSERT INTO "_sqlite_migrations" VALUES(29,'workbench','m029_batches','2026-11-24 13:44:43.874071+00:00');
INSERT INTO "_sqlite_migrations" VALUES(30,'workbench','m030_personas','2026-11-24 13:44:43.874736+00:00');
INSERT INTO "_sqlite_migrations" VALUES(31,'workbench','m031_brought_lexicons','2026-11-24 13:44:43.875360+00:00');
INSERT INTO "_sqlite_migrations" VALUES(32,'workbench','m032_settled','2026-11-24 13:44:43.883836+00:00');
INSERT INTO "_sqlite_migrations" VALUES(33,'workbench','m033_codebook_edits','2026-11-24 13:44:43.884674+00:00');
INSERT INTO "_sqlite_migrations" VALUES(34,'workbench','m034_occasion','2026-11-27 02:44:25.850807+00:00');
INSERT INTO "_sqlite_migrations" VALUES(35,'workbench','m035_populations','2026-11-27 16:24:54.210775+00:00');
INSERT INTO "_sqlite_migrations" VALUES(36,'workbench','m036_undated_labels','2026-11-29 00:51:48.595794+00:00');
CREATE TABLE answer (
            respondent_id integer not null references respondent,
            question_id integer not null references question,
            value text not null,
            primary key (respondent_id, question_id)
        ) strict, without rowid
        ;
INSERT INTO "answer" VALUES(1,1,'yes');
CREATE TABLE answer_count (
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
        ;
INSERT INTO "answer_count" VALUES(1,0,'q1','original','{"a": 3}',2,2,1);
CREATE TABLE answer_set (
            id integer primary key,
            instrument_id integer not null references instrument,
            model text not null,
            bias text not null,
            variant text not null,
            condition text not null,
            draw integer not null,
            mapped_back integer not null check (mapped_back in (0, 1)),
            at text not null, warnings text not null default '[]',
            unique (instrument_id, model, bias, variant, condition, draw)
        ) strict;
INSERT INTO "answer_set" VALUES(1,1,'m','odd_even','','',1,0,'2026-01-01T00:00:00.000Z','[]');
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
        , place text not null default '') strict;
INSERT INTO "attempt" VALUES(1,X'61',1,'here',7,'0.1','2026-01-01T00:00:00.000Z','2026-01-01T00:00:00.000Z','done','');
CREATE TABLE brought_lexicon (
            instrument_id integer not null references instrument,
            language text not null,
            text text not null,
            at text not null,
            primary key (instrument_id, language)
        ) strict, without rowid
        ;
INSERT INTO "brought_lexicon" VALUES(1,'fi','language = "fi"','2026-01-01T00:00:00.000Z');
CREATE TABLE choice (
            instrument_id integer not null references instrument,
            ref text not null,
            key text not null,
            bias text not null,
            variant text not null,
            middle_removed integer check (middle_removed in (0, 1)),
            shares text not null, warnings text not null default '[]',
            primary key (instrument_id, ref)
        ) strict, without rowid;
INSERT INTO "choice" VALUES(1,'a-1','q1','odd_even','',1,'[0.5, 0.5]','["slipped?"]');
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
CREATE TABLE codebook_edit (
            uid blob primary key,
            codebook_id integer not null references codebook,
            person text not null,
            note text not null,
            at text not null
        ) strict, without rowid
        ;
INSERT INTO "codebook_edit" VALUES(X'B0',1,'ana','clearer','2026-01-01T00:00:00.000Z');
CREATE TABLE control_item (
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
        ) strict, without rowid
        ;
INSERT INTO "control_item" VALUES(X'94',0,'a-1','passed',X'21',X'03','agree',1,'[0]');
CREATE TABLE control_sample (
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
INSERT INTO "control_sample" VALUES(X'94',X'95','{"audit": "reliability"}','rule','label-words','v1',5,'{"passed": [9, 1]}','otto','2026-01-01T00:00:00.000Z');
CREATE TABLE draft (
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
INSERT INTO "draft" VALUES(1,X'83',2,'paraphrase','en',1,2,'m','t',1,1,1,5,'','2026-01-01T00:00:00.000Z');
CREATE TABLE draft_decision (
            uid blob primary key,
            draft_id integer not null references draft,
            decision text not null check (decision in ('accepted', 'edited', 'rejected', 'reopened')),
            text_id integer references text,
            batch blob,
            person text not null,
            note text not null,
            at text not null
        ) strict, without rowid;
INSERT INTO "draft_decision" VALUES(X'84',1,'rejected',NULL,NULL,'ana','no','2026-01-01T00:00:00.000Z');
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
        , decided integer not null default 0 check (decided between 0 and n), fingerprint text not null default '', first integer not null default 0, asked integer) strict;
INSERT INTO "draw" VALUES(1,1,1,1,1,5,3,1,'timed out','2026-01-01T00:00:00.000Z',0,'fp_1',0,3);
CREATE TABLE edit (
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
INSERT INTO "edit" VALUES(1,X'81',X'82',1,'a-1','ana','edit','{}','{}',NULL,'2026-01-01T00:00:00.000Z');
CREATE TABLE embedding (
            model_id integer not null references model,
            text_id integer not null references text,
            vector blob not null,
            primary key (model_id, text_id)
        ) strict, without rowid;
INSERT INTO "embedding" VALUES(1,1,X'0000803F');
CREATE TABLE entailment (
            model_id integer not null references model,
            premise_id integer not null references text,
            hypothesis_id integer not null references text,
            entailment real not null,
            neutral real not null,
            contradiction real not null,
            primary key (model_id, premise_id, hypothesis_id)
        ) strict, without rowid;
INSERT INTO "entailment" VALUES(1,1,2,0.1,0.2,0.7);
CREATE TABLE frozen_plan (
            hash text primary key,
            text text not null,
            at text not null
        ) strict;
INSERT INTO "frozen_plan" VALUES('00ff','[plan]','2026-01-01T00:00:00.000Z');
CREATE TABLE gold_choice (
            id integer primary key,
            instrument_id integer not null references instrument,
            fewest integer not null check (fewest >= 1),
            chosen_by text not null,
            at text not null
        ) strict;
INSERT INTO "gold_choice" VALUES(1,1,1,'ana','2026-01-01T00:00:00.000Z');
CREATE TABLE identity (uid blob not null) strict;
INSERT INTO "identity" VALUES(X'0102030405060708090A0B0C0D0E0F10');
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
CREATE TABLE issue (
            instrument_id integer not null references instrument,
            name text not null,
            title text not null,
            definition text not null,
            primary key (instrument_id, name)
        ) strict, without rowid;
INSERT INTO "issue" VALUES(1,'law','Law','About law.');
CREATE TABLE "issue_label" (
            statement_id integer not null references statement,
            issue text not null,
            reader_id integer not null references reader,
            revision integer not null,
            label integer check (label in (-1, 0, 1)),
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
        , pause_requested integer not null default 0 check (pause_requested in (0, 1)), paused_at text, lane text not null default '', hurried integer not null default 0 check (hurried in (0, 1)), concurrency integer check (concurrency > 0), only_failed integer not null default 0 check (only_failed in (0, 1)), failures text not null default '[]', beats integer not null default 0, mark text not null default '', probe text, question text not null default '', patient integer not null default 0 check (patient in (0, 1)), hidden integer not null default 0 check (hidden in (0, 1)), plan text references frozen_plan, batched integer not null default 0 check (batched in (0, 1))) strict;
INSERT INTO "job" VALUES(1,X'51','sample','{"audit": "reliability", "instrument": "small", "model": "m", "samples": 3}','done',0,'2026-01-01T00:00:00.000Z','2026-01-01T00:00:00.000Z','2026-01-01T00:00:00.000Z',3,3,'{}','said',0,NULL,'here',0,4,0,'["x"]',3,'abc','{"asks": true, "least": 0.25, "result": null}','probe',1,1,'00ff',1);
CREATE TABLE model (
            id integer primary key,
            key blob not null unique,
            name text not null,
            revision text not null,
            backend text not null,
            dtype text not null,
            chat_format text not null,
            first_seen text not null
        , encoding text not null default 'unknown', snapshot text not null default '', occasion text not null default '') strict;
INSERT INTO "model" VALUES(1,X'31','m','r1','scripted','float32','none','2026-01-01T00:00:00.000Z','unknown','m-2026-01-01','');
INSERT INTO "model" VALUES(2,X'00112233445566778899AABBCCDDEEFF','m','r','transformers','float32','none','2026-11-27','unknown','','2026-11-27');
CREATE TABLE next_tokens (
            prompt_id integer not null references prompt,
            model_id integer not null references model,
            tokens text not null,
            rest real not null,
            attempt_id integer references attempt,
            at text not null, words text,
            primary key (model_id, prompt_id)
        ) strict, without rowid
        ;
INSERT INTO "next_tokens" VALUES(1,1,'[[" agree", -0.5]]',0.4,1,'2026-01-01T00:00:00.000Z','{"agree": 0.6}');
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
CREATE TABLE person_field (
            uid blob primary key,
            person text not null,
            field text not null,
            value text,
            said_by text not null,
            at text not null
        ) strict, without rowid
        ;
INSERT INTO "person_field" VALUES(X'93','ana','country','Italy','ana','2026-01-01T00:00:00.000Z');
CREATE TABLE persona (
            key blob primary key,
            name text not null,
            kind text not null check (kind in ('persona', 'system', 'conversation')),
            language text not null default '',
            turns text not null
        ) strict, without rowid
        ;
INSERT INTO "persona" VALUES(X'A0','nurse','persona','en','[["system", "You are a nurse."]]');
CREATE TABLE planned (
            model_id integer not null references model,
            sampling_id integer not null references sampling,
            prompt_id integer not null references prompt,
            n integer not null check (n > 0), rule_id integer references verdict_rule, settled_at integer,
            primary key (model_id, sampling_id, prompt_id)
        ) strict, without rowid;
INSERT INTO "planned" VALUES(1,1,1,3,1,2);
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
        , context_id integer references text) strict;
INSERT INTO "prompt" VALUES(1,X'21',1,'[["user", "Taxes should fall."]]',NULL);
CREATE TABLE published_share (
            question_id integer not null references question,
            field text not null,
            value text not null,
            shares text not null,
            people integer check (people > 0),
            primary key (question_id, field, value)
        ) strict, without rowid;
INSERT INTO "published_share" VALUES(1,'country','Veldania','{"yes": 0.25, "no": 0.75}',900);
CREATE TABLE question (
            id integer primary key,
            instrument_id integer not null references instrument,
            ref text not null,
            unique (instrument_id, ref)
        ) strict;
INSERT INTO "question" VALUES(1,1,'a-1');
CREATE TABLE "question_revision" (
            question_id integer not null references question,
            revision integer not null,
            role text check (role in ('context', 'target', 'survey')),
            form text not null check (form in ('question', 'statement')),
            scale text not null,
            leaning text check (leaning in ('liberal', 'conservative')),
            person text not null,
            at text not null,
            primary key (question_id, revision)
        ) strict, without rowid;
INSERT INTO "question_revision" VALUES(1,1,'target','statement','agree','liberal','ana','2026-01-01T00:00:00.000Z');
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
            priority real not null default 0, inclusion real check (inclusion > 0 and inclusion <= 1), answers integer check (answers > 0),
            primary key (queue_id, unit_id)
        ) strict, without rowid;
INSERT INTO "queue_item" VALUES(1,2,1,'s',2,NULL,1,0.0,0.5,3);
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
            at text not null, codebook_id integer references codebook, uid blob, basis blob, dated integer not null default 1 check (dated in (0, 1)),
            primary key (unit_id, reader_id, revision)
        ) strict, without rowid
        ;
INSERT INTO "reading" VALUES(1,1,1,'agree','says so',2,7,NULL,NULL,NULL,'2026-01-01T00:00:00.000Z',NULL,NULL,NULL,1);
INSERT INTO "reading" VALUES(2,2,1,'agree','',NULL,NULL,NULL,NULL,NULL,'2026-01-01T00:00:00.000Z',1,X'72',NULL,1);
INSERT INTO "reading" VALUES(2,2,101,'agree','',NULL,NULL,NULL,NULL,NULL,'2026-11-29T00:00:00.000Z',1,X'36',NULL,0);
CREATE TABLE remark (
            uid blob primary key,
            unit_id integer not null references unit,
            reader_id integer not null references reader,
            flagged integer not null check (flagged in (0, 1)),
            note text not null,
            at text not null
        , dated integer not null default 1 check (dated in (0, 1))) strict, without rowid;
INSERT INTO "remark" VALUES(X'36',2,2,1,'odd','2026-11-29T00:00:00.000Z',0);
INSERT INTO "remark" VALUES(X'74',2,2,1,'odd','2026-01-01T00:00:00.000Z',1);
CREATE TABLE respondent (
            id integer primary key,
            instrument_id integer not null references instrument,
            name text not null,
            at text not null, weight real not null default 1 check (weight >= 0),
            unique (instrument_id, name)
        ) strict;
INSERT INTO "respondent" VALUES(1,1,'p1','2026-01-01T00:00:00.000Z',1.0);
INSERT INTO "respondent" VALUES(2,1,'heavy','2026-11-27',2.5);
CREATE TABLE respondent_group (
            respondent_id integer not null references respondent,
            field text not null,
            value text not null,
            primary key (respondent_id, field)
        ) strict, without rowid;
INSERT INTO "respondent_group" VALUES(2,'age','18-29');
CREATE TABLE response (
            draw_id integer not null references draw,
            text_id integer not null references text,
            count integer not null check (count > 0),
            primary key (draw_id, text_id)
        ) strict, without rowid;
INSERT INTO "response" VALUES(1,3,1);
INSERT INTO "response" VALUES(1,4,1);
CREATE TABLE review_lease (
            run_key blob not null,
            item text not null,
            auditor text not null,
            until text not null,
            primary key (run_key, item)
        ) strict, without rowid
        ;
INSERT INTO "review_lease" VALUES(X'96','a-1','otto','2026-11-23T04:00:00.000Z');
CREATE TABLE ruling (
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
INSERT INTO "ruling" VALUES(X'91','prompt',X'92','{"prompt": "21"}','excluded',NULL,'odd','otto','2026-01-01T00:00:00.000Z',NULL);
CREATE TABLE sampling (
            id integer primary key,
            key blob not null unique,
            temperature real not null,
            top_p real not null,
            top_k integer,
            max_new_tokens integer not null
        , stop text not null default '', mode text not null default 'sample' check (mode in ('sample', 'exact')), server text not null default '', extra text not null default '', thinking text not null default '') strict;
INSERT INTO "sampling" VALUES(1,X'41',1.0,0.85,NULL,20,'','sample','','','');
INSERT INTO "sampling" VALUES(2,X'42',1.0,1.0,NULL,0,'','exact','','','');
INSERT INTO "sampling" VALUES(3,X'43',1.0,0.85,NULL,20,'','sample','temperature,top_k','{"min_p": 0.1}','low');
CREATE TABLE scale_revision (
            instrument_id integer not null references instrument,
            name text not null,
            revision integer not null,
            options text not null,
            person text not null,
            at text not null,
            primary key (instrument_id, name, revision)
        ) strict, without rowid;
INSERT INTO "scale_revision" VALUES(1,'agree',1,'[["yes", 1]]','ana','2026-01-01T00:00:00.000Z');
CREATE TABLE score (
            prompt_id integer not null references prompt,
            model_id integer not null references model,
            text_id integer not null references text,
            log_probability real not null,
            attempt_id integer references attempt,
            at text not null, version text not null default '1',
            primary key (model_id, prompt_id, text_id)
        ) strict, without rowid;
INSERT INTO "score" VALUES(1,1,3,-0.5,1,'2026-01-01T00:00:00.000Z','2');
CREATE TABLE server_batch (
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
INSERT INTO "server_batch" VALUES('a1',1,'chat','[["00-1-0", 2]]',1,'file-1','batch_1','in_progress',1,0,'2026-01-01T00:00:00.000Z','2026-01-01T00:00:00.000Z',NULL);
CREATE TABLE statement (
            id integer primary key,
            instrument_id integer not null references instrument,
            ref text not null,
            version integer not null,
            current integer not null check (current in (0, 1)),
            ordinal integer not null,
            country text,
            topic text,
            created_at text not null, dimension text check (dimension in ('economic', 'cultural')), leaning text check (leaning in ('left', 'right')), source text, tags text not null default '[]', derived_from text, archived_at text,
            unique (instrument_id, ref, version)
        ) strict;
INSERT INTO "statement" VALUES(1,1,'a-1',1,0,1,'vd','law','2026-01-01T00:00:00.000Z',NULL,NULL,NULL,'[]',NULL,NULL);
INSERT INTO "statement" VALUES(2,1,'a-1',2,1,1,'vd','law','2026-01-01T00:00:00.000Z','economic','right','own','[]',NULL,NULL);
CREATE TABLE survey (
            id integer primary key,
            uid blob not null unique,
            instrument_id integer not null references instrument,
            respondent text not null,
            language text not null,
            seed integer not null,
            created_at text not null
        ) strict;
INSERT INTO "survey" VALUES(1,X'87',1,'ana','en',1,'2026-01-01T00:00:00.000Z');
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
CREATE TABLE survey_event (
            uid blob primary key,
            survey_id integer not null references survey,
            position integer not null,
            agrees integer check (agrees in (0, 1)),
            skipped integer not null default 0 check (skipped in (0, 1)),
            elapsed_ms integer,
            at text not null
        ) strict, without rowid;
INSERT INTO "survey_event" VALUES(X'88',1,0,1,0,900,'2026-01-01T00:00:00.000Z');
CREATE TABLE survey_item (
            survey_id integer not null references survey,
            position integer not null,
            wording_id integer not null references wording,
            primary key (survey_id, position)
        ) strict, without rowid;
INSERT INTO "survey_item" VALUES(1,0,1);
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
CREATE TABLE template_version (
            instrument_id integer not null references instrument,
            template_id integer not null references template,
            version integer not null check (version > 0),
            primary key (instrument_id, template_id, version)
        ) strict, without rowid
        ;
INSERT INTO "template_version" VALUES(1,1,1);
CREATE TABLE "text" (
            id integer primary key,
            key blob not null,
            body any not null check (typeof(body) in ('text', 'blob'))
        ) strict;
INSERT INTO "text" VALUES(1,X'01','Taxes should fall.');
INSERT INTO "text" VALUES(2,X'02','Taxes should not fall.');
INSERT INTO "text" VALUES(3,X'03','I agree.');
INSERT INTO "text" VALUES(4,X'04','<think>Well.</think> I disagree.');
INSERT INTO "text" VALUES(5,X'8DA72A508D056920132C5FDE3B7B5117','I disagree.');
INSERT INTO "text" VALUES(6,X'06',X'EDA080');
CREATE TABLE thought (
            text_id integer primary key references text,
            answer_id integer references text
        ) strict;
INSERT INTO "thought" VALUES(4,5);
CREATE TABLE unit (
            id integer primary key,
            text_id integer not null references text,
            template_id integer references template,
            wording_id integer references wording
        ) strict;
INSERT INTO "unit" VALUES(1,3,1,NULL);
INSERT INTO "unit" VALUES(2,3,NULL,1);
CREATE TABLE verdict_rule (
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
INSERT INTO "verdict_rule" VALUES(1,3,2,'printed',0.45,0.55,'label-words','1-abc');
CREATE TABLE waiver (
            uid blob primary key,
            instrument_id integer not null references instrument,
            code text not null,
            subject text not null,
            fingerprint blob not null,
            reason text,
            person text not null,
            at text not null
        ) strict, without rowid;
INSERT INTO "waiver" VALUES(X'85',1,'stray-blank','a-1',X'86','meant','ana','2026-01-01T00:00:00.000Z');
CREATE TABLE wording (
            id integer primary key,
            statement_id integer not null references statement,
            kind text not null,
            ordinal integer not null,
            language text not null,
            text_id integer not null references text,
            author text, relation text not null default 'same'
            check (relation in ('same', 'flipped', 'free')),
            unique (statement_id, language, kind, ordinal)
        ) strict;
INSERT INTO "wording" VALUES(1,2,'original',0,'en',1,'ana','same');
INSERT INTO "wording" VALUES(2,2,'negation',0,'en',2,NULL,'flipped');
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
CREATE INDEX edit_of on edit (instrument_id, ref);
CREATE INDEX edit_batch on edit (batch);
CREATE INDEX edit_undone on edit (undoes) where undoes is not null;
CREATE INDEX draft_of on draft (statement_id, kind);
CREATE INDEX draft_decision_of on draft_decision (draft_id, at);
CREATE INDEX waiver_of on waiver (instrument_id, fingerprint, at);
CREATE INDEX survey_event_of on survey_event (survey_id, position, at);
CREATE INDEX draw_of on draw (prompt_id)
        ;
CREATE VIEW given_answer as
            select r.draw_id, coalesce(t.answer_id, r.text_id) as text_id, r.count, r.text_id as output_id
            from response r left join thought t on t.text_id = r.text_id
            where t.text_id is null or t.answer_id is not null;
CREATE UNIQUE INDEX text_key on text (key)
        ;
CREATE INDEX probe_wording on probe (wording_id);
CREATE INDEX ruling_of on ruling (subject_key)
        ;
CREATE INDEX control_sample_of on control_sample (run_key);
CREATE INDEX gold_choice_of on gold_choice (instrument_id)
        ;
CREATE INDEX server_batch_of on server_batch (job_id)
        ;
CREATE VIEW "v_answers" AS 
    select 
    i.name as instrument, s.ref as statement, s.version as statement_version, s.current as statement_current, s.country,
    s.topic, w.language, cast(w.kind || iif(w.ordinal, '-' || w.ordinal, '') as text) as variant,
    cast((select iif(typeof(x.body) = 'text', x.body, 'not Unicode, as bytes: ' || hex(x.body)) from text x where x.id = w.text_id) as text) as wording, p.audit, t.family as template_family, t.name as template,
    cast((
        select max(v.version) from template_version v where v.instrument_id = i.id and v.template_id = t.id
    ) as integer) as template_version,
    cast(iif(t.inverted, 'swapped', 'printed') as text) as label_order, p.axes as factors
, 
    m.name as model, m.revision, m.snapshot, m.occasion, m.backend, m.dtype, m.chat_format, g.mode as sampling, g.temperature,
    g.top_p, g.top_k, g.max_new_tokens, g.stop, g.server as left_to_server, g.extra as extra_fields, g.thinking as thinking_budget
,
        cast(coalesce((select group_concat(iif(q.chat, json_extract(j.value, '$[0]') || ': ', '') || json_extract(j.value, '$[1]'), char(10, 10)) from json_each((
    select iif(typeof(x.body) = 'text', x.body, '[["context", "not Unicode"]]') from text x where x.id = q.context_id
)) j) || char(10, 10), '') || (select group_concat(iif(q.chat, json_extract(j.value, '$[0]') || ': ', '') || json_extract(j.value, '$[1]'), char(10, 10)) from json_each(q.messages) j) as text) as prompt, cast((select iif(typeof(x.body) = 'text', x.body, 'not Unicode, as bytes: ' || hex(x.body)) from text x where x.id = iif(h.text_id is null, r.text_id, h.answer_id)) as text) as response, cast((
    select iif(h.text_id is null, null, iif(substr(o.body, -length(a.body)) = a.body,
        substr(o.body, 1, length(o.body) - length(a.body)), o.body))
    from text o left join text a on a.id = iif(h.text_id is null, r.text_id, h.answer_id) where o.id = r.text_id
) as text) as thinking, r.count,
        d.seed, d.fingerprint, d.at as time, cast((select e.job_id from attempt e where e.id = d.attempt_id) as integer)
        as job, p.prompt_id, d.id as draw_id, r.text_id as output_id
    
    from instrument i
    join statement s on s.instrument_id = i.id
    join wording w on w.statement_id = s.id
    join probe p on p.wording_id = w.id
    join template t on t.id = p.template_id
    join draw d on d.prompt_id = p.prompt_id
    join model m on m.id = d.model_id
    join sampling g on g.id = d.sampling_id
 join response r on r.draw_id = d.id left join thought h on h.text_id = r.text_id join prompt q on q.id = p.prompt_id;
CREATE VIEW "v_stances" AS 
    select 
    i.name as instrument, s.ref as statement, s.version as statement_version, s.current as statement_current, s.country,
    s.topic, w.language, cast(w.kind || iif(w.ordinal, '-' || w.ordinal, '') as text) as variant,
    cast((select iif(typeof(x.body) = 'text', x.body, 'not Unicode, as bytes: ' || hex(x.body)) from text x where x.id = w.text_id) as text) as wording, p.audit, t.family as template_family, t.name as template,
    cast((
        select max(v.version) from template_version v where v.instrument_id = i.id and v.template_id = t.id
    ) as integer) as template_version,
    cast(iif(t.inverted, 'swapped', 'printed') as text) as label_order, p.axes as factors
, 
    m.name as model, m.revision, m.snapshot, m.occasion, m.backend, m.dtype, m.chat_format, g.mode as sampling, g.temperature,
    g.top_p, g.top_k, g.max_new_tokens, g.stop, g.server as left_to_server, g.extra as extra_fields, g.thinking as thinking_budget
, e.kind as reader_kind, e.name as reader, e.version as reader_version, cast(sum(iif(1, r.count, 0)) as integer) as answers, cast(sum(iif(b.label = 'agree', r.count, 0)) as integer) as agree, cast(sum(iif(b.label = 'disagree', r.count, 0)) as integer) as disagree, cast(sum(iif(b.label = 'neutral', r.count, 0)) as integer) as neutral, cast(sum(iif(b.label = 'unrelated', r.count, 0)) as integer) as unrelated, cast(sum(iif(b.unit_id is not null and b.label is null and b.reason <> 'refusal', r.count, 0)) as integer) as unreadable, cast(sum(iif(b.label is null and b.reason = 'refusal', r.count, 0)) as integer) as refused, cast(sum(iif(h.text_id is not null and h.answer_id is null, r.count, 0)) as integer) as cut_off, cast(sum(iif(b.unit_id is null and not (h.text_id is not null and h.answer_id is null), r.count, 0)) as integer) as unread,
        cast(sum(iif(b.label = 'agree', 1.0 * r.count, 0))
            / nullif(sum(iif(b.label in ('agree', 'disagree'), r.count, 0)), 0) as real) as agree_share
    
    from instrument i
    join statement s on s.instrument_id = i.id
    join wording w on w.statement_id = s.id
    join probe p on p.wording_id = w.id
    join template t on t.id = p.template_id
    join draw d on d.prompt_id = p.prompt_id
    join model m on m.id = d.model_id
    join sampling g on g.id = d.sampling_id
 join response r on r.draw_id = d.id left join thought h on h.text_id = r.text_id
    left join unit u on u.text_id = iif(h.text_id is null, r.text_id, h.answer_id) and u.template_id = p.template_id and u.wording_id is null
    left join reading b on b.unit_id = u.id
    left join reader e on e.id = b.reader_id
    group by i.name, s.ref, p.audit, t.name, m.name, p.id, d.model_id, d.sampling_id, b.reader_id;
CREATE VIEW "v_readings" AS 
    
    select 
    i.name as instrument, s.ref as statement, s.version as statement_version, s.current as statement_current, s.country,
    s.topic, w.language, cast(w.kind || iif(w.ordinal, '-' || w.ordinal, '') as text) as variant,
    cast((select iif(typeof(x.body) = 'text', x.body, 'not Unicode, as bytes: ' || hex(x.body)) from text x where x.id = w.text_id) as text) as wording, p.audit, t.family as template_family, t.name as template,
    cast((
        select max(v.version) from template_version v where v.instrument_id = i.id and v.template_id = t.id
    ) as integer) as template_version,
    cast(iif(t.inverted, 'swapped', 'printed') as text) as label_order, p.axes as factors
, 
    m.name as model, m.revision, m.snapshot, m.occasion, m.backend, m.dtype, m.chat_format, g.mode as sampling, g.temperature,
    g.top_p, g.top_k, g.max_new_tokens, g.stop, g.server as left_to_server, g.extra as extra_fields, g.thinking as thinking_budget
, cast((select iif(typeof(x.body) = 'text', x.body, 'not Unicode, as bytes: ' || hex(x.body)) from text x where x.id = r.text_id) as text) as response, r.count, e.kind as reader_kind, e.name as reader,
        e.version as reader_version, b.label, b.reason, b.confidence, b.note, cast(iif(b.dated, b.at, null) as text) as time,
        cast(not exists (
            select 1 from reading n
            where n.unit_id = b.unit_id and n.reader_id = b.reader_id and n.codebook_id is b.codebook_id
                and (n.at, coalesce(n.uid, x''), n.revision) > (b.at, coalesce(b.uid, x''), b.revision)
        ) as integer) as newest, p.prompt_id, d.id as draw_id, r.output_id
    
    from instrument i
    join statement s on s.instrument_id = i.id
    join wording w on w.statement_id = s.id
    join probe p on p.wording_id = w.id
    join template t on t.id = p.template_id
    join draw d on d.prompt_id = p.prompt_id
    join model m on m.id = d.model_id
    join sampling g on g.id = d.sampling_id
 join given_answer r on r.draw_id = d.id

    join unit u on u.text_id = r.text_id and u.template_id = p.template_id and u.wording_id is null
    join reading b on b.unit_id = u.id
    join reader e on e.id = b.reader_id
    union all
    
    select 
    i.name as instrument, s.ref as statement, s.version as statement_version, s.current as statement_current, s.country,
    s.topic, w.language, cast(w.kind || iif(w.ordinal, '-' || w.ordinal, '') as text) as variant,
    cast((select iif(typeof(x.body) = 'text', x.body, 'not Unicode, as bytes: ' || hex(x.body)) from text x where x.id = w.text_id) as text) as wording, p.audit, t.family as template_family, t.name as template,
    cast((
        select max(v.version) from template_version v where v.instrument_id = i.id and v.template_id = t.id
    ) as integer) as template_version,
    cast(iif(t.inverted, 'swapped', 'printed') as text) as label_order, p.axes as factors
, 
    m.name as model, m.revision, m.snapshot, m.occasion, m.backend, m.dtype, m.chat_format, g.mode as sampling, g.temperature,
    g.top_p, g.top_k, g.max_new_tokens, g.stop, g.server as left_to_server, g.extra as extra_fields, g.thinking as thinking_budget
, cast((select iif(typeof(x.body) = 'text', x.body, 'not Unicode, as bytes: ' || hex(x.body)) from text x where x.id = r.text_id) as text) as response, r.count, e.kind as reader_kind, e.name as reader,
        e.version as reader_version, b.label, b.reason, b.confidence, b.note, cast(iif(b.dated, b.at, null) as text) as time,
        cast(not exists (
            select 1 from reading n
            where n.unit_id = b.unit_id and n.reader_id = b.reader_id and n.codebook_id is b.codebook_id
                and (n.at, coalesce(n.uid, x''), n.revision) > (b.at, coalesce(b.uid, x''), b.revision)
        ) as integer) as newest, p.prompt_id, d.id as draw_id, r.output_id
    
    from instrument i
    join statement s on s.instrument_id = i.id
    join wording w on w.statement_id = s.id
    join probe p on p.wording_id = w.id
    join template t on t.id = p.template_id
    join draw d on d.prompt_id = p.prompt_id
    join model m on m.id = d.model_id
    join sampling g on g.id = d.sampling_id
 join given_answer r on r.draw_id = d.id

    join unit u on u.text_id = r.text_id and u.wording_id = (
    select min(f.id) from statement v join wording f on f.statement_id = v.id
    where v.instrument_id = s.instrument_id and v.ref = s.ref and f.language = w.language and f.kind = w.kind
        and f.ordinal = w.ordinal and f.text_id = w.text_id
) and u.template_id is null
    join reading b on b.unit_id = u.id
    join reader e on e.id = b.reader_id;
COMMIT;
