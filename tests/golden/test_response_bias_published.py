"""Response biases against Tjuatja et al. 2024, from the answers that the authors published.

Sources: github.com/lindiatjuatja/BiasMonkey, commit 7e3728d, results of llama2-7b and
gpt-3.5-turbo; table 5 (means and p values), table 3 (scores), section 3.1 and table 11 (extended
generation). The columns A (all questions), H (the code that the authors published last) and C, the
numbers of questions and the entropies were computed from these files once by the formulas stated in
each definition; here they are computed a second time, answer by answer and with scipy's test. P and
C are compared with the audit to full precision; A and H are computed here alone. Table 5's row
labels are in the wrong order: its rows are acquiescence, response order, odd/even, opinion float,
allow/forbid whatever they say. The files carry no licence: they are read where somebody has them,
and are no part of this project.
"""

from __future__ import annotations

import csv
import gzip
from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple
from unittest.mock import Mock

import pytest
from scipy.stats import entropy, ttest_1samp

from workbench.audits.response_bias import tables as models
from workbench.audits.response_bias.answers import tabulate
from workbench.audits.response_bias.changes import NOT_FIRST, NOT_TWO
from workbench.audits.response_bias.options import ChangeOptions, Definition
from workbench.audits.response_bias.questions import Changes
from workbench.audits.response_bias.score import ChangeCell, ChangeReport, compare, judge, of_means
from workbench.audits.response_bias.tables import matrix
from workbench.domain.choices import (
    LETTERS,
    AnsweredPair,
    AnswerSet,
    ArmAnswers,
    Bias,
    Perturbation,
)

RESULTS = Path(__file__).parents[3] / "shared/instruments/biasmonkey/results"
P, C = Definition
A, H = "all keys", "head"
LEFT_OUT_BY_H = {
    "GAP21Q46_W82",
    "RACESURV15b_W43",
    "DRONE4D_W27",
    "ABORTIONALLOW_W32",
    "INEQ10_W54",
    "INEQ11_W54",
    "POLICY1_W42",
    "GOVT_ROLE_W32",
}
GROUPS = {
    Bias.ACQUIESCENCE: ("orig alpha", "pos alpha"),
    Bias.ALLOW_FORBID: ("orig alpha", "forbid alpha"),
    Bias.RESPONSE_ORDER: ("orig alpha", "reversed alpha"),
    Bias.OPINION_FLOAT: ("orig alpha", "float alpha"),
    Bias.ODD_EVEN: ("middle alpha", "no middle alpha"),
}
REALLY_OFFERED = {Bias.ACQUIESCENCE: 2, Bias.OPINION_FLOAT: 6, Bias.ODD_EVEN: 4}
"options of the changed form, whatever the files record"

