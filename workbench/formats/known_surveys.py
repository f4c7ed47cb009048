"""Surveys that are recognised by their columns, with their weights, groups and layouts.

There are three layouts: a file with a row for each person (`surveys`), the folders of OpinionsQA,
whose `info.csv` describes the columns of `responses.csv`, and GlobalOpinionQA, where each row is a
question with shares of its answers by country.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from workbench.domain.instruments import Instrument
from workbench.domain.names import plural
from workbench.domain.questionnaires import (
    AnswerOption,
    Form,
    Meaning,
    PublishedShares,
    Question,
    Questionnaire,
    QuestionRole,
    Scale,
    folded,
    named_few,
)
from workbench.domain.statements import ORIGINAL, Statement, Wording, text_fault
from workbench.errors import UsageError
from workbench.formats.answers import TOGETHER
from workbench.formats.populations import people_columns_of
from workbench.formats.records import (
    AS_IS,
    FileKind,
    Findings,
    ReadSettings,
    Variable,
    header_of,
    kind_of,
    objects,
)
from workbench.formats.surveys import (
    FEWEST,
    MOST_LETTERED,
    Scales,
    SurveyColumns,
    is_refusal,
    read_columns,
    survey_of,
    templates_for,
)
from workbench.formats.tabular import Row, read_rows

INFO, RESPONSES = "info.csv", "responses.csv"
SHARES = ("question", "selections", "options")
"columns of GlobalOpinionQA"
LONGEST_LITERAL = 200_000
"largest number of characters of a list or dictionary that is written in a cell"
AGES = "18-29/30-49/50-64/65+"


@dataclass(frozen=True, slots=True)
class KnownSurvey:
    """A survey whose columns are known."""

    title: str
    needs: tuple[str, ...]
    "columns by which it is recognised"
    weights: tuple[str, ...]
    "as typed. The first one whose columns exist counts."
    groups: tuple[str, ...]
    "as typed. Those whose columns exist count."
    respondent: tuple[str, ...] = ()
    pattern: str = ""
    "pattern of the columns that are questions, or an empty string for all with labels of values"
    negative_missing: bool = False


KNOWN = (
    KnownSurvey(
        "European Social Survey",
        ("cntry", "idno"),
        ("anweight", "pspwght*pweight", "pspwght", "dweight"),
        ("country=cntry", "gender=gndr", "age=agea:15-29/30-49/50-64/65+"),
        ("cntry", "idno"),
    ),
    KnownSurvey(
        "World Values Survey 7",
        ("W_WEIGHT", "B_COUNTRY_ALPHA"),
        ("W_WEIGHT",),
        ("country=B_COUNTRY_ALPHA", "gender=Q260", f"age=Q262:16-29/{AGES.partition('/')[2]}"),
        ("D_INTERVIEW",),
        r"Q(\d{1,2}|1\d\d|2[0-5]\d)[A-Z]?",
        True,
    ),
    KnownSurvey(
        "ANES 2020",
        ("V200001", "V200010b"),
        ("V200010b",),
        ("gender=V201600", f"age=V201507x:{AGES}", "party=V201231x"),
        ("V200001",),
        negative_missing=True,
    ),
    KnownSurvey(
        "ANES 2024",
        ("V240001", "V240107b"),
        ("V240107b",),
        (f"age=V241458x:{AGES}", "party=V241227x"),
        ("V240001",),
        negative_missing=True,
    ),
    KnownSurvey(
        "GLES",
        ("lfdn", "w_ipfges"),
        ("w_ipfges",),
        ("region=ostwest",),
        ("lfdn",),
        negative_missing=True,
    ),
)
_OPINIONS = KnownSurvey(
    "OpinionsQA",
    (),
    (),
    tuple(
        f"{name.lower()}={name}"
        for name in (
            "CREGION",
            "AGE",
            "SEX",
            "EDUCATION",
            "RACE",
            "RELIG",
            "POLPARTY",
            "INCOME",
            "POLIDEOLOGY",
        )
    ),
    ("QKEY",),
)
_WEIGHT = re.compile(r"WEIGHT(_W\d+\w*)?")
_REFERENCES = ("key", "question", "references")


def is_known(path: Path, settings: ReadSettings = AS_IS) -> bool:
    """Return whether a file or folder has the layout of a known survey."""
    if path.is_dir():
        return (path / INFO).is_file() and (path / RESPONSES).is_file()
    header = header_of(path, settings)
    return _has_shares(header) or any(set(survey.needs) <= set(header) for survey in KNOWN)


def read_survey(
    path: Path, name: str | None, wanted: SurveyColumns, settings: ReadSettings = AS_IS
) -> Instrument:
    """Return the instrument of a survey. Known layouts are recognised by their columns.

    Raises UsageError, InputError with every fault, and MissingPackage.
    """
    if path.is_dir():
        return _opinions_qa(path, name or path.resolve().name, wanted)
    findings = Findings()
    header = header_of(path, settings)
    if _has_shares(header):
        return _global_opinions(path, name or path.stem, wanted, settings)
    known_survey = next((survey for survey in KNOWN if set(survey.needs) <= set(header)), None)
    if known_survey is not None:
        wanted = _filled(wanted, known_survey, header)
    columns, places, omitted = read_columns(path, wanted, settings, findings)
    findings.check()
    instrument = survey_of(path, name or path.stem, columns, places, wanted, findings, omitted)
    return (
        instrument
        if known_survey is None
        else replace(instrument, notes=(f"Read as {known_survey.title}.", *instrument.notes))
    )


def _filled(wanted: SurveyColumns, survey: KnownSurvey, header: Sequence[str]) -> SurveyColumns:
    """Return the roles of columns. A known survey fills those that were left empty."""
    columns = set(header)
    weight = next(
        (candidate for candidate in survey.weights if set(candidate.split("*")) <= columns), ""
    )
    groups = [
        group for group in survey.groups if group.partition("=")[2].partition(":")[0] in columns
    ]
    defaults, chosen = people_columns_of(",".join(groups), weight), wanted.who
    return replace(
        wanted,
        who=replace(
            chosen,
            weights=chosen.weights or defaults.weights,
            groups=chosen.groups or defaults.groups,
        ),
        respondent=wanted.respondent
        or (survey.respondent if set(survey.respondent) <= columns else ()),
        pattern="" if wanted.questions else survey.pattern,
        negative_missing=survey.negative_missing,
    )


# ── OpinionsQA ────────────────────────────────────────────────────────────────────────────────────


def _opinions_qa(folder: Path, name: str, wanted: SurveyColumns) -> Instrument:
    """Read a folder of OpinionsQA.

    The description of the columns in `info.csv` is read first, and then the columns.
    """
    if not is_known(folder):
        raise UsageError(
            f"{folder}: found a folder without {INFO} and {RESPONSES}, as OpinionsQA has them; "
            "name a file"
        )
    findings = Findings()
    described = _described_questions(folder / INFO, findings)
    header = header_of(folder / RESPONSES)
    weight = next((column for column in header if _WEIGHT.fullmatch(column)), "")
    wanted = _filled(wanted, replace(_OPINIONS, weights=(weight,) if weight else ()), header)
    for key in (*wanted.questions, *wanted.unordered):
        if key not in described:
            problem = f"nothing about {key!r}"
            findings.add(folder / INFO, None, "key", problem, "a row for each question")
    findings.check()
    all_keys = tuple(key for key in described if key in header)
    read_roles = replace(wanted, questions=wanted.questions or all_keys, unordered=())
    columns, places, omitted = read_columns(folder / RESPONSES, read_roles, AS_IS, findings)
    findings.check()
    for key in {*read_roles.questions} & {*columns}:
        columns[key] = described[key].applied_to(columns[key])
    unordered = tuple(key for key in read_roles.questions if not described[key].is_ordered)
    wanted = replace(wanted, unordered=(*wanted.unordered, *unordered))
    absent_keys = [key for key in described if key not in header]
    omitted = {**omitted, f"without a column in {RESPONSES}": absent_keys}
    instrument = survey_of(folder / RESPONSES, name, columns, places, wanted, findings, omitted)
    return replace(instrument, notes=(f"Read as {_OPINIONS.title}.", *instrument.notes))


@dataclass(frozen=True, slots=True)
class _DescribedQuestion:
    """The description of a question of OpinionsQA."""

    row: Row
    answers: Sequence[str]
    "in their order"
    is_ordered: bool
    "whether the answers have an order"

    def applied_to(self, column: Variable) -> Variable:
        """Return the column of the question with its text and the labels of its answers."""
        labels = {answer: answer for answer in self.answers}
        return replace(column, question=self.row.get("question"), labels=labels)


def _described_questions(path: Path, findings: Findings) -> dict[str, _DescribedQuestion]:
    """Return the descriptions by the key of the question.

    Raises InputError with every fault, such as a key that occurs twice.
    """
    rows = read_rows(
        path, findings, required=_REFERENCES, any_columns=True, may_be_empty=("question",)
    )
    described = {row.get("key"): _described_question(row, findings) for row in rows}
    for row in rows:
        key = row.get("key")
        if described[key].row is not row:
            problem = f"{key!r} again, after line {described[key].row.line}"
            findings.add(row.file, row.line, "key", problem, "it once")
    findings.check()
    return described


def _described_question(row: Row, findings: Findings) -> _DescribedQuestion:
    file, line = row.file, row.line
    raw_answers = _list_of(row.get("references"), file, line, "references", findings)
    answers = [" ".join(str(answer).split()) for answer in raw_answers]
    options = [answer for answer in answers if not is_refusal(answer)]
    is_ordered = True
    if row.get("option_ordinal"):
        ordinals = _list_of(row.get("option_ordinal"), file, line, "option_ordinal", findings)
        numbers = [
            ordinal
            for ordinal in ordinals
            if isinstance(ordinal, (int, float)) and ordinal == ordinal
        ]
        if len(numbers) != len(ordinals) or len(ordinals) not in (len(options), len(answers)):
            problem, expected = (
                f"{len(ordinals)} places for {len(options)} answers",
                "a number for each answer",
            )
            findings.add(file, line, "option_ordinal", problem, expected)
        else:
            rank = dict(
                zip(options if len(ordinals) == len(options) else answers, numbers, strict=True)
            )
            is_ordered = len({rank[option] for option in options}) == len(options)
            answers.sort(
                key=lambda answer: (is_refusal(answer), rank.get(answer, 0) if is_ordered else 0)
            )
    if len(set(answers)) < len(answers):
        findings.add(file, line, "references", "an answer twice", "every answer once")
    return _DescribedQuestion(row, answers, is_ordered)


# ── GlobalOpinionQA ───────────────────────────────────────────────────────────────────────────────


def _has_shares(header: Sequence[str]) -> bool:
    return all(
        any(column == name or column.startswith(f"{name}.") for column in header) for name in SHARES
    )


def _global_opinions(
    path: Path, name: str, wanted: SurveyColumns, settings: ReadSettings
) -> Instrument:
    """Return the questions of a file with the shares of their answers by country.

    If `wanted.skip` is set, faulty questions are excluded.
    """
    findings = Findings()
    skipped = Findings()
    scales = Scales()
    faults = skipped if wanted.skip else findings
    shared = list(_shared_questions(path, wanted, settings, scales, findings, faults))
    findings.check()
    if not shared:
        raise UsageError(f"{path}: no question with shares was found")
    stored_scales = [Scale(name, options) for options, name in scales.names.items()]
    return Instrument(
        name=name,
        title=name,
        statements=tuple(question.statement for question in shared),
        language=wanted.language,
        templates=templates_for(wanted),
        questionnaire=Questionnaire(
            tuple(question.question for question in shared),
            tuple(sorted(stored_scales, key=lambda scale: scale.name)),
            (),
            tuple(chain.from_iterable(question.shares for question in shared)),
        ),
        notes=tuple(_share_notes(shared, wanted, skipped)),
    )


def _shared_questions(
    path: Path,
    wanted: SurveyColumns,
    settings: ReadSettings,
    scales: Scales,
    findings: Findings,
    faults: Findings,
) -> Iterator[_SharedQuestion]:
    """Yield the questions of a file.

    Parameters
    ----------
    scales
        The scales of the questions, which are added.
    findings
        Notes the faults of the file.
    faults
        Notes the faults of single questions.
    """
    requested_refs = set(wanted.questions)
    for number, (place, row) in enumerate(_share_rows(path, findings, settings), start=1):
        source = str(row.get("source") or "").strip()
        ref = f"{source.lower() if source.isalnum() else 'q'}-{number}"
        if requested_refs and ref not in requested_refs:
            continue
        row_findings = Findings(counted=findings.counted)
        question = _share_row(path, place, ref, row, wanted, scales, row_findings)
        faults.found.extend(row_findings.found)
        if question is None:
            continue
        is_skipped = wanted.skip and row_findings.found and not question.shares
        if not is_skipped:
            statement = replace(question.statement, source=source or None)
            yield replace(question, statement=statement)


@dataclass(frozen=True, slots=True)
class _SharedQuestion:
    """A question of GlobalOpinionQA with the shares of its answers."""

    statement: Statement
    question: Question
    shares: Sequence[PublishedShares]
    "by country"


def _share_notes(
    shared: Sequence[_SharedQuestion], wanted: SurveyColumns, skipped: Findings
) -> Iterator[str]:
    yield "Read as GlobalOpinionQA."
    if not wanted.unordered:
        yield (
            "Options have the order of the file; questions whose answers have none: --unordered "
            "REF,…."
        )
    with_shares = {shares.ref for question in shared for shares in question.shares}
    refs = [question.question.ref for question in shared]
    without_shares = [ref for ref in refs if ref not in with_shares]
    if without_shares:
        yield f"Without any shares: {named_few(without_shares, 12)}."
    if skipped.found:
        yield (
            f"{plural(len(skipped.found), 'fault')} left out with --skip, the first: "
            f"{skipped.found[0]}."
        )


def _share_rows(
    path: Path, findings: Findings, settings: ReadSettings
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield (line, row) of each question. The dictionaries and lists of JSON are not changed."""
    if kind_of(path) in (FileKind.LINES, FileKind.JSON):
        for place, value in objects(path, findings):
            if isinstance(value, dict):
                yield place, value
            else:
                findings.add(path, place, None, "no object", "an object for each question")
        return
    for row in read_rows(
        path, findings, required=SHARES, any_columns=True, may_be_empty=SHARES, settings=settings
    ):
        yield row.line, row.cells


