"""Numbers of files are finite and within the range of their meaning, or they are faults with their
place.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.survey_columns import columns_of_text
from workbench.errors import InputError, UsageError
from workbench.formats.numbers import finite_number
from workbench.formats.records import Findings
from workbench.formats.tabular import Row, number, read_rows

NOT_NUMBERS = (
    "nan",
    "inf",
    "-inf",
    "Infinity",
    "1e300",
    "1e999",
    "-1e300",
    "1_000",
    "١٢",
    "0x10",
    "1,5",
    "one",
)


@pytest.mark.parametrize("text", NOT_NUMBERS)
def test_what_is_no_finite_number_of_the_range_is_none(text: str) -> None:
    assert finite_number(text) is None
    findings = Findings()
    assert number(Row(Path("t.csv"), 3, {"share": text}), "share", findings, low=0, high=1) is None
    [fault] = findings.found
    assert (fault.line, fault.column, fault.found) == (3, "share", repr(text))
    assert ("--decimal ," in fault.expected) == (text == "1,5")


def test_numbers_of_json_are_checked_as_texts_are() -> None:
    values = (float("nan"), float("inf"), 10**400, True, None, [1], 2**63, 1.5)
    assert [finite_number(value, low=0, high=1e6, whole=True) for value in values] == [None] * 8
    assert [finite_number(value) for value in (3, 0.25, "-2e2", ".5")] == [3.0, 0.25, -200.0, 0.5]


@pytest.mark.parametrize("cell", ["inf", "nan", "1e300"])
def test_an_infinite_age_is_in_no_group_and_a_weight_is_a_fault(tmp_path: Path, cell: str) -> None:
    from workbench.formats.read import read_instrument

    path = tmp_path / "survey.csv"
    path.write_text(f"q,age,w\nyes,{cell},1\nno,20,1\n")
    wanted = columns_of_text("questions=q groups=age:18-29/30+")
    if cell == "inf":
        with pytest.raises(InputError, match="a number, which is put into a part"):
            read_instrument("survey", path, wanted=wanted)
    path.write_text(f"q,age,w\nyes,30,{cell}\nno,20,1\n")
    with pytest.raises((InputError, UsageError), match="a weight"):
        read_instrument("survey", path, wanted=columns_of_text("questions=q weight=w"))


def test_whole_numbers_that_a_program_wrote_as_floats_keep_every_digit(tmp_path: Path) -> None:
    rows = [
        {"person": person, "vote": "yes"}
        for person in (1234567.0, 1234568.0, 3.5, -0.0, float("nan"))
    ]
    path = tmp_path / "t.json"
    path.write_text(json.dumps(rows))
    findings = Findings()
    cells = [
        row.cells["person"]
        for row in read_rows(path, findings, required=("person", "vote"), may_be_empty=("person",))
    ]
    assert cells == ["1234567", "1234568", "3.5", "0", ""]
    assert not findings.found
