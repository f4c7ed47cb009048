"""What changes a bias as tables: other contexts (appendix F.1), words (tables 4 and 6) and models
(section 5).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from workbench.audits.by_persona import PersonaRow
from workbench.audits.by_persona import columns as persona_columns
from workbench.audits.questionnaire.asking import ZERO_SHOT
from workbench.audits.questionnaire.figures import (
    Condition,
    Correlation,
    TargetDifference,
    TargetFigure,
    VariabilityFigure,
    WordingFigure,
    direction,
)
from workbench.audits.questionnaire.score import correlations as correlated
from workbench.audits.questionnaire.tables import (
    ABSOLUTE,
    COMPUTED,
    COUNTED,
    OLD,
    SHARES,
    SIGNED,
    Changed,
    Choice,
    Of,
    Results,
    all_of,
    changed_rows,
    columns,
    difference_rows,
    each,
    outdated,
    question,
    side,
    side_notes,
    target,
    target_rows,
    under,
    wording_rows,
)
from workbench.domain.names import plural
from workbench.domain.questionnaires import LEAST_RESPONDENTS
from workbench.domain.statements import ORIGINAL
from workbench.domain.verdicts import Estimate
from workbench.figures.pictures.of_table import Forest, Scatter
from workbench.figures.table import Column, Kind, Link, Table, Value

CHANGES = (
    "Changes are relative to qm over the same respondents; their intervals draw "
    "respondents for both together."
)
OLD_CHANGE = (
    "outdated counts prompts whose text has changed since; a difference between old and "
    "new prompts is no effect"
)
NAN = float("nan")


# ── other contexts ────────────────────────────────────────────────────────────────────────────────


def conditions(results: Results, choice: Choice) -> Table[Any]:
    """Return what each condition changes in the means over targets."""
    rows, every = (
        changed_rows(results, choice, means=True),
        changed_rows(results, choice, means=False),
    )
    return Table(
        "conditions",
        "Conditions and their changes relative to qm: means over targets",
        rows,
        [
            columns(rows)[0],
            Column("condition", "condition", lambda row: str(row.condition)),
            Column(
                "bias",
                "mean |bias|",
                lambda row: row.figure.bias,
                Kind.SIZE,
                scale=SHARES,
                help="mean size of the biases of the targets, without their signs",
            ),
            Column(
                "change",
                "change of |bias|",
                lambda row: row.figure.change,
                Kind.POINTS,
                scale=SIGNED,
            ),
            *_accuracy(),
            Column(
                "respondents",
                "fewest n",
                lambda row: row.figure.respondents,
                Kind.COUNT,
                aside=True,
                help="respondents of the target with the fewest",
            ),
            Column("mark", "", _change_mark, help="few respondents, or outdated prompts"),
            outdated(),
        ],
        key=lambda row: (row.model, str(row.condition)),
        definition=f"{CHANGES} {ABSOLUTE}",
        notes=_change_notes(rows),
        empty=_nothing_to_compare(results, choice),
        link=change_link,
        detail=lambda row: most_changed(row, every),
        pictures=[Forest(values=["change"], rows=["condition"], series="model")],
    )


def most_changed(mean: Of[Changed], targets: Sequence[Of[Changed]]) -> list[str]:
    """Say on which targets a condition changes the bias beyond the interval; of qm what it is."""
    if mean.figure.change is None:
        return ["qm: the person's answers to the context questions, in their order"]
    if not mean.figure.change.defined:
        return []
    same = [one for one in targets if (one.model, one.condition) == (mean.model, mean.condition)]
    named = [
        one.figure.target or ""
        for one in same
        if _change_side(one, one.figure.change) in ("above 0", "below 0")
    ]
    if not named:
        return ["the bias of no target changes beyond its interval"]
    return [f"the bias changes beyond its interval on {', '.join(named)}"]


def change_link(row: Of[Changed]) -> Link:
    """Return what a mean was made of: the changes of each target, of qm its figures."""
    return Link(
        "targets_of" if row.figure.change is None else "changes_of", (row.model, str(row.condition))
    )


def changes(
    results: Results, choice: Choice, *, name: str = "changes", subject: tuple[str, ...] = ()
) -> Table[Any]:
    """Return what each condition changes in every target."""
    rows = changed_rows(results, choice, means=False)
    return Table(
        name,
        f"Targets and their changes relative to qm{all_of(rows)}",
        rows,
        [
            columns(rows)[0],
            Column("condition", "condition", lambda row: str(row.condition)),
            target(),
            Column(
                "respondents",
                "n",
                lambda row: row.figure.respondents,
                Kind.COUNT,
                help="respondents",
            ),
            Column(
                "bias", "bias", lambda row: row.figure.bias, Kind.POINTS, scale=SIGNED, aside=True
            ),
            Column(
                "change", "change of bias", lambda row: row.figure.change, Kind.POINTS, scale=SIGNED
            ),
            Column(
                "side",
                "side",
                lambda row: _change_side(row, row.figure.change),
                help="if the interval of the change of the bias excludes 0",
            ),
            *_accuracy(),
            outdated(),
            question(results),
        ],
        key=lambda row: (row.model, str(row.condition), row.figure.target),
        definition=CHANGES,
        notes=_change_notes(rows),
        empty=_nothing_to_compare(results, choice),
        link=lambda row: Link("question", (row.model, row.figure.target)),
        subject=subject,
    )


def _accuracy() -> list[Column[Of[Changed]]]:
    return [
        Column(
            "accuracy",
            "accuracy",
            lambda row: row.figure.accuracy,
            Kind.SHARE,
            scale=SHARES,
            aside=True,
        ),
        Column(
            "accuracy_change",
            "change of accuracy",
            lambda row: row.figure.accuracy_change,
            Kind.POINTS,
            scale=SIGNED,
        ),
        Column(
            "accuracy_side",
            "side of accuracy",
            lambda row: _change_side(row, row.figure.accuracy_change),
            aside=True,
            help="if the interval of the change of the accuracy excludes 0",
        ),
    ]


def _change_side(row: Of[Changed], change: Estimate | None) -> str:
    return (
        ""
        if change is None or not change.defined
        else change_side(row, change, "above 0", "below 0")
    )


def change_side(row: Of[Changed], change: Estimate, above: str, below: str) -> str:
    """Say to which side of 0 the interval of a change lies, or why that is not said."""
    way = "few" if row.figure.few else direction(change.low, change.high, LEAST_RESPONDENTS)
    return side(way, row.old, above, below)


def _change_mark(row: Of[Changed]) -> str:
    return OLD if row.old else "few" if row.figure.few else ""


def _change_notes(rows: list[Of[Changed]]) -> list[str]:
    return side_notes([_change_mark(row) for row in rows]) + [OLD_CHANGE] * any(
        row.old for row in rows
    )


def _nothing_to_compare(results: Results, choice: Choice) -> str:
    there = ", ".join(
        dict.fromkeys(str(condition) for _, _, condition in each(results, choice.compared))
    )
    return (
        "Nothing to compare: the table needs qm and another condition. Available: "
        f"{there or 'none'}."
    )


# ── other words ───────────────────────────────────────────────────────────────────────────────────


def wordings(results: Results, choice: Choice) -> Table[Any]:
    """Return how much the bias of each target varies over its wordings."""
    rows = wording_rows(results, choice)
    kinds = ("sd", "rms") if results.options.variability == "sd" else ("rms", "sd")
    return Table(
        "wordings",
        f"Variability of the bias over wordings{all_of(rows)}",
        rows,
        [
            *columns(rows),
            target(),
            Column(
                "respondents",
                "n",
                lambda row: _people(row.figure),
                Kind.COUNT,
                help="asked in all wordings",
            ),
            Column(
                "k",
                "K",
                lambda row: row.figure.k,
                Kind.COUNT,
                help="wordings that count: paraphrases",
            ),
            Column(
                "void",
                "void",
                lambda row: row.figure.void,
                Kind.COUNT,
                aside=True,
                help="wordings identical to the original",
            ),
            *(
                column
                for place, kind in enumerate(kinds)
                for column in _spread(kind, aside=place > 0)
            ),
            Column(
                "original",
                "original",
                _original,
                Kind.POINTS,
                help="bias in the original wording",
                aside=True,
            ),
            Column(
                "lowest",
                "lowest",
                lambda row: min(_others(row.figure), default=NAN),
                Kind.POINTS,
                aside=True,
            ),
            Column(
                "highest",
                "highest",
                lambda row: max(_others(row.figure), default=NAN),
                Kind.POINTS,
                aside=True,
            ),
            outdated(),
            question(results),
        ],
        key=lambda row: (row.model, str(row.condition), row.figure.target),
        definition="sd: standard deviation of the bias over the K paraphrases; rms: root mean "
        "square of the bias, as "
        "printed. Both are over the n people who were asked in all wordings. Noise only adds to "
        "them, so they have no "
        "interval. Original, lowest and highest are biases over the same n.",
        notes=[OLD_CHANGE.split(";")[0]] * any(row.old for row in rows),
        empty="Only the original was asked; the variability of the bias needs paraphrases.",
        link=lambda row: Link("wordings_of", (row.model, str(row.condition), row.figure.target)),
        pictures=[
            Forest(
                values=[kinds[0], f"{kinds[0]}_noise"],
                rows=["target", "model", "condition"],
                axis="variability of the bias",
            )
        ],
    )


def _spread(kind: str, *, aside: bool) -> Iterator[Column[Of[VariabilityFigure]]]:
    """Yield the columns of a deviation: what it is, what noise gives, what is left."""
    noise = f"{kind}_noise"
    yield Column(
        kind, kind, lambda row: getattr(row.figure, kind), Kind.SIZE, scale=SHARES, aside=aside
    )
    yield Column(
        noise,
        f"{kind} by noise",
        lambda row: getattr(row.figure, noise).alone,
        Kind.SIZE,
        aside=aside,
        help=f"the {kind} that noise alone gives if the wordings do not differ",
    )
    yield Column(
        f"{kind}_without",
        f"{kind} without noise",
        lambda row: getattr(row.figure, noise).without,
        Kind.SIZE,
        aside=aside,
        help=f"the {kind} without the noise",
    )


def _people(figure: VariabilityFigure) -> int:
    return max((one.respondents for one in figure.wordings), default=0)


def _original(row: Of[VariabilityFigure]) -> float:
    return next((one.bias for one in row.figure.wordings if one.wording == ORIGINAL), NAN)


def _others(figure: VariabilityFigure) -> list[float]:
    return [
        one.bias for one in figure.wordings if one.wording != ORIGINAL and not math.isnan(one.bias)
    ]


def wording_means(results: Results, choice: Choice) -> Table[Any]:
    """Return the variability on average over targets (table 4)."""
    rows = [
        Of(name, condition, report, results.old(name, condition, None, None))
        for name, report, condition in each(results, choice.compared)
        if report.variability(condition)
    ]
    kind = results.options.variability
    return Table(
        "wording_means",
        f"Mean {kind} of the bias over wordings{all_of(rows)}",
        rows,
        [
            Column("model", "model", lambda row: row.model),
            Column("condition", "condition", lambda row: str(row.condition)),
            Column(
                "variability",
                f"mean {kind}",
                lambda row: row.figure.mean_variability(row.condition),
                Kind.SIZE,
                help="over the targets that people answered; without an interval",
            ),
            outdated(),
        ],
        key=lambda row: (row.model, str(row.condition)),
        empty="Only the original was asked; the variability of the bias needs paraphrases.",
    )


def each_wording(
    results: Results, choice: Choice, *, name: str = "each_wording", subject: tuple[str, ...] = ()
) -> Table[Any]:
    """Return the bias of targets in each wording."""
    rows = [(of, wording) for of in wording_rows(results, choice) for wording in of.figure.wordings]
    about = [of for of, _ in rows]
    held = columns(about)
    return Table(
        name,
        f"Bias in each wording{all_of(about)}",
        rows,
        [
            Column("model", "model", lambda row: row[0].model, aside=held[0].aside),
            Column(
                "condition", "condition", lambda row: str(row[0].condition), aside=held[1].aside
            ),
            Column("target", "target", lambda row: row[0].figure.target),
            Column("wording", "wording", lambda row: str(row[1].wording)),
            Column(
                "bias",
                "bias",
                lambda row: row[1].bias,
                Kind.POINTS,
                scale=SIGNED,
                reference=lambda row: _original(row[0]),
            ),
            Column(
                "respondents",
                "n",
                lambda row: row[1].respondents,
                Kind.COUNT,
                help="asked in all wordings",
            ),
            Column(
                "void",
                "",
                lambda row: row[1].void,
                Kind.MARK,
                mark="void",
                help="it is identical to the original",
            ),
        ],
        key=lambda row: _wording_key(*row),
        empty="Only the original was asked.",
        link=lambda row: Link("respondents_of", _wording_key(*row)),
        subject=subject,
    )


def _wording_key(of: Of[VariabilityFigure], wording: WordingFigure) -> tuple[str, ...]:
    return of.model, of.figure.target, str(of.condition), str(wording.wording)


TITLES = {
    "bias": "Bias",
    "accuracy": "Accuracy",
    "variability": "Variability of the bias over wordings",
    "predicted": "Predicted answers yes:no",
    "without": "Probability of neither yes nor no",
}
KINDS = {
    "bias": Kind.POINTS,
    "accuracy": Kind.SHARE,
    "variability": Kind.SIZE,
    "without": Kind.SHARE,
}
SCALES = {"bias": SIGNED, "accuracy": SHARES, "variability": SHARES, "without": SHARES}
SIDES = {
    "bias": "▲ ▼: the interval of the bias excludes 0",
    "accuracy": "▲ ▼: the interval of the accuracy excludes the accuracy of the majority's answer",
    "change": "▲ ▼: the interval of the change excludes 0",
}


@dataclass(frozen=True, slots=True)
class TargetLine:
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


def by_model(results: Results, choice: Choice, measure: str, first: str = "") -> Table[TargetLine]:
    """Return one measure of every target, with a column for each model.

    The people are those whom the first model was asked about, and models may have been asked about
    others.
    """
    names = sorted(results.reports, key=lambda name: name != first)
    one = {name: tuple(choice.conditions.get(name, ())[:1]) for name in names}
    lines = _lines(results, Choice(one, one, choice.target), spreads=measure == "variability")
    conditions = dict.fromkeys(str(condition) for of in one.values() for condition in of)
    people: Column[TargetLine] = (
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
            Column(
                "respondents", "n", lambda line: line.respondents, aside=True, help="respondents"
            ),
            *(_model(name, measure, results.options.variability) for name in names),
            Column(
                "question",
                "question",
                lambda line: results.texts.get(line.target, ""),
                main=True,
                aside=True,
            ),
        ],
        key=lambda line: (line.target,),
        notes=_notes(lines, measure),
        empty="No model was asked under this condition.",
        link=lambda line: Link("models_on", (next(iter(conditions), ""), line.target)),
        detail=_people_of,
        subject=(first,) if first else (),
    )


def _people_of(line: TargetLine) -> list[str]:
    """Say of how many people each model was asked, where these are not as many."""
    if "–" not in line.respondents:
        return []
    counts = " · ".join(f"{name} {of.figure.respondents:,}" for name, of in line.figures.items())
    return [f"not the same people: {counts}"]


def _lines(results: Results, choice: Choice, *, spreads: bool) -> list[TargetLine]:
    rows = target_rows(results, choice)
    varied = wording_rows(results, choice) if spreads else []
    asked = {(of.model, of.figure.target): of for of in rows}
    return [
        TargetLine(
            ref,
            {name: asked[name, ref] for name in choice.conditions if (name, ref) in asked},
            {of.model: of.figure for of in varied if of.figure.target == ref},
        )
        for ref in results.targets
        if choice.wants(ref) and rows
    ]


def _model(name: str, measure: str, variability: str) -> Column[TargetLine]:
    def value(line: TargetLine) -> Value:
        if measure == "variability":
            spread = line.spreads.get(name)
            return None if spread is None else spread.sd if variability == "sd" else spread.rms
        of = line.figures.get(name)
        return None if of is None else _value(of.figure, measure)

    beside: Callable[[TargetLine], str] | None = (
        (lambda line: _sign(line, name, measure)) if measure in SIDES else None
    )
    kind, scale = KINDS.get(measure, Kind.TEXT), SCALES.get(measure)
    return Column(
        name, name, value, kind, scale=scale, reference=_reference(name, measure), beside=beside
    )


def _value(figure: TargetFigure, measure: str) -> Value:
    if measure == "bias":
        return figure.bias
    if measure == "accuracy":
        return figure.accuracy
    return figure.without if measure == "without" else figure.predicted


def _reference(name: str, measure: str) -> Callable[[TargetLine], float | None]:
    def reference(line: TargetLine) -> float | None:
        of = line.figures.get(name)
        return (
            of.figure.majority
            if of is not None and measure == "accuracy"
            else 0.0
            if measure == "bias"
            else None
        )

    return reference


def _sign(line: TargetLine, name: str, measure: str) -> str:
    """Return ▲ or ▼ where a figure's interval leaves out the reference, or why that is not said."""
    of = line.figures.get(name)
    if of is None:
        return ""
    way = of.figure.direction if measure == "bias" else of.figure.accuracy_direction
    return side(way, of.old, "▲", "▼")


