"""What keys wait for, and what the screens ask of the gate that lets keys through; `key_gate` is
the gate.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Literal, Protocol

from textual.dom import DOMNode

if TYPE_CHECKING:
    from textual.worker import Worker

Kind = Literal["screen", "content", "write"]


@dataclass(eq=False, slots=True)
class Awaited:
    """Something that was asked for and is not there yet."""

    node: DOMNode
    kind: Kind
    group: str = ""
    "of the worker that brings it"
    worker: Worker[None] | None = None
    "that brings it; None: the screen says when it is there"
    since: float = field(default_factory=monotonic)


class Gate(Protocol):
    """What a worker tells the gate of the app that shows its screen."""

    def expect(self, node: DOMNode, kind: Kind, group: str = "") -> Awaited:
        """Let keys wait for something that a screen asked for."""

    def awaits(self, node: DOMNode, group: str) -> bool:
        """Return whether keys wait for a worker of a group."""

    def came(self, awaited: Awaited, *, failed: bool = False) -> None:
        """Let keys go on: what they wait for is there, or did not come."""
