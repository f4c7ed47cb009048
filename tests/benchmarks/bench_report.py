"""A report at the published size: 239 statements x 6 variants x 6 templates x 2 orders x 30
answers, of six models.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench_verdicts import STATEMENTS, TINY_STATEMENTS, build

from stores.core.store import Store
from workbench.report.options import ReportChoice
from workbench.report.written import write_report

MODELS = 6


def main(*, tiny: bool = False) -> list[tuple[str, str, str]]:
    """Return rows of the benchmark table: what, measured, against the baseline."""
    with tempfile.TemporaryDirectory() as folder:
        path, answers = Path(folder) / "big.db", 0
        for number in range(1 if tiny else MODELS):
            answers += build(path, TINY_STATEMENTS if tiny else STATEMENTS, f"model-{number}")[0]
        began, used = time.perf_counter(), _processor()
        with Store.open(path) as store:
            page = write_report(store, Path(folder) / "out", ReportChoice())
        seconds, processor = time.perf_counter() - began, _processor() - used
        size = sum(one.stat().st_size for one in page.parent.rglob("*") if one.is_file())
        return [
            (
                f"report of {answers:,} answers, store to folder",
                f"{seconds:.1f} s ({processor:.1f} s of processor time)",
                "",
            ),
            (
                "size of its page, of the folder",
                f"{page.stat().st_size / 1e6:.1f} MB, {size / 1e6:.1f} MB",
                "",
            ),
        ]


def _processor() -> float:
    """Return the seconds of processor time of this process and of those that it waited for:
    pictures have their own.
    """
    return sum(os.times()[:4])


if __name__ == "__main__":
    for row in main():
        print(" | ".join(row))
