"""The same answers and probabilities by the plainest means: one prompt at a time, no cache shared,
nothing merged.

Slow and hardly able to be wrong: what it says is what an engine has to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import (
    LogitsProcessorList,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from workbench.domain.responses import Sampling
from workbench.inference.engines import Tokens

Answer = tuple[int, ...]


def warpers(sampling: Sampling) -> LogitsProcessorList:
    """Return transformers' own processors, in the order in which `generate` applies them."""
    found = LogitsProcessorList([TemperatureLogitsWarper(float(sampling.temperature))])
    if sampling.top_k:
        found.append(TopKLogitsWarper(sampling.top_k))
    if sampling.top_p < 1:
        found.append(TopPLogitsWarper(sampling.top_p))
    return found


class Oracle:
    """What a network says, by one forward pass a question."""

    def __init__(self, network: Any, stop: frozenset[int]):
        self.network, self.stop = network, stop

    @torch.inference_mode()
    def logits(self, sequences: Sequence[Tokens]) -> torch.Tensor:
        """Return the logits of all places of sequences of one length: (sequences, tokens,
        vocabulary).
        """
        ids = torch.tensor([list(sequence) for sequence in sequences], device=self.network.device)
        logits: torch.Tensor = self.network(input_ids=ids, use_cache=False).logits
        return logits

    def next_log_probabilities(self, prompt: Tokens) -> NDArray[np.float64]:
        """Return the log-probability of every token directly after a prompt: (vocabulary,)."""
        return _numpy(torch.log_softmax(self.logits([prompt])[0, -1].double(), dim=-1))

    def score(self, prompt: Tokens, end: Tokens) -> float:
        """Return the log-probability of one continuation, by a forward pass over all of it."""
        log = torch.log_softmax(self.logits([[*prompt, *end]])[0].double(), dim=-1)
        return sum(float(log[len(prompt) - 1 + i, token]) for i, token in enumerate(end))

    def greedy(self, prompt: Tokens, max_new_tokens: int) -> Answer:
        """Return the tokens of `generate(do_sample=False)`, without the one that ended it."""
        (answer,) = self.generated(prompt, max_new_tokens, do_sample=False)
        return answer

    @torch.inference_mode()
    def generated(self, prompt: Tokens, max_new_tokens: int, **how: Any) -> list[Answer]:
        """Return what `generate` makes of one prompt."""
        ids = torch.tensor([list(prompt)], device=self.network.device)
        out = self.network.generate(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=max_new_tokens,
            eos_token_id=sorted(self.stop),
            pad_token_id=0,
            **how,
        )
        return [self._cut(row) for row in out[:, ids.shape[1] :].tolist()]

    def sampled(self, prompt: Tokens, n: int, sampling: Sampling) -> list[Answer]:
        """Draw n answers independently through `generate`."""
        return self.generated(
            prompt,
            sampling.max_new_tokens,
            do_sample=True,
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            top_k=sampling.top_k or 0,
            num_return_sequences=n,
        )

    def distribution(self, prompt: Tokens, sampling: Sampling) -> dict[Answer, float]:
        """Return the probability of every answer that can be drawn, by following each."""
        done: dict[Answer, float] = {}
        growing: dict[Answer, float] = {(): 1.0}
        for step in range(sampling.max_new_tokens):
            grown: dict[Answer, float] = {}
            logits = self.logits([[*prompt, *answer] for answer in growing])[:, -1].double()
            chances = torch.softmax(
                warpers(sampling)(torch.zeros(len(growing), 1), logits), dim=-1
            ).tolist()
            for (answer, p), chance in zip(growing.items(), chances, strict=True):
                for token, q in enumerate(chance):
                    if token in self.stop and q:
                        done[answer] = done.get(answer, 0.0) + p * q
                    elif q:
                        place = done if step == sampling.max_new_tokens - 1 else grown
                        place[(*answer, token)] = p * q
            growing = grown
            if not growing:
                break
        return done

    def _cut(self, row: Sequence[int]) -> Answer:
        return tuple(
            row[: next((i for i, token in enumerate(row) if token in self.stop), len(row))]
        )


def closed_under(sequences: Iterator[Tokens] | Sequence[Tokens]) -> set[Answer]:
    """Return every distinct beginning of the sequences: the nodes of their token tree, its root
    left out.
    """
    return {tuple(sequence[: i + 1]) for sequence in sequences for i in range(len(sequence))}


def _numpy(tensor: torch.Tensor) -> NDArray[np.float64]:
    found: NDArray[np.float64] = tensor.cpu().numpy()
    return found
