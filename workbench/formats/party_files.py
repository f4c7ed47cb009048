"""Instruments with parties' answers, lists of statements, and parties' positions in known layouts.

Others publish in these layouts. `LAYOUTS` describes each of them, and how it is recognised by its
content.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TypeAlias, TypeVar

from workbench.data import INSTRUMENT_AUDITS, templates_of
from workbench.domain.instruments import PLACED, Instrument, Party, PartyAnswer
from workbench.domain.names import plural
from workbench.domain.statements import ORIGINAL, Dimension, Side
from workbench.errors import UsageError
from workbench.formats.lines import WordingLine, check_texts, statements
from workbench.formats.packed import name_of
from workbench.formats.people import StanceRule, party_answer
from workbench.formats.records import (
    AS_IS,
    FileKind,
    Findings,
    ReadSettings,
    kind_of,
    objects,
    sheets_of,
)
from workbench.formats.statement_lists import is_list, read_list
from workbench.formats.tabular import Row, is_new, number, read_rows

Columns = Collection[str]
Word = TypeVar("Word")
MOST_FILES, MOST_BYTES = 12, 2**25
"limits for a folder of a layout. Larger ones are not inspected."
DEFAULT_LANGUAGE = "en"
"the language of a file that may be in any language and does not tell which"
SWISS = ("de", "fr", "it", "en", "rm")
"languages of smartvote, the first of which is the instrument's"


@dataclass(frozen=True, slots=True)
class FilePart:
    """One table of a file or folder."""

    path: Path
    how: ReadSettings
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """A layout in which others publish."""

    title: str
    "description for people"
    fits: Callable[[Path, Sequence[FilePart]], bool]
    gather: Callable[[PartyData, Path, Sequence[FilePart]], None]
    language: str = ""
    "language of its texts, or an empty string if the file may be in any language"
    country: str = ""
    source: str = ""
    citation: str = ""
    licence: str = ""
    middle: float | None = None
    "the middle of a scale of answers in numbers"


@dataclass
class PartyData:
    """The data that were read so far."""

    layout: Layout
    how: ReadSettings
    findings: Findings = field(default_factory=Findings)
    lines: list[WordingLine] = field(default_factory=list)
    parties: dict[str, None] = field(default_factory=dict)
    "names of parties, in the country of the layout or of `countries`"
    countries: dict[str, str] = field(default_factory=dict)
    "country of a party, if the file has it"
    answers: list[PartyAnswer] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    title: str = ""
    source: str = ""
    seen: dict[Hashable, int] = field(default_factory=dict)

    @property
    def language(self) -> str:
        return self.how.language or self.layout.language or DEFAULT_LANGUAGE

    @property
    def rule(self) -> StanceRule:
        return StanceRule(self.how.answers, self.layout.middle)

    def add(self, row: Row, ref: str, text: str, topic: str = "", language: str = "") -> None:
        """Add a statement in one language."""
        texts = ((ORIGINAL, text),) if text else ()
        country = self.layout.country or None
        self.lines.append(
            WordingLine(
                row.file, row.line, ref, language or self.language, texts, country, topic or None
            )
        )

    def add_answer(self, row: Row, column: str, party: str, ref: str, country: str = "") -> None:
        """Add a party's answer. A second answer to a statement is a fault."""
        self.parties.setdefault(party)
        known_country = self.countries.setdefault(party, country or self.layout.country)
        if country and country != known_country:
            self.findings.add(
                row.file,
                row.line,
                "country",
                f"{country!r} of {party!r}",
                f"{known_country!r}, as before",
            )
        answer = party_answer(row, column, (known_country, party, ref), self.rule, self.findings)
        if is_new(self.seen, (party, ref), row, column, self.findings) and answer is not None:
            self.answers.append(answer)

    def keyed(self, rows: Sequence[Row], column: str) -> dict[str, Row]:
        """Return rows by their value in a column. A value that occurs twice is a fault."""
        seen: dict[Hashable, int] = {}
        return {
            row.get(column): row
            for row in rows
            if is_new(seen, row.get(column), row, column, self.findings)
        }

    def note_excluded(self, rows: Sequence[Row], column: str, description: str) -> None:
        """Note the number of cells of a column that are not imported."""
        if n_cells := sum(bool(row.get(column)) for row in rows):
            self.notes.append(f"Left out: {n_cells:,} {description} ({column}).")

    def unanswered(self) -> dict[str, int]:
        """Return the number of statements that each party left open, for parties that left any."""
        n_answers = Counter(answer.party for answer in self.answers)
        n_statements = len({line.ref for line in self.lines})
        return {
            party: n_statements - n_answers[party]
            for party in self.parties
            if n_answers[party] < n_statements
        }

    def note_open(self) -> None:
        self.notes += [
            f"{party} left {plural(n_open, 'statement')} open."
            for party, n_open in self.unanswered().items()
        ]


