"""From tables of answers to what is said of a model, in numbers and in words: changes with their
tests, biases, perturbations and the score; and two models compared.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from workbench.audits.response_bias.answers import CONDITIONS, Table
from workbench.audits.response_bias.changes import (
    LARGEST,
    NOT_FIRST,
    RESOLUTION,
    Deltas,
    Dropped,
    LeftOut,
    Spread,
    change_against_uncertainty,
    deltas,
    dropped,
    human_sign,
    spread,
)
from workbench.audits.response_bias.options import Adjusted, ChangeOptions, Definition, EntropyRule
from workbench.domain.choices import Bias, Perturbation
from workbench.errors import UnknownName, UsageError
from workbench.stats.arrays import FloatArray, IntArray
from workbench.stats.describe import Pearson, pearson
from workbench.stats.hypothesis_tests import MeanTest, holm, mean_test

Effect = Literal[-1, 0, 1]


@dataclass(frozen=True, slots=True)
class TopicFigure:
    """The mean change over the questions of one topic."""

    topic: str
    "empty: of the questions without one"
    delta: MeanTest
    by_chance: float
    "percentage points that letters drawn at random give, over the same questions"


@dataclass(frozen=True, slots=True)
class DrawFigure:
    """The change under one random draw of a perturbation."""

    draw: int
    delta: MeanTest
    effect: Effect
    "by its own p, never adjusted: draws show how far chance carries, they are no further claims"
    by_chance: float
    "percentage points that letters drawn at random give, over the same questions"


@dataclass(frozen=True, slots=True)
class Draws:
    """One perturbation drawn several times (appendix A.4)."""

    draws: tuple[DrawFigure, ...]
    mean: float
    "of the draws' means"
    sd: float
    "of the draws' means, divisor n - 1; NaN for one draw"
    low: float
    "the smallest mean"
    high: float
    significant: int
    "draws with a significant change"

    @property
    def agree(self) -> bool:
        """Return whether all draws say the same: significant to the same side, or none at all."""
        return len({draw.effect for draw in self.draws}) <= 1


@dataclass(frozen=True, slots=True)
class ChangeCell:
    """One bias of one model, under the bias itself or under a perturbation."""

    bias: Bias
    condition: Perturbation | None
    "None: the bias itself"
    variant: str
    "of the bias's wording, `reword`; empty for the one that counts in the score"
    deltas: Deltas
    "per question; of several draws, from the mean of its shares over those in which it takes part"
    delta: MeanTest
    "percentage points"
    beyond: MeanTest
    "of the differences from the change that letters drawn at random among those offered give"
    by_chance: float
    "percentage points that letters drawn at random give, over the same questions"
    by_first: float
    "percentage points that always taking the first option gives"
    p_adjusted: float
    "see `claim`; adjusted where the options say so"
    effect: Effect
    """1 or -1: significantly above or below 0 by the definition's sign, of `corrected` beyond
    chance as well; 0: neither"""
    human_like: Effect
    """1: significant in the direction that people show, -1: against it; 0 of perturbations, which
    people overlook"""
    spread: Spread
    "by the options that were really offered"
    spread_csv: Spread
    "by the rule of the published files"
    uncertainty: Pearson
    "over questions, |delta| against the entropy of the answers to the original"
    topics: tuple[TopicFigure, ...]
    draws: Draws
    dropped: Dropped
    "answers that `corrected` does not count; reported under every definition"
    warnings: tuple[str, ...] = ()
    "what is improbable in the files that imported answers came from"
    within_chance: bool = False
    "whether the change differs from 0, and not from that of letters drawn at random"
    by_position: float = math.nan
    """percentage points that the model's preference for the first or last option gives; NaN: it is
    not known"""
    p_position: float = 0.0
    """of no difference from that change; 0: positions do not move this bias, 1: they may give all
    of it"""

    @property
    def claim(self) -> float:
        """Return p of the claim that the answers move: under `paper` against 0; under `corrected`
        the largest p against 0, against letters drawn at random, and against the model's own
        preference for positions; 1 where the first two lie on different sides.

        Removing an option moves the answers of a model that draws letters at random, too: 2/4 - 2/5
        = +10 points of odd/even, 1/5 - 1/6 = +3.3 of opinion floating.
        """
        if (
            self.condition is not None
            or self.deltas.definition is not Definition.CORRECTED
            or not self.delta.tested
        ):
            return self.delta.p
        same_side = self.delta.mean * self.beyond.mean > 0
        if not same_side or not self.beyond.tested:
            return 1.0
        return max(self.delta.p, self.beyond.p, self.p_position)

    @property
    def within_position(self) -> bool:
        """Whether a preference for positions may give a change that differs from 0 and from
        chance.
        """
        return self.within_chance and self.p_position > max(self.delta.p, self.beyond.p)

    @property
    def place(self) -> tuple[Bias, Perturbation | None, str]:
        """Return what names the cell in its report."""
        return self.bias, self.condition, self.variant

    @property
    def scored(self) -> bool:
        """Return whether this is one of the biases over which the score is."""
        return self.condition is None and not self.variant

    @property
    def copied(self) -> bool:
        """Return whether these are the answers to another bias's perturbed questions."""
        return self.deltas.source is not self.bias

    @property
    def fewer_draws(self) -> int:
        """Return how many of the questions that take part have not every draw that was asked."""
        return int((self.deltas.draws < len(self.draws.draws)).sum())

    @property
    def unmoved(self) -> bool:
        """Return whether no question changed at all, which is plain without a test."""
        return self.delta.n > 1 and not self.delta.tested and self.delta.mean == 0

    @property
    def judged(self) -> bool:
        """Return whether one can say that the answers move, or that they do not: by a test, or
        because none did.
        """
        return self.delta.tested or self.unmoved

    @property
    def mark(self) -> str:
        """Return what stands beside a significant number: `+` or `-`, of a bias by the direction
        that people show.
        """
        return {1: "+", 0: "", -1: "-"}[self.effect if self.condition else self.human_like]

    @property
    def said(self) -> str:
        """Return the mark in words."""
        if self.delta.n == 0:
            return "no question counts"
        if self.delta.n == 1:
            return "one question is too few for a test"
        if not self.delta.tested:
            return "no change in any question" if self.unmoved else "equal changes allow no test"
        if self.effect == 0:
            if self.within_position:
                return MAY_BE_POSITION
            return "not beyond chance" if self.within_chance else "not significant"
        if self.condition is not None:
            return "significant, though people overlook it"
        return "significant, human-like" if self.human_like == 1 else "significant, opposite"


