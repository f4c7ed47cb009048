"""The book of the left/right bias: every table of a score, and the lines above them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from workbench.audits.bias_score import factor_tables, tables
from workbench.audits.bias_score.answer_tables import answers
from workbench.audits.bias_score.counting import Selection
from workbench.audits.bias_score.factors import components
from workbench.audits.bias_score.judged import BiasJudged, judged_methods, methods
from workbench.audits.bias_score.options import INSTRUMENT
from workbench.audits.bias_score.personas import by_persona
from workbench.audits.bias_score.published import NONE as NONE_PUBLISHED
from workbench.audits.bias_score.published import published
from workbench.audits.bias_score.published import read as read_published
from workbench.audits.bias_score.score import BiasReport
from workbench.audits.bias_score.scored import ScoredAnswers
from workbench.audits.bias_score.tables import BASELINE, selected
from workbench.domain.names import plural
from workbench.domain.statements import Dimension
from workbench.evidence.answered import (
    answered_data,
    answered_entry,
    answered_header,
    refusal_entries,
    refusal_sentences,
)
from workbench.evidence.reader_quality import quality_data as quality_json
from workbench.evidence.reader_quality import quality_header, reader_entry
from workbench.evidence.runs import template_notes
from workbench.figures.book import Book, Entry, in_order
from workbench.figures.table import AnyTable

AnswersTable: TypeAlias = Callable[[str, str, Selection], AnyTable]
"returns the table of a model's answers to a statement within a selection"

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
