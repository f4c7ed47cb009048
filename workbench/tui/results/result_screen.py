"""The screen of an audit's results: its book, with a key for each of its options.

One class serves all audits. `screen_of` makes a subclass for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding, BindingType
from textual.worker import get_current_worker

from workbench import registry
from workbench.audits.audit import Audit
from workbench.domain.prompts import TemplateChoice
from workbench.domain.responses import EXACT
from workbench.errors import WorkbenchError
from workbench.figures.book import Subject
from workbench.figures.visible import visible
from workbench.formats.personas import EVERY
from workbench.options.schema import AS_PUBLISHED
from workbench.tui.kit.base import say
from workbench.tui.kit.dialogs import with_answer
from workbench.tui.kit.template_choice import (
    PromptChoices,
    TemplatesScreen,
    heading,
    offer_of,
    templates_for,
)
from workbench.tui.results.book_screen import BookScreen
from workbench.tui.results.loaded import (
    Comparing,
    Loaded,
    Opened,
    Route,
    Settings,
    StoreChoices,
    TableView,
)
from workbench.tui.results.options_dialog import ChoicesScreen, RunsScreen, has_lines, same_run
from workbench.tui.results.plane_picture import PlanePicture
from workbench.tui.results.sheet import Picture

if TYPE_CHECKING:
    from pathlib import Path

    from stores.core.store import Store
    from stores.runs.run_rows import Run
    from workbench.audits.result import Result
    from workbench.evidence.runs import AnswerSelection

TURNS_INSTRUMENT = "i shows the next instrument."


class ResultScreen(BookScreen):
    """The figures of one audit. `screen_of` makes the class of each."""

    AUDIT: ClassVar[Audit]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "whole", "Whole row", show=False, tooltip="Show all details of this row"),
        Binding("I", "import_shipped", "Import", tooltip="Import the shipped instrument"),
        Binding(
            "o",
            "choices",
            "Options",
            tooltip="Choose whose readings count, how answers are judged, and models",
        ),
    ]
    OF_RUN: ClassVar[list[BindingType]] = [
        Binding(
            "e", "statement", "Edit", show=False, tooltip="Open the statement, to read or edit it"
        ),
        Binding(
            "M",
            "runs",
            "Model",
            show=False,
            tooltip="Switch to another model, sampling or instrument",
        ),
    ]
    "keys of an audit with a result for each run"
    PICTURES: ClassVar[Mapping[str, type[Picture]]] = {"plane": PlanePicture}
    _settings: Settings

    def __init__(self) -> None:
        audit = self.AUDIT
        super().__init__(Settings(audit.options()))
        self.routes = {
            name: _view(path) for name, path in audit.views.items() if name not in self.SCREENS
        }

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "option":
            name = str(parameters[0])
            option_names = self.AUDIT.options.published() if name == AS_PUBLISHED.name else (name,)
            return any(map(self.depends_on, option_names)) and self._has_steps(name)
        if action == "import_shipped":
            return bool(self.SHIPPED) and self._loaded is not None and not self._loaded.instruments
        if action == "choices":
            return (
                self._loaded is not None
                and bool(self._loaded.offers.models)
                and has_lines(self.AUDIT)
            )
        if action == "open_view":
            return self._opens(str(parameters[0]))
        if action == "narrow":
            return self.view.offers(str(parameters[0]))
        if action == "runs":
            return self._loaded is not None and len(self._loaded.offers.runs) > 1
        if action == "templates":
            return self._loaded is None or bool(
                self._versions if self.AUDIT.each_run else self.runs_shown()
            )
        return (
            super().check_action(action, parameters)
            if action != "whole"
            else self._judged is not None
        )

    def action_option(self, name: str, step: int = 1) -> None:
        """Go to the next or the previous value of an option, around the ends."""
        available_values = self._judged.steps.get(name, ()) if self._judged is not None else ()
        self._set(
            replace(
                self._settings, options=self._settings.options.stepped(name, step, available_values)
            )
        )

    def _has_steps(self, name: str) -> bool:
        available_values = self._judged.steps.get(name) if self._judged is not None else None
        return available_values is None or len(available_values) > 1

    def action_choices(self) -> None:
        """Let the user choose among the options that have no key."""
        if self._loaded is not None:
            steps = self._judged.steps if self._judged is not None else {}
            dialog = ChoicesScreen(
                self.AUDIT, self._settings, replace(self._loaded.offers, steps=steps)
            )
            with_answer(self, dialog, self._set)

    def action_runs(self) -> None:
        """Let the user choose the run whose answers are judged."""
        if self._loaded is not None:
            dialog = RunsScreen(self._loaded.offers.runs, self._loaded.runs[0])
            with_answer(self, dialog, lambda run: self._set(replace(self._settings, run=run)))

    def action_templates(self) -> None:
        if not self.AUDIT.each_run:
            super().action_templates()
        elif self._loaded is not None:
            with_answer(
                self,
                TemplatesScreen(self._versions, self._settings.templates),
                self._take_templates,
            )

    @property
    def _versions(self) -> PromptChoices:
        """The available versions of templates. Language and family are chosen with the run."""
        return PromptChoices(versions=offer_of(self.runs_shown()).versions)

    def _opens(self, name: str) -> bool:
        """Return whether a key of `Audit.keys` has something to open."""
        if name in self.routes:
            return True
        has_entry = self._book is not None and name in {entry.name for entry in self._book.contents}
        return has_entry and (
            self._entry is None or self._entry.name != name or len(self._entry.subjects) > 1
        )

    def action_open_view(self, name: str) -> None:
        """Open the view or the table of a key of `Audit.keys`."""
        if name not in self.routes:
            if self._entry is not None and self._entry.name == name:
                self.turn_to(1)
            else:
                self._go(TableView(name))
            return
        opened_screen = self.routes[name](
            self.store_path, self._loaded or Loaded(self._settings), ()
        )
        if isinstance(opened_screen, str):
            say(self, opened_screen, warns=True)
        else:
            self.app.push_screen(opened_screen())

    def action_narrow(self, column: str) -> None:
        """Show only the rows with the next value of a column.

        After the last value, show all rows.
        """
        self.view.narrow(column)

    def action_whole(self) -> None:
        self.view.show_whole()

    def action_refresh(self) -> None:
        self._read(anew=True)

    def judge(self, store: Store, settings: Settings, known: Loaded | None) -> Loaded:
        worker = get_current_worker()

        def show_part(loaded: Loaded) -> None:
            if not worker.is_cancelled:
                self.call_later(self.take, loaded, whole=False)

        return load(store, self.AUDIT, settings, known, show_part)

    def _set(self, settings: Settings) -> None:
        super()._set(self._fitting(settings))

    def _fitting(self, settings: Settings) -> Settings:
        """Return settings with default values of the options that take their values from a result.

        If only options or readings differ from the current settings, return them unchanged.
        """
        same_otherwise = replace(
            settings, options=self._settings.options, readings=self._settings.readings
        )
        if self._judged is None or same_otherwise == self._settings:
            return settings
        return replace(settings, options=settings.options.usual(self._judged.steps))

    def explain(self) -> str:
        if self._book is None:
            return self.EXPLAIN
        keys = " · ".join(
            f"{field.key} {field.option.help}"
            for field in self._settings.options.offered().values()
            if field.key
        )
        return "\n\n".join(filter(None, (super().explain(), keys, self.EXPLAIN, *self._book.told)))

    def alternatives_hint(self, loaded: Loaded) -> str:
        hints = (
            (has_lines(self.AUDIT), "o changes the options."),
            (len(loaded.instruments) > 1, TURNS_INSTRUMENT),
        )
        return " ".join(hint for is_possible, hint in hints if is_possible)

    def comparable(self) -> Sequence[str]:
        return tuple(self._judged.comparable) if self._judged is not None else ()

    def comparing(self, names: tuple[str, ...]) -> Comparing:
        from workbench.audits.result import put_beside

        return partial(put_beside, self._judged, names)

    def show_title_note(self) -> None:
        super().show_title_note()
        runs = (
            self._loaded.offers.runs
            if self._loaded is not None and self._judged is not None
            else ()
        )
        if len(runs) > 1:
            visible_run = self.runs_shown()[0]  # answers may have come since the others were listed
            run_number = next(
                (number for number, run in enumerate(runs, 1) if same_run(run, visible_run)),
                len(runs),
            )
            note = f"{self.title_bar.note} · run {run_number} of {len(runs)}"
            note_with_key = f"{note}: M switches"
            has_room = 2 * len(note_with_key) <= self.size.width
            self.title_bar.note = note_with_key if has_room else note

    def settings_for(self, run: Run) -> Settings | None:
        if run.audit != self.AUDIT.asked_by:
            return None
        current_settings = self._settings
        if self.AUDIT.each_run:
            return self._fitting(replace(current_settings, run=run))
        return self._fitting(
            replace(
                current_settings,
                instrument="" if self.AUDIT.every_instrument else run.instrument,
                models=current_settings.models if run.named in current_settings.models else (),
                templates=templates_for(run, current_settings.templates),
            )
        )


def screen_of(mode: str) -> ResultScreen:
    """Return the screen of the audit whose place has a mode, with the keys of its options."""
    (audit,) = (
        candidate
        for candidate in registry.every_audit()
        if candidate.place is not None and candidate.place.mode == mode
    )
    return screen_class(audit)()


@cache
def screen_class(audit: Audit) -> type[ResultScreen]:
    """Return the class of an audit's screen."""
    assert audit.place is not None, "an audit without a place is not in the terminal"
    fields_with_key = [
        (name, option_field)
        for name, option_field in audit.options.offered().items()
        if option_field.key
    ]
    keys = [
        Binding(
            option_field.key,
            f"option('{name}')",
            option_field.option.title.capitalize(),
            show=index == 0,
            tooltip=f"Change: {option_field.option.help}",
        )
        for index, (name, option_field) in enumerate(fields_with_key)
    ]
    keys += [
        Binding(
            option_field.back,
            f"option('{name}', -1)",
            f"Previous {option_field.option.title}",
            show=False,
            tooltip=f"Show the previous {option_field.option.title}",
        )
        for name, option_field in fields_with_key
        if option_field.back
    ]
    views = [
        Binding(key, f"open_view('{name}')", label, tooltip=f"Open: {label[:1].lower()}{label[1:]}")
        for key, (name, label) in audit.keys.items()
    ]
    filters = [
        Binding(key, f"narrow('{name}')", label, tooltip=f"Show one {label.lower()} after another")
        for key, (name, label) in audit.filters.items()
    ]
    attributes = {
        "__module__": __name__,
        "AUDIT": audit,
        "BINDINGS": [*keys, *views, *filters, *(ResultScreen.OF_RUN if audit.each_run else ())],
        "SCREENS": {
            name: _named(path)
            for name, path in audit.views.items()
            if path.rpartition(".")[2][:1].isupper()
        },
        "PLACE": " › ".join(dict.fromkeys(("results", audit.place.mode.replace("_", " ")))),
        "SHIPPED": audit.shipped,
        "EXPLAIN": audit.explain,
    }
    return type(f"{audit.place.mode.title().replace('_', '')}Screen", (ResultScreen,), attributes)


