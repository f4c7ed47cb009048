"""Scored answers, with the values from the store that their tables need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stores.core.store import Store
from workbench.audits.audit import Opened
from workbench.audits.bias_score.judged import BiasJudged, answered_by
from workbench.audits.bias_score.sides import sides_header
from workbench.domain.statements import ORIGINAL
from workbench.evidence.answered import AnsweredPlan
from workbench.evidence.refusals import ModelRefusals, joined_refusals, refusals_of


@dataclass(frozen=True, eq=False)
class ScoredAnswers:
    """A score, with the values from the store that its tables show.

    Answers below a figure are read when somebody opens it.
    """

    judged: BiasJudged
    opened: Opened
    texts: Mapping[str, str]
    "by statement: its original wording"
    refused: Sequence[ModelRefusals]
    "of each model"
    answered: tuple[AnsweredPlan, ...]
    "of each model"
    sides: tuple[str, ...]
    "the lines above a score that rests on a model's sides"
    prefix_texts: Mapping[str, str]
    "by prefix: its text, without the statement"


def load_scored_answers(store: Store, judged: BiasJudged, opened: Opened) -> ScoredAnswers:
    """Return a score with the values from the store that its tables need."""
    refused = [refused_by(store, judged, model) for model in judged.runs]
    instrument_names = tuple(
        dict.fromkeys(run.instrument for runs in judged.runs.values() for run in runs)
    )
    return ScoredAnswers(
        judged,
        opened,
        originals(store, judged),
        refused,
        answered_by(store, judged, refused),
        sides_header(store, judged.which, judged.options, instrument_names),
        _prefix_texts(store, judged),
    )


def _prefix_texts(store: Store, judged: BiasJudged) -> dict[str, str]:
    """Return the text of each prefix, by its name in the report."""
    texts: dict[str, str] = {}
    for model, runs in judged.runs.items():
        for run in runs:
            names = judged.prefixes[model, run.instrument]
            for template in store.runs.templates(run):
                if template.name in names:
                    texts[names[template.name]] = " ".join(
                        template.user.replace("{statement}", " ").split()
                    )
    return texts


def refused_by(store: Store, judged: BiasJudged, model: str) -> ModelRefusals:
    """Return the refusals of a model on all instruments, with the sides that the figures take."""
    side_by_ref = {item.ref: item.leaning for item in judged.report.tally.items}
    refusals = []
    for run in judged.runs[model]:
        sides = {ref.removeprefix(f"{run.instrument}/"): side for ref, side in side_by_ref.items()}
        refusals.append(refusals_of(store, run, model, sides, issues=False))
    return joined_refusals(refusals)


def originals(store: Store, judged: BiasJudged) -> dict[str, str]:
    """Return the original wordings of the statements as asked, by their name in the report."""
    run_by_instrument = {run.instrument: run for runs in judged.runs.values() for run in runs}
    return {
        f"{name}/{statement.ref}" if len(run_by_instrument) > 1 else statement.ref: wording.text
        for name, run in run_by_instrument.items()
        for statement in store.runs.instrument(run).statements
        if (wording := statement.wording(ORIGINAL, run.language)) is not None
    }
