"""The review queue on screen: a flag, four keys, a ruling; one item after another; and nobody sees
too much.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList

from stores.core.contents import forget
from stores.core.store import Store
from tests.stores.test_review import odd
from tests.tui.audit_runs import STATEMENTS, audited
from tests.tui.bias_stores import full
from tests.tui.conftest import flowing, judged_by, screen_text, shown, status, until
from tests.tui.test_rulings_screen import press, settle, standing
from workbench.audits.chosen_run import find_run
from workbench.audits.reliability import verdicts
from workbench.domain.keys import SEED
from workbench.domain.readings import USUAL
from workbench.domain.rulings import Ruled, RulingVerdict, Subject
from workbench.evidence import ruling_subjects as subjects
from workbench.evidence.listed_rulings import run_key
from workbench.pipeline import review as of_progress
from workbench.pipeline import review as of_review
from workbench.pipeline import review_tables as of_tables
from workbench.pipeline.review import draw_control_sample, review
from workbench.pipeline.todo import tasks
from workbench.tui.app import WorkbenchApp
from workbench.tui.commands import read_names
from workbench.tui.home.home import HomeScreen
from workbench.tui.kit import key_gate
from workbench.tui.kit.dialogs import NumberDialog
from workbench.tui.kit.person_dialog import PersonDialog
from workbench.tui.results.answers import WholeAnswerScreen
from workbench.tui.review.item import ItemPage, ReviewItemScreen
from workbench.tui.review.review import ReviewScreen
from workbench.tui.rulings.dialog import RulingDialog
from workbench.tui.widgets import frame
from workbench.tui.widgets.frame import TitleBar

SECRET = "the other one thinks so"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return audited(tmp_path / "audited.db", odd)


def sampled(path: Path, n: int = 24) -> Path:
    with Store.open(path) as store:
        draw_control_sample(store, review(store, find_run(store, "reliability"), USUAL), n, seed=3)
    return path


def rule(
    path: Path,
    name: str,
    verdict: RulingVerdict,
    auditor: str,
    reason: str = SECRET,
    reading: str | None = None,
) -> None:
    with Store.open(path) as store:
        thing = subjects.find_subject(store, name)
        subjects.add_ruling(store, thing, verdict, auditor=auditor, reason=reason, reading=reading)


def opened(path: Path, start: str = "audit", auditor: str | None = "otto") -> WorkbenchApp:
    return WorkbenchApp(path, start=start, annotator=auditor)


def item_of(app: WorkbenchApp) -> Any:
    assert isinstance(app.screen, ReviewItemScreen)
    return app.screen._item


def told(app: WorkbenchApp) -> str:
    """Return what the screen in sight says of what was done a moment ago."""
    bar = app.screen.query_one(TitleBar)
    return bar.said.plain if bar.said is not None else ""


async def queue(app: WorkbenchApp, pilot: Pilot[int]) -> ReviewScreen:
    await settle(app, pilot)
    await press(app, pilot, "V")
    assert isinstance(app.screen, ReviewScreen)
    return app.screen


@pytest.mark.e2e
async def test_four_keys_lead_from_the_to_do_list_of_home_to_a_ruling(path: Path) -> None:
    app = opened(path, start="home")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "for an auditor" in screen_text(app))
        facts = app.screen.query_one(OptionList)
        facts.highlighted = facts.get_option_index("todo:review reliability")
        keys = ("enter", "r", "x", "enter")
        await press(app, pilot, *keys)
        (ruling,) = standing(path)
        assert len(keys) == 4
        assert (ruling.subject.named["statement"], ruling.verdict) == (
            "soc-07",
            RulingVerdict.EXCLUDED,
        )
        assert "by you" in screen_text(app)
        await press(app, pilot, "escape")
        await until(
            pilot, lambda: "at least 2 items for an auditor: smol (reliability) → V" in flowing(app)
        )


@pytest.mark.e2e
@pytest.mark.parametrize("key", ["h", "1", "q"])
async def test_the_keys_for_home_lead_there_from_the_queue_that_home_opened(
    path: Path, key: str
) -> None:
    app = opened(path, start="home")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "for an auditor" in screen_text(app))
        facts = app.screen.query_one(OptionList)
        facts.highlighted = facts.get_option_index("todo:review reliability")
        await press(app, pilot, "enter", key)
        assert isinstance(app.screen, HomeScreen)
        assert app.is_running


@pytest.mark.e2e
@pytest.mark.parametrize("key", ["h", "1", "q"])
async def test_home_is_home_also_from_another_screen_while_the_queue_lies_over_it(
    path: Path, key: str
) -> None:
    app = opened(path, start="home")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot)
        await press(app, pilot, "V")
        assert isinstance(app.screen, ReviewScreen)
        await press(app, pilot, "4", key)
        assert isinstance(app.screen, HomeScreen)
        await press(app, pilot, "V")
        assert isinstance(app.screen, ReviewScreen)


@pytest.mark.e2e
async def test_what_waits_next_is_given_to_somebody_by_name(path: Path) -> None:
    app = opened(path, auditor=None)
    async with app.run_test(size=(80, 24)) as pilot:
        await queue(app, pilot)
        await press(app, pilot, "N")
        assert isinstance(app.screen, PersonDialog)
        with Store.open(path) as store:
            run = store.runs.list()[-1]
            store.review_leases.take(run_key(store, run), ["tax-02"], "ben")
        await press(app, pilot, *"ana", "enter")
        assert item_of(app).ref != "tax-02"


@pytest.mark.e2e
async def test_the_list_says_why_each_item_is_there_and_four_keys_rule_on_its_answers(
    path: Path,
) -> None:
    app = opened(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await queue(app, pilot)
        text = flowing(app)
        assert "one wording only, lint or check" in text
        assert "verdict at stake 40 (over all tests)" in text, (
            "what was found stands in the details of the row alone"
        )
        assert "otto has reviewed 0 of 4 statements" in text
        assert (
            "statements reviewed by auditors: 0 of 1 that pass, 0 of 3 that do not pass"
            in judged_by(app)
        )
        assert "no control sample: d draws one" in text
        await press(app, pilot, "enter", "r", "m", "2", "enter")
        (ruling,) = standing(path)
        assert ruling.subject.kind is Ruled.ANSWER
        ref = item_of(app).ref
        text = flowing(app)
        assert re.search(r"1 of 4 · 1 of \d+ ruled", text), (
            "one answer decides nothing about the statement"
        )
        assert "C closes the item" in text
        assert "ruled by otto: misread (disagree)" in text
        rows = [line for line in screen_text(app).splitlines() if "×" in line]
        assert sum("misread (disag" in row for row in rows) == 1, (
            "a row says what was ruled on its answer"
        )
        await press(app, pilot, "C")
        assert "1 of 4 · reviewed · by you" in flowing(app)
        assert "C Close" not in screen_text(app)
        await press(app, pilot, "N", "N", "N", "N")
        assert item_of(app).ref != ref, "N passes over what is decided"


@pytest.mark.e2e
async def test_z_in_the_list_takes_back_what_was_ruled_there(path: Path) -> None:
    app = opened(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await queue(app, pilot)
        await press(app, pilot, "r", "c", "enter", "down", "r", "c", "enter", "r", "x", "enter")
        assert "excluded · by" in screen_text(app)
        await press(app, pilot, "z")
        assert "your earlier confirmed stands again" in " ".join(told(app).split())
        await press(app, pilot, "up", "z")
        (left,) = standing(path)
        assert f"undone: confirmed on {left.subject.named['statement']}" not in told(app), (
            "the one in sight"
        )
        assert "z Undo" not in screen_text(app)
        await press(app, pilot, "down", "z")
        assert standing(path) == []
        assert "by you" not in screen_text(app)


@pytest.mark.e2e
async def test_z_takes_back_what_was_ruled_at_an_earlier_visit(path: Path) -> None:
    app = opened(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await queue(app, pilot)
        await press(app, pilot, "r", "c", "enter", "escape", "V")
        await until(pilot, lambda: "by you" in screen_text(app))
        assert len(standing(path)) == 1
        await press(app, pilot, "z")
        assert standing(path) == []
        assert "z Undo" not in screen_text(app)


@pytest.mark.e2e
async def test_what_can_be_ruled_stays_in_sight_however_much_was_ruled_before(path: Path) -> None:
    for auditor in ("ada", "bob", "cleo", "dora"):
        rule(
            path,
            "tax-02",
            RulingVerdict.LOOK_AGAIN,
            auditor,
            reason="somebody else should read these answers, too " * 3,
        )
    app = opened(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await queue(app, pilot)
        await press(app, pilot, "enter", "r")
        assert "c confirmed" in screen_text(app)
        await press(app, pilot, "m", "2")
        assert "3 unreadable" in screen_text(app)
        assert "it says disagree" in screen_text(app)


@pytest.mark.e2e
async def test_answers_that_a_reason_is_about_stand_first(path: Path) -> None:
    app = opened(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await queue(app, pilot)
        await press(app, pilot, "N", "N", "N")
        assert item_of(app).ref == "env-03"
        assert "‼    1× + agree" in screen_text(app) or "‼    1× − disagree" in screen_text(app)
        assert "It is not at all beneficial." in flowing(app)
        await press(app, pilot, "p")
        assert "Prompt: env-03 · opposite · personal-1 printed" in flowing(app)


@pytest.mark.e2e
async def test_the_queue_opens_from_below_the_results_too(path: Path) -> None:
    app = opened(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot)
        await press(app, pilot, "down", "enter", "V")
        assert isinstance(app.screen, ReviewScreen)
        await press(app, pilot, "escape", "V")
        assert isinstance(app.screen, ReviewScreen)


@pytest.mark.e2e
async def test_n_goes_on_from_drawn_answers_and_statements_alike_and_z_leads_back(
    path: Path,
) -> None:
    app = opened(sampled(path))
    async with app.run_test(size=(80, 24)) as pilot:
        await queue(app, pilot)
        await press(app, pilot, "enter")
        first = item_of(app)
        await press(app, pilot, "r", "m", "2", "enter")
        assert item_of(app) == first, "what was ruled stays in sight"
        assert "misread (disagree): “" in flowing(app)
        assert "N goes to the next pending item, z undoes the ruling" in flowing(app)
        await press(app, pilot, "N")
        second = item_of(app)
        assert second != first
        await press(app, pilot, "C")
        assert item_of(app) == second, "of a statement more may have to be ruled on"
        assert "by you" in screen_text(app)
        await press(app, pilot, "z")
        assert item_of(app).ref == second.ref
        await press(app, pilot, "z")
        assert item_of(app) == first
        assert standing(path) == []
        assert "undone: misread" in flowing(app)
        assert "z Undo" not in screen_text(app)


@pytest.mark.e2e
async def test_no_key_rules_on_an_item_before_it_is_on_the_screen(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_read, fetch = Event(), ReviewItemScreen.fetch

    def late(screen: ReviewItemScreen, store: Store, kind: str, offset: int) -> ItemPage:
        may_read.wait(120)
        return fetch(screen, store, kind, offset)

    may_read.set()
    monkeypatch.setattr(ReviewItemScreen, "fetch", late)
    # The keys are typed in one go, and what the screen says stays, however slow the machine.
    monkeypatch.setattr(key_gate, "LULL_S", 600.0)
    monkeypatch.setattr(frame, "SAID_S", 600.0)
    app = opened(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await queue(app, pilot)
        await press(app, pilot, "enter")
        first = item_of(app)
        may_read.clear()
        await pilot.press("N", "r", "x", "enter")
        assert isinstance(app.screen, ReviewItemScreen)
        assert item_of(app) == first
        assert first.ref in screen_text(app)
        may_read.set()
        dropped = "3 keys dropped: typed before this was on the screen"
        await until(pilot, lambda: dropped in status(app))
        await settle(app, pilot)
        second = item_of(app)
        assert second != first
        assert standing(path) == []
        monkeypatch.setattr(key_gate, "LULL_S", 0.0)
        await press(app, pilot, "r", "x", "enter")
        (ruling,) = standing(path)
        assert item_of(app) == second
        assert isinstance(app.screen, ReviewItemScreen)
        assert app.screen.current is not None
        assert ruling.subject.named["prompt"] == app.screen.current.prompt.hex()


@pytest.mark.e2e
async def test_items_keep_their_places_while_one_stays_among_them(path: Path) -> None:
    rule(path, "soc-07", RulingVerdict.CONFIRMED, "eva")
    rule(path, "soc-07", RulingVerdict.EXCLUDED, "ina")
    app = opened(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await queue(app, pilot)
        await press(app, pilot, "enter")
        assert isinstance(app.screen, ReviewItemScreen)
        names = [of_progress.item_name(one) for one in app.screen._progress.items]
        assert item_of(app).ref == names[0] == "soc-07"
        rule(path, "soc-07", RulingVerdict.CONFIRMED, "ina")
        await press(app, pilot, "r", "c", "enter")
        assert "1 of " in screen_text(app)
        assert not any(one.reason == "disputed" for one in item_of(app).signals), (
            "its score is another now"
        )
        kept = [of_progress.item_name(one) for one in app.screen._progress.items]
        assert kept == names


@pytest.mark.e2e
async def test_a_statement_that_was_decided_stays_so_when_its_answer_is_drawn_later(
    path: Path,
) -> None:
    app = opened(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await queue(app, pilot)
        await press(app, pilot, "enter", "C")
        decided = item_of(app)
        with Store.open(path) as store:
            answers = sum(run.responses for run in store.runs.list())
        sampled(path, answers)
        await press(app, pilot, "escape")
        with Store.open(path) as store:
            of = review(store, find_run(store, "reliability"), USUAL)
        assert of.deciders(decided.ref) == ("otto",)
        other = next(one for one in of.queue if one.ref != decided.ref)
        assert of.deciders(other.ref) == ()


@pytest.mark.e2e
async def test_a_ruling_on_a_drawn_answer_says_that_its_statement_stays_open(path: Path) -> None:
    with Store.open(path) as store:
        answers = sum(run.responses for run in store.runs.list())
    sampled(path, answers)
    app = opened(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await queue(app, pilot)
        await press(app, pilot, "enter", "r", "c", "enter")
        assert "z undoes the ruling" in flowing(app), "the drawn answer is decided"
        await press(app, pilot, "right_square_bracket", "r", "c", "enter")
        assert "ruled by you; C closes the item" in flowing(app)
        await press(app, pilot, "r", "tab", "tab", "tab", "tab", "tab", "c", "enter")
        assert "N goes to the next pending item, z undoes the ruling" in flowing(app)


@pytest.mark.e2e
async def test_an_item_knows_what_was_taken_back_in_the_list_of_rulings(path: Path) -> None:
    app = opened(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await queue(app, pilot)
        await press(app, pilot, "enter", "r", "c", "enter")
        assert re.search(r"1 of \d+ ruled", flowing(app))
        await press(app, pilot, "L", "z", "escape")
        assert isinstance(app.screen, ReviewItemScreen)
        assert standing(path) == []
        await until(pilot, lambda: re.search(r"1 of 4 · open", flowing(app)) is not None)
        assert "ruled by you" not in flowing(app)
        assert "ruled by otto" not in flowing(app)


@pytest.mark.e2e
async def test_c_stores_how_many_answers_are_ruled_on_by_then(path: Path) -> None:
    app = opened(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await queue(app, pilot)
        await press(app, pilot, "enter", "r", "c", "enter")
        with Store.open(path) as store:
            (ruling,) = (one for of in store.rulings.standing().values() for one in of)
            store.rulings.undo(ruling, auditor="otto")
        await press(app, pilot, "C")
        assert [one.reason for one in standing(path)] == ["nothing to rule on"]


@pytest.mark.e2e
async def test_who_decides_blind_says_what_a_drawn_answer_says_without_seeing_how_it_was_read(
    path: Path,
) -> None:
    app = opened(sampled(path))
    async with app.run_test(size=(80, 24)) as pilot:
        await queue(app, pilot)
        await press(app, pilot, "b", "N")
        read = item_of(app).label or "unreadable"
        assert "· hidden" in screen_text(app)
        await press(app, pilot, "r")
        dialog = app.screen
        assert isinstance(dialog, RulingDialog)
        assert "label-words" not in flowing(app)
        assert "c confirmed" not in flowing(app)
        await press(app, pilot, "m", str(1 + dialog._labels.index(read)), "enter")
        (ruling,) = standing(path)
        assert (ruling.verdict, ruling.label) == (RulingVerdict.CONFIRMED, None)
        assert "· hidden" not in screen_text(app)


@pytest.mark.e2e
async def test_a_misreading_asks_for_the_right_reading_before_enter_is_promised(path: Path) -> None:
    app = opened(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await queue(app, pilot)
        await press(app, pilot, "enter", "r", "m")
        assert "numbers choose the right reading" in flowing(app)
        assert "Enter rule as otto" not in flowing(app)
        (wrong,) = app.screen._thing.read[1:]  # type: ignore[attr-defined]
        labels = app.screen._labels  # type: ignore[attr-defined]
        await press(app, pilot, str(1 + labels.index(wrong)))
        assert f"already reads it as {wrong}" in flowing(app)
        assert "Enter rule as otto" not in flowing(app)
        await press(
            app, pilot, str(1 + next(n for n, label in enumerate(labels) if label != wrong))
        )
        assert "Enter rule as otto" in flowing(app)


@pytest.mark.e2e
async def test_brackets_go_through_the_whole_queue_and_n_to_what_waits(path: Path) -> None:
    rule(path, "env-03", RulingVerdict.CONFIRMED, "otto")
    app = opened(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await queue(app, pilot)
        await press(app, pilot, "enter")
        refs = [item_of(app).ref]
        for _ in range(3):
            await press(app, pilot, "right_square_bracket")
            refs.append(item_of(app).ref)
        assert len({*refs}) == 4
        await press(app, pilot, "right_square_bracket")
        assert item_of(app).ref == refs[0], "around the end"
        await press(app, pilot, "left_square_bracket")
        assert item_of(app).ref == refs[-1]
        for _ in range(3):
            await press(app, pilot, "N")
            assert item_of(app).ref != "env-03", "the decided one is passed over"
            await press(app, pilot, "C")
        await press(app, pilot, "N")
        assert "Nothing is pending" in screen_text(app)


@pytest.mark.e2e
async def test_a_blind_review_shows_neither_model_nor_others_before_ones_own_ruling(
    path: Path,
) -> None:
    for name in ("tax-02", "tax-02/negation", "tax-02/negation/personal-1"):
        rule(path, name, RulingVerdict.EXCLUDED, "eva")
    rule(path, "mig-01", RulingVerdict.LOOK_AGAIN, "eva")
    app = opened(path)
    async with app.run_test(size=(100, 40)) as pilot:
        screen = await queue(app, pilot)
        assert SECRET in flowing(app)
        await press(app, pilot, "b")
        seen = [flowing(app)]
        for key in ("down", "enter", "down", "r", "tab", "tab", "escape", "enter"):
            await press(app, pilot, key)
            seen.append(flowing(app))
        assert isinstance(app.screen, WholeAnswerScreen)
        await press(app, pilot, "escape", "f1")
        seen.append(flowing(app))
        for text in seen:
            assert "smol" not in text
            assert "eva" not in text
            assert SECRET not in text
        assert "another opinion wanted 1000" in seen[0]
        assert not app.screen_stack[1].check_action("runs", ()), (
            "the list of runs would name the model"
        )
        await press(app, pilot, "escape")
        places = [one.ref for one in screen._judged.of.queue]  # type: ignore[union-attr]
        for _ in range(places.index("tax-02") - places.index(item_of(app).ref)):
            await press(app, pilot, "right_square_bracket")
        assert item_of(app).ref == "tax-02"
        kept_back = "You see others' rulings after you decide; “look again” is not a decision."
        assert kept_back in flowing(app)
        await press(app, pilot, "r", "l", "enter")
        assert kept_back in flowing(app)
        await press(app, pilot, "r", "c", "enter")
        assert kept_back in flowing(app), "an answer decides nothing about its statement"
        await press(app, pilot, "C")
        assert kept_back not in flowing(app)
        assert "ruled by eva: excluded" in flowing(app)
        assert "smol" not in flowing(app)
        await press(app, pilot, "b")
        assert "smol" in flowing(app)


@pytest.mark.e2e
async def test_a_review_that_was_left_blind_is_blind_on_every_way_in_until_models_are_shown_again(
    path: Path,
) -> None:
    app = opened(path)
    async with app.run_test(size=(100, 40)) as pilot:
        await queue(app, pilot)
        await press(app, pilot, "b", "W")
        assert isinstance(app.screen, ReviewScreen)
        assert "Reports and data name the models" in told(app)
        await press(app, pilot, "escape")
        assert "smol" in flowing(app), "the page of an audit is opened on purpose"
        await press(app, pilot, "V")
        assert "smol" not in flowing(app)
    app = opened(path, start="home")
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: "for an auditor" in screen_text(app))
        assert "for an auditor (reliability) → V" in flowing(app)
        assert not any("smol" in one.name for one in read_names(path) if one.route[0] == "review")
        await press(app, pilot, "V")
        assert isinstance(app.screen, ReviewScreen)
        assert "smol" not in flowing(app)
        await press(app, pilot, "enter")
        assert "smol" not in flowing(app)
        await press(app, pilot, "4")
        assert "your review stays blind" in told(app)
        await press(app, pilot, "1", "V", "b")
        assert "smol" in flowing(app)
    app = opened(path, start="home")
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: "for an auditor: smol (reliability)" in flowing(app))


@pytest.mark.e2e
async def test_what_others_ruled_on_a_drawn_answer_is_kept_back_also_where_the_model_is_shown(
    path: Path,
) -> None:
    sampled(path)
    with Store.open(path) as store:
        of = review(store, find_run(store, "reliability"), USUAL)
        for sample in store.control_samples.of_run(run_key(store, of.run), of.card):  # type: ignore[arg-type]
            for one in sample.items:
                subject = Subject(
                    Ruled.ANSWER, {"prompt": one.prompt.hex(), "text": one.text.hex()}
                )
                store.rulings.rule(subject, RulingVerdict.CONFIRMED, auditor="eva", reason=SECRET)
    app = opened(path)
    async with app.run_test(size=(100, 40)) as pilot:
        await queue(app, pilot)
        for key in ("down", "up", "r", "escape", "enter", "r", "tab", "escape"):
            await press(app, pilot, key)
            assert SECRET not in flowing(app)
        assert "smol" in flowing(app)
        for key in ("N", "down", "r", "escape"):  # a statement, of whose answers some were drawn
            await press(app, pilot, key)
            assert SECRET not in flowing(app)
        await press(app, pilot, "escape", "home", "enter", "r", "c", "enter")
        assert f"ruled by eva: confirmed – {SECRET}" in flowing(app)


@pytest.mark.e2e
async def test_how_often_the_reader_errs_is_withheld_until_ones_own_decisions(path: Path) -> None:
    with Store.open(path) as store:
        items = draw_control_sample(
            store, review(store, find_run(store, "reliability"), USUAL), 4, seed=3, drawn_by="eva"
        ).sample.items

        def decide(auditor: str) -> None:
            for one in items:
                subject = Subject(
                    Ruled.ANSWER, {"prompt": one.prompt.hex(), "text": one.text.hex()}
                )
                store.rulings.rule(subject, RulingVerdict.CONFIRMED, auditor=auditor, reason=SECRET)

        decide("eva")
    app = opened(path)
    async with app.run_test(size=(100, 40)) as pilot:
        await queue(app, pilot)
        for key in ("down", "b", "tab", "b", "shift+tab"):
            text = flowing(app)
            assert f"hown once you have decided the {len(items)} control items left to you" in text
            assert "0.0 %" not in text
            assert "by eva" not in text
            assert "by others" not in text
            await press(app, pilot, key)
        with Store.open(path) as store:
            decide("otto")
        await press(app, pilot, "f5")
        assert "misread 0.0 % (4 decided, too few for an interval: 4 of 20 answers)" in flowing(app)


@pytest.mark.e2e
async def test_who_has_no_name_yet_is_told_how_often_the_reader_errs_by_its_table_alone(
    path: Path,
) -> None:
    sampled(path, 4)
    app = opened(path, auditor=None)
    async with app.run_test(size=(100, 40)) as pilot:
        await queue(app, pilot)
        assert "misread: Tab shows how often the reader errs" in flowing(app)
        await press(app, pilot, "tab")
        assert "all answers" in flowing(app)


@pytest.mark.e2e
async def test_a_control_sample_is_drawn_from_the_screen_and_its_seed_is_kept(path: Path) -> None:
    app = opened(path)
    async with app.run_test(size=(100, 30)) as pilot:
        await queue(app, pilot)
        await press(app, pilot, "d")
        assert isinstance(app.screen, NumberDialog)
        assert f"seed {SEED}" in flowing(app)
        await press(app, pilot, "backspace", "backspace", "2", "0", "enter")
        assert "drawn at random: “" in flowing(app)
        assert "@" not in screen_text(app), "no key in the place of words"
        await press(app, pilot, "g")
        assert "Drawn from the answers to statements that" in flowing(app)
        assert "it has no score" in flowing(app)
        assert "sum of the points" not in flowing(app), "a sentence about another kind of row"
        with Store.open(path) as store:
            of = review(store, find_run(store, "reliability"), USUAL)
            (sample,) = store.control_samples.of_run(run_key(store, of.run), of.card)  # type: ignore[arg-type]
        assert (sample.seed, sample.drawn_by) == (SEED, "otto")
        assert sum(one.drawn for one in sample.strata.values()) == 20
        await press(app, pilot, "tab")
        assert "Shown once you have decided the 18 control items left to you." in flowing(app)
        await press(app, pilot, "shift+tab", "d")
        assert "Nobody has decided on it yet." in flowing(app)
        await press(app, pilot, "y")
        assert "taken back; d draws another" in told(app)
        with Store.open(path) as store:
            assert not store.control_samples.any()


@pytest.mark.e2e
async def test_a_name_is_asked_for_before_the_first_item_and_kept(path: Path) -> None:
    app = opened(path, auditor=None)
    async with app.run_test(size=(80, 24)) as pilot:
        await queue(app, pilot)
        await press(app, pilot, "enter")
        assert isinstance(app.screen, PersonDialog)
        await press(app, pilot, *"eva", "enter")
        assert isinstance(app.screen, ReviewItemScreen)
        assert "smol · eva" in screen_text(app)
        with Store.open(path) as store:
            run = find_run(store, "reliability")
            assert store.review_leases.held(run_key(store, run)) == {"soc-07": "eva"}
        await press(app, pilot, "escape")
        with Store.open(path) as store:
            assert store.review_leases.held(run_key(store, run)) == {}
        await press(app, pilot, "enter")
        assert isinstance(app.screen, ReviewItemScreen)


@pytest.mark.e2e
async def test_what_another_auditor_looks_at_is_said_and_passed_over(path: Path) -> None:
    with Store.open(path) as store:
        run = find_run(store, "reliability")
        assert store.review_leases.take(run_key(store, run), ["soc-07"], "eva") == "soc-07"
    app = opened(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await queue(app, pilot)
        assert "with eva" in screen_text(app)
        await press(app, pilot, "N")
        assert item_of(app).ref == "tax-02"
        await press(app, pilot, "left_square_bracket")
        assert "Another auditor is reviewing this item." in flowing(app)


@pytest.mark.e2e
async def test_runs_without_a_reader_show_what_the_model_gave(tmp_path: Path) -> None:
    app = opened(full(tmp_path / "free.db"), start="results")
    async with app.run_test(size=(100, 30)) as pilot:
        await queue(app, pilot)
        assert "read by" in judged_by(app)
        if isinstance(app.screen, ReviewScreen) and app.screen.view.row is not None:
            await press(app, pilot, "enter")
            assert isinstance(app.screen, ReviewItemScreen)


async def test_the_palette_finds_the_queue_of_every_run(path: Path) -> None:
    assert any(
        one.name.startswith("review smol") and one.route[0] == "review" for one in read_names(path)
    )


@pytest.mark.e2e
async def test_the_queue_comes_first_whichever_table_was_looked_at_last(path: Path) -> None:
    app = opened(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await queue(app, pilot)
        await press(app, pilot, "tab")
        assert "▸queue" not in screen_text(app)
        await press(app, pilot, "escape", "V")
        assert "▸queue" in screen_text(app)


@pytest.mark.e2e
async def test_where_nothing_waits_the_queues_of_other_runs_are_named(tmp_path: Path) -> None:
    path = audited(tmp_path / "two.db", odd)
    audited(
        path,
        lambda probe: (
            ("Beneficial." if probe.variant not in ("negation", "opposite") else "Harmful.", 30),
        ),
        model="steady",
    )
    app = opened(path)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await queue(app, pilot)
        assert screen._loaded is not None
        assert screen.empty_reason(screen._loaded, screen._look).endswith(
            "M opens the queue of another run."
        )
        screen.session.blind = True
        assert "M opens" not in screen.empty_reason(screen._loaded, screen._look), (
            "the list of runs would name the model"
        )


@pytest.mark.e2e
@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_without_a_run_the_newest_one_in_which_something_waits_is_opened_and_others_are_a_key_away(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    path = audited(tmp_path / "two.db", odd)
    audited(
        path,
        lambda probe: (
            ("Beneficial." if probe.variant not in ("negation", "opposite") else "Harmful.", 30),
        ),
        model="steady",
    )
    with Store.open(path) as store:
        steady = store.runs.model_key(
            next(run for run in store.runs.list("reliability") if run.model == "steady")
        ).hex()
        for ref in STATEMENTS:
            of = subjects.find_subject(store, ref).subject
            about = Subject(of.kind, {**of.named, "model": steady})
            store.rulings.rule(about, RulingVerdict.CONFIRMED, auditor="otto", reason="as it is")
    app = opened(path)
    async with app.run_test(size=size) as pilot:
        await settle(app, pilot)
        screen = ReviewScreen()
        await app.push_screen(screen)
        await settle(app, pilot)
        assert "smol · small · T 1" in flowing(app)
        assert "run 1 of 2 of all audits: M opens another" in flowing(app)
        await press(app, pilot, "M", "home", "enter")
        assert screen._loaded is not None
        chosen = screen._loaded.runs[0].model
        assert f"{chosen} · small" in flowing(app), (
            "a run that was chosen stays, whether anything waits there"
        )
        await press(app, pilot, "b")
        assert "M opens another" not in flowing(app)


async def test_a_newer_run_in_which_nothing_waits_hides_no_older_one_from_home(
    tmp_path: Path,
) -> None:
    path = sampled(audited(tmp_path / "two.db", odd))
    audited(
        path,
        lambda probe: (
            ("Beneficial." if probe.variant not in ("negation", "opposite") else "Harmful.", 30),
        ),
        model="steady",
    )
    with Store.open(path) as store:
        reviews = [task.what for task in tasks(store) if task.key == "review reliability"]
    assert reviews == ["for an auditor: smol (reliability)"]
    app = opened(path, start="home")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot)
        await until(pilot, lambda: "for an auditor" in flowing(app))
        await press(app, pilot, "V")
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen))
        await settle(app, pilot)
        assert "smol" in flowing(app)
        assert "steady" not in flowing(app)


async def test_nothing_to_review_is_said(tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    with Store.open(path, create=True):
        pass
    app = opened(path, start="home")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(app, pilot)
        await app.push_screen(ReviewScreen())
        await settle(app, pilot)
        assert "Nothing to review: no model has answered yet." in flowing(app)
        await press(app, pilot, "N", "d", "b", "r", "z")
        assert not isinstance(app.screen, RulingDialog)


@pytest.mark.e2e
async def test_the_item_says_what_is_near_the_threshold_and_what_each_reader_makes_of_an_answer(
    path: Path,
) -> None:
    app = opened(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await queue(app, pilot)
        for _ in range(6):
            if item_ref(app) == "env-03":
                break
            await press(app, pilot, "down")
        await press(app, pilot, "enter")
        assert "readers disagree" in screen_text(app)
        lines = shown(app, "#reading").splitlines()
        assert sum("label-words" in line for line in lines) == 2, lines
        assert sum("counts here" in line for line in lines) == 1
        await press(app, pilot, "escape", "end", "home")
        while item_ref(app) != "soc-07":
            await press(app, pilot, "down")
        await press(app, pilot, "enter")
        assert "gree 22/30" in screen_text(app), "the list says which side, and how many"


def item_ref(app: WorkbenchApp) -> str:
    assert isinstance(app.screen, ReviewScreen)
    return str(app.screen.view.row.ref)


@pytest.mark.e2e
async def test_a_narrow_footer_has_the_key_of_pictures_where_a_table_has_any(path: Path) -> None:
    app = WorkbenchApp(path, start="audit")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "P Picture" in screen_text(app).splitlines()[-1])
        await until(pilot, lambda: "r Rule" in screen_text(app).splitlines()[-1])


@pytest.mark.e2e
async def test_a_queue_that_was_left_is_there_at_once_and_is_made_anew_only_where_something_happened(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: Counter[str] = Counter()

    def count(module: Any, name: str) -> None:
        before = getattr(module, name)

        def counting(*args: Any, **more: Any) -> Any:
            made[name] += 1
            return before(*args, **more)

        monkeypatch.setattr(module, name, counting)

    forget()
    count(of_review, "_unruled")
    count(of_tables, "book")
    count(verdicts, "_counted")
    app = opened(path, start="home")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "for an auditor" in screen_text(app))
        for _ in range(3):
            await press(app, pilot, "V")
            await until(pilot, lambda: "tax-02" in screen_text(app))
            await press(app, pilot, "escape")
        assert made == {"_unruled": 1, "book": 1, "_counted": 1}
        rule(path, "env-03", RulingVerdict.LOOK_AGAIN, "eva")
        await press(app, pilot, "V")
        await until(pilot, lambda: "look again" in flowing(app))
        assert made == {"_unruled": 1, "book": 2, "_counted": 1}
        await press(app, pilot, "enter", "escape")
        assert made["_unruled"] == 1
        assert made["book"] == 2, "an item that was only looked at changes nothing in the list"


@pytest.mark.e2e
async def test_an_empty_queue_offers_no_key_that_does_nothing_and_says_why(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_review, "ranked", lambda *_: ())
    app = opened(path, start="home")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(
            pilot, lambda: "V Review" in screen_text(app) or app.screen.check_action("review", ())
        )
        await press(app, pilot, "V")
        await until(
            pilot, lambda: "Nothing is pending: no reason applies to any statement." in flowing(app)
        )
        text = flowing(app)
        assert "statements do not pass, but none narrowly" in text
        assert "d draws a control sample" in text
        footer = screen_text(app).splitlines()[-1]
        assert "Draw" in footer
        for key in ("Enter", "Next", "Rule ", "Sort", "Search", "Undo"):
            assert key not in footer, footer
        await press(app, pilot, "enter", "N", "r", "s", "slash")
        assert isinstance(app.screen, ReviewScreen), "none of them does anything"
