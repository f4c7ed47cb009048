"""Every screen and dialog on a store whose every free text is hostile: what is painted is text that
nothing obeys.
"""

from __future__ import annotations

import inspect
import pkgutil
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.screen import Screen

import workbench.tui
from tests.cli.test_hostile_texts import hostile as hostile  # the store, made once
from tests.tui.conftest import at_rest, screen_text, until
from workbench.tui.app import WorkbenchApp
from workbench.tui.home.welcome import WelcomeApp

pytestmark = pytest.mark.e2e

AUDITOR = "[bold][/x]otto"
PATHS = {
    "AboutForm": "statements enter i",
    "AdjudicateScreen": "home enter",
    "AnnotateScreen": "annotate enter",
    "AnnotatorsScreen": "annotate v",
    "ArchivedScreen": "statements A",
    "BehindScreen": "audit enter",
    "BulkForm": "statements b",
    "ChecksScreen": "statements f",
    "ChoicesScreen": "audit o",
    "CommandForm": "statements d",
    "ClassifierScreen": "results f",
    "CodebookForm": "annotate b e",
    "CodebookScreen": "annotate b",
    "CompareScreen": "audit B",
    "ConfirmScreen": "jobs T",
    "ComparisonScreen": "audit B space down space enter",
    "DraftsScreen": "statements P",
    "EditorDialog": "statements P p",
    "ExportScreen": "statements w",
    "FormScreen": "response_bias enter enter enter",
    "FoundAnswersScreen": "home f3 s o m e enter",
    "HistoryScreen": "statements enter v",
    "HomeScreen": "home",
    "ImportScreen": "home i",
    "InstrumentForm": "statements I",
    "IssueGoldScreen": "statements G",
    "IssueGridScreen": "statements g",
    "JobForm": "jobs n enter",
    "JobKindDialog": "jobs n",
    "JobsScreen": "jobs",
    "ListDialog": "audit f2",
    "NoteDialog": "home f3",
    "NumberDialog": "home V d",
    "PageScreen": "home ctrl+p p r i v a c y enter",
    "PeopleScreen": "annotate w",
    "PersonDialog": "annotate p",
    "PersonForm": "annotate w enter",
    "PictureScreen": "results P",
    "PromptScreen": "questionnaire enter enter enter enter",
    "QuestionScreen": "response_bias enter enter",
    "QuestionsScreen": "questionnaire u",
    "QueueForm": "annotate n",
    "QueuesScreen": "annotate",
    "ReportDialog": "home W",
    "ResponsesScreen": "audit enter enter enter",
    "ReviewItemScreen": "home V enter",
    "ReviewScreen": "home V",
    "RowsDialog": "audit D",
    "RuledText": "audit v",
    "RulingDialog": "audit r",
    "RulingsScreen": "audit L",
    "RunsScreen": "audit M",
    "SimilarScreen": "statements N",
    "SplitForm": "statements enter S",
    "StatementForm": "statements n",
    "StatementScreen": "statements enter",
    "StatementsScreen": "statements",
    "SurveyScreen": "statements y",
    "TemplatesScreen": "results T",
    "TextScreen": "jobs enter",
    "VersionAnswersScreen": "statements enter v enter",
    "WaiveDialog": "statements f w",
    "WholeAnswerScreen": "results enter enter enter",
    "WordingForm": "statements enter e",
    "WordingsScreen": "audit enter enter",
}
"screen -> where the terminal opens, and the keys from there"
ELSEWHERE = {
    "ChoiceForm",
    "DraftEditor",
    "GivenScreen",
    "IssueCasesScreen",
    "NewStoreDialog",
    "ProbeScreen",
    "StoreGoneDialog",
    "TextsScreen",
    "WelcomeScreen",
}
"""they need a running job, drafts, labels of one's own or a missing file, and are looked at by
tests of their own"""
FIGURES = ("consistency", "contamination", "representation")
"modes whose screens are made of the audit, and that no path above begins with"


def screens() -> set[str]:
    """Return the names of all screens of the terminal that no other is derived from."""
    modules = [
        import_module(one.name)
        for one in pkgutil.walk_packages(workbench.tui.__path__, "workbench.tui.")
    ]
    found = {
        of
        for module in modules
        for of in vars(module).values()
        if inspect.isclass(of) and issubclass(of, Screen)
    }
    return {
        of.__name__
        for of in found
        if of.__module__.startswith("workbench.tui.") and not of.__subclasses__()
    }


def check_painted(app: App[Any]) -> None:
    """Look at what the terminal is sent, and at what a click on it would do."""
    text = screen_text(app)
    assert not {sign for sign in text if not sign.isprintable() and sign not in "\n\xa0"}
    assert "</script>[/x]" not in text, "markup of a stored text was obeyed"
    assert "[bold]\\input" not in text, "markup of a stored text was obeyed"


def _names_of_open_screens(app: App[Any]) -> set[str]:
    return {kind.__name__ for screen in app.screen_stack for kind in type(screen).__mro__}


def test_every_screen_is_looked_at() -> None:
    assert screens() - {"ResultScreen"} <= PATHS.keys() | ELSEWHERE
    assert not PATHS.keys() & ELSEWHERE


@pytest.mark.parametrize("name", [*PATHS, *FIGURES])
async def test_what_a_screen_paints_is_text(hostile: Path, tmp_path: Path, name: str) -> None:
    start, *keys = PATHS.get(name, name).split()
    app = WorkbenchApp(
        Path(shutil.copy(hostile, tmp_path / "[bold][x].db")), start=start, annotator=AUDITOR
    )
    async with app.run_test(size=(140, 40)) as pilot:
        await until(pilot, lambda: "looking for what waits" not in screen_text(app))
        for key in keys:
            await pilot.press(key)
            await at_rest()
            check_painted(app)
        await until(pilot, lambda: name in FIGURES or name in _names_of_open_screens(app))
        check_painted(app)
        await pilot.press("question_mark")
        await at_rest()
        check_painted(app)
        await pilot.resize_terminal(80, 24)
        await at_rest()
        check_painted(app)


@pytest.mark.parametrize("begin", ["home", "statements", "jobs", "annotate", "audit"])
async def test_what_the_palette_finds_by_name_is_text(
    hostile: Path, tmp_path: Path, begin: str
) -> None:
    app = WorkbenchApp(
        Path(shutil.copy(hostile, tmp_path / "a.db")), start=begin, annotator=AUDITOR
    )
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.press("ctrl+p", *"script")
        await at_rest()
        check_painted(app)


async def test_names_of_files_are_text_where_stores_are_chosen(tmp_path: Path) -> None:
    for name in ("[bold][x]\\input.db", "\x1b[31m\u202e.db", "--help.db", "$(id);.db"):
        (tmp_path / name).write_bytes(b"")
    app = WelcomeApp(tmp_path)
    async with app.run_test(size=(140, 40)):
        await at_rest()
        check_painted(app)
