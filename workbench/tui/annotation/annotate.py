"""Annotate: one answer at a time, one key a label, on disk before the next one shows.

Two rules make that safe at any speed. A label and the step to the next item are one call in the desk's thread, and the
screen changes only when it comes back. And a key counts only if it was pressed after the item was painted: what a
person typed ahead, or a slow line delivered late, never labels an item that nobody saw.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Static

from workbench.domain.annotations import Codebook, Subject
from workbench.errors import StoreError, StoreGone, WorkbenchError
from workbench.tui.annotation.annotate_dialogs import GivenScreen, NoteScreen
from workbench.tui.annotation.annotate_format import (
    CONFIDENCES,
    NAME_COLUMNS,
    done_text,
    guideline,
    key_row,
    last_line,
    marks_line,
    pace_line,
    shown_answer,
    title_note,
    where,
)
from workbench.tui.annotation.annotate_text import ReadText
from workbench.tui.annotation.session import Desk, View
from workbench.tui.annotation.session_screen import DeskScreen
from workbench.tui.format import literal, visible
from workbench.tui.kit.base import as_trouble, offer_copy
from workbench.tui.kit.dialogs import TextScreen

if TYPE_CHECKING:
    from stores.annotation.annotator import Item

GLANCE_S = 0.1
"after an item was painted; nobody answers what they see faster, but a key that bounces does"
CLICK_S = 0.5
"the same for the mouse: the second half of a double click"
WIDE = 110
"columns from which the guideline stands beside the answer"
STATEMENT_LINES = 6
ON_ITEM = frozenset("zsfmcv")
"keys that are about the item in sight, besides those of its labels"

EXPLAIN = """The number at the top right is how many items you have labelled, of all
that this queue has for you. The pace is that of your last 50 labels; a
break of more than 5 minutes over one item counts as 5.

A label is on disk before the next item shows. z takes back one step
after another, as far as this sitting goes; v shows labels from before,
too. What you leave unlabelled goes back to the queue.

When another person sits down: q, then p says who annotates.

You see no model, no template, and nobody else's labels, so that yours
are your own. Notes and flags go to whoever adjudicates.

