"""The stand-in answers lettered questions with the probabilities that its file says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from workbench.data import shipped_templates
from workbench.domain.choices import Choice
from workbench.domain.prompts import Prompt
from workbench.domain.responses import Request, Sampling
from workbench.errors import ModelError
from workbench.inference.base import Model
from workbench.inference.load import load
from workbench.inference.scripted.answers import LetterHabits
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.readers.rules import letter_of

YES_NO = Choice("Do you agree or disagree that it is too loud?", ("Yes", "No", "Not sure"))
TURNED = Choice(YES_NO.stem, YES_NO.options[::-1])
DRAWS = 4_000


def prompt(choice: Choice = YES_NO, template: str = "lettered") -> Prompt:
    (found,) = [t for t in shipped_templates("response_bias") if t.name == template]
    return found.render(choice.lettered())


def letters_of(model: Model, asked: Prompt) -> dict[str, float]:
    (found,) = model.next_tokens([asked], 20, tuple("abcd"))
    assert found.rest == 0
    assert np.exp(found.log_probabilities).sum() == pytest.approx(1)
    assert found.words is not None
    return dict(found.words)


def persona(tmp_path: Path, text: str) -> Model:
    file = tmp_path / "persona.toml"
    file.write_text(text)
    return load(f"scripted:{file}")


def test_samples_and_probabilities_follow_the_file(tmp_path: Path) -> None:
    model = persona(
        tmp_path,
        '[letters]\nweights = [3, 1]\nby_text = 0\ninvalid = 0.2\nothers = ["As", "\\n"]\n',
    )
    exact = letters_of(model, prompt())
    assert exact == pytest.approx({"a": 0.8 * 3 / 5, "b": 0.8 / 5, "c": 0.8 / 5, "d": 0})
    (drawn,) = model.generate([Request(prompt(), DRAWS, seed=1)], Sampling())
    counts = dict(drawn.answers)
    for text, p in {"A": 0.48, "B": 0.16, "C": 0.16, "As": 0.1, "\n": 0.1}.items():
        assert counts.pop(text) / DRAWS == pytest.approx(p, abs=4 * (p * (1 - p) / DRAWS) ** 0.5)
    assert counts == {}
    (again,) = model.generate([Request(prompt(), DRAWS, seed=1)], Sampling())
    assert again == drawn


def test_never_valid_is_never_an_offered_letter(tmp_path: Path) -> None:
    model = persona(tmp_path, '[letters]\ninvalid = 1\nothers = ["E", "I"]\n')
    assert letters_of(model, prompt()) == dict.fromkeys("abcd", 0.0)
    (drawn,) = model.generate([Request(prompt(), 50, seed=1)], Sampling())
    assert {text for text, _ in drawn.answers} == {"E", "I"}


def test_without_a_table_options_are_liked_by_their_text_wherever_they_stand() -> None:
    model = load("scripted")
    plain, turned = letters_of(model, prompt()), letters_of(model, prompt(TURNED))
    assert len({round(p, 6) for p in plain.values()}) == 4, "no two options are liked alike"
    assert plain["a"] == pytest.approx(turned["c"])
    assert sum(plain.values()) == pytest.approx(1 - ScriptedPersona().unreadable)
    typo = letters_of(
        model, prompt(Choice("Do yuo agree or disagree that it is to loud?", YES_NO.options))
    )
    assert typo == plain, "errors of the question change nothing"


@pytest.mark.parametrize("template", [t.name for t in shipped_templates("response_bias")])
def test_every_prompt_of_the_audit_is_answered_by_an_offered_letter(template: str) -> None:
    model = ScriptedModel(ScriptedPersona(letters=LetterHabits(invalid=0.0)))
    (drawn,) = model.generate(
        [Request(prompt(Choice("War?", ("Yes", "No")), template), 40, seed=1)], Sampling()
    )
    assert {letter_of(text) for text, _ in drawn.answers} == {"a", "b"}, (
        "not the three options of an example"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[letters]\nwieghts = [1]", "line 2, column 'wieghts': found an unknown key"),
        ("weights = [3, 1]", "below a line \\[letters\\]"),
        ("[letters]\nweights = [0, 0, 1]", "one of the first two above 0"),
        ("[letters]\nweights = [true, 1]", "a list of odds"),
        ("[letters]\nby_text = nan", "a number from -100 to 100"),
        ('[letters]\nothers = "As"', "a list of texts"),
        ("letters = 3", "no table"),
        ("agree = '0.8'", "a share from 0 to 1"),
        ("delay_s = -1", "seconds, 0 or more"),
        ("answers = [1]", "a list of texts"),
        ("agree 0.8", "not TOML"),
    ],
)
def test_a_file_that_cannot_be_is_refused_with_what_is_wrong(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(ModelError, match=said):
        persona(tmp_path, text)


def test_all_faults_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        persona(tmp_path, "agre = 1\nunreadable = 2\n[letters]\nweight = [3, 1]\ninvalid = 1.5\n")
    said = str(caught.value)
    assert [
        said.count(f"column '{key}'") for key in ("agre", "unreadable", "weight", "invalid")
    ] == [1, 1, 1, 1]
    assert "imported" not in said
