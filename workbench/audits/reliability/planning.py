"""A decision study: the claims that a planned run of the audit can support.

Runs are simulated from variance components and judged by the audit's own rules, as real ones are. A
run is drawn from the known components of a model, with as many readable answers as before. If a run
was measured, its statements are drawn as they were measured (`MeasuredSpread`), as uncertain as
they and the components are. Otherwise all shares are probit-normal (`ProbitNormal`). The chance of
a claim is the share of simulated runs that support it. All wordings of a statement are treated
alike: as paraphrases of its original, turned round if they negate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.audits.audit import FigureVerb, Printed
from workbench.audits.codes import PASS, VOID
from workbench.audits.reliability.components import MEANS, TITLES, cells
from workbench.audits.reliability.counting import ALL, PRINTED, Counts
from workbench.audits.reliability.judge import ReliabilityReport, judge
from workbench.audits.reliability.options import (
    DEFAULTS,
    JUDGING,
    ONLY,
    READ_BY,
    SEEDED,
    ReliabilityOptions,
)
from workbench.domain.names import plural, speed
from workbench.domain.prompts import Probe
from workbench.domain.statements import ORIGINAL, VariantId, VariantKind
from workbench.domain.verdicts import Estimate
from workbench.errors import UsageError
from workbench.evidence.runs import AnswerSelection
from workbench.figures.intervals import PREDICTED
from workbench.figures.table import AnyTable, Column, Kind, Table
from workbench.options.option import Option, Section, Type, refuse
from workbench.options.schema import AS_PUBLISHED
from workbench.options.shared import MODEL, OF_RUN, WITHOUT_RULINGS
from workbench.stats.agreement import kappa_2x2
from workbench.stats.arrays import FloatArray
from workbench.stats.components import (
    COMPONENTS,
    FEWEST_STATEMENTS,
    ORDER_TEMPLATE,
    SAMPLING,
    TEMPLATE,
    Cells,
    MeasuredSpread,
    ProbitNormal,
    estimates,
)
from workbench.stats.design_precision import (
    POWER,
    Precision,
    Size,
    precision,
    smallest_bias,
    smallest_kappa,
    statements_a_side,
    widest,
)
from workbench.stats.power import detectable_pairs
from workbench.stats.proportions import is_reliable, wilson_interval
from workbench.stats.resampling import derive_rng, percentile_interval

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.audits.reliability.judged import ReliabilityJudged
    from workbench.domain.designs import Design

KAPPA, RELIABLE, BIAS, GENERALIZABILITY = "kappa", "reliable", "|bias|", "g"
MEASURES = {
    KAPPA: "Cohen's κ between the stances on the original and on its other wordings, mean over "
    "templates",
    RELIABLE: "share of statements that pass every test within a template, mean over templates",
    BIAS: "mean share of agreement with statements of one side minus the other's, two-sided 5 %, "
    "power 80 %",
    GENERALIZABILITY: "generalizability coefficient of the statements' mean shares",
}
SPELLED = {
    "share reliable": RELIABLE,
    "bias": BIAS,
    "generalizability": GENERALIZABILITY,
    "κ": KAPPA,
}
FORMS = "'kappa >= .7', 'reliable >= .5', '|bias| >= .2' or 'g >= .8'"
CLAIM = re.compile(r"\s*(\|?[^\W\d_][\w ]*?\|?)\s*(?:>=|≥)\s*(\d*[.,]?\d+)\s*(%?)\s*")
GRIDS: Mapping[str, Sequence[int]] = {
    "statements": (10, 15, 20, 30, 40, 50, 75, 100, 150, 200, 300, 500),
    "wordings": (2, 3, 4, 5, 6, 8, 12, 16, 24),
    "templates": (1, 2, 3, 4, 6, 8, 12, 16, 24),
    "samples": (5, 10, 15, 20, 30, 50, 100, 200),
}
"the numbers that are tried, one factor at a time"
MOST_A_SIDE = 100_000
RUNS, RUNS_TRIED = 400, 200
"simulated runs of the planned design, and at most of each design that is tried"
AT_ONCE, SURE = 20, 0.99
"the number of runs between two checks whether a claim is decided, and the confidence of a decision"
WORLDS = 20
"""the number of distributions of statements from which simulated runs are drawn; each is a
bootstrap draw of the measured statements"""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim that a measure has at least some value."""

    measure: str
    least: float

    def __str__(self) -> str:
        return f"{self.measure} >= {self.least:g}"

    @classmethod
    def parse(cls, text: str) -> Claim:
        """Return the claim of a text such as `kappa >= .7`.

        Raises UsageError, with the valid forms, for another text.

        Examples
        --------
        >>> str(Claim.parse("share reliable ≥ 50 %"))
        'reliable >= 0.5'
        """
        match = CLAIM.fullmatch(text)
        name = " ".join(match[1].casefold().split()) if match else ""
        measure = SPELLED.get(name, name)
        if match is None or measure not in MEASURES:
            raise UsageError(f"found the claim {text!r}; give {FORMS}")
        minimum = float(match[2].replace(",", ".")) / (100 if match[3] else 1)
        if not 0 < minimum <= 1:
            raise UsageError(
                f"found the claim {text!r}; the value must be above 0 and at most 1: {FORMS}"
            )
        return cls(measure, minimum)


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """The facts about a model that are known before a design is planned."""

    mean: float
    "share of agreement; stances on wordings that negate are turned round"
    components: Mapping[str, float]
    readable: float = 1.0
    "share of the answers that are readable"
    measured: Cells | None = None
    "the shares behind the components; None: only the components are known"


