"""The commands that ask anew what was changed since: the designs that asked it, and of them the conditions it is in.

A command without these would ask under the usual condition alone, and leave the others as they are, beside new ones.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.audits.questionnaire.conditions import ZERO_SHOT, expanded, is_drawn
from workbench.audits.questionnaire.figures import Condition
from workbench.audits.questionnaire.rows import AUDIT, Gathered
from workbench.domain.designs import Design
from workbench.domain.questionnaires import Contexts

USUAL = Contexts()


def asking_again(store: Store, run: Run, found: Gathered, usual_language: str) -> str:
    """Return the commands that replace the outdated prompts of a run; empty where there are none."""
    old = {condition for condition in found.predictions.conditions if found.old(condition, wording=None)}
    if not old:
        return ""
    wanted: dict[str, list[str]] = {}
    for design in map(Design.from_json, store.predictions.designs(run)):
        language = "" if run.language == usual_language else run.language
        named = wanted.setdefault(" ".join(_options(replace(design, language=language))), [])
        named += [name for name in _conditions(design, old) if name not in named]
    commands = [
        f"workbench run STORE --audit {AUDIT} {options} --conditions {','.join(names)}"
        for options, names in wanted.items()
        if names
    ]
    return "; ".join(commands)


def _conditions(design: Design, old: set[Condition]) -> Iterator[str]:
    """Yield the conditions of a design under which something is outdated."""
    questions = design.contexts.questions
    for name in expanded(design.contexts.conditions):
        seed = design.seed if is_drawn(name) else 0
        if Condition(name, seed, 0 if name == ZERO_SHOT else questions) in old:
            yield name


def _options(design: Design) -> Iterator[str]:
    """Yield what tells a design from the usual one, as the command line says it."""
    of = design.contexts
    said = {
        "instrument": (design.instrument, ""),
        "model": (design.model, ""),
        "dtype": (design.dtype, ""),
        "chat-format": (design.chat_format, ""),
        "language": (design.language, ""),
        "statements": (",".join(design.statements), ""),
        "variants": (",".join(design.variants), ""),
        "respondents": (str(of.respondents), str(USUAL.respondents)),
        "every": (str(of.every), str(USUAL.every)),
        "context-questions": (str(of.questions), str(USUAL.questions)),
        "seed": (str(design.seed), "1"),
    }
    for name, (value, usual) in said.items():
        if value != usual:
            yield f"--{name} {shlex.quote(value)}"


__all__ = ["asking_again"]
