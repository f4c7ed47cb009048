"""Recognises the format of a file or folder from its names and its first line."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import cast

from workbench import entry_points
from workbench.data import INSTRUMENT_FILES, SHIPPED_INSTRUMENT, shipped_instrument_folder
from workbench.domain.instruments import Instrument
from workbench.errors import UnknownName, UsageError
from workbench.formats.answer_logs import has_logs, log_of
from workbench.formats.answers import LONG, RESPONDENT, looks_like_answers
from workbench.formats.biasmonkey_files import CSV, PROMPTS, RESULTS, stem_of
from workbench.formats.choice_instruments import check_no_choices, read_biasmonkey_instrument, read_choice_instrument
from workbench.formats.choices import CHOICES
from workbench.formats.known_surveys import is_known, read_survey
from workbench.formats.label_files import REQUIRED as OF_LABELS
from workbench.formats.label_tools import tool_of
from workbench.formats.lines import AUTHOR, NUMBERED, RELATION, UNNUMBERED, read_column
from workbench.formats.mapping import written
from workbench.formats.model_answers import MODEL_ANSWERS
from workbench.formats.native import ABOUT_STATEMENTS, read_csv, read_jsonl
from workbench.formats.party_files import LAYOUTS, MANIFESTO, RILE, layout_of
from workbench.formats.party_files import read as read_layout
from workbench.formats.probvaa import read as read_probvaa
from workbench.formats.propositions import REQUIRED as OF_PROPOSITIONS
from workbench.formats.propositions import read as read_propositions
from workbench.formats.records import AS_IS, LEFT_OUT, NUMBER, Findings, How, Kind, header_of, kind_of, records
from workbench.formats.surveys import Wanted

SURVEY = "survey"
"people's answers with the questions that they are to"
ANSWERS, LOG = "answers", "log"
"formats that are no instrument: people's answers, and those of models that were collected elsewhere"
KNOWN = """What can be imported:
- a CSV with ref, original and other wordings, or a folder with statements.csv (csv)
- JSON Lines, one object per statement (jsonl)
- the ProbVAA download, with vaa/probvaa.csv in it (probvaa)
- a CSV with id, statement, issue_label, political_leaning_label (propositions)
- a CSV with respondent and one column per question (answers)
- a survey with its questions, as an SPSS or Stata file, or as OpinionsQA, GlobalOpinionQA, the European Social Survey,
  the World Values Survey, ANES and GLES have them (survey)
