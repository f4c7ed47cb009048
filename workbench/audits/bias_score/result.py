"""The result of the bias score: the left/right bias of models.

It is over all instruments that they answered.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from textwrap import shorten
from typing import TypeAlias

import numpy as np

from stores.core.store import Store
from stores.runs.readings import BiasResponse
from stores.runs.run_rows import Run
from workbench.audits.audit import Opened
from workbench.audits.bias_score import factor_tables, tables
from workbench.audits.bias_score.counting import SIDES, Pick, Selection, pick
from workbench.audits.bias_score.factor_tables import compared as differences
from workbench.audits.bias_score.factors import (
    BiasDifference,
    CommonPrompts,
    between_models,
    compare,
    components,
    has_answers,
    missing_of,
    statement_rows,
)
from workbench.audits.bias_score.judged import (
    AUDIT,
    BiasJudged,
    answered_by,
    judge_bias,
    judged_methods,
    methods,
    responses,
)
from workbench.audits.bias_score.options import DEFAULTS, INSTRUMENT, ScoreOptions
from workbench.audits.bias_score.published import NONE as NONE_PUBLISHED
from workbench.audits.bias_score.published import published
from workbench.audits.bias_score.published import read as read_published
from workbench.audits.bias_score.score import LEVEL, BiasReport, Figure, Lean
from workbench.audits.bias_score.sides import sides_header
from workbench.audits.bias_score.tables import (
    AGREES,
    ALL,
    BASELINE,
    as_estimate,
    over_notes,
    prefix_changes,
    prompt_sentences,
    score,
    selected,
    subject,
)
from workbench.audits.by_persona import WithPersona, columns, with_personas
from workbench.audits.claims import (
    AdjustedFinding,
    Finding,
    OfModel,
    Reach,
    doubted,
    in_doubt,
    p_of,
    reach_of,
    shown,
)
from workbench.audits.comparison.judge import (
    LANGUAGE,
    Compared,
    Judged,
    Side,
    VerdictKind,
    factors_of,
)
from workbench.audits.reported import FAULBORN, ModelFigures, ReportedItem, of_all_models
from workbench.audits.result import Headline, Later, Result
from workbench.data import SHIPPED_INSTRUMENT
from workbench.domain.designs import Design
from workbench.domain.names import plural
from workbench.domain.readings import PEOPLE
from workbench.domain.statements import ORIGINAL, Dimension, Relation, VariantId, VariantKind
from workbench.domain.verdicts import Estimate
from workbench.evidence.answered import (
    AnsweredPlan,
    RefusalGap,
    answered_data,
    answered_entry,
    answered_header,
    refusal_entries,
    refusal_gaps,
    refusal_sentences,
)
from workbench.evidence.reader_quality import quality_data as quality_json
from workbench.evidence.reader_quality import quality_header, reader_entry
from workbench.evidence.readings import STANCE_CODEBOOK
from workbench.evidence.refusals import ModelRefusals, joined_refusals, refusals_of
from workbench.evidence.rulings import READ_ANEW, ruled_words
from workbench.evidence.runs import AnswerSelection, template_notes
from workbench.figures.book import Book, Entry, in_order
from workbench.figures.shown import between, bounded, estimate, number
from workbench.figures.table import AnyTable, Column, Kind, Link, Table, in_words


@dataclass(frozen=True, slots=True)
class PersonaBias:
    """The bias of a model with a persona, compared with that without one."""

    runs: WithPersona
    dimension: Dimension | None
    found: BiasDifference


def by_persona(judged: BiasJudged, dimension: Dimension | None) -> list[Entry]:
    """Return the entry of the table by persona.

    There is none unless a model is among the models of a score with and without a persona.
    """
    if not _with_personas(judged):
        return []
    return [
        Entry(
            "persona_bias",
            "bias by persona",
            lambda: persona_bias(judged, dimension),
            choices=("dimension",),
        )
    ]


def _with_personas(judged: BiasJudged) -> tuple[WithPersona, ...]:
    """Return the pairs of a model with a persona and the same model without one."""
    return with_personas({name: runs[0] for name, runs in judged.runs.items()})


def persona_bias(judged: BiasJudged, dimension: Dimension | None = None) -> Table[PersonaBias]:
    """Return the bias with each persona and without one.

    It is over the prompts that were asked with both.
    """
    dimensions = (None, *Dimension) if dimension is None else (dimension,)
    rows = [
        PersonaBias(
            pair,
            row_dimension,
            compare(judged.report, pair.name, pair.baseline, Selection(row_dimension)),
        )
        for pair in _with_personas(judged)
        for row_dimension in dimensions
    ]
    return Table(
        "persona_bias",
        "Bias by persona",
        rows,
        [
            *columns(lambda row: row.runs),
            Column("dimension", "dimension", lambda row: str(row.dimension or ALL)),
            score("with", "with it", lambda row: row.found.totals[0]),
            score("without", "without", lambda row: row.found.totals[1]),
            Column(
                "difference",
                "difference",
                lambda row: as_estimate(row.found),
                Kind.SCORE,
                scale=(-2.0, 2.0),
            ),
            Column(
                "answers",
                "answers",
                lambda row: row.found.n,
                Kind.COUNT,
                aside=True,
                help="of both that count",
            ),
        ],
        key=lambda row: (row.runs.baseline, row.runs.persona, str(row.dimension or ALL)),
        definition="Both totals are over the prompts that were asked with and without the "
        "persona, from the same "
        "draws. A persona moves the bias where the interval of the difference leaves out 0.",
        notes=over_notes((f"{row.runs.name} − {row.runs.baseline}", row.found) for row in rows[:1]),
        link=lambda row: Link("statements", subject(row.runs.name, Selection(row.dimension))),
        detail=lambda row: prompt_sentences(row.found),
    )


TITLE = "Left/right bias"
NO_BASELINE = (
    f"The run has no prefix {BASELINE}, the statement alone.\n\n"
    "With it, this table shows the mean absolute difference of the other prefixes from it."
)
DIMENSION_CHOICE = ("dimension",)
"the option on which an entry depends"
ONE_MODEL = (
    "Only one model.\n\nWith a second model, this table shows how many prompts both were asked."
)


AnswersTable: TypeAlias = Callable[[str, str, Selection], AnyTable]
"returns the table of a model's answers to a statement within a selection"


def figures_book(
    report: BiasReport,
    *,
    dimension: Dimension | None = None,
    texts: Mapping[str, str] | None = None,
    answers: AnswersTable | None = None,
) -> Book:
    """Return the figures of a report.

    An entry that is called without a subject is about all models.

    Parameters
    ----------
    dimension : of the statements that the tables are about, except the plane and `asked`; None:
        both
    texts : the original wording of each statement
    answers : returns a model's answers to a statement within a selection; None: no link leads to
        answers
    """
    figures = _Figures(report, dimension, texts or {}, answers)
    return Book(TITLE, figures.entries(), figures.detail_tables(), methods=methods(report))


@dataclass(frozen=True, eq=False)
class _Figures:
    """The figures of a report on the statements of a dimension, or of both."""

    report: BiasReport
    dimension: Dimension | None
    texts: Mapping[str, str]
    answers: AnswersTable | None

    def entries(self) -> list[Entry]:
        """Return the entries of the book in their order."""
        report, dimension = self.report, self.dimension
        one_author = "" if factor_tables.pairs_of_authors(report) else factor_tables.ONE_AUTHOR
        return [
            *_positions(report, dimension),
            self._about_model("prefixes", "prefixes", tables.prefixes),
            Entry(
                "prefix_changes",
                "prefixes against baseline",
                partial(factor_tables.changes, report, dimension),
                choices=DIMENSION_CHOICE,
                empty="" if BASELINE in report.tally.prefixes else NO_BASELINE,
            ),
            self._about_model("prefix_sources", "prefixes by source", factor_tables.prefix_sources),
            self._about_model("wordings", "wordings", tables.wordings),
            self._about_model("authors", "authors", tables.authors),
            self._about_model(
                "author_differences",
                "authors compared",
                factor_tables.author_differences,
                one_author,
            ),
            self._about_model("sources", "sources", tables.sources),
            self._about_model(
                "source_differences",
                "sources compared",
                factor_tables.source_differences,
                _one_source(report),
            ),
            *_between(report, dimension),
            Entry(
                "statement_counts",
                "statements counted",
                partial(factor_tables.statement_counts, report),
            ),
            Entry(
                "statements",
                "statements",
                self._statements,
                self._models_as_subjects(),
                DIMENSION_CHOICE,
                whole=self._statements,
            ),
        ]

    def detail_tables(self) -> dict[str, Callable[..., AnyTable]]:
        """Return the tables that only links lead to, by name."""
        detail_tables: dict[str, Callable[..., AnyTable]] = {
            "statements": self._selected_statements,
            "prefixes": partial(tables.prefixes, self.report, self.dimension),
        }
        if self.answers is not None:
            detail_tables["answers"] = partial(_selected_answers, self.answers)
        return detail_tables

    def _about_model(
        self, name: str, title: str, make: Callable[..., AnyTable], empty: str = ""
    ) -> Entry:
        """Return an entry about one model at a time."""
        make_table = partial(make, self.report, self.dimension)
        subjects = self._models_as_subjects()
        return Entry(name, title, make_table, subjects, DIMENSION_CHOICE, empty, whole=make_table)

    def _models_as_subjects(self) -> tuple[tuple[str], ...]:
        """Return the subject of an entry about each model."""
        return tuple((model,) for model in self.report.tally.models)

    def _statements(self, model: str = "") -> AnyTable:
        """Return the statements of one model, or of all."""
        models = (model,) if model else self.report.tally.models
        selections = [(name, Selection(self.dimension)) for name in models]
        return tables.statements(self.report, selections, self.texts, (model,) if model else ())

    def _selected_statements(self, model: str, *link_parts: str) -> AnyTable:
        """Return the statements of a model within the selection that a link names."""
        selections = [(model, selected(link_parts))]
        return tables.statements(self.report, selections, self.texts, (model, *link_parts))


def _selected_answers(answers: AnswersTable, model: str, ref: str, *link_parts: str) -> AnyTable:
    """Return a model's answers to a statement within the selection that a link names."""
    return answers(model, ref, selected(link_parts))


