"""An item to adjudicate as sentences; pure. Nobody's name is in what these functions return."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.content import Content

from workbench.domain.annotations import Codebook, Reason, Subject
from workbench.domain.names import plural
from workbench.help.sections import section
from workbench.tui.format import visible
from workbench.tui.kit.note_dialog import short_note

if TYPE_CHECKING:
    from stores.annotation.labels import Decision, GivenLabel
    from workbench.tui.annotation.adjudication_session import AdjudicationQueue, Case

REASONS = {
    Reason.SLIP: "one annotator pressed the wrong key or misread",
    Reason.AMBIGUOUS: "the text supports both labels",
    Reason.GUIDELINE: "the guideline does not cover this",
    Reason.CONTEXT: "deciding requires the statement",
    Reason.HEDGED: "the response argues both sides before it decides",
    Reason.OTHER: "none of the reasons 1 to 5; a note can say more",
}
"in the order of their digits"
IN_SHORT = {
    Reason.SLIP: "wrong key",
    Reason.AMBIGUOUS: "supports both",
    Reason.GUIDELINE: "does not say",
    Reason.CONTEXT: "needs statement",
    Reason.HEDGED: "argues both",
    Reason.OTHER: "none of 1-5",
}
"the same where all are listed: three stand side by side on 80 columns"

EXPLAIN = section("screens-annotation", "Adjudicating")


def nothing_left(found: AdjudicationQueue) -> str:
    """Return why no item is shown."""
    if found.decided:
        return (
            f"All disagreements in this queue are decided: {len(found.decided):,}.\n\n"
            "[ goes back to the last decision, z undoes your last one."
        )
    if not found.compared:
        return "No item has two labels yet, so there are no disagreements."
    items = "1 item has" if found.compared == 1 else f"{found.compared:,} items have"
    return f"No disagreements in this queue: {items} two or more labels, and they agree."


def about(case: Case) -> str:
    """Return where the item stands: `economic · eco-01 · original`; not its side, which would sway who decides."""
    context = case.judged.context
    return " · ".join(visible(part) for part in (context.dimension, context.ref, context.variant) if part)


def is_party(case: Case, name: str | None) -> bool:
    """Return whether a person is one of those who labelled the item."""
    return any(given.annotator == name for given in case.judged.labels)


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


def decision_line(case: Case) -> str:
    """Return what was decided before; "" where nothing was."""
    decision = case.judged.decision
    if decision is None:
        return ""
    if case.judged.open:
        return f"↺ reopened: new labels came after the decision of {_decided(decision)}"
    return f"✓ decided {_decided(decision)}. A label key changes the decision."


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


def reasons(chosen: Reason, *, whole: bool) -> Content:
    """Return the reasons with their digits and what they mean in short, the chosen one marked; `whole`: and a sentence
    about that one.
    """
    parts = list(_reasons(chosen))
    half = len(parts) // 2
    rows = [Content("  ").join(row) for row in (parts[:half], parts[half:])]
    if whole:
        rows.append(Content.styled(f"Why they differ: {chosen.value} – {REASONS[chosen]}", "$text-muted"))
    return Content("\n").join(rows)


def _reasons(chosen: Reason) -> Iterator[Content]:
    for digit, reason in enumerate(REASONS, 1):
        short = (f" ({IN_SHORT[reason]})", "$text-muted")
        if reason is chosen:
            yield Content.assemble((f"▸{digit} {reason.value}", "bold"), short)
        else:
            yield Content.assemble((f" {digit}", "$text-accent"), f" {reason.value}", short)


def counts(left: int, decided: int) -> str:
    """Return `3 left · 2 decided`."""
    return f"{left:,} left · {decided:,} decided"


def place_back(back: int) -> str:
    """Return how far back one looks."""
    return "the last decision" if back == 1 else f"{plural(back, 'decision')} back"
