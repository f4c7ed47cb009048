"""How far the people who label a queue agree, and on which labels, groups and items they do not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.domain.seeds import SEED
from workbench.errors import WorkbenchError
from workbench.tui.format import visible
from workbench.tui.screens.adjudicate_format import short_note
from workbench.tui.screens.agreement_format import (
    EXPLAIN,
    RESAMPLES,
    Names,
    QueueAgreement,
    attention_lines,
    coefficient_lines,
    confusion_lines,
    distribution_lines,
    everybody,
    group_lines,
    heading,
    item_columns,
    item_records,
    item_text,
    label_agreement_lines,
    names,
    overview,
    pair_lines,
)
from workbench.tui.screens.audit_table import FluidTable
from workbench.tui.screens.base import StoreScreen
from workbench.tui.widgets.long_text import LongText
from workbench.tui.widgets.record_table import RecordTable

COMPUTING = "Computing the coefficients and their intervals …"
ITEMS_IN_SIGHT = 10
NO_DISPUTE = "  Everybody agrees on every item that was labelled twice."


class Sheet(VerticalScroll):
    """The page; it scrolls."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", "Down", show=False),
        Binding("k", "scroll_up", "Up", show=False),
        Binding("g", "scroll_home", "Top", show=False),
        Binding("G", "scroll_end", "End", show=False),
    ]


