"""Enter follows the link of a row: to a table of the same book, or by a route out of it, to a
screen of its own.
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
    """A screen of figures that another screen judged: it has them judged again once rulings have
    changed.
    """

    again: Again | None = None
    "judges figures with the rulings that stand now; called in a thread"
    _stood: Standing | None = None
    "the rulings that stood when the figures in sight were judged"

    def judge_if_ruled(self, loaded: Loaded) -> None:
        """Judge figures again where rulings have changed since they were judged."""
        changed = self._stood is not None and self._stood != self.standing
        self._stood = self.standing
        if changed and self.again is not None:
            self.judge_again(self.again, loaded)

    def show_judged(self, loaded: Loaded) -> None:
        """Show figures that were judged again."""

    @worker("again", beside=True)
    async def judge_again(self, again: Again, loaded: Loaded) -> None:
        self.show_judged(await self.with_store(lambda store: again(store, loaded)))


class AmongRows(JudgesAgain):
    """A screen that a route opens, which can go on to what the neighbouring rows lead to."""

    links: Sequence[Link] = ()
    "of all rows in sight"


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
        """where links lead that leave the book, or to a table with a screen of its own: name of a
        table -> what opens it"""
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
        """The keys that work now: there is a scale to zoom where a table is drawn."""
        found = super().active_bindings
        sheet = next((view.sheet for view in self.query(SheetView)), None)
        if (sheet is not None and sheet.drawn) or self.query(".picture.-shown"):
            return found
        return {key: one for key, one in found.items() if one.binding.action != "near"}

    def run_in_sight(self) -> Run | None:
        return self.run_to_review()

    def reader_in_sight(self) -> str | None:
        of = getattr(self.figures, "settings", None)
        of = getattr(of, "rules", of)
        by: str | None = getattr(getattr(of, "readings", None), "by", None)
        return by

    def action_near(self) -> None:
        self.view.zoom()

    def action_statement(self) -> None:
        """Open the page of the statement that the row under the cursor is about, where it can be
        changed.
        """
        if (place := self.ruled_place()) is not None:
            self.find_statement(place)

    def run_to_review(self) -> Run | None:
        """Return the run that figures are about, of several the last one; None where no model
        answered anything.
        """
        runs = self.figures.runs if self.figures is not None else ()
        return next((run for run in reversed(runs) if run.responses), None)

    def action_review(self) -> None:
        """Open the review queue of the run in sight, as its reader reads it."""
        run = self.run_to_review() if self.RULED else None
        if run is not None and self.figures is not None:
            self.app.push_screen(screen("review", (*run.way, run.family), self.reader_in_sight()))

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

    def show_what_came(
        self, found: Sheet | Opened | str, links: Sequence[Link], at: int, *, instead: bool
    ) -> None:
        """Show the table or the screen that a link leads to, or say why there is none."""
        self.say_who()
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

    def say_who(self) -> None:
        """Put into the title whose figures these are."""

    def place_at(self, sheet: Sheet, at: int) -> RuledPlace | None:
        """Return what a row is about."""
        return row_place(self.figures, sheet, at)

    def ruled_place(self) -> RuledPlace | None:
        sheet, at = self.view.sheet, self.view.at
        return self.place_at(sheet, at) if sheet is not None and at is not None else None

    def show_standing(self) -> None:
        self.view.rulings = self._rulings_on
        self.view.follow()

    def on_screen_resume(self) -> None:
        if self.RULED:
            self.read_standing()

    def ruled_here(self) -> Sequence[str]:
        at, told = self.view.at, self.view.rulings
        return told(at) if at is not None and told is not None else ()

    def _rulings_on(self, at: int) -> Sequence[str]:
        """Return what was ruled on the thing in a row, and below it."""
        sheet = self.view.sheet
        place = self.place_at(sheet, at) if sheet is not None and self.standing.every else None
        return self.standing.at(place) if place is not None else ()

    @worker("follow", opens=True)
    async def bring(self, loaded: Loaded, links: Sequence[Link], at: int) -> None:
        """Make or read what a link leads to, and show it."""
        self.show_what_came(
            await to_thread(self.found, loaded, links[at]), links, at, instead=False
        )

    @worker("follow")
    async def bring_instead(self, loaded: Loaded, links: Sequence[Link], at: int) -> None:
        """Make what a link leads to, and show it in place of what this screen shows."""
        self.show_what_came(await to_thread(self.found, loaded, links[at]), links, at, instead=True)

    @worker("statement", opens=True)
    async def find_statement(self, place: RuledPlace) -> None:
        """Open the page of the statement that a place names, if it names one."""

        def load(store: Store) -> tuple[object, ...]:
            summaries = {one.name: one for one in store.instruments.summaries()}
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

    def found(self, loaded: Loaded, link: Link) -> Sheet | Opened | str:
        """Return the table, screen or sentence that a link leads to. Called in a thread."""
        route = self.routes.get(link.table)
        table = loaded.book.follow(link) if route is None and loaded.book is not None else None
        if table is not None:
            return sheet_of(table, link.subject)
        return self.routes[link.table](self.store_path, loaded, link.subject)


def row_place(loaded: Loaded | None, sheet: Sheet, at: int) -> RuledPlace | None:
    """Return the place of a row: the names in its key and in what it leads to, and the answer where
    it is one.
    """
    if loaded is None:
        return None
    row, link = sheet.table.rows[at], sheet.link(at)
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
    words = tuple(map(str, names))
    runs = tuple(run for run in loaded.runs if run.model in words or run.named in words) or tuple(
        loaded.runs
    )
    given = (probe, text) if is_answer else (0, None)
    return RuledPlace(tuple(instruments), words, words, *given, runs=runs)
