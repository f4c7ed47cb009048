"""The authors' public ProbVAA download, imported as it is.

Source of the numbers: Ceron et al. 2024 (TACL), sections 4 and 6, Tables 4, 8 and 10, and the released files.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.conftest import published
from workbench import pipeline
from workbench.audits.reliability_agreement import survey_agreement
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument
from workbench.formats.read import read_instrument
from workbench.lint import lint
from workbench.stats.resampling import derive_rng


@pytest.fixture(scope="module")
def probvaa() -> Instrument:
    return read_instrument("probvaa", published("probvaa"))


def test_statements_and_wordings_are_complete(probvaa: Instrument) -> None:
    assert Counter(s.country for s in probvaa.statements) == {
        "ch": 60,
        "de": 38,
        "es": 24,
        "hu": 37,
        "it": 30,
        "nl": 30,
        "pl": 20,
    }
    wordings = [w for s in probvaa.statements for w in s.wordings]
    assert len(wordings) == 7692
    assert Counter(w.language for w in wordings) == {
        "de": 1434,
        "en": 1434,
        "es": 1434,
        "fr": 1434,
        "it": 1434,
        "hu": 222,
        "nl": 180,
        "pl": 120,
    }
    assert set(Counter(str(w.variant) for w in wordings).values()) == {1282}


def test_the_published_design_has_17208_prompts(probvaa: Instrument) -> None:
    from tempfile import TemporaryDirectory

    from stores.store import Store

    with TemporaryDirectory() as folder, Store.open(f"{folder}/a.db", create=True) as store:
        imported = store.instruments.add(probvaa)
        plan = pipeline.plan(store, Design("probvaa", "any"))
    assert imported.skipped == 18, "six parties' answers to hu 26, 27 and 35, which are not in probvaa.csv"
    assert len(plan.probes) == 1434 * 12 == 17_208
    assert len(plan.prompts) == 15_752, "the two orders of one released template are the same text"


def test_templates_of_both_encodings_are_normalised(probvaa: Instrument) -> None:
    assert Counter((t.family, t.inverted) for t in probvaa.templates) == {
        (family, inverted): 6 for family in ("chat", "generation", "gpt") for inverted in (False, True)
    }
    first = {t.inverted: t for t in probvaa.templates if t.name == "chat-4"}
    assert '"beneficial" or "harmful"' in (first[False].system or "")
    assert '"harmful" or "beneficial"' in (first[True].system or "")
    gpt = {t.inverted: t for t in probvaa.templates if t.name == "gpt-4"}
    assert '"beneficial" or "harmful"' in (gpt[False].system or "")
    assert all(t.chat is (t.family != "generation") for t in probvaa.templates)
    assert all(f"{t.system}{t.user}".count("{statement}") == 1 for t in probvaa.templates)
    assert not any("[INST]" in f"{t.system}{t.user}" for t in probvaa.templates)


def test_party_answers_are_complete(probvaa: Instrument) -> None:
    rows = Counter(answer.country for answer in probvaa.party_answers)
    assert rows == {"ch": 1200, "de": 1444, "es": 168, "hu": 240, "it": 180, "nl": 900, "pl": 140}
    assert sum(party.position is not None for party in probvaa.parties) == 41
    stances = {answer.answer: answer.stance for answer in probvaa.party_answers}
    assert stances["completely disagree"] == -1
    assert stances["neither agree nor disagree"] == 0
    assert stances["no opinion"] is None


def test_issue_labels_are_those_of_table_10(probvaa: Instrument) -> None:
    refs = {s.ref for s in probvaa.statements}
    labels = [label for label in probvaa.issue_labels if label.statement in refs and label.label]
    assert len({label.statement for label in labels}) == 193
    signs = Counter((label.issue, label.label) for label in labels)
    assert {issue: (signs[issue, 1], signs[issue, -1]) for issue in probvaa.issues} == {
        "open_foreign_policy": (11, 14),
        "liberal_economic_policy": (21, 34),
        "restrictive_financial_policy": (10, 19),
        "law_and_order": (14, 5),
        "restrictive_migration_policy": (8, 8),
        "expanded_environ_protection": (24, 8),
        "expanded_social_welfare_state": (29, 9),
        "liberal_society": (31, 13),
    }


def test_human_agreement_is_the_published_upper_bound(probvaa: Instrument) -> None:
    paraphrase = survey_agreement(probvaa.survey, derive_rng(1))[0]
    assert [round(kappa.value, 4) for kappa in paraphrase.raw] == [0.8760, 0.7615, 0.9493, 0.9132, 1.0, 0.9081]
    assert round(paraphrase.raw_mean.mean, 4) == 0.9014
    assert round(paraphrase.raw_mean.sd, 4) == 0.0805


def test_lint_finds_what_is_odd_in_the_released_files(probvaa: Instrument) -> None:
    found = {(finding.code, finding.subject) for finding in lint(probvaa)}
    assert ("orders-equal", "chat-5") in found
    assert {("unknown-statement", f"hu_{n}") for n in (26, 27, 35)} <= found
    blanks = [f for f in lint(probvaa) if f.code == "stray-blanks"]
    assert sum(f.message.count(",") + 1 for f in blanks) == 97, "rows with a leading or trailing blank"
