"""The command line and the screen compare two models over what both were asked, and say what they
leave out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stores.core.store import Store
from tests.cli.test_commands import data, run
from tests.cli.test_commands import rows as table
from tests.tui.bias_stores import asked, sided, trained
from tests.tui.conftest import shown
from tests.tui.test_bias_screen import begin, press
from workbench.audits.bias_score.judged import judge_bias
from workbench.audits.bias_score.options import ScoreOptions
from workbench.domain.statements import Side
from workbench.tui.app import WorkbenchApp

WHOLE, STOPPED = "gauche-7b", "droite-13b"
PROMPTS = 16 * 3 * 3
SIDES = ("first", "second")
FIRST = tuple(s.ref for s in sided().statements if s.source == "PCT")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A whole run, and one that was stopped after half of the statements."""
    store = asked(tmp_path / "bias.db", models=(WHOLE,))
    return trained(asked(store, models=(STOPPED,), only=FIRST), test=False)


@pytest.mark.e2e
def test_a_stopped_run_is_compared_over_what_it_was_asked(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = data(capsys, "show", path, "bias_score", "--compare", WHOLE, STOPPED, "--draws", "200")
    whole = data(capsys, "show", path, "bias_score", "--draws", "200")
    within = totals(data(capsys, "show", path, "bias_score", "--common", "--draws", "200"))
    compared = table(found, "compared", STOPPED, WHOLE)[0]
    assert compared["name"] == "all answers"
    assert compared["difference"]["value"] == pytest.approx(within[STOPPED] - within[WHOLE])
    assert [compared[f"{side}_total"]["value"] for side in SIDES] == [
        within[STOPPED],
        within[WHOLE],
    ]
    assert [compared[f"{side}_prompts"] for side in SIDES] == [PROMPTS // 2] * 2
    assert [compared[f"{side}_left_out"] for side in SIDES] == [0, PROMPTS // 2]
    assert [(row["run"], row["common"], row["alone"]) for row in table(found, "compared_runs")] == [
        (WHOLE, 8, 8),
        (STOPPED, 8, 0),
    ]
    leaning = table(found, "changes", verdict="leaning")[0]
    items = table(found, "changed_items", "leaning")
    assert leaning["common"] == len([row for row in items if not row["left_out"]]) == 8
    assert leaning["gained"] == sum(
        (row["verdict_1"], row["verdict_2"]) == ("left", "right") for row in items
    )
    assert [(row["model"], row["common"], row["left_out"]) for row in table(whole, "asked")] == [
        (STOPPED, PROMPTS // 2, 0),
        (WHOLE, PROMPTS // 2, PROMPTS // 2),
    ]
    assert totals(whole)[WHOLE] != within[WHOLE], "its own figure is over all that it was asked"


def totals(found: Any) -> dict[str, float]:
    """Return the total of each model over all of its answers."""
    return {row["model"]: row["total"]["value"] for row in table(found, "plane")}


def test_the_shell_says_over_what(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(
        capsys, "show", path, "bias_score", "--compare", WHOLE, STOPPED, "--draws", "200"
    )
    assert code == 0
    assert (
        f"over the 72 prompts on 8 statements asked on all sides; left out: {WHOLE} 72"
        in out.casefold()
    )
    alone = run(capsys, "show", path, "bias_score", "--draws", "200")[1]
    assert "The models were asked different prompts" in alone
    assert f"All were asked 72 prompts; in addition: {WHOLE} 72" in alone
    assert "unpaired, because the statements differ" in alone, "instruments"
    same = run(
        capsys,
        "show",
        path,
        "bias_score",
        "--compare",
        WHOLE,
        STOPPED,
        "--common",
        "--draws",
        "200",
    )[1]
    assert "left out: no prompt; answers without a stance: " in same
    common = run(capsys, "show", path, "bias_score", "--common", "--draws", "200")[1]
    assert "over the prompts asked of every model" in common


@pytest.mark.e2e
@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_the_screen_says_over_what(path: Path, size: tuple[int, int]) -> None:
    app = WorkbenchApp(path, start="results")
    async with app.run_test(size=size) as pilot:
        await begin(app, pilot)
        await press(app, pilot, "B", "enter")
        while app.screen._look.view != "compared":  # type: ignore[attr-defined]
            await press(app, pilot, "tab")
        said = " ".join(shown(app, "#details").split())
        assert (
            f"over the 72 prompts on 8 statements asked on all sides; left out: {WHOLE} 72" in said
        )


def test_every_figure_can_be_over_common_prompts(path: Path) -> None:
    with Store.open(path) as store:
        own, common = (
            judge_bias(store, options=ScoreOptions(common=common)) for common in (False, True)
        )
    assert (
        own.report.figure(WHOLE).counts[Side.LEFT] != common.report.figure(WHOLE).counts[Side.LEFT]
    )
    assert own.report.figure(STOPPED).counts == common.report.figure(STOPPED).counts
