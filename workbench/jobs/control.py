"""What a worker was asked meanwhile: to stop, to pause, to take more or fewer at once."""

from __future__ import annotations

import threading
from types import FrameType

from stores.jobs.jobs import Orders
from workbench.inference.base import Adjustable

REQUESTED = "stopped on request"
PAUSED = "paused on request"


class Control:
    """Called, it says whether work should end after what is at hand. It hears from the heartbeat's thread and signals.

    Pausing is ending what is under way, so that all of it is stored, and beginning it again later: what a paused job
    has is on the disk, whatever becomes of its worker.
    """

    def __init__(self) -> None:
        self._changed = threading.Event()
        self._stop = self._pause = False
        self.cancelled = False
        "whether a person asked it to end, for good"
        self._model: Adjustable | None = None
        self._most: int | None = None
        self.trouble = ""
        "why it ends, where nobody asked for it"
        self.lost = False
        "another worker has the job"
        self.interrupted = False
        "whether work was told to end because of a pause, since it last began"

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
        """Say why work ended before its end."""
        return self.trouble or (PAUSED if self.pausing or (self.interrupted and not self._stop) else REQUESTED)

    def hear(self, orders: Orders) -> None:
        """Take what people asked. Only news ends a `wait`: who holds a paused job hears itself each second."""
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
        """Pause without being asked: a person has to decide something, which the job's row says by now."""
        self._pause = self.interrupted = True

    def end(self, trouble: str = "") -> None:
        """Let work end; with a reason it is not a person's wish."""
        if not self._stop:
            self.trouble = trouble
        self._stop = True
        self._changed.set()

    def on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self.end()

    def steer(self, model: object) -> None:
        """Let this model hear how many may be at once."""
        self._model = model if isinstance(model, Adjustable) else None
        if self._most is not None:
            self._adjust()

    def wait(self, seconds: float) -> None:
        """Wait until something was heard, but not longer."""
        self._changed.wait(seconds)
        self._changed.clear()

    def _adjust(self) -> None:
        if self._model is not None:
            self._model.at_once(self._most)
