"""Help topics: Markdown files, in this folder or in the folder of an audit, which so brings the pages of its papers.

The name of the file is the topic, its first heading the title. The audits of other packages bring pages the same way.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files
from importlib.resources.abc import Traversable

from workbench import registry
from workbench.errors import UnknownName

ENDING = ".md"


@dataclass(frozen=True, slots=True)
class Topic:
    """A page of help."""

    name: str
    title: str
    text: str
    "Markdown"


def topics() -> tuple[Topic, ...]:
    """Return every page by its name: those of this folder first, then those of the audits."""
    found: dict[str, Topic] = {}
    for file in _pages():
        topic = _topic(file)
        found.setdefault(topic.name, topic)
    return tuple(found.values())


def topic(name: str) -> Topic:
    """Return the page on a topic. Raises UnknownName."""
    known = {one.name: one for one in topics()}
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f". There is: {', '.join(known)}"
        raise UnknownName(f"no help topic is named {name!r}{hint}")
    return known[name]


def _pages() -> Iterator[Traversable]:
    packages = dict.fromkeys((__name__, *(type(audit).__module__ for audit in registry.every_audit())))
    for package in packages:
        if hasattr(sys.modules.get(package), "__path__"):
            yield from sorted((one for one in files(package).iterdir() if one.name.endswith(ENDING)), key=_name)


def _name(file: Traversable) -> str:
    return file.name


def _topic(file: Traversable) -> Topic:
    text = file.read_text(encoding="utf-8")
    heading = next((line for line in text.splitlines() if line.startswith("# ")), f"# {file.name}")
    return Topic(file.name.removesuffix(ENDING), heading.removeprefix("# "), text)
