"""The bias score as cells, sentences and explanations; pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual.content import Content

from workbench.domain.counting import plural
from workbench.domain.statements import Side
from workbench.domain.verdicts import Estimate
from workbench.tui.format import decimals, literal, percent, visible
from workbench.tui.screens.audit_format import two
from workbench.tui.screens.results_view import INSTRUMENT, PEOPLE, VIEWS, Available, Line, Look, Settings, Shown
from workbench.tui.screens.template_words import heading
from workbench.tui.widgets.plane import MARKS, Interval, Point
from workbench.tui.widgets.record_table import Column, Record
from workbench.tui.widgets.whisker import whisker, whisker_scale

if TYPE_CHECKING:
    from workbench.audits.bias_figures import Figure
    from workbench.audits.bias_report import RankAgreement
    from workbench.pipeline.bias import BiasJudged

WIDE = 120
"columns of the terminal from which numbers stand beside the picture"
VALUE = 20
"columns of `-0.38 [-.53, -.23]` and what keeps it from the next"
MOST_BAR = 61

NO_ANSWERS = """No free-text answers yet.

3 goes to Jobs: n there starts one; choose the audit bias_score.
The bias of the models stands here as soon as their answers have been read.

v shows what the reliability audit says: leaning by party family, stances on policy issues."""
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


# ── around the views ────────────────────────────────────────────────────────────────────────────────────────────────


def tabs(look: Look, letter: str, other: str, *, several: bool) -> Content:
    """Return the names of the views, the one in sight marked, and what is looked at."""
    names = [
        (f"▸{view} ", "bold $text-accent") if view == look.view else (f" {view} ", "$text-muted") for view in VIEWS
    ]
    subject = ""
    if look.view == "models" and look.other:
        subject = f"{letter} − {other}"
    elif look.view != "plane" and look.model:
        subject = f"{letter} {look.model}"
    what = f" · {look.dimension}" if look.dimension and look.view != "plane" else ""
    turn = (" ← →" if several and subject else "", "$text-muted")
    return Content.assemble(*names, "  ", (visible(subject), "bold"), what, turn)


def options_line(judged: BiasJudged, settings: Settings, width: int) -> str:
    """Return every choice that is in force, in one line."""
    reader = visible(judged.reader) + ("" if judged.reader == PEOPLE else f" ≥{settings.threshold:g}")
    chosen, models = bool(settings.models), plural(len(judged.runs), "model")
    left_out = [f"{plural(judged.unlabelled, 'statement')} without a side left out"] if judged.unlabelled else []
    left_out += [f"∅ {plural(len(judged.void), 'wording')} with the original's text void"] if judged.void else []
    if width < WIDE:
        parts = [
            reader,
            "corrected" if settings.correct else "uncorrected",
            settings.unit,
            visible(settings.labels),
            *([models] if chosen else []),
            *(["common prompts"] if settings.common else []),
            *(["void judged"] if settings.judge_void else []),
            f"seed {settings.seed}",
            f"{settings.draws // 1000}k draws",
        ]
    else:
        parts = [
            f"read by {reader}",
            "error corrected" if settings.correct else "error not corrected",
            f"resampled {settings.unit}",
            "sides by the instrument" if settings.labels == INSTRUMENT else f"sides by {visible(settings.labels)}",
            f"{models}{' chosen' if chosen else ''}",
            *(["over common prompts"] if settings.common else []),
            *(["void wordings judged"] if settings.judge_void else []),
            f"seed {settings.seed}",
            f"{settings.draws:,} draws",
        ]
    return " · ".join([*parts, *left_out, *heading(run for of in judged.runs.values() for run in of)])


def correction_notes(judged: BiasJudged, width: int) -> Iterator[str]:
    """Yield what a correction for the classifier's error rests on; in a narrow terminal its gist. `?` says all."""
    if (corrected := judged.corrected) is None:
        return
    if width >= WIDE:
        yield from map(visible, corrected.notes())
    else:
        yield visible(corrected.in_short())


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
        Point(line.letter, x, y, source_mark(line.source, sources), line is at)
        for line in lines
        for x, y in [tuple(Interval(value.value, value.low, value.high) for value in line.beside)]
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


def plane_details(line: Line, threshold: float, *, wide: bool) -> Content:
    """Return both sides of a model's figures, and what does not count; where there is room, of both dimensions."""
    total = line.figures[0]
    left_out = Content.styled(left_out_words(total, threshold), "$text-muted")
    if not wide:
        head = Content.assemble((f"{line.letter} {visible(line.name)}", "bold"), f"  left {number(total.left)} · ")
        return Content("\n").join([head + f"right {number(total.right)}", left_out])
    heads = f"{'left statements':<20}{'right statements':<20}{'answers':>8}"
    rows = [Content.assemble((f"{f'{line.letter} {visible(line.name)}'[:24]:<26}", "bold"), (heads, "$text-muted"))]
    for name, figure in zip(("total", "economic", "cultural"), line.figures, strict=True):
        rows.append(Content(f"  {name:<24}{number(figure.left):<20}{number(figure.right):<20}{figure.total.n:>8,}"))
    return Content("\n").join([*rows, Content(), *side_lines(total), Content(), left_out])


def side_lines(figure: Figure) -> Iterator[Content]:
    """Yield both sides of a figure, and what was said on them."""
    yield Content.styled(f"{'':<26}{'agree − disagree':<20}{'agree':>8}{'disagree':>10}{'neutral':>9}", "$text-muted")
    for side, value in ((Side.LEFT, figure.left), (Side.RIGHT, figure.right)):
        agree, disagree, neutral, _ = figure.counts[side]
        name = f"{side.value} statements"
        yield Content(f"  {name:<24}{number(value):<20}{agree:>8,}{disagree:>10,}{neutral:>9,}")


