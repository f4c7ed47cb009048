"""Writes files into a folder, all of them or none.

Other files are never deleted, and none are overwritten unless a person asks for it.
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
    """Write files, named by their path in the folder, and return their full paths.

    The files are first written beside the folder, where `check` may inspect them and raise an
    error. A new folder then appears by a single renaming. If the folder exists, the files are moved
    into it one by one, each of them complete.

    With `force`, files of the same name are replaced and other files stay. With `beside`, the
    folder may contain other files, as long as none has the name of a new one.

    Raises UsageError if the folder is not empty and `force` is not given, or if it cannot be
    written.
    """
    check_place(folder, force=force, beside=tuple(files) if beside else None)
    new_folder = folder
    try:
        with made_beside(folder) as new_folder:
            _write(files, new_folder)
            if check is not None:
                check(new_folder)
            if folder.exists():
                for name in files:
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                    (new_folder / name).replace(folder / name)
            else:
                new_folder.rename(folder)
    except OSError as error:
        where = (
            error.filename
            if error.filename and not str(error.filename).startswith(str(new_folder))
            else folder
        )
        raise UsageError(
            f"{where}: cannot be written ({error.strerror}). Give a folder that you may write to."
        ) from error
    return tuple(folder / name for name in files)


def check_place(folder: Path, *, force: bool, beside: tuple[str, ...] | None = None) -> None:
    """Raise UsageError if files may not be written into a folder.

    Any file in the folder is a conflict, unless `beside` names the only files that are.
    """
    try:
        if "\x00" in str(folder):
            raise UsageError(
                "the folder's name contains a NUL, which no file system accepts. Give another name."
            )
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"{folder}: this is a file. Give the name of a new folder.")
        conflicts = others(folder, ())
        conflicts = (
            conflicts
            if beside is None
            else tuple(name for name in beside if (folder / name).exists())
        )
    except OSError as error:
        raise UsageError(
            f"{folder}: cannot be read ({error.strerror}). Give another folder."
        ) from error
    if conflicts and not force:
        listing = ", ".join(conflicts[:4]) + (
            f" and {len(conflicts) - 4} more" if len(conflicts) > 4 else ""
        )
        raise UsageError(
            f"{folder}: the folder holds {listing}. Give a new folder; or use --force, which "
            "replaces files of the same name and keeps the others."
        )


def others(folder: Path, files: tuple[str, ...]) -> tuple[str, ...]:
    """Return what else is in the folder, and in those of its subfolders that these files are in."""
    own_paths = {Path(name) for name in files}
    subfolders = {Path(), *(parent for path in own_paths for parent in path.parents)}
    entries = (
        path
        for subfolder in subfolders
        if (folder / subfolder).is_dir()
        for path in (folder / subfolder).iterdir()
    )
    relative_paths = (path.relative_to(folder) for path in entries)
    return tuple(
        sorted(
            str(path) for path in relative_paths if path not in own_paths and path not in subfolders
        )
    )


def expanded(folder: Path) -> Path:
    """Return a folder with `~` resolved.

    Raises UsageError if that is the home of an unknown user.
    """
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
