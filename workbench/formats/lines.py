"""Statements as files hold them: one line is one statement in one language. All of our own formats meet here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from workbench.domain.statements import Dimension, Side, Statement, VariantId, Wording
from workbench.formats.tabular import Findings

LABELS: Mapping[str, int | None] = {"-1": -1, "0": 0, "1": 1, "+1": 1}
GOLD = "gold"
"annotator of labels that a source gives without saying whose they are"


@dataclass(frozen=True, slots=True)
class Line:
    """One statement in one language, from any format."""

    file: Path
    line: int
    ref: str
    language: str
    texts: tuple[tuple[VariantId, str], ...]
    country: str | None = None
    topic: str | None = None
    issues: Mapping[str, int] = field(default_factory=dict)
    "only what is labelled: an empty cell is no label, and 0 is one"
    author: str | None = None
    "of every wording that has none of its own"
    authors: Mapping[VariantId, str] = field(default_factory=dict)
    dimension: Dimension | None = None
    leaning: Side | None = None
    source: str | None = None


SHARED = ("country", "dimension", "leaning", "source")
"what is the statement's in whatever language it is put"


def statements(
    lines: Iterable[Line], findings: Findings, columns: Mapping[str, str] | None = None
) -> tuple[Statement, ...]:
    """Put the languages of each statement together.

    The first line of a ref that names a country, topic, dimension, leaning or source gives it. What contradicts an
    earlier line is a fault; a topic may be translated. `columns`: what the file calls `ref` and the others.
    """
    by_ref: dict[str, list[Line]] = {}
    for line in lines:
        group = by_ref.setdefault(line.ref, [])
        for earlier in group:
            _compare(earlier, line, findings, columns or {})
        group.append(line)
    return tuple(_statement(ref, group) for ref, group in by_ref.items())


def _compare(earlier: Line, line: Line, findings: Findings, columns: Mapping[str, str]) -> None:
    if earlier.language == line.language and line.ref:
        found = f"{line.ref!r} in {line.language!r} again, after line {earlier.line}"
        findings.add(line.file, line.line, columns.get("ref", "ref"), found, "every ref once in each language")
        return
    for name in SHARED:
        said, before = getattr(line, name), getattr(earlier, name)
        if said is not None and before not in (None, said):
            found = f"{str(said)!r} for {line.ref!r}, and {str(before)!r} on line {earlier.line}"
            findings.add(line.file, line.line, columns.get(name, name), found, f"one {name} a statement")
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
            Wording(variant, line.language, text, line.authors.get(variant, line.author))
            for line in group
            for variant, text in line.texts
        ),
        country=next((line.country for line in group if line.country is not None), None),
        topic=next((line.topic for line in group if line.topic is not None), None),
        issues=issues,
        languages=tuple(line.language for line in group),
        dimension=next((line.dimension for line in group if line.dimension is not None), None),
        leaning=next((line.leaning for line in group if line.leaning is not None), None),
        source=next((line.source for line in group if line.source is not None), None),
    )
