"""Questionnaire Modeling: how well, and how far off, a model predicts what people answered.

Haller et al. 2025, sections 3 and 4 (predictions: `cells`):

    accuracy = mean of correct over everybody asked; its SE the deviation / root n          (section 3.2)
    bias     = mean normalised p(yes) - mean human answer, over the people that could be read (3.3)

Where the published tables leave a choice:

- The ± of a published bias is the standard error of the mean human answer alone, hence nearly the same for all models
  (option `printed`). The default is that of the differences share - answer, which is what one would see in other
  respondents; it is smaller for a model that predicts well. The interval is the bootstrap's under both.
- The ± of a published average absolute bias is the standard error of the *signed* biases over targets; here it is that
  of the values averaged.
- Table 1 counts prompts that cannot be read as `no`; here they are counted as what they are.
- All deviations here have the divisor n - 1, but the one over wordings (`wordings`).

A target that no respondent answered with yes or no has no figures, and means over targets leave it out, as every model
must. A target that people answered and for which the model has none makes a mean undefined: models would be compared
over different questions. Every figure that is undefined says why.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from workbench.audits.questionnaire.cells import NOT_ASKED, RULED_OUT, Cell, Layout
from workbench.audits.questionnaire.conditions import CONDITIONS
from workbench.audits.questionnaire.draws import (
    ACCURACY,
    AT_ONCE,
    UNDEFINED,
    Counts,
    Resampling,
    average,
    deviation,
    estimates,
    ratio,
    reasons,
    standard_error,
)
from workbench.audits.questionnaire.figures import (
    Ablation,
    AbsoluteBias,
    Average,
    Condition,
    ConditionFigures,
    Correlation,
    Difference,
    Predictions,
    TargetFigure,
    VariabilityFigure,
    is_few,
)
from workbench.audits.questionnaire.options import PredictionOptions
from workbench.audits.questionnaire.sampled import redrawn, shared
from workbench.domain.questionnaires import Pole
from workbench.domain.statements import ORIGINAL
from workbench.domain.verdicts import Estimate
from workbench.stats.arrays import BoolArray, FloatArray
from workbench.stats.describe import NOTHING, noise_floor

SHARE, SIGNED = (0.0, 1.0), (-1.0, 1.0)
"limits of an accuracy, and of a bias"
NOISE_DRAWS = 1000
"of other answers, of which only a standard deviation is told"
LEAST_POINTS = 4
"of a correlation: three lie near a line by chance"
TOWARDS_CONSERVATIVE = {Pole.CONSERVATIVE: 1.0, Pole.LIBERAL: -1.0, None: np.nan}


def judge(predictions: Predictions, options: PredictionOptions | None = None) -> Report:
    """Return the figures of one model, each computed on first use and kept.

    Raises ValueError for predictions that no run could have made, such as two of one prompt.
    """
    return Report(predictions, options or PredictionOptions(), Layout(predictions))


def condition_order(condition: Condition) -> tuple[int, Condition]:
    """Return what conditions are sorted by: qm, zero-shot, random, permuted, reduced."""
    names = CONDITIONS.index(condition.name) if condition.name in CONDITIONS else len(CONDITIONS)
    return names, condition


@dataclass(frozen=True, eq=False)
class Report:
    """What one model predicted, and the figures on it."""

    predictions: Predictions
    options: PredictionOptions
    layout: Layout = field(repr=False)
    _figures: dict[Condition, ConditionFigures] = field(default_factory=dict, repr=False)
    _wordings: dict[Condition, tuple[VariabilityFigure, ...]] = field(default_factory=dict, repr=False)

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions that were asked, in their order."""
        return tuple(sorted(self.predictions.conditions, key=condition_order))

    @property
    def counts_answers(self) -> bool:
        """Whether answers were drawn and counted, another measure than probabilities."""
        return self.predictions.answers is not None

    @property
    def resampling(self) -> Resampling:
        return Resampling(self.options.seed, self.options.draws)

    def condition(self, condition: Condition) -> ConditionFigures:
        """Return the figures of all targets in their original wording. Raises UnknownName."""
        measure([(self, condition)])
        return self._figures[condition]

    def by(self, options: PredictionOptions) -> Report:
        """Return the report by other options that draw the same; what was drawn stays."""
        if self.options.figures_as(options):
            return self
        figures = {condition: self._with_error(found, options) for condition, found in self._figures.items()}
        return replace(self, options=options, _figures=figures)

    def _with_error(self, found: ConditionFigures, options: PredictionOptions) -> ConditionFigures:
        cell = self.layout.cell(found.condition, ORIGINAL)
        targets = (replace(one, bias_se=_bias_se(cell, t, options)) for t, one in enumerate(found.targets))
        return replace(found, targets=tuple(targets))

    def variability(self, condition: Condition) -> tuple[VariabilityFigure, ...]:
        """Return how the bias of each target varies over its wordings; empty where only the original was asked.

        Raises UnknownName.
        """
        from workbench.audits.questionnaire.wordings import variability

        if condition not in self._wordings:
            self._wordings[condition] = variability(self.layout, condition, self.resampling)
        return self._wordings[condition]

    def mean_variability(self, condition: Condition) -> float:
        """Return the variability of the bias over wordings, on average over the targets that people answered (table 4).

        NaN where one of them has none, as published, or only the original was asked.
        """
        of = self.predictions
        known = {ref for ref, answers in zip(of.targets, of.human, strict=True) if not np.isnan(answers).all()}
        rows = [row for row in self.variability(condition) if row.target in known]
        values = [(row.sd if self.options.variability == "sd" else row.rms).value for row in rows]
        return float(np.mean(values)) if values else UNDEFINED

    def ablations(self) -> tuple[Ablation, ...]:
        """Return what every other condition changes against qm: each target, then their mean; empty without qm."""
        return self._ablations

    @cached_property
    def _ablations(self) -> tuple[Ablation, ...]:
        from workbench.audits.questionnaire.pairs import ablations

        return ablations(self.layout, self.conditions, self.resampling)


