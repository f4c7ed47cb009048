"""The order in which an adjudicator goes through disputed items, without store and terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from stores.annotation.annotation_items import Context
from stores.annotation.labels import AdjudicatorDecision, GivenLabel, JudgedItem
from workbench.data import shipped_codebook
from workbench.domain.annotations import DisagreementReason
from workbench.sessions.adjudication import (
    AdjudicationQueue,
    DisputedItem,
    DisputedItems,
    UndoneDecision,
    as_case,
)

CODEBOOK = shipped_codebook("stance")


def item(unit: int, *labels: str) -> DisputedItem:
    given_labels = tuple(
        GivenLabel(annotator, label, "", None, False, "")
        for annotator, label in zip(("ana", "bob"), labels or ("agree", "neutral"), strict=True)
    )
    context = Context(unit, f"answer {unit}", "statement", "small", "a-1", "original", None, None)
    return as_case(JudgedItem(context, given_labels, None, "s"))


def decided(case: DisputedItem, label: str = "agree") -> DisputedItem:
    decision = AdjudicatorDecision(
        "nora", label, DisagreementReason.SLIP.value, "see p3", "", current=True
    )
    return as_case(replace(case.judged, decision=decision))


def items(n_open: int, n_decided: int = 0) -> DisputedItems:
    disputed = DisputedItems()
    decided_items = tuple(decided(item(100 + index)) for index in range(n_decided))
    open_items = tuple(item(index) for index in range(n_open))
    disputed.take(AdjudicationQueue(CODEBOOK, open_items, decided_items, 0))
    return disputed


def unit_of(disputed: DisputedItems) -> int | None:
    return None if disputed.current is None else disputed.current.unit


def test_going_back_shows_the_decision_and_skipping_returns_to_the_open_items() -> None:
    disputed = items(2, 2)
    disputed.draft(DisagreementReason.HEDGED, "hm")
    assert disputed.go_back()
    assert (unit_of(disputed), disputed.reason, disputed.note) == (
        101,
        DisagreementReason.SLIP,
        "see p3",
    )
    assert disputed.go_back()
    assert unit_of(disputed) == 100
    assert not disputed.go_back()
    assert disputed.skip()
    assert (unit_of(disputed), disputed.reason, disputed.note) == (
        0,
        DisagreementReason.HEDGED,
        "hm",
    )


def test_the_last_open_item_cannot_be_skipped() -> None:
    disputed = items(1)
    assert not disputed.skip()
    assert unit_of(disputed) == 0


def test_reason_and_note_return_with_an_item_that_is_open_again() -> None:
    disputed = items(2)
    first = disputed.current
    assert first is not None
    disputed.go_on(decided(first))
    disputed.return_to(first, UndoneDecision(0, "agree", DisagreementReason.CONTEXT, "why"))
    assert (unit_of(disputed), disputed.reason, disputed.note) == (
        0,
        DisagreementReason.CONTEXT,
        "why",
    )


def test_reason_and_note_of_an_item_that_is_not_disputed_any_more_are_not_those_of_the_next() -> (
    None
):
    disputed = items(2)
    first = disputed.current
    assert first is not None
    disputed.go_on(decided(first))
    disputed.return_to(
        item(0, "agree", "agree"), UndoneDecision(0, "agree", DisagreementReason.CONTEXT, "why")
    )
    assert (unit_of(disputed), disputed.reason, disputed.note) == (1, DisagreementReason.OTHER, "")


def test_an_item_that_was_decided_elsewhere_is_shown_with_that_decision() -> None:
    disputed = items(2)
    first = disputed.current
    assert first is not None
    disputed.replace(first, decided(first, "neutral"))
    assert unit_of(disputed) == 0
    assert disputed.n_back == 1
    disputed.replace(decided(first), None)
    assert unit_of(disputed) == 1


@given(st.lists(st.sampled_from(["decide", "skip", "back", "draft"]), max_size=30))
def test_no_key_loses_an_item(keys: Sequence[str]) -> None:
    disputed = items(3, 2)
    for key in keys:
        current = disputed.current
        if key == "decide" and current is not None:
            disputed.go_on(decided(current))
        elif key == "skip" and current is not None:
            disputed.skip()
        elif key == "back":
            disputed.go_back()
        elif key == "draft" and current is not None:
            disputed.draft(DisagreementReason.HEDGED, "hm")
        units = [case.unit for case in (*disputed.open, *disputed.decided)]
        assert sorted(units) == [0, 1, 2, 100, 101]
        assert (disputed.current is None) == (not disputed.open and not disputed.n_back)
