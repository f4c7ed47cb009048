"""Jobs are started from a form that says what they come to, watched, stopped and resumed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from textual import events
from textual.widgets import Button, Collapsible, Input, Select, SelectionList

from stores.core.store import Store
from stores.jobs.job_rows import Job
from tests.jobs.test_snapshots import done
from tests.tui.conftest import flowing, made, screen_text, shown, until
from workbench.classifier.config import TrainConfig
from workbench.cli.acts import make
from workbench.cli.main import main
from workbench.commands.run import RunCommand
from workbench.domain.designs import Design
from workbench.domain.responses import EXACTLY, Sampling
from workbench.errors import FieldError
from workbench.jobs import launch, origin
from workbench.pipeline import design_checks, planning
from workbench.pipeline.training import ClassifySpec, TrainSpec
from workbench.tui.app import WorkbenchApp
from workbench.tui.design_form import SAMPLED_WHOLE, sampling_note, switched
from workbench.tui.jobs.job_form import JobForm
from workbench.tui.jobs.job_kind_dialog import JobKindDialog
from workbench.tui.jobs.job_lines import job_details
from workbench.tui.jobs.jobs import JobsScreen
from workbench.tui.jobs.probe import ProbeScreen
from workbench.tui.kit.command_form import CommandForm
from workbench.tui.kit.dialogs import ConfirmScreen, NumberDialog, TextScreen
from workbench.tui.kit.start_form import NOT_RIGHT, StartForm
from workbench.tui.widgets.record_table import RecordTable

SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40)])


def state(path: Path, job: int) -> str:
    with Store.open(path) as store:
        return store.jobs.get(job).state


def queued(path: Path, samples: int = 2) -> int:
    with Store.open(path) as store:
        return launch.create(store, Design("small", "scripted", samples=samples))


async def test_no_jobs_yet_says_how_to_start_one(path: Path) -> None:
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "n starts one" in screen_text(app))


@pytest.mark.e2e
async def test_a_job_is_asked_anew_after_what_it_comes_to_was_said(path: Path) -> None:
    with Store.open(path) as store:
        done(store, Design("small", "scripted", samples=2))
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "144/144" in screen_text(app))
        await pilot.press("A")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        assert "0 answers are stored already; 144 to ask" in " ".join(screen_text(app).split())
        await pilot.press("y")
        await until(pilot, lambda: state_count(path) == 2 and state(path, 2) == "done")
    with Store.open(path) as store:
        assert len({run.occasion for run in store.runs.list()}) == 2


@pytest.mark.e2e
async def test_the_form_says_what_it_comes_to_before_anything_starts(path: Path) -> None:
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "prompts planned" in shown(app, "#plan"))
        assert "3 statements x 6 wordings x 2 templates x 2 orders" in shown(app, "#plan")
        assert "72 prompts planned; 30 samples each = 2,160 answers" in shown(app, "#plan")
        app.screen.query_one("#statements", Input).value = "2"
        await until(pilot, lambda: "48 prompts planned" in shown(app, "#plan"))
        app.screen.query_one("#templates", SelectionList).toggle("personal-1")
        await until(pilot, lambda: "24 prompts planned" in shown(app, "#plan"))
        assert state_count(path) == 0
        await pilot.press("tab", "shift+tab", "space")
        model = app.screen.query_one("#model", Input)
        assert model.has_focus
        assert model.value == "smollm2", "a blank does not take the place of all that a field holds"
        await pilot.press("space", "x")
        assert model.value == "smollm2 x"


def state_count(path: Path) -> int:
    with Store.open(path) as store:
        return len(store.jobs.list())


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("statements", "a-1,nowhere", "no statement 'nowhere'"),
        ("samples", "many", "found 'many'; give a whole number"),
        ("temperature", "0", "give more than 0"),
        ("model", " ", "give a name"),
    ],
)
async def test_the_form_says_what_cannot_be_and_does_not_start(
    path: Path, field: str, value: str, words: str
) -> None:
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "prompts planned" in shown(app, "#plan"))
        app.screen.query_one(f"#{field}", Input).value = value
        await until(pilot, lambda: words in shown(app, "#plan"))
        assert app.screen.query_one("#start", Button).disabled
        await pilot.press("f5")
        await until(pilot, lambda: shown(app, "#told") == NOT_RIGHT)
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, JobForm)
        assert shown(app, "#told") == NOT_RIGHT
    assert state_count(path) == 0


@pytest.mark.e2e
async def test_blanks_part_refs_and_three_of_them_are_seen_whole(path: Path) -> None:
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "prompts planned" in shown(app, "#plan"))
        assert all(
            words in screen_text(app) for words in ("statements   quick", "▶ Where the model runs")
        )
        app.screen.query_one("#statements", Input).value = "a-1 a-2, a-1"
        await until(pilot, lambda: "2 statements x" in shown(app, "#plan"))
        app.screen.query_one("#statements").focus()
        app.screen.query_one("#statements", Input).value = "eco-05 soc-01 for-01"
        await until(pilot, lambda: "no statement 'eco-05'" in shown(app, "#plan"))
        assert "eco-05 soc-01 for-01" in screen_text(app)


@pytest.mark.e2e
@pytest.mark.parametrize(("kind", "form"), [("s", JobForm), ("d", CommandForm)])
async def test_what_is_typed_before_the_form_is_there_lands_in_its_first_field(
    path: Path, kind: str, form: type[StartForm]
) -> None:
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "n starts one" in screen_text(app))
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, JobKindDialog))
        for key in (kind, *"5q4V2"):
            app.post_message(events.Key(key, key))
        await until(pilot, lambda: app.focused is not None and app.focused.id == "model")
        await until(pilot, lambda: app.screen.query_one("#model", Input).value == "5q4V2")
        assert isinstance(app.screen, form)
        assert app.current_mode == "jobs"


@pytest.mark.e2e
async def test_a_job_is_started_by_keyboard_alone_and_seen_to_its_end(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.tui.jobs.jobs.REFRESH_S", 0.1)
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: app.focused is not None and app.focused.id == "model")
        await pilot.press("ctrl+u", *"scripted", "tab", "ctrl+u", *"a-1")
        await until(
            pilot,
            lambda: "scripted" in shown(app, "#plan") and "1 statement" in shown(app, "#plan"),
        )
        await pilot.press("f5")
        await until(pilot, lambda: "R starts the run" in screen_text(app))
        await pilot.press("R")
        await until(pilot, lambda: isinstance(app.screen, JobsScreen))
        await until(
            pilot,
            lambda: "✓ done" in screen_text(app) and "answers are stored" in screen_text(app),
            60,
        )
        text = screen_text(app)
        assert "720/720" in text
        assert "eta" not in columns(app), "no job goes on"
        assert "unreadable" in text
    assert state(path, 1) == "done"


@pytest.mark.e2e
async def test_another_audit_brings_its_wordings_templates_and_sampling(path: Path) -> None:
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "prompts planned" in shown(app, "#plan"))
        assert "as published: 30 × T 1, top-p 0.85, whole vocabulary, 20 tokens" in screen_text(app)
        app.screen.query_one("#audit", Select).value = "bias_score"
        await until(
            pilot, lambda: "3 statements x 2 wordings x 10 templates" in shown(app, "#plan")
        )
        assert "60 prompts planned; 3 samples each = 180 answers" in shown(app, "#plan")
        assert "sampling: T 1, top-p 1, top-k 10, 100 tokens" in shown(app, "#plan")
        assert "as published: 3 × T 1, top-p 1, top-k 10, 100 tokens" in screen_text(app)
        for fold in app.screen.query(Collapsible):
            fold.collapsed = "Wordings" not in str(fold.title)
        await until(pilot, lambda: "▐X▌ paraphrase-1" in screen_text(app))
        assert "▐ ▌ paraphrase-2" in screen_text(app)
        app.screen.query_one("#top_k", Input).value = ""
        await until(pilot, lambda: "sampling: T 1, top-p 1, 100 tokens" in shown(app, "#plan"))
        assert "whole vocabulary · published: 3 × T 1, top-p 1, top-k 10" in screen_text(app)
        app.screen.query_one("#audit", Select).value = "statement_labels"
        await until(pilot, lambda: "statement_labels audit" in shown(app, "#plan"))
        assert "6 prompts planned; 1 sample each = 6 answers" in shown(app, "#plan")


@pytest.mark.e2e
async def test_what_was_typed_stays_under_another_audit(path: Path) -> None:
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "prompts planned" in shown(app, "#plan"))
        app.screen.query_one("#samples", Input).value = "7"
        app.screen.query_one("#audit", Select).value = "bias_score"
        await until(pilot, lambda: "60 prompts planned; 7 samples each" in shown(app, "#plan"))
        assert "changed · published: 3 × T 1" in shown(app, "#note")


@pytest.mark.e2e
async def test_the_audit_that_is_chosen_is_the_one_that_is_asked(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "spawn", lambda _path, _job: None)
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "prompts planned" in shown(app, "#plan"))
        app.screen.query_one("#audit", Select).value = "bias_score"
        await until(pilot, lambda: "60 prompts planned" in shown(app, "#plan"))
        app.screen.query_one("#model", Input).value = "scripted"
        app.screen.query_one("#variants", SelectionList).toggle("paraphrase-1")
        await until(pilot, lambda: "scripted" in shown(app, "#plan"))
        await pilot.press("f5")
        await until(pilot, lambda: "scripted · bias score" in screen_text(app))
    with Store.open(path) as store:
        design = Design.from_json(store.jobs.get(1).spec)
    sampling = Sampling(1.0, 1.0, top_k=10, max_new_tokens=100)
    assert design == Design(
        "small",
        "scripted",
        "bias_score",
        3,
        sampling,
        language="en",
        family="prefixes",
        variants=("original",),
    )


@pytest.mark.e2e
async def test_what_is_stored_already_is_not_started_again(path: Path) -> None:
    from tests.tui.test_home import answered

    answered(path)
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "prompts planned" in shown(app, "#plan"))
        app.screen.query_one("#model", Input).value = "scripted"
        await until(pilot, lambda: "Everything is stored already" in shown(app, "#plan"))
        await pilot.press("f5")
        await pilot.pause()
        assert isinstance(app.screen, JobForm)
    assert state_count(path) == 1


@pytest.mark.e2e
@SIZES
async def test_the_form_says_how_answers_are_made_and_where(
    path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.setattr(launch, "spawn", lambda _path, _job: None)
    monkeypatch.setattr(design_checks, "check_installed", lambda: None)
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=size) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "estimate: about" in shown(app, "#plan"))
        assert "the time is unknown" in screen_text(app)
        assert "Start  F5" in screen_text(app)
        assert "dtype" not in screen_text(app)
        unfold(app, "Where the model runs")
        await until(
            pilot,
            lambda: all(word in screen_text(app) for word in ("dtype ", "cluster ", "Start  F5")),
        )
        unfold(app, "How answers are drawn")
        await until(pilot, lambda: "answers " in screen_text(app))
        app.screen.query_one("#answers", Select).value = "until decided"
        await until(pilot, lambda: "20 tokens, until decided" in shown(app, "#plan"))
        app.screen.query_one("#dtype", Select).value = "bfloat16"
        app.screen.query_one("#cluster", Input).value = "auto"
        await until(pilot, lambda: "seed 1; bfloat16; cluster auto" in shown(app, "#plan"))
        app.screen.query_one("#answers", Select).value = "exact"
        await until(pilot, lambda: "sampling: exact label probabilities" in shown(app, "#plan"))
        assert "no sampling: samples" in shown(app, "#note")
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        assert "how likely each label is" in " ".join(shown(app, "#text").split())
        await pilot.press("escape", "f5")
        await until(pilot, lambda: isinstance(app.screen, JobsScreen))
        await until(
            pilot,
            lambda: "exact label probabilities · seed 1 · bfloat16 · cluster auto" in one_line(app),
        )
    with Store.open(path) as store:
        design = Design.from_json(store.jobs.get(1).spec)
    assert (design.samples, design.sampling, design.dtype, design.cluster) == (
        1,
        EXACTLY,
        "bfloat16",
        "auto",
    )


def unfold(app: WorkbenchApp, title: str) -> None:
    """Open one group of the form's fields, and fold the others."""
    for fold in app.screen.query(Collapsible):
        fold.collapsed = fold.title != title