@dataclass(frozen=True, slots=True)
class _Instruments:
    """The instruments of an audit, and the one to judge."""

    answered: Sequence[str]
    "instruments with answers, the one that was answered last first"
    available: tuple[str, ...]
    "these, and then those that could be asked about"
    name: str
    "instrument to judge, or empty for all together"

    @property
    def has_answers(self) -> bool:
        """Whether there are answers about the instrument to judge."""
        return bool(self.answered) and (not self.name or self.name in self.answered)


def load(
    store: Store,
    audit: Audit,
    settings: Settings,
    known: Loaded | None = None,
    part: Callable[[Loaded], None] | None = None,
) -> Loaded:
    """Judge the stored answers of an audit. Returns `known` itself if nothing has changed.

    If nothing of this instrument is known and reading all of it takes long, `part` is called first
    with a quick partial result.
    """
    from stores.core.contents import StoreSection, state_of

    instruments = _instruments(store, audit, settings)
    if not instruments.available:
        message = f"There is nothing to ask about yet.\n\n{audit.nothing}".rstrip()
        return Loaded(settings, empty=message)
    # Judging writes the readings of rules, so they are left out.
    state = state_of(
        store.connection,
        [store_part for store_part in StoreSection if store_part is not StoreSection.READINGS],
    )
    selection, base = _selection(store, audit, settings, instruments, known)
    base = replace(base, rests_on=(selection, state))
    if known is not None and _rests_on_the_same(known, base):
        if known.settings == settings:
            return known
        rejudged = _rejudged(known, settings)
        if rejudged is not None:
            return _with_result(base, rejudged)
    if reason := _empty_reason(store, audit, settings, instruments):
        return replace(base, empty=reason)
    shows_part = known is None or known.judged is None or known.instrument != instruments.name
    try:
        return _judge(store, audit, selection, base, part if shows_part else None)
    except WorkbenchError as error:
        return replace(base, problem=error)


