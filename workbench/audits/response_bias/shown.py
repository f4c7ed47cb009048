"""What of response biases is to be shown: which views, of which biases and conditions, as the command line asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.audits.audit import Given, Medium
from workbench.audits.comparison.values import meant
from workbench.audits.response_bias.names import (
    Kind,
    find_condition,
    find_kind,
    kind_name,
    place_order,
    place_said,
)
from workbench.domain.choices import Perturbation, ref_of
from workbench.domain.names import listed
from workbench.errors import UnknownName, UsageError

if TYPE_CHECKING:
    from workbench.audits.response_bias.figures import Cell, Report
    from workbench.audits.response_bias.findings import Findings
    from workbench.audits.response_bias.judged import Place, ResponseBiasJudged

MATRIX, CELLS, TOPICS, DRAWS, VALIDITY, PEOPLE = "matrix", "cells", "topics", "draws", "validity", "people"
REFUSED = "refusals"
QUESTIONS, QUESTION, COMPARE = "questions", "question", "compare"
FIGURES = (MATRIX, CELLS, TOPICS, DRAWS, VALIDITY, PEOPLE, REFUSED)
"views of whole models, all of which a program gets where it names none"
TABLES: Mapping[str, tuple[str, ...]] = {
    MATRIX: ("matrix", "scores"),
    CELLS: ("cells", "likeness", "entropies", "uncertainty", "left_out"),
    TOPICS: ("topics",),
    DRAWS: ("draws", "draw_spread"),
    VALIDITY: ("valid_answers", "validity"),
    PEOPLE: ("people",),
    REFUSED: ("refusals",),
}
"view -> its tables in the book"
FOR_PROGRAMS: Mapping[str, tuple[str, ...]] = {
    MATRIX: ("likeness", "cells", "entropies", "uncertainty", "left_out"),
    CELLS: ("scores",),
    VALIDITY: ("validity_shares",),
    PEOPLE: ("people_questions",),
}
"view -> tables that are written or printed as data alone"


@dataclass(frozen=True, slots=True)
class Shown:
    """The choice, with names resolved."""

    views: tuple[str, ...]
    kinds: tuple[Kind, ...]
    "biases, with the variants of their wordings"
    conditions: tuple[Perturbation | None, ...]
    listed: Place | None = None
    "the one cell whose questions are listed"
    question: Place | None = None
    "where the question stands whose answers are shown"
    key: str = ""
    draw: int | None = None
    "of that question; None: the first in which it was asked"
    compared: tuple[str, ...] = ()
    "names of two subjects or more"

    def narrowed(self, judged: ResponseBiasJudged, found: Findings) -> Findings:
        """Return what is shown of the findings, with the notes on that alone."""
        return replace(found, kinds=self.kinds, conditions=self.conditions, notes=self._notes(judged))

    def places(self, judged: ResponseBiasJudged) -> list[Place]:
        """Return the places of all wanted cells, a bias with its perturbations beneath it."""
        there = {cell.place for report in judged.reports.values() for cell in self._cells(report)}
        return sorted(there, key=place_order)

    def _cells(self, report: Report) -> Iterator[Cell]:
        return (c for c in report.cells if (c.bias, c.variant) in self.kinds and c.condition in self.conditions)

    def _notes(self, judged: ResponseBiasJudged) -> tuple[str, ...]:
        """Return what a reader should know of what is shown: what is said of other questions' answers is left out."""
        rests = self._rests(judged)
        about = {
            f"{name}, {one.name}: ": (one.bias, one.condition, one.variant)
            for name, subject in judged.subjects.items()
            for one in subject.tables
        }
        others = tuple(head for head, place in about.items() if place not in rests)
        return tuple(note for note in judged.notes if not note.startswith(others))

    def _rests(self, judged: ResponseBiasJudged) -> set[Place]:
        """Return the places whose answers are behind what is shown."""
        wanted = {place for place in (self.listed, self.question) if place is not None}
        found: set[Place] = set()
        for report in judged.reports.values():
            cells = [*self._cells(report)] if {MATRIX, CELLS, TOPICS, DRAWS, VALIDITY} & set(self.views) else []
            cells += [cell for cell in report.cells if cell.place in wanted]
            cells += [cell for cell in report.cells if self.compared]
            found |= {(cell.deltas.source, cell.condition, cell.variant) for cell in cells}
        return found


def check_given(options: Given) -> None:
    """Raise UsageError for options that say nothing, or nothing together."""
    for name in ("bias", "condition", "questions", "question", "model", "instrument"):
        given = getattr(options, name)
        if given is not None and not given.strip(" ,"):
            raise UsageError(f"--{name} has no value; give one, or leave it out")
    if options.draw is not None and options.question is None:
        raise UsageError("--draw is for a single question; name it with --question KEY")


