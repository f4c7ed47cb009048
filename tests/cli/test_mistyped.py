"""What is mistyped is named, with what it is like and the usage of the command at hand; nothing is
carried out.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.cli.main import main, workbench


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["shwo", "x.db"], "there is no command 'shwo'; did you mean 'show'?"),
        (["statment"], "did you mean 'statements'?"),
        (
            ["verdcts"],
            "did you mean 'verdicts'? Its figures: workbench show STORE reliability. A store of "
            "that name:",
        ),
        (
            ["reliability"],
            "there is no command 'reliability'; it is an audit. Its figures: workbench show "
            "STORE rel",
        ),
        (
            ["bias_scor", "x.db"],
            "did you mean 'bias_score'? Its figures: workbench show STORE bias_score.",
        ),
        (["jobs", "cancel"], "found 'cancel' in place of a store: workbench jobs STORE cancel"),
        (
            ["choices", "perturbe"],
            "found 'perturbe' in place of a store: workbench choices STORE perturb",
        ),
        (
            ["show", "x.db", "reliability", "--modle", "y"],
            "workbench show: error: there is no option --modle; did you mean --model?",
        ),
        (
            ["jobs", "x.db", "--jsn=1"],
            "workbench jobs: error: there is no option --jsn; did you mean --json?",
        ),
        (["lint", "x.db", "--xyzzy"], "there is no option --xyzzy; --help lists those there are"),
        (
            ["pilot", "x.db", "--rule", "coded"],
            "there is no option --rule; --help lists those there are",
        ),
        (
            ["show", "x.db", "reliability", "--rule", "coded"],
            "there is no option --rule; --as-published sets it, with",
        ),
        (
            ["show", "x.db", "questionnaire", "--rule", "x"],
            "there is no option --rule; --help lists those there are",
        ),
        (
            ["design", "x.db", "--judge-void"],
            "there is no option --judge-void; --as-published sets it, with",
        ),
        (["lint", "x.db", "extra"], "found 'extra', which belongs to no option"),
        (
            ["x.db", "show", "--json"],
            "found 'show' after the store 'x.db'; a command comes first: workbench show x.db",
        ),
        (["x.db", "reliability"], "a command comes first: workbench show x.db reliability"),
        (["lint", "x.db", "--\x1b]0;x\x07"], "there is no option --␛]0;x␇"),
        (
            ["show", "x.db", "reliability", "--model", "--json"],
            "--model needs a value, and the option --json follows it",
        ),
        (
            ["show", "x.db", "consistency", "--labels", "goold"],
            "--labels: found 'goold'; did you mean gold?",
        ),
        (
            ["run", "x.db", "--model", "m", "--top-p", "2"],
            "--top-p: found 2.0; give more than 0 and at most 1",
        ),
        (["run", "x.db"], "Missing option '--model'"),
        (["statements", "x.db", "--rename", "a"], "Option '--rename' requires 2 arguments"),
        (
            ["draft", "x.db", "--list", "--undo"],
            "found --list and --undo, which exclude each other; give one",
        ),
        (
            ["choices", "x.db", "ad"],
            "found 'ad'; did you mean add? Otherwise give list, show, add, forms or perturb",
        ),
    ],
)
def test_a_mistype_is_named(
    typed: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(typed) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.startswith("Usage: workbench")


def test_a_word_that_is_no_command_and_no_store_is_told_as_both(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["elections"]) == 2
    assert capsys.readouterr().err == (
        "workbench: elections is neither a command nor a store. Commands: workbench --help. To "
        "make a store: workbench init elections\n"
    )
    assert main(["elections.db"]) == 2
    assert "there is no store at elections.db, and none was made" in capsys.readouterr().err
    assert main(["show", "reliabilty"]) == 2
    assert (
        "found 'reliabilty' in place of a store: workbench show STORE reliability"
        in capsys.readouterr().err
    )


def test_the_value_of_an_unknown_option_is_not_named_as_well(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["show", "x.db", "bias_score", "--modle", "smollm2"]) == 2
    assert "smollm2" not in capsys.readouterr().err


def test_a_file_is_opened_whatever_it_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    meant = workbench().meant
    assert meant("shw")
    Path("shw").touch()
    assert not meant("shw")
    assert not meant("shw.db")
    assert not meant("./show")
    assert not meant("elections")
