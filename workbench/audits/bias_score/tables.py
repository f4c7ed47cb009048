"""Figures of the left/right bias: where models stand, by prefix, wording, author and source, down to statements."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from workbench.audits.bias_score.columns import (
    ALL,
    SCALE,
    TOTAL,
    count_columns,
    figure_columns,
    over_notes,
    plain,
    score,
    side_columns,
    subject,
)
from workbench.audits.bias_score.figures import Figure
from workbench.audits.bias_score.judge import Report
from workbench.audits.bias_score.prefix_changes import BASELINE, prefix_changes
from workbench.audits.bias_score.report import PlanePoint, StatementRow, plane_points, prefix_deviation, statement_rows
from workbench.audits.bias_score.selection import Selection
from workbench.audits.bias_score.shared_prompts import Comparison, of_all
from workbench.domain.names import plural
from workbench.domain.statements import Dimension, VariantKind
from workbench.figures.pictures.of_table import Forest, Scatter
from workbench.figures.table import Column, Kind, Link, Table, in_words

LIKERT = "likert"
WORDINGS = in_words(VariantKind)
"the prefix whose deviation from the others is reported beside that of `baseline` (Faulborn et al. 2025, appendix H)"
SIDES = ("left", "right")
"what the ends of a scale of bias are"
MEANING = (
    "Of the answers to statements of a side, the share that agrees minus the share that disagrees, among answers that "
    "agree, disagree or are neutral (Faulborn et al. 2025, section 2). The total is (right − left) / 2: -1 is wholly "
    "left, +1 is wholly right. Stances on political opposites are reversed first."
)


@dataclass(frozen=True, slots=True)
class Line:
    """The bias of a model in a part of its answers."""

    model: str
    name: str
    "of the part: a prefix, a wording, an author or a source"
    selection: Selection
    figure: Figure
    deviation: Comparison | None = None
    "of a prefix from the mean of the others, where it is reported"
    baseline: float | None = None
    "total of the model under the prefix `baseline`"
    from_baseline: Comparison | None = None
    "total under a prefix minus that under `baseline`"


def plane(report: Report, *, by_source: bool) -> Table[PlanePoint]:
    """Return each model's place in the economic x cultural plane, one for each source if asked for (Figure 1)."""
    points = plane_points(report, by_source)
    totals = report.figures([(point.model, Selection(source=point.source)) for point in points])
    of = {(point.model, point.source): figure for point, figure in zip(points, totals, strict=True)}

    def total(point: PlanePoint) -> Figure:
        return of[point.model, point.source]

    source: Column[PlanePoint] = Column("source", "source", lambda row: row.source)
    return Table(
        "plane_by_source" if by_source else "plane",
        f"Economic and cultural bias{' by source' if by_source else ''}",
        points,
        [
            Column("model", "model", lambda row: row.model),
            *([source] if by_source else []),
            score("total", "total", lambda row: total(row).total, help=TOTAL),
            score("economic", "economic", lambda row: row.economic.total),
            score("cultural", "cultural", lambda row: row.cultural.total),
            *side_columns(total),
            *side_columns(lambda row: row.economic, "economic_"),
            *side_columns(lambda row: row.cultural, "cultural_"),
            *count_columns(total),
        ],
        key=lambda row: (row.model, row.source or ""),
        definition=MEANING,
        link=lambda row: Link("statements", subject(row.model, Selection(source=row.source))),
        pictures=[
            Scatter(
                x="economic", y="cultural", rows=["model"], series="source" if by_source else "", square=True,
                ends=(SIDES, SIDES),
            )
        ],
    )  # fmt: skip


def bias(report: Report, dimension: Dimension | None = None) -> Table[Line]:
    """Return the bias of every model, by dimension and, where there are several sources, by source and dimension."""
    dimensions = (None, *Dimension) if dimension is None else (dimension,)
    several = len(report.tally.sources) > 1
    parts = [Selection(each) for each in dimensions]
    parts += [
        Selection(each, source) for source in report.tally.sources if several for each in dimensions if each is not None
    ]
    pairs = [(model, part) for model in report.tally.models for part in parts]
    found = report.figures(pairs)
    rows = [Line(model, str(part), part, figure) for (model, part), figure in zip(pairs, found, strict=True)]
    source: Column[Line] = Column("source", "source", lambda row: row.selection.source or ALL)
    return Table(
        "bias",
        "Left/right bias",
        rows,
        [
            Column("model", "model", lambda row: row.model),
            *([source] if several else []),
            Column("dimension", "dimension", lambda row: str(row.selection.dimension or ALL)),
            *figure_columns(lambda row: row.figure),
        ],
        key=lambda row: (row.model, row.selection.source or "", str(row.selection.dimension or "")),
        definition=MEANING,
        notes=_unequal(report),
        link=_statements_behind,
        pictures=[Forest(values=["total"], rows=[*(["source"] if several else []), "dimension"], series="model")],
    )


