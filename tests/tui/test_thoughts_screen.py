"""What was thought before an answer stands behind a fold, on every screen of answers; one key opens
it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.jobs.test_snapshots import done
from tests.tui.audit_runs import NO, YES, Answers, answers, audited
from tests.tui.books import row
from tests.tui.conftest import screen_text, shown, until
from tests.tui.test_audit_responses import SIZES, opened, responses, rows, table
from workbench.domain.designs import Design
from workbench.domain.prompts import Probe
from workbench.tui.app import WorkbenchApp
from workbench.tui.format import percent

TRACE = "Some would agree. [/INST] But I do not."


def thinking(probe: Probe) -> Answers:
    """Return what the model says: to the first statement it thinks, and hardly ever comes to an
    end.
    """
    if probe.statement != "soc-07" or probe.variant != "original":
        return answers(probe)
    return ((f"<think>{TRACE}</think>{NO}", 2), (f"<think>{TRACE}", 27), (NO, 1))


@pytest.fixture
def app(tmp_path: Path) -> WorkbenchApp:
    return WorkbenchApp(audited(tmp_path / "audit.db", thinking), start="audit")


@pytest.mark.e2e
@SIZES
async def test_a_thought_is_unfolded_by_a_key_and_never_read(
    app: WorkbenchApp, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        await opened(app, pilot, "soc-07")
        found = row(app, "original", "printed")
        assert (found["readable"], found["answers"], found["cut_off"]) == ("3", "30", "27")
        await responses(app, pilot, 0)
        assert [cells["reading"] for cells in rows(app).values()] == [
            "· cut off",
            "− disagree",
            "− disagree",
        ]
        assert "No answer: the output ends before the thinking does." in shown(app, "#text")
        assert "▸ 39 characters of thinking; t shows them" in shown(app, "#text")
        assert TRACE not in screen_text(app)
        await pilot.press("t")
        await until(pilot, lambda: TRACE in shown(app, "#text"))
        await pilot.press("down")
        await until(pilot, lambda: NO in shown(app, "#text"))
        assert "not read by any reader" in shown(app, "#text")
        assert "disagree" in shown(app, "#reading")
        await pilot.press("t")
        await until(pilot, lambda: TRACE not in shown(app, "#text"))
        await pilot.press("b")
        await until(pilot, lambda: table(app).row_count == 1)
        await pilot.press("u")
        await until(pilot, lambda: "No answers here: unreadable only" in screen_text(app))


@pytest.mark.parametrize(("share", "said"), [(0.75, True), (0.25, False)])
async def test_the_job_screen_says_what_helps_where_answers_end_in_thought(
    path: Path, share: float, said: bool
) -> None:
    outputs = [f"<think>{TRACE}"] * round(4 * share) + [YES] * round(4 * (1 - share))
    persona = path.with_name("thinks.toml")
    persona.write_text(f"answers = {json.dumps(outputs)}\n")
    with Store.open(path) as store:
        job = done(store, Design("small", f"scripted:{persona}", samples=6))
        cut = percent(job.progress["truncated"], job.progress["answers"], 1)
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(
            pilot, lambda: f"cut off in thought {cut}" in " ".join(screen_text(app).split())
        )
        remedy = "the model spends all its tokens on thinking: ask again with more new tokens"
        assert (remedy in " ".join(screen_text(app).split())) is said
