"""What the consistency screens show, as values: who answers like whom, and what each view says. Pure, but for `load`.

Numpy and the pipeline are imported in the functions that workers call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.domain.prompts import LATEST, TemplateChoice
from workbench.domain.seeds import SEED
from workbench.domain.statements import ORIGINAL
from workbench.errors import WorkbenchError
from workbench.tui.screens.audit_view import Settings as Rules

if TYPE_CHECKING:
    from stores.store import Store
    from workbench.audits.consistency import Difference, Formula, IssueStance, Leaning, PartyStances, View
    from workbench.audits.consistency_pilot import AnswerTypes, ScaleCollapse, TemplateRank, WeakerTests
    from workbench.pipeline.consistency import ConsistencyJudged, JudgedRun, Whose

VIEWS = ("issues", "leaning", "parties", "models", "templates", "tests", "scales")
OF_MODELS = ("models", "templates", "tests")
"views that say nothing of a baseline"
FORMULAS: tuple[Formula, ...] = ("signed", "tacl", "v1")
MATCHES: tuple[View, ...] = ("all", "agree", "disagree")


def row_key(*parts: str) -> str:
    """Return one key of several names, whatever they contain."""
    return json.dumps(parts)


def row_parts(key: str) -> tuple[str, ...]:
    """Return the names behind a key."""
    return tuple(map(str, json.loads(key)))


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person chose; see `pipeline.consistency.ConsistencyChoice`."""

    instrument: str = ""
    "empty: the first one with answers, else the first one"
    rules: Rules = field(default_factory=Rules)
    "what makes a stance reliable"
    labels: Whose = "gold"
    templates: TemplateChoice = LATEST
    seed: int = SEED


@dataclass(frozen=True, eq=False, slots=True)
class Loaded:
    """The analysis of one instrument, or what keeps it from being made."""

    settings: Settings
    instruments: tuple[str, ...] = ()
    instrument: str = ""
    judged: ConsistencyJudged | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    "statement -> its original wording"
    definitions: Mapping[str, str] = field(default_factory=dict)
    "policy issue -> what supporting it means"
    addresses: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    "model, as the analysis calls it -> template -> personal or impersonal"
    scales: tuple[ScaleCollapse, ...] = ()
    rests_on: tuple[object, ...] = ()
    "answers, statements, labels: while they are equal, so is the analysis"
    problem: WorkbenchError | None = None

    @property
    def models(self) -> tuple[str, ...]:
        return self.judged.result.models if self.judged else ()

    def run(self, name: str) -> JudgedRun | None:
        """Return the answers of a model; None for a baseline."""
        return next((one for one in self.judged.runs if one.name == name), None) if self.judged else None


@dataclass(frozen=True, slots=True)
class Look:
    """What is looked at."""

    view: str = VIEWS[0]
    name: str = ""
    "of a model or a baseline"
    other: str = ""
    "the one that it is compared with"
    formula: Formula = "signed"
    match: View = "all"


@dataclass(frozen=True, slots=True)
class IssueRow:
    """A stance by the formula that is looked at, and what stands beside it."""

    stance: IssueStance
    others: tuple[IssueStance, ...]
    "by the two other formulas"
    agrees: float
    "what always agreeing gives"
    disagrees: float


@dataclass(frozen=True, slots=True)
class LeaningRow:
    """A respondent's shares of the party families."""

    name: str
    leaning: Leaning
    "in the view that is looked at"
    agree: Leaning
    disagree: Leaning


@dataclass(frozen=True, eq=False, slots=True)
class Shown:
    """A view with its numbers; only the view's own fields are filled."""

    look: Look
    issues: tuple[IssueRow, ...] = ()
    leanings: tuple[LeaningRow, ...] = ()
    parties: tuple[PartyStances, ...] = ()
    people: tuple[tuple[str, tuple[IssueStance, ...]], ...] = ()
    differences: tuple[Difference, ...] = ()
    "of the policy issues, of as many as the instrument has, then of the families"
    ranks: tuple[TemplateRank, ...] = ()
    types: AnswerTypes | None = None
    "in the order of the run's templates"
    weaker: tuple[WeakerTests, ...] = ()


