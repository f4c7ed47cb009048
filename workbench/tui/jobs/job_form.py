"""The form of a new sampling job: what to ask of which model, and, before anything starts, what that comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Label, Select, Static

from workbench import registry
from workbench.domain.questionnaires import Role
from workbench.domain.seeds import SEED
from workbench.errors import UsageError, WorkbenchError
from workbench.inference.dtypes import DTYPES
from workbench.tui.design_form import (
    ANSWERS,
    DRAWN,
    QUESTIONNAIRE,
    RESPONSE_BIAS,
    WHOLE_OR_EXACT,
    AuditChoices,
    Choices,
    FormValues,
    as_design,
    sampling_note,
    switched,
    usual_values,
)
from workbench.tui.format import visible
from workbench.tui.jobs import questionnaire_fields, response_bias_fields
from workbench.tui.kit.start_form import Outlook, StartForm, row, select, titled
from workbench.tui.widgets.field import Field
from workbench.tui.widgets.ticks import TickList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stores.core.store import Store
    from workbench.audits.audit import Audit
    from workbench.domain.instruments import Instrument
    from workbench.domain.statements import VariantId

SAMPLED = """instrument   whose statements are asked
audit        reliability: is the model's stance the same whatever the
             wording, template and order of labels?
             bias_score: free answers under ten prefixes; does it
             agree with one side more than with the other?
             statement_labels: is a statement economic or cultural,
             left or right?
             questionnaire: is what it predicts of people's answers,
             from their other answers, right and without a bias?
             response_bias: does a change of a multiple-choice question
             that moves people's answers move its answers too?
             Choosing one loads its wordings, templates and sampling;
             what you typed stays
model        smollm2 (embedded), a model of the hub, a local folder or
             a GGUF file; openai:NAME for one that is served
dtype        numbers that a local model computes with; answers in
             another dtype are another model's
cluster      nothing: this machine. local: one worker on each of its
             GPUs. auto or an address: a Ray cluster that runs already
             (pip install 'llm-audit-workbench[ray]')
statements   nothing for all, 8 for the first eight, or refs:
             env-01, soc-03
variants     which wordings; ticked are those that the audit compares
templates    the instructions around a statement. Where a template has
             two orders of its labels, both are asked
samples      answers to each prompt. reliability: 30 as published
             (Ceron et al. 2024, section 5.4); bias_score: 3
             (Faulborn et al. 2025, section 3.3); response_bias: 50
             (Tjuatja et al. 2024, section 3.1)
temperature, top-p, top-k   how answers are drawn; answers of two
             samplings are never pooled. An empty top-k draws from the
             whole vocabulary. bias_score: 10 as published (appendix
             C); empty is how commercial models were asked there
tokens       the longest answer
answers      sampled: to their end, as published
             decided: an answer ends once nothing that may follow can
             change the label that the rules read; its text is cut
             there. Not for scales, free text and served models
             exact: how likely each label is, computed instead of
             counted in samples; where templates ask for one of two
             labels or for the letter of an option
chat format  a model whose chat template is used, or a file that holds
             one: for base models, which have none
seed         the same seed, model and prompt give the same answers

