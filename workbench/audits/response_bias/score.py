"""The figures of one model: changes with their tests, biases, perturbations and the score.

The module computes them from the tables of answers and puts them into words. It also compares two
models.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from workbench.audits.response_bias.answers import (
    CONDITIONS,
    ChoiceTable,
    Place,
    place_order,
    position_shares,
    valid_answers,
)
from workbench.audits.response_bias.changes import (
    LARGEST,
    NOT_FIRST,
    RESOLUTION,
    Deltas,
    Dropped,
    EntropySpread,
    LeftOut,
    change_against_uncertainty,
    changes_by,
    deltas,
    dropped,
    human_sign,
    spread,
)
from workbench.audits.response_bias.options import Adjusted, ChangeOptions, Definition, EntropyRule
from workbench.audits.response_bias.positions import (
    PositionWeights,
    TwoOptionChange,
    letter_weights,
    smoothed,
    two_option_change,
    two_option_weights,
    yes_saying,
)
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
    "empty: the questions without a topic"
    delta: MeanTest
    by_chance: float
    "percentage points that letters drawn at random give, over the same questions"


@dataclass(frozen=True, slots=True)
class DrawFigure:
    """The change under one random draw of a perturbation."""

    draw: int
    delta: MeanTest
    effect: Effect
    """by its own p, which is never adjusted: draws show the range of chance, and are no further
    claims"""
    by_chance: float
    "percentage points that letters drawn at random give, over the same questions"


@dataclass(frozen=True, slots=True)
class Draws:
    """A perturbation that was drawn several times (appendix A.4)."""

    draws: tuple[DrawFigure, ...]
    mean: float
    "mean of the draws' means"
    sd: float
    "standard deviation of the draws' means, divisor n - 1; NaN for one draw"
    low: float
    "the smallest of the draws' means; `high` is the largest"
    high: float
    significant: int
    "number of draws with a significant change"

    @property
    def agree(self) -> bool:
        """Whether all draws have one result: significant to the same side, or not significant."""
        return len({draw.effect for draw in self.draws}) <= 1


@dataclass(frozen=True, slots=True)
class PreferenceTest:
    """The test of a change against the one that a preference of the model gives without content."""

    change: float
    "percentage points by the preference; NaN: unknown"
    p: float
    "of no difference from that change; 0: the preference does not move this bias"
    se: float = math.nan
    "standard error of the difference, in percentage points"


UNMOVED = PreferenceTest(math.nan, 0.0)
UNKNOWN = PreferenceTest(math.nan, 1.0)
"the preference moves this bias, and nothing tells how much"


@dataclass(frozen=True, slots=True)
class ChangeCell:
    """One bias of one model, without a perturbation or under one."""

    bias: Bias
    condition: Perturbation | None
    "None: the bias without a perturbation"
    variant: str
    "variant of the bias's wording, such as `reword`; empty for the one that counts in the score"
    deltas: Deltas
    """by question; with several draws, from the mean of a question's shares over the draws that
    have it"""
    delta: MeanTest
    "percentage points"
    beyond: MeanTest
    """test of the differences from the change that letters drawn at random among the offered ones
    give"""
    by_chance: float
    "percentage points that letters drawn at random give, over the same questions"
    by_first: float
    "percentage points that always taking the first option gives"
    p_adjusted: float
    "see `claim`; adjusted if the options say so"
    effect: Effect
    """1 or -1: significantly above or below 0 by the definition's sign, under `corrected` beyond
    chance as well; 0: neither"""
    human_like: Effect
    """1: significant in the direction that people show, -1: against it; 0 for perturbations, which
    people overlook"""
    spread: EntropySpread
    "by the options that were really offered"
    spread_csv: EntropySpread
    "by the rule of the published files"
    uncertainty: Pearson
    "over questions, |delta| against the entropy of the answers to the original"
    topics: tuple[TopicFigure, ...]
    draws: Draws
    dropped: Dropped
    "answers that `corrected` does not count; reported under every definition"
    warnings: tuple[str, ...] = ()
    "improbable findings in the files of imported answers"
    within_chance: bool = False
    """whether the change differs from 0, but not from that of letters drawn at random, or not from
    that of a preference"""
    explained_by: str = ""
    """the preference that may give the change if it differs from that of letters drawn at random:
    `position`, `acquiescence`, or `position or acquiescence`"""
    position: PreferenceTest = UNMOVED
    "against the preference for positions"
    yes_saying: PreferenceTest = UNMOVED
    "against the preference for positions together with that for *yes*"

    @property
    def claim(self) -> float:
        """The p value of the claim that the answers change.

        Under `paper` it is that against 0. Under `corrected` it is the largest p against 0, against
        letters drawn at random, and against the model's own preferences for positions and for
        *yes*. It is 1 if the first two lie on different sides.

        Removing an option also changes the answers of a model that draws letters at random: 2/4 -
        2/5 = +10 points for odd/even, 1/5 - 1/6 = +3.3 for opinion floating.
        """
        if (
            self.condition is not None
            or self.deltas.definition is not Definition.CORRECTED
            or not self.delta.tested
        ):
            return self.delta.p
        return max(self.claim_beyond_chance, self.position.p, self.yes_saying.p)

    @property
    def claim_beyond_chance(self) -> float:
        """The p value of the claim that the answers change more than letters at random do."""
        same_side = self.delta.mean * self.beyond.mean > 0
        if not same_side or not self.beyond.tested:
            return 1.0
        return max(self.delta.p, self.beyond.p)

    @property
    def place(self) -> tuple[Bias, Perturbation | None, str]:
        """The name of the cell in its report: bias, condition and variant."""
        return self.bias, self.condition, self.variant

    @property
    def scored(self) -> bool:
        """Whether the score includes this bias."""
        return self.condition is None and not self.variant

    @property
    def copied(self) -> bool:
        """Whether these are the answers to another bias's perturbed questions."""
        return self.deltas.source is not self.bias

    @property
    def fewer_draws(self) -> int:
        """The number of counted questions that lack a draw."""
        return int((self.deltas.draws < len(self.draws.draws)).sum())

    @property
    def unmoved(self) -> bool:
        """Whether no question changed at all, which needs no test."""
        return self.delta.n > 1 and not self.delta.tested and self.delta.mean == 0

    @property
    def judged(self) -> bool:
        """Whether there is a result: by a test, or because no answer changed."""
        return self.delta.tested or self.unmoved

    @property
    def sign_mark(self) -> str:
        """The mark of a significant number: `+` or `-`, or "" for another one.

        The mark of a bias is relative to the direction that people show.
        """
        return {1: "+", 0: "", -1: "-"}[self.effect if self.condition else self.human_like]

    @property
    def result_text(self) -> str:
        """The mark in words."""
        if self.delta.n == 0:
            return "no question counts"
        if self.delta.n == 1:
            return "one question is too few for a test"
        if not self.delta.tested:
            return "no change in any question" if self.unmoved else "equal changes allow no test"
        if self.effect == 0:
            if self.explained_by:
                return f"may be {self.explained_by}"
            return "not beyond chance" if self.within_chance else "not significant"
        if self.condition is not None:
            return "significant, though people overlook it"
        return "significant, human-like" if self.human_like == 1 else "significant, opposite"


