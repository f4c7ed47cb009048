"""Sampling and scoring that compute the common parts of prompts and answers once.

Every distinct beginning of a prompt is computed once per job (`attention`), every distinct
beginning of an answer once for all samples that share it (`tree`), and requests start as others
end, so that passes stay full (`attention`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import torch

from workbench.domain.responses import Request, Sampling
from workbench.errors import ModelError
from workbench.inference.attention import (
    ATTENTION,
    ActiveSequence,
    Batch,
    OutOfOrder,
    Prefill,
    Read,
    SharedContext,
    windows,
)
from workbench.inference.base import Work
from workbench.inference.engines import Answers, Likeliest, Scores, Spell, ThoughtRule
from workbench.inference.local.network import window_of
from workbench.inference.memory import free_bytes, is_out_of_memory
from workbench.inference.nucleus import Table, check_numbers, masses, nucleus
from workbench.inference.tree import (
    Row,
    SampleTree,
    Tokens,
    common,
    distinct_beginnings,
    lexicographic,
)

WHOLE, SLIDING = "full_attention", "sliding_attention"
LAYERS = {WHOLE, SLIDING}
CHANGING_ROPE = {"dynamic", "longrope"}
"kinds of positions that depend on the longest sequence of a pass"
TOLERANCE = {torch.float32: 1e-3, torch.float64: 1e-6}
COARSE = 0.2
"""largest mean deviation in 16 bits that counts as rounding

SmolLM2 has 0.07 in bfloat16 and 0.16 for a single sequence, the same as from its own float32. If
positions are ignored it has 1.3.
"""


class Unshareable(Exception):
    """The shared engine cannot compute this network's attention.

    The message gives the reason.
    """


def share(network: Any) -> int:
    """Make a network's attention follow layouts.

    Return the bytes of one token's keys and values.

    Raises Unshareable, leaving the network unchanged, if results would differ from the network's
    own.
    """
    config = network.config.get_text_config()
    if network.config.is_encoder_decoder:
        raise Unshareable("it is an encoder-decoder")
    unknown_layers = set(getattr(config, "layer_types", None) or ()) - LAYERS
    if unknown_layers:
        raise Unshareable(f"it has layers of the kind {', '.join(sorted(unknown_layers))}")
    rope = getattr(config, "rope_parameters", None) or {}
    if CHANGING_ROPE & {
        str(parameters.get("rope_type"))
        for parameters in (rope, *rope.values())
        if isinstance(parameters, dict)
    }:
        raise Unshareable("its positions depend on the longest prompt of a pass")
    sequences = _sequences(config.vocab_size)
    with torch.inference_mode():
        own_logits = [
            network(input_ids=_row(sequence, network), use_cache=False).logits[0, -1].float()
            for sequence in sequences
        ]
        with _switched(network) as keep:
            shared_logits, token_bytes = _together(network, sequences)
            _check_windows(config)
            deviations = [
                float(
                    (own_logit - shared).norm()
                    / (own_logit - own_logit.mean()).norm().clamp_min(1e-30)
                )
                for own_logit, shared in zip(own_logits, shared_logits, strict=True)
            ]
            tolerance = TOLERANCE.get(network.dtype)
            deviation = sum(deviations) / len(deviations) if tolerance is None else max(deviations)
            if not deviation <= (tolerance or COARSE):
                raise Unshareable(f"its results would be off by {deviation:.1%}")
            keep()
    return token_bytes


def _check_windows(config: Any) -> None:
    """Raise Unshareable if layers do not state their own sliding windows.

    The few tokens of the comparison would not show it.
    """
    kinds, longest = set(getattr(config, "layer_types", None) or LAYERS), window_of(config).tokens
    mask_windows, layer_windows = (
        {_within(window, longest) for window in of_source} for of_source in windows()
    )
    expected = {
        window for window in mask_windows if (WHOLE if window is None else SLIDING) in kinds
    }
    if layer_windows != (expected or {None}):
        raise Unshareable("how far back its layers look is known to its masks alone")


def _within(window: int | None, longest: int | None) -> int | None:
    """Return a sliding window, or None if no prompt can be longer."""
    return None if window is None or (longest is not None and window >= longest) else window


def _sequences(vocabulary: int) -> list[Tokens]:
    """Return sequences with common beginnings. Two are read as a tree, each with one more token."""
    ids = torch.randint(
        min(5, vocabulary - 1), vocabulary, (24,), generator=torch.Generator().manual_seed(1)
    ).tolist()
    a, b = (*ids[:12], *ids[12:18]), (*ids[:12], *ids[18:22])
    return [a, b, (*a, ids[22]), (*b, ids[23]), (*b, ids[22])]


def _row(sequence: Tokens, network: Any) -> torch.Tensor:
    return torch.tensor([sequence], device=network.device)


@contextmanager
def _switched(network: Any) -> Iterator[Any]:
    """Replace the network's attention with ours, permanently if `keep` is called.

    Any failure with it is a reason not to share the network.
    """
    previous, confirmed = network.config._attn_implementation, []
    try:
        network.set_attn_implementation(ATTENTION)
        yield lambda: confirmed.append(True)
    except Unshareable:
        raise
    except OutOfOrder as error:
        raise Unshareable(f"its layers are not plain attention ({error})") from error
    except Exception as error:  # any error of a network that was not built for this
        raise Unshareable(
            f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        ) from error
    finally:
        if not confirmed:
            network.set_attn_implementation(previous)


def _together(network: Any, sequences: list[Tokens]) -> tuple[list[torch.Tensor], int]:
    """Return the engine's last logits of the sequences, and the bytes of a token."""
    a, longer = sequences[0], sequences[2:]
    prefill = Prefill(network, 4 * len(a))
    order = sorted(range(2), key=lambda number: sequences[number])
    read = prefill.read(
        [sequences[number] for number in order], [[len(sequences[number]) - 1] for number in order]
    )
    if not read.layout.held:
        raise Unshareable(f"the attention of {network.config.model_type} cannot be replaced")
    logits = [read.logits[order.index(number)].float() for number in range(2)]
    batch = Batch(network)
    stem = SharedContext(a[:12], read.pairs(0, 0, 12))
    for index, children in ((0, longer[:1]), (1, longer[1:])):
        tree = SampleTree(len(children), 0, frozenset(), 8)
        tree.rows = [
            Row(child[-1:], np.array([row_index]), 0) for row_index, child in enumerate(children)
        ]
        batch.seat(
            ActiveSequence(index, sequences[index], stem, tree), read.pairs(order.index(index), 12)
        )
    batch.make_room()
    logits += list(batch.logits(0, batch.rows, batch.table()).float())
    token_bytes = sum(
        tensor.shape[0] * tensor.shape[2] * tensor.element_size()
        for pair in stem.pairs
        for tensor in pair
    )
    return logits, token_bytes


