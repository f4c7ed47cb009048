"""The label grid: statements by policy issues, one person's own labels, on disk before the cursor
moves on.

Keys that are pressed while a label is being written wait for it; what was typed ahead of the next
statement is dropped, so that no label lands on a statement that nobody saw.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
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
from workbench.tui.annotation.annotate_format import ReadText, last_line, pace_line, title_note
from workbench.tui.annotation.session import NEVER, SessionScreen, Shows, Tally
from workbench.tui.format import literal
from workbench.tui.keymap import action_on
from workbench.tui.kit.base import app_of, once_painted, say
from workbench.tui.kit.dialogs import ConfirmScreen, TextScreen
from workbench.tui.kit.person_dialog import PersonDialog
from workbench.tui.widgets.long_text import folded
from workbench.tui.widgets.record_table import Cells, Column, FluidTable, Record

if TYPE_CHECKING:
    from stores.annotation.issue_annotator import IssueAnnotator, Row, Sheet, Step

REF = 9
LEAST_TEXT = 8
WIDEST, NARROWEST = 5, 3
"columns of an issue, the gap among them"
CELL_CHARACTERS = 300
CUT = " … (i)"
"stands where a definition goes on, with the key that shows all of it"
SIGNS = {1: "+1", 0: "0", -1: "−1", None: "·"}
LEAD = 2
"columns before those of the issues: ref and statement"
FILLERS = frozenset(("and", "of", "the", "for", "in", "to"))

EXPLAIN = section("screens-annotation", "Labelling policy issues")


def issue_width(width: int, issues: int) -> int:
    """Return how many columns an issue has in a table of this width."""
    room = (width - 1 - REF - LEAST_TEXT) // max(1, issues)
    return max(NARROWEST, min(WIDEST, room))


def grid_columns(width: int, issues: Sequence[IssueDefinition]) -> list[Column]:
    """Return the columns: ref, statement, and one an issue."""
    each = issue_width(width, len(issues))
    heads = short_heads([issue.name for issue in issues], each - 1)
    columns = [Column("ref", "id", REF), Column("text", "statement", None)]
    return columns + [
        Column(issue.name, f"{head:>{each - 1}} ", each)
        for issue, head in zip(issues, heads, strict=True)
    ]


def grid_record(row: Row, issues: Sequence[IssueDefinition], width: int) -> Record:
    """Return a row of the table."""
    each = issue_width(width, len(issues))
    labels = (label_cell(row.labels.get(issue.name), each) for issue in issues)
    ref = literal(row.ref, REF - 1, style="" if is_done(row, issues) else "bold")
    text = literal(row.statement.text[:CELL_CHARACTERS])
    room = max(8, width - 1 - REF - each * len(issues)) - 1
    text.truncate(room, overflow="ellipsis")
    return row.ref, (ref, text, *labels)


def label_cell(label: int | None, width: int) -> Text:
    """Return ` +1 `, ` −1 `, `  0 `, `  · `: signs first, so that nothing hangs on colour."""
    style = {1: "bold green", -1: "bold red", 0: "", None: "dim"}[label]
    return Text(f"{SIGNS[label]:>{width - 1}} ", style=style)


def short_heads(names: Sequence[str], width: int) -> list[str]:
    """Return a short head for each issue, all different: its first word that no other issue has,
    cut.

    Examples
    --------
    >>> short_heads(["open_foreign_policy", "liberal_economic_policy", "liberal_society", "social_welfare"], 4)
    ['open', 'econ', 'socy', 'socl']
    """  # noqa: E501
    words = [
        [w for w in visible(name).replace("_", " ").lower().split() if w not in FILLERS]
        for name in names
    ]
    shared = Counter(word for each in words for word in set(each))
    chosen = [next((w for w in each if shared[w] == 1), each[0] if each else "?") for each in words]
    heads = [
        literal(word, width).plain.replace("…", "") if len(word) <= width else word[:width]
        for word in chosen
    ]
    times = Counter(heads)
    heads = [
        h if times[h] == 1 else word[: width - 1] + word[-1:]
        for h, word in zip(heads, chosen, strict=True)
    ]
    times = Counter(heads)
    return [h if times[h] == 1 else f"{h[:1]}{n + 1}"[:width] for n, h in enumerate(heads)]


def is_done(row: Row, issues: Sequence[IssueDefinition]) -> bool:
    """Whether a statement has a label for every issue."""
    return all(issue.name in row.labels for issue in issues)


def open_cell(
    rows: Sequence[Row], issues: Sequence[IssueDefinition], at: int = 0, after: int = -1
) -> tuple[int, int] | None:
    """Return the place (row, issue) of the first cell without a label from a row on; around the
    end.

    after : place of an issue; cells of the first row up to it come last
    """
    for step in range(len(rows) + 1 if rows else 0):
        row = (at + step) % len(rows)
        for place, issue in enumerate(issues):
            if (step > 0 or place > after) and issue.name not in rows[row].labels:
                return row, place
    return None


def issue_lines(issue: IssueDefinition, width: int = 0, lines: int = 0) -> Content:
    """Return an issue's title and definition; with `lines`, cut to so many of this width."""
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
    for place, issue in enumerate(issues):
        head = f"{heads[place]:<5}" if heads else ""
        lines += [Content.assemble((head, "$text-accent"), issue_lines(issue)), Content("")]
    return Content("\n").join(lines[:-1])


