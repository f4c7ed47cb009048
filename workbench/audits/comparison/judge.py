"""What changes between runs: over the items that all of them were asked, with tests on the pairs
that are decided.

An audit makes a `Side` of every run: its verdicts, item by item, and how the run was made.
Everything else (which items count, what changed, tests, tables) follows from it.

Compare over the intersection: an item counts where every run has a verdict on it and was asked the
same. Where languages differ nothing is the same text: the verdicts stand side by side, shares are
compared unpaired, and no pair is tested.

Missing is an outcome: an item without a verdict for lack of answers is in no share, but counted for
its run; a difference has bounds, with each missing verdict as yes and as no (Manski 2003, Partial
Identification of Probability Distributions); and whether there is a verdict is a kind of verdict of
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
from workbench.evidence.rulings import NOTHING_RULED, Told
from workbench.evidence.runs import FIRST
from workbench.figures.table import AnyTable, Kind
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
"what one verdict is about, under the same name in every run: a statement's ref, a target, a person"
MODEL, VERSION, LANGUAGE, TEMPLATES, SAMPLING, NUMBERS, ENCODING = (
    *("model", "version", "language", "templates", "sampling", "numbers", "encoding"),
)
PERSONA, OCCASION = "persona", "occasion"
"what runs are told apart by"
OF_THE_MODEL = frozenset({VERSION, NUMBERS, ENCODING})
"what belongs to a model: two models differ in it anyway"
OF_TIME = (VERSION, OCCASION)
"in what one model differs from itself at another time"


@dataclass(frozen=True, slots=True)
class VerdictKind:
    """One kind of verdict, which every compared run has on every item."""

    name: str
    "for programs: `label_order`"
    title: str
    yes: str
    "the verdict whose share is compared: `pass`"
    no: str
    "the one that it is told from: `fail`. Any other verdict decides nothing"
    unit: str = "statement"
    "what an item is"
    tested: bool = True
    """whether items are a sample of what a claim is about, one answer each, so that pairs of
    verdicts can be tested. Cells of a matrix are not
    """
    listed: bool = True
    "whether single items may be shown: what single people answered is not"
    neither: tuple[str, ...] = ()
    """verdicts that decide nothing although answers are there, beside void: `mixed`. Any other one
    is missing"""

    @property
    def units(self) -> str:
        """Items, in the plural."""
        return plural(2, self.unit).partition(" ")[2]

    def lacks(self, verdict: str) -> bool:
        """Return whether answers that the verdict needs are missing."""
        return verdict not in (self.yes, self.no, Verdict.VOID, *self.neither)


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict on one item."""

    verdict: str
    asked: Hashable = None
    """what the model was asked about the item, its template and the language aside; equal where it
    can be compared"""


@dataclass(frozen=True, slots=True)
class Side:
    """One run of a comparison."""

    name: str
    "tells it from all others of its audit"
    model: str
    factors: Mapping[str, str]
    "how it was made: model, version, language, templates, sampling, numbers, encoding"
    found: Mapping[str, Mapping[Item, Judged]]
    "name of a kind of verdict -> item -> verdict"
    last: str = ""
    "when it was answered last (UTC)"
    main: Estimate | Callable[[], Estimate] | None = None
    "the figure of the whole run that the audit is known for, or what makes it"
    beside: Mapping[str, Estimate | str] = field(default_factory=dict)
    "title -> what stands beside it in the table of runs"

    @property
    def main_figure(self) -> Estimate | None:
        """The figure of the whole run that the audit is known for."""
        return self.main() if callable(self.main) else self.main


