"""The result of the bias score: the left/right bias of models.

It is over all instruments that they answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.audits.audit import Opened
from workbench.audits.bias_score.book import book
from workbench.audits.bias_score.compared import compared
from workbench.audits.bias_score.factors import (
    statement_rows,
)
from workbench.audits.bias_score.findings import label_doubt, list_findings
from workbench.audits.bias_score.judged import (
    AUDIT,
    BiasJudged,
    judge_bias,
)
from workbench.audits.bias_score.options import DEFAULTS, INSTRUMENT, ScoreOptions
from workbench.audits.bias_score.score import BiasReport, Figure, Lean
from workbench.audits.bias_score.scored import ScoredAnswers, load_scored_answers
from workbench.audits.bias_score.tables import (
    AGREES,
)
from workbench.audits.printed import HomeFigure
from workbench.audits.reported import FAULBORN, ModelFigures, ReportedItem, of_all_models
from workbench.audits.result import Headline, Later, Result
from workbench.data import SHIPPED_INSTRUMENT
from workbench.domain.designs import Design
from workbench.domain.names import plural
from workbench.domain.readings import PEOPLE
from workbench.evidence.readings import STANCE_CODEBOOK
from workbench.evidence.runs import AnswerSelection
from workbench.figures.shown import estimate
from workbench.figures.table import AnyTable, Kind

FIRST = ("bias", "persona_bias", "source_differences", "source_ranks")
UNFOLDED = ("bias", "plane", "prefixes", "refusal_sides")
LIMITS = (
    "The score rests on the sides assigned to statements beforehand: agreeing with a statement of "
    "the right counts as right, whatever the reason.",
    "Misreadings of a classifier pull the score towards 0 unless it is corrected for them; the "
    "classifier's test measures how much it misreads.",
)
AT_HOME = 3
"the number of models that Home shows"


def judge(store: Store, which: AnswerSelection, options: ScoreOptions, opened: Opened) -> Result:
    """Return the left/right bias in the selected answers."""
    judged = judge_bias(store, which, options)
    first_run = next(run for runs in judged.runs.values() for run in runs)
    scored_answers = load_scored_answers(store, judged, opened)
    unfinished = {answered.name for answered in scored_answers.answered if answered.partial}
    # Home shows the first models only, so those with a finished plan come first
    finished_first = sorted(judged.report.tally.models, key=lambda model: model in unfinished)
    headline, *further_headlines = (_headline(judged, model) for model in finished_first[:AT_HOME])
    reader = judged.classifier
    model_by_name = {
        _name(model, run, runs): model for model, runs in judged.runs.items() for run in runs
    }
    result = Result(
        which=which,
        options=options,
        instrument=store.runs.instrument(first_run),
        runs={_name(model, run, runs): run for model, runs in judged.runs.items() for run in runs},
        names=tuple(judged.report.tally.models),
        book=book(scored_answers, options.dimension),
        first=FIRST,
        unfolded=UNFOLDED,
        findings=Later(lambda: list_findings(scored_answers)),
        all_models=lambda: _all_models(judged.report),
        headline=headline,
        further=further_headlines,
        rulings=judged.rulings,
        answered=scored_answers.answered,
        items={
            name: Later(partial(_items, scored_answers, model))
            for name, model in model_by_name.items()
        },
        limits=LIMITS,
        references=[FAULBORN],
        words=tuple(_words(judged)),
        reader=judged.reader,
        readers=dict.fromkeys(model_by_name, reader.reader) if reader else {},
        codebook=reader.codebook if reader else STANCE_CODEBOOK,
        whose={name: model for name, model in model_by_name.items() if name != model},
        judged=scored_answers,
    )
    return _with_comparison(result, scored_answers, options)


def _with_comparison(result: Result, found: ScoredAnswers, options: ScoreOptions) -> Result:
    """Return a result with its comparison of models, and its repetition with other options.

    Both are about the statements of the options' dimension.
    """

    def again(other_options: ScoreOptions) -> Result | None:
        """Return the result with other options, or None if they need new judging."""
        if not other_options.judging_as(options):
            return None
        return _with_comparison(
            replace(result, options=other_options, book=book(found, other_options.dimension)),
            found,
            other_options,
        )

    has_several_models = len(result.names) > 1
    return replace(
        result,
        compared=(lambda names: compared(found.judged, names, found.texts, options.dimension))
        if has_several_models
        else None,
        again=again,
    )


def _name(model: str, run: Run, of: Sequence[Run]) -> str:
    """Return the name of a model's run, with its instrument if the model has several runs."""
    return f"{model} on {run.instrument}" if len(of) > 1 else model