def _positions(report: BiasReport, dimension: Dimension | None) -> list[Entry]:
    """Return the entries of the positions of models, over all sources and by source."""
    return [
        Entry("plane", "plane", partial(tables.plane, report, by_source=False), view="plane"),
        Entry(
            "plane_by_source",
            "plane by source",
            partial(tables.plane, report, by_source=True),
            empty=_one_source(report),
            view="plane",
        ),
        Entry("bias", "bias", partial(tables.bias, report, dimension), choices=DIMENSION_CHOICE),
    ]


def _between(report: BiasReport, dimension: Dimension | None) -> list[Entry]:
    """Return the entries that compare sources and factors, and the prompts of all models.

    `compared_runs` compares models.
    """
    one_model = "" if len(report.tally.models) > 1 else ONE_MODEL
    return [
        Entry(
            "source_ranks",
            "rankings",
            partial(factor_tables.source_ranks, report, dimension),
            choices=DIMENSION_CHOICE,
            empty=_one_source(report),
        ),
        Entry(
            "components",
            "sources of spread",
            partial(components, report, dimension),
            choices=DIMENSION_CHOICE,
        ),
        Entry("asked", "prompts asked", partial(factor_tables.asked_of, report), empty=one_model),
    ]


def _one_source(report: BiasReport) -> str:
    """Return the reason why sources cannot be compared, or an empty string if they can."""
    return "" if len(report.tally.sources) > 1 else factor_tables.ONE_SOURCE


