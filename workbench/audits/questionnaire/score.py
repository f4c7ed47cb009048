"""Questionnaire Modeling: the accuracy and the bias of a model that predicts human answers.

Haller et al. 2025, sections 3 and 4 (predictions: `cells`):

    accuracy = mean of correct over everybody asked; its SE the deviation / root n          (section 3.2)
    bias     = mean normalised p(yes) - mean human answer, over the readable respondents            (3.3)

Where the published tables leave a choice:

- The ± of a published bias is the standard error of the mean human answer alone, hence nearly the
  same for all models (option `printed`). The default is the standard error of the differences
  share - answer: the spread to expect with other respondents. It is smaller for a model that
  predicts well. The interval is the bootstrap's under both.
- The ± of a published average absolute bias is the standard error of the *signed* biases over
  targets. Here it is that of the averaged values.
- Table 1 counts unreadable prompts as `no`. Here they are counted as unreadable.
- All deviations here have the divisor n - 1, except the one over wordings (below).

A target that no respondent answered with yes or no has no figures, and means over targets exclude
it for every model. A target that respondents answered but that has no figure for the model makes a
mean undefined: otherwise models would be compared over different questions. Every undefined figure
has a reason.

Pairs
=====

Two conditions, or two models, over the same respondents (Haller et al. 2025, section 5 and appendix
F.1).

Both biases are taken over the respondents who are readable on both sides, both accuracies over
those asked on both. Both sides of a draw have the same respondents, so that common noise cancels. A
change between different respondents would include the differences between these.

Wordings
========

The dependence of a model's bias on the words of a question (Haller et al. 2025, section 3.4).

    rms = root of the mean of bias_k² over the K wordings                                  (as printed)
    sd  = root of the mean of (bias_k - mean bias)², so that rms² = sd² + mean²            (as the text names it)

K counts the paraphrases, not the original. A paraphrase that reads like the original is void: `sd`
excludes it, and `rms` includes it, as printed. `sd` has the divisor K, so that the two are
comparable. Biases are taken over the respondents who were asked in all wordings, including the
original, so that only the words differ. A wording without a readable respondent has no bias. It is
excluded and counted.

If a prompt shows nobody's answers, biases in two wordings differ by the same amount for all
respondents. The interval of `sd` then has no width, since it does not depend on the respondents
that are drawn.
"""  # noqa: E501

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from workbench.audits.questionnaire.asking import QM, condition_order
from workbench.audits.questionnaire.cells import (
    ACCURACY,
    AT_ONCE,
    NOBODY_ANSWERED,
    NOT_ASKED,
    NOT_OFFERED,
    RULED_OUT,
    UNDEFINED,
    UNREADABLE,
    Basis,
    ConditionCell,
    PredictionIndex,
    RespondentDraws,
    SharedNoise,
    average,
    deviation,
    effective_number,
    estimates,
    interval,
    mean_of,
    p_of_zero,
    ratio,
    reasons,
    redrawn_figures,
    scaled_weights,
    shared_noise,
    standard_error,
)
from workbench.audits.questionnaire.figures import (
    Ablation,
    AbsoluteBias,
    Average,
    ChanceLevels,
    Condition,
    ConditionFigures,
    Correlation,
    ModelPredictions,
    Noise,
    TargetDifference,
    TargetFigure,
    VariabilityFigure,
    WordingFigure,
    is_few,
)
from workbench.audits.questionnaire.options import PredictionOptions
from workbench.domain.questionnaires import Pole
from workbench.domain.statements import ORIGINAL, Relation, VariantId
from workbench.domain.verdicts import Estimate
from workbench.stats.arrays import BoolArray, FloatArray, IntArray
from workbench.stats.describe import NOTHING, noise_floor

SHARE, SIGNED = (0.0, 1.0), (-1.0, 1.0)
"limits of an accuracy, and of a bias"
NOISE_DRAWS = 1000
"draws of other answers, which are needed for a standard deviation only"
LEAST_POINTS = 4
"points of a correlation, since three are often near a line by chance"
TOWARDS_CONSERVATIVE = {Pole.CONSERVATIVE: 1.0, Pole.LIBERAL: -1.0, None: np.nan}


def judge(
    predictions: ModelPredictions, options: PredictionOptions | None = None
) -> PredictionReport:
    """Return the report of one model, which computes each figure on first use and keeps it.

    Raises ValueError for predictions that no run could have made, such as two of one prompt.
    """
    return PredictionReport(
        predictions, options or PredictionOptions(), PredictionIndex(predictions)
    )