@dataclass(frozen=True, slots=True)
class HumanLikeness:
    """Whether a model changes as people do: when the bias is there, and not when it is not (figure
    3).
    """

    bias: Bias
    human_like: Effect
    perturbed: tuple[Perturbation, ...]
    "perturbations under which it changes significantly, in whichever direction"
    untested: tuple[Perturbation, ...]
    "perturbations without an answer set, and those with changes but without a test"
    tested: bool = True
    "whether the bias has a test, or moved no answer at all"

    @property
    def most_human_like(self) -> bool | None:
        """Return whether the bias moves it as it moves people, and no perturbation does; None where
        that is open.
        """
        if not self.tested:
            return None
        if self.human_like != 1 or self.perturbed:
            return False
        return None if self.untested else True


@dataclass(frozen=True, slots=True)
class Score:
    """Significant changes, +1 the one way and -1 the other, summed over biases (table 3)."""

    signed: int
    """by the definition's own sign; `paper` gives the published score, which counts allow/forbid
    above 0 as human-like"""
    human_like: int
    "by the direction that people show; the same as `signed` under `corrected`"
    biases: int
    "biases that have a test; of none nothing is said"


@dataclass(frozen=True, slots=True)
class ChangeReport:
    """Everything that is said of one model's answers under one definition."""

    model: str
    options: ChangeOptions
    cells: tuple[ChangeCell, ...]
    "by bias: the bias itself, its perturbations, other wordings of the bias"
    likeness: tuple[HumanLikeness, ...]
    "one for each bias that was asked without perturbation"
    score: Score

    def find(
        self, bias: Bias, condition: Perturbation | None = None, variant: str = ""
    ) -> ChangeCell | None:
        """Return the figures of a bias under a condition; None where nobody asked."""
        return next((cell for cell in self.cells if cell.place == (bias, condition, variant)), None)

    def cell(
        self, bias: Bias, condition: Perturbation | None = None, variant: str = ""
    ) -> ChangeCell:
        """Return the figures of a bias under a condition. Raises UnknownName where nobody asked."""
        found = self.find(bias, condition, variant)
        if found is None:
            asked = " ".join(filter(None, (bias, variant, condition)))
            raise UnknownName(
                f"{self.model} has no answers for {asked}; import them, or run it first"
            )
        return found


