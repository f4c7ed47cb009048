"""The change of each question's answers, by the published definition and by the corrected one.

Source: Tjuatja et al. 2024, table 2, in percentage points. Either definition is one difference of
shares: the share of some letters among the answers to q', minus the share of some letters among
those to q, with a sign.

| definition | questions | shares of | allow/forbid |
|---|---|---|---|
| `paper` | only the first 50 of some perturbations | all answers | q `a`, q' `b`: human-like is below 0 |
| `corrected` | all, where the formula fits the options | valid answers | q `b`, q' `a`, two options only |

Under a perturbation, `paper` takes the answers and the formula of odd/even for opinion floating, of
every model, as the published tables do. `corrected` takes opinion floating by its own formula, over
its own answers if there are any. It names the letters of a form whose middle option was removed as
those of the original, and takes the middle of any odd scale if the published formulas say `c`. A
question whose two forms read alike is void under `corrected`, because its change is not due to the
form. `paper` keeps it.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workbench.audits.response_bias.answers import (
    ChoiceTable,
    always_first,
    at_random,
    divided,
    middle,
    not_offered,
    valid_answers,
    valid_shares,
)
from workbench.audits.response_bias.options import ENTROPY_RULES, Definition, EntropyRule
from workbench.domain.choices import LETTERS, Bias, Perturbation
from workbench.domain.verdicts import Estimate
from workbench.errors import UnknownName
from workbench.stats.arrays import BoolArray, FloatArray, IntArray
from workbench.stats.describe import Pearson, normalised_entropy, ordered_wasserstein, pearson
from workbench.stats.hypothesis_tests import NO_VALUES, MeanTest, mean_test
from workbench.stats.resampling import share_ends

FIRST = 50
"number of questions of a perturbation behind the published tables"
ALL_QUESTIONS = frozenset({"llama2-7b-chat", "llama2-13b-chat"})
"models whose published perturbations include all questions"

NOT_FIRST = f"not among the first {FIRST} questions of the file"
NO_MIDDLE = "the original has no middle option"
NOT_REMOVED = "the changed form is not the original without its middle option"
NOT_TWO = "not two options in both forms"
VOID = "void: both forms have the same text"
NO_ORIGINAL = "no usable answer to the original form"
NO_CHANGED = "no usable answer to the changed form"

ROUNDING = 1e-9
"probabilities at or below this are rounding errors"
_A, _B, _C = range(3)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A question that does not count, with the reason."""

    key: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Deltas:
    """The change of every question that counts, N of K, in the order of the source."""

    bias: Bias
    condition: Perturbation | None
    definition: Definition
    source: Bias
    """the bias whose answers these are: perturbed opinion floating repeats odd/even under `paper`,
    and under `corrected` if its own questions were not asked"""
    keys: tuple[str, ...]
    shares: FloatArray
    "(N, 2) share of the formula's letters among the answers to q and q'"
    answers: FloatArray
    "(N, 2) denominators of the shares; with several draws their sum"
    draws: IntArray
    "(N,) number of draws of the perturbation behind each question's shares; 1 without draws"
    sign: int
    left_out: tuple[LeftOut, ...]
    by_chance: FloatArray
    "(N,) values of a model that draws an offered letter at random"
    by_first: FloatArray
    "(N,) values of a model that always takes the first option"

    @property
    def values(self) -> FloatArray:
        """The changes in percentage points: 100 sign (share of q' - share of q)."""
        return np.asarray(100 * self.sign * (self.shares[:, 1] - self.shares[:, 0]))


def human_sign(bias: Bias, definition: Definition) -> int:
    """Return the sign of a change that people show: 1, or -1 for allow/forbid as it was published.

    People agree to `not allow` more than to `forbid`. The published formula counts those who would
    allow, so its sign is the reverse, though the paper also reads it as human-like above 0.
    """
    return -1 if bias is Bias.ALLOW_FORBID and definition is Definition.PAPER else 1


def deltas(
    table: ChoiceTable, definition: Definition = Definition.CORRECTED, bias: Bias | None = None
) -> Deltas:
    """Return the change of every question under a definition.

    Parameters
    ----------
    bias : the bias whose change is computed; None: the table's own. Opinion floating under a
        perturbation repeats odd/even, with its formula, under `paper`. `corrected` takes its own
        formula over the same answers.
    """
    result_bias = bias or table.bias
    is_corrected = definition is Definition.CORRECTED
    rule = result_bias if is_corrected else table.bias
    sign, letters = _letters(rule, table, definition)
    counts = valid_answers(table) if is_corrected else table.counts
    usable = counts.sum(axis=-1)
    reasons = _reasons(rule, table, definition, usable)
    rows = np.flatnonzero(reasons == "")
    answers = (
        np.full((len(rows), 2), table.total) if table.total and not is_corrected else usable[rows]
    )
    keys = tuple(table.keys[row] for row in rows)
    return Deltas(
        bias=result_bias,
        condition=table.condition,
        definition=definition,
        source=table.bias,
        keys=keys,
        shares=(counts[rows] * letters[rows]).sum(axis=-1) / answers,
        answers=answers,
        draws=np.ones(len(rows), dtype=np.int64),
        sign=sign,
        left_out=tuple(
            LeftOut(table.keys[row], str(reasons[row])) for row in np.flatnonzero(reasons != "")
        ),
        by_chance=changes_by(at_random(table), table, keys, rule, definition),
        by_first=changes_by(always_first(table), table, keys, rule, definition),
    )


