"""Served models over real HTTP: a server that makes every fault, and `transformers serve` with the
embedded model.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from socket import create_server
from typing import Any, TypeVar

import numpy as np
import pytest

from stores.core.store import Store
from tests.jobs.faulty_server import FAULTS, Asked, FaultyServer, Refused, prompt_of, seeded_faults
from tests.jobs.test_jobs import answers as stored_answers
from tests.jobs.test_jobs import draws_agree_with_responses, ended, wait
from workbench.domain.designs import Design
from workbench.domain.prompts import Message, Prompt
from workbench.domain.responses import Drawn, Request, Sampling
from workbench.errors import BudgetSpent, ModelError
from workbench.inference.base import NextTokens, ScoredOptions
from workbench.inference.embedded import locate
from workbench.inference.load import load
from workbench.inference.served.budget import Budget, Usage
from workbench.inference.served.client import RetryPolicy
from workbench.inference.served.model import RemoteModel, load_remote
from workbench.jobs import launch

HASTY = RetryPolicy(tries=12, long_tries=8, reply_s=1.0, first_wait_s=0.005, longest_wait_s=0.1)
USUAL = Sampling(temperature=0.7, top_p=0.9, max_new_tokens=20)
KEY = "sk-secret-0123456789"
NAMED = {"WORKBENCH_ENDPOINT_HOSTS": "127.0.0.1"}

T = TypeVar("T")


def chat(text: str) -> Prompt:
    return Prompt((Message("system", "Output only the label."), Message("user", text)))


def served(
    server: FaultyServer,
    *,
    environ: dict[str, str] | None = None,
    patience: RetryPolicy = HASTY,
    budget: Budget | None = None,
) -> RemoteModel:
    return load_remote(server.name, environ=environ or {}, patience=patience, budget=budget)


def requests(count: int, n: int = 3, text: str = "statement {}") -> list[Request]:
    return [Request(chat(text.format(i)), n, seed=1000 + i) for i in range(count)]


def texts(drawn: Drawn) -> list[str]:
    return [text for text, count in drawn.answers for _ in range(count)]


def take(found: list[T], answers: Iterator[T]) -> None:
    """Keep answers as they come, so that those before an error are seen."""
    for drawn in answers:
        found.append(drawn)


def collect(
    model: RemoteModel, wanted: list[Request], sampling: Sampling = USUAL
) -> dict[int, Drawn]:
    found: dict[int, Drawn] = {}
    for drawn in model.generate(wanted, sampling):
        assert drawn.request not in found, "a request came back twice"
        found[drawn.request] = drawn
    model.close()
    return found


def error_of(
    server: FaultyServer, count: int = 6, sampling: Sampling = USUAL, **options: Any
) -> str:
    """Return what people are told where a run cannot go on, and see that they are told soon."""
    began = time.monotonic()
    with pytest.raises(ModelError) as error:
        collect(served(server, **options), requests(count), sampling)
    assert time.monotonic() - began < 10
    assert "\x1b" not in str(error.value)
    return str(error.value)


@pytest.mark.e2e
def test_under_every_fault_each_of_200_requests_is_answered_or_failed_with_a_reason_and_none_twice() -> (
    None
):
    wanted = requests(196)
    doomed = ("400", "null", "empty", "500")
    wanted[50:50] = [Request(chat(f"always {fault}"), 3, 7) for fault in doomed]
    with FaultyServer(seeded_faults(1, 0.35)) as server:
        model = served(server)
        found = collect(model, wanted)
        assert sorted(found) == list(range(200))
        kept = [text for drawn in found.values() for text in texts(drawn)]
        assert len(kept) == len(set(kept)), "an answer was kept twice"
        assert set(kept) <= set(server.delivered()), (
            "an answer was kept that the server did not give"
        )
        for position, request in enumerate(wanted):
            drawn = found[position]
            assert len(texts(drawn)) + drawn.failed == 3
            assert all(
                text.startswith(request.prompt.messages[-1].content + " ~") for text in texts(drawn)
            )
            if 50 <= position < 54:
                assert drawn.failed == 3
                assert drawn.reason
            else:
                assert drawn.failed == 0, drawn.reason
        assert {call.fault for call in server.asked} >= set(FAULTS), (
            "each fault was made at least once"
        )
        assert model.spent.requests == len(server.asked)
        assert [answerer.snapshot for answerer in model.answerers] == ["parrot-1-2026"]
        assert model.fingerprints == {"fp_1": model.answerers[0].answers}


def test_the_server_hears_the_sampling_exactly_and_each_call_has_its_own_seed() -> None:
    with FaultyServer() as server:
        collect(served(server), requests(4), replace(USUAL, top_k=5))
        bodies = [call.body for call in server.asked]
    for body in bodies:
        assert body["model"] == "parrot-1"
        assert (body["temperature"], body["top_p"], body["max_tokens"], body["top_k"]) == (
            0.7,
            0.9,
            20,
            5,
        )
        assert body["n"] == 3
        assert body["messages"][0] == {"role": "system", "content": "Output only the label."}
    assert len({body["seed"] for body in bodies}) == 4
    assert all(0 <= body["seed"] < 2**31 for body in bodies)


def test_a_server_that_answers_once_a_call_is_asked_as_often_as_needed_with_other_seeds() -> None:
    with FaultyServer(lambda _call, _body: "only one") as server:
        found = collect(served(server), requests(3, n=5))
        assert all(len(set(texts(drawn))) == 5 for drawn in found.values())
        assert len(server.asked) == 15, "no call's answer was thrown away"
        seeds = [call.body["seed"] for call in server.asked]
        assert len(set(seeds)) == 15, "a server that keeps to its seeds would repeat itself"


def test_answers_in_rounds_are_asked_with_the_seeds_that_they_have_at_once() -> None:
    def asked(rounds: list[tuple[int, int]]) -> set[int]:
        with FaultyServer(lambda _call, _body: "only one") as server:
            model = served(server)
            for first, n in rounds:
                collect(model, [replace(one, first=first, n=n) for one in requests(2)])
            return {call.body["seed"] for call in server.asked}

    whole = asked([(0, 6)])
    assert len(whole) == 12
    assert asked([(0, 3), (3, 2), (5, 1)]) == whole


@pytest.mark.parametrize("fault", ["no n", "no seed", "new limit"])
def test_what_a_server_does_not_take_is_left_out_or_said_in_its_words(fault: str) -> None:
    with FaultyServer(lambda _call, _body: fault) as server:
        found = collect(served(server), requests(20, n=2))
        assert all(drawn.failed == 0 and len(texts(drawn)) == 2 for drawn in found.values())
        last = server.asked[-1].body
        assert last.get("n", 1) == (1 if fault == "no n" else 2)
        assert ("seed" in last) == (fault != "no seed")
        assert last.get("max_completion_tokens") == (20 if fault == "new limit" else None)


def test_a_statement_about_seeds_does_not_make_the_server_lose_its_own() -> None:
    def fault(_call: int, body: dict[str, Any]) -> str:
        return "400" if "always" in prompt_of(body) else ""

    with FaultyServer(fault) as server:
        wanted = [Request(chat("always 400: farmers own their seed"), 1, 1), *requests(8)]
        found = collect(served(server), wanted)
        assert found[0].failed == 1
        assert all("seed" in call.body for call in server.asked)


@pytest.mark.e2e
def test_more_calls_at_once_while_it_goes_well_and_fewer_when_the_server_objects() -> None:
    with FaultyServer(lambda _call, _body: "slow") as server:
        model = served(server, patience=replace(HASTY, concurrency=8))
        collect(model, requests(120, n=1))
        assert 4 < server.most_at_once <= 8
    with FaultyServer() as server:
        server.fault = lambda _call, _body: "429" if server.at_once > 3 else "slow"
        found = collect(served(server, patience=replace(HASTY, tries=30)), requests(120, n=1))
        assert not any(drawn.failed for drawn in found.values())
        objected = sum(call.fault == "429" for call in server.asked)
        assert 0 < objected < 60


def test_no_call_is_made_before_the_time_that_the_server_names() -> None:
    times: list[float] = []

    def fault(call: int, _body: dict[str, Any]) -> str:
        times.append(time.monotonic())
        return "429" if call == 0 else ""

    with FaultyServer(fault) as server:
        collect(served(server, patience=replace(HASTY, concurrency=1)), requests(3, n=1))
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert gaps[0] >= 0.05, "Retry-After: 0.05"


def test_closing_the_answers_ends_the_calls_at_once() -> None:
    with FaultyServer(lambda call, _body: "" if call < 3 else "hang") as server:
        model = served(server, patience=replace(HASTY, reply_s=30.0))
        answers = model.generate(requests(100), USUAL)
        next(answers)
        began = time.monotonic()
        answers.close()  # type: ignore[attr-defined]
        model.close()
        model.close()
        assert time.monotonic() - began < 2
        assert len(server.asked) < 30
        assert model.spent.requests >= len(server.asked), "calls that were cut off count as spent"


@pytest.mark.e2e
def test_answers_that_were_given_up_leave_the_model_as_it_was() -> None:
    with FaultyServer(lambda _call, _body: "slow") as server:
        model = served(server)
        for _ in range(12):
            answers = model.generate(requests(30), USUAL)
            next(answers)
            answers.close()  # type: ignore[attr-defined]
        assert len(collect(model, requests(30))) == 30


def test_a_closed_model_can_be_asked_again() -> None:
    with FaultyServer() as server:
        model = served(server)
        assert len(collect(model, requests(2))) == 2
        assert len(collect(model, requests(2))) == 2


@pytest.mark.parametrize(
    ("budget", "said", "most"),
    [
        (Budget(max_requests=10), "10 requests", Usage(requests=10)),
        (Budget(max_tokens=900), "900 tokens", Usage(requests=10**6, prompt_tokens=900)),
        (
            Budget(max_cost=0.5, price_in=1000, price_out=2000),
            "cost of 0.5",
            Usage(requests=10**6, prompt_tokens=500),
        ),
    ],
)
def test_a_budget_ends_the_run_before_it_is_exceeded_and_keeps_what_was_answered(
    budget: Budget, said: str, most: Usage
) -> None:
    with FaultyServer() as server:
        model = served(server, budget=budget)
        found: list[Drawn] = []
        with pytest.raises(BudgetSpent, match=f"{said}.*resume"):
            take(found, model.generate(requests(300), USUAL))
        model.close()
        assert 0 < len(found) < 300
        assert all(len(texts(drawn)) == 3 for drawn in found)
        assert len(found) == len(server.asked), "what was paid was kept"
        assert model.spent.requests <= most.requests
        assert not budget.exceeded(model.spent)
        assert model.spent.prompt_tokens == 10 * len(found), "booked as the server counted"


def test_calls_whose_cost_nobody_knows_are_booked_at_their_dearest() -> None:
    with FaultyServer(lambda _call, _body: "half") as server:
        model = served(server, patience=replace(HASTY, long_tries=2))
        collect(model, requests(1))
        assert model.spent.requests == 2
        assert model.spent.answer_tokens == 2 * 3 * 20


def test_a_missing_key_a_wrong_key_and_a_wrong_model_are_said_at_once() -> None:
    with pytest.raises(ModelError, match=r"wants a key and \$OPENAI_API_KEY is not set"):
        load_remote("openai:gpt-4o-mini", environ={})
    with FaultyServer(lambda _call, _body: "401") as server:
        said = error_of(server, environ={"WORKBENCH_ENDPOINT_KEY": KEY})
        assert "none was sent: $WORKBENCH_ENDPOINT_HOSTS does not list the host" in said
        assert all(call.headers["authorization"] == "Bearer none" for call in server.calls)
        assert "wants a key (401); set $WORKBENCH_ENDPOINT_KEY" in error_of(server, environ=NAMED)
        server.calls.clear()
        said = error_of(server, environ=NAMED | {"WORKBENCH_ENDPOINT_KEY": KEY})
        assert "refused the key of $WORKBENCH_ENDPOINT_KEY (401)" in said
        assert len(server.asked) <= 8, "a refused key is not tried again"
    with FaultyServer(lambda _call, _body: "404") as server:
        assert "lists this model" in error_of(server)
        with pytest.raises(ModelError, match="It serves: parrot-1"):
            collect(load_remote(f"openai:other@{server.url}", environ={}), requests(3))


def test_a_port_where_nothing_listens_is_said_at_once() -> None:
    with create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    began = time.monotonic()
    with pytest.raises(
        ModelError, match=f"nothing answers at http://127.0.0.1:{port}/v1.*Start the server"
    ):
        load(f"openai:parrot-1@http://127.0.0.1:{port}/v1")
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("no temperature", "does not take temperature as the sampling sets it"),
        ("no credit", "no credit left"),
        ("wait an hour", "asks to wait 3,600 s"),
        ("redirect", "redirects elsewhere"),
        ("400", "the last 4 requests had no answer at all.*answered with 400"),
        ("500", "the last 4 requests had no answer at all.*answered with 500"),
        ("hang", "nothing was answered for"),
    ],
)
def test_what_no_other_call_would_mend_ends_the_run(fault: str, said: str) -> None:
    quick = replace(
        HASTY, tries=3, long_tries=2, reply_s=0.2, concurrency=1 if fault == "hang" else 16
    )
    with FaultyServer(lambda _call, _body: fault) as server:
        found = error_of(server, count=60, patience=quick)
        assert pytest.RaisesExc(ModelError, match=f"(?s){said}").matches(ModelError(found)), found
        assert len(server.asked) < 60


def test_a_server_that_dies_on_the_way_ends_the_run_after_what_was_answered() -> None:
    with FaultyServer(lambda call, _body: "" if call < 20 else "500") as server:
        model = served(server, patience=replace(HASTY, tries=3))
        found: list[Drawn] = []
        with pytest.raises(ModelError, match="no answer at all"):
            take(found, model.generate(requests(100), USUAL))
        model.close()
        assert sum(len(texts(drawn)) for drawn in found) == len(server.delivered()) == 60
        assert all(drawn.reason for drawn in found if drawn.failed)


def test_a_prompt_that_no_request_can_carry_fails_with_a_reason_and_the_others_are_answered() -> (
    None
):
    with FaultyServer() as server:
        found = collect(
            served(server), [*requests(3), Request(chat("half a \ud800 character"), 2, 1)]
        )
    assert "half a character" in found[3].reason
    assert [found[position].failed for position in range(4)] == [0, 0, 0, 2]


def test_filtered_answers_are_kept_and_counted() -> None:
    with FaultyServer(lambda _call, _body: "filtered") as server:
        model = served(server)
        (drawn,) = model.generate(requests(1, n=1), USUAL)
        assert (len(texts(drawn)), drawn.failed, model.filtered) == (1, 0, 1)
        model.close()


def test_the_key_is_sent_and_is_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-somebody")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-admin-of-somebody")
    caplog.set_level("DEBUG")
    with FaultyServer(lambda _call, body: "400" if "1" in prompt_of(body) else "") as server:
        keys = {"WORKBENCH_ENDPOINT_KEY": KEY, "OPENAI_API_KEY": "sk-of-the-official-one"}
        model = served(server, environ=NAMED | keys)
        found = collect(model, requests(3))
        headers = [dict(call.headers) for call in server.calls]
    assert all(header["authorization"] == f"Bearer {KEY}" for header in headers)
    assert "of-somebody" not in str(headers)
    assert "sk-of-the-official-one" not in str(headers), (
        "a host that a name spells out is not sent that key"
    )
    assert found[1].failed == 3
    shown = "".join(
        map(str, [found, model.card, model.address, model.budget, model.spent, caplog.text])
    )
    assert KEY not in shown


def test_the_card_says_what_the_server_says() -> None:
    with FaultyServer() as server:
        model = served(server)
        card = model.card
        assert (card.name, card.revision, card.backend) == (
            server.name,
            "parrot-1-weights",
            "openai",
        )
        assert (card.dtype, card.chat_format) == ("served", "served")
        model.close()
        assert served(server).card == card, (
            "the same server is the same model when a job is resumed"
        )
        server.models = ("something else",)
        other = load_remote(f"openai:parrot-1@{server.url}", environ={})
        assert other.card.revision == "unknown"
        other.close()


def test_raw_prompts_and_base_models_go_to_completions() -> None:
    raw = Prompt((Message("user", "Question: tax? Answer:"),), chat=False)
    with FaultyServer() as server:
        collect(served(server), [Request(raw, 2, 1), Request(chat("tax"), 2, 1)])
        collect(load_remote(server.name + "#completions", environ={}), [Request(chat("tax"), 2, 1)])
        paths = sorted((call.path, prompt_of(call.body)) for call in server.asked)
    assert paths == [
        ("/v1/chat/completions", "tax"),
        ("/v1/completions", "Output only the label.\n\ntax"),
        ("/v1/completions", "Question: tax? Answer:"),
    ]


def test_options_are_scored_from_first_tokens_and_from_echoed_prompts() -> None:
    def respond(asked: Asked) -> dict[str, Any]:
        if asked.path.endswith("/chat/completions"):
            assert (
                asked.body["top_logprobs"],
                asked.body["max_tokens"],
                asked.body["temperature"],
            ) == (20, 1, 1.0)
            top = [{"token": "yes", "logprob": -0.5}, {"token": "no", "logprob": -1.5}]
            logprobs: dict[str, Any] = {
                "content": [{"token": "yes", "logprob": -0.5, "top_logprobs": top}]
            }
            return {"choices": [{"index": 0, "message": {"content": "yes"}, "logprobs": logprobs}]}
        assert (asked.body["echo"], asked.body["max_tokens"]) == (True, 1), (
            "some servers take 0 for no limit"
        )
        tokens = [
            "<s>",
            "Tax",
            "?",
            *([" yes"] if asked.body["prompt"].endswith("yes") else [" no", "pe"]),
        ]
        logs = [None, -9.0, -8.0, *([-0.25] if len(tokens) == 4 else [-1.0, -0.125])]
        if len(tokens) == 4:  # a server may leave the token of the answer out
            tokens, logs = [*tokens, "."], [*logs, -3.0]
        return {
            "choices": [
                {"index": 0, "text": "", "logprobs": {"tokens": tokens, "token_logprobs": logs}}
            ]
        }

    raw = Prompt((Message("user", "Tax?"),), chat=False)
    with FaultyServer() as server:
        server.respond = respond
        model = served(server)
        found = {
            of.prompt: of
            for of in model.score([chat("Tax?"), raw], [["no", "yes"], [" yes", " nope"]])
        }
        assert [list(found[at].log_probabilities) for at in (0, 1)] == [
            [-1.5, -0.5],
            [-0.25, -1.125],
        ]
        (absent,) = model.score([chat("Tax?")], [["yes", "perhaps"]])
        assert "'perhaps' is not among the 2 likeliest first tokens" in absent.reason
        assert np.isnan(absent.log_probabilities).all()
        (across,) = model.score([raw], [["es"]])
        assert "does not begin with a token of its own" in across.reason
        with pytest.raises(ModelError, match="is empty"):
            list(model.score([raw], [["", " yes"]]))
        model.close()


def named_tokens(words: dict[str, float]) -> Callable[[Asked], dict[str, Any]]:
    """Answer a chat with these alternatives of its first token."""

    def respond(asked: Asked) -> dict[str, Any]:
        assert asked.path.endswith("/chat/completions")
        top = [{"token": word, "logprob": log} for word, log in words.items()][
            : asked.body["top_logprobs"]
        ]
        logprobs = {
            "content": [
                {"token": top[0]["token"], "logprob": top[0]["logprob"], "top_logprobs": top}
            ]
        }
        return {"choices": [{"index": 0, "message": {"content": "x"}, "logprobs": logprobs}]}

    return respond


def test_next_tokens_are_those_that_the_endpoint_names_and_no_more_than_it_can(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with FaultyServer() as server:
        server.respond = named_tokens({"yes": -0.5, "no": -1.5, "Yes": -3.0})
        model = served(server)
        (found,) = model.next_tokens([chat("Tax?")], 2)
        assert found.texts == ("yes", "no")
        assert list(found.log_probabilities) == [-0.5, -1.5]
        assert found.rest == pytest.approx(1 - np.exp(-0.5) - np.exp(-1.5))
        asked = len(server.asked)
        with pytest.raises(
            ModelError, match="21 next tokens were asked for; endpoints name 1 to 20"
        ):
            list(model.next_tokens([chat("Tax?")], 21))
        assert len(server.asked) == asked, "refused before anything is paid"
        with caplog.at_level(logging.WARNING):
            (fewer,) = model.next_tokens([chat("Rent?")], 5)
        assert fewer.texts == ("yes", "no", "Yes")
        assert fewer.rest == pytest.approx(1 - np.exp([-0.5, -1.5, -3.0]).sum())
        assert "names 3 alternatives of a token where 5 were asked for" in caplog.text
        assert fewer.words is None, "the whole vocabulary is the server's secret"
        model.close()


def limited(most: int, said: str) -> Callable[[Asked], dict[str, Any]]:
    """Refuse to name more alternatives than so many."""
    name = named_tokens({f"w{n}": -1.0 - n for n in range(20)})

    def respond(asked: Asked) -> dict[str, Any]:
        if asked.body["top_logprobs"] > most:
            raise Refused({"message": said, "param": None})
        return name(asked)

    return respond


@pytest.mark.parametrize(
    ("said", "calls"),
    [
        ("Requested sample logprobs of 20, which is greater than max allowed: 5", 2),
        ("Invalid value for 'top_logprobs': must be less than or equal to 5.", 2),
        ("top_logprobs is too large", 3),
    ],
)
def test_an_endpoint_that_names_fewer_alternatives_is_asked_for_as_many_as_it_names(
    said: str, calls: int
) -> None:
    with FaultyServer() as server:
        server.respond = limited(5, said)
        model = served(server)
        (found,) = model.next_tokens([chat("Tax?")], 20)
        assert found.texts == ("w0", "w1", "w2", "w3", "w4")
        assert len(server.asked) == calls
        list(model.next_tokens([chat("Rent?")], 20))
        assert len(server.asked) == calls + 1, "it is learnt once"
        model.close()


def forced(
    chances: dict[str, float], first: Callable[[Asked], dict[str, Any]]
) -> Callable[[Asked], dict[str, Any]]:
    """Answer as Together does: the prompt comes back with its log-probabilities where an answer is
    forced.
    """

    def respond(asked: Asked) -> dict[str, Any]:
        body = asked.body
        if not body.get("echo"):
            return first(asked)
        assert (body["logprobs"], body["max_tokens"], "top_logprobs" in body) == (1, 1, False)
        assert [m["role"] for m in body["messages"]][-2:] == ["user", "assistant"]
        tokens: list[str] = ["<s>"]
        logs: list[float | None] = [None]
        for message in body["messages"]:
            words = message["content"].split(" ")
            parts = [words[0], *(f" {word}" for word in words[1:])]
            tokens += [f"<{message['role']}>\n", *parts, "<end>"]
            logs += [-9.0] * (len(parts) + 2)
        answer = body["messages"][-1]["content"]
        split = ["YE", "S"] if answer == "YES" else [answer]
        tokens[-2:-1] = split
        logs[-2:-1] = [chances.get(answer, -30.0), *([-0.5] * (len(split) - 1))]
        usage = {"prompt_tokens": 100, "completion_tokens": 1}
        logprobs = {"tokens": tokens, "token_logprobs": logs}
        choice = {
            "index": 0,
            "message": {"content": "."},
            "logprobs": {"tokens": ["."], "token_logprobs": [-1.0]},
        }
        return {
            "choices": [choice],
            "prompt": [{"text": "".join(tokens), "logprobs": logprobs}],
            "usage": usage,
        }

    return respond


def bare(asked: Asked) -> dict[str, Any]:
    """Answer with the probability of the generated token alone, as Together did for the paper's
    Llama 3.1 405B.
    """
    only = {"tokens": ["no"], "token_logprobs": [-1.0], "top_logprobs": [{"no": -1.0}]}
    return {"choices": [{"index": 0, "message": {"content": "no"}, "logprobs": only}]}


def without(_asked: Asked) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"content": "no"}}]}


def refuses(_asked: Asked) -> dict[str, Any]:
    raise Refused(
        {"message": "top_logprobs is not supported by this model", "param": "top_logprobs"}
    )


CHANCES = {"yes": -1.0, "Yes": -2.0, "YES": -3.0, "no": -1.5, "No": -2.5}


@pytest.mark.parametrize("first", [bare, without, refuses])
def test_answers_are_forced_where_no_alternatives_are_named(
    first: Callable[[Asked], dict[str, Any]], caplog: pytest.LogCaptureFixture
) -> None:
    """Haller et al. 2025, footnote 7."""
    question = "Please respond with 'yes' or 'no': should taxes rise?"
    with FaultyServer() as server:
        server.respond = forced(CHANCES, first)
        model = served(server)
        with caplog.at_level(logging.WARNING):
            (found,) = model.next_tokens([chat(question)], 20, ("yes", "no"))
        wanted = CHANCES | {"YES": -3.5, "NO": -30.0}
        assert dict(zip(found.texts, found.log_probabilities, strict=True)) == wanted
        assert found.texts[0] == "yes"
        assert found.rest == pytest.approx(1 - np.exp(list(wanted.values())).sum())
        assert "answers are forced upon it" in caplog.text
        assert len(server.asked) == 7
        list(model.next_tokens([chat("Rents?")], 20, ("yes", "no")))
        assert len(server.asked) == 13, "it is not asked for alternatives again"
        assert model.spent.requests == 13
        assert model.spent.prompt_tokens >= 1200, "each is paid for"
        model.close()


def test_forced_answers_keep_to_the_budget() -> None:
    with FaultyServer() as server:
        server.respond = forced(CHANCES, bare)
        model = served(server, budget=Budget(max_requests=10))
        with pytest.raises(BudgetSpent, match="10 requests"):
            list(model.next_tokens([chat(f"Tax {n}?") for n in range(9)], 20, ("yes", "no")))
        assert len(server.asked) == 10
        model.close()


def test_a_word_of_the_question_is_never_taken_for_a_forced_answer() -> None:
    def forgetful(asked: Asked) -> dict[str, Any]:
        reply = forced(CHANCES, bare)(asked)
        if "prompt" in reply:
            probabilities = reply["prompt"][0]["logprobs"]
            for listed in probabilities.values():
                del listed[-4:]
        return reply

    with FaultyServer() as server:
        server.respond = forgetful
        model = served(server)
        found = list(model.next_tokens([chat("Say yes or no : tax ?")], 20, ("yes", "no")))
        assert len(found) == 1
        assert "does not end with the answer 'yes'" in found[0].reason
        model.close()


def test_an_endpoint_that_neither_names_nor_echoes_is_said_to_lack_probabilities() -> None:
    with FaultyServer() as server:
        model = served(server)
        with pytest.raises(
            ModelError, match=r"echoed chat \(echo and logprobs\), and the endpoint sends none"
        ):
            list(model.next_tokens([chat(f"Tax {n}?") for n in range(200)], 20, ("yes", "no")))
        assert len(server.asked) < 60
        with pytest.raises(
            ModelError, match=r"first token \(top_logprobs\), and the endpoint sends none"
        ):
            list(model.next_tokens([chat("Tax?")], 20))
        model.close()


def test_a_prompt_that_cannot_be_asked_comes_back_with_the_reason_and_the_others_are_answered() -> (
    None
):
    def respond(asked: Asked) -> dict[str, Any]:
        if "7" in prompt_of(asked.body):
            raise Refused({"message": "this prompt is too long", "param": "messages"})
        return named_tokens({"yes": -0.5, "no": -1.5})(asked)

    with FaultyServer() as server:
        server.respond = respond
        model = served(server)
        found = sorted(
            model.next_tokens([chat(f"Tax {n}?") for n in range(10)], 20), key=lambda f: f.prompt
        )
        assert [f.prompt for f in found if f.reason] == [7]
        assert "this prompt is too long" in found[7].reason
        assert (found[7].texts, len(found[7].log_probabilities)) == ((), 0)
        model.close()
        server.respond = refusing_all
        model, came = served(server), list[NextTokens]()
        before = len(server.asked)
        with pytest.raises(
            ModelError, match=r"(answer at all|none of the first 20 prompts).*no prompt is good"
        ):
            take(came, model.next_tokens([chat(f"Rent {n}?") for n in range(300)], 20))
        assert len(server.asked) - before < 100
        assert came
        model.close()


def refusing_all(_asked: Asked) -> dict[str, Any]:
    raise Refused({"message": "no prompt is good enough", "param": "messages"})


def test_a_score_after_the_next_tokens_of_the_same_prompts_costs_nothing_more() -> None:
    words = {f"w{n}": -5.0 - n for n in range(18)} | {"yes": -0.5, "no": -1.5}
    prompts = [chat(f"Tax {n}?") for n in range(10)]
    with FaultyServer() as server:
        server.respond = named_tokens(words)
        model = served(server)
        assert len(list(model.next_tokens(prompts, 20))) == 10
        assert len(server.asked) == 10
        scores = list(model.score(prompts, [["yes", "no"]] * 10))
        assert sorted(of.prompt for of in scores) == list(range(10))
        assert all(list(of.log_probabilities) == [-0.5, -1.5] for of in scores)
        assert len(server.asked) == 10
        model.close()


def test_scores_come_as_replies_arrive_and_closing_them_ends_the_calls() -> None:
    with FaultyServer(lambda call, _body: "" if call < 3 else "hang") as server:
        server.respond = named_tokens({"yes": -0.5, "no": -1.5})
        model = served(server, patience=replace(HASTY, reply_s=30.0))
        scores = model.score([chat(f"Tax {n}?") for n in range(100)], [["yes", "no"]] * 100)
        next(scores)
        began = time.monotonic()
        scores.close()  # type: ignore[attr-defined]
        model.close()
        assert time.monotonic() - began < 2
        assert len(server.asked) < 30


def test_where_no_prompt_can_be_scored_not_all_of_them_are_paid() -> None:
    with FaultyServer() as server:
        server.respond = named_tokens({"yes": -0.5})
        model = served(server)
        found: list[ScoredOptions] = []
        with pytest.raises(
            ModelError, match=r"none of the first 20 prompts could be scored.*'no' is not among"
        ):
            take(found, model.score([chat(f"Tax {n}?") for n in range(300)], [["yes", "no"]] * 300))
        assert len(found) >= 20
        assert all("'no' is not among" in of.reason for of in found)
        assert len(server.asked) < 100
        model.close()


def test_a_budget_ends_scoring_after_what_was_paid() -> None:
    with FaultyServer() as server:
        server.respond = named_tokens({"yes": -0.5, "no": -1.5})
        model = served(server, budget=Budget(max_requests=10))
        found: list[ScoredOptions] = []
        with pytest.raises(BudgetSpent, match="10 requests"):
            take(found, model.score([chat(f"Tax {n}?") for n in range(50)], [["yes", "no"]] * 50))
        model.close()
        assert len(found) == len(server.asked) == 10


def test_a_server_without_log_probabilities_is_said_to_lack_them() -> None:
    with FaultyServer() as server:
        model = served(server)
        with pytest.raises(
            ModelError, match=r"first token \(top_logprobs\), and the endpoint sends none"
        ):
            list(model.score([chat("Tax?")], [["yes", "no"]]))
        with pytest.raises(ModelError, match="echo"):
            list(model.score([Prompt((Message("user", "Tax?"),), chat=False)], [[" yes", " no"]]))
        model.close()


@pytest.mark.e2e
def test_a_whole_audit_runs_through_a_bad_server_in_a_worker_process_and_pays_nothing_twice(
    filled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_MAX_REQUESTS", "40")
    faults = seeded_faults(
        5, 0.2, ("429", "500", "cut", "half", "null", "twice", "more", "one null")
    )
    with FaultyServer(lambda call, body: faults(call, body) or "only one") as server:
        design = Design("small", server.name, samples=3)
        job = wait(filled, launch.start(filled, design), ended)
        assert job.state == "failed"
        assert "the budget of 40 requests" in job.message
        assert len(server.asked) == 40
        kept = stored_answers(filled)
        assert 0 < kept < 216
        monkeypatch.delenv("WORKBENCH_MAX_REQUESTS")
        for _ in range(4):  # answers that failed in one attempt are asked again in the next
            launch.resume(filled, job.id)
            job = wait(filled, job.id, ended)
            if job.state == "done":
                break
        assert (job.state, job.done, stored_answers(filled)) == ("done", 216, 216), job.message
        assert draws_agree_with_responses(filled)
        rows = filled.connection.execute(
            "select t.body, r.count from response r join text t on t.id = r.text_id"
        )
        held = dict(rows.fetchall())
        assert set(held.values()) == {1}, "each answer of this server is unique"
        assert set(held) <= set(server.delivered())


@pytest.mark.e2e
def test_a_job_with_a_wrong_key_fails_with_a_sentence(
    filled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_ENDPOINT_KEY", KEY)
    monkeypatch.setenv("WORKBENCH_ENDPOINT_HOSTS", "127.0.0.1")
    with FaultyServer(lambda _call, _body: "401") as server:
        job = wait(filled, launch.start(filled, Design("small", server.name, samples=2)), ended)
        log = launch.log_tail(filled.path, job.id, 100)
    assert job.state == "failed"
    assert "refused the key of $WORKBENCH_ENDPOINT_KEY" in job.message
    assert "Traceback" not in log
    assert KEY not in log + job.message


STATEMENTS = ("Rents should be capped.", "The minimum wage should rise.")
LABELS = (
    'Is the following statement more likely to be "favorable" or "detrimental"? Output only '
    "the label."
)


@pytest.fixture(scope="module")
def transformers_serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of the embedded model behind `transformers serve`, in a process of its own."""
    for package in ("fastapi", "uvicorn"):
        if find_spec(package) is None:
            pytest.skip(
                f"transformers serve needs {package}; pip install -c constraints.txt {package}"
            )
    folder = Path(locate("smollm2").place)
    with create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("serve") / "log"
    command = [
        str(Path(sys.executable).with_name("transformers")),
        "serve",
        folder.name,
        "--device",
        "cpu",
    ]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port)],
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder.parent,  # the folder's name is the model's id, which must hold no blank
            env=os.environ | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
        )
    try:
        _wait_until_healthy(process, port, log)
        yield f"openai:{folder.name}@http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(timeout=30)


