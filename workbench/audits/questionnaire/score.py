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
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    Cell,
    Layout,
    RespondentDraws,
    average,
    deviation,
    effective,
    estimates,
    interval,
    mean_of,
    p_of_zero,
    ratio,
    reasons,
    redrawn,
    scaled,
    shared,
    standard_error,
)
from workbench.audits.questionnaire.figures import (
    Ablation,
    AbsoluteBias,
    Average,
    Condition,
    ConditionFigures,
    Correlation,
    Noise,
    Predictions,
    Regardless,
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


def judge(predictions: Predictions, options: PredictionOptions | None = None) -> PredictionReport:
    """Return the report of one model, which computes each figure on first use and keeps it.

    Raises ValueError for predictions that no run could have made, such as two of one prompt.
    """
    return PredictionReport(predictions, options or PredictionOptions(), Layout(predictions))


@dataclass(frozen=True, eq=False)
class PredictionReport:
    """The predictions of one model and the figures computed from them."""

    predictions: Predictions
    options: PredictionOptions
    layout: Layout = field(repr=False)
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
        measure([(self, condition)])
        return self._figures[condition]

    def by(self, options: PredictionOptions) -> PredictionReport:
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
        cell = self.layout.cell(found.condition, ORIGINAL)
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
            self._wordings[condition] = variability(self.layout, condition, self.resampling)
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
        return ablations(self.layout, self.conditions, self.resampling)


def measure(asked: Iterable[tuple[PredictionReport, Condition]]) -> None:
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
            _measure(same_draws[start : start + chunk_size], resampling)


def _measure(
    asked: Sequence[tuple[PredictionReport, Condition]], resampling: RespondentDraws
) -> None:
    """Compute the figures of some cells at once, and keep them in their reports."""
    cells = [report.layout.cell(condition, ORIGINAL) for report, condition in asked]
    sums = resampling.together(
        [(_features(cell), np.asarray(cell.counted.any(axis=0))) for cell in cells]
    )
    for (report, condition), cell, cell_sums in zip(asked, cells, sums, strict=True):
        report._figures[condition] = _MeasuredCell(report, cell, cell_sums).figures(condition)


def _features(cell: Cell) -> FloatArray:
    """Return the contributions of each respondent to the sums: (6, T, R).

    The sums are those of counted, correct and readable predictions, of the differences and their
    squares, and of counted respondents who answered yes.
    """
    difference = np.nan_to_num(cell.difference)
    agrees = cell.counted & (cell.human == 1)
    features = np.stack(
        [cell.counted, cell.correct, cell.readable, difference, difference**2, agrees]
    )
    return features if cell.weights is None else features * scaled(cell.weights, cell.counted)


def _bias_se(cell: Cell, target: int, options: PredictionOptions) -> float:
    """Return the standard error of a target's bias by the formula of the options."""
    values = cell.difference if options.error == "paired" else cell.human
    readable = cell.readable[target]
    return standard_error(values[target][readable], _of(cell.weights, readable))


def _of(weights: FloatArray | None, people: BoolArray) -> FloatArray | None:
    """Return the weights of some respondents, or None without weights."""
    return None if weights is None else weights[people]


def _counts(
    weights: FloatArray | None, people: BoolArray
) -> tuple[FloatArray, list[int], list[float | None]]:
    """Return the effective numbers of the counted respondents in three forms.

    They are exact for statistics, rounded down for counts, and again exact, but None without
    weights.
    """
    exact_counts = effective(weights, people)
    return (
        exact_counts,
        [int(n) for n in exact_counts],
        [None if weights is None else float(n) for n in exact_counts],
    )


def correlations(
    reports: Mapping[str, PredictionReport], condition: Condition
) -> tuple[Correlation, ...]:
    """Return Pearson's correlations of |bias| and accuracy (section 5.2).

    The first one is over models and targets, then one over models for each target. Models that were
    not asked under the condition, and targets without a value, are excluded. Models with computed
    probabilities and models with counted answers have separate correlations. The test treats the
    points as independent, as published, although the points of one model depend on each other.
    """
    measure((report, condition) for report in reports.values() if condition in report.conditions)
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
        redrawn_by_model.append(redrawn(report.layout.cell(condition, ORIGINAL), few_draws, name))
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

    return _differences(a.layout, b.layout, condition, a.resampling)


class _MeasuredCell:
    """All targets in one cell, with their draws.

    `sums` are those of `_features`, (6, T, 1 + draws): in the sample, then in each draw.
    """

    def __init__(self, report: PredictionReport, cell: Cell, sums: FloatArray) -> None:
        self.report, self.cell = report, cell
        self.targets = report.predictions.targets
        self.respondents = float(effective(cell.weights, np.asarray(cell.counted.any(axis=0))))
        counted, correct, readable, difference, squares, agrees = sums
        noise = shared(cell, report.resampling, "figures", scaled(cell.weights, cell.counted))
        self.doubtful = np.zeros(len(self.targets), dtype=np.bool_)
        if noise is not None:
            self.doubtful = noise.doubtful
            correct, difference = (
                np.clip(correct + noise.correct, 0, counted),
                difference + noise.difference,
            )
            # 1 in place of 0 avoids a division by 0
            n_readable = np.where(readable[:, :1] > 0, readable[:, :1], 1.0)
            squares = squares + readable * (readable - 1) * noise.variance[:, None] / n_readable**2
        self._of_bias = difference, squares, readable
        # Both are (T, 1 + draws)
        self.accuracies, self.biases = (
            ratio(correct, counted),
            ratio(difference, readable),
        )
        yes = ratio(agrees, counted)
        self.majorities = np.where(yes[:, :1] >= 0.5, yes, 1 - yes)

    def figures(self, condition: Condition) -> ConditionFigures:
        """Return the figures of all targets, and their means."""
        cell, targets = self.cell, self._targets()
        shares = cell.share[cell.readable]
        weights = (
            None
            if cell.weights is None
            else np.broadcast_to(cell.weights, cell.share.shape)[cell.readable]
        )
        no_accuracy, no_bias = self._why
        answered_rows = [int(t) for t in np.flatnonzero(~np.isnan(cell.human).all(axis=1))]
        excess = self.accuracies - self.majorities
        over_majority = self._mean(
            excess, answered_rows, SIGNED, no_accuracy, cell.counted, "change of accuracy"
        )
        is_defined = not over_majority.undefined
        axis, p_axis = self._axis(answered_rows)
        return ConditionFigures(
            condition=condition,
            targets=targets,
            accuracy=self._mean(
                self.accuracies, answered_rows, SHARE, no_accuracy, cell.counted, "mean accuracy"
            ),
            majority=float(np.mean([targets[t].majority for t in answered_rows]))
            if answered_rows
            else UNDEFINED,
            absolute_bias=self._absolute(answered_rows, no_bias),
            axis=axis,
            p_axis=p_axis,
            yes=sum(figure.yes for figure in targets),
            no=sum(figure.no for figure in targets),
            unreadable=sum(figure.unreadable for figure in targets),
            p_yes=mean_of(shares, weights),
            p_yes_sd=deviation(shares, weights),
            over_majority=over_majority,
            p_majority=float(p_of_zero(excess[answered_rows].mean(axis=0), self.respondents))
            if is_defined
            else UNDEFINED,
            always_yes=self._chance(targets, answered_rows, 1.0),
            coin=self._chance(targets, answered_rows, 0.5),
        )

    def _chance(
        self, targets: Sequence[TargetFigure], answered: Sequence[int], yes: float
    ) -> Regardless:
        """Return the chance levels of a model that ignores the question.

        It says yes with the probability `yes`, otherwise no.
        """
        figures = [targets[t] for t in answered]
        human = np.array([figure.human for figure in figures])
        bias = np.array([figure.always_yes for figure in figures]) - (1 - yes)
        toward = np.array(
            [TOWARDS_CONSERVATIVE[self.report.predictions.leanings[t]] for t in answered]
        )
        has_leaning = ~np.isnan(toward)
        return Regardless(
            float((yes * human + (1 - yes) * (1 - human)).mean()) if figures else UNDEFINED,
            float(np.abs(bias).mean()) if figures else UNDEFINED,
            float((toward * bias)[has_leaning].mean()) if has_leaning.any() else UNDEFINED,
        )

    @cached_property
    def _why(self) -> tuple[list[str], list[str]]:
        """The reasons why targets have no accuracy, and why they have no bias."""
        rows = range(len(self.targets))
        reasons_by_figure = (
            [self.cell.why_no_accuracy(t) for t in rows],
            [self.cell.why_no_bias(t) for t in rows],
        )
        is_ruled_out = [target in self.report.predictions.ruled_out for target in self.targets]
        accuracy, bias = (
            [
                RULED_OUT if ruled_out and reason == NOT_ASKED else reason
                for reason, ruled_out in zip(target_reasons, is_ruled_out, strict=True)
            ]
            for target_reasons in reasons_by_figure
        )
        return accuracy, bias

    def _targets(self) -> tuple[TargetFigure, ...]:
        """Return the figures of each target."""
        cell, (no_accuracy, no_bias) = self.cell, self._why
        n_excluded = [
            (cell.asked & ~included).sum(axis=1) for included in (cell.counted, cell.readable)
        ]
        counted, ns, exact_counts = _counts(cell.weights, cell.counted)
        of_accuracy = [
            Basis(n, int(excluded), reason, doubtful=bool(doubtful), effective=exact)
            for n, excluded, reason, doubtful, exact in zip(
                ns, n_excluded[0], no_accuracy, self.doubtful, exact_counts, strict=True
            )
        ]
        readable, ns, _ = _counts(cell.weights, cell.readable)
        yes, no = (
            np.where(cell.readable, cell.human == answer, False).sum(axis=1) for answer in (1, 0)
        )
        of_bias = [
            Basis(n, int(excluded), reason, int(rarer))
            for n, excluded, reason, rarer in zip(
                ns, n_excluded[1], no_bias, np.minimum(yes, no), strict=True
            )
        ]
        accuracies = estimates(self.accuracies, of_accuracy, counted, SHARE, ACCURACY)
        biases = estimates(self.biases, of_bias, readable, SIGNED, "bias of a target")
        p_values = p_of_zero(self.biases, readable)
        return tuple(
            self._target(t, accuracy, bias, float(p))
            for t, (accuracy, bias, p) in enumerate(zip(accuracies, biases, p_values, strict=True))
        )

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
            effective_n=float(effective(cell.weights, included)),
        )

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
        counts = _counts(self.cell.weights, counting)[1]
        fewest = min((counts[t] for t in some), default=0)
        return average(drawn[some], self.respondents, limit, undefined, fewest, name)

    def _absolute(self, answered: Sequence[int], why: Sequence[str]) -> AbsoluteBias:
        """Return the mean of |bias|, without an interval, since noise adds to each of its draws."""
        mean = self._mean(np.abs(self.biases), answered, SHARE, why, self.cell.readable)
        noise = NOTHING
        if not mean.undefined:
            sums, squares, counts = (values[list(answered)] for values in self._of_bias)
            noise = noise_floor(sums, squares, counts)
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

    def _axis(self, answered: Sequence[int]) -> tuple[Average, float]:
        """Return the mean bias towards the conservative pole, and the p-value of no such bias."""
        sign = np.array([TOWARDS_CONSERVATIVE[pole] for pole in self.report.predictions.leanings])
        leaning_rows = [t for t in answered if not np.isnan(sign[t])]
        if not leaning_rows:
            return average(
                self.biases[:0], 0, SIGNED, "no answered target has a leaning of a yes"
            ), UNDEFINED
        biases = self.biases * sign[:, None]
        mean = self._mean(biases, leaning_rows, SIGNED, self._why[1], self.cell.readable, "axis")
        p = (
            UNDEFINED
            if mean.undefined
            else float(p_of_zero(biases[leaning_rows].mean(axis=0), self.respondents))
        )
        return mean, p


