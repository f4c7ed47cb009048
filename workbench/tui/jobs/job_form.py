"""The form of a new sampling job: what to ask of which model, and, before anything starts, what
that comes to.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Collapsible, Input, Label, Select, Static

from workbench import registry
from workbench.commands.run import RunCommand
from workbench.data import PUBLISHED_LANGUAGE
from workbench.domain.keys import SEED
from workbench.domain.probe_results import PROBED, ProbeWish
from workbench.domain.responses import DTYPES
from workbench.errors import FieldError, ModelError, UsageError, WorkbenchError
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.inference.load import is_local
from workbench.options.option import Option, Type
from workbench.options.shared import INSTRUMENT, SERVE
from workbench.pipeline.planning import QUICK, QUICK_SAMPLES, QUICK_STATEMENTS, is_quick
from workbench.tui.design_form import (
    ANSWERS,
    EXACT_LABELS,
    EXACT_OR_COUNTED,
    SAMPLED_WHOLE,
    SAMPLING,
    WHOLE_OR_EXACT,
    AuditChoices,
    InstrumentChoices,
    answers_of,
    computes_probabilities,
    sampling_note,
    sampling_of_audit,
    sampling_values,
    switched,
)
from workbench.tui.kit.start_form import JobPreview, StartForm, asked, row, select, titled
from workbench.tui.widgets.fields import Field, TickList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stores.core.store import Store
    from workbench.audits.audit import Audit
    from workbench.commands.command import JobCommand
    from workbench.domain.instruments import Instrument
    from workbench.domain.statements import VariantId

SAMPLED = section("screens-jobs", "A new job: ask a model")

COUNTS_HERE = (
    "All these prompts have stored answers from the same texts, so nothing is asked. "
    "F5 counts them for this design."
)
SETTLED_HERE = (
    "Stored answers settle all of these prompts, so nothing is asked. F5 notes that "
    "this run is complete."
)
PROBE_FIRST = f"probe of {PROBED} first"
YES = "yes"
SENT = (("one by one", ""), ("in batches", "batches"))
"(words, value) of how requests reach a served model"
EMPTIED = "emptied"
SYSTEM_TURNS = (("its own", ""), (EMPTIED, EMPTIED))
"(label, value) of the system turn that a model's chat template adds by itself"
TYPED = (
    "model",
    "statements",
    "personas",
    "seed",
    "cluster",
    "chat_format",
    "thinking",
    "extra_body",
    "template_language",
    "device",
)
"options whose fields hold a text, beside those of the sampling"
INDENT = "  "


def explain() -> str:
    """Return what the fields mean, those of every audit included."""
    asked = "\n".join(
        textwrap.fill(f"{one.name}: {one.question}", 73, subsequent_indent=INDENT)
        for one in registry.asking()
    )
    own = (one.form_help for one in registry.asking() if one.form_help)
    return "\n\n".join((SAMPLED, f"The audits:\n{asked}", *own))


class JobForm(StartForm):
    """What to ask of which model."""

    HEADING = "New job: ask a model"
    EXPLAIN = explain()
    FIRST = "#model"
    STARTING = "Checking the model …"
    CHOOSING = "Enter opens ▶"

    def __init__(self, *, like: int | None = None) -> None:
        super().__init__(like=like)
        self._choices: dict[str, InstrumentChoices] = {}
        self._audit: AuditChoices | None = None
        self._usual = sampling_of_audit(registry.audit(registry.DEFAULT_AUDIT).defaults)
        "the sampling with which the audit is meant to be asked with the chosen templates"
        self._audit_chosen = False
        self._first_kind = SAMPLED_WHOLE
        "of the kinds of answers that are offered"
        """whether a person, or a job, named the audit; whether the audit on show counts answers
        only where it has to"""
        "whether a person chose the audit: it then stays when another instrument is chosen"

    def compose_fields(self) -> ComposeResult:
        yield Label("What", classes="heading")
        with Horizontal(classes="pair"):
            yield row("instrument", select("instrument"))
            yield row("audit", select("audit"))
        yield row("model", Field("smollm2", id="model", compact=True))
        yield Label("How many", classes="heading")
        with Horizontal(classes="pair"):
            yield row(
                "statements",
                Field(QUICK, id="statements", compact=True, placeholder="quick · all · 8 · refs"),
            )
            yield sampled(self._sampling_row("samples", "samples"))
        yield Static(id="note", classes="note", markup=False)
        with Collapsible(title="Of this audit", id="of_audit"):
            for audit in registry.asking():
                yield from own_flags(audit)
                yield from own_fields(audit)
            with Horizontal(classes="pair lists"):
                for audit in registry.asking():
                    for option in audit.run_options:
                        if option.name in audit.ticked:
                            ticks = TickList(id=own_id(audit.name, option.name), compact=True)
                            yield titled(option.title, ticks).add_class("own", f"own_{audit.name}")
        with Collapsible(title="Wordings, templates, languages, personas"):
            with Horizontal(classes="pair lists"):
                yield titled("variants", TickList(id="variants", compact=True))
                yield titled("templates", TickList(id="templates", compact=True))
            with Horizontal(classes="pair", id="origin"):
                yield row("family", select("family"))
                yield row("language", select("language"))
            with Horizontal(classes="pair", id="instructions"):
                yield row(
                    "prompts in",
                    Field(id="template_language", compact=True, placeholder="that language"),
                )
            yield row("personas", Field(id="personas", compact=True, placeholder="none · file"))
        with Collapsible(title="How answers are drawn"):
            with Horizontal(classes="pair"):
                yield row("answers", select("answers", ANSWERS)).add_class("kind")
                yield row("thinking", Field(id="thinking", compact=True, placeholder="as it does"))
                yield row("seed", Field(str(SEED), id="seed", compact=True))
            with Horizontal(classes="pair sampled"):
                yield self._sampling_row("temperature", "temperature")
                yield self._sampling_row("top-p", "top_p")
            with Horizontal(classes="pair sampled"):
                yield self._sampling_row("top-k", "top_k", "whole vocab.")
                yield self._sampling_row("tokens", "max_new_tokens")
        with Collapsible(title="Where the model runs"):
            with Horizontal(classes="pair"):
                yield row(
                    "chat format", Field(id="chat_format", compact=True, placeholder="its own")
                )
                yield row("system turn", select("no_default_system", SYSTEM_TURNS))
            with Horizontal(classes="pair"):
                yield row(
                    "dtype",
                    select("dtype", [("usual", "usual"), *((name, name) for name in DTYPES)]),
                )
                yield row("device", Field(id="device", compact=True, placeholder="usual"))
            with Horizontal(classes="pair"):
                yield row(
                    "serve",
                    select("serve", [("no", ""), *((name, name) for name in SERVE.choices)]),
                )
                yield row("cluster", Field(id="cluster", compact=True, placeholder="none"))
            with Horizontal(classes="pair"):
                yield row("extra fields", Field(id="extra_body", compact=True, placeholder="none"))
                yield sampled(row("requests", select("batch", SENT)))

    def _sampling_row(self, title: str, name: str, placeholder: str = "") -> Horizontal:
        field = Field(self._usual[name], id=name, compact=True, placeholder=placeholder)
        return row(title, field)

    def read_choices(self, store: Store) -> tuple[InstrumentChoices, ...]:
        return read_choices(store)

    def fill(self, choices: Sequence[InstrumentChoices]) -> None:
        """Offer the instruments; the first one that has statements is chosen."""
        self._choices = {one.instrument: one for one in choices}
        if not self._choices:
            self.say(
                UsageError(
                    "The store has no instrument yet. Esc, then h: Home imports the shipped one."
                )
            )
            return
        self._offer_instruments(
            next((one for one in choices if one.statements), choices[0]).instrument
        )
        self.offer_instrument()

    def refill(self, command: JobCommand) -> None:
        """Show the options of a command.

        The choices of its instrument are offered first, because all other fields depend on them.
        """
        assert isinstance(command, RunCommand)
        choices = self._choices.get(command.instrument or "")
        if choices is None:
            self.say(
                INSTRUMENT.error(
                    f"the store no longer has {command.instrument}; choose another instrument"
                )
            )
            return
        self._audit_chosen = True
        self._offer_instruments(choices.instrument)
        audits = [(each.audit, each.audit) for each in choices.audits]
        self.offer("audit", audits, command.audit)
        languages = [(name, name) for name in choices.languages]
        self.offer("language", languages, command.language or choices.languages[0])
        self._offer_audit(choices)
        self.pick("family", command.family or "")
        self._offer_family()
        texts = command.texts()
        for name in TYPED:
            self.put(name, texts[name])
        if command.samples is not None:
            for option in SAMPLING:
                self.put(option.name, texts[option.name])
            self.put("top_k", texts["top_k"] if command.top_k else "")
        self.pick("answers", answers_of(command))
        self._show_sampled()
        self.pick("dtype", command.dtype or "usual")
        self.pick("batch", "batches" if command.batch else "")
        for name in ("variants", "templates"):
            if texts[name]:
                self.tick(name, self.listed(name), texts[name].split(","))
        self._refill_own(command)
        self._usual = self._usual_of(self.chosen("family"))
        self.ask()

    def _refill_own(self, command: RunCommand) -> None:
        """Show a command's options of its audit alone.

        Those with ticks only select statements, which the command names.
        """
        audit = command.audit_definition
        for option in audit.run_options:
            if option.name not in command.own or option.name in audit.ticked:
                continue
            name, value = own_id(audit.name, option.name), command.own[option.name]
            if option.type is Type.FLAG:
                self.pick(name, YES if value else "")
            elif option.choices:
                self.pick(name, option.text(value))
            else:
                self.put(name, option.text(value))

    @on(Select.Changed, "#instrument")
    def offer_instrument(self) -> None:
        """Offer what the chosen instrument has; an audit that was chosen stays, else it is what
        fits the instrument.
        """
        choices = self._choices.get(self.chosen("instrument"))
        if choices is None:
            return
        audits = [one.audit for one in choices.audits]
        own = [audit for audit in audits if audit in choices.fitting]
        usual = (own or audits)[0]
        now = self.chosen("audit") if self._audit_chosen else usual
        self.offer("audit", [(name, name) for name in audits], now if now in audits else usual)
        self.offer("language", [(name, name) for name in choices.languages], choices.languages[0])
        self._offer_audit(choices)

    @on(Select.Changed, "#audit")
    def offer_audit(self) -> None:
        if self._audit is not None and self.chosen("audit") != self._audit.audit:
            self._audit_chosen = True
        if (chosen := self.chosen("audit")) and registry.audit(chosen).own_material:
            self._prefer_fitting(chosen)
        choices = self._choices.get(self.chosen("instrument"))
        if choices is not None and self.chosen("audit"):
            self._offer_audit(choices)

    def _offer_instruments(self, first: str) -> None:
        self.offer("instrument", [(name, name) for name in self._choices], first)

    def _prefer_fitting(self, audit: str) -> None:
        """Offer instruments that have what an audit asks about first, and leave one that has not
        for the first.
        """
        self._choices = dict(
            sorted(self._choices.items(), key=lambda item: not item[1].fits(audit))
        )
        now = self._choices.get(self.chosen("instrument"))
        if now is not None:
            first = next(iter(self._choices))
            self._offer_instruments(now.instrument if now.fits(audit) else first)

    def _offer_audit(self, choices: InstrumentChoices) -> None:
        """Offer an audit's templates, and set what was not typed to its defaults."""
        audit = next(one for one in choices.audits if one.audit == self.chosen("audit"))
        self._audit = audit
        of = registry.audit(audit.audit)
        self.query(".own").set(display=False)
        self.query(f".own_{audit.audit}").set(display=True)
        self.query_one("#of_audit").display = bool(of.run_options)
        self._offer_kinds()
        self._show_sampled()
        self.offer("family", [(name, name) for name in audit.families], audit.families[0])
        elsewhere = choices.languages != (PUBLISHED_LANGUAGE,)
        self.query_one("#origin").display = len(audit.families) > 1 or elsewhere
        self.query_one("#instructions").display = elsewhere
        for name, names in choices.ticks.get(audit.audit, {}).items():
            self.tick(own_id(audit.audit, name), names, names)
        self.tick("variants", choices.variants, audit.variants)
        self._offer_family()

    @on(Input.Changed, "#model")
    def _offer_kinds(self) -> None:
        """Offer the kinds of answers that an audit can have; first the kind that this model is
        meant to give.
        """
        if self._audit is None:
            return
        defaults = registry.audit(self._audit.audit).defaults
        answers = WHOLE_OR_EXACT if defaults.exact_by == "next tokens" else ANSWERS
        if defaults.counted is not None:
            answers = EXACT_OR_COUNTED
        elif defaults.exact_if_local and is_local(self.typed("model").strip()):
            answers = WHOLE_OR_EXACT[::-1]
        first = answers[0][1]
        self._offer_answers(answers, anew=first != self._first_kind)
        self._first_kind = first

    def _offer_answers(self, answers: Sequence[tuple[str, str]], *, anew: bool) -> None:
        """Offer kinds of answers. `anew`: the first of them, whatever was chosen of another
        audit.
        """
        now = self.chosen("answers")
        stays = not anew and any(value == now for _, value in answers)
        self.offer("answers", answers, now if stays else answers[0][1])

    @on(Select.Changed, "#answers")
    def _show_sampled(self) -> None:
        """Show how answers are drawn where some are: of an audit that reads probabilities, if a
        person wants that.
        """
        if self._audit is None:
            return
        defaults = registry.audit(self._audit.audit).defaults
        exact = not defaults.drawn and self.chosen("answers") == EXACT_LABELS
        self.query(".sampled").set(display=not exact)
        self.query(".kind").set(display=defaults.drawn or defaults.counted is not None)

    @on(Select.Changed, "#family")
    def _offer_family(self) -> None:
        """List a family's templates, and set what was not typed to how they are meant to be
        asked.
        """
        if self._audit is not None:
            family = self.chosen("family")
            names = [name for of, name in self._audit.templates if of == family]
            self.tick("templates", names, names)
            self._offer_drawn()
        self.ask()

    def _offer_drawn(self) -> None:
        """Show the usual sampling in the fields that nobody has changed."""
        usual = self._usual_of(self.chosen("family"))
        for name, text in switched(self._sampling_texts(), self._usual, usual).items():
            self.put(name, text)
        self._usual = usual

    def _sampling_texts(self) -> dict[str, str]:
        return {option.name: self.typed(option.name) for option in SAMPLING}

    def _usual_of(self, family: str) -> dict[str, str]:
        """Return the sampling of the audit. A quick look draws fewer answers."""
        assert self._audit is not None
        usual = self._audit.sampling_of(family)
        choices = self._choices.get(self.chosen("instrument"))
        has_many = choices is not None and choices.statements > QUICK_STATEMENTS
        if has_many and is_quick(self.typed("statements")):
            usual["samples"] = str(min(QUICK_SAMPLES, int(usual["samples"])))
        return usual

    @on(Input.Changed, "#statements")
    def draw_as_many(self) -> None:
        """Draw few answers for a quick look, and the usual number otherwise, unless a person typed
        one.
        """
        if self._audit is not None:
            self._offer_drawn()

    def ask(self) -> None:
        if self._audit is not None:
            usual = self._audit.sampling_of(self.chosen("family"))
            note = sampling_note(
                self._audit.audit, self.chosen("answers"), self._sampling_texts(), usual
            )
            self.query_one("#note", Static).update(Content(visible(note)))
        self._mark("")
        super().ask()

    def say(self, error: WorkbenchError) -> None:
        """Say what cannot be, and mark the field that the sentence names first."""
        super().say(error)
        # Whatever cannot be had here is the model.
        wrong = "model" if isinstance(error, ModelError) else ""
        self._mark(error.label if isinstance(error, FieldError) else wrong)

    def _mark(self, field: str) -> None:
        for label in self.query(".row > .name").results(Label):
            wrong = str(label.content) == field
            label.set_class(wrong, "-trouble")
            for fold in (one for one in label.ancestors if wrong and isinstance(one, Collapsible)):
                fold.collapsed = False

    def values(self) -> dict[str, Any] | None:
        """Return the texts, ticks and flags of the fields, or None until the store is read."""
        if self._audit is None:
            return None
        audit, answers = self._audit.audit, self.chosen("answers")
        variants, templates = self.ticked("variants"), self.ticked("templates")
        return {
            "audit": audit,
            "instrument": self.chosen("instrument"),
            "family": self.chosen("family"),
            "language": self.chosen("language"),
            "variants": None if variants == self._audit.variants else variants,
            "templates": None if templates == self.listed("templates") else templates,
            "dtype": self.chosen("dtype").removeprefix("usual"),
            "serve": self.chosen("serve"),
            "no_default_system": bool(self.chosen("no_default_system")),
            "batch": bool(self.chosen("batch")),
            **{name: self.typed(name) for name in TYPED},
            **sampling_values(audit, answers, self._sampling_texts()),
            "own": self._own_texts(registry.audit(audit), answers),
        }

    def _own_texts(self, audit: Audit, answers: str) -> dict[str, str]:
        """Return the texts of the audit's own options that have a meaning."""
        unused = audit.drawn_again if computes_probabilities(audit.name, answers) else ()
        return {
            option.name: self._own_text(audit, option)
            for option in audit.run_options
            if option.name not in unused
        }

    def _own_text(self, audit: Audit, option: Option) -> str:
        name = own_id(audit.name, option.name)
        if option.name in audit.ticked:
            ticked = self.ticked(name)
            return "" if ticked == self.listed(name) else ",".join(ticked) or ","
        return self.chosen(name) if option.choices or option.type is Type.FLAG else self.typed(name)

    def work_out(self, store: Store, values: Mapping[str, Any]) -> JobPreview:
        from workbench.jobs import launch

        preview = RunCommand.from_form(values).preview(store)
        plan = preview.plan
        if preview.n_units:
            probe = ProbeWish(asks=True) if preview.wants_probe(store) else None
            return JobPreview(
                preview.text,
                lambda opened: preview.start(opened, probe),
                "" if probe is None else PROBE_FIRST,
            )
        if not launch.is_noted(store, plan):
            why = COUNTS_HERE if plan.settling is None else SETTLED_HERE
            return JobPreview(
                f"{preview.text}\n{why}", lambda opened: launch.note_stored(opened, plan)
            )
        mode = mode_of(plan.design.audit)
        place = next((place for place in registry.places() if place.mode == mode), None)
        figures_note = f" Its figures: Esc, then {place.key}." if place and place.key else ""
        return JobPreview(
            f"{preview.text}\nEverything is stored already; there is nothing to start."
            f"{figures_note}",
            None,
        )


