"""Tables of response biases: who was asked, the matrix of biases and models, and what one bias does to each model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.audits.response_bias import cells as cells
from workbench.audits.response_bias import columns as columns
from workbench.audits.response_bias.changes import Changes
from workbench.audits.response_bias.judged import Subject
from workbench.audits.response_bias.names import Place, subject_of
from workbench.audits.response_bias.words import beside
from workbench.domain.verdicts import Estimate
from workbench.figures.pictures.of_table import Forest, Matrix
from workbench.figures.table import Column, Kind, Link, Table

if TYPE_CHECKING:
    from stores.runs.run_rows import Run

LEAST = 14
"columns of a terminal for `+24.9 points` above `*** human-like`"


def subjects(found: Changes) -> Table[Subject]:
    """Return how each model was asked."""

    def of_run(value: Callable[[Run], str]) -> Callable[[Subject], str]:
        return lambda row: value(row.run) if row.run is not None else ""

    return Table(
        "subjects",
        "Who answered",
        list(found.subjects.values()),
        [
            columns.model(lambda row: row.name),
            Column("answers", "answers", lambda row: row.way),
            Column("sampling", "sampling", of_run(lambda run: str(run.sampling))),
            Column("template", "template", lambda row: row.template),
            Column("wanted", "valid answers wanted", lambda row: row.wanted or None, Kind.COUNT, short="wanted"),
            Column("short", "forms with fewer", lambda row: len(row.short), Kind.COUNT, short="fewer"),
            Column("pairs", "pairs", lambda row: sum(len(table.keys) for table in row.tables), Kind.COUNT,
                   help="with answers to both forms"),
            # The name of a served subject has its snapshot.
            Column("version", "version", of_run(lambda run: "" if run.served_as else run.version), aside=True),
            Column("computed", "computed", of_run(lambda run: run.computed), aside=True),
        ],
        key=lambda row: (row.name,),
        notes=["exact: probabilities of the next token. imported: answers that others collected."],
    )  # fmt: skip


def matrix(found: Changes) -> Table[Place]:
    """Return the mean change of every bias and perturbation; a column each model."""
    alpha, ends = found.options.alpha, columns.reach(found)

    def of(name: str) -> Column[Place]:
        report = found.reports[name]
        likeness = {one.bias: one for one in found.likeness(name)}

        def sign(place: Place) -> str:
            like = likeness.get(place[0]) if not place[1] and not place[2] else None
            return beside(report.find(*place), like)

        def questions(place: Place) -> Link | None:
            return Link("questions", (name, *subject_of(place))) if report.find(*place) is not None else None

        def said(place: Place) -> list[str]:
            cell = report.find(*place)
            return cells.said(found, (name, cell)) if cell is not None else []

        return Column(
            f"model {name}" if name in ("bias", "condition") else name,
            name,
            _change_of(found, name),
            Kind.POINTS,
            least=LEAST,
            help="mean change with its 95 % interval, in percentage points",
            beside=sign,
            scale=ends,
            reference=columns.zero,
            link=questions,
            detail=said,
        )

    models = [of(name) for name in found.reports]
    keys = [column.key for column in models]
    return Table(
        "matrix",
        "Mean change by bias and model",
        [place for place in found.places if place[1] is None or not found.options.without_typos],
        [*columns.places(found, lambda place: place), *models],
        key=subject_of,
        notes=[
            f"* p < {alpha:g}, ** p < 0.01, *** p < 0.001; n.s.: not significant. –: not asked.",
            "human-like: significant in people's direction; opposite: significant, against them; changes: significant, "
            "though people overlook typos. ✓: human-like, and no typo changes anything.",
            *columns.copied(found),
        ],
        link=lambda place: Link("place", subject_of(place)),
        pictures=[
            Matrix(columns=keys, rows=["bias", "condition"]),
            Forest(values=keys, rows=["bias", "condition"], suffix="intervals", axis="mean change"),
        ],
    )


def _change_of(found: Changes, name: str) -> Callable[[Place], Estimate | None]:
    def value(place: Place) -> Estimate | None:
        cell = found.reports[name].find(*place)
        return None if cell is None else columns.cell_change(cell)

    return value
