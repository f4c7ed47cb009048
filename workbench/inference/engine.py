"""Sampling many answers to many prompts with as little computation as their common parts allow.

Three things are computed once: the beginning that all prompts of a group share (system prompt, instruction), each
prompt for all of its samples, and each beginning of an answer for all samples that have it (`tree`). While answers
grow, the keys and values of a prompt are held once a prompt, not once a sample: a row attends to its prompt's part and
to its own short part in one softmax. That is exact, and it is most of the memory traffic saved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers import AttentionInterface, AttentionMaskInterface, DynamicCache
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from workbench.domain.responses import Request, Sampling
from workbench.inference.base import Work
from workbench.inference.tree import SampleTree

ATTENTION = "workbench_shared"
CPU_ROWS, GPU_ROWS = 192, 2048
CPU_TOKENS, GPU_TOKENS = 16_384, 262_144
FIRST_GUESS = 128
"tokens that are looked at first for a nucleus; more where they do not hold enough"


@dataclass(slots=True)
class Shared:
    """The prompts' part of attention, held once a prompt, and which row belongs to which prompt."""

    keys: list[torch.Tensor]
    "per layer (prompts, kv heads, tokens, head size)"
    values: list[torch.Tensor]
    hidden: torch.Tensor
    "(prompts, tokens): True where a prompt has no token"
    slots: torch.Tensor
    "(prompts, most rows of one prompt): rows of each prompt, padded with row 0"
    place: torch.Tensor
    "(rows,): where a row stands in `slots`, flattened"


_shared: list[Shared | None] = [None]
"what the attention function sees; one worker process samples one group at a time"


def shared_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **more: Any,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Attend to a prompt's part and a row's own part in one softmax; without shared prompts, as SDPA does.

    query: (rows, heads, 1, size); key, value: (rows, kv heads, own tokens, size).
    """
    shared = _shared[0]
    if shared is None:
        result: tuple[torch.Tensor, torch.Tensor | None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout=dropout, scaling=scaling, **more
        )
        return result
    layer = module.layer_idx
    keys, values = shared.keys[layer], shared.values[layer]
    rows, heads, _, size = query.shape
    prompts, kv_heads, tokens, _ = keys.shape
    groups, most = heads // kv_heads, shared.slots.shape[1]
    scale = size**-0.5 if scaling is None else scaling
    own = query.view(rows, kv_heads, groups, size) * scale
    packed = own[shared.slots].permute(0, 2, 1, 3, 4).reshape(prompts, kv_heads, most * groups, size)
    far = torch.matmul(packed, keys.transpose(-1, -2)).masked_fill(shared.hidden[:, None, None, :], float("-inf"))
    far = _unpacked(far, prompts, kv_heads, most, groups)[shared.place]
    near = torch.matmul(own, key.transpose(-1, -2))
    weights = torch.softmax(torch.cat([far, near], dim=-1), dim=-1, dtype=torch.float32).to(query.dtype)
    spread = weights.new_zeros(prompts * most, kv_heads, groups, tokens)
    spread[shared.place] = weights[..., :tokens]
    spread = spread.view(prompts, most, kv_heads, groups, tokens).permute(0, 2, 1, 3, 4)
    from_prompt = torch.matmul(spread.reshape(prompts, kv_heads, most * groups, tokens), values)
    from_prompt = _unpacked(from_prompt, prompts, kv_heads, most, groups)[shared.place]
    result_rows = from_prompt + torch.matmul(weights[..., tokens:], value)
    return result_rows.reshape(rows, heads, 1, size).transpose(1, 2).contiguous(), None


def _unpacked(tensor: torch.Tensor, prompts: int, kv_heads: int, most: int, groups: int) -> torch.Tensor:
    """(prompts, kv heads, most x groups, x) -> (prompts x most, kv heads, groups, x)."""
    split = tensor.view(prompts, kv_heads, most, groups, -1).permute(0, 2, 1, 3, 4)
    return split.reshape(prompts * most, kv_heads, groups, -1)


AttentionInterface.register(ATTENTION, shared_attention)
AttentionMaskInterface.register(ATTENTION, sdpa_mask)


def can_share(config: Any) -> bool:
    """Whether a model's attention is the plain one that `shared_attention` computes: full, no soft cap, no sinks."""
    kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
    plain = kinds == {"full_attention"} and not getattr(config, "attn_logit_softcapping", None)
    return (
        plain
        and config.model_type in {"llama", "mistral", "qwen2", "qwen3", "smollm3", "olmo2", "granite"}
        and not (config.model_type == "mistral" and getattr(config, "sliding_window", None))
    )


