"""The prompts of Questionnaire Modeling: a person's answers, then the question to predict.

Haller et al. 2025. A prompt is a conversation: each context question as a user turn, the person's
yes or no as the assistant's, then the target. Its answer is the distribution of the next token.
Nothing is drawn. Zero-shot is the same without context and with a prefix before the answer. A base
model is given the same conversation.

Conditions
==========

The context of a target question: a person's answered questions as they are, or changed in one known
way.

The controls of Haller et al. 2025 (section 4 and appendix F.1) are: no context, random answers,
another order, and fewer questions. The last two exist with the last example kept or changed,
because it has the most weight. All draws are made by question and by respondent, each from a
generator of its own. So a respondent who is added later, or an answer that is missing, changes no
other respondent's context.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Final

from stores.core.store import Store
from workbench.audits.audit import Given, Material
from workbench.audits.questionnaire.figures import Condition
from workbench.audits.questionnaire.options import CONDITIONS, CONTEXT_QUESTIONS, EVERY, RESPONDENTS
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument
from workbench.domain.keys import canonical, content_key, list_key
from workbench.domain.names import listed, plural
from workbench.domain.prompts import MODEL_SLOT, SLOT, Message, Probe, Prompt, Template
from workbench.domain.questionnaires import (
    LEAST_RESPONDENTS,
    Contexts,
    Meaning,
    Question,
    Questionnaire,
    QuestionRole,
    Survey,
    named_few,
    shared_texts,
)
from workbench.domain.statements import ORIGINAL, Statement, VariantId, VariantKind
from workbench.errors import UnknownName, UsageError
from workbench.options.shared import INSTRUMENT, STATEMENTS
from workbench.stats.design_precision import MOST, smallest_mean, widest
from workbench.stats.resampling import derive_rng

QM: Final = "qm"
"the person's own answers in the order of the questionnaire"
ZERO_SHOT: Final = "zero-shot"
RANDOM: Final = "random"
"yes or no at random, to the questions that the person answered"
PERMUTATIONS: Final = 3
REDUCTIONS: Final = (25, 50, 75)
"""percentages of the answered questions that are excluded; questions excluded at 25 are excluded
at 50 too"""
KEPT, CHANGED = "kept", "changed"
"whether the last example is the same as in the original order"

PERMUTED: Final = tuple(
    f"permuted-{last}-{i}" for last in (KEPT, CHANGED) for i in range(1, PERMUTATIONS + 1)
)
REDUCED: Final = tuple(
    f"reduced-{percent}-{last}" for percent in REDUCTIONS for last in (KEPT, CHANGED)
)
CONDITION_NAMES: Final = (QM, ZERO_SHOT, RANDOM, *PERMUTED, *REDUCED)
GROUPS: Final = {"permuted": PERMUTED, "reduced": REDUCED, "all": CONDITION_NAMES}
"names of groups of conditions"
IN_ALL_WORDINGS: Final = (QM, ZERO_SHOT, RANDOM)
"conditions under which paraphrases are asked (table 4); the others ask only the original"

Answered = tuple[str, bool]
"a context question's ref, and whether the answer is yes"


def condition_order(condition: Condition) -> tuple[int, Condition]:
    """Return the sort key of a condition: qm, zero-shot, random, permuted, reduced."""
    if condition.name not in CONDITION_NAMES:
        return len(CONDITION_NAMES), condition
    return CONDITION_NAMES.index(condition.name), condition


def expanded(names: Iterable[str]) -> tuple[str, ...]:
    """Return conditions with groups resolved, in the order of `CONDITION_NAMES`.

    Raises UnknownName with all available names.

    Examples
    --------
    >>> expanded(["permuted", "qm"])[:3]
    ('qm', 'permuted-kept-1', 'permuted-kept-2')
    """
    selected: set[str] = set()
    for name in names:
        if name not in CONDITION_NAMES and name not in GROUPS:
            raise UnknownName(
                f"there is no condition {name!r}. Available: "
                f"{', '.join((*GROUPS, *CONDITION_NAMES))}"
            )
        selected |= set(GROUPS.get(name, (name,)))
    return tuple(name for name in CONDITION_NAMES if name in selected)


def is_drawn(condition: str) -> bool:
    """Return whether a condition depends on the seed."""
    return condition not in (QM, ZERO_SHOT)


@dataclass(frozen=True, slots=True)
class AskedPerson:
    """A respondent that a design asks about: the context, and the targets to predict."""

    name: str
    context: tuple[Answered, ...]
    "context questions answered with yes or no, in order"
    targets: frozenset[str]
    "refs of the targets that were answered with yes or no"
    in_all_wordings: bool


def people(survey: Survey) -> tuple[AskedPerson, ...]:
    """Return the respondents that a survey's design asks about, in their order.

    They are the first n of one seeded order, so that a larger n later asks about nobody twice.
    Raises UsageError for numbers that make no sense.
    """
    contexts = survey.contexts
    check(survey)
    sampled_names = seeded_names(survey)
    # The negated floor is a ceiling, so that at least one respondent is asked in all wordings
    names_in_all_wordings = set(sampled_names[: -(-len(sampled_names) // contexts.every)])
    return tuple(
        people_named(
            survey.questionnaire, contexts.questions, set(sampled_names), names_in_all_wordings
        )
    )


def people_named(
    questionnaire: Questionnaire, questions: int, names: Container[str], often: Container[str] = ()
) -> Iterator[AskedPerson]:
    """Yield the respondents of these names, in the order of the questionnaire.

    Their context is their answers to the first `questions` context questions, or to all for 0.
    Those in `often` are asked in all wordings.
    """
    context_questions = questionnaire.of_role(QuestionRole.CONTEXT)
    context_answers = {
        question.ref: _yes_answers(questionnaire, question)
        for question in context_questions[: questions or len(context_questions)]
    }
    target_answers = {
        question.ref: _yes_answers(questionnaire, question)
        for question in questionnaire.of_role(QuestionRole.TARGET)
    }
    for index, respondent in enumerate(questionnaire.respondents):
        name = respondent.name
        if name not in names:
            continue
        context = _answers_at(index, context_answers)
        answered_targets = frozenset(ref for ref, _ in _answers_at(index, target_answers))
        yield AskedPerson(name, context, answered_targets, name in often)


def _answers_at(
    index: int, answers_by_ref: Mapping[str, Sequence[bool | None]]
) -> tuple[Answered, ...]:
    """Return the questions that a respondent, given by index, answered with yes or no."""
    answered = []
    for ref, answers in answers_by_ref.items():
        is_yes = answers[index]
        if is_yes is not None:
            answered.append((ref, is_yes))
    return tuple(answered)


def _yes_answers(questionnaire: Questionnaire, question: Question) -> list[bool | None]:
    """Return for each respondent whether the answer to a question is yes.

    None stands for an answer that is neither yes nor no.
    """
    yes_by_meaning = {Meaning.YES: True, Meaning.NO: False}
    return [yes_by_meaning.get(meaning) for meaning in questionnaire.meanings(question)]


def seeded_names(survey: Survey) -> list[str]:
    """Return the names of the respondents that a design asks about, in their seeded order."""
    names = [respondent.name for respondent in survey.questionnaire.respondents]
    order = sorted(names, key=lambda name: _lot(survey.seed, "respondent", name))
    return order[: survey.contexts.respondents or len(order)]


def asked_about(survey: Survey) -> frozenset[str]:
    """Return the names of the respondents that a design asks about.

    If it asks about all of them, nobody has to be drawn, which saves time.
    """
    if survey.contexts.respondents:
        return frozenset(seeded_names(survey))
    return frozenset(respondent.name for respondent in survey.questionnaire.respondents)


def _is_binary(meaning: Meaning) -> bool:
    """Return whether an answer is yes or no."""
    return meaning in (Meaning.YES, Meaning.NO)


def check(survey: Survey) -> None:
    """Raise UsageError for a design with numbers that make no sense for its questionnaire."""
    contexts = survey.contexts
    n_questions = len(survey.questionnaire.of_role(QuestionRole.CONTEXT))
    n_respondents = len(survey.questionnaire.respondents)
    if not n_respondents:
        raise INSTRUMENT.error(
            "the questionnaire has no respondents; import people's answers with --format answers"
        )
    if not 0 <= contexts.respondents <= n_respondents:
        raise RESPONDENTS.error(
            f"found {contexts.respondents}; there are {n_respondents}. Give 1 to "
            f"{n_respondents}, or 0 for all"
        )
    if contexts.every < 1:
        raise EVERY.error(f"found {contexts.every}; give 1 or more")
    if not 0 <= contexts.questions <= n_questions:
        raise CONTEXT_QUESTIONS.error(
            f"found {contexts.questions}; there are {n_questions}. Give 1 to {n_questions}, "
            "or 0 for all"
        )


def context_of(
    condition: str, seed: int, person: AskedPerson, questions: Sequence[str]
) -> tuple[Answered, ...]:
    """Return a person's answered questions as a condition shows them.

    `questions` are the refs of all context questions. Random answers are drawn for all of them, so
    that they do not depend on which ones the person answered.
    """
    if condition == QM:
        return person.context
    if condition == ZERO_SHOT:
        return ()
    if condition == RANDOM:
        coins = derive_rng(seed, RANDOM, person.name).integers(2, size=len(questions))
        coin_by_ref = dict(zip(questions, coins, strict=True))
        return tuple((ref, bool(coin_by_ref[ref])) for ref, _ in person.context)
    kind, _, details = condition.partition("-")
    if kind == "permuted":
        return _permuted(person.context, seed, condition, kept=KEPT in details)
    percent, _, last = details.partition("-")
    return _reduced(person.context, seed, int(percent), last)


def _permuted(
    context: tuple[Answered, ...], seed: int, condition: str, *, kept: bool
) -> tuple[Answered, ...]:
    """Return a context in an order that is the same for all respondents.

    `kept` tells whether the last example stays the last one.
    """
    if kept:
        return (*_by_lot(context[:-1], seed, condition), *context[-1:])
    shuffled = _by_lot(context, seed, condition)
    if len(shuffled) > 1 and shuffled[-1] == context[-1]:
        shuffled[0], shuffled[-1] = shuffled[-1], shuffled[0]
    return tuple(shuffled)


def _reduced(
    context: tuple[Answered, ...], seed: int, percent: int, last: str
) -> tuple[Answered, ...]:
    """Return a context without a share of its examples, in its order.

    The last example stays if `last` is `KEPT`, otherwise it is one of the excluded ones.
    """
    n_excluded = round(len(context) * percent / 100)
    shuffled = _by_lot(context[:-1], seed, f"reduced-{last}")
    if not n_excluded:
        return context
    excluded = set(shuffled[:n_excluded])
    if last != KEPT:
        excluded = {context[-1], *shuffled[: n_excluded - 1]}
    return tuple(answer for answer in context if answer not in excluded)


def _by_lot(context: Iterable[Answered], seed: int, lot: str) -> list[Answered]:
    """Return a context in a random order, which depends on seed, lot and refs alone."""
    return sorted(context, key=lambda answer: _lot(seed, lot, answer[0]))


@lru_cache(maxsize=100_000)
def _lot(seed: int, lot: str, name: str) -> float:
    """Return a random number from 0 to 1 that depends on seed, lot and name alone."""
    return float(derive_rng(seed, lot, name).random())


def remarks(questionnaire: Questionnaire) -> tuple[str, ...]:
    """Return a remark on the targets that no respondent answered with yes or no, if any."""
    unanswered = [
        question.ref
        for question in questionnaire.of_role(QuestionRole.TARGET)
        if not any(map(_is_binary, questionnaire.meanings(question)))
    ]
    if not unanswered:
        return ()
    return (f"not asked: {', '.join(unanswered)}, because no respondent answered yes or no",)


def unpredicted(questionnaire: Questionnaire) -> tuple[str, ...]:
    """Return a remark on the respondents in no figure, who answered no target with yes or no.

    It is empty if there are none, or if there are no other respondents.
    """
    is_answered_by_target = [
        list(map(_is_binary, questionnaire.meanings(question)))
        for question in questionnaire.of_role(QuestionRole.TARGET)
    ]
    unpredicted_names = [
        respondent.name
        for respondent, *is_answered in zip(
            questionnaire.respondents, *is_answered_by_target, strict=True
        )
        if not any(is_answered)
    ]
    if not 0 < len(unpredicted_names) < len(questionnaire.respondents):
        return ()
    names = named_few(unpredicted_names)
    return (f"not predicted: {names}, no answer of yes or no to any target",)


def without_context(survey: Survey) -> tuple[str, ...]:
    """Return a remark on the number of respondents without an answered context question, if any."""
    if expanded(survey.contexts.conditions) == (ZERO_SHOT,):
        return ()
    if not survey.questionnaire.of_role(QuestionRole.CONTEXT):
        return ()
    predicted = [person for person in people(survey) if person.targets]
    n_without = sum(not person.context for person in predicted)
    if not n_without:
        return ()
    return (
        f"{n_without:,} of {plural(len(predicted), 'respondent')} answered no context question "
        "with yes or no: their answers are predicted without context",
    )


CONDITION, CONTEXT, QUESTIONS, RESPONDENT, SEED = (
    "condition",
    "context",
    "questions",
    "respondent",
    "seed",
)
"""axes of a probe; `questions` only if the number of context questions is limited, `seed` only if
something is drawn"""
CONTEXT_DIGITS = 16
"hexadecimal digits of a context's key"


def default_variants(available: Sequence[VariantId]) -> tuple[VariantId, ...]:
    """Return the original and every paraphrase."""
    return tuple(
        variant
        for variant in available
        if variant == ORIGINAL or variant.kind is VariantKind.PARAPHRASE
    )


def probes(
    statements: Sequence[Statement],
    templates: Sequence[Template],
    variants: Sequence[VariantId],
    language: str,
    model_name: str = "",  # noqa: ARG001  templates of this audit do not call the model by its name
    material: Material = None,
) -> Iterator[Probe]:
    """Yield the prompts of a survey's design. Those with the same context follow one another.

    `statements` are the texts of the whole questionnaire, with only those targets that are
    requested. Raises UsageError without a questionnaire, or if a text is missing, or for a template
    that is not one of this audit.
    """
    if not isinstance(material, Survey):
        raise UsageError(
            "this audit needs a questionnaire: questions with roles, and people's answers"
        )
    _check_templates(templates)
    conversations = Conversations(statements, templates, language, material)
    asked_people = people(material)
    for condition in expanded(material.contexts.conditions):
        shown_variants = [
            variant for variant in variants if variant == ORIGINAL or condition in IN_ALL_WORDINGS
        ]
        if condition == ZERO_SHOT:
            yield from conversations.without_context(asked_people, shown_variants)
        else:
            for person in asked_people:
                yield from conversations.of_person(condition, person, shown_variants)


@dataclass(frozen=True)
class Conversations:
    """The prompts for a questionnaire's questions, in one language."""

    statements: Sequence[Statement]
    templates: Sequence[Template]
    language: str
    survey: Survey

    def without_context(
        self, asked: Sequence[AskedPerson], variants: Sequence[VariantId]
    ) -> Iterator[Probe]:
        """Yield the zero-shot prompts of the targets that any of the respondents answered."""
        answered_targets = {ref for person in asked for ref in person.targets}
        for target in self._targets:
            if target.ref not in answered_targets:
                continue
            for variant in variants:
                template = self.template(target, ZERO_SHOT)
                yield from self._probe(target, variant, template, (), ((CONDITION, ZERO_SHOT),))

    def of_person(
        self, condition: str, person: AskedPerson, variants: Sequence[VariantId]
    ) -> Iterator[Probe]:
        """Yield the prompts about one respondent under one condition."""
        context = self.context(condition, person)
        questions = self.survey.contexts.questions
        axes = [(CONDITION, condition), (CONTEXT, self.context_key(condition, person))]
        if questions:
            axes.append((QUESTIONS, str(questions)))
        axes.append((RESPONDENT, person.name))
        if is_drawn(condition):
            axes.append((SEED, str(self.survey.seed)))
        if not person.in_all_wordings:
            variants = [variant for variant in variants if variant == ORIGINAL]
        for target in self._targets:
            if target.ref not in person.targets:
                continue
            for variant in variants:
                template = self.template(target)
                yield from self._probe(target, variant, template, context, tuple(axes))

    def context(self, condition: str, person: AskedPerson) -> tuple[Message, ...]:
        """Return the messages before the target: system turn, questions and answers."""
        turns = list(self._system)
        for answer in self._answers(condition, person):
            turns += self._turns[answer]
        return tuple(turns)

    def context_key(self, condition: str, person: AskedPerson) -> str:
        """Return the key of a context, without building its turns, which respondents share."""
        forms = [self._forms[answer] for answer in self._answers(condition, person)]
        return list_key((*map(_form, self._system), *forms)).hex()[:CONTEXT_DIGITS]

    def _answers(self, condition: str, person: AskedPerson) -> tuple[Answered, ...]:
        """Return a person's answered questions as a condition shows them."""
        return context_of(condition, self.survey.seed, person, self._context_refs)

    def _probe(
        self,
        target: Question,
        variant: VariantId,
        template: Template,
        context: tuple[Message, ...],
        axes: tuple[tuple[str, str], ...],
    ) -> Iterator[Probe]:
        """Yield the prompt of a target's wording, or nothing if the language has no such text."""
        wording = self._texts[target.ref].wording(variant, self.language)
        if wording is None:
            return
        turn = Message("user", template.user.replace(SLOT, wording.text))
        first_turns = context
        if template.system and not context:
            first_turns = (Message("system", template.system),)
        prompt = Prompt((*first_turns, turn), chat=template.chat, context=len(context))
        yield Probe(target.ref, str(variant), template.name, template.inverted, prompt, axes)

    @cached_property
    def _system(self) -> tuple[Message, ...]:
        """The system turn of conversations with context, which is the same for all of them."""
        for template in self.templates:
            if template.system and not _is_zero_shot(template):
                return (Message("system", template.system),)
        return ()

    @cached_property
    def _texts(self) -> Mapping[str, Statement]:
        """The statements by ref."""
        return {statement.ref: statement for statement in self.statements}

    @cached_property
    def _targets(self) -> tuple[Question, ...]:
        """The target questions that have a text."""
        return tuple(
            question
            for question in self.survey.questionnaire.of_role(QuestionRole.TARGET)
            if question.ref in self._texts
        )

    @cached_property
    def _context_refs(self) -> tuple[str, ...]:
        """The refs of all context questions."""
        return tuple(
            question.ref for question in self.survey.questionnaire.of_role(QuestionRole.CONTEXT)
        )

    @cached_property
    def _turns(self) -> Mapping[Answered, tuple[Message, Message]]:
        """The turns of question and answer by (ref, whether the answer is yes).

        Raises UsageError for a question without an original wording in the language.
        """
        turns = {}
        for question in self.survey.questionnaire.of_role(QuestionRole.CONTEXT):
            template = self.template(question)
            statement = self._texts.get(question.ref)
            wording = statement.wording(ORIGINAL, self.language) if statement else None
            if wording is None:
                raise UsageError(
                    f"the context question {question.ref} has no original wording in "
                    f"{self.language!r}; translate it, or choose another --language"
                )
            question_turn = Message("user", template.user.replace(SLOT, wording.text))
            turns[question.ref, True] = (question_turn, Message("assistant", template.positive))
            turns[question.ref, False] = (question_turn, Message("assistant", template.negative))
        return turns

    @cached_property
    def _forms(self) -> Mapping[Answered, str]:
        """The canonical texts of question and answer, for the keys of contexts."""
        return {answer: ",".join(map(_form, turns)) for answer, turns in self._turns.items()}

    def template(self, question: Question, condition: str = "") -> Template:
        """Return the template of a question, in the language that is asked if it exists.

        Raises UnknownName if there is no template.
        """
        name = question.form.value
        if condition == ZERO_SHOT:
            name += f"-{ZERO_SHOT}"
        matching = [template for template in self.templates if template.name == name]
        in_language = [template for template in matching if template.language == self.language]
        if matching:
            return (in_language or matching)[0]
        available = ", ".join(template.name for template in self.templates)
        raise UnknownName(
            f"a {question.form.value} needs the template {name!r}, which is not among those chosen "
            f"({available}). Leave --templates out, or name it too"
        )