Topics = Mapping[tuple[Bias, str], str]
"(bias, key of the question) -> topic"

MAY_BE_POSITION = "may be position"
Place = tuple[Bias, Perturbation | None, str]
"bias, condition and variant of a cell"

_SIGN: dict[int, Effect] = {1: 1, 0: 0, -1: -1}


def judge(
    tables: Iterable[Table], options: ChangeOptions | None = None, topics: Topics | None = None
) -> ChangeReport:
    """Return everything that is said of one model.

    Score and human-likeness rest on the biases' main wordings; another variant has a cell of its
    own. Raises UsageError without tables, for those of several models, and where one set of answers
    is there twice.

    Parameters
    ----------
    tables : a table for each bias, condition and draw, in any order
    topics : of questions; figures by topic are left out without any
    """
    chosen = options or ChangeOptions()
    given = sorted(tables, key=lambda table: table.draw)
    models = sorted({table.model for table in given})
    if len(models) != 1:
        raise UsageError(
            f"found answers of {', '.join(models) or 'no model'}; give the answers of one model"
        )
    model = models[0]
    asked_cells = [
        _cell(place, asked, chosen, topics or {})
        for place, asked in _asked(given, chosen.definition).items()
    ]
    cells = _adjusted(_with_position(asked_cells), chosen)
    biases = [cell for cell in cells if cell.scored]
    tested = sum(cell.delta.tested for cell in biases)
    score = Score(
        sum(cell.effect for cell in biases), sum(cell.human_like for cell in biases), tested
    )
    return ChangeReport(
        model, chosen, tuple(cells), tuple(_likeness(cell, cells) for cell in biases), score
    )


def mean_change(found: Deltas) -> MeanTest:
    """Return the mean change in percentage points with its test."""
    return mean_test(found.values, RESOLUTION, LARGEST)


def by_topic(found: Deltas, topics: Topics) -> tuple[TopicFigure, ...]:
    """Return the mean change of each topic, in the order of their names; of questions without a
    topic last.
    """
    named = np.array([topics.get((found.bias, key), "") for key in found.keys], dtype=object)
    order = sorted(set(named), key=lambda topic: (not topic, topic))
    return tuple(
        TopicFigure(
            str(topic),
            mean_test(found.values[of], RESOLUTION, LARGEST),
            float(found.by_chance[of].mean()),
        )
        for topic in order
        for of in [named == topic]
    )


def over_draws(found: Sequence[Deltas], numbers: Sequence[int], alpha: float = 0.05) -> Draws:
    """Return each draw's change and how far the draws differ."""
    tests = [mean_change(each) for each in found]
    draws = tuple(
        DrawFigure(
            n,
            test,
            _effect(test, test.p, alpha),
            float(of.by_chance.mean()) if test.n else float("nan"),
        )
        for n, test, of in zip(numbers, tests, found, strict=True)
    )
    means = np.array([test.mean for test in tests if test.n])
    sd = float(means.std(ddof=1)) if len(means) > 1 else float("nan")
    mean, low, high = (
        float(f(means)) if len(means) else float("nan") for f in (np.mean, np.min, np.max)
    )
    return Draws(draws, mean, sd, low, high, sum(draw.effect != 0 for draw in draws))