@dataclass(frozen=True, eq=False)
class CellPair:
    """Two cells of the same respondents and targets."""

    first: Cell
    second: Cell

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
        return features if self.weights is None else features * scaled(self.weights, self.counted)

    @property
    def weights(self) -> FloatArray | None:
        """The weights of the respondents, or None."""
        return self.first.weights

    def why(self, target: int) -> tuple[str, str]:
        """Return the reasons why a target has no accuracy, and no bias, on both sides.

        A reason is empty if the figure exists.
        """
        if np.isnan(self.first.human[target]).all():
            return NOBODY_ANSWERED, NOBODY_ANSWERED
        if self.counted[target].any():
            return "", "" if self.readable[
                target
            ].any() else "no respondent is readable on both sides"
        if (self.first.asked & self.second.asked)[target].any():
            return NOT_OFFERED, NOT_OFFERED
        return ("no respondent was asked for on both sides",) * 2


class ComparedCells:
    """A pair with its draws: accuracies and biases of both cells, (2, T, 1 + draws) each."""

    def __init__(self, pair: CellPair, targets: Sequence[str], sums: FloatArray) -> None:
        self.pair, self.targets = pair, targets
        self.accuracies, self.biases = ratio(sums[2:4], sums[0]), ratio(sums[4:6], sums[1])
        self.answered = np.flatnonzero(~np.isnan(pair.first.human).all(axis=1))

    def of_accuracy(
        self, drawn: FloatArray, limit: tuple[float, float], name: str
    ) -> tuple[Estimate, ...]:
        """Return an estimate of an accuracy, or of a change, for each target: (T, 1 + draws)."""
        return self._estimates(drawn, limit, self.pair.counted, 0, name)

    def of_bias(
        self, drawn: FloatArray, limit: tuple[float, float], name: str
    ) -> tuple[Estimate, ...]:
        """Return an estimate of a bias, or of a change, for each target: (T, 1 + draws)."""
        return self._estimates(drawn, limit, self.pair.readable, 1, name)

    def mean(
        self, drawn: FloatArray, limit: tuple[float, float], of_bias: bool, name: str = ""
    ) -> Estimate:
        """Return the mean over the targets that respondents answered. Its n is their number."""
        rows = [int(t) for t in self.answered]
        undefined = reasons(
            [self.targets[t] for t in rows], [self.pair.why(t)[of_bias] for t in rows]
        )
        mean = (
            drawn[rows].mean(axis=0, keepdims=True)
            if rows
            else np.full((1, drawn.shape[1]), np.nan)
        )
        basis = Basis(len(rows), 0, undefined or "no respondent answered a target with yes or no")
        return estimates(
            mean, [basis], float(effective(self.pair.weights, self.pair.units)), limit, name
        )[0]

    @cached_property
    def respondents(self) -> list[int]:
        """The numbers of respondents who are readable on both sides, for each target."""
        return _counts(self.pair.weights, self.pair.readable)[1]

    @property
    def fewest(self) -> int:
        """The number of respondents of the target with the fewest, of those in a mean."""
        return min((self.respondents[t] for t in self.answered), default=0)

    def _estimates(
        self, drawn: FloatArray, limit: tuple[float, float], kept: BoolArray, which: int, name: str
    ) -> tuple[Estimate, ...]:
        """Return an estimate for each target: (T, 1 + draws).

        `kept` marks the included predictions. `which` is 0 for an accuracy and 1 for a bias.
        """
        is_asked = self.pair.first.asked | self.pair.second.asked
        counts, ns, exact_counts = _counts(self.pair.weights, kept)
        n_excluded = (is_asked & ~kept).sum(axis=1)
        bases = [
            Basis(ns[t], int(n_excluded[t]), self.pair.why(t)[which], effective=exact_counts[t])
            for t in range(len(self.targets))
        ]
        return estimates(drawn, bases, counts, limit, name)


