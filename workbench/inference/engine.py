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
"""largest mean deviation in 16 bits that counts as rounding. SmolLM2 has 0.07 in bfloat16 and 0.16
for a single sequence, the same as from its own float32; if positions are ignored it has 1.3
"""


class Unshareable(Exception):
    """The shared engine cannot compute this network's attention; the message gives the reason."""


def share(network: Any) -> int:
    """Make a network's attention follow layouts; return the bytes of one token's keys and values.

    Raises Unshareable, leaving the network unchanged, if results would differ from the network's
    own.
    """
    config = network.config.get_text_config()
    if network.config.is_encoder_decoder:
        raise Unshareable("it is an encoder-decoder")
    odd = set(getattr(config, "layer_types", None) or ()) - LAYERS
    if odd:
        raise Unshareable(f"it has layers of the kind {', '.join(sorted(odd))}")
    rope = getattr(config, "rope_parameters", None) or {}
    if CHANGING_ROPE & {
        str(part.get("rope_type")) for part in (rope, *rope.values()) if isinstance(part, dict)
    }:
        raise Unshareable("its positions depend on the longest prompt of a pass")
    sequences = _sequences(config.vocab_size)
    with torch.inference_mode():
        alone = [
            network(input_ids=_row(one, network), use_cache=False).logits[0, -1].float()
            for one in sequences
        ]
        with _switched(network) as keep:
            together, token_bytes = _together(network, sequences)
            _check_windows(config)
            each = [
                float((one - other).norm() / (one - one.mean()).norm().clamp_min(1e-30))
                for one, other in zip(alone, together, strict=True)
            ]
            most = TOLERANCE.get(network.dtype)
            off = sum(each) / len(each) if most is None else max(each)
            if not off <= (most or COARSE):
                raise Unshareable(f"its results would be off by {off:.1%}")
            keep()
    return token_bytes


def _check_windows(config: Any) -> None:
    """Raise Unshareable if layers do not state their own sliding windows, because the few tokens of
    the comparison would not show it.
    """
    kinds, longest = set(getattr(config, "layer_types", None) or LAYERS), window_of(config).tokens
    masks, layers = ({_within(window, longest) for window in said} for said in windows())
    expected = {window for window in masks if (WHOLE if window is None else SLIDING) in kinds}
    if layers != (expected or {None}):
        raise Unshareable("how far back its layers look is known to its masks alone")


def _within(window: int | None, longest: int | None) -> int | None:
    """Return a sliding window; None if no prompt can be longer."""
    return None if window is None or (longest is not None and window >= longest) else window


def _sequences(vocabulary: int) -> list[Tokens]:
    """Return sequences with common beginnings: two are read as a tree, each with one more token."""
    ids = torch.randint(
        min(5, vocabulary - 1), vocabulary, (24,), generator=torch.Generator().manual_seed(1)
    ).tolist()
    a, b = (*ids[:12], *ids[12:18]), (*ids[:12], *ids[18:22])
    return [a, b, (*a, ids[22]), (*b, ids[23]), (*b, ids[22])]


def _row(sequence: Tokens, network: Any) -> torch.Tensor:
    return torch.tensor([sequence], device=network.device)


@contextmanager
def _switched(network: Any) -> Iterator[Any]:
    """Replace the network's attention with ours, within the context or, if `keep` is called,
    permanently.

    Any failure with it is a reason not to share the network.
    """
    before, kept = network.config._attn_implementation, []
    try:
        network.set_attn_implementation(ATTENTION)
        yield lambda: kept.append(True)
    except Unshareable:
        raise
    except OutOfOrder as error:
        raise Unshareable(f"its layers are not plain attention ({error})") from error
    except Exception as error:  # any error of a network that was not built for this
        raise Unshareable(
            f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        ) from error
    finally:
        if not kept:
            network.set_attn_implementation(before)


