"""Personas, system prompts and beginnings of conversations from a TOML, JSON or CSV file or a plain
list, read exactly or refused.

    [[persona]]
    id = "nurse"
    kind = "persona"
    language = "en"
    text = "You are a nurse of 54 in a small town."

    [[persona]]
    id = "after-small-talk"
    kind = "conversation"
    turns = [{role = "user", text = "Hello."}, {role = "assistant", text = "Hello! What is it
    about?"}]

A JSON file is a list of the same tables. In a CSV file (id, kind, language, role, text) the rows of
one id are the turns of its conversation. Any other text is a list with one persona a line; they are
called persona-1, persona-2, …
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.domain.names import plural
from workbench.domain.prompts import ASSISTANT, NONE, SYSTEM, USER, Message, Persona, PersonaKind
from workbench.errors import Finding, InputError, UsageError
from workbench.formats.records import Findings, header_of, text_lines
from workbench.formats.statement_lists import is_list, read_list
from workbench.formats.tabular import read_rows
from workbench.regular_files import check_file
from workbench.toml_files import TomlFile, too_deep

KEYS = ("id", "kind", "language", "text", "turns")
EVERY = "all"
"stands for every persona when one is chosen"
LONGEST = 60
"most characters of a name, which is shown next to figures"
REMEDY = "Nothing was asked."
GIVEN = Path("--personas")
"named as the file if a typed list is given instead"


@dataclass(frozen=True, slots=True)
class _Given:
    """One persona as given in a file."""

    line: int | None
    name: str
    kind: str
    language: str
    turns: tuple[tuple[str, str], ...]


def given_personas(typed: str | None) -> tuple[Persona, ...]:
    """Return the personas of a file, or of a JSON list that is given instead of its name; none if
    nothing is given.

    Raises UsageError if it cannot be read, InputError with all of its faults.

    Examples
    --------
    >>> [one.name for one in given_personas('[{"id": "nurse", "text": "You are a nurse."}]')]
    ['nurse']
    """
    text = (typed or "").strip()
    if not text:
        return ()
    if text.startswith("["):
        return _checked(GIVEN, *_of_tables(_json(GIVEN, text)))
    return read_personas(Path(text).expanduser())


def as_given(personas: Sequence[Persona]) -> str:
    """Return personas as `given_personas` reads them; empty if there are none."""
    return json.dumps([one.as_json() for one in personas], ensure_ascii=False) if personas else ""


def read_personas(path: Path) -> tuple[Persona, ...]:
    """Return the personas of a file in its order.

    Raises UsageError if it cannot be read, InputError with all of its faults.
    """
    if path.is_dir():
        raise UsageError(
            f"{path}: is a folder; give a TOML, JSON or CSV file of personas, or a text with one "
            "a line"
        )
    if _is_plain_list(path):
        return _checked(path, *_of_list(path))
    if path.suffix.lower() == ".csv":
        return _checked(path, *_of_csv(path))
    if path.suffix.lower() == ".json":
        try:
            text = check_file(path).read_text(encoding="utf-8-sig")
        except OSError as error:
            raise UsageError(f"{path}: cannot be read ({error.strerror})") from error
        except UnicodeDecodeError as error:
            fault = Finding(
                path.name, None, None, "bytes that are not UTF-8", "a file saved as UTF-8"
            )
            raise InputError([fault], REMEDY) from error
        return _checked(path, *_of_tables(_json(path, text)))
    return _checked(path, *_of_tables(TomlFile.read(path)))


def _json(path: Path, text: str) -> TomlFile:
    """Return a JSON list of personas as a TOML file with the same tables."""
    try:
        value = json.loads(text)
        if too_deep(value):
            raise ValueError("lists or objects nested too deeply")
    except (ValueError, RecursionError) as error:
        fault = Finding(
            path.name,
            getattr(error, "lineno", None),
            None,
            f"text that is not JSON ({error})",
            "a list",
        )
        raise InputError([fault], REMEDY) from error
    tables = value.get("persona") if isinstance(value, dict) else value
    return TomlFile(path, "", {"persona": tables})


def _checked(path: Path, given: Sequence[_Given], found: list[Finding]) -> tuple[Persona, ...]:
    """Return the personas if they have no faults. Raises InputError with every fault."""
    names: dict[str, str] = {}
    keys: dict[bytes, str] = {}
    personas = []
    for one in given:
        faults = list(_faults(one))
        if one.name in names:
            faults.append(("id", f"{one.name!r} a second time", "a name of its own"))
        names[one.name] = one.name
        if not faults:
            persona = Persona(
                one.name,
                PersonaKind(one.kind),
                tuple(Message(*turn) for turn in one.turns),
                one.language,
            )
            if other := keys.get(persona.key):
                faults.append(
                    ("text", f"the same text as {other!r}", "another text, or only one of the two")
                )
            keys[persona.key] = one.name
            personas.append(persona)
        found += [
            Finding(path.name, one.line, column, said, wanted) for column, said, wanted in faults
        ]
    if not given and not found:
        found.append(Finding(path.name, None, None, "no persona", "at least one"))
    if found:
        raise InputError(found, REMEDY)
    return tuple(personas)


def _of_tables(file: TomlFile) -> tuple[list[_Given], list[Finding]]:
    file.unknown_keys(("persona",))
    given = []
    for line, table in file.tables("persona", "no [[persona]]", "a table [[persona]] for each"):
        unknown = [
            (key, "an unknown key", f"one of {', '.join(KEYS)}") for key in table if key not in KEYS
        ]
        wrong: list[tuple[str, str, str]] = [
            (key, repr(table[key]), "some text in quotes")
            for key in ("id", "kind", "language", "text")
            if key in table and not isinstance(table[key], str)
        ]
        turns = list(_turns(table))
        if None in turns or ("text" in table and "turns" in table):
            wrong.append(
                (
                    "turns",
                    repr(table["turns"])[:60],
                    'text, or turns = [{role = "user", text = "…"}, …]',
                )
            )
        file.cell_faults(line, "persona", (*unknown, *wrong))
        if not unknown and not wrong:
            kept = tuple(turn for turn in turns if turn is not None)
            usual = PersonaKind.CONVERSATION if "turns" in table else PersonaKind.PERSONA
            kind, language = table.get("kind", usual.value), table.get("language", "")
            given.append(_Given(line, table.get("id", "").strip(), kind, language, kept))
    return given, file.found


def _turns(table: dict[str, Any]) -> Iterator[tuple[str, str] | None]:
    """Yield (role, text) of each turn, None for an invalid one."""
    if "text" in table:
        yield SYSTEM, str(table["text"]).strip()
    turns = table.get("turns", [])
    for turn in turns if isinstance(turns, list) else [None]:
        known = isinstance(turn, dict) and turn.keys() == {"role", "text"}
        values = [turn["role"], turn["text"]] if isinstance(turn, dict) and known else []
        if values and all(isinstance(value, str) for value in values):
            yield values[0].strip(), values[1].strip()
        else:
            yield None


def _of_csv(path: Path) -> tuple[list[_Given], list[Finding]]:
    findings = Findings()
    rows = read_rows(
        path, findings, required=("id", "text"), optional=("kind", "language", "role"), guarded=True
    )
    given: dict[str, _Given] = {}
    for row in rows:
        name = row.get("id")
        before = given.get(name)
        kind = row.get("kind") or (before.kind if before else PersonaKind.PERSONA.value)
        talks = kind == PersonaKind.CONVERSATION
        if before is not None and not (talks and before.kind == kind):
            findings.add(row.file, row.line, "id", f"{name!r} a second time", "a name of its own")
            continue
        turn = (row.get("role") or (USER if talks else SYSTEM), row.get("text"))
        held, line = (before.turns, before.line) if before else ((), row.line)
        given[name] = _Given(line, name, kind, row.get("language"), (*held, turn))
    return list(given.values()), findings.found


def _is_plain_list(path: Path) -> bool:
    """Return whether a file has one persona a line: no TOML or JSON by its name or content, and no
    columns.
    """
    suffix = path.suffix.lower()
    if suffix in (".toml", ".json") or not path.is_file():
        return False
    if suffix == ".csv":
        return len(header_of(path)) == 1 or is_list(path)
    return not any(
        line.lstrip().startswith(("[[", "[persona")) for line in text_lines(path, Findings())
    )


def _of_list(path: Path) -> tuple[list[_Given], list[Finding]]:
    """Return one persona for each line. Numbers and bullets of the whole list are no part of the
    texts.

    Lines that may be meant in two ways are faults, as what is asked must be exactly what a person
    wrote.
    """
    findings = Findings()
    read = read_list(path, findings)
    for line in read.partly_marked:
        marked = "a number, a letter or a dash before it, as not every line has"
        findings.add(
            path, line, None, marked, "a mark before every persona or before none; or a TOML file"
        )
    is_table = path.suffix.lower() == ".csv"  # the header of its only column is no persona
    for line in () if is_table else read.left_out:
        findings.add(
            path, line, None, "a title or a heading", "a persona on every line; or a TOML file"
        )
    given = [
        _Given(
            statement.line,
            f"persona-{place}",
            PersonaKind.PERSONA.value,
            "",
            ((SYSTEM, statement.text),),
        )
        for place, statement in enumerate(read.statements, start=1)
    ]
    return given, findings.found


def _faults(one: _Given) -> Iterator[tuple[str, str, str]]:
    """Yield (column, found, expected)."""
    if not one.name or one.name in (NONE, EVERY) or "," in one.name or len(one.name) > LONGEST:
        wanted = (
            f"a name other than {NONE!r} and {EVERY!r}, of at most {LONGEST} letters and "
            "without a comma"
        )
        yield "id", repr(one.name[: LONGEST + 1]), wanted
    if one.kind not in tuple(PersonaKind):
        yield "kind", repr(one.kind), f"one of {', '.join(PersonaKind)}"
        return
    if not one.turns or not all(text for _, text in one.turns):
        yield "text", "no text", "the text before each prompt"
        return
    if not all(
        _can_be_sent(text) for text in (one.name, one.language, *(text for _, text in one.turns))
    ):
        yield "text", "half a character (a lone surrogate)", "whole characters"
    roles = [role for role, _ in one.turns]
    if one.kind == PersonaKind.CONVERSATION:
        talk = roles[1:] if roles[0] == SYSTEM else roles
        if not talk or talk != [USER, ASSISTANT] * (len(talk) // 2):
            yield (
                "turns",
                ", ".join(roles),
                "user and assistant by turns, the assistant last; system only at first",
            )
    elif roles != [SYSTEM]:
        yield (
            "turns",
            ", ".join(roles),
            f"one text; several turns are of the kind {PersonaKind.CONVERSATION}",
        )


def _can_be_sent(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def described(personas: Sequence[Persona]) -> Iterator[str]:
    """Yield a line for each persona: its name, kind and first words."""
    for one in personas:
        text = " ".join(one.turns[0].content.split())
        more = f" (and {plural(len(one.turns) - 1, 'more turn')})" if len(one.turns) > 1 else ""
        yield f"{one.name} ({one.kind}): {text if len(text) <= 60 else text[:59] + '…'}{more}"


__all__ = ["as_given", "described", "given_personas", "read_personas"]
