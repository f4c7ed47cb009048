"""The tables of Questionnaire Modeling (Haller et al. 2025).

They show accuracy and bias of each target, and their means over targets. Shares and biases are
fractions. A bias is above 0 if the model says yes more often than the respondents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import product
from typing import Any, Generic, TypeVar

import numpy as np

from workbench.audits.by_persona import WithPersona
from workbench.audits.questionnaire.asking import QM, condition_order, expanded
from workbench.audits.questionnaire.cells import ALIKE, effective_number
from workbench.audits.questionnaire.figures import (
    AbsoluteBias,
    Average,
    Condition,
    ConditionFigures,
    Direction,
    RespondentPrediction,
    TargetDifference,
    TargetFigure,
    TokenShares,
    VariabilityFigure,
)
from workbench.audits.questionnaire.options import PredictionOptions
from workbench.audits.questionnaire.score import PredictionReport, compute_figures, differences
from workbench.domain.names import listed, plural
from workbench.domain.questionnaires import LEAST_RESPONDENTS, Pole, Questionnaire, QuestionRole
from workbench.domain.statements import ORIGINAL, VariantId
from workbench.domain.verdicts import Estimate, MeanSd
from workbench.errors import UnknownName
from workbench.evidence.answered import AnsweredPlan
from workbench.figures.pictures.of_table import Forest, Scatter
from workbench.figures.table import Column, Kind, Link, Table
from workbench.stats.hypothesis_tests import holm
from workbench.stats.weights import spread_of

OLD = "old"
"""the side of a figure if some of its prompts show answers or questions that were changed since"""
FEW_NOTE = f"few: fewer than {LEAST_RESPONDENTS} respondents, too few to say where a figure lies"
OLD_NOTE = (
    "old: prompts behind the figure show answers or questions that have changed since, so no side "
    "is given; the column outdated counts them"
)
ABSOLUTE = (
    "|bias| is a mean of absolute values: noise only adds to it, so it has no interval. Judge "
    "direction by the signed biases."
)
F = TypeVar("F", covariant=True)


@dataclass(frozen=True, slots=True)
class Predictor:
    """The model that predicted the answers, and its prompts."""

    version: str
    "version of the model, as text"
    revision: str
    dtype: str
    computed: str
    "the backend that computed the predictions, and how"
    prompts: int
    failed: int
    "prompts without next tokens"
    outdated: int
    "prompts that would be worded differently now"


@dataclass(frozen=True, eq=False)
class Results:
    """The reports of all models, with access to the prompts behind the figures."""

    instrument: str
    questionnaire: Questionnaire
    options: PredictionOptions
    reports: Mapping[str, PredictionReport]
    predictors: Mapping[str, Predictor]
    count_outdated: Callable[[str, Condition, str | None, VariantId | None], int]
    """number of outdated prompts by (model, condition, target, wording); the target None stands for
    all targets, the wording None for all wordings"""
    shares: Callable[[str, str, Condition], TokenShares]
    "token shares by (model, target, condition)"
    predictions_of: Callable[[str, str, Condition, VariantId], Sequence[RespondentPrediction]]
    "predictions by (model, target, condition, wording)"
    texts: Mapping[str, str] = field(default_factory=dict)
    "original wording by ref"
    rulings: Sequence[str] = ()
    "changes by auditors' rulings, in sentences"
    notes: Sequence[str] = ()
    answered: Sequence[AnsweredPlan] = ()
    "the answered part of each plan, and the kinds of its answers"
    personas: Sequence[WithPersona] = ()
    "models with a persona that were asked without one, too"
    methods: str = ""
    "paragraph on the methods for a paper"
    report_of_group: Callable[[str, str, str], PredictionReport] | None = None
    """report over the respondents of a group alone, by (model, group, value); None if no respondent
    has a group"""

    @property
    def weighted(self) -> bool:
        """Whether respondents count by their weights."""
        return any(report.predictions.weights is not None for report in self.reports.values())

    def report(self, model: str) -> PredictionReport:
        """Return the report of a model. Raises UnknownName if there is none."""
        if model not in self.reports:
            raise UnknownName(
                f"there is no run or model {model!r}. Available: {'; '.join(self.reports)}"
            )
        return self.reports[model]

    def condition(self, model: str, name: str) -> Condition:
        """Return a condition of a model by its printed name. Raises UnknownName if it has none."""
        conditions = self.report(model).conditions
        match = next((condition for condition in conditions if str(condition) == name), None)
        if match is None:
            raise UnknownName(
                f"{model} was not asked under {name!r}. "
                f"Available: {', '.join(map(str, conditions))}"
            )
        return match

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions under which any model was asked, `qm` first."""
        distinct_conditions = dict.fromkeys(
            condition for report in self.reports.values() for condition in report.conditions
        )
        return tuple(sorted(distinct_conditions, key=condition_order))

    def select_conditions(self, text: str) -> dict[str, tuple[Condition, ...]]:
        """Return the conditions of each model that a text names.

        The text is a condition as it is printed, or several conditions and groups with commas
        between. A model that was asked under none of them has an empty tuple. Raises UnknownName
        for a condition that does not exist, or under which no model was asked.
        """
        available = {
            name for condition in self.conditions for name in (str(condition), condition.name)
        }
        # A printed condition may contain a comma: `random (first 5, seed 3)`
        names = [text] if text in available else listed(text)
        selected_names = [
            member
            for name in names
            for member in ((name,) if name in available else expanded([name]))
        ]
        conditions_by_model = {name: report.conditions for name, report in self.reports.items()}
        selected = {
            name: tuple(condition for condition in conditions if str(condition) in selected_names)
            or tuple(condition for condition in conditions if condition.name in selected_names)
            for name, conditions in conditions_by_model.items()
        }
        if not any(selected.values()):
            available_conditions = ", ".join(map(str, self.conditions)) or "none"
            raise UnknownName(
                f"no model was asked under the condition {text!r}. "
                f"Available: {available_conditions}"
            )
        return selected

    @property
    def targets(self) -> tuple[str, ...]:
        """The target questions in their order."""
        return tuple(question.ref for question in self.questionnaire.of_role(QuestionRole.TARGET))


