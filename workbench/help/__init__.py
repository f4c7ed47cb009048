"""Help topics: Markdown files in this folder, or in the folder of an audit.

So an audit brings the pages of its papers. The name of the file is the topic, and its first heading
the title. `help.md` in the folder of an audit is the topic of the audit's name. The audits of other
packages bring pages the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec

from workbench import entry_points
from workbench.errors import UnknownName
from workbench.help.pages import AUDITS_PAGE, ENDING

PICTURE = re.compile(r"^!\[.*\)\n\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Topic:
    """A page of help."""

    name: str
    title: str
    text: str
    "Markdown"

    @property
    def words(self) -> str:
        """The page without its pictures, which a terminal cannot show."""
        return PICTURE.sub("", self.text)


def topics() -> tuple[Topic, ...]:
    """Return every page: those of this folder first, then those of the audits."""
    page_by_name: dict[str, Topic] = {}
    for file, name in _pages():
        page = _topic(file, name)
        page_by_name.setdefault(page.name, page)
    return tuple(page_by_name.values())


def topic(name: str) -> Topic:
    """Return the page on a topic. Raises UnknownName."""
    page_by_name = {page.name: page for page in topics()}
    if name not in page_by_name:
        similar = get_close_matches(name, page_by_name, n=1)
        hint = (
            f"; did you mean {similar[0]!r}?"
            if similar
            else f". Available: {', '.join(page_by_name)}"
        )
        raise UnknownName(f"no help topic is named {name!r}{hint}")
    return page_by_name[name]


def _pages() -> Iterator[tuple[Traversable, str]]:
    """Yield every file with the name of its topic."""
    for package, name in {__name__: "", **entry_points.audit_modules()}.items():
        spec = find_spec(package)
        if spec is not None and spec.submodule_search_locations is not None:
            for file in sorted(
                (entry for entry in files(package).iterdir() if entry.name.endswith(ENDING)),
                key=_name,
            ):
                yield file, name if file.name == AUDITS_PAGE else file.name.removesuffix(ENDING)


def _name(file: Traversable) -> str:
    return file.name


def _topic(file: Traversable, name: str) -> Topic:
    text = file.read_text(encoding="utf-8")
    heading = next((line for line in text.splitlines() if line.startswith("# ")), f"# {file.name}")
    return Topic(name, heading.removeprefix("# "), text)
