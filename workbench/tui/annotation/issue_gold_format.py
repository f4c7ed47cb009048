"""Agreement on policy issues, and the statements behind it, as columns, cells and sentences; pure.

Nobody's name is in what these functions return but in the list of who is how far.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual.content import Content

from workbench.domain.counting import plural
from workbench.domain.instruments import IssueDefinition
from workbench.tui.annotation.issue_grid_format import CELL_CHARACTERS, SIGNS, issue_lines
from workbench.tui.format import decimals, estimate, literal, visible
from workbench.tui.widgets.record_table import Column, Record

if TYPE_CHECKING:
    from workbench.annotation.issues import Case, IssueAgreement, IssueReport
    from workbench.domain.verdicts import Estimate

WIDE = 120
"columns from which intervals, alpha and percent have a place"
SHOWN = ("ties", "where people differ", "all")

EXPLAIN = """Per issue, over the labels −1, 0 and +1 that annotators gave:

Cohen    mean of Cohen's κ over all pairs of annotators, (sd) over the
         pairs: arXiv version 1 of Ceron et al. 2024, Table 3
Fleiss   Fleiss' κ over all annotators at once: the journal version
         (TACL), Table 1. Both tables print the same values.
[ , ]    95 % interval: statements resampled with replacement
n        statements with two labels or more; others are left out
α, %     Krippendorff's α (nominal); share of equal pairs of labels
+ 0 −    statements by gold label: agreeing supports the issue, is not
         related to it, works against it
ties     statements on which no label has more than half of the
         annotators, and on which nobody has decided

Few statements bear on any one issue, so most labels are 0: κ is low
where people differ on a few of these, whatever the share of equal
labels. Undefined: everybody gave one and the same label throughout.

The published values cannot be computed anew: only the gold labels are
public, not those of the three annotators.

Which label counts: a decision made here; else the source's own gold
label; else what more than half of at least two annotators said. w leaves
the source's labels out, so that only people and decisions count."""

CASES_EXPLAIN = """What annotators said of each statement for an issue, ties first. A, B, …
are the annotators; letters are dealt anew for every statement and
issue, so A of one row is nobody in particular.

a, d and n decide: +1 agreeing supports the issue, −1 disagreeing does,
0 not related. A decision is in the store before the cursor moves on; it
wins over all labels. Space takes a decision back, z undoes one step
after another. Labels that changed while they were looked at are shown
before anything is decided.

◆ to decide   ✓ decided   ≠ people differ, more than half agree
= all who labelled it agree   · fewer than two labelled it"""


def issue_columns(width: int) -> list[Column]:
    """Return the columns of the table of issues."""
    if width < WIDE:
        return [
            Column("issue", "issue", None),
            Column("cohen", "Cohen (sd)", 11),
            Column("fleiss", "Fleiss", 16),
            Column("n", "   n", 5),
            Column("gold", "  +   0   −", 12),
            Column("ties", "ties", 5),
        ]
    return [
        Column("issue", "issue", None),
        Column("cohen", "Cohen (sd)", 24),
        Column("fleiss", "Fleiss", 17),
        Column("alpha", "α", 17),
        Column("percent", "  %", 5),
        Column("n", "   n", 6),
        Column("gold", "  +   0   −", 12),
        Column("ties", "ties", 5),
        Column("decided", "decided", 8),
    ]


def issue_record(issue: IssueAgreement, definition: IssueDefinition, width: int) -> Record:
    """Return a row of the table of issues."""
    below, none, above = issue.gold
    title = literal(definition.title or issue.issue.replace("_", " "))
    fixed = sum(column.width or 0 for column in issue_columns(width))
    title.truncate(max(8, width - 1 - fixed) - 1, overflow="ellipsis")
    gold = Text(f"{above:>3} {none:>3} {below:>3} ", style="" if any(issue.gold) else "dim")
    ties = Text(f"{issue.ties:>4} ", style="bold" if issue.ties else "dim")
    n = Text(f"{issue.fleiss.n:>4} ")
    if width < WIDE:
        return issue.issue, (title, cohen_cell(issue, wide=False), kappa_cell(issue.fleiss), n, gold, ties)
    percent = Text(f"{100 * issue.percent.value:>3.0f}  " if issue.percent.defined else "  –  ")
    decided = Text(f"{issue.decided:>7} ", style="" if issue.decided else "dim")
    cells = (cohen_cell(issue, wide=True), kappa_cell(issue.fleiss), kappa_cell(issue.alpha), percent)
    return issue.issue, (title, *cells, n, gold, ties, decided)