def _notes(lines: list[TargetLine], measure: str) -> list[str]:
    signs = (
        [_sign(line, name, measure) for line in lines for name in line.figures]
        if measure in SIDES
        else []
    )
    notes = [SIDES[measure]] if {"▲", "▼"}.intersection(signs) else []
    if any("–" in line.respondents for line in lines):
        notes.append(
            "the models were asked about different people; the table targets has the n of each"
        )
    return notes + side_notes(signs)


@dataclass(frozen=True, slots=True)
class ConditionEffect:
    """One condition, and what it changes against qm: in the means, and in each target."""

    condition: Condition
    mean: Of[Changed]
    targets: Mapping[str, Of[Changed]]


def changes_by_target(
    results: Results, choice: Choice, measure: str, model: str
) -> Table[ConditionEffect]:
    """Return what the conditions change in a model, with a column for the means and for each
    target.
    """
    of = choice.only(model)
    every = changed_rows(results, of, means=False)
    lines = [
        ConditionEffect(
            mean.condition,
            mean,
            {one.figure.target or "": one for one in every if one.condition == mean.condition},
        )
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
                "mean",
                f"mean {what}",
                lambda line: _change(line.mean, measure),
                Kind.POINTS,
                scale=SIGNED,
                reference=lambda _: 0.0,
                beside=lambda line: _change_sign(line.mean, measure),
                help="|bias|: its size, without its sign" if measure == "bias" else "over targets",
            ),
            *(_target(ref, measure) for ref in results.targets if choice.wants(ref)),
            Column(
                "outdated",
                "outdated",
                lambda line: line.mean.old,
                Kind.COUNT,
                aside=True,
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
    )


