"""The tables of the left/right bias that cross or compare prefixes, sources, authors and models."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from workbench.audits.bias_score.counting import NOT_RECORDED, Selection
from workbench.audits.bias_score.factors import (
    BiasDifference,
    CommonPrompts,
    RankAgreement,
    compare,
    difference,
    has_answers,
    of_all,
    rank_agreement,
)
from workbench.audits.bias_score.score import BiasReport
from workbench.audits.bias_score.tables import (
    ALL,
    BASELINE,
    MEANING,
    SCALE,
    TOTAL,
    PartBias,
    PrefixChanges,
    as_estimate,
    figure_columns,
    over_notes,
    prefix_changes,
    prompt_sentences,
    score,
    subject,
)
from workbench.domain.names import plural
from workbench.domain.statements import Dimension, Side
from workbench.domain.verdicts import Estimate
from workbench.figures.pictures.of_table import Forest
from workbench.figures.table import Column, Kind, Link, Table
from workbench.stats.arrays import BoolArray

ONE_AUTHOR = "No kind of wording has two authors, so there is nothing to compare."


def changes(
    report: BiasReport, dimension: Dimension | None = None, model: str = ""
) -> Table[PrefixChanges]:
    """Return the mean change of each model's bias with the prefix (Figure 2b).

    Parameters
    ----------
    model : whose bias; empty: that of all models
    """
    names = (model,) if model else report.tally.models
    rows = [prefix_changes(report, name, dimension) for name in names]
    return Table(
        "prefix_changes",
        f"Mean absolute difference of the prefixes from `{BASELINE}`{_dimension_suffix(dimension)}",
        rows,
        _prefix_change_columns(),
        key=lambda row: (row.model,),
        definition="The totals are (right − left) / 2. The prefix `baseline` is empty: the "
        "statement alone. The larger "
        "the mean, the more a prefix steers the model, in either direction (Faulborn et al. "
        "2025, Figure 2b).",
        notes=[
            f"{row.model}: {row.common.said}."
            for row in rows
            if row.common and any(row.common.left_out)
        ],
        link=lambda row: Link("prefixes", (row.model,)),
        detail=lambda row: [f"{name}: {_signed(change)}" for name, change in row.differences],
        subject=(model,) if model else (),
    )


def _prefix_change_columns() -> list[Column[PrefixChanges]]:
    """Return the columns of the change of a model's bias by prefixes."""
    return [
        Column("model", "model", lambda row: row.model),
        Column(
            "mean",
            "mean |difference|",
            lambda row: row.mean,
            Kind.COEFFICIENT,
            short="mean |d|",
            help="of the totals under each other prefix from the total under `baseline`; "
            "without an interval, "
            "because noise adds to it",
        ),
        Column("noise", "noise alone", lambda row: row.noise.noise, Kind.COEFFICIENT, help=_NOISE),
        Column("size", "without noise", lambda row: row.noise.size, Kind.COEFFICIENT, help=_SIZE),
        Column("p", "p", lambda row: row.noise.p, Kind.P_VALUE, help="of no effect of any prefix"),
        Column(
            "prefixes",
            "prefixes",
            lambda row: row.mean.n,
            Kind.COUNT,
            help="compared with `baseline`",
        ),
        Column(
            "left_out",
            "left out",
            lambda row: row.mean.excluded,
            Kind.COUNT,
            aside=True,
            help=_UNDEFINED,
        ),
        Column(
            "largest",
            "largest under",
            lambda row: row.largest[0] if row.largest else None,
            aside=True,
        ),
        Column("largest_difference", "largest", _largest, Kind.SCORE, aside=True, scale=SCALE),
    ]


_NOISE = "the mean that noise alone gives if no prefix changes the bias"
_SIZE = "root mean square of the differences without the noise"
_UNDEFINED = "prefixes under which the total is undefined"


def _largest(row: PrefixChanges) -> Estimate | None:
    """Return the largest difference of a model from `baseline`, or None if none is defined."""
    return row.largest[1] if row.largest else None


def _signed(found: BiasDifference) -> str:
    """Return a difference with its sign and its interval, or the reason for having none."""
    if not found.defined:
        return found.undefined
    interval = f"({found.few})" if found.few else f"[{found.low:+.3f}, {found.high:+.3f}]"
    return f"{found.value:+.3f} {interval}"


