"""The screens of response biases show the figures as the analysis has them, and lead down to single answers."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from stores.store import Store
from tests.conftest import new_store
from tests.jobs.test_response_bias_runs import ask
from tests.tui.conftest import flowing, screen_text, shown, until
from workbench.audits.response_bias import DEFAULTS
from workbench.audits.response_bias_deltas import Definition
from workbench.audits.response_bias_figures import Options
from workbench.audits.response_bias_formula import formula
from workbench.cli.main import build_parser
from workbench.data import shipped_templates
from workbench.domain.choice_statements import with_pairs
from workbench.domain.choices import AnsweredPair, AnswerSet, ArmAnswers, Bias, Choice, ChoicePair, Perturbation
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument
from workbench.domain.responses import EXACTLY
from workbench.inference.scripted import Persona, ScriptedModel
from workbench.inference.scripted_letters import LetterHabits
from workbench.pipeline.response_bias import (
    ResponseBiasChoice,
    ResponseBiasJudged,
    compared,
    response_bias,
    sampling_agreements,
)
from workbench.pipeline.response_bias_options import rejudged
from workbench.pipeline.response_bias_questions import question, questions
from workbench.tui.app import WorkbenchApp
from workbench.tui.format import EMPTY, percent
from workbench.tui.screens.answers import WholeAnswerScreen
from workbench.tui.screens.audit_table import FluidTable
from workbench.tui.screens.dialogs import TextScreen
from workbench.tui.screens.response_bias import ResponseBiasScreen
from workbench.tui.screens.response_bias_around import DEFINITION_WORDS
from workbench.tui.screens.response_bias_details import details
from workbench.tui.screens.response_bias_explain import BIASES
from workbench.tui.screens.response_bias_format import cell_text, interval, p_words, signed
from workbench.tui.screens.response_bias_prompt import FormScreen
from workbench.tui.screens.response_bias_prompt_format import AnswerRow, FormAsked, form_record
from workbench.tui.screens.response_bias_question import QuestionScreen
from workbench.tui.screens.response_bias_questions import CellQuestionsScreen
from workbench.tui.screens.response_bias_tables import head, matrix_records, window
from workbench.tui.screens.response_bias_view import (
    LIKENESS,
    PEOPLE,
    SCORE,
    SIGNED,
    VALID,
    Look,
    Place,
    Settings,
    Shown,
    load,
    place_key,
    place_of,
)

SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40)])
SCALE = ("Much better", "A little better", "The same", "A little worse", "Much worse")
ORDER: Place = (Bias.RESPONSE_ORDER, None, "")
ODD: Place = (Bias.ODD_EVEN, None, "")
TYPO: Place = (Bias.ODD_EVEN, Perturbation.KEY_TYPO, "")
TOLD, SAMPLED, EXACT = "[red]told\x1b[0m", "first · samples", "first · exact"
HOSTILE = "[@click=app.bell]x[/] \x1b[31mred\x1b[0m \u202e[/INST] will close?"


def pairs() -> list[ChoicePair]:
    """Four questions with a scale, two draws of typing errors and human shares; four on response order, one hostile."""
    found = []
    for n in range(4):
        scale = Choice(f"How are things in district {n} for most people?", SCALE)
        typo = {
            (Perturbation.KEY_TYPO, draw): replace(scale, stem=scale.stem.replace("things", f"th{'x' * draw}ngs"))
            for draw in (1, 2)
        }
        short = Choice(scale.stem, SCALE[:2] + SCALE[3:])
        shares = (0.1, 0.2, 0.4, 0.2, 0.1)
        found.append(ChoicePair(f"s{n}", Bias.ODD_EVEN, scale, short, f"topic-{n % 2}", typo, True, shares))
        stem = HOSTILE if n == 0 else f"Which do you prefer in district {n}?"
        three = Choice(stem, ("[b]Trams", "Buses", "Bicycles \x07"))
        found.append(ChoicePair(f"o{n}", Bias.RESPONSE_ORDER, three, replace(three, options=three.options[::-1])))
    return found


def told() -> tuple[AnswerSet, ...]:
    """Answers from elsewhere: a letter that was not on offer, a blank, and a question without any usable answer."""
    forms = [({"a": 7, "b": 3}, {"a": 5, "b": 5}), ({"a": 9, "z": 1}, {"a": 8, "": 2}), ({"z": 10}, {"a": 10})]
    rows = tuple(
        AnsweredPair(f"o{n}", ArmAnswers(q, 3, 3), ArmAnswers(changed, 3, 3)) for n, (q, changed) in enumerate(forms)
    )
    return (AnswerSet(TOLD, Bias.RESPONSE_ORDER, None, rows),)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one model asked by samples and exactly, and the answers of another one; tests only read it."""
    path = tmp_path_factory.mktemp("choices") / "choices.db"
    habits = LetterHabits(weights=(4.0, 2.0, 1.0), by_text=0.4, invalid=0.2, others=("[/b]\x1b[1m",))
    model = ScriptedModel(Persona(letters=habits), name="first")
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
        return response_bias(store)


