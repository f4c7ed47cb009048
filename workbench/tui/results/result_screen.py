"""The results of any audit: its book, with a key for each of its options. No audit has a screen of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding, BindingType

from workbench import registry
from workbench.audits.audit import Audit
from workbench.domain.prompts import LATEST, TemplateChoice
from workbench.domain.readings import USUAL, Readings
from workbench.errors import WorkbenchError
from workbench.figures.book import Subject
from workbench.figures.visible import visible
from workbench.options.schema import Options
from workbench.tui.kit.template_words import heading, templates_for
from workbench.tui.results.book_screen import BookScreen
from workbench.tui.results.loaded import Comparing, Loaded, Opened, Route

if TYPE_CHECKING:
    from pathlib import Path

    from stores.runs.run_rows import Run
    from workbench.audits.result import Result


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person chose: which answers, and the audit's options."""

    options: Options
    instrument: str = ""
    "empty: the first one with answers, else the first one that could be asked about"
    templates: TemplateChoice = LATEST
    readings: Readings = USUAL


class ResultScreen(BookScreen):
    """The figures of one audit. `screen_of` makes the class of each."""

    AUDIT: ClassVar[Audit]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "whole", "Whole row", show=False, tooltip="Show all details of this row"),
        Binding("I", "import_shipped", "Import", tooltip="Import the shipped instrument"),
    ]
    _settings: Settings

    def __init__(self) -> None:
        audit = self.AUDIT
        assert audit.options is not None, "an audit without results has a screen of its own"
        super().__init__(Settings(audit.options()))
        self.routes = {name: _view(path) for name, path in audit.views.items()}

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "option":
            return self.depends_on(str(parameters[0]))
        if action == "import_shipped":
            return bool(self.SHIPPED) and self._loaded is not None and not self._loaded.instruments
        return super().check_action(action, parameters) if action != "whole" else self._judged is not None

    def action_option(self, name: str) -> None:
        """Go to the next value of an option, around the ends."""
        self._set(replace(self._settings, options=self._settings.options.stepped(name)))

    def action_whole(self) -> None:
        self.view.show_whole()

    def action_refresh(self) -> None:
        self._read(anew=True)

    def judged_now(self, settings: Settings, known: Loaded | None) -> Loaded:
        return load(self.store_path, self.AUDIT, settings, known)

    def explain(self) -> str:
        if self._book is None:
            return self.EXPLAIN
        keys = " · ".join(
            f"{one.key} {one.option.help}" for one in self._settings.options.declared().values() if one.key
        )
        return "\n\n".join(filter(None, (super().explain(), keys, self.EXPLAIN, *self._book.told)))

    def way_out(self, loaded: Loaded) -> str:
        return "i shows the next instrument." * (len(loaded.instruments) > 1)

    def comparable(self) -> Sequence[str]:
        return self.models if self._judged is not None and self._judged.compared is not None else ()

    def comparing(self, names: tuple[str, ...]) -> Comparing:
        compared = self._judged.compared
        return lambda path: compared(names)  # noqa: ARG005  a result reads the store where it has to

    def settings_for(self, run: Run) -> Settings | None:
        if run.audit != self.AUDIT.name:
            return None
        templates = templates_for(run, self._settings.templates)
        return replace(self._settings, instrument=run.instrument, templates=templates)


def screen_of(mode: str) -> ResultScreen:
    """Return the screen of the audit whose place is this mode, with the keys of its options."""
    (audit,) = (one for one in registry.every_audit() if one.place is not None and one.place.mode == mode)
    return screen_class(audit)()


@cache
def screen_class(audit: Audit) -> type[ResultScreen]:
    """Return the class of an audit's screen."""
    assert audit.options is not None, "an audit without results has a screen of its own"
    assert audit.place is not None, "an audit without a place is not in the terminal"
    keyed = [(name, one) for name, one in audit.options.declared().items() if one.key]
    keys = [
        Binding(
            one.key,
            f"option('{name}')",
            one.option.title.capitalize(),
            show=place == 0,
            tooltip=f"Change: {one.option.help}",
        )
        for place, (name, one) in enumerate(keyed)
    ]
    made = {
        "AUDIT": audit,
        "BINDINGS": keys,
        "PLACE": f"results › {audit.place.mode.replace('_', ' ')}",
        "SHIPPED": audit.shipped,
        "EXPLAIN": audit.explain,
    }
    return type(f"{audit.place.mode.title().replace('_', '')}Screen", (ResultScreen,), made)


def load(path: Path, audit: Audit, settings: Settings, known: Loaded | None = None) -> Loaded:
    """Judge what a store has of an audit. Returns `known` itself if nothing has changed."""
    from stores.core.state import Part, state_of
    from stores.core.store import Store
    from workbench.evidence.which import Which

    with Store.open(path) as store:
        answered = audit.instruments(store)[::-1]  # the one that was answered last is shown first
        held = (*answered, *(name for name in audit.may_be_asked_about(store) if name not in answered))
        if not held:
            return Loaded(settings, empty=f"There is nothing to ask about yet.\n\n{audit.nothing}".rstrip())
        name = settings.instrument if settings.instrument in held else held[0]
        # Judging writes the readings of rules, so they are left out.
        state = state_of(store.connection, [part for part in Part if part is not Part.READINGS])
        rests_on = (name, settings.templates, settings.readings, state)
        base = Loaded(settings, instruments=held, instrument=name, rests_on=rests_on)
        if known is not None and known.rests_on == rests_on and known.problem is None and known.judged is not None:
            if known.settings == settings:
                return known
            if known.judged.again is not None:
                return _with(base, known.judged.again(settings.options))
        if name not in answered:
            return replace(base, empty=_unanswered(audit, name))
        try:
            which = Which(name, templates=settings.templates, readings=settings.readings)
            return _with(base, audit.judge(store, which, settings.options, lambda: Store.open(path)))
        except WorkbenchError as error:
            return replace(base, problem=error)


def _unanswered(audit: Audit, name: str) -> str:
    return (
        f"No model has answered about {visible(name)} yet.\n\n3 goes to Jobs: n there starts one; choose the audit "
        f"{audit.name}.\nOr: workbench run STORE --audit {audit.name} --model MODEL"
    )


def _with(base: Loaded, found: Result) -> Loaded:
    from workbench.audits.result import note_count

    runs = list(found.runs.values())
    always = filter(None, (found.instrument.name, *heading(runs), note_count(found)))
    words = [*(("", one) for one in always), *found.options.words()]
    return replace(
        base, book=found.book, judged=found, models=found.names, runs=runs, options=words, material=found.judged
    )


def _view(path: str) -> Route:
    """Return what opens an audit's own view; its module is imported on use."""
    module, _, name = path.rpartition(".")

    def opened(store: Path, loaded: Loaded, subject: Subject) -> Opened | str:
        view: Any = getattr(import_module(f"workbench.tui.results.{module}"), name)
        found: Opened | str = view(store, loaded, subject)
        return found

    return opened
