"""The worker process: `python -m workbench.jobs.worker STORE JOB`.

It waits for its turn if other jobs of its lane run, claims one job, does its work, and commits
results as they arrive. A request to stop, SIGTERM and SIGINT all end it after the current step. A
request to pause ends active work in the same way, so that all of it is stored, and keeps the model
loaded for a while: until the job is resumed, until another job waits for its turn, or until a
timeout. Then the worker ends and the job stays paused. If the worker is killed, committed results
are kept, and resuming asks only for missing ones. If it was considered lost and another worker has
its job, the store refuses its writes, and it ends.
"""

from __future__ import annotations

import shlex
import signal
import sys
import threading
import time
import traceback
from datetime import UTC, datetime
from pathlib import Path

from stores.core.store import Store
from workbench.errors import (
    AttemptEnded,
    ModelError,
    NewerStore,
    SnapshotsAlternate,
    StoreGone,
    WorkbenchError,
)
from workbench.figures.visible import visible
from workbench.installed import code_version
from workbench.jobs.launch import hold_s, lane_of, most_at_once
from workbench.jobs.origin import (
    ElsewhereError,
    Probe,
    about,
    allowed,
    check_room,
    free_bytes,
    shortage,
)
from workbench.jobs.task import PAUSED, REQUESTED, Control, Ended, ModelCache, Task
from workbench.jobs.tidying import recount
from workbench.jobs.work import WORK

BEAT_EVERY_S, STOPPING_BEAT_S = 1.0, 5.0
TURN_EVERY_S = 1.0
MENDED = "Resume the job when this is fixed; for another model, start a new job."


class Heartbeat:
    """Sends heartbeats from a separate thread and receives users' requests with them.

    It also watches the disk space.
    """

    def __init__(
        self, path: Path, job_id: int, attempt: int, control: Control, free: Probe = free_bytes
    ):
        self._path, self._job_id, self._attempt = path, job_id, attempt
        self._control, self._free = control, free
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._live, name="heartbeat", daemon=True)

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(timeout=STOPPING_BEAT_S)

    def _live(self) -> None:
        while not self._over.is_set():
            try:
                with Store.open(self._path) as store:
                    while not self._over.is_set():
                        self._beat(store)
                        self._over.wait(STOPPING_BEAT_S if self._control.stopping else BEAT_EVERY_S)
            except (StoreGone, NewerStore) as error:
                self._control.end(str(error))
                return
            except WorkbenchError as error:
                say(f"heartbeat: {error}")
                self._over.wait(BEAT_EVERY_S)

    def _beat(self, store: Store) -> None:
        store.check()
        if shortage_message := shortage(self._path, self._free):
            self._control.end(f"stopped: {shortage_message}")
        message = self._control.message()
        self._control.hear(store.jobs.beat(self._job_id, message, self._attempt))


def say(text: str) -> None:
    """Write one line to the job's log."""
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    print(f"{now} {visible(text, lines=True)}", flush=True)


