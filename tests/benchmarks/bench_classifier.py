"""Stances of responses with the embedded encoder, against the plain way: one response and one
hypothesis at a time, padded to the full length. Responses have the lengths that free-text answers
have, and some are equal, as short answers are.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[2]))

from workbench.classifier.config import TrainConfig
from workbench.classifier.model import EntailmentNetwork, load
from workbench.classifier.predict import Asked, predictions

RESPONSES, BASELINE_RESPONSES = 400, 6
TINY_RESPONSES, TINY_BASELINE_RESPONSES = 4, 1
SHARE_EQUAL = 0.1
WORDS = (
    "I",
    "agree",
    "with",
    "this",
    "statement",
    "because",
    "states",
    "should",
    "support",
    "families",
    "and",
    "markets",
)


def responses(count: int) -> list[Asked]:
    """Return responses of 3 to about 150 words (log-normal, median 40), one in ten equal to another
    one.
    """
    rng = np.random.default_rng(1)
    lengths = np.clip(rng.lognormal(np.log(40), 0.7, count), 3, 150).astype(int)
    texts = [" ".join(rng.choice(WORDS, length)) for length in lengths]
    for place in np.flatnonzero(rng.random(count) < SHARE_EQUAL):
        texts[place] = texts[0]
    return [(text, "") for text in texts]


def ours(model: EntailmentNetwork, config: TrainConfig, texts: list[Asked]) -> float:
    """Return responses a second."""
    started = time.perf_counter()
    read = sum(len(batch) for batch in predictions(model, config, texts))
    return read / (time.perf_counter() - started)


def plain(model: EntailmentNetwork, config: TrainConfig, texts: list[Asked]) -> float:
    """Return responses a second of the loop over responses and hypotheses."""
    started = time.perf_counter()
    for response, _ in texts:
        for hypothesis in config.hypotheses():
            inputs = model.tokenizer(
                response,
                hypothesis,
                truncation=True,
                max_length=config.max_length,
                padding="max_length",
                return_tensors="pt",
            )
            with torch.inference_mode():
                model.network(**inputs.to(model.device))
    return len(texts) / (time.perf_counter() - started)


def main(*, tiny: bool = False) -> list[tuple[str, str, str]]:
    """Return rows of the benchmark table: what, measured, against the plain loop."""
    model, config = load("minilm"), TrainConfig(base="minilm")
    read, baseline = (
        (TINY_RESPONSES, TINY_BASELINE_RESPONSES) if tiny else (RESPONSES, BASELINE_RESPONSES)
    )
    texts = responses(read)
    ours(model, config, texts[:20])  # warm
    fast, slow = ours(model, config, texts), plain(model, config, texts[:baseline])
    return [
        (f"stances of {read} responses, minilm", f"{fast:.1f} responses/s", f"{fast / slow:.1f}x")
    ]


if __name__ == "__main__":
    for row in main():
        print(" | ".join(row))
