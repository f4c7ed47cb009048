"""What models have in common and where they differ, as tables: correlation and differences (section 5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from workbench.audits.by_persona import WithPersona, columns
from workbench.audits.questionnaire.conditions import ZERO_SHOT
from workbench.audits.questionnaire.figures import (
    Condition,
    Correlation,
    Difference,
    TargetFigure,
)
from workbench.audits.questionnaire.results import (
    ABSOLUTE,
    OLD,
    Choice,
    Of,
    Results,
    difference_rows,
    side_notes,
    target_rows,
    under,
)
from workbench.audits.questionnaire.score import correlations as correlated
from workbench.audits.questionnaire.tables import COMPUTED, COUNTED, SHARES, SIGNED, all_of, outdated, target
from workbench.domain.names import plural
from workbench.domain.questionnaires import LEAST_RESPONDENTS
from workbench.domain.verdicts import Estimate
from workbench.figures.pictures.of_table import Forest, Scatter
from workbench.figures.table import Column, Kind, Link, Table

Row = TypeVar("Row")
NAN = float("nan")
SURE = 0.05
"level below which a correlation has a direction"


def correlations(results: Results, choice: Choice) -> Table[Any]:
    """Return Pearson's correlation of |bias| and accuracy over models (section 5.2)."""
    rows = [
        (condition, row)
        for condition in dict.fromkeys(condition for of in choice.conditions.values() for condition in of)
        for row in correlated(results.reports, condition)
        if row.target is None or choice.wants(row.target)
    ]
    return Table(
        "correlation",
        "Pearson's correlation of |bias| and accuracy over models",
        rows,
        [
            Column("condition", "condition", lambda row: str(row[0])),
            Column("target", "target", lambda row: row[1].target or "all"),
            Column("r", "r", lambda row: _r(row[1]), Kind.COEFFICIENT, scale=SIGNED, reference=lambda _: 0.0,
                   help="Pearson's correlation"),
            Column("t", "t", lambda row: NAN if row[1].undefined else row[1].t, Kind.COEFFICIENT,
                   help="of the test of r = 0"),
            Column("df", "df", lambda row: row[1].df, Kind.COUNT, help="degrees of freedom"),
            Column("p", "p", lambda row: row[1].p, Kind.P_VALUE, help="two-sided"),
            Column("n", "points", lambda row: row[1].n, Kind.COUNT, help="a point is a target of a model"),
            Column(
                "few", "points of few", lambda row: row[1].few, Kind.COUNT, aside=True,
                help=f"points that rest on fewer than {LEAST_RESPONDENTS} respondents",
            ),
            Column("untested", "why no test", lambda row: row[1].untested, aside=True),
            *_of_counted(rows),
            Column(
                "question", "question", lambda row: results.texts.get(row[1].target or "", ""), main=True, aside=True
            ),
        ],
        key=lambda row: (str(row[0]), row[1].target or "all", *(["counted"] if row[1].counted else [])),
        definition="p treats the points as independent, as published, although the points of a model are related.",
        notes=_correlation_notes(rows),
        empty="No model was asked under these conditions.",
        link=lambda row: Link("points", (str(row[0]), *filter(None, [row[1].target]))),
        detail=lambda row: _way(row[1]),
        pictures=[Forest(values=["r"], rows=["target"], series="condition")],
    )  # fmt: skip


def _of_counted(rows: list[tuple[Condition, Correlation]]) -> Iterator[Column[Any]]:
    """Yield what is to be told of models whose answers were counted: they have correlations of their own."""
    if any(row.counted for _, row in rows):
        yield Column(
            "measure",
            "measure",
            lambda row: COUNTED if row[1].counted else COMPUTED,
            help="how p(yes) came about; models that were measured in different ways are in no correlation together",
        )
        yield Column(
            "noise",
            "± of answers",
            lambda row: row[1].noise,
            Kind.COEFFICIENT,
            help="standard deviation of r over other answers to the same prompts; probabilities have none",
        )


def _way(row: Correlation) -> list[str]:
    """Say what a correlation shows."""
    if row.undefined or row.untested:
        return [row.untested] if row.untested else []
    if not row.p < SURE:
        return ["no relation shown"]
    return [f"the larger the bias, the {'less' if row.r < 0 else 'more'} accurate"]


def _r(row: Correlation) -> Estimate:
    return Estimate(row.r, NAN, NAN, row.n, 0, row.undefined)


def _correlation_notes(rows: list[tuple[Condition, Correlation]]) -> list[str]:
    """Say of the correlations over all targets that most of their points are noise."""
    return [
        f"{condition}: {row.few} of the {plural(row.n, 'point')} rest on fewer than {LEAST_RESPONDENTS} respondents: "
        "both coordinates are mostly noise and share it, so r and p say nothing about the models"
        for condition, row in rows
        if row.target is None and row.few
    ]


