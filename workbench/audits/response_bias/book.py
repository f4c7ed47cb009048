"""The book of response biases: all tables, and those behind their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from workbench.audits.response_bias import question_tables, tables
from workbench.audits.response_bias.answers import ARMS, Place, place_of
from workbench.audits.response_bias.judged import methods
from workbench.audits.response_bias.options import Definition
from workbench.audits.response_bias.questions import Changes, QuestionView
from workbench.audits.response_bias.score import DEFINITIONS, HOLM, definition_said, test_said
from workbench.domain.keys import SEED
from workbench.domain.names import plural
from workbench.errors import UnknownName
from workbench.evidence.answered import (
    answered_data,
    answered_entry,
    answered_header,
    refusal_entries,
)
from workbench.evidence.answered import refusal_sentences as refused
from workbench.figures.book import Book, Entry
from workbench.figures.table import AnyTable

Make = Callable[[Changes], AnyTable]


def book(changes: Changes) -> Book:
    """Return the tables of response biases."""
    judged = changes.judged
    return Book(
        title=f"{changes.instrument}: response biases",
        contents=tuple(_contents(changes)),
        behind=_behind(changes),
        told=(
            *answered_header(judged.answered),
            *judged.rulings.sentences(),
            f"{changes.instrument}: {plural(len(judged.pairs), 'question')}.",
            *refused(changes.refusals, "each without an offered letter, and drawn again"),
            definition_said(changes.options.definition),
            test_said(changes.options),
        ),
        header=answered_header(judged.answered),
        methods=methods(judged),
        notes=tuple(changes.notes),
        about=about(changes),
    )


def about(changes: Changes) -> dict[str, Any]:
    """Return the choices behind the figures, for programs."""
    options, judged = changes.options, changes.judged
    return {
        "instrument": changes.instrument,
        "definition_in_words": DEFINITIONS[options.definition],
        "holm_in_words": HOLM[options.holm],
        "questions_with_texts": len(judged.pairs),
        "answered": answered_data(judged.answered),
        "methods": methods(judged),
    }


ONLY_PUBLISHED = (
    "The score and `most human-like` are published definitions. They count significant biases, "
    "whatever their size.\n\n"
    "--as-published shows them; f chooses the published definition here."
)


def _contents(changes: Changes) -> Iterator[Entry]:
    """Yield the entries of the tables."""
    names = tuple(changes.reports)
    subjects = ((), *((name,) for name in names)) if len(names) > 1 else ((),)
    tests = ("definition", "alpha", "holm")

    published = "" if changes.options.definition is Definition.PAPER else ONLY_PUBLISHED

    def of_all(name: str, title: str, make: Make, *choices: str, empty: str = "") -> Entry:
        return Entry(name, title, lambda: make(changes), choices=choices, empty=empty)

    def of_each(name: str, title: str, make: Make, *choices: str, empty: str = "") -> Entry:
        """Return an entry about all models, or about one at a time."""
        return Entry(
            name,
            title,
            _about_some(changes, make),
            subjects,
            choices,
            empty,
            whole=lambda: make(changes),
        )

    yield of_all("matrix", "biases by model", tables.matrix, *tests, "without_typos")
    yield of_all("scores", "published score", tables.scores, *tests, empty=published)
    yield of_each("likeness", "most human-like", tables.likeness, *tests, empty=published)
    yield of_each("cells", "changes with tests", tables.cells, *tests, "entropy")
    yield of_each("entropies", "entropies", tables.entropies)
    yield of_all("uncertainty", "change against uncertainty", tables.uncertainty)
    yield of_each("left_out", "questions left out", tables.left_out, "definition")
    yield of_each("topics", "topics", tables.topics, "definition")
    yield of_each("draws", "draws of perturbations", tables.draws, "definition", "alpha")
    yield of_each("draw_spread", "spread of the draws", tables.draw_spread, "definition", "alpha")
    yield of_all("valid_answers", "valid answers", tables.valid_answers)
    yield of_each("validity", "valid answers, by share", tables.validity)
    yield of_each("validity_shares", "valid answers, by question", tables.validity_shares)
    if changes.personas:
        yield of_all("personas", "by persona", question_tables.by_persona, *tests)
    yield of_all("people", "likeness to people", tables.people)
    yield of_each("people_questions", "likeness, by question", tables.people_questions)
    yield of_each("questions", "questions", question_tables.questions, "definition")
    yield of_all("subjects", "who answered", tables.subjects)
    yield answered_entry(changes.judged.answered)
    yield from refusal_entries(lambda: changes.refusals, SEED)[:1]


def _about_some(changes: Changes, make: Make) -> Callable[..., AnyTable]:
    """Return a function that makes a table of named models, or of all if none is named."""

    def made(*names: str) -> AnyTable:
        if not names:
            return make(changes)
        table = make(changes.of(*names))
        return replace(table, title=f"{table.title}: {', '.join(names)}", subject=names)

    return made


def _behind(changes: Changes) -> dict[str, Callable[..., AnyTable]]:
    """Return the functions that make the tables behind links. The first draw is the default."""

    def place(bias: str, condition: str) -> Place:
        return place_of(bias, condition, changes.every_kind)

    def question(name: str, bias: str, condition: str, key: str, draw: str = "") -> QuestionView:
        if draw and not draw.isdecimal():
            raise UnknownName(f"there is no draw {draw!r}; give its number")
        return changes.question(name, place(bias, condition), key, int(draw) if draw else None)

    def of_question(make: Callable[[QuestionView], AnyTable]) -> Callable[..., AnyTable]:
        def table(name: str, bias: str, condition: str, key: str, draw: str = "") -> AnyTable:
            return make(question(name, bias, condition, key, draw))

        return table

    def answers(
        name: str, bias: str, condition: str, key: str, draw_or_arm: str, arm: str = ""
    ) -> AnyTable:
        draw, arm = (draw_or_arm, arm) if arm else ("", draw_or_arm)
        if arm not in ARMS:
            raise UnknownName(f"there is no form {arm!r}. Available: {', '.join(ARMS)}")
        view = question(name, bias, condition, key, draw)
        return question_tables.answers(view, changes.forms(view), arm)

    def questions(name: str, bias: str, condition: str) -> AnyTable:
        return question_tables.questions_of(changes, place(bias, condition), name)

    published: dict[str, Callable[..., AnyTable]] = {}
    if changes.options.definition is Definition.PAPER:
        published["likeness"] = _about_some(changes, tables.likeness)
    return {
        "place": lambda bias, condition: tables.place(changes, place(bias, condition)),
        "validity": _about_some(changes, tables.validity),
        **published,
        "people_questions": _about_some(changes, tables.people_questions),
        "questions": questions,
        "options": of_question(question_tables.options),
        "forms": of_question(partial(_forms, changes)),
        "prompts": of_question(partial(_prompts, changes)),
        "answers": answers,
    }


def _forms(changes: Changes, shown: QuestionView) -> AnyTable:
    """Return the table of both forms of a question."""
    return question_tables.forms(changes, shown, changes.forms(shown))


def _prompts(changes: Changes, shown: QuestionView) -> AnyTable:
    """Return the table of the prompts of a question."""
    return question_tables.prompts(shown, changes.forms(shown))
