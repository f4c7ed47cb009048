"""The authors' public download, as it is: every file, its numbers, and what is known to be odd in
it.

Counts of questions: Tjuatja et al. 2024, table 1, as published at
github.com/lindiatjuatja/BiasMonkey. Means: their table 5, to more digits; entropies: -sum p ln p /
ln n over the options that were really offered, mean over questions.
"""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import published
from workbench.domain.choices import AnswerSet, ArmAnswers, Bias, Perturbation
from workbench.formats.about import About
from workbench.formats.biasmonkey import BiasmonkeyDownload, read_biasmonkey
from workbench.formats.biasmonkey_files import sources, text_of
from workbench.formats.choice_instruments import write_choices
from workbench.formats.choices import read_choices
from workbench.formats.folder import put
from workbench.formats.records import Findings

QUESTIONS = {
    Bias.ACQUIESCENCE: 176,
    Bias.ALLOW_FORBID: 48,
    Bias.RESPONSE_ORDER: 271,
    Bias.OPINION_FLOAT: 126,
    Bias.ODD_EVEN: 126,
}
LLAMA, GPT = "llama2-7b", "gpt-3.5-turbo"


@cache
def _read(path: Path) -> BiasmonkeyDownload:
    return read_biasmonkey(path)


def download() -> BiasmonkeyDownload:
    return _read(published("biasmonkey"))


def of(model: str, bias: Bias, condition: Perturbation | None = None) -> AnswerSet:
    wanted = (model, bias, condition, "")
    return next(
        s for s in download().answers if (s.model, s.bias, s.condition, s.variant) == wanted
    )


@pytest.mark.e2e
def test_every_question_is_there_with_both_forms_and_its_errors_of_typing() -> None:
    pairs = download().pairs
    assert Counter(pair.bias for pair in pairs if not pair.variant) == QUESTIONS
    assert Counter(pair.bias for pair in pairs if pair.variant == "reword") == {
        Bias.ACQUIESCENCE: 176
    }
    assert all(pair.changed is not None for pair in pairs)
    unperturbed = {(pair.bias, pair.variant) for pair in pairs if len(pair.perturbed) != 3}
    assert unperturbed == {(Bias.ODD_EVEN, ""), (Bias.ACQUIESCENCE, "reword")}
    assert Counter(pair.middle_removed for pair in pairs if pair.bias is Bias.ODD_EVEN) == {
        False: 72,
        True: 54,
    }
    orders = Counter(
        len(pair.original.options) for pair in pairs if pair.bias is Bias.RESPONSE_ORDER
    )
    assert orders == {3: 261, 4: 7, 5: 3}


@pytest.mark.parametrize(("model", "files"), [(LLAMA, 17), (GPT, 18)])
def test_every_file_of_a_model_is_read_with_fifty_answers_to_each_form(
    model: str, files: int
) -> None:
    sets = [one for one in download().answers if one.model == model]
    assert len(sets) == files
    for one in sets:
        assert len(one.pairs) == QUESTIONS[one.bias]
        arms = [arm for pair in one.pairs for arm in (pair.original, pair.changed)]
        assert {sum(arm.counts.values()) for arm in arms} == {50}


@pytest.mark.parametrize("model", [LLAMA, GPT])
def test_keys_and_counts_are_those_of_a_plain_look_at_the_rows(model: str) -> None:
    found, _ = sources(published("biasmonkey", "results", model))
    for source in found:
        rows = [
            row.split(",") for row in (text_of(source, Findings()) or "").split("\n")[1:] if row
        ]
        one = next(
            s
            for s in download().answers
            if (s.model, s.bias, s.condition, s.variant)
            == (model, source.stem.bias, source.stem.condition, source.stem.variant)
        )
        assert [pair.key for pair in one.pairs] == list(dict.fromkeys(row[0] for row in rows))
        last = one.pairs[-1]
        assert last.changed.counts == Counter(
            r[1] for r in rows if r[0] == last.key and r[2] == rows[-1][2]
        )


def entropy(arm: ArmAnswers) -> float:
    counts = [n for letter, n in arm.counts.items() if letter]
    return -sum(n / sum(counts) * math.log(n / sum(counts)) for n in counts) / math.log(arm.offered)


@pytest.mark.parametrize(
    ("bias", "condition", "original", "changed"),
    [
        (Bias.ACQUIESCENCE, Perturbation.KEY_TYPO, 0.6818, 0.7758),
        (Bias.ALLOW_FORBID, Perturbation.KEY_TYPO, 0.7734, 0.8379),
        (Bias.RESPONSE_ORDER, None, 0.8457, 0.9367),
        (Bias.OPINION_FLOAT, None, 0.8989, 0.8434),
        (Bias.ODD_EVEN, None, 0.8931, 0.9492),
        (Bias.ODD_EVEN, Perturbation.KEY_TYPO, 0.8995, 0.9181),
    ],
)
def test_counts_and_offered_options_give_the_published_entropies(
    bias: Bias, condition: Perturbation | None, original: float, changed: float
) -> None:
    pairs = of(LLAMA, bias, condition).pairs
    assert sum(entropy(pair.original) for pair in pairs) / len(pairs) == pytest.approx(
        original, abs=5e-5
    )
    assert sum(entropy(pair.changed) for pair in pairs) / len(pairs) == pytest.approx(
        changed, abs=5e-5
    )


