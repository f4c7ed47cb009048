"""Audit: which statements a model answers reliably, which not, and why. From here Enter leads down to the responses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.getters import query_one
from textual.message import Message
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from workbench.domain.prompts import TemplateChoice
from workbench.errors import WorkbenchError
from workbench.tui.kit.base import StoreScreen
from workbench.tui.kit.template_choice import TEMPLATES_KEY, TemplatesScreen
from workbench.tui.kit.template_words import Offer, has_choice, offered
from workbench.tui.results.audit_format import (
    explain_items,
    filter_line,
    footnotes,
    head,
    item_columns,
    item_record,
    ref_width,
    undefined_reasons,
)
from workbench.tui.results.audit_options import OptionsScreen, RunsScreen
from workbench.tui.results.audit_statement import AuditedStatementScreen
from workbench.tui.results.audit_view import FAILED, VOID, Filter, ItemLine, Judged, Settings, load
from workbench.tui.results.run_agreement import RunAgreementScreen
from workbench.tui.widgets.fluid_table import FluidTable
from workbench.tui.widgets.record_table import Column, Record, RecordTable

if TYPE_CHECKING:
    from stores.runs.run_rows import Run

JUDGING = "Reading and judging the answers …"
NO_ANSWERS = "No answers yet.\n\n3 goes to Jobs: n there starts one. Verdicts stand here as soon as there are answers."
NO_MATCH = "No statement matches.\n\nz takes all filters away."


class AuditScreen(StoreScreen):
    """Items by tests, for one run."""

    CSS_PATH = "audit.tcss"
    PLACE = "audit"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "failed(1)", "Failed", tooltip="Show what failed: any test, each test, too few readable, void"),
        Binding("X", "failed(-1)", "Failed test before", show=False),
        Binding("t", "cycle('template')", "Template", tooltip="Judge under one template after another"),
        Binding("i", "cycle('issue')", "Issue", tooltip="Show one policy issue after another"),
        Binding("c", "cycle('country')", "Country", show=False, tooltip="Show one country after another"),
        Binding("slash", "find", "Find", key_display="/", tooltip="Find in ids and statements"),
        Binding("a", "agreement", "Kappas", tooltip="Show κ and α over statements and templates"),
        Binding("o", "options", "Rules", tooltip="Choose reader, rule, minimum, which tests count, and void tests"),
        Binding("m", "runs", "Model", show=False, tooltip="Switch to another model, sampling or instrument"),
        TEMPLATES_KEY,
        Binding("z", "all", "All", show=False, tooltip="Take all filters away"),
        Binding("r", "refresh", "Reload", show=False, tooltip="Read the store again"),
        Binding("escape", "back", "Back", show=False),
    ]

    table = query_one("#items", FluidTable)
    box = query_one("#find", Input)

    @dataclass
    class WasJudged(Message):
        """Verdicts are there; None: the store has no answers."""

        judged: Judged | None

    def __init__(self) -> None:
        super().__init__()
        self._judged: Judged | None = None
        self._settings = Settings()
        self._run: Run | None = None
        self._filter = Filter()
        self._shown: tuple[ItemLine, ...] = ()
        self._pending: tuple[Run | None, Settings] | None = None
        self._beside = False
        "whether the table has the column of an exact run"

    def compose_body(self) -> ComposeResult:
        yield Static(id="head", markup=False)
        yield Static(id="filters", markup=False)
        yield Input(placeholder="find in ids and statements · Enter to the list · Esc clears", id="find", compact=True)
        yield FluidTable(self._columns, name="items", marks_columns=True)
        yield Static(JUDGING, id="empty", markup=False, classes="-shown")
        yield Static(id="footnotes", markup=False)

    def on_mount(self) -> None:
        self.table.focus()
        self.table.display = False

    def on_screen_resume(self) -> None:
        if self._pending != (self._run, self._settings):
            self._look(self._judged)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        judged = self._judged
        if action == "all":
            return self._filter.narrows or bool(self._filter.template)
        if action == "runs":
            return judged is not None and len(judged.runs) > 1
        if action == "templates":
            return judged is not None and has_choice(self._versions(judged))
        if action == "cycle" and judged is not None:
            return len(self._choices(judged, str(parameters[0]))) > 1
        return judged is not None or action not in ("failed", "cycle", "find", "agreement")

    @on(WasJudged)
    def show_verdicts(self, event: WasJudged) -> None:
        self._pending = None
        self.trouble.hide()
        judged, known = event.judged, self._judged
        self._judged = judged
        if judged is None:
            self._say(NO_ANSWERS)
        else:
            self._run, self._settings = judged.run, judged.settings
            if known is None or judged.run.instrument != known.run.instrument or judged.templates != known.templates:
                self._filter = replace(self._filter, template="", issue="", country="")
            self.query_one("#head", Static).update(head(judged))
            runs = judged.runs
            self.title_bar.note = (
                f"run {runs.index(judged.run) + 1} of {len(runs)}: m switches" if len(runs) > 1 else ""
            )
            self._show()
        self.refresh_bindings()

    def failed(self, error: WorkbenchError) -> None:
        super().failed(error)
        self._pending = None
        if self._judged is None:
            self._say("")
        else:
            self._settings, self._run = self._judged.settings, self._judged.run
            self._show()

    def explain(self) -> str:
        at = self.table.current
        line = next((line for line in self._shown if line.ref == at), None)
        exact = self._judged is not None and self._judged.exact is not None
        return explain_items(self.table.column, line, undefined_reasons(self._shown), exact=exact)

    @on(Input.Changed, "#find")
    def find_now(self, event: Input.Changed) -> None:
        self._narrow(find=event.value.strip())

    @on(Input.Submitted, "#find")
    def to_list(self) -> None:
        self.table.focus()

    @on(RecordTable.RowSelected, "#items")
    def open_statement(self) -> None:
        if self._judged is not None and (ref := self.table.current) is not None:
            screen = AuditedStatementScreen(self._judged, ref, self._filter.template or self._judged.templates[0])
            self.app.push_screen(screen)

    def action_failed(self, step: int) -> None:
        """Go to the next, or the previous, kind of failure."""
        void = self._filter.failed == VOID or (self._judged is not None and self._judged.has_void)
        kinds = [kind for kind in FAILED if kind != VOID or void]
        self._narrow(failed=kinds[(kinds.index(self._filter.failed) + step) % len(kinds)])

    def action_cycle(self, name: str) -> None:
        """Go to the next value of a filter; after the last one come all."""
        if self._judged is not None:
            choices = self._choices(self._judged, name)
            self._narrow(**{name: choices[(choices.index(getattr(self._filter, name)) + 1) % len(choices)]})

    def action_find(self) -> None:
        self.box.add_class("-shown")
        self.box.focus()

    def action_all(self) -> None:
        self._close_box()
        self._narrow(failed="", issue="", country="", template="", find="")

    async def action_back(self) -> None:
        """Close the search; else go home."""
        if self.box.has_focus or self.box.value:
            self._close_box()
        else:
            await self.app.run_action("back")

    def action_refresh(self) -> None:
        self._look()

    def action_agreement(self) -> None:
        if self._judged is not None:
            self.app.push_screen(RunAgreementScreen(self._judged))

    def action_options(self) -> None:
        planned = self._judged.report.counts.sizes if self._judged else None
        exact = self._judged is not None and self._judged.exact is not None
        self.app.push_screen(OptionsScreen(self._settings, planned, exact=exact), self._take_settings)

    def action_runs(self) -> None:
        if self._judged is not None:
            self.app.push_screen(RunsScreen(self._judged.runs, self._judged.run), self._take_run)

    def action_templates(self) -> None:
        if (judged := self._judged) is not None:
            screen = TemplatesScreen(self._versions(judged), self._settings.templates)
            self.app.push_screen(screen, self._take_templates)

    def _take_templates(self, choice: TemplateChoice | None) -> None:
        if choice is not None:
            self._take_settings(replace(self._settings, templates=choice))

    @staticmethod
    def _versions(judged: Judged) -> Offer:
        """Return the versions that may be chosen; a family is chosen with the run."""
        return (), offered([judged.run])[1]

    def _take_settings(self, settings: Settings | None) -> None:
        if settings is not None and settings != self._settings:
            self._settings = settings
            self._say(JUDGING)
            self._look()

    def _take_run(self, run: Run | None) -> None:
        if run is not None and run != self._run:
            self._run = run
            self._say(JUDGING)
            self._look()

    def _look(self, known: Judged | None = None) -> None:
        self._pending = (self._run, self._settings)
        self.judge(self._run, self._settings, known)

    def _narrow(self, **changes: str) -> None:
        found = replace(self._filter, **changes)
        if found != self._filter:
            self._filter = found
            self._show()
            self.refresh_bindings()

    def _close_box(self) -> None:
        self.box.value = ""
        self.box.remove_class("-shown")
        self.table.focus()

    def _show(self) -> None:
        judged = self._judged
        if judged is None:
            return
        self._shown = tuple(line for line in judged.lines[self._filter.template] if self._filter.admits(line))
        self.query_one("#filters", Static).update(filter_line(judged, self._filter, len(self._shown)))
        notes = undefined_reasons(self._shown)
        old = sum(line.ref in judged.outdated for line in self._shown)
        self.query_one("#footnotes", Static).update(footnotes(notes, old))
        if not self._shown:
            self._say(NO_MATCH)
            return
        self._say(None)
        if self._beside != (judged.exact is not None):
            self._beside = not self._beside
            self.table.lay_out_again()
        self.table.show_for_width(self._records)

    def _records(self, width: int) -> list[Record]:
        notes, refs = undefined_reasons(self._shown), self._ref_width()
        old = self._judged.outdated if self._judged else {}
        return [item_record(line, width, notes, refs, old) for line in self._shown]

    def _columns(self, width: int) -> tuple[Column, ...]:
        exact = self._judged.exact if self._judged else None
        return item_columns(width, self._ref_width(), exact.exact.samples if exact else 0)

    def _ref_width(self) -> int:
        return ref_width(self._judged.lines[""]) if self._judged else 8

    def _say(self, text: str | None) -> None:
        """Show a sentence in place of the table, or the table."""
        empty = self.query_one("#empty", Static)
        empty.update(text or "")
        empty.set_class(text is not None, "-shown")
        self.table.display = text is None
        if text is None and self.focused is None:
            self.table.focus()

    @staticmethod
    def _choices(judged: Judged, name: str) -> tuple[str, ...]:
        if name == "template":
            return ("", *judged.templates) if len(judged.templates) > 1 else ("",)
        return ("", *(judged.issues if name == "issue" else judged.countries))

    @work(thread=True, exclusive=True, exit_on_error=False, group="judge", description="")
    def judge(self, run: Run | None, settings: Settings, known: Judged | None = None) -> None:
        worker = get_current_worker()
        judged = load(self.store_path, run, settings, known=known)
        if not worker.is_cancelled:
            self.post_message(self.WasJudged(judged))
