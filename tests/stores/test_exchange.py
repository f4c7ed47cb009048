"""Labels between stores: through files and directly, none lost, none twice, the newest counts in
all of them.
"""

from __future__ import annotations

import random
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import stores.annotation.annotator
import stores.annotation.labels
from stores.annotation.annotator import Annotator
from stores.annotation.exchange import Merged
from stores.annotation.labels import basis, item_labels
from stores.annotation.queues import NewItem, unescaped
from stores.core.store import Store
from tests.conftest import instrument
from tests.tui.annotation_stores import HOSTILE_ANSWERS, labelling_store
from workbench.data import shipped_codebook
from workbench.domain.annotations import DisagreementReason, EventKind, LabelEvent, Purpose
from workbench.domain.keys import content_key
from workbench.errors import InputError, UsageError
from workbench.evidence.readings import gold_labels
from workbench.formats.label_files import read_labels, write_labels

STANCE = shipped_codebook("stance")
BOOKS = {"stance": STANCE, "side": shipped_codebook("side")}
TEXTS = (
    *HOSTILE_ANSWERS,
    "=1+1",
    "+x",
    "-x",
    "@x",
    "\tx",
    "'tis",
    "''",
    "a\rb",
    "a\r\nb",
    'a"b,c',
    "\x0b\x1c\u2028",
    "half \ud83d pair",
    "nul \x00 byte",
    r"not a pair \ud83d",
    "\ufeff",
)
ATTENTION = (("I agree, fully.", "agree"),)


def stores_of(folder: Path, texts: tuple[str, ...] = TEXTS) -> tuple[Path, Path]:
    """Return a store with a queue and a clone of it."""
    first = labelling_store(folder / "a.db", texts, attention=ATTENTION, needed=3)
    return first, Path(shutil.copy(first, folder / "b.db"))


def label(path: Path, name: str, seed: int, count: int = 99) -> None:
    """Let a person label, change their mind, take back, flag and note."""
    rng = random.Random(seed)
    with Annotator.open(path, "first", name) as person:
        for _ in range(count):
            item = person.next()
            if item is None:
                return
            person.label(item.unit, rng.choice(STANCE.labels), elapsed_ms=rng.randrange(5000))
            if rng.random() < 0.3:
                person.remark(
                    item.unit, flagged=rng.random() < 0.5, note=rng.choice(["=hm", "a\nb", "'"])
                )
            if rng.random() < 0.2:
                person.undo(item.unit)
                person.label(item.unit, rng.choice(STANCE.labels))


def decide(path: Path, to: str, name: str = "nora", at: int = 0) -> None:
    with Store.open(path) as store:
        store.labels.decide(
            store.labels.judged("stance")[at].context.unit,
            STANCE,
            to,
            DisagreementReason.HEDGED,
            "=why",
            name,
        )


def state(path: Path) -> Any:
    """Return what a store says that people say, by content: rowids differ between stores."""
    with Store.open(path) as store:
        judged = [
            (
                item.context.text,
                item.context.statement,
                item.context.variant,
                item.labels,
                item.decision and replace(item.decision),
                item.gold,
                item.open,
            )
            for item in store.labels.judged("stance")
        ]
        queue = store.queues.get("first")
        events = [replace(event) for event in store.exchange.events()]
        return (
            sorted(judged, key=lambda row: row[:3]),
            (queue.needed, queue.done, queue.finished),
            store.labels.attention("first"),
            store.labels.totals(),
            events,
        )


def counts(path: Path) -> dict[str, int]:
    with Store.open(path) as store:
        tables = ("reading", "remark", "reader", "unit", "text", "codebook", "queue_item")
        return {
            table: store.connection.execute(f"select count(*) from {table}").fetchone()[0]
            for table in tables
        }


def write(path: Path, file: Path) -> Path:
    with Store.open(path) as store, file.open("w", encoding="utf-8", newline="") as opened:
        write_labels(store.exchange.events(), opened, file.suffix)
    return file


def bring(path: Path, file: Path, *, partial: bool = False) -> Merged:
    with Store.open(path) as store:
        return store.exchange.add(read_labels(file), BOOKS, source=file.name, partial=partial)


def merge(source: Path, into: Path) -> Merged:
    with Store.open(source) as other, Store.open(into) as store:
        return store.exchange.add(tuple(other.exchange.events()), BOOKS, source=source.name)


