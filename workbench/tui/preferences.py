"""The user's settings of the terminal, kept between sessions in their state folder."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import NamedTemporaryFile

from workbench.toml_files import too_deep

MOST = 20
"maximum number of recent stores"
LOOKED_AT = 2_000
"maximum number of files to check in a folder, because a folder of data may have millions"
STORES_FILE = "recent-stores.json"


@dataclass(frozen=True, slots=True)
class Recent:
    """A store that was opened before."""

    path: Path
    "absolute path"
    opened: str
    "local time, as in `2026-01-31 09:30`"

    @property
    def gone(self) -> bool:
        """Whether the file is missing, or cannot be checked."""
        try:
            return not self.path.is_file()
        except (OSError, ValueError):
            return True


def state_file(environment: Mapping[str, str] | None = None) -> Path | None:
    """Return the path of the list by the XDG Base Directory Specification, None without a home.

    Examples
    --------
    >>> state_file({"XDG_STATE_HOME": "/state"}).as_posix()
    '/state/workbench/recent-stores.json'
    """
    state_home = Path(
        (os.environ if environment is None else environment).get("XDG_STATE_HOME", "")
    )
    if state_home.is_absolute():  # A relative path has to be ignored.
        return state_home / "workbench" / STORES_FILE
    try:
        return Path.home() / ".local" / "state" / "workbench" / STORES_FILE
    except RuntimeError:
        return None


def recent_stores() -> tuple[Recent, ...]:
    """Return recently opened stores, newest first, or none if the list cannot be read."""
    list_path = state_file()
    try:
        entries = json.loads(list_path.read_text(encoding="utf-8")) if list_path is not None else []
        recents = [Recent(Path(entry["path"]), str(entry["opened"])) for entry in entries]
        return tuple(recent for recent in recents if recent.path.is_absolute())[:MOST]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return ()


def remember(path: Path) -> None:
    """Put a store at the top of the list."""
    with suppress(OSError):
        absolute_path = path.absolute()
        timestamp = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M")
        _write(
            [
                Recent(absolute_path, timestamp),
                *(recent for recent in recent_stores() if recent.path != absolute_path),
            ]
        )


def forget(path: Path) -> None:
    """Remove a store from the list. Its file stays."""
    _write([recent for recent in recent_stores() if recent.path != path])


def stores_in(folder: Path) -> tuple[Path, ...]:
    """Return the stores in a folder, sorted by name. Imports the store.

    They are the files with a store's header, except the backups from before a schema migration.
    """
    from stores.core.connection import is_backup, is_store

    store_paths = []
    try:
        for index, entry in enumerate(os.scandir(folder)):
            if index == LOOKED_AT:
                break
            if is_store(Path(entry.path)) and not is_backup(Path(entry.path)):
                store_paths.append(Path(entry.path))
    except OSError:
        return ()
    return tuple(sorted(store_paths))


def _write(stores: list[Recent]) -> None:
    """Write the list atomically, because two terminals may do so at once.

    A list that cannot be written is not kept.
    """
    list_path = state_file()
    if list_path is None:
        return
    text = json.dumps(
        [{"path": str(recent.path), "opened": recent.opened} for recent in stores[:MOST]], indent=1
    )
    with suppress(OSError, UnicodeEncodeError):
        list_path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with NamedTemporaryFile("w", encoding="utf-8", dir=list_path.parent, delete=False) as file:
            file.write(text)
        Path(file.name).replace(list_path)


PREFERENCES_FILE = "preferences.json"
BLIND = "blind review"
UNREADABLE = (OSError, ValueError, RecursionError)


def remembered(name: str) -> object:
    """Return a stored setting, or None if it is missing or unreadable."""
    return _held().get(name)


def reviews_blind() -> bool:
    """Return whether the review is blind. Then no screen on the way there names a model."""
    return remembered(BLIND) is True


def keep(name: str, value: object) -> None:
    """Store a setting. One that cannot be written is not kept."""
    path, settings = _place(), _held()
    if path is None or settings.get(name) == value:
        return
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
            file.write(json.dumps(settings | {name: value}, indent=1))
        Path(file.name).replace(path)


def ignored() -> str:
    """Return why settings of earlier sessions are ignored, or an empty string if they are not."""
    path = _place()
    try:
        return (
            ""
            if path is None or isinstance(_read(path), dict)
            else f"{path}, not used: it holds no choices"
        )
    except FileNotFoundError:
        return ""
    except UNREADABLE as error:
        return f"{path}, not used: it cannot be read ({error})"


def _held() -> dict[str, object]:
    path = _place()
    try:
        settings = _read(path) if path is not None else {}
    except UNREADABLE:
        return {}
    return settings if isinstance(settings, dict) else {}


def _read(place: Path) -> object:
    settings: object = json.loads(place.read_text(encoding="utf-8"))
    if too_deep(settings):
        raise ValueError("lists or objects nested too deeply")
    return settings


def _place() -> Path | None:
    list_path = state_file()
    return list_path.with_name(PREFERENCES_FILE) if list_path is not None else None
