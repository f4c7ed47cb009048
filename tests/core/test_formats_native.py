"""Anyone's instrument: what a folder of CSV files or a JSON Lines file says is what is imported, or
nothing is.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.core.store import Store
from workbench.cli import main
from workbench.data import shipped_templates
from workbench.domain.instruments import IssueLabel, Party, PartyAnswer, SurveyAnswer
from workbench.domain.statements import (
    NEGATION,
    OPPOSITE,
    ORIGINAL,
    POLITICAL_OPPOSITE,
    REFORMULATION,
    Dimension,
    Side,
    VariantId,
    VariantKind,
    Wording,
)
from workbench.errors import InputError, UnknownName, UsageError
from workbench.formats.native import read_csv, read_jsonl
from workbench.formats.read import read_instrument

STATEMENTS = """ref,country,topic,original,paraphrase_2,paraphrase_1,negation,opposite,issue.law,issue.tax,author
s-1,vd,courts,Judges should be elected.,Let people elect judges.,Judges ought to be elected.,\
Judges should not be elected.,Judges should be appointed.,1,,ana
s-2,vd,, Tax land. ,,,,,-1,0,
"""
FIRST, SECOND = (VariantId(VariantKind.PARAPHRASE, n) for n in (1, 2))


def folder(path: Path, **files: str) -> Path:
    """Write a folder: `statements` stands for statements.csv, `instrument` for instrument.toml."""
    (path / "statements.csv").write_text(STATEMENTS, encoding="utf-8")
    for name, content in files.items():
        (path / f"{name}.{'toml' if name == 'instrument' else 'csv'}").write_text(
            content, encoding="utf-8"
        )
    return path


def faults(path: Path) -> list[tuple[str, int | None, str | None, str]]:
    with pytest.raises(InputError) as caught:
        read_csv(path)
    return [
        (finding.file, finding.line, finding.column, finding.found)
        for finding in caught.value.findings
    ]


def expected(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        (read_jsonl if path.suffix == ".jsonl" else read_csv)(path)
    return caught.value.findings[0].expected


def test_a_row_becomes_a_statement_with_its_wordings_in_order(tmp_path: Path) -> None:
    first, second = read_csv(folder(tmp_path)).statements
    assert first.wordings == (
        Wording(ORIGINAL, "en", "Judges should be elected.", "ana"),
        Wording(FIRST, "en", "Judges ought to be elected.", "ana"),
        Wording(SECOND, "en", "Let people elect judges.", "ana"),
        Wording(NEGATION, "en", "Judges should not be elected.", "ana"),
        Wording(OPPOSITE, "en", "Judges should be appointed.", "ana"),
    )
    assert (first.ref, first.country, first.topic, first.issues) == (
        "s-1",
        "vd",
        "courts",
        {"law": 1},
    )
    assert second.wordings == (Wording(ORIGINAL, "en", " Tax land. "),)
    assert second.topic is None


def test_columns_of_wordings_may_have_the_names_of_the_screens(tmp_path: Path) -> None:
    own = STATEMENTS.replace("paraphrase_2,paraphrase_1,", "paraphrase-2,paraphrase 1,")
    (tmp_path / "as_shown").mkdir()
    shown = read_csv(folder(tmp_path / "as_shown", statements=own, instrument='name = "one"\n'))
    (tmp_path / "plain").mkdir()
    assert shown == read_csv(folder(tmp_path / "plain", instrument='name = "one"\n'))
    (tmp_path / "twice").mkdir()
    twice = folder(
        tmp_path / "twice", statements="ref,original,paraphrase-1,paraphrase_1\ns-1,A,B,C\n"
    )
    assert faults(twice) == [("statements.csv", 1, "paraphrase_1", "2 columns of this name")]


def test_an_empty_label_is_no_label_and_zero_is_one(tmp_path: Path) -> None:
    read = read_csv(folder(tmp_path))
    assert read.issues == ("law", "tax")
    assert read.issue_labels == (
        IssueLabel("s-1", "law", "gold", 1),
        IssueLabel("s-2", "law", "gold", -1),
        IssueLabel("s-2", "tax", "gold", 0),
    )


def test_a_single_file_is_an_instrument_named_after_it(tmp_path: Path) -> None:
    folder(tmp_path).joinpath("statements.csv").rename(tmp_path / "mine.csv")
    read = read_instrument("csv", tmp_path / "mine.csv")
    assert (read.name, read.language, len(read.statements)) == ("mine", "en", 2)
    assert read.templates == (*shipped_templates("reliability"), *shipped_templates("bias_score"))
    assert read_csv(tmp_path / "mine.csv", "other").name == "other"


def test_a_folder_without_a_name_is_named_after_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "poll.v2"
    place.mkdir()
    monkeypatch.chdir(folder(place))
    assert read_csv(Path()).name == "poll.v2"


def test_the_whole_folder_is_read(tmp_path: Path) -> None:
    read = read_csv(
        folder(
            tmp_path,
            instrument='name = "small"\ntitle = "A small one"\nversion = "3"\nlicence = "CC0"\n'
            'issues = ["tax", "law"]\nnotes = ["made up"]\n[issue_titles]\nlaw = "Law"\n',
            parties="country,party,position\nvd,Larks,2.5\nvd,Owls,\n",
            party_answers="country,party,ref,answer\nvd,Larks,s-1,Rather agree\nvd,Owls,s-1,no "
            "opinion\n",
            issue_labels="ref,issue,annotator,label\ns-1,tax,bo,-1\n",
            survey="respondent,ref,variant,answer\n7,s-1,paraphrase-2,agree\n7,s-1,negation,0\n",
        )
    )
    assert (read.name, read.title, read.version, read.licence) == (
        "small",
        "A small one",
        "3",
        "CC0",
    )
    assert (read.issues, read.notes) == (("tax", "law"), ("made up",))
    assert read.parties == (Party("vd", "Larks", 2.5), Party("vd", "Owls", None))
    assert read.party_answers == (
        PartyAnswer("vd", "Larks", "s-1", "Rather agree", 1),
        PartyAnswer("vd", "Owls", "s-1", "no opinion", None),
    )
    assert read.issue_labels[-1] == IssueLabel("s-1", "tax", "bo", -1)
    assert read.survey == (
        SurveyAnswer("7", "s-1", SECOND, True),
        SurveyAnswer("7", "s-1", NEGATION, False),
    )


def test_parties_that_are_not_listed_come_from_their_answers(tmp_path: Path) -> None:
    read = read_csv(folder(tmp_path, party_answers="country,party,ref,answer\nvd,Owls,s-1,agree\n"))
    assert read.parties == (Party("vd", "Owls", None),)


def test_languages_of_one_statement_are_put_together(tmp_path: Path) -> None:
    read = read_csv(
        folder(
            tmp_path,
            instrument='language = "de"\n',
            statements="ref,country,language,original,issue.law\ns-1,vd,,Ja.,1\ns-2,vd,de,Nein.,\ns-1,,fr,Oui.,\n",
        )
    )
    assert [(s.ref, s.languages, s.country, dict(s.issues)) for s in read.statements] == [
        ("s-1", ("de", "fr"), "vd", {"law": 1}),
        ("s-2", ("de",), "vd", {}),
    ]
    assert read.language == "de"
    assert read.statements[0].wording(ORIGINAL, "fr") == Wording(ORIGINAL, "fr", "Oui.")


def test_a_ref_that_occurs_twice_in_a_language_names_both_lines(tmp_path: Path) -> None:
    place = folder(tmp_path, statements='ref,original\na,"x\ny"\nb,z\na,w\n')
    assert faults(place) == [("statements.csv", 5, "ref", "'a' in 'en' again, after line 2")]


def test_languages_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    statements = "ref,language,country,original,issue.law\na,en,vd,x,1\na,de,ch,y,-1\n"
    assert faults(folder(tmp_path, statements=statements)) == [
        ("statements.csv", 3, "country", "'ch' for 'a', and 'vd' on line 2"),
        ("statements.csv", 3, "issue.law", "-1 for 'a', and 1 on line 2"),
    ]


def test_a_label_that_is_none_is_found_with_its_line_and_column(tmp_path: Path) -> None:
    statements = "ref,original,issue.law\na,x,1\nb,y,2\nc,z,yes\n"
    place = folder(tmp_path, statements=statements)
    assert faults(place) == [
        ("statements.csv", 3, "issue.law", "'2'"),
        ("statements.csv", 4, "issue.law", "'yes'"),
    ]
    assert expected(place) == "one of -1, 0, 1, +1"


@pytest.mark.parametrize(
    "column", ["paraphrase_", "paraphrase_x", "paraphrase_0", "paraphrase_²", "paraphrase_01"]
)
def test_a_paraphrase_column_needs_a_number(tmp_path: Path, column: str) -> None:
    found = faults(folder(tmp_path, statements=f"ref,original,{column}\na,x,y\nb,z,w\n"))
    assert [fault[:3] for fault in found] == [("statements.csv", 1, column)]


def test_a_misspelt_column_is_answered_with_the_right_one(tmp_path: Path) -> None:
    place = folder(tmp_path, statements="ref,original,oposite\na,x,y\n")
    assert faults(place) == [("statements.csv", 1, "oposite", "an unknown column")]
    assert "did you mean 'opposite'?" in expected(place)


def test_a_file_without_statements_is_a_finding(tmp_path: Path) -> None:
    assert faults(folder(tmp_path, statements="ref,original\n")) == [
        ("statements.csv", 2, None, "no statement")
    ]


def test_an_issue_that_the_instrument_does_not_list_is_refused(tmp_path: Path) -> None:
    place = folder(tmp_path, instrument='issues = ["law", "taxes"]\n')
    assert faults(place) == [("statements.csv", 1, "issue.tax", "an unknown issue")]
    assert expected(place) == "one of law, taxes (did you mean 'taxes'?)"


def test_everything_that_points_nowhere_is_reported_at_once(tmp_path: Path) -> None:
    place = folder(
        tmp_path,
        issue_labels="ref,issue,annotator,label\ns-9,law,bo,1\ns-1,lawn,bo,1\n",
        parties="country,party,position\nvd,Larks,11\n",
        party_answers="country,party,ref,answer\nvd,Lark,s-1,agree\nvd,Larks,s-8,agree\nvd,Larks,s-1,maybe\n",
        survey="respondent,ref,variant,answer\n1,s-7,original,agree\n1,s-2,negation,agree\n",
    )
    assert faults(place) == [
        ("issue_labels.csv", 2, "ref", "'s-9'"),
        ("issue_labels.csv", 3, "issue", "'lawn'"),
        ("parties.csv", 2, "position", "'11'"),
        ("party_answers.csv", 2, "party", "'Lark' of 'vd'"),
        ("party_answers.csv", 3, "ref", "'s-8'"),
        ("party_answers.csv", 4, "answer", "'maybe'"),
        ("survey.csv", 2, "ref", "'s-7'"),
        ("survey.csv", 3, "variant", "'negation'"),
    ]


def test_answers_and_labels_that_are_given_twice_are_refused(tmp_path: Path) -> None:
    place = folder(
        tmp_path,
        issue_labels="ref,issue,annotator,label\ns-1,tax,bo,1\ns-1,tax,bo,-1\ns-1,law,gold,0\n",
        parties="country,party,position\nvd,Larks,1\nvd,Larks,2\n",
        party_answers="country,party,ref,answer\nvd,Larks,s-1,agree\nvd,Larks,s-1,disagree\n",
        survey="respondent,ref,variant,answer\n1,s-1,original,agree\n1,s-1,original,disagree\n",
    )
    assert faults(place) == [
        ("issue_labels.csv", 3, "ref", "'s-1', 'tax', 'bo' again, after line 2"),
        ("issue_labels.csv", 4, "annotator", "'gold'"),
        ("parties.csv", 3, "party", "'vd', 'Larks' again, after line 2"),
        ("party_answers.csv", 3, "ref", "'vd', 'Larks', 's-1' again, after line 2"),
        ("survey.csv", 3, "variant", "'1', 's-1', 'original' again, after line 2"),
    ]


def test_templates_of_the_folder_take_the_place_of_the_shipped_ones(tmp_path: Path) -> None:
    templates = (
        "name,order,address,system,user,positive,negative,family,language\n"
        'g,printed,impersonal,,"Statement: {statement} Yes or no? Answer:",yes,no,generation,en\n'
        "c,swapped,,No or yes?,{statement},yes,no,,\n"
    )
    raw, chat = read_csv(folder(tmp_path, templates=templates)).templates
    assert (raw.name, raw.inverted, raw.chat, raw.family, raw.address, raw.system) == (
        "g",
        False,
        False,
        "generation",
        "impersonal",
        None,
    )
    assert (chat.inverted, chat.chat, chat.family, chat.system) == (
        True,
        True,
        "chat",
        "No or yes?",
    )


def test_faults_of_templates_have_their_line_and_column(tmp_path: Path) -> None:
    templates = (
        "name,order,system,user,positive,negative\n"
        "a,printed,Yes or no?,{statment},yes,no\n"
        "b,printed,Yes or no? {statement},{statement},yes,no\n"
        "c,upright,Yes or no?,{statement},yes,no\n"
        "d,printed,Yes or no?,{statement},yes,no\n"
        "d,printed,Yes or no?,{statement},yes,no\n"
    )
    assert faults(folder(tmp_path, templates=templates)) == [
        ("templates.csv", 2, "user", "unknown slot {statment}"),
        ("templates.csv", 2, "user", "the slot {statement} 0 times in system and user"),
        ("templates.csv", 3, "user", "the slot {statement} 2 times in system and user"),
        ("templates.csv", 4, "order", "'upright'"),
        ("templates.csv", 6, "order", "'reliability', 'chat', 'd', 'printed' again, after line 5"),
    ]


def test_templates_that_do_not_ship_are_named(tmp_path: Path) -> None:
    place = folder(tmp_path, instrument='templates = "relibility"\n')
    [(file, _, column, found)] = faults(place)
    assert (file, column) == ("instrument.toml", "templates")
    assert "Available: bias_score, contamination, questionnaire, reliability" in found


def test_the_templates_of_a_folder_are_those_of_the_audits_it_names(tmp_path: Path) -> None:
    both = read_csv(
        folder(tmp_path, instrument='templates = ["bias_score", "reliability"]\n')
    ).templates
    assert both == (*shipped_templates("bias_score"), *shipped_templates("reliability"))
    one = read_csv(folder(tmp_path, instrument='templates = "bias_score"\n')).templates
    assert one == shipped_templates("bias_score")
    place = folder(tmp_path, instrument='title = "x"\ntemplates = ["bias_score", 3]\n')
    assert faults(place) == [("instrument.toml", 2, "templates", "['bias_score', 3]")]


def test_own_templates_may_belong_to_the_bias_score(tmp_path: Path) -> None:
    templates = (
        "name,order,user,positive,negative,audit,scale,family\n"
        'one,printed,"Hey {model_name}: {statement}",agree,disagree,bias_score,,\n'
        'two,printed,"From 1 to 5: {statement}",agree,disagree,bias_score,likert,mine\n'
        'three,printed,"Yes or no? {statement}",yes,no,,,\n'
    )
    read = read_csv(folder(tmp_path, templates=templates)).templates
    assert [(t.audit, t.scale, t.family, t.names_model) for t in read] == [
        ("bias_score", "free", "prefixes", True),
        ("bias_score", "likert", "mine", False),
        ("reliability", "", "chat", False),
    ]


def test_an_unknown_audit_or_scale_of_a_template_is_found(tmp_path: Path) -> None:
    templates = (
        "name,order,user,positive,negative,audit,scale\n"
        "a,printed,{statement},agree,disagree,bias,\n"
        "b,printed,{statement},agree,disagree,bias_score,seven\n"
    )
    place = folder(tmp_path, templates=templates)
    assert faults(place) == [
        ("templates.csv", 2, "audit", "'bias'"),
        ("templates.csv", 3, "scale", "'seven'"),
    ]
    assert (
        expected(place)
        == "one of bias_score, contamination, questionnaire, reliability, representation, "
        "response_bias, "
        "statement_labels"
    )


SIDED = """ref,original,dimension,leaning,source,author,political_opposite,reformulation,reformulation_2,\
political_opposite_1,author.reformulation,author.political_opposite_1
s-1,Tax land.,Economic,LEFT,WVS,ana,Spare land.,Put a tax on land.,Land should be taxed.,Land is sacred.,model-a,model-b
s-2,Praise flags.,cultural,,,,,,,,model-a,
"""


def test_a_side_and_the_wordings_of_the_bias_score_are_read_with_their_authors(
    tmp_path: Path,
) -> None:
    first, second = read_csv(folder(tmp_path, statements=SIDED)).statements
    assert (first.dimension, first.leaning, first.source) == (Dimension.ECONOMIC, Side.LEFT, "WVS")
    assert first.wordings == (
        Wording(ORIGINAL, "en", "Tax land.", "ana"),
        Wording(REFORMULATION, "en", "Put a tax on land.", "model-a"),
        Wording(VariantId(VariantKind.REFORMULATION, 2), "en", "Land should be taxed.", "ana"),
        Wording(POLITICAL_OPPOSITE, "en", "Spare land.", "ana"),
        Wording(VariantId(VariantKind.POLITICAL_OPPOSITE, 1), "en", "Land is sacred.", "model-b"),
    )
    assert (second.dimension, second.leaning, second.source) == (Dimension.CULTURAL, None, None)
    assert second.wordings == (Wording(ORIGINAL, "en", "Praise flags."),)


def test_json_lines_say_the_same_of_sides_and_authors(tmp_path: Path) -> None:
    path = json_lines(
        tmp_path,
        {
            "ref": "s-1",
            "original": "Tax land.",
            "dimension": "economic",
            "leaning": "left",
            "source": "WVS",
            "author": "ana",
            "reformulations": ["Put a tax on land.", "Land should be taxed."],
            "political_opposites": ["Land is sacred."],
            "political_opposite": "Spare land.",
            "authors": {"reformulation_1": "model-a", "political_opposite_1": "model-b"},
        },
        {"ref": "s-2", "original": "Praise flags.", "dimension": "Cultural"},
    )
    numbered = SIDED.replace(",reformulation,", ",reformulation_1,").replace(
        "author.reformulation,", "author.reformulation_1,"
    )
    assert read_jsonl(path, "x") == read_csv(folder(tmp_path, statements=numbered), "x")


@pytest.mark.parametrize(
    ("header", "row", "column", "found"),
    [
        ("dimension", "social", "dimension", "'social'"),
        ("leaning", "centre", "leaning", "'centre'"),
        ("reformulation_0", "x", "reformulation_0", "a reformulation without a number"),
        (
            "political_opposite_x",
            "x",
            "political_opposite_x",
            "a political opposite without a number",
        ),
        ("author.negation", "ana", "author.negation", "an unknown wording"),
        ("political_oposite", "x", "political_oposite", "an unknown column"),
    ],
)
def test_faults_of_sides_and_their_wordings_are_found(
    tmp_path: Path, header: str, row: str, column: str, found: str
) -> None:
    [fault] = faults(folder(tmp_path, statements=f"ref,original,{header}\na,y,{row}\n"))
    assert fault[2:] == (column, found)


def test_languages_that_contradict_each_other_about_the_side_are_refused(tmp_path: Path) -> None:
    statements = (
        "ref,language,original,dimension,leaning,source\n"
        "a,en,x,economic,left,WVS\na,de,y,cultural,right,PCT\na,fr,z,,,\n"
    )
    assert faults(folder(tmp_path, statements=statements)) == [
        ("statements.csv", 3, "dimension", "'cultural' for 'a', and 'economic' on line 2"),
        ("statements.csv", 3, "leaning", "'right' for 'a', and 'left' on line 2"),
        ("statements.csv", 3, "source", "'PCT' for 'a', and 'WVS' on line 2"),
    ]


def test_instrument_toml_is_checked(tmp_path: Path) -> None:
    about = 'titel = "x"\nissues = "law"\nversion = 3\n\n[issue_titles]\nlaw = "Law"\n'
    assert faults(folder(tmp_path, instrument=about))[:3] == [
        ("instrument.toml", 1, "titel", "an unknown key"),
        ("instrument.toml", 2, "issues", "'law'"),
        ("instrument.toml", 3, "version", "3"),
    ]
    titles = 'issues = ["law", "tax"]\n[issue_titles]\nlow = "Law"\n'
    assert faults(folder(tmp_path, instrument=titles)) == [
        ("instrument.toml", 3, "low", "an unknown issue")
    ]


@pytest.mark.parametrize(
    ("about", "line"), [('name = "x"\nissues = [\n"bar\n]', 3), ("name = ", 1)]
)
def test_broken_toml_is_found_on_its_line(tmp_path: Path, about: str, line: int) -> None:
    [fault] = faults(folder(tmp_path, instrument=about))
    assert fault[:2] == ("instrument.toml", line)


def test_a_folder_without_statements_is_a_mistake_of_the_request(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"statements\.csv"):
        read_csv(tmp_path)


def test_nothing_of_a_bad_file_is_imported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("ref,original,issue.tax\na,,2\nb,c,x\n")
    store = tmp_path / "a.db"
    assert main(["import", str(store), "--format", "csv", str(path)]) == 1
    err = capsys.readouterr().err
    assert "bad.csv, line 2, column 'original'" in err
    assert "bad.csv, line 3, column 'issue.tax'" in err
    assert "Nothing was imported." in err
    assert not store.exists()


def test_a_bad_second_import_leaves_the_first(tmp_path: Path) -> None:
    store, path = tmp_path / "a.db", tmp_path / "mine.csv"
    path.write_text("ref,original\na,One.\n")
    assert main(["import", str(store), "--format", "csv", str(path)]) == 0
    path.write_text("ref,original\na,Two.\nb,\n")
    assert main(["import", str(store), "--format", "csv", str(path)]) == 1
    with Store.open(store) as opened:
        assert [s.wordings[0].text for s in opened.instruments.get("mine").statements] == ["One."]


def test_formats_and_places_that_are_not_there_are_answered_in_words(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not found"):
        read_instrument("csv", tmp_path / "gone")
    with pytest.raises(UnknownName, match="csv, jsonl, probvaa"):
        read_instrument("xlsx", tmp_path)


def json_lines(folder: Path, *lines: object) -> Path:
    path = folder / "s.jsonl"
    path.write_text(
        "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines),
        encoding="utf-8",
    )
    return path


def test_json_lines_say_the_same_as_csv(tmp_path: Path) -> None:
    path = json_lines(
        tmp_path,
        {
            "ref": "s-1",
            "country": "vd",
            "topic": "courts",
            "original": "Judges should be elected.",
            "paraphrases": ["Judges ought to be elected.", "Let people elect judges."],
            "negation": "Judges should not be elected.",
            "opposite": "Judges should be appointed.",
            "issues": {"law": 1},
            "author": "ana",
        },
        "",
        {"ref": "s-2", "country": "vd", "original": " Tax land. ", "issues": {"law": -1, "tax": 0}},
    )
    found, wanted = read_jsonl(path, "x"), read_csv(folder(tmp_path), "x")
    assert found == wanted
    assert read_jsonl(path).name == "s"


GOOD = {"ref": "a", "original": "x"}


@pytest.mark.parametrize(
    ("line", "column", "found"),
    [
        ('{"ref": "b", "original": }', "character 26", "text that is not JSON (Expecting value)"),
        ('["b"]', None, "a JSON list"),
        ('{"ref": "b", "ref": "c", "original": "y"}', "ref", "the same key twice in one object"),
        ({"ref": "b", "original": "y", "negations": "z"}, "negations", "an unknown key"),
        ({"ref": "b", "original": 3}, "original", "3"),
        ({"ref": "b", "original": " "}, "original", "nothing"),
        ({"original": "y"}, "ref", "nothing"),
        ({"ref": "b", "original": "y", "paraphrases": "z"}, "paraphrases", '"z"'),
        ({"ref": "b", "original": "y", "paraphrases": ["z", ""]}, "paraphrases[2]", '""'),
        ({"ref": "b", "original": "y", "issues": {"law": True}}, "issues.law", "true"),
        ({"ref": "b", "original": "y", "issues": {"law": 2}}, "issues.law", "2"),
        ({"ref": "b", "original": "y", "dimension": "social"}, "dimension", '"social"'),
        ({"ref": "b", "original": "y", "leaning": 1}, "leaning", "1"),
        ({"ref": "b", "original": "y", "reformulations": [3]}, "reformulations[1]", "3"),
        (
            {"ref": "b", "original": "y", "authors": {"negation": "ana"}},
            "authors.negation",
            "an unknown wording",
        ),
        ({"ref": "b", "original": "y", "authors": {"original": 1}}, "authors.original", "1"),
        (
            {"ref": "b", "original": "y", "authors": {"original": "\x00"}},
            "authors",
            "a NUL or half a surrogate pair",
        ),
        ({"ref": "b", "original": "half \ud800"}, "original", "a NUL or half a surrogate pair"),
        (
            {"ref": "b", "original": "y", "paraphrases": ["a\x00b"]},
            "paraphrases",
            "a NUL or half a surrogate pair",
        ),
        ("[" * 100_000, None, "JSON that is too deep or too large to be a statement"),
        (f'{{"ref": {"9" * 5000}}}', None, "JSON that is too deep or too large to be a statement"),
    ],
)
def test_faults_of_json_lines_have_their_line_and_key(
    tmp_path: Path, line: object, column: str | None, found: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_jsonl(json_lines(tmp_path, GOOD, line))
    [finding] = caught.value.findings
    assert (finding.file, finding.line, finding.column, finding.found) == (
        "s.jsonl",
        2,
        column,
        found,
    )


def test_an_empty_json_lines_file_is_a_finding(tmp_path: Path) -> None:
    assert expected(json_lines(tmp_path, "", "")) == "one JSON object per line"


FILLED = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")).filter(
    lambda t: t.strip() != ""
)


@pytest.mark.e2e
@given(
    st.lists(
        st.tuples(FILLED, FILLED, FILLED, FILLED, st.sampled_from([-1, 0, 1])),
        min_size=1,
        max_size=5,
    )
)
def test_any_text_comes_through_both_formats_as_it_is(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str, str, int]]
) -> None:
    place = tmp_path_factory.mktemp("trip")
    with (place / "t.csv").open("w", encoding="utf-8", newline="") as file:
        # CR LF in cells is then their own.
        writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerow(["ref", "original", "paraphrase_1", "negation", "opposite", "issue.law"])
        writer.writerows([f"r{n}", *row] for n, row in enumerate(rows))
    keys = ("original", "paraphrases", "negation", "opposite", "issues")
    with (place / "t.jsonl").open("w", encoding="utf-8") as file:
        for n, (original, paraphrase, *others, label) in enumerate(rows):
            values = (original, [paraphrase], *others, {"law": label})
            file.write(
                json.dumps(
                    {"ref": f"r{n}", **dict(zip(keys, values, strict=True))},
                    ensure_ascii=n % 2 == 0,
                )
            )
            file.write("\n")
    read = read_csv(place / "t.csv")
    assert [(*(w.text for w in s.wordings), s.issues["law"]) for s in read.statements] == rows
    assert read_jsonl(place / "t.jsonl") == read