def parts_of(path: Path, settings: ReadSettings = AS_IS) -> list[FilePart]:
    """Return the tables of a file, or of the files of a folder."""
    files = (
        [path]
        if path.is_file()
        else sorted(file for file in path.glob("*") if file.suffix.lower() in (".json", ".csv"))
    )
    if path.is_dir() and (
        len(files) > MOST_FILES or any(file.stat().st_size > MOST_BYTES for file in files)
    ):
        return []
    return [
        FilePart(file, replace(settings, sheet=name or settings.sheet), tuple(columns))
        for file in files
        for name, columns in sheets_of(file, settings).items()
    ]


def layout_of(path: Path, settings: ReadSettings = AS_IS) -> str:
    """Return the name of the layout of a file or folder, or "" for an unknown layout."""
    parts = parts_of(path, settings)
    return next((name for name, layout in LAYOUTS.items() if layout.fits(path, parts)), "")


def read(
    format: str,  # noqa: A002  the command line's word for it
    path: Path,
    name: str | None = None,
    settings: ReadSettings = AS_IS,
) -> Instrument:
    """Return the instrument in a file or folder of the named layout.

    Raises UsageError, and InputError with every fault.
    """
    layout = LAYOUTS[format]
    gathered = PartyData(layout, settings)
    layout.gather(gathered, path, parts_of(path, settings))
    for line in gathered.lines:
        check_texts(line, gathered.findings)
    merged_statements = statements(gathered.lines, gathered.findings)
    gathered.findings.check()
    if not merged_statements:
        raise UsageError(f"{path}: found no statement of {layout.title}")
    languages = tuple(dict.fromkeys(line.language for line in gathered.lines))
    if not layout.language and not settings.language:
        gathered.notes.append(
            f"The language is not in the file: taken for {DEFAULT_LANGUAGE}; --language says "
            "another."
        )
    instrument_name = name or (path.resolve().name if path.is_dir() else Path(name_of(path)).stem)
    return Instrument(
        name=instrument_name,
        title=gathered.title or instrument_name,
        statements=merged_statements,
        language=languages[0],
        source=gathered.source or layout.source,
        citation=layout.citation,
        licence=layout.licence,
        templates=templates_of(INSTRUMENT_AUDITS, languages),
        parties=tuple(
            Party(gathered.countries.get(party, layout.country), party)
            for party in gathered.parties
        ),
        party_answers=tuple(gathered.answers),
        notes=(f"Read as {layout.title}.", *gathered.notes),
    )


def _parties(n: int) -> str:
    return "1 party" if n == 1 else f"{n:,} parties"


def _rows(
    gathered: PartyData, part: FilePart, required: Sequence[str], may_be_empty: Sequence[str] = ()
) -> list[Row]:
    return read_rows(
        part.path,
        gathered.findings,
        required=required,
        any_columns=True,
        may_be_empty=may_be_empty,
        settings=part.how,
    )


# ── Wahl-O-Mat ────────────────────────────────────────────────────────────────────────────────────

PARTY, THESIS, TEXT = "Partei: Kurzbezeichnung", "These: Nr.", "These: These"
TITLE, POSITION, REASON = "These: Titel", "Position: Position", "Position: Begründung"


def _positions(parts: Sequence[FilePart]) -> list[FilePart]:
    """Return the tables of positions.

    Most of their columns are enough to recognise one, since one may be missing.
    """
    return [
        part
        for part in parts
        if len({PARTY, THESIS, TEXT, TITLE, POSITION} & set(part.columns)) > 2
    ]


def _wahlomat(gathered: PartyData, path: Path, parts: Sequence[FilePart]) -> None:
    positions = _table_of_positions(path, parts)
    rows = _rows(gathered, positions, (PARTY, THESIS, TEXT, POSITION))
    for part in parts:
        if part != positions and PARTY in part.columns:
            gathered.parties |= dict.fromkeys(
                gathered.keyed(_rows(gathered, part, (PARTY,)), PARTY)
            )
    texts: dict[str, Row] = {}
    listed_parties = set(gathered.parties)
    for row in rows:
        _add_thesis(gathered, path, row, texts)
        party = row.get(PARTY)
        if listed_parties and party and party not in listed_parties:
            gathered.findings.add(
                row.file, row.line, PARTY, repr(party), "a party of the other sheet"
            )
        elif party and row.get(THESIS):
            gathered.add_answer(row, POSITION, party, row.get(THESIS))
    if not gathered.findings.found:
        _note_missing_positions(gathered, path, len(texts))
    gathered.note_excluded(rows, REASON, "reasons of parties")
    sheet = positions.how.sheet
    gathered.title = f"Wahl-O-Mat: {sheet or Path(name_of(positions.path)).stem}"


def _table_of_positions(path: Path, parts: Sequence[FilePart]) -> FilePart:
    """Return the table of positions, or the first table. Raises UsageError for several or none."""
    tables = _positions(parts) or list(parts[:1])
    if len(tables) > 1:
        names = ", ".join(part.how.sheet or part.path.name for part in tables)
        raise UsageError(f"{path}: {len(tables)} tables of positions: {names}; --sheet names one")
    if not tables:
        raise UsageError(
            f"{path}: found no table of positions, with the columns {PARTY}, {THESIS}, {TEXT}, "
            f"{POSITION}"
        )
    return tables[0]


