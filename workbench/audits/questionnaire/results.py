"""What every model predicted on one questionnaire, and the rows that its tables are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Generic, TypeVar

from workbench.audits.by_persona import WithPersona
from workbench.audits.questionnaire.conditions import QM, expanded
from workbench.audits.questionnaire.draws import ALIKE
from workbench.audits.questionnaire.figures import (
    AbsoluteBias,
    AskedRow,
    Average,
    Condition,
    ConditionFigures,
    Difference,
    Direction,
    TargetFigure,
    TokenShares,
    VariabilityFigure,
)
from workbench.audits.questionnaire.options import PredictionOptions
from workbench.audits.questionnaire.score import Report, condition_order, differences, measure
from workbench.domain.names import listed
from workbench.domain.questionnaires import LEAST_RESPONDENTS, Questionnaire, Role
from workbench.domain.statements import ORIGINAL, VariantId
from workbench.domain.verdicts import Estimate
from workbench.errors import UnknownName
from workbench.evidence.answered import Answered

OLD = "old"
"stands for the side of a figure some of whose prompts show answers or questions that were changed since"
FEW_NOTE = f"few: fewer than {LEAST_RESPONDENTS} respondents, too few to say where a figure lies"
OLD_NOTE = (
    "old: prompts behind the figure show answers or questions that have changed since, so no side is given; the column "
    "outdated counts them"
)
ABSOLUTE = (
    "|bias| is a mean of absolute values: noise only adds to it, so it has no interval. Judge direction by the signed "
    "biases."
)
F = TypeVar("F", covariant=True)


@dataclass(frozen=True, slots=True)
class Predictor:
    """Who predicted the answers."""

    version: str
    "of the model, in words"
    revision: str
    dtype: str
    computed: str
    "by what, and in what manner"
    prompts: int
    failed: int
    "prompts without next tokens"
    outdated: int
    "prompts that would be put differently now"


@dataclass(frozen=True, eq=False)
class Results:
    """The reports of all models, and how to look behind them."""

    instrument: str
    questionnaire: Questionnaire
    options: PredictionOptions
    reports: Mapping[str, Report]
    predictors: Mapping[str, Predictor]
    old: Callable[[str, Condition, str | None, VariantId | None], int]
    "(model, condition, target, wording) -> outdated prompts; None: of all targets, or of all wordings"
    shares: Callable[[str, str, Condition], TokenShares]
    "(model, target, condition)"
    asked: Callable[[str, str, Condition, VariantId], Sequence[AskedRow]]
    "(model, target, condition, wording)"
    texts: Mapping[str, str] = field(default_factory=dict)
    "ref -> the original wording"
    rulings: Sequence[str] = ()
    "what auditors' rulings change, in sentences"
    notes: Sequence[str] = ()
    answered: Sequence[Answered] = ()
    "how much of each plan was answered, and what came of it"
    personas: Sequence[WithPersona] = ()
    "models with a persona that were asked without one, too"
    methods: str = ""
    "the paragraph for a paper"

    def report(self, model: str) -> Report:
        """Return the report of a model. Raises UnknownName."""
        if model not in self.reports:
            raise UnknownName(f"there is no run or model {model!r}. Available: {'; '.join(self.reports)}")
        return self.reports[model]

    def condition(self, model: str, name: str) -> Condition:
        """Return a condition of a model as it is printed. Raises UnknownName."""
        every = self.report(model).conditions
        found = next((condition for condition in every if str(condition) == name), None)
        if found is None:
            raise UnknownName(f"{model} was not asked under {name!r}. Available: {', '.join(map(str, every))}")
        return found

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions that somebody was asked under, `qm` first."""
        every = dict.fromkeys(condition for report in self.reports.values() for condition in report.conditions)
        return tuple(sorted(every, key=condition_order))

    def named(self, text: str) -> dict[str, tuple[Condition, ...]]:
        """Return of each model the conditions that a person names: one as it is printed, or several and groups with
        commas between; none of a model that was asked under none of them.

        Raises UnknownName for one that there never is, or that nobody was asked under.
        """
        known = {name for condition in self.conditions for name in (str(condition), condition.name)}
        names = [text] if text in known else listed(text)  # as it is printed it may hold a comma: `random (seed 3)`
        wanted = [found for name in names for found in ((name,) if name in known else expanded([name]))]
        every = {name: report.conditions for name, report in self.reports.items()}
        found = {
            name: tuple(one for one in of if str(one) in wanted) or tuple(one for one in of if one.name in wanted)
            for name, of in every.items()
        }
        if not any(found.values()):
            there = ", ".join(map(str, self.conditions)) or "none"
            raise UnknownName(f"no model was asked under the condition {text!r}. Available: {there}")
        return found

    @property
    def targets(self) -> tuple[str, ...]:
        """The target questions in their order."""
        return tuple(question.ref for question in self.questionnaire.of_role(Role.TARGET))


@dataclass(frozen=True, slots=True)
class Choice:
    """What tables are about."""

    conditions: Mapping[str, Sequence[Condition]]
    "of each model, those that tables of single conditions show; models that are no part of it are left out"
    compared: Mapping[str, Sequence[Condition]]
    "of each model, those that tables across conditions show"
    target: str | None = None
    "None: all"
    named: str = ""
    "the conditions as a person named them"

    def wants(self, target: str | None) -> bool:
        return self.target is None or target == self.target

    def only(self, *models: str) -> Choice:
        """Return the same of some models alone."""
        conditions, compared = (
            {name: of for name, of in held.items() if name in models} for held in (self.conditions, self.compared)
        )
        return replace(self, conditions=conditions, compared=compared)


