"""The changes between runs, over the items that all of them were asked, with tests.

An audit makes a `ComparedSide` of every run, with its verdicts, item by item, and its factors. The
rest follows from it: the common items, the changes, the tests and the tables.

Runs are compared over the intersection: an item counts if every run has a verdict on it and was
asked the same. If languages differ, no text is the same. The verdicts are then side by side, shares
are compared unpaired, and no pair is tested.

Missing is an outcome. An item without a verdict for lack of answers is in no share, but counted for
its run. A difference has bounds, with each missing verdict as yes and as no (Manski 2003, Partial
Identification of Probability Distributions). And whether a verdict exists is a kind of verdict of
its own, `answered`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np

from workbench.audits.chosen_run import NO_LABELS, run_named
from workbench.audits.claims import Finding, p_of
from workbench.domain.names import plural
from workbench.domain.prompts import NONE
from workbench.domain.verdicts import UNKNOWN, Bounds, Estimate, Verdict
from workbench.errors import UnknownName, UsageError
from workbench.evidence.rulings import NOTHING_RULED, RulingNotes
from workbench.evidence.runs import FIRST
from workbench.figures.table import AnyTable, Kind
from workbench.stats.arrays import IntArray
from workbench.stats.hypothesis_tests import (
    CochranQ,
    benjamini_hochberg,
    cochran_q,
    holm,
    mcnemar,
    paired_ends,
    unpaired_ends,
)
from workbench.stats.proportions import wilson_of_share

if TYPE_CHECKING:
    from stores.runs.run_rows import Run


Item = str
"""the subject of one verdict, under the same name in every run: a statement's ref, a target, a
person"""
MODEL, VERSION, LANGUAGE, TEMPLATES, SAMPLING, NUMBERS, ENCODING = (
    *("model", "version", "language", "templates", "sampling", "numbers", "encoding"),
)
PERSONA, OCCASION = "persona", "occasion"
"the factors that distinguish runs"
OF_THE_MODEL = frozenset({VERSION, NUMBERS, ENCODING})
"factors that belong to a model: two models differ in them anyway"
OF_TIME = (VERSION, OCCASION)
"factors in which one model differs from itself at another time"


@dataclass(frozen=True, slots=True)
class VerdictKind:
    """One kind of verdict, which every compared run has on every item."""

    name: str
    "for programs: `label_order`"
    title: str
    yes: str
    "the verdict whose share is compared: `pass`"
    no: str
    "its contrary: `fail`. Any other verdict decides nothing"
    unit: str = "statement"
    "the noun for an item"
    tested: bool = True
    """whether items are a sample from the subject of a claim, one answer each, so that pairs of
    verdicts can be tested. Cells of a matrix are not"""
    listed: bool = True
    "whether single items may be shown: answers of single people may not"
    neither: tuple[str, ...] = ()
    """verdicts that decide nothing although answers exist, beside void: `mixed`. Any other one is
    missing"""

    @property
    def units(self) -> str:
        """The noun for items, in the plural."""
        return plural(2, self.unit).partition(" ")[2]

    def lacks(self, verdict: str) -> bool:
        """Return whether answers that the verdict needs are missing."""
        return verdict not in (self.yes, self.no, Verdict.VOID, *self.neither)


@dataclass(frozen=True, slots=True)
class ItemVerdict:
    """A verdict on one item."""

    verdict: str
    asked: Hashable = None
    "the prompt about the item, without its template and the language; equal if it can be compared"


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """One run of a comparison."""

    name: str
    "distinguishes it from all others of its audit"
    model: str
    factors: Mapping[str, str]
    "its settings: model, version, language, templates, sampling, numbers, encoding"
    found: Mapping[str, Mapping[Item, ItemVerdict]]
    "by name of the kind of verdict, by item: the verdict"
    last: str = ""
    "the time of its last answer (UTC)"
    main: Estimate | Callable[[], Estimate] | None = None
    "the main figure of the audit for the whole run, or the function that computes it"
    beside: Mapping[str, Estimate | str] = field(default_factory=dict)
    "by title: a value beside the main figure in the table of runs"

    @property
    def main_figure(self) -> Estimate | None:
        """The main figure of the audit for the whole run, or None without one."""
        return self.main() if callable(self.main) else self.main


@dataclass(frozen=True, eq=False, slots=True)
class Compared:
    """The runs and verdicts of a comparison, with its settings."""

    title: str
    kinds: Sequence[VerdictKind]
    sides: Sequence[ComparedSide]
    texts: Mapping[Item, str] = field(default_factory=dict)
    "by item: its original wording"
    main: str = ""
    "the title of `Side.main`: `total bias`; empty if there is none"
    main_kind: Kind = Kind.SHARE
    differences: Sequence[Callable[[str, str], AnyTable]] = ()
    """functions that return the audit's own tables of differences of two runs, second minus first
    unless the table says otherwise"""
    left_out: Sequence[str] = ()
    """sentences on the parts of a run that count in no verdict here: templates that another run was
    not asked"""
    untested: str = ""
    "the audit's reason why no pair of verdicts is tested; empty if they are"
    rulings: RulingNotes = NOTHING_RULED
    "the changes that rulings make in the compared runs"
    within: float | None = None
    "the greatest difference, as a part of 1, within which sameness is claimed; None: never"
    finds: Callable[[str, str], Finding] | None = None
    """returns the finding on the difference of two runs by a figure that verdicts do not decide;
    these findings come first"""

    def __post_init__(self) -> None:
        """Add the kinds of verdict on missing answers, if any are missing.

        Raises UsageError for fewer than two runs.
        """
        if len(self.sides) < 2:
            raise UsageError("found one run to compare; give two or more")
        existing_names = {kind.name for kind in self.kinds}
        new_kinds = {
            name: kind
            for name, kind in self._answered_of().items()
            if name not in existing_names and self._lacks(kind)
        }
        if new_kinds:
            # the dataclass is frozen
            object.__setattr__(
                self,
                "kinds",
                (*self.kinds, *(_answered(kind, name) for name, kind in new_kinds.items())),
            )
            object.__setattr__(
                self, "sides", [_with_answered(side, new_kinds) for side in self.sides]
            )

    def _answered_of(self) -> Mapping[str, VerdictKind]:
        """Return the kinds whose missing answers are an outcome, by the name of the new kind.

        These are the first kind and those of other items. Tests of one statement need largely the
        same answers.
        """
        first_kind = self.kinds[0]
        other_kinds = {
            f"{ANSWERED}:{kind.name}": kind
            for kind in self.kinds
            if kind.tested and kind.unit != first_kind.unit
        }
        return ({ANSWERED: first_kind} if first_kind.tested else {}) | other_kinds

    def _lacks(self, kind: VerdictKind) -> bool:
        """Return whether any run lacks a verdict of a kind."""
        return any(
            kind.lacks(judged.verdict)
            for side in self.sides
            for judged in side.found.get(kind.name, {}).values()
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the runs."""
        return tuple(side.name for side in self.sides)

    def side(self, name: str) -> ComparedSide:
        """Return a run by its name. Raises UnknownName."""
        for side in self.sides:
            if side.name == name:
                return side
        raise UnknownName(f"there is no compared run {name!r}. Available: {'; '.join(self.names)}")

    def common(self, kind: VerdictKind) -> CommonItems:
        """Return the items that count in a comparison of all these runs."""
        return replace(common(kind, self.sides), untested=self.untested)

    def kind(self, name: str) -> VerdictKind:
        """Return a kind of verdict by its name. Raises UnknownName."""
        for kind in self.kinds:
            if kind.name == name:
                return kind
        raise UnknownName(
            f"there is no verdict {name!r}. Available: {', '.join(one.name for one in self.kinds)}"
        )


