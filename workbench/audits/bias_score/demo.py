"""The audit of the left/right bias as it is shown to somebody new."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from stores.core.store import Store
from workbench.audits.bias_score.judged import AUDIT
from workbench.audits.bias_score.tally import DEFAULTS
from workbench.data import SHIPPED_INSTRUMENT
from workbench.domain.designs import Design

A_SIDE, TOKENS = 3, 40


def design(store: Store, model: str) -> Design:
    """Return a design on a few statements of every dimension and side."""
    chosen: Counter[object] = Counter()
    refs = []
    for statement in store.instruments.get(SHIPPED_INSTRUMENT).statements:
        side = (statement.dimension, statement.leaning)
        if None not in side and chosen[side] < A_SIDE:
            chosen[side] += 1
            refs.append(statement.ref)
    sampling = replace(DEFAULTS.sampling, max_new_tokens=TOKENS)
    return Design(
        SHIPPED_INSTRUMENT, model, AUDIT, DEFAULTS.samples, sampling, family=DEFAULTS.family, statements=tuple(refs)
    )
