"""Variance components of shares, and means over statements and templates, from runs of known
components.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

import numpy as np

from tests.core.component_runs import SCENARIOS as RUNS
from tests.coverage.study import Held, Kind, Scenario
from workbench.stats.components import crossed_mean, decompose

Rng = np.random.Generator


def components(rng: Rng, name: str) -> Mapping[str, Held]:
    truth = RUNS[name].truth()
    found = decompose(RUNS[name].cells(rng)).components
    return {
        f"component of variance: {one.name}": Held.of(one.sd, sqrt(truth[one.name]))
        for one in found
    }


def crossed(
    rng: Rng, statements: int, templates: int, by_template: float, rounded: bool
) -> Mapping[str, Held]:
    shift = rng.normal(0.1, 0.1, (statements, 1)) + rng.normal(0, by_template, (1, templates))
    values = shift + rng.normal(0, 0.1, (statements, templates))
    return {
        "mean over templates": Held.of(
            crossed_mean(np.round(values, 1) if rounded else values), 0.1
        )
    }


def of_run(name: str, kind: Kind) -> Scenario:
    run = RUNS[name]
    size = f"{run.statements} statements, {run.wordings} wordings, {run.templates} templates"
    return Scenario(f"{name}: {size}", kind, lambda rng: components(rng, name))


SCENARIOS = (
    of_run("few statements", "small n"),
    of_run("shares at both ends, prompts missing", "ties or boundaries"),
    of_run("an issue", "clustering"),
    *(of_run(name, "ties or boundaries") for name in RUNS if name.startswith("near .9")),
    Scenario("8 statements x 3 templates", "small n", lambda rng: crossed(rng, 8, 3, 0.05, False)),
    Scenario(
        "20 statements x 4 templates, rounded",
        "ties or boundaries",
        lambda rng: crossed(rng, 20, 4, 0.02, True),
    ),
    Scenario(
        "60 statements x 6 templates that matter much",
        "clustering",
        lambda rng: crossed(rng, 60, 6, 0.1, False),
    ),
)