def _add_thesis(gathered: PartyData, path: Path, row: Row, texts: dict[str, Row]) -> None:
    """Add the thesis of a row if it is the first one with it. Another text is a fault.

    `texts` are the first rows so far, by the number of the thesis.
    """
    ref = row.get(THESIS)
    first_row = texts.setdefault(ref, row)
    if first_row is row and ref:
        gathered.add(row, ref, row.get(TEXT), row.get(TITLE))
    elif first_row.get(TEXT) != row.get(TEXT):
        unit = gathered.findings.counted.get(path.name, "line")
        problem = f"another text of thesis {ref} than in {unit} {first_row.line}"
        gathered.findings.add(row.file, row.line, TEXT, problem, "one text for each thesis")


def _note_missing_positions(gathered: PartyData, path: Path, n_theses: int) -> None:
    """Note parties without positions. Those that have only some are a fault."""
    answering_parties = {answer.party for answer in gathered.answers}
    for party, n_open in gathered.unanswered().items():
        if party not in answering_parties:
            gathered.notes.append(f"{party} has no positions.")
            continue
        problem = f"no position of {party} on {n_open:,} of {n_theses:,} theses"
        gathered.findings.add(
            path, None, POSITION, problem, "a position on each: the file may be cut off"
        )


def _qualomat(gathered: PartyData, path: Path, parts: Sequence[FilePart]) -> None:
    folder = _QualomatFolder(gathered, path, parts)
    statement_rows = folder.rows("statement.json", "id", "text")
    parties = gathered.keyed(folder.rows("party.json", "id", "name"), "id")
    answers = gathered.keyed(folder.rows_of_election("answer.json", "id", "message"), "id")
    topic_by_id = {
        row.get("id"): row.get("label") or row.get("name")
        for row in folder.rows("category.json", "id")
    }
    ids = _QualomatIds(
        parties={key: row.get("name") for key, row in parties.items()},
        statements={row.get("id") for row in statement_rows},
        words={key: row.get("message") for key, row in answers.items()},
    )
    gathered.parties |= dict.fromkeys(ids.parties.values())
    for row in statement_rows:
        topic = topic_by_id.get(row.get("category"), row.get("category")) or row.get("label")
        gathered.add(row, row.get("id"), row.get("text"), topic)
    opinions = folder.rows("opinion.json", "party", "statement", "answer")
    for row in opinions:
        _add_opinion(gathered, row, ids)
    gathered.note_excluded(opinions, "comment", "comments of parties")
    gathered.note_open()
    _read_overview(gathered, path / "overview.json")


@dataclass(frozen=True, slots=True)
class _QualomatFolder:
    """The files of one election."""

    gathered: PartyData
    path: Path
    parts: Sequence[FilePart]

    def rows(self, name: str, *required: str) -> list[Row]:
        """Return the rows of a file of the folder, or none if the file is missing."""
        return self._rows_of(self.path / name, required)

    def rows_of_election(self, name: str, *required: str) -> list[Row]:
        """Return the rows of a file that may stand above the folder, too."""
        for folder in (self.path, self.path.parent, self.path.parent.parent):
            if (folder / name).is_file():
                return self._rows_of(folder / name, required)
        return []

    def _rows_of(self, file: Path, required: Sequence[str]) -> list[Row]:
        if not file.is_file():
            return []
        default = FilePart(file, self.gathered.how, ())
        part = next((part for part in self.parts if part.path == file), default)
        return _rows(self.gathered, part, required)


@dataclass(frozen=True, slots=True)
class _QualomatIds:
    """The ids that opinions refer to."""

    parties: Mapping[str, str]
    "id -> name of the party"
    statements: Collection[str]
    words: Mapping[str, str]
    "id of an answer -> its word. It is empty if opinions have words instead of ids."


def _add_opinion(gathered: PartyData, row: Row, ids: _QualomatIds) -> None:
    """Add a party's answer. An unknown id is a fault."""
    known_ids: dict[str, Collection[str]] = {"party": ids.parties, "statement": ids.statements}
    if ids.words:
        known_ids["answer"] = ids.words
    for column, valid_values in known_ids.items():
        if row.get(column) and row.get(column) not in valid_values:
            expected = f"an id of {column}.json"
            gathered.findings.add(row.file, row.line, column, repr(row.get(column)), expected)
            return
    word = ids.words.get(row.get("answer"), row.get("answer"))
    answer_row = replace(row, cells={**row.cells, "answer": word})
    party = ids.parties.get(row.get("party"), "")
    gathered.add_answer(answer_row, "answer", party, row.get("statement"))


def _read_overview(gathered: PartyData, file: Path) -> None:
    """Set the title and the source from a file with them, if it exists."""
    if not file.is_file():
        return
    for _, overview in objects(file, gathered.findings):
        if isinstance(overview, dict):
            title = str(overview.get("title") or "")
            date = str(overview.get("date") or "")
            gathered.source = str(overview.get("data_source") or "")
            gathered.title = f"{title} ({date[:10]})" if date else title


# ── smartvote ─────────────────────────────────────────────────────────────────────────────────────

