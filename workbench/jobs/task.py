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
    """Tells, when called, whether work should end after the current step.

    The heartbeat's thread and signals set it. Pausing ends the active work, so that all of it is
    stored, and starts it again later: the results of a paused job are stored even if its worker
    dies.
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
        "reason for an end without a request"
        self.lost = False
        "whether another worker has the job"
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
        """The reason why work ended early."""
        return self.trouble or (
            PAUSED if self.pausing or (self.interrupted and not self._stop) else REQUESTED
        )

    def hear(self, orders: Orders) -> None:
        """Apply users' requests.

        Only changes end a `wait`, since the holder of a paused job calls this every second.
        """
        state_before = (self._stop, self._pause, self.lost)
        self._pause = orders.pause
        self.lost = self.lost or orders.lost
        self.cancelled = self.cancelled or (orders.stop and not orders.lost)
        if orders.stop or orders.lost:
            self._stop = True
        if orders.concurrency != self._most:
            self._most = orders.concurrency
            self._adjust()
        if (self._stop, self._pause, self.lost) != state_before:
            self._changed.set()

    def pause(self) -> None:
        """Pause without a request.

        The job waits for a person's decision, which its row already says.
        """
        self._pause = self.interrupted = True

    def end(self, trouble: str = "") -> None:
        """End work, with a reason if no person requested it."""
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
        """Return the job's progress message about a server that is down, or is asked again.

        None stands for no change.
        """
        waiting = "" if self._server is None else self._server.waiting
        is_back = self._waited and not waiting
        self._waited = bool(waiting)
        return waiting or (ASKING if is_back else None)

    def wait(self, seconds: float) -> None:
        """Wait for a request, at most `seconds`."""
        self._changed.wait(seconds)
        self._changed.clear()

    def _adjust(self) -> None:
        if self._model is not None:
            self._model.limit_parallel(self._most)


Ended = tuple[str, str]
"(final state of the job, message)"

AGAIN = "Retry repeats what failed; resume asks for everything missing."
SERVER_LOG = ".vllm.log"
"suffix of the log of a server that a job starts, beside the job's own log"


@dataclass(slots=True)
class ModelCache:
    """The model that a worker holds.

    It is held also while its job is paused, so that going on takes no time.
    """

    key: tuple[str, ...] = ()
    "identity of the loaded model: name, dtype, cluster, chat format and device"
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
        """Return a model.

        See `load`.
        """
        if self.model is None or not self.holds(name, dtype, cluster, chat_format, device):
            self.clear()
            settings = {
                "dtype": dtype,
                "cluster": cluster,
                "chat_format": chat_format,
                "device": device,
            }
            self.model = load(name, **settings, beside=beside, should_stop=should_stop)
            self.key = (name, dtype, cluster, chat_format, device)
        return self.model

    def clear(self) -> None:
        """Free the memory."""
        model, self.model = self.model, None
        if model is not None:
            model.close()


@dataclass(frozen=True, slots=True)
class Task:
    """A claimed job, and the context of its work."""

    store: Store
    job: Job
    attempt: int
    stop: Control
    "called to ask whether the job should end"
    say: Callable[[str], None]
    "writes to the job's log"
    models: ModelCache = field(default_factory=ModelCache)

    def load(
        self, name: str, dtype: str = "", cluster: str = "", chat_format: str = "", device: str = ""
    ) -> Model:
        """Return a model, which then receives changes of the limit of parallel calls."""
        is_loaded = self.models.holds(name, dtype, cluster, chat_format, device)
        if not is_loaded:
            settings = {"in": dtype, "on": cluster or device, "in the chat format of": chat_format}
            description = " ".join(
                [name, *(f"{word} {value}" for word, value in settings.items() if value)]
            )
            self.say(f"job {self.job.id}, attempt {self.job.attempts}: loading {description}")
            self.store.jobs.beat(self.job.id, f"loading {description}")
        server_log = log_path(self.store.path, self.job.id).with_suffix(SERVER_LOG)
        server_log.parent.mkdir(exist_ok=True)
        model = self.models.get(name, dtype, cluster, chat_format, device, server_log, self.stop)
        if not is_loaded and isinstance(model, Remarking):
            self.say("\n".join(model.notes))
        if isinstance(model, Changing) and (paths := self.store.runs.forget_places(name)):
            self.say(
                f"{plural(paths, 'version')} of {name} stored as a path on the server's disk now "
                "read `unknown` with a digest of the path; their answers stay the same runs"
            )
        if not is_loaded and isinstance(model, Metered):
            model.carry(self.job.progress)
        self.stop.steer(model)
        if isinstance(model, Learning) and (
            instrument_name := str(self.job.spec.get("instrument") or "")
        ):
            questions = self.store.questionnaires.questions(instrument_name)
            sides = {
                question.ref: question.leaning.value
                for question in questions
                if question.leaning is not None
            }
            model.learn(self.store.instruments.get(instrument_name).statements, sides)
        if isinstance(model, Changing) and (
            snapshot := self.store.runs.last_snapshot(model.card, self.job.id)
        ):
            model.expect(snapshot[0], asked=snapshot[1])
        return model

    def tell(self, sentence: str) -> None:
        """Write a message to the log and the job's progress."""
        self.say(sentence)
        self.store.jobs.beat(self.job.id, sentence, self.attempt)


def unfinished(task: Task, stored_message: str, rest: str) -> Ended:
    """Return the state and message of work that ended early.

    The message says why it ended, what is stored, and what resuming does.
    """
    if task.job.only_failed and not task.stop():
        return "cancelled", f"what had failed is answered; {stored_message}. Resume {rest}."
    return "cancelled", f"{task.stop.why}; {stored_message}. Resume {rest}."


def model_description(card: ModelCard) -> str:
    """Return a description of the model, for the log."""
    chat = "" if card.chat_format == "none" else f", chat template {card.chat_format[:12]}"
    encoding = "" if card.encoding == UNKNOWN else f", turns encoded as {card.encoding}"
    return (
        f"model {card.name}, revision {card.revision}, {card.dtype} by "
        f"{card.backend}{chat}{encoding}"
    )
