"""Personas, system prompts and beginnings of conversations, read exactly from a file or refused.

The file is TOML, JSON or CSV, or a plain list.

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
one id are the turns of its conversation. Any other text is a list with one persona a line. They are
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
"stands for every persona in a selection"
LONGEST = 60
"largest number of characters of a name, which is shown next to figures"
REMEDY = "Nothing was asked."
GIVEN = Path("--personas")
"the name of the file if a typed list is given instead"


@dataclass(frozen=True, slots=True)
class _Given:
    """One persona as given in a file."""

    line: int | None
    name: str
    kind: str
    language: str
    turns: tuple[tuple[str, str], ...]


def given_personas(typed: str | None) -> tuple[Persona, ...]:
    """Return the personas of a file, or of a JSON list that is given instead of its name.

    They are none if nothing is given. Raises UsageError if it cannot be read, and InputError with
    all of its faults.

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
    """Return personas as `given_personas` reads them, or an empty string if there are none."""
    return (
        json.dumps([persona.as_json() for persona in personas], ensure_ascii=False)
        if personas
        else ""
    )


def read_personas(path: Path) -> tuple[Persona, ...]:
    """Return the personas of a file in its order.

    Raises UsageError if it cannot be read, and InputError with all of its faults.
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


def _checked(path: Path, entries: Sequence[_Given], findings: list[Finding]) -> tuple[Persona, ...]:
    """Return the personas of the entries. Raises InputError with every fault."""
    names: dict[str, str] = {}
    keys: dict[bytes, str] = {}
    personas = []
    for entry in entries:
        faults = list(_faults(entry))
        if entry.name in names:
            faults.append(("id", f"{entry.name!r} a second time", "a name of its own"))
        names[entry.name] = entry.name
        if not faults:
            persona = Persona(
                entry.name,
                PersonaKind(entry.kind),
                tuple(Message(*turn) for turn in entry.turns),
                entry.language,
            )
            if other_name := keys.get(persona.key):
                faults.append(
                    (
                        "text",
                        f"the same text as {other_name!r}",
                        "another text, or only one of the two",
                    )
                )
            keys[persona.key] = entry.name
            personas.append(persona)
        findings += [
            Finding(path.name, entry.line, column, problem, expected)
            for column, problem, expected in faults
        ]
    if not entries and not findings:
        findings.append(Finding(path.name, None, None, "no persona", "at least one"))
    if findings:
        raise InputError(findings, REMEDY)
    return tuple(personas)


def _of_tables(file: TomlFile) -> tuple[list[_Given], list[Finding]]:
    file.unknown_keys(("persona",))
    entries = []
    for line, table in file.tables("persona", "no [[persona]]", "a table [[persona]] for each"):
        unknown = [
            (key, "an unknown key", f"one of {', '.join(KEYS)}") for key in table if key not in KEYS
        ]
        invalid: list[tuple[str, str, str]] = [
            (key, repr(table[key]), "some text in quotes")
            for key in ("id", "kind", "language", "text")
            if key in table and not isinstance(table[key], str)
        ]
        turns = list(_turns(table))
        if None in turns or ("text" in table and "turns" in table):
            invalid.append(
                (
                    "turns",
                    repr(table["turns"])[:60],
                    'text, or turns = [{role = "user", text = "…"}, …]',
                )
            )
        file.cell_faults(line, "persona", (*unknown, *invalid))
        if not unknown and not invalid:
            valid_turns = tuple(turn for turn in turns if turn is not None)
            default_kind = PersonaKind.CONVERSATION if "turns" in table else PersonaKind.PERSONA
            kind, language = table.get("kind", default_kind.value), table.get("language", "")
            entries.append(_Given(line, table.get("id", "").strip(), kind, language, valid_turns))
    return entries, file.found


def _turns(table: dict[str, Any]) -> Iterator[tuple[str, str] | None]:
    """Yield (role, text) of each turn, or None for an invalid one."""
    if "text" in table:
        yield SYSTEM, str(table["text"]).strip()
    turns = table.get("turns", [])
    for turn in turns if isinstance(turns, list) else [None]:
        is_valid = isinstance(turn, dict) and turn.keys() == {"role", "text"}
        values = [turn["role"], turn["text"]] if isinstance(turn, dict) and is_valid else []
        if values and all(isinstance(value, str) for value in values):
            yield values[0].strip(), values[1].strip()
        else:
            yield None


def _of_csv(path: Path) -> tuple[list[_Given], list[Finding]]:
    findings = Findings()
    rows = read_rows(
        path, findings, required=("id", "text"), optional=("kind", "language", "role"), guarded=True
    )
    entry_by_name: dict[str, _Given] = {}
    for row in rows:
        name = row.get("id")
        previous = entry_by_name.get(name)
        kind = row.get("kind") or (previous.kind if previous else PersonaKind.PERSONA.value)
        is_conversation = kind == PersonaKind.CONVERSATION
        if previous is not None and not (is_conversation and previous.kind == kind):
            findings.add(row.file, row.line, "id", f"{name!r} a second time", "a name of its own")
            continue
        turn = (row.get("role") or (USER if is_conversation else SYSTEM), row.get("text"))
        previous_turns, line = (previous.turns, previous.line) if previous else ((), row.line)
        entry_by_name[name] = _Given(line, name, kind, row.get("language"), (*previous_turns, turn))
    return list(entry_by_name.values()), findings.found


def _is_plain_list(path: Path) -> bool:
    """Return whether a file has one persona a line.

    It is no TOML or JSON by its name or content, and has no columns.
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
    """Return one persona for each line.

    Numbers and bullets of the whole list are no part of the texts.

    Ambiguous lines are faults, as a prompt must be exactly what a person wrote.
    """
    findings = Findings()
    statement_list = read_list(path, findings)
    for line in statement_list.partly_marked:
        problem = "a number, a letter or a dash before it, as not every line has"
        findings.add(
            path, line, None, problem, "a mark before every persona or before none; or a TOML file"
        )
    is_table = path.suffix.lower() == ".csv"  # the header of its only column is no persona
    for line in () if is_table else statement_list.left_out:
        findings.add(
            path, line, None, "a title or a heading", "a persona on every line; or a TOML file"
        )
    entries = [
        _Given(
            statement.line,
            f"persona-{number}",
            PersonaKind.PERSONA.value,
            "",
            ((SYSTEM, statement.text),),
        )
        for number, statement in enumerate(statement_list.statements, start=1)
    ]
    return entries, findings.found


