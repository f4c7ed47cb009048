"""The reliability audit as it is shown to somebody new."""

from __future__ import annotations

from stores.core.store import Store
from workbench.data import SHIPPED_INSTRUMENT
from workbench.domain.designs import Design
from workbench.domain.responses import Sampling

STATEMENTS, TEMPLATES, SAMPLES = 8, ("personal-2", "personal-3"), 10
SAMPLING = Sampling(temperature=0.4)
"at the published temperature of 1 most answers of a model as small as the embedded one are unreadable"


def design(store: Store, model: str) -> Design:
    """Return a design on the first statement of each topic: every issue is in a short demonstration."""
    statements = store.instruments.get(SHIPPED_INSTRUMENT).statements
    first = {one.ref.rpartition("-")[0]: one.ref for one in reversed(statements)}
    chosen = set(list(first.values())[:STATEMENTS])
    refs = tuple(one.ref for one in statements if one.ref in chosen)
    return Design(
        SHIPPED_INSTRUMENT,
        model,
        samples=SAMPLES,
        sampling=SAMPLING,
        family="user",
        statements=refs,
        templates=TEMPLATES,
    )
