"""The command line as a script sees it: output, JSON, exit codes; a person's mistake never gives a
traceback.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest

from stores.core.store import Store
from workbench.cli.main import main, workbench
from workbench.cli.verbs import Namespace
from workbench.jobs import launch


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Run one command in this process."""
    capsys.readouterr()
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def unfolded(printed: str) -> str:
    """Return printed text on one line: where a table folds its cells depends on the length of
    paths.
    """
    return " ".join(printed.split())


def data(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    code, out, err = run(capsys, *arguments, "--json")
    assert code in (0, 1), err
    return json.loads(out)


def given(verb: str, *arguments: str) -> Namespace:
    """Return the options of a command line that is not carried out."""
    verbs = workbench()
    command = verbs.get_command(click.Context(verbs), verb)
    assert command is not None
    return Namespace(**command.make_context(verb, list(arguments)).params)


def rows(found: Any, name: str, *subject: str, **of: object) -> list[dict[str, Any]]:
    """Return the rows of a table in a JSON document; `of` keeps those with these values."""
    (table,) = (
        one for one in found["tables"] if (one["name"], one["subject"]) == (name, list(subject))
    )
    return [row for row in table["rows"] if all(row[key] == value for key, value in of.items())]


ASK = ("--model", "scripted", "--statements", "4", "--templates", "2", "--samples", "10")


@pytest.fixture(scope="module")
def made_run(made_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = Path(shutil.copy(made_demo, tmp_path_factory.mktemp("asked") / "demo.db"))
    assert main(["run", str(path), *ASK, "--yes"]) == 0
    return path


@pytest.fixture
def asked(made_run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made_run, tmp_path / "demo.db"))


def test_init_makes_a_store_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "new.db"
    assert run(capsys, "init", path)[0] == 0
    code, _, err = run(capsys, "init", path)
    assert code == 2
    assert "exists already" in err


def test_a_run_says_first_what_it_needs_and_asks_nothing_twice(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "run", asked, *ASK, "--dry-run")
    assert code == 0
    assert "96 prompts planned" in out
    assert "960 answers are stored already; 0 to ask" in out
    more = data(capsys, "run", asked, *ASK[:-1], "12", "--dry-run")
    assert (more["answers_stored"], more["answers_needed"]) == (960, 192)


def test_a_run_is_not_started_without_consent(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "run", demo, *ASK)
    assert code == 2
    assert "--yes" in err
    assert data(capsys, "jobs", demo) == []


def test_verdicts_and_agreement_come_as_text_and_as_data(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "show", asked, "reliability")
    assert code == 0
    assert "coin flips" in out
    found = data(capsys, "show", asked, "reliability", "--model", "scripted")
    assert len(rows(found, "verdicts")) == 4
    assert found["needed"] == 7, "two thirds of 10 samples, rounded up"
    tests = {row["test"] for row in rows(found, "passing")}
    assert tests >= {"sampling", "paraphrase", "negation", "all", "template"}
    assert {row["answers"] for row in rows(found, "passing_by_template")} == {"model", "coin flips"}
    assert [row["variant"] for row in rows(found, "mean_kappas")] == [
        "paraphrase",
        "negation",
        "negation",
        "opposite",
        "opposite",
        "label_order",
    ]
    assert len(rows(found, "item_agreement")) == 4 * 3


def test_verdicts_go_to_files_and_to_a_page(
    asked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, page = tmp_path / "figures", tmp_path / "page.html"
    assert (
        run(
            capsys, "show", asked, "reliability", "--csv", folder, "--latex", folder, "--html", page
        )[0]
        == 0
    )
    made = {path.name for path in folder.iterdir()}
    assert {
        "verdicts.csv",
        "passing.csv",
        "passing_by_template.csv",
        "templates.csv",
        "passing.tex",
    } <= made
    header = (folder / "verdicts.csv").read_text().splitlines()[0].split(",")
    assert header[:7] == [
        "statement",
        "text",
        "country",
        "issues",
        "sampling",
        "sampling_passed",
        "sampling_tested",
    ]
    made_page = page.read_text()
    assert (
        "<caption>Statements that pass the published test at 10 answers, test by test</caption>"
        in made_page
    )
    assert "<caption>Statements that keep their stance</caption>" in made_page
    code, _, err = run(capsys, "show", asked, "reliability", "--csv", folder)
    assert (code, "--force" in err) == (2, True)


@pytest.mark.e2e
def test_options_change_the_verdicts(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def passed(*options: str, outcome: str = "passed") -> dict[str, list[int]]:
        found = data(capsys, "show", asked, "reliability", *options)
        tests = {row["test"] for row in rows(found, "passing")}
        return {
            test: [row[outcome] for row in rows(found, "passing_by_template", test=test)]
            for test in tests
        }

    assert sum(passed("--as-published")["sampling"]) >= sum(passed()["sampling"])
    few = passed("--minimum", "10", outcome="insufficient")
    assert sum(few["negation"]) > sum(passed(outcome="insufficient")["negation"])
    assert passed("--tests", "sampling")["all"] == passed()["sampling"]
    coded = data(capsys, "show", asked, "reliability", "--reader", "label-words-coded")
    assert coded["reader"]["name"] == "label-words-coded"


def test_a_filter_keeps_what_does_not_pass(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    every = rows(data(capsys, "show", asked, "reliability"), "verdicts")
    found = list(
        dict.fromkeys(
            row["negation"]["verdict"] for row in every if row["negation"]["verdict"] != "pass"
        )
    )
    kept = rows(
        data(capsys, "show", asked, "reliability", "--where", f"negation={','.join(found)}"),
        "verdicts",
    )
    assert kept == [row for row in every if row["negation"]["verdict"] != "pass"]
    code, _, err = run(capsys, "show", asked, "reliability", "--where", "nothing=fail")
    assert (code, "no table here has the column 'nothing'" in err) == (2, True)
    code, out, _ = run(capsys, "show", asked, "reliability", "--table", "verdicts", "", "negation")
    assert (code, "Statements that do not pass negation" in out) == (0, True)


def test_one_template_is_judged_alone(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = rows(
        data(capsys, "show", asked, "reliability", "--table", "verdicts", "personal-1"),
        "verdicts",
        "personal-1",
    )
    every = rows(data(capsys, "show", asked, "reliability"), "verdicts")
    assert {row["sampling"] for row in one} <= {"pass", "fail", "insufficient"}
    assert all(all_["sampling"]["tested"] == 2 for all_ in every)
    code, _, err = run(capsys, "show", asked, "reliability", "--table", "verdicts", "t-9")
    assert (code, "t-9" in err) == (2, True)


@pytest.mark.e2e
def test_two_samplings_are_never_pooled(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "run", asked, *ASK, "--temperature", "0.25", "--yes")[0] == 0
    code, _, err = run(capsys, "show", asked, "reliability")
    assert code == 2
    assert "2 runs match" in err
    assert "T 0.25" in err
    found = data(capsys, "show", asked, "reliability", "--sampling", "T 0.25")
    assert found["run"]["sampling"]["temperature"] == 0.25


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("show",), "the store has no reliability answers"),
        (("run", "--model", "scripted", "--statements", "zz-99"), "zz-99"),
        (("run", "--model", "scripted", "--variants", "haiku"), "paraphrase-1"),
        (("run", "--model", "scripted", "--templates", "t-9"), "personal-1"),
        (("run", "--model", "scripted", "--family", "gpt"), "chat"),
        (("run", "--model", "scripted", "--samples", "0"), "--samples: found 0"),
        (("run", "--model", "scripted", "--top-p", "1.5"), "--top-p: found 1.5"),
        (("run", "--model", "scripted", "--instrument", "nope"), "veldania"),
        (("run", "--model", "scripted", "--language", "fr"), "en"),
        (("show", "consistency", "--table", "upper_bound"), "workbench survey"),
        (("agreement",), "--table people_kappas upper_bound"),
        (("jobs", "cancel", "7"), "there is no job 7"),
        (("jobs", "pause"), "Jobs it fits: none"),
        (("jobs", "retry", "7", "8"), "8 is one too many"),
        (("lint", "--instrument", "nope"), "veldania"),
    ],
)
def test_mistakes_are_answered_in_words(
    demo: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], says: str
) -> None:
    code, _, err = run(capsys, arguments[0], demo, *arguments[1:])
    assert code in (1, 2)
    assert says in err
    assert "Traceback" not in err


@pytest.mark.e2e
def test_a_failed_job_gives_exit_code_1(
    demo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    persona = demo.with_name("nowhere.toml")
    persona.write_text("agre = 0.8\nunreadable = 2\n")
    ask = ("run", demo, "--model", f"scripted:{persona}", "--statements", "1", "--yes")
    code, out, err = run(capsys, *ask)
    assert code == 2, "a script with faults is refused before there is a job"
    assert "'agre'" in err
    assert "'unreadable'" in err
    persona.write_text("agree = 0.8\n")
    spawn = launch.spawn
    monkeypatch.setattr(launch, "spawn", lambda path, job: (persona.unlink(), spawn(path, job)))
    code, out, _ = run(capsys, *ask)
    assert code == 1
    assert "nowhere.toml" in out


def test_a_store_that_is_not_there_is_not_made_without_asking(tmp_path: Path) -> None:
    path = tmp_path / "none.db"
    done = subprocess.run(
        [sys.executable, "-m", "workbench", str(path)],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 2
    assert "workbench init" in done.stderr
    assert not path.exists()


@pytest.mark.e2e
def test_doctor_says_what_works(
    demo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    code, out, _ = run(capsys, "doctor", demo)
    assert code == 0, out
    assert "sk-very-secret" not in out
    names = {check["name"] for check in data(capsys, "doctor", demo)}
    assert {"Python", "SQLite", "torch", "device", "store", "integrity"} <= names


def test_doctor_names_the_copies_that_migrations_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a b.db"
    Store.open(path, create=True).close()
    for name in (
        "a b.db.before-v35",
        "a b.db.before-v34-2",
        "a b.db.before-noon",
        "other.db.before-v35",
    ):
        (tmp_path / name).touch()
    copies = [
        check["found"] for check in data(capsys, "doctor", path) if check["name"] == "kept copy"
    ]
    assert [Path(found.partition(":")[0]).name for found in copies] == [
        "a b.db.before-v34-2",
        "a b.db.before-v35",
    ]
    assert f"rm '{path}.before-v35'" in copies[1]


def test_control_characters_of_data_are_not_sent_to_the_terminal(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(demo) as store:
        job = store.jobs.create("sample", {"model": "\x1b[31mred"}, 1)
    code, out, _ = run(capsys, "jobs", demo)
    assert code == 0
    assert "\x1b" not in out
    assert "␛[31mred" in out
    assert f"Job {job}: not started yet" in out


@pytest.mark.e2e
def test_the_demo_comes_back_to_its_store_and_asks_what_a_changed_instrument_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "demo.db"
    assert run(capsys, "demo", path, "--model", "scripted", "--no-screen")[0] == 0
    code, out, _ = run(capsys, "demo", path, "--model", "scripted", "--no-screen")
    assert (code, len(data(capsys, "jobs", path))) == (0, 1)
    assert "Everything is stored already." in out
    with Store.open(path) as store:
        made = store.instruments.get("veldania")
        first = made.statements[0]
        changed = replace(
            first, wordings=tuple(replace(w, text=f"{w.text} Now.") for w in first.wordings)
        )
        store.instruments.add(replace(made, statements=(changed, *made.statements[1:])))
    assert run(capsys, "demo", path, "--model", "scripted", "--no-screen")[0] == 0
    assert [job["state"] for job in data(capsys, "jobs", path)] == ["done", "done"]
    monkeypatch.setenv("COLUMNS", "80")
    lines = run(capsys, "jobs", path)[1].splitlines()
    assert lines[0].split() == ["job", "does", "audit", "state", "who", "instrument", "done"]
    assert lines[1].split()[:6] == ["2", "ask", "reliability", "done", "scripted", "veldania"]
    assert lines[3].startswith("Job 2: started 20")


def queue(path: Path, *samples: int) -> None:
    """Queue jobs that no worker has."""
    from workbench.domain.designs import Design
    from workbench.jobs import launch

    with Store.open(path) as store:
        for n in samples:
            launch.create(store, Design("veldania", "scripted", samples=n, family="user"))


@pytest.mark.e2e
def test_a_job_is_paused_resumed_and_followed_from_a_shell(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    queue(demo, 1)
    code, out, _ = run(capsys, "jobs", demo, "pause")
    assert (code, "Job 1 is paused. Continue: workbench jobs" in out) == (0, True), out
    assert data(capsys, "jobs", demo)[0]["state"] == "paused"
    code, out, _ = run(capsys, "jobs", demo, "follow", 1)
    assert code == 3, "nobody is at it"
    assert f"workbench jobs {demo} resume 1" in out
    assert "Job 1 continues" in run(capsys, "jobs", demo, "resume", 1)[1]
    code, out, _ = run(capsys, "jobs", demo, "follow")
    assert code == 0
    assert "job 1 is done" in out
    assert "answers are stored" in out
    assert "model scripted" in data(capsys, "jobs", demo, "log")["log"]
    code, _, err = run(capsys, "jobs", demo, "retry", 1)
    assert (code, "nothing that job 1 asked has failed" in err) == (1, True)
    code, _, err = run(capsys, "jobs", demo, "pause", 1)
    assert (code, "job 1 is done" in err) == (1, True)


def test_a_job_need_not_be_named_where_the_act_fits_one_only(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    queue(demo, 1, 2)
    code, _, err = run(capsys, "jobs", demo, "cancel")
    assert (code, "Jobs it fits: 2 (queued), 1 (queued)" in err) == (2, True)
    assert run(capsys, "jobs", demo, "cancel", 1)[0] == 0
    assert data(capsys, "jobs", demo, "cancel")["id"] == 2


def test_how_much_is_done_at_once_is_set_from_a_shell(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    queue(demo, 1)
    assert "at most 4 at once" in run(capsys, "jobs", demo, "concurrency", 1, 4)[1]
    assert data(capsys, "jobs", demo)[0]["concurrency"] == 4
    code, _, err = run(capsys, "jobs", demo, "concurrency", 1)
    assert (code, "give the number at once" in err) == (2, True)
    assert data(capsys, "jobs", demo, "concurrency", 1, 0)["concurrency"] is None


def test_leaving_a_job_that_is_followed_leaves_it_running(
    demo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    queue(demo, 1)

    def interrupted(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("workbench.jobs.watching.time.sleep", interrupted)
    code, out, _ = run(capsys, "jobs", demo, "follow", 1)
    assert code == 130
    assert "Job 1 continues" in out
    assert data(capsys, "jobs", demo)[0]["state"] == "queued"
    assert data(capsys, "jobs", demo)[0]["stopping"] is False
