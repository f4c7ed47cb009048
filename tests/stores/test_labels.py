"""People's labels: what counts as disagreement, what a decision settles and what opens it again,
what is gold.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import stores.core.base
from stores.annotation.annotator import Annotator
from stores.annotation.labels import JudgedItem, anonymous, basis, item_labels
from stores.annotation.queues import NewItem
from stores.core.store import Store
from tests.conftest import instrument
from workbench.domain.annotations import (
    Codebook,
    DisagreementReason,
    LabelOption,
    LabelSubject,
    Purpose,
)
from workbench.errors import UnknownName, UsageError

STANCE = Codebook(
    "stance",
    "Stance",
    "Which stance?",
    LabelSubject.RESPONSE,
    (
        LabelOption("agree", "a", "for"),
        LabelOption("disagree", "d", "against"),
        LabelOption("neutral", "n", "neither"),
    ),
    "Read it.",
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with a queue `q` of three answers, four people each, and one attention item."""
    path = tmp_path / "audit.db"
    with Store.open(path, create=True) as store:
        store.instruments.add(instrument())
        items = [NewItem(_wording(store), 4, "model-a", text=f"answer {n}") for n in range(3)]
        items.append(NewItem(_wording(store), 0, "", text="I agree.", attention="agree"))
        store.queues.create("q", Purpose.TEST, STANCE, items, {})
    return path


def _wording(store: Store) -> int:
    return int(store.connection.execute("select min(id) from wording").fetchone()[0])


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store.open(path) as opened:
        yield opened


@pytest.fixture
def units(store: Store) -> list[int]:
    """The items in the order of the queue; the last one is the attention item."""
    return [
        row[0]
        for row in store.connection.execute("select unit_id from queue_item order by ordinal")
    ]


def says(path: Path, unit: int, labels: Mapping[str, str | None], queue: str = "q") -> None:
    """Let people label an item; None withdraws."""
    for person, label in labels.items():
        with Annotator.open(path, queue, person) as annotator:
            if label is None:
                annotator.undo(unit)
            else:
                annotator.label(unit, label)


def of(store: Store, unit: int) -> JudgedItem:
    (found,) = store.labels.judged("stance", unit=unit)
    return found


def decide(
    store: Store,
    unit: int,
    label: str,
    auditor: str = "nora",
    reason: DisagreementReason = DisagreementReason.AMBIGUOUS,
) -> None:
    store.labels.decide(unit, STANCE, label, reason, "", auditor)


def on_record(store: Store, unit: int) -> list[tuple[Any, ...]]:
    """Return the decisions on an item, the first first."""
    return [
        tuple(row)
        for row in store.connection.execute(
            "select h.name, r.revision, r.label, r.reason, r.note from reading r join reader h on "
            "h.id = r.reader_id where h.kind = 'adjudication' and r.unit_id = ? order by r.at",
            (unit,),
        )
    ]


def test_a_disagreement_is_open_until_it_is_decided_and_has_no_gold(
    path: Path, store: Store, units: list[int]
) -> None:
    says(path, units[0], {"ana": "agree", "bob": "disagree"})
    found = of(store, units[0])
    assert found.disagrees
    assert found.open
    assert found.gold is None
    decide(store, units[0], "disagree")
    found = of(store, units[0])
    assert found.disagrees
    assert not found.open
    assert found.gold == "disagree"
    assert found.decision is not None
    assert (found.decision.auditor, found.decision.reason, found.decision.current) == (
        "nora",
        "ambiguous",
        True,
    )


def test_one_label_and_equal_labels_are_gold_and_not_open(
    path: Path, store: Store, units: list[int]
) -> None:
    says(path, units[0], {"ana": "neutral"})
    says(path, units[1], {"ana": "agree", "bob": "agree", "cem": "agree"})
    assert [(of(store, unit).gold, of(store, unit).open) for unit in units[:2]] == [
        ("neutral", False),
        ("agree", False),
    ]


def test_a_decision_wins_over_labels_that_all_agree(
    path: Path, store: Store, units: list[int]
) -> None:
    says(path, units[0], {"ana": "agree", "bob": "agree"})
    decide(store, units[0], "neutral")
    assert of(store, units[0]).gold == "neutral"
    assert not of(store, units[0]).open


