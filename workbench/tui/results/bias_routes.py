"""The routes of the left/right bias to screens of their own: a whole answer, a classifier."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.content import Content

from workbench.figures.book import Subject
from workbench.figures.shown import number, shown
from workbench.figures.table import AnyTable, Kind
from workbench.tui.results.loaded import Loaded, Opened

if TYPE_CHECKING:
    from workbench.audits.bias_score.scored import ScoredAnswers

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
    """Return a function that opens the screen of classifiers.

    The subject is the name of one, or empty for the newest.
    """
    from workbench.tui.results.classifier import ClassifierScreen

    return lambda: ClassifierScreen(*subject)


def whole_answer(path: Path, loaded: Loaded, subject: Subject) -> Opened | str:  # noqa: ARG001
    """Return a function that opens an answer, or the message that it is gone.

    The subject is a model, a statement, and the key of a row of its answers.
    """
    from workbench.audits.bias_score.answer_tables import answers
    from workbench.audits.bias_score.counting import Selection
    from workbench.tui.results.answers import WholeAnswerScreen

    model, ref, prefix, wording, *_ = subject
    scored: ScoredAnswers = loaded.source
    table = answers(scored, model, ref, Selection(prefix=prefix, variant=wording))
    candidate = next((row for row in table.rows if table.key(row) == subject[2:]), None)
    if candidate is None:
        return GONE
    return lambda: WholeAnswerScreen(
        f"{ref} · {model}",
        candidate.text,
        reading_line(table, candidate),
        provenance(table, candidate),
    )


def reading_line(table: AnyTable, row: Any) -> Content:
    """Return the reading of an answer, its reader, and how it counts."""
    from workbench.evidence.rulings import READ_ANEW

    texts = _values(table, row)
    has_confidence = row.confidence is not None and not row.by_rule
    confidence_text = (
        f", confidence {number(row.confidence, Kind.COEFFICIENT)}" if has_confidence else ""
    )
    is_read = row.label is not None or row.ruled == READ_ANEW
    reader_text = f"  by {texts['reader']}{confidence_text}" if is_read else ""
    ruling = f" ({texts['ruling']})" if row.ruled == READ_ANEW else ""
    count_text = (
        f"; does not count: {texts['left_out']}"
        if texts["left_out"]
        else f"; counts as {texts['counts_as']}"
    )
    return Content.assemble(
        (texts["reading"], "bold"),
        (reader_text, "$text-muted"),
        ruling,
        count_text,
        (f"  {row.count:,}×", "$text-muted"),
    )


def provenance(table: AnyTable, row: Any) -> str:
    """Return the origin of an answer in one line."""
    texts, titles = _values(table, row), {column.key: column.title for column in table.columns}
    titled_keys = ("seed", "prefix", "code_version", "job")
    parts = {
        name: f"{titles[name]} {texts[name]}" if name in titled_keys else texts[name]
        for name in PROVENANCE
    }
    return " · ".join(text for key, text in parts.items() if texts[key])


def _values(table: AnyTable, row: Any) -> dict[str, str]:
    return {column.key: shown(column.value(row), column) for column in table.columns}
