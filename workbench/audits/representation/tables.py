"""The tables of the likeness to people: models, groups, personas, questions and options."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.audits.by_persona import columns
from workbench.audits.reported import ModelFigures, of_all_models
from workbench.audits.representation.asking import PRINTED, REVERSED
from workbench.audits.representation.findings import MANY_MISSING
from workbench.audits.representation.judged import LikenessData
from workbench.audits.representation.likeness import Likenesses, RankedGroup
from workbench.audits.representation.steering import Steered, steering
from workbench.domain.questionnaires import named_few
from workbench.domain.verdicts import Estimate
from workbench.errors import UnknownName
from workbench.figures.pictures.of_table import Forest
from workbench.figures.shown import number
from workbench.figures.table import Column, Kind, Link, Table
from workbench.stats.hypothesis_tests import holm

SHARE, GAP = (0.0, 1.0), (-1.0, 1.0)
SHOWN = 3
"number of groups next to a model's answers in a narrow table"


@dataclass(frozen=True, slots=True)
class ModelLikeness:
    """A row of the table of models: the likeness of one of them to people."""

    model: str
    likenesses: Likenesses
    p_adjusted: float
    "of no difference from the best answers without an opinion, adjusted over the models"

    def nearest_group(self, kind: str) -> str:
        """Return the nearest group of a kind, or an empty string if none is ranked."""
        ranked = self.likenesses.rankings[kind]
        return ranked[0].population.value if ranked else ""


def models(likeness_data: LikenessData) -> Table[ModelLikeness]:
    """Return the table of each model's likeness to people, and that of random letters."""
    p_values = [likenesses.weakest_claim[1] for likenesses in likeness_data.likenesses.values()]
    adjusted = holm(np.array(p_values)).tolist()
    rows = [
        ModelLikeness(name, likenesses, p)
        for (name, likenesses), p in zip(likeness_data.likenesses.items(), adjusted, strict=True)
    ]
    return Table(
        "models",
        "Likeness to people's answers",
        rows,
        [
            *_likeness_columns(),
            *_counted_likeness_columns(),
            *_baseline_columns(),
            *(_nearest_group_column(kind) for kind in likeness_data.kinds),
            *_missing_answers_columns(likeness_data),
            *_comparability_columns(likeness_data),
        ],
        key=lambda row: (row.model,),
        definition="100 %: the model's shares of answers are people's on every question. 0 %: they "
        "are no closer than those of random letters.",
        link=lambda row: Link("groups" if likeness_data.kinds else "questions", (row.model,)),
        pictures=[Forest(values=["above_chance"], rows=["way", "model"])],
    )


def _shown_above_chance(likenesses: Likenesses) -> Estimate:
    """Return the likeness on the scale from random letters to people, undefined off that scale."""
    estimate = likenesses.above_chance
    reason = ""
    if likenesses.missing_share >= MANY_MISSING:
        share = number(likenesses.missing_share, Kind.SHARE)
        reason = f"{share} of the answers missing, see least and most"
    elif estimate.value < 0:
        reason = "less like people than random letters"
    if not reason:
        return estimate
    return Estimate(math.nan, math.nan, math.nan, estimate.n, estimate.excluded, reason)


def all_models(likeness_data: LikenessData) -> Table[ModelFigures]:
    """Return the table of the likeness of every model, for a comparison of all models."""
    rows = []
    for name, likenesses in likeness_data.likenesses.items():
        least, most = likenesses.bounds
        values: dict[str, Estimate | float | None] = {
            "above_chance": _shown_above_chance(likenesses),
            "likeness": likenesses.overall,
            "random": likenesses.even_overall,
            "asked": len(likenesses.missing),
            "missing": likenesses.missing_share,
            "least": least,
            "most": most,
        }
        rows.append(ModelFigures(name, values))
    return of_all_models(
        "Likeness to people's answers",
        rows,
        {"above_chance": "above random letters"},
        Kind.SHARE,
        more={
            "likeness": ("likeness", Kind.SHARE),
            "random": ("of random letters", Kind.SHARE),
            "asked": ("questions", Kind.COUNT),
            "missing": ("missing answers", Kind.SHARE),
            "least": ("least", Kind.SHARE),
            "most": ("most", Kind.SHARE),
        },
        scale=SHARE,
        definition="Above random letters: 100 % if the model's shares of answers are people's on "
        "every question, 0 % if they are no closer than those of random letters. Likeness is 1 "
        "minus the mean distance to people's answers. Least and most: the likeness whatever the "
        "missing answers are.",
    )


