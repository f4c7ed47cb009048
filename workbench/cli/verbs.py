"""The declaration of a verb: the options that it takes, in sections, and its texts.

A verb is a function of a namespace. `main` has the table of verbs, and makes a command of one only
when somebody uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace as Namespace
from typing import Any

from workbench.figures.hints import hinted
from workbench.options.option import Option, Section

__all__ = ["AT_HAND", "Namespace", "Verb", "flat", "hint", "verb"]

AT_HAND: ContextVar[Path | None] = ContextVar("the store named on the command line", default=None)


Part = Option | Section


def flat(parts: Sequence[Part]) -> Iterator[Option]:
    """Yield the options, including those of sections."""
    for part in parts:
        yield from (part,) if isinstance(part, Option) else part.options


@dataclass(frozen=True, slots=True)
class Verb:
    """A function that carries out a verb, with its options."""

    run: Callable[[Namespace], int]
    parts: Sequence[Part]
    about: str = ""
    "shown by `--help`; empty: the line in the list of verbs"
    epilog: str = ""
    narrowed: Callable[[Sequence[str], bool], Verb] | None = None
    """(words after the verb, whether it may look into the store that they name) -> the verb with
    the options that these words leave; see `parser.Verbs.resolve_command`"""

    def __call__(self, options: Namespace) -> int:
        """Carry the verb out. Messages name its store from now on."""
        store = getattr(options, "store", None)
        AT_HAND.set(store if isinstance(store, Path) else None)
        return self.run(options)

    @property
    def options(self) -> Iterator[Option]:
        """Every option, in the order of the list."""
        return flat(self.parts)

    def given(self, **values: Any) -> Namespace:
        """Return the namespace of a command line that gives these values alone."""
        return Namespace(**{option.name: option.default for option in self.options} | values)


def verb(
    *parts: Part | Sequence[Part], about: str = "", epilog: str = ""
) -> Callable[[Callable[[Namespace], int]], Verb]:
    """Declare a function as a verb that takes these options."""
    entries = [
        entry
        for part in parts
        for entry in ((part,) if isinstance(part, Option | Section) else part)
    ]
    return lambda run: Verb(run, entries, about, epilog)


def hint(text: str) -> str:
    """Return a message whose commands name the store at hand, so that they can be copied."""
    store = AT_HAND.get()
    return text if store is None else hinted(text, store)