def _instruments(store: Store, audit: Audit, settings: Settings) -> _Instruments:
    """Return the instruments that an audit can judge or be asked about, and the wanted one."""
    answered = audit.instruments(store)[::-1]
    unanswered = [name for name in audit.may_be_asked_about(store) if name not in answered]
    available = (*answered, *unanswered)
    if settings.instrument in available:
        return _Instruments(answered, available, settings.instrument)
    if audit.every_instrument or not available:
        return _Instruments(answered, available, "")
    return _Instruments(answered, available, available[0])


def _selection(
    store: Store,
    audit: Audit,
    settings: Settings,
    instruments: _Instruments,
    known: Loaded | None,
) -> tuple[AnswerSelection, Loaded]:
    """Return the selection of answers to judge, and the result without its figures."""
    from workbench.evidence.runs import AnswerSelection

    available = () if audit.every_instrument else instruments.available
    base = Loaded(settings, instruments=available, instrument=instruments.name)
    if audit.each_run and instruments.answered:
        return _select_run(store, audit, base, known)
    selection = AnswerSelection(
        instruments.name or None,
        models=settings.models,
        templates=settings.templates,
        fingerprint=settings.fingerprint,
        readings=settings.readings,
    )
    return selection, replace(base, offers=_offers(store, audit, instruments.name))


