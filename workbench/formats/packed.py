"""The bytes of a file, unpacked as they are read.

Packed files are gzip, Zstandard, and a zip with one table in it.
"""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePath
from typing import BinaryIO, cast

from workbench.errors import MissingPackage, UsageError
from workbench.installed import install
from workbench.regular_files import check_file

MOST_BYTES = 2**30
FREE_BYTES, RATIO = 2**25, 100
"""the size to which any packed file may unpack, and the factor for a larger one: a file that
compresses better was made to be large"""
CHUNK = 2**18
MOST_SHOWN, LONGEST_NAME = 60, 255
"""largest numbers of characters of the name of a file in a zip that are displayed, and that are
kept. A file system allows as many."""
GZIP, ZSTD, ZIP = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"
TABLES = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".toml", ".xlsx")
"suffixes of files in a zip that may be meant. Others (a PDF beside them) are passed over."
PACKED = (".gz", ".zst", ".zip")
BOOK = "xl/workbook.xml"
"a file in each zip that is a spreadsheet"


@dataclass(frozen=True, slots=True)
class ReadingSettings:
    """The current settings for reading files."""

    most: int | None = None
    """bytes to which a packed file may unpack, or None for `MOST_BYTES` and not too many times
    its own size"""
    told: Callable[[Path, float], None] | None = None
    "receives the share of a file that was read, from 0 to 1"

    def most_of(self, size: int) -> int:
        """Return the bytes to which a packed file of a size may unpack."""
        return min(MOST_BYTES, max(FREE_BYTES, RATIO * size)) if self.most is None else self.most


_READING: ContextVar[ReadingSettings] = ContextVar("reading", default=ReadingSettings())  # noqa: B039  frozen


@contextmanager
def reading(
    most: int | None = None, report: Callable[[Path, float], None] | None = None
) -> Iterator[None]:
    """Read files with these limits within the block.

    `most` is the largest number of cells, and `report` receives the progress in a file.
    """
    token = _READING.set(ReadingSettings(most, report))
    try:
        yield
    finally:
        _READING.reset(token)


def most_bytes() -> int | None:
    """Return the number of bytes that a person allows a packed file to unpack to, or None."""
    return _READING.get().most


def most_of(size: int) -> int:
    """Return the bytes to which a packed file of a size may unpack in this reading."""
    return _READING.get().most_of(size)


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file, whose content is unpacked.

    Raises UsageError if it cannot be read, unpacks to too much, or is a zip with no or several
    tables. Raises MissingPackage if the package for its format is missing.
    """
    check_file(path)
    try:
        with path.open("rb") as file:
            begin = file.read(4)
            file.seek(0)
            inner, packed = _unpacked(path, file, begin)
            with inner, io.BufferedReader(_CountedFile(path, inner, file, packed), CHUNK) as reader:
                yield cast("BinaryIO", reader)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror or error})") from error


def name_of(path: Path) -> str:
    """Return the name of a file, or of the content of a packed one.

    Raises UsageError as `opened` does.
    """
    with check_file(path).open("rb") as file:
        begin = file.read(4)
    if begin == ZIP:
        return (_member(path) or PurePath(path.name)).name[-LONGEST_NAME:]
    return path.stem if begin == ZSTD or begin.startswith(GZIP) else path.name


def is_packed(path: Path) -> bool:
    """Return whether a file is packed. Raises UsageError as `opened` does."""
    with check_file(path).open("rb") as file:
        begin = file.read(4)
    return begin == ZSTD or begin.startswith(GZIP) or (begin == ZIP and _member(path) is not None)


def content(path: Path) -> bytes:
    """Return all bytes of a file, unpacked. Raises UsageError as `opened` does."""
    with opened(path) as file:
        return file.read()


def _unpacked(path: Path, file: BinaryIO, begin: bytes) -> tuple[BinaryIO, bool]:
    """Return the unpacked content of a file, and whether it was packed."""
    if begin.startswith(GZIP):
        return cast("BinaryIO", gzip.GzipFile(fileobj=file)), True
    if begin == ZSTD:
        try:
            arrow = import_module("pyarrow")
        except ImportError as error:
            raise MissingPackage(
                f".zst files need the package pyarrow; install it with: {install('tables')}"
            ) from error
        return arrow.input_stream(file, compression="zstd"), True
    if begin == ZIP and (member := _member(path)) is not None:
        try:
            return cast("BinaryIO", zipfile.ZipFile(file).open(str(member))), True
        except (
            zipfile.BadZipFile,
            RuntimeError,
            NotImplementedError,
        ) as error:  # damaged, or with a password
            raise UsageError(
                f"{path}: a zip that cannot be unpacked ({_excerpt(error)}); unpack it first"
            ) from error
    return file, False


def _member(path: Path) -> PurePath | None:
    """Return the one table in a zip.

    It is None for a spreadsheet, and for a damaged file. Raises UsageError if there is no table, or
    if there are several.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = {entry.filename: entry.file_size for entry in archive.infolist()}
    except zipfile.BadZipFile:
        return None
    if BOOK in names:
        _check_size(path, sum(names.values()))  # no more than that is unpacked of a file
        return None
    members = [
        PurePath(name)
        for name in names
        if not name.startswith("__MACOSX") and not name.endswith("/")
    ]
    tables = [
        member
        for member in members
        if member.suffix.lower() in TABLES and not member.name.startswith(".")
    ]
    if len(tables) != 1:
        listing = ", ".join(map(_excerpt, (tables or members)[:6])) or "nothing"
        raise UsageError(
            f"{path}: found a zip with {listing}; give one with one table, or unpack it and give "
            "the one meant"
        )
    return tables[0]


def _excerpt(what: object) -> str:
    text = str(what)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"


def _check_size(path: Path, size: int) -> None:
    """Raise UsageError if a packed file unpacks to too much."""
    if size > (limit := most_of(path.stat().st_size)):
        raise UsageError(f"{path}: unpacks to more than {limit:,} bytes; --most-bytes allows more")


class _CountedFile(io.RawIOBase):
    """The counted bytes of a file that is read.

    A packed one may unpack to more than memory and disk hold.
    """

    def __init__(self, path: Path, inner: BinaryIO, file: BinaryIO, packed: bool) -> None:
        super().__init__()
        self._path, self._inner, self._file, self._packed = path, inner, file, packed
        self._size, self._read, self._reading = path.stat().st_size or 1, 0, _READING.get()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # what BufferedReader hands in
        try:
            chunk = self._inner.read(len(buffer))
        except (EOFError, OSError, zlib.error, zipfile.BadZipFile) as error:
            if not self._packed:
                raise
            problem = f"a packed file that cannot be read ({_excerpt(error)}); it may be cut off"
            raise UsageError(f"{self._path}: {problem}") from error
        buffer[: len(chunk)] = chunk
        self._read += len(chunk)
        if self._packed:
            _check_size(self._path, self._read)
        if self._reading.told is not None and not self._file.closed:
            self._reading.told(
                self._path, min(self._file.tell() / self._size, 0.999) if chunk else 1.0
            )
        return len(chunk)