def _likeness_columns() -> list[Column[ModelLikeness]]:
    """Return the columns of a model's likeness to people."""
    return [
        Column("model", "model", lambda row: row.model, main=True),
        Column(
            "above_chance",
            "above chance",
            lambda row: _shown_above_chance(row.likenesses),
            Kind.SHARE,
            scale=GAP,
            help="Likeness between that of random letters (0 %) and of people's own answers "
            "(100 %).",
        ),
        Column(
            "likeness",
            "likeness",
            lambda row: row.likenesses.overall,
            Kind.SHARE,
            scale=SHARE,
            reference=lambda row: row.likenesses.even_overall,
            help="Mean over questions of 1 minus the distance to people's answers, without "
            "the noise of counting.",
        ),
        Column(
            "random",
            "random letters",
            lambda row: row.likenesses.even_overall,
            Kind.SHARE,
            short="random",
            help="The same of letters at random.",
        ),
    ]


def _counted_likeness_columns() -> list[Column[ModelLikeness]]:
    """Return the columns of the likeness with the noise of counting."""
    return [
        Column(
            "counted",
            "as counted",
            lambda row: row.likenesses.counted,
            Kind.SHARE,
            scale=SHARE,
            aside=True,
            reference=lambda row: row.likenesses.chance,
            help="Likeness with the noise of counting letters and people, as it was published.",
        ),
        Column(
            "chance",
            "random as counted",
            lambda row: row.likenesses.chance,
            Kind.SHARE,
            aside=True,
            help="The same of letters drawn at random, as many as the model gave.",
        ),
        Column(
            "difference",
            "difference",
            lambda row: row.likenesses.over_random[0],
            Kind.POINTS,
            scale=GAP,
            aside=True,
            help="Both as counted: likeness minus that of random letters, question by question.",
        ),
    ]


def _baseline_columns() -> list[Column[ModelLikeness]]:
    """Return the columns of the test against answers without an opinion."""
    return [
        Column(
            "baseline",
            "nearest baseline",
            lambda row: row.likenesses.weakest_claim[0],
            aside=True,
            help="The answers without an opinion that the model surpasses least: the test is "
            "against these.",
        ),
        Column(
            "p_holm",
            "p (Holm)",
            lambda row: row.p_adjusted,
            Kind.P_VALUE,
            help="Of no difference from the best answers without an opinion; over the models.",
        ),
    ]


def _nearest_group_column(kind: str) -> Column[ModelLikeness]:
    """Return the column of the nearest group of a kind."""
    return Column(
        f"nearest_{kind}",
        f"nearest by {kind}",
        lambda row: row.nearest_group(kind),
        help="First of its kind; see the groups.",
    )


def _missing_answers_columns(likeness_data: LikenessData) -> list[Column[ModelLikeness]]:
    """Return the columns of the questions that were asked, and of the missing answers."""
    has_many_missing = any(
        likenesses.missing_share >= MANY_MISSING for likenesses in likeness_data.likenesses.values()
    )
    return [
        Column(
            "asked",
            "asked",
            lambda row: len(row.likenesses.missing),
            Kind.COUNT,
            help="Questions that were asked.",
        ),
        Column(
            "questions",
            "answered",
            lambda row: len(row.likenesses.refs),
            Kind.COUNT,
            help="Questions with a valid answer in both orders of the options.",
        ),
        Column(
            "missing",
            "missing",
            lambda row: row.likenesses.missing_share,
            Kind.SHARE,
            help="Share of the answers that were asked for without an offered letter.",
        ),
        Column(
            "least",
            "least",
            lambda row: row.likenesses.bounds[0],
            Kind.SHARE,
            aside=not has_many_missing,
            help="Likeness over all asked questions if the missing answers were as unlike as "
            "possible.",
        ),
        Column(
            "most",
            "most",
            lambda row: row.likenesses.bounds[1],
            Kind.SHARE,
            aside=not has_many_missing,
            help="The same if they were as like as possible.",
        ),
    ]


