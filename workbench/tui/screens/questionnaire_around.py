"""What stands above and below the views of the questionnaire screen, and in place of empty ones; pure."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from workbench.domain.counting import plural
from workbench.tui.format import visible
from workbench.tui.neighbours import ONE_MARKED
from workbench.tui.screens.questionnaire_format import WIDE
from workbench.tui.screens.questionnaire_view import VIEWS, Loaded, Look, Settings, condition_names
from workbench.tui.screens.template_words import heading

CHANGES = {"bias": "Δ bias against qm, points", "accuracy": "Δ accuracy against qm, points"}
DEGREES = {"bias": "bias ± SE, points", "accuracy": "accuracy ± SE", "variability": "variability, points",
           "yes:no": "yes : no predicted", "without": "neither yes nor no"}  # fmt: skip
MASS_WORDS = {"top10": "yes/no among the 10 likeliest tokens", "vocabulary": "yes/no over the vocabulary"}
ERROR_WORDS = {"paired": "SE paired", "printed": "SE as printed"}

NO_QUESTIONNAIRE = """No instrument of this store is a questionnaire yet.

A questionnaire has questions with a role, context or target, and people's answers to them.
i imports the one that is shipped: veldania_panel, of a fictional country, with synthetic people.
Another one: workbench import STORE --format csv FOLDER"""
NO_PREDICTIONS = """{name} has no predictions yet.

3 goes to Jobs: n there starts one; choose the audit questionnaire.
Or: workbench run STORE --audit questionnaire --model MODEL

u shows the questions, their roles and scales."""
ANOTHER = "\ni shows the next of the {n} questionnaires of this store."
NO_ABLATION = """There is nothing to compare for {model}.

It has to be asked under qm and another condition: zero-shot, random, permuted or reduced contexts.
3, then n starts a job; choose more conditions."""
NOT_ASKED = "No model was asked under {condition}. c goes on to the next condition."


def tabs(look: Look, models: Sequence[str], window: tuple[int, int], width: int) -> Content:
    """Return the names of the views, the one in sight marked, and what is looked at.

    `window`: first and last (excluded) of the models that the table has room for.
    """
    parts: list[tuple[str, str] | str] = [
        (f"▸{view} ", "bold $text-accent") if view == look.view else (f" {view} ", "$text-muted") for view in VIEWS
    ]
    if look.view == "ablation":
        parts += [("  ", ""), (CHANGES[look.measure], "bold"), f" {visible(look.model)}"]
    elif look.view == "questions":
        parts += [("  ", ""), (DEGREES[look.measure], "bold")]
    if look.view in ("questions", "ablation") and len(models) > 1:
        first, last = window
        hidden = look.view == "questions" and last - first < len(models)
        more = f" models {first + 1}–{last} of {len(models)}" if hidden and width >= 100 else ""
        parts.append((f"{more} ← →", "$text-muted"))
    return Content.assemble(*parts)


def options_line(loaded: Loaded, settings: Settings, look: Look, width: int) -> str:
    """Return every choice that is in force, in one line."""
    judged = loaded.judged
    parts = [visible(loaded.instrument)]
    if look.view == "ablation":
        parts.append(f"cells: {CHANGES[look.measure]}" + "; first column: Δ mean |bias|" * (look.measure == "bias"))
    else:
        names = condition_names(judged) if judged else ()
        several = look.condition in names and len(names) > 1
        at = f" ({names.index(look.condition) + 1} of {len(names)})" if several else ""
        parts.append(f"{'condition ' * (width >= WIDE)}{visible(look.condition)}{at}")
    if look.view == "questions" and look.measure == "variability":
        parts.append("rms as printed" if look.rms else "sd over wordings")
    if look.view == "questions" and len(look.marked) == 1:
        parts.append(ONE_MARKED)
    if look.view == "questions" and look.by_size:
        parts.append("by size, o: as asked")
    parts.append("m " + (MASS_WORDS[settings.masses] if width >= WIDE else settings.masses))
    parts.append("e " + ERROR_WORDS[settings.error])
    if width >= WIDE:
        parts.append(f"seed {settings.seed}")
    return " · ".join([*parts, *heading(judged.runs.values() if judged else ())])


def empty_text(loaded: Loaded, look: Look) -> str:
    """Say why there is nothing to see, and what to do next."""
    if not loaded.instruments:
        return NO_QUESTIONNAIRE
    if loaded.judged is None:
        others = ANOTHER.format(n=len(loaded.instruments)) if len(loaded.instruments) > 1 else ""
        return NO_PREDICTIONS.format(name=visible(loaded.instrument)) + others
    if look.view == "ablation":
        return NO_ABLATION.format(model=visible(look.model))
    return NOT_ASKED.format(condition=visible(look.condition))


def note_line(notes: Sequence[str], model: str) -> str:
    """Return the first note, one on the model that is looked at where there is one, and how many more there are."""
    if not notes:
        return ""
    first, *more = sorted(notes, key=lambda note: not note.startswith(model))
    return f"! {visible(first)}" + (f" ({plural(len(more), 'note')} more: n)" if more else "")
