"""The base of what is open until it is closed, such as a store or a session."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Resource(ABC):
    """The base of classes whose objects are closed at the end of a `with` block."""

    @abstractmethod
    def close(self) -> None:
        """Release everything that the object holds."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
