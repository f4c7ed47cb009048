"""The counts that the bias score judges: how often each wording was read as which stance.

A cell of the counts is a model, a prefix, a statement and a wording. See Faulborn et al. 2025,
sections 2, 3.1 to 3.4. Statements are labelled with the side that agreeing with them reflects. A
political opposite is asked as a wording of its statement, so agreeing with it is disagreeing with
the statement. Readings are counted as they were read; the score reverses those of opposites.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.domain.prompts import Template
from workbench.domain.readings import STANCES, Stance
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
from workbench.evidence.runs import unique_names
from workbench.stats.arrays import BoolArray, Int32Array, IntArray

SIDES = (Side.LEFT, Side.RIGHT)
"the order of the sides in arrays"


SERVED_SAMPLING = Sampling(temperature=1.0, top_p=1.0, top_k=None, max_new_tokens=100)
"""of commercial models: "we use the default generation parameters" (appendix C), which draw from
the whole vocabulary"""

_ALWAYS_ASKED = (VariantKind.ORIGINAL, VariantKind.REFORMULATION, VariantKind.POLITICAL_OPPOSITE)
_FIRST_PARAPHRASE = VariantId(VariantKind.PARAPHRASE, 1)


def default_variants(available: Sequence[VariantId]) -> tuple[VariantId, ...]:
    """Return the wordings that the score asks: original, reformulations, political opposites.

    An instrument without reformulations gives its first paraphrase instead, which also keeps the
    meaning.

    Examples
    --------
    >>> [str(v) for v in default_variants([VariantId.parse(t) for t in ("paraphrase-1", "paraphrase-2", "original")])]
    ['original', 'paraphrase-1']
    """  # noqa: E501
    selected = {variant for variant in available if variant.kind in _ALWAYS_ASKED}
    if (
        not any(variant.kind is VariantKind.REFORMULATION for variant in selected)
        and _FIRST_PARAPHRASE in available
    ):
        selected.add(_FIRST_PARAPHRASE)
    return tuple(sorted(selected, key=variant_order))


@dataclass(frozen=True, slots=True)
class ScoredStatement:
    """A statement with a side and a dimension. Statements that lack a label are not scored."""

    ref: str
    source: str
    "the survey or test it comes from; empty if the instrument does not say"
    dimension: Dimension
    leaning: Side
    "the side that agreeing with the original reflects"


@dataclass(frozen=True, eq=False)
class Tally:
    """The counts of the readings of all models' answers, with stances in the order of `STANCES`."""

    models: tuple[str, ...]
    "M of them"
    prefixes: tuple[str, ...]
    "names of templates, P of them"
    items: tuple[ScoredStatement, ...]
    "S of them"
    variants: tuple[VariantId, ...]
    "W of them"
    authors: tuple[tuple[str | None, ...], ...]
    "S x W: the author of that wording; None if it is not recorded, or there is no such wording"
    read: Int32Array
    "(M, P, S, W, 4) kept readings, as read: those of political opposites are not reversed"
    by_rule: Int32Array
    """(M, P, S, W, 4) the part of `read` that a rule read, to which the classifier's error does not
    apply"""
    dropped: Int32Array
    "(M, P, S, W) answers whose reading is below the confidence threshold"
    unread: Int32Array
    "(M, P, S, W) answers that no reader has read"
    truncated: Int32Array | None = None
    """(M, P, S, W) answers that were cut off in thought and have nothing to read; None if there are
    none"""
    ruled_out: Int32Array | None = None
    "(M, P, S, W) answers that an auditor's ruling excludes; None if there are none"
    turned: BoolArray | None = None
    """(M, S, W) whether agreeing with a wording that a model was given is disagreeing with its
    statement; None if the kind of the wording decides"""
    as_is: Int32Array | None = None
    """(M, P, S, W, 4) the part of `read` that no rule read and no correction changes, because
    people labelled the text, or no test covers it; None if there is none"""
    prompt: IntArray | None = None
    """(M, P, S, W) a number for the text of each prompt, 0 if the model was not asked. Equal
    numbers are equal prompts. None if it is not recorded"""
    languages: tuple[str, ...] = ()
    "of the wordings that each model was asked; empty if all have the same"

    def __post_init__(self) -> None:
        """Check shapes and values. Raises ValueError."""
        self._check_counts()
        self._check_axes()

    def _check_counts(self) -> None:
        """Raise ValueError if an array of counts has another shape, or impossible values."""
        cells = (len(self.models), len(self.prefixes), len(self.items), len(self.variants))
        for name, shape in (
            ("read", (*cells, 4)),
            ("by_rule", (*cells, 4)),
            ("dropped", cells),
            ("unread", cells),
        ):
            array = getattr(self, name)
            if array.shape != shape or (array < 0).any():
                raise ValueError(
                    f"expected {name} of shape {shape}, 0 or more, found shape {array.shape}"
                )
        _check_shape("truncated", self.truncated, cells)
        _check_shape("ruled_out", self.ruled_out, cells)
        fixed = self.by_rule if self.as_is is None else self.by_rule + self.as_is
        if (fixed > self.read).any():
            raise ValueError("found more readings by rule or by people than readings")
        _check_shape("prompt", self.prompt, cells)

    def _check_axes(self) -> None:
        """Raise ValueError if a value along the axes is missing, or a name occurs twice."""
        n_models, n_items, n_variants = len(self.models), len(self.items), len(self.variants)
        if self.languages and len(self.languages) != n_models:
            raise ValueError(f"expected a language for each of {n_models} models")
        _check_shape("turned", self.turned, (n_models, n_items, n_variants))
        if len(self.authors) != n_items or any(len(row) != n_variants for row in self.authors):
            raise ValueError(f"expected authors of {n_items} statements x {n_variants} wordings")
        for name, keys in self._axes().items():
            if len(set(keys)) != len(keys):
                raise ValueError(f"found a {name} twice: {', '.join(keys)}")

    def _axes(self) -> dict[str, tuple[str, ...]]:
        """Return the names along each axis."""
        return {
            "model": self.models,
            "prefix": self.prefixes,
            "statement": tuple(item.ref for item in self.items),
            "wording": tuple(str(variant) for variant in self.variants),
        }

    def language(self, model: int) -> str:
        """Return the language of the wordings that the model at an index was asked."""
        return self.languages[model] if self.languages else ""

    @cached_property
    def flipped(self) -> BoolArray:
        """Whether agreeing with a wording is disagreeing with its statement: (M, S, W)."""
        if self.turned is not None:
            return self.turned
        by_kind = np.array(
            [variant.relation is Relation.FLIPPED for variant in self.variants], dtype=np.bool_
        )
        return np.broadcast_to(by_kind, (len(self.models), len(self.items), len(self.variants)))

    @cached_property
    def side(self) -> IntArray:
        """The index of each statement's leaning in `SIDES`: (S,)."""
        return np.array([SIDES.index(item.leaning) for item in self.items], dtype=np.int64)

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """The surveys and tests, in order of appearance."""
        return tuple(dict.fromkeys(item.source for item in self.items))

    def place(self, axis: str, name: str) -> int:
        """Return the index of a model, prefix or statement.

        Raises UnknownName with the names that exist.
        """
        names = self._axes()[axis]
        if name not in names:
            available = ", ".join(names[:12]) + (
                f" and {len(names) - 12} more" if len(names) > 12 else ""
            )
            raise UnknownName(f"this run has no {axis} {name!r}. Available: {available}")
        return names.index(name)

    @cached_property
    def categories(self) -> Int32Array:
        """Kept readings by category: (M, P, S, W, c).

        The categories are 2 or 3 readers (classifier, rule, and people if some texts enter as they
        are) x 2 relations (same, flipped) x 4 stances, stances fastest.
        """
        as_is = [] if self.as_is is None else [self.as_is]
        # (…, reader, stance)
        readers = np.stack([self.read - sum(as_is, self.by_rule), self.by_rule, *as_is], axis=-2)
        relation = np.stack([~self.flipped, self.flipped], axis=-1)  # (M, S, W, relation)
        table = readers[..., :, None, :] * relation[:, None, :, :, None, :, None]
        return np.asarray(table.reshape(*self.dropped.shape, 8 * readers.shape[-2]), dtype=np.int32)


