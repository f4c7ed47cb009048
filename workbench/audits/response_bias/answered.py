"""How much of what a model was to answer has a valid letter, and what came beside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.audits.response_bias.rows import Subject
from workbench.domain.responses import EXACT
from workbench.evidence.answered import Answered, Part, answered, foreign_part, refused_part
from workbench.evidence.refusals import Refusals

TRIED = "no more valid answers in any try"


def answered_by(
    store: Store, subjects: Mapping[str, Subject], refusals: Mapping[str, Refusals]
) -> tuple[Answered, ...]:
    """Return how much of each plan was answered with a offered letter; templates of one run have one plan.

    Answers that somebody else collected have no plan here.
    """
    of: dict[Run, list[str]] = {}
    for name, subject in subjects.items():
        if subject.run is not None:
            of.setdefault(subject.run, []).append(name)
    return tuple(_of_run(store, run, names, subjects, refusals) for run, names in of.items())


def _of_run(
    store: Store,
    run: Run,
    names: Sequence[str],
    subjects: Mapping[str, Subject],
    refusals: Mapping[str, Refusals],
) -> Answered:
    found = answered(store, run, names[0] if len(names) == 1 else run.named)
    if run.sampling.mode == EXACT:
        return found
    mine = [subjects[name] for name in names]
    came, drawn = min(found.planned, sum(one.valid for one in mine)), sum(one.drawn for one in mine)
    missing = came < found.planned
    tried = missing and not found.job and not any(one.unfinished for one in mine)
    return replace(found, answered=came, unit="valid answers", job=TRIED if tried else found.job).with_parts(
        invalid=Part(sum(one.invalid for one in mine), drawn),
        refused=refused_part(next(_of(names, refusals), None)),
        foreign=foreign_part(next(_of(names, refusals), None)),
        truncated=Part(sum(one.truncated for one in mine), drawn),
    )


def _of(names: Sequence[str], refusals: Mapping[str, Refusals]) -> Iterator[Refusals]:
    return (refusals[name] for name in names if name in refusals)


__all__ = ["answered_by"]
