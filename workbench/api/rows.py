"""Rows of answers, readings, labels, …: read on iteration, as many as requested."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from workbench.figures.table import Column, Kind, Table
from workbench.figures.write.html import html_table
from workbench.tidy.columns import Field, Row, Type
from workbench.tidy.columns import Rows as Declared
from workbench.tidy.write import arrow, arrow_batch, arrow_schema, batches, records

if TYPE_CHECKING:
    import pandas

SHOWN = 10
"rows that a notebook shows"
KINDS = {Type.TEXT: Kind.TEXT, Type.WHOLE: Kind.COUNT, Type.NUMBER: Kind.COEFFICIENT, Type.TRUTH: Kind.TEXT}


@dataclass(frozen=True, slots=True, repr=False)
class Rows:
    """Rows of one kind. Iterating yields dicts and reads the store again, so memory does not grow with the rows."""

    of: Declared
    "the declared columns with their meanings"
    read: Callable[[], Iterator[Row]]

    @property
    def columns(self) -> dict[str, str]:
        """Every column with its meaning."""
        return {field.name: field.meaning for field in self.of.fields}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for row in self.read():
            yield {field.name: _plain(field, value) for field, value in zip(self.of.fields, row, strict=True)}

    def to_arrow(self) -> Any:
        """Return a pyarrow.Table. Raises MissingPackage without pyarrow."""
        pyarrow = arrow()
        schema = arrow_schema(self.of)
        return pyarrow.Table.from_batches(
            [arrow_batch(self.of, batch, schema, pyarrow) for batch in batches(self.read())], schema
        )

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with typed columns for texts, numbers and booleans, and missing values of pandas.

        Raises MissingPackage without pandas and pyarrow.
        """
        from workbench.api.results import frame

        frame((), ())  # without pandas, says how to install it
        found: pandas.DataFrame = self.to_arrow().to_pandas()
        return found

    def __repr__(self) -> str:
        return f"<Rows of {self.of.name}: {self.of.about}>"

    def _repr_html_(self) -> str:
        first = list(islice(self.read(), SHOWN + 1))
        columns: list[Column[Row]] = [
            Column(field.name, field.name, _shown(field, place), KINDS.get(field.type, Kind.TEXT), help=field.meaning)
            for place, field in enumerate(self.of.fields)
        ]
        more = [f"The first {SHOWN} rows; there are more."] if len(first) > SHOWN else []
        table = Table(
            self.of.name,
            self.of.title,
            first[:SHOWN],
            columns,
            key=lambda row: tuple(map(str, row)),
            definition=self.of.about,
            notes=more,
            empty="There are no rows.",
        )
        return html_table(table)


def _plain(field: Field, value: Any) -> Any:
    return records(field, value) if field.parts and value is not None else value


def _shown(field: Field, place: int) -> Callable[[Row], Any]:
    def shown(row: Row) -> Any:
        value = row[place]
        if value is None or field.type in (Type.WHOLE, Type.NUMBER):
            return value
        if field.parts:
            return "; ".join(f"{dict(one)}" for one in records(field, value))
        return str(value)

    return shown
