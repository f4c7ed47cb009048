"""A questionnaire: questions in their order, the scales of their answers, and people's answers.

Questionnaire Modeling lets a model predict a person's answer to a target question from the person's
answers to the context questions (Haller, Vamvas, Sennrich, Jäger 2025). Answers are kept as they
were given. Their meanings come from the question's scale, which a person may change. Missing and
neutral answers stay what they are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from workbench.domain.findings import folded as folded_text
from workbench.domain.keys import SEED
from workbench.domain.names import plural
from workbench.domain.statements import Statement, VariantKind
from workbench.errors import UnknownName

_WHOLE = re.compile(r"^([+-]?[0-9]+)\.0+$")


LEAST_RESPONDENTS = 10
"""fewest respondents of an interval that says something of a direction

With fewer, an interval over respondents misses the truth too often.
"""


class QuestionRole(StrEnum):
    """The use of a question."""

    CONTEXT = "context"
    "its answers are shown to the model"
    TARGET = "target"
    "its answers are predicted"
    SURVEY = "survey"
    "it is put with its options, and a model's answers are compared with people's"


class Form(StrEnum):
    """The form of a question's text."""

    QUESTION = "question"
    "asked as it stands"
    STATEMENT = "statement"
    "an attitude, about which people are asked whether they agree with it"


class Pole(StrEnum):
    """The end of the liberal-conservative axis that a "yes" leans to.

    Haller et al. 2025, section 6.2.
    """

    LIBERAL = "liberal"
    CONSERVATIVE = "conservative"


class Meaning(StrEnum):
    """The meaning of an answer on its scale."""

    YES = "yes"
    NO = "no"
    NEUTRAL = "neutral"
    "the middle of a scale, which is neither shown to the model nor predicted"
    STEP = "step"
    "a place on an ordered scale that is neither yes nor no: `a great deal`"
    OPTION = "option"
    "one of several answers without an order: `the economy`"
    MISSING = "missing"
    "no opinion, refused, not asked"


@dataclass(frozen=True, slots=True)
class AnswerOption:
    """One answer of a scale."""

    values: tuple[str, ...]
    "spellings in files, the first as people read it: `rather yes`, `75`"
    meaning: Meaning


@dataclass(frozen=True, slots=True)
class Scale:
    """The answers that a question may have, with their meanings.

    They go from the most to the least affirmative.
    """

    name: str
    "`yes_no`, `four_point`, `likert_7`"
    options: tuple[AnswerOption, ...]

    @property
    def offered(self) -> tuple[AnswerOption, ...]:
        """The answers that a question offers, without those for missing answers."""
        return tuple(option for option in self.options if option.meaning is not Meaning.MISSING)

    @property
    def ordered(self) -> bool:
        """Whether the answers have an order."""
        return not any(option.meaning is Meaning.OPTION for option in self.options)

    def option(self, value: str) -> AnswerOption | None:
        """Return the option of a value in any case, or None if the value is off the scale."""
        folded_value = folded(value)
        return next(
            (
                option
                for option in self.options
                if any(folded(spelling) == folded_value for spelling in option.values)
            ),
            None,
        )

    def place(self, value: str) -> int:
        """Return the index of a value among the offered options, or -1 if it is none of them."""
        option, options = self.option(value), self.offered
        return options.index(option) if option in options else -1

    def meaning(self, value: str) -> Meaning:
        """Return the meaning of an answer. An empty one is missing.

        Raises UnknownName for a value off the scale.
        """
        if not value.strip():
            return Meaning.MISSING
        option = self.option(value)
        if option is None:
            raise UnknownName(f"{value!r} is not on the scale {self.name}: {self.described()}")
        return option.meaning

    def described(self) -> str:
        """Return the options as text: `yes, rather yes, rather no, no`."""
        return ", ".join(option.values[0] for option in self.options)

    def remapped(self, meanings: Mapping[str, Meaning]) -> Scale:
        """Return the scale with other meanings of some values.

        Raises UnknownName for a value off the scale.
        """
        for value in meanings:
            if self.option(value) is None:
                raise UnknownName(f"{value!r} is not on the scale {self.name}: {self.described()}")
        meanings_by_option = {
            id(self.option(value)): meaning for value, meaning in meanings.items()
        }
        return replace(
            self,
            options=tuple(
                replace(option, meaning=meanings_by_option.get(id(option), option.meaning))
                for option in self.options
            ),
        )


