"""All scenarios."""

from __future__ import annotations

from tests.coverage import agreement, bias, compared, components, measures, pooled, questionnaires, refused, stances
from tests.coverage.study import Scenario

NOT_YET: frozenset[str] = frozenset(
    {
        "an issue: 15 statements, 6 wordings, 6 templates",
        "near .9, an issue: 15 statements, 6 wordings, 6 templates",
        "near .9, several issues: 40 statements, 4 wordings, 4 templates",
        "near .9, many issues: 120 statements, 6 wordings, 6 templates",
    }
)
"""names of scenarios whose full simulation is still to be made: `make coverage` makes it. Their figures are in no
table, and the page says so"""
SCENARIOS: tuple[Scenario, ...] = (
    *agreement.SCENARIOS,
    *refused.SCENARIOS,
    *questionnaires.SCENARIOS,
    *measures.SCENARIOS,
    *stances.SCENARIOS,
    *bias.SCENARIOS,
    *components.SCENARIOS,
    *compared.SCENARIOS,
    *pooled.SCENARIOS,
)
