"""The worker's side of its Ray process: starts it, reads its messages, and ends it."""

from __future__ import annotations

import contextlib
import pickle
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from typing import IO, Any

from workbench.errors import MissingPackage, ModelError
from workbench.inference.cluster.messages import Call, Ended, Lost, Said

START_S = 120.0
"seconds for Ray to start, or to join a cluster"
END_S = 15.0
"seconds for it to end by itself, with all its engines"


def check_installed() -> None:
    """Raise MissingPackage where Ray is not installed."""
    if find_spec("ray") is None:
        raise MissingPackage("a cluster needs Ray, which is not installed: pip install 'llm-audit-workbench[ray]'")


class Link:
    """One call to Ray, in a child process."""

    def __init__(self, call: Call):
        self._call = call
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `close`
        self._child: subprocess.Popen[bytes] | None = subprocess.Popen(
            [sys.executable, "-c", "from workbench.inference.cluster.driver import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # the worker handles interrupts from the terminal
        )

    def messages(self) -> Iterator[Said]:
        """Yield Ray's messages until it ends. Closing the iterator ends the process and frees its engines."""
        child = self._child
        if child is None or child.stdin is None or child.stdout is None:
            return
        try:
            with contextlib.suppress(BrokenPipeError):
                pickle.dump(self._call, child.stdin)
                child.stdin.flush()
            if not select.select([child.stdout], [], [], START_S)[0]:
                raise ModelError(f"cluster {self._call.address}: Ray did not start or answer within {START_S:.0f} s")
            while (message := self._next(child.stdout)) is not None:
                yield message
                if isinstance(message, Ended | Lost):
                    return
        finally:
            self.close()

    def _next(self, out: IO[bytes]) -> Said | None:
        try:
            message: Any = pickle.load(out)  # noqa: S301 - written by our own process
        except (EOFError, ValueError, pickle.UnpicklingError):
            return None if self._child is None else Lost(f"Ray's process ended: {self._last_words()}")
        return message  # type: ignore[no-any-return]

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = [line.strip() for line in self._errors.read().decode(errors="replace").splitlines() if line.strip()]
        return lines[-1][:500] if lines else "without a word"

    def close(self) -> None:
        """End the process. Safe to call twice."""
        child, self._child = self._child, None
        if child is None:
            return
        for pipe in (child.stdin, child.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()
        try:
            child.wait(END_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        self._errors.close()
