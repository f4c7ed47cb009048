"""Screens that follow the link of a row.

Enter opens a table of the same book, or a screen of its own by a route out of the book.
"""

from __future__ import annotations

from asyncio import to_thread
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.binding import ActiveBinding, Binding, BindingType

from workbench.figures.table import Link
from workbench.tui.kit.base import say, worker
from workbench.tui.results.grid import sheet_of
from workbench.tui.results.loaded import Again, Loaded, Opened, Routes
from workbench.tui.results.sheet import Sheet
from workbench.tui.results.sheet_view import SheetView
from workbench.tui.routes import screen
from workbench.tui.rulings.ruling import LIST, RulingScreen
from workbench.tui.rulings.standing import RuledPlace, Standing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stores.core.store import Store
    from stores.runs.run_rows import Run

OPENING = "Reading …"


class JudgesAgain(RulingScreen):
    """A screen of figures from another screen, which are judged again after new rulings."""

    again: Again | None = None
    "function that judges figures with the current rulings, in a thread"
    _stood: Standing | None = None
    "rulings in force when the visible figures were judged"

    def judge_if_ruled(self, loaded: Loaded) -> None:
        """Judge figures again if rulings have changed since they were judged."""
        has_changed = self._stood is not None and self._stood != self.standing
        self._stood = self.standing
        if has_changed and self.again is not None:
            self.judge_again(self.again, loaded)

    def show_judged(self, loaded: Loaded) -> None:
        """Show figures that were judged again."""

    @worker("again", beside=True)
    async def judge_again(self, again: Again, loaded: Loaded) -> None:
        self.show_judged(await self.with_store(lambda store: again(store, loaded)))


class AmongRows(JudgesAgain):
    """A screen opened by a route, which can go on to the links of the neighbouring rows."""

    links: Sequence[Link] = ()
    "links of all visible rows"


