"""What a planned run can claim, against runs that are simulated and judged as any run is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.audits.reliability.agreement import agreement
from workbench.audits.reliability.counting import Counts
from workbench.audits.reliability.judge import judge
from workbench.audits.reliability.options import ReliabilityOptions
from workbench.audits.reliability.planning import (
    BIAS,
    GRIDS,
    KAPPA,
    RELIABLE,
    Claim,
    ModelFacts,
    Planned,
    Planner,
    first_enough,
    mean_kappa,
    mean_reliable,
    needs,
    read_components,
    tables,
)
from workbench.errors import UsageError
from workbench.figures.write.data_files import csv_files
from workbench.figures.write.html import html_page
from workbench.figures.write.latex import latex_files
from workbench.stats.components import (
    SAMPLING,
    STATEMENT,
    STATEMENT_TEMPLATE,
    TEMPLATE,
    WORDING,
    WORDING_TEMPLATE,
    Cells,
    MeasuredSpread,
    decompose,
    estimates,
)
from workbench.stats.design_precision import Size, precision, smallest_bias, statements_a_side

STEADY = {
    STATEMENT: 0.15,
    WORDING: 0.002,
    TEMPLATE: 0.004,
    STATEMENT_TEMPLATE: 0.002,
    WORDING_TEMPLATE: 0.002,
}
SIZE = Size(40, 4, 3, 20)


def planner(seed: int = 1, **components: float) -> Planner:
    return Planner(ModelFacts(0.5, components or STEADY), ReliabilityOptions(), seed)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("kappa >= .7", "kappa >= 0.7"),
        ("  Kappa≥0,7 ", "kappa >= 0.7"),
        ("share reliable >= 50 %", "reliable >= 0.5"),
        ("|bias| >= .2", "|bias| >= 0.2"),
        ("bias >= .2", "|bias| >= 0.2"),
        ("generalizability >= 0.8", "g >= 0.8"),
    ],
)
def test_claims_are_read_as_people_write_them(text: str, found: str) -> None:
    assert str(Claim.parse(text)) == found


@pytest.mark.parametrize(
    "text", ["kapa >= .7", "kappa > .7", "kappa", "kappa >= 0", "kappa >= 1.2", "", "kappa >= x"]
)
def test_any_other_claim_is_refused_with_the_forms_there_are(text: str) -> None:
    with pytest.raises(UsageError, match=r"'kappa >= \.7', 'reliable >= \.5'"):
        Claim.parse(text)


@pytest.mark.parametrize(
    "text", ["", "statment=.1", "statement", "statement=x", "statement=.3", "wording=.1,wording=.1"]
)
def test_components_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="components"):
        read_components(text)


def test_errors_and_coefficients_are_those_of_a_decision_study() -> None:
    of = precision(STEADY, 0.09, Size(10, 4, 5, 9))
    assert of.relative == pytest.approx(0.002 / 4 + 0.002 / 5 + 0.002 / 20 + 0.09 / (2 * 20 * 9))
    assert of.absolute == pytest.approx(of.relative + 0.004 / 5)
    assert of.generalizability == pytest.approx(0.15 / (0.15 + of.relative))
    assert np.isnan(precision({}, 0.0, SIZE).generalizability)


def test_measured_statements_differ_as_the_coefficient_says() -> None:
    """Correlation of two runs with other wordings, templates and answers: the generalizability
    coefficient.
    """
    known = planner(**STEADY | {STATEMENT: 0.03, WORDING: 0.02})
    size, rng = Size(3000, 3, 4, 5), np.random.default_rng(1)
    # The same statements, twice as many wordings.
    p = known.shares.draw(rng, size.statements, 2 * size.wordings, 1, 2)
    y = rng.binomial(size.samples, p) / size.samples
    first, second = (y[:, half].mean(axis=(1, 2, 3)) for half in (slice(0, 3), slice(3, 6)))
    one = replace(size, templates=1)
    between = known.components[STATEMENT] + known.components[STATEMENT_TEMPLATE]
    error = (
        known.components[WORDING] / 3
        + known.components[WORDING_TEMPLATE] / 3
        + known.answer / (2 * 3 * 5)
    )
    assert np.corrcoef(first, second)[0, 1] == pytest.approx(between / (between + error), abs=0.03)
    assert known.precision(one).relative == pytest.approx(
        error + known.components[STATEMENT_TEMPLATE], rel=1e-6
    )


@given(st.integers(2, 200), st.integers(1, 20), st.integers(1, 20))
def test_more_of_anything_shows_a_smaller_bias(side: int, wordings: int, templates: int) -> None:
    size = Size(10, wordings, templates, 10)
    found = smallest_bias(STEADY, 0.1, size, side)
    assert found > smallest_bias(STEADY, 0.1, size, side + 1)
    assert found > smallest_bias(STEADY, 0.1, replace(size, wordings=wordings + 1), side)
    assert found > smallest_bias(STEADY, 0.1, replace(size, samples=11), side)


def test_the_statements_that_show_a_bias_are_the_fewest_that_do() -> None:
    side = statements_a_side(STEADY, 0.1, SIZE, 0.2, 10_000)
    assert side is not None
    assert (
        smallest_bias(STEADY, 0.1, SIZE, side) <= 0.2 < smallest_bias(STEADY, 0.1, SIZE, side - 1)
    )
    assert statements_a_side(STEADY, 0.1, SIZE, 0.001, 1000) is None


@pytest.mark.e2e
def test_the_smallest_bias_shows_in_four_runs_of_five() -> None:
    from scipy.stats import ttest_ind

    known, side, size = planner(**STEADY | {STATEMENT: 0.02}), 40, Size(80, 3, 3, 10)
    least = known.smallest_bias(size, side)
    rng, shown, runs = np.random.default_rng(3), 0, 600
    shares = known.shares
    for _ in range(runs):
        y = rng.binomial(10, shares.draw(rng, 80, 3, 3, 2)) / 10
        means = y.mean(axis=(1, 2, 3))
        shown += ttest_ind(means[:side] + least, means[side:]).pvalue < 0.05
    assert shown / runs == pytest.approx(0.8, abs=4 * (0.8 * 0.2 / runs) ** 0.5)


@given(st.sets(st.integers(1, 500), min_size=1, max_size=12), st.integers(0, 501))
def test_the_first_number_that_is_enough_is_found(numbers: set[int], least: int) -> None:
    grid = sorted(numbers)
    wanted = next((number for number in grid if number >= least), None)
    assert first_enough(grid, lambda number: number >= least) == wanted


def test_the_simulated_runs_have_the_components_that_are_known() -> None:
    known = planner()
    counts = known.counts(Size(600, 4, 24, 10), np.random.default_rng(2))
    y = np.moveaxis(counts.positive / counts.readable, 0, 2)
    found = {name: float(value[0]) for name, value in estimates(Cells(y, y * (1 - y) / 9)).items()}
    assert found[STATEMENT] == pytest.approx(STEADY[STATEMENT], rel=0.1)
    assert found[WORDING] == pytest.approx(STEADY[WORDING], rel=0.2)
    assert found[SAMPLING] == pytest.approx(known.answer / 10, rel=0.05)


def test_the_kappa_of_a_plan_is_the_one_that_agreement_prints() -> None:
    report = judge(planner().counts(SIZE, np.random.default_rng(4)))
    paraphrase = next(row for row in agreement(report, intervals=False) if row.name == "paraphrase")
    assert mean_kappa(report) == pytest.approx(paraphrase.raw_mean.mean)


def test_fewer_readable_answers_hold_less_often() -> None:
    claims = [Claim(KAPPA, 0.8), Claim(RELIABLE, 0.5)]
    rules = ReliabilityOptions()
    every, half = (
        Planner(ModelFacts(0.5, STEADY, part), rules, 1).chances(claims, SIZE, 40)
        for part in (1.0, 0.6)
    )
    assert every[1].value.value > half[1].value.value
    assert half[1].holds is not None
    assert not half[1].met


def test_a_claim_of_a_bias_is_certain_either_way() -> None:
    near, far = (planner().chances([Claim(BIAS, least)], SIZE)[0] for least in (0.01, 0.9))
    assert (near.met, far.met, near.holds) == (False, True, None)


@pytest.mark.e2e
@pytest.mark.parametrize(("measure", "least"), [(KAPPA, 0.85), (RELIABLE, 0.58)])
def test_a_design_that_is_planned_holds_at_about_the_stated_rate(
    measure: str, least: float
) -> None:
    """Find the samples that a claim needs, then run that design 300 times with other seeds, as
    `agreement` judges.
    """
    of = planner()
    need = next(one for one in of.needs(Claim(measure, least), SIZE) if one.factor == "statements")
    assert need.size is not None
    (stated,) = of.chances([Claim(measure, least)], need.size)
    assert stated.holds is not None
    rng, held, runs = np.random.default_rng(99), 0, 300
    for _ in range(runs):
        report = judge(of.counts(need.size, rng), of.rules)
        if measure == KAPPA:
            held += agreement(report, intervals=False)[0].raw_mean.mean >= least
        else:
            shares = next(row.share.mean for row in report.summary() if row.test == "all")
            held += shares >= least
    error = (stated.holds.value * (1 - stated.holds.value) * (1 / runs + 1 / stated.holds.n)) ** 0.5
    assert held / runs == pytest.approx(stated.holds.value, abs=4 * error + 0.01)
    assert held / runs > 0.7


def of_mixture(rng: np.random.Generator, size: Size) -> Counts:
    """Return the answers of a model that is sure of some statements and torn on the others."""
    from scipy.special import ndtr

    s, w, t = size.statements, size.wordings, size.templates
    centre, spread = np.array([[2.5, 0.4], [-2.5, 0.4], [0.2, 0.2]])[
        rng.choice(3, s, p=(0.25, 0.15, 0.6))
    ].T
    z = (centre + spread * rng.standard_normal(s))[:, None, None, None]
    z = z + 0.3 * rng.standard_normal((s, w, 1, 1)) + 0.15 * rng.standard_normal((1, 1, t, 1))
    z = z + 0.2 * rng.standard_normal((s, 1, t, 1)) + 0.3 * rng.standard_normal((s, w, t, 2))
    agree = rng.binomial(size.samples, np.moveaxis(ndtr(z), 2, 0)).astype(np.int32)
    return replace(
        planner().counts(size, rng),
        positive=agree,
        negative=size.samples - agree,
        unreadable=np.zeros_like(agree),
    )


def measured(counts: Counts) -> ModelFacts:
    y = np.moveaxis(counts.positive / counts.samples, 0, 2)
    cells = Cells(y, y * (1 - y) / (counts.samples - 1))
    of = decompose(cells)
    return ModelFacts(
        of.mean, {k: v for k, v in of.variances.items() if k != SAMPLING}, measured=cells
    )


@pytest.mark.e2e
def test_a_plan_holds_where_statements_are_a_mixture() -> None:
    """Chances of claims that hold in 99 and 50 % of the mixture's runs, mean over four measured
    runs.
    """
    rng, rules = np.random.default_rng(5), planner().rules
    reports = [judge(of_mixture(rng, SIZE), rules) for _ in range(200)]
    claims = []
    for measure, figure in ((KAPPA, mean_kappa), (RELIABLE, mean_reliable)):
        values = [figure(report) for report in reports]
        claims += [Claim(measure, float(np.quantile(values, share))) for share in (0.01, 0.5)]
    found: list[list[float]] = []
    normal: list[list[float]] = []
    for _ in range(4):
        known = measured(of_mixture(rng, Size(400, 4, 4, 20)))
        for into, of in ((found, known), (normal, replace(known, measured=None))):
            chances = Planner(of, ReliabilityOptions(), 1).chances(claims, SIZE, 100)
            into.append([one.holds.value for one in chances if one.holds is not None])
    assert np.mean(found, axis=0) == pytest.approx([0.99, 0.5, 0.99, 0.5], abs=0.15)
    assert np.mean(normal, axis=0)[1] > 0.85, "of the same components, but normal"


def test_the_spread_that_was_measured_has_its_shape_and_its_components() -> None:
    known = measured(of_mixture(np.random.default_rng(3), Size(300, 4, 6, 20)))
    assert known.measured is not None
    of = Planner(known, ReliabilityOptions(), 1)
    shares = MeasuredSpread.measured(known.measured.value.mean(axis=(1, 2, 3)), known.components)
    drawn = shares.draw(np.random.default_rng(1), 1500, 4, 8, 2)
    found = {
        name: float(value[0])
        for name, value in estimates(Cells(drawn, np.zeros_like(drawn))).items()
    }
    assert found[STATEMENT] == pytest.approx(known.components[STATEMENT], rel=0.1)
    assert found[WORDING] == pytest.approx(known.components[WORDING], rel=0.25)
    own = drawn.mean(axis=(1, 2, 3))
    assert np.mean(own > 0.9) == pytest.approx(0.25, abs=0.07)
    assert np.mean((own > 0.3) & (own < 0.8)) == pytest.approx(0.6, abs=0.07)
    normal = of.shares.draw(np.random.default_rng(1), 1500, 4, 8, 2).mean(axis=(1, 2, 3))
    assert np.mean((normal > 0.3) & (normal < 0.8)) < 0.5
    assert len(of.worlds) == len({float(one.weights @ one.weights) for one in of.worlds}), (
        "each is another draw"
    )


def test_few_measured_statements_are_taken_as_normal() -> None:
    few = Planner(
        measured(of_mixture(np.random.default_rng(3), Size(5, 4, 4, 20))), ReliabilityOptions(), 1
    )
    assert not few.worlds


def planned(*claims: str, rate: float | None = None, **components: float) -> Planned:
    return Planned(
        planner(**components), Size(12, 2, 2, 5), [Claim.parse(claim) for claim in claims], rate
    )


def test_the_tables_are_written_in_every_medium() -> None:
    made = list(tables(planned("g >= .5", "|bias| >= .3", rate=50.0)))
    assert [table.name for table in made] == [
        "design",
        "claims",
        "needs",
        "smallest_bias",
        "planned_from",
    ]
    assert len(csv_files(made)) == len(latex_files(made)) == 5
    assert "Φ" in html_page(made, "A planned design", ())


def test_time_is_known_only_from_a_job() -> None:
    def takes(of: Planned) -> list[Any]:
        table = next(iter(tables(of)))
        return [column.value(table.rows[0]) for column in table.columns if column.key == "time"]

    assert takes(planned()) == ["not known"]
    assert takes(planned(rate=4.0)) == ["2 minutes"]


def test_a_claim_out_of_reach_says_so() -> None:
    of = planned("kappa >= .99", **{STATEMENT: 0.02, WORDING: 0.1})
    small = {name: grid[:2] for name, grid in GRIDS.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("workbench.audits.reliability.planning.GRIDS", small)
        table = needs(of)
    assert all(row.least is None for row in table.rows)
    assert any("out of reach by one factor" in note for note in table.notes)
