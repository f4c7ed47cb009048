"""SPSS and Stata files, read by a process of its own: a damaged file may crash the package that
reads them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from datetime import date, datetime, time
from functools import lru_cache
from pathlib import Path
from typing import Any

LONGEST_S = 900
"seconds that a file may take: 50,000 people with 60 questions take 10"
NAN = float("nan")
READERS = {"SPSS": "read_sav", "Stata": "read_dta"}


class UnreadableFile(Exception):
    """A file cannot be read."""


def contents(path: Path, kind: str, columns: Sequence[str] | None) -> dict[str, Any]:
    """Return what a file holds, by the names of pyreadstat's metadata; labels and what is missing
    as (value, …) pairs.

    `values` has for each column its different values, and for each row the place of its own among
    them.

    columns : those to be read, which have to be there; none of them: all, without their values;
        None: all

    Raises UnreadableFile, with what the package says.
    """
    found = path.stat()
    # What it says of its columns is asked for often.
    read = _told if columns is not None and not columns else _read
    return read(
        path.resolve(),
        kind,
        None if columns is None else tuple(columns),
        found.st_size,
        found.st_mtime_ns,
    )


def _read(path: Path, kind: str, columns: tuple[str, ...] | None, *_state: int) -> dict[str, Any]:
    command = [sys.executable, "-m", __name__, str(path), kind, json.dumps(columns)]
    try:
        done = subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, timeout=LONGEST_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise UnreadableFile(f"it was not read in {LONGEST_S} s") from error
    if done.returncode:
        said = (
            done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
            if done.returncode > 0
            else ""
        )
        raise UnreadableFile(said or "the package that reads it broke off")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


_told = lru_cache(maxsize=8)(_read)


def _plain(value: object) -> object:
    """Return what JSON has no sign for as text."""
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    return value.isoformat() if isinstance(value, (date, datetime, time)) else str(value)


def main(path: str, kind: str, columns: list[str] | None) -> None:
    """Write what a file holds to standard output, as JSON."""
    import pyreadstat

    part: dict[str, Any] = (
        {"usecols": columns} if columns else {} if columns is None else {"metadataonly": True}
    )
    values, about = getattr(pyreadstat, READERS[kind])(
        path, output_format="dict", user_missing=True, **part
    )
    if not all(about.column_names):
        raise ValueError("a column without a name")
    coded = {}
    for name in about.column_names:
        known: dict[object, int] = {}
        given = (NAN if value != value else value for value in values[name])  # each NaN is another
        places = [known.setdefault(value, len(known)) for value in given]
        coded[name] = [list(known), places]
    found = {
        "names": about.column_names,
        "questions": [label or "" for label in about.column_labels],
        "labels": {name: list(one.items()) for name, one in about.variable_value_labels.items()},
        "missing": {name: list(one) for name, one in about.missing_user_values.items()},
        "ranges": about.missing_ranges,
        "values": coded,
    }
    json.dump(found, sys.stdout, default=_plain)


if __name__ == "__main__":
    try:
        main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]))
    except (
        Exception
    ) as error:  # the package's own error, and what a damaged file makes of its parts
        sys.exit(str(error) or type(error).__name__)
