"""Reads SPSS and Stata files in a separate process.

A damaged file may crash the package that reads it, and that must not stop the workbench.
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
"""the longest that reading a file may take, in seconds. A file of 50,000 people and 60 questions
takes 10."""
NAN = float("nan")
READERS = {"SPSS": "read_sav", "Stata": "read_dta"}


class UnreadableFile(Exception):
    """A file cannot be read."""


def contents(path: Path, kind: str, columns: Sequence[str] | None) -> dict[str, Any]:
    """Return what a file contains, under the names of pyreadstat's metadata.

    `values` has, for each column, a list of its distinct values, and for each row the index of its
    value in that list. Labels and missing values are lists of (value, …) pairs.

    `columns` names the columns to read, all of which must exist. If it is empty, all columns are
    described but none of their values are read. If it is None, everything is read.

    Raises UnreadableFile, with the package's message.
    """
    file_status = path.stat()
    # The description of the columns is asked for often, so it is cached.
    read_contents = _told if columns is not None and not columns else _read
    return read_contents(
        path.resolve(),
        kind,
        None if columns is None else tuple(columns),
        file_status.st_size,
        file_status.st_mtime_ns,
    )


def _read(path: Path, kind: str, columns: tuple[str, ...] | None, *_state: int) -> dict[str, Any]:
    command = [sys.executable, "-m", __name__, str(path), kind, json.dumps(columns)]
    try:
        process = subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, timeout=LONGEST_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise UnreadableFile(f"it was not read in {LONGEST_S} s") from error
    if process.returncode:
        message = (
            process.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
            if process.returncode > 0
            else ""
        )
        raise UnreadableFile(message or "the package that reads it broke off")
    result: dict[str, Any] = json.loads(process.stdout)
    return result


_told = lru_cache(maxsize=8)(_read)


def _json_value(value: object) -> object:
    """Return a value that JSON cannot represent as text."""
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    return value.isoformat() if isinstance(value, (date, datetime, time)) else str(value)


def main(path: str, kind: str, columns: list[str] | None) -> None:
    """Write what a file contains to standard output, as JSON."""
    import pyreadstat

    selection: dict[str, Any] = {}
    if columns:
        selection = {"usecols": columns}
    elif columns is not None:
        selection = {"metadataonly": True}
    values, metadata = getattr(pyreadstat, READERS[kind])(
        path, output_format="dict", user_missing=True, **selection
    )
    if not all(metadata.column_names):
        raise ValueError("a column without a name")
    coded_columns = {}
    for name in metadata.column_names:
        index_by_value: dict[object, int] = {}
        cells = (NAN if value != value else value for value in values[name])  # each NaN is another
        indices = [index_by_value.setdefault(value, len(index_by_value)) for value in cells]
        coded_columns[name] = [list(index_by_value), indices]
    result = {
        "names": metadata.column_names,
        "questions": [label or "" for label in metadata.column_labels],
        "labels": {
            name: list(labels.items()) for name, labels in metadata.variable_value_labels.items()
        },
        "missing": {name: list(missing) for name, missing in metadata.missing_user_values.items()},
        "ranges": metadata.missing_ranges,
        "values": coded_columns,
    }
    json.dump(result, sys.stdout, default=_json_value)


if __name__ == "__main__":
    try:
        main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]))
    except (
        Exception
    ) as error:  # the package's own error, and what a damaged file makes of its parts
        sys.exit(str(error) or type(error).__name__)
