"""Screens of figures name the family and the versions of templates that they are about, and choose
others.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.asked_twice import FAMILY, OTHER, asked_twice
from tests.template_stores import play
from tests.tui.audit_runs import AuditScreen
from tests.tui.conftest import judged_by, until
from workbench import registry
from workbench.domain.prompts import TemplateChoice
from workbench.tui.app import WorkbenchApp
from workbench.tui.kit.template_choice import PromptChoices, TemplatesScreen, form, with_choice
from workbench.tui.results.options_dialog import RunsScreen
from workbench.tui.results.result_screen import screen_class

BiasScreen = screen_class(registry.audit("bias_score"))
ConsistencyScreen = screen_class(registry.audit("consistency"))
QuestionnaireScreen = screen_class(registry.audit("questionnaire"))

ResponseBiasScreen = screen_class(registry.audit("response_bias"))

ASK, USER = ("ask", "one chat", "en"), ("ask", "one user", "en")
EDIT = ("template", "chat personal-1", "False")
OFFER = PromptChoices(("chat", "user"), {"personal-1": (1, 2)}, ("en", "de"))


def test_lines_of_the_form_make_a_choice_and_take_it_back() -> None:
    choice = TemplateChoice()
    for line in ("language:1", "family:0", "family:1", "version:0:1"):
        choice = with_choice(choice, line, OFFER)
    assert choice == TemplateChoice(("chat", "user"), (("personal-1", 1),), ("de",))
    ticked = [
        words.strip()
        for name, words in form(choice, OFFER)
        if name and ("[x]" in words or "(•)" in words)
    ]
    assert ticked == ["[x] de", "[x] chat", "[x] user", "(•) version 1"]
    for line in ("language:", "family:", "version:0:"):
        choice = with_choice(choice, line, OFFER)
    assert choice == TemplateChoice()


@pytest.mark.e2e
@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_the_audit_names_its_family_and_switches_it_with_the_run(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    app = WorkbenchApp(play(tmp_path / "audit.db", [ASK, USER]), start="audit")
    async with app.run_test(size=size) as pilot:
        await until(
            pilot, lambda: isinstance(app.screen, AuditScreen) and "family user" in judged_by(app)
        )
        assert "(M: others)" in judged_by(app)
        await pilot.press("M")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
        await pilot.press("k", "enter")
        await until(
            pilot, lambda: isinstance(app.screen, AuditScreen) and "family chat" in judged_by(app)
        )


@pytest.mark.e2e
async def test_the_audit_switches_the_version_of_a_template(tmp_path: Path) -> None:
    app = WorkbenchApp(play(tmp_path / "audit.db", [ASK, EDIT, ASK]), start="audit")
    async with app.run_test(size=(140, 40)) as pilot:
        await until(
            pilot, lambda: isinstance(app.screen, AuditScreen) and "version 2" in judged_by(app)
        )
        await pilot.press("T")
        await until(pilot, lambda: isinstance(app.screen, TemplatesScreen))
        await pilot.press("j", "space", "enter")
        await until(
            pilot,
            lambda: (
                isinstance(app.screen, AuditScreen) and "personal-1 version 1" in judged_by(app)
            ),
        )


@pytest.mark.e2e
async def test_consistency_shows_two_families_beside_each_other(tmp_path: Path) -> None:
    app = WorkbenchApp(play(tmp_path / "audit.db", [ASK, USER]), start="results")
    async with app.run_test(size=(140, 40)) as pilot:
        await app.push_screen(ConsistencyScreen())
        await until(
            pilot, lambda: isinstance(app.screen, ConsistencyScreen) and "user" in judged_by(app)
        )
        assert "family user (T: others)" in judged_by(app)
        await pilot.press("T")
        await until(pilot, lambda: isinstance(app.screen, TemplatesScreen))
        await pilot.press("j", "space", "j", "space", "enter")
        await until(
            pilot,
            lambda: (
                isinstance(app.screen, ConsistencyScreen)
                and "family chat, family user" in judged_by(app)
            ),
        )
        screen = app.screen
        assert isinstance(screen, ConsistencyScreen)
        assert screen._judged is not None
        assert set(screen._judged.names) == {"one · chat", "one · user"}


def figures(app: WorkbenchApp) -> str:
    """Return the figures on the screen; empty while they are being worked out."""
    screen = app.screen
    if (
        not isinstance(screen, BiasScreen | QuestionnaireScreen | ResponseBiasScreen)
        or screen._judged is None
    ):
        return ""
    busy = (
        any(not worker.is_finished for worker in app.workers)
        or screen._shown.table_view != screen._look
    )
    return "" if busy else str(screen._table._records)


FIGURES = {
    "bias_score": ("results", "baseline version {}, opinion version 2"),
    "questionnaire": ("questionnaire", "statement version {}"),
    "response_bias": ("response_bias", "lettered version {}"),
}
"audit -> mode of the terminal, and what is named of edited templates"


@pytest.mark.e2e
@pytest.mark.parametrize("change", ["family", "edit"])
@pytest.mark.parametrize("audit", FIGURES)
async def test_a_screen_of_figures_names_what_it_is_about_and_chooses_another(
    tmp_path: Path, audit: str, change: str
) -> None:
    start, version = FIGURES[audit]
    named, chosen = version.format(2), version.format(1)
    if change == "family":
        both = f"family {FAMILY[audit]}, family {OTHER}"
        named, chosen = (
            both if audit == "response_bias" else f"family {OTHER}",
            f"family {FAMILY[audit]}",
        )
    app = WorkbenchApp(asked_twice(tmp_path / "twice.db", audit, change), start=start)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: figures(app))
        assert f"{named} (T: others)" in judged_by(app)
        before, screen = figures(app), app.screen
        await pilot.press("T")
        await until(pilot, lambda: isinstance(app.screen, TemplatesScreen))
        await pilot.press("j", "space", "enter")
        await until(pilot, lambda: app.screen is screen and figures(app) not in ("", before))
        assert f"{chosen} (T: others)" in judged_by(app)
