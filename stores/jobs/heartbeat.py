"""Checks whether a worker is alive: by its process on this machine, by its heartbeat counter on another.

Clocks of two machines are never compared. A worker counts its heartbeats in the store; a process on another machine
records the count with its own monotonic clock, and considers a worker lost only after it has seen the same count for
long enough. A single look is never enough.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path

CLOCK_SLACK_S = 5.0
"seconds by which the clock of a heartbeat may differ from that of a process"
LOST_AFTER_S = 60.0
"seconds without a new heartbeat after which a worker counts as lost"


class Sign(Enum):
    """The state of a worker's heartbeat."""

    MOVES = "moves"
    UNKNOWN = "unknown"
    "no change since the first look, which was recent"
    STILL = "still"
    "no change for so long that the worker counts as lost"


@dataclass(slots=True)
class _Seen:
    beats: int
    since: float
    moved: bool = False


@dataclass(slots=True)
class Watch:
    """The heartbeats seen by this process, by the uid of the job."""

    clock: Callable[[], float] = time.monotonic
    _seen: dict[bytes, _Seen] = field(default_factory=dict)

    def look(self, job: bytes, beats: int) -> Sign:
        """Record a job's current count of heartbeats, and return its state."""
        at = self.clock()
        seen = self._seen.setdefault(job, _Seen(beats, at))
        if seen.beats != beats:
            self._seen[job] = _Seen(beats, at, moved=True)
            return Sign.MOVES
        if at - seen.since > LOST_AFTER_S:
            return Sign.STILL
        return Sign.MOVES if seen.moved else Sign.UNKNOWN


WATCH = Watch()
"the watch of this process, for all stores"


def place() -> str:
    """Return an identifier of this machine or container, unique among those of the same name; "" if there is none."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def sign(job: bytes, beats: int, heartbeat: str, host: str, pid: int, where: str) -> Sign:
    """Return the state of a job's worker; `where`: its `place`, "" if unknown."""
    if host == socket.gethostname() and where in ("", place()):
        return Sign.MOVES if alive(pid, datetime.fromisoformat(heartbeat)) else Sign.STILL
    return WATCH.look(job, beats)


def waits(job: bytes, beats: int, heartbeat: str, lane: str) -> bool:
    """Return whether a worker still waits for its turn with a job. A lane is named after its machine."""
    if lane == socket.gethostname():
        return not silent(heartbeat)
    return WATCH.look(job, beats) is not Sign.STILL


def silent(heartbeat: str) -> bool:
    """Return whether a heartbeat of this machine is too old. One from the future, after the clock went back, is not."""
    return (datetime.now(UTC) - datetime.fromisoformat(heartbeat)).total_seconds() > LOST_AFTER_S


def alive(pid: int, heartbeat: datetime) -> bool:
    """Return whether the process of this heartbeat is alive: not a zombie, and not a later process with the same
    number.
    """
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
        return True  # without /proc only the process number is known
    age = uptime - int(fields[19]) / os.sysconf("SC_CLK_TCK")
    since = (datetime.now(UTC) - heartbeat).total_seconds()
    return fields[0] != "Z" and age > since - CLOCK_SLACK_S
