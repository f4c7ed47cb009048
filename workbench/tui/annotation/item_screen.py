"""The base of screens that show one item at a time, labelled by one key and saved at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any, ClassVar, Generic, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Static

from workbench.domain.annotations import Codebook
from workbench.errors import WorkbenchError
from workbench.figures.visible import visible
from workbench.sessions.items import CurrentItem, ItemSession, LabelItem
from workbench.tui.annotation.annotate_format import (
    CHANGED,
    KEY_COLUMNS,
    NAME_COLUMNS,
    UNDONE,
    ReadText,
    guideline,
    key_row,
    last_line,
    marks_line,
    pace_line,
    shown_answer,
    title_note,
)
from workbench.tui.format import literal
from workbench.tui.keymap import action_on, keys_of
from workbench.tui.kit.base import say
from workbench.tui.kit.dialogs import TextScreen
from workbench.tui.kit.session_screen import NEVER, SessionScreen, ShowResult

WIDE = 110
"terminal columns from which the guideline is beside the item"

SKIP = Binding("s", "skip", "Skip", tooltip="Skip: move this item to the end")
UNDO = Binding("z", "undo", "Undo", tooltip="Undo the last step, then earlier ones")
GUIDE = Binding("g", "guide", "Guide", tooltip="Show or hide the guideline")
LEAVE = Binding(
    "escape,q", "leave", "Leave", key_display="q", tooltip="Leave; all labels are saved"
)
"bindings that subclasses put in their order"

A = TypeVar("A", bound=ItemSession[Any, Any])
V = TypeVar("V", bound=CurrentItem)


class ItemScreen(SessionScreen[A], Generic[A, V]):
    """A screen of an item, or of a page in its place. The codebook's keys label the item."""

    CSS_PATH = "item_screen.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_text(1)", "Line below", show=False, tooltip="Scroll down by a line"),
        Binding("k", "scroll_text(-1)", "Line above", show=False, tooltip="Scroll up by a line"),
    ]
    DECIDES: ClassVar[frozenset[str]] = frozenset({"skip", "undo"})
    FREE: ClassVar[frozenset[str]] = frozenset({"leave", "guide", "scroll_text"})
    OPENING = "Opening the queue …"
    NO_STEPS = "nothing to undo"
    STATEMENT_LINES = 6
    "maximum number of lines of the statement; a longer one scrolls"
    CLOSED = "F5 tries again, q leaves."
    "text if the session could not begin"
    COUNTED = ""
    "unit of the counter in the title, if it needs one"
    TIME_LEFT = False
    "whether the screen shows the remaining time instead of the pace"

    statement = query_one("#statement", ReadText)
    answer = query_one("#answer", ReadText)
    guide = query_one("#guide", VerticalScroll)

    def __init__(self, kind: str, title: str, name: str | None) -> None:
        super().__init__()
        self.PLACE = f"{kind} · {literal(title, NAME_COLUMNS).plain}"
        self._person_name = name
        self._codebook: Codebook | None = None
        self._view: V | None = None
        self._page: Content | None = None
        "text in place of the item: an introduction, or the end"
        self._unpainted: set[ReadText] = set()

    def compose_body(self) -> ComposeResult:
        with Horizontal(id="room"):
            with Vertical(id="sheet"):
                with Vertical(id="reading"):
                    with Horizontal(classes="head", id="statement-head"):
                        yield Static("Statement", markup=False)
                        yield Static(id="where", markup=False)
                    yield ReadText(name="statement", most=self.STATEMENT_LINES)
                    with Horizontal(classes="head", id="more-head"):
                        yield Static(id="more", markup=False)
                    yield ReadText(name="answer")
                    yield Static(id="question", markup=False)
                    yield Static(id="keys", markup=False)
                    yield Static(id="marks", markup=False)
                with VerticalScroll(id="page", can_focus=False):
                    yield Static(id="page-text", markup=False)
                yield Static(self.OPENING, id="pace", markup=False)
            with VerticalScroll(id="guide"):
                yield Static(id="guideline", markup=False)

    def on_mount(self) -> None:
        self.add_class("-page")
        self.title_bar.note = title_note(self._person_name or "", None)

    def on_resize(self) -> None:
        if self.guide.has_class("-shown") and self.size.width < WIDE:
            self.guide.remove_class("-shown")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action == "undo":
            return self.asking or (self._view is not None and self._view.item is None)
        return self.asking or (action != "label_at" and action not in self.DECIDES)

    @property
    def text(self) -> ReadText:
        """The widget of the text that is labelled."""
        return self.answer

    def page_of(self, view: V) -> Content | None:
        """Return the text in place of an item, or None to show the item."""
        raise NotImplementedError("abstract")

    @property
    def item(self) -> LabelItem | None:
        """The visible item, or the one behind the visible page."""
        return None if self._view is None else self._view.item

    @property
    def asking(self) -> bool:
        """Whether an item is visible, and no page in its place."""
        return self.item is not None and self._page is None

    def on_key(self, event: events.Key) -> None:
        """Handle keys that are about the item, with or without Caps Lock."""
        label_index, action = self._meaning(event.key)
        if not self.asking or (label_index is None and action not in self.DECIDES):
            return
        event.stop()
        if label_index is not None:
            self._label(label_index, event.time)
        else:
            getattr(self, f"action_{action}")()

    def is_ahead(self, event: events.Event) -> bool:
        """Return whether a key is about an item that was not visible long enough before it."""
        if not isinstance(event, events.Key) or not self.asking or self.was_seen(event.time):
            return False
        label_index, action = self._meaning(event.key)
        return label_index is not None or action in self.DECIDES

    def _meaning(self, key: str) -> tuple[int | None, str]:
        """Return the index of the label that a key gives, or None, and the action of the key."""
        key = key.lower() if len(key) == 1 else key
        options = self._codebook.options if self._codebook is not None else ()
        label_index = next(
            (index for index, option in enumerate(options) if option.key == key), None
        )
        return label_index, action_on(self, key)

    def show_view(self, view: V, codebook: Codebook, said: str) -> None:
        """Show the next item or page. Keys count again once it was painted."""
        self.request_answered()
        if self._codebook != codebook:
            if self._codebook is not None:
                say(self, CHANGED, warns=True)
            self._learn(codebook)
        was_asking = self.asking
        self._view, self._said = view, said
        self._page = self.page_of(view)
        if self._page is not None:
            self._unpainted, self._seen_at = set(), monotonic()
            self.show_page(self._page)
        elif view.item is not None:
            self._seen_at = NEVER
            self.remove_class("-page")
            self.show_item(view.item, view.former)
        if was_asking is not self.asking:
            self.refresh_bindings()
            self.set_focus(self.text if self.asking else None)
        self.show_progress()

    @on(ReadText.Painted)
    def see(self, event: ReadText.Painted) -> None:
        """Let keys count once all texts were painted, and count the time from there."""
        if event.widget in self._unpainted:
            self._unpainted.discard(event.widget)
            if not self._unpainted:
                self._seen_at = event.time
        if event.widget is self.text:
            self._show_length()

    def _show_length(self) -> None:
        """Show the heading of the text, and how long it is if not all of it is visible."""
        parts = []
        if self.item is not None and self.item.statement:
            parts.append("Response")
        if self.text.max_scroll_y > 0:
            parts.append(f"{len(self.text.lines):,} lines, space shows more")
        self.query_one("#more", Static).update(" · ".join(parts), layout=False)

    def failed(self, error: WorkbenchError) -> None:
        if self._view is None:
            self.show_page(Content(self.CLOSED))
        super().failed(error)

    def show_page(self, page: Content) -> None:
        """Show a text in place of the item."""
        self.add_class("-page")
        self.query_one("#page-text", Static).update(page)
        self.query_one("#page").scroll_home(animate=False)

    def show_item(self, item: LabelItem, former: str) -> None:
        """Show an item. `former` is the label that undoing withdrew."""
        assert self._codebook is not None
        text, notice = shown_answer(item.text)
        self.set_class(not item.statement, "-alone")
        self.text.show(text, notice=notice)
        self._unpainted = {self.text}
        if item.statement:
            self.statement.show(visible(item.statement, lines=True))
            self._unpainted.add(self.statement)
        self.query_one("#where", Static).update(Content(item.where), layout=False)
        self.query_one("#keys", Static).update(
            key_row(
                self._codebook.options, former or item.label or "", width=self._columns("#keys")
            ),
            layout=False,
        )
        self.show_marks()

    def _columns(self, selector: str) -> int:
        """Return the width of a widget, or that of a small terminal before the first layout."""
        return self.query_one(selector).content_size.width or KEY_COLUMNS

    def show_marks(self) -> None:
        """Show the marks of the item besides its label."""
        if self._view is not None and self._view.item is not None:
            marks = marks_line(self._view.item, self.sureness, self._view.former)
            self.query_one("#marks", Static).update(marks, layout=False)

    def show_progress(self) -> None:
        if self._view is not None:
            progress, width = self._view.progress, self._columns("#pace")
            last_content = last_line(self._said, self._view.steps)
            self.say(pace_line(progress, last_content, time_left=self.TIME_LEFT, width=width))
            self.title_bar.note = title_note(self._person_name or "", progress, self.COUNTED)

    @property
    def sureness(self) -> str | None:
        """The confidence in the next label as text, empty if not chosen, None if not asked for."""
        return None

    @property
    def confidence(self) -> float | None:
        """The confidence in the next label as a number, or None if not chosen or not asked for."""
        return None

    def action_label_at(self, label_index: int) -> None:
        """Give a label by the mouse or by name."""
        clicked_at = monotonic()
        if self.accepts_click(clicked_at):
            self._label(label_index, clicked_at)

    def action_skip(self) -> None:
        """Move the item behind all others. A labelled item keeps its label and its position."""
        item = self.item
        if item is None:
            return
        if item.label is not None:
            self.go_on("unchanged")
            return
        unit, elapsed_ms = item.unit, self._elapsed_ms(monotonic())
        self.ask(lambda session: session.skip(unit, elapsed_ms), "skipped", lost="the skip")

    def action_undo(self) -> None:
        """Undo the newest step."""
        if self._view is None or self._busy:
            return
        if not self._view.steps:
            self.say(Content(self.NO_STEPS))
            return
        current = self.item.unit if self.item is not None else None
        self.ask(lambda session: session.undo(current), UNDONE, lost="the undo")

    def action_guide(self) -> None:
        """Show the guideline beside the item, or above it in a narrow terminal."""
        if self._codebook is None:
            return
        if self.size.width >= WIDE:
            self.guide.toggle_class("-shown")
            if not self.guide.has_class("-shown"):
                self.text.focus()
        else:
            guide_keys = keys_of(self, "guide")
            self.app.push_screen(
                TextScreen(self._codebook.title, guideline(self._codebook), closed_by=guide_keys)
            )

    def action_scroll_text(self, lines: int) -> None:
        visible_text = self.query_one("#page") if self.has_class("-page") else self.text
        visible_text.scroll_relative(y=lines, animate=False)

    def action_refresh(self) -> None:
        """Retry after an error of the store, or check whether an item has become free."""
        if (
            self._thread is not None
            and not self._busy
            and (self.item is None or self.trouble.shown)
        ):
            self.go_on(self._said)

    def go_on(self, said: str) -> None:
        """Show the next item."""
        self.ask(lambda _: None, said, lost="")

    def ask(self, step: Callable[[A], str | None], said: str, *, lost: str) -> None:
        """Take a step, then show the next item. The step may return more to say of it."""

        def describe(detail: str | None) -> str:
            return f"{said}: {detail}" if detail else said

        def show(session: A, detail: str | None) -> ShowResult:
            return partial(self.show_view, session.next(), session.codebook, describe(detail))

        self.take_step(step, describe, show, lost=lost)

    def _label(self, label_index: int, pressed_at: float) -> None:
        """Commit a label, then go on."""
        item = self.item
        if item is None or self._codebook is None or not self.asking:
            return
        label, unit = self._codebook.options[label_index].label, item.unit
        elapsed_ms, confidence = self._elapsed_ms(pressed_at), self.confidence
        self.ask(
            lambda session: session.label(unit, label, elapsed_ms, confidence),
            f"{label} (saved)",
            lost=visible(label),
        )

    def _elapsed_ms(self, at: float) -> int:
        return max(0, round(1000 * (at - self._seen_at)))

    def _learn(self, codebook: Codebook) -> None:
        """Show the question and its keys. Labels are also listed by name and among the keys."""
        for option in self._codebook.options if self._codebook is not None else ():
            self._bindings.key_to_bindings.pop(option.key, None)
        self._codebook = codebook
        self.query_one("#question", Static).update(Content(visible(codebook.question)))
        self.query_one("#guideline", Static).update(guideline(codebook))
        for index, option in enumerate(codebook.options):
            name = visible(option.label)
            binding = Binding(
                option.key, f"label_at({index})", name, show=False, tooltip=f"Label: {name}"
            )
            self._bindings.key_to_bindings[option.key] = [binding]
        self.refresh_bindings()
