"""Every table of every audit is on its screen, in `--json`, in files, in the report and in the
Python interface.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest

import workbench
from stores.core.store import Store
from tests.cli.test_commands import data, run
from tests.cli.test_demonstration import demo
from tests.tui.conftest import until
from workbench import registry
from workbench.audits.audit import Audit
from workbench.audits.reported import Reported, ReportRequest
from workbench.cli.main import main
from workbench.figures.book import Book, Subject
from workbench.report.reached import report_tables
from workbench.tui.app import WorkbenchApp
from workbench.tui.results.book_screen import BookScreen

pytestmark = pytest.mark.e2e

AUDITS = [audit for audit in registry.every_audit() if audit.place is not None]
MODEL = "scripted:left"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "veldania.db"
    assert main(demo(path)) == 0
    # Not demonstrated.
    halves = [
        "--audit",
        "contamination",
        "--model",
        MODEL,
        "--instrument",
        "veldania",
    ]
    assert main(["run", str(path), *halves, "--yes", "--no-probe"]) == 0
    survey = [
        "--audit",
        "representation",
        "--model",
        MODEL,
        "--instrument",
        "veldania_panel",
        "--samples",
        "4",
    ]
    assert main(["run", str(path), *survey, "--yes", "--no-probe"]) == 0
    return path


def reported(store: Store, audit: Audit) -> Reported:
    """Return the part of a report with most tables."""
    return max(
        audit.reported(store, ReportRequest(models=(MODEL,))),
        key=lambda part: len(part.book.contents),
        default=None,
    ) or next(audit.reported(store, ReportRequest()))


def command(audit: Audit, part: Reported) -> list[str]:
    """Return the words of a command line that mean the answers of a part."""
    verb, *rest = audit.command.replace("STORE", "").split()
    run_ = next(iter(part.runs.values()))
    model = ["--model", run_.model] if len(part.runs) == 1 else []
    return [verb, *rest, *model, "--instrument", part.instrument.name]


def names(part: Reported) -> set[str]:
    """Return the names of all tables that a program gets without asking for one."""
    return {table.name for table in part.book.every()}


@pytest.mark.parametrize("audit", AUDITS, ids=lambda audit: audit.name)
def test_no_table_is_missing_from_the_shell_and_from_python(
    made: Path, tmp_path: Path, audit: Audit, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(made) as store:
        part = reported(store, audit)
        wanted = names(part)
        assert len(wanted) > 2
        assert set(part.book.header) <= set(part.book.told), "a shell shows it too"
    verb, *rest = command(audit, part)
    document = data(capsys, verb, made, *rest)
    assert {table["name"] for table in document["tables"]} == wanted

    assert run(capsys, verb, made, *rest, "--csv", tmp_path / "csv")[0] == 0
    stems = [path.stem for path in (tmp_path / "csv").glob("*.csv")]
    assert not {name for name in wanted if not _among(name, stems)}

    options = dict(zip((word.removeprefix("--") for word in rest[1::2]), rest[2::2], strict=True))
    with workbench.open(made) as opened:
        assert {
            table.figure.name for table in opened.results(audit.name, **options).tables.values()
        } == wanted


@pytest.mark.parametrize("audit", AUDITS, ids=lambda one: one.name)
def test_what_rows_lead_to_can_be_named_in_the_shell_and_in_python(
    made: Path, audit: Audit, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(made) as store:
        part = reported(store, audit)
        links = behind(part.book)
    assert links
    verb, *rest = command(audit, part)
    words = [word for name, subject in links.items() for word in (name, *subject)]
    document = data(capsys, verb, made, *rest, "--table", *words)
    assert {table["name"] for table in document["tables"]} == set(links)
    options = dict(zip((word.removeprefix("--") for word in rest[1::2]), rest[2::2], strict=True))
    with workbench.open(made) as opened:
        tables = opened.results(audit.name, table=words, **options).tables
        assert {table.figure.name for table in tables.values()} == set(links)


def behind(book: Book) -> dict[str, Subject]:
    """Return the tables that the first rows of others lead to, each with one subject."""
    found: dict[str, Subject] = {}
    waiting = [table for table in book.every() if table.link is not None]
    while waiting:
        table = waiting.pop()
        for row in table.rows[:3]:
            link = table.link(row) if table.link is not None else None
            if link is not None and link.table in book.behind and link.table not in found:
                found[link.table] = link.subject
                below = book.follow(link)
                assert below is not None
                waiting.append(below)
    return found


def test_no_table_is_missing_from_exported_figures(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "export", made, tmp_path / "rows", "--what", "figures")[0] == 0
    with (tmp_path / "rows" / "figures.csv").open(encoding="utf-8", newline="") as file:
        held = {(row["audit"], row["table"]) for row in csv.DictReader(file)}
    with Store.open(made) as store:
        wanted = {
            (audit.name, table.name)
            for audit in AUDITS
            for table in reported(store, audit).book.every()
            if table.rows  # a table without rows has no values
        }
    assert not wanted - held


def test_no_table_is_missing_from_the_report_with_every_file(made: Path) -> None:
    with Store.open(made) as store:
        for audit in AUDITS:
            part = reported(store, audit)
            missing = names(part) - {table.name for table in report_tables(part, (), None).made}
            assert not missing, f"{audit.name}: {missing}"


@pytest.mark.parametrize("audit", AUDITS, ids=lambda audit: audit.name)
async def test_no_table_is_missing_from_the_screen(made: Path, audit: Audit) -> None:
    assert audit.place is not None
    with Store.open(made) as store:
        wanted = {
            entry.name for entry in reported(store, audit).book.contents if not entry.on_request
        }
    app = WorkbenchApp(made, start=audit.place.mode)
    async with app.run_test(size=(140, 40)) as pilot:
        await until(
            pilot, lambda: isinstance(app.screen, BookScreen) and app.screen._book is not None
        )
        assert isinstance(app.screen, BookScreen)
        assert app.screen._book is not None
        missing = wanted - {entry.name for entry in app.screen._book.contents}
        assert not missing


def _among(name: str, stems: Sequence[str]) -> bool:
    """Return whether a file holds a table: its stem is the name, and where there are several, their
    subject.
    """
    return any(stem == name or stem.startswith(f"{name}-") for stem in stems)
