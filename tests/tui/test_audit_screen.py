"""The audit screen shows the verdicts as the book has them, narrows them, and leads to the
responses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from stores.core.store import Store
from tests.tui import audit_runs, books
from tests.tui.audit_runs import STATEMENTS, AuditScreen, audited
from tests.tui.books import SIZES, at, behind, by_parts, press, table
from tests.tui.conftest import flowing, judged_by, screen_text, shown, until
from workbench.audits.reliability.options import TESTS
from workbench.figures.shown import painted
from workbench.tui.app import WorkbenchApp
from workbench.tui.home.home import RESULTS_BESIDE
from workbench.tui.kit.dialogs import StoreGoneDialog, TextScreen
from workbench.tui.results.options_dialog import ChoicesScreen, RunsScreen
from workbench.tui.results.responses import ResponsesScreen
from workbench.tui.results.wordings import WordingsScreen


@pytest.fixture
def app(tmp_path: Path) -> WorkbenchApp:
    return WorkbenchApp(audited(tmp_path / "audit.db"), start="audit")


async def judged(app: WorkbenchApp, pilot: Pilot[int]) -> None:
    await books.begin(app, pilot, AuditScreen)


def refs(app: WorkbenchApp) -> list[str]:
    """Return the statements in sight."""
    return [ref for (ref,) in by_parts(app)]


def keys_that_work(app: WorkbenchApp) -> Iterator[str]:
    return (
        binding.action for _, binding, enabled, _ in app.screen.active_bindings.values() if enabled
    )


@pytest.mark.e2e
@SIZES
async def test_the_verdicts_are_those_of_the_book(app: WorkbenchApp, size: tuple[int, int]) -> None:
    book = audit_runs.judged(app.store_path).book
    assert book is not None
    expected = book.table("verdicts")
    cells, _ = painted(expected)
    async with app.run_test(size=size) as pilot:
        await judged(app, pilot)
        found = by_parts(app)
        assert (
            list(found)
            == [expected.key(row) for row in expected.rows]
            == [(ref,) for ref in STATEMENTS]
        )
        for texts, seen in zip(cells, found.values(), strict=True):
            for column, text in zip(expected.columns, texts, strict=True):
                if column.key in (*TESTS, "template", "all") and column.key not in seen:
                    assert f"{column.title} {text}" in flowing(app), (
                        "the same in all rows: among the details"
                    )
                elif column.key in (*TESTS, "template", "all"):
                    assert seen[column.key] == (text if size[0] == 140 else text[0])
        assert found["env-03",]["all"] == ("✗ 0/2" if size[0] == 140 else "✗")
        assert found["soc-07",]["text"].startswith("Statement so"), (
            "what is asked stands beside its id"
        )
        assert shown(app, "#options").startswith("✓ 1 of 4 pass all at 30 answers · small")
        assert "label order ✓ 2/2" in flowing(app) or size[0] == 140, (
            "the details say under how many templates"
        )


@pytest.mark.e2e
async def test_an_undefined_kappa_says_why(app: WorkbenchApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await judged(app, pilot)
        assert by_parts(app)["soc-07",]["kappa_paraphrase"] == "undefined (a)"
        assert "κ paraphrase undefined: all answers equal" in screen_text(app)
        await press(app, pilot, "question_mark")
        assert isinstance(app.screen, TextScreen)
        assert "Every wording leans clearly to one side (Ceron et al. 2024, section 5.4)." in shown(
            app, "#text"
        )


@pytest.mark.e2e
async def test_x_goes_through_the_failures_there_are_and_the_cursor_keeps_its_statement(
    app: WorkbenchApp,
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await judged(app, pilot)
        await press(app, pilot, "down")
        seen = {}
        for _ in range(6):
            await press(app, pilot, "x")
            seen[shown(app, "#narrowed").partition(" · ")[2]] = refs(app)
            assert at(app) == ("env-03",) or "env-03" not in refs(app)
        assert seen == {
            "failed any test": ["env-03", "tax-02"],
            "failed sampling": ["tax-02"],
            "failed negation": ["env-03"],
            "failed label order": ["env-03"],
            "failed all": ["env-03", "tax-02"],
            "too few answers for a test": ["mig-01"],
        }
        await press(app, pilot, "x")
        assert refs(app) == list(STATEMENTS)
        await press(app, pilot, "X")
        assert refs(app) == ["mig-01"]
        await press(app, pilot, "escape")
        assert refs(app) == list(STATEMENTS)
        assert isinstance(app.screen, AuditScreen)


@pytest.mark.e2e
async def test_a_template_judges_alone_and_issue_country_and_search_narrow(
    app: WorkbenchApp,
) -> None:
    async with app.run_test(size=(140, 40)) as pilot:
        await judged(app, pilot)
        await press(app, pilot, "t")
        assert "personal-1" in shown(app, "#tabs")
        assert shown(app, "#options").startswith("✓ 2 of 4 pass all at 30 answers")
        assert by_parts(app)["env-03",]["label_order"] == "✗"
        assert by_parts(app)["mig-01",]["all"] == "✓"
        await press(app, pilot, "x", "t")
        assert by_parts(app)["env-03",]["label_order"] == "✓"
        assert refs(app) == ["env-03", "tax-02"], (
            "what failed is shown alone under the next template too"
        )
        await press(app, pilot, "0", "c")
        assert shown(app, "#narrowed") == "1 of 4 rows · country: nl"
        assert refs(app) == ["soc-07"]
        await press(app, pilot, "0", "i")
        assert shown(app, "#narrowed") == "3 of 4 rows · policy issues: law and order"
        await press(app, pilot, "x")
        assert refs(app) == ["env-03"]
        await press(app, pilot, "0", "slash", *"TAX", "enter")
        assert refs(app) == ["tax-02"]
        await press(app, pilot, "escape")
        assert refs(app) == list(STATEMENTS)
        assert not app.screen.query_one("#find", Input).value


async def on_line(app: WorkbenchApp, pilot: Pilot[int], line: str, *keys: str) -> None:
    """Press keys on a line of the dialog of options."""
    dialog = app.screen
    assert isinstance(dialog, ChoicesScreen)
    dialog.choices.highlighted = dialog.choices.get_option_index(line)
    await press(app, pilot, *keys)


@pytest.mark.e2e
async def test_rules_change_the_verdicts(app: WorkbenchApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await judged(app, pilot)
        assert by_parts(app)["tax-02",]["sampling"] == "✗"
        await press(app, pilot, "o")
        await on_line(app, pilot, "as_published:", "space", "enter")
        assert "rule as coded" in judged_by(app)
        assert by_parts(app)["tax-02",]["sampling"] == "✓"
        assert shown(app, "#options").startswith("✓ 2 of 4 pass all at 30 answers")


@pytest.mark.e2e
async def test_a_minimum_and_the_tests_that_count_can_be_chosen(app: WorkbenchApp) -> None:
    async with app.run_test(size=(140, 40)) as pilot:
        await judged(app, pilot)
        await press(app, pilot, "o")
        await on_line(app, pilot, "minimum:", *["left"] * 10)
        assert "← 10 → readable answers needed" in screen_text(app)
        await on_line(app, pilot, "low:", *["left"] * 5)
        await on_line(app, pilot, "high:", "right")
        assert "← 0.4 → lower limit of an unclear leaning" in screen_text(app)
        assert "← 0.56 → upper limit of an unclear leaning" in screen_text(app)
        await press(app, pilot, "space")
        assert "← 0.55 → upper limit of an unclear leaning" in screen_text(app)
        await on_line(app, pilot, "tests:label_order", "space")
        assert "[ ] label order" in screen_text(app)
        await on_line(app, pilot, "tests:negation", "space")
        await press(app, pilot, "enter")
        assert "≥10 of 30 readable · all = sampling + paraphrase + opposite" in flowing(app)
        assert by_parts(app)["mig-01",]["paraphrase"] == "✓ 2/2"
        assert by_parts(app)["env-03",]["all"] == "✓ 2/2"


@pytest.mark.e2e
async def test_at_least_one_test_has_to_count(app: WorkbenchApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await judged(app, pilot)
        await press(app, pilot, "o")
        await on_line(app, pilot, "tests:sampling", *["space", "down"] * 5)
        assert isinstance(app.screen, ChoicesScreen)
        assert "choose some of" in shown(app, "#trouble")
        await press(app, pilot, "escape")
        assert isinstance(app.screen, AuditScreen)


@pytest.mark.e2e
async def test_kappas_stand_beside_the_coin_and_people(app: WorkbenchApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await judged(app, pilot)
        assert not set(keys_that_work(app)) & {"templates", "instrument", "option('as_people')"}
        assert "methods" in keys_that_work(app)
        await press(app, pilot, "H")
        assert "Reliability was judged as by Ceron et al. (2024, section 5)" in shown(app, "#text")
        await press(app, pilot, "escape")
        await press(app, pilot, "a")
        text = screen_text(app)
        for wanted in ("people (2)", "coin", "undefined for the model: all answers equal", "smol"):
            assert wanted in text
        assert ("negation", "flipped") in by_parts(app)
        assert "option('as_people')" in keys_that_work(app)
        await press(app, pilot, "tab", "tab")
        assert "alpha" in next(iter(by_parts(app).values()))


def test_new_answers_of_the_run_in_sight_are_judged_and_those_of_a_newer_run_are_not_taken_for_them(
    tmp_path: Path,
) -> None:
    path = audited(tmp_path / "audit.db")
    found = audit_runs.judged(path)
    assert audit_runs.judged(path, found) is found
    turned = audit_runs.judged(path, found, as_people=True)
    assert turned.source is found.source
    assert audit_runs.judged(path, turned).judged is found.judged, (
        "what was computed is not computed again"
    )
    audited(path, lambda _: (("Beneficial.", 30),), model="parrot")
    again = audit_runs.judged(path, found)
    assert (again.models, len(again.offers.runs)) == (("smol",), 2)
    gone = replace(found.runs[0], model_id=99)
    assert audit_runs.judged(path, run=gone).models == ("parrot",)


@pytest.mark.e2e
async def test_a_key_switches_the_model_only_where_there_are_several(app: WorkbenchApp) -> None:
    audited(app.store_path, lambda _: (("Beneficial.", 30),), model="parrot")
    async with app.run_test(size=(80, 24)) as pilot:
        await judged(app, pilot)
        assert "parrot · run 2 of 2: M switches" in screen_text(app)
        await press(app, pilot, "M")
        assert isinstance(app.screen, RunsScreen)
        await press(app, pilot, "up", "enter")
        assert "smol · run 1 of 2" in screen_text(app)
        assert by_parts(app)["env-03",]["paraphrase"] == "✓"


@pytest.mark.e2e
async def test_new_answers_are_judged_on_reload_and_the_cursor_stays(app: WorkbenchApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await judged(app, pilot)
        await press(app, pilot, "G")
        audited(app.store_path)
        await press(app, pilot, "f5")
        assert "60 samples" in judged_by(app)
        assert at(app) == ("tax-02",)


async def test_without_answers_it_says_what_to_do(path: Path) -> None:
    app = WorkbenchApp(path, start="audit")
    async with app.run_test(size=(80, 24)) as pilot:
        await judged(app, pilot)
        await press(
            app, pilot, "x", "a", "t", "i", "p", "M", "enter", "slash", "question_mark", "escape"
        )
        assert "No model has answered" in screen_text(app)
        assert "3 goes to Jobs" in screen_text(app)


@pytest.mark.e2e
async def test_a_store_that_cannot_be_read_keeps_the_verdicts(app: WorkbenchApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await judged(app, pilot)
        for file in app.store_path.parent.iterdir():
            file.rename(file.with_suffix(".moved"))
        await press(app, pilot, "f5")
        await until(pilot, lambda: isinstance(app.screen, StoreGoneDialog))
        await press(app, pilot, "escape")
        assert "This did not work" in screen_text(app)
        assert isinstance(app.screen, AuditScreen), (
            "the copy was declined, and is not offered again"
        )
        assert by_parts(app)["tax-02",]["sampling"] == "✗"


@pytest.mark.e2e
async def test_enter_leads_over_the_templates_to_the_responses_and_escape_comes_back(
    app: WorkbenchApp,
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await judged(app, pilot)
        await press(app, pilot, "down", "enter")
        assert behind(app) == "statement"
        assert "✗ negation fail: original agree 30/30" in flowing(app)
        await press(app, pilot, "enter")
        assert isinstance(app.screen, WordingsScreen)
        await press(app, pilot, "enter")
        assert isinstance(app.screen, ResponsesScreen)
        await until(pilot, lambda: "Beneficial." in screen_text(app))
        await press(app, pilot, "escape", "escape", "escape")
        assert isinstance(app.screen, AuditScreen)
        assert at(app) == ("env-03",)
        await press(app, pilot, "t", "enter")
        assert isinstance(app.screen, WordingsScreen), (
            "under one template its wordings come at once"
        )


@pytest.mark.e2e
async def test_from_home_enter_leads_to_answers_in_a_terminal_of_12_lines_whatever_table_was_left(
    app: WorkbenchApp,
) -> None:
    async with app.run_test(size=(50, 12)) as pilot:
        await judged(app, pilot)
        await press(app, pilot, "down", "tab", "enter")
        assert flowing(app).count("Statements that do not pass"), (
            "a row of a summary leads to what it counts"
        )
        await press(app, pilot, "escape", "h", "4")
        lines = screen_text(app).splitlines()
        assert any("env-03" in line and "Statement env-03"[:8] in line for line in lines), (
            "rows and words are in sight"
        )
        await press(app, pilot, "enter", "enter", "enter")
        assert isinstance(app.screen, ResponsesScreen)


@pytest.mark.e2e
async def test_looking_does_not_write_more_than_readings(app: WorkbenchApp) -> None:
    def readings() -> Any:
        with Store.open(app.store_path) as store:
            return store.connection.execute("select count(*) from reading").fetchone()[0]

    async with app.run_test(size=(80, 24)) as pilot:
        await judged(app, pilot)
    before = readings()
    again = WorkbenchApp(app.store_path, start="audit")
    async with again.run_test(size=(80, 24)) as pilot:
        await judged(again, pilot)
        assert table(again).row_count == len(STATEMENTS)
    assert readings() == before > 0


async def test_f2_lists_all_tables_of_which_five_are_named(app: WorkbenchApp) -> None:
    async with app.run_test(size=(140, 40)) as pilot:
        await judged(app, pilot)
        screen = app.screen
        assert isinstance(screen, AuditScreen)
        assert screen._book is not None
        last = screen._book.contents[-1]
        assert last.title not in shown(app, "#tabs")
        assert "more … F2" in shown(app, "#tabs")
        await press(app, pilot, "f2", "end", "enter")
        assert screen._look.view == last.name
        assert f"▸{last.title}" in shown(app, "#tabs"), "the one in sight is named, too"


@pytest.mark.parametrize(("width", "beside"), [(140, False), (200, True)])
async def test_details_stand_beside_the_rows_of_a_wide_terminal(
    app: WorkbenchApp, width: int, beside: bool
) -> None:
    async with app.run_test(size=(width, 50)) as pilot:
        await judged(app, pilot)
        details, rows = (
            app.screen.query_one("#details").region,
            app.screen.query_one("#rows").region,
        )
        assert (details.x >= rows.right) is beside
        assert (details.y >= rows.bottom) is not beside
        for key in ("3", "1"):
            await press(app, pilot, key)
            there, about = (
                app.screen.query_one(".list").region,
                app.screen.query_one(".about").region,
            )
            is_pane_beside = width >= RESULTS_BESIDE if key == "1" else beside
            assert (about.x >= there.right) is is_pane_beside
        is_home_beside = width >= RESULTS_BESIDE
        await until(pilot, lambda: "Audit" in shown(app, "#unfolded") or not is_home_beside)
        said = shown(app, "#unfolded")
        assert bool(said) is is_home_beside, (
            "Home unfolds there what the line under the cursor stands for"
        )
