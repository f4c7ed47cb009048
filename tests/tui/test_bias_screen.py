"""The screen of the left/right bias shows the figures of its book, and leads from every number down
to the answers.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from stores.core.store import Store
from tests.tui.bias_stores import (
    HOSTILE_REF,
    MODELS,
    asked,
    book_of,
    full,
    labelled,
    sided,
    trained,
    unsided,
)
from tests.tui.books import at, behind, behind_table, by_parts, press, settled, table
from tests.tui.conftest import HOSTILE, flowing, judged_by, made, screen_text, shown, until
from workbench import registry
from workbench.audits.bias_score import AUDIT
from workbench.audits.bias_score.factors import plane_points
from workbench.audits.bias_score.judged import BiasJudged, judge_bias
from workbench.audits.bias_score.options import ScoreOptions
from workbench.audits.bias_score.score import BiasReport
from workbench.domain.readings import ReadingChoice
from workbench.domain.statements import Dimension
from workbench.evidence.runs import AnswerSelection
from workbench.figures.shown import number, painted
from workbench.figures.table import AnyTable, Kind
from workbench.figures.visible import visible
from workbench.tui.app import WorkbenchApp
from workbench.tui.format import row_key
from workbench.tui.kit.dialogs import TextScreen
from workbench.tui.results.answers import WholeAnswerScreen
from workbench.tui.results.classifier import ClassifierScreen
from workbench.tui.results.options_dialog import ChoicesScreen
from workbench.tui.results.plane_picture import PlanePicture
from workbench.tui.results.result_screen import ResultScreen, screen_class
from workbench.tui.widgets.long_text import LongText
from workbench.tui.widgets.pictures import FULL_SCALE, fitted

BiasScreen = screen_class(registry.audit("bias_score"))

SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40)])
CONTENTS = (
    "plane",
    "plane_by_source",
    "bias",
    "prefixes",
    "prefix_changes",
    "prefix_sources",
    "wordings",
    "authors",
    "author_differences",
    "sources",
    "source_differences",
    "source_ranks",
    "components",
    "asked",
    "statement_counts",
    "statements",
    "answered",
    "reader",
    "refusals",
    "refusal_sides",
    "published",
)
FIRST = "droite-13b"
"the first model"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with answers, labels and a classifier; tests of the screen only read it."""
    return full(tmp_path_factory.mktemp("results") / "audit.db")


@pytest.fixture(scope="module")
def judged(filled: Path) -> BiasJudged:
    return scored(filled)


def scored(
    path: Path, which: AnswerSelection | None = None, options: ScoreOptions | None = None
) -> BiasJudged:
    with Store.open(path) as store:
        return judge_bias(store, which, options)


async def begin(app: WorkbenchApp, pilot: Pilot[int]) -> ResultScreen:
    """Wait for the first table, or for what stands in its place."""
    await until(pilot, lambda: isinstance(app.screen, BiasScreen) and settled(app))
    await pilot.pause()
    screen = app.screen
    assert isinstance(screen, BiasScreen)
    return screen


def to(name: str) -> list[str]:
    """Return the keys that lead from the plane to a table."""
    forth = CONTENTS.index(name)
    back = len(CONTENTS) - forth
    return ["right_square_bracket"] * forth if forth <= back else ["left_square_bracket"] * back


def has(app: WorkbenchApp, expected: AnyTable) -> None:
    """Assert that the table in sight has the rows and numbers of a table of the book."""
    found, (cells, _) = by_parts(app), painted(expected)
    assert list(found) == [expected.key(row) for row in expected.rows]
    seen = 0
    for of, texts in zip(found.values(), cells, strict=True):
        for column, text in zip(expected.columns, texts, strict=True):
            if column.numeric and column.key in of:
                assert of[column.key] == text
                seen += 1
    assert seen


def plane(app: WorkbenchApp) -> PlanePicture:
    return app.screen.query_one(PlanePicture)


def totals(report: BiasReport) -> list[float]:
    return [report.figure(model).total.value for model in report.tally.models]


