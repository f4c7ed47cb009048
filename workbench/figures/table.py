"""Tables of figures: rows of any type, and columns that know how to read a value from a row and what it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Generic, TypeVar

from workbench.domain.verdicts import Estimate, MeanSd, Outcome, Verdict
from workbench.figures.pictures.picture import Picture

Row = TypeVar("Row")

Value = str | int | float | bool | Verdict | Outcome | Estimate | MeanSd | Sequence[str] | None
"what a cell may hold; None and NaN: there is no value"


class Kind(StrEnum):
    """What a number is. A writer chooses digits, sign and unit by it, the same in every table."""

    TEXT = "text"
    WORDS = "words"
    "a sequence of short texts, for instance a stance per template"
    PROSE = "prose"
    "text that keeps its lines, for instance a prompt"
    COUNT = "count"
    SHARE = "share"
    "from 0 to 1, written as a percentage"
    POINTS = "points"
    "a difference of shares, written in percentage points with its sign"
    SIZE = "size"
    "how large differences of shares are, such as their standard error: in percentage points, without a sign"
    COEFFICIENT = "coefficient"
    "an agreement or correlation, where a sign is the exception"
    SCORE = "score"
    "a bias or a stance, from -1 to 1, written with its sign"
    BALANCE = "balance"
    "a sum of +1 and -1, written with its sign"
    PART = "part"
    "what a part adds to a score, far smaller than the score itself"
    P_VALUE = "p value"
    VERDICT = "verdict"
    MARK = "mark"
    "a bool that is shown as a sign where it is true"


NUMERIC = frozenset(
    {Kind.COUNT, Kind.SHARE, Kind.POINTS, Kind.SIZE, Kind.COEFFICIENT, Kind.SCORE, Kind.BALANCE, Kind.PART}
    | {Kind.P_VALUE}
)


@dataclass(frozen=True, slots=True)
class Link:
    """What a row was made of: another table, by its name and what it is about."""

    table: str
    subject: tuple[str, ...] = ()
    "the arguments of that table, for instance a respondent and a policy issue"


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """One column of a table."""

    key: str
    "name of the value for programs: `share_left`"
    title: str
    value: Callable[[Row], Value]
    kind: Kind = Kind.TEXT
    unit: str = ""
    help: str = ""
    "what the column measures, in one sentence"
    short: str = ""
    "title where there is little room; empty: the title"
    least: int = 0
    "columns of a terminal that the values need at least; 0: the width of the longest word"
    mark: str = "•"
    "sign of a true value of kind MARK"
    aside: bool = False
    "left out of a table where there is little room; the details of a row show it"
    scale: tuple[float, float] | None = None
    "ends of the scale on which a screen draws the value and its interval; None: no picture"
    reference: Callable[[Row], float | tuple[float, ...] | None] | None = None
    "a value to compare with, or several, marked on the picture"
    words: Mapping[str, str] = field(default_factory=dict)
    "what is painted instead of a text that data keep: `odd_even` -> `odd/even`"
    beside: Callable[[Row], str] | None = None
    "what is painted behind the value, for instance stars of significance; data have a column for it"
    link: Callable[[Row], Link | None] | None = None
    "what the cell alone was made of. A screen marks one column of those that have it, and opens the marked cell"
    detail: Callable[[Row], Sequence[str]] | None = None
    "what else is to be said of the cell, in sentences"

    @property
    def numeric(self) -> bool:
        return self.kind in NUMERIC


@dataclass(frozen=True, slots=True)
class Table(Generic[Row]):
    """A figure: rows, what each column says of a row, and what one must know to read it."""

    name: str
    "file name and JSON name: `leaning`"
    title: str
    rows: Sequence[Row]
    columns: Sequence[Column[Row]]
    key: Callable[[Row], tuple[str, ...]]
    "what tells a row from the others, the same whenever the table is made"
    definition: str = ""
    "what the figures measure, in plain sentences"
    notes: Sequence[str] = ()
    empty: str = "There is nothing to show."
    "what is said where there is no row, and what to do next"
    link: Callable[[Row], Link | None] | None = None
    "what a row was made of; None: nothing stands behind it"
    detail: Callable[[Row], Sequence[str]] | None = None
    "what else is to be said of a row, in sentences: the wording of a statement, the definition of an issue"
    subject: tuple[str, ...] = ()
    "what the table is about, where there are several of its name"
    minor: Callable[[Row], bool] | None = None
    "rows that a screen leaves out until somebody asks for every row"
    pictures: Sequence[Callable[[Table[Any]], Picture]] = ()
    "how the table is drawn: recipes of `workbench.figures.pictures.of_table`, called with the table"

    @property
    def narrow(self) -> Table[Row]:
        """The table without the columns that stand aside."""
        return replace(self, columns=[column for column in self.columns if not column.aside])

    @property
    def stem(self) -> str:
        """Name of a file of this table alone, without its ending."""
        parts = (self.name, *self.subject)
        return "-".join("".join(c if c.isalnum() or c in "._" else "_" for c in part) for part in parts)


AnyTable = Table[Any]
