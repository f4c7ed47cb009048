"""The one check of a file before it is opened.

A pipe waits for ever, a device never ends, and a link may lead nowhere.
"""

from __future__ import annotations

import stat
from pathlib import Path

from workbench.errors import UsageError

KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
HARMLESS = (Path("/dev/null"), Path("/dev/stdout"), Path("/dev/stderr"))
"paths that may be written to, and are never read without an end"


def check_regular(path: Path) -> Path:
    """Return a path that is a regular file, a folder, or not there at all.

    Raises UsageError for anything else. Whoever opens the path says what is missing.
    """
    if path in HARMLESS:
        return path
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return path
    except ValueError as error:  # a NUL in the name
        raise UsageError(f"{str(path)!r}: no file has such a name ({error})") from error
    except OSError as error:
        loop = "a link that leads back to itself; name the file itself"
        raise UsageError(
            f"{path}: {loop if 'symbolic' in str(error) else _reason(error)}"
        ) from error
    if kind := KINDS.get(stat.S_IFMT(mode)):
        raise UsageError(
            f"{path}: {kind}, not a regular file. Write its content to a file, and name that file."
        )
    return path


def check_file(path: Path) -> Path:
    """Return a path that is a regular file or not there.

    Raises UsageError for anything else, also for a folder.
    """
    if check_regular(path).is_dir():
        raise UsageError(f"{path}: a folder; name a file in it")
    return path


def _reason(error: OSError) -> str:
    return f"cannot be read ({error.strerror or error})"
