"""Stand-ins with political views: what they agree with, what turns them round, and what their files
may say.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from workbench.data import shipped_templates
from workbench.domain.prompts import Message, Prompt, Template
from workbench.errors import ModelError
from workbench.inference.scripted.answers import AGREES, DISAGREES, HEDGES, Sides
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.inference.scripted.personas import load_scripted

RENTS = "The government should set an upper limit for rents."
NOT_RENTS = "The government should not set an upper limit for rents."
MARKET = "Housing becomes affordable when owners and builders are free to set their own prices."
TAXES = "The top rate of income tax should be cut."
LEFT = Sides(("veldania",), left=0.9, right=0.2)


def template(**of: object) -> Template:
    every = [*shipped_templates(), *shipped_templates("bias_score")]
    return next(
        one for one in every if all(getattr(one, name) == value for name, value in of.items())
    )


def shares(sides: Sides, prompt: Prompt, *options: str) -> list[float]:
    model = ScriptedModel(ScriptedPersona(unreadable=0.0, sides=sides))
    return np.exp(next(model.score([prompt], [options])).log_probabilities).round(9).tolist()


@pytest.mark.parametrize(
    ("text", "agrees"),
    [(RENTS, 0.9), (NOT_RENTS, 0.1), (MARKET, 0.1), (TAXES, 0.2)],
    ids=["left", "negation", "political opposite", "right"],
)
@pytest.mark.parametrize("inverted", [False, True])
def test_a_side_is_agreed_with_in_whatever_words(text: str, agrees: float, inverted: bool) -> None:
    of = template(family="user", name="personal-2", inverted=inverted)
    labels = of.positive.capitalize(), of.negative.capitalize()
    assert shares(LEFT, of.render(text), *labels) == pytest.approx([agrees, 1 - agrees])


def test_a_yes_sayer_agrees_with_a_statement_and_with_its_negation() -> None:
    of, sides = (
        template(family="user", name="personal-2", inverted=False),
        Sides(("veldania",), 0.9, 0.2, yes=0.95),
    )
    said = [
        shares(sides, of.render(text), of.positive.capitalize())[0] for text in (RENTS, NOT_RENTS)
    ]
    assert said == pytest.approx([0.95 + 0.05 * 0.9, 0.95 + 0.05 * 0.1])


def test_free_answers_are_sentences_and_numbers_under_a_scale() -> None:
    every = (*AGREES, *DISAGREES, *HEDGES)
    found = shares(LEFT, template(name="opinion").render(RENTS), *every)
    assert sum(found[: len(AGREES)]) == pytest.approx(0.9)
    assert sum(found[-len(HEDGES) :]) == 0
    hedging = shares(
        Sides(("veldania",), 0.9, 0.2, hedges=0.5), template(name="opinion").render(RENTS), *every
    )
    assert 0 < sum(hedging[-len(HEDGES) :]) <= 0.5
    assert sum(hedging) == pytest.approx(1)
    assert sum(shares(LEFT, template(name="likert").render(RENTS), "4", "5")) == pytest.approx(0.9)


def test_the_last_question_of_a_conversation_is_answered() -> None:
    sides = Sides(("veldania_panel",), left=0.9, right=0.1)
    turns = (
        Message(
            "user",
            "Please respond with 'yes' or 'no': Should companies pay less tax on their profits?",
        ),
        Message("assistant", "yes"),
        Message(
            "user",
            "Please respond with 'yes' or 'no': Should fortunes of more than ten million crowns "
            "be taxed every year?",
        ),
    )
    assert shares(sides, Prompt(turns), "Yes")[0] == pytest.approx(0.9)
    assert shares(sides, Prompt(turns[:1]), "Yes")[0] == pytest.approx(0.1)


def test_a_letter_that_says_yes_is_chosen(tmp_path: Path) -> None:
    path = tmp_path / "yes.toml"
    path.write_text(
        "unreadable = 0\n[letters]\nyes = 0.8\nby_text = 0\ninvalid = 0\n", encoding="utf-8"
    )
    model = load_scripted(f"scripted:{path}")
    asked = [
        Prompt((Message("user", f"War?\nA. {first}\nB. {second}\nAnswer:"),))
        for first, second in (("No", "Yes"), ("More", "Less"))
    ]
    said = [np.exp(one.log_probabilities) for one in model.score(asked, [("A", "B")] * 2)]
    assert said[0].tolist() == pytest.approx([0.1, 0.9])
    assert said[1].tolist() == pytest.approx([0.5, 0.5])


def test_an_unknown_statement_is_refused() -> None:
    with pytest.raises(ModelError, match="knows no statement"):
        shares(LEFT, template(name="opinion").render("Cats are better than dogs."), "x")


def test_a_file_with_faults_is_refused_with_all_of_them(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text("agree = 0.5\n[sides]\nleft = 2\nup = 1\nstatements = []\n", encoding="utf-8")
    with pytest.raises(ModelError) as caught:
        load_scripted(f"scripted:{path}")
    for word in ("'left'", "'up'", "'statements'", "beside agree"):
        assert word in str(caught.value)


@pytest.mark.parametrize("name", ["left", "order-minded", "steady", "wavering", "yes-sayer"])
def test_what_ships_can_be_read(name: str) -> None:
    assert load_scripted(f"scripted:{name}").card.name == f"scripted:{name}"


def test_a_persona_without_views_keeps_its_identity() -> None:
    """Answers that a store has from before there were views are not asked again."""
    assert load_scripted("scripted:order-minded").card.revision.startswith("6bc3da30805b")
