"""Down from a consistency figure: its statements, its parties, and from each statement to the model's answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.widgets import DataTable, Static
from textual.worker import get_current_worker

from workbench.domain.counting import plural
from workbench.tui.format import visible
from workbench.tui.screens.audit_table import FluidTable
from workbench.tui.screens.audit_view import Judged
from workbench.tui.screens.audit_view import load as load_audit
from workbench.tui.screens.base import StoreScreen
from workbench.tui.screens.consistency_down_rows import (
    given_columns,
    given_records,
    issue_records,
    party_statement_columns,
    party_statement_records,
    readable_columns,
    readable_records,
    supported,
)
from workbench.tui.screens.consistency_format import issue_name
from workbench.tui.screens.consistency_tables import party_columns, party_record, statement_columns
from workbench.tui.screens.consistency_view import Loaded, Look, row_key, row_parts
from workbench.tui.widgets.record_table import Column, Record, RecordTable

if TYPE_CHECKING:
    from workbench.audits.consistency import Stances
    from workbench.pipeline.consistency import ConsistencyJudged

PLACE = "results › consistency"
JUDGING = "Reading the answers …"
STANCES = "stance   one mark a template: + agrees, − disagrees, · no reliable stance"
TURN = "← → show the next one who answered. Enter opens the answers that the stance rests on."


def screen_below(loaded: Loaded, look: Look, key: tuple[str, ...]) -> StoreScreen | None:
    """Return the screen that a row of a view leads to; None where nothing lies below it."""
    if loaded.judged is None:
        return None
    if look.view == "issues":
        return IssueStatementsScreen(loaded, look.name, key[0])
    if look.view in ("tests", "models") and key[0] == "issue":
        return IssueStatementsScreen(loaded, look.name, key[1])
    if look.view == "leaning" or (look.view == "models" and key[0] == "family"):
        return PartiesScreen(loaded, key[0] if look.view == "leaning" else look.name)
    if look.view == "parties":
        return GivenAnswersScreen(loaded, key)
    if look.view == "templates":
        return TemplateStatementsScreen(loaded, look.name, key[0])
    return None


class DownTable(FluidTable):
    """Rows behind a figure."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Open", key_display="Enter", tooltip="Go down to what this rests on"),
    ]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return action != "select_cursor" or not isinstance(self.screen, GivenAnswersScreen)


class Below(StoreScreen):
    """Rows behind a figure of one who answered; left and right show the same of the next one."""

    CSS_PATH = "consistency_down.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Back", key_display="Esc")]

    table = query_one("#rows", DownTable)

    def __init__(self, loaded: Loaded, name: str) -> None:
        super().__init__()
        self._loaded, self._who = loaded, name

    def compose_body(self) -> ComposeResult:
        yield Static(id="about", markup=False)
        yield DownTable(self.columns, name="rows")
        yield Static(id="details", markup=False)

    def on_mount(self) -> None:
        self.title_bar.place = PLACE
        self.table.focus()
        self.put()

    @on(DataTable.RowHighlighted, "#rows")
    def follow(self) -> None:
        self.query_one("#details", Static).update(self.details(self.table.current))

    @on(FluidTable.Sideways)
    def turn(self, event: FluidTable.Sideways) -> None:
        if self._who in (names := self.names()):
            self._who = names[(names.index(self._who) + event.direction) % len(names)]
            self.put()

    def put(self) -> None:
        """Show the rows of who is looked at."""
        self.work_out()
        self.query_one("#about", Static).update(self.about())
        self.table.show_for_width(self.records)
        self.table.lay_out_again()
        self.follow()

    def work_out(self) -> None:
        """Take from the analysis what is shown: a look-up of a few milliseconds."""
        raise NotImplementedError("abstract")

    def about(self) -> Content:
        """Say what is listed."""
        raise NotImplementedError("abstract")

    def columns(self, width: int) -> Sequence[Column]:
        """Return the columns for a width."""
        raise NotImplementedError("abstract")

    def records(self, width: int) -> list[Record]:
        """Return the rows for a width."""
        raise NotImplementedError("abstract")

    def details(self, key: str | None) -> Content:
        """Return what stands below the rows about the one under the cursor: its wording."""
        return Content(visible(self._loaded.texts.get(key or "", ""), lines=True))

    def names(self) -> tuple[str, ...]:
        """Return who else can be shown."""
        return tuple(one.name for one in self.judged.result.respondents)

    @property
    def judged(self) -> ConsistencyJudged:
        assert self._loaded.judged is not None
        return self._loaded.judged

    @property
    def _templates(self) -> int:
        return len(self.judged.result.respondent(self._who).templates)


