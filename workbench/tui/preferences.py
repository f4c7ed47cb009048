"""What a person chose about the terminal itself, kept from one session to the next in their state
folder.
"""

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
"recent stores that are kept"
LOOKED_AT = 2_000
"files of a folder that are looked at: a folder of data may hold millions"
STORES_FILE = "recent-stores.json"


@dataclass(frozen=True, slots=True)
class Recent:
    """A store that was opened once."""

    path: Path
    "absolute"
    opened: str
    "local time, `2026-01-31 09:30`"

    @property
    def gone(self) -> bool:
        """Return whether there is no file any more, as far as one can see."""
        try:
            return not self.path.is_file()
        except (OSError, ValueError):
            return True


def state_file(environment: Mapping[str, str] | None = None) -> Path | None:
    """Return where the list is kept, by the XDG Base Directory Specification; None where nobody has
    a home.

    Examples
    --------
    >>> state_file({"XDG_STATE_HOME": "/state"}).as_posix()
    '/state/workbench/recent-stores.json'
    """
    given = Path((os.environ if environment is None else environment).get("XDG_STATE_HOME", ""))
    if given.is_absolute():  # a relative one has to be ignored
        return given / "workbench" / STORES_FILE
    try:
        return Path.home() / ".local" / "state" / "workbench" / STORES_FILE
    except RuntimeError:
        return None


def recent_stores() -> tuple[Recent, ...]:
    """Return recently opened stores, newest first; empty if the list cannot be read."""
    place = state_file()
    try:
        held = json.loads(place.read_text(encoding="utf-8")) if place is not None else []
        found = [Recent(Path(one["path"]), str(one["opened"])) for one in held]
        return tuple(one for one in found if one.path.is_absolute())[:MOST]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return ()


def remember(path: Path) -> None:
    """Put a store at the top of the list."""
    with suppress(OSError):
        whole = path.absolute()
        now = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M")
        _write([Recent(whole, now), *(one for one in recent_stores() if one.path != whole)])


def forget(path: Path) -> None:
    """Take a store off the list; its file stays as it is."""
    _write([one for one in recent_stores() if one.path != path])


def stores_in(folder: Path) -> tuple[Path, ...]:
    """Return the stores in a folder, by their names: files that begin as ours do, but not the
    copies that were kept before a store was brought to a newer schema. Imports the store.
    """
    from stores.core.connection import is_backup, is_store

    found = []
    try:
        for at, entry in enumerate(os.scandir(folder)):
            if at == LOOKED_AT:
                break
            if is_store(Path(entry.path)) and not is_backup(Path(entry.path)):
                found.append(Path(entry.path))
    except OSError:
        return ()
    return tuple(sorted(found))


def _write(stores: list[Recent]) -> None:
    """Write the list in one piece: two terminals may do so at once. A list that cannot be written
    is not kept.
    """
    place = state_file()
    if place is None:
        return
    said = json.dumps(
        [{"path": str(one.path), "opened": one.opened} for one in stores[:MOST]], indent=1
    )
    with suppress(OSError, UnicodeEncodeError):
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with NamedTemporaryFile("w", encoding="utf-8", dir=place.parent, delete=False) as file:
            file.write(said)
        Path(file.name).replace(place)


PREFERENCES_FILE = "preferences.json"
BLIND = "blind review"
UNREADABLE = (OSError, ValueError, RecursionError)


def remembered(name: str) -> object:
    """Return what was chosen; None where nothing was, or it cannot be read."""
    return _held().get(name)


def reviews_blind() -> bool:
    """Return whether a person left the review blind: then nothing on the way there names a
    model.
    """
    return remembered(BLIND) is True


def keep(name: str, value: object) -> None:
    """Remember a choice. One that cannot be written is not kept."""
    place, held = _place(), _held()
    if place is None or held.get(name) == value:
        return
    with suppress(OSError):
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with NamedTemporaryFile("w", encoding="utf-8", dir=place.parent, delete=False) as file:
            file.write(json.dumps(held | {name: value}, indent=1))
        Path(file.name).replace(place)


def ignored() -> str:
    """Say why choices of earlier sessions are not used; "" where they are, or there are none."""
    place = _place()
    try:
        return (
            ""
            if place is None or isinstance(_read(place), dict)
            else f"{place}, not used: it holds no choices"
        )
    except FileNotFoundError:
        return ""
    except UNREADABLE as error:
        return f"{place}, not used: it cannot be read ({error})"


def _held() -> dict[str, object]:
    place = _place()
    try:
        found = _read(place) if place is not None else {}
    except UNREADABLE:
        return {}
    return found if isinstance(found, dict) else {}


def _read(place: Path) -> object:
    found: object = json.loads(place.read_text(encoding="utf-8"))
    if too_deep(found):
        raise ValueError("lists or objects nested too deeply")
    return found


def _place() -> Path | None:
    beside = state_file()
    return beside.with_name(PREFERENCES_FILE) if beside is not None else None
