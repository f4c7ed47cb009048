"""What a person typed for a choice among names: all of them, the first so many, or some by their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.domain.names import listed_words
from workbench.domain.questionnaire_tallies import named_few
from workbench.domain.questionnaires import Role
from workbench.errors import UsageError
from workbench.options.shared import STATEMENTS
from workbench.stats.resampling import derive_rng

if TYPE_CHECKING:
    from stores.core.store import Store

QUICK, QUICK_STATEMENTS, QUICK_SAMPLES = "quick", 8, 5
"the word for a quick look, and of how many statements it is with how many answers to each prompt"
ROLES = {"targets": Role.TARGET, "target": Role.TARGET, "context": Role.CONTEXT}
"words that stand for the questions of a role"


def is_quick(text: str | None) -> bool:
    """Return whether a quick look is asked for."""
    return (text or "").strip().casefold() == QUICK


def quick_look(refs: Sequence[str], seed: int) -> tuple[str, ...]:
    """Return the few statements of a quick look, in their order; () where there are no more than these."""
    if len(refs) <= QUICK_STATEMENTS:
        return ()
    drawn = derive_rng(seed, "quick look").permutation(len(refs))[:QUICK_STATEMENTS]
    return tuple(refs[place] for place in sorted(drawn.tolist()))


def chosen(text: str | None, names: Sequence[str]) -> tuple[str, ...]:
    """Read `8` as the first eight names and `a,b` or `a b` as these; None, nothing and `all` as all, which is ().

    Raises FieldError for 0.

    Examples
    --------
    >>> chosen("2", ["a", "b", "c"]), chosen("c b", ["a", "b", "c"]), chosen("all", ["a"])
    (('a', 'b'), ('c', 'b'), ())
    """
    typed = (text or "").strip()
    if typed.casefold() in ("", "all"):
        return ()
    if typed.isdecimal() and names and typed not in names:
        if int(typed) < 1:
            raise STATEMENTS.error("found 0; give 1 or more, or names")
        return tuple(names[: int(typed)])
    return tuple(dict.fromkeys(listed_words(typed, names)))


def statements(text: str | None, wanted: Sequence[str], there: Sequence[str], seed: int) -> tuple[str, ...]:
    """Return the refs that are asked for, () for all: of those that other options want, where they want any. `quick`
    stands for a few that the seed draws.

    Raises FieldError for one that they do not.
    """
    if is_quick(text) and QUICK not in there:
        return quick_look(wanted or there, seed) or tuple(wanted)
    named = chosen(text, wanted or there)
    others = [ref for ref in named if wanted and ref not in wanted]
    if others:
        raise STATEMENTS.error(f"{named_few(others)}: excluded by the other options")
    return named or tuple(wanted)


def named_statements(store: Store, instrument: str, text: str) -> tuple[str, ...]:
    """Return the refs that are asked for, () for all; `targets` and `context` are the questions of a role.

    A statement whose ref is one of these words is meant by it. Raises FieldError for 0, and UsageError for a role that
    no question has.
    """
    refs = [line.ref for line in store.instruments.lines(instrument)]
    role = None if text.strip() in refs else ROLES.get(text.strip().casefold())
    if role is None:
        return chosen(text, refs)
    found = tuple(question.ref for question in store.questionnaires.questions(instrument) if question.role is role)
    if not found:
        raise UsageError(f"{instrument} has no {role.value} questions; choose another instrument, or give them a role")
    return found
