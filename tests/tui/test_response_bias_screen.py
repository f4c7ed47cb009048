"""The screens of response biases show the figures as the analysis has them, and lead down to single
answers.
"""

from __future__ import annotations

import math
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from stores.core.store import Store
from tests.conftest import new_store
from tests.jobs.test_response_bias_runs import ask
from tests.tui import books
from tests.tui.books import by_parts, press, settled, table
from tests.tui.conftest import flowing, judged_by, screen_text, shown, until
from workbench import registry
from workbench.audits.response_bias import judged as judging
from workbench.audits.response_bias import questions as below
from workbench.audits.response_bias.answers import subject_of
from workbench.audits.response_bias.book import book
from workbench.audits.response_bias.judged import (
    ResponseBiasJudged,
    compared,
    judge_response_bias,
    sampling_agreements,
)
from workbench.audits.response_bias.options import DEFAULTS, ChangeOptions, Definition
from workbench.audits.response_bias.question_tables import blanks_shown
from workbench.audits.response_bias.questions import Changes, question, questions
from workbench.audits.response_bias.score import beside, formula
from workbench.audits.response_bias.tables import change
from workbench.data import shipped_templates
from workbench.domain.choices import (
    AnsweredPair,
    AnswerSet,
    ArmAnswers,
    Bias,
    Choice,
    ChoicePair,
    Perturbation,
)
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument, with_pairs
from workbench.domain.responses import EXACTLY
from workbench.domain.verdicts import Estimate
from workbench.figures.shown import number, painted
from workbench.figures.shown import shown as shown_value
from workbench.figures.table import Column, Kind, Table
from workbench.figures.visible import visible
from workbench.inference.scripted.answers import LetterHabits
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.tui.app import WorkbenchApp
from workbench.tui.comparison.choice import CompareScreen
from workbench.tui.comparison.screen import ComparisonScreen
from workbench.tui.format import row_parts
from workbench.tui.kit.base import of_store
from workbench.tui.kit.dialogs import TextScreen
from workbench.tui.results import result_screen as screens
from workbench.tui.results.behind import BehindScreen
from workbench.tui.results.choice_question import FormScreen, QuestionScreen
from workbench.tui.results.grid import Grid
from workbench.tui.results.loaded import Loaded
from workbench.tui.results.result_screen import Settings, screen_class

AUDIT = registry.audit("response_bias")
ResponseBiasScreen = screen_class(AUDIT)
BIASES = AUDIT.explain
WORDS = ChangeOptions.declared()["definition"].words
assert isinstance(WORDS, dict)
DEFINITION_WORDS = {str(name): words.partition(": ")[2] for name, words in WORDS.items()}

SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40)])
Place = tuple[Bias, Perturbation | None, str]
Key = tuple[str, ...]
SCALE = ("Much better", "A little better", "The same", "A little worse", "Much worse")
ORDER: Place = (Bias.RESPONSE_ORDER, None, "")
ODD: Place = (Bias.ODD_EVEN, None, "")
TYPO: Place = (Bias.ODD_EVEN, Perturbation.KEY_TYPO, "")
TOLD, SAMPLED, EXACT = "[red]told\x1b[0m", "first · samples", "first · exact"
HOSTILE = "[@click=app.bell]x[/] \x1b[31mred\x1b[0m \u202e[/INST] will close?"


def pairs() -> list[ChoicePair]:
    """Four questions with a scale, two draws of typing errors and human shares; four on response
    order, one hostile.
    """
    found = []
    for n in range(4):
        scale = Choice(f"How are things in district {n} for most people?", SCALE)
        typo = {
            (Perturbation.KEY_TYPO, draw): replace(
                scale, stem=scale.stem.replace("things", f"th{'x' * draw}ngs")
            )
            for draw in (1, 2)
        }
        short = Choice(scale.stem, SCALE[:2] + SCALE[3:])
        shares = (0.1, 0.2, 0.4, 0.2, 0.1)
        found.append(
            ChoicePair(f"s{n}", Bias.ODD_EVEN, scale, short, f"topic-{n % 2}", typo, True, shares)
        )
        stem = HOSTILE if n == 0 else f"Which do you prefer in district {n}?"
        three = Choice(stem, ("[b]Trams", "Buses", "Bicycles \x07"))
        found.append(
            ChoicePair(
                f"o{n}", Bias.RESPONSE_ORDER, three, replace(three, options=three.options[::-1])
            )
        )
    return found


