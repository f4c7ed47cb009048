"""What people answered to a questionnaire: one row a person (wide), or one row an answer (long).

    respondent,q-1,q-2          respondent,question,answer
    1,yes,rather no             1,q-1,yes
    2,,no                       2,q-2,no

Which of the two a file is, its header says. Answers are kept as they are given, without outer blanks; an empty cell is
no answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from difflib import get_close_matches
from pathlib import Path

from workbench.domain.questionnaire_tallies import named_few
from workbench.domain.questionnaires import Questionnaire, Respondent
from workbench.formats.spreadsheet import bare
from workbench.formats.tabular import Findings, read_text, records_of

RESPONDENT = "respondent"
LONG = (RESPONDENT, "question", "answer")
ANSWERS = "answers.csv"

Record = tuple[int, list[str]]
"(line on which it begins, cells)"
People = dict[str, dict[str, str]]
"respondent -> ref -> answer as given"


def read_answers(
    path: Path, questionnaire: Questionnaire, statements: Collection[str], findings: Findings
) -> tuple[tuple[Respondent, ...], tuple[str, ...]]:
    """Return the people of a file in its order, and sentences on whom it names without an answer: they are left out.

    Every fault is noted. `questionnaire`: its respondents do not matter. `statements`: refs of the instrument, those
    without a role among them.
    """
    check = _Check(path, questionnaire, statements, findings)
    records = _records(path, findings)
    line, header = next(records, (1, []))
    if not header:
        if not findings.found:
            findings.add(path, 1, None, "an empty file", f"a header: {RESPONDENT} and refs, or {', '.join(LONG)}")
        return (), ()
    if sorted(header) == sorted(LONG):
        people = _long(header, records, check)
    else:
        people = _wide(line, header, records, check)
    silent = [name for name, answers in people.items() if not answers]
    return (
        tuple(Respondent(name, answers) for name, answers in people.items() if answers),
        (f"{_those(len(silent))} left out, without any answer in {path.name}: {named_few(silent)}.",) if silent else (),
    )


def _those(people: int) -> str:
    return "1 respondent was" if people == 1 else f"{people:,} respondents were"


class _Check:
    """What may be answered, and with what; each question and answer that is not so is noted."""

    def __init__(self, path: Path, questionnaire: Questionnaire, statements: Collection[str], findings: Findings):
        self.path, self._findings, self._statements = path, findings, statements
        scales = {scale.name: scale for scale in questionnaire.scales}
        self._scales = {question.ref: scales.get(question.scale) for question in questionnaire.questions}
        self._good: dict[str, set[str]] = {question.ref: set() for question in questionnaire.questions}

    def note(self, line: int, column: str | None, found: str, expected: str) -> None:
        self._findings.add(self.path, line, column, found, expected)

    def ref(self, ref: str, line: int, column: str) -> bool:
        """Return whether there is such a question; otherwise note which is near."""
        if ref in self._scales:
            return True
        if ref in self._statements:
            self.note(line, column, f"{ref!r}, a statement without a role", "a question: a statement with a role")
            return False
        near = get_close_matches(ref, self._scales, 1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        self.note(line, column, f"an unknown question {ref!r}", f"a question that the instrument has{hint}")
        return False

    def answer(self, ref: str, value: str, line: int, column: str) -> None:
        """Note an answer that is not on the question's scale; each value of a question is looked up once."""
        good, scale = self._good[ref], self._scales[ref]
        if value in good or scale is None:  # an unknown scale was noted with the statement
            return
        if scale.option(value) is not None:
            good.add(value)
            return
        said = repr(value) if column == ref else f"{value!r} to {ref!r}"
        self.note(line, column, said, f"an answer of the scale {scale.name}: {scale.described()}")


def _records(path: Path, findings: Findings) -> Iterator[Record]:
    """Yield the header and the rows that are as long as it, without blank lines, outer blanks and guards."""
    text = read_text(path, findings)
    width = None
    for line, cells in records_of(path, text or "", findings):
        if not cells:
            continue
        if width is None:
            if len(cells) == 1 and (sign := next((sign for sign in ";\t" if sign in cells[0]), None)):
                findings.add(path, line, None, f"columns separated by {sign!r}", "columns separated by commas")
                return
            width = len(cells)
        if len(cells) != width:
            findings.add(path, line, None, f"{len(cells)} fields", f"{width}, as in the header")
            continue
        yield line, [bare(cell).strip() if cell else cell for cell in cells]


def _wide(at: int, header: list[str], records: Iterator[Record], check: _Check) -> People:
    """Read one row a person; a column is a question."""
    if RESPONDENT not in header:
        near = get_close_matches(RESPONDENT, header, 1)
        there = f" (there is {near[0]!r})" if near else ""
        check.note(at, RESPONDENT, f"no such column{there}", f"{RESPONDENT} and refs, or {', '.join(LONG)}")
        return {}
    for name in dict.fromkeys(header):
        if header.count(name) > 1:
            check.note(at, name, f"{header.count(name)} columns of this name", "one")
    who = header.index(RESPONDENT)
    columns = [(n, ref) for n, ref in enumerate(header) if ref != RESPONDENT and check.ref(ref, at, ref)]
    people: People = {}
    lines: dict[str, int] = {}
    for line, cells in records:
        name = cells[who]
        if not _is_new(name, line, lines, check):
            continue
        people[name] = answers = {ref: cells[n] for n, ref in columns if cells[n]}
        for ref, value in answers.items():
            check.answer(ref, value, line, ref)
    return people


def _is_new(name: str, line: int, lines: dict[str, int], check: _Check) -> bool:
    if not name:
        check.note(line, RESPONDENT, "an empty cell", "some text")
        return False
    first = lines.setdefault(name, line)
    if first != line:
        check.note(line, RESPONDENT, f"{name!r} again, after line {first}", "every respondent once")
    return first == line


def _long(header: list[str], records: Iterator[Record], check: _Check) -> People:
    """Read one row an answer."""
    who, what, said = (header.index(column) for column in LONG)
    people: People = {}
    lines: dict[tuple[str, str], int] = {}
    for line, cells in records:
        name, ref, value = cells[who], cells[what], cells[said]
        empty = [column for column, cell in ((RESPONDENT, name), ("question", ref)) if not cell]
        for column in empty:
            check.note(line, column, "an empty cell", "some text")
        if empty or not check.ref(ref, line, "question"):
            continue
        first = lines.setdefault((name, ref), line)
        if first != line:
            found = f"another answer of {name!r} to {ref!r}, after line {first}"
            check.note(line, "question", found, "one answer of a person to a question")
            continue
        answers = people.setdefault(name, {})
        if value:
            answers[ref] = value
            check.answer(ref, value, line, "answer")
    return people


def answer_rows(questionnaire: Questionnaire) -> tuple[tuple[str, ...], Iterator[tuple[str, ...]]]:
    """Return (header, rows) of a file: wide, unless the refs would make a header of another meaning."""
    refs = tuple(question.ref for question in questionnaire.questions)
    if RESPONDENT in refs or set(refs) == set(LONG[1:]):
        return LONG, _long_rows(questionnaire, refs)
    rows = ((one.name, *(one.answers.get(ref, "") for ref in refs)) for one in questionnaire.respondents)
    return (RESPONDENT, *refs), rows


def _long_rows(questionnaire: Questionnaire, refs: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for one in questionnaire.respondents:
        yield from ((one.name, ref, one.answers[ref]) for ref in refs if ref in one.answers)