def _comparability_columns(likeness_data: LikenessData) -> list[Column[ModelLikeness]]:
    """Return the columns on the limits of a comparison of models."""
    common_refs = _common(likeness_data)
    return [
        Column(
            "common",
            "common questions",
            lambda row: _over(row.likenesses, common_refs),
            Kind.SHARE,
            aside=True,
            help=f"Likeness over the {len(common_refs)} questions that all models answered.",
        ),
        Column(
            "way",
            "answers",
            lambda row: "computed" if likeness_data.answers[row.model].exact else "drawn",
            aside=True,
            help="Computed probabilities and drawn letters are not ranked beside each other.",
        ),
        Column(
            "order",
            "moved by order",
            lambda row: likeness_data.answers[row.model].moved(),
            Kind.SHARE,
            help="Mean total variation between the two orders of the options: 0 % if the "
            "order changes nothing.",
        ),
    ]


def _common(likeness_data: LikenessData) -> list[str]:
    """Return the questions that all models answered."""
    refs = [set(likenesses.refs) for likenesses in likeness_data.likenesses.values()]
    return sorted(set.intersection(*refs)) if refs else []


def _over(likenesses: Likenesses, refs: Sequence[str]) -> Estimate:
    """Return the likeness over some of the questions."""
    return replace(
        likenesses, answers={ref: likenesses.answers[ref] for ref in refs}, missing={}
    ).overall


def over_pairs(ranked: Sequence[RankedGroup]) -> list[float]:
    """Return the p of every group but the first, adjusted by Holm's procedure over all pairs.

    All pairs count, because the first group is the first by these answers. Of 20 groups that are
    all as near, one would otherwise be "shown" to be farther in 19 of 100 surveys (2,000
    simulations). With this adjustment it is so in 3.
    """
    p = [ranked_group.p for ranked_group in ranked[1:]]
    n_other_pairs = math.comb(len(ranked), 2) - len(p)
    adjusted: list[float] = holm(np.array(p + [1.0] * n_other_pairs)).tolist()
    return [math.nan] * bool(ranked) + adjusted[: len(p)]


@dataclass(frozen=True, slots=True)
class GroupLikeness:
    """A row of the table of groups: the likeness of a model to one of them."""

    model: str
    likenesses: Likenesses
    ranked: RankedGroup
    p_adjusted: float
    "of being as near as the first group, adjusted over all pairs; NaN for the first and unranked"

    def bounds(self) -> tuple[float, float]:
        """Return the least and the greatest likeness, whatever people without an answer think."""
        return self.likenesses.bounds_of_people(self.ranked.population)


def groups(likeness_data: LikenessData, names: Sequence[str]) -> Table[GroupLikeness]:
    """Return the table of the groups of each model, the nearest of each kind first."""
    rows: list[GroupLikeness] = []
    for name in names:
        for kind in likeness_data.kinds:
            rows += _groups_of_kind(name, likeness_data.likenesses[name], kind)
    is_about_one = len(names) == 1
    return Table(
        "groups",
        f"Groups, nearest first: {names[0]}" if is_about_one else "Groups, nearest first",
        rows,
        [
            *_group_likeness_columns(is_about_one=is_about_one),
            *_rank_columns(),
            *_unanswered_columns(),
            *_size_columns(),
        ],
        key=lambda row: (row.model, row.ranked.population.name),
        subject=tuple(names) if is_about_one else (),
        definition="How like the model's answers are to those of each group, and how sure the "
        "order is.",
        link=lambda row: Link("questions", (row.model,)),
        pictures=[Forest(values=["likeness"], rows=["kind", "group"], series="model")],
    )


def _groups_of_kind(name: str, likenesses: Likenesses, kind: str) -> Iterator[GroupLikeness]:
    """Yield the ranked groups of a kind, and then those without a rank."""
    ranking = likenesses.rankings[kind]
    for ranked, p in zip(ranking, over_pairs(ranking), strict=True):
        yield GroupLikeness(name, likenesses, ranked, p)
    for unranked in likenesses.unranked(kind):
        yield GroupLikeness(name, likenesses, unranked, math.nan)


