"""Synthetic respondents: drawn as written, predicted as well as can be, and the shipped ones byte
for byte.
"""

from __future__ import annotations

import csv
from dataclasses import replace
from itertools import product
from math import exp, sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.synthesize import answers_csv
from tests.synthetic import generate, known, yes_or_no
from workbench.data import shipped_instrument_folder, shipped_scale
from workbench.domain.questionnaires import Meaning, Respondent
from workbench.errors import InputError, UnknownName
from workbench.synthetic.population import (
    AnswerScale,
    Ideal,
    Item,
    Profile,
    SyntheticPopulation,
)
from workbench.synthetic.spec import read_population

PANEL = shipped_instrument_folder("veldania_panel")
YES_NO = AnswerScale("yes_no", (("yes", 1.0),), (("no", 1.0),))
SPEC = """
seed = 3
respondents = 20
axes = ["left"]

[[profile]]
name = "one"
weight = 1
left = -1

[[profile]]
name = "other"
weight = 3
left = 1

[scale.two]
yes = { "yes" = 1 }
no = { "no" = 1 }

[context]
q-1 = { scale = "two", base = 0.5, left = 1.5 }

[target]
t-1 = { scale = "two", left = 2 }
"""


@pytest.fixture(scope="module")
def panel() -> SyntheticPopulation:
    return read_population(PANEL / "generator.toml")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, strict=True))


def test_the_shipped_answers_are_what_the_shipped_population_draws(
    panel: SyntheticPopulation,
) -> None:
    drawn = generate(panel, panel.respondents, panel.seed)
    assert answers_csv(panel, drawn).encode() == (PANEL / "answers.csv").read_bytes()
    assert (
        answers_csv(panel, generate(panel, panel.respondents, panel.seed + 1)).encode()
        != answers_csv(panel, drawn).encode()
    )


def test_a_longer_draw_begins_with_the_shorter_one(panel: SyntheticPopulation) -> None:
    assert generate(panel, 30, 9)[:12] == generate(panel, 12, 9)


def test_everybody_is_named_as_synthetic(panel: SyntheticPopulation) -> None:
    assert [r.name for r in generate(panel, 2, 1)] == ["syn-001", "syn-002"]
    assert all(row["respondent"].startswith("syn-") for row in rows(PANEL / "answers.csv"))


def test_the_shipped_questionnaire_is_as_large_as_it_has_to_be() -> None:
    statements = rows(PANEL / "statements.csv")
    targets = [row for row in statements if row["role"] == "target"]
    context = [row for row in statements if row["role"] == "context"]
    assert len(context) >= 40
    assert len({row["topic"] for row in context}) >= 8
    assert len(targets) >= 7
    assert len(rows(PANEL / "answers.csv")) >= 100
    assert {row["form"] for row in targets} == {"statement"}
    assert {row["form"] for row in context} == {"question"}
    for asked in (context, targets):
        leanings = [row["yes"] for row in asked if row["yes"]]
        assert leanings.count("liberal") / len(leanings) == pytest.approx(0.5, abs=0.1)


def test_every_text_of_the_shipped_questionnaire_stands_there_once() -> None:
    texts = [
        text.casefold().rstrip(".?")
        for row in rows(PANEL / "statements.csv")
        for column, text in row.items()
        if (column == "original" or column.startswith("paraphrase_")) and text
    ]
    assert len(texts) >= 40 + 7 * 13
    assert len(set(texts)) == len(texts)
    assert not [(a, b) for a, b in product(texts, texts) if a != b and a in b], (
        "no text is a part of another"
    )


def test_every_shipped_answer_is_on_the_scale_of_its_question_and_means_what_was_drawn(
    panel: SyntheticPopulation,
) -> None:
    scales = {row["ref"]: shipped_scale(row["scale"]) for row in rows(PANEL / "statements.csv")}
    seen = set()
    for row in rows(PANEL / "answers.csv"):
        answers = {ref: value for ref, value in row.items() if ref != "respondent" and value}
        (said,) = yes_or_no(panel, [Respondent("", answers)])
        for ref, value in answers.items():
            meaning = {True: Meaning.YES, False: Meaning.NO, None: Meaning.NEUTRAL}[said.get(ref)]
            assert scales[ref].meaning(value) is meaning
            seen.add((scales[ref].name, value))
    expected = {
        (scale.name, o.values[0])
        for scale in scales.values()
        for o in scale.options
        if o.meaning is not Meaning.MISSING
    }
    assert seen == expected, "every answer of every scale is given by somebody"


