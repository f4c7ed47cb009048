"""The columns of wordings and the columns about them, with the same names in all of our formats.

`original`, `question`, `paraphrase_1`, `paraphrase_2`, `negation`, `opposite`, `reformulation`,
`reformulation_1`, `political_opposite`, `political_opposite_1`, …, `changed`, `key_typo_1`, …

`author.COLUMN` names the author of that column's wording, and `relation.COLUMN` gives the expected
relation of its stance to the stance on the original.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from workbench.domain.questionnaires import Form, Pole, QuestionRole
from workbench.domain.statements import (
    MOST_CHARACTERS,
    Dimension,
    Relation,
    Side,
    Statement,
    VariantId,
    VariantKind,
    Wording,
    variant_order,
)
from workbench.formats.records import Findings, RepeatedKey, is_text, read_text, without_repeats
from workbench.formats.tabular import Row, unknown

Word = TypeVar("Word", bound=str)
Value = TypeVar("Value")

AUTHOR, RELATION = "author.", "relation."
ALWAYS_NUMBERED = (
    *(VariantKind.PARAPHRASE, VariantKind.KEY_TYPO, VariantKind.MIDDLE_RANDOM),
    VariantKind.LETTER_SWAP,
)
SEVERAL = (*ALWAYS_NUMBERED, VariantKind.REFORMULATION, VariantKind.POLITICAL_OPPOSITE)
"kinds with any number of wordings per statement"
UNNUMBERED = tuple(kind.value for kind in VariantKind if kind not in ALWAYS_NUMBERED)
"columns without a number, `original` first"
NUMBERED = tuple(f"{kind.value}_" for kind in SEVERAL)
"prefixes of numbered columns"
MOST = 99


def column_of(variant: VariantId) -> str:
    """Return the name of a wording's column: `paraphrase_2`, `reformulation`."""
    return str(variant).replace("-", "_")


def read_column(name: str) -> str:
    """Return the own name of a column that has the name on screens, as in `paraphrase-2`.

    Any other name stays as it is.

    Examples
    --------
    >>> read_column("paraphrase-2"), read_column("author.political opposite"), read_column("issue.a-b")
    ('paraphrase_2', 'author.political_opposite', 'issue.a-b')
    """  # noqa: E501
    about = next((prefix for prefix in (AUTHOR, RELATION) if name.startswith(prefix)), "")
    column = re.sub(r"[- ]", "_", name.removeprefix(about))
    return about + column if column in UNNUMBERED or column.startswith(NUMBERED) else name


def wording_columns(header: Iterable[str], file: Path, findings: Findings) -> dict[VariantId, str]:
    """Return the column of each wording in the order of variants.

    A column that lacks its number is noted.
    """
    column_by_variant: dict[VariantId, str] = {}
    for column in header:
        kind = next((kind for kind in SEVERAL if column.startswith(f"{kind.value}_")), None)
        if column in UNNUMBERED:
            column_by_variant[VariantId(VariantKind(column))] = column
        elif kind is not None:
            ordinal = re.fullmatch(r"[1-9][0-9]?", column.removeprefix(f"{kind.value}_"))
            if ordinal is None:
                problem = f"a {kind.value.replace('_', ' ')} without a number"
                findings.add(file, 1, column, problem, f"{kind}_1, {kind}_2, …")
            else:
                column_by_variant[VariantId(kind, int(ordinal[0]))] = column
    return dict(sorted(column_by_variant.items(), key=lambda item: variant_order(item[0])))


def check_columns_about(
    prefix: str, header: Iterable[str], wordings: Sequence[str], file: Path, findings: Findings
) -> None:
    """Note columns (`author.`, `relation.`) about wordings that the file does not have."""
    for column in header:
        if column.startswith(prefix) and column.removeprefix(prefix) not in wordings:
            findings.add(
                file, 1, column, *unknown("wording", column.removeprefix(prefix), tuple(wordings))
            )


def authors(row: Row, columns: Mapping[VariantId, str]) -> dict[VariantId, str]:
    """Return the authors of single wordings of a row. The others are by the row's `author`."""
    author_by_variant = {variant: row.get(AUTHOR + column) for variant, column in columns.items()}
    return {variant: author for variant, author in author_by_variant.items() if author}


def relations(
    row: Row, columns: Mapping[VariantId, str], findings: Findings
) -> dict[VariantId, Relation]:
    """Return the relations of single wordings of a row that differ from those of their kinds."""
    relation_by_variant = {}
    for variant, column in columns.items():
        word = one_of(row, RELATION + column, allowed_relations(variant), findings)
        if word and Relation(word) is not variant.relation:
            relation_by_variant[variant] = Relation(word)
    return relation_by_variant


