"""What changes a bias as tables: other contexts (appendix F.1) and other words (tables 4 and 6)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from workbench.audits.questionnaire.figures import (
    VariabilityFigure,
    WordingFigure,
    direction,
)
from workbench.audits.questionnaire.results import (
    ABSOLUTE,
    OLD,
    Changed,
    Choice,
    Of,
    Results,
    changed_rows,
    each,
    side,
    side_notes,
    wording_rows,
)
from workbench.audits.questionnaire.tables import SHARES, SIGNED, all_of, columns, outdated, question, target
from workbench.domain.questionnaires import LEAST_RESPONDENTS
from workbench.domain.statements import ORIGINAL
from workbench.domain.verdicts import Estimate
from workbench.figures.pictures.of_table import Forest
from workbench.figures.table import Column, Kind, Link, Table

CHANGES = "Changes are relative to qm over the same respondents; their intervals draw respondents for both together."
OLD_CHANGE = (
    "outdated counts prompts whose text has changed since; a difference between old and new prompts is no effect"
)
NAN = float("nan")


# ── other contexts ──────────────────────────────────────────────────────────────────────────────────────────────────


def conditions(results: Results, choice: Choice) -> Table[Any]:
    """Return what each condition changes in the means over targets."""
    rows, every = changed_rows(results, choice, means=True), changed_rows(results, choice, means=False)
    return Table(
        "conditions",
        "Conditions and their changes relative to qm: means over targets",
        rows,
        [
            columns(rows)[0],
            Column("condition", "condition", lambda row: str(row.condition)),
            Column("bias", "mean |bias|", lambda row: row.figure.bias, Kind.SIZE, scale=SHARES,
                   help="mean size of the biases of the targets, without their signs"),
            Column("change", "change of |bias|", lambda row: row.figure.change, Kind.POINTS, scale=SIGNED),
            *_accuracy(),
            Column(
                "respondents", "fewest n", lambda row: row.figure.respondents, Kind.COUNT, aside=True,
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
    )  # fmt: skip


def most_changed(mean: Of[Changed], targets: Sequence[Of[Changed]]) -> list[str]:
    """Say on which targets a condition changes the bias beyond the interval; of qm what it is."""
    if mean.figure.change is None:
        return ["qm: the person's answers to the context questions, in their order"]
    if not mean.figure.change.defined:
        return []
    same = [one for one in targets if (one.model, one.condition) == (mean.model, mean.condition)]
    named = [one.figure.target or "" for one in same if _change_side(one, one.figure.change) in ("above 0", "below 0")]
    if not named:
        return ["the bias of no target changes beyond its interval"]
    return [f"the bias changes beyond its interval on {', '.join(named)}"]


def change_link(row: Of[Changed]) -> Link:
    """Return what a mean was made of: the changes of each target, of qm its figures."""
    return Link("targets_of" if row.figure.change is None else "changes_of", (row.model, str(row.condition)))


def changes(results: Results, choice: Choice, *, name: str = "changes", subject: tuple[str, ...] = ()) -> Table[Any]:
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
            Column("respondents", "n", lambda row: row.figure.respondents, Kind.COUNT, help="respondents"),
            Column("bias", "bias", lambda row: row.figure.bias, Kind.POINTS, scale=SIGNED, aside=True),
            Column("change", "change of bias", lambda row: row.figure.change, Kind.POINTS, scale=SIGNED),
            Column(
                "side", "side", lambda row: _change_side(row, row.figure.change), help="if the interval of the "
                "change of the bias excludes 0",
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
            help="if the interval of the change of the accuracy excludes 0",
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
    return f"Nothing to compare: the table needs qm and another condition. Available: {there or 'none'}."


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
                help="wordings identical to the original",
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
        empty="Only the original was asked; the variability of the bias needs paraphrases.",
        link=lambda row: Link("wordings_of", (row.model, str(row.condition), row.figure.target)),
        pictures=[
            Forest(
                values=[kinds[0], f"{kinds[0]}_noise"], rows=["target", "model", "condition"],
                axis="variability of the bias",
            )
        ],
    )  # fmt: skip


def _spread(kind: str, *, aside: bool) -> Iterator[Column[Of[VariabilityFigure]]]:
    """Yield the columns of a deviation: what it is, what noise gives, what is left."""
    noise = f"{kind}_noise"
    yield Column(kind, kind, lambda row: getattr(row.figure, kind), Kind.SIZE, scale=SHARES, aside=aside)
    yield Column(
        noise, f"{kind} by noise", lambda row: getattr(row.figure, noise).alone, Kind.SIZE, aside=aside,
        help=f"the {kind} that noise alone gives if the wordings do not differ",
    )  # fmt: skip
    yield Column(
        f"{kind}_without", f"{kind} without noise", lambda row: getattr(row.figure, noise).without, Kind.SIZE,
        aside=aside,
        help=f"the {kind} without the noise",
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
                help="over the targets that people answered; without an interval",
            ),
            outdated(),
        ],
        key=lambda row: (row.model, str(row.condition)),
        empty="Only the original was asked; the variability of the bias needs paraphrases.",
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
            Column("void", "", lambda row: row[1].void, Kind.MARK, mark="void", help="it is identical to the original"),
        ],
        key=lambda row: _wording_key(*row),
        empty="Only the original was asked.",
        link=lambda row: Link("respondents_of", _wording_key(*row)),
        subject=subject,
    )  # fmt: skip


def _wording_key(of: Of[VariabilityFigure], wording: WordingFigure) -> tuple[str, ...]:
    return of.model, of.figure.target, str(of.condition), str(wording.wording)
