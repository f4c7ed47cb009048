"""Answers have numbers: the first k of n are those that k would have been, and the rest can be
drawn later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.inference.jobs_of_prompts import counts, mixed_job, requests, spell
from tests.inference.random_models import STOP, build, engine_over
from workbench.domain.prompts import Message, Prompt
from workbench.domain.responses import Request, Sampling
from workbench.inference.base import Work
from workbench.inference.engines import Engine
from workbench.inference.plain import PlainEngine
from workbench.inference.scripted.answers import LetterHabits
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.inference.tree import BLOCK, SampleTree, Uniforms
from workbench.stats.proportions import VerdictRule, least_more

SAMPLING = Sampling(temperature=1.3, top_p=0.95, max_new_tokens=8)
PROMPT = Prompt((Message("user", 'Answer "agree" or "disagree": taxes should fall.'),))
LETTERED = Prompt((Message("user", "Which?\nA. one\nB. two\nC. three\nAnswer:"),))


@pytest.mark.parametrize("depth", [0, 5, BLOCK - 1, BLOCK, 3 * BLOCK + 7])
def test_a_samples_number_at_a_depth_is_the_same_however_many_are_drawn(depth: int) -> None:
    whole = Uniforms(7, 0, 50).numbers_at(depth)
    assert np.array_equal(Uniforms(7, 0, 9).numbers_at(depth), whole[:9])
    assert np.array_equal(Uniforms(7, 9, 41).numbers_at(depth), whole[9:])
    assert not np.array_equal(Uniforms(8, 0, 50).numbers_at(depth), whole)
    assert not np.array_equal(Uniforms(7, 0, 50).numbers_at(depth + 1), whole)


def test_the_numbers_are_uniform_and_those_of_neighbours_do_not_go_together() -> None:
    """2,000 seeds, 30 samples and 20 depths: mean, variance, and correlations along each axis are
    those of chance.
    """
    found = np.array(
        [[Uniforms(seed, 0, 30).numbers_at(depth) for depth in range(20)] for seed in range(2000)]
    )
    n = found.size
    assert abs(found.mean() - 0.5) < 4 / np.sqrt(12 * n)
    assert abs(found.var() - 1 / 12) < 4 / np.sqrt(180 * n)
    centred = found - 0.5
    for axis in range(3):
        a, b = np.delete(centred, 0, axis), np.delete(centred, -1, axis)
        assert abs((a * b).mean() * 12) < 4 / np.sqrt(a.size)


def grown(seed: int, first: int, n: int, longest: int) -> Counter[tuple[int, ...]]:
    tree = SampleTree(n, seed, frozenset({0}), longest, first=first)
    while tree.rows:
        chances = [
            np.random.default_rng([3, *row.tokens]).dirichlet([0.3, 1.0, 1.0, 1.0])
            for row in tree.rows
        ]
        tree.grow(np.tile(np.arange(4), (len(tree.rows), 1)), np.array(chances))
    return tree.finished


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**63), st.lists(st.integers(0, 12), min_size=1, max_size=4), st.integers(1, 40)
)
def test_a_tree_in_parts_is_the_tree_at_once(seed: int, parts: list[int], longest: int) -> None:
    found: Counter[tuple[int, ...]] = Counter()
    at = 0
    for n in filter(None, parts):
        found += grown(seed, at, n, longest)
        at += n
    assert found == (grown(seed, 0, at, longest) if at else Counter())


@pytest.fixture(params=["shared", "plain"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    if request.param == "plain":
        yield PlainEngine(build("mamba"), STOP, Work())
        return
    with engine_over(build("llama"), STOP) as made:
        yield made


def test_a_networks_answers_in_rounds_are_its_answers_at_once(engine: Engine) -> None:
    prompts = mixed_job(12, 12)
    wanted = requests(12, len(prompts), first=40)
    whole = counts(engine.sample(prompts, wanted, SAMPLING, spell), len(prompts))
    rounds = [(0, 7), (7, 3), (10, 2)]
    parts: list[Counter[tuple[int, ...]]] = [Counter() for _ in prompts]
    for first, n in rounds:
        some = [replace(one, first=first, n=n) for one in wanted]
        for place, found in enumerate(
            counts(engine.sample(prompts, some, SAMPLING, spell), len(prompts))
        ):
            parts[place] += Counter(found)
    same = [dict(one) == other for one, other in zip(parts, whole, strict=True)]
    assert np.mean(same) > 0.9  # a draw may fall on the last digit of a probability
    assert sum(len(one) for one in whole) > 5 * len(prompts)  # there is much to get wrong


def said(
    model: ScriptedModel, rounds: Sequence[tuple[int, int]], prompt: Prompt, sampling: Sampling
) -> Counter[str]:
    found: Counter[str] = Counter()
    for first, n in rounds:
        for drawn in model.generate([Request(prompt, n, 11, first=first)], sampling):
            found.update(dict(drawn.answers))
    return found


@pytest.mark.parametrize(
    ("persona", "prompt"),
    [
        (ScriptedPersona(agree=0.6, unreadable=0.2), PROMPT),
        (ScriptedPersona(agree=0.6, thoughts=("one two three", "four five")), PROMPT),
        (ScriptedPersona(answers=("yes", "no", "perhaps", "never")), PROMPT),
        (ScriptedPersona(letters=LetterHabits(), unreadable=0.1), LETTERED),
    ],
    ids=["labels", "thoughts", "answers", "letters"],
)
def test_a_scripted_models_answers_in_rounds_are_its_answers_at_once(
    persona: ScriptedPersona, prompt: Prompt
) -> None:
    thinking = Sampling(thinking="2") if persona.thoughts else Sampling()
    whole = said(ScriptedModel(persona), [(0, 60)], prompt, thinking)
    assert said(ScriptedModel(persona), [(0, 22), (22, 8), (30, 30)], prompt, thinking) == whole
    assert len(whole) > 1


def test_a_scripted_models_answers_are_the_same_with_thoughts_and_without() -> None:
    bare, thinks = (
        ScriptedPersona(agree=0.6),
        ScriptedPersona(agree=0.6, thoughts=("one two", "three four")),
    )
    plain = said(ScriptedModel(bare), [(0, 40)], PROMPT, Sampling())
    thought = said(ScriptedModel(thinks), [(0, 40)], PROMPT, Sampling(thinking="low"))
    assert Counter({text.rpartition("</think>")[2]: 0 for text in thought}).keys() == plain.keys()
    ends: Counter[str] = Counter()
    for text, count in thought.items():
        ends[text.rpartition("</think>")[2]] += count
    assert ends == plain


def side(answer: tuple[int, ...]) -> int:
    """Stand for a reader: 0 agrees, 1 disagrees, 2 is unreadable."""
    return 2 if not answer else (0, 0, 1, 2)[answer[0] % 4]


def test_a_network_asked_until_settled_has_the_verdicts_of_all_answers(engine: Engine) -> None:
    """30 answers, each round as long as the prompt needs at least; the triples are those of 30 at
    once.
    """
    rule = VerdictRule()
    prompts = mixed_job(12, 12)
    wanted = requests(30, len(prompts), first=90)
    whole = counts(engine.sample(prompts, wanted, SAMPLING, spell), len(prompts))
    held = np.zeros((len(prompts), 3), dtype=np.int64)
    while need := {i: n for i in range(len(prompts)) if (n := least_more(*held[i].tolist(), rule))}:
        some = [replace(wanted[i], first=int(held[i].sum()), n=n) for i, n in need.items()]
        mine = [prompts[i] for i in need]
        for i, found in zip(
            need, counts(engine.sample(mine, some, SAMPLING, spell), len(mine)), strict=True
        ):
            for answer, count in found.items():
                held[i, side(answer)] += count
    ends = np.zeros_like(held)
    for i, found in enumerate(whole):
        for answer, count in found.items():
            ends[i, side(answer)] += count
    triples = rule.triples()
    assert (ends.sum(axis=1) == 30).all()
    assert held.sum() < ends.sum()
    same = triples[held[:, 0], held[:, 1]] == triples[ends[:, 0], ends[:, 1]]
    assert same.mean() > 0.9  # a draw may fall on the last digit of a probability
    assert len(set(triples[ends[:, 0], ends[:, 1]].tolist())) > 1