@dataclass(frozen=True, slots=True)
class HumanLikeness:
    """The comparison of a model with people on one bias (figure 3).

    People change if the bias is there, and do not change if it is not.
    """

    bias: Bias
    human_like: Effect
    perturbed: tuple[Perturbation, ...]
    "perturbations under which it changes significantly, in any direction"
    untested: tuple[Perturbation, ...]
    "perturbations without an answer set, and those with changes but without a test"
    tested: bool = True
    "whether the bias has a test, or changed no answer at all"

    @property
    def most_human_like(self) -> bool | None:
        """Whether the bias moves the model as it moves people, and no perturbation does.

        It is None if that is open.
        """
        if not self.tested:
            return None
        if self.human_like != 1 or self.perturbed:
            return False
        return None if self.untested else True


@dataclass(frozen=True, slots=True)
class Score:
    """Significant changes, +1 in one direction and -1 in the other, over all biases (table 3)."""

    signed: int
    """by the definition's own sign; `paper` gives the published score, which counts allow/forbid
    above 0 as human-like"""
    human_like: int
    "by the direction that people show; the same as `signed` under `corrected`"
    biases: int
    "number of biases that have a test; without any there is no score"


@dataclass(frozen=True, slots=True)
class ChangeReport:
    """All figures of one model's answers under one definition."""

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
        """Return the figures of a bias under a condition, or None if it has no answers."""
        return next((cell for cell in self.cells if cell.place == (bias, condition, variant)), None)

    def cell(
        self, bias: Bias, condition: Perturbation | None = None, variant: str = ""
    ) -> ChangeCell:
        """Return the figures of a bias under a condition. Raises UnknownName without answers."""
        figures = self.find(bias, condition, variant)
        if figures is None:
            cell_name = " ".join(filter(None, (bias, variant, condition)))
            raise UnknownName(
                f"{self.model} has no answers for {cell_name}; import them, or run it first"
            )
        return figures


Topics = Mapping[tuple[Bias, str], str]
"(bias, key of the question) -> topic"

_SIGN: dict[int, Effect] = {1: 1, 0: 0, -1: -1}


