"""The labels of one person in Potato's `user_state.json`, with the texts of the task's data files.

The state has labels by the id of an item, and no text. A task of Potato lies in a folder that has
the data files, often in a folder `data`, and the folder of annotations, which has a folder with the
state of each person.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from workbench.errors import UsageError
from workbench.formats.records import Findings, Kind, kind_of, objects, records

STATE_KEY = "instance_id_to_label_to_value"
LEVELS = 4
"""folders above a state that are searched for data files: of the person, of annotations, of the
task, and one more"""
MOST_FILES = 200
"files that are looked into"
FOLDERS = ("", "data", "data_files")
ENDS = (".json", ".jsonl", ".csv", ".tsv")
IDS = ("id", "instance_id")


def items_of(state: Mapping[str, Any], path: Path) -> Iterator[dict[str, Any]]:
    """Yield each labelled item with its texts, its labels by schema, and the person who labelled
    it.

    Raises UsageError if no data file has the texts.
    """
    labelled = {str(item): labels for item, labels in state[STATE_KEY].items() if labels}
    texts = _texts_of(set(labelled), path) if labelled else {}
    if labelled and not texts:
        raise UsageError(
            f"{path}: found labels of Potato by the ids of items, without texts, and no data "
            "file with these ids "
            f"({', '.join(list(labelled)[:3])}). Put the task's data file into this folder, with "
            "the columns id, text "
            "and statement"
        )
    for item, labels in labelled.items():
        yield {
            **texts.get(item, {}),
            "user": state.get("user_id") or path.resolve().parent.name,
            "label_annotations": labels if isinstance(labels, dict) else _by_schema(labels),
            "span_annotations": (state.get("instance_id_to_span_to_value") or {}).get(item) or {},
        }


def _by_schema(pairs: Any) -> dict[str, dict[str, Any]]:
    """Return schema -> label -> value of pairs such as [{"schema": "stance", "name": "agree"},
    "true"].
    """
    schemas: dict[str, dict[str, Any]] = {}
    for label, value in pairs:
        schemas.setdefault(str(label["schema"]), {})[str(label["name"])] = value
    return schemas


def _texts_of(wanted: set[str], path: Path) -> dict[str, dict[str, Any]]:
    """Return the items with these ids from the data files around a state."""
    found: dict[str, dict[str, Any]] = {}
    for file in islice(_files_around(path.resolve()), MOST_FILES):
        for item in _items_in(file):
            key = next((str(item[name]) for name in IDS if name in item), "")
            if key in wanted:
                found.setdefault(key, item)
        if wanted <= found.keys():
            break
    return found


def _files_around(path: Path) -> Iterator[Path]:
    for folder in list(path.parents)[:LEVELS]:
        for name in FOLDERS:
            place = folder / name
            if place.is_dir():
                yield from sorted(
                    file for file in place.iterdir() if file.suffix in ENDS and file.is_file()
                )


def _items_in(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the items of a data file; nothing of a file of another kind."""
    findings = Findings()
    try:
        if kind_of(file) is Kind.TEXT:
            rows = records(file, findings)
            _, header = next(rows)
            yield from (dict(zip(header, cells, strict=False)) for _, cells in rows)
        else:
            yield from (item for _, item in objects(file, findings) if isinstance(item, dict))
    except (UsageError, StopIteration, OSError):
        return


__all__ = ["STATE_KEY", "items_of"]
