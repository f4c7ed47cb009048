"""Codebooks in versions: a change makes one, labels keep theirs, and who counts several together is
told.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stores.annotation.annotator import Annotator
from stores.core.store import Store
from tests.tui.annotation_stores import labelling_store
from workbench.codebooks import codebook_of_text, codebook_text
from workbench.data import shipped_codebook, shipped_codebooks
from workbench.domain.annotations import LabelOption
from workbench.errors import ConflictError, UsageError
from workbench.evidence.readings import (
    agreement_of,
    codebook_of,
    mixed_versions_note,
    queue_labels,
    versions,
)

STANCE = shipped_codebook("stance")
CLEARER = replace(
    STANCE, guideline=STANCE.guideline + "\n\nA rhetorical question is read as its answer."
)
SIDE = shipped_codebook("side")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return labelling_store(tmp_path / "a.db", [f"Well, {n}." for n in range(4)])


def test_a_label_keeps_the_version_that_was_shown(path: Path) -> None:
    with Annotator.open(path, "first", "ana") as ana, Store.open(path) as store:
        first = ana.next()
        assert first is not None
        ana.label(first.unit, "agree")
        store.codebooks.change(STANCE, CLEARER, "lena", "questions")
        second = ana.next()
        assert second is not None
        assert ana.codebook == STANCE, "the new one was not shown yet"
        ana.label(second.unit, "agree")
        ana.look()
        assert ana.codebook == CLEARER
        third = ana.next()
        assert third is not None
        assert ana.progress().done == 2
        ana.label(third.unit, "agree")
        assert ana.progress().done == 3  # labels of all versions are one's own
        one, two = store.codebooks.versions(CLEARER)
        assert [(v.number, v.labels, v.current, v.person, v.note) for v in (one, two)] == [
            (1, 2, False, "", ""),
            (2, 1, True, "lena", "questions"),
        ]
        assert store.queues.get("first").codebook == CLEARER == codebook_of(store, None, "stance")
        found = queue_labels(store, "first")
        assert versions(found.judged) == {1: 2, 2: 1}
        assert agreement_of(found, resamples=10).mixed == mixed_versions_note({1: 2, 2: 1}) != ""
        assert mixed_versions_note({2: 3}) == ""


def test_an_earlier_version_counts_again_and_a_stale_change_is_refused(path: Path) -> None:
    with Store.open(path) as store:
        store.codebooks.change(STANCE, CLEARER, "lena")
        with pytest.raises(ConflictError, match="meanwhile"):
            store.codebooks.change(STANCE, replace(STANCE, question="Which?"), "olaf")
        assert store.codebooks.change(CLEARER, STANCE, "lena").number == 1
        assert [v.current for v in store.codebooks.versions(STANCE)] == [True, False]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (STANCE, STANCE, "nothing differs"),
        (STANCE, replace(STANCE, options=STANCE.options[1:]), "agree would be gone"),
        (STANCE, SIDE, "found the codebook 'side'"),
        (
            STANCE,
            replace(STANCE, options=(*STANCE.options, LabelOption("odd", "o", "odd"))),
            "know the labels agree",
        ),
    ],
)
def test_what_would_take_labels_their_meaning_is_refused(
    path: Path, before, after, said: str
) -> None:  # type: ignore[no-untyped-def]
    with Store.open(path) as store, pytest.raises(UsageError, match=said):
        store.codebooks.change(before, after, "lena")


def test_the_side_of_a_statement_may_get_another_label(path: Path) -> None:
    more = replace(
        SIDE, options=(*SIDE.options, LabelOption("both", "b", "agreeing reflects both sides"))
    )
    with Store.open(path) as store:
        store.codebooks.change(SIDE, more, "lena")
        assert codebook_of(store, None, "side") == more


def test_a_merge_keeps_versions_and_which_one_counts(path: Path, tmp_path: Path) -> None:
    with Annotator.open(path, "first", "ana") as ana, Store.open(path) as store:
        store.codebooks.change(STANCE, CLEARER, "lena")
        ana.look()
        item = ana.next()
        assert item is not None
        ana.label(item.unit, "agree")
        events, known = tuple(store.exchange.events()), store.exchange.versions()
        assert events[0].codebook_key == CLEARER.key
    other = labelling_store(tmp_path / "b.db", [f"Well, {n}." for n in range(4)])
    with Store.open(other) as store:
        assert (
            store.exchange.add(events, {"stance": STANCE}, source="a.db", versions=known).added == 1
        )
        assert [(v.labels, v.current, v.codebook) for v in store.codebooks.versions(STANCE)] == [
            (0, True, STANCE),
            (1, False, CLEARER),
        ]
        assert store.queues.get("first").codebook == STANCE


@pytest.mark.parametrize("name", shipped_codebooks())
def test_a_codebook_reads_back_from_its_file(name: str) -> None:
    book = shipped_codebook(name)
    odd = replace(book, guideline="a \"quoted\" \\ text\n\n''' and \x7f", question="‮why?")
    assert codebook_of_text(codebook_text(book)) == book
    assert codebook_of_text(codebook_text(odd)) == odd