@dataclass(frozen=True, slots=True)
class TableScope:
    """The models, conditions and target that tables show."""

    conditions: Mapping[str, Sequence[Condition]]
    "conditions of each model in tables of single conditions; other models are excluded"
    compared: Mapping[str, Sequence[Condition]]
    "conditions of each model in tables that compare conditions"
    target: str | None = None
    "the only target, or None for all"
    named: str = ""
    "the conditions as the user named them"

    def wants(self, target: str | None) -> bool:
        """Return whether the tables show a target."""
        return self.target is None or target == self.target

    def only(self, *models: str) -> TableScope:
        """Return a copy that is restricted to some models."""
        conditions, compared = (
            {name: selected for name, selected in selected_by_model.items() if name in models}
            for selected_by_model in (self.conditions, self.compared)
        )
        return replace(self, conditions=conditions, compared=compared)


@dataclass(frozen=True, slots=True)
class ModelFigure(Generic[F]):
    """A figure of one model under one condition."""

    model: str
    condition: Condition
    figure: F
    n_outdated: int = 0
    "prompts of the figure that would be worded differently now"


@dataclass(frozen=True, slots=True)
class ConditionChange:
    """The figures of a target under a condition, and their changes against `qm`."""

    target: str | None
    "the target, or None for the mean over targets"
    bias: Estimate
    "bias of the target; for the mean over targets: the mean of |bias|"
    change: Estimate | None
    "change of the bias, or None if the condition is `qm`"
    accuracy: Estimate
    accuracy_change: Estimate | None
    respondents: int
    few: bool


def under(results: Results, condition: str = "", target: str | None = None) -> TableScope:
    """Return the choice of one condition for all models.

    `condition` is its printed name. An empty one stands for the first condition there is.
    """
    compared = {name: report.conditions for name, report in results.reports.items()}
    condition_name = condition or next(map(str, results.conditions), "")
    shown_conditions = {
        name: tuple(candidate for candidate in conditions if str(candidate) == condition_name)
        for name, conditions in compared.items()
    }
    return TableScope(shown_conditions, compared, target, named=condition_name)


def of_one(model: str, conditions: Sequence[Condition], target: str | None = None) -> TableScope:
    """Return the choice of some conditions of one model."""
    conditions_by_model = {model: tuple(conditions)}
    return TableScope(
        conditions_by_model, conditions_by_model, target, named=", ".join(map(str, conditions))
    )


def target_rows(results: Results, choice: TableScope) -> list[ModelFigure[TargetFigure]]:
    """Return the figures of the targets, for every model and condition of the choice."""
    return [
        ModelFigure(
            means_row.model,
            means_row.condition,
            figure,
            results.count_outdated(means_row.model, means_row.condition, figure.target, ORIGINAL),
        )
        for means_row in mean_rows(results, choice)
        for figure in means_row.figure.targets
        if choice.wants(figure.target)
    ]


def mean_rows(
    results: Results, choice: TableScope, *, compared: bool = False
) -> list[ModelFigure[ConditionFigures]]:
    """Return the figures over all targets, for every model and condition of the choice."""
    pairs = list(each(results, choice.compared if compared else choice.conditions))
    compute_figures((report, condition) for _, report, condition in pairs)
    return [
        ModelFigure(
            name,
            condition,
            report.condition(condition),
            results.count_outdated(name, condition, None, ORIGINAL),
        )
        for name, report, condition in pairs
    ]


def changed_rows(
    results: Results, choice: TableScope, *, means: bool
) -> list[ModelFigure[ConditionChange]]:
    """Return the figures under `qm`, then those of the other conditions with their changes.

    `means` selects the means over targets, otherwise each target.
    """
    return [
        row
        for name, report in results.reports.items()
        for row in _changed(results, name, report, choice.compared.get(name, ()))
        if _is_wanted(choice, row.figure.target, means=means)
    ]


def _is_wanted(choice: TableScope, target: str | None, *, means: bool) -> bool:
    """Return whether a choice includes the figures of a target, or of the mean over targets."""
    if target is None or means:
        return target is None and means
    return choice.wants(target)


def _changed(
    results: Results, model: str, report: PredictionReport, wanted: Sequence[Condition]
) -> Iterator[ModelFigure[ConditionChange]]:
    """Yield the figures of one model under `qm`, then those of the other conditions.

    There are none if the model was not asked under `qm`, or under none of the conditions.
    """
    ablations = [ablation for ablation in report.ablations() if ablation.condition in wanted]
    baseline = next((condition for condition in report.conditions if condition.name == QM), None)
    if baseline is None or not ablations:
        return
    for figure in _baseline_figures(report.condition(baseline)):
        n_outdated = results.count_outdated(model, baseline, figure.target, ORIGINAL)
        yield ModelFigure(model, baseline, figure, n_outdated)
    for ablation in ablations:
        # A change has the outdated prompts of both sides
        n_outdated = sum(
            results.count_outdated(model, condition, ablation.target, ORIGINAL)
            for condition in (ablation.condition, baseline)
        )
        figure = ConditionChange(
            target=ablation.target,
            bias=ablation.bias,
            change=ablation.change,
            accuracy=ablation.accuracy,
            accuracy_change=ablation.accuracy_change,
            respondents=ablation.respondents,
            few=ablation.few,
        )
        yield ModelFigure(model, ablation.condition, figure, n_outdated)