def _check_shape(
    name: str, array: Int32Array | IntArray | BoolArray | None, shape: tuple[int, ...]
) -> None:
    """Raise ValueError if an array has another shape. None has every shape."""
    if array is not None and array.shape != shape:
        raise ValueError(f"expected {name} of shape {shape}, found shape {array.shape}")


def swapped(categories: IntArray) -> IntArray:
    """Return the stances on the statements themselves: (..., c) to (..., 4).

    Stances on opposites are reversed.
    """
    same, turned = np.moveaxis(
        categories.reshape(*categories.shape[:-1], -1, 2, 4).sum(axis=-3), -2, 0
    )
    order = [STANCES.index(stance.flipped) for stance in STANCES]
    return np.asarray(same + turned[..., order], dtype=np.int64)


Places = Mapping[tuple[str, str], Mapping[str, str]]
"by (model of the report, instrument), by name of a template: the prefix of the report"


@dataclass(slots=True)
class _Prefix:
    """One text, in the label orders in which it was asked."""

    first: Template
    instrument: str
    keys: dict[bool, bytes] = field(default_factory=dict)

    def is_of(self, template: Template) -> bool:
        """Return whether a template has the family and the name of the prefix."""
        return (template.family, template.name) == (self.first.family, self.first.name)


def prefixes(store: Store, runs: Mapping[str, Sequence[Run]]) -> tuple[tuple[str, ...], Places]:
    """Return the prefixes of a report, and the prefix of each template of a run.

    A prefix is called by its name, with as much of its family, version and instrument as
    distinguishes it from others of that name.
    """
    known_prefixes: list[_Prefix] = []
    prefixes_by_run: dict[tuple[str, str], dict[str, _Prefix]] = {}
    for model, model_runs in runs.items():
        for run in model_runs:
            orders: dict[str, dict[bool, Template]] = {}
            for template in store.runs.templates(run):
                orders.setdefault(template.name, {})[template.inverted] = template
            prefixes_by_run[model, run.instrument] = {
                name: _find_or_add_prefix(known_prefixes, texts, run.instrument)
                for name, texts in orders.items()
            }
    names = unique_names(
        [prefix.first.name for prefix in known_prefixes],
        [f"family {prefix.first.family}" for prefix in known_prefixes],
        [f"version {prefix.first.version}" for prefix in known_prefixes],
        [prefix.instrument for prefix in known_prefixes],
        [f"text {number}" for number in range(1, len(known_prefixes) + 1)],
    )
    # by identity, because prefixes are mutable and have no hash
    name_by_id = {id(prefix): name for prefix, name in zip(known_prefixes, names, strict=True)}
    return tuple(names), {
        run_key: {name: name_by_id[id(prefix)] for name, prefix in run_prefixes.items()}
        for run_key, run_prefixes in prefixes_by_run.items()
    }


