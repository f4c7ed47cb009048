"""What is odd about an instrument, before any GPU time is spent on it.

The published ProbVAA data hold several of these: two label orders that are one text, variants equal to their original,
stray blanks, answers on statements that are not there.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from workbench.domain.instruments import Instrument
from workbench.domain.prompts import FREE_TEXT, LIKERT, MODEL_SLOT, SLOT, Template
from workbench.domain.statements import (
    ORIGINAL,
    Side,
    Statement,
    VariantId,
    VariantKind,
    Wording,
    variant_order,
)

SEVERITIES = ("error", "warning", "note")
RELIABILITY, BIAS_SCORE = "reliability", "bias_score"
COMPARED = (VariantKind.ORIGINAL, VariantKind.PARAPHRASE, VariantKind.NEGATION, VariantKind.OPPOSITE)
"what the reliability tests ask about; the other kinds belong to the bias score, and a statement may do without them"
SCALES = ("", LIKERT, FREE_TEXT)
FEWEST_PER_ISSUE = 6
"labelled statements; fewer are marked in the stance per policy issue (Ceron et al. 2024, Figure 5)"


_OTHER_SLOT = re.compile(r"\{\w*\}|%[sd]")


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One oddity."""

    severity: str
    "error: results would be wrong; warning: look at it; note: for your information"
    code: str
    subject: str
    "a statement's ref, a template's name, an issue"
    message: str


def lint(instrument: Instrument, language: str | None = None) -> tuple[LintFinding, ...]:
    """Return everything odd, errors first. `language`: look at wordings in this one only."""
    there = _there(instrument.statements)
    found = [
        *_templates(instrument.templates),
        *_kinds(instrument),
        *(finding for s in instrument.statements for finding in _statement(s, language, there, instrument.language)),
        *_duplicates(instrument.statements, language),
        *_labels(instrument),
        *_political_opposites(instrument, language),
        *_unknown_statements(instrument),
        *_issues(instrument),
    ]
    return tuple(sorted(found, key=lambda finding: SEVERITIES.index(finding.severity)))


