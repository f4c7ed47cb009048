"""The matrix of response biases: which columns and rows it has at a width; pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from workbench.tui.format import percent, visible
from workbench.tui.screens.response_bias_format import (
    CONDITION_NAMES,
    NONE,
    cell_text,
    place_name,
    share,
    signed,
    stars,
)
from workbench.tui.screens.response_bias_view import (
    LIKENESS,
    PEOPLE,
    SCORE,
    SIGNED,
    VALID,
    Loaded,
    Look,
    Place,
    Shown,
    cell_of,
    place_key,
    places,
)
from workbench.tui.widgets.record_table import Column, Record
from workbench.tui.widgets.whisker import whisker

if TYPE_CHECKING:
    from workbench.audits.response_bias_compare import Row
    from workbench.audits.response_bias_figures import Cell, Report

NAME, CELL, NARROW, WIDEST, DIFFERENCE = 16, 20, 18, 26, 27
"columns of a bias's name, of `+24.9 *** human-like`, of the same beside a difference, of `-84.4 [-90.1, -78.7] ***`"
PICTURE, WIDEST_PICTURE = 31, 61
"columns of a picture of the chosen subject's changes, where there is room for one"
TICKED_FROM = 23
"columns of a cell that has room for ✓ behind its word"
AS_PUBLISHED = "score as published (sign)"
"what the score is called that goes by the definition's own sign"
ROOMY = 36
"lines of a terminal from which perturbations have rows of their own"


@dataclass(frozen=True, slots=True)
class Layout:
    """What has a column at a width, and how wide they are."""

    names: tuple[str, ...]
    "subjects that have a column"
    label: int
    "of the biases' names"
    cell: int
    picture: int
    "0: there is no room for it"
    compares: bool

    @property
    def short(self) -> bool:
        """Whether cells have room for short words alone."""
        return self.cell < CELL

    @property
    def ticks(self) -> bool:
        """Whether cells have room for ✓ behind their word."""
        return self.cell >= TICKED_FROM


def layout(look: Look, loaded: Loaded, width: int) -> Layout:
    """Return what a width has room for: names, as many subjects as fit, their difference, then a picture."""
    names = ordered(look, loaded.subjects)
    first, last = window(look, names, width)
    compares = len(look.marked) == 2
    beside = DIFFERENCE if compares else 0
    room = width - 1 - beside
    cell = max(NARROW if compares else CELL, min(WIDEST, (room - NAME) // max(1, last - first)))
    room -= cell * (last - first)
    said = [place_name(place) for place in places(loaded) if place[1] is None] + [AS_PUBLISHED] * signs_differ(loaded)
    label = min(room, max([NAME, *(len(name) + 2 for name in said)]))
    free = min(WIDEST_PICTURE, room - label)
    return Layout(names[first:last], label, cell, free - 1 + free % 2 if free >= PICTURE else 0, compares)


def matrix_columns(shown: Shown, loaded: Loaded | None, width: int) -> tuple[Column, ...]:
    """Return the columns for a width: biases, subjects, the difference of two, a picture of the chosen one."""
    if loaded is None:
        return (Column("bias", "bias", None),)
    of = layout(shown.look, loaded, width)
    columns = [Column("bias", "bias", of.label)]
    columns += [Column(f"subject-{n}", head(name, shown.look, of.cell), of.cell) for n, name in enumerate(of.names)]
    if of.compares:
        columns.append(Column("difference", "  B − A", DIFFERENCE))
    if of.picture:
        columns.append(Column("picture", scale_line(of.picture, _reach(loaded, shown.look.subject)), of.picture))
    return tuple(columns)


def ordered(look: Look, names: Sequence[str]) -> tuple[str, ...]:
    """Return the subjects as their columns stand: two that are compared come first."""
    first = look.marked if len(look.marked) == 2 else ()
    return (*first, *(name for name in names if name not in first))


def window(look: Look, names: Sequence[str], width: int) -> tuple[int, int]:
    """Return first and last (excluded) of the subjects that have a column; the chosen one is among them.

    Examples
    --------
    >>> window(Look(subject="d"), "abcdef", 80)
    (1, 4)
    >>> window(Look(subject="d", marked=("a", "b")), "abcdef", 80)
    (2, 4)
    """
    compares = len(look.marked) == 2
    room = width - NAME - (DIFFERENCE if compares else 0)
    fit = min(len(names), max(1, room // (NARROW if compares else CELL)))
    at = names.index(look.subject) if look.subject in names else 0
    first = max(0, min(at - fit + 1, len(names) - fit))
    return first, first + fit


def head(name: str, look: Look, width: int) -> str:
    """Return a subject's heading: ▸ is the chosen one, A and B those that are compared.

    Examples
    --------
    >>> head("llama2-7b", Look(subject="llama2-7b", marked=("llama2-7b",)), 20)
    '▸A llama2-7b'
    """
    mark = "▸" if name == look.subject else " "
    letter = f"{'AB'[look.marked.index(name)]} " if name in look.marked else ""
    room, known = width - 2 - len(letter), visible(name)
    if len(known) > room:  # names often differ in their end alone: base and tuned, samples and exact
        known = f"{known[: room // 2]}…{known[len(known) - (room - room // 2 - 1) :]}"
    return f"{mark}{letter}{known}"


def matrix_records(shown: Shown, loaded: Loaded, width: int, *, unfolded: bool) -> list[Record]:
    """Return the rows for a width: a row each bias, its perturbations beneath, then what is said of all biases."""
    of = layout(shown.look, loaded, width)
    listed = [place for place in places(loaded) if unfolded or place[1] is None]
    rows = [_place_record(place, shown, loaded, of) for place in listed]
    return [*rows, *_summaries(loaded, of)]


def _place_record(place: Place, shown: Shown, loaded: Loaded, of: Layout) -> Record:
    cells = []
    for subject in of.names:
        likeness = human_like(loaded.report(subject), place[0]) if place[1] is None and not place[2] else None
        cell = cell_of(loaded, subject, place)
        cells.append(cell_text(cell, short=of.short, ticked=likeness is True and of.ticks))
    ends = [_difference_text(shown.difference(place), shown.alpha)] if of.compares else []
    if of.picture:
        chosen = cell_of(loaded, shown.look.subject, place)
        ends.append(_picture(chosen, of.picture, _reach(loaded, shown.look.subject)))
    return place_key(place), (_label(place, of.label - 1), *cells, *ends)


def _label(place: Place, room: int) -> Text:
    condition, variant = place[1:]
    if condition is None:
        full = place_name(place)
        named = f"wording: {visible(variant)}" if variant and len(full) > room else full
        name = Text(named, style="bold", no_wrap=True)
    else:
        named = f"  {CONDITION_NAMES[condition]}" + (f" ({visible(variant)})" if variant else "")
        name = Text(named, style="dim", no_wrap=True)
    name.truncate(room, overflow="ellipsis")
    return name


def _picture(cell: Cell | None, width: int, limit: float) -> Text:
    """Return a mean change with its interval on a line around 0."""
    if cell is None or not cell.delta.n:
        return Text("")
    test = cell.delta
    return whisker(test.mean, test.low, test.high, width, limit=limit)


def _reach(loaded: Loaded, subject: str) -> float:
    """Return where the pictures of a subject end: the next ten behind the farthest interval."""
    report = loaded.report(subject)
    tests = [cell.delta for cell in report.cells] if report else []
    ends = [abs(end) for test in tests for end in (test.mean, test.low, test.high) if not math.isnan(end)]
    return float(max(10, 10 * math.ceil(max(ends, default=10.0) / 10)))


def scale_line(width: int, limit: float) -> str:
    """Return the heading of such lines in points.

    Examples
    --------
    >>> scale_line(21, 60.0)
    '-60       0       +60'
    """
    signs = [" "] * width
    ends = f"-{limit:.0f}", f"+{limit:.0f}"
    for text, at in ((ends[0], 0), ("0", width // 2), (ends[1], width - len(ends[1]))):
        signs[at : at + len(text)] = text
    return "".join(signs)


def human_like(report: Report | None, bias: object) -> bool | None:
    """Return whether a bias moves a subject as it moves people, and no perturbation does; None where that is open."""
    found = next((one for one in report.likeness if one.bias is bias), None) if report else None
    return found.most_human_like if found else None


def _difference_text(found: Row | None, alpha: float) -> Text:
    if found is None:
        return Text("")
    test = found.change
    if math.isnan(test.mean):
        return Text(f"{NONE:>6} no common data", style="dim", no_wrap=True)
    reach = "" if math.isnan(test.low) else f" [{signed(test.low)}, {signed(test.high)}]"
    surely = stars(test.p, significant=test.p < alpha)
    return Text.assemble(
        (f"{signed(test.mean):>6}", "bold" if surely else ""),
        (reach, "dim"),
        (f" {surely}", "bold"),
        " ⇄" if found.turned else "",
        no_wrap=True,
    )


def _summaries(loaded: Loaded, of: Layout) -> list[Record]:
    judged = loaded.judged
    if judged is None:
        return []
    ends = [Text("")] * (of.compares + bool(of.picture))
    reports = [judged.reports[name] for name in of.names]
    rows = [
        (SCORE, "score", [_score(report, report.score.human_like) for report in reports]),
        (LIKENESS, "most human-like", [_likeness(report, of) for report in reports]),
        (VALID, "valid answers", [_valid(judged.validity[name].mean) for name in of.names]),
    ]
    if signs_differ(loaded):
        name = AS_PUBLISHED if of.label > len(AS_PUBLISHED) else "  as published"
        rows.insert(1, (SIGNED, name, [_score(report, report.score.signed) for report in reports]))
    if judged.people:
        rows.append((PEOPLE, "like people", [_people(loaded, name, of) for name in of.names]))
    return [(key, (Text(label, style="italic", no_wrap=True), *cells, *ends)) for key, label, cells in rows]


def signs_differ(loaded: Loaded) -> bool:
    """Return whether some subject's score is another one by the definition's own sign."""
    reports = loaded.judged.reports.values() if loaded.judged else ()
    return any(report.score.signed != report.score.human_like for report in reports)


def _score(report: Report, points: int) -> Text:
    if not report.score.biases:
        return Text(f"{NONE:>6} no test", style="dim", no_wrap=True)
    text = f"{points:+d}" if points else "0"
    return Text.assemble((f"{text:>6}", "bold"), (f" of {report.score.biases}", "dim"), no_wrap=True)


def _likeness(report: Report, of: Layout) -> Text:
    found = [one.most_human_like for one in report.likeness]
    yes, unclear = found.count(True), found.count(None)
    if unclear == len(found):
        return Text(f"{NONE:>6} open", style="dim", no_wrap=True)
    cell = Text.assemble((f"{yes:>6}", "bold"), (f" of {len(found)}", "dim"), no_wrap=True)
    return cell.append(f" ?{unclear}" if of.short else f", {unclear} open", "dim") if unclear else cell


def _valid(mean: float) -> Text:
    return Text(f"{percent(mean, digits=1):>8}", no_wrap=True)


def _people(loaded: Loaded, name: str, of: Layout) -> Text:
    found = loaded.judged.people.get(name) if loaded.judged else None
    if found is None or not found.mean.n:
        return Text(f"{NONE:>6}", style="dim")
    cell = Text.assemble((f"{share(found.mean.value):>6}", "bold"), (f" n {found.mean.n:,}", "dim"), no_wrap=True)
    if not of.short and not math.isnan(found.mean.low):
        cell = Text.assemble(
            (f"{share(found.mean.value):>6}", "bold"),
            (f" [{share(found.mean.low)}, {share(found.mean.high)}]", "dim"),
            no_wrap=True,
        )
    return cell
