"""Rulings from the shell: by names that verbs print, taken back, moved between stores, and figures with and without."""

from __future__ import annotations

import csv
import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stores.core.store import Store
from tests.tui.audit_runs import audited, small
from workbench.cli.main import main
from workbench.evidence import ruling_subjects as subjects

ANSWER = "env-03/negation/personal-1/=39befebb"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return audited(tmp_path / "audited.db")


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    capsys.readouterr()
    assert main([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def rows(found: Any, name: str) -> list[dict[str, Any]]:
    return next(table["rows"] for table in found["tables"] if table["name"] == name)  # type: ignore[no-any-return]


def rule(path: Path, *arguments: str, by: str = "otto") -> int:
    return main(["rule", str(path), *arguments, "--reason", "looked", "--as", by])


@pytest.mark.e2e
def test_a_subject_is_copied_from_what_is_printed_and_figures_say_what_changed(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [row["subject"] for row in rows(told(capsys, "rulings", path, "--of", ANSWER.rpartition("/")[0]), "below")]
    assert ANSWER in names
    assert rule(path, ANSWER, "misread", "--reading", "disagree") == 0
    assert rule(path, "tax-02/negation", "wording-at-fault") == 0
    capsys.readouterr()
    assert main(["verdicts", str(path)]) == 0
    assert "2 rulings: 1 answer read anew, 1 wording left out; " in " ".join(capsys.readouterr().out.split())
    found = told(capsys, "verdicts", path)
    assert found["rulings"]["counted"]
    assert [one["verdict"] for one in found["rulings"]["changing"]] == ["misread", "wording at fault"]
    plain = told(capsys, "verdicts", path, "--without-rulings")
    assert (plain["rulings"]["counted"], plain["rulings"]["different_without"]) == (False, None)
    by_id = [{row["statement"]: row for row in rows(one, "verdicts")} for one in (found, plain)]
    assert by_id[0]["soc-07"] == by_id[1]["soc-07"]
    assert by_id[0]["tax-02"] != by_id[1]["tax-02"]
    assert told(capsys, "consistency", path)["rulings"]["counted"]
    assert not told(capsys, "consistency", path, "--without-rulings")["rulings"]["counted"]


@pytest.mark.e2e
def test_every_written_figure_says_whether_rulings_count_and_how_many(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rule(path, ANSWER, "misread", "--reading", "disagree") == 0
    assert rule(path, "tax-02/negation", "wording-at-fault") == 0
    with_, without = "2 rulings: 1 answer read anew, 1 wording left out; ", "Without 2 rulings: 1 answer read anew"
    for said, cell, *more in ((with_, "with 2"), (without, "without 2", "--without-rulings")):
        into, rows_ = tmp_path / cell, tmp_path / f"{cell} rows"
        files = [f"--{name}" for name in ("csv", "latex", "figures")]
        assert main(["verdicts", str(path), *(part for one in files for part in (one, str(into))), *more]) == 0
        assert said in " ".join(capsys.readouterr().out.split())
        assert (into / "rulings.txt").read_text().startswith(said)
        assert all(said in one.read_text() for one in into.glob("*.tex"))
        assert main(["export", str(path), str(rows_), "--what", "verdicts,figures", *more]) == 0
        for kind in ("verdicts", "figures"):
            with (rows_ / f"{kind}.csv").open(newline="") as file:
                assert {row["rulings"] for row in csv.DictReader(file)} == {cell}
    assert main(["rulings", str(path), "--undo", undone(path, ANSWER), "--as", "otto"]) == 0
    assert main(["rulings", str(path), "--undo", undone(path, "tax-02/negation"), "--as", "otto"]) == 0
    assert main(["verdicts", str(path), "--csv", str(tmp_path / "with 2"), "--force"]) == 0
    assert (tmp_path / "with 2" / "rulings.txt").read_text() == "No auditor's ruling changes these figures.\n"


def undone(path: Path, name: str) -> str:
    """The first digits of the ruling on a subject."""
    with Store.open(path) as store:
        key = subjects.find(store, name).subject.key
        return store.rulings.standing()[key][-1].uid.hex()[:8]


def test_a_ruling_is_taken_back_by_the_digits_that_are_printed(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rule(path, "soc-07", "env-03", "excluded") == 0
    undo = capsys.readouterr().out.split()[-1]
    assert main(["rulings", str(path), "--undo", undo, "--as", "ivy"]) == 2
    assert f"{undo} is otto's ruling excluded, not yours; to take it back, say why" in capsys.readouterr().err
    assert main(["rulings", str(path), "--undo", undo, "--as", "otto"]) == 0
    assert capsys.readouterr().out == "Undone: otto's ruling excluded.\n"
    assert [one["name"] for one in told(capsys, "rulings", path)["rulings"]] == ["soc-07"]
    history = told(capsys, "rulings", path, "--history")["rulings"]
    assert sorted(one["stands"] for one in history) == ["stands", "taken back", "takes back"], "two of one moment"
    assert main(["rulings", str(path), "--undo", undo, "--as", "otto"]) == 2
    assert "no ruling in force begins with" in capsys.readouterr().err


def test_auditors_who_contradict_each_other_are_listed(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rule(path, "soc-07", "excluded") == 0
    assert rule(path, "soc-07", "confirmed", by="eva") == 0
    assert {one["stands"] for one in told(capsys, "rulings", path)["rulings"]} == {"disputed"}
    assert len(told(capsys, "verdicts", path)["rulings"]["disputed"]) == 2


def test_rulings_move_between_stores_as_a_file_and_with_labels(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rule(path, ANSWER, "excluded") == 0
    file, other, third = tmp_path / "rulings.jsonl", audited(tmp_path / "other.db"), audited(tmp_path / "third.db")
    capsys.readouterr()
    assert told(capsys, "rulings", path, "--export", file)["events"] == 1
    assert told(capsys, "rulings", other, "--import", file) == {"added": 1, "known": 0}
    assert told(capsys, "rulings", other, "--import", file) == {"added": 0, "known": 1}
    assert [one["name"] for one in told(capsys, "rulings", other)["rulings"]] == [ANSWER]
    assert main(["labels", str(third), "--merge", str(path)]) == 0
    assert "1 ruling" in capsys.readouterr().out
    with Store.open(path) as one, Store.open(third) as two:
        assert one.rulings.events() == two.rulings.events()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "nothing",
            "odd.jsonl, line 1: found no ruling but 'nothing', which is no JSON on its own; expected is a line",
        ),
        ("\n{}", "odd.jsonl, line 2: found no ruling but nothing; uid, kind, subject, verdict"),
        ('[{"label": 1}]', 'line 1: found no ruling but a list ([{"label": 1}]); expected is a line of a file that'),
        (
            '{"kind": "answer", "subject": {"prompt": "zz", "text": "00"}}',
            "line 1: found no ruling but kind, subject; uid, verdict, label, reason, auditor, at, undoes are not there",
        ),
        ("", "has no rulings"),
    ],
)
def test_a_file_that_is_none_changes_nothing(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, said: str
) -> None:
    file = tmp_path / "odd.jsonl"
    file.write_text(line)
    assert main(["rulings", str(path), "--import", str(file)]) == 2
    assert said in capsys.readouterr().err
    assert told(capsys, "rulings", path)["rulings"] == []


@pytest.fixture
def several(tmp_path: Path) -> Path:
    """A store, with a blank in its name, of two instruments that have the same refs, each answered by a model."""
    path = audited(tmp_path / "my study.db")
    return audited(path, model="other", base=replace(small(), name="twin"))


@pytest.mark.e2e
def test_every_printed_hint_works_as_it_is_printed(several: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = ("--model", "smol", "--instrument", small().name, "--as", "Eva M")
    done: list[str] = []

    def hints(*arguments: str) -> None:
        """Run what a command prints as hints."""
        assert main([arguments[0], str(several), *arguments[1:]]) == 0, arguments
        commands = [line for line in capsys.readouterr().out.splitlines() if line.startswith("workbench ")]
        for command in commands:
            assert main(shlex.split(command)[1:]) == 0, command
            done.append(command)
        capsys.readouterr()

    hints("review", *run, "--next")
    hints("rule", "tax-02", "confirmed", "--reason", "looked", "--as", "Eva M", "--instrument", small().name)
    hints("review", *run, "--draw", "4")
    hints("review", *run, "--next")
    hints("rulings")
    hints("rulings", "--of", "tax-02", "--instrument", "twin")
    hints("verdicts", "--model", "smol", "--instrument", "twin")
    assert [command.split()[1] for command in done] == ["rule", "rulings", "rule", "rule", "rule"]
    assert any("misread" in command for command in done)


def test_rulings_say_on_which_instrument_they_are_where_there_are_several(
    several: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in (small().name, "twin"):
        assert rule(several, "tax-02", "confirmed", "--instrument", name) == 0
    found = rows(told(capsys, "rulings", several), "rulings")
    assert [(row["subject"], row["instrument"]) for row in found] == [("tax-02", small().name), ("tax-02", "twin")]
    (one,) = rows(told(capsys, "rulings", several, "--instrument", "twin"), "rulings")
    assert one["instrument"] == "twin"
    assert main(["rulings", str(several)]) == 0
    assert "twin" in capsys.readouterr().out
    assert main(["rulings", str(several), "--instrument", "twins"]) == 2
    assert f"no instrument 'twins'. Available: {small().name}, twin" in capsys.readouterr().err


def test_a_mistake_writes_nothing_at_all(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rule(path, "soc-07", "env-04", "excluded") == 2
    assert "no statement 'env-04'" in capsys.readouterr().err
    assert rule(path, "soc-07", "misread", "--reading", "agree") == 2
    assert "soc-07 is a statement" in capsys.readouterr().err
    assert main(["rulings", str(path), "--undo", "00"]) == 2
    assert "--as NAME" in capsys.readouterr().err
    assert told(capsys, "rulings", path)["rulings"] == []
    assert len(small().statements) == 4
