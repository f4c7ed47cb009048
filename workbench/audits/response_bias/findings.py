"""What the figures of response biases are made of: the reports of several ways of asking, and what reads their
questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from workbench.audits.by_persona import WithPersona
from workbench.audits.response_bias.compare import Comparison, SamplingAgreement
from workbench.audits.response_bias.figures import Cell, HumanLikeness, Options, Report
from workbench.audits.response_bias.names import CONDITIONS, Kind, Place, kind_name, kind_said, place_order
from workbench.audits.response_bias.people import Representativeness
from workbench.audits.response_bias.questions import FormShown, QuestionRow, QuestionShown
from workbench.audits.response_bias.uncertainty import ValidShares
from workbench.domain.choices import Perturbation
from workbench.evidence.answered import Answered
from workbench.evidence.refusals import Refusals


@dataclass(frozen=True, slots=True)
class Asked:
    """How one model was asked, as far as people read it."""

    model: str
    way: str
    "`samples`, `exact` or `imported`"
    template: str
    "empty for imported answers"
    version: str
    computed: str
    sampling: str
    wanted: int
    "valid answers a prompt was to have; 0 where that has no meaning"
    short: int
    "forms with fewer, after all tries"
    pairs: int
    "answered pairs of forms"


class Source(Protocol):
    """Reads what only some tables show."""

    def questions(self, name: str, place: Place) -> Sequence[QuestionRow]: ...

    def question(self, name: str, place: Place, key: str, draw: int | None = None) -> QuestionShown: ...

    def forms(self, found: QuestionShown) -> Sequence[FormShown]: ...

    def refusals(self) -> Sequence[Refusals]: ...

    def compared(self, first: str, second: str) -> Comparison: ...

    def sampling(self, first: str, second: str) -> Mapping[Place, SamplingAgreement]: ...


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """The reports of all ways of asking, and which biases and conditions are looked at."""

    instrument: str
    options: Options
    asked: Mapping[str, Asked]
    reports: Mapping[str, Report]
    validity: Mapping[str, ValidShares]
    people: Mapping[str, Representativeness]
    notes: Sequence[str]
    questions_with_texts: int
    source: Source
    rulings: Sequence[str] = ()
    "what auditors' rulings change, in sentences"
    answered: Sequence[Answered] = ()
    "how much of each plan was answered, and what came of it"
    personas: Sequence[WithPersona] = ()
    "reports with a persona whose baseline is among the reports"
    methods: str = ""
    "the paragraph for a paper"
    kinds: tuple[Kind, ...] | None = None
    "biases with the variants of their wordings; None: all"
    conditions: tuple[Perturbation | None, ...] = tuple(CONDITIONS)

    @property
    def every_kind(self) -> tuple[Kind, ...]:
        """Return the biases that somebody was asked, in the order of a report."""
        found = {cell.place for report in self.reports.values() for cell in report.cells}
        return tuple(dict.fromkeys((bias, variant) for bias, _, variant in sorted(found, key=place_order)))

    @property
    def words(self) -> Mapping[str, str]:
        """Return what is painted for the name of a bias."""
        return {kind_name(*kind): kind_said(*kind) for kind in self.every_kind}

    def of(self, *names: str) -> Findings:
        """Return the findings on some reports alone."""
        return replace(
            self,
            reports={name: self.reports[name] for name in names},
            validity={name: found for name, found in self.validity.items() if name in names},
            people={name: found for name, found in self.people.items() if name in names},
        )

    def cells(self, name: str) -> Iterator[Cell]:
        """Yield the cells of a report that are looked at, in its order."""
        return (cell for cell in self.reports[name].cells if self._wanted(cell.place))

    @property
    def lines(self) -> list[tuple[str, Cell]]:
        """Return all cells that are looked at, each with the name of its report."""
        return [(name, cell) for name in self.reports for cell in self.cells(name)]

    @property
    def places(self) -> list[Place]:
        """Return the places of all cells that are looked at, the perturbations of a bias after it."""
        return sorted({cell.place for _, cell in self.lines}, key=place_order)

    def scored(self, name: str) -> bool:
        """Return whether all biases are looked at that the score is a sum over."""
        return None in self.conditions and all(
            self._wanted((one.bias, None, "")) for one in self.reports[name].likeness
        )

    def likeness(self, name: str) -> tuple[HumanLikeness, ...]:
        """Return the human-likeness in the biases that are looked at with everything that it rests on."""
        if len(set(self.conditions)) < len(CONDITIONS):
            return ()
        return tuple(one for one in self.reports[name].likeness if self._wanted((one.bias, None, "")))

    def _wanted(self, place: Place) -> bool:
        bias, condition, variant = place
        return condition in self.conditions and (self.kinds is None or (bias, variant) in self.kinds)
