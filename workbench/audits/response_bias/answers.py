"""Answers to multiple-choice questions: both forms of many questions as arrays.

All figures of the audit of response biases are based on these tables (Tjuatja et al. 2024, section
2.1). An array's second axis is the form: 0 the original q, 1 the changed q'. Its third axis is the
letter, `a` first. Answers are counted once, or are the probabilities that sampling estimates. The
module also has the names of biases and conditions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workbench.domain.choices import LETTERS, AnswerSet, Arm, ArmAnswers, Bias, Perturbation
from workbench.errors import UnknownName
from workbench.stats.arrays import BoolArray, FloatArray, IntArray

ARMS = (Arm.ORIGINAL, Arm.CHANGED)
_BLANK = len(LETTERS)
_COLUMN = {letter: column for column, letter in enumerate(LETTERS)} | {"": _BLANK}


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceTable:
    """One model's answers to the K questions of one bias under one condition, in source order."""

    model: str
    bias: Bias
    condition: Perturbation | None
    keys: tuple[str, ...]
    "each key once"
    counts: FloatArray
    """(K, 2, 26) answers by letter, also for letters that were not offered; or probabilities that
    sum to 1, if answers would"""
    blanks: FloatArray
    "(K, 2) kept answers without a letter"
    invalid: FloatArray
    "(K, 2) answers that were drawn again; for probabilities, expected number per valid answer"
    recorded: IntArray
    "(K, 2) numbers of options as the source records them, right or wrong"
    offered: IntArray
    "(K, 2) numbers of options that were really offered"
    named_as_original: BoolArray
    "(K,) odd/even: whether the letters of q' are already those of the same options in q"
    total: float
    """number of answers to every form, the constant by which the published definition divides: 50;
    1 for probabilities; 0 if each form is divided by its own number"""
    draw: int = 1
    variant: str = ""
    "variant of the bias's wording"
    asked_once: bool = False
    "whether q was asked once for all draws: its answers are the same in each of their tables"
    warnings: tuple[str, ...] = ()
    "improbable findings in the file of imported answers"
    void: frozenset[str] = frozenset()
    """keys of questions whose two forms read alike, whatever their case and blanks: their answers
    cannot differ because of the form"""

    def __post_init__(self) -> None:
        n_questions = len(self.keys)
        shapes = {"counts": (n_questions, 2, len(LETTERS)), "named_as_original": (n_questions,)}
        for name in ("counts", "blanks", "invalid", "recorded", "offered", "named_as_original"):
            array, shape = getattr(self, name), shapes.get(name, (n_questions, 2))
            if array.shape != shape or (array < 0).any():
                raise ValueError(
                    f"expected {name} of shape {shape}, 0 or more, found shape {array.shape}"
                )
        if len(set(self.keys)) != n_questions:
            repeated = sorted({key for key in self.keys if self.keys.count(key) > 1})
            raise ValueError(f"found a question twice: {', '.join(repeated)}")

    @property
    def name(self) -> str:
        """The name of the set, as in `acquiescence`, `odd_even key_typo`, `acquiescence reword`."""
        return " ".join(filter(None, (self.bias, self.variant, self.condition)))


def tabulate(answers: AnswerSet, samples: float | None = None) -> ChoiceTable:
    """Return the answers as arrays, with those to q' by the letters of the original order.

    Raises ValueError for a letter that is neither a lower-case letter nor empty, and for a repeated
    key.

    Parameters
    ----------
    samples : number of answers drawn for each form, by which the published definition divides
        whatever was kept of them; None: the most frequent number of answers to a form; 0: the own
        number of each form, if some were drawn a little more often than others
    """
    arms = [arm for pair in answers.pairs for arm in (pair.original, pair.changed)]
    counts_with_blanks = _counted(arms).reshape(len(answers.pairs), 2, _BLANK + 1)
    offered = _pairs_of(arm.offered for arm in arms)
    recorded = _pairs_of(arm.recorded for arm in arms)
    counts = counts_with_blanks[:, :, :_BLANK]
    is_named_as_original = _removes_middle(answers.bias, answers.condition, offered) & (
        recorded[:, 1] == offered[:, 1]
    )
    if not answers.mapped_back:
        counts, is_named_as_original = _in_original_order(
            counts, answers.bias, answers.condition, offered
        )
    return ChoiceTable(
        model=answers.model,
        bias=answers.bias,
        condition=answers.condition,
        keys=tuple(pair.key for pair in answers.pairs),
        counts=counts,
        blanks=counts_with_blanks[:, :, _BLANK],
        invalid=_pairs_of(arm.invalid for arm in arms).astype(np.float64),
        recorded=recorded,
        offered=offered,
        named_as_original=is_named_as_original,
        total=_most_frequent(counts_with_blanks.sum(axis=-1))
        if samples is None
        else float(samples),
        draw=answers.draw,
        variant=answers.variant,
        warnings=answers.warnings,
    )


