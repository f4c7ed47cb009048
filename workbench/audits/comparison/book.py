"""The book of tables of a comparison: its runs, their changes, single items, and time."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

from stores.runs.run_rows import Run
from workbench.audits.chosen_run import NO_LABELS, run_named
from workbench.audits.claims import (
    LEVEL,
    AdjustedFinding,
    Finding,
    OfModel,
    PairsReach,
    Reach,
    p_of,
    reach_of,
    shown,
)
from workbench.audits.comparison.judge import (
    ANSWERED,
    DIFFERENT,
    INCONCLUSIVE,
    OCCASION,
    Change,
    Compared,
    ComparedItem,
    ComparedSide,
    Moment,
    Overall,
    VerdictKind,
    changes,
    claims,
    common,
    comparison_lines,
    differing,
    item_rows,
    over_time,
    overall,
    resolve_run_names,
    versions_of,
)
from workbench.audits.printed import Medium, Printed
from workbench.audits.reported import Reported, ReportRequest
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
from workbench.stats.power import detectable, standard_error

ITEMS = "changed_items"
VERDICTS = {verdict.value for verdict in Verdict}
NO_VERSIONS = (
    "No two of these runs are versions of one model with the same settings, and none "
    "asks another one anew."
)
TWO_VERSIONS = (
    "A test over all versions needs three of them; for the change between two see `over_time`."
)
DIFFERENCE = (
    "Shares are of the items that both runs decide. The interval of their difference is Bonett and "
    "Price's for pairs; p is McNemar's exact test of these pairs. Holm's p keeps the chance of any "
    "false alarm among all tests of the table, Benjamini and Hochberg's the expected share of "
    "false ones."
)
BOUNDS = (
    "The bounds are the least and the greatest difference over all items, those without a "
    "verdict included, whatever "
    "the missing ones are: they are no interval, and of more items than the difference."
)
CLAIM = (
    "different if p, adjusted by Holm's procedure over the differences of the table, is below "
    ".05; the same if the "
    "95 % interval and the bounds lie within ±D of --same-within D; otherwise inconclusive"
)
NOTHING = Estimate(math.nan, math.nan, math.nan, 0, 0, "there is no difference")
APART = (
    "Shares are of the items that each run decides, treated as different items: the interval of "
    "their difference is Newcombe's, and no pair is tested."
)


def book(of: Compared) -> Book:
    """Return every table of a comparison.

    The audit's own tables of differences come last, one for each two runs.
    """
    listed_kinds = [kind for kind in of.kinds if kind.listed]
    pairs = list(combinations(of.names, 2))
    no_versions = "" if any(True for _ in versions_of(of)) else NO_VERSIONS
    no_overall = no_versions or ("" if overall(of) else TWO_VERSIONS)
    # the table of the first two runs has the name of the entry
    own_tables = [(table.name, make) for make in of.differences for table in (make(*pairs[0]),)]
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
                        [(kind.name,) for kind in listed_kinds],
                    )
                ]
                if listed_kinds
                else []
            ),
            *(
                Entry(name, name.replace("_", " "), partial(_own_table, of, make), pairs)
                for name, make in own_tables
            ),
            Entry("over_time", "over time", partial(over_time_table, of), empty=no_versions),
            Entry("over_time_tests", "all versions", partial(overall_table, of), empty=no_overall),
        ],
        behind={ITEMS: partial(_items, of)},
        told=(*comparison_lines(of), *of.rulings.notes()),
        header=(*comparison_lines(of)[:2], *of.rulings.notes()),
        about={"compared": list(of.names), "differ_in": list(differing(of.sides))},
        methods=methods(of),
    )


def _own_table(
    of: Compared, make: Callable[[str, str], AnyTable], first: str, second: str
) -> AnyTable:
    """Return an audit's own table of differences of two runs, with claims."""
    return with_claims(make(first, second), of.within)