Nothing is asked twice: what the store holds already counts."""

WHERE_SEEN = {
    "reliability": " Its verdicts: Esc, then 4.",
    QUESTIONNAIRE: " Its figures: Esc, then 8.",
    RESPONSE_BIAS: " Its figures: Esc, then 9.",
}
COUNTS_HERE = (
    "Everything is stored already, for prompts of the same text: nothing is asked. F5 lets it count for this design."
)
OF_THEIR_OWN = (QUESTIONNAIRE, RESPONSE_BIAS)
"audits of instruments that have more than statements"
TYPED = ("model", "statements", "seed", "cluster", "chat_format", "tries")
SAID_OF = questionnaire_fields.SAID_OF | response_bias_fields.SAID_OF


class JobForm(StartForm):
    """What to ask of which model."""

    HEADING = "New job: ask a model"
    EXPLAIN = f"{SAMPLED}\n\n{questionnaire_fields.EXPLAIN}\n\n{response_bias_fields.EXPLAIN}"
    FIRST = "#model"

    def __init__(self) -> None:
        super().__init__()
        self._choices: dict[str, Choices] = {}
        self._audit: AuditChoices | None = None
        self._usual = FormValues("")
        "how the audit is meant to be asked with the chosen templates"
        self._audit_chosen = False
        "whether a person chose the audit: it then stays when another instrument is chosen"

    def compose_fields(self) -> ComposeResult:
        with Horizontal(classes="pair"):
            yield row("instrument", select("instrument"))
            yield row("audit", select("audit"))
        yield row("model", Field("smollm2", id="model", compact=True))
        with Horizontal(classes="pair"):
            yield row("statements", Field(id="statements", compact=True, placeholder="all · or 8 · or refs"))
            yield row("chat format", Field(id="chat_format", compact=True, placeholder="the model's own"))
        with Horizontal(classes="pair", id="origin"):
            yield row("family", select("family"))
            yield row("language", select("language"))
        yield from questionnaire_fields.compose_questionnaire()
        with Horizontal(classes="pair lists sampled"):
            yield response_bias_fields.compose_biases()
            yield titled("variants", TickList(id="variants", compact=True))
            yield titled("templates", TickList(id="templates", compact=True))
        with Horizontal(classes="pair sampled"):
            yield row("samples", Field("30", id="samples", compact=True))
            yield response_bias_fields.compose_tries()
            yield row("temperature", Field("1", id="temperature", compact=True))
            yield row("top-p", Field("0.85", id="top_p", compact=True))
        with Horizontal(classes="pair"):
            yield sampled(row("top-k", Field(id="top_k", compact=True, placeholder="whole vocab.")))
            yield sampled(row("tokens", Field("20", id="max_tokens", compact=True)))
            yield row("seed", Field(str(SEED), id="seed", compact=True))
        with Horizontal(classes="pair"):
            yield sampled(row("answers", select("answers", ANSWERS)))
            yield row("dtype", select("dtype", [("usual", "usual"), *((name, name) for name in DTYPES)]))
            yield row("cluster", Field(id="cluster", compact=True, placeholder="none"))
        yield Static(id="note", classes="note", markup=False)

    def read_choices(self, store: Store) -> tuple[Choices, ...]:
        return read_choices(store)

    def fill(self, choices: Sequence[Choices]) -> None:
        """Offer the instruments; the first one that has statements is chosen."""
        self._choices = {one.instrument: one for one in choices}
        if not self._choices:
            self.say(UsageError("The store holds no instrument yet. Esc, then h: Home imports the shipped one."))
            return
        self._offer_instruments(next((one for one in choices if one.statements), choices[0]).instrument)
        self.offer_instrument()

    @on(Select.Changed, "#instrument")
    def offer_instrument(self) -> None:
        """Offer what the chosen instrument has; an audit that was chosen stays, else it is what fits the instrument."""
        choices = self._choices.get(self.chosen("instrument"))
        if choices is None:
            return
        audits = [one.audit for one in choices.audits]
        own = [audit for audit in OF_THEIR_OWN if audit in audits and choices.fits(audit)]
        usual = (own or audits)[0]
        now = self.chosen("audit") if self._audit_chosen else usual
        self.offer("audit", [(name, name) for name in audits], now if now in audits else usual)
        self.offer("language", [(name, name) for name in choices.languages], choices.languages[0])
        self._offer_audit(choices)

    @on(Select.Changed, "#audit")
    def offer_audit(self) -> None:
        if self._audit is not None and self.chosen("audit") != self._audit.audit:
            self._audit_chosen = True
        if self.chosen("audit") in OF_THEIR_OWN:
            self._prefer_fitting(self.chosen("audit"))
        choices = self._choices.get(self.chosen("instrument"))
        if choices is not None and self.chosen("audit"):
            self._offer_audit(choices)

    def _offer_instruments(self, first: str) -> None:
        self.offer("instrument", [(name, name) for name in self._choices], first)

    def _prefer_fitting(self, audit: str) -> None:
        """Offer instruments that have what an audit asks about first, and leave one that has not for the first."""
        self._choices = dict(sorted(self._choices.items(), key=lambda item: not item[1].fits(audit)))
        now = self._choices.get(self.chosen("instrument"))
        if now is not None:
            first = next(iter(self._choices))
            self._offer_instruments(now.instrument if now.fits(audit) else first)

    def _offer_audit(self, choices: Choices) -> None:
        """Offer an audit's templates, and set what was not typed to its defaults."""
        audit = next(one for one in choices.audits if one.audit == self.chosen("audit"))
        self._audit = audit
        asks_people, asks_letters = audit.audit == QUESTIONNAIRE, audit.audit == RESPONSE_BIAS
        self.query_one("#questionnaire").display = asks_people
        self.query(".sampled").set(display=not asks_people)
        self.query(f".{response_bias_fields.LETTERED}").set(display=asks_letters)
        self._offer_answers(WHOLE_OR_EXACT if asks_letters else ANSWERS)
        self.offer("family", [(name, name) for name in audit.families], audit.families[0])
        self.query_one("#origin").display = len(audit.families) > 1 or len(choices.languages) > 1
        self.tick("biases", choices.biases, choices.biases)
        self.tick("variants", choices.variants, audit.variants)
        self._offer_family()

    def _offer_answers(self, answers: Sequence[tuple[str, str]]) -> None:
        now = self.chosen("answers")
        self.offer("answers", answers, now if any(value == now for _, value in answers) else answers[0][1])

    @on(Select.Changed, "#family")
    def offer_templates(self) -> None:
        self._offer_family()

    def _offer_family(self) -> None:
        """List a family's templates, and set what was not typed to how they are meant to be asked."""
        if self._audit is not None:
            family = self.chosen("family")
            names = [name for of, name in self._audit.templates if of == family]
            self.tick("templates", names, names)
            usual = self._audit.usual_of(family)
            for name, text in switched({name: self.typed(name) for name in DRAWN}, self._usual, usual).items():
                self.put(name, text)
            self._usual = usual
        self.ask()

    def ask(self) -> None:
        if (values := self.values()) is not None and self._audit is not None:
            self.query_one("#note", Static).update(Content(visible(sampling_note(values, self._usual))))
        self._mark("")
        super().ask()

    def say(self, error: WorkbenchError) -> None:
        """Say what cannot be, and mark the field that the sentence names first."""
        super().say(error)
        self._mark(field_at_fault(str(error)))

    def _mark(self, field: str) -> None:
        for label in self.query(".row > .name").results(Label):
            label.set_class(str(label.content) == field, "-trouble")

    def values(self) -> FormValues | None:
        if self._audit is None:
            return None
        variants, templates, biases = self.ticked("variants"), self.ticked("templates"), self.ticked("biases")
        return FormValues(
            instrument=self.chosen("instrument"),
            audit=self._audit.audit,
            family=self.chosen("family"),
            language=self.chosen("language"),
            variants=() if variants == self._audit.variants else variants,
            templates=() if templates == self.listed("templates") else templates,
            answers=self.chosen("answers"),
            dtype=self.chosen("dtype").removeprefix("usual"),
            wordings=self.chosen("wordings"),
            biases=None if biases == self.listed("biases") else biases,
            **{name: self.typed(name) for name in (*TYPED, *DRAWN, *questionnaire_fields.TYPED)},
        )

    def work_out(self, store: Store, values: FormValues) -> Outlook:
        from workbench import pipeline
        from workbench.jobs import launch

        refs = _refs(store, values)
        plan = pipeline.plan(store, as_design(values, refs))
        if plan.samples_needed:
            estimate = pipeline.estimate(plan, store.jobs.list())
            return Outlook(
                f"{plan.describe()}\n{estimate.describe()}", lambda opened: launch.start(opened, plan.design, plan)
            )
        if not launch.is_noted(store, plan):
            return Outlook(f"{plan.describe()}\n{COUNTS_HERE}", lambda opened: launch.note_stored(opened, plan))
        there = WHERE_SEEN.get(values.audit, "")
        return Outlook(f"{plan.describe()}\nEverything is stored already: there is nothing to start.{there}", None)