def _words(judged: BiasJudged) -> Iterator[str]:
    """Yield the parts of the line above tables: reader, sides, and what is excluded."""
    options = judged.options
    yield f"read by {judged.reader}" + (
        f" ≥{options.threshold:g}" if judged.reader != PEOPLE else ""
    )
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
    """Return the headline of a model."""
    reader_quality = judged.quality
    details = [] if judged.classifier else [("by people's labels only", False)]
    if reader_quality is not None and reader_quality.shortcoming:
        details.append((f"! read by {reader_quality.reader}: {reader_quality.shortcoming}", True))
    doubt = label_doubt(judged)
    if doubt:
        details.append((f"! {doubt}", True))
    figure = judged.report.figure(model)
    return Headline(
        model,
        _in_a_line(figure, judged.report.leans()[model]),
        details,
        HomeFigure(figure.total, Kind.SCORE, "from left (-1) to right (+1)"),
    )


def _in_a_line(figure: Figure, lean: Lean) -> str:
    """Return the bias of a model in one line, with its lean."""
    total = figure.total
    if not total.defined:
        return f"undefined: {total.undefined}"
    caveat = ", but missing answers could turn it" if figure.bounds.turn(total.value) else ""
    lean_text = total.few or (f"leans {lean.side}{caveat}" if lean.side else "side inconclusive")
    return f"{estimate(total, Kind.SCORE)}  {lean_text}, n {total.n:,}"


def _all_models(report: BiasReport) -> AnyTable:
    """Return the bias of every model."""
    rows = [
        ModelFigures(
            model,
            {
                "total": figure.total,
                "agreeing": figure.agreeing[2],
                "answers": figure.total.n,
                "missing": sum(figure.missing.values()),
            },
        )
        for model in report.tally.models
        for figure in (report.figure(model),)
    ]
    return of_all_models(
        "Left/right bias",
        rows,
        {"total": "bias"},
        Kind.SCORE,
        beside={"agreeing": AGREES},
        more={"answers": ("answers", Kind.COUNT), "missing": ("without a stance", Kind.COUNT)},
        scale=(-1.0, 1.0),
        ends=("left", "right"),
        definition="From -1, wholly left, to +1, wholly right: agreeing with statements of the "
        "right and disagreeing "
        "with those of the left counts as right. Without a bias it is 0. The thin mark is a "
        "model that agrees with "
        "every wording. No people answered these statements.",
    )


def _items(found: ScoredAnswers, model: str) -> Iterator[ReportedItem]:
    """Yield the statements of a model with counts of its stances. No verdict is on a single one."""
    for row in statement_rows(found.judged.report, model):
        counts = (
            f"agrees {row.agree:,}, disagrees {row.disagree:,}, neutral {row.neutral:,}, "
            f"unrelated {row.unrelated:,}"
        )
        yield ReportedItem(
            row.ref, found.texts.get(row.ref, ""), None, (f"{row.leaning} statement: {counts}",)
        )


def readers(store: Store) -> Mapping[str, str]:
    """Return the readers of free answers, the newest classifier first, each with its basis."""
    from workbench.evidence.readings import SINGLE, settled_by

    settled = list(settled_by(store).values())
    people = (
        f"people only: {plural(len(settled), 'answer')}, {settled.count(SINGLE):,} labelled by one "
        "person only"
    )
    return {
        classifier.name: classifier.name for classifier in reversed(store.classifiers.list())
    } | {PEOPLE: people}


A_SIDE, TOKENS = 3, 40


def design(store: Store, model: str) -> Design:
    """Return a design on a few statements of every dimension and side."""
    n_by_side: Counter[object] = Counter()
    refs = []
    for statement in store.instruments.get(SHIPPED_INSTRUMENT).statements:
        side = (statement.dimension, statement.leaning)
        # statements without a dimension or a side are not scored
        if None not in side and n_by_side[side] < A_SIDE:
            n_by_side[side] += 1
            refs.append(statement.ref)
    sampling = replace(DEFAULTS.sampling, max_new_tokens=TOKENS)
    return Design(
        SHIPPED_INSTRUMENT,
        model,
        AUDIT,
        DEFAULTS.samples,
        sampling,
        family=DEFAULTS.family,
        statements=tuple(refs),
    )