def told() -> tuple[AnswerSet, ...]:
    """Answers from elsewhere: a letter that was not on offer, a blank, and a question without any
    usable answer.
    """
    forms = [
        ({"a": 7, "b": 3}, {"a": 5, "b": 5}),
        ({"a": 9, "z": 1}, {"a": 8, "": 2}),
        ({"z": 10}, {"a": 10}),
    ]
    rows = tuple(
        AnsweredPair(f"o{n}", ArmAnswers(q, 3, 3), ArmAnswers(changed, 3, 3))
        for n, (q, changed) in enumerate(forms)
    )
    return (AnswerSet(TOLD, Bias.RESPONSE_ORDER, None, rows),)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one model asked by samples and exactly, and the answers of another one; tests
    only read it.
    """
    path = tmp_path_factory.mktemp("choices") / "choices.db"
    habits = LetterHabits(
        weights=(4.0, 2.0, 1.0), by_text=0.4, invalid=0.2, others=("[/b]\x1b[1m",)
    )
    model = ScriptedModel(ScriptedPersona(letters=habits), name="first")
    design = Design("choices", "first", "response_bias", 20, DEFAULTS.sampling, family="lettered")
    with new_store(path) as store:
        blank = Instrument("choices", "Choices", (), templates=shipped_templates("response_bias"))
        store.instruments.add(with_pairs(blank, pairs(), told()))
        ask(store, model, design)
        ask(store, model, replace(design, samples=1, sampling=EXACTLY))
    return path


@pytest.fixture(scope="module")
def judged(filled: Path) -> ResponseBiasJudged:
    with Store.open(filled) as store:
        return judge_response_bias(store)


CONTENTS = (
    "matrix",
    "scores",
    "likeness",
    "cells",
    "entropies",
    "uncertainty",
    "left_out",
    "topics",
    "draws",
    "draw_spread",
    "valid_answers",
    "validity",
    "validity_shares",
    "people",
    "people_questions",
    "questions",
    "subjects",
    "answered",
    "refusals",
)


def load(path: Path, options: ChangeOptions, known: Loaded | None = None) -> Loaded:
    return of_store(path, lambda store: screens.load(store, AUDIT, Settings(options), known))


async def begin(app: WorkbenchApp, pilot: Pilot[int]) -> None:
    await books.begin(app, pilot, ResponseBiasScreen)


async def look_at(app: WorkbenchApp, pilot: Pilot[int], table: str, *subject: str) -> None:
    """Show a table without a press of a key for each one before it."""
    assert isinstance(app.screen, (ResponseBiasScreen, ComparisonScreen))
    app.screen._go(replace(app.screen._look, view=table, subject=subject))
    await pilot.pause()
    await until(pilot, lambda: settled(app))
    await pilot.pause()


async def to_row(app: WorkbenchApp, pilot: Pilot[int], *parts: str) -> None:
    """Put the cursor on a row, without a press of a key for each row before it."""
    found = table(app)
    found.show_row([tuple(row_parts(key)) for key in found.keys].index(parts))
    await pilot.pause()


def cell_words(judged: ResponseBiasJudged, name: str, place: Place) -> tuple[str, ...]:
    """Return what the matrix says of a cell, with its interval or, in short, without: `+36.5 **
    human-like`.
    """
    report = judged.reports[name]
    cell = report.find(*place)
    if cell is None:
        return ("–",)
    like = next((one for one in report.likeness if one.bias is place[0] and cell.scored), None)
    column: Column[Any] = Column("change", "change", lambda row: row, Kind.POINTS)
    short = number(cell.delta.mean / 100, Kind.POINTS, bare=True)
    return tuple(
        f"{text} {beside(cell, like)}" for text in (short, shown_value(change(cell.delta), column))
    )


@pytest.mark.e2e
@SIZES
async def test_a_cell_says_sign_size_and_significance_in_marks_and_a_word(
    filled: Path, judged: ResponseBiasJudged, size: tuple[int, int]
) -> None:
    app = WorkbenchApp(filled, start="response_bias")
    places = (ORDER, ODD, TYPO)
    async with app.run_test(size=size) as pilot:
        await begin(app, pilot)
        assert list(by_parts(app)) == [subject_of(place) for place in places]
        seen = set()
        for name in judged.reports:
            rows = by_parts(app)
            assert f"▸{visible(name)}" in screen_text(app)
            for place in places:
                for other in judged.reports.keys() & rows[subject_of(place)].keys():
                    seen.add(other)
                    assert rows[subject_of(place)][other] in cell_words(judged, other, place)
            mean = judged.reports[name].cell(*ORDER).delta.mean / 100
            assert number(mean, Kind.POINTS) in shown(app, "#details").splitlines()[0]
            await press(app, pilot, "right")
        assert seen == set(judged.reports)
        text = screen_text(app)
        assert "human-like" in text
        assert DEFINITION_WORDS["corrected"] in judged_by(app)
        assert "\x1b" not in text
        assert "[red]told␛[0m" in visible(TOLD)
        assert max(map(len, text.splitlines())) == size[0]
        await press(app, pilot, "y")
        assert list(by_parts(app)) == [subject_of(place) for place in (ORDER, ODD)]
        await press(app, pilot, "question_mark")
        assert isinstance(app.screen, TextScreen)
        assert BIASES in shown(app, "#text")


def two_models(kind: Kind, *values: Estimate) -> Grid:
    """Return the grid of two models, with a row for each pair of values."""
    rows = [
        (f"row {number}", pair)
        for number, pair in enumerate(zip(values[::2], values[1::2], strict=True))
    ]
    columns: list[Column[Any]] = [Column("row", "row", lambda row: row[0])]
    columns += [
        Column(
            name,
            name,
            lambda row, index=index: row[1][index],
            kind,
            link=lambda _: None,
            reference=lambda _: 0.05,
        )
        for index, name in enumerate(("scripted:left", "smollm2"))
    ]
    return Grid(Table("matrix", "Matrix", rows, columns, key=lambda row: (row[0],)))


def test_the_estimates_of_all_models_are_drawn_on_one_axis_where_there_is_room() -> None:
    few = Estimate(0.5, math.nan, math.nan, 3, few="too few")
    grid = two_models(
        Kind.POINTS, Estimate(-0.3, -0.4, -0.2, 9), Estimate(0.2, 0.1, 0.3, 9), few, few
    )
    (_, strip, left, right) = grid.places(100)
    assert (strip.title.split(), left.title, right.title) == (
        ["-40", "0", "+50"],
        "▸L scripted:left",
        " S smollm2",
    )
    (_, first), (_, second) = grid.records(100, [0, 1])
    drawn = first[1].plain
    assert "L" in drawn
    assert drawn.index("L") < drawn.index("│") < drawn.index("S")
    assert drawn.count("├") == drawn.count("┤") == 2
    assert "╎" in drawn, "the reference"
    assert second[1].plain.rstrip().endswith("*"), "two values in one cell"
    assert first[2].plain.split() == ["-30.0"], "the interval is drawn, and in the details"
    narrow = grid.places(60)
    assert len(narrow) == 3, "no room for an axis"


@pytest.mark.parametrize("kind", [Kind.COUNT, Kind.P_VALUE])
def test_numbers_without_a_scale_have_no_axis(kind: Kind) -> None:
    grid = two_models(kind, Estimate(3.0, 2.0, 4.0, 9), Estimate(4.0, 3.0, 5.0, 9))
    assert not grid.has_strips


@pytest.mark.parametrize("width", [80, 100, 140])
def test_the_marked_model_keeps_a_column_and_long_names_keep_their_ends(width: int) -> None:
    names = [
        f"meta-llama/Llama-3.1-{n}B-Instruct · {way}"
        for n in range(4)
        for way in ("samples", "exact")
    ]
    columns: list[Column[str]] = [Column("bias", "bias", lambda row: row)]
    columns += [
        Column(
            name,
            name,
            lambda _: Estimate(0.1, 0.0, 0.2, 9),
            Kind.POINTS,
            scale=(-1, 1),
            link=lambda _: None,
        )
        for name in names
    ]
    grid = Grid(Table("matrix", "Matrix", ["odd/even"], columns, key=lambda row: (row,)))
    for name in names:
        assert grid.mark == name
        places = grid.places(width)
        assert sum(place.width + 2 for place in places) <= width
        title = next(place.title for place in places if place.column_index == grid.marked)
        assert title.startswith("▸meta")
        assert title.endswith(name[-8:])
        grid.turn(1)
    assert grid.mark == names[-1]


@pytest.mark.e2e
async def test_definition_adjustment_level_and_entropy_are_chosen_here_and_stay_written(
    filled: Path, judged: ResponseBiasJudged
) -> None:
    app = WorkbenchApp(filled, start="response_bias")
    async with app.run_test(size=(120, 36)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "right", "f", "p", "p", "a")
        await look_at(app, pilot, "cells", SAMPLED)
        assert shown(app, "#options").startswith("alpha 0.01 · "), "the choice that was made last"
        for chosen in (DEFINITION_WORDS["paper"], "Holm over all cells", "entropy as published"):
            assert chosen in judged_by(app)
        again = judged.by(ChangeOptions(Definition.PAPER, 0.01, "all", "csv"))
        table = book(Changes(again, lambda: Store.open(filled))).table("cells", SAMPLED)
        cells, rows = painted(table)[0], by_parts(app)
        for row, texts in zip(table.rows, cells, strict=True):
            of = dict(zip([column.key for column in table.columns], texts, strict=True))
            found = rows[table.key(row)]
            assert {key: of[key] for key in found.keys() & of.keys()} == {
                key: found[key] for key in found.keys() & of.keys()
            }
            assert {"change", "t", "p"} <= found.keys()
        await to_row(app, pilot, SAMPLED, *subject_of(TYPO))
        await press(app, pilot, "v")
        assert isinstance(app.screen, TextScreen)
        whole, typo = shown(app, "#text"), again.reports[SAMPLED].cell(*TYPO)
        assert formula(TYPO, "paper", Bias.ODD_EVEN) in whole
        assert number(typo.p_adjusted, Kind.P_VALUE) in whole
        await press(app, pilot, "escape")
        await look_at(app, pilot, "draws", SAMPLED)
        drawn = {key: row["change"].split(" points")[0] for key, row in by_parts(app).items()}
        assert drawn == {
            (SAMPLED, *subject_of(TYPO), str(one.draw)): number(
                one.delta.mean / 100, Kind.POINTS, bare=True
            )
            for one in typo.draws.draws
        }
        await look_at(app, pilot, "entropies")
        await to_row(app, pilot, SAMPLED, *subject_of(ORDER), "offered")
        spread = again.reports[SAMPLED].cell(*ORDER).spread
        row = by_parts(app)[(SAMPLED, *subject_of(ORDER), "offered")]
        assert (row["original"], row["changed"]) == (
            f"{spread.original:.2f}",
            f"{spread.changed:.2f}",
        )


@pytest.mark.e2e
async def test_two_models_are_compared_and_samples_are_held_against_probabilities(
    filled: Path, judged: ResponseBiasJudged
) -> None:
    app = WorkbenchApp(filled, start="response_bias")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "B")
        dialog = app.screen
        assert isinstance(dialog, CompareScreen)
        for name in (EXACT, SAMPLED):
            dialog.runs.highlighted = dialog._names.index(name)
            if name not in dialog.marked:
                await press(app, pilot, "space")
        first, second = dialog.marked
        await press(app, pilot, "enter")
        assert isinstance(app.screen, ComparisonScreen)
        await look_at(app, pilot, "compared")
        assert f"{first} − {second}" in shown(app, "#tabs")
        rows = {row.bias: row for row in compared(judged, first, second).rows}
        both = rows[Bias.ODD_EVEN].change
        assert by_parts(app)["odd_even",]["change"].startswith(number(both.mean / 100, Kind.POINTS))
        await press(app, pilot, "enter")
        assert isinstance(app.screen, BehindScreen), (
            "Enter leads to the bias in the audit's own results"
        )
        await press(app, pilot, "escape", "tab", "tab")
        agreement = sampling_agreements(judged, first, second)[ODD]
        assert by_parts(app)["odd_even", "bias"]["z"] == number(agreement.z, Kind.SCORE)
        await press(app, pilot, "escape")
        assert isinstance(app.screen, ResponseBiasScreen)


@pytest.mark.e2e
async def test_a_cell_leads_to_its_questions_by_size_and_a_question_to_both_forms_draws_prompts_and_answers(
    filled: Path, judged: ResponseBiasJudged
) -> None:
    app = WorkbenchApp(filled, start="response_bias")
    rows = questions(judged, SAMPLED, ODD)
    async with app.run_test(size=(120, 36)) as pilot:
        await begin(app, pilot)
        assert isinstance(app.screen, ResponseBiasScreen)
        while app.screen.view.mark != SAMPLED:
            await press(app, pilot, "right")
        await to_row(app, pilot, *subject_of(ODD))
        await press(app, pilot, "enter")
        assert isinstance(app.screen, BehindScreen)
        found = by_parts(app)
        assert [key[-1] for key in found] == [row.key for row in rows]
        assert [one["change"] for one in found.values()] == [
            number(row.delta / 100, Kind.POINTS) for row in rows
        ]
        assert next(iter(found.values()))["entropy"] == f"{rows[0].entropy:.2f}"
        await press(app, pilot, "slash", *"topic-0", "enter")
        assert {key[-1] for key in by_parts(app)} == {
            row.key for row in rows if row.topic == "topic-0"
        }
        await press(app, pilot, "escape", "slash", *"DISTRICT S3", "enter")
        assert [key[-1] for key in by_parts(app)] == ["s3"]
        await press(app, pilot, "escape", "right")
        assert "odd/even, key typo" in shown(app, "#about")
        typos = questions(judged, SAMPLED, TYPO)
        assert [key[-1] for key in by_parts(app)] == [row.key for row in typos]
        await press(app, pilot, "home", "enter")
        assert isinstance(app.screen, QuestionScreen)
        with Store.open(filled) as store:
            found_ = question(store, judged, SAMPLED, TYPO, typos[0].key)
            second = question(store, judged, SAMPLED, TYPO, typos[0].key, 2)
        for side, arm in (("#original", found_.original), ("#changed", found_.changed)):
            lines = shown(app, side).splitlines()
            for option in arm.options:
                (line,) = (
                    line for line in lines if line.lstrip().startswith(f"{option.letter.upper()} ")
                )
                assert f"{number(option.share, Kind.SHARE):>8}{option.count:>8.0f}" in line
                assert line.endswith(option.text)
            assert f"{arm.invalid} without an offered letter" in " ".join(lines)
        assert "40.0 %" in shown(app, "#original")  # of the people
        assert "+[thxngs]" in shown(app, "#changed")
        assert "−[things]" in shown(app, "#original")
        await press(app, pilot, "d")
        assert "draw 2 of 2" in shown(app, "#about")
        assert f"entropy {second.changed.entropy:.2f}" in shown(app, "#changed")
        await press(app, pilot, "c")
        assert shown(app, "#about").splitlines()[1].startswith("odd/even  Change")
        await press(app, pilot, "C", "right_square_bracket")
        assert typos[1].key in shown(app, "#about")
        await press(app, pilot, "left_square_bracket", "d", "enter", "o")
        assert isinstance(app.screen, FormScreen)
        text = screen_text(app)
        assert "Please answer the following question with one of the alphabetical options" in text
        assert "How are thxxngs" in text
        assert "no letter" in text
        assert "[/b]␛[1m" in text
        assert "template lettered" in flowing(app)
        await press(app, pilot, "enter")
        assert isinstance(app.screen, TextScreen)
        assert "as written" in shown(app, "#text")


@pytest.mark.e2e
async def test_imported_answers_show_what_was_not_on_offer_and_texts_as_they_stand(
    filled: Path, judged: ResponseBiasJudged
) -> None:
    app = WorkbenchApp(filled, start="response_bias")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        assert "1 question left out: no usable answer to the original form (1)." in flowing(app)
        assert "blank 2, not offered 11" in flowing(app)
        await press(app, pilot, "enter")
        assert [key[-1] for key in by_parts(app)][-1] == "o2"
        await press(app, pilot, "end")
        assert "Left out: no usable answer to the original form." in shown(app, "#details")
        await press(app, pilot, "enter")
        assert "is left out: no usable answer to the original form" in flowing(app)
        assert "Z  answered 10×, but it was not offered" in shown(app, "#original")
        while not shown(app, "#about").startswith("o0"):
            await press(app, pilot, "n")
        text = screen_text(app)
        assert "[@click=app.bell]x[/] ␛[31mred" in text
        assert "\\u202e" in text
        assert "[b]Trams" in text
        assert "=C" in shown(app, "#changed")
        while EXACT not in shown(app, "#about"):
            # The same question of the model that was asked exactly.
            await press(app, pilot, "right")
        with Store.open(filled) as store:
            exact = question(store, judged, EXACT, ORDER, "o0")
        assert number(exact.original.options[0].probability, Kind.SHARE) in shown(app, "#original")
        await press(app, pilot, "enter")
        assert number(exact.original.options[0].probability, Kind.SHARE) in screen_text(app)
        await press(app, pilot, "escape")
        while visible(TOLD) not in shown(app, "#about"):
            await press(app, pilot, "left")
        await press(app, pilot, "enter")
        assert "These answers were imported" in screen_text(app)
        assert "\x1b[31m" not in screen_text(app)


@pytest.mark.e2e
async def test_a_warning_of_imported_answers_stands_with_the_cell_and_in_the_notes(
    tmp_path: Path,
) -> None:
    path = tmp_path / "warned.db"
    with new_store(path) as store:
        blank = Instrument("choices", "Choices", (), templates=shipped_templates("response_bias"))
        warned = [replace(one, warnings=("m/x.csv: rows may be shifted",)) for one in told()]
        store.instruments.add(with_pairs(blank, pairs(), warned))
    app = WorkbenchApp(path, start="response_bias")
    async with app.run_test(size=(80, 40)) as pilot:
        await begin(app, pilot)
        assert "Warning: m/x.csv: rows may be shifted" in shown(app, "#details").replace("\n", " ")
        assert "n: 2 notes" in judged_by(app)
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        assert "warning: m/x.csv: rows may be shifted" in flowing(app)


async def test_an_empty_store_says_what_to_do_and_9_leads_here(tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    with new_store(path):
        pass
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("9")
        await begin(app, pilot)
        await until(pilot, lambda: "I imports the shipped ones" in screen_text(app))
        await pilot.press("I")
        await until(
            pilot, lambda: "No model has answered about veldania_choices" in screen_text(app)
        )
        shown_ = "".join(screen_text(app).split())
        assert "".join(f"workbench run {app.store_path} --audit response_bias".split()) in shown_
        await pilot.press("escape")
        await until(pilot, lambda: app.current_mode == "home")
    assert "response_bias" in app.MODES


def test_other_options_judge_the_same_answers_again_and_nothing_new_is_read_twice(
    filled: Path, judged: ResponseBiasJudged
) -> None:
    first = load(filled, ChangeOptions())
    assert load(filled, ChangeOptions(), first) is first
    for options in (
        ChangeOptions(Definition.PAPER, 0.001),
        ChangeOptions(holm="biases", entropy="csv"),
    ):
        again = load(filled, options, first).source.judged
        with Store.open(filled) as store:
            direct = judge_response_bias(store, options=options)
        assert again.reports[SAMPLED].options == options
        for name in judged.reports:
            figures = [
                [
                    (c.place, c.delta.mean, c.effect, c.p_adjusted, c.uncertainty.r)
                    for c in of.reports[name].cells
                ]
                for of in (again, direct)
            ]
            assert repr(figures[0]) == repr(figures[1])


@pytest.mark.parametrize("definition", list(Definition))
def test_the_formula_that_is_written_is_the_one_by_which_a_change_is_computed(
    judged: ResponseBiasJudged, definition: Definition
) -> None:
    """The scale has five options, so that B and D stand beside its middle C."""
    report = judged.by(ChangeOptions(definition)).reports[EXACT]
    for place, letters in ((ODD, "BD"), (TYPO, "BD"), (ORDER, "A")):
        said = formula(place, definition, place[0])
        assert ("q' − " in said) == (place[0] is Bias.ODD_EVEN)
        table_ = next(
            t for t in judged.subjects[EXACT].tables if (t.bias, t.condition) == place[:2]
        )
        at = ["ABCDE".index(letter) for letter in letters]
        shares = table_.counts[0][:, at].sum(axis=1) / table_.counts[0].sum(axis=1)
        sign = 1 if place[0] is Bias.ODD_EVEN else -1
        if place is not TYPO:  # whose change is that of the mean over draws
            assert report.cell(*place).deltas.values[0] == pytest.approx(
                100 * sign * (shares[1] - shares[0])
            )
    forbid: Place = (Bias.ALLOW_FORBID, None, "")
    corrected = definition is Definition.CORRECTED
    assert formula(forbid, definition, Bias.ALLOW_FORBID) == (
        "B in q − A in q'" if corrected else "A in q − B in q'"
    )
    copied: Place = (Bias.OPINION_FLOAT, Perturbation.KEY_TYPO, "")
    said = formula(copied, definition, Bias.ODD_EVEN)
    assert said == ("the middle in q − in q'" if corrected else "B and D in q' − in q")


def test_what_has_no_test_is_no_verdict_and_the_published_score_has_a_row_where_it_is_another(
    tmp_path: Path,
) -> None:
    """Four questions answered alike on allow/forbid, whose sign `paper` reverses; nothing valid; a
    single question.
    """
    moved = (ArmAnswers({"a": 9, "b": 1}, 2, 2), ArmAnswers({"a": 5, "b": 5}, 2, 2))
    more = (ArmAnswers({"a": 8, "b": 2}, 2, 2), ArmAnswers({"a": 5, "b": 5}, 2, 2))
    never = (ArmAnswers({"z": 10}, 2, 2), ArmAnswers({"z": 10}, 2, 2))
    answers = {"moved": (moved, more, moved, more), "never": (never, never), "single": (moved,)}
    sets = tuple(
        AnswerSet(
            name,
            Bias.ALLOW_FORBID,
            None,
            tuple(AnsweredPair(f"f{n}", *arms) for n, arms in enumerate(rows)),
        )
        for name, rows in answers.items()
    )
    with new_store(tmp_path / "few.db") as store:
        store.instruments.add(with_pairs(Instrument("few", "Few", ()), (), sets))
    # nobody knows the model's preference for positions: `corrected` says that it may be the reason
    for definition, score, published in (("corrected", 0, 0), ("paper", -1, 1)):
        loaded = load(tmp_path / "few.db", ChangeOptions(Definition(definition)))
        assert loaded.book is not None
        table = loaded.book.table("scores")
        keys = [column.key for column in table.columns]
        rows = {
            name: dict(zip(keys, (column.value(name) for column in table.columns), strict=True))
            for name in table.rows
        }
        assert (rows["moved"]["score"], rows["moved"]["biases"]) == (score, 1)
        assert rows["moved"]["score_as_published"] == published
        aside = next(column.aside for column in table.columns if column.key == "score_as_published")
        assert aside == (definition == "corrected")
        assert rows["single"]["score"] is None
        assert rows["single"]["most_human_like"] == 0
        assert rows["single"]["open"] == 1
        assert rows["never"]["valid"] == 0
        if definition == "paper":
            continue  # which counts every answer, valid or not
        assert rows["never"]["score"] is None
        assert (rows["never"]["most_human_like"], rows["never"]["open"]) == (0, 1)
        matrix = loaded.book.table("matrix")
        [of_never] = [column for column in matrix.columns if column.key == "never"]
        assert (
            shown_value(of_never.value(matrix.rows[0]), of_never) == "undefined: no question counts"
        )
        assert of_never.detail is not None
        said = " ".join(of_never.detail(matrix.rows[0]))
        assert "No question counts" in said
        assert "Most human-like" not in said, "a published definition"


def test_answers_that_differ_in_a_blank_are_told_apart() -> None:
    assert [blanks_shown(text) for text in (" A", "A", "  ", "")] == ["␣A", "A", "␣␣", "(empty)"]


@pytest.mark.e2e
async def test_only_workers_judge_compare_and_read(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No figure is computed in the thread that draws, and what is under way is said."""
    may_go, threads = threading.Event(), []
    judge = screens.load

    def slow(*given: Any) -> Any:
        may_go.wait(60)
        return judge(*given)

    def watched(function: Any) -> Any:
        def called(*given: Any, **more: Any) -> Any:
            threads.append(threading.current_thread())
            return function(*given, **more)

        return called

    monkeypatch.setattr(screens, "load", slow)
    for name in ("questions", "question"):
        monkeypatch.setattr(below, name, watched(getattr(below, name)))
    for name in ("judge", "compare"):
        monkeypatch.setattr(judging, name, watched(getattr(judging, name)))
    app = WorkbenchApp(filled, start="response_bias")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(
            pilot, lambda: isinstance(app.screen, ResponseBiasScreen) and app.screen.is_mounted
        )
        assert "Judging the answers …" in screen_text(app)
        may_go.set()
        await begin(app, pilot)
        for view in CONTENTS:
            assert isinstance(app.screen, ResponseBiasScreen)
            assert app.screen._look.view == view
            await press(app, pilot, "down", "up", "tab")
        await press(app, pilot, "enter", "enter", "n", "enter", "o")
    assert threads
    assert threading.main_thread() not in threads