def one_line(app: WorkbenchApp) -> str:
    return flowing(app)


@pytest.mark.e2e
async def test_the_form_asks_prompts_until_they_are_settled(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "spawn", lambda _path, _job: None)
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "estimate: about" in shown(app, "#plan"))
        assert "stop early" not in screen_text(app)
        unfold(app, "Of this audit")
        await until(pilot, lambda: "stop early" in screen_text(app))
        app.screen.query_one("#reliability-until_settled", Select).value = "yes"
        await until(pilot, lambda: "asked until settled" in shown(app, "#plan"))
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(app.screen, ProbeScreen))
    with Store.open(path) as store:
        assert Design.from_json(store.jobs.get(1).spec).until_settled


@pytest.mark.e2e
async def test_the_form_serves_a_model_here(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WORKBENCH_VLLM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "estimate: about" in shown(app, "#plan"))
        app.screen.query(Collapsible).last().collapsed = False
        await pilot.pause()
        app.screen.query_one("#serve", Select).focus()
        await until(pilot, lambda: "serve " in screen_text(app))
        assert "Start  F5" in screen_text(app)
        app.screen.query_one("#serve", Select).value = "vllm"
        app.screen.query_one("#model", Input).value = "acme/small"
        await until(pilot, lambda: "no `vllm` is here" in shown(app, "#plan"))
        app.screen.query_one("#model", Input).value = "scripted"
        await until(
            pilot, lambda: "vllm with scripted, which no server here can load" in flowing(app)
        )


