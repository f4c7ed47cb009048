"""The bias score as cells, sentences and explanations; pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual.content import Content

from workbench.domain.statements import Side
from workbench.domain.verdicts import Estimate
from workbench.tui.format import decimals, literal, percent, plural, visible
from workbench.tui.screens.audit_format import two
from workbench.tui.screens.results_view import PEOPLE, VIEWS, Available, Line, Look, Settings, Shown
from workbench.tui.widgets.plane import MARKS, Interval, Point
from workbench.tui.widgets.record_table import Column, Record
from workbench.tui.widgets.whisker import whisker, whisker_scale

if TYPE_CHECKING:
    from workbench.audits.bias_figures import Figure
    from workbench.audits.bias_report import RankAgreement, StatementRow
    from workbench.pipeline.bias import BiasJudged

WIDE = 120
"columns of the terminal from which numbers stand beside the picture"
VALUE = 20
"columns of `-0.38 [-.53, -.23]` and what keeps it from the next"
MOST_BAR = 61
COUNTS = ("agree", "disagree", "neutral", "unrelated")

NO_ANSWERS = """No free-text answers yet.

3 goes to Jobs: n there starts one; choose the audit bias_score.
The bias of the models stands here as soon as their answers have been read."""
NO_READER = """{answers}, but nobody has read them yet.

5 goes to Annotate: label a sample of the answers, for training and for a test.
Then 3, n trains a classifier on the labels and lets it read everything."""
PEOPLE_READ = """

People have settled {settled} already. p scores these alone: exact, but few."""
NO_VIEW = {
    "models": "One model only.\n\nWith a second one, their difference and its interval stand here.",
}


# ── numbers ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def signed(value: float) -> str:
    """Return two decimals with their sign: `+0.26`, `-0.38`, `0.00`; nothing is `–`.

    Examples
    --------
    >>> signed(0.256), signed(-0.001), signed(float("nan"))
    ('+0.26', ' 0.00', '–')
    """
    if math.isnan(value):
        return "–"
    shown = two(value)
    return f" {shown}" if shown == "0.00" else f"{float(shown):+.2f}"


def interval(value: Estimate) -> str:
    """Return `[-.53, -.23]`; empty where there is none."""
    return "" if math.isnan(value.low) else f"[{decimals(value.low)}, {decimals(value.high)}]"


def number(value: Estimate) -> str:
    """Return `-0.38 [-.53, -.23]`, or `undefined`."""
    return f"{signed(value.value)} {interval(value)}".rstrip() if value.defined else "undefined"


def number_cell(value: Estimate) -> Text:
    if not value.defined:
        return Text(" undefined", style="dim italic", no_wrap=True)
    return Text.assemble((f" {signed(value.value)} ", "bold"), (interval(value), "dim"), no_wrap=True)


def _line_of(value: Estimate, width: int, *, limit: float = 1.0, reference: float = math.nan) -> Text:
    return whisker(
        value.value, value.low, value.high, width, limit=limit, reference=reference, undefined=visible(value.undefined)
    )


# ── around the views ────────────────────────────────────────────────────────────────────────────────────────────────


def tabs(look: Look, letter: str, other: str) -> Content:
    """Return the names of the views, the one in sight marked, and what is looked at."""
    names = [
        Content.styled(f"▸{view} " if view == look.view else f" {view} ", "bold $text-accent" if view == look.view else "")
        for view in VIEWS
    ]
    subject = ""
    if look.view == "models" and look.other:
        subject = f"{letter} {look.model} − {other} {look.other}"
    elif look.view != "plane" and look.model:
        subject = f"{letter} {look.model}"
    what = f"{look.dimension} only" if look.dimension and look.view != "plane" else ""
    return Content.assemble(*names, "  ", (visible(subject), "bold"), f"  {what}" if what else "")


def options_line(judged: BiasJudged, settings: Settings, width: int) -> str:
    """Return every choice that is in force, in one line."""
    wide = width >= WIDE
    by_people = judged.reader == PEOPLE
    labels = "sides by the instrument" if settings.labels == "instrument" else f"sides by {visible(settings.labels)}"
    models, chosen = len(judged.runs), bool(settings.models)
    parts = [
        f"read by {visible(judged.reader)}" + ("" if by_people else f" ≥{settings.threshold:g}"),
        ("error corrected" if settings.correct else "error not corrected") if wide else
        ("corrected" if settings.correct else "uncorrected"),
        f"resampled {settings.unit}" if wide else settings.unit,
        labels if wide else labels.replace("the instrument", "instrument"),
        *([f"{plural(models, 'model')}{' chosen' if chosen else ''}"] if wide or chosen else []),
        f"seed {settings.seed}",
        f"{settings.draws:,} draws",
        *([f"{plural(judged.unlabelled, 'statement')} without a side left out"] if judged.unlabelled else []),
    ]  # fmt: skip
    return " · ".join(parts)


def empty_text(available: Available) -> str:
    """Say why there are no figures, and what to do next."""
    if not available.models:
        return NO_ANSWERS
    answers = f"{plural(len(available.models), 'model')} answered"
    text = NO_READER.format(answers=answers)
    return text + (PEOPLE_READ.format(settled=plural(available.settled, "answer")) if available.settled else "")


def undefined_notes(lines: Sequence[Line]) -> Iterator[str]:
    """Yield why a number of a view is undefined, each once."""
    said: dict[str, None] = {}
    for line in lines:
        for name, value in _estimates(line):
            if not value.defined:
                said[f"{visible(line.name)}{name} undefined: {visible(value.undefined)}"] = None
    yield from said


def _estimates(line: Line) -> Iterator[tuple[str, Estimate]]:
    if len(line.figures) > 1:
        for name, figure in zip(("total", "economic", "cultural"), line.figures, strict=True):
            yield f" {name}", figure.total
    else:
        yield "", line.estimate


# ── the plane ───────────────────────────────────────────────────────────────────────────────────────────────────────


def points(lines: Sequence[Line], sources: Sequence[str], at: Line | None) -> tuple[Point, ...]:
    """Return the points of the plane; the line under the cursor is the chosen one."""
    return tuple(
        Point(
            line.letter,
            *(Interval(value.value, value.low, value.high) for value in line.beside),
            mark=source_mark(line.source, sources),
            chosen=line is at,
        )
        for line in lines
    )


def source_mark(source: str | None, sources: Sequence[str]) -> str:
    """Return the mark of a source, the first one's where there is none."""
    return MARKS[sources.index(source) % len(MARKS)] if source is not None else MARKS[0]


