"""An endpoint that takes files and batches in OpenAI's manner, and answers a batch once it is told
to.

It keeps what it was sent and answered, so that a test can see whether anything was uploaded or paid
twice.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.jobs.faulty_server import LocalServer

MODEL = "batcher-1"
Fault = Callable[[str, str], str]
"""(method, path) -> `cut after`, the connection is lost once it was done; `500`; empty: nothing
goes wrong"""


class BatchServer(LocalServer):
    """Keeps files and batches, and the calls that came."""

    def __init__(self, *, ready_after: int = 1):
        self.ready_after = ready_after
        "looks at a batch after which it is answered; 0: never"
        self.fault: Fault = lambda _method, _path: ""
        self.line: Callable[[dict[str, Any], int], dict[str, Any] | None] = (
            lambda _request, _place: None
        )
        "what the result of one request holds in place of an answer; None: an answer"
        self.ends: Callable[[dict[str, Any]], str] = lambda _batch: "completed"
        "the state in which a batch ends"
        self.answered_share = 1.0
        "of a batch that does not end as completed"
        self.files: dict[str, tuple[str, bytes]] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.looks: dict[str, int] = {}
        self.calls: list[tuple[str, str]] = []
        self.bodies: list[dict[str, Any]] = []
        "of the calls that were answered one by one"
        self.text: Callable[[dict[str, Any], int], str] = lambda _body, serial: f"Agree. ~ {serial}"
        self._serial = 0
        self.lock = threading.RLock()
        super().__init__(_Handler)

    @property
    def name(self) -> str:
        return f"openai:{MODEL}@{self.url}#openai"

    def requests(self) -> list[str]:
        """Return the custom ids of all requests that were uploaded."""
        sent = [content for name, content in self.files.values() if name.startswith("workbench-")]
        return [json.loads(line)["custom_id"] for content in sent for line in content.splitlines()]

    def add_file(self, name: str, content: bytes) -> str:
        found = f"file-{len(self.files) + 1}"
        self.files[found] = (name, content)
        return found

    def completion(self, body: Mapping[str, Any]) -> dict[str, Any]:
        choices = []
        for index in range(body.get("n", 1)):
            self._serial += 1
            message = {"role": "assistant", "content": self.text(dict(body), self._serial)}
            choices.append({"index": index, "finish_reason": "stop", "message": message})
        usage = {"prompt_tokens": 10, "completion_tokens": 3 * len(choices)}
        return {
            "model": f"{MODEL}-2026",
            "system_fingerprint": "fp_1",
            "choices": choices,
            "usage": usage,
        }

    def look(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Move a batch on, and return it."""
        looks = self.looks[batch["id"]] = self.looks.get(batch["id"], 0) + 1
        if batch["status"] == "cancelling":
            self._end(batch, "cancelled")
        elif batch["status"] == "in_progress" and self.ready_after and looks > self.ready_after:
            self._end(batch, self.ends(batch))
        return batch

    def _end(self, batch: dict[str, Any], state: str) -> None:
        batch["status"] = state
        if state == "failed":
            batch["errors"] = {
                "object": "list",
                "data": [{"code": "bad", "message": "line 1 is no request"}],
            }
            return
        lines = [json.loads(line) for line in self.files[batch["input_file_id"]][1].splitlines()]
        share = 1.0 if state == "completed" else self.answered_share
        whole, failed = [], []
        for place, request in enumerate(lines):
            if place >= share * len(lines):
                found: dict[str, Any] | None = {
                    "error": {"code": f"batch_{state}", "message": f"the batch {state}"}
                }
            else:
                found = self.line(request, place)
            if found is None:
                found = {
                    "response": {"status_code": 200, "body": self.completion(request["body"])},
                    "error": None,
                }
                whole.append({"custom_id": request["custom_id"], **found})
            else:
                failed.append({"custom_id": request["custom_id"], "response": None, **found})
        whole.reverse()  # results come in any order
        batch["request_counts"] = {
            "total": len(lines),
            "completed": len(whole),
            "failed": len(failed),
        }
        for name, results in (("output_file_id", whole), ("error_file_id", failed)):
            if results:
                batch[name] = self.add_file("results", "\n".join(map(json.dumps, results)).encode())


def refused(status: int, message: str, param: str | None = None) -> dict[str, Any]:
    return {
        "response": {"status_code": status, "body": {"error": {"message": message, "param": param}}}
    }


class _Handler(BaseHTTPRequestHandler):
    owner: BatchServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass

    def do_GET(self) -> None:
        self._answer("GET", b"")

    def do_POST(self) -> None:
        self._answer("POST", self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    def _answer(self, method: str, content: bytes) -> None:
        owner, path = self.owner, self.path.partition("?")[0].removeprefix("/v1")
        with owner.lock:
            owner.calls.append((method, path))
            fault = owner.fault(method, path)
            if fault.isdigit():
                self._send(int(fault), {"error": {"message": "on purpose"}})
                return
            found = self._made(method, path, content)
        if fault == "cut after":
            self.close_connection = True
        elif found is None:
            self._send(404, {"error": {"message": "no such thing"}})
        else:
            self._send(200, found)

    def _made(self, method: str, path: str, content: bytes) -> Any:
        owner = self.owner
        if path == "/models":
            return {"object": "list", "data": [{"id": MODEL, "object": "model", "created": 7}]}
        if path == "/chat/completions":
            owner.bodies.append(json.loads(content))
            return owner.completion(json.loads(content))
        if (method, path) == ("POST", "/files"):
            name, body = _form_file(content)
            return {
                "id": owner.add_file(name, body),
                "object": "file",
                "filename": name,
                "purpose": "batch",
            }
        if (method, path) == ("GET", "/files"):
            listed = [
                {"id": one, "object": "file", "filename": name}
                for one, (name, _) in owner.files.items()
            ]
            return {"object": "list", "data": listed, "has_more": False}
        if (method, path) == ("POST", "/batches"):
            asked = json.loads(content)
            batch = {
                "id": f"batch_{len(owner.batches) + 1}",
                "object": "batch",
                "status": "in_progress",
                **asked,
            }
            owner.batches[batch["id"]] = batch
            return batch
        if (method, path) == ("GET", "/batches"):
            return {"object": "list", "data": list(owner.batches.values()), "has_more": False}
        return self._of_one(path)

    def _of_one(self, path: str) -> Any:
        owner = self.owner
        if found := re.fullmatch(r"/files/(.*)/content", path):
            return owner.files[found[1]][1]
        if (found := re.fullmatch(r"/batches/([^/]*)", path)) and found[1] in owner.batches:
            return owner.look(owner.batches[found[1]])
        if (found := re.fullmatch(r"/batches/([^/]*)/cancel", path)) and found[1] in owner.batches:
            owner.batches[found[1]]["status"] = "cancelling"
            return owner.batches[found[1]]
        return None

    def _send(self, status: int, value: Any) -> None:
        content = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _form_file(content: bytes) -> tuple[str, bytes]:
    """Return the name and the content of the file in a form."""
    name = re.search(rb'filename="([^"]*)"', content)
    assert name is not None
    start = content.index(b"\r\n\r\n", name.end()) + 4
    return name[1].decode(), content[start : content.index(b"\r\n--", start)]
