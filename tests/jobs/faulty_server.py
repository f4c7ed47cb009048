"""A real HTTP server that speaks the OpenAI protocol badly on purpose, with faults drawn from a
seed.

Every answer that it makes is unique (`STATEMENT ~ SERIAL`), so that a test can see which were kept,
lost or kept twice.
"""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import numpy as np

MODEL = "parrot-1"
FAULTS = (
    "429",
    "500",
    "503",
    "hang",
    "cut",
    "half",
    "html",
    "empty",
    "null",
    "one null",
    "twice",
    "more",
    "fewer",
    "bad gzip",
    "array",
    "error in 200",
    "deep",
)


BOMB = gzip.compress(b" " * 2**28, 6, mtime=0)
"256 MiB of blanks in 260 KiB"


class Refused(Exception):
    """Raised by `FaultyServer.respond`: the call is answered with 400 and this error."""


READABLE, SOMETIMES = "Beneficial.", 20
"""one answer in so many to the templates of the small instrument names a label; the others repeat
the prompt, and a job of which not one answer can be read pauses
"""


@dataclass
class Asked:
    """One call as it came in, and what the server did about it."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    fault: str
    serials: list[str] = field(default_factory=list)
    "answers that were sent whole and readable"


class LocalServer:
    """Serves on 127.0.0.1 until it is closed. A handler finds it as its `owner`."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]):
        self._http = ThreadingHTTPServer(
            ("127.0.0.1", 0), type("Handler", (handler,), {"owner": self})
        )
        self._http.daemon_threads = True
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