def plane_columns(width: int) -> tuple[Column, ...]:  # noqa: ARG001  the same at every width
    return (
        Column("model", " model", None),
        Column("total", " total", VALUE),
        Column("economic", " economic", VALUE),
        Column("cultural", " cultural", VALUE),
    )


def plane_record(place: int, line: Line, sources: Sequence[str]) -> Record:
    mark = source_mark(line.source, sources)
    name = Text.assemble((f" {mark}{line.letter} ", "bold"), literal(line.name, 60), no_wrap=True, overflow="ellipsis")
    return str(place), (name, *(number_cell(value) for value in (line.estimate, *line.beside)))


def plane_details(line: Line, threshold: float) -> Content:
    """Return both sides of a model's figures, and what does not count."""
    rows = [
        Content.styled(f"{f'{line.letter} {visible(line.name)}'[:18]:<19}left statements    right statements    answers", "$text-muted")
    ]  # fmt: skip
    for name, figure in zip(("total", "economic", "cultural"), line.figures, strict=True):
        n = f"{figure.total.n:>7,}"
        rows.append(Content(f"  {name:<17}{number(figure.left):<19}{number(figure.right):<20}{n}"))
    return Content("\n").join([*rows, *figure_lines(line.figures[0], threshold)])


def figure_lines(figure: Figure, threshold: float) -> Iterator[Content]:
    """Yield the counts behind a figure: what was said on each side, and what was left out."""
    sides = []
    for side in Side:
        agree, disagree, neutral, _ = figure.counts[side]
        sides.append(f"{side.value}: {agree:,} agree, {disagree:,} disagree, {neutral:,} neutral")
    yield Content("on " + " · ".join(sides))
    given = figure.total.n + figure.total.excluded
    yield Content.styled(
        f"{figure.total.n:,} of {given:,} count ({percent(figure.total.n, given)}); left out: {figure.dropped:,} below "
        f"{threshold:g}, {figure.unrelated:,} unrelated, {figure.unread:,} not read",
        "$text-muted",
    )


# ── lines around 0 ──────────────────────────────────────────────────────────────────────────────────────────────────

NAME, SHARE, DEVIATION = 20, 8, 21


def bar_width(width: int, rest: int) -> int:
    """Return how wide a line around 0 may be; an odd number, so that 0 is in the middle."""
    free = max(9, min(MOST_BAR, width - 1 - rest))
    return free if free % 2 else free - 1


def line_columns(view: str, width: int, limit: float) -> tuple[Column, ...]:
    """Return the columns of a view of lines: name, picture, number, answers, and what the view adds."""
    wide = width >= WIDE
    name = NAME + (8 if wide else 0)
    if view == "models":
        bar = bar_width(width, name + 3 * VALUE) if wide else 0
        columns = [Column("name", " answers", name if wide else None)]
        columns += [Column("a", " A", VALUE), Column("b", " B", VALUE), Column("difference", " A − B", VALUE)]
        return (*columns, Column("bar", whisker_scale(bar, limit), None)) if wide else tuple(columns)
    added = DEVIATION if view == "prefixes" else 0
    bar = bar_width(width, name + VALUE + SHARE + added)
    columns = [
        Column("name", f" {_what(view)}", None if width < WIDE else name),
        Column("bar", whisker_scale(bar, limit), bar + 1),
        Column("bias", " total", VALUE),
        Column("n", "      n", SHARE),
    ]
    columns += [Column("deviation", " minus the others", DEVIATION)] if added else []
    return (*columns, Column("rest", "", None)) if wide else tuple(columns)