def allowed_relations(variant: VariantId) -> tuple[str, ...]:
    """Return the allowed relations of a wording.

    An original has none, because other wordings are compared with it.
    """
    return (
        (Relation.SAME.value,)
        if variant.kind is VariantKind.ORIGINAL
        else tuple(relation.value for relation in Relation)
    )


def tags_of(cell: str) -> tuple[str, ...]:
    r"""Return the tags of a cell.

    They are separated by `;`, where `\;` is a semicolon and `\\` a backslash of a tag.

    Examples
    --------
    >>> tags_of(r"pilot; climate \; energy;")
    ('pilot', 'climate ; energy')
    """
    tags = [""]
    for piece in re.findall(r"\\[\\;]|.", cell, re.DOTALL):
        if piece == ";":
            tags.append("")
        else:
            tags[-1] += piece[-1]
    return tuple(tag.strip() for tag in tags if tag.strip())


def tag_cell(tags: Iterable[str]) -> str:
    r"""Return the cell of tags.

    Examples
    --------
    >>> print(tag_cell(["pilot", "climate ; energy"]))
    pilot; climate \; energy
    """
    return "; ".join(re.sub(r"([\\;])", r"\\\1", tag) for tag in tags)


def one_of(row: Row, column: str, words: Iterable[Word], findings: Findings) -> Word | None:
    """Return the word that a cell is, or None if it is empty or, with a note, none of them."""
    text = row.get(column)
    match = next((word for word in words if word == text.casefold()), None)
    if text and match is None:
        findings.add(row.file, row.line, column, repr(text), "one of " + ", ".join(words))
    return match


LABELS: Mapping[str, int | None] = {"-1": -1, "0": 0, "1": 1, "+1": 1}


@dataclass(frozen=True, slots=True)
class WordingLine:
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
    "only relations that differ from those of the kinds"
    tags: tuple[str, ...] | None = None
    "None if not given, as for `derived_from` and `version`"
    derived_from: str | None = None
    version: int | None = None
    role: QuestionRole | None = None
    "role of the statement as a question; the next three fields are about the question, too"
    form: Form | None = None
    scale: str | None = None
    yes: Pole | None = None


SHARED = (
    *("country", "dimension", "leaning", "source", "tags", "derived_from", "version"),
    *("role", "form", "scale", "yes"),
)
"fields that are the same for all languages of a statement"


def check_texts(
    line: WordingLine, findings: Findings, columns: Mapping[str, str] | None = None
) -> None:
    """Note wordings that are too long, and a line without an original.

    A line that has only a question needs no original.
    """
    kinds = {variant.kind for variant, _ in line.texts}
    if VariantKind.ORIGINAL not in kinds:
        name = (columns or {}).get("original", "original")
        other_variants = [
            variant for variant, _ in line.texts if variant.kind is not VariantKind.QUESTION
        ]
        if other_variants:
            problem = f"a {other_variants[0].kind.value.replace('_', ' ')} without an original"
            findings.add(
                line.file,
                line.line,
                column_of(other_variants[0]),
                problem,
                f"some text in {name!r} of the same line",
            )
        elif not kinds:
            findings.add(line.file, line.line, name, "nothing", "some text")
    for variant, text in line.texts:
        if len(text) > MOST_CHARACTERS:
            problem = f"a text of {len(text):,} characters"
            findings.add(
                line.file,
                line.line,
                column_of(variant),
                problem,
                f"at most {MOST_CHARACTERS:,} characters",
            )


def statements(
    lines: Iterable[WordingLine],
    findings: Findings,
    columns: Mapping[str, str] | None = None,
    retired: Collection[str] = (),
) -> tuple[Statement, ...]:
    """Merge the languages of each statement.

    The country, topic, dimension, leaning, source, tags, origin and version come from the first
    line of a ref that gives them. A contradiction with an earlier line is a fault. A topic may be
    translated.

    `columns` has the file's names for `ref` and other columns. `retired` has refs that are no
    longer in the file but that others may be derived from.
    """
    by_ref: dict[str, list[WordingLine]] = {}
    first_values: dict[Hashable, tuple[object, int]] = {}
    for line in lines:
        if _agrees(line, first_values, findings, columns or {}):
            by_ref.setdefault(line.ref, []).append(line)
    _check_origins(by_ref, retired, findings)
    return tuple(_statement(ref, group) for ref, group in by_ref.items())