def settled(app: WorkbenchApp) -> bool:
    """Whether nothing is being worked out and the screen shows what it was last asked for."""
    screen = app.screen
    if any(not worker.is_finished for worker in app.workers) or not screen.is_mounted:
        return False
    if isinstance(screen, ResponseBiasScreen):
        loaded = screen._loaded
        return loaded is not None and (
            loaded.judged is None or (loaded.settings == screen._settings and screen._shown.look == screen._look)
        )
    if isinstance(screen, QuestionScreen):
        return screen._shown is not None and not screen.title_bar.note
    return not isinstance(screen, CellQuestionsScreen | FormScreen) or not screen.title_bar.note


async def press(app: WorkbenchApp, pilot: Pilot[int], *keys: str) -> None:
    """Press keys one after the other, each when what the one before asked for is there."""
    for key in keys:
        await pilot.press(key)
        await until(pilot, lambda: settled(app))
        await pilot.pause()
        await until(pilot, lambda: settled(app))


async def to_row(app: WorkbenchApp, pilot: Pilot[int], key: str) -> None:
    """Put the cursor on a row, without a press of a key for each row before it."""
    table(app).show_row(table(app).keys.index(key))
    await pilot.pause()


async def begin(app: WorkbenchApp, pilot: Pilot[int]) -> None:
    await until(pilot, lambda: isinstance(app.screen, ResponseBiasScreen) and settled(app))
    await pilot.pause()


def table(app: WorkbenchApp) -> FluidTable:
    return next(one for one in app.screen.query(FluidTable) if one.display)


def cells(app: WorkbenchApp, key: str) -> list[str]:
    """Return the cells of a row of the table in sight, without blanks around them."""
    return [str(cell).strip() for cell in table(app).get_row(key)]


@SIZES
async def test_a_cell_says_sign_size_and_significance_in_marks_and_a_word(
    filled: Path, judged: ResponseBiasJudged, size: tuple[int, int]
) -> None:
    app = WorkbenchApp(filled, start="response_bias")
    rows = [place_key(place) for place in (ORDER, ODD, TYPO)]
    async with app.run_test(size=size) as pilot:
        await begin(app, pilot)
        folded = [key for key in rows if size[1] > 30 or key != place_key(TYPO)]
        assert table(app).keys == (*folded, SCORE, LIKENESS, VALID, PEOPLE)
        await press(app, pilot, *["x"] * (size[1] < 30))
        assert table(app).keys == (*rows, SCORE, LIKENESS, VALID, PEOPLE)
        for column, name in enumerate((TOLD, EXACT, SAMPLED), 1):
            for place in (ORDER, ODD, TYPO):
                figure = cell_text(judged.reports[name].find(*place)).plain.strip()
                assert cells(app, place_key(place))[column].removesuffix(" ✓").split() == figure.split()
        text = screen_text(app)
        assert "human-like" in text
        assert "not asked" in text
        assert DEFINITION_WORDS["corrected"] in text
        assert "\x1b" not in text
        assert "[red]told␛[0m" in text
        assert cells(app, VALID)[1] == percent(judged.validity[TOLD].mean, digits=1)
        assert cells(app, PEOPLE)[3].startswith(f"{judged.people[SAMPLED].mean.value:.2f}")
        assert max(map(len, text.splitlines())) == size[0]
        await press(app, pilot, "question_mark")
        assert isinstance(app.screen, TextScreen)
        assert BIASES in shown(app, "#text")


