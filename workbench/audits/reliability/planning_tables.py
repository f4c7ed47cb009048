"""Figures of a planned design: what it can claim, what claims need, what it costs, and the smallest bias it shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from workbench.audits.reliability.components_tables import MEANS, TITLES
from workbench.audits.reliability.planning import (
    AT_ONCE,
    BIAS,
    GRIDS,
    MEASURES,
    RUNS_TRIED,
    Chance,
    Claim,
    Need,
    Planner,
)
from workbench.domain.names import speed
from workbench.figures.table import AnyTable, Column, Kind, Table
from workbench.stats.design_precision import POWER, Size

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
                help="mean over simulated runs, with the range of 95 % of them; for |bias| the smallest detectable one",
            ),
            Column(
                "chance",
                "holds in",
                lambda row: row.chance.holds,
                Kind.SHARE,
                help="share of the simulated runs whose figure reaches the claim, with the Monte Carlo error",
                scale=(0.0, 1.0),
            ),
            Column("met", "enough", lambda row: row.chance.met, help=f"holds in {POWER:.0%} of the runs or more"),
        ],
        key=lambda row: (str(row.claim),),
        definition="Runs of the design are simulated from the components, and judged by the audit's own rules. "
        + ". ".join(f"{name}: {MEASURES[name]}" for name in dict.fromkeys(one.measure for one in of.claims))
        + ".",
        detail=lambda row: [MEASURES[row.claim.measure]],
    )


def needs(of: Planned) -> Table[Need]:
    """Return how many statements, wordings, templates or samples each claim needs, one at a time."""
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
            Column("answers", "answers", lambda row: row.size.answers if row.size else None, Kind.COUNT),
            Column("time", "takes", lambda row: _takes(of, row.size)),
        ],
        key=lambda row: (str(row.claim), row.factor),
        definition=f"The smallest number of one factor with which the claim holds in {POWER:.0%} of the runs, the "
        "others as planned. – : no number tried is enough, so change another factor, or the claim.",
        notes=[
            *([f"up to {RUNS_TRIED} simulated runs for each number tried"] if _simulated(of) else []),
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
        f"{claim}: out of reach by one factor; with {most} samples per prompt {expected} is expected: wordings, "
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
            Column("statements", "statements", lambda row: row.statements, Kind.COUNT, short="stmts"),
            Column("wordings", "wordings", lambda row: row.wordings, Kind.COUNT, help="of each", short="word"),
            Column(
                "templates", "templates", lambda row: row.templates, Kind.COUNT, help="in both orders", short="tmpl"
            ),
            Column("samples", "samples", lambda row: row.samples, Kind.COUNT, help="a prompt", short="samp"),
            Column("answers", "answers", lambda row: row.answers, Kind.COUNT),
            Column("time", "takes", lambda row: _takes(of, row)),
            Column(
                "g",
                "g",
                lambda _: found.generalizability,
                Kind.COEFFICIENT,
                help="generalizability coefficient: share of the measured variance that is due to statements",
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
                help="standard error of a statement's share, over other wordings, templates and answers",
            ),
        ],
        key=lambda _: ("design",),
        definition="g = v[statement] / (v[statement] + e) with e = v[wording] / W + v[statement × template] / T + "
        "v[wording × template] / (W T) + p (1 - p) / (2 W T n); Φ and the error add v[template] / T (Brennan 2001).",
        notes=[_pace(of)],
    )


def _pace(of: Planned) -> str:
    if of.rate is None:
        return "the time is unknown: no finished job in this store sampled this model"
    return f"time: at {speed(of.rate)} answers a second, the pace of this model's newest finished job here"


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
        definition="Power 80 %, two-sided test at 5 %, with the wordings, templates and samples of the design. "
        "(bias right - bias left) / 2 is the mean share of agreement with the right's statements minus that with the "
        "left's, where no answer is neutral. Statements are the units: answers to one are not independent.",
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
            Column("sd", "sd", lambda row: max(row.value, 0.0) ** 0.5, Kind.SIZE, help="its root, in points"),
        ],
        key=lambda row: (row.name,),
        notes=[
            f"mean share of agreement {of.planner.known.mean:.2f}; {of.planner.known.readable:.1%} of answers readable",
            *(
                ["shares between 0 and 1 cannot have exactly these components: the plan uses the drawn ones"]
                * (off > 2e-3)
            ),
        ],
        detail=lambda row: [MEANS[row.name]],
        empty="No component is above 0: only sampling moves a share.",
    )
