"""Questionnaire Modeling: what a person answers next, given the person's other answers (Haller et al. 2025).

A prompt is a conversation: each context question as a user turn, the person's yes or no as the assistant's, then the
target. Its answer is the distribution of the next token; nothing is drawn. Zero-shot is the same without context and
with a prefix before the answer. A base model is given the same conversation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from workbench.audits.audit import Material
from workbench.audits.questionnaire.conditions import (
    IN_ALL_WORDINGS,
    ZERO_SHOT,
    Answered,
    Person,
    expanded,
    is_drawn,
    people,
    shown,
)
from workbench.audits.questionnaire.options import DEFAULTS
from workbench.domain.keys import canonical, content_key, list_key
from workbench.domain.prompts import MODEL_SLOT, SLOT, Message, Probe, Prompt, Template
from workbench.domain.questionnaires import Question, Role, Survey
from workbench.domain.statements import ORIGINAL, Statement, VariantId, VariantKind
from workbench.errors import UnknownName, UsageError

CONDITION, CONTEXT, QUESTIONS, RESPONDENT, SEED = "condition", "context", "questions", "respondent", "seed"
"axes of a probe; `questions` where only so many of the context questions are shown, `seed` where something is drawn"
CONTEXT_DIGITS = 16
"hexadecimal digits that tell contexts apart"


def default_variants(available: Sequence[VariantId]) -> tuple[VariantId, ...]:
    """Return the original and every paraphrase."""
    return tuple(v for v in available if v == ORIGINAL or v.kind is VariantKind.PARAPHRASE)


def probes(
    statements: Sequence[Statement],
    templates: Sequence[Template],
    variants: Sequence[VariantId],
    language: str,
    model_name: str = "",  # noqa: ARG001  templates of this audit do not call the model by its name
    material: Material = None,
) -> Iterator[Probe]:
    """Yield the prompts of a survey's design, those with a common context after one another.

    `statements`: the whole questionnaire's texts with those of the targets that are wanted. Raises UsageError where
    there is no questionnaire, a text is missing, or a template is none of this audit's.
    """
    if not isinstance(material, Survey):
        raise UsageError("this audit needs a questionnaire: questions with roles, and people's answers")
    _check_templates(templates)
    asking = Conversations(statements, templates, language, material)
    asked = people(material)
    for condition in expanded(material.contexts.conditions):
        wanted = [v for v in variants if v == ORIGINAL or condition in IN_ALL_WORDINGS]
        if condition == ZERO_SHOT:
            yield from asking.without_context(asked, wanted)
        else:
            for person in asked:
                yield from asking.of_person(condition, person, wanted)


@dataclass(frozen=True)
class Conversations:
    """Puts a questionnaire's questions to a model, in one language."""

    statements: Sequence[Statement]
    templates: Sequence[Template]
    language: str
    survey: Survey

    def without_context(self, asked: Sequence[Person], variants: Sequence[VariantId]) -> Iterator[Probe]:
        """Yield the zero-shot prompts of targets that somebody answered."""
        answered = {ref for person in asked for ref in person.targets}
        for target in self._targets:
            for variant in variants if target.ref in answered else ():
                template = self.template(target, ZERO_SHOT)
                yield from self._probe(target, variant, template, (), ((CONDITION, ZERO_SHOT),))

    def of_person(self, condition: str, person: Person, variants: Sequence[VariantId]) -> Iterator[Probe]:
        """Yield the prompts about one person under one condition."""
        context = self.context(condition, person)
        questions = self.survey.contexts.questions
        axes = [(CONDITION, condition), (CONTEXT, self.context_key(condition, person))]
        axes += [(QUESTIONS, str(questions))] if questions else []
        axes += [(RESPONDENT, person.name)]
        axes += [(SEED, str(self.survey.seed))] if is_drawn(condition) else []
        for target in self._targets:
            if target.ref in person.targets:
                for variant in variants:
                    if variant == ORIGINAL or person.in_all_wordings:
                        yield from self._probe(target, variant, self.template(target), context, tuple(axes))

    def context(self, condition: str, person: Person) -> tuple[Message, ...]:
        """Return the turns before the target."""
        turns = [self._turns[answered] for answered in shown(condition, self.survey.seed, person, self._asked)]
        return (*self._system, *(turn for pair in turns for turn in pair))

    def context_key(self, condition: str, person: Person) -> str:
        """Return the key of a context, without making its turns: people have them in common."""
        forms = (self._forms[answered] for answered in shown(condition, self.survey.seed, person, self._asked))
        return list_key((*map(_form, self._system), *forms)).hex()[:CONTEXT_DIGITS]

    def _probe(
        self,
        target: Question,
        variant: VariantId,
        template: Template,
        context: tuple[Message, ...],
        axes: tuple[tuple[str, str], ...],
    ) -> Iterator[Probe]:
        wording = self._texts[target.ref].wording(variant, self.language)
        if wording is not None:
            turn = Message("user", template.user.replace(SLOT, wording.text))
            before = context or ((Message("system", template.system),) if template.system else ())
            prompt = Prompt((*before, turn), chat=template.chat, context=len(context))
            yield Probe(target.ref, str(variant), template.name, template.inverted, prompt, axes)

    @cached_property
    def _system(self) -> tuple[Message, ...]:
        """Return the system turn of conversations with answered questions, which is the same for all of them."""
        system = next((t.system for t in self.templates if t.system and not _is_zero_shot(t)), None)
        return (Message("system", system),) if system else ()

    @cached_property
    def _texts(self) -> Mapping[str, Statement]:
        return {statement.ref: statement for statement in self.statements}

    @cached_property
    def _targets(self) -> tuple[Question, ...]:
        return tuple(q for q in self.survey.questionnaire.of_role(Role.TARGET) if q.ref in self._texts)

    @cached_property
    def _asked(self) -> tuple[str, ...]:
        return tuple(question.ref for question in self.survey.questionnaire.of_role(Role.CONTEXT))

    @cached_property
    def _turns(self) -> Mapping[Answered, tuple[Message, Message]]:
        """Return question and answer by (ref, yes)."""
        found = {}
        for question in self.survey.questionnaire.of_role(Role.CONTEXT):
            template = self.template(question)
            statement = self._texts.get(question.ref)
            wording = statement.wording(ORIGINAL, self.language) if statement else None
            if wording is None:
                raise UsageError(
                    f"the context question {question.ref} has no original wording in {self.language!r}; translate it, "
                    "or choose another --language"
                )
            put = Message("user", template.user.replace(SLOT, wording.text))
            found[question.ref, True] = (put, Message("assistant", template.positive))
            found[question.ref, False] = (put, Message("assistant", template.negative))
        return found

    @cached_property
    def _forms(self) -> Mapping[Answered, str]:
        """Return question and answer by (ref, yes) as contexts are keyed."""
        return {answered: ",".join(map(_form, turns)) for answered, turns in self._turns.items()}

    def template(self, question: Question, condition: str = "") -> Template:
        """Return what puts a question, in the language that is asked where there is one. Raises UnknownName."""
        name = question.form.value + (f"-{ZERO_SHOT}" if condition == ZERO_SHOT else "")
        named = [template for template in self.templates if template.name == name]
        for template in (*(t for t in named if t.language == self.language), *named):
            return template
        there = ", ".join(template.name for template in self.templates)
        raise UnknownName(
            f"a {question.form.value} needs the template {name!r}, which is not among those chosen ({there}). "
            "Leave --templates out, or name it too"
        )


