"""The questions of one cell of response biases as columns, rows and sentences; pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text
from textual.content import Content

from workbench.domain.choices import Bias
from workbench.domain.counting import plural
from workbench.tui.format import literal, percent, visible
from workbench.tui.screens.response_bias_around import DEFINITION_WORDS
from workbench.tui.screens.response_bias_format import (
    BIAS_NAMES,
    NONE,
    interval,
    place_name,
    share,
    signed,
    stars,
    word,
)
from workbench.tui.screens.response_bias_view import Loaded, Place, cell_of
from workbench.tui.widgets.record_table import Column, Record
from workbench.tui.widgets.whisker import stem

if TYPE_CHECKING:
    from workbench.audits.response_bias_figures import Cell
    from workbench.pipeline.response_bias_questions import QuestionRow

DELTA, KEY, TOPIC, ENTROPY, VALID, PICTURE = 9, 20, 18, 9, 13, 23
ROOMY, WIDE = 100, 130
"columns from which topics have a column, and from which changes are drawn"
NEVER = 10_000
LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Which questions of a cell are listed."""

    find: str = ""
    topic: str | None = None
    "None: all; empty: questions without one"

    def admits(self, row: QuestionRow) -> bool:
        """Return whether a question is listed."""
        words = self.find.casefold()
        found = not words or any(words in text.casefold() for text in (row.key, row.topic, row.stem))
        return found and (self.topic is None or row.topic == self.topic)


def question_columns(*, topics: bool) -> tuple[Column, ...]:
    """Return the columns; each says from which width on it is there."""
    return (
        Column("delta", "      Δ", DELTA),
        Column("picture", "-100       0      +100", PICTURE, least=WIDE),
        Column("key", "key", KEY),
        Column("topic", "topic", TOPIC, least=ROOMY if topics else NEVER),
        Column("stem", "question", None),
        Column("entropy", " entropy", ENTROPY),
        Column("valid", " valid q, q'", VALID, least=ROOMY),
    )


def question_record(row: QuestionRow) -> Record:
    """Return the row of a question; what takes no part has no number."""
    out = bool(row.left_out)
    delta = Text(LEFT_OUT, style="dim italic") if out else Text(f"{signed(row.delta):>7}", style="bold")
    valid = " ".join(f"{NONE if math.isnan(one) else percent(one):>5}" for one in row.valid)
    return row.key, (
        delta,
        Text(" " * (PICTURE - 1)) if out else stem(row.delta, PICTURE - 2, limit=100.0),
        literal(row.key, KEY - 1),
        literal(row.topic, TOPIC - 1, style="dim"),
        literal(row.stem or "(text not known)", 300, style="" if row.stem else "dim italic"),
        Text(f"{share(row.entropy):>8}", style="dim"),
        Text(f"{valid:>12}", style="dim", no_wrap=True),
    )


def about(loaded: Loaded, subject: str, place: Place) -> Content:
    """Say whose questions these are, what they come to, and by which definition."""
    cell = cell_of(loaded, subject, place)
    turns = " ← →" if len(loaded.subjects) > 1 else ""
    head = Content.assemble(
        (place_name(place), "bold"), "  ", (visible(subject), "bold $text-accent"), (turns, "$text-muted")
    )
    if cell is None:
        return Content("\n").join([head, Content(f"{visible(subject)} was not asked this.")])
    surely = stars(cell.p_adjusted, significant=cell.effect != 0)
    mean = " ".join(filter(None, (signed(cell.delta.mean), interval(cell.delta), surely)))
    definition = loaded.settings.definition
    return Content("\n").join(
        [
            Content.assemble(head, f"  {mean} {_said(cell)}"),
            Content.assemble((definition, "bold $text-accent"), f" {DEFINITION_WORDS[definition]}"),
        ]
    )


def _said(cell: Cell) -> str:
    """Return what a cell says, in the words of the matrix where it would be long."""
    return cell.said if cell.condition is None else word(cell)


def counted(rows: Sequence[QuestionRow], listed: Sequence[QuestionRow], narrowing: Narrowing) -> str:
    """Say how many questions are listed, and which."""
    out = sum(bool(row.left_out) for row in listed)
    said = [plural(len(listed), "question") + (f" of {len(rows):,}" if len(listed) < len(rows) else "")]
    if out:
        said.append(f"{out:,} {'takes' if out == 1 else 'take'} no part")
    if narrowing.topic is not None:
        said.append(f"topic {visible(narrowing.topic) or 'none'} (t next)")
    if narrowing.find:
        said.append(f"with “{visible(narrowing.find)}” (Esc all)")
    return " · ".join(said)


def topics_of(rows: Sequence[QuestionRow]) -> tuple[str | None, ...]:
    """Return what t goes through: everything, then each topic."""
    return (None, *sorted({row.topic for row in rows}, key=lambda topic: (not topic, topic)))


def details(row: QuestionRow, bias: Bias) -> Content:
    """Return what stands below the rows: the question's stem, and why it takes no part where it does not."""
    parts: list[Content] = [
        Content.assemble(
            (visible(row.key), "bold"), f"  {BIAS_NAMES[bias]}", f" · {visible(row.topic)}" * bool(row.topic)
        )
    ]
    if row.left_out:
        parts.append(Content.styled(f"takes no part: {row.left_out}", "$text-warning"))
    words = visible(row.stem, lines=True) or "Its text is not known: only answers to it were imported."
    return Content("\n").join([*parts, Content(words)])
