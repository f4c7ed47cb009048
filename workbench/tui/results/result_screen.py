"""The screen of an audit's results: its book, with a key for each of its options.

One class serves all audits. `screen_of` makes a subclass for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
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
    Offer,
    TemplatesScreen,
    heading,
    offered,
    templates_for,
)
from workbench.tui.results.book_screen import BookScreen
from workbench.tui.results.loaded import Comparing, Loaded, Look, Offers, Opened, Route, Settings
from workbench.tui.results.options_dialog import ChoicesScreen, RunsScreen, has_lines, same_run
from workbench.tui.results.plane_picture import PlanePicture
from workbench.tui.results.sheet import Picture

if TYPE_CHECKING:
    from pathlib import Path

    from stores.core.store import Store
    from stores.runs.run_rows import Run
    from workbench.audits.result import Result
    from workbench.evidence.runs import Which

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
    def _versions(self) -> Offer:
        """The available versions of templates. Language and family are chosen with the run."""
        return Offer(versions=offered(self.runs_shown()).versions)

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
                self._go(Look(name))
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

    def judged_now(self, store: Store, settings: Settings, known: Loaded | None) -> Loaded:
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

    def way_out(self, loaded: Loaded) -> str:
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

    def say_who(self) -> None:
        super().say_who()
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
            self.title_bar.note = note + ": M switches" * (
                2 * len(f"{note}: M switches") <= self.size.width
            )

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
    from stores.core.store import Store
    from workbench.evidence.runs import Which

    answered_names = audit.instruments(store)[::-1]  # the one that was answered last is shown first
    instrument_names = (
        *answered_names,
        *(
            instrument
            for instrument in audit.may_be_asked_about(store)
            if instrument not in answered_names
        ),
    )
    if not instrument_names:
        return Loaded(
            settings, empty=f"There is nothing to ask about yet.\n\n{audit.nothing}".rstrip()
        )
    name = (
        settings.instrument
        if settings.instrument in instrument_names
        else ""
        if audit.every_instrument
        else instrument_names[0]
    )
    # Judging writes the readings of rules, so they are left out.
    state = state_of(
        store.connection,
        [store_part for store_part in StoreSection if store_part is not StoreSection.READINGS],
    )
    selection = Which(
        name or None,
        models=settings.models,
        templates=settings.templates,
        fingerprint=settings.fingerprint,
        readings=settings.readings,
    )
    base = Loaded(
        settings, instruments=() if audit.every_instrument else instrument_names, instrument=name
    )
    if audit.each_run and answered_names:
        selection, base = _of_run(store, audit, base, known)
    else:
        base = replace(base, offers=_offers(store, audit, name))
    base = replace(base, rests_on=(selection, state))
    if (
        known is not None
        and known.rests_on == base.rests_on
        and known.problem is None
        and known.judged is not None
    ):
        if known.settings == settings:
            return known
        if (
            known.judged.again is not None
            and (rejudged := known.judged.again(settings.options)) is not None
        ):
            return _with(base, rejudged)
    if not answered_names or (name and name not in answered_names):
        return replace(base, empty=_unanswered(store, audit, name, len(instrument_names)))
    if settings.readings.by is None and (reason := audit.not_yet(store)):
        return replace(base, empty=reason)
    try:
        arguments = (store, selection, settings.options, lambda: Store.open(store.path))
        if part is not None and (known is None or known.judged is None or known.instrument != name):
            partial_result = audit.part(*arguments)
            if partial_result is not None:
                part(_with(replace(base, rests_on=()), partial_result))
        return _with(base, audit.judge(*arguments))
    except WorkbenchError as error:
        return replace(base, problem=error)


def _of_run(store: Store, audit: Audit, base: Loaded, known: Loaded | None) -> tuple[Which, Loaded]:
    """Return the selection of the run to judge, with the other runs that are offered.

    It is the chosen run, else the visible one, else the newest one whose plan was answered, else
    the newest with answers. A run with a persona is taken only if there is no other.
    """
    from workbench.evidence.answered import finished_first
    from workbench.evidence.runs import Which, chosen_of

    settings, template_choice = base.settings, base.settings.templates
    all_runs = store.runs.list(audit.name, versions=dict(template_choice.versions), personas=True)
    wider_choice = replace(
        template_choice,
        families=tuple({stored_run.family for stored_run in all_runs}),
        personas=template_choice.personas or (EVERY,),
    )
    runs = chosen_of(all_runs, wider_choice)
    answered_runs = [candidate for candidate in runs if candidate.responses]
    without_persona = [candidate for candidate in answered_runs if not candidate.persona]
    (newest,) = finished_first(store, without_persona or answered_runs or runs, 1)
    wanted_run = settings.run or next(iter(known.runs if known is not None else ()), None)
    run = next(
        (
            candidate
            for candidate in runs
            if wanted_run is not None and same_run(candidate, wanted_run)
        ),
        newest,
    )
    readings = (
        replace(settings.readings, by=None) if run.sampling.mode == EXACT else settings.readings
    )
    selection = Which(
        templates=TemplateChoice(versions=template_choice.versions), readings=readings
    ).of_each(runs)[runs.index(run)]
    offers = Offers(audit.named(store), (run.model,), runs=runs)
    return selection, replace(
        base, instruments=(), instrument=run.instrument, runs=[run], offers=offers
    )


def _offers(store: Store, audit: Audit, instrument: str) -> Offers:
    """Return the available choices of an audit that has options without a key."""
    if not has_lines(audit):
        return Offers()
    from stores.runs.run_rows import SERVED

    runs = store.runs.list(audit.asked_by, instrument or None)
    has_several_fingerprints = any(
        len(store.runs.fingerprints(run)) > 1 for run in runs if run.backend == SERVED
    )
    return Offers(
        audit.named(store),
        tuple(dict.fromkeys(stored_run.model for stored_run in runs)),
        has_several_fingerprints,
    )


def _unanswered(store: Store, audit: Audit, name: str, there: int) -> str:
    from workbench.audits.chosen_run import audit_for, meant_for

    asked_by = audit_for(audit.name, meant_for(store, [name])) if name else audit.name
    about_text = f" about {visible(name)}" if name else ""
    view_keys = [
        (key, label) for key, (view, label) in audit.keys.items() if name and view in audit.views
    ]
    keys = [f"{key}: {label[:1].lower()}{label[1:]}" for key, label in view_keys]
    keys += [f"i: the next of the store's {there} instruments"] * (there > 1 and bool(name))
    return "\n".join(
        [
            f"No model has answered{about_text} yet.\n",
            f"3 goes to Jobs: n there starts one; choose the audit {asked_by}.",
            f"Or: workbench run STORE --audit {asked_by} --model MODEL",
            *([""] * bool(keys)),
            *keys,
        ]
    )


def _with(base: Loaded, found: Result) -> Loaded:
    from workbench.audits.result import note_count

    runs = list(found.runs.values())
    prompt_settings = heading(runs, families="M") if base.offers.runs else heading(runs)
    fixed_words = filter(None, (base.instrument, *found.words, *prompt_settings, note_count(found)))
    option_words = [*(("", word) for word in fixed_words), *found.options.words(found.steps)]
    book = replace(
        found.book, contents=[entry for entry in found.book.contents if not entry.on_request]
    )
    return replace(
        base,
        book=book,
        judged=found,
        models=found.names,
        runs=runs,
        options=option_words,
        material=found.judged,
    )


def _view(path: str) -> Route:
    """Return the function that opens an audit's own view. Its module is imported on use."""

    def opened(store: Path, loaded: Loaded, subject: Subject) -> Opened | str:
        result: Opened | str = _named(path)(store, loaded, subject)
        return result

    return opened


def _named(path: str) -> Any:
    """Return a function or a class of a module in this folder."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(f"workbench.tui.results.{module}"), name)