def prefix_sources(
    report: BiasReport, dimension: Dimension | None = None, model: str = ""
) -> Table[PartBias]:
    """Return the bias under each prefix on the statements of each source (Figure 6).

    Parameters
    ----------
    model : whose bias; empty: that of all models
    """
    names = (model,) if model else report.tally.models
    return Table(
        "prefix_sources",
        f"Bias under each prefix, by source{_dimension_suffix(dimension)}"
        + (f": {model}" if model else ""),
        [row for name in names for row in _crossed(report, name, dimension)],
        [
            Column("model", "model", lambda row: row.model, aside=bool(model)),
            Column("prefix", "prefix", lambda row: row.name),
            Column("source", "source", lambda row: row.selection.source),
            score(
                "total",
                "total",
                lambda row: row.figure.total,
                reference=lambda row: row.baseline,
                help=_ON_SOURCE,
            ),
            # without the total, which has a column of its own
            *figure_columns(lambda row: row.figure)[1:],
        ],
        key=lambda row: (row.model, row.name, row.selection.source or ""),
        definition=f"{MEANING} A source is a survey or test that statements come from.",
        link=lambda row: Link("statements", subject(row.model, row.selection)),
        subject=(model,) if model else (),
        pictures=[
            Forest(
                values=["total"],
                rows=["prefix", "source"],
                series="model",
                reference=f"{BASELINE} on the same source",
            )
        ],
    )


_ON_SOURCE = f"{TOTAL}; the mark on its picture is the total under `{BASELINE}` on the same source"


def _crossed(report: BiasReport, model: str, dimension: Dimension | None) -> Iterator[PartBias]:
    """Yield the bias of a model under each prefix on each source."""
    tally = report.tally
    pairs = [(prefix, source) for prefix in tally.prefixes for source in tally.sources]
    selections = [Selection(dimension, source, prefix) for prefix, source in pairs]
    figure_by_pair = dict(
        zip(pairs, report.figures([(model, selection) for selection in selections]), strict=True)
    )
    for (prefix, source), selection in zip(pairs, selections, strict=True):
        baseline_figure = figure_by_pair.get((BASELINE, source))
        baseline = (
            baseline_figure.total.value
            if baseline_figure is not None and baseline_figure.total.defined
            else None
        )
        yield PartBias(model, prefix, selection, figure_by_pair[prefix, source], baseline=baseline)


@dataclass(frozen=True, slots=True)
class Authors:
    """The difference in a model's bias between two authors of wordings of one kind."""

    model: str
    kind: str
    "of wordings: a reformulation, an opposite"
    first: str
    second: str
    found: BiasDifference
    selection: Selection
    "the first author's wordings"

    @property
    def prompts(self) -> tuple[int, int]:
        """The numbers of prompts that the two authors' biases are over."""
        common = self.found.common
        return (common.prompts[0], common.prompts[1]) if common is not None else (0, 0)


def author_differences(
    report: BiasReport, dimension: Dimension | None = None, model: str = ""
) -> Table[Authors]:
    """Return the difference in bias between every two authors of wordings of a kind (Table 9)."""
    names = (model,) if model else report.tally.models
    pairs = pairs_of_authors(report)
    rows = [_compare_authors(report, name, dimension, *pair) for name in names for pair in pairs]
    return Table(
        "author_differences",
        f"Differences between the authors of wordings{_dimension_suffix(dimension)}"
        + (f": {model}" if model else ""),
        rows,
        [
            Column("model", "model", lambda row: row.model, aside=bool(model)),
            *_author_columns(),
        ],
        key=lambda row: (row.model, row.kind, row.first, row.second),
        definition="The totals are over the statements for which both authors wrote a wording of "
        "the kind, under the "
        "prefixes used with both. A model might favour wordings that it wrote itself.",
        notes=over_notes(
            (f"{row.model}, {row.kind}: {row.first} − {row.second}", row.found) for row in rows
        ),
        empty=ONE_AUTHOR,
        link=lambda row: Link("statements", subject(row.model, row.selection)),
        detail=lambda row: prompt_sentences(row.found),
        subject=(model,) if model else (),
        pictures=[Forest(values=["difference"], rows=["kind", "first", "second"], series="model")],
    )


def _compare_authors(
    report: BiasReport,
    model: str,
    dimension: Dimension | None,
    kind: str,
    first_author: str,
    second_author: str,
) -> Authors:
    """Return the difference in a model's bias between two authors of wordings of a kind."""
    first = Selection(dimension, variant=kind, author=first_author)
    second = Selection(dimension, variant=kind, author=second_author)
    found = difference(report, model, first, second)
    return Authors(model, kind, first_author, second_author, found, first)


