"""A command of the shell that a dialog runs in a process of its own: what it needs is heavy, and the terminal stays
quick. It says on each line of standard error how far it is, or what is wrong.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Command:
    """A command, from its start to its end."""

    words: Sequence[str]
    "without `workbench`"
    hear: Callable[[str], bool]
    "takes a line; False: it is no progress, but says what is wrong"
    process: subprocess.Popen[str] | None = field(default=None, init=False)
    stopped: bool = field(default=False, init=False)

    def run(self) -> tuple[int, str]:
        """Run the command to its end; return its exit code, and why where that is not 0. Called in a thread."""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "workbench", *self.words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        if self.stopped:
            self.stop()
        assert self.process.stderr is not None
        said = [text for line in self.process.stderr if (text := line.strip()) and not self.hear(text)]
        code = self.process.wait()
        return code, " ".join(said).removeprefix("workbench: ") or f"the command ended with code {code}"

    def stop(self) -> None:
        """Interrupt the command, which takes away what it began to write."""
        self.stopped = True
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
