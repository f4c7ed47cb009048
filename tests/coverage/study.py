"""How often intervals hold a truth that is known, because the data are drawn from it.

A scenario draws data, puts them through the program's own functions, and says for each kind of
interval (a name in `workbench.figures.intervals`) where its ends are and where the truth is. The
result is a page of the program's help.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
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


TITLE = "# How often the intervals hold the truth"
NAME = re.compile(r"^\| `(?P<name>[^`]+)`")


def page(cells: Iterable[Cell], missing: Iterable[str] = ()) -> str:
    """Return the page of the help. missing : scenarios that are still to be simulated"""
    without = [f"- {name}" for name in sorted(missing)]
    later = ["## Still to be simulated in full", "", *without, ""] if without else []
    found = sorted(
        cells, key=lambda cell: (list(INTERVALS).index(cell.method), cell.kind, cell.scenario)
    )
    lines = [_row(cell) for cell in found]
    methods = [
        f"- `{name}`: {one.figure}. {one.method}.{f' **{one.remark}.**' if one.remark else ''}"
        for name, one in INTERVALS.items()
    ]
    return "\n".join(
        [
            TITLE,
            "",
            "Every number with a 95 % interval names the method of the interval; in `--json` this "
            "is the field `interval`. For each method, data were drawn from a known true value "
            "and analysed with the program's own functions. *Coverage* is the percentage of the "
            "given intervals that contain the true value, ± its Monte Carlo standard error; it "
            "should be 95. If the data do not allow a valid interval, the program gives none and "
            "says why; *withheld* is the percentage of cases without an interval, and *of all* "
            "the percentage of all cases that have an interval which contains the true value. "
            "Where a method serves several components, each has a row. A method with a coverage "
            "below 92 is not a confidence interval, and the program says so; a method with a "
            "coverage above 98 is conservative.",
            "",
            f"`make coverage` computes the table anew, with seed {SEED}, a generator of its own "
            f"for each scenario (seeded by the scenario's name), and at most {DRAWS} bootstrap "
            "draws for each repetition.",
            "",
            "| interval | case | scenario | coverage, % | withheld, % | of all, % | repetitions |",
            "|---|---|---|---|---|---|---|",
            *lines,
            "",
            *later,
            "## Methods",
            "",
            *methods,
            "",
        ]
    )


def _row(cell: Cell) -> str:
    # As the page can be read.
    read_ = replace(cell, given=round(cell.given, 3), coverage=round(cell.coverage, 3))
    coverage = (
        "–" if isnan(cell.coverage) else f"{100 * read_.coverage:.1f} ± {100 * cell.error:.1f}"
    )
    shares = f"{100 * (1 - cell.given):.1f}", f"{100 * read_.of_all:.1f}"
    parts = (
        f"`{cell.interval}`",
        cell.kind,
        cell.scenario,
        coverage,
        *shares,
        f"{cell.repetitions}",
    )
    return "| " + " | ".join(parts) + " |"


def read(text: str) -> list[Cell]:
    """Return the cells of a page."""
    cells = []
    for line in text.splitlines():
        if NAME.match(line):
            name, kind, scenario, coverage, withheld, _, repetitions = line.strip("| ").split(" | ")
            value, _, error = coverage.partition(" ± ")
            known = value != "–"
            cells.append(
                Cell(
                    name.strip("`"),
                    kind,
                    scenario,
                    int(repetitions),
                    1 - float(withheld) / 100,
                    float(value) / 100 if known else float("nan"),
                    float(error) / 100 if known else float("nan"),
                )
            )
    return cells