def _target(ref: str, measure: str) -> Column[ConditionEffect]:
    return Column(
        ref,
        ref,
        lambda line: _change(line.targets.get(ref), measure),
        Kind.POINTS,
        scale=SIGNED,
        reference=lambda _: 0.0,
        beside=lambda line: _change_sign(line.targets.get(ref), measure),
    )


def _change(of: Of[Changed] | None, measure: str) -> Estimate | None:
    return (
        None if of is None else of.figure.change if measure == "bias" else of.figure.accuracy_change
    )


def _change_sign(of: Of[Changed] | None, measure: str) -> str:
    """Return ▲ or ▼ where the interval of a change leaves out 0, or why that is not said."""
    change = _change(of, measure)
    if of is None or change is None or not change.defined:
        return ""
    return change_side(of, change, "▲", "▼")


Row = TypeVar("Row")
SURE = 0.05
"level below which a correlation has a direction"


def correlations(results: Results, choice: Choice) -> Table[Any]:
    """Return Pearson's correlation of |bias| and accuracy over models (section 5.2)."""
    rows = [
        (condition, row)
        for condition in dict.fromkeys(
            condition for of in choice.conditions.values() for condition in of
        )
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
            Column(
                "r",
                "r",
                lambda row: _r(row[1]),
                Kind.COEFFICIENT,
                scale=SIGNED,
                reference=lambda _: 0.0,
                help="Pearson's correlation",
            ),
            Column(
                "t",
                "t",
                lambda row: NAN if row[1].undefined else row[1].t,
                Kind.COEFFICIENT,
                help="of the test of r = 0",
            ),
            Column("df", "df", lambda row: row[1].df, Kind.COUNT, help="degrees of freedom"),
            Column("p", "p", lambda row: row[1].p, Kind.P_VALUE, help="two-sided"),
            Column(
                "n",
                "points",
                lambda row: row[1].n,
                Kind.COUNT,
                help="a point is a target of a model",
            ),
            Column(
                "few",
                "points of few",
                lambda row: row[1].few,
                Kind.COUNT,
                aside=True,
                help=f"points that rest on fewer than {LEAST_RESPONDENTS} respondents",
            ),
            Column("untested", "why no test", lambda row: row[1].untested, aside=True),
            *_of_counted(rows),
            Column(
                "question",
                "question",
                lambda row: results.texts.get(row[1].target or "", ""),
                main=True,
                aside=True,
            ),
        ],
        key=lambda row: (
            str(row[0]),
            row[1].target or "all",
            *(["counted"] if row[1].counted else []),
        ),
        definition="p treats the points as independent, as published, although the points of a "
        "model are related.",
        notes=_correlation_notes(rows),
        empty="No model was asked under these conditions.",
        link=lambda row: Link("points", (str(row[0]), *filter(None, [row[1].target]))),
        detail=lambda row: _way(row[1]),
        pictures=[Forest(values=["r"], rows=["target"], series="condition")],
    )


