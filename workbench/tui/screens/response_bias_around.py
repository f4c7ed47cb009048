"""What stands above and below the matrix of response biases, and in place of an empty one; pure."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from workbench.domain.counting import plural
from workbench.tui.format import visible
from workbench.tui.neighbours import ONE_MARKED
from workbench.tui.screens.response_bias_view import Loaded, Look, Settings
from workbench.tui.screens.template_words import heading

DEFINITION_WORDS = {
    "corrected": "valid answers, every question that fits; human-like above 0",
    "paper": "as printed: 50 questions of each typo; allow/forbid human-like below 0",
    "all keys": "as printed, but all questions; allow/forbid human-like below 0",
    "head": "authors' last code: without 8 allow/forbid; human-like above 0",
}
"what every figure on the screen rests on, in one line of a small terminal"
HOLM_WORDS = {"none": "none", "biases": "over biases", "all": "over all cells"}
ENTROPY_WORDS = {"offered": "entropy by options offered", "csv": "entropy as published"}
WIDE = 110
"columns from which the choices stand beside the instrument's name"

NO_QUESTIONS = """No instrument of this store has multiple-choice questions yet.

i imports those that are shipped: veldania_choices, 40 questions of a fictional country that cover all five biases.
Your own: workbench import STORE --format choices FOLDER
What others asked and were answered: workbench import STORE --format biasmonkey FOLDER"""
NO_ANSWERS = """No model has answered the questions of {name} yet.

3 goes to Jobs: n there starts one; choose the audit response_bias.
Or: workbench run STORE --audit response_bias --model MODEL
Published answers: workbench import STORE --format biasmonkey FOLDER"""


def options_lines(loaded: Loaded, settings: Settings, look: Look, window: tuple[int, int], width: int) -> Content:
    """Return every choice that is in force, and what the definition is.

    `window`: first and last (excluded) of the subjects that the table has room for.
    """
    names, (first, last) = loaded.subjects, window
    hidden = f" {first + 1}–{last} of {len(names)}" if last - first < len(names) else ""
    turns = f" · models{hidden} ← →" if len(names) > 1 else ""
    said = ONE_MARKED if len(look.marked) == 1 else "percentage points"
    runs = [one.run for one in loaded.judged.subjects.values() if one.run] if loaded.judged else []
    asked = [Content(part) for part in heading(runs)]
    choices = f"m Holm {HOLM_WORDS[settings.holm]} · a alpha {settings.alpha:g} · e {ENTROPY_WORDS[settings.entropy]}"
    parts = [
        Content.assemble((visible(loaded.instrument), "bold"), f"{turns} · {said}"),
        Content.assemble("f ", (settings.definition, "bold $text-accent"), f" {DEFINITION_WORDS[settings.definition]}"),
        Content(choices),
    ]
    above = [Content(" · ").join([parts[0], parts[2]])] if width >= WIDE else parts[:1]
    return Content("\n").join([*above, *asked, *(parts[1:2] if width >= WIDE else parts[1:])])


def empty_text(loaded: Loaded) -> str:
    """Say why there is nothing to see, and what to do next."""
    return NO_ANSWERS.format(name=visible(loaded.instrument)) if loaded.instruments else NO_QUESTIONS


def note_line(notes: Sequence[str], subject: str) -> str:
    """Return how many notes there are and the first, one on the subject that is looked at where there is one."""
    if not notes:
        return ""
    first = min(notes, key=lambda note: not note.startswith(subject))
    return f"! n {plural(len(notes), 'note')} · {visible(first)}"