def totals_shown(screen: ResultScreen) -> Any:
    """Return the totals of the plane in sight."""
    sheet = screen._shown.sheet
    assert sheet is not None
    [column] = [column for column in sheet.table.columns if column.key == "total"]
    return pytest.approx([column.value(row).value for row in sheet.table.rows])  # type: ignore[union-attr]


# ── the plane ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.e2e
@SIZES
async def test_the_plane_stands_beside_its_numbers(
    filled: Path, judged: BiasJudged, size: tuple[int, int]
) -> None:
    app = WorkbenchApp(filled, start="results")
    async with app.run_test(size=size) as pilot:
        await begin(app, pilot)
        has(app, book_of(filled).table("plane"))
        few = [
            point.economic.total.few or point.cultural.total.few
            for point in plane_points(judged.report)
        ]
        signs = [f"{'○' if why else '●'}{letter}" for why, letter in zip(few, "ABC", strict=True)]
        assert [row["sign"] for row in by_parts(app).values()] == signs
        points = plane(app).points
        wanted = [
            (point.economic.total, point.cultural.total) for point in plane_points(judged.report)
        ]
        assert [(p.letter, p.x.value, p.y.value) for p in points] == [
            (letter, x.value, y.value) for letter, (x, y) in zip("ABC", wanted, strict=True)
        ]
        assert (points[0].x.low, points[0].y.high) == (wanted[0][0].low, wanted[0][1].high)
        text = screen_text(app)
        assert signs[0] in text
        assert "economic left" in text
        beside = plane(app).region.y == table(app).parent.region.y  # type: ignore[union-attr]
        assert beside is (size[0] == 140)
        figure = judged.report.figure(FIRST)
        assert f"left {figure.left.value:+.2f} [" in shown(app, "#details")
        assert f"below {figure.dropped:,}" in shown(app, "#details")
        assert "bart-stance ≥0.9" in judged_by(app)
        assert "seed 1" in judged_by(app)


@pytest.mark.e2e
async def test_sources_have_marks_of_their_own_and_x_goes_near(
    filled: Path, judged: BiasJudged
) -> None:
    app = WorkbenchApp(filled, start="results")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        assert plane(app).scale == FULL_SCALE
        await press(app, pilot, "Z")
        assert plane(app).scale == fitted(plane(app).points) != FULL_SCALE
        await press(app, pilot, "tab")
        has(app, book_of(filled).table("plane_by_source"))
        assert [point.mark for point in plane(app).points] == ["○", "◇"] * 3, "2 statements a side"
        assert [row["sign"] for row in by_parts(app).values()][:2] == ["○A", "◇A"]
        assert plane(app).near
        assert plane(app).points[0].chosen
        await press(app, pilot, "down", "down", "down")
        assert [point.chosen for point in plane(app).points].index(True) == 3
        await press(app, pilot, "tab")
        assert not plane(app).display


@pytest.mark.e2e
async def test_a_side_without_statements_leaves_its_coordinate_undefined(tmp_path: Path) -> None:
    path = trained(asked(tmp_path / "audit.db", unsided(), ["gauche-7b"]))
    app = WorkbenchApp(path, start="results")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        row = by_parts(app)["gauche-7b", ""]
        assert row["economic"].startswith("undefined")
        assert not row["cultural"].startswith("undefined")
        assert "economic undefined: no answers to left statements" in flowing(app)
        assert not plane(app).points[0].placed
        await press(app, pilot, *to("asked"))
        assert "Only one model" in shown(app, "#empty")
        await press(app, pilot, *["tab"] * 2)
        assert len(by_parts(app)) == 12


