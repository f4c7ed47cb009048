"""The form of a new drafting job: what is drafted for which statements by whom, and what that
asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Select, Static

from workbench.domain.drafting import DRAFTED, REWORDED, RULED
from workbench.domain.names import plural
from workbench.domain.statements import VariantKind
from workbench.errors import UsageError
from workbench.help.sections import section
from workbench.options.shared import MAX_NEW_TOKENS, SEED, TEMPERATURE, THINKING, TOP_K, TOP_P
from workbench.tui.kit.base import say_below
from workbench.tui.kit.start_form import JobPreview, StartForm, asked, row, select, titled
from workbench.tui.widgets.fields import Field, TickList
from workbench.workshop.options import CALLS, KEEP, PER_CALL

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.pipeline.drafting import DraftSpec

RULE = "rule"
NO_JOB = 0
"what starting the rule gives in place of a job's number: it is done at once"
FIRST_KINDS = ("paraphrase", "negation", "opposite")
NUMBERS = (
    "calls",
    "per_call",
    "keep",
    "temperature",
    "top_p",
    "top_k",
    "max_tokens",
    "thinking",
    "seed",
)
READ = (CALLS, PER_CALL, KEEP, TEMPERATURE, TOP_P, TOP_K, MAX_NEW_TOKENS, THINKING, SEED)

EXPLAIN = section("screens-statements", "Drafting")


@dataclass(frozen=True, slots=True)
class DraftChoices:
    """An instrument that may be drafted for."""

    name: str
    languages: tuple[str, ...]
    "its own first"
    reworded: bool = False
    "it has multiple-choice questions whose changed form is worded"


@dataclass(frozen=True, slots=True)
class DraftValues:
    """The form as typed."""

    instrument: str
    model: str
    statements: str
    language: str
    kinds: tuple[str, ...]
    numbers: tuple[str, ...]
    "in the order of `NUMBERS`"


class DraftForm(StartForm):
    """What is to be drafted by whom; dismisses the job's number, None where a rule has done it
    already.
    """

    HEADING = "New job: draft wordings"
    EXPLAIN = EXPLAIN
    FIRST = "#model"

    def __init__(
        self, instrument: str = "", refs: tuple[str, ...] = (), *, like: int | None = None
    ) -> None:
        super().__init__(like=like)
        self._instrument, self._refs = instrument, refs
        self._choices: dict[str, DraftChoices] = {}
        self._said = ""

    def compose_fields(self) -> ComposeResult:
        with Horizontal(classes="pair"):
            yield row("instrument", select("instrument"))
            yield row("language", select("language"))
        yield row("model", Field("smollm2", id="model", compact=True))
        yield row(
            "statements",
            Field(
                ", ".join(self._refs),
                id="statements",
                compact=True,
                placeholder="all · or 8 · or targets · or refs",
            ),
        )
        with Horizontal(classes="pair lists"):
            yield titled("drafted", TickList(id="kinds", compact=True))
            with Vertical(classes="titled"):
                yield asked(CALLS, "5 or 1")
                yield asked(PER_CALL)
                yield asked(KEEP)
                yield asked(MAX_NEW_TOKENS, "800 or 120", id="max_tokens")
                yield asked(THINKING, "as it does · off · low")
                yield asked(SEED)
        with Horizontal(classes="pair"):
            yield asked(TEMPERATURE, "1")
            yield asked(TOP_P, "1 or 0.9")
            yield asked(TOP_K, "whole vocab.")
        yield Static(
            Content("Empty fields use the published settings (F1)."), classes="note", markup=False
        )

    def read_choices(self, store: Store) -> tuple[DraftChoices, ...]:
        return tuple(
            DraftChoices(
                one.name,
                tuple(sorted(one.languages, key=lambda x: (x != one.language, x))),
                any(item.bias in REWORDED for item in store.choices.items(one.name).values()),
            )
            for one in store.instruments.summaries()
        )

    def fill(self, choices: tuple[DraftChoices, ...]) -> None:
        """Offer the instruments, the one that was asked for chosen."""
        self._choices = {one.name: one for one in choices}
        if not self._choices:
            self.say(
                UsageError("The store has no instrument yet. Esc, then 2: make one, or import one.")
            )
            return
        name = self._instrument if self._instrument in self._choices else choices[0].name
        self.offer("instrument", [(one, one) for one in self._choices], name)
        self.offer_what_it_has()

    def refill(self, told: Mapping[str, Any]) -> None:
        """Put in what a job was told."""
        self.pick("instrument", told["instrument"])
        self.offer_what_it_has()
        self.pick("language", told["language"])
        self.put("model", told["model"])
        self.put("statements", told["statements"])
        self.offer_what_it_drafts()
        self.tick("kinds", self.listed("kinds"), told["kind"].split(","))
        named = {**told, "max_tokens": told.get("max_new_tokens")}
        for name, option in zip(NUMBERS, READ, strict=True):
            self.put(name, "" if named.get(name) is None else option.text(named[name]))
        self.ask()

    @on(Select.Changed, "#instrument")
    def offer_what_it_has(self) -> None:
        """Offer the languages of the instrument, and the kinds that can be drafted for it."""
        chosen = self._choices.get(self.chosen("instrument"))
        if chosen is not None:
            if chosen.languages:
                self.offer(
                    "language", [(one, one) for one in chosen.languages], chosen.languages[0]
                )
            self._offer_kinds(chosen)
        self.ask()

    @on(Input.Changed, "#model")
    def offer_what_it_drafts(self) -> None:
        """Offer the kinds that this model, or a rule, can draft."""
        if (chosen := self._choices.get(self.chosen("instrument"))) is not None:
            self._offer_kinds(chosen)

    def _offer_kinds(self, chosen: DraftChoices) -> None:
        first = (VariantKind.CHANGED,) if chosen.reworded else ()
        kinds = (*first, *(kind for kind in DRAFTED if kind is not VariantKind.CHANGED))
        usual = first or FIRST_KINDS
        if self.typed("model").strip() == RULE:
            kinds = tuple(kind for kind in kinds if kind in RULED)
            usual = first or (VariantKind.NEGATION,)
        if self.listed("kinds") != kinds:
            self.tick("kinds", kinds, usual)

    def values(self) -> DraftValues | None:
        if not self._choices:
            return None
        return DraftValues(
            instrument=self.chosen("instrument"),
            model=self.typed("model").strip(),
            statements=self.typed("statements"),
            language=self.chosen("language"),
            kinds=self.ticked("kinds"),
            numbers=tuple(self.typed(name).strip() for name in NUMBERS),
        )

    def work_out(self, store: Store, values: DraftValues) -> JobPreview:
        from workbench.jobs import launch
        from workbench.pipeline.design_checks import check_there
        from workbench.pipeline.drafting import draw_samples, plan_drafting, unsampled

        if values.model == RULE:
            return self._ruled(store, values)
        check_there(store, values.model)
        plan = plan_drafting(store, as_spec(store, values))
        if plan.needed:
            return JobPreview(
                plan.describe(), lambda opened: launch.start_drafting(opened, plan.spec, plan)
            )
        told = (
            f"{plan.describe()}\nThe model has drafted all of this already; another seed "
            "gives other drafts."
        )
        if not (out := len(unsampled(store, plan))):
            return JobPreview(told, None)
        self._said = f"The sample leaves out {plural(out, 'draft')}."
        return JobPreview(
            f"{told} {self._said} F5 draws it.", lambda opened: NO_JOB * draw_samples(opened, plan)
        )

    def _ruled(self, store: Store, values: DraftValues) -> JobPreview:
        """Return what the rule comes to: it has nobody to wait for."""
        from workbench.pipeline.drafting import draft_by_rule

        kinds, refs = tuple(map(VariantKind, values.kinds)), refs_of(store, values)
        found = draft_by_rule(store, values.instrument, kinds, refs, values.language, dry=True)
        made = found.pop("", 0)
        left = [f"{plural(n, 'statement')} left out: {why}" for why, n in found.items()]
        text = "\n".join([f"the rule makes {plural(made, 'draft')} at once", *left])

        def start(opened: Store) -> int:
            said = draft_by_rule(opened, values.instrument, kinds, refs, values.language)
            self._said = f"{plural(said[''], 'draft')} from the rule to review."
            return NO_JOB

        return JobPreview(text, start if made else None)

    def dismiss(self, result: int | None = None) -> AwaitComplete:
        """Leave; what the rule has done is said here, because there is no job to watch."""
        if result == NO_JOB and self._said:
            say_below(self, self._said)
        return super().dismiss(result or None)


def as_spec(store: Store, values: DraftValues) -> DraftSpec:
    """Return what the form asks for. Raises UsageError, naming the field."""
    from workbench.data import shipped_drafting
    from workbench.pipeline.drafting import DraftSpec

    if not values.model:
        raise UsageError("model: give the model that drafts, such as smollm2, or rule")
    typed = dict(zip(NUMBERS, values.numbers, strict=True))
    thinking = THINKING.read(typed["thinking"])
    prompts = tuple(
        prompt.adjusted(
            calls=CALLS.read(typed["calls"]),
            per_call=PER_CALL.read(typed["per_call"]),
            keep=KEEP.read(typed["keep"]),
            temperature=TEMPERATURE.read(typed["temperature"]),
            top_p=TOP_P.read(typed["top_p"]),
            top_k=TOP_K.read(typed["top_k"]),
            max_new_tokens=MAX_NEW_TOKENS.read(typed["max_tokens"]),
            thinking=None if thinking is None else str(thinking),
        )
        for prompt in shipped_drafting()
        if prompt.kind.value in values.kinds
    )
    refs = refs_of(store, values)
    return DraftSpec(
        values.instrument, values.model, prompts, refs, values.language, SEED.needed(typed["seed"])
    )


def refs_of(store: Store, values: DraftValues) -> tuple[str, ...]:
    """Read which statements are meant; empty for all."""
    from workbench.pipeline.planning import named_statements

    return named_statements(store, values.instrument, values.statements)
