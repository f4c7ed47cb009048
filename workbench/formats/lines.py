"""Statements as files hold them: one line is one statement in one language. Both of our own formats meet here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from workbench.domain.statements import Statement, VariantId, Wording
from workbench.formats.tabular import Findings

LABELS: Mapping[str, int | None] = {"-1": -1, "0": 0, "1": 1, "+1": 1}
GOLD = "gold"
"annotator of labels that a source gives without saying whose they are"


@dataclass(frozen=True, slots=True)
class Line:
    """One statement in one language, from either format."""

    file: Path
    line: int
    ref: str
    language: str
    country: str | None
    topic: str | None
    texts: tuple[tuple[VariantId, str], ...]
    issues: Mapping[str, int]
    "only what is labelled: an empty cell is no label, and 0 is one"
    author: str | None


def statements(lines: Iterable[Line], findings: Findings) -> tuple[Statement, ...]:
    """Put the languages of each statement together.

    The first line of a ref that names a country or topic gives it. A country or label that contradicts an earlier line
    is a fault; a topic may be translated.
    """
    by_ref: dict[str, list[Line]] = {}
    for line in lines:
        group = by_ref.setdefault(line.ref, [])
        for earlier in group:
            _compare(earlier, line, findings)
        group.append(line)
    return tuple(_statement(ref, group) for ref, group in by_ref.items())


def _compare(earlier: Line, line: Line, findings: Findings) -> None:
    if earlier.language == line.language and line.ref:
        found = f"{line.ref!r} in {line.language!r} again, after line {earlier.line}"
        findings.add(line.file, line.line, "ref", found, "every ref once in each language")
        return
    if line.country is not None and earlier.country not in (None, line.country):
        found = f"{line.country!r} for {line.ref!r}, and {earlier.country!r} on line {earlier.line}"
        findings.add(line.file, line.line, "country", found, "one country a statement")
    for issue, label in line.issues.items():
        if earlier.issues.get(issue, label) != label:
            found = f"{label} for {line.ref!r}, and {earlier.issues[issue]} on line {earlier.line}"
            findings.add(line.file, line.line, f"issue.{issue}", found, "one label a statement and issue")


def _statement(ref: str, group: list[Line]) -> Statement:
    issues: dict[str, int] = {}
    for line in group:
        issues |= line.issues
    return Statement(
        ref=ref,
        wordings=tuple(
            Wording(variant, line.language, text, line.author) for line in group for variant, text in line.texts
        ),
        country=next((line.country for line in group if line.country is not None), None),
        topic=next((line.topic for line in group if line.topic is not None), None),
        issues=issues,
        languages=tuple(line.language for line in group),
    )
