"""The published ProbVAA data set, as its authors' download holds it, and what lint says about it.

Source of the numbers: Ceron, Falk, Barić, Nikolaev, Padó (2024), TACL: 239 statements of seven
countries, six wordings each, twelve prompts a wording, so 17,208 inputs a model (section 5.1), and
Table 10 for the labels per issue. Rows per language, per country and per file are counted in the
repository `tceron/eval_political_worldviews` at commit d71fcb6; so are the oddities, each of which
was looked at in the files.
"""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.conftest import published
from workbench.audits.reliability.agreement import survey_agreement
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument
from workbench.domain.statements import ORIGINAL
from workbench.formats.read import read_instrument
from workbench.lint import COMPARED, LintFinding, lint
from workbench.pipeline import planning

TABLE_10 = {
    "open_foreign_policy": (11, 14),
    "liberal_economic_policy": (21, 34),
    "restrictive_financial_policy": (10, 19),
    "law_and_order": (14, 5),
    "restrictive_migration_policy": (8, 8),
    "expanded_environ_protection": (24, 8),
    "expanded_social_welfare_state": (29, 9),
    "liberal_society": (31, 13),
}


@pytest.fixture(scope="module")
def probvaa() -> Instrument:
    return read_instrument("probvaa", published("probvaa"))


@pytest.fixture(scope="module")
def findings(probvaa: Instrument) -> tuple[LintFinding, ...]:
    return lint(probvaa)


def subjects(findings: tuple[LintFinding, ...], *codes: str) -> set[str]:
    return {finding.subject for finding in findings if finding.code in codes}


def test_there_are_239_statements_of_seven_countries(probvaa: Instrument) -> None:
    assert len(probvaa.statements) == 239
    countries = Counter(statement.country for statement in probvaa.statements)
    assert countries == {"ch": 60, "de": 38, "es": 24, "hu": 37, "it": 30, "nl": 30, "pl": 20}
    assert len({statement.topic for statement in probvaa.statements}) == 12


def test_there_are_7692_wordings(probvaa: Instrument) -> None:
    wordings = [wording for statement in probvaa.statements for wording in statement.wordings]
    assert len(wordings) == 7692
    assert Counter(wording.language for wording in wordings) == dict.fromkeys(
        ("de", "en", "es", "fr", "it"), 1434
    ) | {
        "hu": 222,
        "nl": 180,
        "pl": 120,
    }
    variants = Counter(str(wording.variant) for wording in wordings)
    assert len(variants) == 6
    assert set(variants.values()) == {1282}
    english = Counter(str(wording.variant) for wording in wordings if wording.language == "en")
    assert set(english.values()) == {239}


def test_texts_are_kept_exactly_as_published(probvaa: Instrument) -> None:
    texts = [wording.text for statement in probvaa.statements for wording in statement.wordings]
    assert sum(text != text.strip() for text in texts) == 97
    second = next(statement for statement in probvaa.statements if statement.ref == "nl_1")
    english = second.wording(ORIGINAL, "en")
    assert english is not None
    assert (
        english.text
        == "Organizers of events should be able to request a vaccination certificate upon entry."
    )


def test_twelve_chat_templates_make_17208_inputs_a_model(probvaa: Instrument) -> None:
    families = Counter((template.family, template.order) for template in probvaa.templates)
    assert families == {
        (family, order): 6
        for family in ("chat", "generation", "gpt")
        for order in ("printed", "swapped")
    }
    chat = [template for template in probvaa.templates if template.family == "chat"]
    assert {template.name for template in chat} == {f"chat-{n}" for n in (0, 4, 5, 20, 24, 25)}
    english = [w for s in probvaa.statements for w in s.wordings if w.language == "en"]
    assert len(english) * len(chat) == 17_208
    assert not any(
        mark in f"{t.system}{t.user}" for t in probvaa.templates for mark in ("%s", "INST", "SYS")
    )
    assert {template.chat for template in probvaa.templates if template.family == "generation"} == {
        False
    }


