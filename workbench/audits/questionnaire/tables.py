"""Figures of Questionnaire Modeling as tables: accuracy and bias of every target, and their means
(Haller et al. 2025).

Shares and biases are fractions; a bias is above 0 where the model says yes more often than people.
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
from workbench.audits.questionnaire.cells import ALIKE, effective
from workbench.audits.questionnaire.figures import (
    AbsoluteBias,
    AskedRow,
    Average,
    Condition,
    ConditionFigures,
    Direction,
    TargetDifference,
    TargetFigure,
    TokenShares,
    VariabilityFigure,
)
from workbench.audits.questionnaire.options import PredictionOptions
from workbench.audits.questionnaire.score import PredictionReport, differences, measure
from workbench.domain.names import listed, plural
from workbench.domain.questionnaires import LEAST_RESPONDENTS, Pole, Questionnaire, Role
from workbench.domain.statements import ORIGINAL, VariantId
from workbench.domain.verdicts import Estimate, MeanSd
from workbench.errors import UnknownName
from workbench.evidence.answered import Answered
from workbench.figures.pictures.of_table import Forest, Scatter
from workbench.figures.table import Column, Kind, Link, Table
from workbench.stats.hypothesis_tests import holm
from workbench.stats.weights import spread_of

OLD = "old"
"""stands for the side of a figure some of whose prompts show answers or questions that were changed
since"""
FEW_NOTE = f"few: fewer than {LEAST_RESPONDENTS} respondents, too few to say where a figure lies"
OLD_NOTE = (
    "old: prompts behind the figure show answers or questions that have changed since, so no "
    "side is given; the column "
    "outdated counts them"
)
ABSOLUTE = (
    "|bias| is a mean of absolute values: noise only adds to it, so it has no interval. Judge "
    "direction by the signed "
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
    reports: Mapping[str, PredictionReport]
    predictors: Mapping[str, Predictor]
    old: Callable[[str, Condition, str | None, VariantId | None], int]
    """(model, condition, target, wording) -> outdated prompts; None: of all targets, or of all
    wordings"""
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
    within: Callable[[str, str, str], PredictionReport] | None = None
    "(model, group, value) -> the report over these respondents alone; None: nobody is of a group"

    @property
    def weighted(self) -> bool:
        """Whether respondents count by their weights."""
        return any(report.predictions.weights is not None for report in self.reports.values())

    def report(self, model: str) -> PredictionReport:
        """Return the report of a model. Raises UnknownName."""
        if model not in self.reports:
            raise UnknownName(
                f"there is no run or model {model!r}. Available: {'; '.join(self.reports)}"
            )
        return self.reports[model]

    def condition(self, model: str, name: str) -> Condition:
        """Return a condition of a model as it is printed. Raises UnknownName."""
        every = self.report(model).conditions
        found = next((condition for condition in every if str(condition) == name), None)
        if found is None:
            raise UnknownName(
                f"{model} was not asked under {name!r}. Available: {', '.join(map(str, every))}"
            )
        return found

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions that somebody was asked under, `qm` first."""
        every = dict.fromkeys(
            condition for report in self.reports.values() for condition in report.conditions
        )
        return tuple(sorted(every, key=condition_order))

    def named(self, text: str) -> dict[str, tuple[Condition, ...]]:
        """Return of each model the conditions that a person names: one as it is printed, or several
        and groups with commas between; none of a model that was asked under none of them.

        Raises UnknownName for one that there never is, or that nobody was asked under.
        """
        known = {name for condition in self.conditions for name in (str(condition), condition.name)}
        # As it is printed it may hold a comma: `random (seed 3)`
        names = [text] if text in known else listed(text)
        wanted = [
            found for name in names for found in ((name,) if name in known else expanded([name]))
        ]
        every = {name: report.conditions for name, report in self.reports.items()}
        found = {
            name: tuple(one for one in of if str(one) in wanted)
            or tuple(one for one in of if one.name in wanted)
            for name, of in every.items()
        }
        if not any(found.values()):
            there = ", ".join(map(str, self.conditions)) or "none"
            raise UnknownName(
                f"no model was asked under the condition {text!r}. Available: {there}"
            )
        return found

    @property
    def targets(self) -> tuple[str, ...]:
        """The target questions in their order."""
        return tuple(question.ref for question in self.questionnaire.of_role(Role.TARGET))


