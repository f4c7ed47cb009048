"""The strict reader of yes and no: the first word, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.readings import Stance
from workbench.readers.rules import FirstWord

YES, NO = Stance.AGREE.value, Stance.DISAGREE.value


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("yes", YES),
        ("Yes.", YES),
        ("  **Yes**, no doubt about it", YES),
        ('"No"', NO),
        ("NO!", NO),
        ("no, although some say yes", NO),
        ("- Yes", YES),
        ("Yes and no", None),
        ("yes/no", None),
        ("'Yes' or 'no'", None),
        ("No or yes", None),
        ("Yes. And no more questions", YES),
        ("I say yes", None),
        ("The answer is no", None),
        ("Nope", None),
        ("yesterday", None),
        ("No-one knows", None),
        ("Not really", None),
        ("", None),
        ("   ", None),
        ("👍", None),
    ],
)
def test_the_first_word_decides_and_both_words_do_not(text: str, read: str | None) -> None:
    assert FirstWord("yes", "no").read(text).label == read


@pytest.mark.parametrize(
    ("labels", "text", "read"),
    [
        (("ja", "nein"), "Nein, danke", NO),
        (("igen", "nem"), "Igen.", YES),
        (("sí", "no"), "¡Sí!", YES),
    ],
)
def test_labels_are_those_of_the_template(labels: tuple[str, str], text: str, read: str) -> None:
    assert FirstWord(*labels).read(text).label == read


@given(st.text())
def test_any_text_is_read_or_said_to_be_unreadable(text: str) -> None:
    found = FirstWord("yes", "no").read(text)
    assert found.reason
    if found.label is not None:
        assert found.start is not None
        assert text[found.start : found.stop].casefold() == ("yes" if found.label == YES else "no")


@given(st.text(alphabet="abc ", max_size=12))
def test_what_follows_the_first_word_changes_nothing(rest: str) -> None:
    assert FirstWord("yes", "no").read("yes, " + rest).label == YES
