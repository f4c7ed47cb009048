"""What a model predicted, laid out target by respondent, and what each respondent adds to the figures.

Haller et al. 2025, sections 3.2 and 3.3. For a person who answered a (1 yes, 0 no) and a model with the masses p(yes)
and p(no):

    predicted = -1 where both masses are 0, 0 where p(no) > p(yes), else 1
    correct   = predicted equals a; a prompt that cannot be read (-1) is wrong
    share     = p(yes) / (p(yes) + p(no)), where one of the two is above 0

Accuracy is a mean over everybody who was asked, bias a mean of share - a over those who could be read. That the
published bias pairs people so is seen in the rows of OLMo 7B in table 2, which always said no: its bias is minus the
mean answer of the readable people, not of all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from workbench.audits.questionnaire.figures import NEVER_ASKED, Condition, Predictions
from workbench.domain.statements import VariantId
from workbench.errors import UnknownName
from workbench.stats.arrays import BoolArray, FloatArray, IntArray

NOBODY_ANSWERED = "no respondent answered yes or no"
NOT_ASKED = "the model was not asked"
RULED_OUT = "left out by a ruling"
NOT_OFFERED = "the model's backend does not report the probabilities of yes and no"
UNREADABLE = "the model put no probability on yes or no"


@dataclass(frozen=True, eq=False)
class Cell:
    """One wording of the targets under one condition. All arrays are (T, R), respondents in order of their names."""

    human: FloatArray
    present: BoolArray
    "a prompt was answered"
    yes: FloatArray
    "probability mass; NaN where there is none"
    no: FloatArray
    answers: IntArray | None = None
    "how many answers were drawn, of which the masses are shares; 0 where there is no prompt. None: probabilities"
    prompt: IntArray | None = None
    "the same number where respondents have the same prompt, and so the same answers"

    @cached_property
    def asked(self) -> BoolArray:
        """Where the person answered yes or no, and the model was asked."""
        return self.present & ~np.isnan(self.human)

    @cached_property
    def counted(self) -> BoolArray:
        """Where also the masses are known."""
        return self.asked & ~np.isnan(self.yes) & ~np.isnan(self.no)

    @cached_property
    def readable(self) -> BoolArray:
        """Where also one of them is above 0."""
        return self.counted & ((self.yes > 0) | (self.no > 0))

    @cached_property
    def says_yes(self) -> BoolArray:
        """Where yes is predicted. A tie is a yes (section 3.2)."""
        return self.readable & (self.yes >= self.no)

    @cached_property
    def correct(self) -> BoolArray:
        """Where the prediction is the person's answer."""
        return np.asarray(self.readable & (self.says_yes == (self.human == 1)))

    @cached_property
    def share(self) -> FloatArray:
        """Return the normalised p(yes); NaN where it cannot be read."""
        both = np.where(self.readable, self.yes + self.no, 1.0)
        return np.where(self.readable, self.yes / both, np.nan)

    @cached_property
    def difference(self) -> FloatArray:
        """Return share - human; NaN where it cannot be read."""
        return np.subtract(self.share, self.human)

    def why_no_accuracy(self, target: int) -> str:
        """Say why a target has no accuracy; empty where it has one."""
        if np.isnan(self.human[target]).all():
            return NOBODY_ANSWERED
        if not self.asked[target].any():
            return NOT_ASKED
        return "" if self.counted[target].any() else NOT_OFFERED

    def why_no_bias(self, target: int) -> str:
        """Say why a target has no bias; empty where it has one."""
        return self.why_no_accuracy(target) or ("" if self.readable[target].any() else UNREADABLE)

    def of(self, respondents: IntArray, targets: IntArray) -> Cell:
        """Return the same for some respondents and targets, in the order given."""
        at = np.ix_(targets, respondents)
        answers, prompt = (None if each is None else each[at] for each in (self.answers, self.prompt))
        return Cell(self.human[at], self.present[at], self.yes[at], self.no[at], answers, prompt)


