"""Judging in the background: one worker judges the stored answers, another makes a table.

The user may change the settings meanwhile, so a screen accepts a worker's result only if it is
still wanted.
"""

from __future__ import annotations

from abc import abstractmethod
from asyncio import to_thread
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

from textual.types import CSSPathType
from textual.widgets import Static

from workbench.domain.prompts import TemplateChoice
from workbench.domain.readings import USUAL
from workbench.errors import WorkbenchError
from workbench.figures.table import Link
from workbench.options.schema import Options
from workbench.tui.format import following
from workbench.tui.kit.base import in_background, say, with_store_name, worker
from workbench.tui.kit.dialogs import with_answer
from workbench.tui.kit.template_choice import TemplatesScreen, offer_of
from workbench.tui.overview import import_shipped
from workbench.tui.results.behind import BehindScreen, ScreenRoutes, behind
from workbench.tui.results.following import Following
from workbench.tui.results.loaded import Loaded, ShownTable, TableView
from workbench.tui.results.sheet import Sheet

READING, DRAWING = "Previous figures; reading …", "Previous figures; resampling …"
STILL_READING = "still reading …"
DIMMED = 0.5
"opacity of old figures while new ones are computed"

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.runs.run_rows import Run


class JudgingScreen(Following):
    """A screen with `#body`, or `#empty` with the reason if there are no figures.

    Settings define the judgement: values of an audit's own kind, with `instrument` and `templates`.
    A `TableView` names the visible table of the result.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = str(Path(__file__).with_name("judging.tcss"))
    COUNTING = "Judging the answers …"
    "text while no result for the settings exists"
    SCREENS: ClassVar[Mapping[str, type[BehindScreen]]] = {}
    "screen of a table behind a row, by the table's name, if it has keys of its own"
    SHIPPED = ""
    "instrument that `bring_shipped` imports"
    LEASES = False
    "whether judging leases or releases items; `judge` then reads one snapshot by itself"

    def __init__(self, settings: Any) -> None:
        super().__init__()
        self._settings = settings
        self._look, self._shown = TableView(), ShownTable(TableView())
        self._loaded: Loaded | None = None
        self._found: dict[TableView, ShownTable] = {}
        "tables of the current result by view"
        self._partly = False
        "whether the result covers only a part of the answers"
        self._pending: Any = None
        "settings of the judgement in progress, or None"
        self.again = lambda store, loaded: self.judge(store, loaded.settings, loaded)

    @property
    def figures(self) -> Loaded | None:
        return self._loaded

    @property
    def models(self) -> Sequence[str]:
        """The models that the figures are about."""
        return self._loaded.models if self._loaded is not None else ()

    def runs_shown(self) -> Sequence[Run]:
        """Return the runs that figures are about, or none without figures."""
        return self._loaded.runs if self._loaded is not None else ()

    @abstractmethod
    def judge(self, store: Store, settings: Any, known: Loaded | None) -> Loaded:
        """Return the stored answers, judged by `settings`. It runs in a thread.

        `known` is the previous result.
        """

    @abstractmethod
    def make_table(self, loaded: Loaded, table_view: TableView) -> ShownTable:
        """Return the table of a view. It runs in a thread."""

    @abstractmethod
    def fitted(self, table_view: TableView) -> TableView:
        """Return a view that the result has, near to the wanted one."""

    @abstractmethod
    def show_around_nothing(self, loaded: Loaded) -> None:
        """Show the texts around the message that there are no figures."""

    @abstractmethod
    def empty_reason(self, loaded: Loaded, table_view: TableView) -> str:
        """Return why there are no figures, and what to do next."""

    @abstractmethod
    def alternatives_hint(self, loaded: Loaded) -> str:
        """Return which other choices are possible after a failed judgement."""

    def on_screen_suspend(self) -> None:
        self._pending = (
            None  # An action on another screen may come too late for the read in progress.
        )

    def on_screen_resume(self) -> None:
        super().on_screen_resume()
        if self._pending == self._settings:
            return
        if self._loaded is not None and self._loaded.settings == self._settings:
            with in_background():
                self._read()
        else:
            self._read()

    def take(self, loaded: Loaded, *, whole: bool = True) -> None:
        """Show a result if it is judged by the current settings.

        If it is not `whole`, the rest is still being read.
        """
        # Otherwise another choice was made meanwhile, and is being judged.
        if loaded.settings == self._settings:
            self._partly = not whole
            self._pending = self._settings if self._partly else None
            self._take(loaded)

    def take_shown(self, loaded: Loaded, shown: ShownTable) -> None:
        if loaded is self._loaded:
            self._found[shown.table_view] = shown
            if shown.table_view == self._look:
                self.show_title_note()
                self._paint(shown)

    def say_imported(self, sentence: str) -> None:
        say(self, sentence)
        self._read()

    def failed(self, error: WorkbenchError) -> None:
        super().failed(error)
        self._pending, loaded = None, self._loaded
        self.show_title_note()
        if loaded is None or loaded.judged is None:
            self._say(
                self.alternatives_hint(loaded)
                if loaded is not None and loaded.problem is not None
                else ""
            )
        else:
            self._settings = loaded.settings

    def show_table(self, sheet: Sheet, links: Sequence[Link], at: int, *, instead: bool) -> None:  # noqa: ARG002
        if self._loaded is not None:
            screen_routes = ScreenRoutes(
                self.title_bar.place, self.routes, self.SCREENS, again=self.again
            )
            self.app.push_screen(behind(self._loaded, sheet, links, at, screen_routes))

    def be_about(self, run: Run) -> None:
        settings = self.settings_for(run)
        if settings is None:
            return
        # Of tables about one model at a time, show the one of this run.
        self._look = replace(self._look, subject=(run.named,))
        if settings != self._settings:
            self._settings = settings
            # Otherwise it is read when the screen comes up.
            if self._loaded is not None or self._pending is not None:
                self._read()
        elif self._loaded is not None:
            self._go(self._look)

    def settings_for(self, run: Run) -> Any:  # noqa: ARG002
        """Return settings whose figures are about a run or include it, or None without such."""
        return None

    def action_templates(self) -> None:
        """Let the user choose language, family and versions of the templates of the figures."""
        screen = TemplatesScreen(offer_of(self.runs_shown()), self._settings.templates)
        with_answer(self, screen, self._take_templates)

    def action_instrument(self) -> None:
        """Show the next instrument that has figures, or could have."""
        if (loaded := self._loaded) is not None and loaded.instruments:
            self._set(
                replace(self._settings, instrument=following(loaded.instruments, loaded.instrument))
            )

    def action_import_shipped(self) -> None:
        say(self, "Importing …")
        self.bring_shipped()

    def action_refresh(self) -> None:
        self._read()

    def action_rulings(self) -> None:
        """Show figures without auditors' rulings, or with them again."""
        self._set(flipped(self._settings))

    def show_title_note(self) -> None:
        """Show in the title whose figures these are, and whether the rest is still being read."""
        self.query_one("#body").styles.opacity = 1.0
        models_text = f"{len(self.models)} models" if len(self.models) > 1 else "".join(self.models)
        self.title_bar.note = f"{models_text}; {STILL_READING}" if self._partly else models_text

    @abstractmethod
    def _paint(self, found: ShownTable) -> None:
        """Show a table."""

    @property
    def _judged(self) -> Any:
        return self._loaded.judged if self._loaded is not None else None

    def _take_templates(self, choice: TemplateChoice) -> None:
        self._set(replace(self._settings, templates=choice))

    def _set(self, settings: Any) -> None:
        if settings != self._settings:
            self._settings = settings
            self._read()

    def _read(self, *, anew: bool = False) -> None:
        """Judge the stored answers. With `anew`, do so even if nothing in the store has changed."""
        has_same_settings = self._loaded is not None and self._loaded.settings == self._settings
        self._wait(READING if has_same_settings else self.COUNTING)
        self._pending = self._settings
        self.read_store(self._settings, None if anew else self._loaded)

    def _take(self, loaded: Loaded) -> None:
        previous, self._loaded = self._loaded, loaded
        self.show_title_note()
        if loaded.problem is None:
            self.trouble.hide()
        if loaded is previous:
            return
        self._found.clear()
        if loaded.problem is not None:
            self.failed(loaded.problem)
        elif loaded.judged is None:
            self.show_around_nothing(loaded)
            self._say(self.empty_reason(loaded, self._look))
        else:
            self._go(self._look)
        self.refresh_bindings()

    def _go(self, table_view: TableView) -> None:
        """Show the table of a view, at once if it was made before."""
        if self._loaded is None or self._loaded.judged is None:
            return
        self._look = self.fitted(table_view)
        self.refresh_bindings()
        if (cached := self._found.get(self._look)) is not None:
            self.show_title_note()
            self._paint(cached)
        else:
            self._wait(DRAWING)
            self.load_table(self._loaded, self._look)

    def _wait(self, note: str) -> None:
        """Show which work is in progress, and dim the old figures."""
        self.title_bar.note = note
        self.query_one("#body").styles.opacity = DIMMED  # a class would have all parts styled anew

    def _say(self, text: str | None) -> None:
        """Show a message in place of the figures, or the figures if it is None."""
        empty = self.query_one("#empty", Static)
        empty.update(with_store_name(self.app, text or ""))
        empty.set_class(text is not None, "-shown")
        self.query_one("#body").display = text is None

    @worker("answers")
    async def read_store(self, settings: Any, known: Loaded | None) -> None:
        def load(store: Store) -> Loaded:
            loaded = self.judge(store, settings, known)
            return loaded if loaded is known else with_plans(store, loaded)

        loaded = await self.with_store(load, leases=self.LEASES)
        self.call_later(self.take, loaded)  # after a part that may be on its way

    @worker("view")
    async def load_table(self, loaded: Loaded, table_view: TableView) -> None:
        self.take_shown(loaded, await to_thread(self.make_table, loaded, table_view))

    @worker("import", newest=False)
    async def bring_shipped(self) -> None:
        self.say_imported(await self.with_store(lambda store: import_shipped(store, self.SHIPPED)))


