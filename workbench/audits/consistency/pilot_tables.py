"""Figures of a pilot: templates by readable answers, stances, and what weaker tests or coarser scales would change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from workbench.audits.consistency.pilot import BEST, AnswerTypes, ScaleCollapse, TemplateRank, WeakerTests
from workbench.domain.names import plural
from workbench.domain.verdicts import MeanSd
from workbench.figures.pictures.of_table import Forest
from workbench.figures.table import AnyTable, Column, Kind, Link, Table

STANCES = ("agree", "disagree", "reliable_agree", "reliable_disagree")


def pilot_tables(
    ranks: Sequence[TemplateRank],
    templates: Sequence[str],
    types: AnswerTypes,
    weaker: Sequence[WeakerTests],
    scales: Sequence[ScaleCollapse],
) -> Iterator[AnyTable]:
    """Return the figures of a pilot; without parties' answers there are none of scales."""
    yield template_ranks(ranks)
    yield stance_shares(templates, types)
    if weaker:
        yield weaker_sets(weaker)
    if scales:
        yield answer_scales(scales)


def template_ranks(ranks: Sequence[TemplateRank], name: str = "") -> Table[TemplateRank]:
    """Return the templates by readable answers; `name` is whose, where links shall lead to the statements."""
    return Table(
        "templates",
        "Templates by share of readable answers",
        ranks,
        [
            Column("rank", "rank", lambda row: row.rank, Kind.COUNT),
            Column("template", "template", lambda row: row.template),
            Column("address", "address", lambda row: row.address),
            Column("chosen", "", lambda row: row.chosen, Kind.MARK, mark="✓"),
            Column("readable", "readable", lambda row: row.readable, Kind.SHARE, scale=(0, 1)),
            Column("answers", "answers", lambda row: row.readable.n, Kind.COUNT),
            Column("agree", "agree", lambda row: row.agree, Kind.SHARE, help="of the readable answers"),
            Column("disagree", "disagree", lambda row: row.disagree, Kind.SHARE, help="of the readable answers"),
        ],
        key=lambda row: (row.template,),
        notes=[f"✓ the best {BEST} of each address"],
        definition="Share of the answers with a readable stance, over all wordings.",
        empty="No model has answered yet.",
        link=(lambda row: Link("template_statements", (name, row.template))) if name else None,
        pictures=[Forest(values=["readable"], rows=["template"], series="address")],
    )


def stance_shares(templates: Sequence[str], types: AnswerTypes) -> Table[tuple[str, int]]:
    """Return how many originals a model agrees and disagrees with under each template (Figure 6)."""

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
        notes=["“reliable:” columns are shares of the reliable statements, other columns shares of all"],
        pictures=[Forest(values=STANCES, rows=["template"], axis="share of statements")],
    )


def weaker_sets(weaker: Sequence[WeakerTests]) -> Table[WeakerTests]:
    """Return what passes, and how far stances on issues depend on the template, under each set of tests (Figure 7)."""
    return Table(
        "weaker_tests",
        "Under weaker sets of tests: mean (sd) over templates",
        weaker,
        [
            Column("tests", "tests", lambda row: row.name),
            Column("passed", "passing statements", lambda row: row.passed, Kind.SHARE, short="pass"),
            Column(
                "spread",
                "mean sd of the issues",
                lambda row: row.spread,
                Kind.COEFFICIENT,
                short="sd",
                help="how much stances on issues depend on the template",
            ),
            *(
                Column(issue.issue, issue.issue.replace("_", " "), _stance(place), Kind.SCORE, aside=True)
                for place, issue in enumerate(weaker[-1].issues if weaker else ())
            ),
        ],
        key=lambda row: (row.name,),
        definition="The figures if fewer tests decided which stances are reliable.",
        empty="No model has answered yet.",
        detail=lambda row: [
            f"{plural(len(row.tests), 'test')}: {', '.join(test.replace('_', ' ') for test in row.tests)}"
            if row.tests
            else "no test"
        ],
    )


def _stance(place: int) -> Callable[[WeakerTests], MeanSd]:
    return lambda row: row.issues[place].templates


def answer_scales(scales: Sequence[ScaleCollapse]) -> Table[ScaleCollapse]:
    """Return whether parties stay as far apart when their answers are collapsed (Table 8)."""
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
        definition="Spearman's rank correlation between the distances of parties on all their answers and on agree, "
        "neutral and disagree only: 1 if collapsing the scale changes nothing. A distance is the share of "
        "statements that two parties answer differently.",
        empty="The instrument has no answers from parties, so it has no answer scale.",
        detail=lambda row: [f"parties answered: {', '.join(row.answers)}"],
    )
