"""A fifth audit comes from another package, found by its entry point alone: asked, judged and shown
everywhere.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.conftest import instrument
from workbench import registry

ROOT = Path(__file__).parents[2]
ENTRY_POINTS = """[workbench.audits]
brevity = brevity:AUDIT
[workbench.readers]
contrary = extras:contrary
[workbench.formats]
lines = extras:lines
[workbench.lexicons]
xx = extras:LEXICON
"""
METADATA = "Metadata-Version: 2.1\nName: brevity\nVersion: 1.0\n"
AS_A_PERSON = """
import asyncio, sys
from pathlib import Path
from textual.widgets import Select, Static
from workbench.tui.app import WorkbenchApp
from tests.tui.conftest import screen_text, shown, until

async def look(path):
    app = WorkbenchApp(Path(path), start="jobs")
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "prompts planned" in shown(app, "#plan"))
        app.screen.query_one("#audit", Select).value = "brevity"
        await until(pilot, lambda: "brevity audit of" in shown(app, "#plan"))
        await pilot.press("escape")
        await until(pilot, lambda: not app.screen.is_modal)
        await pilot.press("h")
        await until(pilot, lambda: "words an answer" in screen_text(app))
        await pilot.press("0")
        await until(pilot, lambda: "Words by model" in screen_text(app) or "scripted" in screen_text(app))
        print(screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: "Words by statement" in screen_text(app))
        print(screen_text(app))

asyncio.run(look(sys.argv[1]))
"""


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a machine on which another package is installed beside workbench."""
    site = tmp_path_factory.mktemp("site")
    for name in ("brevity", "extras"):
        shutil.copy(ROOT / "tests" / "added" / f"{name}.py", site / f"{name}.py")
    english = (ROOT / "data" / "lexicons" / "en.toml").read_text(encoding="utf-8")
    (site / "xx.toml").write_text(
        english.replace('language = "en"', 'language = "xx"'), encoding="utf-8"
    )
    about = site / "brevity-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(METADATA, encoding="utf-8")
    (about / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    return os.environ | {"PYTHONPATH": f"{site}{os.pathsep}{ROOT}"}


@pytest.fixture(scope="module")
def asked(beside: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which a model answered the prompts of the added audit."""
    path = tmp_path_factory.mktemp("store") / "added.db"
    with Store.open(path, create=True) as store:
        store.instruments.add(instrument(name="small"))
    said = workbench(beside, "run", path, "--audit", "brevity", "--model", "scripted", "--yes")
    assert "brevity audit of scripted on small" in said
    return path


def workbench(environment: dict[str, str], *arguments: object) -> str:
    """Return what a command prints; it must end well."""
    found = subprocess.run(
        [sys.executable, "-m", "workbench", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
        timeout=120,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


@pytest.mark.e2e
def test_it_is_printed_and_written_in_every_form(
    asked: Path, beside: dict[str, str], tmp_path: Path
) -> None:
    verdicts = ("show", asked, "brevity")
    assert "Words by model" in workbench(beside, *verdicts)
    document = json.loads(workbench(beside, *verdicts, "--json"))
    assert [table["name"] for table in document["tables"]] == ["models", "statements"]
    assert document["options"] == {"shortest": 0, "same_within": None}
    longer = json.loads(workbench(beside, *verdicts, "--json", "--shortest", "10000"))
    assert longer["tables"][0]["rows"][0]["words"]["n"] == 0
    for form, file in (("csv", "models.csv"), ("latex", "models.tex")):
        workbench(beside, *verdicts, f"--{form}", tmp_path / form)
        assert (tmp_path / form / file).stat().st_size
    with (tmp_path / "csv" / "models.csv").open(encoding="utf-8") as file_:
        assert next(csv.DictReader(file_))["model"] == "scripted"
    workbench(beside, *verdicts, "--html", tmp_path / "page.html")
    assert "Words by model" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.e2e
def test_the_terminal_offers_asks_and_shows_it(asked: Path, beside: dict[str, str]) -> None:
    found = subprocess.run(
        [sys.executable, "-c", AS_A_PERSON, str(asked)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=beside,
        timeout=180,
    )
    assert found.returncode == 0, found.stderr[-3000:]
    assert "scripted" in found.stdout


@pytest.mark.e2e
def test_without_the_package_it_is_unknown_and_its_answers_stay(asked: Path) -> None:
    assert "brevity" not in registry.audits()
    found = subprocess.run(
        [sys.executable, "-m", "workbench", "show", str(asked), "brevity"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=120,
    )
    assert found.returncode == 2
    assert "brevity" in found.stderr
    assert "Traceback" not in found.stderr
    with Store.open(asked) as store:
        assert store.runs.list("brevity")


@pytest.mark.e2e
def test_a_reader_a_format_and_a_lexicon_come_from_another_package_too(
    beside: dict[str, str], tmp_path: Path
) -> None:
    texts, store = tmp_path / "town.txt", tmp_path / "town.db"
    texts.write_text("The town should build a bridge.\nTaxes should fall.\n", encoding="utf-8")
    assert "town: 2 statements" in workbench(beside, "import", store, texts, "--format", "lines")
    asked = ("--model", "scripted", "--samples", "2", "--variants", "original")
    workbench(beside, "run", store, *asked, "--yes")
    ours, contrary = (
        json.loads(workbench(beside, "show", store, "reliability", "--reader", name, "--json"))
        for name in ("label-words", "contrary")
    )
    assert contrary["reader"]["name"] == "contrary"
    assert ours["reader"]["name"] == "label-words"
    code = "from workbench.data import lexicon; print(lexicon('xx').language)"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=beside, check=True
    )
    assert found.stdout.strip() == "xx"
