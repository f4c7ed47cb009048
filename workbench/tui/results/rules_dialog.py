"""The two choices behind verdicts: how answers are read and judged, and whose answers they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from workbench.audits.reliability.options import HIGH, LOW, READERS, RULES
from workbench.domain.names import in_words
from workbench.domain.responses import EXACT
from workbench.errors import WorkbenchError
from workbench.help.sections import section
from workbench.tui.format import visible
from workbench.tui.kit.choices import RADIO, TICK
from workbench.tui.kit.dialogs import TextScreen
from workbench.tui.results.audit_loaded import WITHIN, Rules, same_run

if TYPE_CHECKING:
    from stores.runs.run_rows import Run

EXPLAIN = section("screens-results", "The rules for verdicts")
LIMITS = "  Space: 45 and 55 again"
READABLE = {
    "given": "all: the leaning among answers that name a label",
    "named": "in proportion to the probability that the next text is a label",
}
JUDGED = "judged"
VOIDS = {"void": "void: shown, but in no denominator", JUDGED: "judged like other tests, as published"}


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
        return replace(settings, low=LOW.default, high=HIGH.default)
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


class RunsScreen(ModalScreen["Run | None"]):
    """Whose answers are judged; dismisses a run, or None."""

    CSS_PATH = "../kit/choices.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "Cancel"),
        Binding("j", "down", "Down", show=False),
        Binding("k", "up", "Up", show=False),
    ]

    def __init__(self, runs: Sequence[Run], current: Run) -> None:
        super().__init__()
        self._runs, self._current = tuple(runs), current

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Choose the answers"
            dialog.border_subtitle = "Enter choose · Esc cancel"
            audits = len({run.audit for run in self._runs}) > 1
            yield OptionList(*(Option(run_words(run, audits=audits)) for run in self._runs), id="runs", markup=False)

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


def _made(run: Run) -> str:
    return " · ".join(filter(None, (run.dtype, run.encoded)))


def run_words(run: Run, *, audits: bool = False) -> Content:
    """Return two lines: whose answers, and how many; `audits`: to the prompts of which audit, too."""
    of = "prompts scored" if run.sampling.mode == EXACT else "answers"
    return Content.assemble(
        (visible(run.model), "bold"),
        f" · {in_words(run.audit)}" if audits else "",
        f" · {visible(' · '.join([run.instrument, str(run.sampling), *run.asked_with]))}\n",
        (f"  {run.responses:,} {of} · {visible(_made(run))} · {visible(run.version)}", "dim"),
        (f" · last {visible(run.last[:16]).replace('T', ' ')} UTC", "dim"),
    )
