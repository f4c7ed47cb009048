"""The pages of help: they are found and printed, and every command on them is one that there is."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from tests.added import brevity
from tests.cli.test_commands import run
from tests.tui import bias_stores
from workbench import registry
from workbench.cli.main import workbench
from workbench.cli.parser import Command
from workbench.help import Topic, topics

PAGES = {one.name: one for one in topics()}
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(workbench [a-z][^`]*)`")
NUMBERS = {"N": "3", "X": "0.5"}
"words that stand for a number; other capitals are names, and any name will do"


def commands(page: Topic) -> Iterator[list[str]]:
    """Yield the words of every command of a page, after `workbench`."""
    lines = [line for block in BLOCK.findall(page.text) for line in block.replace("\\\n", " ").splitlines()]
    for line in [*lines, *INLINE.findall(page.text)]:
        words = shlex.split(line, comments=True)
        if words:
            assert words[0] == "workbench", line
            yield [NUMBERS.get(word, word) for word in words[1:]]


EVERY = [(page.name, words) for page in PAGES.values() for words in commands(page)]


@pytest.mark.parametrize(("page", "words"), EVERY, ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_every_command_on_a_page_can_be_typed(page: str, words: list[str]) -> None:
    """It names a verb and options that there are, with values that these take."""
    assert words[0] in workbench().listed, page
    command = workbench().get_command(click.Context(workbench()), words[0])
    assert isinstance(command, Command)
    command.make_context(words[0], words[1:])


def test_a_page_begins_with_its_title_and_is_no_wider_than_the_rest_of_the_text() -> None:
    assert PAGES
    for page in PAGES.values():
        assert page.text.startswith(f"# {page.title}\n")
        assert page.title
        for line in page.text.splitlines():
            assert len(line) <= 120 or line.startswith("|"), (page.name, line)


def test_help_lists_the_topics_and_prints_a_page_as_it_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "help")
    assert code == 0
    for page in PAGES.values():
        assert page.name in out
    code, out, _ = run(capsys, "help", "faulborn-2025")
    assert (code, out) == (0, PAGES["faulborn-2025"].text)


def test_help_prints_what_a_command_says_of_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "help", "bias") == run(capsys, "bias", "--help")


def test_a_topic_that_there_is_not_names_what_is_near(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "help", "faulborn-2024")
    assert (code, out) == (2, "")
    assert "did you mean 'faulborn-2025'?" in err
    code, _, err = run(capsys, "help", "x\x1b[2J")
    assert code == 2
    assert "\x1b" not in err
    assert "There is: " in err


def test_a_terminal_is_shown_the_page_without_its_marks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run(capsys, "help", "faulborn-2025")
    assert code == 0
    assert "```" not in out
    assert "workbench bias STORE --by prefix-source" in out


def test_topics_are_completed() -> None:
    found = ShellComplete(workbench(), {}, "workbench", "_").get_completions(["help"], "faul")
    assert [one.value for one in found] == ["faulborn-2025"]


def test_an_audit_of_another_package_brings_pages_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its class stands in a package; the Markdown files beside it are topics."""
    other = type("Other", (brevity.Brevity,), {"__module__": "workbench.audits.bias_score"})
    monkeypatch.setattr(registry, "every_audit", lambda: (other(),))
    assert "faulborn-2025" in [one.name for one in topics()]
    monkeypatch.setattr(registry, "every_audit", tuple)
    assert "faulborn-2025" not in [one.name for one in topics()]


# ── some of them for real ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def bias_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bias_stores.full(tmp_path_factory.mktemp("help") / "bias.db")


FIGURES = list(dict.fromkeys(tuple(words) for name, words in EVERY if name == "faulborn-2025"))
RUN = [words for words in FIGURES if words[0] in ("bias", "classifiers", "agreement") and "FOLDER" not in words]


@pytest.mark.parametrize("words", RUN, ids=" ".join)
def test_the_figures_of_faulborn_are_made_by_their_commands(
    words: tuple[str, ...], bias_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    real = {"STORE": str(bias_store), "MODEL": "gauche-7b", "test": "test-round"}
    quick = ("--draws", "50") if words[0] == "bias" else ()
    code, out, err = run(capsys, *(real.get(word, word) for word in words), *quick)
    assert (code, err) == (0, "")
    assert out
