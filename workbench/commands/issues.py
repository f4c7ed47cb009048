"""Label statements by policy issues, decide on disagreements, and move such labels."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.commands.command import ImmediateCommand, Outcome, option, shared_option
from workbench.errors import UnknownName, UsageError
from workbench.options.option import Type
from workbench.options.shared import ANNOTATOR, INSTRUMENT
from workbench.whole_folders import whole_file

if TYPE_CHECKING:
    from stores.core.store import Store

LABELS = {"1": 1, "+1": 1, "0": 0, "-1": -1, "none": None}
CELL = ("REF", "ISSUE", "LABEL")
WHO = ANNOTATOR.but(help="who labels or decides", none="")


@dataclass(frozen=True)
class IssuesCommand(ImmediateCommand):
    """The base of commands about the policy issues of an instrument."""

    VERB = "issues"

    instrument: str | None = shared_option(INSTRUMENT)

    def instrument_name(self, store: Store) -> str:
        """Return the name of the instrument. Raises UsageError if it has to be given."""
        return self.instrument or store.instruments.only()


@dataclass(frozen=True)
class SetIssuesCommand(IssuesCommand):
    """Set the policy issues of an instrument. All labels are kept."""

    ACT = "scheme"

    scheme: str = option(
        None, "set the issues: smartvote, or a file; all labels are kept", metavar="FILE|NAME"
    )

    def run(self, store: Store) -> Outcome:
        """Set the issues. Raises UsageError for an unknown scheme."""
        from workbench.pipeline.issues import issue_scheme, set_issue_scheme

        name, scheme = self.instrument_name(store), issue_scheme(self.scheme)
        change = set_issue_scheme(store, name, scheme)
        lines = [f"{name} now has the {len(scheme.issues)} issues of {scheme.title}."]
        if change.added:
            lines.append("new: " + ", ".join(change.added))
        if change.removed:
            lines.append("removed: " + ", ".join(change.removed))
        if change.kept:
            lines.append(
                f"Labels kept for removed issues: {change.kept:,}; they count again if the issues "
                "return."
            )
        data = {"instrument": name, "scheme": scheme.name, **asdict(change)}
        return Outcome("\n".join(lines), data)


@dataclass(frozen=True)
class LabelIssueCommand(IssuesCommand):
    """Label how a statement is related to a policy issue."""

    ACT = "label"

    label: tuple[str, ...] = option(
        None,
        "label as --annotator: 1 agreeing supports the issue, -1 disagreeing supports it, "
        "0 not related, none withdraws",
        metavar=CELL,
    )
    annotator: str | None = shared_option(WHO)

    def run(self, store: Store) -> Outcome:
        """Store the label. Raises WorkbenchError for an unknown statement or issue."""
        from stores.annotation.issue_annotator import IssueAnnotator
        from stores.core.store import Store as OwnStore

        person = _given_name(self.annotator)
        name = self.instrument_name(store)
        ref, issue, label = _cell(self.label)
        # A person's connection is guarded: it reads nothing but what they may see.
        with OwnStore.open(store.path) as own_store:
            annotator = IssueAnnotator(own_store, name, person)
            rows = {row.ref: row for row in annotator.sheet().rows}
            if ref not in rows:
                raise UnknownName(f"{name} has no statement {ref!r}")
            _, previous = annotator.put(rows[ref], {issue: label})
        return _labelled(ref, issue, label, previous.get(issue, label))


@dataclass(frozen=True)
class AdjudicateIssueCommand(IssuesCommand):
    """Decide a disagreement of people about a statement and a policy issue."""

    ACT = "adjudicate"

    adjudicate: tuple[str, ...] = option(
        None,
        "decide a disagreement, as --annotator; none withdraws the decision",
        metavar=CELL,
    )
    annotator: str | None = shared_option(WHO)

    def run(self, store: Store) -> Outcome:
        """Store the decision. Raises WorkbenchError for an unknown statement or issue."""
        person = _given_name(self.annotator)
        ref, issue, label = _cell(self.adjudicate)
        name = self.instrument_name(store)
        previous = store.issues.adjudicate(name, ref, issue, label, person)
        return _labelled(ref, issue, label, previous)


@dataclass(frozen=True)
class SetGoldMinimumCommand(IssuesCommand):
    """Set how many people's labels make a gold label from now on, in every figure."""

    ACT = "gold_from"

    gold_from: int = option(
        None,
        "as --annotator, set how many people's labels make gold from now on, in every "
        "figure: 1 accepts a single annotator's labels",
        type=Type.WHOLE,
        least=1,
        metavar="PEOPLE",
    )
    annotator: str | None = shared_option(WHO)

    def run(self, store: Store) -> Outcome:
        """Set the number."""
        from workbench.annotation.issue_tables import needed_words

        person, name = _given_name(self.annotator), self.instrument_name(store)
        previous = store.issues.choose_fewest(name, self.gold_from, person)
        n_gold = sum(map(len, store.issues.gold(name).values()))
        data = {
            "instrument": name,
            "fewest": self.gold_from,
            "before": previous,
            "gold": n_gold,
        }
        return Outcome(f"{name}: {needed_words(self.gold_from)} Gold labels: {n_gold:,}.", data)


