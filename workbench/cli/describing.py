"""The command for who the annotators and respondents are: optional fields, counted, and without names."""

from __future__ import annotations

from textwrap import fill

from workbench.cli.figures import FIGURES, no_figures, put_out
from workbench.cli.output import tell
from workbench.cli.verbs import Namespace, Section, verb
from workbench.domain.people import FIELDS
from workbench.errors import UsageError
from workbench.figures.table import AnyTable
from workbench.options.option import Option, flag
from workbench.options.shared import PERSON, STORE

EPILOG = "Fields, all optional; you may add others:\n" + "\n".join(
    fill(f"{name:<18} {about}", 79, initial_indent="  ", subsequent_indent=" " * 21) for name, about in FIELDS.items()
)


@verb(
    STORE,
    flag("names", "show names instead of pseudonyms"),
    Section(
        "Describing somebody",
        (
            Option("describe", "name of an annotator or respondent; with --set", metavar="NAME"),
            Option("set", "set a field; may be given again", metavar="FIELD=VALUE", many=True),
            Option("unset", "clear a field; may be given again", metavar="FIELD", many=True),
            PERSON.but(help="who enters this", none="that person"),
        ),
    ),
    FIGURES,
    about="Describe annotators and respondents: counts of what they said about themselves, under pseudonyms.",
    epilog=EPILOG,
)
def people(options: Namespace) -> int:
    """Print who annotated and answered, or say something of one of them."""
    from stores.core.store import Store
    from workbench.annotation.people_tables import people_counts, people_table

    if options.describe is not None:
        return _describe(options)
    if options.set or options.unset or options.person is not None:
        raise UsageError("--set, --unset and --person need --describe NAME")
    with Store.open(options.store) as store:
        found = store.people.list()
    tables: list[AnyTable] = [people_table(found, names=options.names), people_counts(found)]
    put_out(options, tables, {"names": options.names}, title="Annotators and respondents")
    return 0


def _describe(options: Namespace) -> int:
    from stores.core.store import Store

    no_figures(options)
    values = dict(_parted(text) for text in options.set) | dict.fromkeys(options.unset, "")
    if len(values) < len(options.set) + len(options.unset):
        raise UsageError("found a field twice; give each once")
    if not values:
        raise UsageError("nothing to change: give --set FIELD=VALUE, or --unset FIELD")
    with Store.open(options.store) as store:
        found = store.people.describe(options.describe, values, by=options.person or options.describe)
    said = "; ".join(f"{field} {value}" for field, value in found.fields.items()) or "no fields are filled in"
    return tell(options, f"{found.name}: {said}", {"person": found.name, "fields": dict(found.fields)})


def _parted(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"--set: found {text!r}; give FIELD=VALUE, such as country=Italy")
    return name, value
