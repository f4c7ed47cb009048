"""Figures as values: every medium shows the same table, and none of them lets a hostile text
through.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.test_visible import HOSTILE
from workbench.domain.verdicts import Estimate, MeanSd, Verdict
from workbench.figures.shown import number, painted, shown
from workbench.figures.table import Column, Kind, Table
from workbench.figures.write.data_files import csv_files, parquet_files
from workbench.figures.write.document import SCHEMA, document
from workbench.figures.write.html import html_page
from workbench.figures.write.latex import latex_table
from workbench.figures.write.terminal import renderables

NAN = float("nan")


@dataclass(frozen=True)
class Line:
    """A row with a value of every type."""

    name: str
    share: Estimate
    spread: MeanSd
    score: float
    p: float
    n: int
    verdict: Verdict
    few: bool
    stances: tuple[str, ...]


FULL = Line(
    "all",
    Estimate(0.432, 0.38, 0.491, 36),
    MeanSd(0.45, 0.032, 3),
    0.58,
    0.0002,
    1320,
    Verdict.PASS,
    True,
    ("agree", "–"),
)
NONE = Line(
    "none",
    Estimate(NAN, NAN, NAN, 0, 4, "all answers equal"),
    MeanSd(NAN, NAN, 0),
    NAN,
    NAN,
    0,
    Verdict.INSUFFICIENT,
    False,
    (),
)
EVIL = Line(
    HOSTILE + "</td><script>x</script> \\input{y} =1+1",
    FULL.share,
    FULL.spread,
    -0.5,
    0.5,
    2,
    Verdict.FAIL,
    False,
    (HOSTILE,),
)


def table(*rows: Line, **more: Any) -> Table[Line]:
    return Table(
        "lines",
        "Lines",
        rows,
        [
            Column("name", "name", lambda row: row.name),
            Column("share", "share", lambda row: row.share, Kind.SHARE, help="of <all>"),
            Column("spread", "spread", lambda row: row.spread, Kind.SHARE),
            Column("score", "score", lambda row: row.score, Kind.SCORE),
            Column("p", "p", lambda row: row.p, Kind.P_VALUE),
            Column("n", "n", lambda row: row.n, Kind.COUNT),
            Column("verdict", "verdict", lambda row: row.verdict, Kind.VERDICT),
            Column("few", "", lambda row: row.few, Kind.MARK),
            Column("stances", "stances", lambda row: row.stances, Kind.WORDS),
        ],
        key=lambda row: (row.name,),
        **more,
    )


def printed(of: Table[Line], width: int = 200) -> str:
    from rich.console import Console

    console = Console(file=io.StringIO(), width=width, highlight=False)
    for part in renderables(of, width):
        console.print(part)
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def test_a_number_is_written_in_one_way() -> None:
    cells, notes = painted(table(FULL, NONE, notes=["first"]))
    assert cells[0][1:] == [
        *(
            "43.2 % [38.0, 49.1]",
            "45.0 % (sd 3.2)",
            "+0.58",
            "<0.001",
            "1,320",
            "✓ pass",
            "•",
            "agree –",
        )
    ]
    assert cells[1][1:] == ["undefined (a)", "–", "–", "–", "0", "· few", "", ""]
    assert notes == ["first", "(a) all answers equal"]


def test_words_signs_and_lines_are_painted_and_data_keep_the_text() -> None:
    def beside(row: Line) -> str:
        return "**\x1b" * (row.score > 0)

    columns: list[Column[Any]] = [
        Column("name", "name", lambda row: row.name, words={"all": "everything\x1b"}),
        Column("score", "score", lambda row: row.score, Kind.SCORE, beside=beside),
        Column("said", "said", lambda _: "one\ntwo\x1b", Kind.PROSE),
        Column("sum", "sum", lambda _: -2, Kind.BALANCE),
    ]
    made = Table("lines", "Lines", [FULL, EVIL], columns, key=lambda row: (row.name,))
    (full, evil), _ = painted(made)
    assert full == ["everything␛", "+0.58 **␛", "one\ntwo␛", "-2"]
    assert evil[1] == "-0.50"
    assert document([made], {})["tables"][0]["rows"][0] == {
        "name": "all",
        "score": 0.58,
        "said": "one\ntwo\x1b",
        "sum": -2,
    }
    assert '<td class="prose">one\ntwo␛</td>' in html_page([made], "x")


@given(st.floats(0, 1))
def test_less_than_all_is_never_all_and_more_than_none_never_none(share: float) -> None:
    assert (number(share, Kind.SHARE) == "100.0 %") == (share == 1)
    assert (number(share, Kind.SHARE) == "0.0 %") == (share == 0)


def test_json_keeps_text_and_precision() -> None:
    found = json.loads(
        json.dumps(document([table(FULL, NONE, EVIL)], {"seed": 1}), allow_nan=False)
    )
    assert (found["schema"], found["seed"]) == (SCHEMA, 1)
    full, none, evil = found["tables"][0]["rows"]
    assert full["share"] == {
        "value": 0.432,
        "low": 0.38,
        "high": 0.491,
        "n": 36,
        "excluded": 0,
        "undefined": "",
    }
    assert none["share"]["value"] is None
    assert none["share"]["undefined"] == "all answers equal"
    assert evil["name"] == EVIL.name
    assert evil["stances"] == [HOSTILE]
    kinds = {column["key"]: column["kind"] for column in found["tables"][0]["columns"]}
    assert kinds["share"] == "share"
    assert kinds["p"] == "p value"


def test_csv_has_a_column_for_each_part_and_neutralises_formulas_alone() -> None:
    ((name, text),) = csv_files([table(FULL, NONE, Line("=1+1", *_rest(EVIL)), EVIL)]).items()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert name == "lines.csv"
    assert rows[0]["share"] == "0.432"
    assert rows[0]["share_low"] == "0.38"
    assert (rows[0]["spread_sd"], rows[0]["few"], rows[0]["verdict"]) == ("0.032", "yes", "pass")
    assert (rows[1]["share"], rows[1]["share_undefined"], rows[1]["share_excluded"]) == (
        "",
        "all answers equal",
        "4",
    )
    assert rows[2]["name"] == "'=1+1"
    assert rows[3]["name"] == EVIL.name


def _rest(line: Line) -> tuple[Any, ...]:
    return (
        line.share,
        line.spread,
        line.score,
        line.p,
        line.n,
        line.verdict,
        line.few,
        line.stances,
    )


def test_parquet_holds_what_csv_holds_with_types() -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    (contents,) = parquet_files([table(FULL, NONE, EVIL, definition="what it is")]).values()
    found = parquet.read_table(io.BytesIO(contents))
    rows = found.to_pylist()
    assert found.schema.metadata[b"definition"] == b"what it is"
    assert rows[0]["share"] == 0.432
    assert rows[1]["share"] is None
    assert rows[2]["name"] == EVIL.name
    assert rows[0]["n"] == 1320


class Elements(HTMLParser):
    """The tags of a page, and what a cell says."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not any(name in {"src", "href"} for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_html_shows_hostile_text_and_runs_nothing() -> None:
    page = html_page([table(FULL, EVIL)], HOSTILE, [HOSTILE])
    assert all(line.isprintable() for line in page.split("\n"))
    found = Elements()
    found.feed(page)
    assert "script" not in found.tags
    assert found.tags.count("table") == 1
    assert any("</td><script>x</script>" in text for text in found.text)
    assert "default-src 'none'" in page
    assert 'scope="row"' in page
    assert 'title="of &lt;all&gt;"' in page


