"""Annotate: the answers and statements of a queue, one at a time, blind to what models and others said of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.message import Message

from workbench.domain.annotations import Subject
from workbench.help.sections import section
from workbench.tui.annotation.annotate_format import CONFIDENCES, UNDONE
from workbench.tui.annotation.given_dialog import GivenScreen
from workbench.tui.annotation.item_screen import GUIDE, LEAVE, SKIP, UNDO, ItemScreen
from workbench.tui.annotation.queue_session import QueueSession
from workbench.tui.annotation.session import Given, Item
from workbench.tui.kit.note_dialog import NoteDialog

NOTE_SEEN_BY = "The adjudicator sees this note; other annotators do not."
SURE = "Set how sure you are of this label: unsure, fairly sure, sure; without it nothing is stored of that"
EXPLAIN = section("screens-annotation", "Labelling")


class AnnotateScreen(ItemScreen[QueueSession]):
    """One person labelling one queue."""

    EXPLAIN = EXPLAIN
    NO_STEPS = "nothing to undo: you have labelled, flagged and noted nothing here"
    UNIT = "answer"
    COUNTED = "items"
    BINDINGS: ClassVar[list[BindingType]] = [
        SKIP,
        UNDO,
        Binding("f", "flag", "Flag", tooltip="Flag this for the adjudicator, or remove the flag"),
        Binding("m", "note", "Note", tooltip="Write a note for the adjudicator"),
        Binding("c", "confidence", "Sure?", tooltip=SURE),
        GUIDE,
        Binding("v", "given", "Labels", tooltip="Show your own labels, and change one"),
        LEAVE,
    ]
    ITEM_ACTS: ClassVar[frozenset[str]] = ItemScreen.ITEM_ACTS | {"flag", "note", "confidence", "given"}

    @dataclass
    class Marked(Message):
        """A flag or a note is committed."""

        item: Item
        steps: int
        said: str

    @dataclass
    class Listed(Message):
        """The person's own labels were read."""

        given: tuple[Given, ...]

    def __init__(self, queue: str, name: str) -> None:
        super().__init__("annotate", queue, name)
        self.queue_name = queue
        self._sure = 0
        self._sure_steps: list[int] = []
        "how many steps could be undone each time that the confidence was changed, of the item in sight"
        self._drafts: dict[int, str] = {}
        "notes that are not saved, by unit"

    def on_mount(self) -> None:
        queue, name = self.queue_name, self._who or ""
        self.begin(lambda path: QueueSession(path, queue, name))
        self.go_on("")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self._view is not None if action == "given" else super().check_action(action, parameters)

    @property
    def sureness(self) -> str:
        return CONFIDENCES[self._sure][1]

    @property
    def confidence(self) -> float | None:
        return CONFIDENCES[self._sure][0]

    def show_item(self, item: Item, former: str) -> None:
        self._sure, self._sure_steps = 0, []
        super().show_item(item, former)

    @on(Marked)
    def take_marks(self, event: Marked) -> None:
        self.answered()
        self._drafts.pop(event.item.unit, None)
        if self._view is not None:
            self._view = replace(self._view, item=event.item, steps=event.steps)
        self._said = event.said
        self.show_marks()
        self.show_progress()

    @on(Listed)
    def show_given(self, event: Listed) -> None:
        self.answered()
        subject = self._codebook.subject if self._codebook else Subject.RESPONSE
        self.app.push_screen(GivenScreen(event.given, subject), self._reopen)

    def action_flag(self) -> None:
        if (item := self.item) is not None:
            self._remark(item.unit, not item.flagged, item.note)

    def action_note(self) -> None:
        """Write a note; one that could not be saved is still there."""
        item = self.item
        if item is None:
            return

        def save(note: str | None) -> None:
            if note is not None:
                self._drafts[item.unit] = note
                self._remark(item.unit, item.flagged, note)

        note = self._drafts.get(item.unit, item.note)
        on_statement = self._codebook is not None and self._codebook.subject is Subject.STATEMENT
        title = "Note on this statement" if on_statement else "Note on this answer"
        self.app.push_screen(NoteDialog(note, title, hint=NOTE_SEEN_BY), save)

    def action_confidence(self) -> None:
        """Select the next level of confidence, for the next label only."""
        if self.item is not None:
            self._be_sure(1)
            self._sure_steps.append(self._view.steps if self._view is not None else 0)

    def action_undo(self) -> None:
        """Take back the newest step; a level of confidence that was chosen after it goes first."""
        if self._busy or self._view is None or not self._sure_steps or self._sure_steps[-1] != self._view.steps:
            super().action_undo()
            return
        self._sure_steps.pop()
        self._be_sure(-1)
        self._said = f"{UNDONE}: confidence"
        self.show_progress()

    def _be_sure(self, more: int) -> None:
        self._sure = (self._sure + more) % len(CONFIDENCES)
        self.show_marks()

    def action_given(self) -> None:
        """Show this person's own labels."""
        if self._view is not None and not self._busy:
            self.submit(lambda session: self.Listed(session.given()))

    def _reopen(self, unit: int | None) -> None:
        if unit is not None:
            current = self.item.unit if self.item is not None else None
            self.ask(lambda session: session.reopen(unit, current), "opened again", lost="")

    def _remark(self, unit: int, flagged: bool, note: str) -> None:
        self.submit(lambda session: self.Marked(*session.remark(unit, flagged, note)), lost="the flag or note")
