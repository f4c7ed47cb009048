"""People's answers to a questionnaire: one row per person (wide), or one row per answer (long).

    respondent,q-1,q-2          respondent,question,answer
    1,yes,rather no             1,q-1,yes
    2,,no                       2,q-2,no

The header shows which of the two a file is. Answers are kept as given, without outer spaces. An
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
    QuestionRole,
    Respondent,
    Scale,
    folded,
    named_few,
)
from workbench.formats.populations import (
    HEAVIEST,
    NOBODY,
    PeopleColumns,
    groups_of,
    weights_of,
    with_weights_and_groups,
)
from workbench.formats.records import (
    AS_IS,
    Findings,
    ReadSettings,
    is_blank,
    likely_header_row,
    records,
)
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
class DeclaredColumns:
    """The codes and columns of a file that the user declares not to be answers."""

    missing: tuple[str, ...] = ()
    """codes for no answer, like an empty cell. A code that is on the scale of a question is
    still an answer to it."""
    ignored: tuple[str, ...] = ()
    "columns about people"
    how: ReadSettings = AS_IS
    who: PeopleColumns = NOBODY
    "columns of weights and groups"


def read_answers(
    path: Path,
    questionnaire: Questionnaire,
    statements: Collection[str],
    findings: Findings,
    *,
    sure: bool = True,
    declared: DeclaredColumns | None = None,
) -> tuple[tuple[Respondent, ...], tuple[str, ...]]:
    """Return the people of a file in its order, and sentences about gaps.

    Gaps are respondents without an answer, who are left out, and questions without a column. Every
    fault is noted.

    The respondents of `questionnaire` are ignored. `statements` has all refs of the instrument,
    including those without a role. `sure` tells that all questions are known. Otherwise unknown
    refs may belong to questions that could not be read, and are not reported.
    """
    declared = declared or DeclaredColumns()
    person_columns = _PersonColumns(declared.who)
    check = _AnswerCheck(path, questionnaire, statements, declared, sure=sure)
    records = _without_columns(
        person_columns.remove_from(whole_records(path, findings, declared.how), check),
        declared.ignored,
        check,
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
        people = _read_wide(line, header, records, check)
    check.tell(findings)
    weights, groups, group_notes = person_columns.facts(path, findings)
    without_answer = [name for name, answers in people.items() if not answers]
    notes = _without_column(path, header, questionnaire) if RESPONDENT in header else []
    notes += _declared_notes(path, declared, check.missing)
    if without_answer:
        notes.append(
            f"{_respondents_were(len(without_answer))} left out, without any answer in "
            f"{path.name}: {named_few(without_answer)}."
        )
    respondents = [Respondent(name, answers) for name, answers in people.items() if answers]
    weighted, weight_notes = with_weights_and_groups(respondents, weights, groups)
    return weighted, (*notes, *group_notes, *weight_notes)


def looks_like_answers(header: Collection[str]) -> bool:
    """Return whether a header is that of a file of answers.

    Files of statements or of a survey of wordings have another one.
    """
    names = {name.strip().casefold() for name in header}
    return RESPONDENT in names and "ref" not in names


def _without_column(path: Path, header: Sequence[str], questionnaire: Questionnaire) -> list[str]:
    """Return the sentences about questions that have no column in a wide file, targets first."""
    if sorted(header) == sorted(LONG):
        return []
    notes = []
    for role in (QuestionRole.TARGET, QuestionRole.CONTEXT):
        missing_refs = [
            question.ref for question in questionnaire.of_role(role) if question.ref not in header
        ]
        if missing_refs:
            kind = f"{role} question" if len(missing_refs) == 1 else f"{role} questions"
            notes.append(f"{path.name} has no column for the {kind} {named_few(missing_refs)}.")
    return notes


def _declared_notes(path: Path, declared: DeclaredColumns, missing: Counter[str]) -> list[str]:
    """Return the sentences about codes and columns that were left out as the user declared."""
    notes = []
    if declared.missing:
        codes = ", ".join(f"{code} ({missing[folded(code)]:,})" for code in declared.missing)
        notes.append(f"{path.name}: codes read as no answer, with their counts: {codes}.")
    if declared.ignored:
        notes.append(f"{path.name}: columns left out: {named_few(declared.ignored)}.")
    return notes


def _respondents_were(people: int) -> str:
    return "1 respondent was" if people == 1 else f"{people:,} respondents were"


@dataclass(slots=True)
class _Fault:
    """A cause of faults and all its places."""

    line: int
    "line of the first place, like the next two fields"
    column: str | None
    found: str
    expected: str
    times: int = 0
    questions: set[str] = field(default_factory=set)

    def description(self) -> str:
        """Return the finding, and the number of times if it occurred repeatedly."""
        if self.times < 2:
            return self.found
        location = (
            f" in answers to {len(self.questions):,} questions" if len(self.questions) > 1 else ""
        )
        return f"{self.found}, {self.times:,} times{location}, here first"


class _AnswerCheck:
    """The questions and their valid answers.

    Each kind of fault is reported once, at its first place.
    """

    def __init__(
        self,
        path: Path,
        questionnaire: Questionnaire,
        statements: Collection[str],
        declared: DeclaredColumns,
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

    def note(self, line: int, column: str | None, problem: str, expected: str) -> None:
        self._faults[line, column, problem] = _Fault(line, column, problem, expected)

    def tell(self, findings: Findings) -> None:
        """Add the noted faults, in the order of their lines."""
        for fault in sorted(self._faults.values(), key=lambda fault: fault.line):
            findings.add(self.path, fault.line, fault.column, fault.description(), fault.expected)

    def _count_fault(
        self, cause: Hashable, line: int, column: str, problem: str, expected: Callable[[], str]
    ) -> _Fault:
        """Count a fault by its cause. The place where it occurred first is kept."""
        fault = self._faults.get(cause)
        if fault is None:
            fault = self._faults[cause] = _Fault(line, column, problem, expected())
        fault.times += 1
        return fault

    def ref(self, ref: str, line: int, column: str) -> bool:
        """Return whether the question exists. Otherwise note the fault with a similar ref."""
        if ref in self._scales:
            return True
        if not self._sure:
            return False
        if ref in self._statements:
            self._without_role(ref, line, column)
        else:
            self._count_fault(
                ("unknown", ref),
                line,
                column,
                f"an unknown question {ref!r}",
                lambda: self._near(ref, wide=column == ref),
            )
        return False

    def _near(self, ref: str, *, wide: bool) -> str:
        similar = nearest(ref, self._scales)
        expected = "a question that the instrument has" + (
            f" (did you mean {similar!r}?)" if similar else ""
        )
        if similar or not wide or self._columns_said:
            return expected
        self._columns_said = True
        return f"{expected}. {OTHER_COLUMNS}"

    def _without_role(self, ref: str, line: int, column: str) -> None:
        """Note all statements without a role as one fault."""
        problem, expected = (
            f"{ref!r}, a statement without a role",
            "a question: a statement with a role",
        )
        fault = self._count_fault("role", line, column, problem, lambda: expected)
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

    def check_answer(self, ref: str, value: str, line: int, column: str) -> None:
        """Note an answer that is not on the scale of its question.

        Each valid value of a question is looked up once.
        """
        valid_values, scale = self._good[ref], self._scales[ref]
        if value in valid_values or scale is None:  # an unknown scale was noted with its statement
            return
        if scale.option(value) is not None:
            valid_values.add(value)
            return
        problem = repr(value) if column == ref else f"{value!r} to {ref!r}"
        cause = ("answer", scale.name, folded(value))
        self._count_fault(
            cause, line, column, problem, lambda: self._on_scale(scale, value)
        ).questions.add(ref)

    def _on_scale(self, scale: Scale, value: str) -> str:
        """Return the valid answers, a similar one, and, once per file, how to add others."""
        scale_words = [
            word
            for option in scale.options
            for word in option.values
            if any(map(str.isalpha, word))
        ]
        similar = nearest(value, scale_words) if any(map(str.isalpha, value)) else None
        expected = f"an answer of the scale {scale.name}: {scale.described()}"
        expected += f" (did you mean {similar!r}?)" if similar else ""
        is_first = not self._own_scales_said
        self._own_scales_said = True
        return f"{expected}. {OWN_SCALES}" if is_first else expected


def whole_records(path: Path, findings: Findings, settings: ReadSettings) -> Iterator[Record]:
    """Yield the header and the rows of the same length.

    Blank lines, outer spaces and guards are removed.
    """
    width = None
    for line, cells in records(path, findings, settings):
        if is_blank(cells):
            continue
        if (
            width is None
            and sum(map(bool, cells)) == 1
            and (header_row := likely_header_row(path, settings)) is not None
        ):
            findings.add(
                path, line, None, "a title or comment above the columns", header_told(header_row)
            )
            return
        width = width or len(cells)
        if len(cells) != width:
            findings.add(path, line, None, f"{len(cells)} fields", f"{width}, as in the header")
            continue
        yield line, [bare(cell).strip() if cell else cell for cell in cells]


class _PersonColumns:
    """The columns of weights and groups, which are removed from the records of a wide file."""

    def __init__(self, who: PeopleColumns) -> None:
        self._who = who
        self._names: list[str] = []
        self._places: list[int] = []
        self._cells: dict[str, list[str]] = {name: [] for name in who.columns}

    def remove_from(self, records: Iterator[Record], check: _AnswerCheck) -> Iterator[Record]:
        """Yield the records without these columns."""
        header_record = next(records, None) if self._cells else None
        if header_record is None:
            yield from records
            return
        header_line, header = header_record
        self._check_header(header_line, header, check)
        index_by_name = {name: header.index(name) for name in self._cells if name in header}
        kept_indices = [index for index, name in enumerate(header) if name not in index_by_name]
        yield header_line, [header[index] for index in kept_indices]
        for line, cells in records:
            if RESPONDENT in header:
                self._names.append(cells[header.index(RESPONDENT)])
                self._places.append(line)
                for name, index in index_by_name.items():
                    self._cells[name].append(cells[index])
            yield line, [cells[index] for index in kept_indices]

    def _check_header(self, line: int, names: Sequence[str], check: _AnswerCheck) -> None:
        """Note the columns that the file does not have once, with a row for each person."""
        is_long = sorted(names) == sorted(LONG)
        for name in self._cells:
            n_columns = names.count(name)
            if n_columns == 1 and not is_long:
                continue
            problem = f"{n_columns} columns of this name" if n_columns else "no such column"
            check.note(line, name, problem, "one column of a file with a row for each person")

    def facts(
        self, path: Path, findings: Findings
    ) -> tuple[dict[str, float | None], dict[str, dict[str, str]], tuple[str, ...]]:
        """Return the weight and the groups of each person, and sentences about missing groups."""
        if findings.found or not self._names:
            return {}, {}, ()
        weight_cells = {name: self._cells[name] for name in self._who.weights}
        weights = weights_of(path, weight_cells, self._places, self._who, findings)
        groups: dict[str, dict[str, str]] = {name: {} for name in self._names}
        notes: tuple[str, ...] = ()
        for grouping in self._who.groups:
            cells, group_notes = groups_of(
                path, grouping, self._cells[grouping.column], self._places, findings
            )
            notes += group_notes
            for name, value in zip(self._names, cells, strict=True):
                if value:
                    groups[name][grouping.name] = value
        return dict(zip(self._names, weights, strict=True)), groups, notes


def _without_columns(
    records: Iterator[Record], ignored: Collection[str], check: _AnswerCheck
) -> Iterator[Record]:
    """Yield the records without the columns of these names.

    Each must exist, and none may be required.
    """
    header_record = next(records, None) if ignored else None
    if header_record is None:
        yield from records
        return
    header_line, header = header_record
    expected = "columns of this file that are no questions"
    for name in dict.fromkeys(ignored):
        if name not in header:
            check.note(header_line, name, "no such column to leave out", expected)
        elif name == RESPONDENT:
            check.note(header_line, name, "a column that has to be there", expected)
    kept_indices = [
        index for index, name in enumerate(header) if name not in ignored or name == RESPONDENT
    ]
    yield header_line, [header[index] for index in kept_indices]
    for line, cells in records:
        yield line, [cells[index] for index in kept_indices]


def _read_wide(
    header_line: int, header: list[str], records: Iterator[Record], check: _AnswerCheck
) -> People:
    """Return the answers of a table with one row per person, whose columns are questions."""
    if RESPONDENT not in header:
        similar = nearest(RESPONDENT, header)
        hint = f" (there is {similar!r})" if similar else ""
        check.note(
            header_line,
            RESPONDENT,
            f"no such column{hint}",
            f"{RESPONDENT} and refs, or {', '.join(LONG)}",
        )
        return {}
    for name in dict.fromkeys(header):
        if header.count(name) > 1:
            check.note(header_line, name, f"{header.count(name)} columns of this name", "one")
    person_index = header.index(RESPONDENT)
    columns = [
        (index, ref)
        for index, ref in enumerate(header)
        if ref != RESPONDENT and check.ref(ref, header_line, ref)
    ]
    people: People = {}
    lines: dict[str, int] = {}
    for line, cells in records:
        name = cells[person_index]
        if not _is_new(name, line, lines, check):
            continue
        people[name] = answers = {
            ref: cells[index] for index, ref in columns if check.is_given(ref, cells[index])
        }
        for ref, value in answers.items():
            check.check_answer(ref, value, line, ref)
    return people


def _is_new(name: str, line: int, lines: dict[str, int], check: _AnswerCheck) -> bool:
    if not name:
        check.note(line, RESPONDENT, "an empty cell", "some text")
        return False
    first_line = lines.setdefault(name, line)
    if first_line != line:
        check.note(
            line, RESPONDENT, f"{name!r} again, after line {first_line}", "every respondent once"
        )
    return first_line == line


def _long(header: list[str], records: Iterator[Record], check: _AnswerCheck) -> People:
    """Read one row per answer."""
    person_index, question_index, answer_index = (header.index(column) for column in LONG)
    people: People = {}
    lines: dict[tuple[str, str], int] = {}
    for line, cells in records:
        name, ref, value = cells[person_index], cells[question_index], cells[answer_index]
        empty_columns = [
            column for column, cell in ((RESPONDENT, name), ("question", ref)) if not cell
        ]
        for column in empty_columns:
            check.note(line, column, "an empty cell", "some text")
        if empty_columns or not check.ref(ref, line, "question"):
            continue
        first_line = lines.setdefault((name, ref), line)
        if first_line != line:
            problem = f"another answer of {name!r} to {ref!r}, after line {first_line}"
            check.note(line, "question", problem, "one answer of a person to a question")
            continue
        answers = people.setdefault(name, {})
        if check.is_given(ref, value):
            answers[ref] = value
            check.check_answer(ref, value, line, "answer")
    return people


RESPONDENTS = "respondents.csv"
PUBLISHED = "published_shares.csv"
PUBLISHED_COLUMNS = ("ref", "group", "value", "answer", "share", "people")
WEIGHT = "weight"


def with_facts(
    path: Path, people: Sequence[Respondent], findings: Findings
) -> tuple[Respondent, ...]:
    """Return people with the weights and groups of `respondents.csv`, if it exists.

    Every other column is a group.
    """
    if not path.exists():
        return tuple(people)
    rows = read_rows(
        path, findings, required=(RESPONDENT,), optional=(WEIGHT,), any_columns=True, guarded=True
    )
    names, facts_by_name = {respondent.name for respondent in people}, {}
    for row in rows:
        name, cells = row.get(RESPONDENT), row.cells
        if name in facts_by_name:
            findings.add(path, row.line, RESPONDENT, f"{name!r} again", "every respondent once")
        elif names and name not in names:
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
        facts_by_name[name] = (1.0 if weight is None else weight, groups)
    return tuple(
        replace(respondent, weight=weight, groups=groups)
        for respondent in people
        for weight, groups in [facts_by_name.get(respondent.name, (1.0, {}))]
    )


def read_published(
    path: Path, questionnaire: Questionnaire, findings: Findings
) -> tuple[PublishedShares, ...]:
    """Return the shares of `published_shares.csv`, if it exists.

    A row has the share of an answer of a population to a question.
    """
    if not path.exists():
        return ()
    scales = {scale.name: scale for scale in questionnaire.scales}
    scale_by_ref = {
        question.ref: scales.get(question.scale) for question in questionnaire.questions
    }
    shares_by_key: dict[tuple[str, str, str], PublishedShares] = {}
    lines: dict[tuple[str, str, str], int] = {}
    columns, may_be_empty = PUBLISHED_COLUMNS, ("people",)
    for row in read_rows(path, findings, required=columns, may_be_empty=may_be_empty, guarded=True):
        ref, group, value, answer = (row.get(column) for column in columns[:4])
        share, people = (
            number(row, "share", findings, low=0, high=1),
            number(row, "people", findings, low=1, high=1e12),
        )
        scale = scale_by_ref.get(ref)
        if ref not in scale_by_ref:
            findings.add(path, row.line, "ref", repr(ref), "a question: a statement with a role")
        elif scale is not None and scale.option(answer) is None:
            findings.add(
                path, row.line, "answer", repr(answer), f"an answer of the scale {scale.name}"
            )
        key = ref, group, value
        lines.setdefault(key, row.line)
        previous = shares_by_key.get(key) or PublishedShares(
            *key, {}, None if people is None else round(people)
        )
        if answer in previous.shares:
            findings.add(
                path, row.line, "answer", f"{answer!r} again", "every answer of a population once"
            )
        shares_by_key[key] = replace(previous, shares={**previous.shares, answer: share or 0.0})
    for key, published_shares in shares_by_key.items():
        if abs(sum(published_shares.shares.values()) - 1) > TOGETHER:
            problem = f"shares that are {sum(published_shares.shares.values()):.4g} together"
            findings.add(
                path,
                lines[key],
                "share",
                problem,
                f"shares of {key[1]}={key[2]} that are 1 together",
            )
    return tuple(shares_by_key.values())


TOGETHER = 0.02
"tolerance of the sum of published shares, which are rounded, from 1"


def facts_rows(questionnaire: Questionnaire) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return (header, rows) of `respondents.csv`.

    It has no rows if nobody has a weight or a group.
    """
    people = questionnaire.respondents
    fields = sorted({field for person in people for field in person.groups})
    if not fields and all(person.weight == 1 for person in people):
        return (RESPONDENT, WEIGHT), []
    rows = [
        (person.name, repr(person.weight), *(person.groups.get(field, "") for field in fields))
        for person in people
    ]
    return (RESPONDENT, WEIGHT, *fields), rows


def published_rows(questionnaire: Questionnaire) -> list[tuple[str, ...]]:
    """Return the rows of `published_shares.csv`."""
    return [
        (
            published_shares.ref,
            published_shares.group,
            published_shares.value,
            answer,
            repr(share),
            "" if published_shares.people is None else str(published_shares.people),
        )
        for published_shares in questionnaire.published
        for answer, share in published_shares.shares.items()
    ]


def answer_rows(questionnaire: Questionnaire) -> tuple[tuple[str, ...], Iterator[tuple[str, ...]]]:
    """Return (header, rows) of a file: wide, unless the refs would make the header ambiguous."""
    refs = tuple(question.ref for question in questionnaire.questions)
    if RESPONDENT in refs or set(refs) == set(LONG[1:]):
        return LONG, _long_rows(questionnaire, refs)
    rows = (
        (respondent.name, *(respondent.answers.get(ref, "") for ref in refs))
        for respondent in questionnaire.respondents
    )
    return (RESPONDENT, *refs), rows


def _long_rows(questionnaire: Questionnaire, refs: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for respondent in questionnaire.respondents:
        yield from (
            (respondent.name, ref, respondent.answers[ref])
            for ref in refs
            if ref in respondent.answers
        )