@dataclass(frozen=True, eq=False)
class PredictionReport:
    """The predictions of one model and the figures computed from them."""

    predictions: ModelPredictions
    options: PredictionOptions
    prediction_index: PredictionIndex = field(repr=False)
    _figures: dict[Condition, ConditionFigures] = field(default_factory=dict, repr=False)
    _wordings: dict[Condition, tuple[VariabilityFigure, ...]] = field(
        default_factory=dict, repr=False
    )

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions under which the model was asked, `qm` first."""
        return tuple(sorted(self.predictions.conditions, key=condition_order))

    @property
    def counts_answers(self) -> bool:
        """Whether answers were drawn and counted, a different measure than probabilities."""
        return self.predictions.answers is not None

    @property
    def resampling(self) -> RespondentDraws:
        """The draws of respondents under the seed of the options."""
        return RespondentDraws(self.options.seed, self.options.draws)

    def condition(self, condition: Condition) -> ConditionFigures:
        """Return the figures of all targets in their original wording.

        Raises UnknownName if the model was not asked under the condition.
        """
        compute_figures([(self, condition)])
        return self._figures[condition]

    def with_options(self, options: PredictionOptions) -> PredictionReport:
        """Return the report with other options of the same draws. Computed figures are reused."""
        if self.options.figures_as(options):
            return self
        figures_by_condition = {
            condition: self._with_error(figures, options)
            for condition, figures in self._figures.items()
        }
        return replace(self, options=options, _figures=figures_by_condition)

    def _with_error(self, found: ConditionFigures, options: PredictionOptions) -> ConditionFigures:
        """Return figures with the standard errors of the biases that the options ask for."""
        cell = self.prediction_index.cell(found.condition, ORIGINAL)
        targets = (
            replace(figure, bias_se=_bias_se(cell, t, options))
            for t, figure in enumerate(found.targets)
        )
        return replace(found, targets=tuple(targets))

    def variability(self, condition: Condition) -> tuple[VariabilityFigure, ...]:
        """Return the variability of each target's bias over its wordings.

        It is empty if only the original was asked. Raises UnknownName if the model was not asked
        under the condition.
        """
        if condition not in self._wordings:
            self._wordings[condition] = variability(
                self.prediction_index, condition, self.resampling
            )
        return self._wordings[condition]

    def mean_variability(self, condition: Condition) -> float:
        """Return the mean variability of the bias over wordings (table 4).

        The mean is over the targets that respondents answered. It is NaN if one of them has none,
        as published, or if only the original was asked.
        """
        predictions = self.predictions
        answered_targets = {
            target
            for target, answers in zip(predictions.targets, predictions.human, strict=True)
            if not np.isnan(answers).all()
        }
        rows = [row for row in self.variability(condition) if row.target in answered_targets]
        values = [(row.sd if self.options.variability == "sd" else row.rms).value for row in rows]
        return float(np.mean(values)) if values else UNDEFINED

    def ablations(self) -> tuple[Ablation, ...]:
        """Return the changes of every other condition against `qm`.

        They are those of each target, then of their mean. They are empty without `qm`.
        """
        return self._ablations

    @cached_property
    def _ablations(self) -> tuple[Ablation, ...]:
        """The changes against `qm`, computed once."""
        return ablations(self.prediction_index, self.conditions, self.resampling)


def compute_figures(asked: Iterable[tuple[PredictionReport, Condition]]) -> None:
    """Compute the figures of several models and conditions.

    `PredictionReport.condition` then returns them at once. They are the same as if each had been
    computed alone: cells with the same number of respondents share their draws, which saves time.
    Raises UnknownName if a model was not asked under its condition.
    """
    missing_cells = [
        (report, condition)
        for report, condition in dict.fromkeys(asked)
        if condition not in report._figures
    ]
    for resampling in dict.fromkeys(report.resampling for report, _ in missing_cells):
        same_draws = [
            (report, condition)
            for report, condition in missing_cells
            if report.resampling == resampling
        ]
        n_targets = max(len(report.predictions.targets) for report, _ in same_draws)
        # 6 sums for each target, see `_features`
        chunk_size = max(1, AT_ONCE // max(1, 6 * n_targets * (1 + resampling.draws)))
        for start in range(0, len(same_draws), chunk_size):
            _compute_figures(same_draws[start : start + chunk_size], resampling)


def _compute_figures(
    asked: Sequence[tuple[PredictionReport, Condition]], resampling: RespondentDraws
) -> None:
    """Compute the figures of some cells at once, and keep them in their reports."""
    cells = [report.prediction_index.cell(condition, ORIGINAL) for report, condition in asked]
    sums = resampling.sums_of_several(
        [(_features(cell), np.asarray(cell.counted.any(axis=0))) for cell in cells]
    )
    for (report, condition), cell, cell_sums in zip(asked, cells, sums, strict=True):
        report._figures[condition] = _MeasuredCell(report, cell, cell_sums).figures(condition)


def _features(cell: ConditionCell) -> FloatArray:
    """Return the contributions of each respondent to the sums: (6, T, R).

    The sums are those of counted, correct and readable predictions, of the differences and their
    squares, and of counted respondents who answered yes.
    """
    difference = np.nan_to_num(cell.difference)
    agrees = cell.counted & (cell.human == 1)
    features = np.stack(
        [cell.counted, cell.correct, cell.readable, difference, difference**2, agrees]
    )
    return (
        features if cell.weights is None else features * scaled_weights(cell.weights, cell.counted)
    )


def _bias_se(cell: ConditionCell, target: int, options: PredictionOptions) -> float:
    """Return the standard error of a target's bias by the formula of the options."""
    values = cell.difference if options.error == "paired" else cell.human
    readable = cell.readable[target]
    return standard_error(values[target][readable], _of(cell.weights, readable))


def _of(weights: FloatArray | None, people: BoolArray) -> FloatArray | None:
    """Return the weights of some respondents, or None without weights."""
    return None if weights is None else weights[people]


@dataclass(frozen=True, slots=True, eq=False)
class EffectiveCounts:
    """The effective numbers of the respondents of each target."""

    exact: FloatArray
    "(T,), for statistics"
    rounded: list[int]
    "the same, rounded down for counts"
    weighted: list[float | None]
    "the exact numbers, or None without weights"

    @classmethod
    def from_weights(cls, weights: FloatArray | None, people: BoolArray) -> EffectiveCounts:
        """Return the numbers of the respondents that a mask (T, R) marks."""
        exact = effective_number(weights, people)
        weighted = [None if weights is None else float(n) for n in exact]
        return cls(exact, [int(n) for n in exact], weighted)


def correlations(
    reports: Mapping[str, PredictionReport], condition: Condition
) -> tuple[Correlation, ...]:
    """Return Pearson's correlations of |bias| and accuracy (section 5.2).

    The first one is over models and targets, then one over models for each target. Models that were
    not asked under the condition, and targets without a value, are excluded. Models with computed
    probabilities and models with counted answers have separate correlations. The test treats the
    points as independent, as published, although the points of one model depend on each other.
    """
    compute_figures(
        (report, condition) for report in reports.values() if condition in report.conditions
    )
    asked_reports = {
        name: report for name, report in reports.items() if condition in report.conditions
    }
    # Without any report there is one undefined correlation, of probabilities
    counts_answers = dict.fromkeys(report.counts_answers for report in asked_reports.values()) or {
        False: None
    }
    return tuple(
        correlation
        for is_counted in counts_answers
        for correlation in _correlated(
            {
                name: report
                for name, report in asked_reports.items()
                if report.counts_answers == is_counted
            },
            condition,
        )
    )


