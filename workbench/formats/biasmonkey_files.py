"""The layout of the BiasMonkey download, and the meaning of its file names.

prompts/odd_even.csv                          the questions of a bias, in both forms
prompts/odd_even-key_typo.csv                 the same questions with typos
results/MODEL/csv/odd_even-key_typo.csv       a model's answers to them, plain or compressed (.csv.gz)

The folder `csv`, which the authors keep beside their pickled answers, may be missing. It never
names a model.
"""  # noqa: E501

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.domain.choices import LETTERS, Arm, Bias, Perturbation
from workbench.domain.names import plural
from workbench.errors import UsageError
from workbench.formats.packed import content as packed_content
from workbench.formats.packed import is_packed
from workbench.formats.records import Findings, records_of
from workbench.formats.tabular import unknown
from workbench.regular_files import check_file

PROMPTS, RESULTS, CSV = "prompts", "results", "csv"
REWORD = "reword"
"variant of acquiescence: milder wordings of the same questions"
TABLES = (".csv", ".csv.gz")
INDEX = ""
"name of the column that pandas writes before the others"
GROUPS: dict[Bias, tuple[str, str]] = {
    Bias.ACQUIESCENCE: ("orig alpha", "pos alpha"),
    Bias.ALLOW_FORBID: ("orig alpha", "forbid alpha"),
    Bias.RESPONSE_ORDER: ("orig alpha", "reversed alpha"),
    Bias.OPINION_FLOAT: ("orig alpha", "float alpha"),
    Bias.ODD_EVEN: ("middle alpha", "no middle alpha"),
}
"names of the original and the changed form in the files"
_NAME = re.compile(
    rf"({'|'.join(Bias)})(?:_({REWORD}))?(?:-({'|'.join(Perturbation)}))?(\.csv(?:\.gz)?)"
)
_COMPRESSED = ".gz"
DEEPEST = 4
"levels of folders below the searched one: `results/ORGANISATION/MODEL/csv`"
LOOKED_FOR = (
    f"{PROMPTS}/BIAS.csv, {RESULTS}/MODEL/BIAS.csv, {RESULTS}/MODEL/{CSV}/BIAS.csv (each may end "
    f"in .csv.gz), and BIAS.csv in the folder itself, where BIAS is one of {', '.join(Bias)}, with "
    f"-{', -'.join(Perturbation)} or without"
)


@dataclass(frozen=True, slots=True)
class Stem:
    """The bias, variant and condition of a file."""

    bias: Bias
    variant: str = ""
    condition: Perturbation | None = None

    def __str__(self) -> str:
        """Return the stem of its files' names: `acquiescence_reword`, `odd_even-key_typo`."""
        return "_".join(filter(None, (self.bias, self.variant))) + (
            f"-{self.condition}" if self.condition else ""
        )

    @property
    def base(self) -> Stem:
        """The questions without typos."""
        return replace(self, condition=None)

    def form_name(self, key: str, arm: Arm) -> str:
        """Return the name of a form of a question in the files: `'ELDCARE_W41', 'pos alpha'`."""
        return f"{key!r}, {GROUPS[self.bias][tuple(Arm).index(arm)]!r}"


@dataclass(frozen=True, slots=True)
class DownloadFile:
    """One file of the download."""

    path: Path
    stem: Stem
    model: str | None
    "None if the file holds questions"

    @property
    def name(self) -> str:
        """The path within the download: `llama2-7b/odd_even.csv.gz`."""
        return f"{self.model or PROMPTS}/{self.path.name}"


