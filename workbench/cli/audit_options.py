"""Options of single audits, or of single acts of a verb, on one command line.

A command line is read before it is known which audit it is about, so an option of the same name in
two audits is one flag. An option that was given for another audit is refused, and each audit's own
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


def settle(options: Namespace, table: Table, chosen: str, what: str) -> None:
    """Give every option of the chosen audit or act its value or default.

    `what` is `--audit` or `act`. Raises UsageError for an option that belongs to others, FieldError
    for a value that it does not take.
    """
    own_options = {option.name: option for option in table.get(chosen, ())}
    owners: dict[str, list[str]] = {}
    for name, group in table.items():
        for option in group:
            owners.setdefault(option.name, []).append(name)
    given_names = {name for name in owners if getattr(options, name) not in (None, False, ())}
    if foreign := [name for name in owners if name in given_names and name not in own_options]:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in foreign)
        names = listing(
            list(dict.fromkeys(name for foreign_name in foreign for name in owners[foreign_name]))
        )
        predicate, pronoun = ("belongs", "it") if len(foreign) == 1 else ("belong", "them")
        raise UsageError(
            f"{flags} {predicate} to {what} {names}, not to {what} {chosen}; leave {pronoun} out"
        )
    for name, option in own_options.items():
        value = getattr(options, name) if name in given_names else option.default
        setattr(
            options,
            name,
            option.read(value) if name in given_names and isinstance(value, str) else value,
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
