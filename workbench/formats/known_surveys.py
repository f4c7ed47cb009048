"""Surveys that are known by their columns: which of them are weights and groups, and how their
files are laid out.

Three layouts: a file with a row for each person (`surveys`); the folders of OpinionsQA, whose
`info.csv` says what the columns of `responses.csv` are; and GlobalOpinionQA, where each row is a
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
"characters of a list or dictionary that is written in a cell"
AGES = "18-29/30-49/50-64/65+"


@dataclass(frozen=True, slots=True)
class Known:
    """A survey whose columns are known."""

    title: str
    needs: tuple[str, ...]
    "columns by which it is recognised"
    weights: tuple[str, ...]
    "as typed, of which the first one counts whose columns are there"
    groups: tuple[str, ...]
    "as typed; those count whose columns are there"
    respondent: tuple[str, ...] = ()
    pattern: str = ""
    "of the columns that are questions; empty: all with labels of values"
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
    """Return whether a file or a folder is a survey by what it holds."""
    if path.is_dir():
        return (path / INFO).is_file() and (path / RESPONSES).is_file()
    header = header_of(path, how)
    return _has_shares(header) or any(set(one.needs) <= set(header) for one in KNOWN)


def read_survey(path: Path, name: str | None, wanted: Wanted, how: How = AS_IS) -> Instrument:
    """Read a survey of any of these layouts. Raises UsageError, InputError with every fault,
    MissingPackage.
    """
    if path.is_dir():
        return _opinions_qa(path, name or path.resolve().name, wanted)
    findings = Findings()
    header = header_of(path, how)
    if _has_shares(header):
        return _global_opinions(path, name or path.stem, wanted, how)
    known = next((one for one in KNOWN if set(one.needs) <= set(header)), None)
    if known is not None:
        wanted = _filled(wanted, known, header)
    columns, places, left = read_columns(path, wanted, how, findings)
    findings.check()
    found = survey_of(path, name or path.stem, columns, places, wanted, findings, left)
    return (
        found if known is None else replace(found, notes=(f"Read as {known.title}.", *found.notes))
    )


def _filled(wanted: Wanted, known: Known, header: Sequence[str]) -> Wanted:
    """Return what is wanted with what is known of a survey in place of what nobody said."""
    there = set(header)
    weight = next((one for one in known.weights if set(one.split("*")) <= there), "")
    groups = [one for one in known.groups if one.partition("=")[2].partition(":")[0] in there]
    usual, typed = who_of(",".join(groups), weight), wanted.who
    return replace(
        wanted,
        who=replace(
            typed, weights=typed.weights or usual.weights, groups=typed.groups or usual.groups
        ),
        respondent=wanted.respondent
        or (known.respondent if set(known.respondent) <= there else ()),
        pattern="" if wanted.questions else known.pattern,
        negative_missing=known.negative_missing,
    )


# ── OpinionsQA ────────────────────────────────────────────────────────────────────────────────────


def _opinions_qa(folder: Path, name: str, wanted: Wanted) -> Instrument:
    """Read a folder of OpinionsQA: what `info.csv` says of the columns, then the columns."""
    if not is_known(folder):
        raise UsageError(
            f"{folder}: found a folder without {INFO} and {RESPONSES}, as OpinionsQA has them; "
            "name a file"
        )
    findings = Findings()
    rows = read_rows(
        folder / INFO, findings, required=_REFERENCES, any_columns=True, may_be_empty=("question",)
    )
    about = {row.get("key"): _labels(row, findings) for row in rows}
    for key, row in ((row.get("key"), row) for row in rows):
        if about[key][1] is not row:
            findings.add(
                row.file,
                row.line,
                "key",
                f"{key!r} again, after line {about[key][1].line}",
                "it once",
            )
    findings.check()
    header = header_of(folder / RESPONSES)
    weight = next((one for one in header if _WEIGHT.fullmatch(one)), "")
    wanted = _filled(wanted, replace(_OPINIONS, weights=(weight,) if weight else ()), header)
    absent = [key for key in about if key not in header]
    asked = tuple(key for key in about if key in header)
    unsaid = [key for key in (*wanted.questions, *wanted.unordered) if key not in about]
    for key in unsaid:
        findings.add(
            folder / INFO, None, "key", f"nothing about {key!r}", "a row for each question"
        )
    findings.check()
    read = replace(wanted, questions=wanted.questions or asked, unordered=())
    columns, places, left = read_columns(folder / RESPONSES, read, AS_IS, findings)
    findings.check()
    told = dict(columns)
    for key in {*read.questions} & {*columns}:
        labels = {said: said for said in about[key][0]}
        told[key] = replace(columns[key], question=about[key][1].get("question"), labels=labels)
    ties = tuple(key for key in read.questions if not about[key][2])
    wanted = replace(wanted, unordered=(*wanted.unordered, *ties))
    left = {**left, f"without a column in {RESPONSES}": absent}
    made = survey_of(folder / RESPONSES, name, told, places, wanted, findings, left)
    return replace(made, notes=(f"Read as {_OPINIONS.title}.", *made.notes))


def _labels(row: Row, findings: Findings) -> tuple[list[str], Row, bool]:
    """Return the answers of a question in their order, its row, and whether they have an order."""
    file, line = row.file, row.line
    given = _listed(row.get("references"), file, line, "references", findings)
    answers = [" ".join(str(one).split()) for one in given]
    offered = [one for one in answers if not is_refusal(one)]
    ordered = True
    if row.get("option_ordinal"):
        places = _listed(row.get("option_ordinal"), file, line, "option_ordinal", findings)
        numbers = [one for one in places if isinstance(one, (int, float)) and one == one]
        if len(numbers) != len(places) or len(places) not in (len(offered), len(answers)):
            found, expected = (
                f"{len(places)} places for {len(offered)} answers",
                "a number for each answer",
            )
            findings.add(file, line, "option_ordinal", found, expected)
        else:
            rank = dict(
                zip(offered if len(places) == len(offered) else answers, numbers, strict=True)
            )
            ordered = len({rank[one] for one in offered}) == len(offered)
            answers.sort(key=lambda one: (is_refusal(one), rank.get(one, 0) if ordered else 0))
    if len(set(answers)) < len(answers):
        findings.add(file, line, "references", "an answer twice", "every answer once")
    return answers, row, ordered


# ── GlobalOpinionQA ───────────────────────────────────────────────────────────────────────────────


def _has_shares(header: Sequence[str]) -> bool:
    return all(any(one == name or one.startswith(f"{name}.") for one in header) for name in SHARES)


def _global_opinions(path: Path, name: str, wanted: Wanted, how: How) -> Instrument:
    """Read questions with the shares of their answers by country; with `skip`, without what is at
    fault.
    """
    findings = Findings()
    statements: list[Statement] = []
    questions: list[Question] = []
    published: list[PublishedShares] = []
    scales, skipped = Scales(), Findings()
    asked = set(wanted.questions)
    for number, (place, row) in enumerate(_share_rows(path, findings, how), start=1):
        source = str(row.get("source") or "").strip()
        ref = f"{source.lower() + '-' if source.isalnum() else 'q-'}{number}"
        if asked and ref not in asked:
            continue
        of_row = Findings(counted=findings.counted)
        made = _share_row(path, place, ref, row, wanted, scales, of_row)
        (skipped if wanted.skip else findings).found.extend(of_row.found)
        if made is None or (of_row.found and wanted.skip and not made[2]):
            continue
        statements.append(replace(made[0], source=source or None))
        questions.append(made[1])
        published += made[2]
    findings.check()
    if not questions:
        raise UsageError(f"{path}: no question with shares was found")
    held = [Scale(name, options) for options, name in scales.names.items()]
    empty = [
        question.ref for question in questions if all(one.ref != question.ref for one in published)
    ]
    order = (
        "Options have the order of the file; questions whose answers have none: --unordered REF,…."
    )
    notes = [
        "Read as GlobalOpinionQA.",
        *([order] if not wanted.unordered else []),
        *([f"Without any shares: {named_few(empty, 12)}."] if empty else []),
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
            tuple(questions), tuple(sorted(held, key=lambda one: one.name)), (), tuple(published)
        ),
        notes=tuple(notes),
    )


def _share_rows(
    path: Path, findings: Findings, how: How
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the rows; the dictionaries and lists of JSON stay what they are."""
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
        " ".join(str(one).split())
        for one in _listed(row.get("options"), path, place, "options", findings)
    ]
    options = _options_of(labels, ref, wanted)
    offered = [one for one in options if one.meaning is not Meaning.MISSING]
    if len(set(map(folded, labels))) < len(labels) or not all(labels):
        findings.add(
            path, place, "options", "an empty answer, or one that stands twice", "every answer once"
        )
    elif labels and not FEWEST <= len(offered) <= MOST_LETTERED:
        found = f"{len(offered)} answers"
        findings.add(path, place, "options", found, f"{FEWEST} to {MOST_LETTERED} answers")
    selections = _value(row.get("selections"), path, place, "selections", findings)
    if selections is not None and not isinstance(selections, dict):
        expected = "a dictionary: country -> shares of the options"
        findings.add(path, place, "selections", f"no dictionary: {str(selections)[:40]}", expected)
    if any(one.column in ("question", "options") for one in findings.found) or not isinstance(
        selections, dict
    ):
        return None
    populations = []
    named = [(str(country).strip(), given) for country, given in selections.items()]
    if len({country for country, _ in named}) < len(named):
        findings.add(path, place, "selections", "a country twice", "every country once")
        return None
    for country, given in sorted(named, key=lambda one: one[0]):
        if given is None:  # a table has a column of every country for all questions
            continue
        shares = _shares(path, place, country, given, labels, findings)
        if shares is not None:
            populations.append(PublishedShares(ref, "country", country, shares))
    scale = scales.of(options, ref)
    statement = Statement(ref, (Wording(ORIGINAL, wanted.language, text),))
    return statement, Question(ref, Role.SURVEY, Form.QUESTION, scale.name), populations