def with_claims(table: AnyTable, within: float | None) -> AnyTable:
    """Return a table of differences with a claim about each difference.

    The table is returned unchanged if it has no differences.
    """
    titles = [column.title for column in table.columns]
    if "difference" not in titles or not table.rows:
        return table
    index = titles.index("difference")
    # of columns with one key the first counts
    value_by_key: dict[str, Callable[[Any], Any]] = {
        column.key: column.value for column in reversed(table.columns)
    }
    values = map(table.columns[index].value, table.rows)
    differences = [value if isinstance(value, Estimate) else NOTHING for value in values]
    adjusted_p = value_by_key.get("holm")
    p_values = [math.nan if adjusted_p is None else float(adjusted_p(row)) for row in table.rows]
    lowest, highest = value_by_key.get("lowest"), value_by_key.get("highest")
    bounds = [Bounds(_number(lowest, row), _number(highest, row)) for row in table.rows]
    row_claims = claims(differences, p_values, within, bounds)
    claim_by_key = dict(zip(map(table.key, table.rows), row_claims, strict=True))
    claim: Column[Any] = Column(
        "claim", "claim", lambda row: claim_by_key[table.key(row)], help=CLAIM
    )
    difference_by_key = dict(zip(map(table.key, table.rows), differences, strict=True))

    n_tests = sum(bool(row_claim) for row_claim in row_claims)

    def detectable_difference(row: Any) -> float:
        """Return the difference that the first step of Holm's procedure finds."""
        if claim_by_key[table.key(row)] != INCONCLUSIVE:
            return math.nan
        level = LEVEL / n_tests
        if isinstance(row, Change):
            effect = _change_reach(row).effect(level)
            return effect if math.isfinite(effect) else math.nan
        difference = difference_by_key[table.key(row)]
        return detectable(standard_error(difference.low, difference.high), level=level)

    power: Column[Any] = Column(
        "detectable",
        "found in 80 %",
        detectable_difference,
        Kind.SIZE if table.columns[index].kind is Kind.POINTS else table.columns[index].kind,
        aside=INCONCLUSIVE not in row_claims,
        help="Of an inconclusive difference, the smallest one that 80 % of studies of this design "
        "find, adjusted for the tests of the table. Empty: so few items show none.",
    )
    columns = [*table.columns[: index + 1], claim, power, *table.columns[index + 1 :]]
    return replace(table, columns=columns, notes=[*table.notes, f"claim: {CLAIM}"])


def _number(of: Callable[[Any], Any] | None, row: Any) -> float:
    """Return a number that belongs to a row, or NaN without one."""
    value = None if of is None else of(row)
    return float(value) if isinstance(value, int | float) else math.nan


def tables(of: Compared, *, data: bool) -> Iterator[AnyTable]:
    """Yield the tables that are not empty.

    For a program these are all tables. For people, the table of items has only those that changed,
    by the first verdict with changes.
    """
    for entry in book(of).contents:
        if not entry.empty:
            tables_of_entry = [entry.make(*subject) for subject in entry.subjects]
            yield from (
                tables_of_entry if data or entry.name != ITEMS else _only_changed(tables_of_entry)
            )


def _only_changed(made: Sequence[AnyTable]) -> Iterator[AnyTable]:
    """Yield the table of the first verdict with changed items, restricted to these.

    Nothing is yielded if no item changed.
    """
    for table in made:
        if changed_rows := [row for row in table.rows if row.changed]:
            yield replace(table, rows=changed_rows)
            return


def methods(of: Compared) -> str:
    """Return one paragraph on the methods of the comparison."""
    return " ".join(
        [
            *(line.removeprefix("! ") for line in comparison_lines(of)),
            "A pair of verdicts is decided where both runs pass or fail, or take a side. "
            "McNemar's exact test is of these pairs, and the interval of a difference of paired "
            "shares is that of Bonett and Price (2012), of unpaired ones Newcombe's (1998, method "
            "10). p values were adjusted over all tests by Holm (1979) and by Benjamini and "
            "Hochberg (1995). Bounds of a difference take every missing verdict for either of the "
            "two (Manski 2003).",
        ]
    )


def compared_runs(of: Compared) -> Table[ComparedSide]:
    """Return the table of runs: their factors, and the number of items they are compared on."""
    differing_factors = differing(of.sides)
    return Table(
        "compared_runs",
        "Runs compared",
        of.sides,
        [
            Column("run", "run", lambda side: side.name),
            *_main_columns(of, lambda side: side.main_figure),
            *_columns_beside(of),
            *_factor_columns(of, differing_factors),
            Column(
                "asked",
                "asked last (UTC)",
                lambda side: side.last[:16].replace("T", " "),
                aside=OCCASION not in differing_factors,
            ),
            *_item_columns(of),
        ],
        key=lambda side: (side.name,),
        notes=comparison_lines(of),
    )