def test_the_order_of_keys_gives_the_published_mean_of_the_first_fifty() -> None:
    pairs = of(LLAMA, Bias.ACQUIESCENCE, Perturbation.KEY_TYPO).pairs
    deltas = [
        2 * (pair.changed.counts.get("a", 0) - pair.original.counts.get("a", 0)) for pair in pairs
    ]
    assert sum(deltas[:50]) / 50 == pytest.approx(-3.92)
    assert sum(deltas) / 176 == pytest.approx(-5.625)


NOTES = (
    "There are no prompts for odd_even-key_typo, odd_even-middle_random, odd_even-letter_swap.",
    "opinion_float-key_typo: 50 questions record one option more than their text has, which is "
    "the original with errors.",
    "gpt-3.5-turbo: 18 files, 278,600 answers; 0 without a letter, 357 with letters that were "
    "not offered.",
    "gpt-3.5-turbo, there are no answers for opinion_float-key_typo, opinion_float-middle_random, "
    "opinion_float-letter_swap.",
    "gpt-3.5-turbo, opinion_float: 126 of 126 questions record 5 options for the form with 6: the "
    "last one, no opinion, was drawn again whenever it was answered, and is answered 0 times.",
    "gpt-3.5-turbo, odd_even: 126 of 126 questions record 5 options for the form without the "
    "middle one, which offered 4: its letters were not renamed (c to d, d to e), and 357 answers "
    "are letters that it did not offer.",
    "gpt-3.5-turbo, allow_forbid-middle_random: 9 questions were asked with 3, 4 options, unlike "
    "the prompts here: RACESURV15b_W43, RACESURV47a_W43, RACESURV47b_W43, RACESURV47c_W43, "
    "RACESURV47d_W43 and 4 more.",
    "llama2-7b: 17 files, 261,000 answers; 0 without a letter, 97 with letters that were not "
    "offered.",
    "llama2-7b, acquiescence: TRANSGEND3_W29 has 3 options in its original and 2 in its changed "
    "form, for which 3 are recorded: 4 answers are letters that it did not offer.",
    "llama2-7b, odd_even: 50 of 126 questions record 5 options for the form without the middle "
    "one, which offered 4: its letters were not renamed (c to d, d to e), and 93 answers are "
    "letters that it did not offer.",
    "llama2-7b, odd_even: in 76 of 126 the letters were renamed; 0 answers c remain in these.",
    "The first 50 keys, which the published results of perturbations cover, are the same "
    "questions in all files of perturbations of acquiescence, response_order, odd_even.",
)


@pytest.mark.parametrize("note", NOTES)
def test_what_is_known_to_be_odd_is_said_with_its_numbers(note: str) -> None:
    assert note in download().notes


def test_no_other_oddity_is_said() -> None:
    assert not [note for note in download().notes if "slipped" in note or "have no answers" in note]
    assert not [
        note
        for note in download().notes
        if note.startswith("llama2-7b, allow_forbid-middle_random")
    ]


def test_only_the_files_that_follow_the_prompts_are_said_to_do_so() -> None:
    (other,) = [
        note
        for note in download().notes
        if note.startswith(f"{GPT}, the keys are in another order")
    ]
    files = other.removesuffix(".").rpartition(" in ")[2].split(", ")
    assert files == [
        f"{bias}-{one}"
        for bias in ("acquiescence", "response_order", "odd_even")
        for one in Perturbation
    ]


@pytest.mark.parametrize(
    ("model", "bias"), [(GPT, bias) for bias in Bias] + [(LLAMA, Bias.RESPONSE_ORDER)]
)
def test_published_answers_that_slip_by_a_row_are_warned_of(
    tmp_path: Path, model: str, bias: Bias
) -> None:
    path = published("biasmonkey", "results", model, f"{bias}.csv.gz")
    (source,), _ = sources(path)
    header, *rows = (text_of(source, Findings()) or "").removesuffix("\n").split("\n")
    cells = [row.split(",") for row in rows]
    moved = [",".join((key, cells[n - 1][1], *rest)) for n, (key, _, *rest) in enumerate(cells)]
    place = tmp_path / model / f"{bias}.csv"
    place.parent.mkdir()
    place.write_text("\n".join([header, *moved]) + "\n", encoding="utf-8")
    (found,) = read_biasmonkey(place).answers
    (said,) = found.warnings
    assert (
        f"{model}/{bias}.csv, column 'response': found answers that fit their questions better 1 "
        "row up" in said
    )


def test_all_published_questions_keep_in_the_plain_format(tmp_path: Path) -> None:
    pairs = download().pairs
    put(write_choices(pairs, About(name="pew")), tmp_path / "pew")
    assert read_choices(tmp_path / "pew").pairs == pairs
