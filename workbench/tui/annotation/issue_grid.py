"""The label grid of one person: statements by policy issues, saved before the cursor moves on.

Keys that are pressed while a label is being written wait for it. Keys typed ahead of the next
statement are dropped, so that no label lands on an unseen statement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.coordinate import Coordinate
from textual.getters import query_one
from textual.widgets import Static

from workbench.domain.instruments import IssueDefinition
from workbench.domain.names import plural
from workbench.errors import ConflictError, WorkbenchError
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.sessions.issues import IssueGrid, IssueSession, PutResult
from workbench.sessions.items import UnitCounts
from workbench.tui.annotation.annotate_format import ReadText, last_line, pace_line, title_note
from workbench.tui.format import literal
from workbench.tui.keymap import action_on
from workbench.tui.kit.base import app_of, once_painted, say
from workbench.tui.kit.dialogs import ConfirmScreen, TextScreen
from workbench.tui.kit.person_dialog import PersonDialog
from workbench.tui.kit.session_screen import NEVER, SessionScreen, ShowResult
from workbench.tui.widgets.long_text import folded
from workbench.tui.widgets.record_table import Cells, FluidTable, Record, RecordColumn

if TYPE_CHECKING:
    from stores.annotation.issue_annotator import IssueRow, IssueSheet

REF = 9
LEAST_TEXT = 8
WIDEST, NARROWEST = 5, 3
"columns of an issue, the gap among them"
CELL_CHARACTERS = 300
CUT = " … (i)"
"suffix of a truncated definition, with the key that shows all of it"
SIGNS = {1: "+1", 0: "0", -1: "−1", None: "·"}
LEAD = 2
"number of columns before those of the issues: ref and statement"
FILLERS = frozenset(("and", "of", "the", "for", "in", "to"))

EXPLAIN = section("screens-annotation", "Labelling policy issues")


def issue_width(width: int, issues: int) -> int:
    """Return the width of an issue's column in a table of this width."""
    room = (width - 1 - REF - LEAST_TEXT) // max(1, issues)
    return max(NARROWEST, min(WIDEST, room))


def grid_columns(width: int, issues: Sequence[IssueDefinition]) -> list[RecordColumn]:
    """Return the columns: ref, statement, and one per issue."""
    column_width = issue_width(width, len(issues))
    headings = short_heads([issue.name for issue in issues], column_width - 1)
    columns = [RecordColumn("ref", "id", REF), RecordColumn("text", "statement", None)]
    return columns + [
        RecordColumn(issue.name, f"{heading:>{column_width - 1}} ", column_width)
        for issue, heading in zip(issues, headings, strict=True)
    ]


def grid_record(grid: IssueGrid, row: IssueRow, width: int) -> Record:
    """Return a row of the table."""
    column_width = issue_width(width, len(grid.issues))
    labels = [label_cell(row.labels.get(issue.name), column_width) for issue in grid.issues]
    ref = literal(row.ref, REF - 1, style="" if grid.is_finished(row) else "bold")
    text = literal(row.statement.text[:CELL_CHARACTERS])
    text_width = max(8, width - 1 - REF - column_width * len(grid.issues)) - 1
    text.truncate(text_width, overflow="ellipsis")
    return row.ref, (ref, text, *labels)


def label_cell(label: int | None, width: int) -> Text:
    """Return a label cell: ` +1 `, ` −1 `, `  0 ` or `  · `.

    Signs come first, independent of colour.
    """
    style = {1: "bold green", -1: "bold red", 0: "", None: "dim"}[label]
    return Text(f"{SIGNS[label]:>{width - 1}} ", style=style)


def short_heads(names: Sequence[str], width: int) -> list[str]:
    """Return a different short head for each issue: its first word that no other has, truncated.

    Examples
    --------
    >>> short_heads(["open_foreign_policy", "liberal_economic_policy", "liberal_society", "social_welfare"], 4)
    ['open', 'econ', 'socy', 'socl']
    """  # noqa: E501
    words = _head_words(names)
    heads = [_truncated_head(word, width) for word in words]
    n_by_head = Counter(heads)
    for index, word in enumerate(words):
        if n_by_head[heads[index]] > 1:
            heads[index] = word[: width - 1] + word[-1:]
    n_by_head = Counter(heads)
    return [
        head if n_by_head[head] == 1 else f"{head[:1]}{number}"[:width]
        for number, head in enumerate(heads, start=1)
    ]


