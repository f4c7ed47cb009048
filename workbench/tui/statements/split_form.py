"""A statement that says two things becomes two statements that say one each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static

from workbench.domain.statements import ORIGINAL, Statement, text_fault
from workbench.help.sections import section
from workbench.tui.format import visible
from workbench.tui.kit.edit_form import EditForm, row, text_box

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.pipeline.editing import Done

EXPLAIN = section("screens-statements", "Splitting a statement")


@dataclass(frozen=True, slots=True)
class Halves:
    """The two statements as they were typed."""

    refs: tuple[str, str]
    texts: tuple[str, str]


class SplitForm(EditForm):
    """Splits a statement into two; the old one is archived."""

    SAVE = "Split"
    EXPLAIN = EXPLAIN
    FIRST = "#first"

    def __init__(self, instrument: str, statement: Statement, language: str) -> None:
        super().__init__(instrument, statement)
        self._language = language
        self.HEADING = f"{statement.ref}: split into two"

    def compose_fields(self) -> ComposeResult:
        assert self._seen is not None
        ref = self._seen.ref
        original = self._seen.wording(ORIGINAL, self._language)
        text = original.text if original is not None else ""
        yield row("first ref", Input(f"{ref}-a", id="first_ref", compact=True))
        yield text_box(text, "first")
        yield row("second ref", Input(f"{ref}-b", id="second_ref", compact=True))
        yield text_box(text, "second")
        yield Static(id="theirs", classes="shown", markup=False)

    def values(self) -> Halves:
        return Halves(
            (self.typed("first_ref").strip(), self.typed("second_ref").strip()),
            (self.typed("first"), self.typed("second")),
        )

    def fault(self) -> str:
        halves = self.values()
        for ref, text in zip(halves.refs, halves.texts, strict=True):
            if not ref:
                return "a half has no ref"
            if fault := text_fault(text):
                return f"{ref} cannot be saved: {fault}"
        if halves.texts[0].strip() == halves.texts[1].strip():
            return "both halves are the same; delete from each half what belongs to the other"
        return ""

    def show_conflict(self, there: Statement | None) -> None:
        if there is None:
            return
        held = there.wording(ORIGINAL, self._language)
        text = f"Now: {held.text}" if held is not None else "The statement no longer has an original."
        self.query_one("#theirs", Static).update(Content(visible(text, lines=True)))

    def write(self, store: Store, person: str, values: Any) -> Done:
        from workbench.pipeline.editing import split_in_two

        assert self._seen is not None
        halves: Halves = values
        return split_in_two(
            store, self._instrument, self._seen, halves.refs, halves.texts, self._language, person=person
        )