def judge(
    tables: Iterable[ChoiceTable],
    options: ChangeOptions | None = None,
    topics: Topics | None = None,
) -> ChangeReport:
    """Return all figures of one model.

    Score and human-likeness are based on the biases' main wordings. Another variant has a cell of
    its own.

    Raises UsageError without tables, for tables of several models, and for two tables of one set of
    answers.

    Parameters
    ----------
    tables : a table for each bias, condition and draw, in any order
    topics : of questions; figures by topic are left out without any
    """
    judging_options = options or ChangeOptions()
    tables_by_draw = sorted(tables, key=lambda table: table.draw)
    models = sorted({table.model for table in tables_by_draw})
    if len(models) != 1:
        raise UsageError(
            f"found answers of {', '.join(models) or 'no model'}; give the answers of one model"
        )
    model = models[0]
    tables_by_place = _asked(tables_by_draw, judging_options.definition)
    asked_cells = [
        _cell(place, place_tables, judging_options, topics or {})
        for place, place_tables in tables_by_place.items()
    ]
    cells = _adjusted(_with_preferences(asked_cells, tables_by_place), judging_options)
    biases = [cell for cell in cells if cell.scored]
    n_tested = sum(cell.delta.tested for cell in biases)
    score = Score(
        sum(cell.effect for cell in biases), sum(cell.human_like for cell in biases), n_tested
    )
    return ChangeReport(
        model,
        judging_options,
        tuple(cells),
        tuple(_likeness(cell, cells) for cell in biases),
        score,
    )


def mean_change(deltas: Deltas) -> MeanTest:
    """Return the mean change in percentage points with its test."""
    return mean_test(deltas.values, RESOLUTION, LARGEST)


def by_topic(deltas: Deltas, topics: Topics) -> tuple[TopicFigure, ...]:
    """Return the mean change of each topic, by name. Questions without a topic come last."""
    topic_of_question = np.array(
        [topics.get((deltas.bias, key), "") for key in deltas.keys], dtype=object
    )
    order = sorted(set(topic_of_question), key=lambda topic: (not topic, topic))
    return tuple(
        TopicFigure(
            str(topic),
            mean_test(deltas.values[has_topic], RESOLUTION, LARGEST),
            float(deltas.by_chance[has_topic].mean()),
        )
        for topic in order
        for has_topic in [topic_of_question == topic]
    )


def over_draws(
    deltas_by_draw: Sequence[Deltas], draw_numbers: Sequence[int], alpha: float = 0.05
) -> Draws:
    """Return each draw's change, and the differences between draws."""
    tests = [mean_change(draw_deltas) for draw_deltas in deltas_by_draw]
    draws = tuple(
        DrawFigure(
            draw,
            test,
            _effect(test, test.p, alpha),
            float(draw_deltas.by_chance.mean()) if test.n else float("nan"),
        )
        for draw, test, draw_deltas in zip(draw_numbers, tests, deltas_by_draw, strict=True)
    )
    means = np.array([test.mean for test in tests if test.n])
    sd = float(means.std(ddof=1)) if len(means) > 1 else float("nan")
    mean, low, high = (
        float(statistic(means)) if len(means) else float("nan")
        for statistic in (np.mean, np.min, np.max)
    )
    return Draws(draws, mean, sd, low, high, sum(draw.effect != 0 for draw in draws))


def over_cells(cells: Iterable[ChangeCell]) -> Pearson:
    """Return the correlation of |mean change| and mean entropy of the originals (figure 8).

    It is over models and biases.
    """
    scored = [cell for cell in cells if cell.scored]
    return pearson(
        [abs(cell.delta.mean) / 100 for cell in scored], [cell.spread.original for cell in scored]
    )


def _asked(
    tables: Sequence[ChoiceTable], definition: Definition
) -> dict[Place, tuple[ChoiceTable, ...]]:
    """Return the tables of each bias and condition, one per draw, in the order of a report.

    Perturbed opinion floating repeats the answers of odd/even, which asks the same questions. Under
    `paper` this is always so, as in the published tables, even if the model's opinion-floating
    questions were perturbed themselves. Under `corrected` it is so only if they were not.
    """
    tables_by_place: dict[Place, tuple[ChoiceTable, ...]] = {}
    for table in tables:
        place = (table.bias, table.condition, table.variant)
        if table.draw in {earlier_table.draw for earlier_table in tables_by_place.get(place, ())}:
            raise UsageError(f"found two sets of answers for {table.name}; give one of them")
        tables_by_place[place] = (*tables_by_place.get(place, ()), table)
    published = definition is not Definition.CORRECTED
    for condition in Perturbation:
        place = (Bias.OPINION_FLOAT, condition, "")
        own_tables, odd_even_tables = (
            tables_by_place.pop(place, None),
            tables_by_place.get((Bias.ODD_EVEN, condition, "")),
        )
        counted_tables = odd_even_tables if published else own_tables or odd_even_tables
        if counted_tables is not None and (
            own_tables is not None or (Bias.OPINION_FLOAT, None, "") in tables_by_place
        ):
            tables_by_place[place] = counted_tables
    return dict(sorted(tables_by_place.items(), key=lambda item: place_order(item[0])))


