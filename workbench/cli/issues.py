"""The command for policy issues: scheme, labels, agreement, gold, ties."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from workbench.cli.output import (
    FIGURES,
    as_data,
    no_figures,
    print_json,
    put_out,
    say,
    tell,
    whole_file,
)
from workbench.cli.verbs import Namespace, verb
from workbench.errors import UnknownName, UsageError
from workbench.options.option import Option, Section, Type, flag
from workbench.options.shared import ANNOTATOR, INSTRUMENT, SEED, STORE

if TYPE_CHECKING:
    from pathlib import Path

    from stores.core.store import Store
    from workbench.figures.table import AnyTable

LABELS = {"1": 1, "+1": 1, "0": 0, "-1": -1, "none": None}


@verb(
    STORE,
    INSTRUMENT,
    Section(
        "Acts, one at a time",
        (
            Option(
                "scheme",
                "set the issues: smartvote, or a file; all labels are kept",
                metavar="FILE|NAME",
            ),
            Option(
                "label",
                "label as --annotator: 1 agreeing supports the issue, -1 disagreeing supports it, "
                "0 not related, none withdraws",
                metavar=("REF", "ISSUE", "LABEL"),
            ),
            Option(
                "adjudicate",
                "decide a disagreement, as --annotator; none withdraws the decision",
                metavar=("REF", "ISSUE", "LABEL"),
            ),
            Option(
                "gold_from",
                "as --annotator, set how many people's labels make gold from now on, in every "
                "figure: 1 accepts a single annotator's labels",
                Type.WHOLE,
                least=1,
                metavar="PEOPLE",
            ),
            flag("ties", "list the ties to decide, without names"),
            Option("import_", "add labels: ref, issue, annotator, label", Type.PATH, metavar="CSV"),
        ),
        one_of=True,
    ),
    flag("gold", "print the gold labels"),
    Option("export", "write all labels; with --gold only gold labels", Type.PATH, metavar="CSV"),
    ANNOTATOR.but(help="who labels or decides", none=""),
    Option(
        "whose", "gold: prefer a source's own labels", default="gold", choices=("gold", "people")
    ),
    Option(
        "fewest",
        "how many people a majority needs, for this figure only",
        Type.WHOLE,
        none="as set by --gold-from",
        least=1,
    ),
    SEED.of("the bootstrap intervals"),
    FIGURES,
)
def issues(options: Namespace) -> int:
    """Carry out an act on the policy issues of an instrument, or print an overview."""
    from stores.core.store import Store

    _check(options)
    with Store.open(options.store) as store:
        name = options.instrument or store.instruments.only()
        if options.label:
            # It guards the connection: nothing is read from it afterwards.
            return _label(store, name, options)
        for value, act in (
            (options.scheme, _scheme),
            (options.adjudicate, _adjudicate),
            (options.import_, _import),
            (options.gold_from, _gold_from),
            (options.export, _export),
            (options.gold, _gold),
            (options.ties, _ties),
        ):
            if value:
                return act(store, name, options)
        return _overview(store, name, options)


def _check(options: Namespace) -> None:
    acts = [
        options.scheme,
        options.label,
        options.adjudicate,
        options.ties,
        options.import_,
        options.gold_from,
    ]
    if any(acts) and (options.gold or options.export):
        raise UsageError("--gold and --export cannot be combined with another act")
    if (options.label or options.adjudicate or options.gold_from) and not options.annotator:
        raise UsageError("give your name: --annotator NAME")
    if options.export or any(act for act in acts if act is not options.ties):
        no_figures(options)


def _scheme(store: Store, name: str, options: Namespace) -> int:
    from workbench.pipeline.issues import issue_scheme, set_issue_scheme

    scheme = issue_scheme(options.scheme)
    change = set_issue_scheme(store, name, scheme)
    if options.json:
        print_json({"instrument": name, "scheme": scheme.name} | asdict(change))
        return 0
    say(f"{name} now has the {len(scheme.issues)} issues of {scheme.title}.")
    if change.added:
        say("new: " + ", ".join(change.added))
    if change.removed:
        say("removed: " + ", ".join(change.removed))
    if change.kept:
        say(
            f"Labels kept for removed issues: {change.kept:,}; they count again if the issues "
            "return."
        )
    return 0


def _gold_from(store: Store, name: str, options: Namespace) -> int:
    from workbench.annotation.issue_tables import needed_words

    previous = store.issues.choose_fewest(name, options.gold_from, options.annotator)
    n_gold = sum(map(len, store.issues.gold(name).values()))
    message = f"{name}: {needed_words(options.gold_from)} Gold labels: {n_gold:,}."
    data = {"instrument": name, "fewest": options.gold_from, "before": previous, "gold": n_gold}
    return tell(options, message, data)


def _label(store: Store, name: str, options: Namespace) -> int:
    """Label as one person, through their own, guarded connection."""
    from stores.annotation.issue_annotator import IssueAnnotator

    ref, issue, label = _cell(options.label)
    annotator = IssueAnnotator(store, name, options.annotator)
    row = next((row for row in annotator.sheet().rows if row.ref == ref), None)
    if row is None:
        raise UnknownName(f"{name} has no statement {ref!r}")
    _, previous = annotator.put(row, {issue: label})
    return _said(options, ref, issue, label, previous.get(issue, label))


def _adjudicate(store: Store, name: str, options: Namespace) -> int:
    ref, issue, label = _cell(options.adjudicate)
    return _said(
        options,
        ref,
        issue,
        label,
        store.issues.adjudicate(name, ref, issue, label, options.annotator),
    )


def _cell(words: list[str]) -> tuple[str, str, int | None]:
    ref, issue, label = words
    if label.casefold() not in LABELS:
        raise UsageError(f"found the label {label!r}; give one of: {', '.join(LABELS)}")
    return ref, issue, LABELS[label.casefold()]


def _said(options: Namespace, ref: str, issue: str, label: int | None, before: int | None) -> int:
    note = "" if before == label else f" (before: {_sign(before)})"
    data = {"ref": ref, "issue": issue, "label": label, "before": before}
    return tell(options, f"{ref} {issue}: {_sign(label)}{note}", data)


def _import(store: Store, name: str, options: Namespace) -> int:
    from workbench.pipeline.issues import added_said, import_issue_labels

    added = import_issue_labels(store, name, options.import_)
    if options.json:
        print_json(asdict(added))
        return 0
    for sentence in added_said(added):
        say(sentence)
    return 0


def _export(store: Store, name: str, options: Namespace) -> int:
    from workbench.pipeline.issues import issue_labels_csv

    path: Path = options.export
    text = issue_labels_csv(
        store, name, gold=options.gold, whose=options.whose, fewest=options.fewest
    )
    with whole_file(path) as file:
        file.write(text)
    count = text.count("\n") - 1
    return tell(options, f"Wrote {count:,} labels to {path}.", {"file": str(path), "labels": count})


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


def _sign(label: int | None) -> str:
    return "none" if label is None else f"{label:+d}" if label else "0"
