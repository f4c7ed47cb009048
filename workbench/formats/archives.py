"""Files within a zip, read one at a time: stored, deflated, or compressed with Zstandard as newer
programs do.

All parts together may unpack to as much as any packed file, see `packed.Reading`.
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
"the number of a compression method that `zipfile` knows from Python 3.14 on"
LOCAL_HEADER = struct.Struct("<4s5H3I2H")
"the header before a part; its last two numbers are the lengths of the name and of the extra field"
ENCRYPTED = 0x1
"flag of a part with a password"
MOST_PARTS = 200_000
"parts of a zip: more are no log of answers, and their list alone fills the memory"


class Archive:
    """The parts of a zip, by their names."""

    def __init__(self, path: Path, file: BinaryIO, parts: zipfile.ZipFile) -> None:
        self._path, self._file, self._zip = path, file, parts
        self._most = most_of(path.stat().st_size)
        self._read = 0
        self.names = tuple(parts.namelist())

    def read(self, name: str) -> bytes:
        """Return a part, unpacked. Raises UsageError if it cannot be, or if all parts come to too
        much.
        """
        chunks = []
        try:
            with self._open(name) as part:
                while chunk := part.read(CHUNK):
                    self._read += len(chunk)
                    if self._read > self._most:
                        raise UsageError(
                            f"{self._path}, {name[:MOST_SHOWN]}: unpacks to more than "
                            f"{self._most:,} bytes; "
                            "--most-bytes allows more"
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
"what the parts of a damaged zip raise, or of one with a password"


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
    """Return the names of the parts of a zip; empty for any other file."""
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
