"""What the columns of somebody else's file are called here: typed, or kept in a TOML file and used
again.

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
from workbench.formats.records import AS_IS, LEFT_OUT, How
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
    "number of the row, - "
    "leaves a column out); or a file that has a mapping"
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
) -> How:
    """Return how a file is to be read, by what was typed. `mapping`: pairs, or the path of a
    mapping that was kept.

    Raises UsageError for what is neither, InputError for a file at fault.
    """
    kept = AS_IS
    columns: dict[str, str] = {}
    if mapping and "=" not in mapping:
        kept = read(Path(mapping).expanduser())
    else:
        columns = _typed(mapping)
    return How(
        {**kept.columns, **columns, **dict.fromkeys(ignored, LEFT_OUT)},
        sheet or kept.sheet,
        encoding or kept.encoding,
        header and kept.header,
        {**kept.answers, **_stances(answers)},
        language or kept.language,
        decimal or kept.decimal,
        header_row or kept.header_row,
    )


MORE = ("header-row", "decimal", "language", "election")
"what a form takes in one field"


def more_of(text: str) -> dict[str, str]:
    """Read `header-row=3 decimal=, language=de`. Raises UsageError for anything else."""
    given = {}
    for word in text.split():
        name, _, value = word.partition("=")
        if name not in MORE or not value:
            raise UsageError(f"found {word!r}; give {'=… '.join(MORE)}=…")
        given[name] = value
    row, decimal = given.get("header-row", "1"), given.get("decimal", ".")
    if not row.isdecimal() or int(row) < 1:
        raise UsageError(f"found header-row={row}; give the number of a row, from 1")
    if decimal not in (".", ","):
        raise UsageError(f"found decimal={decimal}; give . or ,")
    return given


def _stances(typed: str) -> dict[str, str]:
    """Return the stances that words stand for, of pairs with commas between them."""
    found: dict[str, str] = {}
    for pair in _typed_pairs(typed):
        word, sign, stance = pair.rpartition("=")
        word, stance = plain_word(word), plain_word(stance)
        if not (word and sign) or stance not in STANCES:
            raise UsageError(
                f"--answers: found {pair!r}; give WORD=STANCE, of {', '.join(STANCES)}"
            )
        if found.setdefault(word, stance) != stance:
            raise UsageError(f"--answers: {word} is named twice; name it once")
    return found


def _typed(mapping: str) -> dict[str, str]:
    columns: dict[str, str] = {}
    for pair in _typed_pairs(mapping):
        name, sign, column = (part.strip() for part in pair.partition("="))
        if not (name and sign and column):
            raise UsageError(f"--map: found {pair!r}; {TYPED}")
        if column in columns or (name in columns.values() and name != LEFT_OUT):
            raise UsageError(
                f"--map: {name if name in columns.values() else column} is named twice; name it "
                "once"
            )
        columns[column] = name
    return columns


def written(how: How) -> str:
    """Return the columns of a mapping as they are typed; what is left out is called -."""
    return pairs_text((name, column) for column, name in how.columns.items())


def pairs_text(pairs: Iterable[tuple[str, str]]) -> str:
    """Return pairs as they are typed, in quotation marks where a comma is part of one.

    Examples
    --------
    >>> print(pairs_text([("original", "text, in English"), ("ref", "#")]))
    "original=text, in English",ref=#
    """
    line = StringIO()
    csv.writer(line, lineterminator="").writerow([f"{name}={column}" for name, column in pairs])
    return line.getvalue()


def _typed_pairs(text: str) -> list[str]:
    """Return the pairs of a text with commas between them; one in quotation marks may have
    commas.
    """
    try:
        [fields] = csv.reader([text], skipinitialspace=True, strict=True)
    except (csv.Error, ValueError):
        fields = text.split(",")
    return [field.strip() for field in fields if field.strip()]


def read(path: Path) -> How:
    """Return a mapping that was kept. Raises UsageError where there is no such file, InputError for
    its faults.
    """
    if not path.is_file():
        raise UsageError(f"--map {path}: no such file; {TYPED}")
    held = TomlFile.read(path).table
    for key, value in held.items():
        if not isinstance(value, KEYS.get(key, ())):
            raise UsageError(f"{path}: found {key} = {value!r}; known are {', '.join(KEYS)}")
    columns: Mapping[str, Any] = held.get("columns", {})
    answers: Mapping[str, Any] = held.get("answers", {})
    if odd := [
        word
        for word, stance in answers.items()
        if not isinstance(stance, str) or stance not in STANCES
    ]:
        raise UsageError(
            f"{path}: found {odd[0]} = {answers[odd[0]]!r} in answers; known are "
            f"{', '.join(STANCES)}"
        )
    said = {str(column): str(name) for name, column in columns.items()}
    return How(
        said | dict.fromkeys(map(str, held.get("ignore", [])), LEFT_OUT),
        answers={plain_word(word): stance for word, stance in answers.items()},
        **{
            key: held[key]
            for key in KEYS
            if key in held and key not in ("columns", "ignore", "answers")
        },
    )


def write(how: How, path: Path) -> None:
    """Keep a mapping. Raises UsageError where the file is there already or cannot be written."""
    usual = {one.name: getattr(AS_IS, one.name) for one in fields(How)}
    columns = {name: column for column, name in how.columns.items() if name != LEFT_OUT}
    ignored = [column for column, name in how.columns.items() if name == LEFT_OUT]
    others = {
        key: getattr(how, key) for key in KEYS if key in usual and getattr(how, key) != usual[key]
    }
    others.pop("columns", None)
    text = tomli_w.dumps({**({"ignore": ignored} if ignored else {}), **others, "columns": columns})
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"{path}: the mapping cannot be written ({error.strerror})") from error