def _correlated(asked: Mapping[str, PredictionReport], condition: Condition) -> list[Correlation]:
    """Return the correlations of models with the same measure of p(yes)."""
    from workbench.stats.describe import pearson

    figures = [
        figure for report in asked.values() for figure in report.condition(condition).targets
    ]
    noise, counts_answers = (
        _noise_of_answers(asked, condition),
        any(report.counts_answers for report in asked.values()),
    )
    rows = []
    for target in (None, *dict.fromkeys(figure.target for figure in figures)):
        indices = [index for index, figure in enumerate(figures) if target in (None, figure.target)]
        points = [figures[index] for index in indices]
        pair = pearson(
            [abs(figure.bias.value) for figure in points],
            [figure.accuracy.value for figure in points],
        )
        n_few = sum(
            is_few(figure.bias.n)
            for figure in points
            if figure.bias.defined and figure.accuracy.defined
        )
        numbers, undefined = (pair.r, pair.t, pair.df, pair.p), pair.undefined
        if not undefined and pair.n < LEAST_POINTS:
            numbers = (UNDEFINED, UNDEFINED, pair.df, UNDEFINED)
            undefined = (
                f"{pair.n} points say nothing about a correlation; {LEAST_POINTS} are needed"
            )
        noise_of_r = (
            UNDEFINED
            if undefined or noise is None
            else _spread(*(values[indices] for values in noise))
        )
        untested = "" if undefined else pair.untested
        rows.append(
            Correlation(
                target,
                *numbers,
                pair.n,
                undefined,
                n_few,
                untested,
                counted=counts_answers,
                noise=noise_of_r,
            )
        )
    return rows


def _noise_of_answers(
    asked: Mapping[str, PredictionReport], condition: Condition
) -> tuple[FloatArray, FloatArray] | None:
    """Return accuracies and biases of all models' targets for redrawn answers.

    They are (points, draws) each, or None if no model has counted answers.
    """
    redrawn_by_model = []
    for name, report in asked.items():
        few_draws = RespondentDraws(report.options.seed, min(NOISE_DRAWS, report.options.draws))
        redrawn_by_model.append(
            redrawn_figures(report.prediction_index.cell(condition, ORIGINAL), few_draws, name)
        )
    pairs = [pair for pair in redrawn_by_model if pair is not None]
    if not pairs:
        return None
    return np.concatenate([pair[0] for pair in pairs]), np.concatenate([pair[1] for pair in pairs])


def _spread(accuracy: FloatArray, bias: FloatArray) -> float:
    """Return the standard deviation of Pearson's r over draws of the points.

    Both arrays are (points, draws). Points without a value are excluded.
    """
    defined = ~np.isnan(accuracy[:, 0]) & ~np.isnan(bias[:, 0])
    x, y = np.abs(bias[defined]), accuracy[defined]
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    scale = np.sqrt((x**2).sum(axis=0) * (y**2).sum(axis=0))
    r = (x * y).sum(axis=0)[scale > 0] / scale[scale > 0]
    return deviation(r)


def differences(
    a: PredictionReport, b: PredictionReport, condition: Condition
) -> tuple[TargetDifference, ...]:
    """Return `b` minus `a`, such as a tuned model minus its base model, for each target of both.

    The means over targets are last. All are over the respondents that both models were asked for,
    who are drawn once for both, with the seed and the number of draws of `a`. Raises UnknownName if
    one of the models was not asked under the condition.
    """

    return _differences(a.prediction_index, b.prediction_index, condition, a.resampling)


@dataclass(frozen=True, slots=True, eq=False)
class _CellSums:
    """The sums over respondents in one cell, in the sample and in each draw: (T, 1 + draws)."""

    counted: FloatArray
    correct: FloatArray
    readable: FloatArray
    difference: FloatArray
    squares: FloatArray
    "sums of the squared differences"
    agreeing: FloatArray
    "sums of the counted respondents who answered yes"

    def with_noise(self, noise: SharedNoise) -> _CellSums:
        """Return the sums with the noise of answers that several respondents share."""
        n_readable = self.readable[:, :1]
        # 1 in place of 0 avoids a division by 0
        divisor = np.where(n_readable > 0, n_readable, 1.0) ** 2
        pairs = self.readable * (self.readable - 1)
        return replace(
            self,
            correct=np.clip(self.correct + noise.correct, 0, self.counted),
            difference=self.difference + noise.difference,
            squares=self.squares + pairs * noise.variance[:, None] / divisor,
        )


