"""The reliability of labels stands beside what rests on them, and is a doubt where it is low."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stores.annotation.annotator import Annotator
from stores.core.store import Store
from tests.tui.bias_stores import asked, read_as, sided
from workbench import registry
from workbench.audits.bias_score.options import ScoreOptions
from workbench.audits.claims import sentences_of
from workbench.domain.annotations import Purpose
from workbench.evidence.label_reliability import label_reliability
from workbench.evidence.runs import AnswerSelection
from workbench.pipeline.queues import QueueSpec, make_queue


def labelled(path: Path, wrong: int) -> None:
    """Let two people label texts; the second calls every `wrong`-th one unrelated."""
    with Store.open(path) as store:
        make_queue(store, QueueSpec("test", Purpose.TEST, per_stratum=3, labels=2, overlap=0.8))
    for name in ("ana", "ben"):
        with Annotator.open(path, "test", name) as person:
            count = 0
            while (item := person.next()) is not None:
                count += 1
                right = name == "ana" or count % wrong
                person.label(item.unit, read_as(item.context.text)[0] if right else "unrelated")


@pytest.mark.e2e
@pytest.mark.parametrize(("wrong", "doubted"), [(2, True), (50, False)])
def test_labels_on_which_people_disagree_put_every_finding_in_doubt(
    tmp_path: Path, wrong: int, *, doubted: bool
) -> None:
    path = asked(
        tmp_path / "audit.db", replace(sided(), statements=sided().statements[:6]), ("gauche-7b",)
    )
    labelled(path, wrong)
    with Store.open(path) as store:
        result = registry.audit("bias_score").judge(
            store, AnswerSelection(), ScoreOptions(draws=50), lambda: Store.open(path)
        )
        units = {
            item.context.unit for item in store.labels.judged("stance") if item.gold is not None
        }
        found = label_reliability(store, "stance", units)
    assert found.alpha.n > 5
    assert found.single > 0
    assert (found.alpha.value < 0.667) is doubted
    line = next(line for line in result.book.header if "alpha of the labels" in line.casefold())
    assert line.startswith("! ") is doubted
    assert f"of {found.texts:,} texts labelled by one person" in line
    headline = result.headline() if callable(result.headline) else result.headline
    assert headline is not None
    assert any("unreliable labels" in words for words, _ in headline.below) is doubted
    said = [sentence for sentence in sentences_of(result.findings).sentences if sentence.models]
    assert (
        all(any("below 0.667" in doubt for doubt in sentence.doubts) for sentence in said)
        is doubted
    )
    assert said
    about = result.book.about["labels"]
    assert isinstance(about, dict)
    assert bool(about["doubt"]) is doubted
