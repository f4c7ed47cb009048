"""An instrument of multiple-choice questions as files that `read_choice_instrument` reads back to the same value.

The files hold questions with their forms, shares, topics and the answers of models. Other data of a statement are left
out and reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench.csv_files import csv_text, guarded
from workbench.domain.choice_statements import pair_of
from workbench.domain.choice_texts import Fault
from workbench.domain.choices import ChoicePair
from workbench.domain.counting import plural
from workbench.domain.instruments import Instrument
from workbench.domain.statements import Statement
from workbench.errors import UsageError
from workbench.formats.about import About
from workbench.formats.choice_instruments import OWN_TEMPLATES, choice_instrument
from workbench.formats.choices import CHOICES, PERTURBED
from workbench.formats.choices_write import write_choices
from workbench.formats.model_answers import MODEL_ANSWERS, model_answers_csv, without_zeros
from workbench.formats.questionnaires_write import beside_layout
from workbench.formats.templates import COLUMNS as TEMPLATE_COLUMNS
from workbench.formats.templates import template_rows


def kept_as_choices(instrument: Instrument) -> tuple[Instrument, tuple[str, ...]]:
    """Return an instrument as read back from its files, and sentences about what they leave out.

    Raises UsageError if there is no multiple-choice question, and for a question whose original is no longer one.
    """
    if not instrument.choices and not instrument.answer_sets:
        raise UsageError(
            f"no statement of {instrument.name!r} is a multiple-choice question; export it with --format csv"
        )
    items = {item.ref: item for item in instrument.choices}
    statements = [statement for statement in instrument.statements if statement.ref in items]
    pairs = []
    for statement in statements:
        pair = pair_of(statement, items[statement.ref], instrument.language)
        if isinstance(pair, Fault):
            raise UsageError(
                f"the original of {statement.ref} is not a multiple-choice question: found {pair.found}, expected "
                f"{pair.expected}. Change it on the Statements screen, or export with --format csv"
            )
        pairs.append(_plain(pair))
    answers = tuple(without_zeros(one) for one in instrument.answer_sets)
    kept = choice_instrument(instrument.name, _about(instrument), pairs, answers, instrument.templates)
    kept = replace(kept, lexicons=instrument.lexicons)
    return kept, tuple(_left_out(instrument, statements, kept))


def choice_files(kept: Instrument) -> dict[str, str]:
    """Return the files of what `kept_as_choices` returned: name -> text. Raises as `write_choices` does.

    Empty files are included, so that no older file is read with the others; without questions there is no file of
    questions.
    """
    items = {item.ref: item for item in kept.choices}
    found = (pair_of(statement, items[statement.ref], kept.language) for statement in kept.statements)
    files = write_choices([pair for pair in found if isinstance(pair, ChoicePair)], _about(kept))
    if not kept.statements:
        files = {name: text for name, text in files.items() if name not in (CHOICES, PERTURBED)}
    rows = ([guarded(cell) for cell in row] for row in template_rows(kept.templates))
    return files | {
        MODEL_ANSWERS: model_answers_csv(kept.answer_sets),
        OWN_TEMPLATES: csv_text(TEMPLATE_COLUMNS, rows),
    }


def beside_choices(instrument: Instrument) -> tuple[str, ...]:
    """Return sentences about what a format without multiple-choice questions leaves out."""
    said = []
    if instrument.choices:
        said.append(f"The multiple-choice data of {len(instrument.choices):,} statements, with people's shares")
    if instrument.answer_sets:
        said.append(f"{len(instrument.answer_sets):,} sets of models' answers")
    return tuple(f"{one}: --format choices keeps them." for one in said)


def _plain(pair: ChoicePair) -> ChoicePair:
    """Return a question with its typos in the order of its statement."""
    return replace(pair, perturbed=dict(sorted(pair.perturbed.items())))


def _about(instrument: Instrument) -> About:
    return About(
        name=instrument.name,
        title=instrument.title,
        version=instrument.version,
        language=instrument.language,
        source=instrument.source,
        citation=instrument.citation,
        licence=instrument.licence,
        notes=instrument.notes,
    )


def _left_out(instrument: Instrument, questions: list[Statement], kept: Instrument) -> Iterator[str]:
    others = len(instrument.statements) - len(questions)
    if others:
        yield f"{others:,} statements that are not multiple-choice questions: --format csv keeps them."
    pairs = list(zip(questions, kept.statements, strict=True))
    lost = sum(len(whole.wordings) - len(part.wordings) for whole, part in pairs)
    if lost:
        yield f"{lost:,} wordings that are of other kinds, in other languages, or not multiple-choice questions."
    more = sum(_says_more(whole, part) for whole, part in pairs)
    if more:
        yield f"Refs, authors, tags, origins, countries, sources or sides of {plural(more, 'question')}."
    counts = {
        "labels for policy issues": len(instrument.issue_labels),
        "definitions of issues": len(instrument.definitions),
        "parties": len(instrument.parties),
        "answers of parties": len(instrument.party_answers),
        "answers of people": len(instrument.survey),
    }
    yield from (f"{n:,} {words}." for words, n in counts.items() if n)
    yield from beside_layout(instrument)


def _says_more(whole: Statement, part: Statement) -> bool:
    """Return whether a statement has any data besides texts that its files leave out."""
    bare = replace(whole, wordings=part.wordings, issues=part.issues, languages=part.languages, version=part.version)
    return bare != part or any(wording.author is not None for wording in whole.wordings)
