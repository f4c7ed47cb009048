"""Options of single audits, or of single acts of a verb, on one command line.

A command line is read before it is known which audit it is about, so an option of the same name in
two audits is one flag. An option that was given for another audit is refused, and each audit's own
declaration reads the value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from workbench import registry
from workbench.errors import UsageError
from workbench.options.option import Option, Section, Type

Table = Mapping[str, Sequence[Option]]
"audit, or act -> its options"
RUN: Table = {audit.name: audit.run_options for audit in registry.asking()}
"options of `run` that belong to single audits"
AUDIT = Option("audit", "which audit", default=registry.DEFAULT_AUDIT, choices=tuple(RUN))


def sections(table: Table, about: Mapping[str, str] | None = None) -> list[Section]:
    """Return the options of every audit in sections, each option once.

    Options of several audits stand in a section with all their names.
    """
    names_by_option: dict[str, list[str]] = {}
    for name, options in table.items():
        for option in options:
            names_by_option.setdefault(option.name, []).append(name)
    groups: dict[tuple[str, ...], list[Option]] = {}
    for name, names in names_by_option.items():
        declared = {
            owner: next(candidate for candidate in table[owner] if candidate.name == name)
            for owner in names
        }
        groups.setdefault(tuple(names), []).append(_merged(declared))
    texts = about or {}
    return [
        Section(
            f"{listing(names)} only", options, texts.get(names[0], "") if len(names) == 1 else ""
        )
        for names, options in groups.items()
    ]


def settle(options: SimpleNamespace, table: Table, chosen: str, what: str) -> None:
    """Give every option of the chosen audit or act its value or default, see `own_values`."""
    vars(options).update(own_values(options, table, chosen, what))


def own_values(options: SimpleNamespace, table: Table, chosen: str, what: str) -> dict[str, Any]:
    """Return the value, or else the default, of every option of the chosen audit or act.

    `what` is `--audit` or `act`. Raises UsageError for an option that belongs to others, FieldError
    for a value that it does not take.
    """
    own_options = {option.name: option for option in table.get(chosen, ())}
    given = given_values(options, table)
    if foreign := [name for name in given if name not in own_options]:
        raise _belonging_to_others(foreign, table, chosen, what)
    return {
        name: _read(option, given[name]) if name in given else option.default
        for name, option in own_options.items()
    }


def given_values(options: SimpleNamespace, table: Table) -> dict[str, Any]:
    """Return the values of those options of any audit or act that were given."""
    names = dict.fromkeys(option.name for group in table.values() for option in group)
    values = {name: getattr(options, name, None) for name in names}
    return {name: value for name, value in values.items() if value not in (None, False, ())}


def _read(option: Option, value: Any) -> Any:
    return option.read(value) if isinstance(value, str) else value


def _belonging_to_others(
    foreign: Sequence[str], table: Table, chosen: str, what: str
) -> UsageError:
    """Return the error about options that do not belong to the chosen audit or act."""
    owners = [
        owner
        for name in foreign
        for owner, group in table.items()
        if any(option.name == name for option in group)
    ]
    flags = ", ".join(f"--{name.replace('_', '-')}" for name in foreign)
    names = listing(dict.fromkeys(owners))
    predicate, pronoun = ("belongs", "it") if len(foreign) == 1 else ("belong", "them")
    return UsageError(
        f"{flags} {predicate} to {what} {names}, not to {what} {chosen}; leave {pronoun} out"
    )


def _merged(declared: Mapping[str, Option]) -> Option:
    """Return one option for those of a name.

    It has no default, so that an option given for nothing is noticed.
    """
    options = list(dict.fromkeys(declared.values()))
    first = options[0]
    none = first.none or (
        f"{first.text()} {first.unit}".strip() if first.default not in (None, False) else ""
    )
    if len(options) == 1:
        return first if first.type is Type.FLAG else first.but(default=None, none=none)
    names_by_text: dict[str, list[str]] = {}
    for name, option in declared.items():
        names_by_text.setdefault(option.explained, []).append(name)
    help_ = "; ".join(f"{listing(names)}: {text}" for text, names in names_by_text.items())
    return Option(
        first.name,
        help_,
        metavar=first.metavar or ("N" if first.type in (Type.WHOLE, Type.NUMBER) else ""),
        several=first.several,
    )


def listing(names: Iterable[str]) -> str:
    """Return names as a text, such as `a, b and c`."""
    names = list(names)
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
