"""`model_answers.csv`: answers of models come back as they were, and every fault is named with its
place.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.response_answers import answers
from workbench.domain.choices import (
    LETTERS,
    AnsweredPair,
    AnswerSet,
    ArmAnswers,
    Bias,
    Perturbation,
)
from workbench.formats.model_answers import (
    MODEL_ANSWERS,
    model_answers_csv,
    read_model_answers,
    without_zeros,
)
from workbench.formats.records import Findings

HEADER = "model,bias,condition,key,form,recorded,offered,n_a,n_b\n"
GOOD = "m,odd_even,,k,original,5,5,1,2\nm,odd_even,,k,changed,5,4,3,\n"

NUMBERS = st.integers(0, 60)
FORMS = st.builds(
    ArmAnswers,
    st.dictionaries(st.sampled_from(["", *LETTERS]), NUMBERS, max_size=4),
    st.integers(2, 26),
    st.integers(2, 26),
    NUMBERS,
)
NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1, max_size=6
).filter(lambda name: name == name.strip())
SETS = st.builds(
    AnswerSet,
    NAMES,
    st.sampled_from(Bias),
    st.none() | st.sampled_from(Perturbation),
    st.lists(
        st.builds(AnsweredPair, NAMES, FORMS, FORMS),
        min_size=1,
        max_size=3,
        unique_by=lambda p: p.key,
    ).map(tuple),
    st.integers(1, 3),
    st.booleans(),
    st.just("") | NAMES,
)


def read(path: Path, text: str) -> tuple[tuple[AnswerSet, ...], Findings]:
    path.write_bytes(text.encode())
    findings = Findings()
    return read_model_answers(path, findings), findings


@settings(max_examples=25)
@given(
    st.lists(
        SETS,
        max_size=3,
        unique_by=lambda one: (one.model, one.bias, one.variant, one.condition, one.draw),
    ).map(tuple)
)
def test_answers_that_are_written_read_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, sets: tuple[AnswerSet, ...]
) -> None:
    path = tmp_path_factory.getbasetemp() / MODEL_ANSWERS
    found, findings = read(path, model_answers_csv(sets))
    assert findings.found == []
    assert found == tuple(map(without_zeros, sets))


def test_letters_that_were_not_offered_and_answers_without_a_letter_are_kept(
    tmp_path: Path,
) -> None:
    one = answers(Bias.ODD_EVEN, [("abz ", "eee")], offered=(5, 4), recorded=(5, 5))
    assert read(tmp_path / "a.csv", model_answers_csv([one]))[0] == (one,)


@pytest.mark.parametrize(
    ("rows", "place", "said"),
    [
        (
            "m,odd_even,,k,original,5,5,1,2\n",
            (2, "form"),
            "'original' alone for 'k'; expected a row for each",
        ),
        (GOOD + "m,odd_even,,k,changed,5,4,3,\n", (4, "key"), "'k', 'changed' again, after line 3"),
        (GOOD.replace(",1,2", ",-1,2"), (2, "n_a"), "'-1'; expected a whole number from 0"),
        (GOOD.replace(",1,2", ",1.5,2"), (2, "n_a"), "'1.5'"),
        (GOOD.replace("5,5", "5,1"), (2, "offered"), "'1'; expected a whole number from 2 to 26"),
        (GOOD.replace("5,5", ",5"), (2, "recorded"), "an empty cell"),
        (
            GOOD.replace("odd_even", "odd"),
            (2, "bias"),
            "an unknown bias 'odd'; expected one of acquiescence",
        ),
        (
            GOOD.replace(",,k", ",typo,k"),
            (2, "condition"),
            "an unknown condition 'typo'; expected one of key_typo",
        ),
        (GOOD.replace("changed", "other"), (3, "form"), "an unknown form 'other'"),
    ],
)
def test_a_fault_is_named_with_its_line_and_column(
    tmp_path: Path, rows: str, place: tuple[int, str], said: str
) -> None:
    _, findings = read(tmp_path / MODEL_ANSWERS, HEADER + rows)
    first = findings.found[0]
    assert (first.file, first.line, first.column) == (MODEL_ANSWERS, *place)
    assert said in str(first)


def test_a_column_that_is_no_letter_and_two_words_for_one_set_are_faults(tmp_path: Path) -> None:
    text = HEADER.replace("n_b", "n_ab,mapped_back") + GOOD.replace("1,2", "1,2,yes").replace(
        "3,", "3,,no"
    )
    _, findings = read(tmp_path / MODEL_ANSWERS, text)
    assert [(one.line, one.column) for one in findings.found] == [(1, "n_ab"), (3, "mapped_back")]
