"""Results of the audit of response biases: every model and every bias, with the typos beneath."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from workbench.audits.response_bias import AUDIT
from workbench.data import SHIPPED_CHOICES
from workbench.domain.counting import plural
from workbench.domain.prompts import LATEST, TemplateChoice
from workbench.domain.readings import USUAL, Readings
from workbench.errors import WorkbenchError
from workbench.figures.visible import visible
from workbench.tui.kit.template_words import heading, templates_for
from workbench.tui.neighbours import following
from workbench.tui.results.book_screen import BookScreen
from workbench.tui.results.loaded import Comparing, Loaded
from workbench.tui.results.response_bias_help import BIASES, DEFINITION_WORDS, KEYS, definitions_said
from workbench.tui.results.response_bias_routes import answers, question

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.runs.run_rows import Run
    from workbench.audits.comparison.values import Compared
    from workbench.audits.response_bias.figures import Adjusted, Options
    from workbench.audits.response_bias.findings import Findings
    from workbench.audits.response_bias.judged import ResponseBiasJudged
    from workbench.audits.response_bias.uncertainty import EntropyRule

DEFINITIONS = tuple(DEFINITION_WORDS)
"the default first; `deltas.Definition` says what they are"
HOLM: tuple[Adjusted, ...] = ("none", "biases", "all")
HOLM_WORDS = {"none": "p not adjusted", "biases": "Holm over biases", "all": "Holm over all cells"}
ENTROPY_WORDS = {"offered": "entropy by options offered", "csv": "entropy as published"}
ALPHAS = (0.05, 0.01, 0.001, 0.1)
NO_QUESTIONS = """This store has no multiple-choice questions yet.

I imports the shipped ones: veldania_choices, 40 questions about a fictional country that cover all five biases.
Your own: workbench import STORE --format choices FOLDER
Published questions and answers: workbench import STORE --format biasmonkey FOLDER"""
NO_ANSWERS = """No model has answered the questions of {name} yet.

3 goes to Jobs: n there starts one; choose the audit response_bias.
Or: workbench run STORE --audit response_bias --model MODEL
Published answers: workbench import STORE --format biasmonkey FOLDER"""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person chose; see `audits.response_bias.judged.ResponseBiasChoice`."""

    instrument: str = ""
    "empty: the first one with answers, else the first one with questions"
    definition: str = DEFINITIONS[0]
    holm: Adjusted = "none"
    alpha: float = ALPHAS[0]
    entropy: EntropyRule = "offered"
    templates: TemplateChoice = LATEST
    readings: Readings = USUAL
    typos: bool = True
    "whether typos have rows in the matrix"

    @property
    def options(self) -> Options:
        from workbench.audits.response_bias.deltas import Definition
        from workbench.audits.response_bias.figures import Options

        return Options(Definition(self.definition), self.alpha, self.holm, self.entropy)


class ResponseBiasScreen(BookScreen):
    """Models and their response biases, with sign, size and significance."""

    PLACE = "results › response bias"
    SHIPPED = SHIPPED_CHOICES
    EXPLAIN = BIASES
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "definition(1)", "Definition", tooltip="Show the next definition of a change"),
        Binding("F", "definition(-1)", "Previous definition", show=False),
        Binding(
            "p",
            "holm",
            "Adjust p",
            show=False,
            tooltip="Adjust p for multiple tests: none, over biases, or over all cells",
        ),
        Binding("a", "alpha", "Alpha", show=False, tooltip="Change the significance level"),
        Binding(
            "e", "entropy", "Entropy", show=False, tooltip="Entropy by the number of options offered, or as published"
        ),
        Binding("y", "typos", "Typos", show=False, tooltip="Show or hide the rows of the typos"),
        Binding("v", "whole", "Whole row", show=False, tooltip="Show all details of this row"),
        Binding("I", "import_shipped", "Import veldania_choices", tooltip="Import the shipped questions"),
    ]
    _settings: Settings

    def __init__(self) -> None:
        super().__init__(Settings())
        self.routes = {"options": question, "answers": answers}

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("definition", "holm", "alpha", "entropy", "typos"):
            return self.depends_on(action)
        if action == "import_shipped":
            return self._loaded is not None and not self._loaded.instruments
        return super().check_action(action, parameters) if action != "whole" else self._judged is not None

    def judged_now(self, settings: Settings, known: Loaded | None) -> Loaded:
        return load(self.store_path, settings, known)

    def explain(self) -> str:
        return "\n\n".join((super().explain(), KEYS, BIASES, definitions_said())) if self._book else BIASES

    def way_out(self, loaded: Loaded) -> str:
        return "i shows the next instrument." * (len(loaded.instruments) > 1)

    def comparable(self) -> Sequence[str]:
        return self.models

    def comparing(self, names: tuple[str, ...]) -> Comparing:
        assert self._loaded is not None, "the runs are not judged yet; then they can be compared"
        judged: ResponseBiasJudged = self._loaded.judged
        found: Findings = self._loaded.material

        def made(path: Path) -> Compared:  # noqa: ARG001  the findings read the store where they have to
            from workbench.audits.response_bias.compared_subjects import compared

            return compared(judged, found, names)

        return made

    def action_definition(self, step: int) -> None:
        """Go to a neighbouring definition, around the ends."""
        self._set(replace(self._settings, definition=following(DEFINITIONS, self._settings.definition, step)))

    def action_holm(self) -> None:
        self._set(replace(self._settings, holm=following(HOLM, self._settings.holm)))

    def settings_for(self, run: Run) -> Settings | None:
        if run.audit != AUDIT.name:
            return None
        templates = templates_for(run, self._settings.templates)
        return replace(self._settings, instrument=run.instrument, templates=templates)

    def action_alpha(self) -> None:
        self._set(replace(self._settings, alpha=following(ALPHAS, self._settings.alpha)))

    def action_entropy(self) -> None:
        self._set(replace(self._settings, entropy="csv" if self._settings.entropy == "offered" else "offered"))

    def action_typos(self) -> None:
        self._set(replace(self._settings, typos=not self._settings.typos))

    def action_whole(self) -> None:
        self.view.show_whole()

    def action_refresh(self) -> None:
        self._read(anew=True)


