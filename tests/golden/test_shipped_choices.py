"""The shipped multiple-choice questions are what data/README.md says: all five biases, formed by
the rules, our own.

Most of it is read with the standard library alone, so that it holds whatever the importer makes of
it.
"""

from __future__ import annotations

import csv
import re
import tomllib
from collections import Counter

import pytest

from tests.conftest import published
from tests.synthetic import synthetic_shares
from workbench.data import data_folder, shipped_templates
from workbench.domain.choices import LETTERS, Bias, Choice, ChoicePair, Perturbation
from workbench.formats.choice_instruments import write_choices
from workbench.formats.choices import read_choices
from workbench.workshop.choice_forms import (
    odd_even,
    opinion_floated,
    pair_faults,
    pair_hints,
    reversed_order,
)
from workbench.workshop.perturbations import with_draws

FOLDER = data_folder() / "instruments" / "veldania_choices"
COLUMNS = [
    "key",
    "bias",
    "topic",
    "original",
    "changed",
    "middle_removed",
    *(f"share_{n}" for n in range(1, 6)),
]

Row = dict[str, str]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    with (FOLDER / "choices.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def choice(cell: str) -> Choice:
    lines = cell.split("\n")
    first = lines.index(next(line for line in lines if line.startswith("A. ")))
    return Choice("\n".join(lines[:first]), tuple(line[3:] for line in lines[first:]))


def pair(row: Row) -> ChoicePair:
    return ChoicePair(
        row["key"], Bias(row["bias"]), choice(row["original"]), choice(row["changed"]), row["topic"]
    )


def of(rows: list[Row], *biases: Bias) -> list[ChoicePair]:
    return [pair(row) for row in rows if row["bias"] in biases]


def test_every_bias_has_twenty_questions_and_no_key_twice(rows: list[Row]) -> None:
    assert list(rows[0]) == COLUMNS
    assert Counter(row["bias"] for row in rows) == dict.fromkeys([bias.value for bias in Bias], 20)
    assert len({(row["key"], row["bias"]) for row in rows}) == 100
    assert len({row["key"] for row in rows}) == 80
    assert len({row["original"] for row in rows}) == 80, "the scales serve two biases"
    assert len({row["topic"] for row in rows}) >= 10


def test_every_cell_is_a_question_with_lettered_options(rows: list[Row]) -> None:
    for row in rows:
        for column in ("original", "changed"):
            assert choice(row[column]).lettered() == row[column], row["key"]
            letters = re.findall(r"^([A-Z])\. \S", row[column], re.MULTILINE)
            assert "".join(letters).lower() == LETTERS[: len(letters)]
            assert not re.search(r" {2}| $|^ ", row[column])


def test_the_importer_reads_what_the_files_hold(rows: list[Row]) -> None:
    read = read_choices(FOLDER)
    assert [
        (found.key, found.bias, found.original, found.changed, found.topic) for found in read.pairs
    ] == [
        (found.key, found.bias, found.original, found.changed, found.topic)
        for found in map(pair, rows)
    ]
    assert (read.about.name, read.about.templates) == ("veldania_choices", ("response_bias",))
    assert Counter(found.middle_removed for found in read.pairs) == {None: 80, True: 12, False: 8}
    assert sum(len(found.shares) == 5 for found in read.pairs) == 40
    written = write_choices(read.pairs, read.about)["choices.csv"].replace("\r\n", "\n")
    assert written == (FOLDER / "choices.csv").read_text(encoding="utf-8"), (
        "exported, it is the same file"
    )


def test_no_pair_has_a_fault_or_is_worth_a_look(rows: list[Row]) -> None:
    for row in rows:
        assert pair_faults(pair(row)) == pair_hints(pair(row)) == (), row["key"]


def test_the_changed_forms_are_those_that_follow_from_the_originals(rows: list[Row]) -> None:
    made = [reversed_order(found.original) for found in of(rows, Bias.RESPONSE_ORDER)]
    made += [opinion_floated(found.original) for found in of(rows, Bias.OPINION_FLOAT)]
    made += [odd_even(found.original) for found in of(rows, Bias.ODD_EVEN)]
    shipped = of(rows, Bias.RESPONSE_ORDER, Bias.OPINION_FLOAT, Bias.ODD_EVEN)
    assert [forms.changed for forms in made] == [found.changed for found in shipped]
    assert [forms.warnings for forms in made] == [()] * 60


def test_scales_are_the_same_under_both_biases_and_come_from_five_options_and_from_four(
    rows: list[Row],
) -> None:
    floats, odds = (
        [row for row in rows if row["bias"] == bias] for bias in (Bias.OPINION_FLOAT, Bias.ODD_EVEN)
    )
    assert [(row["key"], row["original"]) for row in floats] == [
        (row["key"], row["original"]) for row in odds
    ]
    assert Counter(row["middle_removed"] for row in odds) == {"yes": 12, "no": 8}
    assert {row["middle_removed"] for row in rows if row["bias"] != Bias.ODD_EVEN} == {""}


def test_reversed_questions_have_three_to_five_options(rows: list[Row]) -> None:
    counts = Counter(len(found.original.options) for found in of(rows, Bias.RESPONSE_ORDER))
    assert set(counts) == {3, 4, 5}


def test_shares_are_those_of_the_documented_generator_and_the_notes_say_that_nobody_was_asked(
    rows: list[Row],
) -> None:
    spec = tomllib.loads((FOLDER / "generator.toml").read_text(encoding="utf-8"))
    for row in rows:
        shares = tuple(float(row[f"share_{n}"]) for n in range(1, 6) if row[f"share_{n}"])
        wanted = synthetic_shares(row["key"], 5, spec["seed"], spec["concentration"])
        assert shares == (wanted if row["bias"] in spec["biases"] else ())
    about = tomllib.loads((FOLDER / "instrument.toml").read_text(encoding="utf-8"))
    assert about["licence"] == "CC-BY-4.0"
    assert any("Nobody was asked" in note and "synthetic" in note for note in about["notes"])


def test_every_question_can_have_every_error_in_draws_that_differ(rows: list[Row]) -> None:
    for row in rows:
        drawn = with_draws(pair(row), 0, 3)[0].perturbed
        assert set(drawn) == {(kind, number) for kind in Perturbation for number in (1, 2, 3)}, row[
            "key"
        ]
        for kind in Perturbation:
            assert len({drawn[kind, number].stem for number in (1, 2, 3)}) > 1, row["key"]


@pytest.mark.e2e
def test_no_question_is_one_of_the_published_prompts(rows: list[Row]) -> None:
    texts = set()
    for path in published("biasmonkey", "prompts").glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            texts |= {
                re.sub(r"\W+", " ", cell.split("\n")[0]).lower()
                for line in csv.reader(file)
                for cell in line
            }
    ours = {
        re.sub(r"\W+", " ", row[column].split("\n")[0]).lower()
        for row in rows
        for column in ("original", "changed")
    }
    assert len(texts) > 300
    assert not ours & texts
    long = {
        " ".join(words[at : at + 8])
        for text in texts
        if (words := text.split())
        for at in range(len(words) - 7)
    }
    assert not {text for text in ours if any(run in f" {text} " for run in long)}, (
        "no eight words in a row"
    )


def test_the_prompts_hold_the_question_once_and_end_as_published() -> None:
    # Tjuatja et al. 2024, appendix C; line ends as in the authors' runs.
    templates = shipped_templates("response_bias")
    families = "lettered extended steering steering steering-steps steering"
    assert " ".join(template.family for template in templates) == families
    shown = templates[0].render(Choice("Good?", ("Yes", "No")).lettered()).messages[0].content
    assert shown == (
        "Please answer the following question with one of the alphabetical options provided.\n"
        "Question: Good?\nA. Yes\nB. No\nAnswer:"
    )
    assert all(template.user.count("Question: {statement}") == 1 for template in templates)
