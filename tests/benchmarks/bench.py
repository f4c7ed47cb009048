"""`make bench`: every benchmark, as one table. Ratios are taken in one run on one machine.

`bench.py --tiny NAME …` runs them at a size that measures nothing, which shows that they work.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2]))

START = "start"
BENCHMARKS = (
    START,
    "verdicts",
    "bias",
    "questionnaire",
    "response_bias",
    "annotate",
    "sampling",
    "scoring",
    "classifier",
    "report",
    "export",
    "waiting",
)
"each but the first is a module `bench_NAME`"


def cold_start(*, tiny: bool = False) -> list[tuple[str, str, str]]:
    """Time a fresh interpreter from its start to the imports of the terminal being done."""
    times = []
    for _ in range(2 if tiny else 6):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import workbench.tui.app"], check=True)
        times.append(time.perf_counter() - started)
    return [
        ("import of the terminal, fresh interpreter", f"{statistics.median(times[1:]):.2f} s", "")
    ]


def main() -> None:
    """Print the table; names on the command line choose benchmarks."""
    parser = argparse.ArgumentParser(description="Print what this machine does, as a table.")
    parser.add_argument(
        "--tiny", action="store_true", help="at a size that measures nothing, to see that they work"
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"all, or some of: {', '.join(BENCHMARKS)}"
    )
    options = parser.parse_args()
    for name in options.names:
        if name not in BENCHMARKS:
            parser.error(f"no benchmark is named {name!r}; there is: {', '.join(BENCHMARKS)}")
    print(f"{os.cpu_count()} cores\n")
    print("| measure | found | ratio |\n| --- | --- | --- |")
    for name in options.names or BENCHMARKS:
        run = cold_start if name == START else import_module(f"bench_{name}").main
        for row in run(tiny=options.tiny):
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
