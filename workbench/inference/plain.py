"""The engine for networks whose work cannot be shared: it calls `generate` prompt by prompt.

`generate` is that of transformers. The engine supports any decoder-only model, with any kind of
state, and encoder-decoders such as Flan-T5.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import torch
from transformers import (
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
    StoppingCriteria,
    StoppingCriteriaList,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)
from transformers.modeling_outputs import BaseModelOutput

from workbench.domain.responses import Decided, Request, Sampling
from workbench.errors import ModelError
from workbench.inference.base import Work
from workbench.inference.engines import (
    WITHIN,
    EndScores,
    LikelyTokens,
    SampledAnswers,
    Spell,
    ThoughtRule,
    Tokens,
)
from workbench.inference.memory import free_bytes, is_out_of_memory
from workbench.inference.nucleus import NO_NUMBERS, check_numbers, masses

MOST_ROWS = 1024
SHARE = 0.5
"""share of the free memory for a batch, by estimate

If the estimate was too low, the batch is halved.
"""
COPIES = 8
"most float32 copies of a row's logits that drawing and scoring hold at the same time"

T = TypeVar("T")


class PlainEngine:
    """An engine that computes with a network as transformers does.

    Nothing is shared between rows.
    """

    def __init__(self, network: Any, stop: frozenset[int], work: Work):
        self._network, self._stop, self._work = network, stop, work
        self._asked: int | None = None
        self._fits = MOST_ROWS
        self.should_stop: Callable[[], bool] = lambda: False
        "called before a request, to ask whether to end"
        self._seq2seq = bool(network.config.is_encoder_decoder)
        self._begin = _decoder_begin(network) if self._seq2seq else []
        self._keeps = "logits_to_keep" in inspect.signature(network.forward).parameters

    def sample(
        self,
        prompts: Sequence[Tokens],
        requests: Sequence[Request],
        sampling: Sampling,
        spell: Spell,
        rules: Sequence[ThoughtRule] = (),
    ) -> Iterator[list[SampledAnswers]]:
        """Draw the answers to each request, one request after the other.

        Each sample has its own generator, so the answers do not depend on how many are drawn
        together.
        """
        for position, (prompt, request) in enumerate(zip(prompts, requests, strict=True)):
            rule = rules[position] if rules else None
            if self.should_stop():
                return

            def draw(
                rows: range,
                prompt: Tokens = prompt,
                request: Request = request,
                rule: ThoughtRule | None = rule,
            ) -> list[tuple[Tokens, bool]]:
                return self._draw(prompt, request, rows, sampling, spell, rule)

            samples = self._in_parts(
                request.n, self._row_bytes(len(prompt) + sampling.most_tokens, 1), draw
            )
            counts = Counter(tuple(tokens) for tokens, _ in samples)
            yield [SampledAnswers(position, dict(counts), sum(decided for _, decided in samples))]

    def score(
        self, prompts: Sequence[Tokens], ends: Sequence[Sequence[Tokens]], after: Tokens = ()
    ) -> Iterator[EndScores]:
        """Yield the log-probabilities of each prompt's continuations, a row for each."""
        for position, (prompt, choices) in enumerate(zip(prompts, ends, strict=True)):

            def score(
                rows: range, prompt: Tokens = prompt, choices: Sequence[Tokens] = choices
            ) -> list[float]:
                return self._score(prompt, choices[rows.start : rows.stop], after)

            longest = max(map(len, choices), default=0)
            log_probabilities = self._in_parts(
                len(choices), self._row_bytes(len(prompt) + longest, 1 + longest), score
            )
            yield EndScores(position, np.array(log_probabilities, dtype=np.float64))

    def likeliest(
        self, prompts: Sequence[Tokens], k: int, sets: Sequence[Tokens] = ()
    ) -> Iterator[LikelyTokens]:
        """Yield the k most likely next tokens of each prompt, and the probabilities of the sets.

        Each set is one of tokens.
        """
        for position, prompt in enumerate(prompts):
            log = self._next_token_logs(prompt)
            check_numbers(log[:1])
            top, tokens = log.topk(k)
            (set_masses,) = masses(log[None], sets)
            yield LikelyTokens(
                position, tuple(tokens.tolist()), top.double().cpu().numpy(), set_masses
            )

    def stop_when(self, should_stop: Callable[[], bool]) -> None:
        """Set the function that is asked before each request whether to stop. See `Engine`."""
        self.should_stop = should_stop

    def limit_parallel(self, most: int | None) -> None:
        """Limit the active rows, from the next batch on."""
        self._asked = most

    def close(self) -> None:
        self._network = None

    def _in_parts(self, n: int, row_bytes: int, work: Callable[[range], list[T]]) -> list[T]:
        """Process rows 0 … n - 1, as many together as memory allows.

        Raises ModelError if memory does not suffice for one.
        """
        results: list[T] = []
        while len(results) < n:
            fitting = int(SHARE * free_bytes(self._network.device)) // row_bytes
            size = max(1, min(self._asked or MOST_ROWS, self._fits, fitting, n - len(results)))
            chunk = _compute_rows(work, range(len(results), len(results) + size))
            if chunk is None:
                self._fits = size // 2
                if self._network.device.type == "cuda":
                    torch.cuda.empty_cache()
            else:
                results += chunk
        return results

    def _row_bytes(self, tokens: int, logits: int) -> int:
        """Return the estimated memory of a row.

        It holds keys and values of its tokens, and logits of some of them.
        """
        config = self._network.config.get_text_config(decoder=True)
        layers, width = getattr(config, "num_hidden_layers", 1), getattr(config, "hidden_size", 1)
        cache_bytes: int = 2 * layers * width * tokens * self._network.dtype.itemsize
        return cache_bytes + COPIES * 4 * int(config.vocab_size) * logits

    def _draw(
        self,
        prompt: Tokens,
        request: Request,
        rows: range,
        sampling: Sampling,
        spell: Spell,
        rule: ThoughtRule | None,
    ) -> list[tuple[Tokens, bool]]:
        """Return the tokens of some samples of a request, each with whether it was decided early.

        Such a sample ended because it was decided.
        """
        inputs = self._inputs(prompt, len(rows))
        if self._seq2seq:
            inputs["decoder_input_ids"] = self._tensor([self._begin] * len(rows))
        n_begun = len(self._begin) if self._seq2seq else len(prompt)
        ends = _RowEnds(
            n_begun, len(rows), sampling.max_new_tokens, self._stop, request.decided, spell, rule
        )
        longest = sampling.most_tokens + (len(rule.end) if rule else 0)
        network, config = self._network, _bare_config(self._network, longest)
        default, network.generation_config = network.generation_config, config
        try:
            sequences = network.generate(
                **inputs,
                generation_config=config,
                logits_processor=_processors(sampling, request, rows, ends),
                stopping_criteria=StoppingCriteriaList([ends]),
            )
        finally:
            network.generation_config = default
        steps = sum(
            length + stopped - 1 for length, stopped in zip(ends.length, ends.stopped, strict=True)
        )
        self._count(prompt, len(rows), steps)
        answers = [
            tokens[:length]
            for tokens, length in zip(sequences[:, n_begun:].tolist(), ends.length, strict=True)
        ]
        return list(zip(answers, ends.decided, strict=True))

    def _score(self, prompt: Tokens, ends: Sequence[Tokens], after: Tokens) -> list[float]:
        longest = max(map(len, ends))
        # Padding comes after all tokens that are read, and no token sees later ones.
        padded = self._tensor([[*end, *[0] * (longest - len(end))] for end in ends])
        log = torch.log_softmax(self._logits(prompt, padded).float(), dim=-1)
        token_logs = log[:, :-1].gather(-1, padded[..., None])[..., 0].double()
        following = self._tensor([after])[0]
        logs_after = [
            float(log[row, len(end), following].double().logsumexp(0)) if after else 0.0
            for row, end in enumerate(ends)
        ]
        self._count(prompt, len(ends), 0)
        return [
            float(token_logs[row, : len(end)].sum()) + logs_after[row]
            for row, end in enumerate(ends)
        ]

    def _next_token_logs(self, prompt: Tokens) -> torch.Tensor:
        """Return the log-probability of every token after a prompt: shape (vocabulary,)."""

        def one(rows: range) -> list[torch.Tensor]:  # noqa: ARG001
            return [self._logits(prompt, self._tensor([[]]))[0, 0].float()]

        (logits,) = self._in_parts(1, self._row_bytes(len(prompt), 1), one)
        self._count(prompt, 1, 0)
        return torch.log_softmax(logits, dim=-1)

    def _logits(self, prompt: Tokens, ends: torch.Tensor) -> torch.Tensor:
        """Return the logits after a prompt and after each token of its ends.

        Their shape is (rows, 1 + longest end, vocabulary).
        """
        rows, longest = ends.shape
        inputs = self._inputs(prompt, rows)
        if self._seq2seq:
            begin = self._tensor([self._begin] * rows)
            inputs["decoder_input_ids"] = torch.cat([begin, ends], dim=1)
        else:
            inputs["input_ids"] = torch.cat([inputs["input_ids"], ends], dim=1)
            inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
        if self._keeps:
            inputs["logits_to_keep"] = longest + 1
        logits: torch.Tensor = self._network(**inputs, use_cache=False).logits
        return logits[:, -longest - 1 :]

    def _inputs(self, prompt: Tokens, rows: int) -> dict[str, Any]:
        """Return the inputs of a network for a prompt and `rows` rows.

        An encoder reads the prompt once for all of them.
        """
        ids = self._tensor([prompt])
        mask = torch.ones(rows, len(prompt), dtype=torch.long, device=ids.device)
        if not self._seq2seq:
            return {"input_ids": ids.expand(rows, -1), "attention_mask": mask}
        encoded = self._network.get_encoder()(
            input_ids=ids, attention_mask=mask[:1]
        ).last_hidden_state
        return {
            "encoder_outputs": BaseModelOutput(encoded.expand(rows, -1, -1)),
            "attention_mask": mask,
        }

    def _tensor(self, rows: Sequence[Tokens]) -> torch.Tensor:
        return torch.tensor(
            [list(row) for row in rows], dtype=torch.long, device=self._network.device
        )

    def _count(self, prompt: Tokens, rows: int, steps: int) -> None:
        """Count the computed tokens, which equal all tokens because nothing is shared."""
        n_read = len(prompt) * (1 if self._seq2seq else rows)
        self._work.prompt_tokens += n_read
        self._work.prompt_tokens_computed += n_read
        self._work.sampled_tokens += steps
        self._work.sampled_tokens_computed += steps