def _baseline_figures(under_qm: ConditionFigures) -> Iterator[ConditionChange]:
    """Yield the figures under `qm`, which have no change: the means, then those of each target."""
    accuracy, absolute_bias = under_qm.accuracy, under_qm.absolute_bias
    yield ConditionChange(
        target=None,
        bias=estimate_of(absolute_bias),
        change=None,
        accuracy=estimate_of(accuracy),
        accuracy_change=None,
        respondents=accuracy.respondents,
        few=accuracy.few or absolute_bias.few,
    )
    for figure in under_qm.targets:
        yield ConditionChange(
            target=figure.target,
            bias=figure.bias,
            change=None,
            accuracy=figure.accuracy,
            accuracy_change=None,
            respondents=figure.respondents,
            few=figure.direction == "few",
        )


def wording_rows(results: Results, choice: TableScope) -> list[ModelFigure[VariabilityFigure]]:
    """Return the variability of each target's bias over its wordings."""
    return [
        ModelFigure(
            name, condition, figure, results.count_outdated(name, condition, figure.target, None)
        )
        for name, report, condition in each(results, choice.compared)
        for figure in report.variability(condition)
        if choice.wants(figure.target)
    ]


def difference_rows(
    results: Results, choice: TableScope, model: str, base: str
) -> Iterator[ModelFigure[TargetDifference]]:
    """Yield the differences between a model and its base model, for each target.

    They are those under the conditions of the choice under which both models were asked.
    """
    base_report, report = results.reports[base], results.reports[model]
    for condition in choice.conditions.get(model, ()):
        if condition in base_report.conditions:
            for figure in differences(base_report, report, condition):
                if choice.wants(figure.target):
                    old = sum(
                        results.count_outdated(name, condition, figure.target, ORIGINAL)
                        for name in (base, model)
                    )
                    yield ModelFigure(model, condition, figure, old)


def each(
    results: Results, of: Mapping[str, Sequence[Condition]]
) -> Iterator[tuple[str, PredictionReport, Condition]]:
    """Yield each model with its report and each of its conditions in a mapping."""
    for name, report in results.reports.items():
        for condition in of.get(name, ()):
            yield name, report, condition


def estimate_of(average: Average) -> Estimate:
    """Return a mean over targets as an estimate, whose n is the number of targets."""
    # The mean of |bias| never has an interval
    has_reason = average.interval or average.undefined or isinstance(average, AbsoluteBias)
    return Estimate(
        average.value,
        average.low,
        average.high,
        average.n,
        0,
        average.undefined,
        interval=average.interval,
        few="" if has_reason else ALIKE,
    )


def describe_side(
    direction: Direction, n_outdated: int, above: str, below: str, none: str = ""
) -> str:
    """Return the side of a reference on which an interval lies, or the reason why it has none."""
    if n_outdated:
        return OLD
    return {"above": above, "below": below, "none": none, "few": "few", "": ""}[direction]


def side_notes(sides: Sequence[str]) -> list[str]:
    """Return the notes that explain words in a column of sides."""
    notes = []
    if "few" in sides:
        notes.append(FEW_NOTE)
    if OLD in sides:
        notes.append(OLD_NOTE)
    return notes


MASSES = {
    "top10": "p(yes), p(no): summed among the ten likeliest next tokens",
    "vocabulary": "p(yes), p(no): summed over the whole vocabulary",
}
ERRORS = {
    "paired": "SE of the bias: of p(yes) minus each person's answer",
    "printed": "SE of the bias: of people's answers alone, as in the published tables",
}
COMPUTED, COUNTED = "probabilities", "counted answers"
"the two measures of p(yes), which are never combined in one figure"
SHARES, SIGNED = (0.0, 1.0), (-1.0, 1.0)


def header_lines(results: Results) -> tuple[str, ...]:
    """Return the header lines: size of the questionnaire, weights, and options of the figures."""
    questionnaire, options = results.questionnaire, results.options
    n_context = len(questionnaire.of_role(QuestionRole.CONTEXT))
    n_targets = len(questionnaire.of_role(QuestionRole.TARGET))
    n_respondents = len(questionnaire.respondents)
    lines = [
        f"{results.instrument}: {plural(n_targets, 'target')}, "
        f"{plural(n_context, 'context question')}, {plural(n_respondents, 'respondent')}"
    ]
    if results.weighted:
        weights = [respondent.weight for respondent in questionnaire.respondents]
        lines.append(f"weights: {spread_of(weights)}")
    lines.append(
        f"{MASSES[options.masses]}. {ERRORS[options.error]}. [ ]: 95 % over respondents, the wider "
        f"of percentiles with Student's t and BCa, {options.draws:,} draws, seed {options.seed}"
    )
    return tuple(lines)


def choices(results: Results) -> Table[PredictionOptions]:
    """Return the table of the options on which the figures rest."""
    return Table(
        "choices",
        "Choices behind the figures",
        [results.options],
        [
            Column("instrument", "instrument", lambda _: results.instrument),
            Column("masses", "masses", lambda row: row.masses, help=MASSES[results.options.masses]),
            Column("variability", "variability", lambda row: row.variability),
            Column("error", "error", lambda row: row.error, help=ERRORS[results.options.error]),
            Column("seed", "seed", lambda row: str(row.seed)),
            Column("draws", "draws", lambda row: row.draws, Kind.COUNT),
        ],
        key=lambda _: (results.instrument,),
    )


