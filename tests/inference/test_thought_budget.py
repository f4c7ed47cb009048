"""A thought has a budget of its own, is ended where it is spent, and merged sampling stays
exact.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.inference.saved_models import save_llama
from tests.inference.test_chat_turns import BARE, HARMONY, OWN, QWEN_3, R1, TURNS, made
from workbench.domain.prompts import Message, Prompt
from workbench.domain.responses import Request, Sampling
from workbench.domain.thinking import split
from workbench.errors import ModelError
from workbench.inference.base import Work
from workbench.inference.engines import WITHIN, ThoughtRule
from workbench.inference.load import load
from workbench.inference.local.model import LocalModel
from workbench.inference.local.text import TextFormat
from workbench.inference.plain import PlainEngine
from workbench.inference.tree import SampleTree

A, B, CLOSE, STOP = range(4)
SPELLED = {A: "a", B: "b", CLOSE: "</think>", STOP: "!"}


def spell(tokens: object) -> str:
    return "".join(SPELLED[token] for token in tokens)  # type: ignore[attr-defined]


def rule(budget: int, *, opened: bool = True) -> ThoughtRule:
    return ThoughtRule(budget, (B, CLOSE), "<think>" if opened else "", "</think>", spell)


def likely(tokens: tuple[int, ...]) -> np.ndarray:
    """Return probabilities of the four tokens that depend on all before."""
    rng = np.random.default_rng([7, *tokens])
    return rng.dirichlet([1.0, 1.0, 0.6, 0.4])


def grown(n: int, seed: int, budget: int, longest: int) -> Counter[tuple[int, ...]]:
    tree = SampleTree(n, seed, frozenset({STOP}), longest, None, rule(budget))
    while tree.rows:
        tree.grow(
            np.tile(np.arange(4), (len(tree.rows), 1)),
            np.array([likely(row.tokens) for row in tree.rows]),
        )
    return tree.finished


def exact(budget: int, longest: int) -> dict[tuple[int, ...], float]:
    """Return the probability of every output, walked one token at a time by the definition
    alone.
    """
    found: dict[tuple[int, ...], float] = {}

    def walk(tokens: tuple[int, ...], before: int | None, p: float) -> None:
        """`before`: tokens before the answer, None within the thought."""
        if before is None and len(tokens) == budget:
            ended = (*tokens, B, CLOSE)
            return walk(ended, len(ended), p)
        if before is not None and len(tokens) - before == longest:
            found[tokens] = found.get(tokens, 0.0) + p
            return None
        for token, share in enumerate(likely(tokens)):
            if token == STOP:
                found[tokens] = found.get(tokens, 0.0) + p * share
            else:
                after = (*tokens, token)
                walk(after, len(after) if before is None and token == CLOSE else before, p * share)
        return None

    walk((), None, 1.0)
    return found


@lru_cache
def of_definition(budget: int, longest: int) -> dict[tuple[int, ...], float]:
    return exact(budget, longest)


@pytest.mark.parametrize(("budget", "longest"), [(1, 1), (3, 2), (4, 3)])
def test_merged_samples_have_the_distribution_of_the_definition(budget: int, longest: int) -> None:
    wanted = of_definition(budget, longest)
    assert sum(wanted.values()) == pytest.approx(1.0)
    n = 40_000
    found = grown(n, 11, budget, longest)
    assert set(found) <= set(wanted), "nothing came that the definition does not allow"
    for tokens, p in wanted.items():
        assert found[tokens] / n == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / n) + 1e-4)


@given(st.integers(1, 6), st.integers(1, 4), st.integers(0, 2**32))
def test_no_thought_is_longer_than_its_budget_and_no_answer_longer_than_its_limit(
    budget: int, longest: int, seed: int
) -> None:
    of = rule(budget)
    for tokens, count in grown(20, seed, budget, longest).items():
        thought = of.thought(tokens)
        assert count > 0
        assert thought <= budget + len(of.end)
        assert len(tokens) - thought <= longest
        if CLOSE not in tokens:
            assert thought == len(tokens) < budget, (
                "only a model that stops by itself is cut off in thought"
            )


def test_a_model_that_does_not_begin_to_think_has_no_more_than_its_answer() -> None:
    of = ThoughtRule(5, (B, CLOSE), "", "</think>", lambda tokens: "agree"[: len(list(tokens))])
    assert of.start == 0
    assert [of.after(0, range(n)) for n in range(1, 5)] == [0, 0, 0, 0]
    writes = ThoughtRule(
        5,
        (B, CLOSE),
        "",
        "</think>",
        lambda tokens: "<think>well</think>yes"[: 7 * len(list(tokens))],
    )
    assert writes.after(0, [1]) == WITHIN
    assert writes.after(WITHIN, [1, 2]) == WITHIN
    assert writes.after(WITHIN, [1, 2, 3]) == 3


def model_of(template: str, folder: Path, **how: int) -> LocalModel:
    name = save_llama(folder, window=512, **how)
    made(template).save_pretrained(folder)
    loaded = load(name)
    assert isinstance(loaded, LocalModel)
    return loaded


def answered(model: LocalModel, sampling: Sampling, n: int = 1) -> list[tuple[str, int]]:
    (drawn,) = model.generate([Request(BARE, n, 3)], sampling)
    assert not drawn.failed, drawn.reason
    return list(drawn.answers)


def test_a_local_model_thinks_within_its_budget_and_then_answers(tmp_path: Path) -> None:
    model = model_of(R1, tmp_path / "r1")
    unbounded = Sampling(max_new_tokens=5)
    assert all(split(text).answer is None for text, _ in answered(model, unbounded, 20)), (
        "cut off in thought"
    )
    bounded = Sampling(max_new_tokens=5, thinking="9")
    found = answered(model, bounded, 20)
    assert sum(count for _, count in found) == 20
    assert all(split(text).answer is not None for text, _ in found)
    assert model.thinking_tokens == 20 * (9 + len("\n</think>\n\n") - 2), (
        "what is put after the mark is no thought"
    )
    off = [
        split(text) for text, _ in answered(model, Sampling(max_new_tokens=5, thinking="off"), 20)
    ]
    assert all(output.thinking == "" and output.answer is not None for output in off)
    model.close()


@torch.inference_mode()
def greedy(model: LocalModel, prompt: list[int], n: int) -> list[int]:
    """Return the likeliest continuation, a token at a time."""
    ids: list[int] = []
    network = model._engine.network  # type: ignore[attr-defined]
    usual = network.config._attn_implementation
    network.set_attn_implementation("sdpa")
    for _ in range(n):
        ids.append(int(network(torch.tensor([[*prompt, *ids]])).logits[0, -1].argmax()))
        if ids[-1] == 2:
            break
    network.set_attn_implementation(usual)
    return ids


def test_both_engines_put_the_same_end_where_the_budget_is_spent(tmp_path: Path) -> None:
    model = model_of(R1, tmp_path / "r1")
    prompt = model.encode(BARE)
    sampling = Sampling(top_k=1, top_p=1.0, max_new_tokens=4, thinking="6")
    of = model._format.rule(6, "<think>")
    thought = greedy(model, prompt, 6)
    whole = [*thought, *of.end, *greedy(model, [*prompt, *thought, *of.end], 4)]
    wanted = {tuple(token for token in whole if token != 2): 3}
    request = [Request(BARE, 3, 1)]
    ((shared,),) = model._engine.sample([prompt], request, sampling, model._format.spell, [of])
    assert shared.counts == wanted
    network = model._engine.network  # type: ignore[attr-defined]
    network.set_attn_implementation("sdpa")
    plain = PlainEngine(network, frozenset({2}), Work())
    ((alone,),) = plain.sample([prompt], request, sampling, model._format.spell, [of])
    assert alone.counts == wanted
    model.close()


@pytest.mark.parametrize(
    ("template", "opened", "text", "closing"),
    [
        (R1, "<think>", "\n</think>\n\n", "</think>"),
        (QWEN_3, "", "\n</think>\n\n", "</think>"),
        (OWN, "<inner_thought>", "\n</inner_thought>\n\n", "</inner_thought>"),
        (
            HARMONY,
            "",
            "<|end|><|start|>assistant<|channel|>final<|message|>",
            "<|channel|>final<|message|>",
        ),
    ],
)
def test_a_thought_is_ended_with_the_marks_of_its_own_template(
    template: str, opened: str, text: str, closing: str
) -> None:
    form = TextFormat(made(template))
    assert form.thinks
    assert form.encoded(BARE).opened == opened
    of = form.rule(3, opened)
    assert (form._literal(list(of.end)), of.closing) == (text, closing)


def test_a_model_that_does_not_think_and_a_raw_prompt_are_refused(tmp_path: Path) -> None:
    model = model_of(TURNS + "<|im_start|>assistant\n", tmp_path / "plain")
    for thinking in ("off", "low", "7"):
        with pytest.raises(
            ModelError, match=r"does not think before it answers.*Leave --thinking out"
        ):
            answered(model, Sampling(thinking=thinking))
    model.close()
    model = model_of(R1, tmp_path / "r1")
    raw = Prompt((Message("user", "Rents should"),), chat=False)
    (drawn,) = model.generate([Request(raw, 2, 1)], Sampling(thinking="7"))
    assert (drawn.failed, "a raw prompt is continued as text" in drawn.reason) == (2, True)
    model.close()