async def test_definition_adjustment_level_and_entropy_are_chosen_here_and_stay_written(
    filled: Path, judged: ResponseBiasJudged
) -> None:
    app = WorkbenchApp(filled, start="response_bias")
    async with app.run_test(size=(120, 36)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "right", "right", "f", "m", "m", "a", "e")
        assert DEFINITION_WORDS["paper"] in shown(app, "#options")
        assert "Holm over all cells · a alpha 0.01 · e entropy as published" in shown(app, "#options")
        expected = rejudged(judged, Options(Definition.PAPER, 0.01, "all", "csv")).reports[SAMPLED]
        for place in (ORDER, ODD, TYPO):
            assert (
                cells(app, place_key(place))[3].removesuffix(" ✓").split()
                == cell_text(expected.cell(*place)).plain.split()
            )
        cell = expected.cell(*ORDER)
        details = shown(app, "#details")
        assert f"{signed(cell.delta.mean)} {interval(cell.delta)}" in details
        assert f"{p_words(cell.delta.p)} · {p_words(cell.p_adjusted, 'Holm p')}" in details
        assert f"{cell.spread.original:.2f} → {cell.spread.changed:.2f}" in details
        assert f"{round(cell.dropped.invalid):,} answers drawn again" in details
        await to_row(app, pilot, place_key(TYPO))
        await press(app, pilot, "v")
        assert isinstance(app.screen, TextScreen)
        whole = shown(app, "#text")
        typo = expected.cell(*TYPO)
        for draw in typo.draws.draws:
            assert f"{draw.draw:>3}  {signed(draw.delta.mean):>6}" in whole
        for topic in typo.topics:
            assert f"{topic.topic}" in whole
        assert formula(TYPO, "paper", Bias.ODD_EVEN) in whole
        await press(app, pilot, "escape")
        await to_row(app, pilot, PEOPLE)
        await press(app, pilot, "v")
        assert "representativeness" in shown(app, "#text")


async def test_two_marked_models_have_their_difference_beside_and_samples_are_held_against_probabilities(
    filled: Path, judged: ResponseBiasJudged
) -> None:
    app = WorkbenchApp(filled, start="response_bias")
    rows = {row.bias: row for row in compared(judged, EXACT, SAMPLED).rows}
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "right", "d")
        assert "A is marked" in shown(app, "#options")
        await press(app, pilot, "right", "d")
        assert cells(app, place_key(ODD))[3].startswith(signed(rows[Bias.ODD_EVEN].change.mean))
        assert interval(rows[Bias.ODD_EVEN].change) in cells(app, place_key(ODD))[3]
        await press(app, pilot, "down")
        agreement = sampling_agreements(judged, EXACT, SAMPLED)[ODD]
        assert f"z = {agreement.z:+.2f}" in shown(app, "#details")
        assert "B − A" in shown(app, "#details")
        await press(app, pilot, "d")
        assert len(cells(app, place_key(ODD))) == 4  # the third model is back


async def test_a_cell_leads_to_its_questions_by_size_and_a_question_to_both_forms_draws_prompts_and_answers(
    filled: Path, judged: ResponseBiasJudged
) -> None:
    app = WorkbenchApp(filled, start="response_bias")
    rows = questions(judged, SAMPLED, ODD)
    async with app.run_test(size=(120, 36)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "right", "right", "right")  # the last one: it does not go around the end
        await to_row(app, pilot, place_key(ODD))
        await press(app, pilot, "enter")
        assert isinstance(app.screen, CellQuestionsScreen)
        assert table(app).keys == tuple(row.key for row in rows)
        assert [cells(app, row.key)[0] for row in rows] == [signed(row.delta) for row in rows]
        assert cells(app, rows[0].key)[4] == f"{rows[0].entropy:.2f}"
        await press(app, pilot, "t")
        assert table(app).keys == tuple(row.key for row in rows if row.topic == "topic-0")
        await press(app, pilot, "t", "t", "slash")
        app.screen.query_one(Input).value = "DISTRICT 3"
        await until(pilot, lambda: table(app).row_count == 1)
        await press(app, pilot, "enter")
        assert table(app).keys == ("s3",)
        await press(app, pilot, "escape", "c")
        assert "odd/even, key typo" in shown(app, "#about")
        typos = questions(judged, SAMPLED, TYPO)
        assert table(app).keys == tuple(row.key for row in typos)
        await press(app, pilot, "home", "enter")
        with Store.open(filled) as store:
            found = question(store, judged, SAMPLED, TYPO, typos[0].key)
            second = question(store, judged, SAMPLED, TYPO, typos[0].key, 2)
        for side, arm in (("#original", found.original), ("#changed", found.changed)):
            lines = shown(app, side).splitlines()
            for option in arm.options:
                (line,) = (line for line in lines if line.lstrip().startswith(f"{option.letter.upper()} "))
                assert f"{percent(option.share):>6}{option.count:>6.0f}" in line
                assert line.endswith(option.text)
            assert f"{arm.invalid} without a letter on offer" in " ".join(lines)
        assert "40 %" in shown(app, "#original")  # of the people
        assert "+[thxngs]" in shown(app, "#changed")
        assert "−[things]" in shown(app, "#original")
        await press(app, pilot, "right_square_bracket")
        assert "draw 2 of 2" in shown(app, "#about")
        assert f"entropy {second.changed.entropy:.2f}" in shown(app, "#changed")
        await press(app, pilot, "enter", "o")
        assert isinstance(app.screen, FormScreen)
        text = screen_text(app)
        assert "Please answer the following question with one of the alphabetical options" in text
        assert "How are thxxngs" in text
        assert "no letter, redrawn" in text
        assert "[/b]␛[1m" in text
        assert "template lettered" in shown(app, "#provenance").replace("\n", " ")
        await press(app, pilot, "enter")
        assert isinstance(app.screen, WholeAnswerScreen)