def load(path: Path, settings: Settings, known: Loaded | None = None) -> Loaded:
    """Read and judge what a store has on one instrument's questions. Returns `known` itself where nothing changed."""
    from stores.core.store import Store
    from workbench.audits.response_bias.judged import instruments_with_answers

    with Store.open(path) as store:
        answered = instruments_with_answers(store)
        asked = [name for name in store.instruments.names() if name not in answered and store.choices.items(name)]
        held = (*answered, *asked)
        if not held:
            return Loaded(settings, empty=NO_QUESTIONS)
        name = settings.instrument if settings.instrument in held else held[0]
        imported = store.choices.models(name)
        rests_on = (
            store.predictions.runs(AUDIT.name),
            store.instruments.summaries(),
            answered,
            imported,
            store.rulings.events(),
        )
        base = Loaded(settings, instruments=held, instrument=name, rests_on=rests_on)
        if known is not None and known.rests_on != rests_on:
            known = None
        if known is not None and known.settings == settings and known.problem is None:
            return known
        if name not in answered:
            return replace(base, empty=NO_ANSWERS.format(name=visible(name)))
        try:
            return _with_book(path, base, _judged(store, settings, name, known))
        except WorkbenchError as error:
            return replace(base, problem=error)


def _judged(store: Store, settings: Settings, name: str, known: Loaded | None) -> ResponseBiasJudged:
    """Return the reports. The store is read only where other answers are meant than those known."""
    from workbench.audits.response_bias.judged import ResponseBiasChoice, judge_response_bias
    from workbench.audits.response_bias.options_words import rejudged

    options = settings.options
    before: ResponseBiasJudged | None = known.judged if known is not None else None
    meant = (name, settings.templates, settings.readings)
    if known is None or before is None or (known.instrument, *_answers(known.settings)) != meant:
        choice = ResponseBiasChoice(name, templates=settings.templates, options=options, readings=settings.readings)
        return judge_response_bias(store, choice)
    return before if before.choice.options == options else rejudged(before, options)


def _answers(settings: Settings) -> tuple[TemplateChoice, Readings]:
    """Return which answers are meant, and how they are read."""
    return settings.templates, settings.readings


def _with_book(path: Path, base: Loaded, judged: ResponseBiasJudged) -> Loaded:
    from stores.core.store import Store
    from workbench.audits.response_bias.book import book
    from workbench.audits.response_bias.judged_findings import findings

    found = findings(judged, lambda: Store.open(path))
    runs = [subject.run for subject in judged.subjects.values() if subject.run]
    return replace(
        base,
        book=book(found, typos=base.settings.typos),
        judged=judged,
        models=tuple(judged.reports),
        runs=runs,
        options=options_words(base.instrument, base.settings, runs, judged.notes),
        material=found,
    )


def options_words(
    instrument: str, settings: Settings, runs: Sequence[Run], notes: Sequence[str]
) -> Sequence[tuple[str, str]]:
    """Return every choice that is in force, in a few words each."""
    return (
        ("", instrument),
        *(("", words) for words in heading(runs)),
        *[("", f"n: {plural(len(notes), 'note')}")] * bool(notes),
        ("alpha", f"alpha {settings.alpha:g}"),
        ("holm", HOLM_WORDS[settings.holm]),
        ("entropy", ENTROPY_WORDS[settings.entropy]),
        ("definition", f"{settings.definition}: {DEFINITION_WORDS[settings.definition]}"),
    )
