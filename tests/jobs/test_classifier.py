"""Training and prediction with real weights: the embedded all-MiniLM-L6-v2, and small networks of
random weights.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from workbench.classifier.card import add_metrics, licence_note, verify
from workbench.classifier.config import LABELS, Confidence, Premise, TrainConfig
from workbench.classifier.dataset import Example, macro_f1
from workbench.classifier.encoding import PairEncoder
from workbench.classifier.model import EntailmentNetwork, load
from workbench.classifier.predict import Prediction, StanceClassifier, predictions, zero_shot
from workbench.classifier.train import Trained, train
from workbench.domain.readings import ReaderKind
from workbench.errors import CheckpointError, LeakError, ModelError, UsageError

DATE = "2026-01-31"
QUICK = TrainConfig(
    base="minilm",
    steps=5,
    batch=4,
    learning_rate=1e-4,
    warmup=0,
    eval_every=2,
    max_length=32,
    weight_decay=0.01,
)
THINGS = (
    "taxes",
    "trade",
    "schools",
    "unions",
    "rents",
    "railways",
    "prisons",
    "museums",
    "farms",
    "banks",
    "parks",
    "ports",
)
TEXTS = {"agree": "Count me in on {}.", "disagree": "Spare me the {}."}


def examples(things: Sequence[str], start: int = 0) -> list[Example]:
    made: list[Example] = []
    for thing in things:
        for label, text in TEXTS.items():
            made.append(
                Example(start + len(made), text.format(thing), thing, f"More {thing}.", label)
            )
    return made


TRAIN, DEV = examples(THINGS[:8]), examples(THINGS[8:10], 100)
UNSEEN = examples(THINGS[10:], 200)


def asked(rows: Sequence[Example]) -> list[tuple[str, str]]:
    return [(row.text, row.statement) for row in rows]


def in_order(batches: Any) -> list[Prediction]:
    return sorted((row for batch in batches for row in batch), key=lambda row: row.index)


def score(rows: Sequence[Example], found: Sequence[Prediction]) -> float:
    return macro_f1([row.label for row in rows], [row.label for row in found])


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classifier that has learned to tell two stances apart."""
    folder = tmp_path_factory.mktemp("trained") / "toy"
    config = replace(QUICK, steps=24, batch=12, learning_rate=2e-4, warmup=2, eval_every=24)
    train(config, TRAIN, [], folder, date=DATE)
    return folder


@pytest.fixture(scope="module")
def classifier(trained: Path) -> StanceClassifier:
    return StanceClassifier.load(trained)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """A short training with held-out responses that nothing interrupted."""
    return train(QUICK, TRAIN, DEV, tmp_path_factory.mktemp("whole") / "quick", date=DATE)


@pytest.fixture(scope="module")
def minilm() -> EntailmentNetwork:
    return load("minilm")


