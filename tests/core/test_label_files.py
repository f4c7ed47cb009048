"""Label files: what is written is read back as it was; what is wrong is named with its line."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.domain.annotations import EventKind, LabelEvent
from workbench.errors import InputError, UsageError
from workbench.formats.label_files import COLUMNS, read_labels, write_labels

EVENT = LabelEvent(
    uid=bytes(range(16)),
    kind=EventKind.LABEL,
    codebook="stance",
    annotator="ana",
    response="I agree.",
    statement="Taxes should fall.",
    instrument="small",
    ref="a-1",
    variant="original",
    language="en",
    label="agree",
    reason="",
    note="",
    confidence=0.1 + 0.2,
    elapsed_ms=1234,
    at="2026-11-21T09:30:00.123Z",
)

HARD = (
    "=1+1",
    "+1",
    "-1",
    "@sum(a1)",
    "\tx",
    "\rx",
    "'tis",
    "''",
    "'=1",
    "a\rb",
    "a\nb",
    "a\r\nb",
    'a"b,c;d',
    "",
    " ",
    "\x07\x1b[31m\x7f",
    "x" * 100_000,
    "\u2028\u0085\x0b\x0c",
    "שלום \u202e",
    "\ufeff",
    "#",
    '"',
    ",",
    "NA",
    "null",
)


def write(path: Path, events: list[LabelEvent]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        assert write_labels(events, file, path.suffix) == len(events)
    return path


def again(path: Path, events: list[LabelEvent]) -> list[LabelEvent]:
    return [replace(event, line=0) for event in read_labels(write(path, events))]


@pytest.mark.parametrize("kind", [".csv", ".jsonl"])
def test_every_field_comes_back(tmp_path: Path, kind: str) -> None:
    events = [
        EVENT,
        replace(
            EVENT, uid=b"1" * 16, label=None, reason="undone", confidence=None, elapsed_ms=None
        ),
        replace(
            EVENT, uid=b"2" * 16, kind=EventKind.REMARK, label=None, flagged=True, note="=hm\n'x"
        ),
        replace(
            EVENT,
            uid=b"3" * 16,
            kind=EventKind.ADJUDICATION,
            reason="slip",
            basis=b"b" * 16,
            attention=True,
        ),
    ]
    assert again(tmp_path / f"labels{kind}", events) == events


@pytest.mark.parametrize("kind", [".csv", ".jsonl"])
@pytest.mark.parametrize("text", HARD, ids=lambda text: repr(text[:12]))
def test_any_text_comes_back(tmp_path: Path, kind: str, text: str) -> None:
    events = [
        replace(EVENT, response=text, note=text),
        replace(EVENT, uid=b"1" * 16, statement=f"s{text}"),
    ]
    assert again(tmp_path / f"labels{kind}", events) == events


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")),
    st.sampled_from([".csv", ".jsonl"]),
)
def test_no_text_is_changed(tmp_path: Path, text: str, kind: str) -> None:
    events = [replace(EVENT, response=text, note=text)]
    assert again(tmp_path / f"labels{kind}", events) == events


def test_half_a_surrogate_pair_and_nul_survive_in_json_lines_and_are_named_in_csv(
    tmp_path: Path,
) -> None:
    event = replace(EVENT, response="a\ud83d\x00b")
    assert again(tmp_path / "labels.jsonl", [event]) == [event]
    (found,) = again(tmp_path / "labels.csv", [event])
    assert found.response == r"a\ud83d\x00b"


def test_no_cell_is_a_formula_to_a_spreadsheet(tmp_path: Path) -> None:
    events = [replace(EVENT, response=text, note=text, annotator="=cmd()") for text in HARD]
    path = write(tmp_path / "labels.csv", events)
    for row in csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")):
        assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in row)


def hand(path: Path, *rows: dict[str, Any]) -> Path:
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


MADE = {
    "annotator": "ana",
    "response": "I agree.",
    "statement": "Taxes should fall.",
    "label": "agree",
}


@pytest.mark.parametrize("kind", [".csv", ".jsonl"])
def test_a_file_made_by_hand_needs_four_columns_and_means_the_same_each_time(
    tmp_path: Path, kind: str
) -> None:
    path = hand(tmp_path / f"hand{kind}", MADE, MADE | {"label": "neutral"})
    first, second = read_labels(path), read_labels(path)
    assert [event.uid for event in first] == [event.uid for event in second]
    assert first[0].uid != first[1].uid
    assert (first[0].kind, first[0].codebook, first[0].variant, first[0].at) == (
        "label",
        "stance",
        "original",
        "",
    )
    assert [event.line for event in first] == ([2, 3] if kind == ".csv" else [1, 2])


def test_lines_that_differ_in_what_they_are_about_are_different_events(tmp_path: Path) -> None:
    rows = [
        MADE,
        *(
            MADE | {name: "x"}
            for name in (
                "annotator",
                "response",
                "statement",
                "label",
                "ref",
                "instrument",
                "variant",
            )
        ),
        MADE | {"codebook": "side"},
        MADE | {"kind": "adjudication"},
        MADE | {"at": "2026-01-01"},
    ]
    assert len({event.uid for event in read_labels(hand(tmp_path / "a.jsonl", *rows))}) == len(rows)
    (one,), (other,) = (
        read_labels(hand(tmp_path / "a.jsonl", MADE), name) for name in ("stance", "side")
    )
    assert one.uid != other.uid, "the codebook that is meant belongs to it"
    spaced = read_labels(
        hand(tmp_path / "a.jsonl", MADE | {"annotator": " ana "}, MADE | {"variant": "original"})
    )
    assert {event.uid for event in spaced} == {one.uid}


def test_times_are_written_as_stores_compare_them(tmp_path: Path) -> None:
    given_ = ["2026-01-02", "2026-01-02T10:00:00+02:00", "2026-01-02T10:00:00Z", "2026-01-02 10:00"]
    events = read_labels(hand(tmp_path / "a.csv", *(MADE | {"at": at} for at in given_)))
    assert [event.at for event in events] == [
        "2026-01-02T00:00:00.000Z",
        "2026-01-02T08:00:00.000Z",
        "2026-01-02T10:00:00.000Z",
        "2026-01-02T10:00:00.000Z",
    ]


@pytest.mark.parametrize(
    ("row", "column", "found"),
    [
        ({"annotator": ""}, "annotator", "nothing"),
        ({"statement": ""}, "statement", "nothing"),
        ({"label": ""}, "label", "nothing"),
        ({"kind": "vote"}, "kind", "'vote'"),
        ({"uid": "xyz"}, "uid", "'xyz'"),
        ({"uid": "00"}, "uid", "'00'"),
        ({"basis": "q"}, "basis", "'q'"),
        ({"confidence": "much"}, "confidence", "'much'"),
        ({"confidence": "1.5"}, "confidence", "'1.5'"),
        ({"confidence": "nan"}, "confidence", "'nan'"),
        ({"elapsed_ms": "inf"}, "elapsed_ms", "'inf'"),
        ({"elapsed_ms": "-5"}, "elapsed_ms", "'-5'"),
        ({"elapsed_ms": "1e300"}, "elapsed_ms", "'1e300'"),
        ({"at": "yesterday"}, "at", "'yesterday'"),
        ({"at": "9999-12-31T23:59:59Z"}, "at", "9999"),
        ({"note": "\ud800"}, "note", "half a surrogate pair"),
        ({"ref": "\ud800"}, "ref", "half a surrogate pair"),
        ({"colour": "red"}, "colour", "unknown key"),
    ],
)
def test_what_is_wrong_is_named_with_file_line_and_column(
    tmp_path: Path, row: dict[str, str], column: str, found: str
) -> None:
    path = hand(tmp_path / "bad.jsonl", MADE, MADE | row)
    with pytest.raises(InputError) as caught:
        read_labels(path)
    (finding,) = caught.value.findings
    assert (finding.file, finding.line, finding.column) == ("bad.jsonl", 2, column)
    assert found in finding.found
    assert finding.expected


@pytest.mark.parametrize(
    ("name", "content", "line", "found"),
    [
        ("a.jsonl", "{\n", 1, "not JSON"),
        ("a.jsonl", "[1]\n", 1, "JSON list"),
        ("a.jsonl", "\n\n", 2, "no label"),
        ("a.jsonl", "[" * 100_000, 1, "not JSON"),
        ("a.csv", "", 1, "an empty file"),
        ("a.csv", "annotator,statement\nana,x\n", 1, "no such column"),
        ("a.csv", "annotator,response,statement,label,mood\n", 1, "an unknown column"),
        ("a.csv", "annotator,response,statement,label\n", 2, "no label"),
        ("a.csv", "annotator,response,statement,label\nana,x\n", 2, "2 fields"),
        ("a.csv", 'annotator,response,statement,label\nana,"x\n', 2, "not CSV"),
        ("a.csv", "annotator,response,statement,label\nana,\x00,s,agree\n", 2, "NUL"),
    ],
)
def test_a_broken_file_is_refused_with_the_place(
    tmp_path: Path, name: str, content: str, line: int, found: str
) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_labels(path)
    assert any(
        found in finding.found and finding.line == line for finding in caught.value.findings
    ), str(caught.value)


def test_other_files_and_none_are_refused_in_words(tmp_path: Path) -> None:
    for name, says in (("a.xlsx", ".csv or .jsonl"), ("a", "nameless"), ("a.csv", "not found")):
        with pytest.raises(UsageError, match=says):
            read_labels(tmp_path / name)
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(UsageError, match="a folder; name a file in it"):
        read_labels(tmp_path / "d.csv")


def test_a_file_in_another_encoding_is_refused_and_a_byte_order_mark_is_not(tmp_path: Path) -> None:
    text = "annotator,response,statement,label\nané,x,y,agree\n"
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=r"line 2.*not UTF-8"):
        read_labels(path)
    path.write_bytes(text.encode("utf-8-sig"))
    assert read_labels(path)[0].annotator == "ané"


def test_the_columns_are_the_fields_of_an_event() -> None:
    assert set(COLUMNS) >= {
        "uid",
        "annotator",
        "response",
        "statement",
        "label",
        "at",
        "basis",
        "attention",
    }
    assert "line" not in COLUMNS
