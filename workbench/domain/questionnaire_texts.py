"""Texts of a questionnaire that give an answer away: a target that is asked in the context, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.domain.findings import folded
from workbench.domain.questionnaires import Question, Role
from workbench.domain.statements import Statement, VariantKind

ASKED = (VariantKind.ORIGINAL, VariantKind.PARAPHRASE)
"wordings that an audit asks a target in"


def shared_texts(statements: Mapping[str, Statement], questions: Sequence[Question]) -> list[tuple[str, str]]:
    """Return (ref of a target, ref of a context question) wherever a text of the two is the same."""
    shown: dict[tuple[str, str], str] = {}
    for question in questions:
        if question.role is Role.CONTEXT and question.ref in statements:
            for language, text in _texts(statements[question.ref], (VariantKind.ORIGINAL,)):
                shown.setdefault((language, text), question.ref)
    targets = [q.ref for q in questions if q.role is Role.TARGET and q.ref in statements]
    found = [(ref, shown.get(text)) for ref in targets for text in _texts(statements[ref], ASKED)]
    return [(target, context) for target, context in dict.fromkeys(found) if context is not None]


def _texts(statement: Statement, kinds: Sequence[VariantKind]) -> list[tuple[str, str]]:
    return [(w.language, folded(w.text)) for w in statement.wordings if w.variant.kind in kinds]
