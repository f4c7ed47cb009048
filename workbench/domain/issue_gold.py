"""Which policy-issue label counts: an adjudication, the source's own, or what most annotators said."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from workbench.domain.instruments import IssueLabel

GOLD = "gold"
"annotator of labels that a source gives without saying whose they are"
ADJUDICATION = "adjudication"
"annotator of what was decided where annotators differ"

FEWEST = 2
"people whose labels a gold label needs, where nobody chose otherwise"

Labels = Mapping[str, Mapping[str, int]]
"statement -> issue -> label"


def gold_labels(labels: Iterable[IssueLabel], *, source: bool = True, fewest: int = FEWEST) -> Labels:
    """Return the label that counts for each statement and issue; what is tied or has too few annotators has none.

    An adjudication wins; then, with `source`, the source's own label; then what more than half of the annotators said
    (Ceron et al. 2024, section 4.2: "the final gold annotations are drawn from the majority votes"), where at least
    `fewest` of them labelled it.
    """
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for (statement, issue), given in by_item(labels).items():
        label = _decided(given, source, fewest)
        if label is not None:
            found[statement][issue] = label
    return dict(found)


def by_item(labels: Iterable[IssueLabel]) -> dict[tuple[str, str], dict[str, int]]:
    """Return the labels of each statement and issue by annotator."""
    found: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for label in labels:
        found[label.statement, label.issue][label.annotator] = label.label
    return dict(found)


def majority(given: Iterable[int]) -> int | None:
    """Return the label of more than half the annotators; None without such a majority."""
    counts = Counter(given)
    label, n = counts.most_common(1)[0]
    return label if 2 * n > counts.total() else None


def _decided(given: Mapping[str, int], source: bool, fewest: int) -> int | None:
    if ADJUDICATION in given:
        return given[ADJUDICATION]
    if source and GOLD in given:
        return given[GOLD]
    people = [label for annotator, label in given.items() if annotator != GOLD]
    return majority(people) if people and len(people) >= fewest else None
