"""Whether a worker is still there: its process on this machine, its heartbeat on another."""

from __future__ import annotations

import os
import socket
from datetime import UTC, datetime
from pathlib import Path

CLOCK_SLACK_S = 5.0
"seconds by which the clock of a heartbeat may differ from that of a process"
LOST_AFTER_S = 60.0
"seconds without a heartbeat after which a worker on another machine counts as gone"


def gone(heartbeat: str, host: str, pid: int) -> bool:
    """Whether a worker is no more."""
    if host == socket.gethostname():
        return not alive(pid, datetime.fromisoformat(heartbeat))
    return silent(heartbeat)


def silent(heartbeat: str) -> bool:
    """Whether a heartbeat is too old. One from the future, where the clock went back, is not."""
    return (datetime.now(UTC) - datetime.fromisoformat(heartbeat)).total_seconds() > LOST_AFTER_S


def alive(pid: int, heartbeat: datetime) -> bool:
    """Whether the process that gave this heartbeat is there: not a zombie, and not a later one with its number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rsplit(")", 1)[-1].split()
        uptime = float(Path("/proc/uptime").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return True  # no /proc here: the process number is all there is to go by
    age = uptime - int(fields[19]) / os.sysconf("SC_CLK_TCK")
    since = (datetime.now(UTC) - heartbeat).total_seconds()
    return fields[0] != "Z" and age > since - CLOCK_SLACK_S