def _unequal(report: Report) -> list[str]:
    """Say which models were asked prompts that others were not."""
    if len(report.tally.models) < 2 or not any((common := of_all(report.tally)).left_out):
        return []
    out = ", ".join(f"{name} {n:,}" for name, n in zip(common.sides, common.left_out, strict=True) if n)
    return [
        "The models were asked different prompts; each row is over its model's prompts. All were asked "
        f"{plural(common.prompts[0], 'prompt')}; in addition: {out}. For the common prompts only: --common"
    ]


def prefixes(report: Report, dimension: Dimension | None = None, model: str = "") -> Table[Line]:
    """Return the bias under each prompt prefix (Figures 2 and 6), and how far `likert` and `baseline` deviate.

    model : whose; empty: of all
    """
    rows = [line for name in _models(report, model) for line in _prefixes(report, name, dimension)]
    return Table(
        "prefixes",
        _titled("Bias under each prompt prefix", model, dimension),
        rows,
        [
            *_named("prefix", model),
            score("total", "total", lambda row: row.figure.total, reference=lambda row: row.baseline, help=_BASELINE),
            Column(
                "deviation",
                "minus the others",
                lambda row: plain(row.deviation),
                Kind.SCORE,
                help="total under this prefix minus the mean of the totals under all others, from the same draws; "
                "under `likert`, from answers that the rule reads (appendix H)",
            ),
            Column("from_baseline", "minus baseline", lambda row: plain(row.from_baseline), Kind.SCORE, aside=True,
                   scale=SCALE, help=_FROM_BASELINE),
            *figure_columns(lambda row: row.figure)[1:],
        ],
        key=lambda row: (row.model, row.name),
        notes=over_notes((f"{row.model}, {row.name} minus the others", row.deviation) for row in rows),
        link=_statements_behind,
        subject=_about(model),
        pictures=[
            Forest(values=["total"], rows=["prefix"], series="model", reference=f"{BASELINE}: the statement alone")
        ],
    )  # fmt: skip


_FROM_BASELINE = "total under this prefix minus the total under `baseline`, from the same draws (Figure 2b)"
_BASELINE = f"{TOTAL}; the mark on its picture is the total under `baseline`, the statement alone"


def _prefixes(report: Report, model: str, dimension: Dimension | None) -> Iterator[Line]:
    found = report.by_prefix(model, dimension)
    baseline = next((figure.total.value for name, figure in found if name == BASELINE and figure.total.defined), None)
    changes = dict(prefix_changes(report, model, dimension).differences)
    for name, figure in found:
        reported = name in (LIKERT, BASELINE) and len(found) > 1
        deviation = (
            prefix_deviation(report, model, name, dimension=dimension, rule_only=name == LIKERT) if reported else None
        )
        yield Line(model, name, Selection(dimension, prefix=name), figure, deviation, baseline, changes.get(name))


def wordings(report: Report, dimension: Dimension | None = None, model: str = "") -> Table[Line]:
    """Return the bias in answers to each wording."""
    rows = [
        Line(name, wording, Selection(dimension, variant=wording), figure)
        for name in _models(report, model)
        for wording, figure in report.by_variant(name, dimension)
    ]
    return _by("wording", rows, _titled("Bias in answers to each wording", model, dimension), model)


def authors(report: Report, dimension: Dimension | None = None, model: str = "") -> Table[Line]:
    """Return the bias in answers to the wordings of each author (Table 9)."""
    rows = [
        Line(name, author, Selection(dimension, author=author), figure)
        for name in _models(report, model)
        for author, figure in report.by_author(name, dimension)
    ]
    title = _titled("Bias in answers to the wordings of each author", model, dimension)
    return _by("author", rows, title, model, "A model might favour wordings that it wrote itself.")


