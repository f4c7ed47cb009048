"""Requests to a running worker: to stop, to pause, to change its parallelism."""

from __future__ import annotations

import threading
from types import FrameType

from stores.jobs.jobs import Orders
from workbench.inference.base import Adjustable

REQUESTED = "stopped on request"
PAUSED = "paused on request"


class Control:
    """When called, returns whether work should end after the current step. The heartbeat's thread and signals set it.

    Pausing ends the active work, so that all of it is stored, and starts it again later: the results of a paused job
    are stored even if its worker dies.
    """

    def __init__(self) -> None:
        self._changed = threading.Event()
        self._stop = self._pause = False
        self.cancelled = False
        "whether a person cancelled it"
        self._model: Adjustable | None = None
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
        return self.trouble or (PAUSED if self.pausing or (self.interrupted and not self._stop) else REQUESTED)

    def hear(self, orders: Orders) -> None:
        """Apply users' requests. Only changes end a `wait`: the holder of a paused job calls this every second."""
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
        """Pause without a request, because the job waits for a person's decision, which its row already says."""
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
        if self._most is not None:
            self._adjust()

    def wait(self, seconds: float) -> None:
        """Wait for a request, at most `seconds`."""
        self._changed.wait(seconds)
        self._changed.clear()

    def _adjust(self) -> None:
        if self._model is not None:
            self._model.at_once(self._most)