def _together(network: Any, sequences: list[Tokens]) -> tuple[list[torch.Tensor], int]:
    """Return the last logits of the sequences as the engine computes them, and the bytes of a
    token.
    """
    a, longer = sequences[0], sequences[2:]
    prefill = Prefill(network, 4 * len(a))
    order = sorted(range(2), key=lambda i: sequences[i])
    read = prefill.read([sequences[i] for i in order], [[len(sequences[i]) - 1] for i in order])
    if not read.layout.held:
        raise Unshareable(f"the attention of {network.config.model_type} cannot be replaced")
    found = [read.logits[order.index(i)].float() for i in range(2)]
    batch = Batch(network)
    stem = SharedContext(a[:12], read.pairs(0, 0, 12))
    for i, grown in ((0, longer[:1]), (1, longer[1:])):
        tree = SampleTree(len(grown), 0, frozenset(), 8)
        tree.rows = [Row(one[-1:], np.array([place]), 0) for place, one in enumerate(grown)]
        batch.seat(ActiveSequence(i, sequences[i], stem, tree), read.pairs(order.index(i), 12))
    batch.make_room()
    found += list(batch.logits(0, batch.rows, batch.table()).float())
    token_bytes = sum(
        t.shape[0] * t.shape[2] * t.element_size() for pair in stem.pairs for t in pair
    )
    return found, token_bytes


CPU_ROWS, GPU_ROWS = 256, 2048
"most rows of a pass: more make a pass longer, not faster"
CPU_TOKENS, GPU_TOKENS = 256, 8192
"most prompt tokens of a pass: attention is computed for all pairs of them"
MEMORY_SHARE = 0.5
"share of the memory that is free when a call begins, for rows"
ALONE_ROWS, ALONE_TOKENS = 8, 64
"a prompt gets a stem for its own rows if it has this many rows, or this many unshared tokens"
AHEAD, LOST_TOKENS = 64, 32
"""prompts examined for a stem that more of them share, and how many tokens shorter it may be for
that"""
FIRST_SHARE = 8
"""divisor of the rows for the first requests on a CPU, so that answers come before every prompt has
been read"""
SETTLED_STEPS, RECENT = 6, 64
"tokens after which a request hardly splits further; recent requests used to predict splitting"

Result = TypeVar("Result")


def shared_engine(network: Any, stop: frozenset[int], work: Work) -> SharedEngine:
    """Return the engine of a network; `stop` are the tokens that end an answer.

    Raises Unshareable, leaving the network unchanged, if results would differ from the network's
    own.
    """
    usual = network.config._attn_implementation
    return SharedEngine(network, stop, work, share(network), usual)


