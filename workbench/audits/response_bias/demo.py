"""The audit of response biases as it is shown to somebody new."""

from __future__ import annotations

from collections import Counter

from stores.core.store import Store
from workbench.audits.response_bias.plan import DEFAULTS
from workbench.audits.response_bias.options import AUDIT
from workbench.data import SHIPPED_CHOICES
from workbench.domain.choices import Bias
from workbench.domain.designs import Design

A_BIAS = 5
"questions of each bias: 50 answers to each form take about two minutes on two cores that are otherwise idle"


def design(store: Store, model: str) -> Design:
    """Return a design on the first questions of each bias: those on scales are the same under both."""
    chosen: Counter[Bias] = Counter()
    refs = []
    for ref, item in store.choices.items(SHIPPED_CHOICES).items():
        if chosen[item.bias] < A_BIAS:
            chosen[item.bias] += 1
            refs.append(ref)
    return Design(
        SHIPPED_CHOICES,
        model,
        AUDIT,
        DEFAULTS.samples,
        DEFAULTS.sampling,
        family=DEFAULTS.family,
        statements=tuple(refs),
    )
