"""Reviewing drafts without a terminal: which draft is visible, and what undo brings back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stores.core.store import Store
from stores.instruments.drafts import NewDraft
from tests.conftest import instrument
from tests.tui.conftest import made
from workbench.domain.statements import VariantKind
from workbench.errors import ConflictError
from workbench.sessions.drafts import DraftReview, read_stack

KINDS = (VariantKind.PARAPHRASE, VariantKind.NEGATION)


def drafted(path: Path) -> Path:
    """Make a store with two drafts for each of two statements."""
    made(path, instrument())
    with Store.open(path) as store:
        drafts = [
            NewDraft(
                ref,
                kind,
                "en",
                f"Statement {ref} should become law.",
                f"Statement {ref} {words} law soon.",
                "m-1",
                "p#1@",
            )
            for ref in ("a-1", "a-2")
            for kind, words in zip(KINDS, ("ought to be", "must not be"), strict=True)
        ]
        store.drafts.add("small", drafts)
    return path


def reviewed(store: Store) -> DraftReview:
    review = DraftReview("small")
    assert review.take(read_stack(store, "small")) == ""
    return review


def read_again(review: DraftReview, store: Store) -> str:
    return review.take(read_stack(store, "small"))


def visible_draft(review: DraftReview) -> tuple[str, VariantKind] | None:
    case = review.current
    return None if case is None else (case.draft.ref, case.draft.kind)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return drafted(tmp_path / "a.db")


def test_stepping_starts_over_at_both_ends_and_drops_the_note(path: Path) -> None:
    with Store.open(path) as store:
        review = reviewed(store)
        first = visible_draft(review)
        review.note = "vague"
        review.step(-1)
        assert review.index == 3
        assert review.note == ""
        review.step(1)
        assert visible_draft(review) == first


def test_filters_keep_the_visible_draft_where_it_passes(path: Path) -> None:
    with Store.open(path) as store:
        review = reviewed(store)
        review.step(2)
        assert visible_draft(review) == ("a-2", VariantKind.PARAPHRASE)
        review.show_statement_or_all()
        assert [draft.ref for draft in review.pending] == ["a-2", "a-2"]
        assert visible_draft(review) == ("a-2", VariantKind.PARAPHRASE)
        review.show_statement_or_all()
        kinds = []
        for _ in range(3):
            review.show_next_kind()
            kinds.append(review.kind)
        assert kinds == [*KINDS, None]
        assert len(review.pending) == 4


def test_drafts_that_arrive_do_not_move_the_visible_one(path: Path) -> None:
    with Store.open(path) as store:
        review = reviewed(store)
        review.step(2)
        before = visible_draft(review)
        basis = "Statement a-1 should become law."
        new_draft = NewDraft("a-1", KINDS[0], "en", basis, "Make a-1 law.", "m-1", "p#1@")
        store.drafts.add("small", [new_draft])
        assert read_again(review, store) == ""
        assert len(review.pending) == 5
        assert visible_draft(review) == before


def test_a_decision_of_somebody_else_is_told_and_ones_own_is_not(path: Path) -> None:
    with Store.open(path) as store:
        review = reviewed(store)
        assert review.current is not None
        store.drafts.reject(review.current.draft.id, person="Olaf")
        assert read_again(review, store) == "a-1: Olaf has rejected this draft in the meantime."
        review.go_on(review.reject(store, review.current, "Nora"))
        assert read_again(review, store) == ""


def test_a_decision_that_somebody_replaced_does_not_block_the_undo_of_earlier_ones(
    path: Path,
) -> None:
    with Store.open(path) as store:
        review = reviewed(store)
        decided = []
        for _ in range(2):
            case = review.current
            assert case is not None
            decided.append(case.draft.id)
            review.go_on(review.reject(store, case, "Nora"))
            read_again(review, store)
        store.drafts.reopen(decided[1], person="Nora")
        with pytest.raises(ConflictError, match="nothing to undo"):
            review.undo(store, "Nora")
        assert review.undo(store, "Nora") == (decided[0],)
        assert not review.can_undo


@settings(max_examples=10, deadline=None)
@given(st.lists(st.sampled_from(["accept", "reject", "skip", "all", "undo"]), max_size=8))
def test_undoing_every_decision_leaves_the_instrument_as_it_was(keys: Sequence[str]) -> None:
    with TemporaryDirectory() as folder, Store.open(drafted(Path(folder) / "a.db")) as store:
        before = store.instruments.get("small")
        review = reviewed(store)
        first = visible_draft(review)
        for key in keys:
            case = review.current
            if key == "undo" and review.can_undo:
                review.return_to(review.undo(store, "Nora"))
            elif key == "skip" and case is not None:
                review.step(1)
            elif key == "all" and review.unremarkable:
                review.go_on(review.accept_all(store, review.unremarkable, "Nora"))
            elif key == "accept" and case is not None:
                review.go_on(review.accept(store, case, "Nora", None))
            elif key == "reject" and case is not None:
                review.go_on(review.reject(store, case, "Nora"))
            read_again(review, store)
        was_decided = review.can_undo
        while review.can_undo:
            drafts = review.undo(store, "Nora")
            review.return_to(drafts)
            read_again(review, store)
            assert review.current is not None
            assert review.current.draft.id == drafts[0], "it shows what is pending again"
        assert store.instruments.get("small") == before
        assert len(review.pending) == 4
        if not was_decided and "skip" not in keys and "undo" not in keys:
            assert visible_draft(review) == first
