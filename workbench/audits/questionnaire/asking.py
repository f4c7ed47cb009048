"""Questionnaire Modeling: what a person answers next, given the person's other answers (Haller et
al. 2025).

A prompt is a conversation: each context question as a user turn, the person's yes or no as the
assistant's, then the target. Its answer is the distribution of the next token; nothing is drawn.
Zero-shot is the same without context and with a prefix before the answer. A base model is given the
same conversation.

Conditions
==========

What stands before a target question: a person's answered questions as they are, or changed in one
known way.

The controls of Haller et al. 2025 (section 4 and appendix F.1): no context, random answers, another
order, fewer questions; the last two with the last example kept or another, because it weighs most.
Everything that is drawn is drawn by question and by respondent, each from a generator of its own,
so that a person who comes later, or an answer that is missing, changes nobody else's context.
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
    Role,
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
"percent of the answered questions that are left out; what is left out at 25 is left out at 50 too"
KEPT, CHANGED = "kept", "changed"
"whether the last example is that of the original order"

PERMUTED: Final = tuple(
    f"permuted-{last}-{i}" for last in (KEPT, CHANGED) for i in range(1, PERMUTATIONS + 1)
)
REDUCED: Final = tuple(
    f"reduced-{percent}-{last}" for percent in REDUCTIONS for last in (KEPT, CHANGED)
)
CONDITION_NAMES: Final = (QM, ZERO_SHOT, RANDOM, *PERMUTED, *REDUCED)
GROUPS: Final = {"permuted": PERMUTED, "reduced": REDUCED, "all": CONDITION_NAMES}
"names that stand for several"
IN_ALL_WORDINGS: Final = (QM, ZERO_SHOT, RANDOM)
"conditions under which paraphrases are asked (table 4); the others ask the original alone"

Answered = tuple[str, bool]
"(ref, whether the answer is yes)"


def condition_order(condition: Condition) -> tuple[int, Condition]:
    """Return what conditions are sorted by: qm, zero-shot, random, permuted, reduced."""
    names = (
        CONDITION_NAMES.index(condition.name)
        if condition.name in CONDITION_NAMES
        else len(CONDITION_NAMES)
    )
    return names, condition


def expanded(names: Iterable[str]) -> tuple[str, ...]:
    """Return conditions with groups resolved, in the order of `CONDITIONS`. Raises UnknownName,
    listing all.

    Examples
    --------
    >>> expanded(["permuted", "qm"])[:3]
    ('qm', 'permuted-kept-1', 'permuted-kept-2')
    """
    chosen: set[str] = set()
    for name in names:
        if name not in CONDITION_NAMES and name not in GROUPS:
            raise UnknownName(
                f"there is no condition {name!r}. Available: "
                f"{', '.join((*GROUPS, *CONDITION_NAMES))}"
            )
        chosen |= set(GROUPS.get(name, (name,)))
    return tuple(name for name in CONDITION_NAMES if name in chosen)


def is_drawn(condition: str) -> bool:
    """Return whether a condition depends on the seed."""
    return condition not in (QM, ZERO_SHOT)


@dataclass(frozen=True, slots=True)
class AskedPerson:
    """A respondent as a design asks about one: what stands in the context, and what is
    predicted.
    """

    name: str
    context: tuple[Answered, ...]
    "context questions answered with yes or no, in order"
    targets: frozenset[str]
    "refs of the targets that were answered with yes or no"
    in_all_wordings: bool


def people(survey: Survey) -> tuple[AskedPerson, ...]:
    """Return the respondents that a survey's design asks about, in their order.

    The first n of one seeded order are drawn, so that asking more later asks nobody twice. Raises
    UsageError for numbers that make no sense.
    """
    contexts = survey.contexts
    check(survey)
    chosen = drawn(survey)
    often = set(chosen[: -(-len(chosen) // contexts.every)])
    return tuple(persons(survey.questionnaire, contexts.questions, set(chosen), often))


def persons(
    questionnaire: Questionnaire, questions: int, names: Container[str], often: Container[str] = ()
) -> Iterator[AskedPerson]:
    """Yield the respondents of these names, in their order, with what they answered to the first
    `questions` context questions (0: to all). Those in `often` are asked in all wordings.
    """
    asked = questionnaire.of_role(Role.CONTEXT)
    shown = {
        question.ref: _said(questionnaire, question)
        for question in asked[: questions or len(asked)]
    }
    targets = {
        question.ref: _said(questionnaire, question)
        for question in questionnaire.of_role(Role.TARGET)
    }
    for place, respondent in enumerate(questionnaire.respondents):
        if (name := respondent.name) in names:
            context = tuple(
                (ref, said) for ref, of in shown.items() if (said := of[place]) is not None
            )
            answered = frozenset(ref for ref, of in targets.items() if of[place] is not None)
            yield AskedPerson(name, context, answered, name in often)


def _said(questionnaire: Questionnaire, question: Question) -> list[bool | None]:
    """Return of each respondent whether the answer to a question is yes; None where it is neither
    yes nor no.
    """
    said = {Meaning.YES: True, Meaning.NO: False}
    return [said.get(meaning) for meaning in questionnaire.meanings(question)]


def drawn(survey: Survey) -> list[str]:
    """Return the names of those whom a design asks about, in the order in which they are drawn."""
    names = [respondent.name for respondent in survey.questionnaire.respondents]
    order = sorted(names, key=lambda name: _drawn(survey.seed, "respondent", name))
    return order[: survey.contexts.respondents or len(order)]


def asked_about(survey: Survey) -> frozenset[str]:
    """Return the names of those whom a design asks about; where it asks about all, nobody has to be
    drawn.
    """
    if survey.contexts.respondents:
        return frozenset(drawn(survey))
    return frozenset(respondent.name for respondent in survey.questionnaire.respondents)


def _is_binary(meaning: Meaning) -> bool:
    return meaning in (Meaning.YES, Meaning.NO)


def check(survey: Survey) -> None:
    """Raise UsageError for a design with numbers that make no sense for its questionnaire."""
    contexts, questions = survey.contexts, len(survey.questionnaire.of_role(Role.CONTEXT))
    there = len(survey.questionnaire.respondents)
    checks = [
        (
            there > 0,
            INSTRUMENT.error(
                "the questionnaire has no respondents; import people's answers with --format "
                "answers"
            ),
        ),
        (
            0 <= contexts.respondents <= there,
            RESPONDENTS.error(
                f"found {contexts.respondents}; there are {there}. Give 1 to {there}, or 0 for all"
            ),
        ),
        (contexts.every >= 1, EVERY.error(f"found {contexts.every}; give 1 or more")),
        (
            0 <= contexts.questions <= questions,
            CONTEXT_QUESTIONS.error(
                f"found {contexts.questions}; there are {questions}. Give 1 to {questions}, or 0 "
                "for all"
            ),
        ),
    ]
    for holds, error in checks:
        if not holds:
            raise error


def shown(
    condition: str, seed: int, person: AskedPerson, questions: Sequence[str]
) -> tuple[Answered, ...]:
    """Return a person's answered questions as a condition shows them.

    `questions`: refs of all context questions, so that random answers do not depend on which of
    them were answered.
    """
    if condition == QM:
        return person.context
    if condition == ZERO_SHOT:
        return ()
    if condition == RANDOM:
        coins = dict(
            zip(
                questions,
                derive_rng(seed, RANDOM, person.name).integers(2, size=len(questions)),
                strict=True,
            )
        )
        return tuple((ref, bool(coins[ref])) for ref, _ in person.context)
    kind, _, rest = condition.partition("-")
    if kind == "permuted":
        return _permuted(person.context, seed, condition, kept=KEPT in rest)
    percent, _, last = rest.partition("-")
    return _reduced(person.context, seed, int(percent), last)


def _permuted(
    context: tuple[Answered, ...], seed: int, condition: str, *, kept: bool
) -> tuple[Answered, ...]:
    """Return a context in an order that is the same for everybody, the last example as it was or
    not.
    """
    if kept:
        return (*_by_lot(context[:-1], seed, condition), *context[-1:])
    mixed = _by_lot(context, seed, condition)
    if len(mixed) > 1 and mixed[-1] == context[-1]:
        mixed[0], mixed[-1] = mixed[-1], mixed[0]
    return tuple(mixed)


def _reduced(
    context: tuple[Answered, ...], seed: int, percent: int, last: str
) -> tuple[Answered, ...]:
    """Return a context without a share of its examples, in its order; the last is among what goes,
    or is not.
    """
    gone = round(len(context) * percent / 100)
    lots = _by_lot(context[:-1], seed, f"reduced-{last}")
    out = (
        set(lots[:gone])
        if last == KEPT
        else {*context[-1:], *lots[: max(0, gone - 1)]}
        if gone
        else set()
    )
    return tuple(answered for answered in context if answered not in out)


def _by_lot(context: Iterable[Answered], seed: int, lot: str) -> list[Answered]:
    return sorted(context, key=lambda answered: _drawn(seed, lot, answered[0]))


@lru_cache(maxsize=100_000)
def _drawn(seed: int, lot: str, name: str) -> float:
    return float(derive_rng(seed, lot, name).random())


def remarks(questionnaire: Questionnaire) -> tuple[str, ...]:
    """Say what a person should know before a questionnaire is asked: targets that nobody answered
    with yes or no.
    """
    silent = [
        question.ref
        for question in questionnaire.of_role(Role.TARGET)
        if not any(map(_is_binary, questionnaire.meanings(question)))
    ]
    named = ", ".join(silent)
    return (f"not asked: {named}, because no respondent answered yes or no",) if silent else ()


def unpredicted(questionnaire: Questionnaire) -> tuple[str, ...]:
    """Say who is among the respondents and in no figure: nothing that they answered is predicted.
    Empty for nobody.
    """
    answered = [
        list(map(_is_binary, questionnaire.meanings(of)))
        for of in questionnaire.of_role(Role.TARGET)
    ]
    silent = [
        who.name
        for who, *of in zip(questionnaire.respondents, *answered, strict=True)
        if not any(of)
    ]
    some = 0 < len(silent) < len(questionnaire.respondents)
    return (
        (f"not predicted: {named_few(silent)}, no answer of yes or no to any target",)
        if some
        else ()
    )


def without_context(survey: Survey) -> tuple[str, ...]:
    """Say of how many people who are asked about nothing is shown, because they answered no context
    question.
    """
    if expanded(survey.contexts.conditions) == (ZERO_SHOT,) or not survey.questionnaire.of_role(
        Role.CONTEXT
    ):
        return ()
    predicted = [person for person in people(survey) if person.targets]
    nothing = sum(not person.context for person in predicted)
    said = (
        f"{nothing:,} of {plural(len(predicted), 'respondent')} answered no context question "
        "with yes or no"
    )
    return (f"{said}: their answers are predicted without context",) if nothing else ()


CONDITION, CONTEXT, QUESTIONS, RESPONDENT, SEED = (
    "condition",
    "context",
    "questions",
    "respondent",
    "seed",
)
"""axes of a probe; `questions` where only so many of the context questions are shown, `seed` where
something is drawn"""
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

    `statements`: the whole questionnaire's texts with those of the targets that are wanted. Raises
    UsageError where there is no questionnaire, a text is missing, or a template is none of this
    audit's.
    """
    if not isinstance(material, Survey):
        raise UsageError(
            "this audit needs a questionnaire: questions with roles, and people's answers"
        )
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

    def without_context(
        self, asked: Sequence[AskedPerson], variants: Sequence[VariantId]
    ) -> Iterator[Probe]:
        """Yield the zero-shot prompts of targets that somebody answered."""
        answered = {ref for person in asked for ref in person.targets}
        for target in self._targets:
            for variant in variants if target.ref in answered else ():
                template = self.template(target, ZERO_SHOT)
                yield from self._probe(target, variant, template, (), ((CONDITION, ZERO_SHOT),))

    def of_person(
        self, condition: str, person: AskedPerson, variants: Sequence[VariantId]
    ) -> Iterator[Probe]:
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
                        yield from self._probe(
                            target, variant, self.template(target), context, tuple(axes)
                        )

    def context(self, condition: str, person: AskedPerson) -> tuple[Message, ...]:
        """Return the turns before the target."""
        turns = [
            self._turns[answered]
            for answered in shown(condition, self.survey.seed, person, self._asked)
        ]
        return (*self._system, *(turn for pair in turns for turn in pair))

    def context_key(self, condition: str, person: AskedPerson) -> str:
        """Return the key of a context, without making its turns: people have them in common."""
        forms = (
            self._forms[answered]
            for answered in shown(condition, self.survey.seed, person, self._asked)
        )
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
        """Return the system turn of conversations with answered questions, which is the same for
        all of them.
        """
        system = next((t.system for t in self.templates if t.system and not _is_zero_shot(t)), None)
        return (Message("system", system),) if system else ()

    @cached_property
    def _texts(self) -> Mapping[str, Statement]:
        return {statement.ref: statement for statement in self.statements}

    @cached_property
    def _targets(self) -> tuple[Question, ...]:
        return tuple(
            q for q in self.survey.questionnaire.of_role(Role.TARGET) if q.ref in self._texts
        )

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
                    f"the context question {question.ref} has no original wording in "
                    f"{self.language!r}; translate it, "
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
        """Return what puts a question, in the language that is asked where there is one. Raises
        UnknownName.
        """
        name = question.form.value + (f"-{ZERO_SHOT}" if condition == ZERO_SHOT else "")
        named = [template for template in self.templates if template.name == name]
        for template in (*(t for t in named if t.language == self.language), *named):
            return template
        there = ", ".join(template.name for template in self.templates)
        raise UnknownName(
            f"a {question.form.value} needs the template {name!r}, which is not among those "
            f"chosen ({there}). "
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
            (
                template.user.count(SLOT) == 1,
                f"needs {SLOT} exactly once in its user turn, where each question goes",
            ),
            (
                not template.names_model,
                f"calls the model by its name ({MODEL_SLOT}), which this audit does not",
            ),
            (
                template.chat or _is_zero_shot(template),
                "is not a chat template, but answered questions are turns of a chat",
            ),
            (
                (template.name, template.language) not in named,
                "exists in two label orders; this audit asks one",
            ),
            (
                labels[0] != labels[1],
                f"calls yes and no {template.positive!r} and {template.negative!r}, case aside one",
            ),
            (
                all(len(label.split()) == 1 for label in labels),
                f"calls yes and no {template.positive!r} and {template.negative!r}, and this "
                "audit reads the next "
                "token alone, which spells one word at most",
            ),
        ]
        for holds, fault in checks:
            if not holds:
                raise UsageError(
                    f"the template {template.name!r} {fault}; change it in templates.csv and "
                    "import again"
                )
        named.add((template.name, template.language))
    if (
        len(
            {
                template.system
                for template in templates
                if template.system and not _is_zero_shot(template)
            }
        )
        > 1
    ):
        raise UsageError(
            "the templates for questions and for statements have different system turns, and a "
            "conversation has one; "
            "give both the same in templates.csv and import again"
        )


