"""What costs time to import stays off the paths that people wait on, proved in a fresh interpreter;
and no circles.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

from tests.conftest import instrument, new_store
from workbench.domain.designs import Design
from workbench.inference.scripted.model import ScriptedModel
from workbench.pipeline import asking, planning

HEAVY = (
    "torch",
    "transformers",
    "scipy",
    "sentence_transformers",
    "openai",
    "pandas",
    "sklearn",
    "matplotlib",
    "plotext",
)


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("module", "also"),
    [
        ("workbench", ("numpy", "textual", "sqlite_utils")),
        ("workbench.cli.main", ("numpy", "textual", "sqlite_utils")),
        ("workbench.tui.app", ("numpy", "sqlite_utils")),
        ("workbench.audits.reliability.judge", ("sqlite_utils", "textual")),
        ("workbench.readers.label_words", ("numpy", "sqlite_utils", "textual")),
        ("workbench.jobs.launch", ("textual",)),
        ("workbench.jobs.worker", ("textual",)),
    ],
)
def test_a_module_brings_nothing_heavy(module: str, also: tuple[str, ...]) -> None:
    code = f"import {module}, sys; print([n for n in {[*HEAVY, *also]} if n in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


@pytest.mark.e2e
def test_the_store_leaves_pandas_to_those_who_want_it() -> None:
    """sqlite-utils imports it wherever it is installed; the development extra brings it."""
    pytest.importorskip("pandas")
    code = (
        "import stores.core.store, sys; assert 'pandas' not in sys.modules; import pandas; "
        "print(pandas.NA)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "<NA>"


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with answers for the two audits that every store begins with."""
    path = tmp_path_factory.mktemp("asked") / "audit.db"
    with new_store(path) as store:
        store.instruments.add(instrument())
        model = ScriptedModel()
        plan = planning.plan(store, Design("small", "scripted", samples=10), card=model.card)
        job = store.jobs.create("sample", plan.design.as_json(), plan.samples)
        attempt = store.jobs.claim(job, "test")
        asking.collect(store, plan, model, attempt=attempt)
        store.jobs.finish(job, attempt, "done")
    return path


@pytest.mark.e2e
@pytest.mark.parametrize(
    "command",
    [
        ["show", "STORE", "reliability"],
        ["show", "STORE", "consistency"],
        [
            "statements",
            "STORE",
            "--instrument",
            "small",
            "--refs",
            "a-1",
            "--tag",
            "new",
            "--person",
            "ann",
        ],
        [
            "statements",
            "STORE",
            "--refs",
            "a-2",
            "--replace",
            "become law",
            "be law",
            "--person",
            "ann",
        ],
    ],
    ids=" ".join,
)
def test_figures_and_edits_load_nothing_that_asks_models(asked: Path, command: list[str]) -> None:
    code = (
        "import sys; from workbench.cli.main import main; code = main(sys.argv[1:]); "
        "loaded = [n for n in sys.modules if n.startswith('workbench.inference')]; "
        "sys.exit(f'{code}, {loaded}')"
    )
    line = [str(asked) if word == "STORE" else word for word in command]
    found = subprocess.run([sys.executable, "-c", code, *line], capture_output=True, text=True)
    assert found.stderr.strip().splitlines()[-1] == "0, []"


# ── circles ───────────────────────────────────────────────────────────────────────────────────────

ROOT = Path(__file__).parent.parent


def modules() -> dict[str, Path]:
    files = [file for package in ("workbench", "stores") for file in (ROOT / package).rglob("*.py")]
    return {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file
        for file in files
    }


def imported(file: Path, known: Collection[str]) -> set[str]:
    """Return the modules that a file imports anywhere, but for types alone where a comment says
    why, on the line or above it.
    """
    source = file.read_text(encoding="utf-8")
    lines, found = source.splitlines(), set[str]()

    def explained(node: ast.stmt) -> bool:
        on, above = lines[node.lineno - 1], lines[node.lineno - 2]
        return "#" in on or above.lstrip().startswith("#")

    def visit(node: ast.AST, types: bool) -> None:
        types = types or (
            isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        )
        is_import = isinstance(node, ast.Import | ast.ImportFrom)
        if is_import and not (types and explained(node)):
            of = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            names = {f"{of}{alias.name}" for alias in node.names}
            found.update(name if name in known else name.rpartition(".")[0] for name in names)
        for child in ast.iter_child_nodes(node):
            visit(child, types)

    visit(ast.parse(source), types=False)
    return found & set(known)


def circles(graph: Mapping[str, set[str]]) -> list[set[str]]:
    """Return the sets of modules that all reach each other."""
    reached = {module: set(following) for module, following in graph.items()}
    while ends := {module for module, of in reached.items() if not of} | (
        reached.keys() - set().union(*reached.values())
    ):
        reached = {module: of - ends for module, of in reached.items() if module not in ends}
    while True:
        more = {module: of.union(*(reached[one] for one in of)) for module, of in reached.items()}
        if more == reached:
            break
        reached = more
    found = {
        frozenset(one for one in of if module in reached[one])
        for module, of in reached.items()
        if module in of
    }
    return [set(circle) for circle in found]


def test_a_circle_is_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"d"}, "d": {"b"}, "e": {"a"}}) == [
        {"b", "c", "d"}
    ]


@pytest.mark.e2e
def test_no_module_imports_itself_by_way_of_others() -> None:
    """Deferred imports count; those for types alone may close a circle where a comment says why."""
    known = modules()
    graph = {module: imported(file, known) - {module} for module, file in known.items()}
    found = circles(graph)
    assert found == []


def test_no_folder_holds_more_modules_than_one_can_overlook() -> None:
    folders = Counter(
        file.parent.relative_to(ROOT).as_posix()
        for file in modules().values()
        if file.name[0] != "_"
    )
    assert {folder: n for folder, n in folders.items() if n > 40} == {}


FACADE = {"Plan", "Result", "Run", "Store", "Table"}
"classes of the Python interface, each of which shows one of the house"
WIDGETS = {"Grid", "Picture", "Plane", "SheetView"}
"widgets, whose names are those of style sheets"


def test_no_two_classes_share_a_name() -> None:
    names = Counter(
        node.name
        for folder in ("workbench", "stores")
        for file in (ROOT / folder).rglob("*.py")
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    )
    assert {name for name, n in names.items() if n > 1} == FACADE | WIDGETS


def test_only_views_of_the_terminal_import_the_folder_of_an_audit() -> None:
    """Types and deferred imports count, too: whatever else shows an audit's figures takes a
    `Result`.
    """
    known = {
        name: file for name, file in modules().items() if not name.startswith("workbench.audits.")
    }
    folders = {file.parent.name for file in (ROOT / "workbench/audits").glob("*/help.md")}
    arrows = {
        (name, node.module.split(".")[2])
        for name, file in known.items()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("workbench.audits.")
        if node.module is not None and node.module.split(".")[2] in folders
    }
    assert [one for one in arrows if not one[0].startswith("workbench.tui.")] == []
    assert len(arrows) <= 8