ANSWERED = "answered"
"the kind of verdict that tells whether the first kind has enough answers"
MISSING = "missing"


def _answered(kind: VerdictKind, name: str) -> VerdictKind:
    """Return the kind of verdict that tells whether another verdict exists."""
    title = ANSWERED if name == ANSWERED else f"{kind.title}: {ANSWERED}"
    return replace(kind, name=name, title=title, yes=ANSWERED, no=MISSING, neither=())


def _with_answered(side: ComparedSide, kinds: Mapping[str, VerdictKind]) -> ComparedSide:
    """Return a run with the verdicts on whether others exist, for these kinds."""
    answered_verdicts = {
        name: {
            item: replace(judged, verdict=_is_answered(kind, judged.verdict))
            for item, judged in verdicts.items()
        }
        for name, kind in kinds.items()
        for verdicts in (side.found.get(kind.name, {}),)
    }
    return replace(side, found={**side.found, **answered_verdicts})


def _is_answered(kind: VerdictKind, verdict: str) -> str:
    """Return whether a verdict is answered, missing, or void."""
    if kind.lacks(verdict):
        return MISSING
    return verdict if verdict == Verdict.VOID else ANSWERED


def factors_of(run: Run) -> dict[str, str]:
    """Return the factors that distinguish a run, in words."""
    versions = (
        f"{version.name} version {version.version}"
        for version in run.versions
        if version.version and version.edited
    )
    return {
        MODEL: run.model,
        VERSION: run.version,
        LANGUAGE: run.language,
        TEMPLATES: ", ".join((run.family, *versions)),
        SAMPLING: str(run.sampling),
        NUMBERS: run.dtype,
        ENCODING: run.encoded,
        OCCASION: f"asked anew {run.occasion}" if run.occasion else FIRST,
        **({PERSONA: run.persona_name or NONE} if run.personas else {}),
    }


