"""Rows for every table, by the schema version that made the table or the columns.

They are inserted right after the migration of that number, so a store of version N holds rows that went through all
migrations in between. Run this file to freeze the store of the newest version as `vN.sql`:

    python -m tests.stores.schemas.rows

A new migration takes two steps: add its rows below, and run that. Never run it for an older version: what is frozen is
what programs of that time wrote.
"""

from __future__ import annotations

import sys
from pathlib import Path

from stores.core.migrations import APPLICATION_ID, migrations
from stores.core.sqlite import Database

FOLDER = Path(__file__).parent
AT = "'2026-01-01T00:00:00.000Z'"

ROWS: dict[int, str] = {
    1: f"""
        insert into text (id, key, body, packed) values
            (1, x'01', 'Taxes should fall.', null), (2, x'02', 'Taxes should not fall.', null),
            (3, x'03', 'I agree.', null), (4, x'04', '<think>Well.</think> I disagree.', null);
        insert into instrument
            values (1, 'small', 'A small instrument', '1', 'en', 's', 'c', 'l', '["law"]', '["a note"]', {AT});
        insert into statement (id, instrument_id, ref, version, current, ordinal, country, topic, created_at) values
            (1, 1, 'a-1', 1, 0, 1, 'vd', 'law', {AT}), (2, 1, 'a-1', 2, 1, 1, 'vd', 'law', {AT});
        insert into wording (id, statement_id, kind, ordinal, language, text_id, author) values
            (1, 2, 'original', 0, 'en', 1, 'ana'), (2, 2, 'negation', 0, 'en', 2, null);
        insert into reader values (1, 'rule', 'label-words', 'v1', {AT}), (2, 'person', 'ana', '', {AT});
        insert into issue_label values (2, 'law', 2, 1, 1, {AT});
        insert into party values (1, 1, 'vd', 'Larks', 2.5);
        insert into party_answer values (1, 2, 'rather agree', 1);
        insert into survey_answer values (2, '1', 'original', 0, 1)
    """,
    2: """
        insert into template (id, key, audit, name, inverted, family, address, language, chat, system, user, positive,
            negative) values (1, x'11', 'reliability', 'personal-1', 0, 'chat', 'personal', 'en', 1, 'Answer.',
            '{statement}', 'agree', 'disagree');
        insert into instrument_template values (1, 1, 0);
        insert into prompt (id, key, chat, messages) values (1, x'21', 1, '[["user", "Taxes should fall."]]');
        insert into probe values (1, 'reliability', 1, 1, '{}', 1)
    """,
    3: f"""
        insert into model (id, key, name, revision, backend, dtype, chat_format, first_seen)
            values (1, x'31', 'm', 'r1', 'scripted', 'float32', 'none', {AT});
        insert into sampling (id, key, temperature, top_p, top_k, max_new_tokens)
            values (1, x'41', 1.0, 0.85, null, 20);
        insert into job (id, uid, kind, spec, state, created_at, finished_at, heartbeat, done, total, message) values
            (1, x'51', 'sample', '{{"audit": "reliability", "instrument": "small", "model": "m", "samples": 3}}',
             'done', {AT}, {AT}, {AT}, 3, 3, 'said');
        insert into attempt (id, uid, job_id, host, pid, code_version, started_at, ended_at, outcome)
            values (1, x'61', 1, 'here', 7, '0.1', {AT}, {AT}, 'done');
        insert into draw (id, prompt_id, model_id, sampling_id, attempt_id, seed, n, failed, reason, at)
            values (1, 1, 1, 1, 1, 5, 3, 1, 'timed out', {AT});
        insert into response values (1, 3, 1), (1, 4, 1);
        insert into unit values (1, 3, 1, null), (2, 3, null, 1);
        insert into reading (unit_id, reader_id, revision, label, reason, start, stop, confidence, note, elapsed_ms, at)
            values (1, 1, 1, 'agree', 'says so', 2, 7, null, null, null, {AT})
    """,
    4: f"""
        insert into codebook values (1, x'71', 'stance', '{{"name": "stance"}}', {AT});
        update statement set dimension = 'economic', leaning = 'right', source = 'own' where id = 2;
        insert into reading (unit_id, reader_id, revision, label, reason, at, codebook_id, uid, basis)
            values (2, 2, 1, 'agree', '', {AT}, 1, x'72', null);
        insert into queue values (1, x'73', 'first', 1, 'test', '{{"seed": 1}}', 600, {AT});
        insert into queue_item (queue_id, unit_id, ordinal, stratum, needed, done) values (1, 2, 1, 's', 2, 1);
        insert into assignment values (1, 2, 2, 'done', null, {AT});
        insert into remark values (x'74', 2, 2, 1, 'odd', {AT});
        insert into classifier values (1, x'75', 'tuned', 1, 1, 1, 'folder', '{{}}', '{{}}', '{{}}', {AT})
    """,
    5: f"""
        insert into issue values (1, 'law', 'Law', 'About law.');
        insert into edit values (1, x'81', x'82', 1, 'a-1', 'ana', 'edit', '{{}}', '{{}}', null, {AT});
        insert into draft (id, uid, statement_id, kind, language, basis_id, text_id, drafter, template, model_id,
            sampling_id, attempt_id, seed, at)
            values (1, x'83', 2, 'paraphrase', 'en', 1, 2, 'm', 't', 1, 1, 1, 5, {AT});
        insert into draft_decision values (x'84', 1, 'rejected', null, null, 'ana', 'no', {AT});
        insert into embedding values (1, 1, x'0000803f');
        insert into entailment values (1, 1, 2, 0.1, 0.2, 0.7);
        insert into waiver values (x'85', 1, 'stray-blank', 'a-1', x'86', 'meant', 'ana', {AT});
        insert into survey values (1, x'87', 1, 'ana', 'en', 1, {AT});
        insert into survey_item values (1, 0, 1);
        insert into survey_event values (x'88', 1, 0, 1, 0, 900, {AT})
    """,
    6: "update job set lane = 'here', concurrency = 4, failures = '[\"x\"]' where id = 1",
    7: f"""
        insert into sampling values (2, x'42', 1.0, 1.0, null, 0, '', 'exact');
        insert into score values (1, 1, 3, -0.5, 1, {AT});
        insert into next_tokens (prompt_id, model_id, tokens, rest, attempt_id, at)
            values (1, 1, '[[" agree", -0.5]]', 0.4, 1, {AT})
    """,
    8: f"""
        update next_tokens set words = '{{"agree": 0.6}}';
        insert into question values (1, 1, 'a-1');
        insert into question_revision values (1, 1, 'target', 'statement', 'agree', 'liberal', 'ana', {AT});
        insert into scale_revision values (1, 'agree', 1, '[["yes", 1]]', 'ana', {AT});
        insert into respondent values (1, 1, 'p1', {AT});
        insert into answer values (1, 1, 'yes')
    """,
    9: f"""
        insert into choice (instrument_id, ref, key, bias, variant, middle_removed, shares)
            values (1, 'a-1', 'q1', 'odd_even', '', 1, '[0.5, 0.5]');
        insert into answer_set (id, instrument_id, model, bias, variant, condition, draw, mapped_back, at)
            values (1, 1, 'm', 'odd_even', '', '', 1, 0, {AT});
        insert into answer_count values (1, 0, 'q1', 'original', '{{"a": 3}}', 2, 2, 1)
    """,
    11: "update queue_item set inclusion = 0.5, answers = 3",
    13: "update choice set warnings = '[\"slipped?\"]'",
    14: "update identity set uid = x'0102030405060708090a0b0c0d0e0f10'; update job set beats = 3",
    16: "update job set mark = 'abc'",
    17: "update model set snapshot = 'm-2026-01-01'; update draw set fingerprint = 'fp_1'",
    18: "update score set version = '2'",
    19: "insert into text values (6, x'06', x'eda080')",  # half a surrogate pair
    21: f"""
        insert into ruling (uid, kind, subject_key, subject, verdict, reason, auditor, at)
            values (x'91', 'prompt', x'92', '{{"prompt": "21"}}', 'excluded', 'odd', 'otto', {AT})
    """,
    22: f"insert into person_field values (x'93', 'ana', 'country', 'Italy', 'ana', {AT})",
    23: f"""
        insert into control_sample values
            (x'94', x'95', '{{"audit": "reliability"}}', 'rule', 'label-words', 'v1', 5, '{{"passed": [9, 1]}}', 'otto',
             {AT});
        insert into control_item values (x'94', 0, 'a-1', 'passed', x'21', x'03', 'agree', 1, '[0]')
    """,
    24: "insert into review_lease values (x'96', 'a-1', 'otto', '2026-11-23T04:00:00.000Z')",
    25: f"insert into gold_choice (instrument_id, fewest, chosen_by, at) values (1, 1, 'ana', {AT})",
    26: """
        update job set question = 'probe', patient = 1, hidden = 1,
            probe = '{"asks": true, "least": 0.25, "result": null}'
    """,
    27: """
        insert into sampling values
            (3, x'43', 1.0, 0.85, null, 20, '', 'sample', 'temperature,top_k', '{"min_p": 0.1}', 'low')
    """,
    28: f"""
        insert into frozen_plan values ('00ff', '[plan]', {AT});
        update job set plan = '00ff'
    """,
    29: f"""
        insert into server_batch values
            ('a1', 1, 'chat', '[["00-1-0", 2]]', 1, 'file-1', 'batch_1', 'in_progress', 1, 0, {AT}, {AT}, null);
        update job set batched = 1
    """,
    30: """
        insert into persona values (x'a0', 'nurse', 'persona', 'en', '[["system", "You are a nurse."]]')
    """,
    31: f"""insert into brought_lexicon values (1, 'fi', 'language = "fi"', {AT})""",
    32: """
        update draw set first = 0, asked = 3;
        insert into verdict_rule values (1, 3, 2, 'printed', 0.45, 0.55, 'label-words', '1-abc');
        update planned set rule_id = 1, settled_at = 2
    """,
    33: f"""insert into codebook_edit values (x'b0', 1, 'ana', 'clearer', {AT})""",
}


