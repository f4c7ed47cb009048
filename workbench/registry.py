"""What there is to choose from, by name: loaded on use, so that naming a thing costs nothing."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from workbench.errors import UnknownName

AUDITS = {
    "reliability": "workbench.audits.reliability.judge",
    "bias_score": "workbench.audits.bias_score.judge",
    "statement_labels": "workbench.audits.bias_score.statement_labels",
    "questionnaire": "workbench.audits.questionnaire.plan",
    "response_bias": "workbench.audits.response_bias.plan",
}
READERS = ("label-words", "label-words-coded")


def audit(name: str) -> ModuleType:
    """Return the module of an audit. Raises UnknownName, listing those there are."""
    if name not in AUDITS:
        raise UnknownName(f"no audit is named {name!r}. There is: {', '.join(AUDITS)}")
    return import_module(AUDITS[name])
