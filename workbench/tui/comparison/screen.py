"""Runs side by side: what changed between them, item by item, with tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workbench.errors import WorkbenchError
from workbench.tui.results.book_screen import BookScreen
from workbench.tui.results.loaded import Comparing, Loaded, Routes


@dataclass(frozen=True, slots=True)
class Settings:
    """Which runs; nothing else can be chosen here."""

    names: tuple[str, ...]


class ComparisonScreen(BookScreen):
    """A comparison; Esc leads back to the results that it was chosen from."""

    COUNTING = "Comparing the answers …"
    RULED = False

    def __init__(self, place: str, names: tuple[str, ...], comparing: Comparing, routes: Routes) -> None:
        super().__init__(Settings(names))
        self.PLACE = f"{place} › side by side"
        self._comparing = comparing
        self.routes = routes

    def judged_now(self, settings: Settings, known: Loaded | None) -> Loaded:  # noqa: ARG002  runs may have grown
        return load(self.store_path, settings, self._comparing)

    def way_out(self, loaded: Loaded) -> str:  # noqa: ARG002
        return "Esc leads back to the results."


def load(path: Path, settings: Settings, comparing: Comparing) -> Loaded:
    """Compare the runs that were chosen."""
    from workbench.audits.comparison.book import book

    try:
        compared = comparing(path)
    except WorkbenchError as error:
        return Loaded(settings, problem=error)
    return Loaded(settings, book=book(compared), judged=compared, models=compared.names)


__all__ = ["ComparisonScreen", "load"]
