"""Recognises the format of a file or folder from its names and its first line."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

from workbench import entry_points
from workbench.data import INSTRUMENT_FILES, SHIPPED_INSTRUMENT, shipped_instrument_folder
from workbench.domain.instruments import Instrument
from workbench.errors import UnknownName, UsageError
from workbench.formats.answer_logs import has_logs, log_of
from workbench.formats.answers import LONG, RESPONDENT, looks_like_answers
from workbench.formats.biasmonkey_files import CSV, PROMPTS, RESULTS, stem_of
from workbench.formats.choice_instruments import (
    check_no_choices,
    read_biasmonkey_instrument,
    read_choice_instrument,
)
from workbench.formats.choices import CHOICES
from workbench.formats.known_surveys import is_known, read_survey
from workbench.formats.label_files import REQUIRED as OF_LABELS
from workbench.formats.label_tools import tool_of
from workbench.formats.likely import Proposal, proposal
from workbench.formats.mapping import written
from workbench.formats.model_answers import MODEL_ANSWERS
from workbench.formats.native import read_csv, read_jsonl
from workbench.formats.party_files import LAYOUTS, MANIFESTO, RILE, has_positions_alone, layout_of
from workbench.formats.party_files import read as read_layout
from workbench.formats.people import OF_ISSUE_LABELS
from workbench.formats.probvaa import read as read_probvaa
from workbench.formats.propositions import REQUIRED as OF_PROPOSITIONS
from workbench.formats.propositions import read as read_propositions
from workbench.formats.records import (
    AS_IS,
    LEFT_OUT,
    NUMBER,
    FileKind,
    Findings,
    ReadSettings,
    header_of,
    kind_of,
    likely_header_row,
    records,
)
from workbench.formats.statement_lists import read_list
from workbench.formats.surveys import SurveyColumns

SURVEY = "survey"
"people's answers with their questions"
ANSWERS, LOG, LABELS, ISSUE_LABELS = "answers", "log", "labels", "issue_labels"
"""formats that are no instrument: people's answers, models' answers that were collected
elsewhere, and labels of these"""
MOST_FOLDERS = 500
"the largest number of folders within a folder that are inspected"
KNOWN = """What can be imported:
- a CSV with ref, original and other wordings, or a folder with statements.csv (csv)
- JSON Lines, one object per statement (jsonl)
- the ProbVAA download, with vaa/probvaa.csv in it (probvaa)
- a CSV with id, statement, issue_label, political_leaning_label (propositions)
- a CSV with respondent and one column per question (answers)
- labels of statements for policy issues, with ref, issue, annotator and label (issue_labels)
- a survey with its questions, as an SPSS or Stata file, or as OpinionsQA, GlobalOpinionQA, the European Social Survey,
  the World Values Survey, ANES and GLES have them (survey)
