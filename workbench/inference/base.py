"""The interface of every model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from workbench.domain.prompts import Prompt
from workbench.domain.responses import Drawn, ModelCard, Request, Sampling


@dataclass(slots=True)
class Work:
    """What a backend has computed so far: the measure of what sharing saved."""

    prompt_tokens: int = 0
    "tokens of all prompts, as if each sample read its own prompt once per prompt"
    prompt_tokens_computed: int = 0
    "of these, tokens that went through the network"
    sampled_tokens: int = 0
    "tokens of all answers"
    sampled_tokens_computed: int = 0
    "of these, rows that went through the network: identical beginnings of answers are computed once"


class Model(Protocol):
    """Something that answers prompts."""

    @property
    def card(self) -> ModelCard: ...

    @property
    def work(self) -> Work: ...

    def generate(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Drawn]:
        """Draw `request.n` answers to each prompt, yielding each request's answers as soon as they are whole.

        Requests may come back in any order. Closing the iterator stops the work. The answers to a request
        depend on its seed, not on what else is asked in the same call.
        """
        ...

    def score(self, prompts: Sequence[Prompt], options: Sequence[Sequence[str]]) -> list[NDArray[np.float64]]:
        """Return, for each prompt, the log-probability of each of its options as the whole next text.

        `options[i]` are the continuations of `prompts[i]`; the result's i-th array has one entry an option:
        the sum of the log-probabilities of the option's tokens, in nats.
        """
        ...

    def close(self) -> None:
        """Free memory. Safe to call twice."""
        ...