AT_ONCE = 1000
BEGINNING = 1000
"characters of an answer that a table of answers shows below itself"
UNREAD, CUT = "not read", "cut off"
TURNED = {"agree": "disagree", "disagree": "agree"}


@dataclass(frozen=True, eq=False)
class ScoredAnswers:
    """A score, with the values from the store that its tables show.

    Answers below a figure are read when somebody opens it.
    """

    judged: BiasJudged
    opened: Opened
    texts: Mapping[str, str]
    "by statement: its original wording"
    refused: Sequence[ModelRefusals]
    "of each model"
    answered: tuple[AnsweredPlan, ...]
    "of each model"
    sides: tuple[str, ...]
    "the lines above a score that rests on a model's sides"
    prefix_texts: Mapping[str, str]
    "by prefix: its text, without the statement"


def load_scored_answers(store: Store, judged: BiasJudged, opened: Opened) -> ScoredAnswers:
    """Return a score with the values from the store that its tables need."""
    refused = [refused_by(store, judged, model) for model in judged.runs]
    instrument_names = tuple(
        dict.fromkeys(run.instrument for runs in judged.runs.values() for run in runs)
    )
    return ScoredAnswers(
        judged,
        opened,
        originals(store, judged),
        refused,
        answered_by(store, judged, refused),
        sides_header(store, judged.which, judged.options, instrument_names),
        _prefix_texts(store, judged),
    )


def _prefix_texts(store: Store, judged: BiasJudged) -> dict[str, str]:
    """Return the text of each prefix, by its name in the report."""
    texts: dict[str, str] = {}
    for model, runs in judged.runs.items():
        for run in runs:
            names = judged.prefixes[model, run.instrument]
            for template in store.runs.templates(run):
                if template.name in names:
                    texts[names[template.name]] = " ".join(
                        template.user.replace("{statement}", " ").split()
                    )
    return texts


def book(of: ScoredAnswers, dimension: Dimension | None = None) -> Book:
    """Return every figure of scored answers.

    Parameters
    ----------
    dimension : of the statements that tables are about; None: both
    """
    judged, reader_quality = of.judged, of.judged.quality
    figures = figures_book(
        judged.report,
        dimension=dimension,
        texts=of.texts,
        answers=lambda model, ref, selection: answers(of, model, ref, selection),
    )
    labels = judged.reliability.header() if judged.reliability else ()
    header_lines = in_order(
        answered_header(of.answered),
        quality_header(reader_quality) if reader_quality else (_people(judged),),
        labels,
        of.sides,
    )
    return replace(
        figures,
        contents=[
            *figures.contents,
            *by_persona(judged, dimension),
            answered_entry(of.answered),
            *([reader_entry(reader_quality)] if reader_quality else []),
            *refusal_entries(lambda: of.refused, judged.options.seed),
            _published(judged, dimension),
        ],
        told=(*header_lines, *_lines_on_readings(judged), *refusal_sentences(of.refused)),
        header=header_lines,
        notes=judged.corrected.notes() if judged.corrected else (),
        methods=(paragraph := judged_methods(judged, of.answered)),
        about=_facts(judged)
        | {
            "dimension": dimension,
            "answered": answered_data(of.answered),
            "classifier": quality_json(reader_quality) if reader_quality else None,
            "labels": judged.reliability.as_json() if judged.reliability else None,
            "methods": paragraph,
        },
    )


def _published(judged: BiasJudged, dimension: Dimension | None) -> Entry:
    """Return the entry of published biases.

    Raises InputError for a faulty file, UsageError if there is none.
    """
    file = judged.options.published_file
    published_biases = read_published(Path(file).expanduser()) if file else []
    make_table = partial(published, judged.report, published_biases, dimension)
    return Entry(
        "published",
        "published biases",
        make_table,
        choices=("dimension",),
        empty="" if published_biases else NONE_PUBLISHED,
    )