class Layout:
    """Predictions, ready to be taken apart by condition and wording.

    Respondents are put in the order of their names, so that neither a figure nor its interval depends on the order in
    which a store gives them. Rows are sorted once; a cell is laid out when it is asked for, so that memory holds one
    target x respondent array and not one for every condition and wording.
    """

    def __init__(self, predictions: Predictions) -> None:
        """Raises ValueError for rows that contradict one another or lie outside of what they point into."""
        _check(predictions)
        self.predictions = predictions
        order = sorted(range(len(predictions.respondents)), key=predictions.respondents.__getitem__)
        self.respondents = tuple(predictions.respondents[place] for place in order)
        self.human = predictions.human[:, order]
        self._rank = np.empty(len(order), dtype=np.int64)
        self._rank[order] = np.arange(len(order))
        cells = predictions.condition * len(predictions.wordings) + predictions.wording
        count = len(predictions.conditions) * len(predictions.wordings)
        small = np.uint16 if count <= np.iinfo(np.uint16).max else np.int64  # numpy sorts short integers by radix
        self._rows = np.argsort(cells.astype(small), kind="stable")
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(cells, minlength=count))])

    @cached_property
    def _drawn(self) -> tuple[IntArray, ...]:
        """Return how many answers each row has, and which prompt; nothing where probabilities were computed."""
        of = self.predictions
        if of.answers is None:
            return ()
        return of.answers, np.arange(len(of.yes)) if of.prompt is None else of.prompt

    def place(self, condition: Condition) -> int:
        """Return where a condition stands. Raises UnknownName, listing those there are."""
        if condition not in self.predictions.conditions:
            there = ", ".join(map(str, self.predictions.conditions)) or "none"
            raise UnknownName(f"no prompt was asked under {str(condition)!r}. Available: {there}")
        return self.predictions.conditions.index(condition)

    def rows(self, condition: Condition, wording: VariantId) -> IntArray:
        """Return the places of a cell's rows; empty where the wording was not asked."""
        if wording not in self.predictions.wordings:
            return np.empty(0, dtype=np.int64)
        cell = self.place(condition) * len(self.predictions.wordings) + self.predictions.wordings.index(wording)
        return np.asarray(self._rows[self._starts[cell] : self._starts[cell + 1]], dtype=np.int64)

    def cell(self, condition: Condition, wording: VariantId) -> Cell:
        """Return one wording under one condition. A prompt without respondent stands for every respondent."""
        rows, made = self.rows(condition, wording), self.predictions
        yes, no = np.full(self.human.shape, np.nan), np.full(self.human.shape, np.nan)
        present = np.zeros(self.human.shape, dtype=bool)
        drawn = [(np.zeros(self.human.shape, dtype=np.int64), values) for values in self._drawn]
        everybody = made.respondent[rows] == NEVER_ASKED
        for some, who in ((rows[everybody], slice(None)), (rows[~everybody], None)):
            at = (made.target[some], self._rank[made.respondent[some]] if who is None else who)
            present[at] = True
            for of, values in ((yes, made.yes), (no, made.no), *drawn):
                of[at] = values[some] if who is None else values[some][:, np.newaxis]
        return Cell(self.human, present, yes, no, *(of for of, _ in drawn))


def _check(found: Predictions) -> None:
    """Raise ValueError for predictions that no run could have made."""
    shape = (len(found.targets), len(found.respondents))
    if found.human.shape != shape or len(found.leanings) != shape[0]:
        raise ValueError(f"expected human answers of targets x respondents {shape}, found {found.human.shape}")
    if not (np.isnan(found.human) | (found.human == 0) | (found.human == 1)).all():
        raise ValueError("human answers are 1, 0 or NaN")
    names = {"target": found.targets, "respondent": found.respondents, "condition": found.conditions}
    for kind, several in {**names, "wording": found.wordings}.items():
        if len(set(several)) < len(several):
            raise ValueError(f"found a {kind} twice among {len(several)}")
        places, lowest = getattr(found, kind), NEVER_ASKED if kind == "respondent" else 0
        if len(places) and not (places.min() >= lowest and places.max() < len(several)):
            raise ValueError(f"a row points to no {kind}")
    if (found.yes < 0).any() or (found.no < 0).any():
        raise ValueError("found a probability mass below 0")
    _check_once(found)


def _check_once(found: Predictions) -> None:
    sizes = (len(found.conditions), len(found.wordings), len(found.targets), len(found.respondents) + 1)
    key = np.zeros(len(found.yes), dtype=np.int64)
    for size, places in zip(sizes, (found.condition, found.wording, found.target, found.respondent + 1), strict=True):
        key = key * size + places
    seen = np.zeros(int(np.prod(sizes)), dtype=bool)
    seen[key] = True
    if np.count_nonzero(seen) < len(key):
        raise ValueError("found several predictions of one respondent, target, wording and condition")