class Following(JudgesAgain):
    """A screen with a `SheetView` of a book."""

    READS_ONLY = True
    FOOTER_FIRST: ClassVar[tuple[str, ...]] = (
        "select_cursor",
        "rule",
        "picture",
        "rulings",
        "view(1)",
        "review",
        "side_by_side",
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "V", "review", "Review", tooltip="Open the review queue: what an auditor reviews first"
        ),
        LIST,
        Binding(
            "Z",
            "near",
            "Zoom",
            show=False,
            tooltip="Draw the whole scale, or zoom to the intervals",
        ),
    ]

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.routes: Routes = {}
        """functions that open links out of the book, or to a table with its own screen, by table
        name"""
        self._previewed: Link | None = None

    @property
    def figures(self) -> Loaded | None:
        """The figures that links belong to."""
        raise NotImplementedError("abstract")

    @property
    def view(self) -> SheetView:
        return self.query_one(SheetView)

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        """The keys that work now. The one that zooms needs a visible picture."""
        bindings = super().active_bindings
        sheet = next((view.sheet for view in self.query(SheetView)), None)
        if (sheet is not None and sheet.drawn) or self.query(".picture.-shown"):
            return bindings
        return {
            key: active_binding
            for key, active_binding in bindings.items()
            if active_binding.binding.action != "near"
        }

    def run_in_sight(self) -> Run | None:
        return self.run_to_review()

    def reader_in_sight(self) -> str | None:
        rules = getattr(self.figures, "settings", None)
        rules = getattr(rules, "rules", rules)
        reader: str | None = getattr(getattr(rules, "readings", None), "by", None)
        return reader

    def action_near(self) -> None:
        self.view.zoom()

    def action_statement(self) -> None:
        """Open the page of the statement of the row under the cursor, where it can be edited."""
        if (place := self.ruled_place()) is not None:
            self.find_statement(place)

    def run_to_review(self) -> Run | None:
        """Return the last run of the figures with responses, or None without responses."""
        runs = self.figures.runs if self.figures is not None else ()
        return next((run for run in reversed(runs) if run.responses), None)

    def action_review(self) -> None:
        """Open the review queue of the visible run, with the reader of the figures."""
        run = self.run_to_review() if self.RULED else None
        if run is not None and self.figures is not None:
            self.app.push_screen(
                screen("review", (*run.design_key, run.family), self.reader_in_sight())
            )

    @on(SheetView.Opened)
    def open_row(self, event: SheetView.Opened) -> None:
        event.stop()
        if self.figures is not None:
            self.title_bar.note = OPENING
            self.bring(self.figures, event.links, event.at)

    @on(SheetView.Current)
    def preview(self, event: SheetView.Current) -> None:
        event.stop()
        self._previewed = event.link
        loaded = self.figures
        if not self.view.previews or loaded is None or loaded.book is None:
            return
        if event.link is not None and event.link.table in loaded.book.behind:
            self.make_preview(loaded, event.link)
        else:
            self.view.show_preview(None)

    def show_preview(self, link: Link, sheet: Sheet | None) -> None:
        if link == self._previewed:
            self.view.show_preview(sheet)

    def show_target(
        self, found: Sheet | Opened | str, links: Sequence[Link], at: int, *, instead: bool
    ) -> None:
        """Show the table or the screen of a link, or the message that there is none."""
        self.show_title_note()
        if self.figures is None or not self.is_current:
            return
        if isinstance(found, str):
            say(self, found, warns=True)
        elif isinstance(found, Sheet):
            self.show_table(found, links, at, instead=instead)
        else:
            screen = found()
            if isinstance(screen, AmongRows):
                screen.links, screen.again = links, self.again
            self.app.push_screen(screen)

    def show_table(self, sheet: Sheet, links: Sequence[Link], at: int, *, instead: bool) -> None:
        """Show the table that a link leads to."""
        raise NotImplementedError("abstract")

    def show_title_note(self) -> None:
        """Show in the title whose figures these are."""

    def place_at(self, sheet: Sheet, at: int) -> RuledPlace | None:
        """Return the place that a row is about."""
        return row_place(self.figures, sheet, at)

    def ruled_place(self) -> RuledPlace | None:
        sheet, row_index = self.view.sheet, self.view.row_index
        return (
            self.place_at(sheet, row_index) if sheet is not None and row_index is not None else None
        )

    def show_standing(self) -> None:
        self.view.rulings = self._rulings_on
        self.view.follow()

    def on_screen_resume(self) -> None:
        if self.RULED:
            self.read_standing()

    def ruled_here(self) -> Sequence[str]:
        row_index, rulings_of = self.view.row_index, self.view.rulings
        return rulings_of(row_index) if row_index is not None and rulings_of is not None else ()

    def _rulings_on(self, at: int) -> Sequence[str]:
        """Return the rulings on a row's place and on what belongs to it."""
        sheet = self.view.sheet
        place = self.place_at(sheet, at) if sheet is not None and self.standing.rulings else None
        return self.standing.on_place(place) if place is not None else ()

    @worker("follow", opens=True)
    async def bring(self, loaded: Loaded, links: Sequence[Link], at: int) -> None:
        """Make or read the target of a link, and show it."""
        self.show_target(
            await to_thread(self.follow_link, loaded, links[at]), links, at, instead=False
        )

    @worker("follow")
    async def bring_instead(self, loaded: Loaded, links: Sequence[Link], at: int) -> None:
        """Make the target of a link, and show it in place of this screen's table."""
        self.show_target(
            await to_thread(self.follow_link, loaded, links[at]), links, at, instead=True
        )

    @worker("statement", opens=True)
    async def find_statement(self, place: RuledPlace) -> None:
        """Open the page of the statement that a place names, or tell that it names none."""

        def load(store: Store) -> tuple[object, ...]:
            summaries = {summary.name: summary for summary in store.instruments.summaries()}
            for name in place.instruments:
                refs = (
                    tuple(line.ref for line in store.instruments.lines(name))
                    if name in summaries
                    else ()
                )
                if ref := next((word for word in place.words if word in refs), None):
                    return name, ref, summaries[name].language, refs
            return ()

        if route := await self.with_store(load):
            self.app.push_screen(screen("statement", *route))
        else:
            say(self, "This row does not belong to one statement.", warns=True)

    @worker("preview", beside=True)
    async def make_preview(self, loaded: Loaded, link: Link) -> None:
        def make() -> Sheet | None:
            table = loaded.book.follow(link) if loaded.book is not None else None
            return sheet_of(table, link.subject) if table is not None else None

        self.show_preview(link, await to_thread(make))

    def follow_link(self, loaded: Loaded, link: Link) -> Sheet | Opened | str:
        """Return the table, screen or message of a link. It runs in a thread."""
        route = self.routes.get(link.table)
        table = loaded.book.follow(link) if route is None and loaded.book is not None else None
        if table is not None:
            return sheet_of(table, link.subject)
        return self.routes[link.table](self.store_path, loaded, link.subject)


def row_place(loaded: Loaded | None, sheet: Sheet, at: int) -> RuledPlace | None:
    """Return the place of a row: the names in its key and link, and its answer if it is one."""
    if loaded is None:
        return None
    row, link = sheet.table.rows[at], sheet.link_of(at)
    names = (
        *sheet.table.subject,
        *sheet.table.key(row),
        *(link.subject if link is not None else ()),
    )
    instruments = dict.fromkeys(
        filter(None, (loaded.instrument, *(run.instrument for run in loaded.runs)))
    )
    probe, text = getattr(row, "probe", 0), getattr(row, "text", None)
    is_answer = isinstance(probe, int) and probe > 0 and isinstance(text, str)
    name_texts = tuple(map(str, names))
    runs = tuple(
        run for run in loaded.runs if run.model in name_texts or run.named in name_texts
    ) or tuple(loaded.runs)
    answer = (probe, text) if is_answer else (0, None)
    return RuledPlace(tuple(instruments), name_texts, name_texts, *answer, runs=runs)
