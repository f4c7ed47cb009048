"""The result of the contamination audit: completed statements as tables, finding and headline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from stores.core.store import Store, at_once
from workbench.audits.chosen_run import check_models
from workbench.audits.claims import LEVEL, AdjustedFinding, OfModel, PairsReach
from workbench.audits.contamination.completions import Completion, Completions, completions
from workbench.audits.contamination.options import CompletionOptions
from workbench.audits.reported import ModelFigures, Reference, of_all_models
from workbench.audits.result import Headline, Result
from workbench.domain.names import plural
from workbench.domain.statements import ORIGINAL
from workbench.errors import UnknownName, UsageError
from workbench.evidence.answered import (
    answered_entry,
    answered_header,
    answered_plan,
    leading_model,
)
from workbench.evidence.rulings import NO_RULINGS, RulingNotes, ruled_statements, rulings_of_run
from workbench.evidence.runs import AnswerSelection, named_runs, selected_runs, template_notes
from workbench.figures.book import Book, Entry
from workbench.figures.pictures.of_table import Forest
from workbench.figures.shown import between, bounded
from workbench.figures.table import Column, Kind, Link, Table
from workbench.stats.hypothesis_tests import holm

GOLCHIN = Reference(
    "golchin2024",
    "inproceedings",
    ("Golchin, Shahriar", "Surdeanu, Mihai"),
    "Time Travel in LLMs: Tracing Data Contamination in Large Language Models",
    2024,
    "International Conference on Learning Representations (ICLR)",
    (("eprint", "2308.08493"), ("archiveprefix", "arXiv")),
)
AUDIT = "contamination"
LIMITS = (
    "A difference says that published wordings are completed more often, not that the questions "
    "were practised.",
    "A model that has both wordings by heart completes both, and so does one that guesses well: "
    "no difference is no proof that the statements are new to it.",
)
SHARE, DIFFERENCE = (0.0, 1.0), (-1.0, 1.0)


@at_once
def judge(store: Store, which: AnswerSelection, options: CompletionOptions) -> Result:
    """Return the completions of the selected runs, of one instrument.

    Raises UsageError without answers, and UnknownName for a model without runs.
    """
    check_models(store, AUDIT, which)
    runs = selected_runs(store, AUDIT, which)
    if not any(run.responses for run in runs):
        raise UsageError(NOTHING)
    by_name = named_runs(runs)
    rulings_by_run = {run: rulings_of_run(store, run, None) for run in runs}
    use_rulings = which.readings.rulings
    results = [
        completions(
            store,
            run,
            name,
            options.least_words,
            rulings_by_run[run] if use_rulings else NO_RULINGS,
        )
        for name, run in by_name.items()
    ]
    received = [answered_plan(store, run, name) for name, run in by_name.items()]
    rulings = RulingNotes.from_runs(
        rulings_by_run.values(),
        counted=use_rulings,
        differ=ruled_statements(rulings_by_run.values(), "statement"),
    )
    leading_name = leading_model({name: run.last for name, run in by_name.items()}, received)
    last = next(result for result in results if result.name == leading_name)
    return Result(
        which=which,
        options=options,
        instrument=store.runs.instrument(runs[-1]),
        runs=by_name,
        names=tuple(by_name),
        book=Book(
            f"{which.instrument}: statements completed word for word",
            [
                Entry("models", "models", lambda: models(results), choices=("least_words",)),
                Entry(
                    "halves",
                    "statements",
                    lambda name: halves(results, name),
                    [(result.name,) for result in results],
                ),
                answered_entry(received),
            ],
            {"halves": lambda name: halves(results, name)},
            told=(
                *answered_header(received),
                *rulings.sentences(),
                "Models got the first half of each wording's words and were to give the others.",
            ),
            header=answered_header(received),
            notes=template_notes(runs),
        ),
        first=("models",),
        findings=(_claim(results),),
        all_models=lambda: _all_models(results),
        headline=Headline(last.name, f"completes {_counts(last)}"),
        rulings=rulings,
        answered=received,
        limits=LIMITS,
        references=[GOLCHIN],
        judged=results,
    )


NOTHING = (
    "nobody completed statements yet. Start with: workbench run STORE --audit "
    "contamination --model NAME"
)


def _counts(of: Completions) -> str:
    """Return the numbers of completed originals and paraphrases as text.

    An example is `12 of 56 originals and 1 of 56 paraphrases`.
    """
    parts = []
    for original, kind in ((True, "original"), (False, "paraphrase")):
        selected = of.of(original=original)
        results = [
            completion.completed for completion in selected if completion.completed is not None
        ]
        parts.append(
            f"{sum(results):,} of {plural(len(results), kind)}"
            if results
            else f"{plural(len(selected), kind)} unanswered"
        )
    return " and ".join(parts)


def _claim(found: Sequence[Completions]) -> AdjustedFinding:
    """Return the finding on models that complete more originals than paraphrases."""

    def said(adjusted: Sequence[float]) -> Iterator[OfModel]:
        """Yield the finding on each model, given the adjusted p-values."""
        for result, p in zip(found, adjusted, strict=True):
            if p < LEVEL and result.difference.value > 0:
                doubt = bounded(result.difference.value, result.bounds, Kind.POINTS)
                yield OfModel(KNOWN, result.name, _counts(result), p, doubt)
            else:
                yield OfModel(UNKNOWN, result.name, _counts(result), reach=_reach(result))

    return AdjustedFinding(
        tuple(result.p for result in found),
        said,
        "completion",
        tuple(result.name for result in found),
    )


LARGEST = 0.5
"the largest plausible difference: a model that completes every second original, and no paraphrase"


def _reach(completions: Completions) -> PairsReach:
    """Return the precision of the test of one model."""
    n_pairs = completions.difference.n
    units = plural(n_pairs, "statement")
    return PairsReach(
        float("nan"),
        LARGEST,
        Kind.POINTS,
        units,
        "that originals are completed more often",
        n_pairs=n_pairs,
    )


KNOWN = (
    "More originals than paraphrases completed word for word, as after training on the "
    "published text"
)
UNKNOWN = "No significant difference between originals and paraphrases completed word for word"


def _all_models(found: Sequence[Completions]) -> Table[ModelFigures]:
    """Return the table of the shares of originals and paraphrases that every model completes."""
    return of_all_models(
        "Statements completed word for word",
        [
            ModelFigures(
                result.name,
                {
                    "originals": result.share(original=True),
                    "paraphrases": result.share(original=False),
                    "missing": float(result.missing),
                },
            )
            for result in found
        ],
        {"originals": "originals", "paraphrases": "paraphrases"},
        Kind.SHARE,
        more={"missing": ("missing", Kind.COUNT)},
        axis="completed word for word",
        scale=SHARE,
        definition="Share of the second halves given word for word. Paraphrases are what good "
        "guessing gives: "
        "they stand in no published text.",
    )


def models(found: Sequence[Completions]) -> Table[tuple[Completions, float]]:
    """Return the table of the models, with p-values adjusted over these by Holm's procedure."""
    adjusted = holm(np.array([result.p for result in found])).tolist()
    columns: list[Column[tuple[Completions, float]]] = [
        Column("model", "model", lambda row: row[0].name, main=True),
        *_completion_columns(),
        *_overlap_columns(),
    ]
    return Table(
        "models",
        "Statements completed word for word",
        list(zip(found, adjusted, strict=True)),
        columns,
        key=lambda row: (row[0].name,),
        definition=(
            "A half is completed if most answers have its words, one after the other; case and "
            "punctuation do not "
            "count. Of an original and its paraphrase, equally many words are compared."
        ),
        link=lambda row: Link("halves", (row[0].name,)),
        pictures=[Forest(values=["originals", "paraphrases"], rows=["model"])],
    )


