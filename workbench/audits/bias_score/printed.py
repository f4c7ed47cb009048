"""What `bias` and `sides` print: the left/right bias of free answers, and what a model says of statements' sides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.audits.audit import Given, Medium, Printed
from workbench.audits.bias_score.options import TABLES
from workbench.domain.names import listed
from workbench.domain.statements import Dimension

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.audits.bias_score.judged import BiasChoice, BiasJudged
    from workbench.audits.comparison.values import Compared
    from workbench.figures.book import Book
    from workbench.figures.table import AnyTable


def bias(store: Store, options: Given, medium: Medium) -> Printed:
    """Return the bias of every model that is meant, and what else was asked for."""
    from workbench.audits.bias_score.judged import judge_bias
    from workbench.audits.bias_score.judged_book import book
    from workbench.audits.comparison.printed import printed as printed_side_by_side

    judged = judge_bias(store, choice_of(options))
    compared = _compared(store, judged, options)  # unknown names: before all else
    found = book(judged, store.path, _dimension(options))
    if compared is not None:
        named = [found.table(name) for name in TABLES.get(options.by, ())]
        return printed_side_by_side(compared, medium, found.about, named)
    tables = tuple(_tables(found, options, data=medium.data))
    return Printed(tables, found.about, found.title, found.told, found.notes, found.header, found.methods)


def choice_of(options: Given) -> BiasChoice:
    """Return what is chosen from the command line's options."""
    from workbench.audits.bias_score.judged import BiasChoice
    from workbench.evidence.run_choice import readings_of, templates_of

    return BiasChoice(
        instruments=listed(options.instrument),
        models=listed(options.model),
        sampling=options.sampling,
        dtype=options.dtype,
        templates=templates_of(options),
        snapshot=options.snapshot,
        fingerprint=options.fingerprint,
        readings=readings_of(options),
        labels=options.labels,
        threshold=options.threshold,
        correct=options.correct,
        judge_void=options.judge_void,
        unit=options.unit,
        seed=options.seed,
        draws=options.draws,
        common=options.common,
    )


def _dimension(options: Given) -> Dimension | None:
    return Dimension(options.dimension) if options.dimension else None


def _compared(store: Store, judged: BiasJudged, options: Given) -> Compared | None:
    """Return the comparison of the models that are named; None where none are."""
    from workbench.audits.bias_score.compared_runs import compared
    from workbench.audits.bias_score.judged_book import originals
    from workbench.audits.comparison.values import meant

    if not options.compare:
        return None
    names = meant(options.compare, {name: runs[0].model for name, runs in judged.runs.items()})
    return compared(judged, names, originals(store, judged), _dimension(options))


def _tables(found: Book, options: Given, *, data: bool) -> Iterator[AnyTable]:
    """Yield what was asked for, of all models together; a program gets every table."""
    if data:
        yield from found.every()
        return
    wanted = ["bias", "persona_bias", *TABLES.get(options.by, ()), "source_differences", "source_ranks"]
    for entry in found.contents:
        if not entry.empty and entry.name in wanted:
            yield entry.make()


def sides(store: Store, options: Given) -> Printed:
    """Return what a model said of the statements' sides, and its kappa with people and with the instrument."""
    from workbench.audits.bias_score.sides import judge_sides
    from workbench.audits.bias_score.statement_labels_tables import book
    from workbench.evidence.run_choice import templates_of
    from workbench.evidence.runs import answered_instrument

    report = judge_sides(
        store,
        options.instrument or answered_instrument(store, "statement_labels"),
        options.model,
        snapshot=options.snapshot,
        fingerprint=options.fingerprint,
        templates=templates_of(options),
        queue=options.queue,
        seed=options.seed,
        rulings=not options.without_rulings,
    )
    found = book(report)
    return Printed([entry.make() for entry in found.contents], found.about, found.title, found.told, (), found.header)
