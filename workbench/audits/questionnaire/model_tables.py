"""One measure after another: targets as rows and models as columns, or conditions as rows and targets as columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from workbench.audits.questionnaire.effect_tables import CHANGES, change_link, change_side, most_changed
from workbench.audits.questionnaire.figures import Condition, TargetFigure, VariabilityFigure
from workbench.audits.questionnaire.results import (
    Changed,
    Choice,
    Of,
    Results,
    changed_rows,
    side,
    side_notes,
    target_rows,
    wording_rows,
)
from workbench.audits.questionnaire.tables import SHARES, SIGNED
from workbench.domain.verdicts import Estimate
from workbench.figures.table import Column, Kind, Link, Table, Value

TITLES = {
    "bias": "Bias",
    "accuracy": "Accuracy",
    "variability": "Variability of the bias over wordings",
    "predicted": "Predicted answers yes:no",
    "without": "Probability of neither yes nor no",
}
KINDS = {"bias": Kind.POINTS, "accuracy": Kind.SHARE, "variability": Kind.SIZE, "without": Kind.SHARE}
SCALES = {"bias": SIGNED, "accuracy": SHARES, "variability": SHARES, "without": SHARES}
SIDES = {
    "bias": "▲ ▼: the interval of the bias excludes 0",
    "accuracy": "▲ ▼: the interval of the accuracy excludes the accuracy of the majority's answer",
    "change": "▲ ▼: the interval of the change excludes 0",
}


@dataclass(frozen=True, slots=True)
class Line:
    """One target, and what each model has on it; models that were not asked are left out."""

    target: str
    figures: Mapping[str, Of[TargetFigure]]
    spreads: Mapping[str, VariabilityFigure]

    @property
    def human(self) -> float | None:
        """The share of people who say yes."""
        return next((of.figure.human for of in self.figures.values()), None)

    @property
    def majority(self) -> float | None:
        """The accuracy of always predicting the more frequent answer."""
        return next((of.figure.majority for of in self.figures.values()), None)

    @property
    def respondents(self) -> str:
        """How many people the models were asked about: `40`, or `38–40` where they differ."""
        counts = {of.figure.respondents for of in self.figures.values()}
        return "–".join(map(str, sorted({min(counts), max(counts)}))) if counts else ""


def by_model(results: Results, choice: Choice, measure: str, first: str = "") -> Table[Line]:
    """Return one measure of every target, with a column for each model.

    The people are those whom the first model was asked about, and models may have been asked about others.
    """
    names = sorted(results.reports, key=lambda name: name != first)
    one = {name: tuple(choice.conditions.get(name, ())[:1]) for name in names}
    lines = _lines(results, Choice(one, one, choice.target), spreads=measure == "variability")
    conditions = dict.fromkeys(str(condition) for of in one.values() for condition in of)
    people: Column[Line] = (
        Column("majority", "majority", lambda line: line.majority, Kind.SHARE, aside=True)
        if measure == "accuracy"
        else Column("human", "people say yes", lambda line: line.human, Kind.SHARE, aside=True)
    )
    return Table(
        measure,
        f"{TITLES[measure]} under {', '.join(conditions)}",
        lines,
        [
            Column("target", "target", lambda line: line.target),
            people,
            Column("respondents", "n", lambda line: line.respondents, aside=True, help="respondents"),
            *(_model(name, measure, results.options.variability) for name in names),
            Column("question", "question", lambda line: results.texts.get(line.target, ""), main=True, aside=True),
        ],
        key=lambda line: (line.target,),
        notes=_notes(lines, measure),
        empty="No model was asked under this condition.",
        link=lambda line: Link("models_on", (next(iter(conditions), ""), line.target)),
        detail=_people_of,
        subject=(first,) if first else (),
    )


def _people_of(line: Line) -> list[str]:
    """Say of how many people each model was asked, where these are not as many."""
    if "–" not in line.respondents:
        return []
    counts = " · ".join(f"{name} {of.figure.respondents:,}" for name, of in line.figures.items())
    return [f"not the same people: {counts}"]


def _lines(results: Results, choice: Choice, *, spreads: bool) -> list[Line]:
    rows = target_rows(results, choice)
    varied = wording_rows(results, choice) if spreads else []
    asked = {(of.model, of.figure.target): of for of in rows}
    return [
        Line(
            ref,
            {name: asked[name, ref] for name in choice.conditions if (name, ref) in asked},
            {of.model: of.figure for of in varied if of.figure.target == ref},
        )
        for ref in results.targets
        if choice.wants(ref) and rows
    ]


def _model(name: str, measure: str, variability: str) -> Column[Line]:
    def value(line: Line) -> Value:
        if measure == "variability":
            spread = line.spreads.get(name)
            return None if spread is None else spread.sd if variability == "sd" else spread.rms
        of = line.figures.get(name)
        return None if of is None else _value(of.figure, measure)

    beside: Callable[[Line], str] | None = (lambda line: _sign(line, name, measure)) if measure in SIDES else None
    kind, scale = KINDS.get(measure, Kind.TEXT), SCALES.get(measure)
    return Column(name, name, value, kind, scale=scale, reference=_reference(name, measure), beside=beside)


def _value(figure: TargetFigure, measure: str) -> Value:
    if measure == "bias":
        return figure.bias
    if measure == "accuracy":
        return figure.accuracy
    return figure.without if measure == "without" else figure.predicted


def _reference(name: str, measure: str) -> Callable[[Line], float | None]:
    def reference(line: Line) -> float | None:
        of = line.figures.get(name)
        return of.figure.majority if of is not None and measure == "accuracy" else 0.0 if measure == "bias" else None

    return reference


def _sign(line: Line, name: str, measure: str) -> str:
    """Return ▲ or ▼ where a figure's interval leaves out the reference, or why that is not said."""
    of = line.figures.get(name)
    if of is None:
        return ""
    way = of.figure.direction if measure == "bias" else of.figure.accuracy_direction
    return side(way, of.old, "▲", "▼")