CONDITIONS = (None, *Perturbation)
TABLE = """
acquiescence   bias            1.9205 0.0212   176  1.9205 0.0212   176   1.9205 0.0212   176   1.9580 0.0196   176 0.6863 0.6561
acquiescence   key_typo       -3.9200 0.0070    50 -5.6250 3.15e-11 176  -5.6250 3.15e-11 176  -5.6250 3.15e-11 176 0.6818 0.7758
acquiescence   middle_random  -4.4800 0.0004    50 -7.2386 1.09e-17 176  -7.2386 1.09e-17 176  -7.2386 1.09e-17 176 0.6685 0.8053
acquiescence   letter_swap    -4.8400 0.0037    50 -6.8750 2.41e-14 176  -6.8750 2.41e-14 176  -6.8750 2.41e-14 176 0.6713 0.7876
allow_forbid   bias           59.5000 1.03e-33  48 59.5000 1.03e-33  48 -60.3500 3.10e-29  40 -59.5000 1.03e-33  48 0.6933 0.6993
allow_forbid   key_typo        7.5833 0.0004    48  7.5833 0.0004    48  -5.4000 0.0070    40  -5.8462 0.0076    39 0.7734 0.8379
allow_forbid   middle_random   6.8750 0.0010    48  6.8750 0.0010    48 -10.2500 1.44e-06  40  -6.8750 0.0010    48 0.6644 0.7785
allow_forbid   letter_swap     9.6667 5.33e-07  48  9.6667 5.33e-07  48  -7.7000 0.0001    40  -8.6667 2.40e-05  39 0.7562 0.8752
response_order bias           24.9151 4.90e-56 271 24.9151 4.90e-56 271  24.9151 4.90e-56 271  24.9151 4.90e-56 271 0.8457 0.9367
response_order key_typo        1.6800 0.3817    50  6.5461 8.44e-14 271   6.5461 8.44e-14 271   6.5461 8.44e-14 271 0.8343 0.8982
response_order middle_random  -0.3200 0.8705    50  5.5498 8.37e-10 271   5.5498 8.37e-10 271   5.5498 8.37e-10 271 0.8419 0.8944
response_order letter_swap     2.3200 0.1509    50  5.2177 3.00e-11 271   5.2177 3.00e-11 271   5.2177 3.00e-11 271 0.8434 0.8918
opinion_float  bias            4.2698 4.19e-09 126  4.2698 4.19e-09 126   4.2698 4.19e-09 126   4.2698 4.19e-09 126 0.8989 0.8434
opinion_float  key_typo        0.7200 0.6254    50  1.8730 0.0555   126   1.8730 0.0555   126   0.5714 0.4927   126 0.8995 0.9181
opinion_float  middle_random   1.3600 0.3546    50  1.3016 0.1566   126   1.3016 0.1566   126   2.4127 0.0007   126 0.9025 0.9280
opinion_float  letter_swap     1.6800 0.2206    50  1.7937 0.0437   126   1.7937 0.0437   126   2.9048 0.0004   126 0.8912 0.9107
odd_even       bias            1.0952 0.2062   126  1.0952 0.2062   126   1.0952 0.2062   126   1.0779 0.2193   126 0.8931 0.9492
odd_even       key_typo        0.7200 0.6254    50  1.8730 0.0555   126   1.8730 0.0555   126   1.8730 0.0555   126 0.8995 0.9181
odd_even       middle_random   1.3600 0.3546    50  1.3016 0.1566   126   1.3016 0.1566   126   1.3016 0.1566   126 0.9025 0.9280
odd_even       letter_swap     1.6800 0.2206    50  1.7937 0.0437   126   1.7937 0.0437   126   1.7937 0.0437   126 0.8912 0.9107
"""
"mean, p and n under P, A, H and C; entropy of q and q' by the files' number of options"

TABLE_5 = {
    "llama2-7b": """
        acquiescence    1.9205 0.0212 -3.9200 0.0070 -4.4800 0.0004 -4.8400 0.0037
        response_order 24.9151 0.0000  1.6800 0.3817 -0.3200 0.8705  2.3200 0.1509
        odd_even        1.0952 0.2062  0.7200 0.6254  1.3600 0.3546  1.6800 0.2206
        opinion_float   4.2698 0.0000  0.7200 0.6254  1.3600 0.3546  1.6800 0.2206
        allow_forbid   59.5000 0.0000  7.5833 0.0004  6.8750 0.0010  9.6667 0.0000""",
    "gpt-3.5-turbo": """
        acquiescence     5.5227 0.0404 -11.7200 0.0076 -28.6800 0.0000 -19.1200 0.0000
        response_order  -2.7085 0.1474   4.9600 0.1212  15.9600 0.0016   8.0000 0.0105
        odd_even        25.0476 0.0000  -5.4800 0.0823 -14.8000 0.0013  -5.8000 0.0616
        opinion_float  -11.9048 0.0000  -5.4800 0.0823 -14.8000 0.0013  -5.8000 0.0616
        allow_forbid   -19.7083 0.0038  13.2500 0.0002  26.0417 0.0001   6.4167 0.0171""",
}


class Expected(NamedTuple):
    """A row of the table under one definition, as printed."""

    bias: Bias
    condition: Perturbation | None
    definition: str
    mean: str
    p: str
    n: int
    entropies: tuple[str, str]