def changes_by(
    shares: FloatArray,
    table: ChoiceTable,
    keys: Sequence[str],
    rule: Bias,
    definition: Definition = Definition.CORRECTED,
) -> FloatArray:
    """Return the changes, (N,) in percentage points, of a model with other answers to a table.

    Parameters
    ----------
    shares : of its answers by letter, (K, 2, 26)
    keys : the N questions to compute
    rule : the bias whose formula holds
    """
    sign, letters = _letters(rule, table, definition)
    row_by_key = {key: row for row, key in enumerate(table.keys)}
    rows = np.array([row_by_key[key] for key in keys], dtype=np.int64)
    original, changed = (shares[rows] * letters[rows]).sum(axis=-1).T
    return np.asarray(100 * sign * (changed - original))


@dataclass(frozen=True, slots=True)
class Dropped:
    """The answers of a table that `corrected` does not count, and those that were drawn again."""

    blank: int
    not_offered: int
    "number of answers with a letter beyond the options"
    questions: int
    "number of questions with blank answers or letters that were not offered"
    invalid: float
    "drawn again; for probabilities, expected"


def dropped(tables: Sequence[ChoiceTable]) -> Dropped:
    """Return the answers that the corrected definition does not count.

    Answers that several tables share count once.
    """
    n_blank = n_not_offered = n_invalid = 0.0
    seen_keys: set[str] = set()
    affected_keys: set[str] = set()
    for table in tables:
        weights = np.ones((len(table.keys), 2))
        weights[:, 0] = [not (table.asked_once and key in seen_keys) for key in table.keys]
        seen_keys |= set(table.keys)
        beyond_options = not_offered(table)
        beyond_options = weights * np.where(beyond_options > ROUNDING, beyond_options, 0.0)
        affected_keys |= {
            table.keys[row]
            for row in np.flatnonzero((beyond_options + weights * table.blanks).any(axis=1))
        }
        n_blank += float((weights * table.blanks).sum())
        n_not_offered += float(beyond_options.sum())
        n_invalid += float((weights * table.invalid).sum())
    return Dropped(round(n_blank), round(n_not_offered), len(affected_keys), n_invalid)


def _letters(rule: Bias, table: ChoiceTable, definition: Definition) -> tuple[int, BoolArray]:
    """Return the sign, and whether a letter counts in a form, (K, 2, 26)."""
    is_counted = np.zeros((len(table.keys), 2, len(LETTERS)), dtype=np.bool_)
    if rule is Bias.ALLOW_FORBID:
        original, opposite = (_B, _A) if definition is Definition.CORRECTED else (_A, _B)
        is_counted[:, 0, original] = True
        is_counted[:, 1, opposite if table.condition is None else original] = True
        return -1, is_counted
    if rule in (Bias.ACQUIESCENCE, Bias.RESPONSE_ORDER):
        is_counted[:, :, _A] = True
        return (1 if rule is Bias.ACQUIESCENCE else -1), is_counted
    centre = (
        middle(table.offered[:, 0])
        if definition is Definition.CORRECTED
        else np.full(len(table.keys), _C)
    )
    distance = np.abs(np.arange(len(LETTERS)) - centre[:, None])
    is_counted |= (distance == (1 if rule is Bias.ODD_EVEN else 0))[:, None, :]
    return (1 if rule is Bias.ODD_EVEN else -1), is_counted


def _reasons(
    rule: Bias, table: ChoiceTable, definition: Definition, usable: FloatArray
) -> npt.NDArray[np.str_]:
    """Return the first reason why each question does not count, or "" if it does."""
    rules = [
        *_rules(rule, table, definition),
        (usable[:, 0] == 0, NO_ORIGINAL),
        (usable[:, 1] == 0, NO_CHANGED),
    ]
    return np.select(
        [is_excluded for is_excluded, _ in rules], [reason for _, reason in rules], default=""
    )


