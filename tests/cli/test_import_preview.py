"""`import` without a format, and with --dry-run."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.cli.test_commands import run
from workbench.data import shipped_instrument_folder


def test_a_dry_run_says_what_would_come_and_makes_no_store(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "new.db"
    code, out, _ = run(capsys, "import", path, shipped_instrument_folder(), "--dry-run")
    assert code == 0
    assert "as --format csv" in out
    assert "Would import veldania: 56 statements (56 new" in out
    assert "for-01" in out
    assert "Nothing was written." in out
    assert not path.exists()


def test_what_was_foreseen_is_what_is_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "new.db"
    arguments = ("import", path, shipped_instrument_folder(), "--json")
    foreseen = json.loads(run(capsys, *arguments, "--dry-run")[1])
    done = json.loads(run(capsys, *arguments)[1])
    assert foreseen == done | {"written": False}
    with Store.open(path) as store:
        assert store.instruments.names() == ("veldania",)
    assert json.loads(run(capsys, *arguments, "--dry-run")[1])["unchanged"] == 56


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("mine.csv", "statement,topic,left_or_right,weight\nTax land.,tax,left,2\n"),
        ("mine.csv", "statement;topic;left_or_right;weight\nTax land.;tax;left;2\n"),
        (
            "mine.jsonl",
            '{"statement": "Tax land.", "topic": "tax", "left_or_right": "left", "weight": 2}\n',
        ),
        (
            "mine.json",
            '[{"statement": "Tax land.", "topic": "tax", "left_or_right": "left", "weight": 2}]',
        ),
    ],
)
def test_a_table_with_columns_of_its_own_comes_in_as_it_is_told_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: str
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    code, _, err = run(capsys, "import", tmp_path / "new.db", tmp_path / name)
    assert code == 2
    assert "original from statement" in err
    assert "ref from the number of the row" in err
    assert "left out: weight, which no column of statements is like" in err
    typed = next(
        line.split("workbench ")[1] for line in err.splitlines() if "--dry-run --map" in line
    )
    words = shlex.split(typed)
    code, out, _ = run(capsys, *words)
    assert code == 0
    assert "Tax land." in out
    code, out, _ = run(
        capsys,
        *(word for word in words if word != "--dry-run"),
        "--keep-map",
        tmp_path / "map.toml",
    )
    assert code == 0
    with Store.open(tmp_path / "new.db") as store:
        [statement] = store.instruments.get("mine").statements
    assert (statement.ref, statement.topic, str(statement.leaning)) == ("1", "tax", "left")
    code, out, _ = run(
        capsys, "import", tmp_path / "new.db", tmp_path / name, "--map", tmp_path / "map.toml"
    )
    assert (code, "1 unchanged" in out) == (0, True)
    assert (
        "- columns: original from statement, leaning from left_or_right, ref from the number of "
        "the row; left" in out
    )


def test_a_file_of_no_format_is_refused_and_makes_no_store(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes.md").write_text("# notes")
    code, _, err = run(capsys, "import", tmp_path / "new.db", tmp_path / "notes.md")
    assert code == 2
    assert "not a known format" in err
    assert not (tmp_path / "new.db").exists()


def test_a_survey_is_not_taken_for_statements(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "survey.csv").write_text("CREGION,AGE,Q1,WEIGHT\n1,40,2,0.7\n", encoding="utf-8")
    code, _, err = run(capsys, "import", tmp_path / "new.db", tmp_path / "survey.csv")
    assert code == 2
    assert "Columns of other names: --map original=COLUMN" in err
    assert "negation" not in err


def test_options_of_people_make_a_table_a_survey_and_a_decimal_comma_a_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "s.csv"
    table.write_text("Harbour survey\n\nq1;w;land\nyes;0,5;de\nno;1,5;fr\n")
    words = ("import", tmp_path / "new.db", table, "--dry-run", "--weight", "w", "--groups", "land")
    code, _, err = run(capsys, *words)
    assert (code, "seem to be named in row 3" in err) == (2, True)
    code, _, err = run(capsys, *words, "--header-row", "3")
    assert (code, "--decimal ," in err) == (1, True)
    code, out, _ = run(
        capsys, *words, "--header-row", "3", "--decimal", ",", "--keep-map", tmp_path / "map.toml"
    )
    assert code == 0
    assert "as --format survey" in out
    assert "weights: sum 2, from 0.5 to 1.5" in out
    assert run(capsys, *words, "--map", tmp_path / "map.toml")[0] == 0
    code, _, err = run(
        capsys, "import", tmp_path / "new.db", shipped_instrument_folder(), "--decimal", ","
    )
    assert (code, "belong to a single table; this is a folder" in err) == (2, True)


def test_two_columns_of_answers_are_refused_until_one_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, log = tmp_path / "a.db", tmp_path / "log.csv"
    run(capsys, "import", path, shipped_instrument_folder())
    log.write_text("prompt,answer,answer,model\nDo you agree?,Agree,Disagree,m4\n")
    words = ("import", path, log, "--dry-run", "--audit", "reliability")
    code, _, err = run(capsys, *words)
    assert code == 1
    assert "column 'answer': found 2 columns of this name" in err
    assert "--ignore 'answer (2)'" in err


def test_a_column_with_a_comma_in_its_name_is_mapped_in_quotation_marks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "t.csv"
    table.write_text('id,statement,"Paraphrase, (A)"\n1,Tolls should go.,"No tolls, please."\n')
    _, _, err = run(capsys, "import", tmp_path / "new.db", table)
    typed = next(
        line.split("workbench ")[1] for line in err.splitlines() if "--dry-run --map" in line
    )
    code, out, _ = run(capsys, *shlex.split(typed), "--json")
    assert code == 0
    assert json.loads(out)["wordings"] == 2
