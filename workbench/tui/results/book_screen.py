"""The results of one audit: a list of tables, the table in sight, the details of its current
row.
"""

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
from workbench.tui.results.behind import Origin, Ways
from workbench.tui.results.details import TURNS, TURNS_COLUMNS, explained
from workbench.tui.results.grid import Grid, sheet_of
from workbench.tui.results.judging import JudgingScreen
from workbench.tui.results.loaded import Comparing, Loaded, Look, Shown
from workbench.tui.results.sheet import Picture
from workbench.tui.results.sheet_view import SheetView
from workbench.tui.widgets.record_table import FluidTable

if TYPE_CHECKING:
    from workbench.evidence.rulings import Told


TABLES_FIRST, MORE_KEY = 5, "F2"
"how many of an audit's tables are named above them, and the key that lists all"


class BookScreen(JudgingScreen):
    """Shows a book. An audit says how it is judged, what can be chosen, and where links lead that
    leave the book.
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
        Binding("shift+tab,left_square_bracket", "view(-1)", "Previous view", show=False),
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
    "lines above the table that say by what it was judged"
    PICTURES: ClassVar[Mapping[str, type[Picture]]] = {}
    "view of an entry -> what draws its table, beside it or, in a narrow terminal, above it"

    _changed: frozenset[str] = frozenset()
    "words of the choices that were made last: they come first among those above the table"

    def _take(self, loaded: Loaded) -> None:
        if self._loaded is not None and loaded.settings != self._loaded.settings:
            self._changed = frozenset(words for _, words in loaded.options) - {
                words for _, words in self._loaded.options
            }
        super()._take(loaded)

    def begin_anew(self) -> None:
        look = replace(self._look, view="")
        if self._loaded is not None and self._loaded.judged is not None:
            self._go(look)
        else:
            self._look = look

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
        """Return whether the table in sight depends on a choice."""
        entry = self._entry
        return entry is not None and choice in entry.choices

    def explain(self) -> str:
        sheet, entry = self._shown.sheet, self._entry
        if sheet is None or entry is None:
            return self.EXPLAIN
        turns = TURNS if len(entry.subjects) > 1 else ""
        said = explained(sheet.table, turns=TURNS_COLUMNS if isinstance(sheet, Grid) else turns)
        return "\n\n".join(filter(None, (said, " · ".join(map(visible, self.chosen(entry))))))

    @on(SheetView.Current)
    def draw_picture(self) -> None:
        """Show where the current row stands in the picture."""
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
        """Choose among all tables."""
        if self._book is not None:
            names = {entry.name: Content(visible(entry.title)) for entry in self._book.contents}
            asked = ListDialog("Tables", names, self._look.view)
            with_answer(self, asked, lambda name: self._go(replace(self._look, view=name)))

    async def action_leave(self) -> None:
        """Show all rows again, or leave where all are in sight."""
        if not self.view.take_back():
            await self.app.run_action("back")

    def comparable(self) -> Sequence[str]:
        """Return the names of the runs that can be compared here."""
        return ()

    def comparing(self, names: tuple[str, ...]) -> Comparing:
        """Return what makes a comparison of runs, judged as the figures in sight are."""
        raise NotImplementedError  # a screen that has comparable runs says how

    def action_side_by_side(self) -> None:
        """Choose two runs or more, and show what changed between them."""
        from workbench.tui.comparison.choice import CompareScreen

        names = self.comparable()
        self.app.push_screen(CompareScreen(names, names if len(names) == 2 else ()), self._compare)

    def _compare(self, names: tuple[str, ...] | None) -> None:
        if names is not None and self._loaded is not None:
            from workbench.tui.routes import screen

            made = self.comparing(names)
            origin = Origin(self._loaded, Ways(self.title_bar.place, self.routes, self.SCREENS))
            self.app.push_screen(screen("side_by_side", names, made, origin))

    def action_report(self) -> None:
        """Write a report of everything that was asked."""
        from workbench.tui.kit.command_dialog import ReportDialog

        self.app.push_screen(ReportDialog())

    def action_rows(self) -> None:
        """Write rows of everything that was asked."""
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

    def shown_now(self, loaded: Loaded, look: Look) -> Shown:
        if loaded.book is None:
            return Shown(look)
        entry = loaded.book.entry(look.view)
        if entry.empty:
            return Shown(look)
        table = entry.make(*look.subject)
        if entry.view in self.PICTURES:
            table = self.PICTURES[entry.view].signed(table)
        said = entry.said(*look.subject) if entry.said is not None else ""
        return Shown(look, sheet_of(table, look.subject), said)

    def fitted(self, look: Look) -> Look:
        """Return the look at a table that there is, about a subject that it can have, as near as
        can be.
        """
        if self._book is None:
            return look
        entries = self._book.contents
        entry = next((one for one in entries if one.name == look.view), entries[0])
        return Look(entry.name, fitting_subject(entry, look.subject))

    def show_around(self, found: Shown) -> None:
        if self._loaded is not None and self._book is not None:
            entry = self._book.entry(found.look.view)
            chosen = [visible(one) for one in self.chosen(entry)]
            most = 1 if chosen else 2
            self.query_one("#header", Static).update(
                headed(self._book.header, self.size.width - 2, most)
            )
            self.query_one("#tabs", Static).update(
                tabs(self._book, found.look, self.size.width - 2)
            )
            lines = self.LINES_OF_OPTIONS + (self._told is not None and bool(self._told.changing))
            self.query_one("#options", Static).update(few_lines(chosen, self.size.width - 2, lines))

    def chosen(self, entry: Entry) -> list[str]:
        """Return the choices that a table rests on, in a few words each."""
        options = self._loaded.options if self._loaded is not None else ()
        ruled = [ruled_words(self._told)] if self._told is not None and self._told.changing else []
        said = [self._shown.said] if self._shown.said else []
        judged_by = [words for choice, words in options if not choice or choice in entry.choices]
        return [*said, *ruled, *sorted(judged_by, key=lambda words: words not in self._changed)]

    def show_around_nothing(self, loaded: Loaded) -> None:
        self.query_one("#header", Static).update("")
        self.query_one("#tabs", Static).update("")
        self.query_one("#options", Static).update(visible(loaded.instrument))

    def why_empty(self, loaded: Loaded, look: Look) -> str:
        if loaded.book is None:
            return loaded.empty
        said = loaded.book.entry(look.view).empty
        sheet = self._shown.sheet
        return said or (visible(sheet.table.empty, lines=True) if sheet is not None else "")

    def way_out(self, loaded: Loaded) -> str:
        return "o changes the rules." + " i shows the next instrument." * (
            len(loaded.instruments) > 1
        )

    @property
    def _book(self) -> Book | None:
        return self._loaded.book if self._loaded is not None else None

    @property
    def _told(self) -> Told | None:
        """What rulings change in these figures; None: they say nothing of rulings."""
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
        """The picture of the table in sight."""
        view = self._book.entry(self._shown.look.view).view if self._book is not None else ""
        return self.query_one(f"#picture-{view}", Picture) if view in self.PICTURES else None

    @property
    def _table(self) -> FluidTable:
        return self.view.table

    def _paint(self, found: Shown) -> None:
        if self._loaded is None or self._book is None:
            return
        if found.look != self._shown.look:
            gate_of(self).show_other(self)
        self._shown = found
        self.show_around(found)
        if found.sheet is None or not found.sheet.table.rows:
            self._say(self.why_empty(self._loaded, found.look))
            self.view.sheet = None
            return
        self._say(None)
        self.query_one("#body").set_class(self._picture is not None, "-pictured")
        for picture in self.query(".picture"):
            picture.set_class(picture is self._picture, "-shown")
        self.view.show(found.sheet)
        self.draw_picture()
        self.refresh_bindings()


def ruled_words(told: Told) -> str:
    """Return whether rulings count, and the key that turns it."""
    them = "it" if len(told.changing) == 1 else "them"
    return f"{told.in_short()}: A {f'leaves {them} out' if told.counted else f'counts {them}'}"


def fitting_subject(entry: Entry, subject: Subject) -> Subject:
    """Return a subject itself, else one about the same first name, else the entry's first."""
    if subject in entry.subjects:
        return subject
    same = (one for one in entry.subjects if subject[:1] and one[:1] == subject[:1])
    return next(same, entry.subjects[0] if entry.subjects else ())


