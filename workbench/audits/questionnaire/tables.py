"""Figures of Questionnaire Modeling as tables: accuracy and bias of every target, and their means (Haller et al. 2025).

Shares and biases are fractions; a bias is above 0 where the model says yes more often than people.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from workbench.audits.questionnaire.conditions import QM
from workbench.audits.questionnaire.figures import ConditionFigures, TargetFigure
from workbench.audits.questionnaire.options import PredictionOptions
from workbench.audits.questionnaire.results import (
    ABSOLUTE,
    Choice,
    Of,
    Predictor,
    Results,
    each,
    estimate_of,
    mean_rows,
    side,
    side_notes,
    target_rows,
)
from workbench.domain.names import plural
from workbench.domain.questionnaires import Pole, Role
from workbench.domain.verdicts import MeanSd
from workbench.figures.pictures.of_table import Forest, Scatter
from workbench.figures.table import Column, Kind, Link, Table

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


def told(results: Results) -> tuple[str, str]:
    """Say what the figures rest on."""
    people, options = results.questionnaire, results.options
    context, targets = (len(people.of_role(role)) for role in (Role.CONTEXT, Role.TARGET))
    return (
        f"{results.instrument}: {plural(targets, 'target')}, {plural(context, 'context question')}, "
        f"{plural(len(people.respondents), 'respondent')}",
        f"{MASSES[options.masses]}. {ERRORS[options.error]}. [ ]: 95 % over respondents, the wider of "
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
            Column("failed", "failed", lambda row: row[1].failed, Kind.COUNT, help="prompts without next tokens"),
            outdated(lambda row: row[1].outdated),
            Column(
                "conditions", "conditions", lambda row: [str(one) for one in results.reports[row[0]].conditions],
                Kind.WORDS, aside=True,
            ),
            *_measure(results),
            Column("revision", "revision", lambda row: row[1].revision, aside=True),
            Column("dtype", "dtype", lambda row: row[1].dtype, aside=True),
        ],
        key=lambda row: (row[0],),
        link=lambda row: Link("conditions_of", (row[0],)),
    )  # fmt: skip


def _measure(results: Results) -> list[Column[tuple[str, Predictor]]]:
    """Return how p(yes) came about, where answers of a model were counted."""
    if not any(report.counts_answers for report in results.reports.values()):
        return []
    return [
        Column(
            "measure",
            "measure",
            lambda row: COUNTED if results.reports[row[0]].counts_answers else COMPUTED,
            help="of p(yes): probabilities of the next token, or yes / (yes + no) among drawn answers",
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
                "context_seed", "seed", lambda row: str(row[1].seed or ""), help="seed of the draws for the context"
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


def targets(results: Results, choice: Choice, *, name: str = "targets", subject: tuple[str, ...] = ()) -> Table[Any]:
    """Return accuracy and bias of each target: the published table 2, with the majority's answer beside."""
    rows = target_rows(results, choice)
    return Table(
        name,
        f"Accuracy and bias{all_of(rows)}",
        rows,
        [
            *columns(rows),
            target(),
            Column("respondents", "n", lambda row: row.figure.respondents, Kind.COUNT, help="respondents"),
            Column(
                "human", "people say yes", lambda row: row.figure.human, Kind.SHARE, short="people", aside=True
            ),
            *_accuracy_columns(),
            *_bias_columns(results),
            Column("yes", "yes", lambda row: row.figure.yes, Kind.COUNT, help="respondents for whom yes is predicted"),
            Column("no", "no", lambda row: row.figure.no, Kind.COUNT, help="respondents for whom no is predicted"),
            Column(
                "unreadable", "unreadable", lambda row: row.figure.unreadable, Kind.COUNT, aside=True,
                help="prompts with no mass on yes or no: they count as wrong, and not in the bias",
            ),
            Column(
                "without", "neither", lambda row: row.figure.without, Kind.SHARE, aside=True, scale=SHARES,
                help="mean probability of everything except yes and no",
            ),
            Column(
                "p_yes", "p(yes)", _p_yes, Kind.SHARE, aside=True, help="p(yes) / (p(yes) + p(no)), mean and sd"
            ),
            Column(
                "above_majority", "above majority", lambda row: row.figure.above_majority, Kind.MARK, aside=True,
                help="accuracy above the majority's, regardless of the interval (underlined in the published table 2)",
            ),
            outdated(),
            question(results),
        ],
        key=lambda row: (row.model, str(row.condition), row.figure.target),
        definition="Accuracy: share of respondents whose answer is predicted; majority: the same for always giving the "
        "more frequent answer. Bias: mean p(yes) minus the share of people who say yes.",
        notes=[*_not_asked(results, choice), *side_notes([leans(row) for row in rows])],
        empty="No model was asked these targets under these conditions.",
        link=lambda row: Link("question", (row.model, row.figure.target)),
        subject=subject,
        pictures=[
            Forest(values=["bias"], rows=["target"], series=["model", "condition"]),
            Forest(
                values=["accuracy"], rows=["target"], series=["model", "condition"], suffix="accuracy",
                reference="accuracy of the majority's answer",
            ),
            Scatter(
                x="human", y="p_yes", rows=["target"], series=["model", "condition"], suffix="people",
                identity="the model says yes as often as people",
            ),
        ],
    )  # fmt: skip


