"""Jobs show their rate, unreadable answers, losses and dev scores over time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.jobs.test_snapshots import done
from tests.tui.conftest import screen_text, until
from tests.tui.test_jobs_screen import SIZES, TRAINING, written
from workbench.classifier.config import TrainProgress
from workbench.domain.designs import Design
from workbench.domain.responses import Sampling
from workbench.jobs.task import Control, ModelCache, Task
from workbench.jobs.work import TrainingReport
from workbench.tui.app import WorkbenchApp
from workbench.tui.jobs.job_lines import course_lines

ASKED = Design("small", "scripted", samples=2).as_json()
COURSE = [[second, 10 * second, second // 2] for second in range(1, 9)]


def progress_with(**figures: object) -> str:
    return json.dumps({"answers": 80, "seconds": 8, "unreadable": 4, **figures})


@SIZES
async def test_the_rate_and_unreadable_answers_are_shown_over_time(
    path: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    written(path, "sample", ASKED, 160, done=80, progress=progress_with(course=COURSE))
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "answers/s     ████████" in screen_text(app))
        assert "highest 10.0, last 10.0" in screen_text(app)
        assert "unreadable    ▁█▁█▁█▁█  highest 10.0 %, last 10.0 %" in screen_text(app)
        assert "ETA" in screen_text(app)


def lines_of(path: Path, job: int) -> list[str]:
    with Store.open(path) as store:
        return course_lines(store.jobs.get(job))


def test_a_job_without_a_course_shows_none(path: Path) -> None:
    job = written(path, "sample", ASKED, 160, done=80, progress=progress_with())
    assert lines_of(path, job) == []
    job = written(path, "sample", ASKED, 160, progress=progress_with(course=COURSE[:2]))
    assert lines_of(path, job) == []


def test_answers_in_free_text_have_no_unreadable_ones(path: Path) -> None:
    free_text = Design("small", "smollm2", "bias_score", 3, Sampling(1.0, 1.0, 10, 100)).as_json()
    job = written(path, "sample", free_text, 160, progress=progress_with(course=COURSE))
    assert [line.split()[0] for line in lines_of(path, job)] == ["answers/s"]


def test_a_time_without_answers_has_no_share(path: Path) -> None:
    course = [[1, 10, 5], [2, 10, 5], [3, 20, 10]]
    job = written(path, "sample", ASKED, 160, progress=progress_with(course=course))
    rate_line, share_line = lines_of(path, job)
    assert "█▁█" in rate_line
    assert "█ █" in share_line


@pytest.mark.e2e
def test_a_worker_stores_the_course_of_its_attempt(path: Path) -> None:
    with Store.open(path) as store:
        job = done(store, Design("small", "scripted", samples=2))
    assert job.course
    assert "course" not in job.progress
    seconds, answers, unreadable = job.course[-1]
    assert seconds > 0
    assert (answers, unreadable) == (job.progress["answers"], job.progress["unreadable"])


def test_a_training_shows_its_losses_and_the_scores_of_its_evaluations(path: Path) -> None:
    figures = {
        "losses": [[10, 1.1], [20, 0.6], [30, 0.3], [40, 0.2]],
        "dev_scores": [[20, 0.41], [40, 0.834]],
    }
    progress = json.dumps({"step": 40, "steps": 240, "loss": 0.2, **figures})
    lines = lines_of(path, written(path, "train", TRAINING, 240, progress=progress))
    assert lines == [
        "loss          █▅▃▂  1.100 → 0.200",
        "dev macro F1  ▄▇  0.41 0.83",
    ]


def test_each_loss_and_each_evaluation_is_stored_and_evaluations_are_logged(path: Path) -> None:
    number = written(path, "train", TRAINING, 40)
    logged: list[str] = []
    with Store.open(path) as store:
        job = store.jobs.get(number)
        report = TrainingReport(Task(store, job, 1, Control(), logged.append, ModelCache()))
        for step, loss, dev in [
            (10, 1.1, None),
            (12, float("nan"), None),
            (20, 0.6, None),
            (20, None, 0.5),
            (30, 0.4, 0.5),
            (40, 0.3, 0.5),
            (40, None, 0.5),
        ]:
            report.take(TrainProgress(step, 40, loss, 1e-4, dev, float(step)))
        job = store.jobs.get(number)
    assert job.losses == ((10, 1.1), (20, 0.6), (30, 0.4), (40, 0.3))
    assert job.dev_scores == ((20, 0.5), (40, 0.5)), "an equal score is an evaluation, too"
    assert job.progress["loss"] == 0.3
    assert logged == [
        "step 12: loss nan",
        "step 20: loss 0.600, dev macro F1 0.500",
        "step 40: loss 0.300",
        "step 40: loss 0.300, dev macro F1 0.500",
    ]