def _is_zero_shot(template: Template) -> bool:
    """Return whether a template is for prompts without context."""
    return template.name.endswith(f"-{ZERO_SHOT}")


def _check_templates(templates: Sequence[Template]) -> None:
    """Raise UsageError for templates that cannot put a question as one turn of a conversation."""
    names_seen: set[tuple[str, str]] = set()
    for template in templates:
        fault = _fault(template)
        if not fault and (template.name, template.language) in names_seen:
            fault = "exists in two label orders; this audit asks one"
        fault = fault or _label_fault(template)
        if fault:
            raise UsageError(
                f"the template {template.name!r} {fault}; change it in templates.csv and "
                "import again"
            )
        names_seen.add((template.name, template.language))
    in_conversations = [template for template in templates if not _is_zero_shot(template)]
    system_turns = {template.system for template in in_conversations if template.system}
    if len(system_turns) > 1:
        raise UsageError(
            "the templates for questions and for statements have different system turns, and a "
            "conversation has one; give both the same in templates.csv and import again"
        )


def _fault(template: Template) -> str:
    """Return the reason why a template cannot put a question, or an empty string."""
    if template.user.count(SLOT) != 1:
        return f"needs {SLOT} exactly once in its user turn, where each question goes"
    if template.names_model:
        return f"calls the model by its name ({MODEL_SLOT}), which this audit does not"
    if not template.chat and not _is_zero_shot(template):
        return "is not a chat template, but answered questions are turns of a chat"
    return ""


