"""Our own formats, for anyone's instrument: a CSV file or a folder of them, and JSON Lines. See data/README.md."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.data import shipped_templates
from workbench.domain.instruments import Instrument, IssueLabel, Party, PartyAnswer, SurveyAnswer
from workbench.domain.prompts import SLOT, Template
from workbench.domain.statements import NEGATION, OPPOSITE, ORIGINAL, Statement, VariantId, VariantKind, Wording
from workbench.errors import WorkbenchError
from workbench.formats.tabular import Findings, Row, choice, number, read_rows, read_text

LABELS = {"-1": -1, "0": 0, "+1": 1, "1": 1, "": 0}
ANSWERS: dict[str, int | None] = {
    "agree": 1,
    "rather agree": 1,
    "completely agree": 1,
    "disagree": -1,
    "rather disagree": -1,
    "completely disagree": -1,
    "neutral": 0,
    "neither agree nor disagree": 0,
    "no opinion": None,
}
YES_NO: dict[str, int | None] = {"agree": 1, "1": 1, "yes": 1, "disagree": 0, "0": 0, "no": 0}
GOLD = "gold"
"annotator of labels that a source gives without saying whose they are"

ISSUE, PARAPHRASE = "issue.", "paraphrase_"


@dataclass(frozen=True, slots=True)
class _Line:
    """One statement in one language, from either format."""

    file: Path
    line: int
    ref: str
    language: str
    country: str | None
    topic: str | None
    texts: tuple[tuple[VariantId, str], ...]
    issues: Mapping[str, int]
    author: str | None


def read_csv(path: Path, name: str | None = None) -> Instrument:
    """Read an instrument from a folder or a single CSV file of statements.

    Raises InputError with every fault: file, line, column, what was found and what was expected.
    """
    findings = Findings()
    folder = path if path.is_dir() else None
    about = _about(folder / "instrument.toml", findings) if folder else {}
    language = str(about.get("language", "en"))
    statements = folder / "statements.csv" if folder else path
    lines = _csv_lines(statements, language, findings)
    return _instrument(lines, about, folder, name or str(about.get("name", path.stem)), language, findings)


def read_jsonl(path: Path, name: str | None = None) -> Instrument:
    """Read an instrument from JSON Lines, one statement an object. Raises InputError as `read_csv` does."""
    findings = Findings()
    return _instrument(_json_lines(path, findings), {}, None, name or path.stem, "en", findings)


def _instrument(
    lines: list[_Line], about: Mapping[str, Any], folder: Path | None, name: str, language: str, findings: Findings
) -> Instrument:
    statements = _statements(lines, findings)
    issues = tuple(about.get("issues") or dict.fromkeys(issue for line in lines for issue in line.issues))
    refs = {statement.ref for statement in statements}
    labels = [IssueLabel(s.ref, issue, GOLD, label) for s in statements for issue, label in s.issues.items()]
    parties: tuple[Party, ...] = ()
    answers: tuple[PartyAnswer, ...] = ()
    survey: tuple[SurveyAnswer, ...] = ()
    if folder is not None:
        labels += _issue_labels(folder / "issue_labels.csv", refs, issues, findings)
        parties = _parties(folder / "parties.csv", findings)
        answers = _party_answers(folder / "party_answers.csv", refs, parties, findings)
        survey = _survey(folder / "survey.csv", statements, findings)
    templates = _templates(folder, about, findings)
    findings.check()
    return Instrument(
        name=name,
        title=str(about.get("title", name)),
        statements=statements,
        language=language if any(line.language == language for line in lines) else lines[0].language,
        version=str(about.get("version", "1")),
        source=str(about.get("source", "")),
        citation=str(about.get("citation", "")),
        licence=str(about.get("licence", "")),
        issues=issues,
        templates=templates,
        issue_labels=tuple(labels),
        parties=parties,
        party_answers=answers,
        survey=survey,
        notes=tuple(about.get("notes", ())),
    )


def _about(path: Path, findings: Findings) -> Mapping[str, Any]:
    if not path.exists():
        return {}
    text = read_text(path, findings)
    try:
        return tomllib.loads(text or "")
    except tomllib.TOMLDecodeError as error:
        findings.add(path, None, None, f"text that is not TOML ({error})", "a TOML file")
        return {}


def _csv_lines(path: Path, language: str, findings: Findings) -> list[_Line]:
    rows = read_rows(
        path,
        findings,
        required=("ref", "original"),
        optional=("language", "country", "topic", "negation", "opposite", "author"),
        prefixes=(PARAPHRASE, ISSUE),
    )
    return [_csv_line(row, language, findings) for row in rows]


def _csv_line(row: Row, language: str, findings: Findings) -> _Line:
    texts = [(ORIGINAL, row.cells["original"])]
    for column, text in row.cells.items():
        if column.startswith(PARAPHRASE):
            ordinal = column.removeprefix(PARAPHRASE)
            if not ordinal.isdigit() or int(ordinal) < 1:
                findings.add(row.file, 1, column, "a paraphrase without a number", "paraphrase_1, paraphrase_2, …")
            elif text.strip():
                texts.append((VariantId(VariantKind.PARAPHRASE, int(ordinal)), text))
    for variant in (NEGATION, OPPOSITE):
        if row.get(str(variant)):
            texts.append((variant, row.cells[str(variant)]))
    issues = {}
    for column in row.cells:
        if column.startswith(ISSUE):
            known, label = choice(row, column, findings, dict(LABELS))
            if known:
                issues[column.removeprefix(ISSUE)] = label or 0
    return _Line(
        row.file,
        row.line,
        row.get("ref"),
        row.get("language") or language,
        row.get("country") or None,
        row.get("topic") or None,
        tuple(texts),
        issues,
        row.get("author") or None,
    )


KEYS: dict[str, type | tuple[type, ...]] = {
    "ref": str,
    "original": str,
    "language": str,
    "country": str,
    "topic": str,
    "paraphrases": list,
    "negation": str,
    "opposite": str,
    "issues": dict,
    "author": str,
}


def _json_lines(path: Path, findings: Findings) -> list[_Line]:
    text = read_text(path, findings) or ""
    lines = []
    for number_, content in enumerate(text.split("\n"), start=1):
        if not content.strip():
            continue
        try:
            value = json.loads(content)
        except json.JSONDecodeError as error:
            findings.add(path, number_, f"character {error.colno}", f"text that is not JSON ({error.msg})", "an object")
            continue
        line = _json_line(path, number_, value, findings)
        if line is not None:
            lines.append(line)
    if not lines and not findings.found:
        findings.add(path, 1, None, "no statement", "one JSON object a line")
    return lines


def _json_line(path: Path, line: int, value: Any, findings: Findings) -> _Line | None:
    before = len(findings.found)
    if not isinstance(value, dict):
        findings.add(path, line, None, f"a JSON {type(value).__name__}", "an object")
        return None
    for key, item in value.items():
        if key not in KEYS:
            findings.add(path, line, key, "an unknown key", "one of " + ", ".join(KEYS))
        elif item is not None and not isinstance(item, KEYS[key]):
            findings.add(path, line, key, f"{item!r}", f"a {getattr(KEYS[key], '__name__', KEYS[key])}")
    for key in ("ref", "original"):
        if not value.get(key):
            findings.add(path, line, key, "nothing", "some text")
    paraphrases, issues = value.get("paraphrases") or [], value.get("issues") or {}
    if isinstance(paraphrases, list) and not all(isinstance(text, str) for text in paraphrases):
        findings.add(path, line, "paraphrases", "something else than text", "a list of texts")
    for issue, label in issues.items() if isinstance(issues, dict) else ():
        if label not in (-1, 0, 1):
            findings.add(path, line, f"issues.{issue}", repr(label), "-1, 0 or 1")
    if len(findings.found) > before:
        return None
    texts = [(ORIGINAL, value["original"])]
    texts += [(VariantId(VariantKind.PARAPHRASE, n), text) for n, text in enumerate(paraphrases, start=1)]
    texts += [(variant, value[str(variant)]) for variant in (NEGATION, OPPOSITE) if value.get(str(variant))]
    return _Line(
        path, line, value["ref"], value.get("language") or "en", value.get("country"), value.get("topic"),
        tuple(texts), issues, value.get("author"),
    )  # fmt: skip


def _statements(lines: list[_Line], findings: Findings) -> tuple[Statement, ...]:
    """Put the languages of each statement together; the first line of a ref gives its country, topic and issues."""
    seen: dict[tuple[str, str], _Line] = {}
    by_ref: dict[str, list[_Line]] = {}
    for line in lines:
        first = seen.setdefault((line.ref, line.language), line)
        if first is not line:
            findings.add(
                line.file, line.line, "ref", f"{line.ref!r} in {line.language!r} again, after line {first.line}",
                "every ref once in each language",
            )  # fmt: skip
        by_ref.setdefault(line.ref, []).append(line)
    return tuple(
        Statement(
            ref=ref,
            wordings=tuple(
                Wording(variant, line.language, text, line.author) for line in group for variant, text in line.texts
            ),
            country=group[0].country,
            topic=group[0].topic,
            issues=dict(group[0].issues),
            languages=tuple(line.language for line in group),
        )
        for ref, group in by_ref.items()
    )


def _known(row: Row, column: str, known: set[str], findings: Findings) -> bool:
    if row.get(column) in known:
        return True
    findings.add(row.file, row.line, column, repr(row.get(column)), f"a {column} that the instrument has")
    return False


def _issue_labels(path: Path, refs: set[str], issues: tuple[str, ...], findings: Findings) -> list[IssueLabel]:
    labels = []
    for row in _optional(path, findings, ("ref", "issue", "annotator", "label")):
        good, label = choice(row, "label", findings, {k: v for k, v in LABELS.items() if k})
        if _known(row, "ref", refs, findings) & _known(row, "issue", set(issues), findings) & good:
            labels.append(IssueLabel(row.get("ref"), row.get("issue"), row.get("annotator"), label or 0))
    return labels


def _parties(path: Path, findings: Findings) -> tuple[Party, ...]:
    parties: dict[tuple[str, str], Party] = {}
    for row in _optional(path, findings, ("country", "party"), ("position",)):
        key = (row.get("country"), row.get("party"))
        if key in parties:
            findings.add(path, row.line, "party", f"{key[1]!r} of {key[0]!r} again", "every party once a country")
        parties[key] = Party(*key, number(row, "position", findings, low=0, high=10))
    return tuple(parties.values())


def _party_answers(
    path: Path, refs: set[str], parties: tuple[Party, ...], findings: Findings
) -> tuple[PartyAnswer, ...]:
    known_parties = {(party.country, party.name) for party in parties}
    answers = []
    for row in _optional(path, findings, ("country", "party", "ref", "answer")):
        country, party = row.get("country"), row.get("party")
        if (country, party) not in known_parties:
            findings.add(path, row.line, "party", f"{party!r} of {country!r}", "a party of parties.csv")
        good, stance = choice(row, "answer", findings, ANSWERS)
        if _known(row, "ref", refs, findings) and good:
            answers.append(PartyAnswer(country, party, row.get("ref"), row.get("answer"), stance))
    return tuple(answers)


def _survey(path: Path, statements: tuple[Statement, ...], findings: Findings) -> tuple[SurveyAnswer, ...]:
    wordings = {(s.ref, str(w.variant)) for s in statements for w in s.wordings}
    answers = []
    for row in _optional(path, findings, ("respondent", "ref", "variant", "answer")):
        good, agrees = choice(row, "answer", findings, YES_NO)
        if (row.get("ref"), row.get("variant")) not in wordings:
            found = f"{row.get('variant')!r} of {row.get('ref')!r}"
            findings.add(path, row.line, "variant", found, "a wording of statements.csv: original, paraphrase-1, …")
        elif good:
            variant = VariantId.parse(row.get("variant"))
            answers.append(SurveyAnswer(row.get("respondent"), row.get("ref"), variant, bool(agrees)))
    return tuple(answers)


def _optional(path: Path, findings: Findings, required: tuple[str, ...], more: tuple[str, ...] = ()) -> list[Row]:
    return read_rows(path, findings, required=required, optional=more) if path.exists() else []


def _templates(folder: Path | None, about: Mapping[str, Any], findings: Findings) -> tuple[Template, ...]:
    path = folder / "templates.csv" if folder else None
    if path is None or not path.exists():
        try:
            return shipped_templates(str(about.get("templates", "reliability")))
        except WorkbenchError as error:
            findings.add(
                folder / "instrument.toml" if folder else Path(), None, "templates", str(error), "a known name"
            )
            return ()
    rows = read_rows(
        path,
        findings,
        required=("name", "order", "user", "positive", "negative"),
        optional=("address", "system", "family", "language"),
    )
    templates: dict[tuple[str, bool], Template] = {}
    for row in rows:
        _, inverted = choice(row, "order", findings, {"printed": 0, "swapped": 1})
        check_slots(row, findings)
        key = (row.get("name"), bool(inverted))
        if key in templates:
            findings.add(path, row.line, "order", f"{row.get('order')!r} of {key[0]!r} again", "each order once")
        templates[key] = Template(
            *key,
            user=row.cells["user"],
            positive=row.get("positive"),
            negative=row.get("negative"),
            system=row.cells.get("system") or None,
            family=row.get("family") or "chat",
            address=row.get("address") or "personal",
            language=row.get("language") or "en",
        )
    return tuple(templates.values())


_SLOTS = re.compile(r"\{(\w*)\}")


def check_slots(row: Row, findings: Findings) -> None:
    """Note slots that are unknown, and a template that does not hold `{statement}` exactly once."""
    found = 0
    for column in ("system", "user"):
        text = row.cells.get(column, "")
        found += text.count(SLOT)
        for name in _SLOTS.findall(text):
            if f"{{{name}}}" != SLOT:
                findings.add(row.file, row.line, column, f"the unknown slot {{{name}}}", f"the one slot {SLOT}")
    if found != 1:
        findings.add(row.file, row.line, "user", f"the slot {SLOT} {found} times in system and user", "it once")