@pytest.mark.parametrize("kind", [".csv", ".jsonl"])
def test_a_file_carries_every_label_to_an_empty_clone(tmp_path: Path, kind: str) -> None:
    first, clone = stores_of(tmp_path)
    label(first, "ana", 1)
    label(first, "bob 小明 'x'", 2)
    decide(first, "neutral")
    file = write(first, tmp_path / f"labels{kind}")
    found = bring(clone, file)
    assert found.unmatched == found.known == found.outside == 0
    assert found.annotators == ("ana", "bob 小明 'x'", "nora")
    assert found.items >= len(TEXTS)
    assert state(clone) == state(first)
    before = counts(clone)
    again = bring(clone, file)
    assert (again.added, again.known) == (0, found.added)
    assert counts(clone) == before


def test_two_stores_that_were_labelled_apart_say_the_same_after_merging_both_ways(
    tmp_path: Path,
) -> None:
    first, second = stores_of(tmp_path)
    label(first, "ana", 1, 9)
    label(second, "bob", 2, 12)
    label(second, "ana", 3, 14)
    label(first, "cem", 4, 5)
    decide(first, "agree")
    decide(second, "disagree", "olaf", 2)
    said = {event.uid for path in (first, second) for event in _events(path)}
    merge(first, second)
    merge(second, first)
    assert state(first) == state(second)
    assert {event.uid for event in _events(first)} == said
    before = counts(first), counts(second)
    assert merge(first, second).added == merge(second, first).added == 0
    assert (counts(first), counts(second)) == before


def test_three_stores_come_to_the_same_in_whatever_order_they_are_merged(tmp_path: Path) -> None:
    first, second = stores_of(tmp_path)
    third = Path(shutil.copy(first, tmp_path / "c.db"))
    empty = Path(shutil.copy(first, tmp_path / "d.db"))
    other = Path(shutil.copy(first, tmp_path / "e.db"))
    for seed, path in enumerate((first, second, third)):
        label(path, "ana", seed, 8)
        label(path, f"person {seed}", seed + 10, 8)
    for path in (first, second, third):
        merge(path, empty)
    for path in (third, first, second, first):
        merge(path, other)
    assert state(empty) == state(other)


def _events(path: Path) -> tuple[LabelEvent, ...]:
    with Store.open(path) as store:
        return tuple(store.exchange.events())


def test_the_newest_of_one_persons_labels_counts_in_both_stores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = stores_of(tmp_path, ("a text", "another"))
    clock = datetime(2026, 1, 1, tzinfo=UTC)

    def at(hours: int) -> str:
        return (
            (clock + timedelta(hours=hours))
            .isoformat(timespec="milliseconds")
            .replace("+00:00", "Z")
        )

    for path, hour, said in ((first, 5, "agree"), (second, 3, "disagree"), (second, 4, "neutral")):
        monkeypatch.setattr(
            stores.annotation.annotator, "now_after", lambda last, hour=hour: at(hour)
        )
        with Annotator.open(path, "first", "ana") as ana:
            item = ana.next() if hour != 4 else None
            ana.label(item.unit if item else ana.newest_labels()[0][0], said)
    monkeypatch.undo()
    merge(first, second)
    merge(second, first)
    for path in (first, second):
        with Store.open(path) as store:
            (judged,) = store.labels.judged("stance")
            assert [given.label for given in judged.labels] == ["agree"]
            assert store.queues.get("first").done == 1
            rows = store.connection.execute(
                "select label from reading where uid is not null order by at"
            ).fetchall()
            assert [row[0] for row in rows] == ["disagree", "neutral", "agree"], (
                "all of them stay on record"
            )


def test_a_withdrawal_travels_too(tmp_path: Path) -> None:
    first, second = stores_of(tmp_path, ("a text",))
    label_one(first, "ana", "agree")
    merge(first, second)
    with Annotator.open(first, "first", "ana") as ana:
        ana.undo(ana.newest_labels()[0][0])
    merge(first, second)
    with Store.open(second) as store:
        assert store.labels.judged("stance") == ()
        assert store.queues.get("first").done == 0


def label_one(path: Path, name: str, said: str) -> int:
    with Annotator.open(path, "first", name) as person:
        item = person.next()
        assert item is not None
        person.label(item.unit, said)
        return item.unit


