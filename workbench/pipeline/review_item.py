"""The next item of an auditor's queue: a statement or a drawn answer, with the answers and what rules on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stores.annotation.review_queries import ReadAnswer
from stores.core.store import Store
from workbench.domain.reviews import Ranked
from workbench.evidence.ruling_subjects import UNREADABLE, short_answer
from workbench.figures.table import Column, Kind, Table
from workbench.pipeline.control import Control
from workbench.pipeline.review import Review, answers_of
from workbench.pipeline.review_tables import Waiting, name, waiting, why


@dataclass(frozen=True, slots=True)
class Shown:
    """An item with its answers."""

    item: Waiting
    wordings: tuple[tuple[str, str], ...]
    "(variant, text) of the wordings that the answers are about"
    rows: tuple[tuple[ReadAnswer, str], ...]
    "answers with their text"

    @property
    def subject(self) -> str:
        return name(self.item)

    def told(self) -> tuple[str, ...]:
        """Say what the item is, why it is in the queue, and what was asked."""
        asked = (f"{variant}: {text}" for variant, text in self.wordings)
        return f"Next: {self.subject}", f"because: {why(self.item)}", *asked

    def acts(self, auditor: str | None) -> tuple[str, ...]:
        """Say how to rule on it."""
        who = auditor or "NAME"
        how = f"--reason TEXT --as {who}"
        if isinstance(self.item, Ranked):
            return (
                f"Rule with: workbench rule STORE {self.subject} confirmed {how}; or on a wording "
                f"({self.subject}/{self.wordings[0][0] if self.wordings else 'original'} wording-at-fault), or on an "
                "answer by its name (ANSWER misread --reading LABEL)",
            )
        return (
            f"Decide with: workbench rule STORE {self.subject} confirmed {how}",
            f"or: workbench rule STORE {self.subject} misread --reading LABEL {how}",
        )

    def plain(self) -> dict[str, Any]:
        """Return the item as plain values."""
        kind = "statement" if isinstance(self.item, Ranked) else "control"
        return {"kind": kind, "subject": self.subject, "statement": self.item.ref, "why": why(self.item)}


def next_item(store: Store, of: Review, control: Control | None, auditor: str | None) -> Shown | None:
    """Return what an auditor looks at next, None where nothing waits.

    Of a statement the answers to the wordings that its reasons are about, all of them where a reason is about the
    statement as a whole. What other auditors ruled is not shown.
    """
    first = next(iter(waiting(of, control, auditor)), None)
    if first is None:
        return None
    every = answers_of(store, of, first.ref)
    if isinstance(first, Ranked):
        chosen = [one for one in every if not first.variants or one.variant in first.variants]
    else:
        chosen = [one for one in every if (one.prompt, one.text) == (first.prompt, first.text)]
    return Shown(
        first, _wordings(store, of, first, chosen), tuple((one, store.review_queries.text(one.text)) for one in chosen)
    )


def _wordings(store: Store, of: Review, item: Waiting, answers: list[ReadAnswer]) -> tuple[tuple[str, str], ...]:
    wanted = {one.variant for one in answers} or set(item.variants if isinstance(item, Ranked) else ())
    instrument = store.runs.instrument(of.run)
    statement = next((one for one in instrument.statements if one.ref == item.ref), None)
    if statement is None:
        return ()
    here = [one for one in statement.wordings if one.language == of.run.language]
    return tuple((str(one.variant), one.text) for one in here if not wanted or str(one.variant) in wanted)


def answers(shown: Shown) -> Table[tuple[ReadAnswer, str]]:
    """Return the raw answers with how they are read and what `rule` calls them."""
    return Table(
        "answers",
        "Answers",
        shown.rows,
        [
            Column("subject", "answer", lambda row: short_answer(row[0].prompt, row[0].text), least=19),
            Column("variant", "wording", lambda row: row[0].variant),
            Column("template", "template", lambda row: row[0].template),
            Column("order", "labels", lambda row: "swapped" if row[0].inverted else "printed", aside=True),
            Column("count", "n", lambda row: row[0].count, Kind.COUNT),
            Column("reads", "read as", lambda row: row[0].label or UNREADABLE),
            Column("text", "text", lambda row: row[1], Kind.PROSE, least=20),
        ],
        key=lambda row: (short_answer(row[0].prompt, row[0].text),),
        empty="There are no answers in words to show; `workbench rulings STORE --of` names what can be ruled on.",
    )
