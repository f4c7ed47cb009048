"""Describe annotators and respondents."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.commands.command import ImmediateCommand, Outcome, option, shared_option
from workbench.domain.names import person_name
from workbench.errors import UsageError
from workbench.options.shared import PERSON

if TYPE_CHECKING:
    from stores.core.store import Store


@dataclass(frozen=True)
class DescribePersonCommand(ImmediateCommand):
    """Set or clear fields of the description of an annotator or respondent."""

    VERB = "people"
    ACT = "describe"

    describe: str = option(None, "name of an annotator or respondent; with --set", metavar="NAME")
    set: tuple[str, ...] = option(
        None, "set a field; may be given again", metavar="FIELD=VALUE", many=True
    )
    unset: tuple[str, ...] = option(
        None, "clear a field; may be given again", metavar="FIELD", many=True
    )
    person: str | None = shared_option(PERSON.but(help="who enters this", none="that person"))

    def run(self, store: Store) -> Outcome:
        """Change the fields. Raises UsageError if there is nothing to change."""
        values = {**_values(self.set), **dict.fromkeys(self.unset, "")}
        if len(values) < len(self.set) + len(self.unset):
            raise UsageError("found a field twice; give each once")
        if not values:
            raise UsageError("nothing to change: give --set FIELD=VALUE, or --unset FIELD")
        person = store.people.describe(
            self.describe, values, recorded_by=self.person or self.describe
        )
        fields = "; ".join(f"{field} {value}" for field, value in person.fields.items())
        return Outcome(
            f"{person.name}: {fields or 'no fields are filled in'}",
            {"person": person.name, "fields": dict(person.fields)},
        )


def _values(texts: Iterable[str]) -> dict[str, str]:
    """Return the values by field of texts such as `country=Italy`. Raises UsageError."""
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--set: found {text!r}; give FIELD=VALUE, such as country=Italy")
        values[name] = value
    return values


def changing_person(name: str | None) -> str:
    """Return who makes a change: the named person, or the user who is logged in.

    Raises UsageError without a name.
    """
    name = name or os.environ.get("USER", "")
    if not name:
        raise UsageError("this change needs a name; give --person NAME")
    return person_name(name)
