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
from itertools import chain
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from workbench.domain.responses import Request, Sampling
from workbench.errors import ModelError
from workbench.inference.attention import (
    ATTENTION,
    ActiveRows,
    ActiveSequence,
    ComputedSequences,
    OutOfOrder,
    Prefill,
    SharedContext,
    last_windows,
)
from workbench.inference.base import Work
from workbench.inference.engines import EndScores, LikelyTokens, SampledAnswers, Spell, ThoughtRule
from workbench.inference.local.network import window_of
from workbench.inference.memory import free_bytes, is_out_of_memory
from workbench.inference.nucleus import TokenProbabilities, check_numbers, masses, nucleus
from workbench.inference.tree import (
    SampleTree,
    Tokens,
    TreeRow,
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
    _check_kind(network, config)
    sequences = _trial_sequences(config.vocab_size)
    with torch.inference_mode():
        own_logits = [_own_logits(network, sequence) for sequence in sequences]
        with _trial_of_attention(network) as keep:
            shared_logits, token_bytes = _shared_logits(network, sequences)
            _check_windows(config)
            _check_deviation(own_logits, shared_logits, network.dtype)
            keep()
    return token_bytes


def _check_kind(network: Any, config: Any) -> None:
    """Raise Unshareable if the configuration shows that the network cannot be shared."""
    if network.config.is_encoder_decoder:
        raise Unshareable("it is an encoder-decoder")
    unknown_layers = set(getattr(config, "layer_types", None) or ()) - LAYERS
    if unknown_layers:
        raise Unshareable(f"it has layers of the kind {', '.join(sorted(unknown_layers))}")
    rope = getattr(config, "rope_parameters", None) or {}
    # Networks with several kinds of layers have parameters for each kind.
    rope_types = {
        str(parameters.get("rope_type"))
        for parameters in (rope, *rope.values())
        if isinstance(parameters, dict)
    }
    if CHANGING_ROPE & rope_types:
        raise Unshareable("its positions depend on the longest prompt of a pass")


def _own_logits(network: Any, sequence: Tokens) -> torch.Tensor:
    """Return the logits after a sequence, computed with the network's own attention."""
    input_ids = torch.tensor([sequence], device=network.device)
    logits: torch.Tensor = network(input_ids=input_ids, use_cache=False).logits[0, -1].float()
    return logits


def _check_deviation(
    own_logits: Sequence[torch.Tensor], shared_logits: Sequence[torch.Tensor], dtype: torch.dtype
) -> None:
    """Raise Unshareable if the engine's logits differ from the network's own by more than rounding.

    In 16 bits the mean deviation of the sequences counts, otherwise the largest one.
    """
    deviations = [
        _relative_deviation(own, shared)
        for own, shared in zip(own_logits, shared_logits, strict=True)
    ]
    tolerance = TOLERANCE.get(dtype)
    if tolerance is None:
        tolerance = COARSE
        deviation = sum(deviations) / len(deviations)
    else:
        deviation = max(deviations)
    if not deviation <= tolerance:  # NaN is an error, too
        raise Unshareable(f"its results would be off by {deviation:.1%}")


def _relative_deviation(own: torch.Tensor, shared: torch.Tensor) -> float:
    """Return the distance of two vectors of logits, as a share of the spread of the first."""
    spread = (own - own.mean()).norm().clamp_min(1e-30)
    return float((own - shared).norm() / spread)


def _check_windows(config: Any) -> None:
    """Raise Unshareable if layers do not state their own sliding windows.

    The few tokens of the comparison would not show it.
    """
    kinds = set(getattr(config, "layer_types", None) or LAYERS)
    longest = window_of(config).tokens
    mask_windows, layer_windows = last_windows()
    expected = set()
    for window in mask_windows:
        effective = _effective_window(window, longest)
        if (WHOLE if effective is None else SLIDING) in kinds:
            expected.add(effective)
    if {_effective_window(window, longest) for window in layer_windows} != (expected or {None}):
        raise Unshareable("how far back its layers look is known to its masks alone")


def _effective_window(window: int | None, longest: int | None) -> int | None:
    """Return a sliding window, or None if no prompt can be longer."""
    if window is None:
        return None
    if longest is not None and window >= longest:
        return None
    return window


def _trial_sequences(vocabulary: int) -> list[Tokens]:
    """Return sequences with common beginnings.

    The first two are read as a tree. The others continue one of them by a token.
    """
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(min(5, vocabulary - 1), vocabulary, (24,), generator=generator).tolist()
    left = (*ids[:12], *ids[12:18])
    right = (*ids[:12], *ids[18:22])
    return [left, right, (*left, ids[22]), (*right, ids[23]), (*right, ids[22])]


@contextmanager
def _trial_of_attention(network: Any) -> Iterator[Callable[[], None]]:
    """Replace the network's attention with ours, permanently if the yielded function is called.

    Any failure with it is a reason not to share the network.
    """
    previous = network.config._attn_implementation
    is_kept = False

    def keep() -> None:
        nonlocal is_kept
        is_kept = True

    try:
        network.set_attn_implementation(ATTENTION)
        yield keep
    except Unshareable:
        raise
    except OutOfOrder as error:
        raise Unshareable(f"its layers are not plain attention ({error})") from error
    except Exception as error:  # any error of a network that was not built for this
        first_line = str(error).splitlines()[0] if str(error) else ""
        raise Unshareable(f"{type(error).__name__}: {first_line}") from error
    finally:
        if not is_kept:
            network.set_attn_implementation(previous)


def _shared_logits(network: Any, sequences: list[Tokens]) -> tuple[list[torch.Tensor], int]:
    """Return the engine's last logits of the trial sequences, and the bytes of a token."""
    prompts = sequences[:2]
    longer = sequences[2:]
    n_common = 12
    prefill = Prefill(network, 4 * len(prompts[0]))
    order = lexicographic(prompts)
    read = prefill.read(
        [prompts[index] for index in order], [[len(prompts[index]) - 1] for index in order]
    )
    if not read.layout.held:
        raise Unshareable(f"the attention of {network.config.model_type} cannot be replaced")
    logits = [read.logits[order.index(index)].float() for index in range(2)]
    batch = ActiveRows(network)
    stem = SharedContext(prompts[0][:n_common], read.pairs(0, 0, n_common))
    for index, children in ((0, longer[:1]), (1, longer[1:])):
        tree = SampleTree(len(children), 0, frozenset(), 8)
        tree.rows = [
            TreeRow(child[-1:], np.array([row_index]), 0)
            for row_index, child in enumerate(children)
        ]
        sequence = ActiveSequence(index, prompts[index], stem, tree)
        batch.seat(sequence, read.pairs(order.index(index), n_common))
    batch.make_room()
    logits += list(batch.logits(0, batch.rows, batch.table()).float())
    return logits, _token_bytes(stem)


def _token_bytes(stem: SharedContext) -> int:
    """Return the bytes of the keys and values of one token, over all layers."""
    tensors = chain.from_iterable(stem.pairs)
    return sum(tensor.shape[0] * tensor.shape[2] * tensor.element_size() for tensor in tensors)


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
    own_attention: str
    "the network's attention implementation, which is restored in the end"
    max_rows: int | None = None
    "limit of parallel rows set by the user, or None for as many as memory allows"
    pass_rows: int = 0
    pass_tokens: int = 0
    should_stop: Callable[[], bool] = lambda: False
    "called before a step, to ask whether to end without the answers under way"

    def __post_init__(self) -> None:
        on_gpu = self.network.device.type == "cuda"
        self.pass_rows = GPU_ROWS if on_gpu else CPU_ROWS
        self.pass_tokens = GPU_TOKENS if on_gpu else CPU_TOKENS

    def stop_when(self, should_stop: Callable[[], bool]) -> None:
        """Set the function that is asked before each step whether to stop. See `Engine`."""
        self.should_stop = should_stop

    def limit_parallel(self, most: int | None) -> None:
        """Limit the active rows, from the next step on. Samples of one prompt stay together."""
        self.max_rows = most

    def close(self) -> None:
        if self.network is not None:
            self.network.set_attn_implementation(self.own_attention)
        self.network = None

    def sample(
        self,
        prompts: Sequence[Sequence[int]],
        requests: Sequence[Request],
        sampling: Sampling,
        spell: Spell,
        rules: Sequence[ThoughtRule] = (),
    ) -> Iterator[list[SampledAnswers]]:
        """Yield answers as they are complete.

        Raises ModelError if memory does not suffice for one prompt's answers.
        """
        sequences = [tuple(prompt) for prompt in prompts]
        queue = deque(lexicographic(sequences))
        call = _SamplingCall(self, sequences, requests, sampling, spell, queue, rules)
        while call.is_unfinished and not self.should_stop():
            finished = call.advance()
            if finished:
                yield [
                    SampledAnswers(
                        sequence.request, dict(sequence.tree.finished), sequence.tree.decided
                    )
                    for sequence in finished
                ]

    def score(
        self,
        prompts: Sequence[Sequence[int]],
        ends: Sequence[Sequence[Sequence[int]]],
        after: Sequence[int] = (),
    ) -> Iterator[EndScores]:
        """Yield the scores of each prompt's ends.

        Common beginnings of prompts and ends are computed once.
        """
        call = _ScoringCall(prompts, ends, after, self.network.device)
        yield from call.scores_without_ends()
        for sequences, log_probabilities in self._passes(sorted(call.starts), call.starts):
            yield from call.scores_of_pass(sequences, log_probabilities)
        # The last token of an end is not computed if nothing has to follow it.
        uncounted = 0 if after else 1
        for prompt, prompt_ends in zip(prompts, ends, strict=True):
            self.work.prompt_tokens += sum(
                len(prompt) + len(end) - uncounted for end in prompt_ends
            )

    def likeliest(
        self, prompts: Sequence[Sequence[int]], k: int, sets: Sequence[Sequence[int]] = ()
    ) -> Iterator[LikelyTokens]:
        """Yield the most likely next tokens of each prompt, and the probabilities of the sets."""
        indices_by_sequence: dict[Tokens, list[int]] = {}
        for index, prompt in enumerate(prompts):
            indices_by_sequence.setdefault(tuple(prompt), []).append(index)
        starts = {sequence: len(sequence) - 1 for sequence in indices_by_sequence}
        for sequences, log in self._passes(sorted(indices_by_sequence), starts):
            check_numbers(log[:, 0])
            top, top_tokens = log.topk(min(k, log.shape[-1]), dim=-1)
            logs = top.double().cpu().numpy()
            tokens = top_tokens.tolist()
            set_masses = masses(log, sets)
            for row, sequence in enumerate(sequences):
                for prompt_index in indices_by_sequence[sequence]:
                    yield LikelyTokens(prompt_index, tuple(tokens[row]), logs[row], set_masses[row])
        self.work.prompt_tokens += sum(map(len, prompts))

    def _passes(
        self, sequences: list[Tokens], starts: dict[Tokens, int]
    ) -> Iterator[tuple[Sequence[Tokens], torch.Tensor]]:
        """Compute sequences in passes.

        Yield them with their log-probabilities from their starts on. The list is emptied.
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
        """Compute as many of the next sequences as fit in one pass.

        Return them, with their log-probabilities from their starts on.
        """
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


class _ScoringCall:
    """One call of `score`: the sequences to compute, and the scores so far."""

    def __init__(
        self,
        prompts: Sequence[Sequence[int]],
        ends: Sequence[Sequence[Sequence[int]]],
        after: Sequence[int],
        device: torch.device,
    ):
        self._prompts = prompts
        self._ends = ends
        self._has_after = bool(after)
        self._after = torch.tensor(list(after), dtype=torch.long, device=device)
        self._scores = [np.zeros(len(prompt_ends)) for prompt_ends in ends]
        self._n_remaining = [len(prompt_ends) for prompt_ends in ends]
        self._indices = self._indices_by_sequence()
        self.starts = {
            sequence: min(len(prompts[prompt_index]) for prompt_index, _ in indices) - 1
            for sequence, indices in self._indices.items()
        }
        "the first position of each sequence after which probabilities are needed"

    def _indices_by_sequence(self) -> dict[Tokens, list[tuple[int, int]]]:
        """Return the (index of the prompt, index of its end) that each sequence stands for.

        Different prompts may have the same sequence. An end's last token is only computed if one of
        the tokens `after` has to follow it.
        """
        indices_by_sequence: dict[Tokens, list[tuple[int, int]]] = {}
        for prompt_index, (prompt, prompt_ends) in enumerate(
            zip(self._prompts, self._ends, strict=True)
        ):
            for end_index, end in enumerate(prompt_ends):
                sequence = (*prompt, *(end if self._has_after else end[:-1]))
                indices_by_sequence.setdefault(sequence, []).append((prompt_index, end_index))
        return indices_by_sequence

    def scores_without_ends(self) -> Iterator[EndScores]:
        """Yield the empty scores of prompts without ends."""
        for prompt_index, n_ends in enumerate(self._n_remaining):
            if not n_ends:
                yield EndScores(prompt_index, self._scores[prompt_index])

    def scores_of_pass(
        self, sequences: Sequence[Tokens], log_probabilities: torch.Tensor
    ) -> Iterator[EndScores]:
        """Yield the scores of the prompts that a pass completes.

        The log-probabilities (tokens, vocabulary) are those of all sequences, one after the other,
        each from its start on.
        """
        first_row = 0
        for sequence in sequences:
            stop_row = first_row + len(sequence) - self.starts[sequence]
            rows = log_probabilities[first_row:stop_row]
            first_row = stop_row
            log_after = self._log_after(rows[-1])
            for prompt_index, end_index in self._indices[sequence]:
                end_rows = rows[len(self._prompts[prompt_index]) - 1 - self.starts[sequence] :]
                log_end = _log_probability(self._ends[prompt_index][end_index], end_rows)
                self._scores[prompt_index][end_index] = log_end + log_after
                self._n_remaining[prompt_index] -= 1
                if not self._n_remaining[prompt_index]:
                    yield EndScores(prompt_index, self._scores[prompt_index])

    def _log_after(self, last_row: torch.Tensor) -> float:
        """Return the log-probability that one of the tokens `after` follows, or 0 without them."""
        if not self._has_after:
            return 0.0
        return float(last_row[self._after].double().logsumexp(0))


def _log_probability(tokens: Sequence[int], log_probabilities: torch.Tensor) -> float:
    """Return the log-probability of tokens, of which the first row predicts the first one."""
    indices = torch.tensor(list(tokens), device=log_probabilities.device)
    token_rows = log_probabilities[: len(indices)]
    return float(token_rows.gather(1, indices[:, None]).double().sum())


@dataclass(slots=True)
class _SamplingCall:
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
    batch: ActiveRows = field(init=False)
    stems: list[SharedContext] = field(default_factory=list)
    recent: deque[int] = field(default_factory=lambda: deque(maxlen=RECENT))
    "largest numbers of rows of finished requests"
    unfinished: set[int] = field(init=False)
    "unfinished requests"
    finished: list[ActiveSequence] = field(default_factory=list)
    "finished requests that were not yielded yet"
    memory_rows: int = 0
    "estimated number of rows that fit in memory"

    def __post_init__(self) -> None:
        engine = self.engine
        self.unfinished = set(self.queue)
        self.prefill = Prefill(engine.network, engine.pass_tokens)
        self.batch = ActiveRows(engine.network)
        row_tokens = held_tokens(self.prompts) + self.sampling.most_tokens
        logit_bytes = 12 * engine.network.config.get_text_config().vocab_size
        free = MEMORY_SHARE * free_bytes(engine.network.device)
        self.memory_rows = max(1, int(free // (row_tokens * engine.token_bytes + logit_bytes)))

    @property
    def most_rows(self) -> int:
        """The largest number of rows of the next pass."""
        user_limit = self.engine.max_rows or self.engine.pass_rows
        return max(1, min(self.engine.pass_rows, self.memory_rows, user_limit))

    @property
    def is_unfinished(self) -> bool:
        """Whether requests wait or are active."""
        return bool(self.queue or self.batch.growing)

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
        finished, self.finished = self.finished, []
        return finished

    def _finish(self, sequence: ActiveSequence) -> None:
        """Mark a request as finished."""
        self.unfinished.remove(sequence.request)
        self.recent.append(sequence.most or len(sequence.tree.finished))
        self.finished.append(sequence)

    def _start_over(self, error: BaseException) -> None:
        """Restart all active requests with fewer rows. The same seeds give the same answers."""
        growing, rows = self.batch.growing, self.batch.rows
        if len(growing) <= 1 and self.most_rows == 1 and self.engine.pass_tokens <= 16:
            raise no_memory(self.engine.network) from error
        self.queue = deque(sorted(self.unfinished, key=lambda request: self.prompts[request]))
        self.memory_rows = max(1, min(self.most_rows, rows or self.most_rows) // 2)
        self.engine.pass_tokens = max(16, self.engine.pass_tokens // 2)
        self.batch, self.stems = ActiveRows(self.engine.network), []
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
            n_examined = min(len(self.queue), room + AHEAD)
            next_requests = [self.queue[position] for position in range(n_examined)]
            sequences = [self.prompts[request] for request in next_requests]
            n_read = self.prefill.take(sequences, room)
            read = self._read(sequences[:n_read])
            self._begin(next_requests[:n_read], read, sequences[n_read:])
            for _ in range(n_read):
                self.queue.popleft()

    def _read(self, sequences: Sequence[Tokens]) -> ComputedSequences:
        """Compute prompts and the logits after them, and count the work."""
        computed_before = self.prefill.computed
        read = self.prefill.read(sequences, [[len(sequence) - 1] for sequence in sequences])
        work = self.engine.work
        work.prompt_tokens += sum(map(len, sequences))
        work.prompt_tokens_computed += self.prefill.computed - computed_before
        return read

    def _room(self) -> int:
        """Return the number of requests to start now.

        A few are not worth a pass while others are active.
        """
        max_rows = self.most_rows
        expected = self._expected_rows()
        has_many = len(self.queue) * expected > max_rows
        if has_many and not self.recent and self.engine.network.device.type == "cpu":
            max_rows = max(1, max_rows // FIRST_SHARE)
        if not self.batch.growing:
            return max(1, int(max_rows / expected))
        free_rows = max_rows - self._active_rows(expected)
        if free_rows < max(max_rows / 4, expected):
            return 0
        return int(free_rows / expected)

    def _active_rows(self, expected: float) -> float:
        """Return the number of rows of the active requests, as it will be once they have split."""
        n_rows: float = 0
        for sequence in self.batch.growing:
            rows = sequence.tree.rows
            n_rows += len(rows) if _has_split(sequence) else max(expected, len(rows))
        return n_rows

    def _expected_rows(self) -> float:
        """Return the expected number of rows of a request, based on earlier requests."""
        row_counts = [*self.recent]
        row_counts += [sequence.most for sequence in self.batch.growing if _has_split(sequence)]
        if len(row_counts) < 4:
            return float(max(request.n for request in self.requests))
        return float(np.mean(row_counts))

    def _begin(self, requests: list[int], read: ComputedSequences, ahead: list[Tokens]) -> None:
        """Draw the first tokens of requests whose prompts were read, and seat their rows.

        Some requests end with that token. `ahead` are the next prompts.
        """
        tokens, probabilities = nucleus(read.logits, self.sampling)
        has_own_stems = self._expected_rows() >= ALONE_ROWS
        shared_stem = None if has_own_stems else self._shared_stem(read, ahead)
        sequences = []
        for index, request in enumerate(requests):
            tree = self._tree(request)
            tree.grow(tokens[index : index + 1], probabilities[index : index + 1])
            stem = self._stem_of(read, index, shared_stem, needed=bool(tree.rows))
            sequences.append(ActiveSequence(request, read.sequences[index], stem, tree))
        # No request is active before all trees have grown.
        for index, sequence in enumerate(sequences):
            if not sequence.tree.rows:
                self._finish(sequence)
                continue
            pairs = read.pairs(index, len(sequence.stem.tokens)) if sequence.own else []
            self.batch.seat(sequence, pairs)

    @staticmethod
    def _stem_of(
        read: ComputedSequences, index: int, shared_stem: SharedContext | None, *, needed: bool
    ) -> SharedContext:
        """Return the shared stem, or a separate one if there is none or the prompt is much longer.

        Without rows a stem is not needed, and a new one is empty.
        """
        prompt = read.sequences[index]
        if not needed:
            return shared_stem or SharedContext(prompt, [])
        if shared_stem is None or len(prompt) - len(shared_stem.tokens) > ALONE_TOKENS:
            return SharedContext(prompt, read.pairs(index))
        return shared_stem

    def _tree(self, request_index: int) -> SampleTree:
        """Return the tree of a request's samples, without any token."""
        request = self.requests[request_index]
        settled = None
        if request.decided is not None:
            settled = _rule_on_tokens(request.decided, self.spell)
        return SampleTree(
            request.n,
            request.seed,
            self.engine.stop,
            self.sampling.max_new_tokens,
            settled=settled,
            rule=self.rules[request_index] if self.rules else None,
            first=request.first,
        )

    def _shared_stem(self, read: ComputedSequences, ahead: list[Tokens]) -> SharedContext:
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
        tokens, probabilities = self._next_tokens()
        for sequence in batch.growing:
            work.sampled_tokens += sum(row.count for row in sequence.tree.rows)
        work.sampled_tokens_computed += batch.rows
        for sequence in batch.growing:
            sequence.tree.grow(tokens[sequence.seats], probabilities[sequence.seats])
            if not sequence.tree.rows:
                self._finish(sequence)
        batch.reseat()

    def _next_tokens(self) -> TokenProbabilities:
        """Return the possible next tokens of each seat, computed in as many passes as needed."""
        table = self.batch.table()
        parts: list[TokenProbabilities] = []
        first = 0
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


def _rule_on_tokens(is_decided: Callable[[str], bool], spell: Spell) -> Callable[[Tokens], bool]:
    """Return a function that tells of an answer's tokens whether their text is decided."""

    def is_decided_by_tokens(tokens: Tokens) -> bool:
        return is_decided(spell(tokens))

    return is_decided_by_tokens


def _has_split(sequence: ActiveSequence) -> bool:
    """Return whether the samples of a request will hardly split further."""
    return len(sequence.tree.rows[0].tokens) >= SETTLED_STEPS


def held_tokens(prompts: Sequence[Tokens]) -> int:
    """Return the estimated number of its prompt's tokens that a row holds in memory.

    It counts on many active rows.

    Prompts that share little are held completely, in the worst case for one row each. Otherwise a
    row holds its unshared tokens, or its part of a prompt that many rows share.
    """
    n_prompts = max(1, len(prompts))
    mean_length = sum(map(len, prompts)) / n_prompts
    mean_distinct = distinct_beginnings(prompts) / n_prompts
    if mean_distinct <= ALONE_TOKENS:
        mean_length /= ALONE_ROWS
    return round(max(ALONE_TOKENS, mean_length))


def _joined(parts: list[TokenProbabilities]) -> TokenProbabilities:
    """Return the possible next tokens of all parts, padded to the width of the widest part."""
    if len(parts) == 1:
        return parts[0]
    width = max(tokens.shape[1] for tokens, _ in parts)
    return (
        np.concatenate([_widened(tokens, width) for tokens, _ in parts]),
        np.concatenate([_widened(probabilities, width) for _, probabilities in parts]),
    )


def _widened(array: NDArray[Any], width: int) -> NDArray[Any]:
    """Return an array (rows, columns) with zeros up to a width."""
    return np.pad(array, ((0, 0), (0, width - array.shape[1])))


def no_memory(network: Any) -> ModelError:
    """Return the error of a network that cannot answer even one prompt here."""
    return ModelError(
        f"not enough memory on {network.device} for one prompt and one answer of this model. Free "
        "some, use a smaller dtype (--dtype bfloat16), or another machine"
    )
