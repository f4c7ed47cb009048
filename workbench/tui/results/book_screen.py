"""The screen of one audit's results: its tables, and the details of the current row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from textwrap import wrap
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from workbench.figures.book import WARNS, Book, Entry, Subject
from workbench.figures.visible import visible
from workbench.tui.format import BETWEEN, following, in_lines
from workbench.tui.kit.dialogs import ListDialog, TextScreen, with_answer
from workbench.tui.kit.key_gate import gate_of
from workbench.tui.kit.template_choice import TEMPLATES_KEY
from workbench.tui.results.behind import ScreenRoutes, SourceFigures
from workbench.tui.results.details import TURNS, TURNS_COLUMNS, table_help
from workbench.tui.results.grid import Grid, sheet_of
from workbench.tui.results.judging import JudgingScreen
from workbench.tui.results.loaded import Comparing, Loaded, ShownTable, TableView
from workbench.tui.results.sheet import Picture
from workbench.tui.results.sheet_view import SheetView
from workbench.tui.widgets.record_table import FluidTable

if TYPE_CHECKING:
    from workbench.evidence.rulings import RulingNotes


TABLES_FIRST, MORE_KEY = 5, "F2"
"number of an audit's tables that are named above them, and the key that lists all"


class BookScreen(JudgingScreen):
    """A screen that shows a book.

    An audit defines how it is judged, what can be chosen, and the targets of links out of the book.
    """

    FREE: ClassVar[frozenset[str]] = frozenset({"view", "refresh"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "tab,right_square_bracket",
            "view(1)",
            "View",
            key_display="Tab",
            tooltip="Show the next table",
        ),
        Binding(
            "shift+tab,left_square_bracket",
            "view(-1)",
            "Previous view",
            show=False,
            tooltip="Show the previous table",
        ),
        Binding(
            "f2",
            "tables",
            "Tables",
            key_display="F2",
            show=False,
            tooltip="Choose among all tables",
        ),
        Binding("i", "instrument", "Instrument", tooltip="Show the next instrument"),
        Binding(
            "H", "methods", "Methods", show=False, tooltip="Show a methods paragraph for a paper"
        ),
        Binding("n", "notes", "Notes", show=False, tooltip="Show notes on how to read the figures"),
        Binding("B", "side_by_side", "Compare", tooltip="Compare runs: differences, with tests"),
        Binding(
            "W",
            "report",
            "Report",
            show=False,
            tooltip="Write a report: a page with all figures, for a browser",
        ),
        Binding(
            "D",
            "rows",
            "Data",
            show=False,
            tooltip="Write rows for other programs: answers, readings, figures",
        ),
        Binding(
            "A",
            "rulings",
            "Rulings",
            tooltip="Apply auditors' rulings to the figures, or leave them out",
        ),
        Binding("escape", "leave", show=False),
        TEMPLATES_KEY,
    ]
    DEFAULT_CSS = """
    BookScreen SheetView #details {
        max-height: 10;
    }
    BookScreen .picture {
        display: none;
        width: 1fr;
        height: 1fr;
        min-height: 5;
    }
    BookScreen .picture.-shown {
        display: block;
    }
    BookScreen #body.-pictured SheetView {
        height: auto;
        max-height: 60%;
    }
    BookScreen #body.-pictured #list {
        max-height: 8;
    }
    BookScreen #body.-pictured #details {
        max-height: 4;
        margin: 0 1;
    }
    BookScreen.-narrow #body.-pictured #preview-title, BookScreen.-narrow #body.-pictured #preview {
        display: none;
    }
    BookScreen.-narrow #body.-pictured #beside {
        height: auto;
    }
    BookScreen.-wide #body.-pictured {
        layout: horizontal;
    }
    BookScreen.-wide #body.-pictured SheetView {
        width: 88;
        height: 1fr;
        max-height: 100%;
        margin-left: 1;
    }
    BookScreen.-wide #body.-pictured #list {
        max-height: 40%;
    }
    BookScreen.-wide #body.-pictured #details {
        max-height: 14;
        margin: 1 1 0 1;
    }
    """
    VERTICAL_BREAKPOINTS = [(0, "-short"), (SheetView.SHORT + 1, "-high")]  # noqa: RUF012  the base class declares it so
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (120, "-wide")]  # noqa: RUF012  the base class declares it so
    LINES_OF_OPTIONS: ClassVar[int] = 1
    "number of lines above the table for the options of the judgement"
    PICTURES: ClassVar[Mapping[str, type[Picture]]] = {}
    "class that draws a table, by view. It stands beside the table, or above it if narrow."

    _changed: frozenset[str] = frozenset()
    "words of the latest choices, which come first among those above the table"

    def _take(self, loaded: Loaded) -> None:
        if self._loaded is not None and loaded.settings != self._loaded.settings:
            self._changed = frozenset(text for _, text in loaded.options) - {
                text for _, text in self._loaded.options
            }
        super()._take(loaded)

    def begin_anew(self) -> None:
        table_view = replace(self._look, view="")
        if self._loaded is not None and self._loaded.judged is not None:
            self._go(table_view)
        else:
            self._look = table_view

    def compose_body(self) -> ComposeResult:
        yield Static(id="header", markup=False)
        yield Static(id="tabs", markup=False)
        yield Static(id="options", markup=False)
        yield Static(self.COUNTING, id="empty", markup=False, classes="-shown")
        with Container(id="body"):
            for name, picture in self.PICTURES.items():
                yield picture(id=f"picture-{name}", classes="picture")
            yield SheetView()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action == "rule":
            return self.RULED and self._judged is not None
        if action == "rulings":
            return self._told is not None and bool(self._told.changing)
        if action in ("report", "rows"):
            return self.RULED and self._judged is not None
        if action == "side_by_side":
            return len(self.comparable()) > 1
        if action == "list_rulings":
            return self.RULED and self._judged is not None
        if action == "review":
            return self.RULED and self.run_to_review() is not None
        if action == "instrument":
            return self._loaded is not None and len(self._loaded.instruments) > 1
        if action == "templates":
            return self._loaded is None or bool(self.runs_shown())
        if action == "notes":
            return bool(self._book is not None and (self._book.told or self._book.notes))
        if action == "methods":
            return bool(self._book is not None and self._book.methods)
        return self._book is not None or action not in ("view", "tables")

    def depends_on(self, choice: str) -> bool:
        """Return whether the visible table depends on a choice."""
        entry = self._entry
        return entry is not None and choice in entry.choices

    def explain(self) -> str:
        sheet, entry = self._shown.sheet, self._entry
        if sheet is None or entry is None:
            return self.EXPLAIN
        turns = TURNS if len(entry.subjects) > 1 else ""
        if isinstance(sheet, Grid):
            turns = TURNS_COLUMNS
        choice_texts = " · ".join(map(visible, self.chosen(entry)))
        return "\n\n".join(filter(None, (table_help(sheet.table, turns=turns), choice_texts)))

    @on(SheetView.Current)
    def draw_picture(self) -> None:
        """Show the position of the current row in the picture."""
        sheet, picture = self._shown.sheet, self._picture
        if sheet is not None and picture is not None:
            picture.near = self.view.near
            picture.show(sheet, sheet.row(self._table.current))

    @on(FluidTable.Sideways)
    def turn(self, event: FluidTable.Sideways) -> None:
        """Show the table about the next subject."""
        self.turn_to(event.direction)

    def turn_to(self, step: int) -> None:
        """Show the table about a neighbouring subject, around the ends."""
        entry = self._entry
        if entry is not None and len(entry.subjects) > 1:
            self._go(
                replace(self._look, subject=following(entry.subjects, self._look.subject, step))
            )

    def action_view(self, step: int) -> None:
        if self._book is not None:
            names = [entry.name for entry in self._book.contents]
            self._go(replace(self._look, view=following(names, self._look.view, step)))

    def action_tables(self) -> None:
        """Let the user choose among all tables."""
        if self._book is not None:
            names = {entry.name: Content(visible(entry.title)) for entry in self._book.contents}
            dialog = ListDialog("Tables", names, self._look.view)
            with_answer(
                self,
                dialog,
                lambda selected_name: self._go(replace(self._look, view=selected_name)),
            )

    async def action_leave(self) -> None:
        """Show all rows again, or leave the screen if all are visible."""
        if not self.view.show_all_rows():
            await self.app.run_action("back")

    def comparable(self) -> Sequence[str]:
        """Return the names of the runs that can be compared here."""
        return ()

    def comparing(self, names: tuple[str, ...]) -> Comparing:
        """Return the function that compares runs, judged with the options of these figures."""
        raise NotImplementedError  # a screen that has comparable runs says how

    def action_side_by_side(self) -> None:
        """Let the user choose two or more runs, and show what changed between them."""
        from workbench.tui.comparison.choice import CompareScreen

        names = self.comparable()
        self.app.push_screen(CompareScreen(names, names if len(names) == 2 else ()), self._compare)

    def _compare(self, names: tuple[str, ...] | None) -> None:
        if names is not None and self._loaded is not None:
            from workbench.tui.routes import screen

            comparing = self.comparing(names)
            origin = SourceFigures(
                self._loaded, ScreenRoutes(self.title_bar.place, self.routes, self.SCREENS)
            )
            self.app.push_screen(screen("side_by_side", names, comparing, origin))

    def action_report(self) -> None:
        """Write a report of all answers."""
        from workbench.tui.kit.command_dialog import ReportDialog

        self.app.push_screen(ReportDialog())

    def action_rows(self) -> None:
        """Write rows of all answers."""
        from workbench.tui.kit.command_dialog import RowsDialog

        self.app.push_screen(RowsDialog())

    def action_methods(self) -> None:
        if self._book is not None:
            self.app.push_screen(TextScreen("Methods, for the paper", self._book.methods))

    def action_notes(self) -> None:
        if self._book is not None:
            self.app.push_screen(
                TextScreen(
                    "Notes on these figures", "\n\n".join([*self._book.told, *self._book.notes])
                )
            )

    def make_table(self, loaded: Loaded, table_view: TableView) -> ShownTable:
        if loaded.book is None:
            return ShownTable(table_view)
        entry = loaded.book.entry(table_view.view)
        if entry.empty:
            return ShownTable(table_view)
        table = entry.make(*table_view.subject)
        if entry.view in self.PICTURES:
            table = self.PICTURES[entry.view].signed(table)
        remark = entry.said(*table_view.subject) if entry.said is not None else ""
        return ShownTable(table_view, sheet_of(table, table_view.subject), remark)

    def fitted(self, table_view: TableView) -> TableView:
        """Return the view of an existing table and subject that is nearest to a view."""
        if self._book is None:
            return table_view
        entries = self._book.contents
        entry = next(
            (candidate for candidate in entries if candidate.name == table_view.view), entries[0]
        )
        return TableView(entry.name, fitting_subject(entry, table_view.subject))

    def show_around(self, found: ShownTable) -> None:
        if self._loaded is not None and self._book is not None:
            entry = self._book.entry(found.table_view.view)
            choice_texts = [visible(text) for text in self.chosen(entry)]
            n_other_lines = 1 if choice_texts else 2
            self.query_one("#header", Static).update(
                headed(self._book.header, self.size.width - 2, n_other_lines)
            )
            self.query_one("#tabs", Static).update(
                tabs(self._book, found.table_view, self.size.width - 2)
            )
            lines = self.LINES_OF_OPTIONS + (self._told is not None and bool(self._told.changing))
            self.query_one("#options", Static).update(
                few_lines(choice_texts, self.size.width - 2, lines)
            )

    def chosen(self, entry: Entry) -> list[str]:
        """Return short texts of the choices that a table rests on."""
        options = self._loaded.options if self._loaded is not None else ()
        ruling_words = (
            [ruled_words(self._told)] if self._told is not None and self._told.changing else []
        )
        remark = [self._shown.said] if self._shown.said else []
        option_texts = [text for choice, text in options if not choice or choice in entry.choices]
        return [
            *remark,
            *ruling_words,
            *sorted(option_texts, key=lambda text: text not in self._changed),
        ]

    def show_around_nothing(self, loaded: Loaded) -> None:
        self.query_one("#header", Static).update("")
        self.query_one("#tabs", Static).update("")
        self.query_one("#options", Static).update(visible(loaded.instrument))

    def empty_reason(self, loaded: Loaded, table_view: TableView) -> str:
        if loaded.book is None:
            return loaded.empty
        reason = loaded.book.entry(table_view.view).empty
        sheet = self._shown.sheet
        return reason or (visible(sheet.table.empty, lines=True) if sheet is not None else "")

    def alternatives_hint(self, loaded: Loaded) -> str:
        hint = "o changes the rules."
        if len(loaded.instruments) > 1:
            hint += " i shows the next instrument."
        return hint

    @property
    def _book(self) -> Book | None:
        return self._loaded.book if self._loaded is not None else None

    @property
    def _told(self) -> RulingNotes | None:
        """The change that rulings make to these figures, or None if the result has no rulings."""
        return getattr(self._judged, "rulings", None)

    @property
    def _entry(self) -> Entry | None:
        names = [entry.name for entry in self._book.contents] if self._book is not None else []
        return (
            self._book.entry(self._look.view)
            if self._book is not None and self._look.view in names
            else None
        )

    @property
    def _picture(self) -> Picture | None:
        """The picture of the visible table, or None if it has none."""
        view = self._book.entry(self._shown.table_view.view).view if self._book is not None else ""
        return self.query_one(f"#picture-{view}", Picture) if view in self.PICTURES else None

    @property
    def _table(self) -> FluidTable:
        return self.view.table

    def _paint(self, found: ShownTable) -> None:
        if self._loaded is None or self._book is None:
            return
        if found.table_view != self._shown.table_view:
            gate_of(self).show_other(self)
        self._shown = found
        self.show_around(found)
        if found.sheet is None or not found.sheet.table.rows:
            self._say(self.empty_reason(self._loaded, found.table_view))
            self.view.sheet = None
            return
        self._say(None)
        self.query_one("#body").set_class(self._picture is not None, "-pictured")
        for picture in self.query(".picture"):
            picture.set_class(picture is self._picture, "-shown")
        self.view.show(found.sheet)
        self.draw_picture()
        self.refresh_bindings()


def ruled_words(told: RulingNotes) -> str:
    """Return whether rulings count, and the key that changes it."""
    pronoun = "it" if len(told.changing) == 1 else "them"
    return (
        f"{told.in_short()}: A {f'leaves {pronoun} out' if told.counted else f'counts {pronoun}'}"
    )


def fitting_subject(entry: Entry, subject: Subject) -> Subject:
    """Return a subject itself, else one about the same first name, else the entry's first."""
    if subject in entry.subjects:
        return subject
    similar_subjects = (
        candidate for candidate in entry.subjects if subject[:1] and candidate[:1] == subject[:1]
    )
    return next(similar_subjects, entry.subjects[0] if entry.subjects else ())


