"""One annotator: blind by construction, one item at a time, nothing lost, everything counted."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections import defaultdict
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

import stores.annotation.annotator
import stores.core.base
from stores.annotation.annotator import ATTENTION_EVERY, Annotator
from stores.annotation.labels import PredictedLabel
from stores.annotation.queues import NewItem
from stores.core.store import Store
from tests.conftest import instrument
from tests.tui.annotation_stores import HOSTILE_ANSWERS, answers, labelling_store
from workbench.data import shipped_codebook
from workbench.domain.annotations import DisagreementReason, EventKind, LabelEvent, Purpose
from workbench.domain.keys import content_key
from workbench.domain.readings import ReaderCard, ReaderKind
from workbench.errors import UnknownName, UsageError

STANCE = shipped_codebook("stance")


def predict(
    path: Path, label: str = "disagree", confidence: float = 0.75, name: str = "secret-net"
) -> None:
    """Let a classifier read every item of the store, and take its doubt as priority."""
    with Store.open(path) as store:
        store.classifiers.add(
            name, ReaderCard(ReaderKind.CLASSIFIER, name, "1"), "stance", "secret-net", {}, {}, {}
        )
        classifier = store.classifiers.get(name)
        rows = store.connection.execute("select text_id, wording_id from unit").fetchall()
        store.classifiers.predict(
            classifier, [PredictedLabel(text, wording, label, confidence) for text, wording in rows]
        )
        store.queues.prioritise(classifier.reader)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A queue of six answers for two people each and one attention item; bob has labelled, a model
    read all.
    """
    path = labelling_store(
        tmp_path_factory.mktemp("made") / "audit.db",
        answers(6),
        attention=[("I agree, fully.", "agree")],
    )
    with Annotator.open(path, "first", "bob") as bob:
        for label in ("neutral", "unrelated", "agree"):
            item = bob.next()
            assert item is not None
            bob.remark(item.unit, flagged=True, note="bob-note")
            bob.label(item.unit, label, elapsed_ms=4321)
    predict(path)
    with Store.open(path) as store:
        unit = store.labels.judged("stance")[0].context.unit
        store.labels.decide(unit, STANCE, "agree", DisagreementReason.SLIP, "nora-note", "nora")
        store.connection.execute("pragma wal_checkpoint(truncate)")
    return path


@pytest.fixture
def path(tmp_path: Path, made: Path) -> Path:
    return Path(shutil.copy(made, tmp_path / "audit.db"))


