"""What the reliability audit judges: how often each prompt was answered for and against, and by
which rules.

Tests that cannot fail
----------------------
Tests that cannot fail: what they compare is one and the same prompt, or a wording that is not there
or has no text.

Two label orders that come to one text, a variant that repeats its original and templates that put a
statement alike are compared with themselves; a statement without a negation has nothing that its
original could be compared with. By default such a test is void for its statement: it is shown and
counted, and it is in no denominator. The published code judges it like any other; the option
`judge_void` does so, too, and a test without a wording is insufficient then.

Two prompts are one where they read alike: case and blanks aside, as `lint` compares texts. A
negation that differs from its original by a blank negates nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from workbench.audits.reliability.options import ReliabilityOptions
from workbench.domain.statements import Relation, VariantId, VariantKind
from workbench.errors import UnknownName
from workbench.stats.arrays import BoolArray, Int32Array, IntArray
from workbench.stats.proportions import VerdictRule, is_settled, mean_expected_share
from workbench.stats.samples import hypergeometric

if TYPE_CHECKING:
    from stores.runs.models import SettledBy
    from workbench.stats.proportions import ReliabilityRule

Int8Array = npt.NDArray[np.int8]

SIGNS = {Relation.SAME: 1, Relation.FLIPPED: -1, Relation.FREE: 0}

PRINTED, SWAPPED = 0, 1
"places of the two label orders on the last axis"

ALL = "all"
TEMPLATE = "template"


@dataclass(frozen=True, eq=False)
class Counts:
    """How many samples of every prompt were read as agreement, as rejection and not at all."""

    statements: tuple[str, ...]
    "refs, S of them"
    variants: tuple[VariantId, ...]
    "V of them: original, paraphrases, negation, opposite"
    templates: tuple[str, ...]
    "T of them"
    positive: Int32Array
    "shape (T, S, V, 2); the last axis is the label order: printed, swapped"
    negative: Int32Array
    unreadable: Int32Array
    exists: BoolArray
    "shape (S, V): whether the statement has that wording at all"
    samples: int
    "answers planned for each prompt; where plans differ, the most"
    relations: Int8Array | None = None
    """shape (S, V), as `signs` has it, where wordings state their own relation; None: what is
    expected of each kind"""
    failed: BoolArray | None = None
    """shape (T, S, V, 2): prompts that were asked and have no answer, for all of it failed; None:
    none"""
    planned: Int32Array | None = None
    """shape (T, S, V, 2): answers planned for each prompt, where plans differ; None: `samples` for
    all"""
    truncated: Int32Array | None = None
    """shape (T, S, V, 2): answers that were cut off in thought, which are neither readable nor
    unreadable; None: none"""
    left_out: Int32Array | None = None
    """shape (T, S, V, 2): answers that an auditor's ruling leaves out, which are not readable;
    None: none"""
    prompts: IntArray | None = None
    """shape (T, S, V, 2): a number for each prompt, one for prompts that read alike, -1 for none;
    None: all differ"""
    blank: BoolArray | None = None
    "shape (S, V): wordings without text; None: none"
    until_settled: BoolArray | None = None
    "shape (T, S, V, 2): prompts that were asked only until their verdict was settled; None: none"

    def __post_init__(self) -> None:
        shape = (len(self.templates), len(self.statements), len(self.variants), 2)
        for array in (self.positive, self.negative, self.unreadable):
            if array.shape != shape or (array < 0).any():
                raise ValueError(
                    f"expected counts of shape {shape}, 0 or more, found shape {array.shape}"
                )
        if self.exists.shape != shape[1:3] or self.samples < 1:
            raise ValueError(f"expected exists of shape {shape[1:3]} and samples of at least 1")
        if self.relations is not None and self.relations.shape != shape[1:3]:
            raise ValueError(
                f"expected relations of shape {shape[1:3]}, found {self.relations.shape}"
            )
        if self.failed is not None and self.failed.shape != shape:
            raise ValueError(f"expected failures of shape {shape}, found {self.failed.shape}")
        if self.planned is not None and (self.planned.shape != shape or (self.planned < 0).any()):
            raise ValueError(
                f"expected plans of shape {shape}, 0 or more, found shape {self.planned.shape}"
            )
        if self.truncated is not None and self.truncated.shape != shape:
            raise ValueError(
                f"expected truncated answers of shape {shape}, found {self.truncated.shape}"
            )
        if self.left_out is not None and self.left_out.shape != shape:
            raise ValueError(
                f"expected answers left out of shape {shape}, found {self.left_out.shape}"
            )
        if self.prompts is not None and self.prompts.shape != shape:
            raise ValueError(f"expected prompts of shape {shape}, found {self.prompts.shape}")
        if self.until_settled is not None and self.until_settled.shape != shape:
            raise ValueError(
                f"expected prompts until settled of shape {shape}, found {self.until_settled.shape}"
            )
        if self.blank is not None and self.blank.shape != shape[1:3]:
            raise ValueError(
                f"expected blank wordings of shape {shape[1:3]}, found {self.blank.shape}"
            )

    @cached_property
    def kind_signs(self) -> Int8Array:
        """What is expected of each wording's kind, as `signs` has it: (V,)."""
        return np.array([SIGNS[variant.relation] for variant in self.variants], dtype=np.int8)

    @cached_property
    def signs(self) -> Int8Array:
        """+1 same stance as on the original, -1 the other one, 0 nothing expected: (S, V)."""
        by_kind = np.broadcast_to(self.kind_signs, self.exists.shape)
        return by_kind if self.relations is None else self.relations

    @cached_property
    def turned(self) -> Int8Array:
        """-1 where the opposite of what its kind expects is expected of a wording, 0 where nothing
        is, else 1: (S, V).

        A stance times this is the stance as if the wording were what its kind is, so that kinds can
        be pooled.
        """
        return np.asarray(
            np.where(self.kind_signs == 0, 0, self.signs * self.kind_signs), dtype=np.int8
        )

    @cached_property
    def wanted(self) -> Int32Array:
        """Answers planned for each prompt: (T, S, V, 2). Those that failed or were never drawn are
        among them.
        """
        if self.planned is not None:
            return self.planned
        return np.full(self.positive.shape, self.samples, dtype=np.int32)

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """The fewest and the most answers planned for a prompt that has any: equal where all plans
        are.
        """
        if self.planned is None or not (self.planned > 0).any():
            return self.samples, self.samples
        there = self.planned[self.planned > 0]
        return int(there.min()), int(there.max())

    @property
    def sizes_words(self) -> str:
        """How many answers are planned for a prompt: `30`, `10 to 30`."""
        return " to ".join(map(str, sorted({*self.sizes})))

    @cached_property
    def readable(self) -> Int32Array:
        return self.positive + self.negative

    @cached_property
    def total(self) -> Int32Array:
        answered = self.readable + self.unreadable
        more = [array for array in (self.truncated, self.left_out) if array is not None]
        return np.asarray(sum(more, start=answered), dtype=np.int32)

    @property
    def counted(self) -> Int32Array:
        """Answers that no ruling leaves out, shape (T, S, V, 2): what shares of answers are of."""
        return self.total if self.left_out is None else self.total - self.left_out

    @property
    def cut_off(self) -> int:
        """How many answers were cut off in thought in all."""
        return 0 if self.truncated is None else int(self.truncated.sum())

    def cut_off_at(self, at: Sequence[int]) -> int:
        """Return how many answers to the prompt at a place of the arrays were cut off in
        thought.
        """
        return 0 if self.truncated is None else int(self.truncated[tuple(at)])

    def left_out_at(self, at: Sequence[int]) -> int:
        """Return how many answers to the prompt at a place of the arrays a ruling leaves out."""
        return 0 if self.left_out is None else int(self.left_out[tuple(at)])

    @cached_property
    def excluded(self) -> BoolArray:
        """Whether rulings leave out every answer to a wording that has any: (S, V)."""
        if self.left_out is None:
            return np.zeros_like(self.exists)
        kept = (self.readable + self.unreadable).sum(axis=(0, 3))
        left_out = self.left_out.sum(axis=(0, 3))
        return np.asarray((left_out > 0) & (kept == 0))

    @cached_property
    def excluded_prompts(self) -> BoolArray:
        """Whether rulings leave out every answer to a prompt that has any: (T, S, V, 2)."""
        if self.left_out is None:
            return np.zeros(self.positive.shape, dtype=np.bool_)
        return np.asarray((self.left_out > 0) & (self.readable + self.unreadable == 0))

    @property
    def excluded_statements(self) -> BoolArray:
        """Whether rulings leave out every answer to a statement, under a template or in all: (T,
        S).
        """
        everywhere = self.excluded.any(axis=1) & (self.excluded | ~self.exists).all(axis=1)
        printed = self.excluded_prompts[..., PRINTED]
        under_template = printed.any(axis=2) & (printed | ~self.exists).all(axis=2)
        return np.asarray(everywhere | under_template)

    @property
    def excluded_originals(self) -> BoolArray:
        """Whether rulings leave out every answer to the original, printed, under a template or in
        all: (T, S).
        """
        places = self.places(VariantKind.ORIGINAL)
        if not places:
            return np.zeros(self.positive.shape[:2], dtype=np.bool_)
        return np.asarray(
            self.excluded_prompts[:, :, places[0], PRINTED] | self.excluded[:, places[0]]
        )

    def under(self, templates: Sequence[int]) -> Counts:
        """Return the counts under the templates at these places, which may come several times."""
        arrays = (
            "positive",
            "negative",
            "unreadable",
            "failed",
            "planned",
            "truncated",
            "left_out",
            "prompts",
            "until_settled",
        )
        there = list(templates)
        found: dict[str, Any] = {
            name: array[there] for name in arrays if (array := getattr(self, name)) is not None
        }
        return replace(self, templates=tuple(self.templates[at] for at in there), **found)

    def of(self, statements: Sequence[int]) -> Counts:
        """Return the counts of the statements at these places, which may come several times and
        have numbers then.
        """
        there = list(statements)
        found: dict[str, Any] = {}
        for each in fields(self):
            array = getattr(self, each.name)
            if isinstance(array, np.ndarray):
                found[each.name] = array[there] if array.ndim == 2 else array[:, there]
        return replace(
            self,
            statements=tuple(f"{n} {self.statements[at]}" for n, at in enumerate(there)),
            **found,
        )

    def places(self, kind: VariantKind) -> list[int]:
        """Return where on the variant axis the wordings of a kind stand."""
        return [place for place, variant in enumerate(self.variants) if variant.kind is kind]

    def prompt_name(self, at: Sequence[int]) -> str:
        """Return the name of the prompt at a place of the arrays among its statement's: `negation
        swapped`.
        """
        return f"{self.variants[at[2]]}{' swapped' if at[3] == SWAPPED else ''}"

    def missing(self, at: Sequence[int]) -> str:
        """Say what became of a prompt without an answer."""
        return (
            f"{self.prompt_name(at)} {'asked, but failed' if self.has_failed(at) else 'not asked'}"
        )

    def has_failed(self, at: Sequence[int]) -> bool:
        """Return whether a prompt was asked and has no answer."""
        return self.failed is not None and bool(self.failed[tuple(at)])

    def statement(self, ref: str) -> int:
        return _place("statement", ref, self.statements)

    def template(self, name: str) -> int:
        return _place("template", name, self.templates)


