"""Agreement of people, and of a model with itself: labels are drawn from known items and raters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations

import numpy as np

from tests.coverage.study import DRAWS, Held, Scenario
from workbench.annotation import issues
from workbench.stats.agreement import (
    Retest,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac1_raters,
    krippendorff_alpha,
    observed_agreement,
    pairs_estimates,
    percent_agreement,
    retest,
    specific_agreement,
)
from workbench.stats.arrays import IntArray

MANY = 60_000
"items that give the truth, which is off by less than .004 of a coefficient"
Rng = np.random.Generator
Raters = tuple[int, int, tuple[float, ...], float]
"items, raters, shares of the labels, how often a rater guesses"


def labels(rng: Rng, of: Raters) -> IntArray:
    """Return labels (items, raters). Some items are harder: whoever errs there is not alone."""
    items, raters, shares, guess = of
    truth = rng.choice(len(shares), size=(items, 1), p=shares)
    wrong = rng.random((items, raters)) < guess * rng.gamma(1, 1, size=(items, 1)).clip(0, 3)
    return np.where(wrong, rng.choice(len(shares), size=(items, raters), p=shares), truth)


def coefficients(codes: IntArray, rng: Rng | None, categories: int) -> Mapping[str, object]:
    two = codes[:, :2].T
    return {
        "kappa over pairs": cohen_kappa(*two, rng, DRAWS),
        "observed over pairs": observed_agreement(*two, rng, DRAWS),
        "ac1 over pairs": gwet_ac1(*two, rng, DRAWS, categories),
        "alpha over units": krippendorff_alpha(codes, "nominal", rng, DRAWS),
        "ordinal-alpha over units": krippendorff_alpha(codes, "ordinal", rng, DRAWS),
        "fleiss over units": fleiss_kappa(codes, rng, DRAWS),
        "percent over units": percent_agreement(codes, rng, DRAWS),
        "ac1 over units": gwet_ac1_raters(codes, rng, DRAWS, categories),
        "specific over units": specific_agreement(codes, 0, rng, DRAWS),
    }


@cache
def truths(of: Raters) -> Mapping[str, float]:
    codes = labels(np.random.default_rng(0), (MANY, *of[1:]))
    return {name: found.value for name, found in coefficients(codes, None, len(of[2])).items()}  # type: ignore[attr-defined]


def people(rng: Rng, of: Raters) -> Mapping[str, Held]:
    found = coefficients(labels(rng, of), rng, len(of[2]))
    return {name: Held.of(one, truths(of)[name]) for name, one in found.items()}  # type: ignore[arg-type]


@cache
def mean_of_pairs(of: Raters) -> float:
    codes = labels(np.random.default_rng(0), (MANY, *of[1:]))
    return float(
        np.mean(
            [cohen_kappa(codes[:, a], codes[:, b]).value for a, b in combinations(range(of[1]), 2)]
        )
    )


def issue_labels(rng: Rng, of: Raters) -> Mapping[str, Held]:
    """Label statements for a policy issue: -1, 0 or +1."""
    people = [f"person {number}" for number in range(of[1])]
    found = issues.pairwise(
        "issue", labels(rng, of) - 1, people, of[0], int(rng.integers(2**31)), DRAWS
    )
    return {"mean-kappa over units": Held.of(found.mean, mean_of_pairs(of))}


def wordings(
    rng: Rng, statements: int, vary: float, tilt: float
) -> tuple[IntArray, IntArray, IntArray]:
    """Return stances on originals and three paraphrases, and statements: a latent position, and one
    a wording.
    """
    position = rng.normal(tilt, 1, (statements, 1))
    stance = (position + rng.normal(0, vary, (statements, 4)) > 0).astype(np.int64)
    return np.repeat(stance[:, 0], 3), stance[:, 1:].ravel(), np.repeat(np.arange(statements), 3)


@cache
def true_kappa(vary: float, tilt: float) -> float:
    return cohen_kappa(*wordings(np.random.default_rng(0), MANY, vary, tilt)[:2]).value


def variants(rng: Rng, statements: int, vary: float, tilt: float) -> Mapping[str, Held]:
    first, second, statement = wordings(rng, statements, vary, tilt)
    return {
        "kappa over clusters": Held.of(
            cohen_kappa(first, second, rng, DRAWS, statement), true_kappa(vary, tilt)
        )
    }


Asked = tuple[int, int, float, float]
"statements, answers to each of their six prompts, how much statements lean, how much they drift"


def asked_again(rng: Rng, of: Asked) -> Retest:
    """Ask six prompts of each statement twice; the second time statements have moved."""
    statements, n, tilt, drift = of
    latent = rng.normal(tilt, 1.2, (statements, 1)) + rng.normal(0, 0.7, (statements, 6))
    moved = latent + rng.normal(0, drift, (statements, 1))
    counts = [rng.binomial(n, 1 / (1 + np.exp(-each))).ravel() for each in (latent, moved)]
    both = [np.column_stack([k, n - k]) for k in counts]
    return retest(*both, np.repeat(np.arange(statements), 6), rng)


@cache
def true_agreement(of: Asked) -> Retest:
    return asked_again(np.random.default_rng(0), (MANY // 6, *of[1:]))


def again(rng: Rng, of: Asked) -> Mapping[str, Held]:
    found, truth = asked_again(rng, of), true_agreement(of)
    return {
        "observed over clusters": Held.of(found.same, truth.same.value),
        "kappa over clusters": Held.of(found.kappa, truth.kappa.value),
        "change over clusters": Held.of(found.change, truth.change.value),
    }


def conditions(
    rng: Rng, wording: Sequence[float], templates: int, by_template: float, tilt: float
) -> IntArray:
    """Return the pairs of one statement by template, 2 label orders x 3 paraphrases each:
    (templates, 2, 2).
    """
    shape = (templates, 2, 4)
    latent = (
        tilt
        + np.asarray(wording)
        + rng.normal(0, by_template, (templates, 1, 1))
        + np.array([0, 0.3])[:, None]
    )
    stance = (
        latent + rng.normal(0, by_template / 2, (templates, 1, 4)) + rng.normal(0, 0.4, shape) > 0
    )
    original, other = np.broadcast_arrays(stance[..., :1], stance[..., 1:])
    cell = 2 * original.astype(np.int64) + other
    return np.stack([(cell == each).sum(axis=(1, 2)) for each in range(4)], axis=1).reshape(
        templates, 2, 2
    )


def one_statement(rng: Rng, templates: int, by_template: float, tilt: float) -> Mapping[str, Held]:
    wording = rng.normal(0, 0.5, 4)
    tables = conditions(rng, wording, templates, by_template, tilt)
    every = conditions(rng, wording, 2000, by_template, tilt).sum(axis=0)
    found = {}
    for name in ("observed", "ac1"):
        truth = float(pairs_estimates(every[None, None], name).value[0])  # type: ignore[arg-type]
        found[f"{name} over templates"] = Held.of(
            pairs_estimates(tables[None], name).estimate(0), truth
        )  # type: ignore[arg-type]
    return found


THREE, RARE, FOUR = (0.4, 0.3, 0.3), (0.8, 0.1, 0.1), (0.3, 0.22, 0.25, 0.23)
NOT_RELATED = (0.05, 0.9, 0.05)
"of -1, 0 and +1"

SCENARIOS = (
    Scenario(
        "12 items, 3 people, 3 labels", "small n", lambda rng: people(rng, (12, 3, THREE, 0.3))
    ),
    Scenario(
        "12 items, 20 people, 3 labels", "small n", lambda rng: people(rng, (12, 20, THREE, 0.3))
    ),
    Scenario(
        "30 items, 2 people, one of two labels rare",
        "ties or boundaries",
        lambda rng: people(rng, (30, 2, (0.9, 0.1), 0.3)),
    ),
    Scenario(
        "30 items, 8 people, one of two labels rare",
        "ties or boundaries",
        lambda rng: people(rng, (30, 8, (0.9, 0.1), 0.2)),
    ),
    Scenario(
        "60 items, 20 people, one of two labels rare",
        "ties or boundaries",
        lambda rng: people(rng, (60, 20, (0.9, 0.1), 0.2)),
    ),
    Scenario(
        "40 items, 3 people, who nearly always agree",
        "ties or boundaries",
        lambda rng: people(rng, (40, 3, FOUR, 0.05)),
    ),
    Scenario(
        "60 items, 3 people, some items hard for all",
        "clustering",
        lambda rng: people(rng, (60, 3, RARE, 0.4)),
    ),
    Scenario(
        "issue labels: 12 statements, 4 people",
        "small n",
        lambda rng: issue_labels(rng, (12, 4, THREE, 0.3)),
    ),
    Scenario(
        "issue labels: 60 statements, 3 people, nine of ten not related",
        "ties or boundaries",
        lambda rng: issue_labels(rng, (60, 3, NOT_RELATED, 0.2)),
    ),
    Scenario(
        "issue labels: 60 statements, 12 people, nine of ten not related",
        "ties or boundaries",
        lambda rng: issue_labels(rng, (60, 12, NOT_RELATED, 0.2)),
    ),
    Scenario(
        "issue labels: 60 statements, 5 people, some statements hard for all",
        "clustering",
        lambda rng: issue_labels(rng, (60, 5, THREE, 0.5)),
    ),
    Scenario("10 statements, 3 paraphrases", "small n", lambda rng: variants(rng, 10, 0.5, 0.3)),
    Scenario(
        "30 statements, 3 paraphrases, nearly always agreed with",
        "ties or boundaries",
        lambda rng: variants(rng, 30, 0.3, 1.5),
    ),
    Scenario("60 statements, 3 paraphrases", "clustering", lambda rng: variants(rng, 60, 0.5, 0.3)),
    Scenario(
        "asked again: 10 statements, 10 answers",
        "small n",
        lambda rng: again(rng, (10, 10, 0.3, 0.5)),
    ),
    Scenario(
        "asked again: 40 statements, 5 answers, nearly always agreed with",
        "ties or boundaries",
        lambda rng: again(rng, (40, 5, 3.0, 0.3)),
    ),
    Scenario(
        "asked again: 60 statements, 30 answers, that drift much",
        "clustering",
        lambda rng: again(rng, (60, 30, 0.3, 1.0)),
    ),
    Scenario(
        "one statement, 6 templates that matter much",
        "clustering",
        lambda rng: one_statement(rng, 6, 1.5, 0.2),
    ),
    Scenario("one statement, 4 templates", "small n", lambda rng: one_statement(rng, 4, 0.8, 0.2)),
    Scenario(
        "one statement, 6 templates, nearly always agreed with",
        "ties or boundaries",
        lambda rng: one_statement(rng, 6, 0.8, 0.9),
    ),
)
