"""A long context with many targets after it, as Questionnaire Modeling asks: exact, and computed
once.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.inference.jobs_of_prompts import text
from tests.inference.oracle import Oracle
from tests.inference.random_models import STOP, build, engine_over
from workbench.inference.base import Work

YES, NO = [9, 40], [10]


@pytest.mark.e2e
@pytest.mark.parametrize("kind", ["llama", "gpt2", "gemma3", "qwen2-sliding"])
def test_yes_and_no_after_contexts_longer_than_a_pass_are_those_of_a_plain_forward_pass(
    kind: str,
) -> None:
    rng, work = np.random.default_rng(12), Work()
    contexts = [text(rng, 900), text(rng, 450)]
    contexts.append([*contexts[0][:700], *text(rng, 100)])
    targets = [text(rng, 5 + n % 4) for n in range(8)]
    job = [[*context, *target, 7] for context in contexts for target in targets]
    plain = Oracle(build(kind), STOP)
    with engine_over(build(kind), work=work) as engine:
        found = list(engine.likeliest(job, 5, [YES, NO]))
    assert work.prompt_tokens_computed <= 900 + 450 + 100 + 3 * sum(
        len(target) + 1 for target in targets
    )
    for likeliest in found:
        chances = np.exp(plain.next_log_probabilities(job[likeliest.prompt]))
        assert likeliest.masses == pytest.approx([chances[YES].sum(), chances[NO].sum()], abs=1e-5)
