"""A server's replies are bounded, its counts are not trusted where they are none, and the key never
comes back.
"""

from __future__ import annotations

import base64
import json
import socketserver
import threading
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.core.store import Store
from tests.jobs.faulty_server import Asked, FaultyServer
from tests.jobs.test_jobs import ended, wait
from tests.jobs.test_remote_model import (
    HASTY,
    KEY,
    NAMED,
    USUAL,
    collect,
    load_remote,
    requests,
    served,
)
from workbench.domain.designs import Design
from workbench.domain.responses import Drawn
from workbench.inference.served import bounded
from workbench.inference.served.bounded import MIB
from workbench.inference.served.budget import Usage
from workbench.inference.served.reply import read_reply
from workbench.inference.served.secret import REMOVED, normal_form, secret_of, without_key
from workbench.jobs import launch


@pytest.mark.parametrize("fault", ["endless", "bomb"])
def test_a_reply_without_an_end_is_given_up_with_its_reason(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    "escaped as in JSON": lambda key: f"Your key is {escaped(key)}!",
    "escaped twice": lambda key: escaped(key).replace("\\", "\\\\"),
    "percents alone": lambda key: percents(key),
    "percents of percents": lambda key: percents(percents(key)),
    "entities": lambda key: "".join(f"&#{ord(character)};" for character in key),
    "entities of entities": lambda key: "".join(f"&amp;#x{ord(character):x};" for character in key),
    "in hexadecimal": lambda key: key.encode().hex(),
    "in hexadecimal with colons": lambda key: key.encode().hex(":").upper(),
    "in the other case": lambda key: key.swapcase(),
    "with characters without width": lambda key: "\u200b".join(key),
    "with blanks": lambda key: " ".join(key),
    "backwards": lambda key: key[::-1],
    "with backslashes": lambda key: "\\".join(key),
    "with backslashes in percents": lambda key: "%5c".join(key),
    "with blanks as in JSON": lambda key: "\\n".join(key),
    "with accents": lambda key: "\u0301".join(key),
    "with fillers": lambda key: "\u3164\uffa0\u115f\u1160".join(key),
    "escaped in braces": lambda key: "".join(f"\\u{{{ord(c):x}}}" for c in key),
    "escaped in eight digits": lambda key: "".join(f"\\U{ord(c):08x}" for c in key),
    "escaped in octal": lambda key: "".join(f"\\{ord(c):03o}" for c in key),
    "escaped as in C": lambda key: "".join(f"\\X{ord(c):02X}" for c in key),
    "escaped as in old addresses": lambda key: "".join(f"%u{ord(c):04x}" for c in key),
    "in wide letters": lambda key: "".join(chr(ord(c) + 0xFEE0) if c.isalnum() else c for c in key),
}


def escaped(key: str) -> str:
    return "".join(f"\\u{ord(character):04x}" for character in key)


def percents(text: str) -> str:
    return "".join(f"%{byte:02x}" for byte in text.encode())


@pytest.mark.parametrize("key", [KEY, "sk-/+%:0123456789"])
@pytest.mark.parametrize("how", ECHOES)
def test_a_key_that_a_server_sends_back_is_taken_out(how: str, key: str) -> None:
    def echo(_: Asked) -> dict[str, Any]:
        said = ECHOES[how](key)
        return {
            "model": said,
            "system_fingerprint": said,
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": said},
                }
            ],
        }

    with FaultyServer() as server:
        server.respond = echo
        server.report = lambda _: (None, None)
        model = served(server, environ={**NAMED, "WORKBENCH_ENDPOINT_KEY": key})
        found = collect(model, requests(1, n=1))
        told = json.dumps(
            [found[0].answers, [str(one) for one in model.answerers], sorted(model.fingerprints)]
        )
        model.close()
    assert REMOVED in told
    assert normal_form(key) not in normal_form(told)
    assert normal_form(ECHOES[how](key)) not in normal_form(told)


def test_a_key_whose_letters_are_escapes_of_the_reply_itself_is_taken_out() -> None:
    message = f'{{"role": "assistant", "content": "Your key is {escaped(KEY)}."}}'
    reply = f'{{"choices": [{{"index": 0, "finish_reason": "stop", "message": {message}}}]}}'
    secret = secret_of(KEY)
    assert secret is not None
    assert KEY not in json.loads(reply)["choices"][0]["message"], (
        "it is there only once the JSON is read"
    )
    found = read_reply(secret.remove_from_reply(reply.encode()), 1, KEY)
    assert [choice.text for choice in found.choices] == [f"Your key is {REMOVED}."]