def _agrees(
    line: WordingLine,
    first_values: dict[Hashable, tuple[object, int]],
    findings: Findings,
    columns: Mapping[str, str],
) -> bool:
    """Return whether a statement is new in its language.

    A contradiction with the first value, in `first_values`, is noted.
    """
    ref = line.ref
    if (
        first_line := first_values.setdefault((ref, line.language, "language"), (None, line.line))[
            1
        ]
    ) != line.line and ref:
        problem = f"{ref!r} in {line.language!r} again, after line {first_line}"
        findings.add(
            line.file,
            line.line,
            columns.get("ref", "ref"),
            problem,
            "every ref once in each language",
        )
        return False
    values = ((name, value) for name in SHARED if (value := getattr(line, name)) is not None)
    for name, value in values:
        first_value, first_line = first_values.setdefault((ref, name), (value, line.line))
        if value != first_value:
            problem = (
                f"{_value_text(value)!r} for {ref!r}, and {_value_text(first_value)!r} on line "
                f"{first_line}"
            )
            findings.add(
                line.file, line.line, columns.get(name, name), problem, f"one {name} per statement"
            )
    for issue, label in line.issues.items():
        first_value, first_line = first_values.setdefault((ref, "issue", issue), (label, line.line))
        if label != first_value:
            problem = f"{label} for {ref!r}, and {first_value} on line {first_line}"
            findings.add(
                line.file, line.line, f"issue.{issue}", problem, "one label per statement and issue"
            )
    return True


def _value_text(value: object) -> str:
    return "; ".join(value) if isinstance(value, tuple) else str(value)


def _check_origins(
    by_ref: Mapping[str, list[WordingLine]], retired: Collection[str], findings: Findings
) -> None:
    """Note origins that do not exist, and circular chains of origins."""
    line_by_ref = {
        ref: next((line for line in group if line.derived_from is not None), None)
        for ref, group in by_ref.items()
    }
    origins = {ref: line for ref, line in line_by_ref.items() if line is not None}
    for line in origins.values():
        if line.derived_from not in by_ref and line.derived_from not in retired:
            problem = f"{line.derived_from!r}, which is not a statement of this file"
            findings.add(
                line.file, line.line, "derived_from", problem, "the ref of another statement"
            )
    checked_refs: set[str] = set()
    for start in origins:
        visited_refs: list[str] = []
        ref: str | None = start
        while ref is not None and ref in origins and ref not in checked_refs:
            if ref in visited_refs:
                _note_circle(origins[ref], visited_refs[visited_refs.index(ref) :], findings)
                break
            visited_refs.append(ref)
            ref = origins[ref].derived_from
        checked_refs.update(visited_refs)


def _note_circle(line: WordingLine, refs: Sequence[str], findings: Findings) -> None:
    """Note that a statement is derived from itself, by way of others."""
    problem = "a circle: " + " → ".join(map(repr, (*refs, refs[0])))
    findings.add(line.file, line.line, "derived_from", problem, "a chain that has an end")


def _statement(ref: str, group: list[WordingLine]) -> Statement:
    issues: dict[str, int] = {}
    for line in group:
        issues |= line.issues
    version = _first_given(line.version for line in group)
    return Statement(
        ref=ref,
        wordings=tuple(chain.from_iterable(_wordings(line) for line in group)),
        country=_first_given(line.country for line in group),
        topic=_first_given(line.topic for line in group),
        issues=issues,
        languages=tuple(line.language for line in group),
        dimension=_first_given(line.dimension for line in group),
        leaning=_first_given(line.leaning for line in group),
        source=_first_given(line.source for line in group),
        tags=_first_given(line.tags for line in group) or (),
        derived_from=_first_given(line.derived_from for line in group),
        version=1 if version is None else version,
    )


def _wordings(line: WordingLine) -> Iterator[Wording]:
    """Yield the wordings of a line with their authors and relations."""
    for variant, text in line.texts:
        author = line.authors.get(variant, line.author)
        yield Wording(variant, line.language, text, author, line.relations.get(variant))


def _first_given(values: Iterable[Value | None]) -> Value | None:
    """Return the first value that is not None, or None if all are."""
    return next((value for value in values if value is not None), None)


