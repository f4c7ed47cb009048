"""The supplement of a report: every table that its page does not show, as data in the page and as
one archive.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from itertools import groupby
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from workbench.csv_files import csv_text, guarded
from workbench.domain.names import plural
from workbench.figures.shown import painted
from workbench.figures.table import MARKS, WORDS, Kind
from workbench.figures.visible import visible
from workbench.figures.write.data_files import csv_files
from workbench.report.collected import Shown
from workbench.report.own_tables import Behind

INDEX = ("file", "archive", "table", "part", "title", "rows", "definition")
EPOCH = (1980, 1, 1, 0, 0, 0)
"date of every file in the archive, so that the same tables give the same bytes"


def csv_of(one: Shown) -> bytes:
    """Return a table as a CSV file."""
    (text,) = csv_files([one.table]).values()
    return text.encode("utf-8", "backslashreplace")


def archive(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Return files as a ZIP archive."""
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as made:
        for name, content in files:
            made.writestr(ZipInfo(name, EPOCH), content, ZIP_DEFLATED)
    return buffer.getvalue()


def index(
    tables: Sequence[Shown], archives: Mapping[str, str], others: Iterable[tuple[str, str]]
) -> bytes:
    """Return as CSV what each file holds.

    archives : stem of a table -> the archive that has its file
    others : further files, and what they are
    """
    rows = [
        [
            f"{one.stem}.csv",
            archives.get(one.stem, ""),
            one.table.name,
            one.part,
            one.title,
            str(len(one.table.rows)),
            one.table.definition,
        ]
        for one in tables
    ]
    rows += [[name, "", "", "", title, "", ""] for name, title in others]
    return csv_text(INDEX, [list(map(guarded, row)) for row in rows]).encode(
        "utf-8", "backslashreplace"
    )


def packed(tables: Sequence[Shown], statements: Mapping[str, tuple[Sequence[Behind], bool]]) -> str:
    """Return the supplement as compressed JSON in base 64, which markup cannot end. All of its text
    is painted.

    statements : heading -> statements with their answers, and whether these were read
    """
    parts = [
        {"title": visible(part), "tables": [_table(one) for one in of]}
        for part, of in groupby(tables, key=lambda one: one.part)
    ]
    told = [_statements(title, *of) for title, of in statements.items()]
    text = json.dumps(
        {"parts": parts, "statements": told}, ensure_ascii=False, separators=(",", ":")
    )
    return base64.b64encode(zlib.compress(text.encode("utf-8", "backslashreplace"), 6)).decode()


def _table(one: Shown) -> dict[str, Any]:
    cells, notes = painted(one.table)
    return {
        "file": one.stem,
        "name": one.table.name,
        "title": visible(one.title),
        "said": visible(
            one.table.definition if one.table.rows else " ".join(one.table.empty.split())
        ),
        "heads": [
            [
                visible(of.title),
                visible(of.help),
                "number" if of.numeric else "prose" if of.kind is Kind.PROSE else "",
            ]
            for of in one.table.columns
        ],
        "rows": cells,
        "notes": notes,
    }


def _statements(title: str, items: Sequence[Behind], read: bool) -> dict[str, Any]:
    marks = sorted(
        f"{MARKS[one.item.verdict]} {WORDS[one.item.verdict]}" for one in items if one.item.verdict
    )
    counted = [f"{len(list(of))} {mark}" for mark, of in groupby(marks)]
    return {
        "title": visible(title),
        "said": ", ".join([plural(len(items), "statement"), *counted]),
        "read": read,
        "items": [_item(one) for one in items],
    }


def _item(one: Behind) -> dict[str, Any]:
    verdict = one.item.verdict
    return {
        "kind": verdict.value if verdict else "",
        "mark": f"{MARKS[verdict]} {WORDS[verdict]}" if verdict else "",
        "ref": visible(one.item.ref),
        "text": visible(one.item.text),
        "said": list(map(visible, one.item.said)),
        "given": [
            {
                "wording": " ".join(filter(None, (of.variant, of.order))),
                "text": visible(of.wording),
                "read": [f"{visible(label)} {n:,}" for label, n in of.readings],
                "texts": [[visible(text, lines=True), n] for text, n in of.texts],
                "more": f"and {of.more_texts:,} other texts, {of.more:,} answers"
                if of.more
                else "",
            }
            for of in one.given
        ],
    }
