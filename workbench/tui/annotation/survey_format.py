"""What a survey shows, as text; pure. Nothing here knows which wording of which statement is on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from workbench.domain.names import plural
from workbench.domain.statements import Relation
from workbench.figures.shown import shown
from workbench.figures.table import Column, Kind
from workbench.figures.visible import visible
from workbench.help.sections import section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stores.annotation.respondent import Progress
    from workbench.audits.reliability.agreement import AgreementRow
    from workbench.domain.verdicts import Estimate

KAPPA: Column[Estimate] = Column("kappa", "Cohen's κ", lambda value: value, Kind.COEFFICIENT)

EXPLAIN = section("screens-annotation", "Answering the survey")


def intro_text(name: str, progress: Progress) -> Content:
    """Say what is asked of a person, and that there is no right answer."""
    who = visible(name)
    if progress.done or progress.declined:
        first = f"Welcome back, {who}. You have answered {progress.done:,} of {progress.total:,} statements."
    else:
        first = f"Welcome, {who}. You will read {plural(progress.total, 'statement')}, one at a time."
    paragraphs = (
        "Say whether you agree or disagree with each. Your own view counts: there is no right answer, and you see "
        "nobody else's.",
        "Some statements resemble others. Judge each by itself, without trying to remember earlier answers.",
        "Each answer is saved before the next statement shows. You may leave at any time with q; under the same name "
        "you continue where you stopped.",
    )
    lines = [Content.styled(first, "bold")]
    for paragraph in paragraphs:
        lines += [Content(""), Content(paragraph)]
    lines += [Content(""), Content.assemble(("a", "bold"), " agree    ", ("d", "bold"), " disagree    ",
                                            ("s", "bold"), " skip    ", ("z", "bold"), " undo")]  # fmt: skip
    return Content("\n").join([*lines, Content(""), Content.assemble(("Enter", "bold"), " begins.")])


def end_text(name: str, progress: Progress, consistency: Sequence[AgreementRow], more: int) -> Content:
    """Thank, show this person's own consistency, and say which key goes on; `more` statements could be asked."""
    lines = [Content.styled(f"That was the last one. Thank you, {visible(name)}.", "bold"), Content("")]
    lines.append(Content(f"You answered {progress.done:,} of {plural(progress.total, 'statement')}."))
    if progress.declined:
        lines.append(Content(f"You left {progress.declined:,} unanswered."))
    if progress.gone:
        lines.append(Content(f"{progress.gone:,} have been removed from the instrument since."))
    lines += [Content(""), *consistency_lines(consistency), Content("")]
    lines.append(Content.assemble(("Enter", "bold"), " the next person    ", ("q", "bold"), " leave    ",
                                  ("z", "bold"), " undo the last answer"))  # fmt: skip
    if more:
        lines.append(Content.assemble(("n", "bold"), f" continue with {more:,} more statements"))
    return Content("\n").join(lines)


def consistency_lines(rows: Sequence[AgreementRow]) -> list[Content]:
    """Return a person's κ for each kind of variant that they were asked, and what it should be near."""
    asked = [row for row in rows if row.raw and row.raw[0].n + row.raw[0].excluded]
    if not asked:
        return [Content("Your answers cannot be compared: that requires an original and one of its variants.")]
    lines = [Content.styled("Agreement of your answers to originals and variants: Cohen's κ", "bold")]
    for row in asked:
        name = row.name.replace("_", " ")
        lines.append(Content(f"  {name:<20}{_kappa(row.raw[0])}"))
        if row.relation is Relation.FLIPPED and row.flipped[0].defined:
            lines.append(Content(f"  {'  after flipping':<20}{_kappa(row.flipped[0])}"))
    meaning = (
        "1 means the same view throughout. For variants with the contrary meaning κ is",
        "below 0, and 1 after flipping. [95 % interval]; n: pairs.",
    )
    return [*lines, *(Content.styled(f"  {line}", "$text-muted") for line in meaning)]


def _kappa(value: Estimate) -> str:
    return f"{shown(value, KAPPA)} n {value.n:,}"