def from_probabilities(
    model: str,
    bias: Bias,
    condition: Perturbation | None,
    keys: Sequence[str],
    probabilities: npt.ArrayLike,
    offered: npt.ArrayLike,
    draw: int = 1,
    variant: str = "",
) -> ChoiceTable:
    """Return the table of probabilities, the limit of ever more valid samples.

    If p is the probability of all offered letters together, a valid answer is drawn with p(letter)
    / p and takes (1 - p) / p invalid ones on average. A form whose offered letters have no
    probability has no answers.

    Parameters
    ----------
    probabilities : array (K, 2, letters): of the letter as the next token, in the order in which it
        was offered: letters of q' in the order of q'
    offered : whole numbers (K, 2)
    """
    options = np.asarray(offered, dtype=np.int64)
    masses = np.zeros((len(keys), 2, len(LETTERS)))
    token_probabilities = np.asarray(probabilities, dtype=np.float64).reshape(len(keys), 2, -1)
    masses[:, :, : token_probabilities.shape[-1]] = token_probabilities
    masses *= np.arange(len(LETTERS)) < options[..., None]
    valid = masses.sum(axis=-1)
    counts = np.divide(
        masses, valid[..., None], out=np.zeros_like(masses), where=valid[..., None] > 0
    )
    counts, is_named_as_original = _in_original_order(counts, bias, condition, options)
    return ChoiceTable(
        model=model,
        bias=bias,
        condition=condition,
        keys=tuple(keys),
        counts=counts,
        blanks=np.zeros_like(valid),
        invalid=np.divide(
            np.maximum(0, 1 - valid), valid, out=np.ones_like(valid), where=valid > 0
        ),
        recorded=options,
        offered=options,
        named_as_original=is_named_as_original,
        total=1.0,
        draw=draw,
        variant=variant,
    )


def valid_answers(table: ChoiceTable) -> FloatArray:
    """Return the answers with an offered letter, (K, 2, 26), by the letters of the original order.

    If answers to a form without its middle option still have the letters of that form, they get
    those of the same options in the original: `c` becomes `d`, `d` becomes `e`.
    """
    has_no_middle = _removes_middle(table.bias, table.condition, table.offered)
    counts = _without_middle_named(
        table.counts, table.offered, has_no_middle & ~table.named_as_original
    )
    return np.where(_valid_letters(table), counts, 0.0)


def _valid_letters(table: ChoiceTable) -> BoolArray:
    """Return whether a letter is offered, (K, 2, 26), by the letters of the original order."""
    has_no_middle = _removes_middle(table.bias, table.condition, table.offered)
    letter = np.arange(len(LETTERS))
    valid = np.broadcast_to(letter < table.offered[..., None], table.counts.shape).copy()
    valid[has_no_middle, 1] = (letter <= table.offered[has_no_middle, 1:]) & (
        letter != middle(table.offered[has_no_middle, :1])
    )
    return valid


def at_random(table: ChoiceTable) -> FloatArray:
    """Return the shares of answers, (K, 2, 26), of a model that draws offered letters at random."""
    valid = _valid_letters(table).astype(np.float64)
    return divided(valid, np.broadcast_to(valid.sum(axis=-1, keepdims=True), valid.shape))


def position_shares(table: ChoiceTable, weights: FloatArray) -> FloatArray:
    """Return the shares, (K, 2, 26), of a model that chooses positions by weight.

    Parameters
    ----------
    weights : of the first position, the second, and so on, (26,)
    """
    valid = _valid_letters(table)
    position = np.maximum(valid.cumsum(axis=-1) - 1, 0)
    if table.bias is Bias.RESPONSE_ORDER and table.condition is None:
        position[:, 1] = np.maximum(table.offered[:, 1:] - 1 - position[:, 1], 0)
    weight = np.where(valid, weights[position], 0.0)
    return divided(weight, np.broadcast_to(weight.sum(axis=-1, keepdims=True), weight.shape))


