"""Down from a consistency figure: its statements, its parties, and from each statement to the model's answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.widgets import DataTable, Static

from workbench.tui.format import literal, plural, visible
from workbench.tui.screens.audit_table import FluidTable
from workbench.tui.screens.audit_view import Judged
from workbench.tui.screens.audit_view import load as load_audit
from workbench.tui.screens.base import StoreScreen
from workbench.tui.screens.consistency_format import (
    ANSWER_WORDS,
    issue_name,
    party_columns,
    party_record,
    stance_marks,
    statement_columns,
)
from workbench.tui.screens.consistency_view import Loaded
from workbench.tui.widgets.record_table import Column, Record, RecordTable

if TYPE_CHECKING:
    from stores.runs import Run
    from workbench.audits.consistency import LabelledStatement, PartyShare

CELL_CHARACTERS = 400
STANCES = """stance   one mark a template: + agrees, − disagrees, · no reliable stance"""


class DownTable(FluidTable):
    """Rows behind a figure."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Open", key_display="Enter", tooltip="Go down to what this rests on"),
    ]


class StatementsBelow(StoreScreen):
    """The statements behind a figure of one respondent; Enter opens a model's answers."""

    CSS_PATH = "consistency_down.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Back", key_display="Esc")]

    table = query_one("#rows", DownTable)

    @dataclass
    class WasJudged(Message):
        """The answers of the model were judged for the audit's own screens."""

        judged: Judged | None
        ref: str

    def __init__(self, loaded: Loaded, name: str) -> None:
        super().__init__()
        self._loaded, self._who = loaded, name

    def compose_body(self) -> ComposeResult:
        yield Static(self.about(), id="about", markup=False)
        yield DownTable(self.columns, name="rows")
        yield Static(id="details", markup=False)

    def on_mount(self) -> None:
        self.table.focus()
        self.table.show_for_width(lambda _: self.records())

    @on(DataTable.RowHighlighted, "#rows")
    def show_details(self) -> None:
        ref = self.table.current or ""
        self.query_one("#details", Static).update(Content(visible(self._loaded.texts.get(ref, ""), lines=True)))

    @on(RecordTable.RowSelected, "#rows")
    def open_row(self) -> None:
        run, ref = self._run, self.table.current
        if run is None or ref is None:
            self.notify("Baselines and parties have no answers to show.", timeout=3)
        else:
            self.judge(run, ref)

    @on(WasJudged)
    def open_statement(self, event: WasJudged) -> None:
        from workbench.tui.screens.audit_statement import AuditedStatementScreen

        if event.judged is not None and event.judged.templates:
            self.app.push_screen(AuditedStatementScreen(event.judged, event.ref, event.judged.templates[0]))

    def about(self) -> Content:
        """Say what is listed."""
        raise NotImplementedError

    def columns(self, width: int) -> Sequence[Column]:
        """Return the columns for a width."""
        raise NotImplementedError

    def records(self) -> list[Record]:
        """Return the rows."""
        raise NotImplementedError

    @property
    def _run(self) -> Run | None:
        judged = self._loaded.judged
        return next((one.run for one in judged.runs if one.name == self._who), None) if judged else None

    @property
    def _templates(self) -> int:
        judged = self._loaded.judged
        return len(judged.result.respondent(self._who).templates) if judged else 1

    @work(thread=True, exclusive=True, exit_on_error=False, group="judge")
    def judge(self, run: Run, ref: str) -> None:
        self.post_message(self.WasJudged(load_audit(self.store_path, run, self._loaded.settings.rules), ref))


