"""The command for policy issues: scheme, labels, agreement, gold, ties."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.cli.immediate import act_of, run_immediate
from workbench.cli.output import FIGURES, as_data, no_figures, put_out
from workbench.cli.verbs import Namespace, verb
from workbench.commands.issues import (
    AdjudicateIssueCommand,
    ExportIssueLabelsCommand,
    ImportIssueLabelsCommand,
    LabelIssueCommand,
    SetGoldMinimumCommand,
    SetIssuesCommand,
)
from workbench.errors import UsageError
from workbench.options.option import Section, flag
from workbench.options.shared import SEED, STORE

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.figures.table import AnyTable

ACTS = (
    SetIssuesCommand,
    LabelIssueCommand,
    AdjudicateIssueCommand,
    SetGoldMinimumCommand,
    ImportIssueLabelsCommand,
)
"commands that change something; one at a time"
_OPTIONS = {
    name: option
    for command in (*ACTS, ExportIssueLabelsCommand)
    for name, option in command.options().items()
}


@verb(
    STORE,
    _OPTIONS["instrument"],
    Section(
        "Acts, one at a time",
        (
            *(_OPTIONS[name] for name in ("scheme", "label", "adjudicate", "gold_from")),
            flag("ties", "list the ties to decide, without names"),
            _OPTIONS["import_"],
        ),
        one_of=True,
    ),
    *(_OPTIONS[name] for name in ("gold", "export", "annotator", "whose", "fewest")),
    SEED.of("the bootstrap intervals"),
    FIGURES,
)
def issues(options: Namespace) -> int:
    """Carry out an act on the policy issues of an instrument, or print an overview."""
    from stores.core.store import Store

    act = act_of(ACTS, options)
    if (act is not None or options.ties) and (options.gold or options.export):
        raise UsageError("--gold and --export cannot be combined with another act")
    act = act or act_of([ExportIssueLabelsCommand], options)
    if act is not None:
        no_figures(options)
        return run_immediate(act, options)
    with Store.open(options.store) as store:
        name = options.instrument or store.instruments.only()
        if options.gold:
            return _gold(store, name, options)
        if options.ties:
            return _ties(store, name, options)
        return _overview(store, name, options)


def _gold(store: Store, name: str, options: Namespace) -> int:
    from workbench.annotation import issue_tables as tables

    gold_by_ref = store.issues.gold(name, options.whose, fewest=options.fewest)
    gold_rows = [
        (ref, gold_by_ref[ref]) for ref, _ in store.issues.statements(name) if ref in gold_by_ref
    ]
    all_tables: list[AnyTable] = [tables.gold(gold_rows)]
    if as_data(options):
        all_tables.append(tables.gold_labels(gold_rows))
    fewest = store.issues.fewest(name) if options.fewest is None else options.fewest
    metadata = {"instrument": name, "whose": options.whose, "fewest": fewest}
    put_out(
        options,
        all_tables,
        metadata,
        title=f"{name}: labels that count",
        told=[tables.needed_words(fewest)],
    )
    return 0


def _ties(store: Store, name: str, options: Namespace) -> int:
    from workbench.annotation import issue_tables as tables
    from workbench.pipeline.issues import issue_figures

    figures = issue_figures(store, name, whose=options.whose, fewest=options.fewest, resamples=1)
    hint = "Decide one: workbench issues STORE --adjudicate REF ISSUE -1|0|1 --annotator NAME"
    paragraphs = [hint] if figures.report.ties else []
    put_out(
        options,
        [tables.ties(figures)],
        figures.about,
        title=f"{name}: ties to decide",
        told=paragraphs,
    )
    return 0


def _overview(store: Store, name: str, options: Namespace) -> int:
    from workbench.annotation import issue_tables as tables
    from workbench.pipeline.issues import issue_figures

    figures = issue_figures(
        store, name, whose=options.whose, fewest=options.fewest, seed=options.seed
    )
    all_tables: list[AnyTable] = [tables.definitions(figures)]
    if figures.definitions:
        all_tables += [tables.annotators(figures), tables.agreement(figures)]
    if as_data(options):
        all_tables.append(tables.pairs(figures))
    tie_notes = [
        f"Ties to decide: {figures.report.ties:,}; workbench issues STORE --ties lists them."
    ]
    paragraphs = [*figures.told, *(tie_notes if figures.report.ties else [])]
    put_out(options, all_tables, figures.about, title=f"{name}: policy issues", told=paragraphs)
    return 0