def differing(sides: Sequence[ComparedSide]) -> tuple[str, ...]:
    """Return the known factors in which runs differ.

    If the models differ, factors that belong to a model are omitted.
    """
    factors = dict.fromkeys(name for side in sides for name in side.factors)
    differing_names = [
        name for name in factors if len({side.factors.get(name, "") for side in sides} - {""}) > 1
    ]
    return tuple(
        name for name in differing_names if MODEL not in differing_names or name not in OF_THE_MODEL
    )


def resolve_run_names(
    names: Sequence[str], there: Mapping[str, str], labels: Mapping[str, str] = NO_LABELS
) -> tuple[str, ...]:
    """Return the runs that a person names, by their own names or by their models'.

    A model's name stands for a run if the model has one run only.

    Parameters
    ----------
    there : the model of each run
    labels : the name of the run for each longer name that lists print

    Raises UsageError for fewer than two runs or one given twice, UnknownName and AmbiguousRun for a
    name that stands for none or several.
    """
    run_names = tuple(run_named(name, there, labels) for name in names)
    if len(run_names) < 2:
        available = "; ".join(there) or "none"
        raise UsageError(
            f"--compare was given {'; '.join(names) or 'nothing'}; give two or more runs from: "
            f"{available}"
        )
    duplicates = [name for name in dict.fromkeys(run_names) if run_names.count(name) > 1]
    if duplicates:
        raise UsageError(
            f"--compare was given {duplicates[0]} twice; give two models, or two settings of one "
            f"model, from: {'; '.join(there)}"
        )
    return run_names


NAN = float("nan")
NO_PAIR = "no item is decided in both runs"
PAIRED, UNPAIRED = "difference of paired shares", "difference of unpaired shares"


@dataclass(frozen=True, slots=True)
class CommonItems:
    """The items that all runs can be compared on, for one kind of verdict."""

    items: tuple[Item, ...]
    missing: Mapping[str, int]
    "by run: the number of items that it has a verdict on, and some other run has not"
    reworded: int
    "items that all have a verdict on and were asked in different words in one language"
    unpaired: str = ""
    "the reason why the runs are not compared item by item; empty if they are"
    untested: str = ""
    "the reason why runs that are compared item by item are not tested"


