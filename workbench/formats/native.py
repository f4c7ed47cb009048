"""Our own formats, for anyone's instrument: a CSV file or a folder of them, and JSON Lines. See data/README.md."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.data import shipped_templates
from workbench.domain.instruments import Instrument, IssueLabel, Party
from workbench.domain.prompts import SLOT, Template
from workbench.domain.statements import NEGATION, OPPOSITE, ORIGINAL, VariantId, VariantKind
from workbench.errors import UnknownName
from workbench.formats.about import About, read_about
from workbench.formats.json_lines import read_lines
from workbench.formats.lines import GOLD, LABELS, Line, statements
from workbench.formats.people import read_issue_labels, read_parties, read_party_answers, read_survey
from workbench.formats.tabular import Findings, Row, choice, is_new, read_rows, unknown

ISSUE, PARAPHRASE = "issue.", "paraphrase_"
ABOUT = "instrument.toml"
CHAT, GENERATION = "chat", "generation"
"families: the one that is meant where none is named, and the one whose prompts are raw text to be continued"


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
        instrument = replace(_instrument(lines, issues, about, findings), templates=shipped_templates())
    findings.check()
    return instrument


def read_jsonl(path: Path, name: str | None = None) -> Instrument:
    """Read an instrument from JSON Lines, one statement an object. Raises InputError as `read_csv` does."""
    findings = Findings()
    lines = read_lines(path, findings)
    issues = tuple(dict.fromkeys(issue for line in lines for issue in line.issues))
    instrument = _instrument(lines, issues, About(name=name or path.resolve().stem), findings)
    findings.check()
    return replace(instrument, templates=shipped_templates())


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
        optional=("language", "country", "topic", "negation", "opposite", "author"),
        prefixes=(PARAPHRASE, ISSUE),
    )
    if not rows:
        if not findings.found:
            findings.add(path, 2, None, "no statement", "one row a statement under the header")
        return [], ()
    paraphrases = _paraphrases(rows[0], findings)
    issues = tuple(column.removeprefix(ISSUE) for column in rows[0].cells if column.startswith(ISSUE))
    for issue in issues:
        if about.issues and issue not in about.issues:
            findings.add(path, 1, ISSUE + issue, *unknown("issue", issue, about.issues))
    return [_csv_line(row, about.language, paraphrases, issues, findings) for row in rows], issues


def _paraphrases(row: Row, findings: Findings) -> dict[VariantId, str]:
    """Return the column of each paraphrase, in the order of their numbers."""
    found: dict[VariantId, str] = {}
    for column in row.cells:
        if column.startswith(PARAPHRASE):
            ordinal = re.fullmatch(r"[1-9][0-9]?", column.removeprefix(PARAPHRASE))
            if ordinal is None:
                findings.add(row.file, 1, column, "a paraphrase without a number", "paraphrase_1, paraphrase_2, …")
            else:
                found[VariantId(VariantKind.PARAPHRASE, int(ordinal[0]))] = column
    return dict(sorted(found.items()))


def _csv_line(
    row: Row, language: str, paraphrases: dict[VariantId, str], issues: tuple[str, ...], findings: Findings
) -> Line:
    columns = {ORIGINAL: "original", **paraphrases, NEGATION: "negation", OPPOSITE: "opposite"}
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
    )


def _templates(folder: Path, about: About, findings: Findings) -> tuple[Template, ...]:
    path = folder / "templates.csv"
    if not path.exists():
        try:
            return shipped_templates(about.templates)
        except UnknownName as error:
            findings.add(folder / ABOUT, None, "templates", str(error), "a name that is there, or a templates.csv")
            return ()
    rows = read_rows(
        path,
        findings,
        required=("name", "order", "user", "positive", "negative"),
        optional=("address", "system", "family", "language"),
    )
    seen: dict[Hashable, int] = {}
    return tuple(
        _template(row, findings)
        for row in rows
        if is_new(seen, (row.get("family") or CHAT, row.get("name"), row.get("order")), row, "order", findings)
    )


def _template(row: Row, findings: Findings) -> Template:
    _, inverted = choice(row, "order", findings, {"printed": 0, "swapped": 1})
    _check_slots(row, findings)
    family = row.get("family") or CHAT
    return Template(
        name=row.get("name"),
        inverted=bool(inverted),
        user=row.cells["user"],
        positive=row.get("positive"),
        negative=row.get("negative"),
        system=row.cells.get("system") or None,
        chat=family != GENERATION,
        family=family,
        address=row.get("address") or "personal",
        language=row.get("language") or "en",
    )


def _check_slots(row: Row, findings: Findings) -> None:
    """Note slots that are unknown, and a template that does not hold `{statement}` exactly once."""
    count = 0
    for column in ("system", "user"):
        text = row.cells.get(column, "")
        count += text.count(SLOT)
        for slot in re.findall(r"\{\w*\}", text):
            if slot != SLOT:
                findings.add(row.file, row.line, column, f"unknown slot {slot}", f"a template has the one slot {SLOT}")
    if count != 1:
        findings.add(row.file, row.line, "user", f"the slot {SLOT} {count} times in system and user", "it once")