LEAKS = (
    "select label from reading",
    "select label from main.reading",
    'select "label" from "main"."reading"',
    "select * from reading",
    "select count(*) from reading",
    "select 1 from reading where label = 'agree'",
    "select unit_id from queue_item i where exists (select 1 from reading r where r.label = "
    "'agree')",
    "with x as (select label from reading) select * from x",
    "with my_reading as (select label from main.reading) select * from my_reading",
    "with my_reading(label) as (select label from main.reading) select m.label from my_reading m",
    "with recursive my_reading(n, label) as (select 1, label from main.reading union select n + "
    "1, label from my_reading where n < 2) select * from my_reading",
    "select (with my_attention as (select attention a from main.queue_item) select "
    "group_concat(a) from my_attention)",
    "with attention_item as (select name from main.reader) select * from attention_item",
    "with my_remark as (select note from main.remark) select * from my_remark",
    "select * from (select label from main.reading) my_reading",
    "select my_reading.label from main.reading as my_reading",
    "select r.label from my_reading m join reading r on r.unit_id = m.unit_id",
    "select m.label from my_reading m, reading r",
    "select (select label from reading limit 1)",
    "select max(label) over (partition by unit_id) from reading",
    "select unit_id, row_number() over (order by (select label from reading limit 1)) from "
    "queue_item",
    "select unit_id from queue_item order by (select label from reading r where r.unit_id = "
    "queue_item.unit_id)",
    "select unit_id from queue_item group by 1 having (select count(*) from reading) > 0",
    "values ((select label from reading limit 1))",
    "select unit_id from my_reading union all select label from reading",
    "select unit_id from assignment except select unit_id from reading where label = 'agree'",
    "explain select label from reading",
    "select group_concat(label) filter (where label is not null) from reading",
    "select json_group_array(label) from reading",
    "select attention from queue_item",
    "select stratum from queue_item",
    "select note from remark",
    "select name from reader",
    "select kind from reader",
    "select name from model",
    "select reason from draw",
    "select text_id from response",
    "select name from template",
    "select template_id from probe",
    "select template_id from unit",
    "select config from classifier",
    "select model from v_answers",
    "select response, count from main.v_answers",
    "select template from v_answers",
    "select prompt from v_answers",
    "select count(*) from v_answers",
    "select label from v_readings",
    "select verdict from ruling",
    "select label from control_item",
    "select strata from control_sample",
    "select person, field, value from person_field",
    "select reader, label from main.v_readings where newest = 1",
    "with my_reading as (select label from v_readings) select * from my_reading",
    "select agree from v_stances",
    "select unread from v_stances",
    "select spec from queue",
    "select spec from job",
    "select label from issue_label",
    "select * from sqlite_master",
    "select sql from main.sqlite_schema",
    "select * from temp.sqlite_master",
    "select name from sqlite_temp_master",
    "select * from sqlite_temp_schema",
    "select * from pragma_table_list",
    "select * from pragma_table_info('reading')",
    "pragma table_info(reading)",
    "pragma database_list",
    "pragma writable_schema = on",
    "attach ':memory:' as other",
    "create temp view mine as select * from main.reading",
    "create temp table mine as select * from main.reading",
    "create temp trigger t after insert on main.assignment begin select label from reading; end",
    "drop view my_reading",
    "update reading set label = 'agree'",
    "update reading set label = label returning label",
    "delete from reading",
    "delete from remark",
    "replace into remark (uid, unit_id, reader_id, flagged, note, at) select uid, unit_id, "
    "reader_id, 0, note, at from remark",
    "insert into reading (unit_id, reader_id, revision, label, reason, at) select unit_id, "
    "reader_id, 99, label, '', at from reading",
    "insert into assignment (queue_id, unit_id, reader_id, state, at) select 1, unit_id, "
    "reader_id, 'done', label from reading",
    "insert into reading (unit_id, reader_id, revision, label, reason, at) values (1, 1, 1, 'x', "
    "'', '') on conflict do update set note = label returning label",
    "update queue_item set done = (select count(*) from reading where label = 'agree')",
    "update queue_item set done = done returning stratum",
    "update queue_item set attention = null",
    "update queue_item set needed = 9",
    "vacuum into 'copy.db'",
    "detach main",
    "analyze",
    "reindex",
)


@pytest.mark.parametrize("sql", LEAKS)
def test_a_query_for_what_others_said_is_refused_whoever_writes_it(path: Path, sql: str) -> None:
    with Annotator.open(path, "first", "ana") as ana:
        with pytest.raises(
            sqlite3.DatabaseError, match=r"prohibited|not authorized|authorization denied"
        ):
            ana.connection.execute(sql).fetchall()
        assert ana.next() is not None


def test_the_queries_that_are_refused_would_run_on_an_open_connection(path: Path) -> None:
    with Store.open(path) as store:
        for sql in LEAKS:
            made_of_views = any(
                words in sql for words in ("from my_reading m", "from my_reading union")
            )
            if (
                sql.startswith(("select", "with", "values", "explain")) and not made_of_views
            ) or sql.startswith("with"):
                store.connection.execute(sql).fetchall()


@pytest.mark.parametrize("view", ["my_reading", "my_revision", "my_remark", "my_attention"])
def test_the_views_hold_only_what_is_ones_own(path: Path, view: str) -> None:
    with Annotator.open(path, "first", "ana") as ana:
        assert ana.connection.execute(f"select * from {view}").fetchall() == []
        where = "where unit_id in (select unit_id from queue_item) or 1 = 1"
        assert ana.connection.execute(f"select * from temp.{view} {where}").fetchall() == []


def test_ones_own_labels_notes_and_history_are_visible(path: Path) -> None:
    with Annotator.open(path, "first", "ana") as ana:
        item = ana.next()
        assert item is not None
        ana.remark(item.unit, flagged=True, note="mine")
        ana.label(item.unit, "agree", elapsed_ms=1000)
        again = ana.item(item.unit)
        assert (again.label, again.flagged, again.note) == ("agree", True, "mine")
        assert ana.newest_labels() == ((item.unit, "agree"),)
        assert (ana.progress().done, ana.progress().flagged) == (1, 1)
        assert ana.connection.execute("select label from my_reading").fetchall() == [("agree",)]


