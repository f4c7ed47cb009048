"""Lines of Home in a narrow terminal."""

from __future__ import annotations

import pytest

from workbench.pipeline.todo import Task
from workbench.tui.home.home_lines import AROUND, INDENT, _task


@pytest.mark.parametrize("width", [80, 100, 140])
@pytest.mark.parametrize(
    ("what", "route", "key"),
    [
        ("wait for an auditor: acme/a-model-with-a-name-that-goes-on-and-on-7b (reliability)", ("review",), " · V"),
        ("wait for an auditor: 長い名前のモデル長い名前のモデル長い名前のモデル (reliability)", ("review",), " · V"),
        ("of job 1234 (cancelled) are missing: Enter leads there, R goes on", ("jobs", "1"), "R goes on"),
    ],
)
def test_a_line_of_what_to_do_keeps_its_key_and_cuts_its_words(
    what: str, route: tuple[object, ...], key: str, width: int
) -> None:
    room = width - INDENT - AROUND
    line = _task(Task("k", "at least 516,240 items", what, route), room, first=True)
    assert line.plain.endswith(key)
    assert line.cell_length <= INDENT + room
    assert ("…" in line.plain) == (width < 140)


def test_a_line_that_fits_is_whole() -> None:
    line = _task(Task("k", "8 items", "wait for an auditor: smol (reliability)", ("review",)), 62, first=False)
    assert line.plain.strip() == "8 items  wait for an auditor: smol (reliability) · V"