def test_a_label_that_comes_after_a_decision_opens_it_again(
    path: Path, store: Store, units: list[int]
) -> None:
    says(path, units[0], {"ana": "agree", "bob": "disagree"})
    decide(store, units[0], "agree")
    says(path, units[0], {"cem": "neutral"})
    found = of(store, units[0])
    assert found.open
    assert found.gold is None
    assert found.decision is not None
    assert (found.decision.label, found.decision.current) == ("agree", False)
    decide(store, units[0], "neutral")
    assert of(store, units[0]).gold == "neutral"
    assert not of(store, units[0]).open


def test_a_changed_label_opens_a_decision_again(path: Path, store: Store, units: list[int]) -> None:
    says(path, units[0], {"ana": "agree", "bob": "disagree"})
    decide(store, units[0], "agree")
    says(path, units[0], {"bob": "neutral"})
    assert of(store, units[0]).open


def test_the_same_label_again_does_not_open_a_decision(
    path: Path, store: Store, units: list[int]
) -> None:
    says(path, units[0], {"ana": "agree", "bob": "disagree"})
    decide(store, units[0], "agree")
    says(path, units[0], {"ana": "agree"})
    says(path, units[0], {"bob": "neutral"})
    says(path, units[0], {"bob": "disagree"})
    found = of(store, units[0])
    assert not found.open
    assert found.decision is not None
    assert found.decision.current


def test_a_decision_stands_where_everybody_comes_to_agree_with_it(
    path: Path, store: Store, units: list[int]
) -> None:
    says(path, units[0], {"ana": "agree", "bob": "disagree"})
    decide(store, units[0], "agree")
    says(path, units[0], {"bob": "agree"})
    assert not of(store, units[0]).open
    assert of(store, units[0]).gold == "agree"


def test_a_decision_is_open_again_where_everybody_comes_to_agree_on_another_label(
    path: Path, store: Store, units: list[int]
) -> None:
    says(path, units[0], {"ana": "agree", "bob": "disagree"})
    decide(store, units[0], "agree")
    says(path, units[0], {"ana": "disagree"})
    assert of(store, units[0]).open
    assert of(store, units[0]).gold is None


def test_a_withdrawn_label_settles_a_disagreement_and_reopens_what_was_decided_against_the_rest(
    path: Path, store: Store, units: list[int]
) -> None:
    for unit in units[:2]:
        says(path, unit, {"ana": "agree", "bob": "disagree"})
    decide(store, units[1], "agree")
    for unit in units[:2]:
        says(path, unit, {"ana": None})
    undecided, decided = of(store, units[0]), of(store, units[1])
    assert [given.annotator for given in undecided.labels] == ["bob"]
    assert (undecided.open, undecided.gold) == (False, "disagree")
    assert (decided.open, decided.gold) == (True, None)


def test_an_item_from_which_every_label_was_withdrawn_is_in_no_list(
    path: Path, store: Store, units: list[int]
) -> None:
    says(path, units[0], {"ana": "agree"})
    says(path, units[0], {"ana": None})
    assert store.labels.judged("stance", unit=units[0]) == ()
    with pytest.raises(UsageError, match="no labels to decide between"):
        decide(store, units[0], "agree")
    assert on_record(store, units[0]) == []


def test_every_decision_stays_on_record(path: Path, store: Store, units: list[int]) -> None:
    says(path, units[0], {"ana": "agree", "bob": "disagree"})
    store.labels.decide(units[0], STANCE, "agree", DisagreementReason.SLIP, "first", "nora")
    store.labels.decide(units[0], STANCE, "neutral", DisagreementReason.HEDGED, "second", "nora")
    store.labels.decide(units[0], STANCE, "disagree", DisagreementReason.OTHER, "", "olaf")
    assert on_record(store, units[0]) == [
        ("nora", 1, "agree", "slip", "first"),
        ("nora", 2, "neutral", "hedged", "second"),
        ("olaf", 1, "disagree", "other", ""),
    ]
    assert of(store, units[0]).gold == "disagree"


def test_nothing_on_record_can_be_changed_or_deleted_by_an_annotator(
    path: Path, store: Store, units: list[int]
) -> None:
    says(path, units[0], {"ana": "agree", "bob": "disagree"})
    decide(store, units[0], "agree")
    before = store.connection.execute("select * from reading").fetchall()
    with Annotator.open(path, "q", "ana") as annotator:
        for sql in ("update reading set label = 'neutral'", "delete from reading"):
            with pytest.raises(sqlite3.DatabaseError):
                annotator.connection.execute(sql)
    assert store.connection.execute("select * from reading").fetchall() == before


