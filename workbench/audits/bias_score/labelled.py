"""The correction of stances by labelled answers that were drawn with known probabilities.

The correction is that of `workbench.stats.prediction_powered`, by model and side. No figure rests
on the classifier's readings of another model, of another side, or of answers outside the selection.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from workbench.audits.bias_score.counting import SIDES, Tally, TallySelection, kept
from workbench.domain.names import plural
from workbench.domain.readings import STANCES
from workbench.stats.arrays import BoolArray, FloatArray, IntArray
from workbench.stats.prediction_powered import MIN_LABELS, MIN_UNUSUAL, rectified_sums

NET = np.array([1.0, -1.0, 0.0, 0.0])
"by stance: the amount added to A - D"
COUNTED = np.array([1.0, 1.0, 1.0, 0.0])
"by stance: the amount added to A + D + N; unrelated answers do not count"
SUMS = np.stack([NET, COUNTED], axis=1)
BELOW = len(STANCES)
"index of a reading below the threshold, after the stances"
TURNED = [*(STANCES.index(stance.flipped) for stance in STANCES), BELOW]
"indices of stances and readings on a wording that reverses its statement"
MIN_STATEMENTS = 4
"the fewest statements of a side for an interval, and the fewest of them with a drawn label"
MIN_UNUSUAL_STATEMENTS = 6
"the fewest statements of a side that are answered otherwise than most, for an interval"


@dataclass(frozen=True, eq=False)
class DrawnLabels:
    """Labelled answers that were drawn with known probabilities.

    There is one row for each text in each cell of the tally.
    """

    cell: IntArray
    "(n, 4) indices of model, prefix, statement and wording"
    label: IntArray
    "(n,) indices in `STANCES`, as on the wording"
    reading: IntArray
    "(n,) the classifier's, `BELOW` if it is below the threshold"
    weight: FloatArray
    "(n,) answers without a label that the row represents"
    text: IntArray
    "(n,) number of the text: a text that several models gave has several rows"

    def of_pick(self, chosen: TallySelection) -> BoolArray:
        """Return whether each row represents answers of a pick: (n,)."""
        model, *cell_index = self.cell.T
        inside = (model == chosen.model) & chosen.cells[tuple(cell_index)] & (self.weight > 0)
        return np.asarray(inside & (not chosen.rule_only))


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """The labels that a corrected figure of one side rests on."""

    needed: bool
    "whether there are answers without a label"
    texts: int = 0
    "labelled texts"
    unusual: int = 0
    "those of them with another label than most"
    statements: int = 0
    "the number of statements that these texts are about"
    unusual_statements: int = 0
    "the number of statements with a label other than most"

    @property
    def lacking(self) -> str:
        """The reason for having no figure, or an empty string."""
        if not self.needed or self.texts >= MIN_LABELS:
            return ""
        return (
            f"{plural(self.texts, 'labelled text')} drawn with a known probability, "
            f"{MIN_LABELS} needed"
        )

    @property
    def too_alike(self) -> bool:
        """Whether there is no interval because labels are too alike, or on too few statements.

        Where nearly all answers agree, a study has an interval only if its labels happen to differ
        more than usual. Such intervals held a bias in 78 % of studies while six unusual labels on
        one statement were enough.
        """
        if not self.needed:
            return False
        return (
            self.unusual < MIN_UNUSUAL
            or self.statements < MIN_STATEMENTS
            or self.unusual_statements < min(MIN_UNUSUAL_STATEMENTS, self.statements - 1)
        )


def basis(tally: Tally, drawn: DrawnLabels, chosen: TallySelection) -> tuple[LabelCounts, ...]:
    """Return the labels that the corrected figures of a pick rest on, for each side."""
    rows = drawn.of_pick(chosen)
    flipped = tally.flipped[drawn.cell[:, 0], drawn.cell[:, 2], drawn.cell[:, 3]]
    stances = np.where(flipped, np.array(TURNED)[drawn.label], drawn.label)
    unread = _unlabelled(tally, chosen).sum(axis=(1, 2))
    label_counts = []
    for side in range(len(SIDES)):
        side_rows = rows & (tally.side[drawn.cell[:, 2]] == side)
        labels = dict(zip(drawn.text[side_rows].tolist(), stances[side_rows].tolist(), strict=True))
        counts = Counter(labels.values())
        most_frequent = max(counts, key=lambda stance: counts[stance], default=-1)
        is_unusual = side_rows & (stances != most_frequent)
        label_counts.append(
            LabelCounts(
                needed=bool(unread[tally.side == side].any()),
                texts=len(labels),
                unusual=len(labels) - counts[most_frequent],
                statements=len(set(drawn.cell[side_rows, 2].tolist())),
                unusual_statements=len(set(drawn.cell[is_unusual, 2].tolist())),
            )
        )
    return tuple(label_counts)


def uncorrected(tally: Tally, chosen: TallySelection) -> FloatArray:
    """Return A - D and A + D + N of a pick by statement and relation: (S, 2, 2).

    The relations are: says the same, and opposite.
    """
    return np.asarray(_turned(_by_reader(tally, chosen).sum(axis=1)) @ SUMS)


def corrected(tally: Tally, drawn: DrawnLabels, chosen: TallySelection) -> FloatArray:
    """Return `uncorrected`, corrected by labels: (S, 2, 2).

    It is NaN on a side with fewer than `MIN_LABELS` texts.
    """
    labelled_counts = _turned(_by_reader(tally, chosen)[:, 1:].sum(axis=1))
    unread = _turned(_unlabelled(tally, chosen))
    represented = np.zeros((len(tally.items), 2, len(STANCES), BELOW + 1))
    rows = np.flatnonzero(drawn.of_pick(chosen))
    model, _, statement, wording = drawn.cell[rows].T
    relation = tally.flipped[model, statement, wording].astype(np.int64)
    np.add.at(
        represented,
        (statement, relation, drawn.label[rows], drawn.reading[rows]),
        drawn.weight[rows],
    )
    # labels and readings of opposites are reversed, as in `_turned`
    represented[:, 1] = represented[:, 1][:, TURNED[:-1]][:, :, TURNED]
    sums_by_statement = np.zeros((len(tally.items), 2, 2))
    for side, label_counts in enumerate(basis(tally, drawn, chosen)):
        on_side = tally.side == side
        if label_counts.lacking:
            sums_by_statement[on_side] = np.nan
        else:
            sums = rectified_sums(
                _cells(labelled_counts[on_side]),
                _cells(unread[on_side]),
                _cells(represented[on_side]),
                label_counts.texts,
                SUMS,
            )
            sums_by_statement[on_side] = sums.reshape(-1, 2, 2)
    return sums_by_statement


def _cells(part: IntArray | FloatArray) -> IntArray | FloatArray:
    """Return (S, 2, ...) as (2 S, ...)."""
    return part.reshape(-1, *part.shape[2:])


def _by_reader(tally: Tally, chosen: TallySelection) -> IntArray:
    """Return a pick's kept readings: (S, readers, 2, 4). The first reader is the classifier."""
    counts = kept(tally, chosen)
    return counts.reshape(len(counts), -1, 2, len(STANCES))


