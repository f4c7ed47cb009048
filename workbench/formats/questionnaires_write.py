"""The part of a questionnaire that files can hold, and sentences about the rest."""

from __future__ import annotations

from dataclasses import replace

from workbench.data import shipped_scale, shipped_scales
from workbench.domain.instruments import Instrument
from workbench.domain.questionnaires import Questionnaire, Respondent


def normal_questionnaire(instrument: Instrument) -> tuple[Questionnaire | None, tuple[str, ...]]:
    """Return a questionnaire as read back from its files, and sentences about what is lost.

    Questions are in the order of their statements, scales sorted by name; every respondent has an answer.
    """
    whole = instrument.questionnaire
    if whole is None:
        return None, ()
    asked = {question.ref: question for question in whole.questions}
    questions = tuple(asked[s.ref] for s in instrument.statements if s.ref in asked)
    refs = {question.ref for question in questions}
    people = tuple(_answered(one, refs) for one in whole.respondents)
    kept = tuple(one for one in people if one.answers)
    lost = {
        "questions that are not statements of the instrument": len(asked) - len(questions),
        "answers to questions that the instrument does not have": sum(
            len(before.answers) - len(after.answers) for before, after in zip(whole.respondents, people, strict=True)
        ),
        "respondents without an answer": len(people) - len(kept),
    }
    scales = tuple(sorted(whole.scales, key=lambda scale: scale.name))
    said = tuple(f"{n:,} {what}." for what, n in lost.items() if n)
    return (Questionnaire(questions, scales, kept) if questions else None), said


def in_lines(instrument: Instrument) -> tuple[Instrument, tuple[str, ...]]:
    """Return an instrument with the part of its questionnaire that JSON Lines hold, and sentences about the rest.

    Lines name scales but cannot define their answers, so a question with a scale of the instrument's own has no role
    there.
    """
    whole, _ = normal_questionnaire(instrument)
    if whole is None:
        return replace(instrument, questionnaire=None), ()
    known = {name: shipped_scale(name) for name in shipped_scales()}
    questions = tuple(question for question in whole.questions if question.scale in known)
    own = [scale.name for scale in whole.scales if known.get(scale.name) != scale]
    lost = len(whole.questions) - len(questions)
    said = [f"{len(whole.respondents):,} respondents and their answers."] if whole.respondents else []
    said += [f"The instrument's own scales of answers: {', '.join(own)}."] if own else []
    said += [f"The roles of {lost:,} questions whose scales are the instrument's own."] if lost else []
    scales = tuple(known[name] for name in sorted({question.scale for question in questions}))
    return replace(instrument, questionnaire=Questionnaire(questions, scales) if questions else None), tuple(said)


def beside_layout(instrument: Instrument) -> tuple[str, ...]:
    """Return sentences about what a layout without questionnaires leaves out."""
    whole = instrument.questionnaire
    if whole is None:
        return ()
    return (
        f"The roles and scales of {len(whole.questions):,} questions, and the answers of "
        f"{len(whole.respondents):,} respondents.",
    )


def _answered(one: Respondent, refs: set[str]) -> Respondent:
    if one.answers.keys() <= refs and all(one.answers.values()):
        return one
    return replace(one, answers={ref: value for ref, value in one.answers.items() if ref in refs and value})
