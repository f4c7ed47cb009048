"""The command that prints what exact verdicts rest on: the probabilities of a prompt's labels and next tokens."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.audits.reliability import AUDIT
from workbench.audits.reliability.options import ONLY, ReliabilityOptions
from workbench.cli.figures import FIGURES, as_data, put_out
from workbench.cli.verbs import Namespace, verb
from workbench.errors import UnknownName, UsageError
from workbench.options.option import Option, flag
from workbench.options.shared import OF_RUN, STORE

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.runs.run_rows import Run
    from workbench.audits.reliability.judged import ReliabilityJudged
    from workbench.audits.reliability.wordings import Tokens
    from workbench.figures.table import AnyTable


@verb(
    STORE,
    ONLY,
    OF_RUN,
    Option("statement", "only this statement", none="all", metavar="REF"),
    Option("template", "only this template", none="all"),
    flag("tokens", "also print the likeliest next tokens of each prompt"),
    AUDIT.judges_by,
    FIGURES,
)
def scores(options: Namespace) -> int:
    """Print, per prompt, the probability of each label, the leaning and the share of the labels."""
    from stores.core.store import Store
    from workbench.audits.result import about_of
    from workbench.domain.responses import EXACT
    from workbench.evidence.runs import Which

    with Store.open(options.store) as store:
        there = store.runs.list(options.audit, options.instrument, options.model)
        if there and not options.sampling and all(run.sampling.mode != EXACT for run in there):
            models = ", ".join(sorted({run.model for run in there}))
            raise UnknownName(
                f"the answers of {models} were sampled, without probabilities; compute them with: "
                "workbench run STORE --exact --model NAME"
            )
        which = replace(Which.of(options), sampling=options.sampling or EXACT)
        found = AUDIT.judge(store, which, ReliabilityOptions.of(options), lambda: nullcontext(store))
        tokens = _tokens(store, found.judged.run) if options.tokens else None
    made = list(_tables(found.judged, tokens, options))
    title, book = f"{found.judged.run.label}: probabilities", found.book
    put_out(options, made, about_of(found), title=title, told=book.told, header=book.header)
    return 0


def _tables(judged: ReliabilityJudged, tokens: Tokens | None, options: Namespace) -> Iterator[AnyTable]:
    from workbench.audits.reliability.wordings import next_tokens, prompts, scored_prompts

    if (exact := judged.exact) is None:
        raise UsageError(f"{judged.run.label} was sampled; to compute probabilities: workbench run --exact")
    rows = list(scored_prompts(exact, options.statement, options.template, tokens or {}))
    yield prompts(exact, rows, with_tokens=tokens is not None)
    if tokens is not None and as_data(options):
        yield next_tokens(rows)


def _tokens(store: Store, run: Run) -> Tokens:
    tables = store.scores.tables_of_run(run)
    return {
        (ref, f"{kind}-{n}" if n else kind, template, "swapped" if inverted else "printed"): (
            tuple((text, math.exp(log)) for text, log in tables[probe].tokens),
            tables[probe].rest,
        )
        for ref, kind, n, template, inverted, probe, _ in store.runs.cells(run)
        if probe in tables
    }