@dataclass(frozen=True, eq=False, slots=True)
class Compared:
    """All that a comparison is made of."""

    title: str
    kinds: Sequence[VerdictKind]
    sides: Sequence[Side]
    texts: Mapping[Item, str] = field(default_factory=dict)
    "item -> its original wording"
    main: str = ""
    "what `Side.main` is: `total bias`; empty: nothing"
    main_kind: Kind = Kind.SHARE
    differences: Sequence[Callable[[str, str], AnyTable]] = ()
    """what makes the audit's own tables of differences of estimates, second minus first or as they
    say, of two runs"""
    left_out: Sequence[str] = ()
    """what of a run counts in no verdict here, in sentences: templates that another run was not
    asked"""
    untested: str = ""
    "why no pair of verdicts is tested, for this audit's reasons; empty: they are"
    rulings: Told = NOTHING_RULED
    "what rulings change in the compared runs"
    within: float | None = None
    """the greatest difference that is still none, as a part of 1: sameness is claimed within it;
    None: never"""
    finds: Callable[[str, str], Finding] | None = None
    "says how two runs differ by a figure that verdicts do not decide; findings begin with it"

    def __post_init__(self) -> None:
        if len(self.sides) < 2:
            raise UsageError("found one run to compare; give two or more")
        known = {one.name for one in self.kinds}
        new = {
            name: one
            for name, one in self._answered_of().items()
            if name not in known and self._lacks(one)
        }
        if new:
            object.__setattr__(
                self, "kinds", (*self.kinds, *(_answered(one, name) for name, one in new.items()))
            )
            object.__setattr__(self, "sides", [_with_answered(side, new) for side in self.sides])

    def _answered_of(self) -> Mapping[str, VerdictKind]:
        """Return the kinds whose being answered is an outcome, by the name of that: the first one,
        and those of other items; tests of one statement need largely the same answers.
        """
        first = self.kinds[0]
        others = {
            f"{ANSWERED}:{one.name}": one
            for one in self.kinds
            if one.tested and one.unit != first.unit
        }
        return ({ANSWERED: first} if first.tested else {}) | others

    def _lacks(self, kind: VerdictKind) -> bool:
        return any(
            kind.lacks(one.verdict)
            for side in self.sides
            for one in side.found.get(kind.name, {}).values()
        )

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(side.name for side in self.sides)

    def side(self, name: str) -> Side:
        """Return a run by its name. Raises UnknownName."""
        for one in self.sides:
            if one.name == name:
                return one
        raise UnknownName(f"there is no compared run {name!r}. Available: {'; '.join(self.names)}")

    def common(self, kind: VerdictKind) -> CommonItems:
        """Return the items that count in a comparison of all these runs."""
        return replace(common(kind, self.sides), untested=self.untested)

    def kind(self, name: str) -> VerdictKind:
        """Return a kind of verdict by its name. Raises UnknownName."""
        for one in self.kinds:
            if one.name == name:
                return one
        raise UnknownName(
            f"there is no verdict {name!r}. Available: {', '.join(one.name for one in self.kinds)}"
        )


ANSWERED = "answered"
"the kind of verdict that says whether there are answers enough for the first kind"
MISSING = "missing"


def _answered(kind: VerdictKind, name: str) -> VerdictKind:
    """Return the kind of verdict that says whether another one is there."""
    title = ANSWERED if name == ANSWERED else f"{kind.title}: {ANSWERED}"
    return replace(kind, name=name, title=title, yes=ANSWERED, no=MISSING, neither=())


def _with_answered(side: Side, kinds: Mapping[str, VerdictKind]) -> Side:
    """Return a run with whether each verdict of these kinds is there."""
    found = {
        name: {
            item: replace(one, verdict=_is_answered(kind, one.verdict))
            for item, one in verdicts.items()
        }
        for name, kind in kinds.items()
        for verdicts in (side.found.get(kind.name, {}),)
    }
    return replace(side, found={**side.found, **found})


def _is_answered(kind: VerdictKind, verdict: str) -> str:
    return MISSING if kind.lacks(verdict) else verdict if verdict == Verdict.VOID else ANSWERED