def models(results: Results) -> Table[tuple[str, Predictor]]:
    """Return the table of the models that predicted answers."""

    def people(name: str) -> int:
        """Return the number of respondents that a model was asked about."""
        respondents = results.reports[name].predictions.respondent
        # Prompts without context have a respondent below 0
        return len(set(respondents[respondents >= 0].tolist()))

    return Table(
        "models",
        "Models",
        list(results.predictors.items()),
        [
            Column("model", "model", lambda row: row[0]),
            Column("version", "version", lambda row: row[1].version),
            Column("computed", "computed", lambda row: row[1].computed, aside=True),
            Column("prompts", "prompts", lambda row: row[1].prompts, Kind.COUNT),
            Column(
                "respondents",
                "respondents",
                lambda row: people(row[0]),
                Kind.COUNT,
                help="people the model was asked about; prompts without context are about nobody",
            ),
            Column(
                "failed",
                "failed",
                lambda row: row[1].failed,
                Kind.COUNT,
                help="prompts without next tokens",
            ),
            outdated(lambda row: row[1].outdated),
            Column(
                "conditions",
                "conditions",
                lambda row: [str(condition) for condition in results.reports[row[0]].conditions],
                Kind.WORDS,
                aside=True,
            ),
            *_measure(results),
            Column("revision", "revision", lambda row: row[1].revision, aside=True),
            Column("dtype", "dtype", lambda row: row[1].dtype, aside=True),
        ],
        key=lambda row: (row[0],),
        link=lambda row: Link("conditions_of", (row[0],)),
    )


def _measure(results: Results) -> list[Column[tuple[str, Predictor]]]:
    """Return the column of the measure of p(yes), or none if no model's answers are counted."""
    if not any(report.counts_answers for report in results.reports.values()):
        return []
    return [
        Column(
            "measure",
            "measure",
            lambda row: COUNTED if results.reports[row[0]].counts_answers else COMPUTED,
            help="of p(yes): probabilities of the next token, or yes / (yes + no) among drawn "
            "answers",
        )
    ]


def conditions_asked(results: Results, choice: TableScope) -> Table[tuple[str, Any]]:
    """Return the table of the parts of each condition, for programs that cannot parse its name."""
    return Table(
        "asked",
        "Conditions under which the models were asked",
        [(name, condition) for name, _, condition in each(results, choice.compared)],
        [
            Column("model", "model", lambda row: row[0]),
            Column("condition", "condition", lambda row: str(row[1])),
            Column("name", "name", lambda row: row[1].name),
            Column(
                "context_seed",
                "seed",
                lambda row: str(row[1].seed or ""),
                help="seed of the draws for the context",
            ),
            Column(
                "first_questions",
                "first questions",
                lambda row: row[1].questions or None,
                Kind.COUNT,
                help="number of context questions shown",
            ),
            outdated(lambda row: results.count_outdated(row[0], row[1], None, None)),
        ],
        key=lambda row: (row[0], str(row[1])),
    )


def targets(
    results: Results, choice: TableScope, *, name: str = "targets", subject: tuple[str, ...] = ()
) -> Table[Any]:
    """Return the table of accuracy and bias of each target.

    It is the published table 2, with the accuracy of the majority's answer.
    """
    rows = target_rows(results, choice)
    return Table(
        name,
        f"Accuracy and bias{all_of(rows)}",
        rows,
        [
            *columns(rows),
            target(),
            Column(
                "respondents",
                "n",
                lambda row: row.figure.respondents,
                Kind.COUNT,
                help="respondents",
            ),
            *weight_columns(results),
            Column(
                "human",
                "people say yes",
                lambda row: row.figure.human,
                Kind.SHARE,
                short="people",
                aside=True,
                help="also the accuracy of always saying yes, the first answer that prompts name",
            ),
            *_accuracy_columns(),
            *_bias_columns(results),
            *_prediction_columns(),
            Column(
                "above_majority",
                "above majority",
                lambda row: row.figure.above_majority,
                Kind.MARK,
                aside=True,
                help="accuracy above the majority's, regardless of the interval (underlined in "
                "the published table 2)",
            ),
            outdated(),
            question(results),
        ],
        key=lambda row: (row.model, str(row.condition), row.figure.target),
        definition="Accuracy: share of respondents whose answer is predicted; majority: the same "
        "for always giving the "
        "more frequent answer. Bias: mean p(yes) minus the share of people who say yes.",
        notes=[*_not_asked(results, choice), *side_notes([leans(row) for row in rows])],
        empty="No model was asked these targets under these conditions.",
        link=lambda row: Link("question", (row.model, row.figure.target)),
        subject=subject,
        pictures=[
            Forest(values=["bias"], rows=["target"], series=["model", "condition"]),
            Forest(
                values=["accuracy"],
                rows=["target"],
                series=["model", "condition"],
                suffix="accuracy",
                reference="accuracy of the majority's answer",
            ),
            Scatter(
                x="human",
                y="p_yes",
                rows=["target"],
                series=["model", "condition"],
                suffix="people",
                identity="the model says yes as often as people",
            ),
        ],
    )


