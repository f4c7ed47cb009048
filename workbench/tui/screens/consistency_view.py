"""What the consistency screens show, as values: who answers like whom, and what each view says. Pure, but for `load`.

Numpy and the pipeline are imported in the functions that workers call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.domain.statements import ORIGINAL
from workbench.errors import WorkbenchError
from workbench.tui.screens.audit_view import Settings as Rules

if TYPE_CHECKING:
    from stores.store import Store
    from workbench.audits.consistency import (
        Difference,
        Formula,
        IssueStance,
        Leaning,
        PartyShare,
        PartyStances,
        View,
    )
    from workbench.pipeline.consistency import ConsistencyJudged, Whose
    from workbench.pipeline.pilot import PilotJudged

VIEWS = ("issues", "leaning", "parties", "models", "templates")
FORMULAS: tuple[Formula, ...] = ("signed", "tacl", "v1")
MATCHES: tuple[View, ...] = ("all", "agree", "disagree")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person chose; see `pipeline.consistency.ConsistencyChoice`."""

    instrument: str = ""
    "empty: the first one with answers, else the first one"
    rules: Rules = field(default_factory=Rules)
    "what makes a stance reliable"
    labels: Whose = "gold"
    seed: int = 1


@dataclass(frozen=True, eq=False, slots=True)
class Loaded:
    """The analysis of one instrument, or what keeps it from being made."""

    settings: Settings
    instruments: tuple[str, ...] = ()
    judged: ConsistencyJudged | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    "statement -> its original wording"
    definitions: Mapping[str, str] = field(default_factory=dict)
    "policy issue -> what supporting it means"
    pilots: Mapping[str, PilotJudged] = field(default_factory=dict)
    "by model, as the analysis calls it"
    problem: WorkbenchError | None = None


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


@dataclass(frozen=True, eq=False, slots=True)
class Shown:
    """A view with its numbers; only the view's own fields are filled."""

    look: Look
    issues: tuple[IssueStance, ...] = ()
    published: tuple[tuple[IssueStance, IssueStance], ...] = ()
    "beside each of `issues`: by the two other formulas"
    baselines: tuple[tuple[float, float], ...] = ()
    "beside each of `issues`: what always agreeing and always disagreeing give"
    leanings: tuple[tuple[str, Leaning], ...] = ()
    parties: tuple[PartyStances, ...] = ()
    people: tuple[tuple[str, tuple[IssueStance, ...]], ...] = ()
    differences: tuple[Difference, ...] = ()
    shares: tuple[PartyShare, ...] = ()


def load(path: Path, settings: Settings) -> Loaded:
    """Read and judge what a store has on one instrument."""
    from stores.store import Store
    from workbench.pipeline.consistency import ConsistencyChoice, consistency

    with Store.open(path) as store:
        names = store.instruments.names()
        if not names:
            return Loaded(settings)
        answered = [run.instrument for run in store.runs.list("reliability")]
        name = settings.instrument if settings.instrument in names else next(iter(answered), names[0])
        try:
            judged = consistency(
                store,
                ConsistencyChoice(
                    instrument=name,
                    reader=settings.rules.reader,
                    reliability=settings.rules.options(),
                    labels=settings.labels,
                    seed=settings.seed,
                ),
            )
            pilots = _pilots(store, judged, settings)
        except WorkbenchError as error:
            return Loaded(settings, names, problem=error)
        instrument = store.instruments.get(name)
    texts = {s.ref: w.text for s in instrument.statements if (w := s.wording(ORIGINAL, instrument.language))}
    definitions = {issue.name: issue.definition for issue in instrument.definitions}
    return Loaded(settings, names, judged, texts, definitions, pilots)


def _pilots(store: Store, judged: ConsistencyJudged, settings: Settings) -> dict[str, PilotJudged]:
    """Return for each model its templates ranked, and what weaker tests would change."""
    from workbench.pipeline.pilot import PilotChoice, pilot

    found = {}
    for one in judged.runs:
        choice = PilotChoice(
            model=one.run.model,
            instrument=one.run.instrument,
            sampling=str(one.run.sampling),
            reader=settings.rules.reader,
            reliability=settings.rules.options(),
            seed=settings.seed,
        )
        try:
            found[one.name] = pilot(store, choice)
        except WorkbenchError:  # two revisions under one name: the templates of each are told by the command line
            continue
    return found


def shown(judged: ConsistencyJudged, look: Look) -> Shown:
    """Work out a view."""
    result = judged.result
    if look.view == "issues":
        others = [formula for formula in FORMULAS if formula != look.formula]
        published = [result.issues(look.name, formula) for formula in others]
        ends = [result.issues(one.name, look.formula) for one in result.respondents[-2:]]
        return Shown(
            look,
            issues=result.issues(look.name, look.formula),
            published=tuple(zip(*published, strict=True)),
            baselines=tuple((agree.value.value, disagree.value.value) for agree, disagree in zip(*ends, strict=True)),
        )
    if look.view == "leaning":
        return Shown(
            look, leanings=tuple((one.name, result.leaning(one.name, look.match)) for one in result.respondents)
        )
    if look.view == "parties":
        return Shown(look, parties=result.party_stances(look.formula), people=result.people_stances(look.formula))
    if look.view == "models" and look.other:
        issues = result.compare_issues(look.name, look.other, look.formula)
        return Shown(look, differences=(*issues, *result.compare_leaning(look.name, look.other, look.match)))
    return Shown(look)


def fitting(look: Look, judged: ConsistencyJudged) -> Look:
    """Return the look with respondents that there are, and in views of models with models."""
    from dataclasses import replace

    names = tuple(one.name for one in judged.result.respondents)
    models = judged.result.models
    name = look.name if look.name in names else names[0]
    if look.view in ("models", "templates") and models and name not in models:
        name = models[0]
    other = look.other if look.other in models and look.other != name else ""
    if look.view == "models":
        other = other or next((model for model in models if model != name), "")
    return replace(look, name=name, other=other)
