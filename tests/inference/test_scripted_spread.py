"""A stand-in whose shares have known variance components: the audit finds them again."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from workbench.data import shipped_instrument_folder, shipped_templates
from workbench.errors import ModelError
from workbench.inference.scripted.answers import AnswerSpread
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.inference.scripted.personas import load_scripted
from workbench.stats.components import (
    ORDER,
    STATEMENT,
    TEMPLATE,
    WORDING,
    WORDING_TEMPLATE,
    Cells,
    decompose,
)

KNOWN = {STATEMENT: 0.08, WORDING: 0.02, TEMPLATE: 0.006, WORDING_TEMPLATE: 0.01, ORDER: 0.003}
SPREAD = AnswerSpread("veldania", 0.5, 3, tuple(KNOWN.items()))
TEMPLATES = [one for one in shipped_templates() if one.family == "user"]


def shares(spread: AnswerSpread) -> Cells:
    """Return the share of agreement of every prompt about the shipped instrument, turned round: (S,
    W, T, 2).
    """
    import csv

    columns = ("original", "paraphrase_1", "paraphrase_2", "paraphrase_3", "negation", "opposite")
    with (shipped_instrument_folder("veldania") / "statements.csv").open(encoding="utf-8") as lines:
        texts = [[row[column] for column in columns] for row in csv.DictReader(lines)]
    names = sorted({one.name for one in TEMPLATES})
    found = np.empty((len(texts), len(columns), len(names), 2))
    model = ScriptedModel(ScriptedPersona(unreadable=0.0, spread=spread))
    for (s, row), template in product(enumerate(texts), TEMPLATES):
        for w, text in enumerate(row):
            prompt = template.render(text)
            forms = (template.positive, template.negative)
            logs = next(
                model.score([prompt], [tuple(form.capitalize() for form in forms)])
            ).log_probabilities
            agreed = float(np.exp(logs[0]))
            place = s, w, names.index(template.name), int(template.inverted)
            found[place] = 1 - agreed if columns[w] in ("negation", "opposite") else agreed
    return Cells(found, np.zeros_like(found))


@pytest.mark.e2e
def test_the_components_that_are_put_in_are_found_again() -> None:
    found = decompose(shares(SPREAD))
    truth = SPREAD.shares.components
    for component in found.components[:-1]:
        assert component.low - 1e-6 <= truth[component.name] <= component.high + 1e-6, (
            component.name
        )
    shift = found.order_shift
    assert shift.low < 2 * truth[ORDER] ** 0.5 < shift.high


def test_another_seed_is_another_model_with_the_same_components() -> None:
    other = AnswerSpread("veldania", 0.5, 4, tuple(KNOWN.items()))
    assert other.shares.components == SPREAD.shares.components
    prompt = TEMPLATES[0].render("Veldania should join a military alliance with its neighbours.")
    cards = [ScriptedModel(ScriptedPersona(spread=one)).card.revision for one in (SPREAD, other)]
    assert cards[0] != cards[1]
    masses = [
        next(
            ScriptedModel(ScriptedPersona(spread=one)).score([prompt], [("Agree",)])
        ).log_probabilities
        for one in (SPREAD, other)
    ]
    assert masses[0][0] != masses[1][0]


def test_a_text_that_is_no_wording_is_an_error_with_its_reason() -> None:
    with pytest.raises(ModelError, match="knows no statement"):
        next(
            ScriptedModel(ScriptedPersona(spread=SPREAD)).score(
                [TEMPLATES[0].render("Cats are better.")], [("Agree",)]
            )
        )
    with pytest.raises(ModelError, match="cannot be read"):
        next(
            ScriptedModel(ScriptedPersona(spread=AnswerSpread("no-such-instrument"))).score(
                [TEMPLATES[0].render("A.")], [("Agree",)]
            )
        )


def persona(tmp_path: Path, *lines: str) -> str:
    path = tmp_path / "persona.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return f"scripted:{path}"


def test_a_file_says_what_spreads(tmp_path: Path) -> None:
    name = persona(
        tmp_path,
        "[spread]",
        'statements = "veldania"',
        "seed = 7",
        "statement = 0.1",
        "label_order = 0.01",
    )
    made = load_scripted(name).persona.spread
    assert made == AnswerSpread("veldania", 0.5, 7, ((STATEMENT, 0.1), (ORDER, 0.01)))


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("spread = 3",), "no table"),
        (("[spread]", "statement = 0.1"), "an instrument that ships"),
        (("[spread]", 'statements = "veldania"', "statement = 0.3"), "0 to 0.25"),
        (
            ("[spread]", 'statements = "veldania"', "statement = 0.2", "wording = 0.2"),
            "0.4 together",
        ),
        (("[spread]", 'statements = "veldania"', "seed = -1"), "a whole number"),
        (("[spread]", 'statements = "veldania"', "word = 0.1"), "unknown key"),
        (("agree = 0.5", "[spread]", 'statements = "veldania"'), "one of the two"),
    ],
)
def test_a_fault_of_a_file_is_named(tmp_path: Path, lines: tuple[str, ...], said: str) -> None:
    with pytest.raises(ModelError, match=said):
        load_scripted(persona(tmp_path, *lines))
