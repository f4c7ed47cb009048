"""Where rows of response biases lead that have a screen of their own: both forms of a question, the answers to one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.figures.book import Subject
from workbench.tui.results.loaded import Loaded, Opened

if TYPE_CHECKING:
    from workbench.audits.response_bias.questions import Changes, QuestionShown


def question(path: Path, loaded: Loaded, subject: Subject) -> Opened | str:  # noqa: ARG001
    """Return the screen of a question; subject: a model, a bias, a condition, a question and, if meant, a draw."""
    from workbench.tui.results.response_bias_question import QuestionScreen

    shown = _read(loaded, subject)
    return lambda: QuestionScreen(loaded, shown)


def answers(path: Path, loaded: Loaded, subject: Subject) -> Opened | str:  # noqa: ARG001
    """Return the screen of the answers to one form; subject: that of a question, and the form."""
    from workbench.tui.results.response_bias_prompt import FormScreen

    *of, arm = subject
    shown = _read(loaded, of)
    return lambda: FormScreen(loaded, shown, arm)


def _read(loaded: Loaded, subject: Subject | list[str]) -> QuestionShown:
    from workbench.audits.response_bias.answers import place_of

    found: Changes = loaded.material
    name, bias, condition, key, *draw = subject
    return found.question(name, place_of(bias, condition, found.every_kind), key, int(draw[0]) if draw else None)
