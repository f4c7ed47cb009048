"""Tables of figures: rows of any type, and columns that read values from rows and explain them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Generic, TypeVar

from workbench.domain.names import file_stem
from workbench.domain.verdicts import Estimate, MeanSd, RepeatedVerdict, Verdict
from workbench.figures.pictures.picture import Picture

MARKS = {Verdict.PASS: "✓", Verdict.FAIL: "✗", Verdict.INSUFFICIENT: "·", Verdict.VOID: "∅"}
WORDS = {
    Verdict.PASS: "pass",
    Verdict.FAIL: "fail",
    Verdict.INSUFFICIENT: "few",
    Verdict.VOID: "void",
}


Row = TypeVar("Row")

Value = (
    str | int | float | bool | Verdict | RepeatedVerdict | Estimate | MeanSd | Sequence[str] | None
)
"possible values of a cell, where None and NaN are no value"


class Kind(StrEnum):
    """The kind of a number, which determines digits, sign and unit in all tables."""

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
    "sizes of differences of shares, such as standard errors: in percentage points, without a sign"
    COEFFICIENT = "coefficient"
    "an agreement or correlation, which is rarely negative"
    SCORE = "score"
    "a bias or a stance, from -1 to 1, written with its sign"
    BALANCE = "balance"
    "a sum of +1 and -1, written with its sign"
    PART = "part"
    "the contribution of a part to a score, far smaller than the score itself"
    P_VALUE = "p value"
    VERDICT = "verdict"
    MARK = "mark"
    "a bool that is shown as a sign if it is true"


NUMERIC = frozenset(
    {
        Kind.COUNT,
        Kind.SHARE,
        Kind.POINTS,
        Kind.SIZE,
        Kind.COEFFICIENT,
        Kind.SCORE,
        Kind.BALANCE,
        Kind.PART,
    }
    | {Kind.P_VALUE}
)


@dataclass(frozen=True, slots=True)
class Link:
    """The data behind a row: another table, by its name and subject."""

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
    "explanation of the column, in one sentence"
    short: str = ""
    "title for narrow tables, or empty for the title"
    least: int = 0
    "minimum width in columns of the terminal, or 0 for the width of the longest word"
    mark: str = "•"
    "sign of a true value of kind MARK"
    main: bool = False
    """whether it is the text of a row that a person reads

    It gets width first, and stays in narrow tables.
    """
    aside: bool = False
    "whether it is left out of narrow tables, while the details of a row show it"
    scale: tuple[float, float] | None = None
    "ends of the scale on which a screen draws the value and its interval, or None for no drawing"
    reference: Callable[[Row], float | tuple[float, ...] | None] | None = None
    "a value to compare with, or several, marked on the picture"
    words: Mapping[str, str] = field(default_factory=dict)
    "displayed text for a stored text: `odd_even` -> `odd/even`"
    beside: Callable[[Row], str] | None = None
    "text after the value, such as stars of significance, for which data files have a column"
    link: Callable[[Row], Link | None] | None = None
    "the data behind the cell, of which a screen marks one column and opens the marked cell"
    detail: Callable[[Row], Sequence[str]] | None = None
    "further sentences about the cell"

    @property
    def numeric(self) -> bool:
        return self.kind in NUMERIC


@dataclass(frozen=True, slots=True)
class Table(Generic[Row]):
    """A figure: rows, columns, and notes for reading them."""

    name: str
    "file name and JSON name: `leaning`"
    title: str
    rows: Sequence[Row]
    columns: Sequence[Column[Row]]
    key: Callable[[Row], tuple[str, ...]]
    "the key of a row, the same whenever the table is made"
    definition: str = ""
    "explanation of the figures, in plain sentences"
    notes: Sequence[str] = ()
    empty: str = "There is nothing to show."
    "message if there are no rows, with what to do next"
    link: Callable[[Row], Link | None] | None = None
    "the data behind a row, or None without a link"
    detail: Callable[[Row], Sequence[str]] | None = None
    "further sentences about a row: the wording of a statement, the definition of an issue"
    subject: tuple[str, ...] = ()
    "subject of the table, if there are several of its name"
    minor: Callable[[Row], bool] | None = None
    "rows that a screen hides unless all rows are requested"
    pictures: Sequence[Callable[[Table[Any]], Picture]] = ()
    "recipes of `workbench.figures.pictures.of_table` that draw the table, called with the table"

    @property
    def narrow(self) -> Table[Row]:
        """The table without columns that are left out of narrow tables."""
        return replace(self, columns=[column for column in self.columns if not column.aside])

    @property
    def stem(self) -> str:
        """The name of a file with only this table, without its ending."""
        return file_stem((self.name, *self.subject))


AnyTable = Table[Any]


def in_words(names: Iterable[str]) -> dict[str, str]:
    """Return the displayed names of names for programs: the `words` of a column of them.

    Examples
    --------
    >>> in_words(["label_order", "negation"])
    {'label_order': 'label order'}
    """
    return {name: name.replace("_", " ") for name in names if "_" in name}