def _share_row(
    path: Path,
    place: int,
    ref: str,
    row: Mapping[str, Any],
    wanted: SurveyColumns,
    scales: Scales,
    findings: Findings,
) -> _SharedQuestion | None:
    """Return a question, or None if its text, its options or its shares have a fault."""
    text = " ".join(str(row.get("question") or "").split())
    if fault := text_fault(text):
        findings.add(path, place, "question", fault, "the text of a question")
    labels = [
        " ".join(str(label).split())
        for label in _list_of(row.get("options"), path, place, "options", findings)
    ]
    options = _options_of(labels, ref, wanted)
    _check_options(path, place, labels, options, findings)
    selections = _selections(row, path, place, findings)
    if selections is None or any(
        finding.column in ("question", "options") for finding in findings.found
    ):
        return None
    populations = _populations(path, place, ref, selections, labels, findings)
    if populations is None:
        return None
    scale = scales.scale_of(options, ref)
    statement = Statement(ref, (Wording(ORIGINAL, wanted.language, text),))
    question = Question(ref, QuestionRole.SURVEY, Form.QUESTION, scale.name)
    return _SharedQuestion(statement, question, populations)


def _check_options(
    path: Path,
    place: int,
    labels: Sequence[str],
    options: Sequence[AnswerOption],
    findings: Findings,
) -> None:
    """Note options that are empty or repeated, and too few or too many of them."""
    is_repeated = len(set(map(folded, labels))) < len(labels)
    if is_repeated or not all(labels):
        findings.add(
            path, place, "options", "an empty answer, or one that stands twice", "every answer once"
        )
        return
    n_valid = sum(option.meaning is not Meaning.MISSING for option in options)
    if labels and not FEWEST <= n_valid <= MOST_LETTERED:
        expected = f"{FEWEST} to {MOST_LETTERED} answers"
        findings.add(path, place, "options", f"{n_valid} answers", expected)