@pytest.mark.e2e
async def test_the_form_refuses_what_the_audit_cannot_be_asked(path: Path) -> None:
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "prompts planned" in shown(app, "#plan"))
        app.screen.query_one("#answers", Select).value = "exact"
        app.screen.query_one("#audit", Select).value = "bias_score"
        await until(pilot, lambda: "answered on a scale or in free text" in shown(app, "#plan"))
        assert app.screen.query_one("#start", Button).disabled


def test_the_cost_at_the_end_stands_beside_that_so_far(path: Path) -> None:
    served = Design("small", "openai:gpt-4o").as_json()
    told = {"answers": 20, "requests": 4, "cost": 0.5, "seconds": 10, "decided": 5}
    job = written(path, "sample", served, 80, state="running", done=20, progress=json.dumps(told))
    with Store.open(path) as store:
        text = job_details(store.jobs.get(job)).plain
    assert "cost 0.5 · about 2 in total" in text
    assert "stopped once decided 25.0 %" in text


@pytest.mark.e2e
async def test_the_form_fits_a_small_terminal(path: Path) -> None:
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "sampling: T 1" in screen_text(app))
        assert "Start  F5" in screen_text(app)
        assert "instrument" in screen_text(app)


@pytest.mark.e2e
async def test_cancelling_asks_first_and_no_is_the_answer_at_hand(path: Path) -> None:
    job = queued(path)
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "◌ queued" in screen_text(app))
        await pilot.press("S")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        await pilot.press("enter")
        await pilot.pause()
        assert state(path, job) == "queued"
        await pilot.press("S")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        await pilot.press("y")
        await until(pilot, lambda: "■ cancelled" in screen_text(app))
    assert state(path, job) == "cancelled"


