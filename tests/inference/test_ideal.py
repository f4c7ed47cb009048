"""The ideal predictor reads a conversation and answers with known probabilities; stand-ins say what
they spell.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from workbench.data import shipped_instrument_folder, shipped_templates
from workbench.domain.prompts import SLOT, Message, Prompt
from workbench.domain.responses import Request, Sampling
from workbench.errors import ModelError, UnknownName, UsageError
from workbench.inference.base import NextTokens
from workbench.inference.load import load
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.inference.scripted.personas import IdealModel, load_ideal, wordings
from workbench.pipeline.design_checks import scripted
from workbench.synthetic.population import Ideal, SyntheticPopulation
from workbench.synthetic.spec import read_population

NAME = "scripted:ideal@veldania_panel"
PANEL = shipped_instrument_folder("veldania_panel")
WORDS = ("yes", "no")


@pytest.fixture(scope="module")
def population() -> SyntheticPopulation:
    return read_population(PANEL / "generator.toml")


@pytest.fixture(scope="module")
def model() -> IdealModel:
    return load_ideal(PANEL / "generator.toml", NAME)


@pytest.fixture(scope="module")
def texts() -> dict[str, list[str]]:
    """The wordings of each question, the original first."""
    found: dict[str, list[str]] = {}
    for text, ref in wordings(PANEL / "statements.csv").items():
        found.setdefault(ref, []).append(text)
    return found


def asked(text: str, template: str) -> Message:
    (found,) = [t for t in shipped_templates("questionnaire") if t.name == template]
    return Message("user", found.user.replace(SLOT, text))


def conversation(texts: dict[str, list[str]], answers: dict[str, bool], target: str) -> Prompt:
    turns = []
    for ref, yes in answers.items():
        turns += [asked(texts[ref][0], "question"), Message("assistant", "yes" if yes else "no")]
    return Prompt(
        (*turns, asked(target, "statement" if turns else "statement-zero-shot")), context=len(turns)
    )


def only(model: ScriptedModel, prompt: Prompt) -> NextTokens:
    (found,) = model.next_tokens([prompt], 20, WORDS)
    return found


def test_it_says_yes_as_often_as_people_with_the_same_answers(
    model: IdealModel, population: SyntheticPopulation, texts: dict[str, list[str]]
) -> None:
    rng = np.random.default_rng(2)
    for size in (0, 1, 7, 30, len(population.context)):
        refs = [
            population.context[place].ref
            for place in rng.permutation(len(population.context))[:size]
        ]
        answers = {ref: bool(rng.integers(2)) for ref in refs}
        for target, p_yes in Ideal(population)(answers).items():
            found = only(model, conversation(texts, answers, texts[target][0]))
            assert found.words == pytest.approx({"yes": p_yes, "no": 1 - p_yes})
            spelled = dict(zip(found.texts, np.exp(found.log_probabilities), strict=True))
            assert spelled.keys() == {"yes", "Yes", "no", "No"}, "spellings have to be added up"
            assert spelled["yes"] + spelled["Yes"] == pytest.approx(p_yes)
            assert found.rest == 0


def test_every_wording_of_a_target_is_the_same_question(
    model: IdealModel, texts: dict[str, list[str]]
) -> None:
    for ref in [ref for ref in texts if ref.startswith("att-")]:
        assert len(texts[ref]) >= 13
        said = {
            only(model, conversation(texts, {"fin-01": True}, text)).words["yes"]
            for text in texts[ref]
        }  # type: ignore[index]
        assert len(said) == 1


def test_scores_and_answers_have_the_same_probabilities(
    model: IdealModel, texts: dict[str, list[str]]
) -> None:
    prompt = conversation(texts, {"fin-01": False, "mig-01": True}, texts["att-newcomers"][0])
    p_yes = only(model, prompt).words["yes"]  # type: ignore[index]
    (scored,) = model.score([prompt], [["yes", "Yes"]])
    assert np.exp(scored.log_probabilities).sum() == pytest.approx(p_yes)
    (drawn,) = model.generate([Request(prompt, 2_000, seed=1)], Sampling())
    share = sum(n for text, n in drawn.answers if text.casefold() == "yes") / 2_000
    assert share == pytest.approx(p_yes, abs=4 * 0.5 / 2_000**0.5)


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        (Prompt((Message("user", "Is it raining?"),)), "knows no question in 'Is it raining\\?'"),
        (
            Prompt((Message("user", "Should companies pay less tax on their profits?"),)),
            "fin-01 is no target",
        ),
        (
            Prompt(
                (
                    Message("user", "Should companies pay less tax on their profits?"),
                    Message("assistant", "perhaps"),
                    Message("user", "Anyone in Veldania can get ahead by working hard."),
                )
            ),
            "found the answer 'perhaps'",
        ),
        (
            Prompt(
                (
                    Message("user", "Should companies pay less tax on their profits?"),
                    Message("user", "Anyone in Veldania can get ahead by working hard."),
                )
            ),
            "not questions, each with its answer",
        ),
    ],
)
def test_what_it_cannot_predict_comes_back_with_the_reason(
    model: IdealModel, prompt: Prompt, said: str
) -> None:
    good = Prompt((Message("user", "Anyone in Veldania can get ahead by working hard."),))
    bad, fine = model.next_tokens([prompt, good], 20, WORDS)
    assert (bad.prompt, bad.texts, bad.words) == (0, (), None)
    assert NAME in bad.reason
    with pytest.raises(ModelError, match=said):
        raise ModelError(bad.reason)
    assert (fine.prompt, fine.reason) == (1, "")


def test_the_shipped_one_is_found_by_its_instrument_and_counts_as_scripted() -> None:
    assert isinstance(load(NAME), IdealModel)
    assert scripted(NAME)
    with pytest.raises(UsageError, match="no effect"):
        load(NAME, dtype="float32")
    with pytest.raises(UnknownName, match="not drawn"):
        load("scripted:ideal@veldania")
    with pytest.raises(UnknownName, match="veldania_panel"):
        load("scripted:ideal@nowhere")


def test_a_population_of_ones_own_is_a_model_too(
    tmp_path: Path, texts: dict[str, list[str]]
) -> None:
    spec = tmp_path / "generator.toml"
    spec.write_bytes((PANEL / "generator.toml").read_bytes())
    name = f"scripted:{spec}"
    with pytest.raises(ModelError, match=r"statements\.csv"):
        load(name)
    (tmp_path / "statements.csv").write_bytes((PANEL / "statements.csv").read_bytes())
    prompt = conversation(texts, {"fin-01": True}, texts["att-effort"][0])
    other = load(name)
    assert isinstance(other, IdealModel)
    assert (
        only(other, prompt).words == only(load_ideal(PANEL / "generator.toml", NAME), prompt).words
    )
    spec.write_text(spec.read_text().replace("weight = 0.28", "weight = 2.8"))
    changed = load(name)
    assert changed.card.revision != other.card.revision, (
        "answers of another population are not mixed with these"
    )
    spec.write_text(spec.read_text().replace("seed = 2023", "seed = -1"))
    with pytest.raises(ModelError, match="seed"):
        load(name)
    (tmp_path / "statements.csv").write_text("ref,original\nfin-01,Should it?\n")
    spec.write_bytes((PANEL / "generator.toml").read_bytes())
    with pytest.raises(ModelError, match="has no text of fin-02"):
        load(name)


@pytest.mark.parametrize(
    ("answer", "masses"), [("yes", {"yes": 1.0, "no": 0.0}), ("No", {"yes": 0.0, "no": 1.0})]
)
def test_a_persona_that_always_says_the_same_puts_all_mass_on_it(
    answer: str, masses: dict[str, float]
) -> None:
    found = only(
        ScriptedModel(ScriptedPersona(answers=(answer,))), Prompt((Message("user", "Tax?"),))
    )
    assert found.words == masses
    assert (found.texts, found.rest) == ((answer,), 0.0)


def test_words_are_summed_beyond_the_tokens_that_are_named() -> None:
    persona = ScriptedPersona(answers=("no", "no", "no", "YES", "yes", "Yesterday"))
    (found,) = ScriptedModel(persona).next_tokens(
        [Prompt((Message("user", "Tax?"),))], 1, (" Yes",)
    )
    assert found.words == pytest.approx({" Yes": 2 / 6})
    assert found.texts == ("no",)
    assert found.rest == pytest.approx(0.5)
    (found,) = ScriptedModel(persona).next_tokens([Prompt((Message("user", "Tax?"),))], 1)
    assert found.words is None, "nobody asked for them"


def test_the_plain_stand_in_answers_a_questionnaire_with_its_labels(
    texts: dict[str, list[str]],
) -> None:
    found = only(
        ScriptedModel(ScriptedPersona(agree=0.8, unreadable=0.1)),
        conversation(texts, {}, texts["att-effort"][0]),
    )
    assert found.words == pytest.approx({"yes": 0.9 * 0.8, "no": 0.9 * 0.2})
