"""The screen of the archived statements of an instrument, which can be restored."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.getters import query_one
from textual.widgets import Static

from workbench.domain.names import plural
from workbench.help.sections import section
from workbench.tui.format import literal
from workbench.tui.kit.base import StoreScreen, say, worker
from workbench.tui.kit.person_dialog import as_person
from workbench.tui.rulings.ruling import RulesAndEdits
from workbench.tui.rulings.standing import RuledPlace
from workbench.tui.statements.statement_format import MOST, short_refs
from workbench.tui.statements.statements import ruled_cell
from workbench.tui.widgets.record_table import Record, RecordColumn, RecordTable

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.instruments.instruments import StatementLine
    from workbench.pipeline.editing import Done

EXPLAIN = section("screens-statements", "Archived statements")


class ArchivedScreen(RulesAndEdits, StoreScreen):
    """The archived statements of an instrument."""

    CSS_PATH = "archived.tcss"
    EXPLAIN = EXPLAIN
    READS_ONLY = True
    DECIDES: ClassVar[frozenset[str]] = frozenset({"restore", "undo"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "restore", "Restore", tooltip="Restore this statement"),
        Binding(
            "v", "versions", "Versions", tooltip="List the versions and changes of this statement"
        ),
        Binding(
            "z",
            "undo",
            "Undo",
            show=False,
            tooltip="Undo your last change, or take your last ruling back",
        ),
        Binding(
            "escape,A",
            "app.pop_screen",
            "Back",
            key_display="Esc",
            tooltip="Go back to the list of statements",
        ),
    ]

    table = query_one("#archived", RecordTable)

    def __init__(self, instrument: str) -> None:
        super().__init__()
        self._instrument = instrument
        self._lines: tuple[StatementLine, ...] = ()
        self.PLACE = "statements › archived"

    def compose_body(self) -> ComposeResult:
        yield RecordTable(
            [
                RecordColumn("ref", "id", MOST),
                RecordColumn("text", "statement", None),
                RecordColumn("ruled", "ruled", 5),
                RecordColumn("version", "v", 3),
                RecordColumn("tags", "tags", 24, least=100),
            ],
            name="archived",
        )
        yield Static(id="nothing", markup=False)

    def on_mount(self) -> None:
        self.table.focus()

    def on_screen_resume(self) -> None:
        self.look()
        self.read_standing()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return bool(self._lines) if action in ("rule", "restore", "versions") else True

    def say_done(self, done: Done) -> None:
        say(self, done.sentence)
        self.look()

    def action_refresh(self) -> None:
        self.look()

    def ruled_place(self) -> RuledPlace | None:
        """Return the statement under the cursor, in the version that was asked last."""
        return (
            RuledPlace((self._instrument,), (ref,))
            if (ref := self.table.current) is not None
            else None
        )

    def show_standing(self) -> None:
        self._show_rows()

    def action_undo(self) -> None:
        as_person(self, self._instrument, lambda person: self.undo_newest(self._instrument, person))

    def undo_edit(self, person: str) -> None:
        self.undo(person)

    def action_restore(self) -> None:
        if (ref := self.table.current) is not None:
            as_person(self, self._instrument, lambda person: self.restore(ref, person))

    @on(RecordTable.RowSelected)
    def action_versions(self) -> None:
        from workbench.tui.statements.history import HistoryScreen

        if (ref := self.table.current) is not None:
            self.app.push_screen(HistoryScreen(self._instrument, ref, ""))

    def _show_rows(self) -> None:
        names, n_rulings = (
            short_refs([line.ref for line in self._lines]),
            self.standing.counts(self._instrument),
        )
        self.table.show(
            [_record(line, names[line.ref], n_rulings[line.ref]) for line in self._lines]
        )

    @worker("look")
    async def look(self) -> None:
        def load(store: Store) -> tuple[StatementLine, ...]:
            from stores.instruments.instruments import Filters

            return store.instruments.lines(self._instrument, Filters(archived=True))

        lines = await self.with_store(load)
        self.trouble.hide()
        self.title_bar.note = plural(len(lines), "statement")
        self._lines = lines
        self._show_rows()
        self.refresh_bindings()
        self.table.display = bool(lines)
        self.query_one("#nothing", Static).update(
            "" if lines else "Nothing is archived here. Esc goes back."
        )

    @worker("act", newest=False)
    async def restore(self, ref: str, person: str) -> None:
        def act(store: Store) -> Done:
            from workbench.pipeline.editing import outcome

            return outcome(
                store,
                self._instrument,
                store.statements.restore(self._instrument, [ref], person=person),
            )

        self.say_done(await self.with_store(act))

    @worker("act", newest=False)
    async def undo(self, person: str) -> None:
        def act(store: Store) -> Done:
            from workbench.pipeline.editing import undo

            return undo(store, self._instrument, person)

        self.say_done(await self.with_store(act))


def _record(line: StatementLine, name: str, ruled: int) -> Record:
    return (
        line.ref,
        (
            literal(name),
            literal(line.text, 400),
            ruled_cell(ruled),
            Text(str(line.version), justify="right"),
            literal(", ".join(line.tags), 24),
        ),
    )