def headed(lines: Sequence[str], width: int, most: int = 1) -> Content:
    """Return the content above the tables: all warnings, and at most `most` other lines.

    Warnings are whole and in their colour. Other lines are truncated to the width. The notes have
    all of it.
    """
    safe_lines = [visible(line) for line in lines]
    other_lines = [line for line in safe_lines if not line.startswith(WARNS)][:most]
    return Content("\n").join(
        [
            *(
                Content.styled(line, "bold $text-warning")
                for line in safe_lines
                if line.startswith(WARNS)
            ),
            *(Content.styled("".join(_cut(line, width)), "$text-muted") for line in other_lines),
        ]
    )


def _cut(text: str, width: int, most: int = 1) -> list[str]:
    """Return a text in at most `most` lines, truncated after a word."""
    return wrap(text, width, max_lines=most, placeholder=" …", break_on_hyphens=False)


def few_lines(parts: Sequence[str], width: int, most: int = 1) -> str:
    """Return parts with ` · ` between them, truncated to at most `most` lines. `?` shows all.

    Examples
    --------
    >>> few_lines(["✓ 2 of 8 pass", "veldania", "T 0.4, top-p 0.85, 20 tokens", "label-words"], 48)
    '✓ 2 of 8 pass · veldania · T 0.4, top-p 0.85, …'
    """
    lines = in_lines(parts, width, most=len(parts)).splitlines()
    fitting_lines = lines if len(lines) <= most else _cut(BETWEEN.join(parts), width, most)
    return "\n".join(fitting_lines)


def tabs(book: Book, table_view: TableView, width: int) -> Content:
    """Return the titles of the first tables and of the visible, marked one, and its subject."""
    turn_hint = " ← →" if len(book.entry(table_view.view).subjects) > 1 else ""
    subject = visible(" − ".join(table_view.subject))
    current = next(
        index for index, entry in enumerate(book.contents) if entry.name == table_view.view
    )
    names = [
        f"{'▸' if index == current else ' '}{entry.title} "
        for index, entry in enumerate(book.contents)
    ]

    def row(first: int) -> Content:
        visible_indices = sorted({*range(first), current})
        more_text = f" more … {MORE_KEY} " if len(visible_indices) < len(names) else ""
        parts = [
            (names[index], "bold $text-accent" if index == current else "$text-muted")
            for index in visible_indices
        ]
        return Content.assemble(
            *parts, (more_text, "$text-muted"), " ", (subject, "bold"), (turn_hint, "$text-muted")
        )

    n_first = len(names) if len(names) <= TABLES_FIRST + 1 else TABLES_FIRST
    return next(
        (
            line
            for n_titles in range(n_first, 0, -1)
            if (line := row(n_titles)).cell_length <= width
        ),
        row(0),
    )
