"""The same job on a cluster: the same answers, each once, whatever is lost on the way. Real Ray,
real processes.
"""

from __future__ import annotations

import os
import socket
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psutil  # type: ignore[import-untyped]
import pytest

from stores.core.store import Store
from tests.conftest import instrument
from workbench.domain.designs import Design
from workbench.domain.prompts import Message, Prompt
from workbench.domain.responses import Drawn, Request, Sampling
from workbench.errors import ModelError
from workbench.inference.cluster.model import ClusterModel, load_cluster
from workbench.inference.load import load
from workbench.jobs import launch
from workbench.jobs.worker import run

pytestmark = pytest.mark.ray

SAMPLING = Sampling(max_new_tokens=4)


def stored(store: Store) -> Counter[tuple[bytes, bytes]]:
    """Return what a store holds: how often each prompt was answered by each text."""
    rows = store.connection.execute(
        "select p.key, t.key, r.count from draw d join prompt p on p.id = d.prompt_id "
        "join response r on r.draw_id = d.id join text t on t.id = r.text_id"
    )
    return Counter({(prompt, text): count for prompt, text, count in rows})


def draws(store: Store) -> list[int]:
    """Return how many draws each asked prompt has."""
    return [n for (n,) in store.connection.execute("select count(*) from draw group by prompt_id")]


def job(folder: Path, design: Design) -> Store:
    """Do a job in a store of its own, as a worker process does it."""
    folder.mkdir()
    with Store.open(folder / "audit.db", create=True) as store:
        store.instruments.add(instrument())
        job_id = launch.create(store, design)
    assert run(folder / "audit.db", job_id) == 0
    return Store.open(folder / "audit.db")


def requests(count: int, n: int = 3) -> list[Request]:
    texts = [f"Is statement {i % 5} of {i} beneficial or harmful?" for i in range(count)]
    return [Request(Prompt((Message("user", text),)), n, seed) for seed, text in enumerate(texts)]


def engines() -> list[psutil.Process]:
    """Return the processes with an engine among those that this test run started."""
    return [
        p
        for p in psutil.Process(os.getpid()).children(recursive=True)
        if "MapWorker" in p.name() + _line(p)
    ]


