"""An event loop in its own thread: calls continue while the caller stores results, and end when it closes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class Loop:
    """Runs coroutines in parallel to the caller's thread."""

    def __init__(self, name: str):
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Run to the end and return the result; interrupting the caller cancels the work."""
        future = self.start(work)
        try:
            return future.result()
        finally:
            future.cancel()

    def close(self) -> None:
        """Cancel running coroutines and end the thread."""
        if self.loop.is_closed():
            return
        self.do(self._cancel_all())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()

    async def _cancel_all(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self.loop.shutdown_asyncgens()