def test_a_table_that_a_later_version_adds_is_hidden(path: Path) -> None:
    with Annotator.open(path, "first", "ana") as ana:
        with closing(sqlite3.connect(path)) as newer:
            newer.execute("create table prediction (unit_id integer, label text)")
        with pytest.raises(sqlite3.DatabaseError, match=r"prohibited|not authorized"):
            ana.connection.execute("select label from prediction")


def said_by_others(path: Path, label: str, note: str, confidence: float, model_label: str) -> Path:
    """Let bob label and flag every item but the last two, one of them settled, and a model read all
    of them.
    """
    with Annotator.open(path, "first", "bob") as bob:
        for _ in range(4):
            item = bob.next()
            assert item is not None
            bob.remark(item.unit, flagged=note != "", note=note)
            bob.label(item.unit, label, elapsed_ms=1 + len(note) * 1000)
    predict(path, model_label, confidence)
    with Store.open(path) as store:
        unit = store.labels.judged("stance")[0].context.unit
        store.labels.decide(unit, STANCE, label, DisagreementReason.OTHER, note, "nora")
    return path


def seen(path: Path) -> list[Any]:
    """Return everything that every method tells ana, times left out, as she labels the whole
    queue.
    """
    found: list[Any] = []

    def note(value: Any) -> None:
        found.append(value)

    with Annotator.open(path, "first", "ana") as ana:
        note((ana.name, ana.queue, ana.codebook, ana.progress(), ana.newest_labels()))
        while (item := ana.next()) is not None and len(found) < 200:
            note((item.context, item.label, item.flagged, item.note))
            ana.remark(item.unit, flagged=False, note="")
            ana.label(item.unit, "neutral", elapsed_ms=900)
            back = ana.undo(item.unit)
            note((back.context, back.label, back.flagged, back.note))
            ana.skip(item.unit)
            ana.label(item.unit, "agree", elapsed_ms=500)
            note((ana.item(item.unit).label, ana.progress(), ana.newest_labels()))
            for table in (
                "text",
                "wording",
                "assignment",
                "my_reading",
                "my_attention",
                "attention_item",
            ):
                columns = {
                    "assignment": "queue_id, unit_id, reader_id, state",
                    "my_reading": "unit_id, label",
                }
                note(
                    sorted(
                        ana.connection.execute(f"select {columns.get(table, '*')} from {table}"),
                        key=repr,
                    )
                )
            note(
                ana.connection.execute(
                    "select unit_id, ordinal, needed, done from queue_item"
                ).fetchall()
            )
    return found


def test_two_stores_that_differ_in_what_others_and_models_said_look_the_same(
    tmp_path: Path,
) -> None:
    first = labelling_store(tmp_path / "a.db", answers(6), attention=[("I agree, fully.", "agree")])
    second = Path(shutil.copy(first, tmp_path / "b.db"))
    said_by_others(first, "agree", "what I think", 0.6, "agree")
    said_by_others(second, "unrelated", "", 0.6, "disagree")
    what = seen(first)
    assert what == seen(second)
    assert len(what) > 6 * 8
    shown = repr(what)
    for secret in ("what I think", "secret-model-9b", "prefix-7", "secret-net", "nora"):
        assert secret not in shown


def test_names_of_any_script_are_kept_apart_and_odd_ones_refused(path: Path) -> None:
    for name in ("bob ç 'x'", "小明", 'a"; drop table reading; --', "{me}", "%s", "O'Brien"):
        with Annotator.open(path, "first", name) as someone:
            item = someone.next()
            assert item is not None
            someone.release(item.unit)
            assert someone.name == name
            assert someone.newest_labels() == ()
    with (
        Annotator.open(path, "first", "cafe\u0301") as one,
        Annotator.open(path, "first", "  caf\u00e9 ") as same,
    ):
        item = one.next()
        assert item is not None
        one.label(item.unit, "agree")
        assert same.newest_labels() == ((item.unit, "agree"),)
    for name in ("", " \t ", "a\x00b", "a\u202eb", "x" * 65, "\ud800"):
        with pytest.raises(UsageError):
            Annotator.open(path, "first", name)


def test_a_queue_that_is_not_there_is_named_with_those_that_are(path: Path) -> None:
    with pytest.raises(UnknownName, match="first"):
        Annotator.open(path, "second", "ana")