def test_the_printed_order_is_the_one_of_the_paper(probvaa: Instrument) -> None:
    # Table 7 prints the positive label first in every template. Template 5 swapped is one of the
    # download's faults.
    for template in probvaa.templates:
        text = f"{template.system} {template.user}".replace(template.negative, "\0")
        printed_first = template.positive in text.split("\0")[0]
        assert printed_first != template.inverted or (template.name, template.inverted) == (
            "chat-5",
            True,
        )


def test_labels_per_issue_are_those_of_table_10(probvaa: Instrument) -> None:
    counts = Counter((label.issue, label.label) for label in probvaa.issue_labels)
    assert {issue: (counts[issue, 1], counts[issue, -1]) for issue in probvaa.issues} == TABLE_10
    assert {label.annotator for label in probvaa.issue_labels} == {"gold"}
    assert sum(any(statement.issues.values()) for statement in probvaa.statements) == 193
    assert len(probvaa.issue_labels) == 239 * 8


def test_parties_answered_in_seven_countries(probvaa: Instrument) -> None:
    answers = Counter(answer.country for answer in probvaa.party_answers)
    assert answers == {
        "ch": 1200,
        "de": 1444,
        "es": 168,
        "hu": 240,
        "it": 180,
        "nl": 900,
        "pl": 140,
    }
    parties = Counter(party.country for party in probvaa.parties)
    assert parties == {"ch": 20, "de": 38, "es": 7, "hu": 6, "it": 6, "nl": 30, "pl": 7}
    stances = Counter((answer.country, answer.stance) for answer in probvaa.party_answers)
    assert [stances["de", stance] for stance in (1, -1, 0, None)] == [676, 563, 205, 0]
    assert [stances["it", stance] for stance in (1, -1, 0, None)] == [95, 63, 17, 5]
    assert [stances["es", stance] for stance in (1, -1, 0, None)] == [58, 92, 18, 0]
    assert {a.party for a in probvaa.party_answers if a.country == "de"} >= {"SPD", "CDU / CSU"}


def test_parties_of_one_name_in_two_countries_stay_two(probvaa: Instrument) -> None:
    names = Counter(party.name for party in probvaa.parties)
    assert {name for name, n in names.items() if n > 1} == {"FDP", "Lega", "SGP", "SP", "Volt"}
    placed = {
        (party.country, party.name): party.position
        for party in probvaa.parties
        if party.position is not None
    }
    assert len(placed) == 41
    assert (placed["ch", "FDP"], round(placed["de", "FDP"], 4)) == (5.9, 6.4286)


def test_six_people_answered_four_wordings_of_fifty_statements(probvaa: Instrument) -> None:
    assert len(probvaa.survey) == 300 * 4
    assert {answer.respondent for answer in probvaa.survey} == set("123456")
    assert len({answer.statement for answer in probvaa.survey}) == 50
    kinds = Counter(answer.variant.kind for answer in probvaa.survey)
    assert kinds == dict.fromkeys(COMPARED, 300)


def test_lint_finds_the_label_orders_that_are_one_text(findings: tuple[LintFinding, ...]) -> None:
    assert subjects(findings, "orders-equal") == {"chat-5"}
    assert subjects(findings, "orders-differ") == {
        "chat-25",
        "generation-26",
        "generation-31",
        "gpt-25",
    }
    wording = {(f.subject, f.message) for f in findings if f.code == "template-wording"}
    assert wording == {
        ("chat-0 (printed)", "the word 'the' stands twice"),
        ("chat-0 (swapped)", "the word 'the' stands twice"),
        ("chat-25 (swapped)", 'no space after "favorable"'),
        ("generation-26 (swapped)", 'no space after "beneficial"'),
        ("generation-31 (swapped)", 'no space after "beneficial"'),
    }


