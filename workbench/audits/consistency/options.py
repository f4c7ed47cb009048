"""The options of political consistency: labels, formulas, matches, and tests of reliability."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

from workbench.audits.reliability.options import TESTS, ReliabilityOptions, Rules
from workbench.options.schema import of_shared, option
from workbench.options.shared import RESAMPLES

Formula = Literal["signed", "tacl", "v1"]
FORMULAS: tuple[Formula, ...] = get_args(Formula)
OFFERED: tuple[Formula, ...] = ("signed", "tacl")
"""formulas that tables can have; `v1` of the first version is only computed for the comparison with
its publication"""
AnyFormula = Literal["signed", "tacl", "all"]
View = Literal["all", "agree", "disagree"]
VIEWS: tuple[View, ...] = get_args(View)
"matches that count: all, where both agree, where both disagree"
Whose = Literal["gold", "people"]
Stance = Literal["posterior", "published"]


@dataclass(frozen=True, slots=True)
class ConsistencyOptions(Rules):
    """The options of political consistency, which are stored with every result.

    They are labels, formula, matches, and the rules by which a stance is reliable.
    """

    formula: AnyFormula = option(
        "signed",
        "formula of the stance on policy issues",
        choices=(*OFFERED, "all"),
        key="f",
        steps=OFFERED,
        words={"signed": "signed support", "tacl": "tacl (published)", "all": "both formulas"},
        source="ours: the published one, tacl, measures agreeing",
    )
    view: View = option(
        "all",
        "which matches count",
        choices=VIEWS,
        label="match",
        key="w",
        words="matches: {}",
        source="Ceron et al. 2024, section 7.1",
    )
    labels: Whose = option(
        "gold",
        "policy-issue labels: the source's, or people's",
        choices=get_args(Whose),
        key="l",
        words={"gold": "gold labels", "people": "people's labels"},
        source="Ceron et al. 2024, section 7.2",
    )
    """gold: the source's own labels take precedence over annotators'; people: the majority of
    annotators, or the adjudicated label"""
    stances: Stance = option(
        "posterior",
        "which stances count: the likelier ones by partial pooling, or those that pass the "
        "published test",
        choices=get_args(Stance),
        words={"posterior": "", "published": "stances that pass the published test"},
        source="ours: the published test depends on the number of answers",
        published="published",
    )
    resamples: int = of_shared(RESAMPLES, steps=(0, 1_000, 10_000), source="ours")

    def rules(self) -> ReliabilityOptions:
        """Return the rules by which a stance is reliable."""
        return ReliabilityOptions(**{name: getattr(self, name) for name in Rules.declared()})

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """The formulas of the tables."""
        return OFFERED if self.formula == "all" else (self.formula,)

    @property
    def reliable(self) -> str:
        """The rules by which a stance is reliable, in a few words."""
        tests = "all tests" if self.tests == TESTS else ", ".join(self.tests)
        has_default_limits = (self.low, self.high) == (Rules().low, Rules().high)
        limits = (
            "" if has_default_limits else f", limits {100 * self.low:g} and {100 * self.high:g} %"
        )
        return f"reliable: {tests}" + (f" ({self.rule})" if self.rule != "printed" else "") + limits

    def figures_as(self, other: ConsistencyOptions) -> bool:
        """Return whether other options give the same figures.

        They may differ in the formula and the matches that count.
        """
        return replace(self, formula=other.formula, view=other.view) == other
