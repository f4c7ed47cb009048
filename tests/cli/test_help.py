"""The pages of help: they are found and printed, and every command on them is one that there is."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from stores.core.store import Store
from tests.cli.test_commands import run
from tests.cli.test_questionnaire_results import ALL_WORDINGS
from tests.conftest import new_store, published
from tests.questionnaire_stores import card, panel, predict
from tests.tui import bias_stores
from tests.tui.audit_runs import audited, small
from tests.tui.test_one_seed import wavering
from workbench import entry_points, registry
from workbench.cli.main import main, workbench
from workbench.cli.parser import VerbCommand
from workbench.domain.instruments import SurveyAnswer
from workbench.domain.statements import NEGATION, ORIGINAL
from workbench.formats.native import statement_columns
from workbench.help import Topic, topics
from workbench.tui.home.importing import EXPLAIN

PAGES = {one.name: one for one in topics()}
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED_TEXT = re.compile(r"^```text\n.*?^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(workbench [a-z][^`]*)`")
NUMBERS = {"N": "3", "X": "0.5"}
"words that stand for a number; other capitals are names, and any name will do"


def commands(page: Topic) -> Iterator[list[str]]:
    """Yield the words of every command of a page, after `workbench`."""
    lines = [
        line
        for block in BLOCK.findall(page.text)
        for line in block.replace("\\\n", " ").splitlines()
    ]
    for line in [*lines, *INLINE.findall(PRINTED_TEXT.sub("", page.text))]:
        words = shlex.split(line, comments=True)
        if words:
            assert words[0] == "workbench", line
            yield [NUMBERS.get(word, word) for word in words[1:]]


EVERY = [(page.name, words) for page in PAGES.values() for words in commands(page)]


@pytest.mark.parametrize(
    ("page", "words"), EVERY, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_every_command_on_a_page_can_be_typed(page: str, words: list[str]) -> None:
    """It names a verb and options that there are, with values that these take."""
    assert words[0] in workbench().listed, page
    command = workbench().narrowed(click.Context(workbench()), words)
    assert isinstance(command, VerbCommand)
    command.make_context(words[0], words[1:])


def test_a_page_begins_with_its_title_and_its_commands_fit_on_a_screen() -> None:
    assert PAGES
    for page in PAGES.values():
        assert page.text.startswith(f"# {page.title}\n")
        assert page.title
        for line in (line for block in BLOCK.findall(page.text) for line in block.splitlines()):
            assert len(line) <= 120, (page.name, line)


def test_pictures_of_pages_are_files_and_terminals_leave_them_out() -> None:
    for page in PAGES.values():
        for picture in re.findall(r"^!\[[^\]]+\]\(([^)]+)\)$", page.text, re.MULTILINE):
            assert (Path(__file__).parents[2] / "workbench" / "help" / picture).is_file(), page.name
        assert "![" not in page.words
    assert "![" in PAGES["report"].text


PRINTED = {
    "faulborn-2025": (12, 6),
    "ceron-2024": (10, 7),
    "ceron-2024-v1": (10, 4),
    "haller-2025": (12, 9),
    "tjuatja-2024": (15, 9),
}
"page -> tables and figures of the paper"


@pytest.mark.parametrize("name", PRINTED)
def test_a_page_of_a_paper_has_every_table_and_figure_in_a_heading(name: str) -> None:
    headings = " ".join(line for line in PAGES[name].text.splitlines() if line.startswith("## "))
    for kind, last in zip(("Table", "Figure"), PRINTED[name], strict=True):
        found: set[int] = set()
        for first, word, second in re.findall(rf"{kind}s? (\d+)(?: (and|to) (\d+))?", headings):
            end = int(second or first)
            found |= {*range(int(first), end + 1)} if word == "to" else {int(first), end}
        assert found == set(range(1, last + 1))


def test_help_lists_the_topics_and_prints_a_page_as_it_is_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = run(capsys, "help")
    assert code == 0
    for page in PAGES.values():
        assert page.name in out
    code, out, _ = run(capsys, "help", "faulborn-2025")
    assert (code, out) == (0, PAGES["faulborn-2025"].text)


def test_help_prints_what_a_command_says_of_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "help", "run") == run(capsys, "run", "--help")
    assert run(capsys, "help", "show", "bias_score") == run(
        capsys, "show", "x.db", "bias_score", "--help"
    )


def test_a_topic_that_there_is_not_names_what_is_near(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "help", "faulborn-2024")
    assert (code, out) == (2, "")
    assert "did you mean 'faulborn-2025'?" in err
    code, _, err = run(capsys, "help", "x\x1b[2J")
    assert code == 2
    assert "\x1b" not in err
    assert "Available: " in err


def test_a_terminal_is_shown_the_page_without_its_marks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run(capsys, "help", "faulborn-2025")
    assert code == 0
    assert "```" not in out
    assert "workbench show STORE bias_score --table prefix_sources" in out


def test_topics_are_completed() -> None:
    found = ShellComplete(workbench(), {}, "workbench", "_").get_completions(["help"], "faul")
    assert [one.value for one in found] == ["faulborn-2025"]


def test_an_audit_of_another_package_brings_pages_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The module that brings it is a package; the Markdown files beside it are topics."""
    monkeypatch.setattr(
        entry_points, "audit_modules", lambda: {"workbench.audits.bias_score": "other"}
    )
    assert "faulborn-2025" in [one.name for one in topics()]
    monkeypatch.setattr(entry_points, "audit_modules", dict)
    assert "faulborn-2025" not in [one.name for one in topics()]