def cohen_cell(issue: IssueAgreement, *, wide: bool) -> Text:
    """Return `.58 (.15)`, with room `.58 [.41, .72] (.15)`."""
    mean = issue.cohen.mean
    if not mean.defined:
        return Text("–", style="dim")
    spread = "" if math.isnan(issue.cohen.sd) else f" ({decimals(issue.cohen.sd)})"
    interval = f" [{decimals(mean.low)}, {decimals(mean.high)}]" if wide and not math.isnan(mean.low) else ""
    return Text(f"{decimals(mean.value)}{interval}{spread} ")


def kappa_cell(found: Estimate) -> Text:
    """Return `.58 [.41, .72]`, `–` where there is no value."""
    if not found.defined:
        return Text("–", style="dim")
    interval = "" if math.isnan(found.low) else f" [{decimals(found.low)}, {decimals(found.high)}]"
    return Text(f"{decimals(found.value)}{interval} ")


def gold_overview(report: IssueReport, whose: str) -> Content:
    """Return who labelled how much, and what counts."""
    done = ", ".join(f"{literal(a.annotator, 16).plain} {a.complete:,}" for a in report.annotators)
    who = f"done by: {done}" if done else "nobody has labelled statements here; a source's own labels are nobody's"
    counts = (
        "a source's own gold label goes before people's" if whose == "gold" else "people's labels and decisions only"
    )
    outside = f" · {plural(report.outside, 'label')} on issues outside the scheme" if report.outside else ""
    return Content.assemble(
        Content(f"{plural(report.statements, 'statement')}, {who}{outside}\n"),
        (f"what counts: {counts}", "$text-muted"),
    )


def gold_details(issue: IssueAgreement, definition: IssueDefinition, width: int) -> Content:
    """Return what the table has no room for: definition, intervals, each pair, and why a number is not there."""
    below, none, above = issue.given
    cohen, pairs = issue.cohen, issue.cohen.pairs
    left = f"; {plural(len(pairs) - cohen.defined, 'pair')} without a κ" if cohen.defined < len(pairs) else ""
    lines = [
        issue_lines(definition, width, 4),
        Content(f"mean Cohen's κ  {estimate(cohen.mean)} over {plural(cohen.defined, 'pair')}{left}"),
        Content(f"Fleiss' κ       {estimate(issue.fleiss)}; {issue.fleiss.excluded:,} left out"),
        Content(f"Krippendorff α  {estimate(issue.alpha)} · equal pairs {estimate(issue.percent)}"),
        Content(f"labels given    +1 {above:,}   0 {none:,}   −1 {below:,}"),
    ]
    return Content("\n").join(lines)


def case_columns(width: int, every: bool) -> list[Column]:
    """Return the columns of the list of cases; `every`: of all issues."""
    columns = [Column("mark", " ", 2), Column("ref", "id", 9)]
    if every:
        columns.append(Column("issue", "issue", 22 if width >= WIDE else 13))
    return [*columns, Column("text", "statement", None), Column("labels", "labels", 22), Column("gold", "gold", 5)]


def case_record(key: str, case: Case, letters: Sequence[tuple[str, int]], text: str, width: int, every: bool) -> Record:
    """Return a row of the list of cases."""
    fixed = 2 + 9 + 22 + 5 + ((22 if width >= WIDE else 13) if every else 0)
    shown = literal(text[:CELL_CHARACTERS])
    shown.truncate(max(8, width - 1 - fixed) - 1, overflow="ellipsis")
    cells = [Text(case_mark(case), style="bold" if case.open else ""), literal(case.statement, 8)]
    if every:
        cells.append(literal(case.issue.replace("_", " "), 21 if width >= WIDE else 12))
    said = Text(labels_cell(letters), style="" if case.differs else "dim")
    gold = Text(f"{SIGNS[case.gold]:>3} ", style="bold" if case.gold else "dim")
    return key, (*cells, shown, said, gold)


