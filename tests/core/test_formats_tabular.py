"""CSV is read exactly or refused, with the line and column of every fault."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import Finding, InputError, UsageError
from workbench.formats.records import Findings
from workbench.formats.tabular import Row, nearest, number, read_rows

SHORT = ("ref", "text")


def read(folder: Path, content: str | bytes) -> list[Row]:
    path = folder / "t.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    findings = Findings()
    rows = read_rows(path, findings, required=SHORT, optional=("note",), prefixes=("issue.",))
    findings.check()
    return rows


def faults(folder: Path, content: str | bytes) -> list[tuple[int | None, str | None, str]]:
    with pytest.raises(InputError) as caught:
        read(folder, content)
    assert {finding.file for finding in caught.value.findings} == {"t.csv"}
    return [(finding.line, finding.column, finding.found) for finding in caught.value.findings]


def test_line_numbers_are_those_of_the_file_when_cells_hold_line_breaks(tmp_path: Path) -> None:
    rows = read(tmp_path, 'ref,text\r\na,"one\r\ntwo\r\nthree"\r\n\r\nb,four\r\n')
    assert [(row.line, row.cells["text"]) for row in rows] == [(2, "one\ntwo\nthree"), (6, "four")]
    rows = read(tmp_path, 'ref,text\na,"one\r\ntwo"\n')
    assert rows[0].cells["text"] == "one\r\ntwo", (
        "the file has other line ends: these are part of the text"
    )


def test_a_fault_after_a_cell_of_many_lines_is_on_its_own_line(tmp_path: Path) -> None:
    assert faults(tmp_path, 'ref,text\na,"one\ntwo"\nb,\n') == [(4, "text", "an empty cell")]


def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path: Path) -> None:
    assert read(tmp_path, b"\xef\xbb\xbfref,text\na,b\n")[0].get("ref") == "a"


def test_another_encoding_is_named_with_its_byte_and_line(tmp_path: Path) -> None:
    found = faults(tmp_path, "ref,text\na,b\nc,café\n".encode("latin-1"))
    said = "byte 0xE9 at position 18, which is not UTF-8"
    assert found == [
        (3, None, f"{said}; in Windows-1252 this is 'café': --encoding windows-1252 reads it so")
    ]
    assert faults(tmp_path, "ref,text\na,é\nc,".encode() + b"caf\xe9\n") == [
        # é is UTF-8, so the file is no Windows-1252.
        (
            3,
            None,
            "byte 0xE9 at position 19, which is not UTF-8",
        )
    ]
    # Undefined in Windows-1252.
    assert "Windows" not in str(faults(tmp_path, b"ref,text\na,\x81\n"))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_its_mark_is_named_with_what_to_do(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, ("ref,text\n" + "a,café\n" * 9).encode(encoding))
    [finding] = caught.value.findings
    assert (finding.line, finding.found) == (1, "a file in UTF-16 without the mark that says so")
    assert "Excel: 'CSV UTF-8'" in finding.expected


def test_a_row_of_empty_cells_is_an_empty_line(tmp_path: Path) -> None:
    assert [
        row.line for row in read(tmp_path, ",,\nref,text,note\na,b,\n,,\n , ,\n,,,,\nc,d,e\n")
    ] == [3, 7]


def test_a_name_in_another_case_is_the_nearest() -> None:
    assert nearest("Q1", ["q2", "q11", "q1"]) == "q1"
    assert nearest("PARAPHRSE", ["original", "paraphrase"]) == "paraphrase"
    assert nearest("Z", ["q1", "q2"]) is None


def test_a_nul_byte_is_found_on_its_line(tmp_path: Path) -> None:
    assert faults(tmp_path, b"ref,text\na,b\nc,d\x00e\n") == [(3, None, "a NUL byte")]


def test_an_open_quote_is_reported_where_its_record_begins(tmp_path: Path) -> None:
    found = faults(tmp_path, 'ref,text\na,b\nc,"never closed\nd,e\n')
    assert found == [(3, None, "a record that is not CSV (unexpected end of data)")]


def test_text_after_a_closing_quote_is_refused(tmp_path: Path) -> None:
    [(line, column, found)] = faults(tmp_path, 'ref,text\na,"b"c\n')
    assert (line, column) == (2, None)
    assert "not CSV" in found


def test_rows_of_another_length_are_all_reported(tmp_path: Path) -> None:
    assert faults(tmp_path, "ref,text\na\nb,c\nd,e,f\n") == [
        (2, None, "1 fields"),
        (4, None, "3 fields"),
    ]


def test_a_column_that_is_missing_and_one_that_is_misspelt_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, "ref,text,noet\na,b,c\n")
    [finding] = caught.value.findings
    assert finding == Finding(
        "t.csv",
        1,
        "noet",
        "an unknown column",
        "one of ref, text, note, issue.… (did you mean 'note'?)",
    )
    assert faults(tmp_path, "ref,note\na,b\n") == [(1, "text", "no such column")]


def test_a_column_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    assert faults(tmp_path, "ref,text,text\na,b,c\n") == [(1, "text", "2 columns of this name")]


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_another_separator_is_recognised(tmp_path: Path, separator: str) -> None:
    [row] = read(tmp_path, f"ref{separator}text\na{separator}one, two\n")
    assert row.cells == {"ref": "a", "text": "one, two"}
    assert faults(tmp_path, f"ref{separator}text\na{separator}\n") == [(2, "text", "an empty cell")]


def test_an_empty_file_is_a_finding(tmp_path: Path) -> None:
    assert faults(tmp_path, "") == [(1, None, "an empty file")]


def test_a_cell_longer_than_the_csv_modules_limit_is_read(tmp_path: Path) -> None:
    assert len(read(tmp_path, f"ref,text\na,{'x' * 200_000}\n")[0].cells["text"]) == 200_000


def test_a_message_shows_a_dozen_findings_and_counts_the_rest(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, "ref,text\n" + "a,\n" * 20)
    assert len(caught.value.findings) == 20
    assert "t.csv, line 2, column 'text': found an empty cell; expected some text" in str(
        caught.value
    )
    assert "and 8 more\nNothing was imported." in str(caught.value)


def test_a_file_that_is_not_there_is_a_mistake_of_the_request(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone\.csv"):
        read_rows(tmp_path / "gone.csv", Findings(), required=SHORT)


@pytest.mark.parametrize("text", ["nan", "-1", "10.5", "left", "inf"])
def test_a_number_outside_its_range_is_a_finding(text: str) -> None:
    findings = Findings()
    assert (
        number(Row(Path("p.csv"), 7, {"position": text}), "position", findings, low=0, high=10)
        is None
    )
    assert findings.found == [Finding("p.csv", 7, "position", repr(text), "a number from 0 to 10")]


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
FILLED = TEXT.filter(lambda text: text.strip() != "")


@pytest.mark.e2e
@given(st.lists(st.tuples(FILLED, FILLED, TEXT), min_size=1))
def test_what_the_csv_module_writes_is_read_exactly(
    tmp_path_factory: pytest.TempPathFactory, records: list[tuple[str, str, str]]
) -> None:
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows([("ref", "text", "note"), *records])
    rows = read(tmp_path_factory.mktemp("csv"), buffer.getvalue())
    assert [tuple(row.cells.values()) for row in rows] == records
    begins = buffer.getvalue().encode()
    assert rows[-1].line <= begins.count(b"\n") + begins.count(b"\r")
