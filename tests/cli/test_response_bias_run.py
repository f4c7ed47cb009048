"""`workbench run` and `demo --audit response_bias`: what is planned, which questions, and what is
refused.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from stores.core.store import Store
from tests.cli.test_commands import data, given, run
from tests.conftest import instrument, new_store
from tests.jobs.test_response_bias_runs import ask, pairs
from workbench.commands.run import RunCommand
from workbench.data import SHIPPED_CHOICES, shipped_templates
from workbench.domain.choices import Bias, Choice, ChoicePair
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument, with_pairs
from workbench.domain.responses import EXACTLY
from workbench.errors import UsageError
from workbench.inference.scripted.model import ScriptedModel
from workbench.jobs import launch

AUDIT = ("--audit", "response_bias", "--model", "scripted")


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Statements in one instrument, questions in another; only read."""
    path = tmp_path_factory.mktemp("both") / "both.db"
    with new_store(path) as store:
        store.instruments.add(instrument())
        blank = Instrument("choices", "Choices", (), templates=shipped_templates("response_bias"))
        store.instruments.add(with_pairs(blank, pairs()))
    return path


def design(path: Path, *options: str) -> Design:
    with Store.open(path) as store:
        return RunCommand.from_arguments(given("run", str(path), *AUDIT, *options)).design(store)


def test_the_only_instrument_with_questions_is_asked_as_published(both: Path) -> None:
    found = design(both)
    assert (found.instrument, found.samples, found.tries, found.family) == (
        "choices",
        50,
        20,
        "lettered",
    )
    assert (found.sampling.temperature, found.sampling.max_new_tokens, found.statements) == (
        1.0,
        1,
        (),
    )
    assert design(both, "--samples", "10", "--tries", "3").tries == 3
    assert design(both, "--exact").sampling == EXACTLY
    longer = [
        design(both, "--family", family).sampling.max_new_tokens
        for family in ("extended", "steering-steps")
    ]
    assert longer == [50, 100], "appendices C and D"


def test_questions_of_a_bias_are_asked_alone(both: Path) -> None:
    orders, scales = ([f"{bias}.q{n}" for n in range(3)] for bias in ("response_order", "odd_even"))
    assert list(design(both, "--bias", "odd/even").statements) == scales
    assert set(design(both, "--bias", "odd_even,response_order").statements) == {*orders, *scales}
    assert (
        list(design(both, "--bias", "response_order", "--statements", "2").statements) == orders[:2]
    )
    with pytest.raises(UsageError, match=r"odd_even\.q1: excluded by the other options"):
        design(both, "--bias", "response_order", "--statements", "response_order.q0,odd_even.q1")


def test_the_plan_says_how_answers_are_drawn_until_they_are_valid(
    both: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = (
        "--bias",
        "odd_even",
        "--variants",
        "original,changed",
        "--samples",
        "10",
        "--tries",
        "5",
        "--dry-run",
    )
    code, out, err = run(capsys, "run", both, *AUDIT, *few)
    assert code == 0, err
    assert (
        "response_bias audit of scripted on choices: 3 statements x 2 wordings x 1 template" in out
    )
    assert "6 prompts planned; 10 valid samples each = 60 answers" in out
    assert "at most 50 per prompt" in out
    assert data(capsys, "run", both, *AUDIT, *few)["answers_needed"] == 60
    exact = run(capsys, "run", both, *AUDIT, "--exact", "--dry-run")[1]
    assert "to score" in exact


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((*AUDIT, "--tries", "0"), "--tries: found 0; give 1 or more"),
        ((*AUDIT, "--exact", "--tries", "3"), "samples nothing; leave out --tries"),
        ((*AUDIT, "--exact", "--family", "extended"), "are longer than a token"),
        (
            (*AUDIT, "--bias", "order"),
            "there is no bias 'order' here. Available: odd_even, response_order, allow_forbid",
        ),
        ((*AUDIT, "--bias", ","), "--bias: found no value"),
        (
            (*AUDIT, "--conditions", "qm"),
            "--conditions belongs to --audit questionnaire, not to --audit response_bias; leave "
            "it out",
        ),
        ((*AUDIT, "--instrument", "small"), "small has no multiple-choice questions"),
        (
            (*AUDIT, "--instrument", "small", "--bias", "odd_even"),
            "small has no multiple-choice questions",
        ),
        (
            ("--model", "scripted", "--instrument", "small", "--tries", "3"),
            "--tries belongs to --audit response_bias and representation, not to --audit "
            "reliability",
        ),
        (
            ("--model", "scripted", "--instrument", "small", "--bias", "odd_even"),
            "--bias belongs to --audit response_bias",
        ),
        (
            ("--model", "scripted", "--instrument", "choices"),
            "choices has only multiple-choice questions",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused(
    both: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], said: str
) -> None:
    code, _, err = run(capsys, "run", both, *options, "--dry-run")
    assert code == 2
    assert said in err


def test_of_several_instruments_with_questions_one_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forbid = ChoicePair(
        "q", Bias.ALLOW_FORBID, Choice("Allow?", ("Yes", "No")), Choice("Forbid?", ("Yes", "No"))
    )
    with new_store(tmp_path / "two.db") as store:
        for name in ("one", "two"):
            store.instruments.add(with_pairs(Instrument(name, name, ()), [forbid]))
    code, _, err = run(capsys, "run", tmp_path / "two.db", *AUDIT, "--dry-run")
    assert code == 2
    assert "2 instruments fit the audit response_bias: one, two; name one with --instrument" in err


def test_the_demonstration_puts_errors_into_the_shipped_questions_once_and_prints_the_matrix(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "demo.db"
    designs = []

    def start(store: Store, design: Design, plan: Any) -> int:
        designs.append(design)
        ask(store, ScriptedModel(), design)
        return store.jobs.list()[0].id

    monkeypatch.setattr(launch, "start", start)
    demo = ("demo", path, "--audit", "response_bias", "--model", "scripted", "--no-screen")
    code, out, err = run(capsys, *demo)
    assert code == 0, err
    assert "100 questions of veldania_choices get forms with typos." in out
    assert "100 statements x 3 wordings x 1 template" in out, "twenty questions of each bias"
    assert len(re.findall(r"^\S+(?: \w+)? +key typo ", out, re.MULTILINE)) == len(Bias), (
        "after each bias"
    )
    again = run(capsys, *demo)[1]
    assert "Everything is stored already." in again
    assert "get forms with typos" not in again
    (asked,) = designs
    assert (asked.instrument, asked.samples) == (SHIPPED_CHOICES, 50)