def case_mark(case: Case) -> str:
    """Return the sign of a case's state; `CASES_EXPLAIN` says what they mean."""
    if case.open:
        return "◆"
    if case.adjudicated is not None:
        return "✓"
    if len(case.labels) < 2:
        return "·"
    return "≠" if case.differs else "="


def labels_cell(letters: Sequence[tuple[str, int]]) -> str:
    """Return `A +1  B 0  C −1`, of many only the first."""
    shown = "  ".join(f"{letter} {SIGNS[label]}" for letter, label in letters[:3])
    return shown + (f" +{len(letters) - 3}" if len(letters) > 3 else "")


def case_details(
    case: Case, letters: Sequence[tuple[str, int]], definition: IssueDefinition, width: int, lines: int
) -> Content:
    """Return the issue, everybody's labels under letters, and what counts."""
    said = "   ".join(f"{letter} {SIGNS[label]}" for letter, label in letters) or "nobody's"
    parts = [f"labels: {said}"]
    if case.source is not None:
        parts.append(f"the source's own: {SIGNS[case.source]}")
    return Content("\n").join([
        issue_lines(definition, width, lines),
        Content.styled(" · ".join(parts), "bold"),
        Content.styled(standing_line(case), "$text-muted"),
    ])  # fmt: skip


def standing_line(case: Case) -> str:
    """Say which label counts, and why."""
    sign = SIGNS[case.gold]
    return {
        "adjudicated": f"gold {sign}: decided here",
        "source": f"gold {sign}: the source's own label" + (", though people's labels tie" if case.open else ""),
        "majority": f"gold {sign}: more than half of the annotators",
        "tied": "no gold label: the annotators' labels tie",
        "few": "no gold label: too few annotators",
    }[case.standing.value]


def chosen(cases: Sequence[Case], shown: str) -> list[Case]:
    """Return the cases to list, ties first, then what was decided, then where people differ, then the rest."""
    listed = [case for case in cases if case.labels or case.adjudicated is not None]
    if shown == "ties":
        listed = [case for case in listed if case.open]
    elif shown == "where people differ":
        listed = [case for case in listed if case.differs or case.adjudicated is not None]
    return sorted(listed, key=lambda case: (not case.open, case.adjudicated is None, not case.differs))


def nothing_listed(shown: str, cases: Sequence[Case]) -> str:
    """Say why no case is listed."""
    people = [case for case in cases if case.labels]
    if not people:
        return "Nobody has labelled statements for this yet."
    if not any(len(case.labels) > 1 for case in people):
        return "Only one person has labelled each statement so far: there is nothing to disagree about."
    if shown == "ties":
        return "There is nothing to decide: no labels tie, or every tie is decided. x shows more."
    return "Everybody agrees on every statement that was labelled twice. x shows all."


def case_key(case: Case) -> str:
    """Return the key of a row: unique, whatever is in the names."""
    return f"{len(case.statement)}:{case.statement}:{case.issue}"


CASE_KEYS: Mapping[str, int | None] = {
    "a": 1, "plus": 1, "1": 1,
    "d": -1, "minus": -1,
    "n": 0, "0": 0,
    "space": None, "backspace": None, "delete": None,
}  # fmt: skip


def decided_line(label: int | None, issue: str, statement: str, undo: bool) -> Content:
    """Return `for-01 law and order: +1 decided – z to undo`."""
    what = "decision taken back" if label is None else f"{SIGNS[label]} decided"
    said = f"{literal(statement, 20).plain} {visible(issue).replace('_', ' ')}: {what}"
    return Content.assemble(said, " – " if undo else "", ("z", "bold") if undo else "", " to undo" if undo else "")
