"""The command for policy issues: scheme, labels, agreement, gold, ties."""

from __future__ import annotations

import math
from argparse import Namespace
from dataclasses import asdict
from typing import TYPE_CHECKING

from workbench.cli.output import estimate, print_json, say, table
from workbench.errors import UnknownName, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from stores.store import Store
    from workbench.annotation.issues import IssueAgreement
    from workbench.pipeline.issues import IssueOverview

LABELS = {"1": 1, "+1": 1, "0": 0, "-1": -1, "none": None}


def issues(options: Namespace) -> int:
    """Do what was asked on the policy issues of an instrument; without an act, say what there is."""
    from stores.store import Store

    _check(options)
    with Store.open(options.store) as store:
        name = options.instrument or store.instruments.only()
        if options.label:
            return _label(store, name, options)  # it guards the connection: nothing is read from it afterwards
        for asked, act in ((options.scheme, _scheme), (options.adjudicate, _adjudicate), (options.import_, _import),
                           (options.export, _export), (options.gold, _gold), (options.ties, _ties)):  # fmt: skip
            if asked:
                return act(store, name, options)
        return _overview(store, name, options)


def _check(options: Namespace) -> None:
    acts = [options.scheme, options.label, options.adjudicate, options.ties, options.import_]
    if any(acts) and (options.gold or options.export):
        raise UsageError("--gold and --export cannot be combined with another act")
    if (options.label or options.adjudicate) and not options.annotator:
        raise UsageError("say who: --annotator NAME")
    if options.fewest < 1:
        raise UsageError(f"found --fewest {options.fewest}; give 1 or more")


def _scheme(store: Store, name: str, options: Namespace) -> int:
    from workbench.pipeline.issues import issue_scheme, set_issue_scheme

    scheme = issue_scheme(options.scheme)
    change = set_issue_scheme(store, name, scheme)
    if options.json:
        print_json({"instrument": name, "scheme": scheme.name} | asdict(change))
        return 0
    say(f"{name} has the {len(scheme.issues)} issues of {scheme.title}.")
    if change.added:
        say("new: " + ", ".join(change.added))
    if change.removed:
        say("no longer there: " + ", ".join(change.removed))
    if change.kept:
        say(f"Labels kept on issues that are no longer there: {change.kept:,}; they count again if these return.")
    return 0


def _label(store: Store, name: str, options: Namespace) -> int:
    """Label as one person, through their own, guarded connection."""
    from stores.issue_annotator import IssueAnnotator

    ref, issue, label = _cell(options.label)
    annotator = IssueAnnotator(store, name, options.annotator)
    row = next((row for row in annotator.sheet().rows if row.ref == ref), None)
    if row is None:
        raise UnknownName(f"{name} has no statement {ref!r}")
    _, before = annotator.put(row, {issue: label})
    return _said(options, ref, issue, label, before.get(issue, label))


def _adjudicate(store: Store, name: str, options: Namespace) -> int:
    ref, issue, label = _cell(options.adjudicate)
    return _said(options, ref, issue, label, store.issues.adjudicate(name, ref, issue, label, options.annotator))


def _cell(words: list[str]) -> tuple[str, str, int | None]:
    ref, issue, label = words
    if label.casefold() not in LABELS:
        raise UsageError(f"found the label {label!r}; give one of: {', '.join(LABELS)}")
    return ref, issue, LABELS[label.casefold()]


def _said(options: Namespace, ref: str, issue: str, label: int | None, before: int | None) -> int:
    if options.json:
        print_json({"ref": ref, "issue": issue, "label": label, "before": before})
        return 0
    was = "" if before == label else f" (before: {_sign(before)})"
    say(f"{ref} {issue}: {_sign(label)}{was}")
    return 0


def _import(store: Store, name: str, options: Namespace) -> int:
    from workbench.pipeline.issues import import_issue_labels

    found = import_issue_labels(store, name, options.import_)
    if options.json:
        print_json(asdict(found))
        return 0
    say(f"Labels: {found.added:,} new, {found.changed:,} changed, {found.same:,} as before.")
    if found.held:
        say(f"Left out: {found.held:,}, because their annotators said otherwise in this store.")
    return 0


def _export(store: Store, name: str, options: Namespace) -> int:
    from workbench.pipeline.issues import issue_labels_csv

    path: Path = options.export
    if path.exists():
        raise UsageError(f"{path} exists already; choose another name")
    text = issue_labels_csv(store, name, gold=options.gold, whose=options.whose, fewest=options.fewest)
    made = path.with_name(path.name + ".part")
    try:
        made.write_bytes(text.encode("utf-8"))
        made.rename(path)
    except OSError as error:
        made.unlink(missing_ok=True)
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from error
    count = text.count("\n") - 1
    if options.json:
        print_json({"file": str(path), "labels": count})
    else:
        say(f"Wrote {count:,} labels to {path}.")
    return 0


