"""The list of rulings on screen: whose, on what, why, what became of each; and nobody sees too
much.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.command import Hit
from textual.pilot import Pilot

from stores.core.store import Store
from tests.stores.test_review import odd
from tests.tui.audit_runs import audited
from tests.tui.conftest import flowing, screen_text, until
from tests.tui.test_review_screen import item_of, rule, sampled
from tests.tui.test_rulings_screen import press, queued, ruled_everywhere, settle, standing
from workbench.audits.chosen_run import find_run
from workbench.domain.rulings import RulingVerdict
from workbench.evidence import ruling_subjects as subjects
from workbench.evidence.listed_rulings import list_rulings
from workbench.sessions.review import run_key
from workbench.tui.annotation.adjudicate import AdjudicateScreen
from workbench.tui.annotation.annotate import AnnotateScreen
from workbench.tui.app import WorkbenchApp
from workbench.tui.commands import NameProvider
from workbench.tui.kit.dialogs import NoteDialog
from workbench.tui.results.answers import WholeAnswerScreen
from workbench.tui.review.item import ReviewItemScreen
from workbench.tui.review.review import ReviewScreen
from workbench.tui.rulings.dialog import RulingDialog
from workbench.tui.rulings.listed import RulingsScreen
from workbench.tui.rulings.ruling import RuledText
from workbench.tui.statements.statement import StatementScreen

SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40)])
SECRET = "the other one thinks so"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return audited(tmp_path / "audited.db", odd)


def an_answer(path: Path, ref: str = "tax-02/original") -> str:
    """Return the name of an answer to a wording."""
    with Store.open(path) as store:
        prompt = subjects.subjects_below(store, subjects.find_subject(store, ref))[0]
        return subjects.subjects_below(store, prompt)[0].name


async def opened(path: Path, pilot: Pilot[int], app: WorkbenchApp, *keys: str) -> RulingsScreen:
    await settle(app, pilot)
    await press(app, pilot, *keys)
    assert isinstance(app.screen, RulingsScreen)
    return app.screen


@pytest.mark.e2e
@SIZES
async def test_the_list_says_who_ruled_what_why_and_what_became_of_it(
    path: Path, size: tuple[int, int]
) -> None:
    rule(path, "tax-02", RulingVerdict.EXCLUDED, "eva", "first thought")
    rule(path, "tax-02", RulingVerdict.CONFIRMED, "eva", "second thought")
    rule(path, "tax-02", RulingVerdict.EXCLUDED, "otto", "it has no place here")
    rule(path, "mig-01/negation", RulingVerdict.WORDING_AT_FAULT, "eva", "says something else")
    with Store.open(path) as store:
        store.rulings.undo(store.rulings.newest("eva"), auditor="zora", reason="it says the same")  # type: ignore[arg-type]
    app = WorkbenchApp(path, start="audit")
    async with app.run_test(size=size) as pilot:
        screen = await opened(path, pilot, app, "L")
        rows = [
            (row.ruling.auditor, row.status, row.ruling.reason)
            for row in screen.view.sheet.table.rows
        ]  # type: ignore[union-attr]
        assert rows == [
            ("eva", "taken back", "says something else"),
            ("otto", "disputed", "it has no place here"),
            ("eva", "disputed", "second thought"),
            ("eva", "superseded", "first thought"),
        ]
        assert "taken back by zora" in flowing(app)
        assert "it says the same" in flowing(app)
        await press(app, pilot, "down")
        assert "contradicted by eva" in flowing(app)
        await press(app, pilot, "G")
        assert "superseded by eva" in flowing(app)
        await press(app, pilot, "slash", *"disputed", "enter")
        assert [row.status for row in (screen.view.row,)] == ["disputed"]
        assert "first thought" not in screen_text(app)
        await press(app, pilot, "escape", "a", "a")
        assert "otto" in screen_text(app)
        assert "eva:" not in flowing(app)
        assert "second thought" not in screen_text(app).split("contradicted")[0]


@pytest.mark.e2e
async def test_enter_opens_what_was_ruled_on_and_r_and_z_rule_on_it(path: Path) -> None:
    name = an_answer(path)
    for thing in ("tax-02", "tax-02/negation", name.partition("/=")[0], name):
        rule(path, thing, RulingVerdict.CONFIRMED, "eva", f"about {thing}")
    app = WorkbenchApp(path, start="audit", annotator="otto")
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(path, pilot, app, "L")
        for kind in (WholeAnswerScreen, RuledText, StatementScreen, StatementScreen):
            await press(app, pilot, "enter")
            assert isinstance(app.screen, kind)
            await press(app, pilot, "escape", "down")
            assert app.screen is screen
        await press(app, pilot, "g", "r", "x", "enter")
        assert [one.auditor for one in standing(path)].count("otto") == 1
        assert screen.view.sheet.table.rows[0].status == "disputed"  # type: ignore[union-attr]
        await press(app, pilot, "g", "z")
        assert [one.auditor for one in standing(path)].count("otto") == 0
        await press(app, pilot, "down", "v")
        assert "about tax-02" in flowing(app)


@pytest.mark.e2e
async def test_z_takes_back_the_selected_ruling_and_asks_why_where_it_is_anothers(
    path: Path,
) -> None:
    for name, who in (("tax-02", "eva"), ("mig-01", "otto"), ("env-03", "otto")):
        rule(path, name, RulingVerdict.CONFIRMED, who, f"about {name}")
    app = WorkbenchApp(path, start="audit", annotator="otto")
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(path, pilot, app, "L")
        await press(app, pilot, "g", "down", "z")
        assert [one.reason for one in standing(path)] == ["about tax-02", "about env-03"]
        await press(app, pilot, "G", "z")
        assert isinstance(app.screen, NoteDialog), "another auditor's ruling: why?"
        await press(app, pilot, *"odd", "enter")
        assert [one.reason for one in standing(path)] == ["about env-03"]


@pytest.mark.e2e
async def test_a_long_reason_is_shown_whole(path: Path) -> None:
    rule(path, "tax-02", RulingVerdict.EXCLUDED, "eva", f"{'word ' * 300}end")
    app = WorkbenchApp(path, start="audit")
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(path, pilot, app, "L")
        await press(app, pilot, "v", "end")
        await until(pilot, lambda: "word end" in flowing(app))


@pytest.mark.e2e
async def test_enter_on_an_auditor_of_the_review_lists_theirs(path: Path) -> None:
    rule(path, "tax-02", RulingVerdict.LOOK_AGAIN, "eva")
    rule(path, "mig-01", RulingVerdict.EXCLUDED, "otto", "mine")
    app = WorkbenchApp(path, start="audit", annotator="otto")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot)
        await press(app, pilot, "V", "tab")
        assert isinstance(app.screen, ReviewScreen)
        assert "r Rule" not in screen_text(app), "an auditor is nothing to rule on"
        await press(app, pilot, "enter")
        assert isinstance(app.screen, RulingsScreen)
        assert [row.ruling.auditor for row in app.screen.view.sheet.table.rows] == ["eva"]  # type: ignore[union-attr]
        await press(app, pilot, "escape", "shift+tab", "enter")
        assert isinstance(app.screen, ReviewItemScreen)
        await press(app, pilot, "L")
        assert isinstance(app.screen, RulingsScreen)


@pytest.mark.e2e
async def test_a_blind_review_lists_others_rulings_only_on_what_one_has_decided(path: Path) -> None:
    for name in ("tax-02", "tax-02/negation", an_answer(path)):
        rule(path, name, RulingVerdict.EXCLUDED, "eva")
    app = WorkbenchApp(path, start="audit", annotator="otto")
    async with app.run_test(size=(100, 40)) as pilot:
        await settle(app, pilot)
        await press(app, pilot, "V", "L")
        assert SECRET in flowing(app)
        await press(app, pilot, "escape", "b", "L")
        seen = [flowing(app)]
        assert "3 rulings of others hidden" in seen[0]
        assert "None that you may see yet." in seen[0]
        assert "Nobody has ruled" not in seen[0]
        for key in ("enter", "r", "tab", "enter", "v", "a"):
            await press(app, pilot, key)
            seen.append(flowing(app))
        for text in seen:
            assert "eva" not in text
            assert SECRET not in text
            assert "smol" not in text
        rule(path, "tax-02", RulingVerdict.LOOK_AGAIN, "otto", "not decided")
        await press(app, pilot, "f5")
        assert "disputed" not in flowing(app)
        rule(path, "tax-02", RulingVerdict.CONFIRMED, "otto", "as it is")
        await press(app, pilot, "f5")
        assert isinstance(app.screen, RulingsScreen)
        rows = app.screen.view.sheet.table.rows  # type: ignore[union-attr]
        assert [row.ruling.auditor for row in rows].count("eva") == 3
        assert "hidden" not in flowing(app)


@pytest.mark.e2e
async def test_rulings_on_drawn_answers_are_kept_back_until_ones_own(path: Path) -> None:
    sampled(path)
    with Store.open(path) as store:
        (sample,) = store.control_samples.every()
        first, second = (subjects.short_answer(one.prompt, one.text) for one in sample.items[:2])
    rule(path, first, RulingVerdict.CONFIRMED, "eva")
    rule(path, second, RulingVerdict.CONFIRMED, "eva", "on the second")
    app = WorkbenchApp(path, start="audit", annotator="otto")
    async with app.run_test(size=(100, 40)) as pilot:
        await settle(app, pilot)
        await press(app, pilot, "V", "L")
        assert "2 rulings of others hidden" in flowing(app)
        assert SECRET not in flowing(app)
        rule(path, first, RulingVerdict.CONFIRMED, "otto", "mine")
        await press(app, pilot, "f5", "end")
        assert SECRET in flowing(app)
        assert "on the second" not in flowing(app)
        assert "1 ruling of others hidden" in flowing(app)


@pytest.mark.e2e
async def test_only_the_control_sample_of_the_run_under_review_keeps_rulings_back(
    path: Path,
) -> None:
    sampled(path)
    with Store.open(path) as store:
        (sample,) = store.control_samples.every()
        smol, first = find_run(store, "reliability"), sample.items[0]
    rule(path, subjects.short_answer(first.prompt, first.text), RulingVerdict.CONFIRMED, "eva")
    audited(path, odd, model="other")
    with Store.open(path) as store:
        other = find_run(store, "reliability", "other")
    app = WorkbenchApp(path, start="home", annotator="otto")
    async with app.run_test(size=(100, 40)) as pilot:
        await settle(app, pilot)
        for run, hidden in ((other, False), (smol, True)):
            await app.push_screen(ReviewScreen(run_key(run)))
            await settle(app, pilot)
            await press(app, pilot, "L")
            assert isinstance(app.screen, RulingsScreen)
            assert ("1 ruling of others hidden" in flowing(app)) is hidden
            assert (SECRET in flowing(app)) is not hidden
            await press(app, pilot, "escape", "escape")


async def names(app: WorkbenchApp) -> list[str]:
    """Return what the palette finds for `rulings`."""
    provider = NameProvider(app.screen)
    await provider.startup()
    return [
        str(hit.text)
        async for hit in provider.search("rulings of auditors")
        if isinstance(hit, Hit)
    ]


@pytest.mark.e2e
@pytest.mark.parametrize("work", ["label", "decide"])
async def test_the_palette_finds_the_list_save_where_people_label_and_decide(
    tmp_path: Path, work: str
) -> None:
    path = queued(tmp_path / "free.db")
    ruled_everywhere(path)
    app = WorkbenchApp(path, annotator="ben")
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(app, pilot)
        assert await names(app) == ["rulings of auditors"]
        await app.push_screen(
            AnnotateScreen("round", "ben") if work == "label" else AdjudicateScreen("round")
        )
        await settle(app, pilot)
        assert await names(app) == []
        await press(app, pilot, "L")
        assert not isinstance(app.screen, RulingsScreen | RulingDialog)


@pytest.mark.e2e
async def test_every_reason_of_an_item_is_readable(path: Path) -> None:
    with Store.open(path) as store:
        thing = subjects.find_subject(store, "tax-02")
        store.rulings.rule(
            thing.subject, RulingVerdict.LOOK_AGAIN, auditor="eva", reason="word " * 120 + "end"
        )
    app = WorkbenchApp(path, start="audit", annotator="otto")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot)
        await press(app, pilot, "V", "N")
        score = item_of(app).score
        assert "w says what was found" in flowing(app)
        await press(app, pilot, "w")
        assert "look again 100" in flowing(app)
        await press(app, pilot, "end")
        await until(pilot, lambda: f"= {score}" in flowing(app))


@pytest.mark.e2e
async def test_the_key_of_a_blind_review_says_what_it_does_now(path: Path) -> None:
    app = WorkbenchApp(path, start="audit", annotator="otto")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot)
        for keys in (("V",), ("N",)):
            await press(app, pilot, *keys)
            await until(pilot, lambda: "b Hide model" in screen_text(app))
            assert "model hidden" not in screen_text(app)
            await press(app, pilot, "b")
            await until(pilot, lambda: "b Show model" in screen_text(app))
            assert "model hidden" in screen_text(app)
            await press(app, pilot, "b")


def test_a_ruling_is_listed_with_its_statement_and_words(path: Path) -> None:
    rule(path, an_answer(path), RulingVerdict.CONFIRMED, "eva")
    with Store.open(path) as store:
        (row,) = list_rulings(store, with_texts=True)
    assert (row.instrument, row.ref) == ("small", "tax-02")
    assert row.text
    assert (row.status, row.ended_by, row.contradicted_by) == ("stands", None, ())