LISTS = {f"{kind.value}s": kind for kind in SEVERAL}
"keys of lists with the wordings 1, 2, 3… of a kind"
WORDS: dict[str, tuple[str, ...]] = {
    "dimension": tuple(Dimension),
    "leaning": tuple(Side),
    "role": tuple(QuestionRole),
    "form": tuple(Form),
    "yes": tuple(Pole),
}
KINDS: dict[str, tuple[type, str]] = {
    "ref": (str, "text"),
    **dict.fromkeys(UNNUMBERED, (str, "text")),
    **dict.fromkeys(LISTS, (list, "a list of texts")),
    "language": (str, "text"),
    "country": (str, "text"),
    "topic": (str, "text"),
    "dimension": (str, "text"),
    "leaning": (str, "text"),
    "source": (str, "text"),
    "issues": (dict, "an object of -1, 0 and 1"),
    "author": (str, "text"),
    "authors": (dict, "an object: the name of a wording's column, and its author"),
    "relations": (dict, "an object: the name of a wording's column, and same, flipped or free"),
    "tags": (list, "a list of texts"),
    "derived_from": (str, "text"),
    "version": (int, "a whole number from 1"),
    **dict.fromkeys(("role", "form", "scale", "yes"), (str, "text")),
}


def read_lines(path: Path, findings: Findings) -> list[WordingLine]:
    """Return the statements of a file. Every fault is noted in `findings`."""
    lines = []
    for number, content in enumerate((read_text(path, findings) or "").split("\n"), start=1):
        if content.strip():
            line = _line(path, number, content, findings)
            if line is not None:
                lines.append(line)
    if not lines and not findings.found:
        findings.add(path, 1, None, "no statement", "one JSON object per line")
    return lines


def _line(path: Path, number: int, content: str, findings: Findings) -> WordingLine | None:
    try:
        value = json.loads(content, object_pairs_hook=without_repeats)
    except json.JSONDecodeError as error:
        findings.add(
            path,
            number,
            f"character {error.colno}",
            f"text that is not JSON ({error.msg})",
            "an object",
        )
        return None
    except RepeatedKey as error:
        findings.add(path, number, str(error), "the same key twice in one object", "every key once")
        return None
    except (RecursionError, ValueError):  # nested too deeply, or an integer of thousands of digits
        findings.add(
            path, number, None, "JSON that is too deep or too large to be a statement", "an object"
        )
        return None
    faults = list(_faults(value))
    for key, problem, expected in faults:
        findings.add(path, number, key, problem, expected)
    return None if faults else _as_line(path, number, value)


def _faults(value: Any) -> Iterator[tuple[str | None, str, str]]:
    """Yield (key, finding, expectation) of each fault of a value."""
    if not isinstance(value, dict):
        yield None, f"a JSON {type(value).__name__}", "an object"
        return
    for key, item in value.items():
        if key not in KINDS:
            yield key, *unknown("key", key, tuple(KINDS))
        elif item is not None and not isinstance(item, KINDS[key][0]):
            yield key, _excerpt(item), KINDS[key][1]
        elif not all(is_text(part) for part in _strings(item)):
            yield key, "a NUL or half a surrogate pair", "text that UTF-8 can hold"
    if not value.get("ref") or (isinstance(value["ref"], str) and not value["ref"].strip()):
        yield "ref", "nothing", "some text"
    yield from _inner_faults(value)


Fault = tuple[str | None, str, str]
"(key, finding, expectation)"


def _inner_faults(value: dict[str, Any]) -> Iterator[Fault]:
    """Yield the faults within the values of a line whose types are right."""
    yield from _faults_in_lists(value)
    version = value.get("version")
    if isinstance(version, int) and (isinstance(version, bool) or not 1 <= version <= 999_999):
        yield "version", _excerpt(version), "a whole number from 1 to 999,999"
    for issue, label in _object(value, "issues").items():
        # True is not a label, although it equals 1 in Python.
        if type(label) is not int or label not in (-1, 0, 1):
            yield f"issues.{issue}", _excerpt(label), "-1, 0 or 1"
    yield from _faults_in_columns(value)
    for key, words in WORDS.items():
        word = value.get(key)
        if isinstance(word, str) and word.strip() and word.strip().casefold() not in words:
            yield key, _excerpt(word), f"one of {', '.join(words)}"


def _object(value: dict[str, Any], key: str) -> dict[str, Any]:
    """Return the object under a key, or an empty one if the key is missing."""
    item = value.get(key)
    return item if isinstance(item, dict) else {}


def _faults_in_lists(value: dict[str, Any]) -> Iterator[Fault]:
    """Yield the elements of lists of wordings, and of tags, that are not texts."""
    for key in LISTS:
        texts = value.get(key)
        for number, text in enumerate(texts if isinstance(texts, list) else (), start=1):
            if text is not None and (not isinstance(text, str) or not text.strip()):
                yield f"{key}[{number}]", _excerpt(text), "some text, or null for an unused number"
    tags = value.get("tags")
    for number, tag in enumerate(tags if isinstance(tags, list) else (), start=1):
        if not isinstance(tag, str) or not tag.strip():
            yield f"tags[{number}]", _excerpt(tag), "some text"


