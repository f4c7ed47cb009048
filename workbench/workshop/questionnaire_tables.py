"""A questionnaire as tables: questions with roles, scales, and meanings of answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from workbench.domain.questionnaires import (
    AnswerOption,
    Form,
    Meaning,
    Question,
    Questionnaire,
    QuestionRole,
    Scale,
    Tallied,
    folded,
    group_fields,
)
from workbench.domain.verdicts import Estimate
from workbench.errors import UnknownName
from workbench.figures.book import Book, Entry
from workbench.figures.table import Column, Kind, Link, Table
from workbench.stats.populations import EVERYBODY, CodedPeople
from workbench.stats.proportions import wilson_of_share
from workbench.stats.weights import weighted_shares

CATEGORIES = (Meaning.YES, Meaning.NO, Meaning.NEUTRAL, Meaning.MISSING)
NAN = float("nan")
AGREE = "Do you agree with the following statement?"
"the text before a statement in a question"
ScaleOption = tuple[Scale, AnswerOption]


def book(
    name: str,
    tallied: Tallied,
    texts: Mapping[str, str],
    topics: Mapping[str, str | None],
    lines: Sequence[str] = (),
    people: Questionnaire | None = None,
    groups: Sequence[str] = (),
    *,
    unweighted: bool = False,
) -> Book:
    """Return the questions and the scales of an instrument.

    Parameters
    ----------
    texts, topics
        The text and the topic of each question, by ref.
    people
        The questionnaire with its respondents, whose answers are given as shares, or None for no
        shares.
    groups
        The groups of respondents whose shares are given, too.

    Raises UnknownName for an unknown group.
    """
    population_shares = (
        () if people is None else (populations(people, groups, unweighted=unweighted),)
    )
    return Book(
        title=f"{name}: questionnaire",
        contents=(
            Entry("questions", "questions", partial(questions, tallied, texts, topics)),
            Entry("scales", "scales", partial(scales, tallied)),
            *(
                Entry("shares", "answers of people", partial(shares, population, texts))
                for population in population_shares
            ),
        ),
        behind={
            "answers": partial(answers, tallied, texts),
            "questions_on": partial(questions_on, tallied, texts, topics),
        },
        told=lines,
        about={"instrument": name},
    )


def questions(
    tallied: Tallied,
    texts: Mapping[str, str],
    topics: Mapping[str, str | None],
    *,
    rows: Sequence[Question] | None = None,
    name: str = "questions",
    subject: tuple[str, ...] = (),
) -> Table[Question]:
    """Return the questions in their order.

    Each comes with the numbers of people by meaning of their answers.
    """
    return Table(
        name,
        "Questions",
        tallied.questionnaire.questions if rows is None else rows,
        [
            Column("ref", "ref", lambda row: row.ref),
            Column("topic", "topic", lambda row: topics.get(row.ref), aside=True),
            Column(
                "role",
                "role",
                lambda row: row.role.value,
                help="context: shown to the model; target: predicted; survey: put with options, "
                "compared with people",
            ),
            Column(
                "form",
                "form",
                lambda row: row.form.value,
                help="agree: the model is asked whether it agrees with the statement",
            ),
            Column("scale", "scale", lambda row: row.scale),
            Column("leaning", "yes leans", lambda row: row.leaning.value if row.leaning else None),
            *(
                Column(
                    meaning.value,
                    meaning.value,
                    partial(_people, tallied, meaning),
                    Kind.COUNT,
                    help="people",
                )
                for meaning in (*CATEGORIES, *_further_meanings(tallied))
            ),
            Column("text", "text", lambda row: _question_text(row, texts), main=True, aside=True),
        ],
        key=lambda row: (row.ref,),
        empty="No statement has a role.",
        link=lambda row: Link("answers", (row.ref,)),
        subject=subject,
    )


def _further_meanings(tallied: Tallied) -> list[Meaning]:
    """Return the meanings beside yes, no, neutral and missing that the scales have."""
    used_meanings = {
        option.meaning for scale in tallied.questionnaire.scales for option in scale.options
    }
    return [meaning for meaning in (Meaning.STEP, Meaning.OPTION) if meaning in used_meanings]


@dataclass(frozen=True, slots=True)
class Said:
    """The share of one answer that a question offers in one population."""

    question: Question
    group: str
    value: str
    option: AnswerOption
    share: Estimate
    "with n as the number of people, or the effective number with weights"
    people: int | None
    """number of people with a weight above 0 who gave one of the answers

    It is None if a publication does not tell it.
    """
    effective_n: float | None

    @property
    def design_effect(self) -> float | None:
        """The factor by which weights enlarge the variance of a share, or None if unknown."""
        return self.people / self.effective_n if self.people and self.effective_n else None


def populations(
    questionnaire: Questionnaire, groupings: Sequence[str] = (), *, unweighted: bool = False
) -> list[Said]:
    """Return the answers of everybody, of each named group of respondents, and the published ones.

    Raises UnknownName for an unknown group.
    """
    fields = group_fields(questionnaire.respondents)
    available = dict.fromkeys((*fields, *(entry.group for entry in questionnaire.published)))
    if unknown := [name for name in groupings if name not in available]:
        raise UnknownName(
            f"nobody has a group {unknown[0]!r}. Available: {', '.join(available) or 'none'}"
        )
    people = CodedPeople.of(questionnaire)
    weights = np.ones(len(people.weights)) if unweighted else people.weights
    groups = [(EVERYBODY, "", np.arange(len(weights)))] if len(weights) else []
    groups += [
        (field, value, members)
        for field in groupings
        if field in fields
        for value, members in people.members(field)
    ]
    results: list[Said] = []
    for question in questionnaire.questions:
        options, codes = questionnaire.scale(question.scale).offered, people.codes[question.ref]
        for group, value, members in groups:
            group_shares = weighted_shares(codes[members], weights[members], len(options))
            for option, share in zip(options, group_shares.shares, strict=True):
                effective_n = group_shares.effective_n
                results.append(
                    Said(
                        question,
                        group,
                        value,
                        option,
                        _share(share, effective_n),
                        group_shares.people,
                        effective_n,
                    )
                )
        for published in questionnaire.published:
            if published.ref == question.ref and (not groupings or published.group in groupings):
                results += _published(
                    question,
                    options,
                    published.group,
                    published.value,
                    published.shares,
                    published.people,
                )
    return results


def _published(
    question: Question,
    offered: Sequence[AnswerOption],
    group: str,
    value: str,
    shares: Mapping[str, float],
    people: int | None,
) -> Iterator[Said]:
    """Yield shares that were published, of those who gave one of the answers."""
    share_by_answer = {folded(answer): share for answer, share in shares.items()}
    option_shares = [
        sum(share_by_answer.get(folded(value_), 0.0) for value_ in option.values)
        for option in offered
    ]
    total = sum(option_shares)
    for option, share in zip(offered, option_shares, strict=True):
        reason = "" if total else "nobody gave one of the answers"
        estimate = Estimate(
            share / total if total else NAN, NAN, NAN, people or 0, undefined=reason
        )
        yield Said(question, group, value, option, estimate, people, None)


def _share(share: float, n: float) -> Estimate:
    if not n:
        return Estimate(share, NAN, NAN, 0, undefined="nobody gave one of the answers")
    low, high = wilson_of_share(share, n)
    return Estimate(share, low, high, int(n), interval="share of items")


def shares(group_shares: Sequence[Said], texts: Mapping[str, str]) -> Table[Said]:
    """Return the answers of people, in shares of those who gave one of the offered answers."""
    return Table(
        "shares",
        "Answers of people",
        group_shares,
        [
            Column("ref", "ref", lambda row: row.question.ref),
            Column("group", "group", lambda row: row.group),
            Column("value", "value", lambda row: row.value),
            Column("answer", "answer", lambda row: row.option.values[0]),
            Column("means", "means", lambda row: row.option.meaning.value, aside=True),
            Column("share", "share", lambda row: row.share, Kind.SHARE, scale=(0.0, 1.0)),
            Column(
                "people",
                "n",
                lambda row: row.people,
                Kind.COUNT,
                help="people who gave one of these answers",
            ),
            Column(
                "effective_n",
                "effective n",
                lambda row: row.effective_n,
                Kind.COEFFICIENT,
                help="people of equal weight who tell as much",
            ),
            Column(
                "design_effect",
                "design effect",
                lambda row: row.design_effect,
                Kind.COEFFICIENT,
                aside=True,
            ),
            Column(
                "text",
                "text",
                lambda row: _question_text(row.question, texts),
                main=True,
                aside=True,
            ),
        ],
        key=lambda row: (row.question.ref, row.group, row.value, row.option.values[0]),
        definition="Shares count people by their weights, among those who gave an answer that "
        "the question offers; "
        "intervals are Wilson's for the effective n. Published shares have none.",
        empty="Nobody has answered yet, and no shares were published.",
        link=lambda row: Link("answers", (row.question.ref,)),
    )


def _people(tallied: Tallied, meaning: Meaning, row: Question) -> int:
    return tallied.meanings(row)[meaning]


def _question_text(question: Question, texts: Mapping[str, str]) -> str:
    text = texts.get(question.ref, "")
    return f"{AGREE} {text}" if question.form is Form.STATEMENT else text


def questions_on(
    tallied: Tallied, texts: Mapping[str, str], topics: Mapping[str, str | None], scale: str
) -> Table[Question]:
    """Return the questions that have a scale."""
    return questions(
        tallied,
        texts,
        topics,
        rows=_questions_on(tallied, scale),
        name="questions_on",
        subject=(scale,),
    )


def scales(tallied: Tallied, only: Scale | None = None) -> Table[ScaleOption]:
    """Return the answers of all scales, or of one, with their meaning."""
    shown_scales = tallied.questionnaire.scales if only is None else (only,)
    return Table(
        "scales",
        "Answers of the scales, and their meaning",
        [(scale, option) for scale in shown_scales for option in scale.options],
        [
            Column("scale", "scale", lambda row: row[0].name),
            Column("answer", "answer", lambda row: row[1].values[0]),
            Column("also", "also written", lambda row: ", ".join(row[1].values[1:]), aside=True),
            Column("means", "means", lambda row: row[1].meaning.value),
            Column(
                "given",
                "given",
                lambda row: given(tallied, *row),
                Kind.COUNT,
                help="times, over the questions on it",
            ),
            Column(
                "questions",
                "questions",
                lambda row: len(_questions_on(tallied, row[0].name)),
                Kind.COUNT,
                aside=True,
            ),
            Column(
                "targets",
                "targets",
                lambda row: sum(
                    question.role is QuestionRole.TARGET
                    for question in _questions_on(tallied, row[0].name)
                ),
                Kind.COUNT,
                aside=True,
            ),
            Column(
                "blank",
                "left blank",
                lambda row: blank(tallied, row[0]),
                Kind.COUNT,
                aside=True,
                help="questions on this scale that people left unanswered; they are missing, too",
            ),
        ],
        key=lambda row: (row[0].name, row[1].values[0]),
        definition="Answers that mean yes or no are shown to the model or predicted; neutral and "
        "missing answers are "
        "neither shown nor predicted.",
        link=lambda row: Link("questions_on", (row[0].name,)),
    )


def answers(tallied: Tallied, texts: Mapping[str, str], ref: str) -> Table[ScaleOption]:
    """Return people's answers to one question."""
    question = next(
        candidate for candidate in tallied.questionnaire.questions if candidate.ref == ref
    )
    scale = tallied.questionnaire.scale(question.scale)
    count_by_answer = tallied.given.get(ref, {})
    return Table(
        "answers",
        f"{ref}: answers of {tallied.respondents:,} people",
        [(scale, option) for option in scale.options],
        [
            Column("answer", "answer", lambda row: row[1].values[0]),
            Column("means", "means", lambda row: row[1].meaning.value),
            Column("people", "people", lambda row: _times(count_by_answer, row[1]), Kind.COUNT),
        ],
        key=lambda row: (row[1].values[0],),
        definition=_question_text(question, texts),
        subject=(ref,),
    )


def given(tallied: Tallied, scale: Scale, option: AnswerOption) -> int:
    """Return the number of times that an answer of a scale was given."""
    return sum(
        _times(tallied.given.get(question.ref, {}), option)
        for question in _questions_on(tallied, scale.name)
    )


def blank(tallied: Tallied, scale: Scale) -> int:
    """Return the number of times that questions of a scale were left without an answer."""
    counts = (
        sum(tallied.given.get(question.ref, {}).values())
        for question in _questions_on(tallied, scale.name)
    )
    return sum(tallied.respondents - n_answered for n_answered in counts)


def _questions_on(tallied: Tallied, scale: str) -> tuple[Question, ...]:
    return tuple(
        question for question in tallied.questionnaire.questions if question.scale == scale
    )


def _times(people: Mapping[str, int], option: AnswerOption) -> int:
    values = {folded(value) for value in option.values}
    return sum(count for value, count in people.items() if folded(value) in values)
