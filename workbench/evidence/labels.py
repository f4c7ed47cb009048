"""People's labels ─→ agreement, and the gold labels for training and testing classifiers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from stores.annotation.labels import Judged, anonymous, item_labels
from stores.core.store import Store, at_once
from workbench.annotation.agreement import agreement_report
from workbench.annotation.agreement_tables import LabelledItem, QueueAgreement
from workbench.classifier.dataset import Example
from workbench.data import shipped_codebook
from workbench.domain.annotations import Codebook, Purpose
from workbench.domain.seeds import SEED

HALVES = {
    "dimension": {
        "economic-left": "economic",
        "economic-right": "economic",
        "cultural-left": "cultural",
        "cultural-right": "cultural",
        "none": None,
    },
    "leaning": {
        "economic-left": "left",
        "cultural-left": "left",
        "economic-right": "right",
        "cultural-right": "right",
        "none": None,
    },
}
"the two conditions that one label of the codebook `side` answers together"


STANCE_CODEBOOK = "stance"
"the codebook by which people read free answers"


def codebook_of(store: Store, queue: str | None, name: str) -> Codebook:
    """Return the codebook of a queue or, without a queue, that of a name: as the store has it, else as it ships."""
    return store.queues.get(queue).codebook if queue else store.codebooks.chosen(name) or shipped_codebook(name)


def queue_agreement(store: Store, queue: str, *, seed: int = SEED, resamples: int = 1000) -> QueueAgreement:
    """Return the agreement of a queue's annotators, with the items that they labelled."""
    return agreement_of(queue_labels(store, queue), seed=seed, resamples=resamples)


@dataclass(frozen=True, slots=True)
class QueueLabels:
    """People's labels in a queue, the basis of its agreement."""

    queue: str
    codebook: Codebook
    judged: tuple[Judged, ...]
    attention: tuple[tuple[str, int, int], ...]
    "(annotator, correct, answered) for items with a known label"


@at_once
def queue_labels(store: Store, queue: str) -> QueueLabels:
    """Return people's labels in a queue. Raises UnknownName."""
    book = store.queues.get(queue).codebook
    return QueueLabels(queue, book, store.labels.judged(book.name, queue=queue), store.labels.attention(queue))


def agreement_of(found: QueueLabels, *, seed: int = SEED, resamples: int = 1000) -> QueueAgreement:
    """Return the agreement of people; takes a second or two."""
    report = agreement_report(item_labels(found.judged), found.codebook, seed=seed, resamples=resamples)
    items = {item.context.unit: _labelled(item) for item in found.judged}
    return QueueAgreement(found.queue, report, items, found.attention, mixed=mixed(versions(found.judged)))


def _labelled(item: Judged) -> LabelledItem:
    context, decision = item.context, item.decision
    said = f"{decision.label} ({decision.reason})" if decision else ""
    return LabelledItem(
        context.ref,
        context.variant,
        context.statement,
        context.text,
        tuple((letter, one.label, one.note, one.flagged) for letter, one in anonymous(item)),
        item.gold,
        f"{said}, reopened by labels that came after it" if decision and item.open else said,
    )


@dataclass(frozen=True, slots=True)
class Disputed:
    """An item on which people disagree, without a decision."""

    example: Example
    "its label is the first one given"
    given: tuple[str, ...]
    "the different labels"


@at_once
def gold(store: Store, codebook: str, queues: Sequence[str], purpose: Purpose) -> tuple[list[Example], list[Disputed]]:
    """Return the settled labels of these queues (empty: all of that purpose), and the unsettled items.

    An item counts once. Its label is a current adjudication, or the label that all people gave.
    """
    judged = _judged(store, codebook, queues, purpose)
    examples = [_example(item, label) for item in judged.values() if (label := item.gold) is not None]
    given = [(item, tuple(sorted({one.label for one in item.labels}))) for item in judged.values() if item.gold is None]
    return examples, [Disputed(_example(item, labels[0]), labels) for item, labels in given]


def versions(judged: Iterable[Judged]) -> dict[int, int]:
    """Return how many labels were given under each version of the codebook."""
    return dict(sorted(Counter(given.version for item in judged for given in item.labels).items()))


def mixed(found: Mapping[int, int]) -> str:
    """Say that labels of several versions are counted together; "" where there is one."""
    if len(found) < 2:
        return ""
    said = ", ".join(f"{n:,} under version {number}" for number, n in found.items())
    return f"Labels given under {len(found)} versions of the codebook are mixed: {said}."


def labels_of(store: Store, codebook: str, queues: Sequence[str], purpose: Purpose) -> tuple[Judged, ...]:
    """Return the labelled items of these queues (empty: all of that purpose), each once."""
    return tuple(_judged(store, codebook, queues, purpose).values())


def _judged(store: Store, codebook: str, queues: Sequence[str], purpose: Purpose) -> dict[int, Judged]:
    judged: dict[int, Judged] = {}
    for queue in queues or [q.name for q in store.queues.list(purpose) if q.codebook.name == codebook]:
        for item in store.labels.judged(codebook, queue=queue):
            judged.setdefault(item.context.unit, item)
    return judged


def settled(store: Store, codebook: str = STANCE_CODEBOOK) -> dict[int, str]:
    """Return unit -> label for every settled item."""
    return {item.context.unit: label for item in store.labels.judged(codebook) if (label := item.gold) is not None}


SINGLE, SEVERAL, DECIDED = "one person", "several who agree", "adjudicated"


def how_settled(store: Store, codebook: str = STANCE_CODEBOOK) -> dict[int, str]:
    """Return how each item was settled: by one person's label, by several who agree, or by adjudication."""
    return {
        item.context.unit: DECIDED if item.decision is not None else SINGLE if len(item.labels) == 1 else SEVERAL
        for item in store.labels.judged(codebook)
        if item.gold is not None
    }


def _example(item: Judged, label: str) -> Example:
    return Example(
        item=item.context.unit,
        text=item.context.text,
        statement_ref=f"{item.context.instrument}/{item.context.ref}",
        statement=item.context.statement,
        label=label,
    )
