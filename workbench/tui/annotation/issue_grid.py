"""The label grid: statements by policy issues, one person's own labels, on disk before the cursor moves on.

Keys that are pressed while a label is being written wait for it, as long as the same statement is in sight; what was
typed ahead of the next statement is dropped, so that no label lands on a statement that nobody saw.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.widgets import Static

from workbench.domain.instruments import IssueDefinition
from workbench.domain.names import plural
from workbench.errors import WorkbenchError
from workbench.tui.annotation.annotate_format import last_line, pace_line, title_note
from workbench.tui.annotation.annotate_text import ReadText
from workbench.tui.annotation.issue_grid_format import (
    EXPLAIN,
    KEYS,
    given,
    grid_columns,
    grid_record,
    is_done,
    issue_lines,
    open_cell,
    scheme_text,
    where_line,
)
from workbench.tui.annotation.issue_session import Done, IssueSession
from workbench.tui.annotation.issue_table import IssueTable
from workbench.tui.annotation.session import Tally
from workbench.tui.annotation.session_screen import NEVER, SessionScreen
from workbench.tui.format import visible
from workbench.tui.kit.dialogs import ConfirmScreen, TextScreen
from workbench.tui.kit.person_dialog import PersonDialog
from workbench.tui.screen_keys import action_on
from workbench.tui.widgets.record_table import Column, Record

if TYPE_CHECKING:
    from stores.annotation.issue_annotator import Row, Sheet

DEFINITION_LINES = 4
"of the issue under the cursor; their places are fixed, so that nothing jumps"
NO_ISSUES = (
    "{instrument} has no policy issues yet. Use the eight of Ceron et al. 2024 (smartvote)? "
    "Others come from a file: workbench issues STORE --scheme FILE"
)
DROPPED = " ! "
"begins what is said of keys that were not taken"
TALL = 34
"lines of a terminal from which a statement has more room"
LABEL_KEYS: Mapping[str, int | None] = {
    "a": 1, "plus": 1, "1": 1,
    "d": -1, "minus": -1,
    "n": 0, "0": 0,
    "space": None, "backspace": None, "delete": None,
}  # fmt: skip
FILL = "f"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a key asks for, on the cell on which it was pressed."""

    ref: str
    labels: Mapping[str, int | None]
    moves: bool
    "whether the cursor goes on"
    whole_row: bool


