"""What a planned run of the audit can claim: runs are simulated from variance components and judged
as real ones are.

A run is drawn from the components that are known of a model, with as many answers readable as were
before, and judged by the audit's own rules. Where a run was measured, its statements are drawn as
they were measured (`MeasuredSpread`), as uncertain as they and the components are; otherwise all
shares are probit-normal (`ProbitNormal`). The chance of a claim is the share of simulated runs that
show it. All wordings of a statement are taken alike: as paraphrases of its original, turned round
where they negate.
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
from workbench.evidence.runs import Which
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
"numbers that are tried, one factor at a time"
MOST_A_SIDE = 100_000
RUNS, RUNS_TRIED = 400, 200
"simulated runs of the planned design, and at most of each design that is tried"
AT_ONCE, SURE = 20, 0.99
"runs after which one looks whether a claim is decided, and how surely"
WORLDS = 20
"""distributions of statements that simulated runs are drawn from, as many as bootstrap draws of the
measured ones"""


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
            raise UsageError(
                f"found the claim {text!r}; the value must be above 0 and at most 1: {FORMS}"
            )
        return cls(measure, least)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a model before a design is planned."""

    mean: float
    "share of agreement, after turning"
    components: Mapping[str, float]
    readable: float = 1.0
    "share of the answers that can be read"
    measured: Cells | None = None
    "the shares that the components are of; None: components alone are known"


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
    def worlds(self) -> tuple[MeasuredSpread, ...]:
        """The distributions that measured statements could come from; empty if fewer than six were
        measured.

        Each is that of as many statements drawn from the measured ones, with the components of
        these. The components of templates, which are the same for all statements, vary by their own
        degrees of freedom.
        """
        cells = self.known.measured
        if cells is None or len(at := cells.answered) < FEWEST_STATEMENTS:
            return ()
        cells, rng = cells.of(at), derive_rng(self.seed, "worlds")
        times = rng.multinomial(len(at), np.full(len(at), 1 / len(at)), WORLDS)
        found = estimates(cells, times.astype(np.float64))
        freedom = max(1, cells.value.shape[2] - 1)
        for name in (TEMPLATE, ORDER_TEMPLATE):
            found[name] = found[name] * rng.chisquare(freedom, WORLDS) / freedom
        own = np.nanmean(cells.value, axis=(1, 2, 3))
        return tuple(
            MeasuredSpread.measured(
                np.repeat(own, often),
                {name: float(np.nan_to_num(each[n])) for name, each in found.items()},
            )
            for n, often in enumerate(times)
        )

    @cached_property
    def components(self) -> dict[str, float]:
        """The components of the shares that are drawn: those that are known, as near as shares can
        have them.
        """
        drawn = self.known.components if self.worlds else self.shares.components
        return {name: max(0.0, value) for name, value in drawn.items()}

    @property
    def answer(self) -> float:
        """The variance of a single answer, E p (1 - p)."""
        share = self.known.mean if self.worlds else self.shares.share
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
        """Return what a design shows of claims. `briefly`: simulate no more runs than one claim
        needs to be decided.
        """
        simulated = {claim.measure for claim in claims} & set(SIMULATED)
        found = (
            self._simulated(simulated, size, runs, claims[0] if briefly else None)
            if simulated
            else {}
        )
        return tuple(self._chance(claim, size, found) for claim in claims)

    def _chance(self, claim: Claim, size: Size, found: Mapping[str, FloatArray]) -> Chance:
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
        values = found[claim.measure]
        defined = values[np.isfinite(values)]
        n, k = len(values), int((defined >= claim.least).sum())
        least, most = (float(end) for end in wilson_interval(k, n))
        holds = Estimate(k / n, least, most, n, interval="share of items")
        if not len(defined):
            return Chance(Estimate(nan, nan, nan, 0, n, "undefined in every run"), holds, met=False)
        low, high = (float(end) for end in percentile_interval(defined))
        expected = Estimate(
            float(defined.mean()), low, high, len(defined), n - len(defined), interval=PREDICTED
        )
        return Chance(expected, holds, k >= POWER * n)

    @property
    def rules(self) -> ReliabilityOptions:
        """The audit's options for wordings that are all paraphrases: what asks for a flip asks for
        the same stance.
        """
        tests = (
            "paraphrase" if test in ("negation", "opposite") else test
            for test in self.options.tests
        )
        return replace(self.options, tests=tuple(dict.fromkeys(tests)))

    def _simulated(
        self, measures: Collection[str], size: Size, runs: int, until: Claim | None
    ) -> dict[str, FloatArray]:
        """Return figures of simulated runs, NaN where they are undefined; with `until` only as many
        as decide it.
        """
        rng = derive_rng(
            self.seed, "design", size.statements, size.wordings, size.templates, size.samples
        )
        found: dict[str, list[float]] = {measure: [] for measure in measures}
        for run in range(1, runs + 1):
            report = judge(self.counts(size, rng), self.rules)
            for measure, values in found.items():
                values.append(SIMULATED[measure](report))
            if (
                until is not None
                and run % AT_ONCE == 0
                and _decided(found[until.measure], until.least)
            ):
                break
        return {measure: np.array(values) for measure, values in found.items()}

    def counts(self, size: Size, rng: np.random.Generator) -> Counts:
        """Return the answers of one simulated run."""
        shares = self.worlds[int(rng.integers(len(self.worlds)))] if self.worlds else self.shares
        p = np.moveaxis(shares.draw(rng, size.statements, size.wordings, size.templates, 2), 2, 0)
        readable = rng.binomial(size.samples, self.known.readable, p.shape)
        positive = rng.binomial(readable, p)
        return Counts(
            statements=tuple(f"s{number}" for number in range(size.statements)),
            variants=(
                ORIGINAL,
                *(VariantId(VariantKind.PARAPHRASE, number) for number in range(1, size.wordings)),
            ),
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
            side = statements_a_side(
                self.components, self._answer(size), size, claim.least, MOST_A_SIDE
            )
            least = None if side is None else 2 * side
            return (self._need(claim, "statements", least, 2 * MOST_A_SIDE, size),)
        factors = [
            name for name in GRIDS if claim.measure != GENERALIZABILITY or name != "statements"
        ]
        return tuple(self._least(claim, factor, size) for factor in factors)

    def _least(self, claim: Claim, factor: str, size: Size) -> Need:
        def enough(number: int) -> bool:
            return self.chances([claim], _changed(size, factor, number), RUNS_TRIED, briefly=True)[
                0
            ].met

        grid = GRIDS[factor]
        return self._need(claim, factor, first_enough(grid, enough), grid[-1], size)

    def _need(self, claim: Claim, factor: str, least: int | None, most: int, size: Size) -> Need:
        return Need(
            claim, factor, least, most, None if least is None else _changed(size, factor, least)
        )


def _decided(values: Sequence[float], least: float) -> bool:
    """Return whether the share of runs that show a claim is surely more or less than the power."""
    low, high = wilson_interval(sum(value >= least for value in values), len(values), SURE)
    return bool(low > POWER or high < POWER)


def _changed(size: Size, factor: str, number: int) -> Size:
    return replace(size, **{factor: number})


def first_enough(grid: Sequence[int], enough: Callable[[int], bool]) -> int | None:
    """Return the first number of a grid that is enough, by bisection where the first is not; None
    where the last is not either.
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
    """Return κ between the original and the other wordings in printed order, mean over templates;
    NaN: undefined.

    Pairs with a side that has no stance are left out, as `agreement` does.
    """
    stances = report.stances[..., PRINTED] * np.where(
        report.counts.turned == 0, 1, report.counts.signs
    )
    first, second = stances[:, :, :1], stances[:, :, 1:]
    signs = (-1, 1)
    tables = [[((first == a) & (second == b)).sum(axis=(1, 2)) for b in signs] for a in signs]
    kappas = kappa_2x2(np.moveaxis(np.array(tables), -1, 0))
    defined = kappas[np.isfinite(kappas)]
    return float(defined.mean()) if len(defined) else float("nan")


def mean_reliable(report: ReliabilityReport) -> float:
    """Return the share of statements that pass every test within a template, mean over
    templates.
    """
    found = report.verdicts(ALL)
    tested = (found != VOID).sum(axis=1)
    shares = (found == PASS).sum(axis=1)[tested > 0] / tested[tested > 0]
    return float(shares.mean()) if len(shares) else float("nan")


SIMULATED: Mapping[str, Callable[[ReliabilityReport], float]] = {
    KAPPA: mean_kappa,
    RELIABLE: mean_reliable,
}


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
            known_names = ", ".join(
                name.replace(" x ", "-").replace(" ", "-") for name in plain.values()
            )
            raise UsageError(
                f"found --components {part!r}; give variances of shares such as "
                "statement=.05,wording=.01, each once, "
                f"of {known_names}"
            )
        try:
            found[known] = float(number)
        except ValueError:
            raise UsageError(
                f"found --components {part!r}; give a number after {name}=, such as .05"
            ) from None
        if not 0 <= found[known] <= 0.25:
            raise UsageError(f"found --components {part!r}; the variance of a share is 0 to 0.25")
    if not found:
        raise UsageError(
            "--components is empty; give for instance statement=.05,wording=.01,template=.005"
        )
    return found


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+|(?<= )x(?= )", "", name.strip().casefold())


SIDES = (10, 20, 30, 50, 100, 200)
"statements a side of which the smallest bias is shown, beside those of the design"
SECONDS = ((86_400, "days"), (3_600, "hours"), (60, "minutes"))


@dataclass(frozen=True, slots=True)
class Planned:
    """A design with what it was planned from."""

    planner: Planner
    size: Size
    claims: Sequence[Claim]
    rate: float | None
    "answers a second of the model in this store; None: not known"


def tables(of: Planned) -> Iterator[AnyTable]:
    """Yield what a design shows, costs and needs, in the order in which one reads it."""
    yield design(of)
    if of.claims:
        yield claims(of)
        yield needs(of)
    yield biases(of)
    yield components(of)


@dataclass(frozen=True, slots=True)
class ClaimLine:
    """A claim, and what runs of the design show of it."""

    claim: Claim
    chance: Chance


def claims(of: Planned) -> Table[ClaimLine]:
    """Return what the planned design shows of each claim."""
    found = of.planner.chances(of.claims, of.size)
    return Table(
        "claims",
        "What the planned design can claim",
        [ClaimLine(claim, chance) for claim, chance in zip(of.claims, found, strict=True)],
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
        definition=f"Runs of the design are simulated from {_drawn_from(of.planner)}, and judged "
        "by the audit's own "
        "rules. "
        + ". ".join(
            f"{name}: {MEASURES[name]}" for name in dict.fromkeys(one.measure for one in of.claims)
        )
        + ".",
        detail=lambda row: [MEASURES[row.claim.measure]],
    )


def _drawn_from(planner: Planner) -> str:
    measured = planner.known.measured
    if not planner.worlds or measured is None:
        return "the components alone, with normal effects"
    return (
        f"the {plural(len(measured.answered), 'measured statement')} and their components, as "
        "uncertain as these are: "
        f"{WORLDS} draws of the statements"
    )


def needs(of: Planned) -> Table[Need]:
    """Return how many statements, wordings, templates or samples each claim needs, one at a
    time.
    """
    found = {claim: of.planner.needs(claim, of.size) for claim in of.claims}
    hopeless = [claim for claim, each in found.items() if all(need.least is None for need in each)]
    return Table(
        "needs",
        "What each claim needs",
        [need for each in found.values() for need in each],
        [
            Column("claim", "claim", lambda row: str(row.claim)),
            Column("factor", "number of", lambda row: row.factor),
            Column("least", "at least", lambda row: row.least, Kind.COUNT),
            Column("most", "tried up to", lambda row: row.most, Kind.COUNT, aside=True),
            Column(
                "answers", "answers", lambda row: row.size.answers if row.size else None, Kind.COUNT
            ),
            Column("time", "takes", lambda row: _takes(of, row.size)),
        ],
        key=lambda row: (str(row.claim), row.factor),
        definition=f"The smallest number of one factor with which the claim holds in {POWER:.0%} "
        "of the runs, the "
        "others as planned. – : no number tried is enough, so change another factor, or the claim.",
        notes=[
            *(
                [f"up to {RUNS_TRIED} simulated runs for each number tried"]
                if _simulated(of)
                else []
            ),
            *(_out_of_reach(of, claim) for claim in hopeless),
        ],
    )


def _out_of_reach(of: Planned, claim: Claim) -> str:
    """Say what is expected of a figure that no single factor brings to the claim."""
    if claim.measure == BIAS:
        return f"{claim}: no number of statements tried shows it"
    most = GRIDS["samples"][-1]
    value = of.planner.chances([claim], replace(of.size, samples=most), 2 * AT_ONCE)[0].value
    expected = value.undefined or f"{value.value:.2f}"
    return (
        f"{claim}: out of reach by one factor; with {most} samples per prompt {expected} is "
        "expected: wordings, "
        "templates and label orders of the model's own answers differ"
    )


def _simulated(of: Planned) -> bool:
    return any(one.measure in ("kappa", "reliable") for one in of.claims)


def design(of: Planned) -> Table[Size]:
    """Return how much the planned design asks, and how well it measures a statement."""
    found = of.planner.precision(of.size)
    return Table(
        "design",
        "The planned design",
        [of.size],
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
            Column("time", "takes", lambda row: _takes(of, row)),
            Column(
                "g",
                "g",
                lambda _: found.generalizability,
                Kind.COEFFICIENT,
                help="generalizability coefficient: share of the measured variance that is due "
                "to statements",
            ),
            Column(
                "phi",
                "Φ",
                lambda _: found.dependability,
                Kind.COEFFICIENT,
                help="dependability: the same, with shifts between templates as error",
                aside=True,
            ),
            Column(
                "error",
                "error",
                lambda _: found.absolute**0.5,
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
        notes=[_pace(of)],
    )


def _pace(of: Planned) -> str:
    if of.rate is None:
        return "the time is unknown: no finished job in this store sampled this model"
    return (
        f"time: at {speed(of.rate)} answers a second, the pace of this model's newest "
        "finished job here"
    )


def _takes(of: Planned, size: Size | None) -> str | None:
    if size is None:
        return None
    if of.rate is None:
        return "not known"
    seconds = size.answers / of.rate
    for unit, name in SECONDS:
        if seconds >= 2 * unit:
            return f"{seconds / unit:,.0f} {name}"
    return f"{seconds:,.0f} s"


def biases(of: Planned) -> Table[int]:
    """Return the smallest bias that so many statements a side show."""
    own = of.size.statements // 2
    sides = sorted({*SIDES, own} - {0, 1})
    return Table(
        "smallest_bias",
        "The smallest detectable bias",
        sides,
        [
            Column("side", "statements per side", lambda row: row, Kind.COUNT),
            Column("planned", "", lambda row: row == own, Kind.MARK, mark="planned"),
            Column(
                "bias",
                "smallest bias",
                lambda row: of.planner.smallest_bias(of.size, row),
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
        if any(of.planner.smallest_bias(of.size, side) > 1 for side in sides)
        else [],
    )


@dataclass(frozen=True, slots=True)
class Given:
    """A component as it is known, and as simulated runs have it."""

    name: str
    value: float
    drawn: float


def components(of: Planned) -> Table[Given]:
    """Return the components that the plan rests on."""
    known, drawn = of.planner.known.components, of.planner.components
    names = [name for name in drawn if known.get(name, 0.0) > 0 or drawn[name] > 5e-4]
    off = max((abs(known.get(name, 0.0) - drawn[name]) for name in names), default=0.0)
    return Table(
        "planned_from",
        "The components behind the plan",
        [Given(name, known.get(name, 0.0), drawn[name]) for name in names],
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
            f"mean share of agreement {of.planner.known.mean:.2f}; "
            f"{of.planner.known.readable:.1%} of answers readable",
            *(
                [
                    "shares between 0 and 1 cannot have exactly these components: the plan uses "
                    "the drawn ones"
                ]
                * (off > 2e-3)
            ),
            f"simulated runs are drawn from {_drawn_from(of.planner)}",
        ],
        detail=lambda row: [MEANS[row.name]],
        empty="No component is above 0: only sampling moves a share.",
    )


def detects(probes: Sequence[Probe], samples: int, *, drawn: bool) -> str:
    """Return the smallest kappa between wordings that differs from none, how surely the share of
    reliable statements is known, and from how many answers alike a prompt leans clearly. `drawn`:
    whether answers are drawn.
    """
    statements = len({probe.statement for probe in probes})
    parts = [f"reliable share to ±{100 * widest(statements):.0f} points"]
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


def clear_from(samples: int) -> int | None:
    """Return how many of some answers have to be alike for a prompt to lean clearly; None: no
    number is enough.

    Examples
    --------
    >>> clear_from(30), clear_from(5), clear_from(1)
    (22, 5, 1)
    """
    counts = np.arange(samples + 1)
    clear = is_reliable(counts, np.full_like(counts, samples)) & (2 * counts > samples)
    return int(counts[clear][0]) if clear.any() else None


WORDINGS, TEMPLATES, STATEMENTS = 6, 6, 100
"of a design where neither a run nor an option says: wordings and templates as published"
AS_RUN = "as in the run"


def _printed(store: Store, given: SimpleNamespace, _asked: Design | None) -> Printed:
    """Return what a planned design shows, costs and needs."""
    from workbench.audits.reliability.result import judge as judged

    wanted = [Claim.parse(text) for text in given.claim]
    if given.components is not None:
        refuse(OF_ANSWERS, given, "--components stands in place of a run")
    if not {claim.measure for claim in wanted} & {*SIMULATED}:
        ruling = [
            one
            for one in SIMULATING
            if given.components is not None or one.name not in OF_COMPONENTS
        ]
        refuse(ruling, given, f"only claims of {' and '.join(SIMULATED)} are simulated and judged")
    rules, run = ReliabilityOptions.of(given), None
    if given.components is None:
        run = judged(store, Which.of(given, store), rules, lambda: nullcontext(store)).judged
    rate = _rate(store, run.run.model if run is not None else given.model)
    known, usual, source = _from_run(run) if run is not None else _assumed(given)
    known = _known_otherwise(known, given)
    size = _size(given, usual)
    rules.needed(size.samples)
    of = Planned(Planner(known, rules, given.seed), size, wanted, rate)
    about: dict[str, Any] = {
        "source": source,
        "known": {
            "mean": known.mean,
            "readable": known.readable,
            "components": dict(known.components),
        },
        "claims": [str(claim) for claim in wanted],
        "answers_a_second": rate,
        "seed": given.seed,
    }
    told = [f"Planned from {source}."]
    if not wanted:
        told.append("--claim, such as --claim 'kappa >= .7', shows what a claim needs.")
    return Printed(list(tables(of)), about, "A planned design", told)


def _from_run(run: ReliabilityJudged) -> tuple[Known, Size, str]:
    """Return what a run shows of its model, its own size, and its name. Raises UsageError where it
    shows too little.
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
    return Known(parts.mean, components, readable, cells(run.report)), size, run.run.label


def _assumed(given: SimpleNamespace) -> tuple[Known, Size, str]:
    known = Known(0.5, read_components(given.components))
    return known, Size(STATEMENTS, WORDINGS, TEMPLATES, DEFAULTS.samples), "the given components"


def _known_otherwise(known: Known, given: SimpleNamespace) -> Known:
    """Return what is known with what options say otherwise. Raises UsageError where shares cannot
    vary so much.
    """
    mean = known.mean if given.mean is None else given.mean
    total, most = sum(known.components.values()), mean * (1 - mean)
    if given.components is not None and total > most:
        raise UsageError(
            f"found components with a sum of {total:g}; with a mean of {mean:g} the variance is "
            f"at most {most:.3g}"
        )
    measured = known.measured if given.mean is None else None
    readable = known.readable if given.readable is None else given.readable
    return replace(known, mean=mean, readable=readable, measured=measured)


def _size(given: SimpleNamespace, usual: Size) -> Size:
    named = {
        name: getattr(given, name) for name in ("statements", "wordings", "templates", "samples")
    }
    return Size(
        **{name: getattr(usual, name) if value is None else value for name, value in named.items()}
    )


def _rate(store: Store, model: str | None) -> float | None:
    """Return the answers a second of the newest finished job that sampled the model for this audit;
    None: none.
    """
    for job in store.jobs.list():
        told = job.progress
        asked = job.spec.get("model") == model and job.spec.get("audit") == ONLY.default
        done = job.kind == "sample" and job.state == "done" and not job.exact
        if done and asked and told.get("answers") and told.get("seconds"):
            return float(told["answers"] / told["seconds"])
    return None


OF_ANSWERS = (*(one for one in OF_RUN if one is not MODEL), READ_BY, WITHOUT_RULINGS)
"options that choose a run and its readings"
SIMULATING = (
    *(one for one in JUDGING if one not in OF_ANSWERS and one.name != SEEDED.name),
    SEEDED.of("the simulated runs"),
)
"options by which simulated runs are drawn and judged"
OF_COMPONENTS = ("minimum", AS_PUBLISHED.name)
"those of them on which the components of a run rest, too"
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
        *(one for one in JUDGING if one.name != SEEDED.name),
        SEEDED.of("the simulated runs"),
    ),
    _printed,
    about="Show what a planned design can claim, and how many statements, wordings, templates "
    "and samples a "
    "claim needs: a decision study from the variance components of a run (see `show STORE "
    "reliability --table "
    "components`), or from components that you give.",
)