def shown_of(judged: ResponseBiasJudged, options: Given, medium: Medium) -> Shown:
    """Return what is to be shown. Raises UnknownName for a name that is not there, UsageError where one is missing."""
    there = kinds_of(judged)
    kinds = tuple(find_kind(name, there) for name in listed(options.bias)) or there
    conditions = tuple(find_condition(name) for name in listed(options.condition))
    kind, key = _meant(judged, options.question, kinds) if options.question else (None, "")
    shown = Shown(
        views=_views(options, medium),
        kinds=kinds,
        conditions=conditions or (None, *Perturbation),
        listed=_place(judged, find_kind(options.questions, there), conditions) if options.questions else None,
        question=_place(judged, kind, conditions) if kind is not None else None,
        key=key,
        draw=options.draw,
        compared=_compared(judged, options.compare),
    )
    if set(shown.views) & set(FIGURES) and not shown.places(judged):
        asked = "; ".join(place_said(*place) for place in _every(judged) if (place[0], place[2]) in kinds)
        raise UnknownName(f"no model was asked these biases under this condition. Available: {asked}")
    return shown


def kinds_of(judged: ResponseBiasJudged) -> tuple[Kind, ...]:
    """Return the biases that somebody was asked, in the order of a report."""
    return tuple(dict.fromkeys((bias, variant) for bias, _, variant in _every(judged)))


def _every(judged: ResponseBiasJudged) -> list[Place]:
    return sorted({cell.place for cell in _cells(judged)}, key=place_order)


def _cells(judged: ResponseBiasJudged) -> Iterator[Cell]:
    return (cell for report in judged.reports.values() for cell in report.cells)


def _views(options: Given, medium: Medium) -> tuple[str, ...]:
    """Return the views that were named; else the matrix, for programs all figures."""
    given = [name for name in (CELLS, TOPICS, DRAWS, VALIDITY, PEOPLE, REFUSED) if getattr(options, name)]
    given += [name for name in (QUESTIONS, QUESTION, COMPARE) if getattr(options, name) not in (None, ())]
    if given:
        return tuple(name for name in (*FIGURES, QUESTIONS, QUESTION, COMPARE) if name in given)
    return FIGURES if medium.data else (MATRIX,)


def _place(judged: ResponseBiasJudged, kind: Kind, conditions: Sequence[Perturbation | None]) -> Place:
    """Return the one cell whose questions are meant."""
    if len(conditions) > 1:
        raise UsageError("--questions lists the questions of one condition; name it with --condition")
    place = (kind[0], conditions[0] if conditions else None, kind[1])
    if all(report.find(*place) is None for report in judged.reports.values()):
        asked = "; ".join(place_said(*p) for p in _every(judged) if (p[0], p[2]) == kind)
        raise UnknownName(f"no model was asked {place_said(*place)}. Available: {asked}")
    return place


def _meant(judged: ResponseBiasJudged, text: str, kinds: Sequence[Kind]) -> tuple[Kind, str]:
    """Return the question that a ref or a key means, as (bias, key): a ref first, which may be another one's key.

    Raises UnknownName, or UsageError where it is open.
    """
    there = [(kind, key) for kind in kinds_of(judged) for key in _keys(judged, kind)]
    named = {one: _names(judged, *one) for one in there}
    found = next((those for n in (0, 1) if (those := [one for one in there if text in named[one][n]])), [])
    wanted = [one for one in found if one[0] in kinds]
    if not wanted:
        asked = ", ".join(place_said(bias, None, variant) for (bias, variant), _ in found)
        some = list(dict.fromkeys(key for kind, key in there if kind in kinds))
        listed = f"{', '.join(some[:8])}{f' and {len(some) - 8} more' if len(some) > 8 else ''}"
        where = f" of these biases, but of {asked}" if found else ""
        raise UnknownName(f"no question {text!r} was asked{where}. Available: {listed}")
    if len(wanted) > 1:
        names = ", ".join(kind_name(*kind) for kind, _ in wanted)
        ref = named[wanted[0]][0][0]
        raise UsageError(
            f"{text} was asked for several biases: {names}; name one with --bias, or the question as {ref}"
        )
    return wanted[0]


def _names(judged: ResponseBiasJudged, kind: Kind, key: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what a question is called: by refs, its statement's first, and by its key alone."""
    bias, variant = kind
    ref = ref_of(bias, key, variant)
    return tuple(dict.fromkeys((judged.refs.get((bias, variant, key), ref), ref))), (key,)


def _keys(judged: ResponseBiasJudged, kind: Kind) -> list[str]:
    found = [cell.deltas for cell in _cells(judged) if (cell.bias, cell.variant) == kind]
    return list(dict.fromkeys(key for one in found for key in (*one.keys, *(left.key for left in one.left_out))))


def _compared(judged: ResponseBiasJudged, names: Sequence[str] | None) -> tuple[str, ...]:
    return meant(names, {name: subject.model for name, subject in judged.subjects.items()}) if names else ()
