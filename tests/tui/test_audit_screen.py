"""The audit screen shows the verdicts as they are, narrows them, and leads to the responses in two keys."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.coordinate import Coordinate
from textual.pilot import Pilot
from textual.widgets import Input

from stores.core.store import Store
from tests.tui.audit_runs import STATEMENTS, audited
from tests.tui.conftest import at_rest, screen_text, shown, until
from tests.tui.test_consistency_screen import by_parts, press
from workbench.audits.reliability.counts import ALL, TEMPLATE, TESTS
from workbench.tui.app import WorkbenchApp
from workbench.tui.kit.dialogs import TextScreen
from workbench.tui.kit.store_gone_dialog import StoreGoneDialog
from workbench.tui.results.audit import AuditScreen
from workbench.tui.results.audit_options import OptionsScreen, RunsScreen
from workbench.tui.results.audit_statement import AuditedStatementScreen
from workbench.tui.results.audit_view import COLUMNS, WITHIN, Settings, load
from workbench.tui.results.responses import ResponsesScreen
from workbench.tui.results.run_agreement import GONE, RunAgreementScreen
from workbench.tui.results.run_agreement import Settings as AgreementSettings
from workbench.tui.results.run_agreement import load as load_agreement
from workbench.tui.widgets.fluid_table import FluidTable

SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40)])
Cells = dict[str, str]


@pytest.fixture
def app(tmp_path: Path) -> WorkbenchApp:
    return WorkbenchApp(audited(tmp_path / "audit.db"), start="audit")


def table(app: WorkbenchApp) -> FluidTable:
    return app.screen.query_one(FluidTable)


def rows(app: WorkbenchApp) -> dict[str, Cells]:
    """Return the cells of the table as they are shown, by row key and column."""
    found = table(app)
    names = [str(column.key.value) for column in found.ordered_columns]
    return {
        key: {name: found.get_cell_at(Coordinate(row, n)).plain.strip() for n, name in enumerate(names)}
        for row, key in enumerate(found.keys)
    }


async def judged(app: WorkbenchApp, pilot: Pilot[int]) -> None:
    await until(pilot, lambda: isinstance(app.screen, AuditScreen) and table(app).row_count > 0)


def test_the_columns_are_the_tests_of_the_audit() -> None:
    assert (*TESTS, TEMPLATE, ALL) == COLUMNS


@SIZES
async def test_marks_are_the_verdicts(app: WorkbenchApp, size: tuple[int, int]) -> None:
    view = load(app.store_path, None, Settings())
    assert view is not None
    items = {item.statement: item for item in view.report.items()}
    async with app.run_test(size=size) as pilot:
        await judged(app, pilot)
        found = rows(app)
        assert tuple(found) == tuple(STATEMENTS)
        signs = {"pass": "✓", "fail": "✗", "insufficient": "·"}
        for ref, cells in found.items():
            for test in COLUMNS:
                assert cells[test][0] == signs[items[ref].verdict(test).value], (ref, test)
        assert found["env-03"]["all"] == ("✗ fail 0/2" if size[0] == 140 else "✗ 0/2")
        assert found["env-03"]["label_order"] == ("✗ fail 1/2" if size[0] == 140 else "✗")
        assert found["mig-01"]["paraphrase"] == ("· few 1/2" if size[0] == 140 else "·")
        assert found["tax-02"]["sampling"].startswith("✗")
        assert "1 of 4 pass all" in shown(app, "#filters")
        assert "✗" in screen_text(app)


async def test_an_undefined_kappa_says_why(app: WorkbenchApp) -> None:
    async with app.run_test(size=(140, 40)) as pilot:
        await judged(app, pilot)
        cells = rows(app)["soc-07"]
        assert cells["kappa"] == "undefined*"
        assert cells["n"].strip() == "12"
        assert shown(app, "#footnotes") == "* κ undefined: all paired answers equal"
        await pilot.press(*["right"] * 8, "question_mark")
        assert isinstance(app.screen, TextScreen)
        text = shown(app, "#text")
        assert text.startswith("κ PARAPHRASE".upper())
        assert "soc-07: κ is undefined, because all paired answers equal (n 12, 0 left out)" in text


async def test_the_question_mark_explains_the_marked_column_with_the_papers_section(app: WorkbenchApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await judged(app, pilot)
        await pilot.press("right", "right", "question_mark")
        assert shown(app, "#text").startswith("SAMPLING\n")
        assert "section 5.4" in shown(app, "#text")


async def test_x_goes_through_the_failed_tests_and_the_cursor_keeps_its_statement(app: WorkbenchApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await judged(app, pilot)
        await pilot.press("down")
        seen = {}
        for _ in range(9):
            await pilot.press("x")
            seen[shown(app, "#filters").split(" · ")[-1]] = list(rows(app)) if table(app).display else []
            if "env-03" in rows(app):
                assert table(app).current == "env-03"
        assert seen == {
            "failed any test": ["env-03", "tax-02"],
            "failed sampling": ["tax-02"],
            "failed paraphrase": [],
            "failed negation": ["env-03"],
            "failed opposite": [],
            "failed label order": ["env-03"],
            "failed template": [],
            "failed all": ["env-03", "tax-02"],
            "a test has too few readable": ["mig-01"],
        }
        await pilot.press("x")
        assert list(rows(app)) == list(STATEMENTS)


async def test_a_template_judges_alone_and_issue_country_and_search_narrow(app: WorkbenchApp) -> None:
    async with app.run_test(size=(140, 40)) as pilot:
        await judged(app, pilot)
        await pilot.press("t")
        assert "under personal-1 (1 of 2)" in shown(app, "#filters")
        assert rows(app)["env-03"]["label_order"] == "✗ fail"
        assert rows(app)["mig-01"]["all"] == "✓ pass"
        await pilot.press("t")
        assert rows(app)["env-03"]["label_order"] == "✓ pass"
        await pilot.press("z", "c")
        assert list(rows(app)) == ["soc-07"]
        await pilot.press("z", "i")
        assert list(rows(app)) == ["soc-07", "env-03", "mig-01"]
        await pilot.press("z", "slash", *"TAX", "enter")
        assert list(rows(app)) == ["tax-02"]
        assert table(app).has_focus
        await pilot.press("escape")
        assert list(rows(app)) == list(STATEMENTS)
        assert not app.screen.query_one("#find", Input).value
        await pilot.press("slash", *"nothing like it", "enter")
        assert "No statement matches" in screen_text(app)


async def test_options_change_the_verdicts(app: WorkbenchApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await judged(app, pilot)
        assert rows(app)["tax-02"]["sampling"] == "✗"
        await pilot.press("o")
        assert isinstance(app.screen, OptionsScreen)
        await pilot.press("down", "space", "enter")
        await until(pilot, lambda: isinstance(app.screen, AuditScreen) and "rule coded" in shown(app, "#head"))
        await until(pilot, lambda: table(app).display)
        assert rows(app)["tax-02"]["sampling"] == "✓"
        assert "2 of 4 pass all" in shown(app, "#filters")


async def test_a_minimum_and_the_tests_that_count_can_be_chosen(app: WorkbenchApp) -> None:
    async with app.run_test(size=(140, 40)) as pilot:
        await judged(app, pilot)
        await pilot.press("o")
        await pilot.press(*["left"] * 10)
        assert "← 10 of 30 →" in screen_text(app)
        await pilot.press("end", "space", "up", "up", "space")
        assert "[ ] label order" in screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, AuditScreen) and "≥10 of 30" in shown(app, "#head"))
        assert "ALL = samp + para + opp" in shown(app, "#head")
        assert rows(app)["mig-01"]["paraphrase"] == "✓ pass 2/2"
        assert rows(app)["env-03"]["all"] == "✓ pass 2/2"


async def test_at_least_one_test_has_to_count(app: WorkbenchApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await judged(app, pilot)
        await pilot.press("o", "end", *["space", "up"] * 5, "enter")
        assert isinstance(app.screen, OptionsScreen)
        assert "choose some of" in shown(app, "#trouble")
        await pilot.press("escape")
        assert isinstance(app.screen, AuditScreen)


@SIZES
async def test_agreement_shows_kappas_with_the_coin_and_people_beside_them(
    app: WorkbenchApp, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        await judged(app, pilot)
        await press(app, pilot, "a")
        assert isinstance(app.screen, RunAgreementScreen)
        text = screen_text(app)
        for wanted in ("people (2)", "coin", "undefined for the model: all answers equal", "smol"):
            assert wanted in text
        assert ("negation", "flipped") in by_parts(app)
        keys = {binding.action for _, binding, enabled, _ in app.screen.active_bindings.values() if enabled}
        assert not keys & {"templates", "instrument", "methods"}
        await press(app, pilot, "tab", "tab")
        assert "alpha" in next(iter(by_parts(app).values()))
        await press(app, pilot, "escape")
        assert isinstance(app.screen, AuditScreen)


async def test_agreement_is_of_the_run_whose_verdicts_were_shown(app: WorkbenchApp) -> None:
    """New answers of the run are judged; those of another, newer run are not taken for them."""
    verdicts = load(app.store_path, None, Settings())
    assert verdicts is not None
    settings = AgreementSettings()
    found = load_agreement(app.store_path, verdicts, settings)
    assert load_agreement(app.store_path, verdicts, settings, found) is found
    audited(app.store_path, lambda _: (("Beneficial.", 30),), model="parrot")
    again = load_agreement(app.store_path, verdicts, settings, found)
    assert again.models == ["smol · small · T 1, top-p 0.85, 20 tokens"]
    turned = load_agreement(app.store_path, verdicts, AgreementSettings(as_people=True), again)
    assert turned.judged is again.judged
    assert load_agreement(app.store_path, verdicts, settings, turned).book is again.book
    other = replace(verdicts, run=replace(verdicts.run, model_id=99))
    assert load_agreement(app.store_path, other, settings).empty == GONE


async def test_m_switches_the_model_only_where_there_are_several(app: WorkbenchApp) -> None:
    audited(app.store_path, lambda _: (("Beneficial.", 30),), model="parrot")
    async with app.run_test(size=(80, 24)) as pilot:
        await judged(app, pilot)
        assert "parrot" in shown(app, "#head")
        await pilot.press("m")
        assert isinstance(app.screen, RunsScreen)
        await pilot.press("up", "enter")
        await until(pilot, lambda: isinstance(app.screen, AuditScreen) and "smol" in shown(app, "#head"))
        await until(pilot, lambda: rows(app)["env-03"]["paraphrase"] == "✓")


async def test_new_answers_are_judged_on_reload_and_the_cursor_stays(app: WorkbenchApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await judged(app, pilot)
        await pilot.press("G")
        audited(app.store_path)
        await pilot.press("r")
        await until(pilot, lambda: "60 samples" in shown(app, "#head"))
        assert table(app).current == "tax-02"


async def test_without_answers_it_says_what_to_do(path: Path) -> None:
    app = WorkbenchApp(path, start="audit")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "No answers yet" in screen_text(app))
        await pilot.press("x", "a", "t", "enter", "slash", "question_mark", "escape")
        assert "3 goes to Jobs" in screen_text(app)


async def test_a_store_that_cannot_be_read_is_an_error_in_words(app: WorkbenchApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await judged(app, pilot)
        for file in app.store_path.parent.iterdir():
            file.rename(file.with_suffix(".moved"))
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, StoreGoneDialog))
        await pilot.press("escape")
        await until(pilot, lambda: "This did not work" in screen_text(app))
        await at_rest()
        assert isinstance(app.screen, AuditScreen), "the copy was declined, and is not offered again"
        assert rows(app)["tax-02"]["sampling"] == "✗"


@SIZES
async def test_two_enters_reach_the_responses_and_escape_comes_back(app: WorkbenchApp, size: tuple[int, int]) -> None:
    async with app.run_test(size=size) as pilot:
        await judged(app, pilot)
        await pilot.press("down", "enter")
        assert isinstance(app.screen, AuditedStatementScreen)
        await pilot.press("enter")
        assert isinstance(app.screen, ResponsesScreen)
        await until(pilot, lambda: "Beneficial." in screen_text(app))
        await pilot.press("escape")
        assert isinstance(app.screen, AuditedStatementScreen)
        await pilot.press("escape")
        assert isinstance(app.screen, AuditScreen)
        assert table(app).current == "env-03"


async def test_all_tests_within_a_template_count_by_default() -> None:
    assert Settings().options().tests == WITHIN == TESTS


async def test_looking_does_not_write_more_than_readings(app: WorkbenchApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await judged(app, pilot)
    with Store.open(app.store_path) as store:
        before = store.connection.execute("select count(*) from reading").fetchone()[0]
    again = WorkbenchApp(app.store_path, start="audit")
    async with again.run_test(size=(80, 24)) as pilot:
        await judged(again, pilot)
    with Store.open(app.store_path) as store:
        assert store.connection.execute("select count(*) from reading").fetchone()[0] == before > 0