def test_an_item_of_no_queue_or_another_is_refused_in_words_and_nothing_is_written(
    path: Path,
) -> None:
    labelling_store(path, ["only there"], queue="other")
    with Annotator.open(path, "other", "ana") as there:
        item = there.next()
    assert item is not None
    with Annotator.open(path, "first", "ana") as ana:
        for unit in (item.unit, 999_999, -1):
            for verb in (
                lambda u: ana.label(u, "agree"),
                ana.undo,
                ana.skip,
                ana.item,
                lambda u: ana.remark(u, flagged=True, note="x"),
            ):
                with pytest.raises(UnknownName, match="has no item"):
                    verb(unit)
        with pytest.raises(UnknownName, match="agree, disagree, neutral, unrelated"):
            ana.label(1, "Agree")
    with Store.open(path) as store:
        of_ana = (
            "select count(*) from reading where reader_id = (select id from reader where "
            "name = 'ana')"
        )
        assert store.connection.execute(of_ana).fetchone()[0] == 0


def order(
    path: Path, name: str, count: int = 99, label: str = "agree", queue: str = "first"
) -> list[str]:
    """Return which answers a person gets, as `answer 0007`, while labelling."""
    found: list[str] = []
    with Annotator.open(path, queue, name) as person:
        while len(found) < count and (item := person.next()) is not None:
            found.append(item.context.text[:11])
            person.label(item.unit, label)
    return found


def named(*numbers: int) -> list[str]:
    return [f"answer {n:04}" for n in numbers]


