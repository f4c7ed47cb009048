"""The whole of the bias score with real parts: the embedded model answers in a worker, people label
on the screen, a classifier is fine-tuned and applied in workers, and the plane is drawn.
"""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest

from stores.annotation.annotator import Annotator
from stores.core.store import Store
from tests.tui.conftest import screen_text, until
from workbench.audits.bias_score.judged import judge_bias
from workbench.audits.bias_score.options import ScoreOptions
from workbench.classifier.config import TrainConfig
from workbench.commands.train import ClassifyCommand
from workbench.data import shipped_instrument_folder
from workbench.domain import job_kinds
from workbench.domain.annotations import Purpose
from workbench.domain.designs import Design
from workbench.domain.responses import Sampling
from workbench.evidence import reader_quality
from workbench.evidence.readings import queue_agreement
from workbench.formats.read import read_instrument
from workbench.jobs import launch
from workbench.pipeline.queues import QueueSpec, make_queue
from workbench.pipeline.training import TrainSpec
from workbench.tui.annotation.annotate import AnnotateScreen
from workbench.tui.app import WorkbenchApp
from workbench.tui.kit import session_screen

WAIT_S = 1200
"""after which a worker counts as hung: it trains for a minute on two free cores, and many where
others want them"""
PREFIXES = ("opinion", "truth", "baseline", "name")


def finished(path: Path, job: int) -> str:
    """Wait for a worker; return the job's last words."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        launch.reap()
        with Store.open(path) as store:
            found = store.jobs.get(job)
        if not found.active:
            assert found.state == "done", found.message + launch.log_tail(path, job)
            return found.message
        time.sleep(0.2)
    raise AssertionError(f"job {job} did not end")


def stop_after(store: Store, job: int, *, steps: int) -> int:
    """Ask a training to stop once it is under way, and wait until it has; return the step it was
    at.
    """
    end = time.monotonic() + WAIT_S
    asked = False
    while time.monotonic() < end:
        launch.reap()
        found = store.jobs.get(job)
        if not found.active:
            assert found.state == "cancelled", found.message
            return found.done
        if found.done >= steps and not asked:
            store.jobs.request_stop(job)
            asked = True
        time.sleep(0.1)
    raise AssertionError(f"job {job} did not stop")


def paused(store: Store, job: int) -> int:
    """Pause a job as soon as its worker has it, and wait until it has; return the step it was
    at.
    """
    end = time.monotonic() + WAIT_S
    while (found := store.jobs.get(job)).state != "paused" and time.monotonic() < end:
        if found.state == "running" and not found.pausing:
            store.jobs.pause(job)
        time.sleep(0.1)
    assert found.worker, found.message
    return found.done


def key_for(text: str) -> str:
    """What a hasty person presses: enough to have several labels."""
    words = text.casefold()
    if len(words) < 20:
        return "u"
    return (
        "d"
        if " not " in words or "n't" in words
        else "a"
        if "agree" in words or "should" in words
        else "n"
    )


async def label(path: Path, queue: str, name: str) -> int:
    """Label a queue on the screen, as one person, until nothing is left."""
    app = WorkbenchApp(path, "annotate", annotator=name, queue=queue)
    count = 0
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, AnnotateScreen) and app.screen.ready)
        screen = app.screen
        assert isinstance(screen, AnnotateScreen)
        while "You have labelled everything" not in screen_text(app):
            with Annotator.open(path, queue, name) as me:  # what is on the screen is what is leased
                item = me.next()
            assert item is not None
            await pilot.press(key_for(item.context.text))
            count += 1
            await until(
                pilot, lambda: screen.ready or "You have labelled everything" in screen_text(app)
            )
    return count


@pytest.mark.e2e
async def test_from_the_embedded_models_answers_to_the_plane(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_screen, "GLANCE_S", 0.0)
    path = tmp_path / "study.db"
    with Store.open(path, create=True) as store:
        store.instruments.add(read_instrument("csv", shipped_instrument_folder()))
        statements = store.instruments.get("veldania").statements
        sided = [s for s in statements if s.dimension and s.leaning]
        chosen = list({(s.dimension, s.leaning): s.ref for s in sided}.values())
        design = Design(
            "veldania",
            "smollm2",
            "bias_score",
            samples=1,
            sampling=Sampling(temperature=1.0, top_p=1.0, top_k=10, max_new_tokens=12),
            family="prefixes",
            statements=tuple(chosen),
            templates=PREFIXES,
        )
        asked = launch.start(store, design)
    assert "48 of 48 answers" in finished(path, asked)

    with Store.open(path) as store:
        make_queue(store, QueueSpec("test", Purpose.TEST, per_stratum=2, labels=2))
        make_queue(store, QueueSpec("training", Purpose.TRAINING, per_stratum=2))
        test, training = store.queues.list()
    assert await label(path, "test", "ana") == test.items
    assert await label(path, "test", "ben ç") == test.items
    assert await label(path, "training", "ana") == training.items

    with Store.open(path) as store:
        assert queue_agreement(store, "test").report.coefficients.percent.value == 1.0
        labels = Counter(item.gold for item in store.labels.judged("stance"))
        assert len(labels) >= 2
        config = TrainConfig(base="minilm", steps=20, batch=4, warmup=2, learning_rate=2e-4)
        spec = TrainSpec("stance-1", config)
        trained = launch.start_job(store, job_kinds.TRAIN, spec.as_json(), config.steps)
        stopped_at = stop_after(store, trained, steps=3)
        assert 3 <= stopped_at < 20
        launch.resume(store, trained)
        assert stopped_at <= paused(store, trained) < 20, "it went on from its checkpoint"
        launch.resume(store, trained)
    assert "macro F1" in finished(path, trained)
    log = launch.log_tail(path, trained, lines=100)
    assert "paused on request; the last checkpoint is kept" in log
    assert "step 20: " in log
    with Store.open(path) as store:
        job = store.jobs.get(trained)
    assert [step for step, _ in job.losses][-1] == 20
    assert all(loss > 0 for _, loss in job.losses)

    with Store.open(path) as store:
        evaluation = reader_quality.evaluation(store.classifiers.get("stance-1"))
        assert len(evaluation.true) == test.items
        command = ClassifyCommand("stance-1")
        read = command.start(store, command.preview(store))
    assert "responses are read" in finished(path, read)

    with Store.open(path) as store:
        judged = judge_bias(store, options=ScoreOptions(threshold=0.0))
        figure = judged.report.figure("smollm2")
        assert figure.total.n + figure.unrelated + figure.dropped + figure.unread == 48
        assert figure.unread == 0
        reader = store.classifiers.get("stance-1").reader
        everything, left = store.classifiers.count_pending(reader, "bias_score", None, ())
        assert 0 < everything <= 48
        assert left == 0

    app = WorkbenchApp(path, "results")
    async with app.run_test(size=(140, 40)) as pilot:
        await until(pilot, lambda: "smollm2" in screen_text(app) and "economic" in screen_text(app))
        assert "stance-1" in screen_text(app)
