"""Questionnaire Modeling against the tables of Haller et al. 2025.

Sources: table 1 (yes:no ratios), table 2 (base and tuned models) and table 3 (405B, GPT 3.5),
section 5.2 and figure 4 (correlations). The people's answers are not in the paper, but the number
of respondents of each question is: it is the only one up to 192 of which every printed accuracy is
a share, and the seven add up to the 1222 prompts of table 1. What rests on counts alone can be
rebuilt from that, exactly.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import sem

from tests.core.predicted import FEW, QM, asked
from workbench.audits.questionnaire.figures import ModelPredictions, TargetFigure
from workbench.audits.questionnaire.options import PredictionOptions
from workbench.audits.questionnaire.score import PredictionReport, correlations, judge
from workbench.stats.describe import pearson

QUESTIONS = ("13.1", "13.2", "13.3", "13.4", "13.5", "13.6", "13.7")
MAJORITY = (54.6, 62.0, 52.3, 70.1, 88.9, 51.1, 52.0)
HUMAN_ERROR = (3.7, 3.6, 3.8, 3.6, 2.4, 3.8, 3.8)
"± of the biases of all models that could be read throughout"
ACCURACY = {
    "Llama 8B Base": (30.8, 39.7, 77.3, 15.2, 74.9, 22.4, 81.4),
    "Llama 8B Instruct": (45.4, 87.7, 91.3, 70.1, 15.2, 72.4, 66.7),
    "Llama 70B Base": (26.5, 60.9, 82.0, 22.0, 88.3, 24.1, 77.4),
    "Llama 70B Instruct": (71.9, 95.5, 88.4, 70.1, 88.9, 83.9, 88.7),
    "OLMo Base": (48.6, 36.9, 19.2, 64.6, 4.1, 48.3, 23.7),
    "OLMo Instruct": (19.5, 5.6, 57.6, 70.1, 7.6, 51.1, 48.0),
    "Llama 405B Instruct": (67.0, 95.0, 93.6, 90.2, 88.3, 93.1, 94.4),
    "GPT 3.5": (54.6, 62.0, 81.4, 70.1, 88.9, 51.1, 52.5),
}
ACCURACY_ERROR = {
    "Llama 8B Base": (3.4, 3.7, 3.2, 2.8, 3.3, 3.2, 2.9),
    "Llama 8B Instruct": (3.7, 2.5, 2.2, 3.6, 2.8, 3.4, 3.6),
    "Llama 70B Base": (3.3, 3.7, 2.9, 3.2, 2.5, 3.3, 3.2),
    "Llama 70B Instruct": (3.3, 1.5, 2.5, 3.6, 2.4, 2.8, 2.4),
    "OLMo Base": (3.7, 3.6, 3.0, 3.7, 1.5, 3.8, 3.2),
    "OLMo Instruct": (2.9, 1.7, 3.8, 3.6, 2.0, 3.8, 3.8),
    "Llama 405B Instruct": (3.5, 1.6, 1.9, 2.3, 2.5, 1.9, 1.7),
    "GPT 3.5": (3.7, 3.6, 3.0, 3.6, 2.4, 3.8, 3.8),
}
BIAS = {
    "Llama 8B Base": (12.3, 6.9, 9.5, 17.7, -26.8, -3.6, 13.1),
    "Llama 8B Instruct": (31.5, -6.9, 3.7, -28.9, -73.1, -26.4, 30.6),
    "Llama 70B Base": (8.2, 0.6, 3.4, 21.0, -23.5, -2.9, 4.5),
    "Llama 70B Instruct": (0.0, 4.2, 4.9, -26.5, 0.9, -18.8, 10.8),
    "OLMo Base": (-40.4, -51.5, -70.3, -5.4, -94.5, -25.7, -67.9),
    "OLMo Instruct": (-68.1, -17.5, -26.8, -29.9, -78.7, -48.8, -51.9),
    "Llama 405B Instruct": (-19.8, 2.1, -0.9, 2.2, 6.8, -1.9, -1.3),
    "GPT 3.5": (-45.2, 29.4, 19.1, -28.8, 5.4, -46.2, 41.9),
}
AVERAGES = {
    "Llama 8B Base": ((48.8, 10.7), (12.8, 5.7)),
    "Llama 8B Instruct": ((64.1, 9.9), (28.7, 14.0)),
    "Llama 70B Base": ((54.5, 11.2), (9.2, 5.1)),
    "Llama 70B Instruct": ((83.9, 3.6), (9.4, 5.2)),
    "OLMo Base": ((35.1, 7.8), (50.8, 11.3)),
    "OLMo Instruct": ((37.1, 9.8), (46.0, 8.5)),
    "Llama 405B Instruct": ((88.8, 3.7), (5.0, 3.2)),
    "GPT 3.5": ((65.8, 5.6), (30.8, 13.7)),
}
"((average accuracy, ±), (average absolute bias, ±))"
OLMO_BASE_ERROR = (4.0, 4.3, 4.4, 2.1, 2.0, 4.1, 4.1)
RESPONDENTS = (185, 179, 172, 164, 171, 174, 177)
IN_TABLE_1 = {"Llama 8B Base": (790, 432), "GPT 3.5": (632, 590), "OLMo Base": (0, 1222)}


def rounded(share: float) -> float:
    """Return a share in per cent as the tables print it."""
    return round(100 * share + 1e-9, 1)


def test_each_question_has_one_number_of_respondents_that_fits_all_printed_shares() -> None:
    found = []
    for place, majority in enumerate(MAJORITY):
        shares = {majority, *(row[place] for row in ACCURACY.values())}
        fitting = [n for n in range(50, 193) if shares <= {rounded(k / n) for k in range(n + 1)}]
        assert len(fitting) == 1
        found += fitting
    assert tuple(found) == RESPONDENTS
    assert {sum(ratio) for ratio in IN_TABLE_1.values()} == {sum(RESPONDENTS)} == {1222}


def rebuilt(model: str, place: int) -> ModelPredictions:
    """Return predictions with the printed accuracy and bias of one model and question."""
    n, share = RESPONDENTS[place], MAJORITY[place] / 100
    # Whose majority says no.
    correct, says_yes = (
        round(n * ACCURACY[model][place] / 100),
        place not in (3, 5),
    )
    human = np.zeros(n)
    human[: round(n * (share if says_yes else 1 - share))] = 1
    wrong = np.zeros(n, dtype=bool)
    wrong[np.argsort(human != (BIAS[model][place] < 0), kind="stable")[: n - correct]] = True
    guess = np.where(wrong, 1 - human, human)
    wanted = (
        human.mean() + BIAS[model][place] / 100
    ) * n  # sum of p(yes), shared out over those guessed yes and no
    low, high = 0.5 * guess.sum(), guess.sum() + 0.499 * (n - guess.sum())
    at = np.clip((wanted - low) / (high - low), 0, 1)
    yes = np.where(guess == 1, 0.5 + 0.5 * at, 0.499 * at)
    return asked(human, yes, 1 - yes)


def figure(predictions: ModelPredictions, options: PredictionOptions = FEW) -> TargetFigure:
    return judge(predictions, options).condition(QM).targets[0]


@pytest.mark.parametrize("model", [name for name in ACCURACY if not name.startswith("OLMo")])
def test_the_published_error_of_a_bias_is_that_of_the_human_mean(model: str) -> None:
    """It hardly differs between models: a model that predicts nearly everybody has the error of one
    that guesses.
    """
    for place in range(len(QUESTIONS)):
        found = figure(rebuilt(model, place), PredictionOptions(draws=100, error="printed"))
        assert rounded(found.majority) == MAJORITY[place]
        assert rounded(found.accuracy.value) == ACCURACY[model][place]
        assert rounded(found.accuracy_se) == ACCURACY_ERROR[model][place]
        assert rounded(found.bias_se) == HUMAN_ERROR[place]


def test_the_paired_error_of_a_model_that_predicts_well_is_less_than_half_the_published_one() -> (
    None
):
    """Llama 70B Instruct, free market: accuracy 95.5 %, bias 4.2 ± 3.6 as printed."""
    predictions = rebuilt("Llama 70B Instruct", 1)
    printed, paired = (
        figure(predictions, PredictionOptions(draws=2_000, error=error))
        for error in ("printed", "paired")
    )
    assert rounded(paired.bias.value) == 4.2
    assert (rounded(printed.bias_se), round(100 * paired.bias_se)) == (3.6, 2)
    assert printed.bias == paired.bias  # the interval is the bootstrap's under both
    assert paired.bias.high - paired.bias.low == pytest.approx(2 * 1.97 * paired.bias_se, rel=0.1)


@pytest.mark.parametrize("place", range(len(QUESTIONS)))
def test_the_model_that_always_says_no_shows_how_unreadable_prompts_count(place: int) -> None:
    """OLMo base, table 2. A bias that is minus the mean answer of the readable people, and an
    accuracy whose right answers are among them and whose n is everybody, leave one way (once two)
    in which people can have answered; it gives each printed error exactly. So unreadable is wrong,
    has no part in the bias, and the bias is paired.
    """
    n, accuracy, bias = RESPONDENTS[place], ACCURACY["OLMo Base"][place], BIAS["OLMo Base"][place]
    ways = [
        (readable, yes)
        for readable in range(1, n + 1)
        for yes in range(readable + 1)
        if rounded((readable - yes) / n) == accuracy and rounded(yes / readable) == -bias
    ]
    assert len(ways) in (1, 2)
    for readable, yes in ways:
        people = np.arange(n)
        human, no = (people < yes).astype(float), np.where(people < readable, 0.9, 0.0)
        found = figure(asked(human, np.zeros(n), no), PredictionOptions(draws=100, error="printed"))
        assert (found.unreadable, found.ratio) == (n - readable, f"0:{readable}")
        assert (rounded(found.accuracy.value), rounded(-found.bias.value)) == (accuracy, -bias)
        assert (rounded(found.accuracy_se), rounded(found.bias_se)) == (
            ACCURACY_ERROR["OLMo Base"][place],
            OLMO_BASE_ERROR[place],
        )


def test_table_1_counts_prompts_that_cannot_be_read_as_no() -> None:
    """OLMo base has 0:1222 there, every prompt, although most answers of table 2 leave some out;
    ours tells them.
    """
    found = figure(asked([1, 0, 0], np.zeros(3), np.array([0.9, 0.9, 0.0])))
    assert (found.ratio, found.unreadable, found.respondents) == ("0:2", 1, 3)


@pytest.mark.parametrize("model", list(ACCURACY))
def test_the_published_error_of_the_average_absolute_bias_is_that_of_the_signed_biases(
    model: str,
) -> None:
    (accuracy, accuracy_error), (bias, bias_error) = AVERAGES[model]
    assert np.mean(ACCURACY[model]) == pytest.approx(accuracy, abs=0.06)
    assert sem(ACCURACY[model]) == pytest.approx(accuracy_error, abs=0.06)
    assert np.mean(np.abs(BIAS[model])) == pytest.approx(bias, abs=0.07)
    assert sem(BIAS[model]) == pytest.approx(bias_error, abs=0.06)


def test_ours_is_the_error_of_what_is_averaged() -> None:
    """Llama 8B base: 12.8 ± 5.7 as printed; the absolute biases vary by ± 2.9 only."""
    found = whole("Llama 8B Base").condition(QM)
    assert [rounded(value) for value in (found.absolute_bias.value, found.absolute_bias.se)] == [
        12.8,
        2.9,
    ]
    assert [rounded(value) for value in (found.accuracy.value, found.accuracy.se)] == [48.8, 10.7]
    assert rounded(found.majority) == 61.6


def whole(model: str) -> PredictionReport:
    """Return a report of all questions of a model, at the printed accuracies and biases."""
    size = max(RESPONDENTS)
    parts = [rebuilt(model, place) for place in range(len(QUESTIONS))]
    pad = [
        np.pad(part.human[0], (0, size - part.human.size), constant_values=np.nan) for part in parts
    ]
    yes, no = (
        np.stack([np.pad(mass, (0, size - mass.size)) for mass in masses])
        for masses in ([part.yes for part in parts], [part.no for part in parts])
    )
    return judge(asked(np.stack(pad), yes, no), PredictionOptions(draws=100))


def test_the_correlation_of_accuracy_and_absolute_bias_is_the_published_one() -> None:
    """Section 5.2: r = -.63, t(54) = -5.98, p < .001; significant for 13.3, 13.5 and 13.7."""
    accuracy, bias = np.array(list(ACCURACY.values())), np.abs(np.array(list(BIAS.values())))
    found = pearson(bias.ravel(), accuracy.ravel())
    assert (round(found.r, 2), found.df, found.n) == (-0.63, 54, 56)
    assert found.t == pytest.approx(-5.98, abs=0.01)
    assert found.p < 0.001
    each = {
        question: pearson(bias[:, place], accuracy[:, place])
        for place, question in enumerate(QUESTIONS)
    }
    assert {question for question, of in each.items() if of.p < 0.05} == {"13.3", "13.5", "13.7"}


def test_reports_give_the_published_correlation() -> None:
    names = [name for name in ACCURACY if not name.startswith("OLMo")]
    overall, *each = correlations({name: whole(name) for name in names}, QM)
    accuracy = np.array([ACCURACY[name] for name in names])
    expected = pearson(np.abs(np.array([BIAS[name] for name in names])).ravel(), accuracy.ravel())
    assert overall.target is None
    assert (overall.n, overall.df) == (42, 40)
    assert overall.r == pytest.approx(expected.r, abs=0.002)
    assert [of.target for of in each] == list(QUESTIONS)
    assert {of.n for of in each} == {6}
