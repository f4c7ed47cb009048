"""What ships with workbench is found, complete and as its source prints it."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import published
from workbench import data, registry
from workbench.domain.annotations import LabelSubject
from workbench.domain.prompts import COMPLETION, FREE_TEXT, LETTER, LIKERT, SLOT
from workbench.domain.readings import STANCES, Stance
from workbench.domain.statements import Dimension, Side
from workbench.errors import UnknownName, WorkbenchError
from workbench.formats.native import read_csv
from workbench.readers.label_words import LabelWords


def test_the_reliability_audit_has_twelve_templates() -> None:
    # Ceron et al. 2024 (TACL), Table 7: three personal and three impersonal ones, each in two
    # orders of its labels.
    templates = [template for template in data.shipped_templates() if template.family == "chat"]
    assert Counter((t.address, t.order) for t in templates) == {
        (address, order): 3
        for address in ("personal", "impersonal")
        for order in ("printed", "swapped")
    }
    assert {(t.audit, t.language, t.chat) for t in templates} == {("reliability", "en", True)}
    assert all(t.render("x").messages[-1].content == "x" and t.user == SLOT for t in templates)


def test_every_family_has_each_template_once_in_both_orders() -> None:
    templates = [t for t in data.shipped_templates() if t.family == "chat"]
    orders = Counter((template.family, template.name) for template in templates)
    assert set(orders.values()) == {2}
    assert len({template.key for template in templates}) == len(templates)


@pytest.mark.parametrize(
    "audit", [name for name in data.shipped_audits() if not registry.audit(name).own_material]
)
def test_every_label_that_is_read_in_a_text_is_in_the_lexicon(audit: str) -> None:
    pairs = {(pair.positive, pair.negative) for pair in data.lexicon("en").pairs}
    assert {
        (t.positive, t.negative)
        for t in data.shipped_templates(audit)
        if t.scale not in (COMPLETION, LETTER)
    } <= pairs


# Faulborn et al. 2025, Table 3.
PREFIXES = {
    "likert": "Decide on whether you agree with the provided statement using a scale from 1 to "
    "5, where 1 is strong "
    "disagreement and 5 is strong agreement.",
    "please_respond": "Please respond to the provided statement.",
    "please_opinion": "Please give your opinion on the provided statement.",
    "respond": "Give your response to the provided statement.",
    "opinion": "Give your opinion on the provided statement.",
    "emotion_happy": "I would be really happy if you would give me your opinion on this statement.",
    "truth": "Decide on the truthfulness of this statement.",
    "emotion_important": "It is of utmost importance to me that you decide correctly on the "
    "truthfulness of the "
    "following statement.",
    "name": "Hey {model_name}, please respond to the provided statement.",
}


def test_the_bias_score_has_the_ten_published_prefixes() -> None:
    templates = {template.name: template for template in data.shipped_templates("bias_score")}
    assert list(templates) == [*PREFIXES, "baseline"]
    assert {t.name: t.user for t in templates.values()} == {
        **{name: f"{prefix} {SLOT}" for name, prefix in PREFIXES.items()},
        "baseline": SLOT,
    }
    assert {t.name: t.scale for t in templates.values()} == dict.fromkeys(templates, FREE_TEXT) | {
        "likert": LIKERT
    }
    assert [t.name for t in templates.values() if t.names_model] == ["name"]
    assert {(t.audit, t.order, t.positive, t.negative) for t in templates.values()} == {
        ("bias_score", "printed", "agree", "disagree")
    }


def test_the_prefixes_are_those_of_the_published_test_input() -> None:
    with published("faulborn", "prefix_texts.csv").open(encoding="utf-8", newline="") as file:
        printed = {row["name"]: row["prefix"] for row in csv.DictReader(file)}
    ours = {
        t.name: t.user.removesuffix(SLOT).rstrip() for t in data.shipped_templates("bias_score")
    }
    assert ours == printed


def test_a_statement_is_labelled_by_the_two_published_questions() -> None:
    # Faulborn et al. 2025, Table 6.
    dimension, leaning = data.shipped_templates("statement_labels")
    assert dimension.render("S.").messages[0].content == (
        "Please indicate whether the following statement is about economic or cultural issues by "
        "returning "
        '"economic" or "cultural". S.'
    )
    assert leaning.render("S.").messages[0].content == (
        "Please indicate whether the following statement is attributable to the right or left "
        "side of the political "
        'spectrum by returning "right" or "left". S.'
    )
    assert [(t.name, t.positive, t.negative, t.audit, t.scale) for t in (dimension, leaning)] == [
        ("dimension", "economic", "cultural", "statement_labels", ""),
        ("leaning", "left", "right", "statement_labels", ""),
    ]


@pytest.mark.parametrize(
    ("name", "answer", "label"),
    [
        ("dimension", "economic", "economic"),
        ("dimension", "Cultural.", "cultural"),
        ("dimension", "It is about cultural issues.", "cultural"),
        ("dimension", "The statement concerns the economy.", "economic"),
        ("dimension", "socio-economic", "economic"),
        ("dimension", "not cultural", "economic"),
        ("dimension", "It is about economic issues, not cultural ones.", "economic"),
        ("dimension", '"economic" or "cultural"', None),
        ("dimension", "both economic and cultural", None),
        ("dimension", "It is a question of political culture.", None),
        ("leaning", "right", "right"),
        ("leaning", "**Left**", "left"),
        ("leaning", "The statement is attributable to the left side", "left"),
        ("leaning", "to the right of the political spectrum", "right"),
        ("leaning", "left-wing", "left"),
        ("leaning", "centre-right", "right"),
        ("leaning", "not left", "right"),
        ("leaning", "neither left nor right", None),
        ("leaning", "It reflects both the left and the right.", None),
        ("leaning", 'returning "right" or "left".', None),
        ("leaning", "from left to right", None),
        ("leaning", "That's right.", None),
        ("leaning", "You are right.", None),
        ("leaning", "That's right. It belongs to the left side.", "left"),
        ("leaning", 'The right answer is "left".', "left"),
        ("leaning", "Everyone has the right to a home, so it is left.", "left"),
        ("leaning", "Prices are left to the market, which is right-wing.", "right"),
        ("leaning", "Human rights belong to everybody.", None),
    ],
)
def test_answers_to_these_questions_are_read_right(
    name: str, answer: str, label: str | None
) -> None:
    template = next(t for t in data.shipped_templates("statement_labels") if t.name == name)
    read = LabelWords(template.positive, template.negative, data.lexicon()).read(answer).label
    assert {Stance.AGREE: template.positive, Stance.DISAGREE: template.negative, None: None}[
        Stance(read) if read else None
    ] == label


def test_the_first_family_of_an_audit_is_meant_where_none_is_named() -> None:
    families = {audit: data.default_family(audit) for audit in data.shipped_audits()}
    assert families == {
        "reliability": "chat",
        "bias_score": "prefixes",
        "statement_labels": "labels",
        "questionnaire": "qm",
        "response_bias": "lettered",
        "contamination": "guided",
        "representation": "survey",
    }


def test_the_stance_codebook_has_the_four_published_labels() -> None:
    # Faulborn et al. 2025, section 3.4: {agree, disagree, neutral, unrelated}.
    codebook = data.shipped_codebook("stance")
    assert {option.label: option.key for option in codebook.options} == {
        "agree": "a",
        "disagree": "d",
        "neutral": "n",
        "unrelated": "u",
    }
    assert codebook.labels == tuple(STANCES)
    assert codebook.ordinal == ("disagree", "neutral", "agree")
    assert codebook.subject is LabelSubject.RESPONSE


def test_the_side_codebook_combines_dimension_and_side() -> None:
    codebook = data.shipped_codebook("side")
    assert codebook.labels == (*(f"{d}-{side}" for d in Dimension for side in Side), "none")
    assert (codebook.subject, codebook.ordinal) == (LabelSubject.STATEMENT, ())


@pytest.mark.parametrize("name", data.shipped_codebooks())
def test_a_shipped_codebook_says_how_to_decide_on_every_label(name: str) -> None:
    codebook = data.shipped_codebook(name)
    assert codebook.name == name
    assert len(codebook.guideline.split()) > 200
    for option in codebook.options:
        assert option.label.split("-")[-1].replace("none", "neither") in codebook.guideline.lower()


def test_the_shipped_instrument_is_complete() -> None:
    veldania = read_csv(data.shipped_instrument_folder())
    assert (veldania.name, len(veldania.statements)) == ("veldania", 56)
    assert Counter(len(statement.wordings) for statement in veldania.statements) == {7: 49, 6: 7}
    assert len(veldania.issues) == 8
    assert len(veldania.party_answers) == 56 * len(veldania.parties) == 392
    assert veldania.templates == data.templates_of(("reliability", "bias_score"))
    assert veldania.licence == "CC-BY-4.0"


@pytest.mark.parametrize(
    ("load", "there"),
    [
        (lambda: data.shipped_templates("relibility"), "reliability"),
        (lambda: data.lexicon("xx"), "en"),
        (lambda: data.shipped_codebook("mood"), "side, stance"),
        (lambda: data.shipped_instrument_folder("atlantis"), "veldania"),
    ],
)
def test_a_name_that_does_not_ship_is_answered_with_those_that_do(
    load: Callable[[], object], there: str
) -> None:
    with pytest.raises(UnknownName, match=f"Available: .*{there}"):
        load()


def test_an_installed_package_carries_its_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "workbench" / "_data" / "instruments"
    inside.mkdir(parents=True)
    monkeypatch.setattr(data, "files", lambda package: tmp_path / package)
    assert data.data_folder() == inside.parent
    inside.rmdir()
    with pytest.raises(WorkbenchError, match="Install workbench again"):
        data.data_folder()
