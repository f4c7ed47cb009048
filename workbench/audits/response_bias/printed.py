"""What `verdicts` prints of response biases: whether changes of a question that move people move models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.audits.audit import Given, Medium, Printed
from workbench.audits.response_bias.names import condition_name, kind_name
from workbench.audits.response_bias.shown import (
    FIGURES,
    FOR_PROGRAMS,
    PEOPLE,
    TABLES,
    VALIDITY,
    Shown,
    check_given,
    shown_of,
)
from workbench.domain.names import listed
from workbench.errors import UnknownName
from workbench.evidence.run_choice import readings_of, templates_of

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.audits.response_bias.figures import Options
    from workbench.audits.response_bias.findings import Findings
    from workbench.audits.response_bias.judged import ResponseBiasJudged
    from workbench.audits.response_bias.questions import QuestionShown
    from workbench.figures.book import Book
    from workbench.figures.table import AnyTable


def verdicts(store: Store, options: Given, medium: Medium) -> Printed:
    """Return the matrix of models and biases, or the views that were asked for."""
    from workbench.audits.comparison.printed import printed as printed_side_by_side
    from workbench.audits.response_bias.book import book
    from workbench.audits.response_bias.compared_subjects import compared
    from workbench.audits.response_bias.judged_findings import findings

    check_given(options)
    judged = judged_of(store, options)
    shown = shown_of(judged, options, medium)
    found = shown.narrowed(judged, findings(judged, lambda: nullcontext(store)))
    made = book(found)
    if shown.compared:
        named = _tables(found, shown, made, data=medium.data) if len(shown.views) > 1 else ()
        of = compared(judged, found, shown.compared)
        return printed_side_by_side(of, medium, _about(store, judged, shown, made), tuple(named))
    tables = tuple(_tables(found, shown, made, data=medium.data))
    return Printed(tables, _about(store, judged, shown, made), made.title, _told(shown, made), made.notes, made.header)


def judged_of(store: Store, options: Given) -> ResponseBiasJudged:
    """Return the response biases of the models that are meant; a name may hold commas, as a sampling's does."""
    from workbench.audits.response_bias.judged import ResponseBiasChoice, judge_response_bias

    names, rules, templates = listed(options.model), _options(options), templates_of(options)
    served = options.snapshot, options.fingerprint
    choice = ResponseBiasChoice(options.instrument or "", names, templates, rules, *served, readings_of(options))
    try:
        return judge_response_bias(store, choice)
    except UnknownName:
        if len(names) < 2:
            raise
        with suppress(UnknownName):
            return judge_response_bias(store, replace(choice, models=(options.model,)))
        raise  # what was said of the names apart tells more


def _options(options: Given) -> Options:
    """Return the audit's options from the command line's."""
    from workbench.audits.response_bias.deltas import Definition
    from workbench.audits.response_bias.figures import Options

    return Options(Definition.parse(options.definition), options.alpha, options.holm, options.entropy)


def _tables(found: Findings, shown: Shown, of: Book, *, data: bool) -> Iterator[AnyTable]:
    """Yield the tables of the views that were asked for; a program gets what people can do without, too."""
    from workbench.audits.response_bias.cells import entropies
    from workbench.audits.response_bias.forms import question, questions_of

    if data and shown.views == FIGURES:
        yield from of.every()
        return
    wanted = [name for view in shown.views for name in (*TABLES.get(view, ()), *FOR_PROGRAMS.get(view, ()) * data)]
    for name in dict.fromkeys(("subjects", *["answered"] * data, *["personas"] * bool(found.personas), *wanted)):
        yield entropies(found, [found.options.entropy]) if name == "entropies" and not data else of.table(name)
    if shown.listed is not None:
        yield questions_of(found, shown.listed)
    for one in _questions(found, shown):
        yield from question(found, one)


def _questions(found: Findings, shown: Shown) -> Sequence[QuestionShown]:
    """Return one question as each subject answered it. Raises UnknownName where none was asked it so."""
    rows, missing = [], []
    for name in (name for name, report in found.reports.items() if shown.question and report.find(*shown.question)):
        try:
            assert shown.question is not None
            rows.append(found.source.question(name, shown.question, shown.key, shown.draw))
        except UnknownName as error:
            missing.append(error)
    if missing and not rows:
        raise missing[0]
    return rows


def _told(shown: Shown, of: Book) -> Sequence[str]:
    """Say what the figures rest on; valid answers and likeness to people rest on no definition."""
    return of.told if set(shown.views) - {VALIDITY, PEOPLE} else of.told[:-2]


def _about(store: Store, judged: ResponseBiasJudged, shown: Shown, of: Book) -> dict[str, Any]:
    from workbench import __version__
    from workbench.audits.response_bias.judged_findings import about_subject

    return {
        **of.about,
        "workbench": __version__,
        "shown": {
            "views": shown.views,
            "biases": [kind_name(*kind) for kind in shown.kinds],
            "conditions": [condition_name(condition) for condition in shown.conditions],
        },
        "notes": of.notes,
        "rulings": judged.rulings.as_json(),
        "models": {name: about_subject(store, judged.subjects[name]) for name in judged.reports},
    }