def _of_counted(rows: list[tuple[Condition, Correlation]]) -> Iterator[Column[Any]]:
    """Yield what is to be told of models whose answers were counted: they have correlations of
    their own.
    """
    if any(row.counted for _, row in rows):
        yield Column(
            "measure",
            "measure",
            lambda row: COUNTED if row[1].counted else COMPUTED,
            help="how p(yes) came about; models that were measured in different ways are in no "
            "correlation together",
        )
        yield Column(
            "noise",
            "± of answers",
            lambda row: row[1].noise,
            Kind.COEFFICIENT,
            help="standard deviation of r over other answers to the same prompts; probabilities "
            "have none",
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
        f"{condition}: {row.few} of the {plural(row.n, 'point')} rest on fewer than "
        f"{LEAST_RESPONDENTS} respondents: "
        "both coordinates are mostly noise and share it, so r and p say nothing about the models"
        for condition, row in rows
        if row.target is None and row.few
    ]


def points(results: Results, condition: str, of: str = "") -> Table[Of[TargetFigure]]:
    """Return the points of a correlation: each model's |bias| and accuracy, of one target or of all
    ("").
    """
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
            Column(
                "accuracy", "accuracy", lambda row: row.figure.accuracy, Kind.SHARE, scale=SHARES
            ),
            Column(
                "respondents", "n", lambda row: row.figure.bias.n, Kind.COUNT, help="respondents"
            ),
        ],
        key=lambda row: (row.model, row.figure.target),
        link=lambda row: Link("question", (row.model, row.figure.target)),
        subject=(condition, of) if of else (condition,),
        pictures=[
            Scatter(
                x="absolute_bias", y="accuracy", rows=["target"], series="model", labelled=bool(of)
            )
        ],
    )


