"""The economic x cultural plane in characters: points, crosses of intervals, letters that do not
hide each other.
"""

from __future__ import annotations

import math

from workbench.domain.verdicts import Estimate
from workbench.figures.table import AnyTable, Column, Kind, Table
from workbench.tui.results.plane_picture import PlanePicture, points
from workbench.tui.widgets.pictures import (
    FULL_SCALE,
    HOLLOW_MARKS,
    MARKS,
    CoordinateInterval,
    CoordinatePoint,
    PlaneRange,
    draw,
    fitted,
)
from workbench.tui.widgets.pictures import picture as scaled


def at(letter: str, x: float, y: float, mark: str = "●", reach: float = 0.0) -> CoordinatePoint:
    ends = [(v - reach, v + reach) if reach else (math.nan, math.nan) for v in (x, y)]
    return CoordinatePoint(
        letter, CoordinateInterval(x, *ends[0]), CoordinateInterval(y, *ends[1]), mark
    )


def picture(
    points: list[CoordinatePoint], scale: PlaneRange = FULL_SCALE, width: int = 66, height: int = 22
) -> list[str]:
    """Return rows of a picture whose inner part is 60 x 21: rows are 0.1, columns 2/59 of the
    plane.
    """
    return ["".join(sign for sign, _ in row) for row in draw(points, width, height, scale)]


def test_every_row_is_as_wide_as_asked_for_and_too_little_room_draws_nothing() -> None:
    for width, height in ((66, 22), (24, 5), (200, 60)):
        rows = picture([at("A", 0.3, -0.3, reach=0.2)], width=width, height=height)
        assert [len(row) for row in rows] == [width] * height
    assert {sign for row in picture([at("A", 0, 0)], width=10, height=3) for sign in row} == {" "}


def test_a_mark_stands_where_its_values_are_and_its_letter_beside_it() -> None:
    rows = picture([at("A", -1, 1), at("B", 1, -1), at("C", 0.5, 0.3)])
    assert rows[0][5:7] == "●A"
    assert rows[20][63:65] == "B●"
    assert rows[7][5 + round(0.75 * 59)] == "●"
    assert rows[7][5 + round(0.75 * 59) + 1] == "C"


def test_the_axes_go_through_0_and_their_ends_are_named() -> None:
    rows = picture([])
    assert "economic left" in rows[10]
    assert "economic right" in rows[10]
    assert rows[10].startswith("   0 ")
    assert "┊ cultural right" in rows[0]
    assert "┊ cultural left" in rows[20]
    assert rows[0].startswith("+1.0")
    assert rows[21].split() == ["-1.0", "0", "+1.0"]


def test_the_cross_reaches_as_far_as_both_intervals() -> None:
    rows = picture(
        [
            CoordinatePoint(
                "A", CoordinateInterval(0.0, -0.5, 0.5), CoordinateInterval(0.5, 0.2, 0.8)
            )
        ]
    )
    row, column = 5, 5 + 30
    assert (rows[row].index("├"), rows[row].rindex("┤")) == (5 + 15, 5 + 44)
    assert rows[row][column : column + 2] == "●A"
    assert (rows[2][column], rows[8][column]) == ("┬", "┴")
    assert {rows[line][column] for line in (3, 4, 6, 7)} == {"│"}


def test_points_on_one_place_stand_beside_each_other_with_their_own_marks() -> None:
    rows = picture([at("A", 0.5, 0.5), at("B", 0.5, 0.5), at("C", 0.5, 0.5, "◆")])
    assert "●AB◆C" in rows[5]


def test_neighbouring_points_do_not_hide_each_other() -> None:
    step = 2 / 59
    rows = picture([at("A", 0.5, 0.5), at("B", 0.5 + step, 0.5), at("C", 0.5 + 2 * step, 0.5)])
    assert "●●●" in rows[5]
    text = "\n".join(rows)
    assert all(text.count(letter) == 1 for letter in "ABC")


def test_many_points_on_the_edge_still_have_every_letter() -> None:
    points = [at(letter, 1, 1 - 0.1 * (n % 3)) for n, letter in enumerate("ABCDEFGHI")]
    text = "\n".join(picture(points))
    assert all(letter in text for letter in "ABCDEFGHI")


def test_what_lies_beyond_the_scale_is_drawn_at_its_edge_with_arrows() -> None:
    point = CoordinatePoint(
        "A", CoordinateInterval(0.9, 0.2, 1.0), CoordinateInterval(0.0, -0.4, 0.05)
    )
    rows = picture([point], PlaneRange(-0.5, 0.5, -0.1, 0.1))
    row = next(line for line in rows if "●" in line)
    assert row[64] == "●"
    assert row[63] == "A"
    assert rows[20][64] == "▾"


def test_a_point_without_a_coordinate_is_not_drawn() -> None:
    undefined = CoordinatePoint("A", CoordinateInterval(math.nan), CoordinateInterval(0.5))
    assert picture([undefined]) == picture([])
    assert not undefined.placed


def test_the_near_scale_holds_all_intervals_and_0_with_one_unit_on_both_axes() -> None:
    scale = fitted(
        [
            CoordinatePoint(
                "A", CoordinateInterval(-0.3, -0.62, -0.1), CoordinateInterval(0.2, 0.1, 0.31)
            )
        ]
    )
    assert scale.left <= -0.62
    assert scale.right == 0
    assert scale.top >= 0.31
    assert scale.bottom <= 0
    assert math.isclose(scale.right - scale.left, scale.top - scale.bottom)
    assert fitted([]) == FULL_SCALE
    assert (
        fitted([CoordinatePoint("A", CoordinateInterval(-1, -1, 1), CoordinateInterval(0))])
        == FULL_SCALE
    )


def _row(few: str) -> Estimate:
    low = math.nan if few else 0.2
    return Estimate(0.5, low, low + 0.6, 8, few=few, interval="" if few else "bias over statements")


def test_a_point_on_which_too_little_rests_has_a_hollow_mark() -> None:
    """Not a full dot as if a whole instrument stood behind it; its mark still tells the source."""
    few = "too few for an interval: 2 statements on the left"
    rows = [("a", "PCT", ""), ("a", "WVS", ""), ("b", "PCT", few), ("b", "WVS", few)]
    table: AnyTable = Table(
        "plane",
        "",
        rows,
        [
            Column("model", "model", lambda row: row[0]),
            Column("source", "source", lambda row: row[1]),
            Column("economic", "economic", lambda row: _row(row[2]), Kind.SCORE),
            Column("cultural", "cultural", lambda row: _row(""), Kind.SCORE),
        ],
        key=lambda row: row[:2],
    )
    assert [(point.mark, point.letter) for point in points(table, None)] == [
        ("●", "A"),
        ("◆", "A"),
        ("○", "B"),
        ("◇", "B"),
    ]
    signs = PlanePicture.signed(table).columns[0]
    assert [signs.value(row) for row in rows] == ["●A", "◆A", "○B", "◇B"]
    assert len(MARKS) == len(HOLLOW_MARKS) == len({*MARKS, *HOLLOW_MARKS}) / 2


def test_a_value_on_which_too_little_rests_has_a_hollow_dot_on_every_scale() -> None:
    few, enough = (
        Estimate(1.0, math.nan, math.nan, 1, few="too few"),
        Estimate(1.0, math.nan, math.nan, 90),
    )
    for scale in ((-1.0, 1.0), (0.0, 1.0)):
        assert "○" in scaled(few, 21, scale).plain
        assert "●" not in scaled(few, 21, scale).plain
        assert "●" in scaled(enough, 21, scale).plain
