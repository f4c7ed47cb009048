"""What a person chose about the terminal itself, kept from one session to the next in their state folder."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from workbench.toml_files import too_deep
from workbench.tui.recent_stores import state_file

NAMED = "preferences.json"
BLIND = "blind review"
UNREADABLE = (OSError, ValueError, RecursionError)


def remembered(name: str) -> object:
    """Return what was chosen; None where nothing was, or it cannot be read."""
    return _held().get(name)


def reviews_blind() -> bool:
    """Return whether a person left the review blind: then nothing on the way there names a model."""
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
        return "" if place is None or isinstance(_read(place), dict) else f"{place}, not used: it holds no choices"
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
    return beside.with_name(NAMED) if beside is not None else None
