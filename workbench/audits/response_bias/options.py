"""The options of the audit of response biases: which questions are asked, how they are judged."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, get_args

from workbench.audits.audit import Defaults
from workbench.domain.responses import Sampling
from workbench.options.option import Option
from workbench.options.schema import Options, option
from workbench.options.shared import TRIED

AUDIT = "response_bias"
LETTERED, EXTENDED, STEERING, STEERING_STEPS = "lettered", "extended", "steering", "steering-steps"
"families of templates"

DEFAULTS = Defaults(
    samples=50,
    sampling=Sampling(temperature=1.0, top_p=1.0, top_k=None, max_new_tokens=1),
    family=LETTERED,
    exact_by="next tokens",
    until_valid=True,
    tokens={EXTENDED: 50, STEERING_STEPS: 100},
)
"""section 3.1: 50 valid answers at temperature 1; appendix D: an answer with its reason has at most
50 tokens"""

BIASES = Option(
    "bias", "only questions of these biases: odd_even, …", none="all", metavar="B,…", label="biases"
)
RUN_OPTIONS = (TRIED, BIASES)

Adjusted = Literal["none", "biases", "all"]
ADJUSTED = get_args(Adjusted)
EntropyRule = Literal["offered", "csv"]
ENTROPY_RULES = get_args(EntropyRule)


class Definition(StrEnum):
    """The rules by which a change is computed. `deltas` has the formulas."""

    PAPER = "paper"
    "the published tables"
    CORRECTED = "corrected"
    "valid answers only, and above 0 is human-like for every bias"


@dataclass(frozen=True, slots=True)
class ChangeOptions(Options):
    """The options for judging changes, which are recorded with every result."""

    definition: Definition = option(
        "corrected",
        "definition of a change",
        choices=tuple(Definition),
        read=Definition,
        published=Definition.PAPER,
        key="f",
        words={
            Definition.CORRECTED: "corrected: valid answers, every question that fits; "
            "human-like above 0",
            Definition.PAPER: "paper: as printed: 50 questions per typo; allow/forbid human-like "
            "below 0",
        },
        source="ours: the published code counts answers that were not on offer",
    )
    alpha: float = option(
        0.05,
        "significance level of p",
        above=0,
        most=1,
        metavar="P",
        key="a",
        steps=(0.05, 0.01, 0.001, 0.1),
        words="alpha {:g}",
        source="Tjuatja et al. 2024, Table 3",
    )
    holm: Adjusted = option(
        "none",
        "p values that Holm's procedure adjusts: none, a model's biases, or all",
        choices=ADJUSTED,
        key="p",
        words={
            "none": "p not adjusted",
            "biases": "Holm over biases",
            "all": "Holm over all cells",
        },
        source="Tjuatja et al. 2024 adjust nothing",
    )
    """`biases`: over the model's biases; perturbations are not adjusted, because a larger p would
    let a model pass for overlooking them. `all`: over biases and perturbations together, with a
    copied row counted once"""
    entropy: EntropyRule = option(
        "offered",
        "entropy by the options actually offered, or as in the published files",
        choices=ENTROPY_RULES,
        published="csv",
        key="f",
        words={"offered": "entropy by options offered", "csv": "entropy as published"},
        source="Tjuatja et al. 2024, section 3.3",
    )
    without_typos: bool = option(
        False, "leave the rows of typos out of the matrix", key="y", judges=False
    )
