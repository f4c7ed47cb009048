"""The probability of a set of tokens is that of a plain forward pass, summed in float64."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

from tests.inference.jobs_of_prompts import mixed_job
from tests.inference.oracle import Oracle
from tests.inference.random_models import ARCHITECTURES, STOP, VOCABULARY, build, engine_over
from workbench.data import shipped_instrument_folder
from workbench.domain.prompts import Message, Prompt
from workbench.domain.statements import ORIGINAL
from workbench.errors import ModelError
from workbench.formats.read import read_instrument
from workbench.inference.base import Work
from workbench.inference.engines import Engine, LikelyTokens
from workbench.inference.local.model import LocalModel
from workbench.inference.local.network import load_network
from workbench.inference.plain import PlainEngine

SETS = [[5], [6, 9, 40, 41], [], list(range(VOCABULARY)), [95, 2]]
CLOSE = 1e-6
"probabilities, fp32"


def expected(oracle: Oracle, prompt: list[int]) -> list[float]:
    chances = np.exp(oracle.next_log_probabilities(prompt))
    return [float(chances[tokens].sum()) for tokens in SETS]


def check(found: list[LikelyTokens], job: list[list[int]], oracle: Oracle) -> None:
    assert sorted(likeliest.prompt for likeliest in found) == list(range(len(job)))
    for likeliest in found:
        assert likeliest.masses == pytest.approx(expected(oracle, job[likeliest.prompt]), abs=CLOSE)


@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_sets_of_tokens_have_the_probability_of_a_plain_forward_pass(kind: str) -> None:
    job = mixed_job(24, 60, seed=8)
    with engine_over(build(kind)) as engine:
        found = list(engine.likeliest(job, 3, SETS))
    check(found, job, Oracle(build(kind), STOP))


def test_the_plain_engine_says_the_same(oracle: Oracle) -> None:
    job = mixed_job(12, 40, seed=9)
    check(list(PlainEngine(build("llama"), STOP, Work()).likeliest(job, 3, SETS)), job, oracle)


def test_sets_cost_no_further_pass(engine: Engine, work: Work) -> None:
    job = mixed_job(30, 40, seed=10)
    list(engine.likeliest(job, 3))
    alone = work.prompt_tokens_computed
    list(engine.likeliest(job, 3, SETS))
    assert work.prompt_tokens_computed == 2 * alone


def test_numbers_that_are_none_are_refused_and_not_summed() -> None:
    network = build("llama")
    with engine_over(network) as engine:
        with torch.no_grad():
            network.get_output_embeddings().weight[:] = float("nan")
        with pytest.raises(ModelError, match="no probabilities"):
            list(engine.likeliest([[5, 6]], 3, SETS))


@pytest.mark.e2e
def test_the_embedded_model_says_how_likely_a_word_is_over_its_whole_vocabulary() -> None:
    loaded = load_network("smollm2")
    plain, tokenizer = Oracle(copy.deepcopy(loaded.network), STOP), loaded.tokenizer
    model = LocalModel(loaded)
    statements = read_instrument("csv", shipped_instrument_folder()).statements[:3]
    texts = [
        wording.text
        for wording in (s.wording(ORIGINAL, "en") for s in statements)
        if wording is not None
    ]
    asked = [
        Prompt((Message("user", f"Please respond with 'yes' or 'no': {text}"),)) for text in texts
    ]
    spelled = {
        word: [t for t in range(len(tokenizer)) if tokenizer.decode([t]).strip().casefold() == word]
        for word in ("yes", "no")
    }
    assert {tokenizer.decode([t]) for t in spelled["yes"]} >= {"yes", "Yes", " yes", " Yes"}
    found = {table.prompt: table for table in model.next_tokens(asked, 20, ("yes", "No "))}
    for place, prompt in enumerate(asked):
        chances = np.exp(plain.next_log_probabilities(model.encode(prompt)))
        wanted = {"yes": chances[spelled["yes"]].sum(), "No ": chances[spelled["no"]].sum()}
        assert found[place].words == pytest.approx(wanted, abs=1e-5)
        assert len(found[place].texts) == 20
    model.close()