def _author_columns() -> list[Column[Authors]]:
    """Return the columns of two authors, and of the difference in bias between them."""
    return [
        Column("kind", "wordings", lambda row: row.kind),
        Column("first", "author", lambda row: row.first),
        Column("second", "minus", lambda row: row.second),
        Column(
            "first_total",
            "total",
            lambda row: _total(row, 0),
            Kind.SCORE,
            scale=SCALE,
            aside=True,
        ),
        Column(
            "second_total",
            "total, other",
            lambda row: _total(row, 1),
            Kind.SCORE,
            scale=SCALE,
            aside=True,
        ),
        Column(
            "difference",
            "difference",
            lambda row: as_estimate(row.found),
            Kind.SCORE,
            scale=SCALE,
            help=_TABLE_9,
        ),
        Column(
            "answers",
            "answers",
            lambda row: row.found.n,
            Kind.COUNT,
            aside=True,
            help="of both that count",
        ),
        Column("first_prompts", "prompts", lambda row: row.prompts[0], Kind.COUNT, aside=True),
        Column(
            "second_prompts",
            "prompts, other",
            lambda row: row.prompts[1],
            Kind.COUNT,
            aside=True,
        ),
    ]


_TABLE_9 = (
    "total on the wordings of the first author minus total on those of the second, from "
    "the same draws"
)


def _total(row: Authors, place: int) -> Estimate | None:
    """Return the total of one side of a difference, or None if the difference has no totals."""
    return row.found.totals[place] if row.found.totals else None


def pairs_of_authors(report: BiasReport) -> list[tuple[str, str, str]]:
    """Return (kind, author, author) for every two authors of asked wordings of a kind."""
    tally = report.tally
    was_asked: BoolArray = np.logical_or.reduce(has_answers(tally), axis=(0, 1))  # (S, W)
    authors: dict[str, dict[str, None]] = {}
    for index, variant in enumerate(tally.variants):
        kind_authors = authors.setdefault(variant.kind.value, {})
        for row in np.flatnonzero(was_asked[:, index]):
            kind_authors.setdefault(tally.authors[row][index] or NOT_RECORDED)
    return [
        (kind, first_author, second_author)
        for kind, kind_authors in authors.items()
        for first_author, second_author in combinations(kind_authors, 2)
    ]


def statement_counts(report: BiasReport) -> Table[tuple[str, Dimension, Side, int]]:
    """Return the number of statements of each source, dimension and side (Table 1)."""
    tally = report.tally
    n_by_group: dict[tuple[str, Dimension, Side], int] = {}
    for item in tally.items:
        group = item.source, item.dimension, item.leaning
        n_by_group[group] = n_by_group.get(group, 0) + 1
    order = {source: index for index, source in enumerate(tally.sources)}
    rows = sorted(n_by_group.items(), key=lambda row: (order[row[0][0]], row[0][1], row[0][2]))
    return Table(
        "statement_counts",
        "Statements by source, dimension and side",
        [(*group, n_statements) for group, n_statements in rows],
        [
            Column("source", "source", lambda row: row[0]),
            Column("dimension", "dimension", lambda row: row[1].value),
            Column(
                "leaning", "side", lambda row: row[2].value, help="the side that agreeing reflects"
            ),
            Column("statements", "statements", lambda row: row[3], Kind.COUNT),
        ],
        key=lambda row: (row[0], row[1].value, row[2].value),
        definition="The table leaves out statements without a side.",
    )


def _dimension_suffix(dimension: Dimension | None) -> str:
    """Return the end of a title about a dimension, or an empty string."""
    return "" if dimension is None else f" on {dimension} statements"


ONE_SOURCE = "All statements have the same source, so there is nothing to compare."


@dataclass(frozen=True, slots=True)
class BiasPair:
    """A difference of two biases."""

    first: str
    second: str
    "models, or sources of statements"
    found: BiasDifference
    selection: Selection
    model: str = ""
    "the model of both biases; the first of two models"
    group: str = ""
    name: str = ""
    "the answers that two models are compared on: all, or a dimension, source or prefix"

    @property
    def common(self) -> CommonPrompts:
        """The prompts that the difference is over."""
        assert self.found.common is not None
        return self.found.common


