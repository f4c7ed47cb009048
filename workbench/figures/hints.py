"""Puts the current store into commands in messages, so that they can be copied."""

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
    return HINT.sub(lambda found: f"{found[1]} {shlex.quote(str(store))}", text)
