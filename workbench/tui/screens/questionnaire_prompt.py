"""One prompt as the model was given it, its context folded, and the distribution of the token that comes next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.getters import query_one
from textual.message import Message
from textual.widgets import Static

from workbench.tui.screens.answers import copied
from workbench.tui.screens.audit_table import FluidTable
from workbench.tui.screens.base import StoreScreen
from workbench.tui.screens.questionnaire_asked_format import (
    as_copied,
    conversation,
    prompt_about,
    provenance,
    token_columns,
    token_record,
)
from workbench.tui.screens.questionnaire_explain import PROMPT
from workbench.tui.screens.questionnaire_view import Loaded
from workbench.tui.widgets.long_text import LongText
from workbench.tui.widgets.record_table import Record

if TYPE_CHECKING:
    from workbench.pipeline.questionnaire_asked import PromptAsked


class TokenTable(FluidTable):
    """The likeliest next tokens; nothing lies below them."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return action != "select_cursor"


class PromptScreen(StoreScreen):
    """What was asked, and what the model holds likeliest next."""

    CSS_PATH = "questionnaire_prompt.tcss"
    PLACE = "results › questionnaire › prompt"
    EXPLAIN = PROMPT
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "fold", "Unfold", tooltip="Unfold the context, every answered question, or fold it"),
        Binding("tab", "other", "Text/tokens", key_display="Tab", tooltip="Go to the text or the tokens, to scroll"),
        Binding("y", "copy", "Copy", tooltip="Copy the whole prompt as it was put"),
        Binding("escape", "dismiss(None)", "Back", key_display="Esc"),
    ]

    table = query_one("#tokens", TokenTable)
    text = query_one("#prompt", LongText)

    @dataclass
    class Found(Message):
        """The prompt is read."""

        asked: PromptAsked

    def __init__(self, loaded: Loaded, model: str, probe: int, respondent: str, human: str) -> None:
        super().__init__()
        self._loaded, self._model, self._probe = loaded, model, probe
        self._respondent, self._human = respondent, human
        self._asked: PromptAsked | None = None
        self._folded = True

    def compose_body(self) -> ComposeResult:
        yield Static("Reading …", id="about", markup=False)
        yield LongText("", name="prompt")
        yield TokenTable(token_columns, name="tokens")
        yield Static(id="provenance", markup=False)

    def on_mount(self) -> None:
        self.table.focus()
        self.read_prompt()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        asked = self._asked
        if action == "fold":
            return asked is not None and asked.prompt.context > 0
        return action != "copy" or asked is not None

    @on(Found)
    def put(self, event: Found) -> None:
        self._asked = asked = event.asked
        human = f"{self._human} by {self._respondent}" if not asked.respondent else self._human
        self.query_one("#about", Static).update(prompt_about(asked, self._model, human, self._loaded.settings.masses))
        self.query_one("#provenance", Static).update(provenance(asked))
        self._show_text()
        self.table.show_for_width(self._records)
        self.refresh_bindings()

    def action_fold(self) -> None:
        self._folded = not self._folded
        self._show_text()
        (self.table if self._folded else self.text).focus()

    def action_other(self) -> None:
        (self.text if self.focused is self.table else self.table).focus()

    def action_copy(self) -> None:
        if self._asked is not None:
            copied(self, as_copied(self._asked))

    def _show_text(self) -> None:
        if self._asked is not None:
            self.text.show(conversation(self._asked, folded=self._folded))
            self.text.set_class(self._folded, "-folded")

    def _records(self, width: int) -> list[Record]:
        tokens = self._asked.tokens if self._asked is not None else ()
        return [token_record(place, token, width) for place, token in enumerate(tokens, 1)]

    @work(thread=True, exclusive=True, exit_on_error=False, group="prompt")
    def read_prompt(self) -> None:
        from stores.store import Store
        from workbench.pipeline.questionnaire_asked import prompt_asked

        judged = self._loaded.judged
        if judged is not None:
            with Store.open(self.store_path) as store:
                self.post_message(self.Found(prompt_asked(store, judged, self._model, self._probe)))