def _accuracy_columns() -> list[Column[Of[TargetFigure]]]:
    return [
        Column(
            "majority", "majority", lambda row: row.figure.majority, Kind.SHARE, aside=True,
            help="accuracy of always predicting the more frequent answer",
        ),
        Column(
            "accuracy", "accuracy", lambda row: row.figure.accuracy, Kind.SHARE, scale=SHARES,
            reference=lambda row: row.figure.majority,
        ),
        Column("accuracy_se", "SE of accuracy", lambda row: row.figure.accuracy_se, Kind.SIZE, aside=True),
        Column(
            "accuracy_side", "against majority", accuracy_side, aside=True,
            help="if the interval excludes the accuracy of the majority's answer",
        ),
    ]  # fmt: skip


def _bias_columns(results: Results) -> list[Column[Of[TargetFigure]]]:
    return [
        Column(
            "bias", "bias", lambda row: row.figure.bias, Kind.POINTS, scale=SIGNED, reference=lambda _: 0.0,
            help="mean p(yes) minus the share of people who say yes; above 0 the model says yes more often",
        ),
        Column(
            "bias_se", "SE of bias", lambda row: row.figure.bias_se, Kind.SIZE, aside=True,
            help=ERRORS[results.options.error],
        ),
        Column("leans", "leans", leans, least=13, help="where the interval of the bias leaves out 0"),
        Column(
            "pole", "pole", lambda row: _pole(results, row), aside=True,
            help="the pole to which the bias leans, if a yes to the question has one",
        ),
    ]  # fmt: skip


def means(results: Results, choice: Choice, *, name: str = "means", subject: tuple[str, ...] = ()) -> Table[Any]:
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
                "respondents", "fewest n", lambda row: row.figure.accuracy.respondents, Kind.COUNT, aside=True,
                help="respondents of the target that has fewest",
            ),
            Column("majority", "majority", lambda row: row.figure.majority, Kind.SHARE, aside=True),
            Column(
                "accuracy", "accuracy", lambda row: estimate_of(row.figure.accuracy), Kind.SHARE, scale=SHARES,
                reference=lambda row: row.figure.majority,
            ),
            Column(
                "accuracy_se", "SE of accuracy", lambda row: row.figure.accuracy.se, Kind.SIZE, aside=True,
                help="over targets",
            ),
            Column(
                "absolute_bias", "mean |bias|", lambda row: estimate_of(row.figure.absolute_bias), Kind.SIZE,
                scale=SHARES, reference=lambda row: row.figure.absolute_bias.noise.noise,
                help="mean size of the biases of the targets, without their signs; marked: what noise alone gives",
            ),
            Column(
                "absolute_bias_se", "SE of |bias|", lambda row: row.figure.absolute_bias.se, Kind.SIZE, aside=True,
                help="over targets",
            ),
            *_noise_columns(),
            few("few", lambda row: row.figure.accuracy.few or row.figure.absolute_bias.few),
            *_prompt_columns(),
            outdated(),
        ],
        key=lambda row: (row.model, str(row.condition)),
        definition=f"Intervals are over respondents, standard errors over targets. {ABSOLUTE}",
        notes=side_notes(["few"] * any(row.figure.accuracy.few or row.figure.absolute_bias.few for row in rows)),
        empty="No model was asked under these conditions.",
        link=lambda row: Link("targets_of", (row.model, str(row.condition))),
        subject=subject,
    )  # fmt: skip


def _noise_columns() -> list[Column[Of[ConditionFigures]]]:
    return [
        Column(
            "noise", "noise alone", lambda row: row.figure.absolute_bias.noise.noise, Kind.SIZE,
            help="mean |bias| that noise alone gives if no target has a bias",
        ),
        Column(
            "size", "without noise", lambda row: row.figure.absolute_bias.noise.size, Kind.SIZE,
            help="size of the biases without the noise: a root mean square",
        ),
        Column("p", "p", lambda row: row.figure.absolute_bias.noise.p, Kind.P_VALUE, help="of no bias at all"),
        Column("untested", "why no test", lambda row: row.figure.absolute_bias.noise.untested, aside=True),
    ]  # fmt: skip


