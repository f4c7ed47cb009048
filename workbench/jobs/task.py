"""Requests to a running worker: to stop, to pause, to change its parallelism."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from stores.core.store import Store
from stores.jobs.job_rows import Job
from stores.jobs.jobs import Orders
from workbench.domain.names import plural
from workbench.domain.responses import UNKNOWN, ModelCard
from workbench.inference.base import (
    Adjustable,
    Changing,
    Learning,
    Metered,
    Model,
    Reachable,
    Remarking,
)
from workbench.inference.load import load
from workbench.jobs.launch import log_path

REQUESTED = "stopped on request"
ASKING = "asking the server"
PAUSED = "paused on request"


class Control:
    """When called, returns whether work should end after the current step. The heartbeat's thread
    and signals set it.

    Pausing ends the active work, so that all of it is stored, and starts it again later: the
    results of a paused job are stored even if its worker dies.
    """

    def __init__(self) -> None:
        self._changed = threading.Event()
        self._stop = self._pause = False
        self.cancelled = False
        "whether a person cancelled it"
        self._model: Adjustable | None = None
        self._server: Reachable | None = None
        self._waited = False
        "whether the latest message was about a server that is down"
        self._most: int | None = None
        self.trouble = ""
        "why it ends without a request"
        self.lost = False
        "another worker has the job"
        self.interrupted = False
        "whether a pause has ended the current work"

    def __call__(self) -> bool:
        if self._pause and not self._stop:
            self.interrupted = True
        return self._stop or self._pause

    @property
    def stopping(self) -> bool:
        return self._stop

    @property
    def pausing(self) -> bool:
        return self._pause and not self._stop

    @property
    def why(self) -> str:
        """Return why work ended early."""
        return self.trouble or (
            PAUSED if self.pausing or (self.interrupted and not self._stop) else REQUESTED
        )

    def hear(self, orders: Orders) -> None:
        """Apply users' requests. Only changes end a `wait`: the holder of a paused job calls this
        every second.
        """
        before = (self._stop, self._pause, self.lost)
        self._pause = orders.pause
        self.lost = self.lost or orders.lost
        self.cancelled = self.cancelled or (orders.stop and not orders.lost)
        if orders.stop or orders.lost:
            self._stop = True
        if orders.concurrency != self._most:
            self._most = orders.concurrency
            self._adjust()
        if (self._stop, self._pause, self.lost) != before:
            self._changed.set()

    def pause(self) -> None:
        """Pause without a request, because the job waits for a person's decision, which its row
        already says.
        """
        self._pause = self.interrupted = True

    def end(self, trouble: str = "") -> None:
        """End work; with a reason if no person requested it."""
        if not self._stop:
            self.trouble = trouble
        self._stop = True
        self._changed.set()

    def on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self.end()

    def steer(self, model: object) -> None:
        """Set the model that receives the limit of parallel calls."""
        self._model = model if isinstance(model, Adjustable) else None
        self._server = model if isinstance(model, Reachable) else None
        if self._most is not None:
            self._adjust()

    def message(self) -> str | None:
        """Return what the job's progress says of a server that is down, or that it is asked on;
        None: no change.
        """
        waiting = "" if self._server is None else self._server.waiting
        asked_on = self._waited and not waiting
        self._waited = bool(waiting)
        return waiting or (ASKING if asked_on else None)

    def wait(self, seconds: float) -> None:
        """Wait for a request, at most `seconds`."""
        self._changed.wait(seconds)
        self._changed.clear()

    def _adjust(self) -> None:
        if self._model is not None:
            self._model.at_once(self._most)


Ended = tuple[str, str]
"(final state of the job, message)"

AGAIN = "Retry repeats what failed; resume asks for everything missing."
SERVER_LOG = ".vllm.log"
"suffix of the log of a server that a job starts, beside the job's own log"


@dataclass(slots=True)
class ModelCache:
    """The model that a worker holds: also while its job is paused, so that going on takes no
    time.
    """

    key: tuple[str, ...] = ()
    "name, dtype, cluster, chat format and device"
    model: Model | None = None

    def holds(
        self, name: str, dtype: str = "", cluster: str = "", chat_format: str = "", device: str = ""
    ) -> bool:
        return self.model is not None and self.key == (name, dtype, cluster, chat_format, device)

    def get(
        self,
        name: str,
        dtype: str = "",
        cluster: str = "",
        chat_format: str = "",
        device: str = "",
        beside: Path | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Model:
        """Return a model; see `load`."""
        if self.model is None or not self.holds(name, dtype, cluster, chat_format, device):
            self.clear()
            how = {"dtype": dtype, "cluster": cluster, "chat_format": chat_format, "device": device}
            self.model = load(name, **how, beside=beside, should_stop=should_stop)
            self.key = (name, dtype, cluster, chat_format, device)
        return self.model

    def clear(self) -> None:
        """Free the memory."""
        held, self.model = self.model, None
        if held is not None:
            held.close()


@dataclass(frozen=True, slots=True)
class Task:
    """A claimed job, and the context of its work."""

    store: Store
    job: Job
    attempt: int
    stop: Control
    "when called, returns whether the job should end"
    say: Callable[[str], None]
    "writes to the job's log"
    models: ModelCache = field(default_factory=ModelCache)

    def load(
        self, name: str, dtype: str = "", cluster: str = "", chat_format: str = "", device: str = ""
    ) -> Model:
        """Return a model, which then receives changes of the limit of parallel calls."""
        held = self.models.holds(name, dtype, cluster, chat_format, device)
        if not held:
            how = {"in": dtype, "on": cluster or device, "in the chat format of": chat_format}
            where = " ".join([name, *(f"{word} {value}" for word, value in how.items() if value)])
            self.say(f"job {self.job.id}, attempt {self.job.attempts}: loading {where}")
            self.store.jobs.beat(self.job.id, f"loading {where}")
        beside = log_path(self.store.path, self.job.id).with_suffix(SERVER_LOG)
        beside.parent.mkdir(exist_ok=True)
        model = self.models.get(name, dtype, cluster, chat_format, device, beside, self.stop)
        if not held and isinstance(model, Remarking):
            self.say("\n".join(model.notes))
        if isinstance(model, Changing) and (paths := self.store.runs.forget_places(name)):
            self.say(
                f"{plural(paths, 'version')} of {name} stored as a path on the server's disk now "
                "read `unknown` with a "
                "digest of the path; their answers stay the same runs"
            )
        if not held and isinstance(model, Metered):
            model.carry(self.job.progress)
        self.stop.steer(model)
        if isinstance(model, Learning) and (named := str(self.job.spec.get("instrument") or "")):
            questions = self.store.questionnaires.questions(named)
            sides = {one.ref: one.leaning.value for one in questions if one.leaning is not None}
            model.learn(self.store.instruments.get(named).statements, sides)
        if isinstance(model, Changing) and (
            known := self.store.runs.last_snapshot(model.card, self.job.id)
        ):
            model.expect(known[0], asked=known[1])
        return model

    def tell(self, sentence: str) -> None:
        """Write a message to the log and the job's progress."""
        self.say(sentence)
        self.store.jobs.beat(self.job.id, sentence, self.attempt)


def unfinished(task: Task, held: str, rest: str) -> Ended:
    """Return why work ended early, what is stored, and what resuming does."""
    if task.job.only_failed and not task.stop():
        return "cancelled", f"what had failed is answered; {held}. Resume {rest}."
    return "cancelled", f"{task.stop.why}; {held}. Resume {rest}."


def said(card: ModelCard) -> str:
    """Return a description of the model, for the log."""
    chat = "" if card.chat_format == "none" else f", chat template {card.chat_format[:12]}"
    encoding = "" if card.encoding == UNKNOWN else f", turns encoded as {card.encoding}"
    return (
        f"model {card.name}, revision {card.revision}, {card.dtype} by "
        f"{card.backend}{chat}{encoding}"
    )
