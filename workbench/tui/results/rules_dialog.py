"""The rules by which a stance is reliable: how answers are read and judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from workbench.audits.reliability.options import READERS, RULES, ReliabilityOptions
from workbench.audits.reliability.options import TESTS as WITHIN
from workbench.domain.readings import USUAL, Readings
from workbench.errors import WorkbenchError
from workbench.help.sections import section
from workbench.tui.format import visible
from workbench.tui.kit.choices import RADIO, TICK
from workbench.tui.kit.dialogs import TextScreen

EXPLAIN = section("screens-results", "The rules for verdicts")
USUAL_RULES = ReliabilityOptions()
LIMITS = "  Space: 45 and 55 again"
READABLE = {
    "given": "all: the leaning among answers that name a label",
    "named": "in proportion to the probability that the next text is a label",
}
JUDGED = "judged"
VOIDS = {"void": "void: shown, but in no denominator", JUDGED: "judged like other tests, as published"}


@dataclass(frozen=True, slots=True)
class Rules:
    """How answers are read and judged."""

    readings: Readings = USUAL
    rule: str = "printed"
    low: float = USUAL_RULES.low
    high: float = USUAL_RULES.high
    "limits of an unclear leaning"
    minimum: int | None = None
    "readable answers that a prompt needs; None: two thirds of those planned for it"
    tests: tuple[str, ...] = WITHIN
    "which tests `all` takes together"
    judge_void: bool = False
    "whether tests that cannot fail are judged like the others, as published"
    readable: Literal["given", "named"] = "given"
    "of an exact run, what the samples beside are: all readable, or as often as the model names a label"

    @property
    def limits_words(self) -> str:
        """The limits, where they are not the published ones."""
        usual = (self.low, self.high) == (USUAL_RULES.low, USUAL_RULES.high)
        return "" if usual else f", limits {100 * self.low:g} and {100 * self.high:g} %"

    def options(self) -> ReliabilityOptions:
        """Return the audit's options. Raises UsageError where they make no sense."""
        return ReliabilityOptions(
            rule=self.rule,
            low=self.low,
            high=self.high,
            minimum=self.minimum,
            tests=self.tests,
            judge_void=self.judge_void,
            with_unreadable=self.readable == "named",
        )


class OptionsScreen(ModalScreen[Rules | None]):
    """How answers are read and judged; dismisses the settings, or None where nothing is to change."""

    CSS_PATH = "../kit/choices.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "apply", "Apply", priority=True),
        Binding("space", "choose", "Choose"),
        Binding("left", "step(-1)", "Less", tooltip="Lower the number under the cursor"),
        Binding("right", "step(1)", "More", tooltip="Raise the number under the cursor"),
        Binding("f1,question_mark", "explain", "Explain", key_display="F1", tooltip="Explain the rules"),
        Binding("j", "down", "Down", show=False),
        Binding("k", "up", "Up", show=False),
        Binding("escape,q", "dismiss(None)", "Cancel"),
    ]

    choices = query_one("#choices", OptionList)

    def __init__(self, settings: Rules, planned: tuple[int, int] | None, *, exact: bool = False) -> None:
        """`planned`: the fewest and the most answers planned for a prompt; None where nothing is known of that."""
        super().__init__()
        self.settings, self._planned, self._exact = settings, planned, exact

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = (
                "Rules for judging probabilities and the samples beside them"
                if self._exact
                else "Rules for reading and judging answers"
            )
            dialog.border_subtitle = "Space choose · ← → number · F1 explain · Enter apply · Esc cancel"
            yield OptionList(id="choices", markup=False)
            yield Static(id="trouble", markup=False)

    def on_mount(self) -> None:
        self._fill(1)
        self.choices.focus()

    @on(OptionList.OptionSelected)
    def choose_clicked(self) -> None:
        self.action_choose()

    def action_choose(self) -> None:
        """Choose the rule or reader under the cursor, or let a test count or not."""
        at = self.choices.highlighted
        if at is not None:
            self.settings = picked(self.settings, str(self.choices.get_option_at_index(at).id))
            self._fill(at)

    def action_step(self, step: int) -> None:
        """Change the number under the cursor: a limit by a percentage point, the readable answers by one."""
        if (at := self.choices.highlighted) is not None:
            line = str(self.choices.get_option_at_index(at).id)
            self.settings = stepped(self.settings, line, step, self._planned)
            self._fill(at)

    def action_explain(self) -> None:
        self.app.push_screen(TextScreen("Rules for verdicts", EXPLAIN, closed_by=("F1",)))

    def action_apply(self) -> None:
        try:
            self.settings.options()
        except WorkbenchError as error:
            self.query_one("#trouble", Static).update(Content.styled(f"✗ {visible(str(error))}", "$text-error"))
            return
        self.dismiss(self.settings)

    def action_down(self) -> None:
        self.choices.action_cursor_down()

    def action_up(self) -> None:
        self.choices.action_cursor_up()

    def _fill(self, at: int) -> None:
        self.choices.set_options(
            Option(Content.styled(words, "" if name else "$text-muted"), id=name or None, disabled=not name)
            for name, words in form(self.settings, self._planned, exact=self._exact)
        )
        self.choices.highlighted = at
        self.query_one("#trouble", Static).update("")