@pytest.mark.parametrize("charset", ["utf-8", "utf-7"])
@pytest.mark.parametrize(
    "encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"]
)
def test_a_key_is_taken_out_of_a_reply_in_any_encoding(encoding: str, charset: str) -> None:
    choice = {"index": 0, "finish_reason": "stop", "message": {"content": f"Your key is {KEY}."}}
    reply = {"model": f"m {KEY}", "system_fingerprint": KEY, "choices": [choice], KEY: KEY}
    content = json.dumps(reply).encode(encoding)
    found = answered_raw(
        raw(content, "200 OK", f"Content-Type: application/json; charset={charset}"), KEY
    )
    assert found.answers == ((f"Your key is {REMOVED}.", 1),)
    assert (found.snapshot, found.fingerprint) == (f"m {REMOVED}", REMOVED)
    words = json.dumps({"error": {"message": f"no {KEY}"}}).encode(encoding)
    assert answered_raw(raw(words, "400 X"), KEY).reason.endswith(f"no {REMOVED}")


def test_a_key_is_taken_out_of_a_reply_however_deep_it_lies() -> None:
    secret = secret_of(KEY)
    assert secret is not None
    deep = '{"a": [' * 300 + f'"{escaped(KEY)}"' + "]}" * 300
    assert json.loads(secret.remove_from_reply(deep.encode())) == json.loads(
        deep.replace(escaped(KEY), REMOVED)
    )
    assert secret.remove_from_reply(b"[" * 100_000) == b"[" * 100_000


def test_a_key_in_pieces_is_taken_out_where_they_are_put_together() -> None:
    parts = [{"type": "text", "text": KEY[:8]}, {"type": "text", "text": KEY[8:]}]
    reply = {
        "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": parts}}]
    }
    found = read_reply(json.dumps(reply).encode(), 1, KEY)
    assert [choice.text for choice in found.choices] == [REMOVED]


def test_a_file_of_batch_results_loses_the_key_alone() -> None:
    secret = secret_of(KEY)
    assert secret is not None
    lines = [
        json.dumps({"custom_id": str(i), "text": text})
        for i, text in enumerate(["Agree.", escaped(KEY), "No"])
    ]
    found = secret.remove_from_lines("\n".join(lines).encode()).decode().split("\n")
    assert (found[0], found[2]) == (lines[0], lines[2])
    assert json.loads(found[1]) == {"custom_id": "1", "text": REMOVED}
    assert (
        secret.remove_from_lines("\r\n".join(lines).encode("utf-16")).decode().split("\n") == found
    )


KEYS = st.text(
    st.characters(codec="ascii", categories=("L", "N", "P")), min_size=14, max_size=60
).filter(
    lambda key: (
        len(normal_form(key)) >= 12 and "%" not in key and "&" not in key and "\\" not in key
    )
)
WAYS = st.sampled_from([way for name, way in ECHOES.items() if "base64" not in name])


@given(KEYS, st.lists(WAYS, min_size=1, max_size=2), st.text(max_size=9), st.text(max_size=9))
def test_a_key_is_found_however_it_is_written_and_an_answer_without_it_is_unchanged(
    key: str, ways: list[Callable[[str], str]], before: str, after: str
) -> None:
    secret = secret_of(key)
    assert secret is not None
    written = key
    for way in ways:
        written = way(written)
    if len(ways) == 1 or normal_form(key) in normal_form(written):
        assert REMOVED in secret.remove_from(before + "\n" + written + "\n" + after)
        assert not secret.is_in(secret.remove_from(written))
    harmless = before + after
    assert secret.is_in(harmless) or secret.remove_from(harmless) == harmless


@given(KEYS, st.binary(max_size=9))
def test_a_key_is_found_in_base64_wherever_it_begins(key: str, before: bytes) -> None:
    secret = secret_of(key)
    assert secret is not None
    packed = base64.b64encode(before + key.encode() + b"!?").decode()
    for text in (
        packed,
        json.dumps({"a": packed}),
        packed.swapcase() if packed.islower() else packed,
    ):
        assert secret.is_in(text)