@pytest.fixture(scope="module")
def bart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A very small BART with the labels of facebook/bart-large-mnli and a byte-level vocabulary of
    its own.
    """
    from tokenizers import ByteLevelBPETokenizer
    from transformers import BartConfig, BartForSequenceClassification, BartTokenizerFast

    folder = tmp_path_factory.mktemp("bart")
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    made = ByteLevelBPETokenizer()
    made.train_from_iterator(
        [*TEXTS.values(), "The stance of the statement is"], vocab_size=400, special_tokens=specials
    )
    made.save_model(str(folder))
    tokenizer = BartTokenizerFast.from_pretrained(folder, model_max_length=128)
    torch.manual_seed(0)
    labels = ["contradiction", "neutral", "entailment"]
    network = BartForSequenceClassification(
        BartConfig(
            vocab_size=len(tokenizer),
            d_model=16,
            encoder_layers=1,
            decoder_layers=1,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=16,
            decoder_ffn_dim=16,
            max_position_embeddings=128,
            init_std=0.5,
            id2label=dict(enumerate(labels)),
            label2id={label: i for i, label in enumerate(labels)},
        )
    )
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def tiny(bart: Path) -> TrainConfig:
    """Settings for what does not need weights that know anything."""
    return replace(QUICK, base=str(bart), max_length=64)


@pytest.mark.e2e
def test_training_learns_what_the_untrained_base_does_not_know(
    trained: Path, classifier: StanceClassifier
) -> None:
    config = verify(trained).config
    learned = score(UNSEEN, in_order(classifier.predict(asked(UNSEEN))))
    before = score(UNSEEN, in_order(zero_shot(config, asked(UNSEEN))))
    assert learned == 1.0
    assert learned > before


@pytest.mark.e2e
def test_the_card_says_what_the_classifier_was_made_from(
    trained: Path, classifier: StanceClassifier
) -> None:
    card = classifier.training
    assert (card.name, card.date, card.steps, card.best_step) == ("toy", DATE, 24, 24)
    assert card.train_labels == {"agree": 8, "disagree": 8, "neutral": 0, "unrelated": 0}
    assert card.metrics["loss"] < 0.6
    assert set(card.versions) == {"workbench", "python", "torch", "transformers"}
    text = (trained / "README.md").read_text(encoding="utf-8")
    assert "Apache-2.0" in text
    assert card.data_hash in text
    assert "| agree | 8 | 0 |" in text
    assert "read the licence of owner/model" in licence_note("owner/model")


@pytest.mark.e2e
def test_test_figures_join_the_card_and_leave_the_reader_the_same(whole: Trained) -> None:
    before = verify(whole.folder)
    after = add_metrics(whole.folder, {"test_macro_f1": 0.5})
    assert after.metrics == {**before.metrics, "test_macro_f1": 0.5}
    assert verify(whole.folder).reader == before.reader


@pytest.mark.e2e
def test_a_reader_is_another_one_wherever_a_reading_could_come_out_otherwise(
    trained: Path, whole: Trained
) -> None:
    card = verify(trained)
    versions = {card.reader.version, verify(whole.folder).reader.version}
    for change in (
        {"confidence": Confidence.SOFTMAX},
        {"premise": Premise.BOTH},
        {"hypothesis": "It says {label}"},
        {"max_length": 64},
    ):
        versions.add(replace(card, config=replace(card.config, **change)).reader.version)
    assert len(versions) == 6
    assert replace(card, config=replace(card.config, steps=7)).reader == card.reader
    assert (card.reader.kind, card.reader.name) == (ReaderKind.CLASSIFIER, "toy")


@pytest.mark.e2e
def test_a_stopped_training_resumes_to_the_same_weights(whole: Trained, tmp_path: Path) -> None:
    folder, seen = tmp_path / "quick", list[int]()
    stopped = train(
        QUICK,
        TRAIN,
        DEV,
        folder,
        date=DATE,
        on_progress=lambda progress: seen.append(progress.step),
        should_stop=lambda: bool(seen) and seen[-1] >= 3,
    )
    assert stopped.card is None
    assert stopped.step in (3, 4)
    assert not folder.exists()
    resumed = train(QUICK, list(reversed(TRAIN)), DEV, folder, date=DATE)
    assert resumed.card is not None
    assert whole.card is not None
    assert resumed.card.weights == whole.card.weights
    assert resumed.card.best_step == whole.card.best_step
    assert [path.name for path in tmp_path.iterdir()] == ["quick"]


@pytest.mark.e2e
def test_checkpoints_hold_nothing_pickled_and_only_the_last_stays(
    tiny: TrainConfig, tmp_path: Path
) -> None:
    train(tiny, TRAIN, [], tmp_path / "one", date=DATE, should_stop=_after(4))
    work = tmp_path / "one.training"
    assert [path.name for path in work.glob("checkpoint-*")] == ["checkpoint-4"]
    kept = {path.suffix for path in work.rglob("*") if path.is_file()}
    assert kept == {".json", ".safetensors"}


@pytest.mark.e2e
def test_a_broken_last_checkpoint_is_passed_over(tiny: TrainConfig, tmp_path: Path) -> None:
    folder, whole = tmp_path / "quick", train(tiny, TRAIN, DEV, tmp_path / "whole", date=DATE)
    train(tiny, TRAIN, DEV, folder, date=DATE, should_stop=_after(3))
    broken = tmp_path / "quick.training" / "checkpoint-4"
    broken.mkdir()
    (broken / "trainer_state.json").write_text('{"global_step": 4', encoding="utf-8")
    resumed = train(tiny, TRAIN, DEV, folder, date=DATE)
    assert resumed.card is not None
    assert whole.card is not None
    assert resumed.card.weights == whole.card.weights


@pytest.mark.e2e
def test_other_data_or_settings_do_not_resume_what_was_begun(
    whole: Trained, tiny: TrainConfig, tmp_path: Path
) -> None:
    train(tiny, TRAIN, [], tmp_path / "one", date=DATE, should_stop=_after(1))
    with pytest.raises(CheckpointError, match="begun here with other settings, data"):
        train(tiny, TRAIN[:-1], [], tmp_path / "one", date=DATE)
    with pytest.raises(CheckpointError, match="another classifier is here already"):
        train(QUICK, TRAIN[:-1], DEV, whole.folder, date=DATE)
    assert train(QUICK, TRAIN, DEV, whole.folder, date=DATE).card == verify(whole.folder)


@pytest.mark.e2e
def test_progress_tells_steps_loss_and_the_held_out_score(
    tiny: TrainConfig, tmp_path: Path
) -> None:
    seen: list[Any] = []
    train(replace(tiny, steps=2), TRAIN, DEV, tmp_path / "one", date=DATE, on_progress=seen.append)
    assert [(p.step, p.steps) for p in seen] == [(1, 2), (2, 2), (2, 2)]
    assert seen[0].loss > 0
    assert seen[0].learning_rate == pytest.approx(1e-4)
    assert seen[0].dev_macro_f1 is None
    assert 0 <= seen[-1].dev_macro_f1 <= 1
    assert seen[-1].seconds >= seen[0].seconds > 0


@pytest.mark.e2e
def test_training_ends_early_and_keeps_the_best_step(tiny: TrainConfig, tmp_path: Path) -> None:
    # A learning rate that changes nothing: no evaluation is better than the first.
    config = replace(tiny, steps=9, eval_every=1, patience=2, learning_rate=1e-12)
    card = train(config, TRAIN, DEV, tmp_path / "one", date=DATE).card
    assert card is not None
    assert (card.steps, card.best_step) == (3, 1)


def test_a_leak_between_training_and_held_out_responses_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LeakError, match="1 response text"):
        train(QUICK, TRAIN, [replace(TRAIN[0], item=999)], tmp_path / "one", date=DATE)
    with pytest.raises(UsageError, match="patience needs held-out"):
        train(replace(QUICK, patience=1), TRAIN, None, tmp_path / "one", date=DATE)
    assert not list(tmp_path.iterdir())


@pytest.mark.e2e
def test_a_checkpoint_without_safetensors_is_refused(whole: Trained, tmp_path: Path) -> None:
    for name in ("config.json", "card.json", "tokenizer.json"):
        (tmp_path / name).write_bytes((whole.folder / name).read_bytes())
    torch.save({}, tmp_path / "pytorch_model.bin")
    with pytest.raises(
        CheckpointError, match=r"only pytorch_model\.bin.*Only safetensors are loaded"
    ):
        StanceClassifier.load(tmp_path)
    with pytest.raises(CheckpointError, match="Only safetensors are loaded"):
        load(str(tmp_path))
    with pytest.raises(CheckpointError, match="no such folder"):
        StanceClassifier.load(tmp_path / "nowhere")


@pytest.mark.e2e
def test_changed_weights_are_noticed(whole: Trained, tmp_path: Path) -> None:
    copied = _copy(whole.folder, tmp_path / "copy")
    weights = bytearray((copied / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (copied / "model.safetensors").write_bytes(weights)
    with pytest.raises(CheckpointError, match="the weights are not those that the card describes"):
        StanceClassifier.load(copied)


class Trap:
    """Leaves a file where it is unpickled."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.path,))