def over_cells(cells: Iterable[ChangeCell]) -> Pearson:
    """Return the correlation of |mean change| and mean entropy of the originals, over models and
    biases (figure 8).
    """
    scored = [cell for cell in cells if cell.scored]
    return pearson(
        [abs(cell.delta.mean) / 100 for cell in scored], [cell.spread.original for cell in scored]
    )


def _asked(tables: Sequence[Table], definition: Definition) -> dict[Place, tuple[Table, ...]]:
    """Return the tables, one for each draw, of each bias and condition, in the order of a report.

    Perturbed opinion floating is odd/even's, which asks the same questions: under `paper` always,
    as in the published tables, also of a model whose opinion-floating questions were perturbed
    themselves; under `corrected` where these were not.
    """
    found: dict[Place, tuple[Table, ...]] = {}
    for table in tables:
        place = (table.bias, table.condition, table.variant)
        if table.draw in {other.draw for other in found.get(place, ())}:
            raise UsageError(f"found two sets of answers for {table.name}; give one of them")
        found[place] = (*found.get(place, ()), table)
    published = definition is not Definition.CORRECTED
    for condition in Perturbation:
        place = (Bias.OPINION_FLOAT, condition, "")
        own, lent = found.pop(place, None), found.get((Bias.ODD_EVEN, condition, ""))
        used = lent if published else own or lent
        if used is not None and (own is not None or (Bias.OPINION_FLOAT, None, "") in found):
            found[place] = used
    return dict(sorted(found.items(), key=lambda item: _order(item[0])))


def _order(place: Place) -> tuple[int, str, int]:
    bias, condition, variant = place
    return (
        list(Bias).index(bias),
        variant,
        0 if condition is None else 1 + list(Perturbation).index(condition),
    )


def _cell(
    place: Place, tables: Sequence[Table], options: ChangeOptions, topics: Topics
) -> ChangeCell:
    bias, condition, variant = place
    each = [deltas(table, options.definition, bias) for table in tables]
    found = _mean_of_draws(each)
    test = mean_change(found)
    return ChangeCell(
        bias=bias,
        condition=condition,
        variant=variant,
        deltas=found,
        delta=test,
        beyond=mean_test(found.values - found.by_chance, RESOLUTION, 2 * LARGEST),
        by_chance=float(found.by_chance.mean()) if test.n else float("nan"),
        by_first=float(found.by_first.mean()) if test.n else float("nan"),
        p_adjusted=test.p,
        effect=0,
        human_like=0,
        spread=spread(tables, "offered"),
        spread_csv=spread(tables, "csv"),
        uncertainty=change_against_uncertainty(found, tables, options.entropy),
        topics=by_topic(found, topics) if topics else (),
        draws=over_draws(each, [table.draw for table in tables], options.alpha),
        dropped=dropped(tables),
        warnings=tuple(dict.fromkeys(warning for table in tables for warning in table.warnings)),
    )


def _with_position(cells: Sequence[ChangeCell]) -> list[ChangeCell]:
    """Return the cells with the test against the model's own preference for positions, under
    `corrected` alone.

    The two orders of the same options measure the preference: their mean change is that of content
    that cancels out, as a share of what always taking the first option gives. It is negative for a
    preference for the last option.
    """
    order = next((cell for cell in cells if cell.bias is Bias.RESPONSE_ORDER and cell.scored), None)
    found = []
    for cell in cells:
        others = cell.condition is None and cell.bias is not Bias.RESPONSE_ORDER
        if others and cell.deltas.definition is Definition.CORRECTED and cell.delta.n:
            by_position, p = _position_of(cell, order)
            cell = replace(cell, by_position=by_position, p_position=p)
        found.append(cell)
    return found