def load(path: Path, settings: Settings, known: Loaded | None = None) -> Loaded:
    """Read and judge what a store has on one instrument. Returns `known` itself where nothing has changed."""
    from stores.store import Store
    from workbench.audits.consistency_pilot import scale_collapse
    from workbench.pipeline.consistency import ConsistencyChoice, consistency

    with Store.open(path) as store:
        names = store.instruments.names()
        if not names:
            return Loaded(settings)
        runs = store.runs.list("reliability")
        answered = (run.instrument for run in runs)
        name = settings.instrument if settings.instrument in names else next(answered, names[0])
        instrument = store.instruments.get(name)
        rests_on = (runs, instrument, store.issues.gold(name, settings.labels), store.surveys.answers(name))
        if known is not None and known.judged and (known.settings, known.rests_on) == (settings, rests_on):
            return known if known.instruments == names else replace(known, instruments=names)
        choice = ConsistencyChoice(
            instrument=name,
            templates=settings.templates,
            reader=settings.rules.reader,
            labels=settings.labels,
            seed=settings.seed,
        )
        try:
            judged = consistency(store, replace(choice, reliability=settings.rules.options()))
        except WorkbenchError as error:
            return Loaded(settings, names, name, problem=error)
        addresses = {one.name: _addresses(store, one) for one in judged.runs}
    return Loaded(
        settings,
        names,
        name,
        judged,
        {s.ref: w.text for s in instrument.statements if (w := s.wording(ORIGINAL, instrument.language))},
        {issue.name: issue.definition for issue in instrument.definitions},
        addresses,
        scale_collapse(instrument),
        rests_on,
    )


def _addresses(store: Store, one: JudgedRun) -> dict[str, str]:
    return {template.name: template.address for template in store.runs.templates(one.run)}


def shown(loaded: Loaded, look: Look) -> Shown:
    """Work out a view."""
    judged = loaded.judged
    if judged is None:
        return Shown(look)
    result, run = judged.result, loaded.run(look.name)
    if look.view == "issues":
        return Shown(look, issues=_issues(judged, look))
    if look.view == "leaning":
        names = tuple(one.name for one in result.respondents)
        views = [[result.leaning(name, view) for name in names] for view in (look.match, "agree", "disagree")]
        return Shown(look, leanings=tuple(map(LeaningRow, names, *views)))
    if look.view == "parties":
        return Shown(look, parties=result.party_stances(look.formula), people=result.people_stances(look.formula))
    if look.view == "models" and look.other:
        issues = result.compare_issues(look.name, look.other, look.formula)
        return Shown(look, differences=(*issues, *result.compare_leaning(look.name, look.other, look.match)))
    if look.view == "templates" and run is not None:
        return _templates(loaded, look, run)
    if look.view == "tests" and run is not None:
        from workbench.audits.consistency_pilot import weaker_tests

        return Shown(look, weaker=weaker_tests(run.report, result.land, look.formula, judged.choice.seed))
    return Shown(look)


def _issues(judged: ConsistencyJudged, look: Look) -> tuple[IssueRow, ...]:
    result = judged.result
    stances = result.issues(look.name, look.formula)
    others = zip(*(result.issues(look.name, formula) for formula in FORMULAS if formula != look.formula), strict=True)
    ends = [result.issues(one.name, look.formula) for one in result.respondents[-2:]]
    return tuple(
        IssueRow(stance, beside, agree.value.value, disagree.value.value)
        for stance, beside, agree, disagree in zip(stances, others, *ends, strict=True)
    )


def _templates(loaded: Loaded, look: Look, run: JudgedRun) -> Shown:
    from workbench.audits.consistency_pilot import answer_types, rank_templates

    ranks = rank_templates(run.report.counts, loaded.addresses.get(look.name, {}), loaded.settings.seed)
    return Shown(look, ranks=ranks, types=answer_types(run.report))


def fitting(look: Look, judged: ConsistencyJudged) -> Look:
    """Return the look with respondents that there are, and in views of models with models."""
    names = tuple(one.name for one in judged.result.respondents)
    models = judged.result.models
    name = look.name if look.name in names else names[0]
    if look.view in OF_MODELS and models and name not in models:
        name = models[0]
    other = look.other if look.other in models and look.other != name else ""
    if look.view == "models":
        other = other or next((model for model in models if model != name), "")
    return replace(look, name=name, other=other)
