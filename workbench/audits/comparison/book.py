"""A comparison as a book of tables: who is compared, what changed and by how much, item by item,
and over time.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

from stores.runs.run_rows import Run
from workbench.audits.chosen_run import NO_LABELS, run_named
from workbench.audits.claims import AdjustedFinding, Finding, OfModel, p_of, reach_of, shown
from workbench.audits.comparison.judge import (
    ANSWERED,
    DIFFERENT,
    OCCASION,
    UNDECIDED,
    Change,
    Compared,
    ComparedItem,
    Moment,
    Overall,
    Side,
    VerdictKind,
    changes,
    claims,
    common,
    differing,
    item_rows,
    meant,
    over_time,
    overall,
    said,
    versions_of,
)
from workbench.audits.printed import Medium, Printed
from workbench.audits.reported import Reported, Wanted
from workbench.domain.instruments import Instrument
from workbench.domain.names import plural
from workbench.domain.verdicts import Bounds, Estimate, Verdict
from workbench.errors import UnknownName
from workbench.evidence.runs import FIRST
from workbench.figures.book import Book, Entry
from workbench.figures.pictures.of_table import Curves, Forest
from workbench.figures.shown import bounded, estimate, number
from workbench.figures.table import AnyTable, Column, Kind, Link, Table
from workbench.options.shared import SAME_WITHIN

ITEMS = "changed_items"
VERDICTS = {one.value for one in Verdict}
NO_VERSIONS = (
    "No two of these runs are versions of one model with the same settings, and none "
    "asks another one anew."
)
TWO_VERSIONS = (
    "A test over all versions needs three of them; for the change between two see `over_time`."
)
DIFFERENCE = (
    "Shares are of the items that both runs decide. The interval of their difference is Bonett "
    "and Price's for pairs; "
    "p is McNemar's exact test of these pairs. Holm's p keeps the chance of any false alarm "
    "among all tests of the "
    "table, Benjamini and Hochberg's the expected share of false ones."
)
BOUNDS = (
    "The bounds are the least and the greatest difference over all items, those without a "
    "verdict included, whatever "
    "the missing ones are: they are no interval, and of more items than the difference."
)
CLAIM = (
    "different if p, adjusted by Holm's procedure over the differences of the table, is below "
    ".05; the same if the "
    "95 % interval and the bounds lie within ±D of --same-within D; otherwise undecided"
)
NOTHING = Estimate(math.nan, math.nan, math.nan, 0, 0, "there is no difference")
APART = (
    "Shares are of the items that each run decides, treated as different items: the interval of "
    "their "
    "difference is Newcombe's, and no pair is tested."
)


def book(of: Compared) -> Book:
    """Return every table of a comparison; the audit's own tables of differences come last, one for
    each two runs.
    """
    listed = [kind for kind in of.kinds if kind.listed]
    pairs = list(combinations(of.names, 2))
    no_versions = "" if any(True for _ in versions_of(of)) else NO_VERSIONS
    few = no_versions or ("" if overall(of) else TWO_VERSIONS)
    own = [(made.name, make) for make in of.differences for made in (make(*pairs[0]),)]
    return Book(
        of.title,
        [
            Entry("compared_runs", "runs", partial(compared_runs, of)),
            Entry("changes", "what changed", lambda: with_claims(changes_table(of), of.within)),
            *(
                [
                    Entry(
                        ITEMS,
                        "item by item",
                        partial(_items, of),
                        [(kind.name,) for kind in listed],
                    )
                ]
                if listed
                else []
            ),
            *(
                Entry(name, name.replace("_", " "), partial(_own, of, make), pairs)
                for name, make in own
            ),
            Entry("over_time", "over time", partial(over_time_table, of), empty=no_versions),
            Entry("over_time_tests", "all versions", partial(overall_table, of), empty=few),
        ],
        behind={ITEMS: partial(_items, of)},
        told=(*said(of), *of.rulings.notes()),
        header=(*said(of)[:2], *of.rulings.notes()),
        about={"compared": list(of.names), "differ_in": list(differing(of.sides))},
        methods=methods(of),
    )


def _own(of: Compared, make: Callable[[str, str], AnyTable], first: str, second: str) -> AnyTable:
    return with_claims(make(first, second), of.within)


def with_claims(table: AnyTable, within: float | None) -> AnyTable:
    """Return a table of differences with what may be said of each, beside it; the same where it has
    no differences.
    """
    place = next((at for at, one in enumerate(table.columns) if one.title == "difference"), None)
    if place is None or not table.rows:
        return table
    column = table.columns[place]
    adjusted: Callable[[Any], Any] = next(
        (one.value for one in table.columns if one.key == "holm"), lambda _: math.nan
    )
    differences = [
        value if isinstance(value := column.value(row), Estimate) else NOTHING for row in table.rows
    ]
    ends = [
        next((one.value for one in table.columns if one.key == key), None)
        for key in ("lowest", "highest")
    ]
    bounds = [Bounds(*(_number(of, row) for of in ends)) for row in table.rows]
    found = claims(differences, [float(adjusted(row)) for row in table.rows], within, bounds)
    of_row = dict(zip(map(table.key, table.rows), found, strict=True))
    claim: Column[Any] = Column("claim", "claim", lambda row: of_row[table.key(row)], help=CLAIM)
    columns = [*table.columns[: place + 1], claim, *table.columns[place + 1 :]]
    return replace(table, columns=columns, notes=[*table.notes, f"claim: {CLAIM}"])


def _number(of: Callable[[Any], Any] | None, row: Any) -> float:
    value = None if of is None else of(row)
    return float(value) if isinstance(value, int | float) else math.nan


def tables(of: Compared, *, data: bool) -> Iterator[AnyTable]:
    """Yield the tables that there are: all for a program; for people the items that changed, by the
    first verdict.
    """
    for entry in book(of).contents:
        if not entry.empty:
            made = [entry.make(*subject) for subject in entry.subjects]
            yield from made if data or entry.name != ITEMS else _only_changed(made)


def _only_changed(made: Sequence[AnyTable]) -> Iterator[AnyTable]:
    """Yield the items that changed by the first verdict by which any did; nothing where none
    did.
    """
    for table in made:
        if rows := [row for row in table.rows if row.changed]:
            yield replace(table, rows=rows)
            return


def methods(of: Compared) -> str:
    """Say in one paragraph how runs were compared."""
    return " ".join(
        [
            *(line.removeprefix("! ") for line in said(of)),
            "A pair of verdicts is decided where both runs pass or fail, or take a side. "
            "McNemar's exact test is of "
            "these pairs, and the interval of a difference of paired shares is that of Bonett "
            "and Price (2012), of "
            "unpaired ones Newcombe's (1998, method 10). p values were adjusted over all tests "
            "by Holm (1979) and by "
            "Benjamini and Hochberg (1995). Bounds of a difference take every missing verdict "
            "for either of the two "
            "(Manski 2003).",
        ]
    )


def compared_runs(of: Compared) -> Table[Side]:
    """Return the runs, how each was made, and on how many items it can be compared."""
    first = of.kinds[0]
    over = common(first, of.sides)
    factors = [
        name
        for name in of.sides[0].factors
        if {side.factors.get(name, "") for side in of.sides} - {"", FIRST}
    ]
    differ = differing(of.sides)

    def factor(name: str) -> Column[Side]:
        said_already = name not in differ or all(
            side.factors.get(name) == side.name for side in of.sides
        )
        return Column(name, name, lambda side: side.factors.get(name, ""), aside=said_already)

    return Table(
        "compared_runs",
        "Runs compared",
        of.sides,
        [
            Column("run", "run", lambda side: side.name),
            *_main(of, lambda side: side.main_figure),
            *_beside(of),
            *map(factor, factors),
            Column(
                "asked",
                "asked last (UTC)",
                lambda side: side.last[:16].replace("T", " "),
                aside=OCCASION not in differ,
            ),
            Column(
                "items",
                f"{first.units}",
                lambda side: len(side.found.get(first.name, {})),
                Kind.COUNT,
            ),
            Column(
                "common",
                "compared",
                lambda _: len(over.items),
                Kind.COUNT,
                help="asked of all these runs",
            ),
            Column(
                "alone",
                "not of all",
                lambda side: over.missing[side.name],
                Kind.COUNT,
                help=f"{first.units} not asked of some other run",
            ),
            Column(
                "reworded",
                "other words",
                lambda _: over.reworded,
                Kind.COUNT,
                help="asked in different words in one language",
                aside=not over.reworded,
            ),
        ],
        key=lambda side: (side.name,),
        notes=said(of),
    )


def _main(of: Compared, value: Callable[[Any], Any]) -> list[Column[Any]]:
    """Return a column of the figure that the audit is known for, where runs have it."""
    if not of.main or all(side.main is None for side in of.sides):
        return []
    scale = (-1.0, 1.0) if of.main_kind is Kind.SCORE else (0.0, 1.0)
    return [Column("main", of.main, value, of.main_kind, scale=scale, help="of the whole run")]


def _beside(of: Compared) -> Iterator[Column[Side]]:
    """Yield the columns of what stands beside the figure that the audit is known for."""
    for title, value in of.sides[0].beside.items():
        kind = of.main_kind if isinstance(value, Estimate) else Kind.TEXT
        yield Column(title.replace(" ", "_"), title, partial(_value_beside, title), kind)


def _value_beside(title: str, side: Side) -> Estimate | str | None:
    return side.beside.get(title)


def changes_table(of: Compared) -> Table[Change]:
    """Return how much every kind of verdict differs between every two runs."""
    rows = changes(of)
    whole = not any(map(any, (row.missing for row in rows)))
    apart = bool(common(of.kinds[0], of.sides).unpaired)
    return Table(
        "changes",
        "Changes between the runs",
        rows,
        [
            Column("verdict", "verdict", lambda row: row.kind.title),
            Column("first", "first", lambda row: row.first, aside=len(of.sides) < 3),
            Column("second", "second", lambda row: row.second, aside=len(of.sides) < 3),
            *_changed(lambda row: row, len(of.sides) < 3, whole),
        ],
        key=lambda row: (row.kind.name, row.first, row.second),
        definition=f"{APART if apart else DIFFERENCE}{'' if whole else f' {BOUNDS}'}",
        notes=[_yes(of.kinds), *_names(of), *_undrawn(of)],
        pictures=()
        if of.untested
        else [Forest(values=("difference",), rows=("verdict", "first", "second"))],
        link=lambda row: Link(ITEMS, (row.kind.name,)) if row.kind.listed else None,
        detail=lambda row: [text for text in (row.untested, _missing(row)) if text],
    )


def _yes(kinds: Sequence[VerdictKind]) -> str:
    """Say which verdict a share is of."""
    words: dict[tuple[str, str], list[str]] = {}
    for kind in kinds:
        words.setdefault((kind.yes, kind.no), []).append(kind.title)
    parts = [
        f"{yes} (against {no})" + (f" of {', '.join(of)}" if len(words) > 1 else "")
        for (yes, no), of in words.items()
    ]
    return f"Shares are of the verdict {'; '.join(parts)}; any other verdict is undecided."


def _undrawn(of: Compared) -> list[str]:
    """Say why shares of verdicts are not drawn, or nothing if they are."""
    return [f"There is no picture of these shares: {of.untested}."] if of.untested else []


def _names(of: Compared) -> list[str]:
    return [f"first: {of.sides[0].name}; second: {of.sides[1].name}"] if len(of.sides) < 3 else []


def _changed(
    of: Callable[[Any], Change | None], two: bool = True, whole: bool = True
) -> list[Column[Any]]:
    """Return the columns of a change; nothing stands where there is none. whole : no verdict is
    missing
    """

    def read(get: Callable[[Change], Any]) -> Callable[[Any], Any]:
        return lambda row: None if (found := of(row)) is None else get(found)

    return [
        Column(
            "n",
            "n",
            read(lambda one: one.sizes[0]),
            Kind.COUNT,
            help="items behind the first share: those decided in both runs; if unpaired, in "
            "the first",
        ),
        Column(
            "second_n",
            "n, second",
            read(lambda one: one.sizes[1]),
            Kind.COUNT,
            aside=True,
            help="the same for the second share",
        ),
        Column(
            "common",
            "asked of all",
            read(lambda one: one.n),
            Kind.COUNT,
            aside=True,
            help="items asked of all runs",
        ),
        Column(
            "undecided",
            "undecided",
            read(lambda one: one.undecided),
            Kind.COUNT,
            aside=True,
            help="of these, not decided in one of the two runs",
        ),
        Column(
            "first_share",
            "first share",
            read(lambda one: one.first_share),
            Kind.SHARE,
            aside=not two,
            short="1st",
        ),
        Column(
            "second_share",
            "second share",
            read(lambda one: one.second_share),
            Kind.SHARE,
            aside=not two,
            short="2nd",
        ),
        Column(
            "difference",
            "difference",
            read(lambda one: one.difference),
            Kind.POINTS,
            scale=(-1, 1),
            help="second share minus first",
        ),
        Column(
            "missing_first",
            "missing, first",
            read(lambda one: one.lacking[0]),
            Kind.COUNT,
            aside=whole,
            short="miss. 1st",
            help="items asked of all that have no verdict in the first run for lack of answers",
        ),
        Column(
            "missing_second",
            "missing, second",
            read(lambda one: one.lacking[1]),
            Kind.COUNT,
            aside=whole,
            short="miss. 2nd",
            help="the same in the second run",
        ),
        Column(
            "missing_both",
            "missing, both",
            read(lambda one: one.missing[2]),
            Kind.COUNT,
            aside=True,
            help="of these, missing in both",
        ),
        Column(
            "lowest",
            "lower bound",
            read(lambda one: one.bounds.low),
            Kind.POINTS,
            aside=whole,
            short="least",
            help="the least difference over all items, whatever the missing verdicts are; no "
            "interval",
        ),
        Column(
            "highest",
            "upper bound",
            read(lambda one: one.bounds.high),
            Kind.POINTS,
            aside=whole,
            short="most",
            help="the greatest difference over all items",
        ),
        Column(
            "same",
            "same verdict",
            read(lambda one: one.same),
            Kind.SHARE,
            scale=(0, 1),
            short="same",
            help="of the items that both runs decide",
            aside=not two,
        ),
        Column(
            "lost",
            "lost",
            read(lambda one: one.lost),
            Kind.COUNT,
            help="decided pairs: yes first, then no",
        ),
        Column(
            "gained",
            "gained",
            read(lambda one: one.gained),
            Kind.COUNT,
            help="decided pairs: no first, then yes",
        ),
        Column(
            "p",
            "p",
            read(lambda one: one.p),
            Kind.P_VALUE,
            help="McNemar's exact test, two-sided",
            aside=True,
        ),
        Column(
            "holm",
            "p, Holm",
            read(lambda one: one.holm),
            Kind.P_VALUE,
            help="adjusted over all tests here",
        ),
        Column(
            "false_discovery",
            "p, BH",
            read(lambda one: one.false_discovery),
            Kind.P_VALUE,
            aside=True,
            help="by Benjamini and Hochberg, over all tests here",
        ),
        Column("untested", "why no test", read(lambda one: one.untested), aside=True),
    ]


def changed_items(of: Compared, kind: VerdictKind) -> Table[ComparedItem]:
    """Return the verdicts of all runs on every item; those that changed come first, the others are
    minor rows.
    """
    rows = sorted(item_rows(of, kind), key=lambda row: not row.changed)
    sizes = sum(row.changed for row in rows), sum(not row.compared for row in rows)

    def column(place: int, side: Side) -> Column[ComparedItem]:
        return Column(
            f"verdict_{place + 1}",
            side.name,
            lambda row: _verdict(row.verdicts[place]),
            _kind(kind),
        )

    return Table(
        ITEMS,
        f"{kind.title}: {kind.units} whose verdict changed",
        rows,
        [
            Column("item", kind.unit, lambda row: row.item),
            Column(
                "wording",
                "wording",
                lambda row: of.texts.get(row.item, ""),
                least=24,
                main=True,
                aside=True,
            ),
            *(column(place, side) for place, side in enumerate(of.sides)),
            Column("changed", "changed", lambda row: row.changed, Kind.MARK, mark="⇄"),
            Column(
                "left_out",
                "left out",
                lambda row: row.compared,
                aside=True,
                help="why the item is not compared; empty if it is",
            ),
        ],
        key=lambda row: (row.item,),
        definition="⇄ marks items asked identically of all runs on which two runs have different "
        "verdicts.",
        notes=[f"changed: {sizes[0]:,} of {sizes[1]:,} compared {kind.units}"],
        empty=f"No {kind.unit} has a verdict.",
        detail=lambda row: [text for text in (of.texts.get(row.item, ""), row.compared) if text],
        subject=(kind.name,),
        minor=lambda row: not row.changed,
    )


def _kind(kind: VerdictKind) -> Kind:
    return Kind.VERDICT if {kind.yes, kind.no} <= VERDICTS else Kind.TEXT


def _verdict(text: str) -> Verdict | str | None:
    if not text:
        return None
    return Verdict(text) if text in VERDICTS else text


def _items(of: Compared, name: str = "") -> AnyTable:
    return changed_items(
        of, of.kind(name) if name else next(kind for kind in of.kinds if kind.listed)
    )


def over_time_table(of: Compared) -> Table[Moment]:
    """Return every version or occasion of a model in the order of being asked, with what changed
    since the last.
    """
    rows = over_time(of)
    place = {
        name: at
        for sides in versions_of(of)
        for at, name in enumerate((side.name for side in sides), start=1)
    }
    sides: Mapping[str, Side] = {side.name: side for side in of.sides}
    anew = any(side.factors.get(OCCASION, FIRST) != FIRST for side in of.sides)
    return Table(
        "over_time",
        "A model over time",
        rows,
        [
            Column(
                "version",
                "version",
                lambda row: row.side.factors.get("version", "") or row.side.name,
            ),
            Column("verdict", "verdict", lambda row: row.kind.title),
            Column(
                "model", "model", lambda row: row.model, aside=len({row.model for row in rows}) < 2
            ),
            Column(
                "order",
                "order of being asked",
                lambda row: place[row.side.name],
                Kind.COUNT,
                aside=True,
            ),
            Column(
                "occasion",
                "occasion",
                lambda row: row.side.factors.get(OCCASION, ""),
                aside=not anew,
            ),
            Column(
                "asked",
                "asked last (UTC)",
                lambda row: row.side.last[:16].replace("T", " "),
                aside=not anew,
            ),
            Column("share", "share", lambda row: row.share, Kind.SHARE, scale=(0, 1)),
            *(
                replace(one, aside=True)
                for one in _main(of, lambda row: sides[row.side.name].main_figure)
            ),
            *(
                replace(one, aside=one.key not in ("difference", "holm"))
                for one in _changed(lambda row: row.change)
                if "share" not in one.key
            ),
        ],
        key=lambda row: (row.kind.name, row.side.name),
        definition="Versions are in the order in which they were last asked. Shares are of the "
        "items that every "
        "version was asked and that each decides; other columns compare with the previous "
        f"version. {DIFFERENCE}",
        notes=[_yes(of.kinds), *_undrawn(of)],
        empty=NO_VERSIONS,
        pictures=() if of.untested else [Curves(x="order", values=("share",), series="verdict")],
        link=lambda row: Link(ITEMS, (row.kind.name,)) if row.kind.listed else None,
    )


def overall_table(of: Compared) -> Table[Overall]:
    """Return a test over three or more versions of a model at once."""
    return Table(
        "over_time_tests",
        "All versions of a model together",
        overall(of),
        [
            Column("model", "model", lambda row: row.model),
            Column("verdict", "verdict", lambda row: row.kind.title),
            Column("versions", "versions", lambda row: len(row.versions), Kind.COUNT),
            Column(
                "n",
                "n",
                lambda row: row.found.n,
                Kind.COUNT,
                help="items that are decided in every version",
            ),
            Column(
                "differ",
                "differ",
                lambda row: row.found.differ,
                Kind.COUNT,
                help="items with differing verdicts",
            ),
            Column(
                "q",
                "Cochran's Q",
                lambda row: None if math.isnan(row.found.q) else row.found.q,
                Kind.COEFFICIENT,
            ),
            Column("df", "df", lambda row: row.found.df, Kind.COUNT, help="degrees of freedom"),
            Column(
                "p", "p", lambda row: row.found.p, Kind.P_VALUE, help="of no association, two-sided"
            ),
            Column(
                "holm",
                "p, Holm",
                lambda row: row.holm,
                Kind.P_VALUE,
                help="adjusted over all tests of the table",
            ),
        ],
        key=lambda row: (row.model, row.kind.name),
        definition="Cochran's Q (1950), which extends McNemar's test to several versions: that "
        "all say yes equally "
        "often. The chi-squared approximation needs at least about 24 / versions differing items.",
        empty=TWO_VERSIONS,
    )


def printed(
    of: Compared,
    medium: Medium,
    about: Mapping[str, Any] | None = None,
    beside: Sequence[AnyTable] = (),
) -> Printed:
    """Return a comparison. `about`: what its figures rest on, beside what is compared; `beside`:
    the audit's own tables that somebody asked for by name, which come first.
    """
    made = book(of)
    return Printed(
        (*beside, *tables(of, data=medium.data)),
        {**(about or {}), **made.about, "methods": made.methods},
        made.title,
        of.rulings.notes(),  # the first table says what is compared
        made.notes,
        made.header,
    )


CLEAR, NAMED = 0.05, 5
"level of p; differences that a finding names"
LIMITS = (
    "Runs are compared over the items that all of them were asked in the same words; items asked "
    "of only one run say "
    "nothing about the others.",
    "A test that finds no difference does not show that there is none: the interval says how "
    "large it may be.",
)


def names_wanted(
    wanted: Wanted, there: Mapping[str, str], labels: Mapping[str, str] = NO_LABELS
) -> tuple[str, ...]:
    """Return the runs that a report is to compare; empty where fewer than two of these are named.

    there : name of a run -> its model
    labels : longer names that lists print -> name of a run
    """
    known = [name for name in wanted.compare if _is_among(name, there, labels)]
    return meant(known, there, labels) if len(known) > 1 else ()


def _is_among(name: str, there: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    try:
        return bool(run_named(name, there, labels))
    except UnknownName:
        return False


def comparison(
    of: Compared,
    what: str,
    instrument: Instrument,
    runs: Mapping[str, Run],
    command: str,
) -> Reported:
    """Return a comparison as a part of a report.

    what : is compared: `Reliability`
    runs : name -> run, of those that are compared
    command : what prints it, but for the names of the runs
    """
    within = "" if of.within is None else f" {SAME_WITHIN.flag} {of.within:g}"
    made = book(of)
    return Reported(
        title=f"{what} side by side: {', '.join(of.names)}",
        instrument=instrument,
        runs={name: runs[name] for name in of.names if name in runs},
        book=replace(made, title=f"{what} side by side"),
        findings=tuple(_findings(of)),
        command=f"{command} --compare {' '.join(map(shlex.quote, of.names))}{within}",
        rulings=of.rulings,
        limits=LIMITS,
        shown=[entry.name for entry in made.contents],
        files="side-by-side",
    )


def _findings(of: Compared) -> Iterator[Finding]:
    every = changes(of)
    yield from (of.finds(*pair) for pair in combinations(of.names, 2) if of.finds is not None)
    yield AdjustedFinding(
        tuple(p_of(one.difference) if math.isnan(one.p) else one.p for one in every),
        partial(_changes, of, every),
        "verdicts of runs",
    )


LARGEST_DIFFERENCE = 0.5
"the largest plausible difference of the shares of two runs"


def _changes(of: Compared, found: Sequence[Change], adjusted: Sequence[float]) -> Iterator[OfModel]:
    """Say of every two runs how the verdict differs that the audit is known for, and how many
    others do.
    """
    every = [replace(one, holm=p) for one, p in zip(found, adjusted, strict=True)]
    first = of.kinds[0]
    claimed = claims(
        [one.difference for one in every], adjusted, of.within, [one.bounds for one in every]
    )
    for change, claim in zip(every, claimed, strict=True):
        if change.kind is first or change.kind.name == ANSWERED:
            p = change.holm if claim == DIFFERENT else math.nan
            units = plural(change.sizes[0], change.kind.unit)
            reach = reach_of(
                change.difference, LARGEST_DIFFERENCE, Kind.POINTS, units, "this difference"
            )
            yield OfModel(
                _said(change, claim), "", p=p, reach=reach if claim == UNDECIDED else None
            )
    tested = [one for one in every if not one.untested]
    clear = [one for one in tested if one.holm < CLEAR]
    if tested:
        which = "; ".join(
            f"{one.kind.title} of {one.first} and {one.second}" for one in clear[:NAMED]
        )
        more = f"; {len(clear) - NAMED:,} more" if len(clear) > NAMED else ""
        turned = [
            f"{one.kind.title} of {one.first} and {one.second}"
            for one in clear
            if one.bounds.turn(one.difference.value)
        ]
        could = (
            f"; what is missing could turn {len(turned):,} of these ({', '.join(turned[:NAMED])})"
            if turned
            else ""
        )
        said = (
            f"Adjusted p is below {CLEAR:g} for {len(clear):,} of {len(tested):,} tested "
            "differences"
            f"{f': {which}{more}{could}' if clear else ''}."
        )
        yield OfModel(said, "", p=shown(one.holm for one in clear))


def _said(change: Change, claim: str) -> str:
    whom = f"{change.kind.title} of {change.first} and {change.second}"
    lacks = "".join(f" {text}" for text in (_missing(change),) if text)
    if not change.difference.defined:
        return f"{whom}: {change.difference.undefined}.{lacks}"
    shares = number(change.first_share, Kind.SHARE), number(change.second_share, Kind.SHARE)
    tested = f", p {number(change.holm, Kind.P_VALUE)}" if not change.untested else ""
    tested += f": {claim}" if claim else ""
    return (
        f"{whom}: {shares[0]} and {shares[1]} {change.kind.yes}, a difference of "
        f"{estimate(change.difference, Kind.POINTS)} over "
        f"{plural(change.sizes[0], change.kind.unit)}{tested}.{lacks}"
    )


def _missing(change: Change) -> str:
    """Say of how many items a run lacks a verdict, and what that could make of the difference;
    empty without any.
    """
    both, (first, second) = change.missing[2], change.lacking
    who = [f"{n:,} in {name}" for n, name in ((first, change.first), (second, change.second)) if n]
    if not who:
        return ""
    alike = change.difference.defined and not change.difference.value and change.bounds.wide
    could = bounded(change.difference.value, change.bounds, Kind.POINTS, "the difference")
    return (
        f"Of {plural(change.n, change.kind.unit)}, verdicts are missing on {' and '.join(who)}"
        f"{f' ({both:,} of them in both)' if both else ''}"
        f"{f'; {could}' if could else ''}"
        f"{', so these runs are not shown to be alike' if alike else ''}."
    )
