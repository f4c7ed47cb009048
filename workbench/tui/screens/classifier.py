"""Classifier: how well the free answers were read, and which of the test set were not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.widgets import DataTable, Static
from textual.worker import get_current_worker

from workbench.domain.counting import plural
from workbench.tui.format import visible
from workbench.tui.screens.answers import WholeAnswerScreen
from workbench.tui.screens.audit_table import FluidTable
from workbench.tui.screens.base import StoreScreen
from workbench.tui.screens.classifier_format import (
    EXPLAIN,
    NONE,
    VIEWS,
    WIDE,
    matrix_columns,
    matrix_records,
    matrix_words,
    misread_columns,
    misread_record,
    misread_words,
    names,
    sheet,
    summary,
    tabs,
)
from workbench.tui.screens.classifier_view import LABELS, LEFT_OUT, Assessed, Misread, assess, classifiers, misread
from workbench.tui.screens.results_options import THRESHOLDS
from workbench.tui.widgets.record_table import Column, Record, RecordTable

if TYPE_CHECKING:
    from stores.classifiers import Classifier

READING = "Reading the classifiers …"
PUBLISHED = 0.9


class MatrixTable(FluidTable):
    """The confusion matrix: a row and a marked column are a cell."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Answers", key_display="Enter", tooltip="List the answers of this cell"),
    ]


class ClassifierScreen(StoreScreen):
    """The classifiers of a store, one of them with its test."""

    CSS_PATH = "classifier.tcss"
    PLACE = "results › classifier"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012  the base class declares it so
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "view(1)", "View", key_display="Tab", tooltip="Show the next view"),
        Binding("shift+tab", "view(-1)", "View before", show=False),
        Binding("left_square_bracket", "threshold(-1)", "Threshold below", show=False),
        Binding(
            "right_square_bracket",
            "threshold(1)",
            "Threshold",
            key_display="[ ]",
            tooltip="Leave out answers below another confidence",
        ),
        Binding("n", "classifier(1)", "Next one", tooltip="Show the classifier before this one"),
        Binding("N", "classifier(-1)", "One before", show=False),
        Binding("e", "errors", "Misread", tooltip="List the test answers that were misread"),
        Binding("r", "refresh", "Reload", show=False, tooltip="Read the store again"),
        Binding("escape", "dismiss(None)", "Back", key_display="Esc"),
    ]

    matrix = query_one("#matrix", MatrixTable)

    @dataclass
    class Listed(Message):
        """The classifiers are there."""

        found: tuple[Classifier, ...]

    @dataclass
    class WasAssessed(Message):
        """One of them has its figures."""

        assessed: Assessed

    def __init__(self) -> None:
        super().__init__()
        self._found: tuple[Classifier, ...] = ()
        self._at = 0
        self._view = VIEWS[0]
        self._threshold = PUBLISHED
        self._assessed: Assessed | None = None

    def compose_body(self) -> ComposeResult:
        yield Static(READING, id="empty", markup=False, classes="-shown")
        yield Static(id="names", markup=False)
        yield Static(id="summary", markup=False)
        yield Static(id="tabs", markup=False)
        with VerticalScroll(id="scroll"):
            yield Static(id="sheet", markup=False)
        yield MatrixTable(self._columns, name="matrix", marks_columns=True)
        yield Static(id="cell", markup=False)

    def on_mount(self) -> None:
        self.list_classifiers()

    def on_resize(self, _event: events.Resize) -> None:
        self.call_after_refresh(self._show)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action == "classifier":
            return len(self._found) > 1
        return self._assessed is not None or action not in ("view", "threshold", "errors")

    @on(Listed)
    def take_list(self, event: Listed) -> None:
        self.trouble.hide()
        self._found = event.found
        self._at = min(self._at, max(0, len(self._found) - 1))
        if self._found:
            self.figure(self._found[self._at], self._threshold)
        else:
            self.query_one("#empty", Static).update(NONE)
        self.refresh_bindings()

    @on(WasAssessed)
    def take_figures(self, event: WasAssessed) -> None:
        self._assessed = event.assessed
        self.query_one("#empty").remove_class("-shown")
        self._show()
        self.refresh_bindings()

    @on(DataTable.RowHighlighted, "#matrix")
    def show_cell(self) -> None:
        if self._assessed is not None:
            self.query_one("#cell", Static).update(
                matrix_words(self._assessed, self.matrix.current, self.matrix.column)
            )

    @on(RecordTable.RowSelected, "#matrix")
    def open_cell(self) -> None:
        row, column = self.matrix.current, self.matrix.column
        if row is not None and column not in ("true", "n"):
            self._open((LABELS.index(row), LABELS.index(column) if column in LABELS else LEFT_OUT))

    def explain(self) -> str:
        return f"{self._view.upper()}\n{EXPLAIN[self._view]}"

    def action_view(self, step: int) -> None:
        """Go to a neighbouring view, around the ends."""
        self._view = VIEWS[(VIEWS.index(self._view) + step) % len(VIEWS)]
        self.query_one("#scroll").scroll_home(animate=False)
        self._show()

    def action_threshold(self, step: int) -> None:
        """Go to a neighbouring threshold; the ends are where it stops."""
        at = THRESHOLDS.index(self._threshold) + step
        if 0 <= at < len(THRESHOLDS):
            self._threshold = THRESHOLDS[at]
            self.figure(self._found[self._at], self._threshold)

    def action_classifier(self, step: int) -> None:
        self._at = (self._at + step) % len(self._found)
        self.figure(self._found[self._at], self._threshold)

    def action_errors(self) -> None:
        self._open(None)

    def action_refresh(self) -> None:
        self.list_classifiers()

    def _open(self, cell: tuple[int, int] | None) -> None:
        if self._assessed is not None:
            self.app.push_screen(MisreadScreen(self._assessed.classifier, self._assessed.threshold, cell))

    def _show(self) -> None:
        assessed = self._assessed
        if assessed is None:
            return
        confusion = self._view == "confusion"
        self.set_class(confusion, "-confusion")
        self.query_one("#names", Static).update(names(self._found, self._at, 1 if self.size.height < 30 else 3))
        self.query_one("#summary", Static).update(summary(assessed))
        self.query_one("#tabs", Static).update(tabs(self._view))
        self.title_bar.note = f"{self._at + 1} of {len(self._found)}" if len(self._found) > 1 else ""
        if confusion:
            self.matrix.show_for_width(self._records)
            self.matrix.lay_out_again()
            self.matrix.focus()
            self.show_cell()
            return
        scroll = self.query_one("#scroll", VerticalScroll)
        scroll.focus()
        width = self.size.width - 3
        self.query_one("#sheet", Static).update(sheet(self._view, assessed, width, self.size.height - 10))

    def _columns(self, width: int) -> tuple[Column, ...]:
        return matrix_columns(width, self._threshold)

    def _records(self, width: int) -> list[Record]:
        return matrix_records(self._assessed, width) if self._assessed is not None else []

    @work(thread=True, exclusive=True, exit_on_error=False, group="list")
    def list_classifiers(self) -> None:
        worker = get_current_worker()
        found = classifiers(self.store_path)
        if not worker.is_cancelled:
            self.post_message(self.Listed(found))

    @work(thread=True, exclusive=True, exit_on_error=False, group="figures", description="")
    def figure(self, classifier: Classifier, threshold: float) -> None:
        worker = get_current_worker()
        assessed = assess(classifier, threshold)
        if not worker.is_cancelled:
            self.post_message(self.WasAssessed(assessed))