def refused_by(store: Store, judged: BiasJudged, model: str) -> ModelRefusals:
    """Return the refusals of a model on all instruments, with the sides that the figures take."""
    side_by_ref = {item.ref: item.leaning for item in judged.report.tally.items}
    refusals = []
    for run in judged.runs[model]:
        sides = {ref.removeprefix(f"{run.instrument}/"): side for ref, side in side_by_ref.items()}
        refusals.append(refusals_of(store, run, model, sides, issues=False))
    return joined_refusals(refusals)


def originals(store: Store, judged: BiasJudged) -> dict[str, str]:
    """Return the original wordings of the statements as asked, by their name in the report."""
    run_by_instrument = {run.instrument: run for runs in judged.runs.values() for run in runs}
    return {
        f"{name}/{statement.ref}" if len(run_by_instrument) > 1 else statement.ref: wording.text
        for name, run in run_by_instrument.items()
        for statement in store.runs.instrument(run).statements
        if (wording := statement.wording(ORIGINAL, run.language)) is not None
    }


def _people(judged: BiasJudged) -> str:
    """Return a text about the answers with people's labels and how these were settled."""
    settled = judged.read_by
    count_by_way = {
        "labelled by one person": settled.single,
        "by several who agree": settled.several,
        "adjudicated": settled.decided,
    }
    counts = ", ".join(f"{count:,} {way}" for way, count in count_by_way.items() if count) or "none"
    return (
        f"Read by people: {sum(count_by_way.values()):,} answers ({counts}); a rule reads numbers."
    )


def _lines_on_readings(judged: BiasJudged) -> Iterator[str]:
    """Yield the lines about readings, sides and draws, and about what is excluded."""
    options = judged.options
    if judged.classifier:
        yield (
            f"The classifier {judged.reader} read the answers; readings with a confidence below "
            f"{options.threshold:g} do not count."
        )
        yield (
            "Its error is "
            f"{'corrected for with its test set' if options.correct else 'not corrected for'}."
        )
    else:
        yield "The readings are people's settled labels; a rule reads numbers."
    label_source = (
        "from the instrument" if options.labels == INSTRUMENT else f"from {options.labels}"
    )
    yield f"The sides of the statements are {label_source}."
    yield f"Intervals resample {options.unit}: {options.draws:,} draws, seed {options.seed}."
    yield from judged.rulings.sentences()
    if judged.unlabelled:
        yield f"Left out for lack of a side: {plural(judged.unlabelled, 'statement')}."
    if judged.void:
        yield f"Void, because identical to the original: {plural(len(judged.void), 'wording')}."
    if options.common:
        yield "Every figure is over the prompts asked of every model."
    for model, runs in judged.runs.items():
        if templates := dict.fromkeys(template for run in runs for template in run.asked_with):
            yield f"{model}: answers to templates of {', '.join(templates)}."
    yield from template_notes(run for runs in judged.runs.values() for run in runs)


def _facts(judged: BiasJudged) -> dict[str, object]:
    """Return the facts about a score that JSON has."""
    return {
        "reader": judged.reader,
        "unlabelled_statements": judged.unlabelled,
        "void_wordings": judged.void,
        "templates": {
            model: {
                run.instrument: {"family": run.family, "versions": run.versions} for run in runs
            }
            for model, runs in judged.runs.items()
        },
        "correction": None if judged.corrected is None else asdict(judged.corrected),
    }


def answers(of: ScoredAnswers, model: str, ref: str, selection: Selection) -> Table[BiasResponse]:
    """Return the distinct answers of a model to a statement within a selection.

    Each has the reading that counted.
    """
    judged = of.judged
    wordings = _wordings(judged, model, ref, selection)
    with of.opened() as store:
        rows = [
            row
            for row in _all_responses(store, judged, model, ref, selection.prefix)
            if (row.kind, row.ordinal) in wordings
        ]
    keys = {id(row): key for row, key in zip(rows, _keys(rows), strict=True)}
    # the ref in a report may begin with its instrument, that of a void wording does not
    void = {
        variant
        for statement, _, variant in (name.rpartition(" ") for name in judged.void)
        if f"/{ref}".endswith(f"/{statement}")
    }

    return Table(
        "answers",
        f"{model}, {ref}: answers, and how they were read",
        rows,
        [*_reading_columns(judged, void), *_origin_columns(rows)],
        key=lambda row: keys[id(row)],
        empty="The selection has no answers to this statement.",
        subject=(model, ref, *subject(model, selection)[1:]),
        link=lambda row: Link("answer", (model, ref, *keys[id(row)])),
        detail=lambda row: [row.wording, _beginning(row.text)],
    )