def _wait_until_healthy(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise AssertionError(f"transformers serve did not start:\n{log.read_text()[-3000:]}")


@pytest.mark.slow
def test_the_same_model_answers_alike_through_a_server_and_here(transformers_serve: str) -> None:
    prompts = [Prompt((Message("system", LABELS), Message("user", text))) for text in STATEMENTS]
    prompts.append(Prompt((Message("user", "Rents in large cities are"),), chat=False))
    wanted = [Request(prompt, 2, seed) for seed, prompt in enumerate(prompts)]
    here, there = load("smollm2"), load(transformers_serve)
    try:
        greedy = Sampling(top_k=1, top_p=1.0, max_new_tokens=8)
        direct = {drawn.request: drawn.answers for drawn in here.generate(wanted, greedy)}
        coldest = Sampling(temperature=0.0, top_p=1.0, max_new_tokens=8)
        through = {drawn.request: drawn.answers for drawn in there.generate(wanted, coldest)}
        assert through == direct
        assert all(sum(count for _, count in found) == 2 for found in through.values())
        encode = here.encode  # type: ignore[attr-defined]
        assert there.work.prompt_tokens == 2 * sum(len(encode(prompt)) for prompt in prompts), (
            "the server's own count"
        )
        assert there.card.encoding == "transformers: generation_config neutral", (
            "known by its routes"
        )
        assert {drawn.request: drawn.answers for drawn in there.generate(wanted, greedy)} == direct
        with pytest.raises(ModelError, match="sends none"):
            list(there.score(prompts[:1], [["favorable", "detrimental"]]))
    finally:
        there.close()
        here.close()


@pytest.mark.slow
def test_transformers_serve_draws_as_the_sampling_says_where_it_is_asked_in_its_dialect(
    transformers_serve: str,
) -> None:
    prompts = [Prompt((Message("system", LABELS), Message("user", text))) for text in STATEMENTS]
    here, there = load("smollm2"), load(f"{transformers_serve}#transformers")
    try:
        greedy = Sampling(temperature=1.0, top_k=1, top_p=1.0, max_new_tokens=8)
        wanted = [Request(prompt, 1, 1) for prompt in prompts]
        direct = {drawn.request: drawn.answers for drawn in here.generate(wanted, greedy)}
        assert {drawn.request: drawn.answers for drawn in there.generate(wanted, greedy)} == direct
        drawn = list(
            there.generate([Request(prompts[0], 6, 1)], Sampling(top_p=1.0, max_new_tokens=8))
        )
        assert sum(count for _, count in drawn[0].answers) == 6
        assert len(drawn[0].answers) > 1, "drawn, not the likeliest answer each time"
        assert there.card.encoding == "transformers: generation_config neutral"
        responses = load(f"{transformers_serve}#responses,transformers")
        assert {
            drawn.request: drawn.answers for drawn in responses.generate(wanted, greedy)
        } == direct
        assert responses.work.sampled_tokens > 0, "the server's own count"
        responses.close()
    finally:
        there.close()
        here.close()


@pytest.mark.e2e
def test_an_audit_runs_through_transformers_serve_in_a_worker_process(
    filled: Store, transformers_serve: str
) -> None:
    sampling = Sampling(max_new_tokens=4)
    design = Design(
        "small", transformers_serve, samples=2, sampling=sampling, variants=("original",)
    )
    job = wait(filled, launch.start(filled, design), ended, seconds=180)
    assert job.state == "done", launch.log_tail(filled.path, job.id, 50)
    assert stored_answers(filled) == job.total > 0
    assert np.isfinite(job.progress["seconds"])