@dataclass(frozen=True)
class ImportIssueLabelsCommand(IssuesCommand):
    """Add labels of policy issues from a file."""

    ACT = "import_"

    import_: Path = option(
        None, "add labels: ref, issue, annotator, label", type=Type.PATH, metavar="CSV"
    )

    def run(self, store: Store) -> Outcome:
        """Add the labels. Raises WorkbenchError for a file that cannot be read."""
        from workbench.pipeline.issues import added_said, import_issue_labels

        added = import_issue_labels(store, self.instrument_name(store), self.import_)
        return Outcome("\n".join(added_said(added)), asdict(added))


@dataclass(frozen=True)
class ExportIssueLabelsCommand(IssuesCommand):
    """Write the labels of policy issues to a file."""

    ACT = "export"
    READS_ONLY = True

    export: Path = option(
        None, "write all labels; with --gold only gold labels", type=Type.PATH, metavar="CSV"
    )
    gold: bool = option(False, "print the gold labels")
    whose: str = option("gold", "gold: prefer a source's own labels", choices=("gold", "people"))
    fewest: int | None = option(
        None,
        "how many people a majority needs, for this figure only",
        type=Type.WHOLE,
        none="as set by --gold-from",
        least=1,
    )

    def run(self, store: Store) -> Outcome:
        """Write the labels. Raises UsageError if the file exists already."""
        from workbench.pipeline.issues import issue_labels_csv

        text = issue_labels_csv(
            store,
            self.instrument_name(store),
            gold=self.gold,
            whose=self.whose,
            fewest=self.fewest,
        )
        with whole_file(self.export) as file:
            file.write(text)
        n_labels = text.count("\n") - 1
        data = {"file": str(self.export), "labels": n_labels}
        return Outcome(f"Wrote {n_labels:,} labels to {self.export}.", data)


def _given_name(annotator: str | None) -> str:
    """Return the name of the person who labels or decides. Raises UsageError without one."""
    if not annotator:
        raise UsageError("give your name: --annotator NAME")
    return annotator


def _cell(words: tuple[str, ...]) -> tuple[str, str, int | None]:
    """Return a statement, an issue and a label. Raises UsageError for another label."""
    if len(words) != len(CELL):
        raise UsageError(f"found {' '.join(words)!r}; give {' '.join(CELL)}")
    ref, issue, label = words
    if label.casefold() not in LABELS:
        raise UsageError(f"found the label {label!r}; give one of: {', '.join(LABELS)}")
    return ref, issue, LABELS[label.casefold()]


def _labelled(ref: str, issue: str, label: int | None, previous: int | None) -> Outcome:
    """Return the outcome of a label or a decision."""
    note = "" if previous == label else f" (before: {_sign(previous)})"
    data = {"ref": ref, "issue": issue, "label": label, "before": previous}
    return Outcome(f"{ref} {issue}: {_sign(label)}{note}", data)


def _sign(label: int | None) -> str:
    if label is None:
        return "none"
    return f"{label:+d}" if label else "0"