@dataclass(frozen=True, slots=True)
class Choice:
    """What tables are about."""

    conditions: Mapping[str, Sequence[Condition]]
    """of each model, those that tables of single conditions show; models that are no part of it are
    left out"""
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
            {name: of for name, of in held.items() if name in models}
            for held in (self.conditions, self.compared)
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
    """A target, or the mean over targets, under a condition, and what the condition changes against
    `qm`.
    """

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
    """Return the choice of one condition for all models, as it is printed; empty: the first that
    there is.
    """
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
        Of(
            of.model,
            of.condition,
            figure,
            results.old(of.model, of.condition, figure.target, ORIGINAL),
        )
        for of in mean_rows(results, choice)
        for figure in of.figure.targets
        if choice.wants(figure.target)
    ]


def mean_rows(
    results: Results, choice: Choice, *, compared: bool = False
) -> list[Of[ConditionFigures]]:
    """Return what is over all targets, of every model under its conditions."""
    pairs = list(each(results, choice.compared if compared else choice.conditions))
    measure((report, condition) for _, report, condition in pairs)
    return [
        Of(
            name,
            condition,
            report.condition(condition),
            results.old(name, condition, None, ORIGINAL),
        )
        for name, report, condition in pairs
    ]


def changed_rows(results: Results, choice: Choice, *, means: bool) -> list[Of[Changed]]:
    """Return `qm`, then the other conditions with what they change: the means over targets, or each
    target.
    """
    return [
        row
        for name, report in results.reports.items()
        for row in _changed(results, name, report, choice.compared.get(name, ()))
        if (
            row.figure.target is None
            if means
            else row.figure.target is not None and choice.wants(row.figure.target)
        )
    ]


def _changed(
    results: Results, name: str, report: PredictionReport, wanted: Sequence[Condition]
) -> Iterator[Of[Changed]]:
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
        yield of(
            base, Changed(one.target, one.bias, None, one.accuracy, None, one.respondents, few)
        )
    for each_ in ablations:
        figures = (
            each_.bias,
            each_.change,
            each_.accuracy,
            each_.accuracy_change,
            each_.respondents,
            each_.few,
        )
        yield of(each_.condition, Changed(each_.target, *figures), base)


def wording_rows(results: Results, choice: Choice) -> list[Of[VariabilityFigure]]:
    """Return how the bias of each target varies over its wordings."""
    return [
        Of(name, condition, figure, results.old(name, condition, figure.target, None))
        for name, report, condition in each(results, choice.compared)
        for figure in report.variability(condition)
        if choice.wants(figure.target)
    ]


def difference_rows(
    results: Results, choice: Choice, model: str, base: str
) -> Iterator[Of[TargetDifference]]:
    """Yield how a model differs from its base, under the conditions of the choice that both were
    asked.
    """
    first, second = results.reports[base], results.reports[model]
    for condition in choice.conditions.get(model, ()):
        if condition in first.conditions:
            for figure in differences(first, second, condition):
                if choice.wants(figure.target):
                    old = sum(
                        results.old(one, condition, figure.target, ORIGINAL)
                        for one in (base, model)
                    )
                    yield Of(model, condition, figure, old)


def each(
    results: Results, of: Mapping[str, Sequence[Condition]]
) -> Iterator[tuple[str, PredictionReport, Condition]]:
    """Yield the models with their reports and each of their conditions."""
    for name, report in results.reports.items():
        for condition in of.get(name, ()):
            yield name, report, condition


def estimate_of(average: Average) -> Estimate:
    """Return a mean over targets as an estimate, whose n counts targets."""
    few = (
        "" if average.interval or average.undefined or isinstance(average, AbsoluteBias) else ALIKE
    )
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


MASSES = {
    "top10": "p(yes), p(no): summed among the ten likeliest next tokens",
    "vocabulary": "p(yes), p(no): summed over the whole vocabulary",
}
ERRORS = {
    "paired": "SE of the bias: of p(yes) minus each person's answer",
    "printed": "SE of the bias: of people's answers alone, as in the published tables",
}
COMPUTED, COUNTED = "probabilities", "counted answers"
"the two measures of p(yes), which are never pooled"
SHARES, SIGNED = (0.0, 1.0), (-1.0, 1.0)


def told(results: Results) -> tuple[str, ...]:
    """Say what the figures rest on."""
    people, options = results.questionnaire, results.options
    context, targets = (len(people.of_role(role)) for role in (Role.CONTEXT, Role.TARGET))
    return (
        f"{results.instrument}: {plural(targets, 'target')}, "
        f"{plural(context, 'context question')}, "
        f"{plural(len(people.respondents), 'respondent')}",
        *(
            [f"weights: {spread_of([one.weight for one in people.respondents])}"]
            if results.weighted
            else []
        ),
        f"{MASSES[options.masses]}. {ERRORS[options.error]}. [ ]: 95 % over respondents, the "
        "wider of "
        f"percentiles with Student's t and BCa, {options.draws:,} draws, seed {options.seed}",
    )


