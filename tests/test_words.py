"""One word for one thing: words that the glossary retires are in no text that people read.

The texts are the strings of the syntax trees (docstrings too where a phrase has no other meaning)
and the help pages.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import workbench

ROOT = Path(workbench.__file__).parents[1]
PHRASES = {
    r"errors? of typing": "typos",
    r"\bsitting\b": "session",
    r"drafts that wait": "pending drafts",
    r"[Ll]eave without it": "Discard what you typed?",
    r"\bThere is: ": "Available: ",
    r"is another job": "start a new job",
    r"[Ww]hat is left empty": "Empty fields",
    r"\b(near|twins) from\b": "nearly identical from, duplicates from",
    r"of no publication": "our own",
    r"speaks? of the task": "talks about the task",
    r"expected to leave out": "should not reach into",
    r"[Nn]obody has read them": "have no labels yet",
    r"nothing is expected": "no expected stance",
    r"Authors stay": "Authorship does not change",
    r"what compares it is not tested": "so the … test cannot run",
    r"[Nn]o two people labelled": "no statement has labels from two people",
    r"is said by the signed": "Judge direction by the signed biases",
    r"In the part that has focus": "In the focused panel",
    r"; there is: ": "Available: ",
    r"there are answers by": "Models with answers: ",
    r"\b[Aa]sks? otherwise\b": "change the settings",
    r"[Ll]eave (it )?as it was": "Cancel",
    r"takes? (the search|search and filters) away": "clears",
    r"\bis named \{": "there is no …",
    r"[Nn]othing is odd": "No findings",
    r"[Nn]othing waits": "Nothing is pending",
    r"\bone asked last": "the most recently asked",
    r"letters? on offer": "offered letter",
    r"\bsay who: ": "give your name: ",
    r"Esc leads back": "Esc goes back",
    r"[Nn]obody knows how": "unknown",
    r"were here already": "stored already",
    r"the store holds": "the store has",
    r"Rulings that stand": "Rulings in force",
    r"[Gg]o on anyway|\bR goes on": "continue",
    r"[Aa]sk again what failed": "retry what failed",
    r"play no part": "do not count",
    r"take part in both": "count in both",
    r"hints of style": "style hints",
    r"turns? the search away": "clears the search",
    r"goes up whenever": "increases whenever",
    r"there is nothing here": "not found",
    r"^The verbs (on|of)\b": "The methods on",
    r"what is left of": "the rest of, the remaining",
}
"retired phrase -> what stands for it"
SPACES = re.compile(r"\bblanks?\b(?! (?:line|wording|cell|or none))")
"in texts on screen: spaces. An answer is blank, and so are lines, cells and wordings"
PREDICATE = re.compile(r"\b(?:is|are|left|expected) blank")
GLOSSARY = "glossary.md"


@cache
def every_text() -> list[tuple[str, str, bool]]:
    """Return the strings of all modules, with where they stand."""
    found = [(path, one) for path in modules() for one in texts(path)]
    return [
        (f"{path.relative_to(ROOT)}:{line}", text, documents)
        for path, (line, text, documents) in found
    ]


def texts(path: Path) -> Iterator[tuple[int, str, bool]]:
    """Yield every string of a module with its line, and whether it documents instead of being
    printed.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    alone = {
        id(statement.value)
        for node in ast.walk(tree)
        for statement in (
            getattr(node, "body", None) if isinstance(getattr(node, "body", None), list) else ()
        )
        if isinstance(statement, ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value, id(node) in alone


def modules() -> list[Path]:
    return [
        path for folder in ("workbench", "stores") for path in sorted((ROOT / folder).rglob("*.py"))
    ]


def pages() -> list[Path]:
    return [path for path in sorted((ROOT / "workbench").rglob("*.md")) if path.name != GLOSSARY]


@pytest.mark.parametrize("phrase", PHRASES)
def test_retired_words_are_in_no_string_and_on_no_page(phrase: str) -> None:
    found = [place for place, text, _ in every_text() if re.search(phrase, text)]
    found += [
        str(path.relative_to(ROOT))
        for path in pages()
        if re.search(phrase, path.read_text(encoding="utf-8"))
    ]
    assert not found, f"write {PHRASES[phrase]!r}"


def test_a_space_is_called_a_space() -> None:
    found = [
        f"{place}: {text[:60]!r}"
        for place, text, documents in every_text()
        if not documents
        and " " in text.strip()
        and SPACES.search(text)
        and not PREDICATE.search(text)
    ]
    assert not found, "write 'space'"


def test_the_check_sees_a_retired_word(tmp_path: Path) -> None:
    path = tmp_path / "one.py"
    path.write_text('"""A sitting."""\nX = f"{1} errors of typing"\n', encoding="utf-8")
    found = {(text, documents) for _, text, documents in texts(path)}
    assert ("A sitting.", True) in found
    assert (" errors of typing", False) in found
    assert SPACES.search("no blank after")
    assert not SPACES.search("with a blank line")
