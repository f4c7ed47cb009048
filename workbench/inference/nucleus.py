"""The possible next tokens and their probabilities.

Temperature, top-k and top-p are those that transformers defines.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from workbench.domain.responses import Sampling
from workbench.errors import ModelError

FIRST_GUESS = 64
"tokens examined first for a nucleus, with more in rows where these are not enough"

NO_NUMBERS = (
    "the network computed no probabilities: its numbers passed the largest of its number format, "
    "or its weights are damaged. Load it as float32 or bfloat16 (--dtype)"
)

TokenProbabilities = tuple[NDArray[np.int64], NDArray[np.float64]]
"token ids and their probabilities, each of shape (rows, k)"


def nucleus(logits: torch.Tensor, sampling: Sampling) -> TokenProbabilities:
    """Return the possible next tokens and their probabilities.

    The most likely comes first unless all tokens are possible.

    Applies temperature, then top-k (with ties to the k-th), then top-p: the smallest set whose
    probability reaches top-p.

    Parameters
    ----------
    logits : tensor of shape (rows, vocabulary)

    Returns
    -------
    arrays of shape (rows, k): token ids and probabilities, 0 beyond a row's nucleus. Rows need not
    add up to 1.

    Raises ModelError if the probabilities are not numbers.
    """
    table = _nucleus(logits.float(), sampling)
    check_numbers(table[1][:, 0])
    return table


def check_numbers(one_of_each: NDArray[np.float64] | torch.Tensor) -> None:
    """Raise ModelError if a (log-)probability is NaN.

    One value per row suffices, because its whole row is then NaN.
    """
    if bool((one_of_each != one_of_each).any()):
        raise ModelError(NO_NUMBERS)


def masses(log: torch.Tensor, sets: Sequence[Sequence[int]]) -> list[tuple[float, ...]]:
    """Return, for each row of log-probabilities, the probability of each set of distinct tokens.

    It is summed in float64.
    """
    if not sets:
        return [()] * len(log)
    all_tokens = torch.tensor(
        [token for tokens in sets for token in tokens], dtype=torch.long, device=log.device
    )
    gathered = log[:, all_tokens].double().exp().split([len(tokens) for tokens in sets], dim=1)
    sums = (
        torch.stack([set_probabilities.sum(dim=1) for set_probabilities in gathered], dim=1)
        .cpu()
        .tolist()
    )
    return [tuple(row) for row in sums]


def _nucleus(scaled: torch.Tensor, sampling: Sampling) -> TokenProbabilities:
    if sampling.temperature != 1:
        scaled = scaled / sampling.temperature
    if sampling.top_k:
        return _trimmed([_likeliest_k(scaled, sampling.top_k, sampling.top_p)], None)
    if sampling.top_p >= 1:
        ids = np.broadcast_to(np.arange(scaled.shape[-1]), scaled.shape)
        return ids, torch.softmax(scaled, dim=-1).double().cpu().numpy()
    normaliser = torch.logsumexp(scaled, dim=-1, keepdim=True)
    parts, rows, k = [], None, FIRST_GUESS
    while True:
        k = min(k, scaled.shape[-1])
        top, tokens = scaled.topk(k, dim=-1)
        probabilities, totals = _within(top, normaliser, sampling.top_p)
        is_short = (
            (totals < sampling.top_p)
            if k < scaled.shape[-1]
            else torch.zeros_like(totals, dtype=torch.bool)
        )
        parts.append((tokens, probabilities))
        if not bool(is_short.any()):
            return _trimmed(parts, rows)
        short_rows = is_short.nonzero()[:, 0]
        rows = [*(rows or ()), short_rows]
        scaled, normaliser, k = scaled[short_rows], normaliser[short_rows], 8 * k


def _within(
    top: torch.Tensor, normaliser: torch.Tensor, top_p: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the probabilities with 0 outside the nucleus, and the total of each row's tokens."""
    probabilities = (top - normaliser).double().exp()
    cumulative = probabilities.cumsum(dim=-1)
    if top_p < 1:
        probabilities = probabilities.masked_fill(cumulative - probabilities >= top_p, 0.0)
    return probabilities, cumulative[:, -1]


def _likeliest_k(
    scaled: torch.Tensor, top_k: int, top_p: float
) -> tuple[torch.Tensor, torch.Tensor]:
    k = min(top_k, scaled.shape[-1])
    top, tokens = scaled.topk(k, dim=-1)
    n_tied = int((scaled >= top[:, -1:]).sum(dim=-1).max())
    if n_tied > k:  # ties with the k-th: transformers keeps them all
        last = top[:, -1:]
        top, tokens = scaled.topk(n_tied, dim=-1)
        top = top.masked_fill(top < last, float("-inf"))
    probabilities, _ = _within(top, torch.logsumexp(top, dim=-1, keepdim=True), top_p)
    return tokens, probabilities


def _trimmed(
    parts: list[tuple[torch.Tensor, torch.Tensor]], rows: list[torch.Tensor] | None
) -> TokenProbabilities:
    """Put the re-examined rows in their places, and cut to the widest nucleus."""
    tables = [(tokens.cpu().numpy(), weights.cpu().numpy()) for tokens, weights in parts]
    for index in range(len(tables) - 1, 0, -1):
        assert rows is not None
        tables[index - 1] = _with_rows(
            tables[index - 1], rows[index - 1].cpu().numpy(), tables[index]
        )
    tokens, probabilities = tables[0]
    width = int(np.count_nonzero(probabilities, axis=1).max(initial=1))
    return tokens[:, :width], probabilities[:, :width]


def _with_rows(
    table: TokenProbabilities, rows: NDArray[np.int64], wider: TokenProbabilities
) -> TokenProbabilities:
    width = int(np.count_nonzero(wider[1], axis=1).max(initial=1))
    span = max(width, table[0].shape[1])
    tokens = np.zeros((len(table[0]), span), dtype=np.int64)
    probabilities = np.zeros((len(table[0]), span))
    tokens[:, : table[0].shape[1]], probabilities[:, : table[1].shape[1]] = table
    tokens[rows], probabilities[rows] = 0, 0
    tokens[rows, :width], probabilities[rows, :width] = wider[0][:, :width], wider[1][:, :width]
    return tokens, probabilities