@dataclass(slots=True)
class Engine:
    """Draws samples from a causal language model."""

    model: Any
    stop: frozenset[int]
    work: Work
    share: bool
    max_rows: int
    max_tokens: int

    def sample(
        self, prompts: Sequence[Sequence[int]], requests: Sequence[Request], sampling: Sampling
    ) -> Iterator[list[tuple[int, dict[tuple[int, ...], int]]]]:
        """Yield (position, answers by their tokens) of each group of prompts with common beginnings."""
        order = sorted(range(len(prompts)), key=lambda i: tuple(prompts[i]))
        while order:
            group = self._take(order, prompts, requests)
            try:
                trees = self._group([prompts[i] for i in group], [requests[i] for i in group], sampling)
            except torch.cuda.OutOfMemoryError:
                if len(group) == 1 and self.max_rows < requests[group[0]].n:
                    raise
                self.max_rows = max(1, self.max_rows // 2)
                torch.cuda.empty_cache()
                continue
            del order[: len(group)]
            yield [(position, dict(tree.finished)) for position, tree in zip(group, trees, strict=True)]

    def _take(self, order: list[int], prompts: Sequence[Sequence[int]], requests: Sequence[Request]) -> list[int]:
        """Return the next prompts that fit the budgets; at least one."""
        group: list[int] = []
        rows = tokens = 0
        for i in order:
            rows, tokens = rows + requests[i].n, tokens + len(prompts[i])
            if group and (rows > self.max_rows or tokens > self.max_tokens):
                break
            group.append(i)
        return group

    @torch.inference_mode()
    def _group(
        self, prompts: Sequence[Sequence[int]], requests: Sequence[Request], sampling: Sampling
    ) -> list[SampleTree]:
        trees = [SampleTree(r.n, np.random.default_rng(r.seed), self.stop, sampling.max_new_tokens) for r in requests]
        cache, hidden, logits = self.prefill(prompts)
        self._grow(trees, logits, sampling)
        rows = [(p, row) for p, tree in enumerate(trees) for row in tree.rows]
        lengths = torch.tensor([len(p) for p in prompts], device=logits.device)
        own = self._begin(cache, hidden, rows)
        step = 0
        while rows:
            logits = self._step(own, hidden, lengths, rows, step)
            before = _offsets(trees)
            self._grow(trees, logits, sampling)
            rows = [(p, row) for p, tree in enumerate(trees) for row in tree.rows]
            keep = torch.tensor([before[p] + row.parent for p, row in rows], device=logits.device, dtype=torch.long)
            step += 1
            if rows:
                own.batch_select_indices(keep)
                self._assign(rows)
        _shared[0] = None
        return trees

    def prefill(self, prompts: Sequence[Sequence[int]]) -> tuple[DynamicCache, torch.Tensor, torch.Tensor]:
        """Run the prompts, their common beginning once.

        Returns the cache (prompts on the batch axis, padded on the right), which of its places are hidden
        (prompts, tokens), and the logits of each prompt's next token (prompts, vocabulary).
        """
        device = self.model.device
        common = common_beginning(prompts)
        longest = max(map(len, prompts))
        rest = torch.zeros(len(prompts), longest - common, dtype=torch.long, device=device)
        mask = torch.zeros(len(prompts), longest, dtype=torch.long, device=device)
        for i, prompt in enumerate(prompts):
            rest[i, : len(prompt) - common] = torch.tensor(list(prompt[common:]), device=device)
            mask[i, : len(prompt)] = 1
        cache = DynamicCache()
        if common:
            first = torch.tensor([list(prompts[0][:common])], device=device)
            self.model(input_ids=first, past_key_values=cache, use_cache=True, logits_to_keep=1)
            cache.batch_repeat_interleave(len(prompts))
        places = torch.arange(common, longest, device=device)[None].expand(len(prompts), -1)
        hidden_states = self.model.base_model(
            input_ids=rest, attention_mask=mask, position_ids=places, past_key_values=cache, use_cache=True
        ).last_hidden_state
        last = torch.tensor([len(p) - common - 1 for p in prompts], device=device)
        logits = self.model.get_output_embeddings()(hidden_states[torch.arange(len(prompts), device=device), last])
        self.work.prompt_tokens += sum(map(len, prompts))
        self.work.prompt_tokens_computed += common + sum(len(p) - common for p in prompts)
        return cache, mask == 0, logits

    def _begin(self, cache: DynamicCache, hidden: torch.Tensor, rows: list[tuple[int, Any]]) -> DynamicCache:
        """Return the cache in which rows keep their own tokens."""
        if not self.share:
            cache.batch_select_indices(torch.tensor([p for p, _ in rows], device=hidden.device, dtype=torch.long))
            return cache
        keys = [layer.keys for layer in cache.layers]
        values = [layer.values for layer in cache.layers]
        nothing = torch.zeros(0, 0, dtype=torch.long, device=hidden.device)
        _shared[0] = Shared(keys, values, hidden, nothing, nothing)
        if rows:
            self._assign(rows)
        return DynamicCache()

    def _assign(self, rows: list[tuple[int, Any]]) -> None:
        """Note which row belongs to which prompt."""
        shared = _shared[0]
        if shared is None:
            return
        prompt = np.array([p for p, _ in rows])
        counts = np.bincount(prompt, minlength=shared.hidden.shape[0])
        within = np.arange(len(prompt)) - np.repeat(np.cumsum(counts) - counts, counts)
        slots = np.zeros((len(counts), int(counts.max())), dtype=np.int64)
        slots[prompt, within] = np.arange(len(prompt))
        shared.slots = torch.from_numpy(slots).to(shared.hidden.device)
        shared.place = torch.from_numpy(prompt * slots.shape[1] + within).to(shared.hidden.device)

    def _step(
        self, own: DynamicCache, hidden: torch.Tensor, lengths: torch.Tensor, rows: list[tuple[int, Any]], step: int
    ) -> torch.Tensor:
        """Return the logits after each row's last token: (rows, vocabulary)."""
        device = lengths.device
        prompt = torch.tensor([p for p, _ in rows], device=device)
        tokens = torch.tensor([[row.tokens[-1]] for _, row in rows], device=device)
        more: dict[str, Any] = {}
        if not self.share:
            seen = (~hidden[prompt]).long()
            more["attention_mask"] = torch.cat([seen, seen.new_ones(len(rows), step + 1)], dim=1)
        self.work.sampled_tokens += sum(row.count for _, row in rows)
        self.work.sampled_tokens_computed += len(rows)
        logits: torch.Tensor = self.model(
            input_ids=tokens,
            position_ids=(lengths[prompt] + step)[:, None],
            past_key_values=own,
            use_cache=True,
            **more,
        ).logits[:, -1]
        return logits

    def _grow(self, trees: list[SampleTree], logits: torch.Tensor, sampling: Sampling) -> None:
        tokens, probabilities = nucleus(logits, sampling)
        start = 0
        for tree in trees:
            stop = start + len(tree.rows)
            tree.grow(tokens[start:stop], probabilities[start:stop])
            start = stop


def _offsets(trees: list[SampleTree]) -> list[int]:
    """Return where each tree's rows begin among all rows."""
    return [0, *np.cumsum([len(tree.rows) for tree in trees])[:-1].tolist()]


def common_beginning(prompts: Sequence[Sequence[int]]) -> int:
    """Return how many tokens all prompts begin with alike, at least one being left to each.

    Examples
    --------
    >>> common_beginning([[1, 2, 3], [1, 2, 4, 5]]), common_beginning([[1, 2]]), common_beginning([[1], [1, 2]])
    (2, 1, 0)
    """
    limit = min(map(len, prompts)) - 1
    first, last = min(map(tuple, prompts)), max(map(tuple, prompts))
    return next((i for i in range(limit) if first[i] != last[i]), limit)


def nucleus(logits: torch.Tensor, sampling: Sampling) -> tuple[Any, Any]:
    """Return the tokens that may come next and their probabilities, most likely first.

    Temperature, then top-k, then top-p: the smallest set whose probability reaches top-p, as transformers defines them.

    Returns
    -------
    arrays of shape (rows, k): token ids (int64) and probabilities (float64), 0 beyond a row's nucleus.
    """
    scaled = logits.float() / sampling.temperature
    normaliser = torch.logsumexp(scaled, dim=-1, keepdim=True)
    size = scaled.shape[-1]
    k = min(sampling.top_k or FIRST_GUESS, size)
    while True:
        top, tokens = scaled.topk(k, dim=-1)
        probabilities = (top - normaliser).exp().double()
        if sampling.top_k:
            probabilities /= probabilities.sum(dim=-1, keepdim=True)
        reached = probabilities.cumsum(dim=-1)
        if sampling.top_k or k == size or bool((reached[:, -1] >= sampling.top_p).all()):
            break
        k = min(8 * k, size)
    if sampling.top_p < 1:
        probabilities[reached - probabilities >= sampling.top_p] = 0
    width = int((probabilities > 0).sum(dim=-1).max())
    return tokens[:, :width].cpu().numpy(), probabilities[:, :width].cpu().numpy()
