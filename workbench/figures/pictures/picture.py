"""The base of all pictures: name, definition, description for screen readers, and pages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self, TypeVar

from workbench.domain.names import file_stem

Item = TypeVar("Item")
MOST_SAID = 12
"most values that a description for screen readers lists"


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture(ABC):
    """A drawn figure, with the numbers of the table that it was made from."""

    name: str
    "file name: `leaning`"
    title: str
    definition: str = ""
    "explanation of the figures, in plain sentences"
    notes: Sequence[str] = ()
    subject: tuple[str, ...] = ()
    "subject of the picture, if there are several of its name"
    page: int = 1
    of: int = 1
    "pages of the picture"

    @property
    def stem(self) -> str:
        """The name of a file with only this picture, without its ending."""
        number = (f"{self.page}",) if self.of > 1 else ()
        return file_stem((self.name, *self.subject, *number))

    @property
    def heading(self) -> str:
        """The title, with a page number if there are several pages."""
        return f"{self.title} ({self.page} of {self.of})" if self.of > 1 else self.title

    @property
    def alt(self) -> str:
        """The description of the picture for screen readers."""
        return f"{self.heading.rstrip('.')}. {self._description()}"

    @property
    @abstractmethod
    def empty(self) -> bool:
        """Whether there is nothing to draw."""

    @abstractmethod
    def _description(self) -> str:
        """Return a description in sentences, with the numbers of small pictures."""

    def pages(self) -> Sequence[Self]:
        """Return the readable pages of the picture. Most pictures have one."""
        return (self,)

    def paged(self, page: int, n_pages: int, **changed: object) -> Self:
        """Return one page of the picture."""
        return replace(self, page=page, of=n_pages, **changed)  # type: ignore[arg-type]


def split(items: Sequence[Item], most: int) -> list[Sequence[Item]]:
    """Return items in parts of nearly equal length, at most `most` each.

    Examples
    --------
    >>> split("abcdefg", 3)
    ['abc', 'de', 'fg']
    """
    n_parts = max(1, -(-len(items) // most))
    min_length, n_longer = divmod(len(items), n_parts)
    ends = [0]
    for part in range(n_parts):
        ends.append(ends[-1] + min_length + (part < n_longer))
    return [items[first:last] for first, last in pairwise(ends)]
