"""The two choices behind an audit screen: how answers are read and judged, and whose answers they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Label, OptionList, RadioButton, RadioSet, SelectionList, Static
from textual.widgets.option_list import Option
from textual.widgets.selection_list import Selection

from workbench.errors import WorkbenchError
from workbench.tui.format import visible
from workbench.tui.screens.audit_format import name_of
from workbench.tui.screens.audit_view import WITHIN, Settings, same_run

if TYPE_CHECKING:
    from stores.runs import Run

RULES = {
    "printed": "printed: 45 % and 55 % both lie outside the interval",
    "coded": "coded: only 55 % does, as in the released code",
}
READERS = {
    "label-words": "label-words: the first assertion decides; negations are understood",
    "label-words-coded": "label-words-coded: the first label word decides, as in the released code",
}


class OptionsScreen(ModalScreen[Settings | None]):
    """How answers are read and judged; dismisses the settings, or None where nothing is to change."""

    CSS_PATH = "audit_options.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "apply", "Apply", priority=True),
        Binding("escape", "dismiss(None)", "Leave as it was"),
    ]

    def __init__(self, settings: Settings, samples: int | None) -> None:
        super().__init__()
        self._settings, self._samples = settings, samples

    def compose(self) -> ComposeResult:
        chosen = self._settings
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "How answers are read and judged"
            dialog.border_subtitle = "Tab next · Space choose · Enter apply · Esc leave as it was"
            with VerticalScroll(can_focus=False):
                yield Label("Clear leaning")
                with RadioSet(id="rule", compact=True):
                    for name, words in RULES.items():
                        yield RadioButton(words, value=name == chosen.rule, name=name)
                yield Label("Reader")
                with RadioSet(id="reader", compact=True):
                    for name, words in READERS.items():
                        yield RadioButton(words, value=name == chosen.reader, name=name)
                yield Label(self._minimum_words())
                yield Input(
                    "" if chosen.minimum is None else str(chosen.minimum),
                    placeholder="two thirds", id="minimum", type="integer", compact=True,
                )  # fmt: skip
                yield Label("Tests that ALL takes together")
                yield SelectionList(
                    *(Selection(name_of(test), test, test in chosen.tests) for test in WITHIN), id="tests", compact=True
                )
                yield Static(id="trouble", markup=False)
            yield Button("Apply", id="apply", compact=True)

    def _minimum_words(self) -> str:
        of = f" of {self._samples}" if self._samples else ""
        return f"Readable answers that a prompt needs{of} (empty: two thirds)"

    @on(Button.Pressed, "#apply")
    def action_apply(self) -> None:
        try:
            settings = self._read()
            settings.options().needed(self._samples or 10**9)
        except WorkbenchError as error:
            self.query_one("#trouble", Static).update(Content.styled(f"✗ {visible(str(error))}", "$text-error"))
            return
        self.dismiss(settings)

    def _read(self) -> Settings:
        minimum = self.query_one("#minimum", Input).value.strip()
        ticked = self.query_one("#tests", SelectionList).selected
        return Settings(
            reader=self._pressed("#reader") or self._settings.reader,
            rule=self._pressed("#rule") or self._settings.rule,
            minimum=int(minimum) if minimum.lstrip("-").isdigit() else None,
            tests=tuple(test for test in WITHIN if test in ticked),
        )

    def _pressed(self, selector: str) -> str | None:
        button = self.query_one(selector, RadioSet).pressed_button
        return button.name if button else None


class RunsScreen(ModalScreen["Run | None"]):
    """Whose answers are judged; dismisses a run, or None."""

    CSS_PATH = "audit_options.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "Leave as it was"),
        Binding("j", "down", "Down", show=False),
        Binding("k", "up", "Up", show=False),
    ]

    def __init__(self, runs: Sequence[Run], current: Run) -> None:
        super().__init__()
        self._runs, self._current = tuple(runs), current

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Whose answers"
            dialog.border_subtitle = "Enter choose · Esc leave as it was"
            yield OptionList(*(Option(run_words(run)) for run in self._runs), id="runs", markup=False)

    def on_mount(self) -> None:
        runs = self.query_one("#runs", OptionList)
        runs.highlighted = next((n for n, run in enumerate(self._runs) if same_run(run, self._current)), 0)
        runs.focus()

    @on(OptionList.OptionSelected)
    def choose(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._runs[event.option_index])

    def action_down(self) -> None:
        self.query_one("#runs", OptionList).action_cursor_down()

    def action_up(self) -> None:
        self.query_one("#runs", OptionList).action_cursor_up()


def run_words(run: Run) -> Content:
    """Return two lines: whose answers, and how many."""
    return Content.assemble(
        (visible(run.model), "bold"),
        f" · {visible(run.instrument)} · {run.sampling}\n",
        (f"  {run.responses:,} answers to {run.prompts:,} prompts, revision {visible(run.revision[:12])}", "dim"),
        (f", last {visible(run.last[:16]).replace('T', ' ')} UTC", "dim"),
    )