def _head_words(names: Sequence[str]) -> list[str]:
    """Return the first word of each issue that no other has, else its first word."""
    words_by_issue = []
    for name in names:
        words = visible(name).replace("_", " ").lower().split()
        words_by_issue.append([word for word in words if word not in FILLERS])
    n_issues = Counter(word for words in words_by_issue for word in set(words))
    head_words = []
    for words in words_by_issue:
        distinct_words = [word for word in words if n_issues[word] == 1]
        head_words.append((distinct_words or words or ["?"])[0])
    return head_words


def _truncated_head(word: str, width: int) -> str:
    if len(word) > width:
        return word[:width]
    return literal(word, width).plain.replace("…", "")


def issue_lines(issue: IssueDefinition, width: int = 0, lines: int = 0) -> Content:
    """Return an issue's title and definition, truncated to `lines` lines of a width if given."""
    title = visible(issue.title or issue.name.replace("_", " "))
    definition = (
        visible(issue.definition) or "not defined: agree on its meaning with the other annotators"
    )
    folds = folded(definition, width) if lines else []
    if len(folds) > lines:
        definition = definition[: folds[lines - 1][0] + max(0, width - len(CUT))].rstrip() + CUT
    return Content.assemble(
        (title, "bold"), (f"  {visible(issue.name)}\n", "$text-muted"), definition
    )


def scheme_text(issues: Sequence[IssueDefinition], heads: Sequence[str] = ()) -> Content:
    """Return all issues with their definitions."""
    lines: list[Content] = []
    for index, issue in enumerate(issues):
        heading = f"{heads[index]:<5}" if heads else ""
        lines += [Content.assemble((heading, "$text-accent"), issue_lines(issue)), Content("")]
    return Content("\n").join(lines[:-1])


def where_line(row: IssueRow, others: int) -> Content:
    """Return a line such as `for-01 · vd · alliances`, and how to see the hidden lines."""
    context = " · ".join(
        visible(text) for text in (row.ref, row.statement.country, row.statement.topic) if text
    )
    more_text = f"   {others} more lines: t shows all" if others > 0 else ""
    return Content.assemble(
        (literal(context, 50).plain, "$text-muted"), (more_text, "$text-warning")
    )


KEYS = Content.assemble(
    ("a", "bold"),
    " +1 agreeing supports it   ",
    ("d", "bold"),
    " −1 disagreeing does   ",
    ("n", "bold"),
    " 0 not related",
)


def labels_text(labels: Mapping[str, int | None]) -> str:
    """Return the text of a step's labels: `+1 law and order`, `0 for 5 issues`."""
    if len(labels) == 1:
        [(issue, label)] = labels.items()
        name = visible(issue).replace("_", " ")
        return f"{name} withdrawn" if label is None else f"{SIGNS[label]} {name}"
    return f"0 for {plural(len(labels), 'issue')}"


