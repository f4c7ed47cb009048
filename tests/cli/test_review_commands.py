"""The auditor's queue from the shell."""

from __future__ import annotations

import csv
import json
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stores.core.store import Store
from tests.tui.audit_runs import audited, small
from workbench.cli.main import main
from workbench.domain.reviews import REASONS
from workbench.evidence import ruling_subjects as subjects


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


def test_the_queue_says_why_and_what_each_reason_weighs(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = told(capsys, "review", path)
    waiting = rows(found, "review")
    assert waiting[0]["statement"] == "tax-02"
    assert waiting[0]["why"].startswith(
        "one wording only 33 (negation alone, under personal-1, personal-2)"
    )
    weights = {row["reason"]: row["weight"] for row in rows(found, "reasons")}
    assert weights == {one.title: one.weight for one in REASONS.values()}
    assert (waiting[0]["score"], waiting[0]["reasons"]) == (40, ["one_wording", "finding"])


def test_what_somebody_looked_at_waits_no_more_for_them_alone(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rule(path, "tax-02/negation", "confirmed") == 0
    states = {
        row["statement"]: row["state"]
        for row in rows(told(capsys, "review", path, "--as", "otto"), "review")
    }
    assert re.fullmatch(r"\d+ of \d+ ruled by you", states["tax-02"]), (
        "a wording decides nothing about its statement"
    )
    assert rule(path, "tax-02", "reviewed") == 0
    names = {
        who: [row["statement"] for row in rows(told(capsys, "review", path, "--as", who), "review")]
        for who in ("otto", "eva")
    }
    assert "tax-02" not in names["otto"]
    assert "tax-02" in names["eva"]
    (row,) = rows(told(capsys, "review", path), "auditors")
    assert (row["auditor"], row["looked_at"], row["queue"]) == ("otto", 1, 2)


@pytest.mark.e2e
def test_a_control_sample_is_mixed_in_and_worked_through_item_by_item(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = told(capsys, "review", path, "--draw", "24", "--seed", "3", "--as", "otto")
    assert drawn["control"]["seed"] == 3
    queue = rows(drawn, "review")
    assert [row["score"] is None for row in queue[:4]] == [True, False, False, True]
    assert queue[1]["inclusion"] == 1
    sampled = {row["subject"]: row for row in rows(drawn, "drawn")}
    strata = {row["stratum"]: row for row in rows(told(capsys, "review", path), "errors")}
    for row in sampled.values():
        of = strata[row["stratum"]]
        assert row["inclusion"] == pytest.approx(of["drawn"] / of["answers"])
    assert rows(told(capsys, "review", path), "drawn") == list(sampled.values()), (
        "it does not change"
    )
    seen = 0
    while (item := told(capsys, "review", path, "--next", "--as", "otto")["item"]) is not None:
        assert rule(path, item["subject"], "confirmed") == 0
        seen += 1
    assert seen == len(sampled) + 2
    done = told(capsys, "review", path)
    (whole,) = (row for row in rows(done, "errors") if row["stratum"] == "all answers")
    assert (whole["misread"], whole["rate"]["value"]) == (0, 0)
    assert 0 < whole["rate"]["high"] < 0.25
    assert main(["review", str(path), "--next", "--as", "otto"]) == 0
    assert "Nothing is pending." in capsys.readouterr().out


def test_blind_hides_the_model_and_a_seed_without_a_draw_is_refused(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for more in ((), ("--next",)):
        capsys.readouterr()
        assert main(["review", str(path), "--blind", *more]) == 0
        assert "smol" not in capsys.readouterr().out
        assert "smol" not in json.dumps(told(capsys, "review", path, "--blind", *more))
    assert main(["review", str(path), "--seed", "5"]) == 2
    assert "--draw N" in capsys.readouterr().err


@pytest.mark.e2e
def test_what_others_decided_on_the_control_sample_is_withheld_until_ones_own_decision(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = rows(told(capsys, "review", path, "--draw", "6", "--as", "eva"), "drawn")
    first, *others = (row["subject"] for row in drawn)
    for subject in (first, *others):
        assert rule(path, subject, "confirmed", by="eva") == 0
    assert rule(path, first, "look-again", by="ivo") == 0
    left = len(drawn)
    for more in (
        ("--as", "otto"),
        ("--as", "otto", "--blind"),
        ("--as", "otto", "--next"),
        ("--blind",),
    ):
        found = told(capsys, "review", path, *more)
        assert found["control"]["withheld"].startswith("shown ")
        assert "drawn_by" not in found["control"]
        text = json.dumps(found)
        assert "by eva" not in text
        assert "by others" not in text
        assert "looked" not in text.replace("looked_at", ""), "what somebody said of a drawn answer"
        if "--next" not in more:
            assert rows(found, "errors") == []
            assert not any(row["looked_at"] for row in rows(found, "drawn"))
            assert all(
                row["control"] is None for row in rows(found, "auditors") if row["auditor"] == "eva"
            )
    capsys.readouterr()
    assert main(["review", str(path), "--as", "otto"]) == 0
    assert (
        f"shown once you have decided the {left} control items left to you"
        in capsys.readouterr().out
    )
    assert rows(told(capsys, "review", path), "errors")[-1]["misread"] == 0, (
        "nobody is known to have yet to decide"
    )
    for subject in (first, *others):
        assert rule(path, subject, "confirmed") == 0
    done = told(capsys, "review", path, "--as", "otto")
    assert rows(done, "errors")[-1]["misread"] == 0
    assert (done["control"]["withheld"], done["control"]["drawn_by"]) == ("", "eva")


def test_agreement_of_auditors_is_that_of_their_rulings(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for who, verdict in (("otto", "confirmed"), ("eva", "confirmed")):
        assert rule(path, "soc-07/negation", verdict, by=who) == 0
    assert rule(path, "tax-02/negation", "wording-at-fault") == 0
    assert rule(path, "tax-02/negation", "confirmed", by="eva") == 0
    (pair,) = rows(told(capsys, "review", path), "agreement")
    assert (pair["one"], pair["two"], pair["things"], pair["same"]) == ("eva", "otto", 2, 1)


@pytest.mark.e2e
def test_two_processes_at_once_are_given_different_statements(path: Path) -> None:
    command = (sys.executable, "-m", "workbench", "review", str(path), "--next", "--json", "--as")
    processes = [
        subprocess.Popen((*command, who), stdout=subprocess.PIPE) for who in ("otto", "eva")
    ]
    items = [
        json.loads(process.communicate(timeout=120)[0])["item"]["subject"] for process in processes
    ]
    assert len(set(items)) == 2


def test_next_says_who_is_at_what_is_left(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for who in ("otto", "eva"):
        assert told(capsys, "review", path, "--next", "--as", who)["item"]
    assert main(["review", str(path), "--next", "--as", "ivo"]) == 0
    assert (
        "Nothing is pending. eva and otto are reviewing the remaining items."
        in capsys.readouterr().out
    )


def test_blind_names_no_other_auditor(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rule(path, "tax-02", "look-again", by="eva") == 0
    assert rule(path, "mig-01", "confirmed", by="eva") == 0
    text = json.dumps([rows(told(capsys, "review", path, "--blind", "--as", "otto"), "review")])
    assert "eva" not in text
    assert "looked" not in text
    assert "look_again" not in text
    assert '"by others"' in text
    item = told(capsys, "review", path, "--blind", "--next", "--as", "otto")["item"]
    assert item["why"].startswith("another opinion wanted 1000 + ")


def test_control_samples_come_with_the_labels_of_another_store(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = audited(tmp_path / "other.db")
    assert main(["review", str(other), "--draw", "6", "--as", "eva"]) == 0
    capsys.readouterr()
    assert main(["labels", str(path), "--merge", str(other)]) == 0
    assert "1 control sample of reviews added" in capsys.readouterr().out
    assert told(capsys, "review", path)["control"]["drawn_by"] == "eva"


def test_next_prints_ten_answers_with_their_words_beside_their_names_and_whole_commands(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    item = told(capsys, "review", path, "--next")
    every, data = item["item"]["subject"], rows(item, "answers")
    assert len(data) > 10, "programs are told all of them"
    assert main(["review", str(path), "--next"]) == 0
    printed = capsys.readouterr().out.splitlines()
    answers = [line for line in printed if line.startswith("@")]
    assert [line.split()[0] for line in answers] == [row["subject"] for row in data[:10]]
    assert all(row["text"].split()[0] in line for row, line in zip(data, answers, strict=False))
    assert max(len(line.rstrip()) for line in printed if not line.startswith("workbench ")) <= 80
    assert f"workbench rule {path} {every} confirmed --reason TEXT --as NAME" in printed, (
        "one line, to be copied"
    )
    assert any(
        f"{len(data) - 10:,} more answers not shown: --all prints all {len(data):,}" in line
        for line in printed
    )
    assert main(["review", str(path), "--next", "--all"]) == 0
    assert capsys.readouterr().out.count("\n@") == len(data)
    assert main(["review", str(path), "--all"]) == 2
    assert "--next" in capsys.readouterr().err


# Rulings from the shell: by names that verbs print, taken back, moved between stores, and figures
# with and without.


ANSWER = "env-03/negation/personal-1/=39befebb"


@pytest.mark.e2e
def test_a_subject_is_copied_from_what_is_printed_and_figures_say_what_changed(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [
        row["subject"]
        for row in rows(told(capsys, "rulings", path, "--of", ANSWER.rpartition("/")[0]), "below")
    ]
    assert ANSWER in names
    assert rule(path, ANSWER, "misread", "--reading", "disagree") == 0
    assert rule(path, "tax-02/negation", "wording-at-fault") == 0
    capsys.readouterr()
    assert main(["show", str(path), "reliability"]) == 0
    assert "2 rulings: 1 answer read anew, 1 wording left out; " in " ".join(
        capsys.readouterr().out.split()
    )
    found = told(capsys, "show", path, "reliability")
    assert found["rulings"]["counted"]
    assert [one["verdict"] for one in found["rulings"]["changing"]] == [
        "misread",
        "wording at fault",
    ]
    plain = told(capsys, "show", path, "reliability", "--without-rulings")
    assert (plain["rulings"]["counted"], plain["rulings"]["different_without"]) == (False, None)
    by_id = [{row["statement"]: row for row in rows(one, "verdicts")} for one in (found, plain)]
    assert by_id[0]["soc-07"] == by_id[1]["soc-07"]
    assert by_id[0]["tax-02"] != by_id[1]["tax-02"]
    assert told(capsys, "show", path, "consistency")["rulings"]["counted"]
    assert not told(capsys, "show", path, "consistency", "--without-rulings")["rulings"]["counted"]


@pytest.mark.e2e
def test_every_written_figure_says_whether_rulings_count_and_how_many(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rule(path, ANSWER, "misread", "--reading", "disagree") == 0
    assert rule(path, "tax-02/negation", "wording-at-fault") == 0
    with_, without = (
        "2 rulings: 1 answer read anew, 1 wording left out; ",
        "Without 2 rulings: 1 answer read anew",
    )
    for said, cell, *more in ((with_, "with 2"), (without, "without 2", "--without-rulings")):
        into, rows_ = tmp_path / cell, tmp_path / f"{cell} rows"
        files = [f"--{name}" for name in ("csv", "latex", "figures")]
        assert (
            main(
                [
                    "show",
                    str(path),
                    "reliability",
                    *(part for one in files for part in (one, str(into))),
                    *more,
                ]
            )
            == 0
        )
        assert said in " ".join(capsys.readouterr().out.split())
        assert (into / "rulings.txt").read_text().startswith(said)
        assert all(said in one.read_text() for one in into.glob("*.tex"))
        assert main(["export", str(path), str(rows_), "--what", "verdicts,figures", *more]) == 0
        for kind in ("verdicts", "figures"):
            with (rows_ / f"{kind}.csv").open(newline="") as file:
                assert {row["rulings"] for row in csv.DictReader(file)} == {cell}
    assert main(["rulings", str(path), "--undo", undone(path, ANSWER), "--as", "otto"]) == 0
    assert (
        main(["rulings", str(path), "--undo", undone(path, "tax-02/negation"), "--as", "otto"]) == 0
    )
    assert (
        main(["show", str(path), "reliability", "--csv", str(tmp_path / "with 2"), "--force"]) == 0
    )
    assert (
        tmp_path / "with 2" / "rulings.txt"
    ).read_text() == "No auditor's ruling changes these figures.\n"


def undone(path: Path, name: str) -> str:
    """The first digits of the ruling on a subject."""
    with Store.open(path) as store:
        found = subjects.rulings_in_force_on(
            store.rulings.standing(),
            subjects.find_subject(store, name).subject,
            subjects.every_model(store),
        )
        return found[-1].uid.hex()[:8]


def test_a_ruling_is_taken_back_by_the_digits_that_are_printed(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rule(path, "soc-07", "env-03", "excluded") == 0
    undo = capsys.readouterr().out.split()[-1]
    assert main(["rulings", str(path), "--undo", undo, "--as", "ivy"]) == 2
    assert (
        f"{undo} is otto's ruling excluded, not yours; to take it back, say why"
        in capsys.readouterr().err
    )
    assert main(["rulings", str(path), "--undo", undo, "--as", "otto"]) == 0
    assert capsys.readouterr().out == "Undone: otto's ruling excluded.\n"
    assert [one["name"] for one in told(capsys, "rulings", path)["rulings"]] == ["soc-07"]
    history = told(capsys, "rulings", path, "--history")["rulings"]
    assert sorted(one["stands"] for one in history) == ["stands", "taken back", "takes back"], (
        "two of one moment"
    )
    assert main(["rulings", str(path), "--undo", undo, "--as", "otto"]) == 2
    assert "no ruling in force begins with" in capsys.readouterr().err


def test_auditors_who_contradict_each_other_are_listed(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rule(path, "soc-07", "excluded") == 0
    assert rule(path, "soc-07", "confirmed", by="eva") == 0
    assert {one["stands"] for one in told(capsys, "rulings", path)["rulings"]} == {"disputed"}
    assert len(told(capsys, "show", path, "reliability")["rulings"]["disputed"]) == 2


def test_rulings_move_between_stores_as_a_file_and_with_labels(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rule(path, ANSWER, "excluded") == 0
    file, other, third = (
        tmp_path / "rulings.jsonl",
        audited(tmp_path / "other.db"),
        audited(tmp_path / "third.db"),
    )
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
            "odd.jsonl, line 1: found no ruling but 'nothing', which is no JSON on its own; "
            "expected is a line",
        ),
        ("\n{}", "odd.jsonl, line 2: found no ruling but nothing; uid, kind, subject, verdict"),
        (
            '[{"label": 1}]',
            'line 1: found no ruling but a list ([{"label": 1}]); expected is a line of a file '
            "that",
        ),
        (
            '{"kind": "answer", "subject": {"prompt": "zz", "text": "00"}}',
            "line 1: found no ruling but kind, subject; uid, verdict, label, reason, auditor, "
            "at, undoes are not there",
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
    """A store, with a blank in its name, of two instruments that have the same refs, each answered
    by a model.
    """
    path = audited(tmp_path / "my study.db")
    return audited(path, model="other", base=replace(small(), name="twin"))


@pytest.mark.e2e
def test_every_printed_hint_works_as_it_is_printed(
    several: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ("--model", "smol", "--instrument", small().name, "--as", "Eva M")
    done: list[str] = []

    def hints(*arguments: str) -> None:
        """Run what a command prints as hints."""
        assert main([arguments[0], str(several), *arguments[1:]]) == 0, arguments
        commands = [
            line for line in capsys.readouterr().out.splitlines() if line.startswith("workbench ")
        ]
        for command in commands:
            assert main(shlex.split(command)[1:]) == 0, command
            done.append(command)
        capsys.readouterr()

    hints("review", *run, "--next")
    hints(
        "rule",
        "tax-02",
        "confirmed",
        "--model",
        "smol",
        "--reason",
        "looked",
        "--as",
        "Eva M",
        "--instrument",
        small().name,
    )
    hints("review", *run, "--draw", "4")
    hints("review", *run, "--next")
    hints("rulings")
    hints("rulings", "--of", "tax-02", "--instrument", "twin")
    hints("show", "reliability", "--model", "smol", "--instrument", "twin")
    assert [command.split()[1] for command in done] == ["rule", "rulings", "rule", "rule", "rule"]
    assert any("misread" in command for command in done)


def test_rulings_say_on_which_instrument_they_are_where_there_are_several(
    several: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in (small().name, "twin"):
        assert rule(several, "tax-02", "confirmed", "--instrument", name, "--all-models") == 0
    found = rows(told(capsys, "rulings", several), "rulings")
    assert [(row["subject"], row["instrument"]) for row in found] == [
        ("tax-02", small().name),
        ("tax-02", "twin"),
    ]
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


def test_a_ruling_on_an_answer_that_several_models_gave_names_one_or_all(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audited(path, model="other")
    capsys.readouterr()
    assert rule(path, ANSWER, "excluded") == 2
    assert "or give --all-models" in capsys.readouterr().err
    assert rule(path, ANSWER, "excluded", "--model", "smol", "--all-models") == 2
    assert rule(path, ANSWER, "excluded", "--model", "smol") == 0
    assert rule(path, "tax-02/negation", "wording-at-fault") == 0, "a wording is for all models"
    assert rule(path, ANSWER, "excluded", "--all-models", by="eva") == 0
    capsys.readouterr()
    assert [row["applies"] for row in rows(told(capsys, "rulings", path), "rulings")] == [
        "smol",
        "all models",
        "all models",
    ]
    assert len(rows(told(capsys, "rulings", path, "--of", ANSWER), "rulings")) == 2
