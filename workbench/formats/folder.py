"""Writes files into a folder, all or none, and never deletes or overwrites other files unless
asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from workbench.errors import UsageError
from workbench.whole_folders import made_beside


def put(
    files: Mapping[str, str] | Mapping[str, bytes],
    folder: Path,
    *,
    force: bool = False,
    beside: bool = False,
    check: Callable[[Path], None] | None = None,
) -> tuple[Path, ...]:
    """Write files, named by their path in the folder, and return where they are.

    Files are first written next to the folder, where `check` may inspect them and raise. A new
    folder is created by a single renaming. Files are moved into an existing folder one by one, each
    complete: with `force` files of the same name are replaced; other files stay. With `beside` the
    folder may hold other files, if none has the same name.

    Raises UsageError if the folder is not empty and `force` is not given, or if it cannot be
    written.
    """
    check_place(folder, force=force, beside=tuple(files) if beside else None)
    fresh = folder
    try:
        with made_beside(folder) as fresh:
            _write(files, fresh)
            if check is not None:
                check(fresh)
            if folder.exists():
                for name in files:
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                    (fresh / name).replace(folder / name)
            else:
                fresh.rename(folder)
    except OSError as error:
        place = (
            error.filename
            if error.filename and not str(error.filename).startswith(str(fresh))
            else folder
        )
        raise UsageError(
            f"{place}: cannot be written ({error.strerror}). Give a folder that you may write to."
        ) from error
    return tuple(folder / name for name in files)


def check_place(folder: Path, *, force: bool, beside: tuple[str, ...] | None = None) -> None:
    """Raise UsageError if files may not be written into a folder. With `beside`, only files of
    these names are conflicts.
    """
    try:
        if "\x00" in str(folder):
            raise UsageError(
                "the folder's name contains a NUL, which no file system accepts. Give another name."
            )
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"{folder}: this is a file. Give the name of a new folder.")
        held = others(folder, ())
        held = (
            held if beside is None else tuple(name for name in beside if (folder / name).exists())
        )
    except OSError as error:
        raise UsageError(
            f"{folder}: cannot be read ({error.strerror}). Give another folder."
        ) from error
    if held and not force:
        shown = ", ".join(held[:4]) + (f" and {len(held) - 4} more" if len(held) > 4 else "")
        raise UsageError(
            f"{folder}: the folder holds {shown}. Give a new folder; or use --force, which "
            "replaces files of the same "
            "name and keeps the others."
        )


def others(folder: Path, files: tuple[str, ...]) -> tuple[str, ...]:
    """Return the other files in the folder and in the subfolders of these files."""
    ours = {Path(name) for name in files}
    places = {Path(), *(parent for path in ours for parent in path.parents)}
    held = (
        path for place in places if (folder / place).is_dir() for path in (folder / place).iterdir()
    )
    found = (path.relative_to(folder) for path in held)
    return tuple(sorted(str(path) for path in found if path not in ours and path not in places))


def expanded(folder: Path) -> Path:
    """Return a folder with `~` resolved. Raises UsageError for the home of an unknown user."""
    try:
        return folder.expanduser()
    except RuntimeError as error:
        raise UsageError(
            f"{folder}: there is no user of that name on this computer. Give the whole path."
        ) from error


def _write(files: Mapping[str, str] | Mapping[str, bytes], folder: Path) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