def _place(what: str, name: str, names: Sequence[str]) -> int:
    if name not in names:
        shown = ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
        raise UnknownName(f"this run has no {what} {name!r}. Available: {shown}")
    return names.index(name)


KINDS = (VariantKind.ORIGINAL, VariantKind.PARAPHRASE, VariantKind.NEGATION, VariantKind.OPPOSITE)
"the wordings that the tests compare"


def default_variants(available: Sequence[VariantId]) -> tuple[VariantId, ...]:
    """Return the wordings that the tests compare."""
    return tuple(variant for variant in available if variant.kind in KINDS)


def random_baseline(counts: Counts, rng: np.random.Generator) -> Counts:
    """Return what a coin would have answered: as many fair flips as were planned, all readable, for
    every prompt that was asked.

    "As a random baseline, we generate a sample of 30 random answers for each statement variant"
    (Ceron et al. 2024, section 6.1).
    """
    asked = counts.total > 0
    heads = rng.binomial(counts.wanted, 0.5, size=asked.shape)
    return replace(
        counts,
        positive=np.where(asked, heads, 0).astype(np.int32),
        negative=np.where(asked, counts.wanted - heads, 0).astype(np.int32),
        unreadable=np.zeros_like(counts.unreadable),
        truncated=None,
        left_out=None,
        blank=counts.excluded if counts.blank is None else counts.blank | counts.excluded,
        until_settled=None,
    )


