"""The options of the questionnaire audit: contexts of targets, and the judging of predictions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

from workbench.audits.audit import Defaults
from workbench.domain.designs import PUBLISHED_SAMPLES
from workbench.domain.names import listed
from workbench.domain.questionnaires import Contexts
from workbench.domain.responses import EXACTLY, Sampling
from workbench.options.option import Option, Type
from workbench.options.schema import Options, of_shared, option
from workbench.options.shared import DRAWS, SEED

COUNTED = Sampling(temperature=1.0, top_p=1.0, max_new_tokens=16)
"""sampling for endpoints that report no probabilities; 16 tokens are the fewest that every kind of
endpoint accepts"""
DEFAULTS = Defaults(
    samples=1,
    sampling=EXACTLY,
    family="qm",
    drawn=False,
    exact_by="next tokens",
    counted=COUNTED,
    counted_samples=PUBLISHED_SAMPLES,
)
"by default the probabilities of the next token at temperature 1 (section 4 and Limitations)"

Masses = Literal["top10", "vocabulary"]
Variability = Literal["sd", "rms"]
ErrorOf = Literal["paired", "printed"]
MASSES = {
    "top10": "among the ten likeliest next tokens, as published",
    "vocabulary": "over the whole vocabulary",
}
NO_GROUPS = "none"
LEAST_DRAWS, MOST_DRAWS = 100, 100_000
"""with fewer draws the ends of an interval are single draws; more draws take gigabytes and change
no printed digit"""


@dataclass(frozen=True, slots=True)
class PredictionOptions(Options):
    """The options for judging predicted answers, which are stored with every result."""

    condition: str | None = option(
        None,
        "qm, zero-shot, random, permuted-kept-1, …; permuted, reduced and all stand for several",
        none="qm, or the first asked; all in --json, files and reports",
        metavar="NAME,…",
        label="condition",
        key="c",
        back="C",
        words="condition {}",
        source="Haller et al. 2025, section 3",
    )
    variability: Variability = option(
        "sd",
        "variability over wordings: the standard deviation, or the root mean square as printed",
        choices=get_args(Variability),
        published="rms",
        key="e",
        words={"sd": "sd over wordings", "rms": "rms over wordings, as printed"},
        source="ours: the paper prints the root mean square",
    )
    masses: Masses = option(
        "top10",
        "tokens over which the probabilities of yes and no are summed",
        choices=MASSES,
        key="M",
        words={
            "top10": "yes/no over the 10 likeliest tokens",
            "vocabulary": "yes/no over the vocabulary",
        },
        source="Haller et al. 2025, section 4",
    )
    error: ErrorOf = option(
        "paired",
        "standard error of the bias: of differences from each person's answer, or as in the "
        "published tables",
        choices=get_args(ErrorOf),
        published="printed",
        # The key of `variability`, too: on a screen the switch `as_published` stands for both
        key="e",
        words={"paired": "SE paired", "printed": "SE as printed"},
        source="ours: the paper takes the error of people's answers alone",
    )
    """`printed`: the error of human answers alone, which treats the model's predictions as known"""
    seed: int = of_shared(SEED.of("the bootstrap intervals"), words="seed {}", source="ours")
    draws: int = of_shared(
        DRAWS.but(least=LEAST_DRAWS, most=MOST_DRAWS),
        steps=(1_000, 10_000, MOST_DRAWS),
        source="ours: the paper has no intervals over respondents",
    )

    unweighted: bool = option(
        False,
        "count every respondent once, whatever the weights of the population",
        words={False: "", True: "unweighted"},
        key="w",
        source="ours: the paper has no weights",
    )
    by: str | None = option(
        None,
        "also the figures of subgroups of the respondents",
        none=NO_GROUPS,
        metavar="GROUP,…",
        label="groups",
        key="b",
        source="ours",
        judges=False,
    )

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups of respondents with figures of their own."""
        return () if self.by == NO_GROUPS else listed(self.by)

    def draws_as(self, other: PredictionOptions) -> bool:
        """Return whether other options give the same draws for the same predictions."""
        settings = (self.masses, self.seed, self.draws, self.unweighted)
        return settings == (other.masses, other.seed, other.draws, other.unweighted)

    def figures_as(self, other: PredictionOptions) -> bool:
        """Return whether other options give the same figures.

        They may differ in the condition and the groups that are shown.
        """
        return replace(self, condition=other.condition, by=other.by) == other


USUAL = Contexts()
CONDITIONS = Option(
    "conditions",
    "qm, zero-shot, random, permuted, reduced, all, or single ones of these",
    none=",".join(USUAL.conditions),
    metavar="C,…",
)
RESPONDENTS = Option(
    "respondents", "number of respondents to draw", Type.WHOLE, none="all", least=0
)
EVERY = Option(
    "every",
    "one respondent in N for wordings other than the original",
    Type.WHOLE,
    none=str(USUAL.every),
    least=1,
    label="one in",
)
CONTEXT_QUESTIONS = Option(
    "context_questions",
    "the first N context questions",
    Type.WHOLE,
    none="all",
    least=0,
    label="questions",
)
RUN_OPTIONS = (CONDITIONS, RESPONDENTS, EVERY, CONTEXT_QUESTIONS)
