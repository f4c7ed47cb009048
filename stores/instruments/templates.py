"""Templates, stored once under their content key."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from workbench.domain.prompts import Template

TEMPLATE_COLUMNS = (
    "t.name, t.inverted, t.user, t.positive, t.negative, t.system, t.chat, t.family, t.address, t.language, t.audit, "
    "t.scale"
)
TEMPLATE_WIDTH = len(TEMPLATE_COLUMNS.split(","))


def as_template(row: Sequence[Any]) -> Template:
    """Return the template of a row that begins with `TEMPLATE_COLUMNS`."""
    name, inverted, user, positive, negative, system, chat, *rest = row[:TEMPLATE_WIDTH]
    return Template(name, bool(inverted), user, positive, negative, system, bool(chat), *rest)


def template_id(connection: sqlite3.Connection, template: Template) -> int:
    """Return the rowid of a template, inserting a new one. Call inside a transaction."""
    connection.execute(
        "insert into template (key, audit, name, inverted, family, address, language, chat, system, user, positive, "
        "negative, scale) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (key) do nothing",
        (
            template.key,
            template.audit,
            template.name,
            template.inverted,
            template.family,
            template.address,
            template.language,
            template.chat,
            template.system,
            template.user,
            template.positive,
            template.negative,
            template.scale,
        ),
    )
    return int(connection.execute("select id from template where key = ?", (template.key,)).fetchone()[0])