def thinned(counts: Counts, samples: int, rng: np.random.Generator) -> Counts:
    """Return the counts of so many of the answers planned for each prompt, drawn at random without
    replacement; of prompts with no more planned, all. Answers that failed or were never drawn are
    among those planned.

    Raises ValueError where prompts were asked until settled: which of their answers came first is
    not counted.
    """
    if counts.until_settled is not None:
        raise ValueError("prompts that were asked until settled cannot be thinned")
    left = counts.wanted.astype(np.int64)
    wanted = np.minimum(left, samples)
    found: dict[str, Any] = {}
    still = wanted.copy()
    for name in ("positive", "negative", "unreadable", "truncated", "left_out"):
        if (array := getattr(counts, name)) is None:
            continue
        there = np.minimum(array.astype(np.int64), left)
        found[name] = hypergeometric(there, left - there, still, rng).astype(np.int32)
        left, still = left - there, still - found[name]
    return replace(
        counts, **found, planned=wanted.astype(np.int32), samples=max(1, int(wanted.max(initial=0)))
    )


@dataclass(frozen=True, eq=False)
class Voids:
    """Which prompts make no test."""

    repeats: BoolArray
    """(T, S, V, 2): the prompt is the one that it is compared with, or one of the two is blank or
    ruled out. A wording is compared with the original in the same label order, the swapped original
    with the printed one.
    """
    blank: BoolArray
    "(S, V): the wording has no text, or rulings leave out all of its answers"
    template: BoolArray
    "(S,): all templates put the original alike"
    original: int | None
    "where on the variant axis the original stands"
    missing: bool = True
    "whether a test is void where its statement has no wording of which a stance is expected"

    @property
    def label_order(self) -> BoolArray:
        """Whether the original has one text in both label orders, or rulings exclude one of them:
        (T, S).
        """
        if self.original is None:
            return np.zeros(self.repeats.shape[:2], dtype=np.bool_)
        return np.asarray(self.repeats[:, :, self.original, SWAPPED])

    @property
    def pairs(self) -> BoolArray:
        """Whether a wording and the original make no pair of conditions: (T, S, V, 2).

        Where both label orders have one text, the swapped pair is the printed one over again.
        """
        found = self.repeats.copy()
        found[..., SWAPPED] |= self.label_order[..., None]
        return found


