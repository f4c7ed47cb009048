"""Keeps a server running for as long as somebody wants it: `python -m workbench.inference.served.keeper COMMAND …`.

Its standard input is a pipe from the worker, which never writes to it. Where the pipe ends, the worker closed it or is
gone, in whatever way, a kill included; the server and all that it started are stopped then. The keeper has a session of
its own, so that Ctrl+C in a terminal reaches the worker alone, which ends what is at hand first.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress

LOOK_S = 0.1
"seconds between two looks at the server"
GRACE_S = 15.0
"seconds that a server has to end by itself, unless $WORKBENCH_VLLM_STOP_S says otherwise"


def keep(command: list[str]) -> int:
    """Run a command until standard input ends; return its exit status."""
    over = threading.Event()
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    threading.Thread(target=_wait_for_the_end, args=(over,), daemon=True).start()
    while server.poll() is None and not over.wait(LOOK_S):
        pass
    _stop(server)
    return server.returncode


def _wait_for_the_end(over: threading.Event) -> None:
    with suppress(OSError):
        while os.read(0, 4096):
            pass
    over.set()


def _stop(server: subprocess.Popen[bytes]) -> None:
    """End the server and what it started: vLLM has processes of its own that hold the GPU."""
    _signal(server, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        server.wait(timeout=float(os.environ.get("WORKBENCH_VLLM_STOP_S") or GRACE_S))
    _signal(server, signal.SIGKILL)
    server.wait()


def _signal(server: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(server.pid, number)


if __name__ == "__main__":
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, signal.SIG_IGN)  # it ends when its pipe does, and not before it has stopped the server
    sys.exit(keep(sys.argv[1:]))
