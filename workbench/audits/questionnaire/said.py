"""What a questionnaire job asks, in a few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.domain.questionnaires import Contexts
from workbench.domain.statements import ORIGINAL


def said(spec: Mapping[str, Any]) -> list[str]:
    """Return its conditions, and how many respondents where it is not all."""
    contexts = spec.get("contexts")
    if not isinstance(contexts, dict):
        return []
    conditions = tuple(map(str, contexts.get("conditions", ())))
    words = Contexts(**{**contexts, "conditions": conditions}).as_said()
    return [words if spec.get("variants") != [str(ORIGINAL)] else f"{words}; original wordings only"]