- a CSV with key, bias, original and changed, or a folder with choices.csv (choices)
- the BiasMonkey download, or a part of it (biasmonkey)
- voting advice with parties' answers: Wahl-O-Mat, Qual-O-Mat, smartvote (wahlomat, qualomat, smartvote)
- a table with party, statement and position, a row for each party and statement (positions)
- a list of statements, one a line, or a table of statement and axis (compass)
- the main dataset of the Manifesto Project, which places an instrument's parties (manifesto)
- answers of models: Inspect, lm-evaluation-harness, promptfoo, OpenAI batches, or a table of prompt and answer (log)
- labels of answers: our CSV or JSON Lines, or files of Label Studio, Prodigy, doccano, Potato and Argilla (labels)
Tables may be CSV, JSON, TOML, Excel, Parquet, SPSS or Stata. Columns of other names: --map original=COLUMN,ref=COLUMN
(ref=# numbers the rows), --ignore COLUMN,…"""  # noqa: E501


def recognised(path: Path, settings: ReadSettings = AS_IS, *, of_people: bool = False) -> str:
    """Return the name of the format of a file or folder.

    Parameters
    ----------
    settings
        The settings for reading it, such as the names of its columns.
    of_people
        Whether columns about people were named, such as weights. A table of no other format is
        then a survey.

    Raises UsageError for an unknown format, with a description of the file and what can be
    imported.
    """
    try:
        format_name = _format_of(path, settings)
        _check_readable(path, format_name, settings)
        if of_people and format_name in ("", "csv") and _may_be_survey(path, settings):
            return SURVEY
        if not format_name:
            raise UsageError(_unknown_format(path, settings))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from error
    return format_name


def _format_of(path: Path, settings: ReadSettings) -> str:
    """Return the format of a file or folder, or an empty string if it has none."""
    if path.is_dir():
        return _format_of_folder(path)
    if path.exists():
        return _format_of_file(path, settings)
    raise UsageError(f"{path}: not found")


def _check_readable(path: Path, format_name: str, settings: ReadSettings) -> None:
    """Raise UsageError, or InputError, for a damaged file, several sheets, or a title above."""
    if not format_name and path.is_file() and kind_of(path) is not FileKind.TEXT:
        findings = Findings()
        next(records(path, findings, settings), None)
        findings.check()
    if format_name not in ("", "csv") or path.is_dir():
        return
    header_row = _row_below_title(path, settings)
    if header_row is not None:
        raise UsageError(
            f"{path}: found a title or comment above a table, whose columns seem to be named "
            f"in row {header_row}.\n"
            f"Read it from there: workbench import STORE {shlex.quote(str(path))} --dry-run "
            f"--header-row {header_row}"
        )


def _unknown_format(path: Path, settings: ReadSettings) -> str:
    """Return a message on a file or folder of unknown format, and how it may be imported."""
    if path.is_dir() and (message := _of_folders_within(path)):
        return message
    download = _whole_download(path)
    if download is not None:
        return (
            f"{path}: found a part of the ProbVAA download. Import the whole folder:\n"
            f"  workbench import STORE {shlex.quote(str(download))} --dry-run"
        )
    advice = _as_statements(path, settings)
    if advice:
        return f"{path}: found {_description(path, settings)}.\n{advice}"
    message = f"{path}: found {_description(path, settings)}, which is not a known format."
    return "\n".join([message, *_as_lines(path, settings), KNOWN])


def _whole_download(path: Path) -> Path | None:
    """Return the folder of the ProbVAA download that a file belongs to, or None."""
    folders = list(path.resolve().parents)[1:3] if path.is_file() else []
    return next((folder for folder in folders if (folder / "vaa" / "probvaa.csv").is_file()), None)


def _may_be_survey(path: Path, settings: ReadSettings) -> bool:
    """Return whether a file is a table of several columns, and not of statements."""
    header = header_of(path, settings) if path.is_file() else []
    return len(header) > 1 and not {"ref", "original"} <= set(header)


def _of_folders_within(folder: Path) -> str:
    """Return how the folders within a folder can be imported.

    It is an empty string if they have no format.
    """
    folders_by_format: dict[str, list[Path]] = {}
    for depth in ("*", "*/*"):
        subfolders = sorted(
            path for path in folder.glob(depth) if path.is_dir() and not path.name.startswith(".")
        )
        for path in subfolders[:MOST_FOLDERS]:
            if name := _format_of_folder(path):
                folders_by_format.setdefault(name, []).append(path)
        if folders_by_format:
            break
    if not folders_by_format:
        return ""
    folders = [path for paths in folders_by_format.values() for path in paths]
    kinds = ", ".join(f"{len(paths):,} {name}" for name, paths in folders_by_format.items())
    names = _first_names([str(path.relative_to(folder)) for path in folders])
    pattern = f"{shlex.quote(str(folder))}/{depth}/"
    label = (
        ' --name "$(basename "$(dirname "$folder")")-$(basename "$folder")"'
        if depth == "*/*"
        else ""
    )
    first_folder = shlex.quote(str(folders[0]))
    return (
        f"{folder}: found a folder of folders that can be imported ({kinds}): {names}. Import "
        "one of them:\n"
        f"  workbench import STORE {first_folder} --dry-run\n"
        f"or each, in a shell:\n"
        f'  for folder in {pattern}; do workbench import STORE "$folder"{label}; done'
    )


def _row_below_title(path: Path, settings: ReadSettings) -> int | None:
    """Return the row that seems to name the columns below a title.

    The result is None if the first row names them.
    """
    if {"ref", "original"} <= set(header_of(path, settings)):
        return None
    return likely_header_row(path, settings)


def _own_columns(path: Path, settings: ReadSettings) -> list[str]:
    """Return the columns of a table that may hold statements under other names.

    The list is empty for a file of answers or labels, and for a file that is not a table.
    """
    columns = header_of(path, settings) if path.is_file() else []
    names = set(columns)
    has_answers = RESPONDENT in names or set(LONG[1:]) <= names
    if not columns or has_answers or _holds_labels(path, names):
        return []
    return columns


def likely(path: Path, settings: ReadSettings = AS_IS) -> ReadSettings | None:
    """Return the settings for reading a table as statements, or None if that is not possible."""
    columns = _own_columns(path, settings)
    proposed = proposal(path, columns, settings) if columns else None
    return None if proposed is None or proposed.obstacle else proposed.how


def _as_statements(path: Path, settings: ReadSettings) -> str:
    """Return the options with which a table is read as statements, or the reason why it cannot be.

    The result is an empty string if no column looks like one of statements.
    """
    columns = _own_columns(path, settings)
    proposed = proposal(path, columns, settings) if columns else None
    if proposed is None:
        return ""
    if proposed.obstacle:
        return (
            f"It may hold statements, but {proposed.obstacle}. Statements have one row each, and "
            "one for each language "
            "with a column of languages.\nKeep one row of each, or name the columns: --map "
            "original=COLUMN,ref=COLUMN,"
            "language=COLUMN\nPositions of parties have the columns party, statement and "
            "position (--format positions)."
        )
    return "\n".join(_proposal_lines(path, proposed))


def _proposal_lines(path: Path, proposed: Proposal) -> Iterator[str]:
    """Yield the options that make a table statements, and the columns that they use."""
    settings = proposed.how
    unused = [column for column, name in settings.columns.items() if name == LEFT_OUT]
    yield (
        "It may hold statements, which need ref (a short name) and original (the text). Look at "
        "what would come:"
    )
    yield (
        f"  workbench import STORE {shlex.quote(str(path))} --dry-run --map "
        f"{shlex.quote(written(settings))}"
    )
    column_by_name = {name: column for column, name in settings.columns.items() if name != LEFT_OUT}
    for name, column in column_by_name.items():
        yield f"  {name} from {'the number of the row' if column == NUMBER else column}"
    for remark in proposed.remarks:
        yield f"  {remark}"
    if unused:
        yield f"  left out: {_first_names(unused)}, which no column of statements is like"
    if "response" in unused or "answer" in unused:
        yield "Import answers of models afterwards, as a table of prompt and answer: --format log"
    yield "All columns of statements, and other formats: workbench import --help"


def _as_lines(path: Path, settings: ReadSettings) -> Iterator[str]:
    """Yield the lines that tell how to read each line of a text as a statement.

    Nothing is yielded for a text of one line, and for one that divides into columns.
    """
    if path.is_file() and kind_of(path) is FileKind.TEXT and len(header_of(path, settings)) == 1:
        n = len(read_list(path, Findings()).statements)
        if n > 1:
            yield (
                f"It has {n:,} lines, of which not all are sentences or numbered. To take each "
                "for a statement:"
            )
            yield f"  workbench import STORE {shlex.quote(str(path))} --format compass --dry-run"


def is_plain(path: Path) -> bool:
    """Return whether a path is a folder without a format, although its contents may have one."""
    try:
        return path.is_dir() and not _format_of_folder(path)
    except OSError:
        return False


def _format_of_folder(folder: Path) -> str:
    if any((folder / subfolder / "vaa" / "probvaa.csv").is_file() for subfolder in ("", "data")):
        return "probvaa"
    if (statements := folder / INSTRUMENT_FILES[0]).is_file():
        return "propositions" if set(OF_PROPOSITIONS) <= set(header_of(statements)) else "csv"
    if (folder / CHOICES).is_file() or (folder / MODEL_ANSWERS).is_file():
        return "choices"
    if is_known(folder):
        return SURVEY
    parts = (folder / PROMPTS, folder / RESULTS, folder / CSV)
    has_bias_files = any(stem_of(file.name) for file in folder.iterdir() if file.is_file())
    if has_bias_files or any(part.is_dir() for part in parts):
        return "biasmonkey"
    return layout_of(folder) or (LOG if has_logs(folder) else "")


def _format_of_file(path: Path, settings: ReadSettings) -> str:
    """Return the format of a file, or an empty string. The first that fits counts."""
    if stem_of(path.name):
        return "biasmonkey"
    if log_of(path, settings):
        return LOG
    header = set(header_of(path, settings))
    name = _format_of_header(path, header, settings)
    if name:
        return name
    if kind_of(path) in (FileKind.SPSS, FileKind.STATA) or is_known(path, settings):
        return SURVEY
    if set(RILE) <= set(header_of(path, replace(settings, columns={}))):
        return MANIFESTO
    if set(settings.columns.values()) <= {LEFT_OUT} and (layout := layout_of(path, settings)):
        return layout
    statement_settings = likely(path, settings)
    if statement_settings is not None and "original" in statement_settings.columns.values():
        return ""
    is_unclear = len(header) < 2 or bool(header & {"ref", "original"})
    # Its reader reports what is wrong, and on which line.
    return "csv" if path.suffix == ".csv" and is_unclear else ""


_REQUIRED = {
    "choices": {"key", "bias", "original"},
    "propositions": set(OF_PROPOSITIONS),
    "csv": {"ref", "original"},
}
"format -> the columns by which a table of it is known"


def _format_of_header(path: Path, header: set[str], settings: ReadSettings) -> str:
    """Return the format that the names of a file's columns indicate, or an empty string."""
    if _holds_labels(path, header):
        return LABELS
    if set(OF_ISSUE_LABELS) <= header:
        return ISSUE_LABELS
    may_be_lines = not header or bool({"ref", "original"} & header)
    if kind_of(path) is FileKind.LINES and not settings.columns and may_be_lines:
        return "jsonl"
    if looks_like_answers(header):
        return ANSWERS
    return next((name for name, required in _REQUIRED.items() if required <= header), "")


def _holds_labels(path: Path, header: set[str]) -> bool:
    return set(OF_LABELS) <= header or {"response", "annotator"} <= header or bool(tool_of(path))


def _description(path: Path, settings: ReadSettings) -> str:
    """Return the description of a file or folder without a known format."""
    if path.is_dir():
        names = sorted(entry.name for entry in path.iterdir())
        return "a folder with " + (_first_names(names) if names else "nothing in it")
    header, kind = header_of(path, settings), kind_of(path)
    if RESPONDENT in header or set(LONG) & set(header):
        return (
            f"a table with the columns {_first_names(header)} (answers have {', '.join(LONG)}, or "
            f"{RESPONDENT} and refs)"
        )
    if has_positions_alone(header):
        return (
            f"positions of parties without the statements ({_first_names(header)}; a column "
            "statement has their texts)"
        )
    if len(header) > 1:
        kind_note = "" if kind is FileKind.TEXT else f" ({kind})"
        return f"a table{kind_note} with the columns {_first_names(header)}"
    return f"a file {path.suffix or 'without an end'}"


def _first_names(names: list[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


FORMATS = ("csv", "jsonl", "probvaa", "propositions", "choices", "biasmonkey", SURVEY, *LAYOUTS)
MAPPED = ("csv", "propositions", "choices", SURVEY, ANSWERS, LOG, *LAYOUTS, MANIFESTO)
"formats that are one table, whose columns may have other names"
PARTS = ("biasmonkey",)
"formats that may be read in part"
BESIDE = (ANSWERS, LOG, LABELS, ISSUE_LABELS, MANIFESTO)
"formats about an instrument that is in the store"
WITH_PARTIES = ("csv", *LAYOUTS)
"formats in which answers of parties may have words of their own"


def read_instrument(
    format: str,  # noqa: A002  the command line's word for it
    path: Path,
    name: str | None = None,
    *,
    left_right: Path | None = None,
    skip: bool = False,
    settings: ReadSettings = AS_IS,
    wanted: SurveyColumns | None = None,
) -> Instrument:
    """Return the instrument in a file or folder, read completely or not at all.

    With `skip`, formats that may be read in part are read without faulty data. `wanted` has the
    roles of the columns of a survey. Raises UsageError if `path` does not exist, and InputError if
    the file is malformed.
    """
    if not path.exists():
        raise UsageError(f"{path}: not found")
    if format in LAYOUTS:
        return read_layout(format, path, name, settings)
    if format == "csv":
        check_no_choices(path, settings)
        return read_csv(path, name, settings)
    if format == SURVEY:
        return read_survey(path, name, replace(wanted or SurveyColumns(), skip=skip), settings)
    readers: dict[str, Callable[[], Instrument]] = {
        "jsonl": lambda: read_jsonl(path, name),
        "probvaa": lambda: read_probvaa(path, name or "probvaa", left_right),
        "propositions": lambda: read_propositions(path, name, settings),
        "choices": lambda: read_choice_instrument(path, name, settings),
        "biasmonkey": lambda: read_biasmonkey_instrument(path, name, skip=skip),
    }
    if format in readers:
        return readers[format]()
    if (added_reader := entry_points.load_added(entry_points.FORMATS, format)) is not None:
        return cast("Instrument", added_reader(path, name))
    raise UnknownName(f"no format is named {format!r}. Available: {', '.join(formats())}")


def formats() -> tuple[str, ...]:
    """Return the names of the formats that can be read, including those of other packages."""
    return entry_points.names(entry_points.FORMATS, FORMATS)


def is_part(format: str, instrument: Instrument) -> bool:  # noqa: A002  the command line's word for it
    """Return whether the format may be a part of a stored instrument.

    The other data of the instrument are then kept.
    """
    return format in PARTS or not instrument.statements


def read_shipped(name: str = SHIPPED_INSTRUMENT) -> Instrument:
    """Read an instrument that ships with workbench.

    Raises UnknownName, which lists the available ones.
    """
    folder = shipped_instrument_folder(name)
    return read_instrument("csv" if (folder / INSTRUMENT_FILES[0]).is_file() else "choices", folder)