def _faults(entry: _Given) -> Iterator[tuple[str, str, str]]:
    """Yield (column, finding, expectation) of each fault of an entry."""
    if not _is_name(entry.name):
        expected = (
            f"a name other than {NONE!r} and {EVERY!r}, of at most {LONGEST} letters and "
            "without a comma"
        )
        yield "id", repr(entry.name[: LONGEST + 1]), expected
    if entry.kind not in tuple(PersonaKind):
        yield "kind", repr(entry.kind), f"one of {', '.join(PersonaKind)}"
        return
    if not entry.turns or not all(text for _, text in entry.turns):
        yield "text", "no text", "the text before each prompt"
        return
    texts = [text for _, text in entry.turns]
    if not all(map(_can_be_sent, (entry.name, entry.language, *texts))):
        yield "text", "half a character (a lone surrogate)", "whole characters"
    roles = [role for role, _ in entry.turns]
    expected = _expected_roles(entry.kind, roles)
    if expected:
        yield "turns", ", ".join(roles), expected


def _is_name(name: str) -> bool:
    """Return whether a persona may have a name."""
    return bool(name) and name not in (NONE, EVERY) and "," not in name and len(name) <= LONGEST


def _expected_roles(kind: str, roles: Sequence[str]) -> str:
    """Return the turns that a kind must have, or an empty string if it has them."""
    if kind != PersonaKind.CONVERSATION:
        is_one_text = roles == [SYSTEM]
        several = f"one text; several turns are of the kind {PersonaKind.CONVERSATION}"
        return "" if is_one_text else several
    talk_roles = roles[1:] if roles[0] == SYSTEM else roles
    if talk_roles and talk_roles == [USER, ASSISTANT] * (len(talk_roles) // 2):
        return ""
    return "user and assistant by turns, the assistant last; system only at first"


def _can_be_sent(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def described(personas: Sequence[Persona]) -> Iterator[str]:
    """Yield a line for each persona: its name, kind and first words."""
    for entry in personas:
        text = " ".join(entry.turns[0].content.split())
        more = f" (and {plural(len(entry.turns) - 1, 'more turn')})" if len(entry.turns) > 1 else ""
        yield f"{entry.name} ({entry.kind}): {text if len(text) <= 60 else text[:59] + '…'}{more}"


__all__ = ["as_given", "described", "given_personas", "read_personas"]
