"""The fields of a job that asks a questionnaire: what stands before a target, and whose answers."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Static

from workbench.tui.design_form import WORDINGS, FormValues
from workbench.tui.kit.start_form import row, select
from workbench.tui.widgets.field import Field

TYPED = ("conditions", "respondents", "every", "questions")
EXPLAIN = """Of a questionnaire nothing is sampled, and there are instead:
conditions   what stands before a target: qm, the person's answers;
             zero-shot, nothing; random, answers of nobody; permuted,
             the same answers in six other orders; reduced, 25, 50 and
             75 % of them left out. One by one they are permuted-kept-1
             to -3, permuted-changed-1 to -3, reduced-25-kept,
             reduced-25-changed and so on; all stands for every one
respondents  nothing for all, or so many, drawn with the seed
one in       of these, one in so many is asked in wordings other than
             the original (Haller et al. 2025: 10)
questions    nothing for all, or the first so many context questions
wordings     of the targets: all, or the original only
statements   which targets: nothing for all, 3 for the first three"""
NAMES = "qm · zero-shot · random · permuted · reduced · all (F1 tells)"

SAID_OF = {"respondents were asked for": "respondents", "context questions were asked for": "questions"}
"what a plan says of a number that cannot be, and the field that holds it"


def compose_questionnaire() -> ComposeResult:
    """Yield the rows that stand in place of those for sampling."""
    usual = FormValues("")
    with Vertical(id="questionnaire"):
        yield row("conditions", Field(usual.conditions, id="conditions", compact=True, placeholder="qm, zero-shot"))
        yield Static(NAMES, id="condition_names", classes="note", markup=False)
        with Horizontal(classes="pair"):
            yield row("respondents", Field(id="respondents", compact=True, placeholder="all"))
            yield row("one in", Field(usual.every, id="every", compact=True))
            yield row("questions", Field(id="questions", compact=True, placeholder="all"))
        yield row("wordings", select("wordings", WORDINGS))
