"""What a change to a questionnaire means, in sentences; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from workbench.domain.names import plural
from workbench.domain.questionnaires import Form, Meaning, Option, Pole, Question, Role, Scale, Tallied

LEANINGS = (None, Pole.LIBERAL, Pole.CONSERVATIVE)
"what `l` goes through"
EFFECTS = {
    Meaning.YES: "shown to the model and counted as yes",
    Meaning.NO: "shown to the model and counted as no",
    Meaning.NEUTRAL: "neutral: neither shown to the model nor predicted",
    Meaning.MISSING: "missing: neither shown to the model nor predicted",
}


def next_leaning(leaning: Pole | None) -> Pole | None:
    return LEANINGS[(LEANINGS.index(leaning) + 1) % len(LEANINGS)]


def next_scale(names: Sequence[str], name: str) -> str:
    return names[(names.index(name) + 1) % len(names)] if name in names else names[0]


def change_words(before: Question, after: Question, people: int) -> str:
    """Say what a change to a question does, in sentences."""
    return f"{before.ref}: " + " ".join(_changes(before, after, people))


def _changes(before: Question, after: Question, people: int) -> Iterator[str]:
    if after.role is not before.role:
        yield f"{before.role.value} → {after.role.value}."
        if after.role is Role.TARGET:
            yield "The model will then predict its answers instead of seeing them."
        else:
            yield f"Its answers by {plural(people, 'respondent')} will then be shown to the model instead of predicted."
        yield "Earlier predictions used another context: run the audit again."
    if after.leaning != before.leaning:
        names = (leaning.value if leaning else "neither" for leaning in (before.leaning, after.leaning))
        yield "leaning of a yes: " + " → ".join(names) + "."
        yield "Only the liberal-conservative axis changes, at once; no model is asked again."
    if after.form is not before.form:
        yield f"{before.form.value} → {after.form.value}."
        yield "The prompt changes: run the audit again."
    if after.scale != before.scale:
        yield f"scale {before.scale} → {after.scale}."
        yield "Answers that are not on that scale are refused. Figures change at once; contexts may change."


def mapping_words(of: Tallied, scale: Scale, option: Option, meaning: Meaning) -> str:
    """Say what another meaning of an answer does, in sentences."""
    from workbench.audits.questionnaire.answer_tables import given

    used = sum(question.scale == scale.name for question in of.questionnaire.questions)
    return (
        f"{scale.name}: {option.values[0]!r} means {option.meaning.value} → {meaning.value}. It was given "
        f"{plural(given(of, scale, option), 'time')}, to {plural(used, 'question')}, and will be {EFFECTS[meaning]}. "
        "Answers to targets change at once. Earlier prompts showed it differently: run the audit again."
    )


def with_change(question: Question, what: str, scales: Sequence[str]) -> Question:
    """Return a question after one step of `role`, `leaning`, `form` or `scale`."""
    if what == "role":
        return replace(question, role=Role.CONTEXT if question.role is Role.TARGET else Role.TARGET)
    if what == "leaning":
        return replace(question, leaning=next_leaning(question.leaning))
    if what == "form":
        return replace(question, form=Form.QUESTION if question.form is Form.STATEMENT else Form.STATEMENT)
    return replace(question, scale=next_scale(scales, question.scale))
