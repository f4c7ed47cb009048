"""What the sessions of people at a store share: closing, the pace, and undo after a return."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stores.annotation.annotator import Annotator
from stores.annotation.issue_annotator import IssueAnnotator
from stores.annotation.person_session import PersonSession
from stores.annotation.person_steps import (
    IDLE_MS,
    UndoableChange,
    add_change,
    items_per_hour,
    newest_change,
)
from stores.annotation.respondent import SurveyRespondent
from stores.core.store import Store
from tests.conftest import instrument
from tests.tui.annotation_stores import QUEUE, answers, labelling_store
from tests.tui.conftest import made
from tests.tui.issue_stores import issue_store
from tests.tui.test_adjudicate_screen import STANCE, labelled, queued
from workbench.annotation.survey import SurveyDesign
from workbench.domain.annotations import DisagreementReason
from workbench.errors import UnknownName
from workbench.pipeline.surveys import open_session


def annotator(path: Path) -> PersonSession:
    return Annotator.open(labelling_store(path, answers(2)), QUEUE, "ana")


def issue_annotator(path: Path) -> PersonSession:
    return IssueAnnotator.open(issue_store(path), "small", "ana")


def respondent(path: Path) -> PersonSession:
    made(path, replace(instrument(), survey=()))
    with Store.open(path) as store:
        survey = open_session(store, "small", "ana", SurveyDesign())
    return SurveyRespondent.open(path, survey)


SESSIONS = pytest.mark.parametrize("session", [annotator, issue_annotator, respondent])


@SESSIONS
def test_a_session_may_be_closed_twice(
    tmp_path: Path, session: Callable[[Path], PersonSession]
) -> None:
    with session(tmp_path / "a.db") as opened:
        opened.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened.connection.execute("select 1")


@SESSIONS
def test_no_session_reads_the_labels_of_others(
    tmp_path: Path, session: Callable[[Path], PersonSession]
) -> None:
    with session(tmp_path / "a.db") as opened:
        for table in ("reading", "issue_label", "party_answer", "ruling"):
            with pytest.raises(sqlite3.DatabaseError, match="prohibited"):
                opened.connection.execute(f"select * from {table}").fetchall()


@pytest.mark.parametrize(
    "begin",
    [
        lambda path: Annotator.open(path, "none", "ana"),
        lambda path: IssueAnnotator.open(path, "none", "ana"),
        lambda path: SurveyRespondent.open(path, 7),
    ],
)
def test_a_session_that_cannot_begin_leaves_no_connection(
    tmp_path: Path, begin: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made(tmp_path / "a.db", instrument())
    closed: list[Store] = []
    close = Store.close

    def count(store: Store) -> None:
        closed.append(store)
        close(store)

    monkeypatch.setattr(Store, "close", count)
    with pytest.raises(UnknownName):
        begin(path)
    assert len(closed) == 1


@given(st.lists(st.integers(1, 2 * IDLE_MS), min_size=1, max_size=20), st.integers(0, 10**9))
def test_a_pause_of_any_length_counts_as_five_minutes(times_ms: list[int], longer: int) -> None:
    pace = items_per_hour(times_ms)
    assert pace is not None
    assert pace >= 3_600_000 / IDLE_MS
    paused = [time_ms + longer if time_ms >= IDLE_MS else time_ms for time_ms in times_ms]
    assert items_per_hour(paused) == pace
    assert items_per_hour([*times_ms, IDLE_MS]) <= pace  # type: ignore[operator]


def test_without_time_there_is_no_pace() -> None:
    assert items_per_hour([]) is None
    assert items_per_hour([0, 0]) is None


VALUES = st.sampled_from("abc")


@example([(1, "a"), (1, "b"), (1, "c"), (1, "a"), (1, "b"), (1, "a")])
@given(st.lists(st.tuples(st.integers(1, 2), VALUES), max_size=30))
def test_steps_lead_back_from_the_current_values_to_the_first(
    changes: list[tuple[int, str]],
) -> None:
    """The rest of the steps of each unit is a chain, whatever was undone and done again."""
    current = {1: "", 2: ""}
    steps: list[UndoableChange[int, str]] = []
    for unit, value in changes:
        change = UndoableChange(unit, current[unit], value)
        current[unit] = value
        add_change(steps, change, newest_change(steps, unit))
    while steps:
        step = steps.pop()
        assert current[step.unit] == step.after
        current[step.unit] = step.before
    assert current == {1: "", 2: ""}


def undone(path: Path, auditor: str, most: int) -> list[str]:
    """Undo decisions until none is left, and return their labels."""
    labels = []
    with Store.open(path) as store:
        for _ in range(most):
            decision = store.labels.undo_decision("q", STANCE, auditor)
            if decision is None:
                return labels
            labels.append(decision[1])
    raise AssertionError("undo goes round in a circle")


def decide(path: Path, units: Sequence[int], decisions: Sequence[tuple[int, str]]) -> None:
    with Store.open(path) as store:
        for index, label in decisions:
            store.labels.decide(units[index], STANCE, label, DisagreementReason.OTHER, "", "Nora")


def disputed(path: Path) -> list[int]:
    units = queued(path, ["Yes and no.", "It depends."])
    for person, label in (("Annabel", "agree"), ("Bartholomew", "neutral")):
        labelled(path, person, dict.fromkeys(units, label))
    return units


def test_decisions_that_alternate_are_undone_one_after_another(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    units = disputed(path)
    labels = ["agree", "disagree", "neutral", "agree", "disagree"]
    decide(path, units, [(0, label) for label in labels])
    assert undone(path, "Nora", 10) == labels[::-1]


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 1), st.sampled_from(["agree", "disagree", "neutral"])),
        max_size=8,
    )
)
def test_undoing_decisions_comes_to_an_end(decisions: list[tuple[int, str]]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.db"
        units = disputed(path)
        decide(path, units, decisions)
        undone(path, "Nora", len(decisions) + 1)
        with Store.open(path) as store:
            judged = store.labels.judged("stance", queue="q")
            assert [item.decision for item in judged] == [None, None]