@dataclass(frozen=True, slots=True)
class Change:
    """The difference in one kind of verdict between two runs, over the common items."""

    kind: VerdictKind
    first: str
    second: str
    n: int
    "common items"
    undecided: int
    "those of them that at least one of the two runs does not decide"
    sizes: tuple[int, int]
    "items behind the two shares: those that both runs decide; if unpaired, those that each decides"
    first_share: float
    "NaN without any item"
    second_share: float
    difference: Estimate
    "second share minus first; `n` counts decided pairs; if unpaired, the items of both"
    same: Estimate
    "share of the items that both decide with the same verdict in both, also if languages differ"
    lost: int
    "decided pairs: yes in the first, no in the second"
    gained: int
    p: float
    "of McNemar's exact test; NaN without a test"
    untested: str = ""
    "the reason for having no test"
    holm: float = NAN
    "p adjusted over all tests of the comparison"
    false_discovery: float = NAN
    "the same by Benjamini and Hochberg"
    missing: tuple[int, int, int] = (0, 0, 0)
    "common items whose verdict is missing: in the first only, in the second only, in both"
    bounds: Bounds = UNKNOWN
    "of the difference, with every missing verdict as yes and as no"

    @property
    def lacking(self) -> tuple[int, int]:
        """The numbers of common items of which the first, and the second, lacks a verdict."""
        first, second, both = self.missing
        return first + both, second + both


@dataclass(frozen=True, slots=True)
class ComparedItem:
    """The verdicts of all runs on one item."""

    kind: VerdictKind
    item: Item
    verdicts: tuple[str, ...]
    "in the order of the runs; empty if a run has none"
    compared: str = ""
    "the reason why the item is not compared; empty if it is"

    @property
    def changed(self) -> bool:
        """Whether the item is compared and has different verdicts."""
        return not self.compared and len(set(self.verdicts)) > 1


@dataclass(frozen=True, slots=True)
class Moment:
    """One version of a model in the order in which they were asked."""

    kind: VerdictKind
    model: str
    side: ComparedSide
    share: Estimate
    change: Change | None
    "since the previous version; None for the first one"


@dataclass(frozen=True, slots=True)
class Overall:
    """The test whether the versions of a model say yes equally often."""

    kind: VerdictKind
    model: str
    versions: tuple[str, ...]
    found: CochranQ
    holm: float = NAN


def unpaired_because(sides: Sequence[ComparedSide]) -> str:
    """Return the reason why runs are not compared item by item, or an empty string if they are."""
    languages = sorted({side.factors.get(LANGUAGE, "") for side in sides} - {""})
    return (
        f"the languages differ ({', '.join(languages)}), and with them every wording"
        if len(languages) > 1
        else ""
    )


def common(kind: VerdictKind, sides: Sequence[ComparedSide]) -> CommonItems:
    """Return the items that count in a comparison of all these runs."""
    verdicts_by_side = [side.found.get(kind.name, {}) for side in sides]
    shared = [
        item
        for item in verdicts_by_side[0]
        if all(item in verdicts for verdicts in verdicts_by_side)
    ]
    unpaired = unpaired_because(sides)
    common_items = [
        item
        for item in shared
        if unpaired or len({verdicts[item].asked for verdicts in verdicts_by_side}) == 1
    ]
    n_alone_by_run = {
        side.name: len(verdicts) - len(shared)
        for side, verdicts in zip(sides, verdicts_by_side, strict=True)
    }
    return CommonItems(
        tuple(common_items), n_alone_by_run, len(shared) - len(common_items), unpaired
    )


def changes(of: Compared) -> tuple[Change, ...]:
    """Return the differences in every kind of verdict between every two runs.

    Their p is adjusted over all of these tests.
    """
    all_changes = [
        _change(kind, common_items, first, second)
        for kind in of.kinds
        for common_items in (of.common(kind),)
        for first, second in combinations(of.sides, 2)
    ]
    return _adjusted(all_changes)


def changes_from(of: Compared, first: str, kinds: Sequence[VerdictKind]) -> tuple[Change, ...]:
    """Return the differences in some kinds of verdict between one run and each other.

    Their p is adjusted over these tests.
    """
    first_side = of.side(first)
    other_sides = [side for side in of.sides if side.name != first]
    all_changes = [
        _change(kind, of.common(kind), first_side, other) for kind in kinds for other in other_sides
    ]
    return _adjusted(all_changes)


def _adjusted(made: Sequence[Change]) -> tuple[Change, ...]:
    """Return changes with their adjusted p."""
    p = [change.p for change in made]
    changes_with_p = zip(made, holm(p).tolist(), benjamini_hochberg(p).tolist(), strict=True)
    return tuple(
        replace(change, holm=holm_p, false_discovery=discovery_p)
        for change, holm_p, discovery_p in changes_with_p
    )


