"""How the audit is asked unless told otherwise, and what its figures may be told."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.audits.audit import Defaults
from workbench.domain.responses import Sampling
from workbench.options.schema import Options, option

LEAST_WORDS = 3
"fewest words of a second half: fewer are guessed too easily"
DEFAULTS = Defaults(
    samples=1,
    sampling=Sampling(temperature=1.0, top_p=1.0, top_k=1, max_new_tokens=100),
    family="guided",
    ours=True,
)
"one answer, the likeliest: what a model has by heart, not what it might say"


@dataclass(frozen=True, slots=True)
class CompletionOptions(Options):
    """Which statements count."""

    least_words: int = option(
        LEAST_WORDS,
        "leave out halves of fewer words, which are guessed more easily",
        least=LEAST_WORDS,
        key="f",
        steps=(LEAST_WORDS, 5, 8),
        words="halves of {} words or more",
        source="ours",
    )
