"""A plan that is frozen before the first answer, and whether it was followed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from workbench import registry
from workbench.cli.figures import FIGURES, as_data, put_out
from workbench.cli.output import print_json, say
from workbench.cli.running import ASKED, DESIGN, requested_design
from workbench.cli.verbs import Namespace, verb
from workbench.domain.designs import CORRECTIONS, SHOWN, FrozenPlan
from workbench.domain.names import plural
from workbench.errors import UsageError
from workbench.options.option import Option, Type
from workbench.options.shared import COMPARE, STORE

JUDGE = Option(
    "judge",
    "how answers will be judged: an option of the audit's figures, such as rule=coded; the other options' defaults are "
    "frozen, too",
    metavar="OPTION=VALUE",
    many=True,
)
AS_PLANNED = "Everything follows the plan."
CORRECTION = Option("correction", "of many tests, in the planned comparison", default="holm", choices=CORRECTIONS)


@verb(
    STORE,
    ASKED.but(many=True, help="model to ask; may be given again", none=""),
    DESIGN,
    JUDGE,
    COMPARE.but(help="runs or models to compare"),
    CORRECTION,
    Option("out", "write the frozen plan to this file", Type.PATH, metavar="PLAN.toml"),
    Option("check", "check what followed this plan, and what was decided later", Type.PATH, metavar="PLAN.toml"),
    FIGURES,
    about="Before the first answer, write what will be asked and how it will be judged, with a hash; or check whether "
    "a plan was followed.",
)
def plan(options: Namespace) -> int:
    """Freeze a plan, or check one. Exit code 1: something was done otherwise."""
    if (options.out is None) == (options.check is None):
        raise UsageError("give --out PLAN.toml to freeze a plan, or --check PLAN.toml to see whether one was followed")
    return _check(options) if options.check is not None else _freeze(options)


def _freeze(options: Namespace) -> int:
    from stores.core.store import Store
    from workbench.formats.folder import expanded, put
    from workbench.formats.plans import plan_text
    from workbench.pipeline.plans import frozen, judging

    if not options.model:
        raise UsageError("found no model; give --model for each model to ask")
    judged = judging(registry.audit(options.audit), options.judge or ())
    with Store.open(options.store) as store:
        designs = [requested_design(store, Namespace(**{**vars(options), "model": model})) for model in options.model]
        made = frozen(store, designs, judged, options.compare or (), options.correction)
        text, path = plan_text(made), expanded(options.out)
        put({path.name: text}, path.parent, force=options.force, beside=True)
        store.plans.add(made.hash, text)
    if options.json:
        print_json({"plan": str(path), "hash": made.hash, **_about(made)})
        return 0
    _tell(made, path)
    return 0


def _about(made: FrozenPlan) -> dict[str, object]:
    return {"models": made.models, "audit": made.audit, "judged": made.judged, **made.made}


def _tell(made: FrozenPlan, path: Path) -> None:
    say(f"{path}  plan {made.hash[:SHOWN]} of {', '.join(made.models)}: {made.content['prompts'][0]:,} prompts each")
    before = int(made.made["answers_before"])
    if before:
        say(f"! {plural(before, 'answer')} {'is' if before == 1 else 'are'} stored already, and the plan records this.")
    say(f"Hash: {made.hash}")
    more = f" --model {made.models[0]}" if len(made.models) > 1 else ""
    say(f"Next: workbench run STORE --plan {path}{more}")


def _check(options: Namespace) -> int:
    from stores.core.store import Store
    from workbench.formats.plans import read_plan
    from workbench.pipeline.plans import check

    found, _ = read_plan(options.check)
    with Store.open(options.store) as store:
        known = store.plans.get(found.hash)
        tables = list(check(store, found))
    when = f"frozen here {known.at[:16].replace('T', ' ')} UTC" if known else "not recorded in this store"
    told = [f"{found.named} of {', '.join(found.models)}: {when}."]
    if not tables:
        told.append("No answers by this plan yet.")
    off = any(row.followed is False for table in tables for row in table.rows)
    if not as_data(options):
        tables = [
            replace(one, rows=[row for row in one.rows if row.followed is False], empty=AS_PLANNED) for one in tables
        ]
    about = {"hash": found.hash, "known_since": known.at if known else None, **_about(found)}
    put_out(options, tables, about, title=found.named, told=told)
    return 1 if off else 0


__all__ = ["plan"]