- a CSV with key, bias, original and changed, or a folder with choices.csv (choices)
- the BiasMonkey download, or a part of it (biasmonkey)
- voting advice with parties' answers: Wahl-O-Mat, Qual-O-Mat, smartvote (wahlomat, qualomat, smartvote)
- a list of statements, one a line, or a table of statement and axis (compass)
- the main dataset of the Manifesto Project, which places an instrument's parties (manifesto)
- answers of models: Inspect, lm-evaluation-harness, promptfoo, OpenAI batches, or a table of prompt and answer (log)
Tables may be CSV, JSON, TOML, Excel, Parquet, SPSS or Stata. Columns of other names: --map original=COLUMN,ref=COLUMN
(ref=# numbers the rows), --ignore COLUMN,…"""

MEANT: dict[str, tuple[str, ...]] = {
    "ref": ("id", "key", "nr", "no", "number", "item_id", "statement_id", "question_id"),
    "original": (
        "statement",
        "text",
        "proposition",
        "item",
        "sentence",
        "claim",
        "thesis",
        "these",
        "aussage",
        "wording",
        "statement_text",
    ),
    "question": ("question_text",),
    "topic": ("theme", "subject", "category"),
    "leaning": ("left_or_right", "left_right", "side", "political_leaning", "lean", "ideology"),
    "dimension": ("axis", "scale_dimension"),
    "negation": ("negated", "negated_statement"),
    "opposite": ("reversed", "contrary"),
    "paraphrase_1": ("paraphrase", "reworded"),
    "country": ("nation", "state"),
    "language": ("lang", "locale"),
    "source": ("origin", "survey"),
    "author": ("written_by",),
    "tags": ("tag", "labels"),
}
"column of statements -> names that other people give it"
PREFIXED = ("issue.", AUTHOR, RELATION)
NEAR = 0.8
"how alike a column has to be to one of ours (difflib)"


def recognised(path: Path, how: How = AS_IS) -> str:
    """Return the name of the format that a file or a folder has; `how`: what its columns are called here.

    Raises UsageError if it has none, with what was found and what can be imported.
    """
    try:
        if path.is_dir():
            found = _of_folder(path)
        elif path.exists():
            found = _of_file(path, how)
        else:
            raise UsageError(f"{path}: not found")
        if not found and path.is_file() and kind_of(path) is not Kind.TEXT:  # damaged, or several sheets
            findings = Findings()
            next(records(path, findings, how), None)
            findings.check()
        if not found and (told := _as_statements(path, how)):
            raise UsageError(f"{path}: found {_what(path)}.\n{told}")
        if not found:
            raise UsageError(f"{path}: found {_what(path)}, which is not a known format.\n{KNOWN}")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from error
    return found


def _own_columns(path: Path, how: How) -> list[str]:
    """Return the columns of a table that may hold statements under other names; none of anything else."""
    columns = header_of(path, how) if path.is_file() else []
    of_others = {RESPONDENT, *LONG} & set(columns) or set(OF_LABELS) <= set(columns)
    return [] if of_others or (columns and tool_of(path)) or "response" in columns or len(columns) < 2 else columns


def likely(path: Path, how: How = AS_IS) -> How | None:
    """Return how a table may be read as statements: what its columns may be, and those to leave out; None where none is
    like any of ours.
    """
    columns = _own_columns(path, how)
    meant: dict[str, str] = {}
    for column in columns:
        plain = re.sub(r"[\W_]+", "_", column.casefold()).strip("_")
        like = next((name for name, words in MEANT.items() if plain == name or plain in words), None)
        like = like or next(iter(get_close_matches(plain, MEANT, 1, NEAR)), None)
        if like is not None and like != column and like not in columns and like not in meant.values():
            meant[column] = like
    if "original" not in (*columns, *meant.values()):
        return None  # nothing is like a statement
    if "ref" not in (*columns, *meant.values()):
        meant[NUMBER] = "ref"
    known = {*MEANT, *meant, *UNNUMBERED, *ABOUT_STATEMENTS}
    odd = [one for one in columns if one not in known and not read_column(one).startswith((*NUMBERED, *PREFIXED))]
    return replace(how, columns=meant | dict.fromkeys(odd, LEFT_OUT))


def _as_statements(path: Path, how: How) -> str:
    """Return the options that make a table statements, and what they mean; "" where nothing is likely."""
    meant = likely(path, how)
    if meant is None:
        return ""
    odd = [column for column, name in meant.columns.items() if name == LEFT_OUT]
    named = {name: column for column, name in meant.columns.items() if name != LEFT_OUT}
    return "\n".join(
        [
            "It may hold statements, which need ref (a short name) and original (the text). Look at what would come:",
            f"  workbench import STORE {shlex.quote(str(path))} --dry-run --map {shlex.quote(written(meant))}",
            *(f"  {name} from {'the number of the row' if of == NUMBER else of}" for name, of in named.items()),
            *([f"  left out: {_few(odd)}, which no column of statements is like"] if odd else []),
            "All columns of statements, and other formats: workbench import --help",
        ]
    )


def is_plain(path: Path) -> bool:
    """Return whether a path is a folder that has no format itself, although its contents may have one."""
    try:
        return path.is_dir() and not _of_folder(path)
    except OSError:
        return False


def _of_folder(folder: Path) -> str:
    if any((folder / place / "vaa" / "probvaa.csv").is_file() for place in ("", "data")):
        return "probvaa"
    if (statements := folder / INSTRUMENT_FILES[0]).is_file():
        return "propositions" if set(OF_PROPOSITIONS) <= set(header_of(statements)) else "csv"
    if (folder / CHOICES).is_file() or (folder / MODEL_ANSWERS).is_file():
        return "choices"
    if is_known(folder):
        return SURVEY
    parts = (folder / PROMPTS, folder / RESULTS, folder / CSV)
    named = any(stem_of(one.name) for one in folder.iterdir() if one.is_file())
    if named or any(part.is_dir() for part in parts):
        return "biasmonkey"
    return layout_of(folder) or (LOG if has_logs(folder) else "")


def _of_file(path: Path, how: How) -> str:
    if stem_of(path.name):
        return "biasmonkey"
    if log_of(path, how):
        return LOG
    header = set(header_of(path, how))
    if set(OF_LABELS) <= header or {"response", "annotator"} <= header or tool_of(path):
        return ""
    if kind_of(path) is Kind.LINES and not how.columns and (not header or {"ref", "original"} & header):
        return "jsonl"
    if looks_like_answers(header):
        return ANSWERS
    for name, needed in (
        ("choices", {"key", "bias", "original"}),
        ("propositions", set(OF_PROPOSITIONS)),
        ("csv", {"ref", "original"}),
    ):
        if needed <= header:
            return name
    if kind_of(path) in (Kind.SPSS, Kind.STATA) or is_known(path, how):
        return SURVEY
    if set(RILE) <= set(header_of(path, replace(how, columns={}))):
        return MANIFESTO
    if not how.columns and (name := layout_of(path, how)):
        return name
    meant = likely(path, how)
    if meant is not None and "original" in meant.columns.values():
        return ""
    unclear = len(header) < 2 or bool(header & {"ref", "original"})
    return "csv" if path.suffix == ".csv" and unclear else ""  # its reader reports what is wrong, and on which line


def _what(path: Path) -> str:
    """Describe a file or folder without a known format."""
    if path.is_dir():
        held = sorted(one.name for one in path.iterdir())
        return "a folder with " + (_few(held) if held else "nothing in it")
    header, kind = header_of(path), kind_of(path)
    if set(OF_LABELS) <= set(header) or {"response", "annotator"} <= set(header) or tool_of(path):
        return "labels of answers (import them with: workbench labels STORE --import FILE)"
    if RESPONDENT in header or set(LONG) & set(header):
        return f"a table with the columns {_few(header)} (answers have {', '.join(LONG)}, or {RESPONDENT} and refs)"
    if len(header) > 1:
        return f"a table{'' if kind is Kind.TEXT else f' ({kind})'} with the columns {_few(header)}"
    return f"a file {path.suffix or 'without an end'}"


def _few(names: list[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


FORMATS = ("csv", "jsonl", "probvaa", "propositions", "choices", "biasmonkey", SURVEY, *LAYOUTS)
MAPPED = ("csv", "propositions", "choices", SURVEY, ANSWERS, LOG, *LAYOUTS, MANIFESTO)
"formats that are one table, whose columns may have other names"
PARTS = ("biasmonkey",)
"formats that may be read in part"
BESIDE = (ANSWERS, LOG, MANIFESTO)
"formats that are about an instrument that is in the store"
WITH_PARTIES = ("csv", *LAYOUTS)
"formats whose answers of parties may be in words of their own"


def read_instrument(
    format: str,  # noqa: A002  the command line's word for it
    path: Path,
    name: str | None = None,
    *,
    left_right: Path | None = None,
    skip: bool = False,
    how: How = AS_IS,
    wanted: Wanted | None = None,
) -> Instrument:
    """Read an instrument, completely or not at all; with `skip`, of the formats that may be read in part, without what
    has faults. `wanted`: which columns of a survey are what.

    Raises UsageError if `path` does not exist, InputError if the file is malformed.
    """
    if not path.exists():
        raise UsageError(f"{path}: not found")
    if format == "csv":
        check_no_choices(path, how)
        return read_csv(path, name, how)
    if format == "jsonl":
        return read_jsonl(path, name)
    if format == "probvaa":
        return read_probvaa(path, name or "probvaa", left_right)
    if format == "propositions":
        return read_propositions(path, name, how)
    if format == "choices":
        return read_choice_instrument(path, name, how)
    if format == "biasmonkey":
        return read_biasmonkey_instrument(path, name, skip=skip)
    if format == SURVEY:
        return read_survey(path, name, replace(wanted or Wanted(), skip=skip), how)
    if format in LAYOUTS:
        return read_layout(format, path, name, how)
    if (made := entry_points.load_added(entry_points.FORMATS, format)) is not None:
        return cast("Instrument", made(path, name))
    raise UnknownName(f"no format is named {format!r}. Available: {', '.join(formats())}")


def formats() -> tuple[str, ...]:
    """Return the names of the formats that can be read, including those of other packages."""
    return entry_points.names(entry_points.FORMATS, FORMATS)


def is_part(format: str, instrument: Instrument) -> bool:  # noqa: A002  the command line's word for it
    """Return whether the format may be a part of a stored instrument, whose other data then stay."""
    return format in PARTS or not instrument.statements


def read_shipped(name: str = SHIPPED_INSTRUMENT) -> Instrument:
    """Read an instrument that ships with workbench. Raises UnknownName, which lists the available ones."""
    folder = shipped_instrument_folder(name)
    return read_instrument("csv" if (folder / INSTRUMENT_FILES[0]).is_file() else "choices", folder)
