"""Templates: one slot, both labels, and two label orders that differ in nothing but their order."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise

from workbench import registry
from workbench.domain.findings import LintFinding, Quoted, folded
from workbench.domain.prompts import FREE_TEXT, LETTER, LIKERT, MODEL_SLOT, SLOT, Template

SCALES = ("", LIKERT, FREE_TEXT, LETTER)
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
    """Return whether an instrument with these templates is for an audit that compares wordings and label orders."""
    return any(registry.audit(name).compares_wordings for name in _audits(templates))


def needs_sides(templates: Iterable[Template]) -> bool:
    """Return whether an instrument with these templates is for an audit that counts by dimension and side."""
    return any(registry.audit(name).needs_sides for name in _audits(templates))


def _audits(templates: Iterable[Template]) -> set[str]:
    """Return the audits that an instrument is for: those of its templates, all where it has no template."""
    return {template.audit for template in templates} & set(registry.audits()) or set(registry.audits())


def _orders(name: str, group: list[Template]) -> Iterator[LintFinding]:
    """Check the two label orders of one template against each other."""
    texts = tuple(Quoted(f"{template.name} ({template.order})", _text(template)) for template in group[:2])
    if len(group) == 1:
        message = f"has only the {group[0].order} order of its labels"
        yield LintFinding("warning", "one-order", name, message, texts=texts)
    elif _same(_text(group[0]), _text(group[1])):
        message = "the two label orders are the same text, so `label_order` cannot fail for it"
        yield LintFinding("error", "orders-equal", name, message, texts=texts)
    elif _first_label(group[0]) == _first_label(group[1]):
        message = f"both label orders name {_first_label(group[0])!r} first"
        yield LintFinding("error", "orders-alike", name, message, texts=texts)
    elif _without_labels(group[0]) != _without_labels(group[1]):
        message = "the two label orders differ in more than their labels, so `label_order` tests that too"
        yield LintFinding("warning", "orders-differ", name, message, texts=texts)


def _template(template: Template) -> Iterator[LintFinding]:
    """Check one template alone."""
    text, name = _text(template), f"{template.name} ({template.order})"
    for severity, code, message in (*_slots(template, text), *_label_faults(template, text), *_wording(text)):
        yield LintFinding(severity, code, name, message, texts=(Quoted(name, text),), detail=message)


Fault = tuple[str, str, str]
"severity, code, message"


def _slots(template: Template, text: str) -> Iterator[Fault]:
    if text.count(SLOT) != 1:
        yield "error", "template-slot", f"holds the slot {SLOT} {text.count(SLOT)} times, not once"
    if template.scale not in SCALES:
        known = ", ".join(filter(None, SCALES))
        yield "error", "template-scale", f"has the unknown scale {template.scale!r}. Available: {known}"
    for slot in dict.fromkeys(_OTHER_SLOT.findall(text.replace(SLOT, "").replace(MODEL_SLOT, ""))):
        yield "warning", "template-unknown-slot", f"{slot} goes to the model as it stands"


def _label_faults(template: Template, text: str) -> Iterator[Fault]:
    """A template that asks for a number or free text names no labels."""
    for label in (template.positive, template.negative) if not template.scale else ():
        if not _label(label).search(text):
            yield "error", "template-label", f"does not name its label {label!r}"
        if re.search(rf'"{re.escape(label)}"\w', text):
            yield "note", "template-wording", f'no space after "{label}"'


def _wording(text: str) -> Iterator[Fault]:
    doubled = [a for a, b in pairwise(folded(text).split()) if a == b and a.isalpha()]
    if doubled:
        yield "note", "template-wording", f"the word {doubled[0]!r} stands twice"


def _same(a: str, b: str) -> bool:
    return a == b or folded(a) == folded(b)


def _text(template: Template) -> str:
    return f"{template.system or ''}\n{template.user}"


def _label(word: str) -> re.Pattern[str]:
    """Match a label as a whole word: `disagree` does not contain `agree`."""
    return re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)


def _first_label(template: Template) -> str:
    text = _text(template)
    places = {label: _label(label).search(text) for label in (template.positive, template.negative)}
    named = {label: place.start() for label, place in places.items() if place is not None}
    return min(named, key=named.__getitem__, default="")


def _without_labels(template: Template) -> str:
    labels = f"{_label(template.positive).pattern}|{_label(template.negative).pattern}"
    return re.sub(labels, "\0", _text(template), flags=re.IGNORECASE)
