"""Findings from similarities and entailments: what is too far, too near, or says other than it
should.
"""

from __future__ import annotations

import numpy as np
import pytest

from workbench.domain.findings import Entailment, LintFinding
from workbench.domain.statements import (
    NEGATION,
    OPPOSITE,
    ORIGINAL,
    POLITICAL_OPPOSITE,
    QUESTION,
    Relation,
    Statement,
    VariantId,
    VariantKind,
    Wording,
)
from workbench.workshop.meaning import (
    Embedded,
    Thresholds,
    entailment_findings,
    nearness,
    similarity_findings,
    spreads,
    wanted_pairs,
    wanted_texts,
)

PARAPHRASE = VariantId(VariantKind.PARAPHRASE, 1)
THRESHOLDS = Thresholds()
FOLLOWS, NEITHER, CONTRARY = (
    Entailment(0.9, 0.06, 0.04),
    Entailment(0.1, 0.8, 0.1),
    Entailment(0.01, 0.02, 0.97),
)


def whole(
    *others: Wording, ref: str = "a-1", text: str = "original", country: str | None = None
) -> Statement:
    return Statement(ref, (Wording(ORIGINAL, "en", text), *others), country=country)


def variant(kind: VariantId, stated: Relation | None = None, text: str = "variant") -> Wording:
    return Wording(kind, "en", text, stated=stated)


def embedded(**cosines: float) -> Embedded:
    """Texts at these cosines from `original`, in the plane."""
    angles = {"original": 0.0} | {
        text: float(np.arccos(cosine)) for text, cosine in cosines.items()
    }
    vectors = np.array(
        [[np.cos(angle), np.sin(angle)] for angle in angles.values()], dtype=np.float32
    )
    return Embedded({text: place for place, text in enumerate(angles)}, vectors)


def seen(statement: Statement, cosine: float) -> list[str]:
    return [
        finding.code
        for finding in similarity_findings([statement], embedded(variant=cosine), THRESHOLDS)
    ]


@pytest.mark.parametrize(
    ("kind", "cosine", "codes"),
    [
        (PARAPHRASE, 0.49, ["too-far"]),
        (PARAPHRASE, 0.51, []),
        (PARAPHRASE, 0.979, []),
        (PARAPHRASE, 0.981, ["too-near"]),
        (NEGATION, 0.59, ["too-far"]),
        (NEGATION, 0.61, []),
        (NEGATION, 0.999, []),
        (OPPOSITE, 0.49, ["too-far"]),
        (OPPOSITE, 0.99, []),
        (OPPOSITE, 0.997, ["too-near"]),
        (POLITICAL_OPPOSITE, 0.1, []),
        (POLITICAL_OPPOSITE, 0.997, ["too-near"]),
        (QUESTION, 0.1, []),
        (QUESTION, 0.999, []),
    ],
)
def test_each_kind_has_its_own_range(kind: VariantId, cosine: float, codes: list[str]) -> None:
    assert seen(whole(variant(kind)), cosine) == codes


def test_a_stated_relation_goes_before_the_kind_s() -> None:
    assert seen(whole(variant(PARAPHRASE, Relation.FREE)), 0.1) == []
    assert seen(whole(variant(OPPOSITE, Relation.SAME)), 0.985) == ["too-near"]
    assert seen(whole(variant(PARAPHRASE, Relation.FLIPPED)), 0.985) == []


def test_the_place_the_cosine_and_both_texts_are_named() -> None:
    [finding] = similarity_findings([whole(variant(PARAPHRASE))], embedded(variant=0.4), THRESHOLDS)
    assert (finding.ref, finding.variant, finding.language, finding.severity) == (
        "a-1",
        PARAPHRASE,
        "en",
        "warning",
    )
    assert (
        finding.message
        == "en: paraphrase-1 is far from its original: the meaning may be lost (cosine 0.400)"
    )
    assert [quoted.text for quoted in finding.texts] == ["original", "variant"]


def test_equal_texts_are_left_to_lint() -> None:
    assert seen(whole(variant(PARAPHRASE, text="Original ")), 1.0) == []


