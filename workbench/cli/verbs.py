"""What a verb declares beside its code: the options that it takes, in sections, and what it has to
say of itself.

A verb is a function of a namespace. `main` has the table of verbs, and makes a command out of one
only when somebody uses it.
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
    """Yield the options, those of sections among them."""
    for part in parts:
        yield from (part,) if isinstance(part, Option) else part.options


@dataclass(frozen=True, slots=True)
class Verb:
    """A function that carries out a verb, with what it takes."""

    run: Callable[[Namespace], int]
    parts: Sequence[Part]
    about: str = ""
    "said by `--help`; empty: the line in the list of verbs"
    epilog: str = ""
    narrowed: Callable[[Sequence[str], bool], Verb] | None = None
    """returns the verb with those of its options that the words after it leave, see
    `parser.Verbs.resolve_command`; the second argument: whether it may look into the store that
    they name
    """

    def __call__(self, options: Namespace) -> int:
        """Carry the verb out; messages name its store from now on."""
        store = getattr(options, "store", None)
        AT_HAND.set(store if isinstance(store, Path) else None)
        return self.run(options)

    @property
    def options(self) -> Iterator[Option]:
        """Every option, as it is listed."""
        return flat(self.parts)

    def given(self, **values: Any) -> Namespace:
        """Return the namespace of a command line that gives these values alone."""
        return Namespace(**{option.name: option.default for option in self.options} | values)


def verb(
    *parts: Part | Sequence[Part], about: str = "", epilog: str = ""
) -> Callable[[Callable[[Namespace], int]], Verb]:
    """Declare a function as a verb that takes these options."""
    flat = [
        one for part in parts for one in ((part,) if isinstance(part, Option | Section) else part)
    ]
    return lambda run: Verb(run, flat, about, epilog)


def hint(text: str) -> str:
    """Return a message with the store at hand in the commands that it names, so that they can be
    copied.
    """
    store = AT_HAND.get()
    return text if store is None else hinted(text, store)
