"""Data of an instrument that replace shipped data: its templates (`templates.csv`) and the lexicons
that are used to read its answers (`lexicons/LANGUAGE.toml`).
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from dataclasses import replace
from pathlib import Path

from workbench.data import default_family, shipped_audits
from workbench.domain.instruments import BroughtLexicon, Instrument
from workbench.domain.prompts import (
    COMPLETION,
    FREE_TEXT,
    LETTER,
    LIKERT,
    MODEL_SLOT,
    SLOT,
    Template,
)
from workbench.errors import InputError, UsageError
from workbench.formats.records import Findings, read_text
from workbench.formats.tabular import Row, choice, is_new, read_rows
from workbench.readers.lexicon import Lexicon
from workbench.toml_files import parse_toml

RELIABILITY, BIAS_SCORE, RESPONSE_BIAS, CONTAMINATION = (
    "reliability",
    "bias_score",
    "response_bias",
    "contamination",
)
"RELIABILITY is the default audit"
ANSWERED = {BIAS_SCORE: FREE_TEXT, RESPONSE_BIAS: LETTER, CONTAMINATION: COMPLETION}
"default scales of the audits whose answers are not labels"
GENERATION = "generation"
"the family whose prompts are raw text that a model continues"
REQUIRED = ("name", "order", "user", "positive", "negative")
NAMED = ("positive", "negative")
"""columns of a template's two labels; a template that asks for a letter or for the rest of a
statement has none"""
LABELS = "labels"
"""value of the column scale for answers that are one of the two labels, if the audit's default is
another scale"""
SCALES = {LABELS: "", LIKERT: LIKERT, FREE_TEXT: FREE_TEXT, LETTER: LETTER, COMPLETION: COMPLETION}
YES_NO = {"yes": 1, "no": 0}
LEXICONS = "lexicons"
"the subfolder of an instrument's lexicons"
A_LEXICON = "a lexicon, as `workbench help languages` shows one"
COLUMNS = (
    *("audit", "family", "name", "order", "language", "address", "chat", "scale"),
    *("system", "user", "positive", "negative"),
)


def read_templates(path: Path, findings: Findings) -> tuple[Template, ...]:
    """Return the templates of a file; every fault is noted in `findings`."""
    rows = read_rows(
        path,
        findings,
        required=REQUIRED,
        optional=tuple(column for column in COLUMNS if column not in REQUIRED),
        may_be_empty=NAMED,
        guarded=True,
    )
    seen: dict[Hashable, int] = {}
    return tuple(
        template
        for row in rows
        for template in [_template(row, findings)]
        if is_new(seen, _key(template, row), row, "order", findings)
    )


def template_rows(templates: Iterable[Template]) -> list[tuple[str, ...]]:
    """Return rows of `COLUMNS`, with all fields of a template, so that it reads back unchanged."""
    return [
        (
            *(t.audit, t.family, t.name, t.order, t.language, t.address, "yes" if t.chat else "no"),
            *(t.scale or LABELS, t.system or "", t.user, t.positive, t.negative),
        )
        for t in templates
    ]


def _key(template: Template, row: Row) -> Hashable:
    """Return the key of a template; it includes the language only if that is not English."""
    language = () if template.language == "en" else (template.language,)
    return (template.audit, template.family, template.name, *language, row.get("order"))


def _template(row: Row, findings: Findings) -> Template:
    _, inverted = choice(row, "order", findings, {"printed": 0, "swapped": 1})
    audit = _one_of(row, "audit", shipped_audits(), findings) or RELIABILITY
    family = row.get("family") or default_family(audit)
    said = _one_of(row, "scale", tuple(SCALES), findings)
    scale = SCALES[said] if said else ANSWERED.get(audit, "")
    for column in NAMED if scale not in (LETTER, COMPLETION) else ():
        if not row.get(column):
            findings.add(row.file, row.line, column, "an empty cell", "some text")
    chat = family != GENERATION
    if row.get("chat"):
        chat = bool(choice(row, "chat", findings, YES_NO)[1])
    _check_slots(row, findings)
    return Template(
        name=row.get("name"),
        inverted=bool(inverted),
        user=row.cells["user"],
        positive=row.get("positive"),
        negative=row.get("negative"),
        system=row.cells.get("system") or None,
        chat=chat,
        family=family,
        address=row.get("address") or "personal",
        language=row.get("language") or "en",
        audit=audit,
        scale=scale,
    )


def _one_of(row: Row, column: str, known: tuple[str, ...], findings: Findings) -> str:
    """Return a cell that may be empty; "", with a note, if it is not one of the known words."""
    text = row.get(column)
    if not text or text in known:
        return text
    findings.add(row.file, row.line, column, repr(text), "one of " + ", ".join(known))
    return ""


def _check_slots(row: Row, findings: Findings) -> None:
    """Note unknown slots, and a template that does not contain `{statement}` exactly once."""
    count = 0
    for column in ("system", "user"):
        text = row.cells.get(column, "")
        count += text.count(SLOT)
        for slot in re.findall(r"\{\w*\}", text):
            if slot not in (SLOT, MODEL_SLOT):
                findings.add(
                    row.file, row.line, column, f"unknown slot {slot}", f"{SLOT} or {MODEL_SLOT}"
                )
    if count != 1:
        findings.add(
            row.file,
            row.line,
            "user",
            f"the slot {SLOT} {count} times in system and user",
            "it once",
        )


def read_lexicons(folder: Path, findings: Findings) -> tuple[BroughtLexicon, ...]:
    """Return the lexicons of an instrument's folder by language; faults are noted in `findings`."""
    found = []
    for path in sorted((folder / LEXICONS).glob("*.toml")) if folder.is_dir() else ():
        text = read_text(path, findings)
        if text is None:
            continue
        try:
            stated = parse_toml(text, path)
            language = Lexicon.parse({"language": path.stem, **stated}).language
        except InputError as error:
            findings.found += [replace(fault, expected=A_LEXICON) for fault in error.findings]
            continue
        except UsageError as error:
            findings.add(path, None, None, str(error), A_LEXICON)
            continue
        if language != path.stem:
            findings.add(
                path, None, "language", repr(language), f"{path.stem!r}, like the file name"
            )
            continue
        found.append(BroughtLexicon(language, text))
    return tuple(found)


def lexicon_files(instrument: Instrument) -> dict[str, str]:
    """Return the files of an instrument's lexicons: path in its folder -> text."""
    return {f"{LEXICONS}/{one.language}.toml": one.text for one in instrument.lexicons}


def lost_lexicons(instrument: Instrument) -> tuple[str, ...]:
    """Return a sentence about the lexicons, which a format without folders cannot hold."""
    languages = ", ".join(one.language for one in instrument.lexicons)
    return (f"The lexicons that the instrument brings: {languages}.",) if languages else ()
