"""Which statements a person means: all, the first eight, those of a role in a questionnaire, or these refs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.domain.questionnaires import Role
from workbench.errors import UsageError

if TYPE_CHECKING:
    from stores.core.store import Store

ROLES = {"targets": Role.TARGET, "target": Role.TARGET, "context": Role.CONTEXT}
"words that stand for the questions of a role"


def named_statements(store: Store, instrument: str, text: str) -> tuple[str, ...]:
    """Return the refs that are meant, none for all. Raises UsageError for a number below 1 and a role nobody has.

    `text`: nothing or `all`; `8` for the first eight; `targets` or `context` of a questionnaire; else refs with commas
    between. A statement whose ref is one of these words is meant by it.
    """
    wanted = text.strip()
    if wanted.casefold() in ("", "all"):
        return ()
    role = ROLES.get(wanted.casefold())
    if not wanted.isdecimal() and role is None:
        return tuple(dict.fromkeys(ref.strip() for ref in wanted.split(",") if ref.strip()))
    refs = tuple(line.ref for line in store.instruments.lines(instrument))
    if wanted in refs:
        return (wanted,)
    if role is not None:
        return refs_of_role(store, instrument, role)
    if int(wanted) < 1:
        raise UsageError("0 statements were asked for; give 1 or more, or refs")
    return refs[: int(wanted)]


def refs_of_role(store: Store, instrument: str, role: Role) -> tuple[str, ...]:
    """Return the questions of a role in their order. Raises UsageError where the instrument has none."""
    found = tuple(question.ref for question in store.questionnaires.questions(instrument) if question.role is role)
    if not found:
        raise UsageError(f"{instrument} has no {role.value} questions; choose another instrument, or give them a role")
    return found