def _cell(
    place: Place, tables: Sequence[ChoiceTable], options: ChangeOptions, topics: Topics
) -> ChangeCell:
    """Return the figures of one bias under one condition, before adjustment."""
    bias, condition, variant = place
    deltas_by_draw = [deltas(table, options.definition, bias) for table in tables]
    mean_deltas = _mean_of_draws(deltas_by_draw)
    test = mean_change(mean_deltas)
    return ChangeCell(
        bias=bias,
        condition=condition,
        variant=variant,
        deltas=mean_deltas,
        delta=test,
        beyond=mean_test(mean_deltas.values - mean_deltas.by_chance, RESOLUTION, 2 * LARGEST),
        by_chance=float(mean_deltas.by_chance.mean()) if test.n else float("nan"),
        by_first=float(mean_deltas.by_first.mean()) if test.n else float("nan"),
        p_adjusted=test.p,
        effect=0,
        human_like=0,
        spread=spread(tables, "offered"),
        spread_csv=spread(tables, "csv"),
        uncertainty=change_against_uncertainty(mean_deltas, tables, options.entropy),
        topics=by_topic(mean_deltas, topics) if topics else (),
        draws=over_draws(deltas_by_draw, [table.draw for table in tables], options.alpha),
        dropped=dropped(tables),
        warnings=tuple(dict.fromkeys(warning for table in tables for warning in table.warnings)),
    )


def _with_preferences(
    cells: Sequence[ChangeCell], tables_by_place: Mapping[Place, Sequence[ChoiceTable]]
) -> list[ChangeCell]:
    """Return the cells with the tests against the model's preferences for positions and for *yes*.

    Only biases without a perturbation have these tests, and only under `corrected`.
    """
    (order_table,) = tables_by_place.get((Bias.RESPONSE_ORDER, None, ""), (None,))
    (yes_table,) = tables_by_place.get((Bias.ACQUIESCENCE, None, ""), (None,))
    tested_cells = []
    for cell in cells:
        is_other_bias = cell.condition is None and cell.bias is not Bias.RESPONSE_ORDER
        if is_other_bias and cell.deltas.definition is Definition.CORRECTED and cell.delta.n:
            (table,) = tables_by_place[cell.place]
            cell = replace(cell, position=_position_test(cell, table, order_table))
            if cell.bias is Bias.ALLOW_FORBID:
                yes_saying = _yes_saying_test(cell, table, order_table, yes_table)
                cell = replace(cell, yes_saying=yes_saying)
        tested_cells.append(cell)
    return tested_cells


def _position_test(
    cell: ChangeCell, table: ChoiceTable, order_table: ChoiceTable | None
) -> PreferenceTest:
    """Return the test of a bias against the model's preference for positions.

    Of several readings of the preference it is the one with the largest p value.
    """
    if cell.bias is Bias.ACQUIESCENCE and abs(cell.by_first) <= RESOLUTION:
        # Its formula takes the first option of both forms, so a position cancels out.
        return UNMOVED
    if order_table is None:
        return UNKNOWN
    if cell.bias is Bias.ALLOW_FORBID:
        tests = [
            _test_two_options(cell, table, [_first_option(reading)])
            for reading in two_option_weights(order_table)
        ]
    else:
        n_positions = int(table.offered[:, 0].max(initial=0))
        tests = [
            _test_against(cell, table, reading)
            for reading in letter_weights(order_table, n_positions)
        ]
    return max(tests, key=lambda test: test.p, default=UNKNOWN)


def _yes_saying_test(
    cell: ChangeCell,
    table: ChoiceTable,
    order_table: ChoiceTable | None,
    yes_table: ChoiceTable | None,
) -> PreferenceTest:
    """Return the test of allow/forbid against the preferences for positions and for *yes*.

    *Yes* is the first option of both forms, and says the opposite in each. Who says *yes* more than
    they mean is moved against people's direction, who says *no* in it.
    """
    yes = None if yes_table is None else yes_saying(yes_table)
    if yes is None or order_table is None:
        return UNKNOWN
    tests = [
        _test_two_options(cell, table, [_first_option(reading), yes], smooth=True)
        for reading in two_option_weights(order_table)
    ]
    return max(tests, key=lambda test: test.p, default=UNKNOWN)


