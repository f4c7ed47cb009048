"""The left/right bias as its screen has it: the choices of a person, what there is to choose from, and the book."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.audits.bias_score import AUDIT, LABELS
from workbench.domain.counting import plural
from workbench.domain.prompts import LATEST, TemplateChoice
from workbench.domain.readings import PEOPLE, USUAL, Readings
from workbench.domain.seeds import SEED
from workbench.domain.statements import Dimension
from workbench.errors import WorkbenchError
from workbench.tui.kit.template_words import heading
from workbench.tui.results.loaded import Comparing, Loaded

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.audits.bias_score.judged import BiasChoice, BiasJudged
    from workbench.audits.comparison.values import Compared

INSTRUMENT = "instrument"
"who labelled the statements, as `audits.bias_score.judged` calls it"
NO_ANSWERS = """No free-text answers yet.

3 goes to Jobs: n there starts one; choose the audit bias_score.
The bias of each model appears here once its answers have been read.

7 shows the reliability audit: leaning by party family, stances on policy issues."""
NO_READER = """{answers} no labels yet.

5 goes to Annotate: label one sample of the answers for training and one for testing.
Then press 3 and n to train a classifier on the labels and let it read all answers."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person chose; see `audits.bias_score.judged.BiasChoice`."""

    readings: Readings = USUAL
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
    dimension: Dimension | None = None
    "of the statements that tables are about; None: both"

    @property
    def judging(self) -> Settings:
        """The settings that decide how the store is judged; the others choose among the figures."""
        return replace(self, dimension=None)

    def choice(self) -> BiasChoice:
        from workbench.audits.bias_score.judged import BiasChoice
        from workbench.evidence.fingerprints import EACH

        return BiasChoice(
            models=self.models,
            readings=self.readings,
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
    "answers that people settled"
    single: int = 0
    "of them, those that one person alone labelled"
    fingerprints: bool = False
    "whether a served model answered under several"


def load(path: Path, settings: Settings, known: Loaded | None = None) -> Loaded:
    """Read and score the answers of a store. Returns `known` itself where nothing has changed."""
    from stores.core.store import Store
    from workbench.audits.bias_score.judged import judge_bias
    from workbench.audits.bias_score.judged_book import originals

    if known is not None and known.judged is not None and _differ_in_figures(known.settings, settings):
        return _with_book(path, known, settings)
    with Store.open(path) as store:
        available = _available(store)
        unread = settings.readings.by is None and not available.classifiers and not available.settled
        if not available.models or unread:
            return Loaded(settings, material=available, empty=_why_empty(available))
        try:
            judged = judge_bias(store, settings.choice())
        except WorkbenchError as error:
            return Loaded(settings, material=available, problem=error)
        rests_on = (available, originals(store, judged), store.rulings.events())
    if known is not None and known.settings == settings and known.rests_on == rests_on and _same(known.judged, judged):
        return known
    found = Loaded(
        settings,
        judged=judged,
        models=judged.report.tally.models,
        runs=[run for of in judged.runs.values() for run in of],
        material=available,
        rests_on=rests_on,
    )
    return _with_book(path, found, settings)


def _differ_in_figures(known: Settings, settings: Settings) -> bool:
    """Return whether settings differ, but not in how the store is judged."""
    return known != settings and known.judging == settings.judging


def _with_book(path: Path, loaded: Loaded, settings: Settings) -> Loaded:
    """Return the same scores with the figures on the statements of another dimension."""
    from workbench.audits.bias_score.judged_book import book

    found = book(loaded.judged, path, settings.dimension)
    return replace(loaded, settings=settings, book=found, options=options_words(loaded.judged, settings))


def _why_empty(available: Available) -> str:
    """Say why there are no figures, and what to do next."""
    if not available.models:
        return NO_ANSWERS
    return NO_READER.format(answers=_answered(len(available.models)))


def _answered(models: int) -> str:
    """Return the beginning of `1 model has answered; its answers have no labels yet`."""
    return (
        "1 model has answered; its answers have"
        if models == 1
        else f"{models:,} models have answered; their answers have"
    )


def _available(store: Store) -> Available:
    from stores.runs.run_rows import SERVED
    from workbench.evidence.labels import SINGLE, how_settled

    runs = store.runs.list(AUDIT.name)
    models = tuple(dict.fromkeys(run.model for run in runs))
    labellers = tuple(dict.fromkeys(run.named for run in store.runs.list(LABELS.name)))
    classifiers = tuple(classifier.name for classifier in reversed(store.classifiers.list()))
    several = any(len(store.runs.fingerprints(run)) > 1 for run in runs if run.backend == SERVED)
    how = list(how_settled(store).values())
    return Available(models, classifiers, labellers, len(how), how.count(SINGLE), several)


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


def options_words(judged: BiasJudged, settings: Settings) -> Sequence[tuple[str, str]]:
    """Return every choice that is in force, in a few words each."""
    reader = judged.reader if judged.reader == PEOPLE else f"{judged.reader} ≥{settings.threshold:g}"
    sides = "the instrument" if settings.labels == INSTRUMENT else settings.labels
    always = [
        f"read by {reader}",
        *(["error not corrected"] if judged.classifier and not settings.correct else []),
        *([f"error corrected: {judged.corrected.in_short()}"] if judged.corrected else []),
        f"{settings.unit} resampled",
        f"sides by {sides}",
        *([f"{plural(len(judged.runs), 'model')} chosen"] if settings.models else []),
        *(["common prompts"] if settings.common else []),
        *(["void wordings judged"] if settings.judge_void else []),
        *heading(run for of in judged.runs.values() for run in of),
        *([f"{plural(judged.unlabelled, 'statement')} without a side left out"] if judged.unlabelled else []),
        *([f"∅ {plural(len(judged.void), 'wording')} void: identical to the original"] if judged.void else []),
        f"seed {settings.seed}",
        f"{settings.draws:,} draws",
    ]
    dimension = f"{settings.dimension} statements" if settings.dimension else "both dimensions"
    return (("dimension", dimension), *(("", words) for words in always))


def comparing(judged: BiasJudged, names: tuple[str, ...], dimension: Dimension | None) -> Comparing:
    """Return what compares models of a score, on the statements of a dimension."""

    def made(path: Path) -> Compared:
        from stores.core.store import Store
        from workbench.audits.bias_score.compared_runs import compared
        from workbench.audits.bias_score.judged_book import originals

        with Store.open(path) as store:
            texts = originals(store, judged)
        return compared(judged, names, texts, dimension)

    return made
