"""All scenarios."""

from __future__ import annotations

from tests.coverage import (
    agreement,
    bias,
    compared,
    components,
    likeness,
    measures,
    pooled,
    questionnaires,
    reader_error,
    refused,
    stances,
)
from tests.coverage.study import Scenario

NOT_YET: frozenset[str] = frozenset(
    {
        "20 left and 32 right statements answered alike, recall .97 and .75, 100 labels",
        "20 left and 32 right statements, disagreement rare, recall .97 and .75, 400 labels",
        "20 left and 32 right statements, recall .97 and .75, 100 labels, 100% reviewed",
        "20 left and 32 right statements, recall .97 and .75, 100 labels, 25% reviewed",
        "20 left and 32 right statements, recall .97 and .75, 100 labels, 50% reviewed",
        "60 questions, 400 people of each group, 50 letters to each",
        "by pooling: 56 statements, six of ten kept, 10 and 30 answers a prompt",
    }
)
"""names of scenarios whose full simulation is still to be made: `make coverage` makes it. Their
figures are in no table, and the page says so
"""
SCENARIOS: tuple[Scenario, ...] = (
    *agreement.SCENARIOS,
    *refused.SCENARIOS,
    *questionnaires.SCENARIOS,
    *measures.SCENARIOS,
    *stances.SCENARIOS,
    *bias.SCENARIOS,
    *components.SCENARIOS,
    *compared.SCENARIOS,
    *likeness.SCENARIOS,
    *pooled.SCENARIOS,
    *reader_error.SCENARIOS,
)
