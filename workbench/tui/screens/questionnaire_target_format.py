"""One question under every condition as rows, pictures and sentences; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text
from textual.content import Content

from workbench.domain.counting import plural
from workbench.domain.questionnaires import Question
from workbench.domain.verdicts import Estimate
from workbench.tui.format import literal, percent, visible
from workbench.tui.screens.questionnaire_format import (
    FEW,
    WIDE,
    accuracy_line,
    interval,
    people_words,
    points,
    pole_words,
    ratio_cell,
    reach,
    scale_line,
    share_cell,
    side_of_people,
    signed_cell,
    strip_plot,
    token_bar,
    token_legend,
    token_numbers,
)
from workbench.tui.screens.questionnaire_tables import condition_words
from workbench.tui.widgets.record_table import Column, Record
from workbench.tui.widgets.whisker import whisker

if TYPE_CHECKING:
    from workbench.audits.questionnaire_figures import Condition, TargetFigure, TokenShares, VariabilityFigure

NAME, NUMBERS, VALUE, WIDE_VALUE, RATIO, N = 19, 18, 8, 16, 10, 6
LABEL = 11
"columns of what stands before a picture: `accuracy   `"


@dataclass(frozen=True, slots=True)
class ConditionRow:
    """One question under one condition."""

    condition: Condition
    figure: TargetFigure
    shares: TokenShares
    spread: VariabilityFigure | None


def condition_columns(width: int) -> tuple[Column, ...]:
    """Return the columns of the conditions for a width."""
    value = WIDE_VALUE if width >= WIDE else VALUE
    return (
        Column("condition", "condition", NAME),
        Column("bar", "next token", _bar(width)),
        Column("numbers", "  yes  no oth rest", NUMBERS),
        Column("bias", "  bias", value),
        Column("accuracy", "  accuracy" if width >= WIDE else "  right", value),
        Column("ratio", "  yes:no", RATIO),
        Column("n", "    n", N, least=WIDE),
    )


def _bar(width: int) -> int:
    value, n = (WIDE_VALUE, N) if width >= WIDE else (VALUE, 0)
    return max(8, width - 1 - NAME - NUMBERS - 2 * value - RATIO - n)


def condition_record(row: ConditionRow, width: int) -> Record:
    """Return the row of a condition; its key is the condition as it is printed."""
    figure, wide = row.figure, width >= WIDE
    return str(row.condition), (
        literal(condition_words(str(row.condition)), NAME - 1),
        token_bar(row.shares, _bar(width) - 1),
        Text(" " + token_numbers(row.shares), style="dim"),
        signed_cell(figure.bias, figure.bias_se) if wide else _short(figure.bias),
        share_cell(figure.accuracy, figure.accuracy_se, figure.majority)
        if wide
        else Text(
            f"{percent(figure.accuracy.value):>6}{side_of_people(figure.accuracy, figure.majority)}", no_wrap=True
        ),
        ratio_cell(figure.yes, figure.no, 0),
        Text(f"{figure.respondents:>5,}", style="dim"),
    )


def _short(value: Estimate) -> Text:
    return Text.assemble((f"{points(value.value):>6}", "bold"), side_of_people(value), no_wrap=True)


def about(target: str, text: str, topic: str, question: Question | None, model: str, *, several: bool) -> Content:
    """Say which question of whom is looked at."""
    said = [topic] if topic else []
    if question is not None:
        said += [question.form.value, question.scale.replace("_", " ")]
        said += [f"a yes is {question.leaning.value}"] if question.leaning else ["no leaning"]
    return Content.assemble(
        (visible(target), "bold"),
        f"  {visible(text)}\n",
        (visible(" · ".join(said)), "$text-muted"),
        "  ",
        (visible(model), "bold"),
        (" ← →" if several else "", "$text-muted"),
    )


def row_details(row: ConditionRow, question: Question | None, width: int) -> Content:
    """Return the pictures of a condition: tokens, bias, accuracy, wordings."""
    return Content("\n").join(_lines(row, question, width))


def _lines(row: ConditionRow, question: Question | None, width: int) -> Iterator[Content]:
    figure, room = row.figure, max(21, min(61, width - LABEL - 40))
    room -= 1 - room % 2
    yield token_legend(row.shares)
    yield Content.styled(f"people: {people_words(figure)}", "$text-muted")
    limit = reach(_ends(row), near=True)
    yield Content.styled(f"{'':<{LABEL}}{scale_line(room, limit)}", "$text-muted")
    yield _bias_line(row, question, room, limit)
    yield from _wordings(row, room, limit)
    yield _accuracy_line(figure, room)
    unreadable = f" · {plural(figure.unreadable, 'prompt')} without yes or no" if figure.unreadable else ""
    said = f"yes:no {figure.ratio} · p(yes) {percent(figure.p_yes, digits=1)}, sd {points(figure.p_yes_sd, sign=False)}"
    yield Content.styled(f"{'':<{LABEL}}{said}{unreadable}", "$text-muted")


def _ends(row: ConditionRow) -> Sequence[float]:
    bias = row.figure.bias
    wordings = [one.bias for one in row.spread.wordings] if row.spread else []
    return [bias.low, bias.value, bias.high, *wordings]


def _bias_line(row: ConditionRow, question: Question | None, room: int, limit: float) -> Content:
    bias = row.figure.bias
    drawn = whisker(bias.value, bias.low, bias.high, room, limit=limit, undefined=visible(bias.undefined))
    pole = pole_words(bias.value, question.leaning if question else None)
    mark = side_of_people(bias).strip()
    sure = f" {mark} {'few respondents' if mark == FEW else pole}" if mark else ""
    words = f"  {points(bias.value)} {interval(bias)}{sure}" if bias.defined else ""
    return Content.assemble((f"{'bias':<{LABEL}}", "bold"), Content.from_rich_text(drawn), words)


def _accuracy_line(figure: TargetFigure, room: int) -> Content:
    value = figure.accuracy
    drawn = accuracy_line(value, figure.majority, room)
    words = f"  {percent(value.value, digits=1)} {interval(value, sign=False)} of {figure.respondents:,}"
    return Content.assemble(
        (f"{'accuracy':<{LABEL}}", "bold"), Content.from_rich_text(drawn), words, ("  0 … 100 %", "$text-muted")
    )


def _wordings(row: ConditionRow, room: int, limit: float) -> Iterator[Content]:
    if row.spread is None:
        yield Content.styled(f"{'wordings':<{LABEL}}asked in its original wording only", "$text-muted")
        return
    spread = row.spread
    plotted, original = strip_plot(spread.wordings, room, limit)
    sd, rms = (points(value.value, sign=False) for value in (spread.sd, spread.rms))
    yield Content.assemble(
        (f"{'wordings':<{LABEL}}", "bold"), Content.from_rich_text(plotted), f"  sd {sd} · {spread.k} wordings"
    )
    asked = max((one.respondents for one in spread.wordings), default=0)
    yield Content.assemble(
        (f"{'◆ original':<{LABEL}}", "$text-muted"),
        Content.from_rich_text(original),
        f"  rms {rms} · n {asked:,}",
    )