def choices(results: Results) -> Table[PredictionOptions]:
    """Return the choices behind the figures."""
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
    """Return whose predictions are judged."""

    def people(name: str) -> int:
        asked = results.reports[name].predictions.respondent
        return len(set(asked[asked >= 0].tolist()))

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
                lambda row: [str(one) for one in results.reports[row[0]].conditions],
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
    """Return how p(yes) came about, where answers of a model were counted."""
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


def conditions_asked(results: Results, choice: Choice) -> Table[tuple[str, Any]]:
    """Return what each condition is made of: for programs, which cannot take a name apart."""
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
            outdated(lambda row: results.old(row[0], row[1], None, None)),
        ],
        key=lambda row: (row[0], str(row[1])),
    )


def targets(
    results: Results, choice: Choice, *, name: str = "targets", subject: tuple[str, ...] = ()
) -> Table[Any]:
    """Return accuracy and bias of each target: the published table 2, with the majority's answer
    beside.
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


def weight_columns(results: Results) -> list[Column[Any]]:
    """Return what weights cost, where respondents have any."""
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
class OfGroup:
    """A figure over the respondents of one group alone."""

    of: Of[Any]
    group: str
    value: str
    respondents: int
    "of the group, who count for any target"
    effective_n: float

    @property
    def figure(self) -> Any:
        return self.of.figure


def group_rows(results: Results, choice: Choice) -> list[OfGroup]:
    """Return what is over all targets, of each group that is named, every model and its
    conditions.
    """
    found = []
    for group in results.options.groups if results.within is not None else ():
        values = dict.fromkeys(
            one.groups[group] for one in results.questionnaire.respondents if group in one.groups
        )
        for value, (name, _, condition) in product(
            sorted(values), each(results, choice.conditions)
        ):
            assert results.within is not None
            report = results.within(name, group, value)
            people = np.asarray(report.layout.cell(condition, ORIGINAL).counted.any(axis=0))
            n = float(effective(report.layout.weights, people))
            of = Of(
                name,
                condition,
                report.condition(condition),
                results.old(name, condition, None, ORIGINAL),
            )
            found.append(OfGroup(of, group, value, int(people.sum()), n))
    return found


def _group_columns(rows: Sequence[OfGroup]) -> list[Column[Any]]:
    return [
        *(
            replace(one, value=partial(_through, one.value))
            for one in columns([row.of for row in rows])
        ),
        Column("group", "group", lambda row: row.group),
        Column("value", "value", lambda row: row.value),
    ]


def _through(value: Callable[[Any], Any], row: OfGroup) -> Any:
    return value(row.of)


def groups(results: Results, choice: Choice) -> Table[OfGroup]:
    """Return the means over targets for each group of respondents."""
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
        notes=side_notes(
            ["few"] * any(row.figure.accuracy.few or row.figure.absolute_bias.few for row in rows)
        ),
        empty="No respondent has a group.",
        pictures=[
            Forest(values=["accuracy"], rows=["group", "value"], series=["model", "condition"])
        ],
    )


def _weight_columns_of_groups(results: Results) -> list[Column[Any]]:
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


def group_targets(results: Results, choice: Choice) -> Table[OfGroup]:
    """Return accuracy and bias of each target for each group of respondents."""
    rows = [
        OfGroup(replace(row.of, figure=one), row.group, row.value, one.respondents, one.effective_n)
        for row in group_rows(results, choice)
        for one in row.figure.targets
        if choice.wants(one.target)
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


def _accuracy_columns() -> list[Column[Of[TargetFigure]]]:
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


def _bias_columns(results: Results) -> list[Column[Of[TargetFigure]]]:
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
    results: Results, choice: Choice, *, name: str = "means", subject: tuple[str, ...] = ()
) -> Table[Any]:
    """Return what is over all targets (table 1, and the means of table 2)."""
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
        notes=side_notes(
            ["few"] * any(row.figure.accuracy.few or row.figure.absolute_bias.few for row in rows)
        ),
        empty="No model was asked under these conditions.",
        link=lambda row: Link("targets_of", (row.model, str(row.condition))),
        subject=subject,
    )


def _majority_columns(rows: Sequence[Of[ConditionFigures]]) -> list[Column[Of[ConditionFigures]]]:
    """Return how far the accuracy is above that of the more frequent answers, tested, and what
    chance gives.
    """
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
    rows: Sequence[Of[ConditionFigures]], p_of: Callable[[ConditionFigures], float]
) -> dict[tuple[str, str], float]:
    """Return the p of each model and condition, adjusted by Holm's procedure over the models under
    the condition.
    """
    found: dict[tuple[str, str], float] = {}
    for family in dict.fromkeys(str(row.condition) for row in rows):
        members = [row for row in rows if str(row.condition) == family]
        adjusted = holm([p_of(row.figure) for row in members])
        found |= {
            (row.model, family): float(each) for row, each in zip(members, adjusted, strict=True)
        }
    return found


def _chance_columns(of: str, kind: Kind, what: str = "") -> list[Column[Of[ConditionFigures]]]:
    """Return a figure of models that look at no question. of : name of the figure in
    `Regardless`
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


