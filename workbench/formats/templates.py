"""An instrument's own templates and lexicons, which replace those that the workbench ships.

The templates are in `templates.csv`. The lexicons, which serve to read the answers, are in
`lexicons/LANGUAGE.toml`.
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
"names of audits, of which RELIABILITY is the default"
ANSWERED = {BIAS_SCORE: FREE_TEXT, RESPONSE_BIAS: LETTER, CONTAMINATION: COMPLETION}
"audit -> its default scale, for the audits whose answers are not labels"
GENERATION = "generation"
"the family whose prompts are raw text for a model to continue"
REQUIRED = ("name", "order", "user", "positive", "negative")
NAMED = ("positive", "negative")
"""columns of a template's two labels. They may be empty if a template asks for a letter or for
the rest of a statement"""
LABELS = "labels"
"""value of the column `scale` if answers are one of the two labels but the audit's default scale
is another"""
SCALES = {LABELS: "", LIKERT: LIKERT, FREE_TEXT: FREE_TEXT, LETTER: LETTER, COMPLETION: COMPLETION}
YES_NO = {"yes": 1, "no": 0}
LEXICONS = "lexicons"
"the subfolder of an instrument that contains its lexicons"
A_LEXICON = "a lexicon, as `workbench help languages` shows one"
COLUMNS = (
    *("audit", "family", "name", "order", "language", "address", "chat", "scale"),
    *("system", "user", "positive", "negative"),
)


def read_templates(path: Path, findings: Findings) -> tuple[Template, ...]:
    """Return the templates in a file. Every fault is noted in `findings`."""
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
    """Return rows of `COLUMNS` that state every field, so that templates read back unchanged."""
    return [
        (
            *(
                template.audit,
                template.family,
                template.name,
                template.order,
                template.language,
                template.address,
                "yes" if template.chat else "no",
            ),
            *(
                template.scale or LABELS,
                template.system or "",
                template.user,
                template.positive,
                template.negative,
            ),
        )
        for template in templates
    ]


def _key(template: Template, row: Row) -> Hashable:
    """Return what tells templates apart. The language is part of it only if it is not English."""
    language = () if template.language == "en" else (template.language,)
    return (template.audit, template.family, template.name, *language, row.get("order"))


def _template(row: Row, findings: Findings) -> Template:
    _, inverted = choice(row, "order", findings, {"printed": 0, "swapped": 1})
    audit = _one_of(row, "audit", shipped_audits(), findings) or RELIABILITY
    family = row.get("family") or default_family(audit)
    scale_word = _one_of(row, "scale", tuple(SCALES), findings)
    scale = SCALES[scale_word] if scale_word else ANSWERED.get(audit, "")
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


def _one_of(row: Row, column: str, valid_words: tuple[str, ...], findings: Findings) -> str:
    """Return a cell that is a valid word or empty. An unknown word is noted, and "" is returned."""
    text = row.get(column)
    if not text or text in valid_words:
        return text
    findings.add(row.file, row.line, column, repr(text), "one of " + ", ".join(valid_words))
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
    """Return the lexicons in an instrument's folder, by language.

    Every fault is noted in `findings`.
    """
    lexicons = []
    for path in sorted((folder / LEXICONS).glob("*.toml")) if folder.is_dir() else ():
        text = read_text(path, findings)
        if text is None:
            continue
        try:
            table = parse_toml(text, path)
            language = Lexicon.parse({"language": path.stem, **table}).language
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
        lexicons.append(BroughtLexicon(language, text))
    return tuple(lexicons)


def lexicon_files(instrument: Instrument) -> dict[str, str]:
    """Return path in the instrument's folder -> text, for each of its lexicons."""
    return {f"{LEXICONS}/{lexicon.language}.toml": lexicon.text for lexicon in instrument.lexicons}


def lost_lexicons(instrument: Instrument) -> tuple[str, ...]:
    """Return a sentence about the lexicons, for a format that has no place for them.

    It is empty if there are none.
    """
    languages = ", ".join(lexicon.language for lexicon in instrument.lexicons)
    return (f"The lexicons that the instrument brings: {languages}.",) if languages else ()