@pytest.mark.e2e
def test_a_pickle_in_the_folder_is_never_loaded(
    whole: Trained, tiny: TrainConfig, tmp_path: Path
) -> None:
    sprung = tmp_path / "sprung"
    copied = _copy(whole.folder, tmp_path / "copy")
    for name in ("pytorch_model.bin", "training_args.bin", "optimizer.pt"):
        (copied / name).write_bytes(pickle.dumps(Trap(sprung)))
    assert in_order(StanceClassifier.load(copied).predict(asked(DEV)))
    work = tmp_path / "quick.training"
    train(tiny, TRAIN, [], tmp_path / "quick", date=DATE, should_stop=_after(2))
    for name in (
        "pytorch_model.bin",
        "optimizer.pt",
        "scheduler.pt",
        "rng_state.pth",
        "scaler.pt",
        "training_args.bin",
    ):
        (work / "checkpoint-2" / name).write_bytes(pickle.dumps(Trap(sprung)))
    assert train(tiny, TRAIN, [], tmp_path / "quick", date=DATE).card is not None
    assert not sprung.exists()


def _after(steps: int) -> Any:
    """Ask to stop at the end of the given step."""
    calls = iter(range(1, 1000))
    return lambda: next(calls) >= steps


def _copy(source: Path, target: Path) -> Path:
    target.mkdir()
    for path in source.iterdir():
        (target / path.name).write_bytes(path.read_bytes())
    return target


# --- bases ---


def small(folder: Path, kind: str, **settings: Any) -> Path:
    """Save a very small network of random weights with MiniLM's tokenizer."""
    import transformers

    network = getattr(transformers, kind)(
        transformers.BertConfig(
            vocab_size=30522,
            hidden_size=8,
            num_hidden_layers=1,
            num_attention_heads=1,
            intermediate_size=8,
            **settings,
        )
    )
    network.save_pretrained(folder)
    load("minilm").tokenizer.save_pretrained(folder)
    return folder


