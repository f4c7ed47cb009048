"""What the checks find in the published ProbVAA data, and how its wordings lie under MiniLM.

Source: the repository `tceron/eval_political_worldviews` at commit d71fcb6 (Ceron et al. 2024,
TACL). Each finding that is named here was looked at in the files.
"""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.conftest import published
from workbench.domain.instruments import Instrument
from workbench.domain.statements import ORIGINAL
from workbench.formats.read import read_instrument
from workbench.inference.encoder import load_encoder
from workbench.lint import LintFinding, lint
from workbench.pipeline.checking import check_report
from workbench.workshop.checks import instrument_hints
from workbench.workshop.duplicates import NEAR, duplicate_findings, near_pairs
from workbench.workshop.meaning import (
    Embedded,
    SimilaritySpread,
    Thresholds,
    nearness,
    similarity_findings,
    spreads,
    wanted_texts,
)


@pytest.fixture(scope="module")
def probvaa() -> Instrument:
    return read_instrument("probvaa", published("probvaa"))


@pytest.fixture(scope="module")
def hints(probvaa: Instrument) -> tuple[LintFinding, ...]:
    return tuple(instrument_hints(probvaa))


@pytest.fixture(scope="module")
def embedded(probvaa: Instrument) -> Embedded:
    texts = sorted(wanted_texts(probvaa.statements, ["en"]), key=len)
    encoder = load_encoder("minilm")
    return Embedded({text: place for place, text in enumerate(texts)}, encoder.encode(texts))


def places(findings: tuple[LintFinding, ...], code: str) -> set[tuple[str, str, str]]:
    return {(f.ref or "", f.language or "", str(f.variant)) for f in findings if f.code == code}


def test_negations_and_opposites_that_are_their_original(probvaa: Instrument) -> None:
    found = lint(probvaa)
    assert places(found, "negation-equals-original") == {
        ("ch_27", "de", "negation"),
        ("ch_27", "en", "negation"),
    }
    assert places(found, "opposite-equals-original") == {
        ("ch_2", "es", "opposite"),
        ("de_13", "es", "opposite"),
        ("de_13", "it", "opposite"),
    }
    assert [f.subject for f in found if f.code == "orders-equal"] == ["chat-5"]


def test_paraphrases_and_negations_that_are_another_wording(probvaa: Instrument) -> None:
    found = lint(probvaa)
    assert len(places(found, "paraphrase-equals-original")) == 11
    assert len(places(found, "opposite-equals-negation")) == 23
    by_language = Counter(language for _, language, _ in places(found, "opposite-equals-negation"))
    assert by_language.total() == 23
    assert all(len(f.texts) == 2 for f in found if "-equals-" in f.code)


def test_negations_that_negate_nothing(hints: tuple[LintFinding, ...]) -> None:
    """de_13 says `depending on their parents' income` for `independently`; pl_11 `depending on
    turnout` likewise.
    """
    assert places(hints, "negation-without-negator") == {
        ("de_13", "en", "negation"),
        ("pl_11", "en", "negation"),
    }


def test_what_else_the_wordings_give_to_look_at(hints: tuple[LintFinding, ...]) -> None:
    english = Counter(f.code for f in hints if f.language == "en")
    assert english["opposite-with-negator"] == 18
    assert english["two-in-one"] == 36
    assert english["double-negation"] == 5
    assert english["several-sentences"] == 2
    assert {f.severity for f in hints if f.code != "negation-without-negator"} == {"note"}


@pytest.mark.e2e
def test_no_two_statements_of_a_country_are_nearly_the_same_words(probvaa: Instrument) -> None:
    assert list(duplicate_findings(probvaa)) == []
    highest = 0.0
    for language in ("en", "de"):
        for country in {statement.country for statement in probvaa.statements}:
            texts = [
                w.text
                for s in probvaa.statements
                for w in s.wordings
                if s.country == country and w.language == language and w.variant == ORIGINAL
            ]
            highest = max([highest, *(share for _, _, share in near_pairs(texts, 0.3))])
    assert 0.4 < highest < 0.51 < NEAR


def test_every_finding_can_be_told_from_all_others(
    probvaa: Instrument, hints: tuple[LintFinding, ...]
) -> None:
    findings = [*lint(probvaa), *hints]
    assert len({finding.fingerprint for finding in findings}) == len(findings)


@pytest.mark.slow
def test_the_distributions_that_the_thresholds_were_chosen_on(
    probvaa: Instrument, embedded: Embedded
) -> None:
    """The table in `Thresholds`."""
    found = {
        spread.kind: spread for spread in spreads(nearness(probvaa.statements, embedded, "en"))
    }

    def rounded(spread: SimilaritySpread) -> tuple[float, ...]:
        return tuple(
            round(x, 2)
            for x in (spread.low, spread.fifth, spread.median, spread.ninety_fifth, spread.high)
        )

    assert {kind: (spread.n, *rounded(spread)) for kind, spread in found.items()} == {
        "paraphrase": (717, 0.39, 0.64, 0.81, 0.93, 1.0),
        "negation": (239, 0.53, 0.67, 0.85, 0.96, 1.0),
        "opposite": (239, 0.55, 0.67, 0.87, 0.96, 1.0),
    }


@pytest.mark.e2e
def test_what_minilm_finds_in_the_english_wordings(probvaa: Instrument, embedded: Embedded) -> None:
    found = tuple(similarity_findings(probvaa.statements, embedded, Thresholds(), "en"))
    assert places(found, "too-far") == {
        # `telecommuting` for working from home: the meaning is kept.
        (
            "de_38",
            "en",
            "paraphrase-2",
        ),
        ("it_1", "en", "paraphrase-3"),
        ("es_17", "en", "paraphrase-1"),
        ("nl_26", "en", "negation"),  # a fault: 40 percent green space has become social housing
        ("hu_17", "en", "negation"),  # a fault: rents have become rationing
        ("nl_30", "en", "negation"),
        ("de_15", "en", "negation"),
        ("hu_39", "en", "negation"),
    }
    assert places(found, "too-near") == {
        ("hu_11", "en", "paraphrase-1"),
        ("hu_16", "en", "paraphrase-2"),
        ("hu_28", "en", "paraphrase-1"),  # legalised, legalized
        ("hu_30", "en", "paraphrase-1"),
        ("it_15", "en", "opposite"),
    }
    assert places(found, "near-duplicate") == set()


@pytest.mark.e2e
def test_all_of_it_is_found_in_seconds(probvaa: Instrument, tmp_path: Path) -> None:
    begin = time.process_time()
    lint(probvaa)
    assert time.process_time() - begin < 1.5, "0.4 s alone"
    with Store.open(tmp_path / "p.db", create=True) as store:
        store.instruments.add(probvaa)
        begin = time.process_time()
        report = check_report(store, "probvaa")
        assert time.process_time() - begin < 6, "2 s alone"
    assert report.counts["error"] == 6