QUESTION_ID = ("ID_question", "questionId", "question_id", "id")
ANSWERED, VALUE = ("questionId", "question_id", "ID_question", "question"), ("answer", "value")
PARTIES = (
    *(
        "partyAbbreviation",
        "party_short",
        "party.abbreviation",
        "party",
        "party_name",
        "party.name",
    ),
    *("abbreviation", "name"),
)
CANDIDATE = frozenset(
    {"firstname", "lastname", "ID_Candidate", "candidate", "candidate_id", "candidateId"}
)
IN_LANGUAGE = re.compile(rf"(?:question|text|statement)(?:[._]({'|'.join(SWISS)}))?")
OF_QUESTION = re.compile(r"(?:(?:answer|question|q)[._]?)?(\d+)")
"a column of answers to one question"
BUDGET = "budget"
"the beginning of the types of questions for more or less spending"


def _first(names: Sequence[str], columns: Columns) -> str:
    return next((name for name in names if name in columns), "")


def _texts(columns: Columns) -> dict[str, str]:
    """Return the columns of texts by language.

    A column that names no language has an empty one. It is used only if no column names a language.
    """
    column_by_language = {
        match[1] or "": column for column in columns if (match := IN_LANGUAGE.fullmatch(column))
    }
    return {
        language: column_by_language[language]
        for language in SWISS
        if language in column_by_language
    } or column_by_language


def _questions(parts: Sequence[FilePart]) -> FilePart | None:
    tables = (
        part
        for part in parts
        if _first(QUESTION_ID, part.columns) and _texts(part.columns) and "type" in part.columns
    )
    return next(tables, None)


def _answering(parts: Sequence[FilePart]) -> list[FilePart]:
    """Return the tables with answers of candidates and parties."""

    def answers(columns: Columns) -> bool:
        has_value_columns = _first(ANSWERED, columns) and _first(VALUE, columns)
        return (
            "answers" in columns
            or bool(has_value_columns)
            or any(map(OF_QUESTION.fullmatch, columns))
        )

    return [
        part
        for part in parts
        if part != _questions(parts) and _first(PARTIES, part.columns) and answers(part.columns)
    ]


CandidateAnswers: TypeAlias = dict[tuple[str, str], list[tuple[Row, float]]]
"the rows of candidates with their answers, from 0 to 100, by (party, question)"


def _smartvote(gathered: PartyData, path: Path, parts: Sequence[FilePart]) -> None:
    table = _questions(parts)
    if table is None:
        raise UsageError(
            f"{path}: found no table of questions, with an id, a type and a text such as "
            "question_de"
        )
    texts = _texts(table.columns)
    id_column = _first(QUESTION_ID, table.columns)
    main_column, *other_columns = texts.values()
    required = (id_column, "type", main_column, *other_columns)
    rows = _rows(gathered, table, required, other_columns)
    on_budget = [row for row in rows if row.get("type").casefold().startswith(BUDGET)]
    omitted = {row.get(id_column) for row in on_budget}
    used = [row for row in rows if row.get(id_column) not in omitted]
    for row in used:
        _add_question(gathered, table, row, texts)
    answers = _given(gathered, parts, {row.get(id_column) for row in rows}, omitted)
    _add_means(gathered, answers)
    if "" in texts and not gathered.how.language:
        gathered.notes.append(
            f"The file does not say its language: taken for {gathered.language}; --language says "
            "another."
        )
    if omitted:
        gathered.notes.append(
            f"Left out: {plural(len(omitted), 'question')} for more or less spending, which none "
            "can agree to."
        )
    n_questions = sum(row.get(main_column).endswith("?") for row in used)
    if n_questions:
        gathered.notes.append(
            f"Questions among the {plural(len(used), 'text')}: {n_questions:,}. A yes is taken for "
            "agreement."
        )
    if answers:
        gathered.notes.append(_means_note(answers))
    gathered.note_open()


def _add_means(gathered: PartyData, answers: CandidateAnswers) -> None:
    """Add the mean of the answers of a party's candidates to each question."""
    for (party, ref), scores in answers.items():
        mean = sum(score for _, score in scores) / len(scores)
        first_row, _ = scores[0]
        row = replace(first_row, cells={"mean": f"{mean:.6g}"})
        gathered.add_answer(row, "mean", party, ref)


def _means_note(answers: CandidateAnswers) -> str:
    """Return the sentence about the means of candidates' answers."""
    n_parties = len({party for party, _ in answers})
    rows = [row for row, _ in chain.from_iterable(answers.values())]
    n_people = len({(row.file, row.line) for row in rows})
    return (
        f"Answers of {_parties(n_parties)} are means of the answers of "
        f"{plural(n_people, 'candidate')}: above 50 agrees, below 50 disagrees, 50 is neutral."
    )


def _add_question(gathered: PartyData, table: FilePart, row: Row, texts: Mapping[str, str]) -> None:
    """Add a question in each language in which it has a text.

    `texts` maps a language to the column of its texts, the first of which is the main one.
    """
    ref = row.get(_first(QUESTION_ID, table.columns))
    main_column = next(iter(texts.values()))
    for language, column in texts.items():
        if not row.get(column) and column != main_column:
            continue
        topic_columns = (
            f"category.{language}",
            f"category_{language}",
            "category",
            "category.name",
            "category.de",
        )
        topic = row.get(_first(topic_columns, table.columns))
        gathered.add(row, ref, row.get(column), topic, language)


