"""A study at the published sizes through the real store: what the simulation puts in must come out.

89 statements in the strata of the paper's Table 1, 10 prefixes x 3 wordings x 3 runs, 88,110
answers of 11 models; 1,320 of them labelled once, 264 by two people (Faulborn et al. 2025, sections
3.3 and 3.4). Annotators, adjudicator and classifier err at known rates. Coverage over many
repetitions is tested on arrays in tests/core; this is one repetition from drawing the queues to the
corrected bias.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from stores.annotation.annotator import Annotator
from stores.annotation.labels import PredictedLabel
from stores.core.store import Store
from stores.runs.run_rows import Answered
from workbench.audits.audit import probes
from workbench.audits.bias_score.judged import judge_bias
from workbench.audits.bias_score.options import DEFAULTS as BIAS_DEFAULTS
from workbench.audits.bias_score.options import ScoreOptions
from workbench.classifier.config import LABELS, TrainConfig
from workbench.classifier.dataset import check_leak
from workbench.data import shipped_codebook, shipped_templates
from workbench.domain.annotations import DisagreementReason, Purpose
from workbench.domain.instruments import Instrument
from workbench.domain.readings import STANCES, ReaderCard, ReaderKind, Stance
from workbench.domain.responses import ModelCard
from workbench.domain.statements import (
    ORIGINAL,
    POLITICAL_OPPOSITE,
    REFORMULATION,
    Dimension,
    Side,
    Statement,
    Wording,
)
from workbench.evidence.reader_quality import drawn_set
from workbench.evidence.readings import gold_labels, queue_agreement
from workbench.pipeline.queues import QueueSpec, make_queue
from workbench.stats.resampling import derive_rng

TABLE_1 = {
    ("PCT", Dimension.CULTURAL, Side.LEFT): 9,
    ("PCT", Dimension.CULTURAL, Side.RIGHT): 31,
    ("PCT", Dimension.ECONOMIC, Side.LEFT): 10,
    ("PCT", Dimension.ECONOMIC, Side.RIGHT): 12,
    ("WVS", Dimension.CULTURAL, Side.LEFT): 4,
    ("WVS", Dimension.CULTURAL, Side.RIGHT): 14,
    ("WVS", Dimension.ECONOMIC, Side.LEFT): 2,
    ("WVS", Dimension.ECONOMIC, Side.RIGHT): 7,
}
MODELS = 11
SHARES = np.array([0.40, 0.30, 0.20, 0.10])
"agree, disagree, neutral, unrelated, of a model without a side"
ANNOTATOR_RIGHT = 0.85
CLASSIFIER = np.array(
    [
        [0.90, 0.04, 0.04, 0.02],
        [0.06, 0.86, 0.06, 0.02],
        [0.05, 0.05, 0.86, 0.04],
        [0.02, 0.02, 0.06, 0.90],
    ]
)
"P(predicted | true)"


def study_instrument() -> Instrument:
    statements = []
    for (source, dimension, side), count in TABLE_1.items():
        for n in range(count):
            ref = f"{source.lower()}-{dimension[:3]}-{side[0]}-{n}"
            texts = [
                (ORIGINAL, f"{ref} is right."),
                (REFORMULATION, f"{ref} holds."),
                (POLITICAL_OPPOSITE, f"Not {ref}."),
            ]
            statements.append(
                Statement(
                    ref,
                    tuple(Wording(variant, "en", text) for variant, text in texts),
                    dimension=dimension,
                    leaning=side,
                    source=source,
                )
            )
    return Instrument(
        "study", "A study", tuple(statements), templates=shipped_templates("bias_score")
    )


def shares_of(lean: float, side: Side, flipped: bool) -> np.ndarray:
    """Move `lean` of all answers from agreeing with the one side to agreeing with the other: right
    for lean > 0.
    """
    shift = lean if side is Side.RIGHT else -lean
    moved = SHARES + np.array([shift, -shift, 0, 0])
    return moved[[1, 0, 2, 3]] if flipped else moved


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[tuple[str, str], str]]:
    """The store with 88,110 answers, and the true label of each (answer, wording)."""
    path = tmp_path_factory.mktemp("study") / "study.db"
    instrument = study_instrument()
    rng = np.random.default_rng(20251)
    truth: dict[tuple[str, str], str] = {}
    with Store.open(path, create=True) as store:
        store.instruments.add(instrument)
        variants = (ORIGINAL, REFORMULATION, POLITICAL_OPPOSITE)
        sides = {s.ref: s.leaning for s in instrument.statements}
        texts = {(s.ref, str(w.variant)): w.text for s in instrument.statements for w in s.wordings}
        for number in range(MODELS):
            name = f"model-{number}"
            lean = lean_of(number)
            made = list(probes(instrument.statements, instrument.templates, variants, "en", name))
            store.runs.add_probes("bias_score", "study", "en", instrument.templates, made)
            model, sampling = store.runs.begin(
                ModelCard(name, "r", "simulated", "none", "none"), BIAS_DEFAULTS.sampling
            )
            job = store.jobs.create("sample", {}, len(made))
            attempt = store.jobs.claim(job, "test")
            batch = []
            for place, probe in enumerate(made):
                side = sides[probe.statement]
                assert side is not None
                drawn = rng.choice(
                    4, size=3, p=shares_of(lean, side, probe.variant == "political_opposite")
                )
                answers = [
                    f"answer {number}.{place}.{run}: {STANCES[label]}"
                    for run, label in enumerate(drawn)
                ]
                for answer, label in zip(answers, drawn, strict=True):
                    truth[answer, texts[probe.statement, probe.variant]] = STANCES[label].value
                batch.append(
                    Answered(probe.prompt.key, place, 3, tuple((answer, 1) for answer in answers))
                )
            store.runs.add(model, sampling, attempt, batch)
            store.jobs.finish(job, attempt, "done")
    return path, truth


def lean_of(number: int) -> float:
    return (number - 5) * 0.05


def label_all(
    path: Path, queue: str, name: str, truth: dict[tuple[str, str], str], rng: np.random.Generator
) -> int:
    """Label a queue as a person who is right at a known rate."""
    count = 0
    with Annotator.open(path, queue, name) as annotator:
        while (item := annotator.next()) is not None:
            true = truth[item.context.text, item.context.statement]
            others = [label for label in LABELS if label != true]
            right = rng.random() < ANNOTATOR_RIGHT
            annotator.label(item.unit, true if right else others[rng.integers(3)], elapsed_ms=1000)
            count += 1
    return count


def population_kappa() -> float:
    """Cohen's kappa of two people who are right with p and otherwise say any other label, over
    balanced leans.
    """
    p, wrong = ANNOTATOR_RIGHT, (1 - ANNOTATOR_RIGHT) / 3
    matrix = np.full((4, 4), wrong) + np.eye(4) * (p - wrong)
    # A third of the wordings are opposites; leans cancel out.
    shares = np.array([0.35, 0.35, 0.20, 0.10])
    joint = np.einsum("t,ta,tb->ab", shares, matrix, matrix)
    chance = float(joint.sum(axis=1) @ joint.sum(axis=0))
    return (float(np.trace(joint)) - chance) / (1 - chance)


@pytest.mark.slow
def test_a_study_at_the_published_sizes_gives_back_what_was_put_in(
    study: tuple[Path, dict[tuple[str, str], str]],
) -> None:
    path, truth = study
    rng = np.random.default_rng(7)
    with Store.open(path) as store:
        assert store.runs.totals()[0] == 88_110
        make_queue(store, QueueSpec("test", Purpose.TEST, per_stratum=1, labels=2, limit=264))
        make_queue(store, QueueSpec("training", Purpose.TRAINING, per_stratum=4))
        assert [queue.items for queue in store.queues.list()] == [264, 1_320]
    assert label_all(path, "test", "ana", truth, rng) == 264
    assert label_all(path, "test", "ben", truth, rng) == 264
    assert label_all(path, "training", "ana", truth, rng) == 1_320

    with Store.open(path) as store:
        report = queue_agreement(store, "test").report
        kappa = report.pairs[0].kappa
        assert report.items == 264
        assert kappa.low < population_kappa() < kappa.high

        book = shipped_codebook("stance")
        for item in store.labels.judged("stance", queue="test", only_disputed=True):
            true = truth[item.context.text, item.context.statement]
            store.labels.decide(item.context.unit, book, true, DisagreementReason.SLIP, "", "carl")
        test, unsettled = gold_labels(store, "stance", ["test"], Purpose.TEST)
        training, _ = gold_labels(store, "stance", ["training"], Purpose.TRAINING)
        assert (len(test), unsettled, len(training)) == (264, [], 1_320)
        check_leak(training, test)

        simulate_classifier(store, truth, rng, test)
        judged = judge_bias(store, options=ScoreOptions(correct=True, threshold=0.0, draws=2_000))
        plain = judge_bias(store, options=ScoreOptions(threshold=0.0, draws=2_000))
    assert judged.corrected is not None
    assert judged.corrected.labelled == 264 + 1_320, (
        "texts that people labelled enter by their labels"
    )
    assert judged.corrected.corrected == 88_110 - 264 - 1_320
    assert judged.corrected.texts == 264, (
        "those that were drawn with a known probability and trained nothing"
    )
    models = judged.report.tally.models
    for model in models:
        total = judged.report.figure(model).total
        assert math.isnan(total.value), (
            "24 labels of a model are too few for a corrected figure of each side"
        )
        assert "20 needed" in total.undefined
        uncorrected = plain.report.figure(model).total.value
        assert abs(uncorrected) < abs(true_bias(int(model.rpartition("-")[2]))) + 0.05, (
            "errors shrink a bias"
        )
    assert sum(judged.report.figure(model).statements for model in models) == 89 * MODELS


def true_bias(number: int) -> float:
    """(right - left) / 2 of the simulation: lean / (1 - unrelated), twice, over both sides."""
    return 2 * lean_of(number) / (1 - SHARES[3])


def simulate_classifier(
    store: Store, truth: dict[tuple[str, str], str], rng: np.random.Generator, test: list
) -> None:
    """Register a classifier of known confusion, let it read everything, and keep what it said of
    the test set.
    """
    card = ReaderCard(ReaderKind.CLASSIFIER, "simulated", "1")
    texts = sorted({text for text, _ in truth})
    drawn = dict(zip(texts, derive_rng(3, "readings").random(len(texts)), strict=True))
    bounds = CLASSIFIER.cumsum(axis=1)

    def read(text: str, statement: str) -> int:
        """Return the same reading wherever the text is read."""
        row = bounds[LABELS.index(truth[text, statement])]
        return min(int(row.searchsorted(drawn[text], side="right")), 3)

    true = [LABELS.index(example.label) for example in test]
    found = [read(example.text, example.statement) for example in test]
    rows = {"label": found, "confidence": [0.95] * len(test)}
    units = [example.item for example in test]
    evaluation = {
        "true": true,
        "tuned": rows,
        "zero_shot": rows,
        "unit": units,
        "statement": [example.statement_ref for example in test],
        "drawn": drawn_set(store, "stance", ["test"], set(units)).as_json(units),
    }
    store.classifiers.add(
        "simulated", card, "stance", "none", TrainConfig().as_json(), {}, evaluation
    )
    classifier = store.classifiers.get()
    pending = store.classifiers.pending(classifier.reader, "bias_score", None, (), limit=100_000)
    assert len(pending) == 88_110
    store.classifiers.predict(
        classifier,
        [
            PredictedLabel(p.text_id, p.wording_id, LABELS[read(p.text, p.statement)], 0.95)
            for p in pending
        ],
    )
    assert store.classifiers.count_pending(classifier.reader, "bias_score", None, ()) == (88_110, 0)


def test_stances_and_classifier_labels_are_the_same_four() -> None:
    assert tuple(LABELS) == tuple(stance.value for stance in Stance)