class IssueGridScreen(SessionScreen[IssueSession]):
    """One person labelling the statements of an instrument for policy issues."""

    CSS_PATH = "issue_grid.tcss"
    EXPLAIN = EXPLAIN
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "label(1)", "+1", tooltip="Label +1: agreeing supports the issue"),
        Binding("d", "label(-1)", "−1", tooltip="Label −1: disagreeing supports the issue"),
        Binding("n", "label(0)", "0", tooltip="Label 0: the statement is not related to the issue"),
        Binding("space", "withdraw", "Withdraw", show=False, tooltip="Withdraw the label under the cursor"),
        Binding("f", "fill", "Rest 0", tooltip="Give 0 to every issue of the statement that has no label"),
        Binding("u,enter", "next", "Next", key_display="u", tooltip="Go to the next cell without a label"),
        Binding("z", "undo", "Undo", tooltip="Undo the last label, then earlier ones"),
        Binding("x", "only_open", "Open only", tooltip="Show only unfinished statements, or all"),
        Binding("i", "issues", "Issues", tooltip="Show the definitions of the issues"),
        Binding("t", "text", "Text", show=False, tooltip="Show the whole statement"),
        Binding("p", "person", "Person", show=False, tooltip="Choose who labels"),
        Binding("escape,q", "leave", "Leave", key_display="Esc", tooltip="Leave; all labels are saved"),
    ]
    UNIT = "statement"

    @dataclass
    class Shown(Message):
        """The person's sheet was read."""

        sheet: Sheet

    @dataclass
    class Labelled(Message):
        """What was asked is on disk."""

        asked: Asked
        done: Done

    @dataclass
    class Undone(Message):
        """A step was taken back; None: there was none."""

        done: Done | None

    table = query_one("#grid", IssueTable)
    statement = query_one("#statement", ReadText)

    def __init__(self, instrument: str) -> None:
        super().__init__()
        self._instrument = instrument
        self._issues: tuple[IssueDefinition, ...] = ()
        self._rows: dict[str, Row] = {}
        self._listed: tuple[str, ...] = ()
        self._only_open = False
        self._fresh = False
        "whether the cursor has yet to be put on the first cell without a label"
        self._ahead: deque[tuple[str, float]] = deque()
        self._in_sight: str | None = None
        self._steps = 0
        self._per_hour: float | None = None

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
        self.call_after_refresh(self._show_cell)

    @property
    def current(self) -> Row | None:
        """The statement under the cursor."""
        return self._rows.get(self.table.current or "")

    def on_key(self, event: events.Key) -> None:
        """Take the keys that label, before any binding sees them, with the time at which they were pressed."""
        action = action_on(self, event.key)
        labels = event.key in LABEL_KEYS and action.partition("(")[0] in ("", "nothing", "label", "withdraw")
        if labels or action == "fill":
            event.stop()
            event.prevent_default()
            self._press(FILL if action == "fill" else event.key, event.time)

    @on(Shown)
    def show_sheet(self, event: Shown) -> None:
        """Show all rows; the cursor stays on its cell, or goes to the first one without a label."""
        self._fresh = not self._rows
        self.answered()
        others = [issue.name for issue in event.sheet.issues] != [issue.name for issue in self._issues]
        self._issues = event.sheet.issues
        self._rows = {row.ref: row for row in event.sheet.rows}
        self._per_hour = event.sheet.per_hour
        if not self._issues:
            self._ask_for_issues()
            return
        self.query_one("#below").display = bool(self._rows)
        self._list(other_columns=others)
        self._show_cell()

    @on(Labelled)
    def go_on(self, event: Labelled) -> None:
        """Show what is on disk, then move the cursor if it is still there, then take the key that waited."""
        self.answered()
        asked, done = event.asked, event.done
        self._take(done)
        self._said = f"{visible(asked.ref)}: {given(asked.labels)} ({'saved' if done.issues else 'as before'})"
        here = self.table.current == asked.ref
        if here and asked.moves:
            self._advance(asked.whole_row)
        self._show_cell()
        if self.table.current == asked.ref and self._ahead:
            key, at = self._ahead.popleft()
            self._press(key, at)
        elif self._ahead:
            self._say_dropped(len(self._ahead))
            self._ahead.clear()

    @on(Undone)
    def show_undone(self, event: Undone) -> None:
        self.answered()
        if event.done is None:
            self._said = "nothing to undo"
        else:
            self._take(event.done)
            labels = given(dict.fromkeys(event.done.issues)).removesuffix(" withdrawn")
            self._said = f"{visible(event.done.row.ref)}: undone: {labels}"
            self._go_to(event.done.row.ref, event.done.issues[0] if event.done.issues else None)
        self._show_cell()

    @on(IssueTable.CellHighlighted)
    def _show_cell(self) -> None:
        """Show the issue and the statement under the cursor."""
        if self._fresh and self.table.keys:  # the sheet may be there before the table has its place
            self._fresh = False
            self._go_to_open(at=0)
        row = self.current
        if row is None or not self._issues:
            self.show_progress()
            return
        issue = self._issues[min(self.table.issue, len(self._issues) - 1)]
        width = max(20, self.size.width - 2)
        self.query_one("#issue", Static).update(issue_lines(issue, width, DEFINITION_LINES), layout=False)
        if row.statement.text != self.statement._text or self._in_sight != row.ref:
            self._in_sight, self._seen_at = row.ref, NEVER
            self.statement.show(visible(row.statement.text, lines=True) or "(the statement has no original wording)")
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
        """Go to the next cell without a label, around the end."""
        if not self._go_to_open(at=self.table.cursor_row, after=self.table.issue):
            self._said = "every listed cell has a label; G on Statements shows which labels are gold"
            self.show_progress()

    def action_undo(self) -> None:
        if not self._busy:
            self.submit(lambda session: self.Undone(session.undo()), "the undo")

    def action_only_open(self) -> None:
        """Show only statements that are not done, or all. A statement that is done meanwhile stays until then."""
        self._only_open = not self._only_open
        self._list()
        self._show_cell()

    def action_issues(self) -> None:
        heads = [column.label.strip() for column in self._columns(self.table.size.width)[2:]]
        self.app.push_screen(TextScreen("What supporting each issue means", scheme_text(self._issues, heads)))

    def action_text(self) -> None:
        if (row := self.current) is not None:
            self.app.push_screen(TextScreen(row.ref, row.statement.text))

    def action_refresh(self) -> None:
        """Read statements and labels again."""
        if not self._busy or self.trouble.shown:
            self._read()

    def action_person(self) -> None:
        self.app.push_screen(PersonDialog((), self.person), self._keep_person)  # no list: who labelled is not shown

    def _keep_person(self, name: str | None) -> None:
        if name is not None:
            setattr(self.app, "annotator", name)  # noqa: B010
            self._label_as(name)
        elif self.person is None:
            self.dismiss(None)

    def _label_as(self, name: str) -> None:
        """Begin this person's session; forget what was shown to another one."""
        self._rows, self._steps, self._said = {}, 0, ""
        self.begin(lambda path: IssueSession(path, self._instrument, name))
        self._read()

    def _read(self) -> None:
        self.submit(lambda session: self.Shown(session.sheet()))

    def _ask_for_issues(self) -> None:
        def take(agreed: bool | None) -> None:
            if agreed:
                self.submit(lambda session: self.Shown(session.take_shipped_issues()))
            else:
                self.dismiss(None)

        question = NO_ISSUES.format(instrument=self._instrument)
        self.app.push_screen(ConfirmScreen(question, "Use these eight", "Leave"), take)

    def _press(self, key: str, at: float) -> None:
        """Do what a key asks, now or after what is being written."""
        row = self.current
        if row is None or not self._issues:
            return
        if not self.was_seen(at):
            self._say_dropped(1)
            return
        if self._busy:
            self._ahead.append((key, at))
            return
        if key == FILL:
            open_ = {issue.name: 0 for issue in self._issues if issue.name not in row.labels}
            if open_:
                self._give(row, Asked(row.ref, open_, moves=True, whole_row=True))
            else:
                self._advance(whole_row=True)
            return
        label, issue = LABEL_KEYS[key], self._issues[self.table.issue].name
        self._give(row, Asked(row.ref, {issue: label}, moves=label is not None, whole_row=False))

    def _say_dropped(self, keys: int) -> None:
        """Append that some keys were ignored to the message about the last label."""
        said = self._said.partition(DROPPED)[0]
        self._said = f"{said}{DROPPED}{plural(keys, 'key')} ignored: typed before this statement was shown"
        self.show_progress()

    def _give(self, row: Row, asked: Asked) -> None:
        self.submit(lambda session: self.Labelled(asked, session.put(row, asked.labels)), given(asked.labels))

    def _take(self, done: Done) -> None:
        """Put a statement's labels into its row."""
        self._rows[done.row.ref] = done.row
        self._steps, self._per_hour = done.steps, done.per_hour
        self.table.replace(grid_record(done.row, self._issues, self.table._laid_out))

    def _advance(self, whole_row: bool) -> None:
        """Go on to the next issue, from the last one to the first without a label; from a statement that has all its
        labels to the next one. So `f` fills the statement whose labels were just given.
        """
        row, issue = self.table.cursor_row, self.table.issue
        here = open_cell([self._rows[self.table.keys[row]]], self._issues)
        if not whole_row and issue + 1 < len(self._issues):
            self.table.go_to(row, issue + 1)
        elif not whole_row and here is not None:
            self.table.go_to(row, here[1])
        elif row + 1 < self.table.row_count:
            below = open_cell([self._rows[self.table.keys[row + 1]]], self._issues)
            self.table.go_to(row + 1, below[1] if below is not None else 0)

    def _go_to_open(self, at: int, after: int = -1) -> bool:
        """Go to the first cell without a label from a row on, behind the cell `after` of that row; around the end."""
        place = open_cell([self._rows[key] for key in self.table.keys], self._issues, at, after)
        if place is not None:
            self.table.go_to(*place)
        return place is not None

    def _go_to(self, ref: str, issue: str | None) -> None:
        """Go to a cell; one that is not listed is listed again with all others."""
        if ref not in self.table.keys:
            self._only_open = False
            self._list()
        names = [one.name for one in self._issues]
        self.table.go_to(self.table.keys.index(ref), names.index(issue) if issue in names else self.table.issue)

    def _list(self, *, other_columns: bool = False) -> None:
        """Show the rows that are meant."""
        rows = [row for row in self._rows.values() if not (self._only_open and is_done(row, self._issues))]
        self._listed = tuple(row.ref for row in rows)
        if other_columns:
            self.table.lay_out_for(self._records)
        else:
            self.table.show_for_width(self._records)
        self.query_one("#below").display = bool(rows)

    def _columns(self, width: int) -> list[Column]:
        return grid_columns(width, self._issues)

    def _records(self, width: int) -> list[Record]:
        return [grid_record(self._rows[ref], self._issues, width) for ref in self._listed]

    def _show_where(self) -> None:
        if (row := self.current) is not None:
            rest = max(0, len(self.statement.lines) - self.statement.size.height)
            self.query_one("#where", Static).update(where_line(row, rest), layout=False)

    def show_progress(self) -> None:
        if self.trouble.shown:
            return  # the line says what was not saved
        tally = Tally(sum(is_done(row, self._issues) for row in self._rows.values()), len(self._rows), self._per_hour)
        said = last_line(self._said, self._steps, before="")
        if not self._listed:
            said = Content("every statement is labelled: x shows all" if self._only_open else "there are no statements")
        elif self._only_open:
            said = Content("  ").join(part for part in (Content("unfinished only"), said) if part.plain)
        self.say(pace_line(tally, said, narrow=True))
        if self.person is not None:
            self.title_bar.note = title_note(self.person, tally)

    def failed(self, error: WorkbenchError) -> None:
        """Show what could not be done. Who has no name that may be one can give another: p."""
        self._ahead.clear()
        super().failed(error)