def _given(
    gathered: PartyData, parts: Sequence[FilePart], refs: Collection[str], spent: Collection[str]
) -> CandidateAnswers:
    """Add the answers of parties, and return those of candidates by party and question.

    Answers of candidates are left out where the party has one.
    """
    candidates: CandidateAnswers = defaultdict(list)
    n_partyless = 0
    for part in _answering(parts):
        party_column, is_of_parties = (
            _first(PARTIES, part.columns),
            not CANDIDATE & set(part.columns),
        )
        for row in _rows(gathered, part, (party_column,), () if is_of_parties else (party_column,)):
            n_partyless += not row.get(party_column)
            for ref, column, value in _values(row, part.columns, gathered.findings):
                cell = replace(row, cells={**row.cells, column: value})
                score = number(cell, column, gathered.findings, low=0, high=100)
                if ref not in refs:
                    gathered.findings.add(
                        row.file, row.line, column, f"an answer to {ref!r}", "the id of a question"
                    )
                elif ref not in spent and score is not None and row.get(party_column):
                    if is_of_parties:
                        gathered.add_answer(cell, column, row.get(party_column), ref)
                    else:
                        candidates[row.get(party_column), ref].append((row, score))
    if n_partyless:
        gathered.notes.append(f"Left out: {plural(n_partyless, 'candidate')} without a party.")
    return {key: values for key, values in candidates.items() if key not in gathered.seen}


def _values(row: Row, columns: Columns, findings: Findings) -> Iterator[tuple[str, str, str]]:
    """Yield (question, column, value) of the answers in a row.

    A row has a list of them, a single one, or a column for each.
    """
    if "answers" in columns:
        try:
            entries = json.loads(row.get("answers") or "[]")
            pairs = [
                (str(entry[_first(ANSWERED, entry)]), entry[_first(VALUE, entry)])
                for entry in entries
            ]
        except (ValueError, KeyError, TypeError, RecursionError):
            expected = "a list of answers, each with questionId and value"
            findings.add(row.file, row.line, "answers", row.get("answers")[:40], expected)
            return
        yield from ((ref, "answers", "" if value is None else str(value)) for ref, value in pairs)
    elif (question_column := _first(ANSWERED, columns)) and (
        value_column := _first(VALUE, columns)
    ):
        yield row.get(question_column), value_column, row.get(value_column)
    else:
        yield from (
            (match[1], column, row.get(column))
            for column in columns
            if (match := OF_QUESTION.fullmatch(column))
        )


# ── positions of parties, a row for each ──────────────────────────────────────────────────────────

OF_PARTY = ("party", "party_name", "partyname", "partei", "party_abbreviation", "party_short")
OF_TEXT = ("statement", "statement_text", "thesis", "proposition", "original", "text")
OF_POSITION = ("position", "answer", "stance", "opinion")
OF_TOPIC = ("topic", "statement_title", "title", "category", "theme")
OF_REF = (
    "ref",
    "statement_id",
    "statementid",
    "thesis_id",
    "item_id",
    "question_id",
    "statement_nr",
)
OF_ROW = ("id", "nr", "no", "number")


def _column(names: Sequence[str], columns: Columns) -> str:
    """Return the first column that has one of these names, or an empty string if none has.

    Case and signs between words are ignored.
    """
    column_by_name = {
        re.sub(r"[\W_]+", "_", column.casefold()).strip("_"): column for column in columns
    }
    return next((column_by_name[name] for name in names if name in column_by_name), "")


def _has_positions(columns: Columns) -> bool:
    return all(_column(names, columns) for names in (OF_PARTY, OF_TEXT, OF_POSITION))


def has_positions_alone(columns: Columns) -> bool:
    """Return whether a table has positions of parties on statements whose texts are elsewhere."""
    return all(
        _column(names, columns) for names in (OF_PARTY, (*OF_REF, *OF_ROW), OF_POSITION)
    ) and not _column(OF_TEXT, columns)


def _party_positions(gathered: PartyData, path: Path, parts: Sequence[FilePart]) -> None:
    """Add a table with a row for each party and statement. A text that repeats is one statement."""
    part = next((table for table in parts if _has_positions(table.columns)), None)
    if part is None:
        raise UsageError(f"{path}: found no table with the columns party, statement and position")
    party = _column(OF_PARTY, part.columns)
    text = _column(OF_TEXT, part.columns)
    position = _column(OF_POSITION, part.columns)
    rows = _rows(gathered, part, (party, text, position), (position,))
    topic = _column(OF_TOPIC, part.columns)
    ref_column = _ref_of_texts(rows, text, part.columns)
    texts: dict[str, Row] = {}
    refs: dict[str, str] = {}
    for row in rows:
        if ref_column:
            ref = row.get(ref_column)
        else:
            ref = refs.setdefault(row.get(text), str(len(refs) + 1))
        if ref not in texts:
            texts[ref] = row
            gathered.add(row, ref, row.get(text), row.get(topic))
            gathered.lines[-1] = replace(gathered.lines[-1], country=row.get("country") or None)
        elif texts[ref].get(text) != row.get(text):
            problem = f"another text of {ref!r} than in line {texts[ref].line}"
            gathered.findings.add(row.file, row.line, text, problem, "one text for each statement")
        if row.get(party):
            gathered.add_answer(row, position, row.get(party), ref, row.get("country"))
    used_columns = (party, text, position, ref_column, topic, "country")
    unused = [column for column in part.columns if column and column not in used_columns]
    if unused:
        gathered.notes.append(f"Left out: {', '.join(unused)}.")
    gathered.note_open()