def _rests_on_the_same(known: Loaded, base: Loaded) -> bool:
    """Return whether a known result was judged without an error, from the same data."""
    return known.rests_on == base.rests_on and known.problem is None and known.judged is not None


def _rejudged(known: Loaded, settings: Settings) -> Result | None:
    """Return a known result under other options, or None if all has to be judged again."""
    if known.judged.again is None:
        return None
    rejudged: Result | None = known.judged.again(settings.options)
    return rejudged


def _empty_reason(store: Store, audit: Audit, settings: Settings, instruments: _Instruments) -> str:
    """Return why there is nothing to judge, or an empty string if there is something."""
    if not instruments.has_answers:
        return _unanswered(store, audit, instruments.name, len(instruments.available))
    return audit.not_yet(store) if settings.readings.by is None else ""


def _judge(
    store: Store,
    audit: Audit,
    selection: AnswerSelection,
    base: Loaded,
    part: Callable[[Loaded], None] | None,
) -> Loaded:
    """Judge a selection of answers. `part` is called first with any quick partial result."""
    from stores.core.store import Store

    options = base.settings.options

    def open_store() -> Store:
        return Store.open(store.path)

    if part is not None:
        partial_result = audit.part(store, selection, options, open_store)
        if partial_result is not None:
            part(_with_result(replace(base, rests_on=()), partial_result))
    return _with_result(base, audit.judge(store, selection, options, open_store))


def _select_run(
    store: Store, audit: Audit, base: Loaded, known: Loaded | None
) -> tuple[AnswerSelection, Loaded]:
    """Return the selection of the run to judge, with the other runs that are offered.

    It is the chosen run, else the visible one, else the newest one whose plan was answered, else
    the newest with answers. A run with a persona is taken only if there is no other.
    """
    from workbench.evidence.runs import AnswerSelection

    settings, versions = base.settings, base.settings.templates.versions
    runs = _judgeable_runs(store, audit, settings.templates)
    run = _wanted_run(runs, settings, known)
    if run is None:
        run = _newest_run(store, runs)
    readings = settings.readings
    if run.sampling.mode == EXACT:
        readings = replace(readings, by=None)
    selections = AnswerSelection(
        templates=TemplateChoice(versions=versions), readings=readings
    ).for_each_run(runs)
    offers = StoreChoices(audit.named(store), (run.model,), runs=runs)
    base = replace(base, instruments=(), instrument=run.instrument, runs=[run], offers=offers)
    return selections[runs.index(run)], base