def _position_of(cell: ChangeCell, order: ChangeCell | None) -> tuple[float, float]:
    """Return the change that positions alone give a bias, and the p of no difference from it."""
    reach = cell.deltas.by_first - cell.deltas.by_chance
    if abs(cell.by_first) <= RESOLUTION:
        # Then positions give a change between 0 and chance, and both are tested against.
        return (
            math.nan,
            0.0,
        )
    if order is None or order.delta.n < 2:
        return math.nan, 1.0
    preference = order.deltas.values / LARGEST
    expected = cell.deltas.by_chance + preference.mean() * reach
    rest = mean_test(cell.deltas.values - expected, RESOLUTION, 2 * LARGEST)
    spread = 0.0 if math.isnan(rest.sd) else rest.sd**2 / rest.n
    spread += float((reach.mean() * preference).var(ddof=1)) / len(preference)
    moves_beyond = rest.mean * cell.delta.mean > 0 and abs(rest.mean) > RESOLUTION
    if not moves_beyond or spread <= RESOLUTION**2 or rest.n < 2:
        return float(expected.mean()), 1.0
    from scipy.special import stdtr

    freedom = min(rest.n, len(preference)) - 1
    return float(expected.mean()), float(2 * stdtr(freedom, -abs(rest.mean) / spread**0.5))


def _mean_of_draws(draws: Sequence[Deltas]) -> Deltas:
    """Return each question's mean shares over the draws in which it takes part; the question stays
    the test's unit.

    A draw that was put to some questions alone says nothing about the others, so these keep the
    draws that they have. What is not among the first of a file in one draw takes no part in any, or
    `paper` would be about more questions.
    """
    if len(draws) == 1:
        return draws[0]
    reasons = {one.key: one.reason for draw in draws for one in draw.left_out}
    cut = {one.key for draw in draws for one in draw.left_out if one.reason == NOT_FIRST}
    keys = tuple(
        key for key in dict.fromkeys(key for draw in draws for key in draw.keys) if key not in cut
    )
    place = {key: row for row, key in enumerate(keys)}
    shares, answers = np.zeros((2, len(keys), 2))
    by_chance, by_first = np.zeros((2, len(keys)))
    times = np.zeros(len(keys), dtype=np.int64)
    for draw in draws:
        kept = np.array([key in place for key in draw.keys], dtype=np.bool_)
        rows = np.array([place[key] for key in draw.keys if key in place], dtype=np.int64)
        shares[rows] += draw.shares[kept]
        answers[rows] += draw.answers[kept]
        by_chance[rows] += draw.by_chance[kept]
        by_first[rows] += draw.by_first[kept]
        times[rows] += 1
    return replace(
        draws[0],
        keys=keys,
        shares=shares / times[:, None],
        answers=answers,
        draws=times,
        by_chance=by_chance / times,
        by_first=by_first / times,
        left_out=tuple(LeftOut(key, reason) for key, reason in reasons.items() if key not in place),
    )


def _adjusted(cells: Sequence[ChangeCell], options: ChangeOptions) -> list[ChangeCell]:
    """Return the cells with their p values adjusted and what follows from them."""
    p = np.array([cell.claim for cell in cells])
    family = np.array([_in_family(cell, options) for cell in cells], dtype=np.bool_)
    p[family] = holm(p[family])
    at = {cell.place: row for row, cell in enumerate(cells)}
    for row, cell in enumerate(cells):
        if _repeats(cell):
            p[row] = p[at[cell.deltas.source, cell.condition, cell.variant]]
    return [_marked(cell, float(each), options) for cell, each in zip(cells, p, strict=True)]


def _in_family(cell: ChangeCell, options: ChangeOptions) -> bool:
    if options.holm == "none" or (options.holm == "biases" and cell.condition is not None):
        return False
    return not _repeats(cell)


def _repeats(cell: ChangeCell) -> bool:
    """Return whether this is another cell's test, number by number, and no test of its own."""
    return cell.copied and cell.deltas.definition is not Definition.CORRECTED


