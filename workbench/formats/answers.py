"""People's answers to a questionnaire: one row per person (wide), or one row per answer (long).

    respondent,q-1,q-2          respondent,question,answer
    1,yes,rather no             1,q-1,yes
    2,,no                       2,q-2,no

The header shows which of the two a file is. Answers are kept as given, without outer spaces; an
empty cell is no answer. Rows of empty cells are skipped. A fault that occurs many times is reported
once, at its first place.

Survey data sets also have codes for missing answers, and columns about the people. The user
declares them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from workbench.csv_files import bare
from workbench.domain.questionnaires import (
    PublishedShares,
    Questionnaire,
    Respondent,
    Role,
    Scale,
    folded,
    named_few,
)
from workbench.formats.populations import HEAVIEST, NOBODY, Who, groups_of, weights_of, with_who
from workbench.formats.records import AS_IS, Findings, How, is_blank, likely_header_row, records
from workbench.formats.tabular import header_told, nearest, number, read_rows

RESPONDENT = "respondent"
LONG = (RESPONDENT, "question", "answer")
ANSWERS = "answers.csv"
OWN_SCALES = (
    "Remove other answers, or define a scale of your own, [[scales.NAME]] in instrument.toml; "
    "codes for no "
    "answer may be declared: --missing=CODE,…, or missing = [CODE, …] in instrument.toml"
)
OTHER_COLUMNS = (
    "Columns that are not questions may be declared: --ignore NAME,…, or ignored = "
    "[NAME, …] in instrument.toml"
)

Record = tuple[int, list[str]]
"(line on which it begins, cells)"
People = dict[str, dict[str, str]]
"respondent -> ref -> answer as given"


@dataclass(frozen=True, slots=True)
class Declared:
    """The codes and columns of a file that the user declares not to be answers."""

    missing: tuple[str, ...] = ()
    """codes for no answer, like an empty cell; a code that is on the scale of a question is still
    an answer to it"""
    ignored: tuple[str, ...] = ()
    "columns about people"
    how: How = AS_IS
    who: Who = NOBODY
    "columns of weights and groups"


def read_answers(
    path: Path,
    questionnaire: Questionnaire,
    statements: Collection[str],
    findings: Findings,
    *,
    sure: bool = True,
    declared: Declared | None = None,
) -> tuple[tuple[Respondent, ...], tuple[str, ...]]:
    """Return the people of a file in its order, and sentences about gaps: respondents without an
    answer, who are left out, and questions without a column.

    Every fault is noted. `questionnaire`: its respondents are ignored. `statements`: all refs of
    the instrument, including those without a role. `sure`: all questions are known; otherwise
    unknown refs may belong to questions that could not be read, and are not reported.
    """
    declared = declared or Declared()
    aside = _Aside(declared.who)
    check = _Check(path, questionnaire, statements, declared, sure=sure)
    records = _kept(
        aside.taken(whole_records(path, findings, declared.how), check), declared.ignored, check
    )
    line, header = next(records, (1, []))
    if not header:
        if not findings.found:
            findings.add(
                path,
                1,
                None,
                "an empty file",
                f"a header: {RESPONDENT} and refs, or {', '.join(LONG)}",
            )
        return (), ()
    if sorted(header) == sorted(LONG):
        people = _long(header, records, check)
    else:
        people = _wide(line, header, records, check)
    check.tell(findings)
    weights, groups, told = aside.facts(path, findings)
    silent = [name for name, answers in people.items() if not answers]
    notes = _without_column(path, header, questionnaire) if RESPONDENT in header else []
    notes += _as_declared(path, declared, check.missing)
    if silent:
        notes.append(
            f"{_those(len(silent))} left out, without any answer in {path.name}: "
            f"{named_few(silent)}."
        )
    answered = [Respondent(name, answers) for name, answers in people.items() if answers]
    found, dropped = with_who(answered, weights, groups)
    return found, (*notes, *told, *dropped)


def looks_like_answers(header: Collection[str]) -> bool:
    """Return whether a header is that of a file of answers, not of statements or of a survey of
    wordings.
    """
    names = {name.strip().casefold() for name in header}
    return RESPONDENT in names and "ref" not in names


def _without_column(path: Path, header: Sequence[str], questionnaire: Questionnaire) -> list[str]:
    """Name the questions that have no column in a wide file, targets first."""
    if sorted(header) == sorted(LONG):
        return []
    notes = []
    for role in (Role.TARGET, Role.CONTEXT):
        absent = [
            question.ref for question in questionnaire.of_role(role) if question.ref not in header
        ]
        if absent:
            kind = f"{role} question{'s' * (len(absent) != 1)}"
            notes.append(f"{path.name} has no column for the {kind} {named_few(absent)}.")
    return notes


def _as_declared(path: Path, declared: Declared, missing: Counter[str]) -> list[str]:
    """Report what was left out because the user declared it."""
    notes = []
    if declared.missing:
        codes = ", ".join(f"{code} ({missing[folded(code)]:,})" for code in declared.missing)
        notes.append(f"{path.name}: codes read as no answer, with their counts: {codes}.")
    if declared.ignored:
        notes.append(f"{path.name}: columns left out: {named_few(declared.ignored)}.")
    return notes


def _those(people: int) -> str:
    return "1 respondent was" if people == 1 else f"{people:,} respondents were"


@dataclass(slots=True)
class _Fault:
    """One cause and all its places."""

    line: int
    "of the first place, like the next two fields"
    column: str | None
    found: str
    expected: str
    times: int = 0
    questions: set[str] = field(default_factory=set)

    def said(self) -> str:
        """Return what was found and, if it was found repeatedly, how often."""
        if self.times < 2:
            return self.found
        where = (
            f" in answers to {len(self.questions):,} questions" if len(self.questions) > 1 else ""
        )
        return f"{self.found}, {self.times:,} times{where}, here first"


class _Check:
    """The questions and their valid answers; each kind of fault is reported once, at its first
    place.
    """

    def __init__(
        self,
        path: Path,
        questionnaire: Questionnaire,
        statements: Collection[str],
        declared: Declared,
        *,
        sure: bool,
    ):
        self.path, self._statements, self._sure = path, statements, sure
        self._codes = frozenset(map(folded, declared.missing))
        self.missing: Counter[str] = Counter()
        "code for no answer -> number of occurrences"
        self._faults: dict[Hashable, _Fault] = {}
        scales = {scale.name: scale for scale in questionnaire.scales}
        self._scales = {
            question.ref: scales.get(question.scale) for question in questionnaire.questions
        }
        self._own_scales_said = self._columns_said = False
        self._good: dict[str, set[str]] = {
            question.ref: set() for question in questionnaire.questions
        }

    def note(self, line: int, column: str | None, found: str, expected: str) -> None:
        self._faults[line, column, found] = _Fault(line, column, found, expected)

    def tell(self, findings: Findings) -> None:
        """Add the noted faults, in the order of their lines."""
        for fault in sorted(self._faults.values(), key=lambda fault: fault.line):
            findings.add(self.path, fault.line, fault.column, fault.said(), fault.expected)

    def _again(
        self, cause: Hashable, line: int, column: str, found: str, expected: Callable[[], str]
    ) -> _Fault:
        """Count a cause, noting its first place."""
        fault = self._faults.get(cause)
        if fault is None:
            fault = self._faults[cause] = _Fault(line, column, found, expected())
        fault.times += 1
        return fault

    def ref(self, ref: str, line: int, column: str) -> bool:
        """Return whether the question exists; otherwise note the fault with a similar ref."""
        if ref in self._scales:
            return True
        if not self._sure:
            return False
        if ref in self._statements:
            self._without_role(ref, line, column)
        else:
            self._again(
                ("unknown", ref),
                line,
                column,
                f"an unknown question {ref!r}",
                lambda: self._near(ref, wide=column == ref),
            )
        return False

    def _near(self, ref: str, *, wide: bool) -> str:
        near = nearest(ref, self._scales)
        said = "a question that the instrument has" + (f" (did you mean {near!r}?)" if near else "")
        if near or not wide or self._columns_said:
            return said
        self._columns_said = True
        return f"{said}. {OTHER_COLUMNS}"

    def _without_role(self, ref: str, line: int, column: str) -> None:
        """Note all statements without a role as one fault."""
        found, expected = (
            f"{ref!r}, a statement without a role",
            "a question: a statement with a role",
        )
        fault = self._again("role", line, column, found, lambda: expected)
        fault.times = 1
        fault.questions.add(ref)
        if len(fault.questions) > 1:
            fault.found = (
                f"{len(fault.questions):,} statements without a role: "
                f"{named_few(sorted(fault.questions))}"
            )

    def is_given(self, ref: str, value: str) -> bool:
        """Return whether a cell holds an answer, and count the declared codes for no answer."""
        if not value or not self._codes or (code := folded(value)) not in self._codes:
            return bool(value)
        scale = self._scales[ref]
        if scale is not None and scale.option(value) is not None:
            return True
        self.missing[code] += 1
        return False

    def answer(self, ref: str, value: str, line: int, column: str) -> None:
        """Note an answer that is not on the question's scale; each valid value of a question is
        looked up once.
        """
        good, scale = self._good[ref], self._scales[ref]
        if value in good or scale is None:  # an unknown scale was noted with its statement
            return
        if scale.option(value) is not None:
            good.add(value)
            return
        said = repr(value) if column == ref else f"{value!r} to {ref!r}"
        cause = ("answer", scale.name, folded(value))
        self._again(cause, line, column, said, lambda: self._on_scale(scale, value)).questions.add(
            ref
        )

    def _on_scale(self, scale: Scale, value: str) -> str:
        """Return the valid answers, a similar one, and, once per file, how to add others."""
        known = [
            one for option in scale.options for one in option.values if any(map(str.isalpha, one))
        ]
        near = nearest(value, known) if any(map(str.isalpha, value)) else None
        said = f"an answer of the scale {scale.name}: {scale.described()}"
        said += f" (did you mean {near!r}?)" if near else ""
        first = not self._own_scales_said
        self._own_scales_said = True
        return f"{said}. {OWN_SCALES}" if first else said


def whole_records(path: Path, findings: Findings, how: How) -> Iterator[Record]:
    """Yield the header and the rows of the same length, without blank lines, outer spaces and
    guards.
    """
    width = None
    for line, cells in records(path, findings, how):
        if is_blank(cells):
            continue
        if (
            width is None
            and sum(map(bool, cells)) == 1
            and (row := likely_header_row(path, how)) is not None
        ):
            findings.add(path, line, None, "a title or comment above the columns", header_told(row))
            return
        width = width or len(cells)
        if len(cells) != width:
            findings.add(path, line, None, f"{len(cells)} fields", f"{width}, as in the header")
            continue
        yield line, [bare(cell).strip() if cell else cell for cell in cells]


class _Aside:
    """The columns of weights and groups, which are taken out of the records of a wide file."""

    def __init__(self, who: Who) -> None:
        self._who = who
        self._names: list[str] = []
        self._places: list[int] = []
        self._cells: dict[str, list[str]] = {name: [] for name in who.columns}

    def taken(self, records: Iterator[Record], check: _Check) -> Iterator[Record]:
        """Yield the records without these columns."""
        where: dict[str, int] = {}
        kept: list[int] = []
        person = 0
        for line, cells in records if self._cells else ():
            if not kept:
                for name in self._cells:
                    if cells.count(name) != 1 or sorted(cells) == sorted(LONG):
                        found = (
                            f"{cells.count(name)} columns of this name"
                            if cells.count(name)
                            else "no such column"
                        )
                        check.note(
                            line, name, found, "one column of a file with a row for each person"
                        )
                where = {name: cells.index(name) for name in self._cells if name in cells}
                kept = [n for n, name in enumerate(cells) if name not in where]
                person = cells.index(RESPONDENT) if RESPONDENT in cells else -1
            elif person >= 0:
                self._names.append(cells[person])
                self._places.append(line)
                for name, n in where.items():
                    self._cells[name].append(cells[n])
            yield line, [cells[n] for n in kept]
        yield from () if self._cells else records

    def facts(
        self, path: Path, findings: Findings
    ) -> tuple[dict[str, float | None], dict[str, dict[str, str]], tuple[str, ...]]:
        """Return the weight and the groups of each person, and sentences about who is in none."""
        if findings.found or not self._names:
            return {}, {}, ()
        held = {name: self._cells[name] for name in self._who.weights}
        weights = weights_of(path, held, self._places, self._who, findings)
        groups: dict[str, dict[str, str]] = {name: {} for name in self._names}
        notes: tuple[str, ...] = ()
        for grouping in self._who.groups:
            cells, told = groups_of(
                path, grouping, self._cells[grouping.column], self._places, findings
            )
            notes += told
            for name, value in zip(self._names, cells, strict=True):
                if value:
                    groups[name][grouping.name] = value
        return dict(zip(self._names, weights, strict=True)), groups, notes


def _kept(records: Iterator[Record], ignored: Collection[str], check: _Check) -> Iterator[Record]:
    """Yield the records without the columns of these names; each must exist, and none may be
    required.
    """
    if not ignored:
        yield from records
        return
    places: list[int] = []
    for line, cells in records:
        if not places:
            places = [
                place
                for place, name in enumerate(cells)
                if name not in ignored or name == RESPONDENT
            ]
            for name in dict.fromkeys(ignored):
                if name not in cells or name == RESPONDENT:
                    found = (
                        "no such column to leave out"
                        if name not in cells
                        else "a column that has to be there"
                    )
                    check.note(line, name, found, "columns of this file that are no questions")
        yield line, [cells[place] for place in places]


def _wide(at: int, header: list[str], records: Iterator[Record], check: _Check) -> People:
    """Read one row per person; a column is a question."""
    if RESPONDENT not in header:
        near = nearest(RESPONDENT, header)
        there = f" (there is {near!r})" if near else ""
        check.note(
            at, RESPONDENT, f"no such column{there}", f"{RESPONDENT} and refs, or {', '.join(LONG)}"
        )
        return {}
    for name in dict.fromkeys(header):
        if header.count(name) > 1:
            check.note(at, name, f"{header.count(name)} columns of this name", "one")
    who = header.index(RESPONDENT)
    columns = [
        (n, ref) for n, ref in enumerate(header) if ref != RESPONDENT and check.ref(ref, at, ref)
    ]
    people: People = {}
    lines: dict[str, int] = {}
    for line, cells in records:
        name = cells[who]
        if not _is_new(name, line, lines, check):
            continue
        people[name] = answers = {
            ref: cells[n] for n, ref in columns if check.is_given(ref, cells[n])
        }
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
    """Read one row per answer."""
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
        if check.is_given(ref, value):
            answers[ref] = value
            check.answer(ref, value, line, "answer")
    return people


RESPONDENTS = "respondents.csv"
PUBLISHED = "published_shares.csv"
PUBLISHED_COLUMNS = ("ref", "group", "value", "answer", "share", "people")
WEIGHT = "weight"


def with_facts(
    path: Path, people: Sequence[Respondent], findings: Findings
) -> tuple[Respondent, ...]:
    """Return people with the weights and groups of `respondents.csv`, if there: every other column
    is a group.
    """
    if not path.exists():
        return tuple(people)
    rows = read_rows(
        path, findings, required=(RESPONDENT,), optional=(WEIGHT,), any_columns=True, guarded=True
    )
    known, facts = {one.name for one in people}, {}
    for row in rows:
        name, cells = row.get(RESPONDENT), row.cells
        if name in facts:
            findings.add(path, row.line, RESPONDENT, f"{name!r} again", "every respondent once")
        elif known and name not in known:
            findings.add(
                path,
                row.line,
                RESPONDENT,
                f"{name!r}, who answered nothing",
                f"a respondent of {ANSWERS}",
            )
        weight = number(row, WEIGHT, findings, low=0, high=HEAVIEST)
        if WEIGHT in cells and not row.get(WEIGHT):
            findings.add(
                path,
                row.line,
                WEIGHT,
                "an empty cell",
                "a weight; 0 for a person who does not count",
            )
        groups = {
            field: value
            for field, value in cells.items()
            if field not in (RESPONDENT, WEIGHT) and value
        }
        facts[name] = (1.0 if weight is None else weight, groups)
    return tuple(
        replace(one, weight=w, groups=g)
        for one in people
        for w, g in [facts.get(one.name, (1.0, {}))]
    )


def read_published(
    path: Path, questionnaire: Questionnaire, findings: Findings
) -> tuple[PublishedShares, ...]:
    """Return the shares of `published_shares.csv`, if there: a row an answer of a population to a
    question.
    """
    if not path.exists():
        return ()
    scales = {scale.name: scale for scale in questionnaire.scales}
    asked = {question.ref: scales.get(question.scale) for question in questionnaire.questions}
    found: dict[tuple[str, str, str], PublishedShares] = {}
    lines: dict[tuple[str, str, str], int] = {}
    columns, may_be_empty = PUBLISHED_COLUMNS, ("people",)
    for row in read_rows(path, findings, required=columns, may_be_empty=may_be_empty, guarded=True):
        ref, group, value, answer = (row.get(column) for column in columns[:4])
        share, people = (
            number(row, "share", findings, low=0, high=1),
            number(row, "people", findings, low=1, high=1e12),
        )
        scale = asked.get(ref)
        if ref not in asked:
            findings.add(path, row.line, "ref", repr(ref), "a question: a statement with a role")
        elif scale is not None and scale.option(answer) is None:
            findings.add(
                path, row.line, "answer", repr(answer), f"an answer of the scale {scale.name}"
            )
        key = ref, group, value
        lines.setdefault(key, row.line)
        before = found.get(key) or PublishedShares(
            *key, {}, None if people is None else round(people)
        )
        if answer in before.shares:
            findings.add(
                path, row.line, "answer", f"{answer!r} again", "every answer of a population once"
            )
        found[key] = replace(before, shares={**before.shares, answer: share or 0.0})
    for key, one in found.items():
        if abs(sum(one.shares.values()) - 1) > TOGETHER:
            said = f"shares that are {sum(one.shares.values()):.4g} together"
            findings.add(
                path, lines[key], "share", said, f"shares of {key[1]}={key[2]} that are 1 together"
            )
    return tuple(found.values())


TOGETHER = 0.02
"how far published shares may be from 1 together: they are rounded"


def facts_rows(questionnaire: Questionnaire) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return (header, rows) of `respondents.csv`; no rows where nobody has a weight or a group."""
    people = questionnaire.respondents
    fields = sorted({field for one in people for field in one.groups})
    if not fields and all(one.weight == 1 for one in people):
        return (RESPONDENT, WEIGHT), []
    rows = [
        (one.name, repr(one.weight), *(one.groups.get(field, "") for field in fields))
        for one in people
    ]
    return (RESPONDENT, WEIGHT, *fields), rows


def published_rows(questionnaire: Questionnaire) -> list[tuple[str, ...]]:
    """Return the rows of `published_shares.csv`."""
    return [
        (
            one.ref,
            one.group,
            one.value,
            answer,
            repr(share),
            "" if one.people is None else str(one.people),
        )
        for one in questionnaire.published
        for answer, share in one.shares.items()
    ]


def answer_rows(questionnaire: Questionnaire) -> tuple[tuple[str, ...], Iterator[tuple[str, ...]]]:
    """Return (header, rows) of a file: wide, unless the refs would make the header ambiguous."""
    refs = tuple(question.ref for question in questionnaire.questions)
    if RESPONDENT in refs or set(refs) == set(LONG[1:]):
        return LONG, _long_rows(questionnaire, refs)
    rows = (
        (one.name, *(one.answers.get(ref, "") for ref in refs)) for one in questionnaire.respondents
    )
    return (RESPONDENT, *refs), rows


def _long_rows(questionnaire: Questionnaire, refs: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for one in questionnaire.respondents:
        yield from ((one.name, ref, one.answers[ref]) for ref in refs if ref in one.answers)
