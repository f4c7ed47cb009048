"""One question of a cell of response biases: both forms side by side, with the answers to each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.audits.response_bias_formula import formula
from workbench.tui.neighbours import beside, following
from workbench.tui.screens.base import StoreScreen
from workbench.tui.screens.response_bias_explain import QUESTION
from workbench.tui.screens.response_bias_question_format import SIDE_BY_SIDE, about, arm_text
from workbench.tui.screens.response_bias_view import Loaded, Place, cell_of, places

if TYPE_CHECKING:
    from workbench.audits.response_bias_figures import Cell
    from workbench.pipeline.response_bias_questions import QuestionShown

READING = "Reading the answers …"


class Forms(VerticalScroll, inherit_bindings=False):
    """Both forms; left and right are the screen's."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_up", "Up", show=False),
        Binding("down,j", "scroll_down", "Down", show=False),
        Binding("pageup", "page_up", "Page up", show=False),
        Binding("pagedown", "page_down", "Page down", show=False),
        Binding("home,g", "scroll_home", "Top", show=False),
        Binding("end,G", "scroll_end", "Bottom", show=False),
    ]


class QuestionScreen(StoreScreen):
    """One question in both of its forms."""

    CSS_PATH = "response_bias_question.tcss"
    PLACE = "results › response bias › question"
    EXPLAIN = QUESTION
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "answers", "Prompts", key_display="Enter", tooltip="Show prompts and answers as they were"),
        Binding("p", "answers", "Prompts", show=False, tooltip="Show the prompts as the model saw them"),
        Binding("n", "question(1)", "Next", tooltip="Show the next question of the list"),
        Binding("N", "question(-1)", "Question before", show=False),
        Binding(
            "c", "condition(1)", "Bias/typos", tooltip="Show this question with the bias, or another error of typing"
        ),
        Binding("C", "condition(-1)", "Condition before", show=False),
        Binding("left_square_bracket", "draw(-1)", "Draw before", show=False),
        Binding(
            "right_square_bracket", "draw(1)", "Draw", key_display="[ ]", tooltip="Show the next draw of this error"
        ),
        Binding("left", "subject(-1)", "Model before", show=False),
        Binding("right", "subject(1)", "Next model", show=False),
        Binding("escape", "dismiss(None)", "Back", key_display="Esc"),
    ]

    @dataclass
    class Found(Message):
        """A question is read."""

        asked: tuple[str, Place, str, int]
        shown: QuestionShown

    def __init__(self, loaded: Loaded, subject: str, place: Place, key: str, keys: tuple[str, ...]) -> None:
        """`keys`: of the questions that n and N go through."""
        super().__init__()
        self._loaded, self._subject, self._place, self._key, self._keys = loaded, subject, place, key, keys
        self._draw = self._draws()[0]
        self._shown: QuestionShown | None = None

    def compose_body(self) -> ComposeResult:
        yield Static(READING, id="about", markup=False)
        with Forms(id="forms"), Container(id="sides"):
            yield Static(id="original", markup=False, classes="side")
            yield Static(id="changed", markup=False, classes="side")

    def on_mount(self) -> None:
        self.query_one(Forms).focus()
        self._ask()

    def on_resize(self, event: events.Resize) -> None:
        self.query_one("#sides").set_class(event.size.width >= SIDE_BY_SIDE, "-beside")
        self._paint()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action == "answers":
            return self._shown is not None
        if action == "condition":
            return len(self._conditions()) > 1
        if action == "draw":
            return len(self._draws()) > 1
        if action == "subject":
            return len(self._subjects()) > 1
        return action != "question" or len(self._keys) > 1

    @on(Found)
    def put(self, event: Found) -> None:
        if event.asked == self._wanted:
            self._shown = event.shown
            self.title_bar.note = ""
            self.trouble.hide()
            self._paint()
            self.refresh_bindings()

    def action_answers(self) -> None:
        from workbench.tui.screens.response_bias_prompt import FormScreen

        if self._shown is not None:
            self.app.push_screen(FormScreen(self._loaded, self._shown))

    def action_question(self, step: int) -> None:
        """Go to a neighbouring question of the list, around the ends."""
        self._key = following(self._keys, self._key, step)
        draws = self._draws()
        self._draw = self._draw if self._draw in draws else draws[0]
        self._ask(anew=True)

    def action_condition(self, step: int) -> None:
        """Go to the bias or the next error of typing with which this question was asked."""
        held = self._conditions()
        self._place = following(held, self._place, step)
        self._draw = self._draws()[0]
        self._ask()

    def action_draw(self, step: int) -> None:
        held = self._draws()
        self._draw = following(held, self._draw, step)
        self._ask()

    def action_subject(self, step: int) -> None:
        """Show the same question of the next model that was asked it."""
        held = self._subjects()
        if (name := beside(held, self._subject, step)) == self._subject:
            return
        self._subject = name
        draws = self._draws()
        self._draw = self._draw if self._draw in draws else draws[0]
        self._ask()

    @property
    def _wanted(self) -> tuple[str, Place, str, int]:
        return self._subject, self._place, self._key, self._draw

    def _cell(self, subject: str, place: Place) -> Cell | None:
        """Return a cell in which the question was asked."""
        cell = cell_of(self._loaded, subject, place)
        if cell is None:
            return None
        asked = self._key in cell.deltas.keys or any(one.key == self._key for one in cell.deltas.left_out)
        return cell if asked else None

    def _draws(self) -> tuple[int, ...]:
        """Return the draws in which the question was asked: some are put to some of the questions alone."""
        from workbench.pipeline.response_bias_questions import draws_of

        judged, cell = self._loaded.judged, self._cell(self._subject, self._place)
        return draws_of(judged, self._subject, self._place, self._key) if judged and cell else (1,)

    def _conditions(self) -> list[Place]:
        bias, _, variant = self._place
        held = [place for place in places(self._loaded) if (place[0], place[2]) == (bias, variant)]
        return [place for place in held if self._cell(self._subject, place) is not None]

    def _subjects(self) -> list[str]:
        return [name for name in self._loaded.subjects if self._cell(name, self._place) is not None]

    def _ask(self, *, anew: bool = False) -> None:
        if anew:
            self.query_one(Forms).scroll_home(animate=False)
        self.title_bar.note = READING
        self.refresh_bindings()
        self.read_question(self._subject, self._place, self._key, self._draw)

    def _paint(self) -> None:
        found = self._shown
        if found is None:
            return
        at = (self._keys.index(found.row.key) + 1 if found.row.key in self._keys else 0, len(self._keys))
        several = len(self._subjects()) > 1
        definition, cell = self._loaded.settings.definition, self._cell(self._subject, self._place)
        rule = formula(self._place, definition, cell.deltas.source if cell is not None else self._place[0])
        words = about(found, definition, rule, at, several=several)
        self.query_one("#about", Static).update(words)
        width = self.size.width
        room = (width - 7) // 2 if width >= SIDE_BY_SIDE else width - 3
        self.query_one("#original", Static).update(arm_text(found, found.original, room))
        self.query_one("#changed", Static).update(arm_text(found, found.changed, room))

    @work(thread=True, exclusive=True, exit_on_error=False, group="question", description="")
    def read_question(self, subject: str, place: Place, key: str, draw: int) -> None:
        from stores.store import Store
        from workbench.pipeline.response_bias_questions import question

        worker = get_current_worker()
        judged = self._loaded.judged
        if judged is not None:
            with Store.open(self.store_path) as store:
                found = question(store, judged, subject, place, key, draw)
            if not worker.is_cancelled:
                self.post_message(self.Found((subject, place, key, draw), found))