def test_latex_cannot_read_a_command_from_data() -> None:
    text = latex_table(table(FULL, EVIL, notes=["50 % & more"]))
    assert all(line.isprintable() for line in text.split("\n"))
    assert r"\textbackslash{}input\{y\}" in text
    assert r"50 \% \& more" in text
    body = re.search(r"\\midrule\n(.*?)\\bottomrule", text, re.DOTALL)
    assert body is not None
    assert [line.count(" & ") for line in body.group(1).splitlines()] == [8, 8]


@pytest.mark.parametrize("width", [40, 80, 140])
def test_the_terminal_shows_every_width_and_no_control_character(width: int) -> None:
    lines = printed(table(FULL, NONE, EVIL, definition=HOSTILE, notes=[HOSTILE]), width).split("\n")
    assert all(line.isprintable() and len(line) <= width for line in lines)


def test_what_stands_aside_is_left_out_where_there_is_no_room() -> None:
    full = table(FULL)
    aside = [
        replace(column, aside=True) if column.key == "spread" else column for column in full.columns
    ]
    lines = replace(full, columns=aside)
    assert "45.0 % (sd 3.2)" in printed(lines, 140)
    narrow = printed(lines, 60)
    assert "45.0 %" not in narrow
    assert "left out for lack of room: spread" in narrow
    assert "45.0" not in latex_table(lines)
    assert latex_table(lines).startswith("% columns left out")
    assert "spread" in next(iter(csv_files([lines]).values()))