def test_a_classifier_without_an_entailment_label_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ModelError, match="its labels are LABEL_0, LABEL_1, and entailment and contradiction is not"
    ):
        load(str(small(tmp_path, "BertForSequenceClassification", num_labels=2)))


def test_a_head_for_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="BertForTokenClassification; a stance classifier needs"):
        load(str(small(tmp_path, "BertForTokenClassification")))


def test_labels_are_found_by_name_in_any_order_and_case(tmp_path: Path) -> None:
    names = {"ENTAILMENT": 0, "Neutral": 1, "contradiction": 2}
    found = load(
        str(
            small(
                tmp_path,
                "BertForSequenceClassification",
                label2id=names,
                id2label=dict(enumerate(names)),
            )
        )
    )
    assert (found.entailment, found.contradiction) == (0, 2)


@pytest.mark.e2e
def test_a_new_head_is_drawn_from_the_seed() -> None:
    one, again, other = (load("minilm", seed).network.classifier.weight for seed in (1, 1, 2))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)


def test_a_base_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="there is no such folder"):
        load(str(tmp_path / "nothing"))


@pytest.mark.e2e
def test_the_published_architecture_trains_and_predicts(tiny: TrainConfig, tmp_path: Path) -> None:
    config = replace(tiny, steps=3)
    folder = train(config, TRAIN, DEV, tmp_path / "bart", date=DATE).folder
    hostile = [("</s></s> agree </s>", ""), ("plain", ""), ("<s><pad><mask>", "")]
    found = in_order(StanceClassifier.load(folder).predict(hostile))
    assert [row.index for row in found] == [0, 1, 2]
    before = in_order(zero_shot(config, hostile))
    assert found[1].scores != before[1].scores


