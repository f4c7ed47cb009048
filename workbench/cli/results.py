"""Commands that judge: verdicts per statement, and agreement."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench import registry
from workbench.audits.audit import Audit, Printed
from workbench.audits.reliability.options import JUDGING, ONLY
from workbench.cli.audit_options import AUDIT, RESULT, listing, sections, settle
from workbench.cli.figures import FIGURES, medium, print_out
from workbench.cli.output import say
from workbench.cli.verbs import Namespace, verb
from workbench.domain.names import listed
from workbench.errors import UsageError
from workbench.options.option import flag
from workbench.options.shared import INSTRUMENT, MODEL, OF_RUN, QUEUE, SERVED, STORE, TEMPLATE

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.domain.instruments import Instrument
    from workbench.figures.table import AnyTable


SEVERAL = listing(of.name for of in registry.every_audit() if of.several_models and of.name in RESULT)
"audits one result of which is about several models"
OF_A_RUN = "workbench verdicts STORE --table mean_kappas kappas across_templates components shifts item_agreement"


@verb(
    STORE,
    AUDIT.but(choices=tuple(RESULT)),
    MODEL.but(help=f"for {SEVERAL} several, separated by commas"),
    INSTRUMENT,
    SERVED,
    TEMPLATE,
    sections(RESULT, {audit.name: audit.about for audit in registry.every_audit()}),
    FIGURES,
)
def verdicts(options: Namespace) -> int:
    """Print or write what an audit says of models."""
    settle(options, RESULT, options.audit, "--audit")
    return show(registry.audit(options.audit), options)


def show(audit: Audit, options: Namespace) -> int:
    """Print or write an audit's figures, by options that are settled."""
    from stores.core.store import Store
    from workbench.pipeline.plans import with_plans

    with Store.open(options.store) as store:
        found = audit.printed(store, options, medium(options))
        found = with_plans(store, audit, options, found, medium(options))
    if getattr(options, "methods", False) and not options.json:
        say(found.methods)
    else:
        print_out(options, found)
    return 0


@verb(
    STORE,
    ONLY,
    OF_RUN,
    JUDGING,
    flag("survey", "agreement of the people who answered the same wordings"),
    flag("as_people", "the models' kappas over only the statements that people answered"),
    flag("every_model", "mean kappas of all models that answered, or of those of --model, next to people's"),
    QUEUE.but(help="agreement of the annotators of this queue"),
    flag("items", "per labelled item"),
    FIGURES,
)
def agreement(options: Namespace) -> int:
    """Print kappas of annotators, of people who answered, or of all models; those of a run: see `verdicts`."""
    from stores.core.store import Store

    with Store.open(options.store) as store:
        print_out(options, agreement_of(store, options))
    return 0


def agreement_of(store: Store, options: Namespace) -> Printed:
    """Return what is printed of the annotators of a queue, of people who answered, or of several models."""
    from workbench.cli.annotating import agreement as of_annotators

    if options.queue is not None:
        return of_annotators(store, options)
    if options.survey:
        return _survey(store, options)
    if options.every_model:
        return _every_model(store, options)
    raise UsageError(f"name --queue, --survey or --every-model; for the agreement of one run: {OF_A_RUN}")


def _every_model(store: Store, options: Namespace) -> Printed:
    """Compare the models with people (Ceron et al. 2024, Table 2)."""
    from workbench.audits.consistency.judged import ConsistencyChoice, consistency_material, judge_consistency
    from workbench.audits.consistency.printed import told
    from workbench.audits.reliability.model_kappas import model_kappas
    from workbench.audits.reliability.options import ReliabilityOptions
    from workbench.evidence.runs import about, readings_of, templates_of

    choice = ConsistencyChoice(
        instrument=options.instrument,
        models=listed(options.model) or None,
        sampling=options.sampling,
        dtype=options.dtype,
        templates=templates_of(options),
        snapshot=options.snapshot,
        fingerprint=options.fingerprint,
        readings=readings_of(options),
        reliability=ReliabilityOptions.of(options),
        seed=options.seed,
    )
    found = judge_consistency(store, choice)
    of = consistency_material(store, found)
    made = model_kappas(of.reports, of.people(), of.survey, restricted=options.as_people)
    runs = [{"name": one.name, "run": about(one.run)} for one in found.runs]
    title = f"{found.instrument}: mean kappas"
    about_all = {"instrument": found.instrument, "runs": runs}
    return Printed([made], about_all, title, told(found), header=found.header)


def _survey(store: Store, options: Namespace) -> Printed:
    """People answered the same wordings: the upper bound for a model (Ceron et al. 2024, section 6.1)."""
    names = [options.instrument] if options.instrument else list(store.instruments.names())
    made = [one for one in map(store.instruments.get, names) if one.survey]
    if not made:
        raise UsageError(
            "nobody has answered a survey in this store; people answer with: workbench survey STORE, "
            "and a survey.csv or a ProbVAA download also has answers"
        )
    tables = [table for one in made for table in _of_people(one, options)]
    told = [f"{one.name}: {_respondents(one)} respondents, {len(one.survey):,} answers" for one in made]
    return Printed(tables, {"instruments": [one.name for one in made]}, "Agreement of people", told)


def _respondents(instrument: Instrument) -> int:
    return len({answer.respondent for answer in instrument.survey})


def _of_people(instrument: Instrument, options: Namespace) -> Iterator[AnyTable]:
    from workbench.audits.reliability import agreement_tables as tables
    from workbench.audits.reliability.agreement import survey_agreement
    from workbench.audits.reliability.human_bound import bound_of, relations_of

    name, judge_void = instrument.name, options.judge_void
    relations = relations_of(instrument.statements, instrument.language, judge_void=judge_void)
    yield tables.people_kappas(name, survey_agreement(instrument.survey, name, options.seed, relations=relations))
    yield tables.people(name, bound_of(instrument, options.seed, judge_void=judge_void))
