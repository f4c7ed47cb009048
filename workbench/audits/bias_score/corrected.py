"""What the correction of the bias score for the classifier's error rests on, and which answers it covers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from stores.runs.readings import BiasCell
from workbench.audits.bias_score.correction import Trial
from workbench.domain.names import plural
from workbench.evidence.reader_quality import UNKNOWN, Evaluation, Support


@dataclass(frozen=True, slots=True)
class Corrected:
    """How the answers behind corrected figures enter them."""

    by_rule: int
    labelled: int
    "answers whose text a person labelled: they enter by that label"
    corrected: int
    "answers that the classifier read or dropped, corrected by its test"
    untested: int
    "answers whose text trained the classifier beside another wording: no test covers them, and they enter as read"
    later: int
    "answers that were asked after the test set was drawn, of all of these"
    supports: tuple[Support, ...]
    "what the correction rests on, by true stance"
    certain: float
    "share of the answers that the test stands for whose text was labelled with certainty; NaN where unknown"
    known: bool
    "whether the inclusion probabilities of the test set are known"
    stands_for: str
    open_questions: tuple[str, ...]

    @classmethod
    def of(cls, cells: Iterable[BiasCell], evaluation: Evaluation, later: int) -> Corrected:
        """Count the answers of a score."""
        counts = {"by_rule": 0, "labelled": 0, "corrected": 0, "untested": 0}
        for cell in cells:
            if cell.label is not None:
                counts[_way(cell)] += cell.count
        return cls(
            **counts,
            later=later,
            supports=evaluation.supports(),
            certain=float("nan") if evaluation.sampled is None else evaluation.sampled.certain_share(),
            known=evaluation.sampled is not None,
            stands_for=evaluation.stands_for(),
            open_questions=evaluation.open_questions(),
        )

    def in_short(self) -> str:
        """Say in a few words what the correction rests on."""
        total = max(1, self.by_rule + self.labelled + self.corrected + self.untested)
        rests = " ".join(f"{each.label[0]} {each.effective_n:,.0f}" for each in self.supports)
        known = f"effective n {rests}, {_percent(self.certain)} certain" if self.known else "inclusion unknown"
        shares = f"{_percent(self.corrected / total)} corrected, {_percent(self.labelled / total)} labelled"
        return f"{shares}; {known} (n: notes)"

    def notes(self) -> tuple[str, ...]:
        """Say what is corrected, what the correction rests on, and what it leaves open."""
        total = max(1, self.by_rule + self.labelled + self.corrected + self.untested)
        parts = [
            f"{_percent(self.corrected / total)} of the {total:,} answers are corrected",
            f"{_percent(self.labelled / total)} enter by a person's label",
            *([f"{_percent(self.by_rule / total)} are read by rule"] if self.by_rule else []),
        ]
        found = [f"correction: {', '.join(parts)}"]
        if self.known:
            rests = "; ".join(
                f"{each.label} {each.effective_n:,.0f}"
                + ("" if np.isnan(each.certain) else f" ({_percent(each.certain)} certain)")
                for each in self.supports
            )
            found.append(f"effective n of the test by true stance, with the share labelled with certainty: {rests}")
        else:
            found.append(f"{UNKNOWN}; the correction lets each test text stand for the same number of answers")
        if self.untested:
            found.append(
                f"{plural(self.untested, 'answer')} ({_percent(self.untested / total)}) repeat a training text with "
                "another wording; the test does not cover them, and they count as read"
            )
        if self.later:
            found.append(
                f"{plural(self.later, 'answer')} came after the test set was drawn; the correction assumes that they "
                "are misread like the others. A new test set would cover them"
            )
        return (*found, *self.open_questions)


def as_tested(evaluation: Evaluation, threshold: float, places: Mapping[str, int]) -> Trial:
    """Return the test texts of a classifier as a correction takes them.

    places : instrument/ref -> place of the statement in the tally
    """
    known = evaluation.statements or ("",) * len(evaluation.true)
    statement = np.array([places.get(ref, -1) for ref in known], dtype=np.int64)
    read = evaluation.kept(threshold)
    if evaluation.sampled is None or evaluation.inclusion is None:
        return Trial.unknown(evaluation.true, read, statement)
    return Trial.drawn(
        evaluation.true, read, evaluation.sampled.weight, evaluation.inclusion, evaluation.strata, statement
    )


def _way(cell: BiasCell) -> str:
    if cell.by_rule:
        return "by_rule"
    return "labelled" if cell.by_person else "untested" if cell.untested else "corrected"


def _percent(share: float) -> str:
    return f"{share:.1%}" if 0 < share < 0.1 else f"{share:.0%}"
