"""Whether a worker is still there: its process on this machine, the counter of its heartbeat on another.

Clocks of two machines are never compared. A worker counts its heartbeats in the store; whoever looks from elsewhere
notes the count with the time of its own monotonic clock, and takes a worker for gone only after it has seen a count
stand still for long enough. Somebody who looks once has seen nothing stand still.
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
"seconds for which a heartbeat stands still before its worker counts as gone"


class Sign(Enum):
    """What a look at a worker's heartbeat says."""

    MOVES = "moves"
    UNKNOWN = "unknown"
    "it has not moved since the first look, which is not long ago"
    STILL = "still"
    "it has not moved for so long that the worker is gone"


@dataclass(slots=True)
class _Seen:
    beats: int
    since: float
    moved: bool = False


@dataclass(slots=True)
class Watch:
    """What this process has seen of heartbeats, by the uid of the job."""

    clock: Callable[[], float] = time.monotonic
    _seen: dict[bytes, _Seen] = field(default_factory=dict)

    def look(self, job: bytes, beats: int) -> Sign:
        """Take in a job's count of heartbeats as it stands now."""
        at = self.clock()
        seen = self._seen.setdefault(job, _Seen(beats, at))
        if seen.beats != beats:
            self._seen[job] = _Seen(beats, at, moved=True)
            return Sign.MOVES
        if at - seen.since > LOST_AFTER_S:
            return Sign.STILL
        return Sign.MOVES if seen.moved else Sign.UNKNOWN


WATCH = Watch()
"of this process, whichever store it looks at"


def place() -> str:
    """Return what tells this machine, or container, apart from others of the same name; "" where nothing does."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def sign(job: bytes, beats: int, heartbeat: str, host: str, pid: int, where: str) -> Sign:
    """Return what is known of the worker that has a job; `where`: its `place`, "" if it did not say."""
    if host == socket.gethostname() and where in ("", place()):
        return Sign.MOVES if alive(pid, datetime.fromisoformat(heartbeat)) else Sign.STILL
    return WATCH.look(job, beats)


def waits(job: bytes, beats: int, heartbeat: str, lane: str) -> bool:
    """Whether a worker still waits for its turn with a job. A lane is named after the machine that it is on."""
    if lane == socket.gethostname():
        return not silent(heartbeat)
    return WATCH.look(job, beats) is not Sign.STILL


def silent(heartbeat: str) -> bool:
    """Whether a heartbeat of this machine is too old. One from the future, where the clock went back, is not."""
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