def _find_or_add_prefix(
    known: list[_Prefix], orders: Mapping[bool, Template], instrument: str
) -> _Prefix:
    """Return the prefix that has these texts, or a new one."""
    first = next(iter(orders.values()))
    keys = {order: template.key for order, template in orders.items()}
    for prefix in known:
        # texts have to be equal in the label orders that both have
        common = prefix.keys.keys() & keys.keys()
        if (
            prefix.is_of(first)
            and common
            and all(prefix.keys[order] == keys[order] for order in common)
        ):
            prefix.keys |= keys
            return prefix
    known.append(_Prefix(first, instrument, keys))
    return known[-1]


NOT_RECORDED = "not recorded"
"the author of wordings whose author is not recorded"


@dataclass(frozen=True, slots=True)
class Selection:
    """A part of a model's answers. A field that is None does not restrict it."""

    dimension: Dimension | None = None
    source: str | None = None
    prefix: str | None = None
    variant: str | VariantId | None = None
    "one wording (`reformulation-2`) or all of a kind (`reformulation`)"
    author: str | None = None
    "the author of the wording, or `NOT_RECORDED`"
    rule_only: bool = False
    "exclude readings of the classifier"

    def __str__(self) -> str:
        value_by_name = {"prefix": self.prefix, "wording": self.variant, "author": self.author}
        parts = [str(part) for part in (self.source, self.dimension) if part is not None]
        parts += [f"{name} {value}" for name, value in value_by_name.items() if value is not None]
        return ", ".join([*parts, *(["read by rule"] if self.rule_only else [])]) or "all answers"


EVERYTHING = Selection()
"all answers of a model"


@dataclass(frozen=True, eq=False)
class TallySelection:
    """A selection of one model's answers, located in the tally."""

    name: str
    "distinguishes it from every other pick of the tally"
    model: int
    cells: BoolArray
    "(P, S, W)"
    rule_only: bool


def pick(tally: Tally, model: str, selection: Selection) -> TallySelection:
    """Return the cells of a selection. Raises UnknownName for a name that the tally lacks."""
    statements = np.array(
        [
            selection.dimension in (None, item.dimension)
            and selection.source in (None, item.source)
            for item in tally.items
        ],
        dtype=np.bool_,
    )
    if selection.source is not None and selection.source not in tally.sources:
        raise UnknownName(
            f"there is no source {selection.source!r}. Available: {', '.join(tally.sources)}"
        )
    wordings = _wordings(tally, selection.variant)[None, :] & _written_by(tally, selection.author)
    cells = (
        _prefixes(tally, selection.prefix)[:, None, None] & (statements[:, None] & wordings)[None]
    )
    return TallySelection(
        f"{model}: {selection!r}", tally.place("model", model), cells, selection.rule_only
    )


