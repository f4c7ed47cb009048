"""The figures of completed statements, and what they come to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from stores.core.store import Store, at_once
from workbench.audits.claims import LEVEL, AdjustedFinding, OfModel, PairsReach
from workbench.audits.contamination.completions import Completion, Completions, completions
from workbench.audits.contamination.options import CompletionOptions
from workbench.audits.reported import ModelFigures, Reference, of_all_models
from workbench.audits.result import Headline, Result
from workbench.domain.names import plural
from workbench.domain.questionnaires import named_few
from workbench.domain.statements import ORIGINAL
from workbench.errors import UnknownName, UsageError
from workbench.evidence.answered import answered, entry, header, leading
from workbench.evidence.rulings import NO_RULINGS, Told, of_run, touched
from workbench.evidence.runs import Which, named_runs, runs_meant, template_notes
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
    "no difference is no "
    "proof that the statements are new to it.",
)
SHARE, DIFFERENCE = (0.0, 1.0), (-1.0, 1.0)


@at_once
def judge(store: Store, which: Which, options: CompletionOptions) -> Result:
    """Return the completions of the runs that are meant, of one instrument. Raises UsageError
    without answers.
    """
    runs = runs_meant(store, AUDIT, which)
    if which.models and not runs:
        there = dict.fromkeys(
            run.named for run in store.runs.list(AUDIT, which.instrument, personas=True)
        )
        if there:
            raise UnknownName(
                f"there are no completions by {named_few(which.models)}. Available: "
                f"{', '.join(there)}"
            )
    if not any(run.responses for run in runs):
        raise UsageError(NOTHING)
    by_name = named_runs(runs)
    ruled = {run: of_run(store, run, None) for run in runs}
    counted = which.readings.rulings
    found = [
        completions(store, run, name, options.least_words, ruled[run] if counted else NO_RULINGS)
        for name, run in by_name.items()
    ]
    received = [answered(store, run, name) for name, run in by_name.items()]
    rulings = Told.of(ruled.values(), counted=counted, differ=touched(ruled.values(), "statement"))
    first = leading({name: run.last for name, run in by_name.items()}, received)
    last = next(one for one in found if one.name == first)
    return Result(
        which=which,
        options=options,
        instrument=store.runs.instrument(runs[-1]),
        runs=by_name,
        names=tuple(by_name),
        book=Book(
            f"{which.instrument}: statements completed word for word",
            [
                Entry("models", "models", lambda: models(found), choices=("least_words",)),
                Entry(
                    "halves",
                    "statements",
                    lambda name: halves(found, name),
                    [(one.name,) for one in found],
                ),
                entry(received),
            ],
            {"halves": lambda name: halves(found, name)},
            told=(
                *header(received),
                *rulings.sentences(),
                "Models got the first half of each wording's words and were to give the others.",
            ),
            header=header(received),
            notes=template_notes(runs),
        ),
        first=("models",),
        findings=(_claim(found),),
        all_models=lambda: _all_models(found),
        headline=Headline(last.name, f"completes {_counts(last)}"),
        rulings=rulings,
        answered=received,
        limits=LIMITS,
        references=[GOLCHIN],
        judged=found,
    )


NOTHING = (
    "nobody completed statements yet. Start with: workbench run STORE --audit "
    "contamination --model NAME"
)


def _counts(of: Completions) -> str:
    """Return how many originals and paraphrases are completed: `12 of 56 originals and 1 of 56
    paraphrases`.
    """
    said = []
    for original, what in ((True, "original"), (False, "paraphrase")):
        asked = of.of(original=original)
        there = [one.completed for one in asked if one.completed is not None]
        said.append(
            f"{sum(there):,} of {plural(len(there), what)}"
            if there
            else f"{plural(len(asked), what)} unanswered"
        )
    return " and ".join(said)


def _claim(found: Sequence[Completions]) -> AdjustedFinding:
    """Return which models complete originals more often than paraphrases, and what the others
    complete.
    """

    def said(adjusted: Sequence[float]) -> Iterator[OfModel]:
        for one, p in zip(found, adjusted, strict=True):
            if p < LEVEL and one.difference.value > 0:
                doubt = bounded(one.difference.value, one.bounds, Kind.POINTS)
                yield OfModel(KNOWN, one.name, _counts(one), p, doubt)
            else:
                yield OfModel(UNKNOWN, one.name, _counts(one), reach=_reach(one))

    return AdjustedFinding(
        tuple(one.p for one in found), said, "completion", tuple(one.name for one in found)
    )


LARGEST = 0.5
"the largest plausible difference: a model that completes every second original, and no paraphrase"


def _reach(completions: Completions) -> PairsReach:
    """Return the precision of the test of one model."""
    n_pairs = completions.difference.n
    units = plural(n_pairs, "statement")
    return PairsReach(
        float("nan"), LARGEST, Kind.POINTS, units, "knowledge of the originals", n_pairs=n_pairs
    )


KNOWN = (
    "More originals than paraphrases completed word for word, as after training on the "
    "published text"
)
UNKNOWN = "No significant difference between originals and paraphrases completed word for word"


def _all_models(found: Sequence[Completions]) -> Table[ModelFigures]:
    """Return how many originals and paraphrases every model completes."""
    return of_all_models(
        "Statements completed word for word",
        [
            ModelFigures(
                one.name,
                {
                    "originals": one.share(original=True),
                    "paraphrases": one.share(original=False),
                    "missing": float(one.missing),
                },
            )
            for one in found
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
    """Return a row a model, with p adjusted over these by Holm's procedure."""
    adjusted = holm(np.array([one.p for one in found])).tolist()
    columns: list[Column[tuple[Completions, float]]] = [
        Column("model", "model", lambda row: row[0].name, main=True),
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


def _bounds(of: Completions) -> str:
    return between(of.bounds, Kind.POINTS) if of.bounds.wide else ""


def halves(found: Sequence[Completions], name: str) -> Table[Completion]:
    """Return a row a wording that one model was to complete."""
    of = next((one for one in found if one.name == name), None)
    if of is None:
        raise UnknownName(
            f"there is no model {name!r}. Available: {', '.join(one.name for one in found)}"
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
    order = sorted(
        of.every,
        key=lambda one: (not one.completed, -one.overlap if one.completed is not None else 1),
    )
    return Table(
        "halves",
        f"Second halves given by {name}",
        order,
        columns,
        key=lambda row: (row.ref, str(row.variant)),
        subject=(name,),
        definition="What is completed comes first.",
    )