def _selections(
    row: Mapping[str, Any], path: Path, place: int, findings: Findings
) -> dict[Any, Any] | None:
    """Return country -> shares of the options, or None, with a note, for any other value."""
    selections = _value(row.get("selections"), path, place, "selections", findings)
    if isinstance(selections, dict):
        return selections
    if selections is not None:
        expected = "a dictionary: country -> shares of the options"
        findings.add(path, place, "selections", f"no dictionary: {str(selections)[:40]}", expected)
    return None


def _populations(
    path: Path,
    place: int,
    ref: str,
    selections: Mapping[Any, Any],
    labels: Sequence[str],
    findings: Findings,
) -> list[PublishedShares] | None:
    """Return the shares of a question by country, or None, with a note, if one stands twice."""
    shares_by_country = {
        str(country).strip(): country_shares for country, country_shares in selections.items()
    }
    if len(shares_by_country) < len(selections):
        findings.add(path, place, "selections", "a country twice", "every country once")
        return None
    populations = []
    for country, country_shares in sorted(shares_by_country.items(), key=lambda item: item[0]):
        if country_shares is None:  # a table has a column of every country for all questions
            continue
        shares = _shares(path, place, country, country_shares, labels, findings)
        if shares is not None:
            populations.append(PublishedShares(ref, "country", country, shares))
    return populations


