"""Labelled responses as training data: split once, paired with hypotheses, and checked for leaks.

A leak is test data in the training data. The released evaluation of Faulborn et al. 2025 draws its
train/test split twice, so that test rows are trained on. Here a split is made in one place, by
response text and item, and `check_leak` runs before every training.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.classifier.config import LABELS
from workbench.domain.keys import content_key, text_key
from workbench.errors import LeakError, UsageError

SHOWN = 3
"most examples named in an error"


@dataclass(frozen=True, slots=True)
class Example:
    """A response with its stance from people."""

    item: int
    "the item that was annotated"
    text: str
    "the response"
    statement_ref: str
    statement: str
    "the wording that was answered"
    label: str


@dataclass(frozen=True, slots=True)
class TrainingPair:
    """A response and one label's hypothesis: entailed, or contradicted."""

    example: int
    "index of the example"
    label: str
    entailed: bool


def normalised(text: str) -> str:
    """Return a text normalised for finding leaks: single spaces, no case, NFC."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def check_leak(
    train: Iterable[Example], test: Iterable[Example], by_statement: bool = False
) -> None:
    """Raise LeakError if response texts or items, or also statements, are in both sets."""
    train, test = list(train), list(test)
    overlaps = [
        _overlap("response text", train, test, lambda example: normalised(example.text)),
        _overlap("item", train, test, lambda example: str(example.item)),
    ]
    if by_statement:
        overlaps.append(_overlap("statement", train, test, lambda example: example.statement_ref))
    problems = [problem for problem in overlaps if problem]
    if problems:
        raise LeakError(
            "The test data are not unseen. "
            + " ".join(problems)
            + " Take them out of the training data, or make the test set from other items, and "
            "train again."
        )


def _overlap(
    what: str, train: list[Example], test: list[Example], key: Callable[[Example], str]
) -> str:
    """Return a sentence with the number and names of shared entries, or empty."""
    test_keys = {key(example) for example in test}
    shared_keys = sorted({key(example) for example in train} & test_keys)
    if not shared_keys:
        return ""
    names = ", ".join(
        repr(shared_key if len(shared_key) <= 60 else shared_key[:59] + "…")
        for shared_key in shared_keys[:SHOWN]
    )
    rest = f" and {len(shared_keys) - SHOWN} more" if len(shared_keys) > SHOWN else ""
    verb = "s are" if len(shared_keys) > 1 else " is"
    return f"{len(shared_keys):,} {what}{verb} in the training and in the test data: {names}{rest}."


def without_overlap(
    train: Sequence[Example], test: Sequence[Example], by_statement: bool = False
) -> list[Example]:
    """Return the training examples that share nothing with the test set.

    `check_leak` requires this.
    """
    texts = {normalised(example.text) for example in test}
    items = {example.item for example in test}
    statements = {example.statement_ref for example in test} if by_statement else set()
    return [
        example
        for example in train
        if normalised(example.text) not in texts
        and example.item not in items
        and example.statement_ref not in statements
    ]


def split(
    examples: Sequence[Example], share: float, rng: np.random.Generator
) -> tuple[list[Example], list[Example]]:
    """Return (kept, held out), where about `share` of every label is held out.

    Equal texts and items stay together. Both keep the order of the examples. A group of equal texts
    counts for the label of its first example.
    """
    by_label: dict[str, list[list[int]]] = {}
    for group in _groups(examples):
        by_label.setdefault(examples[group[0]].label, []).append(group)
    held_out: set[int] = set()
    for label in sorted(by_label):
        groups = by_label[label]
        n_wanted, n_taken = round(share * sum(map(len, groups))), 0
        for index in rng.permutation(len(groups)):
            if n_taken >= n_wanted:
                break
            held_out.update(groups[index])
            n_taken += len(groups[index])
    retained = [example for index_, example in enumerate(examples) if index_ not in held_out]
    return retained, [example for index_, example in enumerate(examples) if index_ in held_out]


def _groups(examples: Sequence[Example]) -> list[list[int]]:
    """Return positions that must not be split.

    They are connected by an equal text or an equal item (union-find).
    """
    leader = list(range(len(examples)))

    def find(member: int) -> int:
        while leader[member] != member:
            leader[member] = member = leader[leader[member]]
        return member

    first_position: dict[str | int, int] = {}
    for position, example in enumerate(examples):
        for key in (normalised(example.text), example.item):
            leader[find(position)] = find(first_position.setdefault(key, position))
    groups: dict[int, list[int]] = {}
    for position in range(len(examples)):
        groups.setdefault(find(position), []).append(position)
    return list(groups.values())


def epoch_pairs(
    examples: Sequence[Example], labels: Sequence[str], rng: np.random.Generator
) -> list[TrainingPair]:
    """Return the pairs of one epoch.

    Each example entails its label and contradicts one random other (section 3.4). Examples are
    shuffled. The two pairs of an example are adjacent and, in a batch of even size, share a step.
    Their common part (the response) then cancels in the gradient, and their difference (response
    with label) remains. On 300 made-up responses a new head over all-MiniLM-L6-v2 left chance level
    within 60 steps of 16 such pairs. With all pairs shuffled it had not done so after 240 steps of
    8.
    """
    epoch: list[TrainingPair] = []
    for index in map(int, rng.permutation(len(examples))):
        other_labels = [label for label in labels if label != examples[index].label]
        epoch.append(TrainingPair(index, examples[index].label, True))
        epoch.append(TrainingPair(index, other_labels[int(rng.integers(len(other_labels)))], False))
    return epoch


def schedule(
    examples: Sequence[Example], labels: Sequence[str], count: int, rng: np.random.Generator
) -> list[TrainingPair]:
    """Return the first `count` pairs of as many epochs as needed.

    Each epoch draws new contradictions.
    """
    all_pairs: list[TrainingPair] = []
    while len(all_pairs) < count:
        all_pairs += epoch_pairs(examples, labels, rng)
    return all_pairs[:count]


def label_counts(examples: Iterable[Example]) -> dict[str, int]:
    """Return the number of examples of each of the four labels."""
    counts = Counter(example.label for example in examples)
    return {label: counts[label] for label in LABELS}


def check_training(examples: Sequence[Example]) -> None:
    """Raise UsageError for examples that are insufficient for training."""
    check_labels(examples, "training")
    present = [label for label, count in label_counts(examples).items() if count]
    if not present:
        raise UsageError("There are no labelled responses to train on. Annotate some first.")
    if len(present) == 1:
        raise UsageError(
            f"All {len(examples):,} training responses are labelled {present[0]}: nothing can be "
            "learned from one label. Annotate responses of other stances, or draw a new sample."
        )


def check_labels(examples: Iterable[Example], what: str) -> None:
    """Raise UsageError if an example has an unknown label."""
    unknown = [example for example in examples if example.label not in LABELS]
    if unknown:
        names = ", ".join(sorted({repr(example.label) for example in unknown})[:SHOWN])
        raise UsageError(
            f"{len(unknown):,} {what} responses have labels that a stance cannot be ({names}; the "
            f"first is item {unknown[0].item}). The labels are {', '.join(LABELS)}."
        )


def undefined_metrics(test: Sequence[Example]) -> tuple[str, ...]:
    """Return the names of figures that are undefined on a test set because it lacks a label.

    Raises UsageError for an empty test set and for unknown labels. A set with one label is allowed.
    """
    check_labels(test, "test")
    if not test:
        raise UsageError("The test set is empty. Annotate and adjudicate a test queue first.")
    counts = label_counts(test)
    undefined = [
        f"recall and F1 of {label}: no test response has this label"
        for label in LABELS
        if not counts[label]
    ]
    present = [label for label in LABELS if counts[label]]
    if len(present) == 1:
        undefined.append(
            f"macro F1 over four labels: all {len(test):,} test responses are {present[0]}"
        )
    return tuple(undefined)


def macro_f1(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """Return the mean F1 over the gold labels, by which training chooses its best step.

    F1 = 2 TP / (2 TP + FP + FN). The result is NaN for no labels. Predictions of a label that gold
    lacks lower the others' recall.
    """
    scores = []
    for label in sorted(set(gold)):
        hits = sum(
            gold_label == predicted_label == label
            for gold_label, predicted_label in zip(gold, predicted, strict=True)
        )
        scores.append(2 * hits / (gold.count(label) + predicted.count(label)))
    return float(np.mean(scores)) if scores else float("nan")


def in_canonical_order(examples: Iterable[Example]) -> list[Example]:
    """Return examples in a canonical order.

    Training then does not depend on the order of reading.
    """
    return sorted(
        examples,
        key=lambda example: (
            example.text,
            example.statement_ref,
            example.statement,
            example.label,
            example.item,
        ),
    )


def data_hash(examples: Iterable[Example]) -> str:
    """Return 32 hexadecimal digits for texts, statements and labels.

    Item numbers differ from store to store.
    """
    rows = sorted(
        [
            text_key(example.text).hex(),
            text_key(example.statement).hex(),
            example.statement_ref,
            example.label,
        ]
        for example in examples
    )
    return content_key(rows).hex()