def test_the_command_line_reference_is_what_the_commands_say() -> None:
    """`cog -r workbench/help/reference.md` writes it anew."""
    from workbench.cli.helping import reference

    text = PAGES["reference"].text
    assert reference().strip() in text, "out of date: .venv/bin/cog -r workbench/help/reference.md"
    headings = re.findall(r"^## (.+)\n\n```text$", text, re.MULTILINE)
    audits = [f"show STORE {audit}" for audit in registry.SHIPPED]
    assert sorted(headings) == sorted(["Shared options", *workbench().listed, *audits])


def test_every_option_of_a_command_is_in_its_section_of_the_reference() -> None:
    """An option that a section only names is explained among the shared options."""
    sections = dict(
        part.split("\n", maxsplit=1)
        for part in re.split(r"^## ", PAGES["reference"].text, flags=re.MULTILINE)[1:]
    )
    context = click.Context(workbench())
    explained = set(re.findall(r"^(--[\w-]+)", sections["Shared options"], re.MULTILINE))
    for name in workbench().listed:
        command = workbench().narrowed(context, [name])
        assert command is not None
        own, _, named = sections[name].partition("\nShared options:\n")
        flags = {option.flag for option in command.verb.options if not option.positional}
        shared = set(re.findall(r"--[\w-]+", named.partition("\n\n")[0]))
        assert flags <= set(re.findall(r"^  (--[\w-]+)", own, re.MULTILINE)) | shared, name
        assert shared <= explained, name


# ── some of them for real ─────────────────────────────────────────────────────────────────────────

READS = (
    "agreement",
    "classifiers",
    "issues",
    "people",
    "pilot",
    "questionnaire",
    "show",
    "statements",
)
"verbs that only print, with the options that the pages give them"
LACKING = {
    "--published-file": "prefixes.csv: cannot be read",
    "--compare A B": "there is no run or model 'A'",
}
"options that a small store has no answers for, and what the error then names"


def of(page: str) -> list[tuple[str, ...]]:
    """Return the commands of a page that print something of a store, each once; files, changes and
    what no model was asked are left out.
    """
    found = dict.fromkeys(tuple(words) for name, words in EVERY if name == page)
    acts = {"FOLDER", "--dry-run", "--describe", "--yes", "--label", "statement_labels"}
    return [
        words
        for words in found
        if words[0] in READS
        and not acts.intersection(words)
        and (words[0] != "pilot" or "--rank" in words)
    ]