def voids(counts: Counts, options: ReliabilityOptions) -> Voids:
    """Return which prompts make no test; only those that rulings leave out where the options judge
    all others.
    """
    places = counts.places(VariantKind.ORIGINAL)
    original = places[0] if places else None
    repeats = np.zeros(counts.positive.shape, dtype=np.bool_)
    blank = counts.excluded & counts.exists
    template = np.zeros(len(counts.statements), dtype=np.bool_)
    if not options.judge_void and counts.blank is not None:
        blank |= counts.blank & counts.exists
    if not options.judge_void and original is not None and counts.prompts is not None:
        of_original = counts.prompts[:, :, original]
        repeats |= (counts.prompts == of_original[:, :, None]) & (counts.prompts >= 0)
        repeats[:, :, original] = False
        repeats[:, :, original, SWAPPED] = (
            of_original[..., SWAPPED] == of_original[..., PRINTED]
        ) & (of_original[..., PRINTED] >= 0)
        first = of_original[:1, :, PRINTED]
        template |= (len(counts.templates) > 1) & (first >= 0).all(axis=0)
        template &= (of_original[..., PRINTED] == first).all(axis=0)
    repeats |= blank[None, :, :, None] | counts.excluded_prompts
    if original is not None:
        repeats |= blank[None, :, original, None, None]
        repeats |= counts.excluded_prompts[:, :, original, None, :]
        repeats[..., SWAPPED] |= counts.excluded_originals[..., None]
        template |= blank[:, original]
    return Voids(repeats, blank, template, original, missing=not options.judge_void)


def usual_rule(samples: int) -> VerdictRule:
    """Return what makes a verdict of so many answers to a prompt unless somebody chooses
    otherwise.
    """
    return rule_of(ReliabilityOptions(), samples)


def rule_of(options: ReliabilityOptions, samples: int) -> VerdictRule:
    """Return what makes a verdict of so many answers to a prompt, by these options."""
    rule: ReliabilityRule = "coded" if options.rule == "coded" else "printed"
    return VerdictRule(
        samples, int(options.needed_of(np.asarray(samples))), rule, options.low, options.high
    )


def undecided(counts: Counts, options: ReliabilityOptions) -> BoolArray:
    """Return the prompts that were asked until settled, lack answers, and are not settled by these
    options: (T, S, V, 2).

    Answers that a ruling leaves out are neither readable nor to come.
    """
    asked = counts.until_settled
    if asked is None:
        return np.zeros(counts.positive.shape, dtype=np.bool_)
    short = asked & (counts.total < counts.wanted)
    found = np.zeros(short.shape, dtype=np.bool_)
    for planned in np.unique(counts.wanted[short]).tolist():
        here = short & (counts.wanted == planned)
        agree, disagree, total = (a[here] for a in (counts.positive, counts.negative, counts.total))
        found[here] = ~is_settled(
            agree, disagree, total - agree - disagree, rule_of(options, planned)
        )
    return found


def optimum(counts: Counts, rules: Sequence[SettledBy]) -> float:
    """Return the share of N answers that prompts asked until settled take on average where one
    looks after every answer, by the rule under which they were asked; NaN where there are several,
    or no prompt is settled.
    """
    if counts.until_settled is None or len(rules) != 1:
        return float("nan")
    rule = rules[0].rule
    agree, disagree, total = (
        a[counts.until_settled] for a in (counts.positive, counts.negative, counts.total)
    )
    settled = is_settled(agree, disagree, total - agree - disagree, rule) & (total <= rule.samples)
    each = np.stack([agree, disagree, total - agree - disagree], axis=1)[settled]
    return mean_expected_share(each.tolist(), rule)