def _options_of(labels: Sequence[str], ref: str, wanted: Wanted) -> tuple[Option, ...]:
    usual = Meaning.OPTION if ref in wanted.unordered else Meaning.STEP
    named = {folded(value) for value in wanted.missing}
    silent = [is_refusal(label) or folded(label) in named for label in labels]
    return tuple(
        Option((label,), Meaning.MISSING if no else usual)
        for label, no in zip(labels, silent, strict=True)
    )


def _shares(
    path: Path, place: int, country: str, given: object, labels: Sequence[str], findings: Findings
) -> dict[str, float] | None:
    """Return the share of each answer, of 1; None, with a note, for what are no shares, and where
    all are 0.
    """
    where = f"selections of {country!r}"
    if not country:
        findings.add(path, place, "selections", "a country without a name", "a name")
        return None
    if not isinstance(given, list) or len(given) != len(labels):
        found = f"{where}: {len(given)} shares" if isinstance(given, list) else f"{where}: no list"
        findings.add(
            path, place, "selections", found, f"a list of {len(labels)} shares, one for each option"
        )
        return None
    numbers = [
        float(one) if isinstance(one, (int, float)) and not isinstance(one, bool) else -1.0
        for one in given
    ]
    total = sum(numbers)
    if not all(0 <= one <= 100 for one in numbers):
        findings.add(
            path,
            place,
            "selections",
            f"{where}: {str(given)[:60]}",
            "numbers from 0 to 1, or to 100",
        )
        return None
    if total == 0:
        return None
    of = 100.0 if total > 50 else 1.0
    if abs(total / of - 1) > TOGETHER:
        found = f"{where}: shares that are {total:.4g} together"
        findings.add(
            path,
            place,
            "selections",
            found,
            "shares that are 1 together, or 100; --skip leaves others out",
        )
        return None
    return {label: one / of for label, one in zip(labels, numbers, strict=True)}


def _listed(cell: object, path: Path, place: int, column: str, findings: Findings) -> list[Any]:
    value = _value(cell, path, place, column, findings)
    if value is None or isinstance(value, list):
        return value or []
    findings.add(path, place, column, f"no list: {str(value)[:40]}", "a list")
    return []


_WRAPPED = re.compile(r"\s*defaultdict\(\s*<class '\w+'>\s*,\s*(\{.*\})\s*\)\s*", re.DOTALL)


def _value(cell: object, path: Path, place: int, column: str, findings: Findings) -> object:
    """Return what a cell writes as JSON or as a Python literal; None, with a note, for anything
    else.

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
    wrapped = _WRAPPED.fullmatch(cell)
    text = wrapped[1] if wrapped else cell.strip()
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        found = f"no list and no dictionary: {cell[:40]!r}"
        findings.add(path, place, column, found, "a list or a dictionary, written out")
        return None
