"""Judging beside the terminal: one worker judges what the store has, another makes the table that
is looked at.

Whoever looks may choose otherwise meanwhile, so a screen takes what a worker brings only where it
is still wanted.
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
from workbench.tui.kit.base import in_background, in_store, say, worker
from workbench.tui.kit.dialogs import with_answer
from workbench.tui.kit.template_choice import TemplatesScreen, offered
from workbench.tui.overview import import_shipped
from workbench.tui.results.behind import BehindScreen, Ways, behind
from workbench.tui.results.following import Following
from workbench.tui.results.loaded import Loaded, Look, Shown
from workbench.tui.results.sheet import Sheet

READING, DRAWING = "Previous figures; reading …", "Previous figures; resampling …"
STILL_READING = "still reading …"
DIMMED = 0.5
"opacity of figures that others will take the place of"

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.runs.run_rows import Run


class JudgingScreen(Following):
    """A screen with `#body`, in whose place `#empty` says why there is nothing to see.

    Settings say what is judged and how: values of an audit's own kind, with `instrument` and
    `templates`. A look says which table of the result is shown.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = str(Path(__file__).with_name("judging.tcss"))
    COUNTING = "Judging the answers …"
    "said while nothing that is judged by the settings is there"
    SCREENS: ClassVar[Mapping[str, type[BehindScreen]]] = {}
    "name of a table behind a row -> the screen that shows it, where keys of its own belong to it"
    SHIPPED = ""
    "instrument that `bring_shipped` imports"
    LEASES = False
    """whether judging leases or releases items: `judged_now` then sees to it that what it reads is
    of one moment"""

    def __init__(self, settings: Any) -> None:
        super().__init__()
        self._settings = settings
        self._look, self._shown = Look(), Shown(Look())
        self._loaded: Loaded | None = None
        self._found: dict[Look, Shown] = {}
        "tables that were made of what is judged"
        self._partly = False
        "whether only a part is judged yet"
        self._pending: Any = None
        "the settings by which the store is being judged"
        self.again = lambda store, loaded: self.judged_now(store, loaded.settings, loaded)

    @property
    def figures(self) -> Loaded | None:
        return self._loaded

    @property
    def models(self) -> Sequence[str]:
        """Whose figures these are."""
        return self._loaded.models if self._loaded is not None else ()

    def runs_shown(self) -> Sequence[Run]:
        """Return the runs that figures are about; none where there are no figures."""
        return self._loaded.runs if self._loaded is not None else ()

    @abstractmethod
    def judged_now(self, store: Store, settings: Any, known: Loaded | None) -> Loaded:
        """Return what the store has, judged by `settings`; `known` is what was judged before.
        Called in a thread.
        """

    @abstractmethod
    def shown_now(self, loaded: Loaded, look: Look) -> Shown:
        """Return the table that is looked at. Called in a thread."""

    @abstractmethod
    def fitted(self, look: Look) -> Look:
        """Return a look at what there is in what was judged."""

    @abstractmethod
    def show_around_nothing(self, loaded: Loaded) -> None:
        """Show what stands around the sentence that says why there is nothing to see."""

    @abstractmethod
    def why_empty(self, loaded: Loaded, look: Look) -> str:
        """Say why there is nothing to see, and what to do next."""

    @abstractmethod
    def way_out(self, loaded: Loaded) -> str:
        """Say what else can be chosen where nothing could be judged."""

    def on_screen_suspend(self) -> None:
        self._pending = (
            None  # what is done on another screen may be too late for what is being read
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
        """Show what the store has, judged by the settings that are meant now; not `whole`: the rest
        is being read.
        """
        # Else another choice was made meanwhile, and is being judged.
        if loaded.settings == self._settings:
            self._partly = not whole
            self._pending = self._settings if self._partly else None
            self._take(loaded)

    def take_shown(self, loaded: Loaded, shown: Shown) -> None:
        if loaded is self._loaded:
            self._found[shown.look] = shown
            if shown.look == self._look:
                self.say_who()
                self._paint(shown)

    def say_imported(self, sentence: str) -> None:
        say(self, sentence)
        self._read()

    def failed(self, error: WorkbenchError) -> None:
        super().failed(error)
        self._pending, loaded = None, self._loaded
        self.say_who()
        if loaded is None or loaded.judged is None:
            self._say(
                self.way_out(loaded) if loaded is not None and loaded.problem is not None else ""
            )
        else:
            self._settings = loaded.settings

    def show_table(self, sheet: Sheet, links: Sequence[Link], at: int, *, instead: bool) -> None:  # noqa: ARG002
        if self._loaded is not None:
            ways = Ways(self.title_bar.place, self.routes, self.SCREENS, again=self.again)
            self.app.push_screen(behind(self._loaded, sheet, links, at, ways))

    def be_about(self, run: Run) -> None:
        settings = self.settings_for(run)
        if settings is None:
            return
        # Of tables about one model at a time, its own.
        self._look = replace(self._look, subject=(run.named,))
        if settings != self._settings:
            self._settings = settings
            # Else it is read when the screen comes up.
            if self._loaded is not None or self._pending is not None:
                self._read()
        elif self._loaded is not None:
            self._go(self._look)

    def settings_for(self, run: Run) -> Any:  # noqa: ARG002
        """Return the settings by which figures are about a run, or have it among them; None: this
        screen has not.
        """
        return None

    def action_templates(self) -> None:
        """Choose the language, the family and the versions of templates that figures are about."""
        screen = TemplatesScreen(offered(self.runs_shown()), self._settings.templates)
        with_answer(self, screen, self._take_templates)

    def action_instrument(self) -> None:
        """Show the next instrument that there are figures of, or could be."""
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

    def say_who(self) -> None:
        """Put into the title whose figures these are: nothing is under way, or the rest of what is
        read.
        """
        self.query_one("#body").styles.opacity = 1.0
        who = f"{len(self.models)} models" if len(self.models) > 1 else "".join(self.models)
        self.title_bar.note = f"{who}; {STILL_READING}" if self._partly else who

    @abstractmethod
    def _paint(self, found: Shown) -> None:
        """Show a table that was made."""

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
        """Judge what the store has; `anew` even where nothing there has changed."""
        same = self._loaded is not None and self._loaded.settings == self._settings
        self._wait(READING if same else self.COUNTING)
        self._pending = self._settings
        self.read_store(self._settings, None if anew else self._loaded)

    def _take(self, loaded: Loaded) -> None:
        before, self._loaded = self._loaded, loaded
        self.say_who()
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

    def _go(self, look: Look) -> None:
        """Show what is looked at, at once where it was made before."""
        if self._loaded is None or self._loaded.judged is None:
            return
        self._look = self.fitted(look)
        self.refresh_bindings()
        if (known := self._found.get(self._look)) is not None:
            self.say_who()
            self._paint(known)
        else:
            self._wait(DRAWING)
            self.work_out(self._loaded, self._look)

    def _wait(self, note: str) -> None:
        """Say what is under way, and dim what stands there from before."""
        self.title_bar.note = note
        self.query_one("#body").styles.opacity = DIMMED  # a class would have all parts styled anew

    def _say(self, text: str | None) -> None:
        """Show a sentence in place of the figures, or the figures."""
        empty = self.query_one("#empty", Static)
        empty.update(in_store(self.app, text or ""))
        empty.set_class(text is not None, "-shown")
        self.query_one("#body").display = text is None

    @worker("answers")
    async def read_store(self, settings: Any, known: Loaded | None) -> None:
        def load(store: Store) -> Loaded:
            loaded = self.judged_now(store, settings, known)
            return loaded if loaded is known else with_plans(store, loaded)

        loaded = await self.with_store(load, leases=self.LEASES)
        self.call_later(self.take, loaded)  # after a part that may be on its way

    @worker("view")
    async def work_out(self, loaded: Loaded, look: Look) -> None:
        self.take_shown(loaded, await to_thread(self.shown_now, loaded, look))

    @worker("import", newest=False)
    async def bring_shipped(self) -> None:
        self.say_imported(await self.with_store(lambda store: import_shipped(store, self.SHIPPED)))


def with_plans(store: Store, loaded: Loaded) -> Loaded:
    """Return figures with what stands first above them where a frozen plan asked for them: whether
    it was followed.
    """
    if loaded.book is None or not loaded.runs:
        return loaded
    from workbench.evidence.plans import header_of_plans

    lines = header_of_plans(store, loaded.runs, lambda run: judged_by(run.audit, loaded.settings))
    rest = tuple(line for line in loaded.book.header if line not in lines)
    return replace(loaded, book=replace(loaded.book, header=(*lines, *rest))) if lines else loaded


def judged_by(audit: str, settings: Any) -> Mapping[str, Any]:
    """Return how figures are judged, by the names of an audit's options: what was chosen on the
    screen, and the defaults of what nobody chose.
    """
    from workbench import registry
    from workbench.options.option import chosen

    values: dict[str, Any] = {}
    for of in (settings, getattr(settings, "rules", None)):
        values |= {one.name: getattr(of, one.name) for one in changed_fields(of)}
    if isinstance(options := values.pop("options", None), Options):
        usual = type(options)()
        chosen_here = {name: getattr(options, name) for name in options.offered()}
        values |= {
            name: value for name, value in chosen_here.items() if value != getattr(usual, name)
        }
    readings = values.pop("readings", USUAL)
    values |= {"without_rulings": not readings.rulings}
    if "readable" in values:
        values["with_unreadable"] = True
    if readings.by is not None:
        values["reader"] = readings.by
    return chosen(registry.audit(audit).judges_by, SimpleNamespace(**values))


def changed_fields(of: Any) -> Iterator[Field[Any]]:
    """Yield the fields of settings that somebody chose otherwise than they are usually."""
    for one in fields(of) if is_dataclass(of) else ():
        usual = one.default_factory() if one.default_factory is not MISSING else one.default
        if getattr(of, one.name) != usual:
            yield one


def flipped(settings: Any) -> Any:
    """Return settings by which rulings count where they did not, or count no more."""
    if (rules := getattr(settings, "rules", None)) is not None:
        return replace(settings, rules=flipped(rules))
    return replace(
        settings, readings=replace(settings.readings, rulings=not settings.readings.rulings)
    )
