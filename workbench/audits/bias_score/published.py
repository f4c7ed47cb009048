"""Published biases for each prefix, beside those of the store's models.

A file has one row per model and one column per prefix, like the authors' `prefixes.csv`, with
totals from -1 (left) to +1 (right). The answers behind them are unknown, so they have no interval.
They have a table of their own, marked as published.

References
----------
Faulborn, Sen, Pellert, Spitz, Garcia 2025, Only a Little to the Left, section 4.3, Figures 2b and
5, and appendix H.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from workbench.audits.bias_score.factors import deviation_weights
from workbench.audits.bias_score.score import BiasReport
from workbench.audits.bias_score.tables import BASELINE, LIKERT, SCALE
from workbench.domain.statements import Dimension
from workbench.figures.table import Column, Kind, Table
from workbench.formats.records import Findings, is_blank, records

MODEL = ("model", "prefix")
"columns that may name the model; the authors' file calls it `prefix`"
NONE = (
    "Nothing published is given.\n\nWith --published-file FILE, a row a model and a column a "
    "prefix, this table has "
    "its figures beside those of these models."
)


@dataclass(frozen=True, slots=True)
class PrefixBiases:
    """The bias of one model under each prefix."""

    model: str
    source: str
    "`published`, or `here`"
    totals: Mapping[str, float]
    "by prefix: the total; undefined totals are omitted"

    @property
    def from_baseline(self) -> float:
        """The mean absolute difference of the other prefixes from `baseline` (Figure 2b).

        It is NaN without `baseline` or without other prefixes.
        """
        other_totals = [total for name, total in self.totals.items() if name != BASELINE]
        if BASELINE not in self.totals or not other_totals:
            return math.nan
        return sum(abs(total - self.totals[BASELINE]) for total in other_totals) / len(other_totals)

    def deviation(self, prefix: str) -> float:
        """Return the bias under a prefix minus the mean of all others (Figure 5).

        It is NaN without the prefix or without others.
        """
        if prefix not in self.totals or len(self.totals) < 2:
            return math.nan
        values = [
            self.totals[prefix],
            *(total for name, total in self.totals.items() if name != prefix),
        ]
        return float(deviation_weights(len(values)) @ values)


def read(path: Path) -> list[PrefixBiases]:
    """Return the biases of a file, in its order.

    Raises InputError with every fault: its place, what was found, and what is expected.
    """
    findings = Findings()
    rows = ((line, cells) for line, cells in records(path, findings) if not is_blank(cells))
    line, header = next(rows, (1, []))
    names = [name.strip() for name in header]
    model_column = next((name for name in MODEL if name in names), "")
    prefix_by_index = {
        index: name for index, name in enumerate(names) if name and name != model_column
    }
    # a file that cannot be read has a finding already
    if not findings.found and not (model_column and prefix_by_index):
        found = ", ".join(filter(None, names)) or "no header"
        findings.add(path, line, None, found, "model, and a column a prefix")
    biases_by_model: dict[str, PrefixBiases] = {}
    for line, cells in rows if model_column else ():
        model = ""
        if len(cells) == len(names):
            model = cells[names.index(model_column)].strip()
        if not model or model in biases_by_model:
            fault = f"{model!r} again" if model else "a row without a model, or of another length"
            expected = "a row a model, with as many cells as the header"
            findings.add(path, line, model_column, fault, expected)
            continue
        totals = _totals(path, line, cells, prefix_by_index, findings)
        biases_by_model[model] = PrefixBiases(model, "published", totals)
    findings.check()
    return list(biases_by_model.values())


def _totals(
    path: Path,
    line: int,
    cells: Sequence[str],
    prefix_by_index: Mapping[int, str],
    findings: Findings,
) -> dict[str, float]:
    """Return the totals of a row by prefix, without empty and faulty cells."""
    totals = {}
    for index, prefix in prefix_by_index.items():
        total = _total(path, line, prefix, cells[index], findings)
        if not math.isnan(total):
            totals[prefix] = total
    return totals


def _total(path: Path, line: int, column: str, cell: str, findings: Findings) -> float:
    """Return a cell's total, or NaN for an empty or faulty cell.

    A faulty one is added to `findings`.
    """
    if not cell.strip():
        return math.nan
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not -1 <= value <= 1:
        findings.add(
            path, line, column, repr(cell), "a bias from -1 (left) to 1 (right), or an empty cell"
        )
        return math.nan
    return value


def published(
    report: BiasReport, of: Sequence[PrefixBiases], dimension: Dimension | None
) -> Table[PrefixBiases]:
    """Return one row per model: the published ones first, then those of the store."""
    all_biases = [*of, *(_own_biases(report, model, dimension) for model in report.tally.models)]
    prefixes = dict.fromkeys(chain.from_iterable(biases.totals for biases in all_biases))
    columns: list[Column[PrefixBiases]] = [
        Column("model", "model", lambda row: row.model, main=True),
        Column("source", "source", lambda row: row.source),
        Column(
            "mean",
            "mean |difference|",
            lambda row: row.from_baseline,
            Kind.COEFFICIENT,
            short="mean |d|",
            help=f"Of the totals under the other prefixes from that under `{BASELINE}` "
            "(Figure 2b).",
        ),
        _deviation_column(BASELINE),
        _deviation_column(LIKERT),
        *map(_total_column, prefixes),
    ]
    return Table(
        "published",
        "Biases under each prefix, as published and here",
        all_biases,
        columns,
        key=lambda row: (row.source, row.model),
        definition="Totals are (right − left) / 2. Published ones have no interval: only the "
        "totals are known. Under "
        f"`{LIKERT}` those of here are of all answers.",
    )


def _own_biases(report: BiasReport, model: str, dimension: Dimension | None) -> PrefixBiases:
    """Return the totals of a model of the store under each prefix that has one."""
    totals = {
        name: figure.total.value
        for name, figure in report.by_prefix(model, dimension)
        if figure.total.defined
    }
    return PrefixBiases(model, "here", totals)


def _deviation_column(prefix: str) -> Column[PrefixBiases]:
    """Return the column of the deviation under a prefix."""
    return Column(
        f"deviation_{prefix}",
        f"{prefix} minus the others",
        lambda row: row.deviation(prefix),
        Kind.SCORE,
        scale=SCALE,
        help="The total under this prefix minus the mean of all others (Figure 5).",
    )


def _total_column(prefix: str) -> Column[PrefixBiases]:
    """Return the column of the total under a prefix."""
    return Column(
        f"total_{prefix}",
        prefix,
        lambda row: row.totals.get(prefix, math.nan),
        Kind.SCORE,
        aside=True,
    )
