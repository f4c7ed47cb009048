"""Which templates a design asks with, in which language, and whether their answers can be read.

Statements are put in instructions of their own language. Others are asked for by name
(`--template-language en`), as mixed prompts are another design: what a model says may be about the
mixture.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench import registry
from workbench.audits.audit import Audit
from workbench.data import lexicon, lexicons, spoken, template_languages
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument
from workbench.domain.prompts import FREE, LETTER, LIKERT, Template
from workbench.domain.questionnaires import named_few
from workbench.errors import UnknownName, UsageError, WorkbenchError
from workbench.evidence.readings import template_reader


def chosen_templates(instrument: Instrument, design: Design) -> tuple[Template, ...]:
    """Return the templates that a design asks with, all in one language: those it names, else all
    that are in it.

    Raises UnknownName for a family, a template or a language that is not there, listing what is.
    """
    audit, language = registry.audit(design.audit), design.template_language or design.language
    of_audit = audit.templates_for(instrument, language)
    families = sorted({t.family for t in of_audit})
    family = [t for t in of_audit if t.family == design.family]
    if not family:
        raise UnknownName(
            f"{design.instrument} has no templates of the family {design.family!r} for the audit "
            f"{design.audit!r}. "
            f"Available: {', '.join(families) or 'none'}"
        )
    known("template", design.templates, sorted({t.name for t in family}), design.instrument)
    chosen = [t for t in family if not design.templates or t.name in design.templates]
    speaking = tuple(_in_language(chosen, language))
    lacking = list(
        dict.fromkeys(t.name for t in chosen if t.name not in {s.name for s in speaking})
    )
    if lacking and (design.templates or not speaking):
        raise UnknownName(_lacking(design, language, family, lacking, audit))
    return speaking


def left_out(instrument: Instrument, design: Design, chosen: Sequence[Template]) -> tuple[str, ...]:
    """Say which templates of the family are in other languages alone, where none is named."""
    if design.templates or not chosen:
        return ()
    there = {template.name for template in chosen}
    held = registry.audit(design.audit).templates_for(instrument, chosen[0].language)
    others = {t.name: t.language for t in held if t.family == design.family and t.name not in there}
    if not others:
        return ()
    languages = ", ".join(sorted(set(others.values())))
    return (
        f"note: not asked, because {design.instrument} has them in {languages} and not in "
        f"{chosen[0].language}: "
        f"{named_few(list(others))}",
    )


def _in_language(templates: Sequence[Template], language: str) -> Iterator[Template]:
    """Yield the templates in a language; `de-CH` has those of `de` where it has none of its own."""
    exact = {template.name for template in templates if template.language == language}
    for template in templates:
        if template.language == language or (
            template.name not in exact and template.language == spoken(language)
        ):
            yield template


def _lacking(
    design: Design, language: str, family: Sequence[Template], names: Sequence[str], audit: Audit
) -> str:
    there = sorted({t.language for t in family if t.name in names})
    shipped = ", ".join(template_languages(audit.name))
    whose = "asked for" if design.template_language else "of the statements"
    return (
        f"{design.instrument} has no templates in {language!r}, the language {whose}, for the "
        f"audit {design.audit}, "
        f"family {design.family!r} ({named_few(names)}). Available: {', '.join(there)}; "
        "workbench has templates of "
        f"this audit in {shipped}. Bring them with the instrument (templates.csv), or choose the "
        "language of the "
        f"prompts, --template-language {there[0]}"
    )


def check_readable(audit: Audit, templates: Sequence[Template]) -> None:
    """Raise UsageError where no rule could read what a template asks for, before anything is
    asked.
    """
    faults: dict[str, list[str]] = {}
    for template in templates:
        if fault := unreadable(template, drawn=audit.defaults.drawn):
            faults.setdefault(fault, []).append(template.name)
    if faults:
        told = "; ".join(
            f"template {named_few(dict.fromkeys(names))}: {fault}"
            for fault, names in faults.items()
        )
        raise UsageError(f"answers could not be read, so nothing is asked. {told}")


def unreadable(template: Template, *, drawn: bool = True) -> str:
    """Return why no rule can read the answers to a template; empty where one can, and where people
    do.

    drawn : False: probabilities of the labels are looked up, and no words are read
    """
    if template.scale:
        return ""
    if not template.positive.strip() or not template.negative.strip():
        return f"it has no label words ({template.positive!r} and {template.negative!r}); give both"
    if not drawn:
        return ""
    try:
        template_reader(template)
    except WorkbenchError as error:
        return str(error)
    return ""


def language_remarks(templates: Sequence[Template], language: str) -> tuple[str, ...]:
    """Say where the instruction is in another language than the statements, and how well its
    answers are read.
    """
    return (*_other(templates, language), *_little_known(templates))


def _other(templates: Sequence[Template], language: str) -> Iterator[str]:
    others = sorted({template.language for template in templates if not template.speaks(language)})
    if others:
        yield (
            f"note: the statements are in {language!r} and the templates in "
            f"{', '.join(map(repr, others))}"
        )


def _little_known(templates: Sequence[Template]) -> Iterator[str]:
    for language, brought in dict.fromkeys(
        (template.language, template.words) for template in templates
    ):
        of = [template for template in templates if template.language == language]
        if all(template.scale in (LETTER, LIKERT) for template in of):
            continue
        try:
            words = lexicon(language, brought)
        except UnknownName:
            if any(template.scale in FREE for template in of):
                yield (
                    f"note: there is no lexicon of {language!r}, so refusals look like other "
                    "answers. "
                    f"Available: {', '.join(lexicons())}"
                )
            continue
        if not words.reviewed:
            yield (
                f"note: no native speaker has reviewed the lexicon of {language!r}; see "
                "workbench help languages"
            )
        labels = {(t.positive, t.negative): None for t in of if not t.scale}
        unknown = [
            f"{positive} / {negative}"
            for positive, negative in labels
            if not words.knows(positive, negative)
        ]
        if unknown:
            yield (
                f"note: the lexicon of {language!r} does not list the labels "
                f"{named_few(unknown)}; these exact words "
                "are read, and no other forms of them"
            )


def known(what: str, wanted: Sequence[str], there: Sequence[str], where: str) -> None:
    """Raise UnknownName for names that are not there, listing those that are."""
    missing = [name for name in wanted if name not in there]
    if missing:
        shown = ", ".join(there[:20]) + (f", and {len(there) - 20} more" if len(there) > 20 else "")
        raise UnknownName(f"{where} has no {what} {', '.join(map(repr, missing))}. It has: {shown}")
