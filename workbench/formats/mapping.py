"""Settings for reading another program's table, above all the names of its columns.

A person types them, or keeps them in a TOML file for the next table:

columns = { original = "thesis", ref = "#" }
ignore = ["weight"]
sheet = "2024"
answers = { "teils" = "neutral" }
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from io import StringIO
from pathlib import Path
from typing import Any

import tomli_w

from workbench.errors import UsageError
from workbench.formats.people import STANCES, plain_word
from workbench.formats.records import AS_IS, LEFT_OUT, ReadSettings
from workbench.toml_files import TomlFile

KEYS = {
    "columns": dict,
    "ignore": list,
    "sheet": str,
    "encoding": str,
    "header": bool,
    "answers": dict,
    "language": str,
    "decimal": str,
    "header_row": int,
}
TYPED = (
    "give NAME=COLUMN, several with commas between, as in original=thesis,ref=#,-=note (# is the "
    "number of the row, - leaves a column out); or a file that has a mapping"
)


def how_of(
    mapping: str,
    sheet: str = "",
    encoding: str = "",
    ignored: Sequence[str] = (),
    *,
    header: bool = True,
    answers: str = "",
    language: str = "",
    decimal: str = "",
    header_row: int = 0,
) -> ReadSettings:
    """Return the settings for reading a file, from what a person typed.

    `mapping` holds pairs, or the path of a mapping that was saved. Whatever else is typed wins over
    the saved mapping.

    Raises UsageError if `mapping` is neither, and InputError if the saved file has faults.
    """
    saved = AS_IS
    columns: dict[str, str] = {}
    if mapping and "=" not in mapping:
        saved = read(Path(mapping).expanduser())
    else:
        columns = _typed_columns(mapping)
    return ReadSettings(
        {**saved.columns, **columns, **dict.fromkeys(ignored, LEFT_OUT)},
        sheet or saved.sheet,
        encoding or saved.encoding,
        header and saved.header,
        {**saved.answers, **_stances(answers)},
        language or saved.language,
        decimal or saved.decimal,
        header_row or saved.header_row,
    )


def _stances(typed: str) -> dict[str, str]:
    """Return the stance that each word stands for, from typed pairs `WORD=STANCE`."""
    stance_by_word: dict[str, str] = {}
    for pair in _typed_pairs(typed):
        word, equals, stance = pair.rpartition("=")
        word, stance = plain_word(word), plain_word(stance)
        if not (word and equals) or stance not in STANCES:
            raise UsageError(
                f"--answers: found {pair!r}; give WORD=STANCE, of {', '.join(STANCES)}"
            )
        if stance_by_word.setdefault(word, stance) != stance:
            raise UsageError(f"--answers: {word} is named twice; name it once")
    return stance_by_word


def _typed_columns(mapping: str) -> dict[str, str]:
    columns: dict[str, str] = {}
    for pair in _typed_pairs(mapping):
        name, equals, column = (part.strip() for part in pair.partition("="))
        if not (name and equals and column):
            raise UsageError(f"--map: found {pair!r}; {TYPED}")
        if column in columns or (name in columns.values() and name != LEFT_OUT):
            raise UsageError(
                f"--map: {name if name in columns.values() else column} is named twice; name it "
                "once"
            )
        columns[column] = name
    return columns


def written(settings: ReadSettings) -> str:
    """Return the columns of a mapping as a person types them, with "-" for excluded columns."""
    return pairs_text((name, column) for column, name in settings.columns.items())


def pairs_text(pairs: Iterable[tuple[str, str]]) -> str:
    """Return pairs as a person types them. A pair that contains a comma stands in quotation marks.

    Examples
    --------
    >>> print(pairs_text([("original", "text, in English"), ("ref", "#")]))
    "original=text, in English",ref=#
    """
    line = StringIO()
    csv.writer(line, lineterminator="").writerow([f"{name}={column}" for name, column in pairs])
    return line.getvalue()


def _typed_pairs(text: str) -> list[str]:
    """Return the pairs of a text, which commas separate.

    A pair in quotation marks may contain commas.
    """
    try:
        [fields] = csv.reader([text], skipinitialspace=True, strict=True)
    except (csv.Error, ValueError):
        fields = text.split(",")
    return [field.strip() for field in fields if field.strip()]


def read(path: Path) -> ReadSettings:
    """Return the mapping that a file holds.

    Raises UsageError if there is no such file or it has an unknown key or value, and InputError if
    it is not valid TOML.
    """
    if not path.is_file():
        raise UsageError(f"--map {path}: no such file; {TYPED}")
    table = TomlFile.read(path).table
    for key, value in table.items():
        if not isinstance(value, KEYS.get(key, ())):
            raise UsageError(f"{path}: found {key} = {value!r}; known are {', '.join(KEYS)}")
    columns: Mapping[str, Any] = table.get("columns", {})
    answers: Mapping[str, Any] = table.get("answers", {})
    if unknown := [
        word
        for word, stance in answers.items()
        if not isinstance(stance, str) or stance not in STANCES
    ]:
        raise UsageError(
            f"{path}: found {unknown[0]} = {answers[unknown[0]]!r} in answers; known are "
            f"{', '.join(STANCES)}"
        )
    name_by_column = {str(column): str(name) for name, column in columns.items()}
    return ReadSettings(
        name_by_column | dict.fromkeys(map(str, table.get("ignore", [])), LEFT_OUT),
        answers={plain_word(word): stance for word, stance in answers.items()},
        **{
            key: table[key]
            for key in KEYS
            if key in table and key not in ("columns", "ignore", "answers")
        },
    )


def write(settings: ReadSettings, path: Path) -> None:
    """Save a mapping in a new file.

    Raises UsageError if the file exists or cannot be written.
    """
    defaults = {setting.name: getattr(AS_IS, setting.name) for setting in fields(ReadSettings)}
    columns = {name: column for column, name in settings.columns.items() if name != LEFT_OUT}
    ignored = [column for column, name in settings.columns.items() if name == LEFT_OUT]
    changed = {
        key: getattr(settings, key)
        for key in KEYS
        if key in defaults and getattr(settings, key) != defaults[key]
    }
    changed.pop("columns", None)
    text = tomli_w.dumps(
        {**({"ignore": ignored} if ignored else {}), **changed, "columns": columns}
    )
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"{path}: the mapping cannot be written ({error.strerror})") from error
