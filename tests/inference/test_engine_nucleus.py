"""Temperature, top-k and top-p select and weigh the tokens that transformers' own processors do."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.inference.oracle import warpers
from workbench.domain.responses import Sampling
from workbench.errors import ModelError
from workbench.inference.nucleus import nucleus

SAMPLINGS = [
    Sampling(temperature=t, top_p=p, top_k=k)
    for t in (0.25, 1.0, 1.7)
    for p in (0.1, 0.85, 0.999, 1.0)
    for k in (None, 1, 5, 400)
]


def spread(logits: torch.Tensor, sampling: Sampling) -> torch.Tensor:
    """Return what `nucleus` says over the whole vocabulary, every row adding up to 1."""
    tokens, probabilities = nucleus(logits, sampling)
    rows = torch.zeros(logits.shape, dtype=torch.float64)
    rows.scatter_add_(
        1, torch.from_numpy(np.array(tokens)), torch.from_numpy(np.array(probabilities)).double()
    )
    return rows / rows.sum(-1, keepdim=True)


def expected(logits: torch.Tensor, sampling: Sampling) -> torch.Tensor:
    return torch.softmax(
        warpers(sampling)(torch.zeros(len(logits), 1), logits.float()).double(), dim=-1
    )


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
def test_probabilities_are_those_of_the_processors(sampling: Sampling) -> None:
    generator = torch.Generator().manual_seed(1)
    steepness = torch.tensor([0.05, 0.5, 1.0, 2.0, 4.0, 8.0])[:, None, None]
    logits = (steepness * torch.randn(6, 8, 700, generator=generator)).reshape(48, 700)
    found, wanted = spread(logits, sampling), expected(logits, sampling)
    assert not found[wanted == 0].any()
    # what has no weight in single precision beside the rest may be left out
    missed = torch.where(found == 0, wanted, 0.0)
    assert float(missed.sum(-1).max()) < (1e-12 if sampling.top_p < 1 or sampling.top_k else 1e-6)
    assert float((found - wanted).abs().max()) < 1e-6


def test_a_vocabulary_without_any_preference_is_not_cut_short() -> None:
    logits = torch.zeros(2, 50_000)
    logits[1] = 1e-4 * torch.randn(50_000, generator=torch.Generator().manual_seed(2))
    found = spread(logits, Sampling(top_p=0.85))
    # Single precision, 50,000 terms.
    assert (found > 0).sum(-1).tolist() == pytest.approx([42_500, 42_500], abs=5)


def test_rows_of_very_different_width_do_not_touch_one_another() -> None:
    logits = torch.randn(3, 4000, generator=torch.Generator().manual_seed(3))
    logits[0, 17] = 60.0
    logits[2] *= 0.01
    together = spread(logits, Sampling(top_p=0.9))
    for i in range(3):
        assert torch.allclose(
            together[i], spread(logits[i : i + 1], Sampling(top_p=0.9))[0], atol=1e-9
        )
    assert int((together[0] > 0).sum()) == 1


@pytest.mark.parametrize("top_p", [0.3, 0.49, 0.51, 0.74, 0.76, 0.9])
def test_of_tied_tokens_as_many_stay_as_the_processors_keep(top_p: float) -> None:
    logits = torch.tensor([[1.0, 1.0, 1.0, 1.0], [2.0, 2.0, 0.0, 0.0], [0.0, 3.0, 3.0, 3.0]])
    sampling = Sampling(top_p=top_p)
    found, wanted = spread(logits, sampling), expected(logits, sampling)
    # which of the tied ones stay is an accident of sorting, how many and with what weight is not
    assert torch.allclose(found.sort(-1).values, wanted.sort(-1).values, atol=1e-9)


def test_the_likeliest_token_stays_however_small_the_nucleus() -> None:
    logits = torch.randn(5, 300, generator=torch.Generator().manual_seed(4))
    found = spread(logits, Sampling(top_p=1e-6))
    assert torch.equal(found.argmax(-1), logits.argmax(-1))
    assert (found > 0).sum(-1).tolist() == [1] * 5


def test_top_k_keeps_all_that_tie_for_the_last_place_as_transformers_does() -> None:
    logits = torch.tensor([[3.0, 1.0, 1.0, 1.0, 0.0]])
    sampling = Sampling(top_p=1.0, top_k=2)
    assert torch.allclose(spread(logits, sampling), expected(logits, sampling), atol=1e-9)


def test_the_nucleus_is_taken_of_what_top_k_leaves() -> None:
    logits = torch.log(torch.tensor([[0.4, 0.2, 0.15, 0.15, 0.1]]))
    # of the first two, 2/3 and 1/3, the first alone reaches 0.6; of all five it does not
    assert spread(logits, Sampling(top_p=0.6, top_k=2))[0].tolist() == pytest.approx(
        [1, 0, 0, 0, 0]
    )


def test_impossible_tokens_are_never_drawn() -> None:
    logits = torch.full((1, 500), float("-inf"))
    logits[0, [3, 400]] = 0.0
    found = spread(logits, Sampling(top_p=1.0))
    assert found[0].nonzero().flatten().tolist() == [3, 400]


def test_half_precision_logits_are_weighed_in_single_precision() -> None:
    logits = torch.randn(4, 2000, generator=torch.Generator().manual_seed(5)).bfloat16()
    found, wanted = spread(logits, Sampling(top_p=1.0)), expected(logits, Sampling(top_p=1.0))
    assert float((found - wanted).abs().max()) < 1e-6


@pytest.mark.parametrize("damage", [float("nan"), float("inf")])
@pytest.mark.parametrize(
    "sampling", [Sampling(), Sampling(top_p=1.0), Sampling(top_k=3), Sampling(temperature=0.3)]
)
def test_logits_that_are_no_numbers_are_an_error_and_not_an_answer(
    damage: float, sampling: Sampling
) -> None:
    logits = torch.randn(3, 50)
    logits[1, 7] = damage
    with pytest.raises(ModelError, match=r"no probabilities.*--dtype"):
        nucleus(logits, sampling)
    logits[1, 7] = float("-inf")  # ruled out by the network, which is its right
    tokens, probabilities = nucleus(logits, sampling)
    assert not probabilities[1][tokens[1] == 7].any()