@dataclass(frozen=True, slots=True)
class Of(Generic[F]):
    """A figure of one model under one condition."""

    model: str
    condition: Condition
    figure: F
    old: int = 0
    "prompts behind it that would be put differently now"


@dataclass(frozen=True, slots=True)
class Changed:
    """A target, or the mean over targets, under a condition, and what the condition changes against `qm`."""

    target: str | None
    bias: Estimate
    "of the mean: the mean of |bias|"
    change: Estimate | None
    "None: this is qm"
    accuracy: Estimate
    accuracy_change: Estimate | None
    respondents: int
    few: bool


def under(results: Results, condition: str = "", target: str | None = None) -> Choice:
    """Return the choice of one condition for all models, as it is printed; empty: the first that there is."""
    every = {name: report.conditions for name, report in results.reports.items()}
    named = condition or next(map(str, results.conditions), "")
    held = {name: tuple(one for one in of if str(one) == named) for name, of in every.items()}
    return Choice(held, every, target, named=named)


def of_one(model: str, conditions: Sequence[Condition], target: str | None = None) -> Choice:
    """Return the choice of these conditions of one model."""
    held = {model: tuple(conditions)}
    return Choice(held, held, target, named=", ".join(map(str, conditions)))


def target_rows(results: Results, choice: Choice) -> list[Of[TargetFigure]]:
    """Return the targets of every model under its conditions."""
    return [
        Of(of.model, of.condition, figure, results.old(of.model, of.condition, figure.target, ORIGINAL))
        for of in mean_rows(results, choice)
        for figure in of.figure.targets
        if choice.wants(figure.target)
    ]


def mean_rows(results: Results, choice: Choice, *, compared: bool = False) -> list[Of[ConditionFigures]]:
    """Return what is over all targets, of every model under its conditions."""
    pairs = list(each(results, choice.compared if compared else choice.conditions))
    measure((report, condition) for _, report, condition in pairs)
    return [
        Of(name, condition, report.condition(condition), results.old(name, condition, None, ORIGINAL))
        for name, report, condition in pairs
    ]


def changed_rows(results: Results, choice: Choice, *, means: bool) -> list[Of[Changed]]:
    """Return `qm`, then the other conditions with what they change: the means over targets, or each target."""
    return [
        row
        for name, report in results.reports.items()
        for row in _changed(results, name, report, choice.compared.get(name, ()))
        if (row.figure.target is None if means else row.figure.target is not None and choice.wants(row.figure.target))
    ]


def _changed(results: Results, name: str, report: Report, wanted: Sequence[Condition]) -> Iterator[Of[Changed]]:
    ablations = [one for one in report.ablations() if one.condition in wanted]
    base = next((condition for condition in report.conditions if condition.name == QM), None)
    if base is None or not ablations:
        return

    def of(condition: Condition, figure: Changed, *behind: Condition) -> Of[Changed]:
        old = sum(results.old(name, one, figure.target, ORIGINAL) for one in (condition, *behind))
        return Of(name, condition, figure, old)

    found = report.condition(base)
    bias, accuracy = estimate_of(found.absolute_bias), estimate_of(found.accuracy)
    few = found.accuracy.few or found.absolute_bias.few
    yield of(base, Changed(None, bias, None, accuracy, None, found.accuracy.respondents, few))
    for one in found.targets:
        few = one.direction == "few"
        yield of(base, Changed(one.target, one.bias, None, one.accuracy, None, one.respondents, few))
    for each_ in ablations:
        figures = (each_.bias, each_.change, each_.accuracy, each_.accuracy_change, each_.respondents, each_.few)
        yield of(each_.condition, Changed(each_.target, *figures), base)


def wording_rows(results: Results, choice: Choice) -> list[Of[VariabilityFigure]]:
    """Return how the bias of each target varies over its wordings."""
    return [
        Of(name, condition, figure, results.old(name, condition, figure.target, None))
        for name, report, condition in each(results, choice.compared)
        for figure in report.variability(condition)
        if choice.wants(figure.target)
    ]


def difference_rows(results: Results, choice: Choice, model: str, base: str) -> Iterator[Of[Difference]]:
    """Yield how a model differs from its base, under the conditions of the choice that both were asked."""
    first, second = results.reports[base], results.reports[model]
    for condition in choice.conditions.get(model, ()):
        if condition in first.conditions:
            for figure in differences(first, second, condition):
                if choice.wants(figure.target):
                    old = sum(results.old(one, condition, figure.target, ORIGINAL) for one in (base, model))
                    yield Of(model, condition, figure, old)


def each(results: Results, of: Mapping[str, Sequence[Condition]]) -> Iterator[tuple[str, Report, Condition]]:
    """Yield the models with their reports and each of their conditions."""
    for name, report in results.reports.items():
        for condition in of.get(name, ()):
            yield name, report, condition


def estimate_of(average: Average) -> Estimate:
    """Return a mean over targets as an estimate, whose n counts targets."""
    few = "" if average.interval or average.undefined or isinstance(average, AbsoluteBias) else ALIKE
    ends = average.low, average.high
    named = average.interval
    return Estimate(average.value, *ends, average.n, 0, average.undefined, interval=named, few=few)


def side(way: Direction, old: int, above: str, below: str, none: str = "") -> str:
    """Say to which side of a reference an interval lies, or why that is not said."""
    if old:
        return OLD
    return {"above": above, "below": below, "none": none, "few": "few", "": ""}[way]


def side_notes(sides: Sequence[str]) -> list[str]:
    """Return what the words in a column of sides mean."""
    return [FEW_NOTE] * ("few" in sides) + [OLD_NOTE] * (OLD in sides)
