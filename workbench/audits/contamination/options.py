"""The defaults of the contamination audit, and the options of its figures."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.audits.audit import Defaults
from workbench.domain.responses import Sampling
from workbench.options.schema import Options, option

LEAST_WORDS = 3
"smallest number of words of a second half, since shorter halves are guessed too easily"
DEFAULTS = Defaults(
    samples=1,
    sampling=Sampling(temperature=1.0, top_p=1.0, top_k=1, max_new_tokens=100),
    family="guided",
    ours=True,
)
"one answer, the likeliest: it shows what a model completes, not what else it might say"


@dataclass(frozen=True, slots=True)
class CompletionOptions(Options):
    """The options that select the statements of the figures."""

    least_words: int = option(
        LEAST_WORDS,
        "leave out halves of fewer words, which are guessed more easily",
        least=LEAST_WORDS,
        key="f",
        steps=(LEAST_WORDS, 5, 8),
        words="halves of {} words or more",
        source="ours",
    )
