"""Our own formats: read exactly, or refused with every place to mend."""

from __future__ import annotations

import csv
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stores.store import Store
from workbench.cli import main
from workbench.domain.statements import ORIGINAL, VariantId, VariantKind
from workbench.errors import Finding, InputError, UsageError
from workbench.formats.read import read_instrument


def findings(path: Path, kind: str = "csv") -> list[Finding]:
    with pytest.raises(InputError) as raised:
        read_instrument(kind, path)
    return list(raised.value.findings)


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_single_file_needs_only_ref_and_original(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.csv", "ref,original\na,Taxes should rise.\n")
    made = read_instrument("csv", path)
    assert made.name == "mine"
    assert made.statements[0].wording(ORIGINAL, "en").text == "Taxes should rise."  # type: ignore[union-attr]
    assert len(made.templates) == 12, "the published templates, unless it brings its own"


def test_languages_of_a_ref_come_together(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "ref,language,original,issue.tax\na,en,Yes.,1\na,de,Ja.,1\n")
    made = read_instrument("csv", path)
    assert [w.language for w in made.statements[0].wordings] == ["en", "de"]
    assert [(label.issue, label.label) for label in made.issue_labels] == [("tax", 1)]


@pytest.mark.parametrize(
    ("text", "line", "column", "found"),
    [
        (b"ref,original\na,caf\xe9\n", 2, None, "byte 0xE9"),
        ("ref,original\na,b\x00c\n", 2, None, "NUL"),
        ('ref,original\na,"open\nb,c\n', 2, None, "not CSV"),
        ("ref,original\na\n", 2, None, "1 fields"),
        ("ref,original\na,b,c\n", 2, None, "3 fields"),
        ("ref,text\na,b\n", 1, "original", "no such column"),
        ("ref,original,negaton\na,b,c\n", 1, "negaton", "unknown column"),
        ("ref,original,topic,topic\na,b,c,d\n", 1, "topic", "2 columns"),
        ("ref,original\na,\n", 2, "original", "empty cell"),
        ("ref,original,issue.tax\na,b,2\n", 2, "issue.tax", "'2'"),
        ('ref,original\na,"two\nlines"\na,again\n', 4, "ref", "after line 2"),
        ("ref,original,paraphrase_x\na,b,c\n", 1, "paraphrase_x", "without a number"),
        ("", 1, None, "empty file"),
    ],
)
def test_a_fault_is_named_with_its_line_and_column(
    tmp_path: Path, text: str | bytes, line: int, column: str | None, found: str
) -> None:
    first = findings(write(tmp_path / "bad.csv", text))[0]
    assert (first.line, first.column) == (line, column)
    assert found in first.found
    assert first.expected


def test_every_fault_is_told_at_once_and_nothing_is_imported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "bad.csv", "ref,original,issue.tax\na,,2\nb,c,x\n")
    assert len(findings(path)) == 3
    store = tmp_path / "a.db"
    assert main(["import", str(store), "--format", "csv", str(path)]) == 1
    err = capsys.readouterr().err
    assert "bad.csv, line 2, column 'original'" in err
    assert "Nothing was imported." in err
    assert not store.exists()


def test_a_bad_second_import_leaves_the_first(tmp_path: Path) -> None:
    store = tmp_path / "a.db"
    good = write(tmp_path / "mine.csv", "ref,original\na,One.\n")
    assert main(["import", str(store), "--format", "csv", str(good)]) == 0
    write(good, "ref,original\na,Two.\nb,\n")
    assert main(["import", str(store), "--format", "csv", str(good)]) == 1
    with Store.open(store) as opened:
        assert [s.wordings[0].text for s in opened.instruments.get("mine").statements] == ["One."]


FOLDER = {
    "statements.csv": "ref,original,negation\na,One.,Not one.\n",
    "instrument.toml": 'name = "own"\ntitle = "Own"\nissues = ["tax"]\n',
    "parties.csv": "country,party,position\nvd,Larks,2.5\n",
    "party_answers.csv": "country,party,ref,answer\nvd,Larks,a,rather agree\n",
    "issue_labels.csv": "ref,issue,annotator,label\na,tax,ana,-1\n",
    "survey.csv": "respondent,ref,variant,answer\n1,a,original,agree\n1,a,negation,disagree\n",
    "templates.csv": "name,order,user,positive,negative\nt,printed,Agree or disagree? {statement},agree,disagree\n",
}


