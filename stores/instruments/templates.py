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
    "t.language, t.audit, "
    "t.scale"
)
TEMPLATE_WIDTH = len(TEMPLATE_COLUMNS.split(","))


def as_template(row: Sequence[Any]) -> Template:
    """Return the template of a row that begins with `TEMPLATE_COLUMNS`."""
    name, inverted, user, positive, negative, system, chat, *rest = row[:TEMPLATE_WIDTH]
    return Template(name, bool(inverted), user, positive, negative, system, bool(chat), *rest)


def template_id(connection: sqlite3.Connection, template: Template) -> int:
    """Return the rowid of a template, inserting a new one. Call inside a transaction."""
    # What makes the key.
    new = {one.name: getattr(template, one.name) for one in fields(template) if one.compare}
    return int(table(connection, "template").lookup({"key": template.key}, new))


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
    "False: all other versions are in other languages"


def register(
    connection: sqlite3.Connection, instrument_id: int, templates: Iterable[Template]
) -> dict[bytes, int]:
    """Register versions of an instrument's templates; return their rowids by key.

    A new text under a name creates a version. A missing label order is added to the newest version
    with the other order.
    """
    ids: dict[bytes, int] = {}
    given: dict[Place, dict[bool, int]] = defaultdict(dict)
    for template in templates:
        ids[template.key] = template_id(connection, template)
        given[_place(template)][template.inverted] = ids[template.key]
    for (audit, family, name, _), orders in given.items():
        there = _held(connection, instrument_id, audit, family, name)
        fits = (number for number in sorted(there, reverse=True) if _is_part(orders, there[number]))
        version = next(fits, max(there, default=0) + 1)
        connection.executemany(
            "insert into template_version (instrument_id, template_id, version) values (?, ?, ?) "
            "on conflict do nothing",
            ((instrument_id, rowid, version) for rowid in orders.values()),
        )
    return ids


def _held(
    connection: sqlite3.Connection, instrument_id: int, audit: str, family: str, name: str
) -> dict[int, dict[bool, int]]:
    """Return the versions of a template: number -> label orders."""
    found: dict[int, dict[bool, int]] = defaultdict(dict)
    rows = connection.execute(
        "select v.version, t.inverted, t.id from template_version v join template t on t.id = "
        "v.template_id "
        "where v.instrument_id = ? and t.audit = ? and t.family = ? and t.name = ?",
        (instrument_id, audit, family, name),
    )
    for version, inverted, rowid in rows:
        found[version][bool(inverted)] = rowid
    return found


def _is_part(given: Held, version: Held) -> bool:
    """Return whether a version shares at least one of these texts and contradicts none."""
    common = given.keys() & version.keys()
    return bool(common) and all(given[order] == version[order] for order in common)


