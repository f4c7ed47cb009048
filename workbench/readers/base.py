"""The interface of everything that labels a response automatically."""

from __future__ import annotations

from typing import Protocol

from workbench.domain.readings import ReaderCard, Reading


class Reader(Protocol):
    """Reads responses to one template."""

    @property
    def card(self) -> ReaderCard:
        """The identity of the reader. Two readers with the same card give every text the same reading."""
        ...

    def read(self, text: str) -> Reading:
        """Return the label of a response, or None with the reason. Never raises for any text."""
        ...