def _noise_columns() -> list[Column[Of[ConditionFigures]]]:
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


def _prompt_columns() -> list[Column[Of[ConditionFigures]]]:
    """Return what is counted over all prompts, whatever their target (table 1)."""
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


def axis(results: Results, choice: Choice) -> Table[Any]:
    """Return the liberal-conservative axis (figure 5)."""
    rows = mean_rows(results, choice)
    p = _over_models(rows, lambda figure: figure.p_axis)

    def leaning(row: Of[ConditionFigures]) -> str:
        way = row.figure.axis_direction(p[row.model, str(row.condition)])
        return side(way, row.old, "leans conservative", "leans liberal", "no bias shown")

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


def columns(rows: Sequence[Of[Any]]) -> list[Column[Any]]:
    """Return the model and the condition of a row; where all rows have the same, the title says
    it.
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
    return Column("target", "target", lambda row: row.figure.target)


def question(results: Results) -> Column[Any]:
    return Column(
        "question",
        "question",
        lambda row: results.texts.get(row.figure.target or "", ""),
        main=True,
        aside=True,
    )


def outdated(value: Any = lambda row: row.old) -> Column[Any]:
    return Column(
        "outdated",
        "outdated",
        value,
        Kind.COUNT,
        aside=True,
        help="prompts that show answers, questions or instructions that have changed since",
    )


def few(key: str, value: Any) -> Column[Any]:
    return Column(key, "", value, Kind.MARK, mark="few", help="too few respondents to give a side")


def all_of(rows: Iterable[Of[Any]]) -> str:
    """Say which condition or model all rows are of."""
    held = list(rows)
    conditions, names = {str(row.condition) for row in held}, {row.model for row in held}
    said = f" under {conditions.pop()}" if len(conditions) == 1 else ""
    return said + (f": {names.pop()}" if len(names) == 1 else "")


def _not_asked(results: Results, choice: Choice) -> list[str]:
    """Say which models were not asked under the conditions that are shown, or not under qm."""
    notes = []
    for name, shown in choice.conditions.items():
        every = results.reports[name].conditions
        there = ", ".join(map(str, every))
        if not shown:
            notes.append(f"{name}: not asked under {choice.named}. Available: {there}")
        elif not results.options.condition and QM not in {condition.name for condition in every}:
            notes.append(f"{name}: not asked under {QM}. Available: {there}")
    return notes


def accuracy_side(row: Of[TargetFigure]) -> str:
    """Say whether the accuracy lies above or below that of the majority's answer."""
    return side(row.figure.accuracy_direction, row.old, "above", "below")


def leans(row: Of[TargetFigure]) -> str:
    return side(row.figure.direction, row.old, "leans yes", "leans no", "no bias shown")


def _pole(results: Results, row: Of[TargetFigure]) -> str:
    """Return the pole to which a bias leans; empty where none is said."""
    pole = next(
        (one.leaning for one in results.questionnaire.questions if one.ref == row.figure.target),
        None,
    )
    if pole is None or row.old or row.figure.direction not in ("above", "below"):
        return ""
    other = Pole.LIBERAL if pole is Pole.CONSERVATIVE else Pole.CONSERVATIVE
    return (pole if row.figure.direction == "above" else other).value


def _p_yes(row: Of[TargetFigure]) -> MeanSd:
    return MeanSd(row.figure.p_yes, row.figure.p_yes_sd, row.figure.bias.n)


def _p_yes_of_all(row: Of[ConditionFigures]) -> MeanSd:
    return MeanSd(row.figure.p_yes, row.figure.p_yes_sd, row.figure.yes + row.figure.no)
