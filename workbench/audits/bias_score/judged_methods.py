"""What was really done for a score, in a paragraph for the paper that reports it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stores.runs.run_rows import Run
from workbench.audits.bias_score.judged import BiasJudged
from workbench.audits.bias_score.methods import ReadBy, methods
from workbench.audits.bias_score.options import INSTRUMENT
from workbench.domain.names import plural
from workbench.evidence.answered import Answered
from workbench.evidence.methods import asked_sentences, plan_sentences, ruling_sentences
from workbench.evidence.reader_quality import in_short


def judged_methods(judged: BiasJudged, came: Sequence[Answered]) -> str:
    """Return the paragraph of a score. `came`: how much of the plan of each model was answered."""
    return methods(judged.report, read_by(judged), tuple(_more(judged, came)))


def read_by(judged: BiasJudged) -> ReadBy:
    """Return who read the answers that count."""
    counted, quality = judged.read_by, judged.quality
    return ReadBy(
        classifier=judged.classifier.name if judged.classifier else "",
        tested=in_short(quality).partition(": ")[2] if quality and quality.texts else "never tested" if quality else "",
        single=counted.single,
        several=counted.several,
        decided=counted.decided,
        ruled=counted.ruled,
        corrected=judged.corrected,
    )


def _more(judged: BiasJudged, came: Sequence[Answered]) -> Iterator[str]:
    options = judged.options
    runs = [run for of in judged.runs.values() for run in of]
    whose = "the instrument gives" if options.labels == INSTRUMENT else f"{options.labels} gave"
    left_out = plural(judged.unlabelled, "statement")
    without = f"; {left_out} without a side {'is' if judged.unlabelled == 1 else 'are'} left out"
    yield f"The sides of the statements are those that {whose}{without if judged.unlabelled else ''}."
    if judged.void:
        yield f"{plural(len(judged.void), 'wording')} identical to the original {_are(len(judged.void))} left out."
    elif options.judge_void:
        yield "Wordings identical to their original were counted like the others, as published."
    if options.common:
        yield "Every figure is over the prompts asked of every model."
    yield from asked_sentences(_named(runs), came)
    yield from plan_sentences(came)
    yield from ruling_sentences(judged.rulings)


def _named(runs: Sequence[Run]) -> list[tuple[str, Run]]:
    return [(run.named, run) for run in runs]


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


__all__ = ["judged_methods", "read_by"]
