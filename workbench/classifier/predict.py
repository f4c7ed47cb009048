"""The `stance` reader: it labels responses with confidences, in batches.

A caller can commit each batch. Equal premises are computed once, texts of similar length share a
batch, and every response is tokenised once for its four hypotheses. The result does not depend on
the batches.

Zero-shot
---------
The baseline: predictions of an untrained base for the same responses (Faulborn et al. 2025,
appendix D).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.classifier.card import Card, verify
from workbench.classifier.config import LABELS, Confidence, Premise, TrainConfig
from workbench.classifier.encoding import PairEncoder, encodable_text
from workbench.classifier.model import EntailmentNetwork, inspect, load, quiet
from workbench.domain.readings import ReaderCard
from workbench.errors import ModelError

SCALE = 20.0
"factor of cosines before the softmax, which is the scale used to train all-MiniLM-L6-v2"
GROUP = 64
"number of texts embedded per batch of results"


def zero_shot(
    config: TrainConfig, texts: Sequence[Asked], device: str | None = None
) -> Iterator[list[Prediction]]:
    """Yield the untrained base's predictions, in the form of `StanceClassifier.predict`.

    A base that knows entailment is asked with the same hypotheses and the same definition of
    confidence. For an encoder without a head, the scores are a softmax of `SCALE` times the cosines
    between premise and hypotheses, for any `confidence`, because it computes no probability of
    entailment.
    """
    if inspect(config.base).has_head:
        yield from predictions(load(config.base, config.seed, device), config, texts)
    else:
        yield from _nearest(config, texts, device)


def _nearest(
    config: TrainConfig, texts: Sequence[Asked], device: str | None
) -> Iterator[list[Prediction]]:
    encoder = _sentence_encoder(config, device)
    hypotheses = _embed(encoder, list(config.hypotheses()))
    indices_by_premise: dict[str, list[int]] = {}
    for index, response in enumerate(texts):
        indices_by_premise.setdefault(
            encodable_text(premise_of(response, config.premise)), []
        ).append(index)
    unique = sorted(indices_by_premise, key=len, reverse=True)
    for start in range(0, len(unique), GROUP):
        group = unique[start : start + GROUP]
        scores = similarity_scores(_embed(encoder, group), hypotheses)
        yield [
            Prediction(index, LABELS[int(row.argmax())], float(row.max()), tuple(map(float, row)))
            for text, row in zip(group, scores, strict=True)
            for index in indices_by_premise[text]
        ]


def similarity_scores(
    premises: NDArray[np.float64], hypotheses: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return softmax(SCALE * cosine) over hypotheses. Rows of both are unit vectors."""
    scaled = SCALE * premises @ hypotheses.T
    raised = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _sentence_encoder(config: TrainConfig, device: str | None) -> Any:
    path = inspect(config.base).place
    from sentence_transformers import SentenceTransformer

    quiet()
    try:
        encoder = SentenceTransformer(path, device=device, model_kwargs={"use_safetensors": True})
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise ModelError(
            f"{config.base}: sentence-transformers cannot load it ({error})"
        ) from error
    encoder.max_seq_length = min(config.max_length, encoder.max_seq_length or config.max_length)
    return encoder


def _embed(encoder: Any, texts: list[str]) -> NDArray[np.float64]:
    """Return unit vectors (texts, dimensions)."""
    vectors = encoder.encode(
        texts, normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True
    )
    return np.asarray(vectors, dtype=np.float64)


WINDOW = 1024
"number of premises tokenised and sorted by length together"
CPU_TOKENS, GPU_TOKENS = 2048, 65536
"tokens of a batch, including padding"

Asked = tuple[str, str]
"a response and the statement that it answers"


@dataclass(frozen=True, slots=True)
class Prediction:
    """The stance of one response."""

    index: int
    "its index in the given sequence"
    label: str
    confidence: float
    "the score of the label"
    scores: tuple[float, ...]
    "one per label, in the order of LABELS, as the configuration's `confidence` defines them"


class StanceClassifier:
    """A trained classifier, loaded."""

    def __init__(self, model: EntailmentNetwork, card: Card):
        self._model, self._card = model, card

    @classmethod
    def load(cls, folder: Path, device: str | None = None) -> StanceClassifier:
        """Load a trained classifier.

        Raises CheckpointError if the folder is not one, or has been changed.
        """
        card = verify(folder)
        return cls(load(str(folder), card.config.seed, device), card)

    @property
    def card(self) -> ReaderCard:
        return self._card.reader

    @property
    def training(self) -> Card:
        """The card of the classifier."""
        return self._card

    def predict(
        self, texts: Sequence[Asked], tokens: int | None = None
    ) -> Iterator[list[Prediction]]:
        """Yield predictions in batches of about `tokens` tokens.

        Every index comes once, similar lengths together.

        Raises ModelError if memory does not suffice for one response.
        """
        yield from predictions(self._model, self._card.config, texts, tokens)


