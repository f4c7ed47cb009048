"""How often intervals hold a truth that is known, because the data are drawn from it.

A scenario draws data, puts them through the program's own functions, and says for each kind of
interval (a name in `workbench.figures.intervals`) where its ends are and where the truth is. The
result is a page of the program's help.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, sqrt
from typing import Literal

import numpy as np

from workbench.domain.verdicts import Estimate
from workbench.figures.intervals import INTERVALS
from workbench.stats.resampling import derive_rng

Kind = Literal["small n", "ties or boundaries", "clustering", "typical"]
"""of units that cannot be clustered, such as independent answers to one prompt, the third case is
the typical one"""
SEED = 2026
REPETITIONS = 2_000
DRAWS = 400
"""bootstrap draws of a repetition, where the program takes 1,000 to 10,000: the ends of a single
interval move by little, and their coverage by less than its Monte Carlo error
(`test_fewer_draws_...`)
"""


@dataclass(frozen=True, slots=True)
class Held:
    """One interval of one repetition; NaN ends where none is given."""

    low: float
    high: float
    truth: float

    @classmethod
    def of(cls, found: Estimate, truth: float) -> Held:
        return cls(found.low, found.high, truth)

    @property
    def given(self) -> bool:
        return not isnan(self.low)

    @property
    def holds(self) -> bool:
        slack = 1e-9  # a truth on a boundary, up to rounding
        return self.low - slack <= self.truth <= self.high + slack


@dataclass(frozen=True, slots=True)
class Scenario:
    """A way of drawing data, and what comes of them."""

    name: str
    "says the sizes: `10 items, 3 annotators`"
    kind: Kind
    once: Callable[[np.random.Generator], Mapping[str, Held | Sequence[Held]]]
    """one repetition: interval -> where it is; several where a repetition gives several of one
    kind. `interval: part` names a part that has a row of its own, such as one of several components
    """


@dataclass(frozen=True, slots=True)
class Cell:
    """How often the intervals of one kind held the truth in one scenario."""

    interval: str
    "a name in `INTERVALS`, with `: ` and a part where parts have rows of their own"
    kind: str
    scenario: str
    repetitions: int
    given: float
    "share of the repetitions in which there is an interval"
    coverage: float
    "of these; NaN where there is none"
    error: float
    "Monte Carlo standard error, over repetitions"

    @property
    def method(self) -> str:
        """The name of the interval in `INTERVALS`."""
        return self.interval.partition(": ")[0]

    @property
    def of_all(self) -> float:
        """The share of all repetitions with an interval that holds the truth: one that is withheld
        holds nothing.
        """
        return 0.0 if isnan(self.coverage) else self.coverage * self.given


def run(scenario: Scenario, repetitions: int = REPETITIONS, seed: int = SEED) -> list[Cell]:
    """Return the coverage of every kind of interval in a scenario. Its generator belongs to its
    name.
    """
    rng = derive_rng(seed, "coverage", scenario.name)
    held: dict[str, list[tuple[float, float, float]]] = {}
    for _ in range(repetitions):
        for name, found in scenario.once(rng).items():
            several = [found] if isinstance(found, Held) else found
            given = sum(one.given for one in several)
            held.setdefault(name, []).append(
                (sum(one.given and one.holds for one in several), given, len(several))
            )
    return [_cell(name, scenario, np.array(rows, dtype=np.float64)) for name, rows in held.items()]


def _cell(
    name: str, scenario: Scenario, rows: np.ndarray[tuple[int, int], np.dtype[np.float64]]
) -> Cell:
    holds, given, there = rows.T
    whole = given.sum()
    coverage = holds.sum() / whole if whole else float("nan")
    spread = (
        (holds - coverage * given).std(ddof=1) * sqrt(len(rows)) / whole if whole else float("nan")
    )
    least = sqrt(0.95 * 0.05 / max(1, np.count_nonzero(given)))
    error = spread if spread > 0 else least
    return Cell(name, scenario.kind, scenario.name, len(rows), whole / there.sum(), coverage, error)


TITLE = "# Coverage: how often the intervals contain the true value"
COLUMNS = ("interval", "kind", "scenario", "repetitions", "given", "coverage", "error")
"columns of the file with the cells"
LOW, MANY = 0.93, 0.5
"""a case has a row of its own on the page if its coverage is lower, or if this share of its
intervals is withheld"""
INTRODUCTION = f"""\
A 95 % interval should contain the true value in 95 % of studies. For each kind of interval, data
were drawn from a known true value and analysed with the program's own functions: {REPETITIONS:,}
repetitions a case, each with at most {DRAWS} bootstrap draws, seed {SEED}.

The name of an interval is the field `interval` in `--json`. *Coverage* is the percentage of the
intervals that contain the true value. If the data allow no valid interval, the program withholds
it and says why.

- Below 92, beyond the error of the simulation: not a confidence interval. Only published rules are
  so low, and their remark says it.