def form(settings: Rules, planned: tuple[int, int] | None, *, exact: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the lines of the form: what a line chooses (nothing for a heading), and its words.

    `exact`: label probabilities were computed, and the rule is that of the samples beside.
    """
    yield "", "Clear leaning of the samples" if exact else "Clear leaning"
    for rule, words in RULES.items():
        yield f"rule:{rule}", f" {RADIO[rule == settings.rule]} {words}"
    yield "limit:low", f"     unclear from  ← {100 * settings.low:g} % →{LIMITS}"
    yield "limit:high", f"     unclear up to ← {100 * settings.high:g} % →"
    yield "", "Readable samples" if exact else "Reader"
    choices, chosen = (READABLE, settings.readable) if exact else (READERS, settings.readings.rule)
    for name, words in choices.items():
        yield f"{'readable' if exact else 'reader'}:{name}", f" {RADIO[name == chosen]} {words}"
    yield "", "Readable answers a prompt needs"
    of = Rules(minimum=settings.minimum).options().needed_words(planned) if planned else str(settings.minimum or "")
    says = "  two thirds of the plan" if settings.minimum is None else "  Space: two thirds again"
    yield "minimum:", f" ← {of} →{says}"
    yield "", "Void tests, which compare a prompt with itself"
    for judged, words in VOIDS.items():
        yield f"void:{judged}", f" {RADIO[(judged == JUDGED) == settings.judge_void]} {words}"
    yield "", "Tests that ALL combines"
    for test in WITHIN:
        yield f"test:{test}", f" {TICK[test in settings.tests]} {test.replace('_', ' ')}"


def picked(settings: Rules, line: str) -> Rules:
    """Return the settings after a line of the form was chosen."""
    what, _, name = line.partition(":")
    if what == "rule":
        return replace(settings, rule=name)
    if what == "reader":
        return replace(settings, readings=replace(settings.readings, by=name))
    if what == "readable":
        return replace(settings, readable="named" if name == "named" else "given")
    if what == "void":
        return replace(settings, judge_void=name == JUDGED)
    if what == "minimum":
        return replace(settings, minimum=None)
    if what == "limit":
        return replace(settings, low=USUAL_RULES.low, high=USUAL_RULES.high)
    ticked = set(settings.tests) ^ {name}
    return replace(settings, tests=tuple(test for test in WITHIN if test in ticked))


def stepped(settings: Rules, line: str, step: int, planned: tuple[int, int] | None) -> Rules:
    """Return the settings after the limit of a line, or on any other line the readable answers, went up or down."""
    if line == "limit:low":
        return replace(settings, low=round(max(0, min(settings.high, settings.low + step / 100)), 4))
    if line == "limit:high":
        return replace(settings, high=round(min(1, max(settings.low, settings.high + step / 100)), 4))
    if planned is None:
        return settings
    needed = Rules(minimum=settings.minimum).options().needed(planned[1])
    return replace(settings, minimum=max(1, min(planned[1], needed + step)))
