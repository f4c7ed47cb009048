"""Tables of every kind of file give the same records, and faults with their places."""

from __future__ import annotations

import gzip
import json
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.errors import InputError, UsageError
from workbench.formats import mapping
from workbench.formats.packed import name_of, reading
from workbench.formats.read import recognised
from workbench.formats.records import (
    LEFT_OUT,
    FileKind,
    Findings,
    ReadSettings,
    header_of,
    kind_of,
    objects,
    records,
)

HEADER = ["id", "these", "note"]
ROWS = [["a-1", "Steuern, die hoch sind; schaden.", "1"], ["a-2", "Zölle nützen.", ""]]


def in_excel(path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for row in (HEADER, *ROWS):
        book.active.append([int(cell) if cell.isdigit() else cell or None for cell in row])
    book.save(path)


def in_parquet(path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    columns = {name: [row[n] or None for row in ROWS] for n, name in enumerate(HEADER)}
    parquet.write_table(pyarrow.table(columns), path)


def in_spss(path: Path) -> None:
    import pandas
    import pyreadstat

    pyreadstat.write_sav(pandas.DataFrame(ROWS, columns=HEADER), str(path))


def in_stata(path: Path) -> None:
    import pandas
    import pyreadstat

    pyreadstat.write_dta(pandas.DataFrame(ROWS, columns=HEADER), str(path))


def as_objects() -> list[dict[str, str]]:
    return [dict(zip(HEADER, row, strict=True)) for row in ROWS]


def separated(sign: str, *, quoted: bool = False) -> str:
    rows = [
        [f'"{cell}"' if quoted or sign in cell else cell for cell in row] for row in (HEADER, *ROWS)
    ]
    return "".join(sign.join(row) + "\n" for row in rows)


def text(content: str, encoding: str = "utf-8") -> Callable[[Path], None]:
    return lambda path: path.write_bytes(content.encode(encoding)) and None


WAYS: dict[str, tuple[FileKind, Callable[[Path], None]]] = {
    "comma.csv": (FileKind.TEXT, text(separated(","))),
    "german.csv": (FileKind.TEXT, text(separated(";"))),
    "told.csv": (FileKind.TEXT, text("sep=;\n" + separated(";"))),
    "tabs.tsv": (FileKind.TEXT, text(separated("\t"))),
    "utf16.csv": (FileKind.TEXT, text(separated(",", quoted=True), "utf-16")),
    "list.json": (FileKind.JSON, text(json.dumps(as_objects(), indent=1))),
    "below.json": (FileKind.JSON, text(json.dumps({"version": 3, "data": as_objects()}))),
    "lines.jsonl": (FileKind.LINES, text("\n".join(map(json.dumps, as_objects())))),
    "table.toml": (
        FileKind.TOML,
        text("".join(f"[[row]]\nid = {a!r}\nthese = {b!r}\nnote = {c!r}\n" for a, b, c in ROWS)),
    ),
    "book.xlsx": (FileKind.EXCEL, in_excel),
    "named.wrong": (FileKind.EXCEL, in_excel),
    "rows.parquet": (FileKind.PARQUET, in_parquet),
    "survey.sav": (FileKind.SPSS, in_spss),
    "survey.dta": (FileKind.STATA, in_stata),
}


@pytest.mark.parametrize("name", WAYS)
def test_the_same_table_is_read_from_every_kind_of_file(tmp_path: Path, name: str) -> None:
    kind, make = WAYS[name]
    path = tmp_path / name
    make(path)
    findings = Findings()
    found = [cells for _, cells in records(path, findings)]
    findings.check()
    assert kind_of(path) is kind
    assert found == [HEADER, *ROWS]
    assert header_of(path) == HEADER


@pytest.mark.parametrize("name", ["german.csv", "book.xlsx", "rows.parquet", "list.json"])
def test_a_mapping_names_leaves_out_and_numbers(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    WAYS[name][1](path)
    how = ReadSettings({"these": "original", "note": LEFT_OUT, "id": LEFT_OUT, "#": "ref"})
    found = [cells for _, cells in records(path, Findings(), how)]
    assert found == [["original", "ref"], [ROWS[0][1], "1"], [ROWS[1][1], "2"]]


@pytest.mark.parametrize(
    ("name", "how", "said"),
    [
        ("comma.csv", ReadSettings(sheet="a"), "has no sheets"),
        ("book.xlsx", ReadSettings(encoding="utf-8"), "says its encoding itself"),
        ("list.json", ReadSettings(header=False), "whose columns have names"),
    ],
)
def test_an_option_that_a_file_has_no_use_for_is_refused(
    tmp_path: Path, name: str, how: ReadSettings, said: str
) -> None:
    WAYS[name][1](tmp_path / name)
    with pytest.raises(UsageError, match=said):
        list(records(tmp_path / name, Findings(), how))


def test_a_column_that_is_not_there_is_a_fault_with_those_that_are(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    findings = Findings()
    list(records(path, findings, ReadSettings({"c": "ref"})))
    with pytest.raises(
        InputError, match="line 1, column 'c': found no such column to map; expected one of a, b"
    ):
        findings.check()


def test_a_list_of_texts_without_a_header_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "compass.txt"
    path.write_text("Taxes, on the whole, are theft.\nBorders should be open.\n", encoding="utf-8")
    how = ReadSettings({"1": "original", "#": "ref"}, header=False)
    path.write_text(
        '"Taxes, on the whole, are theft."\nBorders should be open.\n', encoding="utf-8"
    )
    found = [cells for _, cells in records(path, Findings(), how)]
    assert found == [
        ["original", "ref"],
        ["Taxes, on the whole, are theft.", "1"],
        ["Borders should be open.", "2"],
    ]


def test_another_encoding_is_read_where_it_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("ref;these\na;Zölle\n".encode("cp1252"))
    findings = Findings()
    list(records(path, findings))
    assert "--encoding windows-1252" in findings.found[0].found
    assert [cells for _, cells in records(path, Findings(), ReadSettings(encoding="windows-1252"))][
        1
    ] == [
        "a",
        "Zölle",
    ]
    with pytest.raises(UsageError, match="no encoding has this name"):
        list(records(path, Findings(), ReadSettings(encoding="klingon")))


def test_labels_of_values_stand_in_their_place_and_missing_values_are_none(tmp_path: Path) -> None:
    import pandas
    import pyreadstat

    path = tmp_path / "panel.sav"
    frame = pandas.DataFrame(
        {"v1": [1.0, 2.0, 9.0, 98.0, None], "age": [20.0, 31.5, 44.0, 50.0, 61.0]}
    )
    pyreadstat.write_sav(
        frame,
        str(path),
        variable_value_labels={"v1": {1.0: "agree", 2.0: "disagree", 98.0: "don't know"}},
        missing_ranges={"v1": [{"lo": 97.0, "hi": 99.0}, 9.0]},
        column_labels=["Should taxes rise?", "Age"],
    )
    assert [cells for _, cells in records(path, Findings())] == [
        ["v1", "age"],
        ["agree", "20"],
        ["disagree", "31.5"],
        ["", "44"],
        ["", "50"],
        ["", "61"],
    ]


def test_merged_cells_and_formulas_without_a_value_are_faults_with_their_rows(
    tmp_path: Path,
) -> None:
    import openpyxl

    path = tmp_path / "b.xlsx"
    book = openpyxl.Workbook()
    for row in (["ref", "original"], ["a", "=A1&B1"], ["b", "text"], ["c", "text"]):
        book.active.append(row)
    book.active.merge_cells("A3:A4")
    book.save(path)
    findings = Findings()
    list(records(path, findings))
    assert [(one.counted, one.line, one.found) for one in findings.found] == [
        ("row", 3, "merged cells, A3:A4"),
        ("row", 2, "a formula without a value in B2"),
    ]


def test_one_of_several_sheets_has_to_be_named(tmp_path: Path) -> None:
    import openpyxl

    path = tmp_path / "b.xlsx"
    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    book.create_sheet("2024").append(["c", "d"])
    book.create_sheet("empty")
    book.save(path)
    with pytest.raises(UsageError, match="2 sheets: Sheet, 2024; --sheet names one"):
        list(records(path, Findings()))
    assert [cells for _, cells in records(path, Findings(), ReadSettings(sheet="2024"))] == [
        ["c", "d"]
    ]
    with pytest.raises(UsageError, match="no sheet '2025'; there are Sheet, 2024, empty"):
        list(records(path, Findings(), ReadSettings(sheet="2025")))


@pytest.mark.parametrize(
    "name", ["book.xlsx", "rows.parquet", "survey.sav", "survey.dta", "list.json", "table.toml"]
)
@pytest.mark.parametrize("kept", [0.3, 0.7, 0.97])
def test_a_file_that_is_cut_off_is_a_fault_and_no_traceback(
    tmp_path: Path, name: str, kept: float
) -> None:
    path = tmp_path / name
    WAYS[name][1](path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept)])
    findings = Findings()
    list(records(path, findings))
    assert findings.found


@pytest.mark.parametrize(
    "content", ["[1, 2]", '{"a": 1}', '{"a": [{"b": 1}], "c": [{"d": 1}]}', "[" * 100_000, "[{]"]
)
def test_json_that_is_no_table_is_a_fault(tmp_path: Path, content: str) -> None:
    path = tmp_path / "t.json"
    path.write_text(content, encoding="utf-8")
    findings = Findings()
    list(records(path, findings))
    assert findings.found


def test_a_mapping_comes_back_as_it_was_kept(tmp_path: Path) -> None:
    how = mapping.how_of("original=these, ref=#", "2024", "", ["note"], header=False)
    mapping.write(how, tmp_path / "m.toml")
    assert mapping.how_of(str(tmp_path / "m.toml"), "", "") == how
    with pytest.raises(UsageError, match="cannot be written"):
        mapping.write(how, tmp_path / "m.toml")


@pytest.mark.parametrize(
    "typed", ["original=", "=x", "original=a,original=b", "original=a,ref=a", "nowhere.toml"]
)
def test_what_is_no_mapping_is_said(typed: str) -> None:
    with pytest.raises(UsageError, match="--map"):
        mapping.how_of(typed, "", "")


def in_gzip(path: Path, content: bytes) -> None:
    path.write_bytes(gzip.compress(content))


def in_zstandard(path: Path, content: bytes) -> None:
    import pyarrow

    with pyarrow.output_stream(path, compression="zstd") as file:
        file.write(content)


def in_zip(path: Path, content: bytes) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("folder/rows" + path.suffixes[0], content)
        file.writestr("folder/read me.pdf", b"%PDF")
        file.writestr("__MACOSX/._rows.csv", b"")


OTHERS = (FileKind.PARQUET, FileKind.SPSS, FileKind.STATA)
PACKERS = {".gz": in_gzip, ".zst": in_zstandard, ".zip": in_zip}


@pytest.mark.parametrize("end", PACKERS)
@pytest.mark.parametrize(
    "name", [one for one, (kind, _) in WAYS.items() if kind not in OTHERS and ".wrong" not in one]
)
def test_a_packed_table_gives_the_same_records(tmp_path: Path, name: str, end: str) -> None:
    kind, make = WAYS[name]
    plain = tmp_path / name
    make(plain)
    packed = tmp_path / f"{name}{end}"
    PACKERS[end](packed, plain.read_bytes())
    assert kind_of(packed) is kind
    assert list(records(packed, Findings())) == list(records(plain, Findings()))
    assert Path(name_of(packed)).suffix == plain.suffix


@pytest.mark.parametrize("end", PACKERS)
def test_a_packed_file_that_is_cut_off_or_too_large_says_so(tmp_path: Path, end: str) -> None:
    path = tmp_path / f"rows.csv{end}"
    content = b"ref,original\n" + b"".join(b"%d,%x\n" % (n, n**9) for n in range(40_000))
    PACKERS[end](path, content)
    told: list[float] = []
    with reading(len(content), lambda _, share: told.append(share)):
        assert sum(1 for _ in records(path, Findings())) == 40_001
    assert told == sorted(told)
    with reading(len(content) - 1), pytest.raises(UsageError, match="--most-bytes allows more"):
        list(records(path, Findings()))
    assert told[-1] == 1
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    if end == ".zip":  # what is left may as well be of a spreadsheet
        findings = Findings()
        list(records(path, findings))
        assert "a spreadsheet that cannot be read" in str(findings.found[0])
    else:
        with pytest.raises(UsageError, match="it may be cut off"):
            list(records(path, Findings()))


def read_whole(path: Path) -> None:
    """Recognise a file and read it. Raises InputError and UsageError."""
    recognised(path)
    findings = Findings()
    list(records(path, findings))
    findings.check()


@pytest.mark.parametrize("name", ["bomb.csv", "bomb.json", "bomb.txt"])
def test_a_small_file_that_unpacks_to_one_long_text_takes_little_memory(
    tmp_path: Path, name: str
) -> None:
    opening = {
        "bomb.csv": b'ref,original\n1,"',
        "bomb.json": b'[{"ref":"1","original":"',
        "bomb.txt": b"",
    }[name]
    path = tmp_path / f"{name}.gz"
    path.write_bytes(gzip.compress(opening + b"tax " * 2**25, 6, mtime=0))
    tracemalloc.start()
    with pytest.raises(
        (InputError, UsageError),
        match=r"a line of more than|unpacks to more than|not a known format",
    ):
        read_whole(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2**28


def test_a_file_that_crashes_its_reader_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, crashes = tmp_path / "survey.sav", tmp_path / "python"
    in_spss(path)
    assert header_of(path) == HEADER
    crashes.write_text("#!/bin/sh\nkill -SEGV $$\n")
    crashes.chmod(0o700)
    monkeypatch.setattr("sys.executable", str(crashes))
    findings = Findings()
    assert list(records(path, findings)) == []
    assert "SPSS data that cannot be read (the package that reads it broke off)" in str(
        findings.found[0]
    )


@pytest.mark.parametrize("name", ["rows.parquet", "survey.sav"])
def test_what_needs_the_whole_file_is_to_be_unpacked(tmp_path: Path, name: str) -> None:
    WAYS[name][1](tmp_path / name)
    in_gzip(tmp_path / f"{name}.gz", (tmp_path / name).read_bytes())
    with pytest.raises(UsageError, match="in a packed file; unpack it first"):
        list(records(tmp_path / f"{name}.gz", Findings()))


def test_a_zip_has_one_table(tmp_path: Path) -> None:
    path = tmp_path / "rows.zip"
    for names, told in (
        (("a.csv", "b.csv"), "a zip with a.csv, b.csv"),
        (("a.pdf",), "a zip with a.pdf"),
    ):
        with zipfile.ZipFile(path, "w") as file:
            for name in names:
                file.writestr(name, "ref,original\n")
        with pytest.raises(UsageError, match=told):
            kind_of(path)


def test_a_text_is_read_without_the_whole_of_it_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv.gz"
    with gzip.open(path, "wb") as file:
        for n in range(200_000):
            file.write(b'%d,"the port, number %d",%s\n' % (n, n, b"x" * 60))
    tracemalloc.start()
    assert sum(1 for _ in records(path, Findings())) == 200_000
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 4 * 2**20  # of 19 MiB of text


@pytest.mark.parametrize("content", [b'[{"ref": "a\x00"}]', b'{"ref": "a\x00"}\n'])
def test_a_nul_in_json_is_one_fault(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    findings = Findings()
    assert list(objects(path, findings)) == []
    assert [finding.found for finding in findings.found] == ["a NUL byte"]