def _reading_columns(judged: BiasJudged, void: Container[str]) -> list[Column[BiasResponse]]:
    """Return the columns of how an answer was read, and how it counts.

    Parameters
    ----------
    void : variants of the statement that are void
    """

    def why(row: BiasResponse) -> str:
        """Return the reason why an answer does not count, or an empty string if it does."""
        return left_out(row, judged.options.threshold, void)

    return [
        Column("count", "times", lambda row: row.count, Kind.COUNT),
        Column("reading", "reading", lambda row: row.label or (CUT if row.truncated else UNREAD)),
        Column(
            "ruling",
            "ruling",
            lambda row: ruled_words(row.ruled, row.unruled or UNREAD),
            help="an auditor's; how the reader had read an answer that it reads anew",
            least=14,
        ),
        Column("counts_as", "counts as", lambda row: counts_as(row, why(row)), help=_COUNTS_AS),
        Column(
            "left_out",
            "left out",
            why,
            aside=True,
            help="why the answer does not count; empty if it does",
        ),
        Column(
            "confidence",
            "conf.",
            lambda row: row.confidence,
            Kind.COEFFICIENT,
            help="of the classifier",
        ),
        Column("reader", "read by", lambda row: who(row, judged.reader), aside=True),
    ]


def _origin_columns(rows: Sequence[BiasResponse]) -> list[Column[BiasResponse]]:
    """Return the columns of an answer's text, its prompt, and how it was sampled."""
    return [
        Column("prefix", "prefix", lambda row: row.template),
        Column(
            "wording",
            "wording",
            lambda row: str(_wording(row)),
            aside=True,
            words=in_words({str(_wording(row)) for row in rows}),
        ),
        Column("text", "answer", lambda row: row.text, Kind.PROSE, least=30),
        Column("asked", "wording asked", lambda row: row.wording, Kind.PROSE, aside=True),
        Column("thinking", "thinking before", lambda row: row.thinking, Kind.PROSE, aside=True),
        Column("model", "model", lambda row: row.model, aside=True),
        Column("version", "version", lambda row: row.version or row.revision, aside=True),
        Column("sampling", "sampling", lambda row: row.sampling, aside=True),
        Column("seed", "seed", lambda row: "" if row.seed is None else str(row.seed), aside=True),
        Column("at", "answered at (UTC)", lambda row: row.at[:19].replace("T", " "), aside=True),
        Column("code_version", "workbench", lambda row: row.code_version, aside=True),
        Column("job", "job", lambda row: str(row.job), aside=True),
    ]


def _keys(rows: Sequence[BiasResponse]) -> Iterator[tuple[str, str, str, str]]:
    """Yield the key of each answer: prefix, wording, seed, and its number among equal ones."""
    numbers: Counter[tuple[str, str, str]] = Counter()
    for row in rows:
        prompt = (row.template, str(_wording(row)), str(row.seed))
        numbers[prompt] += 1
        yield *prompt, str(numbers[prompt])


def _beginning(text: str) -> str:
    """Return the beginning of an answer that fits below a table."""
    if len(text) <= BEGINNING:
        return text or "(empty answer)"
    return f"{text[:BEGINNING]}\n… {len(text):,} characters; Enter shows all"


_COUNTS_AS = "stance on the statement; a stance on a political opposite counts reversed"


def left_out(row: BiasResponse, threshold: float, void: Container[str] = ()) -> str:
    """Return the reason why an answer does not count, or an empty string if it does.

    Parameters
    ----------
    void : wordings with the text of their original
    """
    if row.truncated:
        return "cut off in thought"
    if row.ruled == "left out":
        return "left out by a ruling"
    if row.label is None:
        return UNREAD
    if not row.by_rule and row.confidence is not None and row.confidence < threshold:
        return f"below {threshold:g}"
    if str(_wording(row)) in void:
        return "void: the wording is identical to its original"
    if row.relation == Relation.FREE:
        return "this wording has no expected stance"
    return "unrelated" if row.label == "unrelated" else ""


def counts_as(row: BiasResponse, why_not: str) -> str | None:
    """Return the stance on the statement that an answer counts as, or None if it does not count."""
    if why_not:
        return None
    return TURNED.get(str(row.label), row.label) if row.relation == Relation.FLIPPED else row.label


def _wording(row: BiasResponse) -> VariantId:
    """Return the wording that an answer was given to."""
    return VariantId(VariantKind(row.kind), row.ordinal)


def who(row: BiasResponse, reader: str) -> str | None:
    """Return the source of an answer's reading: `rule`, `ruling`, people, or the classifier.

    It is None if the answer is not read.
    """
    if row.ruled == READ_ANEW:
        return "ruling"
    if row.label is None:
        return None
    if row.by_rule:
        return "rule"
    return PEOPLE if row.confidence is None else reader


def _all_responses(
    store: Store, judged: BiasJudged, model: str, ref: str, prefix: str | None
) -> Iterator[BiasResponse]:
    """Yield all answers to a statement under a prefix, or under any prefix, page by page."""
    offset = 0
    while page := responses(
        store, judged, model, ref, template=prefix, offset=offset, limit=AT_ONCE
    ):
        yield from page
        offset += AT_ONCE


def _wordings(
    judged: BiasJudged, model: str, ref: str, selection: Selection
) -> set[tuple[str, int]]:
    """Return the wordings of a statement that a selection holds."""
    tally = judged.report.tally
    by_prefix = pick(tally, model, selection).cells[:, tally.place("statement", ref)].tolist()
    return {
        (variant.kind.value, variant.ordinal)
        for index, variant in enumerate(tally.variants)
        if any(cells[index] for cells in by_prefix)
    }


