"""Templates, stored once under their content key."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from stores.core.base import table
from workbench.domain.prompts import MODEL_SLOT, Template

TEMPLATE_COLUMNS = (
    "t.name, t.inverted, t.user, t.positive, t.negative, t.system, t.chat, t.family, t.address, "
    "t.language, t.audit, t.scale"
)
TEMPLATE_WIDTH = len(TEMPLATE_COLUMNS.split(","))


def as_template(row: Sequence[Any]) -> Template:
    """Return the template of a row that begins with `TEMPLATE_COLUMNS`."""
    name, inverted, user, positive, negative, system, chat, *remaining = row[:TEMPLATE_WIDTH]
    return Template(name, bool(inverted), user, positive, negative, system, bool(chat), *remaining)


def template_id(connection: sqlite3.Connection, template: Template) -> int:
    """Return the rowid of a template, inserting a new one. Call inside a transaction."""
    # What makes the key.
    values = {
        template_field.name: getattr(template, template_field.name)
        for template_field in fields(template)
        if template_field.compare
    }
    return int(table(connection, "template").lookup({"key": template.key}, values))


Moment = tuple[str, int]
"(time of the latest draw, its rowid)"
Place = tuple[str, str, str, str]
"(audit, family, name, language) of a template"
Held = Mapping[bool, int]
"label order (inverted) -> rowid of the template"


@dataclass(frozen=True, slots=True)
class AskedTemplate:
    """A template with several versions, and the version that a run uses."""

    name: str
    version: int
    others: tuple[int, ...] = ()
    "other versions that the same model was asked"
    edited: bool = True
    "False if all other versions are in other languages"


def register(
    connection: sqlite3.Connection, instrument_id: int, templates: Iterable[Template]
) -> dict[bytes, int]:
    """Register versions of an instrument's templates, and return their rowids by key.

    A new text under a name creates a version. A missing label order is added to the newest version
    with the other order.
    """
    ids: dict[bytes, int] = {}
    orders_by_place: dict[Place, dict[bool, int]] = defaultdict(dict)
    for template in templates:
        ids[template.key] = template_id(connection, template)
        orders_by_place[_place(template)][template.inverted] = ids[template.key]
    for (audit, family, name, _), orders in orders_by_place.items():
        stored_versions = _versions_of(connection, instrument_id, audit, family, name)
        matching_numbers = (
            number
            for number in sorted(stored_versions, reverse=True)
            if _is_part(orders, stored_versions[number])
        )
        version = next(matching_numbers, max(stored_versions, default=0) + 1)
        connection.executemany(
            "insert into template_version (instrument_id, template_id, version) values (?, ?, ?) "
            "on conflict do nothing",
            ((instrument_id, rowid, version) for rowid in orders.values()),
        )
    return ids


def _versions_of(
    connection: sqlite3.Connection, instrument_id: int, audit: str, family: str, name: str
) -> dict[int, dict[bool, int]]:
    """Return the versions of a template as number -> label orders."""
    versions: dict[int, dict[bool, int]] = defaultdict(dict)
    rows = connection.execute(
        "select v.version, t.inverted, t.id from template_version v join template t on t.id = "
        "v.template_id where v.instrument_id = ? and t.audit = ? and t.family = ? and t.name = ?",
        (instrument_id, audit, family, name),
    )
    for version, inverted, rowid in rows:
        versions[version][bool(inverted)] = rowid
    return versions


def _is_part(texts: Held, version: Held) -> bool:
    """Return whether a version shares at least one of these texts and contradicts none."""
    common = texts.keys() & version.keys()
    return bool(common) and all(texts[order] == version[order] for order in common)


def current(connection: sqlite3.Connection, instrument_id: int) -> tuple[Template, ...]:
    """Return the current templates of an instrument, in order, each with its version."""
    rows = connection.execute(_CURRENT, (instrument_id,)).fetchall()
    templates = {row[-1]: as_template(row) for row in rows}
    orders_by_place: dict[Place, dict[bool, int]] = defaultdict(dict)
    for rowid, template in templates.items():
        orders_by_place[_place(template)][template.inverted] = rowid
    versions: dict[int, int] = {}
    for (audit, family, name, _), orders in orders_by_place.items():
        stored_versions = _versions_of(connection, instrument_id, audit, family, name)
        versions |= dict.fromkeys(
            orders.values(),
            max(
                number
                for number, version_orders in stored_versions.items()
                if orders.items() <= version_orders.items()
            ),
        )
    first_versions = _first(connection, instrument_id)
    return tuple(
        replace(
            template,
            version=versions[rowid],
            edited=versions[rowid] > first_versions[_place(template)],
        )
        for rowid, template in templates.items()
    )


def _place(template: Template) -> Place:
    return template.audit, template.family, template.name, template.language


def newest(connection: sqlite3.Connection, instrument_id: int) -> dict[Place, int]:
    """Return the highest version of each template of an instrument."""
    return _end(connection, instrument_id, "max")


def _first(connection: sqlite3.Connection, instrument_id: int) -> dict[Place, int]:
    return _end(connection, instrument_id, "min")


def _end(connection: sqlite3.Connection, instrument_id: int, which: str) -> dict[Place, int]:
    rows = connection.execute(
        f"select t.audit, t.family, t.name, t.language, {which}(v.version) from template_version v "
        "join template t on t.id = v.template_id where v.instrument_id = ? group by 1, 2, 3, 4 "
        "order by min(t.id)",
        (instrument_id,),
    )
    return {
        (audit, family, name, language): version for audit, family, name, language, version in rows
    }


def several(connection: sqlite3.Connection) -> dict[tuple[str, str, str], frozenset[str]]:
    """Return the names of the templates with several versions, by (instrument, audit, family)."""
    names_by_family: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for *family_key, name in connection.execute(_SEVERAL):
        names_by_family[tuple(family_key)].add(name)
    return {family_key: frozenset(names) for family_key, names in names_by_family.items()}


def asked(
    connection: sqlite3.Connection, run: Mapping[str, object], wanted: Mapping[str, int]
) -> tuple[AskedTemplate, ...]:
    """Return the version of a run for each template with several versions that its model was asked.

    That is the wanted one, else the instrument's current one, if the model was asked it, else the
    most recently asked one. If the model was not asked the wanted version, the version is 0, which
    means none. `run` binds instrument, audit, language, family, model and sampling.
    """
    last_asked = {rowid: (time, draw) for rowid, time, draw in connection.execute(_ASKED, run)}
    asked_templates = []
    for name, versions in _versions(connection, run).items():
        asked_versions = _distinguishable(
            {number: version.asked(last_asked) for number, version in versions.items()}
        )
        if not asked_versions or len(versions) == 1:
            continue
        current_numbers = [number for number in asked_versions if versions[number].current]
        latest = max(
            current_numbers or asked_versions,
            key=lambda number: (sorted(asked_versions[number].values(), reverse=True), number),
        )
        selected = wanted.get(name, latest)
        selected = selected if selected in asked_versions else 0
        same_language = [
            version
            for version in versions.values()
            if selected and version.language == versions[selected].language
        ]
        asked_templates.append(
            AskedTemplate(
                name,
                selected,
                tuple(sorted(asked_versions.keys() - {selected})),
                edited=len(same_language) > 1,
            )
        )
    return tuple(sorted(asked_templates, key=lambda template: template.name))


@dataclass(slots=True)
class _Version:
    """The rows of one version of a template."""

    language: str
    current: bool = True
    rowids: set[int] = field(default_factory=set)
    speaking: set[int] = field(default_factory=set)
    "rows that call the model by its name"

    def asked(self, last: Mapping[int, Moment]) -> dict[int, Moment]:
        """Return the latest draw of each row that was asked."""
        return {rowid: last[rowid] for rowid in self.rowids if rowid in last}


def _versions(
    connection: sqlite3.Connection, run: Mapping[str, object]
) -> dict[str, dict[int, _Version]]:
    """Return the versions of all templates of a run's audit and family.

    They are by name and number.
    """
    versions_by_name: dict[str, dict[int, _Version]] = defaultdict(dict)
    for name, number, rowid, language, current, speaks in connection.execute(
        _ALL, {**run, "slot": MODEL_SLOT}
    ):
        version = versions_by_name[name].setdefault(number, _Version(language))
        version.current &= bool(current)
        version.rowids.add(rowid)
        version.speaking |= {rowid} if speaks else set()
    return versions_by_name


def _distinguishable(
    versions: Mapping[int, Mapping[int, Moment]],
) -> dict[int, Mapping[int, Moment]]:
    """Return the versions with an asked text that no later or larger version shares."""
    return {
        number: rows
        for number, rows in versions.items()
        if rows
        and not any(
            rows.keys() < other_rows.keys()
            or (rows.keys() == other_rows.keys() and other_number > number)
            for other_number, other_rows in versions.items()
        )
    }


OF_PERSONA = "(not exists (select 1 from persona) or (p.axes ->> '$.persona') is :persona)"
"""SQL for whether the persona of a probe `p`, if any, is that of a run. A store without personas
skips the comparison."""
PROBES = f"""
    p.audit = :audit and p.template_id in (select value from json_each(:templates))
    and coalesce(p.axes ->> '$.model_name', :spoken) = :spoken and {OF_PERSONA}
