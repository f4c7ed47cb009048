"""Models whose server is started here: `vllm:MODEL` runs `vllm serve MODEL` while it is needed.

vLLM pins other versions of torch and transformers than workbench, so it has its own environment:
$WORKBENCH_VLLM names that folder, or the executable in it. The server listens on a free port of the
local machine only, is asked in vLLM's dialect, and is stopped by its keeper (`keeper`) however this
process ends. The model's identity consists of its name, its files and vLLM's version, but not the
port.
"""

from __future__ import annotations

import logging
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench.domain.names import parted
from workbench.errors import ModelError, UsageError
from workbench.inference.served import keeper
from workbench.inference.served.address import LAUNCHED, Address, parse_address
from workbench.inference.served.budget import budget_from, number_from
from workbench.inference.served.client import retry_policy_from
from workbench.inference.served.model import RemoteModel

EXECUTABLE, ARGUMENTS, START_S = "WORKBENCH_VLLM", "WORKBENCH_VLLM_ARGS", "WORKBENCH_VLLM_START_S"
"""environment variables of vLLM's environment or executable, of arguments, and of the timeout

The arguments are further ones of `vllm serve`, and the timeout of its start is in seconds.
"""
PATIENCE_S = 1800.0
"fetching and loading a large model takes minutes"
VERSION_S = 120.0
LOOK_S = 0.25
STOP_S = 30.0
TOLD = 3
"lines of the log that an error quotes"
INSTALL = "python3 -m venv ~/vllm && ~/vllm/bin/pip install vllm && export WORKBENCH_VLLM=~/vllm"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LaunchedServer:
    """A running server."""

    url: str
    version: str
    log: Path
    process: subprocess.Popen[bytes]
    "process of its keeper"

    def stop(self) -> None:
        """Stop the server and wait until it has ended.

        Its keeper kills processes that do not end by themselves.
        """
        if self.process.stdin is not None:
            with suppress(OSError):
                self.process.stdin.close()
        try:
            self.process.wait(timeout=STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def executable(environ: Mapping[str, str] = os.environ) -> Path:
    """Return vLLM's executable. Raises ModelError with install instructions if there is none."""
    value = environ.get(EXECUTABLE, "").strip()
    if not value:
        program = shutil.which("vllm", path=environ.get("PATH"))
        if program is None:
            raise ModelError(
                f"no `vllm` is here, and ${EXECUTABLE} is not set. Install it apart: {INSTALL}"
            )
        return Path(program)
    path = Path(value).expanduser()
    path = path / "bin" / "vllm" if path.is_dir() else path
    if not path.is_file() or not os.access(path, os.X_OK):
        raise ModelError(
            f"${EXECUTABLE} is {value!r}, and {path} is no program. Install vLLM apart: {INSTALL}"
        )
    return path


def load_launched(
    name: str,
    *,
    beside: Path | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    environ: Mapping[str, str] = os.environ,
) -> LaunchedModel:
    """Start the server of `vllm:MODEL`, wait until it answers, and return its model.

    beside : log file, or None for one in the folder for temporary files
    should_stop : polled while it starts

    Raises ModelError if there is no vLLM, or if the server ends or is stopped before it answers.
    """
    model = name.removeprefix(LAUNCHED)
    server = _start_server(model, beside, should_stop, environ)
    try:
        address = replace(parse_address(f"openai:{model}@{server.url}/v1#vllm", environ), name=name)
        launched = LaunchedModel(address, server, environ)
        launched.look()
    except BaseException:
        server.stop()
        raise
    return launched


class LaunchedModel(RemoteModel):
    """A served model whose server this process started."""

    def __init__(
        self, address: Address, server: LaunchedServer, environ: Mapping[str, str] = os.environ
    ):
        super().__init__(address, None, budget_from(environ), retry_policy_from(environ))
        self._server = server

    def look(self) -> None:
        """Ask the server what it serves.

        See `RemoteModel.look`.

        The revision is that of the model's files and vLLM's version.
        """
        super().look()
        files = _files(self.address.model)
        self._revision = f"vLLM {self._server.version}" + (f", {files}" if files else "")

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes, including the path of the server's log."""
        return (
            *super().notes,
            f"vllm {self._server.version} at {self._server.url}, its log: {self._server.log}",
        )

    @property
    def gpus(self) -> None:
        """None, because the server may use all GPUs: vLLM's arguments decide."""
        return

    def close(self) -> None:
        """Close the model, and also stop the server."""
        try:
            super().close()
        finally:
            self._server.stop()


def _files(model: str) -> str:
    """Return the hash or commit of a model's files, or empty if unknown.

    It is unknown if vLLM fetched them itself.
    """
    from workbench.inference.embedded import locate

    try:
        source = locate(model)
        return source.revision or source.pinned().revision or ""
    except (ModelError, OSError, ImportError):
        return ""


def _start_server(
    model: str, beside: Path | None, should_stop: Callable[[], bool], environ: Mapping[str, str]
) -> LaunchedServer:
    program = executable(environ)
    version = _version(program)
    port = _free_port()
    base, revision = parted(model)
    if model.startswith("-") or revision.startswith("-"):  # a stored name is no option of a program
        raise ModelError(
            f"{model}: no model has a name that begins with -, which vLLM would take for an option"
        )
    if not model.isprintable():
        raise ModelError(f"{model!r}: no model has a name with characters that do not show")
    extra_arguments = [*(("--revision", revision) if revision else ()), *_arguments(environ)]
    name_arguments = ("--served-model-name", model) if revision else ()
    command = [
        str(program),
        "serve",
        base,
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        *name_arguments,
        *extra_arguments,
    ]
    beside = beside or Path(tempfile.mkstemp(prefix="workbench-vllm-", suffix=".log")[1])
    with beside.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, keeper.__file__, *command],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=_clean_environment(environ),
        )
    server = LaunchedServer(f"http://127.0.0.1:{port}", version, beside, process)
    try:
        _wait(server, model, should_stop, number_from(environ, START_S) or PATIENCE_S)
    except BaseException:
        server.stop()
        raise
    return server