def _change(
    kind: VerdictKind, over: CommonItems, first: ComparedSide, second: ComparedSide
) -> Change:
    """Return the difference between two runs over common items."""
    pairs = [
        tuple(side.found[kind.name][item].verdict for side in (first, second))
        for item in over.items
    ]
    decided_pairs = [pair for pair in pairs if set(pair) <= {kind.yes, kind.no}]
    lost, gained = (
        decided_pairs.count((kind.yes, kind.no)),
        decided_pairs.count((kind.no, kind.yes)),
    )
    reason = _untested(kind, over, len(decided_pairs), lost + gained)
    p = NAN if reason else mcnemar(lost, gained)
    shares, difference = (
        _unpaired(kind, pairs) if over.unpaired else _paired(kind, decided_pairs, lost, gained)
    )
    if over.untested:
        difference = replace(
            difference, low=NAN, high=NAN, interval="", few=f"no interval: {over.untested}"
        )
    sizes = _decided(kind, pairs) if over.unpaired else (len(decided_pairs), len(decided_pairs))
    return Change(
        kind,
        first.name,
        second.name,
        len(pairs),
        len(pairs) - len(decided_pairs),
        sizes,
        *shares,
        difference,
        _share_of_same(kind, len(decided_pairs), lost + gained),
        lost,
        gained,
        p,
        reason,
        missing=_missing(kind, pairs),
        bounds=_unpaired_bounds(kind, pairs) if over.unpaired else _paired_bounds(kind, pairs),
    )


def _missing(kind: VerdictKind, pairs: Sequence[tuple[str, ...]]) -> tuple[int, int, int]:
    """Return the numbers of verdicts missing in the first only, in the second only, in both."""
    missing_pairs = [tuple(map(kind.lacks, pair)) for pair in pairs]
    return (
        missing_pairs.count((True, False)),
        missing_pairs.count((False, True)),
        missing_pairs.count((True, True)),
    )


def _ends(kind: VerdictKind, verdict: str) -> tuple[int, int] | None:
    """Return the least and the most that a verdict, or a missing one, counts as yes.

    It is None if the verdict decides nothing.
    """
    return {kind.yes: (1, 1), kind.no: (0, 0)}.get(verdict, (0, 1) if kind.lacks(verdict) else None)


def _paired_bounds(kind: VerdictKind, pairs: Sequence[tuple[str, ...]]) -> Bounds:
    """Return the bounds of the difference over the items that both runs decide.

    An item with missing verdicts is among them, unless the verdict of the other run decides
    nothing.
    """
    ends_of_pairs = [
        (first_ends, second_ends)
        for first_verdict, second_verdict in pairs
        if (first_ends := _ends(kind, first_verdict))
        and (second_ends := _ends(kind, second_verdict))
    ]
    if not ends_of_pairs:
        return UNKNOWN
    low, high = (
        sum(second_ends[end] - first_ends[1 - end] for first_ends, second_ends in ends_of_pairs)
        / len(ends_of_pairs)
        for end in (0, 1)
    )
    return Bounds(low, high)


def _unpaired_bounds(kind: VerdictKind, pairs: Sequence[tuple[str, ...]]) -> Bounds:
    """Return the bounds of the difference of shares, each over its run's own items.

    These are the items that the run decides, or would decide with the missing answers.
    """
    ends_by_side = [
        [end for pair in pairs if (end := _ends(kind, pair[side_index]))] for side_index in (0, 1)
    ]
    if not all(ends_by_side):
        return UNKNOWN
    (first_low, first_high), (second_low, second_high) = (
        [sum(end[end_index] for end in side_ends) / len(side_ends) for end_index in (0, 1)]
        for side_ends in ends_by_side
    )
    return Bounds(second_low - first_high, second_high - first_low)


def _share_of_same(kind: VerdictKind, decided: int, differ: int) -> Estimate:
    """Return the share of decided items with the same verdict in both runs."""
    if not decided:
        return Estimate(NAN, NAN, NAN, 0, 0, NO_PAIR)
    share = (decided - differ) / decided
    if not kind.tested:
        return Estimate(share, NAN, NAN, decided)
    low, high = wilson_of_share(share, decided)
    return Estimate(share, low, high, decided, interval="share of items")