def _unlabelled(tally: Tally, chosen: TallySelection) -> IntArray:
    """Return the answers that only the classifier read: (S, 2, 5).

    Those below the threshold are last.
    """
    if chosen.rule_only:
        return np.zeros((len(tally.items), 2, BELOW + 1), dtype=np.int64)
    below = tally.dropped[chosen.model] * chosen.cells
    flipped = tally.flipped[chosen.model]
    by_relation = np.stack(
        [(below * has_relation).sum(axis=(0, 2)) for has_relation in (~flipped, flipped)], axis=1
    )
    return np.concatenate([_by_reader(tally, chosen)[:, 0], by_relation[..., None]], axis=-1)


def _turned(counts: IntArray) -> IntArray:
    """Return stances on wordings, (S, 2, 4 or 5), as stances on the statements.

    The second axis is the relation of the wording.
    """
    turned = counts.copy()
    turned[:, 1] = counts[:, 1][:, TURNED[: counts.shape[-1]]]
    return turned


@dataclass(frozen=True, slots=True)
class LabelledRow:
    """A labelled answer before it enters the arrays of drawn labels."""

    cell: tuple[int, int, int, int]
    label: str
    reading: str | None
    "None if it is below the threshold"
    answers: int
    text: int


def drawn_labels(rows: Iterable[LabelledRow], weights: dict[int, float]) -> DrawnLabels:
    """Return labelled answers with the answers that they represent.

    Parameters
    ----------
    weights : by text: the number of answers without a label that one of its answers represents.
        Only rows of these texts are used
    """
    index_by_stance = {stance.value: index for index, stance in enumerate(STANCES)}
    columns: defaultdict[str, list[object]] = defaultdict(list)
    for row in rows:
        if row.text in weights:
            columns["cell"].append(row.cell)
            columns["label"].append(index_by_stance[row.label])
            columns["reading"].append(
                BELOW if row.reading is None else index_by_stance[row.reading]
            )
            columns["weight"].append(row.answers * weights[row.text])
            columns["text"].append(row.text)
    return DrawnLabels(
        cell=np.array(columns["cell"], dtype=np.int64).reshape(-1, 4),
        label=np.array(columns["label"], dtype=np.int64),
        reading=np.array(columns["reading"], dtype=np.int64),
        weight=np.array(columns["weight"], dtype=np.float64),
        text=np.array(columns["text"], dtype=np.int64),
    )