"""
"""SQL for whether a probe `p` belongs to a run: it has one of the run's templates, and the
latest name used for the model"""


def bound(
    connection: sqlite3.Connection, run: Mapping[str, object], chosen: Iterable[AskedTemplate]
) -> dict[str, object]:
    """Return the bound values of `PROBES` besides the audit. `run` binds the values for `asked`."""
    version_by_name = {template.name: template.version for template in chosen}
    counting_versions: list[_Version] = []
    for name, versions in _versions(connection, run).items():
        number = next(iter(versions)) if len(versions) == 1 else version_by_name.get(name, 0)
        counting_versions += [versions[number]] if number in versions else []
    ids = sorted({rowid for version in counting_versions for rowid in version.rowids})
    spoken_row = None
    if speaking_ids := sorted(
        {rowid for version in counting_versions for rowid in version.speaking}
    ):
        spoken_row = connection.execute(
            _SPOKEN, {**run, "speaking": json.dumps(speaking_ids)}
        ).fetchone()
    return {"templates": json.dumps(ids), "spoken": spoken_row[0] if spoken_row else ""}


_CURRENT = f"""
    select {TEMPLATE_COLUMNS}, t.id from template t join instrument_template i
        on i.template_id = t.id
    where i.instrument_id = ? order by i.ordinal
