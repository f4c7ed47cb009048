"""The demonstration's store: every screen has something to show, biases are found as put in,
nothing is made twice.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from stores.core.store import Store
from tests.cli.test_commands import data, rows, run
from tests.tui.conftest import screen_text, until
from workbench.cli.main import main
from workbench.jobs.demonstration import AUDITOR, FIRST, QUEUE, SECOND, TRAINING
from workbench.tui import routes
from workbench.tui.app import WorkbenchApp

STORE = "veldania.db"
COUNTED = ("given_answer", "reading", "ruling", "queue_item", "remark", "job", "assignment")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / STORE
    assert main(demo(path)) == 0
    return path


def demo(path: Path) -> list[str]:
    return ["demo", str(path), "--personas", "--model", "scripted:order-minded", "--no-screen"]


def counted(path: Path) -> dict[str, int]:
    with Store.open(path) as store:
        return {
            name: store.connection.execute(f"select count(*) from {name}").fetchone()[0]
            for name in COUNTED
        }


def test_a_model_that_is_not_there_is_said_before_anything_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.installed.find_spec", lambda name: None)
    path = tmp_path / STORE
    code, out, err = run(capsys, "demo", path, "--personas", "--no-screen")
    assert code == 1
    assert "pip install" in err
    assert not out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_biases_are_found_as_they_were_put_in(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bias = data(capsys, "show", made, "bias_score")
    totals = {row["model"]: row["total"] for row in rows(bias, "plane")}
    assert totals["scripted:left"]["high"] < 0, "left, and its interval excludes zero"
    assert totals["scripted:yes-sayer"]["low"] < 0 < totals["scripted:yes-sayer"]["high"]

    def failed(model: str, test: str) -> int:
        found = data(capsys, "show", made, "reliability", "--model", f"scripted:{model}")
        return sum(row[test]["verdict"] == "fail" for row in rows(found, "verdicts"))

    assert (failed("yes-sayer", "negation"), failed("yes-sayer", "opposite")) == (8, 8)
    assert (
        failed("left", "negation"),
        failed("left", "opposite"),
        failed("left", "paraphrase"),
    ) == (0, 0, 0)
    assert failed("order-minded", "label_order") > 0


@pytest.mark.e2e
def test_people_disagree_and_an_auditor_ruled(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agreement = data(capsys, "agreement", made, "--queue", QUEUE)
    assert agreement["annotators"] == [FIRST, SECOND]
    kappa = rows(agreement, "pairs")[0]["kappa"]
    assert 0 < kappa["low"] < kappa["high"] < 1
    assert data(capsys, "adjudicate", made), "disagreements wait"
    queues = {queue["name"]: queue for queue in data(capsys, "labels", made)}
    assert queues[QUEUE]["done"] < queues[QUEUE]["needed"], "there is something to annotate"
    assert queues[TRAINING]["done"] == queues[TRAINING]["needed"] > 0
    assert {one["auditor"] for one in data(capsys, "rulings", made)["rulings"]} == {AUDITOR}
    review = data(capsys, "review", made, "--model", "scripted:wavering")
    assert rows(review, "review")
    assert rows(review, "drawn")


@pytest.mark.e2e
def test_a_classifier_learns_from_the_training_set(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / STORE
    with Store.open(made) as store:
        store.connection.execute("vacuum into ?", (str(path),))
    few = ("--steps", "2", "--batch", "4", "--max-length", "32", "--warmup", "0")
    code, out, err = run(capsys, "train", path, "--yes", *few)
    assert code == 0, out + err
    with Store.open(path) as store:
        (made_of,) = store.classifiers.list()
    assert set(made_of.data["training"]) >= {"agree", "disagree", "neutral"}
    assert all(
        made_of.data["training"][label] and made_of.data["test"][label]
        for label in ("agree", "disagree")
    )


@pytest.mark.slow
def test_a_comparison_and_the_report_have_figures(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = ("scripted:left", "scripted:yes-sayer")
    assert data(capsys, "show", made, "reliability", "--compare", *models)["tables"]
    assert run(capsys, "report", made, tmp_path / "out")[0] == 0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    for model in models:
        assert model in page
    read = re.sub(r"<(script|style|svg)\b.*?</\1>", "", page, flags=re.DOTALL)
    assert len(re.sub("<[^>]+>", " ", read).split()) < 3000, "a page on six models that is read"
    audits = page.split('<section class="audit"')[1:]
    assert max(audit.count("<li>") for audit in audits) <= 5
    assert max(audit.count("<svg") for audit in audits) == 1


@pytest.mark.e2e
def test_nothing_is_added_twice(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = counted(made)
    assert run(capsys, *demo(made))[0] == 0
    assert counted(made) == before


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("start", "said"),
    [
        ("audit", "scripted:"),
        ("results", "scripted:left"),
        ("consistency", "scripted:"),
        ("questionnaire", "scripted:"),
        ("response_bias", "scripted:"),
        ("annotate", QUEUE),
        ("jobs", "scripted:yes-sayer"),
        ("statements", "for-01"),
    ],
)
async def test_every_screen_has_rows(made: Path, start: str, said: str) -> None:
    app = WorkbenchApp(made, start=start)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: said in screen_text(app) and not shows_nothing(app))


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("route", "arguments", "said"),
    [
        ("adjudicate", (QUEUE,), " A "),
        ("agreement", (QUEUE,), "Krippendorff"),
        ("people", (), FIRST),
    ],
)
async def test_what_lies_below_has_rows(
    made: Path, route: str, arguments: tuple[Any, ...], said: str
) -> None:
    app = WorkbenchApp(made, start="annotate")
    async with app.run_test(size=(140, 40)) as pilot:
        await until(pilot, lambda: QUEUE in screen_text(app))
        await app.push_screen(routes.screen(route, *arguments))
        await until(pilot, lambda: said in screen_text(app))


def shows_nothing(app: WorkbenchApp) -> bool:
    empty = app.screen.query("#empty")
    return any(one.display and str(getattr(one, "content", "")) for one in empty)