def ablations(
    layout: Layout, conditions: Sequence[Condition], resampling: RespondentDraws
) -> tuple[Ablation, ...]:
    """Return the changes of each condition against `qm`, for its targets and for their mean.

    They are empty without `qm`.
    """
    baseline = next((condition for condition in conditions if condition.name == QM), None)
    other_conditions = [condition for condition in conditions if condition != baseline]
    if baseline is None or not other_conditions:
        return ()
    qm = layout.cell(baseline, ORIGINAL)
    pairs = [CellPair(qm, layout.cell(condition, ORIGINAL)) for condition in other_conditions]
    targets = layout.predictions.targets
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
            for index, pair_sums in zip(chunk, sums, strict=True):
                yield (
                    index,
                    ComparedCells(
                        pairs[index], targets, _with_noise(pairs[index], pair_sums, resampling)
                    ),
                )


def _with_noise(pair: CellPair, sums: FloatArray, resampling: RespondentDraws) -> FloatArray:
    """Return sums (6, T, 1 + draws) with the noise of answers that several respondents share.

    Only counted answers have it, see `shared`. The sums are changed in place.
    """
    for side, cell in enumerate((pair.first, pair.second)):
        weights = scaled(pair.weights, pair.counted)
        noise = shared(cell, resampling, f"side {side}", weights, pair.readable)
        if noise is not None:
            sums[2 + side] = np.clip(sums[2 + side] + noise.correct, 0, sums[0])
            sums[4 + side] += noise.difference
    return sums


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
    a: Layout, b: Layout, condition: Condition, resampling: RespondentDraws
) -> tuple[TargetDifference, ...]:
    """Return `b` minus `a` for each target of both, then the means over these targets."""
    targets = tuple(target for target in a.predictions.targets if target in b.predictions.targets)
    names = sorted(set(a.respondents) & set(b.respondents))
    pair = CellPair(*(_shared(layout, condition, names, targets) for layout in (a, b)))
    compared_cells = dict(_compared([pair], targets, resampling))[0]
    (bias_a, bias_b), (accuracy_a, accuracy_b) = compared_cells.biases, compared_cells.accuracies
    flipped = _on_different_sides(
        interval(compared_cells.biases, effective(pair.weights, pair.readable), SIGNED)
    )
    n_readable = [_readable(layout, condition) for layout in (a, b)]
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
    excluded_in_all = sum(n_readable[0].values()) - n_both, sum(n_readable[1].values()) - n_both
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
            left_out=excluded_in_all,
        ),
    )


