"""The commands of a survey, as a script sees them, and people's row beside the model's."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from stores.annotation.respondent import SurveyRespondent
from stores.core.store import Store
from tests.cli.test_commands import data, rows, run
from tests.conftest import instrument, published
from tests.tui.audit_runs import audited, small
from tests.tui.conftest import made
from workbench.annotation.survey import SurveyDesign
from workbench.pipeline.surveys import open_session
from workbench.tui.kit.key_gate import LULL_S

ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return made(tmp_path / "audit.db", replace(instrument(), survey=()))


def answer(path: Path, name: str, *, agrees: bool = True, count: int | None = None) -> None:
    with Store.open(path) as store:
        session = open_session(store, "small", name, SurveyDesign())
    with SurveyRespondent.open(path, session) as person:
        while (question := person.next()) is not None and count != 0:
            person.answer(
                question.position, agrees != question.text.startswith(("Not so", "Repeal")), 1500
            )
            count = None if count is None else count - 1


def test_the_list_says_who_answered_how_many(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "survey", path, "--list")
    assert code == 0
    assert "Nobody has answered yet" in out
    answer(path, "ana")
    answer(path, "bob", count=5)
    code, out, _ = run(capsys, "survey", path, "--list")
    assert code == 0
    assert "in use: answers to statements as they are now" in out
    found = rows(data(capsys, "survey", path, "--list", "--instrument", "small"), "respondents")
    keys = ("respondent", "language", "asked", "answered", "current", "median_s")
    assert [tuple(line[key] for key in keys) for line in found] == [
        ("ana", "en", 12, 12, 12, 1.5),
        ("bob", "en", 12, 5, 5, 1.5),
    ]
    code, _, err = run(capsys, "survey", path, "--html", "p.html")
    assert (code, "this act prints no figures" in err) == (2, True)


def test_answers_go_out_and_come_into_another_store_once(
    tmp_path: Path, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer(path, "=ana+1")
    answer(path, "bob", agrees=False)
    file = tmp_path / "survey.csv"
    assert data(capsys, "survey", path, "--export", file)["answers"] == 24
    assert "'=ana+1" in file.read_text(), "no formula for a spreadsheet"
    other = made(tmp_path / "other.db", replace(instrument(), survey=()))
    code, out, _ = run(capsys, "survey", other, "--import", file)
    assert code == 0, out
    assert "24 answers of 2 respondents added to small" in out
    done = data(capsys, "survey", other, "--import", file)
    assert (done["added"], done["changed"], done["known"]) == (0, 0, 24)
    with Store.open(path) as here, Store.open(other) as there:
        assert set(here.instruments.get("small").survey) == set(
            there.instruments.get("small").survey
        )
    code, _, err = run(capsys, "survey", path, "--export", file)
    assert code == 2
    assert "exists already" in err
    assert [left.name for left in tmp_path.glob("*.part")] == []


def test_answers_to_an_earlier_version_are_left_out_and_counted(
    tmp_path: Path, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer(path, "ana")
    with Store.open(path) as store:
        one = store.statements.get("small", "a-1")
        texts = tuple(replace(w, text=f"{w.text} Now.") for w in one.wordings)
        store.statements.save("small", [replace(one, wordings=texts)], person="eva")
    code, out, _ = run(capsys, "survey", path, "--export", tmp_path / "survey.csv")
    assert code == 0
    assert "Wrote 8 answers" in out
    assert "4 answers to earlier versions of statements are left out" in out


@pytest.mark.parametrize(
    ("text", "says", "code"),
    [
        ("respondent,ref,variant,answer\n1,zz,original,agree\n", "'zz'", 1),
        ("respondent,ref,variant,answer\n1,a-1,haiku,agree\n", "'haiku'", 1),
        ("respondent,ref,variant,answer\n1,a-1,original,perhaps\n", "'perhaps'", 1),
        ("respondent,ref,variant,answer\n1,a-1,original,1\n1,a-1,original,0\n", "again", 1),
        ("respondent,ref,variant,answer\n\u202e1,a-1,original,1\n", "respondent's name", 2),
        ("respondent,ref,variant\n", "answer", 1),
        ("respondent,ref,variant,answer\n", "has no answers", 2),
        ("respondent,ref,variant,answer\nana,a-1,original,disagree\n", "ana, a-1 original", 2),
    ],
)
def test_a_file_with_a_fault_changes_nothing(
    tmp_path: Path, path: Path, capsys: pytest.CaptureFixture[str], text: str, says: str, code: int
) -> None:
    answer(path, "ana")
    file = tmp_path / "survey.csv"
    file.write_text(text, encoding="utf-8")
    before = data(capsys, "survey", path, "--list")
    found, _, err = run(capsys, "survey", path, "--import", file)
    assert found == code
    assert says in err
    assert data(capsys, "survey", path, "--list") == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "needs a terminal"),
        (("--instrument", "nope"), "small"),
        (("--statements", "0"), "--statements: found 0"),
        (("--variants", "haiku"), "haiku"),
        (("--variants", "original"), "only originals"),
        (("--seed", "-1"), "seed"),
        (("--language", "fr"), "'fr'"),
        (("--respondent", ""), "such as ana"),
        (("--json",), "--list"),
        (("--import", "nothing.csv"), "nothing.csv"),
        (("--export", "answers.txt"), ".csv"),
        (("--export", "answers.csv"), "nobody has answered"),
        (("--list", "--instrument", "nope"), "small"),
    ],
)
def test_mistakes_are_answered_in_words(
    path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], says: str
) -> None:
    code, _, err = run(capsys, "survey", path, *arguments)
    assert code == 2
    assert says in err


def test_of_several_instruments_one_is_named(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(path) as store:
        store.instruments.add(instrument(name="second"))
    code, _, err = run(capsys, "survey", path)
    assert code == 2
    assert "--instrument: small, second" in err


@pytest.mark.e2e
def test_the_command_opens_the_terminal_at_the_survey_and_takes_answers(path: Path) -> None:
    """A real terminal: the command, a pseudonym given, Enter, two answers, q."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "workbench",
            "survey",
            str(path),
            "--respondent",
            "heron",
            "--variants",
            "negation",
        ],
        cwd=ROOT,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=os.environ | {"TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"},
        close_fds=True,
    )
    os.close(slave)
    shown = b""

    def until(holds: Callable[[], bool], key: bytes = b"") -> None:
        """Read what the terminal shows until something holds; a key that came too early is pressed
        again.
        """
        nonlocal shown
        deadline, pressed = time.monotonic() + 60, 0.0
        while not holds():
            assert time.monotonic() < deadline, shown[-2000:]
            # Keys that follow sooner are typed in one go.
            if key and time.monotonic() > pressed + 2 * LULL_S:
                os.write(master, key)
                pressed = time.monotonic()
            if select.select([master], [], [], 0.3)[0]:
                shown += os.read(master, 65536)

    try:
        until(lambda: b"begins" in shown)
        os.write(master, b"\r")
        until(lambda: answered(path) > 1, b"a")
        os.write(master, b"q")
    finally:
        process.terminate()
        process.wait(20)
        os.close(master)
    with Store.open(path) as store:
        assert {answer.respondent for answer in store.surveys.answers("small")} == {"heron"}


