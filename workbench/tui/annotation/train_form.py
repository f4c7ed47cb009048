"""The forms that start a training, and a classification by what was trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Checkbox, Input, Select, Static

from workbench import registry
from workbench.classifier import options as of
from workbench.classifier.config import (
    EMBEDDED_BASE,
    PUBLISHED_BASE,
    Confidence,
    Premise,
    TrainConfig,
)
from workbench.domain.names import listed
from workbench.errors import UsageError
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.options.shared import SEED
from workbench.tui.format import percent
from workbench.tui.kit.start_form import JobPreview, StartForm, row, select, titled
from workbench.tui.widgets.fields import Field, Tick, TickList

if TYPE_CHECKING:
    from stores.annotation.labels import Classifier
    from stores.core.store import Store
    from workbench.pipeline.training import TrainSpec

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
        yield row(
            "other base", Field(id="other_base", compact=True, placeholder="a hub id or a folder")
        )
        for names in (("steps", "batch", "learning_rate"), ("weight_decay", "warmup", "seed")):
            with Horizontal(classes="pair"):
                for name in names:
                    yield row(_WORDS[name], Field(getattr(usual, name), id=name, compact=True))
        with Horizontal(classes="pair"):
            yield row("dev share", Field(usual.dev_share, id="dev_share", compact=True))
            yield row(
                "patience",
                Field(usual.patience, id="patience", compact=True, placeholder="all steps"),
            )
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
        return free_name(
            frozenset(jobs | {classifier.name for classifier in store.classifiers.list()})
        )

    def fill(self, choices: str) -> None:
        self._read = True
        if not self.typed("name"):
            self.put("name", choices)
        self.ask()

    def refill(self, told: Mapping[str, Any]) -> None:
        """Put in what a job was told; which queues it learned from has no field and stays as it
        was.
        """
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
            **{
                name: self.typed(name) for name in SETTINGS if name not in ("premise", "confidence")
            },
        )

    def work_out(self, store: Store, values: TrainValues) -> JobPreview:
        from workbench.jobs import launch
        from workbench.pipeline.training import plan_training

        plan = plan_training(store, as_training(values, self._kept))
        return JobPreview(
            plan.describe(), lambda opened: launch.start_training(opened, plan.spec, plan)
        )


_BASES = (
    (f"{EMBEDDED_BASE} (embedded)", EMBEDDED_BASE),
    (f"{PUBLISHED_BASE} (published)", PUBLISHED_BASE),
    ("another …", OTHER),
)
_PREMISES = (
    ("response (published)", Premise.RESPONSE.value),
    ("statement + response", Premise.BOTH.value),
)
_CONFIDENCES = (
    ("entailment (printed)", Confidence.ENTAILMENT.value),
    ("softmax (coded)", Confidence.SOFTMAX.value),
)
_WORDS = {
    "steps": "steps",
    "batch": "batch",
    "learning_rate": "learn rate",
    "weight_decay": "decay",
    "warmup": "warm-up",
    "seed": "seed",
}


ALL = ""
"stands in the list of instruments for all of them"

EXPLAIN_CLASSIFY = section("screens-annotation", "Classifying answers")


@dataclass(frozen=True, slots=True)
class ClassifyChoices:
    """What there is to choose from."""

    classifiers: tuple[tuple[str, str], ...]
    "(name, a line about it), the newest first"
    instruments: tuple[str, ...]
    "those with free-text answers"
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClassifyValues:
    """The form as chosen."""

    classifier: str
    instrument: str | None
    "None: all"
    models: tuple[str, ...]
    "empty: all"


class ClassifyForm(StartForm):
    """Which classifier reads what."""

    HEADING = "New job: classify responses"
    EXPLAIN = EXPLAIN_CLASSIFY
    FIRST = "#classifier"

    def __init__(self, *, like: int | None = None) -> None:
        super().__init__(like=like)
        self._about: dict[str, str] = {}

    def compose_fields(self) -> ComposeResult:
        yield row("classifier", select("classifier"))
        yield Static(id="note", classes="note", markup=False)
        yield row("instrument", select("instrument"))
        with Horizontal(classes="pair lists"):
            yield titled("models", TickList(id="models", compact=True))

    def read_choices(self, store: Store) -> ClassifyChoices:
        from workbench.evidence import readings as free_text

        runs = free_text.runs(store)
        return ClassifyChoices(
            tuple((one.name, about(one)) for one in reversed(store.classifiers.list())),
            tuple(dict.fromkeys(run.instrument for run in runs)),
            tuple(dict.fromkeys(run.model for run in runs)),
        )

    def fill(self, choices: ClassifyChoices) -> None:
        """Offer the classifiers, the newest chosen, and whose answers there are."""
        self._about = dict(choices.classifiers)
        if not self._about:
            self.say(UsageError("There is no classifier yet. Esc, then n and t: train one."))
            return
        self.offer("classifier", _alike(tuple(self._about)), choices.classifiers[0][0])
        self.offer("instrument", [("all instruments", ALL), *_alike(choices.instruments)], ALL)
        self.tick("models", choices.models, choices.models)
        self.ask()

    def refill(self, told: Mapping[str, Any]) -> None:
        """Choose what a job was told."""
        self.pick("classifier", told["classifier"])
        self.pick("instrument", told["instrument"] or ALL)
        if told["model"]:
            self.tick("models", self.listed("models"), told["model"].split(","))
        self.ask()

    def ask(self) -> None:
        self.query_one("#note", Static).update(
            Content(visible(self._about.get(self.chosen("classifier"), "")))
        )
        super().ask()

    def values(self) -> ClassifyValues | None:
        if not self._about:
            return None
        models = self.ticked("models")
        return ClassifyValues(
            classifier=self.chosen("classifier"),
            instrument=self.chosen("instrument") or None,
            models=() if models == self.listed("models") else models,
        )

    def work_out(self, store: Store, values: ClassifyValues) -> JobPreview:
        from workbench.jobs import launch
        from workbench.pipeline.training import ClassifySpec, plan_classifying

        spec = ClassifySpec(values.classifier, instrument=values.instrument, models=values.models)
        classifier, total, left = plan_classifying(store, spec)
        of = f" of {', '.join(values.models)}" if values.models else " of all models"
        where = f" on {values.instrument}" if values.instrument else " on all instruments"
        text = (
            f"{classifier.name} reads {registry.audit_title(spec.audit)} answers{of}{where}\n"
            f"{total:,} different responses with their statements; {total - left:,} "
            f"({percent(total - left, total)}) "
            f"have been read; {left:,} to read"
        )
        if left:
            return JobPreview(text, lambda opened: launch.start_classifying(opened, spec))
        return JobPreview(
            f"{text}\nEverything has been read already; there is nothing to start.", None
        )


def about(classifier: Classifier) -> str:
    """Return one line on what a classifier was trained and tested on."""
    parts = [str(classifier.config.get("base", ""))]
    for what in ("training", "test"):
        counts = classifier.data.get(what, {})
        parts.append(f"{what} {sum(counts.values()):,} responses")
    return " · ".join([part for part in parts if part] + [f"trained {classifier.created_at[:10]}"])


def _alike(names: Sequence[str]) -> list[tuple[str, str]]:
    return [(name, name) for name in names]


SETTINGS = (
    "steps",
    "batch",
    "learning_rate",
    "weight_decay",
    "warmup",
    "seed",
    "dev_share",
    "patience",
    "premise",
    "confidence",
    "hypothesis",
)
"fields that each base has defaults for"


@dataclass(frozen=True, slots=True)
class TrainValues:
    """The form as typed."""

    name: str
    base: str
    steps: str
    batch: str
    learning_rate: str
    weight_decay: str
    warmup: str
    seed: str
    dev_share: str
    patience: str
    "empty: all steps are taken"
    premise: str
    confidence: str
    hypothesis: str
    by_statement: bool = False


def usual_training(name: str, base: str) -> TrainValues:
    """Return the form with the settings to begin with for a base; the published ones while none is
    named.
    """
    config = TrainConfig.for_base(base.strip() or PUBLISHED_BASE)
    return TrainValues(
        name=name,
        base=base,
        steps=str(config.steps),
        batch=str(config.batch),
        learning_rate=f"{config.learning_rate:g}",
        weight_decay=f"{config.weight_decay:g}",
        warmup=str(config.warmup),
        seed=str(config.seed),
        dev_share=f"{config.dev_share:g}",
        patience="" if config.patience is None else str(config.patience),
        premise=config.premise.value,
        confidence=config.confidence.value,
        hypothesis=config.hypothesis,
    )


def rebased(values: TrainValues, before: str) -> TrainValues:
    """Return the form under its base: what was typed stays, what stood at the default of `before`
    becomes its own.
    """
    old, new = usual_training("", before), usual_training("", values.base)
    moved = {
        name: getattr(new, name) for name in SETTINGS if getattr(values, name) == getattr(old, name)
    }
    return replace(values, **moved)


def free_name(taken: frozenset[str]) -> str:
    """Return the first of stance-1, stance-2, … that is not taken."""
    number_ = 1
    while f"stance-{number_}" in taken:
        number_ += 1
    return f"stance-{number_}"


def as_config(values: TrainValues) -> TrainConfig:
    """Return the settings. Raises UsageError, naming the field."""
    if not values.base.strip():
        raise UsageError(f"base: give a hub id or a folder, or choose {EMBEDDED_BASE}, which ships")
    return replace(
        TrainConfig.for_base(values.base.strip()),
        steps=of.STEPS.needed(values.steps),
        batch=of.BATCH.needed(values.batch),
        learning_rate=of.LEARNING_RATE.needed(values.learning_rate),
        weight_decay=of.WEIGHT_DECAY.needed(values.weight_decay),
        warmup=of.WARMUP.needed(values.warmup),
        seed=SEED.needed(values.seed),
        dev_share=of.DEV_SHARE.needed(values.dev_share),
        patience=of.PATIENCE.read(values.patience),
        premise=Premise(values.premise),
        confidence=Confidence(values.confidence),
        hypothesis=values.hypothesis.strip(),
    )


def refilled(told: Mapping[str, Any]) -> dict[str, str]:
    """Return what stands in the fields of the settings for the options of a job, by the names of
    `values_of`.
    """
    return {
        name: "" if told[name] is None else option.text(told[name])
        for name, option in _OPTIONS.items()
    }


def as_training(values: TrainValues, kept: Mapping[str, Any] = {}) -> TrainSpec:
    """Return what a training job is to do. `kept`: the options of a job that it is like, for what
    no field says.

    Raises UsageError, naming the field.
    """
    from workbench.pipeline.training import TrainSpec

    config = as_config(values)
    if kept:
        config = replace(config, eval_every=kept["eval_every"], max_length=kept["max_length"])
    return TrainSpec(
        name=values.name.strip(),
        config=config,
        codebook=kept.get("codebook", "stance"),
        training=listed(kept.get("training")),
        test=listed(kept.get("test")),
        by_statement=values.by_statement,
    )


_OPTIONS = {one.name: one for one in (*of.SETTINGS, SEED) if one.name in SETTINGS}