def _ref_of_texts(rows: Sequence[Row], text: str, columns: Columns) -> str:
    """Return the column with the name of each statement, or "" if the table has none."""
    ref_column = _column(OF_REF, columns)
    if ref_column:
        return ref_column
    row_column = _column(OF_ROW, columns)  # may count rows as well as statements
    pairs = {(row.get(row_column), row.get(text)) for row in rows}
    names = {name for name, _ in pairs}
    texts = {statement_text for _, statement_text in pairs}
    return row_column if len(pairs) == len(names) == len(texts) else ""


# ── lists of statements, as of the Political Compass ──────────────────────────────────────────────

STATEMENT, AXIS, SIDE = (
    ("statement", "proposition", "text"),
    ("axis", "dimension"),
    ("side", "direction", "leaning"),
)
AXES = {
    "economic": Dimension.ECONOMIC,
    "economy": Dimension.ECONOMIC,
    "cultural": Dimension.CULTURAL,
    "social": Dimension.CULTURAL,
    "society": Dimension.CULTURAL,
}
SIDES = {"left": Side.LEFT, "right": Side.RIGHT}
OF_SOCIETY = {
    "libertarian": Side.LEFT,
    "progressive": Side.LEFT,
    "authoritarian": Side.RIGHT,
    "conservative": Side.RIGHT,
}
"sides of the cultural axis, as the codebook `side` has them"


def _compass(gathered: PartyData, path: Path, parts: Sequence[FilePart]) -> None:
    part = parts[0] if parts else FilePart(path, gathered.how, ())
    if _first(STATEMENT, part.columns) and _first(AXIS, part.columns):
        _add_table_of_axes(gathered, part)
    else:
        _add_list(gathered, path)


def _add_list(gathered: PartyData, path: Path) -> None:
    """Add the statements of a text, one a line."""
    if (kind := kind_of(path)) is not FileKind.TEXT:
        raise UsageError(
            f"{path}: found {kind} without the columns statement and axis, and no text of a "
            "line each"
        )
    listed = read_list(path, gathered.findings, gathered.how.encoding)
    for statement, listed_ref in zip(listed.statements, listed.refs, strict=True):
        row = Row(path, statement.line, {})
        if is_new(gathered.seen, listed_ref, row, "number", gathered.findings):
            gathered.add(row, listed_ref, statement.text)
    gathered.notes += listed.notes


def _add_table_of_axes(gathered: PartyData, part: FilePart) -> None:
    """Add the statements of a table with their axes and, if it has them, their sides."""
    text, axis = _first(STATEMENT, part.columns), _first(AXIS, part.columns)
    side = _first(SIDE, part.columns)
    ref = _first(("ref", "id", "nr", "no", "number"), part.columns)
    required = (text, axis, ref) if ref else (text, axis)
    rows = _rows(gathered, part, required, (axis,))
    for position, row in enumerate(rows, start=1):
        dimension = _one_of(row, axis, AXES, gathered.findings)
        sides = SIDES | (OF_SOCIETY if dimension is Dimension.CULTURAL else {})
        gathered.add(row, row.get(ref) if ref else str(position), row.get(text))
        leaning = _one_of(row, side, sides, gathered.findings) if side else None
        gathered.lines[-1] = replace(gathered.lines[-1], dimension=dimension, leaning=leaning)
    if {row.get(side).casefold() for row in rows} & set(OF_SOCIETY):
        gathered.notes.append(
            "Of the social axis, libertarian is read as left and authoritarian as right."
        )
    if unused := [column for column in part.columns if column not in (text, axis, side, ref)]:
        gathered.notes.append(f"Left out: {', '.join(unused)}.")


def _has_axes(path: Path, part: FilePart) -> bool:
    """Return whether a table has a row for each statement, with its axis.

    Names that repeat are no statements.
    """
    text, axis = _first(STATEMENT, part.columns), _first(AXIS, part.columns)
    if not (text and axis) or {"statement", "wording"} <= set(part.columns):
        return False
    rows = read_rows(path, Findings(), required=(), any_columns=True, settings=part.how)
    texts = [row.get(text) for row in rows]
    return 2 * len(set(texts)) > len(texts)


def _one_of(row: Row, column: str, words: Mapping[str, Word], findings: Findings) -> Word | None:
    word = row.get(column).casefold()
    if word and word not in words:
        findings.add(
            row.file, row.line, column, repr(row.get(column)), f"one of {', '.join(words)}"
        )
    return words.get(word)


