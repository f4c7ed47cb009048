"""Hints in messages, with the current store in their commands. Users can copy them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

HINT = re.compile(r"\b(workbench(?: [a-z-]+)?) STORE\b")
"a command in a message with the placeholder STORE"


def hinted(text: str, store: Path) -> str:
    """Return a message with a store in its commands.

    Examples
    --------
    >>> hinted("Ask a model first: workbench run STORE --model NAME", Path("my study.db"))
    "Ask a model first: workbench run 'my study.db' --model NAME"
    """
    return HINT.sub(lambda match: f"{match[1]} {shlex.quote(str(store))}", text)
