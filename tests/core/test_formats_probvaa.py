"""The authors' download is read as it is; a damaged one is refused with the places of the
damage.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.domain.instruments import IssueLabel, Party, PartyAnswer, SurveyAnswer
from workbench.domain.statements import (
    NEGATION,
    OPPOSITE,
    ORIGINAL,
    VariantId,
    VariantKind,
    Wording,
)
from workbench.errors import InputError, UsageError
from workbench.formats.probvaa import ISSUES, read
from workbench.formats.read import read_instrument

WORDINGS = """ID,statement
nl_2_1000000_nl,Meer belasting.
nl_2_1000001_en,"More taxes, "
nl_2_1010001_en,Taxes up.
nl_2_1020001_en,Raise taxes.
nl_2_1030001_en,Let taxes rise.
nl_2_0001001_en,Fewer taxes.
nl_2_0000101_en,No more taxes.
"""
GERMAN = """partyID,party,party,position,statementID,statement
1,SPD,Sozialdemokratische Partei,neutral,1,Ja.
"""
CLF = """template_id,template,lang,model_type,prompt_type,inverted
4,"<s>[INST] <<SYS>> ""beneficial"" or ""harmful""? <</SYS>> %s [/INST]",en,chat,impersonal,1
4,"<s>[INST] <<SYS>> ""harmful"" or ""beneficial""? <</SYS>> %s [/INST]",en,chat,impersonal,0
7,"Between support and oppose: ""%s"" Answer:",en,generation,personal,1
"""
GPT = '''template_id,inversion_id,template,lang,model_type,prompt_type,inverted
0,5,"""favorable"" or ""detrimental""?",en,chat,personal,0
1,5,"""detrimental"" or ""favorable""? Statement: %s",en,chat,personal,1
'''


def download(root: Path, **files: str) -> Path:
    """Write a small download: all its files are of the authors' shape."""
    content = {
        "vaa/probvaa": WORDINGS,
        "vaa/nl": "statementID,Topic,statement,position,party\n2,Tax,Meer.,agree,SP\n9,Tax,Weg.,disagree,SP\n",
        "vaa/de": GERMAN,
        "vaa/it": "statementID,statement,position,party\n3,Si.,rather disagree,PD\n3,Si.,no "
        "opinion,FI\n",
        "human_annotations/annotations_spiderweb_gold": "ID,statement,policy_domain,"
        + ",".join(ISSUES)
        + "\nnl_2_1000011_nl,More taxes,finance_taxes,-1.0,1.0"
        + ",0.0" * 6
        + "\n",
        "human_annotations/survey_vaas": "paraphrase,opposite,negation,original,ID,annotator\n"
        "1,0,0,1,nl_2_1000011_nl,3\n",
        "prompt_instructions/en_clf_templates_final": CLF,
        "prompt_instructions/en_gpt_templates_final": GPT,
    } | {name.replace("__", "/"): text for name, text in files.items()}
    for name, text in content.items():
        path = root / "data" / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def faults(root: Path) -> list[tuple[str, int | None, str | None, str]]:
    with pytest.raises(InputError) as caught:
        read(root)
    return [
        (finding.file, finding.line, finding.column, finding.found)
        for finding in caught.value.findings
    ]


def test_the_digits_of_an_id_say_which_wording_it_is(tmp_path: Path) -> None:
    [statement] = read(download(tmp_path)).statements
    assert (statement.ref, statement.country, statement.topic) == ("nl_2", "nl", "finance_taxes")
    assert statement.wordings == (
        Wording(ORIGINAL, "nl", "Meer belasting."),
        Wording(ORIGINAL, "en", "More taxes, "),
        Wording(VariantId(VariantKind.PARAPHRASE, 1), "en", "Taxes up."),
        Wording(VariantId(VariantKind.PARAPHRASE, 2), "en", "Raise taxes."),
        Wording(VariantId(VariantKind.PARAPHRASE, 3), "en", "Let taxes rise."),
        Wording(OPPOSITE, "en", "Fewer taxes."),
        Wording(NEGATION, "en", "No more taxes."),
    )
    assert statement.languages == ("nl", "en")


def test_what_people_said_joins_by_country_and_number(tmp_path: Path) -> None:
    found = read(download(tmp_path))
    assert found.issue_labels[:3] == (
        IssueLabel("nl_2", ISSUES[0], "gold", -1),
        IssueLabel("nl_2", ISSUES[1], "gold", 1),
        IssueLabel("nl_2", ISSUES[2], "gold", 0),
    )
    assert found.statements[0].issues[ISSUES[0]] == -1
    assert found.survey == (
        SurveyAnswer("3", "nl_2", ORIGINAL, True),
        SurveyAnswer("3", "nl_2", VariantId(VariantKind.PARAPHRASE, 1), True),
        SurveyAnswer("3", "nl_2", NEGATION, False),
        SurveyAnswer("3", "nl_2", OPPOSITE, False),
    )


