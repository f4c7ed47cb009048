"""The amount of data of a kind of rows in a store, before rows are read."""

from __future__ import annotations

from stores.core.store import Store
from workbench.domain.counting import plural

COUNTED_ON_THE_WAY = "They are judged first, and counted as they are written."


def stored(store: Store, kind: str) -> tuple[int | None, str]:
    """Return the number of things of a kind of rows, and a sentence with it; None: they must be judged first.

    The number counts all answers; equal answers of a draw share a row.
    """
    if kind in ("answers", "readings"):
        return _said(store.data_rows.answers(), "answer", f" by {plural(len(store.data_rows.answering()), 'model')}")
    if kind == "labels":
        labels = sum(1 for _ in store.data_rows.labels()) + sum(1 for _ in store.data_rows.issue_labels())
        return _said(labels, "label", " by people")
    if kind == "rulings":
        return _said(len(store.rulings.events()), "ruling", " by auditors")
    return (None, COUNTED_ON_THE_WAY) if store.data_rows.answering() else _said(0, "answer", "")


def _said(number: int, thing: str, by: str) -> tuple[int, str]:
    return number, f"{plural(number, thing)}{by} {'is' if number == 1 else 'are'} stored."
