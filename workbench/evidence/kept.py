"""Results that take a moment, kept by a program for as long as what they rest on is as it was.

The screens open a store anew for each thing that they read. What Home judged is what the audit and the review show a
key later: it is computed once, by whoever comes first; another thread that wants the same waits for it.
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
"results that are kept at a time; the one that was not asked for longest goes first"


@dataclass(slots=True)
class _Place:
    """Where one result is kept."""

    lock: RLock = field(default_factory=RLock)
    state: State | None = None
    value: Any = None


_PLACES: OrderedDict[Hashable, _Place] = OrderedDict()
_GUARD = Lock()


def kept(store: Store, key: Hashable, parts: Sequence[Part], make: Callable[[], T], *more: object) -> T:
    """Return the kept result of `make` if these parts of the store have not changed, otherwise a new result.

    Parameters
    ----------
    key : what is made, and of what; results of other files are others
    parts : all that the result rests on in the store. What `make` itself writes there is no part of it
    more : what else it rests on, compared as the parts are
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
