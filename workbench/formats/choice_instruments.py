"""Instruments of multiple-choice questions, read from files and written as `choices.csv`.

Two formats are read here: anyone's questions (`choices`) and the authors' download (`biasmonkey`).

Questions are written as the files that `read_choices` reads back to the same values. Questions that
a file cannot represent are refused, never changed: an option of two lines, a stem that ends in a
line like an option, spaces around a key.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import tomli_w

from workbench.csv_files import csv_text, guarded
from workbench.data import CHOICE_AUDITS, shipped_templates, templates_of
from workbench.domain.choices import AnswerSet, Choice, ChoiceFault, ChoicePair, parse_choice
from workbench.domain.instruments import Instrument, pair_of, with_pairs
from workbench.domain.names import plural
from workbench.domain.prompts import Template
from workbench.domain.statements import Statement
from workbench.errors import UnknownName, UsageError
from workbench.formats.about import TEXTS, About, read_about
from workbench.formats.biasmonkey import read_biasmonkey
from workbench.formats.choices import (
    ABOUT,
    CHOICES,
    PERTURBED,
    PERTURBED_COLUMNS,
    SHARE,
    WARNINGS,
    form_fault,
    original_fault,
    read_choices,
)
from workbench.formats.model_answers import (
    MODEL_ANSWERS,
    model_answers_csv,
    read_model_answers,
    without_zeros,
)
from workbench.formats.questionnaires import beside_layout
from workbench.formats.records import AS_IS, Findings, ReadSettings, header_of
from workbench.formats.templates import COLUMNS as TEMPLATE_COLUMNS
from workbench.formats.templates import read_lexicons, read_templates, template_rows

BIASMONKEY = "biasmonkey"
"the default name of the authors' questions"
OWN_TEMPLATES = "templates.csv"
LANGUAGE = "en"
"the default language"


def read_choice_instrument(
    path: Path, name: str | None = None, settings: ReadSettings = AS_IS
) -> Instrument:
    """Return an instrument of multiple-choice questions, from a folder or one file of questions.

    A folder has `choices.csv`, `model_answers.csv` or both. Raises UsageError if there is nothing
    to read, and InputError with the faults of the questions or of the other files.
    """
    findings = Findings()
    pairs: Sequence[ChoicePair] = ()
    if path.is_dir() and not (path / CHOICES).is_file() and (path / MODEL_ANSWERS).is_file():
        about = read_about(path / ABOUT, findings)
    else:
        file_content = read_choices(path, settings)
        about, pairs = file_content.about, file_content.pairs
    answers = read_model_answers(path / MODEL_ANSWERS, findings) if path.is_dir() else ()
    templates = _templates(path, about, findings)
    lexicons = read_lexicons(path, findings)
    findings.check()
    instrument_name = name or about.name or path.resolve().name
    return replace(
        choice_instrument(instrument_name, about, pairs, answers, templates), lexicons=lexicons
    )


def read_biasmonkey_instrument(
    path: Path, name: str | None = None, *, skip: bool = False
) -> Instrument:
    """Read the authors' download or a part of it. Raises as `read_biasmonkey` does."""
    download = read_biasmonkey(path, skip=skip)
    about = About(
        title="BiasMonkey: survey questions in two forms, and models' answers to them",
        language=LANGUAGE,
        source="github.com/lindiatjuatja/BiasMonkey; questions of Pew Research Center, American "
        "Trends Panel",
        citation="Tjuatja, Chen, Wu, Talwalkar, Neubig (2024), "
        '"Do LLMs exhibit human-like response biases? A case study in survey design"',
        licence="none stated; the questions belong to third parties",
        notes=download.notes,
    )
    return choice_instrument(
        name or BIASMONKEY, about, download.pairs, download.answers, templates_of(CHOICE_AUDITS)
    )


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


def check_no_choices(path: Path, settings: ReadSettings = AS_IS) -> None:
    """Raise UsageError if a path to be read as statements holds multiple-choice questions."""
    is_choice_folder = (
        path.is_dir() and not (path / "statements.csv").exists() and (path / CHOICES).exists()
    )
    if is_choice_folder or (
        path.is_file() and {"key", "bias", "original"} <= set(header_of(path, settings))
    ):
        file_hint = f" ({CHOICES})" if is_choice_folder else ""
        raise UsageError(
            f"{path}: holds multiple-choice questions{file_hint}; import it with --format choices"
        )


def _templates(path: Path, about: About, findings: Findings) -> tuple[Template, ...]:
    """Return the templates of a folder.

    They are its own, those of the audits that it names, or those of the audit that fits.
    """
    if path.is_dir() and (path / OWN_TEMPLATES).exists():
        return read_templates(path / OWN_TEMPLATES, findings)
    templates: list[Template] = []
    for audit in CHOICE_AUDITS if about.templates is None else about.templates:
        try:
            templates += shipped_templates(audit)
        except UnknownName as error:
            findings.add(
                path / ABOUT,
                None,
                "templates",
                str(error),
                f"the name of an audit, or a {OWN_TEMPLATES}",
            )
    return tuple(templates)