def answered(path: Path) -> int:
    with Store.open(path) as store:
        return len(store.surveys.answers("small"))


def test_people_and_a_coin_stand_beside_the_model_in_one_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = audited(tmp_path / "audit.db", base=replace(small(), survey=()))
    code, out, _ = run(capsys, "show", path, "reliability", "--table", "mean_kappas")
    assert code == 0
    assert "Nobody has answered the instrument" in out
    for number in range(4):
        answer(path, f"p{number}", agrees=bool(number % 2))
    code, out, _ = run(capsys, "show", path, "reliability", "--table", "mean_kappas")
    assert code == 0
    head = next(
        line for line in out.splitlines() if line.startswith("variant") and "people (4)" in line
    )
    assert head.split()[:6] == ["variant", "model", "coin", "flips", "people", "(4)"]
    found = rows(data(capsys, "show", path, "reliability"), "mean_kappas", flipped=False)
    assert [(row["variant"], row["bound"] is not None) for row in found] == [
        ("paraphrase", True),
        ("negation", True),
        ("opposite", True),
        ("label_order", False),
    ]
    assert all(row["coin"]["n"] + row["coin"]["excluded"] == 2 for row in found)
    assert found[0]["answered"] == 4
    assert found[0]["bound"]["undefined"] == "all answers equal"


@pytest.mark.e2e
def test_the_published_upper_bound_stands_in_both_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ceron et al. 2024, Table 2: humans 0.90 (.08); raw -0.69 and -0.65 for negation and opposite
    (version 1).
    """
    folder = published("probvaa")
    path = tmp_path / "vaa.db"
    assert run(capsys, "init", path)[0] == 0
    assert run(capsys, "import", path, "--format", "probvaa", folder)[0] == 0
    people = ("show", path, "consistency", "--table", "people_kappas", "upper_bound")
    assert run(capsys, *people)[0] == 0
    found = data(capsys, *people)
    bound = rows(found, "upper_bound", found["instrument"], flipped=False)
    figures = [
        (row["variant"], round(row["mean"]["mean"], 2), round(row["mean"]["sd"], 2))
        for row in bound
    ]
    assert figures == [
        ("paraphrase", 0.9, 0.08),
        ("negation", -0.69, 0.12),
        ("opposite", -0.65, 0.08),
    ]
    assert {(row["n"], row["pairs"]) for row in bound} == {(6, 300)}
    lines = rows(data(capsys, "survey", path, "--list"), "respondents")
    assert [(line["respondent"], line["answered"], line["language"]) for line in lines] == [
        (str(n), 200, None) for n in range(1, 7)
    ]
    exported = tmp_path / "survey.csv"
    assert data(capsys, "survey", path, "--export", exported)["answers"] == 1200
    assert (
        json.loads(json.dumps(data(capsys, "survey", path, "--import", exported)))["known"] == 1200
    )