@pytest.mark.parametrize("key", [None, "none", "EMPTY"])
def test_a_short_key_is_no_reason_to_change_answers(key: str | None) -> None:
    assert secret_of(key) is None


@pytest.mark.parametrize(
    ("key", "answer"),
    [("not-needed", "That is not needed."), ("lm-studio", "LM Studio"), ("sk-12345678", "5678 sk")],
)
def test_words_of_an_answer_are_not_taken_for_a_key(key: str, answer: str) -> None:
    assert without_key(answer, key) == answer


def test_a_server_that_counts_nothing_is_counted_here() -> None:
    def free(asked: Asked) -> dict[str, Any]:
        choice = {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": "x" * 300},
        }
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
def test_a_budget_belongs_to_the_job_whatever_its_attempts(
    filled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
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


ANSWER = {"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": "Beneficial."}}]}


def raw(body: object, status: str = "200 OK", *headers: str) -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = [f"HTTP/1.1 {status}", "Connection: close", f"Content-Length: {len(data)}", *headers]
    return "\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + data


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (b"", "the connection broke off (Server disconnected without sending a response.)"),
        (b"\x15\x03\x01\x00\x02\x02\x46", "the connection broke off (illegal request line)"),
        (
            raw(ANSWER)[:-20],
            "the connection broke off (peer closed connection without sending complete message",
        ),
        (
            raw(ANSWER, "200 OK", "Content-Encoding: gzip"),
            "the reply cannot be unpacked (Error -3 while decompressing",
        ),
        (raw(b""), "the reply is empty"),
        (raw(b"<html>\x1b[31mLog in"), "the reply is no JSON object; it begins: <html> [31mLog in"),
        (raw(b'data: {"choices": []}'), "the reply is no JSON object; it begins: data: {"),
        (raw(b"null"), "the reply is no JSON object; it begins: null"),
        (raw(ANSWER)[:-1] + b" ", "the reply is not whole JSON"),
        (raw({"message": {}, "done": True}), "the reply has no choices; its fields: message, done"),
        (raw({}), "the reply has no choices; its fields: none"),
        (
            raw({"choices": [{"message": {"content": 5}}]}),
            "an answer without text (finish_reason None)",
        ),
        (raw(b"", "500 X"), "the server answered with 500 (Internal Server Error)"),
        (raw(b"", "999 X"), "the server answered with 999 (a status that no standard knows)"),
        (
            raw({"error": {"message": "no memory"}}, "500 X"),
            "the server answered with 500: no memory",
        ),
        (
            raw(b"", "503 X", "Retry-After: 1e999"),
            "the server answered with 503 (Service Unavailable)",
        ),
        (raw(b"", "413 X"), "the server answered with 413 (Request Entity Too Large)"),
    ],
)
def test_every_faulty_reply_has_a_reason_that_says_what_came(reply: bytes, reason: str) -> None:
    found = answered_raw(reply)
    assert found.failed == 1
    assert found.reason.startswith(reason)
    assert found.reason.isprintable()


@pytest.mark.parametrize(
    "header", ["X-Name: \xe9\xff", "X-Many: " + "a" * 60_000, "Content-Encoding: unheard-of"]
)
def test_headers_that_nobody_asked_for_do_no_harm(header: str) -> None:
    assert answered_raw(raw(ANSWER, "200 OK", header)).answers == (("Beneficial.", 1),)


def answered_raw(reply: bytes, key: str = "") -> Drawn:
    """Return what comes of one request where a server answers each call with these bytes."""

    class Raw(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            asks = self.rfile.readline().startswith(b"POST")
            length = 0
            while (line := self.rfile.readline()).strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            self.rfile.read(length)
            self.wfile.write(reply if asks else raw({"data": [{"id": "m"}]}))

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Raw) as server:
        threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()
        name = f"openai:m@http://127.0.0.1:{server.server_address[1]}/v1"
        (found,) = collect(
            load_remote(
                name,
                environ={**NAMED, "WORKBENCH_ENDPOINT_KEY": key},
                patience=replace(HASTY, tries=1),
            ),
            requests(1, n=1),
        ).values()
        server.shutdown()
    return found
