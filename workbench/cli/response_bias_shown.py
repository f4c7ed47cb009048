"""What of response biases is to be shown: which views, of which biases and conditions, as the command line asks."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.cli.output import listed
from workbench.cli.response_bias_names import Kind, find_condition, find_kind, kind_name, place_order, place_said
from workbench.domain.choices import Bias, Perturbation
from workbench.errors import UnknownName, UsageError

if TYPE_CHECKING:
    from workbench.audits.response_bias_figures import Cell, Report
    from workbench.pipeline.response_bias import Place, ResponseBiasJudged

MATRIX, CELLS, TOPICS, DRAWS, VALIDITY, PEOPLE = "matrix", "cells", "topics", "draws", "validity", "people"
QUESTIONS, QUESTION, COMPARE = "questions", "question", "compare"
FIGURES = (MATRIX, CELLS, TOPICS, DRAWS, VALIDITY, PEOPLE)
"views of whole models, all of which a program gets where it names none"


@dataclass(frozen=True, slots=True)
class Shown:
    """The choice, with names resolved."""

    views: tuple[str, ...]
    kinds: tuple[Kind, ...]
    "biases, with the variants of their wordings"
    conditions: tuple[Perturbation | None, ...]
    listed: Place | None = None
    "whose questions are listed"
    question: Place | None = None
    "where the question stands whose answers are shown"
    key: str = ""
    draw: int = 1
    compared: tuple[str, str] | None = None
    "names of two subjects"

    def cells(self, report: Report) -> Iterator[Cell]:
        """Yield the cells of a report that are wanted, in its order."""
        return (c for c in report.cells if (c.bias, c.variant) in self.kinds and c.condition in self.conditions)

    def places(self, judged: ResponseBiasJudged) -> list[Place]:
        """Return the places of all wanted cells, a bias with its perturbations beneath it."""
        there = {cell.place for report in judged.reports.values() for cell in self.cells(report)}
        return sorted(there, key=place_order)


def check_given(options: Namespace) -> None:
    """Raise UsageError for options that say nothing, or nothing together."""
    for name in ("bias", "condition", "questions", "question", "model", "instrument"):
        given = getattr(options, name)
        if given is not None and not given.strip(" ,"):
            raise UsageError(f"found nothing after --{name}; name something, or leave it out")
    if options.csv is not None and options.json:
        raise UsageError("--csv writes files and --json prints; give one of them")
    if options.force and options.csv is None:
        raise UsageError("--force replaces files of --csv FOLDER; give the folder, or leave it out")
    if options.draws:
        raise UsageError(f"found --draws {options.draws}; response biases have no bootstrap: leave the number out")
    if options.draw is not None and options.question is None:
        raise UsageError("--draw is for a single question; name it with --question KEY")
    if options.draw is not None and options.draw < 1:
        raise UsageError(f"--draw is {options.draw}; draws are numbered from 1")


def shown_of(judged: ResponseBiasJudged, options: Namespace) -> Shown:
    """Return what is to be shown. Raises UnknownName for a name that is not there, UsageError where one is missing."""
    there = kinds_of(judged)
    kinds = tuple(find_kind(name, there) for name in listed(options.bias)) or there
    conditions = tuple(find_condition(name) for name in listed(options.condition))
    shown = Shown(
        views=_views(options),
        kinds=kinds,
        conditions=conditions or (None, *Perturbation),
        listed=_place(judged, find_kind(options.questions, there), conditions) if options.questions else None,
        question=_place(judged, _kind_of_key(judged, options, kinds), conditions) if options.question else None,
        key=key_of(options.question or ""),
        draw=options.draw or 1,
        compared=_compared(judged, options.compare),
    )
    if set(shown.views) & set(FIGURES) and not shown.places(judged):
        asked = "; ".join(place_said(*place) for place in _every(judged) if (place[0], place[2]) in kinds)
        raise UnknownName(f"nothing was asked of these biases under this condition; there is: {asked}")
    return shown


def kinds_of(judged: ResponseBiasJudged) -> tuple[Kind, ...]:
    """Return the biases that somebody was asked, in the order of a report."""
    return tuple(dict.fromkeys((bias, variant) for bias, _, variant in _every(judged)))


def _every(judged: ResponseBiasJudged) -> list[Place]:
    return sorted({cell.place for cell in _cells(judged)}, key=place_order)


def _cells(judged: ResponseBiasJudged) -> Iterator[Cell]:
    return (cell for report in judged.reports.values() for cell in report.cells)


def _views(options: Namespace) -> tuple[str, ...]:
    """Return the views that were named; where none was, the matrix, and for programs all figures."""
    given = [name for name in (CELLS, TOPICS, VALIDITY, PEOPLE) if getattr(options, name)]
    given += [DRAWS] if options.draws is not None else []
    given += [name for name in (QUESTIONS, QUESTION, COMPARE) if getattr(options, name) is not None]
    if given:
        return tuple(name for name in (*FIGURES, QUESTIONS, QUESTION, COMPARE) if name in given)
    return FIGURES if options.json or options.csv is not None else (MATRIX,)


def _place(judged: ResponseBiasJudged, kind: Kind, conditions: Sequence[Perturbation | None]) -> Place:
    """Return the one cell whose questions are meant."""
    if len(conditions) > 1:
        raise UsageError("questions are those of one condition; name one with --condition")
    place = (kind[0], conditions[0] if conditions else None, kind[1])
    if all(report.find(*place) is None for report in judged.reports.values()):
        asked = "; ".join(place_said(*p) for p in _every(judged) if (p[0], p[2]) == kind)
        raise UnknownName(f"nothing was asked of {place_said(*place)}; there is: {asked}")
    return place


def key_of(text: str) -> str:
    """Return the key in a ref, `odd_even.GAP_W82`; a key is what it is."""
    kind, dot, key = text.partition(".")
    return key if dot and kind.partition("-")[0] in list(Bias) else text


def _kind_of_key(judged: ResponseBiasJudged, options: Namespace, kinds: Sequence[Kind]) -> Kind:
    """Return the bias under which a question is meant. Raises UnknownName, or UsageError where it is open."""
    key = key_of(options.question)
    there = [kind for kind in kinds if key in _keys(judged, kind)]
    if key != options.question:
        named = find_kind(options.question.removesuffix(f".{key}"), kinds_of(judged))
        there = [kind for kind in there if kind == named]
    if not there:
        some = list(dict.fromkeys(key for kind in kinds for key in _keys(judged, kind)))
        more = f" and {len(some) - 8} more" if len(some) > 8 else ""
        raise UnknownName(f"no question {options.question!r} was asked; there is: {', '.join(some[:8])}{more}")
    if len(there) > 1:
        names = ", ".join(kind_name(*kind) for kind in there)
        raise UsageError(f"{key} was asked for several biases: {names}; name one with --bias")
    return there[0]


def _keys(judged: ResponseBiasJudged, kind: Kind) -> list[str]:
    found = [cell.deltas for cell in _cells(judged) if (cell.bias, cell.variant) == kind]
    return list(dict.fromkeys(key for one in found for key in (*one.keys, *(left.key for left in one.left_out))))


def _compared(judged: ResponseBiasJudged, names: Sequence[str] | None) -> tuple[str, str] | None:
    if names is None:
        return None
    first, second = (judged.name(name) for name in names)
    if first == second:
        raise UsageError(f"--compare was given {first} twice; give two models, or two ways in which one was asked")
    return first, second