async def test_imported_answers_show_what_was_not_on_offer_and_texts_as_they_stand(
    filled: Path, judged: ResponseBiasJudged
) -> None:
    app = WorkbenchApp(filled, start="response_bias")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        assert "left out 1: no usable answer to the original form (1)" in shown(app, "#details").replace("\n", " ")
        await press(app, pilot, "enter")
        assert table(app).keys[-1] == "o2"
        assert cells(app, "o2")[0] == "left out"
        await press(app, pilot, "end")
        assert "takes no part: no usable answer to the original form" in shown(app, "#details")
        await press(app, pilot, "enter")
        assert "Z  answered 10×, though it was not on offer" in shown(app, "#original")
        while not shown(app, "#about").startswith("o0"):
            await press(app, pilot, "n")
        text = screen_text(app)
        assert "[@click=app.bell]x[/] ␛[31mred" in text
        assert "\\u202e" in text
        assert "[b]Trams" in text
        assert "=C" in shown(app, "#changed")
        await press(app, pilot, "right")  # the same question of the model that was asked exactly
        with Store.open(filled) as store:
            exact = question(store, judged, EXACT, ORDER, "o0")
        assert f"{exact.original.options[0].probability:.3f}" in shown(app, "#original")
        await press(app, pilot, "enter")
        assert "letter A" in screen_text(app)
        await press(app, pilot, "escape", "left", "enter")
        assert "These answers were imported" in screen_text(app)
        assert "\x1b[31m" not in screen_text(app)


async def test_a_warning_of_imported_answers_stands_with_the_cell_and_in_the_notes(tmp_path: Path) -> None:
    path = tmp_path / "warned.db"
    with new_store(path) as store:
        blank = Instrument("choices", "Choices", (), templates=shipped_templates("response_bias"))
        warned = [replace(one, warnings=("m/x.csv: rows may be shifted",)) for one in told()]
        store.instruments.add(with_pairs(blank, pairs(), warned))
    app = WorkbenchApp(path, start="response_bias")
    async with app.run_test(size=(80, 40)) as pilot:
        await begin(app, pilot)
        assert "warning: m/x.csv: rows may be shifted" in shown(app, "#details").replace("\n", " ")
        assert "warning: m/x.csv: rows may be shifted" in shown(app, "#notes").replace("\n", " ")
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
        await until(pilot, lambda: "i imports those that are shipped" in screen_text(app))
        await pilot.press("i")
        await until(pilot, lambda: "No model has answered the questions of veldania_choices" in screen_text(app))
        assert "workbench run STORE --audit response_bias" in screen_text(app)
        await pilot.press("escape")
        await until(pilot, lambda: app.current_mode == "home")
    options = build_parser().parse_args(["open", "choices.db", "--screen", "response_bias"])
    assert options.screen in app.MODES


def test_other_options_judge_the_same_answers_again_and_nothing_new_is_read_twice(
    filled: Path, judged: ResponseBiasJudged
) -> None:
    first = load(filled, Settings())
    assert load(filled, Settings(), first) is first
    for settings in (Settings(definition="head", alpha=0.001), Settings(holm="biases", entropy="csv")):
        again = load(filled, settings, first)
        assert again.judged is not None
        options = Options(Definition(settings.definition), settings.alpha, settings.holm, settings.entropy)
        with Store.open(filled) as store:
            direct = response_bias(store, ResponseBiasChoice(options=options))
        assert again.judged.reports[SAMPLED].options == options
        for name in judged.reports:
            figures = [
                [(c.place, c.delta.mean, c.effect, c.p_adjusted, c.uncertainty.r) for c in of.reports[name].cells]
                for of in (again.judged, direct)
            ]
            assert repr(figures[0]) == repr(figures[1])