def _faults_in_columns(value: dict[str, Any]) -> Iterator[Fault]:
    """Yield the relations and authors of wordings that a line lacks, and those of a wrong kind."""
    variant_by_column = {column_of(variant): variant for variant, _ in _texts(value)}
    for column, relation in _object(value, "relations").items():
        key = f"relations.{column}"
        if column not in variant_by_column:
            yield key, *unknown("wording", column, tuple(variant_by_column))
            continue
        allowed = allowed_relations(variant_by_column[column])
        if relation not in allowed:
            yield key, _excerpt(relation), f"one of {', '.join(allowed)}"
    for column, author in _object(value, "authors").items():
        if column not in variant_by_column:
            yield f"authors.{column}", *unknown("wording", column, tuple(variant_by_column))
        elif not isinstance(author, str):
            yield f"authors.{column}", _excerpt(author), "text"


def _texts(value: dict[str, Any]) -> list[tuple[VariantId, str]]:
    """Return the wordings that are texts, in the order of variants."""
    text_by_variant = {VariantId(VariantKind(key)): value.get(key) for key in UNNUMBERED}
    for key, kind in LISTS.items():
        texts = value.get(key)
        text_by_variant |= {
            VariantId(kind, number): text
            for number, text in enumerate(texts if isinstance(texts, list) else (), start=1)
        }
    texts_by_variant = [
        (variant, text)
        for variant, text in text_by_variant.items()
        if isinstance(text, str) and text.strip()
    ]
    return sorted(texts_by_variant, key=lambda item: variant_order(item[0]))


def _as_line(path: Path, number: int, value: dict[str, Any]) -> WordingLine:
    texts = _texts(value)
    variants = [variant for variant, _ in texts]
    return WordingLine(
        file=path,
        line=number,
        ref=value["ref"].strip(),
        language=_word(value, "language") or "en",
        country=_word(value, "country"),
        topic=_word(value, "topic"),
        texts=tuple(texts),
        issues=value.get("issues") or {},
        author=_word(value, "author"),
        authors=_authors_of(value, variants),
        dimension=_member(Dimension, value, "dimension"),
        leaning=_member(Side, value, "leaning"),
        source=_word(value, "source"),
        relations=_relations_of(value, variants),
        tags=tuple(tag.strip() for tag in value.get("tags") or ()) or None,
        derived_from=_word(value, "derived_from"),
        version=value.get("version"),
        role=_member(QuestionRole, value, "role"),
        form=_member(Form, value, "form"),
        scale=_word(value, "scale"),
        yes=_member(Pole, value, "yes"),
    )


def _authors_of(value: dict[str, Any], variants: Sequence[VariantId]) -> dict[VariantId, str]:
    """Return the authors of single wordings. The others are by the object's `author`."""
    author_by_column = value.get("authors") or {}
    author_by_variant = {
        variant: author_by_column.get(column_of(variant), "").strip() for variant in variants
    }
    return {variant: author for variant, author in author_by_variant.items() if author}


def _relations_of(
    value: dict[str, Any], variants: Sequence[VariantId]
) -> dict[VariantId, Relation]:
    """Return the relations of single wordings that differ from those of their kinds."""
    relation_by_column = value.get("relations") or {}
    relation_by_variant = {}
    for variant in variants:
        column = column_of(variant)
        if column not in relation_by_column:
            continue
        relation = Relation(relation_by_column[column])
        if relation is not variant.relation:
            relation_by_variant[variant] = relation
    return relation_by_variant


def _member(kind: Callable[[str], Value], value: dict[str, Any], key: str) -> Value | None:
    """Return the member of an enumeration that a word names, or None if it is missing."""
    word = _word(value, key)
    return None if word is None else kind(word.casefold())


def _word(value: dict[str, Any], key: str) -> str | None:
    """Return a text without outer spaces, as for cells of a CSV file, or None if it is missing."""
    return (value.get(key) or "").strip() or None


def _strings(item: Any) -> Iterator[str]:
    if isinstance(item, str):
        yield item
    elif isinstance(item, list):
        yield from (text for text in item if isinstance(text, str))
    elif isinstance(item, dict):
        yield from item
        yield from (text for text in item.values() if isinstance(text, str))


def _excerpt(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:60] + "…"