- Above 98: conservative, which means wider than necessary.

The table has the lowest and the highest coverage of each kind of case, and the highest percentage
of withheld intervals. *Typical* includes clustered data.
"""
OUTSIDE = f"""\
## Cases with low coverage or many withheld intervals

Coverage below {100 * LOW:.0f} %, ± its simulation error, or at least {100 * MANY:.0f} % withheld. *Of all* is the
percentage of all repetitions with an interval that contains the true value.
"""
END = """\
`make coverage` computes everything anew; `tests/coverage/cells.csv` has every case.
"""


def page(cells: Iterable[Cell], missing: Iterable[str] = ()) -> str:
    """Return the page of the help. missing : scenarios that are still to be simulated"""
    ordered = sorted(
        cells, key=lambda cell: (list(INTERVALS).index(cell.method), cell.kind, cell.scenario)
    )
    cells_by_interval: dict[str, list[Cell]] = {}
    for cell in ordered:
        cells_by_interval.setdefault(cell.interval, []).append(cell)
    names = sorted(cells_by_interval, key=_whole_first)
    lines = [
        TITLE,
        "",
        INTRODUCTION,
        "| interval of | name | small n | ties or boundaries | typical | withheld, % |",
        "|---|---|---|---|---|---|",
        *(_summary(name, cells_by_interval[name]) for name in names),
        "",
        OUTSIDE,
        "| name | case | scenario | coverage, % | withheld, % | of all, % |",
        "|---|---|---|---|---|---|",
        *(_row(cell) for cell in ordered if _is_listed(cell)),
        "",
        "## Methods",
        "",
        *_methods(),
        "",
    ]
    if unfinished := sorted(missing):
        lines += ["## Still to be simulated in full", "", *(f"- {name}" for name in unfinished), ""]
    return "\n".join([*lines, END])


def _whole_first(interval: str) -> tuple[int, bool]:
    """Return the sort key of an interval: its place in the list, the parts after the whole."""
    method, _, part = interval.partition(": ")
    return list(INTERVALS).index(method), bool(part)


def _summary(name: str, cells: Sequence[Cell]) -> str:
    """Return the row of an interval: its coverage in each kind of case."""
    interval = INTERVALS[cells[0].method]
    figure = f"{interval.figure}; *{interval.remark}*" if interval.remark else interval.figure
    part = name.partition(": ")[2]
    ranges = [
        _range(cell.coverage for cell in cells if cell.kind in kinds)
        for kinds in (("small n",), ("ties or boundaries",), ("clustering", "typical"))
    ]
    withheld = max(100 * (1 - cell.given) for cell in cells)
    return (
        "| "
        + " | ".join([f"the same: {part}" if part else figure, f"`{name}`", *ranges])
        + (f" | {withheld:.0f} |")
    )


def _range(shares: Iterable[float]) -> str:
    """Return the lowest and the highest share in per cent."""
    known = sorted(share for share in shares if not isnan(share))
    if not known:
        return "–"
    low, high = f"{100 * known[0]:.1f}", f"{100 * known[-1]:.1f}"
    return low if low == high else f"{low} to {high}"


def _is_listed(cell: Cell) -> bool:
    return not cell.coverage >= LOW or 1 - cell.given >= MANY


def _methods() -> Iterator[str]:
    """Yield every method with the names of the intervals that it makes."""
    names_by_method: dict[str, list[str]] = {}
    for name, interval in INTERVALS.items():
        names_by_method.setdefault(interval.method, []).append(f"`{name}`")
    for method, names in names_by_method.items():
        yield f"- {', '.join(names)}: {method}."


def _row(cell: Cell) -> str:
    coverage = (
        "–" if isnan(cell.coverage) else f"{100 * cell.coverage:.1f} ± {100 * cell.error:.1f}"
    )
    parts = (
        f"`{cell.interval}`",
        cell.kind,
        cell.scenario,
        coverage,
        f"{100 * (1 - cell.given):.1f}",
        f"{100 * cell.of_all:.1f}",
    )
    return "| " + " | ".join(parts) + " |"


def as_csv(cells: Iterable[Cell]) -> str:
    """Return the cells as the text of a CSV file."""
    file = io.StringIO()
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(COLUMNS)
    for cell in cells:
        values = (cell.given, cell.coverage, cell.error)
        rows.writerow(
            [cell.interval, cell.kind, cell.scenario, cell.repetitions]
            + [f"{value:.4f}" for value in values]
        )
    return file.getvalue()


def read(text: str) -> list[Cell]:
    """Return the cells of such a text."""
    return [
        Cell(
            row["interval"],
            row["kind"],
            row["scenario"],
            int(row["repetitions"]),
            float(row["given"]),
            float(row["coverage"]),
            float(row["error"]),
        )
        for row in csv.DictReader(text.splitlines())
    ]
