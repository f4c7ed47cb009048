"""What the screens of response biases show, as values: whose answers, by which definition, which rows. Pure, but for
`load`.

Numpy, the statistics and the pipeline are imported in the functions that workers call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.domain.choices import Bias, Perturbation
from workbench.domain.prompts import LATEST, TemplateChoice
from workbench.errors import WorkbenchError
from workbench.tui.row_keys import row_key, row_parts

if TYPE_CHECKING:
    from workbench.audits.response_bias_compare import Row, SamplingAgreement
    from workbench.audits.response_bias_figures import Adjusted, Cell, Report
    from workbench.audits.response_bias_uncertainty import EntropyRule
    from workbench.pipeline.response_bias import ResponseBiasJudged

Place = tuple[Bias, Perturbation | None, str]
"bias, condition (None: the bias itself) and variant of its wording: what names a cell of a report"

DEFINITIONS = ("corrected", "paper", "all keys", "head")
"the default first; `response_bias_deltas.Definition` says what they are"
HOLM: tuple[Adjusted, ...] = ("none", "biases", "all")
ALPHAS = (0.05, 0.01, 0.001, 0.1)

SCORE, SIGNED, LIKENESS, VALID, PEOPLE = "=score", "=signed", "=likeness", "=valid", "=people"
"keys of the rows below the biases; the others are lists of names"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person chose; see `pipeline.response_bias.ResponseBiasChoice`."""

    instrument: str = ""
    "empty: the first one with answers, else the first one with questions"
    definition: str = DEFINITIONS[0]
    holm: Adjusted = "none"
    alpha: float = ALPHAS[0]
    entropy: EntropyRule = "offered"
    templates: TemplateChoice = LATEST


@dataclass(frozen=True, eq=False, slots=True)
class Loaded:
    """The answers to one instrument's questions, or what keeps them from being judged."""

    settings: Settings
    instruments: tuple[str, ...] = ()
    "those with multiple-choice questions, the ones with answers first"
    instrument: str = ""
    judged: ResponseBiasJudged | None = None
    rests_on: tuple[object, ...] = ()
    "runs and instruments: while they are equal, so are the figures"
    problem: WorkbenchError | None = None

    @property
    def subjects(self) -> tuple[str, ...]:
        """By name: an order that stays when one of them is asked more, or another is added."""
        names = self.judged.reports if self.judged else ()
        return tuple(sorted(names, key=lambda name: (name.casefold(), name)))

    def report(self, subject: str) -> Report | None:
        return self.judged.reports.get(subject) if self.judged else None


@dataclass(frozen=True, slots=True)
class Look:
    """What is looked at."""

    subject: str = ""
    "the marked column"
    marked: tuple[str, ...] = ()
    "one or two subjects to compare: the second minus the first"
    unfolded: bool | None = None
    "whether perturbations have rows of their own; None: where the terminal is high enough"


@dataclass(frozen=True, eq=False, slots=True)
class Shown:
    """The matrix with its comparison."""

    look: Look
    differences: tuple[Row, ...] = ()
    "of the two marked subjects, a bias each"
    agreements: Mapping[Place, SamplingAgreement] = field(default_factory=dict)
    "where one of the two was sampled and the other is exact"
    of: Loaded | None = None
    "what these were worked out from"
    alpha: float = ALPHAS[0]

    def difference(self, place: Place | None) -> Row | None:
        """Return how the marked subjects differ in a bias; of perturbations and other wordings nothing is compared."""
        if place is None or place[1] is not None or place[2]:
            return None
        return next((row for row in self.differences if row.bias is place[0]), None)


def place_key(place: Place) -> str:
    """Return the key of the row of a cell."""
    return row_key(place[0], place[1] or "", place[2])


def place_of(key: str | None) -> Place | None:
    """Return the cell of a row; None for the rows below the biases."""
    if key is None or key.startswith("="):
        return None
    bias, condition, variant = row_parts(key)
    return Bias(bias), Perturbation(condition) if condition else None, variant


def places(loaded: Loaded) -> tuple[Place, ...]:
    """Return every cell that some subject has: by bias, its other wordings behind it, perturbations beneath each."""
    found = {cell.place for name in loaded.subjects if (report := loaded.report(name)) for cell in report.cells}
    return tuple(sorted(found, key=_order))


def _order(place: Place) -> tuple[int, str, int]:
    bias, condition, variant = place
    return list(Bias).index(bias), variant, 0 if condition is None else 1 + list(Perturbation).index(condition)


def cell_of(loaded: Loaded, subject: str, place: Place) -> Cell | None:
    """Return a subject's figures of a place; None where it was not asked."""
    report = loaded.report(subject)
    return report.find(*place) if report else None


def fitting(look: Look, loaded: Loaded) -> Look:
    """Return the look with subjects that there are."""
    names = loaded.subjects
    subject = look.subject if look.subject in names else next(iter(names), "")
    return replace(look, subject=subject, marked=tuple(name for name in look.marked if name in names))


def load(path: Path, settings: Settings, known: Loaded | None = None) -> Loaded:
    """Read and judge what a store has on one instrument's questions. Returns `known` itself where nothing changed."""
    from stores.store import Store
    from workbench.audits.response_bias_deltas import Definition
    from workbench.audits.response_bias_figures import Options
    from workbench.pipeline.response_bias import (
        AUDIT,
        ResponseBiasChoice,
        instruments_with_answers,
        response_bias,
    )
    from workbench.pipeline.response_bias_options import rejudged

    with Store.open(path) as store:
        answered = instruments_with_answers(store)
        asked = [name for name in store.instruments.names() if name not in answered and store.choices.items(name)]
        held = (*answered, *asked)
        if not held:
            return Loaded(settings)
        name = settings.instrument if settings.instrument in held else held[0]
        imported = store.choices.models(name)
        rests_on = (store.predictions.runs(AUDIT), store.instruments.summaries(), answered, imported)
        if known is not None and (known.settings, known.rests_on) == (settings, rests_on) and known.problem is None:
            return known
        base = Loaded(settings, held, name, rests_on=rests_on)
        if name not in answered:
            return base
        options = Options(Definition(settings.definition), settings.alpha, settings.holm, settings.entropy)
        same = known is not None and (known.instrument, known.rests_on) == (name, rests_on)
        if same and known is not None and known.judged is not None and known.settings.templates == settings.templates:
            return replace(base, judged=rejudged(known.judged, options))
        try:
            return replace(
                base,
                judged=response_bias(store, ResponseBiasChoice(name, templates=settings.templates, options=options)),
            )
        except WorkbenchError as error:
            return replace(base, problem=error)


def shown(loaded: Loaded, look: Look) -> Shown:
    """Work out the comparison of the marked subjects."""
    from workbench.pipeline.response_bias import compared, sampling_agreements

    if loaded.judged is None or len(look.marked) != 2:
        return Shown(look)
    agreements = sampling_agreements(loaded.judged, *look.marked)
    return Shown(look, compared(loaded.judged, *look.marked).rows, agreements, loaded, loaded.settings.alpha)