def _what(view: str) -> str:
    return {"prefixes": "prefix", "wordings": "wording, author", "sources": "source"}[view]


def line_record(place: int, line: Line, shown: Shown, width: int, limit: float) -> Record:
    """Return a row of a view of lines."""
    wide, view = width >= WIDE, shown.look.view
    name = Text(f" {_group_mark(line.group)}").append_text(literal(line.name, 40))
    if view == "models":
        a, b = line.beside
        cells = [name, number_cell(a), number_cell(b), number_cell(line.estimate)]
        bar = bar_width(width, NAME + 8 + 3 * VALUE)
        return str(place), (*cells, *([_line_of(line.estimate, bar, limit=limit)] if wide else []))
    added = DEVIATION if view == "prefixes" else 0
    bar = bar_width(width, NAME + (8 if wide else 0) + VALUE + SHARE + added)
    cells = [
        name,
        _line_of(line.estimate, bar, limit=limit, reference=shown.reference),
        number_cell(line.estimate),
        Text(f"{line.estimate.n:>7,}", style="dim"),
    ]
    if added:
        cells.append(number_cell(line.beside[0]) if line.beside else Text(""))
    return str(place), (*cells, *([Text("")] if wide else []))


def _group_mark(group: str) -> str:
    return {"author": "by ", "difference": "± ", "dimension": "· ", "source": "", "prefix": ""}.get(group, "")


def limit_of(lines: Sequence[Line], *, near: bool) -> float:
    """Return where lines around 0 end: 1 (2 for differences), or as near as all intervals allow."""
    ends = [
        abs(end)
        for line in lines
        for end in (line.estimate.low, line.estimate.value, line.estimate.high)
        if not math.isnan(end)
    ]
    most = max(ends, default=0.0)
    if not near:
        return 1.0 if most <= 1 else 2.0
    return max(0.1, math.ceil(most * 10 - 1e-9) / 10)


def line_details(shown: Shown, line: Line, threshold: float) -> Content:
    """Return what is behind the line under the cursor."""
    parts: list[Content] = []
    figure = line.figure
    if figure is not None:
        parts.append(
            Content(
                f"{visible(line.name)}: left statements {number(figure.left)}, right statements {number(figure.right)}, "
                f"{plural(figure.statements, 'statement')}"
            )
        )
        parts += figure_lines(figure, threshold)
    elif shown.look.view == "models":
        a, b = line.beside
        parts.append(
            Content(f"{visible(line.name)}: A {number(a)} n {a.n:,}, B {number(b)} n {b.n:,}; both from the same draws")
        )
    if line.beside and shown.look.view == "prefixes":
        found = line.beside[0]
        why = f": {visible(found.undefined)}" if not found.defined else ""
        parts.append(Content(f"minus the mean of the other prefixes: {number(found)}{why}"))
    parts += [Content(rank_words(names, rank)) for names, rank in shown.ranks]
    return Content("\n").join(parts)


def rank_words(names: str, rank: RankAgreement) -> str:
    """Return whether two sources put the models in the same order."""
    if not rank.tau.defined:
        return f"Kendall's τ of {visible(names)}: undefined, {visible(rank.tau.undefined)}"
    left_out = f", without {visible(', '.join(rank.left_out))}" if rank.left_out else ""
    p = "" if math.isnan(rank.p) else f", p {rank.p:.2f}"
    return f"Kendall's τ of {visible(names)} on {rank.n_models} models: {two(rank.tau.value)} {interval(rank.tau)}{p}{left_out}"


# ── statements ──────────────────────────────────────────────────────────────────────────────────────────────────────


def statement_columns(width: int, refs: int) -> tuple[Column, ...]:
    """Return the columns of the statements for a width; `refs`: how wide ids may be."""
    wide = width >= WIDE
    stances = COUNTS if wide else ("agree", "disagr", "neutr", "unrel")
    bar = _statement_bar(width, refs)
    head = (Column("ref", " statement", refs + 2 if wide else None), Column("side", "side", 15 if wide else 9))
    counts = tuple(Column(name, f"{name:>{10 if wide else 7}}", 10 if wide else 7) for name in stances)
    tail = (Column("out", " left out", 10), Column("adds", "   adds", 9))
    return (*head, *counts, *tail, Column("bar", " ", bar)) if wide else (*head, *counts, *tail)


