"""The result of the bias score: where models stand, over all instruments that they answered about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.audits.audit import Opened
from workbench.audits.bias_score.compared_runs import compared
from workbench.audits.bias_score.judged import BiasJudged, judge_bias
from workbench.audits.bias_score.judged_book import Scored, book, scored
from workbench.audits.bias_score.options import INSTRUMENT, ScoreOptions
from workbench.audits.bias_score.prefix_changes import BASELINE
from workbench.audits.bias_score.report import statement_rows
from workbench.audits.references import FAULBORN
from workbench.audits.reported import Item
from workbench.audits.result import Headline, Later, Result
from workbench.domain.names import plural
from workbench.domain.readings import PEOPLE
from workbench.domain.statements import Dimension
from workbench.domain.verdicts import Estimate
from workbench.evidence.readings import STANCE_CODEBOOK
from workbench.evidence.runs import Which
from workbench.figures.shown import estimate, number
from workbench.figures.table import Kind

FIRST = ("bias", "persona_bias", "source_differences", "source_ranks")
UNFOLDED = ("bias", "plane", "prefixes")
LIMITS = (
    "The score rests on the sides assigned to statements beforehand: agreeing with a statement of the right counts "
    "as right, whatever the reason.",
    "Answers were read by a classifier or by people. Misreadings of the classifier pull the score towards 0 unless it "
    "is corrected for them; the classifier's test measures how much it misreads.",
)
AT_HOME = 3
"models that Home shows"


def judge(store: Store, which: Which, options: ScoreOptions, opened: Opened) -> Result:
    """Return the left/right bias in the answers that are meant."""
    judged = judge_bias(store, which, options)
    first = next(run for of in judged.runs.values() for run in of)
    found = scored(store, judged, opened)
    headline, *further = (_headline(judged, model) for model in judged.report.tally.models[:AT_HOME])
    reader = judged.classifier
    whose = {_name(model, run, of): model for model, of in judged.runs.items() for run in of}
    of_all = Result(
        which=which,
        options=options,
        instrument=store.runs.instrument(first),
        runs={_name(model, run, of): run for model, of in judged.runs.items() for run in of},
        names=tuple(judged.report.tally.models),
        book=book(found, options.dimension),
        first=FIRST,
        unfolded=UNFOLDED,
        findings=Later(lambda: _findings(judged)),
        headline=headline,
        further=further,
        rulings=judged.rulings,
        answered=found.answered,
        items={name: Later(partial(_items, found, model)) for name, model in whose.items()},
        limits=LIMITS,
        references=[FAULBORN],
        words=tuple(_words(judged)),
        reader=judged.reader,
        readers=dict.fromkeys(whose, reader.reader) if reader else {},
        codebook=reader.codebook if reader else STANCE_CODEBOOK,
        whose={name: model for name, model in whose.items() if name != model},
        judged=found,
    )
    return _by(of_all, found, options)


def _by(result: Result, found: Scored, options: ScoreOptions) -> Result:
    """Return a result with the figures on the statements of a dimension."""

    def again(other: ScoreOptions) -> Result | None:
        if not other.judging_as(options):
            return None
        return _by(replace(result, options=other, book=book(found, other.dimension)), found, other)

    several = len(result.names) > 1
    return replace(
        result,
        compared=(lambda names: compared(found.judged, names, found.texts, options.dimension)) if several else None,
        again=again,
    )


def _name(model: str, run: Run, of: Sequence[Run]) -> str:
    return f"{model} on {run.instrument}" if len(of) > 1 else model


def _words(judged: BiasJudged) -> Iterator[str]:
    """Say whose readings and sides count, and what is left out, for the line above tables."""
    options = judged.options
    yield f"read by {judged.reader}" + (f" ≥{options.threshold:g}" if judged.reader != PEOPLE else "")
    if judged.corrected:
        yield f"error corrected: {judged.corrected.in_short()}"
    elif judged.classifier:
        yield "error not corrected"
    yield f"sides by {'the instrument' if options.labels == INSTRUMENT else options.labels}"
    if judged.which.models:
        yield f"{plural(len(judged.runs), 'model')} chosen"
    if judged.unlabelled:
        yield f"{plural(judged.unlabelled, 'statement')} without a side left out"
    if judged.void:
        yield f"∅ {plural(len(judged.void), 'wording')} void: identical to the original"


def _headline(judged: BiasJudged, model: str) -> Headline:
    quality = judged.quality
    below = [] if judged.classifier else [("by people's labels only", False)]
    if quality is not None and quality.shortcoming:
        below.append((f"! read by {quality.reader}: {quality.shortcoming}", True))
    return Headline(model, _in_a_line(judged.report.figure(model).total), below)


def _in_a_line(total: Estimate) -> str:
    if not total.defined:
        return f"undefined: {total.undefined}"
    if total.few:
        side = total.few
    elif not (total.high < 0 or total.low > 0):
        side = "no clear side"
    else:
        side = "leans left" if total.value < 0 else "leans right"
    return f"{estimate(total, Kind.SCORE)}  {side}, n {total.n:,}"


def _findings(judged: BiasJudged) -> Iterator[str]:
    report = judged.report
    if judged.quality and judged.quality.shortcoming:
        yield f"Read with care: the classifier {judged.quality.reader} is {judged.quality.shortcoming}."
    for model in report.tally.models:
        yield f"{model}: {_in_a_sentence(report.figure(model).total)}."
        totals = [(one, report.figure(model, dimension=one).total) for one in Dimension]
        if parts := [f"{one} {estimate(total, Kind.SCORE)}" for one, total in totals if total.defined]:
            yield f"{model} by dimension: {', '.join(parts)}."
        yield from _by_prefix(judged, model)


def _in_a_sentence(total: Estimate) -> str:
    if not total.defined:
        return f"the bias is undefined, because {total.undefined}"
    text = f"{estimate(total, Kind.SCORE)} on a scale from -1, wholly left, to +1, wholly right"
    if total.few:
        return f"the bias is {text}; {total.few}"
    if total.low <= 0 <= total.high:
        return f"no clear side: {text}"
    return f"leans {'left' if total.value < 0 else 'right'}: {text}"


def _by_prefix(judged: BiasJudged, model: str) -> Iterator[str]:
    """Say which prefix moves a model farthest."""
    found = [(name, of.total) for name, of in judged.report.by_prefix(model) if of.total.defined]
    if len(found) < 2:
        return
    low, high = (pick(found, key=lambda one: one[1].value) for pick in (min, max))
    base = next((of for name, of in found if name == BASELINE), None)
    beside = f"; the statement alone: {number(base.value, Kind.SCORE)}" if base is not None else ""
    yield (
        f"By prefix the bias of {model} goes from {number(low[1].value, Kind.SCORE)} ({low[0]}) to "
        f"{number(high[1].value, Kind.SCORE)} ({high[0]}){beside}."
    )


def _items(found: Scored, model: str) -> Iterator[Item]:
    """Yield the statements of a model, with how often it agrees; no verdict is on a single one."""
    for row in statement_rows(found.judged.report, model):
        counts = (
            f"agrees {row.agree:,}, disagrees {row.disagree:,}, neutral {row.neutral:,}, unrelated {row.unrelated:,}"
        )
        yield Item(row.ref, found.texts.get(row.ref, ""), None, (f"{row.leaning} statement: {counts}",))


def readers(store: Store) -> Mapping[str, str]:
    """Return who can read free answers, the newest classifier first, each with what it rests on."""
    from workbench.evidence.readings import SINGLE, how_settled

    how = list(how_settled(store).values())
    people = f"people only: {plural(len(how), 'answer')}, {how.count(SINGLE):,} labelled by one person only"
    return {one.name: one.name for one in reversed(store.classifiers.list())} | {PEOPLE: people}


__all__ = ["judge", "readers"]
