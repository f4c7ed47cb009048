"""`workbench verdicts --audit response_bias`: whether changes of a question that move people move models."""

from __future__ import annotations

from argparse import Namespace
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.cli.judged import templates_of
from workbench.cli.output import listed, print_json, say, say_wrapped
from workbench.cli.response_bias_shown import (
    CELLS,
    DRAWS,
    MATRIX,
    PEOPLE,
    TOPICS,
    VALIDITY,
    Shown,
    check_given,
    shown_of,
)
from workbench.domain.counting import plural
from workbench.errors import UnknownName

if TYPE_CHECKING:
    from stores.store import Store
    from workbench.audits.response_bias_figures import Options
    from workbench.pipeline.response_bias import ResponseBiasJudged


def verdicts(options: Namespace) -> int:
    """Print the matrix of models and biases, or the views that were asked for; or write them into a folder."""
    from stores.store import Store

    check_given(options)
    with Store.open(options.store) as store:
        judged = judged_of(store, options)
        shown = shown_of(judged, options)
        if options.csv is not None:
            _write(store, judged, options, shown)
        elif options.json:
            from workbench.cli.response_bias_data import data

            print_json(data(store, judged, shown))
        else:
            _print(store, judged, shown)
    return 0


def judged_of(store: Store, options: Namespace) -> ResponseBiasJudged:
    """Return the response biases of the models that are meant; a name may hold commas, as a sampling's does."""
    from workbench.pipeline.response_bias import ResponseBiasChoice, response_bias

    names, rules, templates = listed(options.model), _options(options), templates_of(options)
    served = options.snapshot, options.fingerprint
    choice = ResponseBiasChoice(options.instrument or "", names, templates, rules, *served)
    try:
        return response_bias(store, choice)
    except UnknownName:
        if len(names) < 2:
            raise
        with suppress(UnknownName):
            return response_bias(store, replace(choice, models=(options.model,)))
        raise  # what was said of the names apart tells more


def _options(options: Namespace) -> Options:
    """Return the audit's options from the command line's."""
    from workbench.audits.response_bias_deltas import Definition
    from workbench.audits.response_bias_figures import Options

    given = {name: getattr(options, name) for name in ("definition", "alpha", "holm", "entropy")}
    chosen = {name: value for name, value in given.items() if value is not None}
    if "definition" in chosen:
        chosen["definition"] = Definition.parse(chosen["definition"])
    return Options(**chosen)


def _print(store: Store, judged: ResponseBiasJudged, shown: Shown) -> None:
    from workbench.cli import response_bias_around as around
    from workbench.cli import response_bias_questions as questions
    from workbench.cli import response_bias_tables as tables

    found = questions.found_questions(store, judged, shown) if shown.question is not None else {}
    tables.print_head(judged)
    if MATRIX in shown.views:
        tables.print_matrix(judged, shown)
    if CELLS in shown.views:
        tables.print_cells(judged, shown)
    if TOPICS in shown.views:
        tables.print_topics(judged, shown)
    if DRAWS in shown.views:
        tables.print_draws(judged, shown)
    if VALIDITY in shown.views:
        around.print_validity(judged)
    if PEOPLE in shown.views:
        around.print_people(judged)
    for place in shown.listed:
        questions.print_questions(judged, place)
    for one in found.values():
        questions.print_question(store, judged, one)
    if shown.compared is not None:
        around.print_compared(judged, *shown.compared)
    tables.print_basis(judged, shown)


def _write(store: Store, judged: ResponseBiasJudged, options: Namespace, shown: Shown) -> None:
    """Write a file a view."""
    from workbench.cli.response_bias_files import rows_of, view_files
    from workbench.formats.folder import expanded, put

    files, folder = view_files(store, judged, shown), expanded(options.csv)
    for path in put({name: text for name, text in files.items() if text}, folder, force=options.force, beside=True):
        say(f"{path}  {plural(rows_of(files[path.name]), 'row')}")
    for name in (name for name, text in files.items() if not text):
        say(f"- {name} was not written: there is no such figure")
    for note in shown.notes(judged):
        say_wrapped(f"- {note}")