def _prompt_columns() -> list[Column[Of[ConditionFigures]]]:
    """Return what is counted over all prompts, whatever their target (table 1)."""
    return [
        Column("yes", "yes", lambda row: row.figure.yes, Kind.COUNT, help="prompts on which yes is predicted"),
        Column("no", "no", lambda row: row.figure.no, Kind.COUNT, help="prompts on which no is predicted"),
        Column("unreadable", "unreadable", lambda row: row.figure.unreadable, Kind.COUNT, aside=True),
        Column("p_yes", "p(yes)", _p_yes_of_all, Kind.SHARE, aside=True, help="mean and sd over all prompts"),
    ]


def axis(results: Results, choice: Choice) -> Table[Any]:
    """Return the liberal-conservative axis (figure 5)."""
    rows = mean_rows(results, choice)
    return Table(
        "axis",
        f"Liberal (below 0) to conservative{all_of(rows)}",
        rows,
        [
            *columns(rows),
            Column(
                "axis", "bias towards conservative", lambda row: estimate_of(row.figure.axis), Kind.POINTS,
                short="bias", scale=SIGNED, reference=lambda _: 0.0,
            ),
            Column(
                "axis_se", "SE", lambda row: row.figure.axis.se, Kind.SIZE, aside=True, help="over targets"
            ),
            Column("leans", "leans", _axis_side),
            Column("targets", "targets", lambda row: row.figure.axis.n, Kind.COUNT, help="targets with a leaning"),
            Column(
                "respondents", "fewest n", lambda row: row.figure.axis.respondents, Kind.COUNT, aside=True,
                help="respondents of the target that has fewest",
            ),
            outdated(),
        ],
        key=lambda row: (row.model, str(row.condition)),
        definition="Mean bias towards the conservative answer, over targets whose yes has a leaning. The interval "
        "is over respondents, the standard error over targets.",
        notes=side_notes([_axis_side(row) for row in rows]),
        empty="No model was asked under these conditions.",
        link=lambda row: Link("axis_targets_of", (row.model, str(row.condition))),
        pictures=[Forest(values=["axis"], rows=["model"], series="condition", ends=("liberal", "conservative"))],
    )  # fmt: skip


# ── columns that tables have in common ──────────────────────────────────────────────────────────────────────────────


def columns(rows: Sequence[Of[Any]]) -> list[Column[Any]]:
    """Return the model and the condition of a row; where all rows have the same, the title says it."""
    return [
        Column("model", "model", lambda row: row.model, aside=len({row.model for row in rows}) < 2),
        Column(
            "condition", "condition", lambda row: str(row.condition), aside=len({row.condition for row in rows}) < 2
        ),
    ]


def target() -> Column[Any]:
    return Column("target", "target", lambda row: row.figure.target)


def question(results: Results) -> Column[Any]:
    return Column(
        "question", "question", lambda row: results.texts.get(row.figure.target or "", ""), main=True, aside=True
    )


def outdated(value: Any = lambda row: row.old) -> Column[Any]:
    return Column(
        "outdated", "outdated", value, Kind.COUNT, aside=True,
        help="prompts that show answers, questions or instructions that have changed since",
    )  # fmt: skip


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


def _axis_side(row: Of[ConditionFigures]) -> str:
    return side(row.figure.axis_direction, row.old, "leans conservative", "leans liberal", "no bias shown")


def _pole(results: Results, row: Of[TargetFigure]) -> str:
    """Return the pole to which a bias leans; empty where none is said."""
    pole = next((one.leaning for one in results.questionnaire.questions if one.ref == row.figure.target), None)
    if pole is None or row.old or row.figure.direction not in ("above", "below"):
        return ""
    other = Pole.LIBERAL if pole is Pole.CONSERVATIVE else Pole.CONSERVATIVE
    return (pole if row.figure.direction == "above" else other).value


def _p_yes(row: Of[TargetFigure]) -> MeanSd:
    return MeanSd(row.figure.p_yes, row.figure.p_yes_sd, row.figure.bias.n)


def _p_yes_of_all(row: Of[ConditionFigures]) -> MeanSd:
    return MeanSd(row.figure.p_yes, row.figure.p_yes_sd, row.figure.yes + row.figure.no)
