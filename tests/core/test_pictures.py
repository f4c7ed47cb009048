"""Pictures of tables: their values are the tables', a sentence says what they show, and files of
them are safe.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.domain.verdicts import Estimate, MeanSd, RepeatedVerdict, Verdict
from workbench.errors import UsageError
from workbench.figures.pictures.kinds import MOST_ROWS, Axis, Grid, Intervals
from workbench.figures.pictures.of_table import (
    Curves,
    Forest,
    Matrix,
    Scatter,
    Stacked,
    Star,
    axis_of,
    pictures_of,
)
from workbench.figures.pictures.picture import Picture, split
from workbench.figures.table import AnyTable, Column, Kind, Table
from workbench.figures.write.pictures import drawn, pdf, picture_files, svg
from workbench.figures.write.plots.fonts import PART, WHOLE, families
from workbench.report.pictures import FORMS, DrawingProcess

matplotlib = pytest.importorskip("matplotlib", reason="pictures as files need the extra `report`")
NAN = math.nan
HOSTILE = '</svg><script>alert(1)</script> $\\frac{1}{0}$ "x" \x1b[2J & ‮'
SVG = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True)
class Line:
    """A row of a table of these tests."""

    name: str
    model: str
    share: Estimate
    other: Estimate
    place: float = 0.5
    verdict: Verdict = Verdict.PASS
    mark: bool = False


def estimate(value: float, *, few: str = "") -> Estimate:
    half = NAN if few else 0.1
    return Estimate(value, value - half, value + half, 20, few=few)


LINES = (
    Line("left", "one", estimate(0.4), estimate(-0.2), 0.1),
    Line(
        "left",
        "two",
        estimate(0.7, few="too few for an interval"),
        estimate(0.3),
        0.1,
        Verdict.FAIL,
    ),
    Line(
        "right",
        "one",
        Estimate(NAN, NAN, NAN, 0, 0, "all answers equal"),
        estimate(0.1),
        0.9,
        mark=True,
    ),
    Line("right", "two", estimate(0.2), estimate(0.9), 0.9, Verdict.VOID),
    Line(HOSTILE, "one", estimate(0.5), estimate(0.0), 0.5, Verdict.INSUFFICIENT),
)
FOREST = Forest(values=["share"], rows=["name"], series="model", reference="chance")
EVERY: Sequence[Callable[[AnyTable], Picture]] = (
    FOREST,
    Forest(values=["share", "other"], rows=["name", "model"]),
    Star(value="share", spoke="name", series="model"),
    Matrix(columns=["verdict", "verdict"], rows=["name", "model"]),
    Matrix(columns=["share", "other"], rows=["name", "model"], titles=("whose", "which")),
    Curves(x="place", values=["share", "other"], series="", marked="mark"),
    Scatter(x="share", y="other", rows=["name"], series="model", identity="both agree"),
    Scatter(x="other", y="share", rows=["name"], square=True),
    Stacked(values=["share", "other"], rows=["name", "model"]),
)


def table(
    lines: Sequence[Line] = LINES, pictures: Sequence[Callable[[AnyTable], Picture]] = EVERY
) -> AnyTable:
    return Table(
        "shares",
        f"Shares {HOSTILE}",
        lines,
        [
            Column("name", "name", lambda row: row.name),
            Column("model", "model", lambda row: row.model),
            Column(
                "share",
                "share",
                lambda row: row.share,
                Kind.SHARE,
                scale=(0, 1),
                reference=lambda _: 0.5,
            ),
            Column("other", HOSTILE, lambda row: row.other, Kind.SCORE, scale=(-1, 1)),
            Column("place", "confidence", lambda row: row.place, Kind.COEFFICIENT),
            Column("verdict", "test", lambda row: row.verdict, Kind.VERDICT),
            Column("mark", "chosen", lambda row: row.mark, Kind.MARK),
        ],
        key=lambda row: (row.name, row.model),
        definition="Shares of answers.",
        pictures=pictures,
    )


def test_a_forest_has_the_very_values_of_the_cells() -> None:
    found = FOREST(table())
    assert [point.value for point in found.points] == [line.share for line in LINES]
    assert [(point.label, point.series) for point in found.points[:2]] == [
        ("left", "one"),
        ("left", "two"),
    ]
    assert (found.axis.low, found.axis.high, found.axis.label) == (0, 1, "share (%)")
    assert {point.references for point in found.points} == {(0.5,)}


def test_what_is_undefined_or_rests_on_too_little_is_said_in_words() -> None:
    said = FOREST(table()).alt
    assert "right, one undefined: all answers equal" in said
    assert "left, two 70.0 % (hollow)" in said
    assert "Hollow: 1 (too few for an interval)." in said
    many = table([replace(line, name=f"{line.name} {n}") for n in range(9) for line in LINES])
    said = FOREST(many).alt
    assert "Undefined: 9 (all answers equal)." in said
    assert "Hollow: 9 (too few for an interval)." in said


def test_several_columns_are_series_and_values_of_other_types_are_taken() -> None:
    of = table()
    means = [
        replace(of.columns[2], value=lambda _: MeanSd(0.25, 0.1, 6, 0)),
        *of.columns[:2],
        of.columns[4],
    ]
    found = Forest(values=["share", "place"], rows=["name"])(replace(of, columns=means))
    assert found.series == ["share", "confidence"]
    assert found.points[0].value == Estimate(0.25, NAN, NAN, 6, 0) or math.isnan(
        found.points[0].value.low
    )


def test_a_grid_shows_verdicts_with_their_counts() -> None:
    of = table()
    outcomes = [
        of.columns[0],
        Column("test", "test", lambda _: RepeatedVerdict(Verdict.FAIL, 4, 6), Kind.VERDICT),
    ]
    found = Matrix(columns=["test"], rows=["name"])(replace(of, columns=outcomes))
    assert [cell.text for (cell,) in found.cells] == ["✗ 4/6"] * len(LINES)
    assert "test: 5 fail." in found.alt


def test_a_spider_keeps_the_place_of_what_is_undefined() -> None:
    found = EVERY[2](table())
    assert found.alt.count("undefined") == 2, (
        "one is undefined, and the second model has no third name"
    )


@pytest.mark.e2e
@pytest.mark.parametrize("of", [0, 1, 239, 5000])
def test_a_large_picture_is_split_into_pages_that_hold_every_row_once(of: int) -> None:
    lines = [replace(LINES[0], name=f"statement {n}") for n in range(of)]
    grid = Matrix(columns=["verdict"], rows=["name"])(table(lines))
    pages = grid.pages()
    assert [row for page in pages for row in page.rows] == [line.name for line in lines]
    assert all(isinstance(page, Grid) and len(page.rows) <= MOST_ROWS for page in pages)
    assert len({page.stem for page in pages}) == len(pages)
    forest = Forest(values=["share"], rows=["name"])(table(lines))
    assert [point for page in forest.pages() for point in page.points] == list(forest.points)


@given(st.integers(0, 500), st.integers(1, 60))
def test_parts_hold_everything_and_are_of_nearly_one_length(n: int, most: int) -> None:
    parts = split(range(n), most)
    assert [one for part in parts for one in part] == list(range(n))
    assert max(map(len, parts)) <= most
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@given(st.floats(-100, 100), st.floats(1e-3, 100))
def test_ticks_are_few_and_round_and_on_the_axis(low: float, span: float) -> None:
    axis = Axis("share", Kind.COEFFICIENT, low, low + span)
    assert 2 <= len(axis.ticks) <= 7
    assert all(low - 1e-6 * span <= tick <= low + span + 1e-6 * span for tick in axis.ticks)
    assert all(len(axis.tick(tick)) <= 9 for tick in axis.ticks)


def test_a_table_without_rows_has_no_picture() -> None:
    assert pictures_of(table([])) == []
    assert pictures_of(table(LINES[:2], [EVERY[2]])) == [], "a spider of one spoke"


# ── files ─────────────────────────────────────────────────────────────────────────────────────────


def every_picture() -> list[Picture]:
    return pictures_of(table())


@pytest.mark.e2e
@pytest.mark.parametrize("within", [None, "p-1"])
def test_an_svg_is_whole_xml_that_a_strict_page_may_hold(within: str | None) -> None:
    for picture in every_picture():
        text = svg(picture, within=within)
        root = ElementTree.fromstring(text)
        tags = {element.tag.removeprefix(SVG) for element in root.iter()}
        assert not tags & {"script", "style", "metadata", "foreignObject", "image", "a"}
        names = [name for element in root.iter() for name in element.attrib]
        assert "style" not in names
        assert not any(name.startswith("on") for name in names)
        links = [
            value
            for element in root.iter()
            for name, value in element.attrib.items()
            if name.endswith("href")
        ]
        assert all(link.startswith("#") for link in links)
        ids = [value for element in root.iter() if (value := element.get("id"))]
        assert len(set(ids)) == len(ids)
        assert all(one.startswith("p-1-") for one in ids if within)
        assert "\x1b" not in text
        assert ("currentColor" in text) is (within is not None)
        assert root.findtext(f"{SVG}desc") == picture.alt.replace("\x1b", "␛").replace(
            "‮", "\\u202e"
        )


def test_an_svg_shows_hostile_text_as_it_stands() -> None:
    root = ElementTree.fromstring(svg(FOREST(table())))
    shown = [element.text or "" for element in root.iter(f"{SVG}text")]
    assert any("</svg><script>alert(1)</script> $\\frac" in text for text in shown)


@pytest.mark.e2e
def test_the_same_picture_gives_the_same_svg_and_pdf() -> None:
    for picture in every_picture():
        assert svg(picture) == svg(picture)
    first = pdf(FOREST(table()))
    assert first == pdf(FOREST(table()))
    assert first.startswith(b"%PDF")
    assert b"CreationDate" not in first


@pytest.mark.e2e
@settings(max_examples=8, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=60), st.floats(-1, 1)), min_size=1, max_size=6))
def test_any_text_makes_an_svg(cells: list[tuple[str, float]]) -> None:
    lines = [Line(name, name, estimate(value), estimate(-value), value) for name, value in cells]
    pages = [page for picture in pictures_of(table(lines, EVERY[:5])) for page in picture.pages()]
    assert pages
    for page in pages:
        root = ElementTree.fromstring(svg(page))
        assert root.tag.endswith("svg")
        assert root.findtext("{*}desc"), "a screen reader has something to say"


@pytest.mark.e2e
def test_files_as_svg_and_pdf_have_a_name_for_each_page() -> None:
    lines = [replace(LINES[0], name=f"statement {n}") for n in range(100)]
    files = picture_files(
        [table(lines, [Matrix(columns=["verdict"], rows=["name"], suffix="tests")])]
    )
    assert sorted(files) == [
        f"shares_tests-{page}.{form}" for page in (1, 2) for form in ("pdf", "svg")
    ]
    with pytest.raises(UsageError, match="none of these figures has a picture"):
        picture_files([table(pictures=())])


def test_intervals_of_a_table_are_intervals() -> None:
    (found, *_) = pictures_of(table())
    assert isinstance(found, Intervals)


def test_a_pdf_holds_letters_beyond_the_part_of_the_font() -> None:
    """Hebrew is not in the part that most texts are drawn with, and is in the whole font."""
    lines = [replace(LINES[0], name=name) for name in ("plain", "א")]
    found = pdf(FOREST(table(lines)))
    assert b"DejaVuSans" in found
    assert b"LastResort" not in found
    assert b"LastResort" in pdf(FOREST(table([replace(LINES[0], name="\U0001f9a9")])))


def test_bytes_do_not_depend_on_where_the_fonts_lie() -> None:
    """Matplotlib writes fonts in the order of their paths; one folder sorts before its own fonts,
    the other after.
    """
    shipped = Path(matplotlib.get_data_path()).resolve()
    if not shipped.is_relative_to(sys.prefix) or not os.access(sys.prefix, os.W_OK):
        pytest.skip(f"nothing can be written beside matplotlib's fonts in {shipped}")
    pictures = [
        pictures_of(table([replace(LINES[0], name=name)]))[0]
        for name in ("plain", "plain א", "\U0001f9a9")
    ]
    files = []
    for prefix in ("!before-", "~after-"):
        with (
            TemporaryDirectory(prefix=prefix, dir=sys.prefix) as folder,
            DrawingProcess(Path(folder)) as process,
        ):
            process.begin(pictures)
            files.append([process.drawn(picture) for picture in pictures])
    assert files[0] == files[1]


def test_the_part_of_the_font_is_drawn_with_first() -> None:
    assert families() == [PART, WHOLE]
    assert len(pdf(FOREST(table()))) < 60_000, "the whole font is ten times as large"


def test_a_process_of_its_own_draws_the_same_bytes_and_where_it_ends_they_are_drawn_here(
    tmp_path: Path,
) -> None:
    first, later = pictures_of(table()), pictures_of(table(LINES[:2]))[:2]
    with DrawingProcess(tmp_path) as process:
        process.begin(first)
        found = [process.drawn(picture) for picture in first]
        assert process._process is not None
        assert process._finished == len(first)
        process._process.kill()
        process.begin(later)
        again = [process.drawn(picture) for picture in later]
    assert found + again == [tuple(drawn(picture, *FORMS)) for picture in (*first, *later)]


def test_a_picture_has_the_same_bytes_in_every_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of one length, but not of one width.
    lines = [replace(LINES[0], name=sign * 5) for sign in "iltfWMmwRQ"]
    (picture,) = pictures_of(table(lines, [Forest(values=["share"], rows=["name"])]))
    for seed in "12":
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        with DrawingProcess(tmp_path) as process:
            process.begin([picture])
            assert process.drawn(picture) == tuple(drawn(picture, *FORMS))


def test_marks_of_chance_and_of_people_lie_on_the_line_of_a_model() -> None:
    one = Table(
        "right",
        "Right answers",
        LINES[:2],
        [
            Column("model", "model", lambda row: row.model),
            Column(
                "share", "share", lambda row: row.share, Kind.SHARE, reference=lambda _: (0.5, NAN)
            ),
        ],
        key=lambda row: (row.model,),
        pictures=[Forest(values=["share"], rows=["model"], reference=("a coin", "people"))],
    )
    (picture,) = pictures_of(one)
    assert isinstance(picture, Intervals)
    assert picture.reference == ("a coin", "people")
    text = svg(picture)
    assert "a coin" in text
    assert "people" in text


def test_an_axis_holds_a_value_outside_the_scale_of_its_column() -> None:
    column: Column[float] = Column("gain", "gain", lambda row: row, Kind.SHARE, scale=(-1.0, 1.0))
    inside, outside = Estimate(0.5, 0.4, 0.6, 9), Estimate(-9.1, -9.4, -8.6, 9)
    axis = axis_of(column, [inside, outside])
    assert axis.low <= -9.1 < 0.5 <= axis.high
    axis = axis_of(column, [inside])
    assert (axis.low, axis.high) == (-1.0, 1.0)