class _OneTokenDraw(LogitsProcessor):  # type: ignore[misc]
    """A processor that leaves one token per row.

    The token is drawn from the row's probabilities with the row's own generator.
    """

    def __init__(self, request: Request, rows: range, ends: _RowEnds):
        self._ends = ends
        self._generators = [
            np.random.default_rng([request.seed, request.first + row]) for row in rows
        ]

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        cumulative = torch.softmax(scores.double(), dim=-1).cumsum(dim=-1)
        total = cumulative[:, -1:].contiguous()
        if not bool(torch.isfinite(total).all()):
            raise ModelError(NO_NUMBERS)
        draws = np.array([[generator.random()] for generator in self._generators])
        sampled = torch.searchsorted(
            cumulative, torch.from_numpy(draws).to(cumulative.device) * total, right=True
        )
        # Rounding must not go past the last token.
        sampled = torch.minimum(sampled, torch.searchsorted(cumulative, total))
        for row in range(len(self._generators)):
            if (forced := self._ends.forced(row, input_ids.shape[1])) is not None:
                sampled[row] = forced
        return torch.full_like(scores, float("-inf")).scatter(-1, sampled, 0.0)


class _RowEnds(StoppingCriteria):  # type: ignore[misc]
    """The record of the end of each row.

    A row ends at a stop token, at the token limit, or when its stance is settled.
    """

    def __init__(
        self,
        begun: int,
        rows: int,
        most: int,
        stop: frozenset[int],
        settled: Decided | None,
        spell: Spell,
        rule: ThoughtRule | None = None,
    ) -> None:
        self._begun, self._most, self._stop, self._settled, self._spell = (
            begun,
            most,
            stop,
            settled,
            spell,
        )
        self.length = [-1] * rows
        "tokens of each answer, without the stop token, with -1 for unfinished ones"
        self.stopped, self.decided = [False] * rows, [False] * rows
        self._rule = rule
        self._before = [rule.start if rule else 0] * rows
        "tokens before each answer, see `ThoughtRule.after`"

    def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:  # noqa: ARG002
        for row, tokens in enumerate(input_ids[:, self._begun :].tolist()):
            if self.length[row] < 0:
                self._check_end(row, tokens)
        return torch.tensor([length >= 0 for length in self.length], device=input_ids.device)

    def forced(self, row: int, length: int) -> int | None:
        """Return the token that ends a row's thought.

        `length` is that of the row, with the prompt.
        """
        return self._rule.forced(self._before[row], length - self._begun) if self._rule else None

    def _check_end(self, row: int, tokens: Tokens) -> None:
        if self._rule is not None:
            self._before[row] = self._rule.after(self._before[row], tokens)
        n_before = self._before[row]
        if tokens[-1] in self._stop:
            self.length[row], self.stopped[row] = len(tokens) - 1, True
        elif n_before != WITHIN and len(tokens) - n_before >= self._most:
            self.length[row] = len(tokens)
        elif self._settled is not None and self._settled(self._spell(tokens)):
            self.length[row], self.decided[row] = len(tokens), True


