"""A screen of a model's answers in pages: the table, the current answer, its reading and origin.

The audits differ in the answers that they list and in what a reading is. Moving, paging, copying
and opening a whole answer are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.types import CSSPathType
from textual.widgets import DataTable, Static

from workbench.domain.names import places
from workbench.figures.visible import visible
from workbench.tui.format import BETWEEN, EMPTY, in_lines
from workbench.tui.kit.base import StoreScreen, once_painted, say, worker
from workbench.tui.kit.dialogs import NoteDialog, with_answer
from workbench.tui.rulings.ruling import RulingScreen, below, rule_below, ruling_lines
from workbench.tui.widgets.long_text import LongText
from workbench.tui.widgets.record_table import FluidTable, Record, RecordTable

if TYPE_CHECKING:
    from stores.core.store import Store


PAGE = 200
THOUGHT_CHARACTERS = 20_000
"maximum number of characters of a thought that are shown"
NO_WORDS = (
    "No answer here contains: {words}\n\n/ looks for other words; / and Enter alone show all again."
)
WORDS_ARE = (
    "Every word has to occur, in any order, in upper or lower case. No sign has a "
    "meaning of its own."
)
NO_ANSWER = "No answer: the output ends before the thinking does."


class ListedAnswer(Protocol):
    """An answer of any audit."""

    @property
    def text(self) -> str: ...

    @property
    def count(self) -> int: ...

    @property
    def thinking(self) -> str: ...

    @property
    def truncated(self) -> bool: ...


Row = TypeVar("Row", bound=ListedAnswer)


@dataclass(frozen=True, slots=True)
class AnswersPage(Generic[Row]):
    """Some answers of one kind, and the offset of the next page."""

    kind: str
    rows: tuple[Row, ...]
    following: int | None
    "offset of the first answer that was not read yet, or None after the last"

    @property
    def counted(self) -> str:
        """The numbers of answers and of different texts on the page."""
        more = "; more below the last row" if self.following is not None else ""
        return f"{sum(row.count for row in self.rows):,} given, {len(self.rows):,} different{more}"


def read_matching(
    kind: str,
    offset: int,
    fetch: Callable[[int], Sequence[Row]],
    admits: Callable[[Row], bool],
    words: str = "",
) -> AnswersPage[Row]:
    """Read a page of answers of the wanted kind that contain the words, starting at an offset.

    It ends once there are `PAGE` rows, or no more answers.
    """
    rows: list[Row] = []
    while True:
        fetched = fetch(offset)
        offset += len(fetched)
        rows += [row for row in fetched if admits(row) and (not words or places(row.text, words))]
        if len(fetched) < PAGE:
            return AnswersPage(kind, tuple(rows), None)
        if len(rows) >= PAGE:
            return AnswersPage(kind, tuple(rows), offset)


@dataclass(frozen=True, slots=True)
class AnswerTexts:
    """The texts of one answer below or beside the table."""

    reading: Content
    text: Content
    origin: str


class AnswersScreen(RulingScreen, Generic[Row]):
    """A screen of answers of one or all kinds. Subclasses define an answer and its appearance."""

    CSS_PATH: ClassVar[CSSPathType | None] = str(Path(__file__).with_name("answers.tcss"))
    READS_ONLY = True
    TEXT_FIRST: ClassVar[bool] = False
    "whether the text of an answer stands above its reading and its rulings"
    SEARCHED: ClassVar[bool] = False
    "whether its pages can be filtered by words"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "slash",
            "find",
            "Find",
            key_display="/",
            tooltip="Show only answers that contain the words you type",
        ),
        Binding("y", "copy", "Copy", tooltip="Copy the answer as it was written"),
        Binding("t", "thoughts", "Thought", tooltip="Show or hide the thinking before the answers"),
        Binding("escape", "dismiss(None)", "Back", key_display="Esc", tooltip="Go back"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._page: AnswersPage[Row] = AnswersPage("", (), None)
        self._loading = True
        self._unfolded = False
        self.words = ""
        "words that all visible answers contain, or empty if all are visible"

    def make_table(self) -> FluidTable:
        """Return the table of the answers."""
        raise NotImplementedError("abstract")

    def fetch(self, store: Store, kind: str, offset: int) -> AnswersPage[Row]:
        """Read a page, in a worker's thread."""
        raise NotImplementedError("abstract")

    def head(self) -> Content:
        """Return the content above the table."""
        raise NotImplementedError("abstract")

    def is_current_page(self, page: AnswersPage[Row]) -> bool:  # noqa: ARG002
        """Return whether a page is still to be shown.

        The user may have moved on while it was read.
        """
        return True

    def empty_text(self, kind: str) -> str:
        """Return the message that there are no answers of a kind, and how to see others."""
        raise NotImplementedError("abstract")

    def record(self, number: int, row: Row, width: int) -> Record:
        """Return the table's row of an answer."""
        raise NotImplementedError("abstract")

    def answer_texts(self, row: Row) -> AnswerTexts:
        """Return an answer's reading, its text, and its origin."""
        raise NotImplementedError("abstract")

    def whole(self, row: Row) -> ModalScreen[None]:
        """Return the screen of one answer."""
        raise NotImplementedError("abstract")

    def compose_body(self) -> ComposeResult:
        yield Static(id="about", markup=False)
        with Vertical(classes="parts"):
            with Vertical(classes="list"):
                yield self.make_table()
                yield Static("Reading the answers …", id="empty", markup=False)
            with Vertical(classes="about"):
                with VerticalScroll(id="answer", can_focus=False):
                    for part_id in ("text", "reading") if self.TEXT_FIRST else ("reading", "text"):
                        yield Static(id=part_id, markup=False)
                yield Static(id="provenance", markup=False)

    def on_mount(self) -> None:
        self._head()
        self.table.focus()
        self.read_page("", 0)
        self.read_standing()

    @property
    def table(self) -> FluidTable:
        return self.query_one(FluidTable)

    @property
    def current(self) -> Row | None:
        """The answer under the cursor, or None without one."""
        current_key = self.table.current
        return (
            self._page.rows[int(current_key)]
            if current_key is not None and int(current_key) < len(self._page.rows)
            else None
        )

    def show_page(self, page: AnswersPage[Row], more: bool, again: bool = False) -> None:
        if not self.is_current_page(page):
            return
        if more:
            page = AnswersPage(page.kind, (*self._page.rows, *page.rows), page.following)
        self._page, self._loading = page, False
        empty = self.query_one("#empty", Static)
        empty.update(
            NO_WORDS.format(words=visible(self.words)) if self.words else self.empty_text(page.kind)
        )
        empty.display = not page.rows
        self.table.display = self.query_one(".about").display = bool(page.rows)
        self.table.show_for_width(self._records, at=None if more or again else 0)
        self._head()
        self.show_answer()
        self.refresh_bindings()

    @on(DataTable.RowHighlighted)
    def show_answer(self) -> None:
        row = self.current
        texts = AnswerTexts(Content(), Content(), "")
        if row is not None:
            texts = self.answer_texts(row)
            marked_text = underlined(texts.text, self.words)
            text = with_thinking(marked_text, row.thinking, row.truncated, shown=self._unfolded)
            texts = replace(texts, text=text)
        self.query_one("#reading", Static).update(texts.reading)
        self.query_one("#text", Static).update(texts.text)
        origin_line = self.query_one("#provenance", Static)
        width = origin_line.content_size.width or self.size.width - 2
        origin_line.update(in_lines(texts.origin.split(BETWEEN), width))
        self.query_one("#answer").scroll_home(animate=False)

    @on(RecordTable.RowSelected)
    def show_whole(self) -> None:
        if (row := self.current) is not None:
            self.app.push_screen(self.opened(row))

    def opened(self, row: Row) -> ModalScreen[None]:
        """Return the screen of one answer, at the words that were searched for."""
        screen = self.whole(row)
        if self.words and isinstance(screen, WholeAnswerScreen):
            screen.mark(self.words)
        return screen

    @on(RecordTable.EdgePassed)
    def read_on(self, event: RecordTable.EdgePassed) -> None:
        if event.direction > 0 and self._page.following is not None and not self._loading:
            self._loading = True
            self.read_page(self._page.kind, self._page.following, more=True)

    def move_cursor(self, by: int) -> bool:
        """Move the cursor to a neighbouring answer. Return False at an end."""
        previous_row = self.table.cursor_row
        self.table.show_row(previous_row + by)
        return self.table.cursor_row != previous_row

    def show_standing(self) -> None:
        self.show_answer()

    def show_kind(self, kind: str) -> None:
        """Show the answers of one kind, or all."""
        self._loading = True
        self.read_page(kind, 0)

    def action_copy(self) -> None:
        if (row := self.current) is not None:
            copied(self, row.text)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action == "find":
            return self.SEARCHED
        return action != "thoughts" or any(row.thinking for row in self._page.rows)

    def action_find(self) -> None:
        """Filter the answers by words that the user types, or show all again."""

        def narrow(words: str) -> None:
            self.words = words.strip()
            self.show_kind(self._page.kind)

        with_answer(
            self, NoteDialog(self.words, "Answers that contain", hint=WORDS_ARE, act="find"), narrow
        )

    def action_thoughts(self) -> None:
        """Unfold or fold the thinking before the answers."""
        self._unfolded = not self._unfolded
        self.show_answer()

    def _records(self, width: int) -> list[Record]:
        records = [self.record(number, row, width) for number, row in enumerate(self._page.rows)]
        for _, cells in records if self.words else ():
            cells[-1].highlight_words(self.words.split(), "bold underline", case_sensitive=False)
        return records

    def _head(self) -> None:
        self.query_one("#about", Static).update(self.head())

    @worker("page")
    async def read_page(
        self, kind: str, offset: int, more: bool = False, again: bool = False
    ) -> None:
        """Read a page and show it.

        With `again`, a visible page is read again and its cursor stays.
        """
        page = await self.with_store(lambda store: self.fetch(store, kind, offset))
        self.show_page(page, more, again)