def prints(
    capsys: pytest.CaptureFixture[str], words: Sequence[str], real: dict[str, str], *more: str
) -> None:
    """Run a command of a page on a store; what the store lacks is said, and nothing fails in
    another way.
    """
    code, out, err = run(capsys, *(real.get(word, word) for word in words), *more)
    lacks = [said for option, said in LACKING.items() if option in " ".join(words)]
    assert (code, err) == (0, "") or (code == 2 and any(said in err for said in lacks)), err
    assert out or code


@pytest.fixture(scope="module")
def bias_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bias_stores.full(tmp_path_factory.mktemp("help") / "bias.db")


@pytest.mark.parametrize("words", of("faulborn-2025"), ids=" ".join)
def test_the_figures_of_faulborn_are_made_by_their_commands(
    words: tuple[str, ...], bias_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    real = {"STORE": str(bias_store), "MODEL": "gauche-7b", "test": "test-round", "TEXT": "PCT"}
    prints(capsys, words, real, *(("--draws", "50") if "bias_score" in words else ()))


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four statements that a model answered, and two people."""
    survey = [
        SurveyAnswer(who, "soc-07", v, agrees=v is ORIGINAL)
        for who in ("ana", "bo")
        for v in (ORIGINAL, NEGATION)
    ]
    path = tmp_path_factory.mktemp("help") / "reliability.db"
    return audited(path, wavering, base=replace(small(), survey=tuple(survey)))


@pytest.mark.parametrize(
    "words", dict.fromkeys([*of("ceron-2024"), *of("ceron-2024-v1")]), ids=" ".join
)
def test_the_figures_of_ceron_are_made_by_their_commands(
    words: tuple[str, ...], answered: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(answered) as store:
        (model,) = {one.model for one in store.runs.list("reliability")}
    prints(capsys, words, {"STORE": str(answered), "MODEL": model, "TEXT": "energy"})


@pytest.fixture(scope="module")
def panel_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("help") / "panel.db"
    with new_store(path) as store:
        store.instruments.add(panel())
        conditions = ("qm", "zero-shot", "random", "permuted-kept-1", "reduced-50-kept")
        for name, yes in (("base", 0.6), ("tuned", 0.3)):
            predict(
                store,
                lambda _, yes=yes: (yes, 0.8 - yes),
                card(name),
                conditions=conditions,
                variants=ALL_WORDINGS,
            )  # type: ignore[misc]
    return path


@pytest.mark.parametrize("words", of("haller-2025"), ids=" ".join)
def test_the_figures_of_haller_are_made_by_their_commands(
    words: tuple[str, ...], panel_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if "--question" in words:
        pytest.skip("changes a question")
    real = {"STORE": str(panel_store), "MODEL": "base", "OTHER": "tuned"}
    prints(capsys, words, real, *(("--draws", "100") if words[0] == "show" else ()))


@pytest.mark.e2e
@pytest.mark.parametrize("words", of("tjuatja-2024"), ids=" ".join)
def test_the_figures_of_tjuatja_are_made_by_their_commands(
    words: tuple[str, ...], published_answers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prints(capsys, words, {"STORE": str(published_answers)})


@pytest.fixture(scope="module")
def published_answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The published answers of two models, as the page says to import them."""
    path = tmp_path_factory.mktemp("help") / "published.db"
    folder = published("biasmonkey", "README.md").parent
    assert main(["init", str(path)]) == 0
    assert main(["import", str(path), "--format", "biasmonkey", str(folder)]) == 0
    return path


def test_columns_of_statements_are_told_by_page_command_and_f1(
    capsys: pytest.CaptureFixture[str],
) -> None:
    columns = statement_columns()
    told = run(capsys, "import", "--help")[1]
    assert columns in PAGES["workshop"].text
    assert columns in EXPLAIN
    assert all(line.strip() in told for line in columns.splitlines())
