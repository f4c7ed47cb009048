"""Questionnaire Modeling: how well, and how far off, a model predicts what people answered.

Haller et al. 2025, sections 3 and 4 (predictions: `cells`):

    accuracy = mean of correct over everybody asked; its SE the deviation / root n          (section 3.2)
    bias     = mean normalised p(yes) - mean human answer, over the people that could be read (3.3)

Where the published tables leave a choice:

- The ± of a published bias is the standard error of the mean human answer alone, hence nearly the
  same for all models (option `printed`). The default is that of the differences share - answer,
  which is what one would see in other respondents; it is smaller for a model that predicts well.
  The interval is the bootstrap's under both.
- The ± of a published average absolute bias is the standard error of the *signed* biases over
  targets; here it is that of the values averaged.
- Table 1 counts prompts that cannot be read as `no`; here they are counted as what they are.
- All deviations here have the divisor n - 1, but the one over wordings (below).

A target that no respondent answered with yes or no has no figures, and means over targets leave it
out, as every model must. A target that people answered and for which the model has none makes a
mean undefined: models would be compared over different questions. Every figure that is undefined
says why.

Pairs
=====

Two conditions, or two models, over the same respondents (Haller et al. 2025, section 5 and appendix
F.1).

Both biases are taken over the respondents that could be read on both sides, both accuracies over
those asked on both, and both sides of a draw are the same people: what is common to them cancels. A
change over different people would mix in who they are.

Wordings
========

How much a model's bias depends on the words of a question (Haller et al. 2025, section 3.4).

    rms = root of the mean of bias_k² over the K wordings                                  (as printed)
    sd  = root of the mean of (bias_k - mean bias)², so that rms² = sd² + mean²            (as the text names it)

K counts the paraphrases, not the original. One that reads like the original is void: `sd` leaves it
out, and `rms` keeps it, as printed. `sd` has the divisor K, so that the two are comparable. Biases
are taken over the respondents who were asked in all wordings, the original too: only the words
differ. A wording in which nobody could be read has no bias; it is left out, and counted.

Where a prompt shows nobody's answers, biases in two wordings differ by the same for any
respondents: the interval of `sd` has no width, because who is drawn plays no part in it.
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
"of other answers, of which only a standard deviation is told"
LEAST_POINTS = 4
"of a correlation: three lie near a line by chance"
TOWARDS_CONSERVATIVE = {Pole.CONSERVATIVE: 1.0, Pole.LIBERAL: -1.0, None: np.nan}


def judge(predictions: Predictions, options: PredictionOptions | None = None) -> PredictionReport:
    """Return the figures of one model, each computed on first use and kept.

    Raises ValueError for predictions that no run could have made, such as two of one prompt.
    """
    return PredictionReport(predictions, options or PredictionOptions(), Layout(predictions))


@dataclass(frozen=True, eq=False)
class PredictionReport:
    """What one model predicted, and the figures on it."""

    predictions: Predictions
    options: PredictionOptions
    layout: Layout = field(repr=False)
    _figures: dict[Condition, ConditionFigures] = field(default_factory=dict, repr=False)
    _wordings: dict[Condition, tuple[VariabilityFigure, ...]] = field(
        default_factory=dict, repr=False
    )

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions that were asked, in their order."""
        return tuple(sorted(self.predictions.conditions, key=condition_order))

    @property
    def counts_answers(self) -> bool:
        """Whether answers were drawn and counted, another measure than probabilities."""
        return self.predictions.answers is not None

    @property
    def resampling(self) -> RespondentDraws:
        return RespondentDraws(self.options.seed, self.options.draws)

    def condition(self, condition: Condition) -> ConditionFigures:
        """Return the figures of all targets in their original wording. Raises UnknownName."""
        measure([(self, condition)])
        return self._figures[condition]

    def by(self, options: PredictionOptions) -> PredictionReport:
        """Return the report by other options that draw the same; what was drawn stays."""
        if self.options.figures_as(options):
            return self
        figures = {
            condition: self._with_error(found, options)
            for condition, found in self._figures.items()
        }
        return replace(self, options=options, _figures=figures)

    def _with_error(self, found: ConditionFigures, options: PredictionOptions) -> ConditionFigures:
        cell = self.layout.cell(found.condition, ORIGINAL)
        targets = (
            replace(one, bias_se=_bias_se(cell, t, options)) for t, one in enumerate(found.targets)
        )
        return replace(found, targets=tuple(targets))

    def variability(self, condition: Condition) -> tuple[VariabilityFigure, ...]:
        """Return how the bias of each target varies over its wordings; empty where only the
        original was asked.

        Raises UnknownName.
        """

        if condition not in self._wordings:
            self._wordings[condition] = variability(self.layout, condition, self.resampling)
        return self._wordings[condition]

    def mean_variability(self, condition: Condition) -> float:
        """Return the variability of the bias over wordings, on average over the targets that people
        answered (table 4).

        NaN where one of them has none, as published, or only the original was asked.
        """
        of = self.predictions
        known = {
            ref
            for ref, answers in zip(of.targets, of.human, strict=True)
            if not np.isnan(answers).all()
        }
        rows = [row for row in self.variability(condition) if row.target in known]
        values = [(row.sd if self.options.variability == "sd" else row.rms).value for row in rows]
        return float(np.mean(values)) if values else UNDEFINED

    def ablations(self) -> tuple[Ablation, ...]:
        """Return what every other condition changes against qm: each target, then their mean; empty
        without qm.
        """
        return self._ablations

    @cached_property
    def _ablations(self) -> tuple[Ablation, ...]:

        return ablations(self.layout, self.conditions, self.resampling)


