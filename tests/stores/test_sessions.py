"""Sessions without a terminal: undo after a return, its order, closing, and another path."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stores.annotation.issue_annotator import IssueAnnotator
from stores.annotation.rulings import Rulings
from stores.core.store import Store
from tests.conftest import instrument
from tests.stores.test_person_session import disputed
from tests.tui.annotation_stores import QUEUE, answers, labelling_store, labels_of, leases_of
from tests.tui.conftest import made
from tests.tui.issue_stores import ISSUES, issue_store
from tests.tui.issue_stores import label as label_issues
from tests.tui.issue_stores import labels_of as issue_labels
from tests.tui.test_adjudicate_screen import judged
from workbench.annotation.survey import SurveyDesign
from workbench.domain.annotations import DisagreementReason
from workbench.domain.rulings import Ruling, RulingVerdict
from workbench.errors import ConflictError, StoreBusy
from workbench.evidence.ruling_subjects import add_ruling, statement_subject
from workbench.sessions.adjudication import AdjudicationSession
from workbench.sessions.issues import DecisionSession, IssueSession
from workbench.sessions.labels import QueueSession
from workbench.sessions.review import ReviewSession, RuledItem
from workbench.sessions.session import Session, SessionThread, UndoSteps
from workbench.sessions.survey import RespondentSession


def decide_label(session: QueueSession, choice: int) -> None:
    """Label the next item, skip it, flag it, or write a note on it."""
    item = session.next().item
    if item is None:
        return
    if choice == 0:
        session.remark(item.unit, not item.flagged, item.note)
    elif choice == 1:
        session.remark(item.unit, item.flagged, f"{item.note}x")
    elif choice == 2:
        session.skip(item.unit, 900)
    else:
        session.label(item.unit, ("agree", "disagree")[choice % 2], 900, None)


def queue_state(path: Path) -> object:
    with Store.open(path) as store:
        remarks = store.connection.execute(
            "select unit_id, flagged, note from (select *, row_number() over (partition by unit_id "
            "order by at desc, uid desc) as place from remark) where place = 1 "
            "and (flagged or note <> '')"
        ).fetchall()
    return labels_of(path), remarks


def undo_label(session: QueueSession) -> bool:
    if not session.next().steps:
        return False
    session.undo(None)
    return True


def answer(session: RespondentSession[Any], choice: int) -> None:
    item = session.next().item
    if item is None:
        return
    if choice == 0:
        session.skip(item.unit, 900)
    else:
        session.label(item.unit, ("agree", "disagree")[choice % 2], 900, None)


def survey_state(path: Path) -> object:
    with Store.open(path) as store:
        return store.connection.execute("select agrees from survey_answer").fetchall()


def undo_answer(session: RespondentSession[Any]) -> bool:
    if not session.next().steps:
        return False
    session.undo(None)
    return True


def put_label(session: IssueSession, choice: int) -> None:
    rows = session.sheet().rows
    session.put(rows[choice % len(rows)], {ISSUES[choice % 2]: (1, 0, -1, None)[choice % 4]})


def undo_put(session: IssueSession) -> bool:
    return session.undo() is not None


def decide_case(session: DecisionSession, choice: int) -> None:
    cases = session.read().report.cases
    assert session.decide(cases[choice % len(cases)], (1, 0, -1)[choice % 3], "nora")


def case_state(path: Path) -> object:
    with closing(DecisionSession(path, "small", "gold")) as session:
        return [case.adjudicated for case in session.read().report.cases]


def tied(path: Path) -> None:
    issue_store(path)
    for person, value in (("ana", 1), ("bob", -1)):
        label_issues(path, person, {ref: {ISSUES[0]: value} for ref in ("a-1", "a-2")})


def decide_dispute(session: AdjudicationSession, choice: int) -> None:
    queue = session.read()
    cases = [*queue.open, *queue.decided]
    case = cases[choice % len(cases)]
    label = ("agree", "disagree", "neutral")[choice % 3]
    assert session.decide(case, queue.codebook, label, DisagreementReason.OTHER, "", "nora")


def dispute_state(path: Path) -> object:
    decisions = [judged(path, unit).decision for unit in (1, 2)]
    return [decision.label if decision is not None else None for decision in decisions]


@dataclass(frozen=True)
class KindOfSession:
    """A kind of session, with what a person does in it."""

    fill: Callable[[Path], object]
    open: Callable[[Path], Session[Any]]
    decide: Callable[[Any, int], None]
    undo: Callable[[Any], bool]
    "undoes the newest step, or returns False without one"
    state: Callable[[Path], object]
    "what the store says of the decisions in force"


KINDS = {
    "labels": KindOfSession(
        lambda path: labelling_store(path, answers(4)),
        lambda path: QueueSession(path, QUEUE, "ana"),
        decide_label,
        undo_label,
        queue_state,
    ),
    "survey": KindOfSession(
        lambda path: made(path, replace(instrument(), survey=())),
        lambda path: RespondentSession(path, "small", "ana", SurveyDesign(), lambda *_: ()),
        answer,
        undo_answer,
        survey_state,
    ),
    "issues": KindOfSession(
        issue_store,
        lambda path: IssueSession(path, "small", "ana"),
        put_label,
        undo_put,
        lambda path: issue_labels(path, "ana"),
    ),
    "decisions": KindOfSession(
        tied,
        lambda path: DecisionSession(path, "small", "gold"),
        decide_case,
        lambda session: session.undo("nora") is not None,
        case_state,
    ),
    "adjudication": KindOfSession(
        disputed,
        lambda path: AdjudicationSession(path, "q"),
        decide_dispute,
        lambda session: session.undo("nora") is not None,
        dispute_state,
    ),
}
ALL = pytest.mark.parametrize("kind", KINDS)


@ALL
@settings(max_examples=12, deadline=None)
@given(choices=st.lists(st.integers(0, 11), max_size=8))
def test_undo_in_a_later_session_leads_back_to_the_beginning(
    kind: str, choices: Sequence[int]
) -> None:
    of = KINDS[kind]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.db"
        of.fill(path)
        before = of.state(path)
        with closing(of.open(path)) as session:
            for choice in choices:
                of.decide(session, choice)
        with closing(of.open(path)) as session:
            n_undone = 0
            while of.undo(session):
                n_undone += 1
                assert n_undone <= len(choices), "every step is undone once"
        assert of.state(path) == before


@ALL
def test_undo_in_the_same_session_goes_from_the_newest_step_to_the_oldest(
    tmp_path: Path, kind: str
) -> None:
    of, path = KINDS[kind], tmp_path / "a.db"
    of.fill(path)
    states = []
    with closing(of.open(path)) as session:
        for choice in (3, 4, 8, 7):
            states.append(of.state(path))
            of.decide(session, choice)
        for state in reversed(states):
            if of.state(path) != state:
                assert of.undo(session)
            assert of.state(path) == state


@ALL
def test_a_session_may_be_closed_twice(tmp_path: Path, kind: str) -> None:
    of, path = KINDS[kind], tmp_path / "a.db"
    of.fill(path)
    session = of.open(path)
    of.decide(session, 4)
    session.close()
    session.close()
    assert leases_of(path) == []


@ALL
def test_a_session_goes_on_in_a_copy_and_undoes_there(tmp_path: Path, kind: str) -> None:
    of, path, copy = KINDS[kind], tmp_path / "a.db", tmp_path / "b.db"
    of.fill(path)
    before = of.state(path)
    with closing(of.open(path)) as session:
        of.decide(session, 4)
        with Store.open(path) as store:
            store.connection.execute("pragma wal_checkpoint(truncate)").fetchall()
        shutil.copy(path, copy)
        session.move(copy)
        assert of.undo(session)
    assert of.state(copy) == before
    assert of.state(path) != before


def test_decisions_that_alternate_are_undone_one_after_another(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    tied(path)
    labels = (1, 0, -1, 1, 0)
    with closing(DecisionSession(path, "small", "gold")) as session:
        for label in labels:
            assert session.decide(session.read().report.cases[0], label, "nora")
    with closing(DecisionSession(path, "small", "gold")) as session:
        for _ in labels:
            assert session.undo("nora") is not None
        assert session.undo("nora") is None
    assert case_state(path) == [None, None]


def test_a_step_that_a_busy_store_refused_is_undone_by_the_next_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = issue_store(tmp_path / "a.db")

    def refuse(*_: object, **__: object) -> None:
        raise StoreBusy("busy")

    with closing(IssueSession(path, "small", "ana")) as session:
        for index in (0, 1):
            session.put(session.sheet().rows[index], {ISSUES[0]: 1})
        with monkeypatch.context() as patch:
            patch.setattr(IssueAnnotator, "put", refuse)
            with pytest.raises(StoreBusy):
                session.undo()
        result = session.undo()
        assert result is not None
        assert (result.row.ref, result.steps) == ("a-2", 1)


def test_a_step_on_what_somebody_changed_since_is_forgotten() -> None:
    steps = UndoSteps(["first", "second"])

    def refuse(step: str) -> str:
        raise ConflictError(step)

    with pytest.raises(ConflictError, match="second"):
        steps.undo(refuse)
    assert steps.undo(str.upper) == "FIRST"
    assert not steps


def test_a_thread_opens_its_session_again_after_a_failure_and_ends_with_the_last_request(
    tmp_path: Path,
) -> None:
    path, tries = issue_store(tmp_path / "a.db"), []

    def begin(path: Path) -> IssueSession:
        tries.append(path)
        if len(tries) == 1:
            raise StoreBusy("busy")
        return IssueSession(path, "small", "ana")

    thread = SessionThread(path, begin)
    with pytest.raises(StoreBusy):
        thread.submit(lambda session: session.sheet()).result()
    rows = thread.submit(lambda session: session.sheet()).result().rows
    written = thread.submit(lambda session: session.put(rows[0], {ISSUES[0]: 1}))
    thread.close().result()
    assert written.result().steps == 1
    assert issue_labels(path, "ana") == {("a-1", ISSUES[0]): 1}
    assert tries == [path, path]


def ruled(store: Store, ref: str, auditor: str = "nora") -> Ruling:
    return add_ruling(
        store,
        statement_subject(store, "small", ref),
        RulingVerdict.REVIEWED,
        auditor=auditor,
        reason="nothing to rule on",
        reading=None,
        model="",
    )


def test_a_review_undoes_its_own_rulings_first_and_then_the_last_one_on_the_item(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(made(tmp_path / "a.db", instrument())) as store:
        earlier = ruled(store, "b-1")
        session = ReviewSession(blind=False)
        for ref in ("a-1", "a-2"):
            session.steps.add(RuledItem(ref, ruled(store, ref)))

        def refuse(*_: object, **__: object) -> None:
            raise StoreBusy("busy")

        with monkeypatch.context() as patch:
            patch.setattr(Rulings, "undo", refuse)
            with pytest.raises(StoreBusy):
                session.undo(store, "nora", earlier)
        assert [session.undo(store, "nora", earlier)[0] for _ in range(3)] == ["a-2", "a-1", ""]
        assert store.rulings.standing() == {}
        item, message = session.undo(store, "nora", earlier)
        assert (item, message) == ("", "Nothing to undo: nora has no ruling on this item.")


def test_a_review_passes_over_rulings_that_were_taken_back_elsewhere(tmp_path: Path) -> None:
    with Store.open(made(tmp_path / "a.db", instrument())) as store:
        session = ReviewSession(blind=False)
        rulings = [ruled(store, ref) for ref in ("a-1", "a-2")]
        for ruling in rulings:
            session.steps.add(RuledItem(ruling.subject.named["statement"], ruling))
        store.rulings.undo(rulings[1], auditor="nora")
        assert session.undo(store, "nora", None)[0] == "a-1"
        assert not session.steps
