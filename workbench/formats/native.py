"""Our own formats for any instrument: a CSV file or a folder of them, and JSON Lines.

See data/README.md.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import tomli_w

from workbench.csv_files import csv_text, guarded
from workbench.data import INSTRUMENT_AUDITS, QUESTIONNAIRE_AUDITS, templates_of
from workbench.domain.instruments import GOLD, Instrument, IssueLabel, Party, gold_labels
from workbench.domain.prompts import Template
from workbench.domain.questionnaires import (
    AnswerOption,
    Form,
    Pole,
    Question,
    Questionnaire,
    QuestionRole,
)
from workbench.domain.statements import (
    ORIGINAL,
    Dimension,
    Relation,
    Side,
    Statement,
    VariantId,
    VariantKind,
    Wording,
    variant_order,
)
from workbench.errors import UnknownName
from workbench.formats.about import (
    DEFINITIONS,
    SCALES,
    TITLES,
    About,
    IssueNames,
    note_twin,
    read_about,
)
from workbench.formats.answers import (
    ANSWERS,
    PUBLISHED,
    PUBLISHED_COLUMNS,
    RESPONDENTS,
    DeclaredColumns,
    answer_rows,
    facts_rows,
    looks_like_answers,
    published_rows,
    read_answers,
    read_published,
    with_facts,
)
from workbench.formats.lines import (
    AUTHOR,
    LABELS,
    NUMBERED,
    RELATION,
    SEVERAL,
    UNNUMBERED,
    WordingLine,
    authors,
    check_columns_about,
    check_texts,
    column_of,
    one_of,
    read_column,
    read_lines,
    relations,
    statements,
    tag_cell,
    tags_of,
    wording_columns,
)
from workbench.formats.packed import name_of
from workbench.formats.people import (
    StanceRule,
    party_answer_rows,
    read_issue_labels,
    read_parties,
    read_party_answers,
    read_survey,
)
from workbench.formats.questionnaires import COLUMNS, check_role_column, questionnaire_of
from workbench.formats.records import AS_IS, Findings, ReadSettings, header_of
from workbench.formats.tabular import Row, choice, read_rows, unknown
from workbench.formats.templates import COLUMNS as TEMPLATE_COLUMNS
from workbench.formats.templates import read_lexicons, read_templates, template_rows

ISSUE = "issue."
MEANINGS = {
    "dimension": "economic or cultural",
    "leaning": "left or right: the side of those who agree",
    "source": "survey or test that it comes from",
    "country": "country that it is about",
    "topic": "its topic",
    "tags": "tags, with commas between them",
    "derived_from": "ref of the statement that it was made from",
    "version": "its version, a number",
    "language": "of the texts in the row, such as de; a row for each language",
    "author": "who wrote the texts in the row",
}
ABOUT_STATEMENTS = (*MEANINGS, *COLUMNS)
LAST_VERSION = 999_999
DEFAULT = "en"
"the language if neither a row nor instrument.toml names one"
STATEMENTS, ABOUT, OWN_TEMPLATES = "statements.csv", "instrument.toml", "templates.csv"
BEARING = (None, "ref", "role")
"""columns of statements whose faults make the list of questions uncertain. None stands for a
whole line or file."""


def statement_columns() -> str:
    """Return the columns of a CSV of statements, as text for people.

    It has a line for each, from the columns that this module reads.
    """
    lines = {
        "ref": "a short name, each once; needed",
        UNNUMBERED[0]: "the statement; needed",
        ", ".join(UNNUMBERED[1:]): "other wordings",
        ", ".join(
            f"{prefix}1" for prefix in NUMBERED
        ): "other wordings of which there may be several: 1, 2, …",
        **MEANINGS,
        ", ".join(COLUMNS): "of questionnaires: see data/README.md",
        f"{ISSUE}NAME": "a policy issue: 1 if agreeing supports it, -1 if it opposes it, 0 if "
        "not related",
        f"{AUTHOR}COLUMN, {RELATION}COLUMN": "author of a wording; its expected stance: "
        f"{', '.join(Relation)}",
    }
    wrapped = (
        textwrap.wrap(f"{name}: {about}", 74, subsequent_indent="  ")
        for name, about in lines.items()
    )
    return "\n".join(
        [
            "Columns of a CSV file of statements:",
            *(line for lines_of_column in wrapped for line in lines_of_column),
        ]
    )


def read_csv(path: Path, name: str | None = None, settings: ReadSettings = AS_IS) -> Instrument:
    """Return the instrument in a folder or in a single table of statements.

    `settings` apply to a single table, which does not describe itself. In a folder, only the
    meanings of parties' answers apply.

    Raises InputError with every fault: file, line, column, finding and expectation.
    """
    findings = Findings()
    if path.is_dir():
        about = read_about(path / ABOUT, findings)
        about = replace(about, name=name or about.name or path.resolve().name)
        lines, issues = _csv_lines(path / STATEMENTS, about, findings)
        instrument = replace(
            _instrument(lines, issues, about, findings),
            templates=_templates(path, about, lines, findings),
        )
        if lines:  # otherwise every ref of the other files would be unknown
            instrument = _with_people(
                instrument, path, about, StanceRule(settings.answers), findings
            )
        instrument = _with_answers(instrument, path, about, findings)
        instrument = replace(instrument, lexicons=read_lexicons(path, findings))
    else:
        about = About(name=name or Path(name_of(path)).stem, language=settings.language)
        lines, issues = _csv_lines(path, about, findings, settings)
        instrument = replace(
            _instrument(lines, issues, about, findings),
            templates=templates_of(_fitting(lines), [line.language for line in lines]),
        )
    findings.check()
    return instrument


def read_jsonl(path: Path, name: str | None = None) -> Instrument:
    """Read an instrument from JSON Lines, one object per statement.

    Raises InputError as `read_csv` does.
    """
    findings = Findings()
    lines = read_lines(path, findings)
    names = IssueNames()
    for line in lines:
        for issue in line.issues:
            if (twin := names.twin(issue)) is not None:
                note_twin(path, line.line, f"issues.{issue}", issue, twin, findings)
    issues = tuple(dict.fromkeys(issue for line in lines for issue in line.issues))
    instrument = _instrument(lines, issues, About(name=name or Path(name_of(path)).stem), findings)
    findings.check()
    return replace(
        instrument, templates=templates_of(_fitting(lines), [line.language for line in lines])
    )


def _instrument(
    lines: Sequence[WordingLine], issues: tuple[str, ...], about: About, findings: Findings
) -> Instrument:
    """Return the statements with their labels. Contradictions are noted in `findings`."""
    for line in lines:
        check_texts(line, findings)
    merged_statements = statements(lines, findings, retired=about.retired)
    languages = [line.language for line in lines]
    return Instrument(
        name=about.name,
        title=about.title or about.name,
        statements=merged_statements,
        language=about.language
        or next(iter(languages if DEFAULT not in languages else ()), DEFAULT),
        version=about.version,
        source=about.source,
        citation=about.citation,
        licence=about.licence,
        issues=issues if about.issues is None else about.issues,
        definitions=about.definitions,
        issue_labels=tuple(
            IssueLabel(statement.ref, issue, GOLD, label)
            for statement in merged_statements
            for issue, label in statement.issues.items()
        ),
        questionnaire=questionnaire_of(lines, merged_statements, about.scales, findings),
        notes=about.notes,
    )


def _with_people(
    instrument: Instrument, folder: Path, about: About, rule: StanceRule, findings: Findings
) -> Instrument:
    """Return the instrument with the data of the other files of its folder."""
    has_issue_list = bool(instrument.issues) or about.issues is not None
    refs = {statement.ref for statement in instrument.statements}
    statement_labels = instrument.issue_labels
    labels = (
        *statement_labels,
        *read_issue_labels(
            folder / "issue_labels.csv", refs, instrument.issues, statement_labels, findings
        ),
    )
    gold = gold_labels(labels)
    parties = read_parties(folder / "parties.csv", findings)
    answers = read_party_answers(folder / "party_answers.csv", refs, parties, findings, rule)
    return replace(
        instrument,
        statements=tuple(
            replace(statement, issues=gold.get(statement.ref, {}))
            for statement in instrument.statements
        ),
        issues=instrument.issues
        if has_issue_list
        else tuple(dict.fromkeys(label.issue for label in labels)),
        issue_labels=labels,
        parties=parties
        or tuple(
            Party(*key)
            for key in dict.fromkeys((answer.country, answer.party) for answer in answers)
        ),
        party_answers=answers,
        survey=read_survey(folder / "survey.csv", instrument.statements, findings),
    )


def _with_answers(
    instrument: Instrument, folder: Path, about: About, findings: Findings
) -> Instrument:
    """Return the instrument with people's answers to its questions.

    Faults that follow from faults of the statements are not noted.
    """
    path = folder / ANSWERS
    questionnaire = instrument.questionnaire
    is_certain = not any(
        fault.file == STATEMENTS and fault.column in BEARING for fault in findings.found
    )
    is_certain = is_certain and bool(instrument.statements)
    if questionnaire is None and about.scales and is_certain:
        findings.add(
            folder / ABOUT, None, SCALES, "scales, and no statement with a role", "a column role"
        )
    if questionnaire is not None:
        published = read_published(folder / PUBLISHED, questionnaire, findings)
        questionnaire = replace(questionnaire, published=published)
        instrument = replace(instrument, questionnaire=questionnaire)
    if not path.exists():
        return instrument
    refs = {statement.ref for statement in instrument.statements}
    declared = DeclaredColumns(about.missing, about.ignored)
    people = questionnaire or Questionnaire((), ())
    respondents, notes = read_answers(
        path, people, refs, findings, sure=is_certain, declared=declared
    )
    if questionnaire is None:
        return instrument
    return replace(
        instrument,
        questionnaire=replace(
            questionnaire, respondents=with_facts(folder / RESPONDENTS, respondents, findings)
        ),
        notes=(*instrument.notes, *notes),
    )


def _csv_lines(
    path: Path, about: About, findings: Findings, settings: ReadSettings = AS_IS
) -> tuple[list[WordingLine], tuple[str, ...]]:
    """Return the statements of a file, and the issues that its columns name."""
    if looks_like_answers(header_of(path, settings)):
        problem = "respondents and no refs, which looks like a file of people's answers"
        findings.add(
            path,
            1,
            None,
            problem,
            "statements with columns ref and original; answers have --format answers",
        )
        return [], ()
    rows = read_rows(
        path,
        findings,
        required=("ref", "original"),
        optional=(*UNNUMBERED[1:], *ABOUT_STATEMENTS),
        prefixes=(*NUMBERED, ISSUE, AUTHOR, RELATION),
        may_be_empty=("original",),
        guarded=True,
        column=read_column,
        settings=settings,
    )
    if not rows:
        if not findings.found:
            findings.add(path, 2, None, "no statement", "one row per statement under the header")
        return [], ()
    header = tuple(rows[0].cells)
    check_role_column(path, rows, findings)
    columns = wording_columns(header, path, findings)
    for prefix in (AUTHOR, RELATION):
        check_columns_about(prefix, header, tuple(columns.values()), path, findings)
    issues = tuple(column.removeprefix(ISSUE) for column in header if column.startswith(ISSUE))
    _check_issues(path, issues, about, findings)
    language = about.language or DEFAULT
    return [_csv_line(row, language, columns, issues, findings) for row in rows], issues


def _check_issues(path: Path, issues: tuple[str, ...], about: About, findings: Findings) -> None:
    names = IssueNames()
    for issue in issues:
        twin = names.twin(issue)
        if about.issues and issue not in about.issues:
            findings.add(path, 1, ISSUE + issue, *unknown("issue", issue, about.issues))
        elif twin is not None:
            note_twin(path, 1, ISSUE + issue, issue, twin, findings)


def _csv_line(
    row: Row,
    language: str,
    columns: dict[VariantId, str],
    issues: tuple[str, ...],
    findings: Findings,
) -> WordingLine:
    labels: dict[str, int] = {}
    for issue in issues:
        if row.get(ISSUE + issue):
            _, label = choice(row, ISSUE + issue, findings, LABELS)
            if label is not None:
                labels[issue] = label
    return WordingLine(
        file=row.file,
        line=row.line,
        ref=row.get("ref"),
        language=row.get("language") or language,
        country=row.get("country") or None,
        topic=row.get("topic") or None,
        texts=tuple(
            (variant, row.cells[column]) for variant, column in columns.items() if row.get(column)
        ),
        issues=labels,
        author=row.get("author") or None,
        authors=authors(row, columns),
        dimension=one_of(row, "dimension", Dimension, findings),
        leaning=one_of(row, "leaning", Side, findings),
        source=row.get("source") or None,
        relations=relations(row, columns, findings),
        tags=tags_of(row.get("tags")) or None,
        derived_from=row.get("derived_from") or None,
        version=_version(row, findings),
        role=one_of(row, "role", QuestionRole, findings),
        form=one_of(row, "form", Form, findings),
        scale=row.get("scale") or None,
        yes=one_of(row, "yes", Pole, findings),
    )


def _version(row: Row, findings: Findings) -> int | None:
    text = row.get("version")
    if not text:
        return None
    if re.fullmatch("[0-9]{1,6}", text) and int(text) >= 1:
        return int(text)
    findings.add(
        row.file, row.line, "version", repr(text), f"a whole number from 1 to {LAST_VERSION:,}"
    )
    return None


def _templates(
    folder: Path, about: About, lines: Sequence[WordingLine], findings: Findings
) -> tuple[Template, ...]:
    if (folder / OWN_TEMPLATES).exists():
        return read_templates(folder / OWN_TEMPLATES, findings)
    templates: list[Template] = []
    for audit in _fitting(lines) if about.templates is None else about.templates:
        try:
            templates += templates_of((audit,), [line.language for line in lines])
        except UnknownName as error:
            findings.add(
                folder / ABOUT,
                None,
                "templates",
                str(error),
                "the name of an audit, or a templates.csv",
            )
    return tuple(templates)


def _fitting(lines: Sequence[WordingLine]) -> tuple[str, ...]:
    """Return the audits that fit the statements.

    They are those of questionnaires if any statement has a role.
    """
    return QUESTIONNAIRE_AUDITS if any(line.role for line in lines) else INSTRUMENT_AUDITS


ABOUT_COLUMNS = (
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
"columns before the wordings. Empty columns are left out."


def csv_files(instrument: Instrument) -> dict[str, str]:
    """Return the files of a folder as name -> text.

    Empty files are included, so that no older file is read with the others.
    """
    return {
        "instrument.toml": _about(instrument),
        "statements.csv": _statements(instrument),
        "issue_labels.csv": _csv(
            ("ref", "issue", "annotator", "label"),
            (
                (label.statement, label.issue, label.annotator, str(label.label))
                for label in instrument.issue_labels
            ),
        ),
        "parties.csv": _csv(
            ("country", "party", "position"),
            (
                (party.country, party.name, "" if party.position is None else repr(party.position))
                for party in instrument.parties
            ),
        ),
        "party_answers.csv": _csv(*party_answer_rows(instrument.party_answers)),
        "survey.csv": _csv(
            ("respondent", "ref", "variant", "answer"),
            (
                (
                    answer.respondent,
                    answer.statement,
                    str(answer.variant),
                    "agree" if answer.agrees else "disagree",
                )
                for answer in instrument.survey
            ),
        ),
        ANSWERS: _answers(_questionnaire(instrument)),
        RESPONDENTS: _csv(*facts_rows(_questionnaire(instrument))),
        PUBLISHED: _csv(PUBLISHED_COLUMNS, published_rows(_questionnaire(instrument))),
        "templates.csv": _csv(TEMPLATE_COLUMNS, template_rows(instrument.templates)),
    }


def json_lines(instrument: Instrument) -> str:
    """Return the statements as JSON Lines, with one object per statement and language."""
    question_columns = _question_columns(instrument)
    objects = (
        _object(statement, language, wordings) | question_columns.get(statement.ref, {})
        for statement in instrument.statements
        for language, wordings in statement_lines(statement)
    )
    return "".join(json.dumps(line_object, ensure_ascii=False) + "\n" for line_object in objects)


def origins_elsewhere(instrument: Instrument) -> tuple[str, ...]:
    """Return the refs that statements are derived from but that the instrument lacks.

    They are archived.
    """
    refs = {statement.ref for statement in instrument.statements}
    origins = (
        statement.derived_from
        for statement in instrument.statements
        if statement.derived_from is not None
    )
    return tuple(dict.fromkeys(ref for ref in origins if ref not in refs))


def _about(instrument: Instrument) -> str:
    texts = {
        name: getattr(instrument, name)
        for name in ("name", "title", "version", "language", "source", "citation", "licence")
        if getattr(instrument, name)
    }
    retired = origins_elsewhere(instrument)
    tables = {
        TITLES: {issue.name: issue.title for issue in instrument.definitions},
        DEFINITIONS: {
            issue.name: issue.definition for issue in instrument.definitions if issue.definition
        },
    }
    scales = {
        scale.name: [_option(option) for option in scale.options]
        for scale in _questionnaire(instrument).scales
    }
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


def _option(option: AnswerOption) -> dict[str, object]:
    return {"values": option.values, "meaning": option.meaning.value}


def _questionnaire(instrument: Instrument) -> Questionnaire:
    return instrument.questionnaire or Questionnaire((), ())


def _answers(questionnaire: Questionnaire) -> str:
    header, rows = answer_rows(questionnaire)
    return _csv(header, rows)


def _question_columns(instrument: Instrument) -> dict[str, dict[str, str]]:
    """Return the columns of each question beside its statement, by the ref of the statement."""
    return {
        question.ref: _about_question(question) for question in _questionnaire(instrument).questions
    }


def _about_question(question: Question) -> dict[str, str]:
    values = (
        question.role.value,
        question.form.value,
        question.scale,
        question.leaning and question.leaning.value,
    )
    return {name: value for name, value in zip(COLUMNS, values, strict=True) if value}


def _csv(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    return csv_text(list(map(guarded, header)), ([guarded(cell) for cell in row] for row in rows))


def _statements(instrument: Instrument) -> str:
    """Return the table of statements.

    Its columns are those that are not empty, in a fixed order.
    """
    question_columns = _question_columns(instrument)
    rows = [
        _row(statement, *line) | question_columns.get(statement.ref, {})
        for statement in instrument.statements
        for line in statement_lines(statement)
    ]
    variants = sorted(
        {wording.variant for statement in instrument.statements for wording in statement.wordings}
        | {ORIGINAL},
        key=variant_order,
    )
    columns_about = [
        f"{prefix}{column_of(variant)}" for prefix in (AUTHOR, RELATION) for variant in variants
    ]
    used_columns = {"ref", "language", "original", *(column for row in rows for column in row)}
    columns = [
        column
        for column in (*ABOUT_COLUMNS, *map(column_of, variants), "author", *columns_about)
        if column in used_columns
    ]
    return _csv(tuple(columns), (tuple(row.get(column, "") for column in columns) for row in rows))


def _row(statement: Statement, language: str, wordings: list[Wording]) -> dict[str, str]:
    row = {
        **{
            name: text
            for name, text in _about_statement(statement).items()
            if isinstance(text, str)
        },
        "language": language,
        **({"tags": tag_cell(statement.tags)} if statement.tags else {}),
        **({"version": str(statement.version)} if statement.version != 1 else {}),
        **{column_of(wording.variant): wording.text for wording in wordings},
    }
    common_author = _common_author(wordings)
    if common_author is not None:
        return row | {"author": common_author} | _relations(wordings, RELATION)
    author_by_column = {
        AUTHOR + column_of(wording.variant): wording.author
        for wording in wordings
        if wording.author is not None
    }
    return row | author_by_column | _relations(wordings, RELATION)


def _object(statement: Statement, language: str, wordings: list[Wording]) -> dict[str, Any]:
    value: dict[str, Any] = {**_about_statement(statement), "language": language}
    for kind in VariantKind:
        texts = {
            wording.variant.ordinal: wording.text
            for wording in wordings
            if wording.variant.kind is kind
        }
        if 0 in texts:
            value[kind.value] = texts.pop(0)
        if texts and kind in SEVERAL:
            value[f"{kind.value}s"] = [texts.get(number) for number in range(1, max(texts) + 1)]
    common_author = _common_author(wordings)
    author_by_column = {
        column_of(wording.variant): wording.author
        for wording in wordings
        if wording.author is not None
    }
    relations = _relations(wordings, "")
    further_values = {
        "issues": dict(statement.issues),
        "tags": list(statement.tags),
        "version": statement.version if statement.version != 1 else None,
        "author": common_author,
        "authors": author_by_column if common_author is None else {},
        "relations": relations,
    }
    return value | {key: item for key, item in further_values.items() if item}


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
    """Yield the wordings of each language, in the statement's order of languages.

    The wordings come in the order of variants.
    """
    for language in dict.fromkeys(
        (*statement.languages, *(wording.language for wording in statement.wordings))
    ):
        wordings = [wording for wording in statement.wordings if wording.language == language]
        if wordings:
            yield language, sorted(wordings, key=lambda wording: variant_order(wording.variant))


def _common_author(wordings: list[Wording]) -> str | None:
    """Return the author of all wordings, or None if there are several authors or an unknown one."""
    author_names = {wording.author for wording in wordings}
    return author_names.pop() if len(author_names) == 1 else None


def _relations(wordings: list[Wording], prefix: str) -> dict[str, str]:
    return {
        prefix + column_of(wording.variant): wording.relation.value
        for wording in wordings
        if wording.relation is not wording.variant.relation
    }
