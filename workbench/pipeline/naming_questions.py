"""Which multiple-choice questions a person means: by their refs, or by the keys that they have in their survey."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from workbench.errors import UsageError

if TYPE_CHECKING:
    from stores.core.store import Store


def named_questions(store: Store, instrument: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return the refs that are meant; a key means its questions under all biases.

    A name that is neither a ref nor a key stays as it is: whoever looks for the statement says that there is none.
    """
    refs = {line.ref for line in store.instruments.lines(instrument)}
    items = store.choices.items(instrument).values()
    found: dict[str, None] = {}
    for name in names:
        meant = [] if name in refs else [item.ref for item in items if item.key == name]
        found |= dict.fromkeys(meant or [name])
    return tuple(found)


def named_question(store: Store, instrument: str, name: str) -> str:
    """Return the one ref that is meant. Raises UsageError where a key stands under several biases, naming them."""
    refs = named_questions(store, instrument, [name])
    if len(refs) > 1:
        raise UsageError(f"{name} stands under several biases; name one question: {', '.join(refs)}")
    return refs[0]
