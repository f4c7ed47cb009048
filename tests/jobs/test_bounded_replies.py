"""A server's replies are bounded, its counts are not trusted where they are none, and the key never comes back."""

from __future__ import annotations

import base64
import json
import tracemalloc
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.core.store import Store
from tests.jobs.faulty_server import Asked, FaultyServer
from tests.jobs.test_jobs import ended, wait
from tests.jobs.test_remote_model import HASTY, KEY, NAMED, USUAL, collect, requests, served
from workbench.domain.designs import Design
from workbench.inference.served import bounded
from workbench.inference.served.bounded import HIDDEN, MIB, written_forms
from workbench.inference.served.budget import Usage
from workbench.jobs import launch


@pytest.mark.parametrize("fault", ["endless", "bomb"])
def test_a_reply_without_an_end_is_given_up_with_its_reason(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "MOST", 4 * MIB)
    with FaultyServer(lambda call, _: fault if call < 1 else "") as server:
        model = served(server)
        tracemalloc.start()
        found = collect(model, requests(1, n=1))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        model.close()
    assert sum(count for _, count in found[0].answers) == 1, "the next try is answered"
    assert most < 100 * MIB


def test_a_reply_that_is_always_too_long_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "MOST", MIB)
    with FaultyServer(lambda call, body: "endless") as server:
        model = served(server)
        found = collect(model, requests(1, n=1))
        model.close()
    assert found[0].reason.startswith("the reply has more than 1 MiB")


ECHOES: dict[str, Callable[[str], str]] = {
    "as it is": lambda key: f"Your key is {key}!",
    "in base64": lambda key: base64.b64encode(key.encode()).decode(),
    "in base64 within a header": lambda key: base64.b64encode(f"Bearer {key} x".encode()).decode(),
    "as in an address": lambda key: "https://x/?k=" + quote(key, safe=""),
}


@pytest.mark.parametrize("key", [KEY, "sk-/+%:0123456789"])
@pytest.mark.parametrize("how", ECHOES)
def test_a_key_that_a_server_sends_back_is_taken_out(how: str, key: str) -> None:
    def echo(_: Asked) -> dict[str, Any]:
        said = ECHOES[how](key)
        return {
            "model": said,
            "system_fingerprint": said,
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}],
        }

    with FaultyServer() as server:
        server.respond = echo
        server.report = lambda _: (None, None)
        model = served(server, environ={**NAMED, "WORKBENCH_ENDPOINT_KEY": key})
        found = collect(model, requests(1, n=1))
        told = json.dumps([found[0].answers, [str(one) for one in model.answerers], sorted(model.fingerprints)])
        model.close()
    for form in (key, base64.b64encode(key.encode()).decode().rstrip("=")[2:-2], quote(key, safe="")):
        assert form not in told
    assert HIDDEN.decode() in told


@given(
    st.text(st.characters(codec="ascii", categories=("L", "N", "P")), min_size=8, max_size=60), st.binary(max_size=9)
)
def test_a_key_is_found_in_base64_wherever_it_begins(key: str, before: bytes) -> None:
    found = written_forms(key)
    assert found is not None
    packed = base64.b64encode(before + key.encode() + b"!?")
    assert found.search(packed)
    assert found.search(json.dumps({"a": key}).encode())
    assert found.search(quote(key, safe="").encode())


def test_a_short_key_is_no_reason_to_change_answers() -> None:
    assert written_forms("none") is None
    assert written_forms(None) is None


def test_a_server_that_counts_nothing_is_counted_here() -> None:
    def free(asked: Asked) -> dict[str, Any]:
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "x" * 300}}
        return {"choices": [choice], "usage": {"prompt_tokens": 0, "completion_tokens": 0}}

    with FaultyServer() as server:
        server.respond = free
        model = served(server)
        collect(model, requests(1, n=1))
        spent = model.spent
        model.close()
    assert spent.prompt_tokens > 10
    assert spent.answer_tokens == 100


def test_what_earlier_attempts_spent_is_counted_once() -> None:
    with FaultyServer() as server:
        model = served(server)
        told = {"requests": 7.0, "tokens_in": 70.0, "tokens_out": 21.0, "answers": 9}
        model.carry(told)
        model.carry(told)
        assert model.spent == Usage(7, 70, 21)
        collect(model, requests(1, n=1), USUAL)
        assert model.meter()["requests"] == 8
        assert model.meter()["tokens_in_before"] == 70
        model.close()
    assert HASTY.tries > 1


@pytest.mark.e2e
def test_a_budget_belongs_to_the_job_whatever_its_attempts(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with FaultyServer() as server:
        monkeypatch.setenv("WORKBENCH_MAX_REQUESTS", "7")
        design = Design("small", server.name, samples=4)
        job = wait(filled, launch.start(filled, design), ended)
        for _ in range(2):
            assert job.state == "failed", launch.log_tail(filled.path, job.id, 30)
            assert "7 requests" in job.message
            launch.resume(filled, job.id)
            job = wait(filled, job.id, ended)
        assert len(server.asked) <= 7
        assert job.progress["requests"] <= 7
        monkeypatch.setenv("WORKBENCH_MAX_REQUESTS", "9")
        launch.resume(filled, job.id)
        job = wait(filled, job.id, ended)
        assert 7 < len(server.asked) <= 9
