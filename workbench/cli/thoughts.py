"""What models thought before they answered: nothing reads it, so it is shown only where a person asks for it."""

from __future__ import annotations

from dataclasses import asdict

from stores.core.store import Store
from stores.runs.readings import thoughts_of
from workbench.cli.audit_options import AUDIT
from workbench.cli.output import print_json, say
from workbench.cli.verbs import Namespace, verb
from workbench.domain.names import plural
from workbench.options.option import Option, Type
from workbench.options.shared import JSON, OF_RUN, STORE


@verb(
    STORE,
    AUDIT,
    OF_RUN,
    Option("statement", "only this statement", none="all", metavar="REF"),
    Option("limit", "number of outputs to show", Type.WHOLE, 20, least=1),
    JSON,
)
def thoughts(options: Namespace) -> int:
    """Print the outputs of a run that hold a thought, the most frequent of each prompt first."""
    from workbench.evidence.runs import run_of

    with Store.open(options.store) as store:
        run = run_of(store, options, answered=True)
        rows = thoughts_of(store.connection, run, options.statement, limit=options.limit)
        cut = sum(store.runs.truncated(run).values())
    if options.json:
        print_json(
            {"run": run.label, "answers": run.responses, "cut_off": cut, "outputs": [asdict(row) for row in rows]}
        )
        return 0
    say(f"{run.label}: {run.responses:,} answers, {cut:,} of them cut off in thought")
    for row in rows:
        order = " swapped" if row.inverted else ""
        answer = "cut off in thought" if row.answer is None else f"answer: {row.answer}"
        say(f"\n{row.count}x {row.statement} {row.variant} · {row.template}{order} · seed {row.seed} · job {row.job}")
        say(f"thought: {row.thinking or '(the server hides it)'}\n{answer}")
    if not rows:
        say("No output contains thinking.")
    elif len(rows) == options.limit:
        say(f"\nShowing {plural(len(rows), 'output')}; --limit shows more.")
    return 0