def test_what_no_model_has_seen_has_no_finding() -> None:
    other = Statement("a-1", (Wording(ORIGINAL, "en", "unseen"), variant(PARAPHRASE)))
    assert seen(other, 0.1) == []
    headless = Statement("a-1", (variant(PARAPHRASE),))
    assert seen(headless, 0.1) == []


def twins(country: str | None, cosine: float) -> list[LintFinding]:
    pair = [whole(country="vd"), whole(ref="a-2", text="variant", country=country)]
    return list(similarity_findings(pair, embedded(variant=cosine), THRESHOLDS))


def test_statements_of_one_country_that_say_the_same_are_found_at_the_later_one() -> None:
    [finding] = twins("vd", 0.9)
    assert (finding.code, finding.subject) == ("near-duplicate", "a-2")
    assert finding.message == "en: says nearly what a-1 says (cosine 0.900)"
    assert twins("vd", 0.8) == []
    assert twins("ot", 0.9) == []


def test_the_spread_of_a_kind_is_told_by_quantiles() -> None:
    near = nearness([whole(variant(PARAPHRASE), variant(NEGATION))], embedded(variant=0.6))
    assert [(one.kind, one.n, round(one.median, 3)) for one in spreads(near)] == [
        ("paraphrase", 1, 0.6),
        ("negation", 1, 0.6),
    ]
    assert spreads(()) == ()


def judged(wording: Wording, there: Entailment, back: Entailment) -> list[tuple[str, str]]:
    found = {("original", wording.text): there, (wording.text, "original"): back}
    return [
        (finding.severity, finding.code) for finding in entailment_findings([whole(wording)], found)
    ]


@pytest.mark.parametrize(
    ("there", "back", "found"),
    [
        (FOLLOWS, FOLLOWS, []),
        (FOLLOWS, NEITHER, [("note", "nli-one-way")]),
        (NEITHER, NEITHER, [("note", "nli-neutral")]),
        (FOLLOWS, CONTRARY, [("warning", "nli-contradicts")]),
    ],
)
def test_the_same_meaning_follows_both_ways(
    there: Entailment, back: Entailment, found: list[tuple[str, str]]
) -> None:
    assert judged(variant(PARAPHRASE), there, back) == found
    assert judged(variant(NEGATION, Relation.SAME), there, back) == found


@pytest.mark.parametrize(
    ("there", "back", "found"),
    [
        (CONTRARY, CONTRARY, []),
        (CONTRARY, NEITHER, []),
        (NEITHER, NEITHER, [("note", "nli-neutral")]),
        (FOLLOWS, FOLLOWS, [("warning", "nli-entails")]),
    ],
)
def test_a_flipped_wording_contradicts(
    there: Entailment, back: Entailment, found: list[tuple[str, str]]
) -> None:
    assert judged(variant(NEGATION), there, back) == found
    assert judged(variant(PARAPHRASE, Relation.FLIPPED), there, back) == found


def test_a_political_opposite_need_not_contradict_and_must_not_follow() -> None:
    assert judged(variant(POLITICAL_OPPOSITE), NEITHER, NEITHER) == []
    assert judged(variant(POLITICAL_OPPOSITE), FOLLOWS, FOLLOWS) == [("warning", "nli-entails")]


def test_the_probabilities_are_told() -> None:
    found = {("original", "variant"): FOLLOWS, ("variant", "original"): CONTRARY}
    [finding] = entailment_findings([whole(variant(PARAPHRASE))], found)
    assert "(from the original: entailment 0.90; to it: contradiction 0.97)" in finding.message


def test_what_is_wanted_leaves_out_questions_free_wordings_and_what_cannot_be_asked() -> None:
    asked = whole(
        variant(PARAPHRASE, text="p"),
        variant(NEGATION, Relation.FREE, "n"),
        variant(QUESTION, text="q?"),
        variant(OPPOSITE, text="x" * 10_001),
        Wording(PARAPHRASE, "de", "p"),
    )
    assert wanted_texts([asked], ["en"]) == ("original", "p")
    assert wanted_pairs([asked], ["en"]) == (("original", "p"), ("p", "original"))
    assert wanted_texts([asked], ["de"]) == ("p",)
    assert wanted_pairs([asked], ["de"]) == (), "German has no original to compare with"
