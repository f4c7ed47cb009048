"""The supplement of a report: every table that is not on its page.

The tables are data in the page, and files in one archive.
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
from workbench.figures.table import MARKS, WORDS, Column, Kind
from workbench.figures.visible import visible
from workbench.figures.write.data_files import csv_files
from workbench.report.collected import Shown
from workbench.report.own_tables import StatementWithAnswers

INDEX = ("file", "archive", "table", "part", "title", "rows", "definition")
EPOCH = (1980, 1, 1, 0, 0, 0)
"date of every file in the archive, so that the same tables give the same bytes"


def csv_of(shown: Shown) -> bytes:
    """Return a table as a CSV file."""
    (text,) = csv_files([shown.table]).values()
    return text.encode("utf-8", "backslashreplace")


def archive(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Return files as a ZIP archive."""
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as zip_file:
        for name, content in files:
            zip_file.writestr(ZipInfo(name, EPOCH), content, ZIP_DEFLATED)
    return buffer.getvalue()


def index(
    tables: Sequence[Shown], archives: Mapping[str, str], others: Iterable[tuple[str, str]]
) -> bytes:
    """Return a CSV file with the content of each file.

    archives : stem of a table -> the archive that has its file
    others : further files, with their descriptions
    """
    rows = [
        [
            f"{table.stem}.csv",
            archives.get(table.stem, ""),
            table.table.name,
            table.part,
            table.title,
            str(len(table.table.rows)),
            table.table.definition,
        ]
        for table in tables
    ]
    rows += [[name, "", "", "", title, "", ""] for name, title in others]
    return csv_text(INDEX, [list(map(guarded, row)) for row in rows]).encode(
        "utf-8", "backslashreplace"
    )


def packed(
    tables: Sequence[Shown], statements: Mapping[str, tuple[Sequence[StatementWithAnswers], bool]]
) -> str:
    """Return the supplement as compressed JSON in base 64, which markup cannot end.

    All of its text is visible.

    statements : heading -> statements with their answers, and whether these were read
    """
    parts = [
        {"title": visible(part), "tables": [_table(table) for table in part_tables]}
        for part, part_tables in groupby(tables, key=lambda report_table: report_table.part)
    ]
    statement_lists = [_statements(title, *content) for title, content in statements.items()]
    text = json.dumps(
        {"parts": parts, "statements": statement_lists}, ensure_ascii=False, separators=(",", ":")
    )
    return base64.b64encode(zlib.compress(text.encode("utf-8", "backslashreplace"), 6)).decode()


def _table(shown: Shown) -> dict[str, Any]:
    cells, notes = painted(shown.table)
    return {
        "file": shown.stem,
        "name": shown.table.name,
        "title": visible(shown.title),
        "said": visible(
            shown.table.definition if shown.table.rows else " ".join(shown.table.empty.split())
        ),
        "heads": [
            [visible(column.title), visible(column.help), _alignment(column)]
            for column in shown.table.columns
        ],
        "rows": cells,
        "notes": notes,
    }


def _alignment(column: Column[Any]) -> str:
    """Return the class of a column's cells in the page, or an empty string for short texts."""
    if column.numeric:
        return "number"
    return "prose" if column.kind is Kind.PROSE else ""


def _statements(title: str, items: Sequence[StatementWithAnswers], read: bool) -> dict[str, Any]:
    verdicts = sorted(
        f"{MARKS[statement.item.verdict]} {WORDS[statement.item.verdict]}"
        for statement in items
        if statement.item.verdict
    )
    counts = [f"{len(list(group))} {verdict}" for verdict, group in groupby(verdicts)]
    return {
        "title": visible(title),
        "said": ", ".join([plural(len(items), "statement"), *counts]),
        "read": read,
        "items": [_item(statement) for statement in items],
    }


def _item(statement: StatementWithAnswers) -> dict[str, Any]:
    verdict = statement.item.verdict
    return {
        "kind": verdict.value if verdict else "",
        "mark": f"{MARKS[verdict]} {WORDS[verdict]}" if verdict else "",
        "ref": visible(statement.item.ref),
        "text": visible(statement.item.text),
        "said": list(map(visible, statement.item.said)),
        "given": [
            {
                "wording": " ".join(filter(None, (answer.variant, answer.order))),
                "text": visible(answer.wording),
                "read": [f"{visible(label)} {count:,}" for label, count in answer.readings],
                "texts": [[visible(text, lines=True), count] for text, count in answer.texts],
                "more": f"and {answer.more_texts:,} other texts, {answer.more:,} answers"
                if answer.more
                else "",
            }
            for answer in statement.answers
        ],
    }
