"""The answers behind a bias score as cells and text; pure. What a model wrote is hostile and shown as it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text
from textual.content import Content

from workbench.domain.statements import Relation, VariantId, VariantKind
from workbench.tui.format import EMPTY, literal, visible
from workbench.tui.screens.results_view import PEOPLE
from workbench.tui.widgets.record_table import Column, Record

if TYPE_CHECKING:
    from stores.bias import BiasResponse

WIDE = 120
CELL_CHARACTERS = 300
PREVIEW_CHARACTERS = 1000
MARKS = {"agree": "+", "disagree": "−", "neutral": "=", "unrelated": "×", None: "·"}
BELOW, UNREAD, CUT = "below", "not read", "cut off"
KINDS = ("", "agree", "disagree", "neutral", "unrelated", BELOW, UNREAD, CUT)
"what `f` goes through: all answers, those of a stance that count, those below the threshold, not read, cut off"
WORDS = {"": "all answers", BELOW: "below the threshold", UNREAD: "not read", CUT: "cut off in thought"}
TURNED = {"agree": "disagree", "disagree": "agree"}


@dataclass(frozen=True, slots=True)
class Readers:
    """Who read, and from which confidence on a reading counts."""

    name: str
    threshold: float

    def kind(self, row: BiasResponse) -> str:
        """Return which of `KINDS` an answer is."""
        if row.truncated:
            return CUT
        if row.label is None:
            return UNREAD
        below = not row.by_rule and row.confidence is not None and row.confidence < self.threshold
        return BELOW if below else row.label

    def who(self, row: BiasResponse) -> str:
        """Return who read an answer."""
        return "the rule for numbers" if row.by_rule else self.name


def wording_of(row: BiasResponse) -> VariantId:
    return VariantId(VariantKind(row.kind), row.ordinal)


def answer_columns(width: int) -> tuple[Column, ...]:
    """Return the columns of answers for a width."""
    columns = [
        Column("count", " times", 7),
        Column("reading", "reading", 13),
        Column("sure", "conf.", 7),
        Column("prefix", "prefix", 19 if width >= WIDE else 14),
    ]
    columns += [Column("wording", "wording", 21)] if width >= WIDE else []
    return (*columns, Column("text", "answer", None))


def answer_record(place: int, row: BiasResponse, width: int, readers: Readers) -> Record:
    """Return a row; its key is its place among what was read."""
    counts = readers.kind(row) not in (BELOW, UNREAD, CUT)
    sure = "rule" if row.by_rule else PEOPLE if row.label and row.confidence is None else _confidence(row.confidence)
    cells = [
        Text(f"{row.count:>5}×"),
        Text(reading_words(row.label, row.truncated), style="" if counts else "dim"),
        Text(sure, style="dim" if counts else "yellow"),
        literal(row.template, (19 if width >= WIDE else 14) - 1),
    ]
    cells += [literal(str(wording_of(row)), 20)] if width >= WIDE else []
    text = literal(row.text, CELL_CHARACTERS) if row.text else Text(EMPTY, style="dim italic")
    return str(place), (*cells, text)


def _confidence(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def reading_words(label: str | None, truncated: bool = False) -> str:
    """Return `+ agree`, `− disagree`, `= neutral`, `× unrelated`, `· not read`, `· cut off`."""
    return f"{MARKS.get(label, '?')} {visible(label or (CUT if truncated else UNREAD))}"


def reading_line(row: BiasResponse, readers: Readers) -> Content:
    """Say how an answer was read, by whom, and what that means for its statement."""
    kind = readers.kind(row)
    sure = "" if row.confidence is None or row.by_rule else f", confidence {row.confidence:.3f}"
    by = "" if row.label is None else f"  by {visible(readers.who(row))}{sure}"
    means = ""
    if kind == BELOW:
        means = f"; below {readers.threshold:g}, so it does not count"
    elif row.relation == Relation.FREE:
        means = "; nothing is expected of this wording, so it does not count"
    elif kind in TURNED and row.relation == Relation.FLIPPED:
        means = f"; on the opposite, so it counts as {TURNED[kind]}"
    elif kind == "unrelated":
        means = "; it does not count"
    return Content.assemble(
        (reading_words(row.label, row.truncated), "bold"),
        (by, "$text-muted"),
        means,
        (f"  {row.count}×", "$text-muted"),
    )


def answer(row: BiasResponse) -> Content:
    """Return the wording that was put to the model, and its answer, cut where it is long."""
    asked = Content.styled(f"{wording_of(row)}: {visible(row.wording)}\n", "$text-muted")
    if not row.text:
        return asked + Content.styled(EMPTY, "dim italic")
    shown = Content(visible(row.text[:PREVIEW_CHARACTERS], lines=True))
    more = len(row.text) > PREVIEW_CHARACTERS
    return asked + shown + (Content.styled(f"\n… {len(row.text):,} characters; Enter shows all", "dim") if more else "")


def provenance(row: BiasResponse) -> str:
    """Say where an answer comes from, in one line."""
    return " · ".join(
        visible(part)
        for part in (
            row.model,
            row.version or f"revision {row.revision[:12]}",
            row.sampling,
            f"seed {row.seed}",
            f"prefix {row.template}",
            f"{row.at[:19].replace('T', ' ')} UTC",
            f"workbench {row.code_version}",
            f"job {row.job}",
        )
    )
