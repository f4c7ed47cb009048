"""Statements: the list of an instrument, a page at a time from the store, searched and filtered there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from workbench.tui.format import issue_sign, literal, visible
from workbench.tui.screens.base import StoreScreen
from workbench.tui.screens.statement import StatementScreen
from workbench.tui.widgets.record_table import Column, Record, RecordTable

if TYPE_CHECKING:
    from textual.timer import Timer

    from stores.instruments import StatementLine

PAGE = 200
SEARCH_AFTER_S = 0.2
CELL_CHARACTERS = 400
"of a text that a list shows: wider than any terminal, and 100 kB of model text costs nothing"

EXPLAIN = """w        wordings in this language: the original and its variants
l        languages that it stands in
issues   + agreeing with the statement supports the policy issue,
         − agreeing opposes it. Issues that it is not related to are
         left out. (In terminals of 100 columns and more.)

The list is read from the store a page at a time. Going past the last
row brings the next page. / searches refs, topics and every wording,
also those in other languages."""


@dataclass(frozen=True, slots=True)
class Query:
    """What the list shows."""

    instrument: str = ""
    search: str = ""
    issue: str = ""
    country: str = ""
    language: str = ""
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Page:
    """What the store has for a query, and what one may filter by."""

    query: Query
    lines: tuple[StatementLine, ...]
    total: int
    instruments: tuple[str, ...]
    issues: tuple[str, ...]
    countries: tuple[str, ...]
    languages: tuple[str, ...]


class StatementsScreen(StoreScreen):
    """An instrument's statements."""

    CSS_PATH = "statements.tcss"
    PLACE = "statements"
    EXPLAIN = EXPLAIN
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "Find", key_display="/", tooltip="Find in refs, topics and all wordings"),
        Binding("i", "cycle('issue')", "Issue", tooltip="Show one policy issue after another"),
        Binding("c", "cycle('country')", "Country", tooltip="Show one country after another"),
        Binding("l", "cycle('language')", "Language", tooltip="Show the next language"),
        Binding("t", "cycle('instrument')", "Instrument", tooltip="Show the next instrument"),
        Binding("x", "clear", "All", tooltip="Take away search and filters"),
        Binding("escape", "back", "Back", show=False, tooltip="Take away the search; without one, go home"),
    ]

    table = query_one("#lines", RecordTable)
    box = query_one("#search", Input)
    filters = query_one("#filters", Static)

    @dataclass
    class Found(Message):
        """A page is there."""

        page: Page
        at: int | None

    def __init__(self) -> None:
        super().__init__()
        self._query = Query()
        self._page: Page | None = None
        self._pause: Timer | None = None

    def compose_body(self) -> ComposeResult:
        yield Static(id="filters", markup=False)
        yield Input(placeholder="find in refs, topics and wordings · Enter to the list · Esc clears", id="search",
                    compact=True)  # fmt: skip
        yield RecordTable(
            [
                Column("ref", "id", 12),
                Column("text", "statement", None),
                Column("country", "land", 4, least=100),
                Column("issues", "issues", 30, least=100),
                Column("variants", "w", 2),
                Column("languages", "l", 2),
            ],
            name="lines",
        )
        yield Static(id="empty", markup=False)

    def on_mount(self) -> None:
        self.table.focus()

    def on_screen_resume(self) -> None:
        self.look(self._query)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "clear":
            return self._filtered(self._query)
        if action == "cycle" and self._page is not None:
            name = str(parameters[0])
            least = 2 if name in ("language", "instrument") else 1
            return len(self._choices(self._page, name)) >= least
        return True

    @on(Found)
    def show_page(self, event: Found) -> None:
        page = event.page
        if replace(page.query, instrument="") != replace(self._query, instrument=""):
            return
        self._page, self._query = page, page.query
        self.trouble.hide()
        self.table.show([_record(line) for line in page.lines], at=event.at)
        self.title_bar.note = _position(page)
        self.filters.update(_filters(page))
        self._say_empty(page)
        self.refresh_bindings()

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
            self.box.value = ""
            self.box.remove_class("-shown")
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

    def action_search(self) -> None:
        self.box.add_class("-shown")
        self.box.focus()

    def action_clear(self) -> None:
        self.box.value = ""
        self.box.remove_class("-shown")
        self.ask(search="", issue="", country="")

    def action_cycle(self, name: str) -> None:
        """Go to the next value of a filter; after the last one comes `all` where that makes sense."""
        if self._page is None:
            return
        choices = list(self._choices(self._page, name))
        if name in ("issue", "country"):
            choices.insert(0, "")
        if len(choices) < 2:
            return
        now = getattr(self._query, name)
        at = choices.index(now) if now in choices else 0
        changes = {name: choices[(at + 1) % len(choices)]}
        if name == "instrument":
            changes |= {"issue": "", "country": "", "language": ""}
        self.ask(**changes)

    def action_open(self) -> None:
        if self._page is not None and (ref := self.table.current) is not None:
            screen = StatementScreen(self._query.instrument, ref, self._query.language, self.table.keys)
            self.app.push_screen(screen, self._come_back)

    def _come_back(self, ref: str | None) -> None:
        if ref in self.table.keys:
            self.table.show_row(self.table.keys.index(ref))

    @staticmethod
    def _choices(page: Page, name: str) -> tuple[str, ...]:
        return {
            "issue": page.issues,
            "country": page.countries,
            "language": page.languages,
            "instrument": page.instruments,
        }[name]

    @staticmethod
    def _filtered(query: Query) -> bool:
        return bool(query.search or query.issue or query.country)

    def _say_empty(self, page: Page) -> None:
        empty = self.query_one("#empty", Static)
        empty.set_class(not page.lines, "-shown")
        self.table.display = bool(page.lines)
        if not page.instruments:
            empty.update("The store holds no instrument yet.\n\nh goes home: i there imports the shipped one.")
        elif self._filtered(page.query):
            empty.update("No statement matches.\n\nx takes search and filters away.")
        else:
            empty.update("This instrument has no statements.")

    @work(thread=True, exclusive=True, exit_on_error=False, group="look")
    def look(self, query: Query, at: int | None = None) -> None:
        worker = get_current_worker()
        page = read_page(self.store_path, query)
        if not worker.is_cancelled:
            self.post_message(self.Found(page, at))


