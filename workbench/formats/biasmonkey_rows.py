"""The rows of a BiasMonkey file of answers, hundreds of thousands, one per answer.

Few rows are distinct, so each distinct row is parsed once, numbered, and then only counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

from workbench.domain.choices import LETTERS, Arm
from workbench.formats.biasmonkey_files import GROUPS, INDEX, Source, text_of, whole_number
from workbench.formats.tabular import Findings, records_of, unknown

COLUMNS = ("key", "response", "group", "num_options")

_LETTERS = frozenset(("", *LETTERS))

Record = str | tuple[str, ...]
"a line, or its cells"
Asked = tuple[str, Arm]
"(key, form)"


@dataclass(frozen=True, slots=True)
class Answer:
    """The content of a row."""

    asked: Asked
    letter: str
    recorded: int


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a file in order; rows with the same content have the same number."""

    kinds: Sequence[Answer] = ()
    "number -> content of the row, in the order of first appearance"
    firsts: Sequence[int] = ()
    "number -> first line of the first such row"
    numbers: Sequence[int] = ()
    "one per row"
    lines: Sequence[int] = ()
    "one per row"

    def first_lines(self) -> dict[Asked, int]:
        """Return the first lines of the answers to each form of each question, in the order of the file."""
        firsts: dict[Asked, int] = {}
        for answer, line in zip(self.kinds, self.firsts, strict=True):
            firsts.setdefault(answer.asked, line)
        return firsts


def read_answer_rows(source: Source, findings: Findings) -> Rows:
    """Return the rows of a file; every fault is noted in `findings`, an invalid value at its first occurrence."""
    text = text_of(source, findings)
    lines, records = _records(source, text, findings) if text is not None else ((), ())
    if not records:
        if not findings.found:
            findings.add(source.path, 1, None, "an empty file", f"a header with {', '.join(COLUMNS)}")
        return Rows()
    header = [name.strip() for name in _cells(records[0])]
    if not _header_is_good(source, lines[0], header, findings):
        return Rows()
    lines, records = lines[1:], records[1:]
    check = _Check(source, header, findings)
    firsts = dict(zip(reversed(records), reversed(lines), strict=True))
    numbers = {record: check.number(line, _cells(record)) for record, line in sorted(firsts.items(), key=_line)}
    if not records:
        findings.add(source.path, 1, None, "no answers", "one row per answer")
    return Rows(check.kinds, check.firsts, list(map(numbers.__getitem__, records)), lines)


def _records(source: Source, text: str, findings: Findings) -> tuple[Sequence[int], Sequence[Record]]:
    """Return the first lines of the records, and the records. Without quotes and blank lines, each line is a record."""
    text = text.replace("\r\n", "\n").removesuffix("\n")
    lines = text.split("\n")
    if '"' not in text and "\r" not in text and "" not in lines:
        return range(1, len(lines) + 1), lines
    found = [(line, tuple(cells)) for line, cells in records_of(source.path, text, findings) if cells]
    return [line for line, _ in found], [cells for _, cells in found]


def _cells(record: Record) -> Sequence[str]:
    return record.split(",") if isinstance(record, str) else record


def _line(item: tuple[Record, int]) -> int:
    return item[1]


def _header_is_good(source: Source, line: int, header: list[str], findings: Findings) -> bool:
    before = len(findings.found)
    for name in COLUMNS:
        if header.count(name) != 1:
            found = f"{header.count(name)} columns of this name" if name in header else "no such column"
            findings.add(source.path, line, name, found, "a required column, once")
    for name in header:
        if name not in (*COLUMNS, INDEX):
            findings.add(source.path, line, name, *unknown("column", name, COLUMNS))
    return len(findings.found) == before


class _Check:
    """Parses rows and numbers them; each invalid value is noted at its first occurrence."""

    def __init__(self, source: Source, header: Sequence[str], findings: Findings):
        self.kinds: list[Answer] = []
        self.firsts: list[int] = []
        self._path, self._findings = source.path, findings
        self._arms = dict(zip(GROUPS[source.stem.bias], Arm, strict=True))
        self._width, self._pick = len(header), itemgetter(*map(header.index, COLUMNS))
        self._noted: set[tuple[str, str]] = set()
        self._numbers: dict[Answer, int] = {}

    def number(self, line: int, cells: Sequence[str]) -> int:
        """Return the number of a row's content; -1, with a note, for an invalid row."""
        if len(cells) != self._width:
            self._findings.add(self._path, line, None, f"{len(cells)} fields", f"{self._width}, as in the header")
            return -1
        key, letter, group, said = (cell.strip() for cell in self._pick(cells))
        arm, recorded = self._arms.get(group), whole_number(said)
        if not key:
            self._note(line, "key", key, "some text")
        if letter not in _LETTERS:
            self._note(line, "response", letter, "a lower-case letter, or nothing for an answer without one")
        if arm is None:
            self._note(line, "group", group, " or ".join(map(repr, self._arms)))
        if recorded is None or not 2 <= recorded <= len(LETTERS):
            self._note(line, "num_options", said, f"a whole number from 2 to {len(LETTERS)}")
        if not key or arm is None or recorded is None:
            return -1
        return self._numbered(Answer((key, arm), letter, recorded), line)

    def _numbered(self, answer: Answer, line: int) -> int:
        if answer not in self._numbers:
            self._numbers[answer] = len(self._numbers)
            self.kinds.append(answer)
            self.firsts.append(line)
        return self._numbers[answer]

    def _note(self, line: int, column: str, value: str, expected: str) -> None:
        if (column, value) not in self._noted:
            self._noted.add((column, value))
            found = repr(value) if value else "an empty cell"
            self._findings.add(self._path, line, column, found, expected)
