"""Options that single audits, or single acts of a verb, have: merged into one command line, and
told apart again.

A command line is read before it is known which audit it is about, so an option of the same name in
two audits is one flag. What was given for another audit is refused, and each audit's own
declaration reads the value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from workbench import registry
from workbench.cli.verbs import Namespace
from workbench.errors import UsageError
from workbench.options.option import Option, Section, Type

Table = Mapping[str, Sequence[Option]]
"audit, or act -> its options"
RUN: Table = {audit.name: audit.run_options for audit in registry.asking()}
"what `run` may be told of each audit"
AUDIT = Option("audit", "which audit", default=registry.DEFAULT_AUDIT, choices=tuple(RUN))


def sections(table: Table, about: Mapping[str, str] | None = None) -> list[Section]:
    """Return the options of every audit in sections, each option once: those of several stand with
    all their names.
    """
    having: dict[str, list[str]] = {}
    for name, options in table.items():
        for option in options:
            having.setdefault(option.name, []).append(name)
    groups: dict[tuple[str, ...], list[Option]] = {}
    for name, names in having.items():
        declared = {of: next(one for one in table[of] if one.name == name) for of in names}
        groups.setdefault(tuple(names), []).append(_merged(declared))
    said = about or {}
    return [
        Section(
            f"{listing(names)} only", options, said.get(names[0], "") if len(names) == 1 else ""
        )
        for names, options in groups.items()
    ]


def settle(options: Namespace, table: Table, chosen: str, what: str) -> None:
    """Give every option of the chosen audit or act its value or default. Raises UsageError for one
    that belongs to others, FieldError for a value that it does not take. `what`: `--audit`, or
    `act`.
    """
    own = {option.name: option for option in table.get(chosen, ())}
    others: dict[str, list[str]] = {}
    for name, of in table.items():
        for option in of:
            others.setdefault(option.name, []).append(name)
    given = {name for name in others if getattr(options, name) not in (None, False, ())}
    if wrong := [name for name in others if name in given and name not in own]:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in wrong)
        names = listing(list(dict.fromkeys(name for one in wrong for name in others[one])))
        belong, them = ("belongs", "it") if len(wrong) == 1 else ("belong", "them")
        raise UsageError(
            f"{flags} {belong} to {what} {names}, not to {what} {chosen}; leave {them} out"
        )
    for name, option in own.items():
        value = getattr(options, name) if name in given else option.default
        setattr(
            options, name, option.read(value) if name in given and isinstance(value, str) else value
        )


def _merged(declared: Mapping[str, Option]) -> Option:
    """Return one option for those of a name; it has no default, so that one given for nothing is
    noticed.
    """
    options = list(dict.fromkeys(declared.values()))
    first = options[0]
    none = first.none or (
        f"{first.text()} {first.unit}".strip() if first.default not in (None, False) else ""
    )
    if len(options) == 1:
        return first if first.type is Type.FLAG else first.but(default=None, none=none)
    said: dict[str, list[str]] = {}
    for name, option in declared.items():
        said.setdefault(option.explained, []).append(name)
    help_ = "; ".join(f"{listing(names)}: {text}" for text, names in said.items())
    return Option(
        first.name,
        help_,
        metavar=first.metavar or ("N" if first.type in (Type.WHOLE, Type.NUMBER) else ""),
        several=first.several,
    )


def listing(names: Iterable[str]) -> str:
    """Return `a, b and c`."""
    names = list(names)
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