def _label_fault(template: Template) -> str:
    """Return the reason why an answer to a template cannot be read, or an empty string."""
    positive, negative = template.positive, template.negative
    labels = [label.strip().casefold() for label in (positive, negative)]
    if labels[0] == labels[1]:
        return f"calls yes and no {positive!r} and {negative!r}, case aside one"
    if any(len(label.split()) != 1 for label in labels):
        return (
            f"calls yes and no {positive!r} and {negative!r}, and this audit reads the next "
            "token alone, which spells one word at most"
        )
    return ""


def context_key(context: Sequence[Message]) -> str:
    """Return the key of a context, which a probe has as its axis."""
    return content_key([[message.role, message.content] for message in context]).hex()[
        :CONTEXT_DIGITS
    ]


def _form(message: Message) -> str:
    """Return the canonical text of a message."""
    return canonical([message.role, message.content])


def targets(store: Store, instrument: str) -> list[str]:
    """Return the refs of an instrument's targets, in order."""
    return [
        question.ref
        for question in store.questionnaires.questions(instrument)
        if question.role is QuestionRole.TARGET
    ]


def contexts(own: Given) -> Contexts:
    """Return the contexts that a user's arguments ask for. Raises FieldError."""
    default = Contexts()
    names = (
        tuple(dict.fromkeys(name.casefold() for name in listed(own.conditions)))
        or default.conditions
    )
    if own.conditions is not None and not listed(own.conditions):
        raise CONDITIONS.error("found none; give qm, zero-shot, random, permuted, reduced, or all")
    try:
        expanded(names)
    except UnknownName as error:
        raise CONDITIONS.error(str(error)) from None
    numbers = {
        "respondents": own.respondents,
        "every": own.every,
        "questions": own.context_questions,
    }
    return replace(
        default,
        conditions=names,
        **{name: value for name, value in numbers.items() if value is not None},
    )


