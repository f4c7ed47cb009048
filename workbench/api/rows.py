"""Rows of answers, readings, labels, …: read on iteration, as many as requested."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, overload

from workbench.errors import MissingPackage, UnknownName
from workbench.figures.table import Column, Kind, Table
from workbench.figures.write.html import html_table
from workbench.installed import install
from workbench.tidy.columns import ColumnBatch, ColumnField, Row, ValueType
from workbench.tidy.columns import RowKind as Declared
from workbench.tidy.export import ArrowBatches, arrow, moment, records

if TYPE_CHECKING:
    import pandas

SHOWN = 10
"rows that a notebook shows"
KINDS = {
    ValueType.TEXT: Kind.TEXT,
    ValueType.WHOLE: Kind.COUNT,
    ValueType.NUMBER: Kind.COEFFICIENT,
    ValueType.TRUTH: Kind.TEXT,
}


class Records(ABC):
    """Rows with named columns.

    Iterating yields dicts.

    There are `len(rows)`, `rows[0]`, `rows[-3:]` and `rows["column"]`.
    """

    @property
    @abstractmethod
    def _names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __iter__(self) -> Iterator[dict[str, Any]]: ...

    @overload
    def __getitem__(self, at: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, at: slice) -> list[dict[str, Any]]: ...
    @overload
    def __getitem__(self, at: str) -> list[Any]: ...
    def __getitem__(self, at: int | slice | str) -> Any:
        """Return a row, several rows, or the values of a column. Raises IndexError, UnknownName."""
        if isinstance(at, str):
            if at not in self._names:
                raise UnknownName(f"there is no column {at!r}. Available: {', '.join(self._names)}")
            return [row[at] for row in self]
        if isinstance(at, slice):
            start, stop, step = at.indices(len(self))
            return list(islice(self, start, stop, step)) if step > 0 else list(self)[at]
        index = at if at >= 0 else at + len(self)
        for row in islice(self, index, index + 1) if index >= 0 else ():
            return row
        raise IndexError(f"found the row {at}; there are {len(self):,} rows")

    @abstractmethod
    def to_arrow(self) -> Any:
        """Return a pyarrow.Table. Raises MissingPackage without pyarrow."""

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with typed columns and pandas' missing values.

        Raises MissingPackage without pandas and pyarrow.
        """
        return self._pandas(self.to_arrow)

    @staticmethod
    def _pandas(made: Callable[[], Any]) -> pandas.DataFrame:
        try:
            import pandas  # noqa: F401  says what is missing before anything is read
        except ImportError as error:
            raise MissingPackage(
                f"data frames need the package pandas; install it with: {install('data')}"
            ) from error
        frame: pandas.DataFrame = made().to_pandas(self_destruct=True, split_blocks=True)
        return frame

    def to_polars(self) -> Any:
        """Return a polars.DataFrame. Raises MissingPackage without polars and pyarrow."""
        try:
            import polars
        except ImportError as error:
            raise MissingPackage(
                f"polars is not installed; install it with: {install('data')}"
            ) from error
        return polars.from_arrow(self.to_arrow())


@dataclass(frozen=True, slots=True, repr=False)
class Rows(Records):
    """Rows of one kind.

    Iterating yields dicts.

    Each iteration reads the store again, so memory does not grow with the rows.
    """

    of: Declared
    "the declared columns with their meanings"
    read: Callable[[], Iterator[ColumnBatch]]
    "reads the rows by columns, some thousands at a time"
    counted: Callable[[], int | None]
    "counts the rows without reading them; None: they have to be read"
    state: Callable[[], object]
    "changes with the store"
    _held: list[tuple[object, list[ColumnBatch]]] = field(default_factory=list, init=False)

    @property
    def columns(self) -> dict[str, str]:
        """Every column with its meaning."""
        return {field.name: field.meaning for field in self.of.fields}

    @property
    def _names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(field.name for field in self.of.fields)

    def __len__(self) -> int:
        n_rows = self.counted()
        if n_rows is not None:
            return n_rows
        # `list(rows)` asks for the length before it reads.
        self._held[:] = [(self.state(), list(self.read()))]
        return sum(map(len, self._held[0][1]))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        names, converters = self._names, [_VALUES.get(field.type) for field in self.of.fields]
        conversions = [
            (index, self.of.fields[index], convert)
            for index, convert in enumerate(converters)
            if convert is not None
        ]
        for row in self._rows():
            record = dict(zip(names, row, strict=True))
            for index, field_, convert in conversions:
                if row[index] is not None:
                    record[field_.name] = convert(field_, row[index])
            yield record

    def to_arrow(self) -> Any:
        """Return a pyarrow.Table, in which texts that recur are dictionaries.

        Raises MissingPackage without pyarrow.
        """
        return self._arrow(dictionaries=True)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame: texts, numbers, booleans, times (UTC), and missing values of pandas.

        Raises MissingPackage without pandas and pyarrow.
        """
        return self._pandas(lambda: self._arrow(dictionaries=False))

    def _arrow(self, *, dictionaries: bool) -> Any:
        batches = ArrowBatches(self.of, dictionaries=dictionaries)
        return (
            arrow()
            .Table.from_batches(map(batches.of, self._batches()), batches.schema)
            .unify_dictionaries()
        )

    def _batches(self) -> Iterator[ColumnBatch]:
        cached = self._held.pop() if self._held else (None, [])
        return iter(cached[1]) if cached[0] == self.state() else self.read()

    def _rows(self) -> Iterator[Row]:
        for batch in self._batches():
            yield from batch.rows()

    def __repr__(self) -> str:
        return f"<Rows of {self.of.name}: {self.of.about}>"

    def _repr_html_(self) -> str:
        first_rows = list(islice(self._rows(), SHOWN + 1))
        columns: list[Column[Row]] = [
            Column(
                field.name,
                field.name,
                _shown(field, index),
                KINDS.get(field.type, Kind.TEXT),
                help=field.meaning,
            )
            for index, field in enumerate(self.of.fields)
        ]
        notes = [f"The first {SHOWN} rows; there are more."] if len(first_rows) > SHOWN else []
        table = Table(
            self.of.name,
            self.of.title,
            first_rows[:SHOWN],
            columns,
            key=lambda row: tuple(map(str, row)),
            definition=self.of.about,
            notes=notes,
            empty="There are no rows.",
        )
        return html_table(table)


_VALUES: dict[ValueType, Callable[[ColumnField, Any], Any]] = {
    ValueType.RECORDS: records,
    ValueType.TIME: lambda _, value: moment(value),
}
"type -> the function that makes Python's value of one that rows hold otherwise"


def _shown(field: ColumnField, place: int) -> Callable[[Row], Any]:
    def shown(row: Row) -> Any:
        value = row[place]
        if value is None or field.type in (ValueType.WHOLE, ValueType.NUMBER):
            return value
        if field.parts:
            return "; ".join(f"{dict(record)}" for record in records(field, value))
        return str(value)

    return shown
