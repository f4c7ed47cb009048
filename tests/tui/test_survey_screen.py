"""Answering: on disk before the next statement shows, never one nobody saw, undone as deep as one
likes, blind.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Input

from stores.core.store import Store
from tests.conftest import instrument
from tests.tui.conftest import HOSTILE, made, screen_text, until
from tests.tui.seats import Seat, at_screen
from workbench.annotation.survey import ALL, SurveyDesign
from workbench.domain.instruments import SurveyAnswer
from workbench.domain.statements import (
    NEGATION,
    ORIGINAL,
    Statement,
    VariantId,
    VariantKind,
    Wording,
)
from workbench.tui.annotation.survey import SurveyScreen
from workbench.tui.app import WorkbenchApp
from workbench.tui.kit.dialogs import TextScreen
from workbench.tui.kit.person_dialog import PersonDialog

NAME = "small"
pytestmark = pytest.mark.usefixtures("no_pause")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return made(tmp_path / "audit.db", replace(instrument(), survey=()))


@asynccontextmanager
async def seated(
    path: Path,
    name: str | None = "ana",
    *,
    design: SurveyDesign | None = None,
    instrument: str = NAME,
    size: tuple[int, int] = (80, 24),
    begin: bool = True,
) -> AsyncIterator[Seat]:
    async with at_screen(path, SurveyScreen(instrument, design, name), size=size) as seat:
        if begin:
            await seat.begin()
        yield seat


def given(path: Path) -> dict[tuple[str, str, str], bool]:
    with Store.open(path) as store:
        names = store.instruments.names()
        return {
            (a.respondent, a.statement, str(a.variant)): a.agrees
            for name in names
            for a in store.instruments.get(name).survey
        }


async def test_the_name_is_asked_and_said_what_is_asked_and_that_nothing_is_right(
    path: Path,
) -> None:
    async with seated(path, None, begin=False) as seat:
        await seat.until(lambda: isinstance(seat.app.screen, PersonDialog))
        assert "pseudonym" in seat.text
        await seat.pilot.press(*"heron", "enter")
        await seat.until(lambda: "Enter begins." in seat.text)
        text = seat.words
        assert "Welcome, heron. You will read 12 statements, one at a time." in text
        assert "there is no right answer" in text
        assert seat.note == "heron  0/12"
        await seat.pilot.press("a", "d", "s", "z")
        assert "Enter begins." in seat.text
        assert seat.app.annotator is None, "a pseudonym is not the name under which labels are kept"
        await seat.pilot.press("enter")
        await seat.until(lambda: seat.screen.ready)
        assert seat.item in seat.text
    assert given(path) == {}


@pytest.mark.e2e
async def test_nothing_on_the_screen_tells_variant_statement_or_anybodys_answer(
    tmp_path: Path,
) -> None:
    texts = {ORIGINAL: "Tea.", NEGATION: "Rain.", VariantId(VariantKind.PARAPHRASE, 1): "Soup."}
    statements = tuple(
        Statement(
            f"ref-{n}",
            tuple(Wording(v, "en", f"{text} {n}") for v, text in texts.items()),
            topic="topical",
        )
        for n in range(3)
    )
    others = tuple(SurveyAnswer("bobby", s.ref, v, True) for s in statements for v in texts)
    base = replace(instrument(), statements=statements, issue_labels=(), party_answers=())
    path = made(tmp_path / "a.db", replace(base, survey=others))
    async with seated(path, design=SurveyDesign(variants=(ALL,))) as seat:
        for _ in range(9):
            text = seat.text.lower()
            for word in (
                "ref-",
                "topical",
                "original",
                "negation",
                "paraphrase",
                "bobby",
                "κ",
                "100 %",
            ):
                assert word not in text
            await seat.press("a")
        assert "negation" in seat.text


@pytest.mark.e2e
async def test_undo_goes_back_step_by_step_and_says_what_was_taken_back(path: Path) -> None:
    async with seated(path) as seat:
        seen = []
        for key in ("a", "d", "s", "a"):
            seen.append(seat.item)
            await seat.press(key)
        for text, former in zip(seen[::-1], ("‹agree›", "", "‹disagree›", "‹agree›"), strict=True):
            await seat.press("z")
            assert seat.item == text
            assert [mark for mark in ("‹agree›", "‹disagree›") if mark in seat.text] == (
                [former] if former else []
            )
            assert "last: undone" in seat.text
        assert given(path) == {}
        await seat.pilot.press("z")
        await seat.until(lambda: "nothing to undo" in seat.text)
        await seat.press("d")
        assert seat.item == seen[1]
    assert list(given(path).values()) == [False]


@pytest.mark.e2e
async def test_leaving_and_coming_back_goes_on_where_one_was_and_undo_reaches_back(
    path: Path,
) -> None:
    async with seated(path) as seat:
        first = seat.item
        await seat.press("a")
        waiting = seat.item
        await seat.pilot.press("1", "2", "h")
        assert seat.app.screen is seat.screen
        await seat.pilot.press("q")
        await seat.until(lambda: seat.app.screen is not seat.screen)
    async with seated(path, begin=False) as seat:
        await seat.until(lambda: "Enter begins." in seat.text)
        assert "Welcome back, ana. You have answered 1 of 12" in seat.words
        await seat.begin()
        assert seat.item == waiting
        await seat.press("z")
        assert seat.item == first
        assert "‹agree›" in seat.text


@pytest.mark.e2e
async def test_who_has_something_left_is_offered_by_name_and_nobody_else(path: Path) -> None:
    async with seated(path, "zoe") as seat:
        await seat.press("a")
    async with seated(path, "yan") as seat:
        await seat.press(*["a"] * 12)
    async with seated(path, None, begin=False) as seat:
        await seat.until(lambda: isinstance(seat.app.screen, PersonDialog))
        assert "zoe" in seat.text
        assert "yan" not in seat.text
        await seat.pilot.press("down", "enter")
        await seat.until(lambda: "Welcome back, zoe" in seat.text)


async def test_escape_at_the_name_leaves_and_a_bad_name_is_told(path: Path) -> None:
    async with seated(path, None, begin=False) as seat:
        await seat.until(lambda: isinstance(seat.app.screen, PersonDialog))
        await seat.pilot.press("enter")
        await seat.until(lambda: "the respondent's name is empty" in seat.words)
        await seat.pilot.press("escape")
        await seat.until(lambda: not isinstance(seat.app.screen, PersonDialog | SurveyScreen))


@pytest.mark.e2e
async def test_the_end_shows_ones_own_consistency_and_the_key_to_go_on(path: Path) -> None:
    async with seated(path) as seat:
        while seat.screen._view is not None and seat.screen._view.item is not None:
            contrary = seat.item.startswith(("Not so", "Repeal"))
            first = "a-1" in seat.item
            await seat.press("d" if contrary != first else "a")
        text = seat.text
        assert "That was the last one. Thank you, ana." in text
        assert "You answered 12 of 12 statements." in text
        lines = [" ".join(line.split()) for line in text.splitlines() if "n 3" in line]
        assert [line.split(" [")[0].removesuffix(" n 3") for line in lines] == [
            "paraphrase 1.00",
            "negation -0.80",  # all three flip; κ is -1 only where as many agree as disagree
            "after flipping 1.00",
            "opposite -0.80",
            "after flipping 1.00",
        ]
        assert "Enter the next person" in text
        assert "further" not in text
        await seat.press("z")
        assert seat.note == "ana  11/12"
        await seat.press("a")
        await seat.pilot.press("enter")
        await seat.until(lambda: isinstance(seat.app.screen, PersonDialog))
        await seat.pilot.press(*"bob", "enter")
        await seat.until(lambda: "Welcome, bob" in seat.text)
        assert "ana" not in seat.text


@pytest.mark.e2e
async def test_skipped_twice_stays_unanswered_and_the_end_says_so(path: Path) -> None:
    async with seated(path) as seat:
        first = seat.item
        await seat.press("s", *["a"] * 11)
        assert seat.item == first
        await seat.press("s")
        assert "You left 1 unanswered." in seat.text
        await seat.press("z")
        assert seat.item == first


@pytest.mark.e2e
async def test_further_statements_are_a_key_away(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", replace(instrument(*(f"s-{n}" for n in range(4))), survey=()))
    async with seated(path, design=SurveyDesign(statements=2, variants=("negation",))) as seat:
        await seat.press(*["a"] * 4)
        assert "n continue with 4 more statements" in seat.text
        await seat.pilot.press("n")
        await seat.until(lambda: seat.note == "ana  0/4" and seat.screen.ready)
        await seat.press(*["d"] * 4)
        assert "further" not in seat.text
    assert len(given(path)) == 8


@pytest.mark.e2e
@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_hostile_statements_are_shown_literally_and_long_ones_scroll(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    texts = [text for text in HOSTILE if text] + ["e\u0301\u0301" * 50, "שלום [b]x", "word " * 1999]
    statements = tuple(
        Statement(f"h-{n}", (Wording(ORIGINAL, "en", text), Wording(NEGATION, "en", f"not {text}")))
        for n, text in enumerate(texts)
    )
    base = replace(instrument(), statements=statements, issue_labels=(), party_answers=())
    path = made(tmp_path / "a.db", replace(base, survey=()))
    async with seated(path, "[b]x[/]", size=size) as seat:
        seen = []
        for _ in range(2 * len(texts)):
            assert "\x1b" not in seat.text
            assert "agree" in seat.text
            assert "a Agree" in seat.text or "a agree" in seat.words
            seen.append(seat.words)
            await seat.press("d")
        together = " ".join(seen)
        for wanted in (
            "[@click=app.bell]x[/] closes",
            "␛[31mred␛[0m",
            "right \\u202e to left",
            "space shows more",
        ):
            assert wanted in together
        assert "Thank you, [b]x[/]." in seat.text
    assert len(given(path)) == 2 * len(texts)


@pytest.mark.e2e
async def test_a_name_that_is_taken_is_a_calm_panel_and_enter_asks_for_another(
    tmp_path: Path,
) -> None:
    path = made(tmp_path / "a.db", instrument())
    async with seated(path, "1", begin=False) as seat:
        await seat.until(lambda: seat.screen.trouble.shown)
        assert "came from a file" in seat.words
        await seat.pilot.press("a", "z", "enter")
        await seat.until(lambda: isinstance(seat.app.screen, PersonDialog))
        await seat.pilot.press(*"ana", "enter")
        await seat.until(lambda: "Welcome, ana" in seat.text)
        assert not seat.screen.trouble.shown


async def test_an_instrument_with_nothing_to_compare_says_so(tmp_path: Path) -> None:
    bare = tuple(replace(s, wordings=s.wordings[:1]) for s in instrument().statements)
    path = made(
        tmp_path / "a.db", replace(instrument(), statements=bare, survey=(), party_answers=())
    )
    async with seated(path, begin=False) as seat:
        await seat.until(lambda: "no statement with an original and a variant" in seat.words)


@pytest.mark.e2e
async def test_the_numbers_are_explained_and_the_keys_listed(path: Path) -> None:
    async with seated(path) as seat:
        await seat.pilot.press("question_mark")
        await seat.until(lambda: isinstance(seat.app.screen, TextScreen))
        assert "6.1)." in seat.text
        await seat.pilot.press("escape", "f1")
        await seat.until(lambda: "Label: disagree" in seat.text)


async def test_the_app_can_begin_with_a_survey_and_ends_with_it(path: Path) -> None:
    """Whoever answers a survey that was opened for them does not come upon the researcher's
    store.
    """
    app = WorkbenchApp(path, start="statements", survey=(NAME, SurveyDesign(statements=2), "ana"))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(
            pilot,
            lambda: isinstance(app.screen, SurveyScreen) and "8 statements" in screen_text(app),
        )
        await pilot.press("escape")
        await until(pilot, lambda: app.return_code == 0)


@pytest.mark.e2e
async def test_six_people_answer_through_the_screen_and_stand_beside_the_model(
    tmp_path: Path,
) -> None:
    """The issue's own case: a person's answers are the bound in the panel of the model's
    agreement.
    """
    from tests.tui.audit_runs import STATEMENTS, AuditScreen, audited, small
    from tests.tui.books import begin, by_parts, press, table

    path = audited(tmp_path / "audit.db", base=replace(small(), survey=()))
    for number in range(1, 7):
        async with seated(path, f"p{number}") as seat:
            while seat.screen._view is not None and seat.screen._view.item is not None:
                contrary = seat.item.startswith(("Not so", "Repeal"))
                leaning = any(ref in seat.item for ref in list(STATEMENTS)[:2])
                slip = random.Random(f"{number} {seat.item}").random() < 0.1
                await seat.press("a" if (contrary != leaning) != slip else "d")
    app = WorkbenchApp(path, start="audit")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot, AuditScreen)
        await press(app, pilot, "a")
        assert "people (6)" in screen_text(app)
        found = by_parts(app)
        bound = {name: row["bound"] for name, row in found.items()}
        assert "[" in bound[("paraphrase", "")]
        assert bound[("negation", "")].startswith(("-0.", "-1."))
        assert not bound[("negation", "flipped")].startswith("-")
        assert {"model", "coin", "bound"} <= set(found[("paraphrase", "")])
        assert " n 6 " in " ".join(screen_text(app).split())
        wide = sum(column.get_render_width(table(app)) for column in table(app).ordered_columns)
        assert wide <= 80, "all of it in sight on 80 columns"


async def test_the_person_dialog_of_the_survey_is_prefilled_with_nobody(path: Path) -> None:
    app = WorkbenchApp(path, annotator="ana")
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(SurveyScreen(NAME))
        await until(pilot, lambda: isinstance(app.screen, PersonDialog))
        assert app.screen.query_one(Input).value == ""
