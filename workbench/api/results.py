"""Results of audits: tables of figures that notebooks show and data frames hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.api.rows import Records
from workbench.audits.audit import Printed
from workbench.figures.json_values import to_json_values
from workbench.figures.table import AnyTable
from workbench.figures.visible import visible
from workbench.figures.write.data_files import arrow_table
from workbench.figures.write.document import document
from workbench.figures.write.html import html_paragraphs, html_table


@dataclass(frozen=True, slots=True, repr=False)
class Table(Records):
    """One table of figures. A notebook shows it, and iterating yields its rows as dicts."""

    figure: AnyTable
    "the table itself: columns with their kinds, links, notes"

    @property
    def name(self) -> str:
        """The name of its file, without the ending: `verdicts-personal-1`."""
        return self.figure.stem

    @property
    def title(self) -> str:
        """The title, as people see it."""
        return self.figure.title

    @property
    def definition(self) -> str:
        """The definition of the figures."""
        return self.figure.definition

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences below the table."""
        return tuple(self.figure.notes)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(column.key for column in self.figure.columns)

    @property
    def _names(self) -> tuple[str, ...]:
        return self.columns

    def to_dict(self) -> dict[str, Any]:
        """Return the table as `--json` prints it.

        It has columns with their definitions, and rows with full precision.
        """
        content: dict[str, Any] = to_json_values(document([self.figure], {})["tables"][0])
        return content

    def to_arrow(self) -> Any:
        """Return a pyarrow.Table, in which an estimate has a column for each of its parts.

        The columns of a share are `share`, `share_low`, …. Data frames have the same columns.
        Raises MissingPackage without pyarrow.
        """
        return arrow_table(self.figure)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.to_dict()["rows"])

    def __len__(self) -> int:
        return len(self.figure.rows)

    def __repr__(self) -> str:
        return visible(
            f"<Table {self.name}: {self.title}, {len(self)} rows, columns "
            f"{', '.join(self.columns)}>"
        )

    def _repr_html_(self) -> str:
        return html_table(self.figure)


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """An audit's result for the chosen answers: the same figures as `workbench … --json` prints."""

    audit: str
    "name of the audit, or of another command: `agreement`, `review`, `respondents`"
    printed: Printed
    "the output of the command, as values"
    tables: Mapping[str, Table] = field(init=False)
    "by name; the name of a table with a subject includes it: `verdicts-personal-1`"

    def __post_init__(self) -> None:
        tables = {table.stem: Table(table) for table in self.printed.tables}
        object.__setattr__(self, "tables", tables)

    @property
    def title(self) -> str:
        """The title, as people see it."""
        return self.printed.title

    @property
    def header(self) -> tuple[str, ...]:
        """The header lines of all figures: how much was answered, and who read it.

        Warnings begin with `! `.
        """
        return tuple(self.printed.header)

    @property
    def told(self) -> tuple[str, ...]:
        """Sentences on the basis of the figures."""
        return tuple(self.printed.told)

    @property
    def methods(self) -> str:
        """The methods paragraph for a paper, or an empty text if the audit has none."""
        return self.printed.methods or str(self.printed.about.get("methods", ""))

    def to_dict(self) -> dict[str, Any]:
        """Return the document that `--json` prints."""
        header = {"header": self.printed.header} if self.printed.header else {}
        content: dict[str, Any] = to_json_values(
            document(self.printed.tables, {**header, **self.printed.about})
        )
        return content

    def __repr__(self) -> str:
        return visible(f"<Result {self.title}; tables {', '.join(self.tables)}>")

    def _repr_html_(self) -> str:
        html_tables = (table._repr_html_() for table in self.tables.values())
        return html_paragraphs((self.title, *self.told)) + "".join(html_tables)
