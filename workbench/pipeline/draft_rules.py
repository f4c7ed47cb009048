"""Drafts by rule: English negations and statements out of questions, made at once; they wait for a person, too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from stores.drafts import NewDraft
from stores.store import Store
from workbench import __version__
from workbench.domain.drafting import RULE, CallLabel
from workbench.domain.statements import Statement, VariantKind
from workbench.errors import UsageError
from workbench.pipeline.drafting import chosen_statements, drafted_from
from workbench.workshop.drafting import Fault, bare, compared, fault_in_words
from workbench.workshop.negation import negate
from workbench.workshop.questions import stated

RULED = (VariantKind.ORIGINAL, VariantKind.NEGATION)
"kinds that a rule can draft, in English"


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
        raise UsageError(f"a rule drafts {' and '.join(RULED)}, not {', '.join(odd) or 'nothing'}; ask a model")
    if language.split("-")[0] != "en":
        raise UsageError(f"the rules are for English, and {language!r} is not; ask a model")
    said: Counter[str] = Counter()
    drafts: list[NewDraft] = []
    for statement in chosen_statements(found.statements, refs, instrument):
        for kind in kinds:
            draft = _ruled(store, instrument, statement, kind, language)
            if isinstance(draft, NewDraft):
                drafts.append(draft)
                said[draft.fault and fault_in_words(draft.fault)] += 1
            else:
                said[draft] += 1
    if not dry:
        store.drafts.add(instrument, [draft for draft in drafts if not draft.fault])
    return said


def _ruled(store: Store, instrument: str, statement: Statement, kind: VariantKind, language: str) -> NewDraft | str:
    """Return what the rule for a kind drafts, or why there is none."""
    basis = drafted_from(statement, kind, language)
    if isinstance(basis, str):
        return basis
    made = negate(basis.text) if kind is VariantKind.NEGATION else stated(basis.text)
    if made is None:
        return "no rule fits"
    known = {compared(w.text) for w in statement.wordings if w.language == language}
    before = {compared(bare(x)) for x in store.drafts.earlier(instrument, statement.ref, kind, language, basis.text)}
    text = compared(made.text)
    fault = Fault.WORDING if text in known else Fault.REPEAT if text in before else ""
    label = str(CallLabel(f"{kind}: {made.rule}, workbench {__version__}"))
    return NewDraft(statement.ref, kind, language, basis.text, made.text, RULE, label, fault=fault)
