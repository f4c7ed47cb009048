"""The findings on response biases and typos."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial

from workbench.audits.claims import AdjustedFinding, Finding, OfModel, Reach, shown
from workbench.audits.response_bias.answers import place_said
from workbench.audits.response_bias.judged import ResponseBiasJudged
from workbench.audits.response_bias.options import ChangeOptions, Definition
from workbench.audits.response_bias.score import ChangeCell
from workbench.domain.names import plural
from workbench.figures.shown import number
from workbench.figures.table import Kind
from workbench.stats.hypothesis_tests import MeanTest
from workbench.stats.power import LEVEL as UNADJUSTED


def list_findings(judged: ResponseBiasJudged) -> Iterator[Finding]:
    """Yield the findings on each model: its biases, and its changes by typos."""
    for name, report in judged.reports.items():
        scored = [cell for cell in report.cells if cell.scored and cell.judged]
        if scored:
            yield _claim(name, scored, partial(_biases, name, scored, judged.options), "biases")
        else:
            yield OfModel("Not enough answers to test a response bias", name)
        if scored and (
            typos := [cell for cell in report.cells if cell.condition is not None and cell.judged]
        ):
            yield _claim(name, typos, partial(_typos, name, typos, judged.options), "typos")


SCORE_WORDS = (
    " The score adds +1 for a significant change in people's direction and -1 for one against it."
)


def _claim(
    name: str,
    cells: Sequence[ChangeCell],
    findings_of: Callable[[Sequence[float]], Iterator[OfModel]],
    question: str,
) -> AdjustedFinding:
    """Return a finding whose text follows from the adjusted p values."""
    p = tuple(cell.claim if cell.delta.tested else math.nan for cell in cells)
    return AdjustedFinding(p, findings_of, question, (name,) * len(p))


LARGEST_CHANGE = 0.5
"the largest plausible change by another form: half of the answers"


@dataclass(frozen=True, slots=True)
class ChangesReach(Reach):
    """The precision of the tests of several biases, those against a preference by themselves."""

    by_preference: tuple[tuple[str, Reach], ...] = ()
    "(bias, precision) of the biases that are tested against a preference of the model"

    def in_words(self, level: float = UNADJUSTED) -> str:
        text = Reach.in_words(self, level)
        details = []
        for bias, reach in self.by_preference:
            effect = reach.effect(level)
            if effect > self.effect(level):
                found = (
                    number(effect, Kind.SIZE) if effect <= LARGEST_CHANGE else "not even 50 points"
                )
                details.append(f"{bias} {found}")
        return f"{text}; {', '.join(details)}" if text and details else text


def change_reach(cells: Sequence[ChangeCell], moved: Sequence[ChangeCell]) -> Reach | None:
    """Return the precision of the least precise test without a change, or None if all show one.

    Tests against a preference of the model are far less precise, so they stand by themselves.
    """
    against_chance: list[Reach] = []
    against_preference: list[tuple[str, Reach]] = []
    for cell in cells:
        test = cell.delta if math.isnan(cell.beyond.sd) else cell.beyond
        if cell in moved or not test.tested:
            continue
        preference_errors = (cell.position.se, cell.yes_saying.se)
        known_errors = [error for error in preference_errors if not math.isnan(error)]
        reach = _reach(max([test.sd / test.n**0.5, *known_errors]) / 100, test)
        if known_errors:
            against_preference.append((place_said(*cell.place), reach))
        else:
            against_chance.append(reach)
    candidates = against_chance or [reach for _, reach in against_preference]
    if not candidates:
        return None
    worst = (max if against_chance else min)(candidates, key=lambda reach: reach.effect(UNADJUSTED))
    shared = {field.name: getattr(worst, field.name) for field in fields(Reach)}
    return ChangesReach(**shared, by_preference=tuple(against_preference))


def _reach(error: float, test: MeanTest) -> Reach:
    return Reach(
        error,
        LARGEST_CHANGE,
        Kind.POINTS,
        plural(test.n, "question"),
        "that forms move the answers",
        test.df,
    )


def _biases(
    name: str, cells: Sequence[ChangeCell], options: ChangeOptions, adjusted: Sequence[float]
) -> Iterator[OfModel]:
    """Yield the findings on the number of significant biases, and on the largest one."""
    moved = _moved(cells, options, adjusted)
    beyond_text = (
        ", beyond what random letters give" if options.definition is Definition.CORRECTED else ""
    )
    n_human_like = sum(cell.human_like == 1 for cell in moved)
    p = shown(adjusted) if moved else math.nan
    names = ", ".join(place_said(*cell.place) for cell in moved)
    details = f": {names} ({n_human_like or 'none'} in people's direction)" if moved else ""
    explained = [
        f"{place_said(*cell.place)}, which may be {cell.explained_by}"
        for cell in cells
        if cell.explained_by
    ]
    if explained:
        details += f", besides {' and '.join(explained)}"
    title = "Significant response biases" if moved else "No significant response bias"
    yield OfModel(
        f"{title}{beyond_text}",
        name,
        f"{len(moved)} of {len(cells)}{details}",
        p,
        reach=change_reach(cells, moved),
    )
    if moved:
        yield OfModel(
            "Largest significant response bias",
            name,
            _said(max(moved, key=lambda cell: abs(cell.delta.mean))),
            p,
        )


def _typos(
    name: str, cells: Sequence[ChangeCell], options: ChangeOptions, adjusted: Sequence[float]
) -> Iterator[OfModel]:
    """Yield the finding on significant changes by typos."""
    moved = _moved(cells, options, adjusted)
    n_moved = len(moved)
    p = shown(adjusted) if n_moved else math.nan
    title = "Significant changes by typos, which people overlook"
    yield OfModel(
        title,
        name,
        f"{n_moved} of {plural(len(cells), 'test')}",
        p,
        reach=change_reach(cells, moved),
    )


def _moved(
    cells: Sequence[ChangeCell], options: ChangeOptions, adjusted: Sequence[float]
) -> list[ChangeCell]:
    """Return the cells with a significant change, by p values adjusted over all claims."""
    return [
        cell for cell, p in zip(cells, adjusted, strict=True) if cell.effect and p < options.alpha
    ]


def _said(cell: ChangeCell) -> str:
    """Return the change of a cell with its interval, direction and references, as text."""
    interval = ", ".join(
        number(bound / 100, Kind.POINTS, bare=True) for bound in (cell.delta.low, cell.delta.high)
    )
    reference_text = ""
    if cell.by_chance:
        chance = number(cell.by_chance / 100, Kind.POINTS)
        reference_text += f", random letters give {chance}"
    if not math.isnan(cell.position.change):
        by_position = number(cell.position.change / 100, Kind.POINTS)
        reference_text += f", its preference for positions gives {by_position}"
    if not math.isnan(cell.yes_saying.change):
        by_yes = number(cell.yes_saying.change / 100, Kind.POINTS)
        reference_text += f", with its preference for yes {by_yes}"
    direction = "in people's direction" if cell.human_like == 1 else "against people's direction"
    change = number(cell.delta.mean / 100, Kind.POINTS)
    return f"{place_said(*cell.place)} {change} [{interval}], {direction}{reference_text}"