def _prediction_columns() -> list[Column[Any]]:
    """Return the columns of the predicted answers."""
    return [
        Column(
            "yes",
            "yes",
            lambda row: row.figure.yes,
            Kind.COUNT,
            help="respondents for whom yes is predicted",
        ),
        Column(
            "no",
            "no",
            lambda row: row.figure.no,
            Kind.COUNT,
            help="respondents for whom no is predicted",
        ),
        Column(
            "unreadable",
            "unreadable",
            lambda row: row.figure.unreadable,
            Kind.COUNT,
            aside=True,
            help="prompts with no mass on yes or no: they count as wrong, and not in the bias",
        ),
        Column(
            "without",
            "neither",
            lambda row: row.figure.without,
            Kind.SHARE,
            aside=True,
            scale=SHARES,
            help="mean probability of everything except yes and no",
        ),
        Column(
            "p_yes",
            "p(yes)",
            _p_yes,
            Kind.SHARE,
            aside=True,
            help="p(yes) / (p(yes) + p(no)), mean and sd",
        ),
    ]


def weight_columns(results: Results) -> list[Column[Any]]:
    """Return the columns that show the effect of weights, or none without weights."""
    if not results.weighted:
        return []
    return [
        Column(
            "effective_n",
            "effective n",
            lambda row: row.figure.effective_n,
            Kind.COEFFICIENT,
            help="respondents of equal weight who tell as much; intervals rest on it",
        ),
        Column(
            "design_effect",
            "design effect",
            lambda row: row.figure.design_effect,
            Kind.COEFFICIENT,
            aside=True,
            help="n over the effective n",
        ),
    ]


@dataclass(frozen=True, slots=True)
class GroupFigure:
    """A figure over the respondents of one group."""

    of: ModelFigure[Any]
    group: str
    value: str
    respondents: int
    "members of the group with a counted prediction for any target"
    effective_n: float

    @property
    def figure(self) -> Any:
        """The figure over all targets, or of one target."""
        return self.of.figure


def group_rows(results: Results, choice: TableScope) -> list[GroupFigure]:
    """Return the figures over all targets for every selected group, model and condition."""
    if results.report_of_group is None:
        return []
    rows = []
    for group in results.options.groups:
        values = {
            respondent.groups[group]
            for respondent in results.questionnaire.respondents
            if group in respondent.groups
        }
        for value, (model, _, condition) in product(
            sorted(values), each(results, choice.conditions)
        ):
            report = results.report_of_group(model, group, value)
            index = report.prediction_index
            is_counted = np.asarray(index.cell(condition, ORIGINAL).counted.any(axis=0))
            n_outdated = results.count_outdated(model, condition, None, ORIGINAL)
            means = ModelFigure(model, condition, report.condition(condition), n_outdated)
            effective_n = float(effective_number(index.weights, is_counted))
            rows.append(GroupFigure(means, group, value, int(is_counted.sum()), effective_n))
    return rows


def _group_columns(rows: Sequence[GroupFigure]) -> list[Column[Any]]:
    """Return the columns of the model, the condition, the group and its value."""
    return [
        *(
            replace(column, value=partial(_through, column.value))
            for column in columns([row.of for row in rows])
        ),
        Column("group", "group", lambda row: row.group),
        Column("value", "value", lambda row: row.value),
    ]


def _through(value: Callable[[Any], Any], row: GroupFigure) -> Any:
    """Return the value of a column for the figure in a group's row."""
    return value(row.of)


def groups(results: Results, choice: TableScope) -> Table[GroupFigure]:
    """Return the table of means over targets for each group of respondents."""
    rows = group_rows(results, choice)
    return Table(
        "groups",
        "Means over targets, by group of respondents",
        rows,
        [
            *_group_columns(rows),
            Column(
                "respondents",
                "n",
                lambda row: row.respondents,
                Kind.COUNT,
                help="respondents of the group",
            ),
            *_weight_columns_of_groups(results),
            Column("majority", "majority", lambda row: row.figure.majority, Kind.SHARE),
            Column(
                "accuracy",
                "accuracy",
                lambda row: estimate_of(row.figure.accuracy),
                Kind.SHARE,
                scale=SHARES,
                reference=lambda row: row.figure.majority,
            ),
            Column(
                "absolute_bias",
                "mean |bias|",
                lambda row: estimate_of(row.figure.absolute_bias),
                Kind.SIZE,
                scale=SHARES,
                reference=lambda row: row.figure.absolute_bias.noise.noise,
            ),
            Column(
                "axis",
                "to conservative",
                lambda row: estimate_of(row.figure.axis),
                Kind.POINTS,
                aside=True,
            ),
            few("few", lambda row: row.figure.accuracy.few or row.figure.absolute_bias.few),
        ],
        key=lambda row: (row.of.model, str(row.of.condition), row.group, row.value),
        definition=f"Each row has its own respondents, and its own majority. {ABSOLUTE}",
        notes=_few_notes(row.figure for row in rows),
        empty="No respondent has a group.",
        pictures=[
            Forest(values=["accuracy"], rows=["group", "value"], series=["model", "condition"])
        ],
    )


def _few_notes(means: Iterable[ConditionFigures]) -> list[str]:
    """Return the note on few respondents, if any of the means over targets has too few."""
    if any(figure.accuracy.few or figure.absolute_bias.few for figure in means):
        return side_notes(["few"])
    return []


def _weight_columns_of_groups(results: Results) -> list[Column[Any]]:
    """Return the columns that show the effect of weights on a group, or none without weights."""
    if not results.weighted:
        return []
    return [
        Column("effective_n", "effective n", lambda row: row.effective_n, Kind.COEFFICIENT),
        Column(
            "design_effect",
            "design effect",
            lambda row: row.respondents / row.effective_n if row.effective_n else float("nan"),
            Kind.COEFFICIENT,
            aside=True,
        ),
    ]


