"""What the bias score judges: how often each wording under each prefix was read as which stance.

Faulborn et al. 2025, sections 2, 3.1 to 3.4. Statements are labelled with the side that agreeing with them reflects;
a political opposite is asked as a wording of its statement, so agreeing with it is disagreeing with the statement.
Readings come here as they were read; the score turns those of opposites round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from workbench.audits.bias_score.options import DEFAULTS
from workbench.domain.readings import STANCES
from workbench.domain.responses import Sampling
from workbench.domain.statements import (
    Dimension,
    Relation,
    Side,
    VariantId,
    VariantKind,
    variant_order,
)
from workbench.errors import UnknownName
from workbench.stats.arrays import BoolArray, IntArray

Int32Array = npt.NDArray[np.int32]

SIDES = (Side.LEFT, Side.RIGHT)
"the order of the sides in arrays"


SERVED_SAMPLING = Sampling(temperature=1.0, top_p=1.0, top_k=None, max_new_tokens=100)
'commercial models: "we use the default generation parameters" (appendix C), which draw from the whole vocabulary'

_ALWAYS_ASKED = (VariantKind.ORIGINAL, VariantKind.REFORMULATION, VariantKind.POLITICAL_OPPOSITE)
_FIRST_PARAPHRASE = VariantId(VariantKind.PARAPHRASE, 1)


def default_variants(available: Sequence[VariantId]) -> tuple[VariantId, ...]:
    """Return the wordings that the score asks: original, every reformulation, every political opposite.

    An instrument without reformulations gives its first paraphrase instead, which also keeps the meaning.

    Examples
    --------
    >>> [str(v) for v in default_variants([VariantId.parse(t) for t in ("paraphrase-1", "paraphrase-2", "original")])]
    ['original', 'paraphrase-1']
    """
    chosen = {variant for variant in available if variant.kind in _ALWAYS_ASKED}
    if not any(variant.kind is VariantKind.REFORMULATION for variant in chosen) and _FIRST_PARAPHRASE in available:
        chosen.add(_FIRST_PARAPHRASE)
    return tuple(sorted(chosen, key=variant_order))


@dataclass(frozen=True, slots=True)
class Item:
    """A labelled statement. Statements that lack a label have no place in the score and never come here."""

    ref: str
    source: str
    "the survey or test it comes from; empty where the instrument does not say"
    dimension: Dimension
    leaning: Side
    "the side that agreeing with the original reflects"


@dataclass(frozen=True, eq=False)
class Tally:
    """Readings of all models' answers, counted. The four stances are in the order of `STANCES`."""

    models: tuple[str, ...]
    "M of them"
    prefixes: tuple[str, ...]
    "names of templates, P of them"
    items: tuple[Item, ...]
    "S of them"
    variants: tuple[VariantId, ...]
    "W of them"
    authors: tuple[tuple[str | None, ...], ...]
    "S x W: who wrote that wording; None where nobody says, or there is no such wording"
    read: Int32Array
    "(M, P, S, W, 4) kept readings, as read: those of political opposites are not turned round"
    by_rule: Int32Array
    "(M, P, S, W, 4) the part of `read` that a rule read, to which the classifier's error does not apply"
    dropped: Int32Array
    "(M, P, S, W) answers whose reading is below the confidence threshold"
    unread: Int32Array
    "(M, P, S, W) answers that no reader has read"
    truncated: Int32Array | None = None
    "(M, P, S, W) answers that were cut off in thought, so that there is nothing to read; None: none"
    ruled_out: Int32Array | None = None
    "(M, P, S, W) answers that an auditor's ruling leaves out; None: none"
    turned: BoolArray | None = None
    "(M, S, W) whether agreeing with a wording that a model was given is disagreeing with its statement; None: by kind"
    as_is: Int32Array | None = None
    """(M, P, S, W, 4) the part of `read` that no rule read and no correction touches: people labelled the text, or no
    test covers it; None: nothing"""
    prompt: IntArray | None = None
    "(M, P, S, W) which text was put to a model, 0 where none was; equal numbers are equal prompts. None: not recorded"
    languages: tuple[str, ...] = ()
    "of the wordings that each model was asked; empty: one for all"

    def __post_init__(self) -> None:
        cells = (len(self.models), len(self.prefixes), len(self.items), len(self.variants))
        for name, shape in (("read", (*cells, 4)), ("by_rule", (*cells, 4)), ("dropped", cells), ("unread", cells)):
            array = getattr(self, name)
            if array.shape != shape or (array < 0).any():
                raise ValueError(f"expected {name} of shape {shape}, 0 or more, found shape {array.shape}")
        for name, found in (("truncated", self.truncated), ("ruled_out", self.ruled_out)):
            if found is not None and found.shape != cells:
                raise ValueError(f"expected {name} of shape {cells}, found shape {found.shape}")
        fixed = self.by_rule if self.as_is is None else self.by_rule + self.as_is
        if (fixed > self.read).any():
            raise ValueError("found more readings by rule or by people than readings")
        if self.prompt is not None and self.prompt.shape != cells:
            raise ValueError(f"expected prompt of shape {cells}, found shape {self.prompt.shape}")
        if self.languages and len(self.languages) != cells[0]:
            raise ValueError(f"expected a language for each of {cells[0]} models")
        turned = (cells[0], *cells[2:])
        if self.turned is not None and self.turned.shape != turned:
            raise ValueError(f"expected turned of shape {turned}, found shape {self.turned.shape}")
        if len(self.authors) != cells[2] or any(len(row) != cells[3] for row in self.authors):
            raise ValueError(f"expected authors of {cells[2]} statements x {cells[3]} wordings")
        for name, keys in self._axes().items():
            if len(set(keys)) != len(keys):
                raise ValueError(f"found a {name} twice: {', '.join(keys)}")

    def _axes(self) -> dict[str, tuple[str, ...]]:
        return {
            "model": self.models,
            "prefix": self.prefixes,
            "statement": tuple(item.ref for item in self.items),
            "wording": tuple(str(variant) for variant in self.variants),
        }

    def language(self, model: int) -> str:
        """Return the language of the wordings that the model at a place was asked."""
        return self.languages[model] if self.languages else ""

    @cached_property
    def flipped(self) -> BoolArray:
        """Whether agreeing with a wording is disagreeing with its statement: (M, S, W)."""
        if self.turned is not None:
            return self.turned
        by_kind = np.array([variant.relation is Relation.FLIPPED for variant in self.variants], dtype=np.bool_)
        return np.broadcast_to(by_kind, (len(self.models), len(self.items), len(self.variants)))

    @cached_property
    def side(self) -> IntArray:
        """The place of each statement's leaning in `SIDES`: (S,)."""
        return np.array([SIDES.index(item.leaning) for item in self.items], dtype=np.int64)

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """The surveys and tests, in order of appearance."""
        return tuple(dict.fromkeys(item.source for item in self.items))

    def place(self, axis: str, name: str) -> int:
        """Return where a model, prefix or statement stands. Raises UnknownName, listing those there are."""
        names = self._axes()[axis]
        if name not in names:
            shown = ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
            raise UnknownName(f"this run has no {axis} {name!r}. Available: {shown}")
        return names.index(name)

    @cached_property
    def categories(self) -> Int32Array:
        """Kept readings by category, (M, P, S, W, c): 2 or 3 readers (classifier, rule, and people where some texts
        enter as they are) x 2 relations (same, flipped) x 4 stances, stances fastest.
        """
        as_is = [] if self.as_is is None else [self.as_is]
        readers = np.stack([self.read - sum(as_is, self.by_rule), self.by_rule, *as_is], axis=-2)  # (…, reader, stance)
        relation = np.stack([~self.flipped, self.flipped], axis=-1)  # (M, S, W, relation)
        table = readers[..., :, None, :] * relation[:, None, :, :, None, :, None]
        return np.asarray(table.reshape(*self.dropped.shape, 8 * readers.shape[-2]), dtype=np.int32)


def swapped(categories: IntArray) -> IntArray:
    """Return the stances on the statements themselves: (..., c) to (..., 4); opposites are turned round."""
    same, turned = np.moveaxis(categories.reshape(*categories.shape[:-1], -1, 2, 4).sum(axis=-3), -2, 0)
    order = [STANCES.index(stance.flipped) for stance in STANCES]
    return np.asarray(same + turned[..., order], dtype=np.int64)


__all__ = [
    "DEFAULTS",
    "SERVED_SAMPLING",
    "SIDES",
    "Item",
    "Tally",
    "default_variants",
    "swapped",
]
