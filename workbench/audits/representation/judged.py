"""The likeness of every run's answers to those of people, as the tables and findings read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.audits.by_persona import WithPersona
from workbench.audits.representation.asking import Answers
from workbench.audits.representation.likeness import Likenesses
from workbench.domain.statements import ORIGINAL, QUESTION, Statement
from workbench.stats.populations import Population


@dataclass(frozen=True, eq=False)
class LikenessData:
    """The likenesses of every run on an instrument."""

    answers: Mapping[str, Answers]
    "by name in the figures"
    likenesses: Mapping[str, Likenesses]
    populations: Sequence[Population]
    statements: Mapping[str, Statement]
    personas: Sequence[WithPersona]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of groups with more than one group."""
        return next(iter(self.likenesses.values())).kinds

    def text(self, ref: str) -> str:
        """Return the text of a question, or "" if it is unknown."""
        wordings = self.statements[ref].wordings if ref in self.statements else ()
        return next(
            (wording.text for wording in wordings if wording.variant in (ORIGINAL, QUESTION)), ""
        )
