"""How much of what models were to answer came, and what became of it in the score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from stores.core.store import Store
from workbench.audits.bias_score.counted import tallied
from workbench.audits.bias_score.judged import BiasJudged
from workbench.audits.bias_score.tally import Tally
from workbench.domain.readings import STANCES, Stance
from workbench.evidence.answered import Answered, Part, answered, foreign_part, refused_part
from workbench.evidence.refusals import Refusals


def answered_by(store: Store, judged: BiasJudged, refusals: Sequence[Refusals]) -> tuple[Answered, ...]:
    """Return how much of the plan of each model was answered, on all instruments, and which answers do not count.

    Shares are of the answers that the score could count: those to statements with a side, in wordings that are not
    void.
    """
    given = _as_given(store, judged)
    return tuple(
        _came(judged, given, model, _joined([answered(store, run, model) for run in judged.runs[model]]), refused)
        for model, refused in zip(judged.runs, refusals, strict=True)
    )


def _joined(several: Sequence[Answered]) -> Answered:
    """Return the plans of one model's runs together."""
    return replace(
        several[0],
        planned=sum(one.planned for one in several),
        answered=sum(one.answered for one in several),
        job="; ".join(dict.fromkeys(one.job for one in several if one.job)),
        failed=sum(one.failed for one in several),
        unreviewed=tuple(dict.fromkeys(language for one in several for language in one.unreviewed)),
        elsewhere=all(one.elsewhere or not one.partial for one in several),
    )


def _as_given(store: Store, judged: BiasJudged) -> Tally:
    """Return the readings of what the models answered: no exclusion changes them, right readings do."""
    source = judged.source
    if not any(found.leaves_out for found in source.ruled.values()):
        return judged.report.tally
    return tallied(store, judged.which, judged.options, judged.runs, source.as_given, judged.labelled).tally


def _came(judged: BiasJudged, tally: Tally, model: str, found: Answered, refused: Refusals) -> Answered:
    at = tally.models.index(model)
    arrays = [tally.read, tally.dropped, tally.unread, *([] if tally.truncated is None else [tally.truncated])]
    total = int(sum(int(np.asarray(array[at]).sum()) for array in arrays))
    unrelated = int(tally.read[at, ..., STANCES.index(Stance.UNRELATED)].sum())
    by_classifier = judged.classifier is not None
    return found.with_parts(
        unread=Part(int(tally.unread[at].sum()), total),
        below=Part(int(tally.dropped[at].sum()), total) if by_classifier else None,
        unrelated=Part(unrelated, total),
        refused=refused_part(refused),
        foreign=foreign_part(refused),
        truncated=Part(0 if tally.truncated is None else int(tally.truncated[at].sum()), total),
    )


__all__ = ["answered_by"]
