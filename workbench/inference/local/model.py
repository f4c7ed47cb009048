"""Models that run on this machine with torch and transformers: hub ids, folders, GGUF files, the
embedded SmolLM2.
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
from workbench.inference.base import NextTokens, Scored, Work, unknown_tokens
from workbench.inference.chat_turns import chat_template, give_chat_format, parted
from workbench.inference.engines import Answers, Engine
from workbench.inference.local.network import Loaded, load_network, window_of
from workbench.inference.local.text import Encoded, SpelledVocabulary, TextFormat
from workbench.inference.plain import PlainEngine
from workbench.stats.arrays import FloatArray

NO_BEGIN = "the prompt is empty, and the model has no token that begins a text"
NO_CHAT = (
    "it has no chat template: messages are joined by blank lines, the published plain format; "
    "--chat-format gives it "
    "the one of its tuned relative"
)


def load_local(name: str, dtype: str = "", device: str = "", chat_format: str = "") -> LocalModel:
    """Load a model; see `network.load_network` for defaults and errors.

    `chat_format`: the source of the chat template instead of the model's own, and whether it may
    add a system turn, see `chat_formats`. Raises ModelError if it cannot be used.
    """
    borrowed, default_system = parted(chat_format)
    # Errors are raised here, before the weights load.
    template = chat_template(borrowed) if borrowed else ""
    loaded = load_network(name, dtype, device)
    said = give_chat_format(loaded.tokenizer, borrowed, template) if borrowed else ()
    return LocalModel(loaded, said, default_system=default_system)


class LocalModel:
    """A language model of transformers: decoder-only, or encoder-decoder."""

    def __init__(self, loaded: Loaded, said: tuple[str, ...] = (), *, default_system: bool = True):
        """`said`: further notes for the user about loading."""
        self._work = Work()
        try:
            self._format = TextFormat(loaded.tokenizer, default_system=default_system)
        except ModelError as error:
            raise ModelError(f"{loaded.name}: {error}") from error
        on = {
            weights.device
            for weights in loaded.network.parameters()
            if weights.device.type == "cuda"
        }
        self._gpus = tuple(sorted(device.index or 0 for device in on))
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
        """Return the GPUs that hold its weights."""
        return self._gpus

    def generate(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Drawn]:
        """Draw answers; prompts that do not fit the model's window fail individually, before
        anything is computed.
        """
        self._check_thinking(sampling)
        thinking = sampling.thinking
        prompts = [
            self._encoded(r.prompt, closed=thinking == NO_THINKING, effort=thinking)
            for r in requests
        ]
        refusals = [
            self._refusal(r.prompt, found, sampling)
            for r, found in zip(requests, prompts, strict=True)
        ]
        opened = [found.opened if isinstance(found, Encoded) else "" for found in prompts]
        refused = [position for position, reason in enumerate(refusals) if reason]
        for position in refused:
            more = position != refused[-1]
            yield Drawn(
                position, (), failed=requests[position].n, reason=refusals[position], more=more
            )
        fit = [position for position, reason in enumerate(refusals) if not reason]
        asked = [self._decided_outside(requests[i], opened[i]) for i in fit]
        budget = sampling.thinking_tokens
        rules = [self._format.rule(budget, opened[i]) for i in fit] if budget else []
        groups = self._engine.sample(
            [_ids(prompts[i]) for i in fit], asked, sampling, self._format.spell, rules
        )
        for group in groups:
            for left, answers in enumerate(group, start=1 - len(group)):
                at = fit[answers.request]
                if rules:
                    rule = rules[answers.request]
                    self.thinking_tokens += sum(
                        rule.thought(tokens) * n for tokens, n in answers.counts.items()
                    )
                yield Drawn(
                    at, self._texts(answers, opened[at]), decided=answers.decided, more=left < 0
                )

    def score_with(self, sampling: Sampling) -> None:
        """See `Configured`: probabilities are always those of an answer without a preceding
        thought.
        """
        self._check_thinking(sampling)

    def _check_thinking(self, sampling: Sampling) -> None:
        if sampling.thinking and not self._format.thinks:
            raise ModelError(
                f"{self._card.name} does not think before it answers: its chat template knows no "
                "thoughts. Leave "
                "--thinking out"
            )

    def score(
        self,
        prompts: Sequence[Prompt],
        options: Sequence[Sequence[str]],
        *,
        whole_words: bool = False,
    ) -> Iterator[Scored]:
        """Yield the log-probabilities of options. All prompts are given to the engine, so that it
        can share them.

        If the chat template opens a thought, it is closed immediately, and options follow it.

        Options are tokenised separately, see `TextFormat.encode_option`; an answer with a different
        tokenisation of an option is not counted. A prompt that does not fit with its longest option
        comes back with the reason. Raises ModelError for an option without a token, before anything
        is computed.
        """
        ends = [[self._format.encode_option(option) for option in choices] for choices in options]
        ids = [self._encoded(prompt, closed=True) for prompt in prompts]
        fit = []
        for position, (prompt, tokens) in enumerate(zip(prompts, ids, strict=True)):
            longest = max(map(len, ends[position]), default=0)
            if reason := self._misfit(prompt, tokens, longest, "of an option"):
                yield Scored(position, np.full(len(ends[position]), np.nan), reason)
            else:
                fit.append(position)
        after = self._spelled.word_ends if whole_words and fit else ()
        for scores in self._engine.score(
            [_ids(ids[i]) for i in fit], [ends[i] for i in fit], after
        ):
            position = fit[scores.prompt]
            logs = scores.log_probabilities
            yield Scored(position, _first_only(ends[position], logs) if whole_words else logs)

    def next_tokens(
        self, prompts: Sequence[Prompt], k: int, words: Sequence[str] = ()
    ) -> Iterator[NextTokens]:
        """Yield the k most likely next tokens; tokens that spell the same text (parts of a
        character) are kept separate.

        A prompt that does not fit the window comes back with the reason.
        """
        if not 1 <= k <= self._vocabulary:
            raise ModelError(
                f"{k} next tokens were asked for; {self._card.name} has {self._vocabulary:,}"
            )
        ids = [self._encoded(prompt, closed=True) for prompt in prompts]
        fit = []
        for position, (prompt, tokens) in enumerate(zip(prompts, ids, strict=True)):
            if reason := self._misfit(prompt, tokens, 1, "to look at"):
                yield unknown_tokens(position, reason)
            else:
                fit.append(position)
        sets = self._spelled.sets(words) if words and fit else []
        for found in self._engine.likeliest([_ids(ids[i]) for i in fit], k, sets):
            position = fit[found.prompt]
            texts = tuple(
                self._format.spell_next(_ids(ids[position]), token) for token in found.tokens
            )
            rest = max(0.0, 1.0 - float(np.exp(found.log_probabilities).sum()))
            masses = dict(zip(words, found.masses, strict=True)) if words else None
            yield NextTokens(position, texts, found.log_probabilities, rest, masses)

    @property
    def window(self) -> int | None:
        """The most tokens that the model was built for, including the answer unless a separate
        decoder writes it.
        """
        return self._window.tokens

    def lengths(self, prompts: Sequence[Prompt]) -> list[int]:
        """Return how many tokens each prompt has."""
        return [len(self.encode(prompt)) for prompt in prompts]

    def heed(self, should_stop: Callable[[], bool]) -> None:
        """See `Interruptible`."""
        self._engine.heed(should_stop)

    def at_once(self, most: int | None) -> None:
        """Limit the rows of a batch; None: as many as memory allows."""
        self._engine.at_once(most)

    def close(self) -> None:
        self._engine.close()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def encode(self, prompt: Prompt) -> list[int]:
        """Return the tokens of a prompt, see `TextFormat.encode`."""
        return self._format.encode(prompt)

    def _encoded(self, prompt: Prompt, *, closed: bool = False, effort: str = "") -> Encoded | str:
        """Return a prompt in tokens, or why the model would not see all of it."""
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

    def _texts(self, answers: Answers, opened: str) -> tuple[tuple[str, int], ...]:
        """Return answers with their thoughts, merged by text: different tokens may spell the same
        text.
        """
        texts: dict[str, int] = {}
        for tokens, count in answers.counts.items():
            text = split(opened + self._format.spell(tokens), self._format.own).stored
            texts[text] = texts.get(text, 0) + count
        return tuple(sorted(texts.items(), key=lambda item: (-item[1], item[0])))

    def _refusal(self, prompt: Prompt, found: Encoded | str, sampling: Sampling) -> str:
        return self._misfit(prompt, found, sampling.most_tokens, "to generate (--max-new-tokens)")

    def _misfit(self, prompt: Prompt, found: Encoded | str, more: int, what: str) -> str:
        """Return why a prompt cannot be asked; empty if it can."""
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
    """Decides whether an answer after a thought that began in the prompt is settled."""

    decided: Decided
    opened: str
    own: tuple[Pair, ...]

    def __call__(self, text: str) -> bool:
        answer = split(self.opened + text, self.own).answer
        return answer is not None and self.decided(answer)


def _ids(found: Encoded | str) -> list[int]:
    return found.ids if isinstance(found, Encoded) else []


def _first_only(ends: Sequence[Sequence[int]], logs: FloatArray) -> FloatArray:
    """Return log-probabilities with -inf for options with the tokens of an earlier one: an event is
    counted once.
    """
    first: dict[tuple[int, ...], int] = {}
    places = [first.setdefault(tuple(end), place) for place, end in enumerate(ends)]
    return np.where(np.arange(len(ends)) == places, logs, -np.inf)


def _engine(network: Any, stop: frozenset[int], work: Work) -> tuple[Engine, str]:
    """Return the engine that shares work, or the plain one with the reason."""
    from workbench.inference.engine import Unshareable, shared_engine

    try:
        return shared_engine(network, stop, work), ""
    except Unshareable as error:
        plain = (
            f"{network.config.model_type} is asked prompt by prompt through transformers' "
            f"generate, because {error}"
        )
        return PlainEngine(network, stop, work), plain


def _stop_tokens(loaded: Loaded) -> frozenset[int]:
    """Return every token that ends an answer."""
    found: set[int] = set()
    for value in (loaded.network.generation_config.eos_token_id, loaded.tokenizer.eos_token_id):
        if value is not None:
            found |= set(value) if isinstance(value, list | tuple) else {int(value)}
    return frozenset(found)
