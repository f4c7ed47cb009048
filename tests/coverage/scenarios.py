"""All scenarios."""

from __future__ import annotations

from tests.coverage import agreement, bias, components, measures, questionnaires, refused, stances
from tests.coverage.study import Scenario

NOT_YET: frozenset[str] = frozenset(
    {
        "10 respondents, 3 targets",
        "12 people who differ much, 40 statements",
        "12 people, 30 statements, nearly always agreed with",
        "120 respondents, 6 targets, whose answers go together",
        "14 statements, 2 templates, 10 of them reliable",
        "20 left and 32 right statements, a test set of 264",
        "25 respondents, 4 targets, nearly always predicted",
        "264 test texts, a third of the answers in frequent texts",
        "264 test texts, some of which occur four times",
        "30 statements, a model that nearly always agrees",
        "88 test texts drawn from 2,400 answers",
        "90 statements of 3 countries, 6 templates",
        "an issue: 15 statements, 6 wordings, 6 templates",
        "few statements: 8 statements, 4 wordings, 3 templates",
        "shares at both ends, prompts missing: 24 statements, 6 wordings, 4 templates",
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
)
