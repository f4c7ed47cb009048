"""Exported answers have a label only if the question offers the letter."""

from __future__ import annotations

import pytest

from workbench.tidy.answers import NOT_OFFERED, _without_label_not_offered


@pytest.mark.parametrize(
    ("label", "n_options", "exported"),
    [
        ("b", 2, ("b", "b")),
        ("c", 2, (None, NOT_OFFERED)),
        ("agree", 0, ("agree", "agree")),
        (None, 2, (None, "unreadable")),
    ],
)
def test_a_letter_that_the_question_lacks_is_no_label(
    label: str | None, n_options: int, exported: tuple[str | None, str]
) -> None:
    values = ("rule", "first-letter", "1", None, label, label or "unreadable", "", None)
    found = _without_label_not_offered(values, n_options)
    assert found[4:6] == exported
    assert (found[:4], found[6:]) == (values[:4], values[6:])