class FaultyServer(LocalServer):
    """`fault(call, body)` names what goes wrong with a call, "" nothing."""

    def __init__(
        self,
        fault: Callable[[int, dict[str, Any]], str] = lambda _call, _body: "",
        *,
        model: str = MODEL,
    ):
        self.fault, self.model = fault, model
        self.calls: list[Asked] = []
        self.most_at_once = 0
        self.at_once = self._serial = 0
        self.lock, self.over = threading.Lock(), threading.Event()
        self.pause_s = 0.03
        "of the fault `slow`"
        self.report: Callable[[Asked], tuple[str | None, str | None]] = lambda _: (
            f"{self.model}-2026",
            "fp_1",
        )
        "the model and the `system_fingerprint` that a reply reports; None: it has no such field"
        self.models: tuple[str, ...] | None = (model,)
        "what it lists; None: it has no list"
        self.hangs_when_listed = False
        self.routes: tuple[str, ...] | None = None
        "what it says of itself in /openapi.json; None: it has no such page"
        self.owned_by = ""
        "as its list of models says; empty: it does not"
        self.respond: Callable[[Asked], dict[str, Any]] | None = None
        "makes the whole reply in place of the server's own answers"
        super().__init__(_Handler)

    @property
    def name(self) -> str:
        return f"openai:{self.model}@{self.url}"

    def __exit__(self, *_: object) -> None:
        self.over.set()
        super().__exit__()

    @property
    def asked(self) -> list[Asked]:
        """Calls for answers."""
        return [call for call in self.calls if call.path != "/v1/models"]

    def delivered(self) -> list[str]:
        return [serial for call in self.calls for serial in call.serials]

    def enter(self) -> None:
        with self.lock:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)

    def leave(self) -> None:
        with self.lock:
            self.at_once -= 1

    def note(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> Asked:
        with self.lock:
            fault = "" if path == "/v1/models" else self.fault(len(self.asked), body)
            asked = Asked(path, {name.lower(): text for name, text in headers.items()}, body, fault)
            self.calls.append(asked)
            return asked

    def answer(self, asked: Asked, index: int) -> dict[str, Any]:
        """Return one choice with an answer of its own."""
        with self.lock:
            self._serial += 1
            labels = "Is the following statement more likely to be" in str(asked.body)
            said = READABLE if labels and self._serial % SOMETIMES == 1 else prompt_of(asked.body)
            text = f"{said} ~ {self._serial}"
        asked.serials.append(text)
        choice: dict[str, Any] = {"index": index, "finish_reason": "stop"}
        chat = asked.path.endswith("/chat/completions")
        return choice | (
            {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
        )


def prompt_of(body: Mapping[str, Any]) -> str:
    return str(body["messages"][-1]["content"] if "messages" in body else body["prompt"])


def seeded_faults(
    seed: int, share: float, kinds: tuple[str, ...] = FAULTS
) -> Callable[[int, dict[str, Any]], str]:
    """Return faults for a share of the calls, always the same for the same seed and order of
    calls.
    """
    rng = np.random.default_rng(seed)

    def fault(_call: int, body: dict[str, Any]) -> str:
        prompt = prompt_of(body)
        if "always " in prompt:
            return prompt.partition("always ")[2]
        return str(rng.choice(kinds)) if rng.random() < share else ""

    return fault


class _Handler(BaseHTTPRequestHandler):
    owner: FaultyServer
    reported: tuple[str | None, str | None]
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass

    def do_GET(self) -> None:
        if self.path == "/openapi.json":
            routes = self.owner.routes
            self._send(
                404 if routes is None else 200, {"paths": {route: {} for route in routes or ()}}
            )
            return
        self.owner.note(self.path, dict(self.headers), {})
        if self.owner.hangs_when_listed:
            self.owner.over.wait(30)
        if self.owner.models is None:
            self._send(404, {"error": {"message": "no such path"}})
            return
        entries = [
            {"id": id_, "object": "model", "created": 7, "root": f"{id_}-weights"}
            for id_ in self.owner.models
        ]
        entries = [
            entry | ({"owned_by": self.owner.owned_by} if self.owner.owned_by else {})
            for entry in entries
        ]
        self._send(200, {"object": "list", "data": entries})

    def do_POST(self) -> None:
        self.owner.enter()
        try:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked = self.owner.note(self.path, dict(self.headers), body)
            self.reported = self.owner.report(asked)
            if self.owner.respond is not None:
                self._responded(asked, self.owner.respond)
            elif asked.fault.isdigit():
                self._status(int(asked.fault), asked)
            elif not getattr(self, f"_{asked.fault.replace(' ', '_')}", self._well)(asked):
                self.close_connection = True
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            self.owner.leave()

    def _responded(self, asked: Asked, respond: Callable[[Asked], dict[str, Any]]) -> None:
        try:
            self._send(200, self._by() | respond(asked))
        except Refused as refusal:
            self._send(400, {"error": refusal.args[0]})

    def _send(
        self,
        status: int,
        value: Any,
        headers: Mapping[str, str] | None = None,
        length: int | None = None,
    ) -> bool:
        content = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        extra = {
            "Content-Type": "application/json",
            "Content-Length": str(length or len(content)),
        } | dict(headers or {})
        for header, text in extra.items():
            self.send_header(header, text)
        self.end_headers()
        self.wfile.write(content)
        return True

    def _status(self, status: int, asked: Asked) -> None:
        key = asked.headers.get("authorization", "").removeprefix("Bearer ")
        waits = {"Retry-After": "0.05"} if status in (429, 503) else {}
        error = {
            "message": f"on purpose, for {key}\x1b[31m",
            "type": "fault",
            "code": None,
            "param": None,
        }
        self._send(status, {"error": error}, waits)

    def _by(self) -> dict[str, Any]:
        names = zip(("model", "system_fingerprint"), self.reported, strict=True)
        return {name: value for name, value in names if value is not None}

    def _reply(self, choices: list[dict[str, Any]]) -> dict[str, Any]:
        answers = len(choices)
        return {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            **self._by(),
            "choices": choices,
            "usage": {
                "prompt_tokens": 10,
                "completion_tokens": 3 * answers,
                "total_tokens": 10 + 3 * answers,
            },
        }

    def _choices(self, asked: Asked, n: int | None = None) -> list[dict[str, Any]]:
        return [
            self.owner.answer(asked, i) for i in range(asked.body.get("n", 1) if n is None else n)
        ]

    def _well(self, asked: Asked) -> bool:
        return self._send(200, self._reply(self._choices(asked)))

    def _slow(self, asked: Asked) -> bool:
        self.owner.over.wait(self.owner.pause_s)
        return self._well(asked)

    def _hang(self, _asked: Asked) -> bool:
        self.owner.over.wait(30)
        return False

    def _cut(self, _asked: Asked) -> bool:
        self._send(200, b'{"choices": [{"index": 0, "mess', length=4000)
        return False

    def _half(self, _asked: Asked) -> bool:
        return self._send(200, b'{"choices": [{"index": 0, "mess')

    def _endless(self, _asked: Asked) -> bool:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Connection", "close")
        self.end_headers()
        while not self.owner.over.is_set():
            self.wfile.write(b" " * 2**20)
        return False

    def _bomb(self, _asked: Asked) -> bool:
        return self._send(200, BOMB, {"Content-Encoding": "gzip"})

    def _html(self, _asked: Asked) -> bool:
        return self._send(200, b"<html>Please log in</html>", {"Content-Type": "text/html"})

    def _deep(self, _asked: Asked) -> bool:
        return self._send(200, b"[" * 200_000)

    def _array(self, _asked: Asked) -> bool:
        return self._send(200, [1, 2])

    def _empty(self, _asked: Asked) -> bool:
        return self._send(200, self._reply([]))

    def _null(self, asked: Asked) -> bool:
        empty = {"role": "assistant", "content": None}
        n = asked.body.get("n", 1)
        return self._send(
            200, self._reply([{"index": i, "message": empty, "text": None} for i in range(n)])
        )

    def _one_null(self, asked: Asked) -> bool:
        rest = self._choices(asked)[1:]
        del asked.serials[0]
        return self._send(
            200, self._reply([{"index": 0, "message": {"content": None}, "text": None}, *rest])
        )

    def _twice(self, asked: Asked) -> bool:
        return self._send(
            200, self._reply([choice for choice in self._choices(asked) for _ in range(2)])
        )

    def _more(self, asked: Asked) -> bool:
        n = asked.body.get("n", 1)
        choices = self._choices(asked, n + 2)
        del asked.serials[n:]
        return self._send(200, self._reply(choices))

    def _fewer(self, asked: Asked) -> bool:
        return self._send(
            200, self._reply(self._choices(asked, max(1, asked.body.get("n", 1) - 1)))
        )

    def _bad_gzip(self, _asked: Asked) -> bool:
        return self._send(200, gzip.compress(b"{}")[:-3] + b"xxx", {"Content-Encoding": "gzip"})

    def _error_in_200(self, _asked: Asked) -> bool:
        return self._send(200, {"error": {"message": "the upstream is overloaded", "code": 502}})

    def _only_one(self, asked: Asked) -> bool:
        return self._send(200, self._reply(self._choices(asked, 1)))

    def _no_n(self, asked: Asked) -> bool:
        if asked.body.get("n", 1) > 1:
            return self._send(400, {"error": {"message": "n must be 1", "param": None}})
        return self._well(asked)

    def _no_seed(self, asked: Asked) -> bool:
        if "seed" in asked.body:
            return self._send(422, {"detail": "Unexpected fields in the request: {'seed'}"})
        return self._well(asked)

    def _new_limit(self, asked: Asked) -> bool:
        if "max_tokens" in asked.body:
            said = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
            return self._send(400, {"error": {"message": said, "param": "max_tokens"}})
        return self._well(asked)

    def _no_temperature(self, _asked: Asked) -> bool:
        said = "Unsupported value: 'temperature' does not support 0.7 with this model."
        return self._send(
            400, {"error": {"message": said, "param": "temperature", "code": "unsupported_value"}}
        )

    def _no_such_model(self, asked: Asked) -> bool:
        return self._send(
            400,
            {"error": {"message": f"{asked.body['model']} is not a valid model ID", "code": 400}},
        )

    def _filtered(self, asked: Asked) -> bool:
        choice = self._choices(asked, 1)[0] | {"finish_reason": "content_filter"}
        return self._send(200, self._reply([choice]))

    def _no_credit(self, _asked: Asked) -> bool:
        return self._send(
            429, {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}
        )

    def _wait_an_hour(self, _asked: Asked) -> bool:
        return self._send(429, {"error": {"message": "slow down"}}, {"Retry-After": "3600"})

    def _redirect(self, _asked: Asked) -> bool:
        return self._send(307, {}, {"Location": "http://127.0.0.1:9/v1/chat/completions"})
