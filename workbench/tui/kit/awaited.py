"""The things that keys wait for, and the interface of the gate that lets keys through.

The gate itself is in `key_gate`.
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
    """Something that was requested and has not arrived yet."""

    node: DOMNode
    kind: Kind
    group: str = ""
    "group of the worker that brings it"
    worker: Worker[None] | None = None
    "worker that brings it, or None if the screen reports its arrival"
    since: float = field(default_factory=monotonic)


class Gate(Protocol):
    """The methods of an app's gate that a worker calls."""

    def expect(self, node: DOMNode, kind: Kind, group: str = "") -> Awaited:
        """Let keys wait for something that a screen requested."""

    def awaits(self, node: DOMNode, group: str) -> bool:
        """Return whether keys wait for a worker of a group."""

    def arrived(self, awaited: Awaited, *, failed: bool = False) -> None:
        """Let keys go on, because what they wait for has arrived or failed."""