@pytest.mark.e2e
async def test_a_cancelled_job_is_resumed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.tui.jobs.jobs.REFRESH_S", 0.1)
    monkeypatch.setattr("workbench.tui.jobs.jobs.IDLE_TICKS", 1)
    job = queued(path)
    with Store.open(path) as store:
        store.jobs.request_stop(job)
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "R asks for the rest" in screen_text(app))
        await pilot.press("R")
        await until(pilot, lambda: "✓ done" in screen_text(app), 60)


async def test_a_done_job_offers_neither_cancel_nor_resume(path: Path) -> None:
    job = queued(path)
    with Store.open(path) as store:
        store.jobs.finish(job, store.jobs.claim(job, "test"), "done", "[bold]all[/] stored \x1b[2J")
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(
            pilot,
            lambda: "✓ done" in screen_text(app) and "[bold]all[/] stored ␛[2J" in screen_text(app),
        )
        await pilot.press("S", "R")
        await pilot.pause()
        assert isinstance(app.screen, JobsScreen)
        assert "S Stop" not in screen_text(app)


@pytest.mark.e2e
async def test_the_log_is_shown_literally_and_at_its_end(path: Path) -> None:
    job = queued(path)
    log = launch.log_path(path, job)
    log.parent.mkdir()
    log.write_text("".join(f"line {n}\n" for n in range(100)) + "\x1b]0;title\x07 [/INST] last\n")
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "␛]0;title␇ [/INST] last" in screen_text(app))
        await pilot.press("l")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        assert "line 0" in shown(app, "#text")