def _first_option(positions: PositionWeights) -> TwoOptionChange:
    """Return the log odds of the first of two options that its position alone gives."""
    return TwoOptionChange(
        math.log(positions.weights[0]),
        positions.standard_error(lambda weights: math.log(weights[0])),
        len(positions.without_one),
    )


def _test_two_options(
    cell: ChangeCell,
    table: ChoiceTable,
    preferences: Sequence[TwoOptionChange],
    *,
    smooth: bool = False,
) -> PreferenceTest:
    """Return the test of allow/forbid against preferences for the first of two options.

    Odds are compared, because a preference of the same odds moves shares the less the surer a model
    is of its answer. What it gives in points is that at the model's own sureness.
    """
    row_by_key = {key: row for row, key in enumerate(table.keys)}
    counts = valid_answers(table)[[row_by_key[key] for key in cell.deltas.keys]]
    compared = smoothed(counts[:, :, :2]) if smooth else counts[:, :, :2]
    # The answer against is the second option of one form and the first one of the other.
    against = two_option_change(compared[:, 0, ::-1], compared[:, 1])
    log_odds = sum(preference.log_ratio for preference in preferences)
    log_odds_se = math.hypot(*(preference.se for preference in preferences))
    unexplained = against.log_ratio + 2 * log_odds
    se = math.hypot(against.se, 2 * log_odds_se)
    sureness = _mean_logits(counts)
    shares = [1 / (1 + np.exp(-sureness + sign * log_odds)) for sign in (1, -1)]
    change = 100 * (shares[0] - shares[1]).mean()
    p = 1.0
    if unexplained * cell.delta.mean > 0 and se > RESOLUTION:
        n_questions = min(len(counts), *(preference.n for preference in preferences))
        p = _t_p(unexplained / se, n_questions - 1)
    # Points for each unit of log odds: the slope of the logistic function, in both forms.
    slope = 100 * sum(float((share * (1 - share)).mean()) for share in shares)
    mean_se = cell.delta.sd / cell.delta.n**0.5
    return PreferenceTest(float(change), p, math.hypot(slope * log_odds_se, mean_se))


def _mean_logits(counts: FloatArray) -> FloatArray:
    """Return the mean over both forms of the log odds of the answer against, (K,).

    The counts are smoothed.
    """
    logs = np.log(smoothed(counts[:, :, :2]))
    return np.asarray((logs[:, 0, 1] - logs[:, 0, 0] + logs[:, 1, 0] - logs[:, 1, 1]) / 2)


def _t_p(t: float, freedom: int) -> float:
    """Return the two-sided p value of Student's t."""
    from scipy.special import stdtr

    return float(2 * stdtr(freedom, -abs(t))) if freedom > 0 else 1.0


def _test_against(
    cell: ChangeCell, table: ChoiceTable, positions: PositionWeights
) -> PreferenceTest:
    """Return the test against what one reading of the preference gives without any content.

    The preference is an estimate, so its variance adds to that of the mean change.
    """

    def changes(weights: FloatArray) -> FloatArray:
        return changes_by(position_shares(table, weights), table, cell.deltas.keys, cell.bias)

    expected = changes(positions.weights)
    unexplained = mean_test(cell.deltas.values - expected, RESOLUTION, 2 * LARGEST)
    change_se = positions.standard_error(lambda weights: float(changes(weights).mean()))
    mean_se = 0.0 if math.isnan(unexplained.sd) else unexplained.sd / unexplained.n**0.5
    se = math.hypot(change_se, mean_se)
    p = 1.0
    is_beyond = unexplained.mean * cell.delta.mean > 0 and abs(unexplained.mean) > RESOLUTION
    if is_beyond and se > RESOLUTION and unexplained.n > 1:
        p = _t_p(unexplained.mean / se, min(unexplained.n, len(positions.without_one)) - 1)
    return PreferenceTest(float(expected.mean()), p, se)


def _mean_of_draws(draws: Sequence[Deltas]) -> Deltas:
    """Return each question's mean shares over the draws that have it, so that questions stay units.

    A draw of only some questions says nothing about the others, so these keep the draws that they
    have. A question that is not among the first of a file in one draw is excluded from all, because
    `paper` would be about more questions otherwise.
    """
    if len(draws) == 1:
        return draws[0]
    exclusions = [exclusion for draw in draws for exclusion in draw.left_out]
    not_first = {exclusion.key for exclusion in exclusions if exclusion.reason == NOT_FIRST}
    all_keys = dict.fromkeys(key for draw in draws for key in draw.keys)
    keys = tuple(key for key in all_keys if key not in not_first)
    row_by_key = {key: row for row, key in enumerate(keys)}
    shares, answers = np.zeros((2, len(keys), 2))
    by_chance, by_first = np.zeros((2, len(keys)))
    n_draws = np.zeros(len(keys), dtype=np.int64)
    for draw in draws:
        is_kept = np.array([key in row_by_key for key in draw.keys], dtype=np.bool_)
        rows = np.array([row_by_key[key] for key in draw.keys if key in row_by_key], dtype=np.int64)
        shares[rows] += draw.shares[is_kept]
        answers[rows] += draw.answers[is_kept]
        by_chance[rows] += draw.by_chance[is_kept]
        by_first[rows] += draw.by_first[is_kept]
        n_draws[rows] += 1
    reason_by_key = {exclusion.key: exclusion.reason for exclusion in exclusions}
    return replace(
        draws[0],
        keys=keys,
        shares=shares / n_draws[:, None],
        answers=answers,
        draws=n_draws,
        by_chance=by_chance / n_draws,
        by_first=by_first / n_draws,
        left_out=tuple(
            LeftOut(key, reason) for key, reason in reason_by_key.items() if key not in row_by_key
        ),
    )


