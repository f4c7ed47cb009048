"""Lint checks of multiple-choice questions: unreadable forms, and forms that do not fit their bias."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench.domain.choices import Bias, Choice, ChoiceItem, ChoicePair, parse_choice
from workbench.domain.findings import LintFinding, Quoted, folded
from workbench.domain.instruments import FORMS, Instrument, pair_of, unreadable_forms
from workbench.domain.statements import CHANGED, ORIGINAL, Statement, Wording
from workbench.workshop.choice_forms import pair_faults, pair_hints
from workbench.workshop.wording_checks import character_hints


def without_choices(instrument: Instrument) -> Instrument:
    """Return an instrument without its multiple-choice questions, for checks of statements only."""
    refs = {item.ref for item in instrument.choices}
    return replace(instrument, statements=tuple(s for s in instrument.statements if s.ref not in refs))


def choice_findings(instrument: Instrument, language: str | None = None) -> Iterator[LintFinding]:
    """Yield findings on an instrument's questions, in one language or in all."""
    items = {item.ref: item for item in instrument.choices}
    first: dict[tuple[Bias, str, str, str], str] = {}
    for statement in instrument.statements:
        item = items.get(statement.ref)
        for spoken in dict.fromkeys(w.language for w in statement.wordings):
            if language in (None, spoken) and item is not None:
                yield from _of_question(statement, item, spoken)
                yield from _twice(statement, item, spoken, first)
            elif language in (None, spoken):
                yield from _under_no_bias(statement, spoken)


def reads_as_question(statement: Statement, language: str) -> bool:
    """Return whether a statement's original is a question with lettered options."""
    original = statement.wording(ORIGINAL, language)
    return original is not None and isinstance(parse_choice(original.text), Choice)


def _under_no_bias(statement: Statement, language: str) -> Iterator[LintFinding]:
    if reads_as_question(statement, language):
        message = (
            f"{language}: a question with options that stands under no bias, so no audit of response biases asks it"
        )
        yield LintFinding("note", "no-bias", statement.ref, message, statement.ref, ORIGINAL, language)


def _of_question(statement: Statement, item: ChoiceItem, language: str) -> Iterator[LintFinding]:
    wordings = [w for w in statement.wordings if w.language == language and w.variant.kind in FORMS]
    yield from _unreadable(statement, language)
    for wording in wordings:
        yield from _further(statement.ref, wording)
        yield from _characters(statement.ref, wording)
    pair = pair_of(statement, item, language)
    if isinstance(pair, ChoicePair):
        texts = tuple(Quoted(str(w.variant), w.text) for w in wordings if w.variant in (ORIGINAL, CHANGED))
        unreadable = pair.changed is None and any(w.variant == CHANGED for w in wordings)
        yield from _of_pair(statement.ref, pair, language, texts, unreadable=unreadable)


def _unreadable(statement: Statement, language: str) -> Iterator[LintFinding]:
    ref = statement.ref
    for wording, fault in unreadable_forms(statement):
        if wording.language == language:
            message = f"{language}: {wording.variant} cannot be asked: {fault.found}, where {fault.expected}"
            texts = (Quoted(str(wording.variant), wording.text),)
            yield LintFinding("error", "no-options", ref, message, ref, wording.variant, language, texts)


def _further(ref: str, wording: Wording) -> Iterator[LintFinding]:
    """Note further changed forms: a question is asked in one."""
    if wording.variant.kind is CHANGED.kind and wording.variant != CHANGED:
        message = f"{wording.language}: {wording.variant} is never asked: a question has one changed form, “{CHANGED}”"
        texts = (Quoted(str(wording.variant), wording.text),)
        yield LintFinding("warning", "second-changed", ref, message, ref, wording.variant, wording.language, texts)


def _characters(ref: str, wording: Wording) -> Iterator[LintFinding]:
    for hint in character_hints(wording.text):
        message = f"{wording.language}: {wording.variant} {hint.message}"
        place = (ref, wording.variant, wording.language, (Quoted(str(wording.variant), wording.text),))
        yield LintFinding(hint.severity, hint.code, ref, message, *place, detail=hint.message)


def _of_pair(
    ref: str, pair: ChoicePair, language: str, texts: tuple[Quoted, ...], *, unreadable: bool
) -> Iterator[LintFinding]:
    """Yield findings on a question with a readable original; `unreadable`: its changed form cannot be read."""
    place = (ref, CHANGED, language, texts)
    if pair.changed is not None:
        for fault in pair_faults(pair):
            yield LintFinding("warning", "not-of-bias", ref, f"{pair.bias}: {fault}", *place, detail=fault)
        for hint in pair_hints(pair):
            yield LintFinding("note", "bias-wording", ref, f"{pair.bias}: {hint}", *place, detail=hint)
    elif not unreadable:
        message = f"has no changed form, so {pair.bias} cannot be measured on it"
        yield LintFinding("warning", "no-changed-form", ref, message, *place)
    for (kind, draw), form in pair.perturbed.items():
        if form.options != pair.original.options:
            name = f"{kind}-{draw}"
            message = f"{name} has other options than the original, so more than typos tell them apart"
            yield LintFinding("warning", "other-options", ref, message, ref, None, language, texts[:1], detail=name)
    if pair.shares and len(pair.shares) != len(pair.original.options):
        message = f"has {len(pair.shares)} shares of people, and {len(pair.original.options)} options"
        yield LintFinding("warning", "other-shares", ref, message, ref, ORIGINAL, language, texts[:1])


def _twice(
    statement: Statement, item: ChoiceItem, language: str, first: dict[tuple[Bias, str, str, str], str]
) -> Iterator[LintFinding]:
    """Note a duplicate question under the same bias; other biases may have the same question."""
    original = statement.wording(ORIGINAL, language)
    if original is None:
        return
    before = first.setdefault((item.bias, item.variant, language, folded(original.text)), statement.ref)
    if before != statement.ref:
        message = f"{language}: the same question as {before}"
        texts = (Quoted(f"{statement.ref} original", original.text),)
        place = (statement.ref, ORIGINAL, language, texts)
        yield LintFinding("warning", "duplicate-question", statement.ref, message, *place, detail=before)
