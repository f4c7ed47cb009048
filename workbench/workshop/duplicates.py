"""Finds nearly equal statements without a model, by shared trigrams of characters.

The share is Jaccard's: trigrams of both texts, divided by trigrams of either. It treats a changed
word, ending or order of words as a small difference, in any script, and is the same on every
machine. It cannot detect the same meaning in other words; embeddings can (`meaning`).
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
"""least share of trigrams at which two statements are reported.

Different statements of one country reach 0.50 in the eight languages of the published ProbVAA data
(239 statements), 0.49 in the shipped instrument (56) and 0.53 in the propositions of Faulborn et
al. 2025 (89; `men make better business executives` and `… political leaders`): at 0.6 there is no
false alarm in them.
"""
BUCKETS = 1024
"columns of the matrix that excludes pairs; more columns exclude more pairs and take longer"
ROWS = 512
NEAREST = 3
"""earlier statements that a statement is reported with: where all are alike, all pairs would be a
million"""


@dataclass(frozen=True, slots=True)
class Similar:
    """A text that is similar to the given one."""

    index: int
    "its index among the searched texts"
    share: float
    "share of trigrams, 1 for a text that differs only in case, spaces and punctuation"


def trigrams(text: str) -> frozenset[str]:
    """Return the runs of three characters of a text's letters and digits, word ends included; empty
    without any.

    Examples
    --------
    >>> sorted(trigrams("Tax it!"))
    ['  i', '  t', ' it', ' ta', 'ax ', 'it ', 'tax']
    """
    found: set[str] = set()
    for word in _words(text):
        padded = f"  {word} "
        found.update(padded[place : place + 3] for place in range(len(padded) - 2))
    return frozenset(found)


def share(a: frozenset[str], b: frozenset[str]) -> float:
    """Return |a ∩ b| / |a ∪ b|; 0 if neither has a letter."""
    either = len(a | b)
    return len(a & b) / either if either else 0.0


def similar(text: str, texts: Sequence[str], at_least: float = NEAR) -> tuple[Similar, ...]:
    """Return the `texts` that are similar to `text`, the most similar first. 2,000 take some
    hundredths of a second.
    """
    wanted = trigrams(text)
    found = [Similar(index, share(wanted, trigrams(other))) for index, other in enumerate(texts)]
    return tuple(
        sorted(
            (one for one in found if one.share >= at_least and one.share),
            key=lambda one: -one.share,
        )
    )


def near_pairs(
    texts: Sequence[str], at_least: float = NEAR, most: int | None = None
) -> tuple[tuple[int, int, float], ...]:
    """Return (i, j, share) with i < j for all pairs of similar texts. `most`: of each j only so
    many, the most similar.

    Trigrams are counted in `BUCKETS` columns. The product of two rows is then at least the number
    of common trigrams, so no pair is missed; remaining pairs are compared exactly.
    """
    sets = [trigrams(text) for text in texts]
    counts = _counts(sets)
    sizes = np.array([len(one) for one in sets], dtype=np.float32)
    found = []
    for start in range(0, len(sets), ROWS):
        common = counts[start : start + ROWS] @ counts.T
        either = np.maximum(sizes[start : start + ROWS, None] + sizes[None, :] - common, 1.0)
        near = common >= at_least * either
        for j, row in enumerate(near, start):
            before = np.flatnonzero(row[:j])
            bounds = (common[j - start, before] / either[j - start, before]).astype(float)
            of: list[tuple[float, int]] = []
            for place in (
                np.argsort(-bounds, kind="stable") if most is not None else range(len(before))
            ):
                if (
                    most is not None
                    and len(of) >= most
                    and sorted(of)[most - 1][0] <= -bounds[place]
                ):
                    break  # no other is more similar than those found
                i = int(before[place])
                if (exact := share(sets[i], sets[j])) >= at_least and exact:
                    of.append((-exact, i))
            found += [(i, j, -exact) for exact, i in sorted(of)[:most]]
    return tuple(sorted(found))


def duplicate_findings(
    instrument: Instrument, language: str | None = None, at_least: float = NEAR
) -> Iterator[LintFinding]:
    """Yield statements that are nearly equal to an earlier one, in one language or in all; see
    `NEAREST`.

    Different countries may have the same statement. Equal texts are reported by lint instead, and
    the first stands for them here.
    """
    asked: dict[tuple[str | None, str], dict[str, tuple[str, str]]] = defaultdict(dict)
    for statement in instrument.statements:
        for wording in statement.wordings:
            if wording.variant == ORIGINAL and language in (None, wording.language):
                of = asked[statement.country, wording.language]
                of.setdefault(folded(wording.text), (statement.ref, wording.text))
    for (_, spoken), by_fold in asked.items():
        originals = tuple(by_fold.values())
        for i, j, alike in near_pairs([text for _, text in originals], at_least, NEAREST):
            (first, text), (ref, again) = originals[i], originals[j]
            message = f"{spoken}: nearly the same words as {first} ({alike:.2f} of the trigrams)"
            texts = (Quoted(f"{first} original", text), Quoted(f"{ref} original", again))
            yield LintFinding(
                "warning", "near-duplicate", ref, message, ref, ORIGINAL, spoken, texts
            )


def _words(text: str) -> list[str]:
    """Return the words of a text without case and punctuation; combining marks stay with their
    letters.
    """
    plain = unicodedata.normalize("NFC", text).casefold()
    if plain.isascii():
        return "".join(c if c.isalnum() else " " for c in plain).split()
    return "".join(
        c if c.isalnum() or unicodedata.category(c)[0] == "M" else " " for c in plain
    ).split()


def _counts(sets: Sequence[frozenset[str]]) -> NDArray[np.float32]:
    """Return (texts, BUCKETS): the number of a text's trigrams in each column."""
    columns: dict[str, int] = {}
    counts = np.zeros((len(sets), BUCKETS), dtype=np.float32)
    for row, one in enumerate(sets):
        places = [columns.setdefault(trigram, len(columns)) % BUCKETS for trigram in one]
        np.add.at(counts[row], places, 1.0)
    return counts
