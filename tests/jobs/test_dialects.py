"""Servers of each kind, as their documentation says that they draw: defaults of their own, fields
that they take, ignore or refuse. Each stub answers with the sampling that it would draw with.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from stores.core.store import Store
from tests.jobs.faulty_server import Asked, FaultyServer, Refused
from workbench.cli.main import main
from workbench.domain.designs import Design
from workbench.domain.prompts import Message, Prompt
from workbench.domain.responses import EXACTLY, Drawn, Request, Sampling, sampled
from workbench.domain.thinking import refusal, split
from workbench.errors import ModelError, UsageError
from workbench.help import topic
from workbench.inference.extra_fields import extra_fields
from workbench.inference.load import load
from workbench.inference.served.address import parse_address
from workbench.inference.served.budget import Budget
from workbench.inference.served.client import RetryPolicy
from workbench.inference.served.model import RemoteModel, load_remote
from workbench.inference.served.providers import as_markdown, providers, recognise_server
from workbench.jobs import launch
from workbench.pipeline import asking, planning
from workbench.pipeline.design_checks import check_design
from workbench.tui.jobs.job_lines import job_details

HASTY = RetryPolicy(tries=3, long_tries=2, reply_s=2.0, first_wait_s=0.005, longest_wait_s=0.05)
STATED = Sampling(temperature=1.0, top_p=1.0, max_new_tokens=20)
LEFT = sampled(STATED, {"top_k": "server"})
PROTOCOL = {
    "model",
    "messages",
    "n",
    "seed",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
}


@dataclass(frozen=True)
class Manner:
    """How a kind of server draws where nobody tells it otherwise, and what it makes of what it is
    told.
    """

    defaults: Mapping[str, Any]
    "with the fields' own names: what a request leaves out is filled from here"
    off: Mapping[str, Any]
    "the values with which these change nothing"
    owned_by: str = ""
    strict: bool = False
    "refuses fields that it does not know; others ignore them"
    knows: frozenset[str] = frozenset()
    "further fields that it takes"

    def respond(self, asked: Asked) -> dict[str, Any]:
        body = asked.body
        unknown = set(body) - PROTOCOL - set(self.defaults) - self.knows
        if unknown and self.strict:
            raise Refused(
                {
                    "message": f"Unsupported parameter: {sorted(unknown)[0]}",
                    "param": sorted(unknown)[0],
                }
            )
        drawn = {**self.defaults, **{name: body[name] for name in self.defaults if name in body}}
        if "generation_config" in body:
            drawn |= {
                name: of
                for name, of in json.loads(body["generation_config"]).items()
                if name in drawn
            }
        text = json.dumps(drawn, sort_keys=True)
        n = body.get("n", 1)
        return {
            "choices": [
                {"index": i, "finish_reason": "stop", "message": {"content": text}}
                for i in range(n)
            ]
        }


QWEN = {"temperature": 0.6, "top_p": 0.95, "top_k": 20, "min_p": 0.1, "repetition_penalty": 1.05}
"a generation_config.json that vLLM and SGLang fill requests from"
PLAIN = {"temperature": 1.0, "top_p": 1.0}
PENALTIES = {"presence_penalty": 0.5, "frequency_penalty": 0.5}
NONE = {"presence_penalty": 0.0, "frequency_penalty": 0.0}
OFF = {**PLAIN, "top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0, **NONE}
MANNERS = {
    "vllm": Manner(QWEN | PENALTIES, OFF, "vllm"),
    "sglang": Manner(QWEN | PENALTIES, OFF, "sglang", strict=True),
    "llama-cpp": Manner(
        {
            "temperature": 0.8,
            "top_p": 0.95,
            "top_k": 40,
            "min_p": 0.05,
            "repeat_penalty": 1.1,
            "typical_p": 0.9,
        },
        {**PLAIN, "top_k": 0, "min_p": 0.0, "repeat_penalty": 1.0, "typical_p": 1.0},
        "llamacpp",
    ),
    "llama-cpp-python": Manner(
        {"temperature": 0.8, "top_p": 0.95, "top_k": 40, "min_p": 0.05, "repeat_penalty": 1.1},
        {**PLAIN, "top_k": 0, "min_p": 0.0, "repeat_penalty": 1.0},
        "me",
    ),
    "transformers": Manner(
        {
            "temperature": 0.6,
            "top_p": 0.95,
            "top_k": 50,
            "do_sample": False,
            "repetition_penalty": 1.1,
        },
        {**PLAIN, "top_k": 0, "do_sample": True, "repetition_penalty": 1.0},
        strict=True,
        knows=frozenset({"generation_config"}),
    ),
    "tgi": Manner(PLAIN | PENALTIES, PLAIN | NONE),
    "openai": Manner(PLAIN, PLAIN, strict=True),
    "anthropic": Manner(PLAIN, PLAIN),
}
"what the sampling states is what such a server draws with"
OWN = {"ollama": "library", "lm-studio": "organization_owner", "google": ""}
"servers that draw with something that nobody can set -> what they call themselves"


def served(server: FaultyServer, dialect: str = "") -> RemoteModel:
    name = server.name + (f"#{dialect}" if dialect else "")
    return load_remote(name, environ={}, patience=HASTY)


def asked(n: int = 2) -> list[Request]:
    return [Request(Prompt((Message("user", f"statement {i}"),)), n, seed=i) for i in range(2)]


def drawn_with(model: RemoteModel, sampling: Sampling) -> list[dict[str, Any]]:
    """Return with what the server drew each distinct answer."""
    found: list[Drawn] = list(model.generate(asked(), sampling))
    model.close()
    assert all(drawn.failed == 0 for drawn in found), [drawn.reason for drawn in found]
    return [json.loads(text) for drawn in found for text, _ in drawn.answers]


def test_every_dialect_names_its_documentation_and_whether_a_server_was_asked() -> None:
    assert {one.key for one in providers()} == {*MANNERS, *OWN}
    for one in providers():
        assert one.source.startswith("https://")
        assert "2026" in one.tested


@pytest.mark.parametrize("key", MANNERS)
@pytest.mark.parametrize("top_k", [None, 7])
def test_a_server_draws_with_what_the_sampling_states_and_nothing_of_its_own(
    key: str, top_k: int | None
) -> None:
    manner = MANNERS[key]
    with FaultyServer() as server:
        server.respond, server.owned_by = manner.respond, manner.owned_by
        model = served(server, "" if manner.owned_by else key)
        assert model.notes[0].startswith("dialect: ")
        if top_k and "top_k" not in manner.off:
            with pytest.raises(ModelError, match=r"takes no top-k.*--top-k 0"):
                drawn_with(model, replace(STATED, top_k=top_k))
            assert not server.asked, "refused before anything is paid"
            return
        found = drawn_with(model, replace(STATED, top_k=top_k))
    assert found == [{**manner.off, **({"top_k": top_k} if top_k else {})}] * 2


def test_without_its_dialect_such_a_server_draws_with_its_own_parameters() -> None:
    """The stubs would find it out."""
    with FaultyServer() as server:
        server.respond = MANNERS["vllm"].respond
        assert drawn_with(served(server), STATED)[0] == QWEN | PENALTIES | PLAIN


@pytest.mark.parametrize("key", OWN)
def test_a_server_with_parameters_that_nobody_can_set_is_asked_only_where_the_sampling_leaves_them_to_it(
    key: str,
) -> None:
    with FaultyServer() as server:
        server.owned_by = OWN[key]
        server.respond = Manner(PLAIN | {"top_k": 40}, {}).respond
        dialect = "" if server.owned_by else key
        with pytest.raises(ModelError, match=r"draws with its own .*ask with --top-k server"):
            drawn_with(served(server, dialect), STATED)
        assert not server.asked, "refused before anything is paid"
        assert drawn_with(served(server, dialect), LEFT) == [PLAIN | {"top_k": 40}] * 2


def test_a_temperature_that_a_server_would_cap_is_refused() -> None:
    with FaultyServer() as server:
        server.respond = MANNERS["anthropic"].respond
        with pytest.raises(ModelError, match=r"above 1 for 1 .*says 1\.5.*--temperature 1 or less"):
            drawn_with(served(server, "anthropic"), replace(STATED, temperature=1.5))
        drawn_with(served(server, "anthropic"), STATED)
        assert all("seed" not in call.body and call.body.get("n", 1) == 1 for call in server.asked)


def reasoning_model(asked: Asked) -> dict[str, Any]:
    """Answer as the reasoning models of OpenAI do: the temperature 1, no top_p,
    max_completion_tokens.
    """
    body = asked.body
    if "max_tokens" in body:
        said = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens'"
        )
        raise Refused({"message": said, "param": "max_tokens", "code": "unsupported_parameter"})
    if body.get("temperature", 1) != 1:
        said = (
            "Unsupported value: 'temperature' does not support 0.7 with this model. Only the "
            "default (1) value is."
        )
        raise Refused({"message": said, "param": "temperature", "code": "unsupported_value"})
    if "top_p" in body:
        said = "Unsupported parameter: 'top_p' is not supported with this model."
        raise Refused({"message": said, "param": "top_p", "code": "unsupported_parameter"})
    if "seed" in body:
        raise Refused({"message": "Unrecognized request argument supplied: seed", "param": None})
    return Manner(PLAIN, {}).respond(asked)


def test_a_refused_parameter_is_left_out_only_where_the_sampling_leaves_it_to_the_server(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with FaultyServer() as server:
        server.respond = reasoning_model
        for name, given in (
            ("temperature", {"top_p": "server", "temperature": 0.7}),
            ("top_p", {}),
        ):
            flag = "--" + name.replace("_", "-")
            with pytest.raises(
                ModelError, match=rf"does not take {name} as .*never pooled.*ask with {flag} server"
            ):
                drawn_with(served(server, "openai"), sampled(STATED, given))
        server.calls.clear()
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            drawn_with(
                served(server, "openai"),
                sampled(STATED, {"temperature": "server", "top_p": "server"}),
            )
        last = server.asked[-1].body
        assert not {"temperature", "top_p", "seed", "max_tokens"} & set(last)
        assert last["max_completion_tokens"] == 20
        assert [said.partition(" refuses ")[2].split()[0] for said in caplog.messages] == [
            "max_tokens",
            "seed",
        ]
        assert "cannot be drawn again" in caplog.text


def test_a_field_that_switches_off_the_servers_own_is_named_where_it_is_refused() -> None:
    def respond(asked: Asked) -> dict[str, Any]:
        if "min_p" in asked.body:
            raise Refused({"message": "min_p: Extra inputs are not permitted", "param": None})
        return MANNERS["vllm"].respond(asked)

    with FaultyServer() as server:
        server.respond, server.owned_by = respond, "vllm"
        with pytest.raises(ModelError, match=r"does not take min_p .*ask with --top-k server"):
            drawn_with(served(server), STATED)
        assert drawn_with(served(server), LEFT)[0]["top_k"] == 20, "its own"


def test_fields_of_a_person_are_sent_and_what_an_option_states_is_not_theirs_to_say(
    tmp_path: Path,
) -> None:
    file = tmp_path / "more.toml"
    file.write_text("min_p = 0.25\n[chat_template_kwargs]\nenable_thinking = false\n")
    sampling = replace(STATED, extra=extra_fields(str(file)))
    with FaultyServer() as server:
        server.respond, server.owned_by = MANNERS["vllm"].respond, "vllm"
        assert drawn_with(served(server), sampling)[0]["min_p"] == 0.25
        assert server.asked[-1].body["chat_template_kwargs"] == {"enable_thinking": False}
        server.respond = MANNERS["sglang"].respond
        with pytest.raises(
            ModelError, match=r"does not take chat_template_kwargs.*a field of --extra-body"
        ):
            drawn_with(load_remote(server.name + "#sglang", environ={}, patience=HASTY), sampling)
    for fields, said in (
        ('{"temperature": 0.3}', "stated by --temperature"),
        ('{"messages": []}', "the program sets it"),
        ('{"api_key": "x"}', "looks like a secret"),
        ("[1]", "cannot be read"),
        ('{"a": ', "found no JSON"),
        ('{"a": NaN}', "found no JSON"),
    ):
        with pytest.raises(UsageError, match=said):
            extra_fields(fields)
    (tmp_path / "list.json").write_text("[1]")
    with pytest.raises(UsageError, match="give one object of fields"):
        extra_fields(str(tmp_path / "list.json"))


def test_samplings_that_differ_in_what_is_left_to_a_server_or_added_are_never_pooled(
    tmp_path: Path,
) -> None:
    plain = Sampling()
    others = [
        sampled(plain, {"temperature": "server"}),
        sampled(plain, {"top_k": "server"}),
        sampled(plain, {"temperature": "server", "top_p": "server", "top_k": "server"}),
        replace(plain, extra='{"min_p": 0.1}'),
        replace(plain, thinking="low"),
        replace(plain, thinking="off"),
        replace(EXACTLY, extra='{"min_p": 0.1}'),
    ]
    assert len({one.key for one in (plain, EXACTLY, *others)}) == 9
    assert len({str(one) for one in (plain, EXACTLY, *others)}) == 9
    assert (
        str(others[2])
        == "T of the server, top-p of the server, top-k and penalties of the server, 20 tokens"
    )
    assert plain.key.hex() == PLAIN_KEY, "today's stores keep their keys"
    with Store.open(tmp_path / "s.db", create=True) as store:
        with FaultyServer() as server:
            server.owned_by = "vllm"
            model = served(server)
            card = model.card
            model.close()
        assert (
            card.encoding
            == "vllm: frequency_penalty, min_p, presence_penalty, repetition_penalty, top_k neutral"
        )
        ids = {store.runs.begin(card, one)[1] for one in (plain, *others)}
        assert len(ids) == 8
        design = Design("small", card.name, sampling=others[2])
        assert Design.from_json(json.loads(json.dumps(design.as_json()))) == design


PLAIN_KEY = "429910a64a0cad9e2b7ac1c78b1879af"


def test_what_is_left_to_a_server_needs_one() -> None:
    for change, said in (
        ({"server": "temperature"}, "a server cannot choose: give numbers for temperature"),
        ({"extra": '{"a": 1}'}, "no request can carry the fields of --extra-body"),
    ):
        with pytest.raises(UsageError, match=said):
            check_design(Design("small", "scripted", sampling=replace(Sampling(), **change)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("host", "entry", "key"),
    [
        ("api.openai.com", {}, "openai"),
        ("eu.api.openai.com", {}, "openai"),
        ("notapi.openai.com.example.org", {}, ""),
        ("gpu7", {"owned_by": "vllm"}, "vllm"),
        ("gpu7", {"owned_by": "LlamaCpp"}, "llama-cpp"),
        ("gpu7", {"owned_by": None}, ""),
    ],
)
def test_a_server_is_known_by_its_host_or_by_what_it_calls_itself(
    host: str, entry: dict[str, Any], key: str
) -> None:
    assert recognise_server(host, (entry,)).key == key


def test_a_name_may_state_the_kind_of_server() -> None:
    address = parse_address("openai:m@http://gpu7/v1#completions,tgi", {})
    assert (address.dialect, address.raw) == ("tgi", True)
    for wrong in ("#bogus", "#tgi,vllm", "#tgi,tgi", "#"):
        with pytest.raises(ModelError, match=r"after # only .* kind of server: anthropic, google"):
            parse_address(f"openai:m@http://gpu7/v1{wrong}", {})


def able(asked: Asked) -> dict[str, Any]:
    """Answer as a server that keeps to its parameters and seeds, names alternatives, echoes and
    thinks.
    """
    body = asked.body
    narrow = (
        not body.get("temperature")
        or body.get("top_p") == 0.001
        or body.get("top_k") == 1
        or body.get("min_p")
    )
    usage = {"completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 5}}
    if asked.path.endswith("/completions") and "prompt" in body:
        logprobs: dict[str, Any] = {"tokens": ["The", " Paris"], "token_logprobs": [None, -1.0]}
        if not body.get("echo"):
            logprobs = {
                "tokens": [" Paris"],
                "token_logprobs": [-1.0],
                "top_logprobs": [{" Paris": -1.0}],
            }
        return {"choices": [{"index": 0, "text": "", "logprobs": logprobs}]}
    top = [{"token": word, "logprob": -1.0 - i} for i, word in enumerate(("cat", "dog", "owl"))]
    message = {
        "content": "cat" if narrow else f"cat {body.get('seed')}",
        "reasoning_content": "Well.",
    }
    logprobs = {"content": [{"token": "cat", "logprob": -1.0, "top_logprobs": top}]}
    choices = [
        {"index": i, "message": message, "logprobs": logprobs} for i in range(body.get("n", 1))
    ]
    return {"choices": choices, "usage": usage}


def plain(asked: Asked) -> dict[str, Any]:
    """Answer as a server that can do nothing but answer."""
    if "n" in asked.body or "seed" in asked.body or asked.path == "/v1/completions":
        name = "n" if "n" in asked.body else "seed" if "seed" in asked.body else "prompt"
        raise Refused({"message": f"{name} is not supported", "param": name})
    return {"choices": [{"index": 0, "message": {"content": "cat"}}]}


def examined(capsys: pytest.CaptureFixture[str], name: str) -> dict[str, tuple[str, str]]:
    assert main(["doctor", "--model", name, "--json"]) == 0
    return {
        one["name"]: (one["state"], one["found"]) for one in json.loads(capsys.readouterr().out)
    }


def test_doctor_says_what_an_endpoint_can_do(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_TRIES", "2")
    with FaultyServer() as server:
        server.respond, server.owned_by = able, "vllm"
        found = examined(capsys, server.name)
        assert all(0 < call.body["max_tokens"] <= 24 for call in server.asked), (
            "0 is no limit to some servers"
        )
    assert found["temperature"] == ("ok", "obeyed (5 of 5 differ at 1, 5 of 5 equal at 0)")
    assert found["top-p"] == ("ok", "obeyed (5 of 5 equal at top-p 0.001)")
    assert found["top-k"] == ("ok", "obeyed (5 of 5 equal at top-k 1)")
    assert found["min-p"] == ("ok", "obeyed (5 of 5 equal at min-p 1)")
    assert found["unknown fields"][1].startswith("ignored without a word")
    assert found["dialect"][1].startswith(
        "dialect: vLLM (documented, untested, 2026-11); sent as neutral: "
    )
    assert found["several a call (n)"] == (
        "note",
        "unknown: two answers came of one call, and they are equal",
    )
    assert found["seed"] == (
        "ok",
        "obeyed: two calls with one seed had the same answer, another seed another one",
    )
    assert found["log-probabilities"] == ("ok", "3 alternatives of the first token")
    assert found["echo"][0] == "ok"
    assert found["questionnaires"] == (
        "ok",
        "exact: p(yes) and p(no) from the alternatives of the first token",
    )
    assert found["batches"][0] == "note"
    assert "vLLM is not known to take batches; OpenAI does" in found["batches"][1]
    assert found["thinking"] == ("ok", "shown, 'Well.'; 5 tokens of thought counted")
    assert found["limits"] == ("note", "the endpoint does not say")
    with FaultyServer() as server:
        server.respond = plain
        found = examined(capsys, server.name)
    assert found["dialect"][0] == "note"
    assert found["answers"] == ("ok", "'cat' by parrot-1-2026, fp_1")
    assert {name for name, (state, _) in found.items() if state == "note"} == {
        "dialect",
        "temperature",
        "top-p",
        "top-k",
        "min-p",
        "several a call (n)",
        "seed",
        "log-probabilities",
        "echo",
        "questionnaires",
        "batches",
        "thinking",
        "limits",
        "refusals",
    }
    assert found["temperature"][1].startswith(
        "ignored: the server does not draw (5 of 5 equal at 1); its kind is unknown"
    )
    assert found["questionnaires"][1].startswith(
        "counted: no probabilities can be had; run --samples N draws answers"
    )
    assert found["refusals"][1].startswith(
        "seed (the server answered with 400: seed is not supported)"
    )


def test_doctor_says_that_nothing_answers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--model", "openai:m@http://127.0.0.1:9/v1"]) == 1
    assert "nothing answers at http://127.0.0.1:9/v1" in " ".join(capsys.readouterr().out.split())
    assert main(["doctor", "--model", "scripted"]) == 0


def test_the_page_on_dialects_has_the_table_of_the_shipped_files() -> None:
    page = topic("dialects").text
    assert page.endswith(as_markdown() + "\n"), "make the table anew: providers.as_markdown()"


def fields_for(key: str, thinking: str) -> dict[str, Any]:
    """Return what a server of a kind is sent to ask for so much thinking, besides what it is sent
    anyway.
    """
    bodies = []
    for asked_for in (thinking, ""):
        with FaultyServer() as server:
            server.respond = lambda asked: {"choices": [{"index": 0, "message": {"content": "{}"}}]}
            sampling = replace(LEFT, thinking=asked_for)
            drawn_with(served(server, key), sampling)
            bodies.append(server.asked[-1].body)
    return {
        name: value
        for name, value in bodies[0].items()
        if bodies[1].get(name) != value and name not in OF_EACH_CALL
    }


OF_EACH_CALL = ("seed", "messages")
ENABLED = {"enable_thinking": True, "thinking": True}
DISABLED = {"enable_thinking": False, "thinking": False}


@pytest.mark.parametrize(
    ("key", "thinking", "fields"),
    [
        ("openai", "low", {"reasoning_effort": "low", "max_tokens": 1044}),
        ("openai", "off", {"reasoning_effort": "none"}),
        ("ollama", "high", {"reasoning_effort": "high", "max_tokens": 24596}),
        ("google", "medium", {"reasoning_effort": "medium", "max_tokens": 8212}),
        (
            "google",
            "300",
            {
                "extra_body": {"google": {"thinking_config": {"thinking_budget": 300}}},
                "max_tokens": 320,
            },
        ),
        (
            "anthropic",
            "low",
            {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 1044},
        ),
        ("anthropic", "off", {"thinking": {"type": "disabled"}}),
        ("vllm", "off", {"chat_template_kwargs": DISABLED}),
        (
            "vllm",
            "200",
            {"thinking_token_budget": 200, "chat_template_kwargs": ENABLED, "max_tokens": 220},
        ),
        (
            "sglang",
            "low",
            {"reasoning_effort": "low", "chat_template_kwargs": ENABLED, "max_tokens": 1044},
        ),
        ("llama-cpp", "off", {"chat_template_kwargs": {"enable_thinking": False}}),
    ],
)
def test_each_server_is_asked_for_thinking_in_its_own_words_with_tokens_beside_those_of_the_answer(
    key: str, thinking: str, fields: dict[str, Any]
) -> None:
    assert fields_for(key, thinking) == fields


@pytest.mark.parametrize(
    ("key", "thinking", "said"),
    [
        ("openai", "300", "of its fields: off, low, medium, high"),
        ("tgi", "low", "of its fields: none is known"),
        ("", "off", "unknown server: no field is known that asks for thinking 'off'"),
    ],
)
def test_thinking_that_a_server_has_no_field_for_is_refused_before_anything_is_paid(
    key: str, thinking: str, said: str
) -> None:
    with FaultyServer() as server:
        for ask in (
            lambda model: list(model.generate(asked(), replace(STATED, thinking=thinking))),
            lambda model: model.score_with(replace(EXACTLY, thinking=thinking)),
        ):
            model = served(server, key)
            with pytest.raises(
                ModelError, match=f"{said}.*give the field that this server takes in --extra-body"
            ):
                ask(model)
            model.close()
        assert not server.asked


THOUGHTS: dict[str, dict[str, Any]] = {
    "reasoning_content": {"content": "agree", "reasoning_content": "Some would."},
    "reasoning": {"content": "agree", "reasoning": "Some would."},
    "within marks": {"content": "<think>Some would.</think>agree"},
    "parts": {
        "content": [
            {"type": "thinking", "thinking": "Some would."},
            {"type": "text", "text": "agree"},
        ]
    },
    "not shown": {"content": "agree"},
}


@pytest.mark.parametrize("manner", THOUGHTS)
def test_thoughts_are_kept_apart_from_answers_and_their_tokens_are_counted_and_paid(
    manner: str,
) -> None:
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 40,
        "completion_tokens_details": {"reasoning_tokens": 33},
    }
    with FaultyServer() as server:
        server.respond = lambda asked: {
            "choices": [
                {"index": i, "finish_reason": "stop", "message": THOUGHTS[manner]}
                for i in range(asked.body.get("n", 1))
            ],
            "usage": usage,
        }
        budget = Budget(price_in=1.0, price_out=10.0, max_tokens=6000)
        model = load_remote(f"{server.name}#openai", environ={}, patience=HASTY, budget=budget)
        found = list(model.generate(asked(), replace(STATED, thinking="low")))
        ((text, count),) = found[0].answers
        assert (split(text).answer, count) == ("agree", 2)
        assert split(text).thinking == ("" if manner == "not shown" else "Some would.")
        assert model.meter()["tokens_thought"] == 66
        assert model.spent.answer_tokens == 80
        assert model.cost == pytest.approx((20 * 1.0 + 80 * 10.0) / 1e6), (
            "thoughts are paid as answers are"
        )
        assert "(66 of them thought)" in budget.describe(model.spent)
        model.close()


def test_probabilities_are_asked_for_with_the_thinking_and_the_fields_of_the_sampling() -> None:
    with FaultyServer() as server:
        server.respond, server.owned_by = able, "vllm"
        model = served(server)
        model.score_with(replace(EXACTLY, thinking="off", extra='{"a": 1}'))
        (scored,) = model.score([asked()[0].prompt], [["cat", "dog"]])
        assert not scored.reason
        body = server.asked[-1].body
        assert (body["chat_template_kwargs"], body["a"], body["max_tokens"]) == (DISABLED, 1, 1)
        raw = Request(Prompt((Message("user", "Rents"),), chat=False), 1, 1)
        with pytest.raises(ModelError, match="a raw prompt is continued as text"):
            list(model.generate([raw], replace(STATED, thinking="off")))
        model.close()


def test_exact_probabilities_have_no_thought_before_them() -> None:
    with pytest.raises(
        UsageError, match=r"without thinking before it: .* --thinking off, not with a budget of low"
    ):
        check_design(
            Design("small", "scripted", samples=1, sampling=replace(EXACTLY, thinking="low"))
        )
    check_design(Design("small", "scripted", samples=1, sampling=replace(EXACTLY, thinking="off")))


def test_runs_with_and_without_thinking_are_two_runs(filled: Store, tmp_path: Path) -> None:
    persona = tmp_path / "thinks.toml"
    persona.write_text(
        'agree = 0.9\nunreadable = 0.0\nthoughts = ["Some would say yes and others no."]\n'
    )
    for thinking in ("", "off", "3"):
        design = Design(
            "small",
            f"scripted:{persona}",
            samples=2,
            sampling=replace(Sampling(), thinking=thinking),
        )
        model = load(design.model)
        plan = planning.plan(filled, design, card=model.card)
        job = launch.create(filled, plan.design, plan)
        attempt = filled.jobs.claim(job, "test")
        progress = asking.collect(filled, plan, model, attempt=attempt, job=job)
        filled.jobs.finish(job, attempt, "done")
        thought = {"": 7, "off": 0, "3": 3}[thinking]
        assert progress.used.get("tokens_thought", 0) == thought * progress.answers
    runs = filled.runs.list("reliability")
    assert [run.sampling.thinking for run in runs] == ["", "off", "3"]
    assert [str(run.sampling).partition("tokens")[2] for run in runs] == [
        "",
        ", thinking off",
        ", thinking 3 tokens",
    ]
    assert len({run.sampling_id for run in runs}) == 3
    with pytest.raises(ModelError, match="its persona has no `thoughts`"):
        list(load("scripted").generate(asked(), replace(Sampling(), thinking="low")))


def in_responses(asked: Asked) -> dict[str, Any]:
    """Answer as OpenAI's Responses API does."""
    body = asked.body
    assert asked.path == "/v1/responses"
    assert not {"messages", "n", "seed", "max_tokens", "reasoning_effort"} & set(body)
    if "cut" in str(body["input"]):
        usage = {
            "input_tokens": 7,
            "output_tokens": 20,
            "output_tokens_details": {"reasoning_tokens": 20},
        }
        details = {"reason": "max_output_tokens"}
        output = [{"type": "reasoning", "summary": []}]
        return {
            "object": "response",
            "error": None,
            "output": output,
            "incomplete_details": details,
            "usage": usage,
        }
    part: dict[str, Any] = {"type": "output_text", "text": "agree"}
    if body.get("include"):
        top = [{"token": word, "logprob": -1.0 - i} for i, word in enumerate(("agree", "disagree"))]
        part["logprobs"] = [{"token": "agree", "logprob": -1.0, "top_logprobs": top}]
    if "refuse" in str(body["input"]):
        part = {"type": "refusal", "refusal": "I cannot."}
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Some would."}]}
    usage = {
        "input_tokens": 7,
        "output_tokens": 9,
        "output_tokens_details": {"reasoning_tokens": 5},
    }
    message = {"type": "message", "role": "assistant", "content": [part]}
    return {
        "object": "response",
        "error": None,
        "output": [thought, message],
        "incomplete_details": None,
        "usage": usage,
    }


