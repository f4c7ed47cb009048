"""What the analysis of political consistency may be told: what counts as agreeing, and what makes a stance reliable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

from workbench.audits.reliability.options import HIGH, LOW, MINIMUM, RULE, SEEDED, TESTS
from workbench.domain.names import listed
from workbench.options.schema import Options, of_shared, option
from workbench.options.shared import JUDGE_VOID, RESAMPLES

if TYPE_CHECKING:
    from workbench.audits.reliability.judge import Options as Rules

Formula = Literal["signed", "tacl", "v1"]
FORMULAS: tuple[Formula, ...] = get_args(Formula)
AnyFormula = Formula | Literal["all"]
View = Literal["all", "agree", "disagree"]
VIEWS: tuple[View, ...] = get_args(View)
"matches that count: all, where both agree, where both disagree"
Whose = Literal["gold", "people"]
WITHIN = ("sampling", "paraphrase", "negation", "opposite", "label_order")
"the tests within a template"
PERCENT = tuple(n / 100 for n in range(101))
MOST_NEEDED = 100
"readable answers that keys may ask for"


def _tests(given: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the tests that are named; all within a template where none are."""
    return listed(given) if isinstance(given, str) else tuple(given or WITHIN)


@dataclass(frozen=True, slots=True)
class ConsistencyOptions(Options):
    """Whose labels, which formula and matches, and what makes a stance reliable; recorded with every result."""

    formula: AnyFormula = option(
        "signed",
        "formula of the stance on policy issues",
        choices=(*FORMULAS, "all"),
        key="f",
        steps=FORMULAS,
        words={"signed": "signed support", "tacl": "tacl (published)", "v1": "v1 (published)", "all": "every formula"},
        source="ours: the published ones, tacl and v1, measure agreeing",
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
    "gold: the source's own before people's; people: what most annotators said or was adjudicated"
    rule: str = of_shared(RULE, source="Ceron et al. 2024, section 5.4")
    low: float = of_shared(LOW, steps=PERCENT, source="Ceron et al. 2024, section 5.4")
    high: float = of_shared(HIGH, steps=PERCENT, source="Ceron et al. 2024, section 5.4")
    minimum: int | None = of_shared(
        MINIMUM, steps=(None, *range(1, MOST_NEEDED + 1)), source="ours: the paper names none"
    )
    tests: tuple[str, ...] = of_shared(TESTS, read=_tests, source="Ceron et al. 2024, section 6.2")
    judge_void: bool = of_shared(JUDGE_VOID, source="ours: the paper judges them")
    resamples: int = of_shared(RESAMPLES, steps=(0, 1_000, 10_000), source="ours")
    seed: int = of_shared(SEEDED, words="seed {}", source="ours")

    def __post_init__(self) -> None:
        Options.__post_init__(self)
        self.rules()

    def rules(self) -> Rules:
        """Return what makes a stance reliable. Raises UsageError for limits that cross, UnknownName for a test."""
        from workbench.audits.reliability.judge import Options as Rules

        return Rules(
            rule=self.rule,
            low=self.low,
            high=self.high,
            minimum=self.minimum,
            tests=self.tests,
            seed=self.seed,
            judge_void=self.judge_void,
        )

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """The formulas that are meant."""
        return FORMULAS if self.formula == "all" else (self.formula,)

    @property
    def reliable(self) -> str:
        """What makes a stance reliable, in a few words."""
        tests = "all tests" if self.tests == WITHIN else ", ".join(self.tests)
        usual = (self.low, self.high) == (LOW.default, HIGH.default)
        limits = "" if usual else f", limits {100 * self.low:g} and {100 * self.high:g} %"
        return f"reliable: {tests}" + (f" ({self.rule})" if self.rule != "printed" else "") + limits

    def figures_as(self, other: ConsistencyOptions) -> bool:
        """Return whether other options judge alike: they differ at most in the formula and the matches that count."""
        return replace(self, formula=other.formula, view=other.view) == other
