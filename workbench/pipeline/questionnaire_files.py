"""Figures of Questionnaire Modeling as CSV files: a file a section, a row a figure, with all that it depends on.

Values are shares and biases as they are computed, not percent; a figure that is undefined has no value and says why.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple

from stores.run_rows import Run
from workbench.audits.questionnaire_conditions import QM
from workbench.audits.questionnaire_figures import Ablation, Average, Condition, ConditionFigures, TargetFigure
from workbench.audits.questionnaire_score import Report, correlations, differences, measure
from workbench.csv_files import csv_text, guarded
from workbench.domain.statements import ORIGINAL, VariantId
from workbench.domain.verdicts import Estimate, Ranged
from workbench.pipeline.questionnaire import QuestionnaireJudged, mean_variability
from workbench.pipeline.questionnaire_asked import token_shares

FIGURE = ("measure", "value", "se", "low", "high", "n", "undefined")
"of a row: `n` is what the value is over: respondents, targets, wordings or points; `low` and `high` its 95 % interval"
READING = ("se_over", "interval_over", "outdated", "note")
"""how to read a row: over what its standard error is, and over what things its interval draws; how many prompts behind
it show answers or questions that were changed since; what else a reader should know
"""
RESPONDENTS, TARGETS = "respondents", "targets"
ABSOLUTE = "noise only adds to a mean of absolute values: near 0 it is too large; it has no interval"
OF = ("model", "revision", "dtype", "condition", "context_seed", "first_questions", "target", "wording", "against")
"what a row is about; empty where it does not apply: no target is the mean over targets"
OPTIONS = ("masses", "variability", "error", "seed", "draws")
HEADER = ("instrument", *OF, *FIGURE, *READING, *OPTIONS)
ALL = ("targets", "conditions", "wordings", "tokens", "correlation", "axis")
NOTHING = math.nan

Figure = tuple[str, float, float, float, float, int | None, str]
Conditions = Mapping[str, Sequence[Condition]]
Row = tuple[str, ...]


def figure_files(
    judged: QuestionnaireJudged,
    sections: Sequence[str] = ALL,
    conditions: Conditions | None = None,
    target: str | None = None,
    bases: Sequence[str] = (),
) -> dict[str, str]:
    """Return the files by their names: of each section, and `against.csv` where other models are compared to bases.

    `conditions`: those of each report that are wanted; None: all. `target`: only this one's rows.
    """
    made = _Made(judged, conditions, target, tuple(bases))
    makers = {
        "targets": made.targets,
        "conditions": made.ablations,
        "wordings": made.wordings,
        "tokens": made.tokens,
        "correlation": made.correlation,
        "axis": made.axis,
    }
    files = {f"{name}.csv": csv_text(HEADER, make()) for name, make in makers.items() if name in sections}
    return files | ({"against.csv": csv_text(HEADER, made.against())} if bases else {})


class _Made:
    """The rows of all sections."""

    def __init__(
        self, judged: QuestionnaireJudged, conditions: Conditions | None, target: str | None, bases: tuple[str, ...]
    ) -> None:
        self.judged, self.target, self.bases = judged, target, bases
        self.conditions = {
            name: report.conditions if conditions is None else conditions[name]
            for name, report in judged.reports.items()
        }

    def targets(self) -> Iterator[Row]:
        measure((report, condition) for _, report, condition in self._each())
        for name, report, condition in self._each():
            figures = report.condition(condition)
            for row in figures.targets:
                if self._wanted(row.target):
                    yield from self._rows(name, condition, row.target, _of_target(row))
            if self.target is None:
                means = (("accuracy", figures.accuracy), ("absolute bias", figures.absolute_bias))
                yield from self._rows(name, condition, "", [_average(measure, of) for measure, of in means])
                noise = figures.absolute_bias.noise
                beside = [("by noise alone", noise.noise), ("without noise", noise.size), ("p of none", noise.p)]
                of_noise = [_known(f"absolute bias {name_}", value) for name_, value in beside]
                yield from self._rows(name, condition, "", of_noise)
                fewest = float(figures.accuracy.respondents)
                more = [_known("majority", figures.majority), _known("fewest respondents of a target", fewest)]
                yield from self._rows(name, condition, "", [*more, *_of_all_prompts(figures)])

    def axis(self) -> Iterator[Row]:
        measure((report, condition) for _, report, condition in self._each())
        for name, report, condition in self._each():
            yield from self._rows(name, condition, "", [_average("axis", report.condition(condition).axis)])

    def ablations(self) -> Iterator[Row]:
        for name, report in self.judged.reports.items():
            for row in report.ablations():
                if row.condition in self.conditions[name] and self._wanted(row.target):
                    yield from self._rows(name, row.condition, row.target or "", _of_ablation(row))

    def wordings(self) -> Iterator[Row]:
        for name, report, condition in self._each():
            rows = report.variability(condition)
            for row in rows:
                if self._wanted(row.target):
                    of = [_estimate("sd over wordings", row.sd), _estimate("rms over wordings", row.rms)]
                    yield from self._rows(name, condition, row.target, of)
                    each = (("sd", row.sd_noise), ("rms", row.rms_noise))
                    parts = [(f"{of_} by noise alone", noise.alone) for of_, noise in each]
                    parts += [(f"{of_} without noise", noise.without) for of_, noise in each]
                    yield from self._rows(name, condition, row.target, [_known(*part) for part in parts])
                    for one in row.wordings:
                        bias = _known("bias", one.bias, one.respondents)
                        yield from self._rows(name, condition, row.target, [bias], wording=str(one.wording))
            if rows and self.target is None:
                kind = f"mean {report.options.variability} over wordings"
                yield from self._rows(name, condition, "", [_known(kind, mean_variability(report, condition))])

    def tokens(self) -> Iterator[Row]:
        for name, report, condition in self._each():
            for ref in report.predictions.targets:
                if self._wanted(ref):
                    shares = token_shares(self.judged, name, ref, condition)
                    parts = {"yes": shares.yes, "no": shares.no, "other": shares.other, "rest": shares.rest}
                    of = [_known(part, value, shares.prompts) for part, value in parts.items()]
                    yield from self._rows(name, condition, ref, of)

    def correlation(self) -> Iterator[Row]:
        for condition in dict.fromkeys(c for of in self.conditions.values() for c in of):
            for row in correlations(self.judged.reports, condition):
                if row.target is None or self._wanted(row.target):
                    of = (("r", row.r), ("t", row.t), ("p", row.p))
                    figures = [_known(measure, value, row.n, row.undefined) for measure, value in of]
                    figures.append(_known("points of few respondents", float(row.few), row.n))
                    yield from self._rows("", condition, row.target or "", figures, names=tuple(self.judged.reports))

    def against(self) -> Iterator[Row]:
        for base in self.bases:
            first = self.judged.reports[base]
            for name, report, condition in self._each():
                if name in self.bases or condition not in first.conditions:
                    continue
                for row in differences(first, report, condition):
                    if self._wanted(row.target):
                        kind = "bias" if row.target else "absolute bias"
                        of = [_estimate(f"difference of {kind}", row.bias)]
                        of += [_estimate("difference of accuracy", row.accuracy)]
                        of += [_known("respondents", float(row.respondents))]
                        both = (name, base)
                        yield from self._rows(name, condition, row.target or "", of, against=base, names=both)

    def _wanted(self, target: str | None) -> bool:
        return self.target is None or target == self.target

    def _each(self) -> Iterator[tuple[str, Report, Condition]]:
        for name, report in self.judged.reports.items():
            for condition in self.conditions[name]:
                yield name, report, condition

    def _rows(
        self,
        name: str,
        condition: Condition,
        target: str,
        figures: Sequence[Figure],
        *,
        wording: str = "",
        against: str = "",
        names: Sequence[str] | None = None,
    ) -> Iterator[Row]:
        """Yield the rows of figures. `names`: the models behind them, where it is not the one alone."""
        run: Run | None = self.judged.runs.get(name)
        options = map(str, astuple(self.judged.choice.options))
        known = (name, run.revision, run.dtype) if run else ("", "", "")
        drawn = (condition.name, str(condition.seed or ""), str(condition.questions or ""))
        end = tuple(options)
        for named, *numbers, n, undefined in figures:
            old = self._old((name,) if names is None else names, condition, target, named, wording)
            said = (named, *map(_number, numbers), "" if n is None else str(n), undefined)
            said += (*_over(target, *numbers[1:3]), str(old), ABSOLUTE if "absolute" in named else "")
            cells = (self.judged.instrument.name, *known, *drawn, target, wording, against, *said, *end)
            yield tuple(map(guarded, cells))

    def _old(self, names: Sequence[str], condition: Condition, target: str, named: str, wording: str) -> int:
        """Return how many prompts behind a figure would be put differently now."""
        of = None if named.endswith("over wordings") else VariantId.parse(wording) if wording else ORIGINAL
        conditions = [condition]
        if named.endswith("from qm"):
            conditions += [c for c in self.judged.reports[names[0]].conditions if c.name == QM][:1]
        return sum(self.judged.gathered[name].old(c, target or None, of) for name in names for c in conditions)


def _over(target: str, se: float, low: float) -> tuple[str, str]:
    """Return over what a standard error, and an interval, are: that of a mean is over targets, drawn over people."""
    of = RESPONDENTS if target else TARGETS
    return "" if math.isnan(se) else of, "" if math.isnan(low) else RESPONDENTS


def _of_target(row: TargetFigure) -> list[Figure]:
    n = row.respondents
    return [
        _estimate("accuracy", row.accuracy, row.accuracy_se),
        _known("majority", row.majority, n),
        _estimate("bias", row.bias, row.bias_se),
        _known("human yes", row.human, n),
        _known("p(yes)", row.p_yes, row.bias.n),
        _known("sd of p(yes)", row.p_yes_sd, row.bias.n),
        _known("predicted yes", float(row.yes), n),
        _known("predicted no", float(row.no), n),
        _known("unreadable", float(row.unreadable), n),
        _known("neither yes nor no", row.without, n),
    ]


def _of_all_prompts(figures: ConditionFigures) -> list[Figure]:
    """Return what is counted over all prompts of a condition, whatever their target (table 1)."""
    readable = figures.yes + figures.no
    return [
        _known("p(yes)", figures.p_yes, readable),
        _known("sd of p(yes)", figures.p_yes_sd, readable),
        _known("predicted yes", float(figures.yes), readable + figures.unreadable),
        _known("predicted no", float(figures.no), readable + figures.unreadable),
        _known("unreadable", float(figures.unreadable), readable + figures.unreadable),
    ]


def _of_ablation(row: Ablation) -> list[Figure]:
    bias = "bias" if row.target else "absolute bias"
    return [
        _estimate(bias, row.bias),
        _estimate(f"change of {bias} from qm", row.change),
        _estimate("accuracy", row.accuracy),
        _estimate("change of accuracy from qm", row.accuracy_change),
        _known("respondents", float(row.respondents)),
    ]


def _estimate(measure: str, of: Estimate, se: float = NOTHING) -> Figure:
    return _ranged(measure, of, se)


def _average(measure: str, of: Average) -> Figure:
    return _ranged(measure, of, of.se)


def _ranged(measure: str, of: Ranged, se: float) -> Figure:
    return (measure, of.value, se, of.low, of.high, of.n, of.undefined)


def _known(measure: str, value: float, n: int | None = None, undefined: str = "") -> Figure:
    return (measure, value, NOTHING, NOTHING, NOTHING, n, undefined)


def _number(value: float) -> str:
    """Return a number that reads back to ten digits; empty where there is none."""
    return "" if math.isnan(value) else f"{value + 0.0:.10g}"
