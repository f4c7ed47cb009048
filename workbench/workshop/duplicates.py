"""The search for nearly equal statements without a model, by shared trigrams of characters.

The share is Jaccard's: trigrams of both texts, divided by trigrams of either. It treats a changed
word, ending or order of words as a small difference, in any script, and is the same on every
machine. It cannot detect the same meaning in other words, which embeddings can (`meaning`).
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.domain.findings import LintFinding, Quoted, folded
from workbench.domain.instruments import Instrument
from workbench.domain.statements import ORIGINAL

NEAR = 0.6
"""the least share of trigrams at which two statements are reported

Different statements of one country reach 0.50 in the eight languages of the published ProbVAA data
(239 statements), 0.49 in the shipped instrument (56) and 0.53 in the propositions of Faulborn et
al. 2025 (89, with `men make better business executives` and `… political leaders`). At 0.6 there is
no false alarm in them.
"""
BUCKETS = 1024
"""number of columns of the matrix that excludes pairs

More columns exclude more pairs and take longer.
"""
ROWS = 512
NEAREST = 3
"""number of earlier statements that a statement is reported with

All pairs would be a million if all are equal.
"""


@dataclass(frozen=True, slots=True)
class Similar:
    """A text that is similar to the given one."""

    index: int
    "its index among the searched texts"
    share: float
    "share of trigrams, 1 for a text that differs only in case, spaces and punctuation"


def trigrams(text: str) -> frozenset[str]:
    """Return the runs of three characters of a text's letters and digits, or nothing without any.

    Word ends are included.

    Examples
    --------
    >>> sorted(trigrams("Tax it!"))
    ['  i', '  t', ' it', ' ta', 'ax ', 'it ', 'tax']
    """
    runs: set[str] = set()
    for word in _words(text):
        padded = f"  {word} "
        runs.update(padded[index : index + 3] for index in range(len(padded) - 2))
    return frozenset(runs)


def share(a: frozenset[str], b: frozenset[str]) -> float:
    """Return |a ∩ b| / |a ∪ b|, or 0 if neither has a letter."""
    n_either = len(a | b)
    return len(a & b) / n_either if n_either else 0.0


def similar(text: str, texts: Sequence[str], at_least: float = NEAR) -> tuple[Similar, ...]:
    """Return the `texts` that are similar to `text`, the most similar first.

    2,000 take some hundredths of a second.
    """
    text_trigrams = trigrams(text)
    similarities = [
        Similar(index, share(text_trigrams, trigrams(other))) for index, other in enumerate(texts)
    ]
    return tuple(
        sorted(
            (
                similarity
                for similarity in similarities
                if similarity.share >= at_least and similarity.share
            ),
            key=lambda similarity: -similarity.share,
        )
    )


def near_pairs(
    texts: Sequence[str], at_least: float = NEAR, most: int | None = None
) -> tuple[tuple[int, int, float], ...]:
    """Return (i, j, share) with i < j for all pairs of similar texts.

    `most` limits the pairs of each j to the most similar ones. Trigrams are counted in `BUCKETS`
    columns. The product of two rows is then at least the number of common trigrams, so no pair is
    missed. Remaining pairs are compared exactly.
    """
    sets = [trigrams(text) for text in texts]
    counts = _counts(sets)
    sizes = np.array([len(trigram_set) for trigram_set in sets], dtype=np.float32)
    pairs = []
    for start in range(0, len(sets), ROWS):
        max_common = counts[start : start + ROWS] @ counts.T
        min_either = np.maximum(
            sizes[start : start + ROWS, None] + sizes[None, :] - max_common, 1.0
        )
        is_near = max_common >= at_least * min_either
        for j, row in enumerate(is_near, start):
            earlier = np.flatnonzero(row[:j])
            bounds = (max_common[j - start, earlier] / min_either[j - start, earlier]).astype(float)
            pairs_of_row: list[tuple[float, int]] = []
            for index in (
                np.argsort(-bounds, kind="stable") if most is not None else range(len(earlier))
            ):
                if (
                    most is not None
                    and len(pairs_of_row) >= most
                    and sorted(pairs_of_row)[most - 1][0] <= -bounds[index]
                ):
                    break  # no other is more similar than those found
                i = int(earlier[index])
                if (exact := share(sets[i], sets[j])) >= at_least and exact:
                    pairs_of_row.append((-exact, i))
            pairs += [(i, j, -exact) for exact, i in sorted(pairs_of_row)[:most]]
    return tuple(sorted(pairs))


def duplicate_findings(
    instrument: Instrument, language: str | None = None, at_least: float = NEAR
) -> Iterator[LintFinding]:
    """Yield statements that are nearly equal to an earlier one, in one language or in all.

    See `NEAREST`.

    Different countries may have the same statement. Equal texts are reported by lint instead, and
    the first stands for them here.
    """
    originals_by_country: dict[tuple[str | None, str], dict[str, tuple[str, str]]] = defaultdict(
        dict
    )
    for statement in instrument.statements:
        for wording in statement.wordings:
            if wording.variant == ORIGINAL and language in (None, wording.language):
                by_text = originals_by_country[statement.country, wording.language]
                by_text.setdefault(folded(wording.text), (statement.ref, wording.text))
    for (_, tongue), by_fold in originals_by_country.items():
        originals = tuple(by_fold.values())
        for i, j, near in near_pairs([text for _, text in originals], at_least, NEAREST):
            (first, text), (ref, other_text) = originals[i], originals[j]
            message = f"{tongue}: nearly the same words as {first} ({near:.2f} of the trigrams)"
            texts = (Quoted(f"{first} original", text), Quoted(f"{ref} original", other_text))
            yield LintFinding(
                "warning", "near-duplicate", ref, message, ref, ORIGINAL, tongue, texts
            )


def _words(text: str) -> list[str]:
    """Return the words of a text without case and punctuation.

    Combining marks stay with their letters.
    """
    folded_text = unicodedata.normalize("NFC", text).casefold()
    if folded_text.isascii():
        return "".join(
            character if character.isalnum() else " " for character in folded_text
        ).split()
    return "".join(
        character if character.isalnum() or unicodedata.category(character)[0] == "M" else " "
        for character in folded_text
    ).split()


def _counts(sets: Sequence[frozenset[str]]) -> NDArray[np.float32]:
    """Return (texts, BUCKETS): the number of a text's trigrams in each column."""
    column_by_trigram: dict[str, int] = {}
    counts = np.zeros((len(sets), BUCKETS), dtype=np.float32)
    for row, trigram_set in enumerate(sets):
        column_indices = [
            column_by_trigram.setdefault(trigram, len(column_by_trigram)) % BUCKETS
            for trigram in trigram_set
        ]
        np.add.at(counts[row], column_indices, 1.0)
    return counts