def folder(path: Path, **changed: str) -> Path:
    for name, text in (FOLDER | {key.replace("__", "."): value for key, value in changed.items()}).items():
        write(path / name, text)
    return path


def test_a_folder_brings_parties_labels_survey_and_templates(tmp_path: Path) -> None:
    made = read_instrument("csv", folder(tmp_path / "own"))
    assert (made.name, made.title) == ("own", "Own")
    assert made.parties[0].position == 2.5
    assert made.party_answers[0].stance == 1
    assert [(label.annotator, label.label) for label in made.issue_labels] == [("ana", -1)]
    assert [(a.variant.kind, a.agrees) for a in made.survey] == [("original", True), ("negation", False)]
    assert made.templates[0].user == "Agree or disagree? {statement}"


@pytest.mark.parametrize(
    ("file", "text", "column", "found"),
    [
        ("parties.csv", "country,party,position\nvd,Larks,11\n", "position", "'11'"),
        ("party_answers.csv", "country,party,ref,answer\nvd,Larks,zz,agree\n", "ref", "'zz'"),
        ("party_answers.csv", "country,party,ref,answer\nvd,Larks,a,maybe\n", "answer", "'maybe'"),
        ("party_answers.csv", "country,party,ref,answer\nxx,Larks,a,agree\n", "party", "'Larks' of 'xx'"),
        ("issue_labels.csv", "ref,issue,annotator,label\na,pets,ana,1\n", "issue", "'pets'"),
        ("survey.csv", "respondent,ref,variant,answer\n1,a,opposite,agree\n", "variant", "'opposite'"),
        (
            "templates.csv",
            "name,order,user,positive,negative\nt,printed,Yes {statment}?,yes,no\n",
            "user",
            "{statment}",
        ),
        ("templates.csv", "name,order,user,positive,negative\nt,upside,Yes {statement}?,yes,no\n", "order", "'upside'"),
    ],
)
def test_a_fault_in_a_side_file_is_named(tmp_path: Path, file: str, text: str, column: str, found: str) -> None:
    places = findings(folder(tmp_path / "own", **{file.replace(".", "__"): text}))
    assert any(f.file == file and f.line == 2 and f.column == column and found in f.found for f in places), places


def test_json_lines_are_read_and_faults_named(tmp_path: Path) -> None:
    value = {"ref": "a", "original": "One.", "paraphrases": ["Uno.", "Un."], "issues": {"tax": -1}}
    made = read_instrument("jsonl", write(tmp_path / "own.jsonl", json.dumps(value) + "\n"))
    assert made.statements[0].wording(VariantId(VariantKind.PARAPHRASE, 2), "en").text == "Un."  # type: ignore[union-attr]
    bad = '{"ref": "a", "original": "One."}\n{"ref": "b", oops}\n{"ref": "c"}\n'
    bad += '{"ref": "d", "original": "x", "colour": 1}\n'
    places = findings(write(tmp_path / "bad.jsonl", bad), "jsonl")
    assert [(f.line, f.column) for f in places] == [(2, "character 14"), (3, "original"), (4, "colour")]


def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere\.csv"):
        read_instrument("csv", tmp_path / "nowhere.csv")
    with pytest.raises(UsageError, match=r"vaa/probvaa\.csv"):
        read_instrument("probvaa", tmp_path)


TEXTS = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\x00"), min_size=1).filter(str.strip)


@settings(max_examples=80, deadline=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=5))
def test_any_text_survives_a_csv_file(texts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder_:
        path = Path(folder_) / "a.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["ref", "original"])
            writer.writerows([f"s-{n}", text] for n, text in enumerate(texts))
        made = read_instrument("csv", path)
    assert [s.wordings[0].text for s in made.statements] == texts
