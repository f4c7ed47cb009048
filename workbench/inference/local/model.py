"""Models that run on this machine with torch and transformers.

They are hub ids, folders, GGUF files and the embedded SmolLM2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from workbench.domain.prompts import Prompt
from workbench.domain.responses import (
    NO_THINKING,
    RAW_THOUGHTS,
    Decided,
    Drawn,
    ModelCard,
    Request,
    Sampling,
)
from workbench.domain.thinking import Pair, split
from workbench.errors import ModelError
from workbench.inference.base import NextTokens, ScoredOptions, Work, unknown_tokens
from workbench.inference.chat_turns import chat_template, give_chat_format, parted
from workbench.inference.engines import Engine, SampledAnswers
from workbench.inference.local.network import LoadedNetwork, load_network, window_of
from workbench.inference.local.text import Encoded, SpelledVocabulary, TextFormat
from workbench.inference.plain import PlainEngine
from workbench.stats.arrays import FloatArray

NO_BEGIN = "the prompt is empty, and the model has no token that begins a text"
NO_CHAT = (
    "it has no chat template: messages are joined by blank lines, the published plain format; "
    "--chat-format gives it the one of its tuned relative"
)


def load_local(name: str, dtype: str = "", device: str = "", chat_format: str = "") -> LocalModel:
    """Load a model.

    See `network.load_network` for defaults and errors.

    `chat_format`: the source of the chat template instead of the model's own, and whether it may
    add a system turn, see `chat_formats`. Raises ModelError if it cannot be used.
    """
    borrowed, default_system = parted(chat_format)
    # Errors are raised here, before the weights load.
    template = chat_template(borrowed) if borrowed else ""
    loaded = load_network(name, dtype, device)
    notes = give_chat_format(loaded.tokenizer, borrowed, template) if borrowed else ()
    return LocalModel(loaded, notes, default_system=default_system)


class LocalModel:
    """A language model of transformers: decoder-only, or encoder-decoder."""

    def __init__(
        self, loaded: LoadedNetwork, said: tuple[str, ...] = (), *, default_system: bool = True
    ):
        """Prepare a loaded model. `said` are further notes for the user about loading."""
        self._work = Work()
        try:
            self._format = TextFormat(loaded.tokenizer, default_system=default_system)
        except ModelError as error:
            raise ModelError(f"{loaded.name}: {error}") from error
        devices = {
            weights.device
            for weights in loaded.network.parameters()
            if weights.device.type == "cuda"
        }
        self._gpus = tuple(sorted(device.index or 0 for device in devices))
        self._vocabulary = int(loaded.network.get_output_embeddings().weight.shape[0])
        self._spelled = SpelledVocabulary(loaded.tokenizer, self._vocabulary)
        self._window = window_of(loaded.network.config)
        self._engine, unshared = _engine(loaded.network, _stop_tokens(loaded), self._work)
        self._card = ModelCard(
            loaded.name,
            loaded.revision,
            "transformers",
            loaded.dtype,
            self._format.name,
            self._format.encoding,
        )
        no_chat = NO_CHAT if self._format.name == "none" else ""
        self.notes = tuple(
            filter(None, (loaded.place, unshared, no_chat, *said, *self._format.notes))
        )
        "notes for the user about loading"
        self.thinking_tokens = 0
        "tokens of thoughts in answers that were drawn with a budget for them"

    @property
    def card(self) -> ModelCard:
        return self._card

    @property
    def work(self) -> Work:
        return self._work

    @property
    def gpus(self) -> tuple[int, ...]:
        """The GPUs that hold its weights."""
        return self._gpus

    def generate(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Drawn]:
        """Draw answers.

        Prompts that do not fit the model's window fail individually, before anything is computed.
        """
        self._check_thinking(sampling)
        thinking = sampling.thinking
        prompts = [
            self._encoded(request.prompt, closed=thinking == NO_THINKING, effort=thinking)
            for request in requests
        ]
        refusals = [
            self._refusal(request.prompt, encoded, sampling)
            for request, encoded in zip(requests, prompts, strict=True)
        ]
        opened = [encoded.opened if isinstance(encoded, Encoded) else "" for encoded in prompts]
        misfits = [position for position, reason in enumerate(refusals) if reason]
        for position in misfits:
            has_more = position != misfits[-1]
            yield Drawn(
                position, (), failed=requests[position].n, reason=refusals[position], more=has_more
            )
        fitting = [position for position, reason in enumerate(refusals) if not reason]
        fitting_requests = [
            self._decided_outside(requests[number], opened[number]) for number in fitting
        ]
        budget = sampling.thinking_tokens
        rules = [self._format.rule(budget, opened[number]) for number in fitting] if budget else []
        groups = self._engine.sample(
            [_ids(prompts[number]) for number in fitting],
            fitting_requests,
            sampling,
            self._format.spell,
            rules,
        )
        for group in groups:
            for n_after, answers in enumerate(group, start=1 - len(group)):
                index = fitting[answers.request]
                if rules:
                    rule = rules[answers.request]
                    self.thinking_tokens += sum(
                        rule.thought(tokens) * count for tokens, count in answers.counts.items()
                    )
                yield Drawn(
                    index,
                    self._texts(answers, opened[index]),
                    decided=answers.decided,
                    more=n_after < 0,
                )

    def score_with(self, sampling: Sampling) -> None:
        """Check the thinking of a sampling.

        Probabilities are always those of an answer without a preceding thought. See `Configured`.
        """
        self._check_thinking(sampling)

    def _check_thinking(self, sampling: Sampling) -> None:
        if sampling.thinking and not self._format.thinks:
            raise ModelError(
                f"{self._card.name} does not think before it answers: its chat template knows no "
                "thoughts. Leave --thinking out"
            )

    def score(
        self,
        prompts: Sequence[Prompt],
        options: Sequence[Sequence[str]],
        *,
        whole_words: bool = False,
    ) -> Iterator[ScoredOptions]:
        """Yield the log-probabilities of options.

        All prompts are given to the engine, so that it can share them.

        If the chat template opens a thought, it is closed immediately, and options follow it.

        Options are tokenised separately, see `TextFormat.encode_option`. An answer with a different
        tokenisation of an option is not counted. A prompt that does not fit with its longest option
        comes back with the reason. Raises ModelError for an option without a token, before anything
        is computed.
        """
        ends = [[self._format.encode_option(option) for option in choices] for choices in options]
        ids = [self._encoded(prompt, closed=True) for prompt in prompts]
        fitting = []
        for position, (prompt, tokens) in enumerate(zip(prompts, ids, strict=True)):
            longest = max(map(len, ends[position]), default=0)
            if reason := self._misfit(prompt, tokens, longest, "of an option"):
                yield ScoredOptions(position, np.full(len(ends[position]), np.nan), reason)
            else:
                fitting.append(position)
        after = self._spelled.word_ends if whole_words and fitting else ()
        for scores in self._engine.score(
            [_ids(ids[index]) for index in fitting], [ends[index] for index in fitting], after
        ):
            position = fitting[scores.prompt]
            logs = scores.log_probabilities
            yield ScoredOptions(
                position, _first_only(ends[position], logs) if whole_words else logs
            )

    def next_tokens(
        self, prompts: Sequence[Prompt], k: int, words: Sequence[str] = ()
    ) -> Iterator[NextTokens]:
        """Yield the k most likely next tokens.

        Tokens that spell the same text (parts of a character) are kept separate.

        A prompt that does not fit the window comes back with the reason.
        """
        if not 1 <= k <= self._vocabulary:
            raise ModelError(
                f"{k} next tokens were asked for; {self._card.name} has {self._vocabulary:,}"
            )
        ids = [self._encoded(prompt, closed=True) for prompt in prompts]
        fitting = []
        for position, (prompt, tokens) in enumerate(zip(prompts, ids, strict=True)):
            if reason := self._misfit(prompt, tokens, 1, "to look at"):
                yield unknown_tokens(position, reason)
            else:
                fitting.append(position)
        sets = self._spelled.sets(words) if words and fitting else []
        for result in self._engine.likeliest([_ids(ids[index]) for index in fitting], k, sets):
            position = fitting[result.prompt]
            texts = tuple(
                self._format.spell_next(_ids(ids[position]), token) for token in result.tokens
            )
            rest = max(0.0, 1.0 - float(np.exp(result.log_probabilities).sum()))
            masses = dict(zip(words, result.masses, strict=True)) if words else None
            yield NextTokens(position, texts, result.log_probabilities, rest, masses)

    @property
    def window(self) -> int | None:
        """The most tokens that the model was built for.

        They include the answer unless a separate decoder writes it.
        """
        return self._window.tokens

    def lengths(self, prompts: Sequence[Prompt]) -> list[int]:
        """Return the number of tokens of each prompt."""
        return [len(self.encode(prompt)) for prompt in prompts]

    def heed(self, should_stop: Callable[[], bool]) -> None:
        """Set the function that says when to stop. See `Interruptible`."""
        self._engine.heed(should_stop)

    def at_once(self, most: int | None) -> None:
        """Limit the rows of a batch. None stands for as many as memory allows."""
        self._engine.at_once(most)

    def close(self) -> None:
        self._engine.close()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def encode(self, prompt: Prompt) -> list[int]:
        """Return the tokens of a prompt. See `TextFormat.encode`."""
        return self._format.encode(prompt)

    def _encoded(self, prompt: Prompt, *, closed: bool = False, effort: str = "") -> Encoded | str:
        """Return a prompt in tokens, or the reason why the model would not see all of it."""
        if effort and not prompt.chat:
            return RAW_THOUGHTS
        try:
            return self._format.encoded(prompt, closed=closed, effort=effort)
        except ModelError as error:
            return str(error)

    def _decided_outside(self, request: Request, opened: str) -> Request:
        if request.decided is None or not (opened or self._format.own):
            return request
        return replace(request, decided=DecidedOutside(request.decided, opened, self._format.own))

    def _texts(self, answers: SampledAnswers, opened: str) -> tuple[tuple[str, int], ...]:
        """Return answers with their thoughts, merged by text.

        Different tokens may spell the same text.
        """
        texts: dict[str, int] = {}
        for tokens, count in answers.counts.items():
            text = split(opened + self._format.spell(tokens), self._format.own).stored
            texts[text] = texts.get(text, 0) + count
        return tuple(sorted(texts.items(), key=lambda item: (-item[1], item[0])))

    def _refusal(self, prompt: Prompt, found: Encoded | str, sampling: Sampling) -> str:
        return self._misfit(prompt, found, sampling.most_tokens, "to generate (--max-new-tokens)")

    def _misfit(self, prompt: Prompt, found: Encoded | str, more: int, what: str) -> str:
        """Return the reason why a prompt cannot be asked, or an empty string if it can."""
        if isinstance(found, str):
            return found
        ids = found.ids
        if not ids:
            return NO_BEGIN
        return self._window.misfit(
            " ".join(message.content for message in prompt.messages), len(ids), more, what
        )


@dataclass(frozen=True, slots=True)
class DecidedOutside:
    """The decision whether an answer is settled after a thought that began in the prompt."""

    decided: Decided
    opened: str
    own: tuple[Pair, ...]

    def __call__(self, text: str) -> bool:
        answer = split(self.opened + text, self.own).answer
        return answer is not None and self.decided(answer)


def _ids(found: Encoded | str) -> list[int]:
    return found.ids if isinstance(found, Encoded) else []


def _first_only(ends: Sequence[Sequence[int]], logs: FloatArray) -> FloatArray:
    """Return log-probabilities with -inf for options with the tokens of an earlier one.

    An event is counted once.
    """
    first_index: dict[tuple[int, ...], int] = {}
    first_indices = [first_index.setdefault(tuple(end), index) for index, end in enumerate(ends)]
    return np.where(np.arange(len(ends)) == first_indices, logs, -np.inf)


def _engine(network: Any, stop: frozenset[int], work: Work) -> tuple[Engine, str]:
    """Return the engine that shares work, or the plain one with the reason."""
    from workbench.inference.engine import Unshareable, shared_engine

    try:
        return shared_engine(network, stop, work), ""
    except Unshareable as error:
        note = (
            f"{network.config.model_type} is asked prompt by prompt through transformers' "
            f"generate, because {error}"
        )
        return PlainEngine(network, stop, work), note


def _stop_tokens(loaded: LoadedNetwork) -> frozenset[int]:
    """Return every token that ends an answer."""
    tokens: set[int] = set()
    for value in (loaded.network.generation_config.eos_token_id, loaded.tokenizer.eos_token_id):
        if value is not None:
            tokens |= set(value) if isinstance(value, list | tuple) else {int(value)}
    return frozenset(tokens)