class MisreadTable(FluidTable):
    """Answers of the test set."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Whole answer", key_display="Enter"),
    ]


class MisreadScreen(StoreScreen):
    """Answers of a test set: all that were misread, or those of one cell of the matrix."""

    CSS_PATH = "classifier.tcss"
    PLACE = "results › classifier › answers"
    EXPLAIN = """Each row is an answer of the test set: what people say it is, what the classifier read, and how sure \
it was; the surest mistakes come first. Look whether they share something that the guideline does not settle."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back", key_display="Esc"),
    ]

    table = query_one("#misread", MisreadTable)

    @dataclass
    class Found(Message):
        """The answers are there."""

        items: tuple[Misread, ...]

    def __init__(self, classifier: Classifier, threshold: float, cell: tuple[int, int] | None) -> None:
        super().__init__()
        self._classifier, self._threshold, self._cell = classifier, threshold, cell
        self._items: tuple[Misread, ...] = ()

    def compose_body(self) -> ComposeResult:
        yield Static(id="about", markup=False)
        yield MisreadTable(misread_columns, name="misread")
        with VerticalScroll(id="answer", can_focus=False):
            yield Static(id="text", markup=False)

    def on_mount(self) -> None:
        self.table.focus()
        self.read_texts()

    @on(Found)
    def take(self, event: Found) -> None:
        self._items = event.items
        about = f"{visible(self._classifier.name)}: {plural(len(self._items), 'test answer')} {self._what}"
        self.query_one("#about", Static).update(Content.styled(about, "bold"))
        self.table.show_for_width(lambda width: [misread_record(item, width) for item in self._items])
        self.show_answer()

    @on(DataTable.RowHighlighted, "#misread")
    def show_answer(self) -> None:
        item = self._current
        self.query_one("#text", Static).update(misread_words(item) if item else "Nothing here.")

    @on(RecordTable.RowSelected, "#misread")
    def show_whole(self) -> None:
        item = self._current
        if item is not None and item.text is not None:
            reading = Content(f"people say {item.true}, read as {item.read}, confidence {item.confidence:.3f}")
            self.app.push_screen(WholeAnswerScreen(item.ref, item.text, reading, item.statement))

    @property
    def _what(self) -> str:
        if self._cell is None:
            return f"misread at ≥{self._threshold:g}"
        true, read = self._cell
        given = "below the threshold" if read == LEFT_OUT else f"read as {LABELS[read]}"
        return f"that people call {LABELS[true]}, {given}"

    @property
    def _current(self) -> Misread | None:
        return next((item for item in self._items if str(item.unit) == self.table.current), None)

    @work(thread=True, exclusive=True, exit_on_error=False, group="texts")
    def read_texts(self) -> None:
        worker = get_current_worker()
        items = misread(self.store_path, self._classifier, self._threshold, self._cell)
        if not worker.is_cancelled:
            self.post_message(self.Found(items))