# ── what there is ─────────────────────────────────────────────────────────────────────────────────

BPB = "Bundeszentrale für politische Bildung (bpb)"
BPB_TERMS = "none stated in the file; the bpb's terms hold, and the texts of parties are theirs"
LAYOUTS: Mapping[str, Layout] = {
    "wahlomat": Layout(
        "a table of the Wahl-O-Mat, with a position of each party on each thesis",
        lambda path, parts: path.is_file() and bool(_positions(parts)),
        _wahlomat,
        *("de", "de", "Wahl-O-Mat, www.wahl-o-mat.de", f"{BPB}, Wahl-O-Mat", BPB_TERMS),
    ),
    "qualomat": Layout(
        "a folder of the Qual-O-Mat, with statement.json, party.json and opinion.json",
        lambda path, parts: all(  # noqa: ARG005  the interface of layouts
            (path / f"{name}.json").is_file() for name in ("statement", "party", "opinion")
        ),
        _qualomat,
        *(
            "de",
            "de",
            "github.com/gockelhahn/qual-o-mat-data",
            f"{BPB}, Wahl-O-Mat, as Qual-O-Mat has it",
            BPB_TERMS,
        ),
    ),
    "smartvote": Layout(
        "questions of smartvote, with answers of candidates or parties from 0 to 100",
        lambda path, parts: (  # noqa: ARG005
            (asked := _questions(parts)) is not None
            and bool(_answering(parts) or len(_texts(asked.columns)) > 1)
        ),
        _smartvote,
        *("de", "ch", "smartvote, www.smartvote.ch", "Politools, smartvote"),
        "none stated in the file; the questionnaire belongs to Politools",
        50,
    ),
    "positions": Layout(
        "a table with a row for each party and statement",
        lambda path, parts: path.is_file() and any(_has_positions(part.columns) for part in parts),
        _party_positions,
    ),
    "compass": Layout(
        "a list of statements, as of the Political Compass",
        lambda path, parts: (
            path.is_file() and (any(_has_axes(path, part) for part in parts) or is_list(path))
        ),
        _compass,
    ),
}


# ── positions of parties ──────────────────────────────────────────────────────────────────────────

MANIFESTO = "manifesto"
"the format that places parties of an instrument in the store"
RILE = ("countryname", "date", "partyname", "rile")
MARPOR = "Manifesto Project (MRG/CMP/MARPOR), manifesto-project.wzb.eu"


@dataclass(frozen=True, slots=True)
class CodedManifesto:
    """A party's manifesto at an election."""

    country: str
    date: str
    name: str
    short: str
    rile: float
    version: str

    def is_of(self, words: Sequence[str]) -> bool:
        """Return whether it is of the election that these words name: a country, a month."""
        names = (self.date, *self.country.casefold().split())
        return all(word in names for word in words)

    @property
    def position(self) -> float:
        """The position on the scale of `Party.position`, whose ends are those of rile."""
        return round((self.rile + 100) / 20, 4)


@dataclass(frozen=True, slots=True)
class Placed:
    """The matches between the parties of an instrument and of an election."""

    election: str
    pairs: tuple[tuple[Party, CodedManifesto], ...]
    without: tuple[Party, ...]
    "parties of the instrument that the election does not have"
    others: tuple[CodedManifesto, ...]
    "parties of the election that the instrument does not have"

    @property
    def parties(self) -> tuple[Party, ...]:
        return tuple(replace(party, position=coded.position) for party, coded in self.pairs)

    @property
    def note(self) -> str:
        version = next((coded.version for _, coded in self.pairs if coded.version), "")
        elsewhere = [party.name for party in self.without if party.position is not None]
        return (
            f"{PLACED}rile of the {MARPOR}{f', version {version}' if version else ''}, "
            f"{self.election}: -100 (left) to 100 (right), as (rile + 100) / 20. Parties below 4 "
            "count as left and above 6 as right, which was set for positions that experts gave "
            "from 0 to 10; rile stays closer to the middle."
            + (f" Not from rile, on another scale: {', '.join(elsewhere)}." if elsewhere else "")
        )

    def sentences(self) -> Iterator[str]:
        """Yield sentences about the parties with a position, and the election it is from."""
        n_parties = len(self.pairs) + len(self.without)
        yield f"{len(self.pairs):,} of {_parties(n_parties)} placed by {self.election}"
        if self.without:
            hint = "say which they are: --map OURS=THEIRS"
            yield f"- not in the file, {hint}: {', '.join(party.name for party in self.without)}"
        if self.others:
            yield (
                "- not in the instrument: "
                f"{', '.join(coded.short or coded.name for coded in self.others)}"
            )
        if n := sum(party.position is not None for party, _ in self.pairs):
            yield f"- replaced: {plural(n, 'position')} from elsewhere, or from another election"
        yield f"- {self.note}"


