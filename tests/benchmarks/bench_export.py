"""`workbench export --what answers` of five million answers: rows a second, and how much memory
they take.

Ten models at the published size: 239 statements x 6 variants x 6 templates x 2 orders x 30 answers.
Each export runs in a process of its own, whose largest resident size is compared with that of a
store of one statement.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from stores.core.store import Store
from stores.runs.run_rows import Answered
from tests.conftest import statement, template
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument
from workbench.domain.responses import ModelCard
from workbench.pipeline import planning

STATEMENTS, MODELS, SAMPLES = 239, 10, 30
TINY_STATEMENTS, TINY_MODELS = 2, 1
FORMATS = ("csv", "jsonl", "parquet")
EXPORT = """
import resource, sys
from workbench.cli.main import main
code = main(["export", sys.argv[1], sys.argv[2], "--what", "answers", "--format", sys.argv[3], *sys.argv[4:], "--json"])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""


def build(path: Path, statements: int, models: int, *, distinct: bool = False) -> int:
    """Fill a store with random answers of some models; return how many. `distinct`: no two are
    alike.
    """
    rng = np.random.default_rng(1)
    names = [f"t-{n}" for n in range(6)]
    made = Instrument(
        "big",
        "Synthetic",
        tuple(statement(f"s-{n:03}") for n in range(statements)),
        templates=tuple(
            template(name, inverted=inverted) for name in names for inverted in (False, True)
        ),
    )
    answers = 0
    with Store.open(path, create=True) as store:
        store.instruments.add(made)
        for number in range(models):
            design = Design("big", f"synthetic-{number}", samples=SAMPLES)
            plan = planning.plan(store, design)
            store.runs.add_probes("reliability", "big", "en", plan.templates, plan.probes)
            card = ModelCard(design.model, "1", "none", "none", "none")
            model, sampling = store.runs.begin(card, design.sampling)
            attempt = store.jobs.claim(
                store.jobs.create("sample", design.as_json(), plan.samples), "bench"
            )
            batch = []
            for key in plan.prompts:
                agree = int(rng.binomial(SAMPLES - 1, rng.beta(0.6, 0.6)))
                told = [
                    ("Beneficial.", agree),
                    ("Harmful.", SAMPLES - 1 - agree),
                    ("It depends.", 1),
                ]
                if distinct:
                    told = [
                        (f"Beneficial, since {number}-{len(batch)}-{n} says so.", 1)
                        for n in range(SAMPLES)
                    ]
                batch.append(Answered(key, 1, SAMPLES, tuple((text, n) for text, n in told if n)))
            for start in range(0, len(batch), 512):
                store.runs.add(model, sampling, attempt, batch[start : start + 512])
            answers += plan.samples
    return answers


def export(path: Path, format_: str, *options: str) -> tuple[float, int, int]:
    """Export in a process of its own; return seconds, most memory (bytes), and bytes written."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        out = Path(folder) / "out"
        started = time.perf_counter()
        command = [sys.executable, "-c", EXPORT, str(path), str(out), format_, *options]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds = time.perf_counter() - started
        return (
            seconds,
            1024 * int(done.stderr.split()[-1]),
            (out / f"answers.{format_}").stat().st_size,
        )


def main(*, tiny: bool = False) -> list[tuple[str, str, str]]:
    """Return rows of the benchmark table: what, measured, memory beyond that of a small store."""
    with tempfile.TemporaryDirectory() as folder:
        small, big = Path(folder) / "small.db", Path(folder) / "big.db"
        build(small, 1, 1)
        answers = build(big, *((TINY_STATEMENTS, TINY_MODELS) if tiny else (STATEMENTS, MODELS)))
        export(big, FORMATS[0])  # the first time stores what rules read
        rows = []
        for format_ in FORMATS:
            least = export(small, format_, "--expand")[1]
            seconds, most, size = export(big, format_, "--expand")
            rows.append(
                (
                    f"export of {answers:,} answers, a row each, as {format_} ({size / 1e6:,.0f} "
                    "MB)",
                    f"{seconds:.1f} s, {answers / seconds:,.0f} rows/s",
                    f"{most / 1e6:,.0f} MB of memory ({least / 1e6:,.0f} MB for one statement)",
                )
            )
        return rows


if __name__ == "__main__":
    for row in main():
        print(" | ".join(row))
