"""Lists of statements: one a line, or a CSV of one column.

Numbers, letters or bullets before the statements are removed only if the whole list has them, and
only at the beginning of a line: "30 hours are enough" keeps its number. The notes of a list tell
what was removed.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from workbench.domain.names import plural
from workbench.formats.records import LONGEST, FileKind, Findings, kind_of, text_lines

LONGEST_STATEMENT = 500
"largest number of characters of a line of a text that is recognised as a list"
FEWEST_WORDS = 3
"smallest number of words of a line of a text that is recognised as a list"
MOST_NAMED = 6
"the largest number of headings that a note names"
ENDS = tuple(".!?…\"”»'’。！？")
"signs with which a sentence may end"
NAMES = (
    "statement",
    "statements",
    "text",
    "proposition",
    "thesis",
    "these",
    "thesen",
    "item",
    "original",
    "question",
)
"first lines that name the column and are no statement"

_BULLET = re.compile(r"[-*+•‣▪–—]\s+(?:\[[ xX]\]\s+)?(?=\S)")
_BOX = re.compile(r"[-*+•‣▪–—]\s+\[[ xX]\]\s+(?=\S)")
_HEADING = re.compile(r"#{1,6}\s+(?=\S)")
_RULE = re.compile(r"[^\w]+")
"a line without a letter or digit, such as `---`"
_NUMBER = re.compile(
    r"(?P<open>[(\[]?)"
    r"(?P<word>[^\W\d_]{1,12}(?:[ .]{1,2}|-)|[^\W\d_]{1,2})?"
    r"(?P<number>[0-9]{1,4})"
    r"(?P<close>[.):\]]{1,2}(?=\s)|\s*[-–—](?=\s)|(?=\t)|)"
    r"(?P<space>\s+)(?=\S)"
    r"(?!(?<=[0-9][ \u00a0\u2009\u202f])[0-9]{3}(?![0-9]))"  # the thousands of 3 000
)
"`1. `, `(2) `, `Q01 `, `T-2: `, `Thesis 3: `, `4 - `, `5 `"
_NUMBER_ALONE = re.compile(r"[(\[]?[0-9]{1,4}[.):\]]{0,2}")
"a line with a number and no text, such as `1.`"
_FIRST_FIELD = re.compile(
    r"(?P<word>[^\W\d_]{1,12}[ .-]?)?(?P<number>[0-9]{1,4})(?P<close>[,;])\s*(?=\S)"
    r"(?!(?<=,)[0-9]{3}(?![0-9]))"  # the thousands of 3,000
)
"`1,`, `Q01;`, `T-2, `, the first field of a line of a CSV"
_LETTER = re.compile(r"(?P<open>\(?)(?P<letter>[A-Za-z])(?P<close>[.)])\s+(?=\S)")
_ROMAN = re.compile(
    r"(?P<open>[(\[]?)(?=[IVX])(?P<roman>X{0,3}(?:IX|IV|V?I{0,3}))(?P<close>[.):\]]{1,2})\s+(?=\S)",
    re.IGNORECASE,
)
"`I. `, `iv) `, up to 39, in capitals or small letters"
_THOUSANDS = re.compile(r"[0-9]{1,3}\s[0-9]{3}(?![0-9])")
_CLEAR = (".", ")", ":", "]", ".)", ").", "):", "].", "]:")
"signs behind a number that make it an enumeration, even with gaps"
_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»", "»": "«", "‘": "’", "'": "'"}


@dataclass(frozen=True, slots=True)
class ListedStatement:
    """One statement of a list."""

    line: int
    ref: str
    "number or letter that the list gives it, or an empty string if it gives none"
    text: str


@dataclass(frozen=True, slots=True)
class StatementList:
    """The statements of a list."""

    statements: tuple[ListedStatement, ...]
    notes: tuple[str, ...]
    "sentences about removed marks and omitted lines"
    is_marked: bool
    "whether every statement had a number, a letter or a bullet"
    partly_marked: tuple[int, ...] = ()
    "lines that begin with a bullet, a dash, `1.` or `a)`, in a list where others do not"
    left_out: tuple[int, ...] = ()
    "lines that are headings, a title or rules"

    @property
    def refs(self) -> tuple[str, ...]:
        """The refs of the list if each statement has one, otherwise the numbers 1, 2, …"""
        refs = tuple(statement.ref for statement in self.statements)
        if all(refs):
            return refs
        return tuple(str(number) for number in range(1, len(refs) + 1))


def read_list(path: Path, findings: Findings, encoding: str = "") -> StatementList:
    """Return the statements of a text. Unreadable parts are noted in `findings`."""
    lines = list(_lines_of(path, findings, encoding))
    return parse_list(lines)


def is_list(path: Path, encoding: str = "") -> bool:
    """Return whether a text is a list.

    A list has two lines or more, all numbered or bulleted, or all sentences.
    """
    if kind_of(path) is not FileKind.TEXT:
        return False
    lines = _lines_of_list(path, encoding)
    if lines is None:
        return False
    parsed = parse_list(lines)
    texts = [statement.text for statement in parsed.statements]
    if len(texts) < 2 or not all(map(_is_long_enough, texts)):
        return False
    return parsed.is_marked or all(text.endswith(ENDS) for text in texts)


def _lines_of_list(path: Path, encoding: str) -> list[tuple[int, str]] | None:
    """Return the lines from the first one with a text, or None if they are those of no list."""
    findings = Findings()
    lines: list[tuple[int, str]] = []
    in_quotes = False
    for number, line in _lines_of(path, findings, encoding):
        is_row = bool(lines) and not in_quotes and bool(line.strip())
        in_quotes ^= line.count('"') % 2 == 1
        # The second row of a large table ends the reading.
        if is_row and not in_quotes and not _may_be_listed(line):
            return None
        if lines or line.strip():
            lines.append((number, line))
    return None if findings.found else lines


def parse_list(lines: Sequence[tuple[int, str]]) -> StatementList:
    """Return the statements in the non-blank lines of a text, given as (number, line)."""
    reading = _ListReading.from_lines(lines)
    reading.leave_out_headings()
    has_bullets = reading.take_off_bullets()
    has_numbers = reading.take_off_numbers()
    if not has_numbers:
        reading.take_off_first_fields()
    reading.take_off_quotes()
    marked = [] if has_numbers else reading.note_kept_marks()
    clearly_marked = [statement for statement in marked if _is_clearly_marked(statement.text)]
    return StatementList(
        tuple(reading.statements),
        tuple(reading.notes),
        is_marked=bool(reading.statements) and (has_bullets or has_numbers),
        partly_marked=tuple(statement.line for statement in clearly_marked),
        left_out=tuple(heading.line for heading in reading.headings),
    )


@dataclass(slots=True)
class _ListReading:
    """The statements of a list while marks are taken off them, with notes on each step."""

    statements: list[ListedStatement]
    is_csv: bool
    "whether the list is a CSV of one column"
    notes: list[str]
    headings: list[ListedStatement] = field(default_factory=list)
    "the lines that are left out"

    @classmethod
    def from_lines(cls, lines: Sequence[tuple[int, str]]) -> _ListReading:
        """Return the cells of a CSV of one column, or the lines that are not blank."""
        cells = _cells_of_one_column(lines)
        if cells is not None:
            note = (
                "Read as a CSV of one column: the quotation marks around its cells were taken off."
            )
            return cls(cells, is_csv=True, notes=[note])
        texts = [
            ListedStatement(number, "", line.strip()) for number, line in lines if line.strip()
        ]
        return cls(texts, is_csv=False, notes=[])

    def leave_out_headings(self) -> None:
        """Leave out the headings and the title."""
        self.statements, self.headings = _without_headings(self.statements)
        title = _title_of(self.statements, is_quoted=self.is_csv)
        if title is not None:
            self.headings.insert(0, title)
            self.statements = [
                statement for statement in self.statements if statement.line != title.line
            ]
        if self.headings:
            self.notes.append(f"Left out: {_named(self.headings)}.")

    def take_off_bullets(self) -> bool:
        """Take bullets and the boxes of tasks off, and return whether there were any."""
        has_boxes = any(_BOX.match(statement.text) for statement in self.statements)
        self.statements, n_bullets = _without_bullets(self.statements)
        if not n_bullets:
            return False
        box = ", and the box “[ ]” or “[x]” behind it," if has_boxes else ""
        self.notes.append(f"Taken off: the bullet or dash{box} before {_each(n_bullets)}.")
        return True

    def take_off_numbers(self) -> bool:
        """Take numbers or letters off, and return whether there were any."""
        self.statements, note = _without_numbers(self.statements)
        if note:
            self.notes.append(note)
        return bool(note)

    def take_off_first_fields(self) -> None:
        """Take the first column off if it numbers the statements."""
        self.statements, note = _without_first_fields(self.statements)
        if note:
            self.notes.append(note)

    def take_off_quotes(self) -> None:
        """Take quotation marks off."""
        self.statements, n_quoted = _without_quotes(self.statements)
        if n_quoted:
            self.notes.append(f"Taken off: the quotation marks around {_each(n_quoted)}.")

    def note_kept_marks(self) -> list[ListedStatement]:
        """Return the statements that begin with a mark, and note them."""
        marked = [statement for statement in self.statements if _may_be_marked(statement.text)]
        if marked:
            self.notes.append(_kept_note(marked, len(self.statements)))
        return marked


def _kept_note(marked: Sequence[ListedStatement], n_statements: int) -> str:
    """Return a sentence about the statements that begin with a mark that others do not have."""
    lines = ", ".join(str(statement.line) for statement in marked[:MOST_NAMED])
    remainder = f" and {len(marked) - MOST_NAMED:,} more" if len(marked) > MOST_NAMED else ""
    return (
        "Kept as text: the number, letter or dash with which "
        f"{plural(len(marked), 'statement')} of {n_statements:,} "
        f"{'begins' if len(marked) == 1 else 'begin'} (line {lines}{remainder})."
    )


def _lines_of(path: Path, findings: Findings, encoding: str) -> Iterator[tuple[int, str]]:
    lines = (
        line for raw in text_lines(path, findings, encoding, LONGEST) for line in raw.splitlines()
    )
    return enumerate(lines, start=1)


def _may_be_listed(line: str) -> bool:
    """Return whether a line, alone, may be part of a list of sentences."""
    text = line.strip()
    if len(text) > 2 * LONGEST_STATEMENT:
        return False
    mark = _BULLET.match(text) or _NUMBER.match(text) or _LETTER.match(text) or _ROMAN.match(text)
    return (
        bool(mark or _HEADING.match(text))
        or text.endswith(ENDS)
        or _RULE.fullmatch(text) is not None
    )


def _is_long_enough(text: str) -> bool:
    has_words = len(text.split()) >= FEWEST_WORDS or (
        not text.isascii() and len(text) >= 3 * FEWEST_WORDS
    )
    return has_words and len(text) < LONGEST_STATEMENT


def _each(n: int) -> str:
    return "the statement" if n == 1 else f"each of the {n:,} statements"


def _named(headings: Sequence[ListedStatement]) -> str:
    headings_text = "; ".join(
        f"“{heading.text[:40]}” (line {heading.line})" for heading in headings[:MOST_NAMED]
    )
    remainder = f" and {len(headings) - MOST_NAMED:,} more" if len(headings) > MOST_NAMED else ""
    return (
        f"{plural(len(headings), 'line')} that {'is' if len(headings) == 1 else 'are'} no "
        f"statement: {headings_text}{remainder}"
    )


# ── a CSV of one column ───────────────────────────────────────────────────────────────────────────


def _cells_of_one_column(lines: Sequence[tuple[int, str]]) -> list[ListedStatement] | None:
    """Return the cells of a CSV of one column, or None if the text is none or no cell is quoted.

    Commas outside of quotation marks divide fields, so that a list of sentences is no such CSV.
    """
    if not any(line.lstrip().startswith('"') for _, line in lines):
        return None
    reader = csv.reader([f"{line.strip()}\n" for _, line in lines], strict=True)
    cells: list[ListedStatement] = []
    n_read = 0
    try:
        for fields in reader:
            number = lines[n_read][0]
            n_read = reader.line_num
            if len(fields) > 1:
                return None
            if fields and fields[0].strip():
                cells.append(ListedStatement(number, "", fields[0].strip()))
    except csv.Error:
        return None
    return cells


# ── lines that are no statements ──────────────────────────────────────────────────────────────────


def _without_headings(
    listed: Sequence[ListedStatement],
) -> tuple[list[ListedStatement], list[ListedStatement]]:
    """Return (statements, headings) of a list in Markdown.

    Lines without a word are headings, too. A number without a text is never a statement.
    """
    numbers = [statement for statement in listed if _NUMBER_ALONE.fullmatch(statement.text)]
    headings = [
        statement
        for statement in listed
        if _HEADING.match(statement.text) or _RULE.fullmatch(statement.text)
    ]
    if len(headings) + len(numbers) == len(listed):
        headings = []
    lines = {statement.line for statement in (*headings, *numbers)}
    left_out = [statement for statement in listed if statement.line in lines]
    return [statement for statement in listed if statement.line not in lines], [
        replace(statement, text=_HEADING.sub("", statement.text, count=1)) for statement in left_out
    ]


def _title_of(listed: Sequence[ListedStatement], *, is_quoted: bool) -> ListedStatement | None:
    """Return the first line if it names the column or is a title of the list, otherwise None.

    A title stands above marked lines.
    """
    if len(listed) < 2:
        return None
    first, others = listed[0], listed[1:]
    if first.text.strip("\"'*:").casefold() in NAMES:
        return first
    if _looks_marked(first.text) or _without_numbers(listed)[1]:
        return None
    has_marks = _without_bullets(others)[1] or _without_numbers(others)[1]
    if has_marks and len(others) > 1:
        return first
    is_label = len(first.text.split()) < FEWEST_WORDS and not first.text.endswith(ENDS)
    return (
        first
        if is_quoted and is_label and all(statement.text.endswith(ENDS) for statement in others)
        else None
    )


# ── what stands before and around statements ──────────────────────────────────────────────────────


def _looks_marked(text: str) -> bool:
    """Return whether a line, alone, might begin with a number or a bullet of a list."""
    number = _NUMBER.match(text)
    return _BULLET.match(text) is not None or (number is not None and not number["word"])


def _is_clearly_marked(text: str) -> bool:
    """Return whether a line begins with a clear mark.

    It is a bullet, a dash, or a number or letter with a sign behind it.
    """
    number = _NUMBER.match(text)
    is_clear = number is not None and number["close"].strip() in _CLEAR
    return is_clear or any(pattern.match(text) for pattern in (_BULLET, _LETTER, _ROMAN))


def _may_be_marked(text: str) -> bool:
    """Return whether a line begins with any enumeration, such as `b)`, `II.` or `Q1:`."""
    number = _NUMBER.match(text)
    is_clear = number is not None and number["close"].strip() in _CLEAR
    return (
        _looks_marked(text)
        or is_clear
        or any(pattern.match(text) for pattern in (_LETTER, _ROMAN, _THOUSANDS))
    )


def _without_bullets(listed: Sequence[ListedStatement]) -> tuple[list[ListedStatement], int]:
    """Return the statements without bullets, and their number, if each has one.

    Otherwise return them unchanged, and 0.
    """
    matches = [_BULLET.match(statement.text) for statement in listed]
    ends = [match.end() for match in matches if match]
    if not listed or len(ends) < len(listed):
        return list(listed), 0
    return [
        replace(statement, text=statement.text[end:])
        for statement, end in zip(listed, ends, strict=True)
    ], len(listed)


@dataclass(frozen=True, slots=True)
class _Enumeration:
    """A way in which lists enumerate their statements."""

    pattern: re.Pattern[str]
    "the mark at the beginning of a line"
    group: str
    "the group of the pattern with the number or letter"
    is_enumeration: Callable[[Sequence[re.Match[str]]], bool]
    "whether the marks of all lines enumerate the list"

    def marks_of(self, listed: Sequence[ListedStatement]) -> list[re.Match[str]]:
        """Return the mark of each statement, or an empty list if they do not enumerate it."""
        matches = [self.pattern.match(statement.text) for statement in listed]
        marks = [match for match in matches if match]
        is_complete = bool(marks) and len(marks) == len(listed)
        return marks if is_complete and self.is_enumeration(marks) else []

    def labels_of(self, marks: Sequence[re.Match[str]]) -> list[str]:
        """Return the ref that each mark gives. All are empty if they begin anew in every part."""
        if _restarts([mark[self.group] for mark in marks]):
            return [""] * len(marks)
        return [_label_of(mark, self.group) for mark in marks]


def _without_numbers(listed: Sequence[ListedStatement]) -> tuple[list[ListedStatement], str]:
    """Return the statements without the numbers or letters that enumerate the list.

    The second value is a sentence about it, or an empty string if nothing was removed.
    """
    for enumeration in (
        _Enumeration(_NUMBER, "number", _is_numbering),
        _Enumeration(_LETTER, "letter", _is_lettering),
        _Enumeration(_ROMAN, "roman", _is_roman_numbering),
    ):
        marks = enumeration.marks_of(listed)
        if marks:
            labels = enumeration.labels_of(marks)
            return _without_marks(listed, marks, labels), _marks_note(marks)
    return list(listed), ""


def _without_marks(
    listed: Sequence[ListedStatement], marks: Sequence[re.Match[str]], labels: Sequence[str]
) -> list[ListedStatement]:
    """Return the statements without their marks, whose labels are their refs."""
    return [
        replace(statement, ref=label, text=statement.text[mark.end() :])
        for statement, mark, label in zip(listed, marks, labels, strict=True)
    ]


def _marks_note(marks: Sequence[re.Match[str]]) -> str:
    """Return a sentence about the marks that were removed."""
    first_mark = marks[0][0].strip()
    if len(marks) == 1:
        return f"Taken off: “{first_mark}” before the statement."
    return f"Taken off: “{first_mark}” to “{marks[-1][0].strip()}” before the statements."


def _without_first_fields(
    listed: Sequence[ListedStatement],
) -> tuple[list[ListedStatement], str]:
    """Return the statements of a CSV without a header, whose first column is a number.

    The second value is a sentence about it, or an empty string if nothing was removed.
    """
    enumeration = _Enumeration(_FIRST_FIELD, "number", _is_column_of_numbers)
    marks = enumeration.marks_of(listed)
    if not marks:
        return list(listed), ""
    statements = _without_marks(listed, marks, enumeration.labels_of(marks))
    texts = [_cell_of(statement.text) for statement in statements]
    return [
        replace(statement, text=text) for statement, text in zip(statements, texts, strict=True)
    ], _marks_note(marks)


def _cell_of(text: str) -> str:
    """Return the text of a cell, without the quotation marks of a CSV around all of it."""
    if not text.startswith('"'):
        return text
    try:
        fields = next(csv.reader([text], strict=True))
    except csv.Error:
        return text
    return fields[0].strip() if len(fields) == 1 else text


def _is_column_of_numbers(matches: Sequence[re.Match[str]]) -> bool:
    """Return whether numbers are the first column of a CSV: written alike, and rising."""
    are_alike = len({(match["word"], match["close"]) for match in matches}) == 1
    numbers = [int(match["number"]) for match in matches]
    return (
        are_alike
        and len(numbers) > 1
        and all(previous < following for previous, following in pairwise(numbers))
    )


def _label_of(match: re.Match[str], group: str) -> str:
    """Return the ref that an enumeration gives: `7`, `Q01`, `T-2`.

    A word such as `Thesis` is no part of it.
    """
    word = match.groupdict().get("word") or ""
    letters = word.removesuffix("-")
    return f"{word}{match[group]}" if letters.isalpha() and len(letters) <= 2 else match[group]


def _is_numbering(matches: Sequence[re.Match[str]]) -> bool:
    """Return whether numbers enumerate a list.

    All are written alike, and they count up or a sign divides them from texts.
    """
    are_clear = _all_clear(matches)
    styles = {(match["open"], match["word"], match["close"].strip()) for match in matches}
    if len(styles) > 1 and not are_clear:
        return False
    numbers = [int(match["number"]) for match in matches]
    if not _counts_up(numbers):
        return are_clear and all(len(match["number"]) < 4 for match in matches)
    starts_list = numbers[0] <= 1
    if are_clear:
        return len(numbers) > 1 or starts_list
    word = matches[0]["word"] or ""
    if word.endswith((" ", ".", "-")):
        return False
    return len(numbers) > 2 or (len(numbers) == 2 and starts_list)


def _counts_up(numbers: Sequence[int]) -> bool:
    return all(following == previous + 1 for previous, following in pairwise(numbers))


def _all_clear(matches: Iterable[re.Match[str]]) -> bool:
    """Return whether a sign or a tab divides each number from its text.

    All must have the same word before them.
    """
    match_list = list(matches)
    are_divided = all(
        match["close"].strip() in _CLEAR or match["space"].startswith("\t") for match in match_list
    )
    return are_divided and len({match["word"] for match in match_list}) == 1


def _is_lettering(matches: Sequence[re.Match[str]]) -> bool:
    """Return whether letters enumerate a list.

    They rise, from a or A and without a gap unless a bracket closes each.
    """
    letters = [match["letter"] for match in matches]
    if len(letters) < 2 or len({(match["open"], match["close"]) for match in matches}) > 1:
        return False
    if matches[0]["close"] == ")":
        return all(
            previous < following for previous, following in pairwise(letters)
        ) and _have_one_case(letters)
    return letters[0] in "aA" and all(
        ord(following) == ord(previous) + 1 for previous, following in pairwise(letters)
    )


def _is_roman_numbering(matches: Sequence[re.Match[str]]) -> bool:
    """Return whether Roman numerals enumerate a list.

    They are written alike and rise, from I unless a bracket closes each.
    """
    numerals = [match["roman"] for match in matches]
    if len(numerals) < 2 or len({(match["open"], match["close"]) for match in matches}) > 1:
        return False
    values = [_value_of(numeral) for numeral in numerals]
    is_first = values[0] == 1 or ")" in matches[0]["close"]
    return (
        is_first
        and all(previous < following for previous, following in pairwise(values))
        and _have_one_case(numerals)
    )


def _value_of(roman: str) -> int:
    """Return the number that a Roman numeral up to 39 stands for.

    Examples
    --------
    >>> _value_of("iv"), _value_of("XXVIII")
    (4, 28)
    """
    digits = [{"I": 1, "V": 5, "X": 10}[digit] for digit in roman.upper()]
    return sum(
        -digit if digit < following else digit for digit, following in pairwise([*digits, 0])
    )


def _have_one_case(marks: Sequence[str]) -> bool:
    return all(mark.isupper() for mark in marks) or all(mark.islower() for mark in marks)


def _restarts(labels: Collection[str]) -> bool:
    """Return whether an enumeration begins anew in the list: 1, 2, 1, 2, 3, or 1, 1, 1."""
    numbers = [int(label) for label in labels if label.isdecimal()]
    if len(set(numbers)) == len(numbers):
        return False
    steps = list(pairwise(numbers))
    return numbers[0] <= 1 and all(
        following in (previous + 1, numbers[0]) for previous, following in steps
    )


def _without_quotes(listed: Sequence[ListedStatement]) -> tuple[list[ListedStatement], int]:
    """Return the statements without quotation marks around them, and their number.

    This applies if all have the same marks. Otherwise return them unchanged, and 0.
    """
    if len(listed) < 2:
        return list(listed), 0
    opening = listed[0].text[:1]
    closing = _QUOTES.get(opening)
    if closing is None or not all(
        _is_around(statement.text, opening, closing) for statement in listed
    ):
        return list(listed), 0
    return [replace(statement, text=statement.text[1:-1].strip()) for statement in listed], len(
        listed
    )


def _is_around(text: str, first: str, last: str) -> bool:
    """Return whether quotation marks stand around a full text and not within it."""
    inside = text[1:-1]
    return (
        text.startswith(first)
        and text.endswith(last)
        and len(text) > 2
        and first not in inside
        and last not in inside
    )
