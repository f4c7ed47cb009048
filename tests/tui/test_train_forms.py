"""Training and classification are started from forms that say what they come to, and refuse what would mislead."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from stores.annotator import Annotator
from stores.classifiers import Predicted
from stores.queues import NewItem
from stores.runs import Answered
from stores.store import Store
from tests.conftest import instrument
from workbench.audits import bias_score
from workbench.data import shipped_codebook, shipped_templates
from workbench.domain.annotations import Purpose
from workbench.domain.readings import ReaderCard, ReaderKind
from workbench.domain.responses import ModelCard
from workbench.domain.statements import ORIGINAL

SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40)])
TRAINING = {
    "Yes, gladly.": "agree",
    "I think so.": "agree",
    "No, never.": "disagree",
    "It depends on much.": "neutral",
    "Cats are nice.": "unrelated",
}
TEST = {"Of course.": "agree", "Out of the question.": "disagree", "Both have a point.": "neutral"}


def labelled(path: Path, name: str, purpose: Purpose, labels: dict[str, str], people: Sequence[str] = ("ana",)) -> None:
    """Make a queue of texts about the first statement, and let each person give each text its label."""
    with Store.open(path) as store:
        wording = store.connection.execute("select min(id) from wording").fetchone()[0]
        items = [NewItem(wording, len(people), "s", text=text) for text in labels]
        store.queues.create(name, purpose, shipped_codebook("stance"), items, {})
        units = [
            r[0]
            for r in store.connection.execute(
                "select unit_id from queue_item where queue_id = (select max(id) from queue) order by ordinal"
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
            probes = tuple(bias_score.probes(base.statements, templates, [ORIGINAL], "en", model))
            store.runs.add_probes("bias_score", base.name, "en", templates, probes)
            ids = store.runs.begin(
                ModelCard(model, "0" * 16, "scripted", "float32", "none"), bias_score.DEFAULTS.sampling
            )
            job = store.jobs.create("sample", {"model": model, "audit": "bias_score"}, 3 * len(probes))
            attempt = store.jobs.claim(job, "9.9")
            drawn = tuple((f"{model} says {n}", 1) for n in range(3))
            batch = [Answered(p.prompt.key, n, 3, drawn) for n, p in enumerate(probes)]
            store.runs.add(*ids, attempt, batch, job=(job, 3 * len(probes), '{"answers": 18, "seconds": 2}'))
            store.jobs.finish(job, attempt, "done")


def classifier(path: Path, name: str) -> None:
    """Register a classifier whose weights nobody needs here."""
    with Store.open(path) as store:
        card = ReaderCard(ReaderKind.CLASSIFIER, name, "0123456789abcdef")
        counts = {"training": {"agree": 3, "disagree": 2}, "test": {"agree": 1, "disagree": 1}}
        store.classifiers.add(name, card, "stance", f"audit.db.models/{name}", {"base": "minilm"}, counts, {})


def read_some(path: Path, name: str, count: int) -> None:
    with Store.open(path) as store:
        known = store.classifiers.get(name)
        pending = store.classifiers.pending(known.reader, "bias_score", None, (), limit=count)
        store.classifiers.predict(known, [Predicted(p.text_id, p.wording_id, "agree", 0.9) for p in pending])


@pytest.fixture
def trainable(path: Path) -> Path:
    """A store with a labelled training and a labelled test queue."""
    labelled(path, "train", Purpose.TRAINING, TRAINING)
    labelled(path, "test", Purpose.TEST, TEST, ("ana", "ben"))
    return path


def jobs(path: Path) -> int:
    with Store.open(path) as store:
        return len(store.jobs.list())
