"""Figures of a pilot: templates by readable answers, stances, and what weaker tests or coarser scales would change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from workbench.audits.consistency_pilot import BEST, AnswerTypes, ScaleCollapse, TemplateRank, WeakerTests
from workbench.domain.verdicts import MeanSd
from workbench.figures.table import AnyTable, Column, Kind, Table

__all__ = ["pilot_tables"]

STANCES = ("agree", "disagree", "reliable_agree", "reliable_disagree")


@dataclass(frozen=True, slots=True)
class _Measure:
    """A measure under several sets of tests."""

    name: str
    kind: Kind
    values: tuple[MeanSd, ...]


def pilot_tables(
    ranks: Sequence[TemplateRank],
    templates: Sequence[str],
    types: AnswerTypes,
    weaker: Sequence[WeakerTests],
    scales: Sequence[ScaleCollapse],
) -> Iterator[AnyTable]:
    """Return the figures of a pilot; without parties' answers there are none of scales."""
    yield _ranks(ranks)
    yield _types(templates, types)
    yield from _weaker(weaker)
    if scales:
        yield _scales(scales)


def _ranks(ranks: Sequence[TemplateRank]) -> Table[TemplateRank]:
    return Table(
        "templates",
        "Templates by the share of answers that can be read",
        ranks,
        [
            Column("rank", "rank", lambda row: row.rank, Kind.COUNT),
            Column("template", "template", lambda row: row.template),
            Column("address", "address", lambda row: row.address),
            Column("chosen", "", lambda row: row.chosen, Kind.MARK, mark="✓"),
            Column("readable", "readable", lambda row: row.readable, Kind.SHARE),
            Column("answers", "answers", lambda row: row.readable.n, Kind.COUNT),
            Column("agree", "agree", lambda row: row.agree, Kind.SHARE, help="of the readable answers"),
            Column("disagree", "disagree", lambda row: row.disagree, Kind.SHARE, help="of the readable answers"),
        ],
        key=lambda row: (row.template,),
        notes=[f"✓ the best {BEST} of each address"],
    )


def _types(templates: Sequence[str], types: AnswerTypes) -> Table[tuple[str, int]]:
    def of(name: str) -> Callable[[tuple[str, int]], float | MeanSd]:
        return lambda row: types.mean(name) if row[1] < 0 else getattr(types, name)[row[1]]

    return Table(
        "answer_types",
        "Statements by stance on the original wording",
        [*((name, place) for place, name in enumerate(templates)), ("mean over templates", -1)],
        [
            Column("template", "template", lambda row: row[0]),
            *(Column(name, name.replace("_", ": "), of(name), Kind.SHARE) for name in STANCES),
        ],
        key=lambda row: (row[0],),
        notes=["“reliable:” is a share of the reliable statements, the others are shares of all"],
    )


def _weaker(weaker: Sequence[WeakerTests]) -> Iterator[Table[_Measure]]:
    """Return what passes, and how far stances on issues depend on the template, under each set of tests."""
    if not weaker:
        return
    measures = [
        _Measure("statements that pass", Kind.SHARE, tuple(of.passed for of in weaker)),
        *(
            _Measure(stance.issue, Kind.SCORE, tuple(of.issues[place].templates for of in weaker))
            for place, stance in enumerate(weaker[-1].issues)
        ),
        _Measure("mean sd of the issues", Kind.COEFFICIENT, tuple(of.spread for of in weaker)),
    ]
    titles = {Kind.SHARE: "passing statements", Kind.SCORE: "stances", Kind.COEFFICIENT: "spread of stances"}
    for kind, title in titles.items():
        yield Table(
            f"weaker_tests_{title.replace(' ', '_')}",
            f"Under weaker sets of tests: {title}, mean (sd) over templates",
            [measure for measure in measures if measure.kind is kind],
            [
                Column("measure", "", lambda row: row.name),
                *(Column(_key(of.name), of.name, _value(place), kind) for place, of in enumerate(weaker)),
            ],
            key=lambda row: (row.name,),
        )


def _value(place: int) -> Callable[[_Measure], MeanSd]:
    return lambda row: row.values[place]


def _key(name: str) -> str:
    return name.replace(",", "").replace(" ", "_")


def _scales(scales: Sequence[ScaleCollapse]) -> Table[ScaleCollapse]:
    return Table(
        "answer_scales",
        "Distances between parties on the full and on the collapsed answer scale",
        scales,
        [
            Column("country", "country", lambda row: row.country),
            Column("statements", "statements", lambda row: row.statements, Kind.COUNT),
            Column("answers", "answers", lambda row: len(row.answers), Kind.COUNT),
            Column("placed", "placed parties", lambda row: row.placed, Kind.COEFFICIENT),
            Column("placed_pairs", "pairs", lambda row: row.placed.n, Kind.COUNT),
            Column("every", "all parties", lambda row: row.every, Kind.COEFFICIENT),
            Column("every_pairs", "pairs", lambda row: row.every.n, Kind.COUNT),
        ],
        key=lambda row: (row.country,),
        definition="Spearman's rank correlation of the distances under the full and the collapsed answers.",
    )