def _is_zero_shot(template: Template) -> bool:
    return template.name.endswith(f"-{ZERO_SHOT}")


def _check_templates(templates: Sequence[Template]) -> None:
    """Raise UsageError for templates that cannot put a question as one turn of a conversation."""
    named: set[tuple[str, str]] = set()
    for template in templates:
        labels = [label.strip().casefold() for label in (template.positive, template.negative)]
        checks = [
            (template.user.count(SLOT) == 1, f"needs {SLOT} exactly once in its user turn, where each question goes"),
            (not template.names_model, f"calls the model by its name ({MODEL_SLOT}), which this audit does not"),
            (
                template.chat or _is_zero_shot(template),
                "is not a chat template, but answered questions are turns of a chat",
            ),
            ((template.name, template.language) not in named, "exists in two label orders; this audit asks one"),
            (
                labels[0] != labels[1],
                f"calls yes and no {template.positive!r} and {template.negative!r}, case aside one",
            ),
            (
                all(len(label.split()) == 1 for label in labels),
                f"calls yes and no {template.positive!r} and {template.negative!r}, and this audit reads the next "
                "token alone, which spells one word at most",
            ),
        ]
        for holds, fault in checks:
            if not holds:
                raise UsageError(f"the template {template.name!r} {fault}; change it in templates.csv and import again")
        named.add((template.name, template.language))
    if len({template.system for template in templates if template.system and not _is_zero_shot(template)}) > 1:
        raise UsageError(
            "the templates for questions and for statements have different system turns, and a conversation has one; "
            "give both the same in templates.csv and import again"
        )


def context_key(context: Sequence[Message]) -> str:
    """Return what tells a context from others, as a probe's axis holds it."""
    return content_key([[message.role, message.content] for message in context]).hex()[:CONTEXT_DIGITS]


def _form(message: Message) -> str:
    return canonical([message.role, message.content])


__all__ = [
    "CONDITION",
    "CONTEXT",
    "DEFAULTS",
    "QUESTIONS",
    "RESPONDENT",
    "SEED",
    "Conversations",
    "context_key",
    "default_variants",
    "probes",
]
