"""The findings of an instrument in a sheet: narrowed by severity and kind, with the texts compared below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from workbench.domain.findings import LintFinding, Quoted
from workbench.tui.format import visible
from workbench.tui.results.sheet import Sheet
from workbench.tui.results.sheet_view import SheetView
from workbench.tui.rulings.text import RuledText
from workbench.tui.statements.findings_explained import explanation
from workbench.tui.statements.statement_format import difference, marked

if TYPE_CHECKING:
    from workbench.pipeline.checking import Checked, CheckReport

MOST_QUOTED = 2_000
"characters of a text that stands alone"
TEXTS = ("first_name", "first_text", "second_name", "second_text")
TAKEN_AS_READ = ("key", "instrument", "ref", "variant", "language", *TEXTS)
"columns that say no more than the place and the texts do, which stand below"


class FindingsView(SheetView):
    """Findings, errors first; Enter leads to the wording that one is about."""

    DEFAULT_CSS = """
    FindingsView #details {
        max-height: 50%;
    }
    """
    EVERY = "v"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "narrow('severity')", "Severity", tooltip="Show errors, warnings, notes, all"),
        Binding("c", "narrow('code')", "Kind", tooltip="Show one kind of finding after another"),
        Binding("S", "sort", "Sort", show=False, tooltip="Sort by a column"),
        Binding("0", "all", "All", show=False, tooltip="Show all rows again"),
        Binding("v", "every", "Waived", tooltip="Show waived findings too, or leave them out"),
        Binding("l", "whole", "Whole", show=False, tooltip="Show the texts below from beginning to end"),
    ]

    @property
    def finding(self) -> Checked | None:
        """The finding under the cursor."""
        return self.row[1] if self.row is not None else None

    def told(self, at: int) -> Content:
        if self.sheet is None:
            return Content("")
        return Content("\n").join([*self.ruled(at), finding_details(self.sheet.table.rows[at][1])])

    def action_narrow(self, column: str) -> None:
        self.narrow(column)

    def action_whole(self) -> None:
        self.show_whole()

    def show_whole(self) -> None:
        if (one := self.finding) is not None and (at := self.at) is not None:
            ruled = self.rulings(at) if self.rulings is not None else ()
            self.app.push_screen(RuledText(one.finding.code, finding_details(one), wide=True, rulings=ruled))


def findings_sheet(report: CheckReport) -> Sheet:
    """Return all findings of an instrument; those that are waived are minor."""
    from workbench.pipeline.checking import findings

    name = report.instrument.name
    table = findings([(name, one) for one in report.checked])
    columns = [
        column
        for column in table.columns
        if column.key not in TAKEN_AS_READ and any(column.value(row) is not None for row in table.rows)
    ]
    return Sheet(replace(table, columns=columns))


def finding_details(one: Checked) -> Content:
    """Return what the finding means, the texts side by side, and the waiver."""
    finding = one.finding
    lines = [
        Content.assemble(
            (visible(finding.code), "bold $text-accent"), (f"  {visible(_place(finding))}", "$text-muted")
        ),
        Content(visible(finding.message)),
    ]
    if one.waiver is not None:
        waiver = one.waiver
        said = f"by {visible(waiver.person)}, {visible(waiver.at[:10])}: {visible(waiver.reason or '')}"
        lines.append(Content.assemble(("○ waived ", "bold"), said))
    lines += _compared(finding.texts)
    if explained := explanation(finding.code):
        lines += [Content(""), Content.styled(explained, "$text-muted")]
    return Content("\n").join(lines)


def _place(finding: LintFinding) -> str:
    parts = [finding.subject, str(finding.variant) if finding.variant else "", finding.language or ""]
    return " · ".join(part for part in parts if part)


def _compared(texts: Sequence[Quoted]) -> Iterator[Content]:
    """Yield two texts with what differs between them marked, or the texts as they are."""
    if len(texts) == 2:
        left, right = difference(texts[0].text, texts[1].text)
        for quoted, parts, mark in zip(texts, (left, right), "−+", strict=True):
            yield Content("")
            yield Content.styled(visible(quoted.name), "bold")
            yield marked(parts, mark)
        return
    for quoted in texts:
        yield Content("")
        yield Content.styled(visible(quoted.name), "bold")
        yield Content(visible(_ends(quoted.text), lines=True))


def _ends(text: str) -> str:
    """Return a text with its outer blanks in sight."""
    cut = text if len(text) <= MOST_QUOTED else f"{text[:MOST_QUOTED]}…"
    inner = cut.strip(" ")
    if not inner:
        return "␣" * len(cut) or "(empty)"
    before, after = len(cut) - len(cut.lstrip(" ")), len(cut) - len(cut.rstrip(" "))
    return "␣" * before + inner + "␣" * after
