"""Auditors' rulings as training data: a misread answer has a correct reading by a person.

A ruling is not used for training if its text is in a test set, drawn or labelled, or if its statement is held out:
otherwise the test would not be on unseen data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stores.core.store import Store
from workbench import registry
from workbench.classifier.config import LABELS
from workbench.classifier.dataset import Example, normalised
from workbench.domain.annotations import Purpose
from workbench.domain.counting import plural
from workbench.domain.rulings import Ruled, disputed, effect


@dataclass(frozen=True, slots=True)
class RuledExamples:
    """The training data from rulings."""

    examples: tuple[Example, ...] = ()
    refused: int = 0
    "number of ruled answers that are excluded because a test set has their text or holds out their statement"

    def describe(self) -> str:
        """Return how many are used and how many are not; empty without rulings on free answers."""
        if not self.examples and not self.refused:
            return ""
        said = f"rulings: {plural(len(self.examples), 'misread answer')} in training with the auditor's reading"
        return said + (f"; {self.refused:,} more left out, which a test set has" if self.refused else "")


NONE_RULED = RuledExamples()


def ruled_examples(
    store: Store, codebook: str, test: Sequence[Example], *, by_statement: bool = False
) -> RuledExamples:
    """Return the answers with auditors' readings, without those that a test set excludes from training.

    `test`: the labelled texts of the test; `by_statement`: their statements are excluded, too.
    """
    found = tuple(_examples(store))
    drawn = store.queues.members([Purpose.TEST], codebook)
    texts = {normalised(text) for text in (*(example.text for example in test), *(text for text, _, _ in drawn))}
    statements = _held_out(store)
    if by_statement:
        statements |= {example.statement_ref for example in test}
    kept = [
        one
        for one in found
        if normalised(one.text) not in texts
        and not statements.intersection((one.statement_ref, one.statement_ref.partition("/")[2]))
    ]
    return RuledExamples(tuple(kept), len(found) - len(kept))


def joined(train: Sequence[Example], ruled: Sequence[Example]) -> list[Example]:
    """Return training examples with those of rulings, which replace labels of the same answer."""
    read = {(normalised(one.text), one.statement_ref, one.statement) for one in ruled}
    return [one for one in train if (normalised(one.text), one.statement_ref, one.statement) not in read] + [*ruled]


def _examples(store: Store) -> Iterator[Example]:
    """Yield the free answers that are ruled misread, with a stance."""
    seen = set[tuple[str, str, str]]()
    for number, of in enumerate(store.rulings.standing(Ruled.ANSWER).values(), start=1):
        ruling = next((one for one in of if effect(one).read and effect(one).label in LABELS), None)
        if ruling is None or disputed(of):
            continue
        named = ruling.subject.named
        put = next((one for one in store.ruled_things.prompts(key=named["prompt"])
                    if registry.audit(one.audit).free_text), None)  # fmt: skip
        text = next((one.text for one in store.ruled_things.answers(bytes.fromhex(named["prompt"]))
                     if one.key.hex() == named["text"]), None)  # fmt: skip
        if put is None or text is None:
            continue
        ref = f"{put.instrument}/{put.ref}"
        if (text, ref, put.wording) not in seen:  # the same answer to a wording, ruled on with two prefixes
            seen.add((text, ref, put.wording))
            yield Example(-number, text, ref, put.wording, str(ruling.label))


def _held_out(store: Store) -> set[str]:
    """Return the refs of the statements that a test set keeps from training."""
    held = [queue.spec.get("held_out_statements") for queue in store.queues.list(Purpose.TEST)]
    return {str(ref) for refs in held if isinstance(refs, list) for ref in refs}
