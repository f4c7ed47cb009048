"""How the rule reads labelled answers in each language that ships, and what a language needs to be
asked in.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.core.measure_lexicons import LANGUAGES, measured, table, texts
from workbench import data, registry
from workbench.errors import UnknownName, UsageError
from workbench.help import topic
from workbench.readers.label_words import PARTS, REFUSAL, LabelWords
from workbench.readers.lexicon import Lexicon, Quality

AUDITS = ("reliability", "bias_score", "questionnaire", "response_bias")
LEAST = 0.9
"of the labelled texts, also of those that no list was tuned on"


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    """What a folder brought is forgotten."""
    yield
    data.lexicon.cache_clear()
    data.shipped_templates.cache_clear()


def test_every_lexicon_has_labelled_texts_and_templates_of_all_audits() -> None:
    assert sorted({"en", *LANGUAGES}) == list(data.lexicons())
    for audit in AUDITS:
        assert set(LANGUAGES) <= set(data.template_languages(audit))


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_are_two_hundred_different_texts_of_every_kind(language: str) -> None:
    of = texts(language)
    assert len({(one.positive, one.text) for one in of}) == len(of) >= 200
    assert {one.label for one in of} == {"agree", "disagree", "none", "refusal"}
    assert sum(one.part == PARTS[1] for one in of) >= 50


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_quality_that_a_lexicon_states_is_that_of_its_texts(language: str) -> None:
    words = data.lexicon(language)
    assert dict(words.quality) == measured(words, texts(language))


def test_the_help_page_shows_this_quality() -> None:
    assert table() in topic("languages").text, "run python -m tests.core.measure_lexicons"


@pytest.mark.parametrize("language", LANGUAGES)
def test_stances_are_read_right_also_where_no_list_was_tuned(language: str) -> None:
    for _, found in data.lexicon(language).quality:
        assert found.stance_precision >= LEAST
        assert found.stance_recall >= LEAST


@pytest.mark.parametrize("language", [one for one in LANGUAGES if one != "en"])
def test_translated_templates_name_labels_that_the_lexicon_lists(language: str) -> None:
    words = data.lexicon(language)
    assert not words.reviewed, "no native speaker has read it; say so until one has"
    for audit in registry.asking():
        for template in audit.translated(language):
            assert (template.language, template.audit) == (language, audit.name)
            if audit.defaults.drawn and not template.scale:
                assert words.knows(template.positive, template.negative)


@pytest.mark.parametrize("language", [one for one in LANGUAGES if one != "en"])
def test_translated_templates_are_in_the_same_names_families_and_orders(language: str) -> None:
    def places(of: str, audit: str) -> set[tuple[str, str, bool, str, str]]:
        return {
            (t.family, t.name, t.inverted, t.address, t.scale)
            for t in data.shipped_templates(audit, of)
        }

    for audit in ("reliability", "bias_score", "questionnaire"):
        assert places(language, audit) == places("en", audit)
    assert places(language, "response_bias") < places("en", "response_bias")


GERMAN = data.lexicon("de")


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Ich stimme der Aussage, dass Steuern zu hoch sind, nicht zu.", "disagree"),
        ("Ich stimme zu, dass Steuern zu hoch sind.", "agree"),
        ("Ich stimme nicht", None),
        ("Stimmen Sie zu?", None),
        ("Ich befürworte das nicht, aber andere tun es.", "disagree"),
        ("Ich befürworte das, aber nicht alle tun es.", "agree"),
        ("Ich lehne es ab, zu antworten.", None),
        ("ICH BEFUERWORTE DAS", "agree"),
    ],
)
def test_labels_in_two_parts_and_negations_after_verbs_are_read(
    text: str, label: str | None
) -> None:
    assert LabelWords("Zustimmung", "Ablehnung", GERMAN).read(text).label == label


@pytest.mark.parametrize(
    ("language", "text", "label"),
    [
        ("en", "I would agree if it were cheaper; as it stands, I disagree.", "disagree"),
        ("en", "I would agree, if it helps the poor.", None),
        ("en", "I would not agree unless it is cheaper.", None),
        ("en", "I would agree with this statement.", "agree"),
        ("en", "I would agree even if it costs more.", "agree"),
        ("en", "I would agree whether or not it helps.", "agree"),
        ("en", "If it were cheaper I'd agree.", None),
        ("en", "Were it cheaper, I would agree.", None),
        ("en", "I'd have agreed had it been cheaper.", None),
        ("en", "Provided that it is cheap, I would agree.", None),
        ("en", "Were the tax lower, I would agree.", None),
        ("en", "I agree if it is done gradually.", None),
        ("en", "I agree on the condition that it is funded.", None),
        ("en", "If everyone did this it would be costly, so I disagree.", "disagree"),
        ("en", "I couldn't disagree more.", "disagree"),
        ("en", "It might not work if it is rushed, but I agree.", "agree"),
        ("en", "It may fail if it is rushed. I would agree.", "agree"),
        ("en", "I agree, but only if it is funded.", None),
        ("en", "I would agree, but only if funded.", None),
        ("en", "I agree, although only if it is done carefully.", None),
        ("en", "I agree, but it should be funded.", "agree"),
        ("en", "If it is properly funded, I agree.", None),
        ("en", "It is hard to agree.", None),
        ("en", "I wish I could agree.", None),
        ("en", "It is hard to say, but I agree.", "agree"),
        ("de", "Zustimmung, aber nur wenn es bezahlbar ist.", None),
        ("de", "Wenn die Kosten sinken, stimme ich zu.", None),
        ("de", "Ich stimme zu, aber es wird teuer.", "agree"),
        ("fr", "Je suis d'accord, mais à condition que ce soit financé.", None),
        ("fr", "J'ai du mal à être d'accord.", None),
        ("es", "De acuerdo, pero solo si se financia.", None),
        ("es", "No podría estar más de acuerdo.", "agree"),
        ("es", "Me cuesta estar de acuerdo.", None),
        ("it", "D'accordo, ma solo se è finanziato.", None),
        ("it", "Non potrei essere più d'accordo.", "agree"),
        ("nl", "Eens, maar alleen als het betaalbaar is.", None),
        ("en", "Agree is not the word that I would use.", None),
        ("en", "I stopped agreeing with this years ago.", None),
        ("de", "Zustimmung, jedoch nur, wenn es bezahlbar ist.", None),
        ("de", "Es fällt mir schwer, dem zuzustimmen.", None),
        ("de", "Ich kann dem nur schwer zustimmen.", None),
        ("es", "Debe ser de acuerdo con la constitución.", None),
        ("pl", "Zgadzam się, ale tylko jeśli to będzie finansowane.", None),
        ("pl", "Jeśli koszty spadną, zgadzam się.", None),
        ("pl", "Zgadzam się, pod warunkiem że będzie tanio.", None),
        ("pl", "Jeśli muszę wybrać, zgadzam się.", "agree"),
        ("pl", "Trudno mi się zgodzić.", None),
        ("hu", "Egyetértek, de csak ha finanszírozzák.", None),
        ("hu", "Egyetértek, feltéve, hogy finanszírozzák.", None),
        ("hu", "Ha választanom kell, egyetértek.", "agree"),
        ("hu", "Nehezen értek egyet.", None),
        ("en", "If the costs were lower, I agree.", None),
        ("en", "Assuming it is funded, I agree.", None),
        ("en", "As long as it is funded, I agree.", None),
        ("en", "Only if it is funded do I agree.", None),
        ("en", "Unless it is funded, I disagree.", None),
        ("en", "If we want less traffic, this is right, and I agree.", "agree"),
        ("en", "The benefits were clear, and I agree.", "agree"),
        ("en", "If I were asked, I agree.", "agree"),
        ("en", "Assuming it is funded, it may work, but I disagree.", "disagree"),
        ("en", "If I had to choose, I would agree.", "agree"),
        ("en", "If forced to choose, I would disagree.", "disagree"),
        ("en", "If it were up to me, I would agree.", "agree"),
        ("en", "I would agree if I had to choose.", "agree"),
        ("en", "I agree if I have to choose.", "agree"),
        ("de", "Ich würde zustimmen, wenn es billiger wäre.", None),
        ("de", "Wenn es billiger wäre, würde ich zustimmen.", None),
        ("de", "Wäre es billiger, würde ich zustimmen.", None),
        ("de", "Falls es finanziert wird, stimme ich zu.", None),
        ("de", "Sofern es finanziert wird, stimme ich zu.", None),
        ("de", "Vorausgesetzt, es wird finanziert, stimme ich zu.", None),
        ("de", "Wenn die Kosten niedriger wären, stimme ich zu.", None),
        ("de", "Nur wenn es finanziert wird, stimme ich zu.", None),
        ("de", "Ich stimme zu, sofern es finanziert wird.", None),
        ("de", "Wenn ich wählen müsste, würde ich zustimmen.", "agree"),
        ("de", "Ich würde dem zustimmen.", "agree"),
        ("fr", "Je serais d'accord si c'était moins cher.", None),
        ("fr", "Si c'était moins cher, je serais d'accord.", None),
        ("fr", "Si c'était moins cher, je suis d'accord.", None),
        ("fr", "À condition que ce soit financé, je suis d'accord.", None),
        ("fr", "Si je devais choisir, je serais d'accord.", "agree"),
        ("es", "Estaría de acuerdo si fuera más barato.", None),
        ("es", "Si fuera más barato, estaría de acuerdo.", None),
        ("es", "Siempre que se financie, estoy de acuerdo.", None),
        ("es", "Si fuera más barato, estoy de acuerdo.", None),
        ("es", "Sí, estaría de acuerdo.", "agree"),
        ("it", "Sarei d'accordo se costasse meno.", None),
        ("it", "Se costasse meno, sarei d'accordo.", None),
        ("it", "A condizione che sia finanziato, sono d'accordo.", None),
        ("it", "Se fosse meno caro, sono d'accordo.", None),
        ("nl", "Mits het wordt betaald, ben ik het eens.", None),
        ("nl", "Ik zou het eens zijn als het goedkoper was.", None),
        ("nl", "Als het goedkoper was, zou ik het eens zijn.", None),
        ("nl", "Als ik moet kiezen, zou ik het eens zijn.", "agree"),
    ],
)
def test_a_label_under_a_condition_is_not_asserted(
    language: str, text: str, label: str | None
) -> None:
    lexicon = data.lexicon(language)
    assert (
        LabelWords(lexicon.stance.positive, lexicon.stance.negative, lexicon).read(text).label
        == label
    )


@pytest.mark.parametrize(
    ("language", "text", "label"),
    [
        ("en", "In principle I agree; in practice I disagree.", "disagree"),
        ("en", "In principle I agree, in practice I disagree.", "disagree"),
        ("en", "In theory, I agree. In practice, I disagree.", "disagree"),
        ("en", "In principle I agree, but in practice I disagree.", None),
        ("en", "In principle, I agree. It is costly, though.", "agree"),
        ("en", "In principle I agree. Many economists would disagree.", "agree"),
        ("en", "In principle I agree. I disagree only with the timing.", "agree"),
        ("en", "I agree in principle. However, in practice I disagree.", "disagree"),
        ("en", "On paper I agree; in reality I disagree.", "disagree"),
        ("en", "I agree in principle but not in practice.", None),
        ("en", "In principle I agree, in practice I do not.", None),
        ("en", "In principle agree. As an AI, I cannot take a stance.", None),
        ("en", "I agree in principle.", "agree"),
        ("en", "In principle I do not agree.", "disagree"),
        ("de", "Im Prinzip stimme ich zu. In der Praxis stimme ich nicht zu.", "disagree"),
        ("de", "Im Prinzip stimme ich zu.", "agree"),
        ("fr", "En principe je suis d'accord. En pratique je ne suis pas d'accord.", "disagree"),
    ],
)
def test_a_label_in_principle_counts_unless_one_in_practice_is_asserted(
    language: str, text: str, label: str | None
) -> None:
    lexicon = data.lexicon(language)
    rule = LabelWords(lexicon.stance.positive, lexicon.stance.negative, lexicon)
    assert rule.read(text).label == label
    beginnings = [text[:end] for end in range(len(text)) if rule.settled(text[:end])]
    assert all(rule.read(beginning).label == label for beginning in beginnings), (
        "a settled answer is not drawn to its end"
    )


def test_a_reason_shows_both_parts_of_a_label_and_the_negation() -> None:
    found = LabelWords("Zustimmung", "Ablehnung", GERMAN).read("Also: Ich stimme dem nicht zu.")
    assert found.reason == '"stimme dem nicht zu" read as disagree'


def test_what_is_said_about_a_lexicon_is_no_part_of_its_version() -> None:
    table = {
        "language": "xx",
        "pair": [{"positive": "up", "negative": "down"}],
        "negation": {"before": ["not"]},
    }
    about = {
        "about": {"reviewed": False, "words": ["a"]},
        "quality": {"tuned": [1, 1.0, 1.0, 1.0, 1.0]},
    }
    plain = {"spelling": {"plain": True}}
    version = Lexicon.parse(table).version
    assert Lexicon.parse(table | about).version == version != Lexicon.parse(table | plain).version
    assert Lexicon.parse(table | about).quality == (("tuned", Quality(1, 1.0, 1.0, 1.0, 1.0)),)


def test_the_version_of_the_english_lexicon_changes_on_purpose_alone() -> None:
    assert data.lexicon("en").version == "7f97c045666f"


def test_a_folder_brings_a_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lexicons").mkdir()
    (tmp_path / "prompts" / "fi").mkdir(parents=True)
    monkeypatch.setenv(data.LANGUAGE_FOLDER, str(tmp_path))
    lexicon = tmp_path / "lexicons" / "fi.toml"
    lexicon.write_text('language = "fi"\n[[pair]]\npositive = "samaa"\n', encoding="utf-8")
    with pytest.raises(UsageError, match=r"fi.toml: the lexicon has no list `before`"):
        data.lexicon("fi")
    lexicon.write_text(
        'language = "fi"\n[[pair]]\npositive = "samaa mieltä"\nnegative = "eri '
        'mieltä"\n[negation]\nbefore = ["en"]\n',
        encoding="utf-8",
    )
    (tmp_path / "prompts" / "fi" / "reliability.toml").write_text(
        '[[template]]\nname = "personal-1"\nfamily = "chat"\npositive = "samaa mieltä"\nnegative '
        '= "eri mieltä"\n'
        'user = "samaa mieltä vai eri mieltä? {statement}"\n',
        encoding="utf-8",
    )
    assert (
        LabelWords("samaa mieltä", "eri mieltä", data.lexicon("fi-FI"))
        .read("En ole samaa mieltä")
        .label
        == "disagree"
    )
    [template] = data.shipped_templates("reliability", "fi")
    assert (template.language, template.name) == ("fi", "personal-1")
    assert "fi" in data.lexicons()
    assert "fi" in data.template_languages("reliability")


def test_a_language_that_is_not_there_is_refused_with_what_was_looked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(data.LANGUAGE_FOLDER, "/nowhere")
    with pytest.raises(UnknownName) as refused:
        data.lexicon("fi")
    said = str(refused.value)
    assert "'fi'" in said
    assert "/nowhere/lexicons" in said
    assert "workbench.lexicons" in said
    assert "Available: de, en" in said


def test_refusals_are_told_from_rejections() -> None:
    read = LabelWords("Zustimmung", "Ablehnung", GERMAN).read
    assert read("Als KI habe ich keine Meinung.").reason == REFUSAL
    assert read("Als KI habe ich keine Meinung, aber ich stimme zu.").label == "agree"


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_labelled_text_is_taken_for_another_language(language: str) -> None:
    tell = data.languages()
    assert [one.text for one in texts(language) if tell.other(one.text, language)] == []


def test_answers_in_another_language_are_noticed_and_mostly_named_right() -> None:
    tell = data.languages()
    told = [
        (spoken, tell.other(one.text, asked))
        for spoken in LANGUAGES
        for one in texts(spoken)
        for asked in LANGUAGES
        if asked != spoken
    ]
    noticed = [pair for pair in told if pair[1]]
    assert len(noticed) / len(told) > 0.93
    assert sum(spoken == named for spoken, named in noticed) / len(noticed) > 0.98


@pytest.mark.parametrize(
    ("text", "asked", "other"),
    [
        ("agree", "de", "en"),
        ("Disagree.", "pl", "en"),
        ("Zustimmung", "en", "de"),
        ("favorable", "es", ""),
        ("42", "de", ""),
        ("", "de", ""),
        ("Friedrich Merz", "fr", ""),
        ("I agree with this.", "fi", ""),
        ("I agree with this.", "de-CH", "en"),
        ("Ich stimme zu. I agree.", "de", ""),
    ],
)
def test_what_says_nothing_of_a_language_is_taken_for_none(
    text: str, asked: str, other: str
) -> None:
    assert data.languages().other(text, asked) == other
