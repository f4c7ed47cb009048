"""Files that are made to break their reader: each gives one clear error that names the place, in
little memory.
"""

from __future__ import annotations

import gzip
import json
import re
import struct
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from workbench.codebooks import read_codebook
from workbench.errors import InputError, UsageError, WorkbenchError
from workbench.formats import packed, records
from workbench.formats.packed import reading
from workbench.formats.personas import read_personas
from workbench.formats.plans import read_plan
from workbench.pipeline.importing import ImportRequest, read_import

HEAD = b"ref,original\n"
SHEET, BOOK = "xl/worksheets/sheet1.xml", "xl/workbook.xml"
MOST = 200 * 2**20
"bytes of memory beyond what was there before"


@contextmanager
def counted() -> Iterator[Callable[[], int]]:
    """Give what tells the largest memory so far within this block."""
    tracemalloc.start(1)
    most = [0]
    try:
        yield lambda: most[0]
    finally:
        most[0] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()


def zipped(
    members: dict[str, bytes], change: Callable[[bytearray, int, int], object] = lambda *_: None
) -> bytes:
    """Return a zip; `change` is given its bytes, and where its first file and the list of its files
    begin.
    """
    made = BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    whole = bytearray(made.getvalue())
    change(whole, whole.find(b"PK\x03\x04"), whole.find(b"PK\x01\x02"))
    return bytes(whole)


def put(at: int, what: bytes) -> Callable[[bytearray, int, int], object]:
    """Return what changes the entry of the first file in the list of a zip."""

    def change(whole: bytearray, _: int, listed: int) -> None:
        whole[listed + at : listed + at + len(what)] = what

    return change


def excel(part: str, change: Callable[[bytes], bytes]) -> bytes:
    """Return a spreadsheet with one statement, one part of which is changed."""
    openpyxl: Any = import_module("openpyxl")
    book = openpyxl.Workbook()
    for row in (["ref", "original"], ["a", "Rents should be capped."]):
        book.active.append(row)
    made = BytesIO()
    book.save(made)
    with zipfile.ZipFile(made) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    assert change(parts[part]) != parts[part]
    return zipped(parts | {part: change(parts[part])})


def after_rows(text: bytes) -> Callable[[bytes], bytes]:
    return lambda part: part.replace(b"</sheetData>", text + b"</sheetData>", 1)


def behind_rows(text: bytes) -> Callable[[bytes], bytes]:
    return lambda part: part.replace(b"</sheetData>", b"</sheetData>" + text, 1)


def parquet(repeats: int, text: str) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet

    column = pa.DictionaryArray.from_arrays(pa.array([0] * repeats, pa.int32()), [text])
    pa.parquet.write_table(pa.table({"ref": column, "original": column}), made := BytesIO())
    return made.getvalue()


def statement(**more: Any) -> bytes:
    return json.dumps([{"ref": "a", "original": "b", **more}]).encode()


