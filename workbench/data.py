"""Finds the read-only data that ships with workbench, and parses it into values."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from workbench.domain.prompts import Template
from workbench.errors import UnknownName, WorkbenchError
from workbench.readers.lexicon import Lexicon

SHIPPED_INSTRUMENT = "veldania"


def data_folder() -> Path:
    """Return the folder: inside the installed package, or beside it in a source checkout."""
    package = Path(str(files("workbench")))
    for candidate in (package / "_data", package.parent / "data"):
        if (candidate / "instruments").is_dir():
            return candidate
    raise WorkbenchError(f"the data that ships with workbench is not beside {package}. Install workbench again.")


def shipped_instrument_folder(name: str = SHIPPED_INSTRUMENT) -> Path:
    """Return the folder of a shipped instrument. Raises UnknownName, listing those there are."""
    folder = data_folder() / "instruments"
    if not (folder / name / "statements.csv").is_file():
        raise UnknownName(f"no shipped instrument is named {name!r}. There is: {_names(folder)}")
    return folder / name


@lru_cache
def shipped_templates(audit: str = "reliability") -> tuple[Template, ...]:
    """Return the published templates of an audit, both label orders. Raises UnknownName."""
    return tuple(_template(row, audit) for row in _toml("prompts", audit)["template"])


@lru_cache
def lexicon(language: str = "en") -> Lexicon:
    """Return the label words of a language. Raises UnknownName, listing the languages there are."""
    return Lexicon.parse(_toml("lexicons", language))


def _template(row: dict[str, Any], audit: str) -> Template:
    return Template(
        name=row["name"],
        inverted=row["order"] == "swapped",
        user=row["user"],
        positive=row["positive"],
        negative=row["negative"],
        system=row.get("system"),
        family=row["family"],
        address=row["address"],
        language=row["language"],
        audit=audit,
    )


def _toml(kind: str, name: str) -> dict[str, Any]:
    folder = data_folder() / kind
    path = folder / f"{name}.toml"
    if not path.is_file():
        raise UnknownName(f"there is no {name!r} among the shipped {kind}. There is: {_names(folder)}")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _names(folder: Path) -> str:
    return ", ".join(sorted(path.stem for path in folder.iterdir())) if folder.is_dir() else "nothing"