def test_the_responses_api_is_asked_beside_chats(caplog: pytest.LogCaptureFixture) -> None:
    chats = [
        Prompt((Message("system", "Answer."), Message("user", text)))
        for text in ("plain", "refuse", "cut")
    ]
    with FaultyServer() as server:
        server.respond = in_responses
        model = load_remote(f"{server.name}#responses,openai", environ={}, patience=HASTY)
        wanted = [Request(prompt, 2, 1) for prompt in chats]
        found = {
            drawn.request: drawn
            for drawn in model.generate(wanted, replace(STATED, thinking="low"))
        }
        outputs = [split(text) for at in range(3) for text, _ in found[at].answers]
        assert [(of.thinking, of.answer) for of in outputs] == [
            ("Some would.", "agree"),
            ("Some would.", refusal("I cannot.")),
            ("", None),
        ]
        assert all(sum(count for _, count in drawn.answers) == 2 for drawn in found.values())
        body = server.asked[0].body
        assert (body["max_output_tokens"], body["reasoning"], body["temperature"]) == (
            1044,
            {"effort": "low"},
            1.0,
        )
        assert body["input"][0] == {"role": "system", "content": "Answer."}
        assert model.spent.answer_tokens == 2 * (9 + 9 + 20)
        assert model.meter()["tokens_thought"] == 2 * (5 + 5 + 20)
        (scored,) = model.score([chats[0]], [["disagree", "agree"]])
        assert list(scored.log_probabilities) == [-2.0, -1.0]
        assert server.asked[-1].body["max_output_tokens"] == 16, "the least that it takes"
        assert "through the Responses API" in model.notes[0]
        model.close()


def test_what_a_server_refused_is_kept_with_the_job_and_shown(filled: Store) -> None:
    with FaultyServer() as server:
        server.respond = reasoning_model
        sampling = sampled(Sampling(), {"temperature": "server", "top_p": "server"})
        design = Design(
            "small", f"{server.name}#openai", samples=1, sampling=sampling, statements=("a-1",)
        )
        model = load_remote(design.model, environ={}, patience=HASTY)
        plan = planning.plan(filled, design, card=model.card)
        job = launch.create(filled, plan.design, plan)
        attempt = filled.jobs.claim(job, "test")
        asking.collect(filled, plan, model, attempt=attempt, job=job)
        filled.jobs.finish(job, attempt, "done")
        model.close()
    kept = filled.jobs.get(job)
    assert kept.asked["dialect"] == "openai"
    assert set(kept.asked) == {"dialect", "max_tokens", "seed"}
    assert "the server refuses max_tokens (the server answered with 400" in str(job_details(kept))
    assert filled.runs.list("reliability")[0].sampling == sampling
