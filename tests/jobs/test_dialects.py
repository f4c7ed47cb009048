"""Servers of each kind, as their documentation says that they draw: defaults of their own, fields that they take,
ignore or refuse. Each stub answers with the sampling that it would draw with.
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
from workbench.domain.designs import Design
from workbench.domain.prompts import Message, Prompt
from workbench.domain.responses import EXACTLY, Drawn, Request, Sampling, sampled
from workbench.errors import ModelError, UsageError
from workbench.inference.extra_fields import extra_fields
from workbench.inference.served.address import parse_address
from workbench.inference.served.model import RemoteModel, load_remote
from workbench.inference.served.pace import Patience
from workbench.inference.served.providers import providers, recognised
from workbench.pipeline.design_checks import check_design

HASTY = Patience(tries=3, long_tries=2, reply_s=2.0, first_wait_s=0.005, longest_wait_s=0.05)
STATED = Sampling(temperature=1.0, top_p=1.0, max_new_tokens=20)
LEFT = sampled(STATED, {"top_k": "server"})
PROTOCOL = {"model", "messages", "n", "seed", "max_tokens", "max_completion_tokens", "temperature", "top_p"}


@dataclass(frozen=True)
class Manner:
    """How a kind of server draws where nobody tells it otherwise, and what it makes of what it is told."""

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
            raise Refused({"message": f"Unsupported parameter: {sorted(unknown)[0]}", "param": sorted(unknown)[0]})
        drawn = {**self.defaults, **{name: body[name] for name in self.defaults if name in body}}
        if "generation_config" in body:
            drawn |= {name: of for name, of in json.loads(body["generation_config"]).items() if name in drawn}
        text = json.dumps(drawn, sort_keys=True)
        n = body.get("n", 1)
        return {"choices": [{"index": i, "finish_reason": "stop", "message": {"content": text}} for i in range(n)]}


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
        {"temperature": 0.8, "top_p": 0.95, "top_k": 40, "min_p": 0.05, "repeat_penalty": 1.1, "typical_p": 0.9},
        {**PLAIN, "top_k": 0, "min_p": 0.0, "repeat_penalty": 1.0, "typical_p": 1.0},
        "llamacpp",
    ),
    "llama-cpp-python": Manner(
        {"temperature": 0.8, "top_p": 0.95, "top_k": 40, "min_p": 0.05, "repeat_penalty": 1.1},
        {**PLAIN, "top_k": 0, "min_p": 0.0, "repeat_penalty": 1.0},
        "me",
    ),
    "transformers": Manner(
        {"temperature": 0.6, "top_p": 0.95, "top_k": 50, "do_sample": False, "repetition_penalty": 1.1},
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
def test_a_server_draws_with_what_the_sampling_states_and_nothing_of_its_own(key: str, top_k: int | None) -> None:
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
    """Answer as the reasoning models of OpenAI do: the temperature 1, no top_p, max_completion_tokens."""
    body = asked.body
    if "max_tokens" in body:
        said = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'"
        raise Refused({"message": said, "param": "max_tokens", "code": "unsupported_parameter"})
    if body.get("temperature", 1) != 1:
        said = "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) value is."
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
        for name, given in (("temperature", {"top_p": "server", "temperature": 0.7}), ("top_p", {})):
            flag = "--" + name.replace("_", "-")
            with pytest.raises(ModelError, match=rf"does not take {name} as .*never pooled.*ask with {flag} server"):
                drawn_with(served(server, "openai"), sampled(STATED, given))
        server.calls.clear()
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            drawn_with(served(server, "openai"), sampled(STATED, {"temperature": "server", "top_p": "server"}))
        last = server.asked[-1].body
        assert not {"temperature", "top_p", "seed", "max_tokens"} & set(last)
        assert last["max_completion_tokens"] == 20
        assert [said.partition(" refuses ")[2].split()[0] for said in caplog.messages] == ["max_tokens", "seed"]
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


def test_fields_of_a_person_are_sent_and_what_an_option_states_is_not_theirs_to_say(tmp_path: Path) -> None:
    file = tmp_path / "more.toml"
    file.write_text("min_p = 0.25\n[chat_template_kwargs]\nenable_thinking = false\n")
    sampling = replace(STATED, extra=extra_fields(str(file)))
    with FaultyServer() as server:
        server.respond, server.owned_by = MANNERS["vllm"].respond, "vllm"
        assert drawn_with(served(server), sampling)[0]["min_p"] == 0.25
        assert server.asked[-1].body["chat_template_kwargs"] == {"enable_thinking": False}
        server.respond = MANNERS["sglang"].respond
        with pytest.raises(ModelError, match=r"does not take chat_template_kwargs.*a field of --extra-body"):
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


def test_samplings_that_differ_in_what_is_left_to_a_server_or_added_are_never_pooled(tmp_path: Path) -> None:
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
    assert str(others[2]) == "T of the server, top-p of the server, top-k and penalties of the server, 20 tokens"
    assert plain.key.hex() == PLAIN_KEY, "today's stores keep their keys"
    with Store.open(tmp_path / "s.db", create=True) as store:
        with FaultyServer() as server:
            server.owned_by = "vllm"
            model = served(server)
            card = model.card
            model.close()
        assert card.encoding == "vllm: frequency_penalty, min_p, presence_penalty, repetition_penalty, top_k neutral"
        ids = {store.runs.begin(card, one)[1] for one in (plain, *others)}
        assert len(ids) == 8
        design = Design("small", card.name, sampling=others[2])
        assert Design.from_json(json.loads(json.dumps(design.as_json()))) == design


PLAIN_KEY = "429910a64a0cad9e2b7ac1c78b1879af"


def test_what_is_left_to_a_server_needs_one() -> None:
    for change, said in (
        ({"server": "temperature"}, "nothing can be left to a server: give temperature numbers"),
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
def test_a_server_is_known_by_its_host_or_by_what_it_calls_itself(host: str, entry: dict[str, Any], key: str) -> None:
    assert recognised(host, (entry,)).key == key


def test_a_name_may_state_the_kind_of_server() -> None:
    address = parse_address("openai:m@http://gpu7/v1#completions,tgi", {})
    assert (address.dialect, address.raw) == ("tgi", True)
    for wrong in ("#bogus", "#tgi,vllm", "#tgi,tgi", "#"):
        with pytest.raises(ModelError, match=r"after # only .* kind of server: anthropic, google"):
            parse_address(f"openai:m@http://gpu7/v1{wrong}", {})