def read_page(path: object, query: Query) -> Page:
    """Read a page of the list, and what it may be filtered by."""
    from pathlib import Path

    from stores.store import Store

    with Store.open(Path(str(path))) as store:
        summaries = {summary.name: summary for summary in store.instruments.summaries()}
        if not summaries:
            return Page(query, (), 0, (), (), (), ())
        name = query.instrument if query.instrument in summaries else next(iter(summaries))
        query = replace(query, instrument=name, language=query.language)
        chosen = {"search": query.search, "issue": query.issue, "country": query.country, "language": query.language}
        lines = store.instruments.lines(name, **chosen, offset=query.offset, limit=PAGE)
        main = summaries[name].language
        others = tuple(language for language in summaries[name].languages if language != main)
        return Page(
            query=query,
            lines=lines,
            total=store.instruments.count(name, **chosen),
            instruments=tuple(summaries),
            issues=store.instruments.issues(name),
            countries=store.instruments.countries(name),
            languages=(main, *others),
        )


def _record(line: StatementLine) -> Record:
    issues = "  ".join(issue_sign(issue, label) for issue, label in line.issues)
    return (
        line.ref,
        (
            literal(line.ref, 12),
            literal(line.text, CELL_CHARACTERS),
            literal(line.country or "", 4),
            literal(issues, 60),
            Text(str(line.variants), justify="right"),
            Text(str(line.languages), justify="right"),
        ),
    )


def _position(page: Page) -> str:
    if not page.lines:
        return "none"
    first = page.query.offset + 1
    return f"{first:,}–{first + len(page.lines) - 1:,} of {page.total:,}"


def _filters(page: Page) -> Content:
    query = page.query
    language = query.language or (page.languages[0] if page.languages else "")
    parts = [Content.styled(visible(query.instrument), "bold"), Content(visible(language))]
    if query.country:
        parts.append(Content.assemble("country ", (visible(query.country), "bold")))
    if query.issue:
        parts.append(Content.assemble("issue ", (visible(query.issue).replace("_", " "), "bold")))
    if query.search:
        parts.append(Content.assemble("find ", (visible(query.search), "bold underline")))
    return Content(" · ").join(parts)
