"""The embedded model with published prompts: merged sampling against independent sampling through
`generate`.
"""

from __future__ import annotations

import copy
from collections import Counter

import pytest
import torch

from tests.inference.frequencies import any_rejected, first_tokens, of_two_samples
from tests.inference.jobs_of_prompts import counts, requests
from tests.inference.oracle import Oracle
from tests.inference.random_models import engine_over
from workbench.data import shipped_instrument_folder, shipped_templates
from workbench.domain.responses import Sampling
from workbench.domain.statements import ORIGINAL
from workbench.formats.read import read_instrument
from workbench.inference.base import Work
from workbench.inference.engine import Unshareable, shared_engine
from workbench.inference.local.network import load_network
from workbench.inference.local.text import TextFormat

PROMPTS, DRAWS, AT_ONCE = 20, 3000, 250
SAMPLING = Sampling(temperature=1.0, top_p=0.85, max_new_tokens=4)
"four tokens hold a label: whole answers occur often enough to be counted"


@pytest.mark.e2e
def test_the_embedded_model_is_shared_in_bf16_and_not_where_it_would_not_heed_positions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = load_network("smollm2", "bfloat16").network
    usual = network.model.forward
    with engine_over(network):
        pass
    monkeypatch.setattr(
        network.model, "forward", lambda *given, position_ids=None, **more: usual(*given, **more)
    )
    with pytest.raises(Unshareable, match="off by"):
        shared_engine(network, frozenset(), Work())


@pytest.mark.slow
def test_answers_of_the_embedded_model_are_distributed_as_if_drawn_one_by_one() -> None:
    loaded = load_network("smollm2")
    form, stop = TextFormat(loaded.tokenizer), frozenset({int(loaded.tokenizer.eos_token_id)})
    templates = [template for template in shipped_templates() if template.family == "chat"]
    statements = read_instrument("csv", shipped_instrument_folder()).statements[:PROMPTS]
    wordings = [
        wording.text
        for wording in (s.wording(ORIGINAL, "en") for s in statements)
        if wording is not None
    ]
    job = [
        form.encode(templates[i % len(templates)].render(text)) for i, text in enumerate(wordings)
    ]
    plain = Oracle(copy.deepcopy(loaded.network), stop)
    with engine_over(loaded.network, stop) as engine:
        drawn = counts(
            engine.sample(job, requests(DRAWS, len(job)), SAMPLING, form.spell), len(job)
        )
    torch.manual_seed(9)
    p_values = []
    for prompt, merged in zip(job, drawn, strict=True):
        independent: Counter[tuple[int, ...]] = Counter()
        for _ in range(DRAWS // AT_ONCE):
            independent.update(plain.sampled(prompt, AT_ONCE, SAMPLING))
        p_values += [
            of_two_samples(merged, independent),
            of_two_samples(first_tokens(merged), first_tokens(independent)),
        ]
    assert not any_rejected(p_values)
