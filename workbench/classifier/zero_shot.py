"""The baseline: predictions of an untrained base for the same responses (Faulborn et al. 2025, appendix D)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.classifier.config import LABELS, TrainConfig
from workbench.classifier.encoding import clean
from workbench.classifier.model import inspect, load, quiet
from workbench.classifier.predict import Asked, Prediction, predictions, premise_of
from workbench.errors import ModelError

SCALE = 20.0
"factor of cosines before the softmax: the scale used to train all-MiniLM-L6-v2"
GROUP = 64
"texts embedded per batch of results"


def zero_shot(config: TrainConfig, texts: Sequence[Asked], device: str | None = None) -> Iterator[list[Prediction]]:
    """Yield the untrained base's predictions, in the form of `StanceClassifier.predict`.

    A base that knows entailment is asked with the same hypotheses and the same definition of confidence. For an encoder
    without a head, the scores are a softmax of `SCALE` times the cosines between premise and hypotheses, for any
    `confidence`, because it computes no probability of entailment.
    """
    if inspect(config.base).has_head:
        yield from predictions(load(config.base, config.seed, device), config, texts)
    else:
        yield from _nearest(config, texts, device)


def _nearest(config: TrainConfig, texts: Sequence[Asked], device: str | None) -> Iterator[list[Prediction]]:
    encoder = _sentence_encoder(config, device)
    hypotheses = _embed(encoder, list(config.hypotheses()))
    places: dict[str, list[int]] = {}
    for index, asked in enumerate(texts):
        places.setdefault(clean(premise_of(asked, config.premise)), []).append(index)
    unique = sorted(places, key=len, reverse=True)
    for start in range(0, len(unique), GROUP):
        group = unique[start : start + GROUP]
        scores = similarity_scores(_embed(encoder, group), hypotheses)
        yield [
            Prediction(index, LABELS[int(row.argmax())], float(row.max()), tuple(map(float, row)))
            for text, row in zip(group, scores, strict=True)
            for index in places[text]
        ]


def similarity_scores(premises: NDArray[np.float64], hypotheses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return softmax(SCALE * cosine) over hypotheses; rows of both are unit vectors."""
    scaled = SCALE * premises @ hypotheses.T
    raised = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _sentence_encoder(config: TrainConfig, device: str | None) -> Any:
    place = inspect(config.base).place
    from sentence_transformers import SentenceTransformer

    quiet()
    try:
        encoder = SentenceTransformer(place, device=device, model_kwargs={"use_safetensors": True})
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise ModelError(f"{config.base}: sentence-transformers cannot load it ({error})") from error
    encoder.max_seq_length = min(config.max_length, encoder.max_seq_length or config.max_length)
    return encoder


def _embed(encoder: Any, texts: list[str]) -> NDArray[np.float64]:
    """Return unit vectors (texts, dimensions)."""
    made = encoder.encode(texts, normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True)
    return np.asarray(made, dtype=np.float64)
