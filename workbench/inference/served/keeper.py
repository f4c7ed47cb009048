"""The keeper of a server, which runs while its worker lives.

It is started as `python -m workbench.inference.served.keeper COMMAND …`. Its standard input is a
pipe from the worker, which never writes to it. When the pipe ends, because the worker closed it or
died in any way, even by a kill, the keeper stops the server and all processes that it started. The
keeper has its own session, so that Ctrl+C in a terminal reaches only the worker, which first
finishes its current step.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress

LOOK_S = 0.1
"seconds between two checks of the server"
GRACE_S = 15.0
"seconds for a server to end by itself, unless $WORKBENCH_VLLM_STOP_S is set"


def keep(command: list[str]) -> int:
    """Run a command until standard input ends, and return its exit status."""
    has_ended = threading.Event()
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    threading.Thread(target=_wait_for_the_end, args=(has_ended,), daemon=True).start()
    while server.poll() is None and not has_ended.wait(LOOK_S):
        pass
    _stop(server)
    return server.returncode


def _wait_for_the_end(over: threading.Event) -> None:
    with suppress(OSError):
        while os.read(0, 4096):
            pass
    over.set()


def _stop(server: subprocess.Popen[bytes]) -> None:
    """End the server and the processes that it started. Child processes of vLLM occupy the GPU."""
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
        # It ends when its pipe ends, after it has stopped the server.
        signal.signal(one, signal.SIG_IGN)
    sys.exit(keep(sys.argv[1:]))
