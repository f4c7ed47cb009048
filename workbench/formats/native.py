"""Our own formats, for anyone's instrument: a CSV file or a folder of them, and JSON Lines. See data/README.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from workbench.data import shipped_templates, templates_of
from workbench.domain.instruments import Instrument, IssueLabel, Party
from workbench.domain.prompts import Template
from workbench.domain.statements import VariantId
from workbench.errors import UnknownName
from workbench.formats.about import About, read_about
from workbench.formats.json_lines import read_lines
from workbench.formats.lines import GOLD, LABELS, Line, statements
from workbench.formats.people import read_issue_labels, read_parties, read_party_answers, read_survey
from workbench.formats.tabular import Findings, Row, choice, read_rows, unknown
from workbench.formats.templates import read_templates
from workbench.formats.wordings import (
    AUTHOR,
    NUMBERED,
    UNNUMBERED,
    authors,
    check_author_columns,
    dimension,
    side,
    wording_columns,
)

ISSUE = "issue."
ABOUT, OWN_TEMPLATES = "instrument.toml", "templates.csv"


def read_csv(path: Path, name: str | None = None) -> Instrument:
    """Read an instrument from a folder or a single CSV file of statements.

    Raises InputError with every fault: file, line, column, what was found and what was expected.
    """
    findings = Findings()
    if path.is_dir():
        about = read_about(path / ABOUT, findings)
        about = replace(about, name=name or about.name or path.resolve().name)
        lines, issues = _csv_lines(path / "statements.csv", about, findings)
        instrument = replace(_instrument(lines, issues, about, findings), templates=_templates(path, about, findings))
        instrument = _with_people(instrument, path, findings)
    else:
        about = About(name=name or path.resolve().stem)
        lines, issues = _csv_lines(path, about, findings)
        instrument = replace(_instrument(lines, issues, about, findings), templates=templates_of())
    findings.check()
    return instrument


def read_jsonl(path: Path, name: str | None = None) -> Instrument:
    """Read an instrument from JSON Lines, one statement an object. Raises InputError as `read_csv` does."""
    findings = Findings()
    lines = read_lines(path, findings)
    issues = tuple(dict.fromkeys(issue for line in lines for issue in line.issues))
    instrument = _instrument(lines, issues, About(name=name or path.resolve().stem), findings)
    findings.check()
    return replace(instrument, templates=templates_of())


def _instrument(lines: Sequence[Line], issues: tuple[str, ...], about: About, findings: Findings) -> Instrument:
    """Return the statements with their labels; what contradicts itself is noted in `findings`."""
    found = statements(lines, findings)
    languages = [line.language for line in lines]
    return Instrument(
        name=about.name,
        title=about.title or about.name,
        statements=found,
        language=languages[0] if languages and about.language not in languages else about.language,
        version=about.version,
        source=about.source,
        citation=about.citation,
        licence=about.licence,
        issues=about.issues or issues,
        issue_labels=tuple(IssueLabel(s.ref, issue, GOLD, label) for s in found for issue, label in s.issues.items()),
        notes=about.notes,
    )


def _with_people(instrument: Instrument, folder: Path, findings: Findings) -> Instrument:
    """Return the instrument with what the other files of its folder say."""
    refs = {statement.ref for statement in instrument.statements}
    gold = instrument.issue_labels
    labels = read_issue_labels(folder / "issue_labels.csv", refs, instrument.issues, gold, findings)
    listed = read_parties(folder / "parties.csv", findings)
    answers = read_party_answers(folder / "party_answers.csv", refs, listed, findings)
    return replace(
        instrument,
        issues=instrument.issues or tuple(dict.fromkeys(label.issue for label in labels)),
        issue_labels=(*gold, *labels),
        parties=listed or tuple(Party(*key) for key in dict.fromkeys((a.country, a.party) for a in answers)),
        party_answers=answers,
        survey=read_survey(folder / "survey.csv", instrument.statements, findings),
    )


def _csv_lines(path: Path, about: About, findings: Findings) -> tuple[list[Line], tuple[str, ...]]:
    """Return the statements of a file and the issues that its columns name."""
    rows = read_rows(
        path,
        findings,
        required=("ref", "original"),
        optional=(*UNNUMBERED[1:], "dimension", "leaning", "source", "country", "topic", "language", "author"),
        prefixes=(*NUMBERED, ISSUE, AUTHOR),
    )
    if not rows:
        if not findings.found:
            findings.add(path, 2, None, "no statement", "one row a statement under the header")
        return [], ()
    header = tuple(rows[0].cells)
    columns = wording_columns(header, path, findings)
    check_author_columns(header, tuple(columns.values()), path, findings)
    issues = tuple(column.removeprefix(ISSUE) for column in header if column.startswith(ISSUE))
    for issue in issues:
        if about.issues and issue not in about.issues:
            findings.add(path, 1, ISSUE + issue, *unknown("issue", issue, about.issues))
    return [_csv_line(row, about.language, columns, issues, findings) for row in rows], issues


def _csv_line(
    row: Row, language: str, columns: dict[VariantId, str], issues: tuple[str, ...], findings: Findings
) -> Line:
    labels: dict[str, int] = {}
    for issue in issues:
        if row.get(ISSUE + issue):
            _, label = choice(row, ISSUE + issue, findings, LABELS)
            if label is not None:
                labels[issue] = label
    return Line(
        file=row.file,
        line=row.line,
        ref=row.get("ref"),
        language=row.get("language") or language,
        country=row.get("country") or None,
        topic=row.get("topic") or None,
        texts=tuple((variant, row.cells[column]) for variant, column in columns.items() if row.get(column)),
        issues=labels,
        author=row.get("author") or None,
        authors=authors(row, columns),
        dimension=dimension(row, "dimension", findings),
        leaning=side(row, "leaning", findings),
        source=row.get("source") or None,
    )


def _templates(folder: Path, about: About, findings: Findings) -> tuple[Template, ...]:
    if (folder / OWN_TEMPLATES).exists():
        return read_templates(folder / OWN_TEMPLATES, findings)
    templates: list[Template] = []
    for audit in about.templates:
        try:
            templates += shipped_templates(audit)
        except UnknownName as error:
            findings.add(folder / ABOUT, None, "templates", str(error), "a name that is there, or a templates.csv")
    return tuple(templates)