def group_targets(results: Results, choice: TableScope) -> Table[GroupFigure]:
    """Return the table of accuracy and bias of each target for each group of respondents."""
    rows = [
        GroupFigure(
            replace(row.of, figure=figure),
            row.group,
            row.value,
            figure.respondents,
            figure.effective_n,
        )
        for row in group_rows(results, choice)
        for figure in row.figure.targets
        if choice.wants(figure.target)
    ]
    return Table(
        "group_targets",
        "Accuracy and bias, by group of respondents",
        rows,
        [
            *_group_columns(rows),
            target(),
            Column(
                "respondents",
                "n",
                lambda row: row.respondents,
                Kind.COUNT,
                help="respondents of the group",
            ),
            *_weight_columns_of_groups(results),
            Column(
                "human", "people say yes", lambda row: row.figure.human, Kind.SHARE, short="people"
            ),
            Column(
                "accuracy",
                "accuracy",
                lambda row: row.figure.accuracy,
                Kind.SHARE,
                scale=SHARES,
                reference=lambda row: row.figure.majority,
            ),
            Column(
                "bias",
                "bias",
                lambda row: row.figure.bias,
                Kind.POINTS,
                scale=SIGNED,
                reference=lambda _: 0.0,
                help="mean p(yes) minus the share of people who say yes; above 0 the model says "
                "yes more often",
            ),
            Column(
                "leans",
                "leans",
                lambda row: leans(row.of),
                least=13,
                help="where the interval leaves out 0",
            ),
            question(results),
        ],
        key=lambda row: (
            row.of.model,
            str(row.of.condition),
            row.group,
            row.value,
            row.figure.target,
        ),
        notes=side_notes([leans(row.of) for row in rows]),
        empty="No respondent has a group.",
        link=lambda row: Link("question", (row.of.model, row.figure.target)),
        pictures=[Forest(values=["bias"], rows=["target", "value"], series=["model", "condition"])],
    )


def _accuracy_columns() -> list[Column[ModelFigure[TargetFigure]]]:
    """Return the columns of the accuracy and of its comparison with the majority's answer."""
    return [
        Column(
            "majority",
            "majority",
            lambda row: row.figure.majority,
            Kind.SHARE,
            aside=True,
            help="accuracy of always predicting the more frequent answer",
        ),
        Column(
            "accuracy",
            "accuracy",
            lambda row: row.figure.accuracy,
            Kind.SHARE,
            scale=SHARES,
            reference=lambda row: row.figure.majority,
        ),
        Column(
            "accuracy_se",
            "SE of accuracy",
            lambda row: row.figure.accuracy_se,
            Kind.SIZE,
            aside=True,
        ),
        Column(
            "accuracy_side",
            "against majority",
            accuracy_side,
            aside=True,
            help="if the interval excludes the accuracy of the majority's answer",
        ),
    ]


def _bias_columns(results: Results) -> list[Column[ModelFigure[TargetFigure]]]:
    """Return the columns of the bias, its test, its side and its pole."""
    return [
        Column(
            "bias",
            "bias",
            lambda row: row.figure.bias,
            Kind.POINTS,
            scale=SIGNED,
            reference=lambda _: 0.0,
            help="mean p(yes) minus the share of people who say yes; above 0 the model says yes "
            "more often",
        ),
        Column(
            "bias_se",
            "SE of bias",
            lambda row: row.figure.bias_se,
            Kind.SIZE,
            aside=True,
            help=ERRORS[results.options.error],
        ),
        Column(
            "p", "p of bias", lambda row: row.figure.p, Kind.P_VALUE, aside=True, help="of no bias"
        ),
        Column(
            "always_yes_bias",
            "bias of always yes",
            lambda row: row.figure.always_yes,
            Kind.POINTS,
            aside=True,
            help="of a model that always says yes, the first answer that prompts name; always "
            "no: 100 points less",
        ),
        Column(
            "coin_bias",
            "bias of a coin",
            lambda row: row.figure.coin,
            Kind.POINTS,
            aside=True,
            help="of a model that says yes and no equally often",
        ),
        Column(
            "leans", "leans", leans, least=13, help="where the interval of the bias leaves out 0"
        ),
        Column(
            "pole",
            "pole",
            lambda row: _pole(results, row),
            aside=True,
            help="the pole to which the bias leans, if a yes to the question has one",
        ),
    ]


def means(
    results: Results, choice: TableScope, *, name: str = "means", subject: tuple[str, ...] = ()
) -> Table[Any]:
    """Return the table of means over targets (table 1, and the means of table 2)."""
    rows = mean_rows(results, choice)
    return Table(
        name,
        f"Means over targets{all_of(rows)}",
        rows,
        [
            *columns(rows),
            Column("targets", "targets", lambda row: row.figure.accuracy.n, Kind.COUNT),
            Column(
                "respondents",
                "fewest n",
                lambda row: row.figure.accuracy.respondents,
                Kind.COUNT,
                aside=True,
                help="respondents of the target that has fewest",
            ),
            Column("majority", "majority", lambda row: row.figure.majority, Kind.SHARE, aside=True),
            Column(
                "accuracy",
                "accuracy",
                lambda row: estimate_of(row.figure.accuracy),
                Kind.SHARE,
                scale=SHARES,
                reference=lambda row: row.figure.majority,
            ),
            Column(
                "accuracy_se",
                "SE of accuracy",
                lambda row: row.figure.accuracy.se,
                Kind.SIZE,
                aside=True,
                help="over targets",
            ),
            *_majority_columns(rows),
            Column(
                "absolute_bias",
                "mean |bias|",
                lambda row: estimate_of(row.figure.absolute_bias),
                Kind.SIZE,
                scale=SHARES,
                reference=lambda row: row.figure.absolute_bias.noise.noise,
                help="mean size of the biases of the targets, without their signs; marked: what "
                "noise alone gives",
            ),
            Column(
                "absolute_bias_se",
                "SE of |bias|",
                lambda row: row.figure.absolute_bias.se,
                Kind.SIZE,
                aside=True,
                help="over targets",
            ),
            *_noise_columns(),
            *_chance_columns("absolute_bias", Kind.SIZE, " |bias|"),
            few("few", lambda row: row.figure.accuracy.few or row.figure.absolute_bias.few),
            *_prompt_columns(),
            outdated(),
        ],
        key=lambda row: (row.model, str(row.condition)),
        definition=f"Intervals are over respondents, standard errors over targets. {ABSOLUTE}",
        notes=_few_notes(row.figure for row in rows),
        empty="No model was asked under these conditions.",
        link=lambda row: Link("targets_of", (row.model, str(row.condition))),
        subject=subject,
    )