ENTITIES = b'<!DOCTYPE x [<!ENTITY a "' + b"a" * 10**5 + b'">]>'
LONG = "9" * 5000
FILES: dict[str, tuple[Callable[[], bytes], str]] = {
    "nul.csv": (lambda: HEAD + b"a,b\0c\n", "line 2: found a NUL byte"),
    "wide.csv": (
        lambda: HEAD.strip() + b",x" * 20_000 + b"\n",
        "found 20,002 columns; expected at most 16,384",
    ),
    "same.csv": (
        lambda: HEAD + b"a,b\n" * 5000,
        "line 3, column 'ref': found 'a' in 'en' again, after line 2",
    ),
    "faults.csv": (
        lambda: HEAD + b"a\n" * 20_000,
        "found 1 fields; expected 2, as in the header(.|\n)*and 988 more",
    ),
    "unbalanced.csv": (
        lambda: HEAD + b'a,"b\n' + b"c,d\n" * 10**4,
        "line 2: found a record that is not CSV",
    ),
    "long.csv": (
        lambda: HEAD + b"a,b," + b"c" * 10**6 + b"\n",
        "line 2: found 3 fields; expected 2",
    ),
    "column.csv": (
        lambda: HEAD.strip() + b"," + b"c" * 10**6 + b"\na,b,c\n",
        r"column 'c{900,1000}…: found an",
    ),
    "deep.json": (
        lambda: b"[" * 10**5 + b"]" * 10**5,
        "entry 1: found JSON that is nested too deeply",
    ),
    "deep.jsonl": (
        lambda: b'{"ref": "a", "original": ' + b"[" * 5000 + b"]" * 5000 + b"}",
        "line 1: .* too deep",
    ),
    "digits.json": (
        lambda: b'[{"ref": "a",\n"original": %s}]' % LONG.encode(),
        "a number of more than 4,300 digits",
    ),
    "twice.json": (
        lambda: b'[{"ref": "a", "original": "b", "original": "c"}]',
        "column 'original': found the same",
    ),
    "twice.jsonl": (
        lambda: b'{"ref": "a", "original": "b", "original": "c"}',
        "line 1, column 'original': found",
    ),
    "nul.json": (
        lambda: statement(topic="x\0y"),
        "entry 1, column '3': found a NUL or half a surrogate pair",
    ),
    "half.json": (
        lambda: statement(topic="\ud800"),
        "entry 1, column '3': found a NUL or half a surrogate pair",
    ),
    "keys.json": (
        lambda: json.dumps(
            [{"ref": "a", "original": "b", f"k{n}": 1} for n in range(4000)]
        ).encode(),
        "many more cells than a file of|an unknown column",
    ),
    "digits.toml": (
        lambda: f'[[s]]\nref = "a"\noriginal = {LONG}\n'.encode(),
        "line 3: .* more than 64 bits",
    ),
    "date.toml": (
        lambda: b'[[s]]\nref = "a"\noriginal = 2026-11-29',
        "line 3: .*a date or time without quotes",
    ),
    "times.toml": (
        lambda: b'[[s]]\nref = "a"\nnotes = [{at = 10:30:00}]',
        "line 3: .*a date or time without quotes",
    ),
    "hexadecimal.toml": (
        lambda: b'[[s]]\nref = "a"\noriginal = 0x' + b"f" * 5000,
        "line 3: .* more than 64 bits",
    ),
    "deep.toml": (
        lambda: b"a = " + b"[" * 5000 + b"]" * 5000,
        "tables or lists more than 100 levels deep",
    ),
    "dotted.toml": (
        lambda: b"a" + b".a" * 200 + b" = 1",
        "tables or lists more than 100 levels deep",
    ),
    "bomb.csv.gz": (
        lambda: gzip.compress(HEAD + b"a," + b"b" * 2**27),
        "a line of more than 16,777,216 bytes",
    ),
    "rows.csv.gz": (
        lambda: gzip.compress(HEAD + b"a,b\n" * 2**20),
        "many more cells than a file of",
    ),
    "bomb.zip": (
        lambda: zipped({"a.json": b"[" + b"1," * 2**25 + b"1]"}),
        "unpacks to more than 33,554,432 bytes",
    ),
    "twice.csv.gz": (
        lambda: gzip.compress(gzip.compress(HEAD)),
        "a packed file within a packed file",
    ),
    "offset.zip": (
        lambda: zipped({"a.csv": HEAD}, put(42, b"\xff" * 3)),
        "a zip that cannot be unpacked",
    ),
    "method.zip": (
        lambda: zipped({"a.csv": HEAD}, put(10, b"\x63")),
        "a zip that cannot be unpacked",
    ),
    "locked.zip": (
        lambda: zipped({"a.csv": HEAD}, put(8, b"\x01")),
        "a zip that cannot be unpacked",
    ),
    "lying.zip": (
        lambda: zipped({"a.csv": HEAD}, put(24, struct.pack("<I", 3))),
        "a packed file that cannot be read",
    ),
    "names.zip": (
        lambda: zipped({f"{n}{'x' * 9999}.csv": HEAD for n in range(9)}),
        r"a zip with 0x{59}…, 1x{59}…",
    ),
    "inner.zip": (
        lambda: zipped({"a.zip": zipped({"a.csv": HEAD})}),
        "a zip with a.zip; give one with one table",
    ),
    "cell.xlsx": (
        lambda: excel(SHEET, after_rows(b'<row r="1048576"><c r="XFD1048576"><v>0</v></c></row>')),
        "a sheet of 1,048,576 rows and 16,384 columns, most of them empty",
    ),
    "merged.xlsx": (
        lambda: excel(
            SHEET, behind_rows(b"<mergeCells><mergeCell ref='A1:XFD1048576'/></mergeCells>")
        ),
        "more cells or sheets than the size",
    ),
    "link.xlsx": (
        lambda: excel(
            SHEET, behind_rows(b"<hyperlinks><hyperlink ref='A1:XFD1048576'/></hyperlinks>")
        ),
        "more cells or sheets than the size",
    ),
    "deep.xlsx": (
        lambda: excel(SHEET, after_rows(b"<row>" * 200 + b"</row>" * 200)),
        "more cells or sheets than",
    ),
    "sheets.xlsx": (
        lambda: excel(
            BOOK,
            lambda part: part.replace(b"</sheets>", b'<sheet name="x"/>' * 2000 + b"</sheets>"),
        ),
        "more cells or sheets than the size",
    ),
    "blanks.xlsx": (
        lambda: excel(SHEET, after_rows(b" " * 2**26)),
        "unpacks to more than 33,554,432 bytes",
    ),
    "entities.xlsx": (
        lambda: excel(
            SHEET,
            lambda part: ENTITIES + part.replace(b"<sheetData>", b"<sheetData>" + b"&a;" * 10**4),
        ),
        "a spreadsheet that cannot be read",
    ),
    "rows.parquet": (
        lambda: parquet(2**18, "a"),
        "many more cells than a file of|again, after line 1",
    ),
    "texts.parquet": (lambda: parquet(5000, "a" * 10**5), "many more characters than a file of"),
    "cut.parquet": (lambda: parquet(3, "a")[:-30], "a Parquet file that cannot be read"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_made_to_break_its_reader_gives_one_clear_error(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "FREE_CELLS", 2**17)
    make, said = FILES[name]
    path = tmp_path / name
    path.write_bytes(make())
    with counted() as most, pytest.raises((UsageError, InputError)) as caught:
        read_import(ImportRequest(path))
    told = str(caught.value)
    assert re.search(said, told)
    assert name.partition(".")[0] in told
    assert len(told) < 30_000
    assert most() < MOST
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_a_person_may_allow_what_repeats_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.csv.gz"
    monkeypatch.setattr(packed, "FREE_BYTES", 2**14)
    path.write_bytes(
        gzip.compress(HEAD + b"".join(b"%d,b\n" % n for n in range(10)) + b"\n" * 2**18)
    )
    with pytest.raises(UsageError, match="--most-bytes allows more"):
        read_import(ImportRequest(path))
    with reading(2**27):
        assert (found := read_import(ImportRequest(path))) is not None
    assert found.instrument is not None
    assert len(found.instrument.statements) == 10


def test_the_name_of_a_file_in_a_zip_is_no_path_and_no_longer_than_a_files(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    for inner in ("../../x.csv", "/etc/x.csv", "x" * 60_000 + ".csv"):
        path.write_bytes(zipped({inner: HEAD + b"a,b\n"}))
        found = read_import(ImportRequest(path))
        assert found is not None
        assert set(found.name) == {"x"}
        assert len(found.name) < 256


ODD = (
    f"x = {LONG}",
    "x = 0x" + "f" * 5000,
    "x = " + "[" * 5000 + "]" * 5000,
    "x" + ".x" * 5000 + " = 1",
    "x = 1\0",
)


@pytest.mark.parametrize("reader", [read_codebook, read_personas, read_plan])
@pytest.mark.parametrize("text", ODD, ids=["digits", "hexadecimal", "deep", "dotted", "nul"])
def test_a_file_of_ours_that_is_too_much_is_named(
    tmp_path: Path, reader: Callable[[Path], object], text: str
) -> None:
    path = tmp_path / "odd.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(WorkbenchError, match=r"odd\.toml") as caught:
        reader(path)
    assert len(str(caught.value)) < 2000