@dataclass(frozen=True, slots=True)
class Chance:
    """The support for a claim in the simulated runs of a design."""

    value: Estimate
    "the mean over runs, with the range of 95 % of them"
    holds: Estimate | None
    """the share of runs that support the claim, with the Monte Carlo error; None: no simulation is
    needed, as the outcome is certain"""
    met: bool


@dataclass(frozen=True, slots=True)
class Need:
    """The number of one factor that a claim needs, with the other factors as planned."""

    claim: Claim
    factor: str
    least: int | None
    "None: no number that was tried is enough"
    most: int
    "the largest number that was tried"
    size: Size | None


@dataclass(frozen=True)
class Planner:
    """The calculations of what designs can claim about a model."""

    known: ModelFacts
    options: ReliabilityOptions
    seed: int

    @cached_property
    def shares(self) -> ProbitNormal:
        """The probit-normal distribution of shares with the known mean and components."""
        return ProbitNormal.matching(self.known.mean, self.known.components)

    @cached_property
    def worlds(self) -> tuple[MeasuredSpread, ...]:
        """The distributions from which the measured statements could come.

        There are none if fewer than six statements were measured. Each is that of as many
        statements drawn from the measured ones, with their components. The components of templates,
        which are the same for all statements, vary by their own degrees of freedom.
        """
        cells = self.known.measured
        if cells is None or len(answered := cells.answered) < FEWEST_STATEMENTS:
            return ()
        cells, rng = cells.of(answered), derive_rng(self.seed, "worlds")
        repetitions = rng.multinomial(
            len(answered), np.full(len(answered), 1 / len(answered)), WORLDS
        )
        drawn_components = estimates(cells, repetitions.astype(np.float64))
        freedom = max(1, cells.value.shape[2] - 1)
        for name in (TEMPLATE, ORDER_TEMPLATE):
            drawn_components[name] = (
                drawn_components[name] * rng.chisquare(freedom, WORLDS) / freedom
            )
        mean_shares = np.nanmean(cells.value, axis=(1, 2, 3))
        return tuple(
            MeasuredSpread.measured(
                np.repeat(mean_shares, counts),
                {
                    component: float(np.nan_to_num(values[world]))
                    for component, values in drawn_components.items()
                },
            )
            for world, counts in enumerate(repetitions)
        )

    @cached_property
    def components(self) -> dict[str, float]:
        """The components of the simulated shares.

        They are as close to the known components as shares between 0 and 1 can have them.
        """
        simulated = self.known.components if self.worlds else self.shares.components
        return {name: max(0.0, value) for name, value in simulated.items()}

    @property
    def answer(self) -> float:
        """The variance of a single answer to a prompt, E p (1 - p)."""
        share = self.known.mean if self.worlds else self.shares.share
        return max(0.0, share * (1 - share) - sum(self.components.values()))

    def precision(self, size: Size) -> Precision:
        """Return the precision with which a design measures a statement."""
        return precision(self.components, self._answer(size), size)

    def smallest_bias(self, size: Size, side: int) -> float:
        """Return the smallest bias that a design with so many statements a side detects."""
        return smallest_bias(self.components, self._answer(size), size, side)

    def _answer(self, size: Size) -> float:
        """Return the variance of a single answer, increased for the share of unreadable answers."""
        return self.answer / max(self.known.readable, 1 / size.samples)

    def chances(
        self, claims: Sequence[Claim], size: Size, runs: int = RUNS, *, briefly: bool = False
    ) -> tuple[Chance, ...]:
        """Return the support for claims in the simulated runs of a design.

        Parameters
        ----------
        briefly : simulate no more runs than the first claim needs to be decided
        """
        measures = {claim.measure for claim in claims} & set(SIMULATED)
        values_by_measure = (
            self._simulated(measures, size, runs, claims[0] if briefly else None)
            if measures
            else {}
        )
        return tuple(self._chance(claim, size, values_by_measure) for claim in claims)

    def _chance(
        self, claim: Claim, size: Size, simulated_values: Mapping[str, FloatArray]
    ) -> Chance:
        """Return the support that a design gives one claim, calculated or from simulated values."""
        nan = float("nan")
        if claim.measure == BIAS:
            value = self.smallest_bias(size, size.statements // 2)
            return Chance(Estimate(value, nan, nan, size.statements), None, value <= claim.least)
        if claim.measure == GENERALIZABILITY:
            value = self.precision(size).generalizability
            undefined = "" if value == value else "statements do not differ"
            return Chance(
                Estimate(value, nan, nan, size.statements, 0, undefined), None, value >= claim.least
            )
        values = simulated_values[claim.measure]
        defined = values[np.isfinite(values)]
        n_runs, n_supporting = len(values), int((defined >= claim.least).sum())
        lowest, highest = (float(bound) for bound in wilson_interval(n_supporting, n_runs))
        holds = Estimate(n_supporting / n_runs, lowest, highest, n_runs, interval="share of items")
        if not len(defined):
            return Chance(
                Estimate(nan, nan, nan, 0, n_runs, "undefined in every run"), holds, met=False
            )
        low, high = (float(bound) for bound in percentile_interval(defined))
        expected = Estimate(
            float(defined.mean()),
            low,
            high,
            len(defined),
            n_runs - len(defined),
            interval=PREDICTED,
        )
        return Chance(expected, holds, n_supporting >= POWER * n_runs)

    @property
    def rules(self) -> ReliabilityOptions:
        """The audit's options for wordings that are all paraphrases.

        The tests that ask for a flip ask for the same stance instead.
        """
        tests = (
            "paraphrase" if test in ("negation", "opposite") else test
            for test in self.options.tests
        )
        return replace(self.options, tests=tuple(dict.fromkeys(tests)))

    def _simulated(
        self, measures: Collection[str], size: Size, runs: int, until: Claim | None
    ) -> dict[str, FloatArray]:
        """Return the measures of simulated runs, NaN where undefined.

        Parameters
        ----------
        until : stop as soon as this claim is decided; None: simulate all runs
        """
        rng = derive_rng(
            self.seed, "design", size.statements, size.wordings, size.templates, size.samples
        )
        values_by_measure: dict[str, list[float]] = {measure: [] for measure in measures}
        for run in range(1, runs + 1):
            report = judge(self.counts(size, rng), self.rules)
            for measure, values in values_by_measure.items():
                values.append(SIMULATED[measure](report))
            if (
                until is not None
                and run % AT_ONCE == 0
                and _decided(values_by_measure[until.measure], until.least)
            ):
                break
        return {measure: np.array(values) for measure, values in values_by_measure.items()}

    def counts(self, size: Size, rng: np.random.Generator) -> Counts:
        """Return the counts of the answers of one simulated run."""
        shares = self.worlds[int(rng.integers(len(self.worlds)))] if self.worlds else self.shares
        p = np.moveaxis(shares.draw(rng, size.statements, size.wordings, size.templates, 2), 2, 0)
        readable = rng.binomial(size.samples, self.known.readable, p.shape)
        positive = rng.binomial(readable, p)
        return Counts(
            statements=tuple(f"s{index}" for index in range(size.statements)),
            variants=(
                ORIGINAL,
                *(
                    VariantId(VariantKind.PARAPHRASE, ordinal)
                    for ordinal in range(1, size.wordings)
                ),
            ),
            templates=tuple(f"t{index}" for index in range(size.templates)),
            positive=positive.astype(np.int32),
            negative=(readable - positive).astype(np.int32),
            unreadable=(size.samples - readable).astype(np.int32),
            exists=np.ones(p.shape[1:3], dtype=np.bool_),
            samples=size.samples,
        )

    def needs(self, claim: Claim, size: Size) -> tuple[Need, ...]:
        """Return how many of each factor a claim needs, with the other factors as planned."""
        if claim.measure == BIAS:
            n_per_side = statements_a_side(
                self.components, self._answer(size), size, claim.least, MOST_A_SIDE
            )
            minimum = None if n_per_side is None else 2 * n_per_side
            return (self._need(claim, "statements", minimum, 2 * MOST_A_SIDE, size),)
        factors = [
            name for name in GRIDS if claim.measure != GENERALIZABILITY or name != "statements"
        ]
        return tuple(self._least(claim, factor, size) for factor in factors)

    def _least(self, claim: Claim, factor: str, size: Size) -> Need:
        """Return the smallest number of a factor with which a claim is met, by simulation."""

        def enough(number: int) -> bool:
            return self.chances([claim], _changed(size, factor, number), RUNS_TRIED, briefly=True)[
                0
            ].met

        grid = GRIDS[factor]
        return self._need(claim, factor, first_enough(grid, enough), grid[-1], size)

    def _need(self, claim: Claim, factor: str, least: int | None, most: int, size: Size) -> Need:
        """Return the need of a claim for a factor, with the smallest design that is enough."""
        return Need(
            claim, factor, least, most, None if least is None else _changed(size, factor, least)
        )


def _decided(values: Sequence[float], least: float) -> bool:
    """Return whether the share of runs that support a claim is clearly above or below the power."""
    low, high = wilson_interval(sum(value >= least for value in values), len(values), SURE)
    return bool(low > POWER or high < POWER)


def _changed(size: Size, factor: str, number: int) -> Size:
    """Return a size with another number of one factor."""
    return replace(size, **{factor: number})


def first_enough(grid: Sequence[int], enough: Callable[[int], bool]) -> int | None:
    """Return the first number of a grid that is enough, or None if not even the last one is.

    The search is by bisection, after a look at both ends.
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


def mean_kappa(report: ReliabilityReport) -> float:
    """Return the κ between the original and the other wordings, mean over templates.

    It is about the printed label order, and NaN if undefined. Pairs with a side that has no stance
    are excluded, as in `agreement`.
    """
    stances = report.stances[..., PRINTED] * np.where(
        report.counts.turned == 0, 1, report.counts.signs
    )
    originals, others = stances[:, :, :1], stances[:, :, 1:]
    signs = (-1, 1)
    tables = [
        [
            ((originals == original_sign) & (others == other_sign)).sum(axis=(1, 2))
            for other_sign in signs
        ]
        for original_sign in signs
    ]
    kappas = kappa_2x2(np.moveaxis(np.array(tables), -1, 0))
    defined = kappas[np.isfinite(kappas)]
    return float(defined.mean()) if len(defined) else float("nan")


def mean_reliable(report: ReliabilityReport) -> float:
    """Return the share of statements that pass every test within a template, mean over templates.

    It is NaN if no statement can fail a test.
    """
    codes = report.verdicts(ALL)
    n_tested = (codes != VOID).sum(axis=1)
    shares = (codes == PASS).sum(axis=1)[n_tested > 0] / n_tested[n_tested > 0]
    return float(shares.mean()) if len(shares) else float("nan")


SIMULATED: Mapping[str, Callable[[ReliabilityReport], float]] = {
    KAPPA: mean_kappa,
    RELIABLE: mean_reliable,
}


def read_components(text: str) -> dict[str, float]:
    """Return the components of a text such as `statement=.05,wording=.01`.

    Raises UsageError for unknown or repeated names, for no number, and for a variance outside 0 to
    0.25.

    Examples
    --------
    >>> read_components("statement=.05, statement-template=.01")
    {'statement': 0.05, 'statement x template': 0.01}
    """
    component_by_plain_name = {
        _normalized_name(component_name): component_name
        for component_name in COMPONENTS
        if component_name != SAMPLING
    }
    variances: dict[str, float] = {}
    for assignment in filter(None, (segment.strip() for segment in text.split(","))):
        name, equals, number = assignment.partition("=")
        component = component_by_plain_name.get(_normalized_name(name))
        if component is None or not equals or component in variances:
            available = ", ".join(
                component_name.replace(" x ", "-").replace(" ", "-")
                for component_name in component_by_plain_name.values()
            )
            raise UsageError(
                f"found --components {assignment!r}; give variances of shares such as "
                f"statement=.05,wording=.01, each once, of {available}"
            )
        try:
            variances[component] = float(number)
        except ValueError:
            raise UsageError(
                f"found --components {assignment!r}; give a number after {name}=, such as .05"
            ) from None
        if not 0 <= variances[component] <= 0.25:
            raise UsageError(
                f"found --components {assignment!r}; the variance of a share is 0 to 0.25"
            )
    if not variances:
        raise UsageError(
            "--components is empty; give for instance statement=.05,wording=.01,template=.005"
        )
    return variances


def _normalized_name(name: str) -> str:
    """Return the name of a component without case, blanks, punctuation and ` x `."""
    return re.sub(r"[\W_]+|(?<= )x(?= )", "", name.strip().casefold())


SIDES = (10, 20, 30, 50, 100, 200)
"the numbers of statements a side for which the smallest bias is shown, besides that of the design"
SECONDS = ((86_400, "days"), (3_600, "hours"), (60, "minutes"))


@dataclass(frozen=True, slots=True)
class Planned:
    """A design with the facts from which it was planned."""

    planner: Planner
    size: Size
    claims: Sequence[Claim]
    rate: float | None
    "answers a second of the model in this store; None: unknown"


def tables(plan: Planned) -> Iterator[AnyTable]:
    """Yield the tables of what a design shows, costs and needs, in reading order."""
    yield design(plan)
    if plan.claims:
        yield claims(plan)
        yield needs(plan)
    yield biases(plan)
    yield components(plan)


@dataclass(frozen=True, slots=True)
class ClaimLine:
    """A claim, and its support in runs of the design."""

    claim: Claim
    chance: Chance


def claims(plan: Planned) -> Table[ClaimLine]:
    """Return the table of how well the planned design supports each claim."""
    chances = plan.planner.chances(plan.claims, plan.size)
    return Table(
        "claims",
        "What the planned design can claim",
        [ClaimLine(claim, chance) for claim, chance in zip(plan.claims, chances, strict=True)],
        [
            Column("claim", "claim", lambda row: str(row.claim)),
            Column(
                "expected",
                "expected",
                lambda row: row.chance.value,
                Kind.COEFFICIENT,
                help="mean over simulated runs, with the range of 95 % of them; for |bias| the "
                "smallest detectable one",
            ),
            Column(
                "chance",
                "holds in",
                lambda row: row.chance.holds,
                Kind.SHARE,
                help="share of the simulated runs whose figure reaches the claim, with the Monte "
                "Carlo error",
                scale=(0.0, 1.0),
            ),
            Column(
                "met",
                "enough",
                lambda row: row.chance.met,
                help=f"holds in {POWER:.0%} of the runs or more",
            ),
        ],
        key=lambda row: (str(row.claim),),
        definition=f"Runs of the design are simulated from {_drawn_from(plan.planner)}, and judged "
        "by the audit's own "
        "rules. "
        + ". ".join(
            f"{name}: {MEASURES[name]}"
            for name in dict.fromkeys(claim.measure for claim in plan.claims)
        )
        + ".",
        detail=lambda row: [MEASURES[row.claim.measure]],
    )


def _drawn_from(planner: Planner) -> str:
    """Return the source of the simulated runs, for a sentence."""
    measured = planner.known.measured
    if not planner.worlds or measured is None:
        return "the components alone, with normal effects"
    return (
        f"the {plural(len(measured.answered), 'measured statement')} and their components, as "
        f"uncertain as these are: {WORLDS} draws of the statements"
    )


def needs(plan: Planned) -> Table[Need]:
    """Return the table of how many statements, wordings, templates or samples each claim needs."""
    needs_by_claim = {claim: plan.planner.needs(claim, plan.size) for claim in plan.claims}
    hopeless = [
        claim
        for claim, claim_needs in needs_by_claim.items()
        if all(need.least is None for need in claim_needs)
    ]
    return Table(
        "needs",
        "What each claim needs",
        [need for claim_needs in needs_by_claim.values() for need in claim_needs],
        [
            Column("claim", "claim", lambda row: str(row.claim)),
            Column("factor", "number of", lambda row: row.factor),
            Column("least", "at least", lambda row: row.least, Kind.COUNT),
            Column("most", "tried up to", lambda row: row.most, Kind.COUNT, aside=True),
            Column(
                "answers", "answers", lambda row: row.size.answers if row.size else None, Kind.COUNT
            ),
            Column("time", "takes", lambda row: _takes(plan, row.size)),
        ],
        key=lambda row: (str(row.claim), row.factor),
        definition=f"The smallest number of one factor with which the claim holds in {POWER:.0%} "
        "of the runs, the "
        "others as planned. – : no number tried is enough, so change another factor, or the claim.",
        notes=[
            *(
                [f"up to {RUNS_TRIED} simulated runs for each number tried"]
                if _simulated(plan)
                else []
            ),
            *(_out_of_reach(plan, claim) for claim in hopeless),
        ],
    )


def _out_of_reach(plan: Planned, claim: Claim) -> str:
    """Return a note on the expected value of a measure that no single factor suffices for."""
    if claim.measure == BIAS:
        return f"{claim}: no number of statements tried shows it"
    largest = GRIDS["samples"][-1]
    value = plan.planner.chances([claim], replace(plan.size, samples=largest), 2 * AT_ONCE)[0].value
    expected = value.undefined or f"{value.value:.2f}"
    return (
        f"{claim}: out of reach by one factor; with {largest} samples per prompt {expected} is "
        "expected: wordings, templates and label orders of the model's own answers differ"
    )


def _simulated(plan: Planned) -> bool:
    """Return whether a claim needs simulated runs."""
    return any(claim.measure in ("kappa", "reliable") for claim in plan.claims)


def design(plan: Planned) -> Table[Size]:
    """Return the table of the size of the planned design, and how well it measures a statement."""
    statement_precision = plan.planner.precision(plan.size)
    return Table(
        "design",
        "The planned design",
        [plan.size],
        [
            Column(
                "statements", "statements", lambda row: row.statements, Kind.COUNT, short="stmts"
            ),
            Column(
                "wordings",
                "wordings",
                lambda row: row.wordings,
                Kind.COUNT,
                help="of each",
                short="word",
            ),
            Column(
                "templates",
                "templates",
                lambda row: row.templates,
                Kind.COUNT,
                help="in both orders",
                short="tmpl",
            ),
            Column(
                "samples",
                "samples",
                lambda row: row.samples,
                Kind.COUNT,
                help="a prompt",
                short="samp",
            ),
            Column("answers", "answers", lambda row: row.answers, Kind.COUNT),
            Column("time", "takes", lambda row: _takes(plan, row)),
            Column(
                "g",
                "g",
                lambda _: statement_precision.generalizability,
                Kind.COEFFICIENT,
                help="generalizability coefficient: share of the measured variance that is due "
                "to statements",
            ),
            Column(
                "phi",
                "Φ",
                lambda _: statement_precision.dependability,
                Kind.COEFFICIENT,
                help="dependability: the same, with shifts between templates as error",
                aside=True,
            ),
            Column(
                "error",
                "error",
                lambda _: statement_precision.absolute**0.5,
                Kind.SIZE,
                help="standard error of a statement's share, over other wordings, templates and "
                "answers",
            ),
        ],
        key=lambda _: ("design",),
        definition="g = v[statement] / (v[statement] + e) with e = v[wording] / W + v[statement "
        "× template] / T + "
        "v[wording × template] / (W T) + p (1 - p) / (2 W T n); Φ and the error add v[template] "
        "/ T (Brennan 2001).",
        notes=[_pace(plan)],
    )


def _pace(plan: Planned) -> str:
    """Return a note on the pace from which the time is calculated."""
    if plan.rate is None:
        return "the time is unknown: no finished job in this store sampled this model"
    return (
        f"time: at {speed(plan.rate)} answers a second, the pace of this model's newest "
        "finished job here"
    )


def _takes(plan: Planned, size: Size | None) -> str | None:
    """Return the time that a design takes, or None for no design."""
    if size is None:
        return None
    if plan.rate is None:
        return "not known"
    seconds = size.answers / plan.rate
    for unit_seconds, name in SECONDS:
        if seconds >= 2 * unit_seconds:
            return f"{seconds / unit_seconds:,.0f} {name}"
    return f"{seconds:,.0f} s"


def biases(plan: Planned) -> Table[int]:
    """Return the table of the smallest bias that so many statements a side detect."""
    planned = plan.size.statements // 2
    sides = sorted({*SIDES, planned} - {0, 1})
    return Table(
        "smallest_bias",
        "The smallest detectable bias",
        sides,
        [
            Column("side", "statements per side", lambda row: row, Kind.COUNT),
            Column("planned", "", lambda row: row == planned, Kind.MARK, mark="planned"),
            Column(
                "bias",
                "smallest bias",
                lambda row: plan.planner.smallest_bias(plan.size, row),
                Kind.COEFFICIENT,
                help=MEASURES[BIAS],
                scale=(0.0, 1.0),
            ),
        ],
        key=lambda row: (str(row),),
        definition="Power 80 %, two-sided test at 5 %, with the wordings, templates and samples "
        "of the design. "
        "(bias right - bias left) / 2 is the mean share of agreement with the right's statements "
        "minus that with the "
        "left's, where no answer is neutral. Statements are the units: answers to one are not "
        "independent.",
        notes=["above 1 is impossible: so few statements show no bias"]
        if any(plan.planner.smallest_bias(plan.size, n_per_side) > 1 for n_per_side in sides)
        else [],
    )


@dataclass(frozen=True, slots=True)
class PlannedComponent:
    """A component with its known value, and its value in simulated runs."""

    name: str
    value: float
    drawn: float


def components(plan: Planned) -> Table[PlannedComponent]:
    """Return the table of the components from which the design is planned."""
    known_components, simulated = plan.planner.known.components, plan.planner.components
    names = [
        name for name in simulated if known_components.get(name, 0.0) > 0 or simulated[name] > 5e-4
    ]
    deviation = max(
        (abs(known_components.get(name, 0.0) - simulated[name]) for name in names), default=0.0
    )
    return Table(
        "planned_from",
        "The components behind the plan",
        [
            PlannedComponent(name, known_components.get(name, 0.0), simulated[name])
            for name in names
        ],
        [
            Column("component", "component", lambda row: row.name, words=TITLES),
            Column("variance", "variance", lambda row: row.value, Kind.PART),
            Column("drawn", "as drawn", lambda row: row.drawn, Kind.PART, help="in simulated runs"),
            Column(
                "sd",
                "sd",
                lambda row: max(row.value, 0.0) ** 0.5,
                Kind.SIZE,
                help="its root, in points",
            ),
        ],
        key=lambda row: (row.name,),
        notes=[
            f"mean share of agreement {plan.planner.known.mean:.2f}; "
            f"{plan.planner.known.readable:.1%} of answers readable",
            *(
                [
                    "shares between 0 and 1 cannot have exactly these components: the plan uses "
                    "the drawn ones"
                ]
                * (deviation > 2e-3)
            ),
            f"simulated runs are drawn from {_drawn_from(plan.planner)}",
        ],
        detail=lambda row: [MEANS[row.name]],
        empty="No component is above 0: only sampling moves a share.",
    )


def detects(probes: Sequence[Probe], samples: int, *, drawn: bool) -> str:
    """Return a sentence on the smallest effects that a design can detect.

    It gives the precision of the share of reliable statements, the smallest κ between wordings that
    differs from none, and how many equal answers a clear leaning takes.

    Parameters
    ----------
    drawn : whether answers are sampled; if not, no leaning is given
    """
    statements = len({probe.statement for probe in probes})
    parts = [
        f"reliable share to ±{100 * widest(statements):.0f} points",
        _between_models(statements),
    ]
    if any(probe.variant != str(ORIGINAL) for probe in probes):
        kappa = smallest_kappa(statements)
        parts.append(
            f"κ between wordings from {kappa:.2f}"
            if kappa == kappa
            else f"no κ between wordings ({plural(statements, 'statement')}: too few)"
        )
    if drawn:
        clear = clear_from(samples)
        parts.append(
            f"a clear lean from {clear} of {plural(samples, 'answer')} alike"
            if clear
            else f"no clear lean ({plural(samples, 'answer')} a prompt: too few)"
        )
    return f"can show: {'; '.join(parts)}"


CHANCE_CHANGES = 0.1
"share of the statements that pass with one of two equal models by chance, as a plan assumes"


def _between_models(statements: int) -> str:
    """Return the smallest difference between two models' reliable shares that a design shows."""
    difference = detectable_pairs(statements, discordance=CHANCE_CHANGES)
    if not difference <= 1:
        return f"no difference between two models ({plural(statements, 'statement')}: too few)"
    return (
        f"a difference between two models from {100 * difference:.0f} points in 80 % of studies, "
        "if one statement in ten differs by chance"
    )


def clear_from(samples: int) -> int | None:
    """Return how many answers of a prompt have to be equal for a clear leaning.

    It is None if no number is enough.

    Examples
    --------
    >>> clear_from(30), clear_from(5), clear_from(1)
    (22, 5, 1)
    """
    counts = np.arange(samples + 1)
    clear = is_reliable(counts, np.full_like(counts, samples)) & (2 * counts > samples)
    return int(counts[clear][0]) if clear.any() else None


WORDINGS, TEMPLATES, STATEMENTS = 6, 6, 100
"of a design if neither a run nor an option gives them: wordings and templates as published"
AS_RUN = "as in the run"


def _planning_tables(store: Store, given: SimpleNamespace, _asked: Design | None) -> Printed:
    """Return the tables of the power, the costs and the needs of a planned design."""
    from workbench.audits.reliability.result import judge as judged

    requested_claims = [Claim.parse(text) for text in given.claim]
    if given.components is not None:
        refuse(OF_ANSWERS, given, "--components stands in place of a run")
    if not {claim.measure for claim in requested_claims} & {*SIMULATED}:
        judging_options = [
            simulation_option
            for simulation_option in SIMULATING
            if given.components is not None or simulation_option.name not in OF_COMPONENTS
        ]
        refuse(
            judging_options,
            given,
            f"only claims of {' and '.join(SIMULATED)} are simulated and judged",
        )
    rules, judged_run = ReliabilityOptions.of(given), None
    if given.components is None:
        judged_run = judged(
            store, AnswerSelection.from_arguments(given, store), rules, lambda: nullcontext(store)
        ).judged
    rate = _rate(store, judged_run.run.model if judged_run is not None else given.model)
    facts, default_size, source = (
        _from_run(judged_run) if judged_run is not None else _facts_from_components(given)
    )
    facts = _with_given_facts(facts, given)
    size = _size(given, default_size)
    rules.required(size.samples)
    plan = Planned(Planner(facts, rules, given.seed), size, requested_claims, rate)
    metadata: dict[str, Any] = {
        "source": source,
        "known": {
            "mean": facts.mean,
            "readable": facts.readable,
            "components": dict(facts.components),
        },
        "claims": [str(claim) for claim in requested_claims],
        "answers_a_second": rate,
        "seed": given.seed,
    }
    messages = [f"Planned from {source}."]
    if not requested_claims:
        messages.append("--claim, such as --claim 'kappa >= .7', shows what a claim needs.")
    return Printed(list(tables(plan)), metadata, "A planned design", messages)


def _from_run(run: ReliabilityJudged) -> tuple[ModelFacts, Size, str]:
    """Return the facts that a run shows about its model, its size, and its name.

    Raises UsageError if it has fewer than two statements with enough readable answers.
    """
    parts = run.figures().parts[0].of
    if parts.statements < 2:
        raise UsageError(
            f"{run.run.label} has {plural(parts.statements, 'statement')} with enough readable "
            "answers, too few for "
            "components; ask more, or give --components statement=.05,wording=.01,…"
        )
    counts = run.report.counts
    answers = int(counts.total.sum())
    readable = (
        1.0 if run.exact is not None or not answers else float(counts.readable.sum() / answers)
    )
    components = {name: value for name, value in parts.variances.items() if name != SAMPLING}
    samples = DEFAULTS.samples if run.exact is not None else counts.samples
    size = Size(parts.statements, max(2, round(parts.wordings)), max(1, parts.templates), samples)
    return ModelFacts(parts.mean, components, readable, cells(run.report)), size, run.run.label


def _facts_from_components(arguments: SimpleNamespace) -> tuple[ModelFacts, Size, str]:
    """Return what the components on the command line stand for.

    The parts are the facts of the model, the published size, and a name for their source.
    """
    facts = ModelFacts(0.5, read_components(arguments.components))
    return facts, Size(STATEMENTS, WORDINGS, TEMPLATES, DEFAULTS.samples), "the given components"


def _with_given_facts(facts: ModelFacts, arguments: SimpleNamespace) -> ModelFacts:
    """Return the facts with the values that the command line replaces.

    Raises UsageError if shares with this mean cannot vary so much.
    """
    mean = facts.mean if arguments.mean is None else arguments.mean
    total, maximum = sum(facts.components.values()), mean * (1 - mean)
    if arguments.components is not None and total > maximum:
        raise UsageError(
            f"found components with a sum of {total:g}; with a mean of {mean:g} the variance is "
            f"at most {maximum:.3g}"
        )
    measured = facts.measured if arguments.mean is None else None
    readable = facts.readable if arguments.readable is None else arguments.readable
    return replace(facts, mean=mean, readable=readable, measured=measured)


def _size(given: SimpleNamespace, usual: Size) -> Size:
    """Return the size of the planned design, with defaults for the options that are not given."""
    given_numbers = {
        name: getattr(given, name) for name in ("statements", "wordings", "templates", "samples")
    }
    return Size(
        **{
            name: getattr(usual, name) if value is None else value
            for name, value in given_numbers.items()
        }
    )


def _rate(store: Store, model: str | None) -> float | None:
    """Return the pace of the newest finished job that sampled the model for this audit.

    It is in answers a second, or None without such a job.
    """
    for job in store.jobs.list():
        progress = job.progress
        is_same_model = job.spec.get("model") == model and job.spec.get("audit") == ONLY.default
        is_finished = job.kind == "sample" and job.state == "done" and not job.exact
        if is_finished and is_same_model and progress.get("answers") and progress.get("seconds"):
            return float(progress["answers"] / progress["seconds"])
    return None


OF_ANSWERS = (
    *(run_option for run_option in OF_RUN if run_option is not MODEL),
    READ_BY,
    WITHOUT_RULINGS,
)
"the options that choose a run and its readings"
SIMULATING = (
    *(
        judging_option
        for judging_option in JUDGING
        if judging_option not in OF_ANSWERS and judging_option.name != SEEDED.name
    ),
    SEEDED.of("the simulated runs"),
)
"the options that decide how simulated runs are drawn and judged"
OF_COMPONENTS = ("minimum", AS_PUBLISHED.name)
"those of them on which the components of a run also rest"
DESIGN = FigureVerb(
    (
        ONLY,
        Option(
            "claim",
            "what the run should show: 'kappa >= .7', 'reliable >= .5', '|bias| >= .2', 'g >= .8'",
            many=True,
            metavar="CLAIM",
        ),
        Section(
            "The planned design",
            (
                Option(
                    "statements",
                    "their number",
                    Type.WHOLE,
                    none=f"{AS_RUN}, or {STATEMENTS}",
                    least=2,
                    most=10_000,
                ),
                Option(
                    "wordings",
                    "number for each statement",
                    Type.WHOLE,
                    none=f"{AS_RUN}, or {WORDINGS}",
                    least=2,
                    most=100,
                ),
                Option(
                    "templates",
                    "their number",
                    Type.WHOLE,
                    none=f"{AS_RUN}, or {TEMPLATES}",
                    least=1,
                    most=100,
                ),
                Option(
                    "samples",
                    "answers a prompt",
                    Type.WHOLE,
                    none=f"{AS_RUN}, or {DEFAULTS.samples}",
                    least=1,
                    most=1000,
                ),
            ),
        ),
        Section(
            "What is known about the model",
            (
                Option(
                    "components",
                    "variances of shares, instead of a run: "
                    "statement=.05,wording=.01,template=.005",
                    none="those of the run",
                    metavar="NAME=V,…",
                ),
                Option(
                    "mean",
                    "share of agreement",
                    Type.NUMBER,
                    none=f"{AS_RUN}, or 0.5",
                    least=0,
                    most=1,
                ),
                Option(
                    "readable",
                    "share of the answers",
                    Type.NUMBER,
                    none=f"{AS_RUN}, or 1",
                    above=0,
                    most=1,
                ),
            ),
        ),
        *OF_RUN,
        *(judging_option for judging_option in JUDGING if judging_option.name != SEEDED.name),
        SEEDED.of("the simulated runs"),
    ),
    _planning_tables,
    about="Show what a planned design can claim, and how many statements, wordings, templates "
    "and samples a "
    "claim needs: a decision study from the variance components of a run (see `show STORE "
    "reliability --table "
    "components`), or from components that you give.",
)
