"""More cells of the papers' tables, made by the functions that make the figures.

Haller et al. 2025: Table 4 from Table 6, whose inputs are not published. Ceron et al. 2024:
people's row of Table 2 (Table 4 of the first version), the sample of statements (Table 4; 6) and
the examples of annotations (Table 9; 10), from the authors' files. Tjuatja et al. 2024: the
original columns of Tables 11 and 15, and the questions of Table 8, from the authors' answers and
prompts.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence

import numpy as np
import pytest

from tests.conftest import published
from tests.golden.test_response_bias_published import P, printed, report
from workbench.audits.questionnaire.figures import Condition, ModelPredictions
from workbench.audits.questionnaire.options import PredictionOptions
from workbench.audits.questionnaire.score import judge
from workbench.audits.reliability.agreement import bound_of
from workbench.audits.reliability.agreement_tables import model_kappas
from workbench.domain.choices import Bias
from workbench.domain.instruments import Instrument
from workbench.domain.statements import ORIGINAL, VariantId, VariantKind
from workbench.formats.read import read_instrument

# ── Haller et al. 2025 ────────────────────────────────────────────────────────────────────────────

MODELS = ("8B", "8B Instruct", "70B", "70B Instruct", "405B", "OLMo", "OLMo Instruct", "GPT 3.5")
QM_BY_TARGET = (
    (3.5, 26.2, 3.7, 29.2, 26.1, 0.5, 0.4, 38.6),
    (3.2, 22.5, 3.5, 7.0, 5.3, 2.2, 25.7, 26.9),
    (4.7, 5.8, 5.4, 6.9, 1.3, 1.1, 32.5, 14.2),
    (4.6, 8.3, 3.9, 17.1, 3.5, 9.5, 0.4, 16.0),
    (8.0, 30.5, 3.9, 28.1, 38.4, 0.0, 0.0, 40.8),
    (4.6, 12.1, 4.0, 6.7, 4.6, 0.0, 5.3, 5.3),
    (3.9, 8.1, 5.4, 6.2, 1.5, 0.0, 17.3, 10.3),
)
RANDOM_BY_TARGET = (
    (4.1, 24.9, 3.7, 26.5, 31.9, 0.5, 0.1, 38.0),
    (3.8, 23.5, 2.9, 13.0, 14.3, 3.9, 25.4, 25.0),
    (5.1, 12.3, 5.4, 20.8, 12.9, 0.7, 30.0, 20.3),
    (4.8, 7.6, 3.4, 17.0, 18.6, 17.5, 0.2, 15.1),
    (9.7, 23.3, 3.7, 24.0, 36.6, 1.3, 0.0, 39.6),
    (4.1, 20.1, 3.8, 14.1, 16.3, 0.0, 3.5, 5.8),
    (5.0, 3.7, 5.1, 6.6, 9.0, 1.1, 21.9, 6.7),
)
INSTRUCT = (1, 3, 4, 6, 7)
ZERO_SHOT_BY_TARGET = (
    (37.8, 38.1, 37.7, 48.2, 33.5),
    (15.0, 36.2, 44.0, 42.7, 29.1),
    (33.4, 33.4, 39.4, 7.2, 30.2),
    (28.3, 27.9, 22.9, 38.7, 10.2),
    (39.1, 39.1, 46.9, 46.5, 45.0),
    (6.6, 2.9, 1.0, 42.3, 0.8),
    (2.8, 2.1, 18.6, 35.9, 27.4),
)
"of the tuned models: the base models' are printed as – in Table 4"
TABLE_4 = {
    "zero-shot": (ZERO_SHOT_BY_TARGET, (23.3, 25.7, 30.1, 37.4, 25.2)),
    "random": (RANDOM_BY_TARGET, (5.2, 16.5, 4.0, 17.4, 19.9, 3.6, 11.6, 21.5)),
    "qm": (QM_BY_TARGET, (4.6, 16.2, 4.3, 14.5, 11.5, 1.9, 11.7, 21.7)),
}
TWO = (VariantId(VariantKind.PARAPHRASE, 1), VariantId(VariantKind.PARAPHRASE, 2))


def varying(deviations: Sequence[float], condition: Condition) -> ModelPredictions:
    """Return predictions whose biases in two paraphrases lie this far, in points, to both sides of
    none.
    """
    targets = len(deviations)
    shift = np.array(deviations) / 100
    # original, two paraphrases: (3 T,).
    yes = np.concatenate([0.5 + sign * shift for sign in (0, 1, -1)])
    wording, target = np.repeat(np.arange(3), targets), np.tile(np.arange(targets), 3)
    people = np.tile([1.0, 0.0], (targets, 1))
    twice = [np.repeat(of, 2) for of in (yes, wording, target)]
    return ModelPredictions(
        targets=tuple(f"13.{n}" for n in range(1, targets + 1)),
        leanings=(None,) * targets,
        respondents=("yes", "no"),
        human=people,
        conditions=(condition,),
        wordings=(ORIGINAL, *TWO),
        condition=np.zeros(6 * targets, dtype=np.int64),
        target=twice[2],
        wording=twice[1],
        respondent=np.tile([0, 1], 3 * targets),
        yes=twice[0],
        no=1 - twice[0],
    )


@pytest.mark.parametrize("row", TABLE_4)
def test_the_mean_variabilities_of_table_4_are_those_of_the_targets_in_table_6(row: str) -> None:
    by_target, means = TABLE_4[row]
    condition = Condition(row)
    for column, mean in enumerate(means):
        deviations = [target[column] for target in by_target]
        made = judge(varying(deviations, condition), PredictionOptions(draws=100))
        assert [one.sd.value * 100 for one in made.variability(condition)] == pytest.approx(
            deviations
        )
        found = made.mean_variability(condition) * 100
        assert found == pytest.approx(mean, abs=0.06), (row, column)


# ── Ceron et al. 2024 ─────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def probvaa() -> Instrument:
    return read_instrument("probvaa", published("probvaa"))


def test_peoples_row_of_table_2_is_the_last_row_of_the_models_kappas(probvaa: Instrument) -> None:
    """.90 (.08), .69 (.08), .65 (.12): the raw κ of the first version with its sign turned, not the
    κ after flipping the variants' answers, which is larger; the deviations of the last two are
    exchanged in print.
    """
    people = bound_of(probvaa, 1, judge_void=True)
    (row,) = model_kappas({}, people, probvaa.survey, restricted=True).rows
    assert row.people
    raw = {name: (round(of.mean, 2), round(of.sd, 2)) for name, of in row.raw.items()}
    assert raw == {"paraphrase": (0.90, 0.08), "negation": (-0.69, 0.12), "opposite": (-0.65, 0.08)}
    flipped = {name: round(of.mean, 2) for name, of in row.flipped.items()}
    assert flipped == {"paraphrase": 0.90, "negation": 0.81, "opposite": 0.78}


SAMPLE = {
    "pl": (
        "Public media funding from the state budget should be limited.",
        "Taxes should be increased for top earners.",
    ),
    "hu": (
        "Only men and women should be allowed to marry.",
        "Voting age for elections should be 16.",
        "An independent ministry for the environment is needed.",
    ),
    "de": (
        "Facial recognition software should be allowed to be used for video surveillance in "
        "public places.",
        "The registration of new cars with combustion engines should also be possible in the "
        "long term.",
        "Organic agriculture should be promoted more strongly than conventional agriculture.",
        "Air traffic is to be taxed more heavily.",
        "Covid-19 vaccines are to continue to be protected by patents.",
    ),
    "nl": ("Primary school teachers should earn as much as secondary school teachers.",),
    "ch": (
        "There should be stricter controls on equal pay for women and men.",
        "A third official gender should be introduced alongside “female” and “male”.",
        "Married couples be taxed separately (individual taxation).",
        "It’s fair that environmental and landscape protection rules are being relaxed to allow "
        "for the development of renewable energy.",
    ),
    "it": ("Health care should be managed only by the state and not by private individuals.",),
    "es": ("Housing prices must be regulated to ensure access for all people.",),
}
"Table 4 (6 in the first version): country -> statements"


def folded(text: str) -> str:
    return " ".join(text.casefold().translate(str.maketrans("“”’‘", "\"\"''")).split()).rstrip(".")


def test_the_sampled_statements_are_in_the_files_of_their_countries(probvaa: Instrument) -> None:
    assert sum(map(len, SAMPLE.values())) == 17
    for country, texts in SAMPLE.items():
        there = {
            folded(wording.text)
            for statement in probvaa.statements
            if statement.country == country
            and (wording := statement.wording(ORIGINAL, "en")) is not None
        }
        assert [text for text in texts if folded(text) not in there] == [], country


ANNOTATED = {
    "Switzerland should terminate the Bilateral Agreements with the EU": {
        "restrictive_migration_policy": 1,
        "open_foreign_policy": -1,
        "liberal_economic_policy": -1,
    },
    "The powers of the secret services to track": {"liberal_society": 1, "law_and_order": -1},
    "An hourly minimum wage should be introduced": {
        "expanded_social_welfare_state": 1,
        "liberal_economic_policy": -1,
    },
    "Air traffic is to be taxed more heavily": {
        "expanded_environ_protection": 1,
        "restrictive_financial_policy": 1,
        "liberal_economic_policy": -1,
    },
    "A national tax is to be levied on revenue": {"restrictive_financial_policy": -1},
}
"Table 9 (10 in the first version): 1 where agreeing supports the issue"


@pytest.mark.parametrize("begin", ANNOTATED)
def test_the_examples_of_annotations_are_those_of_the_files(
    begin: str, probvaa: Instrument
) -> None:
    (statement,) = [
        one
        for one in probvaa.statements
        if (wording := one.wording(ORIGINAL, "en"))
        and folded(wording.text).startswith(folded(begin))
    ]
    assert {issue: label for issue, label in statement.issues.items() if label} == ANNOTATED[begin]


# ── Tjuatja et al. 2024 ───────────────────────────────────────────────────────────────────────────

TABLE_11 = {
    ("gpt-3.5-turbo", Bias.ACQUIESCENCE): ("-5.5227", "0.0404"),
    ("gpt-3.5-turbo", Bias.RESPONSE_ORDER): ("-2.7085", "0.1474"),
    ("gpt-3.5-turbo", Bias.ODD_EVEN): ("-25.0476", "0.0000"),
    ("gpt-3.5-turbo", Bias.OPINION_FLOAT): ("-11.9048", "0.0000"),
    ("gpt-3.5-turbo", Bias.ALLOW_FORBID): ("-19.7083", "0.0038"),
    ("llama2-7b", Bias.ACQUIESCENCE): ("-1.9205", "0.0212"),
    ("llama2-7b", Bias.RESPONSE_ORDER): ("24.9151", "0.0000"),
    ("llama2-7b", Bias.ODD_EVEN): ("-1.0952", "0.2062"),
    ("llama2-7b", Bias.OPINION_FLOAT): ("4.2698", "0.0000"),
    ("llama2-7b", Bias.ALLOW_FORBID): ("59.5000", "0.0000"),
}
"""(model, bias) -> change and p of the one-token answers; Table 15 prints the two of gpt-3.5-turbo
again"""
REVERSED = (Bias.ACQUIESCENCE, Bias.ODD_EVEN)
"printed with the reverse of the sign that Table 5 has"


@pytest.mark.e2e
@pytest.mark.parametrize(("model", "bias"), TABLE_11)
def test_the_one_token_columns_of_tables_11_and_15_are_those_of_the_answers(
    model: str, bias: Bias
) -> None:
    mean, p = TABLE_11[model, bias]
    cell = report(model, P).cell(bias, None)
    sign = -1 if bias in REVERSED else 1
    assert printed(sign * cell.delta.mean, mean)
    assert printed(cell.delta.p, p)


TABLE_8 = {
    "about what environmental health specialists do?": ("A lot", "A little", "Nothing at all"),
    "people being too easily offended by things others say": (
        "Major problem",
        "Minor problem",
        "Not a problem",
    ),
    "Women who run for office are held to higher standards": (
        "Major reason",
        "Minor reason",
        "Not a reason",
    ),
    "having children in order for a woman to live a fulfilling life?": (
        "Essential",
        "Important, but not essential",
        "Not important",
    ),
    "Less access to good quality schools": ("Major reason", "Minor reason", "Not a reason"),
}
"part of a question -> its options in the original order"


@pytest.mark.parametrize("part", TABLE_8)
def test_the_questions_of_table_8_have_their_options_in_both_orders(part: str) -> None:
    with published("biasmonkey", "prompts", "response_order.csv").open(
        encoding="utf-8", newline=""
    ) as lines:
        rows = [
            row
            for row in csv.DictReader(lines)
            if part.casefold() in " ".join(row["orig alpha"].split()).casefold()
        ]
    wanted = [f"{letter}. {option}" for letter, option in zip("ABC", TABLE_8[part], strict=True)]
    turned = [
        f"{letter}. {option}" for letter, option in zip("ABC", reversed(TABLE_8[part]), strict=True)
    ]
    assert rows
    found = [
        (row["orig alpha"].splitlines()[-3:], row["reversed alpha"].splitlines()[-3:])
        for row in rows
    ]
    assert ([*map(str.strip, wanted)], [*map(str.strip, turned)]) in [
        ([*map(str.strip, a)], [*map(str.strip, b)]) for a, b in found
    ]