def test_a_label_outside_the_codebook_is_refused_and_nothing_is_written(
    path: Path, store: Store, units: list[int]
) -> None:
    says(path, units[0], {"ana": "agree", "bob": "disagree"})
    with pytest.raises(UnknownName, match="agree, disagree, neutral"):
        decide(store, units[0], "Agree")
    assert on_record(store, units[0]) == []
    with Annotator.open(path, "q", "ana") as annotator, pytest.raises(UnknownName):
        annotator.label(units[0], "maybe")
    assert [given.label for given in of(store, units[0]).labels] == ["agree", "disagree"]


def test_a_decision_needs_a_name_that_can_be_one(
    path: Path, store: Store, units: list[int]
) -> None:
    says(path, units[0], {"ana": "agree", "bob": "disagree"})
    with pytest.raises(UsageError, match="empty"):
        decide(store, units[0], "agree", auditor="  ")
    assert on_record(store, units[0]) == []


def test_an_annotator_who_decides_does_not_thereby_label(
    path: Path, store: Store, units: list[int]
) -> None:
    says(path, units[0], {"ana": "agree", "bob": "disagree"})
    decide(store, units[0], "neutral", auditor="ana")
    assert {given.annotator: given.label for given in of(store, units[0]).labels} == {
        "ana": "agree",
        "bob": "disagree",
    }


def test_two_people_on_one_item_keep_their_own_labels_notes_and_flags(
    path: Path, store: Store, units: list[int]
) -> None:
    with Annotator.open(path, "q", "ana") as ana, Annotator.open(path, "q", "bob") as bob:
        ana.remark(units[0], flagged=True, note="hm")
        ana.label(units[0], "agree", elapsed_ms=700)
        bob.label(units[0], "agree", elapsed_ms=300)
        bob.label(units[0], "disagree", elapsed_ms=400)
        ana.remark(units[0], flagged=False, note="clear")
    found = [
        (g.annotator, g.label, g.elapsed_ms, g.flagged, g.note) for g in of(store, units[0]).labels
    ]
    assert found == [("ana", "agree", 700, False, "clear"), ("bob", "disagree", 400, False, "")]


def test_only_disputed_items_are_those_that_disagree_or_were_decided(
    path: Path, store: Store, units: list[int]
) -> None:
    says(path, units[0], {"ana": "agree", "bob": "agree"})
    says(path, units[1], {"ana": "agree", "bob": "disagree"})
    says(path, units[2], {"ana": "agree"})
    decide(store, units[2], "neutral")
    disputed = store.labels.judged("stance", queue="q", only_disputed=True)
    assert [item.context.unit for item in disputed] == [units[1], units[2]]
    assert [item.context.unit for item in store.labels.judged("stance", queue="q")] == units[:3]