def _untested(kind: VerdictKind, over: CommonItems, decided: int, differ: int) -> str:
    """Return the reason why pairs of verdicts are not tested, or an empty string if they are."""
    if over.unpaired:
        return f"unpaired: {over.unpaired}"
    if over.untested:
        return f"not tested: {over.untested}"
    if not kind.tested:
        return f"not tested: {kind.units} are not a sample"
    if not decided:
        return NO_PAIR
    return "" if differ else "no decided pair differs"


def _paired(
    kind: VerdictKind, decided: Sequence[tuple[str, ...]], lost: int, gained: int
) -> tuple[tuple[float, float], Estimate]:
    """Return the shares of both runs over the decided pairs, and their difference."""
    n = len(decided)
    if not n:
        return (NAN, NAN), Estimate(NAN, NAN, NAN, 0, 0, NO_PAIR)
    shares = tuple(
        sum(pair[side_index] == kind.yes for pair in decided) / n for side_index in (0, 1)
    )
    if not kind.tested:
        return (shares[0], shares[1]), Estimate(shares[1] - shares[0], NAN, NAN, n)
    low, high = paired_ends(lost, gained, n)
    return (shares[0], shares[1]), Estimate(shares[1] - shares[0], low, high, n, interval=PAIRED)


def _unpaired(
    kind: VerdictKind, pairs: Sequence[tuple[str, ...]]
) -> tuple[tuple[float, float], Estimate]:
    """Return the shares of each run's own decided items, and their difference."""
    sizes = _decided(kind, pairs)
    n_yes_by_side = [sum(pair[side_index] == kind.yes for pair in pairs) for side_index in (0, 1)]
    shares = tuple(
        n_yes / size if size else NAN for n_yes, size in zip(n_yes_by_side, sizes, strict=True)
    )
    if not all(sizes):
        return (shares[0], shares[1]), Estimate(
            NAN, NAN, NAN, sum(sizes), 0, "a run has no decided item"
        )
    if not kind.tested:
        return (shares[0], shares[1]), Estimate(shares[1] - shares[0], NAN, NAN, sum(sizes))
    low, high = unpaired_ends(n_yes_by_side[0], sizes[0], n_yes_by_side[1], sizes[1])
    return (shares[0], shares[1]), Estimate(
        shares[1] - shares[0], low, high, sum(sizes), interval=UNPAIRED
    )


def _decided(kind: VerdictKind, pairs: Sequence[tuple[str, ...]]) -> tuple[int, int]:
    """Return the number of items that each of the two runs decides."""
    n_first, n_second = (
        sum(pair[side_index] in (kind.yes, kind.no) for pair in pairs) for side_index in (0, 1)
    )
    return n_first, n_second


def item_rows(of: Compared, kind: VerdictKind) -> tuple[ComparedItem, ...]:
    """Return the verdicts of all runs on every item of any run, compared or not."""
    verdicts_by_side = [side.found.get(kind.name, {}) for side in of.sides]
    common_items = set(common(kind, of.sides).items)
    items = dict.fromkeys(item for verdicts in verdicts_by_side for item in verdicts)
    return tuple(
        ComparedItem(
            kind,
            item,
            tuple(
                verdicts[item].verdict if item in verdicts else "" for verdicts in verdicts_by_side
            ),
            _exclusion_reason(item, verdicts_by_side, common_items),
        )
        for item in items
    )


def _exclusion_reason(
    item: Item, found: Sequence[Mapping[Item, ItemVerdict]], same: set[Item]
) -> str:
    """Return the reason why an item is not compared, or an empty string if it is."""
    if item in same:
        return ""
    return (
        "asked in different words"
        if all(item in verdicts for verdicts in found)
        else "not asked of all"
    )


