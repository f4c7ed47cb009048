"""One form of a question as the model was asked it, and its answers as they were written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.tui.results.answers import copied
from workbench.tui.results.details import explained
from workbench.tui.results.following import AmongRows
from workbench.tui.results.loaded import Loaded
from workbench.tui.results.response_bias_forms import form_name
from workbench.tui.results.sheet import Sheet
from workbench.tui.results.sheet_view import SheetView
from workbench.tui.rulings.standing import RuledPlace
from workbench.tui.widgets.long_text import LongText

if TYPE_CHECKING:
    from workbench.audits.response_bias.judged import ResponseBiasJudged
    from workbench.audits.response_bias.questions import Changes, FormShown, QuestionShown

FORM = section("screens-results", "One form of a question")
READING = "Reading …"
IMPORTED = """These answers were imported: the store has neither the prompt around the question nor the text of each \
answer. The instrument's form is shown above."""
NOTHING = "No answer to this form is stored yet."


class FormScreen(AmongRows):
    """What was asked, and what was answered."""

    PLACE = "results › response bias › prompt"
    EXPLAIN = FORM
    DEFAULT_CSS = """
    FormScreen #about {
        height: auto;
        max-height: 2;
        padding: 0 1;
    }
    FormScreen #prompt {
        height: 1fr;
        border: round $panel;
    }
    FormScreen #prompt:focus {
        border: round $accent;
    }
    FormScreen #none {
        height: auto;
        padding: 1 2;
        color: $text-muted;
    }
    FormScreen SheetView.-tall #preview-title, FormScreen SheetView.-tall #preview {
        display: none;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,v", "whole", "Whole answer", key_display="Enter"),
        Binding("o", "other", "Other form", tooltip="Show the other form of the question"),
        Binding("tab", "turn", "Text", key_display="Tab", tooltip="Move to the prompt or the answers, to scroll"),
        Binding("y", "copy", "Copy", tooltip="Copy the prompt"),
        Binding("escape", "back", "Back", key_display="Esc"),
    ]

    @dataclass
    class Found(Message):
        """Both forms are read, each with the table of its answers."""

        forms: Sequence[tuple[FormShown, Sheet]]

    view = query_one(SheetView)
    text = query_one("#prompt", LongText)

    def __init__(self, loaded: Loaded, shown: QuestionShown, arm: str = "") -> None:
        """`arm`: the form that is shown first; empty: the original."""
        super().__init__()
        self._findings: Changes = loaded.material
        self._shown = shown
        judged: ResponseBiasJudged = self._findings.judged
        run = judged.subjects[shown.subject].run
        self._run = (run.model, run.version, run.backend, run.dtype, str(run.sampling)) if run is not None else ()
        self._changed = arm == shown.changed.arm
        self._forms: Sequence[tuple[FormShown, Sheet]] = ()

    def compose_body(self) -> ComposeResult:
        yield Static(id="about", markup=False)
        yield LongText("", name="prompt")
        yield SheetView()
        yield Static(id="none", markup=False)

    def on_mount(self) -> None:
        self.title_bar.note = READING
        self.read_forms()
        self.read_standing()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action in ("turn", "whole"):
            return bool(self._forms and self._sheet.table.rows)
        return action not in ("copy", "other") or bool(self._forms)

    def explain(self) -> str:
        return f"{FORM}\n\n{explained(self._sheet.table)}" if self._forms else FORM

    @on(Found)
    def put(self, event: Found) -> None:
        self._forms = event.forms
        self.title_bar.note = ""
        self._paint()

    def action_whole(self) -> None:
        self.view.show_whole()

    def show_standing(self) -> None:
        self.view.rulings = self._rulings_on
        if self._forms:
            self.view.follow()

    def show_ruled(self) -> None:
        self.read_forms()

    def _rulings_on(self, at: int) -> Sequence[str]:
        """Return what was ruled on an answer, on the form's prompt, its wording and the question."""
        return self.standing.on_answer(self._form.shown.probe or 0, self._sheet.table.rows[at][1].text)

    def ruled_place(self) -> RuledPlace | None:
        """Return the form's prompt, and the answer under the cursor where one was drawn."""
        probe = self._form.shown.probe if self._forms else None
        if not probe:
            return None
        at, rows = self.view.at, self._sheet.table.rows
        answer = rows[at][1] if at is not None and at < len(rows) else None
        drawn = answer is not None and answer.count is not None
        return RuledPlace(probe=probe, text=answer.text if answer is not None and drawn else None)

    def action_other(self) -> None:
        self._changed = not self._changed
        self._paint()

    def action_turn(self) -> None:
        (self.view.table if self.focused is self.text else self.text).focus()

    def action_copy(self) -> None:
        copied(self, as_copied(self._form))

    def action_back(self) -> None:
        if not self.view.take_back():
            self.dismiss(None)

    @property
    def _form(self) -> FormShown:
        return self._forms[self._changed][0]

    @property
    def _sheet(self) -> Sheet:
        return self._forms[self._changed][1]

    def _paint(self) -> None:
        shown, form = self._shown, self._form
        name = form_name(shown, shown.changed if self._changed else shown.original)
        about = Content.assemble(
            (visible(shown.row.key), "bold"),
            f"  {name}  ",
            (visible(shown.subject), "bold $text-accent"),
            (f"\n{' · '.join(visible(part) for part in self._run if part)}" if self._run else "", "$text-muted"),
        )
        self.query_one("#about", Static).update(about)
        self.text.show(prompt_text(form))
        empty, none = not self._sheet.table.rows, self.query_one("#none", Static)
        none.update(NOTHING if form.messages else IMPORTED)
        none.display, self.view.display = empty, not empty
        self.view.show(self._sheet)
        if empty:
            self.text.focus()
        self.refresh_bindings()

    @work(thread=True, exclusive=True, exit_on_error=False, group="form", description="")
    def read_forms(self) -> None:
        from workbench.audits.response_bias import question_tables as tables

        worker = get_current_worker()
        made = self._findings.forms(self._shown)
        arms = [form.shown.arm for form in made]
        sheets = [Sheet(tables.answers(self._shown, made, arm), (arm,)) for arm in arms]
        if not worker.is_cancelled:
            self.post_message(self.Found(list(zip(made, sheets, strict=True))))


def prompt_text(form: FormShown) -> str:
    """Return the prompt as text that is safe to print, its roles before its turns; without one, the form alone."""
    if not form.messages:
        words = form.shown.choice.lettered() if form.shown.choice is not None else ""
        return visible(words, lines=True) or "The text of this form is unknown."
    turns = ((visible(m.role), visible(m.content, lines=True)) for m in form.messages)
    return "\n\n".join(f"{role}\n  " + said.replace("\n", "\n  ") for role, said in turns)


def as_copied(form: FormShown) -> str:
    """Return the whole prompt as it was put, for the clipboard."""
    if not form.messages:
        return form.shown.choice.lettered() if form.shown.choice is not None else ""
    return "\n\n".join(f"{message.role}: {message.content}" for message in form.messages)
