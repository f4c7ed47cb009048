"""Columns that say the same in all rows: where a text needs their room, one line above the table says it for all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def same_in_all(cells: Sequence[str]) -> bool:
    """Return whether several rows say the same in a column.

    Examples
    --------
    >>> same_in_all(["6", "6"]), same_in_all(["6"]), same_in_all(["6", "5"])
    (True, False, False)
    """
    return len(cells) > 1 and len(set(cells)) == 1


def in_all_rows(parts: Iterable[tuple[str, str]]) -> str:
    """Return the line for columns that are folded, given the title and the cell of each; "" without any.

    Examples
    --------
    >>> in_all_rows([("country", "VEL"), ("tags", "")])
    'In all rows: country VEL'
    """
    said = " · ".join(f"{title} {cell}" for title, cell in parts if title and cell)
    return f"In all rows: {said}" if said else ""