def test_overlap_comes_first_then_doubt_then_the_order_of_the_sample(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", answers(6), purpose=Purpose.TRAINING)
    with Store.open(path) as store:
        units = [
            r[0]
            for r in store.connection.execute("select unit_id from queue_item order by ordinal")
        ]
        rows = {
            row[0]: row[1:]
            for row in store.connection.execute("select id, text_id, wording_id from unit")
        }
        card = ReaderCard(ReaderKind.CLASSIFIER, "net", "1")
        store.classifiers.add("net", card, "stance", "net", {}, {}, {})
        net = store.classifiers.get("net")
        sure = {1: 0.99, 3: 0.40, 4: 0.70}
        store.classifiers.predict(
            net,
            [
                PredictedLabel(rows[units[n]][0], rows[units[n]][1], "agree", value)
                for n, value in sure.items()
            ],
        )
        store.queues.prioritise(net.reader)
    assert order(path, "ana", 2) == named(3, 4), "the most doubtful first"
    with Annotator.open(path, "first", "zoe") as zoe:
        zoe.label(units[5], "agree")
    assert order(path, "bob", 1) == named(3), "somebody has labelled it, so it needs one more"
    with Annotator.open(path, "first", "cem") as cem:
        item = cem.next()
        assert item is not None
        assert item.context.text[:11] == "answer 0004"
    assert order(path, "dan") == named(5, 1, 0, 2), (
        "0003 is full, cem looks at 0004, and 0005 has one label"
    )
    assert order(path, "eva") == named(1, 0, 2), "all of them have one label"


def test_nobody_gets_an_item_twice_and_every_item_gets_as_many_people_as_it_needs(
    tmp_path: Path,
) -> None:
    path = labelling_store(tmp_path / "a.db", answers(5), needed=3)
    got = {name: order(path, name) for name in ("ana", "bob", "cem", "dan")}
    assert [len(got[name]) for name in got] == [5, 5, 5, 0]
    assert all(len(set(found)) == len(found) for found in got.values())
    assert order(path, "ana") == []


def test_what_somebody_looks_at_is_kept_from_others_until_the_lease_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = labelling_store(tmp_path / "a.db", answers(1), needed=1)
    with Annotator.open(path, "first", "ana") as ana, Annotator.open(path, "first", "bob") as bob:
        item = ana.next()
        assert item is not None
        assert bob.next() is None
        assert (bob.progress().left, bob.progress().held) == (0, 1)
        real = stores.core.base.now
        monkeypatch.setattr(
            stores.annotation.annotator,
            "now",
            lambda: stores.core.base.later(real(), timedelta(seconds=1801)),
        )
        taken = bob.next()
        assert taken is not None
        assert taken.unit == item.unit
        assert ana.next() is None, "bob has it now"
        ana.label(item.unit, "agree")
        bob.label(item.unit, "disagree")
    with Store.open(path) as store:
        (judged,) = store.labels.judged("stance")
        assert [(g.annotator, g.label) for g in judged.labels] == [
            ("ana", "agree"),
            ("bob", "disagree"),
        ]
        assert (store.queues.get("first").done, store.queues.get("first").finished) == (1, 1)


def test_a_lease_of_a_clock_that_was_a_day_ahead_keeps_nobody_from_the_item(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = labelling_store(tmp_path / "a.db", answers(1), needed=1)
    with Annotator.open(path, "first", "ana") as ana, Annotator.open(path, "first", "bob") as bob:
        real = stores.core.base.now
        with monkeypatch.context() as patch:
            ahead = lambda: stores.core.base.later(real(), timedelta(days=1))  # noqa: E731
            patch.setattr(stores.annotation.annotator, "now", ahead)
            item = ana.next()
        taken = bob.next()
        assert item is not None
        assert taken is not None
        assert taken.unit == item.unit


@pytest.mark.e2e
def test_a_lease_of_one_second_ends_after_a_second(tmp_path: Path) -> None:
    import time

    path = labelling_store(tmp_path / "a.db", answers(1), needed=1)
    with Store.open(path) as store, store.write() as connection:
        connection.execute("update queue set lease_s = 1")
    with Annotator.open(path, "first", "ana") as ana, Annotator.open(path, "first", "bob") as bob:
        assert ana.next() is not None
        assert bob.next() is None
        time.sleep(1.05)
        assert bob.next() is not None


def test_after_a_crash_the_same_item_comes_back_first(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", answers(4))
    with Annotator.open(path, "first", "ana") as ana:
        order_ = [ana.next()]
    assert order_[0] is not None
    order(path, "bob", 3)
    with Annotator.open(path, "first", "ana") as again:
        item = again.next()
    assert item is not None
    assert item.unit == order_[0].unit


def test_a_released_item_goes_to_others_and_a_skipped_one_comes_last(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", answers(3), needed=1)
    with Annotator.open(path, "first", "ana") as ana, Annotator.open(path, "first", "bob") as bob:
        first = ana.next()
        assert first is not None
        ana.release(first.unit)
        taken = bob.next()
        assert taken is not None
        assert taken.unit == first.unit
        bob.release(first.unit)
        again = ana.next()
        assert again is not None
        ana.skip(again.unit)
        assert ana.progress().skipped == 1
        found = []
        while (item := ana.next()) is not None:
            found.append(item.context.text[:11])
            ana.label(item.unit, "agree")
        assert found == named(1, 2, 0)


def test_a_label_stays_when_its_item_is_released(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", answers(1))
    with Annotator.open(path, "first", "ana") as ana:
        item = ana.next()
        assert item is not None
        ana.label(item.unit, "agree")
        ana.release(item.unit)
        assert ana.item(item.unit).label == "agree"
        assert ana.next() is None


def test_an_attention_item_comes_after_every_twenty_labels_for_everybody(tmp_path: Path) -> None:
    known = [("I agree, fully.", "agree"), ("No, never.", "disagree")]
    path = labelling_store(tmp_path / "a.db", answers(50), attention=known, needed=2)
    for name in ("ana", "bob"):
        with Annotator.open(path, "first", name) as person:
            places = []
            for place in range(60):
                item = person.next()
                if item is None:
                    break
                if not item.context.text.startswith("answer"):
                    places.append(place)
                person.label(item.unit, "agree")
            assert places == [ATTENTION_EVERY, 2 * ATTENTION_EVERY]
            assert person.progress().attention == (1, 2)
            assert person.progress().done == 52
    with Store.open(path) as store:
        assert store.labels.attention("first") == (("ana", 1, 2), ("bob", 1, 2))
        assert len(store.labels.judged("stance")) == 50


def test_undo_opens_the_item_again_and_the_withdrawn_label_stays_on_record(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", answers(3), needed=1)
    with Annotator.open(path, "first", "ana") as ana:
        first = ana.next()
        assert first is not None
        ana.label(first.unit, "agree")
        second = ana.next()
        assert second is not None
        assert ana.undo(first.unit).label is None
        assert ana.progress().done == 0
        ana.label(first.unit, "disagree")
        back = ana.next()
        assert back is not None
        assert back.unit == second.unit
    with Store.open(path) as store:
        rows = store.connection.execute(
            "select revision, label, reason from reading where unit_id = ? order by revision",
            (first.unit,),
        ).fetchall()
        assert rows == [(1, "agree", ""), (2, None, "undone"), (3, "disagree", "")]
        assert store.queues.get("first").done == 1


@pytest.mark.parametrize("leave", ["skip", "look"])
def test_what_a_person_labelled_in_another_queue_is_done_here_too(
    tmp_path: Path, leave: str
) -> None:
    path = labelling_store(tmp_path / "a.db", answers(3), needed=2)
    with Annotator.open(path, "first", "ana") as ana:
        item = ana.next()
        assert item is not None
        if leave == "skip":
            ana.skip(item.unit)
    labelling_store(path, answers(3), queue="second", needed=1)
    assert len(order(path, "ana", queue="second")) == 3
    with Annotator.open(path, "first", "ana") as ana:
        assert ana.next() is None, "not even what was before her"
        assert (ana.progress().done, ana.progress().left) == (3, 0)
        assert len(ana.newest_labels()) == 3
    assert len(order(path, "bob")) == 3, "another person still can"


@pytest.mark.parametrize("text", HOSTILE_ANSWERS)
def test_any_answer_is_shown_as_it_is(tmp_path: Path, text: str) -> None:
    path = labelling_store(tmp_path / "a.db", [text])
    with Annotator.open(path, "first", "ana") as ana:
        item = ana.next()
        assert item is not None
        assert item.context.text == text


def test_the_pace_leaves_out_what_was_no_work(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", answers(3))
    with Annotator.open(path, "first", "ana") as ana:
        for elapsed in (1000, 3000, 10**9):
            item = ana.next()
            assert item is not None
            ana.label(item.unit, "agree", elapsed_ms=elapsed)
        assert ana.progress().per_hour == pytest.approx(3_600_000 * 3 / (1000 + 3000 + 300_000))


def test_a_long_history_is_found_by_index_and_not_by_reading_all_of_it(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", answers(3))
    for sql in (
        stores.annotation.annotator._DONE,
        stores.annotation.annotator._LEFT,
        stores.annotation.annotator._OPEN,
        stores.annotation.annotator._MY_LABEL,
    ):
        with Annotator.open(path, "first", "ana") as ana:
            plan = [
                row[3]
                for row in ana.connection.execute(
                    f"explain query plan {sql}", ana._values() | {"unit": 1}
                )
            ]
        searches = [step for step in plan if "reading" in step]
        assert searches
        assert all("(unit_id=?" in step for step in searches), plan


PEOPLE = ("ana", "bob", "cem")
LABELS = ("agree", "disagree", "neutral")


class Labelling(RuleBasedStateMachine):
    """Three people label, undo, skip, release, relabel and import on one store, in any order."""

    units = Bundle("units")

    @initialize()
    def open(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "a.db"
        self.store = Store.open(path, create=True)
        self.store.instruments.add(instrument())
        wordings = [
            row[0]
            for row in self.store.connection.execute("select id from wording order by id limit 4")
        ]
        items = [NewItem(w, 1 + n % 2, "", text=f"answer {n}") for n, w in enumerate(wordings)]
        self.store.queues.create("q", Purpose.TEST, STANCE, items, {})
        self.store.queues.create("p", Purpose.TRAINING, STANCE, items[:2], {})
        self.units_ = [
            r[0]
            for r in self.store.connection.execute(
                "select unit_id from queue_item where queue_id = 1"
            )
        ]
        self.people = {name: Annotator.open(path, "q", name) for name in PEOPLE}
        self.current: defaultdict[int, dict[str, str]] = defaultdict(dict)
        self.rows = 0
        self.numbers = 0

    @rule(name=st.sampled_from(PEOPLE), label=st.sampled_from(LABELS))
    def take_and_label(self, name: str, label: str) -> None:
        before = {
            unit: (needed, done)
            for unit, needed, done in self.store.connection.execute(
                "select unit_id, needed, done from queue_item where queue_id = 1"
            )
        }
        others = self.store.connection.execute(
            "select a.unit_id, count(*) from assignment a join reader r on r.id = a.reader_id and "
            "r.name <> ? where a.queue_id = 1 and a.state = 'leased' group by 1",
            (name,),
        ).fetchall()
        item = self.people[name].next()
        if item is None:
            return
        needed, done = before[item.unit]
        assert done + dict(others).get(item.unit, 0) < needed, "no more people than are needed"
        assert name not in self.current[item.unit], "nothing twice"
        self.people[name].label(item.unit, label)
        self.current[item.unit][name] = label

    @rule(name=st.sampled_from(PEOPLE))
    def look(self, name: str) -> None:
        self.people[name].next()

    @rule(name=st.sampled_from(PEOPLE), place=st.integers(0, 3), label=st.sampled_from(LABELS))
    def label_any(self, name: str, place: int, label: str) -> None:
        self.people[name].label(self.units_[place], label)
        self.current[self.units_[place]][name] = label

    @rule(name=st.sampled_from(PEOPLE), place=st.integers(0, 3))
    def undo(self, name: str, place: int) -> None:
        self.people[name].undo(self.units_[place])
        self.current[self.units_[place]].pop(name, None)

    @rule(name=st.sampled_from(PEOPLE), place=st.integers(0, 3))
    def skip(self, name: str, place: int) -> None:
        self.people[name].skip(self.units_[place])

    @rule(name=st.sampled_from(PEOPLE), place=st.integers(0, 3))
    def release(self, name: str, place: int) -> None:
        self.people[name].release(self.units_[place])

    @rule(
        name=st.sampled_from(PEOPLE),
        place=st.integers(0, 3),
        label=st.sampled_from((*LABELS, None)),
    )
    def bring_in(self, name: str, place: int, label: str | None) -> None:
        self.numbers += 1
        context = self.people[name].item(self.units_[place]).context
        event = LabelEvent(
            content_key(["hypothesis", self.numbers]),
            EventKind.LABEL,
            "stance",
            name,
            context.text,
            context.statement,
            context.instrument,
            context.ref,
            context.variant,
            "en",
            label,
        )
        assert self.store.exchange.add([event], {"stance": STANCE}, source="x").added == 1
        assert self.store.exchange.add([event], {"stance": STANCE}, source="x").added == 0
        if label is None:
            self.current[self.units_[place]].pop(name, None)
        else:
            self.current[self.units_[place]][name] = label

    @invariant()
    def counts_are_right(self) -> None:
        for unit, done in self.store.connection.execute("select unit_id, done from queue_item"):
            assert done == len(self.current[unit])
        labels = {
            j.context.unit: {g.annotator: g.label for g in j.labels}
            for j in self.store.labels.judged("stance")
        }
        assert labels == {unit: found for unit, found in self.current.items() if found}
        for name, person in self.people.items():
            mine = {unit: found[name] for unit, found in self.current.items() if name in found}
            assert dict(person.newest_labels()) == mine
            assert person.progress().done == len(mine)

    @invariant()
    def history_only_grows(self) -> None:
        rows = self.store.connection.execute("select count(*) from reading").fetchone()[0]
        assert rows >= self.rows
        self.rows = rows

    def teardown(self) -> None:
        if hasattr(self, "people"):
            for person in self.people.values():
                person.close()
            self.store.close()
            self.folder.cleanup()


TestLabelling = Labelling.TestCase
TestLabelling.settings = settings(
    max_examples=20, stateful_step_count=25, suppress_health_check=list(HealthCheck)
)


def test_the_counter_does_not_tell_attention_items(tmp_path: Path) -> None:
    """Its total is the same before, on and after each, labelled, skipped, or undone."""
    path = labelling_store(
        tmp_path / "a.db",
        answers(45),
        attention=[("I agree, fully.", "agree"), ("No!", "disagree"), ("Hm.", "neutral")],
    )
    seen = []
    with Annotator.open(path, "first", "ana") as ana:
        while (item := ana.next()) is not None:
            seen.append(ana.progress().total)
            if len(seen) in (21, 30):  # the first attention item, and any other
                ana.label(item.unit, "agree")
                ana.undo(item.unit)
                seen.append(ana.progress().total)
            if item.context.text == "No!":
                ana.skip(item.unit)
            else:
                ana.label(item.unit, "agree")
            seen.append(ana.progress().total)
        progress = ana.progress()
    assert set(seen) == {47}
    assert (progress.done, progress.attention[1], progress.left) == (46, 1, 0)
