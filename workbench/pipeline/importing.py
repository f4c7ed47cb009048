"""Files into a store: what they are, what they would change, and the change itself.

What is shown before an import is the import: it is done, its outcome is read, and all of it is taken back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from stores.core.store import Store
from stores.instruments.instruments import Imported
from stores.instruments.questionnaire_imports import AddedRespondents
from workbench.domain.instruments import Instrument
from workbench.domain.questionnaires import Respondent
from workbench.errors import UsageError
from workbench.formats.recognise import ANSWERS, recognised

if TYPE_CHECKING:
    from workbench.domain.questionnaire_tallies import Tallied


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be imported, and how it is to be read."""

    path: Path
    format: str = ""
    "empty: recognised from what is there"
    name: str | None = None
    "of the instrument here; None: the file's own"
    instrument: str | None = None
    "whose questions answers are to; None: the only one"
    missing: tuple[str, ...] = ()
    "of answers: what is no answer"
    ignored: tuple[str, ...] = ()
    "of answers: columns that are no questions"
    skip: bool = False
    "leave out files at fault, of a format that has several"
    left_right: Path | None = None
    "positions of parties, of a format that takes them apart"


@dataclass(frozen=True, slots=True)
class Material:
    """What was read: an instrument, or people's answers to the questions of one that is here."""

    format: str
    name: str
    instrument: Instrument | None = None
    people: tuple[Respondent, ...] = ()
    notes: tuple[str, ...] = ()
    "of reading answers; an instrument has its own"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an import did, or would do."""

    material: Material
    written: bool
    imported: Imported | None = None
    "of an instrument"
    added: AddedRespondents | None = None
    "of answers"
    odd: tuple[str, ...] = ()
    "what is odd about the questionnaire, in sentences"
    numbers: tuple[tuple[str, str], ...] = ()
    "(scale, what its answers in numbers were taken for)"


def read(request: Request) -> Material | None:
    """Read an instrument: all of it, or nothing. Raises UsageError, InputError.

    None: what is there are answers, which only `read_answers_of` can read, beside the questions that they are to.
    """
    format = request.format or recognised(request.path)  # noqa: A001  the command line's word for it
    if format == ANSWERS:
        return None
    from workbench.formats.read import read_instrument

    instrument = read_instrument(format, request.path, request.name, left_right=request.left_right, skip=request.skip)
    return Material(format, instrument.name, instrument)


def put(store: Store, material: Material) -> Outcome:
    """Write what was read, in one transaction. Raises ConflictError where something else is here already."""
    if material.instrument is None:
        added = store.questionnaires.add_answers(material.name, material.people)
        here = store.instruments.get(material.name)
        known = store.questionnaires.tallied(material.name)
        return Outcome(material, True, added=added, odd=odd_answers(here, known), numbers=_numbers(known))
    from workbench.domain.questionnaire_tallies import tallied
    from workbench.formats.read import is_part

    instrument = material.instrument
    imported = store.instruments.add(instrument, part=is_part(material.format, instrument))
    asked = tallied(instrument.questionnaire) if instrument.questionnaire is not None else None
    return Outcome(material, True, imported=imported, odd=odd_answers(instrument, asked), numbers=_numbers(asked))


def rehearsed(store: Store, material: Material) -> Outcome:
    """Return the result of `put` without writing. Raises the same errors."""
    with store.rehearsal():
        return replace(put(store, material), written=False)


def listed_formats() -> tuple[str, ...]:
    """Return the names of everything that can be imported, those of other packages included."""
    from workbench.formats.read import formats

    return (*formats(), ANSWERS)


def read_answers_of(store: Store, request: Request) -> Material:
    """Read people's answers to the questions of an instrument that is here. Raises UsageError, InputError."""
    from workbench.formats.answers import Declared, read_answers
    from workbench.formats.tabular import Findings

    path = request.path
    if not path.is_file():
        raise UsageError(f"{path}: no such file; give a CSV with respondents and their answers")
    name = request.instrument or request.name or store.instruments.only()
    known = store.questionnaires.tallied(name)
    if known is None:
        raise UsageError(no_questions(name))
    refs = {line.ref for line in store.instruments.lines(name)}
    findings = Findings()
    declared = Declared(request.missing, request.ignored)
    people, notes = read_answers(path, known.questionnaire, refs, findings, declared=declared)
    findings.check()
    if not people:
        raise UsageError(f"{path} has no answers; nothing was changed")
    return Material(ANSWERS, name, None, people, notes)


def odd_answers(instrument: Instrument, answers: Tallied | None) -> tuple[str, ...]:
    """Return the findings on a questionnaire and its answers."""
    from workbench.lint.questionnaires import questionnaire_findings

    found = () if answers is None else questionnaire_findings(instrument, answers)
    return tuple(f"{one.severity}: {one.subject}: {one.message}" for one in found)


def _numbers(answers: Tallied | None) -> tuple[tuple[str, str], ...]:
    from workbench.answer_scales import numbers_said

    return () if answers is None else numbers_said(answers)


def no_questions(name: str) -> str:
    """Say that an instrument has no questions, and how it comes to some."""
    return (
        f"{name} has no questions: no statement has a role. Import statements with a column role, or set one with: "
        "workbench questionnaire STORE --question REF --role context --form question"
    )
