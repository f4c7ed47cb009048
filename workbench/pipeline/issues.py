"""Policy-issue labels: agreement, ties and gold labels, and schemes and label files in and out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from stores.core.store import Store, at_once
from stores.instruments.issues import Added, SchemeChange
from workbench.annotation.issue_tables import IssueFigures
from workbench.annotation.issues import IssueReport, issue_report
from workbench.csv_files import csv_text, guarded
from workbench.data import shipped_issue_scheme, shipped_issue_schemes
from workbench.domain.instruments import GOLD, IssueDefinition, IssueLabel
from workbench.domain.keys import SEED
from workbench.errors import UsageError
from workbench.formats.people import read_issue_labels
from workbench.formats.records import Findings
from workbench.issue_schemes import IssueScheme, defined, read_issue_scheme

COLUMNS = ("ref", "issue", "annotator", "label")


@dataclass(frozen=True, slots=True)
class IssueOverview:
    """The issues, statements and agreement of an instrument."""

    instrument: str
    issues: tuple[IssueDefinition, ...]
    statements: tuple[tuple[str, str], ...]
    "(ref, text), in order"
    report: IssueReport

    def texts(self) -> dict[str, str]:
        return dict(self.statements)


def issues_of(store: Store, instrument: str) -> tuple[IssueDefinition, ...]:
    """Return an instrument's issues.

    Those that it does not define itself have the meaning of the shipped scheme.
    """
    own_issues = store.issues.scheme(instrument)
    return defined([issue.name for issue in own_issues], own_issues, shipped_issue_scheme().issues)


@at_once
def issue_overview(
    store: Store,
    instrument: str,
    *,
    whose: str = "gold",
    fewest: int | None = None,
    seed: int = SEED,
    resamples: int = 1000,
) -> IssueOverview:
    """Return agreement per issue, ties and gold labels.

    `whose` and `fewest` are as in `stores.instruments.issues.Issues.gold`.
    """
    min_labels = store.issues.fewest(instrument) if fewest is None else fewest
    issues = issues_of(store, instrument)
    statements = store.issues.statements(instrument)
    report = issue_report(
        store.issues.labels(instrument),
        [issue.name for issue in issues],
        [ref for ref, _ in statements],
        source=whose == "gold",
        fewest=min_labels,
        seed=seed,
        resamples=resamples,
    )
    return IssueOverview(instrument, issues, statements, report)


@at_once
def issue_figures(
    store: Store,
    instrument: str,
    *,
    whose: str = "gold",
    fewest: int | None = None,
    seed: int = SEED,
    resamples: int = 1000,
) -> IssueFigures:
    """Return the overview as figures."""
    overview = issue_overview(
        store, instrument, whose=whose, fewest=fewest, seed=seed, resamples=resamples
    )
    return IssueFigures(instrument, overview.issues, overview.texts(), overview.report, whose)


def issue_scheme(name_or_file: str) -> IssueScheme:
    """Return a scheme that ships, or one of a file.

    A file that has the name of a shipped scheme needs its suffix.
    """
    if name_or_file in shipped_issue_schemes():
        return shipped_issue_scheme(name_or_file)
    if not Path(name_or_file).is_file():
        available = ", ".join(shipped_issue_schemes())
        raise UsageError(
            f"{name_or_file}: neither a file nor a shipped scheme ({available}); see data/issues/ "
            "for an example"
        )
    return read_issue_scheme(Path(name_or_file))


def set_issue_scheme(store: Store, instrument: str, scheme: IssueScheme) -> SchemeChange:
    """Give an instrument the issues of a scheme. No label is lost."""
    return store.issues.set_scheme(instrument, scheme.issues)


def import_issue_labels(store: Store, instrument: str, path: Path) -> Added:
    """Add the labels of a file, all or none. See `formats.people.read_issue_labels`."""
    return store.issues.add(instrument, read_labels_for_issues(store, instrument, path))


def read_labels_for_issues(store: Store, instrument: str, path: Path) -> tuple[IssueLabel, ...]:
    """Return the labels of a file, of statements of an instrument for its policy issues.

    Raises UsageError, InputError.
    """
    if not path.is_file():
        raise UsageError(f"{path}: no such file")
    findings = Findings()
    refs = [ref for ref, _ in store.issues.statements(instrument)]
    names = store.issues.names(instrument)
    if not names:
        raise UsageError(
            f"{instrument} has no policy issues yet. Add some: workbench issues STORE --scheme "
            "smartvote"
        )
    labels = read_issue_labels(path, refs, names, (), findings)
    findings.check()
    if not labels:
        raise UsageError(f"{path.name} has no labels; nothing was changed")
    return tuple(labels)


def added_said(added: Added) -> Iterator[str]:
    """Yield sentences on the labels of an import."""
    yield f"Labels: {added.added:,} new, {added.changed:,} changed, {added.same:,} unchanged."
    if added.held:
        yield (
            f"Left out: {added.held:,}, because their annotators labelled differently in this "
            "store."
        )


def issue_labels_csv(
    store: Store,
    instrument: str,
    *,
    gold: bool = False,
    whose: str = "gold",
    fewest: int | None = None,
) -> str:
    """Return everybody's labels as a file that can be imported again.

    With `gold` it has only the labels that count.
    """
    return csv_text(COLUMNS, _rows(_exported(store, instrument, gold, whose, fewest)))


def _exported(
    store: Store, instrument: str, gold: bool, whose: str, fewest: int | None
) -> Iterable[IssueLabel]:
    if not gold:
        names = set(store.issues.names(instrument))
        return [label for label in store.issues.labels(instrument) if label.issue in names]
    gold_labels = store.issues.gold(instrument, whose, fewest=fewest)
    order = [ref for ref, _ in store.issues.statements(instrument)]
    return [
        IssueLabel(ref, issue, GOLD, gold_labels[ref][issue])
        for ref in order
        for issue in store.issues.names(instrument)
        if issue in gold_labels.get(ref, {})
    ]


def _rows(labels: Iterable[IssueLabel]) -> Iterable[tuple[str, ...]]:
    for label in labels:
        yield (
            guarded(label.statement),
            guarded(label.issue),
            guarded(label.annotator),
            str(label.label),
        )