def statements_and_survey(
    store: Store, design: Design, instrument: Instrument
) -> tuple[Sequence[Statement], Survey]:
    """Return a questionnaire's statements, without targets that were not requested, and its survey.

    Raises UsageError if the instrument has no questionnaire or no target, if a context question is
    requested as a target, or if a context shows a target before it is asked.
    """
    questionnaire = store.questionnaires.get(design.instrument)
    if questionnaire is None:
        raise INSTRUMENT.error(
            f"{design.instrument} is not a questionnaire: none of its statements has a role. Add "
            "the columns `role`, `form` and `scale` in statements.csv and people's answers in "
            "answers.csv (data/README.md), or choose another --instrument"
        )
    names = [question.ref for question in questionnaire.of_role(QuestionRole.TARGET)]
    if not names:
        raise INSTRUMENT.error(
            f"{design.instrument} has no target question; give one the role `target`"
        )
    not_targets = [ref for ref in design.statements if ref not in names]
    if not_targets:
        raise STATEMENTS.error(
            f"{', '.join(not_targets[:5])} {'is' if len(not_targets) == 1 else 'are'} not asked: "
            f"only targets are, after the context questions. Targets of {design.instrument}: "
            f"{', '.join(names)}"
        )
    _check_given_away(design, questionnaire.questions, instrument.statements)
    excluded = set(names) - set(design.statements or names)
    statements = [statement for statement in instrument.statements if statement.ref not in excluded]
    return statements, Survey(questionnaire, design.contexts, design.seed)


