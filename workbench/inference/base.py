"""The interface of every model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from workbench.domain.batches import BatchLedger, SentBatch
from workbench.domain.prompts import Prompt
from workbench.domain.responses import Answerer, Drawn, ModelCard, Request, Sampling


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


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """The log-probabilities of one prompt's options."""

    prompt: int
    "position in the sequence of prompts"
    log_probabilities: NDArray[np.float64]
    "one entry an option, in nats: the sum over the option's tokens, and over what may follow them"
    reason: str = ""
    "why a backend could not score this prompt, for people; the log-probabilities are NaN then"
    snapshot: str | None = None
    "the model that the endpoint reported; None: the one of the model's card"
    fingerprint: str = ""
    "the `system_fingerprint` of the replies"


@dataclass(frozen=True, slots=True, eq=False)
class NextTokens:
    """What may come directly after one prompt, most likely first."""

    prompt: int
    "position in the sequence of prompts"
    texts: tuple[str, ...]
    log_probabilities: NDArray[np.float64]
    "one entry a text, in nats"
    rest: float
    "probability of all tokens that are not named"
    words: Mapping[str, float] | None = None
    "word -> probability of all tokens of the vocabulary that spell it, whatever their case; None: not offered"
    reason: str = ""
    "why nothing is known of this prompt, for people; there are no texts then"
    snapshot: str | None = None
    "as of `Scored`"
    fingerprint: str = ""


def unknown_tokens(prompt: int, reason: str) -> NextTokens:
    """Return what is known of a prompt that could not be asked: why."""
    return NextTokens(prompt, (), np.zeros(0), float("nan"), reason=reason)


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

    def score(
        self, prompts: Sequence[Prompt], options: Sequence[Sequence[str]], *, whole_words: bool = False
    ) -> Iterator[Scored]:
        """Yield, for each prompt, the log-probability that its next text begins with each of its options.

        `options[i]` are the continuations of `prompts[i]`, each in the tokens that the model writes it with.
        `whole_words`: and that the option's last word ends there, so that `agree` is not the beginning of `agreement`.
        Of options with the same tokens, as ` Yes` and `Yes` are to some tokenizers, the first has the probability and
        the others -inf then: their probabilities add up to that of beginning with any of them.

        Prompts may come back in any order; closing the iterator stops the work. Raises ModelError where an option has
        no token, or the backend offers no probability for it; a served model says so of the prompt (`Scored.reason`)
        and goes on.
        """
        ...

    def next_tokens(self, prompts: Sequence[Prompt], k: int, words: Sequence[str] = ()) -> Iterator[NextTokens]:
        """Yield, for each prompt, the k likeliest next tokens, in any order of prompts.

        `words`: also the probability of all tokens that spell each of these, blanks around it and case aside, of a
        single letter its brackets or full stop, too, where the backend knows its whole vocabulary. A prompt that cannot
        be asked comes back with the reason. A served model may name fewer than k. Raises ModelError where the backend
        offers no next tokens, or k is more than there are.
        """
        ...

    def close(self) -> None:
        """Free memory. Safe to call twice."""
        ...


@runtime_checkable
class Remarking(Protocol):
    """A model of which a person should know something, once it is loaded."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what to say: where and how it computes, and what it has to do without."""
        ...


@runtime_checkable
class Windowed(Protocol):
    """A model that can say, before it is asked, how many tokens prompts have and how many it can attend to."""

    @property
    def window(self) -> int | None:
        """Return the most tokens of a prompt with what is to follow it; None: no limit."""
        ...

    def lengths(self, prompts: Sequence[Prompt]) -> Sequence[int]:
        """Return how many tokens each prompt has in the model's own chat format."""
        ...


@runtime_checkable
class Adjustable(Protocol):
    """A model that can be told, while it answers and from another thread, how much to do at once."""

    def at_once(self, most: int | None) -> None:
        """Let at most so many calls, or rows of a batch, be under way; None: as at first. What is begun goes on."""
        ...


@runtime_checkable
class Configured(Protocol):
    """A model whose probabilities depend on more than the prompt."""

    def score_with(self, sampling: Sampling) -> None:
        """Compute probabilities from now on with the further fields and the thinking of a sampling. Raises ModelError
        where the model knows of no such thing.
        """
        ...


@runtime_checkable
class Thinking(Protocol):
    """A model that counts what it thinks before its answers."""

    @property
    def thinking_tokens(self) -> int:
        """Return how many tokens were thought so far."""
        ...


@runtime_checkable
class Asking(Protocol):
    """A served model that learns from refusals how it has to be asked."""

    @property
    def asked(self) -> Mapping[str, str]:
        """Return in which dialect it is asked, and what it refused: parameter -> the server's words."""
        ...


@runtime_checkable
class Metered(Protocol):
    """A model whose answers cost something."""

    def meter(self) -> Mapping[str, float]:
        """Return what was used so far: `requests`, `tokens_in`, `tokens_out`; how many calls are under way at most now
        and ever, `at_once` and `at_once_most`; where known `cost`, and the limits `max_requests`, `max_tokens`,
        `max_cost`.
        """
        ...


@runtime_checkable
class OnGpus(Protocol):
    """A model that may lie on GPUs of this machine."""

    @property
    def gpus(self) -> tuple[int, ...] | None:
        """Return which, as CUDA numbers them; none where it computes elsewhere, None where it may be all of them."""
        ...


@runtime_checkable
class Changing(Protocol):
    """A served model, whose name may come to stand for another model while it answers.

    Where it does, `generate`, `score` and `next_tokens` begin no further call and end once what is under way has come;
    `card` names the new snapshot then, and what is missing of it can be asked.
    """

    @property
    def answerers(self) -> Sequence[Answerer]:
        """Return what came from each snapshot."""
        ...

    @property
    def fingerprints(self) -> Mapping[str, int]:
        """Return how many answers came under each `system_fingerprint`."""
        ...

    @property
    def turns(self) -> Sequence[tuple[str, str]]:
        """Return each time that another snapshot came to answer than did before: (before, after)."""
        ...

    def expect(self, snapshot: str, *, asked: bool) -> None:
        """Say which snapshot answered before; `asked`: in the same job. See remote_snapshots."""
        ...


@runtime_checkable
class Batching(Protocol):
    """A served model that can be asked in batches."""

    def use_batches(self, ledger: BatchLedger) -> None:
        """Draw answers in batches from now on. Raises ModelError where the endpoint takes none."""
        ...

    def cancel_batch(self, sent: SentBatch) -> SentBatch:
        """Cancel a batch, wherever it was begun, and return what is known of it then. Raises ModelError."""
        ...


@runtime_checkable
class Unhurried(Protocol):
    """A model with calls under way that are paid for, whether anybody waits for them or not."""

    def wind_down(self) -> None:
        """Begin nothing more: `generate` ends by itself once what is under way has come."""
        ...