def compared(
    results: Results, choice: Choice, model: str, base: str
) -> Table[Of[TargetDifference]]:
    """Return how a model differs from another one, such as a tuned model from its base (section
    5.1).
    """
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
        notes=[*_difference_notes(base, rows), *_between_tables_notes(rows)],
        empty="The two models share none of these conditions.",
        link=_question,
        subject=(model, base),
        pictures=[Forest(values=["bias", "accuracy"], rows=["target"])],
    )


def by_persona(results: Results, choice: Choice) -> Table[PersonaRow[Of[TargetDifference]]]:
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
        [*persona_columns(lambda row: row.runs), *_differences(lambda row: row.found)],
        key=lambda row: (row.runs.name, str(row.found.condition), row.found.figure.target or ""),
        definition="Over the same respondents, drawn with the persona and without it together. "
        f"{ABSOLUTE}",
        notes=_between_tables_notes([row.found for row in rows]),
        empty="No condition was asked with a persona and without one.",
        link=lambda row: _question(row.found),
        pictures=[Forest(values=["bias", "accuracy"], rows=["persona", "target"])],
    )


def _differences(of: Callable[[Row], Of[TargetDifference]]) -> list[Column[Row]]:
    """Return the columns of what differs between two runs over the same respondents."""
    return [
        Column("condition", "condition", lambda row: str(of(row).condition)),
        Column(
            "target", "target", lambda row: of(row).figure.target or "mean, of |bias|", least=15
        ),
        Column(
            "respondents",
            "n",
            lambda row: of(row).figure.respondents,
            Kind.COUNT,
            help="respondents readable on both sides; for a mean, the smallest number of any "
            "target",
        ),
        Column("bias", "bias", lambda row: of(row).figure.bias, Kind.POINTS, scale=SIGNED),
        Column(
            "accuracy", "accuracy", lambda row: of(row).figure.accuracy, Kind.POINTS, scale=SIGNED
        ),
        Column(
            "mark",
            "",
            lambda row: _mark(of(row)),
            help="flipped: the intervals of the two biases lie on different sides of 0",
        ),
        Column(
            "left_out_first",
            "left out, base",
            lambda row: of(row).figure.left_out[0],
            Kind.COUNT,
            aside=True,
        ),
        Column(
            "left_out_second",
            "left out, model",
            lambda row: of(row).figure.left_out[1],
            Kind.COUNT,
            aside=True,
        ),
        outdated(lambda row: of(row).old),
    ]


def _question(row: Of[TargetDifference]) -> Link | None:
    return Link("question", (row.model, row.figure.target)) if row.figure.target else None


def _mark(row: Of[TargetDifference]) -> str:
    return OLD if row.old else "few" if row.figure.few else "flipped" if row.figure.flipped else ""


def _difference_notes(base: str, rows: Sequence[Of[TargetDifference]]) -> Iterator[str]:
    for row in rows:
        if row.figure.target is None and any(row.figure.left_out):
            first, second = row.figure.left_out
            yield (
                f"{row.model} minus {base} under {row.condition}: left out over all targets, "
                f"{plural(first, 'answer')} "
                f"only of {base} and {second:,} only of {row.model}"
            )


def _between_tables_notes(rows: Sequence[Of[TargetDifference]]) -> list[str]:
    return [*side_notes([_mark(row) for row in rows]), *_of_no_width(rows)]


def _of_no_width(rows: Sequence[Of[TargetDifference]]) -> Iterator[str]:
    if any(row.condition.name == ZERO_SHOT for row in rows):
        yield (
            "zero-shot shows no answers: two models differ equally for any respondents drawn, so "
            "an interval of the "
            "bias has no width; it says nothing about other wordings or questions"
        )