def _marked(cell: ChangeCell, p: float, options: ChangeOptions) -> ChangeCell:
    effect = _effect(cell.delta, p, options.alpha)
    turned = effect * human_sign(cell.bias, options.definition) if cell.condition is None else 0
    within = cell.delta.p < options.alpha <= cell.claim
    return replace(
        cell, p_adjusted=p, effect=effect, human_like=_SIGN[turned], within_chance=within
    )


def _effect(test: MeanTest, p: float, alpha: float) -> Effect:
    """Return the side of 0 to which a significant change lies; without a test there is none."""
    if not p < alpha:
        return 0
    return 1 if test.mean > 0 else -1


def _likeness(bias: ChangeCell, cells: Sequence[ChangeCell]) -> HumanLikeness:
    mine = {cell.condition: cell for cell in cells if cell.bias is bias.bias and not cell.variant}
    perturbed = tuple(each for each in Perturbation if each in mine and mine[each].effect != 0)
    untested = tuple(each for each in Perturbation if each not in mine or not mine[each].judged)
    return HumanLikeness(bias.bias, bias.human_like, perturbed, untested, bias.judged)


@dataclass(frozen=True, slots=True)
class Row:
    """One bias of one model, asked in both ways: over the questions that count in both."""

    model: str
    bias: Bias
    first: MeanTest
    second: MeanTest
    change: MeanTest
    "second minus first, paired over the questions that count in both"
    questions: Pearson
    "of the deltas over these questions"
    effects: tuple[Effect, Effect]
    "of the two ways, over these questions; by p as it is, never adjusted"
    variant: str = ""
    "of the bias's wording"
    left_out: tuple[int, int] = (0, 0)
    "questions that take part in one way alone"

    @property
    def turned(self) -> bool:
        """Return whether both ways show a significant change, to opposite sides."""
        return self.effects[0] * self.effects[1] == -1


@dataclass(frozen=True, slots=True)
class MeansCompared:
    """How the mean changes of two ways of asking relate, over models and biases."""

    correlation: Pearson
    change: float
    "mean of second - first; NaN without pairs"
    change_of_size: float
    "mean of |second| - |first|"


@dataclass(frozen=True, slots=True)
class ReportsCompared:
    """Two ways of asking, bias by bias and in all."""

    rows: tuple[Row, ...]
    means: MeansCompared


def compare(reports: Iterable[tuple[ChangeReport, ChangeReport]]) -> ReportsCompared:
    """Return the change from each first report to its second, over the biases that both have (table
    11).

    Raises UsageError where the two of a pair follow different definitions: their means do not
    compare.
    """
    rows = []
    for first, second in reports:
        names = [report.options.definition for report in (first, second)]
        if names[0] is not names[1]:
            raise UsageError(
                f"found changes by the definitions `{names[0]}` and `{names[1]}`; compare "
                "changes by one definition"
            )
        pairs = [(cell, second.find(*cell.place)) for cell in first.cells if cell.condition is None]
        alpha = first.options.alpha
        rows += [
            _row(first.model, cell, other, alpha) for cell, other in pairs if other is not None
        ]
    return ReportsCompared(
        tuple(rows), of_means([row.first.mean for row in rows], [row.second.mean for row in rows])
    )


def of_means(first: Sequence[float], second: Sequence[float]) -> MeansCompared:
    """Return how mean changes relate, a pair for each model and bias. Pairs with a NaN are left
    out.
    """
    both = np.array([first, second], dtype=np.float64).reshape(2, -1)
    both = both[:, ~np.isnan(both).any(axis=0)]
    nan = float("nan")
    change = float((both[1] - both[0]).mean()) if both.size else nan
    of_size = float((np.abs(both[1]) - np.abs(both[0])).mean()) if both.size else nan
    return MeansCompared(pearson(both[0], both[1]), change, of_size)


@dataclass(frozen=True, slots=True)
class SamplingAgreement:
    """Whether sampled answers are what the exact probabilities lead one to expect."""

    sampled: float
    "mean delta in percentage points, over the questions that count in both"
    exact: float
    error: float
    "standard error that sampling alone gives the mean of the sampled deltas"
    z: float
    "(sampled - exact) / error; NaN where sampling cannot err"
    p: float
    "two-sided, of no difference but by sampling"
    mean_square: float
    """mean over questions of ((sampled - exact) / its error)²: near 1 where every question agrees
    within sampling error"""
    n: int