def test_an_older_decision_that_comes_again_does_not_replace_a_newer_one(tmp_path: Path) -> None:
    first, second = stores_of(tmp_path, ("a text",))
    label_one(first, "ana", "agree")
    label_one(first, "bob", "disagree")
    decide(first, "agree")
    old = write(first, tmp_path / "old.jsonl")
    bring(second, old)
    decide(second, "neutral", "olaf")
    bring(second, old)
    merge(first, second)
    with Store.open(second) as store:
        (judged,) = store.labels.judged("stance")
        assert (judged.gold, judged.open) == ("neutral", False)
        assert judged.decision is not None
        assert judged.decision.auditor == "olaf"
    merge(second, first)
    assert state(first) == state(second)


def test_a_label_that_comes_with_a_merge_opens_a_decision_again(tmp_path: Path) -> None:
    first, second = stores_of(tmp_path, ("a text",))
    label_one(first, "ana", "agree")
    label_one(first, "bob", "disagree")
    decide(first, "agree")
    label_one(second, "cem", "neutral")
    merge(second, first)
    with Store.open(first) as store:
        (judged,) = store.labels.judged("stance")
        assert judged.open
        assert judged.decision is not None
        assert not judged.decision.current
        assert basis(judged.labels) != basis(judged.labels[:2])


def event(path: Path, number: int = 0, **changes: Any) -> LabelEvent:
    """Return a label of an item of a store, as another store would send it."""
    with Annotator.open(path, "first", "somebody") as someone:
        unit = someone.connection.execute(
            "select unit_id from queue_item order by ordinal"
        ).fetchall()[number][0]
        context = someone.item(unit).context
    made = LabelEvent(
        content_key([number, sorted(changes)]),
        EventKind.LABEL,
        "stance",
        "eva",
        context.text,
        context.statement,
        context.instrument,
        context.ref,
        context.variant,
        "en",
        "agree",
        line=number + 2,
    )
    return replace(made, **changes)


@pytest.mark.parametrize(
    ("changes", "column", "found", "expected"),
    [
        ({"label": "yes"}, "label", "'yes'", "agree, disagree, neutral, unrelated"),
        (
            {"label": "AGREE"},
            "label",
            "'AGREE'",
            "'agree', as the codebook stance writes it: capitals",
        ),
        ({"label": ""}, "label", "''", "agree, disagree"),
        ({"codebook": "mood"}, "codebook", "'mood'", "stance, side"),
        ({"annotator": "a\u202eb"}, "annotator", "u202e", "a name"),
        ({"annotator": "x" * 65}, "annotator", "65 characters", "a name"),
        ({"response": "never said"}, "response", "never said", "--partial"),
        ({"statement": "never asked"}, "response", "answer 1", "--partial"),
    ],
)
@pytest.mark.parametrize("partial", [False, True])
def test_what_cannot_be_meant_is_named_and_nothing_is_written(
    tmp_path: Path, changes: dict[str, str], column: str, found: str, expected: str, partial: bool
) -> None:
    path, _ = stores_of(tmp_path, ("answer 0", "answer 1"))
    good, bad = event(path, 0), event(path, 1, **changes)
    foreign = column == "response"
    before = counts(path)
    with Store.open(path) as store:
        if foreign and partial:
            added = store.exchange.add([good, bad], BOOKS, source="f.csv", partial=True)
            assert (added.added, added.unmatched) == (1, 1)
            with pytest.raises(InputError):
                store.exchange.add([bad], BOOKS, source="f.csv", partial=True)
            return
        with pytest.raises(InputError) as caught:
            store.exchange.add([good, bad], BOOKS, source="f.csv", partial=partial)
    (finding,) = caught.value.findings
    assert (finding.file, finding.line, finding.column) == ("f.csv", 3, column)
    assert found in finding.found
    assert expected in finding.expected
    assert counts(path) == before


def test_a_file_for_another_store_is_refused_whole(tmp_path: Path) -> None:
    first, _ = stores_of(tmp_path)
    label(first, "ana", 1)
    with Store.open(tmp_path / "other.db", create=True) as other:
        other.instruments.add(instrument())
    file = write(first, tmp_path / "labels.csv")
    for partial in (False, True):
        with pytest.raises(InputError, match="another one") as caught:
            bring(tmp_path / "other.db", file, partial=partial)
        assert len(str(caught.value).splitlines()) < 20, "a long list is cut"
    assert counts(tmp_path / "other.db")["reading"] == 0


