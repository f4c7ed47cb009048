"""Where the left/right bias leads that has a screen of its own: a whole answer, the test of a
classifier.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.content import Content

from workbench.figures.book import Subject
from workbench.figures.shown import number, shown
from workbench.figures.table import AnyTable, Kind
from workbench.tui.results.loaded import Loaded, Opened

if TYPE_CHECKING:
    from workbench.audits.bias_score.result import Scored

GONE = "The answer is no longer in the store."
PROVENANCE = (
    "model",
    "version",
    "sampling",
    "seed",
    "prefix",
    "wording",
    "at",
    "code_version",
    "job",
)


def classifier(path: Path, loaded: Loaded, subject: Subject) -> Opened | str:  # noqa: ARG001
    """Return the screen of classifiers; subject: the name of one, or nothing for the newest."""
    from workbench.tui.results.classifier import ClassifierScreen

    return lambda: ClassifierScreen(*subject)


def whole_answer(path: Path, loaded: Loaded, subject: Subject) -> Opened | str:  # noqa: ARG001
    """Return the screen of an answer; subject: a model, a statement, and the key of a row of its
    answers.
    """
    from workbench.audits.bias_score.counting import Selection
    from workbench.audits.bias_score.result import answers
    from workbench.tui.results.answers import WholeAnswerScreen

    model, ref, prefix, wording, *_ = subject
    found: Scored = loaded.material
    table = answers(found, model, ref, Selection(prefix=prefix, variant=wording))
    row = next((row for row in table.rows if table.key(row) == subject[2:]), None)
    if row is None:
        return GONE
    return lambda: WholeAnswerScreen(
        f"{ref} · {model}", row.text, reading_line(table, row), provenance(table, row)
    )


def reading_line(table: AnyTable, row: Any) -> Content:
    """Say how an answer was read, by whom, and what it counts as."""
    from workbench.evidence.rulings import READ_ANEW

    of = _values(table, row)
    confident = row.confidence is not None and not row.by_rule
    sure = f", confidence {number(row.confidence, Kind.COEFFICIENT)}" if confident else ""
    read = row.label is not None or row.ruled == READ_ANEW
    by = f"  by {of['reader']}{sure}" if read else ""
    ruling = f" ({of['ruling']})" if row.ruled == READ_ANEW else ""
    counts = (
        f"; does not count: {of['left_out']}"
        if of["left_out"]
        else f"; counts as {of['counts_as']}"
    )
    return Content.assemble(
        (of["reading"], "bold"),
        (by, "$text-muted"),
        ruling,
        counts,
        (f"  {row.count:,}×", "$text-muted"),
    )


def provenance(table: AnyTable, row: Any) -> str:
    """Say where an answer comes from, in one line."""
    of, titles = _values(table, row), {column.key: column.title for column in table.columns}
    named = ("seed", "prefix", "code_version", "job")
    parts = {key: f"{titles[key]} {of[key]}" if key in named else of[key] for key in PROVENANCE}
    return " · ".join(part for key, part in parts.items() if of[key])


def _values(table: AnyTable, row: Any) -> dict[str, str]:
    return {column.key: shown(column.value(row), column) for column in table.columns}