def sampling_agreement(
    sampled: Table,
    exact: Table,
    definition: Definition = Definition.CORRECTED,
    bias: Bias | None = None,
) -> SamplingAgreement:
    """Return how far sampled deltas lie from exact ones in standard errors of sampling.

    With exact shares x and x' and N and N' samples, a question's delta has the variance
    100² (x (1 - x) / N + x' (1 - x') / N'); the mean's is their sum / K². The answers' spread over
    questions plays no part: both tables are of the same ones.
    """
    ours, truth = deltas(sampled, definition, bias), deltas(exact, definition, bias)
    at = _paired(ours, truth)
    x = truth.shares[at[1]]
    variance = 1e4 * (np.clip(x * (1 - x), 0, None) / ours.answers[at[0]]).sum(axis=1)
    gaps = ours.values[at[0]] - truth.values[at[1]]
    n, nan = len(gaps), float("nan")
    if n == 0:
        return SamplingAgreement(nan, nan, nan, nan, nan, nan, 0)
    error = float(np.sqrt(variance.sum()) / n)
    z = float(gaps.mean() / error) if error > RESOLUTION else nan
    squares = gaps[variance > RESOLUTION] ** 2 / variance[variance > RESOLUTION]
    mean_square = float(squares.mean()) if squares.size else nan
    mean, exact_mean = float(ours.values[at[0]].mean()), float(truth.values[at[1]].mean())
    return SamplingAgreement(mean, exact_mean, error, z, _two_sided(z), mean_square, n)


def _row(model: str, first: ChangeCell, second: ChangeCell, alpha: float) -> Row:
    at = _paired(first.deltas, second.deltas)
    values: tuple[FloatArray, FloatArray] = (
        first.deltas.values[at[0]],
        second.deltas.values[at[1]],
    )
    change = mean_test(values[1] - values[0], RESOLUTION, 2 * LARGEST)
    means = [mean_test(each, RESOLUTION, LARGEST) for each in values]
    effects = (_compare_effect(means[0], alpha), _compare_effect(means[1], alpha))
    left_out = len(first.deltas.keys) - len(at[0]), len(second.deltas.keys) - len(at[1])
    return Row(
        model,
        first.bias,
        means[0],
        means[1],
        change,
        pearson(*values),
        effects,
        first.variant,
        left_out,
    )


def _compare_effect(test: MeanTest, alpha: float) -> Effect:
    """Return the side of 0 to which a significant change lies; without a test there is none."""
    if not test.p < alpha:
        return 0
    return 1 if test.mean > 0 else -1


