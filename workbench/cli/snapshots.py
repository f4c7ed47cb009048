"""The command that lists snapshots of served models and tests whether fingerprints matter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from workbench.cli.output import FIGURES
from workbench.cli.verbs import Namespace, verb
from workbench.domain.verdicts import Estimate
from workbench.evidence.runs import run_data
from workbench.figures.table import AnyTable, Column, Kind, Table
from workbench.options.shared import INSTRUMENT, MODEL, SEED, STORE

if TYPE_CHECKING:
    from stores.runs.run_rows import Run
    from workbench.evidence.runs import ServedRun

NAN = float("nan")
Row = TypeVar("Row")
NOTES = (
    "A snapshot is another model: results never pool two (--snapshot chooses). A "
    "system_fingerprint is not a model: --fingerprint each splits a result by it.",
    "p: test of whether the texts of answers depend on the fingerprint (Pearson's chi-squared "
    "summed over prompts, permuted within each prompt)",
)
EMPTY = (
    "No served model has answered yet. Ask one: workbench run STORE --model "
    "openai:NAME@http://HOST:PORT/v1"
)


@verb(
    STORE,
    MODEL.but(none="all served models"),
    INSTRUMENT.but(none="all"),
    SEED.of("the permutation test"),
    FIGURES,
)
def snapshots(options: Namespace) -> int:
    """Print or write the runs of served models, with snapshots, fingerprints, and the test."""
    from stores.core.store import Store
    from workbench.cli.output import as_data, put_out
    from workbench.evidence.runs import served_runs

    with Store.open(options.store) as store:
        runs = served_runs(store, options.model, options.instrument, seed=options.seed)
    tables: list[AnyTable] = [
        _snapshots(runs),
        *([_fingerprints(runs)] if as_data(options) else []),
    ]
    put_out(
        options,
        tables,
        {"runs": [run_data(served_run.run) for served_run in runs]},
        title="Snapshots of served models",
    )
    return 0


def _snapshots(found: Sequence[ServedRun]) -> Table[ServedRun]:
    return Table(
        "snapshots",
        "Snapshots and fingerprints of served models",
        found,
        [
            *_run_columns(lambda row: row.run),
            Column("answers", "answers", lambda row: row.run.responses, Kind.COUNT),
            Column(
                "fingerprints",
                "fingerprints",
                lambda row: ", ".join(f"{_named(name)} {count:,}" for name, count in row.counts),
            ),
            Column(
                "p",
                "p",
                _p,
                Kind.P_VALUE,
                help="that fingerprints do not matter; n: answers compared",
            ),
            Column(
                "prompts",
                "prompts",
                lambda row: row.test.strata,
                Kind.COUNT,
                help=_PROMPTS,
                aside=True,
            ),
            Column("statistic", "χ²", lambda row: row.test.statistic, Kind.COEFFICIENT, aside=True),
        ],
        key=_key,
        notes=NOTES,
        empty=EMPTY,
    )


_PROMPTS = "answered under several fingerprints, and not always alike"


def _fingerprints(found: Sequence[ServedRun]) -> Table[tuple[ServedRun, str, int]]:
    """Return the table of the answers of each run under each fingerprint."""
    return Table(
        "fingerprints",
        "Answers by fingerprint",
        [(served_run, name, count) for served_run in found for name, count in served_run.counts],
        [
            *_run_columns(lambda row: row[0].run),
            Column(
                "fingerprint",
                "fingerprint",
                lambda row: row[1] or None,
                help="– if none was reported",
            ),
            Column("answers", "answers", lambda row: row[2], Kind.COUNT),
        ],
        key=lambda row: (*_key(row[0]), row[1]),
        empty=EMPTY,
    )


def _run_columns(of: Callable[[Row], Run]) -> list[Column[Row]]:
    return [
        Column("model", "model", lambda row: of(row).model),
        Column("snapshot", "snapshot", lambda row: of(row).snapshot or "unknown"),
        Column(
            "occasion",
            "asked anew",
            lambda row: of(row).occasion or None,
            help="– for the first time",
        ),
        Column("audit", "audit", lambda row: of(row).audit),
        Column("instrument", "instrument", lambda row: of(row).instrument),
        Column("language", "language", lambda row: of(row).language, aside=True),
        Column("sampling", "sampling", lambda row: str(of(row).sampling), aside=True),
        Column("family", "templates", lambda row: of(row).family, aside=True),
    ]


def _key(row: ServedRun) -> tuple[str, ...]:
    run = row.run
    model = (run.model, run.snapshot or "", run.occasion)
    return *model, run.audit, run.instrument, run.language, str(run.sampling), run.family


def _named(fingerprint: str) -> str:
    return fingerprint or "not reported"


def _p(row: ServedRun) -> Estimate:
    test = row.test
    return Estimate(
        NAN if test.undefined else test.p, NAN, NAN, test.answers, undefined=test.undefined
    )