def points(results: Results, condition: str, of: str = "") -> Table[Of[TargetFigure]]:
    """Return the points of a correlation: each model's |bias| and accuracy, of one target or of all ("")."""
    rows = target_rows(results, under(results, condition, of or None))
    return Table(
        "points",
        f"|Bias| and accuracy{all_of(rows)}",
        rows,
        [
            Column("model", "model", lambda row: row.model),
            target(),
            Column(
                "absolute_bias",
                "|bias|",
                lambda row: abs(row.figure.bias.value),
                Kind.SIZE,
                scale=SHARES,
                help="the size of the bias, without its sign",
            ),
            Column("accuracy", "accuracy", lambda row: row.figure.accuracy, Kind.SHARE, scale=SHARES),
            Column("respondents", "n", lambda row: row.figure.bias.n, Kind.COUNT, help="respondents"),
        ],
        key=lambda row: (row.model, row.figure.target),
        link=lambda row: Link("question", (row.model, row.figure.target)),
        subject=(condition, of) if of else (condition,),
        pictures=[Scatter(x="absolute_bias", y="accuracy", rows=["target"], series="model", labelled=bool(of))],
    )


def compared(results: Results, choice: Choice, model: str, base: str) -> Table[Of[Difference]]:
    """Return how a model differs from another one, such as a tuned model from its base (section 5.1)."""
    rows = list(difference_rows(results, choice, model, base))
    return Table(
        "compared",
        f"{model} − {base}",
        rows,
        [
            Column("model", "model", lambda row: row.model, aside=True),
            Column("base", "minus", lambda _: base, aside=True),
            *_differences(lambda row: row),
        ],
        key=lambda row: (row.model, base, str(row.condition), row.figure.target or ""),
        definition=f"Over the same respondents, drawn for both models together. {ABSOLUTE}",
        notes=[*_difference_notes(base, rows), *_notes(rows)],
        empty="The two models share none of these conditions.",
        link=_question,
        subject=(model, base),
        pictures=[Forest(values=["bias", "accuracy"], rows=["target"])],
    )


@dataclass(frozen=True, slots=True)
class PersonaRow:
    """What a persona changes in the predictions of one target, or in the means over targets."""

    runs: WithPersona
    found: Of[Difference]


def by_persona(results: Results, choice: Choice) -> Table[PersonaRow]:
    """Return how bias and accuracy with a persona differ from those without one."""
    rows = [
        PersonaRow(one, row)
        for one in results.personas
        for row in difference_rows(results, choice, one.name, one.baseline)
    ]
    return Table(
        "personas",
        "Bias and accuracy by persona, minus those without one",
        rows,
        [*columns(lambda row: row.runs), *_differences(lambda row: row.found)],
        key=lambda row: (row.runs.name, str(row.found.condition), row.found.figure.target or ""),
        definition=f"Over the same respondents, drawn with the persona and without it together. {ABSOLUTE}",
        notes=_notes([row.found for row in rows]),
        empty="No condition was asked with a persona and without one.",
        link=lambda row: _question(row.found),
        pictures=[Forest(values=["bias", "accuracy"], rows=["persona", "target"])],
    )


def _differences(of: Callable[[Row], Of[Difference]]) -> list[Column[Row]]:
    """Return the columns of what differs between two runs over the same respondents."""
    return [
        Column("condition", "condition", lambda row: str(of(row).condition)),
        Column("target", "target", lambda row: of(row).figure.target or "mean, of |bias|", least=15),
        Column(
            "respondents", "n", lambda row: of(row).figure.respondents, Kind.COUNT,
            help="respondents readable on both sides; for a mean, the smallest number of any target",
        ),
        Column("bias", "bias", lambda row: of(row).figure.bias, Kind.POINTS, scale=SIGNED),
        Column("accuracy", "accuracy", lambda row: of(row).figure.accuracy, Kind.POINTS, scale=SIGNED),
        Column(
            "mark", "", lambda row: _mark(of(row)),
            help="flipped: the intervals of the two biases lie on different sides of 0",
        ),
        Column("left_out_first", "left out, base", lambda row: of(row).figure.left_out[0], Kind.COUNT, aside=True),
        Column("left_out_second", "left out, model", lambda row: of(row).figure.left_out[1], Kind.COUNT, aside=True),
        outdated(lambda row: of(row).old),
    ]  # fmt: skip


def _question(row: Of[Difference]) -> Link | None:
    return Link("question", (row.model, row.figure.target)) if row.figure.target else None


def _mark(row: Of[Difference]) -> str:
    return OLD if row.old else "few" if row.figure.few else "flipped" if row.figure.flipped else ""


def _difference_notes(base: str, rows: Sequence[Of[Difference]]) -> Iterator[str]:
    for row in rows:
        if row.figure.target is None and any(row.figure.left_out):
            first, second = row.figure.left_out
            yield (
                f"{row.model} minus {base} under {row.condition}: left out over all targets, {plural(first, 'answer')} "
                f"only of {base} and {second:,} only of {row.model}"
            )


def _notes(rows: Sequence[Of[Difference]]) -> list[str]:
    return [*side_notes([_mark(row) for row in rows]), *_of_no_width(rows)]


def _of_no_width(rows: Sequence[Of[Difference]]) -> Iterator[str]:
    if any(row.condition.name == ZERO_SHOT for row in rows):
        yield (
            "zero-shot shows no answers: two models differ equally for any respondents drawn, so an interval of the "
            "bias has no width; it says nothing about other wordings or questions"
        )