def left_out_words(figure: Figure, threshold: float) -> str:
    """Say how many answers count, and why the others do not."""
    given = figure.total.n + figure.total.excluded
    return (
        f"{figure.total.n:,} of {given:,} count ({percent(figure.total.n, given)}); left out: {figure.dropped:,} below "
        f"{threshold:g}, {figure.unrelated:,} unrelated, {figure.unread:,} not read"
        + (f", {figure.truncated:,} cut off in thought" if figure.truncated else "")
    )


# ── lines around 0 ──────────────────────────────────────────────────────────────────────────────────────────────────

NAME, WIDE_NAME, SHARE, DEVIATION = 20, 28, 8, 21


def bar_width(width: int, rest: int) -> int:
    """Return how wide a line around 0 may be; an odd number, so that 0 is in the middle."""
    free = max(9, min(MOST_BAR, width - 1 - rest))
    return free if free % 2 else free - 1


def _bar(view: str, width: int) -> int:
    """Return how wide the pictures of a view are; 0: there is no room for any."""
    if width < WIDE:
        return 0 if view == "models" else bar_width(width, NAME + VALUE + SHARE)
    added = 2 * VALUE if view == "models" else SHARE + (DEVIATION if view == "prefixes" else 0)
    return bar_width(width, WIDE_NAME + VALUE + added)


def line_columns(view: str, width: int, limit: float, heads: tuple[str, str] = ("A", "B")) -> tuple[Column, ...]:
    """Return the columns of a view of lines; `heads` are what two compared models are called."""
    wide, bar = width >= WIDE, _bar(view, width)
    name = Column("name", f" {WHAT[view]}", WIDE_NAME if wide else None)
    if view == "models":
        values = (Column(key, f" {visible(head)}"[: VALUE - 1], VALUE) for key, head in zip("ab", heads, strict=True))
        letters = " − ".join(head.partition(" ")[0] for head in heads)
        columns = [name, *values, Column("difference", f" {letters}", VALUE)]
        return (*columns, Column("bar", whisker_scale(bar, limit), None)) if wide else tuple(columns)
    columns = [name, Column("bar", whisker_scale(bar, limit), bar + 1), Column("bias", " total", VALUE)]
    columns += [Column("n", "      n", SHARE)]
    columns += [Column("deviation", " minus the others", DEVIATION)] if wide and view == "prefixes" else []
    return (*columns, Column("rest", "", None)) if wide else tuple(columns)


WHAT = {"prefixes": "prefix", "wordings": "wording, author", "sources": "source", "models": "answers"}


def line_record(place: int, line: Line, shown: Shown, width: int, limit: float) -> Record:
    """Return a row of a view of lines."""
    wide, view, bar = width >= WIDE, shown.look.view, _bar(shown.look.view, width)
    name = Text(" by " if line.group == "author" else " ").append_text(literal(line.name, 40))
    picture = whisker(
        line.estimate.value,
        line.estimate.low,
        line.estimate.high,
        bar,
        limit=limit,
        reference=shown.reference,
        undefined=visible(line.estimate.undefined),
    )
    if view == "models":
        values = [number_cell(value) for value in (*line.beside, line.estimate)]
        return str(place), (name, *values, *([picture] if wide else []))
    cells = [name, picture, number_cell(line.estimate), Text(f"{line.estimate.n:>7,}", style="dim")]
    if wide and view == "prefixes":
        cells.append(number_cell(line.deviation[0]) if line.deviation else Text(""))
    return str(place), (*cells, *([Text("")] if wide else []))


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
    """Return what is behind the line under the cursor, and what is said of the view as a whole."""
    parts: list[Content] = []
    if (figure := line.figure) is not None:
        about = f"{visible(line.name)} · {plural(figure.statements, 'statement')} with answers that count"
        parts += [Content.styled(about, "bold"), *side_lines(figure)]
        parts.append(Content.styled(left_out_words(figure, threshold), "$text-muted"))
    elif shown.look.view == "models":
        a, b = line.beside
        parts.append(Content(f"{visible(line.name)}: n {a.n:,} and {b.n:,}; d shows one dimension"))
        parts.append(Content(visible(line.over)))
    elif line.over:
        parts.append(Content(f"{visible(line.name)}: {visible(line.over)}"))
    for each in shown.lines if shown.look.view == "prefixes" else ():
        for found in each.deviation:
            why = f": {visible(found.undefined)}" if not found.defined else ""
            parts.append(Content(f"{visible(each.name)} minus the mean of the other prefixes: {number(found)}{why}"))
            if found.common is not None:
                parts.append(Content.styled(f"  {visible(found.common.said)}", "$text-muted"))
    parts += [Content(rank_words(names, rank)) for names, rank in shown.ranks]
    return Content("\n").join(parts)


def rank_words(names: str, rank: RankAgreement) -> str:
    """Return whether two sources put the models in the same order."""
    if not rank.tau.defined:
        return f"Kendall's τ of {visible(names)}: undefined, {visible(rank.tau.undefined)}"
    left_out = f", without {visible(', '.join(rank.left_out))}" if rank.left_out else ""
    p = "" if math.isnan(rank.p) else f", p {rank.p:.2f}"
    tau = f"{two(rank.tau.value)} {interval(rank.tau)}"
    over = "".join(f"; {visible(common.said)}" for common in rank.common if any(common.left_out))
    return f"Kendall's τ of {visible(names)} on {rank.n_models} models: {tau}{p}{left_out}{over}"