def test_a_clock_that_goes_back_keeps_the_order_of_labels_and_decisions(
    path: Path, store: Store, units: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    hours = count(23, -1)

    def backwards() -> str:
        return f"2026-11-21T{next(hours):02}:00:00.000Z"

    monkeypatch.setattr(stores.core.base, "now", backwards)
    says(path, units[0], {"ana": "agree", "bob": "disagree"})
    says(path, units[0], {"bob": "neutral"})
    decide(store, units[0], "agree", "nora")
    decide(store, units[0], "disagree", "olaf")
    decide(store, units[0], "neutral", "nora")
    found = of(store, units[0])
    assert {given.annotator: given.label for given in found.labels} == {
        "ana": "agree",
        "bob": "neutral",
    }
    assert found.gold == "neutral"
    assert [row[2] for row in on_record(store, units[0])] == ["agree", "disagree", "neutral"]


def test_attention_items_are_in_no_figure_but_in_their_own_score(
    path: Path, store: Store, units: list[int]
) -> None:
    attention = units[3]
    says(path, attention, {"ana": "agree", "bob": "disagree"})
    assert store.labels.judged("stance") == ()
    assert store.labels.totals() == (0, 0, 0)
    assert store.labels.attention("q") == (("ana", 1, 1), ("bob", 0, 1))
    says(path, attention, {"bob": "agree"})
    assert store.labels.attention("q") == (("ana", 1, 1), ("bob", 1, 1))


def test_totals_count_items_once_and_only_open_disagreements(
    path: Path, store: Store, units: list[int]
) -> None:
    says(path, units[0], {"ana": "agree"})
    says(path, units[1], {"ana": "agree", "bob": "disagree"})
    says(path, units[2], {"ana": "agree", "bob": "disagree", "cem": "agree"})
    assert store.labels.totals() == (1, 2, 2)
    decide(store, units[1], "agree")
    assert store.labels.totals() == (1, 2, 1)


def test_a_newer_version_of_a_codebook_counts_each_person_once(
    path: Path, store: Store, units: list[int]
) -> None:
    says(path, units[0], {"ana": "agree", "bob": "disagree"})
    newer = replace(STANCE, guideline="Read it twice.")
    text, wording = store.connection.execute(
        "select text_id, wording_id from unit where id = ?", units[:1]
    ).fetchone()
    store.queues.create(
        "second", Purpose.TRAINING, newer, [NewItem(wording, 4, "", text_id=text)], {}
    )
    says(path, units[0], {"ana": "neutral"}, queue="second")
    (found,) = store.labels.judged("stance", unit=units[0])
    assert {given.annotator: given.label for given in found.labels} == {
        "ana": "neutral",
        "bob": "disagree",
    }
    for queue in ("q", "second"):
        (found,) = store.labels.judged("stance", queue=queue)
        assert len(found.labels) == 2
    decide(store, units[0], "neutral")
    assert of(store, units[0]).gold == "neutral"
    says(path, units[0], {"bob": "agree"}, queue="q")
    assert of(store, units[0]).open


def test_another_codebook_on_the_same_text_is_another_matter(
    path: Path, store: Store, units: list[int]
) -> None:
    says(path, units[0], {"ana": "agree", "bob": "disagree"})
    other = replace(STANCE, name="side")
    text, wording = store.connection.execute(
        "select text_id, wording_id from unit where id = ?", units[:1]
    ).fetchone()
    store.queues.create("sides", Purpose.CHECK, other, [NewItem(wording, 2, "", text_id=text)], {})
    says(path, units[0], {"ana": "neutral"}, queue="sides")
    store.labels.decide(units[0], other, "neutral", DisagreementReason.OTHER, "", "nora")
    assert of(store, units[0]).open
    (side,) = store.labels.judged("side")
    assert (side.gold, len(side.labels)) == ("neutral", 1)


def test_letters_hide_who_is_who_and_stay_while_an_item_is_looked_at(
    path: Path, store: Store, units: list[int]
) -> None:
    for unit in units[:3]:
        says(path, unit, {"ana": "agree", "bob": "disagree", "cem": "neutral", "dora": "agree"})
    found = [anonymous(of(store, unit)) for unit in units[:3]]
    assert [letter for letter, _ in found[0]] == ["A", "B", "C", "D"]
    assert found == [anonymous(of(store, unit)) for unit in units[:3]]
    orders = {tuple(given.annotator for _, given in one) for one in found}
    assert len(orders) > 1


def test_a_basis_is_about_who_said_what_and_not_about_when_or_in_which_order(
    path: Path, store: Store, units: list[int]
) -> None:
    says(path, units[0], {"ana": "agree", "bob": "disagree"})
    ana, bob = of(store, units[0]).labels
    assert basis([ana, bob]) == basis(
        [bob, replace(ana, at="2000", note="x", flagged=True, elapsed_ms=1)]
    )
    assert basis([ana, bob]) != basis([replace(ana, label="disagree"), replace(bob, label="agree")])
    assert basis([ana]) != basis([ana, bob])


def test_items_go_to_the_coefficients_with_labels_and_groups(
    path: Path, store: Store, units: list[int]
) -> None:
    says(path, units[0], {"ana": "agree", "bob": "disagree"})
    says(path, units[3], {"ana": "agree"})
    (item,) = item_labels(store.labels.judged("stance"))
    assert item.item == units[0]
    assert item.labels == {"ana": "agree", "bob": "disagree"}
    assert ("statement", "a-1") in item.groups
    assert ("stratum", "model-a") in item.groups


def test_a_purpose_narrows_what_is_returned(path: Path, store: Store, units: list[int]) -> None:
    says(path, units[0], {"ana": "agree"})
    assert len(store.labels.judged("stance", purpose=Purpose.TEST)) == 1
    assert store.labels.judged("stance", purpose=Purpose.TRAINING) == ()
    assert store.labels.judged("no such codebook") == ()