VARIANT = "variant"
COLUMNS = ("key", "bias", VARIANT, "topic", "original", "changed", "middle_removed", WARNINGS)
"empty columns are left out, except key, bias, original and changed"
ALWAYS = ("key", "bias", "original", "changed")


def write_choices(pairs: Sequence[ChoicePair], about: About) -> dict[str, str]:
    """Return the files of a folder as name -> text.

    Only the texts, templates and notes of `about` are used. `perturbed.csv` is written even if it
    is empty, so that no older one is read with the others.

    Raises UsageError for questions that would not read back unchanged, naming the first.
    """
    _check(pairs)
    rows = [_row(pair) for pair in pairs]
    n_shares = max((len(pair.shares) for pair in pairs), default=0)
    filled_columns = {name for row in rows for name, cell in row.items() if cell}
    columns = [name for name in COLUMNS if name in ALWAYS or name in filled_columns]
    columns += [f"{SHARE}{number}" for number in range(1, n_shares + 1)]
    return {
        ABOUT: _about(about),
        CHOICES: _csv(columns, rows),
        PERTURBED: _perturbed(pairs),
    }


def _row(pair: ChoicePair) -> dict[str, str]:
    middle = {True: "yes", False: "no", None: ""}[pair.middle_removed]
    cells = (
        *(pair.key, pair.bias.value, pair.variant, pair.topic or "", pair.original.lettered()),
        *(pair.changed.lettered() if pair.changed else "", middle, "\n".join(pair.warnings)),
    )
    shares = {f"{SHARE}{number}": repr(share) for number, share in enumerate(pair.shares, start=1)}
    return {**dict(zip(COLUMNS, cells, strict=True)), **shares}


def _perturbed(pairs: Sequence[ChoicePair]) -> str:
    rows = [
        {"key": pair.key, "bias": pair.bias.value, VARIANT: pair.variant}
        | {"perturbation": perturbation.value, "draw": str(draw), "text": choice.lettered()}
        for pair in pairs
        for (perturbation, draw), choice in pair.perturbed.items()
    ]
    has_variants = any(row[VARIANT] for row in rows)
    return _csv([*PERTURBED_COLUMNS, VARIANT] if has_variants else PERTURBED_COLUMNS, rows)


def _csv(columns: Sequence[str], rows: Sequence[dict[str, str]]) -> str:
    return csv_text(columns, ([guarded(row.get(column, "")) for column in columns] for row in rows))


def _about(about: About) -> str:
    texts: dict[str, str] = {name: getattr(about, name) for name in TEXTS if getattr(about, name)}
    lists = {} if about.templates is None else {"templates": about.templates}
    return tomli_w.dumps({**texts, **lists, **({"notes": about.notes} if about.notes else {})})


def _check(pairs: Sequence[ChoicePair]) -> None:
    seen = set()
    for pair in pairs:
        identity = (pair.bias, pair.variant, pair.key)
        fault = "two questions have this key" if identity in seen else _fault(pair)
        if fault:
            raise UsageError(
                f"{pair.key!r} ({pair.bias}) cannot be written: {fault}. Correct the question."
            )
        seen.add(identity)


def _fault(pair: ChoicePair) -> str | None:
    """Return why a question would not read back unchanged, or None if it would."""
    texts = (pair.key, pair.variant, pair.topic or "")
    if not pair.key or any(word != word.strip() for word in texts) or pair.topic == "":
        return "its key is empty, or its key, variant or topic has outer spaces"
    forms = (pair.original, pair.changed, *pair.perturbed.values())
    for choice in filter(None, forms):
        text_fault = _text_fault(choice)
        if text_fault:
            return text_fault
        if choice in pair.perturbed.values() and len(choice.options) != len(pair.original.options):
            return "a perturbed form has another number of options"
    if pair.shares and (
        len(pair.shares) != len(pair.original.options) or abs(sum(pair.shares) - 1) > 1e-9
    ):
        return f"{len(pair.shares)} shares that add up to {sum(pair.shares):g}"
    fault = original_fault(pair) or form_fault(pair)
    return f"{fault.found}, where {fault.expected}" if fault else None


def _text_fault(choice: Choice) -> str | None:
    text = choice.lettered()
    if "\x00" in text or any("\ud800" <= character <= "\udfff" for character in text):
        return "its text holds a NUL or half a surrogate pair"
    parsed = parse_choice(text)
    if isinstance(parsed, ChoiceFault):
        return f"its text would be {parsed.found}"
    return (
        None if parsed == choice else f"the text {text[:60]!r} would read back as another question"
    )