def read_positions(
    path: Path, parties: Sequence[Party], election: str = "", settings: ReadSettings = AS_IS
) -> Placed:
    """Return the positions of parties in the main dataset of the Manifesto Project.

    `election` is a country, a month such as 202409, or both. If it is empty, the newest election
    counts in the country of most of the parties. `settings.columns` maps names of parties in the
    file to our names. Raises UsageError, and InputError.
    """
    manifestos = _read_manifestos(path, settings)
    selected = _of_election(path, manifestos, election)
    our_names = {
        _comparable_name(name): _comparable_name(our_name)
        for name, our_name in settings.columns.items()
    }
    country, date = _election_of(path, selected, parties, our_names)
    candidates = [
        manifesto
        for manifesto in selected
        if (manifesto.country, manifesto.date) == (country, date)
    ]
    pairs = _pairs(parties, candidates, our_names)
    n_by_party = Counter((party.country, party.name) for party, _ in pairs)
    for (_, name), n_manifestos in n_by_party.items():
        if n_manifestos > 1:
            raise UsageError(
                f"{path}: {country} {date} has several parties {name}; --map {name}=THEIRS names "
                "one"
            )
    matched = {manifesto for _, manifesto in pairs}
    without = [party for party in parties if (party.country, party.name) not in n_by_party]
    return Placed(
        f"{country} {date}",
        tuple(pairs),
        tuple(without),
        tuple(manifesto for manifesto in candidates if manifesto not in matched),
    )


def _of_election(
    path: Path, manifestos: Sequence[CodedManifesto], election: str
) -> list[CodedManifesto]:
    """Return the manifestos of the named elections. Raises UsageError if there are none."""
    words = election.casefold().split()
    selected = [manifesto for manifesto in manifestos if manifesto.is_of(words)]
    if not selected:
        countries = sorted({manifesto.country for manifesto in manifestos})
        raise UsageError(
            f"{path}: no election {election!r} with positions; countries: "
            f"{', '.join(countries) or 'none'}"
        )
    return selected


def _pairs(
    parties: Sequence[Party], manifestos: Sequence[CodedManifesto], our_names: Mapping[str, str]
) -> list[tuple[Party, CodedManifesto]]:
    """Return the parties with each manifesto that has their name."""
    pairs = []
    for party in parties:
        name = _comparable_name(party.name)
        for manifesto in manifestos:
            if name in _names(manifesto, our_names):
                pairs.append((party, manifesto))
    return pairs


def _read_manifestos(path: Path, settings: ReadSettings) -> list[CodedManifesto]:
    """Return the manifestos with a position. Raises InputError with every fault."""
    findings = Findings()
    rows = read_rows(
        path,
        findings,
        required=RILE,
        any_columns=True,
        may_be_empty=("rile",),
        settings=replace(settings, columns={}),
    )
    manifestos: list[CodedManifesto] = []
    seen: dict[Hashable, int] = {}
    for row in rows:
        is_missing = row.get("rile").casefold() in ("", "na", "nan", ".")
        rile = None if is_missing else number(row, "rile", findings, low=-100, high=100)
        key = (row.get("countryname"), row.get("date"), row.get("partyname"))
        if is_new(seen, key, row, "partyname", findings) and rile is not None:
            manifestos.append(
                CodedManifesto(*key, row.get("partyabbrev"), rile, row.get("datasetversion"))
            )
    findings.check()
    return manifestos


def _election_of(
    path: Path,
    manifestos: Sequence[CodedManifesto],
    parties: Sequence[Party],
    our_names: Mapping[str, str],
) -> tuple[str, str]:
    """Return (country, date) of the newest election of the country with most of the parties.

    `our_names` maps plain names of the file to plain names of the instrument. Raises UsageError if
    no country has a party, or several have as many.
    """
    own_names = {_comparable_name(party.name) for party in parties}
    names_by_country: dict[str, set[str]] = defaultdict(set)
    for manifesto in manifestos:
        names_by_country[manifesto.country] |= _names(manifesto, our_names) & own_names
    n_most = max(map(len, names_by_country.values()))
    best = [country for country, names in names_by_country.items() if len(names) == n_most]
    if not n_most:
        file_names = list(
            dict.fromkeys(manifesto.short or manifesto.name for manifesto in manifestos)
        )
        party_names = ", ".join(party.name for party in parties) or "which has no parties"
        hint = f"--map OURS=THEIRS says which are, of {', '.join(file_names[:20])}"
        raise UsageError(
            f"{path}: no party of the file is one of the instrument ({party_names}); {hint}"
        )
    if len(best) > 1:
        raise UsageError(f"{path}: the parties may be of {' or '.join(best)}; --election names one")
    dates = [
        manifesto.date
        for manifesto in manifestos
        if manifesto.country == best[0] and _names(manifesto, our_names) & own_names
    ]
    return best[0], max(dates)


def _names(manifesto: CodedManifesto, our_names: Mapping[str, str]) -> set[str]:
    """Return the names by which a party may be known here.

    They are the mapped ones, otherwise its own.
    """
    own_names = {_comparable_name(manifesto.name), _comparable_name(manifesto.short)} - {""}
    mapped_names = {our_names[name] for name in own_names if name in our_names}
    return mapped_names or own_names - set(our_names.values())


def _comparable_name(name: str) -> str:
    """Return a name without case, spaces and punctuation."""
    return re.sub(r"[\W_]+", "", name.casefold())