def factors_of(run: Run) -> dict[str, str]:
    """Return what a run is told apart by, in words."""
    versions = (
        f"{one.name} version {one.version}" for one in run.versions if one.version and one.edited
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


def differing(sides: Sequence[Side]) -> tuple[str, ...]:
    """Return in what runs differ, as far as is known; what belongs to a model is left out where the
    models differ.
    """
    factors = dict.fromkeys(name for side in sides for name in side.factors)
    found = [
        name for name in factors if len({side.factors.get(name, "") for side in sides} - {""}) > 1
    ]
    return tuple(name for name in found if MODEL not in found or name not in OF_THE_MODEL)


def meant(
    names: Sequence[str], there: Mapping[str, str], labels: Mapping[str, str] = NO_LABELS
) -> tuple[str, ...]:
    """Return the runs that a person names: each by its own name, or by its model's where that has
    one run alone.

    there : name of a run -> its model
    labels : longer names that lists print -> name of a run

    Raises UsageError for fewer than two runs or one given twice, UnknownName and
    AmbiguousRun for a name that means none or several.
    """
    found = tuple(run_named(name, there, labels) for name in names)
    if len(found) < 2:
        listed = "; ".join(there) or "none"
        raise UsageError(
            f"--compare was given {'; '.join(names) or 'nothing'}; give two or more runs from: "
            f"{listed}"
        )
    twice = [name for name in dict.fromkeys(found) if found.count(name) > 1]
    if twice:
        raise UsageError(
            f"--compare was given {twice[0]} twice; give two models, or two settings of one "
            "model, from: "
            f"{'; '.join(there)}"
        )
    return found


NAN = float("nan")
NO_PAIR = "no item is decided in both runs"
PAIRED, UNPAIRED = "difference of paired shares", "difference of unpaired shares"


@dataclass(frozen=True, slots=True)
class CommonItems:
    """The items that all runs can be compared on, for one kind of verdict."""

    items: tuple[Item, ...]
    missing: Mapping[str, int]
    "run -> items that it has a verdict on, and some other run has not"
    reworded: int
    "items that all have a verdict on and were asked in different words in one language"
    unpaired: str = ""
    "why the runs are not compared item by item; empty where they are"
    untested: str = ""
    "why they are, and are not tested"


@dataclass(frozen=True, slots=True)
class Change:
    """How one kind of verdict differs between two runs, over the common items."""

    kind: VerdictKind
    first: str
    second: str
    n: int
    "common items"
    undecided: int
    "of these, not decided in one of the two"
    sizes: tuple[int, int]
    "items behind the two shares: those that both runs decide, or unpaired those that each decides"
    first_share: float
    "NaN without any item"
    second_share: float
    difference: Estimate
    "second share minus first; n: decided pairs, or unpaired the items of both"
    same: Estimate
    """share of the items that both decide whose verdict is the same in both, also where languages
    differ"""
    lost: int
    "decided pairs: yes in the first, no in the second"
    gained: int
    p: float
    "of McNemar's exact test; NaN where nothing was tested"
    untested: str = ""
    "why there is no test"
    holm: float = NAN
    "p adjusted over all tests of the comparison"
    false_discovery: float = NAN
    "the same by Benjamini and Hochberg"
    missing: tuple[int, int, int] = (0, 0, 0)
    "common items of which a verdict is missing: in the first alone, in the second alone, in both"
    bounds: Bounds = UNKNOWN
    "of the difference, with every missing verdict as yes and as no"

    @property
    def lacking(self) -> tuple[int, int]:
        """Common items of which the first, and the second, lacks a verdict."""
        first, second, both = self.missing
        return first + both, second + both


@dataclass(frozen=True, slots=True)
class ComparedItem:
    """The verdicts of all runs on one item."""

    kind: VerdictKind
    item: Item
    verdicts: tuple[str, ...]
    "in the order of the runs; empty where a run has none"
    compared: str = ""
    "why the item is not compared; empty where it is"

    @property
    def changed(self) -> bool:
        return not self.compared and len(set(self.verdicts)) > 1


@dataclass(frozen=True, slots=True)
class Moment:
    """One version of a model in the order in which they were asked."""

    kind: VerdictKind
    model: str
    side: Side
    share: Estimate
    change: Change | None
    "since the version before; None: it is the first one"


@dataclass(frozen=True, slots=True)
class Overall:
    """Whether the versions of a model say yes equally often."""

    kind: VerdictKind
    model: str
    versions: tuple[str, ...]
    found: CochranQ
    holm: float = NAN


def unpaired_because(sides: Sequence[Side]) -> str:
    """Say why runs are not compared item by item; empty where they are."""
    languages = sorted({side.factors.get(LANGUAGE, "") for side in sides} - {""})
    return (
        f"the languages differ ({', '.join(languages)}), and with them every wording"
        if len(languages) > 1
        else ""
    )


def common(kind: VerdictKind, sides: Sequence[Side]) -> CommonItems:
    """Return the items that count in a comparison of all these runs."""
    found = [side.found.get(kind.name, {}) for side in sides]
    shared = [item for item in found[0] if all(item in other for other in found)]
    unpaired = unpaired_because(sides)
    same = [item for item in shared if unpaired or len({other[item].asked for other in found}) == 1]
    alone = {side.name: len(of) - len(shared) for side, of in zip(sides, found, strict=True)}
    return CommonItems(tuple(same), alone, len(shared) - len(same), unpaired)


def changes(of: Compared) -> tuple[Change, ...]:
    """Return how every kind of verdict differs between every two runs, with p adjusted over all of
    these tests.
    """
    made = [
        _change(kind, over, first, second)
        for kind in of.kinds
        for over in (of.common(kind),)
        for first, second in combinations(of.sides, 2)
    ]
    return _adjusted(made)


def changes_from(of: Compared, first: str, kinds: Sequence[VerdictKind]) -> tuple[Change, ...]:
    """Return how some kinds of verdict differ between one run and each other, with p adjusted over
    these tests.
    """
    one = of.side(first)
    others = [side for side in of.sides if side.name != first]
    made = [_change(kind, of.common(kind), one, other) for kind in kinds for other in others]
    return _adjusted(made)


def _adjusted(made: Sequence[Change]) -> tuple[Change, ...]:
    p = [one.p for one in made]
    both = zip(made, holm(p).tolist(), benjamini_hochberg(p).tolist(), strict=True)
    return tuple(replace(one, holm=by_holm, false_discovery=rate) for one, by_holm, rate in both)


def _change(kind: VerdictKind, over: CommonItems, first: Side, second: Side) -> Change:
    """Compare two runs over common items."""
    pairs = [
        tuple(side.found[kind.name][item].verdict for side in (first, second))
        for item in over.items
    ]
    decided = [pair for pair in pairs if set(pair) <= {kind.yes, kind.no}]
    lost, gained = decided.count((kind.yes, kind.no)), decided.count((kind.no, kind.yes))
    why = _untested(kind, over, len(decided), lost + gained)
    p = NAN if why else mcnemar(lost, gained)
    shares, difference = (
        _unpaired(kind, pairs) if over.unpaired else _paired(kind, decided, lost, gained)
    )
    if over.untested:
        difference = replace(
            difference, low=NAN, high=NAN, interval="", few=f"no interval: {over.untested}"
        )
    sizes = _decided(kind, pairs) if over.unpaired else (len(decided), len(decided))
    return Change(
        kind,
        first.name,
        second.name,
        len(pairs),
        len(pairs) - len(decided),
        sizes,
        *shares,
        difference,
        _same(kind, len(decided), lost + gained),
        lost,
        gained,
        p,
        why,
        missing=_missing(kind, pairs),
        bounds=_unpaired_bounds(kind, pairs) if over.unpaired else _paired_bounds(kind, pairs),
    )


def _missing(kind: VerdictKind, pairs: Sequence[tuple[str, ...]]) -> tuple[int, int, int]:
    lacks = [tuple(map(kind.lacks, pair)) for pair in pairs]
    return lacks.count((True, False)), lacks.count((False, True)), lacks.count((True, True))


def _ends(kind: VerdictKind, verdict: str) -> tuple[int, int] | None:
    """Return the least and the most that a verdict, or a missing one, counts as yes; None where it
    decides nothing.
    """
    return {kind.yes: (1, 1), kind.no: (0, 0)}.get(verdict, (0, 1) if kind.lacks(verdict) else None)


def _paired_bounds(kind: VerdictKind, pairs: Sequence[tuple[str, ...]]) -> Bounds:
    """Return the bounds of the difference over the items that both runs decide, or would if nothing
    were missing.
    """
    ends = [(one, other) for a, b in pairs if (one := _ends(kind, a)) and (other := _ends(kind, b))]
    if not ends:
        return UNKNOWN
    low, high = (
        sum(other[place] - one[1 - place] for one, other in ends) / len(ends) for place in (0, 1)
    )
    return Bounds(low, high)


def _unpaired_bounds(kind: VerdictKind, pairs: Sequence[tuple[str, ...]]) -> Bounds:
    """Return the bounds of the difference of shares, each of the items that its run decides, or
    would.
    """
    sides = [[end for pair in pairs if (end := _ends(kind, pair[place]))] for place in (0, 1)]
    if not all(sides):
        return UNKNOWN
    (low, high), (least, most) = (
        [sum(end[at] for end in of) / len(of) for at in (0, 1)] for of in sides
    )
    return Bounds(least - high, most - low)


def _same(kind: VerdictKind, decided: int, differ: int) -> Estimate:
    """Return the share of decided items with the same verdict in both runs."""
    if not decided:
        return Estimate(NAN, NAN, NAN, 0, 0, NO_PAIR)
    share = (decided - differ) / decided
    if not kind.tested:
        return Estimate(share, NAN, NAN, decided)
    low, high = wilson_of_share(share, decided)
    return Estimate(share, low, high, decided, interval="share of items")


def _untested(kind: VerdictKind, over: CommonItems, decided: int, differ: int) -> str:
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
    n = len(decided)
    if not n:
        return (NAN, NAN), Estimate(NAN, NAN, NAN, 0, 0, NO_PAIR)
    shares = tuple(sum(pair[place] == kind.yes for pair in decided) / n for place in (0, 1))
    if not kind.tested:
        return (shares[0], shares[1]), Estimate(shares[1] - shares[0], NAN, NAN, n)
    low, high = paired_ends(lost, gained, n)
    return (shares[0], shares[1]), Estimate(shares[1] - shares[0], low, high, n, interval=PAIRED)


def _unpaired(
    kind: VerdictKind, pairs: Sequence[tuple[str, ...]]
) -> tuple[tuple[float, float], Estimate]:
    """Compare the shares of each run's own decided items."""
    sizes = _decided(kind, pairs)
    hits = [sum(pair[place] == kind.yes for pair in pairs) for place in (0, 1)]
    shares = tuple(hit / size if size else NAN for hit, size in zip(hits, sizes, strict=True))
    if not all(sizes):
        return (shares[0], shares[1]), Estimate(
            NAN, NAN, NAN, sum(sizes), 0, "a run has no decided item"
        )
    if not kind.tested:
        return (shares[0], shares[1]), Estimate(shares[1] - shares[0], NAN, NAN, sum(sizes))
    low, high = unpaired_ends(hits[0], sizes[0], hits[1], sizes[1])
    return (shares[0], shares[1]), Estimate(
        shares[1] - shares[0], low, high, sum(sizes), interval=UNPAIRED
    )


def _decided(kind: VerdictKind, pairs: Sequence[tuple[str, ...]]) -> tuple[int, int]:
    """Return how many items each of the two runs decides."""
    first, second = (sum(pair[place] in (kind.yes, kind.no) for pair in pairs) for place in (0, 1))
    return first, second


def item_rows(of: Compared, kind: VerdictKind) -> tuple[ComparedItem, ...]:
    """Return the verdicts of all runs on every item of any run, compared or not."""
    found = [side.found.get(kind.name, {}) for side in of.sides]
    same = set(common(kind, of.sides).items)
    items = dict.fromkeys(item for each in found for item in each)
    return tuple(
        ComparedItem(
            kind,
            item,
            tuple(each[item].verdict if item in each else "" for each in found),
            _why(item, found, same),
        )
        for item in items
    )


def _why(item: Item, found: Sequence[Mapping[Item, Judged]], same: set[Item]) -> str:
    if item in same:
        return ""
    return "asked in different words" if all(item in each for each in found) else "not asked of all"


def versions_of(of: Compared) -> Iterator[tuple[Side, ...]]:
    """Yield the runs that differ in the version or the occasion of one model alone, in the order in
    which they were asked.
    """
    groups: dict[tuple[tuple[str, str], ...], list[Side]] = {}
    for side in of.sides:
        rest = tuple(
            sorted((name, value) for name, value in side.factors.items() if name not in OF_TIME)
        )
        groups.setdefault(rest, []).append(side)
    for sides in groups.values():
        if len({tuple(side.factors.get(name, "") for name in OF_TIME) for side in sides}) > 1:
            yield tuple(sorted(sides, key=lambda side: side.last))


DIFFERENT, UNDECIDED = "different", "undecided"
LEVEL = 0.05


def claims(
    differences: Sequence[Estimate],
    p: Sequence[float],
    within: float | None,
    bounds: Sequence[Bounds] = (),
) -> list[str]:
    """Return what may be said of each of a family of differences: `different`, `same within ±d`, or
    `undecided`.

    Different: its p, adjusted by Holm's procedure over the family, is below .05. The same: its 95 %
    interval lies within ±d, so both one-sided tests against ±d reject at 2.5 % (Schuirmann 1987).
    Empty where there is no interval.

    Parameters
    ----------
    p : adjusted already; NaN where there is no test: those differences are tested by their
        intervals, as a family
    within : d; None: nothing is the same
    bounds : of the differences, whatever is missing; empty: nothing is
    """
    untested = [math.isnan(each) for each in p]
    by_interval = iter(
        holm([p_of(one) for one, without in zip(differences, untested, strict=True) if without])
    )
    adjusted = [
        next(by_interval) if without else each for each, without in zip(p, untested, strict=True)
    ]
    ends = bounds or [Bounds(NAN, NAN)] * len(differences)
    return [_claim(*each, within) for each in zip(differences, adjusted, ends, strict=True)]


def _claim(one: Estimate, p: float, ends: Bounds, within: float | None) -> str:
    if p < LEVEL:
        return DIFFERENT
    if math.isnan(one.low):
        return ""
    reach = (-one.low, one.high, -ends.low, ends.high)
    same = within is not None and not any(end > within for end in reach)  # NaN: nothing is missing
    return f"same within ±{within:g}" if same else UNDECIDED


def over_time(of: Compared) -> tuple[Moment, ...]:
    """Return every version of a model with what changed since the one before, p adjusted over these
    changes.
    """
    found: list[Moment] = []
    for sides in versions_of(of):
        for kind in of.kinds:
            over = replace(common(kind, sides), untested=of.untested)
            since = [None, *_adjusted([_change(kind, over, *pair) for pair in pairwise(sides)])]
            shares = [_share(kind, over, side) for side in sides]
            found += [
                Moment(kind, side.model, side, *both)
                for side, both in zip(sides, zip(shares, since, strict=True), strict=True)
            ]
    adjusted = iter(_adjusted([one.change for one in found if one.change is not None]))
    return tuple(
        one if one.change is None else replace(one, change=next(adjusted)) for one in found
    )


def _share(kind: VerdictKind, over: CommonItems, side: Side) -> Estimate:
    """Return the share of yes among the decided common items of one run."""
    verdicts = [side.found[kind.name][item].verdict for item in over.items]
    n = sum(one in (kind.yes, kind.no) for one in verdicts)
    if not n:
        return Estimate(NAN, NAN, NAN, 0, len(verdicts), "no item is decided")
    share = verdicts.count(kind.yes) / n
    if not kind.tested:
        return Estimate(share, NAN, NAN, n, len(verdicts) - n)
    low, high = wilson_of_share(share, n)
    return Estimate(share, low, high, n, len(verdicts) - n, interval="share of items")


def overall(of: Compared) -> tuple[Overall, ...]:
    """Return for three or more versions of a model whether they say yes equally often, on items
    decided in all.
    """
    found = []
    for sides in versions_of(of):
        for kind in of.kinds if len(sides) > 2 else ():
            verdicts = [
                [side.found[kind.name][item].verdict for side in sides]
                for item in common(kind, sides).items
            ]
            tested = kind.tested and not of.untested
            decided = [row for row in verdicts if set(row) <= {kind.yes, kind.no}]
            table = np.array(
                [[one == kind.yes for one in row] for row in decided if tested], dtype=np.int64
            )
            names = tuple(side.name for side in sides)
            found.append(
                Overall(kind, sides[0].model, names, cochran_q(table.reshape(-1, len(sides))))
            )
    adjusted = holm([one.found.p for one in found]).tolist()
    return tuple(replace(one, holm=each) for one, each in zip(found, adjusted, strict=True))


def said(of: Compared) -> tuple[str, ...]:
    """Say what is compared with what, over how many items, and what is left out and why; warnings
    first.
    """
    factors = differing(of.sides)
    return tuple(_warnings(factors)) + tuple(_over(of, factors))


def _warnings(factors: Sequence[str]) -> Iterator[str]:
    if len(factors) > 1:
        yield (
            f"! These runs differ in {len(factors)} respects ({', '.join(factors)}): any of "
            "these may cause a change."
        )
    if not factors:
        yield "! These runs differ in no recorded respect: changes between them are chance."


def _over(of: Compared, factors: Sequence[str]) -> Iterator[str]:
    what = f"What differs: {', '.join(factors)}." if factors else ""
    yield f"Compared: {'; '.join(of.names)}. {what}".strip()
    seen: dict[tuple[object, ...], list[VerdictKind]] = {}
    for kind in of.kinds:
        over = common(kind, of.sides)
        seen.setdefault(
            (kind.unit, len(over.items), tuple(over.missing.items()), over.reworded), []
        ).append(kind)
    several = len(seen) > 1
    for kinds in list(seen.values()):
        over, kind = common(kinds[0], of.sides), kinds[0]
        alone = [f"{name} {n:,}" for name, n in over.missing.items() if n]
        dropped = [f"asked in different words: {over.reworded:,}"] if over.reworded else []
        dropped += [f"not asked of all: {', '.join(alone)}"] if alone else []
        which = f"{kind.title}: " if several else ""
        left_out = "; ".join(dropped) or "none"
        lacks = (
            f"; missing: {', '.join(lacking)}"
            if (lacking := list(_lacking(of, kind, over)))
            else ""
        )
        yield (
            f"{which}{plural(len(over.items), kind.unit)} asked of all; left out: "
            f"{left_out}{lacks}."
        )
    if why := unpaired_because(of.sides):
        yield (
            f"The comparison is unpaired, because {why}: shares are compared as if of other "
            "items, and no pair of "
            "verdicts is tested."
        )
    if of.untested:
        yield f"No pair of verdicts is tested: {of.untested}."
    yield from of.left_out


def _lacking(of: Compared, kind: VerdictKind, over: CommonItems) -> Iterator[str]:
    """Yield of how many common items each run lacks the verdict."""
    for side in of.sides:
        if n := sum(kind.lacks(side.found[kind.name][item].verdict) for item in over.items):
            yield f"{side.name} {n:,}"