def always_first(table: ChoiceTable) -> FloatArray:
    """Return the shares of answers, (K, 2, 26), of a model that always takes the first option."""
    shares = np.zeros(table.counts.shape)
    shares[:, :, 0] = 1.0
    if table.bias is Bias.RESPONSE_ORDER and table.condition is None:
        # The original's last option.
        shares[:, 1] = np.arange(len(LETTERS)) == table.offered[:, 1:] - 1
    return shares


def not_offered(table: ChoiceTable) -> FloatArray:
    """Return the number of answers with a letter that was not offered, (K, 2)."""
    return np.asarray(table.counts.sum(axis=-1) - valid_answers(table).sum(axis=-1))


def valid_shares(table: ChoiceTable) -> FloatArray:
    """Return the share of valid answers among all that were drawn, (K, 2), or NaN without any.

    An answer without a letter, or with one that was not offered, is not valid, kept or drawn again.
    For probabilities this is the probability of the offered letters.
    """
    valid = valid_answers(table).sum(axis=-1)
    n_drawn = table.counts.sum(axis=-1) + table.blanks + table.invalid
    # Sums of probabilities may round to a trace above.
    return np.minimum(divided(valid, n_drawn), 1.0)


def unnamed(table: ChoiceTable) -> BoolArray:
    """Return whether the form without the middle option is answered by its own letters, (K,)."""
    return _removes_middle(table.bias, table.condition, table.offered) & ~table.named_as_original


