"""A probe is shown with its readings before a run begins; jobs are asked otherwise, hidden and
deleted on screen.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from textual.widgets import Input

from stores.core.store import Store
from stores.jobs.job_rows import PROBE, UNREADABLE, Job
from tests.tui.conftest import HOSTILE, screen_text, shown, until
from workbench import registry
from workbench.classifier.config import TrainConfig
from workbench.commands.check import CheckCommand
from workbench.commands.draft import DraftCommand
from workbench.commands.run import RunCommand
from workbench.commands.train import TrainCommand
from workbench.data import shipped_drafting
from workbench.domain import job_kinds
from workbench.domain.designs import Design
from workbench.domain.probe_results import ProbedAnswer, ProbeResult, ProbeWish
from workbench.domain.questionnaires import Contexts
from workbench.domain.responses import EXACTLY, WHEN_DECIDED, Sampling
from workbench.formats.read import read_shipped
from workbench.jobs import launch
from workbench.pipeline import planning
from workbench.pipeline.checking import CHECK, CheckSpec
from workbench.pipeline.drafting import DraftSpec
from workbench.pipeline.training import TrainSpec
from workbench.tui.app import WorkbenchApp
from workbench.tui.jobs.job_form import JobForm
from workbench.tui.jobs.jobs import JobsScreen
from workbench.tui.jobs.probe import ProbeScreen
from workbench.tui.kit.command_form import CommandForm
from workbench.tui.kit.dialogs import ConfirmScreen, TextScreen

FOUND = ProbeResult(
    "chat",
    1,
    (
        *(
            ProbedAnswer("a-1", "original", "personal-1", "printed", text, "", "unreadable")
            for text in HOSTILE
        ),
        ProbedAnswer(
            "a-2", "negation", "personal-1", "swapped", "Beneficial it is.", "beneficial", ""
        ),
    ),
)


def job(path: Path, number: int) -> Job:
    with Store.open(path) as store:
        return store.jobs.get(number)


def waiting(
    path: Path, question: str = PROBE, found: ProbeResult | None = FOUND, model: str = "scripted"
) -> int:
    """Queue a job that waits for a person's decision."""
    with Store.open(path) as store:
        plan = planning.plan(store, Design("small", model, samples=2))
        number = launch.create(
            store, plan.design, plan, probe=None if found is None else ProbeWish(True, result=found)
        )
        attempt = store.jobs.claim(number, "1")
        message = (
            "Not one of the first 100 answers can be read."
            if found is None
            else f"{FOUND.describe()}."
        )
        assert store.jobs.pause_for_people(number, attempt, message, question)
        return number


def failed(path: Path, kind: str, spec: dict[str, object]) -> int:
    with Store.open(path) as store:
        number = store.jobs.create(kind, spec, 10)
        store.jobs.finish(number, store.jobs.claim(number, "1"), "failed", "no such model")
        return number


@pytest.mark.e2e
@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_the_answers_of_a_probe_are_shown_with_their_readings_and_never_sent(
    path: Path, size: tuple[int, int]
) -> None:
    waiting(path)
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "? asks you" in screen_text(app))
        assert "1 waiting for you" in screen_text(app)
        await pilot.press("enter")
        await until(
            pilot,
            lambda: isinstance(app.screen, ProbeScreen) and "Probe: 1 of 7" in shown(app, "#told"),
        )
        assert "unreadable" in screen_text(app)
        assert "R starts the run · e changes the settings · S stops the job" in shown(app, "#told")
        await pilot.press("G")
        await until(pilot, lambda: "Beneficial it is." in shown(app, "#details"))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        await pilot.press("escape", "escape")
        await until(pilot, lambda: isinstance(app.screen, JobsScreen))
        assert job(path, 1).question == PROBE, "leaving decides nothing"