CPU_ROWS, GPU_ROWS = 256, 2048
"most rows of a pass: more make a pass longer, not faster"
CPU_TOKENS, GPU_TOKENS = 256, 8192
"most prompt tokens of a pass: attention is computed for all pairs of them"
MEMORY_SHARE = 0.5
"share of the memory that is free when a call begins, for rows"
ALONE_ROWS, ALONE_TOKENS = 8, 64
"a prompt gets a stem for its own rows if it has this many rows, or this many unshared tokens"
AHEAD, LOST_TOKENS = 64, 32
"""prompts examined for a stem that more of them share

The second number is how many tokens shorter the stem may be for that.
"""
FIRST_SHARE = 8
"""divisor of the rows for the first requests on a CPU

So answers come before every prompt has been read.
"""
SETTLED_STEPS, RECENT = 6, 64
"tokens after which a request hardly splits further, and recent requests used to predict splitting"

Result = TypeVar("Result")


def shared_engine(network: Any, stop: frozenset[int], work: Work) -> SharedEngine:
    """Return the engine of a network.

    `stop` are the tokens that end an answer.

    Raises Unshareable, leaving the network unchanged, if results would differ from the network's
    own.
    """
    own_attention = network.config._attn_implementation
    return SharedEngine(network, stop, work, share(network), own_attention)