class IssueStatementsScreen(StatementsBelow):
    """The statements of one policy issue."""

    EXPLAIN = f"""label    + agreeing supports the issue, − disagreeing supports it
{STANCES}
for      templates under which the stance supports the issue
against  templates under which it opposes it

Enter opens the answers that the stance rests on."""

    def __init__(self, loaded: Loaded, name: str, issue: str) -> None:
        super().__init__(loaded, name)
        self._issue = issue

    def about(self) -> Content:
        rows = self._rows()
        return Content.assemble(
            (visible(self._who), "bold"), f" · {issue_name(self._issue)} · {plural(len(rows), 'statement')}"
        )

    def columns(self, width: int) -> Sequence[Column]:  # noqa: ARG002
        return statement_columns(self._templates)

    def records(self) -> list[Record]:
        return [
            (
                row.ref,
                (
                    literal(row.ref, 12),
                    literal(self._loaded.texts.get(row.ref, ""), CELL_CHARACTERS),
                    Text(" + agree" if row.label > 0 else " − disagree"),
                    stance_marks(row.stances),
                    Text(f"{row.supports:>4}"),
                    Text(f"{row.opposes:>6}"),
                ),
            )
            for row in self._rows()
        ]

    def _rows(self) -> tuple[LabelledStatement, ...]:
        judged = self._loaded.judged
        return judged.result.issue_statements(self._who, self._issue) if judged else ()


class PartiesScreen(StoreScreen):
    """How often one respondent answers like each party."""

    CSS_PATH = "consistency_down.tcss"
    EXPLAIN = """share    statements on which both take the same side, of all that were asked in the party's country
both +   those where both agree; both − those where both disagree
of       statements of the country that were asked

Parties without a left-right position are in no family. Enter shows the statements."""
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Back", key_display="Esc")]

    table = query_one("#rows", DownTable)

    def __init__(self, loaded: Loaded, name: str) -> None:
        super().__init__()
        self._loaded, self._who = loaded, name

    def compose_body(self) -> ComposeResult:
        yield Static(Content.assemble((visible(self._who), "bold"), " and each party"), id="about", markup=False)
        yield DownTable(party_columns, name="rows")
        yield Static(id="details", markup=False)

    def on_mount(self) -> None:
        self.title_bar.place = "results › consistency › parties"
        self.table.focus()
        self.table.show_for_width(self._records)

    @on(DataTable.RowHighlighted, "#rows")
    def show_details(self) -> None:
        country, _, name = (self.table.current or "\n").partition("\n")
        share = next((s for s in self._shares() if (s.party.country, s.party.name) == (country, name)), None)
        if share is not None:
            said = f"{share.answered} answered, {share.neutral} neutral, {share.missing} without an answer"
            position = "no position" if share.party.position is None else f"position {share.party.position:g} of 10"
            self.query_one("#details", Static).update(Content(f"{visible(name)}: {position}; {said}"))

    @on(RecordTable.RowSelected, "#rows")
    def open_party(self) -> None:
        if (key := self.table.current) is not None:
            country, _, name = key.partition("\n")
            self.app.push_screen(PartyStatementsScreen(self._loaded, self._who, country, name))

    def _shares(self) -> tuple[PartyShare, ...]:
        return self._loaded.judged.result.parties(self._who) if self._loaded.judged else ()

    def _records(self, width: int) -> list[Record]:
        return [party_record(share, width) for share in self._shares()]


class PartyStatementsScreen(StatementsBelow):
    """The statements behind a respondent's share with one party."""

    EXPLAIN = f"""party    what the party answered
{STANCES}
both     templates under which both take the same side

Enter opens the answers that the stance rests on."""

    def __init__(self, loaded: Loaded, name: str, country: str, party: str) -> None:
        super().__init__(loaded, name)
        self._country, self._party = country, party

    def about(self) -> Content:
        return Content.assemble((visible(self._who), "bold"), f" and {visible(self._country)}/{visible(self._party)}")

    def columns(self, width: int) -> Sequence[Column]:  # noqa: ARG002
        return (
            Column("ref", "id", 12),
            Column("text", "statement", None),
            Column("answer", " party", 13),
            Column("stances", " stance", max(8, min(self._templates, 24) + 2)),
            Column("both", " both", 6),
        )

    def records(self) -> list[Record]:
        judged = self._loaded.judged
        rows = judged.result.party_statements(self._who, self._country, self._party) if judged else ()
        return [
            (
                row.ref,
                (
                    literal(row.ref, 12),
                    literal(self._loaded.texts.get(row.ref, ""), CELL_CHARACTERS),
                    Text(f" {ANSWER_WORDS[row.answer]}"),
                    stance_marks(row.stances),
                    Text(f"{row.matches:>4}"),
                ),
            )
            for row in rows
        ]
