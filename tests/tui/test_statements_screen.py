"""The list of statements is paged, searched and filtered by the store; a statement shows its
wordings side by side.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Input

from stores.core.store import Store
from tests.conftest import instrument
from tests.questionnaire_stores import NAME, panel
from tests.tui.conftest import (
    HOSTILE,
    hostile_instrument,
    large_instrument,
    made,
    screen_text,
    until,
)
from workbench.domain.choices import Bias
from workbench.domain.statements import NEGATION, ORIGINAL, Statement, Wording
from workbench.tui.app import WorkbenchApp, key_list
from workbench.tui.format import word_diff
from workbench.tui.review.review import ReviewScreen
from workbench.tui.statements.statement import StatementScreen
from workbench.tui.statements.statement_format import MOST, marked, short_refs
from workbench.tui.statements.statements import NARROWEST_TEXT, PAGE
from workbench.tui.widgets.frame import TitleBar
from workbench.tui.widgets.record_table import RecordTable


def table(app: WorkbenchApp) -> RecordTable:
    return app.screen.query_one("#lines", RecordTable)


def note(app: WorkbenchApp) -> str:
    return app.screen.query_one(TitleBar).note


async def test_hostile_texts_stand_in_the_list_as_they_are(tmp_path: Path) -> None:
    app = WorkbenchApp(made(tmp_path / "audit.db", hostile_instrument()), start="statements")
    async with app.run_test(size=(140, 24)) as pilot:
        await until(pilot, lambda: table(app).row_count == len(HOSTILE))
        text = screen_text(app)
        for shown in (
            "[@click=app.bell]x[/] closes",
            "[/INST] ends [bold]the turn",
            "␛[31mred",
            "\\u202e",
            "aaaa",
        ):
            assert shown in text
        assert "\x1b" not in text
        assert "− [issue]" in text


@pytest.mark.e2e
async def test_hostile_texts_stand_beside_each_other_as_they_are(tmp_path: Path) -> None:
    app = WorkbenchApp(made(tmp_path / "audit.db", hostile_instrument()), start="statements")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: table(app).row_count == len(HOSTILE))
        await pilot.press("enter")
        for n, expected in enumerate(
            ("[@click=app.bell]x[/]", "[/INST]", "␛[31mred", "\\u202e", "negation", "aaa")
        ):
            await until(pilot, lambda n=n: note(app) == f"statement {n + 1} of {len(HOSTILE)}")  # type: ignore[misc]
            await until(pilot, lambda expected=expected: expected in screen_text(app))  # type: ignore[misc]
            assert "by [red]x" in screen_text(app) or n == 5
            await pilot.press("n")


def test_no_two_rows_of_the_list_are_called_alike_and_keys_stay_whole() -> None:
    refs = [f"{bias}.q10" for bias in Bias]
    names = short_refs(
        [
            *refs,
            "odd.q10",
            "acquiescence-reword.TALKDISASNSINT_W49",
            *("x" * 90 + f"-{n}" for n in "12"),
        ]
    )
    assert len(set(names.values())) == len(names)
    assert max(map(len, names.values())) <= MOST
    assert names["odd_even.q10"] != names["odd.q10"]
    assert all(names[ref].partition("·")[0].endswith(".q10") for ref in refs)
    assert names["acquiescence-reword.TALKDISASNSINT_W49"].endswith(".TALKDISASNSINT_W49")


@pytest.mark.e2e
async def test_going_past_the_end_of_a_page_brings_the_next_one(tmp_path: Path) -> None:
    app = WorkbenchApp(made(tmp_path / "audit.db", large_instrument(PAGE + 39)), start="statements")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: note(app) == f"1–{PAGE} of {PAGE + 39}")
        await pilot.press("end", "j")
        await until(pilot, lambda: note(app) == f"{PAGE + 1}–{PAGE + 39} of {PAGE + 39}")
        assert table(app).current == f"s-{PAGE:04}"
        await pilot.press("k")
        await until(pilot, lambda: note(app).startswith("1–"))
        assert table(app).current == f"s-{PAGE - 1:04}"
        await pilot.press("home", "k")
        await pilot.pause()
        assert note(app).startswith("1–")


@pytest.mark.e2e
async def test_search_is_live_and_escape_takes_it_away(tmp_path: Path) -> None:
    app = WorkbenchApp(made(tmp_path / "audit.db", large_instrument(30)), start="statements")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: table(app).row_count == 30)
        await pilot.press("slash", *"s-0007")
        await until(pilot, lambda: table(app).keys == ("s-0007",))
        assert "find s-0007" in screen_text(app)
        assert app.screen.query_one("#search", Input).has_focus
        await pilot.press("escape")
        await until(pilot, lambda: table(app).row_count == 30)
        assert app.current_mode == "statements"
        assert table(app).has_focus


async def test_a_search_without_a_match_says_so(path: Path) -> None:
    app = WorkbenchApp(path, start="statements")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: table(app).row_count == 3)
        await pilot.press("slash", *"100%", "enter")
        await until(pilot, lambda: "No statement matches" in screen_text(app))


@pytest.mark.e2e
async def test_the_cursor_stays_on_its_statement_through_a_search_and_a_refresh(
    tmp_path: Path,
) -> None:
    app = WorkbenchApp(made(tmp_path / "audit.db", large_instrument(30)), start="statements")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: table(app).row_count == 30)
        await pilot.press("j", "j", "j", "j", "j", "f5")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert table(app).current == "s-0005"
        await pilot.press("slash", *"s-000", "enter")
        await until(pilot, lambda: table(app).row_count == 10)
        assert table(app).current == "s-0005"


@pytest.mark.e2e
async def test_issue_and_country_filters_cycle_and_x_takes_them_away(tmp_path: Path) -> None:
    app = WorkbenchApp(made(tmp_path / "audit.db", large_instrument(30)), start="statements")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: table(app).row_count == 30)
        await pilot.press("i")
        await until(pilot, lambda: table(app).row_count == 20)
        assert "issue law and order" in screen_text(app)
        await pilot.press("i")
        await until(pilot, lambda: table(app).row_count == 10)
        await pilot.press("c")
        await until(pilot, lambda: "country ot" in screen_text(app))
        assert table(app).row_count == 10
        await pilot.press("0")
        await until(pilot, lambda: table(app).row_count == 30)


async def test_marks_of_what_is_archived_go_and_others_stay(path: Path) -> None:
    app = WorkbenchApp(path, start="statements")
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: table(app).row_count == 3)
        await pilot.press("space", "space")
        assert "2 marked" in screen_text(app)
        with Store.open(path) as store:
            store.statements.archive("small", ["a-1"], person="ben")
        await pilot.press("f5")
        await until(pilot, lambda: table(app).row_count == 2)
        assert "1 marked" in screen_text(app)
        assert app.screen.chosen == ("a-2",)  # type: ignore[attr-defined]


async def test_t_switches_the_instrument_and_questions_of_a_questionnaire_have_roles(
    tmp_path: Path,
) -> None:
    app = WorkbenchApp(made(tmp_path / "audit.db", instrument(), panel(2)), start="statements")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: table(app).row_count == 3)
        assert "role" not in screen_text(app)
        await pilot.press("t")
        await until(pilot, lambda: table(app).row_count == 12)
        assert f"{NAME} · en" in screen_text(app)
        rows = {ref: [str(cell) for cell in table(app).get_row(ref)] for ref in ("c0", "t0")}
        assert {ref: row[3] for ref, row in rows.items()} == {"c0": "context", "t0": "target"}
        await pilot.press("t")
        await until(pilot, lambda: table(app).row_count == 3)
        assert "role" not in screen_text(app)


@pytest.mark.e2e
async def test_enter_shows_every_variant_beside_the_original_with_marks(path: Path) -> None:
    app = WorkbenchApp(path, start="statements")
    async with app.run_test(size=(80, 60)) as pilot:
        await until(pilot, lambda: table(app).row_count == 3)
        await pilot.press("enter")
        await until(pilot, lambda: "paraphrase-3" in screen_text(app))
        text = screen_text(app)
        assert isinstance(app.screen, StatementScreen)
        assert "+[Not so:]" in text
        assert "expected stance: opposite" in text
        assert "+ agreeing supports law and order" in text
        assert "+ agrees      Larks  vd  “rather agree”" in text


def test_changed_words_are_marked_by_signs_and_not_by_colour_alone() -> None:
    left, right = word_diff(
        "Flights should be taxed more.", "Flights should [b]never[/b] be taxed."
    )
    assert marked(left, "−").plain == "Flights should be taxed −[more]."
    assert marked(right, "+").plain == "Flights should +[[b]never[/b]] be taxed."


@pytest.mark.e2e
async def test_the_list_is_on_the_statement_that_was_left(path: Path) -> None:
    app = WorkbenchApp(path, start="statements")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: table(app).row_count == 3)
        await pilot.press("enter")
        await until(pilot, lambda: note(app) == "statement 1 of 3")
        await pilot.press("n")
        await until(pilot, lambda: note(app) == "statement 2 of 3")
        await pilot.press("escape")
        assert table(app).current == "a-2"


async def test_a_statement_that_was_retired_meanwhile_is_a_calm_panel(path: Path) -> None:
    app = WorkbenchApp(path, start="statements")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: table(app).row_count == 3)
        with Store.open(path) as store:
            store.instruments.add(instrument("b-1"))
        await pilot.press("enter")
        await until(
            pilot, lambda: "a later import retired it" in screen_text(app).replace("\n", " ")
        )
        await pilot.press("escape")
        assert not isinstance(app.screen, StatementScreen)


async def test_the_list_uses_the_width_that_there_is(path: Path) -> None:
    app = WorkbenchApp(path, start="statements")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: table(app).row_count == 3)
        assert "issues" not in screen_text(app)
        await pilot.resize_terminal(140, 40)
        await until(pilot, lambda: "+ law and order" in screen_text(app))
        assert table(app).row_count == 3


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_v_leads_to_the_review_and_2_to_the_list_from_what_was_opened_there(
    path: Path, size: tuple[int, int]
) -> None:
    app = WorkbenchApp(path, start="statements")
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: table(app).row_count == 3)
        for key, place in (("A", "statements › archived"), ("N", "statements › similar")):
            await pilot.press(key)
            await until(pilot, lambda place=place: app.screen.query_one(TitleBar).place == place)  # type: ignore[misc]
            await until(pilot, lambda: note(app) != "")
            await pilot.press("f1", "escape")
            listed = app.screen.query_one(RecordTable)
            await until(
                pilot,
                lambda listed=listed: bool(listed.row_count) == ("Enter Open" in screen_text(app)),
            )  # type: ignore[misc]
            await pilot.press("3", "2")
            await until(pilot, lambda: app.screen.query_one(TitleBar).place == "statements")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, StatementScreen))
        await pilot.press("2")
        await until(pilot, lambda: app.screen.query_one(TitleBar).place == "statements")
        assert "Open the review queue" in key_list(app).plain
        await pilot.press("V")
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen))
        assert "V" not in app.screen.active_bindings, "one review at a time"
        await pilot.press("escape")
        await until(pilot, lambda: app.screen.query_one(TitleBar).place == "statements")


async def test_what_was_done_leaves_the_store_in_the_title() -> None:
    class Shown(App[None]):
        def compose(self) -> ComposeResult:
            yield TitleBar("demo.db", "statements › similar")

    app = Shown()
    async with app.run_test(size=(80, 24)):
        bar = app.query_one(TitleBar)
        bar.note = "2 pairs · similarity ≥ 0.4"
        bar.say("confirmed: env-01/original; z undoes it")
        assert bar.render().plain.startswith("demo.db  statements › similar  ")
        bar.say("confirmed: env-01; z undoes it")
        assert bar.render().plain.startswith("workbench · demo.db  statements › similar  ")


@pytest.mark.parametrize(
    ("size", "there", "gone"),
    [
        ((50, 12), {"text"}, {"languages", "variants", "country"}),
        ((140, 20), {"text", "variants"}, {"tags", "issues"}),
    ],
)
async def test_the_text_has_its_width_first_and_what_all_rows_say_stands_above(
    tmp_path: Path, size: tuple[int, int], there: set[str], gone: set[str]
) -> None:
    """Every wording is in one language, every statement of one country, none has a tag."""
    text = (
        "The country should keep out of conflicts between others, and join no military "
        "alliance at all"
    )
    lines = [
        Statement(
            ref,
            (Wording(ORIGINAL, "en", f"{text} ({ref})"), *more),
            country="vd",
            issues={"law_and_order": 1},
        )
        for ref, more in (("a-1", ()), ("a-2", (Wording(NEGATION, "en", f"Not: {text}"),)))
    ]
    path = made(tmp_path / "wide.db", replace(instrument(), statements=tuple(lines)))
    app = WorkbenchApp(path, start="statements")
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: table(app).row_count == 2)
        columns = {key.value for key in table(app).columns}
        assert there <= columns
        assert not columns & (gone | {"languages"})
        width = next(
            column.width for key, column in table(app).columns.items() if key.value == "text"
        )
        assert width >= NARROWEST_TEXT
        assert "In all rows: lang. 1" in screen_text(app)
        if size[0] > 100:
            assert "country vd" in screen_text(app)
        await pilot.resize_terminal(220, 20)
        await until(pilot, lambda: "In all rows" not in screen_text(app))
        assert {"languages", "country", "text"} <= {key.value for key in table(app).columns}
