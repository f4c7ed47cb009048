"""One statement of the audit: how its wordings lean under a template, which tests fail, and in one sentence why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.getters import query_one
from textual.message import Message
from textual.widgets import DataTable, Static
from textual.worker import get_current_worker

from workbench.domain.prompts import Prompt
from workbench.tui.format import visible
from workbench.tui.screens.audit_statement_format import (
    details,
    explain_variants,
    prompt_text,
    row_key,
    statement_head,
    variant_columns,
    variant_record,
)
from workbench.tui.screens.audit_table import FluidTable
from workbench.tui.screens.audit_view import Judged, shown_variants
from workbench.tui.screens.base import StoreScreen
from workbench.tui.screens.dialogs import TextScreen
from workbench.tui.screens.responses import Asked, ResponsesScreen
from workbench.tui.widgets.record_table import Column, Record, RecordTable


class VariantTable(FluidTable):
    """The wordings of one statement."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Responses", key_display="Enter", tooltip="Show every response to this row"),
    ]


class AuditedStatementScreen(StoreScreen):
    """One statement under one template after another."""

    CSS_PATH = "audit_statement.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left_square_bracket", "template(-1)", "Template before", show=False),
        Binding("right_square_bracket", "template(1)", "Template", key_display="[ ]", tooltip="Show the next template"),
        Binding("d", "diff", "Diff", tooltip="Compare the wording with the original, word by word"),
        Binding("p", "prompt", "Prompt", tooltip="Show exactly what the model was given"),
        Binding("s", "orders", "Orders", tooltip="Show the other wordings with swapped labels too, or hide them"),
        Binding("escape", "dismiss(None)", "Back", key_display="Esc"),
    ]

    table = query_one("#variants", VariantTable)

    @dataclass
    class PromptRead(Message):
        """A prompt was read from the store."""

        title: str
        prompt: Prompt

    def __init__(self, judged: Judged, ref: str, template: str) -> None:
        super().__init__()
        self._judged, self._ref, self._template = judged, ref, template
        self._every = False
        self._diff = False

    def compose_body(self) -> ComposeResult:
        yield Static(id="about", markup=False)
        yield VariantTable(self._columns, name="variants")
        with VerticalScroll(id="why", can_focus=False):
            yield Static(id="details", markup=False)

    def on_mount(self) -> None:
        self.title_bar.place = f"audit › {self._ref}"
        self.table.focus()
        self._show()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return action != "template" or len(self._judged.templates) > 1

    @on(FluidTable.Sideways)
    def turn(self, event: FluidTable.Sideways) -> None:
        self.action_template(event.direction)

    @on(DataTable.RowHighlighted, "#variants")
    def show_details(self) -> None:
        self.query_one("#details", Static).update(
            details(self._judged, self._ref, self._template, self._row, diff=self._diff)
        )

    @on(RecordTable.RowSelected, "#variants")
    def open_responses(self) -> None:
        if (asked := self._asked) is not None:
            self.app.push_screen(ResponsesScreen(self._judged.run, self._judged.reader, asked))

    def explain(self) -> str:
        return explain_variants(self._judged.report)

    def action_template(self, step: int) -> None:
        """Go to a neighbouring template, around the ends."""
        templates = self._judged.templates
        self._template = templates[(templates.index(self._template) + step) % len(templates)]
        self._show()

    def action_diff(self) -> None:
        self._diff = not self._diff
        self.show_details()

    def action_orders(self) -> None:
        self._every = not self._every
        self._show()
        self.table.lay_out_again()

    def action_prompt(self) -> None:
        if (asked := self._asked) is not None:
            self.read_prompt(asked.title, asked.probe)

    def _show(self) -> None:
        self.query_one("#about", Static).update(statement_head(self._judged, self._ref, self._template))
        self.table.show_for_width(self._records)
        self.show_details()

    def _columns(self, width: int) -> tuple[Column, ...]:
        return variant_columns(width, every=self._every)

    def _records(self, width: int) -> list[Record]:
        rows = shown_variants(self._judged, self._ref, self._template, every=self._every)
        return [variant_record(row, width, every=self._every) for row in rows]

    @property
    def _row(self) -> tuple[str, str]:
        """The variant and the label order under the cursor."""
        return row_key(self.table.current)

    @property
    def _asked(self) -> Asked | None:
        variant, order = self._row
        probe = self._judged.probes.get((self._ref, variant, self._template, order))
        if probe is None:
            self.notify(f"{variant} was not asked under {visible(self._template)}", markup=False)
            return None
        wording = self._judged.wording(self._ref, variant)
        return Asked(self._ref, variant, self._template, order, wording, probe)

    @on(PromptRead)
    def show_prompt(self, event: PromptRead) -> None:
        self.app.push_screen(TextScreen(event.title, prompt_text(event.prompt)))

    @work(thread=True, exclusive=True, exit_on_error=False, group="prompt")
    def read_prompt(self, title: str, probe: int) -> None:
        from stores.store import Store

        worker = get_current_worker()
        with Store.open(self.store_path) as store:
            prompt = store.runs.prompt(probe)
        if not worker.is_cancelled:
            self.post_message(self.PromptRead(f"Prompt: {title}", prompt))