@dataclass(slots=True)
class SharedEngine:
    """Draws and scores with a causal language model whose attention follows a layout."""

    network: Any
    stop: frozenset[int]
    work: Work
    token_bytes: int
    "bytes of the keys and values of one token"
    usual: str
    "the network's own attention implementation, which is restored in the end"
    most: int | None = None
    "limit of parallel rows set by the user; None: as memory allows"
    pass_rows: int = 0
    pass_tokens: int = 0
    should_stop: Callable[[], bool] = lambda: False
    "when called before a step, whether to end without the answers under way"

    def __post_init__(self) -> None:
        on_gpu = self.network.device.type == "cuda"
        self.pass_rows = GPU_ROWS if on_gpu else CPU_ROWS
        self.pass_tokens = GPU_TOKENS if on_gpu else CPU_TOKENS

    def heed(self, should_stop: Callable[[], bool]) -> None:
        """See `Engine`; it is asked before each step."""
        self.should_stop = should_stop

    def at_once(self, most: int | None) -> None:
        """Limit the active rows, from the next step on; samples of one prompt stay together."""
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
        """Yield answers as they are complete. Raises ModelError if memory does not suffice for one
        prompt's answers.
        """
        sequences = [tuple(prompt) for prompt in prompts]
        drawing = _Drawing(
            self, sequences, requests, sampling, spell, deque(lexicographic(sequences)), rules
        )
        while (drawing.queue or drawing.batch.growing) and not self.should_stop():
            done = drawing.advance()
            if done:
                yield [
                    Answers(one.request, dict(one.tree.finished), one.tree.decided) for one in done
                ]

    def score(
        self,
        prompts: Sequence[Sequence[int]],
        ends: Sequence[Sequence[Sequence[int]]],
        after: Sequence[int] = (),
    ) -> Iterator[Scores]:
        """Yield the scores of each prompt's ends; common beginnings of prompts and ends are
        computed once.
        """
        wanted: dict[Tokens, list[tuple[int, int]]] = {}
        for i, (prompt, its) in enumerate(zip(prompts, ends, strict=True)):
            for j, end in enumerate(its):
                wanted.setdefault((*prompt, *(end if after else end[:-1])), []).append((i, j))
        following = torch.tensor(list(after), dtype=torch.long, device=self.network.device)
        scores = [np.zeros(len(its)) for its in ends]
        left = [len(its) for its in ends]
        yield from (Scores(i, scores[i]) for i, n in enumerate(left) if not n)
        starts = {
            sequence: min(len(prompts[i]) for i, _ in its) - 1 for sequence, its in wanted.items()
        }
        for sequences, log in self._passes(sorted(wanted), starts):
            at = 0
            for sequence in sequences:
                first, stop = starts[sequence], at + len(sequence) - starts[sequence]
                follows = float(log[stop - 1, following].double().logsumexp(0)) if after else 0.0
                for i, j in wanted[sequence]:
                    end = torch.tensor(list(ends[i][j]), device=log.device)
                    its = log[at + len(prompts[i]) - 1 - first :][: len(end)]
                    scores[i][j] = float(its.gather(1, end[:, None]).double().sum()) + follows
                    left[i] -= 1
                    if not left[i]:
                        yield Scores(i, scores[i])
                at = stop
        more = 0 if after else 1
        self.work.prompt_tokens += sum(
            len(prompts[i]) + len(end) - more for i, its in enumerate(ends) for end in its
        )

    def likeliest(
        self, prompts: Sequence[Sequence[int]], k: int, sets: Sequence[Sequence[int]] = ()
    ) -> Iterator[Likeliest]:
        """Yield the most likely next tokens of each prompt, and the probability of each set of
        tokens.
        """
        wanted: dict[Tokens, list[int]] = {}
        for i, prompt in enumerate(prompts):
            wanted.setdefault(tuple(prompt), []).append(i)
        starts = {sequence: len(sequence) - 1 for sequence in wanted}
        for sequences, log in self._passes(sorted(wanted), starts):
            check_numbers(log[:, 0])
            top, tokens = log.topk(min(k, log.shape[-1]), dim=-1)
            logs, ids, of_sets = top.double().cpu().numpy(), tokens.tolist(), masses(log, sets)
            for place, sequence in enumerate(sequences):
                yield from (
                    Likeliest(i, tuple(ids[place]), logs[place], of_sets[place])
                    for i in wanted[sequence]
                )
        self.work.prompt_tokens += sum(map(len, prompts))

    def _passes(
        self, sequences: list[Tokens], starts: dict[Tokens, int]
    ) -> Iterator[tuple[Sequence[Tokens], torch.Tensor]]:
        """Compute sequences in passes: yield them with the log-probabilities from each one's
        start.
        """
        prefill = Prefill(self.network, self.pass_tokens)
        while sequences:
            found = self._attempt(lambda: self._next_pass(prefill, sequences, starts), prefill)
            if found is not None:
                del sequences[: len(found[0])]
                yield found
        self.work.prompt_tokens_computed += prefill.computed

    @torch.inference_mode()
    def _next_pass(
        self, prefill: Prefill, sequences: list[Tokens], starts: dict[Tokens, int]
    ) -> tuple[Sequence[Tokens], torch.Tensor]:
        most, logits = 0, 0
        while most < len(sequences) and (not most or logits < self.pass_rows):
            logits += len(sequences[most]) - starts[sequences[most]]
            most += 1
        chosen = sequences[: prefill.take(sequences, most)]
        read = prefill.read(chosen, [range(starts[sequence], len(sequence)) for sequence in chosen])
        return chosen, torch.log_softmax(read.logits.float(), dim=-1)

    def _attempt(self, compute: Callable[[], Result], prefill: Prefill) -> Result | None:
        """Compute; if memory runs out, make passes smaller and return None, so that the caller
        tries again.

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
        tokens = held_tokens(self.prompts) + self.sampling.most_tokens
        logits = 12 * engine.network.config.get_text_config().vocab_size
        free = MEMORY_SHARE * free_bytes(engine.network.device)
        self.memory_rows = max(1, int(free // (tokens * engine.token_bytes + logits)))

    @property
    def most_rows(self) -> int:
        return max(
            1,
            min(self.engine.pass_rows, self.memory_rows, self.engine.most or self.engine.pass_rows),
        )

    def advance(self) -> list[ActiveSequence]:
        """Start requests that there is room for and take one step; return the finished requests.

        If memory runs out, finished requests are returned and the others start again.
        """
        try:
            self._admit()
            self._step()
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            self._start_over(error)
        done, self.done = self.done, []
        return done

    def _end(self, one: ActiveSequence) -> None:
        """Mark a request as finished."""
        self.left.remove(one.request)
        self.recent.append(one.most or len(one.tree.finished))
        self.done.append(one)

    def _start_over(self, error: BaseException) -> None:
        """Restart all active requests with fewer rows: the same seeds give the same answers."""
        growing, rows = self.batch.growing, self.batch.rows
        if len(growing) <= 1 and self.most_rows == 1 and self.engine.pass_tokens <= 16:
            raise no_memory(self.engine.network) from error
        self.queue = deque(sorted(self.left, key=lambda i: self.prompts[i]))
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
            ahead = [self.queue[i] for i in range(min(len(self.queue), room + AHEAD))]
            sequences = [self.prompts[i] for i in ahead]
            n = self.prefill.take(sequences, room)
            before = self.prefill.computed
            read = self.prefill.read(
                sequences[:n], [[len(sequence) - 1] for sequence in sequences[:n]]
            )
            self.engine.work.prompt_tokens += sum(map(len, sequences[:n]))
            self.engine.work.prompt_tokens_computed += self.prefill.computed - before
            self._begin(ahead[:n], read, sequences[n:])
            for _ in range(n):
                self.queue.popleft()

    def _room(self) -> int:
        """Return how many requests to start now. A few are not worth a pass while others are
        active.
        """
        most, expected = self.most_rows, self._expected()
        many = len(self.queue) * expected > most
        if many and not self.recent and self.engine.network.device.type == "cpu":
            most = max(1, most // FIRST_SHARE)
        if not self.batch.growing:
            return max(1, int(most / expected))
        load = sum(
            len(one.tree.rows)
            if len(one.tree.rows[0].tokens) >= SETTLED_STEPS
            else max(expected, len(one.tree.rows))
            for one in self.batch.growing
        )
        return int((most - load) / expected) if most - load >= max(most / 4, expected) else 0

    def _expected(self) -> float:
        """Return the expected number of rows of a request, based on earlier requests."""
        seen = [*self.recent]
        seen += [
            one.most for one in self.batch.growing if len(one.tree.rows[0].tokens) >= SETTLED_STEPS
        ]
        return (
            float(np.mean(seen))
            if len(seen) >= 4
            else float(max(request.n for request in self.requests))
        )

    def _begin(self, chosen: list[int], read: Read, ahead: list[Tokens]) -> None:
        """Draw the first tokens of requests whose prompts were read, and assign seats to their
        rows; some end with that token.
        """
        tokens, probabilities = nucleus(read.logits, self.sampling)
        alone = self._expected() >= ALONE_ROWS
        stem = None if alone else self._stem(read, ahead)
        begun = []
        for place, request in enumerate(chosen):
            tree = self._tree(request)
            tree.grow(tokens[place : place + 1], probabilities[place : place + 1])
            prompt = read.sequences[place]
            mine = stem
            if tree.rows and (mine is None or len(prompt) - len(mine.tokens) > ALONE_TOKENS):
                mine = SharedContext(prompt, read.pairs(place))
            one = ActiveSequence(request, prompt, mine or SharedContext(prompt, []), tree)
            begun.append((one, place))
        for one, place in begun:
            if one.tree.rows:
                self.batch.seat(one, read.pairs(place, len(one.stem.tokens)) if one.own else [])
            else:
                self._end(one)

    def _tree(self, place: int) -> SampleTree:
        request, spell = self.requests[place], self.spell
        decided, rule = request.decided, self.rules[place] if self.rules else None
        settled = None if decided is None else lambda answer: decided(spell(answer))
        most, stop = self.sampling.max_new_tokens, self.engine.stop
        return SampleTree(request.n, request.seed, stop, most, settled, rule, first=request.first)

    def _stem(self, read: Read, ahead: list[Tokens]) -> SharedContext:
        """Return the stem of these prompts: an existing one, or a new one that later prompts share
        too.
        """
        first = read.sequences[0]
        alike = common(first, read.sequences[-1])
        for sequence in ahead:
            further = common(first, sequence)
            if alike - further > LOST_TOKENS:
                break
            alike = min(alike, further)
        self.stems = [stem for stem in self.stems if stem.users or stem is self.stems[-1]]
        for stem in self.stems:
            n = len(stem.tokens)
            if 0 <= alike - n <= LOST_TOKENS and first[:n] == stem.tokens:
                return stem
        self.stems.append(SharedContext(first[:alike], read.pairs(0, 0, alike)))
        return self.stems[-1]

    @torch.inference_mode()
    def _step(self) -> None:
        """Extend every row by a token; requests without rows have ended."""
        batch, work = self.batch, self.engine.work
        if not batch.growing:
            return
        batch.make_room()
        tokens, probabilities = self._choices()
        work.sampled_tokens += sum(row.count for one in batch.growing for row in one.tree.rows)
        work.sampled_tokens_computed += batch.rows
        for one in batch.growing:
            one.tree.grow(tokens[one.seats], probabilities[one.seats])
            if not one.tree.rows:
                self._end(one)
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
    """Return the estimated number of tokens of its prompt that a row holds in memory when many rows
    are active.

    Prompts that share little are held completely, in the worst case for one row each; otherwise a
    row holds its unshared tokens, or its part of a prompt that many rows share.
    """
    mean = sum(map(len, prompts)) / max(1, len(prompts))
    apart = distinct_beginnings(prompts) / max(1, len(prompts))
    return round(max(ALONE_TOKENS, mean if apart > ALONE_TOKENS else mean / ALONE_ROWS))


def _joined(parts: list[Table]) -> Table:
    if len(parts) == 1:
        return parts[0]
    width = max(tokens.shape[1] for tokens, _ in parts)
    padded = [
        [np.pad(array, ((0, 0), (0, width - array.shape[1]))) for array in part] for part in parts
    ]
    return np.concatenate([part[0] for part in padded]), np.concatenate(
        [part[1] for part in padded]
    )


def no_memory(network: Any) -> ModelError:
    """Return the error of a network that cannot answer even one prompt here."""
    return ModelError(
        f"not enough memory on {network.device} for one prompt and one answer of this model. "
        "Free some, use a smaller "
        "dtype (--dtype bfloat16), or another machine"
    )