def test_a_yes_leans_as_the_population_says(panel: SyntheticPopulation) -> None:
    items = {item.ref: item for item in panel.items}
    statements = {row["ref"]: row for row in rows(PANEL / "statements.csv")}
    assert items.keys() == statements.keys()
    assert [item.ref for item in panel.items] == list(statements), "in the same order"
    assert [item.ref for item in panel.targets] == [
        r for r, row in statements.items() if row["role"] == "target"
    ]
    for ref, row in statements.items():
        assert items[ref].scale == row["scale"]
        if row["yes"]:
            assert (sum(items[ref].loadings) > 0) == (row["yes"] == "conservative"), ref


def test_the_shipped_targets_are_of_all_kinds(panel: SyntheticPopulation) -> None:
    figures = {k.target: k for k in known(panel, generate(panel, panel.respondents, panel.seed))}
    gains = {name: k.accuracy - k.majority for name, k in figures.items()}
    assert sum(gain > 0.15 for gain in gains.values()) >= 5, "most targets can be predicted"
    assert max(k.majority for k in figures.values()) > 0.85, "one is skewed"
    assert min(k.accuracy for k in figures.values()) < 0.6, "one can hardly be predicted"


numbers = st.floats(-3, 3)


@st.composite
def populations(draw: st.DrawFn) -> SyntheticPopulation:
    axes = draw(st.integers(1, 2))
    places = st.tuples(*[numbers] * axes)
    profiles = [
        Profile(f"p{n}", draw(st.floats(0.1, 2)), draw(places))
        for n in range(draw(st.integers(1, 3)))
    ]
    items = [Item(f"q{n}", "yes_no", draw(numbers), draw(places)) for n in range(5)]
    return SyntheticPopulation(
        ("x", "y")[:axes], tuple(profiles), (YES_NO,), tuple(items[:3]), tuple(items[3:])
    )


@settings(max_examples=60)
@given(populations(), st.dictionaries(st.sampled_from(["q0", "q1", "q2"]), st.booleans()))
def test_the_ideal_prediction_is_that_of_counting_through_everybody(
    population: SyntheticPopulation, answers: dict[str, bool]
) -> None:
    """P(yes | answers) by summing the probabilities of all 2^5 ways in which people of each profile
    may answer.
    """
    refs = [item.ref for item in population.items]
    total = sum(profile.weight for profile in population.profiles)
    yes, together = dict.fromkeys(refs, 0.0), 0.0
    for profile in population.profiles:
        odds = [
            i.base + sum(a * b for a, b in zip(i.loadings, profile.position, strict=True))
            for i in population.items
        ]
        p_yes = [1 / (1 + exp(-value)) for value in odds]
        for way in product([True, False], repeat=len(refs)):
            said = dict(zip(refs, way, strict=True))
            if any(said[ref] != answer for ref, answer in answers.items()):
                continue
            mass = profile.weight / total
            for p, answer in zip(p_yes, way, strict=True):
                mass *= p if answer else 1 - p
            together += mass
            for ref in refs:
                yes[ref] += mass * said[ref]
    found = Ideal(population)(answers)
    assert found.keys() == {"q3", "q4"}
    for ref, p in found.items():
        assert p == pytest.approx(yes[ref] / together)


@pytest.mark.e2e
def test_the_ideal_prediction_is_calibrated_and_as_accurate_as_is_known(
    panel: SyntheticPopulation,
) -> None:
    """On 4,000 respondents, within four standard errors of what is known of each target."""
    people = generate(panel, 4_000, 11)
    predict = Ideal(panel)
    context = {item.ref for item in panel.context}
    figures = {k.target: k for k in known(panel, people)}
    said = yes_or_no(panel, people)
    predicted = [
        predict({ref: yes for ref, yes in answers.items() if ref in context}) for answers in said
    ]
    for target, k in figures.items():
        pairs = [
            (p[target], answers[target])
            for p, answers in zip(predicted, said, strict=True)
            if target in answers
        ]
        p, human = np.array(pairs, dtype=float).T
        assert k.respondents == len(pairs)
        assert abs((p - human).mean()) < 4 * k.bias_sd
        assert abs(((p >= 0.5) == human).mean() - k.accuracy) < 4 * k.accuracy_sd
        assert k.human == pytest.approx(human.mean())
        assert k.expected == pytest.approx(p.mean())
        assert k.accuracy_sd == pytest.approx(sqrt((p * (1 - p)).sum()) / len(p))
        for low in (0.0, 0.25, 0.5, 0.75):  # among people of like predictions, too
            near = (p >= low) & (p < low + 0.25)
            if near.sum() >= 50:
                assert (
                    abs((p - human)[near].mean()) < 4 * sqrt((p * (1 - p))[near].sum()) / near.sum()
                )


