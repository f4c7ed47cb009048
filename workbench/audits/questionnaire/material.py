"""What a questionnaire audit asks about, read from a store: people's answers, and the targets that are wanted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from stores.core.store import Store
from workbench.audits.audit import Given, Material
from workbench.audits.questionnaire.conditions import (
    IN_ALL_WORDINGS,
    ZERO_SHOT,
    expanded,
    remarks,
    unpredicted,
    without_context,
)
from workbench.audits.questionnaire.options import CONDITIONS
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument
from workbench.domain.names import listed
from workbench.domain.questionnaire_texts import shared_texts
from workbench.domain.questionnaires import Contexts, Question, Role, Survey
from workbench.domain.statements import ORIGINAL, Statement
from workbench.errors import UnknownName, UsageError
from workbench.options.shared import INSTRUMENT, STATEMENTS


def targets(store: Store, instrument: str) -> list[str]:
    """Return the refs of an instrument's targets, in order."""
    return [question.ref for question in store.questionnaires.questions(instrument) if question.role is Role.TARGET]


def contexts(own: Given) -> Contexts:
    """Return what stands before the targets, and whose answers. Raises FieldError."""
    usual = Contexts()
    names = tuple(dict.fromkeys(name.casefold() for name in listed(own.conditions))) or usual.conditions
    if own.conditions is not None and not listed(own.conditions):
        raise CONDITIONS.error("found none; give qm, zero-shot, random, permuted, reduced, or all")
    try:
        expanded(names)
    except UnknownName as error:
        raise CONDITIONS.error(str(error)) from None
    given = {"respondents": own.respondents, "every": own.every, "questions": own.context_questions}
    return replace(usual, conditions=names, **{name: value for name, value in given.items() if value is not None})


def asked(store: Store, design: Design, instrument: Instrument) -> tuple[Sequence[Statement], Survey]:
    """Return the statements of a questionnaire without the targets that are not wanted, and people's answers.

    Raises UsageError where there is no questionnaire or no target, where a context question is asked for as a target,
    or where a target is shown before it is asked.
    """
    questionnaire = store.questionnaires.get(design.instrument)
    if questionnaire is None:
        raise INSTRUMENT.error(
            f"{design.instrument} is not a questionnaire: none of its statements has a role. Add the columns `role`, "
            "`form` and `scale` in statements.csv and people's answers in answers.csv (data/README.md), or choose "
            "another --instrument"
        )
    names = [question.ref for question in questionnaire.of_role(Role.TARGET)]
    if not names:
        raise INSTRUMENT.error(f"{design.instrument} has no target question; give one the role `target`")
    others = [ref for ref in design.statements if ref not in names]
    if others:
        raise STATEMENTS.error(
            f"{', '.join(others[:5])} {'is' if len(others) == 1 else 'are'} not asked: only targets are, after the "
            f"context questions. Targets of {design.instrument}: {', '.join(names)}"
        )
    _check_given_away(design, questionnaire.questions, instrument.statements)
    unwanted = set(names) - set(design.statements or names)
    kept = [statement for statement in instrument.statements if statement.ref not in unwanted]
    return kept, Survey(questionnaire, design.contexts, design.seed)


def _check_given_away(design: Design, questions: Sequence[Question], statements: Iterable[Statement]) -> None:
    """Raise UsageError where a target has a text of a context question, which would show the answer that is predicted.

    Files with such a pair are refused; texts and roles that were changed since they were read may come to it.
    """
    spoken = {
        one.ref: replace(one, wordings=tuple(w for w in one.wordings if w.language == design.language))
        for one in statements
    }
    wanted = [pair for pair in shared_texts(spoken, questions) if not design.statements or pair[0] in design.statements]
    if wanted and set(design.contexts.conditions) != {ZERO_SHOT}:
        target, context = wanted[0]
        raise UsageError(
            f"the target {target} has the text of the context question {context}, so the context would show the answer "
            "before the target is asked. Change one of the texts, or remove one of them: workbench questionnaire "
            f"STORE --question {context} --role none"
        )


def said_of(material: Material) -> tuple[str, ...]:
    """Return what a person should know before the questionnaire is asked."""
    if not isinstance(material, Survey):
        return ()
    people = material.questionnaire
    return (*remarks(people), *unpredicted(people), *without_context(material))


def why_nothing(design: Design, statements: Sequence[Statement], material: Material) -> str:
    """Say why a design with these statements asks nothing; "" where it is the language."""
    if not isinstance(material, Survey):
        return ""
    refs = {question.ref for question in material.questionnaire.of_role(Role.TARGET)}
    several = set(expanded(design.contexts.conditions)) & set(IN_ALL_WORDINGS)
    if design.variants and str(ORIGINAL) not in design.variants and not several:
        return f"wordings other than the original are asked only under {', '.join(IN_ALL_WORDINGS)}"
    if any(s.ref in refs and any(w.language == design.language for w in s.wordings) for s in statements):
        said = remarks(material.questionnaire)
        return "; ".join(said) or "none of these respondents answered these targets with yes or no"
    return ""
