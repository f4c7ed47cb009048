"""Converts an instrument's names to ProbVAA's layout: IDs are `country_number_…`, templates have numbers.

Names that do not fit get a free code or number, which `mapping.csv` beside the data records; reading reverses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from workbench.csv_files import csv_text, guarded
from workbench.domain.instruments import Instrument
from workbench.domain.prompts import Template
from workbench.formats.tabular import Findings, is_new, read_rows

MAPPING = "mapping.csv"
COLUMNS = ("what", "layout", "name")
COUNTRY, STATEMENT, TEMPLATE = "country", "statement", "template"
FREE_CODES = tuple(f"x{letter}" for letter in "xabcdefghijklmnopqrstuvwyz")
"codes that ISO 3166 reserves for users"
NOWHERE = ""
"the country of statements without one"


@dataclass(frozen=True, slots=True)
class LayoutNames:
    """Our names and those of the layout."""

    countries: Mapping[str, str]
    "country, or NOWHERE -> code of two letters"
    refs: Mapping[str, str]
    "ref -> `code_number`"
    templates: Mapping[tuple[str, str], str]
    "(family, name) -> number"

    def mapping(self) -> str:
        """Return the file of renamings; empty if there are none."""
        rows = [
            *((COUNTRY, code, name) for name, code in self.countries.items() if code != name),
            *((STATEMENT, layout, ref) for ref, layout in self.refs.items() if layout != ref),
            *(
                (TEMPLATE, f"{family}-{n}", name)
                for (family, name), n in self.templates.items()
                if f"{family}-{n}" != name
            ),
        ]
        return csv_text(COLUMNS, ([guarded(cell) for cell in row] for row in rows)) if rows else ""


@dataclass(frozen=True, slots=True)
class OwnNames:
    """The contents of `mapping.csv`: names of the layout and of the instrument."""

    countries: Mapping[str, str] = field(default_factory=dict)
    refs: Mapping[str, str] = field(default_factory=dict)
    templates: Mapping[str, str] = field(default_factory=dict)

    def back(self, instrument: Instrument) -> Instrument:
        """Return an instrument that was read from the layout, with its own names restored."""
        ref = {**self.refs}.get
        country = {**self.countries}.get
        return replace(
            instrument,
            statements=tuple(
                replace(s, ref=ref(s.ref, s.ref), country=country(s.country or "", s.country) or None)
                for s in instrument.statements
            ),
            issue_labels=tuple(replace(o, statement=ref(o.statement, o.statement)) for o in instrument.issue_labels),
            parties=tuple(replace(p, country=country(p.country, p.country)) for p in instrument.parties),
            party_answers=tuple(
                replace(o, country=country(o.country, o.country), statement=ref(o.statement, o.statement))
                for o in instrument.party_answers
            ),
            survey=tuple(replace(o, statement=ref(o.statement, o.statement)) for o in instrument.survey),
            templates=tuple(replace(t, name=self.templates.get(t.name, t.name)) for t in instrument.templates),
        )


def layout_names(instrument: Instrument) -> LayoutNames:
    """Return the layout's names of an instrument's countries, statements and templates."""
    countries = _codes(dict.fromkeys(statement.country or NOWHERE for statement in instrument.statements))
    refs: dict[str, str] = {}
    for country, code in countries.items():
        of_country = [s.ref for s in instrument.statements if (s.country or NOWHERE) == country]
        numbers = _numbers(of_country, code)
        refs |= {ref: f"{code}_{numbers[ref]}" for ref in of_country}
    return LayoutNames(
        countries, {s.ref: refs[s.ref] for s in instrument.statements}, _template_numbers(instrument.templates)
    )


def read_mapping(path: Path, findings: Findings) -> OwnNames:
    """Return the contents of a mapping file; empty if there is no file."""
    if not path.is_file():
        return OwnNames()
    found: dict[str, dict[str, str]] = {COUNTRY: {}, STATEMENT: {}, TEMPLATE: {}}
    seen: dict[object, int] = {}
    for row in read_rows(path, findings, required=COLUMNS, may_be_empty=("name",), guarded=True):
        what, layout = row.get("what"), row.get("layout")
        if what not in found:
            findings.add(path, row.line, "what", repr(what), "one of " + ", ".join(found))
        elif is_new(seen, (what, layout), row, "layout", findings):
            found[what][layout] = row.get("name")
    return OwnNames(found[COUNTRY], found[STATEMENT], found[TEMPLATE])


def _codes(countries: Iterable[str]) -> dict[str, str]:
    names = list(countries)
    taken = {name for name in names if re.fullmatch("[a-z]{2}", name)}
    free = (code for code in FREE_CODES if code not in taken)
    return {name: name if name in taken else next(free) for name in names}


def _numbers(refs: list[str], code: str) -> dict[str, str]:
    """Return the number of each ref: its own if the ref is `code_number`, else a free one."""
    fitting = {ref: match[1] for ref in refs if (match := re.fullmatch(rf"{code}_([0-9]+)", ref, re.ASCII))}
    taken = {int(number) for number in fitting.values()}
    free = (number for number in range(1, len(refs) + len(taken) + 1) if number not in taken)
    return {ref: fitting.get(ref) or str(next(free)) for ref in refs}


def _template_numbers(templates: Iterable[Template]) -> dict[tuple[str, str], str]:
    names: dict[str, dict[str, None]] = {}
    for template in templates:
        names.setdefault(template.family, {})[template.name] = None
    found: dict[tuple[str, str], str] = {}
    for family, of_family in names.items():
        numbers = _template_numbers_of(family, list(of_family))
        found |= {(family, name): numbers[name] for name in of_family}
    return found


def _template_numbers_of(family: str, names: list[str]) -> dict[str, str]:
    fitting = {n: match[1] for n in names if (match := re.fullmatch(rf"{re.escape(family)}-(0|[1-9][0-9]*)", n))}
    taken = {int(number) for number in fitting.values()}
    free = (number for number in range(len(names) + len(taken) + 1) if number not in taken)
    return {name: fitting.get(name) or str(next(free)) for name in names}
