"""The book of response biases: every table, and how one follows a number down to the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from itertools import permutations
from typing import Any

from workbench.audits import response_bias_cells as cells
from workbench.audits import response_bias_forms as forms
from workbench.audits import response_bias_matrix as matrix
from workbench.audits import response_bias_models as models
from workbench.audits import response_bias_pairs as pairs
from workbench.audits.response_bias_findings import Findings
from workbench.audits.response_bias_names import Place, place_of
from workbench.audits.response_bias_questions import QuestionShown
from workbench.audits.response_bias_words import DEFINITIONS, HOLM, definition_said, test_said
from workbench.domain.counting import plural
from workbench.figures.book import Book, Entry
from workbench.figures.table import AnyTable


def book(found: Findings) -> Book:
    """Return every figure of response biases."""
    return Book(
        title=f"{found.instrument}: response biases",
        contents=tuple(_contents(found)),
        behind=_behind(found),
        told=(f"{found.instrument}: {plural(found.questions_with_texts, 'question')}.", *told(found)),
        notes=tuple(found.notes),
        about=about(found),
    )


def told(found: Findings) -> tuple[str, str]:
    """Say what every change rests on."""
    return definition_said(found.options.definition), test_said(found.options)


def about(found: Findings) -> dict[str, Any]:
    """Return the choices behind the figures."""
    options = found.options
    words = {"definition_in_words": DEFINITIONS[options.definition], "holm_in_words": HOLM[options.holm]}
    return {
        "instrument": found.instrument,
        "options": asdict(options) | words,
        "questions_with_texts": found.questions_with_texts,
    }


def _contents(found: Findings) -> Iterator[Entry]:
    def entry(name: str, title: str, make: Callable[[Findings], AnyTable], *choices: str) -> Entry:
        return Entry(name, title, lambda: make(found), choices=choices)

    def both(name: str, title: str, make: Callable[[Findings, str, str], AnyTable], *choices: str) -> Entry:
        """Return a table of two ways of asking: the second minus the first."""
        names, one = tuple(permutations(found.reports, 2)), "One way of asking alone has answers."
        return Entry(name, title, partial(make, found), names or ((),), choices, "" if names else one)

    tests = ("definition", "alpha", "holm")
    yield entry("matrix", "biases by model", matrix.matrix, *tests)
    yield entry("scores", "over all biases", models.scores, *tests)
    yield entry("likeness", "human-likeness", models.likeness, *tests)
    yield entry("cells", "changes with tests", cells.cells, *tests, "entropy")
    yield entry("entropies", "entropies", cells.entropies)
    yield entry("left_out", "questions left out", cells.left_out, "definition")
    yield entry("topics", "topics", cells.topics, "definition")
    yield entry("draws", "draws of perturbations", cells.draws, "definition", "alpha")
    yield entry("draw_spread", "spread of the draws", cells.draw_spread, "definition", "alpha")
    yield entry("valid_answers", "valid answers", models.valid_answers)
    yield entry("validity", "valid answers, by share", models.validity)
    yield entry("validity_shares", "valid answers, by question", models.validity_shares)
    yield entry("people", "likeness to people", models.people)
    yield entry("people_questions", "likeness, by question", models.people_questions)
    yield entry("questions", "questions", forms.questions, "definition")
    yield both("compared", "two ways of asking", pairs.compared, "definition", "alpha")
    yield both("compared_means", "two ways, over biases", pairs.compared_means, "definition")
    yield both("sampling", "samples and probabilities", pairs.sampling, "definition")
    yield entry("subjects", "who answered", matrix.subjects)


def _behind(found: Findings) -> dict[str, Callable[..., AnyTable]]:
    """Return what makes the tables that links lead to; a draw that is not named is the first."""

    def place(bias: str, condition: str) -> Place:
        return place_of(bias, condition, found.every_kind)

    def shown(name: str, bias: str, condition: str, key: str, draw: str = "") -> QuestionShown:
        return found.source.question(name, place(bias, condition), key, int(draw) if draw else None)

    def answers(*subject: str) -> AnyTable:
        *of, arm = subject
        one = shown(*of)
        return forms.answers(one, found.source.forms(one), arm)

    return {
        "place": lambda bias, condition: cells.place(found, place(bias, condition)),
        "validity": lambda name: models.validity(found, name),
        "likeness": lambda name: models.likeness(found, name),
        "people_questions": lambda name: models.people_questions(found, name),
        "questions": lambda name, *of: forms.questions_of(found, place(*of), name),
        "options": lambda *subject: forms.options(shown(*subject)),
        "forms": lambda *subject: _forms(found, shown(*subject)),
        "prompts": lambda *subject: _prompts(found, shown(*subject)),
        "answers": answers,
    }


def _forms(found: Findings, shown: QuestionShown) -> AnyTable:
    return forms.forms(found, shown, found.source.forms(shown))


def _prompts(found: Findings, shown: QuestionShown) -> AnyTable:
    return forms.prompts(shown, found.source.forms(shown))
