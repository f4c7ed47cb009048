"""What holds for every verb: STORE first, one way to name a thing, JSON alone where it is asked
for, completion.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import workbench
from tests.conftest import instrument, new_store
from workbench.cli.completing import COMPLETE
from workbench.cli.main import GROUPS, main
from workbench.cli.main import workbench as command_line
from workbench.cli.parser import VerbCommand
from workbench.options.option import Option, Type

VERBS = [name for verbs in GROUPS.values() for name in verbs]
ALONE = {"keys": (), "help": (), "completion": ()}
"verbs that know no store"
NEEDED = {
    "import": ("small.csv", "--format", "csv"),
    "export": ("out",),
    "choices": ("list",),
    "demo": ("--no-screen",),
}


def command(name: str) -> VerbCommand:
    verbs = command_line()
    found = verbs.get_command(click.Context(verbs), name)
    assert found is not None
    return found


def options() -> Iterator[tuple[str, Option]]:
    for name in VERBS:
        yield from ((name, option) for option in command(name).verb.options)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "small.db"
    with new_store(path) as made:
        made.instruments.add(instrument())
    return path


def completed(*words: str) -> list[str]:
    """What a shell offers for the last word."""
    env = {
        COMPLETE: "bash_complete",
        "COMP_WORDS": " ".join(["workbench", *words]),
        "COMP_CWORD": str(len(words)),
    }
    out = subprocess.run(
        [sys.executable, "-m", "workbench"],
        env=ENV | env,
        capture_output=True,
        text=True,
        check=True,
    )
    return out.stdout.split()


ENV = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(workbench.__file__).parents[1])}


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_names_the_store_first_and_an_option_that_is_near(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    of = command(name).verb
    if name not in ALONE:
        first = next(option for option in of.options if option.positional)
        assert first.name == "store"
    flags = [option.flag for option in of.options if not option.positional]
    for flag in flags[:1]:
        assert main([name, "x.db", f"{flag}x"]) == 2
        told = capsys.readouterr().err
        assert told.startswith(f"Usage: workbench {name} ")
        assert f"workbench {name}: error: there is no option {flag}x; did you mean --" in told
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert all(flag in shown for flag in flags)
    assert max(map(len, shown.splitlines())) <= 80


def test_a_model_is_named_by_one_option_everywhere() -> None:
    assert not [
        (verb, one.name) for verb, one in options() if one.name in ("models", "instruments")
    ]
    assert not [verb for verb, one in options() if one.name == "model" and one.positional]


def test_one_seed_has_one_default() -> None:
    seeds = {verb: one.default for verb, one in options() if one.name == "seed"}
    assert set(seeds.values()) <= {1, None}
    assert {verb for verb, default in seeds.items() if default is None} == {"choices"}


@pytest.mark.parametrize("name", [name for name, one in options() if one.name == "json"])
def test_where_json_is_asked_for_nothing_else_is_printed(
    name: str, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    needed = {
        option.name: f"--{option.name}=x"
        for option in command(name).verb.options
        if option.required and not option.positional
    }
    about = [option.replace("--purpose=x", "--purpose=test") for option in needed.values()]
    where = [] if name in ALONE else [str(store)]
    code = main([name, *where, *NEEDED.get(name, about), "--json"])
    out = capsys.readouterr().out
    assert out or code, "it printed nothing, and says that all is well"
    if out:
        json.loads(out)


@pytest.mark.e2e
def test_the_list_of_verbs_imports_none_of_them() -> None:
    code = (
        "import sys; from workbench.cli.main import main; main(['--help']);"
        "print([n for n in sys.modules if n.startswith('workbench.cli.')], file=sys.stderr)"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], env=ENV, capture_output=True, text=True, check=True
    )
    assert set(ast.literal_eval(out.stderr)) == {
        *(
            "workbench.cli.main",
            "workbench.cli.parser",
            "workbench.cli.completing",
            "workbench.cli.verbs",
        )
    }
    assert set(VERBS) <= set(out.stdout.split())
    assert len(out.stdout.splitlines()) <= 24, "one screen"


@pytest.mark.e2e
def test_verbs_options_choices_stores_and_names_are_completed(store: Path) -> None:
    assert completed("sho") == ["plain,show"]
    assert "plain,small.db" in completed("")
    assert completed("show", "sm") == ["plain,small.db"]
    assert completed("show", "small.db", "re") == [
        "plain,reliability",
        "plain,response_bias",
        "plain,representation",
    ]
    assert {"plain,--reader"} <= set(completed("show", "small.db", "reliability", "--r"))
    assert completed("show", "small.db", "consistency", "--labels", "") == [
        "plain,gold",
        "plain,people",
    ]
    assert completed("show", "small.db", "--instrument", "") == ["plain,small"]
    assert completed("jobs", "small.db", "ca") == ["plain,cancel"]
    assert completed("small.db", "--sc") == ["plain,--screen"]
    assert completed("show", "no.db", "--instrument", "") == []
    assert sorted(path.name for path in store.parent.iterdir() if path.suffix == ".db") == [
        "small.db"
    ]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_a_shell_is_told_how_to_complete(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert COMPLETE in capsys.readouterr().out


def test_flags_that_take_no_value_default_to_no() -> None:
    assert not [
        (verb, one.name)
        for verb, one in options()
        if one.type is Type.FLAG and one.default is not False
    ]
