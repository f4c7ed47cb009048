"""Languages: statements without templates, and templates whose answers no rule can read.

These findings would end a run before anything is asked (`workbench.audits.template_choice`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench import registry
from workbench.data import lexicon, template_languages
from workbench.domain.findings import LintFinding
from workbench.domain.instruments import Instrument, with_words
from workbench.domain.prompts import Template
from workbench.errors import UnknownName, UsageError

LEXICON, TEMPLATES, LABELS = "no-lexicon", "no-templates", "no-label-words"


def language_findings(instrument: Instrument, language: str | None = None) -> Iterator[LintFinding]:
    """Yield findings that prevent an instrument, or one language of it, from being asked."""
    yield from _unreadable(with_words(instrument.templates, instrument.lexicons))
    wordings = (wording for statement in instrument.statements for wording in statement.wordings)
    spoken = dict.fromkeys(wording.language for wording in wordings if language in (None, wording.language))
    for one in spoken:
        yield from _unasked(instrument, one)


def _unreadable(templates: Iterable[Template]) -> Iterator[LintFinding]:
    lacking: dict[str, list[str]] = {}
    for template in templates:
        if template.scale or template.audit not in registry.audits():
            continue
        if not template.positive.strip() or not template.negative.strip():
            message = f"has no label words ({template.positive!r} and {template.negative!r}); give both"
            yield LintFinding("error", LABELS, f"{template.name} ({template.order})", message)
        elif registry.audit(template.audit).defaults.drawn:
            try:
                lexicon(template.language, template.words)
            except UnknownName as error:
                lacking.setdefault(str(error), []).append(template.name)
            except UsageError as error:
                yield LintFinding("error", LEXICON, f"{template.name} ({template.order})", str(error))
    for message, names in lacking.items():
        yield LintFinding("error", LEXICON, ", ".join(dict.fromkeys(names)), message)


def _unasked(instrument: Instrument, language: str) -> Iterator[LintFinding]:
    for name in dict.fromkeys(template.audit for template in instrument.templates):
        if name not in registry.audits():
            continue
        held = registry.audit(name).templates_for(instrument, language)
        if not any(template.speaks(language) for template in held):
            there = sorted({template.language for template in held} | set(template_languages(name)))
            message = (
                f"has statements in {language!r}, and no templates in it for the audit {name}. Templates ship in: "
                f"{', '.join(there)}. Bring templates.csv with the instrument, or ask in another language: run "
                f"--template-language {held[0].language}"
            )
            yield LintFinding("warning", TEMPLATES, instrument.name, message, language=language)


__all__ = ["language_findings"]
