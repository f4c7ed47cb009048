"""Statements as in files: one line is one statement in one language. Shared by all of our own formats."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from workbench.domain.issue_gold import GOLD
from workbench.domain.questionnaires import Form, Pole, Role
from workbench.domain.statements import (
    MOST_CHARACTERS,
    Dimension,
    Relation,
    Side,
    Statement,
    VariantId,
    VariantKind,
    Wording,
)
from workbench.formats.tabular import Findings
from workbench.formats.wordings import column_of

__all__ = ["GOLD", "LABELS", "Line", "check_texts", "statements"]

LABELS: Mapping[str, int | None] = {"-1": -1, "0": 0, "1": 1, "+1": 1}


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
    "only labelled issues: an empty cell is not a label, 0 is a label"
    author: str | None = None
    "author of every wording without an author of its own"
    authors: Mapping[VariantId, str] = field(default_factory=dict)
    dimension: Dimension | None = None
    leaning: Side | None = None
    source: str | None = None
    relations: Mapping[VariantId, Relation] = field(default_factory=dict)
    "only those that differ from the relations of the kinds"
    tags: tuple[str, ...] | None = None
    "None if not given, as for `derived_from` and `version`"
    derived_from: str | None = None
    version: int | None = None
    role: Role | None = None
    "of the statement as a question of a questionnaire, like the next three fields"
    form: Form | None = None
    scale: str | None = None
    yes: Pole | None = None


SHARED = (
    *("country", "dimension", "leaning", "source", "tags", "derived_from", "version"),
    *("role", "form", "scale", "yes"),
)
"fields that are the same for all languages of a statement"


def check_texts(line: Line, findings: Findings, columns: Mapping[str, str] | None = None) -> None:
    """Note a line without an original, unless it has only a question, and wordings that are too long."""
    kinds = {variant.kind for variant, _ in line.texts}
    if VariantKind.ORIGINAL not in kinds:
        name = (columns or {}).get("original", "original")
        others = [variant for variant, _ in line.texts if variant.kind is not VariantKind.QUESTION]
        if others:
            found = f"a {others[0].kind.value.replace('_', ' ')} without an original"
            findings.add(line.file, line.line, column_of(others[0]), found, f"some text in {name!r} of the same line")
        elif not kinds:
            findings.add(line.file, line.line, name, "nothing", "some text")
    for variant, text in line.texts:
        if len(text) > MOST_CHARACTERS:
            found = f"a text of {len(text):,} characters"
            findings.add(line.file, line.line, column_of(variant), found, f"at most {MOST_CHARACTERS:,} characters")


def statements(
    lines: Iterable[Line],
    findings: Findings,
    columns: Mapping[str, str] | None = None,
    retired: Collection[str] = (),
) -> tuple[Statement, ...]:
    """Merge the languages of each statement.

    The country, topic, dimension, leaning, source, tags, origin and version come from the first line of a ref that
    gives them. A contradiction with an earlier line is a fault; a topic may be translated. `columns`: the file's names
    for `ref` and other columns. `retired`: refs that are no longer in the file but that others may be derived from.
    """
    by_ref: dict[str, list[Line]] = {}
    for line in lines:
        group = by_ref.setdefault(line.ref, [])
        for earlier in group:
            _compare(earlier, line, findings, columns or {})
        group.append(line)
    _check_origins(by_ref, retired, findings)
    return tuple(_statement(ref, group) for ref, group in by_ref.items())


def _compare(earlier: Line, line: Line, findings: Findings, columns: Mapping[str, str]) -> None:
    if earlier.language == line.language and line.ref:
        found = f"{line.ref!r} in {line.language!r} again, after line {earlier.line}"
        findings.add(line.file, line.line, columns.get("ref", "ref"), found, "every ref once in each language")
        return
    for name in SHARED:
        said, before = getattr(line, name), getattr(earlier, name)
        if said is not None and before not in (None, said):
            found = f"{_said(said)!r} for {line.ref!r}, and {_said(before)!r} on line {earlier.line}"
            findings.add(line.file, line.line, columns.get(name, name), found, f"one {name} per statement")
    for issue, label in line.issues.items():
        if earlier.issues.get(issue, label) != label:
            found = f"{label} for {line.ref!r}, and {earlier.issues[issue]} on line {earlier.line}"
            findings.add(line.file, line.line, f"issue.{issue}", found, "one label per statement and issue")


def _said(value: object) -> str:
    return "; ".join(value) if isinstance(value, tuple) else str(value)


def _check_origins(by_ref: Mapping[str, list[Line]], retired: Collection[str], findings: Findings) -> None:
    """Note origins that do not exist, and circular chains of origins."""
    named = {
        ref: next((line for line in group if line.derived_from is not None), None) for ref, group in by_ref.items()
    }
    origins = {ref: line for ref, line in named.items() if line is not None}
    for line in origins.values():
        if line.derived_from not in by_ref and line.derived_from not in retired:
            found = f"{line.derived_from!r}, which is not a statement of this file"
            findings.add(line.file, line.line, "derived_from", found, "the ref of another statement")
    done: set[str] = set()
    for begin in origins:
        chain: list[str] = []
        ref: str | None = begin
        while ref is not None and ref in origins and ref not in done:
            if ref in chain:
                circle = [*chain[chain.index(ref) :], ref]
                at = origins[ref]
                found = "a circle: " + " → ".join(repr(one) for one in circle)
                findings.add(at.file, at.line, "derived_from", found, "a chain that has an end")
                break
            chain.append(ref)
            ref = origins[ref].derived_from
        done.update(chain)


def _statement(ref: str, group: list[Line]) -> Statement:
    issues: dict[str, int] = {}
    for line in group:
        issues |= line.issues
    return Statement(
        ref=ref,
        wordings=tuple(
            Wording(variant, line.language, text, line.authors.get(variant, line.author), line.relations.get(variant))
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
        tags=next((line.tags for line in group if line.tags is not None), ()),
        derived_from=next((line.derived_from for line in group if line.derived_from is not None), None),
        version=next((line.version for line in group if line.version is not None), 1),
    )
