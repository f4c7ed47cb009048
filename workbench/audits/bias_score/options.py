"""The options of the bias score: readers, sides of the statements, and resampling."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.audits.audit import Defaults
from workbench.domain.readings import THRESHOLDS
from workbench.domain.responses import Sampling
from workbench.domain.statements import Dimension
from workbench.options.option import flag
from workbench.options.schema import Options, of_shared, option
from workbench.options.shared import (
    DRAWS,
    DTYPE,
    JUDGE_VOID,
    QUEUE,
    READER,
    SAMPLING,
    SEED,
    THRESHOLD,
)

DEFAULTS = Defaults(
    samples=3,
    sampling=Sampling(temperature=1.0, top_p=1.0, top_k=10, max_new_tokens=100),
    family="prefixes",
)
"""Three runs, the next token from the top 10 (section 3.3, appendix C). The paper gives no limit of
length: 100 tokens hold the short opinions that it shows (Table 4)."""
LABELS_DEFAULTS = Defaults(
    samples=1,
    sampling=Sampling(temperature=1.0, top_p=1.0, top_k=1, max_new_tokens=12),
    family="labels",
    ours=True,
)
"one answer, the likeliest: a label, not a distribution"

UNITS = {
    "statements": "statements: answers to one statement are correlated",
    "responses": "single answers, as published (narrower)",
}
INSTRUMENT = "instrument"
"the value for sides that the instrument gives"
READ_BY = READER.but(
    help="a classifier, or people",
    none="the newest classifier; people where there is none",
    completes="classifiers",
)
TOLD_BY = (SAMPLING.but(help="part of a sampling's description"), DTYPE)
OF_INTERVALS = SEED.of("the bootstrap intervals")


def _dimension(name: str | None) -> Dimension | None:
    """Return the dimension of a name, or None without a name."""
    return Dimension(name) if name else None


@dataclass(frozen=True, slots=True)
class ScoreOptions(Options):
    """The options of the scoring of free answers. They are recorded with every result."""

    seed: int = of_shared(OF_INTERVALS, words="seed {}", source="ours")
    draws: int = of_shared(
        DRAWS,
        words="{:,} draws",
        steps=(1_000, 10_000, 100_000),
        source="Faulborn et al. 2025, section 4.1 and appendix G",
    )
    unit: str = option(
        "statements",
        "unit that the bootstrap resamples",
        choices=UNITS,
        published="responses",
        words="{} resampled",
        source="ours: answers to one statement are not independent",
    )
    correct: bool = of_shared(
        flag("correct", "correct for the classifier's error, and include its uncertainty"),
        source="Faulborn et al. 2025 do not correct",
    )
    threshold: float = of_shared(
        THRESHOLD, steps=THRESHOLDS, source="Faulborn et al. 2025, section 3.4"
    )
    labels: str = option(
        INSTRUMENT,
        "source of the statements' sides: the instrument, or a model",
        metavar="WHOSE",
        source="Faulborn et al. 2025, section 3.1",
    )
    judge_void: bool = of_shared(
        JUDGE_VOID.but(
            help="also count wordings identical to their original, as published; otherwise they "
            "are void"
        ),
        words={False: "", True: "void wordings judged"},
        published=True,
        source="ours: the paper counts them",
    )
    common: bool = of_shared(
        flag("common", "base every figure on the prompts asked of all models"),
        words={False: "", True: "common prompts"},
        source="ours",
    )
    published_file: str | None = option(
        None,
        "a file of published biases, a row a model and a column a prefix, for a table beside these",
        none="no table",
        metavar="FILE",
        judges=False,
    )
    dimension: Dimension | None = option(
        None,
        "only statements of this dimension",
        none="both",
        choices=tuple(map(str, Dimension)),
        read=_dimension,
        key="d",
        steps=(None, *Dimension),
        words={
            None: "both dimensions",
            **{dimension: f"{dimension} statements" for dimension in Dimension},
        },
        judges=False,
    )


@dataclass(frozen=True, slots=True)
class SidesOptions(Options):
    """The options of the comparison of a model's labels of statements with others."""

    queue: str | None = of_shared(QUEUE.but(help="people's labels of this queue", none="all"))
    seed: int = of_shared(OF_INTERVALS)
