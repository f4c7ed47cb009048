"""What a test set stands for is said wherever its figures are: on screens, in the shell and in
JSON.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.cli.test_commands import data, rows
from tests.stores.test_evaluation import label, registered, trained_on
from tests.tui.bias_stores import asked, sided
from tests.tui.conftest import flowing, judged_by, screen_text, shown, until
from tests.tui.test_classifier_screen import opened
from workbench import registry
from workbench.audits.bias_score.judged import judge_bias
from workbench.audits.bias_score.options import ScoreOptions
from workbench.evidence.reader_quality import UNKNOWN
from workbench.tui.app import WorkbenchApp
from workbench.tui.kit.dialogs import TextScreen
from workbench.tui.results.result_screen import screen_class

BiasScreen = screen_class(registry.audit("bias_score"))

SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40)])
KNOWN = pytest.mark.parametrize("known", [True, False])


@pytest.fixture
def path(tmp_path: Path, known: bool, capsys: pytest.CaptureFixture[str]) -> Path:
    """A store with a classifier and its test set of 30 texts, whose inclusion probabilities are
    known or not.
    """
    some = replace(sided(), statements=sided().statements[:6])
    path = asked(tmp_path / "audit.db", some, ("gauche-7b", "milieu-1b"))
    trained_on(path)
    drawn = data(capsys, "sample", path, "--name", "test", "--purpose", "test", "--limit", "30")
    assert 0 < drawn["items"] <= 30
    assert (
        drawn["frame"]["answers"]
        > drawn["frame"]["certain_answers"]
        > 0
        < drawn["frame"]["outside"]
    )
    label(path, "test", "ana")
    if not known:
        with Store.open(path) as store, store.write() as connection:
            connection.execute("update queue_item set inclusion = null, answers = null")
    registered(path)
    return path


@pytest.mark.e2e
@KNOWN
def test_the_shell_says_what_a_test_stands_for_and_what_a_correction_rests_on(
    path: Path, known: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    found = data(capsys, "classifiers", path)
    test = found["test"]
    assert test["inclusion_known"] is known
    assert test["stands_for"].startswith(UNKNOWN) is not known
    assert (test["effective_n"] is not None, test["certainty_share"] is not None) == (known, known)
    assert all(
        row["unsettled_wrong"] is row["unsettled_right"] is None for row in rows(found, "ways")
    ), "none is open"
    told = data(capsys, "show", path, "bias_score", "--correct", "--draws", "50")["correction"]
    with Store.open(path) as store:
        corrected = judge_bias(store, options=ScoreOptions(correct=True, draws=50)).corrected
    assert corrected is not None
    assert (told["texts"] > 0) is known
    assert [told[name] for name in ("corrected", "labelled", "untested", "later")] == [
        corrected.corrected,
        corrected.labelled,
        corrected.untested,
        corrected.later,
    ]
    assert data(capsys, "show", path, "bias_score", "--draws", "50")["correction"] is None


@pytest.mark.e2e
@KNOWN
@SIZES
async def test_the_screens_say_what_a_correction_and_a_test_rest_on(
    path: Path, known: bool, size: tuple[int, int]
) -> None:
    with Store.open(path) as store:
        corrected = judge_bias(store, options=ScoreOptions(correct=True, draws=50)).corrected
    assert corrected is not None
    app = WorkbenchApp(path, start="results")
    async with app.run_test(size=size) as pilot:
        await until(
            pilot, lambda: isinstance(app.screen, BiasScreen) and app.screen._judged is not None
        )
        screen = app.screen
        assert isinstance(screen, BiasScreen)
        await until(pilot, lambda: screen._shown.sheet is not None)
        assert "error not corrected" in judged_by(app)
        screen._set(replace(screen._settings, options=ScoreOptions(correct=True, draws=50)))
        await until(pilot, lambda: corrected.in_short() in judged_by(app))
        assert ("; 0 drawn labels" in judged_by(app)) is not known
        assert " ".join(corrected.in_short().split()[:4]) in flowing(app)
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        assert shown(app, "#text").endswith("\n\n".join(corrected.notes()))
        await pilot.press("escape")
        await opened(app, pilot)
        last = next(
            words
            for words in judged_by(app).replace("\n", " · ").split(" · ")
            if words.startswith("of ")
        )
        assert (last == "of the test set alone (inclusion unknown)") is not known
        assert ("effective n" in last) is known
        await app.switch_mode("home")
        await until(pilot, lambda: last in " ".join(screen_text(app).split()))
