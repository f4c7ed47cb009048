"""A terminal that is ended from outside is left as it was found."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from stores.core.store import Store

pytestmark = pytest.mark.e2e
ALTERNATE, BACK = b"\x1b[?1049h", b"\x1b[?1049l"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP])
def test_the_screen_and_its_echo_come_back(tmp_path: Path, number: signal.Signals) -> None:
    path = tmp_path / "audit.db"
    Store.open(path, create=True).close()
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    process = subprocess.Popen(
        [sys.executable, "-m", "workbench", "open", str(path)],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        env=os.environ | {"TERM": "xterm-256color"},
    )
    try:
        said = read_until(master, ALTERNATE, 30)
        said += read_until(master, b"Keys", 30)
        time.sleep(0.5)
        process.send_signal(number)
        said += read_until(master, BACK, 20)
        process.wait(20)
    finally:
        process.kill()
        process.wait()
    assert said.rfind(BACK) > said.rfind(ALTERNATE)
    assert termios.tcgetattr(slave)[3] == before[3], "echo and line editing are as they were"
    os.close(master)
    os.close(slave)


def read_until(master: int, wanted: bytes, seconds: float) -> bytes:
    said, until = b"", time.monotonic() + seconds
    while wanted not in said and time.monotonic() < until:
        if select.select([master], [], [], 0.2)[0]:
            said += os.read(master, 65536)
    return said