@pytest.mark.e2e
async def test_going_on_asking_otherwise_and_cancelling_are_one_key_each(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "spawn", lambda *_: 0)
    for model in ("scripted", "scripted:a.toml", "scripted:b.toml"):
        monkeypatch.setattr("workbench.pipeline.planning.check_script", lambda *_: None)
        waiting(path, model=model)
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "3 waiting for you" in screen_text(app))
        await pilot.press("enter")
        await until(
            pilot, lambda: isinstance(app.screen, ProbeScreen) and "R starts" in shown(app, "#told")
        )
        await pilot.press("S")
        await until(
            pilot, lambda: isinstance(app.screen, JobsScreen) and job(path, 3).state == "cancelled"
        )
        await pilot.press("down", "enter")
        await until(
            pilot, lambda: isinstance(app.screen, ProbeScreen) and "R starts" in shown(app, "#told")
        )
        await pilot.press("R")
        await until(
            pilot, lambda: isinstance(app.screen, JobsScreen) and job(path, 2).state == "queued"
        )
        assert job(path, 2).question == ""
        await pilot.press("down", "enter")
        await until(
            pilot, lambda: isinstance(app.screen, ProbeScreen) and "R starts" in shown(app, "#told")
        )
        await pilot.press("e")
        await until(
            pilot,
            lambda: isinstance(app.screen, JobForm) and "prompts planned" in shown(app, "#plan"),
        )
        assert app.screen.query_one("#samples", Input).value == "2"
        app.screen.query_one("#samples", Input).value = "3"
        await until(
            pilot, lambda: "3 samples each" in shown(app, "#plan") and not app.screen.query(".-old")
        )
        await pilot.press("f5")
        await until(
            pilot, lambda: isinstance(app.screen, JobsScreen) and job(path, 1).state == "cancelled"
        )
        assert (job(path, 4).spec["samples"], job(path, 4).state) == (3, "queued")


async def test_a_job_of_which_nothing_can_be_read_goes_on_after_one_has_seen_why(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "spawn", lambda *_: 0)
    waiting(path, UNREADABLE, None)
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "R continues anyway" in shown(app, "#details"))
        await pilot.press("R")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        assert "Not one of the first 100 answers can be read" in shown(app, "#text")
        await pilot.press("y")
        await until(pilot, lambda: job(path, 1).state == "queued")
        assert job(path, 1).patient


async def test_home_says_that_a_job_waits_for_a_decision_and_leads_there(path: Path) -> None:
    waiting(path)
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "1 decision" in screen_text(app))
        assert "its probe is in: begin the run?" in screen_text(app)
        assert "waits for your decision" in screen_text(app)


@pytest.mark.e2e
async def test_a_job_is_hidden_listed_again_and_deleted_after_it_is_said_what_goes(
    path: Path,
) -> None:
    failed(path, job_kinds.SAMPLE, Design("small", "scripted").as_json())
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "no such model" in shown(app, "#details"))
        await pilot.press("H")
        await until(
            pilot,
            lambda: "1 hidden" in screen_text(app) and "no such model" not in screen_text(app),
        )
        await pilot.press("X")
        await until(pilot, lambda: "hidden: H unhides it" in screen_text(app))
        await pilot.press("H")
        await until(pilot, lambda: not job(path, 1).hidden)
        await until(pilot, lambda: "hidden: H unhides it" not in screen_text(app))
        await pilot.press("T")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        assert "Also deleted: 1 attempt" in " ".join(shown(app, "#text").split())
        await pilot.press("y")
        await until(pilot, lambda: "n starts one" in screen_text(app))
        with Store.open(path) as store:
            assert store.jobs.list() == ()


@pytest.mark.e2e
async def test_a_job_that_is_not_deleted_says_why_and_is_hidden_instead(path: Path) -> None:
    with Store.open(path) as store:
        store.jobs.note_done(
            job_kinds.SAMPLE, Design("small", "scripted").as_json(), 5, "all there", "1"
        )
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "all there" in shown(app, "#details"))
        await pilot.press("T")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        said = " ".join(shown(app, "#text").split())
        assert (
            "figures may rest on what it asked, so it is not deleted. Hide it from the list "
            "instead: H on" in said
        )
        await pilot.press("y")
        await until(pilot, lambda: job(path, 1).hidden)


DESIGNS = [
    Design("veldania", "scripted"),
    Design(
        "veldania",
        "scripted:steady",
        samples=3,
        seed=9,
        family="user",
        templates=("personal-1",),
        statements=("env-03",),
    ),
    Design(
        "veldania",
        "smollm2",
        variants=("original", "negation"),
        dtype="float16",
        chat_format="smollm2",
    ),
    Design("veldania", "scripted", sampling=Sampling(0.4, 0.5, 7, 33, WHEN_DECIDED)),
    Design("veldania", "scripted", sampling=EXACTLY, samples=1),
    Design(
        "veldania_panel",
        "scripted",
        "questionnaire",
        1,
        EXACTLY,
        family="",
        contexts=Contexts(("qm", "zero-shot"), respondents=4, every=3, questions=5),
    ),
]
SHOWN = [one.name for one in registry.asking() if one.demonstration() is not None]


