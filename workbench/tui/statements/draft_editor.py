"""A draft to be mended before it is accepted."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from workbench.domain.drafting import kind_words
from workbench.errors import UsageError
from workbench.tui.format import visible
from workbench.tui.statements.drafts_format import Case, hint_content
from workbench.workshop.drafting import entering, hints


class DraftEditor(ModalScreen[str | None]):
    """A text to change; dismisses it as it may enter an instrument, or None."""

    CSS_PATH = "drafts.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5", "save", "Accept this text"),
        Binding("escape", "dismiss(None)", "Cancel"),
    ]

    box = query_one(TextArea)

    def __init__(self, case: Case) -> None:
        super().__init__()
        self._case = case

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = Content(visible(f"{self._case.draft.ref} · {kind_words(self._case.draft.kind)}"))
            dialog.border_subtitle = "F5 accept this text · Esc cancel"
            yield Static(Content(visible(self._case.draft.basis, lines=True)), id="before", markup=False)
            yield TextArea(self._case.text, soft_wrap=True, compact=True, tab_behavior="focus",
                           highlight_cursor_line=False)  # fmt: skip
            yield Static(id="said", markup=False)

    def on_mount(self) -> None:
        self.box.focus()
        self.box.move_cursor(self.box.document.end)
        self.look()

    @on(TextArea.Changed)
    def look(self) -> None:
        """Say why the text cannot be a wording, or what is worth a look in it."""
        try:
            text = entering(self._case.draft.kind, self.box.text)
        except UsageError as error:
            self._refuse(error)
            return
        draft = self._case.draft
        others = [w for w in self._case.wordings if w.variant.kind is not draft.kind]
        found = hints(draft.kind, draft.language, draft.basis, text, others, self._case.bias)
        self.query_one("#said", Static).update(hint_content(found))

    def action_save(self) -> None:
        try:
            self.dismiss(entering(self._case.draft.kind, self.box.text))
        except UsageError as error:
            self._refuse(error)

    def _refuse(self, error: UsageError) -> None:
        self.query_one("#said", Static).update(Content.styled(f"✗ {visible(str(error))}", "$text-error"))
