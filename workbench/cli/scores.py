"""The command that prints what exact verdicts rest on: the probabilities of a prompt's labels and next tokens."""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from workbench.cli.judged import about, chosen_options, exact_report, head, judged, missing
from workbench.cli.output import print_json, say, table
from workbench.errors import UnknownName, UsageError
from workbench.figures.visible import visible

if TYPE_CHECKING:
    from stores.run_rows import Run
    from stores.scores import TokenTable
    from stores.store import Store
    from workbench.audits.exact import ExactReport, ExactRow

SHOWN = 8
"next tokens of a prompt that are printed; JSON has all"


def scores(options: Namespace) -> int:
    """Print, per prompt, the probability of each label, the leaning and the share of the labels."""
    from stores.store import Store
    from workbench.domain.responses import EXACT

    with Store.open(options.store) as store:
        there = store.runs.list(options.audit, options.instrument, options.model)
        if there and not options.sampling and all(run.sampling.mode != EXACT for run in there):
            models = ", ".join(sorted({run.model for run in there}))
            raise UnknownName(
                f"the answers of {models} were sampled and no probabilities were computed; compute them with: "
                "workbench run STORE --exact --model NAME"
            )
        options.sampling = options.sampling or EXACT
        run, report, card = judged(store, options)
        exact = exact_report(report)
        if exact is None:
            raise UsageError(f"{run.label} was sampled; probabilities are computed with: workbench run --exact")
        failures = store.runs.failures(run)
        tokens = _tokens(store, run) if options.tokens else {}
        rows = [_plain(row, where, tokens) for where, row in _rows(exact, options)]
    if options.json:
        print_json({"run": about(run) | missing(failures), "options": chosen_options(report, card), "prompts": rows})
        return 0
    head(run, report, card, failures)
    _print(rows, exact.exact.samples)
    return 0


def _rows(report: ExactReport, options: Namespace) -> Iterator[tuple[tuple[str, str, str, str], ExactRow]]:
    """Yield (statement, variant, template, order) with the probabilities of each prompt that is meant and was asked."""
    templates = [options.template] if options.template else report.counts.templates
    for statement in [options.statement] if options.statement else report.counts.statements:
        for template in templates:
            for row in report.exact_rows(statement, template):
                where = (statement, row.row.variant, template, row.row.order)
                if not math.isnan(row.named) or report.failed(*where):
                    yield where, row


def _tokens(store: Store, run: Run) -> dict[tuple[str, str, str, str], TokenTable]:
    tables = store.scores.tables_of_run(run)
    return {
        (ref, f"{kind}-{n}" if n else kind, template, "swapped" if inverted else "printed"): tables[probe]
        for ref, kind, n, template, inverted, probe, _ in store.runs.cells(run)
        if probe in tables
    }


def _plain(
    row: ExactRow, where: tuple[str, str, str, str], tokens: dict[tuple[str, str, str, str], TokenTable]
) -> dict[str, Any]:
    statement, variant, template, order = where
    found: dict[str, Any] = {
        "statement": statement,
        "variant": variant,
        "template": template,
        "order": order,
        "positive": row.positive,
        "negative": row.negative,
        "leaning": row.row.leaning,
        "named": row.named,
        "stance": row.row.stance,
        "sampled": {
            "reliable": row.reliable,
            "agree": row.agree,
            "disagree": row.disagree,
            "tie": row.tie,
            "few": row.few,
        },
    }
    if tokens:
        of = tokens.get(where)
        likeliest = None if of is None else [{"text": text, "probability": math.exp(log)} for text, log in of.tokens]
        found |= {"next_tokens": likeliest, "rest": None if of is None else of.rest}
    return found


def _print(rows: list[dict[str, Any]], samples: int) -> None:
    with_tokens = any("next_tokens" in row for row in rows)
    headers = ["statement", "variant", "template", "order", "p(+)", "p(−)", "leaning", "named", "stance"]
    headers += [f"clear in {samples}", *(["likeliest next tokens"] if with_tokens else [])]
    lines = []
    for row in rows:
        numbers = [probability(row[name]) for name in ("positive", "negative", "leaning", "named")]
        cells = [row["statement"], row["variant"], row["template"], row["order"], *numbers]
        failed = math.isnan(row["named"])
        stance = row["stance"].value if row["stance"] else "·"
        cells += ["failed" if failed else stance, probability(row["sampled"]["reliable"])]
        lines.append((*cells, *(["" if failed else _likeliest(row.get("next_tokens"))] if with_tokens else [])))
    table(headers, lines)
    say("p(+), p(−): probability that the answer begins with the label that agrees, or rejects; named: their sum")


def _likeliest(tokens: list[dict[str, Any]] | None) -> str:
    """Return `Agree 81.2 %, I 9.9 %, …`; a token's spaces are shown."""
    if tokens is None:
        return "not offered by this backend"
    return ", ".join(f"{shown(token['text'])} {probability(token['probability'])}" for token in tokens[:SHOWN])


def shown(token: str) -> str:
    """Return a token so that its spaces can be seen."""
    return visible(token).replace(" ", "␣").replace("\n", "␊") or "(nothing)"


def probability(value: float) -> str:
    """Return `81.2 %`; `< 0.1 %` where that is not nothing."""
    if math.isnan(value):
        return "–"
    return "< 0.1 %" if 0 < value < 0.0005 else f"{100 * value:.1f} %"
