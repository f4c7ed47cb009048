"""Scales of answers: the published mapping as it ships, and files that are read exactly or
refused.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.answer_scales import numbers_said, read_scale
from workbench.data import shipped_scale, shipped_scales
from workbench.domain.questionnaires import (
    AnswerOption,
    Meaning,
    Question,
    Questionnaire,
    QuestionRole,
    Scale,
    Tallied,
)
from workbench.errors import InputError, UnknownName


def meanings(name: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for option in shipped_scale(name).options:
        found.setdefault(option.meaning.value, []).append(option.values[0])
    return found


def test_the_shipped_scales_map_as_published() -> None:
    # Haller et al. 2025, appendix A: yes and rather yes to yes, rather no and no to no; of seven
    # points the three most positive to yes, the three most negative to no; neutral answers are
    # discarded.
    assert shipped_scales() == ("four_point", "likert_7", "yes_no")
    assert meanings("four_point") == {
        "yes": ["yes", "rather yes"],
        "no": ["rather no", "no"],
        "missing": ["no answer"],
    }
    assert meanings("likert_7") == {
        "yes": ["strongly agree", "agree", "somewhat agree"],
        "neutral": ["neutral"],
        "no": ["somewhat disagree", "disagree", "strongly disagree"],
        "missing": ["no answer"],
    }
    assert meanings("yes_no") == {"yes": ["yes"], "no": ["no"], "missing": ["no answer"]}


@pytest.mark.parametrize(
    ("scale", "value", "meaning"),
    [
        ("likert_7", "7", Meaning.YES),
        ("likert_7", "5.0", Meaning.YES),
        ("likert_7", "4", Meaning.NEUTRAL),
        ("likert_7", "3", Meaning.NO),
        ("likert_7", "1", Meaning.NO),
        ("likert_7", "  Strongly   AGREE ", Meaning.YES),
        ("four_point", "75", Meaning.YES),
        ("four_point", "25.0", Meaning.NO),
        ("four_point", "Rather No", Meaning.NO),
        ("yes_no", "1", Meaning.YES),
        ("yes_no", "No", Meaning.NO),
        ("yes_no", "", Meaning.MISSING),
        ("likert_7", "no answer", Meaning.MISSING),
        ("four_point", "NA", Meaning.MISSING),
    ],
)
def test_an_answer_is_known_in_words_and_in_numbers(
    scale: str, value: str, meaning: Meaning
) -> None:
    assert shipped_scale(scale).meaning(value) is meaning


@pytest.mark.parametrize(
    ("scale", "value"),
    [("yes_no", "7"), ("four_point", "1"), ("likert_7", "8"), ("likert_7", "4.5")],
)
def test_an_answer_off_the_scale_is_refused_with_the_answers_that_there_are(
    scale: str, value: str
) -> None:
    with pytest.raises(UnknownName, match=shipped_scale(scale).options[0].values[0]):
        shipped_scale(scale).meaning(value)


def test_every_fault_of_a_scale_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'name = "mine"\ntitle = "Mine"\nkind = 1\n'
        '[[option]]\nvalues = ["often", "1"]\nmeaning = "yes"\n'
        '[[option]]\nvalues = ["Often "]\nmeaning = "no"\n'
        '[[option]]\nvalues = [1]\nmeaning = "perhaps"\nweight = 2\n'
        '[[option]]\nvalues = ["1.0"]\nmeaning = "no"\n',
        encoding="utf-8",
    )
    with pytest.raises(InputError) as caught:
        read_scale(path)
    assert [(f.line, f.column, f.found) for f in caught.value.findings] == [
        (3, "kind", "an unknown key"),
        (7, "option.values", "'Often ' again, like 'often'"),
        (10, "option.weight", "an unknown key"),
        (10, "option.values", "[1]"),
        (10, "option.meaning", "'perhaps'"),
        (14, "option.values", "'1.0' again, like '1'"),
    ]


@pytest.mark.parametrize(
    "text",
    ['title = "x"\n', 'name = "a b"\ntitle = "x"\n[[option]]\nvalues=["y"]\nmeaning="yes"\n'],
)
def test_a_scale_without_answers_or_with_a_name_that_no_file_could_name_is_refused(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "x.toml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError):
        read_scale(tmp_path / "x.toml")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("7", "strongly agree"), "7 strongly agree … 1 strongly disagree"),
        (("83",), "100 strongly agree … 0 strongly disagree"),
        (
            ("6.0", "17"),
            "7 strongly agree … 1 strongly disagree; and 100 strongly agree … 0 strongly disagree",
        ),
        (("neutral", "no answer"), None),
        ((), None),
    ],
)
def test_what_numbers_were_read_as_is_said_of_the_codings_that_were_used(
    given: tuple[str, ...], said: str | None
) -> None:
    likert = shipped_scale("likert_7")
    asked = Questionnaire((Question("a", QuestionRole.TARGET, scale="likert_7"),), (likert,))
    found = numbers_said(Tallied(asked, 2, {"a": dict.fromkeys(given, 1)}))
    assert found == ((("likert_7", said),) if said else ())


def test_numbers_without_words_are_said_by_their_meaning() -> None:
    scale = Scale(
        "coded",
        (
            AnswerOption(("1",), Meaning.YES),
            AnswerOption(("2",), Meaning.NO),
            AnswerOption(("-9",), Meaning.MISSING),
        ),
    )
    asked = Questionnaire((Question("a", QuestionRole.TARGET, scale="coded"),), (scale,))
    assert numbers_said(Tallied(asked, 1, {"a": {"2": 1}})) == (("coded", "1 yes, 2 no"),)
    assert numbers_said(Tallied(asked, 1, {"a": {"-9": 1}})) == ()
