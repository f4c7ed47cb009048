"""What changes a bias as tables: other contexts (appendix F.1), words (tables 4 and 6) and models (section 5)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from workbench.audits.questionnaire_conditions import ZERO_SHOT
from workbench.audits.questionnaire_figures import (
    Condition,
    Correlation,
    Difference,
    TargetFigure,
    VariabilityFigure,
    WordingFigure,
    direction,
)
from workbench.audits.questionnaire_results import (
    ABSOLUTE,
    OLD,
    Changed,
    Choice,
    Of,
    Results,
    changed_rows,
    difference_rows,
    each,
    side,
    side_notes,
    target_rows,
    under,
    wording_rows,
)
from workbench.audits.questionnaire_score import correlations as correlated
from workbench.audits.questionnaire_tables import SHARES, SIGNED, all_of, columns, outdated, question, target
from workbench.domain.counting import plural
from workbench.domain.questionnaires import LEAST_RESPONDENTS
from workbench.domain.statements import ORIGINAL
from workbench.domain.verdicts import Estimate
from workbench.figures.table import Column, Kind, Link, Table

CHANGES = "The changes are against qm over the same respondents; their intervals draw these for both at once."
OLD_CHANGE = "outdated counts prompts that show what was changed since; a change between old and new ones is no effect"
NAN = float("nan")


# ── other contexts ──────────────────────────────────────────────────────────────────────────────────────────────────


def conditions(results: Results, choice: Choice) -> Table[Any]:
    """Return what each condition changes in the means over targets."""
    rows = changed_rows(results, choice, means=True)
    return Table(
        "conditions",
        "Conditions, and what they change against qm: means over targets",
        rows,
        [
            columns(rows)[0],
            Column("condition", "condition", lambda row: str(row.condition)),
            Column("bias", "mean |bias|", lambda row: row.figure.bias, Kind.SIZE, scale=SHARES),
            Column("change", "change of |bias|", lambda row: row.figure.change, Kind.POINTS, scale=SIGNED),
            *_accuracy(),
            Column(
                "respondents", "fewest n", lambda row: row.figure.respondents, Kind.COUNT, aside=True,
                help="respondents of the target that has fewest",
            ),
            Column("mark", "", _change_mark, help="few respondents, or outdated prompts"),
            outdated(),
        ],
        key=lambda row: (row.model, str(row.condition)),
        definition=f"{CHANGES} {ABSOLUTE}",
        notes=_change_notes(rows),
        empty=_nothing_to_compare(results, choice),
        link=change_link,
    )  # fmt: skip


def change_link(row: Of[Changed]) -> Link:
    """Return what a mean was made of: the changes of each target, of qm its figures."""
    return Link("targets_of" if row.figure.change is None else "changes_of", (row.model, str(row.condition)))


def changes(results: Results, choice: Choice, *, name: str = "changes", subject: tuple[str, ...] = ()) -> Table[Any]:
    """Return what each condition changes in every target."""
    rows = changed_rows(results, choice, means=False)
    return Table(
        name,
        f"Targets, and what conditions change against qm{all_of(rows)}",
        rows,
        [
            columns(rows)[0],
            Column("condition", "condition", lambda row: str(row.condition)),
            target(),
            Column("respondents", "n", lambda row: row.figure.respondents, Kind.COUNT, help="respondents"),
            Column("bias", "bias", lambda row: row.figure.bias, Kind.POINTS, scale=SIGNED, aside=True),
            Column("change", "change of bias", lambda row: row.figure.change, Kind.POINTS, scale=SIGNED),
            Column(
                "side", "side", lambda row: _change_side(row, row.figure.change), help="where the interval of the "
                "change of the bias leaves out 0",
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
    )  # fmt: skip


def _accuracy() -> list[Column[Of[Changed]]]:
    return [
        Column("accuracy", "accuracy", lambda row: row.figure.accuracy, Kind.SHARE, scale=SHARES, aside=True),
        Column(
            "accuracy_change", "change of accuracy", lambda row: row.figure.accuracy_change, Kind.POINTS, scale=SIGNED
        ),
        Column(
            "accuracy_side", "side of accuracy", lambda row: _change_side(row, row.figure.accuracy_change), aside=True,
            help="where the interval of the change of the accuracy leaves out 0",
        ),
    ]  # fmt: skip


def _change_side(row: Of[Changed], change: Estimate | None) -> str:
    return "" if change is None or not change.defined else change_side(row, change, "above 0", "below 0")


def change_side(row: Of[Changed], change: Estimate, above: str, below: str) -> str:
    """Say to which side of 0 the interval of a change lies, or why that is not said."""
    way = "few" if row.figure.few else direction(change.low, change.high, LEAST_RESPONDENTS)
    return side(way, row.old, above, below)


def _change_mark(row: Of[Changed]) -> str:
    return OLD if row.old else "few" if row.figure.few else ""


def _change_notes(rows: list[Of[Changed]]) -> list[str]:
    return side_notes([_change_mark(row) for row in rows]) + [OLD_CHANGE] * any(row.old for row in rows)


def _nothing_to_compare(results: Results, choice: Choice) -> str:
    there = ", ".join(dict.fromkeys(str(condition) for _, _, condition in each(results, choice.compared)))
    return f"There is nothing to compare; qm and another condition are needed, and there is: {there or 'none'}."


# ── other words ─────────────────────────────────────────────────────────────────────────────────────────────────────


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
            Column("respondents", "n", lambda row: _people(row.figure), Kind.COUNT, help="asked in all wordings"),
            Column("k", "K", lambda row: row.figure.k, Kind.COUNT, help="wordings that count: paraphrases"),
            Column(
                "void", "void", lambda row: row.figure.void, Kind.COUNT, aside=True,
                help="wordings that read like the original",
            ),
            *(column for place, kind in enumerate(kinds) for column in _spread(kind, aside=place > 0)),
            Column("original", "original", _original, Kind.POINTS, help="bias in the original wording", aside=True),
            Column("lowest", "lowest", lambda row: min(_others(row.figure), default=NAN), Kind.POINTS, aside=True),
            Column("highest", "highest", lambda row: max(_others(row.figure), default=NAN), Kind.POINTS, aside=True),
            outdated(),
            question(results),
        ],
        key=lambda row: (row.model, str(row.condition), row.figure.target),
        definition="sd: standard deviation of the bias over the K paraphrases; rms: root mean square of the bias, as "
        "printed. Both are over the n people who were asked in all wordings. Noise only adds to them, so they have no "
        "interval. Original, lowest and highest are biases over the same n.",
        notes=[OLD_CHANGE.split(";")[0]] * any(row.old for row in rows),
        empty="Only the original was asked; paraphrases are needed for the variability of the bias.",
        link=lambda row: Link("wordings_of", (row.model, str(row.condition), row.figure.target)),
    )  # fmt: skip


def _spread(kind: str, *, aside: bool) -> Iterator[Column[Of[VariabilityFigure]]]:
    """Yield the columns of a deviation: what it is, what noise gives, what is left."""
    noise = f"{kind}_noise"
    yield Column(kind, kind, lambda row: getattr(row.figure, kind), Kind.SIZE, scale=SHARES, aside=aside)
    yield Column(
        noise, "noise alone", lambda row: getattr(row.figure, noise).alone, Kind.SIZE, aside=aside,
        help=f"the {kind} that noise gives where the wordings do not differ",
    )  # fmt: skip
    yield Column(
        f"{kind}_without", "without noise", lambda row: getattr(row.figure, noise).without, Kind.SIZE, aside=aside,
        help=f"what is left of the {kind} without the noise",
    )  # fmt: skip


def _people(figure: VariabilityFigure) -> int:
    return max((one.respondents for one in figure.wordings), default=0)


def _original(row: Of[VariabilityFigure]) -> float:
    return next((one.bias for one in row.figure.wordings if one.wording == ORIGINAL), NAN)


def _others(figure: VariabilityFigure) -> list[float]:
    return [one.bias for one in figure.wordings if one.wording != ORIGINAL and not math.isnan(one.bias)]


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
                "variability", f"mean {kind}", lambda row: row.figure.mean_variability(row.condition), Kind.SIZE,
                help="over the targets that people answered; no interval is computed",
            ),
            outdated(),
        ],
        key=lambda row: (row.model, str(row.condition)),
        empty="Only the original was asked; paraphrases are needed for the variability of the bias.",
    )  # fmt: skip


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
            Column("condition", "condition", lambda row: str(row[0].condition), aside=held[1].aside),
            Column("target", "target", lambda row: row[0].figure.target),
            Column("wording", "wording", lambda row: str(row[1].wording)),
            Column(
                "bias", "bias", lambda row: row[1].bias, Kind.POINTS, scale=SIGNED,
                reference=lambda row: _original(row[0]),
            ),
            Column("respondents", "n", lambda row: row[1].respondents, Kind.COUNT, help="asked in all wordings"),
            Column("void", "", lambda row: row[1].void, Kind.MARK, mark="void", help="it reads like the original"),
        ],
        key=lambda row: _wording_key(*row),
        empty="Only the original was asked.",
        link=lambda row: Link("respondents_of", _wording_key(*row)),
        subject=subject,
    )  # fmt: skip


def _wording_key(of: Of[VariabilityFigure], wording: WordingFigure) -> tuple[str, ...]:
    return of.model, of.figure.target, str(of.condition), str(wording.wording)


# ── other models ────────────────────────────────────────────────────────────────────────────────────────────────────


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
            Column("r", "r", lambda row: _r(row[1]), Kind.COEFFICIENT, scale=SIGNED, reference=lambda _: 0.0),
            Column("t", "t", lambda row: NAN if row[1].undefined else row[1].t, Kind.COEFFICIENT),
            Column("df", "df", lambda row: row[1].df, Kind.COUNT, help="degrees of freedom"),
            Column("p", "p", lambda row: row[1].p, Kind.P_VALUE, help="two-sided"),
            Column("n", "points", lambda row: row[1].n, Kind.COUNT, help="a point is a target of a model"),
            Column(
                "few", "points of few", lambda row: row[1].few, Kind.COUNT, aside=True,
                help=f"points that rest on fewer than {LEAST_RESPONDENTS} respondents",
            ),
            Column("untested", "why no test", lambda row: row[1].untested, aside=True),
            Column("question", "question", lambda row: results.texts.get(row[1].target or "", ""), aside=True),
        ],
        key=lambda row: (str(row[0]), row[1].target or "all"),
        definition="p takes the points for independent, as published, although those of a model belong together.",
        notes=_correlation_notes(rows),
        empty="No model was asked under these conditions.",
        link=lambda row: Link("points", (str(row[0]), *filter(None, [row[1].target]))),
    )  # fmt: skip


def _r(row: Correlation) -> Estimate:
    return Estimate(row.r, NAN, NAN, row.n, 0, row.undefined)


def _correlation_notes(rows: list[tuple[Condition, Correlation]]) -> list[str]:
    """Say of the correlations over all targets that most of their points are noise."""
    return [
        f"{condition}: {row.few} of the {plural(row.n, 'point')} rest on fewer than {LEAST_RESPONDENTS} respondents: "
        "both coordinates are mostly noise and share it, so r and p say nothing of the models"
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
            Column("absolute_bias", "|bias|", lambda row: abs(row.figure.bias.value), Kind.SIZE, scale=SHARES),
            Column("accuracy", "accuracy", lambda row: row.figure.accuracy, Kind.SHARE, scale=SHARES),
            Column("respondents", "n", lambda row: row.figure.bias.n, Kind.COUNT, help="respondents"),
        ],
        key=lambda row: (row.model, row.figure.target),
        link=lambda row: Link("question", (row.model, row.figure.target)),
        subject=(condition, of) if of else (condition,),
    )


def against(results: Results, choice: Choice) -> Table[Any]:
    """Return how other models differ from bases, such as tuned models from theirs (section 5.1)."""
    rows = list(difference_rows(results, choice))
    return Table(
        "against",
        f"Differences to {', '.join(choice.bases)}",
        rows,
        [
            Column("model", "model", lambda row: row[1].model),
            Column("base", "minus", lambda row: row[0]),
            Column("condition", "condition", lambda row: str(row[1].condition)),
            Column("target", "target", lambda row: row[1].figure.target or "mean, of |bias|"),
            Column(
                "respondents", "n", lambda row: row[1].figure.respondents, Kind.COUNT,
                help="respondents who could be read on both sides; of a mean the fewest of one of its targets",
            ),
            Column("bias", "bias", lambda row: row[1].figure.bias, Kind.POINTS, scale=SIGNED),
            Column("accuracy", "accuracy", lambda row: row[1].figure.accuracy, Kind.POINTS, scale=SIGNED),
            Column(
                "mark", "", lambda row: _mark(row[1]),
                help="flipped: the intervals of the two biases lie on different sides of 0",
            ),
            Column("left_out_first", "left out, base", lambda row: row[1].figure.left_out[0], Kind.COUNT, aside=True),
            Column("left_out_second", "left out, model", lambda row: row[1].figure.left_out[1], Kind.COUNT, aside=True),
            outdated(lambda row: row[1].old),
        ],
        key=lambda row: (row[1].model, row[0], str(row[1].condition), row[1].figure.target or ""),
        definition=f"Over the same respondents, who are drawn for both models at once. {ABSOLUTE}",
        notes=list(_difference_notes(results, choice, rows)),
        empty="No other model was asked under a condition of these.",
        link=lambda row: Link("question", (row[1].model, row[1].figure.target)) if row[1].figure.target else None,
    )  # fmt: skip


def _mark(row: Of[Difference]) -> str:
    return OLD if row.old else "few" if row.figure.few else "flipped" if row.figure.flipped else ""


def _difference_notes(results: Results, choice: Choice, rows: list[tuple[str, Of[Difference]]]) -> Iterator[str]:
    for base, row in rows:
        if row.figure.target is None and any(row.figure.left_out):
            first, second = row.figure.left_out
            yield (
                f"{row.model} minus {base} under {row.condition}: left out over all targets, {plural(first, 'answer')} "
                f"of {base} alone and {second:,} of {row.model} alone"
            )
    for base in choice.bases:
        for name, _, condition in each(results, choice.conditions):
            if name not in choice.bases and condition not in results.reports[base].conditions:
                yield f"{name} minus {base}: {base} was not asked under {condition}"
    yield from side_notes([_mark(row) for _, row in rows])
    if any(row.condition.name == ZERO_SHOT for _, row in rows):
        yield (
            "zero-shot shows nobody's answers: two models differ by the same whoever is drawn, so an interval of the "
            "bias has no width; it says nothing of other wordings or questions"
        )
