"""`workbench lint` and `workbench check` as a script sees them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.cli.test_commands import data, rows, run
from tests.conftest import instrument, statement
from workbench.domain.statements import NEGATION
from workbench.tui.overview import lint_count


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """A store whose a-1 has a negation that is its original."""
    whole = statement("a-1", "Whales should vote.")
    wordings = tuple(
        replace(w, text="Whales should vote.") if w.variant == NEGATION else w
        for w in whole.wordings
    )
    base = instrument()
    with Store.open(tmp_path / "odd.db", create=True) as store:
        store.instruments.add(
            replace(base, statements=(replace(whole, wordings=wordings), base.statements[2]))
        )
    return tmp_path / "odd.db"


def test_lint_names_the_key_the_place_and_the_texts(
    odd: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "lint", odd)
    assert code == 1
    assert "negation-equals-original" in out
    assert (
        "\n1 error, 0 warnings, 2 notes. Home counts fewer: neither style hints nor what models "
        "found\n" in out
    )
    assert out.endswith(
        "1 finding about one text under two names: a test that compares the two is void\n"
    )
    first = rows(data(capsys, "lint", odd), "findings")[0]
    place = [first[key] for key in ("ref", "variant", "language", "waiver_person")]
    assert place == ["a-1", "negation", "en", None]
    assert [
        first[f"{which}_{part}"] for which in ("first", "second") for part in ("name", "text")
    ] == [
        "original",
        "Whales should vote.",
        "negation",
        "Whales should vote.",
    ]
    assert first["key"][:10] in out


def test_a_finding_of_two_instruments_is_waived_in_the_one_that_is_named(
    odd: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(odd) as store:
        store.instruments.add(replace(store.instruments.get("small"), name="other"))
    key = rows(data(capsys, "lint", odd), "findings")[0]["key"]
    waive = ("lint", odd, "--waive", key, "--reason", "as published", "--person", "Ana")
    code, _, err = run(capsys, *waive)
    assert (code, "small, other have the same finding" in err, "--instrument" in err) == (
        2,
        True,
        True,
    )
    assert run(capsys, *waive, "--instrument", "other")[0] == 0
    assert run(capsys, "lint", odd, "--instrument", "other")[0] == 0
    assert run(capsys, "lint", odd, "--instrument", "small")[0] == 1


def test_a_waived_error_is_none_any_more_until_it_is_taken_back(
    odd: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = rows(data(capsys, "lint", odd), "findings")[0]["key"]
    code, out, _ = run(
        capsys, "lint", odd, "--waive", key[:10], "--reason", "as published", "--person", "Ana"
    )
    assert (code, out) == (0, "negation-equals-original of a-1: waived by Ana: as published\n")
    code, out, _ = run(capsys, "lint", odd)
    assert code == 0
    assert "negation-equals-original" not in out
    assert "small: 1 waived (--all shows them)" in out
    code, out, _ = run(capsys, "lint", odd, "--all")
    assert (code, "(waived by Ana: as published)" in " ".join(out.split())) == (0, True)
    assert rows(data(capsys, "lint", odd, "--all"), "findings")[0]["waiver_person"] == "Ana"
    with Store.open(odd) as store:
        assert lint_count(store, "small").errors == 0, "Home does not count it either"
    assert run(capsys, "lint", odd, "--unwaive", key, "--person", "Bob")[0] == 0
    assert run(capsys, "lint", odd)[0] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--waive", "zz", "--person", "Ana", "--reason", "x"),
            "no current finding has the key 'zz'",
        ),
        (("--waive", "a"), "give your name: --person"),
        (("--unwaive", "KEY", "--person", "Ana"), "there is nothing to take back"),
        (("--waive", "KEY", "--person", "Ana"), "a waiver needs a reason"),
    ],
)
def test_a_waiver_that_cannot_be_says_why(
    odd: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    key = rows(data(capsys, "lint", odd), "findings")[0]["key"]
    code, _, err = run(capsys, "lint", odd, *(key if word == "KEY" else word for word in arguments))
    assert (code, message in err) == (2, True), err


def test_findings_of_one_kind_are_shown_alone(
    odd: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert {
        row["code"] for row in rows(data(capsys, "lint", odd, "--code", "few-labels"), "findings")
    } == {"few-labels"}
    assert run(capsys, "lint", odd, "--code", "few-labels")[0] == 0


@pytest.mark.e2e
def test_a_check_says_first_what_it_computes_and_then_what_it_found(
    odd: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "check", odd, "--dry-run")
    assert code == 0
    assert "11 texts to embed with minilm; 0 are stored already" in out
    assert run(capsys, "check", odd)[0] == 2, "nobody was there to agree"
    found = data(capsys, "check", odd, "--yes", "--low", "0.95")
    assert (found["texts"], found["texts_left"], found["job"]["state"]) == (11, 11, "done")
    assert [row["kind"] for row in rows(found, "similarity", language="en")] == [
        "paraphrase",
        "negation",
        "opposite",
    ]
    assert found["thresholds"]["low"] == 0.95
    assert "too-far" in {row["code"] for row in rows(data(capsys, "lint", odd), "findings")}, (
        "the thresholds of the check hold"
    )
    code, out, _ = run(capsys, "check", odd)
    assert code == 0
    assert "Everything is stored already." in out
    assert "Similarity of wordings to their originals" in out
    code, out, _ = run(capsys, "jobs", odd)
    assert "minilm" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--low", "1.2"), "--low: found 1.2; give -1 to 1"),
        (("--low", "0.9", "--high", "0.8"), "--low: found 0.9; give less than 0.8"),
        (("--encoder", "none"), "nothing to compute"),
        (("--encoder", "./nowhere"), "there is no such folder"),
        (("--language", "xx"), "has no wordings in xx"),
        (("--instrument", "nope"), "nope"),
    ],
)
def test_a_check_that_cannot_be_says_why(
    odd: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    code, _, err = run(capsys, "check", odd, *arguments)
    assert code in (1, 2)
    assert message in err


def test_findings_go_to_files_and_the_exit_code_says_whether_there_is_an_error(
    odd: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "lint", odd, "--csv", tmp_path / "f", "--latex", tmp_path / "f")[0] == 1
    assert {file.name for file in (tmp_path / "f").iterdir()} == {"findings.csv", "findings.tex"}
    found = data(capsys, "lint", odd)
    assert (found["instruments"], found["open"]) == (
        ["small"],
        {"error": 1, "warning": 0, "note": 2},
    )
    key = rows(found, "findings")[0]["key"]
    code, _, err = run(
        capsys, "lint", odd, "--waive", key, "--person", "Ana", "--csv", tmp_path / "g"
    )
    assert (code, "this act prints no figures" in err) == (2, True)