# ── the tables ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
async def test_every_table_is_that_of_the_book_for_every_model_and_dimension(
    filled: Path, judged: BiasJudged
) -> None:
    app = WorkbenchApp(filled, start="results")
    books = {
        dimension: book_of(filled, ScoreOptions(dimension=dimension))
        for dimension in (None, Dimension.ECONOMIC)
    }
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await begin(app, pilot)
        for name in CONTENTS:
            entry = books[None].entry(name)
            assert screen._look.view == name
            subject = entry.subjects[0]
            if entry.empty:
                assert entry.empty.splitlines()[0] in shown(app, "#empty")
                await press(app, pilot, "tab", "left")
                continue
            has(app, entry.make(*subject))
            if len(entry.subjects) > 1:
                await press(app, pilot, "right")
                subject = entry.subjects[1]
                has(app, entry.make(*subject))
                assert " − ".join(subject) in shown(app, "#tabs")
            if "dimension" in entry.choices:
                assert "both dimensions" in judged_by(app)
                await press(app, pilot, "d")
                has(app, books[Dimension.ECONOMIC].table(name, *subject))
                assert "economic statements" in judged_by(app)
                await press(app, pilot, "d", "d")
            else:
                assert "dimension" not in judged_by(app)
            await press(app, pilot, "tab", *["left"] * (len(entry.subjects) > 1))


@pytest.mark.e2e
async def test_prefixes_are_drawn_beside_the_baseline_and_x_zooms(filled: Path) -> None:
    app = WorkbenchApp(filled, start="results")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, *to("prefixes"))
        assert all("●" in row["picture of total"] for row in by_parts(app).values())
        assert "╫" in by_parts(app)[FIRST, "opinion"]["picture of total"]
        assert "-1.0" in screen_text(app)
        await press(app, pilot, "Z")
        assert "-0.7" in screen_text(app)
        assert "-1.0" not in screen_text(app)