def build(version: int) -> Database:
    """Return a store of a schema version with its rows, in memory."""
    db = Database(memory=True)
    names = [migration.name for migration in migrations.pending(db)]
    for number, following in enumerate([*names[1:version], None], start=1):
        if following is not None:
            migrations.apply(db, stop_before=following)
        elif version < len(names):
            migrations.apply(db, stop_before=names[version])
        else:
            migrations.apply(db)
        for statement in ROWS.get(number, "").split(";"):
            if statement.strip():
                db.execute(statement)
    db.conn.commit()
    db.execute(f"pragma application_id = {APPLICATION_ID}")
    db.execute(f"pragma user_version = {version}")
    return db


def dump(db: Database) -> str:
    """Return a store as SQL, with what marks it as one."""
    marks = (
        f"pragma {name} = {db.execute(f'pragma {name}').fetchone()[0]};" for name in ("application_id", "user_version")
    )
    return "\n".join([*marks, *db.conn.iterdump(), ""])


def frozen(version: int) -> Path:
    return FOLDER / f"v{version:03d}.sql"


if __name__ == "__main__":
    newest = len(migrations.pending(Database(memory=True)))
    for number in map(int, sys.argv[1:] or [str(newest)]):
        if frozen(number).exists():
            sys.exit(f"{frozen(number)} is frozen already")
        frozen(number).write_text(dump(build(number)), encoding="utf-8")
        print(f"wrote {frozen(number)}")