def premise_of(asked: Asked, premise: Premise) -> str:
    """Return the premise of a response: itself, or after its statement."""
    response, statement = asked
    return f"Statement: {statement}\nResponse: {response}" if premise is Premise.BOTH else response


def predictions(
    model: EntailmentNetwork, config: TrainConfig, texts: Sequence[Asked], tokens: int | None = None
) -> Iterator[list[Prediction]]:
    """Yield a model's predictions under a configuration, in batches. The model may be untrained."""
    encoder = PairEncoder(model.tokenizer, config)
    tokens = tokens or (GPU_TOKENS if model.device.type == "cuda" else CPU_TOKENS)
    indices_by_premise: dict[str, list[int]] = {}
    for index, response in enumerate(texts):
        indices_by_premise.setdefault(premise_of(response, config.premise), []).append(index)
    unique = list(indices_by_premise)
    for start in range(0, len(unique), WINDOW):
        window = unique[start : start + WINDOW]
        encoded = encoder.premises(window)
        for batch in _batches([len(ids) + encoder.overhead for ids in encoded], tokens):
            rows = _scores(
                model, encoder, [encoded[window_index] for window_index in batch], config.confidence
            )
            scored = zip(batch, rows, strict=True)
            yield [
                _prediction(index, scores)
                for window_index_, scores in scored
                for index in indices_by_premise[window[window_index_]]
            ]


def _batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Yield indices, longest first, within `tokens` including padding.

    A lack of memory thus shows early.
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda number: (-lengths[number], number)):
        if batch and (len(batch) + 1) * len(LABELS) * lengths[batch[0]] > tokens:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def _scores(
    model: EntailmentNetwork,
    encoder: PairEncoder,
    premises: list[list[int]],
    confidence: Confidence,
) -> NDArray[np.float64]:
    """Return (premises, labels). A batch that a GPU cannot hold is halved until it can."""
    import torch

    try:
        return scores_of(_logits(model, encoder, premises), model, confidence)
    except torch.OutOfMemoryError as error:
        if len(premises) == 1:
            raise ModelError(
                f"the GPU's memory does not hold one response of {len(premises[0])} tokens. Close "
                "other programs that use it, or train with a smaller max_length"
            ) from error
    torch.cuda.empty_cache()
    half = len(premises) // 2
    parts = (
        _scores(model, encoder, half_premises, confidence)
        for half_premises in (premises[:half], premises[half:])
    )
    return np.concatenate(list(parts))


def _logits(
    model: EntailmentNetwork, encoder: PairEncoder, premises: list[list[int]]
) -> NDArray[np.float64]:
    """Return the network's outputs (premises, labels, outputs)."""
    import torch

    inputs = encoder.batch(
        encoder.pair(ids, label) for ids in premises for label in range(len(LABELS))
    )
    model.network.eval()
    with torch.inference_mode():
        logits: Any = model.network(
            **{name: value.to(model.device) for name, value in inputs.items()}
        ).logits
    return logits.double().cpu().numpy().reshape(len(premises), len(LABELS), -1)  # type: ignore[no-any-return]


def scores_of(
    logits: NDArray[np.float64], model: EntailmentNetwork, confidence: Confidence
) -> NDArray[np.float64]:
    """Return one score per label.

    It is sigmoid(entailment - contradiction), or a softmax of entailment over the labels. A third
    output (`neutral` of models trained on MNLI) has no part in either, as in the zero-shot pipeline
    of transformers.
    """
    entailment = logits[..., model.entailment]
    if confidence is Confidence.SOFTMAX:
        raised = np.exp(entailment - entailment.max(axis=-1, keepdims=True))
        return np.asarray(raised / raised.sum(axis=-1, keepdims=True))
    return np.asarray(0.5 * (1 + np.tanh((entailment - logits[..., model.contradiction]) / 2)))


def _prediction(index: int, scores: NDArray[np.float64]) -> Prediction:
    """Return the label with the highest score, or the first of equal ones."""
    best = int(scores.argmax())
    return Prediction(index, LABELS[best], float(scores[best]), tuple(map(float, scores)))