def with_plans(store: Store, loaded: Loaded) -> Loaded:
    """Return a result whose header starts with how its runs followed their frozen plans.

    Without plans, the result is unchanged.
    """
    if loaded.book is None or not loaded.runs:
        return loaded
    from workbench.evidence.plans import header_of_plans

    lines = header_of_plans(store, loaded.runs, lambda run: judged_by(run.audit, loaded.settings))
    if not lines:
        return loaded
    other_lines = tuple(line for line in loaded.book.header if line not in lines)
    return replace(loaded, book=replace(loaded.book, header=(*lines, *other_lines)))


def judged_by(audit: str, settings: Any) -> Mapping[str, Any]:
    """Return the options of an audit's judgement by name: the user's choices and the defaults."""
    from workbench import registry
    from workbench.options.option import chosen

    values = _changed_values(settings) | _changed_values(getattr(settings, "rules", None))
    options = values.pop("options", None)
    if isinstance(options, Options):
        values |= _changed_options(options)
    readings = values.pop("readings", USUAL)
    values["without_rulings"] = not readings.rulings
    if "readable" in values:
        values["with_unreadable"] = True
    if readings.by is not None:
        values["reader"] = readings.by
    return chosen(registry.audit(audit).judges_by, SimpleNamespace(**values))


def _changed_values(settings: Any) -> dict[str, Any]:
    """Return the values of settings that differ from their default, by name."""
    return {field.name: getattr(settings, field.name) for field in changed_fields(settings)}


def _changed_options(options: Options) -> dict[str, Any]:
    """Return the values of an audit's own options that differ from their default, by name."""
    default_options = type(options)()
    changed = {}
    for name in options.offered():
        value = getattr(options, name)
        if value != getattr(default_options, name):
            changed[name] = value
    return changed


def changed_fields(settings: Any) -> Iterator[Field[Any]]:
    """Yield the fields of settings that differ from their default."""
    if not is_dataclass(settings):
        return
    for settings_field in fields(settings):
        default = settings_field.default
        if settings_field.default_factory is not MISSING:
            default = settings_field.default_factory()
        if getattr(settings, settings_field.name) != default:
            yield settings_field


def flipped(settings: Any) -> Any:
    """Return settings with rulings included, or excluded if they were included before."""
    rules = getattr(settings, "rules", None)
    if rules is not None:
        return replace(settings, rules=flipped(rules))
    readings = settings.readings
    return replace(settings, readings=replace(readings, rulings=not readings.rulings))
