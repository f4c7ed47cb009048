"""From a format's name to the instrument in a file."""

from __future__ import annotations

from pathlib import Path

from workbench.domain.instruments import Instrument
from workbench.errors import UnknownName, UsageError
from workbench.formats.native import read_csv, read_jsonl
from workbench.formats.probvaa import read as read_probvaa
from workbench.formats.propositions import read as read_propositions

FORMATS = ("csv", "jsonl", "probvaa", "propositions")


def read_instrument(
    format: str,  # noqa: A002  the command line's word for it
    path: Path,
    name: str | None = None,
    *,
    left_right: Path | None = None,
) -> Instrument:
    """Read an instrument, whole or not at all.

    Raises UsageError where there is nothing at `path`, InputError where what is there is malformed.
    """
    if not path.exists():
        raise UsageError(f"{path}: there is nothing here")
    if format == "csv":
        return read_csv(path, name)
    if format == "jsonl":
        return read_jsonl(path, name)
    if format == "probvaa":
        return read_probvaa(path, name or "probvaa", left_right)
    if format == "propositions":
        return read_propositions(path, name)
    raise UnknownName(f"no format is named {format!r}. There is: {', '.join(FORMATS)}")