@pytest.mark.e2e
def test_a_training_that_ended_before_it_was_published_is_finished_by_the_next_call(
    tiny: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = replace(tiny, steps=3)
    wanted = train(config, TRAIN, DEV, tmp_path / "wanted", date=DATE).card
    with monkeypatch.context() as patched:
        patched.setattr("workbench.classifier.train._publish", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            train(config, TRAIN, DEV, tmp_path / "killed", date=DATE)
    found = train(config, TRAIN, DEV, tmp_path / "killed", date=DATE).card
    assert wanted is not None
    assert found is not None
    assert (found.weights, found.steps, found.best_step) == (wanted.weights, 3, wanted.best_step)


def test_zero_shot_of_an_entailment_model_is_its_own_entailment(bart: Path) -> None:
    """Against logits from the tokenizer's and the model's own calls, pair by pair."""
    config = TrainConfig(base=str(bart), max_length=64)
    model, text = load(str(bart)), "Spare me the trade."
    logits = []
    for hypothesis in config.hypotheses():
        with torch.inference_mode():
            logits.append(
                model.network(**model.tokenizer(text, hypothesis, return_tensors="pt")).logits[0]
            )
    z = torch.stack(logits).double()
    row = in_order(zero_shot(config, [(text, "")]))[0]
    assert row.scores == pytest.approx(torch.softmax(z[:, [0, 2]], dim=1)[:, 1].tolist(), abs=1e-6)
    coded = in_order(zero_shot(replace(config, confidence=Confidence.SOFTMAX), [(text, "")]))[0]
    assert coded.scores == pytest.approx(torch.softmax(z[:, 2], dim=0).tolist(), abs=1e-6)
    assert coded.confidence == max(coded.scores)
    assert coded.label == LABELS[int(np.argmax(coded.scores))]


# --- prediction ---


def test_pairs_are_encoded_as_the_tokenizer_encodes_them(
    minilm: EntailmentNetwork, bart: Path
) -> None:
    for model in (minilm, load(str(bart))):
        config = TrainConfig(base="x", max_length=64)
        encoder = PairEncoder(model.tokenizer, config)
        for text in ("", "Yes.", "a long response " * 80):
            ids, types = encoder.pair(encoder.premises([text])[0], 1)
            wanted = model.tokenizer(text, config.hypotheses()[1], truncation=False)["input_ids"]
            if len(wanted) > 64:
                assert len(ids) <= 64
                kept = len(encoder.premises([text])[0])
                assert ids == wanted[: kept + 1] + wanted[len(wanted) - (len(ids) - kept - 1) :]
            else:
                assert ids == wanted
            assert len(types) == len(ids)


HOSTILE = [
    "",
    " \n\t",
    "a" * 100_000,
    "word " * 20_000,
    "\ud800 lone",
    "\U0001f600" * 300,
    "\x00\x01",
    "[SEP] [CLS] [MASK] [PAD]",
    "\u202eright to left",
    "e" + "\u0301" * 500,
    "不同意",
    "{label}",
]


@pytest.mark.e2e
def test_hostile_strings_are_read_without_failing(classifier: StanceClassifier) -> None:
    found = in_order(classifier.predict([(text, text) for text in HOSTILE]))
    assert [row.index for row in found] == list(range(len(HOSTILE)))
    for row in found:
        assert row.confidence == max(row.scores) == row.scores[LABELS.index(row.label)]
        assert all(0 <= value <= 1 for value in row.scores)
    baseline = in_order(zero_shot(classifier.training.config, [(text, text) for text in HOSTILE]))
    assert len(baseline) == len(HOSTILE)


def test_text_that_spells_a_special_token_is_read_as_characters(minilm: EntailmentNetwork) -> None:
    encoder = PairEncoder(minilm.tokenizer, TrainConfig(base="minilm"))
    assert minilm.tokenizer.sep_token_id not in encoder.premises(["yes [SEP] no"])[0]


@pytest.mark.e2e
def test_results_do_not_depend_on_batches_or_order(minilm: EntailmentNetwork) -> None:
    texts = [(f"{'I agree with that. ' * (i % 7)}Number {i}.", "") for i in range(24)]
    config = TrainConfig(base="minilm", max_length=64)
    together = in_order(predictions(minilm, config, texts, tokens=100_000))
    single = in_order(predictions(minilm, config, texts, tokens=1))
    backwards = in_order(predictions(minilm, config, texts[::-1], tokens=700))[::-1]
    for one, two, three in zip(together, single, backwards, strict=True):
        assert one.scores == pytest.approx(two.scores, abs=1e-5)
        assert one.scores == pytest.approx(three.scores, abs=1e-5)


def test_predictions_come_batch_by_batch(minilm: EntailmentNetwork) -> None:
    texts = [(f"Number {i}.", "") for i in range(20)]
    batches = list(predictions(minilm, TrainConfig(base="minilm"), texts, tokens=300))
    assert len(batches) > 3
    assert sorted(row.index for batch in batches for row in batch) == list(range(20))


def test_equal_responses_are_computed_once(
    minilm: EntailmentNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[int] = []
    handle = minilm.network.register_forward_pre_hook(
        lambda module, args, kwargs: rows.append(len(kwargs["input_ids"])), with_kwargs=True
    )
    texts = [("I agree.", "One."), ("No.", "One."), ("I agree.", "Two.")] * 5
    try:
        found = in_order(predictions(minilm, TrainConfig(base="minilm"), texts))
        assert sum(rows) == 2 * len(LABELS)
        assert found[0].scores == found[2].scores == found[14].scores
        rows.clear()
        list(predictions(minilm, TrainConfig(base="minilm", premise=Premise.BOTH), texts))
        # Beside its statement the same response is another premise.
        assert sum(rows) == 3 * len(LABELS)
    finally:
        handle.remove()


def test_a_batch_that_the_memory_does_not_hold_is_halved(minilm: EntailmentNetwork) -> None:
    limit, rows = 8, list[int]()

    def full(module: Any, args: Any, kwargs: dict[str, Any]) -> None:
        if len(kwargs["input_ids"]) > limit:
            raise torch.OutOfMemoryError("CUDA out of memory")
        rows.append(len(kwargs["input_ids"]))

    texts = [(f"Number {i}.", "") for i in range(7)]
    config = TrainConfig(base="minilm")
    wanted = in_order(predictions(minilm, config, texts))
    handle = minilm.network.register_forward_pre_hook(full, with_kwargs=True)
    try:
        found = in_order(predictions(minilm, config, texts))
        assert max(rows) == 8
        for one, two in zip(found, wanted, strict=True):
            assert one.scores == pytest.approx(two.scores, abs=1e-5)
        limit = 2
        with pytest.raises(ModelError, match="does not hold one response"):
            list(predictions(minilm, config, texts))
    finally:
        handle.remove()


def test_no_room_for_a_response_is_said(minilm: EntailmentNetwork) -> None:
    with pytest.raises(UsageError, match="leaves no room"):
        PairEncoder(
            minilm.tokenizer,
            TrainConfig(base="minilm", max_length=16, hypothesis="very " * 20 + "{label}"),
        )
    with pytest.raises(UsageError, match="reads at most"):
        PairEncoder(minilm.tokenizer, TrainConfig(base="minilm", max_length=4096))