def _group_likeness_columns(*, is_about_one: bool) -> list[Column[GroupLikeness]]:
    """Return the columns of a group and of a model's likeness to it.

    The model is aside if all rows are about one.
    """
    return [
        Column("model", "model", lambda row: row.model, aside=is_about_one),
        Column("kind", "by", lambda row: row.ranked.population.kind),
        Column("group", "group", lambda row: row.ranked.population.value, main=True),
        Column(
            "likeness",
            "likeness",
            lambda row: row.ranked.likeness,
            Kind.SHARE,
            scale=SHARE,
            help="Without the noise of counting, over the questions that all ranked groups have.",
        ),
        Column(
            "at_equal_n",
            "at equal n",
            lambda row: row.ranked.at_equal_n,
            Kind.SHARE,
            aside=True,
            help="As counted if every group had as many people as the smallest: the ranks are "
            "by it.",
        ),
    ]


def _rank_columns() -> list[Column[GroupLikeness]]:
    """Return the columns of the order of groups, and of how sure it is."""
    return [
        Column("rank", "rank", lambda row: row.ranked.rank, Kind.COUNT),
        Column(
            "ranks",
            "ranks",
            lambda row: "–".join(map(str, dict.fromkeys(row.ranked.ranks))),
            help="In 95 % of the draws.",
        ),
        Column(
            "behind",
            "behind the first",
            lambda row: row.ranked.behind,
            Kind.POINTS,
            short="behind",
            help="How much nearer the first group is, question by question.",
        ),
        Column(
            "p_holm",
            "p (Holm)",
            lambda row: row.p_adjusted,
            Kind.P_VALUE,
            help="That it is as near as the first; over all pairs of groups.",
        ),
        Column(
            "even",
            "even answers",
            lambda row: row.ranked.even,
            Kind.SHARE,
            aside=True,
            short="even",
            help="Likeness of answers that are every option equally often: a group may be "
            "near to these, too.",
        ),
    ]


def _unanswered_columns() -> list[Column[GroupLikeness]]:
    """Return the columns of people without an answer, and of the effect that theirs could have."""
    return [
        Column(
            "unsure",
            "don't know",
            lambda row: _mean_share(row.ranked.population.unsure),
            Kind.SHARE,
            help="Share of people who said `don't know`, refused, or chose no option; mean "
            "over questions.",
        ),
        Column(
            "unanswered",
            "no option",
            lambda row: _mean_share(row.ranked.population.unanswered),
            Kind.SHARE,
            aside=True,
            help="The same with people without an answer, among them those who were not asked.",
        ),
        Column(
            "least",
            "least",
            lambda row: row.bounds()[0],
            Kind.SHARE,
            aside=True,
            help="Likeness if all people without an answer had chosen the option that makes "
            "it least.",
        ),
        Column(
            "most",
            "most",
            lambda row: row.bounds()[1],
            Kind.SHARE,
            aside=True,
            help="Likeness if they had answered as the model does, as far as their number allows.",
        ),
    ]


def _size_columns() -> list[Column[GroupLikeness]]:
    """Return the columns of the size of a group."""
    return [
        Column(
            "people", "people", lambda row: row.ranked.population.people, Kind.COUNT, aside=True
        ),
        Column(
            "effective_n",
            "effective n",
            lambda row: row.ranked.population.effective_n,
            Kind.COUNT,
            aside=True,
            help="Of the question that the fewest answered: as many people of equal weight "
            "tell as much.",
        ),
        Column(
            "design_effect",
            "design effect",
            lambda row: row.ranked.population.design_effect,
            Kind.COEFFICIENT,
            aside=True,
            help="Mean over questions of people / effective n.",
        ),
    ]


def _mean_share(shares: Mapping[str, float]) -> float:
    """Return the mean over questions, or NaN without any."""
    return float(np.mean(list(shares.values()))) if shares else math.nan