@pytest.mark.parametrize("definition", ["corrected", "paper", "all keys", "head"])
def test_the_formula_that_is_written_is_the_one_by_which_a_change_is_computed(
    judged: ResponseBiasJudged, definition: str
) -> None:
    """The scale has five options, so that B and D stand beside its middle C."""
    report = rejudged(judged, Options(Definition(definition))).reports[EXACT]
    for place, letters in ((ODD, "BD"), (TYPO, "BD"), (ORDER, "A")):
        said = formula(place, definition, place[0])
        assert ("q' − " in said) == (place[0] is Bias.ODD_EVEN)
        table_ = next(t for t in judged.subjects[EXACT].tables if (t.bias, t.condition) == place[:2])
        at = ["ABCDE".index(letter) for letter in letters]
        shares = table_.counts[0][:, at].sum(axis=1) / table_.counts[0].sum(axis=1)
        sign = 1 if place[0] is Bias.ODD_EVEN else -1
        if place is not TYPO:  # whose change is that of the mean over draws
            assert report.cell(*place).deltas.values[0] == pytest.approx(100 * sign * (shares[1] - shares[0]))
    forbid: Place = (Bias.ALLOW_FORBID, None, "")
    turned = definition in ("corrected", "head")
    assert formula(forbid, definition, Bias.ALLOW_FORBID) == ("B in q − A in q'" if turned else "A in q − B in q'")
    copied: Place = (Bias.OPINION_FLOAT, Perturbation.KEY_TYPO, "")
    said = formula(copied, definition, Bias.ODD_EVEN)
    assert said == ("the middle in q − in q'" if definition == "corrected" else "B and D in q' − in q")


def test_what_has_no_test_is_no_verdict_and_the_published_score_has_a_row_where_it_is_another(tmp_path: Path) -> None:
    """Four questions answered alike on allow/forbid, whose sign `paper` reverses; nothing valid; a single question."""
    moved = (ArmAnswers({"a": 9, "b": 1}, 2, 2), ArmAnswers({"a": 5, "b": 5}, 2, 2))
    more = (ArmAnswers({"a": 8, "b": 2}, 2, 2), ArmAnswers({"a": 5, "b": 5}, 2, 2))
    never = (ArmAnswers({"z": 10}, 2, 2), ArmAnswers({"z": 10}, 2, 2))
    answers = {"moved": (moved, more, moved, more), "never": (never, never), "single": (moved,)}
    sets = tuple(
        AnswerSet(name, Bias.ALLOW_FORBID, None, tuple(AnsweredPair(f"f{n}", *arms) for n, arms in enumerate(rows)))
        for name, rows in answers.items()
    )
    with new_store(tmp_path / "few.db") as store:
        store.instruments.add(with_pairs(Instrument("few", "Few", ()), (), sets))
    for definition, published in (("corrected", []), ("paper", ["+1 of 1", "– no test"])):
        loaded = load(tmp_path / "few.db", Settings(definition=definition))
        look = Shown(Look("never"))
        rows = {
            key: [cell.plain.strip() for cell in row[1:]]
            for key, row in matrix_records(look, loaded, 100, unfolded=False)
        }
        assert rows[SCORE][::2] == ["-1 of 1", "– no test"]
        assert rows.get(SIGNED, [])[:3:2] == published
        assert rows[LIKENESS][2] == "– open"
        assert rows[VALID][1] == "0.0 %"
        if definition == "paper":
            continue  # which counts every answer, valid or not
        assert rows[SCORE][1] == "– no test"
        assert rows[LIKENESS][1] == "– open"
        said = details(look, loaded, place_key((Bias.ALLOW_FORBID, None, ""))).plain
        assert "no question takes part" in said
        assert "most human-like" not in said
        assert "no bias has a test" in details(look, loaded, SCORE).plain


def test_answers_that_differ_in_a_blank_are_told_apart() -> None:
    asked = FormAsked(None, "", "abc", tuple(AnswerRow(text, 3, "a", math.nan) for text in (" A", "A", "  ", "")))
    shown_ = [form_record(place, row, asked, 80)[1][2].plain for place, row in enumerate(asked.rows)]
    assert shown_ == ["␣A", "A", "␣␣", EMPTY]


def test_the_chosen_model_keeps_a_column_and_long_names_keep_their_ends() -> None:
    names = tuple("abcdefgh")
    for width in (80, 100, 140):
        for chosen in names:
            first, last = window(Look(chosen), names, width)
            assert first <= names.index(chosen) < last
    assert head("meta-llama/Llama-3.1-8B-Instruct · exact", Look(), 20).endswith("· exact")
    assert place_of(place_key(TYPO)) == TYPO
    assert place_of(SCORE) is None
