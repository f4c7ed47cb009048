"""Answers of a model, page by page: a table, the answer under the cursor, how it was read and where
it comes from.

The audits differ in which answers they list and in what a reading is; moving, paging, copying and
opening one whole are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
from workbench.tui.rulings.ruling import RulingScreen, below, rule_below, ruled_by
from workbench.tui.widgets.long_text import LongText
from workbench.tui.widgets.record_table import FluidTable, Record, RecordTable

if TYPE_CHECKING:
    from stores.core.store import Store


PAGE = 200
THOUGHT_CHARACTERS = 20_000
"of a thought that are shown"
NO_WORDS = (
    "No answer here contains: {words}\n\n/ looks for other words; / and Enter alone show all again."
)
WORDS_ARE = (
    "Every word has to occur, in any order, in upper or lower case. No sign has a "
    "meaning of its own."
)
NO_ANSWER = "No answer: the output ends before the thinking does."


class Given(Protocol):
    """An answer of any audit."""

    @property
    def text(self) -> str: ...

    @property
    def count(self) -> int: ...

    @property
    def thinking(self) -> str: ...

    @property
    def truncated(self) -> bool: ...


Row = TypeVar("Row", bound=Given)


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Some answers of a kind, and where the next begin."""

    kind: str
    rows: tuple[Row, ...]
    following: int | None
    "offset of what was not read yet; None: nothing is left"

    @property
    def counted(self) -> str:
        """Say how many there are on the page."""
        left = "; more below the last row" if self.following is not None else ""
        return f"{sum(row.count for row in self.rows):,} given, {len(self.rows):,} different{left}"


def gathered(
    kind: str,
    offset: int,
    fetch: Callable[[int], Sequence[Row]],
    admits: Callable[[Row], bool],
    words: str = "",
) -> Page[Row]:
    """Read answers from an offset until there are enough of the wanted kind that contain the words,
    or no more.
    """
    rows: list[Row] = []
    while True:
        found = fetch(offset)
        offset += len(found)
        rows += [row for row in found if admits(row) and (not words or places(row.text, words))]
        if len(found) < PAGE:
            return Page(kind, tuple(rows), None)
        if len(rows) >= PAGE:
            return Page(kind, tuple(rows), offset)


