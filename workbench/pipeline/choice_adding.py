"""A multiple-choice question as somebody writes it enters an instrument under a bias, as one change.

It is checked as the questions of a file are: what the statistics could not count is refused, what is odd is said.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.domain.choice_statements import pair_of, statement_of, unreadable_forms
from workbench.domain.choice_texts import Fault, parse_choice
from workbench.domain.choices import Bias, Choice, ChoiceItem, ChoicePair, key_in, ref_of
from workbench.domain.statements import CHANGED, ORIGINAL, Statement, Wording
from workbench.errors import UnknownName, UsageError
from workbench.formats.choices_rules import form_fault, original_fault
from workbench.pipeline.editing import Done
from workbench.workshop.choice_forms import WRITTEN, original_faults, pair_faults, pair_hints
from workbench.workshop.edits import with_tag, with_text

if TYPE_CHECKING:
    from stores.core.store import Store


def add_question(
    store: Store, instrument: str, bias: Bias, statement: Statement, changed: str = "", *, person: str
) -> Done:
    """Put a question under a bias: its ref becomes that of the bias and the key, `odd_even.q10`.

    `statement` has the key, or such a ref, as its ref, and the question as its only original; `changed` is the text of
    its changed form, where there is one. A statement that is there in these words and stands under no bias is put
    under it as it is. Raises UsageError where a text is no such question, and where another one has the ref.
    """
    original = next((w for w in statement.wordings if w.variant == ORIGINAL), None)
    if original is None:
        raise UsageError("the question has no text; write it with one option per line")
    pair = _checked(bias, key_in(statement.ref.strip()), original.text, changed)
    ref, language = ref_of(bias, pair.key), original.language
    _, item = statement_of(pair, language)
    seen = _there(store, instrument, ref)
    if seen is None:
        kept = [w for w in statement.wordings if w != original]
        wordings = (Wording(ORIGINAL, language, pair.original.lettered(), original.author), *kept)
        made = with_tag(replace(statement, ref=ref, wordings=wordings), bias)
        made = _with_changed(made, pair, language, person)
        store.statements.change(instrument, person=person, act=f"added under {bias}", create=[made], choices=[item])
    else:
        _check_same(store, instrument, seen, pair.original, language)
        made = replace(with_tag(seen, bias), topic=statement.topic or seen.topic)
        made = _with_changed(made, pair, language, person)
        expected = {ref: seen}
        act = f"put under {bias}"
        store.statements.change(instrument, person=person, act=act, expected=expected, save=[made], choices=[item])
    return Done(_said(made, item, language), (ref,))


def _checked(bias: Bias, key: str, original: str, changed: str) -> ChoicePair:
    """Return the question. Raises UsageError where it is none, or not one of the bias."""
    if not key:
        raise UsageError("the question has no key; give a short one, such as q10")
    pair = ChoicePair(key, bias, _choice("question", original), _choice("changed form", changed) if changed else None)
    for name, fault in (("question", original_fault(pair)), ("changed form", form_fault(pair))):
        if fault is not None:
            raise UsageError(f"the {name} has {fault.found}; {bias} needs {fault.expected}")
    if bias is Bias.OPINION_FLOAT and len(pair.original.options) % 2 == 0:
        n = len(pair.original.options)
        raise UsageError(f"the question has {n} options; {bias} needs an odd number: delta is about the middle option")
    return pair


def _choice(name: str, text: str) -> Choice:
    found = parse_choice(text)
    if isinstance(found, Fault):
        raise UsageError(f"the {name} cannot be read: found {found.found}; expected {found.expected}")
    return found


def _there(store: Store, instrument: str, ref: str) -> Statement | None:
    try:
        return store.statements.get(instrument, ref)
    except UnknownName:
        return None


def _check_same(store: Store, instrument: str, seen: Statement, question: Choice, language: str) -> None:
    """Raise UsageError unless the statement that is there is this question, under no bias yet."""
    if seen.ref in store.choices.items(instrument):
        raise UsageError(f"a question {seen.ref} already exists; choose another key")
    held = seen.wording(ORIGINAL, language)
    if held is None or parse_choice(held.text) != question:
        raise UsageError(f"a statement {seen.ref} with another text exists; choose another key")
    for wording, fault in unreadable_forms(seen):
        raise UsageError(f"{wording.variant} of {seen.ref}: found {fault.found}; expected {fault.expected}")


def _with_changed(statement: Statement, pair: ChoicePair, language: str, person: str) -> Statement:
    """Return the statement with the changed form. Raises UsageError if it already has a different one."""
    if pair.changed is None:
        return statement
    text, held = pair.changed.lettered(), statement.wording(CHANGED, language)
    if held is not None and held.text != text:
        raise UsageError(f"{statement.ref} has a changed form already; statements --edit changes it")
    return with_text(statement, CHANGED, language, text, person)


def _said(statement: Statement, item: ChoiceItem, language: str) -> str:
    """Say what stands there now, what is odd about it, and what is still to be made."""
    pair = pair_of(statement, item, language)
    if isinstance(pair, Fault):
        return f"{statement.ref} now has the bias {item.bias}."
    if pair.changed is not None:
        odd, to_do = (*pair_faults(pair), *pair_hints(pair)), ""
    else:
        odd = original_faults(item.bias, pair.original) if item.bias in WRITTEN else ()
        to_do = f" Its changed form still has to be {_to_do(item.bias)}."
    said = f"{statement.ref}, a question with {len(pair.original.options)} options, now has the bias {item.bias}."
    return said + "".join(f" Look again: {one}." for one in odd) + to_do


def _to_do(bias: Bias) -> str:
    if bias in WRITTEN:
        return "written (statements --add-variant; a on the question) or drafted"
    return "made (choices STORE forms; F on the question)"