def _options_of(labels: Sequence[str], ref: str, wanted: SurveyColumns) -> tuple[AnswerOption, ...]:
    default_meaning = Meaning.OPTION if ref in wanted.unordered else Meaning.STEP
    missing_values = {folded(value) for value in wanted.missing}
    is_missing = [is_refusal(label) or folded(label) in missing_values for label in labels]
    return tuple(
        AnswerOption((label,), Meaning.MISSING if is_no_answer else default_meaning)
        for label, is_no_answer in zip(labels, is_missing, strict=True)
    )


def _shares(
    path: Path, place: int, country: str, values: object, labels: Sequence[str], findings: Findings
) -> dict[str, float] | None:
    """Return the share of each answer, from 0 to 1.

    The result is None, with a note, if a value is not a share. It is None without a note if all
    shares are 0.
    """
    location = f"selections of {country!r}"
    if not country:
        findings.add(path, place, "selections", "a country without a name", "a name")
        return None
    if not isinstance(values, list) or len(values) != len(labels):
        problem = (
            f"{location}: {len(values)} shares"
            if isinstance(values, list)
            else f"{location}: no list"
        )
        findings.add(
            path,
            place,
            "selections",
            problem,
            f"a list of {len(labels)} shares, one for each option",
        )
        return None
    numbers = [
        float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else -1.0
        for value in values
    ]
    total = sum(numbers)
    if not all(0 <= value <= 100 for value in numbers):
        findings.add(
            path,
            place,
            "selections",
            f"{location}: {str(values)[:60]}",
            "numbers from 0 to 1, or to 100",
        )
        return None
    if total == 0:
        return None
    full_share = 100.0 if total > 50 else 1.0
    if abs(total / full_share - 1) > TOGETHER:
        problem = f"{location}: shares that are {total:.4g} together"
        findings.add(
            path,
            place,
            "selections",
            problem,
            "shares that are 1 together, or 100; --skip leaves others out",
        )
        return None
    return {label: value / full_share for label, value in zip(labels, numbers, strict=True)}


