"""Printing for people and for programs. Text from data is printed literally: control characters are shown, not sent."""

from __future__ import annotations

import json
import math
import os
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, TextIO

from workbench.cli.verbs import Namespace, hint
from workbench.errors import UsageError
from workbench.figures.visible import visible

PIPED = 200
"columns of a table that no terminal shows"


def say(text: str = "") -> None:
    """Print a line with control characters other than the newline made visible. Piped, it comes as it happens."""
    print(visible(hint(text), lines=True), flush=True)


def print_json(value: Any) -> None:
    """Print one JSON document. Undefined numbers are null."""
    json.dump(plain(value), sys.stdout, ensure_ascii=True, indent=2, allow_nan=False)
    print()


def tell(options: Namespace, sentence: str, data: Any) -> int:
    """Print what was done: a sentence for a person, data for a program."""
    if options.json:
        print_json(data)
    else:
        say(sentence)
    return 0


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """Open a new file for writing, which is there whole or not at all. Raises UsageError."""
    if path.exists():
        raise UsageError(f"{path} exists already; choose another name")
    made = path.with_name(path.name + ".part")
    try:
        with made.open("w", encoding="utf-8", newline="") as file:
            yield file
        made.rename(path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from error
    finally:
        with suppress(OSError):
            made.unlink()


def plain(value: Any) -> Any:
    """Return `value` as plain JSON types."""
    if is_dataclass(value) and not isinstance(value, type):
        return {key: plain(item) for key, item in asdict(value).items()}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if hasattr(value, "item") and callable(value.item):  # numpy scalars
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def room() -> int:
    """Return the columns that there are for a table: the terminal's, or as many as COLUMNS says; piped, enough."""
    from rich.console import Console

    return Console().width if has_width() else PIPED


def has_width() -> bool:
    """Return whether somebody said how wide lines may be: a terminal, or COLUMNS."""
    return sys.stdout.isatty() or bool(os.environ.get("COLUMNS"))


def say_wrapped(text: str) -> None:
    """Print lines of text in lines as wide as the terminal; piped, they stay as they are. A word that is longer than
    that, as the path of a store may be, stays whole, so that a command can be copied.
    """
    if not has_width():
        say(text)
        return
    width = max(40, room())
    for sentence in hint(text).splitlines():
        hang = "  " if sentence.startswith("- ") else ""
        for line in textwrap.wrap(
            sentence, width, subsequent_indent=hang, break_on_hyphens=False, break_long_words=False
        ):
            say(line)


def table(headers: Sequence[str], rows: Iterable[Sequence[str]], *, whole: int = 0) -> None:
    """Print a table as wide as the terminal; piped, it keeps all of its columns' text. `whole`: so many of the first
    columns keep their words in one piece where the terminal is narrow.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, width=room())
    grid = Table(box=None, pad_edge=False, header_style="bold")
    for place, header in enumerate(headers):
        grid.add_column(Text(visible(header, lines=True)), no_wrap=place < whole)
    for row in rows:
        grid.add_row(*[Text(visible(cell, lines=True)) for cell in row])
    console.print(grid)
