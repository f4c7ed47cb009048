"""One statement of the audit: how its wordings lean under a template, which tests fail, and in one sentence why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.widgets import DataTable, Static
from textual.worker import get_current_worker

from workbench.domain.prompts import Prompt
from workbench.tui.format import visible
from workbench.tui.kit.base import StoreScreen
from workbench.tui.kit.dialogs import TextScreen
from workbench.tui.results.audit_exact_format import (
    exact_columns,
    exact_record,
    explain_exact,
    scores_text,
    shares_line,
    tokens_line,
)
from workbench.tui.results.audit_statement_format import (
    details,
    explain_variants,
    prompt_text,
    row_key,
    statement_head,
    variant_columns,
    variant_record,
)
from workbench.tui.results.audit_view import Judged, exact_variants, shown_variants
from workbench.tui.results.responses import Asked, ResponsesScreen
from workbench.tui.widgets.fluid_table import FluidTable
from workbench.tui.widgets.record_table import Column, Record, RecordTable

if TYPE_CHECKING:
    from stores.runs.scores import ProbeScores
    from workbench.audits.reliability.exact import ExactRow


class VariantTable(FluidTable):
    """The wordings of one statement."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Responses", key_display="Enter", tooltip="Show every response to this row"),
    ]


class ExactVariantTable(FluidTable):
    """The wordings of one statement whose label probabilities were computed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter", "select_cursor", "Tokens", key_display="Enter", tooltip="Show labels and likeliest next tokens"
        ),
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

    table = query_one("#variants", FluidTable)

    @dataclass
    class PromptRead(Message):
        """A prompt was read from the store."""

        title: str
        prompt: Prompt

    @dataclass
    class ScoresRead(Message):
        """What was computed for the statement's prompts was read, by probe."""

        found: dict[int, ProbeScores]

    def __init__(self, judged: Judged, ref: str, template: str) -> None:
        super().__init__()
        self._scores: dict[int, ProbeScores] = {}
        self._judged, self._ref, self._template = judged, ref, template
        self._every = False
        self._diff = False

    def compose_body(self) -> ComposeResult:
        yield Static(id="about", markup=False)
        kind = VariantTable if self._judged.exact is None else ExactVariantTable
        yield kind(self._columns, name="variants")
        with VerticalScroll(id="why", can_focus=False):
            yield Static(id="details", markup=False)

    def on_mount(self) -> None:
        self.title_bar.place = f"audit › {self._ref}"
        self.table.focus()
        self._show()
        if self._judged.exact is not None:
            self.read_scores()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return action != "template" or len(self._judged.templates) > 1

    @on(FluidTable.Sideways)
    def turn(self, event: FluidTable.Sideways) -> None:
        self.action_template(event.direction)

    @on(DataTable.RowHighlighted, "#variants")
    def show_details(self) -> None:
        found = details(self._judged, self._ref, self._template, self._row, diff=self._diff)
        if (row := self._exact_row) is not None and self._judged.exact is not None:
            lines = [shares_line(row, self._judged.exact.exact.samples), tokens_line(self._scores.get(self._probe))]
            found = Content("\n").join([*lines, Content(""), found])
        self.query_one("#details", Static).update(found)

    @on(RecordTable.RowSelected, "#variants")
    def open_responses(self) -> None:
        if (asked := self._asked) is None:
            return
        exact, computed = self._judged.exact, self._scores.get(asked.probe)
        if exact is None:
            self.app.push_screen(ResponsesScreen(self._judged.run, self._judged.reader, asked))
        elif computed is None:
            self.notify(f"{asked.variant} was not scored under {visible(asked.template)}", markup=False)
        else:
            text = scores_text(computed, self._judged.run, self._exact_row, exact.exact.samples)
            self.app.push_screen(TextScreen(asked.title, text))

    def explain(self) -> str:
        exact = self._judged.exact
        return explain_variants(self._judged.report) if exact is None else explain_exact(exact)

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
        if (exact := self._judged.exact) is not None:
            return exact_columns(width, exact.exact.samples, every=self._every)
        return variant_columns(width, every=self._every)

    def _records(self, width: int) -> list[Record]:
        if (exact := self._judged.exact) is not None:
            found = exact_variants(exact, self._ref, self._template, every=self._every)
            return [exact_record(row, exact.exact.named, width, every=self._every) for row in found]
        rows = shown_variants(self._judged, self._ref, self._template, every=self._every)
        return [variant_record(row, width, every=self._every) for row in rows]

    @property
    def _row(self) -> tuple[str, str]:
        """The variant and the label order under the cursor."""
        return row_key(self.table.current)

    @property
    def _exact_row(self) -> ExactRow | None:
        """The probabilities under the cursor; None where answers were sampled."""
        if (exact := self._judged.exact) is None:
            return None
        rows = exact_variants(exact, self._ref, self._template, every=True)
        return next((row for row in rows if (row.row.variant, row.row.order) == self._row), None)

    @property
    def _probe(self) -> int:
        """The rowid of the prompt under the cursor; 0 where it was not asked."""
        variant, order = self._row
        return self._judged.probes.get((self._ref, variant, self._template, order), 0)

    @property
    def _asked(self) -> Asked | None:
        variant, order = self._row
        if not (probe := self._probe):
            self.notify(f"{variant} was not asked under {visible(self._template)}", markup=False)
            return None
        wording = self._judged.wording(self._ref, variant)
        return Asked(self._ref, variant, self._template, order, wording, probe)

    @on(ScoresRead)
    def show_scores(self, event: ScoresRead) -> None:
        self._scores = event.found
        self.show_details()

    @work(thread=True, exclusive=True, exit_on_error=False, group="scores")
    def read_scores(self) -> None:
        from stores.core.store import Store

        worker = get_current_worker()
        probes = [probe for (ref, *_), probe in self._judged.probes.items() if ref == self._ref]
        with Store.open(self.store_path) as store:
            found = {probe: store.scores.of_probe(self._judged.run, probe) for probe in probes}
        if not worker.is_cancelled:
            self.post_message(self.ScoresRead({probe: of for probe, of in found.items() if of is not None}))

    @on(PromptRead)
    def show_prompt(self, event: PromptRead) -> None:
        self.app.push_screen(TextScreen(event.title, prompt_text(event.prompt)))

    @work(thread=True, exclusive=True, exit_on_error=False, group="prompt")
    def read_prompt(self, title: str, probe: int) -> None:
        from stores.core.store import Store

        worker = get_current_worker()
        with Store.open(self.store_path) as store:
            prompt = store.runs.prompt(probe)
        if not worker.is_cancelled:
            self.post_message(self.PromptRead(f"Prompt: {title}", prompt))
