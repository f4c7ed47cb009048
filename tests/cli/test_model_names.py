"""A model is named as it is known, or not asked; stand-ins answer one's own statements by the sides
these have.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.conftest import instrument, new_store
from tests.jobs.test_job_control import run_here
from workbench.data import shipped_personas
from workbench.domain.designs import Design
from workbench.domain.statements import Side
from workbench.errors import FieldError
from workbench.jobs import launch
from workbench.pipeline import planning
from workbench.pipeline.design_checks import check_there


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("smollm", "did you mean smollm2?"),
        ("scripted:lefty", "did you mean scripted:left?"),
        *(
            (name, f"did you mean scripted:{name}?")
            for name in ("left", "steady", "wavering", "yes-sayer")
        ),
        ("opnai:gpt-4o", "did you mean openai:gpt-4o?"),
        ("gpt2", "a hub id with its owner"),
        ("./nowhere", "no such folder or file"),
    ],
)
def test_a_name_that_stands_for_no_model_is_refused(store: Store, name: str, said: str) -> None:
    with pytest.raises(FieldError, match=r"^model: ") as error:
        check_there(store, name)
    assert said in str(error.value)


@pytest.mark.parametrize(
    "name", ["smollm2", "Qwen/Qwen3-8B@main", "openai:x", "vllm:a/b", "scripted", "scripted:left"]
)
def test_a_name_that_can_stand_for_a_model_is_planned(store: Store, name: str) -> None:
    check_there(store, name)


@pytest.mark.parametrize("sided", [True, False])
def test_every_stand_in_answers_ones_own_statements(tmp_path: Path, sided: bool) -> None:
    of = instrument()
    sides = (Side.LEFT, Side.RIGHT, Side.LEFT) if sided else (None, None, None)
    own = replace(
        of,
        statements=tuple(
            replace(one, leaning=side) for one, side in zip(of.statements, sides, strict=True)
        ),
    )
    path = tmp_path / "own.db"
    with new_store(path) as store:
        store.instruments.add(own)
    for name in shipped_personas():
        for audit in ("reliability", "bias_score"):
            with Store.open(path) as store:
                design = Design("small", f"scripted:{name}", audit, samples=8, family="")
                design = replace(design, family="chat" if audit == "reliability" else "prefixes")
                number = launch.create(store, design, planning.plan(store, design), patient=True)
            run_here(path, number)
            with Store.open(path) as store:
                job = store.jobs.get(number)
            assert (job.state, job.failed_items, job.done) == ("done", 0, job.total), (
                name,
                audit,
                job.message,
            )


def test_a_job_without_a_worker_counts_what_another_did(tmp_path: Path) -> None:
    path = tmp_path / "own.db"
    with new_store(path) as store:
        store.instruments.add(instrument())
        few = Design("small", "scripted", samples=2, family="chat", statements=("a-1",))
        first = launch.create(store, few, planning.plan(store, few))
        part = launch.create(
            store, replace(few, samples=9), planning.plan(store, replace(few, samples=9))
        )
        for number in (first, part):
            store.jobs.request_stop(number)
        more = replace(few, samples=4, statements=())
        second = launch.create(store, more, planning.plan(store, more), patient=True)
    run_here(path, second)
    with Store.open(path) as store:
        ended, partly = store.jobs.get(first), store.jobs.get(part)
    assert (ended.state, ended.done) == ("done", ended.total)
    assert f"job {second} did the rest" in ended.message
    assert (partly.state, partly.done) == ("cancelled", partly.total * 4 // 9)
    assert f"job {second} did some of it" in partly.message