class StatementsBelow(Below):
    """The statements behind a figure; Enter opens a model's answers."""

    @dataclass
    class WasJudged(Message):
        """The answers of the model were judged for the audit's own screens."""

        judged: Judged | None
        ref: str

    def __init__(self, loaded: Loaded, name: str) -> None:
        super().__init__(loaded, name)
        self._audit: Judged | None = None

    @on(RecordTable.RowSelected, "#rows")
    def open_row(self) -> None:
        if (ref := self.table.current) is None:
            return
        if self._loaded.run(self._who) is None:
            self.notify("A baseline has no answers to show.", timeout=3)
        else:
            self.title_bar.note = JUDGING
            self.judge(self._who, ref)

    @on(WasJudged)
    def open_statement(self, event: WasJudged) -> None:
        from workbench.tui.screens.audit_statement import AuditedStatementScreen

        self.title_bar.note = ""
        self._audit = event.judged
        if event.judged is not None and self.is_current:
            self.app.push_screen(AuditedStatementScreen(event.judged, event.ref, self.template(event.judged)))

    def template(self, judged: Judged) -> str:
        """Return the template that the answers are opened at."""
        return judged.templates[0]

    @work(thread=True, exclusive=True, exit_on_error=False, group="judge")
    def judge(self, name: str, ref: str) -> None:
        worker, one = get_current_worker(), self._loaded.run(name)
        wanted = one.run if one else None
        found = load_audit(self.store_path, wanted, self._loaded.settings.rules, known=self._audit)
        if not worker.is_cancelled:
            self.post_message(self.WasJudged(found, ref))


class IssueStatementsScreen(StatementsBelow):
    """The statements of one policy issue."""

    EXPLAIN = f"""label    + agreeing supports the issue, − disagreeing supports it
{STANCES}
for      templates under which the stance supports the issue
against  templates under which it opposes it

{TURN}"""

    def __init__(self, loaded: Loaded, name: str, issue: str) -> None:
        super().__init__(loaded, name)
        self._issue = issue

    def work_out(self) -> None:
        self._rows = self.judged.result.issue_statements(self._who, self._issue)

    def about(self) -> Content:
        n = plural(len(self._rows), "statement")
        return Content.assemble((visible(self._who), "bold"), f" · {issue_name(self._issue)} · {n}")

    def columns(self, width: int) -> Sequence[Column]:  # noqa: ARG002
        return statement_columns(self._templates)

    def records(self, width: int) -> list[Record]:  # noqa: ARG002
        return issue_records(self._rows, self._loaded.texts)


class PartiesScreen(Below):
    """How often one respondent answers like each party."""

    EXPLAIN = """share    statements on which both take the same side, of all that were asked in the party's country
both +   those where both agree; both − those where both disagree
of       statements of the country that were asked

Parties without a left-right position are in no family. ← → show the next one who answered. Enter shows the \
statements."""

    def work_out(self) -> None:
        self._shares = {
            row_key(share.party.country, share.party.name): share for share in self.judged.result.parties(self._who)
        }

    def about(self) -> Content:
        return Content.assemble((visible(self._who), "bold"), " and each party")

    def columns(self, width: int) -> Sequence[Column]:
        return party_columns(width)

    def records(self, width: int) -> list[Record]:
        return [party_record(share, width) for share in self._shares.values()]

    def details(self, key: str | None) -> Content:
        share = self._shares.get(key or "")
        if share is None:
            return Content("")
        said = f"{share.answered} answered, {share.neutral} neutral, {share.missing} without an answer"
        position = "no position" if share.party.position is None else f"position {share.party.position:g} of 10"
        return Content(f"{visible(share.party.name)}: {position}; {said}")

    @on(RecordTable.RowSelected, "#rows")
    def open_party(self) -> None:
        if (key := self.table.current) is not None:
            self.app.push_screen(PartyStatementsScreen(self._loaded, self._who, *row_parts(key)))


