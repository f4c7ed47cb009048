"""The context of a job's work: its store, its job, the log, requests to stop, and the loaded model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from stores.core.store import Store
from stores.jobs.job_rows import Job
from workbench.domain.counting import plural
from workbench.domain.responses import UNKNOWN, ModelCard
from workbench.inference.base import Changing, Learning, Model, Remarking
from workbench.inference.load import load
from workbench.jobs.control import Control
from workbench.jobs.launch import log_path

Ended = tuple[str, str]
"(final state of the job, message)"

AGAIN = "Retry repeats what failed; resume asks for everything missing."
SERVER_LOG = ".vllm.log"
"suffix of the log of a server that a job starts, beside the job's own log"


@dataclass(slots=True)
class ModelCache:
    """The model that a worker holds: also while its job is paused, so that going on takes no time."""

    key: tuple[str, ...] = ()
    "name, dtype, cluster, chat format and device"
    model: Model | None = None

    def holds(self, name: str, dtype: str = "", cluster: str = "", chat_format: str = "", device: str = "") -> bool:
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

    def load(self, name: str, dtype: str = "", cluster: str = "", chat_format: str = "", device: str = "") -> Model:
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
                f"{plural(paths, 'version')} of {name} stored as a path on the server's disk now read `unknown` with a "
                "digest of the path; their answers stay the same runs"
            )
        self.stop.steer(model)
        if isinstance(model, Learning) and (named := str(self.job.spec.get("instrument") or "")):
            questions = self.store.questionnaires.questions(named)
            sides = {one.ref: one.leaning.value for one in questions if one.leaning is not None}
            model.learn(self.store.instruments.get(named).statements, sides)
        if isinstance(model, Changing) and (known := self.store.runs.last_snapshot(model.card, self.job.id)):
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
    return f"model {card.name}, revision {card.revision}, {card.dtype} by {card.backend}{chat}{encoding}"


__all__ = ["AGAIN", "Ended", "ModelCache", "Task", "said", "unfinished"]