async def test_a_job_whose_worker_is_gone_is_said_to_be_lost(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = queued(path)
    with Store.open(path) as store:
        store.jobs.claim(job, "test")
    monkeypatch.setattr("stores.jobs.job_rows.alive", lambda *_: False)
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(
            pilot, lambda: "? lost" in screen_text(app) and "R does the rest" in screen_text(app)
        )
        assert [note.message for note in app._notifications] == [
            f"Job {job} lost its worker; everything it stored is safe. R resumes it."
        ]


@pytest.mark.e2e
async def test_the_form_of_an_empty_store_says_so(tmp_path: Path) -> None:
    app = WorkbenchApp(made(tmp_path / "empty.db"), start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "has no instrument yet" in shown(app, "#plan"))
        await pilot.press("escape")
        assert isinstance(app.screen, JobsScreen)


def written(path: Path, kind: str, spec: dict[str, object], total: int, **columns: object) -> int:
    """Write a job as its worker would have left it; a running one has this process for its
    worker.
    """
    with Store.open(path) as store:
        job = store.jobs.create(kind, spec, total, origin.here().mark)
        if columns.get("state", "running") != "queued":
            attempt = store.jobs.claim(job, "test")
            if columns.get("state") == "done":
                store.jobs.finish(job, attempt, "done")
        with store.write() as connection:
            for name, value in columns.items():
                connection.execute(f"update job set {name} = ? where id = ?", (value, job))
    return job


def columns(app: WorkbenchApp) -> set[str | None]:
    return {key.value for key in app.screen.query_one("#jobs", RecordTable).columns}


TRAINING = TrainSpec(
    "stance-1", TrainConfig("minilm", steps=240, batch=16, dev_share=0.1)
).as_json()


async def test_each_kind_of_job_is_shown_in_its_own_words(path: Path) -> None:
    sampling = Design("small", "smollm2", "bias_score", 3, Sampling(1.0, 1.0, 10, 100)).as_json()
    written(
        path,
        "sample",
        sampling,
        180,
        done=90,
        progress='{"answers": 90, "seconds": 45, "unreadable": 80}',
    )
    written(
        path,
        "train",
        TRAINING,
        240,
        done=120,
        progress='{"step": 120, "steps": 240, "loss": 0.4123, "lr": 0.00012, "dev_macro_f1": '
        '0.834, "seconds": 60, '
        '"answers": 120}',
    )
    classify = ClassifySpec("stance-1", models=("smollm2",)).as_json()
    written(path, "classify", classify, 1000, done=400, progress='{"answers": 400, "seconds": 10}')
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "smollm2 · bias score" in screen_text(app))
        assert "eta" in columns(app), "a job goes on"
        assert "stance-1 reads left/right bias answers of smollm2 on all instruments" in shown(
            app, "#details"
        )
        assert (
            "400 of 1,000 responses read · 400 in this attempt · 40.0 responses a second"
            in shown(app, "#details")
        )
        assert "stance-1 · minilm" in screen_text(app)
        await pilot.press("down")
        await until(
            pilot, lambda: "stance-1 on minilm · 240 steps of 16 pairs" in shown(app, "#details")
        )
        assert "loss 0.412 · dev macro F1 0.83 · lr 1.2e-4" in shown(app, "#details")
        assert "step 120 of 240 · 2.0 steps a second" in shown(app, "#details")
        await pilot.press("down")
        await until(pilot, lambda: "bias_score of smollm2 on small" in shown(app, "#details"))
        assert "T 1, top-p 1, top-k 10" in shown(app, "#details")
        assert "merged" in shown(app, "#details")
        assert "unreadable" not in shown(app, "#details")
        assert screen_text(app).count("▸ running") == 3


async def test_a_finished_training_says_how_good_it_is_and_what_comes_next(path: Path) -> None:
    message = "stance-1: macro F1 0.71 on 60 test responses"
    progress = '{"step": 180, "steps": 240, "dev_macro_f1": 0.75, "seconds": 200}'
    written(
        path, "train", TRAINING, 240, state="done", done=180, message=message, progress=progress
    )
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(
            pilot, lambda: "✓ done" in screen_text(app) and f"→ {message}" in screen_text(app)
        )
        assert "step 180 of 240 · 3 min in this attempt" in screen_text(app)
        assert "n, then c: classify the free-text answers" in screen_text(app)
        assert "loss" not in shown(app, "#details")


