"""The grid of policy-issue labels as columns, cells and sentences; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual.content import Content

from workbench.domain.instruments import IssueDefinition
from workbench.domain.names import plural
from workbench.help.sections import section
from workbench.tui.format import literal, visible
from workbench.tui.widgets.long_text import folded
from workbench.tui.widgets.record_table import Column, Record

if TYPE_CHECKING:
    from stores.annotation.issue_annotator import Row

REF = 9
LEAST_TEXT = 8
WIDEST, NARROWEST = 5, 3
"columns of an issue, the gap among them"
CELL_CHARACTERS = 300
CUT = " … (i)"
"stands where a definition goes on, with the key that shows all of it"
SIGNS = {1: "+1", 0: "0", -1: "−1", None: "·"}
LEAD = 2
"columns before those of the issues: ref and statement"
FILLERS = frozenset(("and", "of", "the", "for", "in", "to"))

EXPLAIN = section("screens-annotation", "Labelling policy issues")


def issue_width(width: int, issues: int) -> int:
    """Return how many columns an issue has in a table of this width."""
    room = (width - 1 - REF - LEAST_TEXT) // max(1, issues)
    return max(NARROWEST, min(WIDEST, room))


def grid_columns(width: int, issues: Sequence[IssueDefinition]) -> list[Column]:
    """Return the columns: ref, statement, and one an issue."""
    each = issue_width(width, len(issues))
    heads = short_heads([issue.name for issue in issues], each - 1)
    columns = [Column("ref", "id", REF), Column("text", "statement", None)]
    return columns + [
        Column(issue.name, f"{head:>{each - 1}} ", each) for issue, head in zip(issues, heads, strict=True)
    ]


def grid_record(row: Row, issues: Sequence[IssueDefinition], width: int) -> Record:
    """Return a row of the table."""
    each = issue_width(width, len(issues))
    labels = (label_cell(row.labels.get(issue.name), each) for issue in issues)
    ref = literal(row.ref, REF - 1, style="" if is_done(row, issues) else "bold")
    text = literal(row.statement.text[:CELL_CHARACTERS])
    room = max(8, width - 1 - REF - each * len(issues)) - 1
    text.truncate(room, overflow="ellipsis")
    return row.ref, (ref, text, *labels)


def label_cell(label: int | None, width: int) -> Text:
    """Return ` +1 `, ` −1 `, `  0 `, `  · `: signs first, so that nothing hangs on colour."""
    style = {1: "bold green", -1: "bold red", 0: "", None: "dim"}[label]
    return Text(f"{SIGNS[label]:>{width - 1}} ", style=style)


def short_heads(names: Sequence[str], width: int) -> list[str]:
    """Return a short head for each issue, all different: its first word that no other issue has, cut.

    Examples
    --------
    >>> short_heads(["open_foreign_policy", "liberal_economic_policy", "liberal_society", "social_welfare"], 4)
    ['open', 'econ', 'socy', 'socl']
    """
    words = [[w for w in visible(name).replace("_", " ").lower().split() if w not in FILLERS] for name in names]
    shared = Counter(word for each in words for word in set(each))
    chosen = [next((w for w in each if shared[w] == 1), each[0] if each else "?") for each in words]
    heads = [literal(word, width).plain.replace("…", "") if len(word) <= width else word[:width] for word in chosen]
    times = Counter(heads)
    heads = [h if times[h] == 1 else word[: width - 1] + word[-1:] for h, word in zip(heads, chosen, strict=True)]
    times = Counter(heads)
    return [h if times[h] == 1 else f"{h[:1]}{n + 1}"[:width] for n, h in enumerate(heads)]


def is_done(row: Row, issues: Sequence[IssueDefinition]) -> bool:
    """Whether a statement has a label for every issue."""
    return all(issue.name in row.labels for issue in issues)


def open_cell(
    rows: Sequence[Row], issues: Sequence[IssueDefinition], at: int = 0, after: int = -1
) -> tuple[int, int] | None:
    """Return the place (row, issue) of the first cell without a label from a row on; around the end.

    after : place of an issue; cells of the first row up to it come last
    """
    for step in range(len(rows) + 1 if rows else 0):
        row = (at + step) % len(rows)
        for place, issue in enumerate(issues):
            if (step > 0 or place > after) and issue.name not in rows[row].labels:
                return row, place
    return None


def issue_lines(issue: IssueDefinition, width: int = 0, lines: int = 0) -> Content:
    """Return an issue's title and definition; with `lines`, cut to so many of this width."""
    title = visible(issue.title or issue.name.replace("_", " "))
    definition = visible(issue.definition) or "not defined: agree on its meaning with the other annotators"
    folds = folded(definition, width) if lines else []
    if len(folds) > lines:
        definition = definition[: folds[lines - 1][0] + max(0, width - len(CUT))].rstrip() + CUT
    return Content.assemble((title, "bold"), (f"  {visible(issue.name)}\n", "$text-muted"), definition)


def scheme_text(issues: Sequence[IssueDefinition], heads: Sequence[str] = ()) -> Content:
    """Return all issues with their definitions."""
    lines: list[Content] = []
    for place, issue in enumerate(issues):
        head = f"{heads[place]:<5}" if heads else ""
        lines += [Content.assemble((head, "$text-accent"), issue_lines(issue)), Content("")]
    return Content("\n").join(lines[:-1])


def where_line(row: Row, others: int) -> Content:
    """Return `for-01 · vd · alliances`, and where the statement is longer than its place, how to see all."""
    about = " · ".join(visible(part) for part in (row.ref, row.statement.country, row.statement.topic) if part)
    rest = f"   {others} more lines: t shows all" if others > 0 else ""
    return Content.assemble((literal(about, 50).plain, "$text-muted"), (rest, "$text-warning"))


KEYS = Content.assemble(
    ("a", "bold"), " +1 agreeing supports it   ", ("d", "bold"), " −1 disagreeing does   ",
    ("n", "bold"), " 0 not related",
)  # fmt: skip


def given(labels: Mapping[str, int | None]) -> str:
    """Say what a step gives: `+1 law and order`, `0 for 5 issues`."""
    if len(labels) == 1:
        [(issue, label)] = labels.items()
        name = visible(issue).replace("_", " ")
        return f"{name} withdrawn" if label is None else f"{SIGNS[label]} {name}"
    return f"0 for {plural(len(labels), 'issue')}"