def _judgeable_runs(store: Store, audit: Audit, templates: TemplateChoice) -> Sequence[Run]:
    """Return the runs of an audit under all families of templates and, by default, all personas."""
    from workbench.evidence.runs import select_runs

    runs = store.runs.list(audit.name, versions=dict(templates.versions), personas=True)
    families = tuple({run.family for run in runs})
    personas = templates.personas or (EVERY,)
    return select_runs(runs, replace(templates, families=families, personas=personas))


def _wanted_run(runs: Sequence[Run], settings: Settings, known: Loaded | None) -> Run | None:
    """Return the chosen run, else the visible one, or None if it is not among the runs."""
    wanted_run = settings.run
    if wanted_run is None and known is not None and known.runs:
        wanted_run = known.runs[0]
    if wanted_run is None:
        return None
    return next((run for run in runs if same_run(run, wanted_run)), None)


def _newest_run(store: Store, runs: Sequence[Run]) -> Run:
    """Return the newest run with an answered plan, else with answers, else of all runs."""
    from workbench.evidence.answered import finished_first

    answered_runs = [run for run in runs if run.responses]
    without_persona = [run for run in answered_runs if not run.persona]
    (newest,) = finished_first(store, without_persona or answered_runs or runs, 1)
    return newest


def _offers(store: Store, audit: Audit, instrument: str) -> StoreChoices:
    """Return the available choices of an audit that has options without a key."""
    if not has_lines(audit):
        return StoreChoices()
    from stores.runs.run_rows import SERVED

    runs = store.runs.list(audit.asked_by, instrument or None)
    has_several_fingerprints = any(
        len(store.runs.fingerprints(run)) > 1 for run in runs if run.backend == SERVED
    )
    return StoreChoices(
        audit.named(store),
        tuple(dict.fromkeys(stored_run.model for stored_run in runs)),
        has_several_fingerprints,
    )


def _unanswered(store: Store, audit: Audit, name: str, n_instruments: int) -> str:
    """Return the message that no model has answered about an instrument, with the next steps."""
    from workbench.audits.chosen_run import audit_for, meant_for

    asked_by = audit_for(audit.name, meant_for(store, [name])) if name else audit.name
    about_text = f" about {visible(name)}" if name else ""
    lines = [
        f"No model has answered{about_text} yet.\n",
        f"3 goes to Jobs: n there starts one; choose the audit {asked_by}.",
        f"Or: workbench run STORE --audit {asked_by} --model MODEL",
    ]
    key_lines = _other_ways(audit, n_instruments) if name else []
    if key_lines:
        lines += ["", *key_lines]
    return "\n".join(lines)


def _other_ways(audit: Audit, n_instruments: int) -> list[str]:
    """Return a line for each key that leads on from an instrument without answers."""
    lines = [
        f"{key}: {label[:1].lower()}{label[1:]}"
        for key, (view, label) in audit.keys.items()
        if view in audit.views
    ]
    if n_instruments > 1:
        lines.append(f"i: the next of the store's {n_instruments} instruments")
    return lines


def _with_result(base: Loaded, result: Result) -> Loaded:
    """Return the data of a screen with a result and its book."""
    from workbench.audits.result import note_count

    runs = list(result.runs.values())
    prompt_settings = heading(runs, families="M") if base.offers.runs else heading(runs)
    fixed_texts = (base.instrument, *result.words, *prompt_settings, note_count(result))
    option_texts = [("", text) for text in fixed_texts if text]
    option_texts += result.options.words(result.steps)
    contents = [entry for entry in result.book.contents if not entry.on_request]
    return replace(
        base,
        book=replace(result.book, contents=contents),
        judged=result,
        models=result.names,
        runs=runs,
        options=option_texts,
        source=result.judged,
    )


def _view(path: str) -> Route:
    """Return the function that opens an audit's own view. Its module is imported on use."""

    def open_view(store: Path, loaded: Loaded, subject: Subject) -> Opened | str:
        opened: Opened | str = _named(path)(store, loaded, subject)
        return opened

    return open_view


def _named(path: str) -> Any:
    """Return a function or a class of a module in this folder."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(f"workbench.tui.results.{module}"), name)