def _readable(layout: Layout, condition: Condition) -> dict[str, int]:
    """Return the number of readable respondents for each target."""
    cell = layout.cell(condition, ORIGINAL)
    counts = _counts(cell.weights, cell.readable)[1]
    return dict(zip(layout.predictions.targets, counts, strict=True))


def _without_interval(found: Estimate) -> Estimate:
    """Return an estimate of absolute values without its interval.

    Noise adds to absolute values in every draw, so the draws make no interval (`stats.noise`).
    """
    return replace(found, low=float("nan"), high=float("nan"), interval="", few="")


def _shared(
    layout: Layout, condition: Condition, names: Sequence[str], targets: Sequence[str]
) -> Cell:
    """Return the cell of a condition, restricted to some respondents and targets in their order."""
    index_by_name = {name: index for index, name in enumerate(layout.respondents)}
    respondents = np.array([index_by_name[name] for name in names], dtype=np.int64)
    rows = np.array(
        [layout.predictions.targets.index(target) for target in targets], dtype=np.int64
    )
    return layout.cell(condition, ORIGINAL).of(respondents, rows)


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
    layout: Layout, condition: Condition, resampling: RespondentDraws
) -> tuple[VariabilityFigure, ...]:
    """Return the variability of each target's bias over its wordings.

    It is empty if only the original was asked. Wordings with another meaning, such as negations,
    are excluded. Raises UnknownName if the model was not asked under the condition.
    """
    layout.place(condition)
    asked_wordings = [
        wording
        for wording in layout.predictions.wordings
        if wording.relation is Relation.SAME and len(layout.rows(condition, wording))
    ]
    if not any(wording != ORIGINAL for wording in asked_wordings):
        return ()
    wordings = Wordings(layout, condition, tuple(asked_wordings))
    figures: list[VariabilityFigure] = []
    chunk_size = max(1, AT_ONCE // (2 * len(asked_wordings) * (1 + resampling.draws)))
    for start in range(0, len(layout.predictions.targets), chunk_size):
        rows = range(start, min(start + chunk_size, len(layout.predictions.targets)))
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
        self, layout: Layout, condition: Condition, wordings: tuple[VariantId, ...]
    ) -> None:
        self.targets, self.condition, self.wordings = (
            layout.predictions.targets,
            condition,
            wordings,
        )
        self.cells = [layout.cell(condition, wording) for wording in wordings]
        self.there: BoolArray = np.array([cell.present.any(axis=1) for cell in self.cells])
        "(W, T): the wordings in which each target was asked"
        self.common: BoolArray = self._in_all("counted")
        "(T, R): the respondents who were asked in all wordings of a target"
        self.units: BoolArray = np.asarray(self.common.any(axis=0))
        all_wordings = layout.predictions.wordings
        void = layout.predictions.void
        self.void: BoolArray = (
            np.zeros_like(self.there)
            if void is None
            else void[[all_wordings.index(wording) for wording in wordings]]
        )
        "(W, T): the wordings that read like the original"
        self.paraphrase: BoolArray = np.array([wording != ORIGINAL for wording in wordings])

    def _in_all(self, name: str) -> BoolArray:
        """Return where a mask of the cells is true in all wordings that were asked: (T, R).

        `name` is the mask's attribute, such as `counted`.
        """
        common = np.repeat(
            self.there.any(axis=0, keepdims=True).T, self.cells[0].human.shape[1], axis=1
        )
        for index, cell in enumerate(self.cells):
            common &= getattr(cell, name) | ~self.there[index][:, np.newaxis]
        return np.asarray(common)

    def features(self, places: Sequence[int]) -> FloatArray:
        """Return the contributions of each respondent to the sums of some targets.

        They are (targets, 2, W, R): whether the prediction is readable, and share - answer.
        """
        rows, common = list(places), self.common[list(places)]
        readable = np.stack([cell.readable[rows] & common for cell in self.cells], axis=1)
        difference = np.stack([cell.difference[rows] for cell in self.cells], axis=1)
        features = np.stack([readable, np.where(readable, difference, 0.0)], axis=1)
        return (
            features
            if self.weights is None
            else features * scaled(self.weights, common)[:, None, None]
        )

    @property
    def weights(self) -> FloatArray | None:
        """The weights of the respondents, or None."""
        return self.cells[0].weights

    def with_noise(
        self, sums: FloatArray, places: Sequence[int], resampling: RespondentDraws
    ) -> FloatArray:
        """Return sums (targets, 2, W, 1 + draws) with the noise of answers that respondents share.

        Only counted answers have it. The sums are changed in place.
        """
        for index, (wording, cell) in enumerate(zip(self.wordings, self.cells, strict=True)):
            weights = scaled(self.weights, self.common)
            noise = shared(cell, resampling, f"wording {wording}", weights, self.common, places)
            if noise is not None:
                sums[:, 1, index] += noise.difference
        return sums

    def figure(self, place: int, readable: FloatArray, difference: FloatArray) -> VariabilityFigure:
        """Return the variability of a target, given its sums of (W, 1 + draws) each."""
        biases, is_asked = ratio(difference, readable), self.there[:, place]
        n_readable = np.array(
            [int((cell.readable[place] & self.common[place]).sum()) for cell in self.cells]
        )
        paraphrases = is_asked & self.paraphrase
        # `sd` excludes void paraphrases, `rms` includes them
        not_void = paraphrases & ~self.void[:, place]
        ks = [int((n_readable[wordings] > 0).sum()) for wordings in (not_void, paraphrases)]
        bases = [
            Basis(k, int(wordings.sum()) - k, self._why(place, k)[index])
            for index, (k, wordings) in enumerate(zip(ks, (not_void, paraphrases), strict=True))
        ]
        if not not_void.any() and paraphrases.any():
            bases[0] = Basis(0, 0, ALL_VOID)
        deviations = np.stack([spread(biases[not_void])[0], spread(biases[paraphrases])[1]])
        n, nan = float(effective(self.weights, self.common[place])), float("nan")
        sd_and_rms = [
            Estimate(
                float(values[0]),
                nan,
                nan,
                basis.n,
                basis.excluded,
                basis.undefined if np.isnan(values[0]) else "",
            )
            for values, basis in zip(deviations, bases, strict=True)
        ]
        wording_figures = tuple(
            WordingFigure(
                self.wordings[i],
                float(biases[i, 0]),
                int(n_readable[i]),
                bool(self.void[i, place]),
            )
            for i in np.flatnonzero(is_asked)
        )
        noise = _noise(deviations[0], n), _noise(deviations[1], n)
        return VariabilityFigure(
            self.targets[place],
            self.condition,
            wording_figures,
            ks[0],
            sd_and_rms[0],
            sd_and_rms[1],
            *noise,
        )

    def _why(self, place: int, k: int) -> tuple[str, str]:
        """Return the reasons why a target has no sd, and no rms. `k` wordings have a bias."""
        reason = ""
        if np.isnan(self.cells[0].human[place]).all():
            reason = NOBODY_ANSWERED
        elif not (self.there[:, place] & self.paraphrase).any():
            reason = "only the original was asked"
        elif not self.common[place].any():
            reason = (
                NOT_OFFERED
                if self._in_all("asked")[place].any()
                else "no respondent was asked in all wordings"
            )
        elif k == 0:
            reason = UNREADABLE
        return reason or f"{k} wording has a bias; a deviation needs {FEWEST['sd']}", reason


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
