"""A declared option reads, refuses, shows and records a value in one way, whoever asks."""

from __future__ import annotations

from types import SimpleNamespace

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from workbench.audits.bias_score.options import ScoreOptions, SidesOptions
from workbench.audits.consistency.options import ConsistencyOptions
from workbench.audits.questionnaire import options as questionnaire
from workbench.audits.reliability import options as reliability
from workbench.audits.response_bias.options import RUN_OPTIONS, ChangeOptions
from workbench.errors import FieldError
from workbench.options import shared
from workbench.options.flags import parameter
from workbench.options.option import Option, Type, recorded

RELIABILITY = reliability.ReliabilityOptions.declared()
DECLARED = (
    *(one for one in vars(shared).values() if isinstance(one, Option)),
    *(*reliability.ReliabilityOptions.flags(), *reliability.RUN_OPTIONS),
    *(*questionnaire.PredictionOptions.flags(), *questionnaire.RUN_OPTIONS),
    *(*ChangeOptions.flags(), *ScoreOptions.flags(), *SidesOptions.flags(), *RUN_OPTIONS),
)
NUMBERS = tuple(one for one in DECLARED if one.type in (Type.WHOLE, Type.NUMBER))
TYPED = st.one_of(
    st.integers(-5, 200_000).map(str),
    st.floats(allow_nan=True, allow_infinity=True).map(str),
    st.text("0123456789.,-e all", max_size=8),
)


def in_form(option: Option, typed: str) -> object:
    try:
        return option.read(typed)
    except FieldError as error:
        return error.reason if error.field == option.name else error


def as_flag(option: Option, typed: str) -> object:
    got: list[object] = []
    command = click.Command(
        "verb",
        params=[parameter(option)],
        callback=lambda **values: got.append(values[option.name]),
    )
    ended = CliRunner().invoke(command, [f"{option.flag}={typed}"])
    if got:
        return got[0]
    assert ended.exit_code == 2
    return ended.output.partition(f"{option.flag}: ")[2].rstrip("\n")


@given(st.sampled_from(NUMBERS), TYPED)
def test_a_flag_and_a_field_take_and_refuse_the_same_numbers(option: Option, typed: str) -> None:
    assert as_flag(option, typed) == in_form(option, typed)


@pytest.mark.parametrize("option", DECLARED, ids=lambda one: one.name)
def test_a_default_is_a_value_that_the_option_takes(option: Option) -> None:
    if option.default is not None and option.type is not Type.FLAG:
        assert option.read(option.text()) == option.default


@pytest.mark.parametrize(
    ("option", "typed", "reason"),
    [
        (shared.SAMPLES, "many", "samples: found 'many'; give a whole number, 1 to 1,000,000"),
        (shared.SAMPLES, "0", "samples: found 0; give 1 to 1,000,000"),
        (shared.TOP_P, "1.5", "top-p: found 1.5; give more than 0 and at most 1"),
        (shared.TEMPERATURE, "nan", "temperature: found nan; give more than 0 and at most 100"),
        (
            RELIABILITY["rule"].option,
            "prnted",
            "rule: found 'prnted'; did you mean printed? Otherwise give printed or coded",
        ),
        (RELIABILITY["low"].option, "-0.5", "low: found -0.5; give 0 to 1"),
        (questionnaire.RESPONDENTS, "-1", "respondents: found -1; give 0 or more"),
    ],
)
def test_an_error_says_what_was_found_and_what_to_give(
    option: Option, typed: str, reason: str
) -> None:
    with pytest.raises(FieldError, match=r".") as refused:
        option.read(typed)
    assert str(refused.value) == reason


def test_a_choice_is_read_however_it_is_joined() -> None:
    kind = Option("kind", choices=("key_typo", "letter_swap"))
    assert {kind.read(typed) for typed in ("key typo", "Key-Typo", "key_typo")} == {"key_typo"}


def test_the_help_says_what_stands_where_nothing_is_given() -> None:
    assert shared.SEED.of("the draw").explained == "seed of the draw (default: 1)"
    assert shared.MODEL.explained == "its name (default: the only one)"
    assert shared.YES.explained == "do not ask before starting"


def test_a_record_holds_plain_values() -> None:
    values = SimpleNamespace(seed=1, sampling=None, tests=("a", "b"))
    assert recorded((shared.SEED, shared.SAMPLING, RELIABILITY["tests"].option), values) == {
        "seed": 1,
        "sampling": None,
        "tests": ["a", "b"],
    }


def test_one_name_has_one_type_and_one_seed_one_default() -> None:
    assert {one.default for one in DECLARED if one.name == "seed"} == {1}


def test_what_the_published_rules_set_is_said_in_words() -> None:
    assert (
        ConsistencyOptions().published_said()
        == ConsistencyOptions().with_values(rule="coded").published_said()
        == ""
    )
    assert ConsistencyOptions().with_values(as_published=True).published_said() == (
        "As published: rule coded; void tests judged; stances that pass the published test"
    )