def _notes(lines: list[Line], measure: str) -> list[str]:
    signs = [_sign(line, name, measure) for line in lines for name in line.figures] if measure in SIDES else []
    notes = [SIDES[measure]] if {"▲", "▼"}.intersection(signs) else []
    if any("–" in line.respondents for line in lines):
        notes.append("the models were asked about different people; the table targets has the n of each")
    return notes + side_notes(signs)


@dataclass(frozen=True, slots=True)
class Change:
    """One condition, and what it changes against qm: in the means, and in each target."""

    condition: Condition
    mean: Of[Changed]
    targets: Mapping[str, Of[Changed]]


def changes_by_target(results: Results, choice: Choice, measure: str, model: str) -> Table[Change]:
    """Return what the conditions change in a model, with a column for the means and for each target."""
    of = choice.only(model)
    every = changed_rows(results, of, means=False)
    lines = [
        Change(mean.condition, mean, {one.figure.target or "": one for one in every if one.condition == mean.condition})
        for mean in changed_rows(results, of, means=True)
    ]
    what = "|bias|" if measure == "bias" else "accuracy"
    return Table(
        f"{measure}_changes",
        f"{model}: change of {measure} relative to qm",
        lines,
        [
            Column("condition", "condition", lambda line: str(line.condition)),
            Column(
                "mean", f"mean {what}", lambda line: _change(line.mean, measure), Kind.POINTS, scale=SIGNED,
                reference=lambda _: 0.0, beside=lambda line: _change_sign(line.mean, measure),
                help="|bias|: its size, without its sign" if measure == "bias" else "over targets",
            ),
            *(_target(ref, measure) for ref in results.targets if choice.wants(ref)),
            Column(
                "outdated", "outdated", lambda line: line.mean.old, Kind.COUNT, aside=True,
                help="prompts whose text has changed since",
            ),
        ],
        key=lambda line: (str(line.condition),),
        definition=CHANGES,
        notes=[SIDES["change"]] * bool(lines),
        empty=f"Nothing to compare for {model}. Ask it under qm and another condition: zero-shot, "
        "random, permuted or reduced contexts.",
        link=lambda line: change_link(line.mean),
        detail=lambda line: most_changed(line.mean, every),
        subject=(model,),
    )  # fmt: skip


def _target(ref: str, measure: str) -> Column[Change]:
    return Column(
        ref, ref, lambda line: _change(line.targets.get(ref), measure), Kind.POINTS, scale=SIGNED,
        reference=lambda _: 0.0, beside=lambda line: _change_sign(line.targets.get(ref), measure),
    )  # fmt: skip


def _change(of: Of[Changed] | None, measure: str) -> Estimate | None:
    return None if of is None else of.figure.change if measure == "bias" else of.figure.accuracy_change


def _change_sign(of: Of[Changed] | None, measure: str) -> str:
    """Return ▲ or ▼ where the interval of a change leaves out 0, or why that is not said."""
    change = _change(of, measure)
    if of is None or change is None or not change.defined:
        return ""
    return change_side(of, change, "▲", "▼")