class _MeasuredCell:
    """All targets in one cell, with their draws.

    `sums` are those of `_features`, (6, T, 1 + draws): in the sample, then in each draw.
    """

    def __init__(self, report: PredictionReport, cell: ConditionCell, sums: FloatArray) -> None:
        self.report = report
        self.cell = cell
        self.targets = report.predictions.targets
        self.respondents = float(
            effective_number(cell.weights, np.asarray(cell.counted.any(axis=0)))
        )
        self.sums = _CellSums(*sums)
        self.doubtful = np.zeros(len(self.targets), dtype=np.bool_)
        weights = scaled_weights(cell.weights, cell.counted)
        noise = shared_noise(cell, report.resampling, "figures", weights)
        if noise is not None:
            self.doubtful = noise.doubtful
            self.sums = self.sums.with_noise(noise)
        # These are (T, 1 + draws)
        self.accuracies = ratio(self.sums.correct, self.sums.counted)
        self.biases = ratio(self.sums.difference, self.sums.readable)
        yes = ratio(self.sums.agreeing, self.sums.counted)
        self.majorities = np.where(yes[:, :1] >= 0.5, yes, 1 - yes)
        self.answered_rows = [int(t) for t in np.flatnonzero(~np.isnan(cell.human).all(axis=1))]
        "rows of the targets that respondents answered"

    def figures(self, condition: Condition) -> ConditionFigures:
        """Return the figures of all targets, and their means."""
        cell, targets = self.cell, self._targets()
        shares = cell.share[cell.readable]
        weights = None
        if cell.weights is not None:
            weights = np.broadcast_to(cell.weights, cell.share.shape)[cell.readable]
        excess = self.accuracies - self.majorities
        over_majority = self._mean_accuracy(excess, SIGNED, "change of accuracy")
        majority = p_majority = UNDEFINED
        if self.answered_rows:
            majority = float(np.mean([targets[t].majority for t in self.answered_rows]))
        if not over_majority.undefined:
            p_majority = self._p_of_mean(excess, self.answered_rows)
        axis, p_axis = self._axis()
        return ConditionFigures(
            condition=condition,
            targets=targets,
            accuracy=self._mean_accuracy(self.accuracies, SHARE, "mean accuracy"),
            majority=majority,
            absolute_bias=self._absolute(),
            axis=axis,
            p_axis=p_axis,
            yes=sum(figure.yes for figure in targets),
            no=sum(figure.no for figure in targets),
            unreadable=sum(figure.unreadable for figure in targets),
            p_yes=mean_of(shares, weights),
            p_yes_sd=deviation(shares, weights),
            over_majority=over_majority,
            p_majority=p_majority,
            always_yes=self._chance(targets, 1.0),
            coin=self._chance(targets, 0.5),
        )

    def _chance(self, targets: Sequence[TargetFigure], yes: float) -> ChanceLevels:
        """Return the chance levels of a model that ignores the question.

        It says yes with the probability `yes`, otherwise no.
        """
        toward = np.array(
            [TOWARDS_CONSERVATIVE[self.report.predictions.leanings[t]] for t in self.answered_rows]
        )
        figures = [targets[t] for t in self.answered_rows]
        human = np.array([figure.human for figure in figures])
        bias = np.array([figure.always_yes for figure in figures]) - (1 - yes)
        accuracy = absolute_bias = axis = UNDEFINED
        if figures:
            accuracy = float((yes * human + (1 - yes) * (1 - human)).mean())
            absolute_bias = float(np.abs(bias).mean())
        has_leaning = ~np.isnan(toward)
        if has_leaning.any():
            axis = float((toward * bias)[has_leaning].mean())
        return ChanceLevels(accuracy, absolute_bias, axis)

    @cached_property
    def _why_no_accuracy(self) -> list[str]:
        """The reason why each target has no accuracy, or an empty string."""
        return [
            self._reason(target, self.cell.why_no_accuracy(t))
            for t, target in enumerate(self.targets)
        ]

    @cached_property
    def _why_no_bias(self) -> list[str]:
        """The reason why each target has no bias, or an empty string."""
        return [
            self._reason(target, self.cell.why_no_bias(t)) for t, target in enumerate(self.targets)
        ]

    def _reason(self, target: str, reason: str) -> str:
        """Return a target's reason, which is a ruling if that excludes its prompts."""
        if reason == NOT_ASKED and target in self.report.predictions.ruled_out:
            return RULED_OUT
        return reason

    def _targets(self) -> tuple[TargetFigure, ...]:
        """Return the figures of each target."""
        cell = self.cell
        counted = EffectiveCounts.from_weights(cell.weights, cell.counted)
        readable = EffectiveCounts.from_weights(cell.weights, cell.readable)
        accuracies = estimates(
            self.accuracies, self._bases_of_accuracy(counted), counted.exact, SHARE, ACCURACY
        )
        biases = estimates(
            self.biases, self._bases_of_bias(readable), readable.exact, SIGNED, "bias of a target"
        )
        p_values = p_of_zero(self.biases, readable.exact)
        return tuple(
            self._target(t, accuracy, bias, float(p))
            for t, (accuracy, bias, p) in enumerate(zip(accuracies, biases, p_values, strict=True))
        )

    def _bases_of_accuracy(self, counts: EffectiveCounts) -> list[Basis]:
        """Return the numbers behind the accuracy of each target."""
        n_excluded = (self.cell.asked & ~self.cell.counted).sum(axis=1)
        return [
            Basis(
                counts.rounded[t],
                int(n_excluded[t]),
                reason,
                doubtful=bool(self.doubtful[t]),
                effective=counts.weighted[t],
            )
            for t, reason in enumerate(self._why_no_accuracy)
        ]

    def _bases_of_bias(self, counts: EffectiveCounts) -> list[Basis]:
        """Return the numbers behind the bias of each target."""
        cell = self.cell
        n_excluded = (cell.asked & ~cell.readable).sum(axis=1)
        n_yes = (cell.readable & (cell.human == 1)).sum(axis=1)
        n_no = (cell.readable & (cell.human == 0)).sum(axis=1)
        n_rarer = np.minimum(n_yes, n_no)
        return [
            Basis(counts.rounded[t], int(n_excluded[t]), reason, int(n_rarer[t]))
            for t, reason in enumerate(self._why_no_bias)
        ]

    def _target(self, t: int, accuracy: Estimate, bias: Estimate, p: float) -> TargetFigure:
        """Return the figures of one target, given its estimates and the p of its bias."""
        cell = self.cell
        counted, readable = cell.counted[t], cell.readable[t]
        # Without any counted prediction the human answers still have a mean
        included = counted if counted.any() else cell.asked[t]
        answers = cell.human[t][included]
        human = mean_of(answers, _of(cell.weights, included))
        shares = cell.share[t][readable]
        says_yes = int(cell.says_yes[t].sum())
        neither = 1 - cell.yes[t][counted] - cell.no[t][counted]
        return TargetFigure(
            target=self.targets[t],
            respondents=len(answers),
            unreadable=int(counted.sum() - readable.sum()),
            yes=says_yes,
            no=int(readable.sum()) - says_yes,
            human=human,
            majority=max(human, 1 - human),
            accuracy=accuracy,
            accuracy_se=standard_error(
                cell.correct[t][counted].astype(np.float64), _of(cell.weights, counted)
            ),
            p_yes=mean_of(shares, _of(cell.weights, readable)),
            p_yes_sd=deviation(shares, _of(cell.weights, readable)),
            bias=bias,
            bias_se=_bias_se(cell, t, self.report.options),
            without=mean_of(np.clip(neither, 0, 1), _of(cell.weights, counted)),
            p=p,
            effective_n=float(effective_number(cell.weights, included)),
        )

    def _mean_accuracy(self, drawn: FloatArray, limit: tuple[float, float], name: str) -> Average:
        """Return the mean of accuracies, or of their changes, over the answered targets."""
        return self._mean(
            drawn, self.answered_rows, limit, self._why_no_accuracy, self.cell.counted, name
        )

    def _p_of_mean(self, drawn: FloatArray, rows: Sequence[int]) -> float:
        """Return the two-sided p-value of no difference of the mean over some targets from 0."""
        return float(p_of_zero(drawn[list(rows)].mean(axis=0), self.respondents))

    def _mean(
        self,
        drawn: FloatArray,
        some: Sequence[int],
        limit: tuple[float, float],
        why: Sequence[str],
        counting: BoolArray,
        name: str = "",
    ) -> Average:
        """Return the mean over some targets, as an `Average`.

        Parameters
        ----------
        drawn : (T, 1 + draws), the figure of every target
        some : rows of the targets
        why : for every target the reason why it has no figure, or an empty string
        counting : (T, R), the respondents of each target
        name : of the interval's method
        """
        undefined = reasons([self.targets[t] for t in some], [why[t] for t in some])
        undefined = undefined or "no respondent answered a target with yes or no"
        counts = EffectiveCounts.from_weights(self.cell.weights, counting).rounded
        fewest = min((counts[t] for t in some), default=0)
        return average(drawn[some], self.respondents, limit, undefined, fewest, name)

    def _absolute(self) -> AbsoluteBias:
        """Return the mean of |bias|, without an interval, since noise adds to each of its draws."""
        rows = self.answered_rows
        mean = self._mean(np.abs(self.biases), rows, SHARE, self._why_no_bias, self.cell.readable)
        noise = NOTHING
        if not mean.undefined:
            sums = self.sums
            noise = noise_floor(sums.difference[rows], sums.squares[rows], sums.readable[rows])
        return AbsoluteBias(
            mean.value,
            mean.se,
            UNDEFINED,
            UNDEFINED,
            mean.n,
            mean.undefined,
            mean.respondents,
            noise=noise,
        )

    def _axis(self) -> tuple[Average, float]:
        """Return the mean bias towards the conservative pole, and the p-value of no such bias."""
        sign = np.array([TOWARDS_CONSERVATIVE[pole] for pole in self.report.predictions.leanings])
        leaning_rows = [t for t in self.answered_rows if not np.isnan(sign[t])]
        if not leaning_rows:
            reason = "no answered target has a leaning of a yes"
            return average(self.biases[:0], 0, SIGNED, reason), UNDEFINED
        biases = self.biases * sign[:, None]
        mean = self._mean(
            biases, leaning_rows, SIGNED, self._why_no_bias, self.cell.readable, "axis"
        )
        p = UNDEFINED if mean.undefined else self._p_of_mean(biases, leaning_rows)
        return mean, p


