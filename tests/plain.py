"""Measure how plainly the program is written, as `python -m tests.plain [FOLDER]...` prints.

The measures are a thermometer, not a gate: a number that rises asks for a look, and no number is a
target. CONTRIBUTING.md says how code and texts should read.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("workbench", "stores")
MAX_COLUMNS = 100
MAX_COMPLEXITY = 10

VAGUE_WORDS = """
    about alike asked at before behind beside by chosen counted drawn each every few first found
    given held here how judged kept known left listed made meant more most named now of offered
    on one others own part place plain put rest said same settled several shown some standing
    told typed usual wanted what where which who why words written
"""
VAGUE_NAMES = frozenset(VAGUE_WORDS.split())
"names that do not say what they hold; a few are right in a formula"
CLAUSE_WORDS = {"what", "how", "who", "where", "which", "that", "whatever", "whom", "whose"}
"a docstring that goes on with one of them describes its object instead of naming it"

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
BRANCHES = (
    ast.If,
    ast.IfExp,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.match_case,
    ast.comprehension,
)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SHAPES = {
    "comprehensions": COMPREHENSIONS,
    "conditional expressions": ast.IfExp,
    "lambdas": ast.Lambda,
    "walrus": ast.NamedExpr,
}


@dataclass
class Measures:
    """The counts of some modules."""

    counts: Counter[str] = field(default_factory=Counter)

    def add_module(self, source: str) -> None:
        """Count a module."""
        self._add_lines(source)
        for node in ast.walk(ast.parse(source)):
            self._add_node(node)

    def _add_lines(self, source: str) -> None:
        lines = source.splitlines()
        self.counts["lines"] += len(lines)
        self.counts["long lines"] += sum(len(line) > MAX_COLUMNS for line in lines)
        code_lines: set[int] = set()
        for token in code_tokens(source):
            if token.type == tokenize.COMMENT:
                self.counts["comments"] += not is_directive(token.string)
                continue
            self.counts["tokens"] += 1
            code_lines.update(range(token.start[0], token.end[0] + 1))
        self.counts["code lines"] += len(code_lines)

    def _add_node(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt):
            self.counts["statements"] += 1
        for shape, kinds in SHAPES.items():
            self.counts[shape] += isinstance(node, kinds)
        if isinstance(node, COMPREHENSIONS):
            self.counts["nested comprehensions"] += is_nested(node)
        if isinstance(node, FUNCTIONS):
            self.counts["functions"] += 1
            self.counts["complex functions"] += complexity(node) > MAX_COMPLEXITY
        self._add_names(node)
        if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)):
            self._add_docstring(ast.get_docstring(node) or "")

    def _add_names(self, node: ast.AST) -> None:
        for name in names_bound_by(node):
            self.counts["names"] += 1
            self.counts["vague names"] += name.strip("_").lower() in VAGUE_NAMES

    def _add_docstring(self, docstring: str) -> None:
        summary = docstring.partition("\n\n")[0]
        if not summary:
            return
        self.counts["docstrings"] += 1
        self.counts["docstrings with a semicolon"] += ";" in summary
        self.counts["docstrings with a clause"] += names_by_clause(summary)

    def rows(self) -> Iterator[tuple[str, float]]:
        """Yield each measure with its name."""
        yield "tokens per line of code", self._ratio("tokens", "code lines", 1)
        yield f"lines longer than {MAX_COLUMNS} columns, %", self._ratio("long lines", "lines", 100)
        for shape in (
            "comprehensions",
            "nested comprehensions",
            "conditional expressions",
            "lambdas",
            "walrus",
        ):
            yield f"{shape} in 1,000 statements", self._ratio(shape, "statements", 1000)
        name = f"functions with a McCabe complexity over {MAX_COMPLEXITY}, %"
        yield name, self._ratio("complex functions", "functions", 100)
        for fault in ("docstrings with a semicolon", "docstrings with a clause"):
            yield f"{fault}, %", self._ratio(fault, "docstrings", 100)
        yield "vague names, %", self._ratio("vague names", "names", 100)
        yield "comments in 1,000 lines", self._ratio("comments", "lines", 1000)

    def _ratio(self, part: str, whole: str, scale: float) -> float:
        return scale * self.counts[part] / max(1, self.counts[whole])


def code_tokens(source: str) -> Iterator[tokenize.TokenInfo]:
    """Yield the tokens of a module's code and its comments, without docstrings."""
    starts_statement = True
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.COMMENT) or (
            token.type == tokenize.STRING and not starts_statement
        ):
            yield token
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            starts_statement = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def is_directive(comment: str) -> bool:
    """Return whether a comment is for a tool."""
    return comment.lstrip("#! ").startswith(("noqa", "type:", "fmt:", "pragma"))


def is_nested(comprehension: ast.AST) -> bool:
    """Return whether a comprehension contains another one, or loops twice."""
    inner = [node for node in ast.walk(comprehension) if isinstance(node, ast.comprehension)]
    return len(inner) > 1


def complexity(function: ast.AST) -> int:
    """Return the McCabe complexity of a function, with its comprehensions and inner functions."""
    total = 1
    for node in ast.walk(function):
        total += isinstance(node, BRANCHES)
        if isinstance(node, ast.BoolOp):
            total += len(node.values) - 1
        if isinstance(node, ast.comprehension):
            total += len(node.ifs)
    return total


def names_bound_by(node: ast.AST) -> Iterator[str]:
    """Yield the names that a function, a class, a parameter or an assignment introduces."""
    if isinstance(node, (ast.ClassDef, *FUNCTIONS)):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id


def names_by_clause(summary: str) -> bool:
    """Return whether a docstring begins with a clause where its object should be named.

    "Return whether" is right for a predicate.

    Examples
    --------
    >>> names_by_clause("Return what came of some prompts.")
    True
    >>> names_by_clause("Return the outcomes of the prompts.")
    False
    """
    return not CLAUSE_WORDS.isdisjoint(summary.lower().split()[:2])


def main(*folders: str) -> None:
    """Print the measures of the folders, by default of the program."""
    measures = Measures()
    for folder in folders or FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            measures.add_module(path.read_text(encoding="utf-8"))
    counts = measures.counts
    print(f"{counts['lines']:,} lines, {counts['tokens']:,} tokens. How plainly they are written:")
    for name, value in measures.rows():
        print(f"  {name:50}{value:8.1f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