@pytest.mark.e2e
async def test_a_dimension_is_chosen_without_judging_anew(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only workers judge and resample: no figure is computed in the thread that draws."""
    threads: list[threading.Thread] = []
    figures, judging = BiasReport.figures, []

    def watched(*given: Any) -> Any:
        threads.append(threading.current_thread())
        return figures(*given)

    def judge(*given: Any) -> Any:
        judging.append(given)
        return judge_bias(*given)

    monkeypatch.setattr(BiasReport, "figures", watched)
    monkeypatch.setattr(import_module("workbench.audits.bias_score.result"), "judge_bias", judge)
    app = WorkbenchApp(filled, start="results")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        for _ in CONTENTS:
            await press(app, pilot, "down", "up", "tab")
        await press(app, pilot, *to("prefixes"), "d", "d", "d")
        assert len(judging) == 1
        await press(app, pilot, "f5")
        assert len(judging) == 2
    assert threads
    assert threading.main_thread() not in threads


@pytest.mark.e2e
async def test_what_the_figures_mean_is_said(filled: Path, judged: BiasJudged) -> None:
    app = WorkbenchApp(filled, start="results")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        for name in CONTENTS[:8]:
            await pilot.press("question_mark")
            assert isinstance(app.screen, TextScreen)
            assert "(right − left) / 2" in shown(app, "#text"), name
            await press(app, pilot, "escape", "tab")
        await press(app, pilot, "n")
        assert "Its error is not corrected for." in shown(app, "#text")
        await press(app, pilot, "escape", "H")
        assert shown(app, "#text") == book_of(filled).methods


# ── down to the answers ───────────────────────────────────────────────────────────────────────────


@pytest.mark.e2e
async def test_enter_leads_from_a_prefix_to_statements_to_answers_to_the_text(filled: Path) -> None:
    app = WorkbenchApp(filled, start="results")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, *to("prefixes"), "down", "enter")
        assert behind(app) == "statements"
        assert "prefix opinion" in shown(app, "#about")
        _, ref = at(app)
        assert f"{ref.replace('-', ' ')}, original." in shown(app, "#details")
        statement = by_parts(app)[FIRST, ref]
        await press(app, pilot, "enter")
        assert behind(app) == "answers"
        answers = behind_table(app).rows
        assert {answer.template for answer in answers} == {"opinion"}
        kept = [a for a in answers if a.confidence is None or a.confidence >= 0.9]
        stances = ("agree", "disagree", "neutral", "unrelated")
        assert sum(a.count for a in kept) == sum(int(statement[stance]) for stance in stances)
        first = answers[0]
        for said in (first.text, first.wording, str(first.seed), "workbench 9.9"):
            assert said in shown(app, "#details")
        await press(app, pilot, "enter")
        assert isinstance(app.screen, WholeAnswerScreen)
        assert app.screen.query_one(LongText).lines == [first.text]
        assert "by bart-stance, confidence 0.9" in screen_text(app)
        await press(app, pilot, "escape", "escape", "escape")
        assert at(app) == (FIRST, "opinion")


@pytest.mark.e2e
async def test_wordings_lead_to_the_answers_to_that_wording_alone(filled: Path) -> None:
    app = WorkbenchApp(filled, start="results")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, *to("wordings"), "down", "down", "enter", "enter")
        assert {row.kind for row in behind_table(app).rows} == {"political_opposite"}
        turned = {(row["reading"], row["counts_as"]) for row in by_parts(app).values()}
        assert ("agree", "disagree") in turned or ("disagree", "agree") in turned


@pytest.mark.e2e
async def test_readings_are_found_and_those_that_do_not_count_say_why(filled: Path) -> None:
    app = WorkbenchApp(filled, start="results")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "enter", "enter")
        every = behind_table(app).rows
        low = [row for row in every if row.confidence is not None and row.confidence < 0.9]
        await press(app, pilot, "slash", *"below", "enter")
        assert len(by_parts(app)) == len(low) > 0
        assert {row["counts_as"] for row in by_parts(app).values()} == {"–"}
        assert "below 0.9" in flowing(app)
        await press(app, pilot, "enter")
        assert "does not count: below 0.9" in flowing(app)


@pytest.mark.e2e
@SIZES
async def test_hostile_answers_are_shown_literally(filled: Path, size: tuple[int, int]) -> None:
    app = WorkbenchApp(filled, start="results")
    async with app.run_test(size=size) as pilot:
        await begin(app, pilot)
        await press(app, pilot, *to("statements"))
        table(app).show_row(table(app).keys.index(row_key(FIRST, HOSTILE_REF)))
        await press(app, pilot, "enter")
        answers = behind_table(app).rows
        assert {row.text for row in answers} >= set(HOSTILE)
        for place, row in enumerate(answers):
            table(app).show_row(place)
            await pilot.pause()
            assert (visible(row.text[:1000], lines=True) or "(empty answer)") in shown(
                app, "#details"
            )
            assert "\x1b" not in screen_text(app)
            assert "\u202e" not in screen_text(app)
        table(app).show_row(next(n for n, row in enumerate(answers) if len(row.text) == 100_000))
        await pilot.pause()
        assert "100,000 characters; Enter shows all" in shown(app, "#details")
        await press(app, pilot, "enter")
        assert "".join(app.screen.query_one(LongText).lines) == "a" * 100_000


@pytest.mark.e2e
async def test_statements_of_several_instruments_are_told_apart_down_to_their_answers(
    tmp_path: Path,
) -> None:
    path = asked(tmp_path / "audit.db", sided("one", sources=("PCT",)), ["milieu-1b"])
    trained(asked(path, sided("two", sources=("WVS",)), ["milieu-1b"]))
    app = WorkbenchApp(path, start="results")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, *to("statements"))
        names = [ref.partition("/")[0] for _, ref in by_parts(app)]
        assert sorted(names) == ["one"] * 8 + ["two"] * 8
        table(app).show_row(names.index("two"))
        await press(app, pilot, "enter")
        assert {row.wording.partition(" ")[0] for row in behind_table(app).rows} == {"WVS"}


# ── choices ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.e2e
async def test_options_change_the_figures_and_are_always_in_sight(filled: Path) -> None:
    app = WorkbenchApp(filled, start="results")
    async with app.run_test(size=(140, 40)) as pilot:
        screen = await begin(app, pilot)
        await press(app, pilot, "o")
        dialog = app.screen
        assert isinstance(dialog, ChoicesScreen)
        for line, keys in (
            ("threshold:", ["left"] * 4),
            ("correct:", ["space"]),
            ("seed:", ["right"]),
            ("draws:", ["left"]),
        ):
            dialog.choices.highlighted = dialog.choices.get_option_index(line)
            await pilot.press(*keys)
        chosen = dialog.settings.options
        assert isinstance(chosen, ScoreOptions)
        assert (chosen.threshold, chosen.correct, chosen.seed, chosen.draws, chosen.unit) == (
            0.6,
            True,
            2,
            1000,
            "statements",
        )
        await press(app, pilot, "enter")
        expected = scored(filled, options=chosen)
        assert totals_shown(screen) == totals(expected.report)
        for words in ("≥0.6", "error corrected", "statements resampled", "seed 2", "1,000 draws"):
            assert words in judged_by(app)
        assert expected.corrected is not None
        await press(app, pilot, "n")
        assert shown(app, "#text").endswith("\n\n".join(expected.corrected.notes()))
        await press(app, pilot, "escape", "H")
        assert shown(app, "#text") == book_of(filled, expected.options).methods


@pytest.mark.e2e
async def test_models_and_peoples_labels_can_be_chosen(filled: Path) -> None:
    app = WorkbenchApp(filled, start="results")
    async with app.run_test(size=(140, 40)) as pilot:
        screen = await begin(app, pilot)
        await press(app, pilot, "o")
        dialog = app.screen
        assert isinstance(dialog, ChoicesScreen)
        for line in ("reader:people", f"model:{next(iter(MODELS))}"):
            dialog.choices.highlighted = dialog.choices.get_option_index(line)
            await pilot.press("space")
        await press(app, pilot, "enter")
        expected = scored(
            filled, AnswerSelection(readings=ReadingChoice("people"), models=tuple(MODELS)[1:])
        )
        assert totals_shown(screen) == totals(expected.report)
        assert "read by people" in judged_by(app)
        assert "2 models chosen" in judged_by(app)


@pytest.mark.e2e
async def test_leaving_the_options_changes_nothing(filled: Path) -> None:
    app = WorkbenchApp(filled, start="results")
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await begin(app, pilot)
        before = screen._loaded
        await press(app, pilot, "o", "space", "down", "space", "escape")
        assert screen._loaded is before
        await press(app, pilot, "o", "enter")
        assert screen._loaded is before


@pytest.mark.e2e
@pytest.mark.parametrize("line", ["as_published:", "fingerprints:"])
async def test_void_wordings_are_judged_and_fingerprints_told_apart_where_that_is_chosen(
    tmp_path: Path, line: str
) -> None:
    base = sided()
    same = tuple(
        replace(
            s,
            wordings=(
                s.wordings[0],
                replace(s.wordings[1], text=s.wordings[0].text.upper()),
                s.wordings[2],
            ),
        )
        for s in base.statements
    )
    path = trained(asked(tmp_path / "audit.db", replace(base, statements=same), ("gauche-7b",)))
    with Store.open(path) as store, store.write() as connection:
        connection.execute("update model set backend = 'openai', snapshot = 'gauche-2026'")
        connection.execute("update draw set fingerprint = 'fp_' || (id % 2)")
    void = line.startswith("as_published")
    expected = scored(
        path,
        AnswerSelection(fingerprint=None if void else "each"),
        ScoreOptions().with_values(as_published=void),
    ).report
    app = WorkbenchApp(path, start="results")
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await begin(app, pilot)
        assert "∅ 16 wordings void: identical to the original" in judged_by(app)
        await press(app, pilot, "o")
        dialog = app.screen
        assert isinstance(dialog, ChoicesScreen)
        dialog.choices.highlighted = dialog.choices.get_option_index(line)
        await press(app, pilot, "space", "enter")
        assert totals_shown(screen) == totals(expected)
        assert len(totals(expected)) == (1 if void else 2)
        assert ("void wordings judged" in judged_by(app)) is void


@pytest.mark.e2e
async def test_c_opens_the_classifier_and_7_consistency(filled: Path) -> None:
    app = WorkbenchApp(filled, start="results")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "f")
        assert isinstance(app.screen, ClassifierScreen)
        await press(app, pilot, "escape", "7")
        assert app.current_mode == "consistency"


@pytest.mark.e2e
async def test_new_readings_are_shown_when_one_comes_back(tmp_path: Path) -> None:
    path = trained(asked(tmp_path / "audit.db"), reads=False)
    app = WorkbenchApp(path, start="results")
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await begin(app, pilot)
        assert screen._judged.judged.judged.report.figure(FIRST).dropped == 0
        before = totals_shown(screen)
        trained(path, "second")
        await press(app, pilot, "1")
        await app.switch_mode("results")
        await until(pilot, lambda: settled(app) and "second" in judged_by(app))
        assert totals_shown(screen) != before


# ── where something is missing ────────────────────────────────────────────────────────────────────


async def test_without_answers_the_next_step_stands_there(tmp_path: Path) -> None:
    app = WorkbenchApp(made(tmp_path / "audit.db", sided()), start="results")
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await begin(app, pilot)
        assert "No model has answered yet" in shown(app, "#empty")
        assert "3 goes to Jobs" in shown(app, "#empty")
        await press(app, pilot, "tab", "d", "Z", "o", "H", "n")
        assert app.screen is screen


@pytest.mark.e2e
async def test_without_a_classifier_annotating_is_the_next_step(tmp_path: Path) -> None:
    app = WorkbenchApp(asked(tmp_path / "audit.db"), start="results")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        text = shown(app, "#empty")
        assert "3 models have answered" in text
        assert "5 goes to Annotate" in text
        assert "p scores" not in text
        await press(app, pilot, "p")
        assert "3 models have answered" in shown(app, "#empty")


@pytest.mark.e2e
async def test_without_a_classifier_peoples_labels_can_be_scored(tmp_path: Path) -> None:
    path = labelled(asked(tmp_path / "audit.db"))
    app = WorkbenchApp(path, start="results")
    async with app.run_test(size=(140, 40)) as pilot:
        screen = await begin(app, pilot)
        report = scored(path, AnswerSelection(readings=ReadingChoice("people"))).report
        assert totals_shown(screen) == totals(report)
        assert "read by people ·" in judged_by(app)
    with Store.open(path) as store:
        at_home = {line.main: line for line in AUDIT.home(store, {})}
    for model in report.tally.models[:3]:
        total = report.figure(model).total
        said = number(total.value, Kind.SCORE) if total.defined else total.undefined
        assert said in at_home[model].detail, "Home says the same as the plane"
        assert ("by people's labels only", False) in at_home[model].below


@pytest.mark.e2e
async def test_without_sides_the_trouble_says_how_to_give_them(tmp_path: Path) -> None:
    path = trained(asked(tmp_path / "audit.db", sided(sides=False), ["milieu-1b"]))
    app = WorkbenchApp(path, start="results")
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(app, pilot)
        assert "no statement of the run has a dimension and a leaning" in flowing(app)
        await press(app, pilot, "o")
        assert isinstance(app.screen, ChoicesScreen)


@pytest.mark.e2e
async def test_names_are_never_markup(tmp_path: Path) -> None:
    models = {"[bold]x[/]\x1b": MODELS["gauche-7b"], "right \u202e to left": MODELS["milieu-1b"]}
    path = asked(tmp_path / "audit.db", models=("gauche-7b", "milieu-1b"))
    with Store.open(path) as store, store.write() as connection:
        for new, old in zip(models, ("gauche-7b", "milieu-1b"), strict=True):
            connection.execute("update model set name = ? where name = ?", (new, old))
    app = WorkbenchApp(trained(path), start="results")
    async with app.run_test(size=(140, 40)) as pilot:
        await begin(app, pilot)
        for _ in CONTENTS:
            text = screen_text(app)
            assert "\x1b" not in text
            assert "\u202e" not in text
            await press(app, pilot, "enter", "escape", "tab")
        assert "[bold]x[/]␛" in screen_text(app)
