"""How a questionnaire's prompts would be put now: answers, questions, scales and templates may have changed since."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from stores.runs.predictions import Put
from workbench import registry
from workbench.audits.questionnaire.conditions import ZERO_SHOT, check, persons
from workbench.audits.questionnaire.figures import Condition
from workbench.audits.questionnaire.plan import CONDITION, CONTEXT, QUESTIONS, RESPONDENT, SEED, Conversations
from workbench.domain.instruments import Instrument
from workbench.domain.prompts import Template
from workbench.domain.questionnaires import Contexts, Form, Questionnaire, Role, Survey
from workbench.errors import UnknownName, UsageError

AUDIT = "questionnaire"

Axes = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Now:
    """How prompts would be put now."""

    contexts: Mapping[tuple[Condition, str], str]
    "(condition, respondent) -> key of the context"
    templates: Mapping[tuple[str, bool], Template]
    "(ref of a target, whether without context) -> what it is put by; left out where nothing puts it"

    def puts(self, put: Put, *, zero_shot: bool) -> bool:
        """Return whether a target is put as it would be now, its text aside."""
        now = self.templates.get((put.ref, zero_shot))
        return now is not None and _shown(now, zero_shot) == _shown(put.template, zero_shot)

    def shows(self, axes: Axes) -> bool:
        """Return whether the context of a prompt with these axes is the one that would be shown now."""
        context = axes.get(CONTEXT)
        return context is None or context == self.contexts.get((condition_of(axes), axes.get(RESPONDENT, "")))


def condition_of(axes: Axes) -> Condition:
    """Return the condition under which a prompt was put."""
    return Condition(axes.get(CONDITION, ""), int(axes.get(SEED, 0)), int(axes.get(QUESTIONS, 0)))


def current(
    instrument: Instrument, questionnaire: Questionnaire, language: str, put: Iterable[Put], axes: Iterable[Axes]
) -> Now:
    """Return how prompts of these templates and axes would be put now."""
    templates = _templates([one.template for one in put], instrument)
    asking = Conversations(instrument.statements, templates, language, Survey(questionnaire))
    wanted: dict[Condition, set[str]] = defaultdict(set)
    for of in axes:
        if CONTEXT in of:
            wanted[condition_of(of)].add(of[RESPONDENT])
    contexts: dict[tuple[Condition, str], str] = {}
    for questions in sorted({condition.questions for condition in wanted}):
        alike = {condition: names for condition, names in wanted.items() if condition.questions == questions}
        contexts |= {(condition, name): key for condition, name, key in _keys(asking, questions, alike)}
    return Now(contexts, dict(_put_by(asking)))


def _keys(
    asking: Conversations, questions: int, wanted: Mapping[Condition, set[str]]
) -> Iterator[tuple[Condition, str, str]]:
    """Yield the key of each respondent's context; none where the questionnaire can no longer be asked so."""
    questionnaire, contexts = asking.survey.questionnaire, Contexts(questions=questions)
    try:
        check(Survey(questionnaire, contexts))
        everybody = tuple(persons(questionnaire, questions, set().union(*wanted.values())))
        for condition, names in wanted.items():
            survey = Survey(questionnaire, contexts, condition.seed)
            of = Conversations(asking.statements, asking.templates, asking.language, survey)
            for person in everybody:
                if person.name in names:
                    yield condition, person.name, of.context_key(condition.name, person)
    except UsageError:
        return


def _put_by(asking: Conversations) -> Iterator[tuple[tuple[str, bool], Template]]:
    """Yield what puts each target, with context and without; nothing where no template does."""
    for question in asking.survey.questionnaire.of_role(Role.TARGET):
        for condition in ("", ZERO_SHOT):
            with suppress(UnknownName):
                yield (question.ref, condition == ZERO_SHOT), asking.template(question, condition)


def _templates(put: Iterable[Template], instrument: Instrument) -> tuple[Template, ...]:
    """Return the templates of the families and languages of some as a design would take them now."""
    places = dict.fromkeys((one.family, one.language) for one in put)
    forms = {*map(str, Form), *(f"{form}-{ZERO_SHOT}" for form in Form)}
    return tuple(
        one
        for family, language in places
        for one in registry.audit(AUDIT).templates_for(instrument, language)
        if one.family == family and one.language == language and one.name in forms
    )


def _shown(template: Template, zero_shot: bool) -> tuple[str, bool, str | None]:
    """Return what a prompt shows of its target's template; the system turn of others is one of their context."""
    return template.user, template.chat, template.system if zero_shot else None
