"""The seed of a prompt's answers comes from the job's: reproducible, of this prompt alone, new for
further draws.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.prompts import Message, Prompt
from workbench.pipeline.planning import derived_seed

SEEDS = st.integers(0, 2**32 - 1)
KEYS = st.binary(min_size=16, max_size=16)


def key(text: str) -> bytes:
    return Prompt((Message("user", text),)).key


def test_a_seed_stays_what_it_was() -> None:
    """Answers that are asked again later continue the same sequence: the rule may not change."""
    assert derived_seed(1, bytes(range(16)), 0) == 2189871570743909431
    assert derived_seed(1, bytes(range(16)), 0) == derived_seed(1, bytes(range(16)), 0)


@given(SEEDS, KEYS, KEYS, st.integers(0, 10_000))
def test_prompts_have_seeds_of_their_own(seed: int, first: bytes, second: bytes, held: int) -> None:
    assert (derived_seed(seed, first, held) == derived_seed(seed, second, held)) == (
        first == second
    )


@given(SEEDS, KEYS, st.integers(0, 10_000), st.integers(0, 10_000))
def test_answers_that_follow_stored_ones_are_new_draws(
    seed: int, prompt: bytes, held: int, more: int
) -> None:
    assert (derived_seed(seed, prompt, held) == derived_seed(seed, prompt, more)) == (held == more)


@given(SEEDS, SEEDS, KEYS)
def test_another_seed_of_the_job_gives_other_answers(
    first: int, second: int, prompt: bytes
) -> None:
    assert (derived_seed(first, prompt, 0) == derived_seed(second, prompt, 0)) == (first == second)


def test_texts_that_differ_in_a_letter_have_other_seeds() -> None:
    assert derived_seed(1, key("Taxes should fall."), 0) != derived_seed(
        1, key("Taxes should fail."), 0
    )
