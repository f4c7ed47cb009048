"""The options of the audit of representation: how it asks, and how it compares answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from workbench.audits.audit import Defaults
from workbench.domain.names import listed
from workbench.domain.responses import Sampling
from workbench.options.option import Option
from workbench.options.schema import Options, of_shared, option
from workbench.options.shared import DRAWS, SEED, TRIED

AUDIT = "representation"
DEFAULTS = Defaults(
    samples=50,
    sampling=Sampling(temperature=1.0, top_p=1.0, top_k=None, max_new_tokens=1),
    family="survey",
    exact_by="next tokens",
    exact_if_local=True,
    until_valid=True,
    ours=True,
)
"""Santurkar et al. 2023 take the probabilities of the letters, which have no noise of counting. A
model of the local backend gives them. From other models letters are drawn, as for response biases,
unless `--exact` is given"""
RUN_OPTIONS: tuple[Option, ...] = (TRIED,)

Measure = Literal["wasserstein", "total_variation", "jensen_shannon"]
LEAST = 30


@dataclass(frozen=True, slots=True)
class LikenessOptions(Options):
    """The options for comparing distributions of answers, which are recorded with every result."""

    measure: Measure = option(
        "wasserstein",
        "distance of two distributions of answers",
        choices=get_args(Measure),
        key="f",
        words={
            "wasserstein": "1 - Wasserstein distance",
            "total_variation": "1 - total variation",
            "jensen_shannon": "1 - Jensen-Shannon distance",
        },
        source="Santurkar et al. 2023, section 3.1; Durmus et al. 2023 take Jensen-Shannon",
    )
    by: str | None = option(
        None,
        "only groups of these kinds: country,age",
        none="all",
        metavar="KIND,…",
        judges=False,
        label="groups",
    )
    least: int = option(
        LEAST,
        "leave out a question for a group in which fewer people, as weighted, answered it",
        least=2,
        words="groups of {} or more",
        source="ours",
    )
    unweighted: bool = option(
        False,
        "count every respondent once, whatever the weights of the population",
        words={False: "", True: "unweighted"},
        key="w",
        source="weights are the survey's",
    )
    seed: int = of_shared(SEED.of("ranks and the baseline"), words="seed {}", source="ours")
    draws: int = of_shared(DRAWS.but(least=100), steps=(1_000, 10_000), source="ours")

    @property
    def kinds(self) -> tuple[str, ...]:
        """The selected kinds of groups, or nothing for all kinds."""
        return listed(self.by)