class IssueTable(FluidTable, inherit_bindings=False):
    """Rows of statements with columns of issues. Label letters are left to the screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "cursor_up", "Row above", show=False, tooltip="Go to the row above"),
        Binding("down,j", "cursor_down", "Row below", show=False, tooltip="Go to the row below"),
        Binding(
            "left,h",
            "cursor_left",
            "Previous issue",
            show=False,
            tooltip="Go to the previous issue",
        ),
        Binding(
            "right,l", "cursor_right", "Next issue", show=False, tooltip="Go to the next issue"
        ),
        Binding("pageup", "page_up", "Page above", show=False, tooltip="Go up by a page"),
        Binding("pagedown", "page_down", "Page below", show=False, tooltip="Go down by a page"),
        Binding("home,g", "scroll_top", "First row", show=False, tooltip="Go to the first row"),
        Binding("end,G", "scroll_bottom", "Last row", show=False, tooltip="Go to the last row"),
    ]

    def __init__(self, layout: Callable[[int], Sequence[RecordColumn]], *, name: str) -> None:
        super().__init__(layout, name=name, marks_columns=True)
        self.cursor_type = "cell"

    @property
    def issue(self) -> int:
        """The index of the issue under the cursor."""
        return max(0, self.cursor_coordinate.column - LEAD)

    def lay_out_for(self, cells: Cells) -> None:
        """Show records that have other columns than those before."""
        self._cells_for = cells
        self.lay_out_again()

    def go_to(self, row: int, issue: int) -> None:
        """Move the cursor to a cell."""
        self.move_cursor(row=row, column=LEAD + issue, animate=False)

    def replace(self, record: Record) -> None:
        """Show one record again, if the list has it."""
        keys = self.keys
        if record[0] not in keys:
            return
        index = keys.index(record[0])
        old_records = self._records
        self._records = (*old_records[:index], record, *old_records[index + 1 :])
        self._update_row(record, old_records[index])

    def validate_cursor_coordinate(self, value: Coordinate) -> Coordinate:
        coordinate = super().validate_cursor_coordinate(value)
        if coordinate.column < LEAD < len(self.ordered_columns):
            return Coordinate(coordinate.row, LEAD)
        return coordinate

    def _lay_out(self, width: int) -> None:
        issue = self.issue
        super()._lay_out(width)
        self._return_to(issue)

    def _fill(self, row: int) -> None:
        issue = self.issue
        super()._fill(row)
        self._return_to(issue)

    def _return_to(self, issue: int) -> None:
        """Move the cursor back to an issue, because clearing a table moves it to the first."""
        if self.row_count:
            self.go_to(self.cursor_row, issue)

    def _update_row(self, record: Record, before: Record) -> None:
        names = [column.key for column in self._shown()]
        for name, cell, old in zip(
            names, self._cells(record[1]), self._cells(before[1]), strict=True
        ):
            if cell != old:
                self.update_cell(record[0], name, cell)


DEFINITION_LINES = 4
"lines of the current issue's definition, in a fixed position so that nothing jumps"
NO_ISSUES = (
    "{instrument} has no policy issues yet. Use the eight of Ceron et al. 2024 (smartvote)? "
    "Others come from a file: workbench issues STORE --scheme FILE"
)
TALL = 34
"terminal lines from which a statement has more room"
LABEL_KEYS: Mapping[str, int | None] = {
    "a": 1,
    "plus": 1,
    "1": 1,
    "d": -1,
    "minus": -1,
    "n": 0,
    "0": 0,
    "space": None,
    "backspace": None,
    "delete": None,
}
FILL = "f"


@dataclass(frozen=True, slots=True)
class LabelRequest:
    """The labels that a key requests, for the cell on which it was pressed."""

    ref: str
    labels: Mapping[str, int | None]
    moves: bool
    "whether the cursor moves on"
    whole_row: bool


@dataclass(frozen=True, slots=True)
class ChangedLabels:
    """The labels that another session of a person gave, so that nothing was stored."""

    sheet: IssueSheet
    reason: str


def put_text(request: LabelRequest, result: PutResult) -> str:
    """Return the text on stored labels: `a-1: +1 law and order (saved)`."""
    outcome = "saved" if result.issues else "as before"
    return f"{visible(request.ref)}: {labels_text(request.labels)} ({outcome})"


def undone_text(result: PutResult | None) -> str:
    """Return the text on undone labels, or that there was no step."""
    if result is None:
        return "nothing to undo"
    labels = labels_text(dict.fromkeys(result.issues)).removesuffix(" withdrawn")
    return f"{visible(result.row.ref)}: undone: {labels}"


class IssueGridScreen(SessionScreen[IssueSession]):
    """The screen of one person who labels statements for policy issues."""

    CSS_PATH = "issue_grid.tcss"
    EXPLAIN = EXPLAIN
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "label(1)", "+1", tooltip="Label +1: agreeing supports the issue"),
        Binding("d", "label(-1)", "−1", tooltip="Label −1: disagreeing supports the issue"),
        Binding("n", "label(0)", "0", tooltip="Label 0: the statement is not related to the issue"),
        Binding(
            "space",
            "withdraw",
            "Withdraw",
            show=False,
            tooltip="Withdraw the label under the cursor",
        ),
        Binding(
            "f",
            "fill",
            "Rest 0",
            tooltip="Give 0 to every issue of the statement that has no label",
        ),
        Binding(
            "u,enter",
            "next",
            "Next",
            key_display="u",
            tooltip="Go to the next cell without a label",
        ),
        Binding("z", "undo", "Undo", tooltip="Undo the last label, then earlier ones"),
        Binding("x", "only_open", "Open only", tooltip="Show only unfinished statements, or all"),
        Binding("i", "issues", "Issues", tooltip="Show the definitions of the issues"),
        Binding("t", "text", "Text", show=False, tooltip="Show the whole statement"),
        Binding("p", "person", "Person", show=False, tooltip="Choose who labels"),
        Binding(
            "escape,q", "leave", "Leave", key_display="Esc", tooltip="Leave; all labels are saved"
        ),
    ]
    UNIT = "statement"
    DECIDES: ClassVar[frozenset[str]] = frozenset({"label", "withdraw", "fill", "undo"})
    FREE: ClassVar[frozenset[str]] = frozenset({"leave", "issues"})

    table = query_one("#grid", IssueTable)
    statement = query_one("#statement", ReadText)

    def __init__(self, instrument: str) -> None:
        super().__init__()
        self._instrument = instrument
        self.grid = IssueGrid()
        self._fresh = False
        "whether the cursor has yet to move to the first unlabelled cell"
        self._in_sight: str | None = None
        self._steps = 0

    def compose_body(self) -> ComposeResult:
        yield IssueTable(self._columns, name="grid")
        with Vertical(id="below"):
            yield Static(id="issue", markup=False)
            yield Static(id="where", markup=False)
            yield ReadText(name="statement")
            yield Static(KEYS, id="keys", markup=False)
        yield Static("Reading the statements …", id="pace", markup=False)

    def on_mount(self) -> None:
        self.title_bar.place = f"policy issues › {self._instrument}"
        self.query_one("#below").display = False
        self.table.focus()
        if self.person is None:
            self.action_person()
        else:
            self._label_as(self.person)

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.height >= TALL, "-tall")
        once_painted(self, self._show_cell)

    @property
    def current(self) -> IssueRow | None:
        """The statement under the cursor."""
        return self.grid.get(self.table.current)

    def on_key(self, event: events.Key) -> None:
        """Handle the label keys before any binding, with the time at which they were pressed."""
        key = self._label_key(event.key)
        if key:
            event.stop()
            event.prevent_default()
            self._press(key, event.time)

    def is_ahead(self, event: events.Event) -> bool:
        """Return whether a key labels a statement that was not visible long enough before it."""
        if not isinstance(event, events.Key) or self.current is None or self.was_seen(event.time):
            return False
        return bool(self._label_key(event.key)) or action_on(self, event.key) == "undo"

    def _label_key(self, key: str) -> str:
        """Return a key if it labels, or an empty string."""
        action = action_on(self, key)
        if action == "fill":
            return FILL
        is_label = key in LABEL_KEYS and action.partition("(")[0] in (
            "",
            "nothing",
            "label",
            "withdraw",
        )
        return key if is_label else ""

    def show_sheet(self, sheet: IssueSheet) -> None:
        """Show all rows. The cursor stays on its cell, or goes to the first unlabelled one."""
        self._fresh = len(self.grid) == 0
        self.request_answered()
        previous_names = [issue.name for issue in self.grid.issues]
        self.grid.take(sheet)
        if not sheet.issues:
            self._ask_for_issues()
            return
        self._list(other_columns=previous_names != [issue.name for issue in sheet.issues])
        self._show_cell()

    def go_on(self, request: LabelRequest, result: PutResult, per_hour: float | None) -> None:
        """Show the stored result, then move the cursor if it is still on the same statement."""
        self.request_answered()
        self._take(result, per_hour)
        self._said = put_text(request, result)
        if request.moves and self.table.current == request.ref:
            self._advance(request.whole_row)
        self._show_cell()

    def look_again(self, sheet: IssueSheet, why: str) -> None:
        """Show the labels from another session of this person. Nothing was stored."""
        self.show_sheet(sheet)
        say(self, f"{why}; look again", warns=True)

    def show_undone(self, result: PutResult | None, per_hour: float | None) -> None:
        self.request_answered()
        self._said = undone_text(result)
        if result is not None:
            self._take(result, per_hour)
            self._go_to(result.row.ref, result.issues[0] if result.issues else None)
        self._show_cell()

    @on(IssueTable.CellHighlighted)
    def _show_cell(self) -> None:
        """Show the issue and the statement under the cursor."""
        if self._fresh and self.table.keys:  # The sheet may arrive before the layout.
            self._fresh = False
            self._go_to_open()
        row, issues = self.current, self.grid.issues
        if row is None or not issues:
            self.show_progress()
            return
        issue = issues[min(self.table.issue, len(issues) - 1)]
        width = max(20, self.size.width - 2)
        self.query_one("#issue", Static).update(
            issue_lines(issue, width, DEFINITION_LINES), layout=False
        )
        if row.statement.text != self.statement._text or self._in_sight != row.ref:
            self._in_sight, self._seen_at = row.ref, NEVER
            self.statement.show(
                visible(row.statement.text, lines=True) or "(the statement has no original wording)"
            )
        self._show_where()
        self.show_progress()

    @on(ReadText.Painted)
    def see(self, event: ReadText.Painted) -> None:
        """Let keys count once the statement was painted."""
        self._seen_at = event.time
        self._show_where()

    def action_label(self, label: int) -> None:
        """Label by the mouse or by name."""
        self._press({1: "a", -1: "d", 0: "n"}[label], monotonic())

    def action_withdraw(self) -> None:
        self._press("space", monotonic())

    def action_fill(self) -> None:
        self._press(FILL, monotonic())

    def action_next(self) -> None:
        """Go to the next unlabelled cell, continuing at the start."""
        if not self._go_to_open(self.table.cursor_row, after=self.table.issue):
            self._said = (
                "every listed cell has a label; G on Statements shows which labels are gold"
            )
            self.show_progress()

    def action_undo(self) -> None:
        def show(session: IssueSession, result: PutResult | None) -> ShowResult:
            return partial(self.show_undone, result, session.pace())

        if not self._busy:
            self.take_step(lambda session: session.undo(), undone_text, show, lost="the undo")

    def action_only_open(self) -> None:
        """Show only unfinished statements, or all.

        A statement that is finished meanwhile stays until the next call.
        """
        self.grid.only_unfinished = not self.grid.only_unfinished
        self._list()
        self._show_cell()

    def action_issues(self) -> None:
        headings = [column.label.strip() for column in self._columns(self.table.size.width)[2:]]
        self.app.push_screen(
            TextScreen("What supporting each issue means", scheme_text(self.grid.issues, headings))
        )

    def action_text(self) -> None:
        row = self.current
        if row is not None:
            self.app.push_screen(TextScreen(row.ref, row.statement.text))

    def action_refresh(self) -> None:
        """Read statements and labels again."""
        if not self._busy or self.trouble.shown:
            self._read()

    def action_person(self) -> None:
        # There is no list of names, because it would show who labelled.
        self.app.push_screen(PersonDialog((), self.person), self._keep_person)

    def _keep_person(self, name: str | None) -> None:
        if name is not None:
            app_of(self).annotator = name
            self._label_as(name)
        elif self.person is None:
            self.dismiss(None)

    def _label_as(self, name: str) -> None:
        """Begin this person's session, and forget the rows of the previous one."""
        self.grid.forget_rows()
        self._steps, self._said = 0, ""
        self.begin(lambda path: IssueSession(path, self._instrument, name))
        self._read()

    def _read(self) -> None:
        self.submit(lambda session: partial(self.show_sheet, session.sheet()))

    def _ask_for_issues(self) -> None:
        def take(agreed: bool | None) -> None:
            if agreed:
                self.submit(lambda session: partial(self.show_sheet, session.take_shipped_issues()))
            else:
                self.dismiss(None)

        question = NO_ISSUES.format(instrument=self._instrument)
        self.app.push_screen(ConfirmScreen(question, "Use these eight", "Leave"), take)

    def _press(self, key: str, at: float) -> None:
        """Do what a key requests. `at` is when it was pressed."""
        row, issues = self.current, self.grid.issues
        if row is None or not issues or not self.accepts(at):
            return
        if key == FILL:
            self._fill_row(row)
            return
        label, issue = LABEL_KEYS[key], issues[self.table.issue].name
        moves = label is not None
        self._request(row, LabelRequest(row.ref, {issue: label}, moves=moves, whole_row=False))

    def _fill_row(self, row: IssueRow) -> None:
        """Give 0 for the unlabelled issues of a statement, or go on if there are none."""
        labels = {self.grid.issues[index].name: 0 for index in self.grid.open_issues(row)}
        if labels:
            self._request(row, LabelRequest(row.ref, labels, moves=True, whole_row=True))
        else:
            self._advance(whole_row=True)

    def _request(self, row: IssueRow, request: LabelRequest) -> None:
        """Commit labels. If they were changed elsewhere, show these."""

        def put(session: IssueSession) -> PutResult | ChangedLabels:
            try:
                return session.put(row, request.labels)
            except ConflictError as error:
                sheet = session.sheet()
                if row.statement not in [other.statement for other in sheet.rows]:
                    raise
                return ChangedLabels(sheet, str(error))

        def describe(result: PutResult | ChangedLabels) -> str:
            return put_text(request, result) if isinstance(result, PutResult) else ""

        def show(session: IssueSession, result: PutResult | ChangedLabels) -> ShowResult:
            if isinstance(result, PutResult):
                return partial(self.go_on, request, result, session.pace())
            return partial(self.look_again, result.sheet, result.reason)

        self.take_step(put, describe, show, lost=labels_text(request.labels))

    def _take(self, result: PutResult, per_hour: float | None) -> None:
        """Update the row of a statement with its new labels."""
        self.grid.put(result.row, per_hour)
        self._steps = result.steps
        self.table.replace(grid_record(self.grid, result.row, self.table._laid_out))

    def _advance(self, whole_row: bool) -> None:
        """Go on after a label. So `f` fills the statement that was just labelled."""
        cell = self.grid.cell_after(self.table.cursor_row, self.table.issue, whole_row=whole_row)
        if cell is not None:
            self.table.go_to(*cell)

    def _go_to_open(self, row: int = 0, after: int = -1) -> bool:
        """Go to the first unlabelled cell from a row on. Return whether there is such a cell."""
        cell = self.grid.first_open_cell(row, after)
        if cell is not None:
            self.table.go_to(*cell)
        return cell is not None

    def _go_to(self, ref: str, issue: str | None) -> None:
        """Go to a cell. If its statement is hidden, show all statements first."""
        if ref not in self.table.keys:
            self.grid.only_unfinished = False
            self._list()
        names = [definition.name for definition in self.grid.issues]
        issue_index = names.index(issue) if issue in names else self.table.issue
        self.table.go_to(self.table.keys.index(ref), issue_index)

    def _list(self, *, other_columns: bool = False) -> None:
        """Show all rows, or only the unfinished ones."""
        self.grid.list_rows()
        if other_columns:
            self.table.lay_out_for(self._records)
        else:
            self.table.show_for_width(self._records)
        self.query_one("#below").display = bool(self.grid.listed)

    def _columns(self, width: int) -> list[RecordColumn]:
        return grid_columns(width, self.grid.issues)

    def _records(self, width: int) -> list[Record]:
        return [grid_record(self.grid, self.grid.row(ref), width) for ref in self.grid.listed]

    def _show_where(self) -> None:
        row = self.current
        if row is not None:
            n_hidden_lines = max(0, len(self.statement.lines) - self.statement.size.height)
            self.query_one("#where", Static).update(where_line(row, n_hidden_lines), layout=False)

    def show_progress(self) -> None:
        if self.trouble.shown:
            return  # The line shows what was not saved.
        progress = UnitCounts(self.grid.n_finished, len(self.grid), self.grid.per_hour)
        self.say(pace_line(progress, self._last_line(), narrow=True))
        if self.person is not None:
            self.title_bar.note = title_note(self.person, progress)

    def _last_line(self) -> Content:
        """Return the last action, or why nothing is listed."""
        only_unfinished = self.grid.only_unfinished
        if not self.grid.listed:
            if only_unfinished:
                return Content("every statement is labelled: x shows all")
            return Content("there are no statements")
        last_content = last_line(self._said, self._steps, before="")
        if not only_unfinished:
            return last_content
        parts = (Content("unfinished only"), last_content)
        return Content("  ").join(part for part in parts if part.plain)

    def failed(self, error: WorkbenchError) -> None:
        """Show an error. With p, a person with an invalid name can give another."""
        super().failed(error)
        self._in_sight = None  # The statement is shown again, so that keys count from there on.
