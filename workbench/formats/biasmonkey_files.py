"""The layout of the BiasMonkey download, and the meaning of its file names.

prompts/odd_even.csv                          the questions of a bias, in both forms
prompts/odd_even-key_typo.csv                 the same questions with typos
results/MODEL/csv/odd_even-key_typo.csv       a model's answers to them, plain or compressed (.csv.gz)

The folder `csv`, which the authors keep beside their pickled answers, may be missing; it never names a model.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from workbench.domain.choices import Arm, Bias, Perturbation
from workbench.domain.counting import plural
from workbench.errors import UsageError
from workbench.formats.tabular import Findings

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
_NAME = re.compile(rf"({'|'.join(Bias)})(?:_({REWORD}))?(?:-({'|'.join(Perturbation)}))?(\.csv(?:\.gz)?)")
_COMPRESSED = ".gz"
DEEPEST = 4
"levels of folders below the searched one: `results/ORGANISATION/MODEL/csv`"
LOOKED_FOR = (
    f"{PROMPTS}/BIAS.csv, {RESULTS}/MODEL/BIAS.csv, {RESULTS}/MODEL/{CSV}/BIAS.csv (each may end in .csv.gz), and "
    f"BIAS.csv in the folder itself, where BIAS is one of {', '.join(Bias)}, with -{', -'.join(Perturbation)} or "
    "without"
)


@dataclass(frozen=True, slots=True)
class Stem:
    """The bias, variant and condition of a file."""

    bias: Bias
    variant: str = ""
    condition: Perturbation | None = None

    def __str__(self) -> str:
        """Return the name of its files: `acquiescence_reword`, `odd_even-key_typo`."""
        return "_".join(filter(None, (self.bias, self.variant))) + (f"-{self.condition}" if self.condition else "")

    @property
    def base(self) -> Stem:
        """The questions without typos."""
        return replace(self, condition=None)

    def said(self, key: str, arm: Arm) -> str:
        """Return the name of a form of a question in the files: `'ELDCARE_W41', 'pos alpha'`."""
        return f"{key!r}, {GROUPS[self.bias][tuple(Arm).index(arm)]!r}"


@dataclass(frozen=True, slots=True)
class Source:
    """One file of the download."""

    path: Path
    stem: Stem
    model: str | None
    "None: the file holds questions"

    @property
    def name(self) -> str:
        """The path within the download: `llama2-7b/odd_even.csv.gz`."""
        return f"{self.model or PROMPTS}/{self.path.name}"


def sources(path: Path) -> tuple[tuple[Source, ...], tuple[str, ...]]:
    """Return the files of a download, of a part of it, or one file; and sentences about files left out.

    A folder that contains neither `prompts` nor `results` is one of these two or that of a model: the header lines of
    its files decide. A folder `results` without answers is reported. Raises UsageError if no part of a download is
    found, and for duplicate files.
    """
    if not path.exists():
        raise UsageError(f"{path}: not found")
    files = [path] if path.is_file() else _files(path)
    found, left = [], []
    for file in files:
        stem = stem_of(file.name)
        if stem is None:
            left.append(str(file.relative_to(path)) if file != path else file.name)
        else:
            found.append(Source(file, stem, _model_folder(file).name if _holds_answers(file) else None))
    if not found:
        raise UsageError(f"{path}: no BiasMonkey files{_other_files(path)}; looked for {LOOKED_FOR}")
    _check_twice(found)
    notes = [f"Left out, no bias of this name: {', '.join(left)}."] if left else []
    results = path / RESULTS
    if results.is_dir() and all(source.model is None for source in found):
        notes.append(
            f"No answers were found in {RESULTS}{_other_files(results)}; looked for {RESULTS}/MODEL/BIAS.csv and "
            f"{RESULTS}/MODEL/{CSV}/BIAS.csv, each with or without .gz."
        )
    return tuple(sorted(found, key=_place)), tuple(notes)


def _model_folder(file: Path) -> Path:
    """Return the folder that names the model of a file of answers."""
    folder = file.resolve().parent
    return folder.parent if folder.name == CSV else folder


def _other_files(folder: Path) -> str:
    """Describe files that are not tables, mostly pickled answers, which are never opened."""
    kinds = Counter(file.suffix for file in _walk(folder, DEEPEST) if not file.name.endswith(TABLES))
    if not kinds:
        return ""
    said = ", ".join(f"{n} {kind or 'without an ending'}" for kind, n in kinds.most_common(4))
    pickled = " (a pickle may run a program when it is opened, so none is read)" if ".pickle" in kinds else ""
    return f" but {plural(kinds.total(), 'other file')}: {said}{pickled}"


def stem_of(name: str) -> Stem | None:
    """Return the bias, variant and condition from a file name; None for other files."""
    match = _NAME.fullmatch(name)
    if match is None or (match[2] and match[1] != Bias.ACQUIESCENCE):
        return None
    return Stem(Bias(match[1]), match[2] or "", Perturbation(match[3]) if match[3] else None)


def text_of(source: Source, findings: Findings) -> str | None:
    """Return a file's text; None, with a note, if it is not UTF-8, contains a NUL or does not match its file name."""
    path = source.path
    try:
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == _COMPRESSED else content
        text = content.decode("utf-8-sig")
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        findings.add(path, None, None, f"content that is not gzip ({error})", "a complete gzip file")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{content[error.start]:02X} at position {error.start}, which is not UTF-8"
        findings.add(path, line, None, found, "a file saved as UTF-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from error
    else:
        if "\x00" not in text:
            return text
        findings.add(path, text.count("\n", 0, text.index("\x00")) + 1, None, "a NUL byte", "a text file in UTF-8")
    return None


@lru_cache(maxsize=256)
def whole_number(text: str) -> int | None:
    """Return a number as pandas writes it, `5` or `5.0`; None for anything else."""
    number = re.sub(r"\.0+$", "", text)
    return int(number) if number.isascii() and number.isdecimal() and len(number) < 4 else None


def _files(folder: Path) -> list[Path]:
    """Return the tables of a folder, prompts first, sorted by name."""
    parts = [folder / name for name in (PROMPTS, RESULTS) if (folder / name).is_dir()]
    if parts:
        return [file for part in parts for file in _tables(part, DEEPEST if part.name == RESULTS else 0)]
    return _tables(folder, DEEPEST)


def _tables(folder: Path, depth: int) -> list[Path]:
    return [file for file in _walk(folder, depth) if file.name.endswith(TABLES)]


def _walk(folder: Path, depth: int) -> list[Path]:
    """Return the files of a folder, then those of its subfolders down to a depth, sorted by name."""
    try:
        here = sorted(one for one in folder.iterdir() if not one.name.startswith("."))
        found = [one for one in here if one.is_file()]
        return found + [file for one in here if depth and one.is_dir() for file in _walk(one, depth - 1)]
    except OSError as error:
        raise UsageError(f"{error.filename}: cannot be read ({error.strerror})") from error


def _holds_answers(path: Path) -> bool:
    """Return whether a file holds answers, judged by its folder, else by its header."""
    if path.name.endswith(_COMPRESSED) or _model_folder(path).parent.name == RESULTS:
        return True
    if path.resolve().parent.name == PROMPTS:
        return False
    try:
        with path.open("rb") as file:
            return b"response" in file.readline(1000)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from error


def _place(source: Source) -> tuple[str, int, str, int]:
    """Return the sort key of a file: bias first, then perturbation."""
    stem = source.stem
    condition = 0 if stem.condition is None else 1 + tuple(Perturbation).index(stem.condition)
    return source.model or "", tuple(Bias).index(stem.bias), stem.variant, condition


def _check_twice(found: list[Source]) -> None:
    seen: dict[tuple[str | None, Stem], Path] = {}
    for source in found:
        first = seen.setdefault((source.model, source.stem), source.path)
        if first != source.path:
            raise UsageError(f"{first} and {source.path} are two files of {source.stem}. Remove one of them.")