def versions_of(of: Compared) -> Iterator[tuple[ComparedSide, ...]]:
    """Yield groups of runs that differ only in the version or the occasion of one model.

    Their order is that in which they were asked.
    """
    groups: dict[tuple[tuple[str, str], ...], list[ComparedSide]] = {}
    for side in of.sides:
        other_factors = tuple(
            sorted((name, value) for name, value in side.factors.items() if name not in OF_TIME)
        )
        groups.setdefault(other_factors, []).append(side)
    for sides in groups.values():
        if len({tuple(side.factors.get(name, "") for name in OF_TIME) for side in sides}) > 1:
            yield tuple(sorted(sides, key=lambda side: side.last))


DIFFERENT, INCONCLUSIVE = "different", "inconclusive"
LEVEL = 0.05


def claims(
    differences: Sequence[Estimate],
    p: Sequence[float],
    within: float | None,
    bounds: Sequence[Bounds] = (),
) -> list[str]:
    """Return the claim about each of a family of differences.

    A claim is `different`, `same within ±d`, `inconclusive`, or empty without an interval. A
    difference is different if its p, adjusted by Holm's procedure over the family, is below .05. It
    is the same if its 95 % interval and its bounds lie within ±d. Both one-sided tests against ±d
    then reject at 2.5 % (Schuirmann 1987).

    Parameters
    ----------
    p : adjusted already; NaN without a test: those differences are tested by their intervals, as a
        family
    within : d; None: nothing is the same
    bounds : of the differences, whatever is missing; empty: nothing is missing
    """
    is_untested = [math.isnan(value) for value in p]
    interval_p = iter(
        holm(
            [
                p_of(difference)
                for difference, no_test in zip(differences, is_untested, strict=True)
                if no_test
            ]
        )
    )
    adjusted = [
        next(interval_p) if no_test else value
        for value, no_test in zip(p, is_untested, strict=True)
    ]
    all_bounds = bounds or [Bounds(NAN, NAN)] * len(differences)
    return [
        _claim(*claim_arguments, within)
        for claim_arguments in zip(differences, adjusted, all_bounds, strict=True)
    ]


def _claim(one: Estimate, p: float, ends: Bounds, within: float | None) -> str:
    """Return the claim about one difference, or an empty string without an interval."""
    if p < LEVEL:
        return DIFFERENT
    if math.isnan(one.low):
        return ""
    ends_reached = (-one.low, one.high, -ends.low, ends.high)
    same = within is not None and not any(
        end > within for end in ends_reached
    )  # NaN: nothing is missing
    return f"same within ±{within:g}" if same else INCONCLUSIVE


def over_time(of: Compared) -> tuple[Moment, ...]:
    """Return every version of a model with the change since the previous one.

    Their p is adjusted over these changes.
    """
    moments: list[Moment] = []
    for sides in versions_of(of):
        for kind in of.kinds:
            common_items = replace(common(kind, sides), untested=of.untested)
            changes_since = [
                None,
                *_adjusted([_change(kind, common_items, *pair) for pair in pairwise(sides)]),
            ]
            shares = [_share(kind, common_items, side) for side in sides]
            moments += [
                Moment(kind, side.model, side, *share_and_change)
                for side, share_and_change in zip(
                    sides, zip(shares, changes_since, strict=True), strict=True
                )
            ]
    # adjusted anew, over the changes of all models and kinds
    adjusted = iter(_adjusted([moment.change for moment in moments if moment.change is not None]))
    return tuple(
        moment if moment.change is None else replace(moment, change=next(adjusted))
        for moment in moments
    )


def _share(kind: VerdictKind, over: CommonItems, side: ComparedSide) -> Estimate:
    """Return the share of yes among the decided common items of one run."""
    verdicts = [side.found[kind.name][item].verdict for item in over.items]
    n_decided = sum(verdict in (kind.yes, kind.no) for verdict in verdicts)
    if not n_decided:
        return Estimate(NAN, NAN, NAN, 0, len(verdicts), "no item is decided")
    share = verdicts.count(kind.yes) / n_decided
    if not kind.tested:
        return Estimate(share, NAN, NAN, n_decided, len(verdicts) - n_decided)
    low, high = wilson_of_share(share, n_decided)
    return Estimate(
        share, low, high, n_decided, len(verdicts) - n_decided, interval="share of items"
    )


