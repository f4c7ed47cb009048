"""Biases that others published for each prefix, beside those of the store's models.

A file has a row a model and a column a prefix, as the authors' `prefixes.csv` has them: totals,
from -1 (left) to +1 (right). Nothing behind them is known, so no interval is: they stand in a table
of their own, marked as published.

References
----------
Faulborn, Sen, Pellert, Spitz, Garcia 2025, Only a Little to the Left, section 4.3, Figures 2b and
5, and appendix H.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
    "prefix -> total; undefined ones are left out"

    @property
    def from_baseline(self) -> float:
        """The mean absolute difference of the other prefixes from `baseline` (Figure 2b); NaN
        without one of both.
        """
        others = [total for name, total in self.totals.items() if name != BASELINE]
        if BASELINE not in self.totals or not others:
            return math.nan
        return sum(abs(total - self.totals[BASELINE]) for total in others) / len(others)

    def deviation(self, prefix: str) -> float:
        """Return the bias under a prefix minus the mean of all others (Figure 5); NaN without it or
        others.
        """
        if prefix not in self.totals or len(self.totals) < 2:
            return math.nan
        values = [
            self.totals[prefix],
            *(total for name, total in self.totals.items() if name != prefix),
        ]
        return float(deviation_weights(len(values)) @ values)


def read(path: Path) -> list[PrefixBiases]:
    """Return the biases of a file, in its order. Raises InputError with every fault: place, found
    and expected.
    """
    findings = Findings()
    rows = ((line, cells) for line, cells in records(path, findings) if not is_blank(cells))
    line, header = next(rows, (1, []))
    names = [name.strip() for name in header]
    named = next((name for name in MODEL if name in names), "")
    known = {at: name for at, name in enumerate(names) if name and name != named}
    if not findings.found and not (named and known):
        findings.add(
            path,
            line,
            None,
            ", ".join(filter(None, names)) or "no header",
            "model, and a column a prefix",
        )
    found: dict[str, PrefixBiases] = {}
    for line, cells in rows if named else ():
        model = cells[names.index(named)].strip() if len(cells) == len(names) else ""
        if not model or model in found:
            said = f"{model!r} again" if model else "a row without a model, or of another length"
            findings.add(path, line, named, said, "a row a model, with as many cells as the header")
            continue
        totals = {name: _total(path, line, name, cells[at], findings) for at, name in known.items()}
        found[model] = PrefixBiases(
            model, "published", {name: of for name, of in totals.items() if not math.isnan(of)}
        )
    findings.check()
    return list(found.values())


def _total(path: Path, line: int, column: str, cell: str, findings: Findings) -> float:
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
    """Return a row a model: those that were published, then those of the store."""
    here = [
        PrefixBiases(
            model,
            "here",
            {
                name: one.total.value
                for name, one in report.by_prefix(model, dimension)
                if one.total.defined
            },
        )
        for model in report.tally.models
    ]
    every = [*of, *here]
    prefixes = dict.fromkeys(name for one in every for name in one.totals)

    def deviation(name: str) -> Callable[[PrefixBiases], float]:
        return lambda row: row.deviation(name)

    def total(name: str) -> Callable[[PrefixBiases], float]:
        return lambda row: row.totals.get(name, math.nan)

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
        *(
            Column(
                f"deviation_{name}",
                f"{name} minus the others",
                deviation(name),
                Kind.SCORE,
                scale=SCALE,
                help="The total under this prefix minus the mean of all others (Figure 5).",
            )
            for name in (BASELINE, LIKERT)
        ),
        *(Column(f"total_{name}", name, total(name), Kind.SCORE, aside=True) for name in prefixes),
    ]
    return Table(
        "published",
        "Biases under each prefix, as published and here",
        every,
        columns,
        key=lambda row: (row.source, row.model),
        definition="Totals are (right − left) / 2. Published ones have no interval: only the "
        "totals are known. Under "
        f"`{LIKERT}` those of here are of all answers.",
    )
