"""What is mistyped is named, with what it is like and the usage of the command at hand; nothing is carried out."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.cli.main import COMMANDS, build_parser, main, meant, parsers


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["verdcts", "x.db"], "found the command 'verdcts'; did you mean 'verdicts'?"),
        (["statment"], "did you mean 'statements'?"),
        (
            ["verdicts", "x.db", "--modle", "y"],
            "workbench verdicts: error: found the option --modle; did you mean --model?",
        ),
        (["jobs", "x.db", "--jsn=1"], "workbench jobs: error: found the option --jsn; did you mean --json?"),
        (["lint", "x.db", "--xyzzy"], "found the option --xyzzy; there is none like it"),
        (["lint", "x.db", "extra"], "found 'extra', which belongs to no option"),
        (["lint", "x.db", "--\x1b]0;x\x07"], "found the option --␛]0;x␇"),
    ],
)
def test_a_mistype_is_named(typed: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(typed)
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.startswith("usage: workbench")


def test_the_value_of_an_unknown_option_is_not_named_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["bias", "x.db", "--modle", "smollm2"])
    assert "smollm2" not in capsys.readouterr().err


def test_a_file_is_opened_whatever_it_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert meant("verdict")
    Path("verdict").touch()
    assert not meant("verdict")
    assert not meant("verdict.db")
    assert not meant("./verdicts")
    assert not meant("elections")


def test_every_command_has_a_parser() -> None:
    assert set(parsers(build_parser())) == set(COMMANDS)
