"""What the results screens show, as values: scored answers, and what each view says of them. Pure, but for `load`.

Numpy and the pipeline are imported in the functions that workers call.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.domain.prompts import LATEST, TemplateChoice
from workbench.domain.seeds import SEED
from workbench.domain.statements import Dimension
from workbench.domain.verdicts import Estimate
from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from stores.store import Store
    from workbench.audits.bias_common import Comparison
    from workbench.audits.bias_figures import Figure
    from workbench.audits.bias_report import RankAgreement, StatementRow
    from workbench.audits.bias_score import Report
    from workbench.audits.bias_selection import Selection
    from workbench.pipeline.bias import BiasChoice, BiasJudged

PEOPLE, INSTRUMENT = "people", "instrument"
"a reader, and who labelled the statements, as `pipeline.bias` calls them"
VIEWS = ("plane", "prefixes", "wordings", "sources", "models", "statements")
DIMENSIONS = ("", *(dimension.value for dimension in Dimension))
"what `d` goes through; empty: both together"
LIKERT, BASELINE = "likert", "baseline"
"the prefixes whose deviation from the others is reported (Faulborn et al. 2025, appendix H)"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person chose about scoring; see `pipeline.bias.BiasChoice`."""

    reader: str | None = None
    "a classifier's name or `people`; None: the newest classifier"
    labels: str = INSTRUMENT
    models: tuple[str, ...] = ()
    "empty: all"
    threshold: float = 0.9
    correct: bool = False
    unit: str = "statements"
    seed: int = SEED
    common: bool = False
    "whether every figure is over the prompts that all chosen models were asked"
    draws: int = 10_000
    templates: TemplateChoice = LATEST
    judge_void: bool = False
    fingerprints: bool = False
    "whether the answers of a served model are told apart by their `system_fingerprint`"

    def choice(self) -> BiasChoice:
        from workbench.pipeline.bias import BiasChoice
        from workbench.pipeline.fingerprints import EACH

        return BiasChoice(
            models=self.models,
            reader=self.reader,
            labels=self.labels,
            threshold=self.threshold,
            correct=self.correct,
            unit=self.unit,
            seed=self.seed,
            draws=self.draws,
            templates=self.templates,
            common=self.common,
            judge_void=self.judge_void,
            fingerprint=EACH if self.fingerprints else None,
        )


@dataclass(frozen=True, slots=True)
class Available:
    """What a store has to choose from."""

    models: tuple[str, ...] = ()
    "with free-text answers"
    classifiers: tuple[str, ...] = ()
    "the newest first"
    labellers: tuple[str, ...] = ()
    "models that labelled statements"
    settled: int = 0
    "answers on whose stance people agree"
    fingerprints: bool = False
    "whether a served model answered under several"


@dataclass(frozen=True, eq=False, slots=True)
class Loaded:
    """Scored answers, or what keeps them from being scored."""

    available: Available
    settings: Settings
    judged: BiasJudged | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    "statement -> its original wording"
    problem: WorkbenchError | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """What is looked at."""

    view: str = VIEWS[0]
    model: str = ""
    other: str = ""
    "the one that a model is compared with"
    dimension: str = ""
    by_source: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Line:
    """One line of a view: the bias in some answers, or a difference of two."""

    name: str
    model: str
    estimate: Estimate
    selection: Selection | None = None
    "the answers that Enter leads to"
    figures: tuple[Figure, ...] = ()
    "total; on the plane total, economic and cultural; none of a difference"
    beside: tuple[Estimate, ...] = ()
    "on the plane the coordinates; of two models their totals, over the prompts that both were asked"
    deviation: tuple[Comparison, ...] = ()
    "of a prefix from the mean of the others, where it is reported"
    over: str = ""
    "what a difference is over"
    letter: str = ""
    source: str | None = None
    group: str = ""

    @property
    def figure(self) -> Figure | None:
        return self.figures[0] if self.figures else None


