"""The command that lists the snapshots of served models, and tests whether their fingerprints matter."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from workbench.cli.judged import about
from workbench.cli.output import print_json, say, say_wrapped, table

if TYPE_CHECKING:
    from workbench.pipeline.fingerprints import ServedRun
    from workbench.stats.stratified import Heterogeneity

NOTE = (
    "A snapshot is another model: results never pool two (--snapshot chooses). A system_fingerprint is not: the test "
    "asks whether the texts of answers to a prompt depend on it (Pearson's chi-squared summed over prompts, permuted "
    "within each prompt); --fingerprint each splits a result by it."
)


def snapshots(options: Namespace) -> int:
    """Print, for each run of a served model, the snapshot, the answers by fingerprint, and the test."""
    from stores.store import Store
    from workbench.pipeline.fingerprints import served_runs

    with Store.open(options.store) as store:
        found = served_runs(store, options.model, options.instrument, seed=options.seed)
    if options.json:
        print_json([_plain(one) for one in found])
        return 0
    if not found:
        say("No served model has answered yet. Ask one: workbench run STORE --model openai:NAME@http://HOST:PORT/v1")
        return 0
    table(
        ["model", "snapshot", "audit", "instrument", "answers", "fingerprints", "do fingerprints matter?"],
        [
            (
                one.run.model,
                one.run.snapshot or "unknown",
                one.run.audit,
                one.run.instrument,
                f"{one.run.responses:,}",
                ", ".join(f"{name or 'not reported'} {count:,}" for name, count in one.counts),
                _said(one.test),
            )
            for one in found
        ],
        whole=2,
    )
    say_wrapped(NOTE)
    return 0


def _said(test: Heterogeneity) -> str:
    if test.undefined:
        return f"no test: {test.undefined}"
    p = "p <0.001" if test.p < 0.001 else f"p {test.p:.3f}"
    return f"{p} ({test.answers:,} answers to {test.strata:,} prompts)"


def _plain(one: ServedRun) -> dict[str, Any]:
    test = asdict(one.test)
    undefined = {"statistic": None, "p": None} if one.test.undefined else {}
    return {"run": about(one.run), "fingerprints": dict(one.counts), "heterogeneity": test | undefined}
