"""Commands before a run: those that audits bring, and a plan that is frozen."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING

from workbench import registry
from workbench.cli.output import (
    FIGURES,
    as_data,
    check_agreed,
    no_figures,
    print_json,
    print_out,
    print_outcome,
    put_out,
    say,
    say_wrapped,
)
from workbench.cli.running import ASKED, DESIGN, run
from workbench.cli.verbs import Namespace, Verb, flat, verb
from workbench.commands.prompts import PromptsCommand
from workbench.commands.run import RunCommand
from workbench.domain.designs import CORRECTIONS, SHOWN, Design, FrozenPlan
from workbench.domain.names import plural
from workbench.errors import UsageError
from workbench.options.flags import as_arguments
from workbench.options.option import Option, Type, refuse
from workbench.options.shared import COMPARE, JSON, STORE

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.audits.audit import FigureVerb


def of_audit(name: str, own: FigureVerb) -> Verb:
    """Return the verb that an audit brings.

    It asks a model about a few statements first, or shows figures alone.
    """

    def shown(options: Namespace) -> int:
        from stores.core.store import Store

        with Store.open(options.store) as store:
            refs = own.asks(store, options) if own.asks is not None else None
            if refs is None:
                print_out(options, own.printed(store, options, None))
                return 0
            return _ask(store, options, name, own, refs)

    return Verb(shown, [STORE, *own.options, FIGURES], own.about)


def _ask(store: Store, options: Namespace, name: str, own: FigureVerb, refs: Sequence[str]) -> int:
    """Ask about some statements and print the figures, or print what would be asked."""
    from workbench.cli.watching import EXIT_CODES, watch
    from workbench.jobs import launch
    from workbench.pipeline import planning

    run_arguments = run.given(
        **(vars(options) | {"audit": registry.DEFAULT_AUDIT, "statements": None})
    )
    design = RunCommand.from_arguments(run_arguments).design(store)
    design = replace(design, statements=tuple(refs))
    run_plan = planning.plan(store, design)
    if not options.json:
        sample = ", ".join(refs[:20]) + (", …" if len(refs) > 20 else "")
        say(
            f"{name.capitalize()} on {len(refs)} statements, drawn with seed {options.seed}: "
            f"{sample}"
        )
        say_wrapped(run_plan.describe())
    fields = {"statements": design.statements, "answers_needed": run_plan.samples_needed}
    if options.dry_run:
        if options.json:
            print_json({**fields, "job": None})
        return 0
    job_id = None
    if run_plan.samples_needed:
        if options.detach:
            no_figures(options)
        check_agreed(options)
        job_id = launch.start(store, run_plan.design, run_plan, patient=True)
        if options.detach and options.json:
            print_json({**fields, "job": job_id})
            return 0
        if options.detach:
            say(f"Job {job_id} is running. Follow it: workbench jobs STORE follow {job_id}")
            if own.again is not None:
                values = own.again(options, refs)
                selected = [
                    option
                    for option in flat(own.options)
                    if values.get(option.name) != option.default
                ]
                say(f"Then: {join(('workbench', name, 'STORE', *as_arguments(selected, values)))}")
            return 0
        job = watch(store, job_id, quiet=options.json)
        if job.state != "done":
            if options.json:
                print_json({"statements": design.statements, "job": asdict(job)})
            return EXIT_CODES.get(job.state, 1)
    printed = own.printed(store, options, replace(run_plan.design, statements=design.statements))
    print_out(options, replace(printed, about={**printed.about, "job": job_id}))
    return 0


JUDGE = Option(
    "judge",
    "how answers will be judged: an option of the audit's figures, such as as_published=yes; the "
    "other options' defaults are frozen, too",
    metavar="OPTION=VALUE",
    many=True,
)
AS_PLANNED = "Everything follows the plan."
CORRECTION = Option(
    "correction", "of many tests, in the planned comparison", default="holm", choices=CORRECTIONS
)


CLAIM = Option(
    "claim",
    "question whose claims about the models are confirmatory, such as lean; all other claims are "
    "exploratory",
    metavar="QUESTION",
    many=True,
)


FREEZING = (
    ASKED.but(many=True, help="model to ask; may be given again", none=""),
    *DESIGN,
    JUDGE,
    COMPARE.but(help="runs or models to compare"),
    CORRECTION,
    CLAIM,
)


@verb(
    STORE,
    FREEZING,
    Option("out", "write the frozen plan to this file", Type.PATH, metavar="PLAN.toml"),
    Option(
        "check",
        "check what followed this plan, and what was decided later",
        Type.PATH,
        metavar="PLAN.toml",
    ),
    FIGURES,
    about="Before the first answer, write what will be asked and how it will be judged, with a "
    "hash; or check whether "
    "a plan was followed.",
)
def plan(options: Namespace) -> int:
    """Freeze a plan, or check one. The exit code is 1 if something was done otherwise."""
    if (options.out is None) == (options.check is None):
        raise UsageError(
            "give --out PLAN.toml to freeze a plan, or --check PLAN.toml to see whether one was "
            "followed"
        )
    return _check(options) if options.check is not None else _freeze(options)


def _freeze(options: Namespace) -> int:
    from stores.core.store import Store
    from workbench.formats.folder import expanded, put
    from workbench.formats.plans import plan_text
    from workbench.pipeline.plans import frozen, judging

    refuse(
        [option for option in FIGURES.options if option.name not in ("json", "force")],
        options,
        "a plan has no figures yet",
    )
    if not options.model:
        raise UsageError("found no model; give --model for each model to ask")
    judging_options = judging(registry.audit(options.audit), options.judge or ())
    with Store.open(options.store) as store:
        designs = [_design(store, options, model) for model in options.model]
        frozen_plan = frozen(
            store,
            designs,
            judging_options,
            options.compare or (),
            options.correction,
            options.claim or (),
        )
        text, path = plan_text(frozen_plan), expanded(options.out)
        put({path.name: text}, path.parent, force=options.force, beside=True)
        store.plans.add(frozen_plan.hash, text)
    if options.json:
        print_json({"plan": str(path), "hash": frozen_plan.hash, **_about(frozen_plan)})
        return 0
    _tell(frozen_plan, path)
    return 0


def _design(store: Store, options: Namespace, model: str) -> Design:
    """Return the design of a command line for a model."""
    arguments = Namespace(**{**vars(options), "model": model})
    return RunCommand.from_arguments(arguments).design(store)


def _about(made: FrozenPlan) -> dict[str, object]:
    """Return the fields of a plan for a program."""
    return {
        "models": made.models,
        "audit": made.audit,
        "judged": made.judged,
        "claims": made.claims,
        **made.made,
    }


def _tell(made: FrozenPlan, path: Path) -> None:
    """Print a frozen plan, and the command that follows it."""
    say(
        f"{path}  plan {made.hash[:SHOWN]} of {', '.join(made.models)}: "
        f"{made.content['prompts'][0]:,} prompts each"
    )
    count = int(made.made["answers_before"])
    if count:
        say(
            f"! {plural(count, 'answer')} {'is' if count == 1 else 'are'} stored already, and "
            "the plan records this."
        )
    say(f"Confirmatory claims: {', '.join(made.claims) or 'none; all claims will be exploratory'}")
    say(f"Hash: {made.hash}")
    model_option = f" --model {shlex.quote(made.models[0])}" if len(made.models) > 1 else ""
    say(f"Next: workbench run STORE --plan {shlex.quote(str(path))}{model_option}")


def _check(options: Namespace) -> int:
    from stores.core.store import Store
    from workbench.audits.followed_plans import check
    from workbench.formats.plans import read_plan

    refuse(flat(FREEZING), options, "--check reads all of that from the plan")
    frozen_plan, _ = read_plan(options.check)
    with Store.open(options.store) as store:
        record = store.plans.get(frozen_plan.hash)
        tables = list(check(store, frozen_plan))
    frozen_at = (
        f"frozen here {record.at[:16].replace('T', ' ')} UTC"
        if record
        else "not recorded in this store"
    )
    paragraphs = [f"{frozen_plan.named} of {', '.join(frozen_plan.models)}: {frozen_at}."]
    if not tables:
        paragraphs.append("No answers by this plan yet.")
    has_deviations = any(row.followed is False for table in tables for row in table.rows)
    if not as_data(options):
        tables = [
            replace(
                table, rows=[row for row in table.rows if row.followed is False], empty=AS_PLANNED
            )
            for table in tables
        ]
    metadata = {
        "hash": frozen_plan.hash,
        "known_since": record.at if record else None,
        **_about(frozen_plan),
    }
    put_out(options, tables, metadata, title=frozen_plan.named, told=paragraphs)
    return 1 if has_deviations else 0


_PROMPTS = PromptsCommand.options()


@verb(STORE, *(_PROMPTS[name] for name in PromptsCommand.declared()), DESIGN, JSON)
def prompts(options: Namespace) -> int:
    """Write a design's prompts for another program, to be answered there and imported."""
    from stores.core.store import Store

    with Store.open(options.store) as store:
        outcome = PromptsCommand.from_arguments(options).run(store)
    return print_outcome(options, outcome)