def _check_given_away(
    design: Design, questions: Sequence[Question], statements: Iterable[Statement]
) -> None:
    """Raise UsageError for a target with the text of a context question.

    Its context would show the answer that is predicted. Files with such a pair are refused, but it
    may arise when texts and roles are changed later.
    """
    statement_by_ref = {
        statement.ref: replace(
            statement,
            wordings=tuple(
                wording for wording in statement.wordings if wording.language == design.language
            ),
        )
        for statement in statements
    }
    pairs = [
        pair
        for pair in shared_texts(statement_by_ref, questions)
        if not design.statements or pair[0] in design.statements
    ]
    if pairs and set(design.contexts.conditions) != {ZERO_SHOT}:
        target, context = pairs[0]
        raise UsageError(
            f"the target {target} has the text of the context question {context}, so the context "
            "would show the answer before the target is asked. Change one of the texts, or remove "
            f"one of them: workbench questionnaire STORE --question {context} --role none"
        )


def all_remarks(material: Material) -> tuple[str, ...]:
    """Return the remarks to show before a questionnaire is asked."""
    if not isinstance(material, Survey):
        return ()
    questionnaire = material.questionnaire
    return (*remarks(questionnaire), *unpredicted(questionnaire), *without_context(material))


def why_nothing(design: Design, statements: Sequence[Statement], material: Material) -> str:
    """Return the reason why a design asks nothing, or an empty string if it is the language."""
    if not isinstance(material, Survey):
        return ""
    refs = {question.ref for question in material.questionnaire.of_role(QuestionRole.TARGET)}
    with_variants = set(expanded(design.contexts.conditions)) & set(IN_ALL_WORDINGS)
    if design.variants and str(ORIGINAL) not in design.variants and not with_variants:
        return f"wordings other than the original are asked only under {', '.join(IN_ALL_WORDINGS)}"
    if any(
        statement.ref in refs
        and any(wording.language == design.language for wording in statement.wordings)
        for statement in statements
    ):
        reasons = remarks(material.questionnaire)
        return (
            "; ".join(reasons) or "none of these respondents answered these targets with yes or no"
        )
    return ""


def detects(probes: Sequence[Probe]) -> str:
    """Return a sentence on the precision of a design, or an empty string without respondents.

    It has the smallest detectable bias on one target, and the interval of the accuracy.
    """
    n_people = len(
        {value for probe in probes for name, value in probe.axes if name == "respondent"}
    )
    if not n_people:
        return ""
    if n_people < LEAST_RESPONDENTS:
        return (
            f"can show no bias to either side: {n_people} respondents; {LEAST_RESPONDENTS} are "
            "needed"
        )
    bias, accuracy = 100 * smallest_mean(MOST, n_people), 100 * widest(n_people)
    return (
        f"can show, on one target: a bias of {bias:.0f} points or more in 80 % of studies; the "
        f"accuracy to ±{accuracy:.0f} points ({n_people} respondents)"
    )


def design_lines(spec: Mapping[str, Any]) -> list[str]:
    """Return the conditions of a design, and the number of respondents if it is limited."""
    contexts = spec.get("contexts")
    if not isinstance(contexts, dict):
        return []
    conditions = tuple(map(str, contexts.get("conditions", ())))
    text = Contexts(**{**contexts, "conditions": conditions}).as_said()
    return [text if spec.get("variants") != [str(ORIGINAL)] else f"{text}; original wordings only"]
