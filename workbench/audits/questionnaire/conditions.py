"""What stands before a target question: a person's answered questions as they are, or changed in one known way.

The controls of Haller et al. 2025 (section 4 and appendix F.1): no context, random answers, another order, fewer
questions; the last two with the last example kept or another, because it weighs most. Everything that is drawn is drawn
by question and by respondent, each from a generator of its own, so that a person who comes later, or an answer that is
missing, changes nobody else's context.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from workbench.audits.questionnaire.options import CONTEXT_QUESTIONS, EVERY, RESPONDENTS
from workbench.domain.names import plural
from workbench.domain.questionnaires import Meaning, Question, Questionnaire, Role, Survey, named_few
from workbench.errors import UnknownName
from workbench.options.shared import INSTRUMENT
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

PERMUTED: Final = tuple(f"permuted-{last}-{i}" for last in (KEPT, CHANGED) for i in range(1, PERMUTATIONS + 1))
REDUCED: Final = tuple(f"reduced-{percent}-{last}" for percent in REDUCTIONS for last in (KEPT, CHANGED))
CONDITIONS: Final = (QM, ZERO_SHOT, RANDOM, *PERMUTED, *REDUCED)
GROUPS: Final = {"permuted": PERMUTED, "reduced": REDUCED, "all": CONDITIONS}
"names that stand for several"
IN_ALL_WORDINGS: Final = (QM, ZERO_SHOT, RANDOM)
"conditions under which paraphrases are asked (table 4); the others ask the original alone"

Answered = tuple[str, bool]
"(ref, whether the answer is yes)"


def expanded(names: Iterable[str]) -> tuple[str, ...]:
    """Return conditions with groups resolved, in the order of `CONDITIONS`. Raises UnknownName, listing all.

    Examples
    --------
    >>> expanded(["permuted", "qm"])[:3]
    ('qm', 'permuted-kept-1', 'permuted-kept-2')
    """
    chosen: set[str] = set()
    for name in names:
        if name not in CONDITIONS and name not in GROUPS:
            raise UnknownName(f"there is no condition {name!r}. Available: {', '.join((*GROUPS, *CONDITIONS))}")
        chosen |= set(GROUPS.get(name, (name,)))
    return tuple(name for name in CONDITIONS if name in chosen)


def is_drawn(condition: str) -> bool:
    """Return whether a condition depends on the seed."""
    return condition not in (QM, ZERO_SHOT)


@dataclass(frozen=True, slots=True)
class Person:
    """A respondent as a design asks about one: what stands in the context, and what is predicted."""

    name: str
    context: tuple[Answered, ...]
    "context questions answered with yes or no, in order"
    targets: frozenset[str]
    "refs of the targets that were answered with yes or no"
    in_all_wordings: bool


def people(survey: Survey) -> tuple[Person, ...]:
    """Return the respondents that a survey's design asks about, in their order.

    The first n of one seeded order are drawn, so that asking more later asks nobody twice. Raises UsageError for
    numbers that make no sense.
    """
    contexts = survey.contexts
    check(survey)
    chosen = drawn(survey)
    often = set(chosen[: -(-len(chosen) // contexts.every)])
    return tuple(persons(survey.questionnaire, contexts.questions, set(chosen), often))


def persons(
    questionnaire: Questionnaire, questions: int, names: Container[str], often: Container[str] = ()
) -> Iterator[Person]:
    """Yield the respondents of these names, in their order, with what they answered to the first `questions` context
    questions (0: to all). Those in `often` are asked in all wordings.
    """
    asked = questionnaire.of_role(Role.CONTEXT)
    shown = {question.ref: _said(questionnaire, question) for question in asked[: questions or len(asked)]}
    targets = {question.ref: _said(questionnaire, question) for question in questionnaire.of_role(Role.TARGET)}
    for place, respondent in enumerate(questionnaire.respondents):
        if (name := respondent.name) in names:
            context = tuple((ref, said) for ref, of in shown.items() if (said := of[place]) is not None)
            answered = frozenset(ref for ref, of in targets.items() if of[place] is not None)
            yield Person(name, context, answered, name in often)


def _said(questionnaire: Questionnaire, question: Question) -> list[bool | None]:
    """Return of each respondent whether the answer to a question is yes; None where it is neither yes nor no."""
    said = {Meaning.YES: True, Meaning.NO: False}
    return [said.get(meaning) for meaning in questionnaire.meanings(question)]


def drawn(survey: Survey) -> list[str]:
    """Return the names of those whom a design asks about, in the order in which they are drawn."""
    names = [respondent.name for respondent in survey.questionnaire.respondents]
    order = sorted(names, key=lambda name: _drawn(survey.seed, "respondent", name))
    return order[: survey.contexts.respondents or len(order)]


def asked_about(survey: Survey) -> frozenset[str]:
    """Return the names of those whom a design asks about; where it asks about all, nobody has to be drawn."""
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
            INSTRUMENT.error("the questionnaire has no respondents; import people's answers with --format answers"),
        ),
        (
            0 <= contexts.respondents <= there,
            RESPONDENTS.error(f"found {contexts.respondents}; there are {there}. Give 1 to {there}, or 0 for all"),
        ),
        (contexts.every >= 1, EVERY.error(f"found {contexts.every}; give 1 or more")),
        (
            0 <= contexts.questions <= questions,
            CONTEXT_QUESTIONS.error(
                f"found {contexts.questions}; there are {questions}. Give 1 to {questions}, or 0 for all"
            ),
        ),
    ]
    for holds, error in checks:
        if not holds:
            raise error


def shown(condition: str, seed: int, person: Person, questions: Sequence[str]) -> tuple[Answered, ...]:
    """Return a person's answered questions as a condition shows them.

    `questions`: refs of all context questions, so that random answers do not depend on which of them were answered.
    """
    if condition == QM:
        return person.context
    if condition == ZERO_SHOT:
        return ()
    if condition == RANDOM:
        coins = dict(
            zip(questions, derive_rng(seed, RANDOM, person.name).integers(2, size=len(questions)), strict=True)
        )
        return tuple((ref, bool(coins[ref])) for ref, _ in person.context)
    kind, _, rest = condition.partition("-")
    if kind == "permuted":
        return _permuted(person.context, seed, condition, kept=KEPT in rest)
    percent, _, last = rest.partition("-")
    return _reduced(person.context, seed, int(percent), last)


def _permuted(context: tuple[Answered, ...], seed: int, condition: str, *, kept: bool) -> tuple[Answered, ...]:
    """Return a context in an order that is the same for everybody, the last example as it was or not."""
    if kept:
        return (*_by_lot(context[:-1], seed, condition), *context[-1:])
    mixed = _by_lot(context, seed, condition)
    if len(mixed) > 1 and mixed[-1] == context[-1]:
        mixed[0], mixed[-1] = mixed[-1], mixed[0]
    return tuple(mixed)


def _reduced(context: tuple[Answered, ...], seed: int, percent: int, last: str) -> tuple[Answered, ...]:
    """Return a context without a share of its examples, in its order; the last is among what goes, or is not."""
    gone = round(len(context) * percent / 100)
    lots = _by_lot(context[:-1], seed, f"reduced-{last}")
    out = set(lots[:gone]) if last == KEPT else {*context[-1:], *lots[: max(0, gone - 1)]} if gone else set()
    return tuple(answered for answered in context if answered not in out)


def _by_lot(context: Iterable[Answered], seed: int, lot: str) -> list[Answered]:
    return sorted(context, key=lambda answered: _drawn(seed, lot, answered[0]))


@lru_cache(maxsize=100_000)
def _drawn(seed: int, lot: str, name: str) -> float:
    return float(derive_rng(seed, lot, name).random())


def remarks(questionnaire: Questionnaire) -> tuple[str, ...]:
    """Say what a person should know before a questionnaire is asked: targets that nobody answered with yes or no."""
    silent = [
        question.ref
        for question in questionnaire.of_role(Role.TARGET)
        if not any(map(_is_binary, questionnaire.meanings(question)))
    ]
    named = ", ".join(silent)
    return (f"not asked: {named}, because no respondent answered yes or no",) if silent else ()


def unpredicted(questionnaire: Questionnaire) -> tuple[str, ...]:
    """Say who is among the respondents and in no figure: nothing that they answered is predicted. Empty for nobody."""
    answered = [list(map(_is_binary, questionnaire.meanings(of))) for of in questionnaire.of_role(Role.TARGET)]
    silent = [who.name for who, *of in zip(questionnaire.respondents, *answered, strict=True) if not any(of)]
    some = 0 < len(silent) < len(questionnaire.respondents)
    return (f"not predicted: {named_few(silent)}, no answer of yes or no to any target",) if some else ()


def without_context(survey: Survey) -> tuple[str, ...]:
    """Say of how many people who are asked about nothing is shown, because they answered no context question."""
    if expanded(survey.contexts.conditions) == (ZERO_SHOT,) or not survey.questionnaire.of_role(Role.CONTEXT):
        return ()
    predicted = [person for person in people(survey) if person.targets]
    nothing = sum(not person.context for person in predicted)
    said = f"{nothing:,} of {plural(len(predicted), 'respondent')} answered no context question with yes or no"
    return (f"{said}: their answers are predicted without context",) if nothing else ()