def test_neutral_and_missing_answers_tell_nothing_about_a_profile() -> None:
    shy = AnswerScale("shy", (("yes", 1.0),), (("no", 1.0),), (("well", 0.2),), missing=0.3)
    profiles = (Profile("a", 1, (-3.0,)), Profile("b", 1, (3.0,)))
    items = (Item("q", "yes_no", 0.0, (3.0,)),)
    population = SyntheticPopulation(
        ("x",), profiles, (YES_NO, shy), items, (Item("t", "shy", 0.0, (3.0,)),)
    )
    people = generate(population, 4_000, 5)
    for profile in ("yes", "no"):  # who says yes to q is all but surely of the profile b
        answers = [
            person.answers.get("t", "") for person in people if person.answers["q"] == profile
        ]
        assert answers.count("") / len(answers) == pytest.approx(0.3, abs=0.04)
        assert answers.count("well") / len(answers) == pytest.approx(0.2, abs=0.04)


def test_nothing_is_known_of_a_target_that_nobody_answered(panel: SyntheticPopulation) -> None:
    mute = replace(
        panel, scales=tuple(replace(s, neutral=(("neutral", 0.9999),)) for s in panel.scales)
    )
    (first, *_) = known(mute, generate(mute, 3, 1))
    assert first.respondents == 0
    assert np.isnan(first.accuracy)


def test_an_answer_to_a_question_that_is_not_there_is_refused(panel: SyntheticPopulation) -> None:
    with pytest.raises(UnknownName, match="fin-99"):
        Ideal(panel)({"fin-99": True})


def test_a_population_is_read_as_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "people.toml"
    path.write_text(SPEC)
    population = read_population(path)
    assert population.weights().tolist() == [0.25, 0.75]
    assert population.p_yes()[1].tolist() == pytest.approx(
        [1 / (1 + exp(-2.0)), 1 / (1 + exp(-2.0))]
    )
    assert (population.seed, population.respondents) == (3, 20)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("seed = 3", "seed = -1", "line 2, column 'seed': found -1"),
        ("respondents = 20", "respondents = true", "column 'respondents': found True"),
        ('axes = ["left"]', 'axes = ["base"]', "'base' has a meaning already"),
        ("left = -1", "", "profile.left': found nothing"),
        (
            "weight = 3",
            "weight = 0",
            "line 11, column 'profile.weight': found 0; expected a number above 0",
        ),
        ('name = "other"', 'name = "one"', "'one' again"),
        ("left = 1\n", "left = 1\nright = 2\n", "profile.right': found an unknown key"),
        ('yes = { "yes" = 1 }', 'yes = { "yes" = -1 }', "yes = {'yes': -1}"),
        ('no = { "no" = 1 }', 'no = { "YES" = 1 }', "the answer 'yes' more than once"),
        ('no = { "no" = 1 }', 'no = { "no" = 1 }\nmissing = 1.0', "missing = 1.0"),
        ("base = 0.5", "base = nan", "column 'q-1': found base = nan"),
        ("base = 0.5", "basis = 0.5", "column 'q-1': found an unknown key 'basis'"),
        ("base = 0.5", "base = 40", "log-odds of 38.5"),
        (
            't-1 = { scale = "two"',
            't-1 = { scale = "three"',
            "found scale = 'three'; expected one of two",
        ),
        ("t-1 = {", "q-1 = {", "a question of both [context] and [target]"),
        ("[target]\n", "[aim]\n", "column 'target': found no questions"),
        ("[scale.two]", "[scale", "text that is not TOML"),
    ],
)
def test_a_fault_of_a_population_is_named_with_its_place(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    path = tmp_path / "people.toml"
    assert SPEC.count(old) >= 1
    path.write_text(SPEC.replace(old, new, 1))
    with pytest.raises(InputError) as raised:
        read_population(path)
    assert said in str(raised.value)


def test_all_faults_of_a_population_are_named_at_once(tmp_path: Path) -> None:
    path = tmp_path / "people.toml"
    path.write_text("colour = 1\n")
    with pytest.raises(InputError) as raised:
        read_population(path)
    named = {finding.column for finding in raised.value.findings}
    assert named == {
        "colour",
        "seed",
        "respondents",
        "axes",
        "profile",
        "scale",
        "context",
        "target",
    }
