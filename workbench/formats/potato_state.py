"""Reads one person's labels from Potato's `user_state.json`, with the texts of the labelled items.

The state has the labels by the ids of items, but no text. A task of Potato is a folder that
contains the data files, often in a subfolder `data`. It also contains a folder of annotations, in
which each person's state has a folder of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from workbench.errors import UsageError
from workbench.formats.records import FileKind, Findings, kind_of, objects, records

STATE_KEY = "instance_id_to_label_to_value"
LEVELS = 4
"""how many folders above a state are searched for data files: the person's, the annotations',
the task's and one more"""
MOST_FILES = 200
"the most files that are searched"
FOLDERS = ("", "data", "data_files")
ENDS = (".json", ".jsonl", ".csv", ".tsv")
IDS = ("id", "instance_id")


def items_of(state: Mapping[str, Any], path: Path) -> Iterator[dict[str, Any]]:
    """Yield each labelled item: its texts, its labels by schema, and the person who labelled it.

    Raises UsageError if no data file contains the texts.
    """
    labelled = {str(item): labels for item, labels in state[STATE_KEY].items() if labels}
    texts = _texts_of(set(labelled), path) if labelled else {}
    if labelled and not texts:
        raise UsageError(
            f"{path}: found labels of Potato by the ids of items, without texts, and no data file "
            f"with these ids ({', '.join(list(labelled)[:3])}). Put the task's data file into this "
            "folder, with the columns id, text and statement"
        )
    for item, labels in labelled.items():
        yield {
            **texts.get(item, {}),
            "user": state.get("user_id") or path.resolve().parent.name,
            "label_annotations": labels if isinstance(labels, dict) else _by_schema(labels),
            "span_annotations": (state.get("instance_id_to_span_to_value") or {}).get(item) or {},
        }


def _by_schema(pairs: Any) -> dict[str, dict[str, Any]]:
    """Return schema -> label -> value.

    A pair is, for example, [{"schema": "stance", "name": "agree"}, "true"].
    """
    schemas: dict[str, dict[str, Any]] = {}
    for label, value in pairs:
        schemas.setdefault(str(label["schema"]), {})[str(label["name"])] = value
    return schemas


def _texts_of(wanted: set[str], path: Path) -> dict[str, dict[str, Any]]:
    """Return the items with these ids, by id, from the data files around a state."""
    item_by_id: dict[str, dict[str, Any]] = {}
    for file in islice(_files_around(path.resolve()), MOST_FILES):
        for item in _items_in(file):
            key = next((str(item[name]) for name in IDS if name in item), "")
            if key in wanted:
                item_by_id.setdefault(key, item)
        if wanted <= item_by_id.keys():
            break
    return item_by_id


def _files_around(path: Path) -> Iterator[Path]:
    for folder in list(path.parents)[:LEVELS]:
        for name in FOLDERS:
            data_folder = folder / name
            if data_folder.is_dir():
                yield from sorted(
                    file for file in data_folder.iterdir() if file.suffix in ENDS and file.is_file()
                )


def _items_in(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the items of a data file, or nothing if the file is of another kind."""
    findings = Findings()
    try:
        if kind_of(file) is FileKind.TEXT:
            rows = records(file, findings)
            _, header = next(rows)
            yield from (dict(zip(header, cells, strict=False)) for _, cells in rows)
        else:
            yield from (item for _, item in objects(file, findings) if isinstance(item, dict))
    except (UsageError, StopIteration, OSError):
        return


__all__ = ["STATE_KEY", "items_of"]