LEANING, STANCE = "leaning", "stance"
NEITHER, NOTHING_COUNTS = "neither", "nothing counts"
KINDS = (
    VerdictKind(LEANING, "leaning", "right", "left", neither=(NEITHER,)),
    VerdictKind(STANCE, "stance", "agree", "disagree", neither=(NEITHER,)),
)
STANCES = {1: "agree", -1: "disagree", 0: NEITHER}


def compared(
    judged: BiasJudged,
    names: Sequence[str],
    texts: Mapping[str, str] | None = None,
    dimension: Dimension | None = None,
) -> Compared:
    """Return the comparison of some models of a score over the prompts that all were asked.

    `texts` has the original wording of each statement. Raises UnknownName.
    """
    report = judged.report
    picks, common = between_models(report.tally, names, Selection(dimension))

    def own(baseline: str, other: str) -> AnyTable:
        """Return the table of differences between two models, the second minus the first."""
        return differences(report, dimension, other, baseline)

    def finds(baseline: str, other: str) -> Finding:
        """Return the finding about the difference of two models, the second minus the first."""
        difference = compare(report, other, baseline, Selection(dimension))
        finding = AdjustedFinding(
            (p_of(difference),),
            partial(_difference, baseline, other, difference),
            "difference of runs",
        )
        return in_doubt(finding, _label_doubt(judged))

    return Compared(
        f"Left/right bias: {' and '.join(names)}",
        KINDS,
        [
            _side(judged.runs[model], report, picks, index, model)
            for index, model in enumerate(names)
        ],
        texts or {},
        "total bias",
        Kind.SCORE,
        (own,),
        left_out=tuple(_left_out(common)),
        finds=finds,
    )


def _difference(
    first: str, second: str, found: BiasDifference, adjusted: Sequence[float]
) -> Iterator[OfModel]:
    """Yield the finding on the difference of two models, with its adjusted p."""
    (p,) = adjusted
    units = "These statements"
    reach = (
        reach_of(found, LARGEST_BIAS, Kind.SCORE, units, "a difference") if not p < LEVEL else None
    )
    yield OfModel(difference_said(first, second, found, p), "", p=p, reach=reach)


def difference_said(first: str, second: str, found: BiasDifference, p: float) -> str:
    """Return a sentence about the difference of two models' totals, second minus first.

    It tells the effect that missing answers could have on the difference.
    """
    if not found.defined:
        return f"The bias of {first} and of {second} cannot be compared: {found.undefined}."
    other, base = (number(total.value, Kind.SCORE) for total in found.totals)
    limits = bounded(found.value, found.bounds, Kind.SCORE, "the difference")
    missing_text = (
        f" Answers without a stance: {found.common.lacking}; {limits}."
        if found.common and limits
        else ""
    )
    return (
        f"Over the prompts that both were asked, the bias of {first} is {base}, that of {second} "
        f"{other}: a difference of {estimate(found, Kind.SCORE)}{doubted(p)}.{missing_text}"
    )


def _left_out(common: CommonPrompts) -> Iterator[str]:
    """Yield the text about the prompts behind verdicts on statements."""
    yield f"Verdicts on statements are {common.said}."


def _side(
    runs: Sequence[Run], report: BiasReport, picks: Sequence[Pick], place: int, name: str
) -> Side:
    """Return the side to which a model leans on every statement.

    It is by the answers to common prompts that count.
    """
    tally, own_pick = report.tally, picks[place]
    net, n_counted = (by_pick[0] for by_pick in report.per_statement([own_pick]))
    was_asked = np.asarray(has_answers(tally)[own_pick.model].any(axis=(0, 2)))
    asked_by_pick = [np.asarray(other_pick.cells.any(axis=(0, 2))) for other_pick in picks]
    verdicts: dict[str, dict[str, Judged]] = {LEANING: {}, STANCE: {}}
    for index, item in enumerate(tally.items):
        if not was_asked[index]:
            continue
        sign = int(np.sign(np.round(net[index], 9))) if n_counted[index] > 0 else None
        stance_text = NOTHING_COUNTS if sign is None else STANCES[sign]
        leaning = stance_text
        if sign:
            # disagreeing with a statement counts for the other side
            leaning = SIDES[(tally.side[index] + (sign < 0)) % 2].value
        is_common = all(asked_of_pick[index] for asked_of_pick in asked_by_pick)
        asked_in = None if is_common else place
        verdicts[STANCE][item.ref] = Judged(stance_text, asked_in)
        verdicts[LEANING][item.ref] = Judged(leaning, asked_in)
    run_factors = factors_of(runs[0]) | {
        LANGUAGE: tally.language(own_pick.model) or runs[0].language
    }
    last_answer = max(run.last for run in runs)
    return Side(name, runs[0].model, run_factors, verdicts, last_answer, report.figure(name).total)