def _adjusted(cells: Sequence[ChangeCell], options: ChangeOptions) -> list[ChangeCell]:
    """Return the cells with their p values adjusted, and with the effects that follow."""
    p = np.array([cell.claim for cell in cells])
    is_in_family = np.array([_in_family(cell, options) for cell in cells], dtype=np.bool_)
    p[is_in_family] = holm(p[is_in_family])
    row_by_place = {cell.place: row for row, cell in enumerate(cells)}
    for row, cell in enumerate(cells):
        if _repeats(cell):
            p[row] = p[row_by_place[cell.deltas.source, cell.condition, cell.variant]]
    return [
        _marked(cell, float(adjusted_p), options) for cell, adjusted_p in zip(cells, p, strict=True)
    ]


def _in_family(cell: ChangeCell, options: ChangeOptions) -> bool:
    """Return whether Holm's procedure includes the test of a cell."""
    if options.holm == "none" or (options.holm == "biases" and cell.condition is not None):
        return False
    return not _repeats(cell)


def _repeats(cell: ChangeCell) -> bool:
    """Return whether a cell repeats another cell's test, number by number."""
    return cell.copied and cell.deltas.definition is not Definition.CORRECTED


def _marked(cell: ChangeCell, p: float, options: ChangeOptions) -> ChangeCell:
    """Return a cell with its adjusted p value, and the significant effects that follow from it."""
    effect = _effect(cell.delta, p, options.alpha)
    human_effect = (
        effect * human_sign(cell.bias, options.definition) if cell.condition is None else 0
    )
    is_within_chance = cell.delta.p < options.alpha <= cell.claim
    explained_by = ""
    if is_within_chance and cell.claim_beyond_chance < options.alpha:
        explained_by = _explanation(cell, options.alpha)
    return replace(
        cell,
        p_adjusted=p,
        effect=effect,
        human_like=_SIGN[human_effect],
        within_chance=is_within_chance,
        explained_by=explained_by,
    )


def _explanation(cell: ChangeCell, alpha: float) -> str:
    """Return the preference that may give a change, or both if *yes* gives more of it."""
    if cell.position.p < alpha:
        return "acquiescence"
    if abs(cell.yes_saying.change) > 2 * abs(cell.position.change):
        return "position or acquiescence"
    return "position"


def _effect(test: MeanTest, p: float, alpha: float) -> Effect:
    """Return the side of 0 of a significant change, or 0 without one."""
    if not p < alpha:
        return 0
    return 1 if test.mean > 0 else -1


def _likeness(bias: ChangeCell, cells: Sequence[ChangeCell]) -> HumanLikeness:
    """Return the comparison of a model with people on one bias."""
    cell_by_condition = {
        cell.condition: cell for cell in cells if cell.bias is bias.bias and not cell.variant
    }
    perturbed = tuple(
        perturbation
        for perturbation in Perturbation
        if perturbation in cell_by_condition and cell_by_condition[perturbation].effect != 0
    )
    untested = tuple(
        perturbation
        for perturbation in Perturbation
        if perturbation not in cell_by_condition or not cell_by_condition[perturbation].judged
    )
    return HumanLikeness(bias.bias, bias.human_like, perturbed, untested, bias.judged)


@dataclass(frozen=True, slots=True)
class BiasComparison:
    """One bias of one model under two ways of asking, over the questions that count in both."""

    model: str
    bias: Bias
    first: MeanTest
    second: MeanTest
    change: MeanTest
    "second minus first, paired over the questions that count in both"
    questions: Pearson
    "correlation of the deltas over these questions"
    effects: tuple[Effect, Effect]
    "of the two ways, over these questions; by p as it is, never adjusted"
    variant: str = ""
    "variant of the bias's wording"
    left_out: tuple[int, int] = (0, 0)
    "numbers of questions that count in only one way"

    @property
    def turned(self) -> bool:
        """Whether both ways show a significant change, to opposite sides."""
        return self.effects[0] * self.effects[1] == -1


