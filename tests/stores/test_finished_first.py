"""A run whose plan was answered comes before one that has hardly begun, wherever one of several is
shown first.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.cli.test_commands import run
from tests.conftest import instrument, new_store
from workbench.audits.consistency import AUDIT as CONSISTENCY
from workbench.audits.reliability import AUDIT as RELIABILITY
from workbench.domain.designs import Design
from workbench.evidence.answered import (
    AnsweredPlan,
    answered_plan,
    finished_first,
    is_finished,
    leading_model,
)
from workbench.inference.scripted.model import ScriptedModel
from workbench.pipeline import asking, planning
from workbench.report.collected import collect
from workbench.report.options import ReportChoice, silent
from workbench.tui.results.loaded import Settings
from workbench.tui.results.result_screen import load

DESIGN = Design("small", "scripted", samples=10)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which a finished run is followed by one that was stopped after a few answers."""
    path = tmp_path_factory.mktemp("first") / "audit.db"
    with new_store(path) as store:
        store.instruments.add(instrument())
        for temperature, stops in ((0.5, False), (1.0, True)):
            ask(
                store,
                replace(DESIGN, sampling=replace(DESIGN.sampling, temperature=temperature)),
                stops=stops,
            )
    return path


def ask(store: Store, design: Design, *, stops: bool) -> None:
    model = ScriptedModel()
    plan = planning.plan(store, design, card=model.card)
    job = store.jobs.create("sample", plan.design.as_json(), plan.samples)
    attempt = store.jobs.claim(job, "test")
    first = frozenset(probe.prompt.key for probe in plan.probes[:1])
    asking.collect(store, plan, model, attempt=attempt, only=first if stops else None)
    store.jobs.finish(job, attempt, "cancelled" if stops else "done")


def test_the_newest_run_is_unfinished_and_comes_second(path: Path) -> None:
    with Store.open(path) as store:
        runs = store.runs.list("reliability")
        assert [is_finished(store, one) for one in runs] == [True, False]
        assert 0 < answered_plan(store, runs[-1]).share < 0.9
        assert finished_first(store, runs, 2) == list(runs)
        assert finished_first(store, runs, 1) == [runs[0]]
        assert finished_first(store, runs[1:], 1) == [runs[1]]


def test_home_the_screen_and_the_report_begin_with_the_finished_run(path: Path) -> None:
    with Store.open(path) as store:
        finished, unfinished = store.runs.list("reliability")
        lines = RELIABILITY.home(store, {})
        assert [line.run for line in lines] == [finished, unfinished]
        assert not any("of the plan was answered" in words for words, _ in lines[0].below)
        assert any("of the plan was answered" in words for words, _ in lines[1].below)
        (consistency,) = CONSISTENCY.home(store, {})
        assert (consistency.run, consistency.main) == (finished, lines[0].main)
        assert "T 0.5" in consistency.main, "the name tells which of two runs of one model it is"
        shown = load(store, RELIABILITY, Settings(RELIABILITY.options()))
        assert shown.runs == [finished]
        found = collect(store, ReportChoice(audits=("reliability",)), silent)
        assert [list(part.found.runs.values()) for part in found.parts] == [
            [finished],
            [unfinished],
        ]


def test_show_takes_the_finished_run_and_says_how_far_the_other_came(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "show", path, "reliability")
    assert (code, err) == (0, "")
    with Store.open(path) as store:
        finished, unfinished = store.runs.list("reliability")
        share = 100 * answered_plan(store, unfinished).share
    said = " ".join(out.split())
    assert f"Left out: {unfinished.label}, of which {share:.1f} % of the plan was answered." in said
    assert f"{finished.label}" in said
    assert run(capsys, "show", path, "reliability", "--sampling", "T 1")[0] == 0


def test_of_all_models_of_one_result_a_finished_one_leads() -> None:
    last = {"a": "2026-01-01", "b": "2026-01-02", "c": "2026-01-03"}
    assert (
        leading_model(
            last, [AnsweredPlan("a", 9, 9), AnsweredPlan("b", 9, 9), AnsweredPlan("c", 9, 1)]
        )
        == "b"
    )
    assert leading_model(last, [AnsweredPlan(name, 9, 1) for name in last]) == "c"
