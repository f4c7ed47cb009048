"""TOML that people write, nested deeper than any use: refused where it is read, before a message
repeats it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.codebooks import read_codebook
from workbench.data import read_prompt
from workbench.domain.instruments import Instrument
from workbench.errors import InputError, UsageError
from workbench.formats import plans
from workbench.formats.native import read_csv
from workbench.formats.personas import read_personas
from workbench.inference.extra_fields import extra_fields
from workbench.toml_files import DEEPEST, parsed

DEEP = (f"[{'.'.join('a' * 3000)}]\nb = 1\n", "a = " + "[" * 5000, "a = " + "[" * 400 + "]" * 400)


@pytest.mark.parametrize("text", DEEP, ids=("tables", "unclosed", "lists"))
def test_deep_tables_and_lists_are_no_toml(text: str) -> None:
    with pytest.raises(tomllib.TOMLDecodeError, match=f"more than {DEEPEST} levels"):
        parsed(text)


@pytest.mark.parametrize(
    "text", [f"[{'.'.join('a' * (DEEPEST - 1))}]\nb = 1\n", "a = " + "[" * 90 + "]" * 90]
)
def test_what_can_be_printed_is_read(text: str) -> None:
    assert repr(parsed(text))


@pytest.mark.parametrize("text", DEEP, ids=("tables", "unclosed", "lists"))
@pytest.mark.parametrize(
    ("read", "refused"),
    [
        (read_codebook, InputError),
        (read_prompt, InputError),
        (read_personas, InputError),
        (plans.read_plan, UsageError),
        (lambda path: extra_fields(str(path)), InputError),
        (lambda path: _instrument(path), InputError),
    ],
    ids=("codebook", "prompt", "personas", "plan", "extra body", "instrument"),
)
def test_every_reader_refuses_them(
    tmp_path: Path, text: str, read: Callable[[Path], Any], refused: type[Exception]
) -> None:
    path = tmp_path / "instrument.toml"
    path.write_text(text)
    with pytest.raises(refused, match="levels deep"):
        read(path)


def _instrument(path: Path) -> Instrument:
    """Read the instrument of the file's folder."""
    path.with_name("statements.csv").write_text("ref,original\nmig-01,Borders should be open.\n")
    return read_csv(path.parent)


def test_a_json_list_of_personas_is_refused_likewise(tmp_path: Path) -> None:
    path = tmp_path / "personas.json"
    path.write_text('[{"id": ' + "[" * 400 + "]" * 400 + "}]")
    with pytest.raises(InputError, match="nested too deeply"):
        read_personas(path)