c says how sure you are before you label: unsure, fairly sure, sure."""


class AnnotateScreen(DeskScreen):
    """One person labelling one queue."""

    CSS_PATH = "annotate.tcss"
    EXPLAIN = EXPLAIN
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "skip", "Skip", tooltip="Skip: put this behind all others"),
        Binding("z", "undo", "Undo", tooltip="Undo the last step, and the one before"),
        Binding("f", "flag", "Flag", tooltip="Flag this for whoever adjudicates, or take the flag away"),
        Binding("m", "note", "Note", tooltip="Write a note for whoever adjudicates"),
        Binding("c", "confidence", "Sure?", tooltip="Say how sure you are: unsure, fairly sure, sure"),
        Binding("g", "guide", "Guide", tooltip="Show the guideline, or take it away"),
        Binding("v", "given", "Labels", tooltip="Show your own labels; label one again"),
        Binding("j", "scroll_answer(1)", "Line below", show=False),
        Binding("k", "scroll_answer(-1)", "Line above", show=False),
        Binding("escape,q", "leave", "Leave", key_display="q", tooltip="Leave; all labels are saved"),
        Binding("h,0,1,2,3,4,5,6,7,8,9", "nothing", show=False),
    ]

    statement = query_one("#statement", ReadText)
    answer = query_one("#answer", ReadText)
    keys_line = query_one("#keys", Static)
    marks = query_one("#marks", Static)
    pace = query_one("#pace", Static)
    guide = query_one("#guide", VerticalScroll)

    def __init__(self, queue: str, name: str) -> None:
        super().__init__()
        self.queue_name, self.person = queue, name
        self.PLACE = f"annotate · {literal(queue, NAME_COLUMNS).plain}"
        self._codebook: Codebook | None = None
        self._view: View | None = None
        self._unpainted: set[ReadText] = set()
        self._seen_at = 0.0
        self._said = ""
        self._confidence = 0
        self._drafts: dict[int, str] = {}

    def compose_body(self) -> ComposeResult:
        with Horizontal(id="room"):
            with Vertical(id="sheet"):
                with Vertical(id="reading"):
                    with Horizontal(classes="head"):
                        yield Static("Statement", markup=False)
                        yield Static(id="where", markup=False)
                    yield ReadText(name="statement", most=STATEMENT_LINES)
                    with Horizontal(classes="head", id="answer-head"):
                        yield Static("Response", id="more", markup=False)
                    yield ReadText(name="answer")
                    yield Static(id="question", markup=False)
                    yield Static(id="keys", markup=False)
                    yield Static(id="marks", markup=False)
                yield Static(id="done", markup=False)
                yield Static("Opening the queue …", id="pace", markup=False)
            with VerticalScroll(id="guide"):
                yield Static(id="guideline", markup=False)

    def on_mount(self) -> None:
        self.answer.focus()
        self.title_bar.note = title_note(self.person, None)
        self._desk = Desk(self.store_path, self.queue_name, self.person)
        self._go_on("")

    def on_resize(self) -> None:
        if self.guide.has_class("-shown") and self.size.width < WIDE:
            self.guide.remove_class("-shown")

    @property
    def ready(self) -> bool:
        """Whether a key pressed now would count."""
        return self._accepts(monotonic())

    def on_key(self, event: events.Key) -> None:
        """Give labels, before any binding sees their keys; drop keys that came before the item was seen."""
        place = self._place_of(event.key)
        if place is None and event.key not in ON_ITEM:
            return
        if not self._accepts(event.time):
            event.stop()
        elif place is not None:
            event.stop()
            self._give(place, event.time)

    @on(DeskScreen.Shown)
    def show_view(self, event: DeskScreen.Shown) -> None:
        """Put the next item on the screen. Keys count again when it was painted."""
        self._answered()
        if self._codebook is None:
            self._learn(event.codebook)
        self.trouble.hide()
        self._view, self._said, self._confidence = event.view, event.said, 0
        self.set_class(event.view.item is None, "-done")
        self.remove_class("-closed")
        self._show_item(event.view)
        self._show_lines()
        self._show_progress(Content(""))

    @on(ReadText.Painted)
    def see(self, event: ReadText.Painted) -> None:
        """Let keys count once both texts were painted, and count the time from there."""
        self._unpainted.discard(event.widget)
        if not self._unpainted:
            self._seen_at = event.time
        if event.widget is self.answer:
            rest = self.answer.max_scroll_y > 0
            lines = f"Response · {len(self.answer.lines):,} lines, space shows more" if rest else "Response"
            self.query_one("#more", Static).update(lines, layout=False)

    @on(DeskScreen.Marked)
    def show_marks(self, event: DeskScreen.Marked) -> None:
        self._answered()
        self.trouble.hide()
        if self._view is not None and event.view.item is not None:
            self._drafts.pop(event.view.item.unit, None)
            self._view = View(event.view.item, event.view.progress, event.view.steps, self._view.former)
        self._show_lines()
        self._show_progress(Content(""))

    @on(DeskScreen.Listed)
    def show_given(self, event: DeskScreen.Listed) -> None:
        self._answered()
        subject = self._codebook.subject if self._codebook else Subject.RESPONSE
        self.app.push_screen(GivenScreen(event.given, subject), self._reopen)

    @on(DeskScreen.Failed)
    def show_failure(self, event: DeskScreen.Failed) -> None:
        """Say what went wrong, and whether anything was not written. The item stays where it is."""
        self._answered()
        error = as_trouble(event.error)
        gone = error if isinstance(error, StoreGone) else None
        if event.lost:
            error = StoreError(f"{event.lost} was NOT saved. The answer stays here: press the key again.\n\n{error}")
        elif event.said:
            error = StoreError(f"{event.said}; only the next one could not be read: F5 tries again.\n\n{error}")
        self.failed(error)
        said = f"{event.said}, but the next one could not be read" if event.said else "the store could not be read"
        said = f"{event.lost} was NOT saved" if event.lost else f"{said}; F5 tries again"
        self._said = event.said or self._said
        self._show_progress(Content.styled(visible(f"✗ {said}"), "bold $text-error"))
        if gone is not None:
            offer_copy(self.app, gone)

    def failed(self, error: WorkbenchError) -> None:
        self.set_class(self._view is None, "-closed")
        super().failed(error)

    def store_gone(self) -> None:
        self._said = ""
        self._show_progress(Content.styled("✗ the store is gone", "bold $text-error"))

    def store_moved(self) -> None:
        """Let the person press the key again: what was before them stays there."""
        self.trouble.hide()
        self.title_bar.rename(self.store_path.name)
        if self._desk is not None:
            self._desk.move(self.store_path)

    def action_label_at(self, place: int) -> None:
        """Give a label by the mouse or by name."""
        at = monotonic()
        if self._accepts(at) and at >= self._seen_at + CLICK_S:
            self._give(place, at)

    def action_skip(self) -> None:
        """Put the item behind all others; one that has a label already keeps it, and its place."""
        item = self._item
        if item is None:
            return
        if item.label is not None:
            self._go_on("kept as it was")
            return
        unit = item.unit
        self._ask(lambda sitting: sitting.skip(unit), "skipped", lost="the skip")

    def action_undo(self) -> None:
        """Take back the last step of this sitting."""
        if self._view is None or self._busy:
            return
        if not self._view.steps:
            self._show_progress(Content("nothing to undo in this sitting; v shows earlier labels"))
            return
        current = self._item.unit if self._item is not None else None
        self._ask(lambda sitting: sitting.undo(current), "undone", lost="the undo")

    def action_flag(self) -> None:
        if (item := self._item) is not None:
            self._remark(item.unit, not item.flagged, item.note)

    def action_note(self) -> None:
        """Write a note; one that could not be saved is still there."""
        item = self._item
        if item is None:
            return

        def save(note: str | None) -> None:
            if note is not None:
                self._drafts[item.unit] = note
                self._remark(item.unit, item.flagged, note)

        self.app.push_screen(NoteScreen(self._drafts.get(item.unit, item.note)), save)

    def action_confidence(self) -> None:
        """Go on to the next degree of sureness; it goes with the next label only."""
        if self._item is not None:
            self._confidence = (self._confidence + 1) % len(CONFIDENCES)
            self._show_lines()

    def action_guide(self) -> None:
        """Show the guideline beside the answer, or above it where there is no room."""
        if self._codebook is None:
            return
        if self.size.width >= WIDE:
            self.guide.toggle_class("-shown")
            if not self.guide.has_class("-shown"):
                self.answer.focus()
        else:
            self.app.push_screen(TextScreen(self._codebook.title, guideline(self._codebook)))

    def action_given(self) -> None:
        """Show this person's own labels."""
        if self._view is not None and not self._busy:
            self._submit(lambda sitting: self.Listed(sitting.given()))

    def action_scroll_answer(self, lines: int) -> None:
        self.answer.scroll_relative(y=lines, animate=False)

    def action_refresh(self) -> None:
        """Go on where the store could not be opened or read, or look again whether something came free."""
        if self._desk is not None and not self._busy and (self._item is None or self.trouble.shown):
            self._go_on(self._said)

    def action_nothing(self) -> None:
        """Take keys that lead away elsewhere: one of them pressed by mistake must not."""

    async def action_leave(self) -> None:
        """Leave. What is being saved is saved first; the item goes back to the queue."""
        await self.app.run_action("back")

    @property
    def _item(self) -> Item | None:
        return None if self._view is None else self._view.item

    def _accepts(self, at: float) -> bool:
        return not self._busy and not self._unpainted and at >= self._seen_at + GLANCE_S

    def _place_of(self, key: str) -> int | None:
        """Return which label a key gives, with or without Caps Lock."""
        options = self._codebook.options if self._codebook is not None else ()
        return next((n for n, option in enumerate(options) if key in (option.key, option.key.upper())), None)

    def _give(self, place: int, at: float) -> None:
        """Commit a label, then go on; `at` is when its key was pressed."""
        if (item := self._item) is None or self._codebook is None:
            return
        label, unit = self._codebook.options[place].label, item.unit
        elapsed_ms = max(0, round(1000 * (at - self._seen_at)))
        confidence = CONFIDENCES[self._confidence][0]
        self._ask(lambda sitting: sitting.label(unit, label, elapsed_ms, confidence), f"{label} (saved)", lost=label)

    def _reopen(self, unit: int | None) -> None:
        if unit is not None:
            current = self._item.unit if self._item is not None else None
            self._ask(lambda sitting: sitting.reopen(unit, current), "opened again", lost="")

    def _remark(self, unit: int, flagged: bool, note: str) -> None:
        self._submit(lambda sitting: self.Marked(sitting.remark(unit, flagged, note)), lost="the flag or note")

    def _go_on(self, said: str) -> None:
        self._ask(lambda _: None, said, lost="")

    def say_waiting(self) -> None:
        self._show_progress(Content.styled("waiting for the store; nothing is lost …", "bold"))

    def _learn(self, codebook: Codebook) -> None:
        """Show the question and its keys. Labels are found by name and in the list of keys, too."""
        self._codebook = codebook
        self.set_class(codebook.subject is Subject.STATEMENT, "-alone")
        self.query_one("#question", Static).update(Content(visible(codebook.question)))
        self.query_one("#guideline", Static).update(guideline(codebook))
        for place, option in enumerate(codebook.options):
            name = visible(option.label)
            binding = Binding(option.key, f"label_at({place})", name, show=False, tooltip=f"Label: {name}")
            self._bindings.key_to_bindings[option.key] = [binding]
        self.refresh_bindings()

    def _show_item(self, view: View) -> None:
        item, codebook = view.item, self._codebook
        if item is None or codebook is None:
            self._unpainted = set()
            self._seen_at = monotonic()
            self.query_one("#done", Static).update(done_text(view))
            return
        text, notice = shown_answer(item.context.text)
        self.answer.show(text, notice=notice)
        self._unpainted = {self.answer}
        if codebook.subject is Subject.RESPONSE:
            self.statement.show(visible(item.context.statement, lines=True))
            self._unpainted.add(self.statement)
        self.query_one("#where", Static).update(Content(where(item.context, codebook.subject)), layout=False)
        self.keys_line.update(key_row(codebook.options, view.former or item.label or ""), layout=False)

    def _show_lines(self) -> None:
        if self._view is not None and self._view.item is not None:
            words = CONFIDENCES[self._confidence][1]
            self.marks.update(marks_line(self._view.item, words, self._view.former), layout=False)

    def _show_progress(self, instead: Content) -> None:
        """Show how far and how fast this person is, and what was done last, or something else instead of that."""
        if instead.plain or self._view is None:
            self.pace.update(instead, layout=False)
            return
        said = last_line(visible(self._said), self._view.steps) if self._said else Content("")
        self.pace.update(pace_line(self._view.progress, said), layout=False)
        self.title_bar.note = title_note(self.person, self._view.progress)