def _gold(store: Store, name: str, options: Namespace) -> int:
    found = store.issues.gold(name, options.whose, fewest=options.fewest)
    order = [(ref, found[ref]) for ref, _ in store.issues.statements(name) if ref in found]
    if options.json:
        print_json({ref: dict(labels) for ref, labels in order})
        return 0
    supports = [(ref, _listed(labels, 1), _listed(labels, -1)) for ref, labels in order if any(labels.values())]
    table(["statement", "agreeing supports", "disagreeing supports"], supports)
    say(f"Statements that bear on an issue: {len(supports):,}; labelled, and on none: {len(order) - len(supports):,}.")
    return 0


def _listed(labels: object, sign: int) -> str:
    assert isinstance(labels, dict)
    return ", ".join(issue for issue, label in labels.items() if label == sign)


def _ties(store: Store, name: str, options: Namespace) -> int:
    from workbench.annotation.issues import anonymous
    from workbench.pipeline.issues import issue_overview

    found = issue_overview(store, name, whose=options.whose, fewest=options.fewest, resamples=1)
    cases = [case for case in found.report.cases if case.open]
    texts = found.texts()
    if options.json:
        print_json([
            {"ref": case.statement, "issue": case.issue, "labels": dict(anonymous(case)), "source": case.source,
             "statement": texts[case.statement]}
            for case in cases
        ])  # fmt: skip
        return 0
    if not cases:
        say("No ties: nothing has to be decided.")
        return 0
    rows = [
        (case.statement, case.issue, "  ".join(f"{letter} {_sign(label)}" for letter, label in anonymous(case)),
         texts[case.statement])
        for case in cases
    ]  # fmt: skip
    table(["statement", "issue", "labels", "text"], rows)
    say(f"Decide one: workbench issues {options.store} --adjudicate REF ISSUE -1|0|1 --annotator NAME")
    return 0


def _overview(store: Store, name: str, options: Namespace) -> int:
    from workbench.pipeline.issues import issue_overview

    found = issue_overview(store, name, whose=options.whose, fewest=options.fewest, seed=options.seed)
    if options.json:
        print_json(_as_data(found))
        return 0
    if not found.issues:
        say(f"{name} has no policy issues yet. Give it some: workbench issues {options.store} --scheme smartvote")
        return 0
    _print_scheme(found)
    _print_people(found)
    _print_agreement(found)
    if found.report.ties:
        say(f"Ties to decide: {found.report.ties:,}; workbench issues {options.store} --ties lists them")
    return 0


def _print_scheme(found: IssueOverview) -> None:
    say(f"{found.instrument}: {found.report.statements:,} statements, {len(found.issues)} policy issues")
    say("A label of +1 says that agreeing supports the issue, -1 that disagreeing does, 0 that it is not related.")
    for issue in found.issues:
        say(f"\n{issue.name}" + (f" ({issue.title})" if issue.title else ""))
        say(f"  {issue.definition or 'not defined'}")
    say()


def _print_people(found: IssueOverview) -> None:
    report = found.report
    if report.annotators:
        table(
            ["annotator", "labels", "statements done"],
            [(a.annotator, f"{a.labels:,}", f"{a.complete:,}/{report.statements:,}") for a in report.annotators],
        )
    else:
        say("Nobody has labelled statements for issues here yet; labels of the source itself are nobody's.")
    if report.outside:
        say(f"Labels on issues that the scheme does not have: {report.outside:,}; kept, and left out here.")
    say()


def _print_agreement(found: IssueOverview) -> None:
    table(
        ["issue", "mean Cohen's κ (sd)", "Fleiss' κ", "α", "% equal", "gold +1/0/-1", "ties"],
        [_agreement_row(issue) for issue in found.report.issues],
    )
    say("Intervals: 95 %, by bootstrap over statements. sd: over the pairs of annotators.")


def _agreement_row(issue: IssueAgreement) -> tuple[str, ...]:
    mean, sd = issue.cohen.mean, issue.cohen.sd
    spread = "" if math.isnan(sd) else f" (sd {sd:.2f}, {issue.cohen.defined} pairs)"
    below, none, above = issue.gold
    alpha = f"{issue.alpha.value:.2f}" if issue.alpha.defined else "–"
    percent = f"{100 * issue.percent.value:.0f}" if issue.percent.defined else "–"
    return (
        issue.issue,
        estimate(mean) + spread,
        estimate(issue.fleiss),
        alpha,
        percent,
        f"{above}/{none}/{below}",
        str(issue.ties),
    )


def _as_data(found: IssueOverview) -> dict[str, object]:
    """Return the overview without its cases, which name annotators."""
    report = found.report
    return {
        "instrument": found.instrument,
        "statements": report.statements,
        "issues": [
            asdict(definition) | {key: value for key, value in asdict(agreement).items() if key != "issue"}
            for definition, agreement in zip(found.issues, report.issues, strict=True)
        ],
        "annotators": [asdict(count) for count in report.annotators],
        "outside": report.outside,
        "ties": report.ties,
    }


def _sign(label: int | None) -> str:
    return "none" if label is None else f"{label:+d}" if label else "0"