def headed(lines: Sequence[str], width: int, most: int = 1) -> Content:
    """Return what stands above the tables: warnings, whole and in their colour, then at `most` so
    many other lines, as far as they fit. The notes have all of it.
    """
    shown = [visible(line) for line in lines]
    others = [line for line in shown if not line.startswith(WARNS)][:most]
    return Content("\n").join(
        [
            *(
                Content.styled(line, "bold $text-warning")
                for line in shown
                if line.startswith(WARNS)
            ),
            *(Content.styled("".join(_cut(line, width)), "$text-muted") for line in others),
        ]
    )


def _cut(text: str, width: int, most: int = 1) -> list[str]:
    """Return a text in lines, cut after a word where it needs more than `most`."""
    return wrap(text, width, max_lines=most, placeholder=" …", break_on_hyphens=False)


def few_lines(parts: Sequence[str], width: int, most: int = 1) -> str:
    """Return parts with ` · ` between them, as far as they fit in so many lines; `?` says all of
    them.

    Examples
    --------
    >>> few_lines(["✓ 2 of 8 pass", "veldania", "T 0.4, top-p 0.85, 20 tokens", "label-words"], 48)
    '✓ 2 of 8 pass · veldania · T 0.4, top-p 0.85, …'
    """
    lines = in_lines(parts, width, most=len(parts)).splitlines()
    fit = lines if len(lines) <= most else _cut(BETWEEN.join(parts), width, most)
    return "\n".join(fit)


def tabs(book: Book, look: Look, width: int) -> Content:
    """Return the names of the first tables, and of the one in sight, which is marked, and what it
    is about.
    """
    turn = " ← →" if len(book.entry(look.view).subjects) > 1 else ""
    subject = visible(" − ".join(look.subject))
    at = next(n for n, entry in enumerate(book.contents) if entry.name == look.view)
    names = [f"{'▸' if n == at else ' '}{entry.title} " for n, entry in enumerate(book.contents)]

    def row(first: int) -> Content:
        shown = sorted({*range(first), at})
        more = f" more … {MORE_KEY} " if len(shown) < len(names) else ""
        parts = [(names[n], "bold $text-accent" if n == at else "$text-muted") for n in shown]
        return Content.assemble(
            *parts, (more, "$text-muted"), " ", (subject, "bold"), (turn, "$text-muted")
        )

    most = len(names) if len(names) <= TABLES_FIRST + 1 else TABLES_FIRST
    return next((line for n in range(most, 0, -1) if (line := row(n)).cell_length <= width), row(0))