@pytest.mark.parametrize("kind", [".csv", ".jsonl"])
def test_a_file_made_by_hand_adds_its_labels_once(tmp_path: Path, kind: str) -> None:
    path, _ = stores_of(tmp_path, ("'tis so, I agree", "answer 1"))
    wanted = [event(path, n) for n in (0, 1, 0)]
    labels = ["agree", "disagree", "neutral"]
    file = tmp_path / f"hand{kind}"
    if kind == ".csv":
        rows = [
            f'eva,"{e.response}","{e.statement}",{said}'
            for e, said in zip(wanted, labels, strict=True)
        ]
        file.write_text("annotator,response,statement,label\n" + "\n".join(rows) + "\n")
    else:
        import json

        file.write_text(
            "".join(
                json.dumps(
                    {
                        "annotator": "eva",
                        "response": e.response,
                        "statement": e.statement,
                        "label": said,
                    }
                )
                + "\n"
                for e, said in zip(wanted, labels, strict=True)
            )
        )
    assert (bring(path, file).added, bring(path, file).added) == (3, 0)
    with Store.open(path) as store:
        said = {item.context.text: item.labels[0].label for item in store.labels.judged("stance")}
        assert said == {"'tis so, I agree": "neutral", "answer 1": "disagree"}, (
            "of two lines the later one counts"
        )
        assert store.queues.get("first").done == 2


def test_a_label_without_a_time_counts_from_its_import(tmp_path: Path) -> None:
    path, _ = stores_of(tmp_path, ("answer 0",))
    label_one(path, "eva", "disagree")
    with Store.open(path) as store:
        store.exchange.add([event(path)], BOOKS, source="x")
        (judged,) = store.labels.judged("stance")
        assert [given.label for given in judged.labels] == ["agree"]
    with Annotator.open(path, "first", "eva") as eva:
        assert eva.next() is None
        assert eva.progress().done == 1


@pytest.mark.parametrize("way", [".csv", ".jsonl", "merge"])
def test_a_label_without_a_time_leaves_the_program_without_one(tmp_path: Path, way: str) -> None:
    path, clone = stores_of(tmp_path, ("answer 0",))
    later = (
        (datetime.now(UTC) + timedelta(hours=1))
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z")
    )
    remark = event(path, kind=EventKind.REMARK, label=None, note="hm")
    with Store.open(path) as store:
        store.exchange.add(
            [event(path), remark, event(path, label="disagree", at=later)], BOOKS, source="x"
        )
    if way == "merge":
        merge(path, clone)
    else:
        file = write(path, tmp_path / f"a{way}")
        assert sorted(one.at for one in read_labels(file)) == ["", "", later]
        assert (bring(path, file).added, bring(clone, file).added) == (0, 3)
    assert _events(clone) == _events(path)
    for one in (path, clone):
        with Store.open(one) as store:
            (judged,) = store.labels.judged("stance")
            assert [(given.label, given.at) for given in judged.labels] == [("disagree", later)], (
                "order is kept"
            )
            assert [(row["label"], row["given_at"]) for row in store.data_rows.labels()] == [
                ("agree", None),
                ("disagree", later),
            ]
            assert {one.imported_at != "" for one in store.exchange.events() if not one.at} == {
                True
            }


def test_labels_without_a_time_belong_to_no_day_of_agreement(tmp_path: Path) -> None:
    path, _ = stores_of(tmp_path, ("answer 0",))
    with Store.open(path) as store:
        store.exchange.add(
            [event(path), event(path, annotator="ida", label="neutral")], BOOKS, source="x"
        )
        (item,) = item_labels(store.labels.judged("stance"))
    assert not {"day", "hour"} & {kind for kind, _ in item.groups}


def test_labels_of_items_that_no_queue_holds_are_kept_and_counted(tmp_path: Path) -> None:
    path, _ = stores_of(tmp_path, ("answer 0", "answer 1"))
    with Store.open(path) as store:
        other = store.instruments.get("small").statements[7].wordings[3].text
        found = store.exchange.add(
            [event(path), event(path, 1, statement=other)], BOOKS, source="x"
        )
        assert (found.added, found.items, found.outside) == (2, 2, 1)
        assert len(store.labels.judged("stance")) == 1


def test_a_statement_that_stands_in_two_instruments_is_found_by_its_name(tmp_path: Path) -> None:
    path, _ = stores_of(tmp_path, ("answer 0",))
    with Store.open(path) as store:
        base = store.instruments.get("small")
        store.instruments.add(replace(base, name="twin"))
        for name in ("small", "twin"):
            store.exchange.add(
                [event(path, instrument=name, uid=name.encode().ljust(16))], BOOKS, source="x"
            )
        rows = store.connection.execute(
            "select i.name from reading r join unit u on u.id = r.unit_id join wording w on w.id = "
            "u.wording_id join statement s on s.id = w.statement_id join instrument i on i.id = "
            "s.instrument_id order by 1"
        ).fetchall()
        assert rows == [("small",), ("twin",)]


