"""Results of any audit that has no screen of its own: its book."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workbench import registry
from workbench.audits.audit import Audit
from workbench.errors import WorkbenchError
from workbench.tui.results.book_screen import BookScreen
from workbench.tui.results.loaded import Loaded

NO_ANSWERS = """No model has answered yet.

3 goes to Jobs: n there asks a model; choose this audit."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Which audit it is; nothing else can be chosen here."""

    audit: str


class AuditBookScreen(BookScreen):
    """The figures of one audit."""

    def __init__(self, mode: str) -> None:
        (audit,) = (one for one in registry.every_audit() if one.place is not None and one.place.mode == mode)
        super().__init__(Settings(audit.name))
        self.PLACE = f"results › {mode}"

    def judged_now(self, settings: Settings, known: Loaded | None) -> Loaded:
        return load(self.store_path, registry.audit(settings.audit), known)

    def way_out(self, loaded: Loaded) -> str:  # noqa: ARG002
        return ""


def load(path: Path, audit: Audit, known: Loaded | None = None) -> Loaded:
    """Judge what a store has of an audit. Returns `known` itself where nothing has changed."""
    from stores.core.state import Part, state_of
    from stores.core.store import Store

    settings = Settings(audit.name)
    with Store.open(path) as store:
        runs = store.runs.list(audit.name)
        if not audit.answered(store):
            return Loaded(
                settings, empty=f"No model has answered yet.\n\n3 goes to Jobs: n there asks one {audit.name}."
            )
        # The readings of rules are left out: judging writes them.
        rests_on = (runs, state_of(store.connection, [part for part in Part if part is not Part.READINGS]))
        if known is not None and known.rests_on == rests_on and known.problem is None:
            return known
        try:
            book = audit.book(store, audit.usual())
        except WorkbenchError as error:
            return Loaded(settings, problem=error)
    models = [run.model for run in runs]
    return Loaded(settings, book=book, judged=book, models=models, runs=runs, rests_on=rests_on)