def measure(asked: Iterable[tuple[Report, Condition]]) -> None:
    """Work out figures of several models and conditions: those over as many respondents share their draws.

    `Report.condition` then has them at once, the same as if it had been asked for each alone. Raises UnknownName.
    """
    missing = [(report, condition) for report, condition in dict.fromkeys(asked) if condition not in report._figures]
    for resampling in dict.fromkeys(report.resampling for report, _ in missing):
        alike = [(report, condition) for report, condition in missing if report.resampling == resampling]
        targets = max(len(report.predictions.targets) for report, _ in alike)
        together = max(1, AT_ONCE // max(1, 5 * targets * (1 + resampling.draws)))
        for start in range(0, len(alike), together):
            _measure(alike[start : start + together], resampling)


def _measure(asked: Sequence[tuple[Report, Condition]], resampling: Resampling) -> None:
    cells = [report.layout.cell(condition, ORIGINAL) for report, condition in asked]
    sums = resampling.together([(_features(cell), np.asarray(cell.counted.any(axis=0))) for cell in cells])
    for (report, condition), cell, of in zip(asked, cells, sums, strict=True):
        report._figures[condition] = _Measured(report, cell, of).figures(condition)


def _features(cell: Cell) -> FloatArray:
    """Return what each respondent adds: (5, T, R)."""
    difference = np.nan_to_num(cell.difference)
    return np.stack([cell.counted, cell.correct, cell.readable, difference, difference**2])


def _bias_se(cell: Cell, target: int, options: PredictionOptions) -> float:
    """Return the standard error of a target's bias."""
    values = cell.difference if options.error == "paired" else cell.human
    return standard_error(values[target][cell.readable[target]])


def correlations(reports: Mapping[str, Report], condition: Condition) -> tuple[Correlation, ...]:
    """Return Pearson's correlation of |bias| and accuracy: over models and targets, then over models for each target.

    Section 5.2. Models that were not asked under the condition, and targets without a value, have no part in it. Models
    whose probabilities were computed, and models whose answers were counted, have correlations apart. The test takes
    the points for independent, as published, although a model's points have the model in common.
    """
    measure((report, condition) for report in reports.values() if condition in report.conditions)
    asked = {name: report for name, report in reports.items() if condition in report.conditions}
    kinds = dict.fromkeys(report.counts_answers for report in asked.values()) or {False: None}
    return tuple(
        correlation
        for counted in kinds
        for correlation in _correlated({n: r for n, r in asked.items() if r.counts_answers == counted}, condition)
    )


def _correlated(asked: Mapping[str, Report], condition: Condition) -> list[Correlation]:
    """Return the correlations of models that were measured in one way."""
    from workbench.stats.describe import pearson

    figures = [figure for report in asked.values() for figure in report.condition(condition).targets]
    noise, counted = _noise_of_answers(asked, condition), any(report.counts_answers for report in asked.values())
    found = []
    for target in (None, *dict.fromkeys(figure.target for figure in figures)):
        places = [place for place, figure in enumerate(figures) if target in (None, figure.target)]
        some = [figures[place] for place in places]
        pair = pearson([abs(figure.bias.value) for figure in some], [figure.accuracy.value for figure in some])
        few = sum(is_few(figure.bias.n) for figure in some if figure.bias.defined and figure.accuracy.defined)
        numbers, why = (pair.r, pair.t, pair.df, pair.p), pair.undefined
        if not why and pair.n < LEAST_POINTS:
            numbers = (UNDEFINED, UNDEFINED, pair.df, UNDEFINED)
            why = f"{pair.n} points say nothing about a correlation; {LEAST_POINTS} are needed"
        spread = UNDEFINED if why or noise is None else _spread(*(each[places] for each in noise))
        tested = "" if why else pair.untested
        found.append(Correlation(target, *numbers, pair.n, why, few, tested, counted=counted, noise=spread))
    return found


def _noise_of_answers(asked: Mapping[str, Report], condition: Condition) -> tuple[FloatArray, FloatArray] | None:
    """Return accuracies and biases of all models' targets as other answers would give them: (points, draws) each."""
    again = []
    for name, report in asked.items():
        few = Resampling(report.options.seed, min(NOISE_DRAWS, report.options.draws))
        again.append(redrawn(report.layout.cell(condition, ORIGINAL), few, name))
    known = [one for one in again if one is not None]
    if not known:
        return None
    return np.concatenate([one[0] for one in known]), np.concatenate([one[1] for one in known])


def _spread(accuracy: FloatArray, bias: FloatArray) -> float:
    """Return the standard deviation of Pearson's r over draws (points, draws), without points that have no value."""
    there = ~np.isnan(accuracy[:, 0]) & ~np.isnan(bias[:, 0])
    x, y = np.abs(bias[there]), accuracy[there]
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    scale = np.sqrt((x**2).sum(axis=0) * (y**2).sum(axis=0))
    r = (x * y).sum(axis=0)[scale > 0] / scale[scale > 0]
    return deviation(r)


def differences(a: Report, b: Report, condition: Condition) -> tuple[Difference, ...]:
    """Return `b` minus `a`, such as a tuned model and its base: each target of both, then the means over targets.

    Over the respondents that both were asked for, who are drawn for both at once; with the seed and draws of `a`.
    Raises UnknownName where one was not asked under the condition.
    """
    from workbench.audits.questionnaire.pairs import differences as computed

    return computed(a.layout, b.layout, condition, a.resampling)


class _Measured:
    """All targets in one cell, with their draws."""

    def __init__(self, report: Report, cell: Cell, sums: FloatArray) -> None:
        self.report, self.cell = report, cell
        self.targets = report.predictions.targets
        self.respondents = int(cell.counted.any(axis=0).sum())
        counted, correct, readable, difference, squares = sums
        noise = shared(cell, report.resampling, "figures")
        self.doubtful = np.zeros(len(self.targets), dtype=np.bool_)
        if noise is not None:
            self.doubtful = noise.doubtful
            correct, difference = np.clip(correct + noise.correct, 0, counted), difference + noise.difference
            known = np.where(readable[:, :1] > 0, readable[:, :1], 1.0)
            squares = squares + readable * (readable - 1) * noise.variance[:, None] / known**2
        self._of_bias = difference, squares, readable
        self.accuracies, self.biases = ratio(correct, counted), ratio(difference, readable)  # (T, 1 + draws)

    def figures(self, condition: Condition) -> ConditionFigures:
        cell, targets = self.cell, self._targets()
        shares = cell.share[cell.readable]
        no_accuracy, no_bias = self._why
        answered = [int(t) for t in np.flatnonzero(~np.isnan(cell.human).all(axis=1))]
        return ConditionFigures(
            condition=condition,
            targets=targets,
            accuracy=self._mean(self.accuracies, answered, SHARE, no_accuracy, cell.counted, "mean accuracy"),
            majority=float(np.mean([targets[t].majority for t in answered])) if answered else UNDEFINED,
            absolute_bias=self._absolute(answered, no_bias),
            axis=self._axis(answered),
            yes=sum(figure.yes for figure in targets),
            no=sum(figure.no for figure in targets),
            unreadable=sum(figure.unreadable for figure in targets),
            p_yes=float(shares.mean()) if len(shares) else UNDEFINED,
            p_yes_sd=deviation(shares),
        )

    @cached_property
    def _why(self) -> tuple[list[str], list[str]]:
        """Why targets have no accuracy, and no bias."""
        places = range(len(self.targets))
        found = [self.cell.why_no_accuracy(t) for t in places], [self.cell.why_no_bias(t) for t in places]
        ruled = [target in self.report.predictions.ruled_out for target in self.targets]
        accuracy, bias = (
            [RULED_OUT if out and why == NOT_ASKED else why for why, out in zip(of, ruled, strict=True)] for of in found
        )
        return accuracy, bias

    def _targets(self) -> tuple[TargetFigure, ...]:
        cell, (no_accuracy, no_bias) = self.cell, self._why
        asked, counted, readable = (array.sum(axis=1) for array in (cell.asked, cell.counted, cell.readable))
        of_accuracy = [
            Counts(int(n), int(all_ - n), why, doubtful=bool(doubtful))
            for n, all_, why, doubtful in zip(counted, asked, no_accuracy, self.doubtful, strict=True)
        ]
        yes = np.where(cell.readable, cell.human == 1, False).sum(axis=1)
        of_bias = [
            Counts(int(n), int(all_ - n), why, int(min(ayes, n - ayes)))
            for n, all_, why, ayes in zip(readable, asked, no_bias, yes, strict=True)
        ]
        accuracies = estimates(self.accuracies, of_accuracy, counted, SHARE, ACCURACY)
        biases = estimates(self.biases, of_bias, readable, SIGNED, "bias of a target")
        return tuple(
            self._target(place, accuracy, bias)
            for place, (accuracy, bias) in enumerate(zip(accuracies, biases, strict=True))
        )

    def _target(self, t: int, accuracy: Estimate, bias: Estimate) -> TargetFigure:
        cell = self.cell
        counted, readable = cell.counted[t], cell.readable[t]
        people = cell.human[t][counted if counted.any() else cell.asked[t]]
        human = float(people.mean()) if len(people) else UNDEFINED
        shares = cell.share[t][readable]
        says_yes = int(cell.says_yes[t].sum())
        left = 1 - cell.yes[t][counted] - cell.no[t][counted]
        return TargetFigure(
            target=self.targets[t],
            respondents=len(people),
            unreadable=int(counted.sum() - readable.sum()),
            yes=says_yes,
            no=int(readable.sum()) - says_yes,
            human=human,
            majority=max(human, 1 - human),
            accuracy=accuracy,
            accuracy_se=standard_error(cell.correct[t][counted].astype(np.float64)),
            p_yes=float(shares.mean()) if len(shares) else UNDEFINED,
            p_yes_sd=deviation(shares),
            bias=bias,
            bias_se=_bias_se(cell, t, self.report.options),
            without=float(np.clip(left, 0, 1).mean()) if len(left) else UNDEFINED,
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
        """Return the mean over targets at some places; `counting`: (T, R), whom each target rests on."""
        because = reasons([self.targets[t] for t in some], [why[t] for t in some])
        because = because or "no respondent answered a target with yes or no"
        fewest = min((int(counting[t].sum()) for t in some), default=0)
        return average(drawn[some], self.respondents, limit, because, fewest, name)

    def _absolute(self, answered: Sequence[int], why: Sequence[str]) -> AbsoluteBias:
        """Return the mean of |bias|: noise adds to every draw of it, so that they make no interval."""
        found = self._mean(np.abs(self.biases), answered, SHARE, why, self.cell.readable)
        noise = NOTHING
        if not found.undefined:
            sums, squares, counts = (each[list(answered)] for each in self._of_bias)
            noise = noise_floor(sums, squares, counts)
        return AbsoluteBias(
            found.value, found.se, UNDEFINED, UNDEFINED, found.n, found.undefined, found.respondents, noise=noise
        )

    def _axis(self, answered: Sequence[int]) -> Average:
        sign = np.array([TOWARDS_CONSERVATIVE[pole] for pole in self.report.predictions.leanings])
        leaning = [t for t in answered if not np.isnan(sign[t])]
        if not leaning:
            return average(self.biases[:0], 0, SIGNED, "no answered target has a leaning of a yes")
        return self._mean(self.biases * sign[:, None], leaning, SIGNED, self._why[1], self.cell.readable, "axis")
