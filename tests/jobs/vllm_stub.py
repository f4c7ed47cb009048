#!/usr/bin/env python3
"""A stand-in for vLLM: `--version`, and `serve MODEL --host H --port P` with a process of its own
beside it.

$STUB_MANNER: `dies` ends at once with an error, `deaf` never answers, `slow` answers /health after
a while.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

MANNER = os.environ.get("STUB_MANNER", "")


def given(name: str, usual: str = "") -> str:
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else usual


class Handler(BaseHTTPRequestHandler):
    began = time.monotonic()

    def log_message(self, *_: object) -> None:
        pass

    def send(self, body: object, status: int = 200) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self) -> None:
        if MANNER == "deaf" or (MANNER == "slow" and time.monotonic() - self.began < 0.5):
            self.send({}, 503)
        elif self.path == "/health":
            self.send({})
        else:
            model = given("--served-model-name", sys.argv[2])
            self.send(
                {
                    "data": [
                        {"id": model, "object": "model", "owned_by": "vllm", "max_model_len": 4096}
                    ]
                }
            )

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        print(
            "asked",
            json.dumps({name: body[name] for name in body if name != "messages"}),
            flush=True,
        )
        choices = [
            {"index": i, "message": {"content": f"Agree. {body.get('seed')} {i}"}}
            for i in range(body.get("n", 1))
        ]
        self.send(
            {
                "model": body["model"],
                "choices": choices,
                "usage": {"prompt_tokens": 9, "completion_tokens": 2},
            }
        )


def main() -> None:
    if sys.argv[1:] == ["--version"]:
        print("0.99.1")
        return
    print("Starting vLLM with", " ".join(sys.argv[1:]), flush=True)
    if MANNER == "dies":
        print("torch.OutOfMemoryError: CUDA out of memory", flush=True)
        sys.exit(1)
    engine = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path(os.environ["STUB_PIDS"]).write_text(f"{os.getpid()} {engine.pid}")
    ThreadingHTTPServer((given("--host"), int(given("--port"))), Handler).serve_forever()


if __name__ == "__main__":
    main()
