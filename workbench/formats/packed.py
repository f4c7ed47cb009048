"""The bytes of a file, unpacked as they are read: gzip, Zstandard, and a zip with one table in
it.
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
"""what any packed file may come to, and how many times its size a larger one: what compresses
better is made to be large"""
CHUNK = 2**18
MOST_SHOWN, LONGEST_NAME = 60, 255
"""characters of the name of a file in a zip that are shown, and that are kept: a file system allows
as many"""
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
    "bytes that a packed file may come to; None: `MOST_BYTES`, and not too many times its own size"
    told: Callable[[Path, float], None] | None = None
    "is told how much of a file was read, from 0 to 1: all of it"

    def most_of(self, size: int) -> int:
        """Return the bytes that a packed file of a size may come to."""
        return min(MOST_BYTES, max(FREE_BYTES, RATIO * size)) if self.most is None else self.most


_READING: ContextVar[Reading] = ContextVar("reading", default=Reading())  # noqa: B039  frozen


@contextmanager
def reading(
    most: int | None = None, told: Callable[[Path, float], None] | None = None
) -> Iterator[None]:
    """Read files so within this block."""
    token = _READING.set(Reading(most, told))
    try:
        yield
    finally:
        _READING.reset(token)


def most_bytes() -> int | None:
    """Return the bytes that a person allows a packed file to come to, where one does."""
    return _READING.get().most


def most_of(size: int) -> int:
    """Return the bytes that a packed file of a size may come to in this reading."""
    return _READING.get().most_of(size)


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file; what comes of it is unpacked.

    Raises UsageError if it cannot be read, unpacks to too much, or is a zip with no or several
    tables; MissingPackage.
    """
    check_file(path)
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
    """Return the name of a file, of a packed one that of what is in it. Raises UsageError as
    `opened` does.
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
        try:
            return cast("BinaryIO", zipfile.ZipFile(file).open(str(member))), True
        except (
            zipfile.BadZipFile,
            RuntimeError,
            NotImplementedError,
        ) as error:  # damaged, or with a password
            raise UsageError(
                f"{path}: a zip that cannot be unpacked ({_shown(error)}); unpack it first"
            ) from error
    return file, False


def _member(path: Path) -> PurePath | None:
    """Return the one table in a zip; None for a spreadsheet, and what may be one that is damaged.
    Raises UsageError.
    """
    try:
        with zipfile.ZipFile(path) as held:
            names = {one.filename: one.file_size for one in held.infolist()}
    except zipfile.BadZipFile:
        return None
    if BOOK in names:
        _check_size(path, sum(names.values()))  # no more than that is unpacked of a file
        return None
    shown = [
        PurePath(name)
        for name in names
        if not name.startswith("__MACOSX") and not name.endswith("/")
    ]
    tables = [one for one in shown if one.suffix.lower() in TABLES and not one.name.startswith(".")]
    if len(tables) != 1:
        held_ = ", ".join(map(_shown, (tables or shown)[:6])) or "nothing"
        raise UsageError(
            f"{path}: found a zip with {held_}; give one with one table, or unpack it and give "
            "the one meant"
        )
    return tables[0]


def _shown(what: object) -> str:
    said = str(what)
    return said if len(said) <= MOST_SHOWN else f"{said[:MOST_SHOWN]}…"


def _check_size(path: Path, size: int) -> None:
    """Raise UsageError if a packed file comes to too much."""
    if size > (most := most_of(path.stat().st_size)):
        raise UsageError(f"{path}: unpacks to more than {most:,} bytes; --most-bytes allows more")


class _Counted(io.RawIOBase):
    """What is read of a file, counted: a packed one may come to more than memory and disk hold."""

    def __init__(self, path: Path, inner: BinaryIO, file: BinaryIO, packed: bool) -> None:
        super().__init__()
        self._path, self._inner, self._file, self._packed = path, inner, file, packed
        self._size, self._read, self._reading = path.stat().st_size or 1, 0, _READING.get()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # what BufferedReader hands in
        try:
            got = self._inner.read(len(buffer))
        except (EOFError, OSError, zlib.error, zipfile.BadZipFile) as error:
            if not self._packed:
                raise
            told = f"a packed file that cannot be read ({_shown(error)}); it may be cut off"
            raise UsageError(f"{self._path}: {told}") from error
        buffer[: len(got)] = got
        self._read += len(got)
        if self._packed:
            _check_size(self._path, self._read)
        if self._reading.told is not None and not self._file.closed:
            self._reading.told(
                self._path, min(self._file.tell() / self._size, 0.999) if got else 1.0
            )
        return len(got)