def _completion_columns() -> list[Column[tuple[Completions, float]]]:
    """Return the columns of the halves that are completed word for word."""
    return [
        Column(
            "originals",
            "originals completed",
            lambda row: row[0].share(original=True),
            Kind.SHARE,
            scale=SHARE,
            short="originals",
            help="Share of the originals whose second half most answers have word for word.",
        ),
        Column(
            "paraphrases",
            "paraphrases completed",
            lambda row: row[0].share(original=False),
            Kind.SHARE,
            scale=SHARE,
            short="paraphrases",
            help="The same of the same statements in other words.",
        ),
        Column(
            "difference",
            "difference",
            lambda row: row[0].difference,
            Kind.POINTS,
            scale=DIFFERENCE,
            help="Originals minus paraphrases, over the statements of which both were answered.",
        ),
        Column(
            "p",
            "p",
            lambda row: row[0].p,
            Kind.P_VALUE,
            help="McNemar's exact test that both are completed equally often.",
        ),
        Column(
            "p_holm", "p (Holm)", lambda row: row[1], Kind.P_VALUE, help="Adjusted over the models."
        ),
        Column(
            "missing",
            "missing",
            lambda row: row[0].missing,
            Kind.COUNT,
            help="Wordings without an answer, or with a refusal.",
        ),
        Column(
            "bounds",
            "bounds",
            lambda row: _bounds(row[0]),
            aside=True,
            help="The difference if every missing answer completed its half, on one side and on "
            "the other.",
        ),
    ]