def context_key(context: Sequence[Message]) -> str:
    """Return what tells a context from others, as a probe's axis holds it."""
    return content_key([[message.role, message.content] for message in context]).hex()[
        :CONTEXT_DIGITS
    ]


def _form(message: Message) -> str:
    return canonical([message.role, message.content])


def targets(store: Store, instrument: str) -> list[str]:
    """Return the refs of an instrument's targets, in order."""
    return [
        question.ref
        for question in store.questionnaires.questions(instrument)
        if question.role is Role.TARGET
    ]


def contexts(own: Given) -> Contexts:
    """Return what stands before the targets, and whose answers. Raises FieldError."""
    usual = Contexts()
    names = (
        tuple(dict.fromkeys(name.casefold() for name in listed(own.conditions))) or usual.conditions
    )
    if own.conditions is not None and not listed(own.conditions):
        raise CONDITIONS.error("found none; give qm, zero-shot, random, permuted, reduced, or all")
    try:
        expanded(names)
    except UnknownName as error:
        raise CONDITIONS.error(str(error)) from None
    given = {"respondents": own.respondents, "every": own.every, "questions": own.context_questions}
    return replace(
        usual,
        conditions=names,
        **{name: value for name, value in given.items() if value is not None},
    )


def asked(
    store: Store, design: Design, instrument: Instrument
) -> tuple[Sequence[Statement], Survey]:
    """Return the statements of a questionnaire without the targets that are not wanted, and
    people's answers.

    Raises UsageError where there is no questionnaire or no target, where a context question is
    asked for as a target, or where a target is shown before it is asked.
    """
    questionnaire = store.questionnaires.get(design.instrument)
    if questionnaire is None:
        raise INSTRUMENT.error(
            f"{design.instrument} is not a questionnaire: none of its statements has a role. Add "
            "the columns `role`, "
            "`form` and `scale` in statements.csv and people's answers in answers.csv "
            "(data/README.md), or choose "
            "another --instrument"
        )
    names = [question.ref for question in questionnaire.of_role(Role.TARGET)]
    if not names:
        raise INSTRUMENT.error(
            f"{design.instrument} has no target question; give one the role `target`"
        )
    others = [ref for ref in design.statements if ref not in names]
    if others:
        raise STATEMENTS.error(
            f"{', '.join(others[:5])} {'is' if len(others) == 1 else 'are'} not asked: only "
            "targets are, after the "
            f"context questions. Targets of {design.instrument}: {', '.join(names)}"
        )
    _check_given_away(design, questionnaire.questions, instrument.statements)
    unwanted = set(names) - set(design.statements or names)
    kept = [statement for statement in instrument.statements if statement.ref not in unwanted]
    return kept, Survey(questionnaire, design.contexts, design.seed)