@dataclass(frozen=True, eq=False, slots=True)
class Shown:
    """A view with its numbers."""

    look: Look
    lines: tuple[Line, ...] = ()
    rows: tuple[StatementRow, ...] = ()
    ranks: tuple[tuple[str, RankAgreement], ...] = ()
    "agreement of two sources on the order of the models"
    reference: float = float("nan")
    "the bias under the baseline prefix"


def load(path: Path, settings: Settings, known: Loaded | None = None) -> Loaded:
    """Read and count the answers of a store. Returns `known` where nothing has changed."""
    from stores.store import Store
    from workbench.pipeline.bias import bias
    from workbench.pipeline.bias_book import originals

    with Store.open(path) as store:
        available = _available(store)
        if not available.models or (settings.reader is None and not available.classifiers):
            return Loaded(available, settings)
        try:
            judged = bias(store, settings.choice())
        except WorkbenchError as error:
            return Loaded(available, settings, problem=error)
        texts = originals(store, judged)
    if known is not None and known.judged is not None and (known.settings, known.available) == (settings, available):
        same = _same(known.judged, judged) and known.texts == texts
        return known if same else Loaded(available, settings, judged, texts)
    return Loaded(available, settings, judged, texts)


def _available(store: Store) -> Available:
    from stores.run_rows import SERVED
    from workbench.pipeline.labels import settled

    runs = store.runs.list("bias_score")
    models = tuple(dict.fromkeys(run.model for run in runs))
    labellers = tuple(dict.fromkeys(run.named for run in store.runs.list("statement_labels")))
    classifiers = tuple(classifier.name for classifier in reversed(store.classifiers.list()))
    several = any(len(store.runs.fingerprints(run)) > 1 for run in runs if run.backend == SERVED)
    return Available(models, classifiers, labellers, len(settled(store)), several)


def _same(a: BiasJudged, b: BiasJudged) -> bool:
    """Return whether two scores rest on the same readings of the same answers."""
    import numpy as np

    one, two = a.report.tally, b.report.tally
    if (one.models, one.prefixes, one.items, one.variants) != (two.models, two.prefixes, two.items, two.variants):
        return False
    counted = all(
        np.array_equal(getattr(one, name), getattr(two, name))
        for name in ("read", "by_rule", "dropped", "unread", "flipped")
    )
    return counted and a.reader == b.reader


def shown(report: Report, look: Look) -> Shown:
    """Work out a view; the first one of a report draws the resamples, which takes a moment."""
    return Shown(look) if not look.model else _MAKERS[look.view](report, look)


def fitting(look: Look, models: tuple[str, ...]) -> Look:
    """Return the look with models that there are: the first one where its own is gone, and another one beside it."""
    model = look.model if look.model in models else models[0]
    other = look.other if look.other in models and look.other != model else ""
    return replace(look, model=model, other=other or next((name for name in models if name != model), ""))


def letter(report: Report, model: str) -> str:
    """Return the letter of a model: A for the first one; beyond Z the letters begin anew."""
    return LETTERS[report.tally.models.index(model) % len(LETTERS)]


def _dimension(look: Look) -> Dimension | None:
    return Dimension(look.dimension) if look.dimension else None


def _plane(report: Report, look: Look) -> Shown:
    from workbench.audits.bias_selection import Selection

    sources: tuple[str | None, ...] = report.tally.sources if look.by_source else (None,)
    places = [(model, source) for model in report.tally.models for source in sources]
    wanted = [
        (model, Selection(dimension, source))
        for model, source in places
        for dimension in (None, Dimension.ECONOMIC, Dimension.CULTURAL)
    ]
    found = report.figures(wanted)
    lines = []
    for place, (model, source) in enumerate(places):
        total, economic, cultural = found[3 * place : 3 * place + 3]
        name = model if source is None else f"{source} · {model}"
        lines.append(
            Line(
                name,
                model,
                total.total,
                Selection(source=source),
                (total, economic, cultural),
                (economic.total, cultural.total),
                letter=letter(report, model),
                source=source,
            )
        )
    return Shown(look, tuple(lines))