def measure(asked: Iterable[tuple[PredictionReport, Condition]]) -> None:
    """Work out figures of several models and conditions: those over as many respondents share their
    draws.

    `PredictionReport.condition` then has them at once, the same as if it had been asked for each
    alone. Raises UnknownName.
    """
    missing = [
        (report, condition)
        for report, condition in dict.fromkeys(asked)
        if condition not in report._figures
    ]
    for resampling in dict.fromkeys(report.resampling for report, _ in missing):
        alike = [
            (report, condition) for report, condition in missing if report.resampling == resampling
        ]
        targets = max(len(report.predictions.targets) for report, _ in alike)
        together = max(1, AT_ONCE // max(1, 6 * targets * (1 + resampling.draws)))
        for start in range(0, len(alike), together):
            _measure(alike[start : start + together], resampling)


def _measure(
    asked: Sequence[tuple[PredictionReport, Condition]], resampling: RespondentDraws
) -> None:
    cells = [report.layout.cell(condition, ORIGINAL) for report, condition in asked]
    sums = resampling.together(
        [(_features(cell), np.asarray(cell.counted.any(axis=0))) for cell in cells]
    )
    for (report, condition), cell, of in zip(asked, cells, sums, strict=True):
        report._figures[condition] = _MeasuredCell(report, cell, of).figures(condition)


def _features(cell: Cell) -> FloatArray:
    """Return what each respondent adds: (6, T, R)."""
    difference = np.nan_to_num(cell.difference)
    agrees = cell.counted & (cell.human == 1)
    features = np.stack(
        [cell.counted, cell.correct, cell.readable, difference, difference**2, agrees]
    )
    return features if cell.weights is None else features * scaled(cell.weights, cell.counted)


def _bias_se(cell: Cell, target: int, options: PredictionOptions) -> float:
    """Return the standard error of a target's bias."""
    values = cell.difference if options.error == "paired" else cell.human
    readable = cell.readable[target]
    return standard_error(values[target][readable], _of(cell.weights, readable))


def _of(weights: FloatArray | None, people: BoolArray) -> FloatArray | None:
    return None if weights is None else weights[people]


def _counts(
    weights: FloatArray | None, people: BoolArray
) -> tuple[FloatArray, list[int], list[float | None]]:
    """Return how many people of equal weight count: as they are, rounded down, and None where
    nobody has a weight.
    """
    exactly = effective(weights, people)
    return (
        exactly,
        [int(n) for n in exactly],
        [None if weights is None else float(n) for n in exactly],
    )


def correlations(
    reports: Mapping[str, PredictionReport], condition: Condition
) -> tuple[Correlation, ...]:
    """Return Pearson's correlation of |bias| and accuracy: over models and targets, then over
    models for each target.

    Section 5.2. Models that were not asked under the condition, and targets without a value, have
    no part in it. Models whose probabilities were computed, and models whose answers were counted,
    have correlations apart. The test takes the points for independent, as published, although a
    model's points have the model in common.
    """
    measure((report, condition) for report in reports.values() if condition in report.conditions)
    asked = {name: report for name, report in reports.items() if condition in report.conditions}
    kinds = dict.fromkeys(report.counts_answers for report in asked.values()) or {False: None}
    return tuple(
        correlation
        for counted in kinds
        for correlation in _correlated(
            {n: r for n, r in asked.items() if r.counts_answers == counted}, condition
        )
    )


def _correlated(asked: Mapping[str, PredictionReport], condition: Condition) -> list[Correlation]:
    """Return the correlations of models that were measured in one way."""
    from workbench.stats.describe import pearson

    figures = [
        figure for report in asked.values() for figure in report.condition(condition).targets
    ]
    noise, counted = (
        _noise_of_answers(asked, condition),
        any(report.counts_answers for report in asked.values()),
    )
    found = []
    for target in (None, *dict.fromkeys(figure.target for figure in figures)):
        places = [place for place, figure in enumerate(figures) if target in (None, figure.target)]
        some = [figures[place] for place in places]
        pair = pearson(
            [abs(figure.bias.value) for figure in some], [figure.accuracy.value for figure in some]
        )
        few = sum(
            is_few(figure.bias.n)
            for figure in some
            if figure.bias.defined and figure.accuracy.defined
        )
        numbers, why = (pair.r, pair.t, pair.df, pair.p), pair.undefined
        if not why and pair.n < LEAST_POINTS:
            numbers = (UNDEFINED, UNDEFINED, pair.df, UNDEFINED)
            why = f"{pair.n} points say nothing about a correlation; {LEAST_POINTS} are needed"
        spread = UNDEFINED if why or noise is None else _spread(*(each[places] for each in noise))
        tested = "" if why else pair.untested
        found.append(
            Correlation(target, *numbers, pair.n, why, few, tested, counted=counted, noise=spread)
        )
    return found


def _noise_of_answers(
    asked: Mapping[str, PredictionReport], condition: Condition
) -> tuple[FloatArray, FloatArray] | None:
    """Return accuracies and biases of all models' targets as other answers would give them:
    (points, draws) each.
    """
    again = []
    for name, report in asked.items():
        few = RespondentDraws(report.options.seed, min(NOISE_DRAWS, report.options.draws))
        again.append(redrawn(report.layout.cell(condition, ORIGINAL), few, name))
    known = [one for one in again if one is not None]
    if not known:
        return None
    return np.concatenate([one[0] for one in known]), np.concatenate([one[1] for one in known])


def _spread(accuracy: FloatArray, bias: FloatArray) -> float:
    """Return the standard deviation of Pearson's r over draws (points, draws), without points that
    have no value.
    """
    there = ~np.isnan(accuracy[:, 0]) & ~np.isnan(bias[:, 0])
    x, y = np.abs(bias[there]), accuracy[there]
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    scale = np.sqrt((x**2).sum(axis=0) * (y**2).sum(axis=0))
    r = (x * y).sum(axis=0)[scale > 0] / scale[scale > 0]
    return deviation(r)


def differences(
    a: PredictionReport, b: PredictionReport, condition: Condition
) -> tuple[TargetDifference, ...]:
    """Return `b` minus `a`, such as a tuned model and its base: each target of both, then the means
    over targets.

    Over the respondents that both were asked for, who are drawn for both at once; with the seed and
    draws of `a`.
    Raises UnknownName where one was not asked under the condition.
    """

    return _differences(a.layout, b.layout, condition, a.resampling)


class _MeasuredCell:
    """All targets in one cell, with their draws."""

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
            known = np.where(readable[:, :1] > 0, readable[:, :1], 1.0)
            squares = squares + readable * (readable - 1) * noise.variance[:, None] / known**2
        self._of_bias = difference, squares, readable
        # (T, 1 + draws).
        self.accuracies, self.biases = (
            ratio(correct, counted),
            ratio(difference, readable),
        )
        yes = ratio(agrees, counted)
        self.majorities = np.where(yes[:, :1] >= 0.5, yes, 1 - yes)

    def figures(self, condition: Condition) -> ConditionFigures:
        cell, targets = self.cell, self._targets()
        shares = cell.share[cell.readable]
        weights = (
            None
            if cell.weights is None
            else np.broadcast_to(cell.weights, cell.share.shape)[cell.readable]
        )
        no_accuracy, no_bias = self._why
        answered = [int(t) for t in np.flatnonzero(~np.isnan(cell.human).all(axis=1))]
        more = self.accuracies - self.majorities
        over = self._mean(more, answered, SIGNED, no_accuracy, cell.counted, "change of accuracy")
        tested = not over.undefined
        axis, p_axis = self._axis(answered)
        return ConditionFigures(
            condition=condition,
            targets=targets,
            accuracy=self._mean(
                self.accuracies, answered, SHARE, no_accuracy, cell.counted, "mean accuracy"
            ),
            majority=float(np.mean([targets[t].majority for t in answered]))
            if answered
            else UNDEFINED,
            absolute_bias=self._absolute(answered, no_bias),
            axis=axis,
            p_axis=p_axis,
            yes=sum(figure.yes for figure in targets),
            no=sum(figure.no for figure in targets),
            unreadable=sum(figure.unreadable for figure in targets),
            p_yes=mean_of(shares, weights),
            p_yes_sd=deviation(shares, weights),
            over_majority=over,
            p_majority=float(p_of_zero(more[answered].mean(axis=0), self.respondents))
            if tested
            else UNDEFINED,
            always_yes=self._chance(targets, answered, 1.0),
            coin=self._chance(targets, answered, 0.5),
        )

    def _chance(
        self, targets: Sequence[TargetFigure], answered: Sequence[int], yes: float
    ) -> Regardless:
        """Return what a model gives that says yes with one probability, whatever the question; no
        otherwise.
        """
        some = [targets[t] for t in answered]
        human = np.array([one.human for one in some])
        bias = np.array([one.always_yes for one in some]) - (1 - yes)
        toward = np.array(
            [TOWARDS_CONSERVATIVE[self.report.predictions.leanings[t]] for t in answered]
        )
        leaning = ~np.isnan(toward)
        return Regardless(
            float((yes * human + (1 - yes) * (1 - human)).mean()) if some else UNDEFINED,
            float(np.abs(bias).mean()) if some else UNDEFINED,
            float((toward * bias)[leaning].mean()) if leaning.any() else UNDEFINED,
        )

    @cached_property
    def _why(self) -> tuple[list[str], list[str]]:
        """Why targets have no accuracy, and no bias."""
        places = range(len(self.targets))
        found = (
            [self.cell.why_no_accuracy(t) for t in places],
            [self.cell.why_no_bias(t) for t in places],
        )
        ruled = [target in self.report.predictions.ruled_out for target in self.targets]
        accuracy, bias = (
            [
                RULED_OUT if out and why == NOT_ASKED else why
                for why, out in zip(of, ruled, strict=True)
            ]
            for of in found
        )
        return accuracy, bias

    def _targets(self) -> tuple[TargetFigure, ...]:
        cell, (no_accuracy, no_bias) = self.cell, self._why
        without = [(cell.asked & ~kept).sum(axis=1) for kept in (cell.counted, cell.readable)]
        counted, ns, exactly = _counts(cell.weights, cell.counted)
        of_accuracy = [
            Basis(n, int(out), why, doubtful=bool(doubtful), effective=exact)
            for n, out, why, doubtful, exact in zip(
                ns, without[0], no_accuracy, self.doubtful, exactly, strict=True
            )
        ]
        readable, ns, _ = _counts(cell.weights, cell.readable)
        yes, no = (
            np.where(cell.readable, cell.human == said, False).sum(axis=1) for said in (1, 0)
        )
        of_bias = [
            Basis(n, int(out), why, int(rarer))
            for n, out, why, rarer in zip(ns, without[1], no_bias, np.minimum(yes, no), strict=True)
        ]
        accuracies = estimates(self.accuracies, of_accuracy, counted, SHARE, ACCURACY)
        biases = estimates(self.biases, of_bias, readable, SIGNED, "bias of a target")
        ps = p_of_zero(self.biases, readable)
        return tuple(
            self._target(place, accuracy, bias, float(p))
            for place, (accuracy, bias, p) in enumerate(zip(accuracies, biases, ps, strict=True))
        )

    def _target(self, t: int, accuracy: Estimate, bias: Estimate, p: float) -> TargetFigure:
        cell = self.cell
        counted, readable = cell.counted[t], cell.readable[t]
        there = counted if counted.any() else cell.asked[t]
        people = cell.human[t][there]
        human = mean_of(people, _of(cell.weights, there))
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
            accuracy_se=standard_error(
                cell.correct[t][counted].astype(np.float64), _of(cell.weights, counted)
            ),
            p_yes=mean_of(shares, _of(cell.weights, readable)),
            p_yes_sd=deviation(shares, _of(cell.weights, readable)),
            bias=bias,
            bias_se=_bias_se(cell, t, self.report.options),
            without=mean_of(np.clip(left, 0, 1), _of(cell.weights, counted)),
            p=p,
            effective_n=float(effective(cell.weights, there)),
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
        """Return the mean over targets at some places; `counting`: (T, R), whom each target rests
        on.
        """
        because = reasons([self.targets[t] for t in some], [why[t] for t in some])
        because = because or "no respondent answered a target with yes or no"
        counts = _counts(self.cell.weights, counting)[1]
        fewest = min((counts[t] for t in some), default=0)
        return average(drawn[some], self.respondents, limit, because, fewest, name)

    def _absolute(self, answered: Sequence[int], why: Sequence[str]) -> AbsoluteBias:
        """Return the mean of |bias|: noise adds to every draw of it, so that they make no
        interval.
        """
        found = self._mean(np.abs(self.biases), answered, SHARE, why, self.cell.readable)
        noise = NOTHING
        if not found.undefined:
            sums, squares, counts = (each[list(answered)] for each in self._of_bias)
            noise = noise_floor(sums, squares, counts)
        return AbsoluteBias(
            found.value,
            found.se,
            UNDEFINED,
            UNDEFINED,
            found.n,
            found.undefined,
            found.respondents,
            noise=noise,
        )

    def _axis(self, answered: Sequence[int]) -> tuple[Average, float]:
        """Return the mean bias towards the conservative pole, and the p of no such bias."""
        sign = np.array([TOWARDS_CONSERVATIVE[pole] for pole in self.report.predictions.leanings])
        leaning = [t for t in answered if not np.isnan(sign[t])]
        if not leaning:
            return average(
                self.biases[:0], 0, SIGNED, "no answered target has a leaning of a yes"
            ), UNDEFINED
        biases = self.biases * sign[:, None]
        found = self._mean(biases, leaning, SIGNED, self._why[1], self.cell.readable, "axis")
        p = (
            UNDEFINED
            if found.undefined
            else float(p_of_zero(biases[leaning].mean(axis=0), self.respondents))
        )
        return found, p


@dataclass(frozen=True, eq=False)
class CellPair:
    """Two cells of the same respondents and targets."""

    first: Cell
    second: Cell

    @cached_property
    def counted(self) -> BoolArray:
        return self.first.counted & self.second.counted

    @cached_property
    def readable(self) -> BoolArray:
        return self.first.readable & self.second.readable

    @cached_property
    def units(self) -> BoolArray:
        """Who is drawn from: (R,)."""
        return np.asarray(self.counted.any(axis=0))

    def features(self) -> FloatArray:
        """Return what each respondent adds: (6, T, R)."""
        correct = [cell.correct & self.counted for cell in (self.first, self.second)]
        _differences = [
            np.where(self.readable, cell.difference, 0.0) for cell in (self.first, self.second)
        ]
        features = np.stack([self.counted, self.readable, *correct, *_differences]).astype(
            np.float64
        )
        return features if self.weights is None else features * scaled(self.weights, self.counted)

    @property
    def weights(self) -> FloatArray | None:
        return self.first.weights

    def why(self, target: int) -> tuple[str, str]:
        """Say why a target has no accuracy, and no bias, on both sides; empty where it has."""
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
    """A pair with its draws: accuracies and biases of both sides, (2, T, 1 + draws)."""

    def __init__(self, pair: CellPair, targets: Sequence[str], sums: FloatArray) -> None:
        self.pair, self.targets = pair, targets
        self.accuracies, self.biases = ratio(sums[2:4], sums[0]), ratio(sums[4:6], sums[1])
        self.answered = np.flatnonzero(~np.isnan(pair.first.human).all(axis=1))

    def of_accuracy(
        self, drawn: FloatArray, limit: tuple[float, float], name: str
    ) -> tuple[Estimate, ...]:
        """Return an estimate for each target, of accuracies: (T, 1 + draws)."""
        return self._estimates(drawn, limit, self.pair.counted, 0, name)

    def of_bias(
        self, drawn: FloatArray, limit: tuple[float, float], name: str
    ) -> tuple[Estimate, ...]:
        """Return an estimate for each target, of biases: (T, 1 + draws)."""
        return self._estimates(drawn, limit, self.pair.readable, 1, name)

    def mean(
        self, drawn: FloatArray, limit: tuple[float, float], of_bias: bool, name: str = ""
    ) -> Estimate:
        """Return the mean over the targets that people answered; its n is their number."""
        some = [int(t) for t in self.answered]
        why = reasons([self.targets[t] for t in some], [self.pair.why(t)[of_bias] for t in some])
        mean = (
            drawn[some].mean(axis=0, keepdims=True)
            if some
            else np.full((1, drawn.shape[1]), np.nan)
        )
        counts = Basis(len(some), 0, why or "no respondent answered a target with yes or no")
        return estimates(
            mean, [counts], float(effective(self.pair.weights, self.pair.units)), limit, name
        )[0]

    @cached_property
    def respondents(self) -> list[int]:
        """Who could be read on both sides, of each target."""
        return _counts(self.pair.weights, self.pair.readable)[1]

    @property
    def fewest(self) -> int:
        """The fewest of these that a target of a mean rests on."""
        return min((self.respondents[t] for t in self.answered), default=0)

    def _estimates(
        self, drawn: FloatArray, limit: tuple[float, float], kept: BoolArray, which: int, name: str
    ) -> tuple[Estimate, ...]:
        asked = self.pair.first.asked | self.pair.second.asked
        n, ns, exactly = _counts(self.pair.weights, kept)
        out = (asked & ~kept).sum(axis=1)
        counts = [
            Basis(ns[t], int(out[t]), self.pair.why(t)[which], effective=exactly[t])
            for t in range(len(self.targets))
        ]
        return estimates(drawn, counts, n, limit, name)


def ablations(
    layout: Layout, conditions: Sequence[Condition], resampling: RespondentDraws
) -> tuple[Ablation, ...]:
    """Return what each condition changes against `qm`: its targets, then their mean; empty without
    qm.
    """
    base = next((condition for condition in conditions if condition.name == QM), None)
    others = [condition for condition in conditions if condition != base]
    if base is None or not others:
        return ()
    qm = layout.cell(base, ORIGINAL)
    pairs = [CellPair(qm, layout.cell(condition, ORIGINAL)) for condition in others]
    targets = layout.predictions.targets
    drawn = dict(_compared(pairs, targets, resampling))
    return tuple(
        found
        for place, condition in enumerate(others)
        for found in _ablation(condition, drawn[place])
    )


def _compared(
    pairs: Sequence[CellPair], targets: Sequence[str], resampling: RespondentDraws
) -> Iterator[tuple[int, ComparedCells]]:
    """Yield each pair with its draws; pairs of the same respondents are drawn together, because
    drawing is dear.
    """
    groups: dict[bytes, list[int]] = {}
    for place, pair in enumerate(pairs):
        groups.setdefault(pair.units.tobytes(), []).append(place)
    together = max(1, AT_ONCE // max(1, 6 * len(targets) * (1 + resampling.draws)))
    for group in groups.values():
        for start in range(0, len(group), together):
            some = group[start : start + together]
            sums = resampling.sums(
                np.stack([pairs[place].features() for place in some]), pairs[some[0]].units
            )
            for place, of_pair in zip(some, sums, strict=True):
                yield (
                    place,
                    ComparedCells(
                        pairs[place], targets, _with_noise(pairs[place], of_pair, resampling)
                    ),
                )


def _with_noise(pair: CellPair, sums: FloatArray, resampling: RespondentDraws) -> FloatArray:
    """Return sums (6, T, 1 + draws) with the noise of counted answers that people have in common,
    see `sampled`.
    """
    for side, cell in enumerate((pair.first, pair.second)):
        weights = scaled(pair.weights, pair.counted)
        noise = shared(cell, resampling, f"side {side}", weights, pair.readable)
        if noise is not None:
            sums[2 + side] = np.clip(sums[2 + side] + noise.correct, 0, sums[0])
            sums[4 + side] += noise.difference
    return sums


def _ablation(condition: Condition, found: ComparedCells) -> Iterator[Ablation]:
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
    for target, bias_, change, accuracy_, accuracy_change, respondents in rows:
        yield Ablation(target, condition, bias_, change, accuracy_, accuracy_change, respondents)
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
    """Return `b` minus `a` for each target of both, then the means over these."""
    targets = tuple(target for target in a.predictions.targets if target in b.predictions.targets)
    names = sorted(set(a.respondents) & set(b.respondents))
    pair = CellPair(*(_shared(layout, condition, names, targets) for layout in (a, b)))
    found = dict(_compared([pair], targets, resampling))[0]
    (first, second), (before, after) = found.biases, found.accuracies
    flipped = _on_different_sides(
        interval(found.biases, effective(pair.weights, pair.readable), SIGNED)
    )
    alone = [_readable(layout, condition) for layout in (a, b)]
    left_out = [
        (alone[0].get(target, 0) - n, alone[1].get(target, 0) - n)
        for target, n in zip(targets, found.respondents, strict=True)
    ]
    rows = zip(
        targets,
        found.of_bias(second - first, SIGNED, "change of bias"),
        found.of_accuracy(after - before, SIGNED, "change of accuracy"),
        [apart and not is_few(n) for apart, n in zip(flipped, found.respondents, strict=True)],
        found.respondents,
        left_out,
        strict=True,
    )
    both = sum(found.respondents)
    whole = sum(alone[0].values()) - both, sum(alone[1].values()) - both
    bias = _without_interval(found.mean(np.abs(second) - np.abs(first), SIGNED, of_bias=True))
    accuracy = found.mean(after - before, SIGNED, False, "change of accuracy")
    return (
        *(TargetDifference(*row) for row in rows),
        TargetDifference(
            None, bias, accuracy, flipped=False, respondents=found.fewest, left_out=whole
        ),
    )


def _readable(layout: Layout, condition: Condition) -> dict[str, int]:
    """Return for how many respondents a model could be read, of each target."""
    cell = layout.cell(condition, ORIGINAL)
    counts = _counts(cell.weights, cell.readable)[1]
    return dict(zip(layout.predictions.targets, counts, strict=True))


def _without_interval(found: Estimate) -> Estimate:
    """Return a figure of absolute values, to which noise adds in every draw: these make no interval
    (`stats.noise`).
    """
    return replace(found, low=float("nan"), high=float("nan"), interval="", few="")


def _shared(
    layout: Layout, condition: Condition, names: Sequence[str], targets: Sequence[str]
) -> Cell:
    place = {name: at for at, name in enumerate(layout.respondents)}
    respondents = np.array([place[name] for name in names], dtype=np.int64)
    rows = np.array(
        [layout.predictions.targets.index(target) for target in targets], dtype=np.int64
    )
    return layout.cell(condition, ORIGINAL).of(respondents, rows)


def _on_different_sides(ends: FloatArray) -> list[bool]:
    """Say for which targets one model's interval lies below 0 and the other's above: (2 ends, 2
    models, T) to T.
    """
    (low_a, low_b), (high_a, high_b) = ends
    return [bool(apart) for apart in ((high_a < 0) & (low_b > 0)) | ((low_a > 0) & (high_b < 0))]


ALL_VOID = "every other wording is identical to the original"
FEWEST = {"sd": 2, "rms": 1}


def variability(
    layout: Layout, condition: Condition, resampling: RespondentDraws
) -> tuple[VariabilityFigure, ...]:
    """Return the variability of each target; empty where no wording but the original was asked.

    Wordings that mean something else, such as negations, have no part in it. Raises UnknownName for
    the condition.
    """
    layout.place(condition)
    asked = [
        w
        for w in layout.predictions.wordings
        if w.relation is Relation.SAME and len(layout.rows(condition, w))
    ]
    if not any(wording != ORIGINAL for wording in asked):
        return ()
    wordings = Wordings(layout, condition, tuple(asked))
    found: list[VariabilityFigure] = []
    together = max(1, AT_ONCE // (2 * len(asked) * (1 + resampling.draws)))
    for start in range(0, len(layout.predictions.targets), together):
        places = range(start, min(start + together, len(layout.predictions.targets)))
        sums = wordings.with_noise(
            resampling.sums(wordings.features(places), wordings.units), places, resampling
        )
        found += [wordings.figure(place, *of) for place, of in zip(places, sums, strict=True)]
    return tuple(found)


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
        "(W, T): which wordings of a target were asked at all"
        self.common: BoolArray = self._in_all("counted")
        "(T, R): who was asked in all of these"
        self.units: BoolArray = np.asarray(self.common.any(axis=0))
        known = layout.predictions.wordings
        void = layout.predictions.void
        self.void: BoolArray = (
            np.zeros_like(self.there)
            if void is None
            else void[[known.index(wording) for wording in wordings]]
        )
        "(W, T): which wordings read like the original"
        self.paraphrase: BoolArray = np.array([wording != ORIGINAL for wording in wordings])

    def _in_all(self, name: str) -> BoolArray:
        common = np.repeat(
            self.there.any(axis=0, keepdims=True).T, self.cells[0].human.shape[1], axis=1
        )
        for place, cell in enumerate(self.cells):
            common &= getattr(cell, name) | ~self.there[place][:, np.newaxis]
        return np.asarray(common)

    def features(self, places: Sequence[int]) -> FloatArray:
        """Return what each respondent adds to targets: (targets, 2, W, R), whether read and share -
        answer.
        """
        some, common = list(places), self.common[list(places)]
        readable = np.stack([cell.readable[some] & common for cell in self.cells], axis=1)
        difference = np.stack([cell.difference[some] for cell in self.cells], axis=1)
        features = np.stack([readable, np.where(readable, difference, 0.0)], axis=1)
        return (
            features
            if self.weights is None
            else features * scaled(self.weights, common)[:, None, None]
        )

    @property
    def weights(self) -> FloatArray | None:
        return self.cells[0].weights

    def with_noise(
        self, sums: FloatArray, places: Sequence[int], resampling: RespondentDraws
    ) -> FloatArray:
        """Return sums (targets, 2, W, 1 + draws) with the noise of counted answers that people have
        in common.
        """
        for number, (wording, cell) in enumerate(zip(self.wordings, self.cells, strict=True)):
            weights = scaled(self.weights, self.common)
            noise = shared(cell, resampling, f"wording {wording}", weights, self.common, places)
            if noise is not None:
                sums[:, 1, number] += noise.difference
        return sums

    def figure(self, place: int, readable: FloatArray, difference: FloatArray) -> VariabilityFigure:
        """Return the variability of a target from its sums, (W, 1 + draws) each."""
        biases, there = ratio(difference, readable), self.there[:, place]
        people = np.array(
            [int((cell.readable[place] & self.common[place]).sum()) for cell in self.cells]
        )
        counting = there & self.paraphrase
        live = counting & ~self.void[:, place]
        ks = [int((people[which] > 0).sum()) for which in (live, counting)]
        counts = [
            Basis(k, int(which.sum()) - k, self._why(place, k)[at])
            for at, (k, which) in enumerate(zip(ks, (live, counting), strict=True))
        ]
        if not live.any() and counting.any():
            counts[0] = Basis(0, 0, ALL_VOID)
        drawn = np.stack([spread(biases[live])[0], spread(biases[counting])[1]])
        n, nan = float(effective(self.weights, self.common[place])), float("nan")
        found = [
            Estimate(
                float(values[0]),
                nan,
                nan,
                of.n,
                of.excluded,
                of.undefined if np.isnan(values[0]) else "",
            )
            for values, of in zip(drawn, counts, strict=True)
        ]
        shown = tuple(
            WordingFigure(
                self.wordings[i], float(biases[i, 0]), int(people[i]), bool(self.void[i, place])
            )
            for i in np.flatnonzero(there)
        )
        noise = _noise(drawn[0], n), _noise(drawn[1], n)
        return VariabilityFigure(
            self.targets[place], self.condition, shown, ks[0], found[0], found[1], *noise
        )

    def _why(self, place: int, k: int) -> tuple[str, str]:
        """Say why a target has no sd, and no rms."""
        both = ""
        if np.isnan(self.cells[0].human[place]).all():
            both = NOBODY_ANSWERED
        elif not (self.there[:, place] & self.paraphrase).any():
            both = "only the original was asked"
        elif not self.common[place].any():
            both = (
                NOT_OFFERED
                if self._in_all("asked")[place].any()
                else "no respondent was asked in all wordings"
            )
        elif k == 0:
            both = UNREADABLE
        return both or f"{k} wording has a bias; a deviation needs {FEWEST['sd']}", both


def _noise(drawn: FloatArray, respondents: float) -> Noise:
    """Return what of a deviation, and of its draws, is noise: (1 + draws,).

    A draw of people holds their noise once more, so that E*[d*²] - d² is the square of what noise
    adds, but for the factor (n - 1) / n of the bootstrap's variance.
    """
    squares = drawn[1:][~np.isnan(drawn[1:])] ** 2
    if respondents < 2 or np.isnan(drawn[0]) or not len(squares):
        return Noise(float("nan"), float("nan"))
    alone = max(0.0, float(squares.mean()) - float(drawn[0]) ** 2) * respondents / (respondents - 1)
    return Noise(math.sqrt(alone), math.sqrt(max(0.0, float(drawn[0]) ** 2 - alone)))


def spread(biases: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return sd and rms over wordings: (K, ...) to two (...). NaN is left out; where too few are
    left there is none.
    """
    defined = ~np.isnan(biases)
    k: IntArray = defined.sum(axis=0)
    known, some = np.where(defined, biases, 0.0), np.maximum(k, 1)
    mean = known.sum(axis=0) / some
    squares = np.where(defined, (known - mean) ** 2, 0.0).sum(axis=0) / some
    sd = np.where(k >= FEWEST["sd"], np.sqrt(squares), np.nan)
    rms = np.where(k >= FEWEST["rms"], np.sqrt((known**2).sum(axis=0) / some), np.nan)
    return sd, rms
