"""Reads an instrument from a file, by the name of its format."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from workbench import registry
from workbench.data import INSTRUMENT_FILES, SHIPPED_INSTRUMENT, shipped_instrument_folder
from workbench.domain.instruments import Instrument
from workbench.errors import UnknownName, UsageError
from workbench.formats.choice_instruments import check_no_choices, read_biasmonkey_instrument, read_choice_instrument
from workbench.formats.native import read_csv, read_jsonl
from workbench.formats.probvaa import read as read_probvaa
from workbench.formats.propositions import read as read_propositions

FORMATS = ("csv", "jsonl", "probvaa", "propositions", "choices", "biasmonkey")
PARTS = ("biasmonkey",)
"formats that may be read in part"


def read_instrument(
    format: str,  # noqa: A002  the command line's word for it
    path: Path,
    name: str | None = None,
    *,
    left_right: Path | None = None,
    skip: bool = False,
) -> Instrument:
    """Read an instrument, completely or not at all; with `skip`, for `biasmonkey` only, without files that have faults.

    Raises UsageError if `path` does not exist, InputError if the file is malformed.
    """
    if not path.exists():
        raise UsageError(f"{path}: not found")
    if format == "csv":
        check_no_choices(path)
        return read_csv(path, name)
    if format == "jsonl":
        return read_jsonl(path, name)
    if format == "probvaa":
        return read_probvaa(path, name or "probvaa", left_right)
    if format == "propositions":
        return read_propositions(path, name)
    if format == "choices":
        return read_choice_instrument(path, name)
    if format == "biasmonkey":
        return read_biasmonkey_instrument(path, name, skip=skip)
    if (made := registry.load_added(registry.FORMATS, format)) is not None:
        return cast("Instrument", made(path, name))
    raise UnknownName(f"no format is named {format!r}. Available: {', '.join(formats())}")


def formats() -> tuple[str, ...]:
    """Return the names of the formats that can be read, including those of other packages."""
    return registry.names(registry.FORMATS, FORMATS)


def is_part(format: str, instrument: Instrument) -> bool:  # noqa: A002  the command line's word for it
    """Return whether the format may be a part of a stored instrument, whose other data then stay."""
    return format in PARTS or not instrument.statements


def read_shipped(name: str = SHIPPED_INSTRUMENT) -> Instrument:
    """Read an instrument that ships with workbench. Raises UnknownName, which lists the available ones."""
    folder = shipped_instrument_folder(name)
    return read_instrument("csv" if (folder / INSTRUMENT_FILES[0]).is_file() else "choices", folder)
