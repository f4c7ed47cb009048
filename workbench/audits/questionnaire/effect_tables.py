"""The tables of what changes a bias.

These are other contexts (appendix F.1), other words (tables 4 and 6) and other models (section 5).
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
    ConditionChange,
    ModelFigure,
    Results,
    TableScope,
    all_of,
    changed_rows,
    columns,
    describe_side,
    difference_rows,
    each,
    outdated,
    question,
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


def conditions(results: Results, choice: TableScope) -> Table[Any]:
    """Return the table of each condition's changes in the means over targets."""
    rows, target_changes = (
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
        detail=lambda row: most_changed(row, target_changes),
        pictures=[Forest(values=["change"], rows=["condition"], series="model")],
    )


def most_changed(
    mean: ModelFigure[ConditionChange], targets: Sequence[ModelFigure[ConditionChange]]
) -> list[str]:
    """Return the targets whose bias a condition changes beyond the interval, or what `qm` is."""
    if mean.figure.change is None:
        return ["qm: the person's answers to the context questions, in their order"]
    if not mean.figure.change.defined:
        return []
    same_condition = [
        row for row in targets if (row.model, row.condition) == (mean.model, mean.condition)
    ]
    changed_targets = [
        row.figure.target or ""
        for row in same_condition
        if _change_side(row, row.figure.change) in ("above 0", "below 0")
    ]
    if not changed_targets:
        return ["the bias of no target changes beyond its interval"]
    return [f"the bias changes beyond its interval on {', '.join(changed_targets)}"]


def change_link(row: ModelFigure[ConditionChange]) -> Link:
    """Return the link from a mean to the changes of each target, or for `qm` to its figures."""
    return Link(
        "targets_of" if row.figure.change is None else "changes_of", (row.model, str(row.condition))
    )


def changes(
    results: Results, choice: TableScope, *, name: str = "changes", subject: tuple[str, ...] = ()
) -> Table[Any]:
    """Return the table of each condition's changes in every target."""
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


def _accuracy() -> list[Column[ModelFigure[ConditionChange]]]:
    """Return the columns of the accuracy and of its change."""
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


def _change_side(row: ModelFigure[ConditionChange], change: Estimate | None) -> str:
    """Return the side of 0 on which a change lies, or an empty string without a change."""
    if change is None or not change.defined:
        return ""
    return change_side(row, change, "above 0", "below 0")


def change_side(row: ModelFigure[ConditionChange], change: Estimate, above: str, below: str) -> str:
    """Return the side of 0 on which a change's interval lies, or the reason why it has none."""
    change_direction = (
        "few" if row.figure.few else direction(change.low, change.high, LEAST_RESPONDENTS)
    )
    return describe_side(change_direction, row.n_outdated, above, below)


def _change_mark(row: ModelFigure[ConditionChange]) -> str:
    """Return the mark of a row with outdated prompts or few respondents."""
    if row.n_outdated:
        return OLD
    return "few" if row.figure.few else ""


def _change_notes(rows: list[ModelFigure[ConditionChange]]) -> list[str]:
    """Return the notes that explain the marks of some rows."""
    notes = side_notes([_change_mark(row) for row in rows])
    if any(row.n_outdated for row in rows):
        notes.append(OLD_CHANGE)
    return notes


def _nothing_to_compare(results: Results, choice: TableScope) -> str:
    """Return the text of an empty table of changes, with the available conditions."""
    available = ", ".join(
        dict.fromkeys(str(condition) for _, _, condition in each(results, choice.compared))
    )
    return (
        "Nothing to compare: the table needs qm and another condition. Available: "
        f"{available or 'none'}."
    )


# ── other words ───────────────────────────────────────────────────────────────────────────────────


def wordings(results: Results, choice: TableScope) -> Table[Any]:
    """Return the table of the variability of each target's bias over its wordings."""
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
                for index, kind in enumerate(kinds)
                for column in _spread(kind, aside=index > 0)
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
        notes=_outdated_notes(rows),
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