def _factor_columns(
    of: Compared, differing_factors: Container[str]
) -> Iterator[Column[ComparedSide]]:
    """Yield the columns of the factors that some run has, aside if they add nothing."""
    for name in of.sides[0].factors:
        if not {side.factors.get(name, "") for side in of.sides} - {"", FIRST}:
            continue
        is_redundant = name not in differing_factors or all(
            side.factors.get(name) == side.name for side in of.sides
        )
        yield Column(name, name, partial(_factor, name), aside=is_redundant)


def _factor(name: str, side: ComparedSide) -> str:
    """Return the level of a run's factor, or an empty string without it."""
    return side.factors.get(name, "")


def _item_columns(of: Compared) -> list[Column[ComparedSide]]:
    """Return the columns of the numbers of items, on the first kind of verdict."""
    first_kind = of.kinds[0]
    common_items = common(first_kind, of.sides)
    return [
        Column(
            "items",
            f"{first_kind.units}",
            lambda side: len(side.found.get(first_kind.name, {})),
            Kind.COUNT,
        ),
        Column(
            "common",
            "compared",
            lambda _: len(common_items.items),
            Kind.COUNT,
            help="asked of all these runs",
        ),
        Column(
            "alone",
            "not of all",
            lambda side: common_items.missing[side.name],
            Kind.COUNT,
            help=f"{first_kind.units} not asked of some other run",
        ),
        Column(
            "reworded",
            "other words",
            lambda _: common_items.reworded,
            Kind.COUNT,
            help="asked in different words in one language",
            aside=not common_items.reworded,
        ),
    ]


def _main_columns(of: Compared, value: Callable[[Any], Any]) -> list[Column[Any]]:
    """Return the column of the audit's main figure, or nothing if no run has it."""
    if not of.main or all(side.main is None for side in of.sides):
        return []
    scale = (-1.0, 1.0) if of.main_kind is Kind.SCORE else (0.0, 1.0)
    return [Column("main", of.main, value, of.main_kind, scale=scale, help="of the whole run")]


def _columns_beside(of: Compared) -> Iterator[Column[ComparedSide]]:
    """Yield the columns of the values beside the main figure."""
    for title, value in of.sides[0].beside.items():
        kind = of.main_kind if isinstance(value, Estimate) else Kind.TEXT
        yield Column(title.replace(" ", "_"), title, partial(_value_beside, title), kind)


def _value_beside(title: str, side: ComparedSide) -> Estimate | str | None:
    """Return a run's value for a column beside the main figure, or None without it."""
    return side.beside.get(title)


def changes_table(of: Compared) -> Table[Change]:
    """Return the differences of every kind of verdict between every two runs."""
    rows = changes(of)
    complete = not any(map(any, (row.missing for row in rows)))
    is_unpaired = bool(common(of.kinds[0], of.sides).unpaired)
    return Table(
        "changes",
        "Changes between the runs",
        rows,
        [
            Column("verdict", "verdict", lambda row: row.kind.title),
            Column("first", "first", lambda row: row.first, aside=len(of.sides) < 3),
            Column("second", "second", lambda row: row.second, aside=len(of.sides) < 3),
            *_ChangeColumns(lambda row: row, len(of.sides) < 3, complete).all(),
        ],
        key=lambda row: (row.kind.name, row.first, row.second),
        definition=f"{APART if is_unpaired else DIFFERENCE}{'' if complete else f' {BOUNDS}'}",
        notes=[_yes_note(of.kinds), *_names_note(of), *_no_picture_note(of)],
        pictures=()
        if of.untested
        else [Forest(values=("difference",), rows=("verdict", "first", "second"))],
        link=lambda row: Link(ITEMS, (row.kind.name,)) if row.kind.listed else None,
        detail=lambda row: [text for text in (row.untested, _missing_sentence(row)) if text],
    )


def _yes_note(kinds: Sequence[VerdictKind]) -> str:
    """Return the sentence on the verdicts that shares count."""
    titles_by_verdicts: dict[tuple[str, str], list[str]] = {}
    for kind in kinds:
        titles_by_verdicts.setdefault((kind.yes, kind.no), []).append(kind.title)
    phrases = [
        f"{yes} (against {no})"
        + (f" of {', '.join(titles)}" if len(titles_by_verdicts) > 1 else "")
        for (yes, no), titles in titles_by_verdicts.items()
    ]
    return f"Shares are of the verdict {'; '.join(phrases)}; any other verdict is undecided."


