"""The bytes of a file, unpacked as they are read: gzip, Zstandard, and a zip with one table in it."""

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

MOST_BYTES, MOST_TIMES, LITTLE = 2**30, 50, 2**26
"""what a packed file may come to unless told otherwise: so many bytes, and so many times its own size where that is
more than little. Tables come to 5 to 20 times their packed size"""
CHUNK = 2**18
GZIP, ZSTD, ZIP = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"
TABLES = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".toml", ".xlsx")
"how names of files in a zip end that may be meant; others (a PDF beside them) are passed over"
PACKED = (".gz", ".zst", ".zip")
BOOK = "xl/workbook.xml"
"what a zip has that is a spreadsheet"


@dataclass(frozen=True, slots=True)
class Reading:
    """How files are read at present."""

    most: int | None = None
    "bytes that a packed file may come to; None: as its size lets expect"
    told: Callable[[Path, float], None] | None = None
    "is told how much of a file was read, from 0 to 1: all of it"


_READING: ContextVar[Reading] = ContextVar("reading", default=Reading())  # noqa: B039  frozen


@contextmanager
def reading(most: int | None = None, told: Callable[[Path, float], None] | None = None) -> Iterator[None]:
    """Read files so within this block."""
    token = _READING.set(Reading(most, told))
    try:
        yield
    finally:
        _READING.reset(token)


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file; what comes of it is unpacked.

    Raises UsageError if it cannot be read, unpacks to too much, or is a zip with no or several tables; MissingPackage.
    """
    try:
        with path.open("rb") as file:
            begin = file.read(4)
            file.seek(0)
            inner, packed = _unpacked(path, file, begin)
            with inner, io.BufferedReader(_Counted(path, inner, file, packed), CHUNK) as found:
                yield cast("BinaryIO", found)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror or error})") from error


def name_of(path: Path) -> str:
    """Return the name of a file, of a packed one that of what is in it. Raises UsageError as `opened` does."""
    with path.open("rb") as file:
        begin = file.read(4)
    if begin == ZIP:
        return (_member(path) or PurePath(path.name)).name
    return path.stem if begin == ZSTD or begin.startswith(GZIP) else path.name


def is_packed(path: Path) -> bool:
    """Return whether a file is packed. Raises UsageError as `opened` does."""
    with path.open("rb") as file:
        begin = file.read(4)
    return begin == ZSTD or begin.startswith(GZIP) or (begin == ZIP and _member(path) is not None)


def content(path: Path) -> bytes:
    """Return all bytes of a file, unpacked. Raises UsageError as `opened` does."""
    with opened(path) as file:
        return file.read()


def _unpacked(path: Path, file: BinaryIO, begin: bytes) -> tuple[BinaryIO, bool]:
    """Return what a file unpacks to, and whether it was packed."""
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
        return cast("BinaryIO", zipfile.ZipFile(file).open(str(member))), True
    return file, False


def _member(path: Path) -> PurePath | None:
    """Return the one table in a zip; None for a spreadsheet, and what may be one that is damaged. Raises UsageError."""
    try:
        with zipfile.ZipFile(path) as held:
            names = held.namelist()
    except zipfile.BadZipFile:
        return None
    if BOOK in names:
        return None
    shown = [PurePath(name) for name in names if not name.startswith("__MACOSX") and not name.endswith("/")]
    tables = [one for one in shown if one.suffix.lower() in TABLES and not one.name.startswith(".")]
    if len(tables) != 1:
        held_ = ", ".join(str(one) for one in (tables or shown)[:6]) or "nothing"
        raise UsageError(
            f"{path}: found a zip with {held_}; give one with one table, or unpack it and give the one meant"
        )
    return tables[0]


class _Counted(io.RawIOBase):
    """What is read of a file, counted: a packed one may come to more than memory and disk hold."""

    def __init__(self, path: Path, inner: BinaryIO, file: BinaryIO, packed: bool) -> None:
        super().__init__()
        self._path, self._inner, self._file, self._packed = path, inner, file, packed
        self._size, self._read, self._reading = path.stat().st_size or 1, 0, _READING.get()
        self._most = self._reading.most or min(MOST_BYTES, max(LITTLE, MOST_TIMES * self._size))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # what BufferedReader hands in
        try:
            got = self._inner.read(len(buffer))
        except (EOFError, OSError, zlib.error, zipfile.BadZipFile) as error:
            if not self._packed:
                raise
            raise UsageError(f"{self._path}: a packed file that cannot be read ({error}); it may be cut off") from error
        buffer[: len(got)] = got
        self._read += len(got)
        if self._packed and self._read > self._most:
            told = f"has {self._size:,} bytes and unpacks to more than {self._most:,}"
            raise UsageError(f"{self._path}: {told}; --most-bytes allows more")
        if self._reading.told is not None and not self._file.closed:
            self._reading.told(self._path, min(self._file.tell() / self._size, 0.999) if got else 1.0)
        return len(got)