async def test_cancelling_a_training_says_what_stays(path: Path) -> None:
    job = written(path, "train", TRAINING, 240, done=30)
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: "▸ running" in screen_text(app))
        await pilot.press("S")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        assert f"Stop job {job} (train stance-1 · minilm)?" in shown(app, "#text")
        assert "The job is at step 30 of 240. The last checkpoint stays" in shown(app, "#text")
        await pilot.press("y")
        await until(pilot, lambda: "is stopping: it ends after the current steps" in flowing(app))
        await until(
            pilot, lambda: "→ stopping" in screen_text(app) or "▸ stopping" in screen_text(app)
        )
        await pilot.press("S")
        assert not isinstance(app.screen, ConfirmScreen), "nobody is asked twice"


async def test_a_job_that_is_stopped_while_its_model_is_loaded_says_so_in_its_line(
    path: Path,
) -> None:
    job = written(
        path, "draft", {"instrument": "small", "model": "smollm2", "kind": "", "statements": ""}, 18
    )
    with Store.open(path) as store:
        store.jobs.beat(job, "loading smollm2")
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: "→ loading smollm2" in screen_text(app))
        await pilot.press("S")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        await pilot.press("y")
        await until(pilot, lambda: "is stopping: it ends once its model is loaded" in flowing(app))
        await until(pilot, lambda: "→ stopping: loading smollm2" in screen_text(app))


SMALL = {"instrument": "small", "model": "smollm2"}
"texts of a form"


def test_the_form_is_a_design(path: Path) -> None:
    texts = {**SMALL, "statements": "2", "samples": "5", "temperature": "0.25", "top_p": "1"}
    with Store.open(path) as store:
        refs = tuple(line.ref for line in store.instruments.lines("small"))
        design = RunCommand.from_form({**texts, "seed": "7"}).design(store)
    assert design == Design(
        "small", "smollm2", samples=5, sampling=Sampling(0.25, 1.0), seed=7, statements=refs[:2]
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("samples", "0"),
        ("temperature", "inf"),
        ("temperature", "nan"),
        ("top_p", "1.5"),
        ("seed", "-1"),
        ("seed", ""),
        ("statements", "0"),
        ("top_k", "-1"),
        ("max_new_tokens", ""),
        ("model", " "),
        ("variants", ()),
    ],
)
def test_what_cannot_be_asked_is_no_design(
    path: Path, name: str, text: str | tuple[str, ...]
) -> None:
    with Store.open(path) as store, pytest.raises(FieldError) as error:
        RunCommand.from_form({**SMALL, name: text}).design(store)
    assert error.value.field == name


def test_a_top_k_of_0_is_the_whole_vocabulary_as_on_the_command_line(path: Path) -> None:
    with Store.open(path) as store:
        without = RunCommand.from_form(SMALL).design(store)
        assert RunCommand.from_form({**SMALL, "top_k": "0"}).design(store) == without


def test_sampling_that_is_ours_is_not_called_published() -> None:
    usual = {
        "samples": "1",
        "temperature": "1",
        "top_p": "1",
        "top_k": "1",
        "max_new_tokens": "12",
    }
    assert (
        sampling_note("statement_labels", SAMPLED_WHOLE, usual, usual)
        == "our defaults: 1 × T 1, top-p 1, top-k 1, 12 tokens"
    )


def test_a_field_that_was_typed_is_no_default_any_more() -> None:
    before, after = {"samples": "30", "top_k": ""}, {"samples": "3", "top_k": "10"}
    assert switched({"samples": "30", "top_k": "5"}, before, after) == {
        "samples": "3",
        "top_k": "5",
    }


