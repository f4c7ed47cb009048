"""What an audit's answers are by nature: all that what stands below the audits has to know of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from workbench import entry_points


@dataclass(frozen=True, slots=True)
class Nature:
    """Who reads the answers to an audit's prompts."""

    free_text: bool = False
    "whether its answers are free text, which people and classifiers read"
    by_rule: bool = False
    "whether a rule reads each answer as it arrives, so that progress says how many are readable"
    first_word: bool = False
    "whether the first word of an answer is its reading: probabilities are what is published, and answers drawn in "
    "their place count so"


def nature(audit: str) -> Nature:
    """Return the nature of an audit. Raises UnknownName, listing those there are."""
    return cast("Nature", entry_points.load_audit(audit).nature)


def free_text() -> tuple[str, ...]:
    """Return the names of the audits whose answers are free text."""
    return tuple(name for name in entry_points.audits() if nature(name).free_text)