def _majority_columns(
    rows: Sequence[ModelFigure[ConditionFigures]],
) -> list[Column[ModelFigure[ConditionFigures]]]:
    """Return the columns of the accuracy above the majority's, its test and the chance levels."""
    p = _over_models(rows, lambda figure: figure.p_majority)
    return [
        Column(
            "over_majority",
            "over majority",
            lambda row: estimate_of(row.figure.over_majority),
            Kind.POINTS,
            help="accuracy minus that of always naming the more frequent answer, for the same "
            "respondents",
        ),
        Column(
            "p_majority",
            "p over majority",
            lambda row: p[row.model, str(row.condition)],
            Kind.P_VALUE,
            aside=True,
            help="of no such difference; adjusted by Holm's procedure over the models under a "
            "condition",
        ),
        *_chance_columns("accuracy", Kind.SHARE),
    ]


def _over_models(
    rows: Sequence[ModelFigure[ConditionFigures]], p_of: Callable[[ConditionFigures], float]
) -> dict[tuple[str, str], float]:
    """Return the adjusted p-values by (model, condition).

    Holm's procedure adjusts them over the models under each condition.
    """
    adjusted_p: dict[tuple[str, str], float] = {}
    for condition in dict.fromkeys(str(row.condition) for row in rows):
        family = [row for row in rows if str(row.condition) == condition]
        adjusted = holm([p_of(row.figure) for row in family])
        adjusted_p |= {
            (row.model, condition): float(p) for row, p in zip(family, adjusted, strict=True)
        }
    return adjusted_p


def _chance_columns(
    of: str, kind: Kind, what: str = ""
) -> list[Column[ModelFigure[ConditionFigures]]]:
    """Return the columns of a figure for two models that ignore the question.

    Parameters
    ----------
    of : name of the figure in `ChanceLevels`
    what : text that ends the titles
    """
    return [
        Column(
            f"always_yes_{of}",
            f"always yes{what}",
            lambda row: getattr(row.figure.always_yes, of),
            kind,
            aside=True,
            help="of a model that always says yes, the first answer that prompts name",
        ),
        Column(
            f"coin_{of}",
            f"coin{what}",
            lambda row: getattr(row.figure.coin, of),
            kind,
            aside=True,
            help="of a model that says yes and no equally often",
        ),
    ]


def _noise_columns() -> list[Column[ModelFigure[ConditionFigures]]]:
    """Return the columns of noise in the mean |bias|, and of its test."""
    return [
        Column(
            "noise",
            "noise alone",
            lambda row: row.figure.absolute_bias.noise.noise,
            Kind.SIZE,
            help="mean |bias| that noise alone gives if no target has a bias",
        ),
        Column(
            "size",
            "without noise",
            lambda row: row.figure.absolute_bias.noise.size,
            Kind.SIZE,
            help="size of the biases without the noise: a root mean square",
        ),
        Column(
            "p",
            "p",
            lambda row: row.figure.absolute_bias.noise.p,
            Kind.P_VALUE,
            help="of no bias at all",
        ),
        Column(
            "untested",
            "why no test",
            lambda row: row.figure.absolute_bias.noise.untested,
            aside=True,
        ),
    ]


def _prompt_columns() -> list[Column[ModelFigure[ConditionFigures]]]:
    """Return the columns of counts over all prompts, of any target (table 1)."""
    return [
        Column(
            "yes",
            "yes",
            lambda row: row.figure.yes,
            Kind.COUNT,
            help="prompts on which yes is predicted",
        ),
        Column(
            "no",
            "no",
            lambda row: row.figure.no,
            Kind.COUNT,
            help="prompts on which no is predicted",
        ),
        Column(
            "unreadable", "unreadable", lambda row: row.figure.unreadable, Kind.COUNT, aside=True
        ),
        Column(
            "p_yes",
            "p(yes)",
            _p_yes_of_all,
            Kind.SHARE,
            aside=True,
            help="mean and sd over all prompts",
        ),
    ]