def _no_picture_note(of: Compared) -> list[str]:
    """Return the reason why shares of verdicts have no picture, or nothing if they have one."""
    return [f"There is no picture of these shares: {of.untested}."] if of.untested else []


def _names_note(of: Compared) -> list[str]:
    """Return the note with the names of the two runs, or nothing for more runs."""
    return [f"first: {of.sides[0].name}; second: {of.sides[1].name}"] if len(of.sides) < 3 else []


@dataclass(frozen=True, slots=True)
class _ChangeColumns:
    """The columns of the change between two runs. They are empty in rows without a change."""

    change_of: Callable[[Any], Change | None]
    "returns the change of a row"
    of_two_runs: bool = True
    "False if the table compares more runs, which puts the shares aside"
    is_complete: bool = True
    "False if some verdicts are missing, which shows their numbers and the bounds"

    def all(self) -> list[Column[Any]]:
        """Return all columns in their order."""
        return [
            *self.sizes(),
            *self.shares(),
            *self.missing_verdicts(),
            *self.pairs(),
            *self.tests(),
        ]

    def sizes(self) -> list[Column[Any]]:
        """Return the numbers of items behind the shares."""
        return [
            Column(
                "n",
                "n",
                self._value(lambda change: change.sizes[0]),
                Kind.COUNT,
                help="items behind the first share: those decided in both runs; if unpaired, in "
                "the first",
            ),
            Column(
                "second_n",
                "n, second",
                self._value(lambda change: change.sizes[1]),
                Kind.COUNT,
                aside=True,
                help="the same for the second share",
            ),
            Column(
                "common",
                "asked of all",
                self._value(lambda change: change.n),
                Kind.COUNT,
                aside=True,
                help="items asked of all runs",
            ),
            Column(
                "undecided",
                "undecided",
                self._value(lambda change: change.undecided),
                Kind.COUNT,
                aside=True,
                help="of these, not decided in one of the two runs",
            ),
        ]

    def shares(self) -> list[Column[Any]]:
        """Return the shares of both runs and their difference."""
        return [
            Column(
                "first_share",
                "first share",
                self._value(lambda change: change.first_share),
                Kind.SHARE,
                aside=not self.of_two_runs,
                short="1st",
            ),
            Column(
                "second_share",
                "second share",
                self._value(lambda change: change.second_share),
                Kind.SHARE,
                aside=not self.of_two_runs,
                short="2nd",
            ),
            Column(
                "difference",
                "difference",
                self._value(lambda change: change.difference),
                Kind.POINTS,
                scale=(-1, 1),
                help="second share minus first",
            ),
        ]

    def missing_verdicts(self) -> list[Column[Any]]:
        """Return the numbers of missing verdicts, and the bounds of the difference with them."""
        return [
            Column(
                "missing_first",
                "missing, first",
                self._value(lambda change: change.lacking[0]),
                Kind.COUNT,
                aside=self.is_complete,
                short="miss. 1st",
                help="items asked of all that have no verdict in the first run for lack of answers",
            ),
            Column(
                "missing_second",
                "missing, second",
                self._value(lambda change: change.lacking[1]),
                Kind.COUNT,
                aside=self.is_complete,
                short="miss. 2nd",
                help="the same in the second run",
            ),
            Column(
                "missing_both",
                "missing, both",
                self._value(lambda change: change.missing[2]),
                Kind.COUNT,
                aside=True,
                help="of these, missing in both",
            ),
            Column(
                "lowest",
                "lower bound",
                self._value(lambda change: change.bounds.low),
                Kind.POINTS,
                aside=self.is_complete,
                short="least",
                help="the least difference over all items, whatever the missing verdicts are; no "
                "interval",
            ),
            Column(
                "highest",
                "upper bound",
                self._value(lambda change: change.bounds.high),
                Kind.POINTS,
                aside=self.is_complete,
                short="most",
                help="the greatest difference over all items",
            ),
        ]

    def pairs(self) -> list[Column[Any]]:
        """Return the numbers of equal and of changed verdicts among the items of both runs."""
        return [
            Column(
                "same",
                "same verdict",
                self._value(lambda change: change.same),
                Kind.SHARE,
                scale=(0, 1),
                short="same",
                help="of the items that both runs decide",
                aside=not self.of_two_runs,
            ),
            Column(
                "lost",
                "lost",
                self._value(lambda change: change.lost),
                Kind.COUNT,
                help="decided pairs: yes first, then no",
            ),
            Column(
                "gained",
                "gained",
                self._value(lambda change: change.gained),
                Kind.COUNT,
                help="decided pairs: no first, then yes",
            ),
        ]

    def tests(self) -> list[Column[Any]]:
        """Return the p values, and the reason why there are none."""
        return [
            Column(
                "p",
                "p",
                self._value(lambda change: change.p),
                Kind.P_VALUE,
                help="McNemar's exact test, two-sided",
                aside=True,
            ),
            Column(
                "holm",
                "p, Holm",
                self._value(lambda change: change.holm),
                Kind.P_VALUE,
                help="adjusted over all tests here",
            ),
            Column(
                "false_discovery",
                "p, BH",
                self._value(lambda change: change.false_discovery),
                Kind.P_VALUE,
                aside=True,
                help="by Benjamini and Hochberg, over all tests here",
            ),
            Column(
                "untested", "why no test", self._value(lambda change: change.untested), aside=True
            ),
        ]

    def _value(self, get: Callable[[Change], Any]) -> Callable[[Any], Any]:
        """Return an accessor of a change's value by row."""
        return partial(_value_of_change, self.change_of, get)


