"""Merges a file in some languages with an instrument that also has others.

A file determines the languages of its wordings. Wordings and templates of the instrument in other languages are kept,
and statements are matched by their refs. A file with the instrument's main language also determines the other data of
statements, like every import; a file without it is a translation: stored data besides wordings (topics, sides, labels,
parties, roles, the order) are kept, and the file only fills in empty fields.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from stores.instruments.statement_rows import ABOUT
from workbench.domain.instruments import Instrument
from workbench.domain.prompts import Template
from workbench.domain.statements import Statement

TemplatePlace = tuple[str, str, str, str, bool]


@dataclass(frozen=True, slots=True)
class LanguageChange:
    """The changes of an import in one language of an existing instrument."""

    language: str
    given: bool
    "whether the file has wordings in this language"
    added: int = 0
    replaced: int = 0
    "changed wordings; earlier texts stay in the history of their statements"
    taken_out: int = 0
    as_before: int = 0
    templates_added: int = 0
    templates_replaced: int = 0
    templates_taken_out: int = 0
    templates_as_before: int = 0


@dataclass(frozen=True, slots=True)
class LanguageJoin:
    """A file that lacks some languages of the stored instrument."""

    spoken: frozenset[str]
    "languages of the file"
    main: bool
    "whether they include the instrument's main language"

    @classmethod
    def of(cls, here: Instrument, file: Instrument) -> LanguageJoin | None:
        """Return the join of a file with an instrument; None if the file has all of its languages."""
        spoken, there = languages_of(file), languages_of(here)
        return cls(spoken, here.language in spoken) if spoken and there - spoken else None

    def instrument(self, file: Instrument, here: Instrument) -> Instrument:
        """Return the instrument's data besides statements: those of the file, completed by stored data."""
        joined = replace(file, templates=self._templates(file, here), language=here.language)
        return joined if self.main else _translated(joined, here)

    def statement(self, given: Statement, here: Statement) -> Statement:
        """Return a statement of the file, completed by stored wordings in other languages and other stored data."""
        stay = tuple(w for w in here.wordings if w.language not in self.spoken)
        joined = replace(given, wordings=(*given.wordings, *stay))
        if self.main:
            return joined
        known = {field: value for field in ABOUT if (value := getattr(here, field))}
        return replace(joined, **known)

    def part(self, statement: Statement) -> Statement:
        """Return a statement with only its wordings in the languages of the file."""
        return replace(statement, wordings=tuple(w for w in statement.wordings if w.language in self.spoken))

    def leaves(self, statement: Statement) -> bool:
        """Return whether a statement missing in the file is kept: if it has no wording in the file's languages, or the
        file is a translation.
        """
        return not self.main or not self.part(statement).wordings

    def _templates(self, file: Instrument, here: Instrument) -> tuple[Template, ...]:
        """Return the templates of a file in its languages, and the stored ones in other languages."""
        known = {place_of(template) for template in here.templates}
        given = [t for t in file.templates if _speaks(t, self.spoken) or place_of(t) not in known]
        places = {place_of(template) for template in given}
        stay = [t for t in here.templates if place_of(t) not in places]
        return (*(t for t in stay if not (self.main and _speaks(t, self.spoken))), *given)


def languages_of(instrument: Instrument) -> frozenset[str]:
    """Return the languages of an instrument's wordings."""
    return frozenset(w.language for statement in instrument.statements for w in statement.wordings)


def place_of(template: Template) -> TemplatePlace:
    """Return the identity of a template in an instrument, independent of its text."""
    return template.audit, template.family, template.name, template.language, template.inverted


def _speaks(template: Template, languages: Iterable[str]) -> bool:
    return any(template.speaks(language) for language in languages)


def _translated(file: Instrument, here: Instrument) -> Instrument:
    """Return a translation's file, with stored data taking precedence."""
    labels = {(one.statement, one.issue, one.annotator) for one in here.issue_labels}
    answers = {(one.country, one.party, one.statement) for one in here.party_answers}
    parties = {(one.country, one.name) for one in here.parties}
    defined = {one.name for one in here.definitions}
    asked = {item.ref for item in here.choices}
    return replace(
        file,
        title=here.title,
        version=here.version,
        source=here.source or file.source,
        citation=here.citation or file.citation,
        licence=here.licence or file.licence,
        issues=tuple(dict.fromkeys((*here.issues, *file.issues))),
        notes=tuple(dict.fromkeys((*here.notes, *file.notes))),
        definitions=tuple(one for one in file.definitions if one.name not in defined),
        issue_labels=tuple(one for one in file.issue_labels if (one.statement, one.issue, one.annotator) not in labels),
        parties=tuple(one for one in file.parties if (one.country, one.name) not in parties),
        party_answers=tuple(
            one for one in file.party_answers if (one.country, one.party, one.statement) not in answers
        ),
        choices=tuple(item for item in file.choices if item.ref not in asked),
    )


@dataclass(frozen=True, slots=True)
class Held:
    """The texts and templates of an instrument before or after an import."""

    texts: Mapping[tuple[object, ...], int]
    "(ref, kind, ordinal, language) -> text"
    templates: Mapping[tuple[object, ...], int]
    "(audit, family, name, inverted, language) -> template"

    @classmethod
    def of(cls, connection: sqlite3.Connection, instrument_id: int) -> Held:
        texts = connection.execute(_TEXTS, (instrument_id,))
        templates = connection.execute(_TEMPLATES, (instrument_id,))
        return cls({tuple(place): held for *place, held in texts}, {tuple(place): held for *place, held in templates})


def changes(before: Held, after: Held, spoken: frozenset[str]) -> tuple[LanguageChange, ...]:
    """Return the changes between two states, by language; `spoken`: the languages of the file."""
    languages = dict.fromkeys(str(place[-1]) for held in (before, after) for of in (held.texts, held.templates)
                              for place in of)  # fmt: skip
    found = []
    for language in sorted(languages):
        texts = _counted(before.texts, after.texts, language)
        templates = _counted(before.templates, after.templates, language)
        found.append(LanguageChange(language, language in spoken, *texts, *templates))
    return tuple(found)


def _counted(
    before: Mapping[tuple[object, ...], int], after: Mapping[tuple[object, ...], int], language: str
) -> tuple[int, int, int, int]:
    """Return how many are added, replaced, removed, and unchanged."""
    was = {place: held for place, held in before.items() if place[-1] == language}
    now = {place: held for place, held in after.items() if place[-1] == language}
    both = was.keys() & now.keys()
    same = sum(was[place] == now[place] for place in both)
    return len(now.keys() - was.keys()), len(both) - same, len(was.keys() - now.keys()), same


_TEXTS = """
    select s.ref, w.kind, w.ordinal, w.language, w.text_id from wording w join statement s on s.id = w.statement_id
    where s.instrument_id = ? and s.current = 1
"""
_TEMPLATES = """
    select t.audit, t.family, t.name, t.inverted, t.language, t.id
    from instrument_template i join template t on t.id = i.template_id where i.instrument_id = ?
"""