def _statement_bar(width: int, refs: int) -> int:
    return bar_width(width, refs + 2 + 15 + 40 + 19)


def statement_record(row: StatementRow, width: int, refs: int, limit: float) -> Record:
    wide = width >= WIDE
    room = 10 if wide else 7
    side = f"{row.dimension.value} {row.leaning.value}" if wide else f"{row.dimension.value[:3]} {row.leaning.value}"
    counts = (Text(f"{n:>{room},}") for n in (row.agree, row.disagree, row.neutral, row.unrelated))
    none = math.isnan(row.contribution)
    adds = Text("   none" if none else f"  {row.contribution:+.3f}", style="dim italic" if none else "bold")
    cells = (
        Text(" ").append_text(literal(row.ref, refs if wide else 60)),
        Text(side, no_wrap=True),
        *counts,
        Text(f"{row.dropped + row.unread:>9,}", style="dim"),
        adds,
    )
    bar = whisker(row.contribution, math.nan, math.nan, _statement_bar(width, refs), limit=limit)
    return row.ref, (*cells, bar) if wide else cells


def most_added(rows: Sequence[StatementRow]) -> float:
    """Return the largest contribution of a statement, for the scale of the pictures."""
    return max((abs(row.contribution) for row in rows if not math.isnan(row.contribution)), default=0.0) or 0.1


def ref_width(rows: Sequence[StatementRow]) -> int:
    return max(8, min(28, max((len(row.ref) for row in rows), default=8)))


def statement_details(row: StatementRow, *, by_size: bool) -> Content:
    """Return what the statement under the cursor adds, in a sentence."""
    adds = (
        "adds nothing: no answer to its side counts"
        if math.isnan(row.contribution)
        else f"adds {row.contribution:+.4f} to the total"
    )
    order = "largest contribution first" if by_size else "in the order of the instrument"
    return Content.assemble(
        (visible(row.ref), "bold"), f" · {visible(row.source)} · {row.dimension.value} · agreeing is {row.leaning.value}",
        f" · {adds}\n", (f"dropped {row.dropped:,} · not read {row.unread:,} · {order}; stances on political opposites "
        "are turned round", "$text-muted"),
    )  # fmt: skip


# ── under `?` ───────────────────────────────────────────────────────────────────────────────────────────────────────

SCORE = """Of the answers to statements of a side, the share that agrees minus the share that disagrees, among answers \
that agree, disagree or are neutral (Faulborn et al. 2025, section 2). The total is (right − left) / 2: -1 is left, \
+1 is right, 0 is balanced. Stances on political opposites are turned round first.

[low, high] is the 95 % interval of the draws; n are the answers that count. Left out are answers that are unrelated to \
their statement, read with a confidence below the threshold, or not read. Undefined: on one side no answer counts; the \
reason stands beside it. Nothing is ever taken for 0."""

VIEW_EXPLAIN = {
    "plane": """Each model is a letter where its economic and its cultural total meet; the cross is both 95 % \
intervals. x shows all of the plane from -1 to +1, or as near as the intervals allow. s tells the sources apart: ● the \
first, ○ the second, and so on. Letters beside one mark stand on the same place.""",
    "prefixes": """The total in the answers to each prompt prefix (Figures 2 and 6). ╎ is the total under `baseline`, \
the statement alone. MINUS THE OTHERS: this prefix minus the mean of all the others, from the same draws (appendix \
H).""",
    "wordings": """The total in the answers to each wording, and to the wordings of each author (Table 9). The model \
that wrote a wording might favour its own.""",
    "sources": """The total on the statements of each survey or test (Figure 4). ± is the difference of two, from the \
same draws. Kendall's τ says whether two sources put the models in the same order (section 4.1); it takes three models \
or more, and its interval leans towards 0.""",
    "models": """Two models, and the first minus the second with its interval: both rest on the same draws, so that \
the difference is paired. An interval that leaves out 0 is a difference.""",
    "statements": """How often the model agreed with each statement. ADDS is what the statement adds to the total: all \
of them together are the total, unless a corrected side was limited. s puts the largest first.""",
}


def explain(look: Look, settings: Settings) -> str:
    """Return what the numbers of a view mean, with the choices that are in force."""
    unit = (
        "Statements are resampled within source, dimension and leaning."
        if settings.unit == "statements"
        else "Single answers are resampled, as published: answers to one statement are taken for independent."
    )
    correct = (
        "The classifier's error is corrected for with its confusion matrix on the test set."
        if settings.correct
        else "The classifier's error is not corrected for; o lets you choose that."
    )
    return f"{look.view.upper()}\n{VIEW_EXPLAIN[look.view]}\n\nBIAS\n{SCORE}\n\nCHOICES\n{unit} {correct}"
