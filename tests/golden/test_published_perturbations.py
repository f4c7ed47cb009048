"""How the published prompts with typos were made, measured with our own predicates, and ours beside
them.

Source: `prompts/<bias>-<perturbation>.csv` in the authors' repository `lindiatjuatja/BiasMonkey`
(commit 7e3728d), 621 questions a perturbation; Tjuatja et al. 2024, table 1 and appendix A.3, whose
definitions of two are exchanged.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass

import pytest

from tests.conftest import published
from workbench.domain.choices import Bias, Choice, ChoicePair, Perturbation
from workbench.workshop.choice_forms import pair_faults, pair_hints
from workbench.workshop.perturbations import ANY_LETTER, draw, fits

CHANGED = {
    Bias.ACQUIESCENCE: "pos alpha",
    Bias.ALLOW_FORBID: "forbid alpha",
    Bias.OPINION_FLOAT: "float alpha",
    Bias.RESPONSE_ORDER: "reversed alpha",
}
Words = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Prompts:
    questions: list[tuple[Choice, Choice]]
    words: Words

    @property
    def changed(self) -> Words:
        return [(old, new) for old, new in self.words if old != new]


def choice(cell: str) -> Choice:
    lines = cell.rstrip("\n").split("\n")
    first = next(place for place, line in enumerate(lines) if line.startswith("A. "))
    return Choice("\n".join(lines[:first]), tuple(line[3:] for line in lines[first:]))


def table(name: str) -> list[dict[str, str]]:
    with published("biasmonkey", "prompts", name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def prompts() -> dict[Perturbation, Prompts]:
    read = {}
    for perturbation in Perturbation:
        rows = [
            (row, column)
            for bias, column in CHANGED.items()
            for row in table(f"{bias}-{perturbation}.csv")
        ]
        questions = [(choice(row["orig alpha"]), choice(row[column])) for row, column in rows]
        words = [
            word
            for old, new in questions
            for word in zip(old.stem.split(), new.stem.split(), strict=True)
        ]
        read[perturbation] = Prompts(questions, words)
    return read


def share(words: Words) -> float:
    return sum(old != new for old, new in words) / len(words)


def test_every_changed_word_fits_its_perturbation_as_table_1_defines_it(
    prompts: dict[Perturbation, Prompts],
) -> None:
    counts = {
        kind: (sum(fits(kind, *pair) for pair in found.changed), len(found.changed))
        for kind, found in prompts.items()
    }
    assert all(fitting == changed for fitting, changed in counts.values()), counts
    assert {kind.value: changed for kind, (_, changed) in counts.items()} == {
        "key_typo": 2605,
        "middle_random": 4637,
        "letter_swap": 5937,
    }
    scrambled = prompts[Perturbation.MIDDLE_RANDOM].changed
    assert (
        sum(fits(Perturbation.LETTER_SWAP, *pair) for pair in scrambled) / len(scrambled) < 0.2
    ), "not one swap a word"


def test_options_never_have_errors(prompts: dict[Perturbation, Prompts]) -> None:
    for found in prompts.values():
        assert len(found.questions) == 621
        assert all(old.options == new.options for old, new in found.questions)


def test_which_words_have_errors(prompts: dict[Perturbation, Prompts]) -> None:
    typo, scrambled, swapped = (prompts[kind].words for kind in Perturbation)
    assert share(typo) == pytest.approx(0.195, abs=0.001)
    assert share([pair for pair in typo if len(pair[0]) < 4]) == pytest.approx(0.195, abs=0.01), (
        "short words too"
    )
    plain = [pair for pair in scrambled if re.fullmatch(r"[^\W\d_]{5,}", pair[0])]
    assert share(plain) == pytest.approx(0.931, abs=0.001)
    assert [pair for pair in set(scrambled) - set(plain) if pair[0] != pair[1]] == []
    long = [pair for pair in swapped if len(pair[0]) >= 5]
    assert share(long) == pytest.approx(0.969, abs=0.001)
    assert [pair for pair in swapped if len(pair[0]) < 5 and pair[0] != pair[1]] == []


def test_our_draws_of_the_same_questions_change_as_many_words(
    prompts: dict[Perturbation, Prompts],
) -> None:
    ours = {}
    for kind, found in prompts.items():
        drawn = [
            draw(old, str(at), kind, 1, 0, ANY_LETTER)
            for at, (old, _) in enumerate(found.questions)
        ]
        ours[kind] = sum(len(made.words) for made in drawn) / len(found.words)
        if kind is not Perturbation.MIDDLE_RANDOM:
            assert all(made.choice for made in drawn)
    theirs = {kind: share(found.words) for kind, found in prompts.items()}
    assert ours[Perturbation.KEY_TYPO] == pytest.approx(theirs[Perturbation.KEY_TYPO], abs=0.02)
    assert ours[Perturbation.MIDDLE_RANDOM] == pytest.approx(
        theirs[Perturbation.MIDDLE_RANDOM] / 0.931, abs=0.002
    )
    assert ours[Perturbation.LETTER_SWAP] < theirs[Perturbation.LETTER_SWAP], (
        "no word of four letters and a comma"
    )


def test_two_of_the_published_written_pairs_have_faults() -> None:
    found = {}
    for bias in (Bias.ACQUIESCENCE, Bias.ALLOW_FORBID):
        for row in table(f"{bias}.csv"):
            pair = ChoicePair(
                row["key"], bias, choice(row["orig alpha"]), choice(row[CHANGED[bias]])
            )
            found[bias, row["key"]] = (pair_faults(pair), pair_hints(pair))
    assert {key: faults for (_, key), (faults, _) in found.items() if faults} == {
        "TRANSGEND3_W29": ("the original form has 3 options, not two",),
        # It is misspelt.
        "GOVT_ROLE_W32": ("the changed form does not ask whether something is forbidden",),
    }
    assert (
        sum(bool(hints) for (bias, _), (_, hints) in found.items() if bias is Bias.ACQUIESCENCE)
        == 6
    )
