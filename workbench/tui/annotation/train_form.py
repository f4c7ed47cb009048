"""The form of a new training: which base, which settings, and which labels it would learn from and be tested on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Checkbox, Input, Select

from workbench.classifier.config import EMBEDDED_BASE, PUBLISHED_BASE, Confidence, Premise
from workbench.help.sections import section
from workbench.tui.kit.start_form import JobPreview, StartForm, row, select
from workbench.tui.training_form import (
    SETTINGS,
    TrainValues,
    as_training,
    free_name,
    rebased,
    refilled,
    usual_training,
)
from workbench.tui.widgets.field import Field
from workbench.tui.widgets.ticks import Tick

if TYPE_CHECKING:
    from stores.core.store import Store

OTHER = "other"
"stands in the list of bases for one that is typed"

EXPLAIN = section("screens-annotation", "Training a classifier")


class TrainForm(StartForm):
    """Which classifier to train."""

    HEADING = "New job: train a classifier"
    EXPLAIN = EXPLAIN
    FIRST = "#name"

    def __init__(self, *, like: int | None = None) -> None:
        super().__init__(like=like)
        self._read = False
        self._kept: Mapping[str, Any] = {}
        "what a job was told that no field says"
        self._base = EMBEDDED_BASE
        "whose defaults the fields were last set to"

    def compose_fields(self) -> ComposeResult:
        usual = usual_training("", self._base)
        with Horizontal(classes="pair"):
            yield row("name", Field(id="name", compact=True))
            yield row("base", select("known_base", _BASES))
        yield row("other base", Field(id="other_base", compact=True, placeholder="a hub id or a folder"))
        for names in (("steps", "batch", "learning_rate"), ("weight_decay", "warmup", "seed")):
            with Horizontal(classes="pair"):
                for name in names:
                    yield row(_WORDS[name], Field(getattr(usual, name), id=name, compact=True))
        with Horizontal(classes="pair"):
            yield row("dev share", Field(usual.dev_share, id="dev_share", compact=True))
            yield row("patience", Field(usual.patience, id="patience", compact=True, placeholder="all steps"))
            yield Tick("split by statement", id="by_statement", compact=True)
        with Horizontal(classes="pair"):
            yield row("premise", select("premise", _PREMISES))
            yield row("confidence", select("confidence", _CONFIDENCES))
        yield row("hypothesis", Field(usual.hypothesis, id="hypothesis", compact=True))

    def on_mount(self) -> None:
        self._other_row.display = False

    @property
    def _other_row(self) -> Widget:
        return self.query_one("#row_other_base")

    def read_choices(self, store: Store) -> str:
        """Return a name that no classifier has, and that no job is to give one."""
        from workbench.jobs.launch import TRAIN

        jobs = {str(job.spec.get("name", "")) for job in store.jobs.list() if job.kind == TRAIN}
        return free_name(frozenset(jobs | {classifier.name for classifier in store.classifiers.list()}))

    def fill(self, choices: str) -> None:
        self._read = True
        if not self.typed("name"):
            self.put("name", choices)
        self.ask()

    def refill(self, told: Mapping[str, Any]) -> None:
        """Put in what a job was told; which queues it learned from has no field and stays as it was."""
        known = told["base"] in {base for _, base in _BASES}
        self.pick("known_base", told["base"] if known else OTHER)
        self._other_row.display = not known
        if not known:
            self.put("other_base", told["base"])
        self._base = told["base"]
        for name, text in refilled(told).items():
            self._set(name, text)
        self.put("name", told["name"])
        tick = self.query_one("#by_statement", Checkbox)
        with tick.prevent(Checkbox.Changed):
            tick.value = told["by_statement"]
        self._kept = told
        self.ask()

    @on(Select.Changed, "#known_base")
    def choose_base(self) -> None:
        self._other_row.display = self.chosen("known_base") == OTHER
        if self._other_row.display:
            self.query_one("#other_base").focus()
        self._load_defaults()

    @on(Input.Changed, "#other_base")
    def _load_defaults(self) -> None:
        """Set what was not typed to the defaults of the base."""
        values = self._as_typed()
        moved = rebased(values, self._base)
        self._base = values.base
        for name in SETTINGS:
            if getattr(moved, name) != getattr(values, name):
                self._set(name, getattr(moved, name))

    def _set(self, name: str, text: str) -> None:
        field = self.query_one(f"#{name}")
        if isinstance(field, Select):
            with field.prevent(Select.Changed):
                field.value = text
        else:
            self.put(name, text)

    def values(self) -> TrainValues | None:
        return self._as_typed() if self._read else None

    def _as_typed(self) -> TrainValues:
        known = self.chosen("known_base")
        return TrainValues(
            name=self.typed("name"),
            base=self.typed("other_base").strip() if known == OTHER else known,
            premise=self.chosen("premise"),
            confidence=self.chosen("confidence"),
            by_statement=self.query_one("#by_statement", Checkbox).value,
            **{name: self.typed(name) for name in SETTINGS if name not in ("premise", "confidence")},
        )

    def work_out(self, store: Store, values: TrainValues) -> JobPreview:
        from workbench.jobs import launch
        from workbench.pipeline.training import plan_training

        plan = plan_training(store, as_training(values, self._kept))
        return JobPreview(plan.describe(), lambda opened: launch.start_training(opened, plan.spec, plan))


_BASES = (
    (f"{EMBEDDED_BASE} (embedded)", EMBEDDED_BASE),
    (f"{PUBLISHED_BASE} (published)", PUBLISHED_BASE),
    ("another …", OTHER),
)
_PREMISES = (("response (published)", Premise.RESPONSE.value), ("statement + response", Premise.BOTH.value))
_CONFIDENCES = (("entailment (printed)", Confidence.ENTAILMENT.value), ("softmax (coded)", Confidence.SOFTMAX.value))
_WORDS = {
    "steps": "steps",
    "batch": "batch",
    "learning_rate": "learn rate",
    "weight_decay": "decay",
    "warmup": "warm-up",
    "seed": "seed",
}
