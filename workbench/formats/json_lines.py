"""JSON Lines: one object per statement, for instruments written by a program."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.domain.questionnaires import Form, Pole, Role
from workbench.domain.statements import Dimension, Relation, Side, VariantId, VariantKind, variant_order
from workbench.formats.lines import Line
from workbench.formats.tabular import Findings, read_text, unknown
from workbench.formats.wordings import SEVERAL, UNNUMBERED, allowed_relations, column_of

LISTS = {f"{kind.value}s": kind for kind in SEVERAL}
"keys of lists with the wordings 1, 2, 3… of a kind"
WORDS: dict[str, tuple[str, ...]] = {
    "dimension": tuple(Dimension),
    "leaning": tuple(Side),
    "role": tuple(Role),
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


class _RepeatedKey(ValueError):
    """An object with a duplicate key, of which Python would silently keep the last value."""


def read_lines(path: Path, findings: Findings) -> list[Line]:
    """Return the statements of a file; every fault is noted in `findings`."""
    lines = []
    for number, content in enumerate((read_text(path, findings) or "").split("\n"), start=1):
        if content.strip():
            line = _line(path, number, content, findings)
            if line is not None:
                lines.append(line)
    if not lines and not findings.found:
        findings.add(path, 1, None, "no statement", "one JSON object per line")
    return lines


def _line(path: Path, number: int, content: str, findings: Findings) -> Line | None:
    try:
        value = json.loads(content, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as error:
        findings.add(path, number, f"character {error.colno}", f"text that is not JSON ({error.msg})", "an object")
        return None
    except _RepeatedKey as error:
        findings.add(path, number, str(error), "the same key twice in one object", "every key once")
        return None
    except (RecursionError, ValueError):  # nested too deeply, or an integer of thousands of digits
        findings.add(path, number, None, "JSON that is too deep or too large to be a statement", "an object")
        return None
    faults = list(_faults(value))
    for key, found, expected in faults:
        findings.add(path, number, key, found, expected)
    return None if faults else _as_line(path, number, value)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for key, item in pairs:
        if key in value:
            raise _RepeatedKey(key)
        value[key] = item
    return value


def _faults(value: Any) -> Iterator[tuple[str | None, str, str]]:
    """Yield (key, found, expected)."""
    if not isinstance(value, dict):
        yield None, f"a JSON {type(value).__name__}", "an object"
        return
    for key, item in value.items():
        if key not in KINDS:
            yield key, *unknown("key", key, tuple(KINDS))
        elif item is not None and not isinstance(item, KINDS[key][0]):
            yield key, _short(item), KINDS[key][1]
        elif not all(_is_text(part) for part in _strings(item)):
            yield key, "a NUL or half a surrogate pair", "text that UTF-8 can hold"
    if not value.get("ref") or (isinstance(value["ref"], str) and not value["ref"].strip()):
        yield "ref", "nothing", "some text"
    yield from _inner_faults(value)


def _inner_faults(value: dict[str, Any]) -> Iterator[tuple[str | None, str, str]]:
    lists = {key: value[key] for key in LISTS if isinstance(value.get(key), list)}
    for key, texts in lists.items():
        for place, text in enumerate(texts, start=1):
            if text is not None and (not isinstance(text, str) or not text.strip()):
                yield f"{key}[{place}]", _short(text), "some text, or null for an unused number"
    for place, tag in enumerate(value["tags"] if isinstance(value.get("tags"), list) else (), start=1):
        if not isinstance(tag, str) or not tag.strip():
            yield f"tags[{place}]", _short(tag), "some text"
    version = value.get("version")
    if isinstance(version, int) and (isinstance(version, bool) or not 1 <= version <= 999_999):
        yield "version", _short(version), "a whole number from 1 to 999,999"
    issues, authors, relations = (
        value[key] if isinstance(value.get(key), dict) else {} for key in ("issues", "authors", "relations")
    )
    for issue, label in issues.items():
        if type(label) is not int or label not in (-1, 0, 1):  # true is not a label, although it equals 1 in Python
            yield f"issues.{issue}", _short(label), "-1, 0 or 1"
    there = {column_of(variant): variant for variant, _ in _texts(value)}
    for column, relation in relations.items():
        if column not in there:
            yield f"relations.{column}", *unknown("wording", column, tuple(there))
        elif relation not in allowed_relations(there[column]):
            yield f"relations.{column}", _short(relation), f"one of {', '.join(allowed_relations(there[column]))}"
    for column, author in authors.items():
        if column not in there:
            yield f"authors.{column}", *unknown("wording", column, tuple(there))
        elif not isinstance(author, str):
            yield f"authors.{column}", _short(author), "text"
    for key, words in WORDS.items():
        word = value.get(key)
        if isinstance(word, str) and word.strip() and word.strip().casefold() not in words:
            yield key, _short(word), f"one of {', '.join(words)}"


def _texts(value: dict[str, Any]) -> list[tuple[VariantId, str]]:
    """Return the wordings that are texts, in the order of variants."""
    found = {VariantId(VariantKind(key)): value.get(key) for key in UNNUMBERED}
    for key, kind in LISTS.items():
        texts = value.get(key)
        found |= {VariantId(kind, n): text for n, text in enumerate(texts if isinstance(texts, list) else (), start=1)}
    good = [(variant, text) for variant, text in found.items() if isinstance(text, str) and text.strip()]
    return sorted(good, key=lambda item: variant_order(item[0]))


def _as_line(path: Path, number: int, value: dict[str, Any]) -> Line:
    texts = _texts(value)
    authors, relations = (value.get(key) or {} for key in ("authors", "relations"))
    stated = {
        variant: Relation(relations[column_of(variant)]) for variant, _ in texts if column_of(variant) in relations
    }
    words = {key: (value.get(key) or "").strip().casefold() for key in WORDS}
    return Line(
        file=path,
        line=number,
        ref=value["ref"].strip(),
        language=_word(value, "language") or "en",
        country=_word(value, "country"),
        topic=_word(value, "topic"),
        texts=tuple(texts),
        issues=value.get("issues") or {},
        author=_word(value, "author"),
        authors={v: authors[column_of(v)].strip() for v, _ in texts if authors.get(column_of(v), "").strip()},
        dimension=Dimension(words["dimension"]) if words["dimension"] else None,
        leaning=Side(words["leaning"]) if words["leaning"] else None,
        source=_word(value, "source"),
        relations={variant: relation for variant, relation in stated.items() if relation is not variant.relation},
        tags=tuple(tag.strip() for tag in value.get("tags") or ()) or None,
        derived_from=_word(value, "derived_from"),
        version=value.get("version"),
        role=Role(words["role"]) if words["role"] else None,
        form=Form(words["form"]) if words["form"] else None,
        scale=_word(value, "scale"),
        yes=Pole(words["yes"]) if words["yes"] else None,
    )


def _word(value: dict[str, Any], key: str) -> str | None:
    """Return a text without outer spaces, as for cells of a CSV file; None if missing."""
    return (value.get(key) or "").strip() or None


def _strings(item: Any) -> Iterator[str]:
    if isinstance(item, str):
        yield item
    elif isinstance(item, list):
        yield from (part for part in item if isinstance(part, str))
    elif isinstance(item, dict):
        yield from item
        yield from (part for part in item.values() if isinstance(part, str))


def _is_text(text: str) -> bool:
    return "\x00" not in text and not any("\ud800" <= sign <= "\udfff" for sign in text)


def _short(value: Any) -> str:
    said = json.dumps(value)
    return said if len(said) <= 60 else said[:60] + "…"