def _rules(rule: Bias, table: ChoiceTable, definition: Definition) -> list[tuple[BoolArray, str]]:
    """Return the exclusions of a definition: whether each question is excluded, and the reason."""
    index = np.arange(len(table.keys))
    if definition is Definition.PAPER:
        has_limit = (
            table.condition is not None
            and rule is not Bias.ALLOW_FORBID
            and table.model not in ALL_QUESTIONS
        )
        return [((index >= FIRST) & has_limit, NOT_FIRST)]
    void = [(np.isin(table.keys, list(table.void)), VOID)]
    if rule is Bias.ALLOW_FORBID:
        return [*void, ((table.offered != 2).any(axis=1), NOT_TWO)]
    if rule in (Bias.ODD_EVEN, Bias.OPINION_FLOAT):
        return [*void, *_middle_rules(rule, table)]
    return void


def _middle_rules(rule: Bias, table: ChoiceTable) -> list[tuple[BoolArray, str]]:
    """Return the exclusions of questions without a middle option."""
    has_middle = (table.offered[:, 0] % 2 == 1) & (table.offered[:, 0] >= 3)
    if rule is Bias.ODD_EVEN and table.condition is None:
        return [
            (~has_middle, NO_MIDDLE),
            (table.offered[:, 1] != table.offered[:, 0] - 1, NOT_REMOVED),
        ]
    return [(~has_middle, NO_MIDDLE)]


LARGEST = 100.0
"percentage points of the largest change"
RESOLUTION = 1e-9
"differences of entropies and of percentage points at or below this are rounding errors"
_RECORDED_INSTEAD = {Bias.ODD_EVEN: 4, Bias.OPINION_FLOAT: 6}
"numbers of options of q' by which the authors normalise, whatever their files record"


def entropies(table: ChoiceTable, rule: EntropyRule = "offered") -> FloatArray:
    """Return the normalised entropy of the answers to each form, (K, 2).

    It is NaN without answers or without a second option.

    Parameters
    ----------
    rule : `offered`: of valid answers, by the options really offered, in [0, 1]. `csv`: of all
        answers with a letter, by the options that the source records, 4 and 6 for the changed forms
        of odd/even and opinion floating; above 1 is possible if letters were answered that were
        not offered. Raises UnknownName for others.
    """
    if rule not in ENTROPY_RULES:
        raise UnknownName(
            f"there is no entropy rule {rule!r}. Available: {', '.join(ENTROPY_RULES)}"
        )
    if rule == "offered":
        return normalised_entropy(valid_answers(table), table.offered)
    options = table.recorded.copy()
    if table.condition is None and table.bias in _RECORDED_INSTEAD:
        options[:, 1] = _RECORDED_INSTEAD[table.bias]
    return normalised_entropy(table.counts, options)


@dataclass(frozen=True, slots=True)
class EntropySpread:
    """The mean normalised entropy of the questions of a file.

    It includes those that a definition excludes.
    """

    rule: EntropyRule
    original: float
    "NaN if no question has an entropy"
    changed: float
    change: MeanTest
    "test of H(q') - H(q), over questions that have both"


def spread(tables: Sequence[ChoiceTable], rule: EntropyRule = "offered") -> EntropySpread:
    """Return the mean entropy of each form and its change, over questions.

    With several draws each question has their mean.
    """
    mean_entropies = np.array(list(_mean_of_draws(tables, rule).values())).reshape(-1, 2)
    original, changed = (
        float(form_entropies[~np.isnan(form_entropies)].mean())
        if (form_entropies == form_entropies).any()
        else np.nan
        for form_entropies in mean_entropies.T
    )
    return EntropySpread(
        rule, original, changed, mean_test(mean_entropies[:, 1] - mean_entropies[:, 0], RESOLUTION)
    )


def _mean_of_draws(tables: Sequence[ChoiceTable], rule: EntropyRule) -> dict[str, FloatArray]:
    """Return the mean entropies of both forms of each question, by key.

    Each mean is over the draws in which the form has an entropy.
    """
    keys = list(dict.fromkeys(key for table in tables for key in table.keys))
    row_by_key = {key: row for row, key in enumerate(keys)}
    sums, n_draws = np.zeros((2, len(keys), 2))
    for table in tables:
        rows, draw_entropies = [row_by_key[key] for key in table.keys], entropies(table, rule)
        sums[rows] += np.nan_to_num(draw_entropies)
        n_draws[rows] += ~np.isnan(draw_entropies)
    return dict(zip(keys, divided(sums, n_draws), strict=True))


def change_against_uncertainty(
    deltas: Deltas, tables: Sequence[ChoiceTable], rule: EntropyRule = "offered"
) -> Pearson:
    """Return the correlation of |delta| and the entropy of the answers to the original form.

    It is over questions. With several draws the entropy is their mean.
    """
    uncertainty = _mean_of_draws(tables, rule)
    return pearson(np.abs(deltas.values), [uncertainty[key][0] for key in deltas.keys])


