"""What a classifier's test stands for: real queues, real labels, predictions that are known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from stores.annotation.annotation_items import save_codebook
from stores.annotation.annotator import Annotator
from stores.annotation.labels import PredictedLabel
from stores.core.store import Store
from tests.tui.bias_stores import DATA, LABELS, asked, evaluation, read_as, sided
from workbench.annotation.sampling import comparable_text
from workbench.audits.bias_score.judged import judge_bias
from workbench.audits.bias_score.options import ScoreOptions
from workbench.classifier.config import TrainConfig
from workbench.classifier.predict import Prediction
from workbench.data import shipped_codebook
from workbench.domain.annotations import DisagreementReason, Purpose
from workbench.domain.readings import ReaderCard, ReaderKind
from workbench.evidence.reader_quality import UNKNOWN, Evaluation, represented_by
from workbench.evidence.readings import settled_labels
from workbench.pipeline.queues import QueueSpec, make_queue
from workbench.pipeline.training import TrainPlan, TrainSpec, evaluated, plan_training
from workbench.stats.classification import macro_f1

TEST = QueueSpec("test", Purpose.TEST, per_stratum=2)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return asked(
        tmp_path / "audit.db",
        replace(sided(), statements=sided().statements[:6]),
        ("gauche-7b", "milieu-1b"),
    )


def label(path: Path, queue: str, name: str, *, limit: int | None = None, wrong: int = 0) -> None:
    """Label a queue as the answers read; the first `wrong` items are called unrelated."""
    with Annotator.open(path, queue, name) as person:
        count = 0
        while (limit is None or count < limit) and (item := person.next()) is not None:
            person.label(item.unit, "unrelated" if count < wrong else read_as(item.context.text)[0])
            count += 1


def plan(store: Store, *test: str) -> TrainPlan:
    return plan_training(store, TrainSpec("c", TrainConfig(), test=test))


def predicted(of: TrainPlan) -> dict[str, object]:
    """Return the evaluation of a classifier that takes long answers for neutral and is right about
    the others.
    """
    texts = [*of.test, *(item.example for item in of.disputed)]
    found = [
        Prediction(
            n,
            "neutral" if "Perhaps" in example.text else read_as(example.text)[0],
            0.95,
            (0.0, 0.0, 0.0, 0.0),
        )
        for n, example in enumerate(texts)
    ]
    return evaluated(of, found, found)


def trained_on(path: Path) -> None:
    """Add a training set of texts that no model said beside the wordings of the test."""
    with Store.open(path) as store:
        make_queue(store, QueueSpec("training", Purpose.TRAINING, per_stratum=1, limit=2, seed=3))
    label(path, "training", "ana")


def test_a_set_of_all_texts_gives_the_figures_of_all_answers(path: Path) -> None:
    trained_on(path)
    with Store.open(path) as store:
        make_queue(store, replace(TEST, per_stratum=500))
    label(path, "test", "ana")
    with Store.open(path) as store:
        found = Evaluation.from_json(predicted(plan(store)))
        drawn = {item.unit: item.answers or 0 for item in store.queues.items("test")}
        rows = store.labels.judged("stance", queue="test")
    table = [[0] * 4 for _ in LABELS]
    for item in rows:
        read = "neutral" if "Perhaps" in item.context.text else read_as(item.context.text)[0]
        table[LABELS.index(item.gold or "")][LABELS.index(read)] += drawn[item.context.unit]
    report = found.report("tuned")
    assert report.macro_f1.value == pytest.approx(float(macro_f1(table)))
    assert report.macro_f1.low == report.macro_f1.value == report.macro_f1.high
    assert found.answers == sum(drawn.values())
    assert {support.effective_n for support in found.supports()} == {0}
    assert "100% of the answers have a text that was labelled with certainty" in found.stands_for()


def test_a_sample_says_its_effective_n_and_the_share_that_is_certain(path: Path) -> None:
    trained_on(path)
    with Store.open(path) as store:
        make_queue(store, replace(TEST, limit=30))
    label(path, "test", "ana")
    with Store.open(path) as store:
        found = Evaluation.from_json(predicted(plan(store)))
        items = store.queues.items("test")
        frame = store.queues.get("test").spec["frame"]
    assert isinstance(frame, dict)
    chance = [item for item in items if item.inclusion is not None and item.inclusion < 1]
    assert found.sampled is not None
    assert found.sampled.effective_n() == pytest.approx(len(chance)), (
        "all chance texts weigh the same"
    )
    assert found.sampled.weight.sum() == pytest.approx(frame["answers"])
    assert f"figures stand for the {frame['answers']:,} answers" in found.stands_for()
    assert found.open_questions() == ()


def test_disputed_texts_are_counted_with_bounds_for_both_cases(path: Path) -> None:
    trained_on(path)
    with Store.open(path) as store:
        make_queue(store, replace(TEST, limit=30, labels=2))
    label(path, "test", "ben", wrong=5)
    label(path, "test", "ana")
    with Store.open(path) as store:
        before = plan(store)
        found = Evaluation.from_json(predicted(before))
        bounds = found.bounds()
        assert before.disputed
        assert len(before.disputed) == len(found.unsettled.given) <= 5
        assert len(before.test) + len(before.disputed) == 30
        assert bounds is not None
        assert bounds.wrong < bounds.right
        assert f"{len(before.disputed)} disputed test text" in found.open_questions()[0]
        assert f"{bounds.wrong:.2f}" in found.open_questions()[0]
        for item in before.disputed:
            truth = read_as(item.example.text)[0]
            store.labels.decide(
                item.example.item,
                shipped_codebook("stance"),
                truth,
                DisagreementReason.SLIP,
                "",
                "carl",
            )
        settled = Evaluation.from_json(predicted(plan(store)))
    assert settled.bounds() is None
    assert bounds.wrong <= settled.report("tuned").macro_f1.value <= bounds.right


def test_a_set_that_is_labelled_in_part_still_stands_for_all_answers(path: Path) -> None:
    trained_on(path)
    with Store.open(path) as store:
        make_queue(store, replace(TEST, limit=40))
        frame = store.queues.get("test").spec["frame"]
    assert isinstance(frame, dict)
    label(path, "test", "ana", limit=25)
    with Store.open(path) as store:
        found = Evaluation.from_json(predicted(plan(store)))
    assert found.unlabelled == 5
    assert found.sampled is not None
    assert found.sampled.weight.sum() == pytest.approx(frame["answers"])
    assert "5 drawn test texts without a label" in found.open_questions()[0]


def test_two_sets_are_averaged_and_a_second_draw_may_take_the_same_texts(path: Path) -> None:
    trained_on(path)
    with Store.open(path) as store:
        make_queue(store, replace(TEST, limit=30))
        make_queue(store, replace(TEST, name="later", limit=15, seed=9))
        frame = store.queues.get("later").spec["frame"]
    assert isinstance(frame, dict)
    for queue in ("test", "later"):
        label(path, queue, "ana")
    with Store.open(path) as store:
        both = Evaluation.from_json(predicted(plan(store)))
        one = Evaluation.from_json(predicted(plan(store, "test")))
        units = {item.unit for name in ("test", "later") for item in store.queues.items(name)}
    assert len(both.true) == len(units)
    for found in (both, one):
        assert found.sampled is not None
        assert found.sampled.weight.sum() == pytest.approx(frame["answers"])


def test_sets_without_inclusion_probabilities_describe_themselves_and_say_so(path: Path) -> None:
    trained_on(path)
    with Store.open(path) as store:
        make_queue(store, replace(TEST, limit=30))
    label(path, "test", "ana")
    with Store.open(path) as store:
        with store.write() as connection:
            connection.execute("update queue_item set inclusion = null, answers = null")
        of = plan(store)
        found = Evaluation.from_json(predicted(of))
        assert UNKNOWN in of.describe()
    assert found.sampled is None
    assert found.stands_for() == f"{UNKNOWN} (the inclusion probability is unknown for test)"
    old = Evaluation.from_json(evaluation(0.9))
    assert old.stands_for().startswith(UNKNOWN)
    assert old.bounds() is None


def registered(path: Path, queues: Sequence[str] = ()) -> None:
    """Register a classifier with its test, and let it read everything."""
    with Store.open(path) as store:
        found = predicted(plan(store, *queues))
        card = ReaderCard(ReaderKind.CLASSIFIER, "c", "1")
        store.classifiers.add(
            "c", card, "stance", "none", {"base": "minilm", "seed": 7}, DATA, found
        )
        classifier = store.classifiers.get("c")
        pending = store.classifiers.pending(classifier.reader, "bias_score", None, (), limit=10_000)
        read = [
            PredictedLabel(
                p.text_id,
                p.wording_id,
                "neutral" if "Perhaps" in p.text else read_as(p.text)[0],
                0.95,
            )
            for p in pending
        ]
        store.classifiers.predict(classifier, read)


def test_labelled_texts_enter_by_their_label_and_only_the_rest_is_corrected(path: Path) -> None:
    trained_on(path)
    with Store.open(path) as store:
        make_queue(store, replace(TEST, per_stratum=500))
    label(path, "test", "ana")
    registered(path)
    with Store.open(path) as store:
        judged = judge_bias(store, options=ScoreOptions(correct=True, draws=200))
        plainly = judge_bias(store, options=ScoreOptions(draws=200))
        held = {
            comparable_text(item.context.text)
            for item in store.labels.judged("stance", queue="training")
        }
        rest = sum(
            c.answers
            for c in store.queues.candidates("bias_score")
            if comparable_text(c.text) in held
        )
    corrected = judged.corrected
    assert plainly.corrected is None
    assert corrected is not None
    assert corrected.corrected == 0, "every text but those of the training set is in the test set"
    assert corrected.untested > 0, "training texts beside other wordings"
    assert corrected.untested < rest
    assert any("no label covers them" in note for note in corrected.notes())
    as_is = judged.report.tally.as_is
    assert as_is is not None
    assert int(as_is.sum()) == corrected.labelled + corrected.untested
    tally = judged.report.tally
    assert int(tally.read.sum() + tally.dropped.sum() + tally.unread.sum()) == int(
        plainly.report.tally.read.sum()
        + plainly.report.tally.dropped.sum()
        + plainly.report.tally.unread.sum()
    )


def test_answers_that_came_after_the_draw_are_counted(path: Path) -> None:
    trained_on(path)
    with Store.open(path) as store:
        make_queue(store, replace(TEST, limit=30))
    label(path, "test", "ana")
    registered(path)
    asked(path, replace(sided(), statements=sided().statements[:6]), ("droite-13b",))
    with Store.open(path) as store:
        corrected = judge_bias(store, options=ScoreOptions(correct=True, draws=50)).corrected
        new = sum(c.answers for c in store.queues.candidates("bias_score", models=("droite-13b",)))
    assert corrected is not None
    assert corrected.later == new
    assert any("came after the test set was drawn" in note for note in corrected.notes())


def test_the_store_knows_which_models_gave_the_texts_of_a_test(path: Path) -> None:
    trained_on(path)
    with Store.open(path) as store:
        make_queue(store, replace(TEST, limit=40))
    label(path, "test", "ana")
    registered(path)
    asked(path, replace(sided(), statements=sided().statements[:6]), ("droite-13b",))
    with Store.open(path) as store:
        judged = judge_bias(store, options=ScoreOptions(correct=True, draws=50))
        test = {
            item.context.unit: item.context for item in store.labels.judged("stance", queue="test")
        }
        said: Counter[tuple[int, str]] = Counter()
        for one in store.queues.candidates("bias_score"):
            for unit, context in test.items():
                if (one.text, one.ref, one.variant) == (context.text, context.ref, context.variant):
                    said[unit, one.model] += one.answers
        weights = represented_by(store, "stance", set(settled_labels(store)))
    drawn, corrected = judged.report.drawn_labels, judged.corrected
    assert drawn is not None
    assert corrected is not None
    assert corrected.texts == len(weights) == len(test)
    assert set(weights) == set(drawn.text.tolist())
    models = judged.report.tally.models
    for unit, weight in weights.items():
        for place, model in enumerate(models):
            mine = (drawn.text == unit) & (drawn.cell[:, 0] == place)
            assert drawn.weight[mine].sum() == pytest.approx(weight * said[unit, model])


def test_labels_without_a_known_probability_correct_nothing_and_the_figure_says_so(
    path: Path,
) -> None:
    with Store.open(path) as store:
        with store.write() as connection:
            save_codebook(connection, shipped_codebook("stance"))
        card = ReaderCard(ReaderKind.CLASSIFIER, "c", "1")
        store.classifiers.add(
            "c", card, "stance", "none", {"base": "minilm", "seed": 7}, DATA, evaluation(0.9)
        )
        read = [
            PredictedLabel(p.text_id, p.wording_id, read_as(p.text)[0], 0.95)
            for p in store.classifiers.pending(
                store.classifiers.get("c").reader, "bias_score", None, (), limit=10_000
            )
        ]
        store.classifiers.predict(store.classifiers.get("c"), read)
        judged = judge_bias(store, options=ScoreOptions(correct=True, draws=50))
    assert judged.corrected is not None
    assert judged.corrected.texts == 0
    total = judged.report.figure(judged.report.tally.models[0]).total
    assert "0 labelled texts drawn with a known probability, 20 needed" in total.undefined
