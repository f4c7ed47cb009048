"""Workers that need not load the program: a process that has loaded it once forks a child for each
of them.

A child is a process like any other: it has a number, a log, signals and an end, and shares no
memory with the tests. Loading is most of what a short job costs, and the tests start hundreds of
jobs. `tests/cli/test_installed.py` and `tests/jobs/test_jobs.py` start workers as the program does.
"""

from __future__ import annotations

import gc
import json
import os
import random
import selectors
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from tempfile import mkdtemp
from typing import Any

from workbench.jobs import launch

PROGRAMS = {"workbench.jobs.worker": "workbench.jobs.worker", "workbench": "workbench.cli"}
"what follows `python -m` -> the module whose `main` it runs"
LOADED = (
    "workbench.cli",
    "workbench.jobs",
    "workbench.pipeline",
    "workbench.inference.scripted",
    "stores",
)
"packages of which every module is loaded"
ALSO = ("workbench.inference.load", "sqlite_utils", "numpy", "asyncio")
READ_LATE = ("WORKBENCH_", "PYTEST_", "OPENAI_", "COLUMNS", "PYTHONUNBUFFERED", "XDG_STATE_HOME")
"""beginnings of the names of variables that are read when they are needed, not when something is
loaded"""
LOOK_EVERY_S = 0.005
CLIENT = """#!/bin/sh
'''exec' {python} -SE "$0" "$@" # the path may have blanks; sh ends here, and for Python this is a text
'''
import os, socket, sys, json
asked = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
asked.connect({address!r})
words = json.dumps([["workbench", *sys.argv[1:]], dict(os.environ), os.getcwd()])
socket.send_fds(asked, [words.encode("utf-8", "surrogateescape")], [1, 2])
asked.recv(64)
sys.exit(int(asked.recv(64)))
"""


class Child:
    """A forked process, with the part of `subprocess.Popen` that the program uses."""

    def __init__(self, connection: socket.socket, pid: int):
        self._connection, self.pid = connection, pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, None while the process runs."""
        if self.returncode is None:
            with suppress(BlockingIOError):
                self.returncode = int(
                    self._connection.recv(64, socket.MSG_DONTWAIT) or -signal.SIGKILL
                )
                self._connection.close()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end and return the exit code. Raises TimeoutExpired."""
        until = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if until is not None and time.monotonic() > until:
                raise subprocess.TimeoutExpired("a forked worker", timeout or 0)
            time.sleep(LOOK_EVERY_S)
        return code


class Subprocess:
    """Stands for the module `subprocess` where the program starts its workers."""

    DEVNULL, STDOUT = subprocess.DEVNULL, subprocess.STDOUT
    server: Server | None = None
    "None: not started yet"

    @classmethod
    def Popen(cls, command: Sequence[str], **how: Any) -> Child | subprocess.Popen[bytes]:  # noqa: N802
        """Fork what the loaded process can run, start anything else."""
        # Else nobody is told when a child ends.
        if cls.server is None and hasattr(os, "pidfd_open"):
            cls.server = Server.begun()
        if cls.server is None or command[0] != cls.server.python or not cls.server.fits(how["env"]):
            return subprocess.Popen(command, **how)
        output = how["stdout"].fileno()
        return cls.server.start(command[2:], how["env"], output, output)


@dataclass(frozen=True)
class Server:
    """The loaded process, and how to ask it for children."""

    address: str
    environment: Mapping[str, str]
    python: str = sys.executable

    @classmethod
    def begun(cls) -> Server:
        """Start the process; it ends with this one."""
        address = str(Path(mkdtemp(prefix="warm-")) / "socket")
        process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "import sys; from tests.warm import serve; serve(sys.argv[1])",
                address,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[1],
            start_new_session=True,
        )
        assert process.stdout is not None
        assert process.stdout.read(1), "it did not begin to listen"
        _KEPT.append(process)
        return cls(address, dict(os.environ))

    def fits(self, environment: Mapping[str, str]) -> bool:
        """Whether a process of this environment would have loaded the same."""
        return all(
            name.startswith(READ_LATE) for name, _ in environment.items() ^ self.environment.items()
        )

    def start(
        self, words: Sequence[str], environment: Mapping[str, str], output: int, errors: int
    ) -> Child:
        """Return a new child that writes to these files."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        connection.connect(self.address)
        asked = json.dumps([list(words), dict(environment), str(Path.cwd())])
        socket.send_fds(connection, [asked.encode("utf-8", "surrogateescape")], [output, errors])
        return Child(connection, int(connection.recv(64)))


_KEPT: list[subprocess.Popen[bytes]] = []
"whose input stays open while this process lives"


def command(path: Path) -> None:
    """Write a command `workbench` that a child of the loaded process carries out."""
    if Subprocess.server is None:
        Subprocess.server = Server.begun()
    path.write_text(
        CLIENT.format(python=shlex.quote(sys.executable), address=Subprocess.server.address),
        encoding="utf-8",
    )
    path.chmod(0o755)


def serve(address: str) -> None:
    """Load the program, then fork a child for each request until the tests have ended, which closes
    the input.
    """
    for name in LOADED:
        for module in walk_packages(import_module(name).__path__, f"{name}."):
            import_module(module.name)
    for name in ALSO:
        import_module(name)
    Subprocess.server = Server(address, dict(os.environ))
    gc.collect()
    gc.freeze()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(address)
    listener.listen(64)
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    selector.register(sys.stdin, selectors.EVENT_READ)
    children: dict[int, tuple[int, socket.socket]] = {}
    print("+", end="", flush=True)
    while True:
        for key, _ in selector.select():
            if key.fileobj is sys.stdin:
                return
            if key.fileobj is listener:
                connection, _ = listener.accept()
                asked, files, _, _ = socket.recv_fds(connection, 1 << 20, 2)
                if (pid := os.fork()) == 0:
                    _become(*json.loads(asked.decode("utf-8", "surrogateescape")), files)
                for file in files:
                    os.close(file)
                connection.send(str(pid).encode())
                ended = os.pidfd_open(pid)
                children[ended] = pid, connection
                selector.register(ended, selectors.EVENT_READ)
            else:
                pid, connection = children.pop(key.fd)
                selector.unregister(key.fd)
                os.close(key.fd)
                code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                with suppress(OSError):  # who asked for it may be gone
                    connection.send(str(code).encode())
                connection.close()


def _become(words: list[str], environment: dict[str, str], folder: str, files: list[int]) -> None:
    """Be the process that was asked for, and end as it does."""
    code = 1
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDONLY)
        for target, source in enumerate((nothing, *files)):
            os.dup2(source, target)
        os.closerange(3, 256)
        for stream in (sys.stdout, sys.stderr):
            stream.reconfigure(write_through=True)  # type: ignore[union-attr]
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        assert Subprocess.server is not None
        Subprocess.server = replace(Subprocess.server, environment=environment)
        launch.subprocess = Subprocess  # type: ignore[misc,assignment]
        random.seed()
        sys.argv = list(words)
        code = import_module(PROGRAMS[words[0]]).main() or 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
