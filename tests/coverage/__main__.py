"""Compute the coverage of every interval: `python -m tests.coverage [WORD...]`, those whose names
hold a word.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.coverage.scenarios import SCENARIOS
from tests.coverage.study import REPETITIONS, Cell, as_csv, page, read, run

PAGE = Path(__file__).parents[2] / "workbench" / "help" / "coverage.md"
CELLS = Path(__file__).parent / "cells.csv"
"the coverage of every case, of which the page is made"


def named(name: str) -> tuple[list[Cell], float]:
    """Return the cells of a scenario, and how many seconds they took."""
    start = time.perf_counter()
    scenario = next(one for one in SCENARIOS if one.name == name)
    return run(scenario, REPETITIONS), time.perf_counter() - start


def main(words: list[str], processes: int = 2) -> None:
    wanted = [one.name for one in SCENARIOS if not words or any(word in one.name for word in words)]
    there = {one.name for one in SCENARIOS}
    kept = read(CELLS.read_text(encoding="utf-8")) if words and CELLS.exists() else []
    cells = {
        (cell.interval, cell.scenario): cell
        for cell in kept
        if cell.scenario in there - set(wanted)
    }
    with ProcessPoolExecutor(processes) as pool:
        for name, (found, seconds) in zip(wanted, pool.map(named, wanted), strict=True):
            for cell in found:
                cells[cell.interval, cell.scenario] = cell
                print(
                    f"{cell.interval:40} {name:60} {cell.coverage:.3f} ± {cell.error:.3f}  "
                    f"{cell.given:.2f}"
                )
            print(f"{'':40} {name:60} {seconds:.0f} s", flush=True)
            missing = there - {scenario for _, scenario in cells}
            CELLS.write_text(as_csv(cells.values()), encoding="utf-8")
            PAGE.write_text(page(cells.values(), missing), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