"""

_SEVERAL = """
    select i.name, t.audit, t.family, t.name
    from template_version v join template t on t.id = v.template_id join instrument i
        on i.id = v.instrument_id
    group by i.id, t.audit, t.family, t.name having count(distinct v.version) > 1
"""

_ALL = """
    select t.name, v.version, t.id, t.language, exists (
        select 1 from instrument_template n where n.instrument_id = i.id and n.template_id = t.id
    ), instr(t.user || coalesce(t.system, ''), :slot)
    from instrument i join template_version v on v.instrument_id = i.id join template t
        on t.id = v.template_id
    where i.name = :instrument and t.audit = :audit and t.family = :family
"""

_ASKED = f"""
    select p.template_id, max(d.at), max(d.id)
    from instrument i
    join statement s on s.instrument_id = i.id
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and p.audit = :audit and p.template_id in (
        select v.template_id from template_version v join template t on t.id = v.template_id
        where v.instrument_id = i.id and t.audit = :audit and t.family = :family
    ) and {OF_PERSONA}
    join draw d on d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
    where i.name = :instrument
    group by p.template_id
"""

_SPOKEN = f"""
    select p.axes ->> '$.model_name'
    from instrument i
    join statement s on s.instrument_id = i.id
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and p.audit = :audit
        and p.template_id in (select value from json_each(:speaking)) and {OF_PERSONA}
    join draw d on d.prompt_id = p.prompt_id and d.model_id = :model and d.sampling_id = :sampling
    where i.name = :instrument
    order by d.at desc, d.id desc limit 1
"""