@dataclass(frozen=True, slots=True)
class MeansCompared:
    """The relation of the mean changes of two ways of asking, over models and biases."""

    correlation: Pearson
    change: float
    "mean of second - first; NaN without pairs"
    change_of_size: float
    "mean of |second| - |first|"


@dataclass(frozen=True, slots=True)
class ReportsCompared:
    """Two ways of asking, bias by bias and in total."""

    rows: tuple[BiasComparison, ...]
    means: MeansCompared


def compare(reports: Iterable[tuple[ChangeReport, ChangeReport]]) -> ReportsCompared:
    """Return the change from each first report to its second, over their common biases (table 11).

    Raises UsageError if the two of a pair follow different definitions, because their means do not
    compare.
    """
    rows = []
    for first, second in reports:
        definitions = [report.options.definition for report in (first, second)]
        if definitions[0] is not definitions[1]:
            raise UsageError(
                f"found changes by the definitions `{definitions[0]}` and `{definitions[1]}`; "
                "compare changes by one definition"
            )
        pairs = [(cell, second.find(*cell.place)) for cell in first.cells if cell.condition is None]
        alpha = first.options.alpha
        rows += [
            _row(first.model, cell, second_cell, alpha)
            for cell, second_cell in pairs
            if second_cell is not None
        ]
    return ReportsCompared(
        tuple(rows), of_means([row.first.mean for row in rows], [row.second.mean for row in rows])
    )


def of_means(first: Sequence[float], second: Sequence[float]) -> MeansCompared:
    """Return the relation of mean changes, a pair for each model and bias.

    Pairs with a NaN are excluded.
    """
    pairs = np.array([first, second], dtype=np.float64).reshape(2, -1)
    pairs = pairs[:, ~np.isnan(pairs).any(axis=0)]
    nan = float("nan")
    change = float((pairs[1] - pairs[0]).mean()) if pairs.size else nan
    change_of_size = float((np.abs(pairs[1]) - np.abs(pairs[0])).mean()) if pairs.size else nan
    return MeansCompared(pearson(pairs[0], pairs[1]), change, change_of_size)


@dataclass(frozen=True, slots=True)
class SamplingAgreement:
    """The agreement of sampled answers with those that exact probabilities predict."""

    sampled: float
    "mean delta in percentage points, over the questions that count in both"
    exact: float
    error: float
    "standard error that sampling alone gives the mean of the sampled deltas"
    z: float
    "(sampled - exact) / error; NaN if sampling cannot err"
    p: float
    "two-sided, of no difference except by sampling"
    mean_square: float
    """mean over questions of ((sampled - exact) / its error)²: near 1 if every question agrees
    within sampling error"""
    n: int


def sampling_agreement(
    sampled: ChoiceTable,
    exact: ChoiceTable,
    definition: Definition = Definition.CORRECTED,
    bias: Bias | None = None,
) -> SamplingAgreement:
    """Return the distance of sampled deltas from exact ones, in standard errors of sampling.

    With exact shares x and x' and N and N' samples, a question's delta has the variance 100² (x (1
    - x) / N + x' (1 - x') / N'). That of the mean is their sum / K². The spread of the answers over
    questions plays no part, because both tables are of the same questions.
    """
    sampled_deltas, exact_deltas = (
        deltas(sampled, definition, bias),
        deltas(exact, definition, bias),
    )
    pairs = _paired(sampled_deltas, exact_deltas)
    x = exact_deltas.shares[pairs[1]]
    variance = 1e4 * (np.clip(x * (1 - x), 0, None) / sampled_deltas.answers[pairs[0]]).sum(axis=1)
    differences = sampled_deltas.values[pairs[0]] - exact_deltas.values[pairs[1]]
    n, nan = len(differences), float("nan")
    if n == 0:
        return SamplingAgreement(nan, nan, nan, nan, nan, nan, 0)
    error = float(np.sqrt(variance.sum()) / n)
    z = float(differences.mean() / error) if error > RESOLUTION else nan
    squares = differences[variance > RESOLUTION] ** 2 / variance[variance > RESOLUTION]
    mean_square = float(squares.mean()) if squares.size else nan
    mean, exact_mean = (
        float(sampled_deltas.values[pairs[0]].mean()),
        float(exact_deltas.values[pairs[1]].mean()),
    )
    return SamplingAgreement(mean, exact_mean, error, z, _two_sided(z), mean_square, n)


