"""Checks of statements and wordings: missing ones, duplicate texts, and texts that cannot be asked.

A wording is compared by its relation, not by its kind: a free one has no expected stance. A
question is not a variant and is not compared.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import pairwise

from workbench import registry
from workbench.data import lexicon, template_languages
from workbench.domain.findings import LintFinding, Quoted, folded
from workbench.domain.instruments import Instrument, with_words
from workbench.domain.prompts import (
    COMPLETION,
    FREE_TEXT,
    LETTER,
    LIKERT,
    MODEL_SLOT,
    SLOT,
    Template,
)
from workbench.domain.statements import (
    ORIGINAL,
    Relation,
    Statement,
    VariantId,
    VariantKind,
    Wording,
    text_fault,
    variant_order,
)
from workbench.errors import UnknownName, UsageError

COMPARED = (
    VariantKind.ORIGINAL,
    VariantKind.PARAPHRASE,
    VariantKind.NEGATION,
    VariantKind.OPPOSITE,
)
"""kinds that the reliability tests ask about

The other kinds belong to the bias score, and a statement may do without them.
"""


def statement_findings(
    instrument: Instrument, language: str | None, apart: Collection[str] = ()
) -> Iterator[LintFinding]:
    """Yield findings on statements and their wordings, in one language or in all.

    `apart`: refs of statements that need no other wordings, so they do not count where it is said
    who has one.
    """
    full_variants, rare = _expected_variants(
        candidate for candidate in instrument.statements if candidate.ref not in apart
    )
    yield from _kinds(instrument)
    for spoken, counts in rare.items():
        if language in (None, spoken):
            for variant, (n_with, n_all) in sorted(
                counts.items(), key=lambda item: variant_order(item[0])
            ):
                message = (
                    f"{spoken}: {variant} exists for {n_with:,} of {n_all:,} statements; the "
                    "others are asked without it"
                )
                yield LintFinding("note", "rare-variant", instrument.name, message, language=spoken)
    for statement in instrument.statements:
        yield from _statement(statement, language, full_variants, instrument.language)
    yield from _duplicates(instrument.statements, language)
    yield from _political_opposites(instrument, language)
    yield from _origins(instrument.statements)


def _same(a: str, b: str) -> str:
    """Return the agreement of two texts in words, or an empty string if they differ."""
    if a == b:
        return "the same text as"
    return "the same text, except for case and spaces, as" if folded(a) == folded(b) else ""


def _kinds(instrument: Instrument) -> Iterator[LintFinding]:
    """Yield a note on each kind of wording that no statement has.

    So a kind is reported once, and not once per statement.
    """
    present = {
        wording.variant.kind
        for statement in instrument.statements
        for wording in statement.wordings
    }
    for kind in COMPARED if compares_wordings(instrument.templates) else ():
        if kind not in present:
            article = "an" if kind.value.startswith("o") else "a"
            message = f"no statement has {article} {kind}, so the {kind} test cannot run"
            yield LintFinding("note", "no-variant", instrument.name, message)


def _expected_variants(
    statements: Iterable[Statement],
) -> tuple[dict[str, set[VariantId]], dict[str, dict[VariantId, tuple[int, int]]]]:
    """Return the compared variants that a full statement has, and those that few have, by language.

    A full statement has the variants of at least half of the statements. Each variant that fewer
    have comes with (statements that have it, all).
    """
    counts_by_language: dict[str, Counter[VariantId]] = defaultdict(Counter)
    n_statements: Counter[str] = Counter()
    for statement in statements:
        n_statements.update({wording.language for wording in statement.wordings})
        for wording in statement.wordings:
            if wording.variant.kind in COMPARED:
                counts_by_language[wording.language][wording.variant] += 1
    full = {
        language: {
            variant for variant, count in counts.items() if 2 * count >= n_statements[language]
        }
        for language, counts in counts_by_language.items()
    }
    rare = {
        language: {
            variant: (count, n_statements[language])
            for variant, count in counts.items()
            if variant not in full[language] and variant != ORIGINAL
        }
        for language, counts in counts_by_language.items()
    }
    return full, rare


def _statement(
    statement: Statement,
    language: str | None,
    expected_variants: Mapping[str, set[VariantId]],
    audited: str,
) -> Iterator[LintFinding]:
    """Yield findings on one statement, compared with a full statement.

    `expected_variants` has the variants of a full statement in each language. `audited` is the
    language asked by default.
    """
    ref = statement.ref
    by_language: dict[str, list[Wording]] = defaultdict(list)
    for wording in statement.wordings:
        by_language[wording.language].append(wording)
    if not statement.wordings:
        yield LintFinding(
            "error", "no-original", ref, "has no wording at all, so nothing can be asked", ref
        )
    elif (language or audited) not in by_language:
        spoken = language or audited
        yield LintFinding(
            "warning", "missing-language", ref, f"has no wording in {spoken}", ref, language=spoken
        )
    for spoken, wordings in by_language.items():
        if language in (None, spoken):
            wordings.sort(key=lambda item: variant_order(item.variant))
            yield from _alike(ref, spoken, wordings)
            yield from _missing(ref, spoken, wordings, expected_variants.get(spoken, set()))
            yield from _blanks(ref, spoken, wordings)
            yield from _unusable(ref, spoken, wordings)


def _alike(ref: str, language: str, wordings: list[Wording]) -> Iterator[LintFinding]:
    comparable = [wording for wording in wordings if wording.relation is not Relation.FREE]
    for index, wording in enumerate(comparable):
        for other in comparable[:index]:
            agreement = _same(wording.text, other.text)
            if not agreement:
                continue
            kinds = {wording.variant.kind, other.variant.kind}
            nearly_equal = kinds == {VariantKind.NEGATION, VariantKind.OPPOSITE}
            severity = (
                "error"
                if wording.relation is not other.relation
                else "note"
                if nearly_equal
                else "warning"
            )
            yield LintFinding(
                severity,
                f"{wording.variant.kind}-equals-{other.variant.kind}",
                ref,
                f"{language}: {wording.variant} is {agreement} {other.variant}",
                ref,
                wording.variant,
                language,
                (
                    Quoted(str(other.variant), other.text),
                    Quoted(str(wording.variant), wording.text),
                ),
                detail=str(other.variant),
            )


def _missing(
    ref: str, language: str, wordings: list[Wording], expected_variants: set[VariantId]
) -> Iterator[LintFinding]:
    missing = sorted(
        {ORIGINAL, *expected_variants} - {wording.variant for wording in wordings},
        key=variant_order,
    )
    if missing:
        severity = "error" if ORIGINAL in missing else "warning"
        message = f"{language}: has no {', no '.join(map(str, missing))}"
        yield LintFinding(severity, "missing-variant", ref, message, ref, missing[0], language)


def _blanks(ref: str, language: str, wordings: list[Wording]) -> Iterator[LintFinding]:
    outer = [wording for wording in wordings if wording.text != wording.text.strip()]
    inner = [w for w in wordings if "  " in w.text.strip()]
    for severity, code, where, affected in (
        ("warning", "stray-blanks", "spaces around", outer),
        ("note", "double-blanks", "double spaces in", inner),
    ):
        if affected:
            message = (
                f"{language}: {where} {', '.join(str(wording.variant) for wording in affected)}"
            )
            texts = tuple(Quoted(str(wording.variant), wording.text) for wording in affected)
            yield LintFinding(
                severity, code, ref, message, ref, affected[0].variant, language, texts
            )


def _unusable(ref: str, language: str, wordings: list[Wording]) -> Iterator[LintFinding]:
    for wording in wordings:
        if fault := text_fault(wording.text):
            message = f"{language}: {wording.variant} cannot be asked: {fault}"
            texts = (Quoted(str(wording.variant), wording.text),)
            yield LintFinding(
                "error", "unusable-text", ref, message, ref, wording.variant, language, texts
            )


def _duplicates(statements: Iterable[Statement], language: str | None) -> Iterator[LintFinding]:
    """Yield findings on statements of one country with the same text.

    Two countries may well be asked the same, but one country is not asked twice.
    """
    refs_by_text: dict[tuple[str | None, str, str], list[tuple[str, str]]] = defaultdict(list)
    for statement in statements:
        for wording in statement.wordings:
            if wording.variant == ORIGINAL and language in (None, wording.language):
                key = statement.country, wording.language, folded(wording.text)
                refs_by_text[key].append((statement.ref, wording.text))
    for (_, language_of, _), ((first, text), *other_refs) in refs_by_text.items():
        for ref, other_text in other_refs:
            message = f"{language_of}: the same statement as {first}"
            texts = (Quoted(f"{first} original", text), Quoted(f"{ref} original", other_text))
            yield LintFinding(
                "warning", "duplicate-statement", ref, message, ref, ORIGINAL, language_of, texts
            )


def _political_opposites(instrument: Instrument, language: str | None) -> Iterator[LintFinding]:
    """Yield a note on each labelled statement without a political opposite.

    Only languages in which another statement has one are checked.
    """
    has_opposite: dict[str, list[tuple[str, bool]]] = defaultdict(list)
    for statement in instrument.statements:
        kinds: dict[str, set[VariantKind]] = defaultdict(set)
        for wording in statement.wordings:
            kinds[wording.language].add(wording.variant.kind)
        for language_of, variant_kinds in kinds.items():
            if language in (None, language_of) and statement.dimension and statement.leaning:
                has_opposite[language_of].append(
                    (statement.ref, VariantKind.POLITICAL_OPPOSITE in variant_kinds)
                )
    for language_of, statements in has_opposite.items():
        for ref, has in statements if any(has for _, has in statements) else ():
            if not has:
                message = (
                    f"{language_of}: is labelled and has no political opposite, as others have"
                )
                yield LintFinding(
                    "note", "no-political-opposite", ref, message, ref, language=language_of
                )


def _origins(statements: Iterable[Statement]) -> Iterator[LintFinding]:
    """Yield findings on the origins of statements.

    Every chain of origins must end at an existing statement.
    """
    made_from = {statement.ref: statement.derived_from for statement in statements}
    reported: set[str] = set()
    for ref, origin in made_from.items():
        if origin is None:
            continue
        if origin not in made_from:
            message = f"was made from {origin}, which is archived or was never there"
            yield LintFinding("note", "unknown-origin", ref, message, ref)
        circle = _circle(ref, made_from)
        if circle and not reported & set(circle):
            reported |= set(circle)
            message = f"was made from itself: {' ← '.join([*circle, circle[0]])}"
            yield LintFinding("error", "circular-origin", ref, message, ref)


def _circle(ref: str, made_from: Mapping[str, str | None]) -> tuple[str, ...]:
    """Return the circle of origins that contains `ref`, or an empty tuple if there is none."""
    chain = [ref]
    while (origin := made_from.get(chain[-1])) is not None and origin not in chain:
        chain.append(origin)
    return tuple(chain) if made_from.get(chain[-1]) == ref else ()


def about_choices(findings: Iterable[LintFinding], instrument: Instrument) -> Iterator[LintFinding]:
    """Yield findings without those only for statements: missing variants and shared texts."""
    refs = {item.ref for item in instrument.choices}
    only_choices = all(statement.ref in refs for statement in instrument.statements)
    for finding in findings:
        only_for_statements = finding.code == "missing-variant" and finding.variant != ORIGINAL
        only_for_statements |= finding.code == "duplicate-statement"
        if not (only_for_statements and finding.ref in refs) and not (
            finding.code == "no-variant" and only_choices
        ):
            yield finding


LEXICON, TEMPLATES, LABELS = "no-lexicon", "no-templates", "no-label-words"


def language_findings(instrument: Instrument, language: str | None = None) -> Iterator[LintFinding]:
    """Yield findings that prevent an instrument, or one language of it, from being asked."""
    yield from _unreadable(with_words(instrument.templates, instrument.lexicons))
    wordings = (wording for statement in instrument.statements for wording in statement.wordings)
    languages = dict.fromkeys(
        wording.language for wording in wordings if language in (None, wording.language)
    )
    for language_of in languages:
        yield from _unasked(instrument, language_of)


def _unreadable(templates: Iterable[Template]) -> Iterator[LintFinding]:
    templates_by_error: dict[str, list[str]] = {}
    for template in templates:
        if template.scale or template.audit not in registry.audits():
            continue
        if not template.positive.strip() or not template.negative.strip():
            message = (
                f"has no label words ({template.positive!r} and {template.negative!r}); give both"
            )
            yield LintFinding("error", LABELS, f"{template.name} ({template.order})", message)
        elif registry.audit(template.audit).defaults.drawn:
            try:
                lexicon(template.language, template.words)
            except UnknownName as error:
                templates_by_error.setdefault(str(error), []).append(template.name)
            except UsageError as error:
                yield LintFinding(
                    "error", LEXICON, f"{template.name} ({template.order})", str(error)
                )
    for message, names in templates_by_error.items():
        yield LintFinding("error", LEXICON, ", ".join(dict.fromkeys(names)), message)


def _unasked(instrument: Instrument, language: str) -> Iterator[LintFinding]:
    for name in dict.fromkeys(template.audit for template in instrument.templates):
        if name not in registry.audits():
            continue
        templates = registry.audit(name).templates_for(instrument, language)
        if not any(template.speaks(language) for template in templates):
            languages = sorted(
                {template.language for template in templates} | set(template_languages(name))
            )
            message = (
                f"has statements in {language!r}, and no templates in it for the audit {name}. "
                f"Templates ship in: {', '.join(languages)}. Bring templates.csv with the "
                f"instrument, or ask in another language: run "
                f"--template-language {templates[0].language}"
            )
            yield LintFinding("warning", TEMPLATES, instrument.name, message, language=language)


SCALES = ("", LIKERT, FREE_TEXT, LETTER, COMPLETION)
_OTHER_SLOT = re.compile(r"\{\w*\}|%[sd]")


def template_findings(templates: Iterable[Template]) -> Iterator[LintFinding]:
    """Yield findings on each template, and on the two label orders of a template."""
    orders: dict[tuple[str, str], list[Template]] = defaultdict(list)
    for template in templates:
        if compares_wordings([template]):
            orders[template.family, template.name].append(template)
        yield from _template(template)
    for (_, name), group in orders.items():
        yield from _orders(name, group)


def compares_wordings(templates: Iterable[Template]) -> bool:
    """Return whether an instrument with these templates is for an audit that compares wordings.

    Such an audit compares label orders, too.
    """
    return any(registry.audit(name).compares_wordings for name in _audits(templates))


def needs_sides(templates: Iterable[Template]) -> bool:
    """Return whether an instrument with these templates is for an audit that counts by side.

    Such an audit counts by dimension and side.
    """
    return any(registry.audit(name).needs_sides for name in _audits(templates))


def _audits(templates: Iterable[Template]) -> set[str]:
    """Return the audits that an instrument is for.

    They are those of its templates, or all if it has no template.
    """
    return {template.audit for template in templates} & set(registry.audits()) or set(
        registry.audits()
    )


def _orders(name: str, group: list[Template]) -> Iterator[LintFinding]:
    """Check the two label orders of one template against each other."""
    texts = tuple(
        Quoted(f"{template.name} ({template.order})", _text(template)) for template in group[:2]
    )
    if len(group) == 1:
        message = f"has only the {group[0].order} order of its labels"
        yield LintFinding("warning", "one-order", name, message, texts=texts)
    elif _templates_same(_text(group[0]), _text(group[1])):
        message = "the two label orders are the same text, so `label_order` cannot fail for it"
        yield LintFinding("error", "orders-equal", name, message, texts=texts)
    elif _first_label(group[0]) == _first_label(group[1]):
        message = f"both label orders name {_first_label(group[0])!r} first"
        yield LintFinding("error", "orders-alike", name, message, texts=texts)
    elif _without_labels(group[0]) != _without_labels(group[1]):
        message = (
            "the two label orders differ in more than their labels, so `label_order` tests that too"
        )
        yield LintFinding("warning", "orders-differ", name, message, texts=texts)


def _template(template: Template) -> Iterator[LintFinding]:
    """Check one template alone."""
    text, name = _text(template), f"{template.name} ({template.order})"
    for severity, code, message in (
        *_slots(template, text),
        *_label_faults(template, text),
        *_wording(text),
    ):
        yield LintFinding(
            severity, code, name, message, texts=(Quoted(name, text),), detail=message
        )


Fault = tuple[str, str, str]
"severity, code, message"


def _slots(template: Template, text: str) -> Iterator[Fault]:
    if text.count(SLOT) != 1:
        yield "error", "template-slot", f"holds the slot {SLOT} {text.count(SLOT)} times, not once"
    if template.scale not in SCALES:
        scales = ", ".join(filter(None, SCALES))
        yield (
            "error",
            "template-scale",
            f"has the unknown scale {template.scale!r}. Available: {scales}",
        )
    for slot in dict.fromkeys(_OTHER_SLOT.findall(text.replace(SLOT, "").replace(MODEL_SLOT, ""))):
        yield "warning", "template-unknown-slot", f"{slot} goes to the model as it stands"


def _label_faults(template: Template, text: str) -> Iterator[Fault]:
    """Yield a fault for each label that the template does not name, or does not separate.

    A template that asks for a number or free text names no labels.
    """
    for label in (template.positive, template.negative) if not template.scale else ():
        if not _label(label).search(text):
            yield "error", "template-label", f"does not name its label {label!r}"
        if re.search(rf'"{re.escape(label)}"\w', text):
            yield "note", "template-wording", f'no space after "{label}"'


def _wording(text: str) -> Iterator[Fault]:
    doubled = [
        word
        for word, next_word in pairwise(folded(text).split())
        if word == next_word and word.isalpha()
    ]
    if doubled:
        yield "note", "template-wording", f"the word {doubled[0]!r} stands twice"


def _templates_same(a: str, b: str) -> bool:
    return a == b or folded(a) == folded(b)


def _text(template: Template) -> str:
    return f"{template.system or ''}\n{template.user}"


def _label(word: str) -> re.Pattern[str]:
    """Return a pattern that matches a label as a whole word.

    `disagree` does not contain `agree`.
    """
    return re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)


def _first_label(template: Template) -> str:
    text = _text(template)
    matches = {
        label: _label(label).search(text) for label in (template.positive, template.negative)
    }
    starts = {label: match.start() for label, match in matches.items() if match is not None}
    return min(starts, key=starts.__getitem__, default="")


def _without_labels(template: Template) -> str:
    labels = f"{_label(template.positive).pattern}|{_label(template.negative).pattern}"
    return re.sub(labels, "\0", _text(template), flags=re.IGNORECASE)
