"""How a job is cut for a cluster. No Ray is needed for it."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.prompts import Message, Prompt
from workbench.domain.responses import Drawn, ModelCard, Request, Sampling
from workbench.errors import MissingPackage, ModelError, UsageError
from workbench.inference.base import NextTokens
from workbench.inference.cluster.engine import ClusterEngine, load_card
from workbench.inference.cluster.model import ClusterModel, common_card, load_cluster
from workbench.inference.cluster.shards import (
    AllAnswered,
    AnsweredPart,
    ClusterCall,
    ClusterError,
    ClusterJoined,
    ClusterLoss,
    ClusterMessage,
    NextTokensTask,
    SamplingTask,
    ScoringTask,
    Shard,
    checked_address,
    chunks_in_order,
    divide,
    index_of,
    plan_engines,
)
from workbench.inference.load import load


def prompt(text: str) -> Prompt:
    return Prompt((Message("user", text),))


def node(name: str, *, alive: bool = True, **resources: float) -> dict[str, object]:
    return {"NodeID": name, "NodeManagerHostname": name, "Alive": alive, "Resources": resources}


@given(st.lists(st.text(max_size=4), max_size=60), st.integers(1, 9), st.integers(1, 20))
def test_every_prompt_is_in_one_shard_at_its_place(
    texts: list[str], engines: int, most: int
) -> None:
    items = {3 * i: prompt(text) for i, text in enumerate(texts)}
    shards = divide(items, engines, most)
    assert sorted(place for shard in shards for place in shard.places) == sorted(items)
    assert all(
        items[place] == item
        for shard in shards
        for place, item in zip(shard.places, shard.items, strict=True)
    )
    assert all(1 <= len(shard.places) <= most for shard in shards)


def test_prompts_that_begin_alike_travel_together() -> None:
    texts = [f"{kind} {i}" for i in range(50) for kind in ("a", "b")]
    shards = divide(dict(enumerate(map(prompt, texts))), 1, 25)
    assert len(shards) == 4
    assert all(len({texts[place][0] for place in shard.places}) == 1 for shard in shards)


def test_a_small_job_still_has_work_for_every_engine() -> None:
    assert len(divide({i: prompt(str(i)) for i in range(32)}, engines=4, most=128)) == 16
    assert len(divide({0: prompt("one")}, engines=8)) == 1
    assert divide({}, engines=8) == []


@given(st.integers(0, 40), st.integers(1, 9), st.randoms(use_true_random=False))
def test_chunks_of_a_shard_are_the_same_whatever_order_the_engine_works_in(
    count: int, size: int, chance: random.Random
) -> None:
    answers = [Drawn(i, ((str(i), 1),)) for i in range(count)]
    shuffled = chance.sample(answers, count)
    chunks = list(chunks_in_order(shuffled, size))
    assert chunks == [tuple(answers[start : start + size]) for start in range(0, count, size)]


def test_an_answer_that_never_came_does_not_hold_back_the_others() -> None:
    came = [Drawn(i, ()) for i in (4, 0, 3, 1)]
    assert [index_of(answer) for chunk in chunks_in_order(came, 2) for answer in chunk] == [
        0,
        1,
        3,
        4,
    ]


def test_there_is_one_engine_a_gpu_and_the_head_without_one_has_none() -> None:
    plan = plan_engines([node("head", CPU=8), node("a", CPU=64, GPU=4), node("b", CPU=64, GPU=2)])
    assert (plan.engines, plan.gpus, [name for _, name in plan.nodes]) == (6, 1, ["a", "b"])
    assert plan_engines([node("a", CPU=64, GPU=4)], engines=9).engines == 4


def test_without_gpus_there_is_one_engine_a_node_with_all_its_cores() -> None:
    plan = plan_engines(
        [node("head", CPU=0), node("a", CPU=16), node("b", CPU=8), node("c", alive=False, CPU=8)]
    )
    assert (plan.engines, plan.gpus, plan.cpus, len(plan.nodes)) == (2, 0, 8, 2)
    assert plan_engines([node("a", CPU=8)], engines=4).cpus == 2
    with pytest.raises(UsageError, match="none of the cluster's 0 nodes"):
        plan_engines([node("gone", alive=False, CPU=8)])


@pytest.mark.parametrize("address", ["local", "auto", "node-1:6379", "10.0.0.7:6379", "[::1]:6379"])
def test_addresses_of_clusters(address: str) -> None:
    assert checked_address(address) == address


@pytest.mark.parametrize(
    "address", ["", "node-1", "node-1:", "node-1:70000", "node 1:6379", "ray://node-1:10001"]
)
def test_anything_else_is_no_address(address: str) -> None:
    with pytest.raises(UsageError, match="HOST:PORT of its head"):
        checked_address(address)


def test_an_engine_answers_a_shard_under_the_jobs_positions() -> None:
    asked = tuple(Request(prompt(f"agree or disagree {i}"), 5, i) for i in range(20))
    engine = ClusterEngine("scripted", "", ".", SamplingTask(Sampling()))
    said = [row["said"][0] for row in engine({"shard": [Shard(tuple(range(100, 120)), asked)]})]
    assert all(isinstance(part, AnsweredPart) for part in said)
    there = [
        answer
        for part in said
        if isinstance(part, AnsweredPart)
        for answer in part.answers
        if isinstance(answer, Drawn)
    ]
    here = load("scripted").generate(asked, Sampling())
    assert {d.request - 100: d.answers for d in there} == {d.request: d.answers for d in here}
    assert [len(part.answers) for part in said if isinstance(part, AnsweredPart)] == [8, 8, 4]


def test_a_bug_of_an_engine_is_told_with_its_trace() -> None:
    engine = ClusterEngine("scripted", "", ".", ScoringTask())
    [row] = engine({"shard": [Shard((0,), (prompt("no options"),))]})
    [said] = row["said"]
    assert isinstance(said, ClusterError)
    assert "Traceback" in said.trace


def test_words_of_next_tokens_travel_to_the_engine_and_their_masses_back() -> None:
    engine = ClusterEngine("scripted", "", ".", NextTokensTask(3, ("yes", "no")))
    asked = [
        Prompt((Message("user", f"Please respond with 'yes' or 'no': {i}?"),)) for i in range(3)
    ]
    alone = {found.prompt: found for found in load("scripted").next_tokens(asked, 3, ("yes", "no"))}
    said = pickle.loads(
        pickle.dumps(
            [row["said"][0] for row in engine({"shard": [Shard((4, 5, 6), tuple(asked))]})]
        )
    )
    came = {
        answer.prompt: answer
        for one in said
        if isinstance(one, AnsweredPart)
        for answer in one.answers
    }
    assert sorted(came) == [4, 5, 6]
    for place, found in alone.items():
        assert isinstance(came[place + 4], NextTokens)
        assert came[place + 4].texts == found.texts
        assert came[place + 4].words == found.words


def test_an_engine_loads_the_model_in_the_chat_format_that_was_chosen() -> None:
    with pytest.raises(UsageError, match=r"\(smollm2\) has no effect on a scripted model"):
        ClusterEngine("scripted", "", ".", ScoringTask(), "smollm2")
    found = load_card("scripted", "", ".", "smollm2")
    assert isinstance(found, ClusterError)
    assert "chat format (smollm2)" in found.text
    with pytest.raises(UsageError, match="no effect"):
        load("scripted", cluster="local", chat_format="smollm2")


def test_nodes_with_different_models_are_named() -> None:
    cards = [
        ModelCard("m", "1", "transformers", dtype, "none") for dtype in ("bfloat16", "float32")
    ]
    assert common_card("m", [AnsweredPart("a", cards[0]), AnsweredPart("b", cards[0])]) == cards[0]
    with pytest.raises(ModelError, match=r"a, b: revision 1, bfloat16; c: revision 1, float32"):
        common_card(
            "m",
            [AnsweredPart("a", cards[0]), AnsweredPart("c", cards[1]), AnsweredPart("b", cards[0])],
        )


def test_without_ray_the_install_line_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.inference.cluster.model.find_spec", lambda _: None)
    with pytest.raises(MissingPackage, match=r"pip install .*\[ray\]'"):
        load_cluster("scripted", "", "local", {})


def test_a_served_model_needs_no_cluster() -> None:
    with pytest.raises(UsageError, match="served elsewhere"):
        load_cluster("openai:m@http://127.0.0.1:1/v1", "", "local", {})


@pytest.mark.parametrize("variable", ["WORKBENCH_ENGINES", "WORKBENCH_SHARD"])
def test_a_number_that_is_none_is_refused(variable: str) -> None:
    with pytest.raises(UsageError, match=variable):
        load_cluster("scripted", "", "local", {variable: "0"})


CARD = ModelCard("m", "1", "transformers", "float32", "none")


class Rounds:
    """Stands for Ray: what it says in each round."""

    def __init__(self, *rounds: Sequence[ClusterMessage]):
        self.rounds = list(rounds)
        self.asked: list[tuple[int, ...]] = []
        self.closed = 0

    def __call__(self, call: ClusterCall) -> Rounds:
        self.asked.append(tuple(place for place, _ in call.items))
        return self

    def messages(self) -> Iterator[ClusterMessage]:
        yield from self.rounds.pop(0)

    def close(self) -> None:
        self.closed += 1


def part(*places: int) -> AnsweredPart:
    return AnsweredPart(
        "a", CARD, tuple(Drawn(place, ((str(place), 1),)) for place in places), (10, 4, 2, 1)
    )


def answers(
    monkeypatch: pytest.MonkeyPatch, rounds: Rounds, count: int = 4
) -> tuple[ClusterModel, Iterator[Drawn]]:
    monkeypatch.setattr("workbench.inference.cluster.model.RayProcess", rounds)
    model = ClusterModel(ClusterCall("auto", "m", ""), CARD)
    return model, model.generate([Request(prompt(str(i)), 1, i) for i in range(count)], Sampling())


def test_what_comes_twice_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = Rounds([ClusterJoined(1, 1), part(0, 1), part(0, 1, 2), part(3), AllAnswered()])
    model, found = answers(monkeypatch, rounds)
    assert [(d.request, d.more) for d in found] == [(0, True), (1, False), (2, False), (3, False)]
    assert model.answered_by == {"a": 4}
    assert (model.work.prompt_tokens, model.work.sampled_tokens_computed) == (30, 3)


def test_what_a_lost_cluster_left_open_is_asked_again_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rounds = Rounds(
        [part(1), ClusterLoss("gone")], [part(3), AllAnswered()], [part(0, 2), AllAnswered()]
    )
    _, found = answers(monkeypatch, rounds)
    assert sorted(d.request for d in found) == [0, 1, 2, 3]
    assert rounds.asked == [(0, 1, 2, 3), (0, 2, 3), (0, 2)]


def test_a_cluster_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = Rounds([part(1), ClusterLoss("gone")], *([ClusterLoss("gone again")],) * 9)
    _, found = answers(monkeypatch, rounds)
    assert next(found).request == 1
    with pytest.raises(ModelError, match=r"gone again\. What was answered is kept"):
        next(found)
    assert len(rounds.asked) == 4


def test_a_node_that_answers_with_another_model_ends_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = AnsweredPart(
        "late", ModelCard("m", "2", "transformers", "float32", "none"), (Drawn(0, (("x", 1),)),)
    )
    _, found = answers(monkeypatch, Rounds([other]))
    with pytest.raises(ModelError, match="late: revision 2"):
        next(found)


def test_a_run_that_is_stopped_ends_its_ray_process(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = Rounds([part(0), part(1), AllAnswered()])
    model, found = answers(monkeypatch, rounds)
    next(found)
    assert rounds.closed == 0
    model.close()
    assert rounds.closed == 1
