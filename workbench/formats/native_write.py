"""Writes an instrument as our own files, which `read_csv` reads back to the same value.

Every instrument that was read from a file or a store has the normal form: names and single words have no outer spaces
and are not empty; wordings are sorted by language and variant, and no text is blank; `stated` has only relations that
differ from the kind's; labels by issue are the `gold_labels` of all labels; a stance is the value of the answer in
`people.ANSWERS`. Texts of wordings and templates are kept exactly, including spaces.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import tomli_w

from workbench.csv_files import csv_text, guarded
from workbench.domain.instruments import Instrument
from workbench.domain.questionnaires import Option, Question, Questionnaire
from workbench.domain.statements import ORIGINAL, Statement, VariantKind, Wording, variant_order
from workbench.formats.about import DEFINITIONS, SCALES, TITLES
from workbench.formats.answers import ANSWERS, answer_rows
from workbench.formats.questionnaires import COLUMNS
from workbench.formats.templates import COLUMNS as TEMPLATE_COLUMNS
from workbench.formats.templates import template_rows
from workbench.formats.wordings import AUTHOR, RELATION, SEVERAL, column_of, tag_cell

ABOUT = (
    "ref",
    "country",
    "topic",
    "source",
    "dimension",
    "leaning",
    "tags",
    "derived_from",
    "version",
    *COLUMNS,
    "language",
)
"columns before the wordings; empty columns are left out"


def csv_files(instrument: Instrument) -> dict[str, str]:
    """Return the files of a folder: name -> text. Empty files are included, so that no older file is read with the
    others.
    """
    return {
        "instrument.toml": _about(instrument),
        "statements.csv": _statements(instrument),
        "issue_labels.csv": _csv(
            ("ref", "issue", "annotator", "label"),
            ((one.statement, one.issue, one.annotator, str(one.label)) for one in instrument.issue_labels),
        ),
        "parties.csv": _csv(
            ("country", "party", "position"),
            ((one.country, one.name, "" if one.position is None else repr(one.position)) for one in instrument.parties),
        ),
        "party_answers.csv": _csv(
            ("country", "party", "ref", "answer"),
            ((one.country, one.party, one.statement, one.answer) for one in instrument.party_answers),
        ),
        "survey.csv": _csv(
            ("respondent", "ref", "variant", "answer"),
            (
                (one.respondent, one.statement, str(one.variant), "agree" if one.agrees else "disagree")
                for one in instrument.survey
            ),
        ),
        ANSWERS: _answers(_questionnaire(instrument)),
        "templates.csv": _csv(TEMPLATE_COLUMNS, template_rows(instrument.templates)),
    }


def json_lines(instrument: Instrument) -> str:
    """Return the statements as JSON Lines: one object per statement and language."""
    asked = _asked(instrument)
    objects = (
        _object(s, language, wordings) | asked.get(s.ref, {})
        for s in instrument.statements
        for language, wordings in statement_lines(s)
    )
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in objects)


def origins_elsewhere(instrument: Instrument) -> tuple[str, ...]:
    """Return the refs that statements are derived from but that the instrument lacks because they are archived."""
    refs = {statement.ref for statement in instrument.statements}
    found = (s.derived_from for s in instrument.statements if s.derived_from is not None)
    return tuple(dict.fromkeys(ref for ref in found if ref not in refs))


def _about(instrument: Instrument) -> str:
    texts = {
        name: getattr(instrument, name)
        for name in ("name", "title", "version", "language", "source", "citation", "licence")
        if getattr(instrument, name)
    }
    retired = origins_elsewhere(instrument)
    tables = {
        TITLES: {issue.name: issue.title for issue in instrument.definitions},
        DEFINITIONS: {issue.name: issue.definition for issue in instrument.definitions if issue.definition},
    }
    scales = {scale.name: [_option(one) for one in scale.options] for scale in _questionnaire(instrument).scales}
    return tomli_w.dumps(
        {
            **texts,
            "issues": instrument.issues,
            "notes": instrument.notes,
            **({"retired": retired} if retired else {}),
            **{name: table for name, table in tables.items() if table},
            **({SCALES: scales} if scales else {}),
        }
    )


def _option(option: Option) -> dict[str, object]:
    return {"values": option.values, "meaning": option.meaning.value}


def _questionnaire(instrument: Instrument) -> Questionnaire:
    return instrument.questionnaire or Questionnaire((), ())


def _answers(questionnaire: Questionnaire) -> str:
    header, rows = answer_rows(questionnaire)
    return _csv(tuple(map(guarded, header)), rows)


def _asked(instrument: Instrument) -> dict[str, dict[str, str]]:
    """Return the columns of each question beside its statement."""
    return {question.ref: _about_question(question) for question in _questionnaire(instrument).questions}


def _about_question(question: Question) -> dict[str, str]:
    values = (question.role.value, question.form.value, question.scale, question.leaning and question.leaning.value)
    return {name: value for name, value in zip(COLUMNS, values, strict=True) if value}


def _csv(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    return csv_text(header, ([guarded(cell) for cell in row] for row in rows))


def _statements(instrument: Instrument) -> str:
    """Return the table of statements; its columns are those that are not empty, in a fixed order."""
    asked = _asked(instrument)
    rows = [_row(s, *line) | asked.get(s.ref, {}) for s in instrument.statements for line in statement_lines(s)]
    variants = sorted({w.variant for s in instrument.statements for w in s.wordings} | {ORIGINAL}, key=variant_order)
    about = [f"{prefix}{column_of(variant)}" for prefix in (AUTHOR, RELATION) for variant in variants]
    used = {"ref", "language", "original", *(column for row in rows for column in row)}
    columns = [column for column in (*ABOUT, *map(column_of, variants), "author", *about) if column in used]
    return _csv(tuple(columns), (tuple(row.get(column, "") for column in columns) for row in rows))


def _row(statement: Statement, language: str, wordings: list[Wording]) -> dict[str, str]:
    row = {
        **{name: text for name, text in _about_statement(statement).items() if isinstance(text, str)},
        "language": language,
        **({"tags": tag_cell(statement.tags)} if statement.tags else {}),
        **({"version": str(statement.version)} if statement.version != 1 else {}),
        **{column_of(wording.variant): wording.text for wording in wordings},
    }
    common = _common_author(wordings)
    if common is not None:
        return row | {"author": common} | _relations(wordings, RELATION)
    named = {AUTHOR + column_of(w.variant): w.author for w in wordings if w.author is not None}
    return row | named | _relations(wordings, RELATION)


def _object(statement: Statement, language: str, wordings: list[Wording]) -> dict[str, Any]:
    value: dict[str, Any] = {**_about_statement(statement), "language": language}
    for kind in VariantKind:
        texts = {w.variant.ordinal: w.text for w in wordings if w.variant.kind is kind}
        if 0 in texts:
            value[kind.value] = texts.pop(0)
        if texts and kind in SEVERAL:
            value[f"{kind.value}s"] = [texts.get(n) for n in range(1, max(texts) + 1)]
    common = _common_author(wordings)
    named = {column_of(w.variant): w.author for w in wordings if w.author is not None}
    relations = _relations(wordings, "")
    more = {
        "issues": dict(statement.issues),
        "tags": list(statement.tags),
        "version": statement.version if statement.version != 1 else None,
        "author": common,
        "authors": named if common is None else {},
        "relations": relations,
    }
    return value | {key: item for key, item in more.items() if item}


def _about_statement(statement: Statement) -> dict[str, str]:
    values = {
        "ref": statement.ref,
        "country": statement.country,
        "topic": statement.topic,
        "source": statement.source,
        "dimension": statement.dimension.value if statement.dimension else None,
        "leaning": statement.leaning.value if statement.leaning else None,
        "derived_from": statement.derived_from,
    }
    return {name: text for name, text in values.items() if text is not None}


def statement_lines(statement: Statement) -> Iterator[tuple[str, list[Wording]]]:
    """Yield the wordings of each language, in the statement's order of languages and the order of variants."""
    for language in dict.fromkeys((*statement.languages, *(w.language for w in statement.wordings))):
        wordings = [wording for wording in statement.wordings if wording.language == language]
        if wordings:
            yield language, sorted(wordings, key=lambda w: variant_order(w.variant))


def _common_author(wordings: list[Wording]) -> str | None:
    """Return the author of all wordings; None if there are several authors or an unknown one."""
    found = {wording.author for wording in wordings}
    return found.pop() if len(found) == 1 else None


def _relations(wordings: list[Wording], prefix: str) -> dict[str, str]:
    return {prefix + column_of(w.variant): w.relation.value for w in wordings if w.relation is not w.variant.relation}
