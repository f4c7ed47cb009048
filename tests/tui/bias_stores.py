"""Stores with free-text answers, readings and a classifier, made for the screens of the bias score.

Three models answer 16 statements (two sources x two dimensions x two sides x two) in three wordings
under three prefixes. What they say is drawn from their tendencies with fixed seeds; the classifier
reads the word of its label in an answer, with little confidence where the answer says `perhaps`.
Its test set is known, so its figures are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from stores.annotation.annotation_items import save_codebook
from stores.annotation.annotator import Annotator
from stores.annotation.labels import PredictedLabel
from stores.core.store import Store
from stores.runs.run_rows import Answered
from tests.tui.conftest import HOSTILE
from workbench.audits.audit import probes as every_probe
from workbench.audits.bias_score import AUDIT
from workbench.audits.bias_score.options import DEFAULTS, ScoreOptions
from workbench.data import shipped_codebook, shipped_templates
from workbench.domain.annotations import Purpose
from workbench.domain.instruments import Instrument
from workbench.domain.keys import content_key
from workbench.domain.prompts import LIKERT, Probe
from workbench.domain.readings import STANCES, ReaderCard, ReaderKind
from workbench.domain.responses import ModelCard
from workbench.domain.statements import (
    ORIGINAL,
    POLITICAL_OPPOSITE,
    Dimension,
    Side,
    Statement,
    VariantId,
    VariantKind,
    Wording,
)
from workbench.evidence.readings import BatchReader
from workbench.evidence.runs import AnswerSelection
from workbench.figures.book import Book
from workbench.pipeline.queues import QueueSpec, make_queue

LABELS = tuple(stance.value for stance in STANCES)
PREFIXES = ("likert", "opinion", "baseline")
WORDINGS = (ORIGINAL, VariantId(VariantKind.REFORMULATION, 1), POLITICAL_OPPOSITE)
SAMPLES = 3
HOSTILE_REF = "PCT-economic-left-1"
"its original has hostile answers under `opinion`"

MODELS = {
    "gauche-7b": {Side.LEFT: (0.75, 0.10, 0.10, 0.05), Side.RIGHT: (0.25, 0.55, 0.15, 0.05)},
    "droite-13b": {Side.LEFT: (0.35, 0.45, 0.15, 0.05), Side.RIGHT: (0.65, 0.15, 0.15, 0.05)},
    "milieu-1b": {Side.LEFT: (0.45, 0.25, 0.20, 0.10), Side.RIGHT: (0.40, 0.30, 0.20, 0.10)},
}
"""model -> how often it agrees, disagrees, is neutral, talks of something else, by the side of a
statement"""

SAYS = {
    "agree": "I agree with that, and for good reasons.",
    "disagree": "I disagree: this goes much too far.",
    "neutral": "I stay neutral; both have a point.",
    "unrelated": "This is unrelated, but the weather is fine.",
}
NUMBER = {"agree": "4", "disagree": "2", "neutral": "3", "unrelated": "no number"}
CONFIDENCE = {"agree": 0.97, "disagree": 0.95, "neutral": 0.92, "unrelated": 0.93}
DOUBT = 0.55
"confidence in answers that say `perhaps`"


def sided(
    name: str = "two-tests", *, sides: bool = True, sources: Sequence[str] = ("PCT", "WVS")
) -> Instrument:
    """Return an instrument of statements with a dimension and a leaning, or without them."""
    statements = tuple(
        Statement(
            f"{source}-{dimension}-{side}-{n}",
            tuple(
                Wording(variant, "en", f"{source} {dimension} {side} {n}, {variant}.", author)
                for variant, author in zip(WORDINGS, ("the test", "gpt-4", "gpt-4"), strict=True)
            ),
            dimension=dimension if sides else None,
            leaning=side if sides else None,
            source=source,
        )
        for source in sources
        for dimension in Dimension
        for side in Side
        for n in (1, 2)
    )
    templates = tuple(t for t in shipped_templates("bias_score") if t.name in PREFIXES)
    return Instrument(name, "Two tests of politics", statements, templates=templates)


def answers(model: str, probe: Probe, statement: Statement) -> tuple[tuple[str, int], ...]:
    """Return what a model says: its stance on the statement, turned round on the opposite
    wording.
    """
    if (
        statement.ref == HOSTILE_REF
        and probe.template == "opinion"
        and probe.variant == str(ORIGINAL)
    ):
        return tuple((text, 1) for text in HOSTILE)
    assert statement.leaning is not None or statement.ref
    side = statement.leaning or Side.LEFT
    rng = np.random.default_rng(
        list(content_key([model, probe.statement, probe.variant, probe.template]))
    )
    said = []
    for place in rng.choice(len(STANCES), SAMPLES, p=MODELS.get(model, MODELS["milieu-1b"])[side]):
        stance = (
            STANCES[place].flipped if probe.variant == str(POLITICAL_OPPOSITE) else STANCES[place]
        )
        perhaps = " Perhaps." if rng.random() < 0.2 else ""
        said.append(NUMBER[stance] if probe.template == LIKERT else SAYS[stance] + perhaps)
    return tuple((text, said.count(text)) for text in dict.fromkeys(said))


def asked(
    path: Path,
    base: Instrument | None = None,
    models: Iterable[str] = tuple(MODELS),
    *,
    language: str = "en",
    dtype: str = "float32",
    only: Sequence[str] = (),
) -> Path:
    """Fill a store, made where it is not there yet, with answers; rules have read what they can.

    `only`: the statements that are asked; all where it is empty.
    """
    base = base or sided()
    statements = {s.ref: s for s in base.statements}
    with Store.open(path, create=not path.exists()) as store:
        store.instruments.add(base)
        for model in models:
            some = [s for s in base.statements if not only or s.ref in only]
            probes = tuple(every_probe(some, base.templates, WORDINGS, language, model))
            store.runs.add_probes("bias_score", base.name, language, base.templates, probes)
            card = ModelCard(model, content_key(model).hex()[:16], "scripted 1", dtype, "none")
            model_id, sampling_id = store.runs.begin(card, DEFAULTS.sampling)
            job = store.jobs.create("infer", {}, len(probes))
            attempt = store.jobs.claim(job, "9.9")
            batch = []
            for n, probe in enumerate(probes):
                said = answers(model, probe, statements[probe.statement])
                batch.append(
                    Answered(probe.prompt.key, 1000 + n, sum(count for _, count in said), said)
                )
            readings = BatchReader.for_probes(store, base.templates, probes).read(batch)
            store.runs.add(model_id, sampling_id, attempt, batch, readings=readings)
            store.jobs.finish(job, attempt, "done")
    return path


def read_as(text: str) -> tuple[str, float]:
    """Return what the stand-in for a classifier makes of an answer."""
    label = next(
        (label for label in ("disagree", "agree", "neutral") if label in text), "unrelated"
    )
    return label, DOUBT if "Perhaps" in text else CONFIDENCE[label]


def trained(
    path: Path,
    name: str = "bart-stance",
    *,
    right: float = 0.9,
    test: bool = True,
    reads: bool = True,
) -> Path:
    """Register a classifier with a test set of 60 items, and let it read the store.

    `test`: the items of the test set are answers of the store, else they have no text there.
    """
    with Store.open(path) as store:
        with store.write() as connection:
            save_codebook(connection, shipped_codebook("stance"))
        units = (
            [item.context.unit for item in store.labels.judged("stance", purpose=Purpose.TEST)]
            if test
            else []
        )
        store.classifiers.add(
            name,
            ReaderCard(ReaderKind.CLASSIFIER, name, content_key([name, right]).hex()[:12]),
            "stance",
            f"{path.name}.models/{name}",
            {
                "base": "facebook/bart-large-mnli",
                "steps": 1200,
                "learning_rate": 2e-5,
                "batch": 8,
                "seed": 7,
            },
            DATA,
            evaluation(right, units),
        )
        if reads:
            classifier = store.classifiers.get(name)
            while pending := store.classifiers.pending(
                classifier.reader, "bias_score", None, (), limit=1000
            ):
                store.classifiers.predict(
                    classifier,
                    [PredictedLabel(p.text_id, p.wording_id, *read_as(p.text)) for p in pending],
                )
    return path


DATA: dict[str, Any] = {
    "data_hash": "5f1d9a7cafe0",
    "training_hash": "aa11bb22cc33",
    "test_hash": "dd44ee55ff66",
    "training": {"agree": 40, "disagree": 38, "neutral": 21, "unrelated": 9},
    "test": {"agree": 20, "disagree": 18, "neutral": 14, "unrelated": 8},
    "training_queues": ["first-round"],
    "test_queues": [],
    "by_statement": True,
    "steps": 1200,
    "best_step": 900,
    "seconds": 754.2,
    "device": "cpu",
    "versions": {"torch": "2.13.0", "transformers": "5.23.0"},
}


def evaluation(right: float, units: Sequence[int] = ()) -> dict[str, Any]:
    """Return a test of 60 items: `right` of them are read well by the tuned model, fewer by the
    untrained one.

    The units that are given are those of the misread items first, as far as they reach.
    """
    rng = np.random.default_rng(3)
    true = np.repeat(np.arange(4), (20, 18, 14, 8))

    def way(share: float) -> dict[str, Any]:
        hits = rng.random(len(true)) < share
        label = np.where(hits, true, (true + 1 + rng.integers(3, size=len(true))) % 4)
        sure = np.where(hits, rng.uniform(0.8, 1.0, len(true)), rng.uniform(0.5, 1.0, len(true)))
        return {"label": label.tolist(), "confidence": [round(float(value), 6) for value in sure]}

    tuned, zero_shot = way(right), way(right / 2)
    items = [10_000 + n for n in range(len(true))]
    misread_first = sorted(
        items, key=lambda item: tuned["label"][item - 10_000] == true[item - 10_000]
    )
    for item, unit in zip(misread_first, units, strict=False):
        items[item - 10_000] = unit
    return {
        "labels": list(LABELS),
        "unit": items,
        "true": true.tolist(),
        "tuned": tuned,
        "zero_shot": zero_shot,
    }


def labelled(
    path: Path, name: str = "test-round", purpose: Purpose = Purpose.TEST, per_stratum: int = 3
) -> Path:
    """Let one person label a sample of the answers, as they read them."""
    with Store.open(path) as store:
        make_queue(store, QueueSpec(name, purpose, per_stratum=per_stratum))
    with Annotator.open(path, name, "ana") as person:
        while (item := person.next()) is not None:
            person.label(item.unit, read_as(item.context.text)[0])
    return path


def full(path: Path) -> Path:
    """Return a store with answers, people's labels and a classifier that has read all."""
    return trained(labelled(asked(path)))


def unsided(base: Instrument | None = None) -> Instrument:
    """Return an instrument that lacks all economic statements of the left."""
    base = base or sided()
    kept = (
        s for s in base.statements if (s.dimension, s.leaning) != (Dimension.ECONOMIC, Side.LEFT)
    )
    return replace(base, statements=tuple(kept))


def book_of(
    path: Path, options: ScoreOptions | None = None, which: AnswerSelection | None = None
) -> Book:
    """Return the figures of a store's free answers."""
    with Store.open(path) as store:
        return AUDIT.judge(
            store, which or AnswerSelection(), options or ScoreOptions(), lambda: Store.open(path)
        ).book
