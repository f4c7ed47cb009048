"""The counts that the reliability audit judges: how often each prompt was answered for and against.

Tests that cannot fail
----------------------

A test cannot fail if it compares a prompt with itself, or a wording that does not exist or has no
text.

That is so if two label orders give one text, if a variant repeats its original, and if templates
give one text for a statement. A statement without a negation has nothing to compare with its
original. By default such a test is void for its statement: it is shown and counted, and it is in no
denominator. The published code judges it like any other. So does the option `judge_void`, with
which a test without a wording is insufficient.

Two prompts are the same if they read alike, whatever their case and blanks, as `lint` compares
texts. A negation that differs from its original by a blank negates nothing.
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
"indices of the two label orders on the last axis"

ALL = "all"
TEMPLATE = "template"


@dataclass(frozen=True, eq=False)
class Counts:
    """The numbers of samples read as agreement, as rejection and not at all, by prompt."""

    statements: tuple[str, ...]
    "the S refs of statements"
    variants: tuple[VariantId, ...]
    "V of them: original, paraphrases, negation, opposite"
    templates: tuple[str, ...]
    "the names of T templates"
    positive: Int32Array
    "shape (T, S, V, 2); the last axis is the label order: printed, swapped"
    negative: Int32Array
    unreadable: Int32Array
    exists: BoolArray
    "shape (S, V): whether the statement has that wording"
    samples: int
    "answers planned for each prompt; the largest plan if plans differ"
    relations: Int8Array | None = None
    """shape (S, V), as in `signs`, if wordings state their own relation; None: the relation of each
    kind"""
    failed: BoolArray | None = None
    """shape (T, S, V, 2): prompts that were asked and have no answer, because every one failed;
    None: none"""
    planned: Int32Array | None = None
    "shape (T, S, V, 2): answers planned for each prompt, if plans differ; None: `samples` for all"
    truncated: Int32Array | None = None
    """shape (T, S, V, 2): answers that were cut off in thought, which are neither readable nor
    unreadable; None: none"""
    left_out: Int32Array | None = None
    """shape (T, S, V, 2): answers that an auditor's ruling excludes, which are not readable; None:
    none"""
    prompts: IntArray | None = None
    """shape (T, S, V, 2): a number for each prompt, equal for prompts that read alike, -1 for no
    prompt; None: all differ"""
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
        if self.planned is not None and (self.planned.shape != shape or (self.planned < 0).any()):
            raise ValueError(
                f"expected plans of shape {shape}, 0 or more, found shape {self.planned.shape}"
            )
        by_wording = {"relations": self.relations, "blank wordings": self.blank}
        by_prompt = {
            "failures": self.failed,
            "truncated answers": self.truncated,
            "answers left out": self.left_out,
            "prompts": self.prompts,
            "prompts until settled": self.until_settled,
        }
        for arrays, expected in ((by_wording, shape[1:3]), (by_prompt, shape)):
            for name, values in arrays.items():
                if values is not None and values.shape != expected:
                    raise ValueError(f"expected {name} of shape {expected}, found {values.shape}")

    @cached_property
    def kind_signs(self) -> Int8Array:
        """The expected relation to the original of each wording's kind, as in `signs`: (V,)."""
        return np.array([SIGNS[variant.relation] for variant in self.variants], dtype=np.int8)

    @cached_property
    def signs(self) -> Int8Array:
        """The expected stance: +1 that of the original, -1 the other one, 0 none: (S, V)."""
        by_kind = np.broadcast_to(self.kind_signs, self.exists.shape)
        return by_kind if self.relations is None else self.relations

    @cached_property
    def turned(self) -> Int8Array:
        """-1 if a wording's relation is the reverse of its kind's, 0 if free, else 1: (S, V).

        A stance times this is the stance as if the wording had the relation of its kind, so that
        kinds can be pooled.
        """
        return np.asarray(
            np.where(self.kind_signs == 0, 0, self.signs * self.kind_signs), dtype=np.int8
        )

    @cached_property
    def wanted(self) -> Int32Array:
        """The number of answers planned for each prompt: (T, S, V, 2).

        Answers that failed or were never sampled are among them.
        """
        if self.planned is not None:
            return self.planned
        return np.full(self.positive.shape, self.samples, dtype=np.int32)

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """The smallest and the largest number of answers planned for a prompt that has any.

        They are equal if all plans are.
        """
        if self.planned is None or not (self.planned > 0).any():
            return self.samples, self.samples
        positive_plans = self.planned[self.planned > 0]
        return int(positive_plans.min()), int(positive_plans.max())

    @property
    def sizes_words(self) -> str:
        """The number of answers planned for a prompt, as in `30` or `10 to 30`."""
        return " to ".join(map(str, sorted({*self.sizes})))

    @cached_property
    def readable(self) -> Int32Array:
        """The number of readable answers to each prompt: (T, S, V, 2)."""
        return self.positive + self.negative

    @cached_property
    def total(self) -> Int32Array:
        """The number of all answers to each prompt: (T, S, V, 2)."""
        answered = self.readable + self.unreadable
        extra = [array for array in (self.truncated, self.left_out) if array is not None]
        return np.asarray(sum(extra, start=answered), dtype=np.int32)

    @property
    def counted(self) -> Int32Array:
        """The answers that no ruling excludes, the basis of shares: (T, S, V, 2)."""
        return self.total if self.left_out is None else self.total - self.left_out

    @property
    def cut_off(self) -> int:
        """The number of all answers that were cut off in thought."""
        return 0 if self.truncated is None else int(self.truncated.sum())

    def cut_off_at(self, prompt_index: Sequence[int]) -> int:
        """Return how many answers to the prompt at an index were cut off in thought."""
        return 0 if self.truncated is None else int(self.truncated[tuple(prompt_index)])

    def left_out_at(self, prompt_index: Sequence[int]) -> int:
        """Return how many answers to the prompt at an index a ruling excludes."""
        return 0 if self.left_out is None else int(self.left_out[tuple(prompt_index)])

    @cached_property
    def excluded(self) -> BoolArray:
        """Whether rulings exclude every answer to a wording that has any: (S, V)."""
        if self.left_out is None:
            return np.zeros_like(self.exists)
        remaining = (self.readable + self.unreadable).sum(axis=(0, 3))
        left_out = self.left_out.sum(axis=(0, 3))
        return np.asarray((left_out > 0) & (remaining == 0))

    @cached_property
    def excluded_prompts(self) -> BoolArray:
        """Whether rulings exclude every answer to a prompt that has any: (T, S, V, 2)."""
        if self.left_out is None:
            return np.zeros(self.positive.shape, dtype=np.bool_)
        return np.asarray((self.left_out > 0) & (self.readable + self.unreadable == 0))

    @property
    def excluded_statements(self) -> BoolArray:
        """Whether rulings exclude every answer to a statement: (T, S).

        They may exclude them under one template or in all.
        """
        everywhere = self.excluded.any(axis=1) & (self.excluded | ~self.exists).all(axis=1)
        printed = self.excluded_prompts[..., PRINTED]
        under_template = printed.any(axis=2) & (printed | ~self.exists).all(axis=2)
        return np.asarray(everywhere | under_template)

    @property
    def excluded_originals(self) -> BoolArray:
        """Whether rulings exclude every answer to the printed original: (T, S).

        They may exclude them under one template or in all.
        """
        originals = self.variant_indices(VariantKind.ORIGINAL)
        if not originals:
            return np.zeros(self.positive.shape[:2], dtype=np.bool_)
        return np.asarray(
            self.excluded_prompts[:, :, originals[0], PRINTED] | self.excluded[:, originals[0]]
        )

    def for_templates(self, templates: Sequence[int]) -> Counts:
        """Return the counts under the templates at these indices, which may repeat."""
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
        indices = list(templates)
        arrays_under: dict[str, Any] = {
            name: array[indices] for name in arrays if (array := getattr(self, name)) is not None
        }
        return replace(
            self, templates=tuple(self.templates[index] for index in indices), **arrays_under
        )

    def for_statements(self, statements: Sequence[int]) -> Counts:
        """Return the counts of the statements at these indices.

        The indices may repeat. The names of the statements begin with a running number.
        """
        indices = list(statements)
        selected_arrays: dict[str, Any] = {}
        for count_field in fields(self):
            array = getattr(self, count_field.name)
            if isinstance(array, np.ndarray):
                selected_arrays[count_field.name] = (
                    array[indices] if array.ndim == 2 else array[:, indices]
                )
        return replace(
            self,
            statements=tuple(
                f"{number} {self.statements[index]}" for number, index in enumerate(indices)
            ),
            **selected_arrays,
        )

    def variant_indices(self, kind: VariantKind) -> list[int]:
        """Return the indices of the wordings of a kind on the variant axis."""
        return [index for index, variant in enumerate(self.variants) if variant.kind is kind]

    def prompt_name(self, prompt_index: Sequence[int]) -> str:
        """Return the name of the prompt at an index of the arrays, as in `negation swapped`."""
        return f"{self.variants[prompt_index[2]]}{' swapped' if prompt_index[3] == SWAPPED else ''}"

    def missing(self, prompt_index: Sequence[int]) -> str:
        """Return the reason why a prompt has no answer."""
        reason = "asked, but failed" if self.has_failed(prompt_index) else "not asked"
        return f"{self.prompt_name(prompt_index)} {reason}"

    def has_failed(self, prompt_index: Sequence[int]) -> bool:
        """Return whether a prompt was asked and has no answer."""
        return self.failed is not None and bool(self.failed[tuple(prompt_index)])

    def statement(self, ref: str) -> int:
        """Return the index of a statement. Raises UnknownName."""
        return _place("statement", ref, self.statements)

    def template(self, name: str) -> int:
        """Return the index of a template. Raises UnknownName."""
        return _place("template", name, self.templates)


