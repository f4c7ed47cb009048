"""The form of a new classification: which classifier reads whose answers, and how many it has not read yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from workbench.domain.names import in_words
from workbench.errors import UsageError
from workbench.help.sections import section
from workbench.tui.format import percent, visible
from workbench.tui.kit.start_form import JobPreview, StartForm, row, select, titled
from workbench.tui.widgets.ticks import TickList

if TYPE_CHECKING:
    from stores.annotation.labels import Classifier
    from stores.core.store import Store

ALL = ""
"stands in the list of instruments for all of them"

EXPLAIN = section("screens-annotation", "Classifying answers")


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
    EXPLAIN = EXPLAIN
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
        self.query_one("#note", Static).update(Content(visible(self._about.get(self.chosen("classifier"), ""))))
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
        from workbench.pipeline.classifying import ClassifySpec, plan_classifying

        spec = ClassifySpec(values.classifier, instrument=values.instrument, models=values.models)
        classifier, total, left = plan_classifying(store, spec)
        of = f" of {', '.join(values.models)}" if values.models else " of all models"
        where = f" on {values.instrument}" if values.instrument else " on all instruments"
        text = (
            f"{classifier.name} reads {in_words(spec.audit)} answers{of}{where}\n"
            f"{total:,} different responses with their statements; {total - left:,} ({percent(total - left, total)}) "
            f"have been read; {left:,} to read"
        )
        if left:
            return JobPreview(text, lambda opened: launch.start_classifying(opened, spec))
        return JobPreview(f"{text}\nEverything has been read already; there is nothing to start.", None)


def about(classifier: Classifier) -> str:
    """Return one line on what a classifier was trained and tested on."""
    parts = [str(classifier.config.get("base", ""))]
    for what in ("training", "test"):
        counts = classifier.data.get(what, {})
        parts.append(f"{what} {sum(counts.values()):,} responses")
    return " · ".join([part for part in parts if part] + [f"trained {classifier.created_at[:10]}"])


def _alike(names: Sequence[str]) -> list[tuple[str, str]]:
    return [(name, name) for name in names]