@pytest.mark.e2e
async def test_a_job_is_paused_and_goes_on_by_keys(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.tui.jobs.jobs.REFRESH_S", 0.1)
    persona = tmp_path / "slow.toml"
    persona.write_text("delay_s = 0.05\n")
    with Store.open(path) as store:
        job = launch.start(store, Design("small", f"scripted:{persona}", samples=2))
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(
            pilot, lambda: "▸ running" in screen_text(app) and "p Pause" in screen_text(app)
        )
        await pilot.press("p")
        await until(pilot, lambda: "‖ paused" in screen_text(app), 60)
        assert "paused on request" in shown(app, "#details")
        assert shown(app, "#details").endswith("R continues")
        assert "p Pause" not in screen_text(app)
        assert state(path, job) == "paused"
        await pilot.press("R")
        await until(pilot, lambda: "✓ done" in screen_text(app), 60)
    with Store.open(path) as store:
        assert store.jobs.get(job).attempts == 1


def test_why_prompts_failed_is_said_and_what_cannot_be_mended_is_not_to_be_retried(
    path: Path,
) -> None:
    reason = "the prompt 'x' has 90 tokens, and 20 more do not fit into the model's window of 96"
    told = {"answers": 0, "failed": 60, "lasting": 60, "reasons": [[reason, 60]]}
    spec = Design("small", "tiny").as_json()

    def failed_job() -> Job:
        number = written(path, "sample", spec, 60, state="failed", progress=json.dumps(told))
        with Store.open(path) as store:
            return store.jobs.get(number)

    job = failed_job()
    assert (job.reasons, job.retry_helps, "reasons" in job.progress) == (
        ((reason, 60),),
        False,
        False,
    )
    details = job_details(job).plain
    assert "no answers in this attempt · all 60 failed" in details
    assert f"60 failed: {reason}" in details
    assert "would fail again" in details
    assert "y retries" not in details
    told |= {"answers": 30, "lasting": 10}
    mixed = failed_job()
    assert "failed 66.7 %" in job_details(mixed).plain
    assert "y retries what failed" in job_details(mixed).plain


async def test_what_a_served_model_costs_is_shown_and_what_failed_is_asked_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = Design("small", "openai:gpt", samples=3).as_json()
    progress = (
        '{"answers": 200, "seconds": 20, "failed": 12, "unreadable": 10, "refused": 4, '
        '"requests": 90, '
        '"tokens_in": 9000, "tokens_out": 800, "at_once": 4, "at_once_most": 16, "cost": 0.125, '
        '"max_cost": 2, '
        '"max_requests": 500, "fingerprints": [["fp_1", 150], ["fp_2", 50]], "snapshots": '
        '[{"snapshot": "gpt-01", '
        '"answers": 120, "requests": 50, "tokens_in": 5000, "tokens_out": 480, "cost": 0.075}, '
        '{"snapshot": "gpt-02", '
        '"answers": 80, "requests": 40, "tokens_in": 4000, "tokens_out": 320, "cost": 0.05}]}'
    )
    job = written(
        path,
        "sample",
        spec,
        216,
        state="failed",
        done=204,
        progress=progress,
        message="12 answers failed",
    )
    asked: list[int] = []
    monkeypatch.setattr(launch, "retry", lambda _store, number, consent: asked.append(number))
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: "✗ failed" in screen_text(app))
        details = shown(app, "#details")
        assert "unreadable 5.0 % · refused 2.0 % · failed 5.7 %" in details
        assert (
            "90 calls of 500 allowed · at most 16 at once · 9,000 + 800 tokens · cost 0.125 of 2 "
            "allowed" in details
        )
        assert "y retries what failed, R asks for everything missing" in details
        assert "gpt-01: 120 answers, 50 calls, 5,000 + 480 tokens, a cost of 0.075" in details
        assert "gpt-02: 80 answers, 40 calls, 4,000 + 320 tokens, a cost of 0.05" in details
        assert "answers by system_fingerprint: fp_1 150 · fp_2 50" in details
        await pilot.press("y")
        await until(pilot, lambda: asked == [job])
        await until(pilot, lambda: f"Job {job} retries what failed." in screen_text(app))


async def test_how_much_is_done_at_once_is_typed(path: Path) -> None:
    job = queued(path)
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "◌ queued" in screen_text(app))
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, NumberDialog))
        await pilot.press(*"0", "enter")
        await until(pilot, lambda: "give a whole number from 1" in shown(app, "#note"))
        await pilot.press("backspace", *"12", "enter")
        await until(
            pilot,
            lambda: isinstance(app.screen, JobsScreen) and "at most 12" in shown(app, "#details"),
        )
        await pilot.press("a", "escape")
        await until(pilot, lambda: isinstance(app.screen, JobsScreen))
    with Store.open(path) as store:
        assert store.jobs.get(job).concurrency == 12