def _place(what: str, name: str, names: Sequence[str]) -> int:
    """Return the index of a name. Raises UnknownName, with the names there are."""
    if name not in names:
        available = ", ".join(names[:12]) + (
            f" and {len(names) - 12} more" if len(names) > 12 else ""
        )
        raise UnknownName(f"this run has no {what} {name!r}. Available: {available}")
    return names.index(name)


KINDS = (VariantKind.ORIGINAL, VariantKind.PARAPHRASE, VariantKind.NEGATION, VariantKind.OPPOSITE)
"the wordings that the tests compare"


def default_variants(available: Sequence[VariantId]) -> tuple[VariantId, ...]:
    """Return the wordings that the tests compare."""
    return tuple(variant for variant in available if variant.kind in KINDS)


def random_baseline(counts: Counts, rng: np.random.Generator) -> Counts:
    """Return the answers of a coin: as many fair flips as were planned, all readable.

    Every prompt that was asked has such answers.
    """
    has_answers = counts.total > 0
    heads = rng.binomial(counts.wanted, 0.5, size=has_answers.shape)
    return replace(
        counts,
        positive=np.where(has_answers, heads, 0).astype(np.int32),
        negative=np.where(has_answers, counts.wanted - heads, 0).astype(np.int32),
        unreadable=np.zeros_like(counts.unreadable),
        truncated=None,
        left_out=None,
        blank=counts.excluded if counts.blank is None else counts.blank | counts.excluded,
        until_settled=None,
    )


