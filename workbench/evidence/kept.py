"""A cache of slow results, valid while their basis in the store is unchanged.

Screens open a store for each read. Results that Home has judged are often needed by an audit or review screen next, so
each one is computed once; another thread that needs the same result waits for it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from threading import Lock, RLock
from typing import Any, TypeVar

from stores.core.state import Part, State, state_of
from stores.core.store import Store

T = TypeVar("T")
MOST = 32
"most cached results; the least recently used one is dropped first"


@dataclass(slots=True)
class _Place:
    """The place of one cached result."""

    lock: RLock = field(default_factory=RLock)
    state: State | None = None
    value: Any = None


_PLACES: OrderedDict[Hashable, _Place] = OrderedDict()
_GUARD = Lock()


def kept(store: Store, key: Hashable, parts: Sequence[Part], make: Callable[[], T], *more: object) -> T:
    """Return the kept result of `make` if these parts of the store have not changed, otherwise a new result.

    Parameters
    ----------
    key : identifies the result within a file
    parts : the parts of the store that the result depends on, except what `make` itself writes
    more : further values that it depends on, compared like the parts
    """
    with _GUARD:
        place = _PLACES.setdefault((store.identity, key), _Place())
        _PLACES.move_to_end((store.identity, key))
        while len(_PLACES) > MOST:
            _PLACES.popitem(last=False)
    with place.lock:
        state = (*(_state(store, part) for part in parts), *more)
        if place.state != state:
            place.value, place.state = make(), state
        return place.value  # type: ignore[no-any-return]


def _state(store: Store, part: Part) -> State:
    """Return what a part of a store is now; while nobody writes to the store, its queries run once."""
    return store.remembered(("state", part), lambda: state_of(store.connection, [part]))


def forget() -> None:
    """Forget all results computed so far."""
    with _GUARD:
        _PLACES.clear()


__all__ = ["Part", "forget", "kept"]
