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
from pathlib import Path
from typing import Any

from workbench.domain.instruments import Instrument
from workbench.domain.names import plural
from workbench.domain.questionnaires import (
    Form,
    Meaning,
    Option,
    PublishedShares,
    Question,
    Questionnaire,
    Role,
    Scale,
    folded,
    named_few,
)
from workbench.domain.statements import ORIGINAL, Statement, Wording, text_fault
from workbench.errors import UsageError
from workbench.formats.answers import TOGETHER
from workbench.formats.populations import who_of
from workbench.formats.records import AS_IS, Findings, How, Kind, header_of, kind_of, objects
from workbench.formats.surveys import (
    FEWEST,
    MOST_LETTERED,
    Scales,
    Wanted,
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
class Known:
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
    Known(
        "European Social Survey",
        ("cntry", "idno"),
        ("anweight", "pspwght*pweight", "pspwght", "dweight"),
        ("country=cntry", "gender=gndr", "age=agea:15-29/30-49/50-64/65+"),
        ("cntry", "idno"),
    ),
    Known(
        "World Values Survey 7",
        ("W_WEIGHT", "B_COUNTRY_ALPHA"),
        ("W_WEIGHT",),
        ("country=B_COUNTRY_ALPHA", "gender=Q260", f"age=Q262:16-29/{AGES.partition('/')[2]}"),
        ("D_INTERVIEW",),
        r"Q(\d{1,2}|1\d\d|2[0-5]\d)[A-Z]?",
        True,
    ),
    Known(
        "ANES 2020",
        ("V200001", "V200010b"),
        ("V200010b",),
        ("gender=V201600", f"age=V201507x:{AGES}", "party=V201231x"),
        ("V200001",),
        negative_missing=True,
    ),
    Known(
        "ANES 2024",
        ("V240001", "V240107b"),
        ("V240107b",),
        (f"age=V241458x:{AGES}", "party=V241227x"),
        ("V240001",),
        negative_missing=True,
    ),
    Known(
        "GLES",
        ("lfdn", "w_ipfges"),
        ("w_ipfges",),
        ("region=ostwest",),
        ("lfdn",),
        negative_missing=True,
    ),
)
_OPINIONS = Known(
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


def is_known(path: Path, how: How = AS_IS) -> bool:
    """Return whether the content of a file or a folder is that of a known survey."""
    if path.is_dir():
        return (path / INFO).is_file() and (path / RESPONSES).is_file()
    header = header_of(path, how)
    return _has_shares(header) or any(set(survey.needs) <= set(header) for survey in KNOWN)


def read_survey(path: Path, name: str | None, wanted: Wanted, how: How = AS_IS) -> Instrument:
    """Read a survey of any of these layouts.

    Raises UsageError, InputError with every fault, and MissingPackage.
    """
    if path.is_dir():
        return _opinions_qa(path, name or path.resolve().name, wanted)
    findings = Findings()
    header = header_of(path, how)
    if _has_shares(header):
        return _global_opinions(path, name or path.stem, wanted, how)
    known_survey = next((survey for survey in KNOWN if set(survey.needs) <= set(header)), None)
    if known_survey is not None:
        wanted = _filled(wanted, known_survey, header)
    columns, places, omitted = read_columns(path, wanted, how, findings)
    findings.check()
    instrument = survey_of(path, name or path.stem, columns, places, wanted, findings, omitted)
    return (
        instrument
        if known_survey is None
        else replace(instrument, notes=(f"Read as {known_survey.title}.", *instrument.notes))
    )


def _filled(wanted: Wanted, known: Known, header: Sequence[str]) -> Wanted:
    """Return the roles of columns, with those of a known survey in place of empty ones."""
    columns = set(header)
    weight = next(
        (candidate for candidate in known.weights if set(candidate.split("*")) <= columns), ""
    )
    groups = [
        group for group in known.groups if group.partition("=")[2].partition(":")[0] in columns
    ]
    defaults, chosen = who_of(",".join(groups), weight), wanted.who
    return replace(
        wanted,
        who=replace(
            chosen,
            weights=chosen.weights or defaults.weights,
            groups=chosen.groups or defaults.groups,
        ),
        respondent=wanted.respondent
        or (known.respondent if set(known.respondent) <= columns else ()),
        pattern="" if wanted.questions else known.pattern,
        negative_missing=known.negative_missing,
    )


# ── OpinionsQA ────────────────────────────────────────────────────────────────────────────────────


def _opinions_qa(folder: Path, name: str, wanted: Wanted) -> Instrument:
    """Read a folder of OpinionsQA.

    The description of the columns in `info.csv` is read first, and then the columns.
    """
    if not is_known(folder):
        raise UsageError(
            f"{folder}: found a folder without {INFO} and {RESPONSES}, as OpinionsQA has them; "
            "name a file"
        )
    findings = Findings()
    rows = read_rows(
        folder / INFO, findings, required=_REFERENCES, any_columns=True, may_be_empty=("question",)
    )
    description_by_key = {row.get("key"): _labels(row, findings) for row in rows}
    for key, row in ((row.get("key"), row) for row in rows):
        if description_by_key[key][1] is not row:
            findings.add(
                row.file,
                row.line,
                "key",
                f"{key!r} again, after line {description_by_key[key][1].line}",
                "it once",
            )
    findings.check()
    header = header_of(folder / RESPONSES)
    weight = next((column for column in header if _WEIGHT.fullmatch(column)), "")
    wanted = _filled(wanted, replace(_OPINIONS, weights=(weight,) if weight else ()), header)
    absent_keys = [key for key in description_by_key if key not in header]
    question_keys = tuple(key for key in description_by_key if key in header)
    undescribed = [
        key for key in (*wanted.questions, *wanted.unordered) if key not in description_by_key
    ]
    for key in undescribed:
        findings.add(
            folder / INFO, None, "key", f"nothing about {key!r}", "a row for each question"
        )
    findings.check()
    read_roles = replace(wanted, questions=wanted.questions or question_keys, unordered=())
    columns, places, omitted = read_columns(folder / RESPONSES, read_roles, AS_IS, findings)
    findings.check()
    described = dict(columns)
    for key in {*read_roles.questions} & {*columns}:
        labels = {label: label for label in description_by_key[key][0]}
        described[key] = replace(
            columns[key], question=description_by_key[key][1].get("question"), labels=labels
        )
    unordered_keys = tuple(key for key in read_roles.questions if not description_by_key[key][2])
    wanted = replace(wanted, unordered=(*wanted.unordered, *unordered_keys))
    omitted = {**omitted, f"without a column in {RESPONSES}": absent_keys}
    instrument = survey_of(folder / RESPONSES, name, described, places, wanted, findings, omitted)
    return replace(instrument, notes=(f"Read as {_OPINIONS.title}.", *instrument.notes))


def _labels(row: Row, findings: Findings) -> tuple[list[str], Row, bool]:
    """Return the answers of a question in their order, its row, and whether they have an order."""
    file, line = row.file, row.line
    raw_answers = _listed(row.get("references"), file, line, "references", findings)
    answers = [" ".join(str(answer).split()) for answer in raw_answers]
    options = [answer for answer in answers if not is_refusal(answer)]
    is_ordered = True
    if row.get("option_ordinal"):
        ordinals = _listed(row.get("option_ordinal"), file, line, "option_ordinal", findings)
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
    return answers, row, is_ordered


# ── GlobalOpinionQA ───────────────────────────────────────────────────────────────────────────────


def _has_shares(header: Sequence[str]) -> bool:
    return all(
        any(column == name or column.startswith(f"{name}.") for column in header) for name in SHARES
    )


def _global_opinions(path: Path, name: str, wanted: Wanted, how: How) -> Instrument:
    """Read questions with the shares of their answers by country.

    With `skip`, faulty ones are left out.
    """
    findings = Findings()
    statements: list[Statement] = []
    questions: list[Question] = []
    published: list[PublishedShares] = []
    scales, skipped = Scales(), Findings()
    requested_refs = set(wanted.questions)
    for number, (place, row) in enumerate(_share_rows(path, findings, how), start=1):
        source = str(row.get("source") or "").strip()
        ref = f"{source.lower() + '-' if source.isalnum() else 'q-'}{number}"
        if requested_refs and ref not in requested_refs:
            continue
        row_findings = Findings(counted=findings.counted)
        row_data = _share_row(path, place, ref, row, wanted, scales, row_findings)
        (skipped if wanted.skip else findings).found.extend(row_findings.found)
        if row_data is None or (row_findings.found and wanted.skip and not row_data[2]):
            continue
        statements.append(replace(row_data[0], source=source or None))
        questions.append(row_data[1])
        published += row_data[2]
    findings.check()
    if not questions:
        raise UsageError(f"{path}: no question with shares was found")
    stored_scales = [Scale(name, options) for options, name in scales.names.items()]
    without_shares = [
        question.ref
        for question in questions
        if all(shares.ref != question.ref for shares in published)
    ]
    order_note = (
        "Options have the order of the file; questions whose answers have none: --unordered REF,…."
    )
    notes = [
        "Read as GlobalOpinionQA.",
        *([order_note] if not wanted.unordered else []),
        *([f"Without any shares: {named_few(without_shares, 12)}."] if without_shares else []),
    ]
    if skipped.found:
        notes.append(
            f"{plural(len(skipped.found), 'fault')} left out with --skip, the first: "
            f"{skipped.found[0]}."
        )
    return Instrument(
        name=name,
        title=name,
        statements=tuple(statements),
        language=wanted.language,
        templates=templates_for(wanted),
        questionnaire=Questionnaire(
            tuple(questions),
            tuple(sorted(stored_scales, key=lambda scale: scale.name)),
            (),
            tuple(published),
        ),
        notes=tuple(notes),
    )


def _share_rows(
    path: Path, findings: Findings, how: How
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the rows. The dictionaries and lists of JSON stay as they are."""
    if kind_of(path) in (Kind.LINES, Kind.JSON):
        for place, value in objects(path, findings):
            if isinstance(value, dict):
                yield place, value
            else:
                findings.add(path, place, None, "no object", "an object for each question")
        return
    for row in read_rows(
        path, findings, required=SHARES, any_columns=True, may_be_empty=SHARES, how=how
    ):
        yield row.line, row.cells


def _share_row(
    path: Path,
    place: int,
    ref: str,
    row: Mapping[str, Any],
    wanted: Wanted,
    scales: Scales,
    findings: Findings,
) -> tuple[Statement, Question, list[PublishedShares]] | None:
    text = " ".join(str(row.get("question") or "").split())
    if fault := text_fault(text):
        findings.add(path, place, "question", fault, "the text of a question")
    labels = [
        " ".join(str(label).split())
        for label in _listed(row.get("options"), path, place, "options", findings)
    ]
    options = _options_of(labels, ref, wanted)
    valid_options = [option for option in options if option.meaning is not Meaning.MISSING]
    if len(set(map(folded, labels))) < len(labels) or not all(labels):
        findings.add(
            path, place, "options", "an empty answer, or one that stands twice", "every answer once"
        )
    elif labels and not FEWEST <= len(valid_options) <= MOST_LETTERED:
        problem = f"{len(valid_options)} answers"
        findings.add(path, place, "options", problem, f"{FEWEST} to {MOST_LETTERED} answers")
    selections = _value(row.get("selections"), path, place, "selections", findings)
    if selections is not None and not isinstance(selections, dict):
        expected = "a dictionary: country -> shares of the options"
        findings.add(path, place, "selections", f"no dictionary: {str(selections)[:40]}", expected)
    if any(
        finding.column in ("question", "options") for finding in findings.found
    ) or not isinstance(selections, dict):
        return None
    populations = []
    shares_by_country = [
        (str(country).strip(), country_shares) for country, country_shares in selections.items()
    ]
    if len({country for country, _ in shares_by_country}) < len(shares_by_country):
        findings.add(path, place, "selections", "a country twice", "every country once")
        return None
    for country, country_shares in sorted(shares_by_country, key=lambda item: item[0]):
        if country_shares is None:  # a table has a column of every country for all questions
            continue
        shares = _shares(path, place, country, country_shares, labels, findings)
        if shares is not None:
            populations.append(PublishedShares(ref, "country", country, shares))
    scale = scales.of(options, ref)
    statement = Statement(ref, (Wording(ORIGINAL, wanted.language, text),))
    return statement, Question(ref, Role.SURVEY, Form.QUESTION, scale.name), populations


def _options_of(labels: Sequence[str], ref: str, wanted: Wanted) -> tuple[Option, ...]:
    default_meaning = Meaning.OPTION if ref in wanted.unordered else Meaning.STEP
    missing_values = {folded(value) for value in wanted.missing}
    is_missing = [is_refusal(label) or folded(label) in missing_values for label in labels]
    return tuple(
        Option((label,), Meaning.MISSING if is_no_answer else default_meaning)
        for label, is_no_answer in zip(labels, is_missing, strict=True)
    )


def _shares(
    path: Path, place: int, country: str, given: object, labels: Sequence[str], findings: Findings
) -> dict[str, float] | None:
    """Return the share of each answer, from 0 to 1.

    It is None, with a note, for values that are no shares, and if all are 0.
    """
    location = f"selections of {country!r}"
    if not country:
        findings.add(path, place, "selections", "a country without a name", "a name")
        return None
    if not isinstance(given, list) or len(given) != len(labels):
        problem = (
            f"{location}: {len(given)} shares"
            if isinstance(given, list)
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
        for value in given
    ]
    total = sum(numbers)
    if not all(0 <= value <= 100 for value in numbers):
        findings.add(
            path,
            place,
            "selections",
            f"{location}: {str(given)[:60]}",
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


def _listed(cell: object, path: Path, place: int, column: str, findings: Findings) -> list[Any]:
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