def sampled(field: Horizontal) -> Horizontal:
    """Return a row that says how answers are drawn: audits of which nothing is sampled do without
    it.
    """
    field.add_class("sampled")
    return field


def own_id(audit: str, option: str) -> str:
    """Return the id of the field of an audit's own option."""
    return f"{audit}-{option}"


def own_fields(audit: Audit) -> Iterator[Widget]:
    """Yield the rows of an audit's own options: texts in a row each, numbers and choices side by
    side.
    """
    typed = [option for option in audit.run_options if option.name not in audit.ticked]
    texts = [option for option in typed if option.type is Type.TEXT and not option.choices]
    for option in texts:
        yield asked(option, id=own_id(audit.name, option.name)).add_class(
            "own", f"own_{audit.name}"
        )
    others = [
        _own_row(audit, option)
        for option in typed
        if option not in texts and option.type is not Type.FLAG
    ]
    if others:
        yield Horizontal(*others, classes=f"pair own own_{audit.name}")


def own_flags(audit: Audit) -> Iterator[Widget]:
    """Yield a choice of yes and no for each of an audit's own options that is given or not."""
    for option in audit.run_options:
        if option.type is Type.FLAG:
            chosen = select(own_id(audit.name, option.name), [("no", ""), ("yes", YES)])
            yield row(option.title, chosen).add_class("own", f"own_{audit.name}")


