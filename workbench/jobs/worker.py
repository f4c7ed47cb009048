"""The worker process: `python -m workbench.jobs.worker STORE JOB`.

It claims one job, does its work, and commits what comes of it as it comes. A request to stop, SIGTERM and SIGINT all
end it after what is at hand. If it is killed, what was committed stays, and the job is resumed with what is missing.
"""

from __future__ import annotations

import signal
import sys
import threading
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from types import FrameType

from stores.store import Store
from workbench import __version__
from workbench.errors import WorkbenchError
from workbench.jobs.work import WORK, Task

BEAT_EVERY_S = 5.0


class Stop:
    """Whether the job should end: asked for through the store, or by a signal."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        self._event.set()

    def __call__(self) -> bool:
        return self._event.is_set()

    def wait(self, seconds: float) -> bool:
        return self._event.wait(seconds)


class Heart:
    """Beats in the store from a thread of its own, and hears there when the job should stop."""

    def __init__(self, path: Path, job_id: int, stop: Stop):
        self._path, self._job_id, self._stop = path, job_id, stop
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def __enter__(self) -> Heart:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(timeout=BEAT_EVERY_S)

    def _beat(self) -> None:
        while not self._over.wait(1.0):
            try:
                with Store.open(self._path) as store:
                    while not self._over.wait(BEAT_EVERY_S if self._stop() else 1.0):
                        if store.jobs.beat(self._job_id):
                            self._stop.set()
            except WorkbenchError as error:
                say(f"heartbeat: {error}")


def say(text: str) -> None:
    """Write one line to the job's log."""
    stamp = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    print(f"{stamp} {text}", flush=True)


def code_version() -> str:
    """Return the versions of all code that answers pass through, as every response keeps them."""
    libraries = ", ".join(f"{name} {metadata.version(name)}" for name in ("transformers", "torch"))
    return f"{__version__} ({libraries})"


def run(path: Path, job_id: int) -> int:
    """Do a job and return the exit code: 0 done, 1 failed, 3 stopped on request."""
    with Store.open(path) as store:
        attempt = store.jobs.claim(job_id, code_version())
        stop = Stop()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, _stops(stop))
        try:
            with Heart(path, job_id, stop):
                job = store.jobs.get(job_id)
                state, message = WORK[job.kind](Task(store, job, attempt, stop, say))
        except WorkbenchError as error:
            state, message = "failed", str(error)
        except Exception as error:  # a bug: its traceback goes to the log, its first line to the screen
            traceback.print_exc()
            state, message = "failed", f"{type(error).__name__}: {error} (the log has the details)"
        store.jobs.finish(job_id, attempt, state, message)
        say(f"{state}: {message}")
    return {"done": 0, "cancelled": 3}.get(state, 1)


def _stops(stop: Stop) -> Callable[[int, FrameType | None], None]:
    def handler(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    return handler


def main() -> int:
    """Run the worker named by the command line."""
    if len(sys.argv) != 3:
        print("usage: python -m workbench.jobs.worker STORE JOB", file=sys.stderr)
        return 2
    try:
        return run(Path(sys.argv[1]), int(sys.argv[2]))
    except WorkbenchError as error:
        say(f"refused: {error}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