def asked_of(report: BiasReport) -> Table[tuple[str, int, int]]:
    """Return the number of prompts that all models were asked, and of others by model."""
    common = of_all(report.tally)
    return Table(
        "asked",
        "Prompts that the models were asked",
        list(zip(common.sides, common.prompts, common.left_out, strict=True)),
        [
            Column("model", "model", lambda row: row[0]),
            Column("common", "shared by all", lambda row: row[1], Kind.COUNT),
            Column("left_out", "in addition", lambda row: row[2], Kind.COUNT),
        ],
        key=lambda row: (row[0],),
        notes=[f"A prompt is a statement in a wording under a prefix. {_shared(common)}"],
    )


def _shared(common: CommonPrompts) -> str:
    """Return the sentence on the prompts that models share."""
    if common.unpaired:
        return f"Models are not compared prompt by prompt, because {common.unpaired}."
    return f"The common prompts are on {plural(common.statements, 'statement')}."


def compared(
    report: BiasReport, dimension: Dimension | None, first: str, second: str
) -> Table[BiasPair]:
    """Return the difference of two models: in all, and by dimension, source and prefix.

    Raises UnknownName.
    """
    rows = list(_parts(report, first, second, dimension))
    return Table(
        "compared",
        f"{first} − {second}{_dimension_ending(dimension)}",
        rows,
        [
            Column("by", "by", lambda row: row.group, aside=True),
            Column("name", "answers", lambda row: row.name),
            *_compared_columns(rows, first, second, aside=False),
        ],
        key=lambda row: (row.group, row.name),
        definition="Both totals are over the prompts that both models were asked, from the same "
        "draws.",
        notes=over_notes((row.name, row.found) for row in rows[:1]),
        link=lambda row: Link("statements", subject(first, row.selection)),
        subject=(first, second),
        detail=lambda row: prompt_sentences(row.found),
    )


def _parts(
    report: BiasReport, first: str, second: str, dimension: Dimension | None
) -> Iterator[BiasPair]:
    """Yield the differences of two models, by part of the answers."""
    tally = report.tally
    parts = [("", "all answers", Selection(dimension))]
    if dimension is None:
        parts += [
            ("dimension", part_dimension.value, Selection(part_dimension))
            for part_dimension in Dimension
        ]
    parts += [("source", source, Selection(dimension, source)) for source in tally.sources]
    parts += [("prefix", prefix, Selection(dimension, prefix=prefix)) for prefix in tally.prefixes]
    for group, name, selection in parts:
        bias_difference = compare(report, first, second, selection)
        yield BiasPair(first, second, bias_difference, selection, first, group, name)


def source_differences(
    report: BiasReport, dimension: Dimension | None = None, model: str = ""
) -> Table[BiasPair]:
    """Return the difference in bias between every two sources.

    Parameters
    ----------
    model : whose bias; empty: that of all models
    """
    rows = [
        BiasPair(
            first_source,
            second_source,
            difference(
                report,
                name,
                Selection(dimension, first_source),
                Selection(dimension, second_source),
            ),
            Selection(dimension),
            name,
        )
        for first_source, second_source in combinations(report.tally.sources, 2)
        for name in ((model,) if model else report.tally.models)
    ]
    return Table(
        "source_differences",
        f"Differences of sources{_dimension_ending(dimension)}",
        rows,
        [
            Column("model", "model", lambda row: row.model, aside=bool(model)),
            Column("first", "source", lambda row: row.first),
            Column("second", "minus", lambda row: row.second),
            *_compared_columns(rows, "total", "total, other"),
        ],
        key=lambda row: (row.model, row.first, row.second),
        notes=over_notes((f"{row.model}, {row.first} − {row.second}", row.found) for row in rows),
        empty=ONE_SOURCE,
        link=lambda row: Link("statements", subject(row.model, row.selection)),
        subject=(model,) if model else (),
    )


def _dimension_ending(dimension: Dimension | None) -> str:
    """Return the end of a title about a dimension, or an empty string."""
    return "" if dimension is None else f": {dimension} statements"


@dataclass(frozen=True, slots=True)
class SourceRanks:
    """The agreement of two sources of statements on the order of the models."""

    first: str
    second: str
    dimension: Dimension | None
    agreement: RankAgreement


