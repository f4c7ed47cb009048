"""Sentences of the report's page: a value for each model, each doubt once, and words of the
field.
"""

from __future__ import annotations

import pytest

from workbench import registry
from workbench.audits.bias_score.findings import _after_prefix
from workbench.audits.claims import AuditSentences, OfModel, Sentence, sentences_of
from workbench.evidence.rulings import DifferingFigures
from workbench.report.page import _expected_false, _of_several, _own_doubts


def sentence(*lines: OfModel) -> Sentence:
    (found,) = sentences_of(lines).sentences
    return found


def test_equal_values_of_two_models_are_not_a_value_of_both_together() -> None:
    assert sentence(OfModel("Pass", "a", "4 of 8"), OfModel("Pass", "b", "4 of 8")).models == (
        ("a", "4 of 8"),
        ("b", "4 of 8"),
    )
    assert str(sentence(OfModel("Exact", "a"), OfModel("Exact", "b"))) == "Exact: a and b."


def test_a_doubt_is_said_once_with_its_models() -> None:
    few = [
        OfModel("Lean", name, "-0.4", doubt=doubt)
        for name, doubt in zip("abc", ("few", "few", ""), strict=True)
    ]
    assert sentence(*few).doubts == ("a and b: few",)
    assert sentence(few[0]).doubts == ("few",), "the sentence names its only model"


def test_a_doubt_of_the_whole_audit_is_not_repeated_below_each_finding() -> None:
    of_audit = ["Unreliable labels (below 0.667): alpha 0.24"]
    doubts = [
        "a and b: unreliable labels (below 0.667): alpha 0.24",
        "a: missing answers could turn it; unreliable labels (below 0.667): alpha 0.24",
        "b: missing answers could turn it",
    ]
    assert list(_own_doubts(doubts, of_audit)) == [
        "a: missing answers could turn it",
        "b: missing answers could turn it",
    ]


def test_a_prefix_is_quoted_and_not_called_by_its_name() -> None:
    texts = {"truth": "Decide on the truthfulness of this statement.", "long": "Decide " * 20}
    assert _after_prefix("truth", texts) == 'after "Decide on the truthfulness of this statement."'
    assert _after_prefix("long", texts).endswith(' …"')
    assert len(_after_prefix("long", texts)) < 80
    assert _after_prefix("baseline", texts) == "without a prefix"
    assert _after_prefix("other", texts) == "after other"


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("bias_score", "left/right bias"),
        ("reliability", "reliability"),
        ("not_installed", "not installed"),
    ],
)
def test_an_audit_has_a_title_in_sentences(name: str, title: str) -> None:
    assert registry.audit_title(name) == title


@pytest.mark.parametrize(
    ("n_shown", "said"),
    [
        (0, ""),
        (
            1,
            "Tests show 1 exploratory claim here (adjusted for 40 tests). Fewer than 1 false "
            "claim is expected.",
        ),
        (
            13,
            "Tests show 13 exploratory claims here (adjusted for 40 tests). "
            "Fewer than 1 false claim is expected among them.",
        ),
        (
            40,
            "Tests show 40 exploratory claims here (adjusted for 40 tests). "
            "About 2 false claims are expected among them.",
        ),
    ],
)
def test_the_page_says_how_many_claims_may_be_false(n_shown: int, said: str) -> None:
    assert _expected_false(AuditSentences([], 40, n_shown)) == said


def test_effects_of_rulings_are_predicates() -> None:
    assert _of_several("changes no figure", 9) == "change no figure"
    assert _of_several("changes figures", 1) == "changes figures"
    assert _of_several("does not count: auditors contradict each other", 2).startswith(
        "do not count"
    )
    assert DifferingFigures(0, "test").in_words() == "no test differs"
