"""The command that prints agreement: of models that answer again, of annotators, of people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.audits.audit import Printed
from workbench.audits.reliability.options import JUDGING, ONLY
from workbench.cli.figures import FIGURES, print_out
from workbench.cli.verbs import Namespace, verb
from workbench.errors import UsageError
from workbench.options.option import flag
from workbench.options.shared import OF_RUN, QUEUE, STORE

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.domain.instruments import Instrument
    from workbench.figures.table import AnyTable


OF_A_RUN = (
    "workbench show STORE reliability --table mean_kappas kappas across_templates components shifts item_agreement"
)


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
    from workbench.audits.consistency.judged import judge_consistency
    from workbench.audits.consistency.options import ConsistencyOptions
    from workbench.audits.consistency.result import book
    from workbench.audits.reliability.model_kappas import model_kappas
    from workbench.evidence.runs import Which, about

    if options.items:
        raise UsageError("--items is for one model; leave out --items or --every-model")
    found = judge_consistency(store, Which.of(options), ConsistencyOptions.of(options))
    name = found.instrument.name
    made = model_kappas(found.reports, found.people, found.instrument.survey, restricted=options.as_people)
    about_all = {"instrument": name, "runs": [{"name": one.name, "run": about(one.run)} for one in found.runs]}
    figures = book(found)
    return Printed([made], about_all, f"{name}: mean kappas", figures.told, header=figures.header)


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
