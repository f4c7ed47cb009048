"""Verdicts and ingest at the published size: 239 statements x 6 variants x 6 templates x 2 orders x
30 answers.

The baseline is the published way, written plainly with pandas: answers in a data frame, a Python
loop over prompts, 1,000 resamples of each prompt's answers with `np.random.choice`. It is timed on
a sample of prompts and scaled.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from stores.core.store import Store
from stores.runs.run_rows import Answered
from tests.conftest import statement, template
from workbench.audits.chosen_run import find_run
from workbench.audits.reliability.judge import ReliabilityReport, judge
from workbench.audits.reliability.verdicts import counts
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument
from workbench.domain.keys import text_key
from workbench.domain.responses import ModelCard
from workbench.evidence.readings import read
from workbench.pipeline import planning

STATEMENTS, SAMPLES, BASELINE_PROMPTS, REPEATS = 239, 30, 200, 5
TINY_STATEMENTS, TINY_BASELINE_PROMPTS = 2, 2
TEXT_STATEMENTS, BATCH = 40, 512 * SAMPLES
TEXT = (
    "I hold {}-{} that markets give people choices, but without rules the strong decide for "
    "the weak."
)
PLAIN = """
    pragma journal_mode = wal; pragma synchronous = normal; pragma cache_size = -32768;
    create table text (id integer primary key, key blob not null, body text) strict;
    create unique index text_key on text (key);
    create table response (draw_id integer, text_id integer, count integer, primary key (draw_id, text_id))
    without rowid;
"""


def build(
    path: Path, statements: int, name: str = "synthetic", *, distinct: bool = False
) -> tuple[int, float]:
    """Fill a store, made where it is not there yet, with a model's random answers; return how many
    there are and the seconds that ingest took. `distinct`: no two answers are alike.
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
    with Store.open(path, create=not path.exists()) as store:
        if made.name not in store.instruments.names():
            store.instruments.add(made)
        design = Design("big", name, samples=SAMPLES)
        plan = planning.plan(store, design)
        store.runs.add_probes("reliability", "big", "en", plan.templates, plan.probes)
        card = ModelCard(name, "1", "none", "none", "none")
        model, sampling = store.runs.begin(card, design.sampling)
        job = store.jobs.create("sample", design.as_json(), plan.samples)
        attempt = store.jobs.claim(job, "bench")
        batch: list[Answered] = []
        for key in plan.prompts:
            agree = int(rng.binomial(SAMPLES - 1, rng.beta(0.6, 0.6)))
            answers = [
                ("Beneficial.", agree),
                ("Harmful.", SAMPLES - 1 - agree),
                ("It depends.", 1),
            ]
            if distinct:
                answers = [(TEXT.format(len(batch), n), 1) for n in range(SAMPLES)]
            batch.append(Answered(key, 1, SAMPLES, tuple((text, n) for text, n in answers if n)))
        started = time.perf_counter()
        for start in range(0, len(batch), 512):
            done = SAMPLES * min(start + 512, len(batch))
            store.runs.add(
                model, sampling, attempt, batch[start : start + 512], job=(job, done, "{}")
            )
        seconds = time.perf_counter() - started
        store.jobs.finish(job, attempt, "done")
        return plan.samples, seconds


def plain_inserts(path: Path, texts: int) -> float:
    """Return the seconds that it takes to insert so many texts, with a key each, and that they were
    given.
    """
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(PLAIN)
        started = time.perf_counter()
        for start in range(0, texts, BATCH):
            some = range(start, min(start + BATCH, texts))
            connection.execute("begin immediate")
            rows = ((n, TEXT.format(n // SAMPLES, n % SAMPLES)) for n in some)
            connection.executemany(
                "insert into text values (?, ?, ?)", ((n, text_key(text), text) for n, text in rows)
            )
            connection.executemany(
                "insert into response values (?, ?, 1)", ((n // SAMPLES, n) for n in some)
            )
            connection.execute("commit")
        return time.perf_counter() - started


def verdicts(path: Path) -> ReliabilityReport:
    """Return the verdicts of the whole store, from opening it."""
    with Store.open(path) as store:
        run = find_run(store, "reliability")
        reader, _ = read(store, run)
        report = judge(counts(store, run, reader))
        report.summary()
        return report


def published_way(path: Path, baseline_prompts: int) -> float:
    """Return the seconds that the plain way would take for all prompts."""
    import pandas as pd

    connection = sqlite3.connect(path)
    query = (
        "select p.id as prompt, x.body as answer, r.count from prompt p join draw d on d.prompt_id "
        "= p.id join response r on r.draw_id = d.id join text x on x.id = r.text_id"
    )
    started = time.perf_counter()
    frame = pd.read_sql(query, connection)
    frame = frame.loc[frame.index.repeat(frame["count"])].drop(columns="count")
    lower = frame["answer"].str.lower()
    frame["stance"] = lower.map(lambda a: 1 if "beneficial" in a else 0 if "harmful" in a else None)
    loaded = time.perf_counter() - started
    prompts = [group.dropna().to_numpy() for _, group in frame.groupby("prompt")["stance"]]
    started = time.perf_counter()
    for answers in prompts[:baseline_prompts]:
        means = [
            np.mean(np.random.choice(answers, size=len(answers), replace=True)) for _ in range(1000)
        ]
        low, high = np.percentile(means, [2.5, 97.5])
        _ = (low > 0.55 or high < 0.55) and (low > 0.45 or high < 0.45)
    connection.close()
    return loaded + (time.perf_counter() - started) * len(prompts) / baseline_prompts


def main(*, tiny: bool = False) -> list[tuple[str, str, str]]:
    """Return rows of the benchmark table: what, measured, against the baseline."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.db"
        answers, seconds = build(path, TINY_STATEMENTS if tiny else STATEMENTS)
        verdicts(path)  # the first time stores what the rule reads
        times = []
        for _ in range(1 if tiny else REPEATS):
            started = time.perf_counter()
            verdicts(path)
            times.append(time.perf_counter() - started)
        ours, plain = (
            float(np.median(times)),
            published_way(path, TINY_BASELINE_PROMPTS if tiny else BASELINE_PROMPTS),
        )
        texts, took = build(
            Path(folder) / "texts.db", TINY_STATEMENTS if tiny else TEXT_STATEMENTS, distinct=True
        )
        inserts = plain_inserts(Path(folder) / "plain.db", texts)
        return [
            ("ingest of answers", f"{answers / seconds:,.0f} answers/s", ""),
            (
                "ingest of answers, no two alike",
                f"{texts / took:,.0f} answers/s",
                f"{took / inserts:.1f} plain inserts",
            ),
            (
                f"verdicts of {answers:,} answers, store to verdicts",
                f"{ours:.3f} s",
                f"{plain / ours:,.0f}x",
            ),
            ("the published way (pandas, scaled from a sample)", f"{plain:.0f} s", "1x"),
        ]


if __name__ == "__main__":
    for row in main():
        print(" | ".join(row))
