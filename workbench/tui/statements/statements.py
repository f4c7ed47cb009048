"""Statements: the list of an instrument, and the place from which all of the workshop starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.getters import query_one
from textual.message import Message
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from workbench.tui.kit.base import StoreScreen
from workbench.tui.kit.editor_dialog import as_person
from workbench.tui.kit.status import say
from workbench.tui.routes import screen
from workbench.tui.rulings.ruling import RulesAndEdits
from workbench.tui.rulings.standing import RuledPlace
from workbench.tui.statements.statement import StatementScreen
from workbench.tui.statements.statements_list import (
    COLUMNS,
    EXPLAIN,
    PAGE,
    Page,
    Query,
    StatementTable,
    empty_text,
    filter_line,
    position,
    read_page,
    read_refs,
)
from workbench.tui.widgets.record_table import RecordTable

if TYPE_CHECKING:
    from textual.timer import Timer

    from stores.core.store import Store
    from workbench.pipeline.editing import Done

SEARCH_AFTER_S = 0.2


class StatementsScreen(RulesAndEdits, StoreScreen):
    """An instrument's statements."""

    CSS_PATH = "statements.tcss"
    PLACE = "statements"
    EXPLAIN = EXPLAIN
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "new", "New", tooltip="Write a new statement, or turn a question into one"),
        Binding("slash", "search", "Find", key_display="/", tooltip="Find in refs, topics, tags and all wordings"),
        Binding("space", "mark", "Mark", key_display="Space", tooltip="Mark this statement, or unmark it"),
        Binding("b", "bulk", "Change", tooltip="Change all marked statements: tags, fields, find and replace, archive"),
        Binding("d", "draft", "Draft", tooltip="Draft variants of the marked statements, with a model or a rule"),
        Binding("F", "forms", "Forms", show=False,
                tooltip="Make forms of the marked multiple-choice questions: changed forms, typos"),
        Binding("P", "go('drafts')", "Drafts", show=False, tooltip="Review the pending drafts"),
        Binding("f", "go('checks')", "Findings", show=False, tooltip="List the findings, and waive them"),
        Binding("g", "go('issue_grid')", "Issues", show=False, tooltip="Label policy issues"),
        Binding("G", "go('issue_gold')", "Gold", show=False,
                tooltip="Policy issues: agreement, gold labels, ties"),
        Binding("y", "go('survey')", "Survey", show=False, tooltip="Answer the statements yourself"),
        Binding("w", "go('export')", "Export", show=False, tooltip="Write the instrument to files"),
        Binding("N", "go('similar')", "Duplicates", show=False,
                tooltip="Find statements with nearly the same text"),
        Binding("A", "go('archived')", "Archived", show=False,
                tooltip="List archived statements, and restore them"),
        Binding("z,u", "undo", "Undo", key_display="z", show=False,
                tooltip="Undo your last change, or take your last ruling back"),
        Binding("I", "new_instrument", "New instrument", show=False, tooltip="Start a new instrument"),
        Binding("asterisk", "mark_all", "Mark all", key_display="*", show=False,
                tooltip="Mark all statements listed, or unmark them"),
        Binding("i", "cycle('issue')", "Issue", show=False, tooltip="Show one policy issue after another"),
        Binding("c", "cycle('country')", "Country", show=False, tooltip="Show one country after another"),
        Binding("T", "cycle('tag')", "Tag", show=False, tooltip="Show one tag after another"),
        Binding("l", "cycle('language')", "Language", show=False, tooltip="Show the next language"),
        Binding("t", "cycle('instrument')", "Instrument", show=False, tooltip="Show the next instrument"),
        Binding("0", "clear", "All", tooltip="Clear search and filters"),
        Binding("escape", "back", "Back", show=False, tooltip="Clear the search; without one, go home"),
    ]  # fmt: skip

    table = query_one("#lines", StatementTable)
    box = query_one("#search", Input)
    filters = query_one("#filters", Static)

    @dataclass
    class Found(Message):
        """A page is there."""

        page: Page
        at: int | None

    @dataclass
    class AllFound(Message):
        """It is known what search and filters leave, on all pages."""

        query: Query
        refs: tuple[str, ...]

    @dataclass
    class Acted(Message):
        """A change is in the store."""

        done: Done

    def __init__(self) -> None:
        super().__init__()
        self._query = Query()
        self._page: Page | None = None
        self._pause: Timer | None = None
        self._marks: dict[str, None] = {}
        "refs, in the order in which they were marked; of this instrument"
        self._wanted: str | None = None
        "a ref that the cursor should go to once it is on the page"

    def compose_body(self) -> ComposeResult:
        yield Static(id="filters", markup=False)
        yield Input(placeholder="find in refs, topics, tags and wordings · Enter to the list · Esc clears",
                    id="search", compact=True)  # fmt: skip
        yield StatementTable(COLUMNS, name="lines")
        yield Static(id="empty", markup=False)

    def on_mount(self) -> None:
        self.box.can_focus = False  # an empty list gives its focus away: not to a box that is not shown
        self.table.focus()

    def on_screen_resume(self) -> None:
        self.look(self._query)
        self.read_standing()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        page = self._page
        if action == "clear":
            return self._query.filtered
        if action == "cycle" and page is not None:
            name = str(parameters[0])
            least = 2 if name in ("language", "instrument") else 1
            return len(page.choices(name)) >= least
        if action in ("bulk", "draft", "mark", "mark_all", "rule"):
            return page is not None and bool(page.lines)
        if action == "forms":
            return page is not None and bool(page.lines) and bool(page.questions)
        if action in ("go", "new", "undo"):
            return page is not None and bool(page.instruments)
        return True

    @on(Found)
    def show_page(self, event: Found) -> None:
        page = event.page
        if replace(page.query, instrument="") != replace(self._query, instrument=""):
            return
        if page.query.instrument != self._query.instrument:
            self._marks.clear()
        for ref in page.gone:
            self._marks.pop(ref, None)
        self._page, self._query = page, page.query
        self.trouble.hide()
        self._show_rows(page, event.at)
        self.title_bar.note = position(page)
        empty = self.query_one("#empty", Static)
        empty.set_class(not page.lines, "-shown")
        empty.update(empty_text(page) if not page.lines else "")
        self.table.display = bool(page.lines)
        if page.lines and not self.box.has_focus:
            self.table.focus()
        self.refresh_bindings()

    @on(StatementTable.Folded)
    def show_filters(self) -> None:
        if self._page is not None:
            self.filters.update(filter_line(self._page, len(self._marks), self.table.folded))

    @on(AllFound)
    def mark_found(self, event: AllFound) -> None:
        """Mark all that is left by the filters; where all of it is marked, unmark it."""
        if event.query != replace(self._query, offset=0):
            return
        if all(ref in self._marks for ref in event.refs):
            for ref in event.refs:
                del self._marks[ref]
        else:
            self._marks |= dict.fromkeys(event.refs)
        self._show_marks()

    @on(Acted)
    def say_done(self, event: Acted) -> None:
        say(self, event.done.sentence)
        if len(event.done.refs) == 1:
            self._wanted = event.done.refs[0]
        self.look(self._query)

    @on(Input.Changed, "#search")
    def search_soon(self, event: Input.Changed) -> None:
        """Search once typing pauses."""
        if self._pause is not None:
            self._pause.stop()
        text = event.value
        self._pause = self.set_timer(SEARCH_AFTER_S, lambda: self.ask(search=text))

    @on(Input.Submitted, "#search")
    def to_list(self) -> None:
        self.ask(search=self.box.value)
        self.table.focus()

    @on(RecordTable.RowSelected)
    def open_row(self) -> None:
        self.action_open()

    @on(RecordTable.EdgePassed)
    def turn_page(self, event: RecordTable.EdgePassed) -> None:
        """Go on to the page below, or back to the one above."""
        if self._page is None:
            return
        offset = self._query.offset + event.direction * PAGE
        if 0 <= offset < self._page.total:
            self._query = replace(self._query, offset=offset)
            self.look(self._query, at=0 if event.direction > 0 else PAGE - 1)

    def action_back(self) -> None:
        """Take away the search; without one, go home."""
        if self.box.has_focus or self.box.value:
            self._hide_search()
            self.ask(search="")
            self.table.focus()
        else:
            self.app.switch_mode("home")

    def ask(self, **changes: str) -> None:
        """Change what is shown; the cursor stays on its statement where that is still there."""
        query = replace(self._query, **changes, offset=0)
        if query != self._query:
            self._query = query
            self.look(query)

    def action_refresh(self) -> None:
        self.look(self._query)

    def ruled_place(self) -> RuledPlace | None:
        """Return the statement under the cursor; its wordings are ruled on where they are shown, one key below."""
        ref = self.table.current
        return RuledPlace((self._query.instrument,), (ref,)) if ref is not None else None

    def show_standing(self) -> None:
        self._show_marks()

    def action_search(self) -> None:
        self.box.add_class("-shown")
        self.box.can_focus = True
        self.box.focus()

    def action_clear(self) -> None:
        self._hide_search()
        self.ask(search="", issue="", country="", tag="")

    def action_cycle(self, name: str) -> None:
        """Go to the next value of a filter; after the last one comes `all` where that makes sense."""
        if self._page is None:
            return
        choices = list(self._page.choices(name))
        if name in ("issue", "country", "tag"):
            choices.insert(0, "")
        if len(choices) < 2:
            return
        now = getattr(self._query, name)
        at = choices.index(now) if now in choices else 0
        changes = {name: choices[(at + 1) % len(choices)]}
        if name == "instrument":
            changes |= {"issue": "", "country": "", "language": "", "tag": ""}
            self._marks.clear()
        self.ask(**changes)

    def action_open(self) -> None:
        if self._page is not None and (ref := self.table.current) is not None:
            screen = StatementScreen(self._query.instrument, ref, self._query.language, self.table.keys)
            self.app.push_screen(screen, self._come_back)

    def action_mark(self) -> None:
        """Mark the statement under the cursor, or unmark it, and go on to the next."""
        if (ref := self.table.current) is not None:
            if self._marks.pop(ref, 0) == 0:
                self._marks[ref] = None
            self._show_marks()
            if self.table.cursor_row < self.table.row_count - 1:
                self.table.show_row(self.table.cursor_row + 1)

    def action_mark_all(self) -> None:
        self.find_all(replace(self._query, offset=0))

    def action_new(self) -> None:
        from workbench.tui.statements.statement_form import StatementForm

        if self._page is not None and self._page.instruments:
            language = self._query.language or self._page.languages[0]
            self.app.push_screen(StatementForm(self._query.instrument, language, self._page.total), self._formed)

    def action_new_instrument(self) -> None:
        from workbench.tui.statements.instrument_form import InstrumentForm

        self.app.push_screen(InstrumentForm(), self._started)

    def action_bulk(self) -> None:
        from workbench.tui.statements.bulk_form import BulkForm

        if refs := self.chosen:
            self.app.push_screen(BulkForm(self._query.instrument, refs), self._formed)

    def action_draft(self) -> None:
        if refs := self.chosen:
            self._show("draft", (self._query.instrument, refs), self._queued)

    def action_forms(self) -> None:
        from workbench.tui.statements.choice_form import ChoiceForm

        if self._page is not None and (refs := self.chosen):
            language = self._query.language or self._page.languages[0]
            self.app.push_screen(ChoiceForm(self._query.instrument, refs, language), self._formed)

    def action_go(self, name: str) -> None:
        """Show another screen about this instrument."""
        self._show(name, (self._query.instrument,), lambda _: None)

    def action_undo(self) -> None:
        instrument = self._query.instrument

        def go(person: str) -> None:
            self.undo_newest(instrument, person)

        as_person(self, instrument, go)

    def undo_edit(self, person: str) -> None:
        from workbench.pipeline.editing import undo

        instrument = self._query.instrument
        self.carry_out(lambda store: undo(store, instrument, person))

    @property
    def chosen(self) -> tuple[str, ...]:
        """What is marked; where nothing is, the statement under the cursor."""
        current = self.table.current
        return tuple(self._marks) or ((current,) if current is not None else ())

    def _hide_search(self) -> None:
        self.box.value = ""
        self.box.remove_class("-shown")
        self.box.can_focus = False

    def _show(self, name: str, arguments: tuple[object, ...], then: Callable[[Any], None]) -> None:
        """Show the screen of a route."""
        self.app.push_screen(screen(name, *arguments), then)

    def _show_rows(self, page: Page, at: int | None) -> None:
        self.table.show_page(page, self._marks, at, self.standing.counts(page.query.instrument))
        self.show_filters()
        if self._wanted in self.table.keys:
            self.table.show_row(self.table.keys.index(self._wanted))
            self._wanted = None

    def _show_marks(self) -> None:
        if self._page is not None:
            self._show_rows(self._page, None)

    def _come_back(self, ref: str | None) -> None:
        if ref in self.table.keys:
            self.table.show_row(self.table.keys.index(ref))
        else:
            self._wanted = ref

    def _formed(self, done: Done | None) -> None:
        if done is not None:
            self.post_message(self.Acted(done))

    def _started(self, done: Done | None) -> None:
        """Show the instrument that was made."""
        if done is not None:
            say(self, done.sentence)
            self._marks.clear()
            self._query = Query(instrument=done.refs[0])
            self.look(self._query)

    def _queued(self, job: int | None) -> None:
        if job is not None:
            say(self, f"Job {job} drafts. P reviews what it brings; 3 shows how far it is.")

    @work(thread=True, exclusive=True, exit_on_error=False, group="look")
    def look(self, query: Query, at: int | None = None) -> None:
        worker = get_current_worker()
        page = read_page(self.store_path, query, tuple(self._marks))
        if not worker.is_cancelled:
            self.post_message(self.Found(page, at))

    @work(thread=True, exclusive=True, exit_on_error=False, group="all")
    def find_all(self, query: Query) -> None:
        self.post_message(self.AllFound(query, read_refs(self.store_path, query)))

    @work(thread=True, exit_on_error=False, group="act")
    def carry_out(self, act: Callable[[Store], Done]) -> None:
        from stores.core.store import Store

        with Store.open(self.store_path) as store:
            self.post_message(self.Acted(act(store)))
