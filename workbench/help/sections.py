"""Sections of help pages as plain text, which `?` and F1 show in the terminal.

A section that a screen shows has paragraphs and lists of terms, `- **term**: what it is`, and
nothing else.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from workbench.help.pages import ENDING

WIDTH, LEAST_COLUMN, MOST_COLUMN = 73, 13, 17
"columns of a text, and of the terms beside it"
TERM = re.compile(r"- \*\*(.+?)\*\*: ?(.*)", re.DOTALL)


@cache
def section(page: str, heading: str, package: str | None = __package__) -> str:
    """Return a section of a page as plain text.

    Raises LookupError if the page has no section of that heading.
    """
    return as_text(_body(page, heading, package))


@cache
def points(page: str, heading: str, package: str | None = __package__) -> tuple[str, ...]:
    """Return the items of a section's list, each as a paragraph of plain text.

    Raises LookupError as `section` does.
    """
    items = re.split(r"^- ", _body(page, heading, package).strip(), flags=re.MULTILINE)[1:]
    return tuple(" ".join(re.sub(r"[`*]", "", item).split()) for item in items)


def _body(page: str, heading: str, package: str | None) -> str:
    text = (files(package or "") / f"{page}{ENDING}").read_text(encoding="utf-8")
    for section_text in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, _, body = section_text.partition("\n")
        if title.strip() == heading:
            return body
    raise LookupError(f"{package}: {page}{ENDING} has no section {heading!r}")


def as_text(markdown: str) -> str:
    """Return paragraphs and lists of terms as plain text.

    A paragraph is one line, and terms stand in a column.

    >>> print(as_text("Two *words*,\\none line.\\n\\n- **a**: first\\n- **bb**: second"))
    Two *words*, one line.
    <BLANKLINE>
    a            first
    bb           second
    """
    return "\n\n".join(
        _terms(block) if block.startswith("- ") else " ".join(block.split())
        for block in _blocks(markdown)
    )


def _blocks(markdown: str) -> Iterator[str]:
    yield from (block.strip("\n") for block in re.split(r"\n\s*\n", markdown.strip()))


def _terms(block: str) -> str:
    """Return a list of terms, with the texts in a column of their own."""
    terms = [
        match.groups() for item in re.split(r"\n(?=- )", block) if (match := TERM.fullmatch(item))
    ]
    widths = [len(term) + 2 for term, _ in terms if len(term) + 2 <= MOST_COLUMN]
    column = max(LEAST_COLUMN, *widths) if widths else LEAST_COLUMN
    return "\n".join(_filled(term, " ".join(text.split()), column) for term, text in terms)


def _filled(term: str, text: str, column: int) -> str:
    label = f"{term}  ".ljust(column)
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=label,
        subsequent_indent=" " * column,
        break_long_words=False,
        break_on_hyphens=False,
    )
