"""Files with parties' answers come in by the command line, and what came can be audited."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stores.core.store import Store
from tests.cli.test_commands import rows, run
from tests.core.test_party_files import DATASET, PARTIES, POSITIONS, qualomat, semicolons, wahlomat
from workbench.domain.instruments import PLACED


def data(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    code, out, err = run(capsys, *arguments, "--json")
    assert code == 0, err
    return json.loads(out)


def test_a_dry_run_says_what_words_stand_for_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "new.db"
    code, out, _ = run(capsys, "import", path, wahlomat(tmp_path / "veld.xlsx"), "--dry-run")
    assert code == 0
    assert "as --format wahlomat" in out
    assert (
        "3 parties, 6 answers: agree from stimme zu (2); disagree from stimme nicht zu (2); neutral"
        in out
    )
    assert "Read as a table of the Wahl-O-Mat" in out
    assert [line.split()[:4] for line in out.splitlines() if "Der Hafen" in line] == [
        ["1", "1", "VU", "FP"]
    ]
    assert not path.exists()


def test_words_without_a_stance_are_given_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = [[*row[:6], f"{row[6]}!", row[7]] for row in POSITIONS]
    file, store, kept = (
        semicolons(tmp_path / "veld.csv", odd),
        tmp_path / "new.db",
        tmp_path / "kept.toml",
    )
    code, _, err = run(capsys, "import", store, file)
    assert code == 1
    assert "veld.csv, line 2, column 'Position: Position': found 'stimme zu!'" in err
    assert not store.exists()
    given = "stimme zu!=agree,stimme nicht zu!=disagree,neutral!=no opinion"
    assert run(capsys, "import", store, file, "--answers", given, "--keep-map", kept)[0] == 0
    assert '"stimme zu!" = "agree"' in kept.read_text(encoding="utf-8")
    code, out, _ = run(capsys, "import", store, file, "--map", kept)
    assert (code, "2 unchanged" in out, "no opinion from neutral! (2)" in out) == (0, True, True)
    assert (
        run(capsys, "import", store, qualomat(tmp_path / "q"), "--answers", "neutral=no opinion")[0]
        == 0
    )
    with Store.open(store) as opened:
        said = opened.instruments.get("q").party_answers
    assert {(one.answer, one.stance) for one in said} == {
        ("Stimme zu", 1),
        ("Stimme nicht zu", -1),
        ("Neutral", None),
    }


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--election", "Veldania"), "--election belongs to --format manifesto"),
        (
            ("--format", "jsonl", "--answers", "x=agree"),
            "--answers belongs to formats with parties' answers",
        ),
        (
            ("--format", "jsonl", "--language", "de"),
            "--language belongs to a table or list of statements",
        ),
        (("--answers", "x=maybe"), "give WORD=STANCE, of agree, disagree, neutral, no opinion"),
    ],
)
def test_options_of_other_formats_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], told: str
) -> None:
    code, _, err = run(
        capsys, "import", tmp_path / "new.db", semicolons(tmp_path / "veld.csv"), *arguments
    )
    assert (code, told in err) == (2, True)


def test_a_model_is_compared_with_parties_that_a_manifesto_places(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, file = tmp_path / "new.db", tmp_path / "MPDataset.csv"
    file.write_text(DATASET, encoding="utf-8")
    run(capsys, "import", store, wahlomat(tmp_path / "veld.xlsx"))
    code, out, _ = run(capsys, "import", store, file, "--dry-run")
    assert code == 0
    assert "Would import veld: 2 of 3 parties placed by Veldania 203105 (2 positions new)" in out
    assert "- not in the file, say which they are: --map OURS=THEIRS: FP" in out
    assert "- not in the instrument: PP" in out
    assert ["VU", "6.5", "30", "Veldanian", "Union"] in [line.split() for line in out.splitlines()]
    assert data(capsys, "import", store, file, "--dry-run")["changed"] == 2
    found = data(capsys, "import", store, file, "--map", "FP=PP")
    assert {one["name"]: one["position"] for one in found["parties"]} == {
        "VU": 6.5,
        "GL": 3.0,
        "FP": 5.275,
    }
    again = data(capsys, "import", store, file, "--map", "FP=PP")
    assert (again["changed"], again["parties"][0]["coded"]["rile"]) == (0, 30.0)
    # The file places nobody: what was placed stays.
    run(capsys, "import", store, tmp_path / "veld.xlsx")
    with Store.open(store) as opened:
        here = opened.instruments.get("veld")
    assert [party.position for party in here.parties] == [6.5, 3.0, 5.275]
    assert sum(note.startswith(PLACED) for note in here.notes) == 1

    persona = tmp_path / "yes.toml"
    persona.write_text("agree = 1.0\nunreadable = 0.0\n", encoding="utf-8")
    ask = ("--family", "user", "--samples", "6", "--yes")
    assert run(capsys, "run", store, "--model", f"scripted:{persona}", *ask)[0] == 0
    judged = data(capsys, "show", store, "consistency", "--tests", "sampling", "--table", "leaning")
    model = [row for row in rows(judged, "leaning") if row["respondent"].startswith("scripted")]
    assert f"{PLACED}rile of the Manifesto Project" in judged["methods"]
    assert any("(rile + 100) / 20" in note for one in judged["tables"] for note in one["notes"])
    shares = {row["family"]: row["share"]["value"] for row in model}
    # GL and VU agree once of twice, FP never.
    assert shares == {
        "left": 0.5,
        "center": 0.0,
        "right": 0.5,
    }


def test_what_was_exported_comes_back_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "new.db"
    run(capsys, "import", store, wahlomat(tmp_path / "veld.xlsx"))
    assert run(capsys, "export", store, tmp_path / "out", "--format", "csv")[0] == 0
    assert run(capsys, "import", tmp_path / "other.db", tmp_path / "out")[0] == 0
    with Store.open(store) as one, Store.open(tmp_path / "other.db") as other:
        assert one.instruments.get("veld") == other.instruments.get("veld")
        assert len(one.instruments.get("veld").party_answers) == len(PARTIES) * 2
