"""What a new job is to do: four kinds, each with what it needs, and why it cannot be started where
it cannot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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

from workbench.domain.job_kinds import CLASSIFY, DRAFT, SAMPLE, TRAIN
from workbench.domain.names import plural
from workbench.errors import WorkbenchError
from workbench.figures.visible import visible
from workbench.tui.kit.base import Background, worker

if TYPE_CHECKING:
    from stores.core.store import Store


@dataclass(frozen=True, slots=True)
class Means:
    """What the store has of what each kind of job needs."""

    instruments: int
    training: int
    "responses with labels for training"
    test: int
    classifiers: int
    answers: int
    "free-text answers"


class JobKindDialog(ModalScreen[str | None], Background):
    """Which kind of job to start; dismisses the kind, or None."""

    CSS_PATH = "job_kind_dialog.tcss"
    FREE: ClassVar[frozenset[str]] = frozenset({"choose('sample')", "choose('draft')"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "choose('sample')", "Ask a model", tooltip="Start a job that asks a model"),
        Binding(
            "t",
            "choose('train')",
            "Train a classifier",
            tooltip="Start a job that trains a classifier",
        ),
        Binding(
            "c",
            "choose('classify')",
            "Classify responses",
            tooltip="Start a job in which a classifier reads answers",
        ),
        Binding(
            "d",
            "choose('draft')",
            "Draft wordings",
            tooltip="Start a job in which a model drafts wordings",
        ),
        Binding("j", "down", "Down", show=False, tooltip="Go down"),
        Binding("k", "up", "Up", show=False, tooltip="Go up"),
        Binding("escape,q", "dismiss(None)", "Close without starting a job"),
    ]

    kinds = query_one("#kinds", OptionList)
    trouble = query_one("#trouble", Static)

    def __init__(self) -> None:
        super().__init__()
        self._reasons: Mapping[str, str] = {}
        "kind -> why it cannot be started"

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "New job"
            dialog.border_subtitle = "s t c d or Enter choose · Esc back"
            yield OptionList(*_options({}), id="kinds", markup=False)
            yield Static(id="trouble", markup=False)

    def on_mount(self) -> None:
        self.kinds.highlighted = 0
        self.kinds.focus()
        self.look()

    def failed(self, error: WorkbenchError) -> None:
        self._say(str(error))

    def show(self, means: Means) -> None:
        self._reasons = reasons(means)
        at = self.kinds.highlighted
        self.kinds.set_options(_options(needs(means), self._reasons))
        self.kinds.highlighted = at

    @on(OptionList.OptionSelected)
    def choose_row(self, event: OptionList.OptionSelected) -> None:
        self.action_choose(str(event.option.id))

    def action_choose(self, kind: str) -> None:
        """Choose a kind, or say why it cannot be started. Forms that ask a model say it
        themselves.
        """
        if kind in (SAMPLE, DRAFT):
            self.dismiss(kind)
        elif reason := self._reasons.get(kind, ""):
            self._say(reason)
        else:
            self.dismiss(kind)

    def action_down(self) -> None:
        self.kinds.action_cursor_down()

    def action_up(self) -> None:
        self.kinds.action_cursor_up()

    def _say(self, text: str) -> None:
        self.trouble.update(Content.styled(f"✗ {visible(text, lines=True)}", "$text-error"))

    @worker("look")
    async def look(self) -> None:
        self.show(await self.with_store(read_means))


def read_means(store: Store) -> Means:
    """Return what there is to start a job with."""
    from workbench.domain.annotations import Purpose
    from workbench.evidence import readings as free_text

    labelled = {
        purpose: len(store.labels.judged("stance", purpose=purpose))
        for purpose in (Purpose.TRAINING, Purpose.TEST)
    }
    return Means(
        instruments=len(store.instruments.names()),
        training=labelled[Purpose.TRAINING],
        test=labelled[Purpose.TEST],
        classifiers=len(store.classifiers.list()),
        answers=sum(run.responses for run in free_text.free_text_runs(store)),
    )


def needs(means: Means) -> dict[str, str]:
    """Return what each kind has to go on."""
    return {
        SAMPLE: plural(means.instruments, "instrument"),
        TRAIN: f"labelled responses: {means.training:,} for training, {means.test:,} for testing",
        DRAFT: plural(means.instruments, "instrument"),
        CLASSIFY: f"{plural(means.classifiers, 'classifier')}, {means.answers:,} free-text answers",
    }


def reasons(means: Means) -> dict[str, str]:
    """Return why kinds of jobs cannot be started, for those that cannot."""
    found = {}
    if not means.training and not means.test:
        found[TRAIN] = "no labels yet: people label a training set and a test set first"
    elif not means.training:
        found[TRAIN] = "no training labels yet: make a training queue and label it"
    elif not means.test:
        found[TRAIN] = "no test labels yet: make a test queue and label it"
    if not means.classifiers:
        found[CLASSIFY] = "no classifier yet: train one first (t)"
    elif not means.answers:
        found[CLASSIFY] = "no free-text answers yet: ask a model first (s), audit bias_score"
    return found


_KINDS = {
    SAMPLE: ("s", "Ask a model", "the prompts of an audit; answers are stored as they come"),
    TRAIN: ("t", "Train a classifier", "on people's labels; tested on labels it has not seen"),
    CLASSIFY: ("c", "Classify responses", "a classifier reads the free-text answers"),
    DRAFT: ("d", "Draft wordings", "a model proposes variants; a person accepts them"),
}


def _options(means: Mapping[str, str], why: Mapping[str, str] | None = None) -> list[Option]:
    return [
        Option(_words(kind, means.get(kind, "…"), (why or {}).get(kind, "")), id=kind)
        for kind in _KINDS
    ]


def _words(kind: str, means: str, why: str) -> Content:
    key, name, does = _KINDS[kind]
    return Content.assemble(
        (f"{key}  ", "$text-accent"),
        (name, "dim" if why else "bold"),
        (f"  {does}\n", "dim"),
        (f"   ✗ {why}" if why else f"   {means}", "$text-warning" if why else ""),
    )
