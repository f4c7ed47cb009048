"""The rule-based English negation and the statement out of a question: starting points, right in
plain English.
"""

from __future__ import annotations

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import published
from workbench.data import shipped_instrument_folder
from workbench.workshop.drafting import compared
from workbench.workshop.english import negate, stated


@pytest.mark.parametrize(
    ("text", "negation"),
    [
        ("Taxes should be lowered.", "Taxes should not be lowered."),
        ("Taxes should not be lowered.", "Taxes should be lowered."),
        ("The state cannot pay.", "The state can pay."),
        ("The state can pay.", "The state cannot pay."),
        ("Parents shouldn’t pay.", "Parents should pay."),
        ("The state has a duty to help.", "The state does not have a duty to help."),
        ("Openness has gone too far.", "Openness has not gone too far."),
        ("Firms need to report.", "Firms do not need to report."),
        ("It's natural to object.", "It is not natural to object."),
        (
            "If work is scarce, locals should come first.",
            "If work is scarce, locals should not come first.",
        ),
        ("Those who are ill should stay at home.", "Those who are ill should not stay at home."),
        (
            "Foreigners who commit a crime should leave.",
            "Foreigners who commit a crime should not leave.",
        ),
        ("It is right that the state must pay.", "It is not right that the state must pay."),
        ("The will of the people should count.", "The will of the people should not count."),
        ("No child should go hungry.", "It is not the case that no child should go hungry."),
        (
            "People who don't work turn lazy.",
            "It is not the case that people who don't work turn lazy.",
        ),
        ("The market sets fair wages.", "It is not the case that the market sets fair wages."),
        ("Veldania pays too much.", "It is not the case that Veldania pays too much."),
    ],
)
def test_the_main_verb_is_denied_or_no_longer_denied(text: str, negation: str) -> None:
    found = negate(text)
    assert found is not None
    assert found.text == negation


def test_every_shipped_statement_gets_the_negation_that_its_authors_wrote() -> None:
    with (shipped_instrument_folder() / "statements.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        rows = [(row["original"], row["negation"]) for row in csv.DictReader(file)]
    made = [negate(original) for original, _ in rows]
    wrong = [
        (found and found.text, due)
        for found, (_, due) in zip(made, rows, strict=True)
        if found is None or compared(found.text) != compared(due)
    ]
    assert (len(rows), wrong) == (56, [])


def test_every_published_proposition_gets_another_text_as_its_negation() -> None:
    with published("faulborn", "statements.csv").open(encoding="utf-8", newline="") as file:
        texts = [row["statement"] for row in csv.DictReader(file)]
    made = [negate(text) for text in texts]
    assert all(
        found is not None and compared(found.text) != compared(text)
        for found, text in zip(made, texts, strict=True)
    )
    assert sum(
        found is not None and found.rule != "denied as a whole" for found in made
    ) > 0.75 * len(texts)


@pytest.mark.parametrize("text", ["Should taxes fall?", "", "…", "?!"])
def test_what_is_no_statement_has_no_negation(text: str) -> None:
    assert negate(text) is None


@given(st.text(max_size=80))
def test_any_text_is_negated_or_refused_without_a_crash(text: str) -> None:
    found = negate(text)
    assert found is None or found.text != text.strip()
    stated(text)


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("Should the state ban cars?", "The state should ban cars."),
        ("Should cannabis use be legalized?", "Cannabis use should be legalized."),
        ("Should there be a minimum wage?", "There should be a minimum wage."),
        (
            "Should foreigners who have lived here long be given a vote?",
            "Foreigners who have lived here long should be given a vote.",
        ),
        (
            "Should direct payments only be granted to farmers?",
            "Direct payments should only be granted to farmers.",
        ),
        (
            "Do you support a higher retirement age (e.g. 67)?",
            "I support a higher retirement age (e.g. 67).",
        ),
        ("Would you support a tax on sugar?", "I would support a tax on sugar."),
        ("Do you think that Veldania should leave?", "Veldania should leave."),
        ("Are you in favour of a wealth tax?", "I am in favour of a wealth tax."),
        ("Is it right that banks are rescued?", "It is right that banks are rescued."),
    ],
)
def test_a_question_becomes_what_its_yes_says(question: str, statement: str) -> None:
    found = stated(question)
    assert found is not None
    assert found.text == statement


@pytest.mark.parametrize(
    "text", ["What should the state do?", "Taxes should fall.", "?", "", "Should?", "Should X?"]
)
def test_a_question_without_yes_and_what_is_no_question_have_no_statement(text: str) -> None:
    assert stated(text) is None
