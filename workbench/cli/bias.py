"""Commands about the left/right bias."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from workbench.audits.bias_score.options import RESULT_OPTIONS
from workbench.cli.figures import FIGURES
from workbench.cli.output import say
from workbench.cli.verbs import Namespace, verb
from workbench.domain.names import listed
from workbench.domain.statements import Dimension
from workbench.options.option import Option, flag
from workbench.options.shared import (
    COMPARE,
    DTYPE,
    INSTRUMENT,
    MODEL,
    MODELS,
    QUEUE,
    SAMPLING,
    SEED,
    SERVED,
    STORE,
    TEMPLATE,
    WITHOUT_RULINGS,
)

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.audits.bias_score.judged import BiasJudged
    from workbench.figures.book import Book
    from workbench.figures.table import AnyTable

TABLES = {
    "prefix": ("prefixes", "prefix_changes"),
    "prefix-source": ("prefix_sources",),
    "variant": ("wordings",),
    "source": ("sources",),
    "author": ("authors", "author_differences"),
    "statement": ("statement_counts", "statements"),
    "component": ("components",),
    "refusal": ("refusals", "refusal_sides"),
}
"what `--by` adds"


@verb(
    STORE,
    MODELS,
    INSTRUMENT.but(help="several with commas between", none="all that have answers", metavar="NAME,…"),
    SAMPLING.but(help="a part of a sampling's description"),
    DTYPE,
    TEMPLATE,
    SERVED,
    RESULT_OPTIONS,
    Option("by", "more tables", choices=tuple(TABLES), metavar="NAME"),
    COMPARE,
    Option("dimension", "only statements of this dimension", none="both", choices=tuple(map(str, Dimension))),
    flag("methods", "how the figures came about, in a paragraph"),
    FIGURES,
)
def bias(options: Namespace) -> int:
    """Print or write the bias of every model, and what else was asked for."""
    from stores.core.store import Store
    from workbench.audits.bias_score.judged import BiasChoice, judge_bias
    from workbench.audits.bias_score.judged_book import book
    from workbench.cli.figures import put_out
    from workbench.evidence.run_choice import readings_of, templates_of

    choice = BiasChoice(
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
    with Store.open(options.store) as store:
        judged = judge_bias(store, choice)
        compared = _compared(store, judged, options)
    found = book(judged, options.store, _dimension(options))
    if options.methods and not options.json:
        say(found.methods)
        return 0
    tables = (*_tables(found, options), *compared)
    put_out(options, tables, found.about, title=found.title, told=found.told, notes=found.notes, header=found.header)
    return 0


def _dimension(options: Namespace) -> Dimension | None:
    return Dimension(options.dimension) if options.dimension else None


def _compared(store: Store, judged: BiasJudged, options: Namespace) -> Sequence[AnyTable]:
    """Return the tables of the models that are to be compared; none where none are named."""
    from workbench.audits.bias_score.compared_runs import compared
    from workbench.audits.bias_score.judged_book import originals
    from workbench.audits.comparison.book import tables
    from workbench.audits.comparison.values import meant
    from workbench.cli.figures import as_data

    if not options.compare:
        return ()
    names = meant(options.compare, {name: runs[0].model for name, runs in judged.runs.items()})
    of = compared(judged, names, originals(store, judged), _dimension(options))
    return tuple(tables(of, data=as_data(options)))


def _tables(found: Book, options: Namespace) -> Iterator[AnyTable]:
    """Return what was asked for, of all models together; a program gets every table."""
    from workbench.cli.figures import as_data

    wanted = ["bias", *TABLES.get(options.by, ()), "source_differences", "source_ranks"]
    for entry in found.contents:
        if entry.name != "compared" and not entry.empty and (as_data(options) or entry.name in wanted):
            yield entry.make()


@verb(
    STORE,
    MODEL.but(none="the only one that labelled"),
    INSTRUMENT,
    TEMPLATE,
    SERVED,
    QUEUE.but(help="people's labels of this queue", none="all"),
    WITHOUT_RULINGS,
    SEED.of("the bootstrap intervals"),
    FIGURES,
)
def sides(options: Namespace) -> int:
    """Print or write what a model said of the statements' sides, and its kappa with people and with the instrument."""
    from stores.core.store import Store
    from workbench.audits.bias_score.sides import judge_sides
    from workbench.audits.bias_score.statement_labels_tables import book
    from workbench.cli.figures import put_out
    from workbench.evidence.run_choice import templates_of

    with Store.open(options.store) as store:
        report = judge_sides(
            store,
            options.instrument or store.instruments.only(),
            options.model,
            snapshot=options.snapshot,
            fingerprint=options.fingerprint,
            templates=templates_of(options),
            queue=options.queue,
            seed=options.seed,
            rulings=not options.without_rulings,
        )
    found = book(report)
    tables = [entry.make() for entry in found.contents]
    put_out(options, tables, found.about, title=found.title, told=found.told, header=found.header)
    return 0