def where_line(row: Row, others: int) -> Content:
    """Return `for-01 · vd · alliances`, and where the statement is longer than its place, how to
    see all.
    """
    about = " · ".join(
        visible(part) for part in (row.ref, row.statement.country, row.statement.topic) if part
    )
    rest = f"   {others} more lines: t shows all" if others > 0 else ""
    return Content.assemble((literal(about, 50).plain, "$text-muted"), (rest, "$text-warning"))


KEYS = Content.assemble(
    ("a", "bold"),
    " +1 agreeing supports it   ",
    ("d", "bold"),
    " −1 disagreeing does   ",
    ("n", "bold"),
    " 0 not related",
)


def given(labels: Mapping[str, int | None]) -> str:
    """Say what a step gives: `+1 law and order`, `0 for 5 issues`."""
    if len(labels) == 1:
        [(issue, label)] = labels.items()
        name = visible(issue).replace("_", " ")
        return f"{name} withdrawn" if label is None else f"{SIGNS[label]} {name}"
    return f"0 for {plural(len(labels), 'issue')}"


@dataclass(frozen=True, slots=True)
class Done:
    """What a step did."""

    row: Row
    "the statement as it is now"
    issues: tuple[str, ...]
    "those whose label changed; none where all were so already"
    steps: int
    "how often one can undo"
    per_hour: float | None


class IssueSession:
    """One person over the statements of an instrument. Any of them is labelled at any time, so none
    is leased.
    """

    def __init__(self, path: Path, instrument: str, name: str):
        self._instrument, self._name = instrument, name
        self._path = path
        self.annotator = self._open()
        self._steps: list[Step] = list(self.annotator.steps())
        "the newest last"

    def sheet(self) -> Sheet:
        """Return all statements with this person's labels; issues without a definition have the
        shipped one.
        """
        from workbench.data import shipped_issue_scheme
        from workbench.issue_schemes import defined

        sheet = self.annotator.sheet()
        names = [issue.name for issue in sheet.issues]
        return replace(sheet, issues=defined(names, sheet.issues, shipped_issue_scheme().issues))

    def take_shipped_issues(self) -> Sheet:
        """Give the instrument the shipped issues, unless somebody gave it others meanwhile."""
        from stores.core.store import Store
        from workbench.data import shipped_issue_scheme

        with Store.open(self._path) as store:
            if not store.issues.names(self._instrument):
                store.issues.set_scheme(self._instrument, shipped_issue_scheme().issues)
        return self.sheet()

    def put(self, row: Row, labels: Mapping[str, int | None]) -> Done:
        """Commit labels of one statement."""
        from stores.annotation.issue_annotator import Step

        seen = {issue: row.labels.get(issue) for issue in labels}
        after, before = self.annotator.put(row, labels, expected=seen)
        if before:
            self._steps.append(Step(after, before, {issue: labels[issue] for issue in before}))
        return self._done(after, before)

    def undo(self) -> Done | None:
        """Put back what stood before the newest step; None where there is no step.

        A step whose labels were changed elsewhere since cannot be undone: it is forgotten, and
        ConflictError raised.
        """
        if not self._steps:
            return None
        step = self._steps.pop()
        row, _ = self.annotator.put(step.row, step.before, expected=step.after)
        return self._done(row, step.before)

    def move(self, path: Path) -> None:
        self._path = path
        before, self.annotator = self.annotator, self._open()
        before.close()

    def close(self) -> None:
        self.annotator.close()

    def _open(self) -> IssueAnnotator:
        from stores.annotation.issue_annotator import IssueAnnotator

        return IssueAnnotator.open(self._path, self._instrument, self._name)

    def _done(self, row: Row, changed: Mapping[str, int | None]) -> Done:
        return Done(row, tuple(changed), len(self._steps), self.annotator.pace())


