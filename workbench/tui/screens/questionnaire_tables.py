"""The tables of the questionnaire screen: which columns and rows each view has at a width; pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from workbench.domain.verdicts import Estimate
from workbench.tui.format import literal, percent, visible
from workbench.tui.screens.questionnaire_format import (
    FEW,
    NONE,
    OLD,
    difference_cell,
    error,
    figure_cell,
    marked_old,
    points,
    ratio_cell,
    share_cell,
    side_of_people,
    signed_cell,
)
from workbench.tui.screens.questionnaire_overall import (
    axis_columns,
    axis_records,
    correlation_columns,
    correlation_record,
    named,
)
from workbench.tui.screens.questionnaire_view import AVERAGE, AXIS, Loaded, Look, Shown, old_prompts
from workbench.tui.widgets.record_table import Column, Record

if TYPE_CHECKING:
    from workbench.audits.questionnaire_figures import (
        Ablation,
        ConditionFigures,
        Difference,
        TargetFigure,
        VariabilityFigure,
    )

CELL, DIFFERENCE, PEOPLE, COUNT = 16, 25, 9, 6
"columns of `+12.3 ±3.7 ▲`, of `+3.4 [-1.2, +8.0] ▲`, of what the people said, and of how many they are"
LEAST_NAME = 13
CONDITION, CHANGE, WIDE_CHANGE = 19, 7, 14


def view_columns(shown: Shown, loaded: Loaded | None, width: int) -> tuple[Column, ...]:
    """Return the columns of a view for a width."""
    models, view = (loaded.models if loaded else ()), shown.look.view
    if view == "ablation":
        return _ablation_columns(shown, width)
    if view == "correlation":
        return correlation_columns(width)
    return axis_columns(shown, width) if view == "axis" else _question_columns(shown, models, width)


def view_records(shown: Shown, loaded: Loaded, width: int) -> list[Record]:
    """Return the rows of a view for a width; their keys are refs, conditions or models."""
    view = shown.look.view
    if view == "ablation":
        return _ablation_records(shown, loaded, width)
    if view == "correlation":
        return [correlation_record(found, loaded.texts, width) for found in shown.correlations]
    if view == "axis":
        return axis_records(shown, loaded.models, width)
    return _question_records(shown, loaded, width)


# ── questions x models ──────────────────────────────────────────────────────────────────────────────────────────────


def ordered(look: Look, models: Sequence[str]) -> tuple[str, ...]:
    """Return the models as their columns stand: two that are compared come first."""
    first = look.marked if len(look.marked) == 2 else ()
    return (*first, *(model for model in models if model not in first))


def window(look: Look, models: Sequence[str], width: int) -> tuple[int, int]:
    """Return first and last (excluded) of the models that have a column; the chosen one is among them.

    Examples
    --------
    >>> window(Look(model="d"), "abcdef", 80)
    (1, 4)
    """
    people = PEOPLE + 1 + COUNT if width >= _people_from(look) else 0
    room = width - LEAST_NAME - people - (DIFFERENCE if _compares(look) else 0)
    fit = min(len(models), max(1, room // CELL))
    at = models.index(look.model) if look.model in models else 0
    first = max(0, min(at - fit + 1, len(models) - fit))
    return first, first + fit


def head(name: str, look: Look, width: int) -> str:
    """Return a model's heading: ▸ is the chosen one, A and B those that are compared."""
    mark = "▸" if name == look.model else " "
    letter = f"{'AB'[look.marked.index(name)]} " if name in look.marked else ""
    room, shown = width - 2 - len(letter), visible(name)
    if len(shown) > room:  # names of models often differ in their end alone: base and tuned
        shown = f"{shown[: room // 2]}…{shown[len(shown) - (room - room // 2 - 1) :]}"
    return f"{mark}{letter}{shown}"