def _prefixes(tally: Tally, prefix: str | None) -> BoolArray:
    """Return whether each prefix is selected: (P,)."""
    is_selected = np.ones(len(tally.prefixes), dtype=np.bool_)
    if prefix is not None:
        is_selected[:] = False
        is_selected[tally.place("prefix", prefix)] = True
    return is_selected


def _wordings(tally: Tally, variant: str | VariantId | None) -> BoolArray:
    """Return whether each wording is selected: (W,). Raises UnknownName for an unknown wording."""
    name = None if variant is None else str(variant)
    is_selected = np.array(
        [name in (None, str(wording), wording.kind.value) for wording in tally.variants],
        dtype=np.bool_,
    )
    if not is_selected.any() and name is not None:
        raise UnknownName(
            f"there is no wording {name!r}. Available: {', '.join(map(str, tally.variants))}"
        )
    return is_selected


def authors(tally: Tally) -> tuple[str, ...]:
    """Return the authors of the wordings that were asked, in order of appearance.

    `NOT_RECORDED` is the last one.
    """
    was_asked = (tally.read.sum(axis=-1) + tally.dropped + tally.unread).sum(axis=(0, 1)) > 0
    authors_found = dict.fromkeys(
        author
        for row, row_asked in zip(tally.authors, was_asked, strict=True)
        for author, is_asked in zip(row, row_asked, strict=True)
        if is_asked
    )
    recorded = tuple(author for author in authors_found if author is not None)
    return (*recorded, NOT_RECORDED) if None in authors_found else recorded


def _written_by(tally: Tally, author: str | None) -> BoolArray:
    """Return whether each wording is by an author: (S, W). Raises UnknownName."""
    shape = (len(tally.items), len(tally.variants))
    if author is None:
        return np.ones(shape, dtype=np.bool_)
    if author not in authors(tally):
        raise UnknownName(
            f"there is no author {author!r}. Available: {', '.join(authors(tally)) or 'none'}"
        )
    recorded_author = None if author == NOT_RECORDED else author
    return np.array(
        [[name == recorded_author for name in row] for row in tally.authors], dtype=np.bool_
    ).reshape(shape)


def kept(tally: Tally, chosen: TallySelection) -> IntArray:
    """Return a pick's kept readings per statement and category: (S, c)."""
    counts = np.einsum("pswc,psw->sc", tally.categories[chosen.model], chosen.cells, dtype=np.int64)
    if chosen.rule_only:
        counts[:, without_rule(counts.shape[1])] = 0
    return np.asarray(counts, dtype=np.int64)


def missing(tally: Tally, chosen: TallySelection) -> IntArray:
    """Return a pick's answers without a stance that counts, per statement and reason: (S, 4).

    The reasons are: dropped, unread, cut off and unrelated. Answers that rulings exclude are not
    missing.
    """
    unrelated = swapped(kept(tally, chosen))[:, STANCES.index(Stance.UNRELATED)]
    return np.stack([*left_out(tally, chosen), cut_off(tally, chosen), unrelated], axis=-1)


def cut_off(tally: Tally, chosen: TallySelection) -> IntArray:
    """Return the number of a pick's answers that were cut off in thought, per statement: (S,)."""
    if tally.truncated is None:
        return np.zeros(len(tally.items), dtype=np.int64)
    return np.asarray(
        (tally.truncated[chosen.model] * chosen.cells).sum(axis=(0, 2)), dtype=np.int64
    )


def ruled_out(tally: Tally, chosen: TallySelection) -> IntArray:
    """Return the number of a pick's answers that rulings exclude, per statement: (S,)."""
    if tally.ruled_out is None:
        return np.zeros(len(tally.items), dtype=np.int64)
    return np.asarray(
        (tally.ruled_out[chosen.model] * chosen.cells).sum(axis=(0, 2)), dtype=np.int64
    )


def without_rule(categories: int) -> IntArray:
    """Return the indices of the categories of readings that no rule made."""
    return np.flatnonzero(np.arange(categories) // 8 != 1)


def left_out(tally: Tally, chosen: TallySelection) -> tuple[IntArray, IntArray]:
    """Return the numbers of a pick's dropped and unread answers, per statement: two (S,).

    If only readings by rule are requested, those by the classifier and by people are dropped too.
    """
    dropped, unread = (
        (array[chosen.model] * chosen.cells).sum(axis=(0, 2))
        for array in (tally.dropped, tally.unread)
    )
    if chosen.rule_only:
        counts = np.einsum(
            "pswc,psw->sc", tally.categories[chosen.model], chosen.cells, dtype=np.int64
        )
        dropped = dropped + counts[:, without_rule(counts.shape[1])].sum(axis=1)
    return np.asarray(dropped, dtype=np.int64), np.asarray(unread, dtype=np.int64)