class AnswersScreen(RulingScreen, Generic[Row]):
    """Answers of one kind, or all; what is one and how it looks is said by the screens of the
    audits.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = str(Path(__file__).with_name("answers.tcss"))
    READS_ONLY = True
    TEXT_FIRST: ClassVar[bool] = False
    "whether an answer stands above how it was read and what was ruled on it"
    SEARCHED: ClassVar[bool] = False
    "whether its pages can be narrowed to answers with certain words"
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
        Binding("escape", "dismiss(None)", "Back", key_display="Esc"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._page: Page[Row] = Page("", (), None)
        self._loading = True
        self._unfolded = False
        self.words = ""
        "what the answers in sight contain; empty: all are shown"

    def make_table(self) -> FluidTable:
        """Return the table of the answers."""
        raise NotImplementedError("abstract")

    def fetch(self, store: Store, kind: str, offset: int) -> Page[Row]:
        """Read a page, in a worker's thread."""
        raise NotImplementedError("abstract")

    def head(self) -> Content:
        """Return what stands above the table."""
        raise NotImplementedError("abstract")

    def takes(self, page: Page[Row]) -> bool:  # noqa: ARG002
        """Return whether a page is what is to be shown: it may have been read for what was left
        meanwhile.
        """
        return True

    def nothing(self, kind: str) -> str:
        """Say that there are no answers of a kind, and how to see others."""
        raise NotImplementedError("abstract")

    def record(self, number: int, row: Row, width: int) -> Record:
        """Return the table's row of an answer."""
        raise NotImplementedError("abstract")

    def pieces(self, row: Row) -> tuple[Content, Content, str]:
        """Return how an answer was read, its text, and where it comes from."""
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
                    for part in ("text", "reading") if self.TEXT_FIRST else ("reading", "text"):
                        yield Static(id=part, markup=False)
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
        """The answer under the cursor."""
        at = self.table.current
        return (
            self._page.rows[int(at)] if at is not None and int(at) < len(self._page.rows) else None
        )

    def show_page(self, page: Page[Row], more: bool, again: bool = False) -> None:
        if not self.takes(page):
            return
        if more:
            page = Page(page.kind, (*self._page.rows, *page.rows), page.following)
        self._page, self._loading = page, False
        empty = self.query_one("#empty", Static)
        empty.update(
            NO_WORDS.format(words=visible(self.words)) if self.words else self.nothing(page.kind)
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
        reading, text, provenance = (
            self.pieces(row) if row is not None else (Content(), Content(), "")
        )
        self.query_one("#reading", Static).update(reading)
        if row is not None:
            text = folded(
                underlined(text, self.words), row.thinking, row.truncated, shown=self._unfolded
            )
        self.query_one("#text", Static).update(text)
        below = self.query_one("#provenance", Static)
        below.update(
            in_lines(provenance.split(BETWEEN), below.content_size.width or self.size.width - 2)
        )
        self.query_one("#answer").scroll_home(animate=False)

    @on(RecordTable.RowSelected)
    def show_whole(self) -> None:
        if (row := self.current) is not None:
            self.app.push_screen(self.opened(row))

    def opened(self, row: Row) -> ModalScreen[None]:
        """Return the screen of one answer, at the words that were looked for."""
        screen = self.whole(row)
        if self.words and isinstance(screen, WholeAnswerScreen):
            screen.mark(self.words)
        return screen

    @on(RecordTable.EdgePassed)
    def read_on(self, event: RecordTable.EdgePassed) -> None:
        if event.direction > 0 and self._page.following is not None and not self._loading:
            self._loading = True
            self.read_page(self._page.kind, self._page.following, more=True)

    def goes(self, by: int) -> bool:
        """Put the cursor on a neighbouring answer; False at an end."""
        before = self.table.cursor_row
        self.table.show_row(before + by)
        return self.table.cursor_row != before

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
        """Narrow the answers to those with some words, or show all again."""

        def narrow(words: str) -> None:
            self.words = words.strip()
            self.show_kind(self._page.kind)

        with_answer(
            self, NoteDialog(self.words, "Answers that contain", hint=WORDS_ARE, act="find"), narrow
        )

    def action_thoughts(self) -> None:
        """Unfold what was thought before the answers, or fold it again."""
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
        """Read a page and show it; `again`: its answers were in sight before, and the cursor stays
        on its answer.
        """
        page = await self.with_store(lambda store: self.fetch(store, kind, offset))
        self.show_page(page, more, again)


def folded(text: Content, thinking: str, truncated: bool, *, shown: bool) -> Content:
    """Return an answer with the thought before it behind a fold: how long it is, or, unfolded, its
    text.
    """
    if truncated:
        text = Content.styled(NO_ANSWER, "italic $text-warning")
    if not thinking:
        return text
    said = f"{len(thinking):,} characters of thinking"
    if not shown:
        return Content.assemble((f"▸ {said}; t shows them\n", "$text-muted"), text)
    more = "\n…" if len(thinking) > THOUGHT_CHARACTERS else ""
    thought = visible(thinking[:THOUGHT_CHARACTERS], lines=True)
    return Content.assemble(
        (f"▾ {said}, not read by any reader\n{thought}{more}\n\n", "$text-muted italic"), text
    )


def underlined(text: Content, words: str) -> Content:
    """Return a text with the words that were looked for underlined."""
    for start, end in places(text.plain, words):
        text = text.stylize("bold underline", start, end)
    return text


class WholeAnswerScreen(ModalScreen[None]):
    """One answer from its first to its last character, in lines: at any length it opens at once."""

    CSS_PATH = "answers.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss(None)", "Close", key_display="Esc"),
        Binding("y", "copy", "Copy", tooltip="Copy the answer as it was written"),
        Binding("r", "rule", "Rule", tooltip="Rule on this answer"),
        Binding("right_square_bracket", "step(1)", "Next answer", key_display="[ ]"),
        Binding("left_square_bracket", "step(-1)", "Previous answer", show=False),
    ]

    def __init__(
        self,
        title: str,
        answer: str,
        reading: Content,
        provenance: str,
        shown: tuple[str, tuple[int, int]] | None = None,
    ) -> None:
        """`shown`: the answer as a terminal may show it, and the place in it of the words that
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
        """Begin at the first of the words that were looked for."""
        text, marked = self._shown
        self._shown = text, next(iter(places(text, words)), marked)

    def compose(self) -> ComposeResult:
        text, marked = self._shown
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = Content(visible(self._title))
            held = below(self)
            ruled = " · r rule" if held is not None else ""
            steps = " · [ ] next" if self._among is not None else ""
            dialog.border_subtitle = (
                f"{len(self._answer):,} characters · y copy{ruled}{steps} · Esc back"
            )
            said = ruled_by(held.ruled_here()) if held is not None else []
            with VerticalScroll(id="said"):
                yield Static(Content("\n").join([*said, self._reading]), markup=False)
            yield LongText(text, marked, name="whole")
            origin = in_lines(self._provenance.split(BETWEEN), self.app.size.width - 4, most=6)
            yield Static(origin, markup=False, classes="line -dim")

    def on_mount(self) -> None:
        self.query_one("#whole").focus()
        once_painted(self, self._say_what_is_cut)

    def _say_what_is_cut(self) -> None:
        """Say how to read the rest of rulings for which there is too little room."""
        said, dialog = self.query_one("#said"), self.query_one(".dialog")
        said.can_focus = said.max_scroll_y > 0
        if said.can_focus:
            dialog.border_subtitle = f"Tab ↓ reads on above · {dialog.border_subtitle}"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return (
            self._among is not None
            if action == "step"
            else action != "rule" or below(self) is not None
        )

    def action_step(self, by: int) -> None:
        """Show the next answer of the list, or the one before, in place of this one."""
        if (
            (among := self._among) is not None
            and among.goes(by)
            and (row := among.current) is not None
        ):
            # At once: between two screens a key would go to the list below.
            self.app.switch_screen(among.opened(row))

    def action_copy(self) -> None:
        copied(self, self._answer)

    def action_rule(self) -> None:
        """Rule on the answer, which is under the cursor of the screen below."""
        rule_below(self)

    @property
    def _among(self) -> AnswersScreen[Any] | None:
        """The list of answers that this one was opened from."""
        stack = self.app.screen_stack
        found = stack[-2] if len(stack) > 1 and stack[-1] is self else stack[-1]
        return found if isinstance(found, AnswersScreen) else None


def copied(screen: StoreScreen | ModalScreen[None], text: str) -> None:
    """Copy an answer; a lone surrogate, which no clipboard can hold, becomes a question mark."""
    screen.app.copy_to_clipboard(text.encode("utf-8", "replace").decode())
    say(screen, f"Copied {len(text):,} characters.")