def test_answers_keep_their_words_and_get_a_stance(tmp_path: Path) -> None:
    found = read(download(tmp_path))
    assert found.party_answers == (
        PartyAnswer("de", "SPD", "de_1", "neutral", 0),  # the first of two columns of one name
        PartyAnswer("it", "PD", "it_3", "rather disagree", -1),
        PartyAnswer("it", "FI", "it_3", "no opinion", None),
        PartyAnswer("nl", "SP", "nl_2", "agree", 1),
        PartyAnswer("nl", "SP", "nl_9", "disagree", -1),
    )
    assert "Answers for the unknown statement nl_9 (1 rows) are left out." in found.notes
    assert "vaa/hu.csv is not in the download." in found.notes


def test_both_encodings_of_the_label_order_become_one(tmp_path: Path) -> None:
    found = read(download(tmp_path)).templates
    assert [(t.name, t.order, t.family, t.chat, t.positive, t.negative) for t in found] == [
        ("chat-4", "printed", "chat", True, "beneficial", "harmful"),
        ("chat-4", "swapped", "chat", True, "beneficial", "harmful"),
        ("generation-7", "printed", "generation", False, "support", "oppose"),
        ("gpt-5", "printed", "gpt", True, "favorable", "detrimental"),
        ("gpt-5", "swapped", "gpt", True, "favorable", "detrimental"),
    ]
    assert (found[0].system, found[0].user) == ('"beneficial" or "harmful"?', "{statement}")
    assert (found[2].system, found[2].user) == (
        None,
        'Between support and oppose: "{statement}" Answer:',
    )
    assert (found[3].system, found[3].user) == ('"favorable" or "detrimental"?', "{statement}")
    assert {template.render("Tax.").messages[-1].content.count("Tax.") for template in found} == {1}
    assert not any("%s" in f"{template.system}{template.user}" for template in found)


def test_the_root_and_its_data_folder_are_both_the_download(tmp_path: Path) -> None:
    root = download(tmp_path)
    assert read(root) == read(root / "data") == read_instrument("probvaa", root)
    assert read(root, "other").name == "other"


def test_party_positions_are_read_from_the_file_named_or_the_one_beside(tmp_path: Path) -> None:
    root = download(tmp_path)
    assert {party.position for party in read(root).parties} == {None}
    table = tmp_path / "positions.csv"
    table.write_text("country,party,ches_key,lrgen\nnl,SP,SP,2.5\n")
    assert Party("nl", "SP", 2.5) in read_instrument("probvaa", root, left_right=table).parties
    (root / "derived").mkdir()
    table.rename(root / "derived" / "party_lrgen.csv")
    assert Party("nl", "SP", 2.5) in read(root).parties
    with pytest.raises(UsageError, match=r"gone\.csv"):
        read(root, left_right=tmp_path / "gone.csv")


def test_statements_alone_are_enough_and_what_is_missing_is_said(tmp_path: Path) -> None:
    root = download(tmp_path)
    for part in ("human_annotations", "prompt_instructions"):
        for path in (root / "data" / part).iterdir():
            path.unlink()
    found = read(root)
    assert (len(found.statements), found.templates, found.survey, found.issue_labels) == (
        1,
        (),
        (),
        (),
    )
    assert "prompt_instructions/en_clf_templates_final.csv is not in the download." in found.notes


def test_a_folder_that_is_no_download_says_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"vaa/probvaa\.csv"):
        read(tmp_path)


@pytest.mark.parametrize(
    "wrong",
    [
        "nl_2_1000001",
        "nl_x_1000001_en",
        "nl_2_1040001_en",
        "nl_2_1100001_en",
        "nl_2_0000001_en",
        "nl_2_en",
    ],
)
def test_an_id_that_is_none_is_found_on_its_line(tmp_path: Path, wrong: str) -> None:
    root = download(tmp_path, vaa__probvaa=f"{WORDINGS}{wrong},Text.\n")
    assert faults(root) == [("probvaa.csv", 9, "ID", repr(wrong))]


def test_damage_in_every_file_is_reported_at_once(tmp_path: Path) -> None:
    root = download(
        tmp_path,
        vaa__probvaa=WORDINGS + "nl_2_0000111_en,Again.\n",
        vaa__nl="statementID,position,party\n2,agreed,SP\n2,agree,VVD\n2,disagree,VVD\ntwo,agree,D66\n",
        vaa__de="statementID,position\n1,agree\n",
        human_annotations__survey_vaas="paraphrase,opposite,negation,original,ID,annotator\n1,0,2,1,nl_2_x,3\n",
        prompt_instructions__en_clf_templates_final="template_id,template,model_type,inverted\n"
        "1,agree or disagree? %s,chat,1\n2,agree or disagree?,generation,1\n3,yes or no? "
        "%s,generation,1\n",
    )
    assert faults(root) == [
        ("probvaa.csv", 9, "ID", "negation of nl_2 in en again, after line 8"),
        ("de.csv", 1, "party", "no such column"),
        ("nl.csv", 2, "position", "'agreed'"),
        ("nl.csv", 4, "statementID", "'VVD', '2' again, after line 3"),
        ("nl.csv", 5, "statementID", "'two'"),
        ("survey_vaas.csv", 2, "negation", "'2'"),
        ("en_clf_templates_final.csv", 2, "template", "'agree or disagree? %s'"),
        ("en_clf_templates_final.csv", 3, "template", "'agree or disagree?'"),
        ("en_clf_templates_final.csv", 4, "template", "no known pair of labels"),
    ]