async def test_a_job_that_waits_for_its_turn_says_for_which(path: Path) -> None:
    job = queued(path)
    with Store.open(path) as store:
        first = store.jobs.create("train", TRAINING, 240)
        assert store.jobs.claim_in_turn(first, "test", "here").attempt
        assert store.jobs.claim_in_turn(job, "test", "here").attempt is None
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "◌ queued" in screen_text(app))
        await pilot.press("down")
        await until(pilot, lambda: f"waits for job {first}" in shown(app, "#details"))
        assert "R starts it now, beside the others" in shown(app, "#details")


async def test_a_job_from_elsewhere_goes_on_after_a_person_has_seen_whom_it_asks(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = {
        "model": "openai:gpt-x@http://gpu7:8000/v1",
        "audit": "reliability",
        "instrument": "small",
    }
    job = written(path, "sample", spec, 72, state="queued", mark="of another installation")
    begun: list[int] = []
    monkeypatch.setattr(
        "workbench.jobs.launch.spawn", lambda _path, number: begun.append(number) or 1
    )
    monkeypatch.setenv("WORKBENCH_MAX_COST", "3")
    monkeypatch.setenv("WORKBENCH_PRICE_IN", "1")
    monkeypatch.setenv("WORKBENCH_PRICE_OUT", "1")
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "queued" in screen_text(app))
        await pilot.press("R")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        said = " ".join(shown(app, "#text").split())
        assert "was created elsewhere" in said
        assert "model openai:gpt-x@http://gpu7:8000/v1" in said
        assert "host gpu7:8000, which gets no key" in said
        assert "budget at most 3.0 cost" in said
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, JobsScreen))
        assert begun == []
        await pilot.press("R")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        await pilot.press("y")
        await until(pilot, lambda: bool(begun))
    assert begun == [job]
    with Store.open(path) as store:
        assert origin.here().made(store.jobs.get(job)), "it is not asked about again"


def test_a_quick_look_is_few_statements_by_the_seed_in_the_form_and_said_in_the_shell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "panel.db"
    make(path, demo=True, instrument="veldania_panel")
    with Store.open(path) as store:
        every = len(store.instruments.lines("veldania_panel"))
        command = RunCommand(
            model="scripted",
            audit="bias_score",
            instrument="veldania_panel",
            statements="quick",
            seed=7,
        )
        design = command.design(store)
        assert command.design(store).statements == design.statements
        assert replace(command, seed=8).design(store).statements != design.statements
        plan = planning.plan(store, design)
    said = f"a quick look: 8 of {every} statements"
    assert said in plan.describe()
    command = [
        "run",
        str(path),
        "--model",
        "scripted",
        "--audit",
        "bias_score",
        "--quick",
        "--seed",
        "7",
        "--dry-run",
    ]
    assert main(command) == 0
    assert said in " ".join(capsys.readouterr().out.split())


@pytest.mark.e2e
async def test_the_form_has_every_option_of_a_run(path: Path) -> None:
    in_other_fields = {"quick": "statements", "exact": "answers", "until_decided": "answers"}
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "prompts planned" in shown(app, "#plan"))
        for name in RunCommand.declared():
            assert app.screen.query(f"#{in_other_fields.get(name, name)}"), name
        assert isinstance(app.screen, JobForm)
        app.screen.query_one("#no_default_system", Select).value = "emptied"
        app.screen.query_one("#batch", Select).value = "batches"
        values = app.screen.values()
        assert values is not None
        command = RunCommand.from_form(values)
        assert (command.no_default_system, command.batch) == (True, True)


@pytest.mark.e2e
async def test_the_form_opens_with_few_samples_for_a_quick_look(tmp_path: Path) -> None:
    path = tmp_path / "demo.db"
    make(path, demo=True)
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "prompts planned" in shown(app, "#plan"))
        assert isinstance(app.screen, JobForm)
        samples = app.screen.query_one("#samples", Input)
        assert samples.value == "5"
        app.screen.query_one("#statements", Input).value = "all"
        await until(pilot, lambda: samples.value == "30")
        app.screen.query_one("#audit", Select).value = "response_bias"
        await until(pilot, lambda: samples.value == "50")
        assert app.screen.query_one("#max_new_tokens", Input).value == "1"