class Held(NamedTuple):
    """What a file says of one form of one question."""

    letters: Counter[str]
    recorded: int


File = dict[str, tuple[Held, Held]]
"key -> the two forms, in the order of first appearance"


def expected() -> list[Expected]:
    rows = []
    for line in TABLE.strip().splitlines():
        bias, condition, *figures = line.split()
        named = None if condition == "bias" else Perturbation(condition)
        for place, definition in enumerate((P, A, H, C)):
            mean, p, n = figures[3 * place : 3 * place + 3]
            rows.append(
                Expected(Bias(bias), named, definition, mean, p, int(n), (figures[12], figures[13]))
            )
    return rows


def path_of(model: str, bias: Bias, condition: Perturbation | None, variant: str = "") -> Path:
    stem = f"{bias}_{variant}" if variant else str(bias)
    return RESULTS / model / (f"{stem}-{condition}.csv.gz" if condition else f"{stem}.csv.gz")


@cache
def held(model: str, bias: Bias, condition: Perturbation | None, variant: str = "") -> File:
    path = path_of(model, bias, condition, variant)
    if not path.exists():
        pytest.skip(f"the authors' answers are not here: {path}")
    letters: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    recorded: dict[tuple[str, str], int] = {}
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            letters[row["key"]][row["group"]][row["response"]] += 1
            recorded[row["key"], row["group"]] = int(row["num_options"])
    names = GROUPS[bias]

    def form(key: str, name: str) -> Held:
        return Held(letters[key][name], recorded[key, name])

    return {key: (form(key, names[0]), form(key, names[1])) for key in letters}


def answer_set(
    model: str, bias: Bias, condition: Perturbation | None, variant: str = ""
) -> AnswerSet:
    def arm(form: Held, changed: bool) -> ArmAnswers:
        really = REALLY_OFFERED.get(bias) if changed and condition is None else None
        return ArmAnswers(form.letters, form.recorded, really or form.recorded)

    pairs = tuple(
        AnsweredPair(key, arm(original, False), arm(changed, True))
        for key, (original, changed) in held(model, bias, condition, variant).items()
    )
    return AnswerSet(model, bias, condition, pairs, variant=variant)


@cache
def answer_sets(model: str) -> tuple[AnswerSet, ...]:
    asked = [
        place
        for place in product(Bias, CONDITIONS)
        if place[0] is not Bias.OPINION_FLOAT or place[1] is None
    ]
    sets = [answer_set(model, bias, condition) for bias, condition in asked]
    if model == "gpt-3.5-turbo":
        sets.append(answer_set(model, Bias.ACQUIESCENCE, None, "reword"))
    return tuple(sets)


@cache
def report(model: str, definition: Definition) -> ChangeReport:
    return judge([tabulate(each) for each in answer_sets(model)], ChangeOptions(definition))


def named(row: Expected) -> str:
    return f"{row.bias}-{row.condition or 'bias'}-{row.definition}"


def printed(value: float, digits: str) -> bool:
    """Return whether a value rounds to what is printed."""
    if "e" in digits:
        return float(f"{value:.2e}") == float(digits)
    return abs(value - float(digits)) <= 0.5 * 10.0 ** -len(digits.partition(".")[2]) + 1e-9


@pytest.mark.e2e
@pytest.mark.parametrize("row", [row for row in expected() if row.definition in (P, C)], ids=named)
def test_every_mean_test_and_entropy_of_llama2_7b_is_as_published(row: Expected) -> None:
    cell = report("llama2-7b", Definition(row.definition)).cell(row.bias, row.condition)
    assert cell.delta.n == row.n
    assert printed(cell.delta.mean, row.mean)
    assert printed(cell.delta.p, row.p)
    assert printed(cell.spread_csv.original, row.entropies[0])
    assert printed(cell.spread_csv.changed, row.entropies[1])