class IssueTable(FluidTable, inherit_bindings=False):
    """Rows of statements, columns of issues. Letters that label are left to the screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "cursor_up", "Row above", show=False),
        Binding("down,j", "cursor_down", "Row below", show=False),
        Binding("left,h", "cursor_left", "Previous issue", show=False),
        Binding("right,l", "cursor_right", "Next issue", show=False),
        Binding("pageup", "page_up", "Page above", show=False),
        Binding("pagedown", "page_down", "Page below", show=False),
        Binding("home,g", "scroll_top", "First row", show=False),
        Binding("end,G", "scroll_bottom", "Last row", show=False),
    ]

    def __init__(self, layout: Callable[[int], Sequence[Column]], *, name: str) -> None:
        super().__init__(layout, name=name, marks_columns=True)
        self.cursor_type = "cell"

    @property
    def issue(self) -> int:
        """The place of the issue under the cursor."""
        return max(0, self.cursor_coordinate.column - LEAD)

    def lay_out_for(self, cells: Cells) -> None:
        """Show records that have other columns than those before."""
        self._cells_for = cells
        self.lay_out_again()

    def go_to(self, row: int, issue: int) -> None:
        """Put the cursor on a cell."""
        self.move_cursor(row=row, column=LEAD + issue, animate=False)

    def replace(self, record: Record) -> None:
        """Show one record anew; nothing where the list does not have it."""
        keys = self.keys
        if record[0] not in keys:
            return
        place = keys.index(record[0])
        before = self._records
        self._records = (*before[:place], record, *before[place + 1 :])
        self._update_row(record, before[place])

    def validate_cursor_coordinate(self, value: Coordinate) -> Coordinate:
        found = super().validate_cursor_coordinate(value)
        if found.column < LEAD < len(self.ordered_columns):
            return Coordinate(found.row, LEAD)
        return found

    def _lay_out(self, width: int) -> None:
        issue = self.issue
        super()._lay_out(width)
        self._return_to(issue)

    def _fill(self, row: int) -> None:
        issue = self.issue
        super()._fill(row)
        self._return_to(issue)

    def _return_to(self, issue: int) -> None:
        """Put the cursor back on an issue: clearing a table takes it to the first."""
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
"of the issue under the cursor; their places are fixed, so that nothing jumps"
NO_ISSUES = (
    "{instrument} has no policy issues yet. Use the eight of Ceron et al. 2024 (smartvote)? "
    "Others come from a file: workbench issues STORE --scheme FILE"
)
TALL = 34
"lines of a terminal from which a statement has more room"
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
        self._issues: tuple[IssueDefinition, ...] = ()
        self._rows: dict[str, Row] = {}
        self._listed: tuple[str, ...] = ()
        self._only_open = False
        self._fresh = False
        "whether the cursor has yet to be put on the first cell without a label"
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
        once_painted(self, self._show_cell)

    @property
    def current(self) -> Row | None:
        """The statement under the cursor."""
        return self._rows.get(self.table.current or "")

    def on_key(self, event: events.Key) -> None:
        """Take the keys that label, before any binding sees them, with the time at which they were
        pressed.
        """
        if key := self._label_key(event.key):
            event.stop()
            event.prevent_default()
            self._press(key, event.time)

    def is_ahead(self, event: events.Event) -> bool:
        """Return whether a key labels a statement that was not in sight for long enough when it was
        pressed.
        """
        if not isinstance(event, events.Key) or self.current is None or self.was_seen(event.time):
            return False
        return bool(self._label_key(event.key)) or action_on(self, event.key) == "undo"

    def _label_key(self, key: str) -> str:
        """Return a key if it labels, or an empty string."""
        action = action_on(self, key)
        if action == "fill":
            return FILL
        labels = key in LABEL_KEYS and action.partition("(")[0] in (
            "",
            "nothing",
            "label",
            "withdraw",
        )
        return key if labels else ""

    def show_sheet(self, sheet: Sheet) -> None:
        """Show all rows; the cursor stays on its cell, or goes to the first one without a label."""
        self._fresh = not self._rows
        self.answered()
        others = [issue.name for issue in sheet.issues] != [issue.name for issue in self._issues]
        self._issues = sheet.issues
        self._rows = {row.ref: row for row in sheet.rows}
        self._per_hour = sheet.per_hour
        if not self._issues:
            self._ask_for_issues()
            return
        self.query_one("#below").display = bool(self._rows)
        self._list(other_columns=others)
        self._show_cell()

    def go_on(self, asked: Asked, done: Done) -> None:
        """Show what is on disk, then move the cursor if it is still there."""
        self.answered()
        self._take(done)
        self._said = (
            f"{visible(asked.ref)}: {given(asked.labels)} "
            f"({'saved' if done.issues else 'as before'})"
        )
        here = self.table.current == asked.ref
        if here and asked.moves:
            self._advance(asked.whole_row)
        self._show_cell()

    def look_again(self, sheet: Sheet, why: str) -> None:
        """Show what another session of this person made of the statements; nothing was stored."""
        self.show_sheet(sheet)
        say(self, f"{why}; look again", warns=True)

    def show_undone(self, done: Done | None) -> None:
        self.answered()
        if done is None:
            self._said = "nothing to undo"
        else:
            self._take(done)
            labels = given(dict.fromkeys(done.issues)).removesuffix(" withdrawn")
            self._said = f"{visible(done.row.ref)}: undone: {labels}"
            self._go_to(done.row.ref, done.issues[0] if done.issues else None)
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
        """Go to the next cell without a label, around the end."""
        if not self._go_to_open(at=self.table.cursor_row, after=self.table.issue):
            self._said = (
                "every listed cell has a label; G on Statements shows which labels are gold"
            )
            self.show_progress()

    def action_undo(self) -> None:
        if not self._busy:
            self.submit(lambda session: partial(self.show_undone, session.undo()), "the undo")

    def action_only_open(self) -> None:
        """Show only statements that are not done, or all. A statement that is done meanwhile stays
        until then.
        """
        self._only_open = not self._only_open
        self._list()
        self._show_cell()

    def action_issues(self) -> None:
        heads = [column.label.strip() for column in self._columns(self.table.size.width)[2:]]
        self.app.push_screen(
            TextScreen("What supporting each issue means", scheme_text(self._issues, heads))
        )

    def action_text(self) -> None:
        if (row := self.current) is not None:
            self.app.push_screen(TextScreen(row.ref, row.statement.text))

    def action_refresh(self) -> None:
        """Read statements and labels again."""
        if not self._busy or self.trouble.shown:
            self._read()

    def action_person(self) -> None:
        # No list: who labelled is not shown.
        self.app.push_screen(PersonDialog((), self.person), self._keep_person)

    def _keep_person(self, name: str | None) -> None:
        if name is not None:
            app_of(self).annotator = name
            self._label_as(name)
        elif self.person is None:
            self.dismiss(None)

    def _label_as(self, name: str) -> None:
        """Begin this person's session; forget what was shown to another one."""
        self._rows, self._steps, self._said = {}, 0, ""
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
        """Do what a key asks."""
        row = self.current
        if row is None or not self._issues:
            return
        if self._busy or not self.was_seen(at):
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

    def _give(self, row: Row, asked: Asked) -> None:
        def give(session: IssueSession) -> Shows:
            try:
                return partial(self.go_on, asked, session.put(row, asked.labels))
            except ConflictError as error:
                sheet = session.sheet()
                if row.statement not in [other.statement for other in sheet.rows]:
                    raise
                return partial(self.look_again, sheet, str(error))

        self.submit(give, given(asked.labels))

    def _take(self, done: Done) -> None:
        """Put a statement's labels into its row."""
        self._rows[done.row.ref] = done.row
        self._steps, self._per_hour = done.steps, done.per_hour
        self.table.replace(grid_record(done.row, self._issues, self.table._laid_out))

    def _advance(self, whole_row: bool) -> None:
        """Go on to the next issue, from the last one to the first without a label; from a statement
        that has all its labels to the next one. So `f` fills the statement whose labels were just
        given.
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
        """Go to the first cell without a label from a row on, behind the cell `after` of that row;
        around the end.
        """
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
        self.table.go_to(
            self.table.keys.index(ref), names.index(issue) if issue in names else self.table.issue
        )

    def _list(self, *, other_columns: bool = False) -> None:
        """Show the rows that are meant."""
        rows = [
            row
            for row in self._rows.values()
            if not (self._only_open and is_done(row, self._issues))
        ]
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
        tally = Tally(
            sum(is_done(row, self._issues) for row in self._rows.values()),
            len(self._rows),
            self._per_hour,
        )
        said = last_line(self._said, self._steps, before="")
        if not self._listed:
            said = Content(
                "every statement is labelled: x shows all"
                if self._only_open
                else "there are no statements"
            )
        elif self._only_open:
            said = Content("  ").join(
                part for part in (Content("unfinished only"), said) if part.plain
            )
        self.say(pace_line(tally, said, narrow=True))
        if self.person is not None:
            self.title_bar.note = title_note(self.person, tally)

    def failed(self, error: WorkbenchError) -> None:
        """Show what could not be done. Who has no name that may be one can give another: p."""
        super().failed(error)
