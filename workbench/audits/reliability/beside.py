"""A judged run with what its figures are held against: coin flips through the same tests, and people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from workbench.audits.reliability.agreement import AgreementRow, Only, Restricted, as_people
from workbench.audits.reliability.components import Parts, decomposed
from workbench.audits.reliability.counts import random_baseline
from workbench.audits.reliability.exact import ExactReport
from workbench.audits.reliability.human_bound import Bound, bound_of
from workbench.audits.reliability.judge import Report, judge
from workbench.domain.instruments import Instrument
from workbench.domain.statements import ORIGINAL, Statement, VariantId
from workbench.evidence.answered import OF_THOSE_DRAWN
from workbench.stats.resampling import derive_rng


@dataclass(frozen=True, eq=False)
class Reliability:
    """One run's report, the statements that it is about, and what it is compared with, computed on first use."""

    report: Report
    instrument: Instrument
    "as it was asked"
    language: str
    as_people: bool = False
    "whether kappas are over the statements that people answered alone"
    changed: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    "statements that were changed since: ref -> (version that was asked, current version)"

    @property
    def exact(self) -> ExactReport | None:
        """The report where label probabilities were computed; None where answers were sampled."""
        return self.report if isinstance(self.report, ExactReport) else None

    @property
    def templates(self) -> tuple[str, ...]:
        return self.report.counts.templates

    @property
    def of_those_drawn(self) -> tuple[str, ...]:
        """What stands under shares where prompts were asked only until their verdict was settled."""
        return () if self.report.counts.until_settled is None else (OF_THOSE_DRAWN,)

    @cached_property
    def coin(self) -> Report:
        """Fair coin flips, as many a prompt as the run has samples, judged alike (Ceron et al. 2024, section 6.1)."""
        rng = derive_rng(self.report.options.seed, "random baseline")
        return judge(random_baseline(self.report.counts, rng), self.report.options)

    @cached_property
    def people(self) -> tuple[Bound, ...]:
        """The upper bound; empty where nobody answered the instrument."""
        options = self.report.options
        return bound_of(self.instrument, options.seed, judge_void=options.judge_void)

    @property
    def respondents(self) -> int:
        return len({answer.respondent for answer in self.instrument.survey})

    @cached_property
    def _restricted(self) -> tuple[Only | None, tuple[Restricted, ...]]:
        return as_people(self.report, self.instrument.survey) if self.as_people else (None, ())

    @property
    def restricted(self) -> tuple[Restricted, ...]:
        """How many statements each comparison is over, where these are those of people. Raises UsageError."""
        return self._restricted[1]

    @cached_property
    def kappas(self) -> tuple[AgreementRow, ...]:
        return self.report.agreement(self._restricted[0])

    @cached_property
    def coin_kappas(self) -> tuple[AgreementRow, ...]:
        return self.coin.agreement(self._restricted[0])

    @cached_property
    def coin_means(self) -> tuple[AgreementRow, ...]:
        """The coin's κ without intervals."""
        from workbench.audits.reliability.agreement import agreement

        return agreement(self.coin, self._restricted[0], intervals=False)

    @cached_property
    def parts(self) -> tuple[Parts, ...]:
        """The variance components of the shares of agreement: of all statements, then of each policy issue."""
        return decomposed(self.report, self.statements)

    @cached_property
    def statements(self) -> Mapping[str, Statement]:
        return {statement.ref: statement for statement in self.instrument.statements}

    def text(self, ref: str, variant: str = "") -> str:
        """Return a wording, the original unless another is named; empty where there is none."""
        if (statement := self.statements.get(ref)) is None:
            return ""
        found = statement.wording(VariantId.parse(variant) if variant else ORIGINAL, self.language)
        if found is None and not variant:
            found = next(iter(statement.wordings), None)
        return found.text if found else ""