@dataclass(frozen=True, eq=False)
class CellPair:
    """Two cells of the same respondents and targets."""

    first: ConditionCell
    second: ConditionCell

    @cached_property
    def counted(self) -> BoolArray:
        """Where the predictions of both cells are counted: (T, R)."""
        return self.first.counted & self.second.counted

    @cached_property
    def readable(self) -> BoolArray:
        """Where the predictions of both cells are readable: (T, R)."""
        return self.first.readable & self.second.readable

    @cached_property
    def units(self) -> BoolArray:
        """The respondents to draw from: (R,)."""
        return np.asarray(self.counted.any(axis=0))

    def features(self) -> FloatArray:
        """Return the contributions of each respondent to the sums: (6, T, R).

        The sums are those of counted and of readable predictions, of correct ones in either cell,
        and of the differences in either cell.
        """
        correct = [cell.correct & self.counted for cell in (self.first, self.second)]
        cell_differences = [
            np.where(self.readable, cell.difference, 0.0) for cell in (self.first, self.second)
        ]
        features = np.stack([self.counted, self.readable, *correct, *cell_differences]).astype(
            np.float64
        )
        return (
            features
            if self.weights is None
            else features * scaled_weights(self.weights, self.counted)
        )

    @property
    def weights(self) -> FloatArray | None:
        """The weights of the respondents, or None."""
        return self.first.weights

    def why_no_accuracy(self, target: int) -> str:
        """Return the reason why a target has no accuracy on both sides, or an empty string."""
        if np.isnan(self.first.human[target]).all():
            return NOBODY_ANSWERED
        if self.counted[target].any():
            return ""
        if (self.first.asked & self.second.asked)[target].any():
            return NOT_OFFERED
        return "no respondent was asked for on both sides"

    def why_no_bias(self, target: int) -> str:
        """Return the reason why a target has no bias on both sides, or an empty string."""
        reason = self.why_no_accuracy(target)
        if reason or self.readable[target].any():
            return reason
        return "no respondent is readable on both sides"


@dataclass(frozen=True, slots=True, eq=False)
class _PairSums:
    """The sums over the respondents of a pair, in the sample and in each draw."""

    counted: FloatArray
    "(T, 1 + draws): predictions counted on both sides"
    readable: FloatArray
    "(T, 1 + draws): predictions readable on both sides"
    correct: FloatArray
    "(2, T, 1 + draws): correct predictions of each side"
    difference: FloatArray
    "(2, T, 1 + draws): differences of each side"

    @classmethod
    def from_features(cls, sums: FloatArray) -> _PairSums:
        """Return the sums of `CellPair.features`: (6, T, 1 + draws)."""
        return cls(counted=sums[0], readable=sums[1], correct=sums[2:4], difference=sums[4:6])

    def add_noise(self, side: int, noise: SharedNoise) -> None:
        """Add the noise of answers that several respondents share to the sums of one side."""
        self.correct[side] = np.clip(self.correct[side] + noise.correct, 0, self.counted)
        self.difference[side] += noise.difference


