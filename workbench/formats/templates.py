"""`templates.csv`: an instrument's own templates, in place of the shipped ones."""

from __future__ import annotations

import re
from collections.abc import Hashable
from pathlib import Path

from workbench.data import default_family, shipped_audits
from workbench.domain.prompts import FREE_TEXT, LIKERT, MODEL_SLOT, SLOT, Template
from workbench.formats.tabular import Findings, Row, choice, is_new, read_rows

RELIABILITY, BIAS_SCORE = "reliability", "bias_score"
"the audit that is meant where none is named, and the one whose answers are free text unless a scale is named"
GENERATION = "generation"
"the family whose prompts are raw text to be continued"
SCALES = ("", LIKERT, FREE_TEXT)


def read_templates(path: Path, findings: Findings) -> tuple[Template, ...]:
    """Return the templates of a file; every fault is noted in `findings`."""
    rows = read_rows(
        path,
        findings,
        required=("name", "order", "user", "positive", "negative"),
        optional=("address", "system", "family", "language", "audit", "scale"),
    )
    seen: dict[Hashable, int] = {}
    return tuple(
        template
        for row in rows
        for template in [_template(row, findings)]
        if is_new(seen, (template.audit, template.family, template.name, row.get("order")), row, "order", findings)
    )


def _template(row: Row, findings: Findings) -> Template:
    _, inverted = choice(row, "order", findings, {"printed": 0, "swapped": 1})
    audit = _one_of(row, "audit", shipped_audits(), findings) or RELIABILITY
    family = row.get("family") or default_family(audit)
    scale = _one_of(row, "scale", SCALES, findings) or (FREE_TEXT if audit == BIAS_SCORE else "")
    _check_slots(row, findings)
    return Template(
        name=row.get("name"),
        inverted=bool(inverted),
        user=row.cells["user"],
        positive=row.get("positive"),
        negative=row.get("negative"),
        system=row.cells.get("system") or None,
        chat=family != GENERATION,
        family=family,
        address=row.get("address") or "personal",
        language=row.get("language") or "en",
        audit=audit,
        scale=scale,
    )


def _one_of(row: Row, column: str, known: tuple[str, ...], findings: Findings) -> str:
    """Return a cell that may be empty; "", with a note, where it is none of the known words."""
    text = row.get(column)
    if not text or text in known:
        return text
    findings.add(row.file, row.line, column, repr(text), "one of " + ", ".join(filter(None, known)))
    return ""


def _check_slots(row: Row, findings: Findings) -> None:
    """Note slots that are unknown, and a template that does not hold `{statement}` exactly once."""
    count = 0
    for column in ("system", "user"):
        text = row.cells.get(column, "")
        count += text.count(SLOT)
        for slot in re.findall(r"\{\w*\}", text):
            if slot not in (SLOT, MODEL_SLOT):
                findings.add(row.file, row.line, column, f"unknown slot {slot}", f"{SLOT} or {MODEL_SLOT}")
    if count != 1:
        findings.add(row.file, row.line, "user", f"the slot {SLOT} {count} times in system and user", "it once")