def test_a_table_without_rows_says_why() -> None:
    nothing = table(empty="Nobody has answered.")
    assert "Nobody has answered." in printed(nothing)
    assert "Nobody has answered." in html_page([nothing], "x")
    assert "Nobody has answered." in latex_table(nothing)
    assert document([nothing], {})["tables"][0]["rows"] == []
    assert csv_files([nothing])["lines.csv"].startswith("name,share,")


def test_a_file_name_cannot_leave_its_folder() -> None:
    named = table(FULL, subject=("../../etc", "a/b c"))
    assert re.fullmatch(r"[\w.-]+", named.stem)
    assert "/" not in named.stem


@given(st.text(), st.floats(allow_nan=True, allow_infinity=False))
def test_every_text_reaches_data_unchanged(text: str, value: float) -> None:
    line = Line(text, FULL.share, FULL.spread, value, 0.5, 1, Verdict.PASS, False, (text,))
    row = document([table(line)], {})["tables"][0]["rows"][0]
    assert row["name"] == text
    assert row["score"] == (None if math.isnan(value) else value)


def test_every_verdict_has_a_mark_and_a_word() -> None:
    column: Column[Any] = Column("verdict", "verdict", lambda verdict: verdict, Kind.VERDICT)
    assert [shown(verdict, column) for verdict in Verdict] == [
        "✓ pass",
        "✗ fail",
        "· few",
        "∅ void",
    ]


def test_no_more_columns_are_left_out_than_must_and_the_last_one_goes_first() -> None:
    of = table(FULL)
    columns = [replace(one, aside=one.key in ("spread", "n")) for one in of.columns]
    wide = printed(replace(of, columns=columns))
    tight = printed(replace(of, columns=columns), len(wide.split("\n")[1].rstrip()) - 1)
    assert "left out" not in wide
    assert "left out for lack of room: n." in tight


def test_a_header_from_data_is_no_formula() -> None:
    of = replace(table(FULL), columns=[Column("=cmd", "model", lambda row: row.score, Kind.SIZE)])
    assert csv_files([of])["lines.csv"].splitlines()[0] == "'=cmd"


def test_columns_without_room_for_their_least_width_stand_in_several_grids_that_repeat_the_texts_before_them() -> (
    None
):
    def of(n: int) -> Column[Line]:
        return Column(f"model-{n}", f"model {n}", lambda row: row.score, Kind.SCORE, least=14)

    name: Column[Line] = Column("name", "name", lambda row: row.name)
    columns = [name, *map(of, range(9))]
    wide = Table("wide", "Wide", [FULL], columns, key=lambda row: (row.name,))
    for width, grids in ((200, 1), (60, 3), (24, 9)):
        rows = [line for line in printed(wide, width).splitlines() if line.startswith("all")]
        assert len(rows) == grids
        assert " ".join(rows).count("+0.58") == 9


def test_a_word_that_is_longer_than_its_column_goes_on_in_the_next_line() -> None:
    name: Column[Line] = Column("name", "name", lambda row: row.name)
    long = Line("abcdefghij" * 9, *_rest(FULL))
    lines = printed(
        Table("long", "Long", [long], [name], key=lambda row: (row.name,)), 40
    ).splitlines()
    assert "".join(line.strip() for line in lines[2:]) == long.name


@given(
    cells=st.lists(st.tuples(*(st.integers(1, 12) for _ in range(4))), min_size=1, max_size=4),
    least=st.tuples(st.just(0), *(st.integers(6, 24) for _ in range(3))),
    width=st.integers(60, 160),
)
def test_no_word_of_a_sentence_is_cut_at_the_edge(
    cells: list[tuple[int, ...]], least: tuple[int, ...], width: int
) -> None:
    """Columns with a least width stand beside one another; what they have no room for goes on in
    the next line.
    """
    words = [
        [[f"{row}{place}{n:02}" for n in range(count)] for place, count in enumerate(of)]
        for row, of in enumerate(cells)
    ]
    words = [[[of[0][0]], *of[1:]] for of in words]

    def text(place: int) -> Callable[[list[list[str]]], str]:
        return lambda row: " ".join(row[place])

    columns: list[Column[Any]] = [
        Column(f"c{place}", f"c{place}", text(place), Kind.PROSE, least=fewest)
        for place, fewest in enumerate(least)
    ]
    found = printed(Table("t", "Title", words, columns, key=lambda row: (row[0][0],)), width)
    assert max(map(len, found.splitlines())) <= width
    for of in words:
        for word in (one for cell in of for one in cell):
            assert word in found