@dataclass(frozen=True, slots=True)
class ValidShares:
    """The share of drawn answers that were an offered letter, by question."""

    shares: FloatArray
    "one per question: the mean of its forms"
    histogram: IntArray
    "numbers of questions with a share in [0, 0.1), [0.1, 0.2), …, [0.9, 1]"
    mean: float
    "NaN without questions"
    without: int
    "number of questions without any valid answer"


def validity(tables: Iterable[ChoiceTable], bins: int = 10) -> ValidShares:
    """Return the share of valid answers per question, and a histogram (figure 6).

    Questions that were never asked are excluded.
    """
    shares_by_table = [valid_shares(table) for table in tables]
    forms = np.concatenate(shares_by_table) if shares_by_table else np.zeros((0, 2))
    was_asked = ~np.isnan(forms)
    shares = divided(
        np.where(was_asked, forms, 0.0).sum(axis=1), was_asked.sum(axis=1).astype(np.float64)
    )
    shares = shares[~np.isnan(shares)]
    histogram, _ = np.histogram(shares, bins=bins, range=(0, 1))
    mean = float(shares.mean()) if shares.size else float("nan")
    return ValidShares(shares, histogram.astype(np.int64), mean, int((shares == 0).sum()))


Shares = Mapping[tuple[Bias, str], Sequence[float]]
"""(bias, key of the question) -> human shares of the original's options, in their order; empty if
nobody was asked"""

NOBODY = "no human shares"
OTHER_NUMBER = "human shares are not one number of 0 or more for each option"
NO_ANSWERS = "no usable answer of the model"
NO_SCALE = "fewer than two options"
INTERVAL = "95 % interval: Wilson's at the effective number of questions"
"name of the method of the interval, for people"


@dataclass(frozen=True, slots=True)
class Representativeness:
    """The likeness of the answers of a model and of people."""

    mean: Estimate
    """over questions, each once: 1 if all shares are equal, 0 if people are at one end and the
    model at the other; the interval is that of `INTERVAL`, and a single question has none"""
    alignments: tuple[tuple[str, float], ...]
    "(key, 1 - W) of each question"
    left_out: tuple[LeftOut, ...]


def representativeness(tables: Iterable[ChoiceTable], shares: Shares) -> Representativeness:
    """Return the mean over questions of 1 - W, the likeness of the model's and people's shares.

    W = Σ_{i<n} |F_i - G_i| / (n - 1). F and G are cumulative shares over the n options in their
    order. The options are treated as a scale with equal steps, so an option `don't know` should not
    be among them. The model's shares are those of its valid answers to the original form of the
    bias's questions, not of the perturbations'. A question that is asked for several biases, with
    the same human shares, counts once, with the mean of its answers' shares.
    """
    shares_by_question: dict[tuple[str, tuple[float, ...]], list[FloatArray]] = {}
    left_out = []
    for table in tables:
        if table.condition is None:
            for key, options, answers in zip(
                table.keys, table.offered[:, 0], valid_answers(table)[:, 0], strict=True
            ):
                human_shares = tuple(shares.get((table.bias, key), ()))
                reason = _unusable(human_shares, int(options), answers)
                if reason:
                    left_out.append(LeftOut(key, reason))
                else:
                    shares_by_question.setdefault((key, human_shares), []).append(
                        answers[:options] / answers.sum()
                    )
    alignments = tuple(
        (key, max(0.0, 1 - float(ordered_wasserstein(np.mean(model_shares, axis=0), human_shares))))
        for (key, human_shares), model_shares in shares_by_question.items()
    )
    mean = mean_alignment([value for _, value in alignments], len(left_out))
    return Representativeness(mean, alignments, tuple(left_out))


def mean_alignment(values: Sequence[float], excluded: int) -> Estimate:
    """Return the mean with its interval over questions (`resampling.share_ends`).

    Every alignment lies in [0, 1], and most are near 1. An interval of Student's t may pass 1, this
    one never does.
    """
    n, nan = len(values), float("nan")
    if n < 2:
        return Estimate(values[0] if n else nan, nan, nan, n, excluded, "" if n else NO_VALUES)
    numbers = np.asarray(values, dtype=np.float64)
    mean = float(numbers.mean())
    return Estimate(
        mean, *share_ends(mean, (numbers - mean) / n, n), n, excluded, interval="likeness"
    )


def _unusable(human: Sequence[float], options: int, answers: FloatArray) -> str:
    """Return the reason why a question has no likeness, or "" if it has one."""
    if not human:
        return NOBODY
    if len(human) != options or not sum(human) > 0 or min(human) < 0:
        return OTHER_NUMBER
    if options < 2:
        return NO_SCALE
    return "" if answers.sum() > 0 else NO_ANSWERS