def sources(path: Path) -> tuple[tuple[DownloadFile, ...], tuple[str, ...]]:
    """Return the files of a download, of a part of it, or one file, and notes on other files.

    The notes are sentences about files left out. A folder that contains neither `prompts` nor
    `results` is one of these two or that of a model: the header lines of its files decide. A folder
    `results` without answers is reported. Raises UsageError if no part of a download is found, and
    for duplicate files.
    """
    if not path.exists():
        raise UsageError(f"{path}: not found")
    files = [path] if path.is_file() else _files(path)
    found_sources, other_names = [], []
    for file in files:
        stem = stem_of(file.name)
        if stem is None:
            other_names.append(str(file.relative_to(path)) if file != path else file.name)
        else:
            found_sources.append(
                DownloadFile(file, stem, _model_folder(file).name if _holds_answers(file) else None)
            )
    if not found_sources:
        raise UsageError(
            f"{path}: no BiasMonkey files{_other_files(path)}; looked for {LOOKED_FOR}"
        )
    _check_twice(found_sources)
    notes = [f"Left out, no bias of this name: {', '.join(other_names)}."] if other_names else []
    results = path / RESULTS
    if results.is_dir() and all(source.model is None for source in found_sources):
        notes.append(
            f"No answers were found in {RESULTS}{_other_files(results)}; looked for "
            f"{RESULTS}/MODEL/BIAS.csv and "
            f"{RESULTS}/MODEL/{CSV}/BIAS.csv, each with or without .gz."
        )
    return tuple(sorted(found_sources, key=_place)), tuple(notes)


def _model_folder(file: Path) -> Path:
    """Return the folder that names the model of a file of answers."""
    folder = file.resolve().parent
    return folder.parent if folder.name == CSV else folder


def _other_files(folder: Path) -> str:
    """Return a text about files that are not tables.

    They are mostly pickled answers, which are never opened.
    """
    kinds = Counter(
        file.suffix for file in _walk(folder, DEEPEST) if not file.name.endswith(TABLES)
    )
    if not kinds:
        return ""
    counts_text = ", ".join(
        f"{count} {kind or 'without an ending'}" for kind, count in kinds.most_common(4)
    )
    pickled = (
        " (a pickle may run a program when it is opened, so none is read)"
        if ".pickle" in kinds
        else ""
    )
    return f" but {plural(kinds.total(), 'other file')}: {counts_text}{pickled}"


def stem_of(name: str) -> Stem | None:
    """Return the bias, variant and condition from a file name, or None for other files."""
    match = _NAME.fullmatch(name)
    if match is None or (match[2] and match[1] != Bias.ACQUIESCENCE):
        return None
    return Stem(Bias(match[1]), match[2] or "", Perturbation(match[3]) if match[3] else None)