def run(path: Path, job_id: int, *, free: Probe = free_bytes) -> int:
    """Do a job and return the exit code.

    The code is 0 for done, 1 for failed, and 3 for stopped or paused on request.
    """
    with Store.open(path) as store:
        attempt = take(store, job_id)
        store.work_for(attempt)
        control, models = Control(), ModelCache()
        for signal_number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signal_number, control.on_signal)
        try:
            check_room(path, free)
            with Heartbeat(path, job_id, attempt, control, free):
                state, message = _until_ended(store, job_id, attempt, control, models)
        except AttemptEnded as error:
            state, message = "lost", str(error)
        except StoreGone as error:
            state, message = "failed", _kept(store, error, job_id)
        except SnapshotsAlternate as error:
            state, message = "cancelled", str(error)
            if store.jobs.pause_for_people(job_id, attempt, message):
                state = "paused"
        except ModelError as error:
            state, message = "failed", f"{str(error).removesuffix('.')}. {MENDED}"
        except WorkbenchError as error:
            state, message = "failed", str(error)
        except Exception as error:
            # A bug: its traceback goes to the log, its first line to the screen.
            traceback.print_exc()
            state, message = "failed", f"{type(error).__name__}: {error} (the log has the details)"
        try:
            store.check()
            ended = state == "paused" or store.jobs.finish(job_id, attempt, state, message)
        except StoreGone as error:
            state, message = "failed", _kept(store, error, job_id)
            ended = store.jobs.finish(job_id, attempt, state, message)
        except NewerStore as error:
            # Nothing more may be written: the job is found lost, and the newer program resumes it.
            say(f"lost: {error}")
            return 1
        if not ended:
            say("another worker is running the job now")
        say(f"{state}: {message}")
        final_path = store.path
    # The store of the attempt may write no more.
    with Store.open(final_path) as store:
        recount(store, job_id)
    return {"done": 0, "cancelled": 3, "paused": 3, "lost": 3}.get(state, 1)


def _kept(store: Store, error: StoreGone, job_id: int) -> str:
    """Write the contents of a lost store to a new file, and record the job's end there.

    Returns a message.
    """
    store.rescue(error)
    return f"{store.moved} Resume: workbench jobs {shlex.quote(str(store.path))} resume {job_id}"


def take(store: Store, job_id: int) -> int:
    """Claim a job in its turn, and return the rowid of the attempt.

    Raises JobError if it cannot be claimed, and ElsewhereError if it was created elsewhere and no
    person here approved it.
    """
    job = store.jobs.get(job_id)
    if not allowed(store.path, job):
        raise ElsewhereError(job_id, about(job))
    lane = lane_of(job)
    if not lane:
        return store.jobs.claim(job_id, code_version())
    most_running = most_at_once()
    announced: tuple[int, ...] = ()
    while True:
        turn = store.jobs.claim_in_turn(job_id, code_version(), lane, most_running)
        if turn.attempt is not None:
            return turn.attempt
        if turn.ahead != announced:
            announced = turn.ahead
            say(f"waits for job {', '.join(map(str, announced))}")
        time.sleep(TURN_EVERY_S)


def _until_ended(
    store: Store, job_id: int, attempt: int, control: Control, models: ModelCache
) -> Ended:
    """Work, pause and resume until the job ends.

    A pause that is not resumed ends in the state `paused`.
    """
    try:
        while True:
            control.interrupted = False
            job = store.jobs.get(job_id)
            state, message = WORK[job.kind](Task(store, job, attempt, control, say, models))
            if control.trouble:
                return ("failed" if state == "cancelled" else state), message
            if state != "cancelled" or not control.interrupted or control.stopping:
                return state, message
            ended = _hold(store, job_id, attempt, control, message)
            if ended is not None:
                return ended
            say("goes on")
    finally:
        models.clear()


def _hold(store: Store, job_id: int, attempt: int, control: Control, message: str) -> Ended | None:
    """Wait with the model loaded, and return how the job ends, or None if it continues.

    It ends stopped, or paused without a worker.
    """
    lane, seconds = lane_of(store.jobs.get(job_id)), hold_s()
    until = time.monotonic() + seconds
    notice = f"{message} Its worker stays ready for {seconds / 60:.0f} min."
    if store.jobs.paused(job_id, attempt, notice):
        say(notice)
    while True:
        orders = store.jobs.beat(job_id, attempt=attempt)
        control.hear(orders)
        is_awaited = bool(lane) and store.jobs.waited_for(job_id, lane)
        gives_up = is_awaited or time.monotonic() >= until or (control.stopping and not orders.stop)
        if gives_up and store.jobs.release(job_id, attempt, message):
            return "paused", message
        if control.stopping:
            return "cancelled", message.replace(PAUSED, REQUESTED, 1)
        if not orders.pause:
            return None
        control.wait(BEAT_EVERY_S)


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
