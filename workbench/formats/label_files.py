"""Label files: people's labels, one event per line, as CSV or JSON Lines.

They are exported, made by hand or of another tool. A file made by hand needs `annotator`,
`response`, `statement` and `label`. Other columns have defaults. Cells of a CSV that a spreadsheet
would read as a formula are written with a leading apostrophe, which is removed on reading.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TextIO

from workbench.csv_files import csv_line
from workbench.domain.annotations import EventKind, LabelEvent
from workbench.domain.keys import content_key
from workbench.domain.names import plural
from workbench.errors import UsageError
from workbench.formats.label_tools import READABLE, Row, read_rows_of, tool_of
from workbench.formats.numbers import finite_number
from workbench.formats.records import Findings, ReadSettings, read_text
from workbench.formats.tabular import read_rows

FORMATS = (".csv", ".jsonl")
READ = (*FORMATS, ".json", ".tsv")
KNOWN = f"label files are {' or '.join(FORMATS)}, or what {', '.join(READABLE)} wrote"
REQUIRED = ("annotator", "response", "statement", "label")
COLUMNS = tuple(field.name for field in fields(LabelEvent) if field.name != "line")
MADE_OF = (
    "kind",
    "annotator",
    "codebook",
    "response",
    "statement",
    "instrument",
    "ref",
    "variant",
    "label",
    "at",
)
"two lines without a uid that agree in these are the same event"
FORMULA = ("=", "+", "-", "@", "\t", "\r")
APOSTROPHE = "'"


def write_labels(events: Iterable[LabelEvent], file: TextIO, kind: str) -> int:
    """Write events to an open file as `.csv` or `.jsonl`, and return their number."""
    count = 0
    if kind == ".csv":
        file.write(csv_line(COLUMNS))
        for event in events:
            values = _json_fields(event)
            file.write(csv_line(_cell(values[name]) for name in COLUMNS))
            count += 1
        return count
    for event in events:
        # ASCII: half a surrogate pair, which UTF-8 cannot hold, is escaped.
        file.write(json.dumps(_json_fields(event)) + "\n")
        count += 1
    return count


def read_labels(
    path: Path, codebook: str = "stance", tell: Callable[[str], None] | None = None
) -> tuple[LabelEvent, ...]:
    """Read a label file.

    `codebook` is used for lines that name none. `tell` receives sentences about omitted data.

    Raises UsageError for a file of another kind, and InputError with every fault: file, line,
    column, finding and expectation.
    """
    if path.suffix not in READ:
        raise UsageError(f"{path}: found a {path.suffix or 'nameless'} file; {KNOWN}")
    if not path.exists():
        raise UsageError(f"{path}: not found")
    findings = Findings()
    tool = tool_of(path)
    if tool:
        rows = _rows_of_tool(tool, path, codebook, findings, tell)
    elif path.suffix in FORMATS:
        rows = _csv_rows(path, findings) if path.suffix == ".csv" else _json_rows(path, findings)
    else:
        raise UsageError(f"{path}: found a {path.suffix} file that no tool of these wrote; {KNOWN}")
    events = [_event(path, line, row, codebook, findings) for line, row in rows]
    if not rows and not findings.found:
        findings.add(path, 2, None, "no label", "one line per label")
    findings.check()
    return tuple(event for event in events if event is not None)


def _rows_of_tool(
    tool: str,
    path: Path,
    codebook: str,
    findings: Findings,
    tell: Callable[[str], None] | None,
) -> list[tuple[int, Row]]:
    """Return the label events of another tool. It is a fault if several lack a statement."""
    rows, omissions = read_rows_of(tool, path, codebook, findings)
    if tell is not None:
        for sentence in (f"Reading {path.name} as labels of {tool}.", *omissions):
            tell(sentence)
    if len(rows) > 1 and not any("statement" in row for _, row in rows):
        n_labels = plural(len(rows), "label")
        expected = "the wording that was answered, as a field `statement` of each task"
        findings.add(path, rows[0][0], "statement", f"nothing, as in all {n_labels}", expected)
        findings.check()
    return rows


def _json_fields(event: LabelEvent) -> dict[str, object]:
    """Return the columns of a label event as values for JSON."""
    values = {name: getattr(event, name) for name in COLUMNS}
    return values | {
        "uid": event.uid.hex(),
        "kind": event.kind.value,
        "basis": event.basis.hex() if event.basis else None,
        "codebook_key": event.codebook_key.hex() if event.codebook_key else None,
    }


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "1" if value else ""
    text = str(value).encode("utf-8", "backslashreplace").decode("utf-8").replace("\x00", "\\x00")
    return APOSTROPHE + text if text.startswith((*FORMULA, APOSTROPHE)) else text


def _csv_rows(path: Path, findings: Findings) -> list[tuple[int, dict[str, str]]]:
    other_columns = tuple(name for name in COLUMNS if name not in REQUIRED)
    rows = read_rows(
        path,
        findings,
        required=("annotator", "statement"),
        optional=(*other_columns, "response", "label"),
        settings=ReadSettings(exact=True),
    )
    for name in ("response", "label"):
        if rows and name not in rows[0].cells:
            findings.add(path, 1, name, "no such column", f"a header with {', '.join(REQUIRED)}")
    return [
        (row.line, {name: _without_apostrophe(text) for name, text in row.cells.items() if text})
        for row in rows
    ]


def _without_apostrophe(cell: str) -> str:
    """Return a cell without the apostrophe that `_cell` added.

    One that begins a word, as in 'tis, stays.
    """
    return (
        cell[1:]
        if cell.startswith(tuple(APOSTROPHE + character for character in (*FORMULA, APOSTROPHE)))
        else cell
    )


def _json_rows(path: Path, findings: Findings) -> list[tuple[int, dict[str, str]]]:
    """Return (line, event as texts) of each line.

    Raises UsageError if the first object has none of our keys.
    """
    rows = []
    is_first = True
    for number, content in enumerate((read_text(path, findings) or "").split("\n"), start=1):
        if not content.strip():
            continue
        try:
            value = json.loads(content)
        except (ValueError, RecursionError):
            findings.add(path, number, None, "text that is not JSON", "one object per line")
            continue
        if not isinstance(value, dict):
            findings.add(
                path, number, None, f"a JSON {type(value).__name__}", "one object per line"
            )
            continue
        if is_first and value and not value.keys() & {"annotator", "statement", "uid"}:
            keys = ", ".join(list(value)[:6])
            raise UsageError(
                f"{path}: found objects with {keys}, which no tool of these writes; {KNOWN}"
            )
        is_first = False
        for key in value:
            if key not in COLUMNS:
                findings.add(path, number, key, "an unknown key", f"one of {', '.join(COLUMNS)}")
        rows.append(
            (
                number,
                {
                    key: item if isinstance(item, str) else json.dumps(item)
                    for key, item in value.items()
                    if item is not None
                },
            )
        )
    return rows


def _event(
    path: Path, line: int, row: Mapping[str, str], codebook: str, findings: Findings
) -> LabelEvent | None:
    """Return the event of a row, or None after noting what is wrong with it."""
    return _EventRow(path, line, row, findings).event(codebook)


@dataclass(frozen=True, slots=True)
class _EventRow:
    """A row of a file of labels. Its methods note faults."""

    path: Path
    line: int
    row: Mapping[str, str]
    findings: Findings

    def event(self, codebook: str) -> LabelEvent | None:
        """Return the event, or None after noting faults. `codebook` is for rows that name none."""
        n_faults = len(self.findings.found)
        kind = self._kind()
        self._check_texts()
        labelled_at = self._moment("at")
        imported_at = self._moment("imported_at")
        confidence = self._number("confidence", 1.0)
        elapsed_ms = self._number("elapsed_ms", float(2**53))
        uid = self._bytes("uid")
        basis = self._bytes("basis")
        codebook_key = self._bytes("codebook_key")
        if len(self.findings.found) > n_faults:
            return None
        row = self.row
        codebook = row.get("codebook") or codebook
        return LabelEvent(
            uid=uid or self._derived_uid(kind, codebook, labelled_at),
            kind=kind,
            codebook=codebook,
            annotator=row["annotator"],
            response=row.get("response", ""),
            statement=row["statement"],
            instrument=row.get("instrument", ""),
            ref=row.get("ref", ""),
            variant=row.get("variant") or "original",
            language=row.get("language", ""),
            label=row.get("label") or None,
            reason=row.get("reason", ""),
            note=row.get("note", ""),
            flagged=row.get("flagged", "") in ("1", "true"),
            confidence=confidence,
            elapsed_ms=None if elapsed_ms is None else int(elapsed_ms),
            at=labelled_at,
            imported_at="" if labelled_at else imported_at,
            basis=basis,
            codebook_key=codebook_key,
            attention=row.get("attention", "") in ("1", "true"),
            line=self.line,
        )

    def _note(self, column: str, problem: str, expected: str) -> None:
        self.findings.add(self.path, self.line, column, problem, expected)

    def _kind(self) -> EventKind:
        kind = self.row.get("kind") or EventKind.LABEL.value
        if kind in tuple(EventKind):
            return EventKind(kind)
        self._note("kind", repr(kind), f"one of {', '.join(EventKind)}")
        return EventKind.LABEL

    def _check_texts(self) -> None:
        """Note required texts that are missing, and texts that UTF-8 cannot hold."""
        row = self.row
        if not row.get("annotator"):
            self._note("annotator", "nothing", "a name")
        if not row.get("statement"):
            self._note("statement", "nothing", "the wording that was answered")
        if not row.get("label") and not row.get("uid"):
            self._note("label", "nothing", "a label")
        for name, text in row.items():
            if name not in ("response", "statement") and not _encodable(text):
                self._note(name, f"{text!r}, half a surrogate pair", "text that UTF-8 can hold")

    def _derived_uid(self, kind: EventKind, codebook: str, labelled_at: str) -> bytes:
        """Return a uid for an event that has none. Equal events of two files get the same."""
        identity = {
            **self.row,
            "kind": kind.value,
            "codebook": codebook,
            "at": labelled_at,
            "annotator": " ".join(self.row["annotator"].split()),
            "variant": self.row.get("variant") or "original",
        }
        return content_key(
            [identity.get(name, "").encode("utf-8", "surrogatepass").hex() for name in MADE_OF]
        )

    def _moment(self, name: str) -> str:
        """Return a time in the format of stores, so that times compare as texts.

        A time without a zone is UTC.
        """
        text = self.row.get(name)
        if not text:
            return ""
        try:
            parsed = datetime.fromisoformat(text.strip())
            moment = parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
            if moment < datetime.now(UTC) + timedelta(days=1):
                return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        except (ValueError, OverflowError):
            pass
        self._note(name, repr(text), "a past time, such as 2026-11-21T09:30:00Z, or nothing")
        return ""

    def _number(self, name: str, most: float) -> float | None:
        text = self.row.get(name)
        if not text:
            return None
        value = finite_number(text, low=0, high=most)
        if value is None:
            self._note(name, repr(text), f"a number from 0 to {most:.0f}")
        return value

    def _bytes(self, name: str) -> bytes | None:
        text = self.row.get(name)
        if not text:
            return None
        try:
            value = bytes.fromhex(text)
        except ValueError:
            value = b""
        if len(value) != 16:
            self._note(name, repr(text), "32 hexadecimal digits")
            return None
        return value


def _encodable(text: str) -> bool:
    try:
        return text.encode() is not None
    except UnicodeEncodeError:
        return False