def _processors(
    sampling: Sampling, request: Request, rows: range, ends: _RowEnds
) -> LogitsProcessorList:
    """Return the processors that turn logits into draws.

    They apply exactly the requested sampling, in transformers' order.
    """
    warpers: list[LogitsProcessor] = []
    if sampling.temperature != 1:
        warpers.append(TemperatureLogitsWarper(float(sampling.temperature)))
    if sampling.top_k:
        warpers.append(TopKLogitsWarper(sampling.top_k))
    if sampling.top_p < 1:
        warpers.append(TopPLogitsWarper(float(sampling.top_p)))
    return LogitsProcessorList([*warpers, _OneTokenDraw(request, rows, ends)])


def _bare_config(network: Any, most: int) -> GenerationConfig:
    """Return settings for `generate` without the model's defaults.

    Nobody chose its penalties, bans and nucleus here.

    `do_sample` is off because each row has one token left to choose when `generate` chooses.
    """
    defaults = network.generation_config
    return GenerationConfig(
        do_sample=False,
        max_new_tokens=most,
        bos_token_id=defaults.bos_token_id,
        decoder_start_token_id=defaults.decoder_start_token_id,
    )


def _decoder_begin(network: Any) -> list[int]:
    """Return the tokens that a decoder's text begins with.

    Raises ModelError if the model does not define them.
    """
    defaults = network.generation_config
    start = (
        defaults.decoder_start_token_id
        if defaults.decoder_start_token_id is not None
        else defaults.bos_token_id
    )
    if start is None:
        raise ModelError(
            "the encoder-decoder does not say with which token its answers begin; its "
            "generation_config.json needs a decoder_start_token_id"
        )
    forced = defaults.forced_bos_token_id
    return [int(start)] if forced is None else [int(start), int(forced)]


def _compute_rows(work: Callable[[range], list[T]], rows: range) -> list[T] | None:
    """Return the results of rows, or None if memory ran out.

    It is then freed before the next try.
    """
    try:
        with torch.inference_mode():
            return work(rows)
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        if len(rows) == 1:
            raise ModelError(
                f"not enough memory for one answer at a time ({str(error).splitlines()[0]}). "
                "Close other programs, ask "
                "shorter prompts, or load a smaller number format (--dtype) or model"
            ) from error
    return None
