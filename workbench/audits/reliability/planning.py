"""What a planned run of the audit can claim: runs are simulated from variance components and judged as real ones are.

A run is drawn from `stats.probit_normal`, which has the components that are known of a model, with as many answers
readable as were before, and judged by the audit's own rules. The chance of a claim is the share of simulated runs that
show it. All wordings of a statement are taken alike: as paraphrases of its original, turned round where they negate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from workbench.audits.codes import PASS, VOID
from workbench.audits.reliability.counts import ALL, PRINTED, Counts
from workbench.audits.reliability.judge import Report, judge
from workbench.audits.reliability.options import ReliabilityOptions
from workbench.domain.statements import ORIGINAL, VariantId, VariantKind
from workbench.domain.verdicts import Estimate
from workbench.errors import UsageError
from workbench.figures.intervals import PREDICTED
from workbench.stats.agreement import kappa_2x2
from workbench.stats.arrays import FloatArray
from workbench.stats.components import COMPONENTS, SAMPLING, ProbitNormal
from workbench.stats.design_precision import POWER, Precision, Size, precision, smallest_bias, statements_a_side
from workbench.stats.proportions import wilson_interval
from workbench.stats.resampling import derive_rng, percentile_interval

KAPPA, RELIABLE, BIAS, GENERALIZABILITY = "kappa", "reliable", "|bias|", "g"
MEASURES = {
    KAPPA: "Cohen's κ between the stances on the original and on its other wordings, mean over templates",
    RELIABLE: "share of statements that pass every test within a template, mean over templates",
    BIAS: "mean share of agreement with statements of one side minus the other's, two-sided 5 %, power 80 %",
    GENERALIZABILITY: "generalizability coefficient of the statements' mean shares",
}
SPELLED = {"share reliable": RELIABLE, "bias": BIAS, "generalizability": GENERALIZABILITY, "κ": KAPPA}
FORMS = "'kappa >= .7', 'reliable >= .5', '|bias| >= .2' or 'g >= .8'"
CLAIM = re.compile(r"\s*(\|?[^\W\d_][\w ]*?\|?)\s*(?:>=|≥)\s*(\d*[.,]?\d+)\s*(%?)\s*")
GRIDS: Mapping[str, Sequence[int]] = {
    "statements": (10, 15, 20, 30, 40, 50, 75, 100, 150, 200, 300, 500),
    "wordings": (2, 3, 4, 5, 6, 8, 12, 16, 24),
    "templates": (1, 2, 3, 4, 6, 8, 12, 16, 24),
    "samples": (5, 10, 15, 20, 30, 50, 100, 200),
}
"numbers that are tried, one factor at a time"
MOST_A_SIDE = 100_000
RUNS, RUNS_TRIED = 400, 200
"simulated runs of the planned design, and at most of each design that is tried"
AT_ONCE, SURE = 20, 0.99
"runs after which one looks whether a claim is decided, and how surely"


@dataclass(frozen=True, slots=True)
class Claim:
    """That a figure is at least so much."""

    measure: str
    least: float

    def __str__(self) -> str:
        return f"{self.measure} >= {self.least:g}"

    @classmethod
    def parse(cls, text: str) -> Claim:
        """Return the claim of `kappa >= .7`. Raises UsageError, with the forms there are.

        Examples
        --------
        >>> str(Claim.parse("share reliable ≥ 50 %"))
        'reliable >= 0.5'
        """
        found = CLAIM.fullmatch(text)
        name = " ".join(found[1].casefold().split()) if found else ""
        measure = SPELLED.get(name, name)
        if found is None or measure not in MEASURES:
            raise UsageError(f"found the claim {text!r}; give {FORMS}")
        least = float(found[2].replace(",", ".")) / (100 if found[3] else 1)
        if not 0 < least <= 1:
            raise UsageError(f"found the claim {text!r}; the value must be above 0 and at most 1: {FORMS}")
        return cls(measure, least)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a model before a design is planned."""

    mean: float
    "share of agreement, after turning"
    components: Mapping[str, float]
    readable: float = 1.0
    "share of the answers that can be read"


@dataclass(frozen=True, slots=True)
class Chance:
    """What simulated runs of a design show of a claim."""

    value: Estimate
    "its mean over runs, with the range of 95 % of them"
    holds: Estimate | None
    "the share of runs that show it, with the Monte Carlo error; None: it is certain either way"
    met: bool


@dataclass(frozen=True, slots=True)
class Need:
    """How many of one factor a claim needs, the others as planned."""

    claim: Claim
    factor: str
    least: int | None
    "None: no number that was tried is enough"
    most: int
    "the largest that was tried"
    size: Size | None


