"""Nothing outside an audit's folder names it: the command line, forms, jobs and screens ask the
registry.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import workbench
from workbench import registry

ROOT = Path(workbench.__file__).parent
MAY_NAME = (
    "audits/",
    "formats/",
    "help/",
    "data.py",
    "registry.py",
    "entry_points.py",
    "api/typed.py",
)
"""folders and modules below `workbench` whose matter is a single audit, the registry, and what is
generated of it"""
FILES = [
    path
    for folder in (ROOT, ROOT.parent / "stores")
    for path in sorted(folder.rglob("*.py"))
    if not path.relative_to(folder).as_posix().startswith(MAY_NAME)
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT.parent).as_posix())
def test_no_string_is_the_name_of_an_audit(path: Path) -> None:
    """Verbs and modes of the terminal that are called as an audit is come from the audit itself."""
    found = [
        f"line {line}: {name!r}"
        for line, name in strings(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not [one for one in found if one.partition(": ")[2].strip("'") in registry.SHIPPED]


def strings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield (line, text) of every string that is no docstring; of SQL, prose and columns none is a
    single name.
    """
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in documented
        ):
            yield node.lineno, node.value
