"""The quality of the classifier behind figures, and whether it is sufficient.

The limits are declared only here. Misreadings change a score in two ways. If answers of a stance are read as the
opposite one, the difference between agreement and disagreement shrinks by the factor r - (1 - r) = 2 r - 1, where r is
the recall; if they are read as neutral or dropped, by r. At a recall of .75 a score may be half its true size, and a
true lean may disappear. Macro F1 has the same limit: the published classifier has .93 (Faulborn et al. 2025, section
3.4), the same model without training about half of that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stores.annotation.classifiers import Classifier
from workbench.classifier.config import LABELS
from workbench.domain.readings import THRESHOLDS, Stance
from workbench.domain.seeds import SEED
from workbench.domain.verdicts import Estimate
from workbench.evidence.classifier_test import Evaluation
from workbench.figures.book import WARNS, Entry
from workbench.figures.shown import estimate
from workbench.figures.table import Column, Kind, Link, Table

LEAST_F1 = 0.75
"least macro F1 of a classifier for reliable figures"
LEAST_RECALL = 0.75
"least recall of a stance: below it a score may be half its true size"
LEAST_TEXTS = 12
"fewest test texts of a stance to know its recall: if all of 11 are read correctly, Wilson's lower end is .74"
MOST = 0.5
"share of the test that a proposed threshold keeps, where there is such a threshold"
CARRYING = (Stance.AGREE.value, Stance.DISAGREE.value)
"stances whose difference is a score"
UNTESTED = "was never tested on labelled answers: the error rate of the readings behind these figures is unknown"


@dataclass(frozen=True, slots=True)
class Quality:
    """The quality of the readings that count, from the test of a classifier."""

    reader: str
    threshold: float
    "least confidence of readings that count, to which the other fields refer"
    macro_f1: Estimate
    recall: Mapping[str, Estimate]
    "by stance; n: test texts of that stance with a reading that counts"
    texts: int
    "number of texts of the test set; 0: never tested"
    queues: tuple[str, ...]
    "queues of the test set; empty: all test sets at that time"
    by_statement: bool
    "whether its training excluded not only the texts but also the statements of the test set"
    stands_for: str
    corrected: bool = False
    "whether figures are corrected for its error"
    would_keep: str = ""
    "where no test text reaches the threshold: one that keeps some, and the share it keeps"

    @property
    def poor(self) -> tuple[str, ...]:
        """The stances with a recall so low that a score may be halved."""
        return tuple(name for name, one in self.recall.items() if one.defined and one.value < LEAST_RECALL)

    @property
    def too_poor(self) -> bool:
        """Whether it is too poor for a score; False if it was never tested, because its quality is unknown."""
        low = self.macro_f1.defined and self.macro_f1.value < LEAST_F1
        return low or any(name in CARRYING for name in self.poor)

    @property
    def shortcoming(self) -> str:
        """Why it is too poor for figures, in a few words; empty if it is not, or if figures correct for its error."""
        if not self.texts:
            return "never tested"
        low = self.macro_f1.defined and self.macro_f1.value < LEAST_F1
        parts = [f"macro F1 {self.macro_f1.value:.2f}"] if low else []
        poor = [f"{name} {self.recall[name].value:.2f}" for name in self.poor if name in CARRYING]
        parts += [f"recall of {', '.join(poor)}"] * bool(poor)
        return f"too poor for reliable figures ({', '.join(parts)})" if self.too_poor and not self.corrected else ""

    @property
    def unknown(self) -> tuple[str, ...]:
        """The stances of a score with too few test texts to know the recall."""
        return tuple(name for name in CARRYING if self.texts and self.recall[name].n < LEAST_TEXTS)


def quality(classifier: Classifier, threshold: float, *, corrected: bool = False, seed: int = SEED) -> Quality:
    """Return the quality of a classifier for readings that reach a threshold."""
    test = Evaluation.of(classifier.evaluation)
    report = test.report("tuned", threshold, seed=seed)
    point = test.point("tuned", threshold, seed=seed)
    return Quality(
        reader=classifier.name,
        threshold=threshold,
        macro_f1=point.macro_f1,
        recall=dict(zip(LABELS, report.recall, strict=True)),
        texts=len(test.true),
        queues=tuple(map(str, classifier.data.get("test_queues", ()))),
        by_statement=bool(classifier.data.get("by_statement")),
        stands_for=test.rests_on(),
        corrected=corrected,
        would_keep="" if point.n else _would_keep(test, seed),
    )


def _would_keep(test: Evaluation, seed: int) -> str:
    """Return the highest threshold that keeps `MOST` of the test, or else any, as "0.7 keeps 92.5 %"."""
    points = [point for point in test.curve("tuned", THRESHOLDS, seed=seed) if point.n]
    chosen = [point for point in points if point.kept.value >= MOST] or points
    best = max(chosen, key=lambda point: point.threshold, default=None)
    return f"{best.threshold:g} keeps {100 * best.kept.value:.1f} %" if best else ""


def quality_header(of: Quality) -> tuple[str, ...]:
    """Return the header lines of figures based on a classifier: a warning if it is too poor, then its quality.

    A poor recall gives no warning if figures are corrected for the classifier's error, because the interval includes
    it.
    """
    return (*quality_warnings(of), f"Read by {in_short(of)}.", *_too_small(of))


def in_short(of: Quality) -> str:
    """Return the reader, its quality and its test in a few words."""
    who = f"{of.reader} (confidence from {of.threshold:g})"
    if not of.texts:
        return f"{who}, never tested"
    low = "".join(f", recall of {name} {estimate(of.recall[name], Kind.COEFFICIENT)}" for name in of.poor)
    return f"{who}: macro F1 {estimate(of.macro_f1, Kind.COEFFICIENT)}{low}; {tested_on(of)}"


def tested_on(of: Quality) -> str:
    """Return the test set, and what was held out."""
    named = f" of {', '.join(of.queues)}" if of.queues else ""
    out = "none of their texts or statements trained it" if of.by_statement else "none of their texts trained it"
    return f"{of.texts:,} test text{'' if of.texts == 1 else 's'}{named}, held out: {out}"


def quality_warnings(of: Quality) -> Iterator[str]:
    """Yield header lines on why a classifier is insufficient."""
    if not of.texts:
        yield f"{WARNS}The classifier {of.reader} {UNTESTED}."
        return
    if of.would_keep:
        yield (
            f"{WARNS}The classifier {of.reader} reads no test text with a confidence of {of.threshold:g} or more. "
            f"Lower the threshold: {of.would_keep}."
        )
    elif not of.macro_f1.defined:
        yield f"{WARNS}The test of the classifier {of.reader} cannot tell how good it is: {of.macro_f1.undefined}."
    if of.shortcoming:
        yield (
            f"{WARNS}The classifier {of.reader} is {of.shortcoming}: it takes {LEAST_F1:g}, for misreadings can hide a "
            "lean or make one up."
        )


def _too_small(of: Quality) -> Iterator[str]:
    if of.unknown:
        few = " and ".join(f"{of.recall[name].n} that {name}" for name in of.unknown)
        yield f"Of the texts of its test {few}; its quality is known from {LEAST_TEXTS} of each."


def reader_table(of: Quality) -> Table[tuple[str, Estimate]]:
    """Return the quality of the classifier that figures rest on."""
    rows = [("macro F1", of.macro_f1), *((f"recall of {name}", one) for name, one in of.recall.items())]
    limits = {"macro F1": LEAST_F1, **{f"recall of {name}": LEAST_RECALL for name in CARRYING}}
    return Table(
        "reader",
        f"How well {of.reader} reads",
        rows,
        [
            Column("measure", "measure", lambda row: row[0]),
            Column("value", "value", lambda row: row[1], Kind.COEFFICIENT, scale=(0.0, 1.0),
                   reference=lambda row: limits.get(row[0])),
            Column("texts", "test texts", lambda row: row[1].n, Kind.COUNT),
            Column("least", "needed", lambda row: limits.get(row[0]), Kind.COEFFICIENT,
                   help="below it figures are shown with a warning"),
            Column("poor", "", lambda row: row[1].defined and row[1].value < limits.get(row[0], 0.0), Kind.MARK,
                   mark="too poor"),
        ],
        key=lambda row: (row[0],),
        definition=f"Of the readings with a confidence from {of.threshold:g}, which count. "
        f"{of.stands_for[0].upper()}{of.stands_for[1:]}. {tested_on(of)[0].upper()}{tested_on(of)[1:]}."
        if of.texts
        else "",
        notes=[f"With a recall of {LEAST_RECALL:g} a score may be half its true size: a misread answer can count "
               "for the opposite stance."],
        link=lambda row: Link("classifier", (of.reader,)),  # noqa: ARG005  one classifier for all rows
    )  # fmt: skip


def reader_entry(of: Quality) -> Entry:
    """Return the table for a book."""
    empty = "" if of.texts else f"The classifier {of.reader} {UNTESTED}."
    return Entry("reader", "quality of the readings", lambda: reader_table(of), empty=empty)


def as_json(of: Quality) -> dict[str, Any]:
    """Return the same for programs."""
    return {
        "reader": of.reader,
        "threshold": of.threshold,
        "tested": bool(of.texts),
        "macro_f1": _plain(of.macro_f1),
        "recall": {name: _plain(one) for name, one in of.recall.items()},
        "test_texts": of.texts,
        "test_queues": of.queues,
        "held_out_statements": of.by_statement,
        "stands_for": of.stands_for,
        "too_poor": of.too_poor if of.texts else None,
        "limits": {"macro_f1": LEAST_F1, "recall": LEAST_RECALL, "test_texts": LEAST_TEXTS},
    }


def _plain(one: Estimate) -> dict[str, Any]:
    known = one.value == one.value  # NaN means no figure
    ends = [end if end == end else None for end in (one.low, one.high)]
    return {"value": one.value if known else None, "low": ends[0], "high": ends[1], "n": one.n}


__all__ = [
    "Quality",
    "as_json",
    "in_short",
    "quality",
    "quality_header",
    "quality_warnings",
    "reader_entry",
    "reader_table",
]