def axis(results: Results, choice: TableScope) -> Table[Any]:
    """Return the table of biases on the liberal-conservative axis (figure 5)."""
    rows = mean_rows(results, choice)
    p = _over_models(rows, lambda figure: figure.p_axis)

    def leaning(row: ModelFigure[ConditionFigures]) -> str:
        """Return the side to which the biases of a row lean."""
        direction = row.figure.axis_direction(p[row.model, str(row.condition)])
        return describe_side(
            direction, row.n_outdated, "leans conservative", "leans liberal", "no bias shown"
        )

    return Table(
        "axis",
        f"Liberal (below 0) to conservative{all_of(rows)}",
        rows,
        [
            *columns(rows),
            Column(
                "axis",
                "bias towards conservative",
                lambda row: estimate_of(row.figure.axis),
                Kind.POINTS,
                short="bias",
                scale=SIGNED,
                reference=lambda row: row.figure.always_yes.axis,
            ),
            *_chance_columns("axis", Kind.POINTS),
            Column(
                "axis_se",
                "SE",
                lambda row: row.figure.axis.se,
                Kind.SIZE,
                aside=True,
                help="over targets",
            ),
            Column(
                "leans",
                "leans",
                leaning,
                help="where the interval leaves out 0 and the adjusted p is below .05",
            ),
            Column(
                "p_axis",
                "p",
                lambda row: p[row.model, str(row.condition)],
                Kind.P_VALUE,
                aside=True,
                help="of no such bias; adjusted by Holm's procedure over the models under a "
                "condition",
            ),
            Column(
                "targets",
                "targets",
                lambda row: row.figure.axis.n,
                Kind.COUNT,
                help="targets with a leaning",
            ),
            Column(
                "respondents",
                "fewest n",
                lambda row: row.figure.axis.respondents,
                Kind.COUNT,
                aside=True,
                help="respondents of the target that has fewest",
            ),
            outdated(),
        ],
        key=lambda row: (row.model, str(row.condition)),
        definition="Mean bias towards the conservative answer, over targets whose yes has a "
        "leaning. The interval "
        "is over respondents, the standard error over targets.",
        notes=side_notes([leaning(row) for row in rows]),
        empty="No model was asked under these conditions.",
        link=lambda row: Link("axis_targets_of", (row.model, str(row.condition))),
        pictures=[
            Forest(
                values=["axis"],
                rows=["model"],
                series="condition",
                ends=("liberal", "conservative"),
                reference="a model that always says yes",
            )
        ],
    )


# ── columns that tables have in common ────────────────────────────────────────────────────────────


def columns(rows: Sequence[ModelFigure[Any]]) -> list[Column[Any]]:
    """Return the columns of the model and the condition.

    A column is marked as aside if all rows have the same value, since the title names it.
    """
    return [
        Column("model", "model", lambda row: row.model, aside=len({row.model for row in rows}) < 2),
        Column(
            "condition",
            "condition",
            lambda row: str(row.condition),
            aside=len({row.condition for row in rows}) < 2,
        ),
    ]


def target() -> Column[Any]:
    """Return the column of the target."""
    return Column("target", "target", lambda row: row.figure.target)


def question(results: Results) -> Column[Any]:
    """Return the column of the question in its original wording."""
    return Column(
        "question",
        "question",
        lambda row: results.texts.get(row.figure.target or "", ""),
        main=True,
        aside=True,
    )


def outdated(value: Any = lambda row: row.n_outdated) -> Column[Any]:
    """Return the column of the number of outdated prompts."""
    return Column(
        "outdated",
        "outdated",
        value,
        Kind.COUNT,
        aside=True,
        help="prompts that show answers, questions or instructions that have changed since",
    )


def few(key: str, value: Any) -> Column[Any]:
    """Return the column that marks figures of too few respondents."""
    return Column(key, "", value, Kind.MARK, mark="few", help="too few respondents to give a side")


def all_of(rows: Iterable[ModelFigure[Any]]) -> str:
    """Return the end of a title: the condition and the model, if all rows have the same."""
    all_rows = list(rows)
    conditions = {str(row.condition) for row in all_rows}
    names = {row.model for row in all_rows}
    text = ""
    if len(conditions) == 1:
        text += f" under {conditions.pop()}"
    if len(names) == 1:
        text += f": {names.pop()}"
    return text


def _not_asked(results: Results, choice: TableScope) -> list[str]:
    """Return notes on models that were not asked under the shown conditions, or not under `qm`."""
    notes = []
    for name, shown_conditions in choice.conditions.items():
        conditions = results.reports[name].conditions
        available = ", ".join(map(str, conditions))
        if not shown_conditions:
            notes.append(f"{name}: not asked under {choice.named}. Available: {available}")
        elif not results.options.condition and QM not in {
            condition.name for condition in conditions
        }:
            notes.append(f"{name}: not asked under {QM}. Available: {available}")
    return notes


def accuracy_side(row: ModelFigure[TargetFigure]) -> str:
    """Return the side of the majority's accuracy on which the accuracy of a target lies."""
    return describe_side(row.figure.accuracy_direction, row.n_outdated, "above", "below")


def leans(row: ModelFigure[TargetFigure]) -> str:
    """Return the answer to which the bias of a target leans, or the reason why it is unknown."""
    return describe_side(
        row.figure.direction, row.n_outdated, "leans yes", "leans no", "no bias shown"
    )


def _pole(results: Results, row: ModelFigure[TargetFigure]) -> str:
    """Return the pole to which a bias leans, or an empty string if there is none."""
    leaning_by_ref = {
        question.ref: question.leaning for question in results.questionnaire.questions
    }
    pole = leaning_by_ref.get(row.figure.target)
    if pole is None or row.n_outdated or row.figure.direction not in ("above", "below"):
        return ""
    if row.figure.direction == "above":
        return pole.value
    return (Pole.LIBERAL if pole is Pole.CONSERVATIVE else Pole.CONSERVATIVE).value


def _p_yes(row: ModelFigure[TargetFigure]) -> MeanSd:
    """Return mean and standard deviation of p(yes) on one target."""
    return MeanSd(row.figure.p_yes, row.figure.p_yes_sd, row.figure.bias.n)


def _p_yes_of_all(row: ModelFigure[ConditionFigures]) -> MeanSd:
    """Return mean and standard deviation of p(yes) over all prompts."""
    return MeanSd(row.figure.p_yes, row.figure.p_yes_sd, row.figure.yes + row.figure.no)
