"""The engine without sharing against the networks themselves: decoder-only, recurrent,
encoder-decoder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.stats import chisquare

from tests.inference.oracle import Answer, Oracle
from tests.inference.random_models import STOP, build
from workbench.domain.prompts import Message, Prompt
from workbench.domain.responses import Request, Sampling
from workbench.errors import ModelError
from workbench.inference import plain
from workbench.inference.base import Work
from workbench.inference.engines import SampledAnswers, Tokens
from workbench.inference.plain import PlainEngine

PROMPTS: list[list[int]] = [[5, 6, 7, 8], [9], [30, 31, 5, 6, 7, 8, 12]]
ANY = Prompt((Message("user", "any"),))
SHORT = Sampling(max_new_tokens=6)
KINDS = ("llama", "mamba", "bloom", "t5")


class Seq2SeqOracle(Oracle):
    """An encoder-decoder by forward passes over the whole text of its decoder: the encoder reads
    `prompt`.
    """

    def __init__(self, network: Any, prompt: Tokens):
        super().__init__(network, STOP)
        self._prompt = list(prompt)

    @torch.inference_mode()
    def logits(self, sequences: Sequence[Tokens]) -> torch.Tensor:
        ids = torch.tensor([self._prompt] * len(sequences))
        logits: torch.Tensor = self.network(
            input_ids=ids,
            decoder_input_ids=torch.tensor([list(s) for s in sequences]),
            use_cache=False,
        ).logits
        return logits


def oracle_of(kind: str, prompt: list[int]) -> tuple[Oracle, list[int]]:
    """Return an oracle with a network of its own, and what its text begins with."""
    return (
        (Seq2SeqOracle(build(kind), prompt), [0])
        if kind == "t5"
        else (Oracle(build(kind), STOP), prompt)
    )


def engine_of(kind: str = "llama", **more: Any) -> PlainEngine:
    return PlainEngine(build(kind, **more), STOP, Work())


def request(n: int, seed: int = 1, decided: Any = None) -> Request:
    return Request(ANY, n, seed, decided)


def drawn(
    engine: PlainEngine, wanted: list[Request], sampling: Sampling = SHORT
) -> list[SampledAnswers]:
    prompts = PROMPTS[: len(wanted)]
    return [
        answers for group in engine.sample(prompts, wanted, sampling, spell) for answers in group
    ]


def spell(tokens: Tokens) -> str:
    return " ".join(map(str, tokens))


def greedy(kind: str, prompt: list[int], most: int) -> Answer:
    oracle, begun = oracle_of(kind, prompt)
    answer: list[int] = []
    for _ in range(most):
        token = int(oracle.logits([[*begun, *answer]])[0, -1].argmax())
        if token in STOP:
            break
        answer.append(token)
    return tuple(answer)


@pytest.mark.parametrize("kind", KINDS)
def test_the_likeliest_answer_is_that_of_forward_passes_over_everything(kind: str) -> None:
    sampling = Sampling(top_k=1, top_p=1.0, max_new_tokens=6)
    found = drawn(engine_of(kind), [request(2), request(2), request(2)], sampling)
    assert [answers.counts for answers in found] == [
        {greedy(kind, prompt, 6): 2} for prompt in PROMPTS
    ]


@pytest.mark.parametrize("kind", ["llama", "t5"])
@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(temperature=0.7, top_p=0.85, max_new_tokens=2),
        Sampling(temperature=1.3, top_p=1.0, top_k=5, max_new_tokens=2),
        Sampling(temperature=1.0, top_p=0.6, top_k=8, max_new_tokens=2),
    ],
    ids=str,
)
def test_answers_are_as_frequent_as_they_are_likely(kind: str, sampling: Sampling) -> None:
    """Chi-square of 4,000 answers of two tokens against the probability of each, at 0.001."""
    n = 4000
    oracle, begun = oracle_of(kind, PROMPTS[0])
    wanted = oracle.distribution(begun, sampling)
    ((answers,),) = engine_of(kind).sample([PROMPTS[0]], [request(n, seed=11)], sampling, spell)
    assert set(answers.counts) <= set(wanted)
    likely = [answer for answer, p in wanted.items() if n * p >= 5]
    observed = [answers.counts.get(answer, 0) for answer in likely]
    expected = [n * wanted[answer] for answer in likely]
    rest = n - sum(expected)
    if rest > 1:
        observed, expected = [*observed, n - sum(observed)], [*expected, rest]
    scaled = np.array(expected) * sum(observed) / sum(expected)
    assert chisquare(observed, scaled).pvalue > 0.001


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_one_forward_pass_a_continuation(kind: str) -> None:
    ends = [[[3], [4, 5], [6, 7, 8, 9]], [[10, 3]], [[2], [90, 91]]]
    engine = engine_of(kind)
    for scores in engine.score(PROMPTS, ends):
        oracle, begun = oracle_of(kind, PROMPTS[scores.prompt])
        wanted = [oracle.score(begun, end) for end in ends[scores.prompt]]
        assert np.allclose(scores.log_probabilities, wanted, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_next_tokens_are_the_likeliest_of_a_forward_pass(kind: str) -> None:
    for found in engine_of(kind).likeliest(PROMPTS, 4):
        oracle, begun = oracle_of(kind, PROMPTS[found.prompt])
        log = oracle.next_log_probabilities(begun)
        best: NDArray[np.int64] = np.argsort(-log)[:4]
        assert found.tokens == tuple(best.tolist())
        assert np.allclose(found.log_probabilities, log[best], atol=1e-4)


def test_a_models_own_generation_settings_have_no_effect() -> None:
    """As published on hubs: penalties, bans, a top-k of its own. The sampling asked for is all that
    counts.
    """
    usual = drawn(engine_of(), [request(40), request(40)])
    engine = engine_of()
    settings = engine._network.generation_config
    settings.repetition_penalty, settings.no_repeat_ngram_size, settings.do_sample = 5.0, 1, True
    settings.top_k, settings.temperature, settings.top_p, settings.min_p = 1, 0.01, 0.1, 0.9
    settings.suppress_tokens, settings.min_new_tokens, settings.num_beams = [94, 78, 55], 6, 3
    settings.eos_token_id = 94
    assert drawn(engine, [request(40), request(40)]) == usual
    assert engine._network.generation_config is settings
    assert settings.num_beams == 3


@pytest.mark.e2e
@pytest.mark.parametrize("kind", ["llama", "t5"])
def test_answers_do_not_depend_on_how_many_are_drawn_at_once(kind: str) -> None:
    engine = engine_of(kind)
    usual = drawn(engine, [request(20, 1), request(20, 2)])
    engine.limit_parallel(3)
    assert drawn(engine, [request(20, 1), request(20, 2)]) == usual
    assert drawn(engine, [request(20, 1)]) == usual[:1]
    assert drawn(engine, [request(20, 3)]) != usual[:1]


def test_the_generators_of_the_program_are_left_alone() -> None:
    torch.manual_seed(3)
    wanted = torch.rand(4)
    torch.manual_seed(3)
    drawn(engine_of(), [request(5)])
    assert torch.equal(torch.rand(4), wanted)


def test_an_answer_may_end_before_its_first_token() -> None:
    """A greedy answer whose first token stops it is empty, and there is one forward pass of the
    prompt alone.
    """
    first = greedy("llama", PROMPTS[0], 1)[0]
    engine = PlainEngine(build("llama"), frozenset({first}), Work())
    (answers,) = drawn(engine, [request(3)], Sampling(top_k=1, top_p=1.0))
    assert answers.counts == {(): 3}
    assert engine._work.sampled_tokens == 0


def test_work_counts_what_went_through_the_network() -> None:
    engine = engine_of()
    (answers,) = drawn(engine, [request(4)], Sampling(max_new_tokens=1))
    assert engine._work == Work(4 * len(PROMPTS[0]), 4 * len(PROMPTS[0]), 0, 0)
    assert sum(answers.counts.values()) == 4
    encoder = engine_of("t5")
    drawn(encoder, [request(4)], Sampling(max_new_tokens=1))
    assert encoder._work == Work(len(PROMPTS[0]), len(PROMPTS[0]), 0, 0)


class Two:
    """Settled by two tokens, unless the second is the last that there may be."""

    def __call__(self, text: str) -> bool:
        return len(text.split()) == 2


@pytest.mark.parametrize("kind", ["llama", "t5"])
def test_an_answer_ends_where_it_is_decided_and_is_else_the_same(kind: str) -> None:
    engine = engine_of(kind)
    (whole,) = drawn(engine, [request(50)])
    (cut,) = drawn(engine, [request(50, decided=Two())])
    expected = Counter[Answer]()
    for tokens, count in whole.counts.items():
        expected[tokens[:2]] += count
    assert cut.counts == expected
    assert cut.decided == sum(count for tokens, count in expected.items() if len(tokens) == 2) > 0
    assert whole.decided == 0


def test_an_answer_that_is_decided_by_its_last_token_was_not_ended_early() -> None:
    (answers,) = drawn(engine_of(), [request(20, decided=Two())], Sampling(max_new_tokens=2))
    assert answers.decided == 0


@pytest.mark.parametrize("kind", ["llama", "t5"])
def test_where_memory_runs_out_fewer_are_drawn_at_once(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = drawn(engine_of(kind), [request(20), request(20)])
    engine, rows = engine_of(kind), list[int]()
    generate = engine._network.generate

    def short_of_memory(**given: Any) -> Any:
        rows.append(len(given["attention_mask"]))
        if rows[-1] > 6:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return generate(**given)

    monkeypatch.setattr(engine._network, "generate", short_of_memory)
    assert drawn(engine, [request(20), request(20)]) == usual
    assert rows == [20, 10, *[5] * 4, *[5] * 4]


def test_where_memory_runs_out_scores_come_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = [[[3], [4, 5], [6, 7, 8], [9], [10]]]
    (wanted,) = engine_of().score(PROMPTS[:1], ends)
    engine = engine_of()
    forward = engine._network.forward

    def short_of_memory(**given: Any) -> Any:
        if len(given["input_ids"]) > 2:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        return forward(**given)

    monkeypatch.setattr(engine._network, "forward", short_of_memory)
    (found,) = engine.score(PROMPTS[:1], ends)
    assert np.allclose(found.log_probabilities, wanted.log_probabilities, atol=1e-5)


def test_memory_for_not_even_one_row_is_an_error_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = engine_of()

    def no_memory(**_: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 1 GiB\nmore")

    monkeypatch.setattr(engine._network, "generate", no_memory)
    with pytest.raises(ModelError, match=r"not enough memory.*Tried to allocate 1 GiB\).*--dtype"):
        drawn(engine, [request(9)])


def test_other_errors_of_a_network_keep_their_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_of()

    def broken(**_: Any) -> Any:
        raise RuntimeError("shapes do not match")

    monkeypatch.setattr(engine._network, "generate", broken)
    with pytest.raises(RuntimeError, match="shapes"):
        drawn(engine, [request(9)])


def test_rows_are_as_many_as_free_memory_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, rows = engine_of(), list[int]()
    generate = engine._network.generate

    def watched(**given: Any) -> Any:
        rows.append(len(given["attention_mask"]))
        return generate(**given)

    monkeypatch.setattr(engine._network, "generate", watched)
    monkeypatch.setattr(
        plain, "free_bytes", lambda device: 2 * 4 * engine._row_bytes(len(PROMPTS[0]) + 6, 1)
    )
    drawn(engine, [request(10)])
    assert rows == [4, 4, 2]


def test_a_network_without_numbers_is_an_error_and_no_answer() -> None:
    engine = engine_of()
    with torch.no_grad():
        engine._network.lm_head.weight[7] = float("nan")
    with pytest.raises(ModelError, match=r"no probabilities.*--dtype"):
        drawn(engine, [request(2)])