@dataclass(frozen=True)
class Planner:
    """Answers what designs can claim of a model."""

    known: Known
    options: ReliabilityOptions
    seed: int

    @cached_property
    def shares(self) -> ProbitNormal:
        return ProbitNormal.matching(self.known.mean, self.known.components)

    @cached_property
    def components(self) -> dict[str, float]:
        """The components of the shares that are drawn: those that are known, as near as shares can have them."""
        return {name: max(0.0, value) for name, value in self.shares.components.items()}

    @property
    def answer(self) -> float:
        """The variance of a single answer, E p (1 - p)."""
        share = self.shares.share
        return max(0.0, share * (1 - share) - sum(self.components.values()))

    def precision(self, size: Size) -> Precision:
        return precision(self.components, self._answer(size), size)

    def smallest_bias(self, size: Size, side: int) -> float:
        return smallest_bias(self.components, self._answer(size), size, side)

    def _answer(self, size: Size) -> float:
        """Return what an answer varies, of those that can be read."""
        return self.answer / max(self.known.readable, 1 / size.samples)

    def chances(
        self, claims: Sequence[Claim], size: Size, runs: int = RUNS, *, briefly: bool = False
    ) -> tuple[Chance, ...]:
        """Return what a design shows of claims. `briefly`: simulate no more runs than one claim needs to be decided."""
        simulated = {claim.measure for claim in claims} & set(SIMULATED)
        found = self._simulated(simulated, size, runs, claims[0] if briefly else None) if simulated else {}
        return tuple(self._chance(claim, size, found) for claim in claims)

    def _chance(self, claim: Claim, size: Size, found: Mapping[str, FloatArray]) -> Chance:
        nan = float("nan")
        if claim.measure == BIAS:
            value = self.smallest_bias(size, size.statements // 2)
            return Chance(Estimate(value, nan, nan, size.statements), None, value <= claim.least)
        if claim.measure == GENERALIZABILITY:
            value = self.precision(size).generalizability
            undefined = "" if value == value else "statements do not differ"
            return Chance(Estimate(value, nan, nan, size.statements, 0, undefined), None, value >= claim.least)
        values = found[claim.measure]
        defined = values[np.isfinite(values)]
        n, k = len(values), int((defined >= claim.least).sum())
        least, most = (float(end) for end in wilson_interval(k, n))
        holds = Estimate(k / n, least, most, n, interval="share of items")
        if not len(defined):
            return Chance(Estimate(nan, nan, nan, 0, n, "undefined in every run"), holds, met=False)
        low, high = (float(end) for end in percentile_interval(defined))
        expected = Estimate(float(defined.mean()), low, high, len(defined), n - len(defined), interval=PREDICTED)
        return Chance(expected, holds, k >= POWER * n)

    @property
    def rules(self) -> ReliabilityOptions:
        """The audit's options for wordings that are all paraphrases: what asks for a flip asks for the same stance."""
        tests = ("paraphrase" if test in ("negation", "opposite") else test for test in self.options.tests)
        return replace(self.options, tests=tuple(dict.fromkeys(tests)))

    def _simulated(
        self, measures: Collection[str], size: Size, runs: int, until: Claim | None
    ) -> dict[str, FloatArray]:
        """Return figures of simulated runs, NaN where they are undefined; with `until` only as many as decide it."""
        rng = derive_rng(self.seed, "design", size.statements, size.wordings, size.templates, size.samples)
        found: dict[str, list[float]] = {measure: [] for measure in measures}
        for run in range(1, runs + 1):
            report = judge(self.counts(size, rng), self.rules)
            for measure, values in found.items():
                values.append(SIMULATED[measure](report))
            if until is not None and run % AT_ONCE == 0 and _decided(found[until.measure], until.least):
                break
        return {measure: np.array(values) for measure, values in found.items()}

    def counts(self, size: Size, rng: np.random.Generator) -> Counts:
        """Return the answers of one simulated run."""
        p = np.moveaxis(self.shares.draw(rng, size.statements, size.wordings, size.templates, 2), 2, 0)
        readable = rng.binomial(size.samples, self.known.readable, p.shape)
        positive = rng.binomial(readable, p)
        return Counts(
            statements=tuple(f"s{number}" for number in range(size.statements)),
            variants=(ORIGINAL, *(VariantId(VariantKind.PARAPHRASE, number) for number in range(1, size.wordings))),
            templates=tuple(f"t{number}" for number in range(size.templates)),
            positive=positive.astype(np.int32),
            negative=(readable - positive).astype(np.int32),
            unreadable=(size.samples - readable).astype(np.int32),
            exists=np.ones(p.shape[1:3], dtype=np.bool_),
            samples=size.samples,
        )

    def needs(self, claim: Claim, size: Size) -> tuple[Need, ...]:
        """Return how many of each factor a claim needs, the others as planned."""
        if claim.measure == BIAS:
            side = statements_a_side(self.components, self._answer(size), size, claim.least, MOST_A_SIDE)
            least = None if side is None else 2 * side
            return (self._need(claim, "statements", least, 2 * MOST_A_SIDE, size),)
        factors = [name for name in GRIDS if claim.measure != GENERALIZABILITY or name != "statements"]
        return tuple(self._least(claim, factor, size) for factor in factors)

    def _least(self, claim: Claim, factor: str, size: Size) -> Need:
        def enough(number: int) -> bool:
            return self.chances([claim], _changed(size, factor, number), RUNS_TRIED, briefly=True)[0].met

        grid = GRIDS[factor]
        return self._need(claim, factor, first_enough(grid, enough), grid[-1], size)

    def _need(self, claim: Claim, factor: str, least: int | None, most: int, size: Size) -> Need:
        return Need(claim, factor, least, most, None if least is None else _changed(size, factor, least))


def _decided(values: Sequence[float], least: float) -> bool:
    """Return whether the share of runs that show a claim is surely more or less than the power."""
    low, high = wilson_interval(sum(value >= least for value in values), len(values), SURE)
    return bool(low > POWER or high < POWER)


def _changed(size: Size, factor: str, number: int) -> Size:
    return replace(size, **{factor: number})


def first_enough(grid: Sequence[int], enough: Callable[[int], bool]) -> int | None:
    """Return the first number of a grid that is enough, by bisection where the first is not; None where the last is
    not either.
    """
    if enough(grid[0]):
        return grid[0]
    if not enough(grid[-1]):
        return None
    low, high = 0, len(grid) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(grid[middle]) else (middle, high)
    return grid[high]


def mean_kappa(report: Report) -> float:
    """Return κ between the original and the other wordings in printed order, mean over templates; NaN: undefined.

    Pairs with a side that has no stance are left out, as `agreement` does.
    """
    stances = report.stances[..., PRINTED] * np.where(report.counts.turned == 0, 1, report.counts.signs)
    first, second = stances[:, :, :1], stances[:, :, 1:]
    signs = (-1, 1)
    tables = [[((first == a) & (second == b)).sum(axis=(1, 2)) for b in signs] for a in signs]
    kappas = kappa_2x2(np.moveaxis(np.array(tables), -1, 0))
    defined = kappas[np.isfinite(kappas)]
    return float(defined.mean()) if len(defined) else float("nan")


def mean_reliable(report: Report) -> float:
    """Return the share of statements that pass every test within a template, mean over templates."""
    found = report.verdicts(ALL)
    tested = (found != VOID).sum(axis=1)
    shares = (found == PASS).sum(axis=1)[tested > 0] / tested[tested > 0]
    return float(shares.mean()) if len(shares) else float("nan")


SIMULATED: Mapping[str, Callable[[Report], float]] = {KAPPA: mean_kappa, RELIABLE: mean_reliable}


def read_components(text: str) -> dict[str, float]:
    """Return the components of `statement=.05,wording=.01`. Raises UsageError.

    Examples
    --------
    >>> read_components("statement=.05, statement-template=.01")
    {'statement': 0.05, 'statement x template': 0.01}
    """
    plain = {_plain(name): name for name in COMPONENTS if name != SAMPLING}
    found: dict[str, float] = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        name, equals, number = part.partition("=")
        known = plain.get(_plain(name))
        if known is None or not equals or known in found:
            raise UsageError(
                f"found --components {part!r}; give variances of shares such as statement=.05,wording=.01, each once, "
                f"of {', '.join(name.replace(' x ', '-').replace(' ', '-') for name in plain.values())}"
            )
        try:
            found[known] = float(number)
        except ValueError:
            raise UsageError(f"found --components {part!r}; give a number after {name}=, such as .05") from None
        if not 0 <= found[known] <= 0.25:
            raise UsageError(f"found --components {part!r}; the variance of a share is 0 to 0.25")
    if not found:
        raise UsageError("--components is empty; give for instance statement=.05,wording=.01,template=.005")
    return found


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+|(?<= )x(?= )", "", name.strip().casefold())
