"""Reads the files within a zip, one at a time.

They may be stored, deflated, or compressed with Zstandard, as newer programs do. All of them
together may unpack to as many bytes as any packed file may (see `packed.Reading`).
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import BinaryIO, cast

from workbench.errors import MissingPackage, UsageError
from workbench.formats.packed import CHUNK, MOST_SHOWN, most_of
from workbench.installed import install

ZSTANDARD = 93
"the number of a compression method that `zipfile` knows only from Python 3.14 on"
LOCAL_HEADER = struct.Struct("<4s5H3I2H")
"""the header before each file. Its last two numbers are the lengths of the name and of the extra
field."""
ENCRYPTED = 0x1
"the flag of a file that has a password"
MOST_PARTS = 200_000
"""the most files in a zip: one with more is no log of answers, and the list alone would fill the
memory"""


class Archive:
    """The files in an open zip, by name."""

    def __init__(self, path: Path, file: BinaryIO, parts: zipfile.ZipFile) -> None:
        self._path, self._file, self._zip = path, file, parts
        self._most = most_of(path.stat().st_size)
        self._read = 0
        self.names = tuple(parts.namelist())

    def read(self, name: str) -> bytes:
        """Return the unpacked bytes of a file.

        Raises UsageError if it cannot be unpacked, or if all files read so far come to too many
        bytes.
        """
        chunks = []
        try:
            with self._open(name) as part:
                while chunk := part.read(CHUNK):
                    self._read += len(chunk)
                    if self._read > self._most:
                        raise UsageError(
                            f"{self._path}, {name[:MOST_SHOWN]}: unpacks to more than "
                            f"{self._most:,} bytes; --most-bytes allows more"
                        )
                    chunks.append(chunk)
        except _FAULTS as error:
            raise self._fault(name, error) from error
        return b"".join(chunks)

    def _open(self, name: str) -> BinaryIO:
        part = self._zip.getinfo(name)
        if part.compress_type != ZSTANDARD or part.flag_bits & ENCRYPTED:
            return cast("BinaryIO", self._zip.open(part))
        self._file.seek(part.header_offset)
        *_, name_length, extra_length = LOCAL_HEADER.unpack(self._file.read(LOCAL_HEADER.size))
        self._file.seek(name_length + extra_length, io.SEEK_CUR)
        packed = self._file.read(part.compress_size)
        return cast("BinaryIO", _arrow().input_stream(io.BytesIO(packed), compression="zstd"))

    def _fault(self, name: str, error: Exception) -> UsageError:
        return UsageError(
            f"{self._path}, {name[:MOST_SHOWN]}: cannot be unpacked ({str(error)[:MOST_SHOWN]})"
        )


_FAULTS = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    RuntimeError,
    NotImplementedError,
    struct.error,
)
"the errors that a damaged zip causes, or one that has a password"


@contextmanager
def opened_archive(path: Path) -> Iterator[Archive]:
    """Open a zip. Raises UsageError if it cannot be read."""
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as parts:
            if len(parts.namelist()) > MOST_PARTS:
                raise UsageError(f"{path}: found a zip with more than {MOST_PARTS:,} parts")
            yield Archive(path, file, parts)
    except zipfile.BadZipFile as error:
        raise UsageError(
            f"{path}: a zip that cannot be read ({error}); it may be cut off"
        ) from error
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror or error})") from error


def names_in(path: Path) -> tuple[str, ...]:
    """Return the names of the files in a zip, or none for any other file."""
    try:
        with path.open("rb") as file:
            if file.read(4) != b"PK\x03\x04":
                return ()
        with opened_archive(path) as archive:
            return archive.names
    except (UsageError, OSError):
        return ()


def _arrow() -> ModuleType:
    try:
        return import_module("pyarrow")
    except ImportError as error:
        raise MissingPackage(
            "a zip with Zstandard inside needs the package pyarrow; install it with: "
            f"{install('tables')}"
        ) from error