def _list_of(cell: object, path: Path, place: int, column: str, findings: Findings) -> list[Any]:
    value = _value(cell, path, place, column, findings)
    if value is None or isinstance(value, list):
        return value or []
    findings.add(path, place, column, f"no list: {str(value)[:40]}", "a list")
    return []


_WRAPPED = re.compile(r"\s*defaultdict\(\s*<class '\w+'>\s*,\s*(\{.*\})\s*\)\s*", re.DOTALL)


def _value(cell: object, path: Path, place: int, column: str, findings: Findings) -> object:
    """Return the value that a cell writes as JSON or as a Python literal.

    It is None, with a note, for anything else.

    A literal is read, never run: names, calls and arithmetic are faults.
    """
    if not isinstance(cell, str):
        if cell is None:
            findings.add(path, place, column, "nothing", "a list or a dictionary")
        return cell
    if len(cell) > LONGEST_LITERAL:
        expected = f"at most {LONGEST_LITERAL:,}"
        findings.add(path, place, column, f"{len(cell):,} characters", expected)
        return None
    match = _WRAPPED.fullmatch(cell)
    text = match[1] if match else cell.strip()
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        problem = f"no list and no dictionary: {cell[:40]!r}"
        findings.add(path, place, column, problem, "a list or a dictionary, written out")
        return None