def thinned(counts: Counts, samples: int, rng: np.random.Generator) -> Counts:
    """Return the counts of a sample of the answers planned for each prompt.

    It is drawn at random without replacement. Prompts with no more answers planned keep all of
    them. Answers that failed or were never sampled are among those planned.

    Raises ValueError if prompts were asked until settled: the counts do not say which of their
    answers came first.
    """
    if counts.until_settled is not None:
        raise ValueError("prompts that were asked until settled cannot be thinned")
    remaining = counts.wanted.astype(np.int64)
    planned = np.minimum(remaining, samples)
    sampled_counts: dict[str, Any] = {}
    to_sample = planned.copy()
    for name in ("positive", "negative", "unreadable", "truncated", "left_out"):
        if (array := getattr(counts, name)) is None:
            continue
        # The categories are drawn one after the other, each from the answers that remain.
        available = np.minimum(array.astype(np.int64), remaining)
        sampled_counts[name] = hypergeometric(
            available, remaining - available, to_sample, rng
        ).astype(np.int32)
        remaining, to_sample = remaining - available, to_sample - sampled_counts[name]
    return replace(
        counts,
        **sampled_counts,
        planned=planned.astype(np.int32),
        samples=max(1, int(planned.max(initial=0))),
    )


@dataclass(frozen=True, eq=False)
class Voids:
    """The prompts that make no test."""

    repeats: BoolArray
    """(T, S, V, 2): whether the prompt is the one that it is compared with, or one of the two is
    blank or excluded by rulings. A wording is compared with the original in the same label order,
    the swapped original with the printed one."""
    blank: BoolArray
    "(S, V): whether the wording has no text, or rulings exclude all of its answers"
    template: BoolArray
    "(S,): whether all templates give one text for the original"
    original_index: int | None
    "index of the original on the variant axis"
    missing: bool = True
    "whether a test is void if its statement has no wording of which a stance is expected"

    @property
    def label_order(self) -> BoolArray:
        """Whether the original has one text in both label orders: (T, S).

        It also is so if rulings exclude one of them.
        """
        if self.original_index is None:
            return np.zeros(self.repeats.shape[:2], dtype=np.bool_)
        return np.asarray(self.repeats[:, :, self.original_index, SWAPPED])

    @property
    def pairs(self) -> BoolArray:
        """Whether a wording and the original make no pair of conditions: (T, S, V, 2).

        If both label orders have one text, the swapped pair repeats the printed one.
        """
        is_no_pair = self.repeats.copy()
        is_no_pair[..., SWAPPED] |= self.label_order[..., None]
        return is_no_pair


