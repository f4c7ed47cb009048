"""What the screens of figures have in common: one worker judges what the store has, another works out what is shown.

Whoever looks may choose otherwise meanwhile, so a screen takes what a worker brings only where it is still wanted.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.message import Message
from textual.types import CSSPathType
from textual.widgets import DataTable, Static
from textual.worker import get_current_worker

from workbench.domain.prompts import TemplateChoice
from workbench.errors import WorkbenchError
from workbench.tui.neighbours import following
from workbench.tui.overview import import_shipped
from workbench.tui.screens.audit_table import FluidTable
from workbench.tui.screens.base import StoreScreen
from workbench.tui.screens.dialogs import TextScreen
from workbench.tui.screens.template_choice import TemplatesScreen
from workbench.tui.screens.template_words import offered
from workbench.tui.widgets.record_table import Record

READING, DRAWING = "As before; reading …", "As before; resampling …"
STILL_READING = "still reading …"

if TYPE_CHECKING:
    from stores.run_rows import Run


class FiguresScreen(StoreScreen):
    """A screen with `#body`, in whose place `#empty` says why there is nothing to see.

    Settings say what is judged and how, a look says which part of that is shown: values, of a screen's own kinds, as
    what was judged (it has `settings`, `judged` and `problem`) and what is shown (it has its `look`).
    """

    CSS_PATH: ClassVar[CSSPathType | None] = str(Path(__file__).with_name("figures.tcss"))
    COUNTING = "Judging the answers …"
    "said while nothing that is judged by the settings is there"
    VIEWS: ClassVar[Sequence[str]] = ()
    "what the looks' `view` may be, each the id of a table; empty: there is one table"
    SHIPPED = ""
    "instrument that `bring_shipped` imports"

    @dataclass
    class WasLoaded(Message):
        """What the store has is judged."""

        loaded: Any
        whole: bool = True
        "False: the rest is being read"

    @dataclass
    class WasShown(Message):
        """What is to be shown of it is worked out."""

        loaded: Any
        shown: Any

    @dataclass
    class Imported(Message):
        """The shipped instrument is in the store."""

        sentence: str

    def __init__(self, settings: Any, look: Any, shown: Any) -> None:
        super().__init__()
        self._settings, self._look, self._shown = settings, look, shown
        self._loaded: Any = None
        self._found: dict[Any, Any] = {}
        "what was worked out: by look"
        self._partly = False
        "whether only a part is judged yet"
        self._pending: Any = None
        "the settings by which the store is being judged"

    def action_templates(self) -> None:
        """Choose the family and the versions of templates that figures are about."""
        screen = TemplatesScreen(offered(self.runs_shown()), self._settings.templates)
        self.app.push_screen(screen, self._take_templates)

    def _take_templates(self, choice: TemplateChoice | None) -> None:
        if choice is not None:
            self._set(replace(self._settings, templates=choice))

    def runs_shown(self) -> Sequence[Run]:
        """Return the runs that figures are about; none where there are no figures."""
        return ()

    def on_screen_suspend(self) -> None:
        self._pending = None  # what is done on another screen may be too late for what is being read

    def on_screen_resume(self) -> None:
        if self._pending != self._settings:
            self._read()

    @abstractmethod
    def judged_now(self, settings: Any, known: Any) -> object:
        """Return what the store has, judged by `settings`; `known` is what was judged before. Called in a thread."""

    @abstractmethod
    def shown_now(self, loaded: Any, look: Any) -> object:
        """Return what is to be shown of what was judged. Called in a thread."""

    @abstractmethod
    def fitted(self, look: Any) -> object:
        """Return a look with what there is in what was judged."""

    @abstractmethod
    def show_around(self, found: Any) -> None:
        """Show what stands around the table."""

    def show_around_nothing(self, loaded: Any) -> None:
        """Show what stands around the sentence that says why there is nothing to see."""

    @abstractmethod
    def why_empty(self, loaded: Any, look: Any) -> str:
        """Say why there is nothing to see, and what to do next."""

    def shows_nothing(self, found: Any) -> bool:  # noqa: ARG002
        """Return whether a look has nothing to show."""
        return False

    def way_out(self, loaded: Any) -> str:  # noqa: ARG002
        """Say what else can be chosen where nothing could be judged."""
        return ""

    def at_hand(self, look: Any) -> object | None:
        """Return what is shown of a look where that is known without working it out."""
        return self._found.get(look)

    @on(WasLoaded)
    def take(self, event: WasLoaded) -> None:
        if event.loaded.settings == self._settings:  # else another choice was made meanwhile, and is being judged
            self._partly = not event.whole
            self._pending = self._settings if self._partly else None
            self._take(event.loaded)

    @on(WasShown)
    def take_shown(self, event: WasShown) -> None:
        if event.loaded is self._loaded:
            self._found[event.shown.look] = event.shown
            if event.shown.look == self._look:
                self._say_who()
                self._paint(event.shown)

    @on(Imported)
    def say_imported(self, event: Imported) -> None:
        self.notify(event.sentence, markup=False)
        self._read()

    @on(DataTable.RowHighlighted)
    def follow(self, event: DataTable.RowHighlighted) -> None:
        if event.data_table is self._table:
            self._moved()

    def failed(self, error: WorkbenchError) -> None:
        super().failed(error)
        self._pending, loaded = None, self._loaded
        self._say_who()
        if self._judged is None:
            self._say(self.way_out(loaded) if loaded is not None and loaded.problem is not None else "")
        else:
            self._settings = loaded.settings

    def action_view(self, step: int) -> None:
        """Go to a neighbouring view, around the ends."""
        self._go(replace(self._look, view=following(self.VIEWS, self._look.view, step)))

    def action_instrument(self) -> None:
        """Show the next instrument that there are figures of, or could be."""
        if (loaded := self._loaded) is not None and loaded.instruments:
            self._set(replace(self._settings, instrument=following(loaded.instruments, loaded.instrument)))

    def action_notes(self) -> None:
        if (judged := self._judged) is not None:
            self.app.push_screen(TextScreen("Notes on these figures", "\n\n".join(judged.notes)))

    def action_import_shipped(self) -> None:
        self.notify("Importing …", timeout=2)
        self.bring_shipped()

    def action_refresh(self) -> None:
        self._read()

    @property
    def models(self) -> tuple[str, ...]:
        """Whose figures these are."""
        return self._loaded.models if self._loaded is not None else ()

    @property
    def _judged(self) -> Any:
        return self._loaded.judged if self._loaded is not None else None

    @property
    def _table(self) -> FluidTable:
        """The table in sight."""
        return self.query_one(f"#{self._shown.look.view}", FluidTable)

    def _set(self, settings: Any) -> None:
        if settings != self._settings:
            self._settings = settings
            self._read()

    def _read(self, *, anew: bool = False) -> None:
        """Judge what the store has; `anew` even where nothing there has changed."""
        same = self._loaded is not None and self._loaded.settings == self._settings
        self._wait(READING if same else self.COUNTING)
        self._pending = self._settings
        self.read_store(self._settings, None if anew else self._loaded)

    def _take(self, loaded: Any) -> None:
        before, self._loaded = self._loaded, loaded
        self._say_who()
        if loaded.problem is None:
            self.trouble.hide()
        if loaded is before:
            return
        self._found.clear()
        if loaded.problem is not None:
            self.failed(loaded.problem)
        elif loaded.judged is None:
            self.show_around_nothing(loaded)
            self._say(self.why_empty(loaded, self._look))
        else:
            self._go(self._look)
        self.refresh_bindings()

    def _go(self, look: Any) -> None:
        """Show what is looked at, at once where it was worked out before."""
        if self._judged is None:
            return
        self._look = self.fitted(look)
        self.refresh_bindings()
        if (known := self.at_hand(self._look)) is not None:
            self._say_who()
            self._paint(known)
        else:
            self._wait(DRAWING)
            self.work_out(self._loaded, self._look)

    def _paint(self, found: Any) -> None:
        """Show what is worked out."""
        if self._judged is None:
            return
        self._shown = found
        for view in self.VIEWS:
            self.query_one(f"#{view}").set_class(view == found.look.view, "-shown")
        self.show_around(found)
        if self.shows_nothing(found):
            self._say(self.why_empty(self._loaded, found.look))
            return
        self._say(None)
        self._table.show_anew(self._records)
        self._table.focus()
        self._detail()

    @abstractmethod
    def _records(self, width: int) -> list[Record]:
        """Return the rows of the table in sight for a width."""

    @abstractmethod
    def _detail(self) -> None:
        """Show what is behind the row under the cursor."""

    def _moved(self) -> None:
        """Show where the cursor went."""
        self._detail()

    def _wait(self, note: str) -> None:
        """Say what is under way, and dim what stands there from before."""
        self.title_bar.note = note
        self.query_one("#body").add_class("-old")

    def _say_who(self) -> None:
        """Put into the title whose figures these are: nothing is under way, or the rest of what is read."""
        self.query_one("#body").remove_class("-old")
        who = f"{len(self.models)} models" if len(self.models) > 1 else "".join(self.models)
        self.title_bar.note = f"{who}; {STILL_READING}" if self._partly else who

    def _say(self, text: str | None) -> None:
        """Show a sentence in place of the figures, or the figures."""
        empty = self.query_one("#empty", Static)
        empty.update(text or "")
        empty.set_class(text is not None, "-shown")
        self.query_one("#body").display = text is None

    @work(thread=True, exclusive=True, exit_on_error=False, group="answers", description="figures")
    def read_store(self, settings: Any, known: Any) -> None:
        worker = get_current_worker()
        loaded = self.judged_now(settings, known)
        if not worker.is_cancelled:
            self.post_message(self.WasLoaded(loaded))

    @work(thread=True, exclusive=True, exit_on_error=False, group="view", description="figures")
    def work_out(self, loaded: Any, look: Any) -> None:
        worker = get_current_worker()
        found = self.shown_now(loaded, look)
        if not worker.is_cancelled:
            self.post_message(self.WasShown(loaded, found))

    @work(thread=True, exclusive=True, exit_on_error=False, group="import")
    def bring_shipped(self) -> None:
        self.post_message(self.Imported(import_shipped(self.store_path, self.SHIPPED)))