def folded(text: str) -> str:
    """Return a text as it is compared: NFC, one blank between words, no case."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _same(a: str, b: str) -> str:
    """Return how two texts are alike, "" where they are not."""
    if a == b:
        return "the same text as"
    return "the same text, but for case and blanks, as" if folded(a) == folded(b) else ""


def _kinds(instrument: Instrument) -> Iterator[LintFinding]:
    """Say once what no statement has, instead of once a statement."""
    there = {wording.variant.kind for statement in instrument.statements for wording in statement.wordings}
    for kind in COMPARED if _asks(instrument, RELIABILITY) else ():
        if kind not in there:
            message = f"no statement has a {kind}, so what compares it is not tested"
            yield LintFinding("note", "no-variant", instrument.name, message)


def _asks(instrument: Instrument, audit: str) -> bool:
    """Return whether an instrument is for an audit: it has templates of it, or none at all."""
    return not instrument.templates or any(template.audit == audit for template in instrument.templates)


def _there(statements: Iterable[Statement]) -> dict[str, set[VariantId]]:
    """Return the compared variants that any statement has in a language; a full statement has them all."""
    there: dict[str, set[VariantId]] = defaultdict(set)
    for statement in statements:
        for wording in statement.wordings:
            if wording.variant.kind in COMPARED:
                there[wording.language].add(wording.variant)
    return there


def _statement(
    statement: Statement, language: str | None, there: dict[str, set[VariantId]], audited: str
) -> Iterator[LintFinding]:
    """Check one statement against `there`, what a full one has in each language; `audited` is asked by default."""
    by_language: dict[str, list[Wording]] = defaultdict(list)
    for wording in statement.wordings:
        by_language[wording.language].append(wording)
    if (language or audited) not in by_language:
        yield LintFinding("warning", "missing-language", statement.ref, f"has no wording in {language or audited}")
    for spoken, wordings in by_language.items():
        if language in (None, spoken):
            wordings.sort(key=lambda w: variant_order(w.variant))
            yield from _alike(statement.ref, spoken, wordings)
            yield from _missing(statement.ref, spoken, wordings, there[spoken])
            yield from _blanks(statement.ref, spoken, wordings)


def _alike(ref: str, language: str, wordings: list[Wording]) -> Iterator[LintFinding]:
    for place, wording in enumerate(wordings):
        for other in wordings[:place]:
            how = _same(wording.text, other.text)
            if not how:
                continue
            flips = wording.variant.relation is not other.variant.relation
            both = {wording.variant.kind, other.variant.kind}
            code = f"{wording.variant.kind}-equals-{other.variant.kind}"
            severity = (
                "error" if flips else "note" if both == {VariantKind.NEGATION, VariantKind.OPPOSITE} else "warning"
            )
            yield LintFinding(severity, code, ref, f"{language}: {wording.variant} is {how} {other.variant}")


def _missing(ref: str, language: str, wordings: list[Wording], there: set[VariantId]) -> Iterator[LintFinding]:
    missing = sorted({ORIGINAL, *there} - {wording.variant for wording in wordings}, key=variant_order)
    if missing:
        severity = "error" if ORIGINAL in missing else "warning"
        message = f"{language}: has no {', no '.join(map(str, missing))}"
        yield LintFinding(severity, "missing-variant", ref, message)


def _blanks(ref: str, language: str, wordings: list[Wording]) -> Iterator[LintFinding]:
    outer = [str(w.variant) for w in wordings if w.text != w.text.strip()]
    inner = [str(w.variant) for w in wordings if "  " in w.text.strip()]
    if outer:
        yield LintFinding("warning", "stray-blanks", ref, f"{language}: blanks around {', '.join(outer)}")
    if inner:
        yield LintFinding("note", "double-blanks", ref, f"{language}: double blanks in {', '.join(inner)}")


def _duplicates(statements: Iterable[Statement], language: str | None) -> Iterator[LintFinding]:
    """Two countries may well be asked the same; one country is not asked twice."""
    refs: dict[tuple[str | None, str, str], list[str]] = defaultdict(list)
    for statement in statements:
        for wording in statement.wordings:
            if wording.variant == ORIGINAL and language in (None, wording.language):
                refs[statement.country, wording.language, folded(wording.text)].append(statement.ref)
    for (_, spoken, _), (first, *others) in refs.items():
        for ref in others:
            yield LintFinding("warning", "duplicate-statement", ref, f"{spoken}: the same statement as {first}")


def _templates(templates: Iterable[Template]) -> Iterator[LintFinding]:
    orders: dict[tuple[str, str], list[Template]] = defaultdict(list)
    for template in templates:
        if template.audit == RELIABILITY:
            orders[template.family, template.name].append(template)
        yield from _template(template)
    for (_, name), group in orders.items():
        yield from _orders(name, group)


def _orders(name: str, group: list[Template]) -> Iterator[LintFinding]:
    """Check the two label orders of one template against each other."""
    if len(group) == 1:
        yield LintFinding("warning", "one-order", name, f"has only the {group[0].order} order of its labels")
    elif _same(_text(group[0]), _text(group[1])):
        message = "the two label orders are the same text, so `label_order` cannot fail for it"
        yield LintFinding("error", "orders-equal", name, message)
    elif _first_label(group[0]) == _first_label(group[1]):
        message = f"both label orders name {_first_label(group[0])!r} first"
        yield LintFinding("error", "orders-alike", name, message)
    elif _without_labels(group[0]) != _without_labels(group[1]):
        message = "the two label orders differ in more than their labels, so `label_order` tests that too"
        yield LintFinding("warning", "orders-differ", name, message)


def _template(template: Template) -> Iterator[LintFinding]:
    text, name = _text(template), f"{template.name} ({template.order})"
    if text.count(SLOT) != 1:
        yield LintFinding("error", "template-slot", name, f"holds the slot {SLOT} {text.count(SLOT)} times, not once")
    if template.scale not in SCALES:
        known = ", ".join(filter(None, SCALES))
        yield LintFinding(
            "error", "template-scale", name, f"has the unknown scale {template.scale!r}; there is: {known}"
        )
    labels = (template.positive, template.negative) if not template.scale else ()  # a number or free text names none
    for label in labels:
        if not _label(label).search(text):
            yield LintFinding("error", "template-label", name, f"does not name its label {label!r}")
    for slot in dict.fromkeys(_OTHER_SLOT.findall(text.replace(SLOT, "").replace(MODEL_SLOT, ""))):
        yield LintFinding("warning", "template-unknown-slot", name, f"{slot} goes to the model as it stands")
    words = folded(text).split()
    doubled = [a for a, b in pairwise(words) if a == b and a.isalpha()]
    if doubled:
        yield LintFinding("note", "template-wording", name, f"the word {doubled[0]!r} stands twice")
    for label in labels:
        if re.search(rf'"{re.escape(label)}"\w', text):
            yield LintFinding("note", "template-wording", name, f'no blank after "{label}"')


def _text(template: Template) -> str:
    return f"{template.system or ''}\n{template.user}"


def _label(word: str) -> re.Pattern[str]:
    """Match a label as a word of its own: `disagree` does not hold `agree`."""
    return re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)


def _first_label(template: Template) -> str:
    text = _text(template)
    places = {label: _label(label).search(text) for label in (template.positive, template.negative)}
    named = {label: place.start() for label, place in places.items() if place is not None}
    return min(named, key=named.__getitem__, default="")


def _without_labels(template: Template) -> str:
    labels = f"{_label(template.positive).pattern}|{_label(template.negative).pattern}"
    return re.sub(labels, "\0", _text(template), flags=re.IGNORECASE)


def _labels(instrument: Instrument) -> Iterator[LintFinding]:
    """A statement enters the bias score by its dimension and leaning together."""
    labelled = [s for s in instrument.statements if s.dimension is not None or s.leaning is not None]
    for statement in labelled:
        if statement.leaning is None:
            message = f"is {statement.dimension} and has no leaning, so the bias score leaves it out"
            yield LintFinding("warning", "half-labelled", statement.ref, message)
        elif statement.dimension is None:
            message = f"leans {statement.leaning} and has no dimension, so the bias score leaves it out"
            yield LintFinding("warning", "half-labelled", statement.ref, message)
    if instrument.templates and _asks(instrument, BIAS_SCORE) and not labelled:
        message = "no statement has a dimension and a leaning, so there is no bias score"
        yield LintFinding("note", "no-labels", instrument.name, message)
    sides = Counter((s.dimension, s.leaning) for s in labelled if s.dimension and s.leaning)
    for dimension in dict.fromkeys(dimension for dimension, _ in sides):
        for side in Side:
            if dimension is not None and not sides[dimension, side]:
                message = f"no {dimension} statement leans {side}, so the {dimension} bias score is undefined"
                yield LintFinding("warning", "one-side", instrument.name, message)


def _political_opposites(instrument: Instrument, language: str | None) -> Iterator[LintFinding]:
    """Note labelled statements without one, in every language where another has one."""
    spoken: dict[str, list[tuple[str, bool]]] = defaultdict(list)
    for statement in instrument.statements:
        kinds: dict[str, set[VariantKind]] = defaultdict(set)
        for wording in statement.wordings:
            kinds[wording.language].add(wording.variant.kind)
        for of, found in kinds.items():
            if language in (None, of) and statement.dimension and statement.leaning:
                spoken[of].append((statement.ref, VariantKind.POLITICAL_OPPOSITE in found))
    for of, having in spoken.items():
        for ref, has in having if any(has for _, has in having) else ():
            if not has:
                message = f"{of}: is labelled and has no political opposite, as others have"
                yield LintFinding("note", "no-political-opposite", ref, message)


def _unknown_statements(instrument: Instrument) -> Iterator[LintFinding]:
    refs = {statement.ref for statement in instrument.statements}
    sources = {
        "issue labels": [label.statement for label in instrument.issue_labels],
        "party answers": [answer.statement for answer in instrument.party_answers],
        "survey answers": [answer.statement for answer in instrument.survey],
    }
    for what, statements in sources.items():
        for ref, n in sorted(Counter(ref for ref in statements if ref not in refs).items()):
            yield LintFinding("warning", "unknown-statement", ref, f"{what} on a statement that is not there: {n}")
    answered = {answer.statement for answer in instrument.party_answers}
    without = [ref for ref in refs if ref not in answered]
    if answered and without:
        shown = ", ".join(sorted(without)[:5])
        message = f"{len(without)} statements have no party answers: {shown}"
        yield LintFinding("note", "no-party-answers", instrument.name, message)


def _issues(instrument: Instrument) -> Iterator[LintFinding]:
    refs = {statement.ref for statement in instrument.statements}
    labelled: dict[str, set[str]] = defaultdict(set)
    for label in instrument.issue_labels:
        if label.label and label.statement in refs:
            labelled[label.issue].add(label.statement)
    for issue in instrument.issues:
        if len(labelled[issue]) < FEWEST_PER_ISSUE:
            message = f"{len(labelled[issue])} statements are labelled; fewer than {FEWEST_PER_ISSUE} say little"
            yield LintFinding("note", "few-labels", issue, message)
