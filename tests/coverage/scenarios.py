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
