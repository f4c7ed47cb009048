"""The templates of a design: their selection, their language, and whether answers can be read.

Statements are asked with instructions of their own language. Other languages are requested by name
(`--template-language en`), as mixed prompts are another design: the answers may be about the
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
    """Return the templates of a design, all in one language: those it names, or all in it.

    Raises UnknownName for a family, a template or a language that does not exist, with those that
    do.
    """
    audit, language = registry.audit(design.audit), design.template_language or design.language
    of_audit = audit.templates_for(instrument, language)
    families = sorted({template.family for template in of_audit})
    family_templates = [template for template in of_audit if template.family == design.family]
    if not family_templates:
        raise UnknownName(
            f"{design.instrument} has no templates of the family {design.family!r} for the audit "
            f"{design.audit!r}. Available: {', '.join(families) or 'none'}"
        )
    known(
        "template",
        design.templates,
        sorted({template.name for template in family_templates}),
        design.instrument,
    )
    selected = [
        template
        for template in family_templates
        if not design.templates or template.name in design.templates
    ]
    in_language = tuple(_in_language(selected, language))
    lacking_names = list(
        dict.fromkeys(
            template.name
            for template in selected
            if template.name not in {available.name for available in in_language}
        )
    )
    if lacking_names and (design.templates or not in_language):
        raise UnknownName(_lacking(design, language, family_templates, lacking_names, audit))
    return in_language


def left_out(instrument: Instrument, design: Design, chosen: Sequence[Template]) -> tuple[str, ...]:
    """Return a note on templates of the family that exist only in other languages.

    It is empty if the design names templates.
    """
    if design.templates or not chosen:
        return ()
    chosen_names = {template.name for template in chosen}
    available = registry.audit(design.audit).templates_for(instrument, chosen[0].language)
    language_by_name = {
        template.name: template.language
        for template in available
        if template.family == design.family and template.name not in chosen_names
    }
    if not language_by_name:
        return ()
    languages = ", ".join(sorted(set(language_by_name.values())))
    return (
        f"note: not asked, because {design.instrument} has them in {languages} and not in "
        f"{chosen[0].language}: {named_few(list(language_by_name))}",
    )


def _in_language(templates: Sequence[Template], language: str) -> Iterator[Template]:
    """Yield the templates in a language. `de-CH` has those of `de` if it has none of its own."""
    exact_names = {template.name for template in templates if template.language == language}
    for template in templates:
        if template.language == language or (
            template.name not in exact_names and template.language == spoken(language)
        ):
            yield template


def _lacking(
    design: Design, language: str, family: Sequence[Template], names: Sequence[str], audit: Audit
) -> str:
    """Return the message on templates that a language lacks."""
    available = sorted({template.language for template in family if template.name in names})
    shipped = ", ".join(template_languages(audit.name))
    origin = "asked for" if design.template_language else "of the statements"
    return (
        f"{design.instrument} has no templates in {language!r}, the language {origin}, for the "
        f"audit {design.audit}, family {design.family!r} ({named_few(names)}). Available: "
        f"{', '.join(available)}; workbench has templates of this audit in {shipped}. Bring them "
        "with the instrument (templates.csv), or choose the language of the prompts, "
        f"--template-language {available[0]}"
    )


def check_readable(audit: Audit, templates: Sequence[Template]) -> None:
    """Raise UsageError if no rule could read the answers to a template.

    This is checked before anything is asked.
    """
    faults: dict[str, list[str]] = {}
    for template in templates:
        if fault := unreadable(template, drawn=audit.defaults.drawn):
            faults.setdefault(fault, []).append(template.name)
    if faults:
        fault_text = "; ".join(
            f"template {named_few(dict.fromkeys(names))}: {fault}"
            for fault, names in faults.items()
        )
        raise UsageError(f"answers could not be read, so nothing is asked. {fault_text}")


def unreadable(template: Template, *, drawn: bool = True) -> str:
    """Return the reason why no rule can read the answers to a template.

    It is empty if a rule or people can read them.

    Parameters
    ----------
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
    """Return notes on templates in another language than the statements, and on lexicons."""
    return (*_other(templates, language), *_little_known(templates))


def _other(templates: Sequence[Template], language: str) -> Iterator[str]:
    """Yield the note on templates in another language than the statements."""
    other_languages = sorted(
        {template.language for template in templates if not template.speaks(language)}
    )
    if other_languages:
        yield (
            f"note: the statements are in {language!r} and the templates in "
            f"{', '.join(map(repr, other_languages))}"
        )


def _little_known(templates: Sequence[Template]) -> Iterator[str]:
    """Yield notes on lexicons that are missing, not reviewed, or without the labels."""
    for language, own_words in dict.fromkeys(
        (template.language, template.words) for template in templates
    ):
        in_language = [template for template in templates if template.language == language]
        if all(template.scale in (LETTER, LIKERT) for template in in_language):
            continue
        try:
            lexicon_words = lexicon(language, own_words)
        except UnknownName:
            if any(template.scale in FREE for template in in_language):
                yield (
                    f"note: there is no lexicon of {language!r}, so refusals look like other "
                    f"answers. Available: {', '.join(lexicons())}"
                )
            continue
        if not lexicon_words.reviewed:
            yield (
                f"note: no native speaker has reviewed the lexicon of {language!r}; see "
                "workbench help languages"
            )
        labels = {
            (template.positive, template.negative): None
            for template in in_language
            if not template.scale
        }
        unknown = [
            f"{positive} / {negative}"
            for positive, negative in labels
            if not lexicon_words.knows(positive, negative)
        ]
        if unknown:
            yield (
                f"note: the lexicon of {language!r} does not list the labels {named_few(unknown)}; "
                "these exact words are read, and no other forms of them"
            )


def known(what: str, requested: Sequence[str], available_names: Sequence[str], where: str) -> None:
    """Raise UnknownName for names that do not exist, with those that do."""
    missing = [name for name in requested if name not in available_names]
    if missing:
        available = ", ".join(available_names[:20]) + (
            f", and {len(available_names) - 20} more" if len(available_names) > 20 else ""
        )
        raise UnknownName(
            f"{where} has no {what} {', '.join(map(repr, missing))}. It has: {available}"
        )