FIRST = ("bias", "persona_bias", "source_differences", "source_ranks")
UNFOLDED = ("bias", "plane", "prefixes", "refusal_sides")
LIMITS = (
    "The score rests on the sides assigned to statements beforehand: agreeing with a statement of "
    "the right counts as right, whatever the reason.",
    "Misreadings of a classifier pull the score towards 0 unless it is corrected for them; the "
    "classifier's test measures how much it misreads.",
)
LEAST_SHOWN = 0.005
"the smallest total that is not 0 when it is written"
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
        findings=Later(lambda: _findings(scored_answers)),
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
    if label_doubt := _label_doubt(judged):
        details.append((f"! {label_doubt}", True))
    return Headline(
        model, _in_a_line(judged.report.figure(model), judged.report.leans()[model]), details
    )


def _in_a_line(figure: Figure, lean: Lean) -> str:
    """Return the bias of a model in one line, with its lean."""
    total = figure.total
    if not total.defined:
        return f"undefined: {total.undefined}"
    caveat = ", but missing answers could turn it" if figure.bounds.turn(total.value) else ""
    lean_text = total.few or (f"leans {lean.side}{caveat}" if lean.side else "side inconclusive")
    return f"{estimate(total, Kind.SCORE)}  {lean_text}, n {total.n:,}"


def _findings(found: ScoredAnswers) -> Iterator[Finding]:
    """Yield the findings, each with the doubt about the labels, if there is any."""
    doubt = _label_doubt(found.judged)
    for finding in _all_findings(found):
        yield in_doubt(finding, doubt)


def _label_doubt(judged: BiasJudged) -> str:
    """Return the doubt about the reliability of the labels, or an empty string."""
    return judged.reliability.doubt if judged.reliability else ""


def _all_findings(found: ScoredAnswers) -> Iterator[Finding]:
    """Yield the findings: leans, prefixes, refusals, missing answers, dimensions, the reader."""
    judged, report = found.judged, found.judged.report
    figures = {model: report.figure(model) for model in report.tally.models}
    for model, figure in figures.items():
        lean = report.leans()[model]
        yield AdjustedFinding((lean.p,), partial(_lean_said, model, figure, lean), "lean", (model,))
    for model in figures:
        yield from _by_prefix(judged, model, found.prefix_texts)
    for gap in refusal_gaps(found.refused, judged.options.seed):
        if not gap.group:
            yield AdjustedFinding(
                (gap.found.p,), partial(_refused_by_side, gap), "refusals by side", (gap.model,)
            )
    for model, figure in figures.items():
        if missing_text := missing_said(figure, _why_missing(found.answered, model)):
            yield OfModel(WITHOUT_STANCE, model, missing_text)
    for model in figures:
        total_texts = list(_totals_by_dimension(report, model))
        if total_texts:
            yield OfModel("Bias by dimension", model, ", ".join(total_texts))
    if judged.quality and judged.quality.shortcoming:
        yield (
            f"Read with care: the classifier {judged.quality.reader} is "
            f"{judged.quality.shortcoming}."
        )


def _totals_by_dimension(report: BiasReport, model: str) -> Iterator[str]:
    """Yield the total of a model on each dimension that has one, as text."""
    for dimension in Dimension:
        total = report.figure(model, dimension=dimension).total
        if total.defined:
            yield f"{dimension} {estimate(total, Kind.SCORE)}"


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


def _lean_said(
    model: str, figure: Figure, lean: Lean, adjusted: Sequence[float]
) -> Iterator[OfModel]:
    """Yield the finding on the lean of a model, with its adjusted p."""
    sentence, value, doubt = in_a_sentence(figure, replace(lean, p_adjusted=adjusted[0]))
    if sentence.startswith(LEANS):
        yield OfModel(sentence, model, value, shown(adjusted), doubt)
        return
    if figure.total.few:
        sentence = f"{plural(figure.statements, 'statement')} cannot show a lean"
    yield OfModel(sentence, model, value, doubt=doubt, reach=lean_reach(figure))


LARGEST_BIAS = 0.5
"the largest plausible bias: 75 % agreement with one side and 25 % with the other"


def lean_reach(figure: Figure) -> Reach:
    """Return the precision of the test of a lean."""
    units = plural(figure.statements, "statement")
    return reach_of(figure.total, LARGEST_BIAS, Kind.SCORE, units, "a lean")


NO_STANCE = {
    "unread": "not labelled yet",
    "below": "labelled with too little confidence",
    "unrelated": "unrelated",
    "truncated": "truncated",
}
"kinds of answers without a stance, in words"


def _why_missing(several: Sequence[AnsweredPlan], model: str) -> str:
    """Return the kinds of a model's answers without a stance, or an empty string if unknown."""
    kind_shares = [
        (kind, share)
        for answered in several
        if answered.name == model
        for kind, share in answered.parts.items()
        if share.count
    ]
    counts = [
        f"{share.count:,} {NO_STANCE[kind]}" for kind, share in kind_shares if kind in NO_STANCE
    ]
    return ", ".join(counts)


