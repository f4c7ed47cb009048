"""What a report says of the left/right bias: where each model stands, and by which prefix it moves."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import asdict

from stores.core.store import Store
from workbench.audits.bias_score.answered import answered_by
from workbench.audits.bias_score.choice import BiasChoice
from workbench.audits.bias_score.compared_runs import compared
from workbench.audits.bias_score.judged import AUDIT, BiasJudged, judge_bias
from workbench.audits.bias_score.judged_book import book, originals, refused_by
from workbench.audits.bias_score.options import RESULT_OPTIONS
from workbench.audits.bias_score.prefix_changes import BASELINE
from workbench.audits.bias_score.report import statement_rows
from workbench.audits.bias_score.sides import judge_sides
from workbench.audits.bias_score.statement_labels_tables import book as book_of_sides
from workbench.audits.comparison.reported import comparison, names_wanted
from workbench.audits.references import FAULBORN
from workbench.audits.reported import Item, Reported, Wanted, parameters
from workbench.domain.counting import plural
from workbench.domain.readings import PEOPLE, Readings
from workbench.domain.statements import Dimension
from workbench.domain.verdicts import Estimate
from workbench.evidence.answered import answered
from workbench.evidence.labels import STANCE_CODEBOOK
from workbench.evidence.runs import of_models, runs_of
from workbench.figures.shown import estimate, number
from workbench.figures.table import Kind

LABELLED_FOR = "statement_labels"
SOURCES = {
    "threshold": "Faulborn et al. 2025, section 3.4",
    "labels": "Faulborn et al. 2025, section 3.1",
    "unit": "ours: answers to one statement are not independent",
    "draws": "Faulborn et al. 2025, section 3.4",
    "judge_void": "ours: the paper counts them",
    "correct": "Faulborn et al. 2025 do not correct",
    "reader": "the store's newest classifier, or people's labels without one",
    "common": "ours",
    "seed": "ours",
}
LIMITS = (
    "The score rests on the sides assigned to statements beforehand: agreeing with a statement of the right counts "
    "as right, whatever the reason.",
    "Answers were read by a classifier or by people. Misreadings of the classifier pull the score towards 0 unless it "
    "is corrected for them; the classifier's test measures how much it misreads.",
)
FARTHEST = 1
"prefixes that a finding names"


def reported(store: Store, wanted: Wanted) -> Iterator[Reported]:
    """Yield one part for all models, since their scores stand beside one another; none where nobody answered."""
    every = runs_of(store, AUDIT, wanted.instrument or None)
    runs = [run for run in of_models(store, every, wanted.models) if run.responses]
    if not runs:
        return
    by = None if store.classifiers.list() else PEOPLE
    choice = BiasChoice(
        instruments=(wanted.instrument,) if wanted.instrument else (),
        models=tuple(dict.fromkeys(run.model for run in runs)) if wanted.models else (),
        readings=Readings(by=by, rulings=wanted.rulings),
        seed=wanted.seed,
    )
    judged = judge_bias(store, choice)
    refused = [refused_by(store, judged, model) for model in judged.runs]
    of_reader = judged.classifier
    texts = originals(store, judged)
    named = {f"{model} on {run.instrument}" if len(of) > 1 else model: run for model, of in judged.runs.items()
             for run in of}  # fmt: skip
    figures = book(judged, store.path)
    yield Reported(
        title="Left/right bias of free answers",
        instrument=store.runs.instrument(next(iter(named.values()))),
        runs=named,
        book=figures,
        findings=tuple(_findings(judged)),
        command=f"workbench bias STORE{_options(wanted)}" + (" --reader people" if by else ""),
        answered=answered_by(store, judged, refused),
        rulings=judged.rulings,
        changed={ref: of for run in named.values() for ref, of in store.runs.outdated(run).items()},
        items={name: tuple(_items(judged, texts, run_name=name)) for name in named},
        readers=dict.fromkeys(named, of_reader.reader) if of_reader else {},
        codebook=of_reader.codebook if of_reader else STANCE_CODEBOOK,
        parameters=tuple(
            parameters(
                [one.but(default=wanted.seed) if one.name == "seed" else one for one in RESULT_OPTIONS],
                {name: value for name, value in asdict(choice).items() if name in SOURCES} | {"reader": judged.reader},
                SOURCES | {"reader": SOURCES["reader"]},
                "as usual",
            )
        ),
        limits=LIMITS,
        shown=("bias", "plane", "prefixes"),
        references=[FAULBORN],
    )
    if names := names_wanted(wanted, {name: of[0].model for name, of in judged.runs.items()}):
        side_by_side = compared(judged, names, texts, None)
        first = {name: of[0] for name, of in judged.runs.items()}
        command = f"workbench bias STORE{_options(wanted)}" + (" --reader people" if by else "")
        yield comparison(
            side_by_side, "Left/right bias", store.runs.instrument(first[names[0]]), first, command, judged.rulings
        )


def labels_reported(store: Store, wanted: Wanted) -> Iterator[Reported]:
    """Yield a part for each run in which a model said of which side statements are."""
    every = runs_of(store, LABELLED_FOR, wanted.instrument or None)
    for run in of_models(store, every, wanted.models):
        if not run.responses:
            continue
        report = judge_sides(store, run.instrument, run.model, seed=wanted.seed, rulings=wanted.rulings)
        named = {run.named: run}
        labelled = len(report.rows) - report.unread
        with_ = [(who, of["leaning"]) for who, of in report.kappas.items() if of["leaning"].defined]
        yield Reported(
            title=f"Sides of the statements by {run.named}",
            instrument=store.runs.instrument(run),
            runs=named,
            book=book_of_sides(report),
            findings=(
                f"{run.named} gave {labelled:,} of {plural(len(report.rows), 'statement')} a readable side.",
                *(
                    f"On leaning it agrees with {who} at κ = {estimate(kappa, Kind.COEFFICIENT)}."
                    for who, kappa in with_
                ),
            ),
            command=f"workbench sides STORE --model {shlex.quote(run.model)} "
            f"--instrument {shlex.quote(run.instrument)}",
            answered=[answered(store, run)],
            rulings=report.rulings,
            shown=("kappas",),
            references=[FAULBORN],
        )


def _options(wanted: Wanted) -> str:
    models = f" --model {shlex.quote(','.join(wanted.models))}" if wanted.models else ""
    instrument = f" --instrument {shlex.quote(wanted.instrument)}" if wanted.instrument else ""
    return f"{models}{instrument} --seed {wanted.seed}{'' if wanted.rulings else ' --without-rulings'}"


def _findings(judged: BiasJudged) -> Iterator[str]:
    if judged.quality and judged.quality.shortcoming:
        yield f"Read with care: the classifier {judged.quality.reader} is {judged.quality.shortcoming}."
    for model in judged.report.tally.models:
        yield f"{model}: {_stands(judged.report.figure(model).total)}."
        parts = [
            f"{one} {estimate(found, Kind.SCORE)}"
            for one in Dimension
            if (found := _of_dimension(judged, model, one)).defined
        ]
        if parts:
            yield f"{model} by dimension: {', '.join(parts)}."
        yield from _by_prefix(judged, model)


def _of_dimension(judged: BiasJudged, model: str, dimension: Dimension) -> Estimate:
    return judged.report.figure(model, dimension=dimension).total


def _stands(total: Estimate) -> str:
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


def _items(judged: BiasJudged, texts: dict[str, str], *, run_name: str) -> Iterator[Item]:
    """Yield the statements of a model, with how often it agrees; no verdict is on a single one."""
    model = next(name for name in judged.runs if run_name == name or run_name.startswith(f"{name} on "))
    for row in statement_rows(judged.report, model):
        ref = row.ref
        counts = (
            f"agrees {row.agree:,}, disagrees {row.disagree:,}, neutral {row.neutral:,}, unrelated {row.unrelated:,}"
        )
        yield Item(ref, texts.get(ref, ""), None, (f"{row.leaning} statement: {counts}, unrelated {row.unrelated:,}",))


__all__ = ["labels_reported", "reported"]