def kept_as_choices(instrument: Instrument) -> tuple[Instrument, tuple[str, ...]]:
    """Return an instrument as read back from its files, and sentences about omitted data.

    Raises UsageError if there is no multiple-choice question, and for a question whose original is
    no longer one.
    """
    if not instrument.choices and not instrument.answer_sets:
        raise UsageError(
            f"no statement of {instrument.name!r} is a multiple-choice question; export it with "
            "--format csv"
        )
    items = {item.ref: item for item in instrument.choices}
    statements = [statement for statement in instrument.statements if statement.ref in items]
    pairs = []
    for statement in statements:
        pair = pair_of(statement, items[statement.ref], instrument.language)
        if isinstance(pair, ChoiceFault):
            raise UsageError(
                f"the original of {statement.ref} is not a multiple-choice question: found "
                f"{pair.found}, expected "
                f"{pair.expected}. Change it on the Statements screen, or export with --format csv"
            )
        pairs.append(_with_sorted_typos(pair))
    answers = tuple(without_zeros(answer_set) for answer_set in instrument.answer_sets)
    reduced = choice_instrument(
        instrument.name, _choices_export_about(instrument), pairs, answers, instrument.templates
    )
    reduced = replace(reduced, lexicons=instrument.lexicons)
    return reduced, tuple(_exclusion_notes(instrument, statements, reduced))


def choice_files(instrument: Instrument) -> dict[str, str]:
    """Return the text of each file of an instrument from `kept_as_choices`, by file name.

    Empty files are included, so that no older file is read with the others. An instrument without
    questions has no file of questions. Raises the errors of `write_choices`.
    """
    items = {item.ref: item for item in instrument.choices}
    pairs = (
        pair_of(statement, items[statement.ref], instrument.language)
        for statement in instrument.statements
    )
    files = write_choices(
        [pair for pair in pairs if isinstance(pair, ChoicePair)], _choices_export_about(instrument)
    )
    if not instrument.statements:
        files = {name: text for name, text in files.items() if name not in (CHOICES, PERTURBED)}
    rows = ([guarded(cell) for cell in row] for row in template_rows(instrument.templates))
    return files | {
        MODEL_ANSWERS: model_answers_csv(instrument.answer_sets),
        OWN_TEMPLATES: csv_text(TEMPLATE_COLUMNS, rows),
    }


def beside_choices(instrument: Instrument) -> tuple[str, ...]:
    """Return sentences about the data that a format without choices leaves out."""
    subjects = []
    if instrument.choices:
        subjects.append(
            f"The multiple-choice data of {len(instrument.choices):,} statements, with people's "
            "shares"
        )
    if instrument.answer_sets:
        subjects.append(f"{len(instrument.answer_sets):,} sets of models' answers")
    return tuple(f"{subject}: --format choices keeps them." for subject in subjects)


def _with_sorted_typos(pair: ChoicePair) -> ChoicePair:
    """Return a question with its typo versions in the order of its statement."""
    return replace(pair, perturbed=dict(sorted(pair.perturbed.items())))


def _choices_export_about(instrument: Instrument) -> About:
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


def _exclusion_notes(
    instrument: Instrument, questions: list[Statement], reduced_instrument: Instrument
) -> Iterator[str]:
    """Yield sentences about the parts of an instrument that its reduced version lacks."""
    n_others = len(instrument.statements) - len(questions)
    if n_others:
        yield (
            f"{n_others:,} statements that are not multiple-choice questions: --format csv keeps "
            "them."
        )
    pairs = list(zip(questions, reduced_instrument.statements, strict=True))
    n_lost = sum(len(original.wordings) - len(reduced.wordings) for original, reduced in pairs)
    if n_lost:
        yield (
            f"{n_lost:,} wordings that are of other kinds, in other languages, or not "
            "multiple-choice questions."
        )
    n_further = sum(_has_further_data(original, reduced) for original, reduced in pairs)
    if n_further:
        yield (
            "Refs, authors, tags, origins, countries, sources or sides of "
            f"{plural(n_further, 'question')}."
        )
    counts = {
        "labels for policy issues": len(instrument.issue_labels),
        "definitions of issues": len(instrument.definitions),
        "parties": len(instrument.parties),
        "answers of parties": len(instrument.party_answers),
        "answers of people": len(instrument.survey),
    }
    yield from (f"{count:,} {caption}." for caption, count in counts.items() if count)
    yield from beside_layout(instrument)


def _has_further_data(whole: Statement, part: Statement) -> bool:
    """Return whether a statement has any data besides texts that its files leave out."""
    reduced = replace(
        whole,
        wordings=part.wordings,
        issues=part.issues,
        languages=part.languages,
        version=part.version,
    )
    return reduced != part or any(wording.author is not None for wording in whole.wordings)
