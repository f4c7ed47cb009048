"""What people are asked and in which order, and the bound that their answers are: values in, values
out.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import published, statement
from workbench.annotation.survey import ALL, PUBLISHED, Ask, SurveyDesign, arrange, draw
from workbench.audits.reliability.agreement import (
    pairs_of,
    relations_of,
    survey_agreement,
    upper_bound,
)
from workbench.domain.instruments import SurveyAnswer
from workbench.domain.statements import (
    NEGATION,
    OPPOSITE,
    ORIGINAL,
    QUESTION,
    Relation,
    Statement,
    VariantId,
    VariantKind,
    Wording,
)
from workbench.errors import UsageError
from workbench.stats.resampling import derive_rng

PARA = VariantId(VariantKind.PARAPHRASE, 1)
SECOND = VariantId(VariantKind.PARAPHRASE, 2)


def many(count: int) -> tuple[Statement, ...]:
    return tuple(statement(f"s-{n:03}") for n in range(count))


def drawn(
    statements: tuple[Statement, ...], design: SurveyDesign, seed: int = 1, **more: frozenset[Ask]
) -> list[Ask]:
    return [
        ask
        for group in draw(statements, "en", design, np.random.default_rng(seed), **more)
        for ask in group
    ]


def test_the_published_design_is_fifty_statements_in_four_wordings() -> None:
    asks = drawn(many(239), SurveyDesign())
    assert len(asks) == len(set(asks)) == 200
    assert len({ref for ref, _ in asks}) == 50
    assert Counter(variant.kind.value for _, variant in asks) == dict.fromkeys(PUBLISHED, 50)
    assert {v.ordinal for _, v in asks if v.kind is VariantKind.PARAPHRASE} == {1, 2, 3}, (
        "one of three, at random"
    )


def test_all_statements_are_asked_where_there_are_fewer() -> None:
    assert {ref for ref, _ in drawn(many(7), SurveyDesign())} == {s.ref for s in many(7)}


def test_the_seed_decides_what_is_drawn() -> None:
    first, again, other = (
        drawn(many(100), SurveyDesign(statements=10), seed) for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("variants", "wanted"),
    [
        (("negation",), {"original", "negation"}),
        (("original", "paraphrase-2"), {"original", "paraphrase-2"}),
        (
            (ALL,),
            {"original", "paraphrase-1", "paraphrase-2", "paraphrase-3", "negation", "opposite"},
        ),
        (("paraphrase-1", "paraphrase-3"), {"original", "paraphrase-1", "paraphrase-3"}),
    ],
)
def test_the_original_is_always_asked_and_variants_by_kind_number_or_all(
    variants: tuple[str, ...], wanted: set[str]
) -> None:
    assert {
        str(variant) for _, variant in drawn(many(3), SurveyDesign(variants=variants))
    } == wanted


def test_what_cannot_be_compared_is_not_asked() -> None:
    lonely = replace(statement("lonely"), wordings=statement("lonely").wordings[:1])
    headless = replace(statement("headless"), wordings=statement("headless").wordings[1:])
    free = [
        replace(w, stated=Relation.FREE) if w.variant == OPPOSITE else w
        for w in statement("free").wordings
    ]
    question = Wording(QUESTION, "en", "Should it?")
    mixed = replace(statement("free"), wordings=(*free, question))
    asks = drawn((lonely, headless, mixed), SurveyDesign(variants=(*PUBLISHED, ALL)))
    assert {ref for ref, _ in asks} == {"free"}
    assert not {OPPOSITE, QUESTION} & {variant for _, variant in asks}
    assert draw((mixed,), "de", SurveyDesign(), np.random.default_rng(1)) == ()


def test_what_was_asked_is_not_asked_again_and_a_second_paraphrase_is_no_substitute() -> None:
    statements = many(4)
    before = frozenset(drawn(statements, SurveyDesign()))
    assert drawn(statements, SurveyDesign(), asked=before) == []
    assert drawn(statements, SurveyDesign(), seed=9, asked=before) == [], (
        "another seed would draw other paraphrases"
    )
    missing = frozenset(before - {("s-000", NEGATION)})
    assert drawn(statements, SurveyDesign(), asked=missing) == [("s-000", NEGATION)]


@pytest.mark.parametrize(
    ("design", "says"),
    [
        (SurveyDesign(statements=0), "0 statements"),
        (SurveyDesign(seed=-1), "seed -1"),
        (SurveyDesign(variants=("haiku",)), "haiku"),
        (SurveyDesign(variants=("question",)), "question"),
        (SurveyDesign(variants=("paraphrase-x",)), "paraphrase-x"),
        (SurveyDesign(variants=("original",)), "only originals"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_words(design: SurveyDesign, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        design.check()


def gaps(asks: tuple[Ask, ...]) -> list[int]:
    """Return how many places apart two neighbouring wordings of one statement are."""
    last: dict[str, int] = {}
    found = []
    for place, (ref, _) in enumerate(asks):
        if ref in last:
            found.append(place - last[ref])
        last[ref] = place
    return found


@given(n=st.integers(1, 60), k=st.integers(1, 6), seed=st.integers(0, 10_000))
def test_wordings_of_one_statement_are_more_than_three_quarters_of_the_statements_apart(
    n: int, k: int, seed: int
) -> None:
    variants = [ORIGINAL, NEGATION, OPPOSITE, PARA, SECOND, QUESTION][:k]
    groups = [[(f"s{place}", variant) for variant in variants] for place in range(n)]
    asks = arrange(groups, np.random.default_rng(seed))
    assert sorted(map(str, asks)) == sorted(str(ask) for group in groups for ask in group)
    assert all(gap > n - max(1, n // 4) for gap in gaps(asks))


def test_statements_with_few_wordings_spread_over_the_rounds_of_one_with_many() -> None:
    long = [("long", VariantId(VariantKind.PARAPHRASE, n)) for n in range(1, 9)]
    groups = [long, *([(f"s{n}", ORIGINAL), (f"s{n}", NEGATION)] for n in range(30))]
    for seed in range(20):
        asks = arrange(groups, np.random.default_rng(seed))
        assert min(gaps(asks)) > 1
        assert len(asks) == 68


def test_the_order_is_shuffled_and_the_original_comes_first_no_more_often_than_another() -> None:
    groups = [[(f"s{n}", v) for v in (ORIGINAL, PARA, NEGATION, OPPOSITE)] for n in range(50)]
    asks = arrange(groups, np.random.default_rng(3))
    first = Counter(str(variant) for _, variant in asks[:50])
    assert all(
        4 <= first[name] <= 25 for name in ("original", "paraphrase-1", "negation", "opposite")
    )
    orders = [[ref for ref, _ in asks[start : start + 50]] for start in (0, 50, 100, 150)]
    assert len({tuple(order) for order in orders}) == 4
    assert arrange(groups, np.random.default_rng(4)) != asks


def said(who: str, pairs: list[tuple[bool, bool]], variant: VariantId) -> list[SurveyAnswer]:
    return [
        answer
        for n, (original, other) in enumerate(pairs)
        for answer in (
            SurveyAnswer(who, f"s{n}", ORIGINAL, original),
            SurveyAnswer(who, f"s{n}", variant, other),
        )
    ]


def test_a_wording_that_should_do_otherwise_than_its_kind_is_turned_round_and_a_free_one_is_no_pair() -> (
    None
):
    answers = said("a", [(True, True), (False, True), (True, False)], NEGATION)
    relations = {("s0", NEGATION): Relation.SAME, ("s2", NEGATION): Relation.FREE}
    assert pairs_of(answers, VariantKind.NEGATION, relations) == {
        "a": [("s0", 1, -1), ("s1", -1, 1)]
    }
    assert pairs_of(answers, VariantKind.NEGATION) == {
        "a": [("s0", 1, 1), ("s1", -1, 1), ("s2", 1, -1)]
    }
    row = survey_agreement(answers, "survey", relations=relations)[1]
    assert (row.raw[0].value, row.flipped[0].value, row.raw[0].n) == (-1, 1, 2)


def test_relations_are_those_of_the_language_in_question() -> None:
    german = Wording(NEGATION, "de", "Nein.", stated=Relation.FREE)
    one = statement("s0")
    both = replace(one, wordings=(*one.wordings, german))
    assert relations_of([both], "de") == {("s0", NEGATION): Relation.FREE}
    assert relations_of([both], "en").get(("s0", NEGATION), Relation.FLIPPED) is Relation.FLIPPED
    assert relations_of([one], "en") == {}


def test_several_paraphrases_of_one_statement_are_pooled_and_other_kinds_have_rows_of_their_own() -> (
    None
):
    reformulation = VariantId(VariantKind.REFORMULATION)
    answers = said("a", [(True, True), (False, False)], PARA)
    answers += [
        SurveyAnswer("a", "s0", SECOND, False),
        SurveyAnswer("a", "s0", reformulation, True),
    ]
    rows = {row.name: row for row in survey_agreement(answers, "survey")}
    assert list(rows) == ["paraphrase", "negation", "opposite", "reformulation"]
    assert rows["paraphrase"].raw[0].n == 3
    assert rows["reformulation"].raw[0].n == 1


def test_the_bound_is_the_mean_over_the_respondents_whose_kappa_exists() -> None:
    answers = said("a", [(True, False), (False, True)] * 5, NEGATION)
    answers += said("b", [(True, True), (False, True), (True, False), (False, False)] * 3, NEGATION)
    answers += said("c", [(True, True)] * 4, NEGATION)
    paraphrase, negation, _ = upper_bound(answers, derive_rng(1), resamples=400)
    assert paraphrase.raw.undefined == "no pairs"
    assert (negation.respondents, negation.pairs) == (3, 10 + 12 + 4)
    assert (negation.raw.value, negation.raw.n, negation.raw.excluded) == (-0.5, 2, 1), (
        "-1 and 0; c's κ is undefined"
    )
    assert negation.raw.few == "too few for an interval: 2 people; 3 are needed"
    # c's answers, turned round, are constant on one side only: κ is 0 and defined
    assert negation.flipped.value == pytest.approx(1 / 3)
    assert negation.flipped.n == 3
    assert negation.flipped.low <= 1 / 3 <= negation.flipped.high


def test_nobody_has_no_bound_and_one_person_has_one_without_an_interval() -> None:
    assert upper_bound([], derive_rng(1)) == ()
    alone = upper_bound(
        said("a", [(True, True), (False, False), (True, False)] * 6, PARA), derive_rng(1)
    )[0]
    assert alone.raw.n == 1
    assert math.isnan(alone.raw.low)


def test_the_published_bound_of_six_people_has_intervals() -> None:
    """Ceron et al. 2024, Table 2: 0.90 (.08) for paraphrases; -0.69 (.12) and -0.65 (.08) in the
    first version.
    """
    columns = {"original": ORIGINAL, "paraphrase": PARA, "negation": NEGATION, "opposite": OPPOSITE}
    path: Path = published("probvaa", "data", "human_annotations", "survey_vaas.csv")
    with path.open(encoding="utf-8", newline="") as file:
        answers = [
            SurveyAnswer(line["annotator"], line["ID"], variant, line[column] == "1")
            for line in csv.DictReader(file)
            for column, variant in columns.items()
        ]
    found = upper_bound(answers, derive_rng(1, "survey"))
    assert [
        (row.name, round(row.raw_mean.mean, 2), round(row.raw_mean.sd, 2), row.pairs)
        for row in found
    ] == [
        ("paraphrase", 0.9, 0.08, 300),
        ("negation", -0.69, 0.12, 300),
        ("opposite", -0.65, 0.08, 300),
    ]
    for row in found:
        assert row.raw.n == 6
        assert row.raw.low < row.raw.value < row.raw.high
        assert 0.05 < row.raw.high - row.raw.low < 0.5
