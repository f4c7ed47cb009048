"""`make bench`: every benchmark, as one table. Ratios are taken in one run on one machine."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2]))


def cold_start() -> list[tuple[str, str, str]]:
    """Time a fresh interpreter from its start to the imports of the terminal being done."""
    times = []
    for _ in range(6):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import workbench.tui.app"], check=True)
        times.append(time.perf_counter() - started)
    return [("import of the terminal, fresh interpreter", f"{statistics.median(times[1:]):.2f} s", "")]


def main() -> None:
    """Print the table; names on the command line choose benchmarks."""
    import bench_annotate
    import bench_bias
    import bench_classifier
    import bench_questionnaire
    import bench_response_bias
    import bench_sampling
    import bench_scoring
    import bench_verdicts

    benchmarks = {
        "start": cold_start,
        "verdicts": bench_verdicts.main,
        "bias": bench_bias.main,
        "questionnaire": bench_questionnaire.main,
        "response_bias": bench_response_bias.main,
        "annotate": bench_annotate.main,
        "sampling": bench_sampling.main,
        "scoring": bench_scoring.main,
        "classifier": bench_classifier.main,
    }
    chosen = sys.argv[1:] or list(benchmarks)
    print(f"{os.cpu_count()} cores\n")
    print("| measure | found | ratio |\n| --- | --- | --- |")
    for name in chosen:
        for row in benchmarks[name]() or ():
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
