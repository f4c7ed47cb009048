"""Who comes from a job, a line of Home or the palette sees the figures of that run, whichever was
answered last.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stores.core.store import Store
from stores.runs.run_rows import Answered, Run
from tests.tui.audit_runs import AuditScreen, audited, small
from tests.tui.conftest import screen_text, until
from workbench import registry
from workbench.audits.audit import probes as every_probe
from workbench.domain.designs import Design
from workbench.domain.prompts import TemplateChoice
from workbench.domain.responses import ModelCard, Sampling
from workbench.domain.statements import variant_order
from workbench.evidence.runs import run_of_job
from workbench.tui.app import WorkbenchApp
from workbench.tui.jobs.jobs import JobsScreen
from workbench.tui.kit.template_choice import templates_for
from workbench.tui.results.result_screen import screen_class

BiasScreen = screen_class(registry.audit("bias_score"))
ConsistencyScreen = screen_class(registry.audit("consistency"))
QuestionnaireScreen = screen_class(registry.audit("questionnaire"))

ResponseBiasScreen = screen_class(registry.audit("response_bias"))

MODELS = ("alpha", "beta")


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A store with the answers of two models, and a job for each: beta's are the newest."""
    path = tmp_path / "two.db"
    for model in MODELS:
        audited(path, model=model)
    family = small().templates[0].family
    with Store.open(path) as store:
        for model in MODELS:
            design = Design("small", model, samples=30, family=family)
            store.jobs.note_done("sample", design.as_json(), 144, "all is stored", "9.9", "")
    return path


@pytest.mark.e2e
@pytest.mark.parametrize(("steps", "model"), [(0, "beta"), (1, "alpha")])
async def test_the_figures_of_the_job_under_the_cursor_are_shown(
    two: Path, steps: int, model: str
) -> None:
    app = WorkbenchApp(two, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(
            pilot, lambda: isinstance(app.screen, JobsScreen) and app.screen.current is not None
        )
        await pilot.press(*["down"] * steps, "4")
        await until(
            pilot, lambda: isinstance(app.screen, AuditScreen) and "pass all" in screen_text(app)
        )
        assert f"{model} · run" in screen_text(app).splitlines()[0]
        await pilot.press("enter", "3")
        await until(pilot, lambda: isinstance(app.screen, JobsScreen))
        await pilot.press("up" if steps else "down", "4")
        other = next(name for name in MODELS if name != model)
        await until(pilot, lambda: f"{other} · run" in screen_text(app).splitlines()[0])
        assert isinstance(app.screen, AuditScreen), "the level below it is left"


@pytest.mark.e2e
async def test_a_job_without_answers_says_that_the_figures_are_others(two: Path) -> None:
    with Store.open(two) as store:
        design = Design("small", "gamma", samples=30, family=small().templates[0].family)
        job = store.jobs.create("sample", design.as_json(), 144)
        store.jobs.request_stop(job)
    app = WorkbenchApp(two, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(
            pilot, lambda: isinstance(app.screen, JobsScreen) and app.screen.current is not None
        )
        await pilot.press("4")
        await until(
            pilot,
            lambda: (
                f"Job {job} has no answers; these answers are from other jobs" in screen_text(app)
            ),
        )


@pytest.mark.e2e
async def test_a_line_of_home_shows_the_figures_of_its_run(two: Path) -> None:
    app = WorkbenchApp(two)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: screen_text(app).count("  keeps ") == 1)
        assert "+1  → 4" in screen_text(app)
        facts = app.screen.query_one("#facts")
        facts.highlighted = next(
            n for n, option in enumerate(facts.options) if (option.id or "").startswith("audit:")
        )
        await pilot.press("enter")
        await until(pilot, lambda: "beta · run" in screen_text(app).splitlines()[0])


def test_the_run_of_a_job_is_told_from_others_of_the_model(two: Path) -> None:
    with Store.open(two) as store:
        newest, oldest, *_ = store.jobs.list()
        assert run_of_job(store, newest).model == "beta"
        assert run_of_job(store, oldest).model == "alpha"
        other = Design("small", "alpha", samples=30, family="none of these")
        assert (
            run_of_job(store, store.jobs.get(store.jobs.create("sample", other.as_json(), 1)))
            is None
        )
        warmer = replace(
            other, family=small().templates[0].family, sampling=Sampling(temperature=0.5)
        )
        assert (
            run_of_job(store, store.jobs.get(store.jobs.create("sample", warmer.as_json(), 1)))
            is None
        )
        assert (
            run_of_job(store, store.jobs.get(store.jobs.create("train", {"name": "x"}, 1))) is None
        )


def test_of_two_versions_of_a_model_the_one_that_the_job_asked_is_shown(tmp_path: Path) -> None:
    path, base = tmp_path / "versions.db", small()
    variants = sorted({w.variant for s in base.statements for w in s.wordings}, key=variant_order)
    probes = tuple(every_probe(base.statements, base.templates, variants, "en", "m"))
    design = Design("small", "m", samples=1, family=base.templates[0].family)
    with Store.open(path, create=True) as store:
        store.instruments.add(base)
        store.runs.add_probes("reliability", base.name, "en", base.templates, probes)
        jobs = []
        for revision in ("0123456789abcdef", "fedcba9876543210"):
            ids = store.runs.begin(
                ModelCard("m", revision, "scripted 1", "float32", "none"), Sampling()
            )
            job = store.jobs.create("sample", design.as_json(), 1)
            attempt = store.jobs.claim(job, "9.9")
            store.runs.add(
                *ids, attempt, [Answered(probes[0].prompt.key, 1, 1, (("Beneficial.", 1),))]
            )
            store.jobs.finish(job, attempt, "done")
            jobs.append((job, revision))
        for job, revision in jobs:
            assert run_of_job(store, store.jobs.get(job)).revision == revision


def test_every_screen_of_results_takes_runs_of_its_audit_alone(two: Path) -> None:
    with Store.open(two) as store:
        run: Run = store.runs.list("reliability")[-1]
    screens = {
        AuditScreen: "reliability",
        ConsistencyScreen: "reliability",
        BiasScreen: "bias_score",
        QuestionnaireScreen: "questionnaire",
        ResponseBiasScreen: "response_bias",
    }
    for kind, audit in screens.items():
        assert kind().settings_for(replace(run, audit=audit)) is not None
        assert kind().settings_for(replace(run, audit="another")) is None
    assert ConsistencyScreen().settings_for(run).instrument == "small"


def test_a_choice_of_templates_changes_only_where_it_leaves_the_run_out(two: Path) -> None:
    with Store.open(two) as store:
        run = replace(
            store.runs.list("reliability")[-1],
            family="user",
            families=("chat", "user"),
            language="de",
        )
    assert templates_for(run, TemplateChoice()) == TemplateChoice()
    assert templates_for(run, TemplateChoice(("chat", "user"))) == TemplateChoice(("chat", "user"))
    assert templates_for(run, TemplateChoice(("chat",), (), ("en",))) == TemplateChoice(
        ("user",), (), ("de",)
    )
    assert templates_for(
        replace(run, families=("user", "chat")), TemplateChoice()
    ) == TemplateChoice(("user",))