class ComparedCells:
    """A pair with its draws: accuracies and biases of both cells, (2, T, 1 + draws) each."""

    def __init__(self, pair: CellPair, targets: Sequence[str], sums: _PairSums) -> None:
        self.pair = pair
        self.targets = targets
        self.accuracies = ratio(sums.correct, sums.counted)
        self.biases = ratio(sums.difference, sums.readable)
        self.answered = np.flatnonzero(~np.isnan(pair.first.human).all(axis=1))

    def of_accuracy(
        self, drawn: FloatArray, limit: tuple[float, float], name: str
    ) -> tuple[Estimate, ...]:
        """Return an estimate of an accuracy, or of a change, for each target: (T, 1 + draws)."""
        return self._estimates(drawn, limit, self.pair.counted, self.pair.why_no_accuracy, name)

    def of_bias(
        self, drawn: FloatArray, limit: tuple[float, float], name: str
    ) -> tuple[Estimate, ...]:
        """Return an estimate of a bias, or of a change, for each target: (T, 1 + draws)."""
        return self._estimates(drawn, limit, self.pair.readable, self.pair.why_no_bias, name)

    def mean(
        self, drawn: FloatArray, limit: tuple[float, float], of_bias: bool, name: str = ""
    ) -> Estimate:
        """Return the mean over the targets that respondents answered. Its n is their number."""
        rows = [int(t) for t in self.answered]
        why = self.pair.why_no_bias if of_bias else self.pair.why_no_accuracy
        undefined = reasons([self.targets[t] for t in rows], [why(t) for t in rows])
        mean = np.full((1, drawn.shape[1]), np.nan)
        if rows:
            mean = drawn[rows].mean(axis=0, keepdims=True)
        basis = Basis(len(rows), 0, undefined or "no respondent answered a target with yes or no")
        n = float(effective_number(self.pair.weights, self.pair.units))
        return estimates(mean, [basis], n, limit, name)[0]

    @cached_property
    def respondents(self) -> list[int]:
        """The numbers of respondents who are readable on both sides, for each target."""
        return EffectiveCounts.from_weights(self.pair.weights, self.pair.readable).rounded

    @property
    def fewest(self) -> int:
        """The number of respondents of the target with the fewest, of those in a mean."""
        return min((self.respondents[t] for t in self.answered), default=0)

    def _estimates(
        self,
        drawn: FloatArray,
        limit: tuple[float, float],
        included: BoolArray,
        why: Callable[[int], str],
        name: str,
    ) -> tuple[Estimate, ...]:
        """Return an estimate for each target: (T, 1 + draws).

        `included` marks the predictions in it. `why` returns the reason why a target has none.
        """
        is_asked = self.pair.first.asked | self.pair.second.asked
        n_excluded = (is_asked & ~included).sum(axis=1)
        counts = EffectiveCounts.from_weights(self.pair.weights, included)
        bases = [
            Basis(counts.rounded[t], int(n_excluded[t]), why(t), effective=counts.weighted[t])
            for t in range(len(self.targets))
        ]
        return estimates(drawn, bases, counts.exact, limit, name)


def ablations(
    prediction_index: PredictionIndex, conditions: Sequence[Condition], resampling: RespondentDraws
) -> tuple[Ablation, ...]:
    """Return the changes of each condition against `qm`, for its targets and for their mean.

    They are empty without `qm`.
    """
    baseline = next((condition for condition in conditions if condition.name == QM), None)
    other_conditions = [condition for condition in conditions if condition != baseline]
    if baseline is None or not other_conditions:
        return ()
    qm = prediction_index.cell(baseline, ORIGINAL)
    pairs = [
        CellPair(qm, prediction_index.cell(condition, ORIGINAL)) for condition in other_conditions
    ]
    targets = prediction_index.predictions.targets
    compared_by_index = dict(_compared(pairs, targets, resampling))
    return tuple(
        ablation
        for index, condition in enumerate(other_conditions)
        for ablation in _ablation(condition, compared_by_index[index])
    )


