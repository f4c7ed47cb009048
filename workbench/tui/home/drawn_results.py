"""Home's drawing of the newest results: for each audit, the models on one axis.

Audit        statements that keep their stance
             0 %                  100 %
left                             ├●┤    97.0 %
steady                     ├──●─┤       80.6 %
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from workbench.audits.printed import HomeFigure, HomeLine
from workbench.domain.questionnaires import named_few
from workbench.figures.shown import number
from workbench.figures.table import Kind
from workbench.figures.visible import visible
from workbench.tui.widgets.interval_strip import COLOURS, StripPoint, axis_labels, interval_strip

if TYPE_CHECKING:
    from stores.runs.run_rows import Run

SCALES = {Kind.SHARE: (0.0, 1.0), Kind.SCORE: (-1.0, 1.0)}
ENDS = {Kind.SHARE: ("0 %", "100 %"), Kind.SCORE: ("-1", "+1")}
WITH_INTERVAL, WITHOUT_INTERVAL = "●", "○"
VALUE_WIDTH = 8
"columns of a number after its strip"
LONGEST_NAME, SHORTEST_STRIP = 18, 12


def drawn_results(lines: Sequence[HomeLine], width: int) -> Content | None:
    """Return the figures of an audit's models on one axis, or None if they have none.

    `width`: columns of the drawing.
    """
    drawn_lines = [
        (line, line.figure)
        for line in lines
        if line.figure is not None and line.figure.estimate.defined
    ]
    if not drawn_lines:
        return None
    kind = drawn_lines[0][1].kind
    longest_name = max(Content(visible(line.main)).cell_length for line, _ in drawn_lines)
    name_width = min(longest_name, LONGEST_NAME, max(1, width - SHORTEST_STRIP - VALUE_WIDTH - 2))
    strip_width = max(SHORTEST_STRIP, width - name_width - VALUE_WIDTH - 2)
    heading = f"{drawn_lines[0][0].label}: {drawn_lines[0][1].meaning}"
    axis = " " * (name_width + 1) + axis_labels(ENDS[kind], SCALES[kind], strip_width)
    rows = [
        _row(line, figure, COLOURS[index % len(COLOURS)], name_width, strip_width)
        for index, (line, figure) in enumerate(drawn_lines)
    ]
    return Content("\n").join(
        [Content.styled(heading, "bold"), Content.styled(axis, "$text-muted"), *rows]
    )


def written_result(line: HomeLine) -> Content:
    """Return a result in sentences, which the pane wraps."""
    remarks = [
        Content.styled(visible(text), "$text-warning" if warns else "$text-muted")
        for text, warns in line.below
    ]
    if line.run is not None and line.run.personas:
        remarks.append(Content.styled(visible(_persona_text(line.run)), "$text-muted"))
    heading = Content.styled(f"{line.label}: {visible(line.main)}", "bold")
    return Content("\n").join([heading, Content(visible(line.detail)), *remarks])


def _persona_text(run: Run) -> str:
    """Return the persona that a run was asked with, and the other personas of its model."""
    condition = f"with {run.persona_name}" if run.persona else "without a persona"
    other_personas = [name for name in run.personas if name != run.persona_name]
    if not other_personas:
        return condition
    return f"{condition}; asked with {named_few(other_personas, 3)}, too"


def _row(
    line: HomeLine, figure: HomeFigure, colour: str, name_width: int, strip_width: int
) -> Content:
    """Return a model's name, the strip of its estimate, and the number."""
    estimate = figure.estimate
    point = StripPoint(WITHOUT_INTERVAL if estimate.few else WITH_INTERVAL, estimate, colour)
    strip = interval_strip([point], strip_width, SCALES[figure.kind])
    name = Content(visible(line.main)).truncate(name_width, ellipsis=True, pad=True)
    value_text = f"{number(estimate.value, figure.kind):>{VALUE_WIDTH}}"
    return Content.assemble(name, " ", Content.from_rich_text(strip), " ", (value_text, "bold"))