def _own_row(audit: Audit, option: Option) -> Horizontal:
    name = own_id(audit.name, option.name)
    if option.choices:
        return row(option.title, select(name, [(choice, choice) for choice in option.choices]))
    return asked(option, id=name)


def mode_of(audit: str) -> str:
    """Return the mode of the terminal that shows an audit's results; "" where it has none."""
    place = registry.audit(audit).place
    return place.mode if place is not None else ""


def read_choices(store: Store) -> tuple[InstrumentChoices, ...]:
    """Return what may be chosen, for each instrument of a store."""
    from workbench.domain.statements import variant_order

    found = []
    for name in store.instruments.names():
        instrument = store.instruments.get(name)
        wordings = [w for s in instrument.statements for w in s.wordings]
        variants = sorted({w.variant for w in wordings}, key=variant_order)
        found.append(
            InstrumentChoices(
                instrument=name,
                statements=len(instrument.statements),
                variants=tuple(map(str, variants)),
                languages=_languages(instrument),
                audits=tuple(
                    _audit_choices(instrument, audit, variants) for audit in registry.asking()
                ),
                fitting=frozenset(
                    one.name
                    for one in registry.asking()
                    if one.own_material and one.may_be_asked(store, name)
                ),
                ticks={
                    one.name: one.to_tick(store, name) for one in registry.asking() if one.ticked
                },
            )
        )
    return tuple(found)


def _languages(instrument: Instrument) -> tuple[str, ...]:
    spoken = {
        wording.language for statement in instrument.statements for wording in statement.wordings
    }
    own = instrument.language
    return tuple(sorted(spoken, key=lambda language: (language != own, language))) or (own,)


def _audit_choices(
    instrument: Instrument, audit: Audit, variants: Sequence[VariantId]
) -> AuditChoices:
    templates = [t for t in instrument.templates if t.audit == audit.name] or audit.templates()
    usual = audit.defaults.family
    return AuditChoices(
        audit=audit.name,
        families=tuple(
            dict.fromkeys(sorted((t.family for t in templates), key=lambda family: family != usual))
        ),
        templates=tuple(dict.fromkeys((t.family, t.name) for t in templates)),
        variants=tuple(map(str, audit.default_variants(variants))),
        sampling=sampling_of_audit(audit.defaults),
        max_new_tokens={family: str(tokens) for family, tokens in audit.defaults.tokens.items()},
    )