def _check_given_away(
    design: Design, questions: Sequence[Question], statements: Iterable[Statement]
) -> None:
    """Raise UsageError where a target has a text of a context question, which would show the answer
    that is predicted.

    Files with such a pair are refused; texts and roles that were changed since they were read may
    come to it.
    """
    spoken = {
        one.ref: replace(
            one, wordings=tuple(w for w in one.wordings if w.language == design.language)
        )
        for one in statements
    }
    wanted = [
        pair
        for pair in shared_texts(spoken, questions)
        if not design.statements or pair[0] in design.statements
    ]
    if wanted and set(design.contexts.conditions) != {ZERO_SHOT}:
        target, context = wanted[0]
        raise UsageError(
            f"the target {target} has the text of the context question {context}, so the context "
            "would show the answer "
            "before the target is asked. Change one of the texts, or remove one of them: "
            "workbench questionnaire "
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
    if any(
        s.ref in refs and any(w.language == design.language for w in s.wordings) for s in statements
    ):
        said = remarks(material.questionnaire)
        return "; ".join(said) or "none of these respondents answered these targets with yes or no"
    return ""


def detects(probes: Sequence[Probe]) -> str:
    """Return the smallest bias on one target that shows with these respondents, and how surely
    accuracy is known.
    """
    people = len({value for probe in probes for name, value in probe.axes if name == "respondent"})
    if not people:
        return ""
    if people < LEAST_RESPONDENTS:
        return (
            f"can show no bias to either side: {people} respondents; {LEAST_RESPONDENTS} are needed"
        )
    bias, accuracy = 100 * smallest_mean(MOST, people), 100 * widest(people)
    return (
        f"can show, on one target: a bias of {bias:.0f} points or more in 80 % of studies; "
        f"the accuracy to ±{accuracy:.0f} points "
        f"({people} respondents)"
    )


def said(spec: Mapping[str, Any]) -> list[str]:
    """Return its conditions, and how many respondents where it is not all."""
    contexts = spec.get("contexts")
    if not isinstance(contexts, dict):
        return []
    conditions = tuple(map(str, contexts.get("conditions", ())))
    words = Contexts(**{**contexts, "conditions": conditions}).as_said()
    return [
        words if spec.get("variants") != [str(ORIGINAL)] else f"{words}; original wordings only"
    ]