def test_what_a_csv_file_names_is_found_again(tmp_path: Path) -> None:
    assert unescaped(r"half \ud83d and \x00") == "half \ud83d and \x00"
    assert unescaped(r"C:\new\x01 \u0041") == r"C:\new\x01 \u0041"


def test_only_one_queues_events_are_given_where_one_is_named(tmp_path: Path) -> None:
    path, _ = stores_of(tmp_path, ("answer 0",))
    label_one(path, "ana", "agree")
    labelling_store(path, ["other"], queue="second")
    with Annotator.open(path, "second", "ana") as ana:
        item = ana.next()
        assert item is not None
        ana.label(item.unit, "neutral")
    with Store.open(path) as store:
        assert [e.label for e in store.exchange.events("second")] == ["neutral"]
        assert len(tuple(store.exchange.events())) == 2
        assert tuple(store.exchange.events(codebook="side")) == ()


def test_labels_that_no_queue_holds_can_be_put_into_a_new_one_and_then_train(
    tmp_path: Path,
) -> None:
    path, _ = stores_of(tmp_path, ("answer 0", "answer 1"))
    with Store.open(path) as store:
        other = store.instruments.get("small").statements[7].wordings[3].text
        events = [event(path), event(path, 1, statement=other)]
        store.exchange.add(events, BOOKS, source="x")
        found = store.exchange.add(
            events, BOOKS, source="x", into=("from-a-file", Purpose.TRAINING)
        )
        assert (found.added, found.known, found.adopted, found.outside) == (0, 2, 1, 0)
        queue = store.queues.get("from-a-file")
        assert (queue.purpose, queue.items, queue.needed, queue.done) == (Purpose.TRAINING, 1, 1, 1)
        examples, _ = gold_labels(store, "stance", ["from-a-file"], Purpose.TRAINING)
        assert [(example.text, example.statement) for example in examples] == [("answer 1", other)]
        again = store.exchange.add(
            events, BOOKS, source="x", into=("from-a-file-2", Purpose.TRAINING)
        )
        assert again.adopted == 0
        assert [queue.name for queue in store.queues.list()] == ["first", "from-a-file"]


def test_a_name_that_a_queue_has_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    path, _ = stores_of(tmp_path, ("answer 0", "answer 1"))
    with Store.open(path) as store:
        said = event(
            path, 1, statement=store.instruments.get("small").statements[7].wordings[3].text
        )
        before = counts(path)
        with pytest.raises(UsageError, match="a queue is named 'first' already"):
            store.exchange.add([said], BOOKS, source="x", into=("first", Purpose.TRAINING))
    assert counts(path) == before


def test_a_merge_brings_the_queues_that_are_not_here_once_and_with_their_labels(
    tmp_path: Path,
) -> None:
    first, clone = stores_of(tmp_path, ("answer 0", "answer 1", "answer 2"))
    with Store.open(clone) as store:
        units = store.connection.execute(
            "select u.text_id, u.wording_id from unit u join queue_item i on i.unit_id = u.id "
            "where i.attention is null"
        ).fetchall()
        items = [NewItem(wording, 2, "own", text_id=text) for text, wording in units]
        store.queues.create("second", Purpose.TEST, STANCE, items, {"seed": 3})
    with Store.open(first) as store:
        store.queues.create("second", Purpose.TRAINING, STANCE, items[:1], {})
    with Annotator.open(clone, "second", "zoe") as zoe:
        while (item := zoe.next()) is not None:
            zoe.label(item.unit, "neutral")

    def bring_all() -> Merged:
        with Store.open(clone) as other, Store.open(first) as store:
            events, queues = tuple(other.exchange.events()), other.exchange.queues()
            return store.exchange.add(events, BOOKS, source="b", queues=queues)

    found = bring_all()
    assert (found.queues, found.outside) == (("second-2",), 0), (
        "`first` is here, and another `second` is not it"
    )
    with Store.open(first) as store:
        queue = store.queues.get("second-2")
        assert (queue.purpose, queue.items, queue.done, dict(queue.spec)) == (
            Purpose.TEST,
            3,
            3,
            {"seed": 3},
        )
        assert store.queues.get("second").items == 1
    assert bring_all().queues == ()