def voids(counts: Counts, options: ReliabilityOptions) -> Voids:
    """Return the prompts that make no test.

    If the options judge void tests, these are only the prompts that rulings exclude.
    """
    originals = counts.variant_indices(VariantKind.ORIGINAL)
    original = originals[0] if originals else None
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
    """Return the default rule that makes a verdict of so many answers to a prompt."""
    return rule_of(ReliabilityOptions(), samples)


def rule_of(options: ReliabilityOptions, samples: int) -> VerdictRule:
    """Return the rule of these options that makes a verdict of so many answers to a prompt."""
    rule: ReliabilityRule = "coded" if options.rule == "coded" else "printed"
    return VerdictRule(
        samples, int(options.required_of(np.asarray(samples))), rule, options.low, options.high
    )


def undecided(counts: Counts, options: ReliabilityOptions) -> BoolArray:
    """Return whether a prompt lacks answers that could change its verdict: (T, S, V, 2).

    Only prompts that were asked until settled can lack them. Answers that a ruling excludes are
    neither readable nor to come.
    """
    until_settled = counts.until_settled
    if until_settled is None:
        return np.zeros(counts.positive.shape, dtype=np.bool_)
    has_missing = until_settled & (counts.total < counts.wanted)
    is_undecided = np.zeros(has_missing.shape, dtype=np.bool_)
    for planned in np.unique(counts.wanted[has_missing]).tolist():
        has_plan = has_missing & (counts.wanted == planned)
        agree, disagree, total = (
            array[has_plan] for array in (counts.positive, counts.negative, counts.total)
        )
        is_undecided[has_plan] = ~is_settled(
            agree, disagree, total - agree - disagree, rule_of(options, planned)
        )
    return is_undecided


def optimum(counts: Counts, rules: Sequence[SettledBy]) -> float:
    """Return the expected share of N answers if settlement is checked after every answer.

    It is the mean over the prompts that were asked until settled, by the rule under which they
    were asked. It is NaN if there are several rules, or if no prompt is settled.
    """
    if counts.until_settled is None or len(rules) != 1:
        return float("nan")
    rule = rules[0].rule
    agree, disagree, total = (
        array[counts.until_settled] for array in (counts.positive, counts.negative, counts.total)
    )
    settled = is_settled(agree, disagree, total - agree - disagree, rule) & (total <= rule.samples)
    settled_counts = np.stack([agree, disagree, total - agree - disagree], axis=1)[settled]
    return mean_expected_share(settled_counts.tolist(), rule)