def _prefixes(report: Report, look: Look) -> Shown:
    from workbench.audits.bias_selection import Selection

    dimension, several = _dimension(look), len(report.tally.prefixes) > 1
    lines = tuple(
        Line(
            prefix,
            look.model,
            figure.total,
            Selection(dimension, prefix=prefix),
            (figure,),
            deviation=(report.prefix_deviation(look.model, prefix, dimension=dimension, rule_only=prefix == LIKERT),)
            if several and prefix in (LIKERT, BASELINE)
            else (),
        )
        for prefix, figure in report.by_prefix(look.model, dimension)
    )
    reference = next((line.estimate.value for line in lines if line.name == BASELINE), float("nan"))
    return Shown(look, lines, reference=reference)


def _wordings(report: Report, look: Look) -> Shown:
    from workbench.audits.bias_selection import Selection

    dimension = _dimension(look)
    variants = [
        Line(name, look.model, found.total, Selection(dimension, variant=name), (found,), group="wording")
        for name, found in report.by_variant(look.model, dimension)
    ]
    authors = [
        Line(name, look.model, found.total, Selection(dimension, author=name), (found,), group="author")
        for name, found in report.by_author(look.model, dimension)
    ]
    return Shown(look, (*variants, *authors))


def _sources(report: Report, look: Look) -> Shown:
    from workbench.audits.bias_selection import Selection

    dimension = _dimension(look)
    lines = [
        Line(name, look.model, found.total, Selection(dimension, name), (found,), group="source")
        for name, found in report.by_source(look.model, dimension)
    ]
    pairs = tuple(combinations(report.tally.sources, 2))
    for a, b in pairs:
        found = report.difference(look.model, Selection(dimension, a), Selection(dimension, b))
        lines.append(Line(f"{a} − {b}", look.model, found, Selection(dimension), group="difference", over=said(found)))
    ranks = tuple((f"{a}, {b}", report.rank_agreement(a, b, dimension)) for a, b in pairs)
    return Shown(look, tuple(lines), ranks=ranks)


def _models(report: Report, look: Look) -> Shown:
    return Shown(look, tuple(_compared(report, look)) if look.other else ())


def _compared(report: Report, look: Look) -> Iterator[Line]:
    """Yield what two models are compared on: both dimensions, the sources and the prefixes."""
    from workbench.audits.bias_selection import Selection

    dimension = _dimension(look)
    parts: list[tuple[str, str, Selection]] = [("", "all answers", Selection(dimension))]
    if dimension is None:
        parts += [("dimension", each.value, Selection(each)) for each in Dimension]
    parts += [("source", source, Selection(dimension, source)) for source in report.tally.sources]
    parts += [("prefix", prefix, Selection(dimension, prefix=prefix)) for prefix in report.tally.prefixes]
    for group, name, part in parts:
        found = report.compare(look.model, look.other, dimension=part.dimension, source=part.source, prefix=part.prefix)
        yield Line(name, look.model, found, part, (), found.totals, group=group, over=said(found))


def said(found: Comparison) -> str:
    """Return what a comparison is over."""
    return found.common.said if found.common is not None else ""


def _statements(report: Report, look: Look) -> Shown:
    from workbench.audits.bias_selection import Selection

    return Shown(look, rows=statement_rows(report, look.model, Selection(_dimension(look))))


def statement_rows(report: Report, model: str, selection: Selection) -> tuple[StatementRow, ...]:
    """Return the statements of a selection in the order of the instrument."""
    return tuple(
        row
        for row in report.statements(model, selection)
        if selection.dimension in (None, row.dimension) and selection.source in (None, row.source)
    )


def sorted_rows(rows: tuple[StatementRow, ...]) -> tuple[StatementRow, ...]:
    """Return the statements that add most to the total first; those that add nothing last."""
    return tuple(sorted(rows, key=lambda row: math.inf if math.isnan(row.contribution) else -abs(row.contribution)))


_MAKERS = {
    "plane": _plane,
    "prefixes": _prefixes,
    "wordings": _wordings,
    "sources": _sources,
    "models": _models,
    "statements": _statements,
}
