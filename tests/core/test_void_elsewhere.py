"""Questions, wordings and forms that read like their original are void in the other audits, too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.core.predicted import QM, predicted
from tests.response_answers import table
from workbench.audits.questionnaire.cells import PredictionIndex, RespondentDraws
from workbench.audits.questionnaire.score import ALL_VOID, variability
from workbench.audits.response_bias.changes import VOID, deltas
from workbench.audits.response_bias.options import Definition
from workbench.audits.response_bias.reading import void_questions
from workbench.domain.choices import Bias, Choice, ChoicePair
from workbench.domain.instruments import Instrument, with_pairs
from workbench.domain.statements import ORIGINAL, VariantId, VariantKind

PAIRS = [("aaab", "abbb"), ("aabb", "aaab"), ("bbbb", "aaaa")]


@pytest.mark.parametrize("bias", [Bias.ACQUIESCENCE, Bias.ALLOW_FORBID, Bias.RESPONSE_ORDER])
def test_a_question_with_one_text_in_both_forms_is_void_by_the_corrected_definition_alone(
    bias: Bias,
) -> None:
    base = table(bias, PAIRS)
    marked = replace(base, void=frozenset({"q1"}))
    found = deltas(marked)
    assert found.keys == ("q0", "q2")
    assert [(of.key, of.reason) for of in found.left_out] == [("q1", VOID)]
    assert (
        deltas(marked, Definition.PAPER).keys
        == deltas(base, Definition.PAPER).keys
        == ("q0", "q1", "q2")
    )


def test_void_questions_are_found_by_their_texts() -> None:
    first, second = (
        Choice("Should dogs be allowed?", ("Yes", "No")),
        Choice("Should cats be allowed?", ("Yes", "No")),
    )
    shouted = Choice("SHOULD dogs be  allowed?", ("Yes", "No"))
    pairs = [
        ChoicePair("dogs", Bias.ALLOW_FORBID, first, shouted),
        ChoicePair(
            "cats", Bias.ALLOW_FORBID, second, Choice("Should cats be forbidden?", ("Yes", "No"))
        ),
    ]
    made = with_pairs(Instrument("asked", "Asked", ()), pairs)
    items = {item.ref: item for item in made.choices}
    assert void_questions(made, items, "en") == {
        (Bias.ALLOW_FORBID, None, "", 1): frozenset({"dogs"})
    }


PARAPHRASES = tuple(VariantId(VariantKind.PARAPHRASE, n) for n in (1, 2, 3))


def test_a_wording_that_repeats_its_original_is_no_part_of_the_variability() -> None:
    """Of four respondents, all read; the third paraphrase is the original over again."""
    rng = np.random.default_rng(4)
    human = [[1.0, 0.0, 1.0, 0.0]]
    yes = {wording: rng.random((1, 4)) for wording in (ORIGINAL, *PARAPHRASES[:2])}
    yes[PARAPHRASES[2]] = yes[ORIGINAL]
    base = predicted(human, {(QM, wording): (share, 1 - share) for wording, share in yes.items()})
    void = np.zeros((4, 1), dtype=np.bool_)
    void[3] = True
    resampling = RespondentDraws(1, 4)
    (plain,) = variability(PredictionIndex(base), QM, resampling)
    (marked,) = variability(PredictionIndex(replace(base, void=void)), QM, resampling)
    biases = np.array([float((yes[wording] - human).mean()) for wording in PARAPHRASES])
    assert plain.sd.value == pytest.approx(biases.std())
    assert marked.sd.value == pytest.approx(biases[:2].std())
    assert (plain.k, marked.k, marked.void) == (3, 2, 1)
    assert marked.rms.value == plain.rms.value == pytest.approx(np.sqrt((biases**2).mean())), (
        "as printed"
    )
    (none,) = variability(
        PredictionIndex(replace(base, void=np.array([[False], [True], [True], [True]]))),
        QM,
        resampling,
    )
    assert none.sd.undefined == ALL_VOID