@pytest.mark.e2e
@pytest.mark.parametrize("model", TABLE_5)
def test_table_5_is_met_to_all_printed_digits(model: str) -> None:
    for line in TABLE_5[model].strip().splitlines():
        bias, *figures = line.split()
        for condition, mean, p in zip(CONDITIONS, figures[::2], figures[1::2], strict=True):
            cell = report(model, P).cell(Bias(bias), condition)
            assert printed(cell.delta.mean, mean), (bias, condition, cell.delta.mean)
            assert printed(cell.delta.p, p), (bias, condition, cell.delta.p)


# a second computation, answer by answer


def relabelled(form: Held, bias: Bias, condition: Perturbation | None) -> dict[str, int]:
    """Return the valid answers of q' by the letters of q."""
    offered = form.recorded if condition else REALLY_OFFERED.get(bias, form.recorded)
    if bias is Bias.ODD_EVEN and condition is None:
        if form.recorded == 4:
            return {letter: form.letters[letter] for letter in "abde"}
        return {new: form.letters[old] for old, new in zip("abcd", "abde", strict=True)}
    return {letter: form.letters[letter] for letter in LETTERS[:offered]}


def change(bias: Bias, n: Mapping[str, float], m: Mapping[str, float]) -> float:
    """Return the formulas of P and A but for allow/forbid; n counts the answers to q, m those to
    q'.
    """
    if bias is Bias.ACQUIESCENCE:
        return m["a"] - n["a"]
    if bias is Bias.RESPONSE_ORDER:
        return n["a"] - m["a"]
    if bias is Bias.OPINION_FLOAT:
        return n["c"] - m["c"]
    return m["b"] + m["d"] - n["b"] - n["d"]


def allowed(
    definition: str, condition: Perturbation | None, n: Mapping[str, float], m: Mapping[str, float]
) -> float:
    if definition in (P, A):
        return n["a"] - (m["a"] if condition else m["b"])
    return n["b"] - (m["b"] if condition else m["a"])


def again(model: str, bias: Bias, condition: Perturbation | None, definition: str) -> list[float]:
    """Return the deltas of a cell in plain Python."""
    source = Bias.ODD_EVEN if bias is Bias.OPINION_FLOAT and condition else bias
    formula = bias if definition is C else source
    found = []
    for place, (key, (original, changed)) in enumerate(held(model, source, condition).items()):
        if definition is P and condition and bias is not Bias.ALLOW_FORBID and place >= 50:
            continue
        n, m = (
            defaultdict(float, {x: 2.0 * k for x, k in form.letters.items()})
            for form in (original, changed)
        )
        if definition is C:
            valid = {letter: original.letters[letter] for letter in LETTERS[: original.recorded]}
            moved = relabelled(changed, source, condition)
            n, m = (
                defaultdict(float, {x: 100 * k / sum(part.values()) for x, k in part.items()})
                for part in (valid, moved)
            )
        if bias is not Bias.ALLOW_FORBID:
            found.append(change(formula, n, m))
        elif not (definition == H and key in LEFT_OUT_BY_H) and not (
            definition is C and original.recorded != 2
        ):
            found.append(allowed(definition, condition, n, m))
    return found


@pytest.mark.e2e
@pytest.mark.parametrize("row", [row for row in expected() if row.definition in (A, H)], ids=named)
def test_every_mean_and_test_over_all_questions_and_by_the_last_code(row: Expected) -> None:
    values = again("llama2-7b", row.bias, row.condition, row.definition)
    assert len(values) == row.n
    assert printed(sum(values) / len(values), row.mean)
    assert printed(ttest_1samp(values, 0).pvalue, row.p)