def text_of(source: DownloadFile, findings: Findings) -> str | None:
    """Return a file's text.

    It is None, with a note, if the content is not UTF-8, contains a NUL or does not match the file
    name.
    """
    path = source.path
    try:
        is_compressed = path.suffix == _COMPRESSED
        if is_compressed and not is_packed(path):
            findings.add(path, None, None, "content that is not gzip", "a complete gzip file")
            return None
        content = packed_content(path) if is_compressed else check_file(path).read_bytes()
        text = content.decode("utf-8-sig")
    except UsageError as error:
        findings.add(
            path,
            None,
            None,
            f"content that is not gzip, or too much of it ({error})",
            "a complete gzip file",
        )
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = f"byte 0x{content[error.start]:02X} at position {error.start}, which is not UTF-8"
        findings.add(path, line, None, problem, "a file saved as UTF-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from error
    else:
        if "\x00" not in text:
            return text
        findings.add(
            path,
            text.count("\n", 0, text.index("\x00")) + 1,
            None,
            "a NUL byte",
            "a text file in UTF-8",
        )
    return None


@lru_cache(maxsize=256)
def whole_number(text: str) -> int | None:
    """Return a number as pandas writes it, `5` or `5.0`, or None for anything else."""
    number = re.sub(r"\.0+$", "", text)
    return int(number) if number.isascii() and number.isdecimal() and len(number) < 4 else None


def _files(folder: Path) -> list[Path]:
    """Return the tables of a folder, prompts first, sorted by name."""
    prompts, results = folder / PROMPTS, folder / RESULTS
    if not prompts.is_dir() and not results.is_dir():
        return _tables(folder, DEEPEST)
    files = _tables(prompts, 0) if prompts.is_dir() else []
    if results.is_dir():
        files += _tables(results, DEEPEST)
    return files


def _tables(folder: Path, depth: int) -> list[Path]:
    return [file for file in _walk(folder, depth) if file.name.endswith(TABLES)]


def _walk(folder: Path, depth: int) -> list[Path]:
    """Return the files of a folder, then those of its subfolders, sorted by name.

    Subfolders are included down to a depth.
    """
    try:
        entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
        files = [entry for entry in entries if entry.is_file()]
        return files + [
            file
            for entry in entries
            if depth and entry.is_dir()
            for file in _walk(entry, depth - 1)
        ]
    except OSError as error:
        raise UsageError(f"{error.filename}: cannot be read ({error.strerror})") from error


def _holds_answers(path: Path) -> bool:
    """Return whether a file holds answers, judged by its folder, or else by its header."""
    if path.name.endswith(_COMPRESSED) or _model_folder(path).parent.name == RESULTS:
        return True
    if path.resolve().parent.name == PROMPTS:
        return False
    try:
        with check_file(path).open("rb") as file:
            return b"response" in file.readline(1000)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from error


def _place(source: DownloadFile) -> tuple[str, int, str, int]:
    """Return the sort key of a file: bias first, then perturbation."""
    stem = source.stem
    condition = 0 if stem.condition is None else 1 + tuple(Perturbation).index(stem.condition)
    return source.model or "", tuple(Bias).index(stem.bias), stem.variant, condition


def _check_twice(sources: list[DownloadFile]) -> None:
    seen: dict[tuple[str | None, Stem], Path] = {}
    for source in sources:
        first = seen.setdefault((source.model, source.stem), source.path)
        if first != source.path:
            raise UsageError(
                f"{first} and {source.path} are two files of {source.stem}. Remove one of them."
            )


COLUMNS = ("key", "response", "group", "num_options")

_LETTERS = frozenset(("", *LETTERS))

Record = str | tuple[str, ...]
"a line, or its cells"
Asked = tuple[str, Arm]
"(key, form)"


@dataclass(frozen=True, slots=True)
class RowAnswer:
    """The content of a row of answers."""

    asked: Asked
    letter: str
    recorded: int


@dataclass(frozen=True, slots=True)
class FileRows:
    """The rows of a file in order. Rows with the same content have the same number."""

    kinds: Sequence[RowAnswer] = ()
    "number -> content of the row, in the order of first appearance"
    firsts: Sequence[int] = ()
    "number -> first line of the first such row"
    numbers: Sequence[int] = ()
    "the number of each row"
    lines: Sequence[int] = ()
    "the line of each row"

    def first_lines(self) -> dict[Asked, int]:
        """Return the first line of the answers to each form of each question, in file order."""
        first_lines: dict[Asked, int] = {}
        for answer, line in zip(self.kinds, self.firsts, strict=True):
            first_lines.setdefault(answer.asked, line)
        return first_lines


def read_answer_rows(source: DownloadFile, findings: Findings) -> FileRows:
    """Return the rows of a file.

    Every fault is noted in `findings`, an invalid value at its first occurrence.
    """
    text = text_of(source, findings)
    lines, records = _records(source, text, findings) if text is not None else ((), ())
    if not records:
        if not findings.found:
            findings.add(
                source.path, 1, None, "an empty file", f"a header with {', '.join(COLUMNS)}"
            )
        return FileRows()
    header = [name.strip() for name in _cells(records[0])]
    if not _header_is_good(source, lines[0], header, findings):
        return FileRows()
    lines, records = lines[1:], records[1:]
    check = _RowParser(source, header, findings)
    first_lines = dict(zip(reversed(records), reversed(lines), strict=True))
    numbers = {
        record: check.number(line, _cells(record))
        for record, line in sorted(first_lines.items(), key=_line)
    }
    if not records:
        findings.add(source.path, 1, None, "no answers", "one row per answer")
    return FileRows(check.kinds, check.firsts, list(map(numbers.__getitem__, records)), lines)


def _records(
    source: DownloadFile, text: str, findings: Findings
) -> tuple[Sequence[int], Sequence[Record]]:
    """Return the first lines of the records, and the records.

    Without quotes and blank lines, each line is a record.
    """
    text = text.replace("\r\n", "\n").removesuffix("\n")
    lines = text.split("\n")
    if '"' not in text and "\r" not in text and "" not in lines:
        return range(1, len(lines) + 1), lines
    numbered_records = [
        (line, tuple(cells))
        for line, cells in records_of(source.path, iter([text]), findings)
        if cells
    ]
    return [line for line, _ in numbered_records], [cells for _, cells in numbered_records]


def _cells(record: Record) -> Sequence[str]:
    return record.split(",") if isinstance(record, str) else record


def _line(item: tuple[Record, int]) -> int:
    return item[1]


def _header_is_good(source: DownloadFile, line: int, header: list[str], findings: Findings) -> bool:
    n_faults = len(findings.found)
    for name in COLUMNS:
        if header.count(name) != 1:
            problem = (
                f"{header.count(name)} columns of this name" if name in header else "no such column"
            )
            findings.add(source.path, line, name, problem, "a required column, once")
    for name in header:
        if name not in (*COLUMNS, INDEX):
            findings.add(source.path, line, name, *unknown("column", name, COLUMNS))
    return len(findings.found) == n_faults


class _RowParser:
    """The parser that numbers rows. Each invalid value is noted at its first occurrence."""

    def __init__(self, source: DownloadFile, header: Sequence[str], findings: Findings):
        self.kinds: list[RowAnswer] = []
        self.firsts: list[int] = []
        self._path, self._findings = source.path, findings
        self._arms = dict(zip(GROUPS[source.stem.bias], Arm, strict=True))
        self._width, self._pick = len(header), itemgetter(*map(header.index, COLUMNS))
        self._noted: set[tuple[str, str]] = set()
        self._numbers: dict[RowAnswer, int] = {}

    def number(self, line: int, cells: Sequence[str]) -> int:
        """Return the number of a row's content, or -1, with a note, for an invalid row."""
        if len(cells) != self._width:
            self._findings.add(
                self._path, line, None, f"{len(cells)} fields", f"{self._width}, as in the header"
            )
            return -1
        key, letter, group, option_cell = (cell.strip() for cell in self._pick(cells))
        arm, recorded = self._arms.get(group), whole_number(option_cell)
        if not key:
            self._note(line, "key", key, "some text")
        if letter not in _LETTERS:
            self._note(
                line,
                "response",
                letter,
                "a lower-case letter, or nothing for an answer without one",
            )
        if arm is None:
            self._note(line, "group", group, " or ".join(map(repr, self._arms)))
        if recorded is None or not 2 <= recorded <= len(LETTERS):
            self._note(line, "num_options", option_cell, f"a whole number from 2 to {len(LETTERS)}")
        if not key or arm is None or recorded is None:
            return -1
        return self._numbered(RowAnswer((key, arm), letter, recorded), line)

    def _numbered(self, answer: RowAnswer, line: int) -> int:
        if answer not in self._numbers:
            self._numbers[answer] = len(self._numbers)
            self.kinds.append(answer)
            self.firsts.append(line)
        return self._numbers[answer]

    def _note(self, line: int, column: str, value: str, expected: str) -> None:
        if (column, value) not in self._noted:
            self._noted.add((column, value))
            value_text = repr(value) if value else "an empty cell"
            self._findings.add(self._path, line, column, value_text, expected)


FARTHEST = 25
"largest shift in rows, which is half of the 50 answers that a form usually has"
LIKELIER = 20.0
"""difference in log-likelihood (natural). In the authors' files it is at most 10 for most
models, 24 in one of llama2-70b whose rows are in place, and up to 685 in those of
gpt-3.5-turbo-ext_gen."""


class _Run(NamedTuple):
    """Consecutive rows of one form of one question."""

    asked: Asked
    begin: int
    "index of the first row"
    length: int


def check_order(source: DownloadFile, rows: FileRows, findings: Findings) -> None:
    """Warn about signs that rows of a file are shifted."""
    runs = _runs(rows)
    n_warnings = len(findings.warned)
    _check_blocks(source, runs, rows.lines, findings)
    _check_repeats(source, runs, rows.lines, findings)
    if len(findings.warned) == n_warnings and len({run.asked for run in runs}) == len(runs) > 2:
        _check_answers(source, runs, rows, findings)


def _runs(rows: FileRows) -> list[_Run]:
    forms = list(dict.fromkeys(kind.asked for kind in rows.kinds))
    index_by_form = {form: index for index, form in enumerate(forms)}
    form_indices = np.array([index_by_form[kind.asked] for kind in rows.kinds])[
        np.array(rows.numbers)
    ]
    begins = np.flatnonzero(np.diff(form_indices, prepend=-1))
    lengths = np.diff(begins, append=len(form_indices))
    return [
        _Run(forms[form_indices[begin]], begin, length)
        for begin, length in zip(begins.tolist(), lengths.tolist(), strict=True)
    ]


def _blocks(runs: list[_Run]) -> list[list[_Run]]:
    """Return the consecutive runs of each question."""
    return [list(block) for _, block in groupby(runs, key=lambda run: run.asked[0])]


def _check_blocks(
    source: DownloadFile, runs: list[_Run], lines: Sequence[int], findings: Findings
) -> None:
    """Warn about questions whose answers to one form are on both sides of those to the other."""
    broken = [block for block in _blocks(runs) if len(block) == 3]
    if broken:
        first = broken[0]
        key, arm = first[2].asked
        problem = (
            f"{first[0].length} rows of {source.stem.form_name(key, arm)}, then those of the other "
            f"form, then {first[2].length} more"
            + (f"; the same in {len(broken):,} questions" if len(broken) > 1 else "")
        )
        expected = (
            "the answers to one form together: the column of keys or of groups may be shifted"
        )
        findings.warn(source.path, lines[first[2].begin], "group", problem, expected)


def _check_repeats(
    source: DownloadFile, runs: list[_Run], lines: Sequence[int], findings: Findings
) -> None:
    """Warn about questions that occur again later, unless all do.

    A file may contain several samplings.
    """
    blocks = _blocks(runs)
    n_blocks = Counter(block[0].asked[0] for block in blocks)
    minimum = min(n_blocks.values())
    n_seen: Counter[str] = Counter()
    first_lines: dict[str, int] = {}
    repeats: list[tuple[str, int]] = []
    for block in blocks:
        key, line = block[0].asked[0], lines[block[0].begin]
        first_lines.setdefault(key, line)
        n_seen[key] += 1
        if n_seen[key] == minimum + 1:
            repeats.append((key, line))
    if repeats:
        key, line = repeats[0]
        remainder = (
            f"; the same for {plural(len(repeats) - 1, 'other question')}"
            if len(repeats) > 1
            else ""
        )
        problem = f"{key!r} again, after line {first_lines[key]}{remainder}"
        findings.warn(
            source.path,
            line,
            "key",
            problem,
            "all answers to a question together, and each answer once",
        )


def _check_answers(
    source: DownloadFile, runs: list[_Run], rows: FileRows, findings: Findings
) -> None:
    """Warn if the answers as a whole fit the questions better some rows up or down."""
    max_shift = min(FARTHEST, min(run.length for run in runs) // 2)
    letters = np.array([ord(kind.letter or "`") - ord("`") for kind in rows.kinds])[
        np.array(rows.numbers)
    ]
    bounds = np.array([*(run.begin for run in runs), len(letters)])
    cumulated = np.zeros((len(letters) + 1, letters.max() + 1), dtype=np.int32)
    cumulated[np.arange(1, len(letters) + 1), letters] = 1
    np.cumsum(cumulated, axis=0, out=cumulated)
    scores = {
        shift: _log_likelihood(cumulated, bounds, shift)
        for shift in range(-max_shift, max_shift + 1)
    }
    best = max(scores, key=lambda shift: scores[shift])
    if scores[best] - scores[0] > LIKELIER:
        problem = (
            f"answers that fit their questions better {plural(abs(best), 'row')} "
            f"{'up' if best > 0 else 'down'} "
            f"(log-likelihood {scores[best]:,.1f}, and {scores[0]:,.1f} where they stand)"
        )
        expected = (
            f"a difference of at most {LIKELIER:g} by chance: the column of answers may be shifted"
        )
        findings.warn(source.path, None, "response", problem, expected)


def _log_likelihood(cumulated: NDArray[np.int32], bounds: NDArray[np.int64], shift: int) -> float:
    """Return the sum over forms of n ln(n / N), with all answers shifted down by `shift` rows.

    Answers shifted past one end of the file reappear at the other, so that all shifts use the same
    answers.
    """
    n_rows = len(cumulated) - 1
    shifted_bounds = np.clip(bounds + shift, 0, n_rows)
    shifted_bounds[0], shifted_bounds[-1] = max(shift, 0), min(n_rows + shift, n_rows)
    counts = np.diff(cumulated[shifted_bounds], axis=0)
    if shift > 0:
        counts[-1] += cumulated[shift]
    elif shift < 0:
        counts[0] += cumulated[n_rows] - cumulated[n_rows + shift]
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.where(counts > 0, counts / np.maximum(totals, 1), 1.0)
    return float((counts * np.log(shares)).sum())
