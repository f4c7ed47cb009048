"""The gate for text that is painted."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from workbench.figures.visible import visible

HOSTILE = (
    "\x1b]52;c;ZXZpbA==\x07 \x1b]0;title\x07 \x1b[2J \u202egnihton\u202c \r\b\x9b31m \u2066x\u2069"
)
"""sets the clipboard, sets the title, clears the screen, reverses what follows, overwrites the
line, C1 colour, isolates"""


def test_nothing_hostile_is_left() -> None:
    shown = visible(HOSTILE)
    assert shown.isprintable()
    assert "␛]52;c;ZXZpbA==␇" in shown
    assert "\\u202egnihton\\u202c" in shown


@given(st.text())
def test_only_printing_characters_and_line_feeds_pass(text: str) -> None:
    assert visible(text).isprintable()
    for line in visible(text, lines=True).split("\n"):
        assert line.isprintable()
        assert not any(
            unicodedata.bidirectional(c) in {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI"}
            for c in line
        )


@given(st.text(st.characters(categories=["L", "N", "P", "S"])))
def test_text_that_prints_stays_as_it_is(text: str) -> None:
    assert visible(text) == text
