"""One question of a cell of response biases: both forms side by side, with the answers to each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.audits.response_bias import AUDIT
from workbench.audits.response_bias.answers import Place, place_of
from workbench.help.sections import section
from workbench.tui.neighbours import beside, following
from workbench.tui.results.following import AmongRows
from workbench.tui.results.loaded import Loaded
from workbench.tui.results.response_bias_forms import SIDE_BY_SIDE, about, arm_text
from workbench.tui.rulings.ruling import ruled_lines
from workbench.tui.rulings.standing import RuledPlace

if TYPE_CHECKING:
    from workbench.audits.response_bias.judged import ResponseBiasJudged
    from workbench.audits.response_bias.questions import Changes, QuestionShown

QUESTION = f"{section('screens-results', 'Two forms of a question')}\n\n{AUDIT.explain}"
READING = "Reading the answers …"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which question of which cell is looked at."""

    name: str
    "of the report"
    place: Place
    key: str
    draw: int


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


class QuestionScreen(AmongRows):
    """One question in both of its forms."""

    PLACE = "results › response bias › question"
    EXPLAIN = QUESTION
    DEFAULT_CSS = """
    QuestionScreen #about {
        height: auto;
        max-height: 4;
        padding: 0 1;
    }
    QuestionScreen #ruled {
        display: none;
        height: auto;
        max-height: 4;
        padding: 0 1;
    }
    QuestionScreen #ruled.-shown {
        display: block;
    }
    QuestionScreen #forms {
        height: 1fr;
        margin: 1 0 0 0;
        scrollbar-size-vertical: 1;
    }
    QuestionScreen #sides {
        height: auto;
        layout: vertical;
    }
    QuestionScreen #sides.-beside {
        layout: horizontal;
    }
    QuestionScreen .side {
        height: auto;
        width: 1fr;
        margin: 0 1 1 1;
    }
    QuestionScreen #sides.-beside #changed {
        margin: 0 1 0 2;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "answers", "Prompts", key_display="Enter", tooltip="Show the exact prompts and answers"),
        Binding("p", "answers", "Prompts", show=False, tooltip="Show the exact prompts"),
        Binding(
            "right_square_bracket,n",
            "question(1)",
            "Next",
            key_display="[ ]",
            tooltip="Show the next question in the list",
        ),
        Binding("left_square_bracket,N", "question(-1)", "Previous question", show=False),
        Binding("c", "condition(1)", "Bias/typos", tooltip="Show the bias, or a typo, of this question"),
        Binding("C", "condition(-1)", "Previous condition", show=False),
        Binding("d", "draw(1)", "Draw", tooltip="Show the next draw of this typo"),
        Binding("left", "subject(-1)", "Previous model", show=False),
        Binding("right", "subject(1)", "Next model", show=False),
        Binding("escape", "dismiss(None)", "Back", key_display="Esc"),
    ]

    @dataclass
    class Found(Message):
        """A question is read."""

        wanted: Wanted
        shown: QuestionShown

    def __init__(self, loaded: Loaded, shown: QuestionShown) -> None:
        super().__init__()
        self._shown = shown
        self._take(loaded)
        place = (shown.bias, shown.condition, shown.variant)
        self._wanted = self._in_sight = Wanted(shown.subject, place, shown.row.key, shown.draw)

    def _take(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self._findings: Changes = loaded.material
        self._judged: ResponseBiasJudged = self._findings.judged

    def ruled_place(self) -> RuledPlace | None:
        """Return the question, in its original form where that was asked here."""
        probe = self._shown.original.probe
        return RuledPlace(probe=probe) if probe else RuledPlace((self._judged.instrument.name,), (self._shown.row.ref,))

    def ruled_places(self) -> Sequence[RuledPlace]:
        """Return the question in both of its forms."""
        probes = (self._shown.original.probe, self._shown.changed.probe)
        found = [RuledPlace(probe=probe) for probe in probes if probe]
        return found or super().ruled_places()

    @property
    def bringing(self) -> bool:
        return self._in_sight != self._wanted

    def show_standing(self) -> None:
        """Show what auditors ruled; where that changed, judge the question again."""
        self.read_rulings(self.ruled_places())
        self.judge_if_ruled(self._loaded)

    def on_screen_resume(self) -> None:
        self.read_standing()

    def show_ruled(self) -> None:
        """Wait for `show_standing`, which follows every ruling."""

    def show_judged(self, loaded: Loaded) -> None:
        self._take(loaded)
        self.read_question(self._wanted)

    def show_rulings(self, lines: Sequence[str]) -> None:
        ruled = self.query_one("#ruled", Static)
        ruled.update(ruled_lines(lines))
        ruled.set_class(bool(lines), "-shown")

    def compose_body(self) -> ComposeResult:
        yield Static(id="about", markup=False)
        yield Static(id="ruled", markup=False)
        with Forms(id="forms"), Container(id="sides"):
            yield Static(id="original", markup=False, classes="side")
            yield Static(id="changed", markup=False, classes="side")

    def on_mount(self) -> None:
        self.query_one(Forms).focus()
        self._paint()

    def on_resize(self, event: events.Resize) -> None:
        self.query_one("#sides").set_class(event.size.width >= SIDE_BY_SIDE, "-beside")
        self._paint()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        several = {
            "condition": self._conditions,
            "draw": lambda: self._draws(self._wanted),
            "subject": self._names,
            "question": self._listed,
        }
        return action not in several or len(several[action]()) > 1

    @on(Found)
    def put(self, event: Found) -> None:
        if event.wanted == self._wanted:
            self._shown, self._in_sight = event.shown, event.wanted
            self.title_bar.note = ""
            self.trouble.hide()
            self._paint()
            self.read_rulings(self.ruled_places())
            self.refresh_bindings()

    def action_answers(self) -> None:
        from workbench.tui.results.response_bias_prompt import FormScreen

        self.app.push_screen(FormScreen(self._loaded, self._shown))

    def action_question(self, step: int) -> None:
        """Go to a neighbouring question of the list, around the ends."""
        self.query_one(Forms).scroll_home(animate=False)
        self._ask(following(self._listed(), self._wanted, step))

    def action_condition(self, step: int) -> None:
        """Go to the bias or the next typo with which this question was asked."""
        self._ask(replace(self._wanted, place=following(self._conditions(), self._wanted.place, step)))

    def action_draw(self, step: int) -> None:
        self._ask(replace(self._wanted, draw=following(self._draws(self._wanted), self._wanted.draw, step)))

    def action_subject(self, step: int) -> None:
        """Show the same question of the next model that was asked it."""
        self._ask(replace(self._wanted, name=beside(self._names(), self._wanted.name, step)))

    def _asked(self, of: Wanted) -> bool:
        """Return whether a question was asked in a cell."""
        cell = self._findings.reports[of.name].find(*of.place)
        return cell is not None and (of.key in cell.deltas.keys or any(o.key == of.key for o in cell.deltas.left_out))

    def _draws(self, of: Wanted) -> tuple[int, ...]:
        """Return the draws in which the question was asked: some are put to some of the questions alone."""
        from workbench.audits.response_bias.questions import draws_of

        return draws_of(self._judged, of.name, of.place, of.key)

    def _conditions(self) -> list[Place]:
        bias, _, variant = self._wanted.place
        held = [place for place in self._findings.places if (place[0], place[2]) == (bias, variant)]
        return [place for place in held if self._asked(replace(self._wanted, place=place))]

    def _names(self) -> list[str]:
        return [name for name in self._findings.reports if self._asked(replace(self._wanted, name=name))]

    def _listed(self) -> list[Wanted]:
        """Return the questions of the list; those of one cell as the model and condition in sight have them."""
        those = [link.subject for link in self.links]
        if len({subject[:3] for subject in those}) > 1:
            kinds = self._findings.every_kind
            held = [Wanted(one[0], place_of(one[1], one[2], kinds), one[3], self._wanted.draw) for one in those]
        else:
            held = [replace(self._wanted, key=subject[3]) for subject in those]
        return [self._with_draw(one) for one in held if self._asked(one)]

    def _with_draw(self, of: Wanted) -> Wanted:
        """Return a question in its first draw where it was not asked in the one that is wanted."""
        draws = self._draws(of)
        return of if of.draw in draws else replace(of, draw=draws[0])

    def _ask(self, wanted: Wanted) -> None:
        wanted = self._with_draw(wanted)
        if wanted != self._wanted:
            self._wanted = wanted
            self.title_bar.note = READING
            self.refresh_bindings()
            self.read_question(wanted)

    def _paint(self) -> None:
        listed, names = self._listed(), self._names()
        at = next((n for n, one in enumerate(listed, 1) if one == self._wanted), 0)
        words = about(self._findings, self._shown, (at, len(listed)), several=len(names) > 1)
        self.query_one("#about", Static).update(words)
        width = self.size.width
        room = (width - 7) // 2 if width >= SIDE_BY_SIDE else width - 3
        for side, arm in (("#original", self._shown.original), ("#changed", self._shown.changed)):
            self.query_one(side, Static).update(arm_text(self._shown, arm, room))

    @work(thread=True, exclusive=True, exit_on_error=False, group="question", description="")
    def read_question(self, wanted: Wanted) -> None:
        worker = get_current_worker()
        found = self._findings.question(wanted.name, wanted.place, wanted.key, wanted.draw)
        if not worker.is_cancelled:
            self.post_message(self.Found(wanted, found))
