"""Which answers a figure of the bias score rests on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.audits.bias_score.tally import Tally
from workbench.domain.statements import Dimension, VariantId
from workbench.errors import UnknownName
from workbench.stats.arrays import BoolArray, IntArray

NOT_RECORDED = "not recorded"
"stands for the author of wordings of which nobody says who wrote them"


@dataclass(frozen=True, slots=True)
class Selection:
    """A part of a model's answers; None does not restrict."""

    dimension: Dimension | None = None
    source: str | None = None
    prefix: str | None = None
    variant: str | VariantId | None = None
    "one wording (`reformulation-2`) or all of a kind (`reformulation`)"
    author: str | None = None
    "who wrote the wording, or `NOT_RECORDED`"
    rule_only: bool = False
    "leave out what a classifier read"

    def __str__(self) -> str:
        named = {"prefix": self.prefix, "wording": self.variant, "author": self.author}
        parts = [str(part) for part in (self.source, self.dimension) if part is not None]
        parts += [f"{name} {value}" for name, value in named.items() if value is not None]
        return ", ".join([*parts, *(["read by rule"] if self.rule_only else [])]) or "all answers"


EVERYTHING = Selection()
"all answers of a model"


@dataclass(frozen=True, eq=False)
class Pick:
    """A selection of one model's answers, found in the tally."""

    name: str
    "tells it apart from every other pick of the tally"
    model: int
    cells: BoolArray
    "(P, S, W)"
    rule_only: bool


def pick(tally: Tally, model: str, selection: Selection) -> Pick:
    """Find the cells of a selection. Raises UnknownName for what is not in the tally."""
    statements = np.array(
        [
            selection.dimension in (None, item.dimension) and selection.source in (None, item.source)
            for item in tally.items
        ],
        dtype=np.bool_,
    )
    if selection.source is not None and selection.source not in tally.sources:
        raise UnknownName(f"there is no source {selection.source!r}. Available: {', '.join(tally.sources)}")
    wordings = _wordings(tally, selection.variant)[None, :] & _written_by(tally, selection.author)
    cells = _prefixes(tally, selection.prefix)[:, None, None] & (statements[:, None] & wordings)[None]
    return Pick(f"{model}: {selection!r}", tally.place("model", model), cells, selection.rule_only)


def _prefixes(tally: Tally, prefix: str | None) -> BoolArray:
    chosen = np.ones(len(tally.prefixes), dtype=np.bool_)
    if prefix is not None:
        chosen[:] = False
        chosen[tally.place("prefix", prefix)] = True
    return chosen


def _wordings(tally: Tally, variant: str | VariantId | None) -> BoolArray:
    name = None if variant is None else str(variant)
    chosen = np.array([name in (None, str(v), v.kind.value) for v in tally.variants], dtype=np.bool_)
    if not chosen.any() and name is not None:
        raise UnknownName(f"there is no wording {name!r}. Available: {', '.join(map(str, tally.variants))}")
    return chosen


def authors(tally: Tally) -> tuple[str, ...]:
    """Return who wrote wordings that were asked, in order of appearance; `NOT_RECORDED` last."""
    asked = (tally.read.sum(axis=-1) + tally.dropped + tally.unread).sum(axis=(0, 1)) > 0
    found = dict.fromkeys(
        author
        for row, there in zip(tally.authors, asked, strict=True)
        for author, is_ in zip(row, there, strict=True)
        if is_
    )
    known = tuple(author for author in found if author is not None)
    return (*known, NOT_RECORDED) if None in found else known


def _written_by(tally: Tally, author: str | None) -> BoolArray:
    shape = (len(tally.items), len(tally.variants))
    if author is None:
        return np.ones(shape, dtype=np.bool_)
    if author not in authors(tally):
        raise UnknownName(f"there is no author {author!r}. Available: {', '.join(authors(tally)) or 'none'}")
    wanted = None if author == NOT_RECORDED else author
    return np.array([[name == wanted for name in row] for row in tally.authors], dtype=np.bool_).reshape(shape)


def kept(tally: Tally, chosen: Pick) -> IntArray:
    """Return a pick's kept readings per statement and category: (S, c)."""
    counts = np.einsum("pswc,psw->sc", tally.categories[chosen.model], chosen.cells, dtype=np.int64)
    if chosen.rule_only:
        counts[:, without_rule(counts.shape[1])] = 0
    return np.asarray(counts, dtype=np.int64)


def cut_off(tally: Tally, chosen: Pick) -> IntArray:
    """Return per statement how many of a pick's answers were cut off in thought: (S,)."""
    if tally.truncated is None:
        return np.zeros(len(tally.items), dtype=np.int64)
    return np.asarray((tally.truncated[chosen.model] * chosen.cells).sum(axis=(0, 2)), dtype=np.int64)


def ruled_out(tally: Tally, chosen: Pick) -> IntArray:
    """Return per statement how many of a pick's answers auditors' rulings leave out: (S,)."""
    if tally.ruled_out is None:
        return np.zeros(len(tally.items), dtype=np.int64)
    return np.asarray((tally.ruled_out[chosen.model] * chosen.cells).sum(axis=(0, 2)), dtype=np.int64)


def without_rule(categories: int) -> IntArray:
    """Return the places of the categories of readings that no rule made."""
    return np.flatnonzero(np.arange(categories) // 8 != 1)


def left_out(tally: Tally, chosen: Pick) -> tuple[IntArray, IntArray]:
    """Return per statement how many of a pick's answers were dropped and are unread: two (S,).

    Where only the rule's readings are asked for, what the classifier read and people labelled is dropped too.
    """
    dropped, unread = ((array[chosen.model] * chosen.cells).sum(axis=(0, 2)) for array in (tally.dropped, tally.unread))
    if chosen.rule_only:
        counts = np.einsum("pswc,psw->sc", tally.categories[chosen.model], chosen.cells, dtype=np.int64)
        dropped = dropped + counts[:, without_rule(counts.shape[1])].sum(axis=1)
    return np.asarray(dropped, dtype=np.int64), np.asarray(unread, dtype=np.int64)