@dataclass(slots=True)
class SharedEngine:
    """A sampler and scorer with a causal language model whose attention follows a layout."""

    network: Any
    stop: frozenset[int]
    work: Work
    token_bytes: int
    "bytes of the keys and values of one token"
    usual: str
    "the network's own attention implementation, which is restored in the end"
    most: int | None = None
    "limit of parallel rows set by the user, or None for as many as memory allows"
    pass_rows: int = 0
    pass_tokens: int = 0
    should_stop: Callable[[], bool] = lambda: False
    "called before a step, to ask whether to end without the answers under way"

    def __post_init__(self) -> None:
        on_gpu = self.network.device.type == "cuda"
        self.pass_rows = GPU_ROWS if on_gpu else CPU_ROWS
        self.pass_tokens = GPU_TOKENS if on_gpu else CPU_TOKENS

    def heed(self, should_stop: Callable[[], bool]) -> None:
        """Set the function that is asked before each step whether to stop. See `Engine`."""
        self.should_stop = should_stop

    def at_once(self, most: int | None) -> None:
        """Limit the active rows, from the next step on. Samples of one prompt stay together."""
        self.most = most

    def close(self) -> None:
        if self.network is not None:
            self.network.set_attn_implementation(self.usual)
        self.network = None

    def sample(
        self,
        prompts: Sequence[Sequence[int]],
        requests: Sequence[Request],
        sampling: Sampling,
        spell: Spell,
        rules: Sequence[ThoughtRule] = (),
    ) -> Iterator[list[Answers]]:
        """Yield answers as they are complete.

        Raises ModelError if memory does not suffice for one prompt's answers.
        """
        sequences = [tuple(prompt) for prompt in prompts]
        drawing = _Drawing(
            self, sequences, requests, sampling, spell, deque(lexicographic(sequences)), rules
        )
        while (drawing.queue or drawing.batch.growing) and not self.should_stop():
            finished = drawing.advance()
            if finished:
                yield [
                    Answers(sequence.request, dict(sequence.tree.finished), sequence.tree.decided)
                    for sequence in finished
                ]

    def score(
        self,
        prompts: Sequence[Sequence[int]],
        ends: Sequence[Sequence[Sequence[int]]],
        after: Sequence[int] = (),
    ) -> Iterator[Scores]:
        """Yield the scores of each prompt's ends.

        Common beginnings of prompts and ends are computed once.
        """
        ends_by_sequence: dict[Tokens, list[tuple[int, int]]] = {}
        for prompt_index, (prompt, its) in enumerate(zip(prompts, ends, strict=True)):
            for end_index, end in enumerate(its):
                ends_by_sequence.setdefault((*prompt, *(end if after else end[:-1])), []).append(
                    (prompt_index, end_index)
                )
        after_ids = torch.tensor(list(after), dtype=torch.long, device=self.network.device)
        scores = [np.zeros(len(prompt_ends)) for prompt_ends in ends]
        n_remaining = [len(prompt_ends) for prompt_ends in ends]
        yield from (
            Scores(index, scores[index]) for index, n_ends in enumerate(n_remaining) if not n_ends
        )
        starts = {
            sequence: min(len(prompts[index]) for index, _ in positions) - 1
            for sequence, positions in ends_by_sequence.items()
        }
        for sequences, log in self._passes(sorted(ends_by_sequence), starts):
            offset = 0
            for sequence in sequences:
                first, stop = starts[sequence], offset + len(sequence) - starts[sequence]
                log_after = float(log[stop - 1, after_ids].double().logsumexp(0)) if after else 0.0
                for prompt_index, end_index in ends_by_sequence[sequence]:
                    end = torch.tensor(list(ends[prompt_index][end_index]), device=log.device)
                    its = log[offset + len(prompts[prompt_index]) - 1 - first :][: len(end)]
                    scores[prompt_index][end_index] = (
                        float(its.gather(1, end[:, None]).double().sum()) + log_after
                    )
                    n_remaining[prompt_index] -= 1
                    if not n_remaining[prompt_index]:
                        yield Scores(prompt_index, scores[prompt_index])
                offset = stop
        uncounted = 0 if after else 1
        self.work.prompt_tokens += sum(
            len(prompts[index]) + len(end) - uncounted
            for index, prompt_ends in enumerate(ends)
            for end in prompt_ends
        )

    def likeliest(
        self, prompts: Sequence[Sequence[int]], k: int, sets: Sequence[Sequence[int]] = ()
    ) -> Iterator[Likeliest]:
        """Yield the most likely next tokens of each prompt, and the probabilities of the sets."""
        indices_by_sequence: dict[Tokens, list[int]] = {}
        for index, prompt in enumerate(prompts):
            indices_by_sequence.setdefault(tuple(prompt), []).append(index)
        starts = {sequence: len(sequence) - 1 for sequence in indices_by_sequence}
        for sequences, log in self._passes(sorted(indices_by_sequence), starts):
            check_numbers(log[:, 0])
            top, tokens = log.topk(min(k, log.shape[-1]), dim=-1)
            logs, ids, set_masses = top.double().cpu().numpy(), tokens.tolist(), masses(log, sets)
            for row, sequence in enumerate(sequences):
                yield from (
                    Likeliest(prompt_index, tuple(ids[row]), logs[row], set_masses[row])
                    for prompt_index in indices_by_sequence[sequence]
                )
        self.work.prompt_tokens += sum(map(len, prompts))

    def _passes(
        self, sequences: list[Tokens], starts: dict[Tokens, int]
    ) -> Iterator[tuple[Sequence[Tokens], torch.Tensor]]:
        """Compute sequences in passes.

        Yield them with their log-probabilities from their starts on.
        """
        prefill = Prefill(self.network, self.pass_tokens)
        while sequences:
            computed = self._attempt(lambda: self._next_pass(prefill, sequences, starts), prefill)
            if computed is not None:
                del sequences[: len(computed[0])]
                yield computed
        self.work.prompt_tokens_computed += prefill.computed

    @torch.inference_mode()
    def _next_pass(
        self, prefill: Prefill, sequences: list[Tokens], starts: dict[Tokens, int]
    ) -> tuple[Sequence[Tokens], torch.Tensor]:
        n_sequences, n_logits = 0, 0
        while n_sequences < len(sequences) and (not n_sequences or n_logits < self.pass_rows):
            n_logits += len(sequences[n_sequences]) - starts[sequences[n_sequences]]
            n_sequences += 1
        selected = sequences[: prefill.take(sequences, n_sequences)]
        read = prefill.read(
            selected, [range(starts[sequence], len(sequence)) for sequence in selected]
        )
        return selected, torch.log_softmax(read.logits.float(), dim=-1)

    def _attempt(self, compute: Callable[[], Result], prefill: Prefill) -> Result | None:
        """Return the result of `compute`, or None after making passes smaller, if memory runs out.

        The caller then tries again.

        Raises ModelError if they cannot be smaller.
        """
        try:
            return compute()
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            prefill.forget()
            self.free()
            if self.pass_tokens <= 16 and self.pass_rows == 1:
                raise no_memory(self.network) from error
            self.pass_tokens = max(16, self.pass_tokens // 2)
            self.pass_rows = max(1, self.pass_rows // 2)
            prefill.most_tokens = self.pass_tokens
            return None

    def free(self) -> None:
        """Free memory that torch caches."""
        if self.network.device.type == "cuda":
            torch.cuda.empty_cache()


@dataclass(slots=True)
class _Drawing:
    """One call of `sample`."""

    engine: SharedEngine
    prompts: list[Tokens]
    requests: Sequence[Request]
    sampling: Sampling
    spell: Spell
    queue: deque[int]
    "requests that have not started, in the order of their prompts"
    rules: Sequence[ThoughtRule] = ()
    prefill: Prefill = field(init=False)
    batch: Batch = field(init=False)
    stems: list[SharedContext] = field(default_factory=list)
    recent: deque[int] = field(default_factory=lambda: deque(maxlen=RECENT))
    "largest numbers of rows of finished requests"
    left: set[int] = field(init=False)
    "unfinished requests"
    done: list[ActiveSequence] = field(default_factory=list)
    "finished requests that were not yielded yet"
    memory_rows: int = 0
    "estimated number of rows that fit in memory"

    def __post_init__(self) -> None:
        engine = self.engine
        self.left = set(self.queue)
        self.prefill = Prefill(engine.network, engine.pass_tokens)
        self.batch = Batch(engine.network)
        row_tokens = held_tokens(self.prompts) + self.sampling.most_tokens
        logit_bytes = 12 * engine.network.config.get_text_config().vocab_size
        free = MEMORY_SHARE * free_bytes(engine.network.device)
        self.memory_rows = max(1, int(free // (row_tokens * engine.token_bytes + logit_bytes)))

    @property
    def most_rows(self) -> int:
        return max(
            1,
            min(self.engine.pass_rows, self.memory_rows, self.engine.most or self.engine.pass_rows),
        )

    def advance(self) -> list[ActiveSequence]:
        """Start requests that there is room for and take one step. Return the finished requests.

        If memory runs out, finished requests are returned and the others start again.
        """
        try:
            self._admit()
            self._step()
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            self._start_over(error)
        finished, self.done = self.done, []
        return finished

    def _end(self, one: ActiveSequence) -> None:
        """Mark a request as finished."""
        self.left.remove(one.request)
        self.recent.append(one.most or len(one.tree.finished))
        self.done.append(one)

    def _start_over(self, error: BaseException) -> None:
        """Restart all active requests with fewer rows. The same seeds give the same answers."""
        growing, rows = self.batch.growing, self.batch.rows
        if len(growing) <= 1 and self.most_rows == 1 and self.engine.pass_tokens <= 16:
            raise no_memory(self.engine.network) from error
        self.queue = deque(sorted(self.left, key=lambda request: self.prompts[request]))
        self.memory_rows = max(1, min(self.most_rows, rows or self.most_rows) // 2)
        self.engine.pass_tokens = max(16, self.engine.pass_tokens // 2)
        self.batch, self.stems = Batch(self.engine.network), []
        self.prefill.forget()
        self.prefill.most_tokens = self.engine.pass_tokens
        self.engine.free()

    @torch.inference_mode()
    def _admit(self) -> None:
        """Start requests while there is room for their rows."""
        while self.queue:
            room = self._room()
            if not room:
                break
            next_requests = [
                self.queue[position] for position in range(min(len(self.queue), room + AHEAD))
            ]
            sequences = [self.prompts[request] for request in next_requests]
            n_read = self.prefill.take(sequences, room)
            computed_before = self.prefill.computed
            read = self.prefill.read(
                sequences[:n_read], [[len(sequence) - 1] for sequence in sequences[:n_read]]
            )
            self.engine.work.prompt_tokens += sum(map(len, sequences[:n_read]))
            self.engine.work.prompt_tokens_computed += self.prefill.computed - computed_before
            self._begin(next_requests[:n_read], read, sequences[n_read:])
            for _ in range(n_read):
                self.queue.popleft()

    def _room(self) -> int:
        """Return the number of requests to start now.

        A few are not worth a pass while others are active.
        """
        max_rows, expected = self.most_rows, self._expected()
        has_many = len(self.queue) * expected > max_rows
        if has_many and not self.recent and self.engine.network.device.type == "cpu":
            max_rows = max(1, max_rows // FIRST_SHARE)
        if not self.batch.growing:
            return max(1, int(max_rows / expected))
        load = sum(
            len(sequence.tree.rows)
            if len(sequence.tree.rows[0].tokens) >= SETTLED_STEPS
            else max(expected, len(sequence.tree.rows))
            for sequence in self.batch.growing
        )
        return (
            int((max_rows - load) / expected)
            if max_rows - load >= max(max_rows / 4, expected)
            else 0
        )

    def _expected(self) -> float:
        """Return the expected number of rows of a request, based on earlier requests."""
        row_counts = [*self.recent]
        row_counts += [
            sequence.most
            for sequence in self.batch.growing
            if len(sequence.tree.rows[0].tokens) >= SETTLED_STEPS
        ]
        return (
            float(np.mean(row_counts))
            if len(row_counts) >= 4
            else float(max(request.n for request in self.requests))
        )

    def _begin(self, chosen: list[int], read: Read, ahead: list[Tokens]) -> None:
        """Draw the first tokens of requests whose prompts were read, and seat their rows.

        Some requests end with that token.
        """
        tokens, probabilities = nucleus(read.logits, self.sampling)
        has_own_stems = self._expected() >= ALONE_ROWS
        stem = None if has_own_stems else self._stem(read, ahead)
        started = []
        for index, request in enumerate(chosen):
            tree = self._tree(request)
            tree.grow(tokens[index : index + 1], probabilities[index : index + 1])
            prompt = read.sequences[index]
            own_stem = stem
            if tree.rows and (
                own_stem is None or len(prompt) - len(own_stem.tokens) > ALONE_TOKENS
            ):
                own_stem = SharedContext(prompt, read.pairs(index))
            sequence = ActiveSequence(request, prompt, own_stem or SharedContext(prompt, []), tree)
            started.append((sequence, index))
        for sequence, index in started:
            if sequence.tree.rows:
                self.batch.seat(
                    sequence, read.pairs(index, len(sequence.stem.tokens)) if sequence.own else []
                )
            else:
                self._end(sequence)

    def _tree(self, place: int) -> SampleTree:
        request, spell = self.requests[place], self.spell
        is_decided, rule = request.decided, self.rules[place] if self.rules else None
        decides = None if is_decided is None else lambda answer: is_decided(spell(answer))
        max_tokens, stop = self.sampling.max_new_tokens, self.engine.stop
        return SampleTree(
            request.n, request.seed, stop, max_tokens, decides, rule, first=request.first
        )

    def _stem(self, read: Read, ahead: list[Tokens]) -> SharedContext:
        """Return the stem of these prompts: an existing one, or one for later prompts too."""
        first = read.sequences[0]
        n_common = common(first, read.sequences[-1])
        for sequence in ahead:
            n_shared = common(first, sequence)
            if n_common - n_shared > LOST_TOKENS:
                break
            n_common = min(n_common, n_shared)
        self.stems = [stem for stem in self.stems if stem.users or stem is self.stems[-1]]
        for stem in self.stems:
            n_tokens = len(stem.tokens)
            if 0 <= n_common - n_tokens <= LOST_TOKENS and first[:n_tokens] == stem.tokens:
                return stem
        self.stems.append(SharedContext(first[:n_common], read.pairs(0, 0, n_common)))
        return self.stems[-1]

    @torch.inference_mode()
    def _step(self) -> None:
        """Extend every row by a token. Requests without rows have ended."""
        batch, work = self.batch, self.engine.work
        if not batch.growing:
            return
        batch.make_room()
        tokens, probabilities = self._choices()
        work.sampled_tokens += sum(
            row.count for active in batch.growing for row in active.tree.rows
        )
        work.sampled_tokens_computed += batch.rows
        for sequence in batch.growing:
            sequence.tree.grow(tokens[sequence.seats], probabilities[sequence.seats])
            if not sequence.tree.rows:
                self._end(sequence)
        batch.reseat()

    def _choices(self) -> Table:
        """Return the possible next tokens of each seat, in as many passes as needed."""
        table, parts, first = self.batch.table(), [], 0
        while first < self.batch.rows:
            stop = min(self.batch.rows, first + self.most_rows)
            try:
                parts.append(nucleus(self.batch.logits(first, stop, table), self.sampling))
                first = stop
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error) or stop - first == 1:
                    raise
                self.memory_rows = (stop - first) // 2
                self.engine.free()
        return _joined(parts)


def held_tokens(prompts: Sequence[Tokens]) -> int:
    """Return the estimated number of its prompt's tokens that a row holds in memory.

    It counts on many active rows.

    Prompts that share little are held completely, in the worst case for one row each. Otherwise a
    row holds its unshared tokens, or its part of a prompt that many rows share.
    """
    mean_length = sum(map(len, prompts)) / max(1, len(prompts))
    mean_distinct = distinct_beginnings(prompts) / max(1, len(prompts))
    return round(
        max(ALONE_TOKENS, mean_length if mean_distinct > ALONE_TOKENS else mean_length / ALONE_ROWS)
    )


def _joined(parts: list[Table]) -> Table:
    if len(parts) == 1:
        return parts[0]
    width = max(tokens.shape[1] for tokens, _ in parts)
    padded_parts = [
        [np.pad(array, ((0, 0), (0, width - array.shape[1]))) for array in arrays]
        for arrays in parts
    ]
    return np.concatenate([arrays[0] for arrays in padded_parts]), np.concatenate(
        [arrays[1] for arrays in padded_parts]
    )


def no_memory(network: Any) -> ModelError:
    """Return the error of a network that cannot answer even one prompt here."""
    return ModelError(
        f"not enough memory on {network.device} for one prompt and one answer of this model. Free "
        "some, use a smaller dtype (--dtype bfloat16), or another machine"
    )