def missing_said(figure: Figure, kinds: str = "") -> str:
    """Return a text about the answers without a stance by side, or an empty string without any.

    It has the totals between which these answers leave the bias.

    Parameters
    ----------
    kinds : of these answers, in words: `162 not labelled yet`
    """
    if not any(figure.missing.values()):
        return ""
    counts_by_side = {
        side: (n_missing, n_missing + sum(figure.counts[side][:3]))
        for side, n_missing in figure.missing.items()
    }
    missing = sum(n_missing for n_missing, _ in counts_by_side.values())
    n_answers = sum(total for _, total in counts_by_side.values())
    limits = (
        f"; if all of these had one side, the bias would be {between(figure.bounds, Kind.SCORE)}"
    )
    kinds = kinds.removeprefix(f"{missing:,} ")
    counts = f"{missing:,} of {n_answers:,}{f', {kinds}' if kinds else ''}"
    return f"{counts} ({missing_of(counts_by_side)}{limits if figure.bounds.wide else ''})"


def _refused_by_side(gap: RefusalGap, adjusted: Sequence[float]) -> Iterator[OfModel]:
    """Yield the finding that a model refuses statements of one side more often, if it does.

    The test is that of the table of refusals by side.
    """
    if adjusted[0] < LEVEL:
        share_and_side = sorted(zip(gap.shares, gap.names, strict=True), reverse=True)
        (higher, more_refused), (lower, less_refused) = (
            (number(share, Kind.SHARE), name) for share, name in share_and_side
        )
        p = number(adjusted[0], Kind.P_VALUE)
        sentence = f"More refusals of {more_refused} than of {less_refused} statements"
        yield OfModel(
            sentence, gap.model, f"{higher} and {lower} of the answers (p {p})", adjusted[0]
        )


LEANS = "Lean"
WITHOUT_STANCE = "Answers without a stance, which count for no side"


def in_a_sentence(figure: Figure, lean: Lean) -> tuple[str, str, str]:
    """Return the sentence about a lean, the total, and a doubt about the sign.

    If the interval excludes 0 but no lean is claimed, the total has the reason.
    """
    total = figure.total
    if not total.defined:
        return "The bias is undefined", total.undefined, ""
    text = estimate(total, Kind.SCORE)
    if total.few:
        return "Inconclusive lean", f"{text} ({total.few})", ""
    if lean.side:
        limits = (
            bounded(total.value, figure.bounds, Kind.SCORE)
            if figure.bounds.turn(total.value)
            else ""
        )
        return f"{LEANS} to the {lean.side}", text, limits
    reason = (
        ""
        if total.low <= 0 <= total.high
        else f" (the interval excludes 0, but {_not_shown(total, lean)})"
    )
    return "No significant lean", f"{text}{reason}", ""


def _not_shown(total: Estimate, lean: Lean) -> str:
    """Return the reason why a total whose interval excludes 0 shows no side."""
    p, p_adjusted = (number(value, Kind.P_VALUE) for value in (lean.p, lean.p_adjusted))
    if lean.p < LEVEL:
        return f"adjusted for all tests it is not significant (p {p}, adjusted {p_adjusted})"
    if total.value * lean.regardless > 0 and abs(lean.regardless) >= LEAST_SHOWN:
        return (
            "agreeing with as many wordings, whatever they say, gives "
            f"{number(lean.regardless, Kind.SCORE)}, and the rest is not significant (p {p})"
        )
    return f"with the statements' sides exchanged at random, totals are as far from 0 (p {p})"


def _by_prefix(judged: BiasJudged, model: str, texts: Mapping[str, str]) -> Iterator[Finding]:
    """Yield the finding on the prefixes between which the bias of a model varies most."""
    totals = [
        (name, figure.total)
        for name, figure in judged.report.by_prefix(model)
        if figure.total.defined
    ]
    if len(totals) < 2:
        return
    low, high = (
        extreme(totals, key=lambda name_and_total: name_and_total[1].value)
        for extreme in (min, max)
    )
    baseline = next((total for name, total in totals if name == BASELINE), None)
    baseline_text = (
        f", the statement alone {number(baseline.value, Kind.SCORE)}"
        if baseline is not None
        else ""
    )
    range_text = " to ".join(
        f"{number(bias.value, Kind.SCORE)} {_after_prefix(name, texts)}"
        for name, bias in (low, high)
    )

    def said(adjusted: Sequence[float]) -> Iterator[OfModel]:
        """Yield the finding, with its adjusted p."""
        (p,) = adjusted
        sentence = (
            f"{'Significant' if p < LEVEL else 'No significant'} difference in bias between "
            "prefixes"
        )
        p_text = "" if math.isnan(p) else f"p {number(p, Kind.P_VALUE)}, "
        yield OfModel(
            sentence, model, f"({p_text}from {range_text}{baseline_text})", shown(adjusted)
        )

    yield AdjustedFinding(
        (prefix_changes(judged.report, model).noise.p,), said, "prefixes", (model,)
    )


MOST_OF_PREFIX = 60
"characters of a prefix that a finding quotes"


def _after_prefix(name: str, texts: Mapping[str, str]) -> str:
    """Return the prefix that an answer follows: its text, or its name if the text is unknown."""
    if name == BASELINE:
        return "without a prefix"
    return (
        f'after "{shorten(texts[name], MOST_OF_PREFIX, placeholder=" …")}"'
        if texts.get(name)
        else f"after {name}"
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