def _line(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def answered(model: ClusterModel, asked: Sequence[Request]) -> Iterator[Drawn]:
    """Ask, and check that nothing comes twice and nothing is missing."""
    seen: set[int] = set()
    for drawn in model.generate(asked, SAMPLING):
        assert drawn.request not in seen
        seen.add(drawn.request)
        yield drawn
    assert seen == set(range(len(asked)))


def expected(name: str, asked: Sequence[Request]) -> dict[int, tuple[tuple[str, int], ...]]:
    return {drawn.request: drawn.answers for drawn in load(name).generate(asked, SAMPLING)}


def test_a_job_on_two_nodes_stores_what_it_stores_without_them(
    cluster: Any, tiny: str, tmp_path: Path
) -> None:
    here = Design("small", tiny, samples=4, sampling=SAMPLING)
    there = Design("small", tiny, samples=4, sampling=SAMPLING, cluster=cluster.address)
    with job(tmp_path / "here", here) as one, job(tmp_path / "there", there) as other:
        assert stored(other) == stored(one)
        assert sum(stored(other).values()) == 72 * 4
        assert draws(other) == [1] * 72


@pytest.fixture(scope="module")
def model(cluster: Any, tiny: str) -> ClusterModel:
    return load_cluster(tiny, "", cluster.address)


@pytest.fixture(scope="module")
def slow_model(cluster: Any, slow: str) -> ClusterModel:
    return load_cluster(slow, "", cluster.address)


def test_an_engine_that_is_killed_loses_nothing_and_both_nodes_answer(
    slow: str, slow_model: ClusterModel
) -> None:
    asked, got = requests(120), {}
    for drawn in answered(slow_model, asked):
        got[drawn.request] = drawn.answers
        if len(got) == 8:
            victim, *_ = engines()
            victim.kill()
    assert got == expected(slow, asked)
    assert len(slow_model.answered_by) == 2
    assert sum(slow_model.answered_by.values()) == 120


def test_a_node_that_is_lost_loses_nothing(
    cluster: Any, slow: str, slow_model: ClusterModel
) -> None:
    third = cluster.add_node(num_cpus=1)
    asked, got = requests(120), {}
    for drawn in answered(slow_model, asked):
        got[drawn.request] = drawn.answers
        if len(got) == 8:
            cluster.remove_node(third, allow_graceful=False)
    assert got == expected(slow, asked)


def test_stopping_frees_the_engines_at_once(slow_model: ClusterModel) -> None:
    answers = slow_model.generate(requests(120), SAMPLING)
    next(answers)
    busy = engines()
    assert busy
    answers.close()  # type: ignore[attr-defined]
    _, alive = psutil.wait_procs(busy, timeout=20)
    assert not alive


def test_what_the_engines_computed_is_added_up(tiny: str, model: ClusterModel) -> None:
    asked, local = requests(40), load(tiny)
    assert model.card == local.card
    here = {drawn.request: drawn.answers for drawn in local.generate(asked, SAMPLING)}
    assert {drawn.request: drawn.answers for drawn in answered(model, asked)} == here
    assert model.work.prompt_tokens == local.work.prompt_tokens
    assert 0 < model.work.prompt_tokens_computed < model.work.prompt_tokens


def test_scores_and_next_tokens_come_from_the_cluster_too(tiny: str, model: ClusterModel) -> None:
    local, prompts = load(tiny), [request.prompt for request in requests(6)]
    options = [[" beneficial", " harmful"]] * 6
    there = {s.prompt: s.log_probabilities for s in model.score(prompts, options)}
    here = {s.prompt: s.log_probabilities for s in local.score(prompts, options)}
    assert there.keys() == here.keys() == set(range(6))
    for place, scores in here.items():
        np.testing.assert_allclose(there[place], scores, rtol=1e-4)
    likeliest = {n.prompt: n.texts for n in model.next_tokens(prompts, 3)}
    assert likeliest == {n.prompt: n.texts for n in local.next_tokens(prompts, 3)}


def test_a_prompt_that_an_engine_cannot_answer_fails_by_itself(model: ClusterModel) -> None:
    asked = [*requests(3), Request(Prompt((Message("user", "much too long " * 200),)), 2, 1)]
    found = {drawn.request: drawn for drawn in answered(model, asked)}
    assert found[3].failed == 2
    assert found[3].reason
    assert [found[i].failed for i in range(3)] == [0, 0, 0]


def test_an_error_of_the_engines_is_told_with_the_node(
    cluster: Any, model: ClusterModel, tmp_path: Path
) -> None:
    with pytest.raises(ModelError, match=r"node .*no model could be loaded|node .*absent"):
        load_cluster(str(tmp_path / "absent"), "", cluster.address)
    with pytest.raises(ModelError, match=r"node .*option"):
        list(model.score([requests(1)[0].prompt], [["", "harmful"]]))


def test_all_cores_of_this_machine_are_a_cluster(tiny: str) -> None:
    model = load_cluster(tiny, "", "local", {"WORKBENCH_ENGINES": "2"})
    asked = requests(24)
    assert {d.request: d.answers for d in answered(model, asked)} == expected(tiny, asked)


def test_a_cluster_that_is_not_there_is_an_error_in_bounded_time() -> None:
    pytest.importorskip("ray")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        closed = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ModelError, match=f"{closed}: nothing answers there .*refused"):
            load_cluster("scripted", "", closed)
        taken.listen()  # takes connections and says nothing
        with pytest.raises(ModelError, match=f"{closed}: no Ray cluster answers there within 30 s"):
            load_cluster("scripted", "", closed)
