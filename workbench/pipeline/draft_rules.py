"""Drafts by rule: English negations, statements out of questions, changed forms; made at once, for a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from stores.core.store import Store
from stores.instruments.drafts import NewDraft
from workbench import __version__
from workbench.domain.choice_texts import parse_choice
from workbench.domain.choices import Choice, ChoiceItem
from workbench.domain.drafting import RULE, RULED, CallLabel
from workbench.domain.statements import Statement, VariantKind
from workbench.errors import UsageError
from workbench.pipeline.draft_planning import chosen_statements, drafted_from
from workbench.workshop.draft_lines import drafted
from workbench.workshop.drafting import Fault, compared, fault_in_words
from workbench.workshop.negation import negate
from workbench.workshop.questions import stated
from workbench.workshop.rewordings import reworded


def draft_by_rule(
    store: Store,
    instrument: str,
    kinds: Sequence[VariantKind],
    refs: Sequence[str] = (),
    language: str = "",
    *,
    dry: bool = False,
) -> Counter[str]:
    """Draft by rule, at once; return how many statements have a draft ("") or why not. `dry` writes nothing.

    Raises UsageError for a kind that no rule drafts and for another language than English.
    """
    found = store.instruments.get(instrument)
    language = language or found.language
    odd = [kind for kind in kinds if kind not in RULED]
    if odd or not kinds:
        raise UsageError(f"a rule drafts {', '.join(RULED)}, not {', '.join(odd) or 'nothing'}; ask a model")
    if language.split("-")[0] != "en":
        raise UsageError(f"the rules are for English, and {language!r} is not; ask a model")
    said: Counter[str] = Counter()
    drafts: list[NewDraft] = []
    items = {item.ref: item for item in found.choices}
    for statement in chosen_statements(found.statements, refs, instrument):
        for kind in kinds:
            draft = _ruled(store, instrument, statement, kind, language, items.get(statement.ref))
            if isinstance(draft, NewDraft):
                drafts.append(draft)
                said[draft.fault and fault_in_words(draft.fault)] += 1
            else:
                said[draft] += 1
    if not dry:
        store.drafts.add(instrument, [draft for draft in drafts if not draft.fault])
    return said


def _ruled(
    store: Store, instrument: str, statement: Statement, kind: VariantKind, language: str, item: ChoiceItem | None
) -> NewDraft | str:
    """Return the draft of the rule for a kind, or the reason for having none."""
    basis = drafted_from(statement, kind, language, item)
    if isinstance(basis, str):
        return basis
    made = _made(basis.text, kind, item)
    if made is None:
        return "no rule fits"
    text, rule = made
    known = {compared(w.text) for w in statement.wordings if w.language == language}
    earlier = store.drafts.earlier(instrument, statement.ref, kind, language, basis.text)
    same = compared(text)
    before = {compared(drafted(kind, line)) for line in earlier}
    fault = Fault.WORDING if same in known else Fault.REPEAT if same in before else ""
    label = str(CallLabel(f"{kind}: {rule}, workbench {__version__}"))
    return NewDraft(statement.ref, kind, language, basis.text, text, RULE, label, fault=fault)


def _made(basis: str, kind: VariantKind, item: ChoiceItem | None) -> tuple[str, str] | None:
    """Return (text, the rule that made it); None if no rule fits."""
    if kind is VariantKind.CHANGED:
        question = parse_choice(basis)
        form = reworded(item.bias, question) if item is not None and isinstance(question, Choice) else None
        return (form.choice.lettered(), form.rule) if form is not None else None
    made = negate(basis) if kind is VariantKind.NEGATION else stated(basis)
    return (made.text, made.rule) if made is not None else None
