"""A questionnaire as tables: its questions with their roles, its scales, and what an answer of a scale means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from workbench.domain.questionnaires import Form, Meaning, Option, Question, Role, Scale, Tallied, folded
from workbench.figures.book import Book, Entry
from workbench.figures.table import Column, Kind, Link, Table

CATEGORIES = (Meaning.YES, Meaning.NO, Meaning.NEUTRAL, Meaning.MISSING)
AGREE = "Do you agree with the following statement?"
"what stands before a statement where it is asked"
ScaleOption = tuple[Scale, Option]


def book(
    name: str, of: Tallied, texts: Mapping[str, str], topics: Mapping[str, str | None], told: Sequence[str] = ()
) -> Book:
    """Return the questions and the scales of an instrument. `texts`, `topics`: of each ref."""
    return Book(
        title=f"{name}: questionnaire",
        contents=(
            Entry("questions", "questions", partial(questions, of, texts, topics)),
            Entry("scales", "scales", partial(scales, of)),
        ),
        behind={"answers": partial(answers, of, texts), "questions_on": partial(questions_on, of, texts, topics)},
        told=told,
        about={"instrument": name},
    )


def questions(
    of: Tallied,
    texts: Mapping[str, str],
    topics: Mapping[str, str | None],
    *,
    rows: Sequence[Question] | None = None,
    name: str = "questions",
    subject: tuple[str, ...] = (),
) -> Table[Question]:
    """Return the questions in the order in which they are asked, with how many people's answers come to what."""
    return Table(
        name,
        "Questions",
        of.questionnaire.questions if rows is None else rows,
        [
            Column("ref", "ref", lambda row: row.ref),
            Column("topic", "topic", lambda row: topics.get(row.ref), aside=True),
            Column("role", "role", lambda row: row.role.value, help="context: shown to the model; target: predicted"),
            Column(
                "form",
                "form",
                lambda row: row.form.value,
                help="agree: the model is asked whether it agrees with the statement",
            ),
            Column("scale", "scale", lambda row: row.scale),
            Column("leaning", "yes leans", lambda row: row.leaning.value if row.leaning else None),
            *(
                Column(meaning.value, meaning.value, partial(_people, of, meaning), Kind.COUNT, help="people")
                for meaning in CATEGORIES
            ),
            Column("text", "text", lambda row: _asked(row, texts), main=True, aside=True),
        ],
        key=lambda row: (row.ref,),
        empty="No statement has a role.",
        link=lambda row: Link("answers", (row.ref,)),
        subject=subject,
    )


def _people(of: Tallied, meaning: Meaning, row: Question) -> int:
    return of.meanings(row)[meaning]


def _asked(question: Question, texts: Mapping[str, str]) -> str:
    text = texts.get(question.ref, "")
    return f"{AGREE} {text}" if question.form is Form.STATEMENT else text


def questions_on(
    of: Tallied, texts: Mapping[str, str], topics: Mapping[str, str | None], scale: str
) -> Table[Question]:
    """Return the questions that have a scale."""
    return questions(of, texts, topics, rows=_on(of, scale), name="questions_on", subject=(scale,))


def scales(of: Tallied, only: Scale | None = None) -> Table[ScaleOption]:
    """Return the answers of all scales, or of one, and what they mean."""
    held = of.questionnaire.scales if only is None else (only,)
    return Table(
        "scales",
        "Answers of the scales, and their meaning",
        [(scale, option) for scale in held for option in scale.options],
        [
            Column("scale", "scale", lambda row: row[0].name),
            Column("answer", "answer", lambda row: row[1].values[0]),
            Column("also", "also written", lambda row: ", ".join(row[1].values[1:]), aside=True),
            Column("means", "means", lambda row: row[1].meaning.value),
            Column("given", "given", lambda row: given(of, *row), Kind.COUNT, help="times, over the questions on it"),
            Column("questions", "questions", lambda row: len(_on(of, row[0].name)), Kind.COUNT, aside=True),
            Column(
                "targets", "targets", lambda row: sum(one.role is Role.TARGET for one in _on(of, row[0].name)),
                Kind.COUNT, aside=True,
            ),
            Column(
                "blank", "left blank", lambda row: blank(of, row[0]), Kind.COUNT, aside=True,
                help="questions on this scale that people left unanswered; they are missing, too",
            ),
        ],
        key=lambda row: (row[0].name, row[1].values[0]),
        definition="Answers that mean yes or no are shown to the model or predicted; neutral and missing answers are "
        "neither shown nor predicted.",
        link=lambda row: Link("questions_on", (row[0].name,)),
    )  # fmt: skip


def answers(of: Tallied, texts: Mapping[str, str], ref: str) -> Table[ScaleOption]:
    """Return what people answered to one question."""
    question = next(one for one in of.questionnaire.questions if one.ref == ref)
    scale = of.questionnaire.scale(question.scale)
    people = of.given.get(ref, {})
    return Table(
        "answers",
        f"{ref}: answers of {of.respondents:,} people",
        [(scale, option) for option in scale.options],
        [
            Column("answer", "answer", lambda row: row[1].values[0]),
            Column("means", "means", lambda row: row[1].meaning.value),
            Column("people", "people", lambda row: _times(people, row[1]), Kind.COUNT),
        ],
        key=lambda row: (row[1].values[0],),
        definition=_asked(question, texts),
        subject=(ref,),
    )


def given(of: Tallied, scale: Scale, option: Option) -> int:
    """Return how often an answer of a scale was given."""
    return sum(_times(of.given.get(question.ref, {}), option) for question in _on(of, scale.name))


def blank(of: Tallied, scale: Scale) -> int:
    """Return how often questions of a scale were left without an answer."""
    counts = (sum(of.given.get(question.ref, {}).values()) for question in _on(of, scale.name))
    return sum(of.respondents - answered for answered in counts)


def _on(of: Tallied, scale: str) -> tuple[Question, ...]:
    return tuple(question for question in of.questionnaire.questions if question.scale == scale)


def _times(people: Mapping[str, int], option: Option) -> int:
    values = {folded(value) for value in option.values}
    return sum(n for value, n in people.items() if folded(value) in values)