def _outdated_notes(rows: Sequence[ModelFigure[VariabilityFigure]]) -> list[str]:
    """Return the note that explains the column of outdated prompts, if any row has one."""
    if not any(row.n_outdated for row in rows):
        return []
    return [OLD_CHANGE.split(";")[0]]


def _spread(kind: str, *, aside: bool) -> Iterator[Column[ModelFigure[VariabilityFigure]]]:
    """Yield the columns of a deviation: its value, the part due to noise, and the other part."""
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
    """Return the number of respondents who were asked in all wordings."""
    return max((wording.respondents for wording in figure.wordings), default=0)


def _original(row: ModelFigure[VariabilityFigure]) -> float:
    """Return the bias in the original wording, or NaN if it was not asked."""
    return next(
        (wording.bias for wording in row.figure.wordings if wording.wording == ORIGINAL), NAN
    )


def _others(figure: VariabilityFigure) -> list[float]:
    """Return the biases in all wordings but the original."""
    return [
        wording.bias
        for wording in figure.wordings
        if wording.wording != ORIGINAL and not math.isnan(wording.bias)
    ]


def wording_means(results: Results, choice: TableScope) -> Table[Any]:
    """Return the table of the mean variability over targets (table 4)."""
    rows = [
        ModelFigure(name, condition, report, results.count_outdated(name, condition, None, None))
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
    results: Results,
    choice: TableScope,
    *,
    name: str = "each_wording",
    subject: tuple[str, ...] = (),
) -> Table[Any]:
    """Return the table of the bias of targets in each wording."""
    rows = [
        (variability_row, wording)
        for variability_row in wording_rows(results, choice)
        for wording in variability_row.figure.wordings
    ]
    variability_rows = [variability_row for variability_row, _ in rows]
    shared_columns = columns(variability_rows)
    return Table(
        name,
        f"Bias in each wording{all_of(variability_rows)}",
        rows,
        [
            Column("model", "model", lambda row: row[0].model, aside=shared_columns[0].aside),
            Column(
                "condition",
                "condition",
                lambda row: str(row[0].condition),
                aside=shared_columns[1].aside,
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


def _wording_key(of: ModelFigure[VariabilityFigure], wording: WordingFigure) -> tuple[str, ...]:
    """Return the key of a row: model, target, condition and wording."""
    return of.model, of.figure.target, str(of.condition), str(wording.wording)


CHANGE_SIDES = "▲ ▼: the interval of the change excludes 0"


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of every target, which a table shows in a column for each model."""

    name: str
    title: str
    kind: Kind = Kind.TEXT
    scale: tuple[float, float] | None = None
    sides: str = ""
    "meaning of ▲ and ▼, or empty for a measure without a reference"

    def column(self, model: str) -> Column[TargetLine]:
        """Return the column of one model."""
        return Column(
            model,
            model,
            lambda line: self.value(line, model),
            self.kind,
            scale=self.scale,
            reference=lambda line: self.reference(line, model),
            beside=(lambda line: self.sign(line, model)) if self.sides else None,
        )

    def value(self, line: TargetLine, model: str) -> Value:
        """Return the measure of a model on a target, or None if it has none."""
        if self.name == "variability":
            return line.spreads.get(model)
        row = line.figures.get(model)
        if row is None:
            return None
        if self.name == "bias":
            return row.figure.bias
        if self.name == "accuracy":
            return row.figure.accuracy
        return row.figure.without if self.name == "without" else row.figure.predicted

    def reference(self, line: TargetLine, model: str) -> float | None:
        """Return 0 for a bias, the majority's accuracy for an accuracy, otherwise None."""
        if self.name == "bias":
            return 0.0
        row = line.figures.get(model)
        if row is None or self.name != "accuracy":
            return None
        return row.figure.majority

    def sign(self, line: TargetLine, model: str) -> str:
        """Return ▲ or ▼ if the interval excludes the reference, or the reason for no sign."""
        row = line.figures.get(model)
        if row is None:
            return ""
        figure = row.figure
        side = figure.direction if self.name == "bias" else figure.accuracy_direction
        return describe_side(side, row.n_outdated, "▲", "▼")

    def change(self, row: ModelFigure[ConditionChange] | None) -> Estimate | None:
        """Return the change of a bias or an accuracy, or None without a row."""
        if row is None:
            return None
        return row.figure.change if self.name == "bias" else row.figure.accuracy_change

    def change_sign(self, row: ModelFigure[ConditionChange] | None) -> str:
        """Return ▲ or ▼ if the interval of a change excludes 0, or the reason for no sign."""
        change = self.change(row)
        if row is None or change is None or not change.defined:
            return ""
        return change_side(row, change, "▲", "▼")


BIAS = Measure("bias", "Bias", Kind.POINTS, SIGNED, "▲ ▼: the interval of the bias excludes 0")
ACCURACY = Measure(
    "accuracy",
    "Accuracy",
    Kind.SHARE,
    SHARES,
    "▲ ▼: the interval of the accuracy excludes the accuracy of the majority's answer",
)
VARIABILITY = Measure("variability", "Variability of the bias over wordings", Kind.SIZE, SHARES)
PREDICTED = Measure("predicted", "Predicted answers yes:no")
WITHOUT = Measure("without", "Probability of neither yes nor no", Kind.SHARE, SHARES)
MEASURES = (BIAS, ACCURACY, VARIABILITY, PREDICTED, WITHOUT)


@dataclass(frozen=True, slots=True)
class TargetLine:
    """The figures of each model on one target, without models that were not asked."""

    target: str
    figures: Mapping[str, ModelFigure[TargetFigure]]
    spreads: Mapping[str, Estimate]
    "the variability over wordings, as sd or rms"

    @property
    def human(self) -> float | None:
        """The share of the respondents who say yes, or None without models."""
        return next((row.figure.human for row in self.figures.values()), None)

    @property
    def majority(self) -> float | None:
        """The accuracy of always predicting the more frequent answer, or None without models."""
        return next((row.figure.majority for row in self.figures.values()), None)

    @property
    def respondents(self) -> str:
        """The number of respondents, such as `40`, or `38–40` if it differs between models."""
        counts = {row.figure.respondents for row in self.figures.values()}
        return "–".join(map(str, sorted({min(counts), max(counts)}))) if counts else ""


def by_model(
    results: Results, choice: TableScope, measure: Measure, first: str = ""
) -> Table[TargetLine]:
    """Return the table of one measure of every target, with a column for each model.

    The respondents are those of the first model. Other models may have been asked about others.
    """
    names = sorted(results.reports, key=lambda name: name != first)
    first_conditions = {name: tuple(choice.conditions.get(name, ())[:1]) for name in names}
    lines = _lines(
        results,
        TableScope(first_conditions, first_conditions, choice.target),
        spreads=measure is VARIABILITY,
    )
    conditions = dict.fromkeys(
        str(condition)
        for own_conditions in first_conditions.values()
        for condition in own_conditions
    )
    human_column: Column[TargetLine]
    if measure is ACCURACY:
        human_column = Column(
            "majority", "majority", lambda line: line.majority, Kind.SHARE, aside=True
        )
    else:
        human_column = Column(
            "human", "people say yes", lambda line: line.human, Kind.SHARE, aside=True
        )
    return Table(
        measure.name,
        f"{measure.title} under {', '.join(conditions)}",
        lines,
        [
            Column("target", "target", lambda line: line.target),
            human_column,
            Column(
                "respondents", "n", lambda line: line.respondents, aside=True, help="respondents"
            ),
            *(measure.column(name) for name in names),
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
    """Return the number of respondents of each model, if these numbers differ."""
    if "–" not in line.respondents:
        return []
    counts = " · ".join(f"{name} {row.figure.respondents:,}" for name, row in line.figures.items())
    return [f"not the same people: {counts}"]


def _lines(results: Results, choice: TableScope, *, spreads: bool) -> list[TargetLine]:
    """Return a line for each target of the choice. `spreads` adds the variability over wordings."""
    rows = target_rows(results, choice)
    variability_rows = wording_rows(results, choice) if spreads else []
    row_by_target = {(row.model, row.figure.target): row for row in rows}
    uses_sd = results.options.variability == "sd"
    return [
        TargetLine(
            ref,
            {
                name: row_by_target[name, ref]
                for name in choice.conditions
                if (name, ref) in row_by_target
            },
            {
                row.model: row.figure.sd if uses_sd else row.figure.rms
                for row in variability_rows
                if row.figure.target == ref
            },
        )
        for ref in results.targets
        if choice.wants(ref) and rows
    ]


def _notes(lines: list[TargetLine], measure: Measure) -> list[str]:
    """Return the notes on the signs, and on models with different respondents."""
    signs = []
    if measure.sides:
        signs = [measure.sign(line, name) for line in lines for name in line.figures]
    notes = [measure.sides] if {"▲", "▼"}.intersection(signs) else []
    if any("–" in line.respondents for line in lines):
        notes.append(
            "the models were asked about different people; the table targets has the n of each"
        )
    return notes + side_notes(signs)


@dataclass(frozen=True, slots=True)
class ConditionEffect:
    """The changes of one condition relative to `qm`, in the means and in each target."""

    condition: Condition
    mean: ModelFigure[ConditionChange]
    targets: Mapping[str, ModelFigure[ConditionChange]]


def changes_by_target(
    results: Results, choice: TableScope, measure: Measure, model: str
) -> Table[ConditionEffect]:
    """Return the table of the conditions' changes in a model.

    It has a column for the means and one for each target.
    """
    model_choice = choice.only(model)
    target_changes = changed_rows(results, model_choice, means=False)
    lines = []
    for mean in changed_rows(results, model_choice, means=True):
        row_by_target = {
            row.figure.target or "": row
            for row in target_changes
            if row.condition == mean.condition
        }
        lines.append(ConditionEffect(mean.condition, mean, row_by_target))
    measure_text, mean_help = "accuracy", "over targets"
    if measure is BIAS:
        measure_text, mean_help = "|bias|", "|bias|: its size, without its sign"
    return Table(
        f"{measure.name}_changes",
        f"{model}: change of {measure.name} relative to qm",
        lines,
        [
            Column("condition", "condition", lambda line: str(line.condition)),
            Column(
                "mean",
                f"mean {measure_text}",
                lambda line: measure.change(line.mean),
                Kind.POINTS,
                scale=SIGNED,
                reference=lambda _: 0.0,
                beside=lambda line: measure.change_sign(line.mean),
                help=mean_help,
            ),
            *(_target(ref, measure) for ref in results.targets if choice.wants(ref)),
            Column(
                "outdated",
                "outdated",
                lambda line: line.mean.n_outdated,
                Kind.COUNT,
                aside=True,
                help="prompts whose text has changed since",
            ),
        ],
        key=lambda line: (str(line.condition),),
        definition=CHANGES,
        notes=[CHANGE_SIDES] if lines else [],
        empty=f"Nothing to compare for {model}. Ask it under qm and another condition: zero-shot, "
        "random, permuted or reduced contexts.",
        link=lambda line: change_link(line.mean),
        detail=lambda line: most_changed(line.mean, target_changes),
        subject=(model,),
    )


def _target(ref: str, measure: Measure) -> Column[ConditionEffect]:
    """Return the column of the changes in one target."""
    return Column(
        ref,
        ref,
        lambda line: measure.change(line.targets.get(ref)),
        Kind.POINTS,
        scale=SIGNED,
        reference=lambda _: 0.0,
        beside=lambda line: measure.change_sign(line.targets.get(ref)),
    )


Row = TypeVar("Row")
SURE = 0.05
"p-value below which a correlation has a direction"


def correlations(results: Results, choice: TableScope) -> Table[Any]:
    """Return the table of correlations of |bias| and accuracy over models (section 5.2)."""
    rows = [
        (condition, row)
        for condition in dict.fromkeys(
            condition
            for own_conditions in choice.conditions.values()
            for condition in own_conditions
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
    """Yield columns on the measure of p(yes), if any model has counted answers.

    Such models have separate correlations.
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
    """Return the direction of a correlation as a sentence, or the reason why it has no test."""
    if row.undefined or row.untested:
        return [row.untested] if row.untested else []
    if not row.p < SURE:
        return ["no relation shown"]
    return [f"the larger the bias, the {'less' if row.r < 0 else 'more'} accurate"]


def _r(row: Correlation) -> Estimate:
    """Return a correlation as an estimate without an interval."""
    return Estimate(row.r, NAN, NAN, row.n, 0, row.undefined)


def _correlation_notes(rows: list[tuple[Condition, Correlation]]) -> list[str]:
    """Return notes on points of few respondents in the correlations over all targets."""
    return [
        f"{condition}: {row.few} of the {plural(row.n, 'point')} rest on fewer than "
        f"{LEAST_RESPONDENTS} respondents: "
        "both coordinates are mostly noise and share it, so r and p say nothing about the models"
        for condition, row in rows
        if row.target is None and row.few
    ]


def points(results: Results, condition: str, of: str = "") -> Table[ModelFigure[TargetFigure]]:
    """Return the table of the points of a correlation: each model's |bias| and accuracy.

    `of` is one target, or empty for all targets.
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
    results: Results, choice: TableScope, model: str, base: str
) -> Table[ModelFigure[TargetDifference]]:
    """Return the table of differences between a model and another one (section 5.1)."""
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


def by_persona(
    results: Results, choice: TableScope
) -> Table[PersonaRow[ModelFigure[TargetDifference]]]:
    """Return the table of the differences between answers with and without a persona."""
    rows = [
        PersonaRow(persona, row)
        for persona in results.personas
        for row in difference_rows(results, choice, persona.name, persona.baseline)
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


def _differences(of: Callable[[Row], ModelFigure[TargetDifference]]) -> list[Column[Row]]:
    """Return the columns of the differences between two runs over the same respondents."""
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
        outdated(lambda row: of(row).n_outdated),
    ]


def _question(row: ModelFigure[TargetDifference]) -> Link | None:
    """Return the link to the figures of a target, or None for a mean over targets."""
    return Link("question", (row.model, row.figure.target)) if row.figure.target else None


def _mark(row: ModelFigure[TargetDifference]) -> str:
    """Return the mark of a row: outdated prompts, few respondents, or flipped biases."""
    if row.n_outdated:
        return OLD
    if row.figure.few:
        return "few"
    return "flipped" if row.figure.flipped else ""


def _difference_notes(base: str, rows: Sequence[ModelFigure[TargetDifference]]) -> Iterator[str]:
    """Yield the numbers of answers that only one of the two models has."""
    for row in rows:
        if row.figure.target is None and any(row.figure.left_out):
            n_base_only, n_model_only = row.figure.left_out
            yield (
                f"{row.model} minus {base} under {row.condition}: left out over all targets, "
                f"{plural(n_base_only, 'answer')} "
                f"only of {base} and {n_model_only:,} only of {row.model}"
            )


def _between_tables_notes(rows: Sequence[ModelFigure[TargetDifference]]) -> list[str]:
    """Return the notes that explain the marks and the intervals of some rows."""
    return [*side_notes([_mark(row) for row in rows]), *_of_no_width(rows)]


def _of_no_width(rows: Sequence[ModelFigure[TargetDifference]]) -> Iterator[str]:
    """Yield a note on intervals without width, if a row is zero-shot."""
    if any(row.condition.name == ZERO_SHOT for row in rows):
        yield (
            "zero-shot shows no answers: two models differ equally for any respondents drawn, so "
            "an interval of the "
            "bias has no width; it says nothing about other wordings or questions"
        )
