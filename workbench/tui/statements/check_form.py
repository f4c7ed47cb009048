"""The form of a check by models: which ones, which languages, and from which cosine on a wording is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import Horizontal

from workbench.errors import UsageError
from workbench.help.sections import section
from workbench.tui.kit.start_form import JobPreview, StartForm, asked, row, titled
from workbench.tui.widgets.field import Field
from workbench.tui.widgets.ticks import TickList
from workbench.workshop.options import COSINES

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.pipeline.checking import CheckSpec
    from workbench.workshop.meaning import Thresholds

EXPLAIN = section("screens-statements", "Checking wordings")


@dataclass(frozen=True, slots=True)
class CheckChoices:
    """What the form begins with."""

    languages: tuple[str, ...]
    language: str
    thresholds: Thresholds


@dataclass(frozen=True, slots=True)
class CheckValues:
    """The form as typed."""

    encoder: str
    nli: str
    languages: tuple[str, ...]
    cosines: tuple[str, ...]
    "in the order of `COSINES`"


class CheckForm(StartForm):
    """Which models look at what."""

    HEADING = "New job: check wordings"
    EXPLAIN = EXPLAIN
    FIRST = "#encoder"

    def __init__(self, instrument: str, *, like: int | None = None) -> None:
        super().__init__(like=like)
        self._instrument = instrument
        self._standing: Thresholds | None = None

    def compose_fields(self) -> ComposeResult:
        yield row("encoder", Field("minilm", id="encoder", compact=True, placeholder="none"))
        yield row("inference", Field(id="nli", compact=True, placeholder="none; a hub id or a folder"))
        for pair in (COSINES[:2], COSINES[2:]):
            with Horizontal(classes="pair"):
                yield from (asked(one, "") for one in pair)
        with Horizontal(classes="pair lists"):
            yield titled("languages", TickList(id="languages", compact=True))

    def read_choices(self, store: Store) -> CheckChoices:
        from workbench.pipeline.checking import thresholds_of

        instrument = store.instruments.get(self._instrument)
        spoken = sorted({wording.language for statement in instrument.statements for wording in statement.wordings})
        return CheckChoices(tuple(spoken), instrument.language, thresholds_of(store, self._instrument))

    def fill(self, choices: CheckChoices) -> None:
        """Begin with the instrument's language and the cosines that hold now."""
        self._standing = choices.thresholds
        for one in COSINES:
            self.put(one.name, one.text(getattr(choices.thresholds, one.name)))
        self.tick("languages", choices.languages, [choices.language])
        self.ask()

    def refill(self, told: Mapping[str, Any]) -> None:
        """Put in what a job was told."""
        self.put("encoder", "" if told["encoder"] == "none" else told["encoder"])
        self.put("nli", told["nli"])
        for one in COSINES:
            self.put(one.name, one.text(told[one.name]))
        if told["language"]:
            self.tick("languages", self.listed("languages"), told["language"].split(","))
        self.ask()

    def values(self) -> CheckValues | None:
        if self._standing is None:
            return None
        return CheckValues(
            self.typed("encoder").strip(),
            self.typed("nli").strip(),
            self.ticked("languages"),
            tuple(self.typed(one.name) for one in COSINES),
        )

    def work_out(self, store: Store, values: CheckValues) -> JobPreview:
        from workbench.jobs import launch
        from workbench.pipeline.checking import plan_check, thresholds_of

        standing = thresholds_of(store, self._instrument)
        spec = as_check(self._instrument, values, standing)
        plan = plan_check(store, spec)
        if not plan.left and spec.thresholds == standing:
            return JobPreview(f"{plan.describe()}\nEverything is stored already; there is nothing to start.", None)
        what = plan.describe() if plan.left else f"{plan.describe()}\nOnly the cosines change."
        return JobPreview(what, lambda opened: launch.start_checking(opened, spec, plan))


def as_check(instrument: str, values: CheckValues, standing: Thresholds) -> CheckSpec:
    """Return what was typed as a specification. Raises UsageError, naming the field."""
    from workbench.pipeline.checking import CheckSpec

    if not values.languages:
        raise UsageError("languages: tick at least one")
    cosines = {one.name: one.needed(text) for one, text in zip(COSINES, values.cosines, strict=True)}
    thresholds = replace(standing, **cosines)
    if thresholds.low >= thresholds.high:
        raise UsageError(
            f"too different below: found {thresholds.low:g}; give less than {thresholds.high:g}, the value of "
            "nearly identical from"
        )
    return CheckSpec(instrument, values.encoder, values.nli, values.languages, thresholds)