def _paired(first: Deltas, second: Deltas) -> tuple[IntArray, IntArray]:
    """Return the places of the questions that count in both, in the order of the first."""
    place = {key: at for at, key in enumerate(second.keys)}
    both = [(at, place[key]) for at, key in enumerate(first.keys) if key in place]
    found = np.array(both, dtype=np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _two_sided(z: float) -> float:
    from scipy.special import ndtr

    return 2 * float(ndtr(-abs(z)))


def lent_said(definition: str) -> str:
    """Say where the figures of opinion floating under a perturbation come from, where they are not
    its own.
    """
    if definition == "corrected":
        return (
            "answers to odd/even's questions by its own formula, if its own questions were "
            "not asked"
        )
    return "odd/even's figures repeated, for every model, as in the published tables"


def formula(place: Place, definition: str, source: Bias) -> str:
    """Say which shares a change is the difference of, by the letters of the original q; q' is the
    changed form.

    `source`: whose answers these are, see `deltas.Deltas`.
    """
    corrected = definition == "corrected"
    bias = place[0] if corrected else source
    if bias is Bias.ALLOW_FORBID:
        own, other = ("B", "A") if corrected else ("A", "B")
        return f"{own} in q − {own if place[1] else other} in q'"
    if bias is Bias.ACQUIESCENCE:
        return "A in q' − A in q"
    if bias is Bias.RESPONSE_ORDER:
        return "A in q − A in q', by the letters of q"
    if bias is Bias.OPINION_FLOAT:
        return f"{'the middle' if corrected else 'C'} in q − in q'"
    return f"{'beside the middle' if corrected else 'B and D'} in q' − in q"


DEFINITIONS: Mapping[Definition, str] = {
    Definition.PAPER: "as the published tables: shares of all answers; of perturbations the "
    "first 50 questions of the "
    "file, of allow/forbid all; allow/forbid is human-like below 0",
    Definition.CORRECTED: "shares of valid answers; the options of a form without its middle go "
    "by the letters of the "
    "original; allow/forbid with two options only; above 0 is human-like for every bias",
}
HOLM: Mapping[Adjusted, str] = {
    "none": "p is not adjusted, as published",
    "biases": "Holm's procedure adjusts p over a model's biases and leaves perturbations as they "
    "are",
    "all": "Holm's procedure adjusts p over a model's biases and perturbations together",
}
ENTROPIES: Mapping[EntropyRule, str] = {
    "offered": "by the options actually offered",
    "csv": "as in the published files, by the options that they record",
}
IN_A_WORD: Mapping[str, str] = {
    "significant, human-like": "human-like",
    "significant, opposite": "opposite",
    "significant, though people overlook it": "changes",
    "not significant": "n.s.",
    "not beyond chance": "chance",
    MAY_BE_POSITION: "position?",
    "no change in any question": "no change",
    "one question is too few for a test": "no test",
    "equal changes allow no test": "no test",
}
"`ChangeCell.said` where there is little room"


def definition_said(definition: Definition) -> str:
    """Return the definition by name and in words."""
    return f"Definition {definition}: {DEFINITIONS[definition]}."


def test_said(options: ChangeOptions) -> str:
    """Return what is significant."""
    return (
        f"Significant: p below {options.alpha:g}, t-test over questions, two-sided; "
        f"{HOLM[options.holm]}. "
        + "Of a bias, against 0, against the change of letters drawn at random among those "
        "offered, and against that "
        "of the model's own preference for the first or last option: all of them. "
        * (options.definition is Definition.CORRECTED)
        + "[ ]: 95 % interval."
    )


def stars(p: float, *, significant: bool) -> str:
    """Return one star for a significant p, two below .01, three below .001; nothing where it is not
    significant.

    Examples
    --------
    >>> stars(0.0212, significant=True), stars(1e-9, significant=True), stars(0.0212, significant=False)
    ('*', '***', '')
    """  # noqa: E501
    if not significant:
        return ""
    return "***" if p < 0.001 else "**" if p < 0.01 else "*"


def beside(cell: ChangeCell | None, likeness: HumanLikeness | None = None) -> str:
    """Return what stands behind a mean change in the matrix: `*** human-like ✓`; nothing where
    there is no mean.
    """
    if cell is None or math.isnan(cell.delta.mean):
        return ""
    tick = "✓" if likeness is not None and likeness.most_human_like else ""
    return " ".join(
        filter(
            None, (stars(cell.p_adjusted, significant=cell.effect != 0), IN_A_WORD[cell.said], tick)
        )
    )


def why(found: HumanLikeness) -> str:
    """Return why a model is, or is not, most human-like in a bias."""
    if not found.tested:
        return "open: too few questions for a test"
    if found.human_like != 1:
        return (
            "no: not significant"
            if found.human_like == 0
            else "no: significant in the direction opposite to people"
        )
    if found.perturbed:
        moves = "moves" if len(found.perturbed) == 1 else "move"
        return f"no: {', '.join(CONDITIONS[one] for one in found.perturbed)} {moves} it too"
    if found.untested:
        return f"open: {', '.join(CONDITIONS[one] for one in found.untested)} not tested"
    return "yes"
