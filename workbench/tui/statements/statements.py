"""The list of an instrument's statements, from which all parts of the workshop open."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.widgets import Input, Static

from workbench.domain.choices import Choice, parse_choice
from workbench.domain.names import plural
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.tui.format import issue_sign, literal
from workbench.tui.kit.base import StoreScreen, in_background, say, worker
from workbench.tui.kit.dialogs import with_answer
from workbench.tui.kit.person_dialog import as_person
from workbench.tui.routes import screen
from workbench.tui.rulings.ruling import RulesAndEdits
from workbench.tui.rulings.standing import RuledPlace
from workbench.tui.statements.statement import StatementScreen
from workbench.tui.statements.statement_format import LEAST, short_refs, width_of
from workbench.tui.widgets.record_table import (
    Record,
    RecordColumn,
    RecordTable,
    in_all_rows,
    moving,
    same_in_all,
)

if TYPE_CHECKING:
    from textual.timer import Timer

    from stores.core.store import Store
    from stores.instruments.instruments import Filters, StatementLine
    from workbench.pipeline.editing import Done

PAGE = 200
CELL_CHARACTERS = 400
"characters of a text in a list: wider than any terminal, so that 100 kB of text cost nothing"
MARK = "●"
NARROWEST_TEXT = 28
"columns that a statement keeps while others give way"
FOLDED = ("languages", "variants", "country", "tags", "role", "issues")
"columns that move to the line above if they are the same in all rows and the text needs room"
LEFT_OUT = ("languages", "variants", "tags", "country", "issues", "role", "ruled")
"columns that go if the text has too little room, in this order"
NOWHERE = 100_000
"least terminal width of a column that the list has no values for: it never shows"

COLUMNS = (
    RecordColumn("mark", "", 1),
    RecordColumn("ref", "id", LEAST),
    RecordColumn("text", "statement", None),
    RecordColumn("ruled", "ruled", 5, least=NOWHERE),
    RecordColumn("role", "role", 7, least=NOWHERE),
    RecordColumn("country", "country", 7, least=100),
    RecordColumn("tags", "tags", 16, least=120),
    RecordColumn("issues", "issues", 24, least=100),
    RecordColumn("variants", "texts", 5),
    RecordColumn("languages", "lang.", 5),
)

EXPLAIN = section("screens-statements", "The list of statements")


class StatementTable(RecordTable, inherit_bindings=False):
    """The list of statements. The keys g and G belong to the screen: the policy issues."""

    BINDINGS: ClassVar[list[BindingType]] = moving("home", "end")

    class Folded(Message):
        """Other columns than before are the same in all rows, and are left out."""

    _spared: frozenset[str] = frozenset()
    "keys of the columns that are left out for the text"
    folded = ""
    "text of the columns that are the same in all rows"

    def show_page(
        self, page: StatementsPage, marks: Collection[str], at: int | None, ruled: Mapping[str, int]
    ) -> None:
        """Show statements, with a column of refs as wide as needed.

        `marks`: refs of the marked ones. `ruled`: numbers of rulings in force on a statement and
        below it, by ref.
        """
        names = short_refs([line.ref for line in page.lines])
        rows = tuple(
            record(
                line,
                names[line.ref],
                page.roles.get(line.ref, ""),
                marked=line.ref in marks,
                ruled=ruled.get(line.ref, 0),
            )
            for line in page.lines
        )
        previous_ref = self.current
        self._make_room(width_of(names), {"role": bool(page.roles), "ruled": bool(ruled)}, rows)
        if at is None and previous_ref in self.keys:
            at = self.keys.index(previous_ref)
        self.show(rows, at=at)

    def _lay_out(self, width: int) -> None:
        self._spare(width, self._records)
        super()._lay_out(width)

    def _has(self, column: RecordColumn) -> bool:
        return super()._has(column) and column.key not in self._spared

    def _spare(self, width: int, records: Sequence[Record]) -> None:
        """Decide which columns are left out for the text in a width."""
        choice = _ColumnChoice(self._all_columns, records, width, self.cell_padding)
        self._spared = choice.left_out
        line = in_all_rows(choice.folded)
        if line != self.folded:
            self.folded = line
            self.post_message(self.Folded())

    def _make_room(self, width: int, there: Mapping[str, bool], records: Sequence[Record]) -> None:
        columns_by_key = {column.key: column for column in self._all_columns}
        columns_by_key["ref"] = replace(columns_by_key["ref"], width=width)
        columns_by_key |= {
            key: replace(columns_by_key[key], least=0 if is_shown else NOWHERE)
            for key, is_shown in there.items()
        }
        columns, previously_spared = tuple(columns_by_key.values()), self._spared
        has_changed, self._all_columns = columns != self._all_columns, columns
        if self._laid_out >= 0:
            self._spare(self._laid_out, records)
            if has_changed or previously_spared != self._spared:
                self._records = tuple(records)
                self._lay_out(self._laid_out)


class _ColumnChoice:
    """The columns of the list in a width, and those that are left out for the text.

    1. Empty columns go.
    2. Columns with the same text in all rows go, and a line names them.
    3. Others go if the text would be truncated to less than `NARROWEST_TEXT`.
    """

    def __init__(
        self, columns: Sequence[RecordColumn], records: Sequence[Record], width: int, padding: int
    ):
        self._all_columns = columns
        self._width = width
        self._padding = padding
        self._texts = {
            column.key: [cells[index].plain.strip() for _, cells in records]
            for index, column in enumerate(columns)
        }
        self._text_width = max((len(text) for text in self._texts["text"]), default=0)
        self._columns = {column.key: column for column in columns if width >= column.least}
        self.folded: list[tuple[str, str]] = []
        "title and text of the columns with the same text in all rows"
        if records:
            self._remove_empty()
        self._fold()
        self._leave_out()

    @property
    def left_out(self) -> frozenset[str]:
        """The keys of the columns without room."""
        return frozenset(
            column.key for column in self._all_columns if column.key not in self._columns
        )

    def _remove_empty(self) -> None:
        for key in FOLDED:
            if key in self._columns and not any(self._texts[key]):
                del self._columns[key]

    def _fold(self) -> None:
        for key in FOLDED:
            is_equal = key in self._columns and same_in_all(self._texts[key])
            if is_equal and self._room() < self._text_width:
                label = self._columns.pop(key).label
                self.folded.append((label, self._texts[key][0]))

    def _leave_out(self) -> None:
        for key in LEFT_OUT:
            if key in self._columns and self._room() < min(self._text_width, NARROWEST_TEXT):
                del self._columns[key]

    def _room(self) -> int:
        """Return the terminal columns for the text beside the remaining columns."""
        others = [column for key, column in self._columns.items() if key != "text"]
        other_width = sum((column.width or 0) + 2 * self._padding for column in others)
        return self._width - 1 - 2 * self._padding - other_width


@dataclass(frozen=True, slots=True)
class Query:
    """The query of the list: filters, language and offset."""

    instrument: str = ""
    search: str = ""
    issue: str = ""
    country: str = ""
    language: str = ""
    tag: str = ""
    offset: int = 0

    @property
    def filtered(self) -> bool:
        """Whether it leaves statements out."""
        return bool(self.search or self.issue or self.country or self.tag)

    @property
    def filters(self) -> Filters:
        from stores.instruments.instruments import Filters

        return Filters(
            search=self.search,
            issue=self.issue,
            country=self.country,
            tag=self.tag,
            language=self.language,
        )


@dataclass(frozen=True, slots=True)
class StatementsPage:
    """The result of a query, and the available filters."""

    query: Query
    lines: tuple[StatementLine, ...] = ()
    total: int = 0
    instruments: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()
    countries: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    "languages, the instrument's own first"
    tags: tuple[str, ...] = ()
    drafts: int = 0
    "number of pending drafts"
    questions: int = 0
    "number of multiple-choice questions in the whole instrument"
    roles: Mapping[str, str] = field(default_factory=dict)
    "context, target or survey by ref, or empty if the instrument is no questionnaire"
    archived: int = 0
    gone: frozenset[str] = frozenset()
    "marked refs that were archived, renamed, or retired by an import meanwhile"

    def choices(self, name: str) -> tuple[str, ...]:
        """Return the possible values of a filter."""
        return {
            "issue": self.issues,
            "country": self.countries,
            "language": self.languages,
            "instrument": self.instruments,
            "tag": self.tags,
        }[name]


def read_page(store: Store, query: Query, marked: Collection[str] = ()) -> StatementsPage:
    """Read a page of the list, its filters, and the marked refs that are gone."""
    summaries = {summary.name: summary for summary in store.instruments.summaries()}
    if not summaries:
        return StatementsPage(query)
    name = query.instrument if query.instrument in summaries else next(iter(summaries))
    query = replace(query, instrument=name)
    own_language = summaries[name].language
    other_languages = tuple(
        other for other in summaries[name].languages if other and other != own_language
    )
    return StatementsPage(
        query=query,
        lines=store.instruments.lines(name, query.filters, offset=query.offset, limit=PAGE),
        total=store.instruments.count(name, query.filters),
        instruments=tuple(summaries),
        issues=store.instruments.issues(name),
        countries=store.instruments.countries(name),
        languages=(own_language, *other_languages),
        tags=store.instruments.tags(name),
        drafts=store.drafts.counts(name).get("pending", 0),
        questions=len(store.choices.items(name)),
        roles={
            question.ref: question.role.value for question in store.questionnaires.questions(name)
        },
        archived=len(store.statements.archived(name)),
        gone=frozenset(marked).difference(line.ref for line in store.instruments.lines(name))
        if marked
        else frozenset(),
    )


def record(
    line: StatementLine, name: str, role: str = "", *, marked: bool, ruled: int = 0
) -> Record:
    """Return a row of the list. `name`: the ref as the list shows it."""
    issues = "  ".join(issue_sign(issue, label) for issue, label in line.issues)
    return (
        line.ref,
        (
            Text(MARK if marked else " ", style="bold"),
            literal(name),
            literal(_question(line.text), CELL_CHARACTERS),
            ruled_cell(ruled),
            Text(role),
            literal(line.country or "", 4),
            literal(", ".join(line.tags), 16),
            literal(issues, 60),
            Text(str(line.variants), justify="right"),
            Text(str(line.languages), justify="right"),
        ),
    )


def ruled_cell(rulings: int) -> Text:
    """Return the cell with the number of rulings in force."""
    return Text(f"{rulings:,}" if rulings else "", justify="right")


def _question(text: str) -> str:
    """Return a multiple-choice question without its options, or any other text as it is."""
    choice = parse_choice(text)
    return choice.stem if isinstance(choice, Choice) else text


def position(page: StatementsPage) -> str:
    """Return the visible lines and their total: `1–200 of 3,512`."""
    if not page.lines:
        return "none"
    first_line = page.query.offset + 1
    return f"{first_line:,}–{first_line + len(page.lines) - 1:,} of {page.total:,}"


def filter_line(page: StatementsPage, marks: int, folded: str = "") -> Content:
    """Return the line of filters, marked statements, drafts, and equal columns in `folded`."""
    query = page.query
    language = query.language or (page.languages[0] if page.languages else "")
    parts = [Content.styled(visible(query.instrument), "bold"), Content(visible(language))]
    if query.country:
        parts.append(Content.assemble("country ", (visible(query.country), "bold")))
    if query.issue:
        parts.append(Content.assemble("issue ", (visible(query.issue).replace("_", " "), "bold")))
    if query.tag:
        parts.append(Content.assemble("tag ", (visible(query.tag), "bold")))
    if query.search:
        parts.append(Content.assemble("find ", (visible(query.search), "bold underline")))
    if marks:
        parts.append(Content.styled(f"{MARK} {marks:,} marked", "bold $text-accent"))
    if page.drafts:
        parts.append(Content.assemble(("R ", "bold"), f"{plural(page.drafts, 'draft')} to review"))
    if folded:
        parts.append(Content(visible(folded)))
    return Content(" · ").join(parts)


def empty_text(page: StatementsPage) -> str:
    """Return the text of an empty list: what to do."""
    if not page.instruments:
        return (
            "The store has no instrument yet.\n\n"
            "I starts a new one here. h goes home: i there imports the shipped one.\n"
            "Files are imported on the command line: workbench import STORE --help"
        )
    if page.query.filtered:
        return "No statement matches.\n\n0 clears search and filters."
    archived = (
        f"\n\nA lists {plural(page.archived, 'archived statement')}." if page.archived else ""
    )
    return (
        "This instrument has no statements yet.\n\nn writes the first one or turns a "
        f"question into one.{archived}"
    )


SEARCH_AFTER_S = 0.2


class StatementsScreen(RulesAndEdits, StoreScreen):
    """The screen of an instrument's statements."""

    CSS_PATH = "statements.tcss"
    PLACE = "statements"
    EXPLAIN = EXPLAIN
    DECIDES: ClassVar[frozenset[str]] = frozenset(["mark", "mark_all", "undo", "bulk"])
    FREE: ClassVar[frozenset[str]] = frozenset(["search", "clear", "back"])
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "new", "New", tooltip="Write a new statement, or turn a question into one"),
        Binding(
            "slash",
            "search",
            "Find",
            key_display="/",
            tooltip="Find in refs, topics, tags and all wordings",
        ),
        Binding(
            "space",
            "mark",
            "Mark",
            key_display="Space",
            tooltip="Mark this statement, or unmark it",
        ),
        Binding(
            "b",
            "bulk",
            "Change",
            tooltip="Change all marked statements: tags, fields, find and replace, archive",
        ),
        Binding(
            "d",
            "draft",
            "Draft",
            tooltip="Draft variants of the marked statements, with a model or a rule",
        ),
        Binding(
            "F",
            "forms",
            "Forms",
            show=False,
            tooltip="Make forms of the marked multiple-choice questions: changed forms, typos",
        ),
        Binding("P", "go('drafts')", "Drafts", show=False, tooltip="Review the pending drafts"),
        Binding(
            "f", "go('checks')", "Findings", show=False, tooltip="List the findings, and waive them"
        ),
        Binding("g", "go('issue_grid')", "Issues", show=False, tooltip="Label policy issues"),
        Binding(
            "G",
            "go('issue_gold')",
            "Gold",
            show=False,
            tooltip="Policy issues: agreement, gold labels, ties",
        ),
        Binding(
            "y", "go('survey')", "Survey", show=False, tooltip="Answer the statements yourself"
        ),
        Binding("w", "go('export')", "Export", show=False, tooltip="Write the instrument to files"),
        Binding(
            "N",
            "go('similar')",
            "Duplicates",
            show=False,
            tooltip="Find statements with nearly the same text",
        ),
        Binding(
            "A",
            "go('archived')",
            "Archived",
            show=False,
            tooltip="List archived statements, and restore them",
        ),
        Binding(
            "z,u",
            "undo",
            "Undo",
            key_display="z",
            show=False,
            tooltip="Undo your last change, or take your last ruling back",
        ),
        Binding(
            "I", "new_instrument", "New instrument", show=False, tooltip="Start a new instrument"
        ),
        Binding(
            "asterisk",
            "mark_all",
            "Mark all",
            key_display="*",
            show=False,
            tooltip="Mark all statements listed, or unmark them",
        ),
        Binding(
            "i",
            "cycle('issue')",
            "Issue",
            show=False,
            tooltip="Show one policy issue after another",
        ),
        Binding(
            "c", "cycle('country')", "Country", show=False, tooltip="Show one country after another"
        ),
        Binding("T", "cycle('tag')", "Tag", show=False, tooltip="Show one tag after another"),
        Binding("l", "cycle('language')", "Language", show=False, tooltip="Show the next language"),
        Binding(
            "t", "cycle('instrument')", "Instrument", show=False, tooltip="Show the next instrument"
        ),
        Binding("0", "clear", "All", tooltip="Clear search and filters"),
        Binding(
            "escape", "back", "Back", show=False, tooltip="Clear the search; without one, go home"
        ),
    ]

    table = query_one("#lines", StatementTable)
    box = query_one("#search", Input)
    filters = query_one("#filters", Static)

    def __init__(self) -> None:
        super().__init__()
        self._query = Query()
        self._page: StatementsPage | None = None
        self._pause: Timer | None = None
        self._marks: dict[str, None] = {}
        "marked refs of this instrument, in the order of marking"
        self._wanted: str | None = None
        "ref for the cursor once it is on the page"

    def compose_body(self) -> ComposeResult:
        yield Static(id="filters", markup=False)
        yield Input(
            placeholder="find in refs, topics, tags and wordings · Enter to the list · Esc clears",
            id="search",
            compact=True,
        )
        yield StatementTable(COLUMNS, name="lines")
        yield Static(id="empty", markup=False)

    def on_mount(self) -> None:
        self.box.can_focus = (
            False  # An empty list gives its focus away, which must not go to a hidden box.
        )
        self.table.focus()

    def on_screen_resume(self) -> None:
        if self._page is None:
            self.look(self._query)
        else:
            with in_background():
                self.look(self._query)
        self.read_standing()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        page = self._page
        if action == "clear":
            return self._query.filtered
        if action == "cycle" and page is not None:
            name = str(parameters[0])
            n_required = 2 if name in ("language", "instrument") else 1
            return len(page.choices(name)) >= n_required
        if action in ("bulk", "draft", "mark", "mark_all", "rule"):
            return page is not None and bool(page.lines)
        if action == "forms":
            return page is not None and bool(page.lines) and bool(page.questions)
        if action in ("go", "new", "undo"):
            return page is not None and bool(page.instruments)
        return True

    def show_page(self, page: StatementsPage, at: int | None) -> None:
        if replace(page.query, instrument="") != replace(self._query, instrument=""):
            return
        if page.query.instrument != self._query.instrument:
            self._marks.clear()
        for ref in page.gone:
            self._marks.pop(ref, None)
        self._page, self._query = page, page.query
        self.trouble.hide()
        self._show_rows(page, at)
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

    def say_done(self, done: Done) -> None:
        say(self, done.sentence)
        if len(done.refs) == 1:
            self._wanted = done.refs[0]
        self.look(self._query)

    @on(Input.Changed, "#search")
    def search_soon(self, event: Input.Changed) -> None:
        """Search after a pause in typing."""
        if self._pause is not None:
            self._pause.stop()
        text = event.value
        self._pause = self.set_timer(SEARCH_AFTER_S, lambda: self.ask(search=text))

    @on(Input.Submitted, "#search")
    def to_list(self) -> None:
        self.ask(search=self.box.value)
        self.table.focus()

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
        """Clear the search, or go to Home without one."""
        if self.box.has_focus or self.box.value:
            self._hide_search()
            self.ask(search="")
            self.table.focus()
        else:
            self.app.switch_mode("home")

    def ask(self, **changes: str) -> None:
        """Change the query. The cursor stays on its statement if that is still listed."""
        query = replace(self._query, **changes, offset=0)
        if query != self._query:
            self._query = query
            self.look(query)

    def action_refresh(self) -> None:
        self.look(self._query)

    def ruled_place(self) -> RuledPlace | None:
        """Return the statement under the cursor. Its wordings can be ruled on one screen below."""
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
        """Set the next value of a filter.

        After the last value comes `all`, if the filter has it.
        """
        if self._page is None:
            return
        choices = list(self._page.choices(name))
        if name in ("issue", "country", "tag"):
            choices.insert(0, "")
        if len(choices) < 2:
            return
        current_value = getattr(self._query, name)
        index = choices.index(current_value) if current_value in choices else 0
        changes = {name: choices[(index + 1) % len(choices)]}
        if name == "instrument":
            changes |= {"issue": "", "country": "", "language": "", "tag": ""}
            self._marks.clear()
        self.ask(**changes)

    @on(RecordTable.RowSelected)
    def action_open(self) -> None:
        if self._page is not None and (ref := self.table.current) is not None:
            statement_screen = StatementScreen(
                self._query.instrument, ref, self._query.language, self.table.keys
            )
            self.app.push_screen(statement_screen, self._come_back)

    def action_mark(self) -> None:
        """Mark or unmark the statement under the cursor, and go on to the next."""
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
            with_answer(
                self,
                StatementForm(self._query.instrument, language, self._page.total),
                self.say_done,
            )

    def action_new_instrument(self) -> None:
        from workbench.tui.statements.statement_form import InstrumentForm

        with_answer(self, InstrumentForm(), self._started)

    def action_bulk(self) -> None:
        from workbench.tui.statements.bulk_form import BulkForm

        if refs := self.chosen:
            with_answer(self, BulkForm(self._query.instrument, refs), self.say_done)

    def action_draft(self) -> None:
        if refs := self.chosen:
            message = "Job {} drafts. P reviews what it brings; 3 shows how far it is."
            with_answer(
                self,
                screen(
                    "start_job",
                    "draft",
                    instrument=self._query.instrument,
                    statements=", ".join(refs),
                ),
                lambda job: say(self, message.format(job)),
            )

    def action_forms(self) -> None:
        from workbench.tui.statements.choice_form import ChoiceForm

        if self._page is not None and (refs := self.chosen):
            language = self._query.language or self._page.languages[0]
            with_answer(self, ChoiceForm(self._query.instrument, refs, language), self.say_done)

    def action_go(self, name: str) -> None:
        """Show another screen about this instrument."""
        self.app.push_screen(screen(name, self._query.instrument))

    def action_undo(self) -> None:
        instrument = self._query.instrument
        as_person(self, instrument, lambda person: self.undo_newest(instrument, person))

    def undo_edit(self, person: str) -> None:
        from workbench.pipeline.editing import undo

        instrument = self._query.instrument
        self.carry_out(lambda store: undo(store, instrument, person))

    @property
    def chosen(self) -> tuple[str, ...]:
        """The marked refs, or else the ref under the cursor."""
        current = self.table.current
        return tuple(self._marks) or ((current,) if current is not None else ())

    def _hide_search(self) -> None:
        self.box.value = ""
        self.box.remove_class("-shown")
        self.box.can_focus = False

    def _show_rows(self, page: StatementsPage, at: int | None) -> None:
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

    def _started(self, done: Done) -> None:
        """Show the new instrument."""
        say(self, done.sentence)
        self._marks.clear()
        self._query = Query(instrument=done.refs[0])
        self.look(self._query)

    @worker("look")
    async def look(self, query: Query, at: int | None = None) -> None:
        marks = tuple(self._marks)
        self.show_page(await self.with_store(lambda store: read_page(store, query, marks)), at)

    @worker("all")
    async def find_all(self, query: Query) -> None:
        """Mark all statements of a query, on other pages too, or unmark them if all are marked."""
        lines = await self.with_store(
            lambda store: store.instruments.lines(query.instrument, query.filters)
        )
        refs = tuple(line.ref for line in lines)
        if query != replace(self._query, offset=0):
            return
        if all(ref in self._marks for ref in refs):
            for ref in refs:
                del self._marks[ref]
        else:
            self._marks |= dict.fromkeys(refs)
        self._show_marks()

    @worker("act", newest=False)
    async def carry_out(self, act: Callable[[Store], Done]) -> None:
        self.say_done(await self.with_store(act))