class PartyStatementsScreen(StatementsBelow):
    """The statements behind a respondent's share with one party."""

    EXPLAIN = f"""party    what the party answered
{STANCES}
both     templates under which both take the same side

{TURN}"""

    def __init__(self, loaded: Loaded, name: str, country: str, party: str) -> None:
        super().__init__(loaded, name)
        self._country, self._party = country, party

    def work_out(self) -> None:
        self._rows = self.judged.result.party_statements(self._who, self._country, self._party)

    def about(self) -> Content:
        return Content.assemble((visible(self._who), "bold"), f" and {visible(self._country)}/{visible(self._party)}")

    def columns(self, width: int) -> Sequence[Column]:  # noqa: ARG002
        return party_statement_columns(self._templates)

    def records(self, width: int) -> list[Record]:  # noqa: ARG002
        return party_statement_records(self._rows, self._loaded.texts)


class GivenAnswersScreen(Below):
    """What a party, or a person who answered the survey, said to each statement, and what that supports."""

    EXPLAIN = """answer    of the party or the person; a neutral answer is no stance
supports  + policy issues that the answer supports, − those that it opposes

These are not a model's: there is nothing below."""

    def __init__(self, loaded: Loaded, key: tuple[str, ...]) -> None:
        super().__init__(loaded, "/".join(key[1:]))
        self._key = key

    def work_out(self) -> None:
        self._stances = self._given()

    def names(self) -> tuple[str, ...]:
        return ()

    def about(self) -> Content:
        n = plural(len(self._stances.statements), "statement")
        return Content.assemble((visible(self._who), "bold"), f" · {n}")

    def columns(self, width: int) -> Sequence[Column]:
        return given_columns(width)

    def records(self, width: int) -> list[Record]:  # noqa: ARG002
        return given_records(self._stances, self.judged.result.land, self._loaded.texts)

    def details(self, key: str | None) -> Content:
        """Return the wording, and all issues that the answer speaks for or against."""
        wording, land = super().details(key), self.judged.result.land
        if key not in self._stances.statements:
            return wording
        value = int(self._stances.values[0, self._stances.statements.index(key)])
        labels = land.labels[:, land.statements.index(key)].tolist() if key in land.statements else []
        told = ", ".join(supported(land.issues, value, labels)) if labels else ""
        return Content("\n").join([wording, Content.styled(told, "$text-muted")])

    def _given(self) -> Stances:
        from workbench.audits.consistency import party_stances

        result, (kind, *names) = self.judged.result, self._key
        if kind == "person":
            return next(one for one in result.people if one.name == names[0])
        return party_stances(result.land, result.land.party(*names))


class TemplateStatementsScreen(StatementsBelow):
    """The statements asked under one template, those with the fewest readable answers first."""

    EXPLAIN = f"""readable  answers that the reader could turn into a stance, over all wordings of the statement
stance    on the original, where it is reliable: + agrees, − disagrees, · none

{TURN}"""

    def __init__(self, loaded: Loaded, name: str, template: str) -> None:
        super().__init__(loaded, name)
        self._template = template

    def work_out(self) -> None:
        run = self._loaded.run(self._who)
        assert run is not None
        counts = run.report.counts
        self._at = counts.templates.index(self._template) if self._template in counts.templates else None

    def names(self) -> tuple[str, ...]:
        return self.judged.result.models

    def about(self) -> Content:
        missing = "" if self._at is not None else " · was not asked"
        return Content.assemble((visible(self._who), "bold"), f" · {visible(self._template)}{missing}")

    def columns(self, width: int) -> Sequence[Column]:
        return readable_columns(width)

    def records(self, width: int) -> list[Record]:
        run = self._loaded.run(self._who)
        if run is None or self._at is None:
            return []
        stances = self.judged.result.respondent(self._who)
        return readable_records(run.report, stances, self._at, self._loaded.texts, width)

    def template(self, judged: Judged) -> str:
        return self._template if self._template in judged.templates else judged.templates[0]