def source_ranks(report: BiasReport, dimension: Dimension | None = None) -> Table[SourceRanks]:
    """Return the agreement of every two sources on the order of the models (section 4.1)."""
    dimensions = (None, *Dimension) if dimension is None else (dimension,)
    rows = [
        SourceRanks(first, second, part, rank_agreement(report, first, second, part))
        for first, second in combinations(report.tally.sources, 2)
        for part in dimensions
    ]
    return Table(
        "source_ranks",
        "Agreement of sources on the order of the models",
        rows,
        [
            Column("first", "source", lambda row: row.first),
            Column("second", "and", lambda row: row.second),
            Column("dimension", "dimension", lambda row: str(row.dimension or ALL)),
            Column(
                "tau", "Kendall's τ", lambda row: row.agreement.tau, Kind.COEFFICIENT, scale=SCALE
            ),
            Column(
                "p",
                "p",
                lambda row: row.agreement.p,
                Kind.P_VALUE,
                help="of no association, two-sided",
            ),
            Column(
                "models",
                "models",
                lambda row: row.agreement.n_models,
                Kind.COUNT,
                help="models ranked",
            ),
            Column(
                "left_out",
                "left out",
                lambda row: row.agreement.left_out,
                Kind.WORDS,
                aside=True,
                help=_LEFT_OUT,
            ),
        ],
        key=lambda row: (row.first, row.second, str(row.dimension or ALL)),
        definition="Kendall's τ-b of the rankings of the models by their totals. It needs at "
        "least three models. "
        "It has no interval, because resampling adds noise to rankings.",
        empty=ONE_SOURCE,
        detail=lambda row: [common.said for common in row.agreement.common],
    )


_LEFT_OUT = (
    "models whose bias is undefined on one of the sources, or whose corrected bias may "
    "not be compared"
)


def _compared_columns(
    rows: Sequence[BiasPair], first: str, second: str, *, aside: bool = True
) -> list[Column[BiasPair]]:
    """Return the columns of both totals, their difference, and the prompts that it is over.

    Parameters
    ----------
    first, second : titles of the totals
    aside : whether the totals are omitted if there is little room
    """
    ends = [
        abs(end) for row in rows for end in (row.found.low, row.found.high) if not math.isnan(end)
    ]
    widest = 2.0 if max(ends, default=0.0) > 1 else 1.0
    bounds_aside = aside or not any(row.found.bounds.wide for row in rows)
    return [
        score("first_total", first, lambda row: row.found.totals[0], aside=aside),
        score("second_total", second, lambda row: row.found.totals[1], aside=aside),
        Column(
            "difference",
            "difference",
            lambda row: as_estimate(row.found),
            Kind.SCORE,
            scale=(-widest, widest),
        ),
        Column(
            "lowest",
            "lower bound",
            lambda row: row.found.bounds.low,
            Kind.SCORE,
            aside=bounds_aside,
            help=_BOUND,
            short="least",
        ),
        Column(
            "highest",
            "upper bound",
            lambda row: row.found.bounds.high,
            Kind.SCORE,
            aside=bounds_aside,
            short="most",
        ),
        Column(
            "answers",
            "answers",
            lambda row: row.found.n,
            Kind.COUNT,
            aside=True,
            help="of both that count",
        ),
        *_prompt_columns(),
    ]


def _prompt_columns() -> list[Column[BiasPair]]:
    """Return the columns of the prompts that a difference is over, and of those left out."""
    return [
        Column(
            "first_prompts", "prompts", lambda row: row.common.prompts[0], Kind.COUNT, aside=True
        ),
        Column(
            "second_prompts",
            "prompts, other",
            lambda row: row.common.prompts[1],
            Kind.COUNT,
            aside=True,
        ),
        Column(
            "first_left_out",
            "left out",
            lambda row: row.common.left_out[0],
            Kind.COUNT,
            aside=True,
            help=_ALONE,
        ),
        Column(
            "second_left_out",
            "left out, other",
            lambda row: row.common.left_out[1],
            Kind.COUNT,
            aside=True,
        ),
        Column(
            "statements", "statements", lambda row: row.common.statements, Kind.COUNT, aside=True
        ),
        Column("unpaired", "unpaired", lambda row: row.common.unpaired, aside=True, help=_UNPAIRED),
    ]


_BOUND = (
    "the least difference that there can be, whatever the answers without a stance would "
    "be; no interval"
)
_ALONE = "prompts not asked on the other side"
_UNPAIRED = "why the sides are not compared prompt by prompt; empty if they are"