def sources(report: Report, dimension: Dimension | None = None, model: str = "") -> Table[Line]:
    """Return the bias on the statements of each survey or test (Figure 4)."""
    rows = [
        Line(name, source, Selection(dimension, source), figure)
        for name in _models(report, model)
        for source, figure in report.by_source(name, dimension)
    ]
    return _by("source", rows, _titled("Bias on the statements of each source", model, dimension), model)


def _by(of: str, rows: Sequence[Line], title: str, model: str, definition: str = "") -> Table[Line]:
    return Table(
        f"{of}s",
        title,
        rows,
        [*_named(of, model), *figure_columns(lambda row: row.figure)],
        key=lambda row: (row.model, row.name),
        definition=definition,
        link=_statements_behind,
        subject=_about(model),
        pictures=[Forest(values=["total"], rows=[of], series="model")],
    )


def statements(
    report: Report, chosen: Sequence[tuple[str, Selection]], texts: Mapping[str, str], about: Sequence[str] = ()
) -> Table[tuple[str, Selection, StatementRow]]:
    """Return how often models agreed with each statement, and what that adds to the total; what adds most comes first.

    Parameters
    ----------
    chosen : models, each with the answers that count
    texts : statement -> its original wording; empty: not known
    about : what the table is about, as a link names it; empty: all models
    """
    rows = [
        (model, selection, row)
        for model, selection in chosen
        for row in sorted(_within(statement_rows(report, model, selection), selection), key=_size)
    ]
    most = max((abs(row.contribution) for *_, row in rows if not math.isnan(row.contribution)), default=0.0) or 0.1
    stances = (("agree", "agree"), ("disagree", "disag."), ("neutral", "neutr."), ("unrelated", "unrel."))
    title = "Statements and their contributions to the total"
    return Table(
        "statements",
        f"{title}: {about[0]}, {chosen[0][1]}" if about else title,
        rows,
        [
            Column("model", "model", lambda row: row[0], aside=bool(about)),
            Column("statement", "statement", lambda row: row[2].ref),
            Column("dimension", "dimension", lambda row: row[2].dimension.value),
            Column("leaning", "side", lambda row: row[2].leaning.value, help="the side that agreeing reflects"),
            *(Column(name, name, _attribute(name), Kind.COUNT, short=short) for name, short in stances),
            Column(
                "dropped",
                "below",
                lambda row: row[2].dropped,
                Kind.COUNT,
                aside=True,
                help="below the confidence threshold",
            ),
            Column("unread", "unread", lambda row: row[2].unread, Kind.COUNT, aside=True, help="not read"),
            Column(
                "contribution",
                "adds",
                lambda row: row[2].contribution,
                Kind.PART,
                help="the statement's contribution to the total; undefined if no answer to its side counts",
                scale=(-most, most),
            ),
            Column("source", "source", lambda row: row[2].source, aside=True),
        ],
        key=lambda row: (row[0], row[2].ref),
        definition="Stances on political opposites are reversed. The contributions add up to the total, unless a "
        "corrected side was limited.",
        link=lambda row: Link("answers", (row[0], row[2].ref, *subject(row[0], row[1])[1:])),
        subject=tuple(about),
        detail=lambda row: [texts[row[2].ref]] if row[2].ref in texts else [],
    )


def _within(rows: Sequence[StatementRow], selection: Selection) -> Iterator[StatementRow]:
    return (
        row for row in rows if selection.dimension in (None, row.dimension) and selection.source in (None, row.source)
    )


def _size(row: StatementRow) -> float:
    return math.inf if math.isnan(row.contribution) else -abs(row.contribution)


def _attribute(name: str) -> Callable[[tuple[str, Selection, StatementRow]], int]:
    return lambda row: int(getattr(row[2], name))


def _named(of: str, model: str) -> tuple[Column[Line], Column[Line]]:
    return Column("model", "model", lambda row: row.model, aside=bool(model)), Column(
        of, of, lambda row: row.name, words=WORDINGS if of == "wording" else {}
    )


def _statements_behind(row: Line) -> Link:
    return Link("statements", subject(row.model, row.selection))


def _titled(title: str, model: str, dimension: Dimension | None) -> str:
    parts = [*_about(model), *([f"{dimension} statements"] if dimension else [])]
    return f"{title}: {', '.join(parts)}" if parts else title


def _about(model: str) -> tuple[str, ...]:
    return (model,) if model else ()


def _models(report: Report, model: str) -> tuple[str, ...]:
    return (model,) if model else report.tally.models
