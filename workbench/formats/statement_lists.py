"""Lists of statements: one a line, or a CSV of one column.

What a list puts before its statements (numbers, letters, bullets) is taken off only if the whole
list has it, and only at the beginning of a line: "30 hours are enough" keeps its number. The notes
of a list say what was taken off.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from workbench.domain.names import plural
from workbench.formats.records import LONGEST, Findings, Kind, kind_of, text_lines

LONGEST_STATEMENT = 500
"characters of a line of a text that is recognised as a list"
FEWEST_WORDS = 3
"of a line of a text that is recognised as a list"
MOST_NAMED = 6
"headings that a note names"
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
_LETTER = re.compile(r"(?P<open>\(?)(?P<letter>[A-Za-z])(?P<close>[.)])\s+(?=\S)")
_ROMAN = re.compile(
    r"(?P<open>[(\[]?)(?=[IVX])(?P<roman>X{0,3}(?:IX|IV|V?I{0,3}))(?P<close>[.):\]]{1,2})\s+(?=\S)",
    re.IGNORECASE,
)
"`I. `, `iv) `, up to 39; capitals and small letters"
_THOUSANDS = re.compile(r"[0-9]{1,3}\s[0-9]{3}(?![0-9])")
_CLEAR = (".", ")", ":", "]", ".)", ").", "):", "].", "]:")
"signs behind a number that make it an enumeration, even with gaps"
_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»", "»": "«", "‘": "’", "'": "'"}


@dataclass(frozen=True, slots=True)
class ListedStatement:
    """One statement of a list."""

    line: int
    ref: str
    "number or letter that the list gives it; empty if it gives none"
    text: str


@dataclass(frozen=True, slots=True)
class StatementList:
    """The statements of a list."""

    statements: tuple[ListedStatement, ...]
    notes: tuple[str, ...]
    "what was taken off or left out, in sentences"
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
        return tuple(str(place) for place in range(1, len(refs) + 1))


def read_list(path: Path, findings: Findings, encoding: str = "") -> StatementList:
    """Return the statements of a text. What cannot be read is noted in `findings`."""
    lines = list(_lines_of(path, findings, encoding))
    return parse_list(lines)


def is_list(path: Path, encoding: str = "") -> bool:
    """Return whether a text is a list: two lines or more, all numbered or bulleted, or all
    sentences.
    """
    if kind_of(path) is not Kind.TEXT:
        return False
    findings = Findings()
    lines: list[tuple[int, str]] = []
    in_quotes = False
    for number, line in _lines_of(path, findings, encoding):
        is_row = bool(lines) and not in_quotes and bool(line.strip())
        in_quotes ^= line.count('"') % 2 == 1
        # The second row of a large table ends the reading.
        if is_row and not in_quotes and not _may_be_listed(line):
            return False
        if lines or line.strip():
            lines.append((number, line))
    if findings.found:
        return False
    parsed = parse_list(lines)
    texts = [statement.text for statement in parsed.statements]
    if len(texts) < 2 or not all(map(_is_long_enough, texts)):
        return False
    return parsed.is_marked or all(text.endswith(ENDS) for text in texts)


def parse_list(lines: Sequence[tuple[int, str]]) -> StatementList:
    """Return the statements in the non-blank lines of a text, given as (number, line)."""
    notes: list[str] = []
    listed = [ListedStatement(number, "", line.strip()) for number, line in lines if line.strip()]
    cells = _cells_of_one_column(lines)
    if cells is not None:
        listed = cells
        notes.append(
            "Read as a CSV of one column: the quotation marks around its cells were taken off."
        )
    listed, headings = _without_headings(listed)
    title = _title_of(listed, is_quoted=cells is not None)
    if title is not None:
        headings.insert(0, title)
        listed = [statement for statement in listed if statement.line != title.line]
    if headings:
        notes.append(f"Left out: {_named(headings)}.")

    has_boxes = any(_BOX.match(statement.text) for statement in listed)
    listed, n_bullets = _without_bullets(listed)
    if n_bullets:
        box = ", and the box “[ ]” or “[x]” behind it," if has_boxes else ""
        notes.append(f"Taken off: the bullet or dash{box} before {_each(n_bullets)}.")
    listed, said = _without_numbers(listed)
    if said:
        notes.append(said)
    listed, n_quoted = _without_quotes(listed)
    if n_quoted:
        notes.append(f"Taken off: the quotation marks around {_each(n_quoted)}.")
    is_marked = bool(listed) and bool(n_bullets or said)
    kept = [] if said else [one for one in listed if _may_be_marked(one.text)]
    if kept:
        lines_kept = ", ".join(str(one.line) for one in kept[:MOST_NAMED])
        more = f" and {len(kept) - MOST_NAMED:,} more" if len(kept) > MOST_NAMED else ""
        notes.append(
            "Kept as text: the number, letter or dash with which "
            f"{plural(len(kept), 'statement')} of {len(listed):,} "
            f"{'begins' if len(kept) == 1 else 'begin'} (line {lines_kept}{more})."
        )
    return StatementList(
        tuple(listed),
        tuple(notes),
        is_marked,
        partly_marked=tuple(one.line for one in kept if _is_clearly_marked(one.text)),
        left_out=tuple(heading.line for heading in headings),
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
    marked = _BULLET.match(text) or _NUMBER.match(text) or _LETTER.match(text) or _ROMAN.match(text)
    return (
        bool(marked or _HEADING.match(text))
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
    shown = "; ".join(
        f"“{heading.text[:40]}” (line {heading.line})" for heading in headings[:MOST_NAMED]
    )
    more = f" and {len(headings) - MOST_NAMED:,} more" if len(headings) > MOST_NAMED else ""
    return (
        f"{plural(len(headings), 'line')} that {'is' if len(headings) == 1 else 'are'} no "
        f"statement: {shown}{more}"
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
    """Return (statements, headings) of a list in Markdown; lines without a word are headings,
    too.
    """
    headings = [one for one in listed if _HEADING.match(one.text) or _RULE.fullmatch(one.text)]
    if len(headings) == len(listed):
        return list(listed), []
    lines = {heading.line for heading in headings}
    plain = [replace(one, text=_HEADING.sub("", one.text, count=1)) for one in headings]
    return [one for one in listed if one.line not in lines], plain


def _title_of(listed: Sequence[ListedStatement], *, is_quoted: bool) -> ListedStatement | None:
    """Return the first line if it names the column or is the title of a list of marked lines,
    otherwise None.
    """
    if len(listed) < 2:
        return None
    first, others = listed[0], listed[1:]
    if first.text.strip("\"'*:").casefold() in NAMES:
        return first
    if _looks_marked(first.text) or _without_numbers(listed)[1]:
        return None
    marked = _without_bullets(others)[1] or _without_numbers(others)[1]
    if marked and len(others) > 1:
        return first
    is_label = len(first.text.split()) < FEWEST_WORDS and not first.text.endswith(ENDS)
    return (
        first if is_quoted and is_label and all(one.text.endswith(ENDS) for one in others) else None
    )


# ── what stands before and around statements ──────────────────────────────────────────────────────


def _looks_marked(text: str) -> bool:
    """Return whether a line, alone, might begin with a number or a bullet of a list."""
    number = _NUMBER.match(text)
    return _BULLET.match(text) is not None or (number is not None and not number["word"])


def _is_clearly_marked(text: str) -> bool:
    """Return whether a line begins with a bullet, a dash, or a number or letter with a sign behind
    it.
    """
    number = _NUMBER.match(text)
    is_clear = number is not None and number["close"].strip() in _CLEAR
    return is_clear or any(mark.match(text) for mark in (_BULLET, _LETTER, _ROMAN))


def _may_be_marked(text: str) -> bool:
    """Return whether a line begins with anything that enumerates, as `b)`, `II.` and `Q1:` do."""
    number = _NUMBER.match(text)
    is_clear = number is not None and number["close"].strip() in _CLEAR
    return (
        _looks_marked(text)
        or is_clear
        or any(mark.match(text) for mark in (_LETTER, _ROMAN, _THOUSANDS))
    )


def _without_bullets(listed: Sequence[ListedStatement]) -> tuple[list[ListedStatement], int]:
    """Return (statements, their number) without bullets if each has one, otherwise (as they are,
    0).
    """
    matches = [_BULLET.match(statement.text) for statement in listed]
    ends = [match.end() for match in matches if match]
    if not listed or len(ends) < len(listed):
        return list(listed), 0
    return [replace(one, text=one.text[end:]) for one, end in zip(listed, ends, strict=True)], len(
        listed
    )


def _without_numbers(listed: Sequence[ListedStatement]) -> tuple[list[ListedStatement], str]:
    """Return (statements, a sentence) without numbers or letters if they enumerate the list,
    otherwise ("" says so).
    """
    for pattern, group, is_enumeration in (
        (_NUMBER, "number", _is_numbering),
        (_LETTER, "letter", _is_lettering),
        (_ROMAN, "roman", _is_roman_numbering),
    ):
        matches = [pattern.match(statement.text) for statement in listed]
        found = [match for match in matches if match]
        if not found or len(found) < len(listed) or not is_enumeration(found):
            continue
        labels = [_label_of(match, group) for match in found]
        if _restarts([match[group] for match in found]):
            labels = [""] * len(found)  # they begin anew in every part, and name no statement
        shown = found[0][0].strip()
        last = found[-1][0].strip()
        what = (
            f"“{shown}” before the statement"
            if len(found) == 1
            else f"“{shown}” to “{last}” before the statements"
        )
        texts = [one.text[match.end() :] for one, match in zip(listed, found, strict=True)]
        plain = [
            replace(one, ref=label, text=text)
            for one, label, text in zip(listed, labels, texts, strict=True)
        ]
        return plain, f"Taken off: {what}."
    return list(listed), ""


def _label_of(match: re.Match[str], group: str) -> str:
    """Return the ref that an enumeration gives: `7`, `Q01`, `T-2`; a word such as `Thesis` is no
    part of it.
    """
    word = match.groupdict().get("word") or ""
    letters = word.removesuffix("-")
    return f"{word}{match[group]}" if letters.isalpha() and len(letters) <= 2 else match[group]


def _is_numbering(matches: Sequence[re.Match[str]]) -> bool:
    """Return whether numbers enumerate: all are written alike, and they count up or a sign divides
    them from texts.
    """
    if len(
        {(match["open"], match["word"], match["close"].strip()) for match in matches}
    ) > 1 and not _all_clear(matches):
        return False
    numbers = [int(match["number"]) for match in matches]
    counts_up = all(after == before + 1 for before, after in pairwise(numbers))
    word = matches[0]["word"] or ""
    if counts_up and _all_clear(matches):
        return len(numbers) > 1 or numbers[0] <= 1
    if counts_up and not word.endswith((" ", ".", "-")):
        return len(numbers) > 2 or (len(numbers) == 2 and numbers[0] <= 1)
    is_short = all(len(match["number"]) < 4 for match in matches)
    return is_short and len(numbers) > 1 and _all_clear(matches)


def _all_clear(matches: Iterable[re.Match[str]]) -> bool:
    """Return whether a sign or a tab divides each number from its text, and all have the same word
    before them.
    """
    listed = list(matches)
    divided = all(
        match["close"].strip() in _CLEAR or match["space"].startswith("\t") for match in listed
    )
    return divided and len({match["word"] for match in listed}) == 1


def _is_lettering(matches: Sequence[re.Match[str]]) -> bool:
    """Return whether letters enumerate: they rise, from a or A and without a gap unless a bracket
    closes each.
    """
    letters = [match["letter"] for match in matches]
    if len(letters) < 2 or len({(match["open"], match["close"]) for match in matches}) > 1:
        return False
    if matches[0]["close"] == ")":
        return all(before < after for before, after in pairwise(letters)) and _have_one_case(
            letters
        )
    return letters[0] in "aA" and all(
        ord(after) == ord(before) + 1 for before, after in pairwise(letters)
    )


def _is_roman_numbering(matches: Sequence[re.Match[str]]) -> bool:
    """Return whether Roman numerals enumerate: they are written alike and rise, from I unless a
    bracket closes each.
    """
    numerals = [match["roman"] for match in matches]
    if len(numerals) < 2 or len({(match["open"], match["close"]) for match in matches}) > 1:
        return False
    values = [_value_of(numeral) for numeral in numerals]
    is_first = values[0] == 1 or ")" in matches[0]["close"]
    return (
        is_first
        and all(before < after for before, after in pairwise(values))
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
    return sum(-digit if digit < after else digit for digit, after in pairwise([*digits, 0]))


def _have_one_case(marks: Sequence[str]) -> bool:
    return all(mark.isupper() for mark in marks) or all(mark.islower() for mark in marks)


def _restarts(labels: Collection[str]) -> bool:
    """Return whether an enumeration begins anew in the list: 1, 2, 1, 2, 3, or 1, 1, 1."""
    numbers = [int(label) for label in labels if label.isdecimal()]
    if len(set(numbers)) == len(numbers):
        return False
    steps = list(pairwise(numbers))
    return numbers[0] <= 1 and all(after in (before + 1, numbers[0]) for before, after in steps)


def _without_quotes(listed: Sequence[ListedStatement]) -> tuple[list[ListedStatement], int]:
    """Return (statements, their number) without quotation marks around them if all have the same
    ones.
    """
    if len(listed) < 2:
        return list(listed), 0
    first = listed[0].text[:1]
    last = _QUOTES.get(first)
    if last is None or not all(_is_around(one.text, first, last) for one in listed):
        return list(listed), 0
    return [replace(one, text=one.text[1:-1].strip()) for one in listed], len(listed)


def _is_around(text: str, first: str, last: str) -> bool:
    """Return whether quotation marks stand around a whole text and not within it."""
    inside = text[1:-1]
    return (
        text.startswith(first)
        and text.endswith(last)
        and len(text) > 2
        and first not in inside
        and last not in inside
    )
