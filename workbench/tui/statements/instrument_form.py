"""An instrument that is not there yet: its name, its language, and the policy issues it is labelled for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.widgets import Input, Select

from workbench.help.sections import section
from workbench.tui.kit.edit_form import EditForm, row

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.pipeline.editing import Done

EXPLAIN = section("screens-statements", "A new instrument")


@dataclass(frozen=True, slots=True)
class InstrumentTyped:
    """The form as it was typed."""

    name: str
    title: str
    language: str
    issues: str


class InstrumentForm(EditForm):
    """Makes an instrument without statements."""

    HEADING = "New instrument"
    SAVE = "Make"
    EXPLAIN = EXPLAIN
    FIRST = "#name"

    def __init__(self) -> None:
        super().__init__("")

    def compose_fields(self) -> ComposeResult:
        from workbench.data import shipped_issue_schemes

        schemes = [*((name, name) for name in shipped_issue_schemes()), ("none yet", "")]
        yield row("name", Input(id="name", compact=True, placeholder="my-survey"))
        yield row("title", Input(id="title", compact=True))
        yield row("language", Input("en", id="language", compact=True))
        yield row("issues", Select(schemes, id="issues", value=schemes[0][1], allow_blank=False, compact=True))

    def values(self) -> InstrumentTyped:
        typed = {name: self.typed(name).strip() for name in ("name", "title", "language")}
        return InstrumentTyped(**typed, issues=self.chosen("issues"))

    def fault(self) -> str:
        typed = self.values()
        if not typed.name:
            return "the instrument has no name yet; give one such as my-survey"
        return "" if typed.language else "the language is missing; give one such as en"

    def action_save(self) -> None:
        """Make it: an instrument is nobody's change, so nobody is asked for a name."""
        if fault := self.fault():
            self.say(f"✗ {fault}", wrong=True)
        elif not self._saving:
            self._save_as("")

    def write(self, store: Store, person: str, values: Any) -> Done:  # noqa: ARG002
        from workbench.data import shipped_issue_scheme
        from workbench.pipeline.editing import Done
        from workbench.workshop.edits import label

        typed: InstrumentTyped = values
        definitions = shipped_issue_scheme(typed.issues).issues if typed.issues else ()
        title, language = label(typed.title, "title"), label(typed.language, "language")
        store.statements.start(typed.name, title, language, definitions=definitions)
        return Done(f"Made the instrument {typed.name}. n writes its first statement.", (typed.name,))
