"""Labelling the items of a queue one at a time, blind to what models and others said of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from workbench.domain.annotations import LabelSubject
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.sessions.items import LabelItem
from workbench.sessions.labels import CurrentQueueItem, OwnLabel, QueueSession
from workbench.tui.annotation.annotate_format import CONFIDENCES, UNDONE, done_text, given_line
from workbench.tui.annotation.item_screen import GUIDE, LEAVE, SKIP, UNDO, ItemScreen
from workbench.tui.kit.base import BESIDE, say
from workbench.tui.kit.dialogs import NoteDialog, with_answer


class GivenScreen(ModalScreen[int | None]):
    """A person's own labels, the newest first. It returns the unit to label again."""

    DEFAULT_CSS = """
    GivenScreen {
        align: center middle;
        background: $background 60%;
    }
    GivenScreen .dialog {
        width: 100%;
        max-width: 80;
        height: auto;
        max-height: 90%;
        padding: 0 1;
        border: round $accent;
        border-title-color: $text-accent;
        border-subtitle-color: $text-muted;
        background: $surface;
    }
    GivenScreen OptionList {
        height: auto;
        max-height: 100%;
        padding: 0;
        border: none;
        background: $surface;
        scrollbar-size-vertical: 1;
    }
    GivenScreen OptionList:focus {
        border: none;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,v", "dismiss(None)", "Back", key_display="Esc", tooltip="Go back"),
        Binding("j", "down", "Down", show=False, tooltip="Go down"),
        Binding("k", "up", "Up", show=False, tooltip="Go up"),
    ]

    def __init__(self, given: Sequence[OwnLabel], subject: LabelSubject) -> None:
        super().__init__()
        self._given, self._subject = tuple(given), subject

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Your newest labels in this queue"
            dialog.border_subtitle = "Enter change the label · Esc back"
            if self._given:
                options = [
                    Option(given_line(own_label, self._subject)) for own_label in self._given
                ]
                # None draws a line between two options.
                separated = [element for option in options for element in (option, None)]
                yield OptionList(*separated[:-1], markup=False)
            else:
                yield Static("You have not labelled anything here yet.", markup=False)

    def on_mount(self) -> None:
        if self._given:
            self.query_one(OptionList).highlighted = 0
            self.query_one(OptionList).focus()

    @on(OptionList.OptionSelected)
    def choose(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._given[event.option_index].unit)

    def action_down(self) -> None:
        for choices in self.query(OptionList):
            choices.action_cursor_down()

    def action_up(self) -> None:
        for choices in self.query(OptionList):
            choices.action_cursor_up()


NOTE_SEEN_BY = "The adjudicator sees this note; other annotators do not."
SURE = (
    "Set how sure you are of this label: unsure, fairly sure, sure; without it nothing is "
    "stored of that"
)
ELSEWHERE = "another session of {name} has this item, or broke off at it"
EXPLAIN = section("screens-annotation", "Labelling")


class AnnotateScreen(ItemScreen[QueueSession, CurrentQueueItem]):
    """The screen of one person who labels one queue."""

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
    DECIDES: ClassVar[frozenset[str]] = ItemScreen.DECIDES | {"flag", "note", "confidence", "given"}

    def __init__(self, queue: str, name: str) -> None:
        super().__init__("annotate", queue, name)
        self.queue_name = queue
        self._sure = 0
        self._sure_steps: list[int] = []
        "number of steps at each change of the confidence of the visible item"
        self._drafts: dict[int, str] = {}
        "notes that are not saved, by unit"

    def on_mount(self) -> None:
        queue, name = self.queue_name, self._person_name or ""
        self.begin(lambda path: QueueSession(path, queue, name))
        self.guide.set_class(self.app.size.width >= BESIDE, "-shown")
        self.go_on("")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return (
            self._view is not None
            if action == "given"
            else super().check_action(action, parameters)
        )

    @property
    def sureness(self) -> str:
        return CONFIDENCES[self._sure][1]

    @property
    def confidence(self) -> float | None:
        return CONFIDENCES[self._sure][0]

    def page_of(self, view: CurrentQueueItem) -> Content | None:
        return None if view.item is not None else done_text(view.progress, view.steps)

    def show_item(self, item: LabelItem, former: str) -> None:
        if item.elsewhere:
            say(self, ELSEWHERE.format(name=visible(self._person_name or "")), warns=True)
        self._sure, self._sure_steps = 0, []
        super().show_item(item, former)

    def take_marks(self, item: LabelItem, steps: int, said: str) -> None:
        self.request_answered()
        self._drafts.pop(item.unit, None)
        if self._view is not None:
            self._view = replace(self._view, item=item, steps=steps)
        self._said = said
        self.show_marks()
        self.show_progress()

    def show_given(self, given: tuple[OwnLabel, ...]) -> None:
        self.request_answered()
        subject = self._codebook.subject if self._codebook else LabelSubject.RESPONSE
        with_answer(self, GivenScreen(given, subject), self._reopen)

    def action_flag(self) -> None:
        item = self.item
        if item is not None:
            self._remark(item.unit, not item.flagged, item.note)

    def action_note(self) -> None:
        """Write a note. One that could not be saved is still there."""
        item = self.item
        if item is None:
            return

        def save(note: str) -> None:
            self._drafts[item.unit] = note
            self._remark(item.unit, item.flagged, note)

        note = self._drafts.get(item.unit, item.note)
        on_statement = (
            self._codebook is not None and self._codebook.subject is LabelSubject.STATEMENT
        )
        title = "Note on this statement" if on_statement else "Note on this answer"
        with_answer(self, NoteDialog(note, title, hint=NOTE_SEEN_BY), save)

    def action_confidence(self) -> None:
        """Select the next level of confidence, for the next label only."""
        if self.item is not None:
            self._be_sure(1)
            self._sure_steps.append(self._view.steps if self._view is not None else 0)

    def action_undo(self) -> None:
        """Undo the newest step. A level of confidence that was chosen after it goes first."""
        if (
            self._busy
            or self._view is None
            or not self._sure_steps
            or self._sure_steps[-1] != self._view.steps
        ):
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
            self.submit(lambda session: partial(self.show_given, session.own_labels()), opens=True)

    def _reopen(self, unit: int) -> None:
        current = self.item.unit if self.item is not None else None
        self.ask(lambda session: session.reopen(unit, current), "opened again", lost="")

    def _remark(self, unit: int, flagged: bool, note: str) -> None:
        self.submit(
            lambda session: partial(self.take_marks, *session.remark(unit, flagged, note)),
            lost="the flag or note",
        )