@pytest.mark.e2e
@pytest.mark.parametrize("number", range(len(DESIGNS) + len(SHOWN)))
async def test_the_form_of_a_job_is_filled_with_all_that_it_was_told(
    tmp_path: Path, number: int
) -> None:
    path = tmp_path / "s.db"
    with Store.open(path, create=True) as store:
        if number < len(DESIGNS):
            asks = DESIGNS[number]
            store.instruments.add(read_shipped(asks.instrument))
            asks = replace(asks, family=asks.family or registry.audit(asks.audit).defaults.family)
        else:
            of = registry.audit(SHOWN[number - len(DESIGNS)]).demonstration()
            assert of is not None
            store.instruments.add(read_shipped(of.instrument))
            asks = of.design(store, "scripted")
        if asks.instrument != "veldania":
            store.instruments.add(read_shipped("veldania"))
        asks = planning.plan(store, asks).design
    failed(path, job_kinds.SAMPLE, asks.as_json())
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "no such model" in shown(app, "#details"))
        await pilot.press("e")
        await until(
            pilot, lambda: isinstance(app.screen, JobForm) and "planned" in shown(app, "#plan")
        )
        assert isinstance(app.screen, JobForm)
        values = app.screen.values()
        assert values is not None
        with Store.open(path) as store:
            planned = planning.plan(store, RunCommand.from_form(values).design(store))
            before = planning.plan(store, asks)
        assert planned.prompts.keys() == before.prompts.keys()
        assert replace(planned.design, variants=(), templates=()) == replace(
            asks, variants=(), templates=()
        )


@pytest.mark.e2e
async def test_forms_of_other_jobs_are_filled_too(path: Path) -> None:
    paraphrase = next(
        prompt for prompt in shipped_drafting() if prompt.kind == "paraphrase"
    ).adjusted(calls=7, top_k=5, thinking="low")
    config = replace(TrainConfig.for_base("minilm"), steps=7, max_length=64)
    train = TrainSpec("mine", config, training=("a", "b"), by_statement=True)
    draft = DraftSpec("small", "m", (paraphrase,), ("a-1",), "en", 5)
    check = CheckSpec("small", "", "nli", ("en",))
    for kind, spec in ((job_kinds.TRAIN, train), (job_kinds.DRAFT, draft), (CHECK, check)):
        failed(path, kind, spec.as_json())
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "no such model" in shown(app, "#details"))
        commands = []
        for first_field, text in (("nli", "nli"), ("model", "m"), ("name", "mine")):
            await pilot.press("e")
            await until(pilot, lambda: isinstance(app.screen, CommandForm))
            form = app.screen
            assert isinstance(form, CommandForm)
            await until(pilot, partial(_has_text, form, first_field, text))
            values = form.values()
            assert values is not None
            commands.append(form.command.from_form(values))
            await pilot.press("escape", "down")
    checking, drafting, training = commands
    assert isinstance(checking, CheckCommand)
    assert isinstance(drafting, DraftCommand)
    assert isinstance(training, TrainCommand)
    with Store.open(path) as store:
        assert checking.check_spec(store) == check
        assert drafting.draft_spec(store) == draft
    assert training.training_spec() == train


def _has_text(form: CommandForm, field: str, text: str) -> bool:
    return form.values() is not None and form.typed(field) == text


@pytest.mark.e2e
async def test_a_run_that_is_started_from_the_form_shows_its_probe_and_begins_when_told(
    path: Path,
) -> None:
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "prompts planned" in shown(app, "#plan"))
        app.screen.query_one("#model", Input).value = "scripted"
        await until(pilot, lambda: "of scripted on small" in shown(app, "#plan"))
        assert "Start  F5 · probe of 20 first" in screen_text(app)
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(app.screen, ProbeScreen), seconds=60)
        await until(pilot, lambda: "R starts the run" in shown(app, "#told"), seconds=120)
        with Store.open(path) as store:
            assert store.connection.execute("select count(*) from draw").fetchone()[0] == 0
        await pilot.press("R")
        await until(pilot, lambda: job(path, 1).state == "done", seconds=120)
        assert job(path, 1).done == job(path, 1).total == 2160