def current(connection: sqlite3.Connection, instrument_id: int) -> tuple[Template, ...]:
    """Return the current templates of an instrument, in order, each with its version."""
    rows = connection.execute(_CURRENT, (instrument_id,)).fetchall()
    templates = {row[-1]: as_template(row) for row in rows}
    given: dict[Place, dict[bool, int]] = defaultdict(dict)
    for rowid, template in templates.items():
        given[_place(template)][template.inverted] = rowid
    versions: dict[int, int] = {}
    for (audit, family, name, _), orders in given.items():
        there = _held(connection, instrument_id, audit, family, name)
        versions |= dict.fromkeys(
            orders.values(), max(v for v, held in there.items() if orders.items() <= held.items())
        )
    first = _first(connection, instrument_id)
    return tuple(
        replace(template, version=versions[rowid], edited=versions[rowid] > first[_place(template)])
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
    found: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for *place, name in connection.execute(_SEVERAL):
        found[tuple(place)].add(name)
    return {place: frozenset(names) for place, names in found.items()}


def asked(
    connection: sqlite3.Connection, run: Mapping[str, object], wanted: Mapping[str, int]
) -> tuple[AskedTemplate, ...]:
    """Return, for each template with several versions that a model was asked, the version of a run.

    That is the wanted one; else the instrument's current one, if the model was asked it; else the
    most recently asked one. If the model was not asked the wanted version, the version is 0, which
    means none. `run` binds instrument, audit, language, family, model and sampling.
    """
    last = {rowid: (at, draw) for rowid, at, draw in connection.execute(_ASKED, run)}
    found = []
    for name, versions in _versions(connection, run).items():
        theirs = _told_apart({number: version.asked(last) for number, version in versions.items()})
        if not theirs or len(versions) == 1:
            continue
        now = [number for number in theirs if versions[number].current]
        latest = max(
            now or theirs,
            key=lambda number: (sorted(theirs[number].values(), reverse=True), number),
        )
        chosen = wanted.get(name, latest)
        chosen = chosen if chosen in theirs else 0
        alike = [
            version
            for version in versions.values()
            if chosen and version.language == versions[chosen].language
        ]
        found.append(
            AskedTemplate(
                name, chosen, tuple(sorted(theirs.keys() - {chosen})), edited=len(alike) > 1
            )
        )
    return tuple(sorted(found, key=lambda one: one.name))


@dataclass(slots=True)
class _Version:
    """The rows of one version of a template."""

    language: str
    current: bool = True
    rowids: set[int] = field(default_factory=set)
    speaking: set[int] = field(default_factory=set)
    "rows that call the model by its name"

    def asked(self, last: Mapping[int, Moment]) -> dict[int, Moment]:
        """Return the latest time that each asked row was asked."""
        return {rowid: last[rowid] for rowid in self.rowids if rowid in last}


def _versions(
    connection: sqlite3.Connection, run: Mapping[str, object]
) -> dict[str, dict[int, _Version]]:
    """Return the versions of all templates of a run's audit and family: name -> number ->
    version.
    """
    found: dict[str, dict[int, _Version]] = defaultdict(dict)
    for name, number, rowid, language, current, speaks in connection.execute(
        _ALL, {**run, "slot": MODEL_SLOT}
    ):
        version = found[name].setdefault(number, _Version(language))
        version.current &= bool(current)
        version.rowids.add(rowid)
        version.speaking |= {rowid} if speaks else set()
    return found


def _told_apart(versions: Mapping[int, Mapping[int, Moment]]) -> dict[int, Mapping[int, Moment]]:
    """Return the versions with an asked text that no later or larger version shares."""
    return {
        number: rows
        for number, rows in versions.items()
        if rows
        and not any(
            rows.keys() < more.keys() or (rows.keys() == more.keys() and other > number)
            for other, more in versions.items()
        )
    }


OF_PERSONA = "(not exists (select 1 from persona) or (p.axes ->> '$.persona') is :persona)"
"""whether the persona of a probe `p`, if any, is that of a run; a store without personas skips the
comparison"""
PROBES = f"""
    p.audit = :audit and p.template_id in (select value from json_each(:templates))
    and coalesce(p.axes ->> '$.model_name', :spoken) = :spoken and {OF_PERSONA}
"""
"""whether a probe `p` belongs to a run: with its templates, and with the latest name used for the
model"""


def bound(
    connection: sqlite3.Connection, run: Mapping[str, object], chosen: Iterable[AskedTemplate]
) -> dict[str, object]:
    """Return the bound values of `PROBES` besides the audit; `run` binds the values for `asked`."""
    numbers = {one.name: one.version for one in chosen}
    counted: list[_Version] = []
    for name, versions in _versions(connection, run).items():
        number = next(iter(versions)) if len(versions) == 1 else numbers.get(name, 0)
        counted += [versions[number]] if number in versions else []
    ids = sorted({rowid for version in counted for rowid in version.rowids})
    spoken = None
    if speaking := sorted({rowid for version in counted for rowid in version.speaking}):
        spoken = connection.execute(_SPOKEN, {**run, "speaking": json.dumps(speaking)}).fetchone()
    return {"templates": json.dumps(ids), "spoken": spoken[0] if spoken else ""}


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