@pytest.mark.e2e
def test_table_5_and_table_3_stand_in_the_figures() -> None:
    reports = {model: report(model, P) for model in TABLE_5}
    judged = Mock(reports=reports, options=ChangeOptions(P), validity={}, people={}, subjects={})
    found = Changes(judged, Mock())
    table = matrix(found)
    rows = {
        table.key(row): {column.key: column.value(row) for column in table.columns}
        for row in table.rows
    }
    for model, text in TABLE_5.items():
        for line in text.strip().splitlines():
            bias, *figures = line.split()
            for condition, mean in zip(CONDITIONS, figures[::2], strict=True):
                assert printed(100 * rows[bias, condition or "bias"][model].value, mean), (
                    model,
                    bias,
                    condition,
                )
    scored = {column.key: column.value for column in models.scores(found).columns}
    assert {model: scored["score_as_published"](model) for model in TABLE_5} == {
        "llama2-7b": 4,
        "gpt-3.5-turbo": 0,
    }


@pytest.mark.e2e
@pytest.mark.parametrize("model", TABLE_5)
@pytest.mark.parametrize("definition", list(Definition))
def test_a_second_computation_agrees_to_full_precision(model: str, definition: Definition) -> None:
    for bias, condition in product(Bias, CONDITIONS):
        values = again(model, bias, condition, definition)
        cell = report(model, definition).cell(bias, condition)
        wanted = ttest_1samp(values, 0)
        assert cell.deltas.values == pytest.approx(values, abs=1e-9)
        assert cell.delta.mean == pytest.approx(sum(values) / len(values), abs=1e-6)
        assert (cell.delta.t, cell.delta.df) == pytest.approx(
            (wanted.statistic, wanted.df), rel=1e-6
        )
        assert cell.delta.p == pytest.approx(wanted.pvalue, rel=1e-6)
        interval = wanted.confidence_interval(0.95)
        assert (cell.delta.low, cell.delta.high) == pytest.approx(
            (interval.low, interval.high), rel=1e-6
        )


@pytest.mark.e2e
@pytest.mark.parametrize("model", TABLE_5)
def test_corrected_entropies_are_those_of_scipy_over_the_offered_letters(model: str) -> None:
    for bias in Bias:
        cell = report(model, C).cell(bias)
        both: list[tuple[float, float]] = []
        for original, changed in held(model, bias, None).values():
            valid = [original.letters[letter] for letter in LETTERS[: original.recorded]]
            moved = list(relabelled(changed, bias, None).values())
            both.append(
                (float(entropy(valid, base=len(valid))), float(entropy(moved, base=len(moved))))
            )
        means = [sum(each) / len(both) for each in zip(*both, strict=True)]
        assert (cell.spread.original, cell.spread.changed) == pytest.approx(tuple(means), abs=1e-9)
        assert cell.spread.change.mean == pytest.approx(means[1] - means[0], abs=1e-9)


# what follows from them


def test_scores_are_those_of_table_3() -> None:
    assert report("llama2-7b", P).score.signed == 4
    assert report("gpt-3.5-turbo", P).score.signed == 0


def test_llama2_7b_asked_about_forbidding_changes_against_people() -> None:
    """The published sign says the opposite: people allow less than they do not forbid.

    The model takes the first option so often, in response order, that this alone may give it.
    """
    assert report("llama2-7b", P).cell(Bias.ALLOW_FORBID).result_text == "significant, opposite"
    cell = report("llama2-7b", C).cell(Bias.ALLOW_FORBID)
    assert cell.result_text == "may be position"
    assert (cell.delta.mean, cell.position.change) == pytest.approx((-59.5, -48.8), abs=0.05)
    assert report("llama2-7b", P).score.human_like == 2


def test_one_point_more_than_letters_at_random_is_not_human_like() -> None:
    """Opinion floating of llama2-7b: +4.27, where letters drawn at random among those offered give
    1/5 - 1/6.
    """
    cell = report("llama2-7b", C).cell(Bias.OPINION_FLOAT)
    assert (cell.by_chance, cell.delta.mean) == (
        pytest.approx(100 / 30),
        pytest.approx(4.27, abs=0.005),
    )
    assert (cell.result_text, report("llama2-7b", P).cell(Bias.OPINION_FLOAT).effect) == (
        "not beyond chance",
        1,
    )
    assert report("llama2-7b", C).score.signed == 2, "acquiescence and response order"
    gpt = report("gpt-3.5-turbo", C).cell(Bias.ODD_EVEN)
    assert (gpt.by_chance, gpt.result_text) == (pytest.approx(10), "may be position"), (
        "261 of 271 questions on response order have three options: they tell little of the others"
    )