def overall(of: Compared) -> tuple[Overall, ...]:
    """Return the tests of equal shares of yes, for models with three or more versions.

    They are over the items that are decided in all versions.
    """
    tests = []
    for sides in versions_of(of):
        # two versions have McNemar's test already
        if len(sides) < 3:
            continue
        names = tuple(side.name for side in sides)
        for kind in of.kinds:
            is_tested = kind.tested and not of.untested
            table = _decided_verdicts(kind, sides) if is_tested else NO_VERDICTS
            found = cochran_q(table.reshape(-1, len(sides)))
            tests.append(Overall(kind, sides[0].model, names, found))
    adjusted = holm([test.found.p for test in tests]).tolist()
    return tuple(replace(test, holm=p) for test, p in zip(tests, adjusted, strict=True))


NO_VERDICTS = np.zeros(0, dtype=np.int64)


def _decided_verdicts(kind: VerdictKind, sides: Sequence[ComparedSide]) -> IntArray:
    """Return whether each verdict is yes, of the items that all sides decide: (item, side)."""
    rows = []
    for item in common(kind, sides).items:
        verdicts = [side.found[kind.name][item].verdict for side in sides]
        if set(verdicts) <= {kind.yes, kind.no}:
            rows.append([verdict == kind.yes for verdict in verdicts])
    return np.array(rows, dtype=np.int64)


def comparison_lines(of: Compared) -> tuple[str, ...]:
    """Return the lines on the compared runs, the items, and the exclusions, warnings first."""
    factors = differing(of.sides)
    return tuple(_warnings(factors)) + tuple(_over(of, factors))


def _warnings(factors: Sequence[str]) -> Iterator[str]:
    """Yield the warnings about the factors in which runs differ."""
    if len(factors) > 1:
        yield (
            f"! These runs differ in {len(factors)} respects ({', '.join(factors)}): any of "
            "these may cause a change."
        )
    if not factors:
        yield "! These runs differ in no recorded respect: changes between them are chance."


def _over(of: Compared, factors: Sequence[str]) -> Iterator[str]:
    """Yield the lines on the compared runs, the common items, and the excluded ones."""
    factor_text = f"What differs: {', '.join(factors)}." if factors else ""
    yield f"Compared: {'; '.join(of.names)}. {factor_text}".strip()
    kinds_by_items: dict[tuple[object, ...], list[VerdictKind]] = {}
    for kind in of.kinds:
        items = common(kind, of.sides)
        n_missing = tuple(items.missing.items())
        key = (kind.unit, len(items.items), n_missing, items.reworded)
        kinds_by_items.setdefault(key, []).append(kind)
    for kind, *_ in kinds_by_items.values():
        line = _common_items_line(of, kind)
        yield f"{kind.title}: {line}" if len(kinds_by_items) > 1 else line
    if reason := unpaired_because(of.sides):
        yield (
            f"The comparison is unpaired, because {reason}: shares are compared as if of other "
            "items, and no pair of verdicts is tested."
        )
    if of.untested:
        yield f"No pair of verdicts is tested: {of.untested}."
    yield from of.left_out


def _common_items_line(of: Compared, kind: VerdictKind) -> str:
    """Return the line on the items that all runs were asked, and on the excluded ones."""
    items = common(kind, of.sides)
    n_alone = [f"{name} {n_items:,}" for name, n_items in items.missing.items() if n_items]
    exclusions = []
    if items.reworded:
        exclusions.append(f"asked in different words: {items.reworded:,}")
    if n_alone:
        exclusions.append(f"not asked of all: {', '.join(n_alone)}")
    missing_counts = list(_lacking(of, kind, items))
    missing_text = f"; missing: {', '.join(missing_counts)}" if missing_counts else ""
    return (
        f"{plural(len(items.items), kind.unit)} asked of all; left out: "
        f"{'; '.join(exclusions) or 'none'}{missing_text}."
    )


def _lacking(of: Compared, kind: VerdictKind, over: CommonItems) -> Iterator[str]:
    """Yield the number of common items without a verdict, by run."""
    for side in of.sides:
        if n_missing := sum(kind.lacks(side.found[kind.name][item].verdict) for item in over.items):
            yield f"{side.name} {n_missing:,}"
