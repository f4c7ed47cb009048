"""What is ruled on is ruled on with r and shown as ruled on wherever it stands, not only among
figures.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.screen import ModalScreen

from stores.core.store import Store
from tests.conftest import instrument
from tests.questionnaire_stores import NAME, panel
from tests.template_stores import ask, play
from tests.tui.audit_runs import audited
from tests.tui.bias_stores import asked, labelled, trained
from tests.tui.conftest import flowing, made, screen_text
from tests.tui.test_drafts_screen import opened as opened_drafts
from tests.tui.test_drafts_screen import proposed
from tests.tui.test_one_set_of_keys import ALL
from tests.tui.test_probe_screen import waiting
from tests.tui.test_rulings_screen import press, settle, standing
from workbench.domain.rulings import Ruled, RulingVerdict
from workbench.domain.statements import VariantKind
from workbench.evidence import ruling_subjects as subjects
from workbench.tui.app import WorkbenchApp
from workbench.tui.comparison.screen import ComparisonScreen
from workbench.tui.jobs.probe import ProbeScreen
from workbench.tui.results.answers import WholeAnswerScreen
from workbench.tui.results.classifier import ClassifierScreen
from workbench.tui.results.questionnaire_instrument import QuestionsScreen
from workbench.tui.results.responses import ResponsesScreen
from workbench.tui.results.wordings import WordingsScreen
from workbench.tui.rulings.dialog import RulingDialog
from workbench.tui.rulings.ruling import RuledText, RulingKeys
from workbench.tui.statements.archived import ArchivedScreen
from workbench.tui.statements.history import HistoryScreen, VersionAnswersScreen
from workbench.tui.statements.similar import SimilarScreen
from workbench.tui.statements.statement import StatementScreen
from workbench.tui.statements.statements import StatementsScreen
from workbench.tui.widgets.record_table import RecordTable

SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40)])
Driver = Pilot[int]


AT_WORK = "people label or decide there, and see no ruling"
NONE = "shows no statement, wording, prompt, answer or reading of a store"
WITHOUT = {
    "AdjudicateScreen": AT_WORK,
    "AnnotateScreen": AT_WORK,
    "AnnotatorsScreen": AT_WORK,
    "IssueCasesScreen": AT_WORK,
    "IssueGoldScreen": AT_WORK,
    "IssueGridScreen": AT_WORK,
    "ItemScreen": AT_WORK,
    "SessionScreen": AT_WORK,
    "SurveyScreen": AT_WORK,
    "DraftsScreen": "a pending draft is accepted, edited or rejected; rulings on its source are "
    "shown",
    "CodebookScreen": NONE,
    "HomeScreen": NONE,
    "ImportScreen": NONE,
    "JobActs": NONE,
    "JobsScreen": NONE,
    "PeopleScreen": NONE,
    "QueuesScreen": NONE,
    "StoreScreen": NONE,
    "WelcomeScreen": NONE,
}
"screens that are no dialogs on which nothing is ruled on, with the reason"


def test_every_screen_rules_or_says_why_not() -> None:
    whole = [one for one in ALL if not issubclass(one, ModalScreen)]
    assert {
        one.__name__ for one in whole if not issubclass(one, RulingKeys) or not one.RULED
    } == set(WITHOUT)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return audited(tmp_path / "audited.db")


def rule(path: Path, name: str, reason: str, instrument: str = "small") -> None:
    with Store.open(path) as store:
        thing = subjects.find_subject(store, name, instrument)
        subjects.add_ruling(
            store, thing, RulingVerdict.EXCLUDED, auditor="eva", reason=reason, reading=None
        )


def kinds(path: Path) -> list[tuple[Ruled, str]]:
    return [(one.subject.kind, one.auditor) for one in standing(path)]


async def at(app: WorkbenchApp, pilot: Driver, ref: str) -> None:
    table = app.screen.query_one(RecordTable)
    table.show_row(table.keys.index(ref))
    await settle(app, pilot)


@pytest.mark.e2e
@SIZES
async def test_the_list_of_statements_counts_what_was_ruled_on_each(
    path: Path, size: tuple[int, int]
) -> None:
    app = WorkbenchApp(path, start="statements", annotator="otto")
    async with app.run_test(size=size) as pilot:
        await settle(app, pilot)
        assert "ruled" not in screen_text(app)
        await at(app, pilot, "env-03")
        await press(app, pilot, "r", "x", "enter")
        rule(path, "env-03/negation/personal-1", "odd")
        await press(app, pilot, "enter", "escape")
        assert isinstance(app.screen, StatementsScreen)
        assert "ruled" in screen_text(app)
        (line,) = [line for line in screen_text(app).splitlines() if "Statement env-03" in line]
        assert " 2 " in line
        await press(app, pilot, "r")
        assert isinstance(app.screen, RulingDialog)
        assert "otto: excluded" in flowing(app)


@pytest.mark.e2e
async def test_archived_statements_are_ruled_on_counted_and_restored(path: Path) -> None:
    with Store.open(path) as store:
        store.statements.archive("small", ["env-03", "mig-01"], person="ana")
    app = WorkbenchApp(path, start="statements", annotator="otto")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot)
        await press(app, pilot, "A")
        assert isinstance(app.screen, ArchivedScreen)
        assert all(named in screen_text(app) for named in ("u Restore", "r Rule"))
        await at(app, pilot, "mig-01")
        await press(app, pilot, "r", "x", "enter")
        assert kinds(path) == [(Ruled.STATEMENT, "otto")]
        (line,) = [
            line
            for line in screen_text(app).splitlines()
            if "mig-01" in line and "Statement" in line
        ]
        assert " 1 " in line
        await press(app, pilot, "u")
        table = app.screen.query_one(RecordTable)
        assert table.keys == ("env-03",)
        await press(app, pilot, "z")
        assert set(table.keys) == {"env-03", "mig-01"}, (
            "z takes back what was done last: not the ruling"
        )
        assert len(standing(path)) == 1
        await press(app, pilot, "r", "c", "enter", "z")
        assert [one.verdict for one in standing(path)] == [RulingVerdict.EXCLUDED], (
            "the earlier ruling stands again"
        )


@pytest.mark.e2e
async def test_z_takes_back_the_newest_of_changes_and_rulings_on_whichever_screen_they_were_made(
    path: Path,
) -> None:
    with Store.open(path) as store:
        store.statements.archive("small", ["mig-01"], person="otto")
    app = WorkbenchApp(path, start="statements", annotator="otto")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot)
        await press(app, pilot, "A", "r", "x", "enter", "escape")
        assert isinstance(app.screen, StatementsScreen)
        table = app.screen.query_one(RecordTable)
        await press(app, pilot, "z")
        assert standing(path) == []
        assert "mig-01" not in table.keys, "the archiving is older"
        await press(app, pilot, "z")
        assert "mig-01" in table.keys


@pytest.mark.e2e
async def test_either_statement_of_a_similar_pair_is_ruled_on(path: Path) -> None:
    app = WorkbenchApp(path, start="statements", annotator="otto")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot)
        await press(app, pilot, "N")
        screen = app.screen
        assert isinstance(screen, SimilarScreen)
        first, second = screen._pairs[screen.table.current or ""].key.split("\n")
        await press(app, pilot, "r", "tab", "x", "enter", "r", "tab", "tab", "tab", "x", "enter")
        ruled = {
            one.subject.named["statement"]
            for one in standing(path)
            if one.subject.kind is Ruled.STATEMENT
        }
        assert ruled == {first, second}
        assert flowing(app).count("ruled by otto: excluded") == 2


@pytest.mark.e2e
async def test_a_version_and_the_answers_to_it_are_ruled_on(path: Path) -> None:
    app = WorkbenchApp(path, start="statements", annotator="otto")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot)
        await at(app, pilot, "env-03")
        await press(app, pilot, "enter", "v")
        assert isinstance(app.screen, HistoryScreen)
        await press(app, pilot, "r", "w", "enter")
        assert "env-03/original otto: wording at fault" in flowing(app)
        await press(app, pilot, "enter")
        screen = app.screen
        assert isinstance(screen, VersionAnswersScreen)
        await press(app, pilot, "r", "m", "1", "enter")
        assert (Ruled.ANSWER, "otto") in kinds(path)
        assert "ruled by otto: misread" in flowing(app)
        await press(app, pilot, "enter")
        assert isinstance(app.screen, WholeAnswerScreen)
        assert "ruled by otto: misread" in flowing(app)


@pytest.mark.e2e
async def test_whole_answers_rows_and_prompts_say_what_was_ruled_and_r_rules(path: Path) -> None:
    rule(path, "env-03/negation/personal-1", "odd")
    app = WorkbenchApp(path, start="audit", annotator="otto")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot)
        await press(app, pilot, "down", "enter", "enter")
        assert isinstance(app.screen, WordingsScreen)
        rows = app.screen.view.table.keys
        app.screen.view.table.show_row(next(n for n, key in enumerate(rows) if "negation" in key))
        await press(app, pilot, "v")
        assert isinstance(app.screen, RuledText)
        assert "ruled by eva: excluded – odd" in flowing(app)
        await press(app, pilot, "escape")
        await press(app, pilot, "p")
        assert isinstance(app.screen, RuledText)
        assert "r rule" in screen_text(app)
        await press(app, pilot, "r", "t", "enter")
        assert isinstance(app.screen, WordingsScreen)
        assert (Ruled.PROMPT, "otto") in kinds(path)
        await press(app, pilot, "enter")
        assert isinstance(app.screen, ResponsesScreen)
        await press(app, pilot, "enter")
        assert isinstance(app.screen, WholeAnswerScreen)
        assert "ruled by otto: template at fault" in flowing(app)


@pytest.mark.e2e
async def test_a_ruling_is_on_the_wording_in_the_language_in_sight(tmp_path: Path) -> None:
    path = play(tmp_path / "audit.db", [("ask", "one chat", "en"), ("ask", "one chat", "de")])
    app = WorkbenchApp(path, start="statements", annotator="otto")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot)
        await press(app, pilot, "enter")
        screen = app.screen
        assert isinstance(screen, StatementScreen)
        for verdict in "wc":
            await press(app, pilot, "r", verdict, "enter", "l")
        found = {one.verdict: one.subject.named["language"] for one in standing(path)}
        assert found == {RulingVerdict.WORDING_AT_FAULT: "en", RulingVerdict.CONFIRMED: "de"}


@pytest.mark.e2e
async def test_a_draft_is_not_ruled_on_but_shows_the_rulings_on_its_source(path: Path) -> None:
    proposed(path, ("soc-07", VariantKind.PARAPHRASE, "Let soc-07 be a law."))
    rule(path, "soc-07/original", "says two things")
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened_drafts(app, pilot)
        assert "ruled by eva: excluded – says two things" in flowing(app)
        await press(app, pilot, "r")
        assert not isinstance(app.screen, RulingDialog)
        with Store.open(path) as store:
            assert [draft.state for draft in store.drafts.list("small")] == ["rejected"]
        assert len(standing(path)) == 1


@pytest.mark.e2e
async def test_the_wording_of_an_answer_to_a_probe_is_ruled_on(tmp_path: Path) -> None:
    path = made(tmp_path / "audit.db", instrument())
    number = waiting(path)
    app = WorkbenchApp(path, annotator="otto")
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(ProbeScreen(number))
        await settle(app, pilot)
        await press(app, pilot, "r", "w", "enter")
        ((kind, _),) = kinds(path)
        assert kind is Ruled.WORDING
        assert "ruled by otto: wording at fault" in flowing(app)
        await press(app, pilot, "enter")
        assert "ruled by otto: wording at fault" in flowing(app)
        await press(app, pilot, "r", "c", "enter")
        assert isinstance(app.screen, ProbeScreen)
        assert [one.verdict for one in standing(path)] == [RulingVerdict.CONFIRMED]


@pytest.mark.e2e
async def test_an_answer_that_a_classifier_misread_is_ruled_on(tmp_path: Path) -> None:
    path = trained(labelled(asked(tmp_path / "audit.db"), per_stratum=1), "mine", right=0.5)
    app = WorkbenchApp(path, annotator="otto")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot)
        await app.push_screen(ClassifierScreen())
        await settle(app, pilot)
        await press(app, pilot, *["minus"] * 20, "e")
        screen = app.screen
        assert isinstance(screen, ClassifierScreen)
        rows = screen.view.sheet.table.rows if screen.view.sheet is not None else ()
        for _ in rows:
            if screen.ruled_place() is not None:
                break
            await press(app, pilot, "down")
        await press(app, pilot, "r", "m", "3", "enter")
        assert kinds(path) == [(Ruled.ANSWER, "otto")]
        assert "ruled by otto: misread (neutral)" in flowing(app)


@pytest.mark.e2e
async def test_an_item_of_a_comparison_is_ruled_on(tmp_path: Path) -> None:
    path = play(tmp_path / "versions.db", [("ask", "one chat", "en")])
    with Store.open(path) as store:
        ask(store, "one", "chat", "en", ("a", "b"), revision="r2")
    app = WorkbenchApp(path, start="audit", annotator="otto")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot)
        await press(app, pilot, "B", "enter")
        screen = app.screen
        assert isinstance(screen, ComparisonScreen)
        for _ in range(6):
            if screen._look.view == "changed_items":
                break
            await press(app, pilot, "tab")
        await press(app, pilot, "E", "r", "x", "enter")
        ((kind, _),) = kinds(path)
        assert kind is Ruled.STATEMENT
        assert "ruled by otto: excluded" in flowing(app)


@pytest.mark.e2e
async def test_a_question_of_a_questionnaire_is_ruled_on(tmp_path: Path) -> None:
    path = made(tmp_path / "people.db", panel())
    app = WorkbenchApp(path, annotator="otto")
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(QuestionsScreen(NAME))
        await settle(app, pilot)
        await press(app, pilot, "r", "l", "enter")
        ((kind, _),) = kinds(path)
        assert kind is Ruled.STATEMENT
        assert "ruled by otto: look again" in flowing(app)
        await press(app, pilot, "tab", "r")
        assert isinstance(app.screen, QuestionsScreen)