def with_thinking(text: Content, thinking: str, truncated: bool, *, shown: bool) -> Content:
    """Return an answer after its thinking, which is folded into its length or shown as text."""
    if truncated:
        text = Content.styled(NO_ANSWER, "italic $text-warning")
    if not thinking:
        return text
    length_text = f"{len(thinking):,} characters of thinking"
    if not shown:
        return Content.assemble((f"▸ {length_text}; t shows them\n", "$text-muted"), text)
    ellipsis = "\n…" if len(thinking) > THOUGHT_CHARACTERS else ""
    thought = visible(thinking[:THOUGHT_CHARACTERS], lines=True)
    return Content.assemble(
        (f"▾ {length_text}, not read by any reader\n{thought}{ellipsis}\n\n", "$text-muted italic"),
        text,
    )


def underlined(text: Content, words: str) -> Content:
    """Return a text with the searched words underlined."""
    for start, end in places(text.plain, words):
        text = text.stylize("bold underline", start, end)
    return text


class WholeAnswerScreen(ModalScreen[None]):
    """The screen of one whole answer in lines, which opens at once at any length."""

    CSS_PATH = "answers.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape,q,enter", "dismiss(None)", "Close", key_display="Esc", tooltip="Close this"
        ),
        Binding("y", "copy", "Copy", tooltip="Copy the answer as it was written"),
        Binding("r", "rule", "Rule", tooltip="Rule on this answer"),
        Binding(
            "right_square_bracket",
            "step(1)",
            "Next answer",
            key_display="[ ]",
            tooltip="Go to the next answer",
        ),
        Binding(
            "left_square_bracket",
            "step(-1)",
            "Previous answer",
            show=False,
            tooltip="Go to the previous answer",
        ),
    ]

    def __init__(
        self,
        title: str,
        answer: str,
        reading: Content,
        provenance: str,
        shown: tuple[str, tuple[int, int]] | None = None,
    ) -> None:
        """Create the screen of an answer.

        `shown` is the answer as a terminal may show it, and the range in it of the words that
        decided.
        """
        super().__init__()
        self._title, self._answer, self._reading, self._provenance = (
            title,
            answer,
            reading,
            provenance,
        )
        self._shown = shown or (visible(answer, lines=True) or EMPTY, (0, 0))

    def mark(self, words: str) -> None:
        """Start at the first of the searched words."""
        text, current_range = self._shown
        self._shown = text, next(iter(places(text, words)), current_range)

    def compose(self) -> ComposeResult:
        text, marked_range = self._shown
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = Content(visible(self._title))
            ruling_screen = below(self)
            rule_hint = " · r rule" if ruling_screen is not None else ""
            step_hint = " · [ ] next" if self._among is not None else ""
            dialog.border_subtitle = (
                f"{len(self._answer):,} characters · y copy{rule_hint}{step_hint} · Esc back"
            )
            rulings = ruling_lines(ruling_screen.ruled_here()) if ruling_screen is not None else []
            with VerticalScroll(id="said"):
                yield Static(Content("\n").join([*rulings, self._reading]), markup=False)
            yield LongText(text, marked_range, name="whole")
            origin = in_lines(self._provenance.split(BETWEEN), self.app.size.width - 4, most=6)
            yield Static(origin, markup=False, classes="line -dim")

    def on_mount(self) -> None:
        self.query_one("#whole").focus()
        once_painted(self, self._say_what_is_cut)

    def _say_what_is_cut(self) -> None:
        """Show how to read the remaining rulings if there is too little room for them."""
        ruling_box, dialog = self.query_one("#said"), self.query_one(".dialog")
        ruling_box.can_focus = ruling_box.max_scroll_y > 0
        if ruling_box.can_focus:
            dialog.border_subtitle = f"Tab ↓ reads on above · {dialog.border_subtitle}"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return (
            self._among is not None
            if action == "step"
            else action != "rule" or below(self) is not None
        )

    def action_step(self, by: int) -> None:
        """Show the next or the previous answer of the list in place of this one."""
        if (
            (answers_screen := self._among) is not None
            and answers_screen.move_cursor(by)
            and (row := answers_screen.current) is not None
        ):
            # At once, because between two screens a key would go to the list below.
            self.app.switch_screen(answers_screen.opened(row))

    def action_copy(self) -> None:
        copied(self, self._answer)

    def action_rule(self) -> None:
        """Rule on the answer, which is under the cursor of the screen below."""
        rule_below(self)

    @property
    def _among(self) -> AnswersScreen[Any] | None:
        """The screen with the list from which this answer was opened, or None."""
        stack = self.app.screen_stack
        screen_below = stack[-2] if len(stack) > 1 and stack[-1] is self else stack[-1]
        return screen_below if isinstance(screen_below, AnswersScreen) else None


def copied(screen: StoreScreen | ModalScreen[None], text: str) -> None:
    """Copy an answer. A lone surrogate, which no clipboard can hold, becomes a question mark."""
    screen.app.copy_to_clipboard(text.encode("utf-8", "replace").decode())
    say(screen, f"Copied {len(text):,} characters.")
