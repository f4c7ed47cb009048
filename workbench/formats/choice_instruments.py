"""Instruments of multiple-choice questions, read from files in the form that a store takes.

Two formats are handled here: anyone's questions (`choices`) and the authors' download (`biasmonkey`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from workbench.data import CHOICE_AUDITS, shipped_templates, templates_of
from workbench.domain.choices import AnswerSet, ChoicePair
from workbench.domain.instruments import Instrument, with_pairs
from workbench.domain.prompts import Template
from workbench.errors import UnknownName, UsageError
from workbench.formats.about import About, read_about
from workbench.formats.biasmonkey import read_biasmonkey
from workbench.formats.choices import ABOUT, CHOICES, read_choices
from workbench.formats.model_answers import MODEL_ANSWERS, read_model_answers
from workbench.formats.tabular import Findings, header_of
from workbench.formats.templates import read_lexicons, read_templates

BIASMONKEY = "biasmonkey"
"default name of the authors' questions"
OWN_TEMPLATES = "templates.csv"
LANGUAGE = "en"
"the default language"


def read_choice_instrument(path: Path, name: str | None = None) -> Instrument:
    """Read anyone's questions: a folder with `choices.csv`, `model_answers.csv` or both, or one file of questions.

    Raises UsageError if there is nothing to read, InputError with the faults of the questions or of the other files.
    """
    findings = Findings()
    pairs: Sequence[ChoicePair] = ()
    if path.is_dir() and not (path / CHOICES).is_file() and (path / MODEL_ANSWERS).is_file():
        about = read_about(path / ABOUT, findings)
    else:
        found = read_choices(path)
        about, pairs = found.about, found.pairs
    answers = read_model_answers(path / MODEL_ANSWERS, findings) if path.is_dir() else ()
    templates = _templates(path, about, findings)
    lexicons = read_lexicons(path, findings)
    findings.check()
    called = name or about.name or path.resolve().name
    return replace(choice_instrument(called, about, pairs, answers, templates), lexicons=lexicons)


def read_biasmonkey_instrument(path: Path, name: str | None = None, *, skip: bool = False) -> Instrument:
    """Read the authors' download or a part of it. Raises as `read_biasmonkey` does."""
    found = read_biasmonkey(path, skip=skip)
    about = About(
        title="BiasMonkey: survey questions in two forms, and models' answers to them",
        language=LANGUAGE,
        source="github.com/lindiatjuatja/BiasMonkey; questions of Pew Research Center, American Trends Panel",
        citation="Tjuatja, Chen, Wu, Talwalkar, Neubig (2024), "
        '"Do LLMs exhibit human-like response biases? A case study in survey design"',
        licence="none stated; the questions belong to third parties",
        notes=found.notes,
    )
    return choice_instrument(name or BIASMONKEY, about, found.pairs, found.answers, templates_of(CHOICE_AUDITS))


def choice_instrument(
    name: str,
    about: About,
    pairs: Sequence[ChoicePair],
    answers: Sequence[AnswerSet],
    templates: tuple[Template, ...],
) -> Instrument:
    """Return an instrument of these questions and answers."""
    empty = Instrument(
        name=name,
        title=about.title or name,
        statements=(),
        language=about.language or LANGUAGE,
        version=about.version,
        source=about.source,
        citation=about.citation,
        licence=about.licence,
        templates=templates,
        notes=about.notes,
    )
    return with_pairs(empty, pairs, answers)


def check_no_choices(path: Path) -> None:
    """Raise UsageError if a path to be read as statements holds multiple-choice questions instead."""
    folder = path.is_dir() and not (path / "statements.csv").exists() and (path / CHOICES).exists()
    if folder or (path.is_file() and {"key", "bias", "original"} <= set(header_of(path))):
        where = f" ({CHOICES})" if folder else ""
        raise UsageError(f"{path}: holds multiple-choice questions{where}; import it with --format choices")


def _templates(path: Path, about: About, findings: Findings) -> tuple[Template, ...]:
    """Return the templates of a folder: its own, those of the audits that it names, or those of the audit that fits."""
    if path.is_dir() and (path / OWN_TEMPLATES).exists():
        return read_templates(path / OWN_TEMPLATES, findings)
    found: list[Template] = []
    for audit in CHOICE_AUDITS if about.templates is None else about.templates:
        try:
            found += shipped_templates(audit)
        except UnknownName as error:
            findings.add(path / ABOUT, None, "templates", str(error), f"the name of an audit, or a {OWN_TEMPLATES}")
    return tuple(found)