def _row(model: str, first: ChangeCell, second: ChangeCell, alpha: float) -> BiasComparison:
    """Return the comparison of one bias under two ways of asking."""
    pairs = _paired(first.deltas, second.deltas)
    values: tuple[FloatArray, FloatArray] = (
        first.deltas.values[pairs[0]],
        second.deltas.values[pairs[1]],
    )
    change = mean_test(values[1] - values[0], RESOLUTION, 2 * LARGEST)
    means = [mean_test(changes, RESOLUTION, LARGEST) for changes in values]
    effects = (_effect(means[0], means[0].p, alpha), _effect(means[1], means[1].p, alpha))
    left_out = len(first.deltas.keys) - len(pairs[0]), len(second.deltas.keys) - len(pairs[1])
    return BiasComparison(
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


def _paired(first: Deltas, second: Deltas) -> tuple[IntArray, IntArray]:
    """Return the rows of the questions that count in both, in the order of the first."""
    row_by_key = {key: row for row, key in enumerate(second.keys)}
    row_pairs = [(row, row_by_key[key]) for row, key in enumerate(first.keys) if key in row_by_key]
    rows = np.array(row_pairs, dtype=np.int64).reshape(-1, 2)
    return rows[:, 0], rows[:, 1]


def _two_sided(z: float) -> float:
    """Return the two-sided p value of a standard normal z."""
    from scipy.special import ndtr

    return 2 * float(ndtr(-abs(z)))


def lent_said(definition: str) -> str:
    """Return a phrase on the source of the figures of opinion floating under a perturbation."""
    if definition == "corrected":
        return (
            "answers to odd/even's questions by its own formula, if its own questions were "
            "not asked"
        )
    return "odd/even's figures repeated, for every model, as in the published tables"


def formula(place: Place, definition: str, source: Bias) -> str:
    """Return the formula of a change, by the letters of the original q and of the changed form q'.

    Parameters
    ----------
    source : bias whose answers these are, see `deltas.Deltas`
    """
    corrected = definition == "corrected"
    bias = place[0] if corrected else source
    if bias is Bias.ALLOW_FORBID:
        original_letter, opposite_letter = ("B", "A") if corrected else ("A", "B")
        return f"{original_letter} in q − {original_letter if place[1] else opposite_letter} in q'"
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
    "may be position": "position?",
    "may be acquiescence": "yes?",
    "may be position or acquiescence": "position? yes?",
    "no change in any question": "no change",
    "one question is too few for a test": "no test",
    "equal changes allow no test": "no test",
}
"`ChangeCell.result_text` in short, for narrow columns"


def definition_said(definition: Definition) -> str:
    """Return the name of the definition with its text."""
    return f"Definition {definition}: {DEFINITIONS[definition]}."


def test_said(options: ChangeOptions) -> str:
    """Return the rule of significance in words."""
    return (
        f"Significant: p below {options.alpha:g}, t-test over questions, two-sided; "
        f"{HOLM[options.holm]}. "
        + "Of a bias, against 0, against the change of letters drawn at random among those "
        "offered, and against that "
        "of the model's own preferences for positions and for yes: all of them. "
        * (options.definition is Definition.CORRECTED)
        + "[ ]: 95 % interval."
    )


def stars(p: float, *, significant: bool) -> str:
    """Return one star for a significant p, two below .01, three below .001, or "" for another p.

    Examples
    --------
    >>> stars(0.0212, significant=True), stars(1e-9, significant=True), stars(0.0212, significant=False)
    ('*', '***', '')
    """  # noqa: E501
    if not significant:
        return ""
    return "***" if p < 0.001 else "**" if p < 0.01 else "*"


def beside(cell: ChangeCell | None, likeness: HumanLikeness | None = None) -> str:
    """Return the text after a mean change in the matrix, as in `*** human-like ✓`.

    It is empty if there is no mean.
    """
    if cell is None or math.isnan(cell.delta.mean):
        return ""
    tick = "✓" if likeness is not None and likeness.most_human_like else ""
    return " ".join(
        filter(
            None,
            (
                stars(cell.p_adjusted, significant=cell.effect != 0),
                IN_A_WORD[cell.result_text],
                tick,
            ),
        )
    )


def why(likeness: HumanLikeness) -> str:
    """Return the reason why a model is, or is not, most human-like in a bias."""
    if not likeness.tested:
        return "open: too few questions for a test"
    if likeness.human_like != 1:
        return (
            "no: not significant"
            if likeness.human_like == 0
            else "no: significant in the direction opposite to people"
        )
    if likeness.perturbed:
        moves = "moves" if len(likeness.perturbed) == 1 else "move"
        return (
            f"no: {', '.join(CONDITIONS[condition] for condition in likeness.perturbed)} {moves} "
            "it "
            "too"
        )
    if likeness.untested:
        conditions = ", ".join(CONDITIONS[condition] for condition in likeness.untested)
        return f"open: {conditions} not tested"
    return "yes"
