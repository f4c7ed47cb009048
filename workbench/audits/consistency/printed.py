"""What `consistency` prints: leaning by party family, stances on policy issues, and what else was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from workbench.audits.audit import Given, Medium, Printed
from workbench.domain.names import listed
from workbench.errors import UsageError

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.audits.comparison.values import Compared
    from workbench.audits.consistency.book import Material
    from workbench.audits.consistency.judge import Consistency, Formula
    from workbench.audits.consistency.judged import ConsistencyChoice, ConsistencyJudged
    from workbench.figures.table import AnyTable


def verdicts(store: Store, options: Given, medium: Medium) -> Printed:
    """Return leaning and stances of the models that are meant, and what else was asked for."""
    from workbench.audits.comparison.printed import printed as printed_side_by_side
    from workbench.audits.consistency.judged import consistency_material, judge_consistency
    from workbench.evidence.answered import as_json

    judged = judge_consistency(store, choice_of(options))
    material = consistency_material(store, judged)
    _check(judged.result, options)
    about = {
        "instrument": judged.instrument,
        "choice": asdict(judged.choice),
        "templates": {one.name: {"family": one.run.family, "versions": one.run.versions} for one in judged.runs},
        "labelled_statements": judged.labelled,
        "methods": judged.methods(),
        "rulings": judged.rulings.as_json(),
        "answered": as_json(judged.answered),
    }
    compared = _compared(store, judged, options)
    if compared is not None:
        named = tuple(_named(judged, material, options))
        return printed_side_by_side(compared, medium, about, named)
    tables = tuple(_tables(judged, material, options, data=medium.data))
    title = f"{judged.instrument}: political consistency"
    return Printed(tables, about, title, told(judged), header=judged.header, methods=judged.methods())


def choice_of(options: Given) -> ConsistencyChoice:
    """Return what is chosen from the command line's options."""
    from workbench.audits.consistency.judged import ConsistencyChoice
    from workbench.audits.reliability.options import ReliabilityOptions
    from workbench.evidence.runs import readings_of, templates_of

    return ConsistencyChoice(
        instrument=options.instrument,
        models=listed(options.model) or None,
        sampling=options.sampling,
        dtype=options.dtype,
        templates=templates_of(options),
        snapshot=options.snapshot,
        fingerprint=options.fingerprint,
        readings=readings_of(options),
        reliability=ReliabilityOptions.of(options),
        labels=options.labels,
        seed=options.seed,
        resamples=options.resamples,
    )


def _tables(judged: ConsistencyJudged, material: Material, options: Given, *, data: bool) -> Iterator[AnyTable]:
    """Return leaning and policy issues, for programs every table of the book, and what was asked for by name."""
    from workbench.audits.consistency import tables
    from workbench.audits.consistency.book import book

    result, formulas = judged.result, _formulas(options)
    if data:
        books = [book(result, formula, options.view, material) for formula in formulas]
        there = [*books[0].every(), *(table for one in books[1:] for table in one.depending_on("formula").every())]
        held = {(table.name, table.subject) for table in there}
        yield from there
        yield from (one for one in _named(judged, material, options) if (one.name, one.subject) not in held)
        return
    names = _shown(result, options)
    yield tables.respondents(result, names)
    yield tables.leaning(result, names, options.view)
    yield from (tables.issues(result, names, formula, material.definitions) for formula in formulas)
    yield from _named(judged, material, options)


def _named(judged: ConsistencyJudged, material: Material, options: Given) -> Iterator[AnyTable]:
    """Yield the tables that the command line asks for by name."""
    from workbench.audits.consistency import tables
    from workbench.evidence.answered import entries

    result, formulas, names = judged.result, _formulas(options), _shown(judged.result, options)
    if options.parties:
        yield from (tables.party_matches(result, name) for name in result.models)
        yield from (tables.party_stances(result, formula) for formula in formulas)
    if options.people:
        yield from (tables.people(result, formula) for formula in formulas)
    if options.issue:
        yield from (tables.issue_statements(result, name, options.issue, material.texts) for name in names)
    if options.party:
        yield from (tables.party_statements(result, name, *party_key(options.party), material.texts) for name in names)
    if options.refusals:
        yield from (entry.make() for entry in entries(lambda: material.refusals, judged.choice.seed))


def _compared(store: Store, judged: ConsistencyJudged, options: Given) -> Compared | None:
    """Return the comparison of the respondents that are named; None where none are."""
    from workbench.audits.comparison.values import meant
    from workbench.audits.consistency.compared import compared

    if not options.compare:
        return None
    there = {one.name: one.name for one in judged.result.respondents} | {one.name: one.run.model for one in judged.runs}
    return compared(store, judged, meant(options.compare, there), options.view, _formulas(options))


def told(judged: ConsistencyJudged) -> tuple[str, ...]:
    """Say what the figures rest on."""
    from workbench.evidence.answered import told as refused
    from workbench.evidence.runs import template_notes

    head = f"{judged.instrument}: {len(judged.result.positions.statements)} statements, {judged.labelled} with a label."
    if not judged.runs:
        return head, "No model has answered yet: only baselines and parties."
    tests = {one.name: ", ".join(one.report.options.tests) for one in judged.runs}
    asked = [
        f"{one.name}: answers to templates of {', '.join(one.run.asked_with)}."
        for one in judged.runs
        if one.run.asked_with
    ]
    reliable = [f"{name}: a statement is reliable if it passes {of}." for name, of in tests.items()]
    return (
        *judged.header,
        head,
        *asked,
        *reliable,
        *refused([one.refusals for one in judged.runs]),
        *judged.rulings.sentences(),
        *template_notes(one.run for one in judged.runs),
    )


def _check(result: Consistency, options: Given) -> None:
    """Raise UnknownName for a name that is not there, before any table is printed."""
    if options.issue:
        result.positions.issue(options.issue)
    if options.party:
        result.positions.party(*party_key(options.party))


def party_key(text: str) -> tuple[str, str]:
    """Read `nl/SP`. Raises UsageError."""
    country, slash, name = text.partition("/")
    if not slash or not country or not name:
        raise UsageError(f"found the party {text!r}; give its country and its name, such as nl/SP")
    return country, name


def _formulas(options: Given) -> tuple[Formula, ...]:
    from workbench.audits.consistency.judge import FORMULAS

    return FORMULAS if options.formula == "all" else (options.formula,)


def _shown(result: Consistency, options: Given) -> tuple[str, ...]:
    """Return the models and, where they are wanted or alone, the baselines."""
    names = tuple(one.name for one in result.respondents)
    return names if options.baselines or not result.models else result.models
