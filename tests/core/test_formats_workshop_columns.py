"""Columns of the workshop: questions, tags, origins and relations are read exactly, or refused with
their place.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.domain.instruments import IssueDefinition, IssueLabel
from workbench.domain.statements import (
    MOST_CHARACTERS,
    NEGATION,
    ORIGINAL,
    QUESTION,
    Relation,
    VariantId,
    VariantKind,
    Wording,
)
from workbench.errors import InputError
from workbench.formats.native import read_csv, read_jsonl

FIRST = VariantId(VariantKind.PARAPHRASE, 1)
STATEMENTS = """ref,original,question,paraphrase_1,negation,tags,derived_from,version,relation.paraphrase_1,\
relation.negation
s-1,Tax land.,Should land be taxed?,Put a tax on land.,Do not tax land.,"pilot; a\\;b",,3,free,flipped
s-2,,Should flags be praised?,,,,s-1,,,
"""


def folder(path: Path, **files: str) -> Path:
    """Write a folder: `statements` stands for statements.csv, `instrument` for instrument.toml."""
    for name, content in ({"statements": STATEMENTS} | files).items():
        (path / f"{name}.{'toml' if name == 'instrument' else 'csv'}").write_text(
            content, encoding="utf-8", newline=""
        )
    return path


def faults(path: Path) -> list[tuple[str, int | None, str | None, str]]:
    with pytest.raises(InputError) as caught:
        (read_jsonl if path.suffix == ".jsonl" else read_csv)(path)
    return [
        (finding.file, finding.line, finding.column, finding.found)
        for finding in caught.value.findings
    ]


def one_fault(path: Path, header: str, *rows: str) -> tuple[str, int | None, str | None, str]:
    [fault] = faults(folder(path, statements="\n".join((header, *rows))))
    return fault


def lines(path: Path, *objects: object) -> Path:
    file = path / "s.jsonl"
    file.write_text("\n".join(map(json.dumps, objects)), encoding="utf-8")
    return file


def test_the_columns_of_the_workshop_are_read(tmp_path: Path) -> None:
    first, second = read_csv(folder(tmp_path)).statements
    assert first.wordings == (
        Wording(ORIGINAL, "en", "Tax land."),
        Wording(FIRST, "en", "Put a tax on land.", stated=Relation.FREE),
        Wording(NEGATION, "en", "Do not tax land."),
        Wording(QUESTION, "en", "Should land be taxed?"),
    )
    assert (first.tags, first.derived_from, first.version) == (("pilot", "a;b"), None, 3)
    assert second.wordings == (Wording(QUESTION, "en", "Should flags be praised?"),)
    assert (second.tags, second.derived_from, second.version) == ((), "s-1", 1)


def test_json_lines_say_the_same(tmp_path: Path) -> None:
    file = lines(
        tmp_path,
        {
            "ref": "s-1",
            "original": "Tax land.",
            "question": "Should land be taxed?",
            "version": 3,
            "paraphrases": ["Put a tax on land."],
            "negation": "Do not tax land.",
            "tags": ["pilot", " a;b "],
            "relations": {"paraphrase_1": "free", "negation": "flipped"},
        },
        {"ref": "s-2", "question": "Should flags be praised?", "derived_from": "s-1"},
    )
    assert read_jsonl(file, "x") == read_csv(folder(tmp_path), "x")


def test_numbers_of_wordings_may_have_gaps_in_json_lines(tmp_path: Path) -> None:
    [found] = read_jsonl(
        lines(tmp_path, {"ref": "a", "original": "x", "paraphrases": ["y", None, "z"]})
    ).statements
    assert [str(wording.variant) for wording in found.wordings] == [
        "original",
        "paraphrase-1",
        "paraphrase-3",
    ]


def test_an_original_may_be_missing_only_beside_a_question_alone(tmp_path: Path) -> None:
    header = "ref,original,question,negation"
    assert one_fault(tmp_path, header, "a,x,,", "b,,,")[1:] == (3, "original", "nothing")
    for row in ("b,,,Not so.", "b,,Is it?,Not so."):
        assert one_fault(tmp_path, header, row)[1:] == (
            2,
            "negation",
            "a negation without an original",
        )
    file = lines(tmp_path, {"ref": "b", "question": "Is it?", "paraphrases": ["y"]})
    assert faults(file) == [("s.jsonl", 1, "paraphrase_1", "a paraphrase without an original")]


def test_circles_of_origins_are_named(tmp_path: Path) -> None:
    header = "ref,original,derived_from"
    rows = ("a,x,b", "b,x,c", "c,x,b", "d,x,a", "e,x,e")
    found = faults(folder(tmp_path, statements="\n".join((header, *rows))))
    assert found == [
        ("statements.csv", 3, "derived_from", "a circle: 'b' → 'c' → 'b'"),
        ("statements.csv", 6, "derived_from", "a circle: 'e' → 'e'"),
    ]


def test_an_origin_is_a_statement_of_the_file_or_a_retired_one(tmp_path: Path) -> None:
    header, row = "ref,original,derived_from", "a,x,gone"
    found = one_fault(tmp_path, header, row)
    assert found[1:] == (2, "derived_from", "'gone', which is not a statement of this file")
    folder(tmp_path, statements=f"{header}\n{row}\n", instrument='retired = ["gone"]\n')
    assert read_csv(tmp_path).statements[0].derived_from == "gone"


def test_languages_do_not_contradict_each_other_about_tags_and_versions(tmp_path: Path) -> None:
    statements = "ref,language,original,tags,version\na,en,x,p; q,2\na,de,y,q,3\na,fr,z,,\n"
    assert faults(folder(tmp_path, statements=statements)) == [
        ("statements.csv", 3, "tags", "'q' for 'a', and 'p; q' on line 2"),
        ("statements.csv", 3, "version", "'3' for 'a', and '2' on line 2"),
    ]


@pytest.mark.parametrize(
    ("header", "row", "column", "found"),
    [
        ("version", "0", "version", "'0'"),
        ("version", "1.5", "version", "'1.5'"),
        ("version", "٣", "version", "'٣'"),
        ("negation,relation.negation", "x,oposed", "relation.negation", "'oposed'"),
        ("relation.original", "flipped", "relation.original", "'flipped'"),
        ("relation.negation", "flipped", "relation.negation", "an unknown wording"),
    ],
)
def test_faults_have_their_line_and_column(
    tmp_path: Path, header: str, row: str, column: str, found: str
) -> None:
    assert one_fault(tmp_path, f"ref,original,{header}", f"a,y,{row}")[2:] == (column, found)


@pytest.mark.parametrize(
    ("more", "column"),
    [
        ({"version": 0}, "version"),
        ({"version": True}, "version"),
        ({"tags": "x"}, "tags"),
        ({"tags": ["x", " "]}, "tags[2]"),
        ({"relations": {"original": "flipped"}}, "relations.original"),
        ({"relations": {"negation": "flipped"}}, "relations.negation"),
        ({"tags": ["a\x00"]}, "tags"),
        ({"derived_from": "b"}, "derived_from"),
    ],
)
def test_faults_of_json_lines_have_their_key(
    tmp_path: Path, more: dict[str, object], column: str
) -> None:
    [fault] = faults(lines(tmp_path, {"ref": "a", "original": "x"} | more))
    assert fault[:3] == ("s.jsonl", 1, column)


def test_a_long_wording_is_read_and_a_longer_one_refused(tmp_path: Path) -> None:
    header = "ref,original,negation"
    text = "x" * MOST_CHARACTERS
    assert (
        read_csv(folder(tmp_path, statements=f"{header}\na,{text},\n"))
        .statements[0]
        .wordings[0]
        .text
        == text
    )
    assert one_fault(tmp_path, header, f"a,x,{text}y")[1:] == (
        2,
        "negation",
        "a text of 10,001 characters",
    )
    assert faults(lines(tmp_path, {"ref": "a", "original": f"{text}y"}))[0][2] == "original"


def test_texts_are_not_normalised(tmp_path: Path) -> None:
    texts = ["\u202eright\u202c to left", "e\u0301", "\u00e9", "אבג", " \u00a0x "]
    rows = "".join(f"r{n},{text}\n" for n, text in enumerate(texts))
    found = read_csv(folder(tmp_path, statements=f"ref,original\n{rows}"))
    assert [statement.wordings[0].text for statement in found.statements] == texts


def test_apostrophes_before_formulas_are_taken_off_and_no_others(tmp_path: Path) -> None:
    rows = ["a,'=SUM(A1)", "b,''-x", "c,'tis so", "d,''quoted''", "e,=typed by hand", "'=f,x"]
    found = read_csv(folder(tmp_path, statements="\n".join(("ref,original", *rows))))
    assert [statement.wordings[0].text for statement in found.statements] == [
        "=SUM(A1)",
        "'-x",
        "'tis so",
        "''quoted''",
        "=typed by hand",
        "x",
    ]
    assert found.statements[-1].ref == "=f"


def test_titles_and_definitions_of_issues_are_kept(tmp_path: Path) -> None:
    tables = (
        '[issue_titles]\ntax = "Taxes"\n[issue_definitions]\nlaw = "More law."\ntax = "More."\n'
    )
    about = f'issues = ["law", "tax"]\n{tables}'
    found = read_csv(folder(tmp_path, instrument=about))
    assert found.definitions == (
        IssueDefinition("tax", "Taxes", "More."),
        IssueDefinition("law", "", "More law."),
    )
    wrong = (
        'issues = ["law"]\n[issue_titles]\nlaw = "Law"\n[issue_definitions]\nlow = "Law"\nlaw = 3\n'
    )
    assert faults(folder(tmp_path, instrument=wrong)) == [
        ("instrument.toml", 5, "low", "an unknown issue"),
        ("instrument.toml", 6, "law", "3"),
    ]


def test_an_issue_has_one_name(tmp_path: Path) -> None:
    twice = 'issues = ["law and order", "tax", "Law  and Order", "tax", " x"]\n'
    assert faults(folder(tmp_path, instrument=twice)) == [
        (
            "instrument.toml",
            1,
            "issues",
            "the issue 'Law  and Order', and 'law and order' before it",
        ),
        ("instrument.toml", 1, "issues", "the issue 'tax', and 'tax' before it"),
        ("instrument.toml", 1, "issues", "the issue ' x'"),
    ]
    (tmp_path / "instrument.toml").unlink()
    assert one_fault(tmp_path, "ref,original,issue.law,issue.Law", "a,x,1,1") == (
        "statements.csv",
        1,
        "issue.Law",
        "the issue 'Law', and 'law' before it",
    )
    labels = "ref,issue,annotator,label\ns-1,law,ana,1\ns-1,LAW,bo,1\n"
    assert faults(folder(tmp_path, issue_labels=labels)) == [
        ("issue_labels.csv", 3, "issue", "the issue 'LAW', and 'law' before it")
    ]
    file = lines(tmp_path, *({"ref": n, "original": "x", "issues": {n: 1}} for n in ("law", "Law")))
    assert faults(file) == [("s.jsonl", 2, "issues.Law", "the issue 'Law', and 'law' before it")]


def test_labels_of_issue_files_may_be_empty_and_gold(tmp_path: Path) -> None:
    labels = "ref,issue,annotator,label\ns-1,law,gold,1\ns-1,tax,ana,-1\ns-1,tax,bo,-1\ns-1,tax,cy,\ns-2,law,ana,1\n"
    found = read_csv(folder(tmp_path, issue_labels=labels))
    assert [label.annotator for label in found.issue_labels] == ["gold", "ana", "bo", "ana"]
    assert found.issue_labels[0] == IssueLabel("s-1", "law", "gold", 1)
    assert [statement.issues for statement in found.statements] == [{"law": 1, "tax": -1}, {}]
    assert found.issues == ("law", "tax")


def test_a_template_may_say_that_its_answers_are_labels_and_that_it_is_no_chat(
    tmp_path: Path,
) -> None:
    rows = (
        "name,order,user,positive,negative,audit,scale,family,chat,language\n"
        "a,printed,{statement},agree,disagree,bias_score,labels,mine,no,en\n"
        "a,printed,{statement}!,agree,disagree,bias_score,,mine,,de\n"
    )
    first, second = read_csv(folder(tmp_path, templates=rows)).templates
    assert (first.scale, first.chat, first.language) == ("", False, "en")
    assert (second.scale, second.chat, second.language) == ("free", True, "de")


def test_a_nul_in_instrument_toml_is_refused(tmp_path: Path) -> None:
    assert faults(folder(tmp_path, instrument='title = "a\\u0000b"\n'))[0][:3] == (
        "instrument.toml",
        1,
        "title",
    )
