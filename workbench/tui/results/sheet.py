"""A table of figures as rows and columns of a terminal: what fits in a width, in which order, and which rows match.

Numbers read as in every medium (`figures.shown`). Where there is too little room for them and one picture, columns that
stand aside go first, from the right; then any others for which there is no room at all. The details of a row show them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rich.text import Text
from textual.reactive import reactive
from textual.widget import Widget

from workbench.domain.verdicts import Estimate, MeanSd, Outcome, Verdict
from workbench.figures.shown import NONE, painted
from workbench.figures.table import AnyTable, Column, Kind, Link, Value
from workbench.figures.visible import visible
from workbench.tui.format import literal, row_key
from workbench.tui.widgets import record_table
from workbench.tui.widgets.pictures import picture, picture_scale
from workbench.tui.widgets.record_table import in_all_rows, same_in_all

GAP = 2
NARROWEST_NAME, NARROWEST_MAIN, NARROWEST_TEXT = 24, 20, 12
"columns that the first text, what is read, and other texts keep where others need the room"
NARROWEST_PICTURE, FIRST_PICTURE, WIDEST_PICTURE = 11, 17, 61
"columns of a picture: where it is the only thing that has no room, for which others stand aside, and at most"
LONGEST_TITLE = 18
"columns of a heading for which the texts below it stay as wide"
PICTURE = "picture of "
VERDICTS = list(Verdict)
VERDICT_STYLES = {
    Verdict.PASS: "green",
    Verdict.FAIL: "bold red",
    Verdict.INSUFFICIENT: "yellow",
    Verdict.VOID: "dim",
}


@dataclass(frozen=True, slots=True)
class Order:
    """By which column rows are sorted."""

    column: str
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """One column of the terminal."""

    at: int
    "of the table's column"
    title: str
    width: int
    picture: bool = False
    brief: bool = False
    "the value without its interval and unit"


class Sheet:
    """A table whose cells are made once and laid out for any width. `about` need not be said again in a column.

    Make it in a worker: the values of some tables are computed here. What it does later costs no more than drawing.
    """

    marked: int | None = None
    "place of the column whose cells are looked at, where single cells lead further"

    def __init__(self, table: AnyTable, about: Sequence[str] = ()):
        self.table = table
        self.cells, self.notes = painted(table)
        self._values = [[column.value(row) for column in table.columns] for row in table.rows]
        self._references = [[_references(column, row) for column in table.columns] for row in table.rows]
        self.keys = [row_key(*table.key(row)) for row in table.rows]
        self._about = {visible(text) for text in about}
        self._places: dict[int, tuple[Place, ...]] = {}
        self._folded: dict[int, tuple[int, ...]] = {}
        "width -> columns that stand above the table in it"
        self._near = False

    @property
    def drawn(self) -> bool:
        """Whether values are drawn on a scale."""
        return any(column.scale is not None for column in self.table.columns)

    def zoom(self, near: bool) -> None:
        """Draw pictures on their whole scale, or as near as their values and intervals allow."""
        if near != self._near:
            self._near = near
            self._places.clear()

    def row(self, key: str | None) -> int | None:
        """Return the place of the row of a key among the table's rows."""
        return self._at.get(key) if key is not None else None

    @property
    def leads(self) -> bool:
        """Return whether something stands behind rows."""
        return self.table.link is not None

    def link(self, at: int) -> Link | None:
        """Return what a row was made of."""
        return self.table.link(self.table.rows[at]) if self.table.link is not None else None

    def rows(self, order: Order | None = None, wanted: str = "", *, every: bool = True) -> list[int]:
        """Return the places of the rows that contain what is wanted, in an order; values that are undefined come last.

        `every`: minor rows too. Raises ValueError for a column that the table does not have.
        """
        words, minor = wanted.casefold().split(), self.table.minor
        found = [at for at, text in enumerate(self._texts) if all(word in text for word in words)]
        if minor is not None and not every:
            found = [at for at in found if not minor(self.table.rows[at])]
        if order is None:
            return found
        by = [column.key for column in self.table.columns].index(order.column)
        ranked = {at: rank(self._values[at][by]) for at in found}
        known = [at for at in found if ranked[at] is not None]
        known.sort(key=lambda at: ranked[at] or (), reverse=order.descending)
        return known + [at for at in found if ranked[at] is None]

    def columns(self, width: int, order: Order | None = None) -> list[record_table.Column]:
        """Return the columns for a width; the one that rows are sorted by is marked."""
        laid = []
        for place in self.places(width):
            column = self.table.columns[place.at]
            key = f"{PICTURE}{column.key}" if place.picture else column.key
            sign = "▾" if order is not None and order.descending else "▴"
            title = place.title
            if order is not None and key == order.column:
                title = f"{_fitted(title, place.width + GAP - 3)} {sign}"
            right = not place.picture and self._right(place.at)
            laid.append(record_table.Column(key, title.rjust(place.width) if right else title, place.width + GAP))
        return laid

    def records(self, width: int, rows: Iterable[int]) -> list[record_table.Record]:
        """Return the records of rows for a width, each with a cell a column."""
        places = self.places(width)
        return [(self.keys[at], tuple(self._cell(at, place) for place in places)) for at in rows]

    def hidden(self, width: int) -> list[int]:
        """Return the places of the columns of which a width leaves out something, save those that say what the table
        is about.
        """
        whole = [place for place in self.places(width) if not place.picture and not self._cut(place)]
        there = {place.at for place in whole if not place.brief or not self._longer(place.at)}
        return [at for at in self._usable if at not in there and at not in self._folded.get(width, ())]

    def folded(self, width: int) -> str:
        """Return what is the same in all rows, and stands above the table where a width has no room for it; "" where
        nothing does.
        """
        self.places(width)
        columns, cells = self.table.columns, self.cells[0] if self.cells else ()
        return in_all_rows((visible(columns[at].title), cells[at]) for at in self._folded.get(width, ()))

    def _cut(self, place: Place) -> bool:
        """Return whether a column that is read has a text that its width cuts."""
        column = self.table.columns[place.at]
        return column.main and any(len(row[place.at]) > place.width for row in self.cells)

    def _longer(self, at: int) -> bool:
        """Return whether a column says more than it does in brief: an interval, or of how many a verdict holds."""
        return self.table.columns[at].numeric or any(isinstance(row[at], Outcome) for row in self._values)

    def places(self, width: int) -> tuple[Place, ...]:
        """Return the columns of the terminal for a width."""
        if width not in self._places:
            self._folded[width] = ()
            self._places[width] = tuple(self._lay_out(width))
        return self._places[width]

    def undefined(self, at: int) -> list[tuple[str, str]]:
        """Return the title and the reason of each number of a row that is undefined."""
        return [
            (column.title, value.undefined)
            for column, value in zip(self.table.columns, self._values[at], strict=True)
            if isinstance(value, Estimate) and not value.defined
        ]

    @cached_property
    def _at(self) -> dict[str, int]:
        return {key: at for at, key in enumerate(self.keys)}

    @cached_property
    def _texts(self) -> list[str]:
        return [" ".join(row).casefold() for row in self.cells]

    @cached_property
    def _usable(self) -> list[int]:
        """Places of the columns that say something: not only what the table is about, and not nothing at all."""
        columns = self.table.columns
        said = [{row[at] for row in self.cells} for at in range(len(columns))]
        return [at for at, column in enumerate(columns) if not said[at] or not self._idle(column, said[at])]

    def _idle(self, column: Column[Any], said: set[str]) -> bool:
        about = self._about | {visible(column.words[name]) for name in self._about & column.words.keys()}
        return (
            (not column.numeric and said <= {""})
            or (column.aside and said <= {"", NONE})
            or (column.kind is Kind.TEXT and said <= about)
        )

    def _right(self, at: int) -> bool:
        return at in self._plain

    @cached_property
    def _plain(self) -> frozenset[int]:
        """Places of the columns of numbers without intervals."""
        places = (at for at, column in enumerate(self.table.columns) if column.numeric)
        return frozenset(at for at in places if all(" [" not in row[at] for row in self.cells))

    def _natural(self, at: int, title: str) -> int:
        return max(len(title), *(len(row[at]) for row in self.cells), 1)

    def _least(self, at: int, title: str) -> int:
        """Return how narrow a column may be: texts can be cut, numbers cannot."""
        column, natural = self.table.columns[at], self._natural(at, title)
        least = column.least or (NARROWEST_NAME if at == self._usable[0] else NARROWEST_TEXT)
        least = max(least, min(len(title), LONGEST_TITLE))
        return min(natural, least) if column.kind in (Kind.TEXT, Kind.PROSE) else natural

    def _lay_out(self, width: int) -> Iterable[Place]:
        columns = self.table.columns
        shown, titles = list(self._usable), [visible(column.title) for column in columns]

        brief: set[int] = set()
        main, share = [at for at in shown if columns[at].main], 5

        def least(at: int) -> int:
            if at in main:
                return min(self._natural(at, titles[at]), max(NARROWEST_MAIN, width // share))
            if at in brief:
                cells = [without_interval(row[at]) for row in self.cells] if columns[at].numeric else []
                return max(len(titles[at]), 1, *map(len, cells))
            return self._least(at, titles[at])

        def needed() -> int:
            return sum(least(at) + GAP for at in shown) - GAP

        room = width - (FIRST_PICTURE + GAP if any(columns[at].scale is not None for at in shown) else 0)
        if needed() > room:
            titles = [visible(column.short or column.title) for column in columns]
        if needed() > room:
            brief.update(at for at in shown if columns[at].kind is Kind.VERDICT)
        if not any(columns[at].scale is not None for at in shown):  # else pictures have that room
            share = 3
        for at in reversed(self._usable):
            if needed() > room and columns[at].aside and at not in main:
                shown.remove(at)
        others = sorted((at for at in self._usable[1:] if at not in main), key=self._first_to_go)
        for at in filter(self._same, others):
            if needed() > width and at in shown:
                shown.remove(at)
                self._folded[width] = tuple(sorted((*self._folded[width], at)))
        brief.update(at for at in others if main and needed() > width and columns[at].numeric and at not in self._plain)
        for at in others:
            if needed() > width and at in shown:
                shown.remove(at)
        prose = [at for at in shown if columns[at].kind is Kind.PROSE and at not in main]
        for at in filter(self._same, others):
            wanted = needed() + sum(self._natural(text, titles[text]) - least(text) for text in prose)
            if wanted > width and at in shown and columns[at].kind is Kind.TEXT:
                shown.remove(at)
                self._folded[width] = tuple(sorted((*self._folded[width], at)))
        spare = max(0, width - needed())
        drawn = [at for at in shown if columns[at].scale is not None]
        pictures = self._pictures(drawn, spare)
        spare -= sum(wide + GAP for wide in pictures.values())
        for at in shown:
            wide = least(at) if at in brief else min(self._natural(at, titles[at]), least(at) + spare)
            spare -= wide - least(at)
            if at in pictures:
                title = scale_title(columns[at], self._scale(at), pictures[at], self._marks(at))
                yield Place(at, title, pictures[at], picture=True)
            yield Place(at, titles[at], wide, brief=at in brief)

    def _same(self, at: int) -> bool:
        """Return whether a column says the same in all rows, of several."""
        return same_in_all([row[at] for row in self.cells])

    def _first_to_go(self, at: int) -> tuple[bool, bool, int]:
        """Return by what columns are sorted that have no room: numbers from the right, then verdicts from the left, of
        which the last is on all tests, then what is drawn.
        """
        column = self.table.columns[at]
        is_verdict = column.kind is Kind.VERDICT
        return column.scale is not None, is_verdict, at if is_verdict else -at

    def _pictures(self, drawn: Sequence[int], spare: int) -> dict[int, int]:
        """Return how wide the picture of each column is: as many pictures as there is room for, all equally wide."""
        for n in range(len(drawn), 0, -1):
            each = min(WIDEST_PICTURE, spare // n - GAP)
            if each >= NARROWEST_PICTURE:
                return dict.fromkeys(drawn[:n], each)
        return {}

    def _scale(self, at: int) -> tuple[float, float]:
        scale = self.table.columns[at].scale or (0.0, 1.0)
        if not self._near:
            return scale
        ends = [end for row in self._values for end in _ends(row[at])]
        return nearer(scale, (*ends, *(mark for row in self._references for mark in row[at])))

    def _marks(self, at: int) -> tuple[float, ...]:
        """Return the references of a column that are those of every row, where there are several."""
        found = {row[at] for row in self._references}
        return next(iter(found)) if len(found) == 1 and len(self._references[0][at]) > 1 else ()

    def _cell(self, at: int, place: Place) -> Text:
        column, text = self.table.columns[place.at], self.cells[at][place.at]
        if place.picture:
            return picture(
                self._values[at][place.at], place.width, self._scale(place.at), self._references[at][place.at]
            )
        if column.kind is Kind.VERDICT:
            return self._verdict(self._values[at][place.at], text, place)
        text = without_interval(text) if place.brief else text
        value, bracket, rest = text.partition(" [")
        if column.numeric and bracket:
            return Text.assemble((value, "bold"), (bracket + rest, "dim"), no_wrap=True)
        if column.numeric:
            style = "dim" if column.kind is Kind.COUNT or text.startswith("undefined") else ""
            return Text(text.rjust(place.width) if self._right(place.at) else text, style=style, no_wrap=True)
        return literal(text, place.width)

    @staticmethod
    def _verdict(value: Value, text: str, place: Place) -> Text:
        """Return a verdict in its colour; where there is little room, its mark alone."""
        verdict = value.verdict if isinstance(value, Outcome) else value
        style = VERDICT_STYLES.get(verdict, "dim") if isinstance(verdict, Verdict) else "dim"
        return Text(text[:1] if place.brief else text, style=style, no_wrap=True)


def without_interval(text: str) -> str:
    """Return a number without its interval."""
    return text.partition(" [")[0]


def _fitted(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: max(0, width - 1)]}…"


def scale_title(column: Column[Any], scale: tuple[float, float], width: int, marks: Sequence[float] = ()) -> str:
    """Return the heading of a column of pictures: the ends of its scale, as its values are written."""
    low, high = scale
    return picture_scale((100 * low, 100 * high) if column.kind is Kind.POINTS else (low, high), width, marks)


def _references(column: Column[Any], row: Any) -> tuple[float, ...]:
    """Return what a value is compared with."""
    found = column.reference(row) if column.reference is not None else None
    several = found if isinstance(found, tuple) else () if found is None else (found,)
    return tuple(one for one in several if not math.isnan(one))


def nearer(scale: tuple[float, float], ends: Iterable[float]) -> tuple[float, float]:
    """Return as much of a scale as reaches around 0 and all ends, in tenths.

    Examples
    --------
    >>> nearer((-1.0, 1.0), [-0.32, 0.1]), nearer((0.0, 1.0), [0.2]), nearer((-0.04, 0.04), [0.04])
    ((-0.4, 0.4), (0.0, 0.2), (-0.04, 0.04))
    """
    limit = max(1, math.ceil(max(map(abs, ends), default=0.0) * 10 - 1e-9)) / 10
    return max(scale[0], -limit), min(scale[1], limit)


def _ends(value: Value) -> Iterator[float]:
    """Yield what has to be in sight of a value."""
    if isinstance(value, Estimate):
        found: Sequence[float] = (value.low, value.value, value.high)
    elif isinstance(value, MeanSd):
        found = (value.mean,)
    else:
        found = (value,) if isinstance(value, int | float) else ()
    yield from (end for end in found if not math.isnan(end))


def rank(value: Value) -> tuple[float, str] | None:
    """Return the sort key of a value: its number, the severity of a verdict, or the text; None without a value."""
    if isinstance(value, Estimate):
        value = value.value
    elif isinstance(value, MeanSd):
        value = value.mean
    if isinstance(value, Outcome):
        value = value.verdict
    if isinstance(value, Verdict):
        return float(VERDICTS.index(value)), ""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool | int | float):
        return float(value), ""
    return 0.0, (value if isinstance(value, str) else " ".join(value)).casefold()


class Picture(Widget):
    """Draws a sheet. A screen maps the views of its entries to such classes."""

    near: reactive[bool] = reactive(False)
    "whether only as much of the scale is shown as the rows need"

    @staticmethod
    def signed(table: AnyTable) -> AnyTable:
        """Return a table with the signs by which the picture tells its rows apart. Called in a thread."""
        return table

    def show(self, sheet: Sheet, at: int | None) -> None:
        """Draw the rows of a sheet; the row at a place is the chosen one."""
        raise NotImplementedError("abstract")
