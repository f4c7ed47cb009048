"""An item to adjudicate as sentences; pure. Nobody's name is in what these functions return."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

from workbench.domain.annotations import Codebook, LabelOption, Reason, Subject
from workbench.domain.counting import plural
from workbench.tui.format import visible

if TYPE_CHECKING:
    from stores.annotation.labels import Decision, GivenLabel, Judged

REASONS = {
    Reason.SLIP: "one of them pressed the wrong key or misread",
    Reason.AMBIGUOUS: "the text supports both labels",
    Reason.GUIDELINE: "the guideline does not say",
    Reason.CONTEXT: "the statement has to be known to decide",
    Reason.HEDGED: "the response takes both sides before it decides",
    Reason.OTHER: "none of these, or not said",
}
"in the order of their digits"

LONGEST_NOTE = 2000
"characters of a note that are shown"

EXPLAIN = """Only items that people labelled differently and that nobody has decided on are here, one at a time.

A, B, … are the people who labelled. Letters are dealt anew for every item: A of this item is nobody in particular. \
⚑ is a flag; what stands in quotes is the annotator's note.

One key decides: a key of the codebook commits that label, with the reason and the note that are shown. It is in the \
store before the next item appears. Digits choose why people disagreed; every item begins at `other`, so that no \
reason is recorded that nobody chose.

z goes back to earlier decisions. Deciding anew adds a revision; every decision stays on record, the newest counts.

Reopened: somebody labelled the item, or changed a label, after it was decided, and what people say now is not simply \
the label that was decided. The item waits for a new decision and has no gold label until then."""


@dataclass(frozen=True, slots=True)
class Case:
    """An item with its labels under letters."""

    judged: Judged
    given: tuple[tuple[str, GivenLabel], ...]

    @property
    def unit(self) -> int:
        return self.judged.context.unit


@dataclass(frozen=True, slots=True)
class Docket:
    """What there is to adjudicate in a queue."""

    codebook: Codebook
    open: tuple[Case, ...]
    decided: tuple[Case, ...]
    "the newest decision last"
    compared: int
    "items with two labels or more; counted only where nothing is open or decided"


def nothing_left(docket: Docket) -> str:
    """Return why no item is shown."""
    if docket.decided:
        return f"All disagreements in this queue are decided: {len(docket.decided):,}.\n\nz goes back to the last one."
    if not docket.compared:
        return "Nobody has labelled anything twice yet: there is nothing to disagree about."
    items = "1 item has" if docket.compared == 1 else f"{docket.compared:,} items have"
    return f"No disagreements in this queue: {items} two labels or more, all equal."


def about(case: Case) -> str:
    """Return where the item stands: `economic · right · eco-01 · original`."""
    context = case.judged.context
    return " · ".join(
        visible(part) for part in (context.dimension, context.leaning, context.ref, context.variant) if part
    )


def answer_heading(codebook: Codebook, text: str) -> str:
    """Return the heading of the text that was labelled."""
    if codebook.subject is Subject.STATEMENT:
        return "Text"
    return "Response" if text.strip() else "Response (empty)"


def label_lines(case: Case) -> Content:
    """Return one line a label, under letters."""
    wide = max((len(visible(given.label)) for _, given in case.given), default=0)
    return Content("\n").join(_label_line(letter, given, wide) for letter, given in case.given)


def _label_line(letter: str, given: GivenLabel, wide: int) -> Content:
    parts = [
        Content.styled(f"{letter}  ", "$text-muted"),
        Content.styled(f"{visible(given.label):<{wide}}", "bold"),
    ]
    if given.note:
        parts.append(Content(f"  “{short_note(given.note)}”"))
    if given.flagged:
        parts.append(Content.styled("  ⚑ flagged", "$text-warning"))
    return Content.assemble(*parts)


def short_note(note: str) -> str:
    """Return a note on one line, literally."""
    return visible(note[:LONGEST_NOTE]) + ("…" if len(note) > LONGEST_NOTE else "")


def decision_line(case: Case) -> str:
    """Return what was decided before; "" where nothing was."""
    decision = case.judged.decision
    if decision is None:
        return ""
    if case.judged.open:
        return f"↺ reopened: new labels came after the decision of {_decided(decision)}"
    return f"✓ decided {_decided(decision)}. A label key decides anew."


def _decided(decision: Decision) -> str:
    note = f" “{short_note(decision.note)}”" if decision.note else ""
    return f"{moment(decision.at)}: {visible(decision.label)} ({visible(decision.reason)}){note}"


def moment(at: str) -> str:
    """Return a stored time as people read it.

    Examples
    --------
    >>> moment("2026-11-21T09:30:00.123Z")
    '2026-11-21 09:30 UTC'
    """
    return f"{at[:10]} {at[11:16]} UTC"


def choices(options: Sequence[LabelOption]) -> Content:
    """Return the labels with their keys: `a agree   d disagree`."""
    return Content("   ").join(
        Content.assemble((visible(option.key), "bold $text-accent"), f" {visible(option.label)}") for option in options
    )


def reasons(chosen: Reason) -> Content:
    """Return the reasons with their digits, the chosen one marked, and what it means."""
    parts = Content("  ").join(_reasons(chosen))
    meaning = Content.styled(f"Why they differ: {chosen.value} – {REASONS[chosen]}", "$text-muted")
    return Content.assemble(parts, "\n", meaning)


def _reasons(chosen: Reason) -> Iterator[Content]:
    for digit, reason in enumerate(REASONS, 1):
        if reason is chosen:
            yield Content.assemble((f"▸{digit} {reason.value}", "bold"))
        else:
            yield Content.assemble((f" {digit}", "$text-accent"), f" {reason.value}")


def note_line(note: str) -> str:
    """Return the note that the decision will carry."""
    return f"Note: “{short_note(note)}”" if note else ""


def counts(left: int, decided: int) -> str:
    """Return `3 left · 2 decided`."""
    return f"{left:,} left · {decided:,} decided"


def place_back(back: int) -> str:
    """Return how far back one looks."""
    return "the last decision" if back == 1 else f"{plural(back, 'decision')} back"


def guideline(codebook: Codebook) -> str:
    """Return the codebook's question, labels and guideline as a text to read."""
    meanings = "\n".join(f"{option.key}  {option.label}: {option.meaning}" for option in codebook.options)
    return "\n\n".join(part for part in (codebook.question, meanings, codebook.guideline) if part)
