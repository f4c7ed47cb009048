"""What the review of drafts reads from the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.domain.choices import ChoiceItem
from workbench.domain.statements import ORIGINAL, Statement
from workbench.tui.rulings.standing import RuledPlace, standing_in
from workbench.tui.statements.drafts_format import Case, fault_list

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.instruments.drafts import Draft


@dataclass(frozen=True, slots=True)
class Stack:
    """What waits for review."""

    drafts: tuple[Draft, ...]
    statements: Mapping[str, Statement]
    items: Mapping[str, ChoiceItem]
    "what is known of those that are multiple-choice questions"
    counts: Mapping[str, int]
    decided: Mapping[int, tuple[str, str]]
    "draft -> (what was decided, by whom), of all that were decided"
    rulings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    "ref -> what auditors ruled on the statement, its original and answers to that"

    def case(self, draft: Draft) -> Case:
        """Return a draft with what it is for."""
        item = self.items.get(draft.ref)
        return Case(draft, self.statements[draft.ref], item.bias if item else None)


def read_stack(store: Store, instrument: str) -> Stack:
    """Read what waits, and what became of the rest."""
    drafts = store.drafts.list(instrument)
    refs = {draft.ref for draft in drafts}
    statements = {s.ref: s for s in store.instruments.get(instrument).statements if s.ref in refs}
    standing = standing_in(store)
    return Stack(
        drafts=tuple(draft for draft in drafts if draft.state == "pending" and draft.ref in statements),
        statements=statements,
        items=store.choices.items(instrument),
        counts=store.drafts.counts(instrument),
        decided={
            d.id: (d.decision.decision, d.decision.person)
            for d in drafts
            if d.decision and d.state not in ("pending", "unusable")
        },
        rulings={ref: standing.at(RuledPlace((instrument,), (ref, str(ORIGINAL)))) for ref in refs},
    )


def read_unusable(path: Path, instrument: str, ref: str | None) -> str:
    """Read the lines that cannot be wordings, of one statement or of all."""
    from stores.core.store import Store

    with Store.open(path) as store:
        return fault_list(store.drafts.list(instrument, state="unusable", refs=(ref,) if ref else ()))