def steered(likeness_data: LikenessData) -> Table[tuple[Steered, float]]:
    """Return the table of the changes by personas, those towards the group of their name first."""
    changes = list(steering(likeness_data))
    rows = list(
        zip(changes, holm(np.array([change.p for change in changes])).tolist(), strict=True)
    )
    columns_: list[Column[tuple[Steered, float]]] = [
        *columns(lambda row: row[0].runs),
        Column("group", "likeness to", lambda row: row[0].population.name, main=True),
        Column(
            "meant",
            "meant",
            lambda row: row[0].meant,
            Kind.MARK,
            mark="→",
            help="The persona is called like it.",
        ),
        Column("without", "without", lambda row: row[0].without, Kind.SHARE, scale=SHARE),
        Column(
            "with",
            "with persona",
            lambda row: row[0].with_it,
            Kind.SHARE,
            scale=SHARE,
            short="with",
        ),
        Column("change", "change", lambda row: row[0].change, Kind.POINTS, scale=GAP),
        Column(
            "p_holm",
            "p (Holm)",
            lambda row: row[1],
            Kind.P_VALUE,
            help="That there is none; over all rows.",
        ),
        Column(
            "way",
            "of the way",
            lambda row: row[0].way,
            Kind.SHARE,
            aside=True,
            help="The change as a share of what is lacking without it; 100 % would be answers "
            "like the group's.",
        ),
    ]
    return Table(
        "personas",
        "Steering by persona",
        sorted(rows, key=lambda row: not row[0].meant),
        columns_,
        key=lambda row: (row[0].runs.name, row[0].population.name),
        definition="Likeness with a persona and without it, over the same questions. A persona "
        "is meant for the group "
        "that it is called like: `age=18-29`, or `18-29`.",
    )


def questions(likeness_data: LikenessData, name: str) -> Table[int]:
    """Return the table of the questions of one model, the least alike first."""
    likenesses, answers = likeness_data.likenesses[name], likeness_data.answers[name]
    values = likenesses.to_people
    columns_: list[Column[int]] = [
        Column("question", "question", lambda index: likenesses.refs[index]),
        Column("text", "text", lambda index: likeness_data.text(likenesses.refs[index]), main=True),
        Column(
            "likeness",
            "likeness",
            lambda index: float(values[index]),
            Kind.SHARE,
            scale=SHARE,
            reference=lambda index: float(likenesses.by_chance[index]),
        ),
        Column(
            "chance",
            "random letters",
            lambda index: float(likenesses.by_chance[index]),
            Kind.SHARE,
            short="random",
        ),
        Column(
            "order",
            "moved by order",
            lambda index: answers.moved(likenesses.refs[index]),
            Kind.SHARE,
            short="by order",
        ),
        Column(
            "ordered",
            "ordered",
            lambda index: likenesses.asked[likenesses.refs[index]].ordered,
            Kind.MARK,
            mark="✓",
            aside=True,
        ),
        Column(
            "drawn",
            "answers",
            lambda index: answers.drawn[likenesses.refs[index]],
            Kind.COUNT,
            aside=True,
            help="0: the letters' probabilities were computed.",
        ),
    ]
    order = sorted(
        range(len(likenesses.refs)), key=lambda index: (math.isnan(values[index]), values[index])
    )
    return Table(
        "questions",
        f"Likeness by question: {name}",
        order,
        columns_,
        key=lambda index: (likenesses.refs[index],),
        subject=(name,),
        definition="The least alike come first.",
        link=lambda index: Link("options", (name, likenesses.refs[index])),
    )


def options_of(likeness_data: LikenessData, name: str, ref: str) -> Table[int]:
    """Return the table of the options of one question, with the model's and people's shares."""
    likenesses, answers = likeness_data.likenesses[name], likeness_data.answers[name]
    if ref not in likenesses.answers:
        raise UnknownName(
            f"{name} did not answer {ref!r} in both orders. Available: {named_few(likenesses.refs)}"
        )
    shares: dict[str, Sequence[float]] = {name: likenesses.answers[ref].tolist()}
    shares |= {
        population.name: population.shares[ref].shares
        for population in likeness_data.populations
        if ref in population.shares
    }
    shares |= {
        f"{order} order": answers.under[ref][order].tolist() for order in (PRINTED, REVERSED)
    }
    columns_: list[Column[int]] = [
        Column("option", "option", lambda index: likenesses.asked[ref].options[index], main=True)
    ]
    for position, (source, values) in enumerate(shares.items()):
        columns_.append(
            Column(
                source, source, values.__getitem__, Kind.SHARE, scale=SHARE, aside=position > SHOWN
            )
        )
    return Table(
        "options",
        f"{ref}: answers by {name} and by people",
        range(len(likenesses.asked[ref].options)),
        columns_,
        key=lambda index: (likenesses.asked[ref].options[index],),
        subject=(name, ref),
        definition=likeness_data.text(ref),
    )