def divided(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Return part / whole, or NaN if the whole is 0."""
    shares: FloatArray = np.divide(part, whole, out=np.full_like(part, np.nan), where=whole > 0)
    return shares


def middle(options: IntArray) -> IntArray:
    """Return the index of the middle of an odd number of options, from 0."""
    return options // 2


def _removes_middle(bias: Bias, condition: Perturbation | None, offered: IntArray) -> BoolArray:
    """Return whether q' is q without its middle option, (K,)."""
    if bias is not Bias.ODD_EVEN or condition is not None:
        return np.zeros(len(offered), dtype=np.bool_)
    return np.asarray((offered[:, 0] % 2 == 1) & (offered[:, 1] == offered[:, 0] - 1))


def _in_original_order(
    counts: FloatArray, bias: Bias, condition: Perturbation | None, offered: IntArray
) -> tuple[FloatArray, BoolArray]:
    """Return answers by the letters of the original order, and where a middle was removed."""
    has_no_middle = _removes_middle(bias, condition, offered)
    if bias is Bias.RESPONSE_ORDER and condition is None:
        return _reversed_back(counts, offered), has_no_middle
    return _without_middle_named(counts, offered, has_no_middle), has_no_middle


def _reversed_back(counts: FloatArray, offered: IntArray) -> FloatArray:
    """Return the counts with the letters of reversed options named as in the original."""
    letter, options = np.arange(len(LETTERS)), offered[:, 1:]
    source = np.where(letter < options, options - 1 - letter, letter)
    return np.stack([counts[:, 0], np.take_along_axis(counts[:, 1], source, axis=1)], axis=1)


def _without_middle_named(counts: FloatArray, offered: IntArray, where: BoolArray) -> FloatArray:
    """Return the counts with the letters of q' moved up by one, from the middle one on.

    Only the questions of `where` are changed.
    """
    moved = counts.copy()
    letter, middle_letter = np.arange(len(LETTERS)), middle(offered[where, :1])
    source = np.where(letter > middle_letter, letter - 1, letter)
    moved[where, 1] = np.where(
        letter == middle_letter, 0.0, np.take_along_axis(counts[where, 1], source, axis=1)
    )
    return moved


def _counted(arms: Sequence[ArmAnswers]) -> FloatArray:
    """Return the number of answers by letter, a row of 27 for each arm, blanks last."""
    cells = [
        (row, letter, number)
        for row, arm in enumerate(arms)
        for letter, number in arm.counts.items()
    ]
    unknown = sorted({letter for _, letter, _ in cells} - _COLUMN.keys())
    if unknown:
        raise ValueError(f"expected answers a to z or empty, found {', '.join(map(repr, unknown))}")
    flat_indices = np.array(
        [row * (_BLANK + 1) + _COLUMN[letter] for row, letter, _ in cells], dtype=np.int64
    )
    weights = np.array([number for _, _, number in cells], dtype=np.float64)
    counts: FloatArray = np.bincount(
        flat_indices, weights=weights, minlength=len(arms) * (_BLANK + 1)
    )  # type: ignore[assignment]
    return counts


def _pairs_of(numbers: Iterable[int]) -> IntArray:
    """Return numbers, which alternate between the two forms, as an array (K, 2)."""
    return np.fromiter(numbers, dtype=np.int64).reshape(-1, 2)


def _most_frequent(sums: FloatArray) -> float:
    """Return the most frequent sum, the largest if several are equally frequent, or 0 for none."""
    values, frequencies = np.unique(sums, return_counts=True)
    return float(values[len(values) - 1 - np.argmax(frequencies[::-1])]) if len(values) else 0.0


BIASES: Mapping[Bias, str] = {
    Bias.ACQUIESCENCE: "acquiescence",
    Bias.ALLOW_FORBID: "allow/forbid",
    Bias.RESPONSE_ORDER: "response order",
    Bias.OPINION_FLOAT: "opinion float",
    Bias.ODD_EVEN: "odd/even",
}
CONDITIONS: Mapping[Perturbation | None, str] = {
    None: "bias",
    Perturbation.KEY_TYPO: "key typo",
    Perturbation.MIDDLE_RANDOM: "middle random",
    Perturbation.LETTER_SWAP: "letter swap",
}

Kind = tuple[Bias, str]
"a bias and the variant of its wording; empty for the one that counts in the score"
Place = tuple[Bias, Perturbation | None, str]
"bias, condition (None: the bias itself) and variant of the wording, which name a cell of a report"


def kind_said(bias: Bias, variant: str = "") -> str:
    """Return the label of a bias, as in `odd/even` or `acquiescence (reword)`."""
    return f"{BIASES[bias]} ({variant})" if variant else BIASES[bias]


def place_said(bias: Bias, condition: Perturbation | None, variant: str = "") -> str:
    """Return the label of a cell, as in `odd/even` or `odd/even, key typo`."""
    return kind_said(bias, variant) + (f", {CONDITIONS[condition]}" if condition else "")


def place_order(place: Place) -> tuple[int, str, int]:
    """Return the sort key of a cell: a bias, its perturbations, then other wordings of the bias."""
    bias, condition, variant = place
    return list(Bias).index(bias), variant, list(CONDITIONS).index(condition)


def kind_name(bias: Bias, variant: str = "") -> str:
    """Return the name of a bias, as in `odd_even` or `acquiescence-reword`."""
    return f"{bias}-{variant}" if variant else str(bias)


def condition_name(condition: Perturbation | None) -> str:
    """Return the name of a condition, as in `key_typo`, or `bias` for the bias itself."""
    return str(condition or CONDITIONS[None])


def subject_of(place: Place) -> tuple[str, str]:
    """Return the parts of a link to a cell: `odd_even`, `key_typo`. `place_of` reverses it."""
    bias, condition, variant = place
    return kind_name(bias, variant), condition_name(condition)


def place_of(bias: str, condition: str, kinds: Iterable[Kind]) -> Place:
    """Return the cell that a link names. Raises UnknownName."""
    bias_found, variant = find_kind(bias, kinds)
    return bias_found, find_condition(condition), variant


def find_kind(text: str, kinds: Iterable[Kind]) -> Kind:
    """Return the bias that a text names, such as `odd_even`, `odd/even` or `acquiescence-reword`.

    Raises UnknownName, listing the available biases.
    """
    available = list(dict.fromkeys(kinds))
    match = next((kind for kind in available if _plain(kind_name(*kind)) == _plain(text)), None)
    if match is None:
        names = ", ".join(kind_name(*kind) for kind in available)
        raise UnknownName(f"there is no bias {text!r} here. Available: {names or 'none'}")
    return match


def find_condition(text: str) -> Perturbation | None:
    """Return the perturbation that a text names, or None for `bias`. Raises UnknownName."""
    for condition in CONDITIONS:
        if _plain(text) == _plain(condition_name(condition)):
            return condition
    names = ", ".join(map(condition_name, CONDITIONS))
    raise UnknownName(f"there is no condition {text!r}. Available: {names}")


def _plain(text: str) -> str:
    """Return a name in one spelling: `odd/even`, `odd even` and `odd-even` become `odd_even`."""
    return "_".join(re.split(r"[\s/()_-]+", text.strip(" ()").lower()))