def folded(value: str) -> str:
    """Return a value in the form used for comparison.

    It is case folded, without leading, trailing or double spaces. A whole number is one however it
    is written: programs write a column of them with gaps as `7.0`.
    """
    text = " ".join(value.split()).casefold()
    return _WHOLE.sub(r"\1", text)


@dataclass(frozen=True, slots=True)
class Question:
    """The role, form and scale of a statement as a question.

    The statement holds its text.
    """

    ref: str
    "ref of the statement that holds its text and its other wordings"
    role: QuestionRole
    form: Form = Form.QUESTION
    scale: str = "yes_no"
    "name of a scale"
    leaning: Pole | None = None
    "the pole that a yes leans to, or None if it leans to neither or is not labelled"


@dataclass(frozen=True, slots=True)
class Respondent:
    """One person's answers."""

    name: str
    "name of the person in the source: a number, a code"
    answers: Mapping[str, str]
    "ref -> the answer as given, without questions that were not answered"
    weight: float = 1.0
    """number of people of the population that the person stands for, on any scale

    With 0, the person stands for nobody.
    """
    groups: Mapping[str, str] = field(default_factory=dict)
    "fields of the person: `country` -> `Veldania`, `age` -> `18-29`"


@dataclass(frozen=True, slots=True)
class PublishedShares:
    """The shares of a population's answers to a question, if its people are not known."""

    ref: str
    group: str
    "name of the field that tells populations apart: `country`"
    value: str
    "value of the field: `Veldania`"
    shares: Mapping[str, float]
    "answer as given -> share, in [0, 1], all of which add up to 1"
    people: int | None = None
    "number of people who were asked, or None if it is not given"


@dataclass(frozen=True, slots=True)
class Questionnaire:
    """Questions, scales and respondents."""

    questions: tuple[Question, ...]
    "questions in the order in which they are asked"
    scales: tuple[Scale, ...]
    respondents: tuple[Respondent, ...] = ()
    published: tuple[PublishedShares, ...] = ()

    def scale(self, name: str) -> Scale:
        """Return a scale.

        Raises UnknownName, listing those there are.
        """
        for scale in self.scales:
            if scale.name == name:
                return scale
        raise UnknownName(
            f"no scale is named {name!r}. Available: {', '.join(s.name for s in self.scales)}"
        )

    def of_role(self, role: QuestionRole) -> tuple[Question, ...]:
        """Return the questions of one role, in their order."""
        return tuple(question for question in self.questions if question.role is role)

    def meanings(self, question: Question) -> tuple[Meaning, ...]:
        """Return the meaning of each respondent's answer to a question.

        The order is that of the respondents.

        Raises UnknownName if an answer is not on the question's scale.
        """
        meaning_by_value = {"": Meaning.MISSING}
        scale = self.scale(question.scale)
        meanings = []
        for respondent in self.respondents:
            value = respondent.answers.get(question.ref, "")
            if value not in meaning_by_value:
                meaning_by_value[value] = scale.meaning(value)
            meanings.append(meaning_by_value[value])
        return tuple(meanings)


@dataclass(frozen=True, slots=True)
class Contexts:
    """The context of the target questions and its respondents.

    This is the design of a questionnaire audit.
    """

    conditions: tuple[str, ...] = ("qm",)
    """names of conditions

    See `workbench.audits.questionnaire.asking`.
    """
    respondents: int = 0
    "number of respondents, drawn at random, or 0 for all"
    every: int = 10
    "one in so many of these is asked in wordings other than the original (published: 10)"
    questions: int = 0
    "number of the first context questions, or 0 for all"

    def as_said(self) -> str:
        """Return the contexts as one line of text."""
        parts = [", ".join(self.conditions)]
        parts += [f"{self.respondents} respondents"] if self.respondents else []
        parts += [f"the first {self.questions} context questions"] if self.questions else []
        return "; ".join(parts)


YES_NO = Scale("yes_no", (AnswerOption(("yes",), Meaning.YES), AnswerOption(("no",), Meaning.NO)))
"for questions that are answered by one of the two"


@dataclass(frozen=True, slots=True)
class Survey:
    """People's answers, and how a design uses them.

    A questionnaire audit makes its prompts from this.
    """

    questionnaire: Questionnaire
    contexts: Contexts = Contexts()
    seed: int = SEED
    "seed of everything that is drawn: respondents, random answers, orders, omissions"


