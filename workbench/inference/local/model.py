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
from workbench.inference.chat_turns import chat_template, give_chat_format, split_chat_format
from workbench.inference.engines import Engine, SampledAnswers, ThoughtRule
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
    borrowed, default_system = split_chat_format(chat_format)
    # Errors are raised here, before the weights load.
    template = chat_template(borrowed) if borrowed else ""
    loaded = load_network(name, dtype, device)
    notes = give_chat_format(loaded.tokenizer, borrowed, template) if borrowed else ()
    return LocalModel(loaded, notes, default_system=default_system)


class LocalModel:
    """A language model of transformers: decoder-only, or encoder-decoder."""

    def __init__(
        self, loaded: LoadedNetwork, notes: tuple[str, ...] = (), *, default_system: bool = True
    ):
        """Prepare a loaded model. `notes` are further notes for the user about loading."""
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
            filter(None, (loaded.place, unshared, no_chat, *notes, *self._format.notes))
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
        encoded = [
            self._encoded(request.prompt, closed=thinking == NO_THINKING, effort=thinking)
            for request in requests
        ]
        refusals = [
            self._refusal(request.prompt, prompt, sampling)
            for request, prompt in zip(requests, encoded, strict=True)
        ]
        misfits = [position for position, reason in enumerate(refusals) if reason]
        for position in misfits:
            has_more = position != misfits[-1]
            yield Drawn(
                position, (), failed=requests[position].n, reason=refusals[position], more=has_more
            )
        fitting = [position for position, reason in enumerate(refusals) if not reason]
        yield from self._sample(requests, encoded, fitting, sampling)

    def _sample(
        self,
        requests: Sequence[Request],
        encoded: Sequence[Encoded | str],
        fitting: Sequence[int],
        sampling: Sampling,
    ) -> Iterator[Drawn]:
        """Yield the answers to the requests whose prompts fit, given by their positions."""
        opened = [_opened_thought(encoded[position]) for position in fitting]
        budget = sampling.thinking_tokens
        rules = [self._format.rule(budget, mark) for mark in opened] if budget else []
        groups = self._engine.sample(
            [_ids(encoded[position]) for position in fitting],
            [
                self._decided_outside(requests[position], mark)
                for position, mark in zip(fitting, opened, strict=True)
            ],
            sampling,
            self._format.spell,
            rules,
        )
        for group in groups:
            for n_after, answers in enumerate(group, start=1 - len(group)):
                if rules:
                    self._count_thoughts(answers, rules[answers.request])
                yield Drawn(
                    fitting[answers.request],
                    self._texts(answers, opened[answers.request]),
                    decided=answers.decided,
                    more=n_after < 0,
                )

    def _count_thoughts(self, answers: SampledAnswers, rule: ThoughtRule) -> None:
        """Count the tokens of the thoughts in the answers to one request."""
        self.thinking_tokens += sum(
            rule.thought(tokens) * count for tokens, count in answers.counts.items()
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

    def stop_when(self, should_stop: Callable[[], bool]) -> None:
        """Set the function that says when to stop. See `Interruptible`."""
        self._engine.stop_when(should_stop)

    def limit_parallel(self, most: int | None) -> None:
        """Limit the rows of a batch. None stands for as many as memory allows."""
        self._engine.limit_parallel(most)

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
        """Return a request whose answers are decided by their text after a thought."""
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

    def _refusal(self, prompt: Prompt, encoded: Encoded | str, sampling: Sampling) -> str:
        """Return the reason why a prompt cannot be answered, or an empty string if it can."""
        return self._misfit(prompt, encoded, sampling.most_tokens, "to generate (--max-new-tokens)")

    def _misfit(self, prompt: Prompt, encoded: Encoded | str, more: int, what: str) -> str:
        """Return the reason why a prompt cannot be asked, or an empty string if it can."""
        if isinstance(encoded, str):
            return encoded
        if not encoded.ids:
            return NO_BEGIN
        text = " ".join(message.content for message in prompt.messages)
        return self._window.misfit(text, len(encoded.ids), more, what)


@dataclass(frozen=True, slots=True)
class DecidedOutside:
    """The decision whether an answer is settled after a thought that began in the prompt."""

    decided: Decided
    opened: str
    own: tuple[Pair, ...]

    def __call__(self, text: str) -> bool:
        answer = split(self.opened + text, self.own).answer
        return answer is not None and self.decided(answer)


def _ids(prompt: Encoded | str) -> list[int]:
    """Return the tokens of a prompt, or none if it could not be encoded."""
    return prompt.ids if isinstance(prompt, Encoded) else []


def _opened_thought(prompt: Encoded | str) -> str:
    """Return the mark with which a prompt opens a thought, or an empty string."""
    return prompt.opened if isinstance(prompt, Encoded) else ""


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