class ItemTable(FluidTable):
    """Items that people disagree on."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Item", key_display="Enter", tooltip="Show the item with all its labels"),
        Binding("escape", "screen.leave_items", "Page", key_display="Esc", tooltip="Go back to the page"),
    ]


class ItemScreen(ModalScreen[None]):
    """One item with what everybody said, under letters."""

    CSS_PATH = "agreement.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,enter", "dismiss(None)", "Close", key_display="Esc")]

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title, self._text = title, text

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = Content(visible(self._title))
            dialog.border_subtitle = "Esc back"
            yield LongText(self._text, name="item")

    def on_mount(self) -> None:
        self.query_one("#item").focus()


class AgreementScreen(StoreScreen):
    """Agreement between the annotators of one queue."""

    CSS_PATH = "agreement.tcss"
    EXPLAIN = EXPLAIN
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("i", "items", "Items", tooltip="Go to the items with the least agreement"),
        Binding("left_square_bracket", "pair(-1)", "Pair before", show=False),
        Binding("right_square_bracket", "pair(1)", "Pair", key_display="[ ]", tooltip="Show another pair's matrix"),
        Binding("a", "every", "All groups", tooltip="Show all groups, or the worst only"),
        Binding("o", "names", "Names", tooltip="Show letters for names, or names"),
        Binding("escape", "dismiss(None)", "Leave", key_display="Esc"),
        Binding("q", "dismiss(None)", "Leave", show=False),
    ]

    sheet = query_one("#sheet", Sheet)
    table = query_one("#items", ItemTable)

    @dataclass
    class Computed(Message):
        """The numbers are there."""

        found: QueueAgreement

    def __init__(self, queue: str) -> None:
        super().__init__()
        self._queue = queue
        self._found: QueueAgreement | None = None
        self._hidden = self._every = False
        self._pair = 0

    def compose_body(self) -> ComposeResult:
        with Sheet(id="sheet"):
            yield Static(COMPUTING, id="overview", markup=False)
            for section in ("coefficients", "pairs", "labels", "groups"):
                yield Static(id=section, classes="section", markup=False)
            yield Static(id="items-head", classes="section", markup=False)
            yield ItemTable(item_columns, name="items")
            for section in ("attention", "given", "confusion"):
                yield Static(id=section, classes="section", markup=False)

    def on_mount(self) -> None:
        self.title_bar.place = f"agreement › {self._queue}"
        for section in self.query(".section"):
            section.display = False
        self.table.display = False
        self.sheet.focus()
        self.compute()

    def on_resize(self, event: events.Resize) -> None:  # noqa: ARG002
        self._show()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        found = self._found
        if action == "pair":
            return found is not None and len(found.report.pairs) > 1
        return found is not None or action not in ("items", "every", "names")

    @on(Computed)
    def take(self, event: Computed) -> None:
        self._found = event.found
        self.trouble.hide()
        self.refresh_bindings()
        self._show()

    @on(RecordTable.EdgePassed, "#items")
    def leave_the_table(self, event: RecordTable.EdgePassed) -> None:
        """Past its ends the page scrolls on."""
        self.sheet.focus()
        if event.direction > 0:
            self.sheet.scroll_down(animate=False)
        else:
            self.sheet.scroll_up(animate=False)

    @on(RecordTable.RowSelected, "#items")
    def open_item(self) -> None:
        found, unit = self._found, self.table.current
        if found is not None and unit is not None:
            item = found.items[int(unit)]
            context = item.context
            self.app.push_screen(ItemScreen(f"{context.ref} · {context.variant}", item_page(found, int(unit))))

    def failed(self, error: WorkbenchError) -> None:
        self.query_one("#overview").display = False
        super().failed(error)

    def action_refresh(self) -> None:
        self.query_one("#overview").display = True
        self.compute()

    def action_items(self) -> None:
        """Put the cursor on the items."""
        if self.table.display:
            self.table.focus()
            self.sheet.scroll_to_widget(self.query_one("#items-head"), top=True, animate=False)

    def action_leave_items(self) -> None:
        self.sheet.focus()

    def action_pair(self, step: int) -> None:
        """Show the matrix of a neighbouring pair, around the ends."""
        if self._found is not None:
            self._pair = (self._pair + step) % len(self._found.report.pairs)
            self._show()
            self.call_after_refresh(self.sheet.scroll_to_widget, self.query_one("#confusion"), animate=False)

    def action_every(self) -> None:
        self._every = not self._every
        self._show()

    def action_names(self) -> None:
        self._hidden = not self._hidden
        self._show()

    def _show(self) -> None:
        found = self._found
        if found is None:
            return
        self.title_bar.note = "letters for names" if self._hidden else ""
        width = self.size.width - 4
        self.query_one("#overview", Static).update(overview(found))
        called = names(everybody(found), hidden=self._hidden)
        for section, lines in self._sections(found, called, width).items():
            self._section(section, lines)
        self._show_items(found)

    def _sections(self, found: QueueAgreement, called: Names, width: int) -> dict[str, Iterable[Content]]:
        compared = found.report.items > 0
        return {
            "coefficients": coefficient_lines(found) if compared else (),
            "pairs": pair_lines(found, called, width) if compared else (),
            "labels": label_agreement_lines(found, width) if compared else (),
            "groups": group_lines(found, width, every=self._every) if compared else (),
            "items-head": [heading("Items with the least agreement", "i goes there, Enter shows one")]
            if compared
            else (),
            "attention": attention_lines(found, called, width) if everybody(found) else (),
            "given": distribution_lines(found, called, width),
            "confusion": confusion_lines(found, called, width, self._pair) if compared else (),
        }

    def _section(self, name: str, lines: Iterable[Content]) -> None:
        content = list(lines)
        section = self.query_one(f"#{name}", Static)
        section.display = bool(content)
        section.update(Content("\n").join(content))

    def _show_items(self, found: QueueAgreement) -> None:
        disputed = len(item_records(found, 80))
        self.table.display = disputed > 0
        self.table.styles.height = 1 + min(disputed, ITEMS_IN_SIGHT)
        self.table.show_for_width(lambda width: item_records(found, width))
        if not disputed and found.report.items:
            self._section("items-head", [heading("Items with the least agreement"), Content(NO_DISPUTE)])

    @work(thread=True, exclusive=True, exit_on_error=False, group="agreement")
    def compute(self) -> None:
        worker = get_current_worker()
        found = agreement_of(self.store_path, self._queue)
        if not worker.is_cancelled:
            self.post_message(self.Computed(found))


def agreement_of(path: Path, queue: str) -> QueueAgreement:
    """Read a queue's labels and compute every coefficient."""
    from stores.labels import item_labels
    from stores.store import Store
    from workbench.annotation.agreement import agreement_report

    with Store.open(path) as store:
        codebook = store.queues.get(queue).codebook
        judged = store.labels.judged(codebook.name, queue=queue)
        attention = store.labels.attention(queue)
    report = agreement_report(item_labels(judged), codebook, seed=SEED, resamples=RESAMPLES)
    return QueueAgreement(codebook, report, {item.context.unit: item for item in judged}, attention)


def item_page(found: QueueAgreement, unit: int) -> str:
    """Return one item with all its labels, nobody named."""
    from stores.labels import anonymous

    item = found.items[unit]
    given = [
        (
            letter,
            visible(each.label)
            + (f"  “{short_note(each.note)}”" if each.note else "")
            + ("  ⚑ flagged" if each.flagged else ""),
        )
        for letter, each in anonymous(item)
    ]
    decision = item.decision
    said = "" if decision is None else f"{visible(decision.label)} ({visible(decision.reason)})"
    if decision is not None and item.open:
        said += ", reopened by labels that came after it"
    return item_text(item, given, said)