def _arguments(environ: Mapping[str, str]) -> list[str]:
    """Return the further arguments of vLLM. Raises UsageError if a quote has no end."""
    try:
        return shlex.split(environ.get(ARGUMENTS, ""))
    except ValueError as error:
        raise UsageError(
            f"${ARGUMENTS} cannot be read ({error}); write it as in a shell"
        ) from error


def _clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without variables that lead Python to this environment's packages."""
    return {
        name: value
        for name, value in environ.items()
        if name not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    }


def _wait(
    server: LaunchedServer, model: str, should_stop: Callable[[], bool], patience_s: float
) -> None:
    """Wait until the server answers. Raises ModelError if it does not."""
    deadline = time.monotonic() + patience_s
    while not _answers(server.url):
        if server.process.poll() is not None:
            raise ModelError(
                f"vllm serve {model} ended before it answered: {_last_log_lines(server.log)}. "
                f"Its log: {server.log}"
            )
        if should_stop():
            raise ModelError(f"vllm serve {model} was stopped while it started")
        if time.monotonic() > deadline:
            raise ModelError(
                f"vllm serve {model} has not answered for {patience_s:,.0f} s (${START_S}). Its "
                f"log: {server.log}"
            )
        time.sleep(LOOK_S)


def _answers(url: str) -> bool:
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
            f"{url}/health", timeout=5
        ) as reply:
            return bool(reply.status == 200)
    except (OSError, urllib.error.URLError):
        return False


def _last_log_lines(path: Path) -> str:
    lines = [
        line.strip()
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines()
        if line.strip()
    ]
    return " / ".join(lines[-TOLD:]) or "it said nothing"


def _version(program: Path) -> str:
    """Return vLLM's version. Raises ModelError if it cannot be run."""
    try:
        process = subprocess.run(
            [str(program), "--version"],
            capture_output=True,
            text=True,
            timeout=VERSION_S,
            check=True,
            env=_clean_environment(os.environ),
        )
    except (OSError, subprocess.SubprocessError) as error:
        message: Any = getattr(error, "stderr", "") or error
        raise ModelError(
            f"{program} cannot be run: {str(message).strip().splitlines()[-1]}"
        ) from None
    words: Sequence[str] = process.stdout.split()
    return words[-1] if words else "of an unknown version"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


__all__ = ["LaunchedModel", "executable", "load_launched"]