def _value_of_change(
    change_of: Callable[[Any], Change | None], get: Callable[[Change], Any], row: Any
) -> Any:
    """Return a value of a row's change, or None in a row without a change."""
    change = change_of(row)
    return None if change is None else get(change)


def changed_items(of: Compared, kind: VerdictKind) -> Table[ComparedItem]:
    """Return the verdicts of all runs on every item.

    The items that changed come first. The others are minor rows.
    """
    rows = sorted(item_rows(of, kind), key=lambda row: not row.changed)
    sizes = sum(row.changed for row in rows), sum(not row.compared for row in rows)

    def column(index: int, side: ComparedSide) -> Column[ComparedItem]:
        """Return the column of a run's verdicts."""
        return Column(
            f"verdict_{index + 1}",
            side.name,
            lambda row: _verdict(row.verdicts[index]),
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
            *(column(index, side) for index, side in enumerate(of.sides)),
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
    """Return the kind of column for verdicts."""
    return Kind.VERDICT if {kind.yes, kind.no} <= VERDICTS else Kind.TEXT


def _verdict(text: str) -> Verdict | str | None:
    """Return a verdict as the type that its column takes, or None without a verdict."""
    if not text:
        return None
    return Verdict(text) if text in VERDICTS else text


def _items(of: Compared, name: str = "") -> AnyTable:
    """Return the items of a kind of verdict, or of the first kind that may be listed."""
    return changed_items(
        of, of.kind(name) if name else next(kind for kind in of.kinds if kind.listed)
    )


def over_time_table(of: Compared) -> Table[Moment]:
    """Return every version or occasion of a model, in the order in which they were asked.

    Each row has the change since the previous one.
    """
    rows = over_time(of)
    side_by_name: Mapping[str, ComparedSide] = {side.name: side for side in of.sides}
    return Table(
        "over_time",
        "A model over time",
        rows,
        [
            *_version_columns(of, rows),
            Column("share", "share", lambda row: row.share, Kind.SHARE, scale=(0, 1)),
            *(
                replace(column, aside=True)
                for column in _main_columns(of, lambda row: side_by_name[row.side.name].main_figure)
            ),
            *(
                replace(column, aside=column.key not in ("difference", "holm"))
                for column in _ChangeColumns(lambda row: row.change).all()
                if "share" not in column.key
            ),
        ],
        key=lambda row: (row.kind.name, row.side.name),
        definition="Versions are in the order in which they were last asked. Shares are of the "
        "items that every "
        "version was asked and that each decides; other columns compare with the previous "
        f"version. {DIFFERENCE}",
        notes=[_yes_note(of.kinds), *_no_picture_note(of)],
        empty=NO_VERSIONS,
        pictures=() if of.untested else [Curves(x="order", values=("share",), series="verdict")],
        link=lambda row: Link(ITEMS, (row.kind.name,)) if row.kind.listed else None,
    )


def _version_columns(of: Compared, rows: Sequence[Moment]) -> list[Column[Moment]]:
    """Return the columns of a version of a model, and of when it was asked."""
    order_by_name: dict[str, int] = {}
    for sides in versions_of(of):
        order_by_name.update({side.name: order for order, side in enumerate(sides, start=1)})
    has_repeats = any(side.factors.get(OCCASION, FIRST) != FIRST for side in of.sides)
    return [
        Column(
            "version",
            "version",
            lambda row: row.side.factors.get("version", "") or row.side.name,
        ),
        Column("verdict", "verdict", lambda row: row.kind.title),
        Column("model", "model", lambda row: row.model, aside=len({row.model for row in rows}) < 2),
        Column(
            "order",
            "order of being asked",
            lambda row: order_by_name[row.side.name],
            Kind.COUNT,
            aside=True,
        ),
        Column(
            "occasion",
            "occasion",
            lambda row: row.side.factors.get(OCCASION, ""),
            aside=not has_repeats,
        ),
        Column(
            "asked",
            "asked last (UTC)",
            lambda row: row.side.last[:16].replace("T", " "),
            aside=not has_repeats,
        ),
    ]


def overall_table(of: Compared) -> Table[Overall]:
    """Return the test over three or more versions of a model at once."""
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
    """Return a comparison for printing.

    Parameters
    ----------
    about : the basis of the figures, in addition to the facts about the comparison
    beside : the audit's own tables that the user requested by name, which come first
    """
    comparison_book = book(of)
    return Printed(
        (*beside, *tables(of, data=medium.data)),
        {**(about or {}), **comparison_book.about, "methods": comparison_book.methods},
        comparison_book.title,
        of.rulings.notes(),  # the first table says what is compared
        comparison_book.notes,
        comparison_book.header,
    )


CLEAR, NAMED = 0.05, 5
"level of p, and the largest number of differences that a finding names"
LIMITS = (
    "Runs are compared over the items that all of them were asked in the same words; items asked "
    "of only one run say nothing about the others.",
    "A test that finds no difference does not show that there is none: the interval says how "
    "large it may be.",
)


def names_wanted(
    request: ReportRequest, there: Mapping[str, str], labels: Mapping[str, str] = NO_LABELS
) -> tuple[str, ...]:
    """Return the runs that a report compares, or nothing if fewer than two of them are named.

    Parameters
    ----------
    there : the model of each run
    labels : the name of the run for each longer name that lists print
    """
    known_names = [name for name in request.compare if _is_among(name, there, labels)]
    return resolve_run_names(known_names, there, labels) if len(known_names) > 1 else ()


def _is_among(name: str, there: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    """Return whether a name stands for a run."""
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
    """Return a comparison as a section of a report.

    Parameters
    ----------
    what : subject of the comparison: `Reliability`
    runs : the compared runs by name
    command : the command that prints it, without the names of the runs
    """
    within = "" if of.within is None else f" {SAME_WITHIN.flag} {of.within:g}"
    comparison_book = book(of)
    return Reported(
        title=f"{what} side by side: {', '.join(of.names)}",
        instrument=instrument,
        runs={name: runs[name] for name in of.names if name in runs},
        book=replace(comparison_book, title=f"{what} side by side"),
        findings=tuple(_findings(of)),
        command=f"{command} --compare {' '.join(map(shlex.quote, of.names))}{within}",
        rulings=of.rulings,
        limits=LIMITS,
        shown=[entry.name for entry in comparison_book.contents],
        files="side-by-side",
    )


def _findings(of: Compared) -> Iterator[Finding]:
    """Yield the findings of a comparison: its main figures, then the changes of verdicts."""
    all_changes = changes(of)
    yield from (of.finds(*pair) for pair in combinations(of.names, 2) if of.finds is not None)
    yield AdjustedFinding(
        tuple(
            p_of(change.difference) if math.isnan(change.p) else change.p for change in all_changes
        ),
        partial(_change_findings, of, all_changes),
        "verdicts of runs",
    )


LARGEST_DIFFERENCE = 0.5
"the largest plausible difference of the shares of two runs"


def _change_findings(
    of: Compared, found: Sequence[Change], adjusted: Sequence[float]
) -> Iterator[OfModel]:
    """Yield findings on the main verdict and on missing ones, and one on all tested changes."""
    adjusted_changes = [replace(change, holm=p) for change, p in zip(found, adjusted, strict=True)]
    change_claims = claims(
        [change.difference for change in adjusted_changes],
        adjusted,
        of.within,
        [change.bounds for change in adjusted_changes],
    )
    for change, claim in zip(adjusted_changes, change_claims, strict=True):
        if change.kind is of.kinds[0] or change.kind.name == ANSWERED:
            yield _finding_on_change(change, claim)
    tested = [change for change in adjusted_changes if not change.untested]
    if tested:
        yield _finding_on_all_changes(tested)


def _finding_on_change(change: Change, claim: str) -> OfModel:
    """Return the finding on one change, with its precision if it is inconclusive."""
    sentence = _change_sentence(change, claim)
    p = change.holm if claim == DIFFERENT else math.nan
    reach = None
    if claim == INCONCLUSIVE:
        reach = _change_reach(change)
    return OfModel(sentence, "", p=p, reach=reach)


def _change_reach(change: Change) -> Reach:
    """Return the precision of the test of a change."""
    n_pairs = change.sizes[0]
    units = plural(n_pairs, change.kind.unit)
    reach = reach_of(change.difference, LARGEST_DIFFERENCE, Kind.POINTS, units, "this difference")
    if change.untested or not n_pairs:
        return reach
    discordance = 2 * min(change.lost, change.gained) / n_pairs
    return PairsReach(
        reach.error,
        reach.largest,
        reach.kind,
        reach.units,
        reach.claim,
        n_pairs=n_pairs,
        discordance=discordance,
    )


def _finding_on_all_changes(tested: Sequence[Change]) -> OfModel:
    """Return the finding on the number of significant changes, which names the first of them."""
    significant = [change for change in tested if change.holm < CLEAR]
    names_text = ""
    if significant:
        named_changes = "; ".join(map(_change_name, significant[:NAMED]))
        names_text = f": {named_changes}"
        if len(significant) > NAMED:
            names_text += f"; {len(significant) - NAMED:,} more"
        reversible = [
            _change_name(change)
            for change in significant
            if change.bounds.turn(change.difference.value)
        ]
        if reversible:
            examples = ", ".join(reversible[:NAMED])
            names_text += f"; what is missing could turn {len(reversible):,} of these ({examples})"
    sentence = (
        f"Adjusted p is below {CLEAR:g} for {len(significant):,} of {len(tested):,} tested "
        f"differences{names_text}."
    )
    return OfModel(sentence, "", p=shown(change.holm for change in significant))


def _change_name(change: Change) -> str:
    """Return the name of a change in a sentence."""
    return f"{change.kind.title} of {change.first} and {change.second}"


def _change_sentence(change: Change, claim: str) -> str:
    """Return the sentence on a change, with its claim and its missing verdicts."""
    subject = f"{change.kind.title} of {change.first} and {change.second}"
    missing_text = "".join(f" {text}" for text in (_missing_sentence(change),) if text)
    if not change.difference.defined:
        return f"{subject}: {change.difference.undefined}.{missing_text}"
    shares = number(change.first_share, Kind.SHARE), number(change.second_share, Kind.SHARE)
    result = f", p {number(change.holm, Kind.P_VALUE)}" if not change.untested else ""
    result += f": {claim}" if claim else ""
    return (
        f"{subject}: {shares[0]} and {shares[1]} {change.kind.yes}, a difference of "
        f"{estimate(change.difference, Kind.POINTS)} over "
        f"{plural(change.sizes[0], change.kind.unit)}{result}.{missing_text}"
    )


def _missing_sentence(change: Change) -> str:
    """Return the sentence on missing verdicts, or an empty string if none is missing.

    It has the numbers by run, and the effect that they could have on the difference.
    """
    n_both, (n_first, n_second) = change.missing[2], change.lacking
    n_by_run = [
        f"{n_missing:,} in {name}"
        for n_missing, name in ((n_first, change.first), (n_second, change.second))
        if n_missing
    ]
    if not n_by_run:
        return ""
    is_unproven = change.difference.defined and not change.difference.value and change.bounds.wide
    limits = bounded(change.difference.value, change.bounds, Kind.POINTS, "the difference")
    return (
        f"Of {plural(change.n, change.kind.unit)}, verdicts are missing on {' and '.join(n_by_run)}"
        f"{f' ({n_both:,} of them in both)' if n_both else ''}"
        f"{f'; {limits}' if limits else ''}"
        f"{', so these runs are not shown to be alike' if is_unproven else ''}."
    )