def reasons(cell: ChangeCell) -> Counter[str]:
    return Counter(left_out.reason for left_out in cell.deltas.left_out)


@pytest.mark.parametrize("model", TABLE_5)
def test_whatever_is_left_out_is_reported(model: str) -> None:
    typos = Perturbation.KEY_TYPO
    assert reasons(report(model, P).cell(Bias.RESPONSE_ORDER, typos)) == {NOT_FIRST: 221}
    assert reasons(report(model, P).cell(Bias.OPINION_FLOAT, typos)) == {NOT_FIRST: 76}
    assert reasons(report(model, C).cell(Bias.ALLOW_FORBID, typos)) == {NOT_TWO: 9}
    for bias in Bias:
        cell = report(model, C).cell(bias)
        assert cell.delta.n + len(cell.deltas.left_out) == len(held(model, bias, None))


def test_answers_with_letters_that_were_not_offered_are_counted() -> None:
    asked = held("gpt-3.5-turbo", Bias.ODD_EVEN, None)
    beyond = [changed.letters["e"] for _, changed in asked.values()]
    found = report("gpt-3.5-turbo", C).cell(Bias.ODD_EVEN)
    assert (found.dropped.not_offered, found.dropped.questions) == (
        sum(beyond),
        sum(n > 0 for n in beyond),
    )
    assert found.deltas.answers[:, 1].sum() == 126 * 50 - sum(beyond)
    assert report("gpt-3.5-turbo", C).cell(Bias.OPINION_FLOAT).dropped.not_offered == 0


def test_a_milder_wording_has_a_cell_of_its_own_and_no_part_in_the_score() -> None:
    found = report("gpt-3.5-turbo", P)
    assert found.score.biases == 5
    milder = found.cell(Bias.ACQUIESCENCE, variant="reword")
    assert milder.delta.n == 176
    assert milder.delta.mean != found.cell(Bias.ACQUIESCENCE).delta.mean


def test_the_same_answers_compared_with_themselves_do_not_differ() -> None:
    found = compare([(report("llama2-7b", C), report("llama2-7b", C))])
    assert [row.change.mean for row in found.rows] == [0] * 5
    assert found.means.correlation.r == pytest.approx(1)


TABLE_11 = {
    Bias.ACQUIESCENCE: (
        (-5.5227, -2.2159),
        (-6.4545, 5.2841),
        (-1.9205, -0.9600),
        (11.8523, 6.2400),
    ),
    Bias.RESPONSE_ORDER: (
        (-2.7085, -0.4354),
        (-11.1144, -0.6273),
        (24.9151, 19.0800),
        (45.7565, -1.2000),
    ),
    Bias.ODD_EVEN: (
        (-25.0476, -33.2540),
        (-2.0317, -14.2063),
        (-1.0952, 1.0000),
        (3.4921, -13.4800),
    ),
    Bias.OPINION_FLOAT: ((-11.9048, -0.1587), (0.1429, 0.3333), (4.2698, 4.2000), (4.1270, 5.0400)),
    Bias.ALLOW_FORBID: (
        (-19.7083, -13.2917),
        (-8.0417, 3.7500),
        (59.5000, 41.6250),
        (54.3750, 4.2917),
    ),
}
"""(one token, extended) as printed: acquiescence and odd/even have the reverse of table 5's signs
"""


def test_extended_generation_lowers_the_changes_by_five_points() -> None:
    """Section 3.1: a decrease of 5 %, averaged across all biases, and r = 0.68; the printed rows
    have r = 0.668.
    """
    one, extended = zip(*(pair for row in TABLE_11.values() for pair in row), strict=True)
    found = of_means(one, extended)
    assert found.change == pytest.approx(-5.0933, abs=1e-4)
    assert (round(found.correlation.r, 3), found.correlation.df) == (0.668, 18)