def _compared(
    pairs: Sequence[CellPair], targets: Sequence[str], resampling: RespondentDraws
) -> Iterator[tuple[int, ComparedCells]]:
    """Yield the index of each pair, and the pair with its draws.

    Pairs of the same respondents are drawn together, since drawing takes most of the time.
    """
    groups: dict[bytes, list[int]] = {}
    for index, pair in enumerate(pairs):
        groups.setdefault(pair.units.tobytes(), []).append(index)
    chunk_size = max(1, AT_ONCE // max(1, 6 * len(targets) * (1 + resampling.draws)))
    for group in groups.values():
        for start in range(0, len(group), chunk_size):
            chunk = group[start : start + chunk_size]
            sums = resampling.sums(
                np.stack([pairs[index].features() for index in chunk]), pairs[chunk[0]].units
            )
            for index, features in zip(chunk, sums, strict=True):
                pair_sums = _PairSums.from_features(features)
                _add_noise(pairs[index], pair_sums, resampling)
                yield index, ComparedCells(pairs[index], targets, pair_sums)


def _add_noise(pair: CellPair, sums: _PairSums, resampling: RespondentDraws) -> None:
    """Add the noise of answers that several respondents share to the sums of a pair.

    Only counted answers have it, see `shared_noise`.
    """
    weights = scaled_weights(pair.weights, pair.counted)
    for side, cell in enumerate((pair.first, pair.second)):
        noise = shared_noise(cell, resampling, f"side {side}", weights, pair.readable)
        if noise is not None:
            sums.add_noise(side, noise)


def _ablation(condition: Condition, found: ComparedCells) -> Iterator[Ablation]:
    """Yield the changes under a condition for each target, then for their mean."""
    qm_bias, bias = found.biases
    qm_accuracy, accuracy = found.accuracies
    rows = zip(
        found.targets,
        found.of_bias(bias, SIGNED, "bias of a target"),
        found.of_bias(bias - qm_bias, SIGNED, "change of bias"),
        found.of_accuracy(accuracy, SHARE, ACCURACY),
        found.of_accuracy(accuracy - qm_accuracy, SIGNED, "change of accuracy"),
        found.respondents,
        strict=True,
    )
    for target, target_bias, change, target_accuracy, accuracy_change, respondents in rows:
        yield Ablation(
            target, condition, target_bias, change, target_accuracy, accuracy_change, respondents
        )
    yield Ablation(
        None,
        condition,
        _without_interval(found.mean(np.abs(bias), SHARE, of_bias=True)),
        _without_interval(found.mean(np.abs(bias) - np.abs(qm_bias), SIGNED, of_bias=True)),
        found.mean(accuracy, SHARE, False, "mean accuracy"),
        found.mean(accuracy - qm_accuracy, SIGNED, False, "change of accuracy"),
        found.fewest,
    )


def _differences(
    a: PredictionIndex, b: PredictionIndex, condition: Condition, resampling: RespondentDraws
) -> tuple[TargetDifference, ...]:
    """Return `b` minus `a` for each target of both, then the means over these targets."""
    targets = tuple(target for target in a.predictions.targets if target in b.predictions.targets)
    names = sorted(set(a.respondents) & set(b.respondents))
    pair = CellPair(
        *(_shared(prediction_index, condition, names, targets) for prediction_index in (a, b))
    )
    compared_cells = dict(_compared([pair], targets, resampling))[0]
    (bias_a, bias_b), (accuracy_a, accuracy_b) = compared_cells.biases, compared_cells.accuracies
    flipped = _on_different_sides(
        interval(compared_cells.biases, effective_number(pair.weights, pair.readable), SIGNED)
    )
    n_readable = [_readable(prediction_index, condition) for prediction_index in (a, b)]
    excluded = [
        (n_readable[0].get(target, 0) - n, n_readable[1].get(target, 0) - n)
        for target, n in zip(targets, compared_cells.respondents, strict=True)
    ]
    rows = zip(
        targets,
        compared_cells.of_bias(bias_b - bias_a, SIGNED, "change of bias"),
        compared_cells.of_accuracy(accuracy_b - accuracy_a, SIGNED, "change of accuracy"),
        [
            is_flipped and not is_few(n)
            for is_flipped, n in zip(flipped, compared_cells.respondents, strict=True)
        ],
        compared_cells.respondents,
        excluded,
        strict=True,
    )
    n_both = sum(compared_cells.respondents)
    excluded_true_in_all = (
        sum(n_readable[0].values()) - n_both,
        sum(n_readable[1].values()) - n_both,
    )
    bias = _without_interval(
        compared_cells.mean(np.abs(bias_b) - np.abs(bias_a), SIGNED, of_bias=True)
    )
    accuracy = compared_cells.mean(accuracy_b - accuracy_a, SIGNED, False, "change of accuracy")
    return (
        *(TargetDifference(*row) for row in rows),
        TargetDifference(
            None,
            bias,
            accuracy,
            flipped=False,
            respondents=compared_cells.fewest,
            left_out=excluded_true_in_all,
        ),
    )


def _readable(prediction_index: PredictionIndex, condition: Condition) -> dict[str, int]:
    """Return the number of readable respondents for each target."""
    cell = prediction_index.cell(condition, ORIGINAL)
    counts = EffectiveCounts.from_weights(cell.weights, cell.readable).rounded
    return dict(zip(prediction_index.predictions.targets, counts, strict=True))


def _without_interval(found: Estimate) -> Estimate:
    """Return an estimate of absolute values without its interval.

    Noise adds to absolute values in every draw, so the draws make no interval (`stats.noise`).
    """
    return replace(found, low=float("nan"), high=float("nan"), interval="", few="")


def _shared(
    prediction_index: PredictionIndex,
    condition: Condition,
    names: Sequence[str],
    targets: Sequence[str],
) -> ConditionCell:
    """Return the cell of a condition, restricted to some respondents and targets in their order."""
    index_by_name = {name: index for index, name in enumerate(prediction_index.respondents)}
    respondents = np.array([index_by_name[name] for name in names], dtype=np.int64)
    rows = np.array(
        [prediction_index.predictions.targets.index(target) for target in targets], dtype=np.int64
    )
    return prediction_index.cell(condition, ORIGINAL).of(respondents, rows)


def _on_different_sides(ends: FloatArray) -> list[bool]:
    """Return for each target whether the intervals of two models lie on different sides of 0.

    `ends` is (2 ends, 2 models, T).
    """
    (low_a, low_b), (high_a, high_b) = ends
    return [
        bool(is_flipped)
        for is_flipped in ((high_a < 0) & (low_b > 0)) | ((low_a > 0) & (high_b < 0))
    ]


ALL_VOID = "every other wording is identical to the original"
FEWEST = {"sd": 2, "rms": 1}
"the smallest number of wordings with a bias for each measure"


def variability(
    prediction_index: PredictionIndex, condition: Condition, resampling: RespondentDraws
) -> tuple[VariabilityFigure, ...]:
    """Return the variability of each target's bias over its wordings.

    It is empty if only the original was asked. Wordings with another meaning, such as negations,
    are excluded. Raises UnknownName if the model was not asked under the condition.
    """
    prediction_index.condition_index(condition)
    asked_wordings = [
        wording
        for wording in prediction_index.predictions.wordings
        if wording.relation is Relation.SAME and len(prediction_index.rows(condition, wording))
    ]
    if not any(wording != ORIGINAL for wording in asked_wordings):
        return ()
    wordings = Wordings(prediction_index, condition, tuple(asked_wordings))
    figures: list[VariabilityFigure] = []
    chunk_size = max(1, AT_ONCE // (2 * len(asked_wordings) * (1 + resampling.draws)))
    for start in range(0, len(prediction_index.predictions.targets), chunk_size):
        rows = range(start, min(start + chunk_size, len(prediction_index.predictions.targets)))
        sums = wordings.with_noise(
            resampling.sums(wordings.features(rows), wordings.units), rows, resampling
        )
        figures += [
            wordings.figure(row, *target_sums) for row, target_sums in zip(rows, sums, strict=True)
        ]
    return tuple(figures)


class Wordings:
    """All wordings of all targets under one condition."""

    def __init__(
        self,
        prediction_index: PredictionIndex,
        condition: Condition,
        wordings: tuple[VariantId, ...],
    ) -> None:
        self.targets, self.condition, self.wordings = (
            prediction_index.predictions.targets,
            condition,
            wordings,
        )
        self.cells = [prediction_index.cell(condition, wording) for wording in wordings]
        self.is_asked: BoolArray = np.array([cell.present.any(axis=1) for cell in self.cells])
        "(W, T): the wordings in which each target was asked"
        self.common: BoolArray = self._true_in_all("counted")
        "(T, R): the respondents who were asked in all wordings of a target"
        self.units: BoolArray = np.asarray(self.common.any(axis=0))
        all_wordings = prediction_index.predictions.wordings
        void = prediction_index.predictions.void
        self.void: BoolArray = (
            np.zeros_like(self.is_asked)
            if void is None
            else void[[all_wordings.index(wording) for wording in wordings]]
        )
        "(W, T): the wordings that read like the original"
        self.paraphrase: BoolArray = np.array([wording != ORIGINAL for wording in wordings])

    def _true_in_all(self, name: str) -> BoolArray:
        """Return where a mask of the cells is true in all wordings that were asked: (T, R).

        `name` is the mask's attribute, such as `counted`.
        """
        common = np.repeat(
            self.is_asked.any(axis=0, keepdims=True).T, self.cells[0].human.shape[1], axis=1
        )
        for index, cell in enumerate(self.cells):
            common &= getattr(cell, name) | ~self.is_asked[index][:, np.newaxis]
        return np.asarray(common)

    def features(self, rows: Sequence[int]) -> FloatArray:
        """Return the contributions of each respondent to the sums of some targets.

        They are (targets, 2, W, R): whether the prediction is readable, and share - answer.
        """
        rows = list(rows)
        common = self.common[rows]
        readable = np.stack([cell.readable[rows] & common for cell in self.cells], axis=1)
        difference = np.stack([cell.difference[rows] for cell in self.cells], axis=1)
        features = np.stack([readable, np.where(readable, difference, 0.0)], axis=1)
        if self.weights is None:
            return features
        return features * scaled_weights(self.weights, common)[:, None, None]

    @property
    def weights(self) -> FloatArray | None:
        """The weights of the respondents, or None."""
        return self.cells[0].weights

    def with_noise(
        self, sums: FloatArray, rows: Sequence[int], resampling: RespondentDraws
    ) -> FloatArray:
        """Return sums (targets, 2, W, 1 + draws) with the noise of answers that respondents share.

        Only counted answers have it. The sums are changed in place.
        """
        for index, (wording, cell) in enumerate(zip(self.wordings, self.cells, strict=True)):
            weights = scaled_weights(self.weights, self.common)
            noise = shared_noise(cell, resampling, f"wording {wording}", weights, self.common, rows)
            if noise is not None:
                sums[:, 1, index] += noise.difference
        return sums

    def figure(self, row: int, readable: FloatArray, difference: FloatArray) -> VariabilityFigure:
        """Return the variability of a target, given its sums of (W, 1 + draws) each."""
        biases = ratio(difference, readable)
        n_readable = np.array(
            [int((cell.readable[row] & self.common[row]).sum()) for cell in self.cells]
        )
        paraphrases = self.is_asked[:, row] & self.paraphrase
        # `sd` excludes void paraphrases, `rms` includes them
        not_void = paraphrases & ~self.void[:, row]
        sd_basis = self._basis(row, not_void, n_readable, FEWEST["sd"])
        rms_basis = self._basis(row, paraphrases, n_readable, FEWEST["rms"])
        if not not_void.any() and paraphrases.any():
            sd_basis = Basis(0, 0, ALL_VOID)
        sd, rms = spread(biases[not_void])[0], spread(biases[paraphrases])[1]
        n = float(effective_number(self.weights, self.common[row]))
        return VariabilityFigure(
            target=self.targets[row],
            condition=self.condition,
            wordings=tuple(
                WordingFigure(
                    self.wordings[w],
                    float(biases[w, 0]),
                    int(n_readable[w]),
                    bool(self.void[w, row]),
                )
                for w in np.flatnonzero(self.is_asked[:, row])
            ),
            k=int((n_readable[not_void] > 0).sum()),
            sd=_deviation(float(sd[0]), sd_basis),
            rms=_deviation(float(rms[0]), rms_basis),
            sd_noise=_noise(sd, n),
            rms_noise=_noise(rms, n),
        )

    def _basis(self, row: int, wordings: BoolArray, n_readable: IntArray, fewest: int) -> Basis:
        """Return the numbers behind a deviation of a target over some wordings.

        `fewest` is the smallest number of wordings with a bias that it needs.
        """
        k = int((n_readable[wordings] > 0).sum())
        reason = self._why(row, k)
        if not reason and fewest > 1:
            reason = f"{k} wording has a bias; a deviation needs {fewest}"
        return Basis(k, int(wordings.sum()) - k, reason)

    def _why(self, row: int, k: int) -> str:
        """Return the reason why no wording of a target has a bias, or an empty string.

        `k` wordings have a bias.
        """
        if np.isnan(self.cells[0].human[row]).all():
            return NOBODY_ANSWERED
        if not (self.is_asked[:, row] & self.paraphrase).any():
            return "only the original was asked"
        if not self.common[row].any():
            if self._true_in_all("asked")[row].any():
                return NOT_OFFERED
            return "no respondent was asked in all wordings"
        return "" if k else UNREADABLE


def _deviation(value: float, basis: Basis) -> Estimate:
    """Return a deviation over wordings as an estimate, which has no interval."""
    undefined = basis.undefined if np.isnan(value) else ""
    return Estimate(value, float("nan"), float("nan"), basis.n, basis.excluded, undefined)


def _noise(drawn: FloatArray, respondents: float) -> Noise:
    """Return the noise in a deviation over wordings, given the deviation and its draws.

    `drawn` is (1 + draws,).
    A draw of respondents contains their noise once more. So E*[d*²] - d² is the square of the
    deviation that noise adds, except for the factor (n - 1) / n of the bootstrap's variance.
    """
    squares = drawn[1:][~np.isnan(drawn[1:])] ** 2
    if respondents < 2 or np.isnan(drawn[0]) or not len(squares):
        return Noise(float("nan"), float("nan"))
    noise_variance = (
        max(0.0, float(squares.mean()) - float(drawn[0]) ** 2) * respondents / (respondents - 1)
    )
    return Noise(
        math.sqrt(noise_variance), math.sqrt(max(0.0, float(drawn[0]) ** 2 - noise_variance))
    )


def spread(biases: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return sd and rms of biases over wordings: (K, ...) to two (...).

    NaN is excluded. A result is NaN if fewer wordings have a bias than `FEWEST` says.
    """
    defined = ~np.isnan(biases)
    k: IntArray = defined.sum(axis=0)
    known_biases, divisor = np.where(defined, biases, 0.0), np.maximum(k, 1)
    mean = known_biases.sum(axis=0) / divisor
    squares = np.where(defined, (known_biases - mean) ** 2, 0.0).sum(axis=0) / divisor
    sd = np.where(k >= FEWEST["sd"], np.sqrt(squares), np.nan)
    rms = np.where(k >= FEWEST["rms"], np.sqrt((known_biases**2).sum(axis=0) / divisor), np.nan)
    return sd, rms
