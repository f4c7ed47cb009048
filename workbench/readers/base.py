"""The interface of everything that turns a response into a label by itself."""

from __future__ import annotations

from typing import Protocol

from workbench.domain.readings import ReaderCard, Reading


class Reader(Protocol):
    """Something that reads responses to one template."""

    @property
    def card(self) -> ReaderCard:
        """Who reads. Two readers with the same card give every text the same reading."""
        ...

    def read(self, text: str) -> Reading:
        """Return the label of a response, or None as its label with the reason. Never raises, whatever the text."""
        ...
