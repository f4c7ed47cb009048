"""People who answer an instrument themselves: the survey, and its stored answers."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from workbench.cli.immediate import act_of, run_immediate
from workbench.cli.output import FIGURES, no_figures, print_out
from workbench.cli.verbs import Namespace, verb
from workbench.commands.survey import (
    ExportSurveyAnswersCommand,
    ImportSurveyAnswersCommand,
    respondents_printed,
    surveyed_instrument,
)
from workbench.domain.names import listed_words
from workbench.errors import UsageError
from workbench.options.option import Option, Section, Type, flag
from workbench.options.shared import INSTRUMENT, LANGUAGE, SEED, STORE

if TYPE_CHECKING:
    from workbench.annotation.survey import SurveyDesign


ACTS = (ImportSurveyAnswersCommand, ExportSurveyAnswersCommand)


@verb(
    STORE,
    INSTRUMENT,
    Option("respondent", "your name or pseudonym", none="prompted", metavar="P"),
    LANGUAGE,
    Option("statements", "number of statements drawn; the paper has 50", Type.WHOLE, 50, least=1),
    Option(
        "variants",
        "kinds, one wording of each; paraphrase-2; or all",
        none="original,paraphrase,negation,opposite",
        metavar="V,…",
    ),
    SEED.of("the choice of wordings: people with the same seed get the same"),
    Section(
        "Stored answers, one act at a time",
        (
            flag("list_", "list how many each person answered, and stop"),
            *(act.options()[act.ACT] for act in ACTS),
        ),
        one_of=True,
    ),
    FIGURES,
)
def survey(options: Namespace) -> int:
    """Open the terminal at the survey, or list, import or export answers."""
    if options.list_:
        return _list(options)
    no_figures(options)
    act = act_of(ACTS, options)
    if act is not None:
        return run_immediate(act, options)
    if options.json:
        raise UsageError("answering prints no figures; --json needs --list, --import or --export")
    return _answer(options)


def _answer(options: Namespace) -> int:
    from stores.core.store import Store
    from workbench.domain.names import person_name
    from workbench.pipeline.surveys import n_further_wordings

    design = _design(options)
    name = None if options.respondent is None else person_name(options.respondent, "respondent")
    with Store.open(options.store) as store:
        instrument = surveyed_instrument(store, options.instrument)
        if not store.surveys.sessions(instrument) and not n_further_wordings(
            store, instrument, "", design
        ):
            raise UsageError(
                f"{instrument} has no statement with an original and one of these variants to ask"
                + (f" in {design.language!r}" if design.language else "")
            )
    if not sys.stdout.isatty():
        raise UsageError("answering needs a terminal; to import answers: workbench survey --import")
    from workbench.tui.app import run_app

    return run_app(options.store, start="statements", survey=(instrument, design, name))


def _design(options: Namespace) -> SurveyDesign:
    from workbench.annotation.survey import PUBLISHED, SurveyDesign

    design = SurveyDesign(
        statements=options.statements,
        variants=listed_words(options.variants) or PUBLISHED,
        seed=options.seed,
        language=options.language or "",
    )
    design.check()
    return design


def _list(options: Namespace) -> int:
    from stores.core.store import Store

    with Store.open(options.store) as store:
        printed = respondents_printed(store, options.instrument)
    print_out(options, printed)
    return 0