def _question_columns(shown: Shown, models: Sequence[str], width: int) -> tuple[Column, ...]:
    look, models = shown.look, ordered(shown.look, models)
    first, last = window(look, models, width)
    cell = _cell(shown, last - first, width)
    whose = "▸ " if len(models) > 1 else "  "  # models may be asked about other people
    people = whose + ("majority" if look.measure == "accuracy" else "people")
    columns = [Column("target", "question", None), Column("people", people, PEOPLE + 1, least=_people_from(look))]
    columns.append(Column("n", f"  {whose}n", COUNT, least=_people_from(look)))
    columns += [Column(f"model-{n}", head(models[n], look, cell), cell) for n in range(first, last)]
    if _compares(look):
        columns.append(Column("difference", "  B − A", DIFFERENCE))
    return tuple(columns)


def _cell(shown: Shown, models: int, width: int) -> int:
    """Return the width of a model's column: as wide as names need, where there is room."""
    free = width - 41 - PEOPLE - COUNT - (DIFFERENCE if _compares(shown.look) else 0)
    return max(CELL, min(26, free // max(1, models)))


def _people_from(look: Look) -> int:
    """Return from which width on it says what the people answered: a narrow comparison needs the room."""
    return 100 if _compares(look) else 0


def _compares(look: Look) -> bool:
    return len(look.marked) == 2 and look.measure in ("bias", "accuracy")


def _question_records(shown: Shown, loaded: Loaded, width: int) -> list[Record]:
    look, models = shown.look, ordered(shown.look, loaded.models)
    first, last = window(look, models, width)
    names, refs = models[first:last], _targets(shown)
    if look.by_size:
        refs = tuple(sorted(refs, key=lambda ref: -_size(shown, ref)))
    columns = _question_columns(shown, models, width)
    room = max(8, width - 1 - sum(column.width or 0 for column in columns if width >= column.least))
    rows = [_question_record(ref, shown, loaded, names, room) for ref in refs]
    if look.measure in ("bias", "accuracy", "yes:no"):
        rows.append(_average_record(shown, names))
    if look.measure == "bias":
        cells = [
            marked_old(_axis_cell(shown.figures.get(model)), old_prompts(loaded, model, look.condition))
            for model in names
        ]
        ends = [Text("")] if _compares(look) else []
        rows.append((AXIS, (Text("axis, + conserv.", style="italic"), Text(""), Text(""), *cells, *ends)))
    return rows


def _targets(shown: Shown) -> tuple[str, ...]:
    return tuple(dict.fromkeys(figure.target for found in shown.figures.values() for figure in found.targets))


def _size(shown: Shown, ref: str) -> float:
    """Return how large the chosen model's figure is; what has none comes last."""
    look = shown.look
    figure = figure_of(shown.figures.get(look.model), ref)
    spread = spread_of(shown.variability.get(look.model, ()), ref)
    if figure is None:
        return -math.inf
    varies = math.nan if spread is None else (spread.rms if look.rms else spread.sd).value
    share = figure.yes / max(1, figure.yes + figure.no)
    values = {"accuracy": figure.accuracy.value, "variability": varies, "yes:no": share, "without": figure.without}
    size = abs(values.get(look.measure, figure.bias.value))
    return -math.inf if math.isnan(size) else size


def figure_of(found: ConditionFigures | None, target: str | None) -> TargetFigure | None:
    """Return one question's figures; None where there is none."""
    return next((figure for figure in found.targets if figure.target == target), None) if found else None


def spread_of(found: Sequence[VariabilityFigure], target: str | None) -> VariabilityFigure | None:
    return next((figure for figure in found if figure.target == target), None)


def _question_record(ref: str, shown: Shown, loaded: Loaded, models: Sequence[str], room: int) -> Record:
    look = shown.look
    figures = {model: figure_of(shown.figures.get(model), ref) for model in models}
    cells = [figure_cell(figures[model], spread_of(shown.variability.get(model, ()), ref), look) for model in models]
    if look.measure in ("bias", "accuracy"):
        old = (old_prompts(loaded, model, look.condition, ref) for model in models)
        cells = [marked_old(cell, n) for cell, n in zip(cells, old, strict=True)]
    chosen = figure_of(shown.figures.get(look.model), ref)
    words = loaded.texts.get(ref) or loaded.topics.get(ref, "")
    name = named(ref, words, room)
    difference = [_difference_cell(shown, shown.difference(ref))] if _compares(look) else []
    count = _count_cell(chosen, spread_of(shown.variability.get(look.model, ()), ref), look)
    return ref, (name, _people_cell(chosen, look), count, *cells, *difference)


def _people_cell(figure: TargetFigure | None, look: Look) -> Text:
    if figure is None or math.isnan(figure.human):
        return Text(f"{NONE:>8}", style="dim")
    if look.measure == "yes:no":
        yes = round(figure.human * figure.respondents)
        return Text(f"{f'{yes}:{figure.respondents - yes}':>8}", style="dim", no_wrap=True)
    if look.measure == "accuracy":
        return Text(f"{percent(figure.majority):>8}", style="dim", no_wrap=True)
    return Text(f"{percent(figure.human)} yes".rjust(8), style="dim", no_wrap=True)


def _count_cell(figure: TargetFigure | None, spread: VariabilityFigure | None, look: Look) -> Text:
    """Return over how many respondents the chosen model's figure is."""
    if look.measure == "variability":
        n = max((one.respondents for one in spread.wordings), default=0) if spread else None
    else:
        n = None if figure is None else figure.bias.n if look.measure == "bias" else figure.respondents
    return Text(f"{NONE if n is None else f'{n:,}':>5}", style="dim", no_wrap=True)


def _difference_cell(shown: Shown, found: Difference | None) -> Text:
    look = shown.look
    if found is None:
        return Text(f"{NONE:>6}", style="dim")
    cell = difference_cell(found.accuracy if look.measure == "accuracy" else found.bias, found.respondents)
    return cell.append("⇄") if found.flipped and look.measure == "bias" else cell


def _average_record(shown: Shown, models: Sequence[str]) -> Record:
    look = shown.look
    found = [shown.figures.get(model) for model in models]
    some = shown.figures.get(look.model)
    name, people = {"bias": ("average |bias|", ""), "accuracy": ("average", ""), "yes:no": ("all questions", "")}[
        look.measure
    ]
    if look.measure == "accuracy" and some is not None and not math.isnan(some.majority):
        people = f"{percent(some.majority):>8}"
    cells = [_average_cell(one, look) for one in found]
    difference = [_difference_cell(shown, shown.difference(None))] if _compares(look) else []
    return AVERAGE, (Text(name, style="italic"), Text(people, style="dim"), Text(""), *cells, *difference)


def _average_cell(found: ConditionFigures | None, look: Look) -> Text:
    if found is None:
        return Text(f"{NONE:>6}", style="dim")
    if look.measure == "yes:no":
        return ratio_cell(found.yes, found.no, found.unreadable)
    if look.measure == "accuracy":
        return share_cell(found.accuracy, found.accuracy.se, found.majority, found.accuracy.respondents)
    value = found.absolute_bias
    if math.isnan(value.value):
        return Text("undefined ", style="dim italic")
    mark = FEW if value.few else ""
    return Text.assemble(
        (f"{points(value.value, sign=False):>6}", "bold"), (f" {error(value.se):<5}", "dim"), f" {mark}", no_wrap=True
    )


def _axis_cell(found: ConditionFigures | None) -> Text:
    if found is None or math.isnan(found.axis.value):
        return Text(f"{NONE:>6}", style="dim")
    return signed_cell(found.axis, found.axis.se, found.axis.respondents)


# ── what the conditions change ──────────────────────────────────────────────────────────────────────────────────────


def condition_words(name: str) -> str:
    """Return a condition as a table says it: `reduced 25 kept`."""
    return name if name in ("qm", "zero-shot") else name.replace("-", " ")


def ablation_targets(shown: Shown, width: int) -> tuple[str, ...]:
    """Return the questions that have a column of their own at a width."""
    return all_targets(shown)[: max(0, (width - CONDITION - 1) // _change(shown, width) - 1)]


def all_targets(shown: Shown) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.target for one in shown.ablations if one.target is not None))


def _change(shown: Shown, width: int) -> int:
    """Return the width of a cell: the figure stands before its change where all questions have room for both."""
    return WIDE_CHANGE if CONDITION + WIDE_CHANGE * (1 + len(all_targets(shown))) < width else CHANGE


def _ablation_columns(shown: Shown, width: int) -> tuple[Column, ...]:
    cell = _change(shown, width)
    refs = ablation_targets(shown, width)
    names = _short(refs, cell - 1)
    heads = (Column(f"target-{n}", f" {name}", cell) for n, name in enumerate(names))
    average = "Δ|bias|" if shown.look.measure == "bias" else "Δ mean"
    return (Column("condition", "condition", CONDITION), Column("average", average, cell), *heads)


def _short(refs: Sequence[str], width: int) -> list[str]:
    """Return refs in so many characters: without what they all begin with, cut at the end that they have in common.

    Examples
    --------
    >>> _short(["att-effort", "att-freedom"], 6), _short(["question-01", "question-02"], 6)
    (['effort', 'freed…'], ['01', '02'])
    >>> _short(["education-1", "education-2", "tax"], 6)
    ['…ion-1', '…ion-2', 'tax']
    """
    beginnings = {ref.rpartition("-")[0] for ref in refs}
    shared = f"{beginnings.pop()}-" if len(beginnings) == 1 else ""
    names = [visible(ref.removeprefix(shared)) for ref in refs]
    heads = [name if len(name) <= width else f"{name[: width - 1]}…" for name in names]
    if len(set(heads)) == len(heads):
        return heads
    return [name if len(name) <= width else f"…{name[1 - width :]}" for name in names]


def _ablation_records(shown: Shown, loaded: Loaded, width: int) -> list[Record]:
    refs, wide = ablation_targets(shown, width), _change(shown, width) == WIDE_CHANGE
    held: dict[str, dict[str | None, Ablation]] = {}
    for one in shown.ablations:
        held.setdefault(str(one.condition), {})[one.target] = one
    rows = [_base_record(shown, refs)] if held else []
    for condition, found in held.items():
        cells = (_ablation_cell(found.get(ref), shown.look, wide=wide) for ref in (None, *refs))
        old = f" {OLD}" if old_prompts(loaded, shown.look.model, condition) else ""
        rows.append((condition, (literal(condition_words(condition) + old, CONDITION - 1), *cells)))
    return rows


def _base_record(shown: Shown, refs: Sequence[str]) -> Record:
    """Return the row that the others are compared with."""
    found, accuracy = next(iter(shown.figures.values())), shown.look.measure == "accuracy"
    mean = found.accuracy if accuracy else found.absolute_bias
    figures = [figure_of(found, ref) for ref in refs]
    cells = [_plain(figure.accuracy if accuracy else figure.bias, accuracy=accuracy) for figure in figures if figure]
    average = Text(f"{points(mean.value, sign=False):>6}", style="bold")
    return str(found.condition), (Text(str(found.condition), style="bold"), average, *cells)


def _plain(value: Estimate, *, accuracy: bool) -> Text:
    mark = "" if accuracy else side_of_people(value)
    return Text(f"{points(value.value, sign=not accuracy):>6}{mark}", style="bold", no_wrap=True)


def _ablation_cell(found: Ablation | None, look: Look, *, wide: bool) -> Text:
    """Return the change against qm; where there is room, behind the figure itself."""
    if found is None:
        return Text(f"{NONE:>6}", style="dim")
    accuracy = look.measure == "accuracy"
    value, change = (found.accuracy, found.accuracy_change) if accuracy else (found.bias, found.change)
    mark = side_of_people(change, people=found.respondents)
    changed = Text(f"{points(change.value):>6}{mark}", no_wrap=True)
    if not wide:
        return changed
    plain = points(value.value, sign=not accuracy and found.target is not None)
    return Text.assemble((f"{plain:>6}", "dim"), " ", changed, no_wrap=True)
