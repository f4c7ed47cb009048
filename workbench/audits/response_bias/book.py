"""The book of response biases: every table, and how one follows a number down to the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from workbench.audits.response_bias import cells as cells
from workbench.audits.response_bias import forms as forms
from workbench.audits.response_bias import matrix as matrix
from workbench.audits.response_bias import models as models
from workbench.audits.response_bias import pairs as pairs
from workbench.audits.response_bias.changes import Changes
from workbench.audits.response_bias.methods import methods
from workbench.audits.response_bias.names import Place, place_of
from workbench.audits.response_bias.questions import QuestionShown
from workbench.audits.response_bias.words import DEFINITIONS, HOLM, definition_said, test_said
from workbench.domain.counting import plural
from workbench.domain.seeds import SEED
from workbench.evidence.answered_tables import as_json, entry, header
from workbench.evidence.refusal_tables import entries
from workbench.evidence.refusal_tables import told as refused
from workbench.figures.book import Book, Entry
from workbench.figures.table import AnyTable


def book(found: Changes) -> Book:
    """Return every figure of response biases."""
    judged = found.judged
    return Book(
        title=f"{found.instrument}: response biases",
        contents=tuple(_contents(found)),
        behind=_behind(found),
        told=(
            *header(judged.answered),
            *judged.rulings.sentences(),
            f"{found.instrument}: {plural(len(judged.pairs), 'question')}.",
            *refused(found.refusals, "without an offered letter, drawn again"),
            definition_said(found.options.definition),
            test_said(found.options),
        ),
        header=header(judged.answered),
        methods=methods(judged),
        notes=tuple(found.notes),
        about=about(found),
    )


def about(found: Changes) -> dict[str, Any]:
    """Return the choices behind the figures."""
    options, judged = found.options, found.judged
    return {
        "instrument": found.instrument,
        "definition_in_words": DEFINITIONS[options.definition],
        "holm_in_words": HOLM[options.holm],
        "questions_with_texts": len(judged.pairs),
        "answered": as_json(judged.answered),
        "methods": methods(judged),
    }


Make = Callable[[Changes], AnyTable]


def _contents(found: Changes) -> Iterator[Entry]:
    names = tuple(found.reports)
    each = ((), *((name,) for name in names)) if len(names) > 1 else ((),)
    tests = ("definition", "alpha", "holm")

    def of_all(name: str, title: str, make: Make, *choices: str) -> Entry:
        return Entry(name, title, lambda: make(found), choices=choices)

    def of_each(name: str, title: str, make: Make, *choices: str) -> Entry:
        """Return an entry about all models, or about one at a time."""
        return Entry(name, title, _about_some(found, make), each, choices, whole=lambda: make(found))

    yield of_all("matrix", "biases by model", matrix.matrix, *tests, "without_typos")
    yield of_all("scores", "over all biases", models.scores, *tests)
    yield of_each("likeness", "human-likeness", models.likeness, *tests)
    yield of_each("cells", "changes with tests", cells.cells, *tests, "entropy")
    yield of_each("entropies", "entropies", cells.entropies)
    yield of_all("uncertainty", "change against uncertainty", cells.uncertainty)
    yield of_each("left_out", "questions left out", cells.left_out, "definition")
    yield of_each("topics", "topics", cells.topics, "definition")
    yield of_each("draws", "draws of perturbations", cells.draws, "definition", "alpha")
    yield of_each("draw_spread", "spread of the draws", cells.draw_spread, "definition", "alpha")
    yield of_all("valid_answers", "valid answers", models.valid_answers)
    yield of_each("validity", "valid answers, by share", models.validity)
    yield of_each("validity_shares", "valid answers, by question", models.validity_shares)
    if found.personas:
        yield of_all("personas", "by persona", pairs.by_persona, *tests)
    yield of_all("people", "likeness to people", models.people)
    yield of_each("people_questions", "likeness, by question", models.people_questions)
    yield of_each("questions", "questions", forms.questions, "definition")
    yield of_all("subjects", "who answered", matrix.subjects)
    yield entry(found.judged.answered)
    yield from entries(lambda: found.refusals, SEED)[:1]


def _about_some(found: Changes, make: Make) -> Callable[..., AnyTable]:
    """Return what makes a table about some models, or about all where none is named."""

    def made(*names: str) -> AnyTable:
        if not names:
            return make(found)
        table = make(found.of(*names))
        return replace(table, title=f"{table.title}: {', '.join(names)}", subject=names)

    return made


def _behind(found: Changes) -> dict[str, Callable[..., AnyTable]]:
    """Return what makes the tables that links lead to; a draw that is not named is the first."""

    def place(bias: str, condition: str) -> Place:
        return place_of(bias, condition, found.every_kind)

    def shown(name: str, bias: str, condition: str, key: str, draw: str = "") -> QuestionShown:
        return found.question(name, place(bias, condition), key, int(draw) if draw else None)

    def answers(*subject: str) -> AnyTable:
        *of, arm = subject
        one = shown(*of)
        return forms.answers(one, found.forms(one), arm)

    return {
        "place": lambda bias, condition: cells.place(found, place(bias, condition)),
        "validity": _about_some(found, models.validity),
        "likeness": _about_some(found, models.likeness),
        "people_questions": _about_some(found, models.people_questions),
        "questions": lambda name, *of: forms.questions_of(found, place(*of), name),
        "options": lambda *subject: forms.options(shown(*subject)),
        "forms": lambda *subject: _forms(found, shown(*subject)),
        "prompts": lambda *subject: _prompts(found, shown(*subject)),
        "answers": answers,
    }


def _forms(found: Changes, shown: QuestionShown) -> AnyTable:
    return forms.forms(found, shown, found.forms(shown))


def _prompts(found: Changes, shown: QuestionShown) -> AnyTable:
    return forms.prompts(shown, found.forms(shown))