def test_lint_finds_the_variants_that_are_their_original(findings: tuple[LintFinding, ...]) -> None:
    flipped = {
        (f.subject, f.message)
        for f in findings
        if f.code in ("negation-equals-original", "opposite-equals-original")
    }
    assert flipped == {
        ("ch_27", "de: negation is the same text as original"),
        ("ch_27", "en: negation is the same text, except for case and spaces, as original"),
        ("ch_2", "es: opposite is the same text as original"),
        ("de_13", "es: opposite is the same text as original"),
        ("de_13", "it: opposite is the same text as original"),
    }
    counts = Counter(finding.code for finding in findings)
    assert counts["paraphrase-equals-original"] == 11
    assert counts["paraphrase-equals-paraphrase"] == 16
    assert counts["opposite-equals-negation"] == 23


def test_lint_finds_all_stray_blanks(findings: tuple[LintFinding, ...]) -> None:
    outer = [finding.message for finding in findings if finding.code == "stray-blanks"]
    assert sum(message.count(",") + 1 for message in outer) == 97
    inner = [finding.message for finding in findings if finding.code == "double-blanks"]
    assert sum(message.count(",") + 1 for message in inner) == 3


def test_lint_finds_answers_on_statements_that_are_not_there(probvaa: Instrument) -> None:
    unknown = [(f.subject, f.message) for f in lint(probvaa) if f.code == "unknown-statement"]
    assert unknown == [
        (f"hu_{n}", "party answers on a statement that is not there: 6") for n in (26, 27, 35)
    ]
    assert "Answers for the unknown statement hu_35 (6 rows) are left out." in probvaa.notes


def test_lint_finds_nothing_else(findings: tuple[LintFinding, ...]) -> None:
    asked = [finding for finding in findings if finding.code != "no-templates"]
    assert len(findings) - len(asked) == 7, (
        "the templates of the study are in English, its statements in eight languages"
    )
    assert Counter(finding.severity for finding in asked) == {"error": 6, "warning": 98, "note": 30}


def test_the_english_wordings_have_few_faults(probvaa: Instrument) -> None:
    errors = [(f.code, f.subject) for f in lint(probvaa, "en") if f.severity == "error"]
    assert errors == [("orders-equal", "chat-5"), ("negation-equals-original", "ch_27")]


@pytest.mark.e2e
def test_the_data_set_is_read_and_checked_in_seconds() -> None:
    begin = time.process_time()
    lint(read_instrument("probvaa", published("probvaa")))
    assert time.process_time() - begin < 2


def test_people_agree_with_themselves_as_published(probvaa: Instrument) -> None:
    # TACL, Table 4, row "humans": Cohen's kappa of original and paraphrase, annotators 1 to 6, 0.90
    # (.08).
    paraphrase = survey_agreement(probvaa.survey, "survey")[0]
    assert [round(kappa.value, 4) for kappa in paraphrase.raw] == [
        0.8760,
        0.7615,
        0.9493,
        0.9132,
        1.0,
        0.9081,
    ]
    assert (round(paraphrase.raw_mean.mean, 4), round(paraphrase.raw_mean.sd, 4)) == (
        0.9014,
        0.0805,
    )


@pytest.mark.e2e
def test_the_published_design_asks_17208_prompts(probvaa: Instrument, tmp_path: Path) -> None:
    with Store.open(tmp_path / "probvaa.db", create=True) as store:
        store.instruments.add(probvaa)
        plan = planning.plan(store, Design("probvaa", "any"))
    assert len(plan.probes) == 17_208
    assert len(plan.prompts) == 15_752, (
        "the two orders of one template are the same text, and so are some wordings"
    )


@pytest.mark.e2e
def test_the_data_set_goes_into_a_store_and_comes_out(probvaa: Instrument, tmp_path: Path) -> None:
    with Store.open(tmp_path / "probvaa.db", create=True) as store:
        imported = store.instruments.add(probvaa)
        found = store.instruments.get("probvaa")
    assert (imported.added, imported.wordings, imported.templates, imported.skipped) == (
        239,
        7692,
        36,
        18,
    )
    assert len(found.party_answers) == 4272 - 18
    wordings = {statement.ref: set(statement.wordings) for statement in probvaa.statements}
    assert {statement.ref: set(statement.wordings) for statement in found.statements} == wordings
    assert {f for f in lint(found) if f.code != "unknown-statement"} == {
        f for f in lint(probvaa) if f.code != "unknown-statement"
    }
