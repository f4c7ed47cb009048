"""Servers that do not do as they are asked: they decode greedily, take fewer answers a call, or
take 0 for no limit.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stores.core.store import Store
from stores.jobs.job_rows import UNDRAWN
from tests.jobs.faulty_server import Asked, FaultyServer, Refused, prompt_of
from tests.jobs.test_dialects import examined, plain, served
from tests.jobs.test_jobs import answers, design, ended, wait
from tests.jobs.test_remote_model import collect, requests, texts
from workbench.domain.responses import Sampling
from workbench.inference.served.behaviour import DRAWS, FALSE_ALARM, OPEN, Drawing
from workbench.jobs import launch

ROUTES = (
    "/v1/chat/completions",
    "/v1/completions",
    "/v1/responses",
    "/load_model",
    "/reset",
    "/health",
)
TAKEN = {
    "model",
    "messages",
    "prompt",
    "seed",
    "max_tokens",
    "temperature",
    "top_p",
    "generation_config",
    "n",
    "logprobs",
}
LATE = "unknown: no whole reply in 0.5 s, the deadline of a test ($WORKBENCH_TIMEOUT_S)"
CERTAIN = "Beneficial."


def chat(*said: str) -> dict[str, Any]:
    return {"choices": [{"index": i, "message": {"content": text}} for i, text in enumerate(said)]}


def transformers_serve(asked: Asked) -> dict[str, Any]:
    """Answer greedily unless a whole configuration asks to draw, give one answer a call, and refuse
    unknown fields.
    """
    body = asked.body
    if unknown := set(body) - TAKEN:
        raise Refused({"message": f"Unexpected fields in the request: {unknown}"})
    draws = json.loads(body.get("generation_config", "{}")).get("do_sample") and body.get(
        "temperature"
    )
    return chat(f"{CERTAIN} {body.get('seed') if draws else ''}")


def certain(asked: Asked) -> dict[str, Any]:
    """Draw, and be certain of everything but the open prompt."""
    seed = asked.body.get("seed")
    return chat(
        *(
            f"{CERTAIN} {f'{seed} {i}' if prompt_of(asked.body) == OPEN else ''}"
            for i in range(asked.body.get("n", 1))
        )
    )


def test_transformers_serve_is_known_by_its_routes_and_then_draws() -> None:
    with FaultyServer() as server:
        server.respond, server.routes = transformers_serve, ROUTES
        model = served(server)
        assert model.card.encoding == "transformers: generation_config neutral"
        assert model.undrawn(Sampling()) == ""
        assert all(len(set(texts(drawn))) == 3 for drawn in collect(model, requests(3)).values())
        model.close()


def test_a_server_that_does_not_draw_is_found_and_its_dialect_named() -> None:
    with FaultyServer() as server:
        server.respond = transformers_serve  # behind a gateway, which hides its routes
        model = served(server)
        assert model.undrawn(Sampling()) == (
            "5 of 5 answers to an open prompt are equal at temperature 1: the server refuses "
            "fields as transformers serve does, which draws only if it is asked to. Ask "
            f"{server.name}#transformers"
        )
        assert model.undrawn(Sampling(temperature=0.0)) == "", (
            "nothing is drawn, as the sampling says"
        )
        model.close()
        server.respond = plain
        assert f"If it is transformers serve, ask {server.name}#transformers" in served(
            server
        ).undrawn(Sampling())
        server.respond = certain
        assert served(server).undrawn(Sampling()) == ""


def test_equal_answers_of_a_certain_model_are_no_alarm() -> None:
    same = ("The same.",) * DRAWS
    assert Drawing(same).is_greedy
    assert Drawing(same, 0.1).is_greedy
    assert 0.2 ** (DRAWS - 1) > FALSE_ALARM
    assert not Drawing(same, 0.2).is_greedy, "a server that draws would give them once in 600"
    assert not Drawing(("", "") * DRAWS).is_greedy, "cut off in a thought that is not shown"
    assert not Drawing(same[1:]).is_greedy


@pytest.mark.e2e
@pytest.mark.parametrize("draws", [False, True])
def test_a_run_pauses_where_the_server_does_not_draw_and_not_where_the_model_is_certain(
    filled: Store, draws: bool
) -> None:
    with FaultyServer() as server:
        server.respond = certain if draws else transformers_serve
        job_id = launch.start(filled, design(server.name, samples=5))
        job = wait(filled, job_id, ended)
        if draws:
            assert (job.state, answers(filled)) == ("done", 360)
            assert sum(OPEN in str(call.body) for call in server.asked) == DRAWS, "asked once"
            return
        assert (job.state, job.question) == ("paused", UNDRAWN)
        assert answers(filled) < 360
        assert "answers are equal within their" in job.message
        assert f"Ask {server.name}#transformers" in job.message
        launch.resume(filled, job_id)
        job = wait(filled, job_id, ended)
        assert (job.state, job.question, answers(filled)) == ("done", "", 360), (
            "somebody looked and went on"
        )


@pytest.mark.parametrize("named", [False, True])
def test_as_many_answers_a_call_are_asked_for_as_a_server_has_slots(named: bool) -> None:
    """llama-server with four slots names no number; others do."""

    def slots(asked: Asked) -> dict[str, Any]:
        n = asked.body.get("n", 1)
        if n > 4:
            limit = (
                "n must be at most 4"
                if named
                else "n_cmpl cannot be greater than the number of slots"
            )
            raise Refused({"message": limit})
        return chat(*(f"{asked.body['seed']} {i}" for i in range(n)))

    with FaultyServer() as server:
        server.respond = slots
        model = served(server)
        found = collect(model, requests(8, n=20))
        assert all(len(set(texts(drawn))) == 20 for drawn in found.values())
        assert model.asked["n"].startswith("more than 4 answers a call")
        assert len(server.asked) < 70, (
            "8 prompts of 20 answers were 168 calls with one answer a call; 40 are enough"
        )
        before = len(server.asked)
        collect(model, requests(4, n=20, text="another {}"))
        assert len(server.asked) - before == 20
        model.close()


def test_every_test_of_doctor_ends_and_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_TIMEOUT_S", "0.5")

    def fault(_call: int, body: dict[str, Any]) -> str:
        return "hang" if "prompt" in body or body["max_tokens"] == 4 else ""

    with FaultyServer(fault) as server:
        found = examined(capsys, server.name)
    assert found["echo"] == ("note", LATE)
    assert found["most tokens"][1] == LATE
    assert found["temperature"][1].startswith(
        "ignored at 0 (5 of 5 differ at 1, 5 of 5 differ at 0)"
    )


def test_a_path_on_the_servers_disk_is_no_version_and_its_runs_stay_one(tmp_path: Path) -> None:
    path = "/home/ana/models/q.gguf"
    with FaultyServer(model=path) as server, Store.open(tmp_path / "s.db", create=True) as store:
        server.respond, server.report = certain, lambda _: (path, None)
        model = served(server)
        collect(model, requests(1))
        card = model.card
        assert path not in card.revision + card.snapshot
        assert card.revision.startswith("unknown (place ")
        assert card.snapshot == "unknown (place 2bf9fac9)"
        model.close()
        as_before = [
            card.__class__(card.name, p, "openai", "served", "served", card.encoding, p)
            for p in (path, "/b")
        ]
        before = [store.runs.begin(old, Sampling())[0] for old in as_before]
        assert store.runs.forget_places(card.name) == 2
        assert store.runs.forget_places(card.name) == 0
        now = store.connection.execute(
            "select id, revision, snapshot from model order by id"
        ).fetchall()
        assert [row[0] for row in now] == before
        assert len({tuple(row[1:]) for row in now}) == 2
        assert all("/" not in row[1] + row[2] for row in now)