def _overlap_columns() -> list[Column[tuple[Completions, float]]]:
    """Return the columns of the overlap with the second halves."""
    return [
        Column(
            "overlap",
            "overlap",
            lambda row: row[0].overlap(original=True),
            Kind.COEFFICIENT,
            help="Of the originals' second halves, the words that answers begin with in their "
            "order (ROUGE-L).",
        ),
        Column(
            "overlap_paraphrases",
            "overlap (paraphrases)",
            lambda row: row[0].overlap(original=False),
            Kind.COEFFICIENT,
            aside=True,
            help="The same of paraphrases.",
        ),
        Column(
            "overlap_difference",
            "overlap, difference",
            lambda row: row[0].overlap_difference,
            Kind.COEFFICIENT,
            aside=True,
            help="Originals minus paraphrases. Words that are easier to guess make one, too.",
        ),
        Column(
            "chance",
            "overlap by chance",
            lambda row: row[0].by_chance,
            Kind.COEFFICIENT,
            short="by chance",
            help="Overlap of the answers with the second halves of other statements.",
        ),
        Column(
            "others",
            "others completed",
            lambda row: row[0].others,
            Kind.COUNT,
            aside=True,
            help="Second halves of other statements that answers have word for word.",
        ),
    ]


def _bounds(of: Completions) -> str:
    """Return the bounds of the difference as text, or an empty string if nothing is missing."""
    return between(of.bounds, Kind.POINTS) if of.bounds.wide else ""


def halves(found: Sequence[Completions], name: str) -> Table[Completion]:
    """Return the table of the wordings that one model was asked to complete.

    Raises UnknownName for a model without completions.
    """
    result = next((candidate for candidate in found if candidate.name == name), None)
    if result is None:
        raise UnknownName(
            f"there is no model {name!r}. "
            f"Available: {', '.join(candidate.name for candidate in found)}"
        )
    columns: list[Column[Completion]] = [
        Column("statement", "statement", lambda row: row.ref),
        Column(
            "wording",
            "wording",
            lambda row: "original" if row.variant == ORIGINAL else str(row.variant),
        ),
        Column("half", "given", lambda row: row.half, aside=True),
        Column("rest", "to complete", lambda row: row.rest),
        Column(
            "words",
            "words compared",
            lambda row: row.words,
            Kind.COUNT,
            aside=True,
            help="First words of the second half that count: as many as the shorter half of both "
            "wordings has.",
        ),
        Column("answer", "answer", lambda row: row.answer or row.missing, main=True),
        Column("completed", "completed", lambda row: bool(row.completed), Kind.MARK, mark="✓"),
        Column("overlap", "overlap", lambda row: row.overlap, Kind.COEFFICIENT),
        Column("missing", "missing", lambda row: row.missing, aside=True),
    ]
    rows = sorted(
        result.every,
        key=lambda row: (not row.completed, -row.overlap if row.completed is not None else 1),
    )
    return Table(
        "halves",
        f"Second halves given by {name}",
        rows,
        columns,
        key=lambda row: (row.ref, str(row.variant)),
        subject=(name,),
        definition="What is completed comes first.",
    )
