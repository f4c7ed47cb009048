"""What stands first does not depend on how many answers a prompt has: shares that are kept, and
stances that count.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.core.test_pooled import VARIANTS, answered, persona
from workbench.audits.consistency.stances import posterior_stances, reliable_stances
from workbench.audits.reliability.counting import Counts
from workbench.audits.reliability.expected import LabelMass
from workbench.audits.reliability.expected import judge as judge_exact
from workbench.audits.reliability.judge import ReliabilityReport, judge
from workbench.audits.reliability.options import ReliabilityOptions
from workbench.audits.reliability.pooled import (
    NO_NUCLEUS,
    answers_words,
    format_share,
    pooled_verdicts,
    published_words,
    table,
)
from workbench.stats.arrays import FloatArray
from workbench.stats.chains import mixing
from workbench.stats.pooled import CHAINS, DRAWS, MORE_CHAINS, by_chain

STATEMENTS = 56


def agreement() -> FloatArray:
    """Return the shares of agreement of a model that agrees, or rejects, with .85 whatever the
    wording.
    """
    sides = np.random.default_rng(1).integers(0, 2, STATEMENTS)
    shares = np.where(sides, 0.85, 0.15)[None, :, None, None] * np.ones(
        (1, STATEMENTS, len(VARIANTS), 2)
    )
    shares[:, :, -1] = 1 - shares[:, :, -1]
    return shares


def asked(samples: int) -> ReliabilityReport:
    return counted(agreement(), samples)


def counted(shares: FloatArray, samples: int) -> ReliabilityReport:
    positive = np.random.default_rng(samples).binomial(samples, shares).astype(np.int32)
    names = tuple(f"s{n}" for n in range(STATEMENTS))
    there = np.ones(shares.shape[1:3], dtype=np.bool_)
    unread = np.zeros_like(positive)
    negative = (samples - positive).astype(np.int32)
    return judge(Counts(names, VARIANTS, ("t",), positive, negative, unread, there, samples))


@pytest.mark.e2e
def test_one_persona_asked_6_and_60_times_has_two_verdicts_and_one_pooled_share() -> None:
    few, many = asked(6), asked(60)
    assert (few.passing("all").value, many.passing("all").value) == (0.0, 1.0)
    assert pooled_verdicts(few).share("all").value == pytest.approx(
        pooled_verdicts(many).share("all").value, abs=0.02
    )
    assert pooled_verdicts(few).share("all").value > 0.98
    assert (published_words(few), published_words(many)) == (
        "pass the published test at 6 answers",
        "pass the published test at 60 answers",
    )
    assert reliable_stances("m", few).reliable == (0,)
    assert (
        posterior_stances("m", few).values.tolist() == posterior_stances("m", many).values.tolist()
    )
    assert posterior_stances("m", few).reliable == (STATEMENTS,)


@pytest.mark.e2e
def test_another_seed_moves_a_share_by_less_than_half_a_point() -> None:
    rng = np.random.default_rng(2)
    counts = answered(persona(rng), 30, rng)
    shares = [
        pooled_verdicts(judge(counts, ReliabilityOptions(seed=seed))).share("all").value
        for seed in range(1, 5)
    ]
    assert max(shares) - min(shares) < 0.005
    (row,) = [
        row
        for row in table(judge(counts), pooled_verdicts(judge(counts))).rows
        if row.test == "all"
    ]
    assert row.mixing.rhat < 1.05
    assert row.mixing.draws > 100


@pytest.mark.e2e
def test_prompts_that_hardly_differ_are_sampled_well() -> None:
    shares = np.full((1, STATEMENTS, len(VARIANTS), 2), 0.6)
    shares[:, :, -1] = 0.4
    report = counted(shares, 10)
    found = [
        pooled_verdicts(replace(report, options=ReliabilityOptions(seed=seed))) for seed in (1, 2)
    ]
    mixed = [each.mixing("paraphrase") for each in found]
    assert all(each.rhat < 1.03 and each.draws > 200 for each in mixed)
    apart = abs(found[0].share("paraphrase").value - found[1].share("paraphrase").value)
    assert apart < 4 * np.hypot(mixed[0].error, mixed[1].error)


def test_a_share_that_is_roughly_computed_says_so() -> None:
    report = asked(60)
    settled = pooled_verdicts(report, 64)
    rng = np.random.default_rng(1)
    probability = [0.2, 0.4, 0.6, 0.8]  # of each chain; chains of 2,000 prompts run side by side
    passes = rng.random((125, 4, STATEMENTS)) < np.array(probability)[None, :, None]
    passes = passes.reshape(-1, STATEMENTS)
    unsettled = replace(settled, passes={**settled.passes, "all": passes}, prompts=2_000)
    assert format_share(settled)[1] == ""
    rough = format_share(unsettled)[1]
    assert rough.startswith("roughly computed: another seed moves it by ± ")
    error = unsettled.mixing("all").error
    assert f"± {200 * error:.1f} points (R-hat" in rough
    assert f"all: {rough}" in " ".join(table(report, unsettled).notes), "programs read it, too"


def test_exact_probabilities_are_shares_that_are_known() -> None:
    shares = agreement()
    names = tuple(f"s{n}" for n in range(STATEMENTS))
    there = np.ones(shares.shape[1:3], dtype=np.bool_)
    report = judge_exact(
        LabelMass(names, VARIANTS, ("t",), 0.8 * shares, 0.8 * (1 - shares), there)
    )
    share = pooled_verdicts(report).share("all")
    assert (share.value, share.n, share.excluded) == (1.0, STATEMENTS, 0)
    assert pooled_verdicts(report).share("all").value == report.passing("all").value
    assert format_share(pooled_verdicts(report)) == ("100.0 % [93.6, 100.0] of 56", NO_NUCLEUS)
    assert (published_words(report), answers_words(report)) == (
        "pass the test on exact probabilities",
        "exact probabilities",
    )
    assert (
        posterior_stances("m", report).values.tolist()
        == reliable_stances("m", report).values.tolist()
    )


FAINT = "in {} % of the prompts the labels have less than half of the probability"


def test_exact_probabilities_of_labels_that_are_hardly_given_are_doubted() -> None:
    shares = agreement()
    names = tuple(f"s{n}" for n in range(STATEMENTS))
    there = np.ones(shares.shape[1:3], dtype=np.bool_)
    faint = LabelMass(names, VARIANTS, ("t",), 0.2 * shares, 0.2 * (1 - shares), there)
    doubt = format_share(pooled_verdicts(judge_exact(faint)))[1]
    assert doubt == f"{FAINT.format('100.0')}; {NO_NUCLEUS}"


def test_a_tenth_of_faint_labels_is_enough_for_a_doubt() -> None:
    shares = agreement()
    names = tuple(f"s{n}" for n in range(STATEMENTS))
    there = np.ones(shares.shape[1:3], dtype=np.bool_)
    on_labels = np.full(shares.shape, 0.95)
    on_labels[:, :7] = 0.2
    mixed = LabelMass(names, VARIANTS, ("t",), on_labels * shares, on_labels * (1 - shares), there)
    doubt = format_share(pooled_verdicts(judge_exact(mixed)))[1]
    assert doubt == f"{FAINT.format('12.5')}; {NO_NUCLEUS}"


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_draws_that_resemble_each_other_are_worth_fewer(correlation: float) -> None:
    rng = np.random.default_rng(3)
    noise = rng.standard_normal((4, 20_000)) * np.sqrt(1 - correlation**2)
    chains = np.zeros_like(noise)
    for step in range(1, noise.shape[1]):
        chains[:, step] = correlation * chains[:, step - 1] + noise[:, step]
    found = mixing(chains)
    assert found.draws == pytest.approx(
        chains.size * (1 - correlation) / (1 + correlation), rel=0.12
    )
    assert found.rhat == pytest.approx(1, abs=0.005)
    assert not found.warning


def test_chains_that_disagree_are_warned_of() -> None:
    chains = np.random.default_rng(4).standard_normal((4, 500)) + np.arange(4)[:, None]
    found = mixing(chains)
    assert found.rhat > 1.5
    assert found.warning.startswith("the sampler has not settled (R-hat 1.")
    assert np.isnan(mixing(np.ones((4, 500))).rhat), "the figure is the same in all draws"
    assert not mixing(np.ones((4, 500))).poor


def test_the_error_of_a_sampler_is_that_of_its_effective_draws() -> None:
    values = np.random.default_rng(1).standard_normal((4, 2500))
    assert mixing(values).error == pytest.approx(0.01, rel=0.1)
    assert mixing(np.repeat(values[:, ::25], 25, axis=1)).error == pytest.approx(0.05, rel=0.2), (
        "a 25th of the draws"
    )


@pytest.mark.parametrize(
    ("prompts", "n_chains", "together"),
    [(100, MORE_CHAINS, MORE_CHAINS), (2_000, CHAINS, 4), (5_000, CHAINS, 2), (50_000, CHAINS, 1)],
)
def test_draws_are_told_apart_by_chain(prompts: int, n_chains: int, together: int) -> None:
    found = by_chain(np.arange(DRAWS, dtype=np.float64), prompts)
    assert found.shape == (n_chains, DRAWS // n_chains)
    assert sorted(found.reshape(-1).tolist()) == list(range(DRAWS))
    assert found[0, 1] - found[0, 0] == together
