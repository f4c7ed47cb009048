"""What people see while a server is down, and where a model takes no system message."""

from __future__ import annotations

import re
import threading

import pytest

from tests.jobs.faulty_server import Asked, FaultyServer, Refused
from tests.jobs.test_remote_model import HASTY, USUAL, collect, requests, served
from workbench.inference.base import Reachable
from workbench.inference.served.client import RetryPolicy
from workbench.inference.served.reply import answered_with
from workbench.jobs.task import ASKING, Control

SLOW = RetryPolicy(tries=8, first_wait_s=30.0, longest_wait_s=30.0)


@pytest.mark.parametrize(
    ("fault", "why"),
    [("cut", "no connection to 127.0.0.1"), ("503", "127.0.0.1 answered with 503")],
)
def test_a_job_says_that_its_server_is_down_and_when_it_is_tried_again(
    fault: str, why: str
) -> None:
    failing = threading.Event()

    def fails(_call: int, _body: object) -> str:
        failing.set()
        return fault

    with FaultyServer(fails) as server:
        model = served(server, patience=SLOW)
        assert isinstance(model, Reachable)
        assert model.waiting == ""
        control = Control()
        control.steer(model)
        assert control.message() is None
        answers = model.generate(requests(1), USUAL)
        asking = threading.Thread(target=lambda: list(answers), daemon=True)
        asking.start()
        assert failing.wait(10)
        for _ in range(500):
            if model.waiting:
                break
            server.over.wait(0.01)
        message = control.message()
        assert message is not None
        assert re.fullmatch(
            rf"{re.escape(why)}, attempt 2 of 8, (next try in \d+ s|trying now)", message
        )
        model.close()
        asking.join(10)
        assert control.message() == ASKING
        assert control.message() is None


def test_a_server_that_answers_again_is_waited_for_no_longer() -> None:
    with FaultyServer(lambda call, _body: "cut" if call < 3 else "") as server:
        model = served(server, patience=HASTY)
        assert all(not drawn.failed for drawn in collect(model, requests(3)).values())
        assert model.waiting == ""


@pytest.mark.parametrize(
    ("words", "about_system"),
    [
        ("System role not supported", True),
        ("Developer instruction is not enabled for models/gemma-3-4b-it", True),
        (
            "Conversation roles must alternate; only user and assistant roles are supported, "
            "found system",
            True,
        ),
        ("role 'system' is not allowed here", True),
        ("this model does not support a system prompt", True),
        ("max_tokens is not a number", False),
        ("the system is not ready", False),
    ],
)
def test_a_refused_system_role_names_the_templates_without_one(
    words: str, about_system: bool
) -> None:
    reason = answered_with(400, {"error": {"message": words}}, None)
    assert reason.startswith(f"the server answered with 400: {words}")
    assert ("(--family user)" in reason) is about_system
    assert "--family user" not in answered_with(503, {"error": {"message": words}}, None)


def test_a_job_whose_model_takes_no_system_message_fails_with_what_to_do() -> None:
    def respond(_asked: Asked) -> dict[str, object]:
        raise Refused("System role not supported")

    with FaultyServer() as server:
        server.respond = respond
        found = collect(served(server), requests(2))
    assert {drawn.reason for drawn in found.values()} == {
        "the server answered with 400: System role not supported. The model takes no system "
        "message: ask with templates that have none (--family user)"
    }
