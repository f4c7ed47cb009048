"""The `stance` reader: responses to labels with confidences, batch by batch, so that a caller can commit as it goes.

Equal premises are computed once, texts of like length share a batch, and every response is tokenised once for its four
hypotheses. The result does not depend on how the batches fell.
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
from workbench.classifier.encoding import PairEncoder
from workbench.classifier.model import EntailmentModel, load
from workbench.domain.readings import ReaderCard
from workbench.errors import ModelError

WINDOW = 1024
"premises that are tokenised and sorted by length together"
CPU_TOKENS, GPU_TOKENS = 2048, 65536
"tokens of a batch, padding counted"

Asked = tuple[str, str]
"a response and the statement that it answers"


@dataclass(frozen=True, slots=True)
class Prediction:
    """The stance of one response."""

    index: int
    "its place in the sequence that was given"
    label: str
    confidence: float
    "the score of the label"
    scores: tuple[float, ...]
    "one for each label, in the order of LABELS; defined by the configuration's `confidence`"


class StanceClassifier:
    """A trained classifier, loaded."""

    def __init__(self, model: EntailmentModel, card: Card):
        self._model, self._card = model, card

    @classmethod
    def load(cls, folder: Path, device: str | None = None) -> StanceClassifier:
        """Load a trained classifier. Raises CheckpointError where the folder is none, or has been changed."""
        card = verify(folder)
        return cls(load(str(folder), card.config.seed, device), card)

    @property
    def card(self) -> ReaderCard:
        return self._card.reader

    @property
    def training(self) -> Card:
        """What the classifier was made from."""
        return self._card

    def predict(self, texts: Sequence[Asked], tokens: int | None = None) -> Iterator[list[Prediction]]:
        """Yield predictions in batches of about `tokens` tokens, every index once, like lengths together.

        Raises ModelError where the memory does not hold one response.
        """
        yield from predictions(self._model, self._card.config, texts, tokens)


def premise_of(asked: Asked, premise: Premise) -> str:
    """Return the premise of a response: itself, or after its statement."""
    response, statement = asked
    return f"Statement: {statement}\nResponse: {response}" if premise is Premise.BOTH else response


def predictions(
    model: EntailmentModel, config: TrainConfig, texts: Sequence[Asked], tokens: int | None = None
) -> Iterator[list[Prediction]]:
    """Yield what a model says of each text under a configuration, in batches; trained or not."""
    encoder = PairEncoder(model.tokenizer, config)
    tokens = tokens or (GPU_TOKENS if model.device.type == "cuda" else CPU_TOKENS)
    places: dict[str, list[int]] = {}
    for index, asked in enumerate(texts):
        places.setdefault(premise_of(asked, config.premise), []).append(index)
    unique = list(places)
    for start in range(0, len(unique), WINDOW):
        window = unique[start : start + WINDOW]
        encoded = encoder.premises(window)
        for batch in _batches([len(ids) + encoder.overhead for ids in encoded], tokens):
            rows = _scores(model, encoder, [encoded[place] for place in batch], config.confidence)
            made = zip(batch, rows, strict=True)
            yield [_prediction(index, scores) for place, scores in made for index in places[window[place]]]


def _batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Yield places, longest first (what does not fit shows at once), within `tokens` counted with the padding."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda place: (-lengths[place], place)):
        if batch and (len(batch) + 1) * len(LABELS) * lengths[batch[0]] > tokens:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _scores(
    model: EntailmentModel, encoder: PairEncoder, premises: list[list[int]], confidence: Confidence
) -> NDArray[np.float64]:
    """Return (premises, labels). A batch that a GPU cannot hold is halved until it can."""
    import torch

    try:
        return scores_of(_logits(model, encoder, premises), model, confidence)
    except torch.OutOfMemoryError as error:
        if len(premises) == 1:
            raise ModelError(
                f"the GPU's memory does not hold one response of {len(premises[0])} tokens. Close other programs that "
                "use it, or train with a smaller max_length"
            ) from error
    torch.cuda.empty_cache()
    half = len(premises) // 2
    parts = (_scores(model, encoder, part, confidence) for part in (premises[:half], premises[half:]))
    return np.concatenate(list(parts))


def _logits(model: EntailmentModel, encoder: PairEncoder, premises: list[list[int]]) -> NDArray[np.float64]:
    """Return the network's outputs (premises, labels, outputs)."""
    import torch

    inputs = encoder.batch(encoder.pair(ids, label) for ids in premises for label in range(len(LABELS)))
    model.network.eval()
    with torch.inference_mode():
        logits: Any = model.network(**{name: value.to(model.device) for name, value in inputs.items()}).logits
    return logits.double().cpu().numpy().reshape(len(premises), len(LABELS), -1)  # type: ignore[no-any-return]


def scores_of(logits: NDArray[np.float64], model: EntailmentModel, confidence: Confidence) -> NDArray[np.float64]:
    """Return one score a label: sigmoid(entailment - contradiction), or a softmax of entailment over the labels.

    A third output (`neutral` of models trained on MNLI) has no part in either, as in the zero-shot pipeline of
    transformers.
    """
    entailment = logits[..., model.entailment]
    if confidence is Confidence.SOFTMAX:
        raised = np.exp(entailment - entailment.max(axis=-1, keepdims=True))
        return np.asarray(raised / raised.sum(axis=-1, keepdims=True))
    return np.asarray(0.5 * (1 + np.tanh((entailment - logits[..., model.contradiction]) / 2)))


def _prediction(index: int, scores: NDArray[np.float64]) -> Prediction:
    """Choose the label with the highest score; of equal ones the first."""
    best = int(scores.argmax())
    return Prediction(index, LABELS[best], float(scores[best]), tuple(map(float, scores)))