def sampled(field: Horizontal) -> Horizontal:
    """Return a row that says how answers are drawn: audits of which nothing is sampled do without it."""
    field.add_class("sampled")
    return field


def field_at_fault(sentence: str) -> str:
    """Return the name of the field that a sentence of what cannot be is about: what stands before its first colon, or
    what a plan, which knows of no form, is known to say.
    """
    return next((field for said, field in SAID_OF.items() if said in sentence), sentence.partition(":")[0])


def _refs(store: Store, values: FormValues) -> Sequence[str]:
    """Return what may be asked about, in order: statements, targets, or questions about the chosen biases.

    Raises UsageError, naming the field.
    """
    from workbench.pipeline.naming_statements import refs_of_role

    if values.audit == RESPONSE_BIAS:
        return response_bias_fields.refs_about(store, values)
    if values.audit != QUESTIONNAIRE:
        return [line.ref for line in store.instruments.lines(values.instrument)]
    try:
        return refs_of_role(store, values.instrument, Role.TARGET)
    except UsageError as error:
        raise UsageError(f"instrument: {error}") from None


def read_choices(store: Store) -> tuple[Choices, ...]:
    """Return what may be chosen, for each instrument of a store."""
    from workbench.domain.statements import variant_order

    found = []
    for name in store.instruments.names():
        instrument = store.instruments.get(name)
        wordings = [w for s in instrument.statements for w in s.wordings]
        variants = sorted({w.variant for w in wordings}, key=variant_order)
        found.append(
            Choices(
                instrument=name,
                statements=len(instrument.statements),
                variants=tuple(map(str, variants)),
                languages=_languages(instrument),
                audits=tuple(_audit_choices(instrument, audit, variants) for audit in registry.asking()),
                has_questionnaire=any(q.role is Role.TARGET for q in store.questionnaires.questions(name)),
                biases=response_bias_fields.biases_of(store, name),
            )
        )
    return tuple(found)


def _languages(instrument: Instrument) -> tuple[str, ...]:
    spoken = {wording.language for statement in instrument.statements for wording in statement.wordings}
    own = instrument.language
    return tuple(sorted(spoken, key=lambda language: (language != own, language))) or (own,)


def _audit_choices(instrument: Instrument, audit: Audit, variants: Sequence[VariantId]) -> AuditChoices:
    from workbench import data

    templates = [t for t in instrument.templates if t.audit == audit.name] or data.shipped_templates(audit.name)
    usual = audit.defaults.family
    return AuditChoices(
        audit=audit.name,
        families=tuple(dict.fromkeys(sorted((t.family for t in templates), key=lambda family: family != usual))),
        templates=tuple(dict.fromkeys((t.family, t.name) for t in templates)),
        variants=tuple(map(str, audit.default_variants(variants))),
        usual=usual_values(instrument.name, audit.name, audit.defaults),
        tokens={family: str(tokens) for family, tokens in audit.defaults.tokens.items()},
    )
