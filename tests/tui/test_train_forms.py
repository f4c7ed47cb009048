"""Training and classification are started from forms that say what they come to, and refuse what
would mislead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Button, Checkbox, Input, Select, SelectionList

from stores.annotation.annotation_items import save_codebook
from stores.annotation.annotator import Annotator
from stores.annotation.labels import PredictedLabel
from stores.annotation.queues import NewItem
from stores.core.store import Store
from stores.runs.run_rows import Answered
from tests.conftest import instrument
from tests.tui.conftest import screen_text, shown, until
from workbench.audits.audit import probes as every_probe
from workbench.audits.bias_score.options import DEFAULTS
from workbench.classifier.config import EMBEDDED_BASE, PUBLISHED_BASE, Premise, TrainConfig
from workbench.commands.train import TrainCommand, free_name
from workbench.data import shipped_codebook, shipped_templates
from workbench.domain import job_kinds
from workbench.domain.annotations import Purpose
from workbench.domain.readings import ReaderCard, ReaderKind
from workbench.domain.responses import ModelCard
from workbench.domain.statements import ORIGINAL
from workbench.errors import UsageError
from workbench.jobs import launch
from workbench.pipeline.training import ClassifySpec, TrainSpec
from workbench.tui.app import WorkbenchApp
from workbench.tui.jobs import job_kind_dialog
from workbench.tui.jobs.job_kind_dialog import JobKindDialog
from workbench.tui.jobs.jobs import JobsScreen
from workbench.tui.kit.command_form import CommandForm

SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40)])
TRAINING = {
    "Yes, gladly.": "agree",
    "I think so.": "agree",
    "No, never.": "disagree",
    "It depends on much.": "neutral",
    "Cats are nice.": "unrelated",
}
TEST = {"Of course.": "agree", "Out of the question.": "disagree", "Both have a point.": "neutral"}


def labelled(
    path: Path,
    name: str,
    purpose: Purpose,
    labels: dict[str, str],
    people: Sequence[str] = ("ana",),
) -> None:
    """Make a queue of texts about the first statement, and let each person give each text its
    label.
    """
    with Store.open(path) as store:
        wording = store.connection.execute("select min(id) from wording").fetchone()[0]
        items = [NewItem(wording, len(people), "s", text=text) for text in labels]
        store.queues.create(name, purpose, shipped_codebook("stance"), items, {})
        units = [
            r[0]
            for r in store.connection.execute(
                "select unit_id from queue_item where queue_id = (select max(id) from queue) "
                "order by ordinal"
            )
        ]
    for person in people:
        with Annotator.open(path, name, person) as annotator:
            for unit, label in zip(units, labels.values(), strict=True):
                annotator.label(unit, label, elapsed_ms=900)


def answers(path: Path, *models: str) -> None:
    """Let models answer two prefixes of the bias score: three different answers to each prompt."""
    base = instrument()
    templates = [t for t in shipped_templates("bias_score") if t.name in ("respond", "opinion")]
    with Store.open(path) as store:
        for model in models:
            probes = tuple(every_probe(base.statements, templates, [ORIGINAL], "en", model))
            store.runs.add_probes("bias_score", base.name, "en", templates, probes)
            ids = store.runs.begin(
                ModelCard(model, "0" * 16, "scripted", "float32", "none"), DEFAULTS.sampling
            )
            job = store.jobs.create(
                "sample", {"model": model, "audit": "bias_score"}, 3 * len(probes)
            )
            attempt = store.jobs.claim(job, "9.9")
            drawn = tuple((f"{model} says {n}", 1) for n in range(3))
            batch = [Answered(p.prompt.key, n, 3, drawn) for n, p in enumerate(probes)]
            store.runs.add(
                *ids, attempt, batch, job=(job, 3 * len(probes), '{"answers": 18, "seconds": 2}')
            )
            store.jobs.finish(job, attempt, "done")


def classifier(path: Path, name: str) -> None:
    """Register a classifier whose weights nobody needs here."""
    with Store.open(path) as store:
        card = ReaderCard(ReaderKind.CLASSIFIER, name, "0123456789abcdef")
        counts = {"training": {"agree": 3, "disagree": 2}, "test": {"agree": 1, "disagree": 1}}
        with store.write() as connection:
            save_codebook(connection, shipped_codebook("stance"))
        store.classifiers.add(
            name, card, "stance", f"audit.db.models/{name}", {"base": "minilm"}, counts, {}
        )


def read_some(path: Path, name: str, count: int) -> None:
    with Store.open(path) as store:
        known = store.classifiers.get(name)
        pending = store.classifiers.pending(known.reader, "bias_score", None, (), limit=count)
        store.classifiers.predict(
            known, [PredictedLabel(p.text_id, p.wording_id, "agree", 0.9) for p in pending]
        )


@pytest.fixture
def trainable(path: Path) -> Path:
    """A store with a labelled training and a labelled test queue."""
    labelled(path, "train", Purpose.TRAINING, TRAINING)
    labelled(path, "test", Purpose.TEST, TEST, ("ana", "ben"))
    return path


def jobs(path: Path) -> int:
    with Store.open(path) as store:
        return len(store.jobs.list())


@SIZES
async def test_a_new_job_is_of_three_kinds_and_says_why_one_cannot_be(
    path: Path, size: tuple[int, int]
) -> None:
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=size) as pilot:
        await pilot.press("n")
        await until(pilot, lambda: "no classifier yet" in screen_text(app))
        text = screen_text(app)
        assert "s  Ask a model" in text
        assert "no labels yet: people label a training set and a test set first" in text
        await pilot.press("t")
        await until(pilot, lambda: "no labels yet" in shown(app, "#trouble"))
        await pilot.press("c")
        await until(pilot, lambda: "no classifier yet" in shown(app, "#trouble"))
        assert isinstance(app.screen, JobKindDialog)
        await pilot.press("escape")
        assert isinstance(app.screen, JobsScreen)


async def test_a_test_set_and_free_text_answers_are_needed_too(path: Path) -> None:
    labelled(path, "train", Purpose.TRAINING, TRAINING)
    classifier(path, "stance-1")
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n")
        await until(pilot, lambda: "no test labels yet" in screen_text(app))
        assert "no free-text answers yet" in screen_text(app)


async def test_kinds_are_those_that_jobs_have() -> None:
    kinds = (job_kind_dialog.SAMPLE, job_kind_dialog.TRAIN, job_kind_dialog.CLASSIFY)
    assert kinds == (job_kinds.SAMPLE, job_kinds.TRAIN, job_kinds.CLASSIFY)


@pytest.mark.e2e
async def test_the_training_form_says_what_it_would_learn_from(trainable: Path) -> None:
    app = WorkbenchApp(trainable, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "t")
        await until(
            pilot,
            lambda: isinstance(app.screen, CommandForm) and "training: 5" in shown(app, "#plan"),
        )
        plan = shown(app, "#plan")
        usual = TrainConfig.for_base(EMBEDDED_BASE)
        assert f"stance-1: minilm, {usual.steps:,} steps of {usual.batch} pairs" in plan
        assert "training: 5 responses (agree 2, disagree 1, neutral 1, unrelated 1)" in plan
        assert "! recall and F1 of unrelated: no test response has this label" in plan
        assert "Start  F5" in screen_text(app)
        assert "hypothesis" in screen_text(app)
    assert jobs(trainable) == 0


@pytest.mark.e2e
async def test_disputed_labels_are_counted_and_left_out(trainable: Path) -> None:
    labelled(trainable, "more", Purpose.TEST, {"Hm.": "neutral", "Well.": "agree"}, ("ana", "ben"))
    with Annotator.open(trainable, "more", "cem") as annotator, Store.open(trainable) as store:
        unit = store.connection.execute("select max(unit_id) from queue_item").fetchone()[0]
        annotator.label(unit, "disagree", elapsed_ms=900)
    app = WorkbenchApp(trainable, start="jobs")
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.press("n", "t")
        await until(pilot, lambda: "1 more wait for adjudication" in shown(app, "#plan"))
        assert "test: 4 responses" in shown(app, "#plan")


@pytest.mark.e2e
async def test_a_test_set_that_is_not_unseen_is_refused_plainly(trainable: Path) -> None:
    labelled(trainable, "leak", Purpose.TEST, {"yes,  GLADLY.": "agree"})
    app = WorkbenchApp(trainable, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "t")
        await until(pilot, lambda: "The test data are not unseen." in screen_text(app))
        assert "1 response text is in the training and in the test data: 'yes, gladly.'" in shown(
            app, "#plan"
        )
        assert app.screen.query_one("#start", Button).disabled
        await pilot.press("f5")
        await pilot.pause()
        assert isinstance(app.screen, CommandForm)
    assert jobs(trainable) == 0


@pytest.mark.e2e
async def test_keeping_statements_apart_is_part_of_the_refusal(trainable: Path) -> None:
    app = WorkbenchApp(trainable, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "t")
        await until(pilot, lambda: "training: 5" in screen_text(app))
        assert "▐ ▌ split by statement" in screen_text(app)
        app.screen.query_one("#by_statement", Checkbox).focus()
        await pilot.press("space")
        await until(
            pilot,
            lambda: "1 statement is in the training and in the test data" in shown(app, "#plan"),
        )
        assert "▐X▌ split by statement" in screen_text(app)


@pytest.mark.e2e
async def test_another_base_brings_its_settings_and_leaves_what_was_typed(trainable: Path) -> None:
    app = WorkbenchApp(trainable, start="jobs")
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.press("n", "t")
        await until(pilot, lambda: "training: 5" in screen_text(app))
        app.screen.query_one("#batch", Input).value = "8"
        app.screen.query_one("#base", Input).value = PUBLISHED_BASE
        await until(
            pilot,
            lambda: (
                "stance-1: facebook/bart-large-mnli, 1,750 steps of 8 pairs" in shown(app, "#plan")
            ),
        )
        assert "learning rate 2e-05, weight decay 0.2, warm-up 500" in shown(app, "#plan")
        app.screen.query_one("#base", Input).focus()
        await pilot.press("delete")
        await until(pilot, lambda: "base: give a hub id or a folder" in shown(app, "#plan"))
        await pilot.press(*"./mine")
        await until(
            pilot, lambda: "stance-1: ./mine, 1,750 steps of 8 pairs" in shown(app, "#plan")
        )


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("name", "a/b", "the classifier name 'a/b'"),
        ("steps", "0", "steps: found 0; give 1 or more"),
        ("learning_rate", "0", "learning rate: found 0.0; give more than 0"),
        ("dev_share", "0.6", "dev share: found 0.6; give 0 to 0.5"),
        ("weight_decay", "nan", "weight decay: found nan; give 0 or more"),
        ("patience", "often", "patience: found 'often'; give a whole number, 1 or more"),
        ("hypothesis", "It agrees", "has no {label}"),
    ],
)
async def test_a_setting_that_cannot_be_is_named(
    trainable: Path, field: str, value: str, words: str
) -> None:
    app = WorkbenchApp(trainable, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "t")
        await until(pilot, lambda: "training: 5" in screen_text(app))
        app.screen.query_one(f"#{field}", Input).value = value
        await until(pilot, lambda: words in shown(app, "#plan"))
        assert app.screen.query_one("#start", Button).disabled


@pytest.mark.e2e
async def test_a_training_is_started_as_the_form_says_it(
    trainable: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spawned: list[int] = []
    monkeypatch.setattr(launch, "spawn", lambda _path, job: spawned.append(job))
    app = WorkbenchApp(trainable, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "t")
        await until(pilot, lambda: "training: 5" in screen_text(app))
        app.screen.query_one("#steps", Input).value = "90"
        app.screen.query_one("#premise", Select).value = "both"
        await until(pilot, lambda: "90 steps" in shown(app, "#plan"))
        await until(pilot, lambda: not app.screen.query_one("#start", Button).disabled)
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(app.screen, JobsScreen))
        await until(pilot, lambda: "stance-1 · minilm" in screen_text(app))
        await until(pilot, lambda: "0/90" in screen_text(app))
        await pilot.press("n", "t")
        await until(pilot, lambda: "stance-2: minilm" in screen_text(app))
    with Store.open(trainable) as store:
        job = store.jobs.get(1)
    config = replace(TrainConfig.for_base(EMBEDDED_BASE), steps=90, premise=Premise.BOTH)
    assert TrainSpec.from_json(job.spec) == TrainSpec("stance-1", config)
    assert (job.kind, job.total, spawned) == ("train", 90, [1])


@pytest.mark.e2e
async def test_the_newest_classifier_is_offered_with_what_it_has_left(path: Path) -> None:
    answers(path, "one", "two")
    for name in ("stance-1", "stance-2"):
        classifier(path, name)
    read_some(path, "stance-2", 4)
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "c")
        await until(
            pilot,
            lambda: isinstance(app.screen, CommandForm) and "14 to read" in shown(app, "#plan"),
        )
        assert "18 different responses with their statements; 4 (22 %) have been read" in shown(
            app, "#plan"
        )
        assert "minilm · training 5 responses · test 2 responses" in screen_text(app)
        app.screen.query_one("#model", SelectionList).toggle("two")
        await until(
            pilot,
            lambda: "left/right bias answers of one on all instruments" in shown(app, "#plan"),
        )
        assert "9 different responses" in shown(app, "#plan")
        app.screen.query_one("#classifier", Select).value = "stance-1"
        await until(pilot, lambda: "0 (0 %) have been read; 9 to read" in shown(app, "#plan"))


@pytest.mark.e2e
async def test_a_classification_is_started_as_the_form_says_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spawned: list[int] = []
    monkeypatch.setattr(launch, "spawn", lambda _path, job: spawned.append(job))
    answers(path, "one", "two")
    classifier(path, "stance-1")
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "c")
        await until(pilot, lambda: "18 to read" in shown(app, "#plan"))
        app.screen.query_one("#instrument", Select).value = "small"
        app.screen.query_one("#model", SelectionList).toggle("two")
        await until(pilot, lambda: "answers of one on small" in shown(app, "#plan"))
        await until(pilot, lambda: not app.screen.query_one("#start", Button).disabled)
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(app.screen, JobsScreen) and "0/9" in screen_text(app))
    with Store.open(path) as store:
        job = store.jobs.get(3)
    assert ClassifySpec.from_json(job.spec) == ClassifySpec(
        "stance-1", "bias_score", "small", ("one",)
    )
    assert (job.kind, spawned) == ("classify", [3])


@pytest.mark.e2e
async def test_where_all_is_read_there_is_nothing_to_start(path: Path) -> None:
    answers(path, "one")
    classifier(path, "stance-1")
    read_some(path, "stance-1", 100)
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "c")
        await until(pilot, lambda: "Everything has been read already" in screen_text(app))
        assert "F5 puts first in each queue what this classifier is least sure of" in shown(
            app, "#plan"
        )
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(app.screen, JobsScreen))
        await until(pilot, lambda: "Queues now begin with" in screen_text(app))
    assert jobs(path) == 1


def test_the_first_free_name_is_taken(path: Path) -> None:
    with Store.open(path) as store:
        assert free_name(store) == "stance-1"
    for name in ("stance-1", "stance-3", "mine"):
        classifier(path, name)
    with Store.open(path) as store:
        assert free_name(store) == "stance-2"


def test_the_settings_of_a_base_are_read_back_exactly(trainable: Path) -> None:
    for base in (EMBEDDED_BASE, PUBLISHED_BASE):
        with Store.open(trainable) as store:
            choices = TrainCommand.choices(store, {"base": base})
        texts = {name: offered.default for name, offered in choices.items()}
        lists = {"training": None, "test": None}
        command = TrainCommand.from_form({**texts, "base": base, **lists})
        assert command.config() == TrainConfig.for_base(base)


def test_no_base_is_no_training() -> None:
    with pytest.raises(UsageError, match="base: give a hub id"):
        TrainCommand(base=" ").config()