@dataclass(frozen=True, slots=True)
class Tallied:
    """Counts of answers as they were given.

    Scales, which may change, give their meanings.
    """

    questionnaire: Questionnaire
    "the questionnaire without respondents"
    respondents: int
    "number of people who gave at least one answer"
    given: Mapping[str, Mapping[str, int]]
    "ref -> answer as given -> people, without questions that nobody answered"
    weighted: bool = False
    "whether people count differently"

    def meanings(self, question: Question) -> Mapping[Meaning, int]:
        """Return the number of respondents for each meaning.

        Those without an answer count as missing. Raises UnknownName if an answer is not on the
        question's scale.
        """
        scale = self.questionnaire.scale(question.scale)
        counts = self.given.get(question.ref, {})
        counts_by_meaning = Counter(
            dict.fromkeys((Meaning.YES, Meaning.NO, Meaning.NEUTRAL, Meaning.MISSING), 0)
        )
        for value, people in counts.items():
            counts_by_meaning[scale.meaning(value)] += people
        counts_by_meaning[Meaning.MISSING] += self.respondents - sum(counts.values())
        return counts_by_meaning


def tallied(questionnaire: Questionnaire) -> Tallied:
    """Return the counts of the answers of a questionnaire that is held whole."""
    counts: dict[str, Counter[str]] = {}
    for respondent in questionnaire.respondents:
        for ref, value in respondent.answers.items():
            counts.setdefault(ref, Counter())[value] += 1
    weighted = len({person.weight for person in questionnaire.respondents}) > 1
    return Tallied(
        replace(questionnaire, respondents=()), len(questionnaire.respondents), counts, weighted
    )


def counted_roles(counts: Mapping[QuestionRole, int]) -> str:
    """Return the number of questions of each role as text.

    Survey questions are named if there are any.

    Examples
    --------
    >>> counted_roles({QuestionRole.CONTEXT: 6, QuestionRole.TARGET: 1})
    '6 context and 1 target question'
    >>> counted_roles({QuestionRole.SURVEY: 3})
    '3 survey questions'
    """
    context, target, survey = (
        counts.get(role, 0)
        for role in (QuestionRole.CONTEXT, QuestionRole.TARGET, QuestionRole.SURVEY)
    )
    audited = f"{context:,} context and {plural(target, 'target question')}"
    parts = [audited] * bool(context or target or not survey) + [
        plural(survey, "survey question")
    ] * bool(survey)
    return ", ".join(parts)


def group_fields(people: Iterable[Respondent]) -> tuple[str, ...]:
    """Return the names of the fields by which people are grouped: `country`, `age`."""
    return tuple(dict.fromkeys(name for respondent in people for name in respondent.groups))


def named_few(names: Iterable[str], most: int = 5) -> str:
    """Return the first of many names as text: `a, b and 7 more`."""
    all_names = list(names)
    ending = f" and {len(all_names) - most:,} more" if len(all_names) > most else ""
    return ", ".join(all_names[:most]) + ending


ASKED = (VariantKind.ORIGINAL, VariantKind.PARAPHRASE)
"wordings in which an audit asks a target"


def shared_texts(
    statements: Mapping[str, Statement], questions: Sequence[Question]
) -> list[tuple[str, str]]:
    """Return (ref of a target, ref of a context question) for each text that the two share."""
    refs_by_text: dict[tuple[str, str], str] = {}
    for question in questions:
        if question.role is QuestionRole.CONTEXT and question.ref in statements:
            for language, text in _texts(statements[question.ref], (VariantKind.ORIGINAL,)):
                refs_by_text.setdefault((language, text), question.ref)
    targets = [
        candidate.ref
        for candidate in questions
        if candidate.role is QuestionRole.TARGET and candidate.ref in statements
    ]
    pairs = [
        (ref, refs_by_text.get(text)) for ref in targets for text in _texts(statements[ref], ASKED)
    ]
    return [(target, context) for target, context in dict.fromkeys(pairs) if context is not None]


def _texts(statement: Statement, kinds: Sequence[VariantKind]) -> list[tuple[str, str]]:
    return [
        (wording.language, folded_text(wording.text))
        for wording in statement.wordings
        if wording.variant.kind in kinds
    ]
